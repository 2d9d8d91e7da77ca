#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure what the drive costs in wall time, against QEMU's null-co under the same job.

Runs tests/bench/null.fio in the guest, in turn, on null-co, on nand-ssd with
every delay at its least ("instant"), and on nand-ssd as small.ini describes it
(filled), all under icount, and prints the median wall time of the job phase of
each and the ratios to null-co. One run each is thrown away first.

"instant" compares equal guests: what is left is the cost of the drive itself. On
the real drive the guest also sleeps, wakes and takes interrupts where null-co
has answered before the guest could sleep, which is the guest's own work.

usage: null_ratio.py [PAIRS]
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "host-tools"))
from slate_lib.cuts import image

BUILD = Path(os.environ.get("SLATE_BUILD") or ROOT / "build")

WRAPPER = """#!/bin/bash
args=()
for a in "$@"; do
	case $a in driver=nand-ssd,*) a=driver=null-co,node-name=ssd0,size=268435456,read-zeroes=on ;; esac
	args+=("$a")
done
exec {qemu} "${{args[@]}}"
"""


def overlay(folder: Path) -> Path:
    """Make a build folder whose QEMU has null-co in place of the drive."""
    for entry in BUILD.iterdir():
        if entry.name != "qemu":
            (folder / entry.name).symlink_to(entry)
    (folder / "qemu").mkdir()
    wrapper = folder / "qemu" / "qemu-system-x86_64"
    wrapper.write_text(WRAPPER.format(qemu=BUILD / "qemu" / "qemu-system-x86_64"), encoding="utf-8")
    wrapper.chmod(0o755)
    return folder


INSTANT = [f"--set={setting}" for setting in image.INSTANT]


def job_seconds(build: Path, out: Path, extra: list[str]) -> float:
    """Return the wall time of the guest's job phase in seconds."""
    command: list[str | Path]
    command = [ROOT / "host-tools" / "slate", "run", "--profile", ROOT / "nand-emu/profiles/small.ini",
               "--job", ROOT / "tests/bench/null.fio", "--out", out, *extra]
    run = subprocess.run(command, env={**os.environ, "SLATE_BUILD": str(build)}, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    found = re.search(r"job ended .* ([0-9.]+) s$", run.stdout, re.MULTILINE)
    if not found:
        sys.exit(f"null_ratio: the job did not end:\n{run.stdout}")
    return float(found[1])


def main() -> None:
    """Measure in turn, print medians and the ratio."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    times: dict[str, list[float]] = {"null-co": [], "instant": [], "nand-ssd": []}
    with tempfile.TemporaryDirectory() as tmp:
        folder = Path(tmp) / "build"
        folder.mkdir()
        how = {"null-co": (overlay(folder), []), "instant": (BUILD, INSTANT), "nand-ssd": (BUILD, [])}
        for i in range(pairs + 1):
            for name, (build, extra) in how.items():
                seconds = job_seconds(build, Path(tmp) / f"{name}-{i}", extra)
                if i:
                    times[name].append(seconds)
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, values in times.items():
        print(f"job wall time, {name:10} {medians[name]:8.2f} s, {medians[name] / medians['null-co']:6.3f}"
              f" x null-co   (60,000 requests; {values})")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure what a boot costs the host, for each guest and kernel.

    boots.py [--runs 5] [GUEST:KERNEL ...]

For example 'boots.py 12:debian 13:debian 13:small'. Printed are the guest's time at the job's
first line, QEMU's processor time until then, and the processor time of the whole 'slate run' of an
empty script: the least of so many runs, in turn, since other programs on the machine only
ever add to it.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
POLL_SECONDS = 0.002
FIRST_LINE = re.compile(r"SLATE-PHASE job-start ([0-9.]+)\s")


@dataclass(frozen=True)
class Boot:
    """One run: the guest's seconds at the first line, and processor seconds until then and of all."""

    guest_s: float
    first_s: float
    whole_s: float


def processor_seconds(folder: Path) -> float:
    """Return the processor time of the QEMU that has files in folder, in ticks of 10 ms; 0 if there is none."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes()
            if b"qemu-system" in words.split(b"\0")[0] and str(folder).encode() in words:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            continue
    return 0.0


def boot(guest: str, kernel: str) -> Boot:
    """Run an empty script. Raises RuntimeError if the run fails or QEMU ends before it was seen."""
    with tempfile.TemporaryDirectory(prefix="slate-boot-") as name:
        folder, console = Path(name), Path(name) / "out/console.log"
        (folder / "work.sh").write_text("#!/bin/sh\n", encoding="utf-8")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command: list[str | Path] = [ROOT / "host-tools/slate", "run", "--guest", guest, "--kernel", kernel]
        command += ["--profile", "small", "--cmd", folder / "work.sh", "--out", folder / "out"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            found, first_s = None, 0.0
            while not found and process.poll() is None:
                time.sleep(POLL_SECONDS)
                if console.exists():
                    found = FIRST_LINE.search(console.read_text(encoding="utf-8", errors="replace"))
            if found:
                first_s = processor_seconds(folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if process.returncode or not found or not first_s:
            raise RuntimeError(f"{guest}:{kernel}: status {process.returncode}, or the first line was not seen in time")
        whole_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Boot(float(found[1]), first_s, whole_s)


def main() -> int:
    """Run the command line and print a table."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("guests", nargs="*", metavar="GUEST:KERNEL", default=["12:debian", "13:debian", "13:small"])
    args = parser.parse_args()
    boots: dict[str, list[Boot]] = {name: [] for name in args.guests}
    for _ in range(args.runs):
        for name, found in boots.items():
            guest, _, kernel = name.partition(":")
            found.append(boot(guest, kernel or "debian"))
    print("guest:kernel   guest s  first line CPU s  whole run CPU s   least of", args.runs)
    for name, found in boots.items():
        least = [min(getattr(one, field) for one in found) for field in ("guest_s", "first_s", "whole_s")]
        print(f"{name:13} {least[0]:8.2f} {least[1]:17.2f} {least[2]:16.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

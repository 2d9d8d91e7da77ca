#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure how long vCPUs execute at a time in rate mode.

    slices.py [--vcpus 1,2,4,8] [--jobs 4] [--ios 20000]

The job is that of processors.py. QEMU's trace event rate_slice tells of each slice when
it began and ended, on the vCPU's clock. Slices of the boot count, too; a slice that
executed nothing does not.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import processors

SLICE = re.compile(rb"rate_slice cpu \d+ from (\d+) to (\d+) ns")


def slices(folder: Path, vcpus: int, clones: int, ios: int) -> list[int]:
    """Return the sorted times, in ns, of the slices that executed something."""
    (folder / "job.fio").write_text(processors.job(clones, ios), encoding="utf-8")
    trace = folder / f"{vcpus}.trace"
    subprocess.run(
        [processors.ROOT / "host-tools/slate", "run", "--profile", "znand-small", "--set", "geometry.channels=8",
         "--job", folder / "job.fio", "--smp", str(vcpus), "--out", folder / str(vcpus),
         "--qemu-arg=-trace", "--qemu-arg=enable=rate_slice", "--qemu-arg=-D", f"--qemu-arg={trace}"],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    times = []
    with trace.open("rb") as lines:
        for line in lines:
            if found := SLICE.search(line):
                times.append(int(found[2]) - int(found[1]))
    trace.unlink()
    return sorted(ns for ns in times if ns)


def main() -> int:
    """Prints a table."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.splitlines()[0])
    parser.add_argument("--vcpus", default="1,2,4,8")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--ios", type=int, default=20000)
    args = parser.parse_args()
    print("vCPUs    slices  mean ns  median   p90    p99  up to 500 ns", flush=True)
    with tempfile.TemporaryDirectory() as name:
        for vcpus in map(int, args.vcpus.split(",")):
            times = slices(Path(name), vcpus, args.jobs, args.ios)
            at = [times[int(len(times) * share)] for share in (0.5, 0.9, 0.99)]
            short = sum(ns <= 500 for ns in times) / len(times)
            print(
                f"{vcpus:5} {len(times):9,} {sum(times) / len(times):8,.0f} {at[0]:7,} {at[1]:5,} {at[2]:6,}"
                f" {short:13.0%}",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())

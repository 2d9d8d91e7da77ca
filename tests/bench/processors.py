#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure what the guest's processors can ask of a fast drive, and what they cost the host.

    processors.py [--vcpus 1,2,4,8] [--jobs 1,4,8] [--ios 200000]

The drive is znand-small with 8 channels. For each number of vCPUs: IOPS of 4 KiB random
reads by so many processes at depth 32, how busy dies and the busiest vCPU were, and
QEMU's CPU time for the run less that for a boot alone: for each second of guest time,
each million guest instructions and each I/O.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def job(clones: int, ios: int) -> str:
    """Return a fio job of this many processes; 0: one read."""
    return (
        "[global]\nfilename=/dev/nvme0n1\ndirect=1\nioengine=io_uring\nrw=randread\nbs=4k\nnorandommap\n"
        f"group_reporting\n[reads]\niodepth=32\nnumjobs={max(clones, 1)}\n"
        f"number_ios={ios // clones if clones else 1}\nio_size=1T\n"  # the job must not end at the drive's size
    )


def run(folder: Path, vcpus: int, clones: int, ios: int) -> tuple[dict[str, Any], float]:
    """Return the run's files, and the CPU time of all its processes."""
    (folder / "job.fio").write_text(job(clones, ios), encoding="utf-8")
    out = folder / f"{vcpus}-{clones}"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [ROOT / "host-tools/slate", "run", "--profile", "znand-small", "--set", "geometry.channels=8",
         "--job", folder / "job.fio", "--smp", str(vcpus), "--out", out],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = {name: json.loads((out / f"{name}.json").read_text(encoding="utf-8")) for name in ("fio", "device", "run")}
    return found, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def interval(device: dict[str, Any]) -> tuple[int, list[int], int]:
    """Return the job's time, each vCPU's busy time, and that of all dies together."""
    marks = device["marks"]
    begin, end = marks[0], marks[-1]
    busy = [b - a for a, b in zip(begin["processors"], end["processors"])]
    dies = sum(by["die-busy-ns"] for mark in marks[1:] for by in mark["account"]["nand"]["by-source"].values())
    return end["at-ns"] - begin["at-ns"], busy, dies


def main() -> int:
    """Prints a table."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.splitlines()[0])
    parser.add_argument("--vcpus", default="1,2,4,8")
    parser.add_argument("--jobs", default="1,4,8")
    parser.add_argument("--ios", type=int, default=200000, help="I/Os of all processes together")
    args = parser.parse_args()
    print("vCPUs  jobs      IOPS  dies busy  busiest vCPU  CPU s: a guest s  10^6 instructions      an I/O", flush=True)
    with tempfile.TemporaryDirectory() as name:
        for vcpus in map(int, args.vcpus.split(",")):
            boot, boot_s = run(Path(name), vcpus, 0, args.ios)
            for clones in map(int, args.jobs.split(",")):
                found, cpu_s = run(Path(name), vcpus, clones, args.ios)
                time_ns, busy, dies_ns = interval(found["device"])
                rate = float(found["run"]["settings"]["cpu_rate"])
                dies = len(found["device"]["dies"])
                cost_s = max(cpu_s - boot_s, 0.0)
                more = sum(found["device"]["processors"]) - sum(boot["device"]["processors"])
                read = found["fio"]["jobs"][0]["read"]
                iops = read["iops"]
                print(
                    f"{vcpus:5} {clones:5} {iops:9,.0f} {dies_ns / dies / time_ns:10.0%} {max(busy) / time_ns:13.0%}"
                    f" {cost_s / time_ns * 1e9:17.1f} {1e3 * cost_s / (more * rate / 1e6):15.2f} ms "
                    f"{1e6 * cost_s / read['total_ios']:8.1f} us",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())

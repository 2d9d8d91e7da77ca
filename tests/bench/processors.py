#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure what the guest's processors can ask of a fast drive, and what they cost the host.

    processors.py [--vcpus 1,2,4,8] [--jobs 1,4,8] [--ios 200000] [--runs 1] [--guest NAME] [--beside DIR]

The drive is znand-small with 8 channels. For each number of vCPUs: IOPS of 4 KiB random
reads by so many processes at depth 32, how busy dies and the busiest vCPU were, and
QEMU's CPU time for the run less that for a boot alone: for each second of guest time,
each million guest instructions and each I/O. --beside names a checkout of another
version, built; its runs alternate with these, and the ratio of the CPU times of an I/O
is printed, each the least of so many --runs. --guest is the guest of this version, so
that it may be the other's.
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


def run(tree: Path, folder: Path, vcpus: int, clones: int, ios: int, more: list[str]) -> tuple[dict[str, Any], float]:
    """Return the files of a run of the version in tree, and the CPU time of all its processes."""
    (folder / "job.fio").write_text(job(clones, ios), encoding="utf-8")
    out = Path(tempfile.mkdtemp(dir=folder))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [tree / "host-tools/slate", "run", "--profile", "znand-small", "--set", "geometry.channels=8",
         "--job", folder / "job.fio", "--smp", str(vcpus), "--out", out, *more],
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


class Costs:
    """Runs of a version of Slate: the files of the latest of each kind, and the least CPU time of it."""

    def __init__(self, tree: Path, folder: Path, ios: int, more: list[str]) -> None:
        self.tree, self.folder, self.ios, self.more = tree, folder, ios, more
        self.found: dict[tuple[int, int], dict[str, Any]] = {}
        self.cpu_s: dict[tuple[int, int], float] = {}

    def add(self, vcpus: int, clones: int) -> None:
        """Add a run; of no clones: a boot and one read."""
        at = vcpus, clones
        self.found[at], cpu_s = run(self.tree, self.folder, vcpus, clones, self.ios, self.more)
        self.cpu_s[at] = min(cpu_s, self.cpu_s.get(at, cpu_s))

    def cost_s(self, vcpus: int, clones: int) -> float:
        """Return the CPU time of the reads, without the boot."""
        return max(self.cpu_s[vcpus, clones] - self.cpu_s[vcpus, 0], 0.0)

    def line(self, vcpus: int, clones: int) -> str:
        """Return a row of the table."""
        boot, found = self.found[vcpus, 0], self.found[vcpus, clones]
        time_ns, busy, dies_ns = interval(found["device"])
        rate = float(found["run"]["settings"]["cpu_rate"])
        dies = len(found["device"]["dies"])
        cost_s = self.cost_s(vcpus, clones)
        more = sum(found["device"]["processors"]) - sum(boot["device"]["processors"])
        read = found["fio"]["jobs"][0]["read"]
        return (
            f"{vcpus:5} {clones:5} {read['iops']:9,.0f} {dies_ns / dies / time_ns:10.0%} {max(busy) / time_ns:13.0%}"
            f" {cost_s / time_ns * 1e9:17.1f} {1e3 * cost_s / (more * rate / 1e6):15.2f} ms "
            f"{1e6 * cost_s / read['total_ios']:8.1f} us"
        )


def main() -> int:
    """Prints a table."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.splitlines()[0])
    parser.add_argument("--vcpus", default="1,2,4,8")
    parser.add_argument("--jobs", default="1,4,8")
    parser.add_argument("--ios", type=int, default=200000, help="I/Os of all processes together")
    parser.add_argument("--runs", type=int, default=1, help="the least CPU time of so many counts")
    parser.add_argument("--guest", help="the guest of this version")
    parser.add_argument("--beside", type=Path, metavar="DIR", help="a checkout of another version, built")
    args = parser.parse_args()
    print("vCPUs  jobs      IOPS  dies busy  busiest vCPU  CPU s: a guest s  10^6 instructions      an I/O"
          + "  beside: an I/O, ratio; boot, there" * bool(args.beside), flush=True)  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        here = Costs(ROOT, Path(name), args.ios, ["--guest", args.guest] if args.guest else [])
        there = Costs(args.beside, Path(name), args.ios, []) if args.beside else None
        for vcpus in map(int, args.vcpus.split(",")):
            jobs = [0, *map(int, args.jobs.split(","))]
            for clones in [clones for _ in range(args.runs) for clones in jobs]:
                for side in (here, there):
                    if side:
                        side.add(vcpus, clones)
            for clones in jobs[1:]:
                line = here.line(vcpus, clones)
                if there:
                    old_s = there.cost_s(vcpus, clones)
                    line += (f" {1e6 * old_s / args.ios:8.1f} us {here.cost_s(vcpus, clones) / old_s:5.2f}"
                             f" {here.cpu_s[vcpus, 0]:6.2f} {there.cpu_s[vcpus, 0]:5.2f} s")  # fmt: skip
                print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

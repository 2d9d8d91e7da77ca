#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure how fast slate-replay is: requests a second of one thread, every NAND rule checked.

Workloads, closed loop, one request in flight, on rand.ini (4 GiB raw):
  rand3M   3,000,000 random 4 KiB writes
  fill1M   3.4 GiB in order in 128 KiB writes, then 1,000,000 random 4 KiB writes
  real8    a real server's trace, eight times (tests/traces/cloudphysics.trace.gz)
Then the cost while drives grow: filled, 15 % overwritten, so that GC is at work; 16 KiB
pages and units, 16 GiB .. 1 TiB raw (--sizes 16,64: those). How far greedy GC has come from
its first victims differs with the drive's size, and with it WAF: hence the cost of
a NAND program. Machines are shared and noisy: the best
of --runs counts, and the ratios are worth more than the figures.

Another simulator runs the same requests in turn with this one if one says how:
--beside NAME=COMMAND (of `make bench`: BESIDE=NAME=COMMAND). The command is a shell's; {trace} in it
is a file of the workload in SSDSim's columns (arrival in ns, device, first sector, sectors, 1 for
a read), --gap ns from one request to the next. Its CPU time counts from its start to its end; a
command that fails has figures of 0. Whether its drive is rand.ini's is the caller's to see to.

Another build of slate-replay runs the three workloads in turn with this one: --against FILE. Its results
must be equal. Two runs that follow each other see much the same machine, so the ratio is the median of the
pairs' CPU times, ours / theirs; every second pair begins with theirs. Nothing else is measured then.

usage: replay.py [--runs N] [--against FILE] [--sizes GIB,...] [--requests N] [--beside NAME=COMMAND]... [--gap NS]
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
REPLAY = ROOT / "build" / "core" / "slate-replay"
PROFILE = ROOT / "tests" / "bench" / "rand.ini"
TRACE = ROOT / "tests" / "traces" / "cloudphysics.trace.gz"
FOOT_MIB = 3400
WORKLOADS = {
    "rand3M": ([f"gen:rand4k,foot={FOOT_MIB}MiB,n=3000000"], 3_000_000),
    "fill1M": ([f"gen:rand4k,foot={FOOT_MIB}MiB,n=1000000,fill=128KiB"], 2_000_000),
    "real8": ([str(TRACE), "--repeat", "8", "--fold"], 1_500_000),
}
BLOCKS_PER_GIB = 8  # blocks of a plane: 32 planes, 256 pages of 16 KiB a block


def replay(*words: str, program: Path = REPLAY) -> dict[str, Any]:
    """One run's JSON."""
    done = subprocess.run(
        [program, "--profile", PROFILE, "--json", "-", "--wall", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"replay.py: {done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def best(runs: int, *words: str) -> dict[str, Any]:
    """The run that took the least CPU time."""
    return min((replay(*words) for _ in range(runs)), key=lambda one: one["wall"]["cpu_seconds"])


def rate(one: dict[str, Any]) -> float:
    """Return the requests a second of CPU time."""
    return float(one["requests"]["completed"] / one["wall"]["cpu_seconds"])


def requests_of(name: str) -> Iterator[tuple[int, int, int]]:
    """Return first sector, sectors, and 1 for a read, of each request of the workload."""
    if name == "real8":
        for _ in range(8):
            with gzip.open(TRACE, "rt") as rows:
                for row in rows:
                    columns = row.split()
                    yield int(columns[2]), int(columns[3]), int(columns[4])
        return
    if name == "fill1M":
        yield from ((sector, 256, 0) for sector in range(0, FOOT_MIB * 2048, 256))
    dice = random.Random(1)
    for _ in range(3_000_000 if name == "rand3M" else 1_000_000):
        yield dice.randrange(FOOT_MIB * 256) * 8, 8, 0


def write_trace(name: str, path: Path, gap_ns: int) -> int:
    """Write the requests in SSDSim's columns; returns their number."""
    count = 0
    with path.open("w", encoding="ascii") as out:
        for count, (sector, sectors, read) in enumerate(requests_of(name), 1):
            out.write(f"{count * gap_ns} 0 {sector} {sectors} {read}\n")
    return count


def peer_rate(command: str, trace: Path, count: int) -> float:
    """Return the requests a second of CPU time of another simulator, or 0 if it failed."""
    before = os.times()
    done = subprocess.run(
        command.replace("{trace}", str(trace)), shell=True, stdout=subprocess.DEVNULL, check=False
    )
    after = os.times()
    took = after.children_user + after.children_system - before.children_user - before.children_system
    return count / took if done.returncode == 0 and took > 0 else 0


def beside(peers: list[str], runs: int, gap_ns: int) -> None:
    """Measure other simulators on the same requests, in turn with this one."""
    print(f"{'beside':<8}{'':<16}{'requests':>10}{'requests/s':>12}{'ours':>12}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name, (words, _) in WORKLOADS.items():
            trace = Path(folder) / name
            count = write_trace(name, trace, gap_ns)
            for peer in peers:
                label, _, command = peer.partition("=")
                theirs, ours = [], []
                for _ in range(runs):
                    ours.append(rate(replay(*words)))
                    theirs.append(peer_rate(command, trace, count))
                ratio = max(ours) / max(theirs) if max(theirs) else 0
                print(
                    f"{name:<8}{label:<16}{count:>10,}{max(theirs):>12,.0f}{max(ours):>12,.0f}{ratio:>8.1f}", flush=True
                )
            trace.unlink()


def pair(other: Path, ours_first: bool, *words: str) -> float:
    """Return the CPU time of this build / that of the other one. The results must be equal."""
    order = (REPLAY, other) if ours_first else (other, REPLAY)
    found = {program: replay(*words, program=program) for program in order}
    ours, theirs = (found[program].pop("wall") for program in (REPLAY, other))
    differ = [key for key, part in found[other].items() if found[REPLAY].get(key) != part]
    if differ:
        sys.exit(f"replay.py: {other}: the builds' results differ in {', '.join(differ)}")
    return float(ours["cpu_seconds"] / theirs["cpu_seconds"])


def against(other: Path, runs: int) -> None:
    """Measure another build in turn with this one."""
    print(f"{'against':<8}{'pairs':>7}{'median':>9}{'least':>9}{'most':>9}")
    for name, (words, _) in WORKLOADS.items():
        ratios = [pair(other, run % 2 == 0, *words) for run in range(runs)]
        print(
            f"{name:<8}{runs:>7}{statistics.median(ratios):>9.3f}{min(ratios):>9.3f}{max(ratios):>9.3f}", flush=True
        )


def workloads(runs: int) -> None:
    """Print the best of several runs of each workload."""
    print(
        f"{'':<8}{'requests':>10}{'requests/s':>12}{'target':>11}{'CPU s':>8}{'ns each':>9}{'MiB':>7}{'WAF':>8}"
    )
    for name, (words, target) in WORKLOADS.items():
        one = best(runs, *words)
        wall, count = one["wall"], one["requests"]["completed"]
        print(
            f"{name:<8}{count:>10,}{rate(one):>12,.0f}{target:>11,}{wall['cpu_seconds']:>8.2f}"
            f"{1e9 / rate(one):>9.0f}{wall['max_rss_kib'] // 1024:>7,}{one['waf']:>8.3f}",
            flush=True,
        )


def growth(sizes: list[int], requests: int, runs: int) -> None:
    """Measure the same random writes on larger and larger drives."""
    print(
        f"{'GiB raw':<8}{'requests/s':>12}{'ns each':>9}{'WAF':>8}{'ns a program':>14}{'ratio':>7}"
        f"{'MiB':>7}{'map MiB':>9}"
    )
    first = 0.0
    for gib in sizes:
        blocks = gib * BLOCKS_PER_GIB
        gc = max(blocks * 5 // 100, 4)
        capacity = gib * 1024 * 85 // 100
        sets = {
            "geometry.page_bytes": 16384,
            "geometry.oob_bytes": 1280,
            "geometry.pages_per_block": 256,
            "geometry.blocks_per_plane": blocks,
            "ftl.unit_bytes": 16384,
            "ftl.capacity_mib": capacity,
            "ftl.gc_start_blocks": gc,
            "ftl.gc_stop_blocks": gc + 1,
        }
        words = [word for key, value in sets.items() for word in ("--set", f"{key}={value}")]
        one = best(
            runs, *words, "--fill", "100", "--age", "0.15", f"gen:rand16k,foot={capacity}MiB,n={requests}"
        )
        ns = 1e9 / rate(one)
        program = 1e9 * one["wall"]["cpu_seconds"] / sum(one["nand"]["ops"]["program"].values())
        first = first or program
        print(
            f"{gib:<8}{rate(one):>12,.0f}{ns:>9.0f}{one['waf']:>8.3f}{program:>14.0f}{program / first:>7.2f}"
            f"{one['wall']['max_rss_kib'] // 1024:>7,}{one['map_bytes'] / 2**20:>9,.0f}",
            flush=True,
        )


def main() -> None:
    """Run the whole benchmark."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--sizes", default="16,64,256,1024")
    parser.add_argument("--requests", type=int, default=1_000_000, help="of each size")
    parser.add_argument("--beside", action="append", default=[], metavar="NAME=COMMAND", help="another simulator")
    parser.add_argument("--against", type=Path, metavar="FILE", help="another build's slate-replay, in pairs")
    parser.add_argument("--gap", type=int, default=500_000, metavar="NS", help="between a peer's requests")
    args = parser.parse_args()
    if any("=" not in peer or "{trace}" not in peer for peer in args.beside):
        parser.error("--beside takes NAME=COMMAND, and {trace} in the command: --beside 'ssdsim=./ssd {trace}'")
    if not REPLAY.exists():
        sys.exit("replay.py: build/core/slate-replay is not there: run 'make core'")
    if args.against:
        if not os.access(args.against, os.X_OK):
            parser.error(f"--against {args.against}: is no program: name the slate-replay of another build")
        against(args.against.resolve(), args.runs)
        return
    workloads(args.runs)
    print()
    if args.beside:
        beside(args.beside, args.runs, args.gap)
        print()
    growth([int(word) for word in args.sizes.split(",") if word], args.requests, 1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure the drive in real time: IOPS beside QEMU's null-co, and how late completions are.

Runs tests/bench/realtime.fio (random 4 KiB reads, QD 1 to 256) in the guest, in
turn, on null-co, on nand-ssd with every delay at its least ("instant"), and on
nand-ssd as small.ini has it, all on multi-threaded TCG by the host's clock. What
is printed: medians of null-co's IOPS, the other two as ratios to it, and of the
drive's completions the share that came later than 1, 10 and 100 us, in percent:
posted by its thread, delivered to the guest's controller.

usage: realtime.py [RUNS [SPIN_NS]]     (default 3 runs; what the drive does by itself)
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from null_ratio import BUILD, INSTANT, ROOT, overlay

sys.path.insert(0, str(ROOT / "host-tools"))
sys.path.insert(0, str(ROOT / "host-tools" / "guest"))
import results
from slate_lib.account import Device

DEPTHS = (1, 4, 16, 64, 256)
Shares = tuple[float, ...]


def run(build: Path, out: Path, extra: list[str]) -> tuple[dict[str, float], Device | None]:
    """Return IOPS by job, and the drive; for null-co None, because the launcher reads no statistics of it."""
    command: list[str | Path]
    command = [ROOT / "host-tools" / "slate", "run", "--profile", ROOT / "nand-emu/profiles/small.ini",
               "--job", ROOT / "tests/bench/realtime.fio", "--realtime", "--keep", "--out", out, *extra]  # fmt: skip
    done = subprocess.run(command, env={**os.environ, "SLATE_BUILD": str(build)}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)  # fmt: skip
    try:
        files, _ = results.parse_results((out / ".results").read_bytes())
        fio = json.loads(files["fio.json"])
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"realtime: the job did not end: {error}\n{done.stdout}")
    device = out / "device.json"
    iops = {job["jobname"]: job["read"]["iops"] for job in fio["jobs"]}
    return iops, Device(json.loads(device.read_text(encoding="utf-8"))) if device.exists() else None


def shares(device: Device, job: str, where: str) -> Shares:
    """Return the percentage of a job's completions that were later than 1, 10, 100 us."""
    end = next(m for m in device.marks if m["label"] == job and m["kind"] == "end")
    counted = end["real-time"][where]
    return tuple(100 * counted[f"late-{us}us"] / counted["requests"] for us in (1, 10, 100))


def main() -> None:
    """Measure in turn, print medians."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    spin = ["--spin-ns", sys.argv[2]] if len(sys.argv) > 2 else []
    iops: dict[tuple[str, int], list[float]] = {}
    late: dict[tuple[str, int], list[Shares]] = {}
    with tempfile.TemporaryDirectory() as tmp:
        folder = Path(tmp) / "build"
        folder.mkdir()
        how = {"null-co": (overlay(folder), []), "instant": (BUILD, INSTANT + spin), "nand-ssd": (BUILD, spin)}
        for i in range(runs):
            for name, (build, extra) in how.items():
                found, device = run(build, Path(tmp) / f"{name}-{i}", extra)
                for depth in DEPTHS:
                    iops.setdefault((name, depth), []).append(found[f"qd{depth}"])
                    if device and name == "nand-ssd":
                        for where in ("posted", "delivered"):
                            late.setdefault((where, depth), []).append(shares(device, f"qd{depth}", where))
    print(f"{'':6}{'null-co':>10}{'instant':>10}{'nand-ssd':>10}   late by > 1, 10, 100 us, %: "
          f"{'posted':>18}{'delivered':>24}")  # fmt: skip
    for depth in DEPTHS:
        base, instant, drive = (statistics.median(iops[name, depth]) for name in how)
        parts = ["".join(f"{statistics.median(column):8.2f}" for column in zip(*late[where, depth]))
                 for where in ("posted", "delivered")]  # fmt: skip
        print(f"QD{depth:<4}{base:10,.0f}{instant / base:10.3f}{drive / base:10.3f}   {'':29}" + "".join(parts))


if __name__ == "__main__":
    main()

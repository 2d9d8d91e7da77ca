#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure what a guest's instruction costs the host.

    instructions.py [--vcpus 1,2,4,8] [--runs 3] [--quantum NS] [--guest NAME] [--beside DIR]

Each vCPU executes sha256sum over 24 MiB and a loop of sh, about 1.5 * 10^9 instructions.
Printed is QEMU's CPU time for that, less that of a boot alone, as the least of so many
runs: other programs on the machine only ever add to it. --beside names a checkout of
another version, built; its runs alternate with these, and the ratio is printed. Guests
of both execute the same programs on the same data; --guest is the guest of this version,
so that it may be the other's.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IDLE = "#!/bin/sh\ntrue\n"
BUSY = """#!/bin/sh
for vcpu in $(seq {vcpus}); do
	(
		head -c 24M /dev/zero | sha256sum
		i=0
		while [ $i -lt 100000 ]; do i=$((i + 1)); done
	) &
done
wait
"""


class Cost:
    """CPU time and wall time of one run, the ns that its vCPUs were busy (0 if unknown), and their rate."""

    def __init__(self, tree: Path, script: str, more: list[str]) -> None:
        with tempfile.TemporaryDirectory(prefix="slate-cost-") as name:
            folder = Path(name)
            (folder / "work.sh").write_text(script, encoding="utf-8")
            (folder / "work.sh").chmod(0o755)
            before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            subprocess.run(
                [tree / "host-tools/slate", "run", "--profile", ROOT / "nand-emu/profiles/small.ini", "--fill", "0",
                 "--cmd", folder / "work.sh", "--out", folder / "out", *more],
                check=True, stdout=subprocess.DEVNULL,
            )  # fmt: skip
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            self.wall_s = time.monotonic() - began
            device = json.loads((folder / "out/device.json").read_text(encoding="utf-8"))
            self.busy_ns = sum(device.get("processors", []))
            settings = json.loads((folder / "out/run.json").read_text(encoding="utf-8"))["settings"]
            self.rate = float(settings.get("cpu_rate", 1))


def least(tree: Path, vcpus: int, more: list[str], costs: dict[str, list[Cost]]) -> None:
    """Add one run of each kind."""
    for kind, script in (("idle", IDLE), ("busy", BUSY.format(vcpus=vcpus))):
        costs.setdefault(kind, []).append(Cost(tree, script, ["--smp", str(vcpus), *more]))


def seconds(costs: dict[str, list[Cost]]) -> tuple[float, float]:
    """Return the CPU time of the work and of the boot."""
    boot = min(cost.cpu_s for cost in costs["idle"])
    return min(cost.cpu_s for cost in costs["busy"]) - boot, boot


def main() -> int:
    """Run the command line and print a table."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.splitlines()[0])
    parser.add_argument("--vcpus", default="1,2,4,8")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--quantum")
    parser.add_argument("--guest")
    parser.add_argument("--beside", type=Path)
    args = parser.parse_args()
    more = ["--cpu-quantum", args.quantum] if args.quantum else []
    more += ["--guest", args.guest] if args.guest else []
    print("vCPUs  boot CPU s  work CPU s  10^9 instructions  CPU s each  beside: boot  work  ratio", flush=True)
    for vcpus in map(int, args.vcpus.split(",")):
        here: dict[str, list[Cost]] = {}
        there: dict[str, list[Cost]] = {}
        for _ in range(args.runs):
            least(ROOT, vcpus, more, here)
            if args.beside:
                least(args.beside, vcpus, [], there)
        work_s, boot_s = seconds(here)
        giga = (here["busy"][0].busy_ns - here["idle"][0].busy_ns) * here["busy"][0].rate / 1e9
        line = f"{vcpus:5} {boot_s:11.2f} {work_s:11.2f} {giga:18.2f} {work_s / giga:11.2f}"
        if there:
            old_s, old_boot_s = seconds(there)
            line += f" {old_boot_s:13.2f} {old_s:5.2f} {work_s / old_s:6.2f}"
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

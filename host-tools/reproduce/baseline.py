#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""baseline.py - the page FTL's write amplification beside what mathematics says: 'make reproduce-baseline'.

    baseline.py [--out DIR] [--jobs N]

Replays random writes of one mapping unit, uniform or hot and cold, on baseline.ini, under each GC policy that
has a model, and computes the same by wamodel.py. A NAND page has 1, 2, 4 or 8 units. Writes baseline.csv and
README.md to DIR (default: docs/results/baseline).
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True

import wamodel

ROOT = Path(__file__).resolve().parents[2]
REPLAY = ROOT / "build/core/slate-replay"
PROFILE = Path(__file__).parent / "baseline.ini"
UNIT = 4096
MIB = 1 << 20
# When a victim is chosen, two blocks are free (GC starts when fewer than gc_start_blocks = 3 are) and one is open,
# half full on average. With hot pages apart from cold ones three are free, and two are open, or four: the host's and
# GC's of each kind.
FREE_AND_OPEN = {"": (2, 1), "shared": (3, 2), "own": (3, 4)}
# These are multiples of the capacity. Before hot and cold writes count, cold pages are written COLD_WRITES times.
WARM_UP, COUNTED, COLD_WRITES = 10, 5, 5
WARM_UP_OTHERS, COUNTED_OTHERS = 5, 3  # of policies other than greedy, which settle sooner
BLOCK_PAGES = (64, 128, 256, 512, 1024)
OVER_PROVISIONING = (7, 14, 20, 28)  # percent of the capacity
MIXES = (wamodel.Mix(0.3, 0.7), wamodel.Mix(0.2, 0.8), wamodel.Mix(0.1, 0.9))
MIX_BLOCK_PAGES = (64, 256)
OTHERS = (("fifo", 0), ("windowed-greedy", 0), ("d-choices", 10), ("d-choices", 2), ("random", 0))
# The other policies have drives of (pages of a block, blocks, OP); policies differ most in blocks of few pages.
OTHER_DRIVES = ((64, 1024, OVER_PROVISIONING), (256, 512, (7, 28)))
LARGE_BLOCKS = (1024, 256, (7, 28))  # of the first two policies; the others write too much
# Drives with several units a page. They are small, but have at least FEW_BLOCKS, so that two free and one open block
# leave most of the over-provisioning.
UNITS = (2, 4, 8)
UNITS_OP = (7, 15, 28)
UNITS_BLOCK_PAGES = (64, 256, 1024)
FEW_BLOCKS, FEW_UNITS = 128, 1 << 17
UNITS_WARM_UP, UNITS_COUNTED = 5, 3  # multiples of the capacity
REAL = (4, 24, 1024)  # units a page, pages a block, blocks: the shape of the profiles of real drives


@dataclass(frozen=True)
class Point:
    """Holds a drive and its workload."""

    blocks: int
    block_pages: int
    op_percent: int
    hot: wamodel.Mix | None = None
    seed: int = 1
    policy: str = "greedy"
    of: int = 0  # d-choices: blocks drawn; windowed-greedy: blocks of the window
    apart: str = ""  # hot pages lie apart from cold ones, with gc_frontier "shared" or "own"
    by: str = "count"  # what makes a page hot
    units: int = 1  # of a page
    own: bool = False  # GC's copies have a block of their own

    @property
    def block_units(self) -> int:
        """Return the number of units of a block."""
        return self.block_pages * self.units

    @property
    def capacity_mib(self) -> int:
        """Return the exported capacity, rounded up to MiB."""
        return round(self.blocks * self.block_units * UNIT / (1 + self.op_percent / 100) / MIB)

    @property
    def exported(self) -> int:
        """Return the number of exported units."""
        return self.capacity_mib * MIB // UNIT

    def computed(self) -> float:
        """Return the write amplification of the model, for the blocks among which victims are chosen."""
        free, opened = FREE_AND_OPEN[self.apart]
        opened += self.own
        closed, b = self.blocks - free - opened, self.block_units
        rho = (self.exported - opened * b / 2) / (closed * b)
        if self.hot and not self.apart:
            return wamodel.lru_hot_cold(rho, self.hot) if self.policy == "fifo" else wamodel.hot_cold(rho, b, self.hot)
        return {
            "greedy": lambda: wamodel.greedy(rho, b),
            "fifo": lambda: wamodel.lru(rho),
            "random": lambda: wamodel.random_block(rho, b, self.units),
            "d-choices": lambda: wamodel.d_choices(rho, b, self.of, self.units),
            "windowed-greedy": lambda: wamodel.windowed(rho, b, self.of / closed),
        }[self.policy]()

    def named(self) -> str:
        """Return the policy's name in the table."""
        what = {"d-choices": f" of {self.of}", "windowed-greedy": f" in {self.of} blocks"}.get(self.policy, "")
        apart = f", apart, {self.apart}" if self.apart else ""
        own = ", own frontier" if self.own else ""
        return self.policy + what + apart + own + (f", by {self.by}" if self.by != "count" else "")

    def _settings(self) -> list[str]:
        found = [f"gc_policy={self.policy}"]
        if self.policy == "d-choices":
            found.append(f"gc_choices={self.of}")
        if self.policy == "windowed-greedy":
            found.append(f"gc_window_blocks={self.of}")
        if self.apart:
            found += [f"hot_cold={self.by}", f"gc_frontier={self.apart}", "gc_start_blocks=4", "gc_stop_blocks=4"]
        if self.own:
            found.append("gc_frontier=own")
        settings = [f"ftl.{setting}" for setting in found]
        if self.units > 1:  # the buffer collects a page's units: without it each write takes a page
            settings += [f"ftl.buffer_units={2 * self.units}", f"geometry.page_bytes={self.units * UNIT}"]
            settings.append("geometry.oob_bytes=512")
        return [word for setting in settings for word in ("--set", setting)]

    def measured(self) -> float:
        """Return the write amplification that slate-replay measures."""
        warm_up = self._warm_up()
        counted = COUNTED if self.policy == "greedy" else COUNTED_OTHERS
        count = warm_up + (counted if self.units == 1 else UNITS_COUNTED) * self.exported
        source = "-" if self.hot else f"gen:rand4k,foot={self.capacity_mib}MiB,n={count},seed={self.seed}"
        line = [
            str(REPLAY), "--profile", str(PROFILE), "--set", f"geometry.blocks_per_plane={self.blocks}",
            "--set", f"geometry.pages_per_block={self.block_pages}", "--set", f"ftl.capacity_mib={self.capacity_mib}",
            *self._settings(), "--fill", "100", "--closed", "1", "--warmup", str(warm_up), "--json", "-", source,
        ]  # fmt: skip
        with subprocess.Popen(
            line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as replay:
            assert replay.stdin and replay.stdout and replay.stderr
            if self.hot:
                replay.stdin.writelines(self._trace(self.hot, count))
            replay.stdin.close()
            said, why = replay.stdout.read(), replay.stderr.read()
        if replay.returncode:
            raise SystemExit(f"baseline.py: {' '.join(line)}: exit status {replay.returncode}\n{why}")
        return float(json.loads(said)["waf"])

    def _warm_up(self) -> int:
        if not self.hot:
            whole = WARM_UP if self.policy == "greedy" else WARM_UP_OTHERS
            return (whole if self.units == 1 else UNITS_WARM_UP) * self.exported
        return round(COLD_WRITES * (1 - self.hot.pages) / (1 - self.hot.writes) * self.exported)

    def _trace(self, hot: wamodel.Mix, count: int) -> Iterator[str]:
        draw, border = random.Random(self.seed).random, int(self.exported * hot.pages)
        yield "# slate-trace 1\n"
        for _ in range(count):
            if draw() < hot.writes:
                page = int(draw() * border)
            else:
                page = border + int(draw() * (self.exported - border))
            yield f"0 0 write {page * UNIT} {UNIT}\n"


def points() -> list[Point]:
    """Return all points of the study."""
    found = [Point(2048 if b < 512 else 1024, b, op) for b in BLOCK_PAGES for op in OVER_PROVISIONING]
    found += [
        Point(2048 if b < 256 else 1024, b, op, mix)
        for b in MIX_BLOCK_PAGES
        for mix in MIXES
        for op in OVER_PROVISIONING
    ]
    found += [
        Point(blocks, b, op, policy=policy, of=of or blocks // 16)
        for policy, of in OTHERS
        for b, blocks, ops in OTHER_DRIVES + (LARGE_BLOCKS,) * (policy in {"fifo", "windowed-greedy"})
        for op in ops
    ]
    found += [Point(1024, 64, op, mix, policy="fifo") for mix in MIXES for op in (7, 28)]
    found += several_units() + few_blocks()
    found += [Point(1024, 64, op, mix, apart="shared") for mix in MIXES for op in OVER_PROVISIONING]
    found += [Point(1024, 64, 14, mix, apart="own") for mix in MIXES]
    return found + [Point(1024, 64, op, mix, apart="shared", by="recency") for mix in MIXES for op in (7, 28)]


def several_units() -> list[Point]:
    """Return the points with several units a page."""
    found = [
        Point(_blocks(units, b), b, op, units=units, own=own)
        for own in (False, True)
        for b in UNITS_BLOCK_PAGES
        for units in UNITS
        for op in UNITS_OP
    ]
    units, b, blocks = REAL
    found += [Point(blocks, b, op, units=units) for op in UNITS_OP]
    found += [
        Point(blocks, b, op, policy=policy, of=of or blocks // 16, units=units)
        for policy, of in OTHERS
        for b, units in ((32, 2), (32, 4), (32, 8), (256, 4))
        for blocks in (max(_blocks(units, b) // 2, FEW_BLOCKS),)
        for op in UNITS_OP
    ]
    found += [Point(512, 32, op, mix, units=units) for units in UNITS for mix in MIXES for op in UNITS_OP]
    found += [Point(512, 32, op, mix, policy="fifo", units=4) for mix in MIXES for op in UNITS_OP]
    return found + [
        Point(512, 32, op, MIXES[1], apart=apart, units=units)
        for apart in ("shared", "own")
        for units in UNITS
        for op in UNITS_OP[1:]
    ]


def few_blocks() -> list[Point]:
    """Return points that show what few blocks do, with one unit a page and with four."""
    return [
        *(Point(blocks, b, 15) for blocks, b in ((FEW_BLOCKS, 1024), (FEW_BLOCKS, 256), (512, 256))),
        *(Point(blocks, 256, 7, own=True) for blocks in (FEW_BLOCKS, 512)),
        *(Point(512, 256, op, units=4) for op in (15, 28)),
        Point(512, 256, 7, units=4, own=True),
    ]


def _blocks(units: int, block_pages: int) -> int:
    """Return the blocks of a drive with several units a page."""
    return max(FEW_BLOCKS, FEW_UNITS // (units * block_pages))


def rows(wanted: list[Point], jobs: int) -> Iterator[dict[str, str]]:
    """Return the rows of the points, in order."""
    with ThreadPoolExecutor(jobs) as pool:
        for point, measured in zip(wanted, pool.map(Point.measured, wanted)):
            computed = point.computed()
            hot = f"{point.hot.writes:.0%} to {point.hot.pages:.0%}" if point.hot else "uniform"
            row = {
                "policy": point.named(), "writes": hot, "units_per_page": str(point.units),
                "pages_per_block": str(point.block_pages), "blocks": str(point.blocks),
                "op_percent": str(point.op_percent), "computed": f"{computed:.4f}", "measured": f"{measured:.4f}",
                "off_percent": f"{100 * (measured / computed - 1):+.2f}",
            }  # fmt: skip
            print(" ".join(row.values()), flush=True)
            yield row


def as_markdown(found: list[dict[str, str]]) -> str:
    """Format the rows as a table with a column for each over-provisioning."""
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for row in found:
        key = (row["policy"], row["writes"], row["units_per_page"], row["pages_per_block"], row["blocks"])
        cell = f"{row['computed']}, {row['measured']} ({row['off_percent']})"
        lines.setdefault(key, {})[row["op_percent"]] = cell
    ops = sorted({row["op_percent"] for row in found}, key=int)
    heads = ("policy", "writes", "units a page", "pages a block", "blocks", *(f"OP {op} %" for op in ops))
    body = [(*key, *(cells.get(op, "") for op in ops)) for key, cells in lines.items()]
    table = [heads, ("---",) * len(heads), *body]
    return "".join(f"| {' | '.join(line)} |\n" for line in table)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description="The page FTL's write amplification beside what mathematics says."
    )
    parser.add_argument("--out", metavar="DIR", type=Path, default=ROOT / "docs/results/baseline")
    parser.add_argument("--jobs", metavar="N", type=int, default=os.cpu_count(), help="replays at once")
    args = parser.parse_args()
    if not REPLAY.exists():
        print("baseline.py: slate-replay is not built: run 'make core'", file=sys.stderr)
        return 1
    found = list(rows(points(), args.jobs))
    args.out.mkdir(parents=True, exist_ok=True)
    with (args.out / "baseline.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, found[0])
        table.writeheader()
        table.writerows(found)
    notes = PROFILE.with_name("baseline-notes.md").read_text(encoding="utf-8")
    (args.out / "README.md").write_text(notes + as_markdown(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

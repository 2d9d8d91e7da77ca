# SPDX-License-Identifier: GPL-2.0-or-later
"""baseline.py - the page FTL's write amplification beside what mathematics says: 'make reproduce-baseline'.

    reproduce baseline [--out DIR] [--jobs N] [--part baseline|matrix] [--keep]

Replays random writes of one mapping unit, uniform or hot and cold, on baseline.ini, under each GC policy that
has a model, and computes the same by wamodel.py, wakinds.py and wacycle.py. A NAND page has 1, 2, 4 or 8 units. Writes
baseline.csv, matrix.csv and README.md to DIR (default: docs/results/baseline).
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from reproduce import places
from reproduce.models import wacycle, wakinds, wamodel
from reproduce.places import ROOT

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
# The matrix has every combination of these, with uniform writes. Its drives are of FEW_BLOCKS or more.
MATRIX_POLICIES = ("greedy", "cost-benefit", "fifo", "windowed-greedy", "d-choices", "random")
MATRIX_UNITS, MATRIX_LEAST = (1, 2, 4, 8), 1 << 15
MATRIX_WARM_UP, MATRIX_COUNTED, MATRIX_COUNTED_LARGE, MATRIX_LARGE = 5, 3, 1, 1 << 18
# Hot and cold: of blocks of 64 units, because the work of the models is that of all pairs of hot and cold pages.
MATRIX_MIX, MATRIX_MIX_BLOCKS = wamodel.Mix(0.2, 0.8), 1024
MATRIX_MIX_SHAPES = ((1, 64), (2, 32), (4, 16), (8, 8))  # units a page, pages a block
MATRIX_MIX_ROOM = 7  # OP with too little room for the reserve of blocks of 8 pages
# Random choice, own frontier: cold blocks that free no page pile up, and the model has no answer.
MATRIX_NO_MODEL = (("random", True, 4, 7), ("random", True, 8, 15))
CHOICES, WINDOWS = 10, 16
FAR_PERCENT = 2
KEYS = ("policy", "writes", "units_per_page", "pages_per_block", "blocks", "op_percent")
NUMBERS = ("computed", "measured", "off_percent")
VALID_CLOSE, VALID_CLOSE_KINDS, VALID_ROUNDS = 1e-4, 1e-3, 40
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
    warm_up: int = 0  # multiples of the capacity, or 0: as the policy says
    counted: int = 0

    @property
    def block_units(self) -> int:
        """Return the number of units of a block."""
        return self.block_pages * self.units

    @property
    def capacity_mib(self) -> int:
        """Return the exported capacity, rounded to the nearest MiB."""
        return round(self.blocks * self.block_units * UNIT / (1 + self.op_percent / 100) / MIB)

    @property
    def exported(self) -> int:
        """Return the number of exported units."""
        return self.capacity_mib * MIB // UNIT

    def first(self) -> float:
        """Return the write amplification of the first model, which takes open blocks to be half full."""
        free, opened = FREE_AND_OPEN[self.apart]
        opened += self.own
        closed, b = self.blocks - free - opened, self.block_units
        rho = (self.exported - opened * b / 2) / (closed * b)
        if self.hot and not self.apart:
            return wamodel.lru_hot_cold(rho, self.hot) if self.policy == "fifo" else wamodel.hot_cold(rho, b, self.hot)
        return self._uniform(rho, closed)

    def computed(self) -> float:
        """Return the write amplification of the model, with free and open blocks as they are when GC chooses."""
        if self.apart:
            return self.first()
        guess, found = 0.8, (0.0, [0.0])
        b, opened = self.block_units, 1 + self.own
        for _ in range(VALID_ROUNDS):
            free, written = wacycle.when_chosen(guess, self.own)
            closed = self.blocks - free - opened
            rho = (self.exported - written * b) / (closed * b)
            if self.hot:
                kinds = wakinds.Kinds(rho, b, self.hot, self.own, self.units)
                share = self.of / closed if self.policy == "windowed-greedy" else self.of
                found = wakinds.amplification(kinds, self.policy, share, found if found[0] else None)
            else:
                found = self._uniform(rho, closed), [0.0]
            valid = 1 - 1 / found[0]
            if abs(valid - guess) < (VALID_CLOSE_KINDS if self.hot else VALID_CLOSE):
                break
            guess = (guess + valid) / 2
        return found[0]

    def _uniform(self, rho: float, closed: float) -> float:
        b = self.block_units
        return {
            "greedy": lambda: wamodel.greedy(rho, b),
            "cost-benefit": lambda: wamodel.cost_benefit(rho, b, self.units),
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
        count = warm_up + (self.counted or (counted if self.units == 1 else UNITS_COUNTED)) * self.exported
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
            raise SystemExit(f"reproduce baseline: {' '.join(line)}: exit status {replay.returncode}\n{why}")
        return float(json.loads(said)["waf"])

    def _warm_up(self) -> int:
        if not self.hot:
            whole = WARM_UP if self.policy == "greedy" else WARM_UP_OTHERS
            return (self.warm_up or (whole if self.units == 1 else UNITS_WARM_UP)) * self.exported
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


def matrix() -> list[Point]:
    """Return every combination of policy, units a page, pages a block, over-provisioning and frontier."""
    found = []
    for policy in MATRIX_POLICIES:
        for own in (False, True):
            for units in MATRIX_UNITS:
                for b in BLOCK_PAGES:
                    blocks = max(FEW_BLOCKS, MATRIX_LEAST // (units * b))
                    counted = MATRIX_COUNTED if blocks * units * b < MATRIX_LARGE else MATRIX_COUNTED_LARGE
                    found += [
                        Point(blocks, b, op, policy=policy, of=_of(policy, blocks), units=units, own=own,
                              warm_up=MATRIX_WARM_UP, counted=counted)
                        for op in UNITS_OP
                    ]  # fmt: skip
            found += [
                Point(blocks, b, op, MATRIX_MIX, policy=policy, of=_of(policy, blocks), units=units, own=own)
                for blocks in (MATRIX_MIX_BLOCKS,)
                for units, b in MATRIX_MIX_SHAPES
                for op in UNITS_OP
                if (units, op) != (8, MATRIX_MIX_ROOM) and (policy, own, units, op) not in MATRIX_NO_MODEL
            ]
    return found


def _of(policy: str, blocks: int) -> int:
    return {"d-choices": CHOICES, "windowed-greedy": blocks // WINDOWS}.get(policy, 0)


def _blocks(units: int, block_pages: int) -> int:
    """Return the blocks of a drive with several units a page."""
    return max(FEW_BLOCKS, FEW_UNITS // (units * block_pages))


def head(point: Point) -> dict[str, str]:
    """Return the first columns of a point's row."""
    hot = f"{point.hot.writes:.0%} to {point.hot.pages:.0%}" if point.hot else "uniform"
    values = (point.named(), hot, point.units, point.block_pages, point.blocks, point.op_percent)
    return dict(zip(KEYS, map(str, values)))


def row(point: Point, measured: float, computed: float) -> dict[str, str]:
    """Return the row of a point."""
    numbers = f"{computed:.4f}", f"{measured:.4f}", f"{100 * (measured / computed - 1):+.2f}"
    return head(point) | dict(zip(NUMBERS, numbers))


def known_as(found: dict[str, str]) -> tuple[str, ...]:
    """Return the columns that identify a row."""
    return tuple(found[key] for key in KEYS)


def rows(
    wanted: list[Point], model: Callable[[Point], float], jobs: int, done: list[dict[str, str]]
) -> Iterator[dict[str, str]]:
    """Return the rows of the points, in order; those that are done are not replayed again."""
    known = {known_as(found): found for found in done}

    def one(point: Point) -> dict[str, str]:
        return known.get(known_as(head(point))) or row(point, point.measured(), model(point))

    with ThreadPoolExecutor(jobs) as pool:
        for found in pool.map(one, wanted):
            print(" ".join(found.values()), flush=True)
            yield found


def main(argv: list[str]) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description="The page FTL's write amplification beside what mathematics says."
    )
    parser.add_argument("--out", metavar="DIR", type=Path, default=ROOT / "docs/results/baseline")
    parser.add_argument("--jobs", metavar="N", type=int, default=os.cpu_count(), help="replays at once")
    parser.add_argument("--part", choices=PARTS, help="replay one part; the other's table is read from DIR")
    parser.add_argument("--keep", action="store_true", help="go on: do not replay rows that are in DIR")
    args = parser.parse_args(argv)
    if not REPLAY.exists():
        print("reproduce baseline: slate-replay is not built: run 'make core'", file=sys.stderr)
        return 1
    args.out.mkdir(parents=True, exist_ok=True)
    for name, (wanted, model) in PARTS.items():
        if args.part in {None, name}:
            path = args.out / f"{name}.csv"
            left = {known_as(one): one for one in read_csv(path)} if args.keep and path.exists() else {}
            found = []
            for one in rows(wanted(), model, args.jobs, list(left.values())):
                found.append(one)
                left.pop(known_as(one), None)
                write_csv(path, found + list(left.values()))
    notes = places.notes("baseline").read_text(encoding="utf-8")
    found = read_csv(args.out / "matrix.csv")
    far = sum(abs(float(one["off_percent"])) > FAR_PERCENT for one in found)
    notes = notes.replace("@ROWS@", str(len(found))).replace("@OVER@", str(far))
    (args.out / "README.md").write_text(notes, encoding="utf-8")
    return 0


# Tables: their points and model. The rows of the first keep the model with which they were first compared.
PARTS: dict[str, tuple[Callable[[], list[Point]], Callable[[Point], float]]] = {
    "baseline": (points, Point.first),
    "matrix": (matrix, Point.computed),
}


def write_csv(path: Path, found: list[dict[str, str]]) -> None:
    """Write the rows of a table."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, found[0], lineterminator="\n")
        table.writeheader()
        table.writerows(found)


def read_csv(path: Path) -> list[dict[str, str]]:
    """Read the rows of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))

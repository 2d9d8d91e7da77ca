# SPDX-License-Identifier: GPL-2.0-or-later
"""points.py - every run of a study: its trace, its drive, and the options of its replay.

Here those of PEN and IPPBE; spread.py and rps.py have theirs.

A study is a paper ("pen", "ippbe", ...) at a scale, in full or quick. A point is one
run of slate-replay; its result is a JSON file. figures.py makes rows from these results. This file
runs nothing.

Scale. A study at scale N divides the drive's blocks per plane by N, and the
trace's requests, bytes, coverage and duration by N (stand-ins), or takes its
first N-th (originals). Rates, block and page sizes, parallelism and every percentage do not change.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ACCOUNTINGS = ("device", "ssdsim")
TABLE2 = (
    "hm_0 prn_0 prn_1 proj_0 proj_1 proj_2 prxy_0 src1_1 src1_2 stg_1 usr_1 usr_2".split()
)  # PEN's workloads
REQUESTS_M = {  # of an original, for --limit
    "hm_0": 3.993, "prn_0": 5.585, "prn_1": 11.234, "proj_0": 4.224, "proj_1": 23.64, "proj_2": 29.267,
    "prxy_0": 12.519, "src1_1": 45.746, "src1_2": 1.908, "stg_1": 2.196, "usr_1": 45.284, "usr_2": 10.57,
}  # fmt: skip


class StudyError(Exception):
    """Carries an error message for the user."""


@dataclass(frozen=True)
class Trace:
    """Names a volume or a mix; its settings may replace assumptions of workloads.toml or mixes.toml.

    like: the real trace whose fitted settings a stand-in has (standin.py --like).
    """

    volume: str
    settings: tuple[tuple[str, float], ...] = ()
    maker: str = "standin"  # or "mix": of mixes.toml, "content": a guest's recording, "real": of volumes.py
    like: str = ""

    @property
    def tag(self) -> str:
        """Return a name for files."""
        real = "real-" if self.maker == "real" else ""  # a file may be named as a mix
        like = f",like={self.like}" if self.like else ""
        return real + self.volume + like + "".join(f",{key}={value:g}" for key, value in self.settings)

    @property
    def options(self) -> tuple[str, ...]:
        """Return the options of standin.py."""
        words = ["--like", self.like] if self.like else []
        for key, value in self.settings:
            words += ["--seed", f"{value:g}"] if key == "seed" else ["--set", f"{key}={value:g}"]
        return tuple(words)


@dataclass(frozen=True)
class Point:
    """Describes one run of slate-replay."""

    trace: Trace
    config: str
    accounting: str
    profile: str
    sets: tuple[str, ...]
    args: tuple[str, ...]
    patch: str = ""

    @property
    def id(self) -> str:
        """Return a name for files, unique in a study."""
        return f"{self.trace.tag}/{self.config}.{self.accounting}"


@dataclass(frozen=True)
class Config:
    """Describes a drive and a way to replay: name, profile, settings, options of slate-replay.

    patch: of trials/, for a slate-replay with that change; "": the program as it is.
    """

    name: str
    profile: str
    sets: tuple[str, ...]
    args: tuple[str, ...] = ("--open",)
    of_trace: Callable[[Trace], tuple[str, ...]] = lambda _: ()  # settings that depend on the trace
    patch: str = ""


@dataclass(frozen=True)
class GuestRun:
    """Describes a fio job file in a guest ('slate run'). Each of its sections is a result."""

    config: str  # name of the configuration in the results
    job: str  # path of the job file
    profile: str
    sets: tuple[str, ...]
    tags: tuple[tuple[str, str], ...]  # section of the job file, tag of the trace that it stands for
    args: tuple[str, ...] = ()  # more of slate run's options
    depth: int = 0  # replaces the job file's iodepth=32; 0: leaves it
    interval_ms: int = 0  # length of the intervals in which completions are counted; 0: no intervals

    @property
    def name(self) -> str:
        """Return a name for files, unique in a study."""
        return f"{self.config}.{Path(self.job).stem}"


def free_blocks(blocks: int, percent: int) -> int:
    """Return the number of free blocks that is at most the given percentage."""
    return blocks * percent // 100


# ---- PEN ---------------------------------------------------------------------------

ERASE_NS = (10_000_000, 9_950_000, 9_790_000, 9_620_000, 9_480_000, 9_370_000, 9_270_000)
BLOCK_SIZES = ((15104, 72), (7552, 144), (3776, 288), (1888, 576))  # section 2.3.1
LEVELS = (1, 2, 3, 4, 5, 6)
MERGES = (1, 4, 16, 64)  # W; which ones figure 14 has is not in the text
CAPACITY_LOST = (0, 68, 165)  # permille: PBE; the text has the ends
SUPERBLOCKS = ((4, 5), (4, 8))
# So many consecutive pages are in a plane. The text gives no number. NFTL maps a
# logical block of consecutive pages to a block, so it is a block's pages; the sweep
# includes 1, as in SSDSim.
STRIPES = (1, 72, 576)
CLOSED = ("--closed", "8")
DEPTHS = (1, 8, 32)  # requests in flight, which the paper does not state
SLICES = (1, 4, 16, 64)  # copies in one turn of GFTL, which the paper does not state
GFTL_DEPTHS = (8, 256)  # fewer requests in flight than dies, and more
GFTL_PERCENT = 16  # additional blocks of GFTL, of all blocks (its abstract)
FILL = ("--fill", "95", "--fold")


class Pen:
    """Makes the configurations of PEN on its drive, divided by scale."""

    def __init__(self, scale: int) -> None:
        if 1888 % scale:
            raise StudyError(f"scale {scale} does not divide PEN's 1888 blocks per plane: take 8, 16, 32 or 59")
        self.scale = scale

    def blocks(self, blocks: int, lost: int) -> int:
        """Return the blocks of a plane of a drive that lacks `lost` permille of its blocks, rounded."""
        return math.floor(blocks / self.scale * (1000 - lost) / 1000 + 0.5)

    def config(self, name: str, *sets: str, blocks: int = 1888, pages: int = 576, levels: int = 6,
               lost: int = 0, stripe: int | None = None, args: tuple[str, ...] = ("--open",),
               stops: bool = False) -> Config:  # fmt: skip
        """Return a configuration. lost: permille of the blocks that are missing. stops: GC ends where it begins."""
        here = self.blocks(blocks, lost)
        start = free_blocks(here, 8)  # a U-block, or host data, only while more than these are free
        drive = (
            f"geometry.blocks_per_plane={here}",
            f"geometry.pages_per_block={pages}",
            f"geometry.pb_levels={levels}",
            "timing.erase_ns=" + ",".join(map(str, ERASE_NS[: levels + 1])),
            f"ftl.stripe_pages={stripe or pages}",
            "ftl.unit_bytes=16384",
            "ftl.buffer_units=0",
            f"ftl.gc_start_blocks={start}",
            *([f"ftl.gc_stop_blocks={start}"] if stops else []),
            "ftl.gc_urgent_blocks=2",
        )
        return Config(name, "pen", drive + sets, args + FILL)

    def exported_mib(self, lost: int) -> int:
        """Return the exported size of a drive without `lost` permille of its blocks (64 planes, OP 10 %)."""
        return self.blocks(1888, lost) * 64 * 576 * 16 // 1024 * 10 // 11

    def nftl(self, name: str = "nftl", *sets: str, **how: Any) -> Config:
        """Return the baseline."""
        return self.config(name, "ftl.type=nftl", "ftl.pen=no", *sets, **how)

    def pen(self, name: str = "pen", *sets: str, **how: Any) -> Config:
        """Return PEN on NFTL."""
        return self.config(name, "ftl.type=nftl", "ftl.pen=yes", *sets, **how)

    def superblock(self, name: str, m: int, n: int, *sets: str, **how: Any) -> Config:
        """Return the Superblock FTL; m = 0 is page mapping."""
        shape = (f"ftl.superblock_blocks={m}", f"ftl.superblock_max_blocks={n}")
        return self.config(name, "ftl.type=superblock", *shape, *sets, stops=True, **how)

    def all(self) -> dict[str, Config]:
        """Return all configurations, by name."""
        sliced = "ftl.gc_mode=sliced", f"ftl.gc_urgent_blocks={free_blocks(1888 // self.scale, 8) - 1}"
        made = [
            self.nftl(),
            self.pen(),
            self.nftl("nftl-closed", args=CLOSED),
            self.pen("pen-closed", args=CLOSED),
            *(self.nftl(f"nftl-closed-{n}", args=("--closed", str(n))) for n in DEPTHS if n != 8),
            *(self.pen(f"pen-closed-{n}", args=("--closed", str(n))) for n in DEPTHS if n != 8),
            *(self.nftl(f"nftl-S{n}", stripe=n) for n in STRIPES[:-1]),
            *(self.pen(f"pen-S{n}", stripe=n) for n in STRIPES[:-1]),
            self.nftl("nftl-nosearch", "ftl.spare_search=no"),
            self.pen("pen-nosearch", "ftl.spare_search=no"),
            self.nftl("gftl", *sliced),
            *(self.nftl(f"gftl-{n}", *sliced, f"ftl.gc_slice_pages={n}") for n in SLICES if n != 4),
            self.pen("pen-nodisturb", "reliability.disturb_tolerance=off"),
            self.nftl("nftl-series", args=("--open", "--interval", "60000")),
            self.pen("pen-series", args=("--open", "--interval", "60000")),
        ]
        made += [self.nftl(f"nftl-{p}", blocks=b, pages=p, levels=0) for b, p in BLOCK_SIZES if p != 576]
        made += [self.pen(f"pen-L{levels}", levels=levels) for levels in LEVELS[:-1]]
        made += [self.pen(f"pen-W{w}", f"ftl.pen_merges_max={w}") for w in MERGES if w != 16]
        made += [self.pen(f"pbe-{x}", "reliability.disturb_tolerance=off", lost=x) for x in CAPACITY_LOST[1:]]
        made += [self.pen(f"pen-spare-{x}", f"ftl.capacity_mib={self.exported_mib(x)}") for x in CAPACITY_LOST[1:]]
        for m, n in SUPERBLOCKS:
            made += [
                self.superblock(f"sb{m}{n}", m, n, "ftl.pen=no"),
                self.superblock(f"sb{m}{n}-pen", m, n, "ftl.pen=yes"),
            ]
        made += [
            self.superblock(f"sb45-pen-W{w}", 4, 5, "ftl.pen=yes", f"ftl.pen_merges_max={w}") for w in MERGES if w != 16
        ]
        pair = "geometry.erase_group_max=2", "ftl.parallel_erase=yes"
        made += [
            self.superblock("page", 0, 0, "ftl.pen=no", stripe=1),
            self.superblock("page-pen", 0, 0, "ftl.pen=yes", stripe=1),
            self.superblock("page-ippbe", 0, 0, "ftl.pen=no", *pair, stripe=1),
            self.nftl("nftl-ippbe", *pair),
            self.pen("pen-ippbe", *pair),
            self.superblock("sb45-ippbe", 4, 5, "ftl.pen=no", *pair),
            self.superblock("sb45-pen-ippbe", 4, 5, "ftl.pen=yes", *pair),
        ]
        for name, answer in (("spread", "no"), ("spread-gc", "yes")):
            made.append(
                Config(name, "spread", (f"ftl.gc_subpage_reads={answer}", "ftl.host_subpage_reads=no",
                                        "geometry.blocks_per_plane=128",
                                        "ftl.gc_start_blocks=9", "ftl.gc_stop_blocks=9"), CLOSED + FILL)
            )  # fmt: skip
        return {config.name: config for config in made}


MERGE_VICTIMS = ("oldest", "lru")  # besides the pair that came to most invalid pages last


class PenChoices(Pen):
    """Makes choices that PEN leaves open differently than the study "pen"."""

    def all(self) -> dict[str, Config]:
        """Return all configurations, by name."""
        made = [self.nftl(), self.pen()]
        for victim in MERGE_VICTIMS:
            chosen = f"ftl.merge_victim={victim}"
            made += [self.nftl(f"nftl-{victim}", chosen), self.pen(f"pen-{victim}", chosen)]
        # over-provisioning as SSDSim counts it: a tenth of the raw pages, not of the exported ones
        exported = f"ftl.capacity_mib={self.blocks(1888, 0) * 64 * 576 * 16 // 1024 * 9 // 10}"
        made += [self.nftl("nftl-op", exported), self.pen("pen-op", exported)]
        for blocks, pages in (BLOCK_SIZES[0], BLOCK_SIZES[-1]):
            name = "nftl" if pages == 576 else f"nftl-{pages}"
            size: dict[str, Any] = {"blocks": blocks, "pages": pages, "levels": 6 if pages == 576 else 0}
            made += [self.nftl(f"{name}-all", "ftl.spare_search=all", **size), self.nftl(name, **size)]
        sliced = "ftl.gc_mode=sliced", f"ftl.gc_urgent_blocks={free_blocks(1888 // self.scale, 8) - 1}"
        made += [self.nftl("gftl", *sliced)]
        # GFTL with its write buffer: additional blocks, and the same exported size; or one block of the spare ones
        more = math.ceil(self.blocks(1888, 0) * GFTL_PERCENT / 100)
        drive = (
            f"geometry.blocks_per_plane={self.blocks(1888, 0) + more}",
            f"ftl.capacity_mib={self.exported_mib(0)}",
            f"ftl.write_buffer_blocks={more}",
        )
        made += [
            self.nftl("gftl-buffer" if n == 4 else f"gftl-buffer-{n}", *sliced, *drive, f"ftl.gc_slice_pages={n}")
            for n in SLICES
        ]
        made += [
            self.nftl("gftl-one", *sliced, "ftl.write_buffer_blocks=1"),
        ]
        for depth in GFTL_DEPTHS:
            args = ("--closed", str(depth))
            made += [
                self.nftl(f"nftl-closed-{depth}", args=args),
                self.pen(f"pen-closed-{depth}", args=args),
                self.nftl(f"gftl-buffer-closed-{depth}", *sliced, *drive, args=args),
            ]
        return {config.name: config for config in made}


# ---- IPPBE -------------------------------------------------------------------------

SECOND_PAGES = (0, 4, 8, 16, 24, 32, 48, 64)  # of 64: the copy threshold is not published
NEAR_PAGES = (24, 26, 32)  # the example leaves a block with 40 %, 26 of 64, alone
PAIR_PAGES = (25, 32, 64)  # of both victims: the text counts pages "that would need to be copied"; 25: below 26
SECOND_DEFAULT = 32


# The paper's FTL gives each page a plane by its address (section 4): the write-through
# engine's page mapping. The page FTL gives it to the first idle die.
STATIC = ("ftl.type=superblock", "ftl.superblock_blocks=0", "ftl.superblock_max_blocks=0")


class Ippbe:
    """Makes the configurations of IPPBE on its drive, divided by scale."""

    def __init__(self, scale: int) -> None:
        if 2048 % scale:
            raise StudyError(f"scale {scale} does not divide IPPBE's 2048 blocks per plane: take a power of two")
        self.blocks = 2048 // scale

    def config(self, name: str, *sets: str, ftl: tuple[str, ...] = STATIC, args: tuple[str, ...] = ()) -> Config:
        """Return a configuration."""
        start = free_blocks(self.blocks, 7) + 1  # GC while fewer than these are free
        drive = (
            f"geometry.blocks_per_plane={self.blocks}",
            f"ftl.gc_start_blocks={start}",
            f"ftl.gc_stop_blocks={start}",
        )
        return Config(name, "ippbe", drive + ftl + sets, ("--open", "--fold", *args))

    def greedy(self, name: str = "greedy", more: tuple[str, ...] = (), **how: Any) -> Config:
        """Return a configuration in which GC takes one victim."""
        return self.config(name, "ftl.parallel_erase=no", *more, **how)

    def pair(self, name: str = "ippbe", pages: int = SECOND_DEFAULT, more: tuple[str, ...] = (), **how: Any) -> Config:
        """Return a configuration in which GC takes a second victim with at most this number of valid pages."""
        return self.config(name, "ftl.parallel_erase=yes", f"ftl.second_victim_pages={pages}", *more, **how)

    def all(self) -> dict[str, Config]:
        """Return all configurations, by name."""
        made = [self.greedy(), self.pair()]
        made += [self.pair(f"ippbe-{n}", n) for n in SECOND_PAGES if n != SECOND_DEFAULT]
        for other, how in (("filled", {"args": ("--fill", "95")}), ("dynamic", {"ftl": ("ftl.type=page",)})):
            made += [self.greedy(f"greedy-{other}", **how), self.pair(f"ippbe-{other}", **how)]
        return {config.name: config for config in made}


class IppbeChoices(Ippbe):
    """Makes other choices that IPPBE leaves open: the threshold's meaning, and which requests go first."""

    def all(self) -> dict[str, Config]:
        """Return all configurations, by name."""
        in_order = "ftl.read_priority=no"
        made = [self.greedy(), self.pair(), self.greedy("greedy-filled", args=("--fill", "95"))]
        made += [self.pair(f"ippbe-{n}", n) for n in NEAR_PAGES if n != SECOND_DEFAULT]
        made += [self.pair(f"ippbe-both-{n}", 64, more=(f"ftl.pair_pages={n}",)) for n in PAIR_PAGES]
        made += [self.greedy("greedy-in-order", more=(in_order,)), self.pair("ippbe-in-order", more=(in_order,))]
        return {config.name: config for config in made}

# SPDX-License-Identifier: GPL-2.0-or-later
"""'slate fit' finds a profile whose drive has the numbers of a data sheet.

Each number is fitted by one key of the profile:

    rand_read_iops        ftl.overhead_ns     work of the controller's cores for a command
    read_us               timing.read_ns      adds to every read: arithmetic
    seq_read_us           controller.read_hit_ns  adds to every read from the read cache: arithmetic
    write_us              ftl.buffer_ns       adds to every buffered write: arithmetic
    seq_write_mb_s        timing.program_ns
    seq_read_mb_s         link.data_permille  payload of the link, or of the controller
    sustained_write_iops  ftl.op_permille     spare blocks determine how much GC copies

With seq_read_us below read_us by more than TOLERANCE the drive reads ahead: READ_AHEAD_BYTES, in a read
cache that holds them for all sequences at once. If its cores are too slow for such a read, it has fewer
and faster cores, with the same rate of random reads. Random reads are measured without that cache.

With slc_cache_permille, seq_write_mb_s is the rate of the empty cache, fitted by
timing.slc_program_ns, and full_write_mb_s that of the full one, fitted by timing.program_ns;
ftl.slc_blocks is arithmetic. With map_cache_permille, ftl.map_cache_pages is. Reads are measured
without both caches: of TLC pages, with the map in memory.

If the sheet does not fix the number of dies, the drive gets the smallest number that reaches the
random reads if the cores take no time, so that all of read_us is the cell's. If it has no read_us, and
its dies are too slow for its reads, read_ns is fitted to them. A key has little effect on other numbers,
so each is solved separately, by SciPy's root finder over replays (slate-replay), in two rounds; the
second begins with the values of the first. A key that the sheet fixes in [flash] is not changed. If a
key stops at its bound, its number is not reached, and the result says so.
"""

from __future__ import annotations

import argparse
import bisect
import functools
import itertools
import json
import math
import re
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import fitfio, fitsheet, names, packages, paths, profiles
from .commands import Option
from .errors import JOB_FAILED, OK, SlateError
from .fitsheet import IO_BYTES, MB, TARGETS, Sheet
from .shape import Json

EXAMPLES = """\
examples:
  slate fit p4500-2tb                    a shipped sheet
  slate fit my-sheet.ini -o my.ini       your own sheet; then: slate run --profile my.ini
  slate fit --guest p4500-2tb            the numbers of the fitted drive in a guest, by fio
"""
TOLERANCE = 0.05  # relative error at which a number counts as reached
PRECISION = 0.002  # relative error of a number, or change of a key's value, at which the search ends
GC_PRECISION = 0.02  # the same for sustained_write_iops, whose replays take longest
ROUNDS = 2
ADDITIONS = 3  # steps to fit a time that adds to others
HIT = "controller.read_hit_ns"
NO_READ_CACHE = {"controller.read_cache_units": "0", "controller.read_ahead_units": "0", HIT: "0"}
# A smaller drive is enough for reads, whose times do not depend on the number of blocks.
FEW = {
    "geometry.blocks_per_plane": "12",
    "ftl.op_permille": "1000",
    "ftl.slc_cache": "none",
    "ftl.map_cache_pages": "0",
}
BLOCKS = 128  # blocks of a plane: few, which reduces the capacity and not the parallelism
# A block has PAGES pages, or BLOCK_BYTES' worth if that is more. 'timing.erase_ns' is reduced likewise.
PAGES, BLOCK_BYTES = 24, 192 << 10
CORES, FEWER_CORES = 4, (2, 1)
# The drive reads so many bytes ahead of a sequence of reads, and follows so many sequences at once (rcache.h).
READ_AHEAD_BYTES, SEQUENCES = 1 << 20, 8
SEQ_BYTES = 128 << 10
ECC_WORD = 1024
READ_IOS = 100_000
SEQ_WRITE_IOS = 16_384  # maximum of a measurement, with those before they count
# The measurement begins after so many blocks of each plane have been written: until then the planes of a die fill their
# blocks at the same moments, and GC is faster than later.
WARM_BLOCKS = 16
# Random writes are measured in thirds of so many. They are steady if the rates of the last two differ by no more.
THIRD_IOS, MOST_THIRD_IOS, STEADY, SERIES_MS = 100_000, 800_000, 0.02, 10
# If the sheet fixes no number of dies of a channel, these are tried.
CHIPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
# The search keeps each key in these bounds; for times of cells they are factors of the base profile's value.
FACTOR = {
    "timing.read_ns": (fitsheet.LEAST_CELL, 2.0),
    "timing.program_ns": (0.1, 20.0),
    "timing.slc_program_ns": (0.02, 4.0),
}
BOUNDS = {
    "ftl.overhead_ns": (100, 50_000),
    "ftl.buffer_ns": (0, 1_000_000),
    HIT: (1, 1_000_000),
    "link.data_permille": (1, fitsheet.PAYLOAD_PERMILLE_MAX),
    "ftl.op_permille": (66, 3000),  # with less, BLOCKS blocks do not hold the capacity and GC's reserve
}
# The root of op_permille is bracketed in steps of this factor from the highest value downwards, because replays
# with little over-provisioning are slow.
STEP = 4.0
# If the dies are too slow at the cores' least time, these shares of the time that the cores have for a read are tried.
NEAR = (0.95, 0.9, 0.8, 0.6)
# Every fitted drive has these settings, unless the sheet says otherwise.
CUT = {
    "geometry.blocks_per_plane": str(BLOCKS),
    "ftl.gc_start_blocks": "3",
    "ftl.gc_stop_blocks": "4",
    "geometry.subpage": "dma",
    "controller.cores": str(CORES),
    "ftl.host_subpage_reads": "auto",
}
_OF_SIZE = ("geometry.blocks_per_plane", "geometry.pages_per_block", "timing.erase_ns")
DIES = ("geometry.chips_per_channel", "geometry.dies_per_chip")  # of a channel


OPTIONS = (
    Option("sheet", "SHEET", "a sheet's name or a path", count="?"),
    Option("--list", about="list the shipped sheets"),
    Option("--job", about="print the job that measures a real drive"),
    Option("--output", "FILE", "the profile (default: NAME.ini here)", short="-o"),
    Option("--guest", about="measure the fitted drive in a guest, beside its sheet"),
    Option("--profile", "NAME|FILE", "--guest: the fitted drive (default: the sheet's name)"),
    Option("--smp", "N", "--guest: processors (default 4)"),
    Option("--polled", about="--guest: fio polls where it measures a rate (io_uring)"),
    Option("--timeout", "S", "--guest: seconds without output before a run fails"),
    Option("--out", "DIR", "--guest: where results go (default: out/fit-NAME-NNN)"),
)


# ---- a drive, measured by replays


class Drive:
    """Holds a base profile with settings, and the measured figures of its drive."""

    def __init__(self, base: Path, settings: dict[str, str]):
        self.base = base
        self.settings = dict(settings)

    def facts(self) -> Json:
        """Return the values derived from the profile. Raises an error if the profile is invalid."""
        return profiles.derive(self.base, [f"{key}={value}" for key, value in self.settings.items()])

    def exported_mib(self) -> int:
        """Return the capacity that a host sees."""
        size: int = self.facts()["exported_bytes"]
        return size >> 20

    def replay(self, words: list[str]) -> Json:
        """Run a replay and return its JSON."""
        settings = [word for key, value in self.settings.items() for word in ("--set", f"{key}={value}")]
        return _replay(
            str(paths.program("slate-replay")), "--profile", str(self.base), *settings, "--json", "-", *words
        )

    def _reads(self, what: str, depth: int, without: dict[str, str]) -> Json:
        """Measure reads of a drive that was filled in order. A few blocks suffice, because dies read independently."""
        few = Drive(self.base, {**self.settings, **FEW, **without})
        trace = f"gen:{what},read=1000,foot={few.exported_mib()}MiB"
        read: Json = few.replay(["--fill", "100", "--closed", str(depth), trace])["host"]["read"]
        return read

    def seq_read_mb_s(self, qd: dict[str, int]) -> float:
        """Measure the rate of 128 KiB reads in order."""
        rate: float = self._reads("seq128k,n=20000", qd["seq_qd"], {})["bytes_per_s"]
        return rate / MB

    def rand_read_iops(self, qd: dict[str, int]) -> float:
        """Measure the rate of random 4 KiB reads."""
        rate: float = self._reads(f"rand4k,n={READ_IOS}", qd["read_qd"], NO_READ_CACHE)["iops"]
        return rate

    def rand_read_mean_us(self, depth: int) -> float:
        """Measure the mean latency of random 4 KiB reads at a queue depth."""
        mean: float = self._reads(f"rand4k,n={READ_IOS}", depth, NO_READ_CACHE)["latency"]["mean_ns"]
        return mean / 1000

    def read_us(self, _: dict[str, int]) -> float:
        """Measure the mean latency of 4 KiB reads, one at a time."""
        mean: float = self._reads("rand4k,n=2000", 1, NO_READ_CACHE)["latency"]["mean_ns"]
        return mean / 1000

    def seq_read_us(self, _: dict[str, int]) -> float:
        """Measure the mean latency of 4 KiB reads in order, one at a time."""
        mean: float = self._reads("seq4k,n=20000", 1, {})["latency"]["mean_ns"]
        return mean / 1000

    def write_us(self, _: dict[str, int]) -> float:
        """Measure the median latency of 4 KiB writes into the buffer, one at a time."""
        found = self.replay([f"gen:rand4k,n=200,foot={min(self.exported_mib(), 1024)}MiB"])
        middle: float = found["host"]["write"]["latency"]["percentiles_ns"]["50"]
        return middle / 1000

    def slc_bytes(self) -> int:
        """Return what the empty drive's SLC cache holds; 0 without one."""
        facts = self.facts()
        settings = facts["settings"]
        if settings["ftl.slc_cache"] == "none":
            return 0
        of_block: int = facts["block_bytes"] // int(settings["geometry.bits_per_cell"])
        return of_block * int(settings["ftl.slc_blocks"]) * int(facts["planes"])

    def window(self, target: str) -> tuple[int, int]:
        """Return how many I/Os of a write rate's measurement pass before they count, and how many count.

        seq_write_mb_s: after the buffer has become full, and within an SLC cache. full_write_mb_s: past that cache, a
        quarter of the capacity, before GC needs blocks. sustained_write_iops: after more blocks than are free, and a
        third.
        """
        if target == "seq_write_mb_s":
            room = self.slc_bytes() * 9 // 10 // SEQ_BYTES or self.exported_mib() * 8
            count = min(room, SEQ_WRITE_IOS)
            return count // 4, count - count // 4
        if target == "full_write_mb_s":
            return self.slc_bytes() * 11 // 10 // SEQ_BYTES, self.exported_mib() * 2
        facts = self.facts()
        of_plane = int(facts["settings"]["geometry.blocks_per_plane"]) * IO_BYTES
        return WARM_BLOCKS * facts["raw_bytes"] // of_plane + THIRD_IOS, 2 * THIRD_IOS

    def _seq_write(self, target: str, depth: int) -> float:
        """Measure the rate of writes in order to a blank drive."""
        first, count = self.window(target)
        trace = f"gen:seq128k,n={first + count},foot={self.exported_mib()}MiB"
        found = self.replay(["--closed", str(depth), "--warmup", str(first), trace])
        rate: float = found["host"]["write"]["bytes_per_s"]
        return rate / MB

    def seq_write_mb_s(self, qd: dict[str, int]) -> float:
        """Measure 128 KiB writes to a blank drive."""
        return self._seq_write("seq_write_mb_s", qd["seq_qd"])

    def full_write_mb_s(self, qd: dict[str, int]) -> float:
        """Measure 128 KiB writes past the SLC cache."""
        return self._seq_write("full_write_mb_s", qd["seq_qd"])

    def sustained_write_iops(self, qd: dict[str, int]) -> float:
        """Measure the rate of random 4 KiB writes to a full drive that was overwritten twice at random.

        Thirds of more writes are measured until the rates of the last two are equal. The first does not count. All are
        parts of one replay, because ageing the drive takes most of its time.
        """
        first, count = self.window("sustained_write_iops")
        third = count // 2
        warm = first - third
        trace = f"gen:rand4k,n={warm + 3 * MOST_THIRD_IOS},foot={self.exported_mib()}MiB"
        words = ["--fill", "100", "--age", "2", "--closed", str(qd["write_qd"]), "--interval", str(SERIES_MS)]
        rows = self.replay([*words, trace])["series"]["rows"]
        ios = [row["write"]["ios"] if "write" in row else 0 for row in rows]
        while True:
            before, last = last_thirds(ios, warm, third)
            if abs(last - before) <= STEADY * before or third >= MOST_THIRD_IOS:
                return (before + last) / 2 * (1000 / SERIES_MS)
            third *= 2


def last_thirds(ios: list[int], warm: int, third: int) -> tuple[float, float]:
    """Return the mean I/Os of the rows in the second and the last third of 3 * third I/Os after the first `warm`.

    Rows that these I/Os fill only in part are left out.
    """
    done = list(itertools.accumulate(ios))
    rows = ios[bisect.bisect_left(done, warm) + 1 : bisect.bisect_left(done, warm + 3 * third)]
    length = len(rows) // 3
    if not length:
        raise SlateError("the drive is too small to measure random writes", "raise 'geometry.blocks_per_plane'")
    return statistics.fmean(rows[-2 * length : -length]), statistics.fmean(rows[-length:])


@functools.cache
def _replay(*command: str) -> Json:
    """Run a command once: a replay is deterministic, and the root finder asks for its bounds and its root again."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise SlateError(f"a replay failed: {done.stderr.strip()}", "correct [flash] of the sheet")
    found: Json = json.loads(done.stdout)
    return found


# ---- the search


@dataclass(frozen=True)
class Knob:
    """Describes a key, and the number that it fits."""

    target: str
    key: str


READS = Knob("rand_read_iops", "ftl.overhead_ns")
CELL = "timing.read_ns"  # if there is no read_us, it also fits the rates of reads
GC = Knob("sustained_write_iops", "ftl.op_permille")
SLC = Knob("seq_write_mb_s", "timing.slc_program_ns")
SEARCHED = (
    Knob("seq_write_mb_s", "timing.program_ns"),
    Knob("seq_read_mb_s", "link.data_permille"),
    GC,
)
SEARCHED_SLC = (SLC, Knob("full_write_mb_s", "timing.program_ns"), *SEARCHED[1:])


def assumed(sheet: Sheet) -> dict[str, str]:
    """Return the keys that depend on the base: the cut block, its ECC words.

    The erase time is cut with the block's pages, so that an erase keeps its share of a die's time. If the base says
    nothing of ECC words, a unit is read without the rest of its page.
    """
    facts = Drive(sheet.base, {}).facts()["settings"]
    page = int(sheet.fixed.get("geometry.page_bytes", facts["geometry.page_bytes"]))
    pages = int(sheet.fixed.get("geometry.pages_per_block", max(PAGES, BLOCK_BYTES // page)))
    times = facts["timing.erase_ns"].split(",")
    cut = [str(max(1, int(time) * pages // int(facts["geometry.pages_per_block"]))) for time in times]
    found = {"geometry.pages_per_block": str(pages), "timing.erase_ns": ", ".join(cut)}
    if facts["geometry.ecc_word_bytes"] in ("0", str(page)) and page > int(facts["ftl.unit_bytes"]):
        found["geometry.ecc_word_bytes"] = str(ECC_WORD)
    return found


class Fit:
    """Searches the settings for one sheet."""

    def __init__(self, sheet: Sheet, say: Callable[[str], None]):
        self.sheet = sheet
        self.say = say
        fixed = sheet.settings()
        self.drive = Drive(sheet.base, {**CUT, **assumed(sheet), **fixed})
        self.base: dict[str, str] = self.drive.facts()["settings"]
        self.searched: tuple[Knob, ...] = SEARCHED
        if "slc_cache_permille" in sheet.caches:
            self.searched = SEARCHED_SLC
            self.base[SLC.key] = self.base["timing.program_ns"]
            self._assume_slc()
        most = (1 - TOLERANCE) * sheet.targets.get("read_us", math.inf)  # without read-ahead, times differ a bit
        self.reads_ahead = sheet.targets.get("seq_read_us", math.inf) < most
        if self.reads_ahead:
            self._assume_read_ahead()
        self.stopped: dict[str, str] = {}  # targets whose key is at a bound, and why
        self.fitted: dict[str, str] = {}  # keys, and the targets that they were fitted to

    def run(self) -> dict[str, float]:
        """Search; return the figures of the drive that was found."""
        if self.reads_ahead:
            self._choose_cores()
        self._choose_dies()
        for number in range(ROUNDS):
            self._size_caches()
            self._search_reads(READS)
            self._add("write_us", "ftl.buffer_ns")
            if self.reads_ahead:
                self._add("seq_read_us", HIT)
            for knob in self.searched:
                if knob.target == "seq_read_mb_s":
                    self._search_reads(knob)
                else:
                    self._search(knob)
            self.say(f"round {number + 1} of {ROUNDS} done")
        return {key: self.shown(key) for key in self.sheet.targets}

    def shown(self, key: str) -> float:
        """Return a number of the drive as the host sees it."""
        measured: float = getattr(self.drive, key)(self.sheet.qd)
        path = fitsheet.PATH_OF.get(key)
        return measured + self.sheet.path_ns[path] / 1000 if path else measured

    def reads_at(self, depth: int) -> float:
        """Return the random reads a second at a queue depth as the host sees them."""
        mean_us: float = self.drive.rand_read_mean_us(depth)
        return depth / (mean_us + self.sheet.path_ns["read"] / 1000) * 1e6  # Little's law

    def _assume_slc(self) -> None:
        """Give the cells an SLC mode: reads and erases in half the time."""
        half = {
            f"timing.slc_{op}_ns": str(int(self.base[f"timing.{op}_ns"].split(",")[0]) // 2) for op in ("read", "erase")
        }
        mode = {"ftl.slc_cache": "dynamic", "ftl.slc_blocks": "1", SLC.key: self.base[SLC.key].split(",")[0], **half}
        self.drive.settings.update({key: value for key, value in mode.items() if self._free(key)})

    def _assume_read_ahead(self) -> None:
        """Assume a read cache in the controller, and read-ahead for every sequential stream that it detects."""
        units = READ_AHEAD_BYTES // int(self.base["ftl.unit_bytes"])
        cache = {"read_cache_units": str(units * SEQUENCES), "read_ahead_units": str(units), "read_hit_ns": "1"}
        for key, value in cache.items():
            self.drive.settings.setdefault(f"controller.{key}", value)

    def _choose_cores(self) -> None:
        """Choose the most cores at which one executes a command in seq_read_us less the parts of host and link."""
        wanted, iops = self.sheet.targets["seq_read_us"], self.sheet.targets.get("rand_read_iops")
        key = "controller.cores"
        if iops is None or not self._free(key):
            return
        rate = self.sheet.targets.get("seq_read_mb_s", math.inf)
        rest_us = wanted - self.sheet.path_ns["read"] / 1000 - IO_BYTES / rate
        if CORES / iops * 1e6 < rest_us:
            return
        self._set(key, next((count for count in FEWER_CORES if count / iops * 1e6 < rest_us), 1), "seq_read_us")

    def _size_caches(self) -> None:
        """Set the blocks of the SLC cache, or the pages of the map cache, from the sheet's share and the capacity."""
        facts = self.drive.facts()
        size = int(facts["exported_bytes"])
        if share := self.sheet.caches.get("slc_cache_permille"):
            blocks = share / 1000 * size * int(self.drive.settings["ftl.slc_blocks"]) / self.drive.slc_bytes()
            self._size("ftl.slc_blocks", blocks, "slc_cache_permille")
        if share := self.sheet.caches.get("map_cache_permille"):
            entries = size // int(facts["settings"]["ftl.unit_bytes"])
            pages = share / 1000 * entries * 4 / int(facts["settings"]["geometry.page_bytes"])
            self._size("ftl.map_cache_pages", pages, "map_cache_permille")

    def _size(self, key: str, value: float, target: str) -> None:
        if self._free(key):
            self._set(key, max(1, value), target)

    def _free(self, key: str) -> bool:
        return key not in self.sheet.fixed

    def _set(self, key: str, value: float, target: str) -> None:
        self.drive.settings[key] = str(round(value))
        self.fitted[key] = target

    def _bounds(self, key: str) -> tuple[float, float]:
        if key in BOUNDS:
            return BOUNDS[key]
        low, high = FACTOR[key]
        base = float(self.base[key].split(",")[0])
        return low * base, high * base

    def _choose_dies(self) -> None:
        """Find the smallest number of dies that reaches the random reads if the controller is no limit."""
        wanted = self.sheet.targets.get("rand_read_iops")
        if wanted is None or any(key in self.sheet.fixed for key in DIES):
            return
        key = "ftl.overhead_ns"
        if self._free(key):
            self._set(key, BOUNDS[key][0], "rand_read_iops")
        for count in CHIPS:
            self._set("geometry.chips_per_channel", count, "rand_read_iops")
            self._add("read_us", "timing.read_ns")
            if self.drive.rand_read_iops(self.sheet.qd) >= wanted:
                return

    def _add(self, target: str, key: str) -> None:
        """Fit a key whose time is part of each request: add the difference between target and result."""
        wanted = self.sheet.targets.get(target)
        if wanted is None or not self._free(key):
            return
        now = self.drive.settings.get(key, self.base[key])
        if "," in now:
            raise SlateError(f"{key} = {now} of {self.sheet.base.name} has several values", f"fix {key} in [flash]")
        low, high = self._bounds(key)
        at, shown = float(now), self.shown(target)
        slope = 1.0  # a read of two units on one die takes the cell's time twice
        for _ in range(ADDITIONS):
            value = at + 1000 * (wanted - shown) / slope
            self._stop(target, key, value, low, high)
            before = (at, shown)
            at = round(min(max(value, low), high))
            self._set(key, at, target)
            shown = self.shown(target)
            if abs(shown / wanted - 1) <= PRECISION or at == before[0]:
                return
            slope = max(1000 * (shown - before[1]) / (at - before[0]), 0.1)

    def _stop(self, target: str, key: str, value: float, low: float, high: float) -> None:
        """Record whether the key's best value is beyond its bounds."""
        self.stopped.pop(target, None)
        if not low <= value <= high:
            self.stopped[target] = f"{key} is at its {'least' if value < low else 'most'}"

    def _search_reads(self, knob: Knob) -> None:
        """Find the value of the key for random reads.

        If the dies are too slow at any value, and the sheet has no read_us, find the dies' read time instead.
        """
        self._search(knob)
        if knob.target in self.stopped and "read_us" not in self.sheet.targets:
            self._search(Knob(knob.target, CELL))

    def _search(self, knob: Knob) -> None:
        """Find the key's value by SciPy's brentq, on logarithms."""
        wanted = self.sheet.targets.get(knob.target)
        if wanted is None or not self._free(knob.key):
            return
        low, high = self._bounds(knob.key)

        precision = GC_PRECISION if knob is GC else PRECISION

        def error(logarithm: float) -> float:
            self._set(knob.key, math.exp(logarithm), knob.target)
            if knob.key == READS.key:  # the latency of one read must not change
                self._add("read_us", "timing.read_ns")
            off = math.log(self.shown(knob.target) / wanted)
            return off if abs(off) > precision else 0.0  # SciPy ends at a zero

        self.stopped.pop(knob.target, None)
        before = math.log(float(self.drive.settings[knob.key])) if self.fitted.get(knob.key) == knob.target else None
        if before is not None and error(before) == 0:
            return  # the round before found it, and the other keys have not changed it
        low, high = _bracket(error, low, high) if knob is GC else (math.log(low), math.log(high))
        at_low, at_high = error(low), error(high)
        if knob.key == READS.key and at_low < 0 and "read_us" in self.sheet.targets:
            low, at_low = self._past_dies(error, wanted, low, at_low)
        if at_low * at_high > 0:
            least = abs(at_low) < abs(at_high)
            error(low if least else high)
            self.stopped[knob.target] = f"{knob.key} is at its {'least' if least else 'most'}"
        else:
            error(_brentq()(error, low, high, xtol=PRECISION))
        self.say(f"{knob.target}: {knob.key} = {self.drive.settings[knob.key]}")

    def _past_dies(
        self, error: Callable[[float], float], wanted: float, low: float, at_low: float
    ) -> tuple[float, float]:
        """Return a lower end at which the reads are fast enough, near the time at which the cores limit them.

        The two ends of the search can both be too slow: at the least time of the cores, read_us makes the cells so
        slow that the dies are the limit.
        """
        most = 1e9 * int(self.drive.facts()["settings"]["controller.cores"]) / wanted
        least, high = self._bounds(READS.key)
        for share in NEAR:
            value = share * most
            if least < value < high and (found := error(math.log(value))) >= 0:
                return math.log(value), found
        return low, at_low


def _bracket(error: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Return the logarithms of two values around the root of an error that rises.

    They are sought from the high end; without a root they are the ends of the range.
    """
    upper = high
    while error(math.log(upper)) > 0 and upper > low:
        lower = max(upper / STEP, low)
        if error(math.log(lower)) <= 0:
            return math.log(lower), math.log(upper)
        upper = lower
    return math.log(low), math.log(high)


def _brentq() -> Callable[..., float]:
    found: Callable[..., float] = packages.load("scipy.optimize", "venv-fit", packages.SCIPY).brentq
    return found


# ---- the result


def table(sheet: Sheet, shown: dict[str, float], notes: dict[str, str], head: str = "fitted") -> str:
    """Return a table of each number of the sheet beside the drive's."""
    lines = [f"{'':<24}{'sheet':>12}{head:>12}{'':>8}"]
    for target in TARGETS:
        if target.key not in shown:
            continue
        wanted, found = sheet.targets[target.key], shown[target.key]
        form = ",.1f" if target.unit == "µs" else ",.0f"
        off = 100 * (found / wanted - 1)
        lines.append(
            f"{target.words:<24}{wanted:>12{form}}{found:>12{form}}{off:>+7.1f} %  {target.unit}"
            + (f"   {notes[target.key]}" if target.key in notes else "")
        )
    return "\n".join(lines) + "\n"


def missed(sheet: Sheet, shown: dict[str, float], stopped: dict[str, str]) -> dict[str, str]:
    """Return, for each number that was not reached, why its key stopped."""
    return {key: why for key, why in stopped.items() if abs(shown[key] / sheet.targets[key] - 1) > PRECISION}


def curve_table(sheet: Sheet, shown: dict[int, float]) -> str:
    """Return lines with the points of the measured curve that were not fitted, beside the drive's."""
    lines = [
        f"{f'random read, QD {depth}':<24}{sheet.curve[depth]:>12,.0f}{found:>12,.0f}"
        f"{100 * (found / sheet.curve[depth] - 1):>+7.1f} %  IOPS   not fitted"
        for depth, found in shown.items()
    ]
    return "".join(line + "\n" for line in lines)


_LINE = re.compile(r"([a-z_0-9]+)\s*=\s*([^;]*?)\s*(;.*)?")


def profile_text(sheet: Sheet, fit: Fit, name: str, shown: dict[str, float]) -> str:
    """Return the base profile's file with the keys that the sheet sets or that were fitted."""
    changed = dict(fit.drive.settings)
    lines = [
        "; SPDX-License-Identifier: GPL-2.0-or-later",
        f"; {name}.ini - {sheet.texts.get('about', 'a drive fitted to a data sheet')}",
        ";",
        f"; Made by 'slate fit {sheet.name}' from: {sheet.texts.get('source', 'no source is given')}",
        "; The capacity is cut: blocks are fewer and smaller than the drive's. Channels, dies and planes are not cut.",
        f"; Other comments are those of {sheet.base.name}. By replay, beside the sheet:",
        *(f"; {line}".rstrip() for line in table(sheet, shown, missed(sheet, shown, fit.stopped)).splitlines()),
    ]
    section = ""
    sections: dict[str, list[str]] = {}
    for line in sheet.base.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[] ")
        elif match := _LINE.fullmatch(line):
            key = f"{section}.{match[1]}"
            if key == "ftl.capacity_mib":
                continue  # op_permille is written instead
            line = _row(key, changed.pop(key), sheet, fit) if key in changed else line
        elif not section or not line.strip():
            continue
        sections.setdefault(section, []).append(line)
    for key, value in changed.items():
        head = key.partition(".")[0]
        sections.setdefault(head, [f"[{head}]"]).append(_row(key, value, sheet, fit))
    return "\n".join([*lines, *("\n" + "\n".join(rows) for rows in sections.values())]) + "\n"


def _row(key: str, value: str, sheet: Sheet, fit: Fit) -> str:
    if key in fit.fitted:
        why = f"; fitted to {fit.fitted[key]}"
    elif key in sheet.fixed:
        why = "; fixed in [flash]"
    elif key in sheet.settings():
        why = "; the sheet"
    else:
        why = "; cut" if key in _OF_SIZE else "; assumed"
    return f"{key.partition('.')[2]:<17} = {value:<6} {why}"


# ---- the command


def run(args: argparse.Namespace, in_guest: Callable[[Sheet, argparse.Namespace], int]) -> int:
    """Execute 'slate fit', with --guest by in_guest() (fitguest.py). Returns the exit code."""
    _check_options(args)
    if args.list:
        print(listing(), end="")
        return OK
    if args.job:
        print(fitfio.JOB.read_text(encoding="utf-8"), end="")
        return OK
    if not args.sheet:
        raise SlateError("no sheet is named", "'slate fit --list' lists those that are there")
    sheet = fitsheet.read(find(args.sheet))
    if wrong := fitsheet.contradictions(sheet):
        raise SlateError(f"{sheet.path}: " + "; ".join(wrong), "correct the sheet, or leave one of the numbers out")
    if args.guest:
        return in_guest(sheet, args)
    output = Path(args.output or f"{sheet.name}.ini")
    if output.resolve() == sheet.path.resolve():
        raise SlateError(f"{output} is the sheet itself", "name another file with -o")
    _brentq()
    fit = Fit(sheet, lambda line: print(f"slate: {line}", file=sys.stderr))
    shown = fit.run()
    try:
        output.write_text(profile_text(sheet, fit, output.stem, shown), encoding="utf-8")
    except OSError as error:
        raise SlateError(f"can not write {output}: {(error.strerror or str(error)).lower()}", "name it by -o") from None
    curve = {depth: fit.reads_at(depth) for depth in sheet.curve}
    print(table(sheet, shown, missed(sheet, shown, fit.stopped)) + curve_table(sheet, curve), end="")
    print(f"slate: wrote {output}: slate run --profile {output}")
    return verdict(sheet, shown)


def verdict(sheet: Sheet, shown: dict[str, float]) -> int:
    """Return the exit code: 1 if a number is off by more than TOLERANCE."""
    return OK if all(abs(shown[key] / sheet.targets[key] - 1) <= TOLERANCE for key in shown) else JOB_FAILED


def _check_options(args: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    for name in ("list", "job"):
        if args.guest and getattr(args, name):
            raise SlateError(f"--{name} with --guest: it measures nothing", "leave one of them out")
    if args.guest and args.output:
        raise SlateError("-o with --guest: it names the profile that a fit writes", "leave it out, or name --out DIR")
    for name in ("profile", "smp", "polled", "timeout", "out"):
        if getattr(args, name) not in (None, False) and not args.guest:
            raise SlateError(f"--{name} without --guest", "it belongs to a measurement in a guest: add --guest")


def find(word: str) -> Path:
    """Find a sheet by its name or its path."""
    own = paths.PROFILES / "sheets" / f"{word.removesuffix('.ini')}.ini"
    path = own if "/" not in word and own.is_file() and not Path(word).is_file() else Path(word)
    if path.is_file():
        return path
    known = sorted(one.stem for one in own.parent.glob("*.ini"))
    raise SlateError(
        f"no such sheet: {word}{names.nearest(word, known)}", "'slate fit --list' lists those that are there"
    )


def listing() -> str:
    """Return the shipped sheets."""
    found = [fitsheet.read(path) for path in sorted((paths.PROFILES / "sheets").glob("*.ini"))]
    width = max([len(sheet.name) for sheet in found] + [5])
    rows = [f"{sheet.name:<{width}}  {sheet.texts.get('about', '')}" for sheet in found]
    return "\n".join([f"{'sheet':<{width}}  what it is", *rows]) + "\n"

# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads, adds and evaluates the drive's own figures.

An ACCOUNT holds the drive's counters of an interval. All of it except maxima, minima and levels adds up over
intervals.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from . import counters, units
from .shape import Json

OPS = ("read", "write", "trim", "flush")
# The report prints the parts of a latency in this order.
PARTS = ("cell", "bus", "host-queue", "gc-queue", "buffer", "map", "other", "link", "controller", "namespace-queue")
NAND_OPS = ("read", "program", "erase", "copyback")
# These levels describe the array at the end of an interval; all other figures are counted within it.
LEVELS = ("programmed-pages", "erase-count-max", "erase-count-sum", "page-erases", "page-erases-sq", "damaged")
LABEL_BYTES = 16
LABEL_PRIME = 16777213  # the largest prime below 2^24: a hash of six digits
MARKS_FULL = "(marks are full)"  # label of the last mark if the drive had no room for more
PACKING_FTL = "dac"  # the ftl.type whose pages, as large as a unit, hold several reduced units
LATE_US = (1, 10, 100)
SUB_BUCKETS = 1024  # buckets of a latency histogram in each octave: hist.h, and the guest's fio
OLD_SUB_BUCKETS = 16  # buckets of drives that do not report the number
NO_END_NS = 2047 << 37  # hist.h: where the last bucket begins
PERCENTILES = {500: "p50", 990: "p99", 999: "p99.9", 999.9: "p99.99"}  # percentiles that are shown, by permille
ENOUGH = {999.9: 10_000}  # I/Os that a percentile needs; of fewer it would only be the maximum


# shape.check() compares an ACCOUNT, as QEMU prints it, with this.
_OP = {
    "ios": int,
    "bytes": int,
    "errors?": int,
    "latency-sum-ns": int,
    "latency-max-ns": int,
    "histogram?": [{"floor-ns": int, "count": int}],
    "sub-buckets?": int,
    **{f"{part}-ns?": int for part in PARTS},
}
ACCOUNT = {
    **{f"{op}?": _OP for op in OPS},
    "ftl?": {"*": int},
    "nand?": {
        "by-source?": ([{"source": str, "*": (int, str)}], {"*": {"*": (int, str)}}),
        "violations?": ([(int, {"kind?": (int, str), "count": int})], {"*": (int, {"count": int})}),
        "*": object,
    },
}


def label_of(section: str) -> str:
    """Return the mark's label for a section of a job file: its name, if that fits.

    A longer name, or one with other characters, is cut and gets a hash, so that names which begin alike
    differ. run-fio in the guest makes the same labels.
    """
    safe = re.sub(rb"[^A-Za-z0-9._-]", b"_", section.encode()).decode()
    if safe == section and len(safe) <= LABEL_BYTES:
        return safe
    number = 0
    for byte in section.encode():
        number = (number * 65599 + byte) % LABEL_PRIME
    return f"{safe[: LABEL_BYTES - 7]}~{number:06x}"


def bucket_floor(ns: int, sub_buckets: int = SUB_BUCKETS) -> int:
    """Return the smallest value of the histogram bucket that contains ns."""
    shift = max(ns.bit_length() - sub_buckets.bit_length(), 0)
    return ns >> shift << shift


def bucket_last(floor_ns: int, sub_buckets: int = SUB_BUCKETS) -> int:
    """Return the largest value of the histogram bucket that begins at floor_ns."""
    if floor_ns < sub_buckets:
        return floor_ns
    return floor_ns + (1 << (floor_ns.bit_length() - sub_buckets.bit_length())) - 1


class Percentiles(Protocol):
    """Offers the drive's or the guest's figures of one kind of I/O."""

    ios: int

    def percentile_ns(self, permille: float) -> float | None:
        """Return the nearest-rank percentile."""


@dataclass
class OpAccount:
    """Holds the figures of one kind of I/O in an interval."""

    ios: int = 0
    bytes: int = 0
    errors: int = 0
    latency_sum_ns: int = 0
    latency_max_ns: int = 0
    parts_ns: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PARTS, 0))
    histogram: dict[int, int] = field(default_factory=dict)
    sub_buckets: int = SUB_BUCKETS

    def add(self, raw: Json) -> None:
        """Add an interval, as QEMU printed it."""
        self.ios += raw["ios"]
        self.bytes += raw["bytes"]
        self.errors += raw.get("errors", 0)
        self.latency_sum_ns += raw["latency-sum-ns"]
        self.latency_max_ns = max(self.latency_max_ns, raw["latency-max-ns"] if raw["ios"] else 0)
        for part in PARTS:
            self.parts_ns[part] += raw.get(f"{part}-ns", 0)  # results of older versions may lack the link's part
        self.sub_buckets = raw.get("sub-buckets", OLD_SUB_BUCKETS)
        for bucket in raw.get("histogram", ()):
            if bucket["count"]:
                floor = bucket["floor-ns"]
                self.histogram[floor] = self.histogram.get(floor, 0) + bucket["count"]

    def mean_ns(self) -> float | None:
        """Return the mean latency, or None without I/O."""
        return self.latency_sum_ns / self.ios if self.ios else None

    def mean_part_ns(self, part: str) -> float:
        """Return the mean of one part of the latency."""
        return self.parts_ns[part] / self.ios if self.ios else 0.0

    def last_ns(self, floor_ns: int) -> int:
        """Return the largest latency that may be in a bucket."""
        last = bucket_last(floor_ns, self.sub_buckets) if floor_ns < NO_END_NS else self.latency_max_ns
        return min(last, self.latency_max_ns)

    def percentile_ns(self, permille: float) -> int | None:
        """Return the nearest-rank percentile, as the last value of its bucket: at most the maximum."""
        total = sum(self.histogram.values())
        if not total:
            return None
        rank = max(1, math.ceil(round(total * permille / 1000, 6)))
        seen = 0
        for floor in sorted(self.histogram):
            seen += self.histogram[floor]
            if seen >= rank:
                return self.last_ns(floor)
        return self.latency_max_ns


def points_ns(side: Percentiles) -> list[float | None]:
    """Return the PERCENTILES of a side; None: unknown, or too few I/Os."""
    return [side.percentile_ns(share) if side.ios >= ENOUGH.get(share, 1) else None for share in PERCENTILES]


class Account:
    """Holds what the drive counted in one or more intervals."""

    def __init__(self, intervals: Iterable[Json] = ()):
        self.op = {name: OpAccount() for name in OPS}
        self.ftl: dict[str, int] = {}
        self.nand: Json = {}
        self.sources: dict[str, dict[str, int]] = {}
        for interval in intervals:
            self.add(interval)

    def add(self, raw: Json) -> None:
        """Add an interval, as QEMU printed it."""
        for name in OPS:
            if name in raw:
                self.op[name].add(raw[name])
        for key, value in raw.get("ftl", {}).items():
            self.ftl[key] = self.ftl.get(key, 0) + value
        nand = raw.get("nand", {})
        self._add_sources(nand)
        for key, value in nand.items():
            if key.startswith("violation") or not isinstance(value, int):
                continue
            self.nand[key] = value if key in LEVELS else self.nand.get(key, 0) + value
        self._add_violations(nand)

    def _add_sources(self, nand: Json) -> None:
        sources = nand.get("by-source", {})
        if isinstance(sources, list):
            sources = {entry["source"]: entry for entry in sources}
        for source, counted in sources.items():
            sums = self.sources.setdefault(source, {})
            for key, value in counted.items():
                if isinstance(value, int):
                    sums[key] = sums.get(key, 0) + value

    def _add_violations(self, nand: Json) -> None:
        kinds = nand.get("violations", [])
        sums = self.nand.setdefault("violations", {})
        named = enumerate(kinds) if isinstance(kinds, list) else kinds.items()
        for kind, value in named:
            if isinstance(value, dict):
                kind, value = value.get("kind", kind), value["count"]
            sums[kind] = sums.get(kind, 0) + value

    def violations(self) -> int:
        """Return the number of broken NAND rules; each is an FTL bug."""
        return sum(self.nand.get("violations", {}).values())

    def nand_total(self, counter: str) -> int:
        """Return the sum of a NAND counter over all sources."""
        return sum(entry.get(counter, 0) for entry in self.sources.values())

    def energy_nj(self, sources: Iterable[str] = (), ops: Iterable[str] = NAND_OPS) -> int:
        """Return the energy of the named sources and operations; without names, of all."""
        names = tuple(sources) or self.sources
        return sum(self.sources.get(name, {}).get(f"{op}-nj", 0) for name in names for op in ops)


@dataclass
class Busy:
    """Holds the busy times of dies, or channels, as shares of the time."""

    mean: float
    by_source: dict[str, float]  # means, too
    busiest: float


@dataclass
class Late:
    """Holds the lateness of completions in real time."""

    requests: int
    shares: list[float]  # shares of completions later than LATE_US
    mean_ns: float
    max_ns: int


@dataclass
class JobAccount:
    """Holds the drive's account of one job."""

    account: Account
    begin_ns: int
    end_ns: int
    shared: list[str]  # labels of other jobs that ran at the same time
    processors: list[int] = field(default_factory=list)  # how long each vCPU executed; []: not known


class Device:
    """device.json."""

    def __init__(self, raw: Json):
        self.raw = raw
        self.capacity: int = raw["capacity"]
        self.profile: str = raw.get("profile", "")
        self.total = Account([raw["total"]])
        self.marks: list[Json] = raw.get("marks", [])
        self.at_ns: int = raw.get("at-ns", 0)
        self.settings = dict(line.split("=", 1) for line in settings_lines(raw.get("settings", [])))

    @property
    def unit_bytes(self) -> int:
        """Return the bytes of a mapping unit."""
        return units.whole(self.settings.get("ftl.unit_bytes", "")) or 4096

    @property
    def packed(self) -> bool:
        """Does a page, as large as a unit, hold several reduced units? Programmed pages are counted then."""
        return self.settings.get("ftl.type") == PACKING_FTL

    @property
    def gc_policy(self) -> str:
        """Return how GC chooses blocks; empty: the FTL has its own rules, or the settings do not say."""
        asked = self.settings.get("ftl.type") in ("page", "parity", "rtf", "flex")
        return self.settings.get("ftl.gc_policy", "") if asked else ""

    def waf(self) -> dict[str, float] | None:
        """Return the write amplification of the whole run."""
        return waf(self.total, self.unit_bytes, self.setting("page_bytes") or 0, self.packed)

    def late(self, where: str = "delivered") -> Late | None:
        """Return how late completions were "posted", or "delivered"; None: virtual time, or nothing was counted."""
        counted = self.raw.get("real-time", {}).get(where, {})
        requests = counted.get("requests", 0)
        if not requests:
            return None
        shares = [counted[f"late-{us}us"] / requests for us in LATE_US]
        return Late(requests, shares, counted["sum-ns"] / requests, counted["max-ns"])

    def setting(self, key: str) -> int | None:
        """Return an integer setting of the profile, by its key alone."""
        for name, value in self.settings.items():
            if name.rpartition(".")[2] == key:
                return units.whole(value)
        return None

    def dies(self) -> int | None:
        """Return the number of dies; None if the settings do not say."""
        return _product(self.setting(key) for key in ("channels", "chips_per_channel", "dies_per_chip"))

    def blocks(self) -> int | None:
        """Return the number of blocks; None if the settings do not say."""
        return _product((self.dies(), self.setting("planes_per_die"), self.setting("blocks_per_plane")))

    def pages(self) -> int | None:
        """Return the number of pages; None if the settings do not say."""
        return _product((self.blocks(), self.setting("pages_per_block")))

    def erases_per_page(self) -> tuple[float, float] | None:
        """Return AEP and VEP: mean and variance of the erases per page."""
        pages, nand = self.pages(), self.total.nand
        if not pages or not {"page-erases", "page-erases-sq"} <= nand.keys():
            return None
        mean = nand["page-erases"] / pages
        return mean, nand["page-erases-sq"] / pages - mean * mean

    def busy(self, what: str) -> Busy | None:
        """Return how busy all "dies" or "channels" were in the whole run; None: unknown."""
        each = self.raw.get(what, [])
        if not each or not self.at_ns:
            return None
        names = counters.sources(name for one in each for name in one)
        by_source = {name: sum(one.get(name, 0) for one in each) / len(each) / self.at_ns for name in names}
        busiest = max(sum(one.values()) for one in each) / self.at_ns
        return Busy(sum(by_source.values()), by_source, busiest)

    def link_busy(self) -> tuple[float, float] | None:
        """Return the shares of time in which the host link was busy in each direction, to the host first;
        None: no link.
        """
        ways = [self.total.ftl.get(f"link-to-{way}-busy-ns", 0) for way in ("host", "drive")]
        if not any(ways) or not self.at_ns:
            return None
        return ways[0] / self.at_ns, ways[1] / self.at_ns

    def cores_busy(self, account: Account, elapsed_ns: int) -> float | None:
        """Return the share of a time in which the controller's cores worked, on average; None: unlimited cores."""
        cores = self.setting("cores")
        return account.ftl.get("core-busy-ns", 0) / (elapsed_ns * cores) if cores and elapsed_ns else None

    def labels(self) -> list[str]:
        """Return the jobs that set marks, in the order of their first marks."""
        return list(dict.fromkeys(m["label"] for m in self.marks if m["kind"] == "begin"))

    def label(self, section: str) -> str:
        """Return the label of a job's section. In results of older versions it is the name, cut."""
        old = re.sub(r"[^A-Za-z0-9._-]", "_", section)[:LABEL_BYTES]
        label = label_of(section)
        return label if any(mark["label"] == label for mark in self.marks) else old

    def marks_full_ns(self) -> int | None:
        """Return the time from which on the drive had no room for marks, or None."""
        return next((mark["at-ns"] for mark in self.marks if mark["label"] == MARKS_FULL), None)

    def never_ended(self) -> list[tuple[str, int]]:
        """Return the labels that have a begin and no end, and when they began."""
        if self.marks_full_ns() is not None:
            return []
        ended = {mark["label"] for mark in self.marks if mark["kind"] == "end"}
        begins = {mark["label"]: mark["at-ns"] for mark in reversed(self.marks) if mark["kind"] == "begin"}
        return [(label, begins[label]) for label in self.labels() if label not in ended]

    def job(self, section: str) -> JobAccount | None:
        """Return the account between a job's first begin and its last end."""
        label = self.label(section)
        mine = [i for i, mark in enumerate(self.marks) if mark["label"] == label]
        begins = [i for i in mine if self.marks[i]["kind"] == "begin"]
        ends = [i for i in mine if self.marks[i]["kind"] == "end"]
        if not begins or not ends or ends[-1] <= begins[0]:
            return None
        first, last = begins[0], ends[-1]
        inside = self.marks[first + 1 : last + 1]
        return JobAccount(
            account=Account(mark["account"] for mark in inside),
            begin_ns=self.marks[first]["at-ns"],
            end_ns=self.marks[last]["at-ns"],
            shared=self._others(label, first, last),
            processors=self._executed(first, last),
        )

    def _executed(self, first: int, last: int) -> list[int]:
        """Return how long each vCPU executed between two marks; []: unknown."""
        before, after = (self.marks[at].get("processors", []) for at in (first, last))
        return [ns - was for was, ns in zip(before, after)]

    def processors(self) -> list[float]:
        """Return the shares of the whole run in which each vCPU executed; []: unknown."""
        return [ns / self.at_ns for ns in self.raw.get("processors", [])] if self.at_ns else []

    def _others(self, label: str, first: int, last: int) -> list[str]:
        """Return the labels of other jobs that ran at some time between two marks."""
        others = []
        for name in self.labels():
            if name == label:
                continue
            marks = [
                i
                for i, mark in enumerate(self.marks)
                if mark["label"] == name and mark["kind"] in ("begin", "end")
            ]
            if marks[0] < last and marks[-1] > first:
                others.append(name)
        return others


def _product(factors: Iterable[int | None]) -> int | None:
    known = list(factors)
    numbers = [factor for factor in known if factor is not None]
    return math.prod(numbers) if len(numbers) == len(known) else None


def settings_lines(settings: str | list[Any]) -> list[str]:
    """Return the 'section.key=value' lines of QEMU's settings, in either of their forms."""
    lines = settings.splitlines() if isinstance(settings, str) else list(settings)
    return [line.strip() for line in lines if isinstance(line, str) and "=" in line]


def raf(account: Account) -> float | None:
    """Return the read amplification: bytes that left the flash over the channels / bytes that the host read."""
    read, moved = account.op["read"].bytes, account.nand.get("read-bytes")
    return moved / read if read and moved is not None else None


def raf_parts(account: Account) -> dict[str, float]:
    """Return the read amplification of data by cause: host, merges of partial writes, GC ...; {}: unknown."""
    asked = account.op["read"].bytes
    read = {name: by["user-read-bytes"] for name, by in account.sources.items() if "user-read-bytes" in by}
    if not asked or not read:
        return {}
    merged = account.ftl.get("merge-read-bytes", 0)
    parts = {"host": read.pop("host", 0) - merged, "merge": merged} | read
    return {name: moved / asked for name, moved in parts.items()}


def waf(account: Account, unit_bytes: int, page_bytes: int = 0, packed: bool = False) -> dict[str, float] | None:
    """Return the write amplification and its parts: units programmed by cause and parity pages / host's units.

    With `packed` (see Device.packed) the pages programmed for host and GC replace their units.
    """
    written = account.op["write"].bytes / unit_bytes
    if not written:
        return None
    causes = ("host", "gc", "wl", "pad", "meta")
    parts = {name: account.ftl.get(f"{name}-units", 0) / written for name in causes}
    if packed:
        parts |= {name: account.ftl.get(f"{name}-pages", 0) / written for name in ("host", "gc")}
    parts["parity"] = account.sources.get("backup", {}).get("programs", 0) * page_bytes / account.op["write"].bytes
    parts["total"] = sum(parts.values())
    return parts

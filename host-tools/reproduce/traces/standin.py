# SPDX-License-Identifier: GPL-2.0-or-later
"""standin.py - makes a trace that replaces one that cannot be obtained.

    reproduce standin NAME --scale N [--seed N] [--like TRACE|median] [--set KEY=VALUE ...] [-o FILE]

The GC papers replay MSR-Cambridge volumes, which may not be passed on. This
makes, for a volume named in workloads.toml, a trace with the published numbers
of requests, bytes and covered bytes of each direction, in Slate's own format; requests, bytes,
covered bytes and the duration of a week are divided by N. It is only a stand-in for the volume:
little is published about the addresses and the order of the volume's requests, and the rest is
assumed (workloads.toml, [assumed]).

NAME is a volume of PEN's Table 2 ("hm_0"), or the first million rows of one
("stg_0-1M"), which are counted in another source.

Exact properties. Counts round to the nearest request, bytes to the nearest 4 KiB;
then reads, writes, bytes read, bytes written, bytes covered by reads and bytes
covered by writes are met exactly. Requests are 4 KiB aligned, of 4, 8, 16, 32 or
64 KiB; how many of each is a truncated geometric distribution over these sizes
with the published mean.

Method. Addresses are extents, the ranges of requests; two extents are the same or disjoint. A write
is either the first to a new extent or rewrites one (of real MSR rewrites, 96 in 100 repeat an
earlier extent). First writes are spread so that after a share x of all writes, a share x^beta of
the coverage is reached; beta follows from the update ratio published for the first million rows
where there is one. The extent to rewrite is drawn with a weight that grows with its number of
writes so far (a Pitman-Yor process of discount beta, at most 0.95: the one whose coverage grows
like that; its popularities follow Zipf's law with exponent 1/beta), or is the next extent in its
run. Reads are made in the same way, with their own extents, with written ones, and with young ones
(written within the last hour of the week), whose share is published for seven volumes. New extents
lie in runs; runs lie in random order with random gaps over a span of addresses. Requests come in
bursts of one direction; bursts come at uniformly random times.

Two habits of real volumes are options, off in workloads.toml (docs/notes/standin-locality.md): a share
"recent" of the rewrites goes to one of the last "window" writes, and runs made one after
another lie in the same region of "region_kib". fit.py finds their values for a real trace.

Deterministic by (NAME, scale, seed, settings) on every machine: no floating point
function but + - * / and sqrt, which IEEE 754 rounds exactly.

Time and memory: about 4 us and 150 bytes a request.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reproduce.traces import fits

UNIT = 4096  # bytes; everything is in these
SIZES = (1, 2, 4, 8, 16)  # units of a request, by class
WEEK_NS = 7 * 24 * 3600 * 10**9
HOURS = 168
DISCOUNT_MAX = 0.95
WORKLOADS = Path(__file__).resolve().parent / "workloads.toml"


class StandinError(Exception):
    """Carries an error message for the user."""


@dataclass(frozen=True)
class Marginals:
    """Holds properties that a stand-in meets exactly: requests and units of each direction (0 reads, 1 writes)."""

    count: tuple[int, int]
    units: tuple[int, int]
    cover: tuple[int, int]
    duration_ns: int


@dataclass(frozen=True)
class Shape:
    """Holds fitted or assumed properties: the keys of [assumed] in workloads.toml."""

    beta: float
    read_beta: float
    run_kib: float
    read_run_kib: float
    density: float
    span_gib: float
    follow: float
    overlap: float
    young: float
    burst: float
    burst_gap_us: float
    read_cover: float
    region_kib: float = 0
    region_density: float = 0.25
    recent: float = 0
    window: float = 512


Data = dict[str, Any]  # workloads.toml


def load() -> Data:
    """Load workloads.toml."""
    return tomllib.loads(WORKLOADS.read_text(encoding="utf-8"))


def volumes(data: Data) -> list[str]:
    """Return the name of every volume."""
    return [*data["table2"], *(f"{name}-1M" for name in data["first_million"])]


def _scaled(value: float, scale: int) -> int:
    """Divide and round to the nearest integer, halves up; at least 1."""
    return max(1, math.floor(value / scale + 0.5))


def marginals(name: str, scale: int, data: Data) -> Marginals:
    """Return the properties of a volume, divided by scale."""
    volume = name.removesuffix("-1M")
    per_gib = 2**30 // UNIT
    if name in data["table2"]:
        reads, writes, read_gib, write_gib, read_cover, write_cover = data["table2"][name]
        return Marginals(
            (_scaled(reads * 1e6, scale), _scaled(writes * 1e6, scale)),
            (_scaled(read_gib * per_gib, scale), _scaled(write_gib * per_gib, scale)),
            (_scaled(read_cover * per_gib, scale), _scaled(write_cover * per_gib, scale)),
            WEEK_NS // scale,
        )
    if name.endswith("-1M") and volume in data["first_million"]:
        reads, writes, read_sectors, write_sectors, update, interval_ms = data["first_million"][volume]
        sectors = UNIT // 512
        return Marginals(
            (_scaled(reads, scale), _scaled(writes, scale)),
            (_scaled(read_sectors / sectors, scale), _scaled(write_sectors / sectors, scale)),
            (
                _scaled(read_sectors * data["assumed"]["read_cover"] / sectors, scale),
                _scaled((write_sectors - update) / sectors, scale),
            ),
            int(interval_ms * 1000) * 1000 * 1_000_000 // scale,
        )
    raise StandinError(f"no volume named '{name}' is known; there are {', '.join(volumes(data))}")


def fitted(name: str, data: Data) -> dict[str, float]:
    """Return the settings fitted to the published statistics of this volume: beta, young."""
    out = {}
    if name in data["table2"] and name in data["first_million"]:
        _, _, _, written, update, _ = data["first_million"][name]
        share = written * 512 / 2**30 / data["table2"][name][3]
        covered = (written - update) * 512 / 2**30 / data["table2"][name][5]
        # to 1/64, so that no last digit of a logarithm reaches the trace
        out["beta"] = max(1, round(64 * math.log(covered) / math.log(share))) / 64
    if name in data["age_at_read"]:
        every, hour, _ = data["age_at_read"][name]
        out["young"] = hour / every
    return out


def like(trace: str, found: fits.Fits) -> dict[str, float]:
    """Return the settings fitted to a real trace, or the medians over all. The span stays that of the paper's drive."""
    if trace not in ("median", *found):
        raise StandinError(f"nothing was fitted to '{trace}'; there are median, {', '.join(found)}")
    values = fits.medians(found) if trace == "median" else fits.settings_of(found, trace)
    return {key: value for key, value in values.items() if key != "span_gib"}


def shape(name: str, data: Data, settings: Mapping[str, float] | None = None) -> Shape:
    """Return the assumed settings, overridden by the fitted and then by the requested ones."""
    values = {**data["assumed"], **fitted(name, data), **(settings or {})}
    unknown = set(values) - set(Shape.__dataclass_fields__)
    if unknown:
        raise StandinError(
            f"no setting named '{min(unknown)}'; there are {', '.join(Shape.__dataclass_fields__)}"
        )
    made = Shape(**{key: float(value) for key, value in values.items()})
    for key in ("beta", "read_beta"):
        if not 0 < getattr(made, key) <= 4:
            raise StandinError(f"{key} = {getattr(made, key):g}: must be over 0 and at most 4")
    for key in ("density", "read_cover", "region_density"):
        if not 0 < getattr(made, key) <= 1:
            raise StandinError(f"{key} = {getattr(made, key):g}: must be over 0 and at most 1")
    for key in ("follow", "overlap", "young", "recent"):
        if not 0 <= getattr(made, key) <= 1:
            raise StandinError(f"{key} = {getattr(made, key):g}: must be 0 .. 1")
    for key in ("run_kib", "read_run_kib", "span_gib", "burst", "window"):
        if getattr(made, key) < 1:
            raise StandinError(f"{key} = {getattr(made, key):g}: must be 1 or more")
    for key in ("burst_gap_us", "region_kib"):
        if getattr(made, key) < 0:
            raise StandinError(f"{key} = {getattr(made, key):g}: must be 0 or more")
    return made


def split_sizes(count: int, units: int) -> list[int]:
    """Return the number of requests of each class, `count` in all, with `units` in all."""
    if not count <= units <= count * SIZES[-1]:
        raise StandinError(f"{count} requests of 1 .. {SIZES[-1]} units cannot have {units} units")
    low, high = 0.0, 64.0
    for _ in range(60):
        middle = (low + high) / 2
        weights = _powers(middle)
        mean = math.fsum(w * s for w, s in zip(weights, SIZES)) / math.fsum(weights)
        low, high = (middle, high) if mean * count < units else (low, middle)
    weights = _powers(low)
    found = [math.floor(count * w / math.fsum(weights)) for w in weights]
    found[0] += count - sum(found)
    missing = units - sum(n * s for n, s in zip(found, SIZES))
    for _ in range(1000):  # moving a request to the next class changes the sum by the class's size
        if not missing:
            return found
        up = 1 if missing > 0 else -1
        usable = [k for k in range(len(SIZES) - 1) if found[k if up > 0 else k + 1]]
        fits = [k for k in usable if SIZES[k] <= abs(missing)]
        k = max(fits) if fits else min(usable)
        found[k] -= up
        found[k + 1] += up
        missing -= up * SIZES[k]
    raise StandinError(f"no mix of {count} requests has {units} units: take a smaller scale")


def _powers(base: float) -> list[float]:
    out = [1.0]
    for _ in SIZES[1:]:
        out.append(out[-1] * base)
    return out


def split_cover(requests: list[int], cover: int) -> list[int]:
    """Return the number of extents of each class that cover `cover` units; each class with requests has at
    least one.
    """
    units = sum(n * s for n, s in zip(requests, SIZES))
    least = sum(s for n, s in zip(requests, SIZES) if n)
    if not least <= cover <= units:
        raise StandinError(
            f"requests of {units} units in all cannot cover {cover} (at least {least}): take a smaller scale"
        )
    found = [min(n, max(1, math.floor(n * cover / units))) if n else 0 for n in requests]
    missing = cover - sum(n * s for n, s in zip(found, SIZES))
    for _ in range(1000 + cover):
        if not missing:
            return found
        if missing > 0:
            usable = [k for k, n in enumerate(found) if n < requests[k]]
        else:
            usable = [k for k, n in enumerate(found) if n > 1]
        fits = [k for k in usable if SIZES[k] <= abs(missing)]
        if not usable:
            break
        k = max(fits) if fits else min(usable)
        step = 1 if missing > 0 else -1
        if fits:  # as many at once as fit
            room = requests[k] - found[k] if step > 0 else found[k] - 1
            step *= min(room, abs(missing) // SIZES[k])
        found[k] += step
        missing -= step * SIZES[k]
    raise StandinError(f"no mix of extents covers {cover} units with requests {requests}: take a smaller scale")


def power(x: float, exponent: float) -> float:
    """Return x ** exponent for 0 < x <= 1, exponent rounded to 1/64, with products and square roots only."""
    sixty_fourths = max(1, math.floor(exponent * 64 + 0.5))
    out, base = 1.0, x
    whole = sixty_fourths >> 6
    while whole:
        if whole & 1:
            out *= base
        base *= base
        whole >>= 1
    root = x
    for bit in range(5, -1, -1):
        root = math.sqrt(root)
        if sixty_fourths >> bit & 1:
            out *= root
    return out


@dataclass
class Extents:
    """Holds all extents by number: class, run, number of writes, time of the last one (ns), and whether it was read."""

    size: list[int] = field(default_factory=list)  # class
    run: list[int] = field(default_factory=list)
    writes: list[int] = field(default_factory=list)
    written_ns: list[int] = field(default_factory=list)
    read: bytearray = field(default_factory=bytearray)
    runs: list[int] = field(default_factory=list)  # units of each run
    run_is_written: bytearray = field(default_factory=bytearray)  # by run: made by writes, not by reads

    def add(self, size: int, run: int) -> int:
        """Add an extent at the end of a run."""
        self.size.append(size)
        self.run.append(run)
        self.writes.append(0)
        self.written_ns.append(-(10**18))
        self.read.append(0)
        self.runs[run] += SIZES[size]
        return len(self.size) - 1


class Direction:
    """Holds how many reads (or writes) are made, and how many are still to be made."""

    def __init__(self, count: int, units: int, cover: int, exponent: float, mean_run_kib: float) -> None:
        requests = split_sizes(count, units)
        self.new = split_cover(requests, cover)
        self.again = [n - k for n, k in zip(requests, self.new)]
        self.new_left, self.again_left = sum(self.new), sum(self.again)
        self.extents = self.new_left
        self.count = count
        self.exponent = exponent  # 1 / beta
        self.made = 0
        self.due: float = 1  # request number (1 ..) at which the next new extent is due
        self.past: list[list[int]] = [[] for _ in SIZES]  # extents by class, one entry a request
        self.run_units = mean_run_kib * 1024 / UNIT
        self.run = -1
        self.last = -1  # extent

    def left(self) -> int:
        """Return the number of requests still to be made."""
        return self.new_left + self.again_left

    def wants_new(self) -> bool:
        """Is the next request the first one to an extent? The coverage follows (made / count) ** beta."""
        if not self.again_left:
            return True
        return bool(self.new_left) and self.made + 1 >= self.due

    def took_new(self, size: int) -> None:
        """Count a new extent, and determine at which request the next one is due."""
        self.new[size] -= 1
        self.new_left -= 1
        taken = self.extents - self.new_left
        self.due = self.count * power(taken / self.extents, self.exponent)


class Maker:
    """Holds the state while one trace is made."""

    def __init__(self, want: Marginals, how: Shape, seed: str) -> None:
        self.want, self.how = want, how
        self.random = random.Random(seed).random
        self.extents = Extents()
        self.reads = Direction(want.count[0], want.units[0], want.cover[0], 1 / how.read_beta, how.read_run_kib)
        self.writes = Direction(want.count[1], want.units[1], want.cover[1], 1 / how.beta, how.run_kib)
        self.written_at: list[list[int]] = [[] for _ in SIZES]  # ns, beside writes.past
        self.young_from = [0] * len(SIZES)  # index into written_at[size] and writes.past
        self.discount = min(how.beta, DISCOUNT_MAX)

    def pick(self, n: int) -> int:
        """Return a random number 0 .. n - 1."""
        return int(self.random() * n)

    def pick_class(self, left: list[int], total: int) -> int:
        """Draw a class in proportion to its remaining requests."""
        at = self.pick(total)
        for size, n in enumerate(left):
            if at < n:
                return size
            at -= n
        raise AssertionError("left does not add up to total")

    def new_extent(self, who: Direction, size: int) -> int:
        """Return the next place of the run, or of a new run."""
        if who.run < 0 or self.random() * who.run_units < SIZES[size]:
            self.extents.runs.append(0)
            self.extents.run_is_written.append(who is self.writes)
            who.run = len(self.extents.runs) - 1
        return self.extents.add(size, who.run)

    def next_in_run(self, who: Direction) -> int:
        """Return the extent after the last one of its run if it is due to be used again, or -1."""
        after, extents = who.last + 1, self.extents
        if who.last < 0 or after >= len(extents.size) or extents.run[after] != extents.run[who.last]:
            return -1
        return after if who.again[extents.size[after]] else -1

    def class_again(self, who: Direction) -> int:
        """Return a class with extents that can be repeated, or -1 if there is none yet."""
        size = self.pick_class(who.again, who.again_left)
        if who.past[size]:
            return size
        usable = [k for k, n in enumerate(who.again) if n and who.past[k]]
        return usable[self.pick(len(usable))] if usable else -1

    def write(self, now_ns: int) -> int:
        """Return the extent of the next write."""
        who, extents = self.writes, self.extents
        size = -1 if who.wants_new() else self.class_again(who)
        if size < 0:
            size = self.pick_class(who.new, who.new_left)
            found = self.new_extent(who, size)
            who.took_new(size)
        else:
            found = -1
            if self.random() < self.how.follow:
                found = self.next_in_run(who)
                found = found if found >= 0 and extents.writes[found] else -1
            if found < 0 and self.how.recent and self.random() < self.how.recent:
                found = self.recent(who.past[size], who.made)
            if found < 0:
                found = self.popular(who.past[size])
            size = extents.size[found]
            who.again[size] -= 1
            who.again_left -= 1
        extents.writes[found] += 1
        extents.written_ns[found] = now_ns
        who.past[size].append(found)
        self.written_at[size].append(now_ns)
        who.last = found
        who.made += 1
        return found

    def recent(self, past: list[int], made: int) -> int:
        """Return the extent of one of the last writes.

        The octave of the distance is uniform, and so is the place in it. past has the writes of one class, so
        the window is reduced to the class's share of all writes.
        """
        most = min(len(past), max(1, int(self.how.window * len(past) / made)))
        low = 1 << self.pick(most.bit_length())
        return past[-low - self.pick(min(low, most + 1 - low))]

    def popular(self, past: list[int]) -> int:
        """Return the extent of an earlier write; each has the weight (its writes - discount)."""
        while True:
            found = past[self.pick(len(past))]
            n = self.extents.writes[found]
            if self.random() * n >= self.discount:
                return found

    def read(self, now_ns: int) -> int:
        """Return the extent of the next read."""
        who, extents = self.reads, self.extents
        young_ns = now_ns - self.want.duration_ns // HOURS  # extents written after this time are young
        young = self.random() < self.how.young
        size = -1 if who.wants_new() else self.class_again(who)
        if size < 0:
            size = self.pick_class(who.new, who.new_left)
            found = self.written(size, young_ns, young, False)
            if found < 0:
                found = self.new_extent(who, size)
            who.took_new(size)
        else:
            found = self.written(size, young_ns, True, True) if young else -1
            if found < 0 and self.random() < self.how.follow:
                found = self.next_in_run(who)
                found = found if found >= 0 and extents.read[found] else -1
            if found < 0:
                found = self.not_young(who.past[size], young_ns)
            size = extents.size[found]
            who.again[size] -= 1
            who.again_left -= 1
        extents.read[found] = 1
        who.past[size].append(found)
        who.last = found
        who.made += 1
        return found

    def not_young(self, past: list[int], young_ns: int) -> int:
        """Return an extent that was read before: the first of eight draws that is not young."""
        for _ in range(8):
            found = past[self.pick(len(past))]
            if self.extents.written_ns[found] < young_ns:
                break
        return found

    def written(self, size: int, young_ns: int, young: bool, read: bool) -> int:
        """Return an extent that was written, or -1 if no draw found one.

        young, read: is it to be young, and to have been read before?
        """
        past, times = self.writes.past[size], self.written_at[size]
        begin = self.young_from[size]
        while begin < len(times) and times[begin] < young_ns:
            begin += 1
        self.young_from[size] = begin
        if not young and self.random() >= self.how.overlap:
            return -1
        begin, end = (begin, len(past)) if young else (0, begin)
        for _ in range(8 if begin < end else 0):
            found = past[begin + self.pick(end - begin)]
            if bool(self.extents.read[found]) == read and (self.extents.written_ns[found] >= young_ns) == young:
                return found
        return -1

    def bursts(self) -> list[tuple[int, int]]:
        """Return (begin in ns, requests) of every burst, in order of time. Lengths are geometric."""
        left, lengths = sum(self.want.count), []
        while left:
            length = 1
            while length < left and self.random() * self.how.burst >= 1:
                length += 1
            lengths.append(length)
            left -= length
        return list(zip(sorted(self.pick(self.want.duration_ns) for _ in lengths), lengths))

    def requests(self) -> list[tuple[int, int, int]]:
        """Generate (ns, direction, extent) in order of time."""
        out: list[tuple[int, int, int]] = []
        gap_ns = self.how.burst_gap_us * 2000
        now = 0
        for start, length in self.bursts():
            now = max(now, start)
            reads, writes = self.reads.left(), self.writes.left()
            is_write = self.pick(reads + writes) < writes
            for _ in range(length):
                if not (self.writes if is_write else self.reads).left():
                    is_write = not is_write
                out.append((now, int(is_write), self.write(now) if is_write else self.read(now)))
                now += int(self.random() * gap_ns)
        return out

    def regions(self) -> list[list[int]]:
        """Return the runs of each region in the order of their creation.

        Runs that are only read have their own regions.
        """
        found: list[list[int]] = []
        units = [0, 0]  # of the region that takes the next run, by direction
        at = [-1, -1]
        for run, (size, written) in enumerate(zip(self.extents.runs, self.extents.run_is_written)):
            if at[written] < 0 or units[written] * UNIT >= self.how.region_kib * 1024:
                at[written], units[written] = len(found), 0
                found.append([])
            found[at[written]].append(run)
            units[written] += size
        return found

    def place(self, sizes: list[int], span: int, ordered: bool = False) -> list[int]:
        """Return the beginning of each part in a span, in random (or the given) order with random gaps."""
        order = list(range(len(sizes)))
        if not ordered:
            order.sort(key=[self.random() for _ in sizes].__getitem__)
        room = span - sum(sizes) + 1
        gaps = sorted(self.pick(room) for _ in sizes)
        begin, used = [0] * len(sizes), 0
        for gap, number in zip(gaps, order):
            begin[number] = gap + used
            used += sizes[number]
        return begin

    def addresses(self, scale: int) -> list[int]:
        """Return the first unit of every extent: runs in random order, with random gaps over the span."""
        runs = self.extents.runs
        footprint = sum(runs)
        most = math.floor(self.how.span_gib * 2**30 / UNIT / scale)
        span = min(math.floor(footprint / self.how.density), most)
        if span < footprint:
            raise StandinError(f"a footprint of {footprint} units does not fit a span of {span}: raise span_gib")
        begin = [0] * len(runs)
        if self.how.region_kib:
            regions = self.regions()
            units = [sum(runs[run] for run in region) for region in regions]
            density = max(self.how.region_density, footprint / span)
            spans = [math.floor(n / density) for n in units]
            for at, region, inner in zip(self.place(spans, span), regions, spans):
                for offset, run in zip(self.place([runs[run] for run in region], inner, ordered=True), region):
                    begin[run] = at + offset
        else:
            begin = self.place(runs, span)
        out = []
        for size, run in zip(self.extents.size, self.extents.run):
            out.append(begin[run])
            begin[run] += SIZES[size]
        return out


def rows(
    name: str, scale: int, seed: int = 1, settings: Mapping[str, float] | None = None
) -> Iterator[tuple[int, str, int, int]]:
    """Generate (ns, op, offset bytes, bytes) of every request, op 'read' or 'write'."""
    data = load()
    if scale < 1:
        raise StandinError(f"scale {scale}: must be 1 or more")
    how = shape(name, data, settings)
    yield from made_of(marginals(name, scale, data), how, f"{name} {scale} {seed}", scale)


def made_of(want: Marginals, how: Shape, seed: str, scale: int = 1) -> Iterator[tuple[int, str, int, int]]:
    """Generate (ns, op, offset bytes, bytes) of every request, for any marginals; the span is divided by scale."""
    maker = Maker(want, how, seed)
    requests = maker.requests()
    at = maker.addresses(scale)
    size = maker.extents.size
    for now, direction, extent in requests:
        yield now, ("read", "write")[direction], at[extent] * UNIT, SIZES[size[extent]] * UNIT


def write(path: str, name: str, scale: int, seed: int, settings: dict[str, float]) -> None:
    """Write the trace as a file in Slate's format, completely or not at all."""
    made = rows(name, scale, seed, settings)
    asked = "".join(f" {key}={value:g}" for key, value in sorted(settings.items()))
    part = f"{path}.part"
    try:
        with open(part, "w", encoding="ascii") as out:
            out.write(f"# slate-trace 1\n# a stand-in for {name}, scale 1/{scale}, seed {seed}{asked}\n")
            out.writelines(f"{now} 0 {op} {offset} {size}\n" for now, op, offset, size in made)
        os.replace(part, path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


def setting(text: str) -> tuple[str, float]:
    """Parse KEY=VALUE."""
    key, equals, value = text.partition("=")
    try:
        return key, float(value if equals else "x")
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not KEY=NUMBER") from None


def main(argv: list[str]) -> int:
    """Run the command line. Returns 1 with a sentence on stderr on an error."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description="make a stand-in for a volume that is not to be had"
    )
    parser.add_argument("name", help="a volume of workloads.toml: hm_0, ...; stg_0-1M, ...")
    parser.add_argument("--scale", type=int, default=16, metavar="N", help="divide everything by N (16)")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--like", metavar="TRACE", help="settings fitted to a real trace of fits.toml; median: of all")
    parser.add_argument("--set", type=setting, action="append", default=[], metavar="KEY=VALUE", dest="settings")
    parser.add_argument("-o", "--out", metavar="FILE", help="default: standin-NAME.trace")
    args = parser.parse_args(argv)
    try:
        fitted_to = like(args.like, fits.load()) if args.like else {}
        asked = {**fitted_to, **fitted(args.name, load()), **dict(args.settings)} if args.like else dict(args.settings)
        write(args.out or f"standin-{args.name}.trace", args.name, args.scale, args.seed, asked)
    except (StandinError, OSError) as error:
        print(f"reproduce standin: {error}", file=sys.stderr)
        return 1
    return 0

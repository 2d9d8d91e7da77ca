# SPDX-License-Identifier: GPL-2.0-or-later
"""Computes intervals, paired differences and effect sizes, by SciPy.

A GROUP is the runs that differ only in the repetitions (seeds). Its interval is the bootstrap's, by percentiles of
RESAMPLES resamples with a fixed seed, so equal samples give equal intervals. A difference to the baseline is paired:
each run minus the baseline's run with the same seed, and the interval is that of the differences. The effect size is
the mean difference divided by the standard deviation of the differences (Cohen's d of paired samples).
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import ModuleType

from .. import packages
from ..account import OpAccount
from .expression import Value
from .file import Point, Study

RESAMPLES, RANDOM = 9999, 20240101


@dataclass(frozen=True)
class Interval:
    """Holds a mean or median with its interval; of one value there is none."""

    count: int
    centre: float
    low: float | None = None
    high: float | None = None

    @property
    def half(self) -> float | None:
        """Return half the interval's width."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    @property
    def half_share(self) -> float | None:
        """Return half the width as a share of the centre."""
        if self.half is None:
            return None
        return abs(self.half / self.centre) if self.centre else (math.inf if self.half else 0.0)


@dataclass(frozen=True)
class Difference:
    """Holds a group's difference to its baseline."""

    by: Interval
    share: float | None  # of the baseline's centre
    effect: float | None  # None: fewer than two pairs, or all differ by the same
    base: float


@dataclass
class Row:
    """Holds one run: its point, its measures, and what went wrong."""

    point: Point
    hash: str
    values: dict[str, float]
    lacks: dict[str, str]
    reason: str = ""  # why it failed
    latencies: dict[str, OpAccount] = field(default_factory=dict)  # by JOB OP


@dataclass
class Group:
    """Holds the runs that differ only in the repetitions."""

    at: Point
    rows: list[Row]
    intervals: dict[str, Interval]
    differences: dict[str, Difference]  # {} for the baseline itself

    def latencies(self, name: str) -> OpAccount | None:
        """Return the latencies of one kind of I/O in all runs together."""
        found = [row.latencies[name] for row in self.rows if name in row.latencies]
        if not found:
            return None
        pooled = OpAccount(sub_buckets=found[0].sub_buckets)
        for one in found:
            pooled.ios += one.ios
            pooled.latency_sum_ns += one.latency_sum_ns
            pooled.latency_max_ns = max(pooled.latency_max_ns, one.latency_max_ns)
            for floor, count in one.histogram.items():
                pooled.histogram[floor] = pooled.histogram.get(floor, 0) + count
        return pooled


def scipy_stats() -> ModuleType:
    """Import SciPy."""
    return packages.load("scipy.stats", "venv-fit", packages.SCIPY)


@functools.cache
def _bootstrap(values: tuple[float, ...], statistic: str, confidence: float) -> tuple[float, float]:
    scipy = scipy_stats()  # before NumPy, which may come with it
    import numpy

    found = scipy.bootstrap(
        (numpy.array(values),), getattr(numpy, statistic), confidence_level=confidence, n_resamples=RESAMPLES,
        method="percentile", vectorized=True, random_state=numpy.random.default_rng(RANDOM),
    ).confidence_interval  # fmt: skip
    return float(found.low), float(found.high)


def interval(values: Sequence[float], statistic: str = "mean", confidence: float = 0.95) -> Interval:
    """Return the centre of a sample, with its interval."""
    ordered = sorted(values)
    count = len(ordered)
    middle = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    centre = math.fsum(ordered) / count if statistic == "mean" else middle
    if count < 2:
        return Interval(count, centre)
    if ordered[0] == ordered[-1]:
        return Interval(count, ordered[0], ordered[0], ordered[0])
    low, high = _bootstrap(tuple(ordered), statistic, confidence)
    return Interval(count, centre, low, high)


def difference(pairs: Sequence[tuple[float, float]], statistic: str, confidence: float) -> Difference:
    """Return the difference of pairs (value, baseline's value)."""
    by = [value - base for value, base in pairs]
    found = interval(by, statistic, confidence)
    base = interval([one for _, one in pairs], statistic, confidence).centre
    mean = math.fsum(by) / len(by)
    spread = math.sqrt(math.fsum((one - mean) ** 2 for one in by) / (len(by) - 1)) if len(by) > 1 else 0.0
    return Difference(found, found.centre / abs(base) if base else None, mean / spread if spread else None, base)


def groups(study: Study, rows: list[Row]) -> list[Group]:
    """Return the groups in the order of the points, with intervals and differences."""
    axes = study.groups
    made: dict[tuple[tuple[str, Value], ...], Group] = {}
    for row in rows:
        key = _key(row.point, axes)
        made.setdefault(key, Group({axis: row.point[axis] for axis in axes}, [], {}, {})).rows.append(row)
    for group in made.values():
        base = made.get(_key({**group.at, **study.baseline}, axes)) if study.baseline else None
        for measure in study.measures:
            values = [row.values[measure.name] for row in group.rows if measure.name in row.values]
            if values:
                group.intervals[measure.name] = interval(values, study.statistic, study.confidence)
            if base and base is not group and (pairs := _pairs(study, group, base, measure.name)):
                group.differences[measure.name] = difference(pairs, study.statistic, study.confidence)
    return list(made.values())


def _key(point: Point, axes: list[str]) -> tuple[tuple[str, Value], ...]:
    return tuple((type(point[axis]).__name__, point[axis]) for axis in axes)


def _pairs(study: Study, group: Group, base: Group, name: str) -> list[tuple[float, float]]:
    """Return the values of runs with equal repetitions in both groups."""
    theirs = {_key(row.point, study.over): row.values[name] for row in base.rows if name in row.values}
    mine = [(_key(row.point, study.over), row.values[name]) for row in group.rows if name in row.values]
    return [(value, theirs[key]) for key, value in mine if key in theirs]


def wider(found: list[Group], name: str, share: float) -> list[Group]:
    """Return the groups whose interval of a measure is wider than wanted, or not known."""
    return [
        group for group in found if name in group.intervals
        and (group.intervals[name].half_share is None or (group.intervals[name].half_share or 0) > share)
    ]  # fmt: skip


def more_seeds(found: list[Group], name: str, share: float) -> int:
    """Return how many seeds to add: an interval narrows with the root of their number. At most as many as there are."""
    wanted = 1
    for group in wider(found, name, share):
        have, now = group.intervals[name].count, group.intervals[name].half_share
        need = have * 2 if now is None or not math.isfinite(now) else math.ceil(have * (now / share) ** 2)
        wanted = max(wanted, min(max(need, 3) - have, max(have, 2)))
    return wanted


def text_sum(text: str) -> str:
    """Return the checksum of a text."""
    return hashlib.sha256(text.encode()).hexdigest()

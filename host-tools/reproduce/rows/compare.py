# SPDX-License-Identifier: GPL-2.0-or-later
"""compare.py - rows of a table: a quantity of some configurations over some traces.

A row has the paper's number where the paper's text has one. Numbers that are only in the picture of
a figure are not used.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from reproduce.rows import measures
from reproduce.rows.points import Trace


@dataclass
class Row:
    """Holds one line of a table."""

    trace: str  # a volume, or "average", "best"
    what: str  # which configuration or part
    unit: str
    ours: float | None
    paper: float | None = None
    low: float | None = None  # minimum and maximum over several seeds, of which `ours` is the mean
    high: float | None = None

    @property
    def ratio(self) -> float | None:
        """Return the measured value divided by the paper's."""
        return self.ours / self.paper if self.paper and self.ours is not None else None


Value = TypeVar("Value")


class Results:
    """Holds results of points as JSON, by (trace tag, configuration, accounting)."""

    def __init__(self, found: dict[tuple[str, str, str], measures.Result], scale: int) -> None:
        self.found = found
        self.scale = scale

    def values(
        self, traces: tuple[str, ...], config: str, accounting: str, measure: Callable[[measures.Result], Value | None]
    ) -> dict[str, Value]:
        """Return the values by trace, where a result has the quantity."""
        out: dict[str, Value] = {}
        for trace in traces:
            result = self.found.get((trace, config, accounting))
            value = measure(result) if result else None
            if value is not None:
                out[trace] = value
        return out


Form = Callable[[float, float], float]  # computes a figure from a value and its base
Best = Callable[[Iterable[float]], float]  # min or max
Labels = dict[str, str]  # configuration: what the table calls it
Published = dict[tuple[str, str], float]  # (trace or "average" or "best", label): number
Rows = Callable[[Results, tuple[str, ...], str], list[Row]]  # arguments: results, traces, accounting


def number(value: float | None) -> str:
    """Format with four significant digits; large numbers are integers."""
    if value is None:
        return ""
    if value == 0:
        return "0"
    digits = 4 if abs(value) < 10000 else len(str(int(abs(value))))
    text = f"{value:.{digits}g}"
    return f"{float(text):.10g}" if "e" in text else text


def mean(values: list[float]) -> float:
    """Return the arithmetic mean. (Of floats, sum() adds with other roundings from Python 3.12 on.)"""
    return statistics.fmean(values)


def change(value: float, base: float) -> float:
    """Return the change in per cent."""
    return 100 * (value - base) / base


def times(value: float, base: float) -> float:
    """Return value divided by base."""
    return value / base


def lower(value: float, base: float) -> float:
    """Return base divided by value."""
    return base / value


UNITS: dict[Form, str] = {change: "%", times: "x", lower: "x lower"}


def relative(measure: measures.Measure, base: str, configs: Labels, form: Form,
             published: Published | None = None, best: Best | None = None) -> Rows:  # fmt: skip
    """Make rows of each trace's value relative to the base configuration, and of their mean.

    best: also a row of the min or max.
    """
    known = published or {}

    def rows(results: Results, traces: tuple[str, ...], accounting: str) -> list[Row]:
        out = []
        bases = results.values(traces, base, accounting, measure)
        for config, label in configs.items():
            values = results.values(traces, config, accounting, measure)
            ours = {t: form(v, bases[t]) for t, v in values.items() if bases.get(t) and (v or form is not lower)}
            out += [Row(t, label, UNITS[form], v, known.get((unvaried(t), label))) for t, v in ours.items()]
            if not ours:
                continue
            out.append(Row("average", label, UNITS[form], mean(list(ours.values())), known.get(("average", label))))
            if best:
                out.append(Row("best", label, UNITS[form], best(list(ours.values())), known.get(("best", label))))
        return out

    return rows


def absolute(measure: measures.Measure, configs: Labels, unit: str, published: Published | None = None,
             full_size: bool = False) -> Rows:  # fmt: skip
    """Make rows of each trace's value (full_size: multiplied by the scale), and of their mean."""
    known = published or {}

    def rows(results: Results, traces: tuple[str, ...], accounting: str) -> list[Row]:
        out = []
        factor = results.scale if full_size else 1
        for config, label in configs.items():
            ours = results.values(traces, config, accounting, measure)
            out += [Row(t, label, unit, v * factor, known.get((unvaried(t), label))) for t, v in ours.items()]
            if ours:
                average = factor * mean(list(ours.values()))
                out.append(Row("average", label, unit, average, known.get(("average", label))))
        return out

    return rows


def breakdown(configs: Labels, published: Published) -> Rows:
    """Make rows of the write latency by cause, averaged over the traces, and of the share of it in which GC copies."""

    def rows(results: Results, traces: tuple[str, ...], accounting: str) -> list[Row]:
        out = []
        for config, label in configs.items():
            by_trace = results.values(traces, config, accounting, measures.write_parts_us)
            if not by_trace:
                continue
            parts = {name: mean([p[name] for p in by_trace.values()]) for name in next(iter(by_trace.values()))}
            out += [Row(t, f"{label}, all", "ms", sum(p.values()) / 1000) for t, p in by_trace.items()]
            out += [Row("average", f"{label}, {name}", "ms", value / 1000) for name, value in parts.items()]
            share = 100 * (parts["GC read"] + parts["GC write"]) / sum(parts.values())
            out.append(Row("average", f"{label}, copying", "%", share, published.get(("average", label))))
        return out

    return rows


def unvaried(trace: str) -> str:
    """Return a trace's tag without its seed, and without the name of the real trace whose settings it has."""
    return re.sub(r",(seed=\d+|like=\w+)", "", trace)


def seeded(inner: Rows, best: Best | None = None) -> Rows:
    """Combine rows of one trace with several seeds, or fits: mean, minimum and maximum.

    Seeds that some traces lack are left out, so that every average covers the same traces. best: over the
    means.
    """

    def rows(results: Results, traces: tuple[str, ...], accounting: str) -> list[Row]:
        by_seed: dict[str, list[str]] = {}
        for trace in traces:
            by_seed.setdefault(trace.removeprefix(unvaried(trace)), []).append(trace)
        most = max((len(some) for some in by_seed.values()), default=0)
        found: dict[tuple[str, str], list[Row]] = {}
        for some in by_seed.values():
            if len(some) == most:
                for row in inner(results, tuple(some), accounting):
                    found.setdefault((unvaried(row.trace), row.what), []).append(row)
        out = [over_seeds(trace, several) for (trace, _), several in found.items()]
        for row in out:
            if best and row.trace == "best":
                alike = [other for other in out if other.what == row.what and other.trace not in ("average", "best")]
                of = best(other.ours for other in alike if other.ours is not None)
                same = next(other for other in out if other.what == row.what and other.ours == of)
                row.ours, row.low, row.high = same.ours, same.low, same.high
        return out

    return rows


def over_seeds(trace: str, several: list[Row]) -> Row:
    """Return the mean of rows that differ in the seed."""
    first, values = several[0], [row.ours for row in several if row.ours is not None]
    span = (min(values), max(values)) if len(several) > 1 else (None, None)
    return Row(trace, first.what, first.unit, mean(values) if values else None, first.paper, *span)


def of_traces(some: tuple[Trace, ...], inner: Rows) -> Rows:
    """Return the rows of these traces alone, labelled by volume."""
    volumes = {trace.tag: trace.volume for trace in some}

    def rows(results: Results, traces: tuple[str, ...], accounting: str) -> list[Row]:
        found = inner(results, tuple(trace for trace in traces if trace in volumes), accounting)
        return [replace(row, trace=volumes.get(row.trace, row.trace)) for row in found]

    return rows


def banded(groups: dict[str, tuple[Trace, ...]], inner: Rows) -> Rows:
    """Return averages and rows with a published number: mean, minimum and maximum over each group of variants.

    A row's name ends with the group's.
    """
    tags = {label: {trace.tag for trace in some} for label, some in groups.items()}

    def rows(results: Results, traces: tuple[str, ...], accounting: str) -> list[Row]:
        return [
            replace(row, what=f"{row.what}, {label}")
            for label, some in tags.items()
            for row in seeded(inner)(results, tuple(trace for trace in traces if trace in some), accounting)
            if row.trace == "average" or row.paper is not None
        ]

    return rows


def together(*several: Rows) -> Rows:
    """Concatenate the rows of several figures."""

    def rows(results: Results, traces: tuple[str, ...], accounting: str) -> list[Row]:
        return [row for each in several for row in each(results, traces, accounting)]

    return rows

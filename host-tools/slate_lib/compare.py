# SPDX-License-Identifier: GPL-2.0-or-later
"""'slate compare' shows runs and replays side by side."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from . import charts, figures, htmlreport, page, paths, replayfile, reports, rows, runfiles, shape, units
from .account import PERCENTILES, points_ns
from .charts import COLORS, Charts
from .errors import OK, SlateError
from .page import Figure, Section, Sentence, Table
from .report import BOLD, DIM, PLAIN, Report
from .rows import Row
from .runfiles import RunFiles

NAME, WIDTH = 26, 19  # of the columns of the text
Words = Callable[[Any], str]


# These inputs in run.json determine a result: equal ones give equal bytes. (The launcher's Python is not one.)
RECORDED = {"settings": "{}", "versions": "version of {}", "sha256": "sha256 of {}"}
RELATION = "(…x): of the first run's; (… ns): more than it"
NEAR = 0.01  # differences of times below this share of them are shown in ns
SHORT = 12  # digits of a checksum
BESIDE_A_REPLAY = ("profile", "job", "script", "app", "content", "load", "seed", "smp", "cpu_rate", "age",
                   "fill_percent", "kernel", "virtual_time", *replayfile.ASKED)  # fmt: skip


@dataclass
class Line:
    """Holds a figure of every run; None for a run that lacks it."""

    what: str
    words: Words
    values: list[float | str | None]

    def cells(self) -> list[str]:
        """Return the words for each value, with its relation to the first one."""
        return [f"{self.words(value)}{_ratio(self, i)}" for i, value in enumerate(self.values)]


@dataclass
class Group:
    """Holds figures of one kind of I/O of one job, or of the whole run."""

    name: str
    lines: list[Line]


def _digits(form: str) -> Words:
    return lambda value: "-" if value is None else format(value, form)


def _whole(value: float | None) -> str:
    return "-" if value is None else units.count(value)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def _rate(value: float | None) -> str:
    return "-" if value is None else units.rate(value)


def _percentiles(side: str) -> list[tuple[str, Words, Callable[[Row], float | None]]]:
    """Return the rows for the percentiles of the guest or of the drive."""

    def of(row: Row, number: int) -> float | None:
        found = row.guest if side == "guest" else row.drive
        return points_ns(found)[number] if found else None

    return [(f"{side} {name}", units.us, partial(of, number=i)) for i, name in enumerate(PERCENTILES.values())]


# Each figure of a job has a name, a format, and the function that computes it from a row.
_JOB: tuple[tuple[str, Words, Callable[[Row], float | None]], ...] = (
    ("IOPS", _rate, lambda row: row.guest.iops if row.guest else row.rate.iops if row.rate else None),
    ("guest mean, µs", units.us, lambda row: row.guest.mean_ns if row.guest else None),
    *_percentiles("guest"),
    ("guest max", units.us, lambda row: row.guest.max_ns if row.guest else None),
    ("path, µs", units.us, lambda row: row.path_ns()),
    ("drive mean, µs", units.us, lambda row: row.drive.mean_ns() if row.drive else None),
    *_percentiles("drive"),
    ("drive max", units.us, lambda row: row.drive.latency_max_ns if row.drive else None),
    ("behind host", units.us, lambda row: row.drive.mean_part_ns("host-queue") if row.drive else None),
    ("behind GC", units.us, lambda row: row.drive.mean_part_ns("gc-queue") if row.drive else None),
)


def _waf(shown: Report) -> float | None:
    found = shown.device.waf()
    return found["total"] if found else None


def _busy(shown: Report, what: str) -> float | None:
    found = shown.device.busy(what)
    return found.mean if found else None


_RUN: tuple[tuple[str, Words, Callable[[Report], float | None]], ...] = (
    ("read, MiB", _digits(",.1f"), lambda shown: shown.device.total.op["read"].bytes / (1 << 20)),
    ("written, MiB", _digits(",.1f"), lambda shown: shown.device.total.op["write"].bytes / (1 << 20)),
    ("WAF", _digits(".3f"), _waf),
    ("GC runs", _whole, lambda shown: shown.device.total.ftl.get("gc-runs", 0)),
    ("blocks erased", _whole, lambda shown: shown.device.total.nand_total("erases")),
    ("dies busy", _share, lambda shown: _busy(shown, "dies")),
    ("channels busy", _share, lambda shown: _busy(shown, "channels")),
)


class Comparison:
    """Holds runs, and the lines that compare them."""

    def __init__(self, runs: list[RunFiles]):
        self.runs = runs
        self.shown = [reports.of(run) for run in runs]
        self.replays = any(run.replay for run in runs)
        self.table = [self._rows_of(shown) for shown in self.shown]
        self.several = {key[0]: folder for key in self.keys() for folder in self._leave_fio_out(key)}
        self.names = _names(runs)
        self.groups = [*self._jobs(), self._whole()]
        self.differs = list(self._settings())

    def rows(self, key: tuple[str, str]) -> list[Row | None]:
        """Return the rows of every run for one job and kind of I/O."""
        return [next((row for row in rows if (row.job, row.op) == key), None) for rows in self.table]

    def keys(self) -> list[tuple[str, str]]:
        """Return jobs and kinds of I/O, in the order of the runs."""
        return list(dict.fromkeys((row.job, row.op) for rows in self.table for row in rows))

    def remarks(self) -> list[str]:
        """Say why only the whole runs are compared, and where fio's figures of a job are if they are not shown."""
        told = [sum(row is not None for row in self.rows(key)) for key in self.keys()]
        common = any(count > 1 for count in told)
        found = [] if common else ["no job is in two of the runs: only the whole runs compare"]
        for folder in dict.fromkeys(self.several.values()):
            jobs = ", ".join(job for job, home in self.several.items() if home == folder)
            found.append(
                f"{jobs}: fio measured all drives together, so its figures are left out, and IOPS are each drive's; "
                f"'slate report {paths.short(folder)}' has fio's"
            )
        return found

    def _leave_fio_out(self, key: tuple[str, str]) -> Iterator[Path]:
        """Remove fio's figures from a job's rows if a run has several drives. Yields the runs' folders."""
        homes = [run.path.resolve().parent if drive_name(run) else None for run in self.runs]
        busy = [home for home, row in zip(homes, self.rows(key)) if home and row and row.guest and row.drive]
        for home in dict.fromkeys(home for home in busy if busy.count(home) > 1):
            for table, folder in zip(self.table, homes):
                if folder == home:
                    table[:] = [_without_fio(row) if (row.job, row.op) == key else row for row in table]
            yield home

    def _rows_of(self, shown: Report) -> list[Row]:
        """Return the rows to compare a replay with: a guest's jobs, and all I/O by the drive."""
        if self.replays and all(row.job != rows.WHOLE_RUN for row in shown.rows):
            return shown.rows + rows.whole_run(shown.device)
        return shown.rows

    def _jobs(self) -> Iterator[Group]:
        for key in self.keys():
            found = self.rows(key)
            lines = [Line(what, words, [get(row) if row else None for row in found]) for what, words, get in _JOB]
            limits = [shown.limits.get(key[0]) for shown in self.shown]
            lines += [
                Line("vCPU busy", _share, [limit.use.processor() if limit else None for limit in limits]),
                Line("limit", lambda name: name or "-", [limit.name if limit else None for limit in limits]),
            ]
            lines = [line for line in lines if any(value for value in line.values)]
            yield Group(" ".join(key), lines)

    def _whole(self) -> Group:
        return Group(
            "whole run", [Line(what, words, [get(shown) for shown in self.shown]) for what, words, get in _RUN]
        )

    def _settings(self) -> Iterator[tuple[str, list[str]]]:
        """Return the settings that differ: of the drive, then of the run."""
        tables = [shown.device.settings for shown in self.shown]
        for key in sorted(set().union(*tables)):
            values = [table.get(key, "-") for table in tables]
            if len(set(values)) > 1:
                yield key, values
        yield from self._recorded()

    def _recorded(self) -> Iterator[tuple[str, list[str]]]:
        """Return the inputs in run.json that differ. A replay has few settings."""
        for part, words in RECORDED.items():
            tables = [run.record.get(part) or {} for run in self.runs]
            if self.replays and part != "settings":
                continue
            for key in BESIDE_A_REPLAY if self.replays else dict.fromkeys(key for table in tables for key in table):
                values = [str(table.get(key, "-")) for table in tables]
                if len(set(values)) > 1 and (part, key) != ("versions", "python"):
                    yield words.format(key), [value[:SHORT] for value in values] if part == "sha256" else values


def drive_name(run: RunFiles) -> str | None:
    """Return the name of the drive in a run with several."""
    found: str | None = run.record["settings"].get("drive_name")
    return found


def _without_fio(row: Row) -> Row:
    """Return the row with only the drive's figures."""
    ns = row.account.end_ns - row.account.begin_ns if row.account else 0
    rate = rows.Rate(row.drive.ios / ns * 1e9, row.drive.bytes / ns * 1e9) if row.drive and ns else None
    return replace(row, guest=None, rate=rate)


def _names(runs: list[RunFiles]) -> list[str]:
    """Return the names of the folders, with as many path components as they need to differ."""
    names = [run.name for run in runs]
    if len(set(names)) < len(names):
        names = [paths.short(run.path) for run in runs]
    return [shape.clean(name) for name in names]


def _ratio(line: Line, number: int) -> str:
    """Return a value's relation to the first run's: its ratio or, for a time within 1 %, the difference in ns."""
    first, value = line.values[0], line.values[number]
    if not number or not isinstance(first, (int, float)) or not isinstance(value, (int, float)):
        return ""
    if not first or value == first:
        return ""
    if line.words is units.us and abs(value - first) < abs(first) * NEAR:
        return f" ({value - first:+,.0f} ns)" if abs(value - first) >= 10 else f" ({value - first:+.1f} ns)"
    ratio = value / first
    return f" ({ratio:.2f}x)" if ratio < 100 else f" ({ratio:.0f}x)"


def text(found: Comparison, color: bool) -> str:
    """Return the comparison as text for a terminal."""
    bold, dim, plain = (BOLD, DIM, PLAIN) if color else ("", "", "")
    cells = [cell for group in found.groups for line in group.lines for cell in line.cells()]
    width = max(WIDTH, *(len(word) + 2 for word in (*found.names, *cells)))
    lines = [bold + f"{'':<{NAME}}" + "".join(f"{name:>{width}}" for name in found.names) + plain]
    for group in found.groups:
        lines.append(bold + group.name + plain)
        for line in group.lines:
            lines.append(f"  {line.what:<{NAME - 2}}" + "".join(f"{cell:>{width}}" for cell in line.cells()))
    lines.append(bold + "what differs" + plain)
    for key, values in found.differs:
        short = [value if len(value) < width else "…" + value[-width + 3 :] for value in values]
        lines.append(f"  {key:<{NAME - 2}}" + "".join(f"{value:>{width}}" for value in short))
    if not found.differs:
        lines.append("  nothing that the runs record: equal settings, versions and checksums of the inputs")
    lines += found.remarks()
    lines.append(f"{dim}{RELATION}{plain}")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def render(found: Comparison) -> str:
    """Return the page."""
    title = f"{len(found.runs)} runs side by side"
    table = Table("compare", ("", *found.names), lines=True)
    for group in found.groups:
        table.add(group.name, [""] * len(found.names), new=True)
        for line in group.lines:
            table.add(
                "\u2003" + line.what,
                [
                    (cell, None if isinstance(value, str) else value)
                    for cell, value in zip(line.cells(), line.values)
                ],
            )
    differs = Table("differs", ("", *found.names), lines=True)
    for key, values in found.differs:
        differs.add(key, values)
    sections = [
        Section("Latency", "share of I/Os up to a latency, by the drive", [page.Charts(_charts(found))]),
        Section("Figures", "; ".join(found.remarks()) or RELATION, [table]),
        Section("What differs", blocks=[differs if found.differs else Sentence("Nothing that a run records.")]),
    ]
    return page.render(title, found.names, sections)


def _charts(found: Comparison) -> list[Figure]:
    made, out = Charts(), []
    for key in found.keys():  # noqa: SIM118 (a Comparison is no dict)
        lines = []
        for number, row in enumerate(found.rows(key)):
            if row and row.drive and row.drive.histogram:
                style = {
                    "color": COLORS[number % len(COLORS)],
                    "linestyle": ("-", "--", ":")[number // len(COLORS) % 3],
                    "label": charts.label(found.names[number]),
                    "of": row.drive,
                }
                lines.append((*figures.cdf(row.drive), style))
        if not lines:
            continue
        svgs: list[str] = []
        with made.figure(svgs, f"Latency of {' '.join(key)} in each run") as axes:
            figures.draw_cdf(made, axes, lines)
        out += [Figure(svg, " ".join(key)) for svg in svgs]
    return out


def run(folders: list[Path], target: Path | None) -> int:
    """Execute 'slate compare A B ...'."""
    if len(folders) < 2:
        raise SlateError("one run alone can not be compared", "name two or more: slate compare DIR DIR ...")
    found = Comparison([runfiles.load(folder) for folder in folders])
    print(text(found, sys.stdout.isatty()), end="")
    if target:
        htmlreport.write(target, render(found))
    return OK

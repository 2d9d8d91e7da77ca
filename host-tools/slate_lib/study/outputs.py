# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes what a study found: a table as text, CSV (and Parquet) of all runs, CSV of the groups, charts, and pages.

All of it depends on the study's file, the results, and the versions of Slate and SciPy that report.txt names (the
bytes of runs.parquet also on pyarrow's). Colours of a chart are those of the first axis, markers and lines those of
the second one.
"""

from __future__ import annotations

import csv
import io
import json
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from .. import charts, facts, htmlreport, packages, page, runfiles, units
from .. import figures as drawing
from ..charts import COLORS, GRID, INK, Charts
from ..errors import SlateError
from ..page import Figure, Section, Sentence, Table
from . import figures, stats
from .expression import Value
from .file import Measure, Point, Study, shown
from .stats import Difference, Group, Interval, Row
from .store import SUMS, Store

WIDTH = 18
LIGHT = {INK: "#1c2024", GRID: "#b9c0c7"} | dict(zip(COLORS, (
    "#0072b2", "#d55e00", "#009e73", "#c23b78", "#b58900", "#3aa0da", "#7a52a8", "#7f8890", "#8a4b2a")))  # fmt: skip
MARKERS, LINES = "osD^vPX*", ("-", "--", ":", "-.")
DPI = 200
MOST_LINES = 12  # of a chart of latencies
LINE_HEIGHT = 0.17  # inches
FORMS = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": ""}}  # without the time


def number(value: float | None) -> str:
    """Format a value with four significant digits."""
    if value is None:
        return "-"
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}" if size >= 1e-4 or not size else f"{value:.2e}"


def spread(found: Interval | None) -> str:
    """Format as 'centre [low, high]'."""
    if not found:
        return "-"
    if found.low is None or found.low == found.high:
        return number(found.centre)
    return f"{number(found.centre)} [{number(found.low)}, {number(found.high)}]"


def change(found: Difference | None) -> str:
    """Format a difference to the baseline as '+3.1 % [+2.0, +4.2]'; with a mark if the interval holds 0."""
    if not found:
        return ""
    if found.share is None:
        return f"{found.by.centre:+.4g}"
    text = f"{100 * found.share:+.1f} %"
    if found.by.low is None or found.by.high is None or found.by.low == found.by.high:
        return text
    ends = (100 * end / abs(found.base) for end in (found.by.low, found.by.high))
    return text + " [" + ", ".join(f"{end:+.1f}" for end in ends) + "]" + ("" if clear(found) else " ~")


def clear(found: Difference) -> bool:
    """Does the interval of a difference leave out 0?"""
    by = found.by
    return by.low is not None and by.high is not None and (by.low > 0 or by.high < 0)


def heading(one: Measure) -> str:
    """Return a measure's name with its unit."""
    return f"{one.name}, {one.unit}" if one.unit else one.name


class Outputs:
    """Writes the files of a study with its results."""

    def __init__(self, study: Study, rows: list[Row], found: list[Group], store: Store, pages: bool = False) -> None:
        self.study, self.rows, self.groups, self.store = study, rows, found, store
        self.pages = pages  # one for each run
        self.failed = [row for row in rows if row.reason]

    # ---- text

    def text(self) -> str:
        """Return the report."""
        study = self.study
        lines = [study.title, "─" * min(100, max(40, len(study.title)))]
        lines += [study.about, ""] if study.about else []
        for one in study.measures:
            lines += [*_aligned(self._table(one)), ""]
        lines += self.remarks()
        lines += ["", *self.cite()]
        return "\n".join(line.rstrip() for line in lines) + "\n"

    def _table(self, one: Measure) -> list[list[str]]:
        """Return a measure's table: a row for each group."""
        axes = self.study.groups
        changes = any(one.name in group.differences for group in self.groups)
        head = [*axes, heading(one), "n", *(["to the baseline", "effect"] if changes else [])]
        made = [head]
        for group in self.groups:
            found, by = group.intervals.get(one.name), group.differences.get(one.name)
            cells = [*(shown(value) for value in group.at.values()), spread(found), str(found.count if found else 0)]
            if changes:
                base = self.study.baseline and not by and found and _is_base(group, self.study.baseline)
                cells += ["baseline" if base else change(by), _effect(by)]
            made.append(cells)
        return made

    def remarks(self) -> list[str]:
        """Return what a reader must know of the intervals, and what failed."""
        study = self.study
        most = max((len(group.rows) for group in self.groups), default=0)
        lines = []
        if most > 1:
            lines.append(
                f"{study.statistic} of n runs that differ in {' and '.join(study.over)}, with the "
                f"{100 * study.confidence:g} % interval of a bootstrap (percentiles, {stats.RESAMPLES} resamples)."
            )
            if most < 6:
                lines.append(f"A bootstrap of {most} runs is too narrow: it can not leave their span. Take 10 or more.")
        elif study.over:
            lines.append("One run in each group has no interval: give more seeds.")
        every = [found for group in self.groups for found in group.differences.values()]
        compared = sum(found.by.low is not None for found in every)
        if every:
            lines.append(
                f"Differences are of pairs with equal {' and '.join(study.over) or 'axes'}; effect: their mean / their "
                "standard deviation; ~: the interval holds 0."
            )
        if compared > 1:
            lines.append(
                f"{compared} comparisons: of that many, about {compared * (1 - study.confidence):.1f} intervals "
                "leave out 0 by chance alone; they are not adjusted."
            )
        if study.left_out_count:
            lines.append(f"{study.left_out_count} combinations were left out by leave_out.")
        lines += [f"failed: {_words(row.point)}: {row.reason}" for row in self.failed]
        lines += self._lacking()
        return lines

    def _lacking(self) -> Iterable[str]:
        for one in self.study.measures:
            lacking = [row for row in self.rows if one.name in row.lacks]
            if lacking:
                first = lacking[0]
                yield (
                    f"{one.name}: {len(lacking)} of {len(self.rows)} runs have none; the first "
                    f"({_words(first.point)}): {first.lacks[one.name]}"
                )

    def cite(self) -> list[str]:
        """Return versions and hashes with which the study can be named and repeated."""
        programs: dict[str, None] = {}
        for row in self.rows:
            if not row.reason:
                programs[self._program(row)] = None
        return [
            f"Slate {facts.describe()}; {', '.join(programs) or 'no result'}; SciPy {_scipy_version()}",
            f"study {self.study.path.name} sha256 {stats.text_sum(self.study.text)}",
            f"results of {len(self.rows) - len(self.failed)} runs sha256 {self.digest()}",
        ]

    def _program(self, row: Row) -> str:
        inputs = json.loads((self.store.root / row.hash / "inputs.json").read_text(encoding="utf-8"))
        return f"{inputs['kind']} {inputs.get('program') or inputs['line'][0]}"

    def digest(self) -> str:
        """Return a hash of all results."""
        made = [(row.hash, (self.store.root / row.hash / SUMS).read_text(encoding="utf-8") if not row.reason else "")
                for row in self.rows]  # fmt: skip
        return stats.text_sum(json.dumps(sorted(_plain(*one) for one in made)))

    # ---- CSV

    def runs_csv(self) -> str:
        """Return a line for each run: its axes, its measures, and why it has none."""
        axes, measures = list(self.study.axes), self.study.measures
        head = [*axes, *(heading(one) for one in measures), "result", "reason"]
        lines = []
        for row in self.rows:
            values = [repr(row.values[one.name]) if one.name in row.values else "" for one in measures]
            lines.append([*(shown(row.point[axis]) for axis in axes), *values, row.hash, _reason(row)])
        return _csv([head, *lines])

    def groups_csv(self) -> str:
        """Return a line for each group and measure, with its interval and its difference to the baseline."""
        head = [*self.study.groups, "measure", "unit", "n", self.study.statistic, "low", "high", "difference",
                "difference low", "difference high", "difference share", "effect"]  # fmt: skip
        lines = []
        for group in self.groups:
            for one in self.study.measures:
                if not (found := group.intervals.get(one.name)):
                    continue
                by = group.differences.get(one.name)
                told = [by.by.centre, by.by.low, by.by.high, by.share, by.effect] if by else [None] * 5
                lines.append([
                    *(shown(value) for value in group.at.values()), one.name, one.unit or "", str(found.count),
                    *("" if value is None else repr(value) for value in (found.centre, found.low, found.high, *told)),
                ])  # fmt: skip
        return _csv([head, *lines])

    def runs_parquet(self) -> bytes | None:
        """Return the runs as a Parquet file whose columns have types; None: pyarrow is not there.

        An axis of numbers, or of true and false, is a column of such; any other axis is text. A measure is a double in
        the unit that its name has; null: the run lacks it.
        """
        try:
            pa = cast(Any, packages.load("pyarrow", "venv-parquet"))
            parquet = cast(Any, packages.load("pyarrow.parquet", "venv-parquet"))
        except SlateError:
            return None
        columns = {axis: _typed([row.point[axis] for row in self.rows]) for axis in self.study.axes}
        for one in self.study.measures:
            columns[heading(one)] = pa.array([row.values.get(one.name) for row in self.rows], pa.float64())
        columns["result"] = [row.hash for row in self.rows]
        columns["reason"] = [_reason(row) for row in self.rows]
        out = io.BytesIO()
        parquet.write_table(pa.table(columns), out)
        return out.getvalue()

    # ---- the pages

    def run_pages(self) -> dict[str, bytes]:
        """Return each run's own page."""
        made = {}
        for row in self.rows:
            if not row.reason and _page_of(row) not in made:
                folder = self.store.root / row.hash
                replay = folder / "replay.json"
                run = runfiles.load(replay if replay.exists() else folder)
                made[_page_of(row)] = htmlreport.render(run).encode()
        return made

    def page(self) -> str:
        """Return the page."""
        study, made = self.study, Charts()
        figures = []
        for one in study.measures:
            svgs: list[str] = []
            with made.figure(svgs, f"{one.name} of each group") as axes:
                draw(axes, study, self.groups, one)
            figures += [Figure(svg, heading(one), of=study.name) for svg in svgs]
        tables = []
        for number_, one in enumerate(study.measures):
            head, *rows = self._table(one)
            count = len(study.groups)  # of axes: their values are one cell
            table = Table(f"measure{number_}", [" · ".join(head[:count]) or "group", *head[count:]], lines=True)
            for cells in rows:
                table.add(" · ".join(cells[:count]), cells[count:])
            tables.append(table)
        runs = Table("runs", ["run", *(heading(one) for one in study.measures), "result"], sorts=True)
        for row in self.rows:
            values = (row.values.get(one.name) for one in study.measures)
            cells_ = [(number(value), value) for value in values]
            link = _page_of(row) if self.pages and not row.reason else ""
            runs.add(_words(row.point), [*cells_, row.hash[:12] if not row.reason else "failed"], link=link)
        sections = [
            *([Section("Question", blocks=[Sentence(study.about)])] if study.about else []),
            Section("Charts", "; ".join(_chart_words(study)), [page.Charts(figures)]),
            Section("Latencies", "share of I/Os up to a latency, all runs of a group together",
                    [page.Charts(self._latencies(made))]),
            Section("Figures", " ".join(self.remarks()), [page.Tables(tables)]),
            Section("Runs", "each row is one run; a click on a heading sorts; runs.csv has all digits", [runs]),
            Section("To cite", blocks=[Sentence(line) for line in self.cite()]),
        ]
        counts = ((len(self.rows), "run"), (len(self.groups), "group"))
        facts_ = [*(units.many(count, what) for count, what in counts), *_axis_facts(study)]
        alarms = [f"{_words(row.point)}: failed: {row.reason}" for row in self.failed[:5]]
        return page.render(study.title, facts_, [one for one in sections if one.blocks], alarms)

    def _latencies(self, made: Charts) -> list[Figure]:
        """Draw the latencies of the I/O that measures name: a line for each group."""
        found: list[Figure] = []
        x, first, *_ = _roles(self.study)
        dashes = [shown(value) for value in self.study.axes.get(x, [])]
        colors = [shown(value) for value in self.study.axes.get(first, [])]
        if len(self.groups) > MOST_LINES:
            return []
        for name in dict.fromkeys(name for row in self.rows for name in row.latencies):
            lines = []
            for group in self.groups:
                if not (pooled := group.latencies(name)):
                    continue
                at = [values.index(shown(group.at[axis])) if axis in group.at else 0
                      for axis, values in ((first, colors), (x, dashes))]  # fmt: skip
                if not first:
                    at = [at[1], 0]
                lines.append((*drawing.cdf(pooled), {
                    "color": COLORS[at[0] % len(COLORS)], "linestyle": LINES[at[1] % len(LINES)], "of": pooled,
                    "label": charts.label(" ".join(map(shown, group.at.values())) or "all runs"),
                }))  # fmt: skip
            svgs: list[str] = []
            height = charts.HEIGHT + LINE_HEIGHT * max(0, (len(lines) + 1) // 2 - 2)  # a legend of two columns
            with made.figure(svgs, f"Latencies of {name}", height=height) as axes:
                drawing.draw_cdf(made, axes, lines)
            found += [Figure(svg, name, of=self.study.name) for svg in svgs]
        return found

    def pictures(self) -> dict[str, bytes]:
        """Return each chart as SVG, PDF and PNG, in fixed colours."""
        import matplotlib
        import matplotlib.pyplot as plt

        made: dict[str, bytes] = {}
        for one in self.study.measures:
            with matplotlib.rc_context(cast(Any, _light())), warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Glyph ")
                figure, axes = plt.subplots(figsize=(charts.WIDTH * 1.25, charts.HEIGHT * 1.25))
                try:
                    draw(axes, self.study, self.groups, one, LIGHT)
                    for form, metadata in FORMS.items():
                        raw = io.BytesIO()
                        figure.savefig(raw, format=form, facecolor="white", dpi=DPI, metadata=metadata)
                        made[f"{figures.file_name(one.name)}.{form}"] = raw.getvalue()
                        figure.set_layout_engine("none")  # of the first one; to make it again takes as long
                finally:
                    plt.close(figure)
        return made


def _scipy_version() -> str:
    stats.scipy_stats()
    import scipy

    return str(scipy.__version__)


def _plain(name: str, sums: str) -> tuple[str, str]:
    """Return a result's sums without the files that name the host."""
    from .store import ABOUT_HOST

    found = {key: value for key, value in json.loads(sums or "{}").items() if key not in ABOUT_HOST}
    return name, json.dumps(found, sort_keys=True)


def _light() -> dict[str, Any]:
    return {key: LIGHT.get(value, value) if isinstance(value, str) else value for key, value in charts.STYLE.items()}


def _is_base(group: Group, baseline: Point) -> bool:
    return all(group.at[axis] == value for axis, value in baseline.items())


def _effect(by: Difference | None) -> str:
    return "" if not by or by.effect is None else f"{by.effect:+.1f}"


def _words(point: Point) -> str:
    return " ".join(f"{axis.rpartition('.')[2]}={shown(value)}" for axis, value in point.items()) or "the run"


def _reason(row: Row) -> str:
    """Return why a run has no result, or lacks measures."""
    return row.reason or "; ".join(f"{name}: {why}" for name, why in row.lacks.items())


def _page_of(row: Row) -> str:
    return f"runs/{row.hash[:12]}.html"


def _typed(values: list[Value]) -> list[Value]:
    """Return the values of an axis as one type: all true or false, all whole numbers, all numbers, or text."""
    if all(isinstance(value, bool) for value in values):
        return values
    if all(map(_is_number, values)):
        if all(isinstance(value, int) and abs(value) < 1 << 63 for value in values):
            return values
        if any(isinstance(value, float) for value in values):
            return [float(value) for value in values]
    return [shown(value) for value in values]


def _csv(rows: Iterable[Sequence[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def _aligned(rows: list[list[str]]) -> Iterable[str]:
    """Return a table as lines."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths))


def _axis_facts(study: Study) -> list[str]:
    return [f"{axis}: {', '.join(map(shown, values))}" if len(values) <= 6 else f"{axis}: {len(values)} values"
            for axis, values in study.axes.items()]  # fmt: skip


def _chart_words(study: Study) -> list[str]:
    x, first, *rest = _roles(study)
    told = [f"across: {x}"] if x else []
    told += [f"colour: {first}"] if first else []
    told += [f"line and marker: {' and '.join(rest)}"] if rest else []
    over = " and ".join(study.over) or "one run"
    return [*told, f"bars: {100 * study.confidence:g} % intervals over {over}", "dots: runs"]


# ---- charts


def _is_number(value: Value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _roles(study: Study) -> list[str]:
    """Return the axis that runs across the chart (the last one of numbers), then the others; "" for none."""
    axes = {axis: values for axis, values in study.axes.items() if axis in study.groups and len(values) > 1}
    numeric = [axis for axis, values in axes.items() if all(map(_is_number, values))]
    x = max(numeric, key=lambda axis: len(axes[axis])) if numeric else (list(axes) or [""])[-1]
    others = [axis for axis in axes if axis != x]
    return [x, *(others or [""])]


def draw(axes: Any, study: Study, found: list[Group], one: Measure, light: dict[str, str] | None = None) -> None:
    """Draw a measure of all groups with its intervals."""
    x, first, *rest = _roles(study)
    numeric = bool(x) and all(map(_is_number, study.axes[x]))
    places = {shown(value): value if numeric else at for at, value in enumerate(study.axes[x] if x else [""])}
    lines: dict[tuple[str, ...], list[Group]] = {}
    for group in found:
        if one.name in group.intervals:
            lines.setdefault(tuple(shown(group.at[axis]) for axis in (first, *rest) if axis), []).append(group)
    colors = list(dict.fromkeys(key[0] for key in lines if key))
    styles = list(dict.fromkeys(key[1:] for key in lines))
    for key, members in lines.items():
        color = COLORS[(colors.index(key[0]) if key else 0) % len(COLORS)]
        style = styles.index(key[1:])
        shift = 0.0 if numeric else 0.12 * (list(lines).index(key) - (len(lines) - 1) / 2)
        members = sorted(members, key=lambda group: float(places[shown(group.at[x])]) if x else 0.0)
        xs = [float(places[shown(group.at[x])] if x else 0) + shift for group in members]
        intervals = [group.intervals[one.name] for group in members]
        centres = [each.centre for each in intervals]
        ink = (light or {}).get(color, color)
        ends = [(each.low, each.high) if each.low is not None else (each.centre, each.centre) for each in intervals]
        axes.vlines(xs, [low for low, _ in ends], [high for _, high in ends], color=ink, linewidth=1.2)
        dots = [(at, row.values[one.name]) for at, group in zip(xs, members) for row in group.rows
                if one.name in row.values]  # fmt: skip
        axes.plot(*zip(*dots), color=ink, marker=".", markersize=3, alpha=0.35, linestyle="none", label="_runs")
        axes.plot(xs, centres, color=ink, marker=MARKERS[style % len(MARKERS)], markersize=4,
                  linestyle=LINES[style % len(LINES)] if numeric else "none",
                  label=charts.label(" ".join(key) or one.name))  # fmt: skip
    _finish(axes, x, one, {} if numeric else places)
    if len(lines) > 1:
        charts.legend(axes, 2 if max(len(" ".join(key)) for key in lines) > 12 else 3)


def _finish(axes: Any, x: str, one: Measure, names: dict[str, Any]) -> None:
    axes.set_ylabel(heading(one))
    axes.set_xlabel(x)
    if names:
        told = [name if len(name) <= WIDTH else f"{name[: WIDTH - 1]}…" for name in names]
        axes.set_xticks(list(names.values()), told)
        axes.set_xlim(-0.5, len(names) - 0.5)


# ---- all of it


def write(outputs: Outputs, folder: Path, text: str) -> None:
    """Write all files into a folder."""
    files: dict[str, bytes] = {
        "report.txt": text.encode(), "runs.csv": outputs.runs_csv().encode(),
        "groups.csv": outputs.groups_csv().encode(), "index.html": outputs.page().encode(), **outputs.pictures(),
        **(outputs.run_pages() if outputs.pages else {}),
    }  # fmt: skip
    if table := outputs.runs_parquet():
        files["runs.parquet"] = table
    try:
        if outputs.pages:
            (folder / "runs").mkdir(exist_ok=True)
        for name, data in files.items():
            path = folder / name
            part = path.with_name(f".{path.name}.part")
            part.write_bytes(data)
            part.replace(path)
    except OSError as error:
        raise SlateError(
            f"can not write {error.filename or folder}: {(error.strerror or str(error)).lower()}",
            "free some space, or name a folder elsewhere with --out; the results themselves are stored",
        ) from None

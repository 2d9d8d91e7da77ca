# SPDX-License-Identifier: GPL-2.0-or-later
"""pictures.py - a figure's SVG. The same rows give the same bytes.

    reproduce pictures STUDY [FIGURE ...] [--results DIR] [--out DIR]

Draws the figures from the tables of a study (docs/results/STUDY/FIGURE.csv), each to OUT/FIGURE.svg. A share of
windows ("cdf") follows from the runs alone, so only a study draws it.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import sys
from pathlib import Path
from typing import Any

import matplotlib

from reproduce.places import ROOT

matplotlib.use("svg")
matplotlib.rcParams.update(
    {"svg.hashsalt": "slate", "svg.fonttype": "none", "font.size": 8, "axes.spines.top": False,
     "axes.spines.right": False}
)  # fmt: skip

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from reproduce.papers import study as studies
from reproduce.papers.figures import Figure
from reproduce.rows import layout, measures
from reproduce.rows.compare import Results, Row
from reproduce.rows.points import StudyError

_PATH = re.compile(r' d="[^"]*"')
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb", "#222222")


def save(figure: Drawing, path: Path) -> None:
    """Save a picture without the date, so that equal pictures are equal files, and each path in one line."""
    figure.tight_layout()
    out = io.StringIO()
    figure.savefig(out, metadata={"Date": None})
    pyplot.close(figure)
    path.write_text(_PATH.sub(lambda found: found[0].replace("\n", " "), out.getvalue()), encoding="utf-8")


def bars(title: str, rows: dict[str, list[Row]], path: Path) -> None:
    """Draw a panel for each unit and accounting, with a group of bars for each trace and a bar for each row.

    The paper's numbers are lines.
    """
    panels = [(a, unit) for a, some in rows.items() for unit in dict.fromkeys(row.unit for row in some)]
    drawn, axes = pyplot.subplots(len(panels) or 1, 1, figsize=(9, 2.6 * max(1, len(panels))), squeeze=False)
    for axis, (accounting, unit) in zip(axes[:, 0], panels):
        panel(axis, [row for row in rows[accounting] if row.unit == unit], f"{unit}\n({accounting})")
        if unit in ("calls", "pages/page"):
            axis.set_yscale("log")
    axes[0, 0].set_title(title, loc="left")
    save(drawn, path)


def stack(title: str, rows: dict[str, list[Row]], path: Path) -> None:
    """Draw a panel for each accounting, and a bar for each configuration, divided into the parts of its average."""
    drawn, axes = pyplot.subplots(1, len(rows), figsize=(9, 3), squeeze=False, sharey=True)
    for axis, (accounting, some) in zip(axes[0], rows.items()):
        parts = [(row.what.split(", "), row) for row in some if row.trace == "average" and row.unit == "ms"]
        labels = list(dict.fromkeys(config for (config, _), _ in parts))
        base = dict.fromkeys(labels, 0.0)
        for n, cause in enumerate(dict.fromkeys(cause for (_, cause), _ in parts)):
            for (config, what), row in parts:
                if what == cause and row.ours is not None:
                    label = cause if config == labels[0] else None
                    axis.bar(config, row.ours, 0.6, base[config], label=label, color=COLOURS[n])
                    base[config] += row.ours
        axis.set_ylabel(f"ms ({accounting})")
    axes[0, 0].set_title(title, loc="left")
    axes[0, -1].legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    save(drawn, path)


def panel(axis: Axes, rows: list[Row], unit: str) -> None:
    """Draw one panel."""
    traces = list(dict.fromkeys(row.trace for row in rows))
    labels = list(dict.fromkeys(row.what for row in rows))
    width = 0.8 / len(labels)
    for n, label in enumerate(labels):
        some = [row for row in rows if row.what == label]
        ours = [float("nan") if row.ours is None else row.ours for row in some]
        at = [traces.index(row.trace) - 0.4 + width * (n + 0.5) for row in some]
        colour = COLOURS[n % len(COLOURS)]
        spans = [
            (mean - row.low, row.high - mean) if row.low is not None and row.high is not None else (0, 0)
            for row, mean in zip(some, ours)
        ]
        error: dict[str, Any] = {}
        if any(map(any, spans)):
            error = {"yerr": list(zip(*spans)), "error_kw": {"elinewidth": 0.6}}
        axis.bar(at, ours, width, label=label, color=colour, **error)
        for x, row in zip(at, some):
            if row.paper is not None:
                axis.plot([x - width / 2, x + width / 2], [row.paper] * 2, color="black", linewidth=2)
    axis.axhline(0, color="black", linewidth=0.5)
    axis.set_xticks(range(len(traces)), traces, rotation=35, ha="right", fontsize=7)
    axis.set_ylabel(unit)
    axis.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)


def cdf(figure: Figure, results: Results, names: dict[str, str], path: Path) -> None:
    """Draw the cumulative distribution of the windows' write bandwidth, a line for each configuration."""
    drawn, axis = pyplot.subplots(figsize=(9, 3))
    for n, config in enumerate(figure.configs + figure.guests):
        found = results.found[figure.traces[0].tag, config, figure.accountings[0]]
        values = sorted(measures.window_mib_s(found, figure.window_ms))
        axis.step(values, [(k + 1) / len(values) for k in range(len(values))], where="post", linewidth=0.8,
                  label=config.removeprefix("guest-").split("-")[0] + "FTL", color=COLOURS[n])  # fmt: skip
    axis.set_xlabel("write bandwidth, MiB/s")
    axis.set_ylabel(f"share of windows of {figure.window_ms} ms")
    axis.set_title(f"{figure.name}: {figure.title}, {names[figure.traces[0].tag]}", loc="left")
    axis.legend(frameon=False)
    save(drawn, path)


def over_time(title: str, lines: list[dict[str, str]], path: Path) -> None:
    """Draw the write latency over time, with a curve for each configuration. lines: the CSV of tables.series_csv()."""
    drawn, axis = pyplot.subplots(figsize=(9, 3))
    for n, config in enumerate(name for name in lines[0] if name != "minute"):
        known = [line for line in lines if line[config]]
        axis.plot([float(line["minute"]) for line in known], [float(line[config]) for line in known], linewidth=0.7,
                  label=config.upper(), color=COLOURS[n])  # fmt: skip
    axis.set_yscale("log")
    axis.set_xlabel("minutes")
    axis.set_ylabel("mean write latency, ms")
    axis.set_title(title, loc="left")
    axis.legend(frameon=False)
    save(drawn, path)


def draw(figure: Figure, tables: Path, out: Path) -> None:
    """Draw a figure from its CSV in the folder of tables."""
    title, path = f"{figure.name}: {figure.title}", out / f"{figure.name}.svg"
    rows = layout.rows_of((tables / f"{figure.name}.csv").read_text(encoding="utf-8"))
    if figure.picture == "series":
        trace = next(iter(rows.values()))[0].trace
        with open(tables / f"{figure.name}-series.csv", encoding="utf-8") as series:
            over_time(f"{title}, {trace}", list(csv.DictReader(series)), path)
    elif figure.picture == "stack":
        stack(title, rows, path)
    else:
        bars(title, rows, path)


def chosen(study: str, names: list[str], tables: Path) -> list[Figure]:
    """Return the figures of that name, or all that have a table; raises StudyError for one that cannot be drawn."""
    every = {figure.name: figure for figure in studies.of(study, False, None, None).figures()}
    if not tables.is_dir():
        raise StudyError(f"{tables}: is no folder: 'make reproduce-{study}' makes the tables of a study")
    for name in names:
        if name not in every:
            raise StudyError(f"{study} has no figure {name}: it has {', '.join(every)}")
        if every[name].picture == "cdf":
            raise StudyError(f"{name} is drawn from the runs, not from its table: 'make reproduce-{study}' draws it")
        if not (tables / f"{name}.csv").exists():
            raise StudyError(f"{tables}: has no {name}.csv: 'make reproduce-{study}' makes it")
    if names:
        return [every[name] for name in names]
    return [one for one in every.values() if one.picture != "cdf" and (tables / f"{one.name}.csv").exists()]


def main(argv: list[str]) -> int:
    """Run the command line. Returns 1 with a sentence on stderr if a figure cannot be drawn."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description="draw figures from the tables of a study")
    parser.add_argument("study", choices=tuple(studies.KINDS))
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help="default: all of the study")
    parser.add_argument("--results", type=Path, metavar="DIR", help="of the tables (docs/results/STUDY)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="of the pictures (build/reproduce/pictures/STUDY)")
    args = parser.parse_args(argv)
    out = args.out or ROOT / "build/reproduce/pictures" / args.study
    tables = args.results or ROOT / "docs/results" / args.study
    try:
        figures = chosen(args.study, args.figures, tables)
        out.mkdir(parents=True, exist_ok=True)
        for figure in figures:
            draw(figure, tables, out)
    except (StudyError, OSError) as error:
        print(f"reproduce pictures: {error}", file=sys.stderr)
        return 1
    print(f"pictures  {len(figures)} are in {out}")
    return 0

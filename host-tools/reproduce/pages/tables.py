# SPDX-License-Identifier: GPL-2.0-or-later
"""tables.py - a study's tables (Markdown, CSV) and pictures, from its results.

    reproduce tables STUDY OUT [--scale N] [--quick] [--originals DIR]

Writes OUT/README.md, OUT/figNN.csv, and OUT/figNN.svg of the pictures that the page shows; pictures.py draws the
others from the CSV. Every byte follows from the results and the text of this program.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import sys
from pathlib import Path

from reproduce import places
from reproduce.pages import pictures
from reproduce.papers import bands
from reproduce.papers import study as studies
from reproduce.papers.figures import Figure
from reproduce.places import ROOT
from reproduce.rows import layout, measures, volumes
from reproduce.rows.compare import Results, number
from reproduce.rows.points import StudyError


def series_csv(figure: Figure, results: Results) -> str:
    """Return the curves of a figure over time as CSV: ms for each minute, empty if nothing was written."""
    curves = [dict(measures.series(results.found[figure.traces[0].tag, config, figure.accountings[0]]))
              for config in figure.configs]  # fmt: skip
    lines: list[list[str]] = [["minute", *(config.removesuffix("-series") for config in figure.configs)]]
    for at in sorted(set().union(*curves)):
        lines.append([f"{at / 60:g}", *(number(curve[at] / 1000) if at in curve else "" for curve in curves)])
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(lines)
    return out.getvalue()


def display_names(study: studies.Study) -> dict[str, str]:
    """Return the names of traces in tables. A stand-in never has only the name of the trace that it replaces."""
    tags = {trace.tag for figure in study.figures() for trace in figure.traces}
    form = {"originals": "{}", "mixes-originals": "mix {}", "mixes": "mix {}", "standins": "stand-in for {}",
            "recordings": "guest {}"}[study.traces_are]  # fmt: skip
    own = {trace.tag: trace.volume for figure in study.figures() for trace in figure.traces
           if figure.guests or trace.maker == volumes.MAKER}  # fmt: skip
    return {tag: form.format(tag) for tag in tags} | own


def one_figure(
    figure: Figure, results: Results, names: dict[str, str], out: Path, study: studies.Study
) -> list[str]:
    """Write a figure's files; returns its section of README.md."""
    traces = tuple(trace.tag for trace in figure.traces)
    rows = {accounting: figure.rows(results, traces, accounting) for accounting in figure.accountings}
    table = layout.written(out, figure.name, rows, names, study.earlier(figure))
    title = f"{figure.name}: {figure.title}"
    if figure.picture == "series":
        (out / f"{figure.name}-series.csv").write_text(series_csv(figure, results), encoding="utf-8")
    text = [f"## {title}", ""]
    if figure.name in study.kind.pictures:
        text += [f"![{title}]({figure.name}.svg)", ""]
        if figure.picture == "cdf":
            pictures.cdf(figure, results, names, out / f"{figure.name}.svg")
        else:
            pictures.draw(figure, out, out)
    if figure.note:
        text += [figure.note, ""]
    if figure.picture == "series":
        text += [f"The curves: [{figure.name}-series.csv]({figure.name}-series.csv).", ""]
    return text + table


def inputs(study: studies.Study, results: Results) -> list[str]:
    """Return the commands and checksums."""
    traces, rows = {}, {}
    for (tag, _, _), result in sorted(results.found.items()):
        if "inputs" in result:
            traces[tag] = result["inputs"][0]
            rows[tag] = traces[tag]["rows"] // result["replay"]["repeat"]
    names = display_names(study)
    # a content trace's name is its own checksum, however it was packed
    sums = {tag: one["content"]["name"] if one.get("content") else one["sha256"] for tag, one in traces.items()}
    text = ["## Inputs", "", "| trace | requests | SHA-256 |", "| --- | --- | --- |"]
    text += [f"| {names[tag]} | {rows[tag]} | `{sums[tag]}` |" for tag in traces]
    mixes = "Mixes: `python3 host-tools/reproduce mix NAME"
    stand_ins = "Stand-ins: `python3 host-tools/reproduce standin VOLUME"
    programs = {"originals": "", "mixes-originals": mixes, "mixes": mixes, "standins": stand_ins, "recordings": ""}
    program = programs[study.traces_are]
    if study.traces_are == "recordings":
        text += [
            "",
            "Guests: `slate run --content NAME --record-content FILE`; heads: `tests/traces/README.md`. The sums are "
            "the recordings' names (`slate content FILE`). Settings are the first trace's: fingerprints differ.",
        ]
    seed = ", seed 1" if study.traces_are == "standins" else ""
    options = "[--seed N] [--like TRACE]" if study.kind.banded else "[--set KEY=VALUE]"
    named = " unless named" if study.kind.banded else ""
    text += ["", f"{program} --scale {study.scale} {options}`{seed}{named}.", ""] if program else [""]
    text += ["## Commands", "", "Each run is `slate-replay --profile nand-emu/profiles/P.ini --set ... TRACE`:", ""]
    seen = set()
    text += ["| run | profile | options | settings |", "| --- | --- | --- | --- |"]
    for point in study.points():
        if point.config not in seen:
            seen.add(point.config)
            sets = " ".join(s for s in point.sets if not s.startswith("ftl.accounting"))
            changed = f", with trials/{point.patch}.patch" if point.patch else ""
            text.append(f"| {point.config}{changed} | {point.profile} | `{' '.join(point.args)}` | `{sets}` |")
    for run in study.guest_runs():
        options = " ".join(("--kernel small", *run.args, "--job", run.job))
        depth = f", with iodepth={run.depth}" if run.depth else ""
        text.append(f"| {run.config} | {run.profile} | `slate run {options}`{depth} | `{' '.join(run.sets)}` |")
    digest = hashlib.sha256()
    for point in sorted(study.points(), key=lambda p: p.id):
        digest.update((ROOT / study.point_file(point)).read_bytes())
    return [*text, "", f"SHA-256 over all {len(study.points())} results: `{digest.hexdigest()}`.", ""]


def write(study: studies.Study, out: Path) -> None:
    """Write all files of a study."""
    out.mkdir(parents=True, exist_ok=True)
    results, names = study.results(), display_names(study)
    head, said = layout.sections(places.notes(study.name))
    what = {"originals": "the originals", "mixes-originals": "made workloads and the volumes of TRACES",
            "mixes": "made workloads", "standins": "stand-ins",
            "recordings": "recordings of guests"}[study.traces_are]  # fmt: skip
    full = f"scale 1/{study.scale}" if study.scale > 1 else "full size"
    made = f"`make reproduce-{study.name}{'-quick' if study.quick else ''}`"
    text = [f"# {study.kind.title}", "", f"Made by {made}, on {what}, at {full}. "
            "docs/reproduce.md says what that means. A - is a number that the paper's text does not give.",
            ""]  # fmt: skip
    if not study.quick and not study.originals:
        text += [f"`make pictures STUDY={study.name}` draws the figures from their tables.", "", head, ""]
    guests = bool(study.guest_runs())
    for figure in study.figures():
        if figure.guests and not guests:
            continue
        text += one_figure(figure, results, names, out, study)
        if not study.quick and not study.originals and figure.name in said:
            text += [said[figure.name], ""]
    text += inputs(study, results)
    (out / "README.md").write_text("\n".join(text).rstrip("\n") + "\n", encoding="utf-8")


def main(argv: list[str]) -> int:
    """Run the command line. Returns 1 with a sentence on stderr if something is missing."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description="make a study's tables and pictures from its results"
    )
    parser.add_argument("study", choices=tuple(studies.KINDS))
    parser.add_argument("out", type=Path)
    parser.add_argument("--scale", type=int)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--originals", metavar="DIR")
    parser.add_argument("--seeds", type=int, default=bands.SEEDS)
    args = parser.parse_args(argv)
    try:
        write(studies.of(args.study, args.quick, args.scale, args.originals, args.seeds), args.out)
    except (StudyError, OSError) as error:
        print(f"reproduce tables: {error}", file=sys.stderr)
        return 1
    return 0

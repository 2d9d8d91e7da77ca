# SPDX-License-Identifier: GPL-2.0-or-later
"""study.py - a paper at a scale: which points it has, and where their files are."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path

import figures
import points
from compare import Results
from points import Point, StudyError, Trace

ROOT = Path(__file__).resolve().parents[2]
SCALES = {("pen", False): 32, ("pen", True): 32, ("ippbe", False): 8, ("ippbe", True): 32}
SUFFIXES = (".csv", ".csv.gz", ".csv.zst")


@dataclass(frozen=True)
class Study:
    """name: pen, ippbe. originals: folder of MSR CSV files; None: stand-ins."""

    name: str
    quick: bool
    scale: int
    originals: Path | None = None

    def figures(self) -> list[figures.Figure]:
        """In the paper's order."""
        made = (figures.pen if self.name == "pen" else figures.ippbe)(self.scale)
        if self.quick:
            names = figures.PEN_QUICK_FIGURES if self.name == "pen" else figures.IPPBE_QUICK_FIGURES
            some = figures.PEN_QUICK if self.name == "pen" else figures.IPPBE_QUICK
            made = [
                dataclasses.replace(f, traces=tuple(t for t in f.traces if t.volume in some))
                for f in made
                if f.name in names
            ]
        if self.originals:  # nothing is assumed of them; the first million of a volume is the volume
            made = [
                dataclasses.replace(f, traces=tuple(dict.fromkeys(Trace(t.volume.removesuffix("-1M")) for t in f.traces)))
                for f in made
                if f.name != "assumed"
            ]  # fmt: skip
        return made

    def points(self) -> list[Point]:
        """Every run that a figure needs, once."""
        configs = (points.Pen if self.name == "pen" else points.Ippbe)(self.scale).all()
        found: dict[str, Point] = {}
        for figure in self.figures():
            for trace in figure.traces:
                for name in figure.configs:
                    config = configs[name]
                    args = config.args + self.limit(trace)
                    for accounting in figure.accountings:
                        sets = (*config.sets, f"ftl.accounting={accounting}")
                        point = Point(trace, name, accounting, config.profile, sets, args)
                        found[point.id] = point
        return list(found.values())

    def limit(self, trace: Trace) -> tuple[str, ...]:
        """An original at scale N: its first N-th, if N is not 1."""
        if not self.originals or self.scale == 1:
            return ()
        requests = points.REQUESTS_M.get(trace.volume, 1.0)
        return ("--limit", str(round(requests * 1e6 / self.scale)))

    def original(self, trace: Trace) -> Path:
        """The file of a volume."""
        assert self.originals
        for suffix in SUFFIXES:
            path = self.originals / (trace.volume + suffix)
            if path.exists():
                return path
        raise StudyError(
            f"{self.originals}: has no {trace.volume}.csv (nor .csv.gz, .csv.zst): put the MSR-Cambridge trace "
            "there, or leave TRACES out to run on stand-ins"
        )

    @property
    def folder(self) -> str:
        """Of everything that is computed, from the root."""
        kind = f"{self.name}{'-quick' if self.quick else ''}-{'originals' if self.originals else 'standins'}"
        return f"build/reproduce/{kind}-{self.scale}"

    def trace_file(self, trace: Trace) -> str:
        """Path, from the root."""
        if self.originals:
            return str(self.original(trace).resolve())
        return f"build/reproduce/traces-{self.scale}/standin-{trace.tag}.trace"

    def point_file(self, point: Point) -> str:
        """Path of a result, from the root."""
        return f"{self.folder}/points/{point.id}.json"

    def results(self) -> Results:
        """Of every point; each must be there."""
        found = {}
        for point in self.points():
            text = (ROOT / self.point_file(point)).read_text(encoding="utf-8")
            found[point.trace.tag, point.config, point.accounting] = json.loads(text)
        return Results(found, self.scale)


def of(name: str, quick: bool, scale: int | None, originals: str | None) -> Study:
    """With every trace that it needs, or StudyError."""
    folder = Path(originals) if originals else None
    if folder and not folder.is_dir():
        raise StudyError(f"TRACES={originals}: is no folder: name the one that holds hm_0.csv.gz and the others")
    made = Study(name, quick, scale or (1 if folder and not quick else SCALES[name, quick]), folder)
    if folder:
        for figure in made.figures():
            for trace in figure.traces:
                made.original(trace)
    return made

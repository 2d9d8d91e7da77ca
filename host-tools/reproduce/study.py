# SPDX-License-Identifier: GPL-2.0-or-later
"""study.py - a paper at a scale: which points it has, and where their files are."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import figures
import mix
import points
import rps
import spread
from compare import Results
from points import Point, StudyError, Trace

ROOT = Path(__file__).resolve().parents[2]
GUEST_NEEDS = ("build/qemu/READY", "build/guest/small/vmlinux")  # make build guest-kernel
SUFFIXES = (".csv", ".csv.gz", ".csv.zst")


@dataclass(frozen=True)
class Kind:
    """A paper: its drives (a class that takes the scale), figures, and what of them a quick study has.

    mixes: its traces are of mixes.toml.
    """

    title: str
    drives: Callable
    figures: Callable[[int], list[figures.Figure]]
    scale: int
    quick_scale: int
    quick_volumes: tuple[str, ...]
    quick_figures: tuple[str, ...]
    mixes: bool = False


KINDS = {
    "pen": Kind("PEN: Liu, Kotra, Jung, Kandemir, FAST 2018", points.Pen, figures.pen, 32, 32,
                figures.PEN_QUICK, figures.PEN_QUICK_FIGURES),
    "ippbe": Kind("IPPBE: Garrett, Yang, Zhang, ISLPED 2018", points.Ippbe, figures.ippbe, 8, 32,
                  figures.IPPBE_QUICK, figures.IPPBE_QUICK_FIGURES),
    "spread": Kind("SPREAD and spFTL: J. Park, dissertation, Seoul National University, 2019, chapter 4",
                   spread.Spread, spread.spread, 8, 16, spread.QUICK, spread.QUICK_FIGURES, True),
    "rps": Kind("RPS and flexFTL: J. Park, dissertation, Seoul National University, 2019, chapter 3",
                rps.Rps, rps.rps, 4, 8, rps.QUICK, rps.QUICK_FIGURES, True),
}  # fmt: skip


@dataclass(frozen=True)
class Study:
    """name: of KINDS. originals: folder of MSR CSV files; None: stand-ins."""

    name: str
    quick: bool
    scale: int
    originals: Path | None = None

    def figures(self) -> list[figures.Figure]:
        """In the paper's order."""
        made = self.kind.figures(self.scale)
        if self.quick:
            made = [
                dataclasses.replace(f, traces=tuple(t for t in f.traces if t.volume in self.kind.quick_volumes))
                for f in made
                if f.name in self.kind.quick_figures
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
        configs = self.kind.drives(self.scale).all()
        found: dict[str, Point] = {}
        for figure in self.figures():
            for trace in figure.traces:
                for name in figure.configs:
                    config = configs[name]
                    args = config.args + self.trace_args(trace)
                    for accounting in figure.accountings:
                        sets = (*config.sets, *self.trace_sets(trace), f"ftl.accounting={accounting}")
                        point = Point(trace, name, accounting, config.profile, sets, args)
                        found[point.id] = point
        return list(found.values())

    def trace_args(self, trace: Trace) -> tuple[str, ...]:
        """A mix: on a full drive, after its warm-up. An original at scale N: its first N-th, if N is not 1."""
        if self.kind.mixes:
            warm = mix.not_counted(mix.mix_of(trace.volume, dict(trace.settings)), self.scale)
            return ("--fill", "1000", *(("--warmup", str(warm)) if warm else ()))
        if not self.originals or self.scale == 1:
            return ()
        requests = points.REQUESTS_M.get(trace.volume, 1.0)
        return ("--limit", str(round(requests * 1e6 / self.scale)))

    def trace_sets(self, trace: Trace) -> tuple[str, ...]:
        """A mix: the drive exports what it goes over."""
        if not self.kind.mixes:
            return ()
        made = mix.mix_of(trace.volume, dict(trace.settings))
        return (f"ftl.capacity_mib={int(made.foot_gib * 1024 / self.scale)}",)

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
    def kind(self) -> Kind:
        """Which paper."""
        return KINDS[self.name]

    @property
    def traces_are(self) -> str:
        """What they are."""
        return "originals" if self.originals else "mixes" if self.kind.mixes else "standins"

    @property
    def folder(self) -> str:
        """Of everything that is computed, from the root."""
        kind = f"{self.name}{'-quick' if self.quick else ''}-{self.traces_are}"
        return f"build/reproduce/{kind}-{self.scale}"

    def trace_file(self, trace: Trace) -> str:
        """Path, from the root."""
        if self.originals:
            return str(self.original(trace).resolve())
        return f"build/reproduce/traces-{self.scale}/{trace.maker}-{trace.tag}.trace"

    def point_file(self, point: Point) -> str:
        """Path of a result, from the root."""
        return f"{self.folder}/points/{point.id}.json"

    def guest_files(self) -> dict[str, str]:
        """Figure 18 is run in a guest, too, where there is one: path of a result by fio job."""
        there = all((ROOT / name).exists() for name in GUEST_NEEDS)
        if self.name != "spread" or self.quick or not there:
            return {}
        return {name: f"{self.folder}/points/{name}/{spread.GUEST}.device.json" for name in spread.AMPLIFIED}

    def guest_sets(self) -> tuple[str, ...]:
        """Of its drive: pageFTL's."""
        sets = self.kind.drives(self.scale).all()["page"].sets
        return (*sets, *self.trace_sets(Trace(spread.AMPLIFIED[0])), "ftl.payload=no")

    def results(self) -> Results:
        """Of every point; each must be there."""
        found = {}
        for name, path in self.guest_files().items():
            found[name, spread.GUEST, "device"] = json.loads((ROOT / path).read_text(encoding="utf-8"))
        for point in self.points():
            text = (ROOT / self.point_file(point)).read_text(encoding="utf-8")
            found[point.trace.tag, point.config, point.accounting] = json.loads(text)
        return Results(found, self.scale)


def of(name: str, quick: bool, scale: int | None, originals: str | None) -> Study:
    """With every trace that it needs, or StudyError."""
    folder = Path(originals) if originals else None
    if folder and not folder.is_dir():
        raise StudyError(f"TRACES={originals}: is no folder: name the one that holds hm_0.csv.gz and the others")
    kind = KINDS[name]
    if folder and kind.mixes:
        raise StudyError(f"TRACES={originals}: {name}'s traces were never published: leave TRACES out")
    usual = kind.quick_scale if quick else kind.scale
    made = Study(name, quick, scale or (1 if folder and not quick else usual), folder)
    if folder:
        for figure in made.figures():
            for trace in figure.traces:
                made.original(trace)
    return made

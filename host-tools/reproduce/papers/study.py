# SPDX-License-Identifier: GPL-2.0-or-later
"""study.py - a study: a paper at a scale. It knows the points and the paths of their files."""

from __future__ import annotations

import csv
import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from reproduce.papers import bands, dac, figures, rps, rps_causes, spread
from reproduce.papers.figures import Figure
from reproduce.places import ROOT
from reproduce.rows import points, volumes
from reproduce.rows.compare import Results
from reproduce.rows.points import GuestRun, Point, StudyError, Trace
from reproduce.traces import mix
from slate_lib import paths

GUEST = f"build/guest/{paths.GUEST.name}"
GUEST_NEEDS = ("build/qemu/READY", f"{GUEST}/small/vmlinux")  # make build guest-kernel
RECORD_NEEDS = ("build/qemu/READY", *(f"{GUEST}/{name}" for name in ("vmlinux", "apps.img", "content.img")))
RECORDINGS = "build/reproduce/content"  # of guests
HEADS = "tests/traces"
SUFFIXES = (".csv", ".csv.gz", ".csv.zst")
Beside = Callable[[list[Figure], tuple[Trace, ...]], list[Figure]]


class Drives(Protocol):
    """Offers the configurations of a paper's drive."""

    def all(self) -> dict[str, points.Config]: ...


@dataclass(frozen=True)
class Kind:
    """Describes a paper: its drives (a class that takes the scale), its figures, and their part in a quick study.

    mixes: its traces are those of mixes.toml. content: its traces are recordings of guests; a quick study uses
    their heads. guests: the part that also runs in a guest, if there is one. beside: adds real volumes (volumes.py)
    to the figures that have them. earlier: a folder of docs/results with earlier results, and the head of their column.
    banded: every figure is over several seeds and fits (bands.py).
    """

    title: str
    drives: Callable[[int], Drives]
    figures: Callable[[int], list[figures.Figure]]
    scale: int
    quick_scale: int
    quick_volumes: tuple[str, ...]
    quick_figures: tuple[str, ...]
    mixes: bool = False
    guests: Callable[[int], list[GuestRun]] = lambda _: []
    content: bool = False
    beside: Beside | None = None
    earlier: tuple[str, str] | None = None
    banded: bool = False
    pictures: tuple[str, ...] = ()  # those that the page shows


KINDS = {
    "pen": Kind("PEN: Liu, Kotra, Jung, Kandemir, FAST 2018", points.Pen, figures.pen, 32, 32,
                figures.PEN_QUICK, figures.PEN_QUICK_FIGURES, pictures=("fig05", "fig12a", "fig15b")),
    "pen-bands": Kind("PEN: bands over seeds and fits of the stand-ins", points.Pen, bands.pen, 32, 32,
                      figures.PEN_QUICK, bands.QUICK_FIGURES, banded=True),
    "pen-choices": Kind("PEN: what its text leaves open", points.PenChoices, figures.pen_choices, 32, 32,
                        figures.CHOICES_QUICK, figures.CHOICES_QUICK_FIGURES),
    "ippbe": Kind("IPPBE: Garrett, Yang, Zhang, ISLPED 2018", points.Ippbe, figures.ippbe, 8, 32,
                  figures.IPPBE_QUICK, figures.IPPBE_QUICK_FIGURES, pictures=("fig06", "fig11")),
    "ippbe-bands": Kind("IPPBE: bands over seeds and fits of the stand-ins", points.Ippbe, bands.ippbe, 32, 32,
                        figures.IPPBE_QUICK, bands.IPPBE_QUICK_FIGURES, banded=True),
    "ippbe-choices": Kind("IPPBE: what its text leaves open besides", points.IppbeChoices, figures.ippbe_choices,
                          32, 32, figures.IPPBE_QUICK, figures.IPPBE_CHOICES_QUICK_FIGURES),
    "spread": Kind("SPREAD and spFTL: J. Park, dissertation, Seoul National University, 2019, chapter 4",
                   spread.Spread, spread.spread, 8, 16, spread.QUICK, spread.QUICK_FIGURES, True, spread.guests,
                   beside=spread.beside, pictures=("fig18a", "fig22")),
    "spread-choices": Kind("SPREAD and spFTL: what the text leaves open besides", spread.SpreadChoices,
                           spread.spread_choices, 8, 16, spread.QUICK, spread.CHOICES_QUICK_FIGURES, True),
    "rps": Kind("RPS and flexFTL: J. Park, dissertation, Seoul National University, 2019, chapter 3",
                rps.Rps, rps.rps, 1, 8, rps.QUICK, rps.QUICK_FIGURES, True, rps.guests,
                earlier=("rps-4", "at 1/4"), pictures=("alike-fig13", "fig15", "alike-fig15", "guest-fig15")),
    "rps-choices": Kind("RPS and flexFTL: what the text leaves open besides", rps.RpsChoices, rps.rps_choices, 4, 8,
                        rps.QUICK, rps.CHOICES_QUICK_FIGURES, True),
    "rps-causes": Kind("RPS and flexFTL: why numbers are off", rps_causes.RpsCauses, rps_causes.rps_causes, 4, 8,
                       rps.QUICK, rps_causes.QUICK_FIGURES, True),
    "dac": Kind("DAC: J. Park, dissertation, Seoul National University, 2019, chapter 5",
                dac.Dac, dac.dac, 256, 256, dac.QUICK, dac.QUICK_FIGURES, content=True, pictures=("fig28",)),
    "dac-choices": Kind("DAC: what the text leaves open besides", dac.DacChoices, dac.dac_choices, 256, 256,
                        dac.QUICK, dac.CHOICES_QUICK_FIGURES, content=True),
}  # fmt: skip


@dataclass(frozen=True)
class Study:
    """A study. name: a key of KINDS. originals: folder of real traces; None: only made ones. seeds: of bands."""

    name: str
    quick: bool
    scale: int
    originals: Path | None = None
    seeds: int = bands.SEEDS

    def figures(self) -> list[figures.Figure]:
        """Return the figures in the paper's order."""
        made = self.kind.figures(self.scale)
        if self.quick:
            made = [
                dataclasses.replace(f, traces=tuple(t for t in f.traces if self._quick(t)))
                for f in made
                if f.name in self.kind.quick_figures
            ]
        if self.quick and self.kind.content:
            made = [
                dataclasses.replace(
                    f, traces=tuple(dataclasses.replace(t, volume=f"{t.volume}-head") for t in f.traces)
                )
                for f in made
            ]
        if self.kind.banded:
            made = [bands.banded(figure, self.seeds) for figure in made]
        if self.originals and self.kind.beside:
            return self.kind.beside(made, volumes.traces(self.originals))
        if self.originals:  # nothing is assumed of them; the first million of a volume is the volume
            made = [
                dataclasses.replace(
                    f, traces=tuple(dict.fromkeys(Trace(t.volume.removesuffix("-1M")) for t in f.traces))
                )
                for f in made
                if f.name not in figures.OF_STAND_INS
            ]
        return made

    def _quick(self, trace: Trace) -> bool:
        """Does a quick study have the trace? It has a few, each with one seed that they share."""
        return trace.volume in self.kind.quick_volumes and "seed" not in dict(trace.settings)

    def points(self) -> list[Point]:
        """Return every run that a figure needs, once."""
        configs = self.kind.drives(self.scale).all()
        found: dict[str, Point] = {}
        for figure in self.figures():
            for trace in figure.traces if not figure.guests else ():
                for name in figure.configs:
                    config = configs[name]
                    args = config.args + self.trace_args(trace)
                    for accounting in figure.accountings:
                        sets = (
                            *config.sets,
                            *config.of_trace(trace),
                            *self.trace_sets(trace),
                            f"ftl.accounting={accounting}",
                        )
                        point = Point(trace, name, accounting, config.profile, sets, args, config.patch)
                        found[point.id] = point
        return list(found.values())

    def trace_args(self, trace: Trace) -> tuple[str, ...]:
        """Return the options for a trace.

        A mix runs on a full drive, after its warm-up. Of an original at scale N only the first N-th is used, but a
        volume beside mixes is replayed whole.
        """
        if trace.maker == volumes.MAKER:
            return ("--fill", "100", "--fold")
        if self.kind.mixes:
            warm = mix.not_counted(mix.mix_of(trace.volume, dict(trace.settings)), self.scale)
            return ("--fill", "100", *(("--warmup", str(warm)) if warm else ()))
        if not self.originals or self.scale == 1:
            return ()
        requests = points.REQUESTS_M.get(trace.volume, 1.0)
        return ("--limit", str(round(requests * 1e6 / self.scale)))

    def trace_sets(self, trace: Trace) -> tuple[str, ...]:
        """Return the settings for a mix, or a volume beside it: the drive exports the capacity that the mix covers."""
        if not self.kind.mixes:
            return ()
        name = volumes.mix_of(trace.volume) if trace.maker == volumes.MAKER else trace.volume
        made = mix.mix_of(name, dict(trace.settings))
        return (f"ftl.capacity_mib={int(made.foot_gib * 1024 / self.scale)}",)

    def original(self, trace: Trace) -> Path:
        """Return the file of a volume."""
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
        """Return the paper."""
        return KINDS[self.name]

    @property
    def traces_are(self) -> str:
        """Return a description of the traces."""
        if self.originals:
            return "mixes-originals" if self.kind.beside else "originals"
        return "mixes" if self.kind.mixes else "recordings" if self.kind.content else "standins"

    @property
    def folder(self) -> str:
        """Return the folder of all computed files, relative to the root."""
        kind = f"{self.name}{'-quick' if self.quick else ''}-{self.traces_are}"
        return f"build/reproduce/{kind}-{self.scale}"

    def trace_file(self, trace: Trace) -> str:
        """Return the path of a trace, relative to the root."""
        if self.originals and trace.maker == volumes.MAKER:
            return str(volumes.found(self.originals)[trace.volume].resolve())
        if self.originals and not self.kind.beside:
            return str(self.original(trace).resolve())
        if self.kind.content:
            return f"{HEADS if self.quick else RECORDINGS}/{trace.tag}.content"
        return f"build/reproduce/traces-{self.scale}/{trace.maker}-{trace.tag}.trace"

    def point_file(self, point: Point) -> str:
        """Return the path of a result, relative to the root."""
        return f"{self.folder}/points/{point.id}.json"

    def recorders(self) -> tuple[str, ...]:
        """Return the files that make the recordings, relative to the root."""
        return RECORD_NEEDS if self.kind.content and not self.quick else ()

    def guest_runs(self) -> list[GuestRun]:
        """Return the runs in guests; a quick study, one on real traces, or one without a guest, has none."""
        there = all((ROOT / name).exists() for name in GUEST_NEEDS)
        return self.kind.guests(self.scale) if there and not self.quick and not self.originals else []

    def guest_files(self, run: GuestRun) -> dict[str, str]:
        """Return the path of a result, relative to the root, by section of the job file."""
        return {section: f"{self.folder}/points/{tag}/{run.config}.device.json" for section, tag in run.tags}

    def earlier(self, figure: Figure) -> tuple[str, dict[tuple[str, ...], str]] | None:
        """Return the earlier results of a figure, if they are stored; only for a full study at its own scale."""
        if not self.kind.earlier or self.quick or self.scale != self.kind.scale:
            return None
        folder, head = self.kind.earlier
        path = ROOT / "docs/results" / folder / f"{figure.name}.csv"
        if not path.exists():
            return None
        with path.open(encoding="utf-8") as text:
            keys = ("accounting", "trace", "what", "unit")
            return head, {tuple(row[key] for key in keys): row["ours"] for row in csv.DictReader(text)}

    def results(self) -> Results:
        """Return the result of every point; all must exist."""
        found = {}
        for run in self.guest_runs():
            for (_, tag), path in zip(run.tags, self.guest_files(run).values()):
                found[tag, run.config, "device"] = json.loads((ROOT / path).read_text(encoding="utf-8"))
        for point in self.points():
            text = (ROOT / self.point_file(point)).read_text(encoding="utf-8")
            found[point.trace.tag, point.config, point.accounting] = json.loads(text)
        for figure in self.figures():
            for trace in figure.traces if figure.sizes else ():
                sizes = mix.read_sizes(ROOT / self.trace_file(trace))
                found[trace.tag, "sizes", "device"] = {"read_sizes": sizes}
        return Results(found, self.scale)


def of(
    name: str, quick: bool, scale: int | None, originals: str | None, seeds: int = bands.SEEDS
) -> Study:
    """Return the study of that name with every trace that it needs. Raises StudyError."""
    folder = Path(originals) if originals else None
    if folder and not folder.is_dir():
        raise StudyError(f"TRACES={originals}: is no folder: name the one that holds hm_0.csv.gz and the others")
    kind = KINDS[name]
    if folder and (kind.mixes or kind.content) and not kind.beside:
        raise StudyError(f"TRACES={originals}: {name}'s traces were never published: leave TRACES out")
    if folder and kind.banded:
        raise StudyError(f"TRACES={originals}: {name} is over fits and seeds of stand-ins: leave TRACES out")
    usual = kind.quick_scale if quick else kind.scale
    made = Study(name, quick, scale or (1 if folder and not quick else usual), folder, seeds)
    if folder:
        for figure in made.figures():
            for trace in figure.traces:
                made.trace_file(trace)
    return made

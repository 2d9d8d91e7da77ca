# SPDX-License-Identifier: GPL-2.0-or-later
"""causes.py - experiments on claims whose numbers are off (docs/results/README.md), each with one thing changed.

    reproduce causes [RECORDINGS=DIR] [NAME ...] [--jobs N] [--out DIR]

NAME: a key of EXPERIMENTS (default: all). An experiment runs configurations of a study, some with other settings or
by a slate-replay with a patch (patched.py), and makes figures as the studies do. DIR has recordings of guests
(iot.content, pc.content); without it the experiments that need them are left out. Writes the tables and README.md
to the folder of --out (default: docs/results/causes; build/reproduce/causes/some if an experiment is left out).
Results of replays are kept in build/reproduce/causes.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from reproduce import places
from reproduce.papers import dac
from reproduce.papers import study as studies
from reproduce.papers.figures import OURS, Figure, volumes
from reproduce.papers.spread import each
from reproduce.places import ROOT
from reproduce.real import patched
from reproduce.rows import layout, measures
from reproduce.rows.compare import Results, absolute, change, relative, times
from reproduce.rows.points import MERGES, StudyError, Trace
from reproduce.studies.scale import kept, newer, said
from reproduce.traces import fits
from reproduce.traces.realtrace import TraceError

TRACES = places.PACKAGE / "traces"
NOTES = places.notes("causes")
KEPT = ROOT / "build/reproduce/causes"
REPLAY = ROOT / "build/core/slate-replay"
SEEDS = 5
FITS = sorted(fits.load())
SOME_FITS = FITS[:4]  # the first by name, for time
NAMED = ("prn_1", "proj_0", "prxy_0")  # the volumes that the text of figure 14c names
LIMITS = (16, 4, 1)  # M-Merges of a block between two whole erases
MATCHES = (1, 2, 3, 4)  # sub-pages of four in which a reference must be equal; 1 is published
NINE = ("stg_0-1M", "src2_0-1M", "rsrch_0-1M", "src1_2", "hm_0", "proj_0", "prxy_0", "prn_0", "prn_1")


@dataclass(frozen=True)
class Variant:
    """Describes a configuration of a study, perhaps with more settings, or run by a patched slate-replay."""

    config: str
    sets: tuple[str, ...] = ()
    patch: str = ""  # of patched.py


@dataclass(frozen=True)
class Experiment:
    """Describes some figures of a study at a scale. variants: by the names that the figures have for them."""

    study: studies.Study
    variants: dict[str, Variant]
    figures: list[Figure]

    def runs(self) -> list[tuple[Trace, str]]:
        """Return every trace with every variant that a figure needs, once."""
        return list(dict.fromkeys((t, name) for f in self.figures for t in f.traces for name in f.configs))


# ---- PEN ---------------------------------------------------------------------------

# The patched program has settings that the unpatched one does not use there: M-Merges of a block between two whole
# erases; equal sub-pages that a reference needs.
PATCH = "causes"
SETTING = "ftl.gc_slice_pages"
UNLIMITED = (f"{SETTING}=65536",)


def wear_by_w() -> Experiment:
    """Divide the VEP of figure 14c into the variance between blocks and that within them."""
    labels = {"nftl": "NFTL (no M-Merge)", **{f"W{w}": f"W = {w}" for w in MERGES}}
    variants = {f"W{w}": Variant("pen" if w == 16 else f"pen-W{w}", UNLIMITED, PATCH) for w in MERGES}
    variants["nftl"] = Variant("nftl", UNLIMITED, PATCH)
    made = [
        Figure(f"wear-{name}", title, tuple(variants), volumes(*NAMED), each(absolute(measure, labels, unit)), OURS)
        for name, title, measure, unit in (
            ("aep", "Mean erases of a page (AEP), PEN by W", measures.aep, "erases"),
            ("vep", "Variance of the erases of a page (VEP), PEN by W", measures.vep, "erases^2"),
            ("between", "Its part between blocks: variance of the blocks' means", measures.between_blocks, "erases^2"),
            ("within", "Its part within blocks: mean variance of a block's pages", measures.within_blocks, "erases^2"),
        )
    ]  # fmt: skip
    return Experiment(studies.Study("pen", False, 32), variants, made)


def varied(volume: str, seeds: int, like: list[str]) -> tuple[Trace, ...]:
    """Return a volume's stand-in, the same with other seeds, and stand-ins with the settings fitted to real traces."""
    more = tuple(Trace(volume, (("seed", n),)) for n in range(2, seeds + 1))
    return (Trace(volume), *more, *(Trace(volume, like=name) for name in like))


def more_blocks() -> Experiment:
    """Compare Superblock's 4:8 with its 4:5 on stg_1 with other seeds and localities."""
    variants = {name: Variant(name) for name in ("sb45", "sb48")}
    rows = each(relative(measures.write_us, "sb45", {"sb48": "4:8"}, times))
    figure = Figure("super-base-varied", "Write latency of Superblock 4:8 against 4:5, without PEN, by seed and fit",
                    tuple(variants), varied("stg_1", SEEDS, FITS), rows, OURS)  # fmt: skip
    return Experiment(studies.Study("pen", False, 32), variants, [figure])


def superblock_wear() -> Experiment:
    """Find what raises VEP on Superblock (figure 17c): where the erases are, what W counts, the locality."""
    variants = {"without": Variant("sb45", UNLIMITED, PATCH), "pen": Variant("sb45-pen", UNLIMITED, PATCH)}
    variants |= {f"limit{n}": Variant("sb45-pen", (f"{SETTING}={n}",), PATCH) for n in LIMITS}
    limited = {"pen": "W of a superblock", **{f"limit{n}": f"and {n} of a block" for n in LIMITS}}
    parts = {"without": "without PEN", **{name: f"PEN, {label}" for name, label in limited.items()}}
    two, usr = volumes("usr_2", "proj_2"), varied("usr_2", 1, SOME_FITS)
    made = [
        Figure(f"super-limit-{name}", f"{what} of PEN on Superblock 4:5 against Superblock, by the M-Merges of a block",
               tuple(variants), two, each(relative(measure, "without", limited, times)), OURS)
        for name, what, measure in (("vep", "VEP", measures.vep), ("aep", "AEP", measures.aep),
                                    ("wa", "Write amplification", measures.wa))
    ]  # fmt: skip
    made += [
        Figure(f"super-{name}", title, tuple(variants), two, each(absolute(measure, parts, "erases^2")), OURS)
        for name, title, measure in (
            ("between", "VEP on Superblock 4:5: its part between blocks", measures.between_blocks),
            ("within", "VEP on Superblock 4:5: its part within blocks", measures.within_blocks),
        )
    ]
    rows = each(relative(measures.vep, "without", {"pen": "4:5"}, times))
    made.append(Figure("super-vep-fits", "VEP of PEN on Superblock 4:5 against Superblock, by locality",
                       ("without", "pen"), usr, rows, OURS))  # fmt: skip
    return Experiment(studies.Study("pen", False, 32), variants, made)


# ---- IPPBE -------------------------------------------------------------------------


def least() -> Experiment:
    """Compare the volumes' gains: with a threshold of 64 pages, and with other localities."""
    variants = {"greedy": Variant("greedy"), "pair": Variant("ippbe-64")}
    variants |= {f"{name}-quick": Variant(one.config, ("timing.erase_ns=1",)) for name, one in variants.items()}
    traces = tuple(t for volume in NINE for t in varied(volume, 1, SOME_FITS))
    made = [
        Figure(f"least-{name}", f"{what}, IPPBE with threshold 64 against greedy, by locality",
               (f"greedy{drive}", f"pair{drive}"), traces,
               each(relative(measure, f"greedy{drive}", {f"pair{drive}": "threshold 64"}, change)), OURS)
        for name, drive, what, measure in (
            ("moved", "", "Pages moved by GC", measures.pages_moved),
            ("time", "", "Time in GC", measures.gc_ms),
            ("time-copies", "-quick", "Time in GC where an erase takes 1 ns", measures.gc_ms),
        )
    ]  # fmt: skip
    rows = each(absolute(measures.copies_per_block, {"greedy": "greedy"}, "pages/block"))
    title = "Pages that greedy GC copies for an erased block, by locality"
    made.append(Figure("least-copies", title, ("greedy",), traces, rows, OURS))
    return Experiment(studies.Study("ippbe", False, 32), variants, made)


# ---- DAC ---------------------------------------------------------------------------


def references() -> Experiment:
    """Vary in how many sub-pages a reference must be equal, to tell the choice of references from the content."""
    names = {"dac": "0.5 %", "unlimited": "all fingerprints"}
    variants = {f"{name}{n}": Variant(name, (f"{SETTING}={n}",), PATCH) for name in names for n in MATCHES}
    labels = {f"{name}{n}": f"{label}, {n} equal" for name, label in names.items() for n in MATCHES}
    traces = dac.recorded("iot", "pc")
    made = [
        Figure(f"matches-{name}", title, tuple(variants), traces, each(absolute(measure, labels, unit)), OURS)
        for name, title, measure, unit in (
            ("share", "Share of units with a reference, by the sub-pages of four that must be equal",
             measures.reference_share, "share"),
            ("dac", "Size of these, with the reference", measures.reference_ratio, "bytes/byte"),
            ("normal", "Size of the same units, compressed alone", measures.plain_ratio, "bytes/byte"),
        )
    ]  # fmt: skip
    return Experiment(studies.Study("dac", False, 256), variants, made)


EXPERIMENTS: dict[str, Callable[[], Experiment]] = {
    "wear": wear_by_w, "blocks": more_blocks, "superblock": superblock_wear, "least": least, "references": references,
}  # fmt: skip
RECORDED = ("references",)


# ---- runs --------------------------------------------------------------------------


def source(one: Experiment, trace: Trace, recordings: Path | None) -> Path:
    """Return the path of a trace."""
    if trace.maker == "content":
        assert recordings
        return recordings / f"{trace.volume}.content"
    return ROOT / one.study.trace_file(trace)


def make_trace(path: Path, trace: Trace, scale: int) -> None:
    """Make a stand-in, unless it is there."""
    inputs = [TRACES / "standin.py", TRACES / "workloads.toml", *([TRACES / "fits.toml"] if trace.like else [])]
    if not newer(path, *inputs):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        options = [trace.volume, "--scale", str(scale), *trace.options]
        said([sys.executable, str(places.PACKAGE), "standin", *options, "-o", str(part)], f"standin {trace.tag}")
        os.replace(part, path)


def command(one: Experiment, trace: Trace, name: str) -> list[str]:
    """Return the command line of a run, without the program and the trace."""
    variant = one.variants[name]
    config = one.study.kind.drives(one.study.scale).all()[variant.config]
    sets = [*config.sets, *config.of_trace(trace), *one.study.trace_sets(trace), *variant.sets]
    named = [word for text in sets for word in ("--set", text)]
    return ["--profile", f"nand-emu/profiles/{config.profile}.ini", *named, *config.args, *one.study.trace_args(trace)]


def result(one: Experiment, trace: Trace, name: str, path: Path) -> measures.Result:
    """Return the result of a run."""
    variant = one.variants[name]
    program = patched.built(variant.patch) if variant.patch else REPLAY
    line = [str(program.relative_to(ROOT)), *command(one, trace, name)]
    out = KEPT / f"{one.study.name}-{one.study.scale}/{trace.tag}/{name}.json"
    return kept(out, line, path, f"{trace.tag}, {name}")


def results(one: Experiment, recordings: Path | None, jobs: int) -> Results:
    """Run what is missing, and return all results."""
    runs = one.runs()
    paths = {trace: source(one, trace, recordings) for trace, _ in runs}
    for path in paths.values():
        if recordings and path.parent == recordings and not path.exists():
            raise StudyError(f"RECORDINGS={recordings}: has no {path.name}: 'make reproduce-dac' records one")
    for variant in one.variants.values():
        if variant.patch:
            patched.built(variant.patch)
    with ThreadPoolExecutor(jobs) as pool:
        made = [trace for trace in paths if trace.maker == "standin"]
        list(pool.map(lambda trace: make_trace(paths[trace], trace, one.study.scale), made))
        found = list(pool.map(lambda run: result(one, run[0], run[1], paths[run[0]]), runs))
    return Results({(trace.tag, name, "device"): each for (trace, name), each in zip(runs, found)}, one.study.scale)


def write(out: Path, figure: Figure, names: dict[str, str], found: Results, note: str) -> str:
    """Write a figure's CSV, and return its section of the page."""
    rows = {"device": figure.rows(found, tuple(trace.tag for trace in figure.traces), "device")}
    text = [f"## {figure.name}: {figure.title}", "", *layout.written(out, figure.name, rows, names), note]
    return "\n".join(text).rstrip() + "\n"


def page(out: Path, made: dict[str, tuple[Experiment, Results]]) -> None:
    """Write the tables and the page."""
    out.mkdir(parents=True, exist_ok=True)
    head, notes = layout.sections(NOTES)
    parts = [head + "\n"]
    for one, found in made.values():
        for figure in one.figures:
            kind = "guest" if figure.traces[0].maker == "content" else "stand-in for"
            names = {trace.tag: f"{kind} {trace.tag}" for trace in figure.traces}
            parts.append(write(out, figure, names, found, notes.get(figure.name, "")))
    (out / "README.md").write_text("\n".join(parts), encoding="utf-8")


def folder_of(made: list[str]) -> Path:
    """Return the usual folder of the page: the stored one only for a page with every experiment."""
    return ROOT / "docs/results/causes" if set(made) == set(EXPERIMENTS) else KEPT / "some"


def main(argv: list[str]) -> int:
    """Run the command line. Returns 1 with a sentence on stderr if something is missing or fails."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description="experiments on claims whose numbers are off")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"RECORDINGS=DIR, or: {', '.join(EXPERIMENTS)}")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="replays at once")
    parser.add_argument("--out", type=Path, metavar="DIR")
    args = parser.parse_args(argv)
    folders = [name.removeprefix("RECORDINGS=") for name in args.names if name.startswith("RECORDINGS=")]
    recordings = Path(folders[-1]).resolve() if folders and folders[-1] else None
    wanted = [name for name in args.names if not name.startswith("RECORDINGS=")]
    try:
        if args.jobs < 1:
            raise StudyError(f"--jobs {args.jobs}: must be 1 or more")
        for name in wanted:
            if name not in EXPERIMENTS:
                raise StudyError(f"unknown experiment '{name}'; expected one of {', '.join(EXPERIMENTS)}")
        if not REPLAY.exists():
            raise StudyError(f"{REPLAY.relative_to(ROOT)} is not there: 'make core' first")
        made = {}
        for name in wanted or EXPERIMENTS:
            if recordings or name not in RECORDED:
                one = EXPERIMENTS[name]()
                made[name] = one, results(one, recordings, args.jobs)
        page(args.out or folder_of(list(made)), made)
    except (StudyError, TraceError, OSError) as error:
        print(f"reproduce causes: {error}", file=sys.stderr)
        return 1
    return 0

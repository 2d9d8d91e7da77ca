# SPDX-License-Identifier: GPL-2.0-or-later
"""scale.py - the same quantities of the studies at several scales, to show what a smaller drive changes.

    reproduce scale [--full] [--jobs N] [--out DIR]

Runs some configurations of the studies pen, ippbe, spread and rps with their drives and traces divided by
other numbers than the studies' own. --full adds full size, where a run's trace takes gigabytes. Writes
scale.csv and README.md to DIR (default: docs/results/scale). Traces and results are kept in build/reproduce.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from reproduce import places
from reproduce.papers import study as studies
from reproduce.places import ROOT
from reproduce.rows import measures
from reproduce.rows.compare import Form, change, number, times
from reproduce.rows.points import StudyError, Trace

HERE = "host-tools/reproduce"
REPLAY = "build/core/slate-replay"
NOTES = places.notes("scale")
# This drive of 1/32 has fewer planes instead of smaller ones: 2 of 1,888 blocks in place of 64 of 59.
PLANES = "32, planes"
FEW_PLANES = ("geometry.channels=1", "geometry.chips_per_channel=1", "geometry.dies_per_chip=1")


@dataclass(frozen=True)
class Quantity:
    """Describes a row of the table. base: the configuration to compare with; without one, `config` itself counts."""

    study: str
    trace: str
    what: str
    measure: measures.Measure
    config: str
    base: str = ""
    form: Form = times


def pen(trace: str) -> list[Quantity]:
    """Return PEN's quantities."""
    return [
        Quantity("pen", trace, "write amplification of NFTL", measures.wa, "nftl"),
        Quantity("pen", trace, "write amplification of PEN", measures.wa, "pen"),
        Quantity("pen", trace, "write latency, PEN against NFTL, %", measures.write_us, "pen", "nftl", change),
        Quantity("pen", trace, "VEP, PEN on Superblock 4:5 against Superblock", measures.vep, "sb45-pen", "sb45"),
    ]


def ippbe(trace: str) -> list[Quantity]:
    """Return IPPBE's quantities."""
    return [
        Quantity("ippbe", trace, f"{what}, IPPBE against greedy, %", measure, "ippbe", "greedy", change)
        for what, measure in (("pages moved", measures.pages_moved), ("time in GC", measures.gc_ms))
    ]


def spread(trace: str) -> list[Quantity]:
    """Return SPREAD's quantities."""
    return [
        Quantity("spread", trace, "IOPS, spFTL against pageFTL", measures.iops, "sp", "page"),
        Quantity("spread", trace, "time of a GC, spFTL against pageFTL, %", measures.gc_call_ms, "sp", "page", change),
    ]


def rps(trace: str) -> list[Quantity]:
    """Return flexFTL's quantities."""
    return [
        Quantity("rps", trace, f"IOPS, flexFTL against {label}", measures.iops, "flex", other)
        for other, label in (("page", "pageFTL"), ("parity", "parityFTL"), ("rtf", "rtfFTL"))
    ]


QUANTITIES = [
    row
    for rows, traces in (
        (pen, ("hm_0", "prn_1", "usr_2")),
        (ippbe, ("hm_0", "prn_0", "proj_0")),
        (spread, ("kv", "usr")),
        (rps, ("ntrx", "varmail")),
    )
    for trace in traces
    for row in rows(trace)
]
SCALES = {"pen": (32, 16, 8), "ippbe": (32, 16, 8), "spread": (16, 8, 4), "rps": (8, 4, 2, 1)}


@dataclass(frozen=True)
class Run:
    """Describes one run of slate-replay."""

    study: studies.Study
    trace: Trace
    config: str
    planes: bool = False

    @property
    def column(self) -> str:
        """Return the head of the column."""
        return PLANES if self.planes else str(self.study.scale)

    def command(self) -> list[str]:
        """Return the command line without the trace."""
        config = self.study.kind.drives(1 if self.planes else self.study.scale).all()[self.config]
        sets = (*config.sets, *config.of_trace(self.trace), *self.study.trace_sets(self.trace))
        named = [word for text in (*sets, *(FEW_PLANES if self.planes else ())) for word in ("--set", text)]
        profile = f"nand-emu/profiles/{config.profile}.ini"
        return [REPLAY, "--profile", profile, *named, *config.args, *self.study.trace_args(self.trace)]


def run_of(name: str, scale: int, trace: str, config: str, planes: bool = False) -> Run:
    """Return a run of a study's configuration at a scale."""
    made = studies.Study(name, False, scale)
    return Run(made, Trace(trace, (), "mix" if made.kind.mixes else "standin"), config, planes)


def columns(name: str, full: bool) -> list[tuple[int, bool]]:
    """Return the scales of a study, and whether the drive has fewer planes there."""
    return [
        *([(32, True)] if name == "pen" else []),
        *((scale, False) for scale in SCALES[name]),
        *([(1, False)] if full and 1 not in SCALES[name] else []),
    ]


def runs(full: bool) -> list[Run]:
    """Return every run, once, the largest last."""
    found = {
        run_of(row.study, scale, row.trace, config, planes): None
        for row in QUANTITIES
        for scale, planes in columns(row.study, full)
        for config in (row.config, row.base)
        if config
    }
    return sorted(found, key=lambda run: -run.study.scale)


def said(command: list[str], what: str) -> None:
    """Run a command. Raises StudyError with its output if it fails."""
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise StudyError(f"{what}: exit status {done.returncode}: {done.stdout.strip()}")


def newer(path: Path, *inputs: Path) -> bool:
    """Is the file there, and not older than what it is made from?"""
    return path.exists() and all(path.stat().st_mtime >= other.stat().st_mtime for other in inputs)


def make_trace(study: studies.Study, trace: Trace) -> None:
    """Make a stand-in or a mix at the study's scale."""
    path, maker = ROOT / study.trace_file(trace), f"{HERE}/traces/{trace.maker}.py"
    if not newer(path, ROOT / maker, ROOT / HERE / "traces" / ("mixes.toml" if study.kind.mixes else "workloads.toml")):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = f"{study.trace_file(trace)}.part"
        said([sys.executable, HERE, trace.maker, trace.volume, "--scale", str(study.scale), "-o", part],
             f"{trace.maker} {trace.volume}")  # fmt: skip
        os.replace(ROOT / part, path)


def kept(path: Path, command: list[str], source: Path, what: str) -> measures.Result:
    """Return the result in a file, or run the command for it, whose first word is the program, on a trace.

    An earlier result stays if it had the same command line, trace and program.
    """
    told = path.with_suffix(".txt")
    line = " ".join(command)
    if not (newer(path, source, ROOT / command[0]) and told.exists() and told.read_text("utf-8") == line):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        said([*command, "--json", str(part), str(source)], what)
        os.replace(part, path)
        told.write_text(line, encoding="utf-8")
    found: measures.Result = json.loads(path.read_text(encoding="utf-8"))
    return found


def result(run: Run) -> measures.Result:
    """Return the result of a run."""
    name = f"{run.study.name}-{run.column.replace(', ', '-')}/{run.trace.tag}/{run.config}"
    path = ROOT / f"build/reproduce/scale/{name}.json"
    return kept(path, run.command(), ROOT / run.study.trace_file(run.trace), name)


def value(row: Quantity, scale: int, planes: bool) -> float | None:
    """Return a row's quantity at a scale, or None if the drive does not have it (no GC)."""
    ours = row.measure(result(run_of(row.study, scale, row.trace, row.config, planes)))
    if not row.base or ours is None:
        return ours
    base = row.measure(result(run_of(row.study, scale, row.trace, row.base, planes)))
    return row.form(ours, base) if base else None


def table(name: str, full: bool) -> list[list[str]]:
    """Return a study's rows, with a head."""
    across = columns(name, full)
    rows = [["trace", "quantity", *(PLANES if planes else str(scale) for scale, planes in across)]]
    for row in QUANTITIES:
        if row.study == name:
            rows.append([row.trace, row.what, *(number(value(row, scale, planes)) or "-" for scale, planes in across)])
    return rows


def as_markdown(rows: list[list[str]]) -> str:
    """Return the table as Markdown."""
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (rows[0], ["---"] * len(rows[0]), *rows[1:]))


def write(out: Path, full: bool) -> None:
    """Write the page and the CSV."""
    out.mkdir(parents=True, exist_ok=True)
    parts = [NOTES.read_text(encoding="utf-8")]
    with (out / "scale.csv").open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["study", "trace", "quantity", "scale", "value"])
        for name in SCALES:
            rows = table(name, full)
            usual = studies.KINDS[name].scale
            parts.append(f"## {name}, usually at {f'1/{usual}' if usual > 1 else 'full size'}\n\n{as_markdown(rows)}")
            for row in rows[1:]:
                lines.writerows([name, *row[:2], head, cell] for head, cell in zip(rows[0][2:], row[2:]))
    (out / "README.md").write_text("\n".join(parts), encoding="utf-8")


def main(argv: list[str]) -> int:
    """Run the command line. Returns 1 with a sentence on stderr if something is missing or fails."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description="quantities of the studies at several scales")
    parser.add_argument("--full", action="store_true", help="also at full size")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="runs at once")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/results/scale", metavar="DIR")
    args = parser.parse_args(argv)
    try:
        if args.jobs < 1:
            raise StudyError(f"--jobs {args.jobs}: must be 1 or more")
        if not (ROOT / REPLAY).exists():
            raise StudyError(f"{REPLAY} is not there: 'make core' first")
        every = runs(args.full)
        with ThreadPoolExecutor(args.jobs) as pool:
            list(pool.map(lambda pair: make_trace(*pair), dict.fromkeys((run.study, run.trace) for run in every)))
            list(pool.map(result, every))
        write(args.out, args.full)
    except (StudyError, OSError) as error:
        print(f"reproduce scale: {error}", file=sys.stderr)
        return 1
    return 0

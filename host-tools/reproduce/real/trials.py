# SPDX-License-Identifier: GPL-2.0-or-later
"""trials.py - PEN with changes of the program that are no settings, on real traces.

    reproduce pen-trials TRACES=DIR [NAME ...] [--replay PROGRAM] [--out DIR]

Each trial is a patch in trials/ (patched.py). Replays all traces of superblock.py (or those named) without and with PEN
on validate.py's drive. tracestudy.py describes the command line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reproduce import places
from reproduce.real import patched, superblock, validate
from reproduce.real.tracestudy import TraceStudy
from reproduce.rows import measures
from reproduce.rows.compare import number

CHANGES = {"write latency": measures.write_us, "read latency": measures.read_us, "WA": measures.wa}


@dataclass(frozen=True)
class Trial:
    """Describes a trial. ftl: a key of FTLS. patch, define: of patched.py; "" is the program as it is."""

    name: str
    ftl: str
    patch: str = ""
    define: str = ""


FTLS: dict[str, Callable[[str], validate.Line]] = {
    "NFTL": lambda pen: validate.lines()["pen" if pen == "yes" else "nftl"],
    "Superblock 4:5": superblock.line,
}
TRIALS = (
    Trial("as it is", "NFTL"),
    Trial("toCopy < free + space", "NFTL", "strict"),
    Trial("as it is", "Superblock 4:5"),
    Trial("one spare area a read", "Superblock 4:5", "spare-reads", "-DSPARE_READS=1"),
    Trial("two spare areas a read", "Superblock 4:5", "spare-reads", "-DSPARE_READS=2"),
)


def row(text: bytes, name: str, program: Path, trial: Trial) -> dict[str, str]:
    """Return a row: PEN's quantities over those without PEN, and how often it ran."""
    base, pen = (validate.replay(text, FTLS[trial.ftl](answer), program) for answer in ("no", "yes"))
    cells = {"trace": name, "FTL": trial.ftl, "trial": trial.name}
    for what, measure in CHANGES.items():
        before, after = measure(base), measure(pen)
        cells[f"{what}, PEN / without"] = number(after / before if before and after is not None else None) or "-"
    reads = measures.read_us(base)
    cells["mean read without PEN, ms"] = number(reads / 1000 if reads is not None else None) or "-"
    cells["M-Merges"], cells["merges"] = (str(pen["gc"][key]) for key in ("mmerges", "merges"))
    return cells


def rows(text: bytes, name: str, program: Path) -> list[dict[str, str]]:
    """Return a trace's rows, one for each trial."""
    return [
        row(text, name, patched.built(trial.patch, trial.define) if trial.patch else program, trial)
        for trial in TRIALS
    ]


STUDY = TraceStudy(
    "pen-trials", "PEN with changes that are no settings, on real traces", places.notes("pen-trials"),
    superblock.STUDY.traces, rows,
)  # fmt: skip
main = STUDY.main

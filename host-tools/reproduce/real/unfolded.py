# SPDX-License-Identifier: GPL-2.0-or-later
"""unfolded.py - real traces on a drive that folds their addresses, and on one that holds them all.

    reproduce unfolded TRACES=DIR [NAME ...] [--replay PROGRAM] [--out DIR]

Replays all traces of realtrace.py (or those named) on NFTL without and with PEN: on validate.py's drive, and on one
with the same planes and percentages whose blocks suffice for the trace's largest address. tracestudy.py describes the
command line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from reproduce import places
from reproduce.real import validate
from reproduce.real.tracestudy import TraceStudy
from reproduce.rows import measures, points
from reproduce.rows.compare import number
from reproduce.traces import realtrace, standin
from reproduce.traces.realtrace import Request

PLANES = 4
FILL = 95
GC_PERCENT = 8
BLOCK_MIB = 9


@dataclass(frozen=True)
class Drive:
    """Describes a drive of 4 planes by its blocks of a plane, with the percentages of PEN's Table 1."""

    blocks: int
    fold: bool

    @property
    def exported_mib(self) -> int:
        """Return the exported size: 10 % over-provisioning, in whole MiB."""
        return self.blocks * PLANES * BLOCK_MIB * 10 // 11

    @property
    def log_blocks(self) -> int:
        """Return how many blocks are left for U-blocks when the drive is filled, before GC begins."""
        filled = math.ceil(self.exported_mib * FILL / 100 / BLOCK_MIB)
        return self.blocks * PLANES - filled - PLANES * points.free_blocks(self.blocks, GC_PERCENT)

    def line(self, pen: str) -> validate.Line:
        """Return the options of slate-replay."""
        gc = points.free_blocks(self.blocks, GC_PERCENT)
        here = (f"geometry.blocks_per_plane={self.blocks}", f"ftl.gc_start_blocks={gc}")
        how = tuple(word for word in validate.HOW if self.fold or word != "--fold")
        return validate.line("pen", (*validate.PEN_DRIVE, *here, f"ftl.pen={pen}"), (*how, "--fill", str(FILL)))


FOLDED = Drive(validate.PEN_BLOCKS, True)


def holding(end: int) -> Drive:
    """Return the smallest drive, but none smaller than the folded one, that exports this many units."""
    mib = math.ceil(end * standin.UNIT / 2**20)
    blocks = math.ceil(mib * 11 / 10 / (PLANES * BLOCK_MIB))
    while Drive(blocks, False).exported_mib < mib:
        blocks += 1
    return Drive(max(blocks, FOLDED.blocks), False)


def written(requests: list[Request]) -> tuple[int, int]:
    """Return the units that a trace writes, and how many of them it wrote before."""
    seen: set[int] = set()
    total = 0
    for _, write, first, units in requests:
        if write:
            total += units
            seen.update(range(first, first + units))
    return total, total - len(seen)


def row(text: bytes, name: str, program: Path, drive: Drive, cells: dict[str, str]) -> dict[str, str]:
    """Return the row of a trace on a drive."""
    without, pen = (validate.replay(text, drive.line(answer), program) for answer in ("no", "yes"))
    before, after = measures.wa(without), measures.wa(pen)
    assert before and after
    return {
        "trace": name, "addresses": "folded" if drive.fold else "unfolded",
        "exported, GiB": number(drive.exported_mib / 1024), **cells, "blocks for U-blocks": str(drive.log_blocks),
        "NFTL write amplification": number(before), "PEN gain, times": number(before / after),
        "merges without PEN": str(without["gc"]["merges"]), "M-Merges": str(pen["gc"]["mmerges"]),
    }  # fmt: skip


def rows(text: bytes, name: str, program: Path) -> list[dict[str, str]]:
    """Return a trace's rows: folded, and unfolded."""
    requests = parsed(text)
    total, again = written(requests)
    cells = {
        "written, GiB": number(total * standin.UNIT / 2**30), "of that again, %": number(100 * again / total),
        "logical blocks written": str(realtrace.curve(requests).blocks),
    }  # fmt: skip
    end = max(first + units for _, _, first, units in requests)
    return [row(text, name, program, drive, cells) for drive in (FOLDED, holding(end))]


def parsed(text: bytes) -> list[Request]:
    """Return the requests of a trace in Slate's format, in units."""
    unit = standin.UNIT
    return [(t, int(op == "write"), at // unit, size // unit) for t, op, at, size in validate.of_text(text)]


STUDY = TraceStudy(
    "unfolded", "NFTL and PEN on real traces whose addresses are not folded",
    places.notes("unfolded"), realtrace.NAMES, rows,
)  # fmt: skip
main = STUDY.main

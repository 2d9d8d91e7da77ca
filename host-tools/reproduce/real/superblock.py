# SPDX-License-Identifier: GPL-2.0-or-later
"""superblock.py - PEN's effect on the Superblock FTL with real traces: latency, write amplification, wear.

    reproduce superblock TRACES=DIR [NAME ...] [--replay PROGRAM] [--out DIR]

Replays all traces of realtrace.py except msps_msnfs (or those named) on validate.py's drive with Superblock 4:5,
without and with PEN: ours, and as Jung's (ftl/direct/DESIGN.md). tracestudy.py describes the command line.
"""

from __future__ import annotations

from pathlib import Path

from reproduce import places
from reproduce.real import validate
from reproduce.real.tracestudy import TraceStudy
from reproduce.rows import measures, points
from reproduce.rows.compare import number
from reproduce.traces import realtrace

CHANGES = {
    "write latency": measures.write_us, "read latency": measures.read_us, "WA": measures.wa, "AEP": measures.aep,
    "VEP": measures.vep,
}  # fmt: skip
# A plane exports 228 logical blocks, the last in part.
COLD = "ftl.superblock_cold=yes"
KINDS: dict[str, validate.Line] = {
    "ours": (), "cold blocks": (COLD,), "cold blocks, half the map": (COLD, "ftl.superblock_map_parts=114"),
    "cold blocks, a part of the map": (COLD, "ftl.superblock_map_parts=1"),
}  # fmt: skip


def line(pen: str, more: validate.Line = ()) -> validate.Line:
    """Return the options of slate-replay for the Superblock FTL."""
    stop = f"ftl.gc_stop_blocks={points.free_blocks(validate.PEN_BLOCKS, 8)}"  # where GC begins; NFTL has no such key
    shape = (stop, "ftl.superblock_blocks=4", "ftl.superblock_max_blocks=5", f"ftl.pen={pen}", *more)
    return validate.line("pen", (*validate.PEN_DRIVE, "ftl.type=superblock", *shape), (*validate.HOW, "--fill", "95"))


def row(text: bytes, name: str, kind: str, program: Path) -> dict[str, str]:
    """Return a row: the quantities without PEN, and those with PEN divided by them."""
    base, pen = (validate.replay(text, line(answer, KINDS[kind]), program) for answer in ("no", "yes"))
    reads = measures.read_us(base)
    cells = {
        "trace": name, "superblocks": kind, "write ms without PEN": number((measures.write_us(base) or 0) / 1000),
        "read ms without PEN": number(reads / 1000) if reads else "-", "WA without PEN": number(measures.wa(base)),
        "AEP without PEN": number(measures.aep(base)), "VEP without PEN": number(measures.vep(base)),
    }  # fmt: skip
    for what, measure in CHANGES.items():
        before, after = measure(base), measure(pen)
        cells[f"{what}, PEN / without"] = number(after / before if before and after is not None else None) or "-"
    cells["M-Merges"], cells["merges"] = (str(pen["gc"][key]) for key in ("mmerges", "merges"))
    return cells


def rows(text: bytes, name: str, program: Path) -> list[dict[str, str]]:
    """Return a trace's rows, one for each kind of superblock."""
    return [row(text, name, kind, program) for kind in KINDS]


# msps_msnfs is left out: NFTL's write amplification is 490, so it would take longer than all others together.
STUDY = TraceStudy(
    "superblock", "PEN on the Superblock FTL, on real traces", places.notes("superblock"),
    tuple(name for name in realtrace.NAMES if name != "msps_msnfs"), rows,
)  # fmt: skip
main = STUDY.main

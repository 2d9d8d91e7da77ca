# SPDX-License-Identifier: GPL-2.0-or-later
"""mapcache.py - the page FTL's cached map with real traces: misses, write amplification and tails by cache size.

    reproduce mapcache TRACES=DIR [NAME ...] [--replay PROGRAM] [--out DIR]

Replays all traces of realtrace.py (or those named) on a drive of 3 GiB whose map has 768 pages, with caches of 1 to
100 % of it and with the whole map in memory. tracestudy.py describes the command line.
"""

from __future__ import annotations

from pathlib import Path

from reproduce import places
from reproduce.real import validate
from reproduce.real.tracestudy import TraceStudy
from reproduce.rows import measures
from reproduce.rows.compare import number
from reproduce.traces import realtrace

MAP_PAGES = 768  # of 1,024 entries of 4 bytes, for units of 4 KiB
FRAMES = (8, 23, 77, 192, 384, 768)  # 1, 3, 10, 25, 50, 100 %
WHOLE = "in memory"
# The drive has four dies, pages of 4 KiB and 14 % of spare pages; each page is overwritten once before the trace.
DRIVE = (
    "geometry.channels=2", "geometry.chips_per_channel=2", "geometry.planes_per_die=1", "geometry.blocks_per_plane=900",
    "geometry.page_bytes=4096", "geometry.oob_bytes=320", f"ftl.capacity_mib={MAP_PAGES * 4}", "ftl.payload=no",
)  # fmt: skip
HOW = ("--closed", "16", "--fold", "--fill", "100", "--age", "1")


def line(frames: int) -> validate.Line:
    """Return the options of slate-replay; 0 frames: the whole map is in memory."""
    return validate.line("default", (*DRIVE, f"ftl.map_cache_pages={frames}"), HOW)


def p99_ms(found: measures.Result, op: str) -> str:
    """Return the 99th percentile of a latency."""
    host = found["host"][op]
    return number(host["latency"]["percentiles_ns"]["99"] / 1e6) if host["ios"] else "-"


def count(found: measures.Result, what: str) -> int:
    """Return a counter of the map; the result has no counters that are 0."""
    counted: int = found["ftl_counts"].get(f"map_{what}", 0)
    return counted


def miss_percent(found: measures.Result) -> str:
    """Return the share of look-ups whose map page was not in memory."""
    hits, misses = (count(found, what) for what in ("hits", "misses"))
    return number(100 * misses / (hits + misses)) if hits + misses else "-"


def rows(text: bytes, name: str, program: Path) -> list[dict[str, str]]:
    """Return a trace's rows, one for each cache."""
    made = []
    for frames in (*FRAMES, 0):
        found = validate.replay(text, line(frames), program)
        made.append({
            "trace": name, "map pages in memory": str(frames or WHOLE),
            "misses [%]": miss_percent(found) if frames else "-",
            "map pages read": str(count(found, "reads")) if frames else "-",
            "map pages written": str(count(found, "writes")) if frames else "-",
            "WAF": number(measures.wa_bytes(found)),
            "p99 of reads [ms]": p99_ms(found, "read"), "p99 of writes [ms]": p99_ms(found, "write"),
        })  # fmt: skip
    return made


STUDY = TraceStudy(
    "mapcache", "a cached map by cache size, on real traces", places.notes("mapcache"),
    realtrace.NAMES, rows,
)  # fmt: skip
main = STUDY.main

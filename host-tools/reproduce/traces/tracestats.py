# SPDX-License-Identifier: GPL-2.0-or-later
"""tracestats.py - properties of a trace: the numbers that a stand-in must meet.

    reproduce tracestats FILE...

Reads Slate's own format and MSR CSV, plain or .gz. Coverage is counted in 4 KiB
units that a request touches; a run is a maximal range of covered units.
Memory: one entry a covered unit.
"""

from __future__ import annotations

import gzip
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

UNIT = 4096


def rows(path: str | Path) -> Iterator[tuple[int, str, int, int]]:
    """Generate (ns, op, offset, bytes) of the reads and writes."""
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt", encoding="ascii") as lines:
        for line in lines:
            if line.startswith("#"):
                continue
            if "," in line:
                time, _, _, op, offset, size, *_ = line.split(",")
                yield int(time) * 100, op.lower(), int(offset), int(size)
            else:
                time, _, op, *place = line.split()
                if op in ("read", "write"):
                    yield int(time), op, int(place[0]), int(place[1])


def side(requests: list[tuple[int, str, int, int]]) -> dict[str, float]:
    """Return the numbers of one direction."""
    covered: set[int] = set()
    extents: set[tuple[int, int]] = set()
    again = exact = aligned = 0
    for _, _, offset, size in requests:
        units = range(offset // UNIT, (offset + size - 1) // UNIT + 1)
        if covered.issuperset(units):
            again += 1
            exact += (offset, size) in extents
        covered.update(units)
        extents.add((offset, size))
        aligned += offset % UNIT == 0 and size % UNIT == 0
    runs = sum(1 for unit in covered if unit - 1 not in covered)
    return {
        "requests": len(requests),
        "bytes": sum(size for *_, size in requests),
        "covered_bytes": len(covered) * UNIT,
        "end_bytes": max((offset + size for _, _, offset, size in requests), default=0),
        "rewrites": again,
        "rewrites_exact": exact,
        "aligned": aligned,
        "run_kib": round(len(covered) * UNIT / 1024 / runs, 1) if runs else 0,
    }


def stats(path: str | Path) -> dict[str, Any]:
    """Return all numbers of a trace."""
    requests = list(rows(path))
    gaps = sorted(b[0] - a[0] for a, b in itertools.pairwise(requests))
    out: dict[str, Any] = {}
    for op in ("read", "write"):
        out[op] = side([row for row in requests if row[1] == op])
    if gaps:
        out["gaps_us"] = {str(p): gaps[len(gaps) * p // 100] / 1000 for p in (25, 50, 75, 90)}
        out["mean_gap_ms"] = round(sum(gaps) / len(gaps) / 1e6, 3)
    return out


def main(argv: list[str]) -> int:
    """Returns 1 if a file cannot be read."""
    if not argv:
        print("usage: reproduce tracestats FILE...", file=sys.stderr)
        return 2
    for name in argv:
        try:
            found = stats(name)
        except (OSError, ValueError) as error:
            print(f"reproduce tracestats: {name}: {error}", file=sys.stderr)
            return 1
        print(name)
        for key, value in found.items():
            print(f"  {key}: {value}")
    return 0

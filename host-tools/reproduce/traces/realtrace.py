# SPDX-License-Identifier: GPL-2.0-or-later
"""realtrace.py - reads the real traces of a folder, and computes the properties that a stand-in
must have.

A trace here is a list of requests (ns, write, first unit, units) of 4 KiB units: each request
is widened to whole units and cut into pieces of at most 64 KiB, the largest that standin.py
makes. Original, stand-in and replay all use this form, so they can be compared.

measured() returns the properties that can be measured directly: counts, growth of coverage, run
lengths, density. curve() returns those that must be fitted: how many logical blocks of 9 MiB
(PEN's: 576 pages of 16 KiB) are written, and how often a write misses the 4, 16, 64 and 256 blocks
written last.
"""

from __future__ import annotations

import gzip
import math
from dataclasses import dataclass
from pathlib import Path

from reproduce.traces import standin

# These traces are of whole volumes or disks and have at least 10,000 writes. A trace of many
# small volumes (tencent_cbs) and traces with fewer writes say nothing about GC.
# ycsb_rocksdb_writes has no times, and its search would take as long as all others together.
NAMES = (
    "cloudphysics", "desktop_32k", "jpeg_copy_50k", "msps_msnfs", "msr_rsrch_1", "msr_web_3_excel",
    "postmark_62k", "spc_fin1_50k",
)  # fmt: skip
SECTOR = 512
LARGEST = standin.SIZES[-1]
BLOCK_UNITS = 576 * 16384 // standin.UNIT
CAPACITIES = (4, 16, 64, 256)

Request = tuple[int, int, int, int]


class TraceError(Exception):
    """Carries an error message for the user."""


@dataclass(frozen=True)
class Curve:
    """Describes the locality of the writes in logical blocks."""

    blocks: int  # distinct
    misses: tuple[float, ...]  # share of the touches, by CAPACITIES


def path_of(folder: Path, name: str) -> Path:
    """Return the path of a trace, plain or compressed."""
    if folder == Path():
        raise TraceError(f"TRACES=DIR is missing: name the folder that holds {NAMES[0]}.trace.gz and the others")
    if not folder.is_dir():
        raise TraceError(f"TRACES={folder}: is no folder: name the one that holds {NAMES[0]}.trace.gz and the others")
    for suffix in (".trace.gz", ".trace"):
        if (folder / (name + suffix)).is_file():
            return folder / (name + suffix)
    raise TraceError(
        f"TRACES={folder}: has no {name}.trace.gz (nor {name}.trace): put the trace there, "
        "one request a line: 'arrival_ns device lba512 sectors op', op 1 for a read, 0 for a write"
    )


def rows(folder: Path, name: str) -> list[tuple[int, int, int, int]]:
    """Read all rows (ns, write, first byte, bytes), with times from 0."""
    path = path_of(folder, name)
    found: list[tuple[int, int, int, int]] = []
    number = 0
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="ascii") as lines:
            for number, line in enumerate(lines, 1):  # noqa: B007 (the error below names the line)
                time, _, lba, sectors, op = map(int, line.split())
                if op not in (0, 1) or lba < 0 or sectors < 0:
                    raise ValueError
                found.append((time, 1 - op, lba * SECTOR, sectors * SECTOR))
    except (ValueError, EOFError, gzip.BadGzipFile):
        raise TraceError(
            f"{path}: line {number}: is no request: expected 'arrival_ns device lba512 sectors op', op 0 or 1"
        ) from None
    if not any(write for _, write, _, _ in found):
        raise TraceError(f"{path}: has no writes: a stand-in for it cannot be fitted")
    return found


def read(folder: Path, name: str) -> list[Request]:
    """Read all requests."""
    return [piece for row in rows(folder, name) for piece in cut(*row)]


def cut(time_ns: int, write: int, offset: int, size: int) -> list[Request]:
    """Divide a request into pieces of whole units."""
    if not size:
        return []
    first, end = offset // standin.UNIT, (offset + size - 1) // standin.UNIT + 1
    return [(time_ns, write, at, min(LARGEST, end - at)) for at in range(first, end, LARGEST)]


def made(want: standin.Marginals, how: standin.Shape, seed: str) -> list[Request]:
    """Convert a stand-in to the form of a real trace."""
    unit = standin.UNIT
    return [(t, int(op == "write"), at // unit, n // unit) for t, op, at, n in standin.made_of(want, how, seed)]


def curve(requests: list[Request]) -> Curve:
    """Return the miss curve of the logical blocks written, from their LRU stack."""
    stack: list[int] = []  # last written first; no deeper than asked for
    seen: set[int] = set()
    touches, misses = 0, [0] * len(CAPACITIES)
    for _, write, first, units in requests:
        if not write:
            continue
        for block in range(first // BLOCK_UNITS, (first + units - 1) // BLOCK_UNITS + 1):
            touches += 1
            seen.add(block)
            try:
                depth = stack.index(block)
                del stack[depth]
            except ValueError:
                depth = CAPACITIES[-1]
                del stack[depth - 1 :]
            stack.insert(0, block)
            for number, capacity in enumerate(CAPACITIES):
                misses[number] += depth >= capacity
    return Curve(len(seen), tuple(n / touches for n in misses))


def marginals(requests: list[Request]) -> standin.Marginals:
    """Return the properties that a stand-in meets exactly.

    A direction without requests gets one request of one unit, because a stand-in needs one.
    """
    count, units = [0, 0], [0, 0]
    cover: tuple[set[int], set[int]] = (set(), set())
    for _, write, first, n in requests:
        count[write] += 1
        units[write] += n
        cover[write].update(range(first, first + n))
    if not count[0]:
        count[0], units[0] = 1, 1
        cover[0].add(0)
    duration = max(1, max(r[0] for r in requests) - min(r[0] for r in requests))
    return standin.Marginals((count[0], count[1]), (units[0], units[1]), (len(cover[0]), len(cover[1])), duration)


def growth(requests: list[Request], write: int) -> float:
    """Return beta, to 1/64, the growth of coverage.

    The first half of the requests touches a share of 0.5 ** beta of the units that all of them touch.
    """
    mine = [(first, n) for _, w, first, n in requests if w == write]
    covered: set[int] = set()
    half = 0
    for number, (first, n) in enumerate(mine):
        if number == len(mine) // 2:
            half = len(covered)
        covered.update(range(first, first + n))
    if not half:
        return 1.0
    return min(256, max(1, round(-64 * math.log2(half / len(covered))))) / 64


def run_kib(covered: set[int]) -> float:
    """Return the mean length of the maximal ranges of units, in KiB."""
    runs = sum(unit - 1 not in covered for unit in covered)
    return round(len(covered) * standin.UNIT / 1024 / runs) if runs else standin.UNIT // 1024


def span(requests: list[Request]) -> int:
    """Return the number of units from the first touched one to the last."""
    return max(first + n for _, _, first, n in requests) - min(first for _, _, first, _ in requests)


def measured(requests: list[Request]) -> dict[str, float]:
    """Return the settings of standin.py that can be measured in a trace."""
    covered: tuple[set[int], set[int]] = set(), set()
    again = follows = 0
    last_end = -1
    for _, write, first, n in requests:
        if write:
            if covered[1].issuperset(range(first, first + n)):
                again += 1
                follows += first == last_end
            last_end = first + n
        covered[write].update(range(first, first + n))
    reads, writes = covered
    both = reads | writes
    return {
        "beta": growth(requests, 1),
        "read_beta": growth(requests, 0),
        "run_kib": run_kib(writes),
        "read_run_kib": run_kib(reads - writes),
        "density": float(f"{len(both) / span(requests):.3g}"),
        "span_gib": 2**20,
        "follow": round(follows / again, 3) if again else 0,
        "overlap": round(len(reads & writes) / len(reads), 3) if reads else 0,
    }

# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the latency of each of a guest's I/Os, if its job file requests them from fio (write_lat_log).

The drive's own series has sums and maxima; percentiles over time come from these files alone.
A file belongs to a job by fio's rule: NAME_lat.N.log is of the N-th thread. Files are ignored with
group_reporting, because threads cannot be assigned to jobs, and with log_avg_msec, because a line
is then a mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from . import paths
from .errors import SlateError
from .shape import Json

OPS = ("read", "write", "trim")  # by fio's number
SHARES = (500, 990)  # percentiles by permille; 1000: the maximum
INTERVALS = 120  # maximum of intervals
WORTH = 200  # I/Os that an interval must have on average for its percentiles to be useful


@dataclass
class OverTime:
    """Holds percentiles of one kind of I/O of a job over time; times are in ms since the job began."""

    op: str
    interval_ms: int
    points: dict[int, list[int | None]]  # by permille (1000: the longest): ns of each interval; None: no I/O

    def edges(self) -> list[float]:
        """Return the begin of each interval, and the end of the last one; seconds."""
        return [at * self.interval_ms / 1000 for at in range(len(self.points[1000]) + 1)]


def names(fio: Json | None) -> dict[str, str]:
    """Return the log file of each job that has one."""
    found: dict[str, str] = {}
    common = (fio or {}).get("global options", {})
    for number, job in enumerate((fio or {}).get("jobs", ()), 1):
        options = {**common, **job.get("job options", {})}
        if "group_reporting" in options:
            return {}
        name = options.get("write_lat_log")
        if name and "log_avg_msec" not in options and Path(name).name == name:
            found.setdefault(job["jobname"], f"{name}_lat.{number}.log")
    return found


def read(path: Path) -> dict[str, list[tuple[int, int]]]:
    """Return (ms, ns) of each I/O, by operation."""
    found: dict[str, list[tuple[int, int]]] = {}
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            for number, line in enumerate(file, 1):  # noqa: B007 (the error below names the line)
                words = line.split(",")
                ms, ns, op = int(words[0]), int(words[1]), int(words[2])
                if not (0 <= ms < 1 << 40 and 0 <= ns < 1 << 62 and 0 <= op < len(OPS)):
                    raise ValueError
                found.setdefault(OPS[op], []).append((ms, ns))
    except (ValueError, IndexError):
        raise SlateError(
            f"{paths.short(path)}, line {number}: not what fio writes with write_lat_log", "run again, or remove it"
        ) from None
    return found


def over_time(op: str, ios: list[tuple[int, int]]) -> OverTime | None:
    """Return percentiles by interval; None: too few I/Os."""
    last_ms = max(ms for ms, _ in ios)
    count = min(INTERVALS, len(ios) // WORTH, last_ms + 1)
    if count < 2:
        return None
    interval_ms = -(-(last_ms + 1) // count)
    rows: list[list[int]] = [[] for _ in range(last_ms // interval_ms + 1)]
    for ms, ns in ios:
        rows[ms // interval_ms].append(ns)
    for row in rows:
        row.sort()
    points = {
        permille: [row[max(-(-len(row) * permille // 1000), 1) - 1] if row else None for row in rows]
        for permille in (*SHARES, 1000)
    }
    return OverTime(op, interval_ms, points)


def of(folder: Path, fio: Json | None) -> dict[str, list[OverTime]]:
    """Return the percentiles over time of each job of a run."""
    found = {}
    for job, name in names(fio).items():
        try:
            lines = read(folder / name)
        except OSError:
            continue  # fio did not write one
        made = [over_time(op, lines[op]) for op in OPS if op in lines]
        found[job] = [one for one in made if one]
    return {job: lines for job, lines in found.items() if lines}

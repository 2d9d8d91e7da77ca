# SPDX-License-Identifier: GPL-2.0-or-later
"""Converts the drive's time series and its blocks from the logs' bytes (SPEC.md) to JSON, and back.

series.json and blocks.json have no host data: equal runs give equal files.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from . import counters, logs
from .shape import Json, Misfit

SERIES_LOG, WEAR_LOG = 0xD7, 0xD4
NOT_TOLD = (1 << 64) - 1
ROWS_MAX = 512
_MAGIC = 0x474F4C53
_OPS = ("read", "write", "trim", "flush")
# Every file has these columns. Others are left out if they are 0 throughout: most drives lack their features.
_OP_WORDS = (
    "ios",
    "bytes",
    "latency-sum-ns",
    "latency-max-ns",
    "cell-ns",
    "bus-ns",
    "host-queue-ns",
    "gc-queue-ns",
    "buffer-ns",
    "map-ns",
    "other-ns",
    "link-ns",
)
_DRIVE_WORDS = (
    "host-units",
    "gc-units",
    "wl-units",
    "pad-units",
    "meta-units",
    "gc-runs",
    "nand-reads",
    "nand-programs",
    "nand-erases",
    "free-blocks",
)
STATES = "ufoFvb"  # used, free, open, full, victim, bad

# shape.check() compares both files with this.
_COLUMN = [int]
SERIES = {
    "interval-ns": int,
    "begin-ns": int,
    "rows": int,
    **{op: {**dict.fromkeys(_OP_WORDS, _COLUMN), "*": _COLUMN} for op in _OPS},
    "drive": {**dict.fromkeys(_DRIVE_WORDS, _COLUMN), "*": _COLUMN},
    "dies": [_COLUMN],
    "channels": [_COLUMN],
    "processors?": [_COLUMN],
}
BLOCKS = {"blocks-per-plane": int, "erases": _COLUMN, "valid-units": _COLUMN, "states": str}


def check_rows(raw: Json) -> None:
    """Raise Misfit unless each column of a series has all rows."""
    columns = [*raw["dies"], *raw["channels"], *raw.get("processors", ())]
    for group in (*_OPS, "drive"):
        columns += raw[group].values()
    if not raw["rows"] or not raw["interval-ns"] or any(len(column) != raw["rows"] for column in columns):
        raise Misfit(f"its columns do not have {raw['rows']} rows each")


def check_blocks(raw: Json) -> None:
    """Raise Misfit unless all numbers of every block are present."""
    blocks, per_plane = len(raw["erases"]), raw["blocks-per-plane"]
    told = {len(raw["states"]), len(raw["valid-units"]) or blocks}
    if not per_plane or blocks % per_plane or told != {blocks}:
        raise Misfit(f"it does not tell the same of all its {blocks} blocks")


def _head(log: bytes, log_id: int) -> int:
    """Check a log's head; returns since_ns."""
    head = logs.read("log_head", log)
    if [head[name] for name in ("magic", "version", "id", "bytes")] != [_MAGIC, 1, log_id, len(log)]:
        raise ValueError(f"log 0x{log_id:x}: not what this version of slate can read")
    since_ns: int = head["since_ns"]
    return since_ns


def decode_series(log: bytes) -> Json | None:
    """Return log 0xd7 by columns; None if the drive keeps no series."""
    begin = _head(log, SERIES_LOG)
    head = logs.read("log_series", log)
    rows, row_bytes = head["rows"], head["row_bytes"]
    if not rows:
        return None
    table = [logs.words("log_series", log, row_bytes // 8, row * row_bytes) for row in range(rows)]
    columns = [list(column) for column in zip(*table)]
    found: Json = {"schema": "slate-series-1", "begin-ns": begin, "interval-ns": head["interval_ns"], "rows": rows}
    for op in _OPS[: head["ops"]]:
        group, columns = columns[: head["op_words"]], columns[head["op_words"] :]
        found[op] = dict(zip(counters.names("series-op"), group))
    of_drive = zip(counters.names("series-drive"), columns[: head["drive_words"]])
    found["drive"] = {name: column for name, column in of_drive if name in _DRIVE_WORDS or any(column)}
    at = head["drive_words"]
    for group_name in ("dies", "channels", "processors"):
        found[group_name] = columns[at : at + head[group_name]]
        at += head[group_name]
    if not head["processors"]:
        del found["processors"]
    return found


def decode_blocks(log: bytes) -> Json:
    """Return log 0xd4 by columns."""
    _head(log, WEAR_LOG)
    head, begin = logs.read("log_wear", log), logs.layouts()["log_wear"].bytes
    entries = [logs.read("wear_entry", log, begin + i * head["entry_bytes"]) for i in range(head["blocks"])]
    valid = [entry["valid_units"] for entry in entries]
    return {
        "schema": "slate-blocks-1",
        "blocks-per-plane": head["blocks_per_plane"],
        "erases": [entry["erases"] for entry in entries],
        "valid-units": None if 0xFFFFFFFF in valid else valid,
        "states": "".join(STATES[min(entry["state"], 5)] for entry in entries),
    }


def text(found: Json) -> str:
    """Return the file's content with one column per line."""

    def lines(value: Any, indent: str) -> str:
        if isinstance(value, dict):
            inner = ",\n".join(
                f"{indent} {json.dumps(key)}: {lines(value[key], indent + ' ')}" for key in value
            )
            return f"{{\n{inner}\n{indent}}}"
        if isinstance(value, list) and value and isinstance(value[0], list):
            inner = ",\n".join(f"{indent} {json.dumps(row, separators=(',', ':'))}" for row in value)
            return f"[\n{inner}\n{indent}]"
        return json.dumps(value, separators=(",", ":"))

    return lines(found, "") + "\n"


@dataclass
class Part:
    """Holds rows of a series, with times in ns of the drive's clock."""

    series: Series
    first: int
    last: int  # one behind

    def column(self, group: str, name: str) -> list[int]:
        """Return the numbers of a column in these rows."""
        column: list[int] = self.series.raw[group].get(name) or [0] * self.series.rows
        return column[self.first : self.last]

    def edges(self) -> list[float]:
        """Return the beginning of each row, and the end of the last one, in seconds."""
        return [self.series.edge(row) / 1e9 for row in range(self.first, self.last + 1)]

    def seconds(self) -> list[float]:
        """Return the length of each row, in seconds."""
        edges = self.edges()
        return [max(b - a, 1e-9) for a, b in itertools.pairwise(edges)]


class Series:
    """series.json."""

    def __init__(self, raw: Json, end_ns: int):
        self.raw = raw
        self.rows: int = raw["rows"]
        self.begin_ns: int = raw["begin-ns"]
        self.interval_ns: int = raw["interval-ns"]
        last_ns = self.begin_ns + (self.rows - 1) * self.interval_ns
        # A row that has not ended is drawn with at least a tenth of an interval.
        self.end_ns: int = max(min(end_ns, last_ns + self.interval_ns), last_ns + self.interval_ns // 10)

    def has(self, group: str, name: str) -> bool:
        """Does the series have this column? Replays without --timeline lack some."""
        return name in self.raw[group]

    def edge(self, row: int) -> int:
        """Return the beginning of a row."""
        return min(self.begin_ns + row * self.interval_ns, self.end_ns)

    def part(self, begin_ns: int | None = None, end_ns: int | None = None) -> Part:
        """Return the rows that overlap a time."""
        first, last = 0, self.rows
        if begin_ns is not None:
            first = min(max(begin_ns - self.begin_ns, 0) // self.interval_ns, self.rows - 1)
        if end_ns is not None:
            last = min(-(-max(end_ns - self.begin_ns, 0) // self.interval_ns), self.rows)
        return Part(self, first, max(last, first + 1))

    def busy(self, what: str) -> list[list[float]]:
        """Return the shares of each row in which each die, channel or vCPU was busy; []: unknown."""
        return [self.shares(column) for column in self.raw.get(what, ())]

    def shares(self, column: Iterable[float]) -> list[float]:
        """Return busy times as shares of the rows.

        A command's time is counted whole when it is issued; the excess over its row is carried to the next
        rows.
        """
        lengths = [self.edge(row + 1) - self.edge(row) for row in range(self.rows)]
        carried, found = 0.0, []
        for busy, length in zip(column, lengths):
            carried += busy
            now = min(carried, length)
            carried -= now
            found.append(now / length if length else 0.0)
        return found

# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a study's measures from results.

A FIGURE is named [JOB/][OP.][SIDE.]NAME, such as waf, write.p99, mixed-gc/read.guest.p99: JOB is a section of the job
file, OP one of read, write, trim, flush, SIDE guest or drive. What is left out must be the only one there is; the side
is then the guest's where the guest measured, else the drive's. A figure of the table OF_RUN has no OP and no SIDE.

A figure has a DIMENSION, with units to choose from; a value of a JSON file has the unit that the study says.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import names, reports, runfiles, shape
from ..account import ENOUGH, OPS, PARTS, PERCENTILES, OpAccount, raf
from ..errors import SlateError
from ..report import Report
from ..rows import Row
from .expression import Value
from .file import Measure, Point

UNITS: dict[str, dict[str, float]] = {  # of each dimension, the first one is usual
    "time": {"µs": 1e3, "us": 1e3, "ns": 1, "ms": 1e6, "s": 1e9},
    "bytes": {"MiB": 1 << 20, "B": 1, "KiB": 1 << 10, "GiB": 1 << 30, "TiB": 1 << 40, "MB": 1e6, "GB": 1e9},
    "a ratio": {"": 1, "%": 0.01},
    "a number": {"": 1, "thousands": 1e3, "millions": 1e6},
    "a rate": {"/s": 1, "k/s": 1e3},
    "bytes a second": {"MiB/s": 1 << 20, "B/s": 1, "KiB/s": 1 << 10, "GiB/s": 1 << 30, "MB/s": 1e6},
    "energy": {"mJ": 1e6, "nJ": 1, "µJ": 1e3, "J": 1e9},
}
REDUCE: dict[str, Callable[[list[float]], float]] = {
    "sum": math.fsum, "mean": lambda values: math.fsum(values) / len(values), "max": max, "min": min,
    "last": lambda values: values[-1],
}  # fmt: skip
Found = float | None


class Lacks(Exception):
    """Says why a run has no such measure."""


def _busy(shown: Report, what: str) -> Found:
    found = shown.device.busy(what)
    return found.mean if found else None


def _waf(shown: Report) -> Found:
    found = shown.device.waf()
    return found["total"] if found else None


def _erases(shown: Report, which: int) -> Found:
    found = shown.device.erases_per_page()
    return found[which] if found else None


OF_RUN: dict[str, tuple[str, Callable[[Report], Found]]] = {
    "waf": ("a ratio", _waf),
    "raf": ("a ratio", lambda shown: raf(shown.device.total)),
    "host-read": ("bytes", lambda shown: shown.device.total.op["read"].bytes),
    "host-written": ("bytes", lambda shown: shown.device.total.op["write"].bytes),
    "gc-runs": ("a number", lambda shown: shown.device.total.ftl.get("gc-runs", 0)),
    "gc-moved": ("bytes", lambda shown: shown.device.total.ftl.get("gc-units", 0) * shown.device.unit_bytes),
    "erases": ("a number", lambda shown: shown.device.total.nand_total("erases")),
    "aep": ("a number", lambda shown: _erases(shown, 0)),
    "vep": ("a number", lambda shown: _erases(shown, 1)),
    "dies-busy": ("a ratio", lambda shown: _busy(shown, "dies")),
    "channels-busy": ("a ratio", lambda shown: _busy(shown, "channels")),
    "energy": ("energy", lambda shown: shown.device.total.energy_nj()),
    "duration": ("time", lambda shown: shown.device.at_ns),
}


def _rate(row: Row, side: str, what: str) -> Found:
    if side == "guest" and row.guest:
        return row.guest.iops if what == "iops" else row.guest.bytes_per_s
    if row.rate:
        return row.rate.iops if what == "iops" else row.rate.bytes_per_s
    account = row.account
    ns = account.end_ns - account.begin_ns if account else 0
    return (row.drive.ios if what == "iops" else row.drive.bytes) * 1e9 / ns if row.drive and ns else None


def _latency(row: Row, side: str, what: str) -> Found:
    guest = row.guest if side == "guest" else None
    if what == "mean":
        return guest.mean_ns if guest else row.drive.mean_ns() if row.drive else None
    if what == "max":
        return guest.max_ns if guest else row.drive.latency_max_ns if row.drive else None
    share = next(key for key, name in PERCENTILES.items() if name == what)
    of = guest or row.drive
    return of.percentile_ns(share) if of and of.ios >= ENOUGH.get(share, 1) else None


def _part(row: Row, _side: str, what: str) -> Found:
    return row.drive.mean_part_ns(what) if row.drive else None


OF_ROW: dict[str, tuple[str, Callable[[Row, str, str], Found]]] = {
    "ios": ("a number", lambda row, side, _: row.guest.ios if side == "guest" and row.guest else
            row.drive.ios if row.drive else None),
    "iops": ("a rate", _rate),
    "bandwidth": ("bytes a second", _rate),
    "mean": ("time", _latency),
    **dict.fromkeys(PERCENTILES.values(), ("time", _latency)),
    "max": ("time", _latency),
    "path": ("time", lambda row, _side, _: row.path_ns()),
    **dict.fromkeys(PARTS, ("time", _part)),
}  # fmt: skip
_NAME = re.compile(
    rf"(?:(?P<job>.+)/)?(?:(?P<op>{'|'.join(OPS)})\.)?(?:(?P<side>guest|drive)\.)?(?P<name>[^/]+)"
)


@dataclass(frozen=True)
class Figure:
    """Holds the parts of a figure's name."""

    job: str | None
    op: str | None
    side: str | None
    name: str

    @property
    def dimension(self) -> str:
        """Return what it counts."""
        return (OF_ROW if self.name in OF_ROW else OF_RUN)[self.name][0]


def figure(text: str) -> Figure:
    """Read a figure's name."""
    match = _NAME.fullmatch(text)
    known = [*OF_RUN, *OF_ROW]
    name = match["name"].replace("_", "-") if match else ""
    if not match or name not in known:
        raise SlateError(
            f"there is no figure '{text}'{names.nearest(name, known)}",
            f"[JOB/][OP.]NAME, with NAME one of: {', '.join(known)}",
        )
    found = Figure(match["job"], match["op"], match["side"], name)
    if name in OF_RUN and (found.op or found.side or (found.job and name != "waf")):
        raise SlateError(f"the figure {name} is of the whole run: '{text}' has no meaning", f"write '{name}'")
    return found


def file_name(measure: str) -> str:
    """Return the name of a measure's chart, without its suffix."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", measure).strip("-.") or "measure"


def check(measures: list[Measure]) -> None:
    """Refuse unknown figures, units, and names whose charts would be one file, and set the usual units."""
    files: dict[str, str] = {}
    for one in measures:
        other = files.setdefault(file_name(one.name), one.name)
        if other != one.name:
            told = f"measures '{other}' and '{one.name}' have one name of a file, {file_name(one.name)}"
            raise SlateError(told, "rename one of them")
        try:
            _check(one)
        except SlateError as error:
            raise SlateError(f"measure {one.name}: {error.message}", error.fix) from None


def _check(one: Measure) -> None:
    if one.of:
        found = figure(one.of)
        units = UNITS[found.dimension]
        one.unit = next(iter(units)) if one.unit is None else one.unit
        if one.unit not in units:
            told = ", ".join(repr(name) for name in units)
            raise SlateError(f"unit '{one.unit}': {found.name} is {found.dimension}", f"use one of: {told}")
    if one.reduce and one.reduce not in REDUCE:
        raise SlateError(f"there is no reduce = '{one.reduce}'", f"use one of: {', '.join(REDUCE)}")
    if one.reduce and not one.json:
        raise SlateError("'reduce' is for a list in a JSON file", "leave it out")
    one.unit = one.unit or ""
    if one.stored and not (one.json and _scale(one)):
        raise SlateError(
            f"stored = '{one.stored}', unit = '{one.unit}': are no two units of a number in a JSON file",
            'stored = "ns", unit = "ms"',
        )


def _scale(one: Measure) -> float | None:
    """Return what a stored number is times the study's unit; None: the units have nothing in common."""
    for units in UNITS.values():
        if one.stored in units and one.unit in units:
            return units[one.stored] / units[one.unit]
    return None


class Result:
    """Reads measures from the result of one run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._json: dict[str, Any] = {}
        self.latencies: dict[str, OpAccount] = {}  # of the I/O that measures name, by JOB OP

    @functools.cached_property
    def _shown(self) -> Report:
        replay = self.folder / "replay.json"
        return reports.of(runfiles.load(replay if replay.exists() else self.folder))

    def values(self, measures: list[Measure], point: Point) -> tuple[dict[str, float], dict[str, str]]:
        """Return the measures that the run has, and of the others why it lacks them."""
        found: dict[str, float] = {}
        lacks: dict[str, str] = {}
        for one in measures:
            try:
                value = self._value(one, {**point, **found}, lacks)
                if not math.isfinite(value):
                    raise Lacks("it is not finite")
                found[one.name] = value
            except Lacks as error:
                lacks[one.name] = str(error)
        return found, lacks

    def _value(self, one: Measure, values: dict[str, Value], lacks: dict[str, str]) -> float:
        if one.value:
            missing = [name for name in one.value.names if name not in values]
            if missing:
                raise Lacks(f"it needs {missing[0]}: {lacks.get(missing[0], 'which is not there')}")
            try:
                return float(one.value.value(values))
            except (SlateError, ValueError, TypeError, OverflowError) as error:
                raise Lacks(error.message if isinstance(error, SlateError) else str(error)) from None
        if one.json:
            return self._of_json(one) * ((_scale(one) if one.stored else None) or 1)
        asked = figure(one.of)
        value = self._of_row(asked) if asked.name in OF_ROW else self._of_run(asked)
        if value is None:
            raise Lacks(f"it has no {one.of}")
        return value / UNITS[asked.dimension][one.unit or ""]

    def _of_run(self, asked: Figure) -> Found:
        if asked.job:
            for part in self._shown.flash:
                if part.name == asked.job:
                    return part.amplification
            told = ", ".join(part.name for part in self._shown.flash) or "none"
            raise Lacks(f"it has no job {asked.job} with a WAF of its own (jobs: {told})")
        return OF_RUN[asked.name][1](self._shown)

    def _of_row(self, asked: Figure) -> Found:
        rows = [row for row in self._shown.rows if asked.job in (None, row.job) and asked.op in (None, row.op)]
        told = ", ".join(dict.fromkeys(f"{row.job}/{row.op}" for row in self._shown.rows)) or "none"
        if len(rows) != 1:
            what = "no such I/O" if not rows else "several kinds of I/O"
            raise Lacks(f"it has {what}: name one of {told}")
        row = rows[0]
        side = asked.side or ("guest" if row.guest else "drive")
        if (side == "guest" and not row.guest) or (side == "drive" and not row.drive):
            raise Lacks(f"the {side} did not measure {row.job}/{row.op}")
        found = row.guest.histogram if side == "guest" and row.guest else row.drive
        if found and found.histogram:
            self.latencies[f"{row.job} {row.op}, by the {side}"] = found
        return OF_ROW[asked.name][1](row, side, asked.name)

    def _of_json(self, one: Measure) -> float:
        if one.json not in self._json:
            if "/" in one.json or not (self.folder / one.json).is_file():
                told = ", ".join(sorted(path.name for path in self.folder.glob("*.json")))
                raise Lacks(f"it has no {one.json} (there are: {told})")
            self._json[one.json] = shape.read(self.folder / one.json)
        value = self._json[one.json]
        for step in one.path.split("."):
            if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
                value = value[int(step)]
            elif isinstance(value, dict) and step in value:
                value = value[step]
            else:
                near = names.nearest(step, value) if isinstance(value, dict) else ""
                raise Lacks(f"{one.json} has no {one.path}: '{step}' is not there{near}")
        if one.reduce:
            if not isinstance(value, list) or not value or not all(map(_is_number, value)):
                raise Lacks(f"{one.path} of {one.json} is no list of numbers")
            return REDUCE[one.reduce](value)
        if not _is_number(value):
            raise Lacks(f"{one.path} of {one.json} is no number")
        return float(value)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the files of a finished run for a report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import drivesreport, fioresult, paths, replayfile, series, shape
from .account import ACCOUNT, LATE_US
from .errors import SlateError
from .series import Series
from .shape import Json

_NEEDED = ("device.json", "run.json")
_LATE = {"requests?": int, "sum-ns": int, "max-ns": int, **{f"late-{us}us": int for us in LATE_US}}
_TEXT = (None, str)
_DRIVE = {"path": str, "ephemeral": bool, "made_by_this_run": bool}
# A report uses these parts of each file.
_FILES = {
    "device.json": {
        "capacity": int,
        "total": ACCOUNT,
        "profile?": str,
        "at-ns?": int,
        "settings?": (str, [str]),
        "marks?": [{"kind": str, "label": str, "at-ns": int, "account": ACCOUNT, "processors?": [int]}],
        "dies?": [{"*": int}],
        "channels?": [{"*": int}],
        "processors?": [int],
        "real-time?": {"delivered?": _LATE, "posted?": _LATE},
    },
    "run.json": {
        "settings": {
            "profile": _TEXT,
            "smp": int,
            "seed": int,
            "virtual_time": bool,
            "cpu_rate?": _TEXT,
            "set?": [str],
            "namespaces?": [str],
            "fill_percent?": (None, float),
            "age?": (None, float),
            "drive?": (None, _DRIVE),
            "drives?": [
                {
                    "drive_name": str,
                    "profile": _TEXT,
                    "drive": (None, _DRIVE),
                    "fill_percent": (None, float),
                    "age": (None, float),
                    "set": [str],
                }
            ],
            **{f"{key}?": _TEXT for key in ("app", "job", "script", "content", "load", "kernel", "guest", "own_guest",
                                            "modules", "precondition")},
        },
        "versions?": {"*": _TEXT},
    },
    "fio.json": fioresult.SHAPE,
    "app.json": {
        "parts": [
            {
                "name": str,
                "operations": float,
                "seconds": float,
                "latency_ns": dict.fromkeys(("mean", "p50", "p99", "max"), (None, float)),
            }
        ],
        "parameters": {"*": object},
    },
    "series.json": series.SERIES,
    "blocks.json": series.BLOCKS,
}
_WHOLE = {"series.json": series.check_rows, "blocks.json": series.check_blocks}


@dataclass
class RunFiles:
    """Holds the files of a run."""

    path: Path
    device: Json
    record: Json
    fio: Json | None
    app: Json | None
    series: Series | None
    blocks: Json | None
    replay: Json | None = None  # the JSON itself, of which device, record and series are made

    @property
    def name(self) -> str:
        """Return the name of the folder, or of the replay's file."""
        return self.path.stem if self.replay else self.path.resolve().name


def load(folder: Path) -> RunFiles:
    """Read a folder that 'slate run' wrote, or the JSON of slate-replay."""
    if not folder.exists():
        raise SlateError(
            f"{paths.short(folder)} is not there",
            "name a directory that 'slate run' wrote (ls out), or what slate-replay wrote with --json",
        )
    if not folder.is_dir():
        return _replay(folder)
    several = drives(folder)
    if several:
        names = ", ".join(paths.short(path) for path in several)
        raise SlateError(f"{paths.short(folder)} is a run with {len(several)} drives", f"name one of them: {names}")
    found = {name: _read(_home(folder, name), name) for name in _FILES}
    device = found["device.json"]
    assert device and found["run.json"]
    number = _number(folder, found["run.json"])
    if number is not None:
        found["run.json"] = drivesreport.record_of(found["run.json"], number)
        found["fio.json"] = drivesreport.fio_of(device, found["fio.json"])
    raw = found["series.json"]
    return RunFiles(
        folder,
        device,
        found["run.json"],
        found["fio.json"],
        found["app.json"],
        Series(raw, device.get("at-ns", 0)) if raw else None,
        found["blocks.json"],
    )


def drives(folder: Path) -> list[Path]:
    """Return the folders of a run's drives; []: it has only one drive, or is not a run."""
    try:
        listed = shape.read(folder / "run.json")["settings"]["drives"]
        return [folder / one["drive_name"] for one in listed]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _home(folder: Path, name: str) -> Path:
    """Return the path of a file. Files about all drives are above the folders of each."""
    ours = name in ("run.json", "fio.json", "app.json") and not (folder / "run.json").exists()
    above = folder.resolve().parent
    return above if ours and folder.resolve() in [path.resolve() for path in drives(above)] else folder


def _number(folder: Path, record: Json) -> int | None:
    """Return the number of the folder's drive in the run; None: the run has one drive."""
    names = [one["drive_name"] for one in record["settings"].get("drives", ())]
    return names.index(folder.resolve().name) if names else None


def together(folder: Path) -> tuple[list[RunFiles], Json, Json | None]:
    """Return a run with several drives: each drive's files, run.json and fio.json."""
    each = [load(path) for path in drives(folder)]
    record = _read(folder, "run.json")
    assert record
    return each, record, _read(folder, "fio.json")


def _replay(path: Path) -> RunFiles:
    """Read a file that must be the JSON of a replay."""
    try:
        raw = replayfile.checked(_parsed(path, "name the JSON of slate-replay, or the directory of a run"))
        rows = replayfile.series(raw)
    except shape.Misfit as error:
        raise SlateError(
            f"{paths.short(path)} is not what slate-replay writes with --json: {error}",
            "name that, or the directory of a run (not a file in it)",
        ) from None
    return RunFiles(
        path,
        replayfile.device(raw),
        replayfile.record(raw),
        None,
        None,
        Series(rows, raw["time"]["idle_ns"]) if rows else None,
        None,
        raw,
    )


def _parsed(path: Path, fix: str = "run again") -> Any:
    """Parse JSON. Raises FileNotFoundError."""
    try:
        return shape.read(path)
    except FileNotFoundError:
        raise
    except ValueError as error:
        raise SlateError(
            f"can not read {paths.short(path)}: it is cut short or no JSON ({error})", fix
        ) from None
    except OSError as error:
        raise SlateError(
            f"can not read {paths.short(path)}: {(error.strerror or str(error)).lower()}",
            "check its owner and permissions",
        ) from None


def _read(folder: Path, name: str) -> Json | None:
    path = folder / name
    try:
        found: Json = _parsed(path)
    except FileNotFoundError:
        if name not in _NEEDED:
            return None
        failed = (folder / "console.log").exists()
        raise SlateError(
            f"{paths.short(folder)} holds no finished run: {name} is not there",
            f"that run failed: look at {paths.short(folder)}/console.log, then run it again"
            if failed
            else "name a directory that 'slate run' wrote (default: out/latest)",
        ) from None
    try:
        shape.check(found, _FILES[name])
        if name in _WHOLE:
            _WHOLE[name](found)
    except shape.Misfit as error:
        if name == "fio.json":
            return None  # a script may have written anything
        raise SlateError(f"{paths.short(path)} is not what 'slate run' writes: {error}", "run again") from None
    return found

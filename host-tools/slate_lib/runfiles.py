# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of a run that is over, as a report wants them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import paths
from .errors import SlateError
from .series import Series

Json = dict[str, Any]
_NEEDED = ("device.json", "run.json")
# For each file: what must be there, so that a file of something else is told from a run's.
_FILES = {
    "device.json": ("capacity", "total"),
    "run.json": ("settings",),
    "fio.json": ("jobs",),
    "app.json": ("parts",),
    "series.json": ("interval-ns", "rows", "dies"),
    "blocks.json": ("erases", "blocks-per-plane"),
}


@dataclass
class RunFiles:
    """A run."""

    path: Path
    device: Json
    record: Json
    fio: Json | None
    app: Json | None
    series: Series | None
    blocks: Json | None

    @property
    def name(self) -> str:
        """The folder's."""
        return self.path.resolve().name


def load(folder: Path) -> RunFiles:
    """Read a folder that 'slate run' wrote."""
    if not folder.exists():
        raise SlateError(
            f"{paths.short(folder)} is not there", "name a directory that 'slate run' wrote: ls out"
        )
    if not folder.is_dir():
        raise SlateError(
            f"{paths.short(folder)} is a file", "name the directory of a run, not a file in it"
        )
    found = {name: _read(folder, name) for name in _FILES}
    device = found["device.json"]
    assert device and found["run.json"]
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


def _read(folder: Path, name: str) -> Json | None:
    path = folder / name
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
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
    except ValueError as error:
        raise SlateError(
            f"can not read {paths.short(path)}: it is cut short or no JSON ({error})", "run again"
        ) from None
    except OSError as error:
        raise SlateError(
            f"can not read {paths.short(path)}: {(error.strerror or str(error)).lower()}",
            "check its owner and permissions",
        ) from None
    lacking = [key for key in _FILES[name] if not isinstance(found, dict) or key not in found]
    if lacking:
        if name == "fio.json":
            return None  # a script may write what it likes
        raise SlateError(
            f"{paths.short(path)} is not what 'slate run' writes: it has no '{lacking[0]}'", "run again"
        )
    return found

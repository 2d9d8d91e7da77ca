# SPDX-License-Identifier: GPL-2.0-or-later
"""Handles the files of a cut: drives, their recordings, and consoles of the guests that used them."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from .. import paths, sparse, units
from ..errors import MachineError, SlateError
from ..shape import Json

GROUP = 64  # cuts of a recording, and drives that a boot checks at most
# Options of slate-replay for times of the drive's clock, not from the first request on: those of no cuts.
BY_CLOCK = ("--ephemeral", "--open", "--cuts", "/dev/null")
GROUP_ON_HOST = 256  # cuts of a recording, if no boot checks them
ROOM = 5 << 30  # bytes of drive files at once
EVENTS = (2 * 16384 + 96, 2 * 16384 + 4096)  # where a drive file has the persistent events (SPEC.md, "Image")

CHUNK = 1 << 20  # bytes that are compared at once

PREFIX = "slate-campaign-"  # of folders with drives
SPARE = 128 << 20  # a drive refuses writes if its disk has less room than 64 MiB and its buffer; this is more
NEW_SECONDS = 60  # a folder so young may not have its lock yet


@contextlib.contextmanager
def work_folder() -> Iterator[Path]:
    """Make a folder for drives, and remove it at the end. First remove the folders of campaigns that were killed.

    A campaign locks its folder, so a folder without a lock is left over.
    """
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError), _locked(path):  # OSError: it is in use, another user's, or gone
            if time.time() - path.stat().st_mtime > NEW_SECONDS:
                shutil.rmtree(path, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=PREFIX) as name, _locked(Path(name)):
        yield Path(name)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(held)


@contextlib.contextmanager
def with_room(folder: Path) -> Iterator[None]:
    """Raise a SlateError if the disk is nearly full after a boot or a replay: its drives may have refused writes."""
    try:
        yield
    finally:
        disk = os.statvfs(folder)
        free = disk.f_bavail * disk.f_frsize
        if free < SPARE:
            raise SlateError(f"{folder}: no room: {units.size(free)} free, {units.size(SPARE)} needed",
                             "make room there, or set TMPDIR")  # fmt: skip


def content_of(drive: Path) -> Path:
    """Return the name of a drive's recording."""
    return drive.with_suffix(".content")


def replayed(whose: str, *words: object) -> Json:
    """Run slate-replay and return its report. whose: what the replay is for, in the message of its failure."""
    program = [str(paths.program("slate-replay")), *map(str, words), "--json", "-"]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MachineError(f"{whose}: slate-replay failed: {done.stderr.strip()}")
    found: Json = json.loads(done.stdout)
    return found


def drives_at_once(file_bytes: int) -> int:
    """Return how many drives one boot checks; file_bytes: size of a drive file on the disk."""
    return max(1, min(GROUP, ROOM // max(1, file_bytes)))


def keep_console(folder: Path, name: str) -> None:
    """Keep the console under another name, because the next boot makes a new one."""
    (folder / "console").replace(folder / f"{name}.console")


def copy_sparse(source: Path, target: Path) -> None:
    """Copy a drive file and keep its holes."""
    target.unlink(missing_ok=True)
    done = subprocess.run(
        ["cp", "--sparse=always", "--reflink=auto", source, target], stderr=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        target.unlink(missing_ok=True)
        raise SlateError(f"the drive was not copied: {done.stderr.strip()}", "make room there, or set TMPDIR")


def beside(drive: Path, number: int) -> Path:
    """Return the file of a cut's drive with this number. `drive` is the file of the first, 0."""
    return drive.with_name(f"{drive.stem}-{number}{drive.suffix}") if number else drive


def same_drives(one: Path, other: Path) -> bool:
    """Are two drive files equal, apart from the events of the controller's log, which a replay does not have?"""
    size = one.stat().st_size
    parts = ((0, EVENTS[0]), (EVENTS[1], size))
    with open(one, "rb") as first, open(other, "rb") as second:
        return other.stat().st_size == size and all(
            _has_stored(*files, *part) for files in ((first, second), (second, first)) for part in parts
        )


def _has_stored(one: BinaryIO, other: BinaryIO, begin: int, end: int) -> bool:
    """Has the other file all that the one stores in a part of it? What it does not store, its holes, are zeroes."""
    for at, stop in sparse.stored(one.fileno(), begin, end):
        for start in range(at, stop, CHUNK):
            length = min(CHUNK, stop - start)
            if os.pread(one.fileno(), length, start) != os.pread(other.fileno(), length, start):
                return False
    return True

# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the layout of the drive's logs as slate_wire.h declares it: `slate-profile --logs` prints it.

Structures have the names of slate_wire.h without slate_, fields those of its members.
"""

from __future__ import annotations

import functools
import struct
import subprocess
from dataclasses import dataclass
from typing import Any

from . import paths
from .errors import SlateError

_CODES = {1: "B", 2: "H", 4: "I", 8: "Q", 16: "16s"}


@dataclass(frozen=True)
class Layout:
    """Holds the fields of a structure that the launcher reads."""

    names: tuple[str, ...]
    reader: struct.Struct
    bytes: int  # of the whole structure; 0 if slate-profile does not print it


def _layout(fields: list[tuple[str, int, int]]) -> Layout:
    text, at = "<", 0
    whole = [size for name, _, size in fields if not name]
    known = [field for field in fields if field[0]]
    for _, place, size in known:
        text += f"{place - at}x{_CODES[size]}"
        at = place + size
    return Layout(tuple(name for name, _, _ in known), struct.Struct(text), whole[0] if whole else 0)


@functools.cache
def layouts() -> dict[str, Layout]:
    """Return the structures. Raises a SlateError if the core has not been built."""
    tool = paths.program("slate-profile")
    done = subprocess.run([tool, "--logs"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SlateError(f"{tool} --logs ended with {done.returncode}", paths.make("core"))
    found: dict[str, list[tuple[str, int, int]]] = {}
    for line in done.stdout.splitlines():
        structure, name, at, size = line.split("\t")
        found.setdefault(structure, []).append((name, int(at), int(size)))
    return {structure: _layout(fields) for structure, fields in found.items()}


def read(structure: str, log: bytes, at: int = 0) -> dict[str, Any]:
    """Return the fields of the structure that begins at this byte: numbers, and NUL-padded texts as bytes."""
    layout = layouts()[structure]
    return dict(zip(layout.names, layout.reader.unpack_from(log, at)))


def words(structure: str, log: bytes, count: int, at: int = 0) -> tuple[int, ...]:
    """Return count 64-bit numbers that begin `at` bytes after the structure's end."""
    return struct.unpack_from(f"<{count}Q", log, layouts()[structure].bytes + at)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks values of options that several commands have: numbers, and settings of a drive."""

from __future__ import annotations

import difflib
import re
import subprocess

from . import paths
from .errors import SlateError

_SETTING = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+=\S.*")
_NUMBER = {int: re.compile(r"-?[0-9]+"), float: re.compile(r"-?[0-9]*\.?[0-9]+(e-?[0-9]+)?")}


def number(name: str, text: str, low: float, high: float, kind: type[float] = int) -> float:
    """Return the value of an option, checked."""
    span = f"{_plain(low)} to {_plain(high)}"
    try:
        if not _NUMBER[kind].fullmatch(text):  # Python would read '1_6', ' 16', '+16' and digits of other scripts, too
            raise ValueError(text)
        value = kind(text)
    except ValueError:
        raise SlateError(
            f"--{name} {text}: not {'a whole number' if kind is int else 'a number'}",
            f"give a number from {span}",
        ) from None
    if not low <= value <= high:
        raise SlateError(f"--{name} {text}: out of range", f"give a number from {span}")
    return value


def _plain(value: float) -> str:
    """Return a limit as a user writes it: whole numbers with all their digits."""
    return str(int(value)) if value == int(value) else f"{value:g}"


def share(name: str, text: str, high: float, places: int) -> float:
    """Return a number that the drive's settings count in steps of 10^-places; finer numbers are refused."""
    value = number(name, text, 0, high, float)
    if abs(value - round(value, places)) > 1e-9:
        raise SlateError(f"--{name} {text}: finer than {10.0**-places:g}", f"give at most {places} decimal place(s)")
    return value


def memory_available() -> int | None:
    """Return the bytes that a new program may take, as host_memory.h has them; None if that is not known."""
    try:
        told = subprocess.run([paths.program("slate-profile"), "--memory"], capture_output=True, check=False).stdout
    except (SlateError, OSError):
        return None
    return int(told) if told.strip() else None


def check_settings(lines: list[str]) -> None:
    """Check the form of --set. The drive checks keys and values."""
    for line in lines:
        if not _SETTING.fullmatch(line):
            raise SlateError(
                f"--set {line}: not SECTION.KEY=VALUE{_key_meant(line)}", "for instance --set ftl.buffer_units=0"
            )


def _key_meant(line: str) -> str:
    """Return "; did you mean ftl.buffer_units?" for a key without its section, or an empty text."""
    name, equals, value = line.partition("=")
    if not equals or not value.strip() or "." in name:
        return ""
    try:
        listed = subprocess.run(
            [paths.program("slate-profile"), "--keys"], capture_output=True, text=True, check=False
        ).stdout
    except (SlateError, OSError):
        return ""
    keys = [row.partition("\t")[0] for row in listed.splitlines()]
    by_name: dict[str, list[str]] = {}
    for key in keys:
        by_name.setdefault(key.partition(".")[2], []).append(key)
    near = [name] if name in by_name else difflib.get_close_matches(name, by_name, 1, 0.6)
    return f"; did you mean {' or '.join(by_name[near[0]])}?" if near else ""

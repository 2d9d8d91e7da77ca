# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks what a JSON file looks like before anything is computed from it.

A report reads files that were copied, edited, cut short, or written by a job in the guest.
A SHAPE says what a file may hold:

    int, float     a whole number from 0; any number
    str, bool      these; None: null; object: anything
    [shape]        a list of such
    {key: shape}   at least these keys; 'key?': may be missing; '*': all others
    (shape, ...)   one of these

read() and parse() read a file, clean() removes characters that a terminal or a page must not get from its
text, and check() names the first value that does not fit.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

Shape = Any
Json = dict[str, Any]  # an object of a file, whose form check() has seen, or one to be written
# Control characters would move a terminal's cursor, and UTF-8 has no halves of surrogates.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_WORDS = {int: "a whole number from 0", float: "a number", str: "text", bool: "true or false", None: "null"}
_LIMIT = 1 << 64  # counters have 64 bits


class Misfit(ValueError):
    """Says which value does not fit, and where."""


def _constant(name: str) -> float:
    raise ValueError(f"{name} is no number")


def read(path: Path) -> Any:
    """Read and parse a file. Raises OSError, too."""
    return parse(path.read_bytes())


def parse(text: bytes) -> Any:
    """Parse JSON and clean it. Raises ValueError if it is not JSON."""
    try:
        return clean(json.loads(text.decode(), parse_constant=_constant))
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def clean(value: Any) -> Any:
    """Clean a value: texts get '�' for characters that cannot be shown, and numbers have at most 64 bits."""
    if isinstance(value, str):
        return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, list):
        return [clean(one) for one in value]
    if isinstance(value, dict):
        return {clean(key): clean(one) for key, one in value.items()}
    if isinstance(value, (int, float)) and not -_LIMIT < value < _LIMIT:
        raise ValueError("a number is out of range")
    return value


def check(value: Any, shape: Shape, where: str = "") -> None:
    """Raise Misfit unless value has the shape."""
    if isinstance(shape, dict):
        _check_dict(value, shape, where)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            raise Misfit(f"{_name(where)} is no list")
        for number, one in enumerate(value):
            check(one, shape[0], f"{where}[{number}]")
    elif isinstance(shape, tuple):
        _check_any(value, shape, where)
    elif shape is not object and not _fits(value, shape):
        raise Misfit(f"{_name(where)} is not {_WORDS[shape]}")


def _name(where: str) -> str:
    return f"'{where}'" if where else "it"


def _fits(value: Any, shape: Shape) -> bool:
    if shape is None:
        return value is None
    if isinstance(value, bool) or shape in (str, bool):
        return isinstance(value, shape) and (shape is bool or not isinstance(value, bool))
    if shape is int:
        return isinstance(value, int) and value >= 0
    return isinstance(value, (int, float))


def _check_dict(value: Any, shape: dict[str, Shape], where: str) -> None:
    if not isinstance(value, dict):
        raise Misfit(f"{_name(where)} is no object")
    dot = f"{where}." if where else ""
    known = set()
    for key, inner in shape.items():
        name = key.removesuffix("?")
        known.add(name)
        if name in value:
            check(value[name], inner, dot + name)
        elif key == name and key != "*":
            raise Misfit(f"it has no '{dot}{name}'")
    if "*" in shape:
        for key in value.keys() - known:
            check(value[key], shape["*"], dot + key)


def _check_any(value: Any, shapes: tuple[Shape, ...], where: str) -> None:
    for shape in shapes:
        try:
            check(value, shape, where)
            return
        except Misfit as error:
            misfit = error
    raise misfit

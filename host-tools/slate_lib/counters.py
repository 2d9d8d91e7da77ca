# SPDX-License-Identifier: GPL-2.0-or-later
"""The drive's counters and sources of NAND commands as its code declares them: names, places in the logs, sentences.

`slate-profile --counters` prints the tables of which the drive itself is made, so no name or place stands here.
"""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass

from . import paths
from .errors import SlateError

SOURCES = "sources"  # the group of the rows that are sources, not counters
GROUPS = ("op", "ftl", "source", "nand", "series-op", "series-drive")


@dataclass(frozen=True)
class Counter:
    """Holds a row of a table. Its index in the group is its place in a log."""

    name: str  # as in device.json: 'gc-units'
    kind: str  # COUNT, LEVEL, MIN or MAX
    says: str


@dataclass(frozen=True)
class Source:
    """Holds a row of NAND_SOURCES, which lists the parts of an FTL that issue NAND commands."""

    shown: str  # ALWAYS, or IF_ANY: a replay's JSON leaves it out where it is 0
    label: str  # its name in a sentence
    says: str


@functools.cache
def _printed() -> tuple[list[str], ...]:
    """Return the columns of each row that the tool prints. Raises a SlateError if the core has not been built."""
    tool = paths.program("slate-profile")
    done = subprocess.run([tool, "--counters"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SlateError(f"{tool} --counters ended with {done.returncode}", paths.make("core"))
    return tuple(line.split("\t") for line in done.stdout.splitlines())


@functools.cache
def declared() -> dict[str, tuple[Counter, ...]]:
    """Return the counters of each of the GROUPS. Raises a SlateError if the core has not been built."""
    found: dict[str, list[Counter]] = {group: [] for group in GROUPS}
    for group, name, *columns in _printed():
        if group != SOURCES:
            kind, says = columns
            found[group].append(Counter(name.replace("_", "-"), kind, says))
    return {group: tuple(rows) for group, rows in found.items()}


@functools.cache
def declared_sources() -> dict[str, Source]:
    """Return the sources of NAND commands by name, in the order of the log; none if the core has not been built."""
    try:
        return {name: Source(*columns) for group, name, *columns in _printed() if group == SOURCES}
    except SlateError:
        return {}


def sources(found: Iterable[str] = ()) -> list[str]:
    """Return the declared sources in the order of the log, and behind them others that a result has."""
    known = declared_sources()
    return [*known, *sorted(set(found) - known.keys())]


def source_label(name: str) -> str:
    """Return a source's name in a sentence."""
    known = declared_sources().get(name)
    return known.label if known else name


def names(group: str) -> list[str]:
    """Return the names of a group, in the order of the log."""
    return [counter.name for counter in declared()[group]]


@functools.cache
def place(group: str, name: str) -> int:
    """Return a counter's place in its group."""
    return names(group).index(name)


def after(group: str, name: str) -> list[str]:
    """Return the counters that were declared after this one; none if the core has not been built."""
    try:
        return names(group)[place(group, name) + 1 :]
    except SlateError:
        return []

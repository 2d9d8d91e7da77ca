# SPDX-License-Identifier: GPL-2.0-or-later
"""The drive's counters as its code declares them: names, places in the logs, and a sentence for each.

`slate-profile --counters` prints the tables of which the drive itself is made, so no name or place stands here.
"""

from __future__ import annotations

import functools
import subprocess
from dataclasses import dataclass

from . import paths
from .errors import SlateError

GROUPS = ("op", "ftl", "source", "nand", "series-op", "series-drive")


@dataclass(frozen=True)
class Counter:
    """A row of a table. Its index in the group is its place in a log."""

    name: str  # as in device.json: 'gc-units'
    kind: str  # COUNT, LEVEL, MIN or MAX
    says: str


@functools.cache
def declared() -> dict[str, tuple[Counter, ...]]:
    """Return the counters of each of the GROUPS. Raises a SlateError if the core has not been built."""
    tool = paths.program("slate-profile")
    done = subprocess.run([tool, "--counters"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SlateError(f"{tool} --counters ended with {done.returncode}", paths.make("core"))
    found: dict[str, list[Counter]] = {group: [] for group in GROUPS}
    for line in done.stdout.splitlines():
        group, name, kind, says = line.split("\t")
        found[group].append(Counter(name.replace("_", "-"), kind, says))
    return {group: tuple(rows) for group, rows in found.items()}


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

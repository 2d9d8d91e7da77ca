# SPDX-License-Identifier: GPL-2.0-or-later
"""Says what a cut of 'slate cuts' takes (--kind): what one emulated drive lost, or what NVMe allows any drive to lose.

Power off, a lost controller, a drive that is pulled (vanish.py) and one that ignores flushes are replays of the
recording on the emulated drive: its FTL decides what survives. For the others the replay tells which writes and trims
were not durable at the cut by NVMe's promises (slate-replay --unflushed), and a second replay leaves out those that the
kind loses and flushes the rest: the state is one that the promises allow, whatever the FTL does.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..errors import SlateError
from ..shape import Json

SECTOR = 512


@dataclass(frozen=True)
class Loss:
    """Holds what is left of an unflushed request: nothing, or the bytes of a write from `start` to `end`."""

    request: int
    start: int = 0
    end: int = 0

    def line(self) -> str:
        """Return the line of slate-replay's --lose."""
        return f"{self.request} {self.start} {self.end}" if self.end else f"{self.request}"


# Chooses, of the unflushed requests in the order of submission, what is lost. The number is the atomic unit in bytes.
Choice = Callable[[random.Random, list[Json], int], list[Loss]]


@dataclass(frozen=True)
class Kind:
    """Describes a kind of cut. promises: what still holds of NVMe's."""

    what: str
    promises: str
    replay: tuple[str, ...] = ()  # options of slate-replay
    settings: tuple[str, ...] = ()  # of the drive
    choose: Choice | None = None
    twice: bool = False  # cut again while the check writes
    lives: bool = False  # the machine goes on without the drive


def prefix(chance: random.Random, unflushed: list[Json], unit: int) -> list[Loss]:
    """Lose all from a random request on."""
    del unit
    keep = chance.randint(0, len(unflushed))
    return [Loss(one["request"]) for one in unflushed[keep:]]


def subset(chance: random.Random, unflushed: list[Json], unit: int) -> list[Loss]:
    """Lose each with a chance of one half."""
    del unit
    return [Loss(one["request"]) for one in unflushed if chance.random() < 0.5]


def states(chance: random.Random, unflushed: list[Json], most: int) -> list[list[Loss]]:
    """Return different subsets to lose: all 2^n if these are at most `most`; else none, all, and random others."""
    count = len(unflushed)
    if 1 << count <= most:
        numbers = list(range(1 << count))
    else:
        found = {0: None, (1 << count) - 1: None}
        while len(found) < most:
            found[chance.getrandbits(count)] = None
        numbers = list(found)
    return [[Loss(one["request"]) for at, one in enumerate(unflushed) if number >> at & 1] for number in numbers]


def torn(chance: random.Random, unflushed: list[Json], unit: int) -> list[Loss]:
    """Lose a third; of each write above the atomic unit that is left keep a random part, in whole units."""
    found = []
    for one in unflushed:
        fate, edges = chance.random(), _edges(one, unit)
        if fate < 1 / 3:
            found.append(Loss(one["request"]))
        elif len(edges) > 2:
            start, end = sorted(chance.sample(range(len(edges)), 2))
            if end - start < len(edges) - 1:
                found.append(Loss(one["request"], edges[start], edges[end]))
    return found


def _edges(one: Json, unit: int) -> list[int]:
    """Return where a write may be torn, in bytes: at its begin, at multiples of the atomic unit, at its end."""
    if one["op"] != "write":
        return []
    first, last = one["offset"], one["offset"] + one["bytes"]
    inside = range(first // unit * unit + unit, last, unit)
    return [0, *(at - first for at in inside), one["bytes"]]


def text(losses: Iterable[Loss]) -> str:
    """Return the file of slate-replay's --lose."""
    return "".join(loss.line() + "\n" for loss in sorted(losses, key=lambda loss: loss.request))


ALL = "flushed data, FUA writes and atomic writes survive"
KINDS = {
    "off": Kind("the power fails, and pages under way are torn", ALL),
    "controller": Kind("the controller loses its memory and its buffer; the flash keeps its power",
                       f"{ALL}; with capacitors, completed writes need not", ("--cut-what", "controller")),
    "vanish": Kind("the drive is pulled from a running machine, whose later announcements count, too", ALL, lives=True),
    "prefix": Kind("of the unflushed writes and trims a random prefix happens", f"{ALL}; order is kept",
                   choose=prefix),
    "subset": Kind("of the unflushed writes and trims any subset happens", f"{ALL}; order is not promised",
                   choose=subset),
    "torn": Kind("any subset happens, and of writes above the atomic unit a part", f"{ALL}; larger writes are torn",
                 choose=torn),
    "lying": Kind("the power of a drive fails that ignores flush and FUA (drive.ignore_flush)",
                  "NONE HOLDS: flushed data and FUA writes may be lost", settings=("drive.ignore_flush=yes",)),
    "recovery": Kind("the power fails, and again while the check writes", ALL, twice=True),
}  # fmt: skip


def given(text: str) -> Kind:
    """Return the kind that loses the requests whose numbers the user gave."""
    if not re.fullmatch(r"\d+(,\d+)*", text):
        raise SlateError(f"--take {text}: not numbers of requests", "write them as 17,19")
    numbers = set(map(int, text.split(",")))

    def choose(chance: random.Random, unflushed: list[Json], unit: int) -> list[Loss]:
        del chance, unit
        if unknown := sorted(numbers - {one["request"] for one in unflushed}):
            raise SlateError(f"--take {unknown[0]}: not an unflushed request at this cut",
                             "name requests that --shrink printed, with the same options")  # fmt: skip
        return [Loss(number) for number in sorted(numbers)]

    return Kind(f"the writes and trims {text} are lost, and no others", ALL, choose=choose)


def find(name: str) -> Kind:
    """Return a kind by name."""
    if name not in KINDS:
        raise SlateError(f"--kind {name}: not a kind of cut", f"use one of: {', '.join(KINDS)}")
    return KINDS[name]

# SPDX-License-Identifier: GPL-2.0-or-later
"""'slate cuts --id ID --shrink' explains a cut whose check fails.

1. The first bad nanosecond: between the beginning of the cuts' time, which must be good, and the cut, times are cut and
   checked, WIDTH in a boot, until a good nanosecond is followed by a bad one. There may be others before it.
2. What was lost there: of the writes and trims that no flush had made durable, those that the drive has not.
3. The smallest loss: states in which fewer of them are lost, and all others are there (slate-replay --lose), are
   checked, until none of the rest can be left out (ddmin). If the check accepts the state in which all of them are
   lost, whole writes that are not there do not explain it: a drive has torn one, or has lost what was durable.

Both searches ask for several answers at once, because a boot checks several drives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeVar

from .. import units
from ..shape import Json

WIDTH = 16  # times in a boot
SHOWN = 12  # announcements and requests in the account
DRAWN = 60  # requests in a picture of it

Item = TypeVar("Item")


def first_bad(good_ns: int, bad_ns: int, are_bad: Callable[[list[int]], list[bool]]) -> int:
    """Return a time that is bad, while the nanosecond before it is good."""
    while bad_ns - good_ns > 1:
        inside = bad_ns - good_ns - 1
        count = min(WIDTH, inside)
        times = [good_ns + (at + 1) * (inside + 1) // (count + 1) for at in range(count)]
        for at_ns, bad in zip(times, are_bad(times)):
            if bad:
                bad_ns = at_ns
                break
            good_ns = at_ns
    return bad_ns


def smallest(items: Sequence[Item], are_bad: Callable[[list[list[Item]]], list[bool]]) -> list[Item]:
    """Return a part of bad items that is bad, and is not if any one of them is left out (delta debugging)."""
    rest, parts = list(items), 2
    while len(rest) > 1:
        parts = min(parts, len(rest))
        edges = [at * len(rest) // parts for at in range(parts + 1)]
        alone = [rest[a:b] for a, b in pairwise(edges)]
        without = [rest[:a] + rest[b:] for a, b in pairwise(edges)] if parts > 2 else []
        tried = alone + without
        found = next((at for at, bad in enumerate(are_bad(tried)) if bad), None)
        if found is not None:
            rest, parts = tried[found], 2 if found < len(alone) else max(parts - 1, 2)
        elif parts == len(rest):
            break
        else:
            parts = 2 * parts
    return rest


@dataclass
class Account:
    """Holds what a search found. All times are of the drive's clock."""

    id: str
    verdict: str
    said: str
    at_ns: int
    unflushed: list[Json]  # at that time, as slate-replay lists them
    lost: list[Json]  # of these, what the drive has not
    smallest: list[Json] | None  # None: the loss of whole writes does not explain the verdict
    marks: list[tuple[str, int]]  # announcements
    repeat: str  # the command that makes this cut
    repeat_loss: str | None  # the command that makes the smallest loss
    requests: list[Json] = field(default_factory=list)  # the last ones until that time (figures.csv_rows)

    def durable(self) -> str:
        """Return what was announced before the cut."""
        before = [mark for mark in self.marks if mark[1] <= self.at_ns]
        return units.many(len(before), "announcement") + (f", the last is '{before[-1][0]}'" if before else "")

    def text(self) -> str:
        """Return the account for a person."""
        flying = [one for one in self.unflushed if one["done_ns"] is None]
        lines = [
            f"cut {self.id}: {self.verdict} from {self.at_ns} ns on; good 1 ns earlier",
            f"repeat    {self.repeat}",
            f"durable   {self.durable()}",
            f"in flight {', '.join(map(name, flying)) or 'no write or trim'}",
            f"unflushed {len(self.unflushed)} writes and trims, of which the drive lost {len(self.lost)}",
        ]
        if self.smallest is None:
            lines.append("smallest  whole writes that are lost do not explain it: a write is torn, or durable data are")
        else:
            lines.append(f"smallest  {len(self.smallest)} lost: {', '.join(map(name, self.smallest))}")
            lines.append(f"repeat    {self.repeat_loss}")
        said = self.said.rpartition("\n\nstatus")[0].rstrip()
        return "\n".join([*lines, *(["check     " + said.replace("\n", "\n          ")] if said else []), "",
                          self.timeline(), ""])  # fmt: skip

    def timeline(self) -> str:
        """Return the last events up to the cut, a line each."""
        least = {one["request"] for one in self.smallest or []}
        lost = {one["request"] for one in self.lost}
        events: list[tuple[int, str]] = [(self.at_ns, "POWER CUT")]
        for one in self.unflushed:
            fate = "LOST, explains it" if one["request"] in least else "lost" if one["request"] in lost else ""
            events.append((one["submit_ns"], f"{name(one)}  {fate}".rstrip()))
            if one["done_ns"] is not None:
                events.append((one["done_ns"], f"#{one['request']} completes, not flushed"))
        events += [(ns, f"durable: {words}") for words, ns in self.marks if ns <= self.at_ns][-SHOWN:]
        shown = sorted(events, key=lambda event: event[0])[-4 * SHOWN :]
        return "\n".join(f"{(ns - self.at_ns) / 1e3:14.3f} us  {what}" for ns, what in shown)


def name(one: Json) -> str:
    """Return the words for a request."""
    return f"#{one['request']} {one['op']} {one['bytes']} at {one['offset']}"


def lost_of(unflushed: list[Json]) -> list[Json]:
    """Return the writes that lack a sector after the cut, from a list with --survivors."""
    return [one for one in unflushed if one.get("sectors_there", one["bytes"] // 512) * 512 < one["bytes"]]

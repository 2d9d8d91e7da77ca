# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows the progress of a run on a terminal, from the drive's counters (SPEC.md).

Reading a log takes no virtual time and changes nothing in the machine, so the run's results are the same with
and without it.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from . import counters, logs, qmp, units
from .account import PACKING_FTL

COUNTERS_LOG, IDENTITY_LOG = 0xD1, 0xD0
PERIOD_SECONDS = 1.0
_WRITE = 1  # place of the writes in the first group
_PROGRAMMED = ("host-units", "meta-units", "pad-units", "gc-units", "wl-units")
_PACKED = ("host-pages", "gc-pages")  # of an FTL with several reduced units in a page as large as a unit


@dataclass
class Counters:
    """Holds the counters of log 0xd1 that are shown."""

    at_ns: int
    ios: int
    written: int
    programmed: int  # units, or pages as large as a unit
    gc_runs: int


@dataclass
class Identity:
    """Holds what log 0xd0 tells and the line needs."""

    unit_bytes: int
    packed: bool

    @classmethod
    def decode(cls, log: bytes) -> Identity:
        """Decode the identity of a drive."""
        told = logs.read("log_identity", log)
        return cls(told["unit_bytes"], told["ftl"].rstrip(b"\0") == PACKING_FTL.encode())


def decode(log: bytes, packed: bool) -> Counters:
    """Decode the counters of a log."""
    head = logs.read("log_counters", log)
    ops, op_words = head["ops"], head["op_words"]
    words = logs.words("log_counters", log, ops * op_words + head["ftl_words"])
    ftl = words[ops * op_words :]
    return Counters(
        logs.read("log_head", log)["at_ns"],
        sum(words[op * op_words + counters.place("op", "ios")] for op in range(ops)),
        words[_WRITE * op_words + counters.place("op", "bytes")],
        sum(ftl[counters.place("ftl", name)] for name in (_PACKED if packed else _PROGRAMMED)),
        ftl[counters.place("ftl", "gc-runs")],
    )


def words(before: Counters | None, now: Counters, unit_bytes: int, wall_seconds: float) -> str:
    """Return a line about the counters. wall_seconds: time since `before`."""
    text = f" · {now.at_ns / 1e9:.2f} s of guest time"
    passed = now.at_ns - before.at_ns if before else 0
    if before and passed > 0 and wall_seconds > 0:
        text += f" ({passed / 1e9 / wall_seconds:.2g}x)"
        text += f" · {units.rate((now.ios - before.ios) / passed * 1e9)} IOPS"
    if now.written:
        text += f" · WAF {now.programmed * unit_bytes / now.written:.2f}"
    if now.gc_runs:
        text += f" · GC {units.many(now.gc_runs, 'run')}"
    return text


def together(each: list[Counters], unit_bytes: list[int]) -> tuple[Counters, int]:
    """Return the counters of one drive, or the sums over several drives with programmed units as bytes; and their
    unit.
    """
    if len(each) == 1:
        return each[0], unit_bytes[0]
    found = Counters(max(one.at_ns for one in each), 0, 0, 0, 0)
    for one, unit in zip(each, unit_bytes):
        found.ios += one.ios
        found.written += one.written
        found.programmed += one.programmed * unit
        found.gc_runs += one.gc_runs
    return found, 1


class Live:
    """Reads the counters of all drives from time to time; it never blocks and never fails."""

    def __init__(self, monitor: qmp.Monitor, nodes: list[str]):
        self._monitor = monitor
        self._nodes = nodes
        self._task: asyncio.Task[list[bytes | None]] | None = None
        self._asked = 0.0
        self._drives: list[Identity] = []
        self._before: tuple[Counters, float] | None = None
        self.text = ""

    def poll(self) -> str:
        """Return a line about the last counters read."""
        now = time.monotonic()
        if self._task and self._task.done():
            self._take(self._task)
            self._task = None
        if not self._task and now - self._asked >= PERIOD_SECONDS:
            self._asked = now
            self._task = asyncio.ensure_future(self._ask(COUNTERS_LOG if self._drives else IDENTITY_LOG))
        return self.text

    async def _ask(self, log: int) -> list[bytes | None]:
        return [await self._monitor.log(node, log) for node in self._nodes]

    def _take(self, task: asyncio.Task[list[bytes | None]]) -> None:
        answers = [] if task.cancelled() or task.exception() else task.result()
        told = [log for log in answers if log]
        if len(told) < len(self._nodes):
            return
        if not self._drives:
            self._drives = [Identity.decode(log) for log in told]
            self._asked = 0.0
            return
        found = [decode(log, drive.packed) for log, drive in zip(told, self._drives)]
        now, unit = together(found, [drive.unit_bytes for drive in self._drives])
        before, when = self._before or (None, self._asked)
        self.text = words(before, now, unit, self._asked - when)
        self._before = (now, self._asked)

    def clock(self) -> tuple[int, int] | None:
        """Return the drive's time and the I/Os so far, as last read; None: not yet."""
        return (self._before[0].at_ns, self._before[0].ios) if self._before else None

    async def stop(self) -> None:
        """Cancel the requests under way."""
        if self._task:
            await asyncio.wait((self._task,), timeout=5)
            if self._task.done():
                self._take(self._task)
            else:
                self._task.cancel()
            self._task = None

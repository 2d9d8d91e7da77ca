# SPDX-License-Identifier: GPL-2.0-or-later
"""Says when --cut-at cuts: at a time of the drive's clock, or relative to what the work or the drive did.

  1.5s              a time, as for 'slate run --cut-at'
  mark:WORDS        when 'slate-mark durable WORDS' announced: the first line with exactly these words
  mark:WORDS+200us  so much later; with -, so much earlier
  flush:3           when the third flush of the recording ends; also write and trim, and later or earlier as above
  flush:3..7        each of these
  program:3         when the third NAND program ends, in the order in which the drive's dies got them; also erase
  program-begin:3   when its cells begin to change: a cut then leaves no trace of it, and one from 1 ns later until 1 ns
                    before its end tears it
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from .. import units
from ..errors import SlateError, plain

LATEST_NS = 1 << 60  # libslate's SLATE_CUT_NS_MAX
SHOWN = 5  # announcements in a message
_TIME = re.compile(r"(\d{1,20})(?:\.(\d{1,9}))?(ns|us|ms|s)")
_DIGITS = {"ns": 0, "us": 3, "ms": 6, "s": 9}
_LINE = re.compile(rb"^(.+) (\d+)\r?\n", re.MULTILINE)
_LATER = r"(?:([+-])(\d+(?:\.\d+)?(?:ns|us|ms|s)))?"
_MARK = re.compile(rf"mark:(.+?){_LATER}")
_NUMBER = r"[1-9]\d{0,8}"
_EVENT = r"flush|write|trim|(?:program|erase)(?:-begin)?"
_EVENTS = re.compile(rf"({_EVENT}):({_NUMBER})(?:\.\.({_NUMBER}))?{_LATER}")


@dataclass(frozen=True)
class When:
    """Holds a time. mark: the announcement to which ns is relative; op, number: the event. Empty: none."""

    ns: int
    mark: str = ""
    op: str = ""
    number: int = 0

    @property
    def base(self) -> str:
        """Return what ns is relative to."""
        return f"mark:{self.mark}" if self.mark else f"{self.op}:{self.number}" if self.op else ""

    def __str__(self) -> str:
        return f"{self.base}{self.ns:+d}ns" if self.base else f"{self.ns}ns"


def lines(report: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield the words and the times that a work announced. An incomplete line does not count."""
    for match in _LINE.finditer(report):
        yield match[1], int(match[2])


def announced(report: bytes, at_ns: int) -> list[bytes]:
    """Return the lines, without their times, that a work had announced by then."""
    return [words + b"\n" for words, ns in lines(report) if ns <= at_ns]


def parse_time(text: str) -> int:
    """Parse a time to nanoseconds, exactly."""
    match = _TIME.fullmatch(text)
    digits = _DIGITS[match[3]] if match else 0
    fraction = (match[2] or "") if match else ""
    if not match or len(fraction) > digits:
        raise SlateError(
            f"--cut-at {text}: not a time in whole nanoseconds", "write it as 1.5s, 800ms, 20us or 1500000001ns"
        )
    ns = int(match[1] + "0" * digits) + int(fraction.ljust(digits, "0") or 0)
    if ns > LATEST_NS:
        raise SlateError(f"--cut-at {text}: later than {LATEST_NS} ns, the latest cut", "give an earlier time")
    return ns


def parse(text: str, limit: int) -> tuple[When, ...]:
    """Parse the value of --cut-at."""
    found = tuple(itertools.islice((when for word in text.split(",") for when in _each(word)), limit + 1))
    if len(found) > limit:
        raise SlateError(f"--cut-at: more than {limit} times", f"give at most {limit}")
    return found


def _each(text: str) -> Iterator[When]:
    if match := _EVENTS.fullmatch(text):
        first, last = int(match[2]), int(match[3] or match[2])
        if last < first:
            raise SlateError(f"--cut-at {text}: the last comes before the first", f"write {match[1]}:{last}..{first}")
        yield from (When(_later(match[4], match[5]), op=match[1], number=at) for at in range(first, last + 1))
    else:
        yield _one(text)


def _one(text: str) -> When:
    if not text.startswith("mark:"):
        try:
            return When(parse_time(text))
        except SlateError as error:
            fix = f"{error.fix}, or relative as mark:WORDS+200us, flush:3..7-1ns, program:3 or erase-begin:3"
            raise SlateError(error.message, fix) from None
    match = _MARK.fullmatch(text)
    if not match:
        raise SlateError(f"--cut-at {text}: no announcement is named", "write it as mark:WORDS or mark:WORDS+200us")
    return When(_later(match[2], match[3]), match[1])


def _later(sign: str | None, time: str | None) -> int:
    ns = parse_time(time) if time else 0
    return -ns if sign == "-" else ns


def ends(rows: Iterable[dict[str, str]]) -> dict[str, list[int]]:
    """Return when the requests of each kind ended, in this order, from the rows of slate-replay --csv."""
    found: dict[str, list[int]] = {}
    for row in rows:
        if row["latency_ns"]:
            found.setdefault(row["op"], []).append(int(row["submit_ns"]) + int(row["latency_ns"]))
    return {op: sorted(times) for op, times in found.items()}


def commands(rows: Iterable[dict[str, str]]) -> dict[str, list[int]]:
    """Return when the NAND commands of each kind began and ended, by number, from slate-replay --commands."""
    found: dict[str, list[int]] = {}
    for row in sorted(rows, key=lambda row: int(row["command"])):
        op = "erase" if row["op"] == "erase" else "program"  # all others program a page
        found.setdefault(f"{op}-begin", []).append(int(row["cells_ns"]))
        found.setdefault(op, []).append(int(row["end_ns"]))
    return found


def since(found: Mapping[str, list[int]], begin_ns: int) -> dict[str, list[int]]:
    """Return the times of the events that began at begin_ns or later. Of requests only ends are known."""
    begins = {op: found.get(f"{op.removesuffix('-begin')}-begin", times) for op, times in found.items()}
    return {op: [ns for ns, begin in zip(times, begins[op]) if begin >= begin_ns] for op, times in found.items()}


def resolve(
    when: When, report: bytes, end_ns: int, events: Mapping[str, list[int]] | None = None, begin_ns: int = 0
) -> int:
    """Return the time on the drive's clock. The work ran from begin_ns to end_ns; events: ends() and commands()."""
    if not when.base:
        if not begin_ns <= when.ns <= end_ns:
            raise SlateError(f"--cut-at {when}: the work ran from {_span(begin_ns, end_ns)}",
                             "name a time of the work, or give it more time (--span SEC)")  # fmt: skip
        return when.ns
    base_ns, name = _of_mark(when, report, end_ns) if when.mark else _of_event(when, events or {}, end_ns)
    at_ns = base_ns + when.ns
    if not begin_ns <= at_ns <= end_ns:
        raise SlateError(
            f"--cut-at {when}: {name} came at {_ms(base_ns)}, so the cut is at {_ms(at_ns)}, and the work "
            f"ran from {_span(begin_ns, end_ns)}",
            "name an earlier time, or give the work more time (--span SEC)" if at_ns > end_ns else "name a later time",
        )
    return at_ns


def _span(begin_ns: int, end_ns: int) -> str:
    return f"{_ms(begin_ns) if begin_ns else 0} to {_ms(end_ns)}"


def _of_mark(when: When, report: bytes, end_ns: int) -> tuple[int, str]:
    found = list(lines(report))
    times = [ns for words, ns in found if words == when.mark.encode()]
    if not times:
        raise SlateError(f"--cut-at {when}: the work did not announce '{when.mark}' by {_ms(end_ns)}; {_told(found)}",
                         "name one of its announcements (a time after it needs a unit: mark:WORDS+200us), or give the "
                         "work more time (--span SEC)")  # fmt: skip
    return times[0], f"'{when.mark}'"


def _of_event(when: When, events: Mapping[str, list[int]], end_ns: int) -> tuple[int, str]:
    times = events.get(when.op, [])
    if len(times) < when.number or times[when.number - 1] > end_ns:
        kind, _, begin = when.op.partition("-")
        many = units.many(sum(ns <= end_ns for ns in times), kind, "flushes" if kind == "flush" else "")
        raise SlateError(f"--cut-at {when}: only {many} had {'begun' if begin else 'ended'} by {_ms(end_ns)}",
                         "name an earlier one, or give the work more time (--span SEC)")  # fmt: skip
    return times[when.number - 1], f"{when.op} {when.number}"


def _told(found: list[tuple[bytes, int]]) -> str:
    if not found:
        return "it announced nothing (slate-mark durable WORDS)"
    words = [f"'{plain(line.decode(errors='replace'))}'" for line, _ in found]
    shown = words if len(words) <= SHOWN else [*words[: SHOWN - 1], "...", words[-1]]
    return f"it announced {', '.join(shown)}"


def _ms(ns: int) -> str:
    return f"{ns / 1e6:.6f} ms"

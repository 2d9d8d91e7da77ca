# SPDX-License-Identifier: GPL-2.0-or-later
"""Says when --cut-at cuts: at a time of the drive's clock, or relative to an announcement of the work.

  1.5s              a time, as for 'slate run --cut-at'
  mark:WORDS        when 'slate-mark durable WORDS' announced: the first line with exactly these words
  mark:WORDS+200us  so much later; with -, so much earlier
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import SlateError, plain

SHOWN = 5  # announcements in a message
_TIME = re.compile(r"(\d+)(?:\.(\d+))?(ns|us|ms|s)")
_DIGITS = {"ns": 0, "us": 3, "ms": 6, "s": 9}
_LINE = re.compile(rb"^(.+) (\d+)\r?\n", re.MULTILINE)
_MARK = re.compile(r"mark:(.+?)(?:([+-])(\d+(?:\.\d+)?(?:ns|us|ms|s)))?")


@dataclass(frozen=True)
class When:
    """Holds a time. mark: the announcement to which ns is relative; empty: none."""

    ns: int
    mark: str = ""

    def __str__(self) -> str:
        return f"mark:{self.mark}{self.ns:+d}ns" if self.mark else f"{self.ns}ns"


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
    return int(match[1] + "0" * digits) + int(fraction.ljust(digits, "0") or 0)


def parse(text: str, limit: int) -> tuple[When, ...]:
    """Parse the value of --cut-at."""
    found = tuple(map(_one, text.split(",")))
    if len(found) > limit:
        raise SlateError(f"--cut-at: {len(found)} times", f"give at most {limit}")
    return found


def _one(text: str) -> When:
    if not text.startswith("mark:"):
        try:
            return When(parse_time(text))
        except SlateError as error:
            fix = f"{error.fix}, or relative to an announcement as mark:WORDS+200us"
            raise SlateError(error.message, fix) from None
    match = _MARK.fullmatch(text)
    if not match:
        raise SlateError(f"--cut-at {text}: no announcement is named", "write it as mark:WORDS or mark:WORDS+200us")
    ns = parse_time(match[3]) if match[3] else 0
    return When(-ns if match[2] == "-" else ns, match[1])


def resolve(when: When, report: bytes, end_ns: int) -> int:
    """Return the time on the drive's clock. end_ns: time until which the work ran."""
    if not when.mark:
        return when.ns
    found = list(lines(report))
    times = [ns for words, ns in found if words == when.mark.encode()]
    if not times:
        raise SlateError(f"--cut-at {when}: the work did not announce '{when.mark}' by {_ms(end_ns)}; {_told(found)}",
                         "name one of its announcements (a time after it needs a unit: mark:WORDS+200us), or give the "
                         "work more time (--span SEC)")  # fmt: skip
    at_ns = times[0] + when.ns
    if not 0 <= at_ns <= end_ns:
        raise SlateError(
            f"--cut-at {when}: '{when.mark}' came at {_ms(times[0])}, so the cut is at {_ms(at_ns)}, and the work "
            f"ran from 0 to {_ms(end_ns)}",
            "name an earlier time, or give the work more time (--span SEC)" if at_ns > 0 else "name a later time",
        )
    return at_ns


def _told(found: list[tuple[bytes, int]]) -> str:
    if not found:
        return "it announced nothing (slate-mark durable WORDS)"
    words = [f"'{plain(line.decode(errors='replace'))}'" for line, _ in found]
    shown = words if len(words) <= SHOWN else [*words[: SHOWN - 1], "...", words[-1]]
    return f"it announced {', '.join(shown)}"


def _ms(ns: int) -> str:
    return f"{ns / 1e6:.6f} ms"

# SPDX-License-Identifier: GPL-2.0-or-later
"""Parses KTAP in a kernel's log: nested subtests become cases with names.

A log is evidence only if it is complete. All cases of a plan must be there, a suite with 'ok' must
have no failed case, and a message about a fault of the kernel fails the current case. Each
violation becomes a failed case, so that none is overlooked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_STAMP = re.compile(r"^(?:<\d+>)?\[\s*(\d+\.\d+)\](?:\[[^]]*\])? ?(.*)$")
_PLAN = re.compile(r"^1\.\.(\d+)$")
_SUBTEST = re.compile(r"^# Subtest: (.+)$")
_RESULT = re.compile(r"^(ok|not ok) (\d+) (?:- )?(.*?)(?: # (SKIP|TODO)\b ?(.*))?$")
# KUnit sums up a suite or its parameters in these lines.
_TOTALS = re.compile(r"^# .*: pass:\d+ fail:\d+ skip:\d+ total:\d+$")
_TROUBLE = re.compile(
    r"\b(BUG: |Oops: |kernel BUG at |general protection fault|WARNING: CPU|Kernel panic|soft lockup"
    r"|rcu: INFO: |stack guard page|invalid opcode)"
)


@dataclass
class Case:
    """Holds one result line that has no results below it."""

    name: str  # suite.case, or suite.case.parameter
    passed: bool
    skipped: str = ""
    seconds: float = 0.0  # by the log's own clock
    said: list[str] = field(default_factory=list)  # lines of the log since the previous case


@dataclass
class _Level:
    """Holds a subtest that has begun."""

    name: str
    plan: int | None = None
    results: int = 0
    failed: int = 0


class _Reader:
    """Reads a log line by line."""

    def __init__(self) -> None:
        self.cases: list[Case] = []
        self.levels: list[_Level] = []  # [0] is the deepest one's outermost
        self.said: list[str] = []
        self.began = 0.0
        self.trouble = ""

    def line(self, stamp: float, text: str) -> None:
        """Take a line without its time stamp."""
        depth = (len(text) - len(text.lstrip(" "))) // 4
        words = text.strip()
        if _TROUBLE.search(words) and not self.trouble:
            self.trouble = words
        if match := _SUBTEST.match(words):
            self._begin(depth, match[1])
            self.said, self.began = [], stamp
        elif match := _PLAN.match(words):
            if 0 < depth == len(self.levels):
                self.levels[-1].plan = int(match[1])
        elif match := _RESULT.match(words):
            self._result(depth, stamp, match)
        elif words and words != "KTAP version 1" and not _TOTALS.match(words):
            self.said.append(words)

    def _begin(self, depth: int, name: str) -> None:
        while len(self.levels) >= max(depth, 1):
            self._cut_short(self.levels.pop())
        self.levels.append(_Level(name))

    def _cut_short(self, level: _Level) -> None:
        self.fail(f"{self._path()}{level.name}: its end", "it began and did not come to its end")

    def _path(self) -> str:
        return "".join(level.name + "." for level in self.levels)

    def _result(self, depth: int, stamp: float, match: re.Match[str]) -> None:
        ok, number, name = match[1] == "ok", int(match[2]), match[3]
        if depth < len(self.levels) and self.levels[-1].name == name:  # the line that ends a subtest
            self._end(self.levels.pop(), ok)
            if self.levels:
                self._count(number, ok)
            self.said, self.began = [], stamp
            return
        if not self.levels:
            self.fail(name, "a result of nothing that began")
            return
        self._count(number, ok)
        skipped = (match[5] or "no reason given") if match[4] == "SKIP" else ""
        self._add(Case(self._path() + name, ok, skipped, stamp - self.began, self.said))
        self.said, self.began = [], stamp

    def _count(self, number: int, ok: bool) -> None:
        level = self.levels[-1]
        level.results += 1
        level.failed += not ok
        if number != level.results:
            self.fail(f"{self._path()}result {number}", f"it is numbered {number} and is result {level.results}")

    def _end(self, level: _Level, ok: bool) -> None:
        where = self._path() + level.name
        if level.plan is None:
            self.fail(f"{where}: its plan", "it says nowhere how many cases it has")
        elif level.plan != level.results:
            self.fail(f"{where}: its plan", f"{level.plan} cases were announced, {level.results} ended")
        if not ok and not level.failed:
            self.fail(f"{where}: as a whole", "it failed, and all of its cases passed")
        if ok and level.failed:
            self.fail(f"{where}: as a whole", f"it passed, and {level.failed} of its cases failed")

    def _add(self, case: Case) -> None:
        if self.trouble:
            case.passed = False
            self.trouble = ""
        self.cases.append(case)

    def fail(self, name: str, why: str) -> None:
        """Report a fault of the log itself."""
        self.cases.append(Case(name, False, said=[why, *self.said[-60:]]))

    def end(self) -> None:
        """Check the state after the last line."""
        while self.levels:
            self._cut_short(self.levels.pop())
        if self.trouble:
            self.fail("the kernel", self.trouble)


def parse(log: str, suites: list[str]) -> list[Case]:
    """Return the cases of a kernel's log, which must have each of these suites once."""
    reader = _Reader()
    stamp = 0.0
    for raw in log.splitlines():
        text = raw.rstrip("\r")
        if match := _STAMP.match(text):
            stamp, text = float(match[1]), match[2]
        reader.line(stamp, text)
    reader.end()
    found = {case.name.partition(".")[0].partition(":")[0] for case in reader.cases}
    for name in suites:
        if name not in found:
            reader.fail(f"{name}: as a whole", "the log has no such suite")
    return reader.cases

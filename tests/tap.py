#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run unittest suites and print TAP: a line a test, its output when it fails.

tests/tap.py FOLDER [--jobs N [--modules]] [--only WORD] [--without PATTERN ...] [--list]
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import fnmatch
import io
import itertools
import json
import os
import resource
import signal
import sys
import tempfile
import time
import unittest
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

sys.dont_write_bytecode = True


def name_of(test: unittest.TestCase) -> str:
    """Return the test's name as module.Class.method, for --only."""
    parts = test.id().split(".")
    return ".".join(parts[-3:])


@dataclass
class Line:
    """Holds the result of a test, or of a part of one."""

    name: str
    ok: bool
    seconds: float
    comment: str = ""
    detail: str = ""
    cpu_s: float = 0.0  # 0: not known


class Tap:
    """Numbers the lines, and keeps those of one test together."""

    def __init__(self) -> None:
        self.number = 0

    def say(self, line: Line) -> None:
        """Print a test's line and its output."""
        self.number += 1
        result, used = "ok" if line.ok else "not ok", f" cpu={line.cpu_s:.2f}" if line.cpu_s else ""
        print(f"{result} {self.number} - {line.name}{line.comment} # time={line.seconds:.2f}{used}")
        for text in line.detail.splitlines():
            print(f"# {text}")
        sys.stdout.flush()


class TapResult(unittest.TestResult):
    """Holds the result of one test as lines."""

    def __init__(self, say: Callable[[Line], None]) -> None:
        super().__init__()
        self.say = say
        self.began = time.monotonic()
        self.bad = False

    def _say(self, test: unittest.TestCase, ok: bool, comment: str = "", detail: str = "") -> None:
        self.say(Line(name_of(test), ok, time.monotonic() - self.began, comment, detail))

    def addSuccess(self, test: unittest.TestCase) -> None:
        super().addSuccess(test)
        if not self.bad:
            self._say(test, True, detail=getattr(test, "figures", ""))

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self._say(test, True, f" # SKIP {reason}")

    def _fail(self, test: unittest.TestCase, error: object) -> None:
        self.bad = True
        figures = getattr(test, "figures", "")
        told = self._exc_info_to_string(error, test)  # type: ignore[attr-defined]  # unittest's own, not public
        self._say(test, False, detail=f"{figures}\n" * bool(figures) + told)

    def addFailure(self, test: unittest.TestCase, err: object) -> None:
        super().addFailure(test, err)  # type: ignore[arg-type]
        self._fail(test, err)

    def addError(self, test: unittest.TestCase, err: object) -> None:
        super().addError(test, err)  # type: ignore[arg-type]
        self._fail(test, err)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: object) -> None:
        super().addSubTest(test, subtest, err)  # type: ignore[arg-type]
        if err is not None:
            self._fail(test, err)


def run_one(test: unittest.TestCase, say: Callable[[Line], None]) -> bool:
    """Run a test; return True if it passed."""
    result = TapResult(say)
    test.run(result)
    return result.wasSuccessful()


def cpu_s() -> float:
    """Return the processor time of this process and of those that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


class Child:
    """Runs tests in a process of their own, which writes their lines to a file."""

    def __init__(self, tests: list[unittest.TestCase]) -> None:
        self.tests = tests
        self.began = time.monotonic()
        self.file: IO[str] = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 (open until the child ends)
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self._run()

    def _run(self) -> None:
        """Run the tests, then the exit handlers that they registered, but not those of the parent process."""
        status = 1
        try:
            atexit._clear()
            passed = [self._run_one(test) for test in self.tests]
            status = 0 if all(passed) else 1
            atexit._run_exitfuncs()
        finally:
            self.file.flush()
            os._exit(status)

    def _run_one(self, test: unittest.TestCase) -> bool:
        before = cpu_s()
        lines: list[Line] = []
        good = run_one(test, lines.append)
        for number, line in enumerate(lines):
            line.cpu_s = cpu_s() - before if number == 0 else 0
            print(json.dumps(vars(line)), file=self.file, flush=True)
        return good

    def tell(self, status: int, tap: Tap) -> bool:
        """Print the lines; return True if all passed."""
        self.file.seek(0)
        lines = [Line(**json.loads(line)) for line in self.file]
        self.file.close()
        code = os.waitstatus_to_exitcode(status)
        told = {line.name for line in lines}
        missing = [name_of(test) for test in self.tests if name_of(test) not in told]
        if missing or (code and all(line.ok for line in lines)):
            died = f"exit status {code}" if code >= 0 else f"signal {-code} ({signal.Signals(-code).name})"
            seconds = time.monotonic() - self.began
            for name in missing or [name_of(self.tests[-1])]:
                lines.append(Line(name, False, seconds, detail=f"its process ended: {died}"))
        for line in lines:
            tap.say(line)
        return code == 0 and not missing


def units(tests: list[unittest.TestCase], modules: bool) -> list[list[unittest.TestCase]]:
    """Return what one process runs: a test, or the tests of a module, for what these share."""
    if not modules:
        return [[test] for test in tests]
    return [list(group) for _, group in itertools.groupby(tests, lambda test: type(test).__module__)]


def run_all(tests: list[unittest.TestCase], jobs: int, modules: bool) -> list[bool]:
    """Run the tests one after another, or several at once, each in a process of its own."""
    tap = Tap()
    if jobs <= 1:
        return [run_one(test, tap.say) for test in tests]
    waiting = units(tests, modules)[::-1]
    running: dict[int, Child] = {}
    passed = []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                child = Child(waiting.pop())
                running[child.pid] = child
            pid, status = os.wait()
            if ended := running.pop(pid, None):
                passed.append(ended.tell(status, tap))
    finally:
        for pid in running:
            os.kill(pid, signal.SIGINT)
    return passed


def flatten(suite: unittest.TestSuite) -> list[unittest.TestCase]:
    """Return all tests, in order."""
    found: list[unittest.TestCase] = []
    for item in suite:
        found += flatten(item) if isinstance(item, unittest.TestSuite) else [item]
    return found


def main() -> int:
    """Returns 1 if a test failed."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", metavar="WORD", help="only tests whose name has WORD")
    parser.add_argument("--without", action="append", default=[], metavar="PATTERN", help="no test whose name matches")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="run N tests at once")
    parser.add_argument("--modules", action="store_true", help="with --jobs: a module's tests in one process")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    folder = args.folder.resolve()
    sys.path.insert(0, str(folder))
    with contextlib.redirect_stdout(io.StringIO()):
        found = unittest.TestLoader().discover(str(folder), pattern="test_*.py", top_level_dir=str(folder))
    tests = [test for test in flatten(found) if args.only.lower() in name_of(test).lower()]
    tests = [test for test in tests if not any(fnmatch.fnmatchcase(name_of(test), name) for name in args.without)]
    if args.list:
        print("\n".join(name_of(test) for test in tests))
        return 0
    print(f"1..{len(tests)}", flush=True)
    return 0 if all(run_all(tests, args.jobs, args.modules)) else 1


if __name__ == "__main__":
    sys.exit(main())

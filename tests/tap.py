#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run unittest suites and print TAP: a line a test, its output when it fails.

tests/tap.py FOLDER [--only WORD] [--list]
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True


def name_of(test: unittest.TestCase) -> str:
    """module.Class.method, for --only."""
    parts = test.id().split(".")
    return ".".join(parts[-3:])


class Tap:
    """Numbers the lines, and keeps those of one test together."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.number = 0

    def say(
        self, test: unittest.TestCase, ok: bool, seconds: float, comment: str = "", detail: str = ""
    ) -> None:
        """Print a test's line and its output."""
        with self.lock:
            self.number += 1
            print(f"{'ok' if ok else 'not ok'} {self.number} - {name_of(test)}{comment} # time={seconds:.2f}")
            for line in detail.splitlines():
                print(f"# {line}")
            sys.stdout.flush()


class TapResult(unittest.TestResult):
    """The result of one test."""

    def __init__(self, tap: Tap) -> None:
        super().__init__()
        self.tap = tap
        self.began = time.monotonic()
        self.bad = False

    def _say(self, test: unittest.TestCase, ok: bool, comment: str = "", detail: str = "") -> None:
        self.tap.say(test, ok, time.monotonic() - self.began, comment, detail)

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


def run_one(test: unittest.TestCase, tap: Tap) -> bool:
    """Run a test; return True if it passed."""
    result = TapResult(tap)
    test.run(result)
    return result.wasSuccessful()


def run_all(tests: list[unittest.TestCase], jobs: int) -> list[bool]:
    """Run the tests, one after another in the main thread, which alone may set signal handlers, or several at once."""
    tap = Tap()
    if jobs <= 1:
        return [run_one(test, tap) for test in tests]
    pool = ThreadPoolExecutor(jobs)
    try:
        return list(pool.map(lambda test: run_one(test, tap), tests))
    finally:
        pool.shutdown(cancel_futures=True)


def flatten(suite: unittest.TestSuite) -> list[unittest.TestCase]:
    """Return all tests, in order."""
    found: list[unittest.TestCase] = []
    for item in suite:
        found += flatten(item) if isinstance(item, unittest.TestSuite) else [item]
    return found


def main() -> int:
    """Returns 1 if a test failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", metavar="WORD", help="only tests whose name has WORD")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="run N tests at once")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    folder = args.folder.resolve()
    sys.path.insert(0, str(folder))
    with contextlib.redirect_stdout(io.StringIO()):
        found = unittest.TestLoader().discover(str(folder), pattern="test_*.py", top_level_dir=str(folder))
    tests = [test for test in flatten(found) if args.only.lower() in name_of(test).lower()]
    if args.list:
        print("\n".join(name_of(test) for test in tests))
        return 0
    print(f"1..{len(tests)}", flush=True)
    return 0 if all(run_all(tests, args.jobs)) else 1


if __name__ == "__main__":
    sys.exit(main())

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
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True


def name_of(test: unittest.TestCase) -> str:
    """module.Class.method, for --only."""
    parts = test.id().split(".")
    return ".".join(parts[-3:])


class TapResult(unittest.TestResult):
    """Prints each test when it ends."""

    def __init__(self) -> None:
        super().__init__()
        self.number = 0
        self.began = 0.0
        self.bad = False

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.began = time.monotonic()
        self.bad = False

    def _say(self, test: unittest.TestCase, ok: bool, comment: str = "", detail: str = "") -> None:
        self.number += 1
        took = time.monotonic() - self.began
        print(f"{'ok' if ok else 'not ok'} {self.number} - {name_of(test)}{comment} # time={took:.2f}")
        for line in detail.splitlines():
            print(f"# {line}")
        sys.stdout.flush()

    def addSuccess(self, test: unittest.TestCase) -> None:
        super().addSuccess(test)
        if not self.bad:
            self._say(test, True)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self._say(test, True, f" # SKIP {reason}")

    def _fail(self, test: unittest.TestCase, error: object) -> None:
        self.bad = True
        self._say(test, False, detail=self._exc_info_to_string(error, test))  # type: ignore[arg-type]

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


def flatten(suite: unittest.TestSuite) -> list[unittest.TestCase]:
    """All tests, in order."""
    found: list[unittest.TestCase] = []
    for item in suite:
        found += flatten(item) if isinstance(item, unittest.TestSuite) else [item]
    return found


def main() -> int:
    """Returns 1 if a test failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", metavar="WORD", help="only tests whose name has WORD")
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
    result = TapResult()
    unittest.TestSuite(tests).run(result)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())

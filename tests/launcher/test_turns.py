# SPDX-License-Identifier: GPL-2.0-or-later
"""Test tests/turns.py: each test that takes turns has one, and there is such a test."""

import fnmatch
import importlib.util
import re
import subprocess
import sys
import unittest
from typing import Any

from support import ROOT

sys.path.insert(0, str(ROOT / "tests"))
spec = importlib.util.spec_from_file_location("slate_run", ROOT / "tests" / "run.py")
assert spec and spec.loader
run = importlib.util.module_from_spec(spec)
sys.modules["slate_run"] = run
spec.loader.exec_module(run)
turns = run.turns


def suite(name: str) -> Any:
    """Return a suite of tests/run.py."""
    return next(one for one in run.suites() if one.name == name)


def listed(one: Any) -> list[str]:
    """Return the names of the tests that a suite's command would run."""
    words = [*one.command, "-N" if one.name == "core" else "--list"]
    said = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60).stdout
    return re.findall(r"Test +#\d+: (\S+)", said) if one.name == "core" else said.split()


class Turns(unittest.TestCase):
    """Look at the tests that take turns."""

    def test_each_has_one_turn(self) -> None:
        for name in {name for turn in turns.TURNS for name in turn} - {"fuzz"}:
            there = listed(suite(name))
            patterns = [pattern for turn in turns.TURNS for pattern in turn.get(name, ())]
            with self.subTest(suite=name):
                for pattern in patterns:
                    self.assertTrue(fnmatch.filter(there, pattern), f"no test is {pattern}")
                many = [test for test in there if sum(fnmatch.fnmatchcase(test, p) for p in patterns) > 1]
                self.assertEqual(many, [])
                self.assertLess(sum(any(fnmatch.fnmatchcase(test, p) for p in patterns) for test in there), len(there))

    def test_three_commits_run_all(self) -> None:
        """By the commands of tests/run.py: a test that takes turns runs at one commit of three, any other at each."""
        for name in ("core", "qemu", "reproduce", "guest", "docs"):
            whole = listed(suite(name))
            runs = []
            for turn in range(3):
                one = suite(name)
                self.assertTrue(run.leave_out(one, turn))
                runs.append(listed(one))
            patterns = [pattern for turn in turns.TURNS for pattern in turn.get(name, ())]
            for test in whole:
                mine = any(fnmatch.fnmatchcase(test, pattern) for pattern in patterns)
                self.assertEqual(sum(test in one for one in runs), 1 if mine else 3, test)
            self.assertEqual(set().union(*runs), set(whole))
        self.assertEqual([run.leave_out(suite("fuzz"), turn) for turn in range(3)], [True, False, False])

    def test_a_suite_without_turns_is_whole(self) -> None:
        self.assertEqual([turns.left_out("docs", number) for number in range(3)], [[], [], []])


if __name__ == "__main__":
    unittest.main()

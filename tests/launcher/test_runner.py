# SPDX-License-Identifier: GPL-2.0-or-later
"""The test runner counts what it should."""

import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path

from support import ROOT

_SPEC = importlib.util.spec_from_file_location("tests_run", ROOT / "tests" / "run.py")
runner = importlib.util.module_from_spec(_SPEC)
sys.modules["tests_run"] = runner
_SPEC.loader.exec_module(runner)


class Tap(unittest.TestCase):
    """TAP streams."""

    def test_lines(self):
        tests = runner.parse_tap(
            [
                "1..3",
                "ok 1 - a # time=1.50",
                "noise",
                "not ok 2 - b",
                "# why",
                "ok 3 - c # SKIP no disk",
                "not ok 4 - d # TODO later",
                "okay, not a test",
            ]
        )
        self.assertEqual(
            [(t.name, t.passed) for t in tests], [("a", True), ("b", False), ("c", True), ("d", True)]
        )
        self.assertEqual((tests[0].seconds, tests[1].output, tests[2].skipped), (1.5, ["why"], "no disk"))

    def junit(self, body):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.xml"
            path.write_text(f"<testsuite>{body}</testsuite>", encoding="utf-8")
            return [(t.name, t.passed) for t in runner.parse_junit(path)]

    def test_programs_that_name_cases(self):
        self.assertEqual(
            self.junit('<testcase name="p" status="run"><system-out>ok a\nok b\n</system-out></testcase>'),
            [("p: a", True), ("p: b", True)],
        )

    def test_a_crash_after_good_cases_counts(self):
        self.assertEqual(
            self.junit(
                '<testcase name="p" status="fail"><failure/><system-out>ok a\nboom\n</system-out></testcase>'
            ),
            [("p: a", True), ("p", False)],
        )

    def test_a_program_without_cases(self):
        self.assertEqual(
            self.junit('<testcase name="p" status="run"><system-out>fine\n</system-out></testcase>'),
            [("p", True)],
        )


if __name__ == "__main__":
    unittest.main()

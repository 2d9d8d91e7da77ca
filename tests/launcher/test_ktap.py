# SPDX-License-Identifier: GPL-2.0-or-later
"""Test tests/kunit/ktap.py: results in a kernel's log, and faults of a log that must be reported."""

import contextlib
import importlib.util
import io
import json
import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from support import ROOT


def of_kunit(name: str) -> Any:
    """Import a module of tests/kunit."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tests" / "kunit" / f"{name.removeprefix('kunit_')}.py")
    found = importlib.util.module_from_spec(spec)
    sys.modules[name] = found
    spec.loader.exec_module(found)
    return found


ktap = of_kunit("ktap")
kunit = of_kunit("kunit_run")

GOOD = """
[    0.9] nvme nvme0: 1/0/0 default/read/poll queues
[    1.000000]     KTAP version 1
[    1.000000]     # Subtest: core-rules
[    1.000000]     1..3
[    1.500000]     ok 1 data_and_oob_come_back
[    1.500000]     # r0: a word
[    1.750000]     ok 2 r0 # SKIP it is long
[    2.000000]     # r1: EXPECTATION FAILED at core.c:1
[    2.000000]     not ok 3 r1
[    2.000000] # core-rules: pass:1 fail:1 skip:1 total:3
[    2.000000] not ok 1 core-rules
"""


def log(*lines: Any) -> str:
    """Return a log of a suite 'a' with these lines."""
    return "\n".join(["    # Subtest: a", *lines])


class Ktap(unittest.TestCase):
    """Test complete and incomplete logs."""

    def cases(self, text: str, *suites: Any) -> list[tuple[str, bool]]:
        return [(case.name, case.passed) for case in ktap.parse(text, list(suites))]

    def test_a_suite(self) -> None:
        cases = ktap.parse(GOOD, ["core-rules"])
        self.assertEqual(
            [(c.name, c.passed, c.skipped, c.seconds) for c in cases],
            [
                ("core-rules.data_and_oob_come_back", True, "", 0.5),
                ("core-rules.r0", True, "it is long", 0.25),
                ("core-rules.r1", False, "", 0.25),
            ],
        )
        self.assertEqual(cases[2].said, ["# r1: EXPECTATION FAILED at core.c:1"])

    def test_parameters(self) -> None:
        text = log(
            "    1..1", "        # Subtest: case", "        1..2", "        ok 1 one", "        not ok 2 two",
            "    not ok 1 case", "not ok 1 a",
        )  # fmt: skip
        self.assertEqual(self.cases(text, "a"), [("a.case.one", True), ("a.case.two", False)])

    def test_a_case_that_never_came(self) -> None:
        self.assertEqual(
            self.cases(log("    1..2", "    ok 1 x", "ok 1 a"), "a"), [("a.x", True), ("a: its plan", False)]
        )

    def test_no_plan(self) -> None:
        self.assertEqual(self.cases(log("    ok 1 x", "ok 1 a"), "a"), [("a.x", True), ("a: its plan", False)])

    def test_a_suite_without_an_end(self) -> None:
        self.assertEqual(self.cases(log("    1..1", "    ok 1 x"), "a"), [("a.x", True), ("a: its end", False)])
        both = log("    1..1", "    ok 1 x") + "\n    # Subtest: b\n    1..1\n    ok 1 y\nok 2 b\n"
        self.assertEqual(self.cases(both, "a", "b"), [("a.x", True), ("a: its end", False), ("b.y", True)])

    def test_a_suite_that_never_began(self) -> None:
        text = log("    1..1", "    ok 1 x", "ok 1 a")
        self.assertEqual(self.cases(text, "a", "b"), [("a.x", True), ("b: as a whole", False)])
        self.assertEqual(self.cases("", "a"), [("a: as a whole", False)])

    def test_a_suite_at_odds_with_its_cases(self) -> None:
        self.assertEqual(
            self.cases(log("    1..1", "    not ok 1 x", "ok 1 a"), "a"), [("a.x", False), ("a: as a whole", False)]
        )
        self.assertEqual(
            self.cases(log("    1..1", "    ok 1 x", "not ok 1 a"), "a"), [("a.x", True), ("a: as a whole", False)]
        )

    def test_results_out_of_order(self) -> None:
        self.assertEqual(
            self.cases(log("    1..2", "    ok 1 x", "    ok 3 y", "ok 1 a"), "a"),
            [("a.x", True), ("a.result 3", False), ("a.y", True)],
        )

    def test_the_kernel_stumbles(self) -> None:
        text = log("    1..2", "BUG: kernel NULL pointer dereference", "    ok 1 x", "    ok 2 y", "ok 1 a")
        self.assertEqual(self.cases(text, "a"), [("a.x", False), ("a.y", True)])
        text = log("    1..1", "    ok 1 x", "ok 1 a", "WARNING: CPU: 0 PID: 1 at x.c")
        self.assertEqual(self.cases(text, "a"), [("a.x", True), ("the kernel", False)])


def suites(*names: Any) -> str:
    """Return a log in which each of these suites has one case."""
    return "".join(f"    # Subtest: {name}\n    1..1\n    ok 1 x\nok 1 {name}\n" for name in names)


class Runner(unittest.TestCase):
    """Test tests/kunit/run.py with logs made by hand."""

    def blk(self, said: str) -> list[str]:
        """Return the names of the cases that failed."""
        files = {
            "fault.json": b'{"nand": {"program_fails": 1}}',
            "lost.json": json.dumps({"nand": {"uncorrectable": kunit.LOST_READS}}).encode(),
        }

        def guest(what: list[str], _module: object, drive: Any) -> Any:
            self.booted.append(what)
            drive.touch()
            return (suites(*kunit.BLK) + said if what == ["blk"] else suites("blk-after-cut")), files

        self.booted: list[list[str]] = []
        with tempfile.TemporaryDirectory() as folder:
            with mock.patch.object(kunit, "guest", guest), mock.patch.object(kunit, "KEEP", Path(folder)):
                return [case.name for case in kunit.blk() if not case.passed]

    def test_after_a_cut(self) -> None:
        self.assertEqual(self.blk("# x: durable=3 written=5\n"), [])
        self.assertEqual(self.booted, [["blk"], ["after-cut", "3", "5"]])

    def test_a_log_that_does_not_say_what_to_look_for(self) -> None:
        self.assertEqual(self.blk(""), ["blk-after-cut: as a whole"])

    def test_no_case_of_that_name(self) -> None:
        errors = io.StringIO()
        with mock.patch.object(kunit, "check_built"), mock.patch.object(kunit, "tried", lambda *_: []):
            with mock.patch.object(sys, "argv", ["run.py", "--only", "nosuch"]), contextlib.redirect_stderr(errors):
                with contextlib.redirect_stdout(io.StringIO()), mock.patch.object(shutil, "rmtree"):
                    self.assertEqual(kunit.main(), 1)
        self.assertIn("no case has 'nosuch' in its name", errors.getvalue())


if __name__ == "__main__":
    unittest.main()

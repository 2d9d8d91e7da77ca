# SPDX-License-Identifier: GPL-2.0-or-later
"""Test tests/run.py: suites side by side, their limits, and interrupts."""

import contextlib
import importlib.util
import io
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from support import ROOT

spec = importlib.util.spec_from_file_location("slate_suites", ROOT / "tests" / "run.py")
assert spec and spec.loader
suites = importlib.util.module_from_spec(spec)
sys.modules["slate_suites"] = suites
spec.loader.exec_module(suites)

STUBBORN = "trap '' INT; echo 1..1; sleep 60 & wait; wait"  # ignores the interrupt, and so does its child


class Lanes(unittest.TestCase):
    """Run suites that are shell commands."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, value in (("RESULTS", Path(folder.name)), ("PATIENCE_S", 0.2)):
            patch = mock.patch.object(suites, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def suite(self, name: str, shell: str, limit_s: float = 60) -> Any:
        return suites.Suite(name, "a shell command", ["sh", "-c", shell], ROOT, "again {test}", limit_s=limit_s)

    def run_lanes(self, *chosen: Any) -> str:
        """Run suites and return what was printed."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            suites.run_lanes(list(chosen), "", suites.Screen())
        return said.getvalue()

    def test_a_guests_suite_runs_beside_the_others(self) -> None:
        """Each suite waits for the other one, so the test ends only if they run side by side."""
        meet = "touch {0}/{1}; while [ ! -e {0}/{2} ]; do sleep 0.05; done; echo ok 1 - {1}"
        first = self.suite("guest", meet.format(suites.RESULTS, "guest", "core"), 20)
        other = self.suite("core", meet.format(suites.RESULTS, "core", "guest"), 20)
        self.run_lanes(other, first)
        self.assertEqual([[test.passed for test in one.tests] for one in (first, other)], [[True], [True]])

    def test_a_limit_ends_what_ignores_an_interrupt(self) -> None:
        late = self.suite("core", STUBBORN, 0.3)
        began = time.monotonic()
        said = self.run_lanes(late)
        self.assertLess(time.monotonic() - began, 30)  # the command takes 60 s
        self.assertEqual([test.passed for test in late.tests], [False])
        self.assertIn("it took longer than 0 s", said)

    def test_a_full_disk(self) -> None:
        """A suite whose log cannot be written runs to its end, counts, and says so."""
        full = self.suite("core", "echo ok 1 - a; echo not ok 2 - b; echo ok 3 - c")
        log = suites.RESULTS / "core.log"
        log.symlink_to("/dev/full")
        said = self.run_lanes(full)
        self.assertEqual([test.passed for test in full.tests], [True, False, True])
        self.assertEqual(full.notes, [f"{log} is not whole: No space left on device"])
        self.assertIn(full.notes[0], said)

    def test_an_end_of_all(self) -> None:
        """An interrupt ends both lanes, and no other suite starts."""
        running = suites.Running()
        chosen = [self.suite("core", STUBBORN), self.suite("docs", "echo ok 1"), self.suite("guest", STUBBORN)]
        with mock.patch.object(suites, "Running", return_value=running), mock.patch.object(suites.signal, "signal"):
            lanes = threading.Thread(target=self.run_lanes, args=chosen)
            lanes.start()
            while len(running.processes) < 2:
                time.sleep(0.05)
            running.end()
            lanes.join(30)
        self.assertFalse(lanes.is_alive())
        self.assertEqual(chosen[1].tests, [])

    def test_a_fault_of_one_lane_ends_the_other(self) -> None:
        broken = self.suite("guest", "echo ok 1")
        broken.command = [str(suites.RESULTS / "none")]
        with mock.patch.object(suites.signal, "signal"), self.assertRaises(FileNotFoundError):
            self.run_lanes(self.suite("core", STUBBORN), broken)


if __name__ == "__main__":
    unittest.main()

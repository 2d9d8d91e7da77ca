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

    def test_room(self) -> None:
        """A build of 3 MB has taken its part of what is needed; the suites need some in any case."""
        (suites.RESULTS / "a").write_bytes(b"1" * 2_900_000)
        wanted = f"make test: 6 MB are left on the disk of {suites.RESULTS}, and 7 are needed: free some first"
        for room, left, free, want in ((10, 4, 7, ""), (10, 4, 6, wanted), (5, 7, 6, wanted), (5, 6, 6, "")):
            with (
                mock.patch.object(suites, "BUILD", suites.RESULTS),
                mock.patch.object(suites, "ROOM_MB", room),
                mock.patch.object(suites, "LEFT_MB", left),
                mock.patch.object(suites, "free_mb", return_value=free),
            ):
                self.assertEqual(suites.short_of_room(), want)

    def test_a_full_disk(self) -> None:
        """A suite whose log cannot be written runs to its end and counts; the log is one more failed test."""
        full = self.suite("core", "echo ok 1 - a; echo not ok 2 - b; echo ok 3 - c")
        (suites.RESULTS / "core.log").symlink_to("/dev/full")
        with mock.patch.object(suites, "free_mb", return_value=7):
            said = self.run_lanes(full)
        log = "(the log of core: No space left on device; 7 MB left)"
        self.assertEqual(
            [(test.name, test.passed) for test in full.tests], [("a", True), ("b", False), ("c", True), (log, False)]
        )
        self.assertIn(log, said)

    def test_a_full_disk_takes_what_is_printed(self) -> None:
        """The suites run; standard error has the rest."""
        first, other = self.suite("core", "echo ok 1 - a"), self.suite("docs", "echo ok 1 - b")
        said = io.StringIO()
        with (
            open("/dev/full", "w", encoding="utf-8", buffering=1) as full,
            contextlib.redirect_stdout(full),
            contextlib.redirect_stderr(said),
        ):
            suites.run_lanes([first, other], "", suites.Screen())
            with contextlib.suppress(OSError):
                full.close()
        self.assertEqual([test.passed for one in (first, other) for test in one.tests], [True, True])
        self.assertEqual([one for one in said.getvalue().split() if one in ("core", "docs")], ["core", "docs"])

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

    def test_a_command_that_cannot_be_started(self) -> None:
        """It is a failed test; the other suites of both lanes run."""
        broken, behind = self.suite("guest", "echo ok 1"), self.suite("core", "echo ok 1 - a")
        broken.command = [str(suites.RESULTS / "none")]
        self.run_lanes(broken, behind)
        why = f"(guest as a whole: [Errno 2] No such file or directory: '{suites.RESULTS}/none')"
        self.assertEqual([(test.name, test.passed) for test in broken.tests], [(why, False)])
        self.assertEqual([test.passed for test in behind.tests], [True])


if __name__ == "__main__":
    unittest.main()

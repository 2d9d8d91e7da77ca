# SPDX-License-Identifier: GPL-2.0-or-later
"""Test what a job asks for, and how much of it is left; numbers worked out by hand."""

import io
import tempfile
import unittest
from pathlib import Path

from support import ROOT  # noqa: F401 (sets the path of slate_lib)

from slate_lib import estimate, jobcheck
from slate_lib.estimate import Goal
from slate_lib.watch import Progress, Watcher

MIB = 1 << 20


def goal(text: str, capacity: int = 256 * MIB, **environment: str) -> Goal:
    return estimate.of(jobcheck.sections("job.fio", text), environment, capacity)


class Goals(unittest.TestCase):
    """Read times and sizes as fio does."""

    def test_size_over_block(self) -> None:
        self.assertEqual(goal("[a]\nsize=64m\nbs=4k\n"), Goal(None, 16384))
        self.assertEqual(goal("[a]\nbs=64k\n"), Goal(None, 4096))  # fio's default: the whole drive
        self.assertEqual(goal("[a]\nsize=50%\nbs=16k\nloops=3\nnumjobs=2\n"), Goal(None, 6 * 8192))
        self.assertEqual(goal("[a]\nsize=64m\nnumber_ios=100\n"), Goal(None, 100))
        self.assertEqual(goal("[a]\nsize=1m\nio_size=8m\n"), Goal(None, 2048))
        self.assertEqual(goal("[a]\nsize=1m\nio_size=8m\nnumber_ios=1000\n"), Goal(None, 1000))
        self.assertEqual(goal("[a]\nsize=1m\nnumber_ios=10\nloops=3\n"), Goal(None, 30))

    def test_loops_beside_io_size(self) -> None:
        """MiB that fio 3.33 and 3.41 moved on 1 MiB (findings/fio-io-size-loops.sh), in blocks of 4 KiB."""
        for io_size, loops, mib in (("512k", 4, 2), ("1m", 4, 4), ("3m", 1, 3), ("3m", 2, 3), ("3m", 4, 4)):
            self.assertEqual(goal(f"[a]\nsize=1m\nio_size={io_size}\nloops={loops}\n"), Goal(None, 256 * mib))

    def test_behind_an_offset(self) -> None:
        self.assertEqual(goal("[a]\noffset=64m\nbs=64k\n"), Goal(None, 3072))  # 192 of the 256 MiB
        self.assertEqual(goal("[a]\noffset=64m\nsize=1m\nbs=64k\n"), Goal(None, 16))

    def test_blocks_that_linux_splits_are_not_counted(self) -> None:
        self.assertEqual(goal("[a]\nsize=64m\nbs=512k\n"), Goal(None, 128))
        self.assertEqual(goal("[a]\nsize=64m\nbs=1m\n"), Goal(None, None))

    def test_time_based_jobs_have_no_number(self) -> None:
        self.assertEqual(goal("[a]\ntime_based\nruntime=60\nramp_time=5s\n"), Goal(65.0, None))
        self.assertEqual(goal("[a]\ntime_based=1\nruntime=300ms\n"), Goal(0.3, None))
        self.assertEqual(goal("[a]\ntime_based\nruntime=2m\n"), Goal(120.0, None))

    def test_sections_run_together_until_a_stonewall(self) -> None:
        common = "[global]\ntime_based\n"
        self.assertEqual(goal(common + "[a]\nruntime=3\n[b]\nruntime=2\n").seconds, 3.0)
        self.assertEqual(goal(common + "[a]\nruntime=3\n[b]\nstonewall\nruntime=2\n").seconds, 5.0)
        self.assertEqual(goal("[a]\nsize=1m\n[b]\nstonewall\nsize=2m\n").ios, 768)

    def test_what_bounds_nothing_is_not_told(self) -> None:
        self.assertEqual(goal("[a]\nbssplit=4k/50:64k/50\nsize=1m\n"), Goal(None, None))
        self.assertEqual(goal("[a]\nsize=1m\n[b]\nruntime=2\ntime_based\n"), Goal(None, None))
        self.assertEqual(Goal(None, None).words(), "")

    def test_variables(self) -> None:
        self.assertEqual(goal("[a]\nsize=${SIZE}\nruntime=${RUNTIME}\n", SIZE="25%", RUNTIME="2"), Goal(2.0, 16384))

    def test_words(self) -> None:
        self.assertEqual(Goal(60.0, None).words(), "asks for 60 s of the guest's time")
        self.assertEqual(Goal(2.0, 16384).words(), "asks for 16,384 I/Os or 2 s of the guest's time")


class Left(unittest.TestCase):
    """The time left is in proportion to the time that the part done has taken."""

    def test_by_time(self) -> None:
        self.assertEqual(Goal(60.0, None).left(15.0, 0, 100.0), " · the host needs about 5 min more")
        self.assertEqual(Goal(60.0, None).left(45.0, 0, 90.0), " · the host needs about 30 s more")

    def test_by_number(self) -> None:
        self.assertEqual(Goal(None, 1000).left(5.0, 500, 60.0), " · the host needs about 60 s more")

    def test_what_comes_first_ends_it(self) -> None:
        self.assertEqual(Goal(100.0, 1000).left(10.0, 500, 60.0), " · the host needs about 60 s more")

    def test_too_early_and_past_the_end(self) -> None:
        self.assertEqual(Goal(100.0, None).left(1.0, 0, 60.0), "")
        self.assertEqual(Goal(100.0, None).left(101.0, 0, 60.0), "")
        self.assertEqual(Goal(None, None).left(50.0, 5, 60.0), "")

    def test_a_watcher_counts_from_the_jobs_begin(self) -> None:
        watcher = Watcher(Path("/none"), Path("/none"), 600, Progress(io.StringIO(), 0.0), False)
        watcher.goal = Goal(10.0, None)
        watcher.phases = {"boot-done": 1.0, "job-start": 1.0}
        self.assertEqual(watcher._left(50.0), "")  # the drive's time is not known yet
        watcher._clock_ns = 2_000_000_000
        self.assertEqual(watcher._left(100.0), "")
        watcher._clock_ns = 7_000_000_000  # half of 10 s, in 40 s
        self.assertEqual(watcher._left(140.0), " · the host needs about 40 s more")

    def test_whose_time_it_is(self) -> None:
        """A line without a terminal names the host's time and the guest's."""
        said = io.StringIO()
        with tempfile.TemporaryDirectory(prefix="slate-") as folder:
            watcher = Watcher(Path(folder, "console"), Path(folder, "results"), 600, Progress(said, 0.0), False)
            watcher.live = " · 12.34 s of guest time (0.2x)"
            watcher._told = 1000.0
            watcher._show(1060.0)
            self.assertEqual(said.getvalue(), "")
            watcher._show(1061.0)
        self.assertEqual(said.getvalue(), "guest     booting ... 1061 s of host time · 12.34 s of guest time (0.2x)\n")


if __name__ == "__main__":
    unittest.main()

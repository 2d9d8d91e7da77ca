# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the works of 'slate cuts --ready', and several states of a cut (--states)."""

import argparse
import re
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import support  # noqa: F401  (sets the path)

from slate_lib import cli, paths
from slate_lib.cuts import command, kinds, ready, states, workload
from slate_lib.cuts.campaign import Moment, Recorded
from slate_lib.powercut import Plan


def parsed(*words: str) -> argparse.Namespace:
    """Return the arguments of 'slate cuts'."""
    return cli.parser().parse_args(["cuts", *words])


class Ready(unittest.TestCase):
    """Test how a work that is ready is found."""

    def work(self, text: str) -> workload.Workload:
        """Return a work, with a program of the guest that need not be built."""
        with tempfile.NamedTemporaryFile() as program, mock.patch.object(
            paths, "guest_program", return_value=Path(program.name)
        ):
            return workload.from_arguments(parsed("--ready", text))

    def test_what_a_variant_needs(self) -> None:
        for text, kernel, apps in (
            ("calls:fsync-ext4", "small", False), ("calls:odsync-ext4-plain", "small", False),
            ("calls:lazy-xfs", "small", False), ("calls:fsync-f2fs", "small", False),
            ("calls:rename-btrfs", "debian", True),
            ("calls:fsync-ext4-raid5ppllate", "debian", True),
            ("calls:atomic-raw", "small", False), ("sqlite:wal-full", "debian", True), ("postgres:on", "debian", True),
        ):  # fmt: skip
            found = self.work(text)
            self.assertEqual((found.kernel, found.apps), (kernel, apps), text)
            self.assertEqual(found.environment, {"CUTS_VARIANT": text.partition(":")[2]})
            self.assertEqual(found.facts["ready"], text)
            self.assertEqual("records" in found.programs, text.startswith("calls"))
            self.assertEqual(found.programs["make"], found.programs["check"])

    def test_a_command_repeats_it(self) -> None:
        words = command.options_of(parsed("--ready", "sqlite:wal-full", "--kind", "subset", "--states", "8"))
        self.assertEqual(words, ["--ready", "sqlite:wal-full", "--age", "1", "--span", "1", "--states", "8", "--seed",
                                 "1", "--kind", "subset"])

    def test_each_script_says_what_is_promised(self) -> None:
        """Each is a shell script that knows make, work and check, and says where its promises are from."""
        self.assertEqual(ready.known(), ["calls", "fio", "postgres", "rocksdb", "sqlite"])
        for name in ready.known():
            text = (ready.SCRIPTS / f"{name}.sh").read_text(encoding="utf-8")
            self.assertTrue(re.search(r"^# What is promised \(", text, re.MULTILINE), name)
            self.assertEqual(re.findall(r"^(make|work|check)\)", text, re.MULTILINE), ["make", "work", "check"], name)
            done = subprocess.run(["sh", "-n", ready.SCRIPTS / f"{name}.sh"], check=False)
            self.assertEqual(done.returncode, 0, name)

    def test_the_rows_of_sqlite(self) -> None:
        """The check's formula for a row's last change is that of the work."""
        rows: dict[int, int] = {}
        for top in range(1, 300):
            rows[top] = 0
            if top % 50 + 1 in rows:
                rows[top % 50 + 1] = top
            for n, last in rows.items():
                said = top - (top - n + 1) % 50
                self.assertEqual(said if n <= 50 and said > n else 0, last, (top, n))


class States(unittest.TestCase):
    """Test that a cut is as bad as the worst of its states."""

    def test_a_line(self) -> None:
        found = [{"request": 4, "bytes": 512}, {"request": 9, "bytes": 512}]
        power = {"unflushed": found, "cut-ns": 7, "lost-requests": 1, "torn-programs": 0, "torn-erases": 0,
                 "gc-runs": 0}  # fmt: skip
        campaign = mock.Mock(states=8, origin=Path(__file__), workload=mock.Mock(per_boot=3))
        campaign.replay.return_value = mock.Mock(), power
        campaign.lies.return_value = ()
        campaign.check.side_effect = [["ok\nstatus 0\n", "a\nstatus 1\n", "ok\nstatus 0\n"], ["b\n\nstatus 3\n"]]
        work, moment = Recorded(1, Path("t"), b"row 1 5\nrow 2 9\n"), Moment("1:0", Plan(at_ns=7))
        line: Any = states.line(campaign, work, moment)
        self.assertEqual([call[0][2] for call in campaign.take.call_args_list],
                         [[], [kinds.Loss(4)], [kinds.Loss(9)], [kinds.Loss(4), kinds.Loss(9)]])
        self.assertEqual((line["verdict"], line["said"]), ("inconsistent", "b\n\nstatus 3\n"))
        self.assertEqual((line["states"], line["unflushed"], line["operations"]), (4, 2, 1))
        self.assertEqual(line["bad"], [["lost", [4]], ["inconsistent", [4, 9]]])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the works of 'slate cuts --ready', and several states of a cut (--states)."""

import argparse
import importlib.util
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from support import ROOT

from slate_lib import cli, paths
from slate_lib.cuts import command, counts, kinds, logfile, ready, states, workload
from slate_lib.cuts.campaign import Moment, Recorded
from slate_lib.errors import SlateError
from slate_lib.powercut import Plan

SPEC = importlib.util.spec_from_file_location("works", ROOT / "tests" / "soak" / "cuts.py")
works = importlib.util.module_from_spec(SPEC)
sys.modules["works"] = works
SPEC.loader.exec_module(works)


EXAMPLES = {"calls": "fsync-ext4", "commits": "full", "fio": "write", "postgres": "on", "rocksdb": "sync",
            "sqlite": "wal-full"}  # fmt: skip


def parsed(*words: str) -> argparse.Namespace:
    """Return the arguments of 'slate cuts'."""
    return cli.parser().parse_args(["cuts", *words])


class Ready(unittest.TestCase):
    """Test how a work that is ready is found."""

    def work(self, text: str, *more: str) -> workload.Workload:
        """Return a work, with a program of the guest that need not be built."""
        with tempfile.NamedTemporaryFile() as program, mock.patch.object(
            paths, "guest_program", return_value=Path(program.name)
        ):
            return workload.from_arguments(parsed("--ready", text, *more))

    def test_what_a_variant_needs(self) -> None:
        for text, kernel, apps in (
            ("calls:fsync-ext4", "small", False), ("calls:odsync-ext4-plain", "small", False),
            ("calls:lazy-xfs", "small", False), ("calls:fsync-f2fs", "small", False),
            ("calls:rename-btrfs", "debian", True), ("calls:fsync-zonefs", "debian", True),
            ("calls:fsync-ext4-raid5ppllate", "debian", True),
            ("calls:atomic-raw", "small", False), ("sqlite:wal-full", "debian", True), ("postgres:on", "debian", True),
        ):  # fmt: skip
            found = self.work(text)
            self.assertEqual((found.kernel, found.apps), (kernel, apps), text)
            self.assertEqual(found.environment, {"CUTS_VARIANT": text.partition(":")[2]})
            self.assertEqual(found.facts["ready"], text)
            self.assertEqual("records" in found.programs, text.startswith("calls"))
            self.assertEqual(found.programs["make"], found.programs["check"])

    def test_a_check_on_the_host(self) -> None:
        """calls.sh has one for the drive itself, and for ext4 on it alone; the log's head tells it from a guest's."""
        host = (paths.GUEST_TOOLS / "jobs" / "cuts-host.sh").read_bytes()
        for text in ("calls:fsync-ext4", "calls:split-raw"):
            found = self.work(text, "--check-on-host")
            self.assertEqual((found.programs["check"], found.facts["on_host"], found.on_host), (host, True, True))
            self.assertNotEqual(found.programs["work"], host)
            self.assertNotIn("on_host", self.work(text).facts)
        for text in ("calls:fsync-xfs", "calls:fsync-ext4-raid1", "fio:write", "sqlite:wal-full"):
            with self.assertRaisesRegex(SlateError, f"--check-on-host with --ready {text}: its check needs a guest"):
                self.work(text, "--check-on-host")

    def test_a_command_repeats_it(self) -> None:
        words = command.options_of(parsed("--ready", "sqlite:wal-full", "--kind", "subset", "--states", "8"))
        self.assertEqual(words, ["--ready", "sqlite:wal-full", "--age", "1", "--span", "1", "--states", "8", "--seed",
                                 "1", "--kind", "subset"])

    def test_each_script_says_what_is_promised(self) -> None:
        """Each is a shell script that knows make, work and check, and says what each variant promises, and by what."""
        self.assertEqual(ready.known(), list(EXAMPLES))
        for name in ready.known():
            text = (ready.SCRIPTS / f"{name}.sh").read_text(encoding="utf-8")
            promise = re.search(r"^# What is promised \([^)]*.*?^(?!#)", text, re.MULTILINE | re.DOTALL)
            assert promise, name
            said = set(re.findall("[a-z0-9]+", promise[0]))
            for words in re.findall("[A-Z]+: ([a-z0-9 ]+)", ready.find(f"{name}:{EXAMPLES[name]}")[0].variants):
                for word in set(words.split()) - {"plain", "raw", "or"}:
                    parts = re.findall("raid5|ppl|late", word) if word.startswith("raid5") else [word]
                    self.assertLessEqual(set(parts), said, f"{name}: {word}")
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


class Works(unittest.TestCase):
    """Test the campaigns of 'make power-cuts-works'."""

    def test_rows(self) -> None:
        """Each has a log of its own, a work and a profile that exist; SQLite's promises are those of its manual."""
        rows = works.rows()
        self.assertGreater(sum(row.cuts for row in rows), 10_000)
        self.assertEqual(len({row.name for row in rows}), len(rows))
        for row in rows:
            if ":" in row.work:
                ready.find(row.work)
            for name in works.DRIVES[row.drive][0].split():
                self.assertTrue((paths.PROFILES / f"{name}.ini").exists(), row.drive)
        for journal, sync, promise in (
            ("wal", "full", works.NOTHING), ("wal", "normal", works.LAST), ("wal", "off", works.ANY),
            ("delete", "extra", works.NOTHING), ("delete", "full", works.LAST), ("delete", "normal", works.ANY),
            ("truncate", "full", works.NOTHING), ("persist", "normal", works.ANY), ("memory", "extra", works.ANY),
        ):  # fmt: skip
            self.assertEqual(works.sqlite(journal, sync), promise, (journal, sync))

    def test_command(self) -> None:
        row = works.Row("calls:fsync-ext4", "slc-static", 256, options="--check-on-host --kind controller")
        self.assertEqual(row.name, "calls-fsync-ext4-slc-static-controller")
        self.assertEqual(
            row.command(Path("log"))[1:],
            ["cuts", "--ready", "calls:fsync-ext4", "--set", "geometry.pages_per_block=24", "--set",
             "ftl.capacity_mib=20", "--set", "ftl.slc_cache=static", "--set", "ftl.slc_blocks=3", "--profile",
             "tlc-slc-small", "--check-on-host", "--kind", "controller", "--seed", "4700", "--count", "256", "--log",
             "log"])  # fmt: skip

        row = works.Row("calls:fsync-zonedxfs", "xfs-zones", 16)
        self.assertEqual(
            row.command(Path("log"))[4:22],
            ["--set", "0:geometry.blocks_per_plane=16", "--set", "0:ftl.capacity_mib=40", "--set",
             "1:geometry.pages_per_block=16", "--set", "1:ftl.capacity_mib=64", "--set", "1:ftl.zone_active_max=8",
             "--set", "1:ftl.zone_open_max=8", "--profile", "small", "--profile", "zns-small", "--span", "3"],
        )  # fmt: skip

    def test_table(self) -> None:
        """A lost last transaction is allowed where the promise says so, a torn one is not."""
        row = works.Row("sqlite:delete-full", "small-128", 3, works.LAST, "--kind torn")
        cuts = [{"id": f"1:{n}", "verdict": verdict, "operations": 500}
                for n, verdict in enumerate(("good", "lost", "torn"))]  # fmt: skip
        self.assertEqual(works.broken(row, cuts), ["1:2"])
        none = works.Row("ext4", "small", 1)
        self.assertEqual(
            works.table([(row, cuts), (none, [])]).splitlines()[2:],
            ["| `sqlite:delete-full` | small-128, torn | the last ones may be lost | 3 | 1,500 | 1 | 1 | 0 | 0 | 1 |",
             "| all | | | 3 | 1,500 | 1 | 1 | 0 | 0 | 1 |"])  # fmt: skip


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
        said = logfile.summary([line], kinds.KINDS["subset"])
        self.assertIn("\n2 writes and trims were not flushed\n4 states of these cuts were checked, 2 of them were not "
                      "good\n", said)
        self.assertIn("2 writes and trims were not flushed, and the cuts took 1 of them, or a part\n",
                      logfile.summary([line | {"taken": 1}], kinds.KINDS["subset"]))


class Counts(unittest.TestCase):
    """Test what a work and its check count."""

    def test_lines_of_a_check(self) -> None:
        said = "lost=12\nlost 4\nfound=7 of\nLost=4\n damaged=-1.5 \nlost=3\n\nstatus 1\n"
        self.assertEqual(counts.of_check(said), {"lost": 3, "damaged": -1.5})

    def test_words_of_announcements(self) -> None:
        """Only the last words of a line count, and a name's values have a distribution."""
        lines = [b"1 took_us=5\n", b"2 more=1 took_us=7.5\n", b"took_us=9 3\n", b"\xff\n"]
        self.assertEqual(counts.of_announced(lines), {
            "took_us": {"count": 2, "mean": 6.25, "p50": 5, "p99": 7.5, "p99.9": 7.5, "max": 7.5},
            "more": {"count": 1, "mean": 1, "p50": 1, "p99": 1, "p99.9": 1, "max": 1},
        })  # fmt: skip
        self.assertEqual(counts.distribution([float(n) for n in range(1000, 0, -1)]), {
            "count": 1000, "mean": 500.5, "p50": 500, "p99": 990, "p99.9": 999, "max": 1000,
        })  # fmt: skip

    def test_a_result(self) -> None:
        """Lists follow the cuts, and what was announced is of the latest one. Times of the host are no part."""
        power = {"lost-requests": 2, "torn-programs": 1, "torn-erases": 0, "gc-runs": 0}
        found = [
            Moment("1:0", Plan(at_ns=9)).line(power | {"cut-ns": 9}, [b"1 us=4\n", b"2 us=8\n"], "n=1\nstatus 1\n", 3),
            Moment("1:1", Plan(at_ns=5)).line(power | {"cut-ns": 5}, [b"1 us=4\n"], "n=0\n\nstatus 0\n", 4.0),
            Moment("1:2", Plan(at_ns=1)).line(power | {"cut-ns": 1}, [], "killed\n\nstatus 137\n", 5.0),
        ]
        us = {"count": 2, "mean": 6, "p50": 4, "p99": 8, "p99.9": 8, "max": 8}
        self.assertEqual(counts.result(found), {
            "cuts": 3, "verdicts": {"good": 1, "lost": 1, "torn": 0, "inconsistent": 0, "check failed": 1},
            "cut_ns": [9, 5, 1], "operations": [2, 1, 0], "lost_requests": [2, 2, 2], "torn_programs": [1, 1, 1],
            "figures": {"n": [1, 0]}, "announced": {"us": us},
        })  # fmt: skip

    def test_of_all_cuts(self) -> None:
        for words in (("--id", "1:0"), ("--survey", "t")):
            with self.assertRaisesRegex(SlateError, "--json with --"):
                command.run(parsed("--json", "f", *words))


if __name__ == "__main__":
    unittest.main()

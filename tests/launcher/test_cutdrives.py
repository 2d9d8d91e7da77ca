# SPDX-License-Identifier: GPL-2.0-or-later
"""Test 'slate cuts' with several drives, whose power fails at one moment."""

import asyncio
import hashlib
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from support import ROOT

from slate_lib import boot, cli, command, paths
from slate_lib.cuts import campaign as campaigns
from slate_lib.cuts import command as cuts
from slate_lib.cuts import files, groups, logfile, report
from slate_lib.cuts.campaign import Moment, Recorded, header
from slate_lib.errors import SlateError
from slate_lib.powercut import CUT, Plan

SCRIPT = str(ROOT / "tests" / "guest" / "cut-write.sh")
OWN = ("--work", SCRIPT, "--check", SCRIPT)
TWO = ("--profile", "small", "--profile", "zns-small")
XFS = ("--ready", "calls:fsync-zonedxfs")


def parsed(*words: str) -> Any:
    """Return the arguments of 'slate cuts'."""
    return cli.parser().parse_args(["cuts", *words])


def campaign(*words: str, folder: Path = Path("/none")) -> campaigns.Campaign:
    """Return a campaign, as if all that it needs were built."""
    with tempfile.NamedTemporaryFile() as program, mock.patch.object(command, "check_built"), mock.patch.object(
        paths, "guest_program", return_value=Path(program.name)
    ):
        return cuts.campaign_of(parsed(*words), folder)


class Drives(unittest.TestCase):
    """Test what the drives of a campaign are."""

    def test_each_has_its_settings(self) -> None:
        """The one with zones is empty; the others are full and aged, and the work has Debian's kernel."""
        sets = ("--set", "1:ftl.zone_dies=2", "--set", "0:ftl.capacity_mib=64", "--set", "drive.ignore_flush=no")
        found = campaign(*TWO, *XFS, *sets, "--age", "2", "--kind", "lying")
        first, second = found.base.drives
        lies = ["drive.ignore_flush=no", "drive.ignore_flush=yes"]
        self.assertEqual(first.settings, ["ftl.capacity_mib=64", *lies])
        self.assertEqual(second.settings, ["ftl.zone_dies=2", *lies])
        self.assertEqual([(one.fill, one.age) for one in (first, second)], [(100, 2), (0, 0)])
        self.assertEqual([one.block for one in (first, second)], ["nvme0n1", "nvme1n1"])
        self.assertEqual((found.base.kernel, found.base.apps, found.recorded), ("debian", False, False))
        head = header(found)
        self.assertEqual([Path(one["profile"]).stem for one in (head, *head["more"])], ["small", "zns-small"])
        self.assertEqual(head["more"][0]["settings"], second.settings)
        self.assertEqual(report.Campaign(Path("x"), head, [], {}).facts()[1:8], [
            "drive small", *first.settings, "drive zns-small", "ftl.zone_dies=2", lies[0]])  # fmt: skip

    def test_one_drive_is_as_before(self) -> None:
        found = campaign(*OWN, "--set", "0:ftl.capacity_mib=64")
        self.assertEqual((found.base.settings, found.base.more, found.recorded), (["ftl.capacity_mib=64"], [], True))
        self.assertNotIn("more", header(found))

    def test_a_changed_profile_has_a_log_of_its_own(self) -> None:
        """The head has the SHA-256 of each profile's file."""
        with tempfile.TemporaryDirectory() as name:
            profile = Path(name) / "mine.ini"
            text = (ROOT / "nand-emu" / "profiles" / "small.ini").read_bytes()
            profile.write_bytes(text)
            found = campaign("--profile", str(profile), "--profile", "zns-small", *OWN)
            head = header(found)
            self.assertEqual(head["profile_sha256"], hashlib.sha256(text).hexdigest())
            self.assertEqual(len(head["more"][0]["profile_sha256"]), 64)
            profile.write_bytes(text + b"# a word\n")
            self.assertEqual(header(found)["profile_sha256"], hashlib.sha256(text + b"# a word\n").hexdigest())

    def test_a_command_repeats_it(self) -> None:
        words = cuts.options_of(parsed(*TWO, *XFS, "--set", "1:a.b=c"))
        self.assertEqual(words, [*TWO, *XFS, "--age", "1", "--span", "1", "--set", "1:a.b=c", "--seed", "1", "--kind",
                                 "off"])  # fmt: skip
        self.assertEqual(cuts.log_of(parsed(*TWO, "--seed", "4")).name, "cuts-small-zns-small-4.jsonl")

    def test_files(self) -> None:
        """A boot has the further drives' files beside the first one's."""
        found = campaign(*TWO, *XFS)
        options = found.options("work", Path("/d/cut0.slate"), {})
        self.assertEqual([one.drive for one in options.drives], [Path("/d/cut0.slate"), Path("/d/cut0-1.slate")])
        self.assertEqual([one.profile for one in options.drives], [one.profile for one in found.base.drives])

    def test_equal_drives(self) -> None:
        """Bytes differ wherever one file stores some; holes are zeroes; the controller's events do not count."""
        size, stored = 8 << 20, (0, files.EVENTS[0] - 1, files.EVENTS[1], 5 << 20, (8 << 20) - 1)
        with tempfile.TemporaryDirectory(prefix="slate-") as name:
            one, other = Path(name, "one"), Path(name, "other")

            def put(path: Path, bytes_at: dict[int, bytes]) -> None:
                with open(path, "wb") as file:
                    file.truncate(size)
                    for at, data in bytes_at.items():
                        file.seek(at)
                        file.write(data)

            put(one, dict.fromkeys(stored, b"x"))
            put(other, dict.fromkeys(stored, b"x") | {1 << 20: bytes(1 << 20)})
            self.assertTrue(files.same_drives(one, other))
            put(other, dict.fromkeys((*stored, files.EVENTS[0], files.EVENTS[1] - 1), b"x"))
            self.assertTrue(files.same_drives(one, other))
            for at in stored:
                for data in (b"y", b"\0"):
                    put(other, dict.fromkeys(stored, b"x") | {at: data})
                    self.assertFalse(files.same_drives(one, other), (at, data))
                put(other, {where: b"x" for where in stored if where != at})
                self.assertFalse(files.same_drives(one, other), at)
                self.assertFalse(files.same_drives(other, one), at)
            put(other, dict.fromkeys(stored, b"x"))
            os.truncate(other, size + 1)
            self.assertFalse(files.same_drives(one, other))

    def test_a_cut_begins_with_copies_of_all(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            found = campaign(*TWO, *XFS, folder=Path(name))
            for number in range(2):
                files.beside(found.origin, number).write_bytes(b"%d" % number)
            ended = boot.Boot(CUT, {}, {}, "", b"", 0.0)
            drive = Path(name) / "cut0.slate"
            with mock.patch.object(found, "boot", return_value=ended), mock.patch.object(campaigns, "keep_console"):
                found.cut(1, Moment("1:0", Plan(at_ns=5)), drive)
            self.assertEqual([files.beside(drive, number).read_bytes() for number in range(2)], [b"0", b"1"])

    def test_one_cut_is_checked_in_a_boot(self) -> None:
        found = campaign(*TWO, *XFS, "--per-boot", "8")
        batches: list[int] = []
        origin = mock.Mock()
        origin.stat.return_value.st_blocks = 8

        def batch(_campaign: Any, work: Recorded, moments: list[Moment]) -> list[Any]:
            self.assertEqual(work.report, b"")
            batches.append(len(moments))
            return []

        found.origin = origin
        with mock.patch.object(groups, "batch", batch):
            self.assertEqual(list(groups.group(found, 0, range(3))), [])
        self.assertEqual(batches, [1, 1, 1])

    def test_all_are_cut(self) -> None:
        """The cut is planned on each drive, and its account is what all have lost."""
        monitor = mock.AsyncMock()
        monitor.shutdown.return_value = "host-error"
        monitor.power.side_effect = [
            {"cut-ns": 5, "lost-requests": 1, "torn-programs": 2, "torn-erases": 0, "undone": 7},
            {"cut-ns": 5, "lost-requests": 4, "torn-programs": 3, "torn-erases": 1, "undone": 9},
        ]
        plan = Plan(at_ns=5, seed=3)
        _, power, _ = asyncio.run(boot._talk(monitor, ["ssd0", "ssd1"], plan))
        self.assertEqual(monitor.plan_cut.call_args_list,
                         [mock.call(node, plan.arguments()) for node in ("ssd0", "ssd1")])  # fmt: skip
        self.assertEqual(power, {"cut-ns": 5, "lost-requests": 5, "torn-programs": 5, "torn-erases": 1, "undone": 7})

    def test_another_log_is_refused(self) -> None:
        """The second drive is another one."""
        with tempfile.TemporaryDirectory() as name:
            log = Path(name) / "log"
            logfile.begin(log, header(campaign(*TWO, *XFS)))
            logfile.append(log, {"id": "1:0"})
            with self.assertRaisesRegex(SlateError, "is of other cuts"):
                logfile.read_log(log, header(campaign(*TWO, *XFS, "--set", "1:ftl.zone_dies=2")))


class Refused(unittest.TestCase):
    """Test what is refused."""

    def test_all(self) -> None:
        for words, said in (
            ((*TWO, *OWN, "--kind", "subset"), "--kind subset: needs a recording, and of several drives there is none"),
            ((*TWO, *OWN, "--kind", "vanish"), "--kind vanish: needs a recording, and of several drives"),
            ((*TWO, *OWN, "--shrink", "--id", "1:0"), "--shrink: needs a recording, and of several drives"),
            ((*TWO, *OWN, "--check-on-host"), "--check-on-host: needs a recording, and of several drives"),
            ((*TWO, *OWN, "--set", "2:a.b=c"), "there is no drive nvme2 in this run: its drives are nvme0 to nvme1"),
            ((*TWO, *OWN, "--set", "1:x"), "not SECTION.KEY=VALUE"),
            ((*TWO, *OWN, "--kernel", "small"), "--kernel small has no zones"),
            (("--profile", "small", "--profile", "none.ini", *OWN), "no such profile"),
            (("--profile", "small") * 9 + OWN, "9 drives: a guest has 8 at most"),
            ((*TWO, "--survey", SCRIPT), "--profile twice with --survey"),
        ):  # fmt: skip
            done = subprocess.run([ROOT / "host-tools" / "slate", "cuts", *words], capture_output=True, text=True,
                                  timeout=60, check=False)  # fmt: skip
            self.assertEqual(done.returncode, 2, (words, done.stderr))
            self.assertIn(said, done.stderr)

    def test_a_work_has_its_number_of_drives(self) -> None:
        for words, said in (
            (XFS, "--ready calls:fsync-zonedxfs: it needs 2 drives, and there is 1\n  fix: give a drive without zones "
                  "and one with zones: --profile small --profile zns-small"),
            ((*TWO, "--ready", "calls:fsync-ext4"), "--ready calls:fsync-ext4: it needs 1 drive, and there are 2\n"
             "  fix: give --profile once"),
            (("--profile", "small", "--profile", "small", *XFS), "needs a first drive without zones and a second one"),
            (("--profile", "zns-small", "--profile", "small", *XFS), "needs a first drive without zones"),
            (("--profile", "small", "--profile", "small"), "the built-in work: it needs 1 drive, and there are 2"),
        ):  # fmt: skip
            with self.assertRaises(SlateError) as caught:
                campaign(*words)
            self.assertIn(said, str(caught.exception))
        self.assertEqual(len(campaign("--profile", "small", "--profile", "small", *OWN).base.drives), 2)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Run some cases of 'make soak', and test that a case can fail."""

import dataclasses
import importlib.util
import json
import shutil
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from support import ROOT, SMALL_SMP, GuestTest

SPEC = importlib.util.spec_from_file_location("soak", ROOT / "tests" / "soak" / "soak.py")
soak = importlib.util.module_from_spec(SPEC)
sys.modules["soak"] = soak
SPEC.loader.exec_module(soak)


class Cases(unittest.TestCase):
    """Test the choices of a seed."""

    def test_every_drive_and_kind_and_step(self) -> None:
        cases = [soak.case(1, number) for number in range(1000)]
        self.assertEqual(soak.case(1, 17), cases[17])
        kinds = Counter((one.drive, one.settings, one.kind) for one in cases)
        self.assertEqual(len(kinds), 3 * len(soak.DRIVES))
        self.assertEqual({step for one in cases for step in one.steps}, set(soak.STEPS))
        script = (ROOT / "tests" / "soak" / "soak.sh").read_text(encoding="utf-8")
        for step in set(soak.STEPS):
            self.assertIn(f"\nstep_{step}()\n", script)

    def test_the_judge(self) -> None:
        """(status, steps, kernel's log, critical warning, number of what is wrong)"""
        steps = "1 write 0\n2 bad 1\n2 read-only 0\n"
        refused = "critical target error, dev nvme0n1, sector 8 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2"
        ended = "EXT4-fs (nvme0n1): Remounting filesystem read-only"
        unread = "critical medium error, dev nvme0n1, sector 8 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2"
        for status, done, kernel, warning, wrong in (
            (0, "1 write 0\n", "nvme nvme0: Shutdown timeout set to 8 seconds", 0, 0),
            (0, "1 write 0\n", "nvme nvme0: I/O 21 QID 1 timeout, aborting", 0, 1),
            (0, steps, "nvme nvme0: I/O 21 QID 1 timeout, completion polled", 8, 1),
            (1, "1 write 1\n", "", 0, 1),
            (1, "2 bad 1\n2 read-only 1\n", "", 8, 1),  # data are lost
            (0, steps, f"{refused}\n{ended}", 8, 0),
            (0, steps, f"{refused}\n{ended}", 9, 0),
            (0, steps, "", 1, 1),  # the health log does not say that it is read-only
            (0, "1 write 0\n", refused, 0, 1),
            (0, steps, unread, 8, 1),
            (0, steps, "Buffer I/O error on dev nvme0n1, logical block 0, lost async page write", 8, 0),
            (0, steps, "Buffer I/O error on dev nvme0n1, logical block 0, async page read", 8, 1),
            (0, steps, "Buffer I/O error on device nvme0n1, logical block 161793", 8, 0),
            (0, "1 write 0\n", "Buffer I/O error on device nvme0n1, logical block 161793", 0, 1),
            (0, steps, "EXT4-fs error (device nvme0n1): __ext4_find_entry:1612: reading directory lblock 0", 8, 1),
            (0, steps, "XFS (nvme0n1): Metadata corruption detected at xfs_agf_read_verify", 8, 1),
            (0, steps, "XFS (nvme0n1): log I/O error -121", 8, 0),
            (0, "1 write 0\n", "XFS (nvme0n1): log I/O error -5", 0, 1),
            (0, "1 write 0\n", "INFO: task fio:99 blocked for more than 120 seconds.", 0, 1),
        ):
            with self.subTest(status=status, steps=done, kernel=kernel, warning=warning):
                self.assertEqual(len(soak.judge(status, done, kernel, warning)), wrong)

    def test_a_log_that_goes_on(self) -> None:
        good = {"id": "7:0", "drive": "small", "settings": [], "seconds": 1.0, "good": True}
        with tempfile.TemporaryDirectory() as name:
            log = Path(name) / "log"
            self.assertEqual(soak.earlier(log, 7), [])
            log.write_text(json.dumps(good) + "\n", encoding="utf-8")
            self.assertEqual(soak.earlier(log, 7), [good])
            for text, seed in ((json.dumps(good), 8), ("not JSON", 7), ("[1]", 7), ("\0\udcff", 7)):
                log.write_bytes(text.encode("utf-8", "surrogateescape"))
                with self.assertRaisesRegex(ValueError, rf"line 1 is not case {seed}:0 of a soak; give another"):
                    soak.earlier(log, seed)


class Guests(GuestTest):
    """Run a few cases."""

    def test_two_cases(self) -> None:
        """Test resets, and blocks that become bad, on the drive itself and on a file system."""
        kernel = "small" if SMALL_SMP.exists() else "debian"  # they have two processors
        for number in (0, 1):
            line = soak.do(soak.case(1, number, kernel))
            self.assertTrue(line["good"], line)
            self.assertEqual(line["kind"], "guest")
            self.assertEqual(line["bad_blocks"], 2)

    def test_a_drive_becomes_read_only(self) -> None:
        """A case that ends because the drive is read-only passes if its data can still be read."""
        one = dataclasses.replace(soak.case(1, 0), drive="small", settings=())
        for fs in ("raw", "ext4"):
            one.words = ["--env", "SEED=1", "--env", f"FS={fs}", "--env", "STEPS=write write ruin write", "--fill", "0"]
            line = soak.do(one)
            self.assertTrue(line["good"], line)
            self.assertTrue(line["worn_out"])

    def test_a_case_fails(self) -> None:
        """These cases must fail: a step that does not exist, and data overwritten by another step."""
        one = soak.case(1, 0)
        for steps, last in (("write nosuch", "2 nosuch 127"), ("write overwrite look", "3 look 1")):
            one.words = ["--env", "SEED=1", "--env", "FS=raw", "--env", f"STEPS={steps}", "--fill", "0"]
            line = soak.do(one)
            self.assertFalse(line["good"])
            self.addCleanup(shutil.rmtree, line["files"])
            said = Path(line["files"]) / "out" / "soak.txt"
            self.assertEqual(said.read_text(encoding="utf-8").splitlines()[-1], last, json.dumps(line))

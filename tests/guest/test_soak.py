# SPDX-License-Identifier: GPL-2.0-or-later
"""Some cases of 'make soak', and that a case can fail."""

import importlib.util
import json
import shutil
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from support import ROOT, GuestTest

SPEC = importlib.util.spec_from_file_location("soak", ROOT / "tests" / "soak" / "soak.py")
soak = importlib.util.module_from_spec(SPEC)
sys.modules["soak"] = soak
SPEC.loader.exec_module(soak)


class Cases(unittest.TestCase):
    """The choices of a seed."""

    def test_every_drive_and_kind_and_step(self):
        cases = [soak.case(1, number) for number in range(1000)]
        self.assertEqual(soak.case(1, 17), cases[17])
        kinds = Counter((one.drive, one.settings, one.kind) for one in cases)
        self.assertEqual(len(kinds), 3 * len(soak.DRIVES))
        self.assertEqual({step for one in cases for step in one.steps}, set(soak.STEPS))
        script = (ROOT / "tests" / "soak" / "soak.sh").read_text(encoding="utf-8")
        for step in set(soak.STEPS):
            self.assertIn(f"\nstep_{step}()\n", script)


    def test_a_log_that_goes_on(self):
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

    def test_two_cases(self):
        """Resets, and blocks that become bad, on the drive itself and on a file system."""
        for number in (0, 1):
            line = soak.do(soak.case(1, number))
            self.assertTrue(line["good"], line)
            self.assertEqual(line["kind"], "guest")
            self.assertEqual(line["bad_blocks"], 2)

    def test_a_case_fails(self):
        """Cases that must fail: a step that does not exist, and data overwritten by another step."""
        one = soak.case(1, 0)
        for steps, last in (("write nosuch", "2 nosuch 127"), ("write overwrite look", "3 look 1")):
            one.words = ["--env", "SEED=1", "--env", "FS=raw", "--env", f"STEPS={steps}", "--fill", "0"]
            line = soak.do(one)
            self.assertFalse(line["good"])
            self.addCleanup(shutil.rmtree, line["files"])
            said = Path(line["files"]) / "out" / "soak.txt"
            self.assertEqual(said.read_text(encoding="utf-8").splitlines()[-1], last, json.dumps(line))

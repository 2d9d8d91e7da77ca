# SPDX-License-Identifier: GPL-2.0-or-later
"""Test slate fit --guest: the numbers of a small drive in a guest, beside a sheet that is wrong about one of them."""

import json
import subprocess
import unittest

from support import SLATE, SMALL, GuestTest

SHEET = """\
[sheet]
read_us        = 118
rand_read_iops = 16223
read_qd        = 64
"""
# A read takes 99,000 ns in the cell, 300 for the command and 22,080 on the bus, in which the die is busy; 1,200 for
# firmware and look-up; 2,910 in the host (docs/time.md: Linux 6.12, libaio, no scheduler). The drive has two dies. For
# one part in 65 of the time one of them has all 64 reads.
DIE_NS, OTHER_NS = 99_000 + 300 + 22_080, 1_200 + 2_910
RANDOM_READS = 2e9 / DIE_NS * 64 / 65


class FitGuest(GuestTest):
    """One boot."""

    def test_a_right_and_a_wrong_number(self) -> None:
        sheet, out = self.folder / "mine.ini", self.folder / "out"
        sheet.write_text(SHEET)
        line = [str(SLATE), "fit", "--guest", str(sheet), "--profile", str(SMALL), "--smp", "2"]
        done = subprocess.run([*line, "--out", str(out)], capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, "slate: full drive: rand_read_iops, read_us\n"))
        record = json.loads((out / "numbers.json").read_text())
        found = {row["number"]: row for row in record["numbers"]}
        self.assertEqual(list(found), ["rand_read_iops", "read_us"])
        reads, one = found["rand_read_iops"], found["read_us"]
        self.assertAlmostEqual(reads["guest"] / RANDOM_READS, 1, delta=0.045)
        self.assertAlmostEqual(one["guest"] / ((DIE_NS + OTHER_NS) / 1000), 1, delta=0.001)  # +6.3 % of the sheet's
        self.assertEqual((reads["depth"], reads["limit"], one["depth"], one["limit"]), (64, "die", 1, "depth"))
        self.assertLess(abs(reads["error_percent"]), 5)
        self.assertAlmostEqual(one["error_percent"], 100 * ((DIE_NS + OTHER_NS) / 118_000 - 1), delta=0.2)
        self.assertEqual(len((out / "numbers.csv").read_text().splitlines()), 3)
        # The job can be run again by hand, and what was measured stands beside it.
        self.assertIn("\niodepth=32\nnumjobs=2\n", (out / "full.fio").read_text())
        self.assertTrue((out / "full" / "report.txt").is_file())
        self.assert_no_process(out)


if __name__ == "__main__":
    unittest.main()

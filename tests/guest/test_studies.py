# SPDX-License-Identifier: GPL-2.0-or-later
"""Run 'slate study' on guests: a shared drive that is aged before, and figures by the guest and by the drive."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import unittest

from support import SLATE, GuestTest

TEXT = """\
title = "Reads of an aged drive"
[run]
profile = "small"
kernel = "small"
job = "reads.fio"
env.DEPTH = "{depth}"
[axes]
depth = [1, 4]
[warm_up]
writes = "0.2x"
[measures]
ios = "reads/read.ios"
guest = "reads/read.guest.mean"
drive = "reads/read.drive.mean"
path = "reads/read.path"
sum = { value = "drive + path", unit = "µs" }
erases = { json = "device.json", path = "total.nand.erase-count-max" }
"""
JOB = "[reads]\nfilename=/dev/nvme0n1\nioengine=io_uring\ndirect=1\nrw=randread\nnumber_ios=400\niodepth=${DEPTH}\n"


class Study(GuestTest):
    """Two guests on one drive file."""

    def test_guests_share_an_aged_drive(self) -> None:
        (self.folder / "my.toml").write_text(TEXT, encoding="utf-8")
        (self.folder / "reads.fio").write_text(JOB, encoding="utf-8")
        results = self.folder / "results"
        done = subprocess.run(
            [SLATE, "study", "my.toml", "--out", "out"], cwd=self.folder, capture_output=True, text=True, timeout=300,
            check=False, env={**os.environ, "SLATE_RESULTS": str(results)},
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(self.folder / "out" / "runs.csv", encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        self.assertEqual([row["depth"] for row in rows], ["1", "4"])
        for row in rows:
            self.assertEqual(float(row["ios"]), 400)
            self.assertAlmostEqual(float(row["guest, µs"]), float(row["sum, µs"]), places=6)
            raw = json.loads((results / row["result"] / "device.json").read_text(encoding="utf-8"))
            self.assertEqual(float(row["erases"]), raw["total"]["nand"]["erase-count-max"])
        self.assertGreater(float(rows[1]["drive, µs"]), float(rows[0]["drive, µs"]))  # four reads at once wait for dies
        drives = list(results.glob("*/drive.slate"))
        self.assertEqual(len(drives), 1)
        again = self.run_slate_again(results)
        self.assertIn("2 runs (2 depth), 2 known, 0 to make", again)

    def run_slate_again(self, results: object) -> str:
        """Return what the same study has to do now."""
        return subprocess.run(
            [SLATE, "study", "my.toml", "--dry-run"], cwd=self.folder, capture_output=True, text=True, timeout=60,
            check=True, env={**os.environ, "SLATE_RESULTS": str(results)},
        ).stdout  # fmt: skip


if __name__ == "__main__":
    unittest.main()

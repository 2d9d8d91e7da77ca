# SPDX-License-Identifier: GPL-2.0-or-later
"""Run 'slate study' on guests: a shared drive that is aged before, and figures by the guest and by the drive."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import unittest
from pathlib import Path

from support import SLATE, GuestTest

TEXT = """\
title = "Reads of an aged drive"
[run]
profile = "small"
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

WORK = """\
#!/bin/sh
mount -t ext4 $SLATE_DEV /run/mnt || exit
n=0
while :; do
    n=$((n + 1))
    echo $n >/run/mnt/$n
    %s
    slate-mark durable $n us=7
    sleep 0.005
done
"""
CUTS = {
    "my.toml": """\
[run]
profile = "small"
kernel = "small"
count = 3
span = 0.5
make = "make.sh"
check = "check.sh"
[axes]
work = ["synced.sh", "lazy.sh"]
[measures]
good = { json = "cuts.json", path = "verdicts.good" }
lost = { json = "cuts.json", path = "verdicts.lost" }
gone = { json = "cuts.json", path = "figures.gone", reduce = "sum" }
mean = { json = "cuts.json", path = "announced.us.mean", stored = "µs", unit = "ms" }
""",
    "make.sh": "#!/bin/sh\nmkfs.ext4 -q $SLATE_DEV\n",
    "synced.sh": WORK % "sync /run/mnt/$n /run/mnt",
    "lazy.sh": WORK % ":",
    "check.sh": """\
#!/bin/sh
mount -t ext4 $SLATE_DEV /run/mnt || exit 3
gone=0
while read -r n _; do
    [ "$(cat /run/mnt/$n)" = "$n" ] || gone=$((gone + 1))
done <$DURABLE
umount /run/mnt
echo "gone=$gone"
[ $gone -eq 0 ] || exit 1
""",
}


class Study(GuestTest):
    """Two guests on one drive file."""

    def test_guests_share_an_aged_drive(self) -> None:
        (self.folder / "my.toml").write_text(TEXT, encoding="utf-8")
        (self.folder / "reads.fio").write_text(JOB, encoding="utf-8")
        results = self.folder / "results"
        rows = self.rows_of_study(results)
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

    def test_power_cuts(self) -> None:
        """Each run is a campaign of cuts: of what a work announced, the synced is there after every cut."""
        for name, text in CUTS.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        results = self.folder / "results"
        synced, lazy = self.rows_of_study(results)
        self.assertEqual([float(synced[name]) for name in ("good", "gone", "lost")], [3, 0, 0])
        raw = json.loads((results / lazy["result"] / "cuts.json").read_text(encoding="utf-8"))
        self.assertEqual(raw["figures"]["gone"], raw["operations"])  # the kernel wrote none of it yet
        self.assertGreater(min(raw["operations"]), 0)
        self.assertEqual((float(lazy["lost"]), float(lazy["mean, ms"])), (3, 0.007))
        self.assertIn("2 runs (2 work), 2 known, 0 to make", self.run_slate_again(results))

    def rows_of_study(self, results: Path) -> list[dict[str, str]]:
        """Run my.toml, whose results go to RESULTS; returns the rows of runs.csv."""
        done = subprocess.run(
            [SLATE, "study", "my.toml", "--out", "out"], cwd=self.folder, capture_output=True, text=True, timeout=300,
            check=False, env={**os.environ, "SLATE_RESULTS": str(results)},
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(self.folder / "out" / "runs.csv", encoding="utf-8", newline="") as lines:
            return list(csv.DictReader(lines))

    def run_slate_again(self, results: object) -> str:
        """Return what the same study has to do now."""
        return subprocess.run(
            [SLATE, "study", "my.toml", "--dry-run"], cwd=self.folder, capture_output=True, text=True, timeout=60,
            check=True, env={**os.environ, "SLATE_RESULTS": str(results)},
        ).stdout  # fmt: skip


if __name__ == "__main__":
    unittest.main()

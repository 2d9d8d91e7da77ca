# SPDX-License-Identifier: GPL-2.0-or-later
"""Test replays on flash that programs whole word lines: the WAF of random writes, and the rate of writes in order."""

import sys
import unittest
from typing import Any

from support import ROOT, Case

sys.path.insert(0, str(ROOT / "host-tools"))

from reproduce.models import wamodel

PROFILE = ROOT / "nand-emu" / "profiles" / "tlc-shot-small.ini"
PLANES, BLOCKS, PAGES, UNITS = 2, 1024, 48, 73728  # of the drive of random writes: a unit is a page
URGENT = 2
DRIVE = {
    "geometry.channels": 2, "geometry.planes_per_die": 1, "geometry.blocks_per_plane": BLOCKS,
    "geometry.pages_per_block": PAGES, "geometry.page_bytes": 4096, "geometry.oob_bytes": 224,
    "ftl.capacity_mib": UNITS // 256, "ftl.buffer_units": 24, "ftl.gc_start_blocks": 4, "ftl.gc_stop_blocks": 4,
    "ftl.gc_urgent_blocks": URGENT, "ftl.payload": "no",
}  # fmt: skip
SETTINGS = [f"--set={key}={value}" for key, value in DRIVE.items()]
SEND = 300 + 11620  # command, then 16384 + 2208 bytes at 625 ps
PROGRAM = 1_170_286


class OneShot(Case):
    """tlc-shot-small has two dies of four planes; a program takes three pages of each."""

    def aged(self, *settings: str) -> dict[str, Any]:
        """Overwrite the full drive at random: five times its capacity, and then ten times, which are counted."""
        return self.json(*SETTINGS, *settings, "--fill", 100, "--age", 5, "--closed", 16,
                         f"gen:rand4k,foot={UNITS // 256}M,n={10 * UNITS},read=0", profile=PROFILE)  # fmt: skip

    def test_waf_is_greedys_mean_field(self) -> None:
        """With one unit a page, word lines change neither what is valid nor which block has the fewest valid units.

        GC works without a pause, so URGENT blocks of a plane are empty, or one more. Two are open, half full on
        average. One unit is the trim bitmap's, one is reserved for the dead list.
        """
        free, opened = PLANES * PAGES * (URGENT + 0.5), PLANES * PAGES * 2
        share = (UNITS + 2 - opened / 2) / (PLANES * BLOCKS * PAGES - free - opened)
        model = wamodel.greedy(share, PAGES)
        for settings in ((), ("--set=geometry.one_shot=no", "--set=geometry.paired_loss=no")):
            with self.subTest(settings):
                found = self.aged(*settings)
                self.assertLess(abs(found["waf"] / model - 1), 0.02)
                self.assertNotIn("flush_pad_units", found["ftl_counts"])

    def test_rate_of_writes_in_order(self) -> None:
        """A die takes a word line of four planes every twelve transfers and a program; two dies work side by side."""
        requests = 8192  # of 128 KiB: 1 GiB, without GC
        found = self.json("--set", "ftl.payload=no", "--closed", 8, f"gen:seq128k,foot=1G,n={requests},read=0",
                          profile=PROFILE)  # fmt: skip
        pages = requests * 8
        took = found["time"]["end_ns"] - found["time"]["begin_ns"]
        each = 12 * SEND + PROGRAM
        self.assertLess(abs(took / (pages / 12 * each / 2) - 1), 0.01)
        self.assertEqual(found["nand"]["ops"]["program"]["host"], pages // 3 * 3)  # the last page waits for others


if __name__ == "__main__":
    unittest.main()

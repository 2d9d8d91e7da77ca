# SPDX-License-Identifier: GPL-2.0-or-later
"""Run the study of placement, small: RocksDB on f2fs on three namespaces with a handle each, and a power cut."""

import sys
import unittest

from support import ROOT, GuestTest

sys.path.insert(0, str(ROOT / "host-tools"))

from reproduce.studies import placement
from slate_lib import paths

APPS = paths.APPS_IMAGE
SIZE = placement.Size(keys=800, batches=150, cuts=1, kernel="small")
FDP = next(one for one in placement.CONFIGURATIONS if one.name == "fdp")


@unittest.skipUnless(APPS.exists(), "no image of applications: 'make guest-apps' builds it")
class Placement(GuestTest):
    """Do what placement.py does, with the small kernel."""

    def test_small(self) -> None:
        out = placement.load(FDP, SIZE, self.folder)
        found = placement.measure(FDP, SIZE, out)
        self.assertEqual([len((out / f"{name}.txt").read_text(encoding="ascii").split())
                          for name in ("load-put", "update-put", "update-get")], [50, 100, 400])
        self.assertEqual((found["gc"], found["erases"]), (0, 0), "the drive is larger than all that was written")
        self.assertGreaterEqual(found["host"], 100 * 16 * 1016, "each batch is in the log")
        self.assertGreaterEqual(found["media"], found["host"])
        self.assertEqual(placement.cut(FDP, SIZE, self.folder), [True])


if __name__ == "__main__":
    unittest.main()

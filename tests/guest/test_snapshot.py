# SPDX-License-Identifier: GPL-2.0-or-later
"""A run that begins from a snapshot of the booted guest equals one that booted, and equal snapshots are equal files."""

import filecmp
import json
import os
import unittest
from pathlib import Path
from unittest import mock

from support import JOBS, GuestTest

RESULTS = ("fio.json", "device.json", "series.json", "blocks.json", "report.txt", "console.log")


class Snapshots(GuestTest):
    """Two empty caches: the first has one run that boots, one that stores a snapshot, and one that begins from it."""

    kernel = "debian"  # the small one uses the drive before its init

    def run_with(self, how: str, cache: str, *more: str) -> Path:
        """Run a job, and return its results' folder."""
        with mock.patch.dict(os.environ, XDG_CACHE_HOME=str(self.folder / cache)):
            return self.slate("--job", str(JOBS / "randread-qd1.fio"), "--smp", "4", "--snapshot", how, *more).folder

    def stored(self, cache: str) -> Path:
        """Return the only snapshot of a cache."""
        (found,) = (self.folder / cache / "slate" / "snapshots").iterdir()
        return found

    def test_equal(self) -> None:
        booted, storing, using = (self.run_with(how, "one") for how in ("boot", "use", "use"))
        for name in RESULTS:
            for other in (storing, using):
                self.assertEqual((booted / name).read_bytes(), (other / name).read_bytes(), (other, name))
        self.assertGreater(json.loads((using / "fio.json").read_text())["jobs"][0]["read"]["total_ios"], 0)
        self.run_with("use", "two", "--seed", "5", "--set", "timing.read_ns=90000")
        one, two = self.stored("one"), self.stored("two")
        self.assertEqual(one.name, two.name, "neither the drive nor the seed is part of it")
        for name in ("ram", "console"):
            self.assertTrue(filecmp.cmp(one / name, two / name, shallow=False), name)

    def test_kinds_of_drives(self) -> None:
        """A drive with placement handles and one with zones, behind controllers that were saved without drives."""
        work = self.folder / "work.sh"
        work.write_text("dd if=/dev/zero of=/dev/nvme0n1 bs=4k count=50 oflag=direct 2>/dev/null\n"
                        "dd if=/dev/zero of=/dev/nvme1n1 bs=64k count=3 oflag=direct 2>/dev/null\n"
                        "dd if=/dev/urandom of=$OUT/random bs=32 count=1 2>/dev/null\n", encoding="utf-8")  # fmt: skip
        words = ("--profile", "small", "--profile", "zns-small", "--set", "0:ftl.placement_handles=4", "--fill", "0",
                 "--cmd", str(work))  # fmt: skip
        booted, using = (self.slate(*words, "--snapshot", how).folder for how in ("boot", "use"))
        files = sorted(str(path.relative_to(booted)) for path in booted.rglob("*") if path.is_file())
        self.assertLess({"nvme0/device.json", "nvme1/device.json", "random", "console.log"}, set(files))
        for name in files:
            if name != "run.json":
                self.assertEqual((booted / name).read_bytes(), (using / name).read_bytes(), name)
        for drive, written in (("nvme0", 50 * 4096), ("nvme1", 3 * 65536)):
            told = json.loads((using / drive / "device.json").read_text(encoding="utf-8"))
            self.assertEqual(told["total"]["write"]["bytes"], written, drive)


if __name__ == "__main__":
    unittest.main()

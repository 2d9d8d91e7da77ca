# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the SLC cache of tlc-slc-small: its size and its rates are the profile's arithmetic."""

import unittest
from typing import Any

from support import ROOT, Case

PROFILE = ROOT / "nand-emu" / "profiles" / "tlc-slc-small.ini"
PLANES, PAGE = 8, 16384
SLC_PAGES = 2112 // 3  # of a block
SEND = 300 + 11620  # command, then 16384 + 2208 bytes at 625 ps
FILL, REQUEST = 1900 << 20, 128 << 10
INTERVAL = 10_000_000
BUFFER = 512 * 4096
GC_FROM = 1800 << 20  # past this a plane may have less than gc_start_blocks free blocks
# A die's four planes are sent one after another and programmed together; two dies work side by side.
FAST, SLOW = (PLANES * PAGE * 1e9 / (4 * SEND + program) for program in (100_000, 390_095))


class Cliff(Case):
    """Write 1900 MiB in order on a new drive, in requests of 128 KiB, which are a page for each plane."""

    def filled(self, *settings: Any) -> dict[str, Any]:
        return self.json(
            "--set", "ftl.payload=no", "--set", "ftl.idle_gc_permille=0", *settings,
            "--interval", INTERVAL // 1_000_000, f"gen:seq128k,foot=1900M,n={FILL // REQUEST},read=0", profile=PROFILE,
        )  # fmt: skip

    def expect(self, found: Any, blocks: int) -> None:
        cache = PLANES * blocks * SLC_PAGES
        counts = found["ftl_counts"]
        self.assertEqual(counts["slc_pages"], cache)
        self.assertEqual(counts["slc_direct_pages"], FILL // PAGE - cache)
        written = found["series"]["rows"][0]["write"]["bytes"]
        for row in found["series"]["rows"][1:]:  # the first has the requests that the empty buffer took
            before = written
            done = row.get("write", {"bytes": 0})["bytes"]
            written += done
            if written < cache * PAGE:
                self.assert_rate(done, FAST)
            elif cache * PAGE + BUFFER < before < GC_FROM:
                self.assert_rate(done, SLOW)

    def assert_rate(self, done: int, rate: float) -> None:
        """Whole requests end in a row, so it may have part of one too many or too few at each end."""
        self.assertLess(abs(done - rate * INTERVAL / 1e9), 2 * REQUEST)

    def test_static(self) -> None:
        self.expect(self.filled("--set", "ftl.slc_cache=static", "--set", "ftl.slc_blocks=3"), 3)

    def test_dynamic(self) -> None:
        self.expect(self.filled(), 6)

    def test_without_a_cache_nothing_is_said_of_it(self) -> None:
        found = self.filled("--set", "ftl.slc_cache=none")
        self.assertEqual([key for key in found["ftl_counts"] if key.startswith("slc")], [])


if __name__ == "__main__":
    unittest.main()

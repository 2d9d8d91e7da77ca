# SPDX-License-Identifier: GPL-2.0-or-later
"""PEN's figure 10 from the host's writes to the array: 576 pages a block, merged with and without partial erases."""

from __future__ import annotations

import json
import unittest
from pathlib import Path
from typing import Any

from support import ROOT, Case

PAGE = 16384
BLOCK = 576
LOGICAL = 5
# The drive has one plane of 9 blocks: 5 of data, two U-blocks, and the two blocks that GC keeps.
DRIVE = ("geometry.channels=1", "geometry.planes_per_die=1", "geometry.blocks_per_plane=9", "ftl.capacity_mib=45")


class Figure10(Case):
    """Logical blocks of 576 pages are written once. Block 0 is updated as in the figure, then page 0 of each other.

    The first update of a block needs a U-block, and there are two. So the first updates of blocks 2, 3 and 4
    merge blocks 0, 1 and 2, each of which has had its U-block longest at that time.
    """

    def trace(self) -> Path:
        """Replay a trace whose requests are ten seconds apart, so that none waits for another."""
        writes = [(block, 0, BLOCK) for block in range(LOGICAL)]
        writes += [(0, page, 1) for page in range(72, 144)]  # all of PB 9
        writes += [(0, page, 1) for page in range(434, 504)]  # all but two pages of PB 14
        writes += [(block, 0, 1) for block in range(1, LOGICAL)]
        rows = [
            f"{10**10 * number} 0 write {(block * BLOCK + page) * PAGE} {pages * PAGE}"
            for number, (block, page, pages) in enumerate(writes, 1)
        ]
        return self.native(*rows)

    def merged(self, pen: str) -> dict[str, Any]:
        """Return the figures of a replay in which every page is read back and compared."""
        settings = [word for line in (*DRIVE, f"ftl.pen={pen}") for word in ("--set", line)]
        profile = ROOT / "nand-emu/profiles/pen-small.ini"
        done = self.call(
            "--profile", profile, *settings, "--open", "--check", "--read-back", "--json", "-", self.trace()
        )  # fmt: skip
        self.assertIn(f"read back: {LOGICAL * BLOCK * PAGE // 512} sectors, 0 wrong", done.stderr)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def test_with_partial_erases(self) -> None:
        """Block 0: the two valid pages of PB 14 go out and come back with 142 new ones: 146 copies, as in the figure.

        Blocks 1 and 2: one page of a smallest PB (576 / 64 = 9 pages) is new; the other 8 go out and
        come back: 8 + 9 copies each. Erases: two, one and one PBs, and each merge's U-block.
        """
        raw = self.merged("yes")
        self.assertEqual(raw["gc"]["mmerges"], 3)
        self.assertEqual(raw["gc"]["pages_moved"], 146 + 17 + 17)
        self.assertEqual(raw["nand"]["partial_erases"], 2 + 1 + 1)
        self.assertEqual(raw["gc"]["blocks_erased"], (2 + 1) + (1 + 1) + (1 + 1))

    def test_without(self) -> None:
        """A merge copies the block, and erases it and its U-block."""
        raw = self.merged("no")
        self.assertEqual(raw["gc"]["merges"], 3)
        self.assertEqual(raw["gc"]["pages_moved"], 3 * BLOCK)
        self.assertEqual(raw["nand"]["partial_erases"], 0)
        self.assertEqual(raw["gc"]["blocks_erased"], 3 * 2)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test PEN on the Superblock FTL on real traces (docs/results/superblock): drives, arithmetic, the stored table."""

import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import support

from reproduce.real import superblock, validate


def result(ms: int, pages: int, erases: float, squares: float, merges: int) -> dict[str, Any]:
    """Return a result of one write of `ms`, one read of half of it, and one page of the host, and pages in all."""
    programs = {"host": 1, "gc": pages - 1}
    host = {"ios": 1, "latency": {"sum_ns": ms * 1e6}}
    read = {"ios": 1, "latency": {"sum_ns": ms * 5e5}}
    return {
        "host": {"write": host, "read": read}, "nand": {"ops": {"program": programs, "copyback": {}}},
        "wear": {"aep": erases, "vep": squares}, "gc": {"merges": merges, "mmerges": 7},
    }  # fmt: skip


class Rows(unittest.TestCase):
    """A row divides PEN's quantities by those of the same drive without PEN."""

    def test_options(self) -> None:
        words = superblock.line("yes")
        for word in ("ftl.superblock_blocks=4", "ftl.superblock_max_blocks=5", "geometry.blocks_per_plane=250"):
            self.assertIn(word, words)
        self.assertEqual([word for word in words if word.startswith("ftl.pen=")], ["ftl.pen=yes"])
        self.assertEqual(sum(a != b for a, b in zip(words, superblock.line("no"), strict=True)), 1)
        for kind, more in superblock.KINDS.items():
            cold = [word for word in superblock.line("yes", more) if word.startswith("ftl.superblock_cold")]
            self.assertEqual(cold, [] if kind == "ours" else ["ftl.superblock_cold=yes"])

    def test_arithmetic(self) -> None:
        found = {"no": result(8, 10, 2.0, 5.0, 3), "yes": result(2, 4, 1.5, 6.0, 1)}

        def replayed(_text: str, options: Any, _program: object) -> Any:
            return found["yes" if "ftl.pen=yes" in options else "no"]

        with mock.patch.object(validate, "replay", replayed):
            rows = superblock.rows(b"", "t", Path("x"))
        self.assertEqual([row["superblocks"] for row in rows], list(superblock.KINDS))
        self.assertEqual(
            list(rows[0].values()),
            ["t", "ours", "8", "4", "10", "2", "5", "0.25", "0.25", "0.4", "0.75", "1.2", "7", "1"],
        )


class Stored(unittest.TestCase):
    """Test that the stored table agrees with the text of its page."""

    def test_directions(self) -> None:
        """AEP and VEP stay near the baseline's or fall; a fault that was mended gave a VEP of 2.7 to 53 times."""
        rows = support.stored("superblock/superblock")
        self.assertGreaterEqual(len(rows), 7)
        for row in rows:
            with self.subTest(row["trace"]):
                ratio = {what: float(row[f"{what}, PEN / without"]) for what in superblock.CHANGES}
                self.assertLess(ratio["VEP"], 1.25)
                self.assertLess(ratio["AEP"], 1.1)
                if int(row["M-Merges"]) > int(row["merges"]):
                    self.assertLess(max(ratio["write latency"], ratio["WA"], ratio["AEP"]), 0.8)

    def test_cold_blocks(self) -> None:
        """With cold blocks AEP rises on no trace, and three directions change to the published ones."""
        rows = support.stored("superblock/superblock")
        of = {(row["trace"], row["superblocks"]): row for row in rows}
        for row in rows:
            if row["superblocks"] != "ours":
                self.assertLessEqual(float(row["AEP, PEN / without"]), 1)
        for trace, what in (("msr_web_3_excel", "write latency"), ("msr_web_3_excel", "VEP"), ("cloudphysics", "VEP")):
            with self.subTest(trace, what=what):
                self.assertGreater(float(of[trace, "ours"][f"{what}, PEN / without"]), 1)
                self.assertLess(float(of[trace, "cold blocks"][f"{what}, PEN / without"]), 1)

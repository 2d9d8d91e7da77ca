# SPDX-License-Identifier: GPL-2.0-or-later
"""Test PEN on the Superblock FTL on real traces (docs/results/superblock): drives, arithmetic, the stored table."""

import csv
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import support

import superblock
import validate

TABLE = support.ROOT / "docs/results/superblock/superblock.csv"


def result(ms: int, pages: int, erases: float, squares: float, merges: int) -> dict[str, Any]:
    """Return a result of one write of `ms` and one page of the host, and pages in all."""
    programs = {"host": 1, "gc": pages - 1}
    host = {"ios": 1, "latency": {"sum_ns": ms * 1e6}}
    return {
        "host": {"write": host}, "nand": {"ops": {"program": programs, "copyback": {}}},
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

    def test_arithmetic(self) -> None:
        found = {"no": result(8, 10, 2.0, 5.0, 3), "yes": result(2, 4, 1.5, 6.0, 1)}

        def replayed(_text: str, options: Any, _program: object) -> Any:
            return found["yes" if "ftl.pen=yes" in options else "no"]

        with mock.patch.object(validate, "replay", replayed):
            (row,) = superblock.rows(b"", "t", Path("x"))
        self.assertEqual(
            list(row.values()), ["t", "2", "0.25", "0.4", "0.75", "1.2", "7", "1"],
        )  # fmt: skip


class Stored(unittest.TestCase):
    """Test that the stored table agrees with the text of its page."""

    def test_directions(self) -> None:
        """AEP and VEP stay near the baseline's or fall; a fault that was mended gave a VEP of 2.7 to 53 times."""
        rows = list(csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines()))
        self.assertGreaterEqual(len(rows), 7)
        for row in rows:
            with self.subTest(row["trace"]):
                ratio = {what: float(row[f"{what}, PEN / without"]) for what in superblock.CHANGES}
                self.assertLess(ratio["VEP"], 1.25)
                self.assertLess(ratio["AEP"], 1.1)
                if int(row["M-Merges"]) > int(row["merges"]):
                    self.assertLess(max(ratio["write latency"], ratio["WA"], ratio["AEP"]), 0.8)

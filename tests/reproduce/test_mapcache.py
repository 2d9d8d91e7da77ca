# SPDX-License-Identifier: GPL-2.0-or-later
"""Test a cached map on real traces (docs/results/mapcache): the drives, the arithmetic, the stored table."""

import csv
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import support

from reproduce.real import mapcache, validate

TABLE = support.ROOT / "docs/results/mapcache/mapcache.csv"


def result(hits: int, misses: int) -> dict[str, Any]:
    """Return a result of one read, and of no write."""
    read = {"ios": 1, "latency": {"percentiles_ns": {"99": 2_500_000}}}
    counts = {f"map_{what}": count for what, count in (("hits", hits), ("misses", misses), ("reads", 7)) if count}
    return {"host": {"read": read, "write": {"ios": 0}}, "ftl_counts": counts, "waf": 1.25}


class Rows(unittest.TestCase):
    """Test the rows, of which each cache has one."""

    def test_options(self) -> None:
        whole, cached = mapcache.line(0), mapcache.line(77)
        self.assertIn("ftl.map_cache_pages=0", whole)
        self.assertEqual([b for a, b in zip(whole, cached, strict=True) if a != b], ["ftl.map_cache_pages=77"])
        self.assertIn("ftl.capacity_mib=3072", whole)  # 768 map pages of 1,024 units of 4 KiB

    def test_arithmetic(self) -> None:
        """A result has no counter that is 0."""
        with mock.patch.object(validate, "replay", lambda _text, _options, _program: result(3, 1)):
            made = mapcache.rows(b"", "t", Path("x"))
        self.assertEqual([row["map pages in memory"] for row in made],
                         ["8", "23", "77", "192", "384", "768", "in memory"])  # fmt: skip
        self.assertEqual(list(made[0].values()), ["t", "8", "25", "7", "0", "1.25", "2.5", "-"])
        self.assertEqual(list(made[-1].values()), ["t", "in memory", "-", "-", "-", "1.25", "2.5", "-"])
        self.assertEqual(mapcache.miss_percent(result(3, 0)), "0")


class Stored(unittest.TestCase):
    """Test that the stored table has the order that caching implies."""

    def test_directions(self) -> None:
        """A larger cache does not miss more often (LRU's inclusion)."""
        rows = list(csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines()))
        names = {row["trace"] for row in rows}
        self.assertGreaterEqual(len(names), 8)
        for name in names:
            with self.subTest(name):
                mine = [row for row in rows if row["trace"] == name]
                misses = [float(row["misses [%]"]) for row in mine if row["misses [%]"] != "-"]
                self.assertEqual(len(misses), len(mapcache.FRAMES))
                self.assertEqual(misses, sorted(misses, reverse=True))


if __name__ == "__main__":
    unittest.main()

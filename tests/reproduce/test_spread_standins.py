# SPDX-License-Identifier: GPL-2.0-or-later
"""Test stand-ins for SPREAD's volumes (spread_standins.py): what they keep of Table 4, and the stored tables."""

import unittest
from collections import Counter

import support

from reproduce.studies import spread_standins as standins
from reproduce.studies.spread_standins import Habits, Known
from reproduce.traces import fits

REST = Habits(fits.settings_of(fits.load(), "postmark_62k"), (0.5, 0.25))


class Numbers(unittest.TestCase):
    """Test what is taken from a real trace, and what a stand-in keeps of it."""

    def test_dominant_sizes(self) -> None:
        """A second size counts if it is two thirds as frequent as the first; 3 units are 2, rounded down."""
        reads = [(0, 0, 0, units) for units in (4, 4, 4, 1, 1, 3)]
        self.assertEqual(standins.dominant(reads, 0), (1, 4))
        self.assertEqual(standins.dominant([*reads, (0, 0, 0, 4)], 0), (4,))
        self.assertEqual(standins.dominant(reads, 1), (1,))
        self.assertEqual(standins.known([*reads, (0, 1, 0, 16)]), Known((6, 1), ((1, 4), (16,))))

    def test_table_4(self) -> None:
        """9:1 of a 32nd of 1.6 million; 7:3 and 3:7 of a 32nd of 4.8 million."""
        self.assertEqual({name: of.count for name, of in standins.VOLUMES.items()},
                         {"prj": (45000, 5000), "usr": (105000, 45000), "stg": (45000, 105000)})  # fmt: skip

    def test_a_stand_in(self) -> None:
        """Reads cover whole extents of four units, writes one unit of them, in all places."""
        of = Known((300, 700), ((4,), (1,)))
        made = standins.made(of, REST, "x 1")
        self.assertEqual(Counter((write, units) for _, write, _, units in made), {(0, 4): 300, (1, 1): 700})
        self.assertTrue(all(first % 4 == 0 for _, write, first, _ in made if not write))
        self.assertEqual({first % 4 for _, write, first, _ in made if write}, {0, 1, 2, 3})
        self.assertEqual(len({first // 4 for _, write, first, _ in made if write}), 175)  # a quarter: the coverage
        self.assertEqual(len({first for _, write, first, _ in made if not write}), 150)
        self.assertEqual(made, standins.made(of, REST, "x 1"))
        self.assertNotEqual(made, standins.made(of, REST, "x 2"))

    def test_a_mix(self) -> None:
        made, warm = standins.mixed(Known((300, 700), ((4,), (1,))), 1)
        self.assertEqual(warm, standins.EXPORTED_MIB * 256)  # writes of 4 KiB: the whole footprint
        self.assertEqual(len(made), warm + 1000)

    def test_medians_leave_one_out(self) -> None:
        some = {name: Habits({"beta": beta}, (beta, beta)) for name, beta in (("a", 0.1), ("b", 0.2), ("c", 0.9))}
        self.assertEqual(standins.medians(some), some["b"])
        self.assertEqual(standins.medians(some, "a"), some["b"])  # the lower of two
        self.assertEqual(standins.medians(some, "b"), some["a"])


class Tables(unittest.TestCase):
    """Test the arithmetic of the tables, and what the stored ones must have."""

    def test_errors(self) -> None:
        keys = ("trace", "quantity", "real", *standins.KINDS)
        rows = [
            dict(zip(keys, ("a", "IOPS, spFTL / pageFTL, x", "2", "1 (0.9 .. 1.1)", "4 (3 .. 5)", "-"))),
            dict(zip(keys, ("a", "read response, spFTL, %", "-10", "-7 (-8 .. -6)", "-", "-"))),
        ]
        found = {row[0]: row[1:] for row in standins.errors(rows)}
        twice, three, ten = "x 2.000, at most 2.000", "3.0, at most 3.0 points", "10.0, at most 10.0 points"
        self.assertEqual(found["IOPS, spFTL / pageFTL, x"], [twice, twice, "-", twice])
        self.assertEqual(found["read response, spFTL, %"], [three, "-", "-", ten])

    def test_bands(self) -> None:
        """A band is of all fits and seeds; the medians are no fit."""
        found = {"usr": {"a": {"IOPS, spFTL / pageFTL, x": [1.0, 1.5]}, "medians": {"IOPS, spFTL / pageFTL, x": [9.0]}}}
        self.assertEqual(standins.band_rows(found)[1:], [
            ["device", "usr", "IOPS, spFTL / pageFTL: a", "x", "1.44", "1.25", "0.8681", "1", "1.5"],
            ["device", "usr", "IOPS, spFTL / pageFTL: medians", "x", "1.44", "9", "6.25", "9", "9"],
            ["device", "usr", "IOPS, spFTL / pageFTL: all fits", "x", "1.44", "1.25", "0.8681", "1", "1.5"],
        ])  # fmt: skip

    def test_stored_bands(self) -> None:
        rows = support.stored("spread-standins/bands")
        self.assertEqual({row["trace"] for row in rows}, set(standins.VOLUMES))
        for row in rows:
            with self.subTest(row["trace"], what=row["what"]):
                self.assertLessEqual(float(row["low"]), float(row["ours"]) + 1e-3 * abs(float(row["ours"])))
                self.assertLessEqual(float(row["ours"]) - 1e-3 * abs(float(row["ours"])), float(row["high"]))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test how 'slate compare' relates a figure to the first run's, and its row of the guest's own time."""

import unittest

from slate_lib import compare, units
from slate_lib.compare import Line
from slate_lib.report import Report
from test_report import one_job


class Relations(unittest.TestCase):
    """Ratios and differences."""

    def of(self, first: float, value: float, words: compare.Words = units.us) -> str:
        return compare._ratio(Line("x", words, [first, value]), 1)

    def test_times_within_one_per_cent_in_ns(self) -> None:
        self.assertEqual(self.of(126_100, 126_110), " (+10 ns)")
        self.assertEqual(self.of(126_100.5, 126_098.25), " (-2.2 ns)")
        self.assertEqual(self.of(200_000, 198_001), " (-1,999 ns)")

    def test_others_as_ratios(self) -> None:
        self.assertEqual(self.of(200_000, 198_000), " (0.99x)")
        self.assertEqual(self.of(1000, 1002, compare._rate), " (1.00x)")
        self.assertEqual(self.of(1000, 250_000), " (250x)")

    def test_equal_ones(self) -> None:
        self.assertEqual(self.of(1000, 1000), "")

    def test_the_path(self) -> None:
        """The guest's mean is 97,000 ns and the drive's 65,536."""
        dev, fio = one_job()
        row = Report(dev, fio, {"settings": {}}).rows[0]
        (get,) = [get for what, _, get in compare._JOB if what == "path, µs"]
        self.assertEqual(get(row), 97_000 - 65_536)


if __name__ == "__main__":
    unittest.main()

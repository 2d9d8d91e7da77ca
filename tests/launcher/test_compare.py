# SPDX-License-Identifier: GPL-2.0-or-later
"""Test how 'slate compare' relates a figure to the first run's, and its row of the guest's own time."""

import unittest
from types import SimpleNamespace

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

    def test_wide_figures_do_not_touch(self) -> None:
        """'10,000,000 (-90,000,000 ns)' is wider than a column of 19."""
        line = Line("guest max", units.us, [10e9, 9.91e9, 10e9])
        found = SimpleNamespace(names=["a", "b", "c"], groups=[compare.Group("job read", [line])], differs=[],
                                remarks=list)  # fmt: skip
        lines = compare.text(found, False).splitlines()  # type: ignore[arg-type]
        (row,) = [line for line in lines if "guest max" in line]
        self.assertEqual(row.split()[2:], ["10e6", "9.91e6", "(-90,000,000", "ns)", "10e6"])
        self.assertEqual([len(lines[0].rstrip()), row.index("ns)") + 3], [len(row), lines[0].index("b") + 1])

    def test_the_path(self) -> None:
        """The guest's mean is 97,000 ns and the drive's 65,536."""
        dev, fio = one_job()
        row = Report(dev, fio, {"settings": {}}).rows[0]
        (get,) = [get for what, _, get in compare._JOB if what == "path, µs"]
        self.assertEqual(get(row), 97_000 - 65_536)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/results/drives against measurements by others: its errors are arithmetic, and its picture is of its tables."""

import unittest

import support  # noqa: F401  (sets the path)

from reproduce.pages import holdouts

PAGE = """
Text | with | bars.

| depth | published, IOPS | 8 chips | error | 16 chips | error |
| --- | --- | --- | --- | --- | --- |
| 1 | 8,900 | 8,631 | -3.0 % | 9,000 | +1.1 % |
| 256 | 450,000 (the sheet) | 448,153 | -0.4 % | 449,373 | -0.1 % |

| drive | figure | published | ours | error |
| --- | --- | --- | --- | --- |
| one, two | reads, µs; V | 20 (a) | 115.0 | +475 % |
| | writes | about 1,000 (b) | 500 | -50.0 % |

| another | table |
"""


class Tables(unittest.TestCase):
    """Parsing."""

    def test_sweep(self) -> None:
        found = holdouts.sweep(PAGE)
        self.assertEqual(list(found), ["8 chips", "16 chips"])
        self.assertEqual(found["8 chips"][1], holdouts.Figure("8 chips", "256", 450_000, 448_153, "-0.4 %"))
        self.assertEqual([one.ours for one in found["16 chips"]], [9000, 449_373])

    def test_figures(self) -> None:
        self.assertEqual(
            holdouts.figures(PAGE),
            [
                holdouts.Figure("one, two", "reads, µs; V", 20, 115, "+475 %"),
                holdouts.Figure("one, two", "writes", 1000, 500, "-50.0 %"),
            ],
        )
        self.assertEqual(holdouts.label(holdouts.figures(PAGE)[0]), "one: reads, µs; V")

    def test_a_table_or_a_number_that_is_not_there(self) -> None:
        with self.assertRaisesRegex(ValueError, r"no table begins with '\| depth"):
            holdouts.sweep("| other |\n")
        with self.assertRaisesRegex(ValueError, "no number in the cell 'unknown'"):
            holdouts.figures(PAGE.replace("about 1,000 (b)", "unknown"))


class Page(unittest.TestCase):
    """Test the page and its picture."""

    def setUp(self) -> None:
        page = holdouts.PAGE.read_text(encoding="utf-8")
        self.sweep, self.page_figures = holdouts.sweep(page), holdouts.figures(page)
        self.picture = holdouts.PICTURE.read_text(encoding="utf-8")

    def test_every_error_is_arithmetic(self) -> None:
        every = [*self.page_figures, *(one for line in self.sweep.values() for one in line)]
        self.assertGreaterEqual(len(every), 20)
        for one in every:
            places = len(one.error.removesuffix(" %").partition(".")[2])
            # Both numbers are rounded as the page has them.
            self.assertAlmostEqual(one.percent(), float(one.error.removesuffix(" %")), delta=0.6 * 10**-places, msg=one)

    def test_the_picture_has_every_figure(self) -> None:
        """If a figure is missing in the picture, run holdouts.py."""
        at = 0
        for one in self.page_figures[::-1]:
            at = self.picture.find(f">{one.error}<", at) + 1
            self.assertTrue(at, f"{one}: not in the picture, or not in this order")
            name = holdouts.label(one).replace("&", "&amp;")
            self.assertIn(f">{name}<", self.picture)
        for one in self.sweep["8 chips"]:
            self.assertIn(f">{one.error}<", self.picture)
        self.assertLess(len(self.picture), 60_000)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the study of placement: verdicts on power cuts, percentiles, and the page that shows the stored table."""

import csv
import unittest
from typing import Any

from support import ROOT

from reproduce.studies import placement

RESULTS = ROOT / "docs/results/placement"
PAGE = ROOT / "docs/results/placement/study.md"


class Cuts(unittest.TestCase):
    """Test verdicts on what the consoles of the boots say about the data."""

    def verdicts(self, *consoles: Any) -> Any:
        return placement.survived([text.replace(";", "\r\n") + "\r\n" for text in consoles], 100)

    def test_acknowledged_batches_and_one_in_flight_may_be_there(self) -> None:
        self.assertEqual(self.verdicts("FOUND 100;DONE 101;DONE 102", "FOUND 102"), [True, True])
        self.assertEqual(self.verdicts("FOUND 100;DONE 101;DONE 102", "FOUND 103"), [True, True])
        self.assertEqual(self.verdicts("FOUND 100", "FOUND 101"), [True, True])

    def test_lost_or_invented_batches(self) -> None:
        self.assertEqual(self.verdicts("FOUND 100;DONE 101;DONE 102", "FOUND 101"), [True, False])
        self.assertEqual(self.verdicts("FOUND 100;DONE 101;DONE 102", "FOUND 104"), [True, False])
        self.assertEqual(self.verdicts("FOUND 99"), [False])
        self.assertEqual(self.verdicts("FOUND 100", "FOUND 100;DONE 101", "FOUND 100;DONE 101", "FOUND 101"),
                         [True, True, False, True])

    def test_a_cut_before_the_check_is_judged_by_the_next(self) -> None:
        self.assertEqual(self.verdicts("FOUND 100;DONE 101", "", "FOUND 101"), [True, True, True])
        self.assertEqual(self.verdicts("FOUND 100;DONE 101", "", "FOUND 100"), [True, False, False])

    def test_no_report_at_the_end(self) -> None:
        self.assertEqual(self.verdicts("FOUND 100;DONE 101", "", "a key has not its value"), [True, False, False])

    def test_a_line_that_the_cut_ended_says_nothing(self) -> None:
        self.assertEqual(placement.survived(["FOUND 100\r\nDONE 101\r\nDONE 10", "FOUND 101\r\n"], 100), [True, True])
        self.assertEqual(placement.survived(["FOUND 10", "FOUND 100\r\n"], 100), [True, True])

    def test_times(self) -> None:
        times = placement.cut_times("x", 200)
        self.assertEqual(times[:3], placement.cut_times("x", 3), "more cuts keep the first")
        self.assertNotEqual(times[:3], placement.cut_times("y", 3))
        self.assertEqual([time for time in times if not 300_000_000 <= time < 1_700_000_000], [])
        self.assertLess(min(times), 320_000_000)
        self.assertGreater(max(times), 1_680_000_000)


class Figures(unittest.TestCase):
    """Numbers."""

    def test_percentile(self) -> None:
        samples = list(range(1000, 0, -1))
        self.assertEqual([placement.percentile(samples, share) for share in (1, 500, 990, 999, 1000)],
                         [1, 500, 990, 999, 1000])
        self.assertEqual(placement.percentile([7], 500), 7)

    def test_equal_flash(self) -> None:
        """The drives of each configuration have 216 MiB of flash together."""
        for one in placement.CONFIGURATIONS:
            sizes = []
            for number in range(len(one.profiles)):
                blocks = {"channels": 2, "chips": 1, "planes": 2, "blocks_per_plane": 80}
                for line in one.settings:
                    address, _, rest = line.rpartition(":")
                    key, _, value = rest.partition("=")
                    if address in ("", str(number)) and key.startswith("geometry."):
                        blocks[key.removeprefix("geometry.")] = int(value)
                sizes.append(blocks["channels"] * blocks["planes"] * blocks["blocks_per_plane"])
            self.assertEqual(sum(sizes), 216, one.name)

    def test_the_page_has_the_stored_table(self) -> None:
        with (RESULTS / "placement.csv").open(encoding="utf-8") as file:
            stored = [row["configuration"] for row in csv.DictReader(file)]
        self.assertEqual(stored, [one.name for one in placement.CONFIGURATIONS])
        lines = (RESULTS / "README.md").read_text(encoding="utf-8").splitlines()
        rows = [line for line in lines if line.startswith("|")]
        self.assertEqual(len(rows), 2 + len(stored))
        text = PAGE.read_text(encoding="utf-8")
        for row in rows:
            self.assertIn(row, text)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""The page FTL's write amplification beside mathematics (docs/results/baseline)."""

from __future__ import annotations

import math
import unittest

import support  # noqa: F401  # the path of host-tools/reproduce

from baseline import Point
from wamodel import Mix, greedy, hot_cold, lru

WITHIN = 0.02


class Model(unittest.TestCase):
    """What is known of the functions."""

    def test_blocks_of_two_pages_by_hand(self) -> None:
        """Full blocks: 0.9 / (2 - v). With one valid page: p 1.8 / (2 - v). Their sum is 1, v = 1 - p: p = 1 / 8."""
        self.assertAlmostEqual(greedy(0.9, 2), 2 / (2 - 7 / 8), places=12)

    def test_a_drive_with_much_room_moves_nothing(self) -> None:
        """Even if victims have no valid page, all levels above hold the share rho (1 + 1/2 + ... + 1/64) = 0.949."""
        self.assertEqual(greedy(0.2, 64), 1.0)

    def test_lru_is_lamberts_w(self) -> None:
        """x = -rho W(-exp(-1 / rho) / rho), so w = -x / rho has w exp(w) = -exp(-1 / rho) / rho."""
        for rho in (0.7, 0.8, 0.9, 0.95):
            w = -(1 - 1 / lru(rho)) / rho
            self.assertAlmostEqual(w * math.exp(w), -math.exp(-1 / rho) / rho, places=12)

    def test_large_blocks_are_cleaned_as_the_oldest_are(self) -> None:
        """The difference falls with the pages of a block, and greedy is never worse."""
        for rho in (0.78, 0.88, 0.93):
            off = [lru(rho) / greedy(rho, b) - 1 for b in (64, 256, 1024, 4096)]
            self.assertEqual(off, sorted(off, reverse=True))
            self.assertTrue(0 < off[-1] < 0.005, off)

    def test_equally_hot_is_uniform(self) -> None:
        for share in (0.2, 0.5):
            self.assertAlmostEqual(hot_cold(0.85, 64, Mix(share, share)), greedy(0.85, 64), places=6)


class Drive(unittest.TestCase):
    """slate-replay's page FTL."""

    def check(self, point: Point) -> None:
        """Within two per cent."""
        measured, computed = point.measured(), point.computed()
        self.assertLess(abs(measured / computed - 1), WITHIN, f"{point}: {measured} measured, {computed} computed")

    def test_uniform(self) -> None:
        for block_pages, op_percent in ((64, 7), (64, 28), (256, 14)):
            with self.subTest(block_pages=block_pages, op_percent=op_percent):
                self.check(Point(1024, block_pages, op_percent))

    def test_hot_and_cold(self) -> None:
        self.check(Point(1024, 64, 14, Mix(0.2, 0.8)))

    def test_the_band_tells_policies_apart(self) -> None:
        """Victims by age would be outside: the model of the oldest block first is 2 % off at 64 pages a block."""
        point = Point(1024, 64, 28)
        rho = point.pages / ((point.blocks - 3) * point.block_pages)
        self.assertGreater(lru(rho) / point.measured() - 1, WITHIN)

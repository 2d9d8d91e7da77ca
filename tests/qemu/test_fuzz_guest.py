# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a slice of fuzz_guest.py: the same sequences each time. A failure names the id that plays it again."""

from __future__ import annotations

import unittest

from fuzz_guest import DRIVES, ROUND, ROUNDS, play


class Slice(unittest.TestCase):
    """Run some random commands for every drive."""

    def test_stepped(self) -> None:
        for drive in DRIVES:
            for seed in range(1, 4):
                with self.subTest(drive=drive, seed=seed):
                    self.assertGreaterEqual(play(f"{drive}:stepped:{seed}"), ROUND * ROUNDS)

    def test_hung_before(self) -> None:
        """A reset did not end, because it waited for a command whose data pointer pointed to registers."""
        self.assertEqual(play("dac:stepped:1453"), 487)

    def test_with_a_thread(self) -> None:
        for drive in DRIVES:
            with self.subTest(drive=drive):
                self.assertGreaterEqual(play(f"{drive}:thread:1"), ROUND * ROUNDS)


if __name__ == "__main__":
    unittest.main()

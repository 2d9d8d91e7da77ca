# SPDX-License-Identifier: GPL-2.0-or-later
"""Test a shipped profile beside arithmetic and a model (docs/results/shipped)."""

import unittest

import support  # noqa: F401  # the path of host-tools/reproduce

import shipped


class Shipped(unittest.TestCase):
    """The profile `small`, whose settings are simple."""

    def test_small(self) -> None:
        rows = {row["what"]: row for row in shipped.measure("small")}
        self.assertEqual(set(rows), set(shipped.WORDS))
        self.assertLess(abs(float(rows.pop("waf")["difference_percent"])), 2)
        for what, row in rows.items():
            self.assertEqual(row["measured"], row["expected"], what)
        # 200 of the look-up, 1,000 of the firmware, 2,000 of the buffer; 300 + 17,664 * 1.25 on the bus
        self.assertEqual(rows["write"]["measured"], "3.20")
        self.assertEqual(rows["flush"]["measured"], f"{(1_200 + 300 + 22_080 + 640_000) / 1000:.2f}")
        self.assertEqual(rows["read"]["measured"], f"{(1_200 + 300 + 22_080 + 99_000) / 1000:.2f}")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test a shipped profile beside arithmetic and a model (docs/results/shipped)."""

import tempfile
import unittest
from pathlib import Path

from support import ROOT

from reproduce.models import shipped


class Shipped(unittest.TestCase):
    """The profile `small`, whose settings are simple, with GC of one plane at a time.

    Then a slice of 4 commands is too little for GC to keep up with writes (two planes, a WAF above 3), as the model
    assumes. With GC of planes together it keeps up, and more blocks are empty.
    """

    def test_small(self) -> None:
        text = (ROOT / "nand-emu/profiles/small.ini").read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "small.ini"
            path.write_text(text.replace("[ftl]\n", "[ftl]\ngc_multiplane = no\n"), encoding="utf-8")
            rows = {row["what"]: row for row in shipped.measure(str(path))}
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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Sanitize a drive, and read its telemetry, by nvme-cli in a guest."""

import json
import re
import unittest

from support import HERE, GuestTest, Result


class Sanitize(GuestTest):
    """Run one guest; sanitize.sh stores the output of nvme-cli."""

    kernel = "debian"

    def state(self, result: Result, name: str) -> tuple[int, str, int]:
        """Return progress, state and the bit Global Data Erased of a log."""
        log = json.loads(result.text(name))["nvme0"]
        return log["sprog"], log["sstat"]["status"][:3], log["sstat"]["global_erased"]

    def test_by_nvme_cli(self) -> None:
        result = self.slate("--profile", "small", "--fill", "0", "--cmd", HERE / "sanitize.sh")
        self.assertEqual(self.state(result, "before.json"), (65535, "(0)", 0))
        self.assertEqual(self.state(result, "during.json"), (0, "(2)", 0), "a row takes 3.5 ms")
        self.assertEqual(self.state(result, "after.json"), (65535, "(1)", 1))
        self.assertEqual(result.text("sanitize.txt"), "")
        self.assertIn("Sanitize In Progress", result.text("read.txt"))
        self.assertEqual(result.text("cmp.txt"), "empty\n")
        self.assertEqual(result.text("refused.txt").count("Invalid Field in Command"), 2)
        telemetry = (result.folder / "telemetry.bin").read_bytes()
        self.assertEqual((telemetry[0], telemetry[512:516]), (7, b"SLOG"))
        self.events(result.text("events.txt"))
        self.overwritten(result)

    def overwritten(self, result: Result) -> None:
        """A pass of 80 rows takes 80 * 50.8 ms; after a second at least 19 rows have ended, at most 20."""
        self.assertEqual(result.text("overwrite.txt"), "")
        progress, state, _ = self.state(result, "pass.json")
        self.assertIn((progress, state), [(rows * 65536 // 80, "(2)") for rows in (19, 20)])
        self.assertEqual(self.state(result, "passed.json"), (65535, "(1)", 1))
        self.assertEqual(json.loads(result.text("passed.json"))["nvme0"]["sstat"]["no_cmplted_passes"], 1)
        self.assertEqual(result.text("cmp-passed.txt"), "empty\n")

    def events(self, text: str) -> None:
        """Sanitize has ended and begun; before it Linux set the timestamp of the controller that became ready."""
        types = re.findall(r"^Event Type.*\((0x\w+)\)$", text, re.M)
        self.assertEqual(types, ["0xa", "0x9", "0x3", "0x4", "0x1"])
        size = 512 + (24 + 8) + (24 + 12) + (24 + 16) + (24 + 44) + (24 + 512)
        self.assertRegex(text, rf"(?m)^Total Log Length\s*: {size}$")
        self.assertRegex(text, r"(?m)^Sanitize CDW10: 2$")
        self.assertRegex(text, r"(?m)^Sanitize Status: 257$", "done, and all data are erased")
        self.assertRegex(text, r"(?m)^unsafe_shutdowns\s*: 0$")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test protection information in the spare area under Linux, whose block layer makes and checks it; power cuts."""

import re
import unittest
from typing import Any

from support import HERE, GuestTest

WORK = HERE / "metadata.sh"
MIB = 1 << 20
# of 20 MiB of flash 12 are written again and again, so that GC copies
DRIVE = ("--fill", "0", "--namespace", "size=12M", "--set", "ftl.metadata_bytes=64", "--set", "ftl.capacity_mib=13",
         "--set", "geometry.blocks_per_plane=20", "--set", "geometry.pages_per_block=16", "--cmd", WORK)


class Metadata(GuestTest):
    """Run slate run --set ftl.metadata_bytes."""

    kernel = "debian"  # the small one does not know protection information

    def test_linux_checks(self) -> None:
        result = self.slate(*DRIVE, "--cmd-arg", "formats", seconds=600)
        self.assertEqual(result.text("formats.txt").splitlines(), [
            f"1 1 T10-DIF-TYPE1-CRC 512 {12 * MIB}", f"1 2 T10-DIF-TYPE1-CRC 512 {12 * MIB}",
            f"1 3 T10-DIF-TYPE3-CRC 512 {12 * MIB}", f"5 1 T10-DIF-TYPE1-CRC 4096 {12 * MIB}",
            f"1 1 T10-DIF-TYPE1-CRC 512 {12 * MIB}",
        ])
        for form in ("1-1", "1-2", "1-3", "5-1"):
            for kib in (4, 12, 8):
                job = result.json(f"fio-{form}-{kib}.json")["jobs"][0]
                self.assertEqual((job["error"], job["read"]["total_ios"]), (0, 12 * 1024 // kib), (form, kib))
        steps = dict(line.split() for line in result.text("steps.txt").splitlines())
        self.assertEqual({name for name, status in steps.items() if status != "0"}, {"found", "found-by-linux"})
        self.assertRegex(result.text("found.txt").lower(), "guard|282")
        device = result.device
        self.assertGreater(device.total.ftl["gc-units"], 1000)
        self.assertEqual(device.total.violations(), 0)
        self.assertEqual([op.errors for op in device.total.op.values()], [0, 0, 0, 0], "errors are the controller's")

    def test_linux_7_with_64_bytes(self) -> None:
        """Linux 7.2 generates and checks, but its Write Zeroes leaves a wrong reference tag, which type 3 has not."""
        result = self.slate("--guest", "forky", *DRIVE, "--cmd-arg", "large")
        self.assertEqual(result.text("formats.txt").splitlines(), [
            f"7 {kind} T10-DIF-TYPE{kind}-CRC 4096 {12 * MIB}" for kind in (1, 3)
        ])
        for kind in (1, 3):
            job = result.json(f"fio-7-{kind}.json")["jobs"][0]
            self.assertEqual((job["error"], job["read"]["total_ios"]), (0, 512), kind)
        steps = dict(line.split() for line in result.text("steps.txt").splitlines())
        names = [f"{step}-{kind}" for kind in (1, 3) for step in ("written", "zero", "zeroed", "mkfs")]
        self.assertEqual(steps, dict.fromkeys(names, "0") | {"zeroed-1": "1", "mkfs-1": "1"})
        errors = re.findall(r"sct 0x\w+ / sc 0x\w+", result.text("dmesg.txt"))
        self.assertEqual(set(errors), {"sct 0x2 / sc 0x84"}, "Reference Tag Check Error")
        self.assertEqual(result.device.total.violations(), 0)

    def cut(self, at: str, index: int, seed: int) -> None:
        """The power is cut in the midst of writes; afterwards Linux reads every block, and checks it."""
        args: list[Any] = ["--cmd-arg", "write", "--cmd-arg", str(index), "--cmd-arg", "1"]
        result = self.slate(*DRIVE, *args, "--cut-at", at, "--cut-seed", str(seed), "--after-cut", WORK, seconds=600)
        cut = result.json("run.json")["power_cuts"][0]
        self.assertGreater(cut["lost-requests"], 0)
        self.assertEqual(result.text("checked.txt"), "sound\n")
        self.assertEqual(result.text("state.txt"), f"T10-DIF-TYPE1-CRC {512 if index == 1 else 4096}\n")

    def test_cut_in_the_midst_of_writes(self) -> None:
        for index, at, seed in ((1, "2500ms", 1), (5, "2600ms", 2)):
            with self.subTest(index=index):
                self.cut(at, index, seed)


if __name__ == "__main__":
    unittest.main()

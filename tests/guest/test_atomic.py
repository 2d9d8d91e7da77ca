# SPDX-License-Identifier: GPL-2.0-or-later
"""Test atomic writes under a Linux that has them (RWF_ATOMIC on block devices: 6.11 and newer)."""

import json
import re
import unittest

from support import HERE, GuestTest

from slate_lib import guests, paths

KIB = 1024
SIZES = (4, 16, 32, 64, 128, 256)


def newest_guest() -> str:
    """Return the name of a guest whose Debian kernel has atomic writes, or "" if none is made."""
    for name in guests.made():
        kernel = json.loads((paths.GUESTS / name / "guest.json").read_text(encoding="utf-8"))["kernel"]
        major, minor = map(int, re.findall(r"\d+", kernel)[:2])
        if (major, minor) >= (6, 11):
            return name
    return ""


@unittest.skipUnless(newest_guest(), "no guest has Linux 6.11: 'slate guest make 13' makes one")
class Atomic(GuestTest):
    """The buffer has 4 MiB, a quarter of which is more than the largest atomic write."""

    kernel = "debian"

    def check(self, protected: str, largest: int, cache: str) -> None:
        """Writes of up to `largest` KiB are atomic; Linux refuses larger ones."""
        result = self.slate("--guest", newest_guest(), "--fill", "0", "--cmd", HERE / "atomic.sh", "--set",
                            f"ftl.power_protected={protected}", "--set", "ftl.buffer_units=1024")  # fmt: skip
        said = dict(line.split(":", 1) for line in result.text("queue.txt").splitlines())
        self.assertEqual(said["write_cache"], cache)
        for key in ("atomic_write_max_bytes", "atomic_write_unit_max_bytes", "atomic_write_boundary_bytes"):
            self.assertEqual(int(said[key]), largest * KIB, key)
        self.assertEqual(int(said["physical_block_size"]), 4 * KIB)
        status = dict(line.split() for line in result.text("writes.txt").splitlines())
        for size in SIZES:
            self.assertEqual(status[str(size)] == "0", size <= largest, f"{size} KiB")
            self.assertEqual("Invalid argument" in result.text(f"fio-{size}.txt"), size > largest, f"{size} KiB")
        written = sum(1 for size in SIZES if size <= largest) * KIB * KIB
        self.assertEqual(result.device.total.op["write"].bytes, written)
        self.assert_clean(result.device)

    def test_with_capacitors(self) -> None:
        self.check("yes", 128, "write through")

    def test_without_capacitors(self) -> None:
        self.check("no", 4, "write back")

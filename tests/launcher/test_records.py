# SPDX-License-Identifier: GPL-2.0-or-later
"""Test what the check of records.c allows of a write of 16 KiB that was under way: with split any sectors of it."""

import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import ROOT

SOURCE = ROOT / "host-tools" / "guest" / "records.c"
ATOM, PLACES, SEED, MASK = 16384, 64, 9, (1 << 64) - 1
GOOD, LOST, TORN = range(3)


def mix(z: int) -> int:
    """splitmix64."""
    z = z + 0x9E3779B97F4A7C15 & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def record(n: int) -> bytes:
    """Return record n: its number, and words that follow from it and from the seed."""
    words = [n, *(mix(SEED + n * 0x10001 + at) for at in range(8, ATOM, 8))]
    return struct.pack(f"<{ATOM // 8}Q", *words)


class Places(unittest.TestCase):
    """Check images: records 1 and 2 were announced, and record 3 was being written."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        command: list[str | Path] = ["cc", "-o", self.folder / "records", SOURCE]
        subprocess.run(command, check=True, timeout=60)
        (self.folder / "durable").write_text("1\n2\n", encoding="utf-8")

    def verdict(self, way: str, *parts: tuple[int, int, int]) -> int:
        """Check an image with parts of records: a record, and its bytes from one to another."""
        image = bytearray(PLACES * ATOM)
        for n, start, end in parts:
            place = mix(n ^ SEED << 20) % PLACES * ATOM
            image[place + start : place + end] = record(n)[start:end]
        (self.folder / "image").write_bytes(image)
        words: list[str | Path] = [
            self.folder / "records",
            "check",
            self.folder / "image",
            way,
            str(SEED),
            self.folder / "durable",
        ]
        return subprocess.run(words, stdout=subprocess.DEVNULL, check=False, timeout=60).returncode

    def test_each(self) -> None:
        one, two = (1, 0, ATOM), (2, 0, ATOM)
        for parts, split, atomic in (
            ((one, two), GOOD, GOOD),
            ((one, two, (3, 0, ATOM)), GOOD, GOOD),
            ((one, two, (3, 512, 4096)), GOOD, TORN),
            ((one, two, (3, 0, 512), (3, 8192, ATOM)), GOOD, TORN),
            ((one, two, (3, 0, 100)), TORN, TORN),  # a part of a sector
            ((one, (2, 0, 4096)), TORN, TORN),
            ((one,), LOST, LOST),
            ((two, (3, 0, ATOM)), LOST, LOST),
        ):
            self.assertEqual((self.verdict("split", *parts), self.verdict("atomic", *parts)), (split, atomic), parts)


if __name__ == "__main__":
    unittest.main()

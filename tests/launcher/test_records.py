# SPDX-License-Identifier: GPL-2.0-or-later
"""Test what the check of records.c allows of a write that was under way: of 16 KiB with split, of a zone's end."""

import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import ROOT

SOURCE = ROOT / "host-tools" / "guest" / "records.c"
ATOM, PLACES, SEED, MASK = 16384, 64, 9, (1 << 64) - 1
BLOCK, ZONES, ROOM = 4096, 4, 16 * 4096
GOOD, LOST, TORN = range(3)


def mix(z: int) -> int:
    """splitmix64."""
    z = z + 0x9E3779B97F4A7C15 & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def record(n: int, size: int = ATOM) -> bytes:
    """Return record n: its number, and words that follow from it and from the seed."""
    words = [n, *(mix(SEED + n * 0x10001 + at) for at in range(8, size, 8))]
    return struct.pack(f"<{size // 8}Q", *words)


class Program(unittest.TestCase):
    """Has the program, in a folder of its own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        command: list[str | Path] = ["cc", "-o", self.folder / "records", SOURCE]
        subprocess.run(command, check=True, timeout=60)

    def check(self, where: Path, way: str, last: int) -> int:
        """Check what is left after record `last` was announced."""
        durable = "".join(f"{n}\n" for n in range(1, last + 1))
        (self.folder / "durable").write_text(durable, encoding="utf-8")
        words: list[str | Path] = [self.folder / "records", "check", where, way, str(SEED), self.folder / "durable"]
        return subprocess.run(words, stdout=subprocess.DEVNULL, check=False, timeout=60).returncode


class Places(Program):
    """Check images: records 1 and 2 were announced, and record 3 was being written."""

    def verdict(self, way: str, *parts: tuple[int, int, int]) -> int:
        """Check an image with parts of records: a record, and its bytes from one to another."""
        image = bytearray(PLACES * ATOM)
        for n, start, end in parts:
            place = mix(n ^ SEED << 20) % PLACES * ATOM
            image[place + start : place + end] = record(n)[start:end]
        (self.folder / "image").write_bytes(image)
        return self.check(self.folder / "image", way, 2)

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


class Zones(Program):
    """Check folders like those of zonefs: four files that each have room for 16 blocks (stat's blocks say so).

    They are on a tmpfs, because other file systems count blocks of their own.
    """

    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory(dir="/dev/shm")
        self.addCleanup(folder.cleanup)
        self.zones = Path(folder.name)

    def verdict(self, last: int, files: list[bytes]) -> int:
        """Check files with this content."""
        for n, content in enumerate(files):
            path = self.zones / "seq" / str(n)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"")
            subprocess.run(["fallocate", "-n", "-l", str(ROOM), path], check=True, timeout=60)
            with open(path, "r+b") as file:
                file.write(content)
            self.assertEqual(path.stat().st_blocks * 512, ROOM)
        return self.check(self.zones, "fsync", last)

    def size(self, n: int) -> int:
        return BLOCK * (1 + mix(SEED ^ n) % 4)

    def written(self, last: int) -> list[bytes]:
        """Return the files after record `last`."""
        files = [b""] * ZONES
        for n in range(1, last + 1):
            old = files[n % ZONES] if len(files[n % ZONES]) + self.size(n) <= ROOM else b""
            files[n % ZONES] = old + record(n, self.size(n))
        return files

    def changed(self, last: int, n: int, content: bytes) -> int:
        """Check the files after record `last`, of which the one of record n has another content."""
        files = self.written(last)
        files[n % ZONES] = content
        return self.verdict(last, files)

    def test_in_a_file(self) -> None:
        """Record 7 was being written, behind record 3: any of its first bytes may be there, and no others."""
        files = self.written(6)
        self.assertEqual(self.verdict(6, files), GOOD)
        three, seven, six = files[3], record(7, self.size(7)), files[2]
        for part, verdict in (
            (three + seven, GOOD), (three + seven[:512], GOOD), (three[:-512], LOST), (b"", LOST),
            (three + bytes(512), TORN), (three + seven + bytes(512), TORN), (three + seven[512:], TORN),
            (bytes(512) + three[512:], TORN),
        ):  # fmt: skip
            self.assertEqual(self.changed(6, 7, part), verdict, len(part))
        self.assertEqual(self.changed(6, 6, six + record(10, self.size(10))), TORN, "record 10 waits for record 7")

    def test_a_file_begins_again(self) -> None:
        """The first record without room: its file is the old one or a part of the new one, and then the new one."""
        n = next(n for n in range(1, 99) if ROOM > len(self.written(n - 1)[n % ZONES]) > ROOM - self.size(n))
        old, new = self.written(n - 1)[n % ZONES], record(n, self.size(n))
        for content, before, after in (
            (old, GOOD, TORN), (b"", GOOD, LOST), (new[:512], GOOD, LOST), (new, GOOD, GOOD), (old[:-512], LOST, TORN),
            (old + new[:512], TORN, TORN), (new + bytes(512), TORN, TORN),
        ):  # fmt: skip
            self.assertEqual(self.changed(n - 1, n, content), before, (n, len(content)))
            self.assertEqual(self.changed(n, n, content), after, (n, len(content)))


if __name__ == "__main__":
    unittest.main()

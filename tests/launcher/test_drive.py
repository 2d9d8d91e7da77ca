# SPDX-License-Identifier: GPL-2.0-or-later
"""Test 'slate age' and 'slate drive', from outside."""

import hashlib
import os
import signal
import struct
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

import support
from support import ROOT

from slate_lib import drivefile

SLATE = ROOT / "host-tools" / "slate"
AGE = ROOT / "build" / "core" / "slate-age"
SMALL = ROOT / "nand-emu" / "profiles" / "small.ini"
TINY = ["--set", "geometry.blocks_per_plane=16", "--set", "ftl.capacity_mib=40"]


def crc32c(data: bytes) -> int:
    """Compute CRC-32C (Castagnoli) bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


class Case(unittest.TestCase):
    """A folder for drives."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="slate-drive-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def slate(self, *args: Any, code: int = 0) -> str:
        done = subprocess.run(
            [SLATE, *map(str, args)], cwd=self.folder, capture_output=True, text=True, timeout=60, check=False
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done.stderr if code else done.stdout

    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())


class Show(Case):
    """Test 'slate drive show'."""

    def test_head(self) -> None:
        path = support.drive_file(self.folder / "a.slate")
        kept = drivefile.read(path)
        self.assertEqual((kept.image_bytes, kept.table_bytes, len(kept.settings)), (20480, 8192, 10))
        self.assertEqual(
            kept.sha256_of_tables(), hashlib.sha256(path.read_bytes()[: 32768 + 8192]).hexdigest()
        )
        self.assertEqual(
            self.slate("drive", "show", "a.slate").splitlines(),
            [
                "a.slate: 52 KiB, of which 52 KiB on disk",
                "format 3: head and copy 32 KiB, tables 12 KiB, pages 8 KiB",
                *support.DRIVE_SETTINGS.splitlines(),
            ],
        )

    def test_bad(self) -> None:
        self.assertIn("no such file", self.slate("drive", "show", "none.slate", code=2))
        self.assertIn("ACTION", self.slate("drive", code=2))
        (self.folder / "x").write_bytes(b"x")
        self.assertIn("x: is no drive file", self.slate("drive", "show", "x", code=2))
        path = support.drive_file(self.folder / "a.slate")
        path.write_bytes(path.read_bytes().replace(b"drive.name=tiny", b"drive.name=torn"))
        self.assertIn(
            "its head and the copy of it are damaged", self.slate("drive", "show", "a.slate", code=2)
        )

    def test_the_copy_of_the_head(self) -> None:
        path = support.drive_file(self.folder / "a.slate")
        whole = path.read_bytes()
        for damaged in (0, 9, 2000, 16384, 18000):
            path.write_bytes(whole[:damaged] + b"?" + whole[damaged + 1 :])
            self.assertEqual(drivefile.read(path).settings, support.DRIVE_SETTINGS.splitlines())

    def test_unfinished(self) -> None:
        path = self.folder / "a"
        self.assertFalse(drivefile.unfinished(path))
        path.write_bytes(bytes(20000))
        self.assertTrue(drivefile.unfinished(path))
        self.assertFalse(drivefile.unfinished(support.drive_file(path)))


@unittest.skipUnless(AGE.exists(), "the core has not been built")
class Age(Case):
    """Test 'slate age'."""

    def age(self, *args: Any, code: int = 0) -> str:
        return self.slate("age", SMALL, *TINY, *args, code=code)

    def test_equal_inputs_give_equal_bytes(self) -> None:
        for name in ("a", "b"):
            self.age("--writes", "2x", "--seed", "7", "-o", f"{name}.slate")
        self.age("--writes", "2x", "--seed", "8", "-o", "c.slate")
        first, second, other = ((self.folder / f"{name}.slate").read_bytes() for name in "abc")
        self.assertEqual(first, second)
        self.assertNotEqual(first, other)
        self.assertEqual(self.names(), ["a.slate", "b.slate", "c.slate"])

    def test_what_it_says_is_kept(self) -> None:
        said = self.age("--writes", "1.5x", "--fill", "50", "--seed", "3", "-o", "a.slate")
        self.assertRegex(said, r"^a\.slate: a drive of \d+ MiB, \d+\.\d MiB on disk, made in \d+\.\d s\n$")
        kept = drivefile.read(self.folder / "a.slate")
        self.assertEqual(kept.value("precondition.fill_permille"), "500")
        self.assertEqual(kept.value("precondition.age_permille"), "1500")
        self.assertEqual(kept.value("precondition.seed"), "3")
        self.assertEqual(kept.value("drive.name"), "small")
        self.assertEqual(kept.value("geometry.blocks_per_plane"), "16")

    def test_the_file_is_as_the_specification_says(self) -> None:
        said = self.age("--writes", "2x", "-o", "a")
        data = (self.folder / "a").read_bytes()
        field = struct.unpack_from("<24I", data, 24)
        self.assertEqual(field[:9], (2, 1, 1, 2, 16, 64, 16384, 1280, 43))
        self.assertEqual(field[9:], (16384, 0, 1, 1, 0, 4096, 1, 0, 0, 0, 40 << 11, 0, 0, 0, 0))
        dies, blocks, pages, oob_kept = 2, 64, 4096, 43
        at, size, parts = 0, 0, {}
        for name, count, each in (
            ("head", 1, 40),
            ("dies", dies, 40),
            ("flights", dies * 2, 16),
            ("blocks", blocks, 4),
            ("pbs", blocks, 16),
            ("ages", 0, 16),
            ("carried", 0, 1),
            ("cells", pages // 32, 8),
            ("oob", pages, oob_kept),
            ("gap", pages, 1),
            ("sums", pages, 8),
            ("pages", pages, 16384),
            ("forms", pages * 4, 8),
        ):
            at = -(-(at + size) // 4096) * 4096
            size = count * each
            parts[name] = data[32768 + at : 32768 + at + size]
            if name == "pages":
                self.assertEqual(drivefile.read(self.folder / "a").table_bytes, at)
        self.assertEqual(32768 + at + size, len(data), said)
        self.assertEqual(data[:16384], data[16384:32768])
        self.assertEqual(drivefile.read(self.folder / "a").form_bytes, size)
        used, now_ns, age_ns, erase_commands, cuts = struct.unpack("<5Q", parts["head"])
        self.assertEqual((used, age_ns, cuts), (1, 0, 0))
        self.assertGreater(now_ns, 0)
        pbs = [struct.unpack_from("<II", parts["pbs"], 16 * i) for i in range(blocks)]
        self.assertEqual(sum(erases for erases, _ in pbs), erase_commands)
        self.assertGreater(erase_commands, 64, "twice 40 MiB into 64 MiB")
        states = [parts["cells"][i // 4] >> i % 4 * 2 & 3 for i in range(pages)]
        self.assertEqual(
            [max((p + 1 for p in range(64) if states[64 * b + p]), default=0) for b in range(blocks)],
            [upper for _, upper in pbs],
        )
        lpns = set()
        for page, state in enumerate(states):
            self.assertIn(state, (0, 3), "all content is made by a formula")
            if state and page % 397 == 0:
                place = page * 0x9E3779B1 & 0xFFFFFFFF
                self.assertEqual(
                    struct.unpack_from("<II", parts["sums"], 8 * page),
                    (
                        crc32c(parts["oob"][43 * page : 43 * page + 43]) ^ place,
                        crc32c(parts["forms"][32 * page : 32 * page + 32]) ^ place,
                    ),
                )
            if state:
                oob = parts["oob"][43 * page : 43 * page + 43]
                lpns |= {struct.unpack_from("<I", oob, 7 + 9 * unit)[0] for unit in range(4)}
        self.assertFalse(any(parts["pages"]))
        self.assertFalse(any(parts["gap"]))
        self.assertEqual(set(range(40 << 8)) - lpns, set(), "each of the drive's units is in some page")

    def test_a_dry_run_checks_what_the_drive_would(self) -> None:
        self.age("--fill", "0", "-o", "a")
        made = (self.folder / "a").stat().st_mtime_ns
        for words, said in (
            (("--set", "ftl.gc_slice_pages=8"), ""),
            (("--ephemeral", "--set", "timing.read_ns=50000"), ""),
            (("--set", "ftl.x=1"), "no such key: ftl.x"),
            (("--set", "ftl.placement_handles=129"), "0 .. 128"),
            (("--set", "ftl.payload=no"), "was made with ftl.payload = 1, profile small says 0"),
            (("--set", "geometry.blocks_per_plane=17"), "was made with geometry.blocks_per_plane = 16"),
            (("--profile", "small"), "was made with geometry.blocks_per_plane = 16, profile small says 80"),
        ):
            out = self.slate("run", "--drive", "a", *words, "--dry-run", code=2 if said else 0)
            self.assertIn(said or f"drive-file={self.folder}/a", out)
        self.assertEqual((self.folder / "a").stat().st_mtime_ns, made)

    def test_sparse(self) -> None:
        for content, fill in (("zero", "100"), ("random", "0"), ("random", "25")):
            self.age("--content", content, "--fill", fill, "-o", f"{content}{fill}")
        sizes = {path.name: path.stat() for path in self.folder.iterdir()}
        self.assertEqual(len({status.st_size for status in sizes.values()}), 1)
        disk = {name: status.st_blocks * 512 for name, status in sizes.items()}
        kept = drivefile.read(self.folder / "random25")
        least = 32768 + kept.table_bytes + kept.form_bytes + 4096  # a block for the file system's own list of extents
        self.assertLessEqual(disk["zero100"], least)
        self.assertLessEqual(disk["random0"], least)
        self.assertLessEqual(disk["random25"], least)  # a formula made this content

    def test_overwrites_only_by_force(self) -> None:
        (self.folder / "a").write_text("precious", encoding="utf-8")
        err = self.age("-o", "a", code=2)
        self.assertIn("a: is there already", err)
        self.assertIn("--force", err)
        self.assertEqual((self.folder / "a").read_text(encoding="utf-8"), "precious")
        self.age("--force", "-o", "a")
        self.assertEqual(drivefile.read(self.folder / "a").value("drive.name"), "small")
        self.assertEqual(self.names(), ["a"])

    def test_bad_input(self) -> None:
        for words, said in (
            (["-o", "a", "--writes", "three"], "--writes three: not a number"),
            (["-o", "a", "--fill", "101"], "--fill 101: out of range"),
            (["-o", "a", "--seed", "-1"], "--seed -1: out of range"),
            (["-o", "a", "--fill", "0", "--writes", "1"], "--writes overwrites what --fill filled"),
            (["-o", "a", "--set", "nonsense"], "--set nonsense: not SECTION.KEY=VALUE"),
            (["-o", "a", "--set", "ftl.nonsense=1"], "no such key: ftl.nonsense"),
            (["-o", "a", "--content", "noise"], "noise"),
            (["-o", "."], "is not a plain file"),
            (["-o", "none/a"], "none: there is no such directory"),
            (["-o", "-a"], "argument"),
            ([], "-o"),
        ):
            err = self.age(*words, code=2)
            self.assertIn(said, err)
            self.assertTrue(err.startswith("slate: "), err)
            self.assertEqual(self.names(), [])
        self.assertIn("no such profile: none.ini", self.slate("age", "none.ini", "-o", "a", code=2))

    def test_signals_leave_nothing(self) -> None:
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)):
            process = subprocess.Popen(
                [SLATE, "age", SMALL, "--writes", "90x", "--content", "zero", "-o", "a"],
                cwd=self.folder,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(200):
                if self.names():
                    break
                time.sleep(0.02)
            time.sleep(0.2)
            self.assertEqual(self.names(), ["a.part"])
            process.send_signal(number)
            err = process.communicate(timeout=20)[1]
            self.assertEqual(process.returncode, code, err)
            if number == signal.SIGKILL:
                self.assertEqual(self.names(), ["a.part"])
                self.age("-o", "a")
                self.assertEqual(self.names(), ["a"])
            else:
                self.assertEqual(err, "slate: interrupted; nothing is left behind\n")
                self.assertEqual(self.names(), [])

    def test_two_at_once(self) -> None:
        first = subprocess.Popen(
            [SLATE, "age", SMALL, "--writes", "90x", "--content", "zero", "-o", "a"],
            cwd=self.folder,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(first.wait)
        self.addCleanup(first.kill)
        for _ in range(200):
            if self.names():
                break
            time.sleep(0.02)
        time.sleep(0.2)
        self.assertIn("another 'slate age' is making it", self.age("-o", "a", code=2))

    def disk(self, size: str) -> Path:
        disk = self.folder / "disk"
        disk.mkdir()
        if subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk], capture_output=True, check=False
        ).returncode:
            self.skipTest("can not mount here")
        self.addCleanup(lambda: subprocess.run(["umount", "-l", disk], check=False))
        return disk

    @unittest.skipUnless(os.geteuid() == 0, "mounts a small file system")
    def test_disk_too_small(self) -> None:
        disk = self.disk("4m")
        err = self.age("-o", disk / "a", code=1)
        self.assertRegex(err, r"disk/a\.part: may grow to \d+ KiB and the disk has room for \d+ KiB")
        self.assertEqual(list(disk.iterdir()), [])

    @unittest.skipUnless(os.geteuid() == 0, "mounts a small file system")
    def test_disk_fills_up(self) -> None:
        disk = self.disk("4m")
        err = self.age("--set", "memory.overcommit=yes", "-o", disk / "a", code=1)
        self.assertIn("disk/a.part: the disk is full: free some, or use another disk", err)
        self.assertEqual(list(disk.iterdir()), [])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test 'make suites': what it refuses, and how it reads the output of ./check."""

import argparse
import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests" / "suites" / "suites.py"
_SPEC = importlib.util.spec_from_file_location("suites", PROGRAM)
suites: Any = importlib.util.module_from_spec(_SPEC)
sys.modules["suites"] = suites  # dataclasses look there
_SPEC.loader.exec_module(suites)

BLKTESTS = """\
block/003 => nvme0n1 (run various discard sizes)             [passed]
    runtime    ...  2.513s
block/007 => nvme0n1 (test classic and hybrid IO polling)    [not run]
    /dev/nvme0n1 does not support polling
nvme/003 (tr=loop) (test if we're sending keep-alives)       [passed]
    runtime    ...  11.2s
nvme/005 (tr=loop bd=file) (reset local loopback target)     [failed]
    runtime    ...  1.9s
    --- tests/nvme/005.out	2025-05-09 00:00:00.000000000 +0000
    +++ /var/tmp/suite/results/nodev/nvme/005.out.bad
"""

XFSTESTS = """\
FSTYP         -- ext4
PLATFORM      -- Linux/x86_64 slate 6.1.0
generic/001        4s
generic/003       [not run] atime related mount options have no effect
generic/013 4s ...  6s
generic/075 [failed, exit status 1]- output mismatch (see /var/tmp/suite/results/generic/075.out.bad)
    --- tests/generic/075.out
generic/091 9s ...  7s
Ran: generic/001 generic/003 generic/013 generic/075 generic/091
Not run: generic/003
Failures: generic/075 generic/091
Failed 2 of 5 tests
"""

FIO = """\
First sequential zone starts at sector 0; zone size: 4 MB
Running test 01 ... PASS
Running test 04 ... FAIL
Running test 05 ... SKIP    /dev/nvme0n1 has no conventional zones
Device capabilities: {'pil': [0, 1], 'pitype': [1], 'elba': [1]}

lbaf: {'lbaf': 1, 'ds': 512, 'ms': 8, 'guard_pi_bits': 16, 'pi_bytes': 8}, pil: 0, pitype: 1, elba: 1
Test 101 PASSED (Write)
Test 102 FAILED: non-zero return code 1 (write)
1 test(s) passed, 1 failed, 0 skipped

lbaf: {'lbaf': 1, 'ds': 512, 'ms': 8, 'guard_pi_bits': 16, 'pi_bytes': 8}, pil: 1, pitype: 1, elba: 1
Test 101 SKIPPED (No extended LBA)
"""


class Refuses(unittest.TestCase):
    """An error has one sentence that names the thing, and status 2."""

    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory(prefix="slate-test-")
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def refused(self, *words: Any) -> str:
        done = subprocess.run(
            [sys.executable, str(PROGRAM), *map(str, words)], capture_output=True, text=True, timeout=60, check=False
        )
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1)
        return done.stderr

    def checkout(self, suite: suites.Suite) -> None:
        """Make the files of a fresh checkout of the suite."""
        for mark in suite.marks:
            path = self.folder / mark
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        (self.folder / suite.programs).mkdir(exist_ok=True)

    def test_no_folder(self) -> None:
        self.assertIn("DIR is missing: make suites DIR=FOLDER", self.refused(""))
        self.assertIn(f"DIR={self.folder}/none: there is no such folder", self.refused(self.folder / "none"))

    def test_another_folder(self) -> None:
        told = "is neither blktests nor xfstests nor fio; name the folder that has their 'check', or"
        self.assertIn(f"DIR={self.folder}: {told}", self.refused(self.folder))

    def test_not_built(self) -> None:
        self.checkout(suites.SUITES[0])
        (self.folder / "src" / "script").write_text("#!/bin/sh\n", encoding="utf-8")
        (self.folder / "src" / "script").chmod(0o755)
        self.assertIn("this blktests is not built: src/ has no program", self.refused(self.folder))

    def test_a_size_without_a_unit(self) -> None:
        self.built(suites.SUITES[0])
        self.assertIn("--raw-size 4: give a number and M or G", self.refused(self.folder, "--raw", "--raw-size", "4"))

    def test_zones_without_a_unit(self) -> None:
        self.built(suites.SUITES[0])
        self.assertIn("--raw-zones 4: give a number and M or G", self.refused(self.folder, "--raw", "--raw-zones", "4"))

    def test_a_limit_without_a_number(self) -> None:
        self.built(suites.SUITES[0])
        told = self.refused(self.folder, "--raw", "--raw-zones", "4M,x")
        self.assertIn("--raw-zones 4M,x: give a number and M or G, such as 4M, or a limit, too: 4M,14", told)

    def test_a_kernel_of_ones_own(self) -> None:
        self.built(suites.SUITES[0])
        for words in (["--kernel", "bzImage"], ["--modules", "mods"]):
            self.assertIn("--kernel FILE and --modules DIR belong together", self.refused(self.folder, *words))
        mine = argparse.Namespace(kernel="bzImage", modules=str(self.folder / "mods"))
        self.assertEqual(suites.kernel_words(mine), ["--kernel", "bzImage", "--modules", mine.modules])
        release = self.folder / "mods" / "lib" / "modules" / "6.13"
        release.mkdir(parents=True)
        (release / "x.ko").write_bytes(b"x")
        (release / "build").symlink_to("/none")
        share = self.folder / "share"
        share.mkdir()
        suites.stage_modules(share, mine)
        self.assertEqual([path.name for path in (share / "modules" / "6.13").iterdir()], ["x.ko"])

    def test_too_many_drives(self) -> None:
        for suite, most in zip(suites.SUITES, ("4 drives", "3 drives", "a drive")):
            with self.subTest(suite.name):
                self.built(suite)
                words = ["--profile", "small"] * (int(most[0]) + 1 if most[0] != "a" else 3)
                told = f"--profile {len(words) // 2} times: {suite.name} uses {most} at most"
                self.assertIn(told, self.refused(self.folder, *words))
                for mark in suite.marks:
                    (self.folder / mark).unlink()

    def test_no_such_program_of_fio(self) -> None:
        self.built(suites.SUITES[2])
        told = "--tests 'nvmept': of fio name zbd, pi or fdp first, then options of that program"
        self.assertIn(told, self.refused(self.folder, "--tests", "nvmept"))

    def test_a_file_system_without_zones(self) -> None:
        self.built(suites.SUITES[1])
        two = ["--profile", "zns-small"] * 2
        for words, told in (
            ([*two], "--profile zns-small zns-small: --fs ext4 has no zones in Linux 6.1; use --fs btrfs"),
            (["--fs", "xfs", *two], "--fs xfs has zones on the third drive alone; use --fs btrfs"),
            (["--fs", "f2fs", *two], "--fs f2fs needs an ordinary drive for its metadata beside a zoned one"),
            ([*two, *two[:2]], "--profile 3 times: the third is XFS's realtime device; use --fs xfs"),
            (["--fs", "xfs", *two, *two[:2]], "--profile zns-small zns-small: --fs xfs has zones on the third drive"),
            (["--raw", "--raw-zones", "16M"], "--raw-zones: --fs ext4 has no zones in Linux 6.1; use --fs btrfs"),
            (
                ["--profile", "small", "--profile", "zns-small"],
                "suites: --profile zns-small: --fs ext4 has no zones in Linux 6.1; use --fs btrfs",
            ),
        ):
            with self.subTest(words):
                self.assertIn(told, self.refused(self.folder, *words))

    def test_one_zoned_drive(self) -> None:
        self.built(suites.SUITES[1])
        told = "a zoned drive is not halved; give --profile twice, for TEST_DEV and for SCRATCH_DEV"
        for words in (
            ["--profile", "zns-small"],
            ["--profile", "small", "--set", "ftl.type=zns"],
            ["--raw", "--raw-zones", "16M"],
        ):
            with self.subTest(words):
                self.assertIn(told, self.refused(self.folder, "--fs", "btrfs", *words))

    def test_zones_of_one_drive(self) -> None:
        """A setting for nvme1 alone makes zones of that drive alone."""
        words = ["ftl.map_ns=100", "1:ftl.type=zns"]
        self.assertEqual([suites.is_zoned("small", words, number) for number in (0, 1)], [False, True])

    def built(self, suite: suites.Suite) -> None:
        """A checkout with a program."""
        self.checkout(suite)
        program = self.folder / suite.programs / "program"
        program.write_bytes(b"\x7fELF")
        program.chmod(0o755)

    def test_known_when_built(self) -> None:
        for suite in suites.SUITES:
            with self.subTest(suite.name):
                self.built(suite)
                self.assertEqual(suites.recognise(str(self.folder)).name, suite.name)
                for mark in suite.marks:
                    (self.folder / mark).unlink()

    def test_no_image_of_another_guest(self) -> None:
        told = "build/guest/nobody/image/debian.qcow2 is not there: run 'SLATE_GUEST=nobody make guest-image'"
        with self.assertRaisesRegex(suites.Refused, told):
            suites.check_image("nobody")

    def test_no_image(self) -> None:
        """The message names the image's place, and the target that makes it."""
        kept = suites.IMAGES
        suites.IMAGES = suites.ROOT / "no-image"
        try:
            with self.assertRaisesRegex(suites.Refused, "no-image/debian.qcow2 is not there: run 'make guest-image'"):
                suites.check_image(None)
        finally:
            suites.IMAGES = kept


class Command(unittest.TestCase):
    """Two drives, or two raw files."""

    def test_serial_numbers(self) -> None:
        """They are those that 'slate run' gives its drives, and those of the raw files."""
        two = argparse.Namespace(profile=["a", "b"])
        self.assertEqual(suites.serials("slate", two), ["slate", "slate1"])
        self.assertEqual(suites.serials("raw", two), ["raw", "raw1"])

    def test_raw_file_with_zones(self) -> None:
        with tempfile.TemporaryDirectory(prefix="slate-test-") as folder:
            raw = Path(folder) / "raw1.img"
            words = suites.qemu_words(raw, "64M", "16M,14")
            self.assertEqual(raw.stat().st_size, 64 << 20)
        self.assertEqual(
            words,
            [
                "--qemu-arg=-blockdev",
                f"--qemu-arg=driver=raw,node-name=raw1,discard=unmap,file.driver=file,file.filename={raw}",
                "--qemu-arg=-device",
                "--qemu-arg=nvme,serial=raw1,id=nvme-raw1",
                "--qemu-arg=-device",
                "--qemu-arg=nvme-ns,bus=nvme-raw1,drive=raw1,zoned=on,zoned.zone_size=16M,"
                "zoned.max_open=14,zoned.max_active=14",
            ],
        )


class Guest(unittest.TestCase):
    """Run what the guest runs, where its surroundings matter."""

    def test_sigpipe(self) -> None:
        """The suite's pipes end as in a shell, although systemd, as Python here, ignores SIGPIPE."""
        with tempfile.NamedTemporaryFile("w", suffix=".sh") as script:
            script.write("{ yes; echo $? >&2; } | head -n 1\n")
            script.flush()
            words = [*suites.RUN.split(), script.name]
            done = subprocess.run(words, restore_signals=False, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.stdout, done.stderr), ("y\n", "141\n"))


class Reads(unittest.TestCase):
    """Read the output of ./check."""

    def test_blktests(self) -> None:
        found = suites.read_blktests(BLKTESTS)
        self.assertEqual(
            [(one.name, one.status, one.reason) for one in found],
            [
                ("block/003", "pass", ""),
                ("block/007", "notrun", "/dev/nvme0n1 does not support polling"),
                ("nvme/003 tr=loop", "pass", ""),
                ("nvme/005 tr=loop bd=file", "fail", "--- tests/nvme/005.out\t2025-05-09 00:00:00.000000000 +0000"),
            ],
        )

    def test_xfstests(self) -> None:
        """A test that ran to its end may have failed nevertheless; the last lines of ./check report it."""
        found = suites.read_xfstests(XFSTESTS)
        self.assertEqual(
            [(one.name, one.status) for one in found],
            [
                ("generic/001", "pass"),
                ("generic/003", "notrun"),
                ("generic/013", "pass"),
                ("generic/075", "fail"),
                ("generic/091", "fail"),
            ],
        )
        self.assertEqual(found[1].reason, "atime related mount options have no effect")
        self.assertEqual(suites.summary(found), "2 passed, 2 failed, 1 not run")

    def test_xfstests_cut_short(self) -> None:
        """The test in which the run ended has no result, unless ./check printed its last lines."""
        begun = "generic/001        6s\ngeneric/013       "
        self.assertEqual([one.name for one in suites.read_xfstests(begun)], ["generic/001"])
        found = suites.read_xfstests(begun + "\nRan: generic/001 generic/013\nFailures: generic/013\n")
        self.assertEqual([(one.name, one.status) for one in found], [("generic/001", "pass"), ("generic/013", "fail")])

    def test_fio(self) -> None:
        found = suites.read_fio(FIO)
        self.assertEqual(
            [(one.name, one.status, one.reason) for one in found],
            [
                ("01", "pass", ""),
                ("04", "fail", ""),
                ("05", "notrun", "/dev/nvme0n1 has no conventional zones"),
                ("lbaf1/pil0/type1/elba1 101", "pass", ""),
                ("lbaf1/pil0/type1/elba1 102", "fail", "non-zero return code 1 (write)"),
                ("lbaf1/pil1/type1/elba1 101", "notrun", "(No extended LBA)"),
            ],
        )

    def test_table(self) -> None:
        drive = [suites.Outcome("block/003", "pass"), suites.Outcome("block/007", "notrun", "no polling")]
        raw = [suites.Outcome("block/003", "fail", "a|b")]
        self.assertEqual(
            suites.table({"slate": drive, "raw": raw}).splitlines(),
            [
                "| test | slate | raw | why |",
                "|---|---|---|---|",
                "| block/003 | pass | fail | a/b |",
                "| block/007 | notrun | - | no polling |",
            ],
        )


if __name__ == "__main__":
    unittest.main()

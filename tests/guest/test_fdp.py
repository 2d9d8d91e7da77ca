# SPDX-License-Identifier: GPL-2.0-or-later
"""Test a drive with placement handles under Linux: nvme-cli's commands, fio with fdp=1, and what the statistics say."""

import struct
import subprocess
import unittest
from typing import Any

from support import HERE, GuestTest, Result

from slate_lib import jobfile

PAGE, UNIT, LBA, MIB = 16384, 4096, 512, 1 << 20
RECLAIM_UNIT = 4 * 64 * PAGE  # of small.ini
NOT_FULLY_WRITTEN, INVALID_PID = 0, 3
TWO = ("--set", "ftl.placement_handles=2")
APART = (*TWO, "--set", "ftl.placement_isolation=persistently")


def has_fdp() -> bool:
    """Does the guest's fio know fdp=1?"""
    fio = jobfile.guest_fio()
    if not fio:
        return False
    done = subprocess.run([fio, "--cmdhelp=fdp"], capture_output=True, text=True, timeout=20, check=False)
    return "directive (FDP)" in done.stdout


def numbers(data: bytes) -> tuple[int, int, int]:
    """Return from a statistics log the bytes that the host wrote, that were programmed, and that were erased."""
    host, _, media, _, erased, _ = struct.unpack_from("<6Q", data)
    return host, media, erased


class Fdp(GuestTest):
    """The statistics are those of the whole run, because the drive is new."""

    def run_work(self, work: Any, *args: Any) -> tuple[Result, Any]:
        """Run fdp.sh; return the run, and the numbers of its statistics."""
        result = self.slate("--fill", "0", "--cmd", HERE / "fdp.sh", "--cmd-arg", work, *args, seconds=900)
        return result, numbers((result.folder / "stats.bin").read_bytes())

    def assert_true(self, result: Result, found: Any) -> None:
        """The log is what the array did: every page that was programmed is there, or was erased in a full block."""
        host, media, erased = found
        nand, write = result.device.total.nand, result.device.total.op["write"]
        self.assertEqual(host, write.bytes)
        self.assertEqual(media - erased, nand["programmed-pages"] * PAGE)
        self.assertEqual(erased % (64 * PAGE), 0)
        self.assert_clean(result.device)

    def test_tools(self) -> None:
        result, found = self.run_work("tools", *TWO)
        steps = dict(line.split() for line in result.text("tools.txt").splitlines())
        wrong = {"update-7", "wrong-group"}
        self.assertEqual({name for name, status in steps.items() if status != "0"}, wrong)
        self.assertEqual(len(steps), 14)
        self.assertEqual(found, (5 * UNIT, 2 * PAGE, 0))
        self.assert_true(result, found)
        for written in (UNIT, PAGE):  # to handle 0, and to handle 1
            self.assertEqual(result.text("status.txt").count(f"{(RECLAIM_UNIT - written) // LBA}"), 1)
        self.assertEqual(result.text("status-again.txt").count(f"{RECLAIM_UNIT // LBA}"), 2)
        events = (result.folder / "events.bin").read_bytes()
        rows = [struct.unpack_from("<BxH", events, 64 + 64 * i) for i in range(struct.unpack_from("<I", events)[0])]
        self.assertEqual(rows, [(INVALID_PID, 7), (NOT_FULLY_WRITTEN, 1), (NOT_FULLY_WRITTEN, 0)])

    def test_groups(self) -> None:
        """With two reclaim groups a unit has half the size. Identifiers 0 and 1 are of group 0, and 7 is wrong."""
        result, found = self.run_work("tools", *TWO, "--set", "ftl.placement_groups=2")
        steps = dict(line.split() for line in result.text("tools.txt").splitlines())
        self.assertEqual({name for name, status in steps.items() if status != "0"}, {"update-7", "wrong-group"})
        self.assertEqual(found, (5 * UNIT, 2 * PAGE, 0))
        self.assert_true(result, found)
        unit = RECLAIM_UNIT // 2
        left = [f": {(unit - written) // LBA}\n" for written in (UNIT, PAGE, 0)]
        self.assertEqual([result.text("status.txt").count(words) for words in left], [1, 1, 2])
        self.assertEqual([result.text("status-again.txt").count(words) for words in left], [0, 0, 4])

    @unittest.skipUnless(has_fdp(), "the guest's fio has no fdp=1")
    def test_rings_are_never_copied(self) -> None:
        """Each ring is overwritten in the order in which it was written: no unit of its oldest block is valid."""
        written = (192 + 4 * (64 + 16)) * MIB
        for how in (TWO, APART):
            result, found = self.run_work("rings", *how, "--env", "ROUNDS=4")
            self.assertEqual(found[:2], (written, written))
            self.assertEqual(result.text("waf.txt"), "WAF 1.0000\n")
            self.assert_true(result, found)

    def test_refused(self) -> None:
        self.refused("--file", "none", "--cmd", HERE / "fdp.sh", words=("--file none", "name a file that can be read"))
        (self.folder / "env").touch()
        self.refused("--file", "env", "--cmd", HERE / "fdp.sh", words=("called env", "another name"))


if __name__ == "__main__":
    unittest.main()

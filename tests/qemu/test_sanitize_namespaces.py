# SPDX-License-Identifier: GPL-2.0-or-later
"""Sanitize a drive that has a table of namespaces, in its last mapping unit: the drive keeps the table.

The times of a row of blocks are those of test_sanitize.py.
"""

from __future__ import annotations

import struct
import tempfile
import unittest
from pathlib import Path

from support import Json, drive

from nvme import READ, WRITE, power_cycle, power_on
from test_namespaces import CREATE, MANAGEMENT, MIB, ROWS, SCRATCH, SEQUENCE_ERROR, UNIT, NamespaceTest
from test_sanitize import (
    BLANK,
    BLOCK_ERASE,
    DONE,
    EXIT,
    FAILED,
    IN_PROGRESS,
    LOG,
    ROW_NS,
    RUNNING,
    SANITIZE,
    STATE_FAILED,
    UNRESTRICTED,
)

ALL = 0xFFFFFFFF
BLOCK_ROWS = 80
FIRST = f"{64 * MIB}:512;{32 * MIB}:4096"


class SanitizeNamespaces(NamespaceTest):
    """Sanitize the drive, with two namespaces of different formats."""

    def two(self, options: Json | None = None) -> list[bytes]:
        """Start with two namespaces, and write to both; return their data structures."""
        self.begin(FIRST, options)
        self.write(1, 0, b"first of one....")
        self.write(2, 32 * MIB // UNIT - 1, b"last of two.....", UNIT)
        return [self.identify(0, nsid) for nsid in (1, 2)]

    def sanitize(self) -> None:
        """Begin the operation."""
        self.nvme.do_admin(SANITIZE, dwords={10: BLOCK_ERASE})

    def state(self) -> tuple[int, int]:
        """Return the operation's progress and state."""
        progress, state = struct.unpack_from("<HH", self.nvme.get_log(LOG, 4, nsid=ALL))
        return progress, state

    def expect_two(self, before: list[bytes]) -> None:
        """The namespaces are as before, and empty."""
        self.assertEqual(self.listed(2), [1, 2])
        self.assertEqual([self.identify(0, nsid) for nsid in (1, 2)], before)
        self.assert_holds(1, 0, b"\0")
        self.assert_holds(2, 32 * MIB // UNIT - 1, b"\0", UNIT)

    def cycle(self) -> None:
        """Cut the power, and start the controller when it has read the table."""
        self.vm.qmp("x-nand-ssd-power-cut", node_name="ssd0")
        self.vm.step(1_000_000)
        self.nvme = power_on(self.vm, 1_000_000)

    def test_namespaces_stay(self) -> None:
        before = self.two()
        self.sanitize()
        for nsid in (1, 2):
            self.assertEqual(self.io(READ, nsid), IN_PROGRESS)
            self.assertEqual(self.io(WRITE, nsid), IN_PROGRESS)
        self.assertEqual(self.create(8).code, IN_PROGRESS)
        self.vm.step(BLOCK_ROWS * ROW_NS - 1)
        self.assertEqual(self.state()[1], RUNNING)
        self.vm.step(1)
        self.assertEqual(self.state(), (0xFFFF, DONE | BLANK), "the table is no user data")
        self.expect_two(before)
        self.cycle()
        self.expect_two(before)
        self.write(2, 0, b"first of two....", UNIT)
        self.assertEqual(self.state()[1], DONE)

    def test_cuts(self) -> None:
        """After each cut the controller reads the table, which the drive has outside the array."""
        before = self.two()
        self.sanitize()
        self.vm.step(10 * ROW_NS + ROW_NS // 2)
        for row in (10, 20):
            self.nvme = power_cycle(self.vm, 1_000_000)
            self.assertEqual(self.state(), (row * 65536 // BLOCK_ROWS, RUNNING))
            self.assertEqual([self.identify(0, nsid) for nsid in (1, 2)], before)
            self.assertEqual(self.io(READ, 2), IN_PROGRESS)
            self.vm.step(10 * ROW_NS)
        self.vm.step(60 * ROW_NS)
        self.assertEqual(self.state(), (0xFFFF, DONE | BLANK))
        self.expect_two(before)

    def test_without_a_record(self) -> None:
        """One namespace that no record describes is there afterwards, too."""
        self.begin()
        self.write(1, 0, b"first of one....")
        self.sanitize()
        self.vm.step(BLOCK_ROWS * ROW_NS)
        self.assertEqual(self.state(), (0xFFFF, DONE | BLANK))
        self.assert_holds(1, 0, b"\0")
        self.cycle()
        self.assertEqual(self.listed(2), [1])

    def test_while_a_table_is_written(self) -> None:
        self.begin(FIRST)
        self.vm.write(SCRATCH, struct.pack("<QQ", 8, 8).ljust(4096, b"\0"))
        self.nvme.admin.put(MANAGEMENT, 0, SCRATCH, dwords={10: CREATE})
        self.nvme.admin.put(SANITIZE, dwords={10: BLOCK_ERASE})
        self.nvme.admin.ring()
        found = {done.cid & 0xFF: done.code for done in (self.nvme.wait(self.nvme.admin) for _ in range(2))}
        tail = self.nvme.admin.tail
        self.assertEqual((found[tail - 2], found[tail - 1]), (0, SEQUENCE_ERROR))
        self.sanitize()
        self.vm.step(BLOCK_ROWS * ROW_NS)
        self.assertEqual((self.state()[1], self.listed(0x10)), (DONE | BLANK, [1, 2, 3]))

    def test_a_failure(self) -> None:
        """A failed operation keeps the namespaces, and the next one ends the failure mode."""
        before = self.two()
        self.nvme.control(3, 2, 1)
        self.sanitize()
        self.vm.step((BLOCK_ROWS + 1) * ROW_NS)
        self.assertEqual(self.state()[1], STATE_FAILED)
        self.assertEqual(self.io(READ, 2), FAILED)
        self.vm.step(100_000_000)  # the mount
        self.sanitize()
        self.vm.step((BLOCK_ROWS + 1) * ROW_NS)
        self.expect_two(before)

    def test_an_unwritten_table(self) -> None:
        """Erases of a third of the blocks fail, so the drive cannot write the table: it keeps the old one."""
        sizes = f"{32 * MIB}:512;{16 * MIB}:4096"
        self.begin(sizes, drive(drive__namespaces=ROWS, geometry__blocks_per_plane=24, ftl__capacity_mib=64))
        before = [self.identify(0, nsid) for nsid in (1, 2)]
        for erase in range(1, 33):
            self.nvme.control(3, 2, erase)
        self.nvme.do_admin(SANITIZE, dwords={10: BLOCK_ERASE | UNRESTRICTED})
        self.vm.step(25 * ROW_NS + 100_000_000)
        self.assertEqual(self.state()[1], STATE_FAILED)
        for _ in range(2):
            self.cycle()
            self.assertEqual(self.listed(2), [1, 2])
            self.assertEqual([self.identify(0, nsid) for nsid in (1, 2)], before)
            self.assertEqual(self.io(READ, 2), FAILED)
        self.nvme.do_admin(SANITIZE, dwords={10: EXIT})
        self.assert_holds(2, 0, b"\0", UNIT)
        self.assertNotEqual(self.create(8).code, 0)
        self.cycle()
        self.assertEqual(self.listed(2), [1, 2])

    def test_a_drive_file(self) -> None:
        """QEMU ends in the middle; the next one ends the operation, and finds the table."""
        with tempfile.TemporaryDirectory() as folder:
            options = {**drive(drive__namespaces=ROWS), "drive-file": str(Path(folder, "drive.slate"))}
            before = self.two(options)
            self.sanitize()
            self.vm.step(10 * ROW_NS)
            self.vm.close()
            self.begin(options={key: options[key] for key in ("driver", "node-name", "drive-file")})
            self.assertEqual(self.state(), (0xFFFF, DONE | BLANK))
            self.expect_two(before)


if __name__ == "__main__":
    unittest.main()

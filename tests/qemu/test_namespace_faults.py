# SPDX-License-Identifier: GPL-2.0-or-later
"""Test namespaces: formats, resets and copies that meet; tables and options that other programs made."""

from __future__ import annotations

import struct
import unittest
from typing import Any

from support import QmpError, drive

import test_namespaces as base
import test_nvme
from nvme import DELETE_SQ, FLUSH, IDENTIFY, READ
from test_namespaces import (
    ALL,
    ATTACHMENT,
    BY_4K,
    COPY,
    DETACH,
    FORMAT,
    MANAGEMENT,
    MIB,
    ROWS,
    SCRATCH,
    SEQUENCE_ERROR,
    SPACE,
    UNIT,
    record,
)

ABORT, GET_FEATURE, SET_FEATURE = 0x08, 0x0A, 0x09
ARBITRATION, WRITE_CACHE, HOST_BEHAVIOUR = 0x01, 0x06, 0x16
RANGES = 0x190000
MOST_ROWS = 16  # of a table (NVME_TABLE_MAX)
INTERNAL, FORMATTING, OVERLAP = 0x06, 0x84, 0x187


class Copies(base.NamespaceTest):
    """Test copies whose ranges name other namespaces (formats 2 and 3)."""

    def two_formats(self, first: str) -> None:
        """Start a controller that takes Copy descriptors of format 2."""
        self.begin(first)
        self.assertEqual(self.admin(SET_FEATURE, 0, bytes((0, 0, 0, 0, 0x0C)), dw10=HOST_BEHAVIOUR).code, 0)

    def copy(self, to: int, at: int, *ranges: tuple[int, int, int], slot: int = 0) -> None:
        """Submit a Copy to a namespace; ranges: NSID, first block, blocks. slot: where they are in memory."""
        rows = (struct.pack("<IIQH14x", nsid, 0, first, count - 1) for nsid, first, count in ranges)
        self.vm.write(RANGES + 0x1000 * slot, b"".join(rows))
        self.nvme.io.put(COPY, to, RANGES + 0x1000 * slot, 0, {10: at, 11: 0, 12: 2 << 8 | len(ranges) - 1})

    def test_a_range_of_its_own_after_a_foreign_one(self) -> None:
        """Each range reads the namespace that it names."""
        self.two_formats(f"{MIB}:512;{MIB}:512")
        for nsid, lba, text in ((1, 0, b"one-zero"), (2, 9, b"two-nine"), (1, 9, b"one-nine")):
            self.write(nsid, lba, text)
        self.copy(2, 100, (1, 0, 1), (2, 9, 1))
        self.assertEqual(self.nvme.finish().code, 0)
        found = []
        for lba in (100, 101):
            self.assertEqual(self.io(READ, 2, lba), 0)
            found.append(self.vm.read(SCRATCH, 8))
        self.assertEqual(found, [b"one-zero", b"two-nine"])

    def test_an_overlap(self) -> None:
        """A Copy of format 2 with a range that overlaps the destination copies nothing; ranges beside it are copied."""
        self.two_formats(f"{MIB}:512;{MIB}:512")
        self.write(1, 0, b"the first")
        for other in ((1, 33, 8), (1, 40, 1), (1, 47, 3), (1, 30, 60)):
            self.copy(1, 40, (1, 0, 8), other)
            self.assertEqual(self.nvme.finish().code, OVERLAP)
        self.assertEqual(self.io(READ, 1, 40), 0)
        self.assertEqual(self.vm.read(SCRATCH, 8), bytes(8))
        self.copy(1, 40, (1, 0, 8), (1, 32, 8), (2, 40, 8))
        self.assertEqual(self.nvme.finish().code, 0)

    def test_waiting_copies_whose_source_is_detached(self) -> None:
        """The end of a queue cancels the Copy that has the memory, and refuses the waiting ones at once."""
        for how in ("delete", "reset"):
            with self.subTest(how=how):
                self.two_formats(f"{MIB}:512;{MIB}:512")
                for lba in range(0, 800, 8):
                    self.write(1, lba, b"from flash")
                self.assertEqual(self.io(FLUSH, 1), 0)
                self.put(ATTACHMENT, 2, struct.pack("<HH", 1, 0), dw10=DETACH)
                self.nvme.admin.ring()
                self.vm.step(1000)
                for slot, source in enumerate(((1, 0, 800), (1, 0, 800), (2, 0, 64))):
                    self.copy(1, 1024, source, slot=slot)
                self.nvme.io.ring()
                self.assertEqual(self.nvme.wait(self.nvme.admin).code, 0)
                self.assertIsNone(self.nvme.io.poll())
                if how == "delete":
                    self.nvme.admin.put(DELETE_SQ, dwords={10: 1})
                    self.nvme.admin.ring()
                    self.assertEqual(self.nvme.wait(self.nvme.admin).code, 0)
                else:
                    self.nvme.disable()
                    self.nvme.enable()
                self.assertEqual(self.listed(2), [1])
                self.vm.close()

    def format_ns(self) -> int:
        """Return how long the format of namespace 1 takes, in steps of 1 us."""
        self.put(FORMAT, 1, dw10=BY_4K)
        self.nvme.admin.ring()
        took = 0
        while not self.nvme.admin.poll():
            took += self.vm.step(1000) and 1000
        return took

    def test_from_a_namespace_that_is_formatted(self) -> None:
        """Neither the format nor the copy touches another namespace, whichever comes first."""
        first = f"{MIB}:512;{UNIT * 32}:512;{MIB}:512"
        self.two_formats(first)
        took = self.format_ns()
        self.vm.close()
        for early in (500, 1000, took - 1000):
            with self.subTest(early=early):
                self.two_formats(first)
                self.write(3, 0, b"flushed!")
                self.assertEqual(self.io(FLUSH, 3), 0)
                self.put(FORMAT, 1, dw10=BY_4K)
                self.nvme.admin.ring()
                self.vm.step(took - early)
                self.copy(2, 0, (1, 0, 128))
                self.nvme.io.ring()
                self.vm.step(10_000_000)
                done, copied = self.nvme.admin.poll(), self.nvme.io.poll()
                assert done and copied
                self.assertIn((done.code, copied.code), ((0, FORMATTING), (SEQUENCE_ERROR, 0), (0, 0)))
                for lba, text in ((0, b"flushed!"), (200, bytes(8))):
                    self.assertEqual(self.io(READ, 3, lba), 0)
                    self.assertEqual(self.vm.read(SCRATCH, 8), text)
                self.vm.close()


class Formats(base.InFile):
    """Cancel formats, and test what Identify says afterwards."""

    def record_is_written(self) -> None:
        """Let time pass until the drive has the request that writes the table."""
        for _ in range(2000):
            new = self.vm.trace("submit")[self.seen :]
            if any(line["op"] == "write" and int(line["offset"]) == SPACE for line in new):
                return
            self.vm.step(1000)
        self.fail("no record is written")

    def test_cancelled_while_the_record_is_written(self) -> None:
        """A cancelled format leaves memory and flash with the same format."""
        for how in ("reset", "abort"):
            with self.subTest(how=how):
                self.file.unlink(missing_ok=True)
                self.begin(f"{MIB}:512;{MIB}:512", self.options())
                self.seen = len(self.vm.trace("submit"))
                self.put(FORMAT, 1, dw10=6 | 1 << 4)
                cid = (self.nvme.admin.tail - 1) % 32
                self.nvme.admin.ring()
                self.record_is_written()
                if how == "reset":
                    self.nvme.disable()
                    self.nvme.enable()
                else:
                    self.nvme.admin.put(ABORT, 0, 0, 0, {10: cid << 16})
                    self.nvme.admin.ring()
                    for _ in range(2):
                        self.nvme.wait(self.nvme.admin)
                blocks = self.blocks(1)
                self.assertEqual(blocks, MIB // (4096 + 16))
                self.vm.kill()
                self.vm.close()
                self.begin("", self.options())
                self.assertEqual(self.blocks(1), blocks)
                self.vm.kill()
                self.vm.close()

    def test_an_event_during_a_reset(self) -> None:
        """A reset ends the Asynchronous Event Request, and waits for the detachment that would report to it."""
        self.begin(f"{MIB}:512", self.options())
        self.nvme.admin.put(base.EVENT)
        self.put(ATTACHMENT, 1, struct.pack("<HH", 1, 0), dw10=DETACH)
        self.seen = len(self.vm.trace("submit"))
        self.nvme.admin.ring()
        self.record_is_written()
        self.nvme.disable()
        self.nvme.enable()
        self.assertEqual((self.listed(0x10), self.listed(2)), ([1], []))

    def test_aborted_in_vain(self) -> None:
        """A command that ends before its Abort arrives succeeds, and was executed."""
        new, zero = struct.pack("<QQ", 8, 8), struct.pack("<HH", 1, 0)
        self.begin(f"{MIB}:512;{MIB}:512", self.options())
        for name, command, after in (
            ("create", (MANAGEMENT, 0, new), ([1, 2, 3], [1, 2])),
            ("attach", (ATTACHMENT, 3, zero), ([1, 2, 3], [1, 2, 3])),
            ("format", (FORMAT, 3), ([1, 2, 3], [1, 2, 3])),
            ("delete", (MANAGEMENT, 2, b"", 1), ([1, 3], [1, 3])),
        ):
            with self.subTest(command=name):
                self.seen = len(self.vm.trace("submit"))
                self.put(*command[:3], dw10=command[3] if len(command) > 3 else 0)
                cid = (self.nvme.admin.tail - 1) % 32
                self.nvme.admin.ring()
                self.record_is_written()
                self.nvme.admin.put(ABORT, 0, 0, 0, {10: cid << 16})
                self.nvme.admin.ring()
                done = [self.nvme.wait(self.nvme.admin) for _ in range(2)]
                found = {one.cid == cid: (one.code, one.result) for one in done}
                self.assertEqual(found, {True: (0, 3 if name == "create" else 0), False: (0, 1)})
                self.assertEqual((self.listed(0x10), self.listed(2)), after)

    def most_deallocated(self) -> int:
        """Return DMRSL, the most blocks of a range of Dataset Management."""
        self.nvme.do_admin(IDENTIFY, prp1=SCRATCH, dwords={10: 6})
        found: int = struct.unpack_from("<I", self.vm.read(SCRATCH, 16), 4)[0]
        return found

    def test_deallocation_follows_the_formats(self) -> None:
        """A range has less than 2 GiB in blocks of each namespace that is attached."""
        self.begin(f"{MIB}:512;{MIB}:512")
        below = (1 << 31) - 512
        self.assertEqual(self.most_deallocated(), below // 512)
        self.assertEqual(self.admin(FORMAT, 2, dw10=BY_4K).code, 0)
        self.assertEqual(self.most_deallocated(), below // 4096)
        self.assertEqual(self.attach(2, DETACH), 0)
        self.assertEqual(self.most_deallocated(), below // 512)
        self.assertEqual(self.attach(2), 0)
        self.assertEqual(self.most_deallocated(), below // 4096)
        self.assertEqual(self.delete(2), 0)
        self.assertEqual(self.most_deallocated(), below // 512)

    def test_the_last_record(self) -> None:
        """The number of records does not begin again, since identifiers are made from it."""
        at = (0, 2, 16, 1, 0, 0, 1), (2, 2, 16, 1, 0, 0, 1)
        last = ALL - MOST_ROWS  # the last number from which a format of every namespace can go on
        self.put_table(record(*at, number=last))
        self.begin("", self.options())
        self.assertEqual(self.admin(FORMAT, ALL).code, 0)
        self.assertEqual(self.admin(FORMAT, ALL).code, INTERNAL)
        self.vm.kill()
        self.vm.close()
        self.begin("", self.options())
        self.assertEqual(self.listed(2), [1, 2])
        self.vm.close()
        self.put_table(record((0, 2, 16, 1, 0, 0, 1), number=last))
        self.begin("", self.options())
        self.assertEqual(self.attach(1, DETACH), 0)
        for done in (self.create(8).code, self.attach(1), self.delete(1)):
            self.assertEqual(done, INTERNAL)
        self.assertEqual((self.listed(0x10), self.listed(2)), ([1], []))
        self.vm.kill()
        self.vm.close()
        self.begin("", self.options())
        self.assertEqual((self.listed(0x10), self.listed(2)), ([1], []))

    def test_a_controller_that_is_refused(self) -> None:
        """A refused controller leaves the drive."""
        self.put_table(record((0, 2, 16, 1, 0, 0, 3)))
        port = ("-device", "pcie-root-port,id=rp,slot=1,chassis=1,addr=5")
        vm = self.machine([self.options()], *port)
        with self.assertRaisesRegex(QmpError, "has unknown flags"):
            vm.qmp("device_add", driver="nvme", id="nvme0", serial="slate", drive="ssd0", bus="rp")
        vm.settle()
        vm.qmp("blockdev-del", node_name="ssd0")
        vm.qmp("blockdev-add", **{**self.options(), "set": ["drive.namespaces=0"]})
        vm.qmp("device_add", driver="nvme", id="nvme0", serial="slate", drive="ssd0", bus="rp")

    def promise(self) -> tuple[int, ...]:
        """Return NSABPNS, NAWUN, NAWUPF and NPWG."""
        data = self.identify(0, 1)
        return (data[24] >> 1 & 1, *struct.unpack_from("<HH", data, 34), *struct.unpack_from("<H", data, 64))

    def test_atomic_writes_follow_the_format(self) -> None:
        """A mapping unit of 4 KiB is never torn: 8 blocks of 512, 1 of 4096; with metadata nothing is promised."""
        self.begin(f"{MIB}:512")
        self.assertEqual(self.promise(), (1, 7, 7, 7))
        self.assertEqual(self.admin(FORMAT, 1, dw10=BY_4K).code, 0)
        self.assertEqual(self.promise(), (1, 0, 0, 0))
        self.assertEqual(self.admin(FORMAT, 1, dw10=6 | 1 << 4).code, 0)
        self.assertEqual(self.promise(), (0, 0, 0, 0))

    def test_a_row_without_units(self) -> None:
        """A row without units is no namespace, whatever its beginning."""
        whole = SPACE // UNIT
        self.put_table(record((0, whole, 8, 1, 0, 0, 1), (whole + 1, 0, 0, 0, 0, 0, 0)))
        self.begin("", self.options())
        self.assertEqual(self.create(16).code, base.NO_CAPACITY)
        self.assertEqual(struct.unpack_from("<Q", self.identify(1), 296)[0], 0)


class Features(base.NamespaceTest):
    """Test features of the drive, whichever namespaces are attached."""

    def feature(self, number: int) -> int:
        """Return a feature's value."""
        return self.nvme.do_admin(GET_FEATURE, dwords={10: number}).result

    def test_the_write_cache_with_nothing_attached(self) -> None:
        self.begin(f"{MIB}:512")
        self.assertEqual((self.feature(WRITE_CACHE), self.attach(1, DETACH), self.feature(WRITE_CACHE)), (1, 0, 1))
        self.assertEqual(self.admin(SET_FEATURE, 0, dw10=WRITE_CACHE, dw11=0).code, 0)
        self.assertEqual((self.attach(1), self.feature(WRITE_CACHE)), (0, 0))

    def test_arbitration_without_namespaces(self) -> None:
        self.begin("", controller__cores=1, controller__arbitration="weighted")
        default = self.feature(ARBITRATION)
        self.assertEqual(self.delete(ALL), 0)
        self.assertEqual(self.admin(SET_FEATURE, 0, dw10=ARBITRATION, dw11=0x03020102).code, 0)
        self.assertEqual(self.feature(ARBITRATION), 0x03020102)
        self.nvme.disable()
        self.nvme.enable()
        self.assertEqual(self.feature(ARBITRATION), default)

    def test_an_attachment_to_two_controllers(self) -> None:
        self.begin(f"{MIB}:512")
        self.assertEqual(self.attach(1, DETACH, (0, 7)), base.BAD_LIST)
        self.assertEqual(self.attach(1, DETACH), 0)

    def test_another_namespace_device(self) -> None:
        """The controller of a drive with a table takes no nvme-ns."""
        other: dict[str, Any] = {"driver": "null-co", "node-name": "other", "size": 8 * MIB, "read-zeroes": True}
        with self.assertRaisesRegex(AssertionError, "nvme-ns: the drive of this controller has a table of namespaces"):
            self.machine(
                [drive(drive__namespaces=ROWS), other],
                *("-device", test_nvme.CONTROLLER, "-device", "nvme-ns,bus=nvme0,drive=other,nsid=2"),
            )


if __name__ == "__main__":
    unittest.main()

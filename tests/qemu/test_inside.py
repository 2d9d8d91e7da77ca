# SPDX-License-Identifier: GPL-2.0-or-later
"""Test Verify, Copy and Write Uncorrectable, which the drive executes without its host link: data, statuses, times.
small.ini has pages of 16 KiB and a buffer of 128 units of 4 KiB.
"""

from __future__ import annotations

import struct
from typing import Any

from support import ROOT, Json, drive

import test_nvme
from nvme import DELETE_CQ, DELETE_SQ, FLUSH, IDENTIFY, READ, WRITE, Nvme, power_cycle

ABORT, ABORTED = 0x08, 0x07
WRITE_UNCORRECTABLE, COMPARE, VERIFY, COPY = 0x04, 0x05, 0x0C, 0x19
INVALID_OPCODE, INVALID_FIELD, LBA_RANGE, SIZE_LIMIT, UNREADABLE = 0x01, 0x02, 0x80, 0x183, 0x281
LBA, UNIT, BLOCKS = 512, 4096, 8
# two lanes of PCIe 2: a ns for each byte
LINK: dict[str, Any] = {"link__generation": 2, "link__lanes": 2, "link__data_permille": 1000, "link__latency_ns": 500}
LATENCY = 500
FLASH, FRONT, BUFFER = 300 + 99_000 + (16384 + 1280) * 1250 // 1000, 200 + 1000, 2000


def pattern(unit: int) -> bytes:
    """Return the data of a mapping unit."""
    return unit.to_bytes(8, "little") * (UNIT // 8)


class Inside(test_nvme.NvmeTest):
    """Test a drive with a link that takes time."""

    def begin(self, blockdevs: list[Json] | None = None, *args: str, node: str = "ssd0") -> Nvme:
        """Return the running controller."""
        device = test_nvme.CONTROLLER.replace("ssd0", node)
        self.vm = self.machine(blockdevs or [drive(**LINK)], "-device", device, *args)
        self.nvme = Nvme(self.vm)
        self.nvme.enable(css=6)
        return self.nvme

    def io(self, opcode: int, unit: int = 0, units: int = 1, **dwords: Any) -> int:
        """Run a command on whole units; return its status."""
        words = {10: unit * BLOCKS, 12: units * BLOCKS - 1}
        self.nvme.io.put(opcode, 1, self.nvme.buffer(), 0, {**words, **dwords.pop("words", {})})
        return self.nvme.finish().code

    def write(self, *units: int) -> None:
        """Write units one by one, then flush."""
        for unit in units:
            self.assertEqual(self.nvme.do_write(unit * UNIT, pattern(unit)).code, 0)
        self.assertEqual(self.io(FLUSH), 0)

    def read(self, unit: int) -> bytes:
        """Read a unit."""
        return self.nvme.do_read(unit * UNIT, UNIT)

    def copy(self, to: int, *ranges: tuple[int, int]) -> tuple[int, int]:
        """Copy ranges (first unit, units); return the status and the number of the range that failed."""
        at = self.nvme.buffer()
        rows = (struct.pack("<QQH14x", 0, first * BLOCKS, count * BLOCKS - 1) for first, count in ranges)
        self.vm.write(at, b"".join(rows))
        self.nvme.io.put(COPY, 1, at, 0, {10: to * BLOCKS, 12: len(ranges) - 1})
        completion = self.nvme.finish()
        return completion.code, completion.result

    def identify(self, kind: int) -> bytes:
        """Identify the namespace (0) or the controller (1)."""
        self.nvme.do_admin(IDENTIFY, nsid=1 - kind, prp1=test_nvme.SCRATCH, dwords={10: kind})
        return self.vm.read(test_nvme.SCRATCH, 4096)

    def requests(self, since: int) -> list[tuple[str, int, int, int]]:
        """Return operation, first unit, units and latency of each request of the drive since `since`."""
        done = {row["id"]: int(row["latency"]) for row in self.vm.trace("done")}
        rows = self.vm.trace("submit")[since:]
        return [(r["op"], int(r["offset"]) // UNIT, int(r["bytes"]) // UNIT, done[r["id"]]) for r in rows]

    def test_identify(self) -> None:
        self.begin()
        oncs = struct.unpack_from("<H", self.identify(1), 520)[0]
        self.assertEqual((oncs >> 1 & 1, oncs >> 7 & 1, oncs >> 8 & 1), (1, 1, 1), "Write Uncorrectable, Verify, Copy")
        longest, total, ranges = struct.unpack_from("<HIB", self.identify(0), 74)
        self.assertEqual((longest, total, ranges), (128 * BLOCKS, 128 * BLOCKS, 127), "MSSRL, MCL: the buffer; MSRC")

    def test_verify(self) -> None:
        """Verify reads the flash, and moves nothing over the link."""
        self.begin()
        self.write(0, 5)
        since = len(self.vm.trace("submit"))
        self.assertEqual(self.io(VERIFY), 0)
        self.assertEqual(self.io(READ), 0)
        self.assertEqual(self.io(VERIFY, 1 << 20), LBA_RANGE)
        self.assertEqual(
            self.requests(since),
            [("read", 0, 1, FRONT + FLASH + LATENCY), ("read", 0, 1, FRONT + FLASH + UNIT + LATENCY)],
        )

    def test_write_uncorrectable(self) -> None:
        self.begin()
        self.write(0, 1, 2, 3)
        since = len(self.vm.trace("submit"))
        self.assertEqual(self.io(WRITE_UNCORRECTABLE, 1, 2), 0)
        self.assertEqual(self.requests(since), [("write", 1, 2, BUFFER + FRONT + LATENCY)])
        for opcode in (READ, VERIFY, COMPARE):
            self.assertEqual(self.io(opcode, 1), UNREADABLE)
        self.assertEqual(self.io(VERIFY, 0, 4), UNREADABLE)
        self.assertEqual((self.read(0), self.read(3)), (pattern(0), pattern(3)))
        self.assertEqual(self.io(WRITE_UNCORRECTABLE, 1 << 20), LBA_RANGE)
        self.assertEqual(self.read(0), pattern(0))
        self.write(2)
        self.assertEqual(self.read(2), pattern(2))
        self.nvme = power_cycle(self.vm, 1_000_000)
        self.assertEqual(self.io(READ, 1), UNREADABLE)
        self.write(1)
        for unit in range(4):
            self.assertEqual(self.read(unit), pattern(unit))

    def test_copy(self) -> None:
        """A Copy reads and then writes one range after the other; the last write ends the command."""
        self.begin()
        self.write(0, 1, 2, 3, 10)
        since = len(self.vm.trace("submit"))
        self.assertEqual(self.copy(100, (2, 2), (10, 1)), (0, 0))
        self.assertEqual(
            self.requests(since),
            [
                ("read", 2, 2, FRONT + FLASH),
                ("write", 100, 2, BUFFER + FRONT),
                ("read", 10, 1, FRONT + FLASH),
                ("write", 102, 1, BUFFER + FRONT + LATENCY),
            ],
        )
        self.assertEqual(self.io(FLUSH), 0)
        for unit, source in enumerate((2, 3, 10), 100):
            self.assertEqual(self.read(unit), pattern(source))
        self.assertEqual(self.copy(200, (0, 129))[0], SIZE_LIMIT)
        self.assertEqual(self.copy(200, (0, 100), (0, 29))[0], SIZE_LIMIT)

    def put_copy(self, to: int, first: int, count: int) -> int:
        """Place a Copy of one range; return its identifier."""
        at = self.nvme.buffer()
        self.vm.write(at, struct.pack("<QQH14x", 0, first * BLOCKS, count * BLOCKS - 1))
        return self.nvme.io.put(COPY, 1, at, 0, {10: to * BLOCKS, 12: 0})

    def put_copies(self) -> list[int]:
        """Submit four Copies, of 100, 20, 20 and 8 units, to units 1000, 2000 and so on."""
        found = [self.put_copy(1000 * i, 0, units) for i, units in enumerate((100, 20, 20, 8), 1)]
        self.nvme.io.ring()
        return found

    def test_copies_share_the_buffer(self) -> None:
        """The buffer has 128 units: the third Copy waits until one of the first two ends, the fourth behind it."""
        self.begin()
        self.write(0, 7, 19)
        since = len(self.vm.trace("submit"))
        self.put_copies()
        for _ in range(4):
            self.assertEqual(self.nvme.wait(self.nvme.io, grain_ns=1_000_000).code, 0)
        took = {row["id"]: int(row["latency"]) for row in self.vm.trace("done")}
        rows = self.vm.trace("submit")[since:]
        begun = [int(row["now"]) for row in rows if row["op"] == "read"]
        ended = {int(row["offset"]) // UNIT: int(row["now"]) + took[row["id"]] for row in rows if row["op"] == "write"}
        self.assertEqual([int(row["bytes"]) // UNIT for row in rows if row["op"] == "read"], [100, 20, 20, 8])
        self.assertEqual(begun[0], begun[1])
        self.assertEqual(begun[2:], [min(ended[1000], ended[2000])] * 2)
        for unit in (0, 7, 19):
            for to in (1000, 2000, 3000)[: 3 if unit > 7 else 4]:
                self.assertEqual(self.read(to + unit), pattern(unit))

    def test_copies_that_end_while_they_wait(self) -> None:
        """An Abort, a reset, a deleted queue or a power cut ends waiting Copies; buffer memory is free afterwards."""
        self.begin()
        self.write(0)
        third = self.put_copies()[2]
        self.nvme.do_admin(ABORT, dwords={10: third << 16 | 1})
        codes = {}
        for _ in range(4):
            done = self.nvme.wait(self.nvme.io, grain_ns=1_000_000)
            codes[done.cid == third] = done.code
        self.assertEqual((codes, self.read(3000)), ({True: ABORTED, False: 0}, bytes(UNIT)))
        for how in ("reset", "delete", "cut"):
            with self.subTest(how=how):
                self.put_copies()
                if how == "reset":
                    self.nvme.disable()
                    self.nvme.enable(css=6)
                elif how == "delete":
                    self.nvme.admin.put(DELETE_SQ, dwords={10: 1})
                    self.nvme.admin.ring()
                    self.assertEqual(self.nvme.wait(self.nvme.admin).code, 0)
                    self.nvme.do_admin(DELETE_CQ, dwords={10: 1})
                    self.nvme.make_io_queue()
                else:
                    self.nvme = power_cycle(self.vm, 1_000_000, css=6)
                self.put_copy(200, 0, 128)
                self.nvme.io.ring()
                self.assertEqual(self.nvme.wait(self.nvme.io, grain_ns=1_000_000).code, 0)

    def test_write_uncorrectable_of_blocks(self) -> None:
        """Blocks are lost one by one; the others of their units can be read, from the buffer and from flash."""
        self.begin()
        self.write(0, 1)
        for first, count in ((3, 1), (7, 2)):
            self.assertEqual(self.io(WRITE_UNCORRECTABLE, words={10: first, 12: count - 1}), 0)
        for _ in range(2):
            self.assert_lost(3, 7, 8)
            self.assertEqual(self.io(READ), UNREADABLE)
            self.assertEqual(self.io(FLUSH), 0)
        self.nvme = power_cycle(self.vm, 1_000_000)
        self.assert_lost(3, 7, 8)
        self.assertEqual(self.nvme.do_write(3 * LBA, pattern(0)[:LBA]).code, 0)
        self.assertEqual(self.nvme.do_write(8 * LBA, pattern(1)[:LBA]).code, 0)
        self.assert_lost(7)
        self.assertEqual(self.read(1), pattern(1))
        self.assertEqual(self.nvme.do_write(7 * LBA, pattern(0)[:LBA]).code, 0)
        self.assertEqual((self.read(0), self.read(1)), (pattern(0), pattern(1)))

    def assert_lost(self, *blocks: int) -> None:
        """Check that of the first 16 blocks only these are lost."""
        for block in range(16):
            if block in blocks:
                self.assertEqual(self.io(READ, words={10: block, 12: 0}), UNREADABLE, block)
            else:
                self.assertEqual(self.nvme.do_read(block * LBA, LBA), pattern(block // BLOCKS)[:LBA], block)

    def test_copy_of_lost_units(self) -> None:
        """The ranges before the one that cannot be read are copied, and the result is its number."""
        self.begin()
        self.write(0, 1, 2, 100, 101)
        self.assertEqual(self.io(WRITE_UNCORRECTABLE, 1), 0)
        self.assertEqual(self.copy(100, (0, 1), (1, 1), (2, 1)), (UNREADABLE, 1))
        self.assertEqual((self.read(100), self.read(101)), (pattern(0), pattern(101)))

    def test_below_a_filter(self) -> None:
        """Data cross the link as before, and nothing is lost."""
        throttle: Json = {"driver": "throttle", "node-name": "top", "throttle-group": "g", "file": "ssd0"}
        self.begin([drive(**LINK), throttle], "-object", "throttle-group,id=g", node="top")
        self.write(0)
        since = len(self.vm.trace("submit"))
        self.assertEqual(self.io(VERIFY), 0)
        self.assertEqual(self.requests(since), [("read", 0, 1, FRONT + FLASH + UNIT + LATENCY)])
        self.assertEqual(self.io(WRITE_UNCORRECTABLE), INVALID_OPCODE)
        self.assertEqual(self.copy(100, (0, 1)), (0, 0))
        self.assertEqual(self.read(100), pattern(0))

    def test_on_other_drives(self) -> None:
        """Zones lose nothing; a drive that writes through loses whole pages."""
        profiles = ROOT / "nand-emu" / "profiles"
        self.begin([{**drive(), "profile": str(profiles / "zns-small.ini")}])
        self.assertEqual(self.io(WRITE_UNCORRECTABLE), INVALID_OPCODE)
        self.vm.close()
        self.begin([{**drive(), "profile": str(profiles / "pen-small.ini")}])
        self.assertEqual(self.io(WRITE, 0, 2), 0)
        self.assertEqual(self.io(WRITE_UNCORRECTABLE), INVALID_FIELD)
        self.assertEqual(self.io(WRITE_UNCORRECTABLE, 0, 4), 0)
        self.assertEqual(self.io(READ), UNREADABLE)
        self.assertEqual(self.io(VERIFY, 4, 4), 0)

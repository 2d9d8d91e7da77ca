# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the telemetry logs of a controller: the host's captures and the controller's."""

from __future__ import annotations

import struct
import unittest

from support import Json, drive

from nvme import FLUSH, GET_LOG, IDENTIFY, READ, WRITE, Nvme
from test_logs import (
    ANY,
    BY_CONTROLLER,
    BY_HOST,
    DNR,
    EVENTS,
    INVALID_FIELD,
    OTHER,
    UNREADABLE,
    WRITE_UNCORRECTABLE,
    LogsTest,
)
from test_nvme import PAGE, SCRATCH

BLOCK, CREATE, RETAIN = 512, 1 << 8, 1 << 15
TELEMETRY_NOTICES = 1 << 10
NAMESPACE_NOTICES = 1 << 8
EVENT_REQUEST, ATTACHMENT = 0x0C, 0x15
CHANGED_LIST = 4
TWO = ("-device", "nvme,id=nvme0,serial=slate,bus=pcie.0,addr=4", "-device", "nvme-ns,drive=ssd0,bus=nvme0",
       "-device", "nvme-ns,drive=ssd1,bus=nvme0")


class Telemetry(LogsTest):
    """Test captures."""

    def part(self, log: int, size: int = BLOCK, offset: int = 0, code: int = 0) -> bytes:
        """Return a part of a log; log may have the bits CREATE and RETAIN."""
        at = self.nvme.buffer()
        self.vm.write(at, b"\xee" * size)
        self.nvme.do_admin(GET_LOG, code, nsid=ANY, prp1=at, dwords={10: log | (size // 4 - 1) << 16, 12: offset})
        return self.vm.read(at, size)

    def head(self, log: int) -> tuple[int, ...]:
        """Return the areas' last blocks, the host's generation, and the controller's availability and generation."""
        data = self.part(log)
        self.assertEqual(data[0], log & 0xFF)
        self.assertEqual(data[5:8], self.ieee)
        return struct.unpack_from("<3H", data, 8) + struct.unpack_from("<3B", data, 381)

    def start_drive(self, node: Json | None = None) -> None:
        """Start with a drive."""
        self.start([node or drive()])
        self.nvme.do_admin(IDENTIFY, prp1=SCRATCH, dwords={10: 1})
        self.ieee = self.vm.read(SCRATCH + 73, 3)

    def logs_of(self, log: int, last: int) -> dict[int, bytes]:
        """Return the drive's logs in a capture, by number."""
        data = b"".join(self.part(log | RETAIN, BLOCK, BLOCK * (i + 1)) for i in range(last))
        found = {}
        while data:
            self.assertEqual(data[:4], b"SLOG")
            number, size = struct.unpack_from("<H", data, 6)[0], struct.unpack_from("<Q", data, 8)[0]
            found[number] = data[:size]
            rest = (size + BLOCK - 1) // BLOCK * BLOCK
            self.assertEqual(data[size:rest], bytes(rest - size))
            data = data[rest:]
        return found

    def test_the_host_s(self) -> None:
        self.start_drive()
        self.assertEqual(self.head(BY_HOST), (0, 0, 0, 0, 0, 0), "no capture yet")
        self.part(BY_HOST, offset=BLOCK, code=INVALID_FIELD)
        first = self.head(BY_HOST | CREATE)
        self.assertEqual(first[3:], (1, 0, 0))
        logs = self.logs_of(BY_HOST, first[0])
        self.assertEqual(sorted(logs), [0xD0, 0xD1, 0xD3])
        self.assertEqual(logs[0xD0][24:], self.nvme.whole_log(0xD0)[24:], "but for the time in the head")
        self.assertEqual(logs[0xD1][24:], self.nvme.whole_log(0xD1)[24:])
        self.assertEqual(self.nvme.do_write(0, PAGE).code, 0)
        self.assertEqual(self.logs_of(BY_HOST, first[0]), logs, "a capture stays as it is")
        self.assertEqual(self.head(BY_HOST), first)
        second = self.head(BY_HOST | CREATE)
        self.assertEqual(second[3], 2)
        self.assertNotEqual(self.logs_of(BY_HOST, second[0])[0xD1], logs[0xD1])
        self.reset()
        self.assertEqual(self.head(BY_HOST), second)

    def test_a_drive_with_a_table(self) -> None:
        self.start_drive(drive(drive__namespaces=2))
        last = self.head(BY_HOST | CREATE)[0]
        self.assertEqual(sorted(self.logs_of(BY_HOST, last)), [0xD0, 0xD1, 0xD3], "one drive, of all namespaces")

    def test_the_controller_s(self) -> None:
        """The controller makes a capture at the first unrecovered read, and no other before the host has read it."""
        self.start_drive()
        self.set(EVENTS, TELEMETRY_NOTICES)
        self.nvme.admin.put(EVENT_REQUEST)
        self.nvme.admin.ring()
        self.assertEqual(self.head(BY_CONTROLLER), (0, 0, 0, 0, 0, 0))
        self.assertEqual(self.io(WRITE, 0, 16), 0)
        self.assertEqual(self.io(WRITE_UNCORRECTABLE, 8, 8), 0)
        self.assertEqual(self.nvme.admin.drain(), [])
        self.assertEqual(self.io(READ, 8, 8), UNREADABLE | DNR)
        self.assertEqual(self.nvme.wait(self.nvme.admin).result, BY_CONTROLLER << 16 | 3 << 8 | 2, "it changed")
        self.assertEqual(self.io(READ, 8, 8), UNREADABLE | DNR)
        found = self.head(BY_CONTROLLER | RETAIN)
        self.assertEqual(found[3:], (0, 1, 1))
        self.assertEqual(sorted(self.logs_of(BY_CONTROLLER, found[0])), [0xD0, 0xD1, 0xD3])
        self.assertEqual(self.part(BY_CONTROLLER | RETAIN)[384:], b"unrecovered read".ljust(128))
        self.assertEqual(self.head(BY_HOST)[3:], (0, 1, 1))
        self.assertEqual(self.head(BY_CONTROLLER)[3:], (0, 1, 1))
        self.assertEqual(self.head(BY_CONTROLLER | RETAIN)[3:], (0, 0, 1), "the host has read it")
        self.assertEqual(self.io(READ, 8, 8), UNREADABLE | DNR)
        self.assertEqual(self.head(BY_CONTROLLER | RETAIN)[3:], (0, 1, 2))

    def test_a_hidden_drive(self) -> None:
        """A capture has the logs of the drives that the guest may see."""
        hidden: Json = {**drive("ssd1"), "guest-control": "off"}
        self.vm = self.machine([drive(), hidden], *TWO)
        self.nvme = Nvme(self.vm)
        self.nvme.enable()
        self.nvme.do_admin(IDENTIFY, prp1=SCRATCH, dwords={10: 1})
        self.ieee = self.vm.read(SCRATCH + 73, 3)
        blocks = sum((len(self.nvme.whole_log(log)) + BLOCK - 1) // BLOCK for log in (0xD0, 0xD1, 0xD3))
        self.assertEqual(self.head(BY_HOST | CREATE)[0], blocks)
        self.assertEqual(sorted(self.logs_of(BY_HOST, blocks)), [0xD0, 0xD1, 0xD3])

    def test_two_notices(self) -> None:
        """Each log removes the event of its own, whichever the host reads first."""
        told = {CHANGED_LIST: CHANGED_LIST << 16 | 2, BY_CONTROLLER: BY_CONTROLLER << 16 | 3 << 8 | 2}
        for first, second in ((CHANGED_LIST, BY_CONTROLLER), (BY_CONTROLLER, CHANGED_LIST)):
            self.vm = self.machine([drive(), drive("ssd1")], "-device", "nvme-subsys,id=sub0", *TWO[:1],
                                   TWO[1] + ",subsys=sub0", *TWO[2:])
            self.nvme = Nvme(self.vm)
            self.nvme.enable()
            self.set(EVENTS, TELEMETRY_NOTICES | NAMESPACE_NOTICES)
            self.vm.write(SCRATCH, struct.pack("<HH", 1, 0).ljust(4096, b"\0"))
            self.nvme.admin.put(ATTACHMENT, 2, SCRATCH, dwords={10: 1})
            self.nvme.admin.ring()
            self.assertEqual(self.nvme.wait(self.nvme.admin).code, 0)
            self.assertEqual(self.io(WRITE, 0, 16), 0)
            self.assertEqual(self.io(WRITE_UNCORRECTABLE, 8, 8), 0)
            self.assertEqual(self.io(READ, 8, 8), UNREADABLE | DNR)
            self.vm.step(1)
            self.part(first)
            self.nvme.admin.put(EVENT_REQUEST)
            self.nvme.admin.ring()
            self.assertEqual(self.nvme.wait(self.nvme.admin).result, told[second])
            self.part(second)
            self.nvme.admin.put(EVENT_REQUEST)
            self.nvme.admin.ring()
            self.assertEqual(self.nvme.admin.drain(), [], "none is left")
            self.vm.close()

    def test_wrong_ones(self) -> None:
        self.start_drive()
        for log in (BY_HOST | CREATE, BY_CONTROLLER):
            for offset in (4, 256, 508, 1 << 20):
                self.part(log, offset=offset, code=INVALID_FIELD)
        self.nvme.start(FLUSH)
        self.assertEqual(self.nvme.finish().code, 0)

    def test_guests_that_may_not_see(self) -> None:
        hidden: Json = {**drive(), "guest-control": "off"}
        for node in (OTHER, hidden):
            self.start([node])
            self.part(BY_HOST | CREATE, code=INVALID_FIELD)
            self.part(BY_CONTROLLER, code=INVALID_FIELD)
            self.vm.close()


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the telemetry logs of a controller: the host's captures and the controller's."""

from __future__ import annotations

import struct
import unittest

from support import Json, drive

from nvme import FLUSH, GET_LOG, IDENTIFY, READ, WRITE
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
EVENT_REQUEST = 0x0C


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

    def start_drive(self) -> None:
        """Start with a drive."""
        self.start()
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

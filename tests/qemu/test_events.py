# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the persistent event log: its bytes, as NVMe 1.4 section 5.14.1.13 has them, and what outlives what.

The clock is stepped, so times are exact: a timestamp that the host has not set counts milliseconds from the last
reset, and the log's events carry it.
"""

from __future__ import annotations

import struct
import tempfile
import unittest
from pathlib import Path

from support import SMALL, Json, drive

from nvme import ADMIN_SQ, GET_LOG, IDENTIFY, READ, SET_FEATURES, WRITE, Nvme, power_cycle
from test_logs import (
    ANY,
    DNR,
    FORMAT,
    INVALID_FIELD,
    OTHER,
    SMART,
    SUPPORTED,
    THRESHOLD,
    TIMESTAMP,
    UNREADABLE,
    WRITE_CACHE,
    WRITE_UNCORRECTABLE,
    LogsTest,
)
from test_nvme import SCRATCH
from test_sanitize import BLOCK_ERASE, IN_PROGRESS, ROW_NS, ROWS, SANITIZE, SUBSYSTEM, TWO

LOG = 0x0D
READ_LOG, ESTABLISH, RELEASE = 0, 1, 2
SEQUENCE_ERROR = 0x0C
SNAPSHOT, TIMESTAMP_CHANGE, RESET, HARDWARE_ERROR, NAMESPACE, FORMAT_START, FORMAT_END = 1, 3, 4, 5, 6, 7, 8
SANITIZE_START, SANITIZE_END, FEATURE = 9, 10, 11
UNSAFE, MEDIA = 8, 10
HEAD, EVENT_HEAD = 512, 24
HOUR_NS = 3600 * 10**9
NS_MANAGEMENT = 0x0D
Event = tuple[int, int, bytes]


class Events(LogsTest):
    """Read the log."""

    def get(self, action: int, size: int = HEAD, offset: int = 0, code: int = 0) -> bytes:
        """Get Log Page with an action, up to two pages."""
        self.vm.write(SCRATCH, b"\xee" * size)
        self.nvme.do_admin(GET_LOG, code, nsid=ANY, prp1=SCRATCH,
                           dwords={10: LOG | action << 8 | (size // 4 - 1) << 16, 12: offset})
        return self.vm.read(SCRATCH, size)

    def read(self) -> list[Event]:
        """Return type, timestamp and data of each event, the oldest first, in a context of its own."""
        head = self.get(ESTABLISH)
        count, size = struct.unpack_from("<IQ", head, 4)
        data = b"".join(self.get(READ_LOG, min(4096, size - at) + 3 & ~3, at) for at in range(0, size, 4096))[:size]
        self.get(RELEASE)
        self.assertEqual(data[:HEAD], head)
        found, at = [], HEAD
        for _ in range(count):
            row = struct.unpack_from("<BBBBHQ6sHH", data, at)
            kind, revision, rest, zero, cntlid, when, zeroes, vendor, length = row
            self.assertEqual((revision, rest, zero, cntlid, zeroes, vendor), (1, 21, 0, 0, bytes(6), 0))
            at += EVENT_HEAD
            found.append((kind, when, data[at : at + length]))
            at += length
        self.assertEqual(at, size)
        return found[::-1]

    def kinds(self) -> list[int]:
        """Return the types of all events, the oldest first."""
        return [event[0] for event in self.read()]

    def format(self) -> None:
        """Format the namespace."""
        self.nvme.admin.put(FORMAT, 1)
        self.nvme.admin.ring()
        self.assertEqual(self.nvme.wait(self.nvme.admin).code, 0)


class Contents(Events):
    """Test each kind of event."""

    def test_the_head(self) -> None:
        self.start()
        self.nvme.do_admin(IDENTIFY, prp1=SCRATCH, dwords={10: 1})
        identify = self.vm.read(SCRATCH, 4096)
        self.assertEqual((identify[261] >> 4 & 1, struct.unpack_from("<I", identify, 352)[0]), (1, 1), "LPA, PELS")
        head = self.get(ESTABLISH)
        self.assertEqual(struct.unpack_from("<B3xIQBxH", head), (LOG, 2, HEAD + 24 + 512 + 24 + 44, 1, 492))
        self.assertEqual(head[28:44], bytes(16), "power on hours")
        self.assertEqual(struct.unpack_from("<Q", head, 44)[0], struct.unpack_from("<Q", self.log(SMART, 512), 112)[0])
        self.assertEqual(head[52:56] + head[56:116], identify[0:4] + identify[4:64], "IDs, serial and model number")
        self.assertEqual(head[116:372], identify[768:1024], "name of the subsystem")
        self.assertEqual(head[372:480], bytes(108))
        types = sum(1 << kind for kind in (1, 3, 4, 5, 6, 7, 8, 9, 10, 11))
        self.assertEqual(head[480:512], types.to_bytes(32, "little"))

    def test_a_controller_becomes_ready(self) -> None:
        self.start()
        self.nvme.do_admin(IDENTIFY, prp1=SCRATCH, dwords={10: 1})
        firmware = self.vm.read(SCRATCH + 64, 8)
        cycles = struct.unpack_from("<Q", self.log(SMART, 512), 112)[0]
        smart, ready = self.read()
        self.assertEqual((smart[0], ready[0]), (SNAPSHOT, RESET))
        self.assertEqual(len(smart[2]), 512)
        self.assertEqual(smart[2][3:5], self.log(SMART, 512)[3:5], "spare blocks")
        self.assertEqual(ready[2], struct.pack("<8sHBB12xIQQ", firmware, 0, 0, 0, cycles, ready[1], ready[1]))
        self.vm.step(5_000_000)
        self.reset()
        again = self.read()[-1]
        self.assertEqual(again[2][28:36], struct.pack("<Q", ready[1] + 6), "6 ms later")

    def test_the_timestamp(self) -> None:
        self.start()
        self.reset()
        self.vm.step(3_000_000)
        self.vm.write(SCRATCH, struct.pack("<Q", 1_000_000))
        self.nvme.do_admin(SET_FEATURES, prp1=SCRATCH, dwords={10: TIMESTAMP})
        kind, when, data = self.read()[-1]
        self.assertEqual((kind, when & (1 << 48) - 1, when >> 49), (TIMESTAMP_CHANGE, 1_000_000, 1))
        self.assertEqual(len(data), 16)
        before, since = struct.unpack("<QQ", data)
        self.assertEqual((before, since), (3, 4), "from CC.EN = 1 and from the reset, 1 ms before it")

    def test_features(self) -> None:
        self.start()
        self.set(THRESHOLD, 0x150)
        self.set(THRESHOLD, 0x150)
        self.set(THRESHOLD, 1 << 20 | 0x100)
        self.set(WRITE_CACHE, 1)
        self.set(WRITE_CACHE, 0)
        self.set(WRITE_CACHE, 1)
        expected = [(THRESHOLD, 0x150), (THRESHOLD, 1 << 20 | 0x100), (WRITE_CACHE, 0), (WRITE_CACHE, 1)]
        found = self.read()[2:]
        self.assertEqual([(event[0], event[2]) for event in found],
                         [(FEATURE, struct.pack("<III", 2, *words)) for words in expected], "what has changed")

    def test_media_errors(self) -> None:
        self.start()
        self.assertEqual(self.io(WRITE_UNCORRECTABLE, 8, 8), 0)
        for _ in range(3):
            self.assertEqual(self.io(READ, 8, 8), UNREADABLE | DNR)
        found = self.read()
        self.assertEqual([event[0] for event in found], [SNAPSHOT, RESET, HARDWARE_ERROR], "one a second")
        code, zero, result, head, queue, _, status = struct.unpack("<HHQHHHH", found[-1][2])
        self.assertEqual((code, zero, result, head, queue, status), (MEDIA, 0, 0, 2, 1, (UNREADABLE | DNR) << 1))
        self.vm.step(10**9)
        self.assertEqual(self.io(READ, 8, 8), UNREADABLE | DNR)
        self.assertEqual(self.kinds()[3:], [HARDWARE_ERROR])

    def test_format_and_sanitize(self) -> None:
        self.start()
        self.format()
        self.nvme.do_admin(SANITIZE, dwords={10: BLOCK_ERASE})
        self.get(ESTABLISH, code=IN_PROGRESS)
        self.vm.step(ROWS * ROW_NS)
        self.assertEqual(self.kinds()[2:], [FORMAT_START, FORMAT_END, SANITIZE_START, SANITIZE_END])
        start, end, erase, done = (event[2] for event in self.read()[2:])
        self.nvme.do_admin(IDENTIFY, prp1=SCRATCH, dwords={10: 1})
        identify = self.vm.read(SCRATCH, 4096)
        self.assertEqual(start, struct.pack("<III", 1, identify[524], 0))
        self.assertEqual(end, struct.pack("<IBBHI", 1, 0, 0, 0, 0))
        self.assertEqual(erase, identify[328:332] + struct.pack("<II", BLOCK_ERASE, 0))
        self.assertEqual(done, struct.pack("<HHHH", 0xFFFF, 1 | 1 << 8, 0, 0), "done, and all data are erased")

    def test_sanitize_with_two_controllers(self) -> None:
        """The end is recorded once, by the controller that began the operation."""
        self.vm = self.machine([drive()], *SUBSYSTEM)
        first = Nvme(self.vm)
        first.enable()
        first.config_write(0x04, 0)
        self.nvme = Nvme(self.vm, slot=5, queues=ADMIN_SQ + 0x10000)
        self.nvme.enable()
        self.nvme.do_admin(SANITIZE, dwords={10: BLOCK_ERASE})
        self.vm.step(ROWS * ROW_NS + 100_000_000)
        size = struct.unpack_from("<Q", self.get(ESTABLISH), 8)[0]
        log = self.get(READ_LOG, size)
        found, at = [], HEAD
        while at < size:
            found.append(struct.unpack_from("<BxxxH", log, at))
            at += EVENT_HEAD + struct.unpack_from("<H", log, at + 22)[0]
        self.assertEqual([event for event in found if event[0] in (SANITIZE_START, SANITIZE_END)],
                         [(SANITIZE_END, 1), (SANITIZE_START, 1)])

    def test_namespaces(self) -> None:
        """Created and deleted ones have their size, 512-byte blocks, and NSID; a deletion of all has NSID FFFFFFFFh."""
        self.start([drive(drive__namespaces=2)])
        for nsid, dw10, nsze in ((1, 1, 0), (0, 0, 1000), (ANY, 1, 0)):
            self.vm.write(SCRATCH, struct.pack("<QQ", nsze, nsze).ljust(4096, b"\0"))
            self.nvme.admin.put(NS_MANAGEMENT, nsid, SCRATCH, dwords={10: dw10})
            self.nvme.admin.ring()
            self.assertEqual(self.nvme.wait(self.nvme.admin).code, 0)
        found = [event[2] for event in self.read() if event[0] == NAMESPACE]
        row = "<I4xQ8xQBBB5xHHI"
        whole = (256 * 2**20 - 4096) // 512
        self.assertEqual(found, [struct.pack(row, 1, whole, whole, 0, 0, 0, 0, 0, 1),
                                 struct.pack(row, 0, 1000, 1000, 0, 0, 0, 0, 0, 1),
                                 struct.pack(row, 1, 0, 0, 0, 0, 0, 0, 0, ANY)])

    def test_a_snapshot_each_day(self) -> None:
        self.start()
        self.assertEqual(self.kinds(), [SNAPSHOT, RESET])
        self.vm.step(24 * HOUR_NS - 10**9)
        self.assertEqual(self.kinds(), [SNAPSHOT, RESET])
        self.vm.step(10**9)
        self.assertEqual(self.kinds(), [SNAPSHOT, RESET, SNAPSHOT])


class Context(Events):
    """Test the rules of the context, and wrong commands."""

    def test_actions(self) -> None:
        self.start()
        self.get(RELEASE)
        self.get(READ_LOG, code=SEQUENCE_ERROR)
        first = self.get(ESTABLISH)
        self.get(ESTABLISH, code=SEQUENCE_ERROR)
        self.set(THRESHOLD, 0x150)
        self.assertEqual(self.get(READ_LOG), first, "a context stays as it is")
        size = struct.unpack_from("<Q", first, 8)[0]
        self.assertEqual(self.get(READ_LOG, 8, size - 4)[4:], b"\xee" * 4)
        self.get(READ_LOG, 4, size, INVALID_FIELD)
        self.get(RELEASE)
        self.get(READ_LOG, code=SEQUENCE_ERROR)
        second = self.get(ESTABLISH)
        self.assertEqual(struct.unpack_from("<I", second, 4)[0], struct.unpack_from("<I", first, 4)[0] + 1)
        for action in range(3, 16):
            self.get(action, code=INVALID_FIELD)
        self.reset()
        self.get(READ_LOG, code=SEQUENCE_ERROR)
        self.get(ESTABLISH)
        self.nvme = power_cycle(self.vm, 1_000_000)
        self.get(READ_LOG, code=SEQUENCE_ERROR)

    def test_a_context_that_is_not_made(self) -> None:
        """An offset beyond the log, which has 512 + 24 + 512 + 24 + 44 bytes, is refused, and there is no context."""
        self.start()
        self.get(ESTABLISH, 4, 1116, INVALID_FIELD)
        self.get(READ_LOG, code=SEQUENCE_ERROR)
        self.assertEqual(self.get(ESTABLISH, 4, 1112), bytes(4))
        self.get(READ_LOG)

    def test_a_drive_without_it(self) -> None:
        self.start([OTHER])
        self.assertEqual(self.log(SUPPORTED, 1024)[4 * LOG], 0)
        for action in (READ_LOG, ESTABLISH, RELEASE):
            self.get(action, code=INVALID_FIELD)
        self.nvme.do_admin(IDENTIFY, prp1=SCRATCH, dwords={10: 1})
        self.assertEqual(self.vm.read(SCRATCH + 261, 1)[0] >> 4 & 1, 0)


class Survives(Events):
    """Test cuts, resets and the end of QEMU."""

    def test_cuts(self) -> None:
        self.start()
        self.assertEqual(self.nvme.do_write(0, bytes(4096)).code, 0)
        self.set(THRESHOLD, 0x150)
        before = self.read()
        self.nvme = power_cycle(self.vm, 1_000_000)
        found = self.read()
        self.assertEqual(found[: len(before)], before)
        self.assertEqual([event[0] for event in found[len(before) :]], [RESET, HARDWARE_ERROR])
        self.assertEqual(found[-1][2], struct.pack("<HH", UNSAFE, 0))
        self.nvme = power_cycle(self.vm, 1_000_000)
        self.assertEqual(self.kinds(), [event[0] for event in found] + [RESET], "nothing was written since")

    def test_a_drive_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            node: Json = {"driver": "nand-ssd", "node-name": "ssd0", "drive-file": str(Path(folder, "drive.slate")),
                          "profile": str(SMALL)}
            self.start([node])
            self.set(THRESHOLD, 0x150)
            before = self.read()
            self.assertEqual([event[0] for event in before], [SNAPSHOT, RESET, FEATURE])
            self.vm.close()
            del node["profile"]
            self.start([node])
            found = self.read()
            self.assertEqual(found[:3], before)
            self.assertEqual([event[0] for event in found[3:]], [SNAPSHOT, RESET])
            self.vm.close()

    def test_several_drives(self) -> None:
        """Each drive of a controller keeps all events, also a shutdown that it has not counted itself."""
        with tempfile.TemporaryDirectory() as folder:
            nodes: list[Json] = [{"driver": "nand-ssd", "node-name": f"ssd{i}", "profile": str(SMALL),
                                  "drive-file": str(Path(folder, f"{i}.slate"))} for i in range(2)]
            for first in (True, False):
                self.vm = self.machine(nodes, *TWO)
                self.nvme = Nvme(self.vm)
                self.nvme.enable()
                if first:
                    self.set(THRESHOLD, 0x150)
                    self.nvme.io.put(WRITE, 2, self.nvme.buffer(), 0, {10: 0, 12: 7})
                    self.assertEqual(self.nvme.finish().code, 0)
                    self.assertEqual(self.kinds(), [SNAPSHOT, RESET, FEATURE])
                    self.vm.kill()
                    self.vm.close()
            events = self.read()
            self.assertEqual([event[0] for event in events],
                             [SNAPSHOT, RESET, FEATURE, SNAPSHOT, RESET, HARDWARE_ERROR])
            self.assertEqual(events[5][2], struct.pack("<HH", UNSAFE, 0))
            self.assertEqual(self.unsafe(), (1, 1))
            self.vm.close()
            for node in nodes:
                self.start([{**node, "node-name": "ssd0"}])
                self.assertEqual(self.read()[:6], events)
                self.vm.close()

    def test_unsafe_shutdowns(self) -> None:
        """Each one that SMART counts has its event, when the controller is ready again."""
        with tempfile.TemporaryDirectory() as folder:
            node: Json = {"driver": "nand-ssd", "node-name": "ssd0", "drive-file": str(Path(folder, "drive.slate")),
                          "profile": str(SMALL)}
            for number in range(3):
                self.start([node])
                node.pop("profile", None)
                self.assertEqual(self.unsafe(), (2 * number, 2 * number))
                self.assertEqual(self.nvme.do_write(0, bytes(4096)).code, 0)
                self.nvme = power_cycle(self.vm, 1_000_000)
                self.assertEqual(self.unsafe(), (2 * number + 1, 2 * number + 1))
                self.assertEqual(self.nvme.do_write(0, bytes(4096)).code, 0)
                self.vm.kill()
                self.vm.close()
            self.start([node])
            self.assertEqual(self.unsafe(), (6, 6))
            self.vm.kill()
            self.vm.close()
            self.start([node])
            self.assertEqual(self.unsafe(), (6, 6), "it was not written to")

    def unsafe(self) -> tuple[int, int]:
        """Return unsafe shutdowns of SMART's log, and events of them."""
        return (struct.unpack_from("<Q", self.log(SMART, 512), 144)[0],
                sum(event[0] == HARDWARE_ERROR and event[2] == struct.pack("<HH", UNSAFE, 0) for event in self.read()))

    def test_a_ring_that_wraps(self) -> None:
        """A change of a threshold has 24 + 12 bytes, of which the last two are 0: with a head of 4 it takes 38.

        The drive has room for 3992 bytes: 105 events.
        """
        self.start()
        for i in range(110):
            self.set(THRESHOLD, 0x150 + i)
        found = self.read()
        self.assertEqual([event[2] for event in found],
                         [struct.pack("<III", 2, THRESHOLD, 0x150 + i) for i in range(5, 110)])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test Get LBA Status, the LBA Status Information log, and the event that tells of it.

Layouts are those of the NVM Command Set Specification 1.0, sections 4.1.4.5 and 4.2.1; numbers of blocks in them are
less by one. The drive's mapping unit, and so the least that can be lost, has 8 blocks of 512 bytes.
"""

from __future__ import annotations

import struct
import unittest

from support import SMALL, drive

from nvme import (
    DSM,
    FLUSH,
    GET_LOG,
    IDENTIFY,
    READ,
    SET_FEATURES,
    WRITE,
    WRITE_ZEROES,
    Completion,
    Nvme,
    power_cycle,
    power_on,
)
from test_logs import (
    ANY,
    DNR,
    EVENTS,
    FORMAT,
    INVALID_FIELD,
    INVALID_NSID,
    INVALID_OPCODE,
    LBA_RANGE,
    OTHER,
    SMART,
    UNREADABLE,
    VERIFY,
    WRITE_UNCORRECTABLE,
    LogsTest,
)
from test_nvme import CONTROLLER, PAGE, SCRATCH
from test_sanitize import BLOCK_ERASE, IN_PROGRESS, SANITIZE, TWO

COMMAND, LOG, ATTRIBUTES = 0x86, 0x0E, 0x15
SCAN, TRACKED = 0x10, 0x11
INCOMPLETE, COMPLETE = 1, 2
MAYBE, FAILED, UNCORRECTABLE = 0, 1, 3
NOTICES = 1 << 13
RETAIN = 1 << 15
EVENT_REQUEST, COMPARE, COPY = 0x0C, 0x05, 0x19
FAULT_ADD, FAULT_CLEAR, FLIP = 3, 4, 3
LAST = 2**40
ROOM = 4096
SECOND_NS = 1_000_000_000
Entry = tuple[int, int, int]


class LbaStatus(LogsTest):
    """Ask for blocks that may be unreadable."""

    def put(self, action: int, first: int = 0, count: int = 0, dwords: int = ROOM // 4, nsid: int = 1) -> int:
        """Send the command; return the address of its data."""
        at = self.nvme.buffer()
        self.vm.write(at, b"\xee" * ROOM)
        words = {10: first & 0xFFFFFFFF, 11: first >> 32, 12: dwords - 1, 13: action << 24 | count}
        self.nvme.admin.put(COMMAND, nsid, at, dwords=words)
        self.nvme.admin.ring()
        return at

    def ask(
        self, action: int, first: int = 0, count: int = 0, dwords: int = ROOM // 4, nsid: int = 1
    ) -> tuple[int, list[Entry]]:
        """Return why the command ended, and first block, number and status of each range."""
        at = self.put(action, first, count, dwords, nsid)
        completion = self.nvme.wait(self.nvme.admin, grain_ns=1_000_000)
        self.assertEqual(completion.code, 0)
        data = self.vm.read(at, ROOM)
        number, why = struct.unpack_from("<IB", data)
        size = 8 + 16 * number
        self.assertLessEqual(size, dwords * 4)
        self.assertEqual(data[5:8], bytes(3))
        self.assertEqual(data[size:], b"\xee" * (ROOM - size), "no more than the entries are transferred")
        found = []
        for entry in range(8, size, 16):
            lba, blocks, zero, status, rest = struct.unpack_from("<QIBBH", data, entry)
            self.assertEqual((zero, rest), (0, 0))
            found.append((lba, blocks + 1, status))
        return why, found

    def tracked(self, *entries: Entry) -> None:
        """The list of the namespace has exactly these ranges."""
        self.assertEqual(self.ask(TRACKED), (COMPLETE, list(entries)))

    def refused(self, code: int, *arguments: int, **more: int) -> None:
        """The command is refused at once."""
        self.put(*arguments, **more)
        completion = self.nvme.admin.poll()
        assert completion
        self.assertEqual(completion.code, code)

    def status_log(self, retain: int = 0) -> tuple[int, int, list[tuple[int, int, list[tuple[int, int]]]]]:
        """Return blocks, generation, and namespace, action and ranges of each element of the log."""
        at = self.nvme.buffer()
        self.nvme.do_admin(GET_LOG, nsid=ANY, prp1=at, dwords={10: LOG | retain | (ROOM // 4 - 1) << 16})
        data = self.vm.read(at, ROOM)
        size, elements, blocks, zero, generation = struct.unpack_from("<IIIHH", data)
        self.assertEqual(zero, 0)
        place, found = 16, []
        for _ in range(elements):
            nsid, number, action, rest = struct.unpack_from("<IIB7s", data, place)
            self.assertEqual(rest, bytes(7))
            place += 16
            ranges = []
            for _ in range(number if number != ANY else 0):
                lba, count, zero = struct.unpack_from("<QII", data, place)
                self.assertEqual(zero, 0)
                ranges.append((lba, count + 1))
                place += 16
            found.append((nsid, action, ranges))
        self.assertEqual(place, size)
        return blocks, generation, found

    def write_page(self) -> None:
        """Write the first page of flash, with blocks 0 to 31, and make it unreadable."""
        for lba in range(0, 32, 8):
            self.assertEqual(self.io(WRITE, lba, 8), 0)
        self.flush()
        self.nvme.control(FAULT_ADD, FLIP | 1 << 16, 0, 0)

    def flush(self) -> None:
        """Bring all data to flash."""
        self.nvme.start(FLUSH)
        self.assertEqual(self.nvme.finish().code, 0)


class Command(LbaStatus):
    """Test the command."""

    def test_what_is_offered(self) -> None:
        self.start()
        self.nvme.do_admin(IDENTIFY, prp1=SCRATCH, dwords={10: 1})
        data = self.vm.read(SCRATCH, 4096)
        self.assertEqual(struct.unpack_from("<H", data, 256)[0] >> 9 & 1, 1, "OACS")
        self.assertEqual(struct.unpack_from("<I", data, 92)[0] >> 13 & 1, 1, "OAES")
        self.tracked()
        self.assertEqual(self.ask(SCAN), (COMPLETE, []))
        self.assertEqual(self.status_log(), (0, 0, []))
        self.vm.close()
        self.start([OTHER])
        self.refused(INVALID_OPCODE, TRACKED)
        self.nvme.do_admin(0x0A, INVALID_FIELD, dwords={10: ATTRIBUTES})

    def test_exact_bytes(self) -> None:
        self.start()
        self.assertEqual(self.io(WRITE_UNCORRECTABLE, 0x12348, 16), 0)
        at = self.put(TRACKED)
        self.assertEqual(self.nvme.wait(self.nvme.admin).code, 0)
        self.assertEqual(self.vm.read(at, 32).hex(), "01000000" "02" "000000" "4823010000000000" "0f000000" "00" "03"
                         "0000" + "ee" * 8)
        self.assertEqual(self.log(LOG, 48).hex(), "30000000" "01000000" "10000000" "0000" "0100"
                         "01000000" "01000000" "11" "00000000000000" "4823010000000000" "0f000000" "00000000")

    def test_ranges_are_joined_and_divided(self) -> None:
        self.start()
        for lba in (96, 80, 88):
            self.assertEqual(self.io(WRITE_UNCORRECTABLE, lba, 8), 0)
        self.tracked((80, 24, UNCORRECTABLE))
        self.assertEqual(self.io(VERIFY, 80, 32), UNREADABLE | DNR)
        self.tracked((80, 24, UNCORRECTABLE), (104, 8, MAYBE))
        self.assertEqual(self.io(READ, 104, 8), 0)
        self.assertEqual(self.io(WRITE, 88, 8), 0)
        self.tracked((80, 8, UNCORRECTABLE), (96, 8, UNCORRECTABLE), (104, 8, MAYBE))
        self.assertEqual(self.io(WRITE_ZEROES, 76, 8), 0)
        self.tracked((84, 4, UNCORRECTABLE), (96, 8, UNCORRECTABLE), (104, 8, MAYBE))
        for first, count, expected in ((0, 84, []), (0, 85, [(84, 1, 3)]), (86, 12, [(86, 2, 3), (96, 2, 3)]),
                                       (88, 8, []), (103, 0, [(103, 1, 3), (104, 8, 0)])):
            self.assertEqual(self.ask(TRACKED, first, count), (COMPLETE, expected))
        self.assertEqual(self.io(WRITE, 80, 32), 0)
        self.tracked()

    def test_room(self) -> None:
        """Each entry has 4 dwords, behind the 2 of the head."""
        self.start()
        for lba in (8, 24, 40):
            self.assertEqual(self.io(WRITE_UNCORRECTABLE, lba, 8), 0)
        entries = [(lba, 8, UNCORRECTABLE) for lba in (8, 24, 40)]
        for action in (TRACKED, SCAN):
            for dwords, number in ((2, 0), (5, 0), (6, 1), (13, 2), (14, 3), (15, 3)):
                why = COMPLETE if number == 3 else INCOMPLETE
                self.assertEqual(self.ask(action, dwords=dwords), (why, entries[:number]), dwords)
            self.assertEqual(self.ask(action, 16, 32, dwords=6), (INCOMPLETE, entries[1:2]))
            self.assertEqual(self.ask(action, 16, 24, dwords=6), (COMPLETE, entries[1:2]))
            at = self.put(action, dwords=1)
            self.assertEqual(self.nvme.wait(self.nvme.admin).code, 0)
            self.assertEqual(self.vm.read(at, 8).hex(), "00000000" + "ee" * 4)

    def test_all_commands_that_read(self) -> None:
        self.start()
        self.write_page()
        expected = []
        for opcode, lba in ((READ, 0), (VERIFY, 8), (COMPARE, 16)):
            self.assertEqual(self.io(opcode, lba, 4), UNREADABLE | DNR, hex(opcode))
            expected.append((lba, 4, MAYBE))
            self.tracked(*expected)
        self.copy(24, 4, 1024, UNREADABLE)
        self.tracked(*expected, (24, 4, MAYBE))
        self.assertEqual(self.io(READ, 17, 1), UNREADABLE | DNR)
        self.tracked(*expected[:2], (16, 1, MAYBE), (17, 1, FAILED), (18, 2, MAYBE), (24, 4, MAYBE))
        self.nvme.control(FAULT_CLEAR)
        self.assertEqual(self.ask(SCAN, 9, 9), (COMPLETE, []), "they can be read now")
        self.tracked((0, 4, MAYBE), (8, 1, MAYBE), (18, 2, MAYBE), (24, 4, MAYBE))
        self.copy(0, 8, 18, 0)
        self.tracked((0, 4, MAYBE), (8, 1, MAYBE), (26, 2, MAYBE))

    def copy(self, source: int, blocks: int, to: int, code: int) -> None:
        """Copy blocks inside the namespace."""
        self.vm.write(SCRATCH, struct.pack("<8xQH14x", source, blocks - 1))
        self.nvme.io.put(COPY, 1, SCRATCH, 0, {10: to})
        self.assertEqual(self.nvme.finish().code, code)

    def test_a_scan_after_a_cut(self) -> None:
        """After a power cut it is not known which blocks are still unreadable."""
        self.start()
        for lba, count in ((1000, 8), (1016, 16), (400_000, 8)):
            self.assertEqual(self.io(WRITE_UNCORRECTABLE, lba, count), 0)
        self.flush()
        self.nvme = power_cycle(self.vm, 1_000_000)
        known = [(1000, 8, MAYBE), (1016, 16, MAYBE), (400_000, 8, MAYBE)]
        self.tracked(*known)
        self.assertEqual(self.io(WRITE, 0, 8), 0)
        found = [(lba, count, FAILED) for lba, count, _ in known]
        self.assertEqual(self.ask(SCAN, 1004, 14), (COMPLETE, [(1004, 4, FAILED), (1016, 2, FAILED)]))
        self.tracked((1000, 4, MAYBE), (1004, 4, FAILED), (1016, 2, FAILED), (1018, 14, MAYBE), known[2])
        self.assertEqual(self.ask(SCAN), (COMPLETE, found))
        self.tracked(*found)

    def test_a_self_test(self) -> None:
        self.start()
        self.write_page()
        self.nvme.do_admin(0x14, nsid=1, dwords={10: 1})
        self.vm.step(10_000_000)
        self.tracked((0, 1, FAILED))

    def test_what_empties_the_list(self) -> None:
        self.start()
        self.assertEqual(self.io(WRITE_UNCORRECTABLE, 8, 16), 0)
        self.vm.write(SCRATCH, struct.pack("<IIQ", 0, 8, 16))
        self.nvme.io.put(DSM, 1, SCRATCH, 0, {10: 0, 11: 4})
        self.assertEqual(self.nvme.finish().code, 0)
        self.tracked((8, 8, UNCORRECTABLE), (16, 8, MAYBE))
        self.assertEqual(self.ask(SCAN), (COMPLETE, [(8, 8, UNCORRECTABLE)]))
        self.tracked((8, 8, UNCORRECTABLE))
        self.reset()
        self.tracked((8, 8, UNCORRECTABLE))
        self.nvme.admin.put(FORMAT, 1)
        self.nvme.admin.ring()
        self.assertEqual(self.nvme.wait(self.nvme.admin).code, 0)
        self.tracked()
        self.assertEqual(self.io(WRITE_UNCORRECTABLE, 8, 16), 0)
        self.nvme.do_admin(SANITIZE, dwords={10: BLOCK_ERASE})
        self.refused(IN_PROGRESS, TRACKED)
        self.refused(IN_PROGRESS, SCAN)
        self.vm.step(SECOND_NS)
        self.tracked()
        self.assertEqual(self.ask(SCAN), (COMPLETE, []))

    def test_wrong_ones(self) -> None:
        self.start()
        self.nvme.do_admin(IDENTIFY, nsid=1, prp1=SCRATCH)
        blocks = struct.unpack("<Q", self.vm.read(SCRATCH, 8))[0]
        for action in (TRACKED, SCAN):
            for first, count in ((blocks, 0), (blocks, 1), (blocks - 1, 2), (LAST, 1), (2**64 - 1, 2), (2**64 - 1, 0)):
                self.refused(LBA_RANGE, action, first, count)
            self.assertEqual(self.ask(action, blocks - 1, 1), (COMPLETE, []))
            for nsid, code in ((0, INVALID_NSID), (2, INVALID_FIELD), (ANY, INVALID_NSID)):
                self.refused(code, action, nsid=nsid)
        for action in (0, 1, 2, 0x0F, 0x12, 0xFF):
            self.refused(INVALID_FIELD, action)
        self.nvme.get_log(LOG, 4, 16, code=INVALID_FIELD)

    def test_a_zoned_namespace(self) -> None:
        """A controller that has the command for another namespace refuses it for one with zones."""
        zns = {**drive("ssd1"), "profile": str(SMALL.with_name("zns-small.ini"))}
        self.vm = self.machine([drive(), zns], *TWO)
        self.nvme = Nvme(self.vm)
        self.nvme.enable()
        for action in (TRACKED, SCAN):
            self.refused(INVALID_FIELD, action, nsid=2)
            self.assertEqual(self.ask(action), (COMPLETE, []))

    def test_a_scan_takes_time_and_ends_with_a_reset(self) -> None:
        self.start()
        for page in range(16):
            self.assertEqual(self.nvme.do_write(page << 16, PAGE).code, 0)
        self.flush()
        self.put(SCAN)
        self.assertIsNone(self.nvme.admin.poll())
        self.reset()
        self.tracked()
        self.assertEqual(self.ask(SCAN), (COMPLETE, []))

    def test_a_format_meanwhile(self) -> None:
        """A scan that a format overtakes ends with Format In Progress, or before."""
        self.start()
        self.put(SCAN)
        self.nvme.admin.put(FORMAT, 1)
        self.nvme.admin.ring()
        codes = sorted(self.nvme.wait(self.nvme.admin).code for _ in range(2))
        self.assertEqual(codes[0], 0)
        self.assertIn(codes[1], (0, 0x84))
        self.assertEqual(self.ask(SCAN), (COMPLETE, []))

    def test_a_full_list(self) -> None:
        """128 ranges are kept; then the log recommends a scan, which finds them all."""
        self.start()
        for i in range(130):
            self.assertEqual(self.io(WRITE_UNCORRECTABLE, 16 * i, 8), 0)
        why, found = self.ask(TRACKED)
        self.assertEqual((why, len(found)), (COMPLETE, 128))
        recommended: list[tuple[int, int, list[tuple[int, int]]]] = [(1, SCAN, [])]
        for _ in range(2):
            self.assertEqual(self.status_log(), (1024, 1, recommended))
        why, found = self.ask(SCAN)
        self.assertEqual((why, [row[:2] for row in found]), (COMPLETE, [(16 * i, 8) for i in range(130)]))
        self.assertEqual(self.status_log(), (1024, 2, recommended), "two are left out again")
        for i in (5, 6, 129):
            self.assertEqual(self.io(WRITE, 16 * i, 8), 0)
        self.ask(SCAN, 100)
        self.assertEqual(self.status_log()[2], recommended, "the first blocks were not read")
        self.ask(SCAN, 0, 100)
        self.assertEqual(self.status_log()[2], recommended, "nor all, without a gap")
        self.ask(SCAN, 100)
        self.assertEqual(self.status_log()[2], [(1, TRACKED, [(16 * i, 8) for i in range(129) if i not in (5, 6)])])

    def test_a_write_during_a_scan(self) -> None:
        """A block that was written while the scan's read of it failed is not listed."""
        self.start()
        self.write_page()
        at = self.put(SCAN, 0, 1)
        self.assertEqual(self.io(WRITE, 0, 8), 0)
        self.assertIsNone(self.nvme.admin.poll(), "the read is under way")
        self.assertEqual(self.nvme.wait(self.nvme.admin).code, 0)
        self.assertEqual(self.vm.read(at, 8), struct.pack("<IB3x", 0, COMPLETE))
        self.tracked()
        self.assertEqual(self.io(READ, 0, 8), 0)


class Log(LbaStatus):
    """Test the log, its generation, and the event."""

    def request_event(self) -> None:
        """Enable the event and let it come."""
        self.set(EVENTS, NOTICES)
        self.nvme.admin.put(EVENT_REQUEST)
        self.nvme.admin.ring()

    def interval(self, value: int) -> int:
        """Set the report interval, in 100 ms; return the result."""
        return self.nvme.do_admin(SET_FEATURES, dwords={10: ATTRIBUTES, 11: value}).result

    def test_the_feature(self) -> None:
        self.start()
        self.assertEqual((self.feature(ATTRIBUTES), self.feature(ATTRIBUTES, 1 << 8)), (10 << 16 | 10, 10 << 16 | 10))
        for value, expected in ((0, 10), (9, 10), (11, 11), (0xFFFF, 0xFFFF), (77 << 16 | 20, 20)):
            self.assertEqual(self.interval(value), 10 << 16 | expected)
            self.assertEqual(self.feature(ATTRIBUTES), 10 << 16 | expected)
        self.assertEqual(self.feature(ATTRIBUTES, 3 << 8), 1 << 2, "changeable")
        self.reset()
        self.assertEqual(self.feature(ATTRIBUTES), 10 << 16 | 10)

    def test_a_log_that_is_held(self) -> None:
        self.start()
        self.assertEqual(self.io(WRITE_UNCORRECTABLE, 8, 8), 0)
        first = (8, 1, [(1, TRACKED, [(8, 8)])])
        self.assertEqual(self.status_log(RETAIN), first)
        self.assertEqual(self.io(WRITE_UNCORRECTABLE, 80, 8), 0)
        self.assertEqual(self.status_log(RETAIN), first, "it stays until the host has read it without the bit")
        self.assertEqual(self.status_log(), first, "a host reads the last part of a log so")
        self.assertEqual(self.status_log(), (16, 2, [(1, TRACKED, [(8, 8), (80, 8)])]))
        self.assertEqual(self.io(WRITE_UNCORRECTABLE, 80, 8), 0)
        self.assertEqual(self.status_log(), (16, 2, [(1, TRACKED, [(8, 8), (80, 8)])]), "nothing new")
        self.assertEqual(self.io(WRITE, 8, 8), 0)
        self.assertEqual(self.status_log(), (8, 2, [(1, TRACKED, [(80, 8)])]))

    def test_the_event(self) -> None:
        """It comes when the interval has passed since the host has read the log."""
        self.start()
        self.request_event()
        self.status_log()
        self.vm.step(SECOND_NS // 2)
        self.assertEqual(self.io(WRITE_UNCORRECTABLE, 8, 8), 0)
        self.vm.step(SECOND_NS // 2 - 100_000_000)
        self.assertEqual(self.nvme.admin.drain(), [])
        self.vm.step(100_000_000)
        self.assertEqual(self.event(), LOG << 16 | 5 << 8 | 2)
        self.nvme.admin.put(EVENT_REQUEST)
        self.nvme.admin.ring()
        self.vm.step(10 * SECOND_NS)
        self.assertEqual(self.nvme.admin.drain(), [], "the host was told")
        self.status_log()
        self.assertEqual(self.interval(30), 10 << 16 | 30)
        self.assertEqual(self.io(WRITE_UNCORRECTABLE, 16, 8), 0)
        self.vm.step(2 * SECOND_NS)
        self.assertEqual(self.nvme.admin.drain(), [])
        self.vm.step(SECOND_NS)
        self.assertEqual(self.event(), LOG << 16 | 5 << 8 | 2)

    def test_no_event(self) -> None:
        """None if the blocks are written before, or the host wants none."""
        self.start()
        self.request_event()
        self.assertEqual(self.io(WRITE_UNCORRECTABLE, 8, 8), 0)
        self.assertEqual(self.io(WRITE, 8, 8), 0)
        self.vm.step(2 * SECOND_NS)
        self.assertEqual(self.nvme.admin.drain(), [])
        self.set_events(0)
        self.assertEqual(self.io(WRITE_UNCORRECTABLE, 8, 8), 0)
        self.vm.step(2 * SECOND_NS)
        self.assertEqual(self.nvme.admin.drain(), [])

    def set_events(self, value: int) -> None:
        """Choose the events, while a request for one waits."""
        self.nvme.do_admin(SET_FEATURES, dwords={10: EVENTS, 11: value})

    def event(self) -> int:
        """Return the event that has come."""
        completion: Completion | None = self.nvme.admin.poll()
        assert completion, "no event"
        return completion.result

    def test_two_namespaces(self) -> None:
        self.vm = self.machine([drive(), drive("ssd1")], *TWO)
        self.nvme = Nvme(self.vm)
        self.nvme.enable()
        for nsid, lba in ((2, 8), (1, 16), (2, 24)):
            self.nvme.io.put(WRITE_UNCORRECTABLE, nsid, 0, 0, {10: lba, 12: 7})
            self.assertEqual(self.nvme.finish().code, 0)
        self.assertEqual(self.status_log(), (24, 1, [(1, TRACKED, [(16, 8)]), (2, TRACKED, [(8, 8), (24, 8)])]))
        self.tracked((16, 8, UNCORRECTABLE))

    def test_namespaces_of_a_table(self) -> None:
        """Each has a list of its own, which a loss of power leaves to it, and which goes with it."""
        self.start([drive(drive__namespaces=2)], f"{CONTROLLER},namespaces={1 << 20}:512;{1 << 20}:4096")
        self.nvme.io.put(WRITE_UNCORRECTABLE, 2, 0, 0, {10: 3, 12: 0})
        self.assertEqual(self.nvme.finish().code, 0)
        self.flush()
        self.assertEqual(self.status_log(), (1, 1, [(2, TRACKED, [(3, 1)])]))
        self.vm.qmp("x-nand-ssd-power-cut", node_name="ssd0")
        self.vm.step(1_000_000)
        self.nvme = power_on(self.vm, 1_000_000)  # the table is read, too
        self.assertEqual(self.ask(TRACKED, nsid=2), (COMPLETE, [(3, 1, MAYBE)]))
        for nsid, found in ((1, []), (2, [(3, 1, FAILED)])):
            self.assertEqual(self.ask(SCAN, nsid=nsid), (COMPLETE, found))
        self.refused(INVALID_NSID, TRACKED, nsid=3)
        for nsid, how, data in ((2, 1, b""), (0, 0, struct.pack("<QQ", 256, 256).ljust(26, b"\0") + b"\4")):
            self.vm.write(SCRATCH, data.ljust(4096, b"\0"))
            self.nvme.admin.put(0x0D, nsid, SCRATCH, dwords={10: how})
            self.nvme.admin.ring()
            self.assertEqual(self.nvme.wait(self.nvme.admin).code, 0)
        self.vm.write(SCRATCH, struct.pack("<HH", 1, 0).ljust(4096, b"\0"))
        self.nvme.admin.put(0x15, 2, SCRATCH)
        self.nvme.admin.ring()
        self.assertEqual(self.nvme.wait(self.nvme.admin).code, 0)
        for action in (TRACKED, SCAN):
            self.assertEqual(self.ask(action, nsid=2), (COMPLETE, []))

    def test_media_errors(self) -> None:
        """A read of one bad block counts one error; a scan reads it alone, and with others before."""
        self.start()
        self.assertEqual(self.io(WRITE_UNCORRECTABLE, 8, 8), 0)
        self.assertEqual(self.io(READ, 8, 1), UNREADABLE | DNR)
        self.assertEqual(struct.unpack_from("<Q", self.log(SMART, 512), 160)[0], 1)


if __name__ == "__main__":
    unittest.main()

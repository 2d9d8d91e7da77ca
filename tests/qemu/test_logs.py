# SPDX-License-Identifier: GPL-2.0-or-later
"""Test logs, features and answers of the controller that a host's tools read: what is supported, errors, health."""

from __future__ import annotations

import struct
import unittest

from support import Json, drive

import test_fdp
from nvme import FLUSH, GET_LOG, IDENTIFY, READ, SET_FEATURES, WRITE, Nvme, power_cycle
from test_nvme import CONTROLLER, PAGE, SCRATCH, NvmeTest

SUPPORTED, ERRORS, SMART, EFFECTS, SELF_TEST, GROUP, FEATURES, MANAGEMENT, OCP = 0, 1, 2, 5, 6, 9, 0x12, 0x13, 0xC0
BY_HOST, BY_CONTROLLER, PERSISTENT, LBA_STATUS, SANITIZE = 0x07, 0x08, 0x0D, 0x0E, 0x81
GET_FEATURES, FORMAT, WRITE_UNCORRECTABLE, VERIFY = 0x0A, 0x80, 0x04, 0x0C
THRESHOLD, WRITE_CACHE, ATOMICITY, EVENTS, TIMESTAMP, BEHAVIOUR = 0x04, 0x06, 0x0A, 0x0B, 0x0E, 0x16
ANY = 0xFFFFFFFF
INVALID_OPCODE, INVALID_FIELD, INVALID_NSID, LBA_RANGE, UNREADABLE = 0x01, 0x02, 0x0B, 0x80, 0x281
DNR = 1 << 14
DEFAULT = 1 << 8  # Select: the default value
WARNING_K = 0x157
ENTRIES, ENTRY = 64, 64
LBA = 512
OTHER: Json = {"driver": "null-co", "node-name": "ssd0", "size": 1 << 20}
SLATE_LOGS = {*range(0xD0, 0xD8)}
DRIVE_LOGS = {SELF_TEST, BY_HOST, BY_CONTROLLER, PERSISTENT, LBA_STATUS, SANITIZE, OCP} | SLATE_LOGS
PLAIN_LOGS = {*range(6), FEATURES, MANAGEMENT}


class LogsTest(NvmeTest):
    """Read logs and features."""

    def log(self, number: int, size: int, offset: int = 0) -> bytes:
        """Return a log of the controller, of any size."""
        data = b""
        while len(data) < size:
            data += self.nvme.get_log(number, min(size - len(data), 4096), offset + len(data), ANY)
        return data

    def feature(self, number: int, select: int = 0) -> int:
        """Return the value of a feature."""
        return self.nvme.do_admin(GET_FEATURES, dwords={10: number | select}).result

    def set(self, number: int, value: int) -> None:
        """Set a feature, which may take time."""
        self.nvme.admin.put(SET_FEATURES, dwords={10: number, 11: value})
        self.nvme.admin.ring()
        self.assertEqual(self.nvme.wait(self.nvme.admin).code, 0)

    def reset(self) -> None:
        """Reset the controller, and start it again."""
        self.nvme.disable()
        self.vm.step(1_000_000)
        self.nvme = Nvme(self.vm)
        self.nvme.enable()

    def io(self, opcode: int, lba: int = 0, blocks: int = 8) -> int:
        """Run an I/O command; return its status, with Do Not Retry."""
        self.nvme.io.put(opcode, 1, self.nvme.buffer(), 0, {10: lba, 12: blocks - 1})
        return self.nvme.finish().status


class Features(LogsTest):
    """Test values after a reset, and by default."""

    def test_a_reset_sets_the_defaults(self) -> None:
        self.start()
        self.set(THRESHOLD, 0x100)
        self.set(WRITE_CACHE, 0)
        self.set(EVENTS, 0x1F)
        self.set(ATOMICITY, 1)
        self.assertEqual(self.log(SMART, 512)[0], 2, "the temperature, 143h, is above the threshold")
        self.reset()
        self.assertEqual(self.log(SMART, 512)[0], 0)
        self.assertEqual(self.feature(THRESHOLD), WARNING_K)
        self.assertEqual(self.feature(THRESHOLD, DEFAULT), WARNING_K)
        self.assertEqual((self.feature(WRITE_CACHE), self.feature(EVENTS), self.feature(ATOMICITY)), (1, 0, 0))
        self.assertEqual(self.nvme.do_write(0, PAGE).code, 0)
        self.assertEqual(self.vm.stats()["total"]["ftl"]["fua-writes"], 0)

    def test_a_cut_sets_the_defaults(self) -> None:
        self.start()
        self.set(THRESHOLD, 0x100)
        self.nvme = power_cycle(self.vm, 1_000_000)
        self.assertEqual(self.feature(THRESHOLD), WARNING_K)

    def test_defaults(self) -> None:
        self.start()
        self.set(WRITE_CACHE, 0)
        self.set(ATOMICITY, 1)
        self.assertEqual((self.feature(WRITE_CACHE), self.feature(WRITE_CACHE, DEFAULT)), (0, 1))
        self.assertEqual((self.feature(ATOMICITY), self.feature(ATOMICITY, DEFAULT)), (1, 0))
        for number, size in ((TIMESTAMP, 8), (BEHAVIOUR, 512)):
            self.vm.write(SCRATCH, b"\xee" * 520)
            self.nvme.do_admin(GET_FEATURES, prp1=SCRATCH, dwords={10: number | DEFAULT})
            self.assertEqual(self.vm.read(SCRATCH, 520), bytes(size).ljust(520, b"\xee"))
        for select in range(4, 8):
            self.nvme.do_admin(GET_FEATURES, INVALID_FIELD, dwords={10: WRITE_CACHE | select << 8})

    def test_a_device_without_write_cache(self) -> None:
        self.start(device=f"{CONTROLLER},write-cache=off")
        self.assertEqual((self.feature(WRITE_CACHE), self.feature(WRITE_CACHE, DEFAULT)), (0, 0))
        self.set(WRITE_CACHE, 1)
        self.reset()
        self.assertEqual(self.feature(WRITE_CACHE), 0)

    def test_a_timestamp_begins_anew(self) -> None:
        self.start()
        self.vm.write(SCRATCH, struct.pack("<Q", 1_000_000))
        self.nvme.do_admin(SET_FEATURES, prp1=SCRATCH, dwords={10: TIMESTAMP})
        self.reset()
        self.vm.step(5_000_000)
        self.nvme.do_admin(GET_FEATURES, prp1=SCRATCH, dwords={10: TIMESTAMP})
        value = struct.unpack("<Q", self.vm.read(SCRATCH, 8))[0]
        self.assertLess(value & (1 << 48) - 1, 100, "ms since the reset")
        self.assertEqual(value >> 49, 0, "not set by the host")


class Errors(LogsTest):
    """Test the log of errors."""

    def entries(self) -> list[tuple[int, ...]]:
        """Return count, queue, command, status, parameter, LBA, namespace, command set and opcode of the entries."""
        data = self.log(ERRORS, ENTRIES * ENTRY)
        found = []
        for at in range(0, len(data), ENTRY):
            row = struct.unpack_from("<QHHHHQIxxBB", data, at)
            self.assertEqual(data[at + 63], row[0] != 0, "version")
            self.assertEqual(data[at + 32 : at + 63], bytes(31))
            found.append(row)
        return [row for row in found if row[0]]

    def counted(self) -> int:
        """Return the number of errors in the SMART log."""
        return int(struct.unpack_from("<Q", self.log(SMART, 512), 176)[0])

    def test_entries(self) -> None:
        self.start()
        self.nvme.do_admin(IDENTIFY, prp1=SCRATCH, dwords={10: 1})
        self.assertEqual(self.vm.read(SCRATCH + 262, 1)[0], ENTRIES - 1, "ELPE")
        self.assertEqual((self.entries(), self.counted()), ([], 0))
        slot = self.nvme.io.tail
        end = (256 << 20) // LBA
        self.assertEqual(self.io(READ, end - 1, 2), LBA_RANGE | DNR)
        read = (1, 1, 1 << 8 | slot, (LBA_RANGE | DNR) << 1, 0xFFFF, end - 1, 1, 0, READ)
        self.assertEqual(self.entries(), [read])
        slot = self.nvme.admin.tail
        self.nvme.do_admin(GET_LOG, INVALID_FIELD, nsid=ANY, dwords={10: 0x7F})
        wrong = (2, 0, slot, (INVALID_FIELD | DNR) << 1, 0xFFFF, 0, ANY, 0, GET_LOG)
        self.assertEqual((self.entries(), self.counted()), ([wrong, read], 2))
        self.assertEqual(self.log(ERRORS, 64, 64), self.log(ERRORS, 128)[64:])
        self.reset()
        self.assertEqual((self.entries(), self.counted()), ([], 2), "a reset empties the log and keeps the count")

    def test_the_newest_are_kept(self) -> None:
        self.start()
        for number in range(ENTRIES + 6):
            self.nvme.do_admin(0x7F, INVALID_OPCODE, nsid=number)
        self.assertEqual([row[6] for row in self.entries()], list(range(ENTRIES + 5, 5, -1)))
        self.assertEqual(self.counted(), ENTRIES + 6)
        self.nvme.get_log(ERRORS, 4, ENTRIES * ENTRY, code=INVALID_FIELD)

    def test_an_unreadable_block(self) -> None:
        """The host is told not to try again, so that one bad block is one media error."""
        self.start()
        self.assertEqual(self.io(WRITE, 0, 16), 0)
        self.assertEqual(self.io(WRITE_UNCORRECTABLE, 8, 8), 0)
        self.assertEqual(self.io(READ, 8, 8), UNREADABLE | DNR)
        self.assertEqual(struct.unpack_from("<Q", self.log(SMART, 512), 160)[0], 1, "media errors")
        self.assertEqual([(row[5], row[8]) for row in self.entries()], [(8, READ)])
        self.assertEqual(self.io(VERIFY, 8, 8), UNREADABLE | DNR)
        self.assertEqual(self.io(READ, 0, 8), 0)

    def test_what_the_host_ends_is_no_error(self) -> None:
        self.start()
        self.nvme.start(WRITE, data=PAGE)
        self.nvme.start(FLUSH)
        self.nvme.io.ring()
        self.reset()
        self.assertEqual((self.entries(), self.counted()), ([], 0))


class Tables(LogsTest):
    """Test what the controller says that it supports."""

    def logs(self) -> set[int]:
        """Return the supported logs, after a look whether exactly these can be read."""
        found = {i for i, word in enumerate(struct.unpack("<256I", self.log(SUPPORTED, 1024))) if word}
        for number in range(256):
            nsid, more = ANY, {}
            if number == GROUP or 0x20 <= number < 0x30:
                nsid, more = 0, {11: 1 << 16}
            if number == PERSISTENT:
                number |= 1 << 8  # else there is no context
            self.nvme.admin.put(GET_LOG, nsid, self.nvme.buffer(), dwords={10: number, **more})
            self.nvme.admin.ring()
            self.assertEqual(self.nvme.wait(self.nvme.admin).code == 0, number & 0xFF in found, hex(number))
        return found

    def test_logs(self) -> None:
        self.start()
        self.assertEqual(self.logs(), PLAIN_LOGS | DRIVE_LOGS)
        self.nvme.do_admin(IDENTIFY, prp1=SCRATCH, dwords={10: 1})
        self.assertEqual(self.vm.read(SCRATCH + 261, 1)[0], 1 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5, "LPA")
        for number, size in ((SUPPORTED, 1024), (FEATURES, 1024), (MANAGEMENT, 4096)):
            self.nvme.get_log(number, 4, size, code=INVALID_FIELD)
            self.nvme.get_log(number, 4, size - 4)
        self.assertEqual(self.log(MANAGEMENT, 4096), bytes(4096))

    def test_logs_of_a_drive_with_a_table(self) -> None:
        self.start([drive(drive__namespaces=2)])
        self.assertEqual(self.logs(), PLAIN_LOGS | DRIVE_LOGS)

    def test_logs_of_other_drives(self) -> None:
        self.start([OTHER])
        self.assertEqual(self.logs(), PLAIN_LOGS)

    def test_logs_of_a_drive_with_handles(self) -> None:
        self.vm = self.machine([test_fdp.with_handles()], *test_fdp.machine_args())
        self.nvme = Nvme(self.vm)
        self.nvme.enable()
        self.assertEqual(self.logs(), PLAIN_LOGS | DRIVE_LOGS | {GROUP, 0x20, 0x21, 0x22, 0x23})

    def test_features(self) -> None:
        self.start()
        words = struct.unpack("<256I", self.log(FEATURES, 1024))
        self.assertEqual([hex(i) for i, word in enumerate(words) if word],
                         ["0x1", "0x2", "0x4", "0x5", "0x6", "0x7", "0x8", "0x9", "0xa", "0xb", "0xe", "0x15", "0x16",
                          "0x19"])
        namespace, controller = 1 | 1 << 20, 1 | 1 << 21
        self.assertEqual((words[5], words[6], words[0x16]), (namespace, controller, controller | 1 << 2))
        for number, word in enumerate(words):
            self.nvme.admin.put(GET_FEATURES, 1, SCRATCH, dwords={10: number})
            self.nvme.admin.ring()
            self.assertEqual(self.nvme.wait(self.nvme.admin).code == 0, word != 0, hex(number))

    def test_scopes_of_commands(self) -> None:
        self.start()
        words = struct.unpack("<512I", self.log(EFFECTS, 2048))
        namespace, controller = 1 << 20, 1 << 21
        self.assertEqual(words[IDENTIFY], 1 | namespace | controller)
        self.assertEqual(words[FORMAT], 1 | 1 << 1 | 1 << 2 | namespace, "changes content and capabilities")
        self.assertEqual((words[256 + READ], words[256 + WRITE]), (1 | namespace, 1 | 1 << 1 | namespace))
        for number, word in enumerate(words[:256]):
            self.assertEqual(word & 1, word >> 20 != 0, hex(number))

    def test_options_of_the_controller(self) -> None:
        self.start(device=f"{CONTROLLER},mdts=5,aerl=7,max_ioqpairs=2")
        self.nvme.do_admin(IDENTIFY, prp1=SCRATCH, dwords={10: 1})
        data = self.vm.read(SCRATCH, 4096)
        self.assertEqual((data[77], data[259]), (5, 7), "MDTS, AERL")
        self.assertEqual(struct.unpack_from("<I", data, 80)[0], 1 << 16 | 4 << 8, "NVMe 1.4")
        self.assertEqual(self.feature(7), 1 << 16 | 1, "queues, counted from 0")

    def test_a_namespace_is_ready(self) -> None:
        for node in (drive(), OTHER):
            self.start([node])
            self.nvme.do_admin(IDENTIFY, nsid=1, prp1=SCRATCH, dwords={10: 8})
            self.assertEqual(self.vm.read(SCRATCH + 14, 1)[0], 1, "NSTAT")
            self.vm.close()

    def test_secure_erase(self) -> None:
        self.start()
        self.assertEqual(self.nvme.do_write(0, PAGE).code, 0)
        for kind in range(2, 8):
            self.nvme.do_admin(FORMAT, INVALID_FIELD, nsid=1, dwords={10: kind << 9})
            self.nvme.do_admin(FORMAT, INVALID_FIELD, nsid=ANY, dwords={10: kind << 9})
        self.assertEqual(self.nvme.do_read(0, 4096), PAGE)
        self.nvme.admin.put(FORMAT, 1, dwords={10: 1 << 9})
        self.nvme.admin.ring()
        self.assertEqual(self.nvme.wait(self.nvme.admin).code, 0)
        self.assertEqual(self.nvme.do_read(0, 4096), bytes(4096))

    def test_logs_of_the_drive_by_the_broadcast_namespace(self) -> None:
        self.start()
        for number in SLATE_LOGS:
            self.assertEqual(self.nvme.get_log(number, 4, nsid=ANY), b"SLOG", hex(number))
        self.assertEqual(self.nvme.get_log(0xD0, 64, nsid=ANY), self.nvme.get_log(0xD0, 64, nsid=1))
        self.vm.close()
        self.vm = self.machine([drive(), drive("ssd1")], "-device", "nvme,id=nvme0,serial=slate,bus=pcie.0,addr=4",
                               "-device", "nvme-ns,drive=ssd0,bus=nvme0", "-device", "nvme-ns,drive=ssd1,bus=nvme0")
        self.nvme = Nvme(self.vm)
        self.nvme.enable()
        self.nvme.get_log(0xD0, 4, nsid=ANY, code=INVALID_NSID)  # of which drive?
        self.assertEqual(self.nvme.get_log(0xD0, 4, nsid=2), b"SLOG")


class Media(LogsTest):
    """Test what logs say of the flash."""

    GUID = bytes.fromhex("c5af1028eabff2a49c4f6f7cc914d5af")

    def test_ocp(self) -> None:
        self.start()
        for number in range(3):
            self.assertEqual(self.nvme.do_write(number * 8192, PAGE * 2).code, 0)
            self.nvme.start(FLUSH)
            self.assertEqual(self.nvme.finish().code, 0)
        self.nvme.control(1)  # the drive's own counters begin anew
        self.assertEqual(self.nvme.do_write(0, PAGE).code, 0)
        self.nvme.start(FLUSH)
        self.assertEqual(self.nvme.finish().code, 0)
        self.assertEqual(self.nvme.do_read(8192, 4096), PAGE)
        data = self.log(OCP, 512)
        written, _, read, _ = struct.unpack_from("<4Q", data)
        self.assertEqual(written, 4 * 16384, "each flush programs a page")
        self.assertEqual(read, 16384)
        self.assertEqual(struct.unpack_from("<Q", data, 32)[0], 100 << 48, "no bad blocks")
        self.assertEqual(struct.unpack_from("<II", data, 88), (0, 0), "erases, at most and at least")
        self.assertEqual(data[120], (320 - 4) * 100 // 320, "free blocks")
        self.assertEqual(data[496:], self.GUID)
        self.assertEqual(struct.unpack_from("<Q", self.log(SMART, 512), 48)[0], 1, "28 KiB are a thousand blocks")

    def test_endurance_group(self) -> None:
        self.vm = self.machine([test_fdp.with_handles()], *test_fdp.machine_args())
        self.nvme = Nvme(self.vm)
        self.nvme.enable()
        at = self.nvme.buffer()

        def group() -> bytes:
            self.vm.write(at, b"\xee" * 512)
            self.nvme.do_admin(GET_LOG, prp1=at, dwords={10: GROUP | 127 << 16, 11: 1 << 16})
            return self.vm.read(at, 512)

        data = group()
        self.assertEqual((data[0], data[3], data[4], data[5]), (0, 100, 10, 0), "as the SMART log")
        self.assertEqual(struct.unpack_from("<6Q", data, 48), (0,) * 6)
        self.assertEqual(struct.unpack_from("<QQQQ", data, 160), (256 << 20, 0, 0, 0), "capacity, unallocated")
        self.assertEqual(self.nvme.do_write(0, PAGE).code, 0)
        self.nvme.start(FLUSH)
        self.assertEqual(self.nvme.finish().code, 0)
        self.assertEqual(self.nvme.do_read(0, 4096), PAGE)
        self.nvme.do_admin(0x7F, INVALID_OPCODE)
        data = group()
        self.assertEqual(struct.unpack_from("<QxxxxxxxxQxxxxxxxxQ", data, 48), (1, 1, 1), "10^9 bytes, rounded up")
        self.assertEqual(struct.unpack_from("<Q", data, 144)[0], 1, "errors")


class SelfTest(LogsTest):
    """Test the drive's test of itself."""

    SHORT, EXTENDED, ABORT = 1, 2, 15
    PASSED, ABORTED, RESET, FORMATTED, FAILED = 0, 1, 2, 4, 7
    IN_PROGRESS = 0x11D

    def begin(self, kind: int, nsid: int = ANY, code: int = 0) -> None:
        """Send the command Device Self-test."""
        self.nvme.do_admin(0x14, code, nsid=nsid, dwords={10: kind})

    def now(self) -> tuple[int, int]:
        """Return what is under way, and how far it is in per cent."""
        data = self.log(SELF_TEST, 4)
        return data[0], data[1]

    def results(self) -> list[tuple[int, ...]]:
        """Return kind, code, segment, what is valid, namespace, block and status of each result, the newest first."""
        data = self.log(SELF_TEST, 564)
        found: list[tuple[int, ...]] = []
        for at in range(4, 564, 28):
            status, segment, valid, _, nsid, block, kind, code = struct.unpack_from("<BBBxQIQBB2x", data, at)
            if status != 0xF:
                found.append((status >> 4, status & 0xF, segment, valid, nsid, block, kind << 8 | code))
        return found

    def until_done(self) -> None:
        """Let time pass until no test is under way."""
        for _ in range(2000):
            if not self.now()[0]:
                return
            self.vm.step(1_000_000)
        self.fail("the test does not end")

    def reads(self) -> int:
        """Return the pages that the host's reads have read."""
        return int(self.vm.stats()["total"]["nand"]["by-source"]["host"]["reads"])

    def test_what_is_read(self) -> None:
        self.start()
        self.nvme.do_admin(IDENTIFY, prp1=SCRATCH, dwords={10: 1})
        data = self.vm.read(SCRATCH, 4096)
        self.assertEqual(data[256] & 1 << 4, 1 << 4, "OACS")
        self.assertEqual((struct.unpack_from("<H", data, 316)[0], data[318]), (1, 1), "EDSTT in minutes, DSTO")
        self.assertEqual((self.now(), self.results()), ((0, 0), []))
        for page in (0, 10, 100):  # pages of 16 KiB, of which the short test reads those in the first 128 KiB of 4 MiB
            for part in range(2):
                self.assertEqual(self.nvme.do_write(page * 16384 + part * 8192, PAGE * 2).code, 0)
            self.nvme.start(FLUSH)
            self.assertEqual(self.nvme.finish().code, 0)
        for kind, pages in ((self.SHORT, 1), (self.EXTENDED, 3)):
            before = self.reads()
            self.begin(kind)
            self.assertEqual(self.now()[0], kind)
            self.begin(self.SHORT, code=self.IN_PROGRESS)
            self.until_done()
            self.assertEqual(self.reads() - before, pages)
            self.assertEqual(self.results()[0], (kind, self.PASSED, 0, 1, ANY, 0, 0))
        self.begin(self.EXTENDED, 0)  # the controller alone: nothing to read
        self.assertEqual(self.now(), (0, 0))
        self.assertEqual(self.results()[0], (self.EXTENDED, self.PASSED, 0, 0, 0, 0, 0))

    def test_a_bad_block_is_found(self) -> None:
        self.start()
        lba = (100 << 20) // LBA + 24
        self.assertEqual(self.io(WRITE_UNCORRECTABLE, lba, 8), 0)
        self.begin(self.SHORT, 1)
        self.until_done()
        self.assertEqual(self.results()[0], (self.SHORT, self.FAILED, 1, 15, 1, lba, UNREADABLE), "100 MiB are 25 * 4")
        self.assertEqual(self.io(WRITE_UNCORRECTABLE, 1000, 8), 0)
        self.begin(self.EXTENDED, 1)
        self.until_done()
        self.assertEqual(self.results()[0], (self.EXTENDED, self.FAILED, 1, 15, 1, 1000, UNREADABLE))
        self.assertEqual(len(self.results()), 2)

    def test_namespaces_of_a_table(self) -> None:
        self.start([drive(drive__namespaces=3)], f"{CONTROLLER},namespaces={1 << 20}:512;{1 << 20}:4096")
        self.nvme.io.put(WRITE_UNCORRECTABLE, 2, 0, 0, {10: 200, 12: 0})
        self.assertEqual(self.nvme.finish().code, 0)
        self.begin(self.EXTENDED, 1)
        self.until_done()
        self.begin(self.EXTENDED)
        self.until_done()
        self.begin(self.EXTENDED, 3, INVALID_FIELD)
        self.begin(self.EXTENDED, 4, INVALID_NSID)
        self.assertEqual(self.results(), [(self.EXTENDED, self.FAILED, 1, 15, 2, 200, UNREADABLE),
                                          (self.EXTENDED, self.PASSED, 0, 1, 1, 0, 0)])

    def test_what_ends_it(self) -> None:
        self.start()
        self.begin(self.ABORT)
        self.assertEqual(self.results(), [])
        self.begin(self.EXTENDED)
        self.begin(self.ABORT)
        self.assertEqual(self.results(), [(self.EXTENDED, self.ABORTED, 0, 1, ANY, 0, 0)])
        self.vm.step(1_000_000)
        for kind in (self.SHORT, self.EXTENDED):
            self.begin(kind)
            self.nvme.admin.put(FORMAT, 1)
            self.nvme.admin.ring()
            self.assertEqual(self.nvme.wait(self.nvme.admin).code, 0)
            self.assertEqual(self.results()[0], (kind, self.FORMATTED, 0, 1, ANY, 0, 0))
        self.vm.step(1_000_000)
        for _ in range(20):
            self.begin(self.EXTENDED)
            self.begin(self.ABORT)
            self.begin(self.EXTENDED, code=self.IN_PROGRESS)  # the read of the one that ended is under way
            self.vm.step(1_000_000)
        self.assertEqual({row[1] for row in self.results()}, {self.ABORTED})
        self.assertEqual(len(self.results()), 20)

    def test_resets_and_cuts(self) -> None:
        """They end the short test; the extended one goes on."""
        self.start()
        for page in range(20):
            self.assertEqual(self.nvme.do_write(page << 20, PAGE).code, 0)
        self.nvme.start(FLUSH)
        self.assertEqual(self.nvme.finish().code, 0)
        self.begin(self.SHORT)
        self.reset()
        self.assertEqual(self.results(), [(self.SHORT, self.RESET, 0, 1, ANY, 0, 0)])
        self.begin(self.EXTENDED)
        self.vm.step(500_000)
        self.reset()
        self.assertEqual(self.now()[0], self.EXTENDED)
        self.until_done()
        self.assertEqual(self.results()[0], (self.EXTENDED, self.PASSED, 0, 1, ANY, 0, 0))
        for kind, code in ((self.SHORT, self.RESET), (self.EXTENDED, self.PASSED)):
            self.begin(kind)
            self.vm.step(100_000)
            self.nvme = power_cycle(self.vm, 1_000_000)
            self.until_done()
            self.assertEqual(self.results()[0], (kind, code, 0, 1, ANY, 0, 0))

    def test_wrong_ones(self) -> None:
        self.start()
        for kind in (0, 3, 4, 13, 14):
            self.begin(kind, code=INVALID_FIELD)
        self.begin(self.SHORT, 2, INVALID_FIELD)
        self.begin(self.SHORT, 1 << 20, INVALID_NSID)
        self.nvme.get_log(SELF_TEST, 4, 564, code=INVALID_FIELD)
        self.assertEqual(self.results(), [])
        self.vm.close()
        self.start([OTHER])
        self.begin(self.SHORT, code=INVALID_OPCODE)


if __name__ == "__main__":
    unittest.main()

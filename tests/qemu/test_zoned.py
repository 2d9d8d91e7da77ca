# SPDX-License-Identifier: GPL-2.0-or-later
"""Test a drive with zones as a zoned namespace: states, limits, appends, times, what survives. zns-small.ini has 64
zones of 4 MiB on four planes, and up to 14 of them are active; its times are computed by hand here.
"""

from __future__ import annotations

import struct
import tempfile
import unittest
from pathlib import Path
from typing import Any, ClassVar

from support import ROOT, Json, MachineTest, drive, tool

import test_nvme
from nvme import DSM, FLUSH, FUA, IDENTIFY, READ, WRITE_ZEROES, Nvme, power_cycle

ZNS = ROOT / "nand-emu" / "profiles" / "zns-small.ini"
ZONES, ZONE, BLOCKS = 64, 4 << 20, 8192
LIMIT = 14
FRONT = 200 + 1000  # look-up, firmware
BUFFER = 2000
PAGE = 300 + (16384 + 1280) * 1250 // 1000 + 640_000  # command cycles, transfer, cell
ERASE = 300 + 3_500_000  # of one plane; each further plane of a die has its own command cycles

SEND, RECEIVE, APPEND, COPY = 0x79, 0x7A, 0x7D, 0x19
CLOSE, FINISH, OPEN, RESET, OFFLINE, EXTENSION, FLUSH_AREA = 1, 2, 3, 4, 5, 0x10, 0x11
ALL = 1 << 8
EMPTY, IMPLICIT, EXPLICIT, CLOSED, FULL = 1, 2, 3, 4, 0xE
INVALID_OPCODE, INVALID_FIELD, INTERRUPTED, LBA_RANGE = 0x01, 0x02, 0x21, 0x80
BOUNDARY, IS_FULL, INVALID_WRITE, TOO_MANY_ACTIVE, TOO_MANY_OPEN, TRANSITION = 0x1B8, 0x1B9, 0x1BC, 0x1BD, 0x1BE, 0x1BF
INVALID_ZONE_OP = 0x1B6
NO_POINTER = 2**64 - 1

PAGE4K = bytes(range(256)) * 16
OTHER = bytes(reversed(range(256))) * 16


def zoned(node: str = "ssd0", **settings: Any) -> Json:
    """Return the options of a drive with zones."""
    return {**drive(node, **settings), "profile": str(ZNS)}


class Zone:
    """A zone descriptor."""

    def __init__(self, data: bytes) -> None:
        self.type, self.state, self.attributes, _, self.capacity, self.start, self.pointer = struct.unpack(
            "<BBBB4xQQQ32x", data
        )
        self.state >>= 4


class ZonesTest(test_nvme.NvmeTest):
    """Test a machine with a zoned namespace."""

    file: Json | None = None

    def start(self, blockdevs: list[Json] | None = None, device: str = test_nvme.CONTROLLER, **settings: Any) -> Nvme:
        """Return the running controller, with all command sets."""
        self.settings = settings
        self.vm = self.machine(blockdevs or [{**zoned(**settings), **(self.file or {})}], "-device", device)
        self.nvme = Nvme(self.vm)
        self.nvme.enable(css=6)
        return self.nvme

    # ---- commands; their status is returned ----

    def send(self, zone: int, action: int) -> int:
        """Send Zone Management Send to the zone with this number."""
        lba = zone * BLOCKS
        self.nvme.io.put(SEND, 1, dwords={10: lba & 0xFFFFFFFF, 11: lba >> 32, 13: action})
        return self.nvme.finish().code

    def write(self, lba: int, data: bytes = PAGE4K, flags: int = 0) -> int:
        """Write at a logical block."""
        return self.nvme.do_write(lba * 512, data, flags).code

    def append(self, zone: int, data: bytes = PAGE4K, at: int = 0) -> tuple[int, int]:
        """Send Zone Append; return the status and the logical block."""
        nvme = self.nvme
        nvme.start(APPEND, zone * ZONE + at * 512, data=data)
        tail = nvme.io.head
        code = nvme.finish().code
        low, high = struct.unpack("<II", self.vm.read(nvme.io.cq + 16 * tail, 8))
        return code, high << 32 | low

    def receive(
        self, lba: int = 0, kind: int = 0, partial: int = 0, size: int = 8192, action: int = 0
    ) -> tuple[int, bytes]:
        """Send Zone Management Receive; return the status and the data."""
        nvme = self.nvme
        at = nvme.buffer()
        self.vm.write(at, b"\xee" * size)
        nvme.io.put(
            RECEIVE,
            1,
            at,
            at + 4096 if size > 4096 else 0,
            {10: lba & 0xFFFFFFFF, 11: lba >> 32, 12: size // 4 - 1, 13: action | kind << 8 | partial << 16},
        )
        code = nvme.finish().code
        return code, self.vm.read(at, size)

    def report(self, lba: int = 0, kind: int = 0, partial: int = 0, size: int = 8192) -> tuple[int, list[Zone]]:
        """Return the number of zones that a report names, and the descriptors."""
        code, data = self.receive(lba, kind, partial, size)
        self.assertEqual(code, 0)
        number = struct.unpack_from("<Q", data)[0]
        room = (size - 64) // 64
        return number, [Zone(data[64 * i : 64 * i + 64]) for i in range(1, min(number, room) + 1)]

    def zone(self, number: int) -> Zone:
        """Return a zone's descriptor."""
        return self.report(number * BLOCKS, size=128)[1][0]

    def states(self, count: int) -> list[int]:
        """Return the states of the first zones."""
        return [zone.state for zone in self.report()[1][:count]]

    def bring(self, zone: int, state: int) -> None:
        """Bring an empty zone to a state."""
        if state not in (EMPTY, EXPLICIT):
            self.assertEqual(self.write(zone * BLOCKS), 0)
        if state == EXPLICIT:
            self.assertEqual(self.send(zone, OPEN), 0)
        if state == CLOSED:
            self.assertEqual(self.send(zone, CLOSE), 0)
        if state == FULL:
            self.assertEqual(self.send(zone, FINISH), 0)
        self.assertEqual(self.zone(zone).state, state)

    def latency(self) -> int:
        """Return the time of the last request in the drive."""
        return int(self.last("done")["latency"])

    def zeroes(self, lba: int, blocks: int) -> int:
        """Send Write Zeroes; return the status."""
        self.nvme.io.put(WRITE_ZEROES, 1, dwords={10: lba & 0xFFFFFFFF, 11: lba >> 32, 12: blocks - 1 | 1 << 25})
        self.nvme.io.ring()
        return self.nvme.wait(self.nvme.io, grain_ns=10**6).code

    def fill(self, zone: int) -> None:
        """Write a whole zone; only the last eight kilobytes are not zeroes."""
        self.assertEqual(self.zeroes(zone * BLOCKS, BLOCKS - 16), 0)
        self.assertEqual(self.write((zone + 1) * BLOCKS - 16, PAGE4K + OTHER), 0)


class Reports(ZonesTest):
    """Test Identify and Zone Management Receive."""

    def test_identify(self) -> None:
        nvme = self.start()
        nvme.do_admin(IDENTIFY, nsid=1, prp1=test_nvme.SCRATCH, dwords={10: 5, 11: 2 << 24})
        data = self.vm.read(test_nvme.SCRATCH, 4096)
        zoc, ozcs, mar, mor = struct.unpack_from("<HHII", data)
        self.assertEqual((zoc, ozcs, mar, mor), (0, 0, LIMIT - 1, LIMIT - 1))
        self.assertEqual(struct.unpack_from("<QB", data, 2816), (BLOCKS, 0), "size of a zone, and no extension")

    def test_the_command_set_is_in_the_descriptors(self) -> None:
        nvme = self.start()
        nvme.do_admin(IDENTIFY, nsid=1, prp1=test_nvme.SCRATCH, dwords={10: 3})
        data, found = self.vm.read(test_nvme.SCRATCH, 4096), {}
        while data[0]:
            found[data[0]] = data[4 : 4 + data[1]]
            data = data[4 + data[1] :]
        self.assertEqual(found[4], b"\2")

    def test_size(self) -> None:
        nvme = self.start()
        nvme.do_admin(IDENTIFY, nsid=1, prp1=test_nvme.SCRATCH, dwords={10: 0})
        self.assertEqual(struct.unpack_from("<Q", self.vm.read(test_nvme.SCRATCH, 8))[0], ZONES * BLOCKS)

    def test_fresh_drive(self) -> None:
        self.start()
        number, zones = self.report()
        self.assertEqual(number, ZONES)
        for i, zone in enumerate(zones):
            self.assertEqual(
                (zone.type, zone.state, zone.attributes, zone.capacity, zone.start, zone.pointer),
                (2, EMPTY, 0, BLOCKS, i * BLOCKS, i * BLOCKS),
            )

    def test_capacity_below_size(self) -> None:
        self.start(geometry__pages_per_block=48)
        zone = self.zone(1)
        self.assertEqual((zone.capacity, zone.start), (BLOCKS * 3 // 4, BLOCKS))

    def test_from_the_middle(self) -> None:
        """A report begins with the zone that the block is in."""
        self.start()
        number, zones = self.report(60 * BLOCKS + 17)
        self.assertEqual((number, [zone.start for zone in zones]), (4, [i * BLOCKS for i in range(60, 64)]))

    def test_room_for_two(self) -> None:
        self.start()
        for partial, says in ((0, ZONES), (1, 2)):
            number, zones = self.report(partial=partial, size=64 + 2 * 64 + 32)
            self.assertEqual((number, len(zones)), (says, 2))

    def test_filters(self) -> None:
        self.start()
        kinds = (EMPTY, IMPLICIT, EXPLICIT, CLOSED, FULL)
        for zone, state in enumerate(kinds):
            self.bring(zone, state)
        for kind, (state, count) in enumerate(zip(kinds, (ZONES - 4, 1, 1, 1, 1)), 1):
            number, zones = self.report(kind=kind)
            self.assertEqual((number, {zone.state for zone in zones}), (count, {state}))
        for kind in (6, 7):
            self.assertEqual(self.report(kind=kind), (0, []))

    def test_time(self) -> None:
        self.start()
        self.report()
        self.assertEqual(self.latency(), FRONT)

    def test_wrong(self) -> None:
        self.start()
        self.assertEqual(self.receive(lba=ZONES * BLOCKS)[0], LBA_RANGE)
        self.assertEqual(self.receive(action=1)[0], INVALID_FIELD, "no extensions")
        self.assertEqual(self.receive(action=2)[0], INVALID_FIELD)
        self.assertEqual(self.receive(kind=8)[0], INVALID_FIELD)
        self.assertEqual(self.receive(size=60)[0], INVALID_FIELD, "less than the header")


class States(ZonesTest):
    """Try every action in every state of NVMe's state machine."""

    # for each state: what open, close, finish and reset lead to; None: an invalid transition
    table: ClassVar = {
        EMPTY: (EXPLICIT, None, FULL, EMPTY),
        IMPLICIT: (EXPLICIT, CLOSED, FULL, EMPTY),
        EXPLICIT: (EXPLICIT, CLOSED, FULL, EMPTY),
        CLOSED: (EXPLICIT, CLOSED, FULL, EMPTY),
        FULL: (None, None, FULL, EMPTY),
    }

    def test_table(self) -> None:
        self.start()
        for row, (state, ends) in enumerate(self.table.items()):
            for column, (action, end) in enumerate(zip((OPEN, CLOSE, FINISH, RESET), ends)):
                zone = 4 * row + column
                self.bring(zone, state)
                self.assertEqual(self.send(zone, action), 0 if end else TRANSITION, (state, action))
                self.assertEqual(self.zone(zone).state, end or state, (state, action))
                self.send(zone, RESET)

    def test_write_pointers(self) -> None:
        self.start()
        self.assertEqual(self.write(BLOCKS), 0)
        self.assertEqual(self.zone(1).pointer, BLOCKS + 8)
        self.assertEqual(self.send(1, FINISH), 0)
        self.assertEqual(self.zone(1).pointer, NO_POINTER)
        self.assertEqual(self.send(1, RESET), 0)
        self.assertEqual(self.zone(1).pointer, BLOCKS)

    def test_the_last_byte_makes_it_full(self) -> None:
        self.start()
        self.fill(3)
        self.assertEqual(self.zone(3).state, FULL)
        self.assertEqual(self.write(3 * BLOCKS), IS_FULL)
        self.assertEqual(self.nvme.do_read(4 * ZONE - 8192, 8192), PAGE4K + OTHER)

    def test_all_zones_at_once(self) -> None:
        self.start()
        for zone, state in enumerate((EMPTY, IMPLICIT, EXPLICIT, CLOSED, FULL)):
            self.bring(zone, state)
        for action, states in (
            (CLOSE, [EMPTY, CLOSED, CLOSED, CLOSED, FULL]),
            (OPEN, [EMPTY, EXPLICIT, EXPLICIT, EXPLICIT, FULL]),
            (FINISH, [EMPTY, FULL, FULL, FULL, FULL]),
            (RESET, [EMPTY] * 5),
            (RESET, [EMPTY] * 5),
        ):
            self.assertEqual(self.send(99, action | ALL), 0)
            self.assertEqual(self.states(5), states)

    def test_offline(self) -> None:
        """Only a read-only zone can be taken offline (test_zones_changed.py)."""
        self.start()
        self.assertEqual(self.send(0, OFFLINE), TRANSITION)
        self.assertEqual(self.send(0, OFFLINE | ALL), 0, "no zone is read-only")

    def test_wrong(self) -> None:
        self.start()
        self.nvme.io.put(SEND, 1, dwords={10: 1, 13: OPEN})
        self.assertEqual(self.nvme.finish().code, INVALID_FIELD, "not the first block of a zone")
        self.assertEqual(self.send(ZONES, OPEN), LBA_RANGE)
        for action in (0, 6, EXTENSION, FLUSH_AREA | ALL):
            self.assertEqual(self.send(0, action), INVALID_FIELD, action)
        self.assertEqual(self.send(0, FLUSH_AREA), INVALID_ZONE_OP)
        self.assertEqual(self.send(0, OPEN | 1 << 9), INVALID_ZONE_OP, "a random write area")
        self.assertEqual(self.states(1), [EMPTY])


class Limits(ZonesTest):
    """Test the limits of open and active zones."""

    def test_active(self) -> None:
        self.start()
        for zone in range(LIMIT):
            self.bring(zone, CLOSED)
        self.assertEqual(self.write(LIMIT * BLOCKS), TOO_MANY_ACTIVE)
        self.assertEqual(self.append(LIMIT)[0], TOO_MANY_ACTIVE)
        self.assertEqual(self.send(LIMIT, OPEN), TOO_MANY_ACTIVE)
        self.assertEqual(self.zone(LIMIT).state, EMPTY)
        self.assertEqual(self.send(0, FINISH), 0)
        self.assertEqual(self.write(LIMIT * BLOCKS), 0)

    def test_open(self) -> None:
        self.start(ftl__zone_open_max=3)
        for zone in range(3):
            self.bring(zone, EXPLICIT)
        self.assertEqual(self.send(3, OPEN), TOO_MANY_OPEN)
        self.assertEqual(self.write(3 * BLOCKS), TOO_MANY_OPEN)
        self.assertEqual(self.send(1, CLOSE), 0)
        self.assertEqual(self.write(3 * BLOCKS), 0)

    def test_an_implicitly_open_zone_gives_way(self) -> None:
        self.start(ftl__zone_open_max=3)
        for zone in range(4):
            self.assertEqual(self.write(zone * BLOCKS), 0)
        self.assertEqual(self.states(4), [CLOSED, IMPLICIT, IMPLICIT, IMPLICIT])

    def test_not_all_can_be_opened(self) -> None:
        """An open of all zones opens none of them if that would exceed the limit."""
        self.start(ftl__zone_open_max=3)
        for zone in range(4):
            self.bring(zone, CLOSED)
        self.assertEqual(self.send(0, OPEN | ALL), TOO_MANY_OPEN)
        self.assertEqual(self.states(4), [CLOSED] * 4)
        self.assertEqual(self.send(0, RESET), 0)
        self.assertEqual(self.send(0, OPEN | ALL), 0)
        self.assertEqual(self.states(4), [EMPTY] + [EXPLICIT] * 3)


class Writes(ZonesTest):
    """Test writes, appends and reads."""

    def test_not_at_the_pointer(self) -> None:
        self.start()
        self.assertEqual(self.write(8), INVALID_WRITE)
        self.assertEqual(self.zone(0).state, EMPTY)
        self.assertEqual(self.write(0), 0)
        for lba in (0, 7, 9):
            self.assertEqual(self.write(lba), INVALID_WRITE)
        self.assertEqual(self.write(8, OTHER), 0)
        self.assertEqual(self.nvme.do_read(0, 8192), PAGE4K + OTHER)

    def test_half_a_kilobyte(self) -> None:
        self.start()
        for lba in range(8):
            self.assertEqual(self.write(lba, bytes([lba + 1]) * 512), 0)
        self.assertEqual(self.nvme.do_read(0, 4096), b"".join(bytes([i + 1]) * 512 for i in range(8)))

    def test_append_tells_the_block(self) -> None:
        self.start()
        self.assertEqual(self.append(2), (0, 2 * BLOCKS))
        self.assertEqual(self.append(2, OTHER + PAGE4K), (0, 2 * BLOCKS + 8))
        self.assertEqual(self.write(2 * BLOCKS + 24, OTHER), 0)
        self.assertEqual(self.append(2, b"x" * 512), (0, 2 * BLOCKS + 32))
        self.assertEqual(self.zone(2).pointer, 2 * BLOCKS + 33)
        self.assertEqual(self.nvme.do_read(2 * ZONE + 4096, 8192), OTHER + PAGE4K)
        self.assertEqual(self.nvme.do_read(2 * ZONE + 16384, 512), b"x" * 512)

    def test_appends_in_flight(self) -> None:
        """Appends in flight at the same time are written one after another, in the order of submission."""
        nvme = self.start()
        for i in range(16):
            nvme.start(APPEND, ZONE, data=bytes([i + 1]) * 4096)
        nvme.io.ring()
        where = {}
        for _ in range(16):
            done = nvme.wait(nvme.io)
            self.assertEqual(done.code, 0)
            where[done.cid & 0xFF] = done.result
        first = min(where)
        for slot, lba in where.items():
            self.assertEqual(lba, BLOCKS + 8 * (slot - first))
            self.assertEqual(nvme.do_read(lba * 512, 4096), bytes([slot - first + 1]) * 4096)

    def test_append_at_the_wrong_place(self) -> None:
        self.start()
        self.assertEqual(self.append(2, at=8)[0], INVALID_FIELD)
        self.assertEqual(self.zone(2).state, EMPTY)

    def test_beyond_the_capacity(self) -> None:
        self.start(geometry__pages_per_block=48, ftl__capacity_mib=256)
        end = BLOCKS * 3 // 4
        self.assertEqual(self.zeroes(0, end - 8), 0)
        self.assertEqual(self.write(end - 8, PAGE4K + OTHER), BOUNDARY)
        self.assertEqual(self.append(0, PAGE4K + OTHER)[0], BOUNDARY)
        self.assertEqual(self.append(0), (0, end - 8))
        self.assertEqual(self.zone(0).state, FULL)
        self.assertEqual(self.nvme.do_read(end * 512, 4096), bytes(4096), "between capacity and size")

    def test_the_last_zone(self) -> None:
        """An append names the zone's first block, so its length may seem to end behind the namespace."""
        self.start()
        last = ZONES - 1
        self.assertEqual(self.zeroes(last * BLOCKS, BLOCKS - 8), 0)
        self.assertEqual(self.append(last, PAGE4K + OTHER)[0], BOUNDARY)
        self.assertEqual(self.append(last), (0, ZONES * BLOCKS - 8))

    def test_reads(self) -> None:
        nvme = self.start()
        self.assertEqual(nvme.do_read(5 * ZONE, 4096), bytes(4096), "never written")
        nvme.start(READ, ZONE - 4096, size=8192)
        self.assertEqual(nvme.finish().code, BOUNDARY)
        self.assertEqual(nvme.do_read(ZONE - 4096, 4096), bytes(4096))

    def test_reads_across_zones(self) -> None:
        """Reads may cross zones if the drive allows it; sectors beyond a zone's capacity read as zeroes."""
        nvme = self.start(ftl__zone_cross_reads="yes", geometry__pages_per_block=48)
        nvme.do_admin(IDENTIFY, nsid=1, prp1=test_nvme.SCRATCH, dwords={10: 5, 11: 2 << 24})
        self.assertEqual(struct.unpack_from("<H", self.vm.read(test_nvme.SCRATCH, 4), 2)[0], 1)
        self.assertEqual(self.write(BLOCKS, OTHER), 0)
        self.assertEqual(nvme.do_read(ZONE - 4096, 8192), bytes(4096) + OTHER)
        nvme.start(READ, ZONES * ZONE - 4096, size=8192)
        self.assertEqual(nvme.finish().code, LBA_RANGE)

    def test_write_zeroes(self) -> None:
        nvme = self.start()
        self.assertEqual(self.write(0), 0)
        for lba, code in ((0, INVALID_WRITE), (8, 0), (9, INVALID_WRITE)):
            self.assertEqual(self.zeroes(lba, 256), code, lba)
        self.assertEqual(self.zone(0).pointer, 8 + 256)
        self.assertEqual(nvme.do_read(4096, 4096), bytes(4096))

    def test_deallocate_changes_nothing(self) -> None:
        nvme = self.start()
        self.assertEqual(self.write(0), 0)
        self.vm.write(test_nvme.SCRATCH, struct.pack("<IIQ", 0, 8, 0))
        nvme.io.put(DSM, 1, test_nvme.SCRATCH, dwords={10: 0, 11: 4})
        self.assertEqual(nvme.finish().code, 0)
        self.assertEqual(nvme.do_read(0, 4096), PAGE4K)

    def test_copy(self) -> None:
        """A copy goes to the write pointer of another zone. Any other destination is refused."""
        nvme = self.start()
        self.assertEqual(self.write(0, PAGE4K + OTHER), 0)
        self.vm.write(test_nvme.SCRATCH, struct.pack("<QQH14x", 0, 0, 15))
        for lba, code in ((BLOCKS, 0), (BLOCKS, INVALID_WRITE), (BLOCKS + 16, 0)):
            self.vm.write(test_nvme.SCRATCH, struct.pack("<QQH14x", 0, 0, 15))
            nvme.io.put(COPY, 1, test_nvme.SCRATCH, dwords={10: lba, 11: 0, 12: 0})
            self.assertEqual(nvme.finish().code, code)
        self.assertEqual(self.zone(1).pointer, BLOCKS + 32)
        self.assertEqual(nvme.do_read(ZONE + 8192, 8192), PAGE4K + OTHER)

    def test_format_is_refused(self) -> None:
        nvme = self.start()
        nvme.admin.put(0x80, 1, dwords={10: 0})
        nvme.admin.ring()
        self.assertEqual(nvme.wait(nvme.admin).code, 0x10A)


class Times(ZonesTest):
    """Test times of commands that find an idle drive."""

    def test_writes(self) -> None:
        self.start()
        self.assertEqual(self.write(0), 0)
        self.assertEqual(self.latency(), BUFFER + FRONT)
        self.assertEqual(self.append(0)[0], 0)
        self.assertEqual(self.latency(), BUFFER + FRONT)
        self.assertEqual(self.write(16, flags=FUA), 0)
        self.assertEqual(self.latency(), PAGE + BUFFER + FRONT, "a record of the log")

    def test_changes_of_state(self) -> None:
        self.start()
        for action in (OPEN, CLOSE):
            self.assertEqual(self.send(0, action), 0)
            self.assertEqual(self.latency(), FRONT)

    def test_finish(self) -> None:
        self.start()
        self.assertEqual(self.send(0, FINISH), 0)
        self.assertEqual(self.latency(), PAGE + FRONT, "the end is on flash")
        self.assertEqual(self.send(0, FINISH), 0)
        self.assertEqual(self.latency(), FRONT)

    def test_reset_is_an_erase(self) -> None:
        self.start()
        self.assertEqual(self.send(0, RESET), 0)
        self.assertEqual(self.latency(), FRONT, "it is empty")
        self.fill(0)
        self.nvme.start(FLUSH)
        self.nvme.finish()
        before = self.vm.stats()["total"]["nand"]["by-source"]["host"]["erases"]
        self.assertEqual(self.send(0, RESET), 0)
        self.assertEqual(self.latency(), PAGE + ERASE + 300 + FRONT, "its record, then both planes of each die")
        self.assertEqual(self.vm.stats()["total"]["nand"]["by-source"]["host"]["erases"], before + 4)
        self.assertEqual(self.nvme.do_read(0, 4096), bytes(4096))

    def test_reset_of_all_works_side_by_side(self) -> None:
        """Two zones share their planes, so their erases wait for each other, and for no other erase."""
        self.start()
        for zone in range(2):
            for lba in (0, 16):
                self.assertEqual(self.write(zone * BLOCKS + lba, PAGE4K + OTHER), 0)
        self.nvme.start(FLUSH)
        self.nvme.finish()
        begin = int(self.last("done")["done"])
        self.assertEqual(self.send(0, RESET | ALL), 0)
        self.assertEqual(self.states(2), [EMPTY, EMPTY])
        ends = [int(done["done"]) for done in self.vm.trace("done")][-3:-1]
        self.assertLess(max(ends) - begin, 2 * (PAGE + ERASE) + 10**6)

    def test_counters(self) -> None:
        self.start()
        self.append(0)
        self.send(1, OPEN)
        self.send(1, CLOSE)
        self.send(1, CLOSE)
        self.send(0, FINISH)
        self.send(0, RESET)
        self.send(2, CLOSE)
        self.report()
        ftl = self.vm.stats()["total"]["ftl"]
        names = ("appends", "opens", "closes", "finishes", "resets", "reports")
        self.assertEqual([ftl[f"zone-{name}"] for name in names], [1, 1, 2, 1, 1, 1])


class KeptTest(ZonesTest):
    """Test a drive that is stored in a file."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = {"drive-file": str(Path(folder.name) / "zones.slate")}

    def restart(self) -> None:
        """Quit QEMU, and start it on the same drive."""
        self.vm.quit()
        self.vm.close()
        self.start(**self.settings)

    def cut(self) -> None:
        """Cut the power now, switch it on again, and start the controller."""
        self.nvme = power_cycle(self.vm, 1, css=6)


class Survives(KeptTest):
    """Test the states of zones after restarts and power cuts."""

    def test_restart(self) -> None:
        """After a restart, open zones are closed; a zone that was opened and not written is empty."""
        self.start()
        for zone, state in enumerate((EMPTY, IMPLICIT, EXPLICIT, CLOSED, FULL)):
            self.bring(zone, state)
        self.assertEqual(self.write(2 * BLOCKS, OTHER), 0)
        self.bring(5, EXPLICIT)
        self.nvme.start(FLUSH)
        self.nvme.finish()
        self.restart()
        self.assertEqual(self.states(6), [EMPTY, CLOSED, CLOSED, CLOSED, FULL, EMPTY])
        self.assertEqual([self.zone(i).pointer % BLOCKS for i in (1, 2, 3)], [8, 8, 8])
        self.assertEqual(self.nvme.do_read(2 * ZONE, 4096), OTHER)
        self.assertEqual(self.write(2 * BLOCKS + 8), 0)

    def test_cut(self) -> None:
        """After a cut, the write pointer is behind the flushed data. The buffer's content is lost."""
        self.start()
        self.assertEqual(self.write(0), 0)
        self.assertEqual(self.write(8, flags=FUA), 0)
        self.assertEqual(self.write(16), 0)
        self.assertEqual(self.zone(0).pointer, 24)
        self.assertEqual(self.write(BLOCKS), 0)
        self.cut()
        self.assertEqual([(zone.state, zone.pointer) for zone in self.report()[1][:2]], [(CLOSED, 16), (EMPTY, BLOCKS)])
        self.assertEqual(self.nvme.do_read(0, 8192), PAGE4K * 2)
        self.assertEqual(self.append(0, OTHER), (0, 16))

    def test_cut_of_a_reset(self) -> None:
        """The reset's record is on flash, and the erases of the two blocks are torn: the zone is empty."""
        nvme = self.start()
        self.assertEqual(self.write(0, flags=FUA), 0)
        for lba in range(8, 64, 8):
            self.assertEqual(self.write(lba), 0)
        nvme.start(FLUSH)
        nvme.finish()
        nvme.io.put(SEND, 1, dwords={13: RESET})
        nvme.io.ring()
        self.vm.step(PAGE + 1_000_000)
        self.cut()
        self.assertEqual(self.vm.qmp("x-query-nand-ssd-power", node_name="ssd0")["torn-erases"], 2)
        self.assertEqual((self.zone(0).state, self.zone(0).pointer), (EMPTY, 0))
        self.assertEqual(self.nvme.do_read(0, 4096), bytes(4096))

    def test_finish_survives(self) -> None:
        self.start()
        self.assertEqual(self.write(0), 0)
        self.assertEqual(self.send(0, FINISH), 0)
        self.cut()
        self.assertEqual(self.zone(0).state, FULL)
        self.assertEqual(self.nvme.do_read(0, 4096), PAGE4K)


class ManyReports(ZonesTest):
    """Test a drive with 1,024 zones. A report takes 40 bytes, and 40 more for each zone."""

    def put_reports(self, count: int) -> None:
        """Submit reports."""
        for _ in range(count):
            self.nvme.io.put(RECEIVE, 1, self.nvme.buffer(), 0, {12: 1023})
        self.nvme.io.ring()

    def codes(self, count: int) -> list[int]:
        """Return the statuses of commands, sorted."""
        return sorted(self.nvme.wait(self.nvme.io).code for _ in range(count))

    def test_their_memory(self) -> None:
        """All reports together hold at most 1 MiB, which is free again when they have ended."""
        self.start(geometry__blocks_per_plane=1060, ftl__capacity_mib=1024 * 4)
        fit = (1 << 20) // (40 + 1024 * 40)
        self.put_reports(31)
        self.assertEqual(self.codes(31), [0] * fit + [INTERRUPTED] * (31 - fit))
        self.put_reports(31)
        self.nvme.disable()
        self.nvme.enable(css=6)
        self.put_reports(fit)
        self.assertEqual(self.codes(fit), [0] * fit)


class Thread(MachineTest):
    """Test the drive in a thread of its own, driven by a tool."""

    def said(self, *commands: str, thread: str = "on", code: int = 0) -> str:
        """Return what qemu-io says."""
        args = [arg for command in commands for arg in ("-c", command)]
        opts = f"driver=nand-ssd,profile={ZNS},thread={thread}"
        return tool("qemu-io", "--image-opts", opts, *args, code=code)

    def test_operations(self) -> None:
        size = hex(ZONE)
        for thread in ("on", "off"):
            said = self.said(
                f"zo 0 {size}",
                "write -P 7 0 8k",
                "zap -p 0 0x1000",
                f"zc 0 {size}",
                f"zf {size} {size}",
                "zrp 0 3",
                f"zrs 0 {hex(ZONES * ZONE)}",
                "zrp 0 2",
                thread=thread,
            )
            lines = [line for line in said.splitlines() if line.startswith("start:")]
            self.assertEqual(len(lines), 5, said)
            states = [int(line.split("zcond:")[1].split(",")[0]) for line in lines]
            self.assertEqual(states, [CLOSED, FULL, EMPTY, EMPTY, EMPTY], said)
            self.assertIn("append sector is 0x10", said)

    def test_an_append_by_the_monitor(self) -> None:
        """The append ends although virtual time stops during requests of the monitor."""
        vm = self.machine([zoned()])
        for command in ("zap -p 0 0x1000", "zap -p 0 0x1000", "zrp 0 1"):
            vm.qmp("human-monitor-command", command_line=f'qemu-io ssd0 "{command}"')
        said = vm.output()
        self.assertIn("append sector is 0x0\n", said)
        self.assertIn("append sector is 0x8\n", said)
        self.assertRegex(said, "wptr 0x10,")

    def test_beyond_the_end(self) -> None:
        """An append beyond the last zone is refused. It once failed an assertion."""
        for at in (ZONES * ZONE, 1 << 40, (1 << 63) - ZONE):
            said = self.said(f"zap -p {at} 0x1000", f"zo {at} {hex(ZONE)}", f"zrp {at} 1", "length", code=1)
            self.assertRegex(said, "zone append failed: (Invalid argument|Input/output error)")
            self.assertIn("zone open failed", said)
            self.assertIn("zone report failed: Invalid argument", said)
            self.assertIn("256 MiB", said)


class Refused(ZonesTest):
    """Test settings that are refused, with a message that names the remedy."""

    def test_zoned_on_a_drive_without_zones(self) -> None:
        with self.assertRaisesRegex(AssertionError, "the nand-ssd 'ssd0' has no zones.*leave out 'zoned', or take"):
            self.machine([drive()], "-device", "nvme,id=n,serial=s", "-device", "nvme-ns,drive=ssd0,zoned=on,bus=n")

    def test_options_that_contradict_the_drive(self) -> None:
        for option in ("zoned.zone_size=64M", "zoned.max_open=3", "zoned.zrwas=4096", "zoned.cross_read=on"):
            with self.assertRaisesRegex(AssertionError, "node 'ssd0' has zones of its own: leave out"):
                device = f"nvme-ns,drive=ssd0,bus=n,{option}"
                self.machine([zoned()], "-device", "nvme,id=n,serial=s", "-device", device)

    def test_metadata(self) -> None:
        with self.assertRaisesRegex(AssertionError, "have no room for metadata: leave out 'ms'"):
            self.machine([zoned()], "-device", "nvme,id=n,serial=s", "-device", "nvme-ns,drive=ssd0,bus=n,ms=8")

    def test_a_filter_hides_zones(self) -> None:
        throttle: Json = {"driver": "throttle", "node-name": "slow", "throttle-group": "g", "file": "ssd0"}
        with self.assertRaisesRegex(AssertionError, "node 'slow' hides the zones of the nand-ssd 'ssd0'"):
            self.machine(
                [zoned(), throttle],
                *("-object", "throttle-group,id=g"),
                *("-device", "nvme,drive=slow,serial=s"),
            )

    def test_commands_of_zones_on_a_drive_without(self) -> None:
        self.start([drive()])
        self.assertEqual(self.send(0, OPEN), INVALID_OPCODE)
        self.assertEqual(self.receive()[0], INVALID_OPCODE)
        self.assertEqual(self.append(0)[0], INVALID_OPCODE)

    def test_a_host_without_command_sets(self) -> None:
        """If the host enables no command sets, the namespace is not attached."""
        self.vm = self.machine([zoned()], "-device", test_nvme.CONTROLLER)
        self.nvme = Nvme(self.vm)
        self.nvme.enable()
        self.assertEqual(self.send(0, OPEN), INVALID_FIELD)
        self.assertEqual(self.write(0), INVALID_FIELD)


if __name__ == "__main__":
    unittest.main()

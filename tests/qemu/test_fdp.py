# SPDX-License-Identifier: GPL-2.0-or-later
"""Test placement handles of a nand-ssd as NVMe's FDP: where writes go, reclaim units, statistics, events, bad commands.
small.ini has four planes with blocks of 64 pages of 16 KiB, and units of 4 KiB.
"""

from __future__ import annotations

import struct
import unittest
from typing import Any

from support import Json, drive

import test_nvme
from nvme import FLUSH, GET_LOG, IDENTIFY, READ, SET_FEATURES, WRITE, Nvme, power_cycle

COPY, SEND, RECEIVE = 0x19, 0x1D, 0x12
GET_FEATURES, DIRECTIVE_SEND, DIRECTIVE_RECEIVE, FORMAT = 0x0A, 0x19, 0x1A, 0x80
CONFIGS, USAGE, STATS, EVENTS = 0x20, 0x21, 0x22, 0x23
FDP_MODE, FDP_EVENTS = 0x1D, 0x1E
PAGE, PLANES, UNIT = 16384, 4, 4096
RECLAIM_UNIT = PLANES * 64 * PAGE
LBA = 512
PLACEMENT = 2  # the directive's type
INITIALLY, PERSISTENTLY = 1, 2
NOT_FULLY_WRITTEN, INVALID_PID = 0, 3
INVALID_FIELD, INVALID_NSID, SEQUENCE_ERROR, DISABLED, BAD_LIST = 0x02, 0x0B, 0x0C, 0x29, 0x2A
INVALID_FORMAT = 0x10A
EVERY_NAMESPACE = 0xFFFFFFFF
EVENTS_KEPT = 63
STATUS_HEAD, STATUS_ROW = 16, 32


def machine_args(subsys: str = "fdp.nruh=3", namespace: str = "fdp.ruhs=0-2") -> list[str]:
    """Return the devices of an FDP subsystem with one controller and one namespace."""
    return [
        *("-device", f"nvme-subsys,id=sub0,nqn=n,fdp=on,{subsys}"),
        *("-device", "nvme,id=nvme0,serial=slate,subsys=sub0,bus=pcie.0,addr=4"),
        *("-device", ",".join(filter(None, ("nvme-ns,drive=ssd0,bus=nvme0", namespace)))),
    ]


def with_handles(handles: int = 3, **more: Any) -> Json:
    """Return the options of a drive with placement handles."""
    return drive(ftl__placement_handles=handles, **more)


def in_groups() -> Json:
    """Return the options of a drive with two reclaim groups, of a die each."""
    return with_handles(ftl__placement_groups=2)


def pattern(unit: int) -> bytes:
    """Return the data of a mapping unit."""
    return unit.to_bytes(8, "little") * (UNIT // 8)


class FdpTest(test_nvme.NvmeTest):
    """Start a namespace whose placement handle n is the drive's handle n, unless a test says otherwise."""

    def begin(self, options: Json | None = None, **devices: str) -> Nvme:
        """Return the running controller."""
        self.vm = self.machine([options or with_handles()], *machine_args(**devices))
        self.nvme = Nvme(self.vm)
        self.nvme.enable()
        return self.nvme

    def io(self, opcode: int, dwords: dict[int, int] | None = None, at: int = 0, nsid: int = 1) -> int:
        """Run an I/O command and return its status."""
        self.nvme.io.put(opcode, nsid, at or self.nvme.buffer(), 0, dwords)
        return self.nvme.finish().code

    def write(self, unit: int, handle: int | None = None) -> None:
        """Write a mapping unit, with a placement handle or without the directive."""
        at = self.nvme.buffer()
        self.vm.write(at, pattern(unit))
        directive = 0 if handle is None else PLACEMENT << 20
        dwords = {10: unit * UNIT // LBA, 12: UNIT // LBA - 1 | directive, 13: (handle or 0) << 16}
        self.assertEqual(self.io(WRITE, dwords, at), 0)

    def read(self, unit: int) -> bytes:
        """Read a mapping unit."""
        return self.nvme.do_read(unit * UNIT, UNIT)

    def flush(self) -> None:
        """Send a flush, which closes the open pages of all handles."""
        self.assertEqual(self.io(FLUSH), 0)

    def log(self, number: int, size: int, offset: int = 0, group: int = 1, code: int = 0) -> bytes:
        """Return a log of the endurance group."""
        at = self.nvme.buffer()
        self.vm.write(at, bytes(size))
        dwords = {10: number | (size // 4 - 1) << 16, 11: group << 16, 12: offset}
        self.nvme.do_admin(GET_LOG, code, prp1=at, dwords=dwords)
        return self.vm.read(at, size)

    def stats(self) -> tuple[int, int, int]:
        """Return the bytes of the host, of the media, and erased."""
        host, _, media, _, erased, _ = struct.unpack_from("<6Q", self.log(STATS, 64))
        return host, media, erased

    def left(self) -> list[int]:
        """Return the logical blocks left in the reclaim unit of each placement handle."""
        at = self.nvme.buffer()
        self.vm.write(at, bytes(4096))
        self.assertEqual(self.io(RECEIVE, {10: 1, 11: 4096 // 4 - 1}, at), 0)
        data = self.vm.read(at, 4096)
        count = struct.unpack_from("<H", data, 14)[0]
        rows = [struct.unpack_from("<HHIQ", data, STATUS_HEAD + STATUS_ROW * i) for i in range(count)]
        self.assertEqual([row[0] for row in rows], list(range(count)))
        return [row[3] for row in rows]

    def assert_units(self, *written: int) -> None:
        """Check how many mapping units the host has written to each handle's reclaim unit."""
        self.assertEqual(self.left(), [(RECLAIM_UNIT - units * UNIT) // LBA for units in written])

    def update(self, *handles: int) -> int:
        """Move the handles to other reclaim units; return the status."""
        at = self.nvme.buffer()
        self.vm.write(at, struct.pack(f"<{len(handles)}H", *handles))
        return self.io(SEND, {10: 1 | (len(handles) - 1) << 16}, at)

    def enable_event(self, kind: int, handle: int = 0) -> None:
        """Let events of this type and handle be logged."""
        at = self.nvme.buffer()
        self.vm.write(at, bytes((kind,)))
        dwords = {10: FDP_EVENTS, 11: handle | 1 << 16, 12: 1}
        self.nvme.do_admin(SET_FEATURES, nsid=1, prp1=at, dwords=dwords)

    def host_events(self) -> list[tuple[int, ...]]:
        """Return type, flags, placement identifier, namespace, reclaim group and handle of each event of the host."""
        data = self.log(EVENTS | 1 << 8, 64 + EVENTS_KEPT * 64)
        count = struct.unpack_from("<I", data)[0]
        return [struct.unpack_from("<BBH8xI16xHB", data, 64 + 64 * i) for i in range(count)]


class Placement(FdpTest):
    """Test what a guest sees, and where its data go."""

    def test_configuration(self) -> None:
        for isolation, kind in (("initially", INITIALLY), ("persistently", PERSISTENTLY)):
            self.begin(with_handles(ftl__placement_isolation=isolation))
            data = self.log(CONFIGS, 96)
            groups, handles = struct.unpack_from("<IH", data, 16 + 4)
            self.assertEqual((data[18], groups, handles), (1 << 7 | 1 << 4, 1, 3), "valid, with a volatile cache")
            self.assertEqual(struct.unpack_from("<Q", data, 16 + 16)[0], RECLAIM_UNIT)
            self.assertEqual([data[16 + 64 + 4 * i] for i in range(3)], [kind] * 3)
            completion = self.nvme.do_admin(GET_FEATURES, dwords={10: FDP_MODE, 11: 1})
            self.assertEqual(completion.result, 1, "enabled, configuration 0")
            at = self.nvme.buffer()
            self.nvme.do_admin(DIRECTIVE_RECEIVE, nsid=1, prp1=at, dwords={10: 4096 // 4 - 1, 11: 1})
            self.assertEqual([self.vm.read(at + word, 1)[0] >> PLACEMENT & 1 for word in (0, 32, 64)], [1] * 3)
            self.vm.close()

    def test_each_handle_fills_pages_of_its_own(self) -> None:
        self.begin()
        for unit in range(12):
            self.write(unit, unit % 3)
        self.vm.step(5_000_000)
        self.assertEqual(self.stats(), (12 * UNIT, 3 * PAGE, 0))
        self.assert_units(4, 4, 4)
        for unit in range(4):
            self.write(unit)  # no directive: placement handle 0
        self.vm.step(5_000_000)
        self.assert_units(8, 4, 4)
        self.write(100, 1)
        self.write(101, 9)  # no such handle: 0
        self.assert_units(9, 5, 4)
        self.flush()
        self.assertEqual(self.stats(), (18 * UNIT, 6 * PAGE, 0))
        self.assert_units(9, 5, 4)
        for unit in (0, 5, 11, 100, 101):
            self.assertEqual(self.read(unit), pattern(unit))

    def test_a_namespace_maps_its_handles(self) -> None:
        self.begin(namespace="fdp.ruhs=2;0")
        self.write(0, 0)
        self.write(4)
        self.flush()
        self.assert_units(2, 0)
        self.write(8, 1)
        self.flush()
        self.assert_units(2, 1)
        self.assertEqual(self.log(USAGE, 32)[8::8], bytes((1, 0, 1)))

    def test_copy(self) -> None:
        """A Copy has a handle as a Write has; placement handle 0 of this namespace is the drive's 2."""
        self.begin(namespace="fdp.ruhs=2;0")
        self.write(0, 1)
        self.flush()
        self.assert_units(0, 1)
        for directive, units in ((0, (1, 1)), (PLACEMENT << 20, (1, 2))):
            at = self.nvme.buffer()
            self.vm.write(at, struct.pack("<QQH14x", 0, 0, UNIT // LBA - 1))
            self.assertEqual(self.io(COPY, {10: 100 * UNIT // LBA, 12: directive, 13: 1 << 16}, at), 0)
            self.flush()
            self.assert_units(*units)
            self.assertEqual(self.read(100), pattern(0))

    def format(self, index: int, flags: int = 0) -> int:
        """Format the namespace; return the status."""
        self.nvme.admin.put(FORMAT, 1, dwords={10: index | flags})
        self.nvme.admin.ring()
        return self.nvme.wait(self.nvme.admin).code

    def test_formats(self) -> None:
        """In each format a reclaim unit counts logical blocks, with any kind of directive."""
        for index, size, flags in (
            (0, 512, 0),
            (4, 4096, 0),
            (1, 512, 1 << 4),  # 8 bytes of metadata behind each block
            (7, 4096, 1 << 4),  # 64 bytes
            (1, 512, 1 << 5),  # protection information, which the controller makes
        ):
            with self.subTest(index=index, flags=flags):
                self.begin(with_handles(ftl__metadata_bytes=64))
                self.assertEqual(self.format(index, flags), 0)
                blocks = RECLAIM_UNIT // size
                self.assertEqual(self.left(), [blocks] * 3)
                protect = 1 << 29 if flags >> 5 else 0
                self.assertEqual(self.io(WRITE, {12: PLACEMENT << 20 | protect, 13: 2 << 16}), 0)
                self.assertEqual(self.left(), [blocks, blocks, blocks - 1])
                self.flush()
                for kind in (0, 1, 2, 15):
                    for handle in (0, 3, 0xFFFF):
                        self.assertEqual(self.io(WRITE, {12: kind << 20 | protect, 13: handle << 16}), 0)
                self.flush()
                self.assertEqual(self.left(), [blocks - 12, blocks, blocks - 1])
                self.vm.close()

    def test_no_metadata_beside_the_blocks(self) -> None:
        """Metadata that the spare area does not take would take a part of the reclaim units."""
        self.begin()
        self.assertEqual(self.format(1), INVALID_FORMAT)
        self.assertEqual(self.format(4), 0)
        self.vm.close()
        words = "ftl.metadata_bytes has no room for ms=8 of blocks of 512 bytes: set it to 64 or more"
        with self.assertRaisesRegex(AssertionError, words):
            self.begin(namespace="fdp.ruhs=0-2,ms=8")

    def test_many_handles(self) -> None:
        """A drive has up to 128 handles."""
        numbers = (0, 7, 8, 63, 100, 127)
        options = with_handles(128, geometry__blocks_per_plane=400, ftl__buffer_units=4 * 130)
        self.begin(options, subsys="fdp.nruh=128", namespace="fdp.ruhs=" + ";".join(map(str, numbers)))
        for handle in range(len(numbers)):
            for unit in range(handle + 1):
                self.write(16 * handle + unit, handle)
        self.assert_units(*range(1, len(numbers) + 1))
        self.flush()
        self.assertEqual(self.stats()[1], sum((n + 4) // 4 for n in range(len(numbers))) * PAGE)
        self.nvme = power_cycle(self.vm, 1_000_000)
        for handle in range(len(numbers)):
            for unit in range(handle + 1):
                self.assertEqual(self.read(16 * handle + unit), pattern(16 * handle + unit))
        usage = self.log(USAGE, 8 + 8 * 128)[8::8]
        self.assertEqual([handle for handle in range(128) if usage[handle]], list(numbers))

    def test_power_cut(self) -> None:
        """The handles continue in their reclaim units, also with a map of 24 pages of which 21 are in memory."""
        cached = {"geometry__blocks_per_plane": 128, "ftl__capacity_mib": 384, "ftl__map_cache_pages": 21}
        for more in ({}, cached):
            self.cut_and_go_on(with_handles(**more))
            self.vm.close()

    def cut_and_go_on(self, options: Json) -> None:
        """Cut the power of a drive with pages of handle 1, and write another."""
        self.begin(options)
        for unit in range(8):
            self.write(unit, 1)
        self.flush()
        self.assert_units(0, 8, 0)
        before = self.stats()
        self.nvme = power_cycle(self.vm, 1_000_000)
        self.assertEqual(self.stats(), before)
        self.assert_units(0, 8, 0)
        self.write(8, 1)
        self.flush()
        self.assert_units(0, 9, 0)
        self.assertEqual(self.read(7), pattern(7))

    def test_what_is_erased(self) -> None:
        """Two rings share 8 MiB on 16 MiB of flash, apart: a unit of either is wholly invalid when it is erased."""
        self.begin(
            with_handles(2, geometry__blocks_per_plane=16, geometry__pages_per_block=16, ftl__capacity_mib=8),
            subsys="fdp.nruh=2",
            namespace="fdp.ruhs=0-1",
        )
        chunk, pages, turns = 65536, 16, 320
        table = self.nvme.buffer()
        self.vm.write(table, struct.pack("<15Q", *(table + 4096 * i for i in range(1, pages))))
        for turn in range(turns):
            ring, place = (0, turn // 2 % 32) if turn % 2 else (1, 32 + turn // 2 % 64)
            dwords = {10: place * chunk // LBA, 12: chunk // LBA - 1 | PLACEMENT << 20, 13: ring << 16}
            self.nvme.io.put(WRITE, 1, table + 4096, table, dwords)
            self.nvme.io.ring()
            self.assertEqual(self.nvme.wait(self.nvme.io, grain_ns=400_000).code, 0)
        self.flush()
        host, media, erased = self.stats()
        self.assertEqual(host, turns * chunk)
        self.assertEqual(media, host, "nothing was copied, and the ends are whole pages")
        programmed = self.vm.stats()["total"]["nand"]["programmed-pages"] * PAGE
        self.assertEqual(erased, media - programmed, "only full blocks were erased")
        self.assertGreaterEqual(erased, media - (16 << 20))
        unit = PLANES * 16 * PAGE
        written = turns // 2 * chunk
        self.assertEqual(written % unit, 0)
        self.assertEqual(self.left(), [unit // LBA] * 2)


class Groups(FdpTest):
    """Start a drive of two reclaim groups: a die of two planes each, with three handles each.

    A placement identifier has the group in its two highest bits, and a reclaim unit has half the size.
    """

    GROUP_UNIT = RECLAIM_UNIT // 2
    IDENTIFIERS = (0, 0x4000, 1, 0x4001, 2, 0x4002)  # in the order of the status: by handle

    def start_groups(self) -> None:
        """Start the drive."""
        self.begin(in_groups(), subsys="fdp.nruh=3,fdp.nrg=2")

    def left_of_all(self) -> list[int]:
        """Return the logical blocks left in the reclaim unit of each handle, in the order of IDENTIFIERS."""
        at = self.nvme.buffer()
        self.vm.write(at, bytes(4096))
        self.assertEqual(self.io(RECEIVE, {10: 1, 11: 4096 // 4 - 1}, at), 0)
        data = self.vm.read(at, 4096)
        self.assertEqual(struct.unpack_from("<H", data, 14)[0], 6)
        rows = [struct.unpack_from("<HHIQ", data, STATUS_HEAD + STATUS_ROW * i) for i in range(6)]
        self.assertEqual([row[:3] for row in rows], [(number, number & 3, 0) for number in self.IDENTIFIERS])
        return [row[3] for row in rows]

    def assert_groups(self, *written: int) -> None:
        """Check how many mapping units the host has written to the reclaim unit of each handle."""
        self.assertEqual(self.left_of_all(), [(self.GROUP_UNIT - units * UNIT) // LBA for units in written])

    def test_configuration(self) -> None:
        self.start_groups()
        data = self.log(CONFIGS, 96)
        groups, handles = struct.unpack_from("<IH", data, 16 + 4)
        self.assertEqual((data[18], groups, handles), (1 << 7 | 1 << 4 | 2, 2, 3), "RGIF: two bits")
        self.assertEqual(struct.unpack_from("<Q", data, 16 + 16)[0], self.GROUP_UNIT)
        self.assertEqual(self.log(USAGE, 32)[8::8], bytes((1, 1, 1)))
        self.assert_groups(0, 0, 0, 0, 0, 0)

    def test_writes(self) -> None:
        """Each handle has buffer pages and a reclaim unit in each group, also after a power cut."""
        self.start_groups()
        for unit in range(4 * 6):
            self.write(unit, self.IDENTIFIERS[unit % 6])
        self.vm.step(5_000_000)
        self.assertEqual(self.stats(), (24 * UNIT, 6 * PAGE, 0))
        self.assert_groups(4, 4, 4, 4, 4, 4)
        self.write(30)  # no directive: placement handle 0 of group 0
        self.write(31, 0x4001)
        self.write(32, 0x4001)
        self.assert_groups(5, 4, 4, 6, 4, 4)
        self.flush()
        self.assertEqual(self.stats(), (27 * UNIT, 8 * PAGE, 0))
        self.nvme = power_cycle(self.vm, 1_000_000)
        self.assert_groups(5, 4, 4, 6, 4, 4)
        for unit in (*range(24), 30, 31, 32):
            self.assertEqual(self.read(unit), pattern(unit))

    def test_updates(self) -> None:
        """An update ends the unit of a handle in one group."""
        self.start_groups()
        for handle in range(3):
            self.enable_event(NOT_FULLY_WRITTEN, handle)
        self.write(0, 1)
        self.write(1, 0x4001)
        self.write(2, 0x4001)
        self.assertEqual(self.update(0x4001), 0)
        self.assert_groups(0, 0, 1, 0, 0, 0)
        self.assertEqual(self.host_events(), [(NOT_FULLY_WRITTEN, 7, 0x4001, 1, 1, 1)])
        self.write(3, 0x4001)
        self.assertEqual(self.update(*self.IDENTIFIERS), 0)
        self.assert_groups(0, 0, 0, 0, 0, 0)
        self.assertEqual(
            self.host_events()[1:],
            [(NOT_FULLY_WRITTEN, 7, 1, 1, 0, 1), (NOT_FULLY_WRITTEN, 7, 0x4001, 1, 1, 1)],
        )
        self.assertEqual(self.update(*self.IDENTIFIERS, 0), INVALID_FIELD)
        for wrong in (3, 0x2000, 0x4003, 0x6001, 0x8000, 0xFFFF):
            self.assertEqual(self.update(wrong), INVALID_FIELD)

    def test_a_full_group(self) -> None:
        """Pages that go to the other group count as the unit of the handle that they name, also after a power cut.

        The drive has 3 MiB, a group's share is half of them, and the flash of a group holds less than 3 MiB. A unit has
        8 pages in two planes, so 64 mapping units, and 769 units were written.
        """
        small = {"geometry__pages_per_block": 8, "geometry__blocks_per_plane": 18, "ftl__capacity_mib": 3}
        self.begin(with_handles(ftl__placement_groups=2, **small), subsys="fdp.nruh=3,fdp.nrg=2")
        self.enable_event(NOT_FULLY_WRITTEN, 1)
        for unit in (*range(768), 0):
            self.write(unit, 1)
        self.flush()
        self.assertGreater(self.vm.stats()["total"]["ftl"]["stray-pages"], 0)
        left = [64 * UNIT // LBA] * 6
        for _ in range(2):
            self.assertEqual(self.left_of_all(), [*left[:2], 63 * UNIT // LBA, *left[3:]])
            self.nvme = power_cycle(self.vm, 1_000_000)
            self.enable_event(NOT_FULLY_WRITTEN, 1)
        self.write(5, 1)
        self.assertEqual(self.update(1), 0)
        self.assertEqual(self.left_of_all(), left)
        self.assertEqual(self.host_events(), [(NOT_FULLY_WRITTEN, 7, 1, 1, 0, 1)])
        for unit in range(0, 768, 16):
            self.assertEqual(self.read(unit), pattern(unit))

    def test_wrong_identifiers(self) -> None:
        """All 14 bits of the placement handle count: wrong identifiers mean handle 0 of group 0."""
        self.start_groups()
        self.enable_event(INVALID_PID)
        wrong = (3, 0x2000, 0x2001, 0x4003, 0x6001, 0x8000, 0xC001, 0xFFFF)
        for unit, identifier in enumerate(wrong):
            self.write(unit, identifier)
        self.assert_groups(len(wrong), 0, 0, 0, 0, 0)
        self.assertEqual(self.host_events(), [(INVALID_PID, 7, identifier, 1, 0, 0) for identifier in wrong])


class Table(FdpTest):
    """Make namespaces of a table: NSID i has one placement handle, the drive's handle (i - 1) modulo their number."""

    MIB = 1 << 20
    MANAGEMENT = 0x0D

    def put_page(self, nsid: int, at_unit: int = 0) -> None:
        """Write four units, a page, to a namespace, and flush."""
        at = self.nvme.buffer()
        self.vm.write(at, pattern(nsid))
        for unit in range(at_unit, at_unit + PAGE // UNIT):
            dwords = {10: unit * UNIT // LBA, 12: UNIT // LBA - 1}
            self.assertEqual(self.io(WRITE, dwords, at, nsid), 0)
        self.flush()

    def assert_left(self, *written: int) -> None:
        """Check how many mapping units of the reclaim unit of its only handle each namespace sees written."""
        for nsid, units in enumerate(written, 1):
            at = self.nvme.buffer()
            self.vm.write(at, bytes(4096))
            self.assertEqual(self.io(RECEIVE, {10: 1, 11: 4096 // 4 - 1}, at, nsid), 0)
            data = self.vm.read(at, 4096)
            row = struct.unpack_from("<HHIQ", data, STATUS_HEAD)
            self.assertEqual(struct.unpack_from("<H", data, 14)[0], 1, "one placement handle")
            self.assertEqual(row, (0, (nsid - 1) % 2, 0, (RECLAIM_UNIT - units * UNIT) // LBA), f"NSID {nsid}")

    def create(self, group: int, handles: int) -> int:
        """Create a namespace of 1 MiB in an endurance group, with a list of so many handles; return the status."""
        at = self.nvme.buffer()
        blocks = self.MIB // LBA
        data = struct.pack("<QQ86xH", blocks, blocks, group).ljust(392, b"\0") + struct.pack("<H", handles)
        self.vm.write(at, data.ljust(4096, b"\0"))
        self.nvme.admin.put(self.MANAGEMENT, 0, at)
        self.nvme.admin.ring()
        return self.nvme.wait(self.nvme.admin).code

    def test_namespaces_have_handles(self) -> None:
        device = f"{test_nvme.CONTROLLER},namespaces=" + ";".join([f"{self.MIB}:512"] * 3)
        self.vm = self.machine([with_handles(2, drive__namespaces=8)], "-device", device)
        self.nvme = Nvme(self.vm)
        self.nvme.enable()
        self.assertEqual(self.stats()[:2], (UNIT, PAGE), "the table")
        for nsid in (1, 2, 3):
            self.put_page(nsid)
        self.assert_left(9, 4, 9)  # with the table, a unit
        self.assertEqual(self.stats(), (3 * PAGE + UNIT, 4 * PAGE, 0))
        self.assertEqual(self.log(USAGE, 24)[8::8], bytes((2, 2)), "selected by the controller")
        at = self.nvme.buffer()
        self.nvme.do_admin(IDENTIFY, nsid=2, prp1=at)
        self.assertEqual(struct.unpack("<H", self.vm.read(at + 102, 2)), (1,), "ENDGID")
        self.nvme.do_admin(IDENTIFY, prp1=at, dwords={10: 1})
        self.assertEqual(struct.unpack("<I", self.vm.read(at + 96, 4))[0] & (1 << 19 | 1 << 4), 1 << 19 | 1 << 4)
        self.vm.write(at, struct.pack("<H", 0))
        self.assertEqual(self.io(SEND, {10: 1}, at, nsid=2), 0)
        self.assert_left(9, 0, 9)
        self.vm.qmp("x-nand-ssd-power-cut", node_name="ssd0")
        self.vm.step(1000)
        self.vm.qmp("x-nand-ssd-power-on", node_name="ssd0")
        self.vm.step(50_000_000)  # time for the mount and for reading the table
        self.nvme = Nvme(self.vm)
        self.nvme.enable()
        self.put_page(2, 8)
        for nsid in (1, 2, 3):
            self.assertEqual(self.io(READ, {10: 0, 12: UNIT // LBA - 1}, at, nsid), 0)
            self.assertEqual(self.vm.read(at, UNIT), pattern(nsid))
        self.assertEqual(self.stats()[:2], (4 * PAGE + UNIT, 5 * PAGE))

    def test_created_and_deleted(self) -> None:
        self.vm = self.machine([with_handles(2, drive__namespaces=8)], "-device",
                               f"{test_nvme.CONTROLLER},namespaces={self.MIB}:512")
        self.nvme = Nvme(self.vm)
        self.nvme.enable()
        self.assertEqual(self.log(USAGE, 24)[8::8], bytes((2, 0)))
        for group, handles, code in ((2, 0, INVALID_FIELD), (0, 1, BAD_LIST), (0, 0, 0), (1, 0, 0)):
            self.assertEqual(self.create(group, handles), code)
        self.assertEqual(self.log(USAGE, 24)[8::8], bytes((2, 2)))
        self.nvme.admin.put(self.MANAGEMENT, 2, 0, dwords={10: 1})
        self.nvme.admin.ring()
        self.assertEqual(self.nvme.wait(self.nvme.admin).code, 0)
        self.assertEqual(self.log(USAGE, 24)[8::8], bytes((2, 0)))

    def test_in_a_table_without_handles_nothing_changes(self) -> None:
        self.vm = self.machine([drive(drive__namespaces=8)], "-device", test_nvme.CONTROLLER)
        self.nvme = Nvme(self.vm)
        self.nvme.enable()
        self.log(STATS, 64, code=DISABLED)
        self.assertEqual(self.io(RECEIVE, {10: 1}), DISABLED)


class Orders(FdpTest):
    """Test handle updates and events, and commands that are wrong."""

    def test_updates(self) -> None:
        self.begin()
        self.enable_event(NOT_FULLY_WRITTEN, 1)
        self.assertEqual(self.update(1), 0)  # nothing is in its unit
        self.assertEqual(self.host_events(), [])
        self.write(0, 1)
        self.write(4, 2)
        self.flush()
        self.assert_units(0, 1, 1)
        self.assertEqual(self.update(1), 0)
        self.assert_units(0, 0, 1)
        event = (NOT_FULLY_WRITTEN, 7, 1, 1, 0, 1)
        self.assertEqual(self.host_events(), [event])
        self.write(8, 1)
        self.flush()
        self.assertEqual(self.update(0, 1, 2), 0)  # as many as there are; of 2 no event is logged
        self.assert_units(0, 0, 0)
        self.assertEqual(self.host_events(), [event] * 2)
        for unit in (0, 4, 8):
            self.assertEqual(self.read(unit), pattern(unit))

    def test_an_update_takes_buffered_data_along(self) -> None:
        """Data that are only in the buffer count, stay with the old reclaim unit, and make an event."""
        self.begin()
        self.enable_event(NOT_FULLY_WRITTEN, 1)
        self.write(0, 1)
        self.assertEqual(self.left(), [8192, 8184, 8192])
        self.assertEqual(self.update(1), 0)
        self.assertEqual(self.host_events(), [(NOT_FULLY_WRITTEN, 7, 1, 1, 0, 1)])
        self.assert_units(0, 0, 0)
        self.flush()
        self.assert_units(0, 0, 0)
        self.assertEqual(self.stats(), (UNIT, PAGE, 0))
        self.assertEqual(self.read(0), pattern(0))
        self.assertEqual(self.update(1), 0)  # nothing is in the new one
        self.assertEqual(len(self.host_events()), 1)

    def test_blocks_left(self) -> None:
        """In nine rounds handle 0 gets three pages and handle 1 one, of reclaim units of 32 pages."""
        self.begin(with_handles(geometry__pages_per_block=8, geometry__blocks_per_plane=640))
        for turn in range(9):
            for page in range(4):
                for unit in range(4):
                    self.write(16 * turn + 4 * page + unit, page // 3)
            self.assertEqual(self.left(), [1024 - 96 * (turn + 1) % 1024, 1024 - 32 * (turn + 1), 1024])
        self.assertEqual(self.left()[:2], [160, 736])

    def test_invalid_identifiers_are_logged(self) -> None:
        """Writes with invalid identifiers go to placement handle 0 and log its event; the newest 63 events are kept."""
        self.begin()
        self.write(0, 9)
        self.assertEqual(self.host_events(), [])
        self.enable_event(INVALID_PID)
        self.write(1)
        self.write(2, 2)
        for handle in range(1000, 1000 + EVENTS_KEPT + 2):
            self.write(3, handle)
        self.assertEqual(
            self.host_events(), [(INVALID_PID, 7, handle, 1, 0, 0) for handle in range(1002, 1002 + EVENTS_KEPT)]
        )
        self.assertEqual(struct.unpack_from("<I", self.log(EVENTS, 64))[0], 0, "of the controller")

    def test_wrong_management(self) -> None:
        self.begin()
        for opcode in (SEND, RECEIVE):
            for operation, code in ((0, 0), (2, INVALID_FIELD), (0xFF, INVALID_FIELD)):
                self.assertEqual(self.io(opcode, {10: operation}), code)
            for nsid, code in ((0, INVALID_NSID), (2, INVALID_FIELD), (EVERY_NAMESPACE, INVALID_NSID)):
                self.assertEqual(self.io(opcode, {10: 1}, nsid=nsid), code)
        self.assertEqual(self.update(0, 1, 2, 0), INVALID_FIELD)
        self.assertEqual(self.io(SEND, {10: 1 | 0xFFFF << 16}), INVALID_FIELD)
        for handle in (3, 0x8000, 0xFFFF):
            self.assertEqual(self.update(handle), INVALID_FIELD)
        self.assert_units(0, 0, 0)

    def test_lengths_of_a_receive(self) -> None:
        """A receive transfers exactly the requested length, at most the whole."""
        self.begin()
        whole = STATUS_HEAD + 3 * STATUS_ROW
        for words in (1, 3, 5, whole // 4 - 1, whole // 4, whole // 4 + 1, 1024, 1 << 30, 1 << 32):
            at = self.nvme.buffer()
            self.vm.write(at, b"\xee" * 256)
            self.assertEqual(self.io(RECEIVE, {10: 1, 11: words - 1}, at), 0)
            data = self.vm.read(at, 256)
            size = min(words * 4, whole)
            self.assertEqual(data[size:], b"\xee" * (256 - size), words)
            self.assertNotIn(0xEE, data[:size], words)

    def test_wrong_logs(self) -> None:
        self.begin()
        for number, size in ((CONFIGS, 96), (USAGE, 32), (STATS, 64), (EVENTS, 64)):
            for group in (0, 2, 0xFFFF):
                self.log(number, 4, group=group, code=INVALID_FIELD)
            for offset in (size, 1 << 20, 2):
                self.log(number, 4, offset=offset, code=INVALID_FIELD)
            data = self.log(number, size)
            for offset in range(0, size, 12):
                self.assertEqual(self.log(number, 4, offset), data[offset : offset + 4], number)
            self.log(number, 4096)  # more than there is

    def test_wrong_features_and_directives(self) -> None:
        nvme = self.begin()
        at = nvme.buffer()
        self.vm.write(at, bytes(range(255)))
        for opcode in (SET_FEATURES, GET_FEATURES):
            for nsid, eleven, code in (
                (1, 3 | 1 << 16, INVALID_FIELD),  # no such placement handle
                (1, 0xFFFF | 1 << 16, INVALID_FIELD),
                (EVERY_NAMESPACE, 1 << 16, INVALID_NSID),
            ):
                nvme.do_admin(opcode, code, nsid=nsid, prp1=at, dwords={10: FDP_EVENTS, 11: eleven, 12: 1})
        nvme.do_admin(SET_FEATURES, SEQUENCE_ERROR, dwords={10: FDP_MODE, 11: 1})
        nvme.do_admin(GET_FEATURES, INVALID_FIELD, nsid=1, prp1=at, dwords={10: FDP_EVENTS})
        nvme.do_admin(SET_FEATURES, nsid=1, prp1=at, dwords={10: FDP_EVENTS, 11: 255 << 16, 12: 1})
        at = nvme.buffer()
        found = nvme.do_admin(GET_FEATURES, nsid=1, prp1=at, dwords={10: FDP_EVENTS, 11: 255 << 16}).result
        pairs = self.vm.read(at, 2 * found)
        self.assertEqual(pairs, bytes(byte for kind in (0, 1, 2, 3, 0x80, 0x81) for byte in (kind, 1)))
        for kind, operation in ((2, 1), (0, 2), (1, 1), (0xFF, 0xFF)):
            nvme.do_admin(DIRECTIVE_RECEIVE, INVALID_FIELD, nsid=1, prp1=at, dwords={10: 1, 11: operation | kind << 8})
        nvme.do_admin(DIRECTIVE_RECEIVE, INVALID_FIELD, nsid=EVERY_NAMESPACE, prp1=at, dwords={10: 1, 11: 1})
        nvme.do_admin(DIRECTIVE_SEND, INVALID_FIELD, nsid=1, dwords={11: 1 | PLACEMENT << 8})
        self.write(0, 1)

    def test_refused(self) -> None:
        for options, devices, words in (
            (drive(), {}, "'ssd0' has no placement handles.*set its ftl.placement_handles"),
            (with_handles(2), {}, "fdp.nruh=3 is more than the 2 placement handles of the nand-ssd 'ssd0'"),
            (with_handles(), {"subsys": "fdp.nruh=3,fdp.nrg=2"},
             "fdp.nrg=2, and the nand-ssd 'ssd0' has reclaim groups: 1 .ftl.placement_groups"),
            (in_groups(), {}, "fdp.nrg=1, and the nand-ssd 'ssd0' has reclaim groups: 2 .ftl.placement_groups"),
        ):
            with self.subTest(words), self.assertRaisesRegex(AssertionError, words):
                self.machine([options], *machine_args(**devices))  # fmt: skip
        second = ("-device", "nvme-ns,drive=ssd1,bus=nvme0,fdp.ruhs=0")
        with self.assertRaisesRegex(AssertionError, "another drive than 'ssd1': give each its own nvme-subsys"):
            self.machine([with_handles(), with_handles(node="ssd1")], *machine_args(), *second)
        hidden = [with_handles(), {"driver": "throttle", "node-name": "top", "throttle-group": "g", "file": "ssd0"}]
        words_above = [word.replace("drive=ssd0", "drive=top") for word in machine_args()]
        words = "a filter hides the placement handles of the nand-ssd 'ssd0'"
        with self.assertRaisesRegex(AssertionError, words):
            self.machine(hidden, "-object", "throttle-group,id=g", *words_above)

    def test_without_fdp_the_drive_is_an_ordinary_one(self) -> None:
        self.start([with_handles()])
        for unit in range(4):
            self.write(unit, unit)  # an ordinary namespace ignores the directive
        self.vm.step(5_000_000)
        nand = self.vm.stats()["total"]["nand"]
        self.assertEqual(nand["programmed-pages"], 1)
        self.assertEqual(self.read(1), pattern(1))
        self.nvme.do_admin(GET_LOG, INVALID_FIELD, dwords={10: CONFIGS | 3 << 16, 11: 1 << 16})


if __name__ == "__main__":
    unittest.main()

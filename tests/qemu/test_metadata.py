# SPDX-License-Identifier: GPL-2.0-or-later
"""Test metadata and protection information in the pages' spare areas: formats, buffers, commands, GC and power cuts.

small.ini has units of 4 KiB; 64 bytes of metadata are 8 for each 512-byte sector, 128 are 16.
"""

from __future__ import annotations

import random
import struct
import unittest
from dataclasses import dataclass
from typing import Any

from support import drive

import test_namespaces as base
import test_nvme
from nvme import DSM, FLUSH, FUA, READ, WRITE, WRITE_ZEROES, Nvme, power_on
from test_namespaces import FORMAT, INVALID_FORMAT, MIB, SPACE, UNIT

COMPARE, VERIFY, COPY, WRITE_UNCORRECTABLE = 0x05, 0x0C, 0x19, 0x04
ABORTED = 0x007
GUARD_ERROR, APP_ERROR, REF_ERROR, DIFFERS, UNREADABLE = 0x282, 0x283, 0x284, 0x285, 0x281
PRACT, GUARD, APP, REF = 8, 4, 2, 1  # PRINFO
GRAIN_NS = 200_000
DATA, META = 0x300000, 0x340000  # buffers of the host
# a small drive, which GC has to work on soon
TINY: dict[str, Any] = {
    "ftl__capacity_mib": 2, "geometry__blocks_per_plane": 16, "geometry__pages_per_block": 8,
    "ftl__multiplane": "no", "ftl__buffer_units": 16,
}


def table() -> list[int]:
    """Make the table of CRC-16 of T10 DIF, polynomial 8bb7, byte by byte."""
    found = []
    for byte in range(256):
        crc = byte << 8
        for _ in range(8):
            crc = crc << 1 ^ (0x8BB7 if crc & 0x8000 else 0)
        found.append(crc & 0xFFFF)
    return found


CRC = table()


def guard(data: bytes) -> int:
    """Return the guard of a block."""
    crc = 0
    for byte in data:
        crc = (crc << 8 & 0xFFFF) ^ CRC[crc >> 8 ^ byte]
    return crc


def guard64(data: bytes) -> int:
    """Return the guard of 64 bits: CRC-64 of NVMe, reflected polynomial 9a6c9329ac4bc9b5, bit by bit."""
    crc = ones = (1 << 64) - 1
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x9A6C9329AC4BC9B5 if crc & 1 else 0)
    return crc ^ ones


def pi(data: bytes, ref: int, app: int = 0) -> bytes:
    """Return the protection information of a block."""
    return struct.pack(">HHI", guard(data), app, ref)


@dataclass
class Shape:
    """Names the format of a namespace."""

    lbaf: int = 5
    block: int = 4096
    meta: int = 8
    kind: int = 1  # of protection
    extended: bool = False
    first: bool = False  # protection information at the beginning of the metadata


class MetadataTest(base.NamespaceTest):
    """Test a drive with metadata in the spare area, and one namespace of it."""

    shape: Shape

    def make(self, shape: Shape, room: int = 64, **settings: Any) -> None:
        """Start a drive with room for so many bytes in each unit, and format its namespace."""
        more = {"ftl__metadata_bytes": room} if room else {}
        self.begin(**{**more, **settings})
        self.nvme.grain_ns = GRAIN_NS
        self.format(shape)

    def format(self, shape: Shape, code: int = 0) -> None:
        """Format the namespace."""
        self.shape = shape
        word = shape.lbaf | shape.extended << 4 | shape.kind << 5 | shape.first << 8
        self.assertEqual(self.admin(FORMAT, 1, dw10=word).code, code)

    def put_io(self, opcode: int, lba: int, count: int = 1, info: int = 0, ref: int | None = None, **more: int) -> None:
        """Place a command on DATA and META; more: app, mask, fua."""
        s = self.shape
        words = {4: 0 if s.extended else META, 10: lba, 12: count - 1 | info << 26 | more.get("fua", 0) * FUA,
                 14: lba if ref is None else ref, 15: more.get("app", 0) | more.get("mask", 0) << 16}
        at = more.get("at", DATA)
        self.nvme.io.put(opcode, 1, at, at + 4096, {**words, **({4: more["meta_at"]} if "meta_at" in more else {})})

    def run_io(self, opcode: int, lba: int, count: int = 1, info: int = 0, ref: int | None = None, **more: int) -> int:
        """Run a command; return its status."""
        self.put_io(opcode, lba, count, info, ref, **more)
        return self.nvme.finish().code

    def give(self, data: bytes, meta: bytes) -> None:
        """Put blocks and their metadata into the host's memory, as the format wants them."""
        s = self.shape
        if s.extended:
            count = len(data) // s.block
            data = b"".join(data[i * s.block : (i + 1) * s.block] + meta[i * s.meta : (i + 1) * s.meta]
                            for i in range(count))
        elif meta:
            self.vm.write(META, meta)
        self.vm.write(DATA, data)

    def got(self, count: int = 1) -> tuple[bytes, bytes]:
        """Return what a read has left there."""
        s = self.shape
        if not s.extended:
            return self.vm.read(DATA, count * s.block), self.vm.read(META, count * s.meta)
        raw, size = self.vm.read(DATA, count * (s.block + s.meta)), s.block + s.meta
        parts = [raw[i * size : (i + 1) * size] for i in range(count)]
        return b"".join(p[: s.block] for p in parts), b"".join(p[s.block :] for p in parts)

    def meta_of(self, data: bytes, lba: int, app: int = 0) -> bytes:
        """Return metadata with right protection information (of the type) for a block."""
        s = self.shape
        rest = bytes((lba + i) & 0xFF for i in range(s.meta - 8))
        if not s.kind:
            return (rest + struct.pack("<Q", lba * 7 + 1))[: s.meta]
        covered = data if s.first else data + rest
        tuple_ = pi(covered, lba, app)
        return tuple_ + rest if s.first else rest + tuple_

    def checks(self) -> int:
        """Return the checks that the type has, without the application tag."""
        return (0, GUARD | REF, GUARD | REF, GUARD)[self.shape.kind]

    def write_blocks(self, lba: int, blocks: list[bytes], app: int = 0) -> int:
        """Write blocks with their metadata; return the status."""
        self.give(b"".join(blocks), b"".join(self.meta_of(b, lba + i, app) for i, b in enumerate(blocks)))
        return self.run_io(WRITE, lba, len(blocks), self.checks(), app=app)

    def assert_block(self, lba: int, data: bytes, meta: bytes, info: int | None = None) -> None:
        """Read a block and compare."""
        self.give(b"\xee" * self.shape.block, b"\xee" * self.shape.meta)
        self.assertEqual(self.run_io(READ, lba, 1, self.checks() if info is None else info), 0)
        self.assertEqual(self.got(), (data, meta))

    def flush(self) -> None:
        """Flush."""
        self.nvme.io.put(FLUSH, 1)
        self.assertEqual(self.nvme.finish().code, 0)


def block(size: int, seed: int) -> bytes:
    """Content of a block."""
    return random.Random(seed).randbytes(size)


class Formats(MetadataTest):
    """Test what is offered, and how blocks move."""

    def test_offered(self) -> None:
        """The controller offers the formats for which there is room. The size of the data stays the same."""
        for room, ms in ((8, [0, -1, -1, -1, 0, 8, -1, -1]), (64, [0, 8, -1, -1, 0, 8, 16, 64]),
                         (128, [0, 8, 16, -1, 0, 8, 16, 64]), (512, [0, 8, 16, 64, 0, 8, 16, 64])):
            self.begin(ftl__metadata_bytes=room, geometry__oob_bytes=2200)
            rows = struct.unpack_from("<8I", self.identify(0, 1), 128)
            self.assertEqual([row & 0xFFFF if row >> 16 & 0xFF else -1 for row in rows], ms)
            self.assertEqual(self.identify(0, 1)[25], 7)
            for index, want in enumerate(ms):
                self.format(Shape(index, kind=0), INVALID_FORMAT if want < 0 else 0)
                if want >= 0:
                    self.assertEqual(self.blocks(1), SPACE // (512 if index < 4 else 4096))
            self.vm.close()

    def boot(self, format_: str, **settings: Any) -> None:
        """Start a drive with a namespace whose format is not one of the usual."""
        controller = test_nvme.CONTROLLER.replace(",drive=ssd0", "")
        args = ("-device", controller, "-device", f"nvme-ns,bus=nvme0,drive=ssd0,{format_}")
        self.vm = self.machine([drive(**settings)], *args)
        self.nvme = Nvme(self.vm)
        self.nvme.enable()
        self.nvme.grain_ns = GRAIN_NS

    def test_no_room(self) -> None:
        """A namespace whose format the drive has no room for is an error, which says what to set."""
        large = "logical_block_size=4096,physical_block_size=4096"
        wide = {"ftl__metadata_bytes": 2048, "geometry__oob_bytes": 20000}
        cases: tuple[tuple[str, dict[str, int], str], ...] = (
            ("ms=8,pi=1", {"ftl__metadata_bytes": 8}, "ms=8 of blocks of 512 bytes: set it to 64 or more"),
            ("ms=64", {"ftl__metadata_bytes": 64}, "ms=64 of blocks of 512 bytes: set it to 512 or more"),
            (f"ms=16,{large}", {"ftl__metadata_bytes": 8}, "ms=16 of blocks of 4096 bytes: set it to 16 or more"),
            (f"ms=12,{large}", {"ftl__metadata_bytes": 64}, "ms=12 of blocks of 4096 bytes: set ms to a multiple of 8"),
            (f"ms=4,{large}", {"ftl__metadata_bytes": 64}, "ms=4 of blocks of 4096 bytes: set ms to a multiple of 8"),
            ("ms=256", wide, "ms=256 of blocks of 512 bytes: set ms to 254 or less"),
        )
        for format_, settings, words in cases:
            said = f"ftl.metadata_bytes has no room for {words}"
            with self.subTest(format_), self.assertRaisesRegex(AssertionError, said):
                self.boot(format_, **settings)

    def test_unusual(self) -> None:
        """Other formats that fit keep all of their metadata."""
        for format_, block_bytes, meta, settings in (
            ("ms=24,logical_block_size=4096,physical_block_size=4096", 4096, 24, {"ftl__metadata_bytes": 64}),
            ("ms=254", 512, 254, {"ftl__metadata_bytes": 2048, "geometry__oob_bytes": 20000}),
        ):
            self.boot(format_, **settings)
            self.shape = Shape(8, block_bytes, meta, 0)
            data, metadata = block(block_bytes * 2, 1), block(meta * 2, 2)
            for _ in range(2):
                self.give(data, metadata)
                self.assertEqual(self.run_io(WRITE, 3, 2), 0)
                self.give(bytes(block_bytes * 2), bytes(meta * 2))
                self.assertEqual(self.run_io(READ, 3, 2), 0)
                self.assertEqual(self.got(2), (data, metadata))
                self.flush()
            self.vm.close()

    def test_dlfeat(self) -> None:
        """Deallocated blocks read as zeroes with PI alone; DEAC exists if metadata are not in the spare area."""
        inside = ((4, 0, 0, 9), (5, 8, 0, 0), (5, 8, 1, 1), (6, 16, 1, 0), (1, 8, 3, 1))
        for room, rows in ((64, inside), (0, ((5, 8, 1, 9),))):
            self.begin(ftl__metadata_bytes=room)
            for lbaf, meta, kind, want in rows:
                with self.subTest(room=room, lbaf=lbaf, kind=kind):
                    self.format(Shape(lbaf, 4096, meta, kind))
                    self.assertEqual(self.identify(0, 1)[33], want)
            self.vm.close()

    def test_behind_the_data(self) -> None:
        """Without room in the spare area metadata are in the namespace, which has fewer blocks."""
        self.make(Shape(), 0)
        self.assertEqual(self.blocks(1), SPACE // 4104)
        one = block(4096, 1)
        self.assertEqual(self.write_blocks(3, [one]), 0)
        self.assertEqual([(row["op"], int(row["bytes"])) for row in self.vm.trace("submit")][-3:],
                         [("write", 4096), ("read", 512), ("write", 512)], "eight bytes of a sector")
        self.assert_block(3, one, pi(one, 3))

    def test_one_request(self) -> None:
        """A command is one request of the drive, of its data; the bytes of metadata cross the link, too."""
        self.make(Shape(), 8, link__generation=2, link__lanes=2, link__data_permille=1000, link__latency_ns=500)
        one = block(4096, 1)
        self.assertEqual(self.write_blocks(3, [one]), 0)
        self.flush()
        since = len(self.vm.trace("submit"))
        self.give(one, pi(one, 3))
        for opcode in (WRITE, READ, VERIFY, COMPARE):
            self.assertEqual(self.run_io(opcode, 3, 1, GUARD | REF), 0)
        rows = self.vm.trace("submit")[since:]
        done = {row["id"]: int(row["latency"]) for row in self.vm.trace("done")}
        at = [(row["op"], int(row["offset"]), int(row["bytes"])) for row in rows]
        self.assertEqual(at, [("write", 3 * UNIT, UNIT)] + [("read", 3 * UNIT, UNIT)] * 3)
        # firmware, look-up and buffer; a ns for each of 4104 bytes, and the link's latency
        self.assertEqual([done[row["id"]] for row in rows[:2]], [1200 + 2000 + 4104 + 500] * 2)
        self.assertEqual(done[rows[2]["id"]], 1200 + 2000 + 500, "a Verify moves no data")
        self.assertEqual(self.run_io(WRITE_ZEROES, 3, 1, PRACT), 0)
        self.assertEqual(int(self.vm.trace("done")[-1]["latency"]), 1200 + 2000 + 500, "nor does a Write Zeroes")

    def round_trip(self, shape: Shape) -> None:
        """The host writes three blocks with metadata, and then errors that the controller must find."""
        size, first = shape.block, 5
        blocks = [block(size, i) for i in range(3 if size == 512 else 1)]
        self.assertEqual(self.write_blocks(first, blocks, app=0x1234), 0)
        for _ in range(2):
            for i, data in enumerate(blocks):
                self.assert_block(first + i, data, self.meta_of(data, first + i, 0x1234))
            self.flush()
        if not shape.kind:
            return
        self.assertEqual(self.run_io(READ, first, 1, APP, app=0x1234, mask=0xFFFF), 0)
        self.assertEqual(self.run_io(READ, first, 1, APP, app=0x1235, mask=0xFFFF), APP_ERROR)
        if shape.kind < 3:
            self.assertEqual(self.run_io(READ, first, 1, REF, ref=first + (shape.kind == 2)),
                             REF_ERROR if shape.kind == 2 else 0)
        self.give(blocks[0], self.meta_of(b"x" + blocks[0][1:], first, 0x1234))
        self.assertEqual(self.run_io(WRITE, first, 1, GUARD), GUARD_ERROR)
        self.assert_block(first, blocks[0], self.meta_of(blocks[0], first, 0x1234))
        self.give(blocks[0], self.meta_of(b"x" + blocks[0][1:], first, 0x1234))
        self.assertEqual(self.run_io(WRITE, first, 1, 0), 0, "unchecked")
        self.assertEqual(self.run_io(READ, first, 1, GUARD), GUARD_ERROR)
        self.assertEqual(self.run_io(VERIFY, first, 1, GUARD), GUARD_ERROR)
        # the controller inserts, and strips if there is nothing else
        self.give(blocks[0], bytes(shape.meta))
        self.assertEqual(self.run_io(WRITE, first, 1, PRACT, app=0x77), 0)
        self.assertEqual(self.run_io(READ, first, 1, GUARD | APP, app=0x77, mask=0xFFFF), 0)
        want = blocks[0] if shape.first else blocks[0] + bytes(shape.meta - 8)
        place = slice(0, 8) if shape.first else slice(shape.meta - 8, shape.meta)
        self.assertEqual((self.got()[0], self.got()[1][place]), (blocks[0], pi(want, first, 0x77)))

    def test_round_trips(self) -> None:
        formats = ((64, 1, 512, 8), (64, 5, 4096, 8), (64, 6, 4096, 16), (128, 2, 512, 16), (512, 3, 512, 64),
                   (64, 7, 4096, 64))
        for room, lbaf, size, meta in formats:
            self.begin(ftl__metadata_bytes=room, geometry__oob_bytes=2200)
            self.nvme.grain_ns = GRAIN_NS
            for kind, extended in ((0, False), (0, True), (1, False), (1, True), (2, False), (3, True)):
                shape = Shape(lbaf, size, meta, kind, extended, first=bool(kind and meta > 8 and extended))
                with self.subTest(shape=shape):
                    self.format(shape)
                    self.round_trip(shape)
            self.vm.close()

    def test_guards_of_64_bits(self) -> None:
        """The tuple of 16 bytes has a CRC-64; the rest of the metadata precedes it and is covered."""
        large = "logical_block_size=4096,physical_block_size=4096"
        for format_, size, meta in ((f"ms=16,pi=1,pif=2,{large}", 4096, 16), (f"ms=64,pi=1,pif=2,{large}", 4096, 64),
                                    ("ms=32,pi=1,pif=2", 512, 32)):
            self.boot(format_, ftl__metadata_bytes=512, geometry__oob_bytes=2200)
            self.shape = Shape(8, size, meta, 1)
            data, rest = block(size, 1), block(meta - 16, 2)
            whole = rest + struct.pack(">QHHI", guard64(data + rest), 0x1234, 0, 5)
            wrong = rest + struct.pack(">QHHI", guard64(data + rest) ^ 1, 0x1234, 0, 5)
            with self.subTest(format_):
                self.give(data, wrong)
                self.assertEqual(self.run_io(WRITE, 5, 1, GUARD | REF), GUARD_ERROR)
                self.give(data, whole)
                self.assertEqual(self.run_io(WRITE, 5, 1, GUARD | REF), 0)
                for _ in range(2):
                    self.assert_block(5, data, whole, GUARD | REF)
                    self.flush()
                self.give(data, wrong)
                self.assertEqual(self.run_io(WRITE, 5), 0, "unchecked")
                self.assertEqual(self.run_io(READ, 5, 1, GUARD), GUARD_ERROR)
            self.vm.close()

    def test_without_a_pointer(self) -> None:
        """Separate metadata to which no pointer is given are zeroes, and are not read."""
        self.make(Shape(1, 512, 8, 0))
        self.give(b"a" * 512, b"b" * 8)
        self.assertEqual(self.run_io(WRITE, 0), 0)
        self.assertEqual(self.run_io(WRITE, 1, meta_at=0), 0)
        self.assert_block(0, b"a" * 512, b"b" * 8)
        self.assert_block(1, b"a" * 512, bytes(8))
        self.give(b"d" * 512, b"c" * 8)
        self.assertEqual(self.run_io(READ, 0, meta_at=0), 0)
        self.assertEqual(self.got(), (b"a" * 512, b"c" * 8))


class Commands(MetadataTest):
    """Test the other commands of a namespace with protection information of type 1."""

    def test_deallocated(self) -> None:
        """Metadata of blocks that were never written, or were trimmed, are FFh, which disables the checks."""
        for lbaf, size in ((1, 512), (5, 4096)):
            self.make(Shape(lbaf, size))
            one = block(size, 1)
            self.assert_block(7, bytes(size), b"\xff" * 8, GUARD | APP | REF)
            per = UNIT // size
            self.assertEqual(self.write_blocks(8 * per, [one]), 0)
            self.assertEqual(self.write_blocks(9 * per, [one]), 0)
            self.flush()
            self.vm.write(DATA, struct.pack("<IIQ", 0, per, 8 * per))
            self.nvme.io.put(DSM, 1, DATA, dwords={10: 0, 11: 4})
            self.assertEqual(self.nvme.finish().code, 0)
            self.assert_block(8 * per, bytes(size), b"\xff" * 8)
            self.assert_block(9 * per, one, pi(one, 9 * per))
            self.format(self.shape)
            self.assert_block(9 * per, bytes(size), b"\xff" * 8)
            self.vm.close()

    def test_write_zeroes(self) -> None:
        for lbaf, size in ((1, 512), (5, 4096)):
            self.make(Shape(lbaf, size))
            one, zero = block(size, 1), bytes(size)
            for lba in range(4):
                self.assertEqual(self.write_blocks(lba, [one]), 0)
            since = len(self.vm.trace("submit"))
            self.assertEqual(self.run_io(WRITE_ZEROES, 1, 2, PRACT, app=9), 0)
            self.assertEqual(len(self.vm.trace("submit")) - since, 1)
            self.assert_block(0, one, pi(one, 0))
            self.assert_block(1, zero, pi(zero, 1, 9))
            self.assert_block(2, zero, pi(zero, 2, 9))
            self.assert_block(3, one, pi(one, 3))
            self.assertEqual(self.run_io(WRITE_ZEROES, 3), 0)
            self.assert_block(3, zero, bytes(8), GUARD)
            self.assertEqual(self.run_io(WRITE_ZEROES, 3, 1, GUARD), 0x181)
            # 4 MiB, in pieces of memory that the request repeats
            self.assertEqual(self.run_io(WRITE_ZEROES, 16, 4 * MIB // size, PRACT), 0)
            for lba in (16, 17, 16 + 4 * MIB // size - 1):
                self.assert_block(lba, zero, pi(zero, lba))
            self.vm.close()

    def test_deac(self) -> None:
        """After Deallocate metadata are zeroes, too."""
        self.make(Shape(1, 512, 8, 0))
        self.assertEqual(self.write_blocks(0, [block(512, i) for i in range(8)]), 0)
        self.nvme.io.put(WRITE_ZEROES, 1, dwords={10: 0, 12: 7 | 1 << 25})
        self.assertEqual(self.nvme.finish().code, 0)
        self.assert_block(5, bytes(512), bytes(8))

    def test_aborted_read(self) -> None:
        """An aborted Read reports the abort although its protection information is right, and moves nothing."""
        self.make(Shape())
        self.assertEqual(self.write_blocks(3, [block(4096, 1)]), 0)
        self.flush()
        self.give(b"\xee" * 4096, b"\xee" * 8)
        cid = self.nvme.io.put(READ, 1, DATA, 0, {4: META, 10: 3, 12: 0, 14: 3})
        self.nvme.io.ring()
        self.nvme.admin.put(0x08, 0, dwords={10: 1 | cid << 16})
        self.nvme.admin.ring()
        self.assertEqual(self.nvme.wait(self.nvme.admin, grain_ns=1).code, 0)
        self.assertEqual(self.nvme.finish().code, ABORTED)
        self.assertEqual(self.got(), (b"\xee" * 4096, b"\xee" * 8))

    def test_compare(self) -> None:
        self.make(Shape(6, 4096, 16))
        one = block(4096, 1)
        self.assertEqual(self.write_blocks(2, [one]), 0)
        self.give(one, self.meta_of(one, 2))
        self.assertEqual(self.run_io(COMPARE, 2, 1, GUARD | REF), 0)
        self.give(one[:-1] + b"!", self.meta_of(one, 2))
        self.assertEqual(self.run_io(COMPARE, 2, 1, GUARD | REF), DIFFERS)
        self.format(Shape(6, 4096, 16, 0))
        self.assertEqual(self.write_blocks(2, [one]), 0)
        self.give(one, self.meta_of(one, 2))
        self.assertEqual(self.run_io(COMPARE, 2), 0)
        self.give(one, self.meta_of(one, 3))
        self.assertEqual(self.run_io(COMPARE, 2), DIFFERS)

    def copy(self, to: int, first: int, count: int, read: int, write: int, ref: int) -> int:
        """Copy a range with PRINFOR and PRINFOW; return the status."""
        self.vm.write(DATA, struct.pack("<QQH6xIHH", 0, first, count - 1, first, 0, 0))
        words = {10: to, 12: read << 12 | write << 26, 14: ref}
        self.nvme.io.put(COPY, 1, DATA, dwords=words)
        return self.nvme.finish().code

    def test_copy(self) -> None:
        """Protection information is checked, and made anew for the destination."""
        self.make(Shape(1, 512))
        blocks = [block(512, i) for i in range(5)]
        self.assertEqual(self.write_blocks(10, blocks), 0)
        self.flush()
        since = len(self.vm.trace("submit"))
        self.assertEqual(self.copy(101, 10, 5, PRACT | GUARD | REF, PRACT, 101), 0)
        self.assertEqual([(row["op"], row["bytes"]) for row in self.vm.trace("submit")[since:]],
                         [("read", "2560"), ("write", "2560")])
        for i, data in enumerate(blocks):
            self.assert_block(101 + i, data, pi(data, 101 + i))
            self.assert_block(10 + i, data, pi(data, 10 + i))
        self.assertEqual(self.copy(200, 10, 5, GUARD | REF, REF, 200), REF_ERROR, "of the source's blocks")

    def test_write_uncorrectable(self) -> None:
        """A block is lost alone; its neighbours in the unit keep data and metadata."""
        self.make(Shape(1, 512))
        blocks = [block(512, i) for i in range(8)]
        self.assertEqual(self.write_blocks(0, blocks), 0)
        self.flush()
        self.assertEqual(self.run_io(WRITE_UNCORRECTABLE, 3), 0)
        for _ in range(2):
            for lba, data in enumerate(blocks):
                if lba != 3:
                    self.assert_block(lba, data, pi(data, lba))
            self.assertEqual(self.run_io(READ, 3), UNREADABLE)
            self.flush()
        self.assertEqual(self.write_blocks(3, [blocks[0]]), 0)
        self.assert_block(3, blocks[0], pi(blocks[0], 3))


class Work(MetadataTest):
    """Many writes of few blocks are in flight; each block's application tag names the write that its data are of."""

    def setUp(self) -> None:
        self.slot = 0
        self.zeroed: set[int] = set()  # versions

    def one(self, lba: int, version: int) -> bytes:
        """Return the content of a block of a version."""
        return (version * 1000 + lba).to_bytes(8, "little") * (self.shape.block // 8)

    def write_version(self, lba: int, count: int, version: int, **more: int) -> None:
        """Place a write of blocks with protection information."""
        at = (self.slot + 1) % 16
        self.slot = at
        blocks = [self.one(lba + i, version) for i in range(count)]
        self.vm.write(DATA + at * 0x2000, b"".join(blocks))
        self.vm.write(META + at * 0x400, b"".join(pi(b, lba + i, version) for i, b in enumerate(blocks)))
        self.put_io(WRITE, lba, count, GUARD | REF, at=DATA + at * 0x2000, meta_at=META + at * 0x400, **more)

    def check(self, lba: int, allowed: set[int], said: str) -> int:
        """Read a block with all checks: data and metadata are of the same write, one of these. Return it."""
        self.assertEqual(self.run_io(READ, lba, 1, GUARD | REF), 0, f"{said}: block {lba}")
        data, meta = self.got()
        app = struct.unpack(">H", meta[2:4])[0]
        version = 0 if meta == b"\xff" * 8 else app
        zero = not version or version in self.zeroed
        self.assertEqual(data, bytes(self.shape.block) if zero else self.one(lba, version), f"{said}: block {lba}")
        self.assertIn(version, allowed, f"{said}: block {lba}")
        return version

    def test_garbage_collection(self) -> None:
        for lbaf, size in ((1, 512), (5, 4096)):
            self.make(Shape(lbaf, size), **TINY)
            self.zeroed.clear()
            rng, per = random.Random(f"metadata {lbaf}"), UNIT // size
            blocks = self.blocks(1)
            self.assertEqual(blocks, (2 * MIB - UNIT) // size)
            for _ in range(2):  # all of the flash is written once
                self.assertEqual(self.run_io(WRITE_ZEROES, 0, blocks, PRACT), 0)
            have: dict[int, int] = {}
            for version in range(1, 241):
                long = version % 4 == 0  # zeroes with protection information
                count = rng.randint(1, 2 * per) * (20 if long else 1)
                lba = rng.randrange(blocks - count)
                if long:
                    self.zeroed.add(version)
                    self.put_io(WRITE_ZEROES, lba, count, PRACT, app=version)
                else:
                    self.write_version(lba, count, version)
                self.assertEqual(self.nvme.finish().code, 0)
                have.update({lba + i: version for i in range(count)})
            total = self.vm.stats()["total"]["ftl"]
            self.assertGreater(total["gc-units"], 50)
            for lba in rng.sample(range(blocks), 100):
                self.check(lba, {have.get(lba, 0)}, "after GC")
            self.vm.close()

    def cut(self, at_ns: int) -> None:
        """Start what was placed, cut at_ns later, and switch on."""
        began = self.vm.step(1)
        self.vm.qmp("x-nand-ssd-power-cut", node_name="ssd0", at_ns=began + at_ns)
        self.nvme.io.ring()
        self.vm.step(at_ns + 1000)
        self.nvme = power_on(self.vm, 1_000_000, GRAIN_NS)

    def sweep(self, lbaf: int, size: int, cuts: int, **settings: Any) -> tuple[int, int]:
        """Cut in the midst of writes, again and again; return how many blocks had the old and a new version."""
        self.make(Shape(lbaf, size), ftl__buffer_units=settings.pop("buffer", 8), **settings)
        rng = random.Random(f"cuts {lbaf}")
        kept: dict[int, int] = dict.fromkeys(range(64), 0)
        outcomes = [0, 0]
        version = 0
        for step in range(cuts):
            later: dict[int, set[int]] = {}
            for _ in range(12):
                version += 1
                count = rng.randint(1, 4 if size == 512 else 1)
                lba = rng.randrange(64 - count)
                self.write_version(lba, count, version, fua=rng.random() < 0.3)
                for i in range(count):
                    later.setdefault(lba + i, set()).add(version)
            self.cut(rng.randrange(3_000_000))
            for lba, versions in later.items():
                found = self.check(lba, versions | {kept[lba]}, f"cut {step}")
                outcomes[found in versions] += 1
                kept[lba] = found
        return outcomes[0], outcomes[1]

    def test_cuts(self) -> None:
        for lbaf, size in ((1, 512), (5, 4096)):
            old, new = self.sweep(lbaf, size, 15)
            self.assertGreater(min(old, new), 10)
            self.vm.close()


if __name__ == "__main__":
    unittest.main()

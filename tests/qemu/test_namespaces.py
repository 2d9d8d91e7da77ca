# SPDX-License-Identifier: GPL-2.0-or-later
"""Namespaces of a nand-ssd: created, attached, formatted and deleted; kept over restarts and power cuts; bad tables.
small.ini has 256 MiB, in units of 4 KiB, of which the last one holds the table.
"""

from __future__ import annotations

import functools
import os
import random
import struct
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support import Json, drive, file_opts, qemu_io

import test_nvme
from nvme import FLUSH, GET_LOG, IDENTIFY, READ, WRITE, Completion, Nvme
from test_power import BUS_NS, PROGRAM_NS, QUICK

MANAGEMENT, ATTACHMENT, FORMAT, EVENT, COPY, WRITE_ZEROES, DSM = 0x0D, 0x15, 0x80, 0x0C, 0x19, 0x08, 0x09
CREATE, DELETE, ATTACH, DETACH = 0, 1, 0, 1
INVALID_FIELD, INVALID_NSID, SEQUENCE_ERROR, OUT_OF_RANGE = 0x02, 0x0B, 0x0C, 0x80
INVALID_FORMAT, NO_CAPACITY, NO_IDENTIFIER, ATTACHED, NOT_ATTACHED = 0x10A, 0x115, 0x116, 0x118, 0x11A
THIN, BAD_LIST, NO_COMMAND_SET = 0x11B, 0x11C, 0x129
ALL = 0xFFFFFFFF
UNIT, MIB = 4096, 1 << 20
SPACE = 256 * MIB - UNIT
ROWS = 4
SCRATCH = 0x180000
ONES = 0xFFFFFFFF
CHANGED_LIST = 4  # a log
EVENT_TOLD = 2 | CHANGED_LIST << 16  # a notice, of information 0
BY_4K = 4  # index of the format with 4096 bytes
SIZES = {0: 512, BY_4K: 4096, 6: 4096 + 16}  # bytes of a block with its metadata
HEAD, ROW = "<8sHHIII8x", "<IIQIBBBx"


def crc32c(data: bytes) -> int:
    """Compute Castagnoli's CRC bit by bit."""
    crc = ONES
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ ONES


def record(
    *rows: tuple[int, ...], magic: bytes = b"SLATE-NS", version: int = 1, rest: bytes = b"", **more: int
) -> bytes:
    """Return a table as in SPEC.md. A row is start, units, blocks, number, FLBAS, DPS, flags."""
    sizes = more.get("unit", UNIT), more.get("units", SPACE // UNIT)
    data = struct.pack(HEAD, magic, version, more.get("count", 16), more.get("number", 7), *sizes)
    data += b"".join(struct.pack(ROW, *row) for row in rows)
    data = data.ljust(508 - len(rest), b"\0") + rest
    return data + struct.pack("<I", crc32c(data) ^ more.get("flip", 0))


@dataclass
class Row:
    """Holds a namespace of the model."""

    start: int
    units: int
    blocks: int
    on: bool = False


class Model:
    """Models namespaces as extents of a drive, each in the first free place; an array has each unit's namespace."""

    def __init__(self, units: int, most: int) -> None:
        self.units, self.most = units, most
        self.rows = {1: Row(0, units, units * UNIT // 512, True)}

    def create(self, blocks: int, lbaf: int) -> tuple[int, int]:
        """Return the status and the NSID."""
        free = [nsid for nsid in range(1, self.most + 1) if nsid not in self.rows]
        if not free:
            return NO_IDENTIFIER, 0
        units = -(-blocks * SIZES[lbaf] // UNIT)
        used = bytearray(self.units)
        for row in self.rows.values():
            used[row.start : row.start + row.units] = b"\1" * row.units
        start = used.find(bytes(units))
        if start < 0:
            return NO_CAPACITY, 0
        self.rows[free[0]] = Row(start, units, blocks)
        return 0, free[0]

    def delete(self, nsid: int) -> int:
        """Return the status."""
        return 0 if self.rows.pop(nsid, None) else INVALID_FIELD

    def attach(self, nsid: int, on: bool) -> int:
        """Return the status."""
        row = self.rows.get(nsid)
        if not row or row.on == on:
            return INVALID_FIELD if not row else ATTACHED if on else NOT_ATTACHED
        row.on = on
        return 0

    def format(self, nsid: int, lbaf: int) -> int:
        """Return the status."""
        row = self.rows.get(nsid)
        if not row or not row.on:
            return INVALID_FIELD
        row.blocks = row.units * UNIT // SIZES[lbaf]
        return 0


class NamespaceTest(test_nvme.NvmeTest):
    """Test a controller on a drive with a table."""

    def begin(self, first: str = "", options: Json | None = None, **settings: Any) -> Nvme:
        """Return the running controller."""
        device = test_nvme.CONTROLLER + (f",namespaces={first}" if first else "")
        blockdev = options or drive(**{"drive__namespaces": ROWS, **settings})
        self.vm = self.machine([blockdev], "-device", device)
        self.nvme = Nvme(self.vm)
        self.nvme.enable()
        return self.nvme

    def admin(self, opcode: int, nsid: int = 0, data: bytes = b"", **dwords: int) -> Completion:
        """Run an admin command that may take time; data fills a page. Words as dw10=..."""
        self.put(opcode, nsid, data, **dwords)
        self.nvme.admin.ring()
        return self.nvme.wait(self.nvme.admin)

    def put(self, opcode: int, nsid: int = 0, data: bytes = b"", **dwords: int) -> None:
        """Place an admin command."""
        self.vm.write(SCRATCH, data.ljust(4096, b"\0"))
        self.nvme.admin.put(opcode, nsid, SCRATCH, dwords={int(name[2:]): value for name, value in dwords.items()})

    def create(self, blocks: int, flbas: int = 0, **fields: int) -> Completion:
        """Create a namespace; fields: capacity, dps, nmic, csi, nsid."""
        data = struct.pack("<QQ", blocks, fields.get("capacity", blocks)).ljust(26, b"\0")
        data += bytes((flbas, 0, 0, fields.get("dps", 0), fields.get("nmic", 0)))
        return self.admin(MANAGEMENT, fields.get("nsid", 0), data, dw10=CREATE, dw11=fields.get("csi", 0) << 24)

    def delete(self, nsid: int) -> int:
        """Delete a namespace; return the status."""
        return self.admin(MANAGEMENT, nsid, dw10=DELETE).code

    def attachment(self, nsid: int, how: int = ATTACH, controllers: tuple[int, ...] = (0,)) -> Completion:
        """Attach a namespace, or detach it."""
        data = struct.pack(f"<{1 + len(controllers)}H", len(controllers), *controllers)
        return self.admin(ATTACHMENT, nsid, data, dw10=how)

    def attach(self, nsid: int, how: int = ATTACH, controllers: tuple[int, ...] = (0,)) -> int:
        """Attach a namespace, or detach it; return the status."""
        return self.attachment(nsid, how, controllers).code

    def identify(self, cns: int, nsid: int = 0) -> bytes:
        """Return an Identify structure."""
        self.nvme.do_admin(IDENTIFY, nsid=nsid, prp1=SCRATCH, dwords={10: cns})
        return self.vm.read(SCRATCH, 4096)

    def listed(self, cns: int) -> list[int]:
        """Return a list of namespaces; cns 2: those that are attached, 0x10: all."""
        return [nsid for nsid in struct.unpack("<1024I", self.identify(cns)) if nsid]

    def capacity(self) -> tuple[int, int]:
        """Return total and unallocated capacity."""
        data = self.identify(1)
        return struct.unpack_from("<Q", data, 280)[0], struct.unpack_from("<Q", data, 296)[0]

    def blocks(self, nsid: int) -> int:
        """Return the size of an allocated namespace."""
        size: int = struct.unpack_from("<Q", self.identify(0x11, nsid))[0]
        return size

    def io(self, opcode: int, nsid: int, lba: int = 0, count: int = 1, data: bytes = b"", **words: int) -> int:
        """Run an I/O command with data in SCRATCH; return its status."""
        if data:
            self.vm.write(SCRATCH, data)
        dwords = {10: lba, 12: count - 1, **{int(name[2:]): value for name, value in words.items()}}
        self.nvme.io.put(opcode, nsid, SCRATCH if opcode != FLUSH else 0, 0, dwords if opcode != FLUSH else None)
        return self.nvme.finish().code

    def write(self, nsid: int, lba: int, text: bytes, size: int = 512) -> None:
        """Fill a block with a text."""
        self.assertEqual(self.io(WRITE, nsid, lba, data=text * (size // len(text))), 0)

    def assert_holds(self, nsid: int, lba: int, text: bytes, size: int = 512) -> None:
        """Compare a block with a text."""
        self.assertEqual(self.io(READ, nsid, lba), 0)
        self.assertEqual(self.vm.read(SCRATCH, size), text * (size // len(text)))


class Life(NamespaceTest):
    """Test commands and their statuses."""

    def test_without_a_table(self) -> None:
        """With drive.namespaces = 0 the feature is off. Above 0 the first namespace has all units but the last."""
        for rows, size, count, bit in ((0, SPACE + UNIT, 256, 0), (ROWS, SPACE, ROWS, 8)):
            self.begin(drive__namespaces=rows)
            data = self.identify(1)
            self.assertEqual(struct.unpack_from("<I", data, 516)[0], count)
            self.assertEqual(struct.unpack_from("<H", data, 256)[0] & 8, bit)
            self.assertEqual(self.capacity(), (SPACE, 0) if rows else (0, 0))
            self.assertEqual((self.listed(2), self.listed(0x10), self.blocks(1)), ([1], [1], size // 512))
            self.vm.close()

    def test_two_namespaces(self) -> None:
        self.begin(f"{64 * MIB}:512;{32 * MIB}:4096")
        self.assertEqual((self.listed(2), self.blocks(1), self.blocks(2)), ([1, 2], 64 * MIB // 512, 32 * MIB // UNIT))
        self.assertEqual(self.capacity(), (SPACE, SPACE - 96 * MIB))
        last = 64 * MIB // 512 - 1
        self.write(1, 0, b"first of one....")
        self.write(1, last, b"last of one.....")
        self.write(2, 0, b"first of two....", UNIT)
        self.write(2, 32 * MIB // UNIT - 1, b"last of two.....", UNIT)
        for _ in range(2):
            self.assert_holds(1, 0, b"first of one....")
            self.assert_holds(1, last, b"last of one.....")
            self.assert_holds(2, 0, b"first of two....", UNIT)
            self.assert_holds(2, 32 * MIB // UNIT - 1, b"last of two.....", UNIT)
            self.assertEqual(self.io(FLUSH, 2), 0)
            self.nvme.disable()
            self.nvme.enable()
        self.assertEqual(self.io(READ, 1, last + 1), OUT_OF_RANGE)
        self.assertEqual(self.io(WRITE, 2, 32 * MIB // UNIT), OUT_OF_RANGE)
        self.assertEqual(self.io(READ, 3), INVALID_FIELD)
        self.assertEqual(self.io(READ, ROWS + 1), INVALID_NSID)
        self.assertEqual(self.io(COPY, 2, 1, data=struct.pack("<QQH14x", 0, 0, 0)), 0)
        self.assert_holds(2, 1, b"first of two....", UNIT)
        self.assertEqual(self.io(WRITE_ZEROES, 2, 1), 0)
        self.assert_holds(2, 1, b"\0", UNIT)
        self.assertEqual(self.io(DSM, 2, data=struct.pack("<IIQ", 0, 1, 0), dw10=0, dw11=4, dw12=0), 0)
        self.assert_holds(2, 0, b"\0", UNIT)
        self.assert_holds(1, last, b"last of one.....")
        ids = [self.identify(0, nsid)[120:128] for nsid in (1, 2)]
        self.assertNotEqual(*ids)

    def test_create_attach_detach_delete(self) -> None:
        self.begin()
        self.write(1, 0, b"before")
        self.assertEqual(self.delete(1), 0)
        self.assertEqual((self.listed(2), self.listed(0x10), self.capacity()), ([], [], (SPACE, SPACE)))
        self.assertEqual(self.vm.stats()["total"]["trim"]["bytes"], SPACE)
        done = self.create(10 * MIB // 512)
        self.assertEqual((done.code, done.result), (0, 1))
        self.assertEqual((self.listed(2), self.listed(0x10)), ([], [1]))
        self.assertEqual(self.capacity(), (SPACE, SPACE - 10 * MIB))
        self.assertEqual(self.io(READ, 1), INVALID_FIELD)
        self.assertEqual(self.attach(1, DETACH), NOT_ATTACHED)
        self.assertEqual(self.attach(1), 0)
        self.assertEqual(self.attach(1), ATTACHED)
        self.assertEqual(struct.unpack_from("<HH", self.identify(0x12, 1)), (1, 0))
        self.assert_holds(1, 0, b"\0")
        self.write(1, 0, b"kept")
        self.assertEqual((self.create(5, BY_4K).result, self.attach(2)), (2, 0))
        self.assertEqual(self.capacity()[1], SPACE - 10 * MIB - 5 * UNIT)
        self.assertEqual((self.attach(1, DETACH), self.listed(2)), (0, [2]))
        self.nvme.disable()
        self.nvme.enable()
        self.assertEqual(self.listed(2), [2], "a detached namespace stays so")
        self.assertEqual(self.attach(1), 0)
        self.assert_holds(1, 0, b"kept")
        before = self.identify(0, 2)[120:128]
        self.assertEqual((self.delete(2), self.listed(2), self.listed(0x10)), (0, [1], [1]), "detached, too")
        self.assertEqual(self.create(5, BY_4K).result, 2)
        self.assertNotEqual(self.identify(0x11, 2)[120:128], before, "an identifier is not used again")
        self.assertEqual((self.delete(ALL), self.listed(0x10)), (0, []))

    def test_refused(self) -> None:
        self.begin(f"{MIB}:512;{MIB}:512;{MIB}:512")
        all_but = (SPACE - 3 * MIB) // 512
        for code, blocks, more in (
            (NO_CAPACITY, all_but + 1, {}),
            (NO_CAPACITY, 1 << 63, {}),
            (NO_CAPACITY, 0xFFFFFFFFFFFFFFFF, {"flbas": BY_4K}),
            (INVALID_FORMAT, 8, {"flbas": 8}),
            (INVALID_FORMAT, 8, {"dps": 1}),  # no metadata
            (INVALID_FIELD, 8, {"flbas": 2, "dps": 4}),
            (INVALID_FIELD, 8, {"nmic": 1}),
            (INVALID_FIELD, 8, {"nsid": 4}),
            (INVALID_FIELD, 0, {}),
            (INVALID_FIELD, 8, {"capacity": 9}),
            (THIN, 8, {"capacity": 7}),
            (NO_COMMAND_SET, 8, {"csi": 2}),
        ):
            with self.subTest(code=code, blocks=blocks, **more):
                self.assertEqual(self.create(blocks, **more).code, code)
        self.assertEqual(self.create(all_but).result, 4)
        self.assertEqual(self.create(1).code, NO_IDENTIFIER)
        self.assertEqual((self.delete(2), self.create(MIB // 512 + 1).code), (0, NO_CAPACITY))
        for nsid, code in ((0, INVALID_NSID), (2, INVALID_FIELD), (ROWS + 1, INVALID_NSID)):
            self.assertEqual((self.delete(nsid), self.attach(nsid)), (code, code))
        self.assertEqual(self.attach(4, controllers=()), BAD_LIST)
        self.assertEqual(self.attach(4, controllers=(1,)), BAD_LIST)
        self.assertEqual(self.attach(4, how=2), INVALID_FIELD)
        self.assertEqual(self.admin(MANAGEMENT, 4, dw10=2).code, INVALID_FIELD)
        self.assertEqual(self.listed(0x10), [1, 3, 4])

    def test_one_command_at_a_time(self) -> None:
        self.begin(f"{MIB}:512;{MIB}:512;{MIB}:512")
        self.io(WRITE, 1, data=b"busy" * 128)
        self.nvme.io.put(READ, 1, SCRATCH, 0, {10: 0, 12: 0})
        self.nvme.io.ring()
        self.put(MANAGEMENT, 1, dw10=DELETE)  # with a read in flight
        self.put(MANAGEMENT, 2, dw10=DELETE)
        self.put(FORMAT, 3)  # while the second is deleted
        self.nvme.admin.ring()
        codes = [self.nvme.wait(self.nvme.admin).code for _ in range(3)]
        self.assertEqual(sorted(codes), [0, SEQUENCE_ERROR, SEQUENCE_ERROR])
        self.assertEqual(self.listed(0x10), [1, 3])
        self.assertEqual(self.nvme.finish().code, 0)

    def test_waits_behind_another_namespace(self) -> None:
        """A read waits for a program that was given to the die at the same moment, of each namespace in turn."""
        one_die: Json = {"geometry__channels": 1, "geometry__planes_per_die": 1, "geometry__blocks_per_plane": 320}
        self.begin(f"{64 * MIB}:512;{32 * MIB}:4096", **one_die, **QUICK)
        program = BUS_NS + PROGRAM_NS
        self.write(2, 0, b"the second's....", UNIT)
        self.assertEqual(self.io(FLUSH, 2), 0)
        for writer, waits in ((1, (0, program)), (2, (program, program))):
            before = self.vm.stats()["total"]
            self.nvme.io.put(WRITE, writer, SCRATCH, 0, {10: 8, 12: 1 << 30})  # FUA
            self.nvme.io.put(READ, 2, SCRATCH, 0, {10: 0, 12: 0})
            self.assertEqual([self.nvme.finish().code for _ in range(2)], [0, 0])
            total = self.vm.stats()["total"]
            for op, own in (("read", True), ("write", False)):
                found = tuple(total[op][f"{name}-queue-ns"] for name in ("host", "namespace"))
                self.assertEqual(found, waits if own else (0, 0), (writer, op))
                self.assertEqual(total[op]["ios"], before[op]["ios"] + 1)

    def test_waits_for_the_core_and_the_link(self) -> None:
        """Two reads of unwritten blocks come at one moment; the first is of each namespace in turn.

        With one core the second command waits for the first one, and the first one's completion, which takes no time,
        for the second command. Over the link the second one's data wait for the first one's.
        """
        work = 1000 + 200  # of the core: ftl.overhead_ns, ftl.map_ns
        options: tuple[Json, ...] = ({"controller__cores": 1}, {"link__generation": 1, "link__lanes": 1})
        for more in options:
            for first in (1, 2):
                self.begin(f"{64 * MIB}:512;{32 * MIB}:4096", ftl__overhead_ns=1000, ftl__map_ns=200, **more)
                before = self.vm.stats()["total"]
                for nsid, blocks in ((first, 8 if first == 1 else 1), (2, 1)):
                    self.nvme.io.put(READ, nsid, SCRATCH, 0, {10: 8, 12: blocks - 1})
                self.assertEqual([self.nvme.finish().code for _ in range(2)], [0, 0])
                total = self.vm.stats()["total"]
                names = ("namespace-queue-ns", "controller-ns", "link-ns")
                found = {name: total["read"][name] - before["read"][name] for name in names}
                crossing = (total["ftl"]["link-to-host-busy-ns"] - before["ftl"]["link-to-host-busy-ns"]) // 2
                self.assertEqual(crossing > 0, "link__lanes" in more)
                wait = crossing or 2 * work
                self.assertEqual(found["namespace-queue-ns"], wait if first == 1 else 0)
                self.assertEqual(found["controller-ns"], 2 * work if not crossing and first == 2 else 0)
                self.assertEqual(found["link-ns"], crossing * (3 if first == 2 else 2))
                self.vm.close()

    def test_the_host_is_told(self) -> None:
        """Attachment and deletion raise the event; the log names the namespaces."""
        self.begin(f"{MIB}:512;{MIB}:512")
        for nsid, command in (
            (2, functools.partial(self.attachment, 2, DETACH)),
            (2, functools.partial(self.attachment, 2)),
            (1, functools.partial(self.admin, MANAGEMENT, 1, dw10=DELETE)),
        ):
            event = self.nvme.admin.put(EVENT)
            self.nvme.admin.ring()
            self.assertIsNone(self.nvme.admin.poll())
            told = [command(), self.nvme.wait(self.nvme.admin)]
            self.assertEqual([one.code for one in told], [0, 0])
            self.assertEqual(sorted((one.cid == event, one.result) for one in told), [(False, 0), (True, EVENT_TOLD)])
            self.nvme.do_admin(GET_LOG, prp1=SCRATCH, dwords={10: CHANGED_LIST | 1023 << 16})
            self.assertEqual(struct.unpack_from("<II", self.vm.read(SCRATCH, 8)), (nsid, 0))

    def test_formats(self) -> None:
        """The table has the format. Metadata and protection information are stored in the extent."""
        self.begin(f"{MIB}:512;{MIB}:512;{MIB}:512")
        for nsid, text in ((1, b"below..."), (3, b"above...")):
            for lba in (0, MIB // 512 - 1):
                self.write(nsid, lba, text)
        for lbaf, block, meta in ((4, 4096, 0), (1, 512, 8), (7, 4096, 64), (0, 512, 0)):
            self.assertEqual(self.admin(FORMAT, 2, dw10=lbaf | (1 << 4 if meta else 0)).code, 0)
            count = MIB // (block + meta)
            self.assertEqual(self.blocks(2), count)
            data = bytes(range(250)) * 17
            self.assertEqual(self.io(WRITE, 2, count - 1, data=data[: block + meta]), 0)
            self.nvme.disable()
            self.nvme.enable()
            self.assertEqual(self.io(READ, 2, count - 1), 0)
            self.assertEqual(self.vm.read(SCRATCH, block + meta), data[: block + meta])
            for nsid, text in ((1, b"below..."), (3, b"above...")):
                for lba in (0, MIB // 512 - 1):
                    self.assert_holds(nsid, lba, text)


class InFile(NamespaceTest):
    """A drive in a file."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "d"

    def options(self, **settings: Any) -> Json:
        """Return options of a drive in a file, which is made by the first use."""
        found = drive(**{"drive__namespaces": ROWS, **QUICK, **settings})
        found["drive-file"] = str(self.file)
        if self.file.exists():
            del found["profile"]
        return found

    def put_table(self, table: bytes) -> None:
        """Write a record to the last unit of a new drive."""
        data = self.file.with_name("table")
        data.write_bytes(table)
        self.file.unlink(missing_ok=True)
        options = file_opts(self.file, profile=True) + f",set.0=drive.namespaces={ROWS}"
        lines = [f"{key.replace('__', '.')}={value}" for key, value in QUICK.items()]
        options += "".join(f",set.{i}={line}" for i, line in enumerate(lines, 1))
        qemu_io(f"write -s {data} {SPACE} 512", "flush", opts=options)


class Kept(InFile):
    """Test the table in a drive's file, and after power cuts."""

    def test_killed(self) -> None:
        self.begin(f"{64 * MIB}:512;{32 * MIB}:4096", self.options())
        self.assertEqual(self.create(9, BY_4K).result, 3)
        self.assertEqual(self.attach(1, DETACH), 0)
        self.write(2, 5, b"kept", UNIT)
        self.assertEqual(self.admin(FORMAT, 3, dw10=6).code, INVALID_FIELD, "it is not attached")
        self.assertEqual(self.attach(3), 0)
        self.assertEqual(self.admin(FORMAT, 3, dw10=6).code, 0)
        self.assertEqual(self.io(FLUSH, 2), 0)
        names = [self.identify(0x11, nsid)[120:128] for nsid in (1, 2, 3)]
        self.vm.kill()
        self.vm.close()
        self.begin("", self.options())
        self.assertEqual((self.listed(0x10), self.listed(2)), ([1, 2, 3], [2, 3]))
        self.assertEqual([self.blocks(nsid) for nsid in (1, 2, 3)], [131072, 8192, 9 * UNIT // (UNIT + 16)])
        self.assertEqual([self.identify(0x11, nsid)[120:128] for nsid in (1, 2, 3)], names)
        self.assert_holds(2, 5, b"kept", UNIT)

    def test_random_commands(self) -> None:
        """Compare random commands, resets, power cuts and kills with a model. SEED=N repeats a run."""
        seed = int(os.environ.get("SEED", "1"))
        rng, model = random.Random(seed), Model(SPACE // UNIT, ROWS)
        self.begin("", self.options())
        for step in range(40):
            with self.subTest(seed=seed, step=step):
                kind = rng.choice(("create", "create", "delete", "attach", "detach", "format", "reset", "cut", "kill"))
                nsid, lbaf = rng.randint(1, ROWS), rng.choice((0, BY_4K, 6))
                if kind == "create":
                    units = rng.choice((1, 3, 1000, model.units // 2, model.units))
                    blocks = units * UNIT // SIZES[lbaf] - rng.randint(0, 2)
                    done = self.create(max(blocks, 1), lbaf)
                    self.assertEqual((done.code, done.result), model.create(max(blocks, 1), lbaf))
                elif kind == "delete":
                    self.assertEqual(self.delete(nsid), model.delete(nsid))
                elif kind in ("attach", "detach"):
                    how = ATTACH if kind == "attach" else DETACH
                    self.assertEqual(self.attach(nsid, how), model.attach(nsid, kind == "attach"))
                elif kind == "format":
                    self.assertEqual(self.admin(FORMAT, nsid, dw10=lbaf).code, model.format(nsid, lbaf))
                else:
                    self.interrupt(kind)
                attached = [n for n in sorted(model.rows) if model.rows[n].on]
                self.assertEqual(self.table(), (sorted(model.rows), attached))
                self.assertEqual(self.capacity(), (SPACE, SPACE - sum(row.units for row in model.rows.values()) * UNIT))
                self.assertEqual([self.blocks(n) for n in model.rows], [row.blocks for row in model.rows.values()])

    def interrupt(self, kind: str) -> None:
        """Reset the controller, or end the drive's power or QEMU, and go on."""
        if kind == "reset":
            self.nvme.disable()
        elif kind == "cut":
            self.vm.qmp("x-nand-ssd-power-cut", node_name="ssd0")
            self.vm.step(1000)
            self.vm.qmp("x-nand-ssd-power-on", node_name="ssd0")
            self.vm.step(50_000_000)
            self.nvme = Nvme(self.vm)
        else:
            self.vm.kill()
            self.vm.close()
            self.begin("", self.options())
            return
        self.nvme.enable()

    def cut_in(self, work: Any, at_ns: int) -> None:
        """Begin a command, cut the power at_ns after its first request, and switch it on."""
        requests = len(self.vm.trace("submit"))
        work()
        self.nvme.admin.ring()
        began = int(self.vm.trace("submit")[requests]["now"])
        self.vm.qmp("x-nand-ssd-power-cut", node_name="ssd0", at_ns=began + at_ns)
        self.vm.step(20_000_000)
        self.vm.qmp("x-nand-ssd-power-on", node_name="ssd0")
        self.vm.step(50_000_000)
        self.nvme = Nvme(self.vm)
        self.nvme.enable()

    def table(self) -> tuple[list[int], list[int]]:
        """Return the allocated namespaces and the attached ones."""
        return self.listed(0x10), self.listed(2)

    def test_cut_in_each_command(self) -> None:
        """A cut before the end of the program leaves the old table, a later one the new table."""
        new = struct.pack("<QQ", 8, 8)
        zero = struct.pack("<HH", 1, 0)
        end = BUS_NS + PROGRAM_NS
        for name, work, old, after in (
            ("create", lambda: self.put(MANAGEMENT, 0, new), ([1, 2], [1, 2]), ([1, 2, 3], [1, 2])),
            ("detach", lambda: self.put(ATTACHMENT, 2, zero, dw10=DETACH), ([1, 2], [1, 2]), ([1, 2], [1])),
            ("delete", lambda: self.put(MANAGEMENT, 2, dw10=DELETE), ([1, 2], [1, 2]), ([1], [1])),
        ):
            self.begin(f"{MIB}:512;{UNIT}:4096", drive(drive__namespaces=ROWS, **QUICK))
            self.write(1, 7, b"data")
            self.assertEqual(self.io(FLUSH, 1), 0)
            for at_ns in (0, BUS_NS, end - 1, 2 * end + 10_000_000):
                with self.subTest(command=name, at_ns=at_ns):
                    self.cut_in(work, at_ns)
                    self.assertEqual(self.table(), old if at_ns < end else after)
                    self.assert_holds(1, 7, b"data")
            self.vm.close()

    def test_the_controller_waits_for_the_table(self) -> None:
        """A controller that is enabled while the table is being read is ready when it has been read."""
        self.begin(f"{MIB}:512;{MIB}:512", drive(drive__namespaces=ROWS, **QUICK))
        self.vm.qmp("x-nand-ssd-power-cut", node_name="ssd0")
        self.vm.step(1000)
        self.vm.qmp("x-nand-ssd-power-on", node_name="ssd0")
        self.nvme = Nvme(self.vm)
        with self.assertRaises(AssertionError):
            self.nvme.enable()
        self.vm.step(50_000_000)
        self.assertEqual(self.nvme.get32(0x1C), 1)
        self.nvme.make_io_queue()
        self.assertEqual(self.table(), ([1, 2], [1, 2]))

    def test_strange_tables(self) -> None:
        """A record with a fault ends QEMU with a sentence. Other content of the unit means that there is no table."""
        whole = SPACE // UNIT
        sound = (0, 2, 16, 1, 0, 0, 1)
        for words, table in (
            ("a wrong checksum", record(sound, flip=1)),
            ("another version", record(sound, version=2)),
            ("another version", record(sound, count=15)),
            ("the size of another drive", record(sound, unit=512)),
            ("the size of another drive", record(sound, units=whole + 1)),
            ("an extent that reaches beyond the drive", record((1, whole, 8, 1, 0, 0, 1))),
            ("an extent that reaches beyond the drive", record((ONES, 2, 8, 1, 0, 0, 1))),
            ("an extent that reaches beyond the drive", record((0, ONES, 8, 1, 0, 0, 1))),
            ("unknown flags", record((0, 2, 16, 1, 0, 0, 3))),
            ("values that are not defined", record(sound, number=0)),
            ("values that are not defined", record(sound, rest=b"\1")),
            ("a format that the controller does not have", record((0, 2, 16, 1, 8, 0, 1))),
            ("a format that the controller does not have", record((0, 2, 16, 1, 0x60, 0, 1))),
            ("a format that the controller does not have", record((0, 2, 16, 1, 0, 1, 1))),
            ("more blocks than its extent holds, or none", record((0, 2, 17, 1, 0, 0, 1))),
            ("more blocks than its extent holds, or none", record((0, 2, (1 << 64) - 1, 1, 4, 0, 1))),
            ("more blocks than its extent holds, or none", record((0, 2, 0, 1, 0, 0, 1))),
            ("extents that overlap", record(sound, (1, 2, 16, 1, 0, 0, 1))),
            ("more namespaces than drive.namespaces", record(*[(2 * i, 2, 16, 1, 0, 0, 1) for i in range(5)])),
        ):
            with self.subTest(words=words):
                self.put_table(table)
                with self.assertRaisesRegex(AssertionError, f"the drive's namespaces has {words}: make the drive anew"):
                    self.begin("", self.options())
        self.put_table(record(sound, (2, 1, 1, 1, 4, 0, 0)))
        self.begin("", self.options())
        self.assertEqual((self.table(), self.blocks(2)), (([1, 2], [1]), 1))
        self.vm.close()
        self.put_table(record(sound, magic=b"slate-ns"))
        self.begin("", self.options())
        self.assertEqual((self.table(), self.blocks(1)), (([1], [1]), SPACE // 512))

    def test_bad_options(self) -> None:
        for words, first, rows in (
            ("set drive.namespaces of a nand-ssd", "4096:512", 0),
            ("not BYTES:BLOCK", "4096", ROWS),
            ("not BYTES:BLOCK", "4096:x", ROWS),
            ("a multiple of them and of the mapping unit, 4096 bytes", "512:512", ROWS),
            ("a multiple of them and of the mapping unit, 4096 bytes", "0:512", ROWS),
            ("blocks have 512 or 4096 bytes", "4096:1024", ROWS),
            ("does not fit: the drive has 4 namespaces at most, and 268431360 bytes", f"{SPACE + UNIT}:512", ROWS),
            ("does not fit", ";".join(["4096:512"] * 5), ROWS),
        ):
            with self.subTest(words=words), self.assertRaisesRegex(AssertionError, words):
                self.begin(first, drive__namespaces=rows)


if __name__ == "__main__":
    unittest.main()

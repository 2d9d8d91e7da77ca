#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Do what a guest may do to a controller on a nand-ssd, at random: QEMU must neither end nor hang.

    fuzz_guest.py [--commands N] [--seed N] [--thread] [DRIVE ...]    sequences until N commands were sent
    fuzz_guest.py ID ...                                     sequences again, by the ids of failures

A sequence has a QEMU of its own and an id, DRIVE:CLOCK:SEED, from which all that is sent follows. With
CLOCK "stepped" time passes when the sequence says so; with "thread" the drive runs by the host's clock.
After each round of commands the controller is reset, if need be with power on again, and has to store a
page and give it back.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import struct
import subprocess
import sys
import time
from pathlib import Path

from support import Json, Machine, QmpError

from nvme import ADMIN_SQ, BAR, CC, CSTS, DEPTH, IO_CQ, IO_SQ, READ, WRITE, Nvme, Queue

PROFILES = Path(__file__).resolve().parents[2] / "nand-emu" / "profiles"
CONTROLLER = "nvme,id=nvme0,serial=slate,drive=ssd0,bus=pcie.0,addr=4"
ROUND, ROUNDS = 60, 8  # commands in a round, and rounds in a sequence
RAM = 64 << 20
GEOMETRY = ("channels=2", "chips_per_channel=1", "dies_per_chip=1", "pages_per_block=16")
# Blocks have 64 pages. A merge with a thread takes its time of the host's clock, so flash is fast.
LARGE = ("geometry.pages_per_block=64", "geometry.page_bytes=4096", "ftl.unit_bytes=4096", "ftl.capacity_mib=4",
         "timing.read_ns=7000", "timing.program_ns=9000", "timing.erase_ns=90000")
DRIVES = {
    "page": ("small.ini", "ftl.capacity_mib=3", "ftl.buffer_units=16", "geometry.blocks_per_plane=20"),
    "ippbe": ("ippbe-small.ini", "ftl.op_permille=700", "ftl.buffer_units=16", "geometry.blocks_per_plane=24",
              "ftl.gc_start_blocks=5", "ftl.gc_stop_blocks=6"),
    "flex": ("rps-small.ini", "ftl.op_permille=900", "ftl.buffer_units=16", "geometry.blocks_per_plane=20"),
    "dac": ("dac-small.ini", "ftl.op_permille=700", "ftl.buffer_units=16", "geometry.blocks_per_plane=20"),
    "parity": ("rps-small.ini", "ftl.op_permille=900", "ftl.buffer_units=16", "geometry.blocks_per_plane=20",
               "ftl.type=parity"),
    "rtf": ("rps-small.ini", "ftl.op_permille=1900", "ftl.buffer_units=16", "geometry.blocks_per_plane=24",
            "ftl.type=rtf"),
    "dac-flex": ("dac-flex-small.ini", "ftl.op_permille=1500", "ftl.buffer_units=16", "geometry.blocks_per_plane=24"),
    "nftl": ("pen-small.ini", *LARGE),
    "superblock": ("superblock-small.ini", *LARGE),
    "namespaces": ("small.ini", "ftl.capacity_mib=3", "ftl.buffer_units=16", "geometry.blocks_per_plane=20",
                   "drive.namespaces=4"),
    "metadata": ("small.ini", "ftl.capacity_mib=3", "ftl.buffer_units=16", "geometry.blocks_per_plane=20",
                 "drive.namespaces=4", "ftl.metadata_bytes=64"),
    # a map of 8 pages, 6 of which are in memory
    "map": ("small.ini", "ftl.capacity_mib=32", "ftl.buffer_units=16", "geometry.page_bytes=4096",
            "geometry.blocks_per_plane=160", "ftl.map_cache_pages=6"),
    "slc": ("tlc-slc-small.ini", "ftl.capacity_mib=8", "ftl.buffer_units=64", "geometry.pages_per_block=24",
            "geometry.blocks_per_plane=20", "ftl.slc_blocks=4"),
    # all that a controller may have, with books of what namespaces wait for
    "controller": ("small.ini", "ftl.capacity_mib=3", "ftl.buffer_units=16", "geometry.blocks_per_plane=20",
                   "drive.namespaces=4", "controller.cores=2", "controller.completion_ns=500",
                   "controller.read_cache_units=64", "controller.read_ahead_units=16", "controller.dram_mb_s=1000",
                   "controller.arbitration=weighted", "link.generation=1", "link.lanes=1", "ftl.suspend=all",
                   "timing.suspend_ns=5000", "timing.resume_ns=5000", "timing.suspends_max=3"),
    "placement": ("small.ini", "ftl.capacity_mib=3", "ftl.buffer_units=32", "geometry.blocks_per_plane=40",
                  "ftl.placement_handles=3", "ftl.placement_groups=2"),
    "zns": ("zns-small.ini", "ftl.capacity_mib=12", "ftl.buffer_units=96", "geometry.blocks_per_plane=24",
            "ftl.zone_active_max=4", "ftl.zone_open_max=3", "ftl.zrwa_pages=2"),
}
DEVICES = {  # where one controller with one namespace is not enough
    "placement": ("nvme-subsys,id=sub0,nqn=n,fdp=on,fdp.nruh=3,fdp.nrg=2",
                  "nvme,id=nvme0,serial=slate,subsys=sub0,bus=pcie.0,addr=4",
                  "nvme-ns,drive=ssd0,bus=nvme0,fdp.ruhs=0-2"),
}
FIRST = 2048  # blocks of namespace 1 of a drive that has a table
NUMBERS = (0, 1, 2, 3, 7, 8, 15, 63, 64, 255, 4095, 4096, 65535, 1 << 20, 1 << 31, (1 << 32) - 1)
IO_OPCODES = (0x00, 0x01, 0x02, 0x04, 0x05, 0x08, 0x09, 0x0C, 0x0D, 0x12, 0x19, 0x79, 0x7A, 0x7D)
ADMIN_OPCODES = (0x00, 0x01, 0x02, 0x04, 0x05, 0x06, 0x08, 0x09, 0x0A, 0x0C, 0x0D, 0x10, 0x11, 0x14, 0x15, 0x19,
                 0x1A, 0x1C, 0x7C, 0x80, 0x81, 0x82, 0x84, 0x86, 0xC0, 0xC1, 0xC4)
REGISTERS = (0x00, 0x0C, 0x10, CC, 0x20, 0x24, 0x28, 0x2C, 0x30, 0x34, 0x38, 0x3C, 0x50, 0x58, 0xE00, 0xE04, 0xE14)
ABORT, MANAGEMENT, SELF_TEST, ATTACHMENT, FORMAT, SANITIZE, LBA_STATUS = 0x08, 0x0D, 0x14, 0x15, 0x80, 0x84, 0x86
IDENTIFY = 0x06
# Leave the failure mode; erase blocks; overwrite, in one pass, in two with an inverted pattern; what is refused.
SANITIZINGS = (1, 2, 2 | 1 << 3, 2 | 1 << 9, 3 | 1 << 4, 3 | 1 << 3 | 1 << 4, 3 | 2 << 4 | 1 << 8, 3 | 1 << 9, 4, 7)
STRUCTURES = (*range(4), *range(5, 9), *range(0x10, 0x19), 0x1C)  # that Identify has, in some version of NVMe
EVENTS, ESTABLISH, RELEASE = 0x0D, 0x10D, 0x20D  # the persistent event log, and actions on its context
ZONE_SEND, ZONE_RECEIVE, ZONE_APPEND = 0x79, 0x7A, 0x7D
ZONE, ZONES = 2048, 12  # blocks of a zone of the drive that has them
ZONE_RESET, ALL_ZONES = 4, 1 << 8
MANAGE_RECEIVE, MANAGE_SEND = 0x12, 0x1D  # of placement handles
WORN = (0x081, 0x120)  # Capacity Exceeded, Namespace is Write Protected


class Broken(Exception):
    """Means that QEMU runs, but the controller does not work as required."""


class Patient(Nvme):
    """A controller whose table of namespaces the drive's thread reads, which takes the host's time."""

    def check_ready(self, ready: int) -> None:
        """Wait until the controller is ready."""
        for _ in range(5000):
            if self.get32(CSTS) == ready:
                return
            time.sleep(0.001)
            self.machine.settle()
        super().check_ready(ready)


class Sequence:
    """Drives one QEMU with a sequence of accesses."""

    def __init__(self, name: str) -> None:
        drive, clock, _ = name.split(":")
        self.name, self.threaded, self.table = name, clock == "thread", "drive.namespaces=4" in DRIVES[drive]
        self.zoned, self.placed = drive == "zns", drive == "placement"
        self.rng = random.Random(name)
        profile, *settings = DRIVES[drive]
        options: Json = {"driver": "nand-ssd", "node-name": "ssd0", "profile": str(PROFILES / profile)}
        options["set"] = [f"geometry.{key}" for key in GEOMETRY] + settings
        options["guest-control"] = "on"
        if self.threaded:
            options["thread"] = "on"
        devices = [word for device in DEVICES.get(drive, (CONTROLLER,)) for word in ("-device", device)]
        self.vm = Machine([options], *devices, trace=False)
        self.sent = 0

    # ---- values ----

    def number(self, bits: int = 32) -> int:
        """Return a number that is valid in some field, or any number."""
        if self.rng.random() < 0.8:
            return self.rng.choice(NUMBERS) & ((1 << bits) - 1)
        return self.rng.randrange(1 << bits)

    def address(self) -> int:
        """Return an address: mostly of memory, else of queues, registers of the controller, or unmapped."""
        r = self.rng.random()
        if r < 0.7:
            return 0x200000 + 0x1000 * self.rng.randrange(512)
        if r < 0.8:
            return self.rng.choice((ADMIN_SQ, IO_SQ, IO_CQ, BAR, BAR + 0x1000, RAM - 4096, RAM, 0, 0xFEE00000))
        return self.rng.choice((1, 0x200001, 0x2007FC, 1 << 40, (1 << 64) - 4096, self.rng.randrange(1 << 64)))

    def nsid(self) -> int:
        """Return a namespace: mostly an existing one."""
        if self.table:
            return self.rng.choice((1, 1, 1, 2, 2, 3, 4, 5, 0, 0xFFFFFFFF))
        return self.rng.choice((1, 1, 1, 1, 1, 0, 2, 0xFFFFFFFF))

    def command(self, opcodes: tuple[int, ...], blocks: int) -> bytes:
        """Return the 64 bytes of a command."""
        rng, words = self.rng, [0] * 16
        if self.placed and opcodes == IO_OPCODES:
            opcodes += (MANAGE_RECEIVE, MANAGE_SEND)
        opcode = rng.choice(opcodes) if rng.random() < 0.97 else rng.randrange(256)
        if self.table and opcodes == ADMIN_OPCODES and rng.random() < 0.5:
            opcode = rng.choice((MANAGEMENT, MANAGEMENT, ATTACHMENT, ATTACHMENT, FORMAT, ABORT))
        flags = rng.choice((0, 0, 0, 0, 0x40, 0x80, 0xC0, 1))
        words[0] = opcode | flags << 8 | rng.randrange(1 << 16) << 16
        words[1] = self.nsid()
        words[4:10] = struct.unpack("<6I", struct.pack("<3Q", *(self.address() for _ in range(3))))
        if flags & 0xC0:  # the data pointer is an SGL descriptor
            words[8] = self.number()
            words[9] = rng.choice((0, 0x02, 0x03, 0x04, 0x0F, rng.randrange(256))) << 28 & 0xFFFFFFFF
        words[10:16] = (self.number() for _ in range(6))
        if rng.random() < 0.7:
            self.make_sense(opcode, words, blocks)
        return struct.pack("<16I", *words)

    def make_sense(self, opcode: int, words: list[int], blocks: int) -> None:
        """Choose fields that get past the first check."""
        rng = self.rng
        if self.zoned and (opcodes_of(opcode) or opcode in (ZONE_SEND, ZONE_RECEIVE, ZONE_APPEND)):
            self.zone(opcode, words)
        elif opcodes_of(opcode):
            words[10:13] = (
                rng.randrange(blocks),
                0,
                rng.choice((0, 7, 7, 15, 63)) | rng.choice((0, 0, 1 << 30, 1 << 25)),
            )
            if self.placed:
                words[12] |= rng.choice((0, 2 << 20))
                words[13] = rng.choice((0, 1, 2, 3, 0x4000, 0x4001, 0x4002, 0x8000, 0xFFFF)) << 16
        elif self.placed and opcode in (MANAGE_RECEIVE, MANAGE_SEND):
            words[10] = 1 | rng.choice((0, 1, 2, 9)) << 16
            words[11] = rng.choice((0, 15, 1023))
        elif self.table and opcode in (MANAGEMENT, ATTACHMENT, FORMAT):
            self.manage(opcode, words)
        elif opcode in (0x09, 0x0A):
            words[10] = rng.choice((1, 2, 4, 5, 6, 7, 8, 9, 0x0A, 0x0B, 0x0E, 0x10, 0x16, 0x19, 0x1D, 0x1E))
            if words[14] % 16 == 0:
                words[10] = 0x15  # LBA Status Information Attributes
            words[10] |= words[15] % 5 << 8 if opcode == 0x0A else 0  # current, default, saved, capabilities, reserved
        elif opcode == 0x02:
            words[10] = rng.choice((1, 2, 3, 4, 5, 9, 0x20, *range(0xCF, 0xD9))) | self.number(10) << 16
            if words[10] & 0xFF == 9:  # drawn without rng, so that ids of failures keep their sequences
                words[10] += (9, 0x00, 0x06, 0x07, 0x107, 0x08, 0x12, 0x13, 0x81, 0xC0)[words[15] % 10] - 9
            words[11:14] = rng.choice((0, 1 << 16)), rng.choice((0, 4, 64, 4096, 0xFFFFFFFC)), rng.choice((0, 0, 0, 1))
            if words[14] % 8 == 0:  # the persistent event log's actions, the LBA status log read with RAE and without
                words[10] = words[10] & ~0xFFFF | (0x0D, 0x10D, 0x20D, 0x30D, 0x0E, 0x800E)[words[15] % 6]
        elif opcode == IDENTIFY:
            words[10] = words[10] & ~0xFF | STRUCTURES[words[15] % len(STRUCTURES)]
        elif opcode == SELF_TEST:
            words[10] = (1, 2, 15, words[10])[words[15] % 4]
        elif opcode == LBA_STATUS:
            words[10:12] = words[10] % blocks if words[15] % 8 else words[10], 0
            words[12] = (0, 1, 5, 63, 1023, words[12])[words[15] % 6]
            words[13] = (0x10, 0x11, 0x10, 0x11, 2, words[13] >> 24)[words[14] % 6] << 24 | words[13] & 0xFFFF
        elif opcode == SANITIZE and words[15] % 4 == 0:  # seldom, because it keeps all other commands away
            words[1], words[10] = 0, SANITIZINGS[words[14] % len(SANITIZINGS)]
        elif opcode in (0x00, 0x04):
            words[10] = rng.choice((0, 1, 2, 64, 65))
        elif opcode in (0x01, 0x05):
            words[10] = rng.choice((1, 2, 3)) | rng.choice((1, 31, 0, 0xFFFF)) << 16
            words[11] = rng.choice((1, 3, 1 | 1 << 16, 1 | 2 << 16, 3 | 40 << 16, 0))
        elif opcode == 0xC4:
            words[12] = rng.choice((1, 2, 3, 3, 3, 4, 5, 6))
            if words[12] == 3:
                words[13] = rng.choice((1, 2, 3)) | rng.choice((0, 1, 8, 100)) << 16
                words[15] = rng.choice((0, 1, 0xFFFFFFFF))
            elif words[12] == 5:  # a reset of the machine has its own test
                words[13] = rng.choice((0, 1, 2))
                words[14:16] = rng.choice(((1, 0), (20, 0), (0, 1), (0, 100), (0, 0x80000000)))

    def zone(self, opcode: int, words: list[int]) -> None:
        """Choose a zone, mostly one of few, and what to do to it."""
        rng = self.rng
        lba = ZONE * rng.choice((0, 1, 1, 2, 3, rng.randrange(ZONES)))
        words[11:14] = 0, 0, 0
        if opcode == ZONE_SEND:
            words[13] = rng.choice((1, 2, 3, 3, 4, 4, 5, 0x10, 0x11, 0x11)) | rng.choice((0, 0, 0, 0, 0, ALL_ZONES))
            words[13] |= rng.choice((0, 0, 1 << 9))  # with a random write area, when it is opened
            lba += rng.choice((0, 8)) if words[13] & 0xFF == 0x11 else 0
        elif opcode == ZONE_RECEIVE:
            words[12], words[13] = rng.choice((15, 1023)), rng.choice((0, 1)) | rng.choice((0, 1, 5, 7)) << 8
        else:
            lba += rng.choice((0, 0, 8, 16, 32, 64, 2040)) if opcode != ZONE_APPEND else 0
            words[12] = rng.choice((0, 7, 7, 15, 63))
        words[10] = lba
        if rng.random() < 0.8:  # the other fields are right, too
            at = 0x200000 + 0x1000 * rng.randrange(512)
            words[0], words[1], words[6:10] = words[0] & 0xFFFF00FF, 1, (at, 0, at + 4096, 0)

    def manage(self, opcode: int, words: list[int]) -> None:
        """Choose fields of a command that changes the table, and write its data."""
        rng, at = self.rng, 0x200000 + 0x1000 * self.rng.randrange(512)
        words[6:10] = at, 0, 0, 0
        words[0] &= 0xFFFF00FF
        words[10] = rng.choice((0, 0, 1))
        if opcode == FORMAT:
            words[10] = rng.choice((0, 4, 4, 6, 2 | 1 << 4, 0x11, 7, 1, 3, 5)) | rng.choice((0, 0, 1, 2, 3)) << 5
        elif opcode == ATTACHMENT:
            self.vm.write(at, struct.pack("<HH", rng.choice((1, 1, 1, 0, 2)), rng.choice((0, 0, 0, 1))))
        elif not words[10]:  # create
            words[1] = rng.choice((0, 0, 0, 1))
            words[11] = 0
            blocks = rng.choice((1, 8, 64, 1000, FIRST, 5000, self.number(64)))
            self.vm.write(at, struct.pack("<QQ10xBBxB", blocks, blocks, rng.choice((0, 0, 4, 6, 8)), 0, 0))

    # ---- actions ----

    def queue_round(self, queue: Queue, opcodes: tuple[int, ...], blocks: int) -> None:
        """Submit some commands at once."""
        count = self.rng.choice((1, 1, 4, 12))
        for _ in range(count):
            self.vm.write(queue.sq + 64 * queue.tail, self.command(opcodes, blocks))
            queue.tail = (queue.tail + 1) % DEPTH
        self.sent += count
        self.nvme.set32(0x1000 + 8 * queue.qid, queue.tail)
        queue.drain()

    def lists(self) -> None:
        """Write PRP lists, SGL segments, ranges and settings into the memory that commands point to."""
        rng = self.rng
        at = 0x200000 + 0x1000 * rng.randrange(512)
        kind = rng.randrange(4)
        if kind == 0:
            data = struct.pack("<32Q", *(self.address() for _ in range(32)))
        elif kind == 1:
            data = b"".join(
                struct.pack("<QI3xB", self.address(), self.number(), rng.choice((0, 0x10, 0x20, 0x30, 0x40, 0xF0)))
                for _ in range(16)
            )
        elif kind == 2:
            data = b"".join(struct.pack("<IIQ", 0, self.number(), self.number(64)) for _ in range(16))
        else:
            name = rng.choice(("ftl.gc_slice_pages", "ftl.gc_start_blocks", "ftl.gc_mode", "ftl.type", "x", ""))
            data = f"{name}={rng.choice(('0', '1', '8', '99999999999', '-1', 'sliced', '9' * 99))}".encode()
            data = data.ljust(rng.choice((128, 512)), b"\0")
        self.vm.write(at, data)

    def registers(self) -> None:
        """Write registers, doorbells and MSI-X, or reset the function."""
        rng = self.rng
        kind = rng.randrange(9)
        if kind < 4:
            self.nvme.set32(0x1000 + 4 * rng.randrange(8), self.number())
        elif kind < 6:
            self.nvme.set32(rng.choice(REGISTERS), self.number())
        elif kind == 6:
            self.nvme.get32(rng.choice((*REGISTERS, 0x1000, 0x1FFC, 0x3FFC)) & ~3)
        elif kind == 7:
            at = self.nvme.capability(0x11)  # MSI-X: on or off
            self.nvme.config_write(at, self.nvme.config(at) ^ 1 << 31)
        else:
            at = self.nvme.capability(0x10) + 8
            self.nvme.config_write(at, self.nvme.config(at) | 1 << 15)

    def pass_time(self) -> None:
        """Let a little time pass."""
        if self.threaded:
            time.sleep(0.0005)
            self.vm.settle()
        else:
            self.vm.step(self.rng.choice((1, 100, 10000, 300000, 5000000)))

    def round(self, blocks: int) -> None:
        """Do one round, up to the next reset."""
        until = self.sent + ROUND
        while self.sent < until:
            r = self.rng.random()
            if r < 0.55:
                self.queue_round(self.nvme.io, IO_OPCODES, blocks)
            elif r < 0.8:
                self.queue_round(self.nvme.admin, ADMIN_OPCODES, blocks)
            elif r < 0.88:
                self.lists()
            elif r < 0.9:
                self.registers()
            else:
                self.pass_time()

    # ---- checks that the controller works ----

    def power(self) -> Json:
        """Return the state of the drive's power, by QMP."""
        state: Json = self.vm.qmp("x-query-nand-ssd-power", node_name="ssd0")
        return state

    def revive(self) -> None:
        """Cancel plans and faults, put the power on, and reset the controller."""
        vm = self.vm
        with contextlib.suppress(QmpError):
            vm.qmp("x-nand-ssd-power-cut", node_name="ssd0", never=True)
        vm.settle()
        vm.qmp("x-nand-ssd-control", node_name="ssd0", command=4)
        if not self.power()["on"]:
            with contextlib.suppress(QmpError):  # with a thread it may come back by itself between the two commands
                vm.qmp("x-nand-ssd-power-on", node_name="ssd0")
        power = self.power()
        if not power["on"]:
            raise Broken("the power is off")
        if not self.threaded:
            vm.step(max(1, power.get("ready-ns", 0) - power.get("on-ns", 0)))
            if self.table:
                vm.step(1_000_000)  # the table is read when the drive is ready
        self.nvme = Patient(vm) if self.threaded else Nvme(vm)
        self.nvme.set32(CC, 0)
        if self.nvme.get32(CSTS) & 1:
            raise Broken("CC.EN = 0, and the controller is ready")
        self.nvme.enable(css=6 if self.zoned else 0)
        self.end_sanitizing()
        self.check_events()

    def check_events(self) -> None:
        """Read the persistent event log, which has as many events as it says, as long as they say."""
        data = self.nvme.get_log(ESTABLISH, 512, nsid=0xFFFFFFFF)
        count, size = struct.unpack_from("<IQ", data, 4)
        while len(data) < size:
            part = min(4096, (size - len(data) + 3) // 4 * 4)
            data += self.nvme.get_log(EVENTS, part, len(data), nsid=0xFFFFFFFF)
        self.nvme.get_log(RELEASE, 4, nsid=0xFFFFFFFF)
        at = 512
        for _ in range(count):
            at += 24 + struct.unpack_from("<H", data, at + 22)[0] if at + 24 <= size else 24
        if at != size or not count:
            raise Broken(f"persistent event log: {count} events end at {at} of {size} bytes")

    def end_sanitizing(self) -> None:
        """Wait until a sanitize operation has ended; begin another until one succeeds."""
        for _ in range(20000):
            state = self.nvme.get_log(0x81, 8, nsid=0xFFFFFFFF)[2] & 7
            if state == 3:
                self.nvme.do_admin(SANITIZE, dwords={10: 2})
            elif state != 2:
                return
            self.wait(5 if self.threaded else 200)  # 16 passes of the largest drive take 37 s
        raise Broken("a sanitize operation does not end")

    def complete(self, queue: Queue) -> int:
        """Return the status of the next command."""
        for _ in range(2000):
            completion = queue.poll()
            if completion:
                return completion.code
            self.wait(1)
        raise Broken("a command does not complete")

    def wait(self, ms: int) -> None:
        """Let time pass, the host's with the drive's thread, else virtual time."""
        if self.threaded:
            time.sleep(ms / 1000)
            self.vm.settle()
        else:
            self.vm.step(ms * 1_000_000)

    def store(self, blocks: int) -> None:
        """Write a page and read it back."""
        nvme, lba = self.nvme, self.rng.randrange(blocks // 8) * 8
        data = self.rng.randbytes(4096)
        if self.zoned:
            lba -= lba % ZONE
            for action, of_all in ((2, ALL_ZONES), (ZONE_RESET, 0)):  # finish all active zones, so that one may open
                nvme.io.put(ZONE_SEND, 1, dwords={10: lba, 13: action | of_all})
                nvme.io.ring()
                if (status := self.complete(nvme.io)) and status not in WORN:
                    raise Broken(f"zone {lba // ZONE}, action {action}: status {status:#x}")
        nvme.start(WRITE, lba * 512, data=data)
        nvme.io.ring()
        status = self.complete(nvme.io)
        if status in WORN:
            return
        at = nvme.start(READ, lba * 512, 4096)
        nvme.io.ring()
        if status or self.complete(nvme.io) or self.vm.read(at, 4096) != data:
            raise Broken(f"write: status {status:#x}; it does not read back")

    def attach(self) -> int:
        """Attach the namespace, which may have been detached or formatted; return its number of blocks."""
        nvme = self.nvme
        if self.table:
            self.make_first()
        nvme.do_admin(0x06, prp1=0x200000, dwords={10: 1})
        controller = struct.unpack_from("<H", self.vm.read(0x200000 + 78, 2))[0]
        self.vm.write(0x200000, struct.pack("<HH", 1, controller).ljust(4096, b"\0"))
        nvme.admin.put(0x15, 1, 0x200000, dwords={10: 0})
        nvme.admin.ring()
        if self.table:
            self.complete(nvme.admin)
        else:
            nvme.admin.poll()
        nvme.do_admin(0x06, nsid=1, prp1=0x200000, dwords={10: 0})
        if self.vm.read(0x200000 + 26, 1) != b"\0":
            nvme.admin.put(0x80, 1)
            nvme.admin.ring()
            self.complete(nvme.admin)
            nvme.do_admin(0x06, nsid=1, prp1=0x200000, dwords={10: 0})
        return int(struct.unpack("<Q", self.vm.read(0x200000, 8))[0])

    def make_first(self) -> None:
        """Make namespace 1 anew, if it does not exist or is small."""
        nvme = self.nvme
        nvme.do_admin(0x06, prp1=0x200000, nsid=1, dwords={10: 0x11})
        if struct.unpack("<Q", self.vm.read(0x200000, 8))[0] >= FIRST // 8:
            return
        self.vm.write(0x200000, struct.pack("<QQ", FIRST, FIRST).ljust(4096, b"\0"))
        for nsid, operation in ((0xFFFFFFFF, 1), (0, 0)):
            nvme.admin.put(MANAGEMENT, nsid, 0x200000, dwords={10: operation})
            nvme.admin.ring()
            if self.complete(nvme.admin):
                raise Broken("namespace 1 cannot be made")

    def run(self) -> int:
        """Run the sequence; return the number of commands sent."""
        try:
            for _ in range(ROUNDS):
                self.revive()
                blocks = self.attach()
                self.store(blocks)
                self.round(blocks)
            self.revive()
            self.store(self.attach())
            broken = self.vm.stats()["total"]["nand"]["violations"]
            if any(broken):
                raise Broken(f"flash rules were broken: {broken}")
            if self.vm.quit():
                raise Broken("an exit status")
            return self.sent
        except (AssertionError, EOFError, OSError, QmpError) as error:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.vm.process.wait(1)
            end = f"QEMU: {self.vm.process.returncode}, after {self.sent} commands"
            raise Broken(f"{type(error).__name__}: {error}\n{end}\n{self.vm.output()[-2000:]}") from error
        finally:
            self.vm.close()


def opcodes_of(opcode: int) -> bool:
    """Does the command name blocks?"""
    return opcode in (0x01, 0x02, 0x04, 0x05, 0x08, 0x0C, 0x7D) and opcode < 0x0D


def play(name: str) -> int:
    """Play a sequence; if it fails, print how to play it again."""
    try:
        return Sequence(name).run()
    except Broken as broken:
        raise Broken(f"{broken}\nagain: tests/qemu/fuzz_guest.py {name}") from broken


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", nargs="*", metavar="DRIVE|ID", help=f"drives: {', '.join(DRIVES)}")
    parser.add_argument("--commands", type=int, default=1000000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--thread", action="store_true")
    args = parser.parse_args()
    ids = [what for what in args.what if ":" in what]
    for name in ids:
        print(name, play(name), flush=True)
    drives = [what for what in args.what if ":" not in what] or list(DRIVES)
    sent, failed, seed, began = 0, 0, args.seed, time.monotonic()
    while not ids and sent < args.commands:
        for drive in drives:
            name = f"{drive}:{'thread' if args.thread else 'stepped'}:{seed}"
            try:
                sent += play(name)
            except Broken as broken:
                failed += 1
                print(broken, flush=True)
        if seed % 10 == 0:
            print(f"seed {seed}: {sent} commands, {failed} failed, {time.monotonic() - began:.0f} s", flush=True)
        seed += 1
    print(f"{sent} commands, {failed} sequences failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

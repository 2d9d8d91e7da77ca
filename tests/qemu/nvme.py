# SPDX-License-Identifier: GPL-2.0-or-later
"""Drive a controller over the qtest protocol: a small NVMe driver with one admin and one I/O queue."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from support import Machine

BAR = 0xD0000000
DEPTH = 32
GRAIN_NS = 10_000  # of the steps in which wait() looks for a completion
ADMIN_SQ, ADMIN_CQ, IO_SQ, IO_CQ = 0x100000, 0x101000, 0x102000, 0x103000  # of the first controller
BUFFERS = 0x200000  # one of 64 KiB for each slot
BUFFER_BYTES = 0x10000
CC, CSTS, AQA, ASQ, ACQ = 0x14, 0x1C, 0x24, 0x28, 0x30
CC_ENABLE = 1 | 6 << 16 | 4 << 20
CC_SHN_NORMAL = 1 << 14
FUA = 1 << 30

FLUSH, WRITE, READ, WRITE_ZEROES, DSM = 0x00, 0x01, 0x02, 0x08, 0x09
DELETE_SQ, CREATE_SQ, GET_LOG, DELETE_CQ, CREATE_CQ, IDENTIFY = 0, 1, 2, 4, 5, 6
SET_FEATURES, MARK, SET, CONTROL = 0x09, 0xC0, 0xC1, 0xC4


@dataclass
class Completion:
    """A completion queue entry."""

    cid: int
    status: int
    result: int

    @property
    def code(self) -> int:
        """Return status code type and status code, without Do Not Retry."""
        return self.status & 0x7FF


class Queue:
    """Drives a submission queue and its completion queue."""

    def __init__(self, nvme: Nvme, qid: int, sq: int, cq: int, depth: int = DEPTH) -> None:
        self.nvme, self.qid, self.sq, self.cq, self.depth = nvme, qid, sq, cq, depth
        self.tail = self.head = 0
        self.phase = 1
        nvme.machine.write(sq, bytes(depth * 64))
        nvme.machine.write(cq, bytes(depth * 16))

    def create(self, priority: int = 0) -> Queue:
        """Tell the controller of the pair, without interrupts; priority is QPRIO."""
        size = self.qid | (self.depth - 1) << 16
        self.nvme.do_admin(CREATE_CQ, prp1=self.cq, dwords={10: size, 11: 1})
        self.nvme.do_admin(CREATE_SQ, prp1=self.sq, dwords={10: size, 11: 1 | priority << 1 | self.qid << 16})
        return self

    def put(
        self,
        opcode: int,
        nsid: int = 0,
        prp1: int = 0,
        prp2: int = 0,
        dwords: dict[int, int] | None = None,
    ) -> int:
        """Place a command in the queue and return its id. ring() starts it."""
        words = [0] * 16
        cid = self.qid << 8 | self.tail
        words[0] = opcode | cid << 16
        words[1] = nsid
        words[6:10] = prp1 & 0xFFFFFFFF, prp1 >> 32, prp2 & 0xFFFFFFFF, prp2 >> 32
        for at, value in (dwords or {}).items():
            words[at] = value
        self.nvme.machine.write(self.sq + 64 * self.tail, struct.pack("<16I", *words))
        self.tail = (self.tail + 1) % self.depth
        return cid

    def ring(self) -> None:
        """Write the doorbell."""
        self.nvme.set32(0x1000 + 8 * self.qid, self.tail)
        self.nvme.machine.settle()

    def poll(self) -> Completion | None:
        """Return the next completion, if there is one."""
        result, _, _, _, cid, status = struct.unpack(
            "<IIHHHH", self.nvme.machine.read(self.cq + 16 * self.head, 16)
        )
        if status & 1 != self.phase:
            return None
        self.head = (self.head + 1) % self.depth
        self.phase ^= self.head == 0
        self.nvme.set32(0x1000 + 8 * self.qid + 4, self.head)
        return Completion(cid, status >> 1, result)

    def drain(self) -> list[Completion]:
        """Return all available completions, in order. Each command of qtest costs a wait: read all entries at once."""
        found: list[Completion] = []
        while True:
            entries, before = self.nvme.machine.read(self.cq, 16 * self.depth), len(found)
            for _ in range(self.depth):
                result, _, _, _, cid, status = struct.unpack_from("<IIHHHH", entries, 16 * self.head)
                if status & 1 != self.phase:
                    break
                self.head = (self.head + 1) % self.depth
                self.phase ^= self.head == 0
                found.append(Completion(cid, status >> 1, result))
                if not self.head:
                    break
            if len(found) == before:
                return found
            self.nvme.set32(0x1000 + 8 * self.qid + 4, self.head)


def power_cycle(machine: Machine, off_ns: int, css: int = 0) -> Nvme:
    """Cut the power of ssd0 for off_ns; return its controller, running, when the drive is ready. css: see enable()."""
    machine.qmp("x-nand-ssd-power-cut", node_name="ssd0")
    machine.step(off_ns)
    return power_on(machine, css=css)


def power_on(machine: Machine, later_ns: int = 0, grain_ns: int = GRAIN_NS, css: int = 0) -> Nvme:
    """Switch ssd0 on; return its controller, running, later_ns after the drive is ready. grain_ns: as the field."""
    machine.qmp("x-nand-ssd-power-on", node_name="ssd0")
    power = machine.qmp("x-query-nand-ssd-power", node_name="ssd0")
    machine.step(power["ready-ns"] - power["on-ns"] + later_ns or 1)
    nvme = Nvme(machine)
    nvme.grain_ns = grain_ns
    nvme.enable(css=css)
    return nvme


class Nvme:
    """Drives the controller at a PCI address: mapped and, after enable(), running. Its queues begin at `queues`."""

    def __init__(self, machine: Machine, bus: int = 0, slot: int = 4, queues: int = ADMIN_SQ) -> None:
        self.machine, self.bus, self.slot, self.queues = machine, bus, slot, queues
        self.config_write(0x10, BAR)
        self.config_write(0x14, 0)
        self.config_write(0x04, self.config(0x04) & 0xFFFF | 0x6)
        self.admin: Queue
        self.io: Queue
        self.slots = 0
        self.grain_ns = GRAIN_NS

    # ---- PCI configuration and registers ----

    def _select(self, at: int) -> None:
        self.machine.command(f"outl 0xcf8 {0x80000000 | self.bus << 16 | self.slot << 11 | at & 0xFC:#x}")

    def config(self, at: int) -> int:
        """Read 32 bits of configuration space."""
        self._select(at)
        return int(self.machine.command("inl 0xcfc"), 16)

    def config_write(self, at: int, value: int) -> None:
        """Write 32 bits of configuration space."""
        self._select(at)
        self.machine.command(f"outl 0xcfc {value:#x}")

    def capability(self, wanted: int) -> int:
        """Return the place of a PCI capability."""
        at = self.config(0x34) & 0xFF
        while at:
            word = self.config(at)
            if word & 0xFF == wanted:
                return at
            at = word >> 8 & 0xFF
        raise AssertionError(f"no PCI capability {wanted:#x}")

    def get32(self, at: int) -> int:
        """Read a register."""
        return int(self.machine.command(f"readl {BAR + at:#x}"), 16)

    def set32(self, at: int, value: int) -> None:
        """Write a register."""
        self.machine.command(f"writel {BAR + at:#x} {value:#x}")

    # ---- starting and stopping the controller ----

    def enable(self, css: int = 0, ams: int = 0, ready: int = 1) -> None:
        """Start the controller and make the I/O queue; css: 6 selects all command sets; ready: CSTS."""
        self.admin = Queue(self, 0, self.queues, self.queues + ADMIN_CQ - ADMIN_SQ)
        self.set32(AQA, DEPTH - 1 | (DEPTH - 1) << 16)
        self.set32(ASQ, self.admin.sq)
        self.set32(ASQ + 4, 0)
        self.set32(ACQ, self.admin.cq)
        self.set32(ACQ + 4, 0)
        self.set32(CC, CC_ENABLE | css << 4 | ams << 11)
        self.check_ready(ready)
        if ready == 1:
            self.make_io_queue()

    def check_ready(self, ready: int) -> None:
        """Check that the controller is ready, or that CSTS has another value."""
        assert self.get32(CSTS) == ready, "the controller is not ready"

    def make_io_queue(self) -> None:
        """Make a queue pair without interrupts."""
        self.io = Queue(self, 1, self.queues + IO_SQ - ADMIN_SQ, self.queues + IO_CQ - ADMIN_SQ).create()

    def disable(self) -> None:
        """Clear CC.EN; returns when the register was written, before the controller is disabled."""
        self.set32(CC, CC_ENABLE & ~1)

    def do_admin(self, opcode: int, code: int = 0, **fields: object) -> Completion:
        """Run an admin command that takes no time."""
        self.admin.put(opcode, **fields)  # type: ignore[arg-type]
        self.admin.ring()
        completion = self.admin.poll()
        assert completion, f"admin command {opcode:#x} did not complete at once"
        assert completion.code == code, f"admin command {opcode:#x}: status {completion.code:#x}"
        return completion

    # ---- I/O ----

    def buffer(self) -> int:
        """Return memory for a command's data, used again after DEPTH commands."""
        self.slots = (self.slots + 1) % DEPTH
        return BUFFERS + self.slots * BUFFER_BYTES

    def start(self, opcode: int, offset: int = 0, size: int = 0, data: bytes = b"", flags: int = 0) -> int:
        """Place an I/O command of up to two pages; return the address of its data."""
        at = self.buffer()
        size = size or len(data)
        assert size <= 8192
        if data:
            self.machine.write(at, data)
        lba, blocks = offset // 512, max(size // 512, 1)
        self.io.put(
            opcode,
            1,
            at if size else 0,
            at + 4096 if size > 4096 else 0,
            {10: lba & 0xFFFFFFFF, 11: lba >> 32, 12: blocks - 1 | flags} if opcode != FLUSH else None,
        )
        return at

    def finish(self, limit_ns: int = 10**9) -> Completion:
        """Ring the doorbell, then let time pass until the next command completes."""
        self.io.ring()
        return self.wait(self.io, limit_ns)

    def wait(self, queue: Queue, limit_ns: int = 10**9, grain_ns: int = 0) -> Completion:
        """Let time pass, grain by grain, until there is a completion."""
        grain_ns = grain_ns or self.grain_ns
        for _ in range(limit_ns // grain_ns):
            completion = queue.poll()
            if completion:
                return completion
            self.machine.step(grain_ns)
        raise AssertionError("no completion")

    def do_write(self, offset: int, data: bytes, flags: int = 0) -> Completion:
        """Write and wait."""
        self.start(WRITE, offset, data=data, flags=flags)
        return self.finish()

    def do_read(self, offset: int, size: int) -> bytes:
        """Read, wait, and return the data."""
        at = self.start(READ, offset, size)
        completion = self.finish()
        assert completion.code == 0, f"read: status {completion.code:#x}"
        return self.machine.read(at, size)

    def mark(self, kind: int, label: bytes, nsid: int = 1, code: int = 0) -> None:
        """Send the vendor command that sets a mark."""
        words = struct.unpack("<4I", label.ljust(16, b"\0"))
        self.do_admin(MARK, code, nsid=nsid, dwords={10: kind, **dict(zip(range(12, 16), words))})

    # ---- logs and orders of a nand-ssd ----

    def get_log(self, log_id: int, size: int, offset: int = 0, nsid: int = 1, code: int = 0) -> bytes:
        """Get Log Page: return up to a page of data, 0xee where no data were transferred."""
        at = self.buffer()
        assert size % 4 == 0 and size <= 4096
        self.machine.write(at, b"\xee" * size)
        self.do_admin(
            GET_LOG,
            code,
            nsid=nsid,
            prp1=at,
            dwords={10: log_id | (size // 4 - 1) << 16, 12: offset & 0xFFFFFFFF, 13: offset >> 32},
        )
        return self.machine.read(at, size)

    def whole_log(self, log_id: int) -> bytes:
        """Return a log in parts of at most 4 KiB, all of one snapshot."""
        data = self.get_log(log_id, 32)
        size = struct.unpack_from("<Q", data, 8)[0]
        while len(data) < size:
            data += self.get_log(log_id, min(4096, (size - len(data) + 3) // 4 * 4), len(data))
        return data[:size]

    def control(self, command: int, *arguments: int, nsid: int = 1, code: int = 0) -> int:
        """Send a vendor command without data; return its result."""
        words = dict(zip((13, 14, 15), arguments))
        return self.do_admin(CONTROL, code, nsid=nsid, dwords={12: command, **words}).result

    def set_knob(self, text: bytes, words: int | None = None, nsid: int = 1, code: int = 0) -> None:
        """Send the vendor command that sets a knob."""
        at = self.buffer()
        padded = text.ljust((len(text) + 4) // 4 * 4, b"\0")
        self.machine.write(at, padded)
        size = len(padded) // 4 if words is None else words
        self.do_admin(SET, code, nsid=nsid, prp1=at, dwords={10: size})

    def why(self) -> str:
        """Return the reason why the last vendor command was refused."""
        return self.whole_log(0xD6)[48:].rstrip(b"\0").decode()

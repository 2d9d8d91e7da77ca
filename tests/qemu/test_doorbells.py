# SPDX-License-Identifier: GPL-2.0-or-later
"""Test shadow doorbells (Doorbell Buffer Config): the host writes tails and heads to memory. It writes the
register only when the new value passes the event index that the controller has stored in memory.
"""

from __future__ import annotations

import struct
import unittest

from support import MachineTest, drive

from nvme import DELETE_CQ, DELETE_SQ, DEPTH, IO_CQ, WRITE, Nvme, Queue

CONTROLLER = "nvme,id=nvme0,serial=slate,drive=ssd0,bus=pcie.0,addr=4"
DBBUF_CONFIG = 0x7C
SHADOW, EVENTS = 0x190000, 0x191000
PAGE = bytes(range(256)) * 16


class ShadowQueue:
    """Rings a queue pair's doorbells as NVMe (Updating Controller Doorbell Properties) has a host ring them."""

    def __init__(self, nvme: Nvme, queue: Queue) -> None:
        self.nvme, self.machine, self.queue = nvme, nvme.machine, queue

    def word(self, table: int, is_cq: int = 0) -> int:
        """Return an entry of SHADOW or EVENTS."""
        return int(struct.unpack("<I", self.machine.read(table + 8 * self.queue.qid + 4 * is_cq, 4))[0])

    def ring(self) -> bool:
        """Update the tail; return whether the register was written."""
        new, old = self.queue.tail, self.word(SHADOW)
        self.machine.write(SHADOW + 8 * self.queue.qid, struct.pack("<I", new))
        told = (new - self.word(EVENTS) - 1) & 0xFFFF < (new - old) & 0xFFFF
        if told:
            self.nvme.set32(0x1000 + 8 * self.queue.qid, new)
        self.machine.settle()
        return told


class Doorbells(MachineTest):
    """Each test has a controller that supports shadow doorbells."""

    def setUp(self) -> None:
        self.vm = self.machine([drive()], "-device", CONTROLLER)
        self.nvme = Nvme(self.vm)
        self.nvme.enable()
        self.vm.write(SHADOW, bytes(4096))
        self.vm.write(EVENTS, bytes(4096))

    def configure(self) -> ShadowQueue:
        """Send Doorbell Buffer Config; return the I/O queue's doorbells from then on."""
        self.nvme.do_admin(DBBUF_CONFIG, prp1=SHADOW, prp2=EVENTS)
        return ShadowQueue(self.nvme, self.nvme.io)

    def write(self, shadow: ShadowQueue, commands: int = 1) -> bool:
        """Write in one batch; return whether the register was written. All writes must complete."""
        for i in range(commands):
            self.nvme.start(WRITE, 4096 * i, data=PAGE)
        told = shadow.ring()
        for _ in range(commands):
            self.assertEqual(self.nvme.wait(self.nvme.io, 10**7).code, 0)
        return told

    def test_a_queue_that_was_in_use(self) -> None:
        """After a reset of the controller Linux 6.1 first sends commands, then Doorbell Buffer Config."""
        for _ in range(3):
            self.nvme.do_write(0, PAGE)
        shadow = self.configure()
        self.assertEqual([shadow.word(SHADOW), shadow.word(SHADOW, 1)], [3, 3], "as the registers were")
        self.assertEqual([shadow.word(EVENTS), shadow.word(EVENTS, 1)], [3, 3])
        self.assertTrue(self.write(shadow), "an idle queue wants to be told")
        self.assertEqual([shadow.word(EVENTS), self.nvme.io.tail], [4, 4])

    def test_a_queue_made_anew(self) -> None:
        """A new queue does not use values that the old queue left in memory."""
        shadow = self.configure()
        self.write(shadow, 5)
        self.assertEqual(shadow.word(EVENTS), 5)
        self.nvme.do_admin(DELETE_SQ, dwords={10: 1})
        self.nvme.do_admin(DELETE_CQ, dwords={10: 1})
        self.vm.write(SHADOW + 8, bytes(8))
        self.nvme.make_io_queue()
        shadow = ShadowQueue(self.nvme, self.nvme.io)
        self.assertEqual([shadow.word(EVENTS), shadow.word(EVENTS, 1)], [0, 0])
        self.assertTrue(self.write(shadow))

    def test_a_busy_queue_needs_no_register(self) -> None:
        shadow = self.configure()
        self.nvme.start(WRITE, 0, data=PAGE)
        self.nvme.start(WRITE, 4096, data=PAGE)
        self.assertTrue(shadow.ring())
        self.assertEqual(shadow.word(EVENTS), 2)

    def test_a_tail_behind_the_queue_is_ignored(self) -> None:
        """With a tail beyond the queue the controller would execute the queue again and again."""
        shadow = self.configure()
        self.write(shadow)
        for tail in (DEPTH, DEPTH + 5, 0xFFFF, 0xFFFFFFFF):
            self.vm.write(SHADOW + 8, struct.pack("<I", tail))
            self.nvme.set32(0x1008, self.nvme.io.tail)
            self.vm.step(10**7)
            self.assertEqual(self.nvme.io.poll(), None, hex(tail))
        self.assertEqual(len(self.vm.trace("submit")), 1)
        self.vm.write(SHADOW + 8, struct.pack("<I", self.nvme.io.tail))
        self.assertTrue(self.write(shadow))

    def test_a_head_behind_the_queue_is_ignored(self) -> None:
        """A full queue stays full."""
        shadow = self.configure()
        self.vm.write(SHADOW + 12, struct.pack("<I", DEPTH))
        for batch in (DEPTH - 1, 1):
            for _ in range(batch):
                self.nvme.io.put(0x7F, 1)
            shadow.ring()
        posted = struct.unpack(f"<{DEPTH * 4}I", self.vm.read(IO_CQ, DEPTH * 16))[3::4]
        self.assertEqual([status >> 16 & 1 for status in posted], [1] * (DEPTH - 1) + [0])


if __name__ == "__main__":
    unittest.main()

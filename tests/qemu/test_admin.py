# SPDX-License-Identifier: GPL-2.0-or-later
"""Test what wrong admin commands end with: queues, features, Identify, logs.

The statuses are those of the NVMe Base Specification 1.4: 5.3 to 5.6 (queues), 5.14 (Get Log Page), 5.15 (Identify),
5.21.1.7 (Number of Queues), 4.3 (PRP lists), 6.2 (fused operations).
"""

from __future__ import annotations

import struct
import unittest

from support import drive

from nvme import (
    CREATE_CQ,
    CREATE_SQ,
    DELETE_CQ,
    DELETE_SQ,
    DEPTH,
    GET_LOG,
    IDENTIFY,
    READ,
    SET_FEATURES,
    Nvme,
    Queue,
)
from test_logs import ANY, ERRORS, GET_FEATURES, INVALID_FIELD, INVALID_NSID, INVALID_OPCODE, SMART, LogsTest
from test_nvme import SCRATCH

QUEUES, FIRMWARE = 0x07, 0x03
SEQUENCE_ERROR, INVALID_PRP_OFFSET = 0x0C, 0x13
NO_SUCH_CQ, INVALID_QID, INVALID_SIZE, INVALID_VECTOR, INVALID_DELETION = 0x100, 0x101, 0x102, 0x108, 0x10C
CONTIGUOUS = 1
PAIRS, VECTORS = 64, 65  # max_ioqpairs and msix_qsize of QEMU's device
AT = 0x140000  # of queues that get no commands
LINKED = 1  # FUSE: first command


class Bare(Nvme):
    """A controller whose host makes no I/O queues by itself."""

    def make_io_queue(self) -> None:
        """Make none."""


class Queues(LogsTest):
    """Create and delete queues."""

    def cq(self, qid: int, code: int = 0, size: int = DEPTH - 1, vector: int = 0, flags: int = CONTIGUOUS) -> None:
        """Create a completion queue."""
        self.nvme.do_admin(CREATE_CQ, code, prp1=AT, dwords={10: qid | size << 16, 11: flags | vector << 16})

    def sq(self, qid: int, cqid: int, code: int = 0, size: int = DEPTH - 1, flags: int = CONTIGUOUS) -> None:
        """Create a submission queue."""
        self.nvme.do_admin(CREATE_SQ, code, prp1=AT, dwords={10: qid | size << 16, 11: flags | cqid << 16})

    def delete(self, opcode: int, qid: int, code: int = 0) -> None:
        """Delete a queue."""
        self.nvme.do_admin(opcode, code, dwords={10: qid})

    def test_the_admin_queues_stay(self) -> None:
        self.start()
        self.delete(DELETE_SQ, 0, INVALID_QID)
        self.delete(DELETE_CQ, 0, INVALID_QID)
        self.sq(0, 1, INVALID_QID)
        self.cq(0, INVALID_QID)

    def test_deleted_twice(self) -> None:
        self.start()
        self.assertEqual(self.io(READ), 0)
        self.delete(DELETE_CQ, 1, INVALID_DELETION)
        self.delete(DELETE_SQ, 1)
        self.delete(DELETE_SQ, 1, INVALID_QID)
        self.delete(DELETE_CQ, 1)
        self.delete(DELETE_CQ, 1, INVALID_QID)
        for qid in (2, PAIRS, PAIRS + 1, 0xFFFF):
            self.delete(DELETE_SQ, qid, INVALID_QID)
            self.delete(DELETE_CQ, qid, INVALID_QID)

    def test_sizes_and_identifiers(self) -> None:
        self.start()
        most = self.nvme.get32(0) & 0xFFFF  # CAP.MQES, less by one as the size in the command
        self.assertLess(most, 0xFFFF)
        for size in (0, most + 1, 0xFFFF):
            self.cq(2, INVALID_SIZE, size)
            self.sq(2, 1, INVALID_SIZE, size)
        self.cq(2, size=most)
        self.sq(2, 1, size=most)
        self.cq(2, INVALID_QID)
        self.sq(2, 1, INVALID_QID)
        for qid in (PAIRS + 1, 0xFFFF):
            self.cq(qid, INVALID_QID)
            self.sq(qid, 1, INVALID_QID)

    def test_the_completion_queue_of_a_submission_queue(self) -> None:
        self.start()
        self.sq(2, 0, INVALID_QID)  # the admin queue's
        self.sq(2, PAIRS + 1, INVALID_QID)
        self.sq(2, 0xFFFF, INVALID_QID)
        self.sq(2, PAIRS, NO_SUCH_CQ)
        self.sq(2, 1)

    def test_what_is_not_contiguous(self) -> None:
        self.start()
        self.assertTrue(self.nvme.get32(0) >> 16 & 1, "CAP.CQR")
        self.cq(2, INVALID_FIELD, flags=0)
        self.sq(2, 1, INVALID_FIELD, flags=0)
        self.nvme.do_admin(CREATE_CQ, INVALID_PRP_OFFSET, prp1=AT + 8, dwords={10: 2 | 31 << 16, 11: 1})
        self.nvme.do_admin(CREATE_SQ, INVALID_PRP_OFFSET, prp1=AT + 8, dwords={10: 2 | 31 << 16, 11: 1 | 1 << 16})

    def test_vectors(self) -> None:
        self.start()
        self.cq(2, INVALID_VECTOR, vector=1)  # without MSI-X there is one
        at = self.nvme.capability(0x11)
        self.nvme.config_write(at, self.nvme.config(at) | 1 << 31)
        for vector in (VECTORS, 2048, 0xFFFF):
            self.cq(2, INVALID_VECTOR, vector=vector)
        self.cq(2, vector=VECTORS - 1)

    def test_all_queues(self) -> None:
        self.start()
        for qid in range(2, PAIRS + 1):
            self.cq(qid)
            self.sq(qid, qid)
        self.cq(PAIRS + 1, INVALID_QID)
        self.sq(PAIRS + 1, 1, INVALID_QID)
        self.assertEqual(self.io(READ), 0)

    def test_a_completion_queue_of_three(self) -> None:
        """It can be deleted when the last of its submission queues is, and their commands complete."""
        self.start()
        self.cq(2)
        for qid in (2, 3, 4):
            self.sq(qid, 2)
        for qid in (3, 2):
            self.delete(DELETE_SQ, qid)
            self.delete(DELETE_CQ, 2, INVALID_DELETION)
        self.delete(DELETE_SQ, 4)
        self.delete(DELETE_CQ, 2)
        self.assertEqual(self.io(READ), 0)

    def test_number_of_queues(self) -> None:
        self.start()
        most = PAIRS - 1 | PAIRS - 1 << 16
        self.assertEqual(self.feature(QUEUES), most)
        self.nvme.do_admin(SET_FEATURES, SEQUENCE_ERROR, dwords={10: QUEUES, 11: 1 | 1 << 16})
        self.nvme.disable()
        self.vm.step(1_000_000)
        self.nvme = Bare(self.vm)
        self.nvme.enable()
        for wrong in (0xFFFF, 0xFFFF << 16, 0xFFFFFFFF):
            self.nvme.do_admin(SET_FEATURES, INVALID_FIELD, dwords={10: QUEUES, 11: wrong})
        self.assertEqual(self.nvme.do_admin(SET_FEATURES, dwords={10: QUEUES, 11: 3 | 1 << 16}).result, most)
        self.cq(1)
        self.nvme.do_admin(SET_FEATURES, SEQUENCE_ERROR, dwords={10: QUEUES, 11: 3 | 1 << 16})


class Others(LogsTest):
    """Identify, features, logs."""

    def test_features_that_must_be_there(self) -> None:
        """Arbitration, power, temperature, queues, interrupts, atomicity and events; error recovery of a namespace."""
        self.start()
        for fid in (1, 2, 4, 7, 8, 9, 0x0A, 0x0B):
            for select in range(4):
                self.nvme.do_admin(GET_FEATURES, dwords={10: fid | select << 8})
            for select in range(4, 8):
                self.nvme.do_admin(GET_FEATURES, INVALID_FIELD, dwords={10: fid | select << 8})
        for nsid, code in ((1, 0), (0, INVALID_NSID), (2, INVALID_FIELD), (300, INVALID_NSID), (ANY, INVALID_NSID)):
            self.nvme.do_admin(GET_FEATURES, code, nsid=nsid, dwords={10: 5})

    def test_features_that_are_not_there(self) -> None:
        self.start()
        for fid in (0, 3, 0x0C, 0x0D, 0x0F, 0x10, 0x11, 0x12, 0x13, 0x14, 0x1A, 0x78, 0x82, 0x83, 0x84, 0xC0, 0xFF):
            self.nvme.do_admin(GET_FEATURES, INVALID_FIELD, dwords={10: fid})
            self.nvme.do_admin(SET_FEATURES, INVALID_FIELD, dwords={10: fid})

    def test_namespaces_of_identify(self) -> None:
        self.start()
        for nsid in (0, 300, ANY):
            self.nvme.do_admin(IDENTIFY, INVALID_NSID, nsid=nsid, prp1=SCRATCH, dwords={10: 0})
        self.vm.write(SCRATCH, b"\xee" * 4096)
        self.nvme.do_admin(IDENTIFY, nsid=2, prp1=SCRATCH, dwords={10: 0})
        self.assertEqual(self.vm.read(SCRATCH, 4096), bytes(4096), "an inactive namespace")

    def test_what_all_namespaces_have_in_common(self) -> None:
        """With Namespace Management, NSID FFFFFFFFh names what they have in common: formats, and no size."""
        self.start([drive(drive__namespaces=4)])
        self.nvme.do_admin(IDENTIFY, nsid=ANY, prp1=SCRATCH, dwords={10: 0})
        common = self.vm.read(SCRATCH, 4096)
        self.nvme.do_admin(IDENTIFY, nsid=1, prp1=SCRATCH, dwords={10: 0})
        self.assertEqual(common[128:384], self.vm.read(SCRATCH + 128, 256), "formats")
        self.assertEqual(struct.unpack_from("<3Q", common), (0, 0, 0))

    def test_data_across_a_page(self) -> None:
        """1 KiB before the end of a page need a second entry. No address is reserved: an entry of 0 is memory, too."""
        self.start()
        self.nvme.do_admin(IDENTIFY, INVALID_PRP_OFFSET, prp1=SCRATCH + 3072, prp2=SCRATCH + 0x1004, dwords={10: 1})
        self.nvme.do_admin(IDENTIFY, prp1=SCRATCH + 3072, prp2=SCRATCH + 4096, dwords={10: 1})
        whole = self.vm.read(SCRATCH + 3072, 4096)
        self.assertEqual(whole[4:24].rstrip(), b"slate")
        self.vm.write(0, b"\xee" * 4096)
        self.nvme.do_admin(IDENTIFY, prp1=SCRATCH + 3072, dwords={10: 1})
        self.assertEqual(self.vm.read(0, 4096), whole[1024:] + b"\xee" * 1024)

    def test_fused_commands(self) -> None:
        self.start()
        for fuse in (LINKED, 2, 3):
            self.nvme.do_admin(IDENTIFY | fuse << 8, INVALID_FIELD, prp1=SCRATCH, dwords={10: 1})
            self.nvme.io.put(READ | fuse << 8, 1, SCRATCH, 0, {10: 0, 12: 7})
            self.assertEqual(self.nvme.finish().code, INVALID_FIELD)

    def test_fabrics(self) -> None:
        self.start()
        self.nvme.do_admin(0x7F, INVALID_OPCODE)

    def test_offsets_of_logs(self) -> None:
        self.start()
        for log, size in ((ERRORS, 64 * 64), (SMART, 512), (FIRMWARE, 512)):
            whole = self.log(log, size)
            self.assertEqual(self.log(log, size - 8, 4), whole[4:-4])
            self.assertEqual(self.log(log, 4, size - 4), whole[-4:])
            for offset in (size, size + 4, 1 << 32):
                self.nvme.get_log(log, 4, offset, ANY, INVALID_FIELD)
            self.nvme.do_admin(GET_LOG, INVALID_FIELD, nsid=ANY, prp1=SCRATCH, dwords={10: log | 1 << 16, 12: 2})


class Several(LogsTest):
    """Commands of several submission queues that share a completion queue."""

    def test_completions(self) -> None:
        self.start()
        third = Queue(self.nvme, 3, AT + 0x2000, AT + 0x3000)
        self.nvme.do_admin(CREATE_SQ, prp1=third.sq, dwords={10: 3 | DEPTH - 1 << 16, 11: CONTIGUOUS | 1 << 16})
        self.nvme.io.put(READ, 1, SCRATCH, 0, {10: 0, 12: 7})
        third.put(READ, 1, SCRATCH + 4096, 0, {10: 8, 12: 7})
        self.nvme.io.ring()
        third.ring()
        found = {self.nvme.finish().cid >> 8 for _ in range(2)}
        self.assertEqual(found, {1, 3})


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test submission queues and their priorities, from NVMe to the drive's arbiter.

Reads of unwritten units take the controller's one core 10 us each and no time of the flash, so each latency is a
whole number of commands.
"""

from __future__ import annotations

import subprocess
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from support import ROOT, Json, drive

import test_nvme
from nvme import BAR, DSM, FLUSH, READ, SET_FEATURES, WRITE_ZEROES, Nvme, Queue

REPLAY = ROOT / "build" / "core" / "slate-replay"
GET_FEATURES, COMPARE, COPY = 0x0A, 0x05, 0x19
ARBITRATION, NOT_CHANGEABLE = 0x01, 0x10E
DEFAULT, CAPABILITIES = 1 << 8, 3 << 8
URGENT, HIGH, MEDIUM, LOW = range(4)
WEIGHTED, FAILED, CAP_AMS = 1, 2, 3 << 17
COMMAND = 10000  # ns
BURST_FOUR, NO_LIMIT = 2, 7
SQ, CQ, SPREAD = 0x110000, 0x118000, 0x10000  # of the queue after the first; 64 commands fit
DEEP = 65
SOURCE = 0x180000


def arbiter(kind: str = "weighted", **more: Any) -> Json:
    """Return options of a drive whose controller has one core."""
    return drive(
        controller__cores=1,
        controller__arbitration=kind,
        ftl__overhead_ns=COMMAND,
        ftl__map_ns=0,
        **more,
    )


def weights(high: int, medium: int, low: int, burst: int = 0) -> int:
    """Return the value of the feature Arbitration; burst is a power of two's exponent."""
    return burst | (low - 1) << 8 | (medium - 1) << 16 | (high - 1) << 24


class QueueTest(test_nvme.NvmeTest):
    """Test a drive with an arbiter; the name of a queue in .order() is a letter."""

    def begin(self, options: Json, *priorities: int, ams: int = WEIGHTED, depth: int = 32) -> Nvme:
        """Start the controller with a queue for each priority."""
        self.vm = self.machine([options], "-device", test_nvme.CONTROLLER)
        self.nvme = Nvme(self.vm)
        self.enable(*priorities, ams=ams, depth=depth)
        return self.nvme

    def enable(self, *priorities: int, ams: int, depth: int = 32) -> None:
        """Enable the controller and create queues 2, 3 and so on."""
        self.nvme.enable(ams=ams)
        self.queues = [
            Queue(self.nvme, 2 + i, SQ + i * SPREAD, CQ + i * SPREAD, depth).create(priority)
            for i, priority in enumerate(priorities)
        ]

    def read(self, queue: Queue, count: int = 1) -> None:
        """Submit reads of unwritten units. Their offsets name their queue."""
        for _ in range(count):
            queue.put(READ, 1, self.nvme.buffer(), dwords={10: queue.qid * 8, 12: 7})
        queue.ring()

    def order(self, *counts: int) -> str:
        """Let each queue submit so many reads at one time. Return letters of the queues whose reads ended, in order."""
        for queue, count in zip(self.queues, counts):
            self.read(queue, count)
        found = ""
        for _ in range(sum(counts)):
            self.vm.step(COMMAND)
            for i, queue in enumerate(self.queues):
                found += "abcd"[i] * len(queue.drain())
        return found

    def feature(self, select: int = 0) -> int:
        """Return the feature Arbitration."""
        return self.nvme.do_admin(GET_FEATURES, dwords={10: ARBITRATION | select}).result

    def set_feature(self, value: int, code: int = 0) -> None:
        """Set the feature Arbitration."""
        self.nvme.do_admin(SET_FEATURES, code, dwords={10: ARBITRATION, 11: value})


class Priorities(QueueTest):
    """Test weighted round robin with urgent priority."""

    def test_shares_are_the_weights(self) -> None:
        """The first read of the low queue begins when there is no other; each round then has three and one."""
        self.begin(arbiter(controller__weight_high=3), LOW, HIGH)
        self.assertEqual(self.order(16, 16), "a" + "bbb" + "bbba" * 4 + "b" + "a" * 11)

    def test_three_classes(self) -> None:
        options = arbiter(controller__weight_high=4, controller__weight_medium=2, controller__weight_low=1)
        self.begin(options, HIGH, MEDIUM, LOW)
        self.assertEqual(self.order(12, 8, 8), "aaaabbc" * 3 + "bbc" + "cccc")

    def test_urgent_queues_come_first(self) -> None:
        self.begin(arbiter(controller__weight_high=3), HIGH, URGENT, URGENT)
        self.assertEqual(self.order(3, 4, 3), "a" + "bc" * 3 + "b" + "aa")

    def test_round_robin_has_no_priorities(self) -> None:
        """With CC.AMS 0, the same drive ignores priorities."""
        self.begin(arbiter(controller__weight_high=3), LOW, HIGH, ams=0)
        self.assertEqual(self.order(8, 8), "ab" * 8)

    def test_the_mechanisms(self) -> None:
        """Only a drive with weights has the mechanism, and only what the drive has can be selected."""
        for kind, ams, ready in (("weighted", 1, 1), ("weighted", 2, FAILED), ("weighted", 7, FAILED),
                                 ("round-robin", 1, FAILED), ("fifo", 1, FAILED), ("fifo", 0, 1)):  # fmt: skip
            vm = self.machine([arbiter(kind)], "-device", test_nvme.CONTROLLER)
            nvme = Nvme(vm)
            self.assertEqual(int(vm.command(f"readq {BAR:#x}"), 16) & CAP_AMS, 1 << 17 if kind == "weighted" else 0)
            nvme.enable(ams=ams, ready=ready)
            vm.close()


class Feature(QueueTest):
    """Set burst and weights by the feature Arbitration."""

    def test_set_and_reset(self) -> None:
        options = arbiter(controller__weight_high=3, controller__weight_medium=2, controller__arbitration_burst=5)
        self.begin(options, LOW, HIGH)
        at_first = weights(3, 2, 1, burst=2)  # the power of two below 5
        self.assertEqual(self.feature(), at_first)
        self.assertEqual(self.feature(CAPABILITIES), 4)
        self.set_feature(weights(1, 1, 2))
        self.assertEqual(self.feature(), weights(1, 1, 2))
        self.assertEqual(self.feature(DEFAULT), at_first)
        self.assertEqual(self.order(8, 4), "aa" + "b" + "baa" * 3)
        self.nvme.disable()
        self.vm.settle()
        self.enable(LOW, HIGH, ams=WEIGHTED)
        self.assertEqual(self.feature(), at_first)

    def test_burst(self) -> None:
        self.begin(arbiter("round-robin"), 0, 0, ams=0)
        self.assertEqual(self.feature(), 0)
        self.set_feature(BURST_FOUR)
        self.assertEqual(self.feature(), BURST_FOUR)
        self.assertEqual(self.order(8, 8), "aaaabbbb" * 2)
        self.set_feature(NO_LIMIT)
        self.assertEqual(self.feature(), NO_LIMIT)
        self.assertEqual(self.order(8, 8), "a" * 8 + "b" * 8)

    def test_other_drives_have_the_constant(self) -> None:
        self.begin(arbiter("fifo"), 0, ams=0)
        self.assertEqual(self.feature(), NO_LIMIT)
        self.assertEqual(self.feature(CAPABILITIES), 0)
        self.set_feature(BURST_FOUR, NOT_CHANGEABLE)


class Neighbours(QueueTest):
    """Keep a queue of depth 64 and one of depth 1 full."""

    def latencies(self, kind: str, commands: int) -> set[float]:
        """Return the latencies of the second queue, in commands."""
        self.begin(arbiter(kind), 0, 0, ams=0, depth=DEEP)
        noisy, quiet = self.queues
        self.read(noisy, DEEP - 1)
        self.read(quiet)
        for _ in range(commands):
            self.vm.step(COMMAND)
            for queue in self.queues:
                ended = queue.drain()
                if ended:
                    self.read(queue, len(ended))
        mine = {row["id"] for row in self.vm.trace("submit") if int(row["offset"]) == quiet.qid * 4096}
        found = [row for row in self.vm.trace("done") if row["id"] in mine]
        self.assertGreaterEqual(len(found), 3)
        return {int(row["latency"]) / COMMAND for row in found}

    def test_first_come_first_served(self) -> None:
        """Each read waits for the 64 of the other queue."""
        self.assertEqual(self.latencies("fifo", 3 * 65), {65})

    def test_round_robin(self) -> None:
        """Each read waits for one of the other queue."""
        self.assertEqual(self.latencies("round-robin", 3 * 65), {2})


class Recorded(QueueTest):
    """Test what reaches the drive: column STREAM and priority of a recording."""

    def rows(self, path: Path) -> list[tuple[str, ...]]:
        """Return operation, queue and priority of each request."""
        words = [line.split() for line in path.read_text(encoding="ascii").splitlines() if line[0] != "#"]
        requests = [word for word in words if word[2] not in ("step", "done")]
        return [(word[2], word[1], word[-1] if "=" in word[-1] else "") for word in requests]

    def test_every_command_names_its_queue(self) -> None:
        """Flush and Deallocate have no flags in the block layer, so the drive has them in queue 0, as urgent."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "calls"
            nvme = self.begin(arbiter() | {"record": str(path)}, MEDIUM)
            self.set_feature(weights(2, 1, 1), NOT_CHANGEABLE)
            nvme.io = self.queues[0]
            nvme.do_write(0, test_nvme.PAGE)
            self.assertEqual(nvme.do_read(0, 4096), test_nvme.PAGE)
            at = nvme.buffer()
            self.vm.write(at, test_nvme.PAGE)
            self.vm.write(SOURCE, bytes(8) + (0).to_bytes(8, "little") + (7).to_bytes(4, "little") + bytes(12))
            for opcode, prp, dwords in (
                (COMPARE, at, {10: 0, 12: 7}),
                (WRITE_ZEROES, 0, {10: 8, 12: 7}),
                (COPY, SOURCE, {10: 64, 12: 0}),
                (FLUSH, 0, None),
            ):
                nvme.io.put(opcode, 1, prp, dwords=dwords)
                self.assertEqual(nvme.finish().code, 0, opcode)
            self.vm.write(SOURCE, bytes(4) + (8).to_bytes(4, "little") + bytes(8))
            nvme.io.put(DSM, 1, SOURCE, dwords={10: 0, 11: 4})
            self.assertEqual(nvme.finish().code, 0)
            self.assertEqual(self.vm.quit(), 0)
            named = ("2", "priority=2")
            expected = [("write", *named)] + [("read", *named)] * 2  # Read and Compare
            expected += [("trim", *named), ("read", *named), ("write", *named)]
            found = self.rows(path)
            self.assertEqual(found[: len(expected)], expected)
            self.assertEqual(found[len(expected) :][:2], [("flush", "0", ""), ("trim", "0", "")])
            subprocess.run([REPLAY, "--recorded", path], check=True, capture_output=True)


if __name__ == "__main__":
    unittest.main()

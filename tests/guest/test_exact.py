# SPDX-License-Identifier: GPL-2.0-or-later
"""Virtual time is exact: equal runs are equal, and latencies are arithmetic."""

import re
import unittest
from collections import Counter

import determinism
from support import HERE, JOBS, GuestTest

_SUBMIT = re.compile(r"nand_ssd_submit.*?\bid (\d+) (\w+) offset (\d+) bytes (\d+)")
_DONE = re.compile(r"nand_ssd_done.*?\bid (\d+) .*?latency (\d+)")

# fio's first reads touch memory for the first time. The rest cost the same number
# of instructions, but for what the guest's scheduler does by the clock: its load
# averages (every 2^20 ns, 60 to 200 instructions) and its tick (every 4 ms).
WARM_UP = 100
NEAR_NS = 520


class Determinism(GuestTest):
    """1 and 2 vCPUs, idle and busy host, different directories. Twenty runs: make determinism."""

    def equal_runs(self, smp):
        found = determinism.compare(self.folder, 2, HERE / "determinism.fio", vcpus=(smp,))
        self.assertEqual(found[smp][0], found[smp][1], "an idle host, then a busy one")

    def test_equal_runs_1_vcpu(self):
        self.equal_runs(1)

    def test_equal_runs_2_vcpus(self):
        self.equal_runs(2)

    def test_the_seed_matters(self):
        first = self.slate("--job", JOBS / "randread-qd1.fio", "--age", "1")
        second = self.slate("--job", JOBS / "randread-qd1.fio", "--age", "1", "--seed", "2")
        self.assertNotEqual(first.text("device.json"), second.text("device.json"))


class Exactness(GuestTest):
    """psync, one 4 KiB read at a time, on an idle, filled drive."""

    def arithmetic(self, device):
        """What the profile says that such a read takes."""
        transfer = (
            (device.setting("page_bytes") + device.setting("oob_bytes"))
            * device.setting("bus_ps_per_byte")
            // 1000
        )
        return sum(device.setting(key) for key in ("cmd_ns", "read_ns", "map_ns", "overhead_ns")) + transfer

    def test_one_path_cost(self):
        trace = self.folder / "trace.log"
        result = self.slate(
            "--job",
            JOBS / "randread-qd1.fio",
            "--qemu-arg=-trace",
            "--qemu-arg=nand_ssd_submit",
            "--qemu-arg=-trace",
            "--qemu-arg=nand_ssd_done",
            "--qemu-arg=-D",
            f"--qemu-arg={trace}",
        )
        seen = [
            [int(field) for field in line.split(",")]
            for line in result.text("randread-qd1_clat.1.log").replace(" ", "").splitlines()
        ]
        text = trace.read_text(encoding="utf-8", errors="replace")
        latency = {int(number): int(ns) for number, ns in _DONE.findall(text)}
        reads = [
            (int(offset), latency[int(number)])
            for number, op, offset, size in _SUBMIT.findall(text)
            if op == "read" and size == "4096"
        ][-len(seen) :]
        self.assertEqual(
            [offset for offset, _ in reads], [fields[4] for fields in seen], "the I/Os do not match"
        )
        costs = [fields[1] - ns for fields, (_, ns) in zip(seen, reads)][WARM_UP:]
        cost, often = Counter(costs).most_common(1)[0]
        near = sum(abs(one - cost) <= NEAR_NS for one in costs)
        self.figures = (
            f"path cost {cost} ns: exactly so for {100 * often / len(costs):.1f} % of {len(costs)} reads, "
            f"within {NEAR_NS} ns for {100 * near / len(costs):.1f} %"
        )
        self.assertGreaterEqual(often / len(costs), 0.5)
        self.assertGreaterEqual(near / len(costs), 0.98)
        expected = self.arithmetic(result.device)
        self.assertEqual({ns for _, ns in reads}, {expected}, "the drive's figure for every single read")

    def test_the_drives_figure_is_the_profiles(self):
        device = self.slate("--job", JOBS / "randread-qd1.fio").device
        read = device.job("randread-qd1").account.op["read"]
        self.assertEqual((read.ios, read.latency_sum_ns), (1000, 1000 * self.arithmetic(device)))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Run the workloads of the papers: every I/O is counted by guest and drive."""

import unittest
from typing import Any

from support import JOBS, GuestTest

KIB = 1024


class Workloads(GuestTest):
    """Run fio-jobs/*.fio with a number of I/Os for each process instead of a time."""

    def workload(self, name: str, clones: int, ios: int, flushes: bool = False) -> Any:
        """Return the job's account of the drive: clones * ios reads and writes, as fio counted them.

        fio counts a flush under way as an I/O, so a process that flushes may end one early. While one is under
        way, the kernel may join neighbouring writes.
        """
        result = self.slate(
            "--job", JOBS / f"{name}.fio", "--kernel", "small", "--env", f"IOS={ios}", "--env", "RUNTIME=1000"
        )
        (job,) = result.json("fio.json")["jobs"]  # clones report as one
        self.assertEqual(job["error"], 0)
        self.assert_clean(result.device)
        self.assertEqual(result.device.total.ftl["unwritten-reads"], 0)
        missing = clones * ios - job["read"]["total_ios"] - job["write"]["total_ios"]
        self.assertTrue(0 <= missing <= (clones if flushes else 0), f"{missing} I/Os fewer than asked for")
        ops = result.device.job(name).account.op
        for op in ("read", "write"):
            self.assertEqual(ops[op].bytes, job[op]["io_bytes"], op)
            joined = job[op]["total_ios"] - ops[op].ios
            self.assertTrue(0 <= joined <= (ops["flush"].ios if flushes else 0), f"{joined} {op}s joined")
        return ops

    def assert_mix(self, ops: Any, percent: int) -> None:
        """Check the number of reads: fio draws them at random from at least 400 I/Os, of which a twentieth
        is 2 sigma.
        """
        reads, writes = ops["read"].ios, ops["write"].ios
        self.assertAlmostEqual(100 * reads / (reads + writes), percent, delta=5)

    def assert_sizes(self, op: Any, sizes: Any) -> None:
        """Compare the bytes: exact for one size, otherwise between the smallest and the largest size."""
        self.assertGreaterEqual(op.bytes, op.ios * min(sizes) * KIB)
        self.assertLessEqual(op.bytes, op.ios * max(sizes) * KIB)

    def test_oltp(self) -> None:
        ops = self.workload("oltp", 16, 50, flushes=True)
        self.assert_mix(ops, 70)
        self.assert_sizes(ops["read"], [16])
        # one flush after every fourth write; the kernel merges flushes that come together
        self.assertGreater(ops["flush"].ios, 0)
        self.assertLessEqual(ops["flush"].ios, ops["write"].ios // 4 + 16)

    def test_ntrx(self) -> None:
        ops = self.workload("ntrx", 16, 25, flushes=True)
        self.assert_mix(ops, 30)
        self.assert_sizes(ops["read"], [16])
        self.assertGreater(ops["flush"].ios, 0)
        self.assertLessEqual(ops["flush"].ios, ops["write"].ios + 16)

    def test_webserver(self) -> None:
        ops = self.workload("webserver", 20, 20)
        self.assert_mix(ops, 80)
        self.assert_sizes(ops["read"], [16])
        self.assert_sizes(ops["write"], [16])
        self.assertEqual(ops["flush"].ios, 0)

    def test_varmail(self) -> None:
        ops = self.workload("varmail", 16, 30, flushes=True)
        self.assert_mix(ops, 50)
        self.assert_sizes(ops["read"], [16])
        self.assert_sizes(ops["write"], [4, 16])
        self.assertGreater(ops["flush"].ios, 0)
        self.assertLessEqual(ops["flush"].ios, ops["write"].ios + 16)

    def test_varmail_bursts(self) -> None:
        """Each section has 400 I/Os: the first has one pause of 20 ms, the others have no pause."""
        result = self.slate("--job", JOBS / "varmail-bursts.fio", "--kernel", "small", "--env", "IOS=400",
                            "--env", "RUNTIME=1000")  # fmt: skip
        self.assert_clean(result.device)
        jobs = result.json("fio.json")["jobs"]
        self.assertEqual([job["jobname"] for job in jobs], ["burst-320", "burst-1000", "burst-4000"])
        for job in jobs:
            self.assertEqual(job["error"], 0)
            self.assertEqual(job["read"]["total_ios"] + job["write"]["total_ios"], 400)
            of_drive = result.device.job(job["jobname"])
            ops = of_drive.account.op
            for op in ("read", "write"):
                self.assertEqual((ops[op].ios, ops[op].bytes), (job[op]["total_ios"], job[op]["io_bytes"]))
            self.assert_sizes(ops["read"], [16])
            self.assert_sizes(ops["write"], [4, 16])
            self.assertEqual(ops["flush"].ios, 0)
            took_ms = (of_drive.end_ns - of_drive.begin_ns) / 1e6
            if job["jobname"] == "burst-320":
                self.assertGreaterEqual(took_ms, 20)
            else:
                self.assertLess(took_ms, 200)

    def test_fileserver(self) -> None:
        ops = self.workload("fileserver", 10, 40)
        self.assert_mix(ops, 33)
        self.assert_sizes(ops["read"], [128])
        self.assert_sizes(ops["write"], [16, 128])
        self.assertEqual(ops["flush"].ios, 0)

    def test_kv(self) -> None:
        ops = self.workload("kv", 1, 2000)
        self.assertEqual(ops["write"].ios, 0)
        # the number of 4 KiB I/Os among those of 2 KiB that gives the bytes
        large = ops["read"].bytes // (2 * KIB) - 2000
        self.assertTrue(0 < large < 200, f"{large} reads of 4 KiB in 2000: not under 10 %")

    def test_grp(self) -> None:
        ops = self.workload("grp", 1, 2000)
        self.assertEqual(ops["write"].ios, 0)
        large = ops["read"].bytes // (4 * KIB) - 2000
        self.assertAlmostEqual(large / 2000, 0.4, delta=0.05)

    def test_prj(self) -> None:
        ops = self.workload("prj", 1, 2000)
        self.assert_mix(ops, 90)
        self.assert_sizes(ops["read"], [4, 16])

    def test_usr(self) -> None:
        ops = self.workload("usr", 1, 2000)
        self.assert_mix(ops, 70)
        self.assert_sizes(ops["read"], [16])
        self.assert_sizes(ops["write"], [4])

    def test_stg(self) -> None:
        ops = self.workload("stg", 1, 2000)
        self.assert_mix(ops, 30)
        self.assert_sizes(ops["read"], [16])
        self.assert_sizes(ops["write"], [4])

    def test_runtime_ends_it(self) -> None:
        """A tenth of a second of guest time ends the job, without a limit of I/Os. fio checks the time between I/Os."""
        result = self.slate("--job", JOBS / "kv.fio", "--kernel", "small", "--env", "RUNTIME=100ms")
        (job,) = result.json("fio.json")["jobs"]
        self.assertTrue(100 <= job["job_runtime"] <= 105, job["job_runtime"])
        self.assertEqual(result.device.job("kv").account.op["read"].ios, job["read"]["total_ios"])


if __name__ == "__main__":
    unittest.main()

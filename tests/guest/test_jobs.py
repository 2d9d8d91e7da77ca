# SPDX-License-Identifier: GPL-2.0-or-later
"""Test jobs that must succeed, and the drive's counters of them."""

import hashlib
import re
import unittest
from pathlib import Path
from typing import Any

from support import HERE, JOBS, ROOT, SCRIPTS, GuestTest, Result

from slate_lib import paths
from slate_lib.account import PARTS, Device


class Quick(GuestTest):
    """Run the job that new users run first."""

    kernel = "debian"

    def test_quick(self) -> None:
        result = self.slate("--job", JOBS / "quick.fio")
        jobs = [job["jobname"] for job in result.json("fio.json")["jobs"]]
        self.assertGreaterEqual(len(jobs), 4)
        for job in jobs:
            self.assertIn(job[:16], result.out)
        self.assertEqual([job["error"] for job in result.json("fio.json")["jobs"]], [0] * len(jobs))
        device = result.device
        self.assert_clean(device)
        self.assertEqual(device.labels(), [job[:16] for job in jobs])
        self.assertEqual(device.total.ftl["unwritten-reads"], 0)
        overhead = sum(value for name, value in result.json("run.json")["seconds"].items() if name != "guest")
        self.assertLess(overhead, 5, "the launcher's own time")

    def test_parts_add_up(self) -> None:
        device = self.slate("--job", JOBS / "quick.fio", "--age", "1").device
        for mark in device.raw["marks"]:
            for op in ("read", "write", "trim", "flush"):
                account = mark["account"][op]
                parts = sum(account[f"{name}-ns"] for name in PARTS)
                self.assertEqual(parts, account["latency-sum-ns"], f"{mark['label']} {op}")

    def test_names_that_a_shell_would_read(self) -> None:
        """fio puts a job's name into a shell's command behind exec_prerun, which slate run uses for its marks."""
        names = ["job(r_idx=1,w_bw=0).1", "it's $HOME & <more>", "a | b", "`x`"]
        job = self.folder / "names.fio"
        text = "[global]\nfilename=/dev/nvme0n1\ndirect=1\nrw=randread\nstonewall\nnumber_ios=8\n"
        job.write_text(text + "".join(f"[{name}]\n" for name in names), encoding="utf-8")
        result = self.slate("--job", job)
        for name, done in zip(names, result.json("fio.json")["jobs"], strict=True):
            self.assertEqual((done["jobname"], done["read"]["total_ios"]), (name, 8))
            self.assertEqual(result.device.job(name).account.op["read"].bytes, 8 * 4096)

    def test_never_written_warns(self) -> None:
        result = self.slate("--job", JOBS / "randread-qd1.fio", "--fill", "0")
        self.assertIn("never written", result.out)
        self.assertIn("EMPTY", result.out)

    def test_precondition_by_io(self) -> None:
        device = self.slate(
            "--job", JOBS / "randread-qd1.fio", "--precondition", "device", "--fill", "25", "--age", "0.1"
        ).device
        before = device.job("precondition")
        self.assertGreaterEqual(before.account.op["write"].bytes, device.capacity // 4)

    def test_virtio_blk(self) -> None:
        result = self.slate("--job", JOBS / "randread-qd1.fio", "--frontend", "virtio-blk")
        self.assertEqual(result.json("fio.json")["jobs"][0]["read"]["total_ios"], 1000)
        self.assert_clean(result.device)

    def test_realtime(self) -> None:
        result = self.slate("--job", JOBS / "randread-qd1.fio", "--realtime")
        self.assertEqual(result.json("fio.json")["jobs"][0]["error"], 0)

    def test_job_that_fails(self) -> None:
        """fio looks for checksums that nothing has written."""
        job = self.folder / "nosums.fio"
        text = "[nosums]\nfilename=/dev/nvme0n1\ndirect=1\nrw=read\nbs=4k\nsize=16k\nverify=crc32c\n"
        job.write_text(text, encoding="utf-8")
        self.refused("--job", job, code=1, words=("nosums.fio", "failed in the guest with status", "fix:"))

    def test_job_that_does_nothing_warns(self) -> None:
        job = self.folder / "idle.fio"
        job.write_text("[idle]\nfilename=/dev/nvme0n1\nrw=read\nsize=4k\ncreate_only=1\n", encoding="utf-8")
        self.assertIn("did no I/O", self.slate("--job", job).out)


class Verify(GuestTest):
    """fio checks every byte it wrote while GC moves data."""

    def verify(self, job: Path, *args: Any, rewrites: float = 0.0) -> Device:
        result = self.slate("--job", job, *args, seconds=600)
        self.assertEqual([job["error"] for job in result.json("fio.json")["jobs"]], [0])
        device = result.device
        self.assert_clean(device)
        written = device.total.op["write"].bytes
        self.assertGreaterEqual(written / device.capacity, rewrites, "the job wrote too little of the drive")
        erased = (
            device.total.nand_total("erases")
            * device.setting("pages_per_block")
            * device.setting("page_bytes")
        )
        self.assertGreaterEqual(erased / device.capacity, rewrites, "GC rewrote too little of the drive")
        return device

    def test_random_16k_three_drives(self) -> None:
        self.verify(HERE / "verify-16k.fio", rewrites=3)

    def thrice(self, job: Path, capacity_mib: int, *geometry: Any) -> Device:
        """Write small units three times over a drive reduced to that many MiB."""
        settings = [f"--set=ftl.capacity_mib={capacity_mib}", "--set=ftl.buffer_units=32"]
        settings += [f"--set=geometry.{word}" for word in geometry]
        device = self.verify(job, "--kernel", "small", "--env", "LOOPS=3", *settings, rewrites=3)
        self.assertEqual(device.capacity, capacity_mib << 20)
        self.assertGreater(device.total.ftl["gc-units"], device.capacity // device.unit_bytes)
        return device

    def test_random_4k_three_drives(self) -> None:
        self.thrice(JOBS / "verify-4k.fio", 64, "blocks_per_plane=24")

    def test_random_512_three_drives(self) -> None:
        device = self.thrice(JOBS / "verify-512.fio", 8, "blocks_per_plane=24", "pages_per_block=8")
        self.assertGreater(device.total.ftl["merge-reads"], 0)

    def test_sequential_128k_three_drives(self) -> None:
        self.verify(JOBS / "verify-128k.fio", "--env", "LOOPS=4", rewrites=3)

    def test_512(self) -> None:
        device = self.verify(JOBS / "verify-512.fio", "--env", "SIZE=2m", "--env", "LOOPS=2")
        self.assertGreater(device.total.ftl["merge-reads"] + device.total.ftl["coalesced-units"], 0)

    def test_mixed_sizes(self) -> None:
        self.verify(JOBS / "verify-bssplit.fio", "--env", "SIZE=16m", "--env", "LOOPS=2")

    def test_nvme_passthrough(self) -> None:
        self.verify(JOBS / "verify-cmd.fio", "--env", "SIZE=8m", "--env", "LOOPS=2")

    def test_512_without_write_buffer(self) -> None:
        self.verify(
            JOBS / "verify-512.fio", "--env", "SIZE=512k", "--env", "LOOPS=1", "--set", "ftl.buffer_units=0"
        )

    def test_4k_aged_blocking_gc(self) -> None:
        self.verify(
            JOBS / "verify-4k.fio",
            "--env",
            "SIZE=25%",
            "--env",
            "LOOPS=1",
            "--age",
            "1",
            "--set",
            "ftl.gc_mode=blocking",
        )


class Profiles(GuestTest):
    """The small version of each shipped drive runs in the guest and keeps its data."""

    kernel = "debian"

    def check(self, name: str) -> None:
        profile = ROOT / "nand-emu" / "profiles" / f"{name}-small.ini"
        result = self.slate(
            *("--profile", profile, "--job", JOBS / "verify-4k.fio", "--kernel", "small"),
            *("--env", "SIZE=16m", "--env", "LOOPS=2"),
        )
        self.assertEqual([job["error"] for job in result.json("fio.json")["jobs"]], [0])
        self.assert_clean(result.device)
        self.assertGreaterEqual(result.device.total.op["write"].bytes, 2 * 16 << 20)

    def test_pen(self) -> None:
        self.check("pen")

    def test_superblock(self) -> None:
        self.check("superblock")

    def test_ippbe(self) -> None:
        self.check("ippbe")

    def test_spread(self) -> None:
        self.check("spread")

    def test_dac(self) -> None:
        self.check("dac")

    def test_tlc(self) -> None:
        self.check("tlc")

    def test_qlc(self) -> None:
        self.check("qlc")

    def test_znand(self) -> None:
        self.check("znand")

    def test_rps(self) -> None:
        self.check("rps")


class FileSystems(GuestTest):
    """Run mkfs, copy, fsck, remount, compare and trim."""

    kernel = "debian"

    def life(self, fs: str) -> None:
        result = self.slate("--cmd", SCRIPTS / "fs-test.sh", "--cmd-arg", fs, seconds=600)
        report = result.text("fs-test.txt")
        self.assertNotIn("FAIL", report)
        self.assertIn("compare again: ok", report)
        device = result.device
        self.assert_clean(device)
        trims = device.total.op["trim"]
        self.assertGreaterEqual(trims.bytes, 2 * device.capacity, "two blkdiscards of the drive, and fstrim")
        self.assertGreater(device.total.ftl["trimmed-units"], device.capacity // device.unit_bytes // 2)
        self.assertGreater(device.total.op["flush"].ios, 0)

    def test_ext4(self) -> None:
        self.life("ext4")

    def test_xfs(self) -> None:
        self.life("xfs")

    def test_f2fs(self) -> None:
        self.life("f2fs")


class SmallKernel(GuestTest):
    """The small kernel has all drivers of a run built in, and init loads no module."""

    def small(self, *args: Any) -> Result:
        result = self.slate("--kernel", "small", *args)
        self.assertNotRegex(result.text("console.log"), r"(?m)^init: ")
        record = result.json("run.json")
        self.assertRegex(record["versions"]["kernel"], "-slate$")
        vmlinux = paths.kernel("small").read_bytes()
        self.assertEqual(record["sha256"]["vmlinux"], hashlib.sha256(vmlinux).hexdigest())
        self.assert_clean(result.device)
        return result

    def test_drivers(self) -> None:
        names = ("loop", "ext4", "xfs", "f2fs", "psync", "libaio", "io_uring", "blktrace")
        report = self.small("--cmd", HERE / "small.sh").text("small.txt")
        self.assertEqual(report.splitlines(), [f"{name}: ok" for name in names])

    def test_quick(self) -> None:
        jobs = self.small("--job", JOBS / "quick.fio").json("fio.json")["jobs"]
        self.assertEqual([job["error"] for job in jobs], [0] * len(jobs))

    def test_virtio_blk(self) -> None:
        result = self.small("--job", JOBS / "randread-qd1.fio", "--frontend", "virtio-blk")
        self.assertEqual(result.json("fio.json")["jobs"][0]["read"]["total_ios"], 1000)

    def test_realtime(self) -> None:
        result = self.small("--job", JOBS / "randread-qd1.fio", "--realtime")
        self.assertEqual(result.json("fio.json")["jobs"][0]["read"]["total_ios"], 1000)

    def test_nvme_smoke(self) -> None:
        self.assertNotIn("FAIL", self.small("--cmd", SCRIPTS / "nvme-smoke.sh").text("nvme-smoke.txt"))


class Commands(GuestTest):
    """Test flush, trim and the rest of NVMe."""

    kernel = "debian"

    def test_nvme_smoke(self) -> None:
        self.assertNotIn("FAIL", self.slate("--cmd", SCRIPTS / "nvme-smoke.sh").text("nvme-smoke.txt"))

    def test_flushes_seen_are_flushes_sent(self) -> None:
        result = self.slate("--cmd", HERE / "flush.sh")
        sent = {name: int(count) for name, count in re.findall(r"(\S+) (\d+)", result.text("sent.txt"))}
        self.assertEqual(set(sent), {"none", "fsync", "odsync"})
        self.assertEqual(sent["none"], 0)
        self.assertEqual(sent["fsync"], 25)
        for name, count in sent.items():
            self.assertEqual(result.device.job(name).account.op["flush"].ios, count, name)

    def test_discard(self) -> None:
        result = self.slate("--cmd", HERE / "discard.sh")
        job = result.device.job("discard").account
        self.assertEqual(job.op["trim"].bytes, 64 << 20)
        self.assertEqual(job.ftl["trimmed-units"], (64 << 20) // 4096)
        reads = result.device.job("read-trimmed").account
        self.assertEqual(reads.ftl["unwritten-units"], (1 << 20) // 4096)
        self.assertEqual(result.text("bytes.txt").split(), ["zero"])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test several drives in one guest: reports, equal runs, and Linux volumes on them."""

import re
import unittest
from typing import Any

from support import HERE, JOBS, PROFILES, SMALL, GuestTest, Result

from slate_lib.account import Device

_SYNCED = re.compile(r"^SYNCED (\d+)\r?$", re.MULTILINE)
_DEGRADED = re.compile(r"^DEGRADED (\d+)\r?$", re.MULTILINE)
EMPTY = ("--fill", "0")


class SeveralTest(GuestTest):
    """Run a guest with two drives of small.ini, unless a test names others."""

    def several(self, *args: Any, drives: int = 2, **more: Any) -> Result:
        return self.slate(*[word for _ in range(drives) for word in ("--profile", SMALL)], *args, **more)

    def of(self, result: Result, number: int) -> Device:
        """Return a drive's statistics, which must be clean."""
        device = Device(result.json(f"nvme{number}/device.json"))
        self.assert_clean(device)
        return device


class Several(SeveralTest):
    """Test options and reports of the launcher."""

    def test_a_job_over_two_drives_and_equal_runs(self) -> None:
        runs = [self.several("--job", JOBS / "two-drives.fio", "--age", "1") for _ in range(2)]
        names = [
            f"nvme{n}/{name}" for n in (0, 1) for name in ("device.json", "series.json", "blocks.json", "report.txt")
        ]
        for name in ("fio.json", "report.txt", "console.log", *names):
            self.assertEqual(runs[0].text(name), runs[1].text(name), name)
        jobs = {"both-read": ("read", (2000, 2000)), "both-write": ("write", (1000, 1000)),
                "first-read": ("read", (2000, 0)), "second-read": ("read", (0, 2000))}
        for number in (0, 1):
            device = self.of(runs[0], number)
            self.assertEqual(device.labels(), list(jobs), "each drive has every job's marks")
            for job, (op, ios) in jobs.items():
                self.assertEqual(device.job(job).account.op[op].ios, ios[number], f"{job} on nvme{number}")
        report = runs[0].text("report.txt")
        self.assertEqual(re.findall(r"^(\S+) +(?:read|write) .* guest$", report, re.MULTILINE), list(jobs))
        self.assertEqual(report.count("  all\n"), 3, "two jobs of both drives, and the table's head")
        self.assertRegex(report, r"\nwrites +1,000 +1,000 +2,000\n")
        own = runs[0].text("nvme1/report.txt")
        self.assertIn("second-read", own)
        self.assertNotIn("first-read", own)
        self.assertNotEqual(runs[0].text("nvme0/device.json"), runs[0].text("nvme1/device.json"), "seeds differ")

    def test_names_follow_the_order(self) -> None:
        """The drives have three sizes, with Debian's kernel, too; each has counted three reads of the script."""
        profiles = [
            word for name in ("small", "rps-small", "pen-small") for word in ("--profile", PROFILES / f"{name}.ini")
        ]
        for kernel in ("small", "debian"):
            result = self.slate(*profiles, "--kernel", kernel, *EMPTY, "--cmd", HERE / "several.sh")
            drives = [self.of(result, number) for number in range(3)]
            self.assertEqual(len({device.capacity for device in drives}), 3)
            self.assertEqual([device.profile for device in drives], ["small", "rps-small", "pen-small"])
            for number, device in enumerate(drives):
                reads = [device.job(f"nvme{n}n1").account.op["read"].ios for n in range(3)]
                self.assertEqual(reads, [3 if n == number else 0 for n in range(3)], f"nvme{number}")
            self.assertEqual(
                result.text("drives.txt").splitlines(),
                [f"nvme{n}n1 {device.capacity // 512} slate{n or ''}" for n, device in enumerate(drives)],
            )

    def cut_both(self, names: tuple[str, str], *args: str) -> None:
        """Cut the power of two drives while ext4 on the first writes; boot again and look at its files."""
        result = self.several(*args, *EMPTY, "--cmd", HERE / "cut-write.sh", "--cut-at", "800ms",
                              "--after-cut", HERE / "cut-write.sh")
        cuts = result.json("run.json")["power_cuts"]
        self.assertEqual([(cut["drive"], cut["cut-ns"]) for cut in cuts], [(name, 800_000_000) for name in names])
        self.assertEqual([cut["mounts"] for cut in cuts], [1, 1])
        synced = int(_SYNCED.findall(result.text("console-1.log"))[-1])
        self.assertIn(int(result.text("whole.txt")), (synced, synced + 1))
        self.assertEqual([path.name for path in result.folder.glob(".*")], [])

    def test_all_lose_their_power_at_once(self) -> None:
        """Two drives lose their power at the same nanosecond; the second boot mounts both."""
        self.cut_both(("nvme0", "nvme1"))

    def test_one_controller(self) -> None:
        """Two namespaces of one controller have a flash each, and lose their power at the same nanosecond."""
        self.cut_both(("nvme0n1", "nvme0n2"), "--one-controller")


class Volumes(SeveralTest):
    """Test md, device mapper, LVM and Btrfs with Debian's kernel and the image of applications."""

    kernel = "debian"

    def volumes(self, *args: Any, **more: Any) -> Result:
        return self.several("--apps", *EMPTY, *args, seconds=900, **more)

    def test_raid1_rebuilds_a_member_that_lost_its_power(self) -> None:
        """nvme1 vanishes while ext4 writes; md continues without it and rebuilds it in the next boot."""
        result = self.volumes("--cmd", HERE / "raid1-work.sh", "--cut-at", "1s", "--cut-drive", "1",
                              "--after-cut", HERE / "raid1-check.sh")
        (cut,) = result.json("run.json")["power_cuts"]
        self.assertEqual((cut["drive"], cut["cut-ns"]), ("nvme1", 1_000_000_000))
        work = result.text("console-1.log")
        (degraded,) = map(int, _DEGRADED.findall(work))
        synced = [int(number) for number in _SYNCED.findall(work)]
        self.assertEqual(synced, list(range(1, degraded + 20)), "20 files from the loss on")
        self.assertGreater(degraded, 10, "the member was lost in the middle")
        self.assertEqual(result.text("state.txt"), "1\n0\n", "degraded, then whole")
        self.assertEqual(int(result.text("whole.txt")), synced[-1])
        self.assertEqual(result.text("check.txt"), "0\n")
        self.assertEqual(result.text("members.txt"), "1\n", "one checksum of both")
        self.assertGreater(self.of(result, 1).total.op["write"].bytes, 1 << 20, "the rebuild")
        self.of(result, 0)

    def test_raid0_with_verified_writes(self) -> None:
        """fio's data are on the two drives, in chunks, and each only once."""
        result = self.volumes("--cmd", HERE / "raid-verify.sh", "--cmd-arg", "0", "--cmd-arg", "2")
        (job,) = result.json("fio.json")["jobs"]
        self.assertGreaterEqual(job["write"]["io_bytes"], 16 << 20)
        each = [self.of(result, number).job("verify").account.op["write"].bytes for number in (0, 1)]
        self.assertEqual(sum(each), job["write"]["io_bytes"])
        self.assertGreater(min(each), 6 << 20)
        self.assertGreaterEqual(job["read"]["io_bytes"], job["write"]["io_bytes"], "all of it was verified")

    def test_raid5_reads_without_a_member(self) -> None:
        result = self.volumes("--cmd", HERE / "raid-verify.sh", "--cmd-arg", "5", "--cmd-arg", "3", drives=3)
        self.assertEqual(result.text("state.txt"), "1\n")
        each = [self.of(result, number).job("verify").account.op["write"].bytes for number in (0, 1, 2)]
        self.assertGreater(sum(each), 3 * (16 << 20) // 2, "data, and parity for every two of them at least")

    def test_linear_stripe_lvm_raid10_btrfs(self) -> None:
        result = self.volumes("--cmd", HERE / "volumes.sh")
        self.assertEqual(
            result.text("volumes.txt").splitlines(),
            ["linear whole", "stripe whole", "lvm whole", "raid10 whole", "btrfs whole", "btrfs clean"],
        )
        self.assertEqual(result.text("linear.txt"), "131072\n")
        for number in (0, 1):
            self.of(result, number)


if __name__ == "__main__":
    unittest.main()

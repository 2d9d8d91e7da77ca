# SPDX-License-Identifier: GPL-2.0-or-later
"""Test a drive with zones under Linux's zoned stack: blkzone, nvme-cli, fio, file systems; a power cut; equal runs."""

import re
import unittest
from typing import Any

from support import HERE, JOBS, PROFILES, GuestTest, Result

ZNS = PROFILES / "zns-small.ini"
ZONE = 4 << 20
_SYNCED = re.compile(r"^SYNCED (\d+)\r?$", re.MULTILINE)
_POINTER = re.compile(r"wptr (0x[0-9a-f]+)")


class Zones(GuestTest):
    """The kernel has zones, which the small one has not."""

    kernel = "debian"

    def run_cmd(self, script: str, *args: Any, profile: Any = ZNS, **more: Any) -> Result:
        return self.slate("--fill", "0", "--cmd", HERE / script, *args, profile=profile, **more)

    def test_tools(self) -> None:
        result = self.run_cmd("zones.sh", "--set", "geometry.blocks_per_plane=67")
        self.assertEqual(
            result.text("zones.txt").splitlines(),
            [
                "model host-managed",
                "limits 14 14 8192 64",
                "fresh em 64",
                "written em 63 oi 1",
                "changed cl 1 em 59 fu 2 oe 1 oi 1",
                "pointer 0x000080",
                "nvme cl 1 em 58 fu 3 oe 1 oi 1",
                "reset cl 1 em 59 fu 2 oe 1 oi 1",
                "empty em 64",
                "failed em 62 of 1 ro 1",
                "end",
            ],
        )
        self.assertRegex(result.text("id-ns.txt"), r"(?s)mar +: 0xd\n.*mor +: 0xd\n")
        self.assertEqual(len(re.findall(r"^SLBA:", result.text("report-zones.txt"), re.MULTILINE)), 5)
        changed = re.findall(r"^zid \d+: (\d+)$", result.text("changed.txt"), re.MULTILINE)
        self.assertEqual([int(zone) for zone in changed], [8192, 3 * 8192], result.text("changed.txt"))
        appended = [int(re.search(r"LBA ([0-9a-f]+)", result.text(f"append-{i}.txt")).group(1), 16) for i in (1, 2)]
        self.assertEqual(appended, [5 * 8192, 5 * 8192 + 8])
        ftl = result.device.total.ftl
        self.assertEqual(ftl["zone-appends"], 2)
        self.assertEqual((ftl["zone-opens"], ftl["zone-closes"], ftl["zone-finishes"]), (2, 1, 3))
        self.assertEqual(result.device.total.op["write"].errors, 1, "the one that is not at the write pointer")
        self.assertEqual(result.device.total.violations(), 0)

    def test_areas(self) -> None:
        """Random write areas by nvme-cli."""
        result = self.run_cmd("zones-areas.sh", "--set", "ftl.zrwa_pages=4")
        self.assertEqual(
            result.text("areas.txt").splitlines(), ["written 0x000000", "flushed 0x000040", "beyond 0x000060", "end"]
        )
        self.assertRegex(
            result.text("id-ns.txt"), r"(?s)ozcs +: 2\n.*numzrwa +: 0xe\nzrwafg +: 32\nzrwasz +: 128\nzrwacap +: 1\n"
        )
        self.assertIn("Attrs: 0x8", result.text("report-zones.txt"))
        ftl = result.device.total.ftl
        self.assertEqual((ftl["zone-commits"], ftl["zone-implicit-commits"]), (1, 1))
        self.assertEqual(result.device.total.violations(), 0)

    def test_fio_and_equal_runs(self) -> None:
        """The job runs as a user types it, on full zones; two runs leave equal bytes."""
        runs = [self.slate("--job", JOBS / "zones.fio", profile=ZNS) for _ in range(2)]
        self.assertEqual([job["error"] for job in runs[0].json("fio.json")["jobs"]], [0] * 4)
        for name in ("device.json", "report.txt", "fio.json"):
            self.assertEqual(runs[0].text(name), runs[1].text(name), name)
        self.assert_clean(runs[0].device)
        self.assertGreaterEqual(runs[0].device.total.ftl["zone-resets"], 8 + 16 + 8)
        self.assertIn("zone-resets", runs[0].text("report.txt"))

    def test_fio_in_real_time(self) -> None:
        result = self.slate("--job", JOBS / "zones.fio", "--realtime", profile=ZNS)
        self.assertEqual([job["error"] for job in result.json("fio.json")["jobs"]], [0] * 4)

    def test_file_systems(self) -> None:
        """Test f2fs with its metadata in a namespace on flash of its own, Btrfs and zonefs."""
        profiles = ("--profile", PROFILES / "small.ini", "--profile", ZNS)
        result = self.run_cmd("zones-files.sh", *profiles, "--one-controller", "--apps")
        steps = result.text("files.txt").splitlines()
        self.assertEqual(len(steps), 25)
        self.assertEqual([step for step in steps if not step.endswith(": ok")], [], result.text("files.log"))

    def test_cut_under_load(self) -> None:
        """What was flushed is there; each zone's pointer is at its last whole block or after it."""
        runs = [
            self.run_cmd("zones-cut.sh", "--cut-at", "700ms", "--after-cut", HERE / "zones-cut.sh") for _ in range(2)
        ]
        for name in ("device.json", "whole.txt", "pointers.txt", "report.txt", "console-1.log"):
            self.assertEqual(runs[0].text(name), runs[1].text(name), name)
        synced = int(_SYNCED.findall(runs[0].text("console-1.log"))[-1])
        self.assertGreater(synced, 10)
        whole = int(runs[0].text("whole.txt"))
        self.assertIn(whole, (synced, synced + 1))
        pointers = [int(found, 16) for found in _POINTER.findall(runs[0].text("pointers.txt"))]
        for zone, pointer in enumerate(pointers):
            self.assertEqual(pointer, 8 * ((whole - zone + 3) // 4), "sectors, of the zone's own blocks")


if __name__ == "__main__":
    unittest.main()

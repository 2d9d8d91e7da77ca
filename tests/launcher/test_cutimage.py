# SPDX-License-Identifier: GPL-2.0-or-later
"""Test 'slate cuts --image': what a boot is given, when its cuts come, and what is refused."""

import os
import subprocess
import tarfile
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from support import ROOT

from slate_lib import cli, command, paths
from slate_lib.boot import SLATES, Boot
from slate_lib.cuts import campaign as campaigns
from slate_lib.cuts import command as cuts
from slate_lib.cuts import image, times
from slate_lib.cuts.campaign import Campaign, Recorded, header
from slate_lib.errors import MachineError, SlateError
from slate_lib.options import RunOptions
from slate_lib.powercut import CUT, Plan

PROFILES = ROOT / "nand-emu" / "profiles"
SCRIPT = str(ROOT / "tests" / "guest" / "cut-write.sh")
OWN = ("--work", SCRIPT, "--check", SCRIPT)


class Images(unittest.TestCase):
    """Make a folder with a raw image that has a boot sector, and nothing to boot."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="slate-image-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.disk = self.folder / "disk.raw"
        self.disk.write_bytes(b"\xfa\xf4".ljust(510, b"\0") + b"\x55\xaa" + bytes(range(256)) * 8190)

    def campaign(self, *words: str) -> Campaign:
        """Return a campaign with this image."""
        args = cli.parser().parse_args(["cuts", "--image", str(self.disk), *OWN, *words])
        return cuts.campaign_of(args, self.folder)


class Boots(Images):
    """Test the files and the command line of a boot."""

    def test_the_job_is_a_tar_on_a_drive(self) -> None:
        """The files of /job in Slate's guest, with the script that starts them, and slate-mark as a program."""
        campaign, packed = self.campaign(), self.folder / "job.tar"
        run = campaign.options("work", self.folder / "w", {"durable-1": b"1\n"}, CUTS_SEED=5)
        image.write_job(run, self.folder / "initrd")
        drive = f"driver=nand-ssd,ephemeral=on,drive-file={self.folder}/initrd"
        subprocess.run([paths.QEMU.with_name("qemu-img"), "convert", "--image-opts", drive, "-O", "raw", packed],
                       check=True)  # fmt: skip
        with tarfile.open(packed) as tar:
            found = {member.name: (member.mode, tar.extractfile(member)) for member in tar}
            data = {name: file.read() for name, (_, file) in found.items() if file}
        self.assertEqual(set(found), {"env", "run.sh", "work", "check", "durable-1", "start", "slate-mark"})
        self.assertEqual(data["work"], Path(SCRIPT).read_bytes())
        self.assertEqual(data["durable-1"], b"1\n")
        self.assertIn(b"CUTS_SEED=5\n", data["env"])
        self.assertEqual(data["slate-mark"][:4], b"\x7fELF")
        self.assertTrue(all(found[name][0] == 0o755 for name in ("start", "slate-mark", "run.sh", "work")))

    def test_the_image_is_copied_and_stays_as_it_is(self) -> None:
        campaign, before, back = self.campaign(), self.disk.read_bytes(), self.folder / "back.raw"
        assert campaign.own
        campaign.own.copy()
        drive = f"driver=nand-ssd,ephemeral=on,drive-file={campaign.own.root}"
        subprocess.run([paths.QEMU.with_name("qemu-img"), "convert", "--image-opts", drive, "-O", "raw", back],
                       check=True)  # fmt: skip
        with open(back, "rb") as file:
            self.assertEqual(file.read(len(before)), before)
        self.assertEqual(self.disk.read_bytes(), before)

    def test_the_drive_of_a_large_image(self) -> None:
        """The profile default exports 3.6 GiB with 64 blocks a plane: 8 GiB need 256 of them."""
        for size, blocks in ((1 << 30, 64), (4 << 30, 128), (8 << 30, 256)):
            self.assertEqual(image.blocks_of(PROFILES / "default.ini", size), blocks)

    def test_command_line(self) -> None:
        """The cut drive is the first NVMe controller; the others are virtio disks in virtual time, never written."""
        campaign = self.campaign()
        assert campaign.own
        line = campaign.own.command_line(campaign.options("work", self.folder / "w", {}),
                                         command.Files(Path("job"), Path("con"), Path("res"), 7))  # fmt: skip
        disks = [line[at + 1] for at, word in enumerate(line) if word == "-device"]
        self.assertEqual(disks, ["nvme,serial=slate,drive=ssd0",
                                 "virtio-blk-pci,drive=root,ioeventfd=off,bootindex=0",
                                 "virtio-blk-pci,drive=job,ioeventfd=off,serial=slate-job"])  # fmt: skip
        nodes = [line[at + 1] for at, word in enumerate(line) if word == "-blockdev"]
        self.assertEqual([node.endswith("ephemeral=on") for node in nodes], [False, True, True])
        self.assertNotIn(str(self.disk), " ".join(line))
        self.assertIn("sleep=off", line[line.index("-icount") + 1])
        self.assertEqual(line.count("-serial"), 2)

    def test_where_the_check_runs(self) -> None:
        for words, slates in (((), False), (("--check-in-slate", "--kernel", "debian"), True)):
            campaign = self.campaign(*words)
            with mock.patch.object(campaigns, "boot") as boot:
                campaign.boot(campaign.base)
                self.assertEqual(boot.call_args[0][3] is SLATES, slates)
                campaign.boot(campaign.base, Plan(at_ns=1))
                self.assertIsNot(boot.call_args[0][3], SLATES)


class Times(Images):
    """The drive counts from the image's mark; the times of the drive's clock are known after the recorded run."""

    def test_from_the_mark(self) -> None:
        campaign = self.campaign("--span", "0.5")
        first = campaign.moment(0)
        self.assertTrue(20_000_000 <= first.at_ns < 520_000_000)
        plan = campaign.plan(first)
        self.assertEqual(plan, Plan(at_ns=first.at_ns, seed=first.plan.seed, mark="slate-cuts"))
        found = Boot(CUT, {"cut-ns": 4_000_000_000 + first.at_ns}, {}, "", b"", 1)
        timed = campaign.timed(first, found)
        self.assertEqual((timed.at_ns, campaign.job_start_ns), (4_000_000_000 + first.at_ns, 4_000_000_000))
        self.assertEqual(campaign.moment(0).at_ns, timed.at_ns)
        self.assertEqual(campaign.plan(campaign.moment(0)), plan, "the next guest is cut as late")

    def test_times_of_the_drives_clock_are_of_the_work(self) -> None:
        """They do not change when the recorded guest ends, 20 ms and the span after the image began the work."""
        campaign = self.campaign("--cut-at", "4.2s,3.9s,9s")
        campaign.job_start_ns = 4_000_000_000
        self.assertEqual(campaign.end().at_ns, 5_020_000_000)
        work = Recorded(1, Path("t"), b"", 5_020_000_000)
        self.assertEqual(campaign.time(campaign.when(0), work, {}), 4_200_000_000)
        for index in (1, 2):
            with self.assertRaisesRegex(SlateError, "the work ran from 4000.000000 ms to 5020.000000 ms"):
                campaign.time(campaign.when(index), work, {})

    def test_slates_guest_begins_when_the_first_one_did(self) -> None:
        campaign = Campaign(RunOptions(None), mock.Mock(), 1, 10**9, self.folder, Path("o"), job_start_ns=7)
        moment = campaign.moment(3)
        self.assertIs(campaign.plan(moment), moment.plan)
        self.assertEqual(campaign.timed(moment, Boot(CUT, {"cut-ns": moment.at_ns}, {}, "", b"", 1)), moment)
        self.assertEqual(campaign.job_start_ns, 7)

    def test_requests_are_numbered_from_the_mark_on(self) -> None:
        """A program that the mark finds under way has no number, at its beginning as at its end."""
        found = {"flush": [5, 20, 30], "program-begin": [1, 9, 12], "program": [4, 15, 14]}
        self.assertEqual(times.since(found, 10), {"flush": [20, 30], "program-begin": [12], "program": [14]})

    def test_the_log_names_the_image(self) -> None:
        campaign = self.campaign("--check-in-slate", "--kernel", "debian")
        head = header(campaign)
        self.assertEqual(head["image"]["bytes"], 512 + 256 * 8190)
        self.assertTrue(head["check_in_slate"])
        self.assertIn(f"--image {self.disk}", head["repeat"])
        self.assertEqual(head["kernel"], "debian")
        self.assertNotIn("kernel", header(self.campaign()), "the image's own is not known")
        os.utime(self.disk, (1, 1))
        self.assertNotEqual(header(campaign)["image"], head["image"], "another image has a log of its own")

    def test_the_log_names_the_files_below_an_image(self) -> None:
        """What an overlay does not hold is read from its backing file, which may change alone."""
        overlay = self.folder / "over.qcow2"
        tool = str(paths.QEMU.with_name("qemu-img"))
        subprocess.run([tool, "create", "-q", "-f", "qcow2", "-F", "raw", "-b", "disk.raw", str(overlay)], check=True)
        below = self.disk
        self.disk = overlay
        campaign = self.campaign()
        for _ in range(2):
            (found,) = header(campaign)["image"]["backing"]
            self.assertEqual(found, {"file": paths.short(below), "bytes": 512 + 256 * 8190,
                                     "mtime_ns": below.stat().st_mtime_ns})  # fmt: skip
            os.utime(below, (1, 1))


class Bad(Images):
    """Test messages that name the fault and the fix."""

    def test_refused(self) -> None:
        disk = str(self.disk)
        foreign = self.folder / "a.vmdk"
        foreign.write_bytes(b"KDMV".ljust(512, b"\0"))
        for words, said in (
            (("--image", "nothere.qcow2", *OWN), "--image nothere.qcow2: no such file"),
            (("--image", str(foreign), *OWN), "is in the format VMDK"),
            (("--image", disk), "--image without --work"),
            (("--image", disk, "--ready", "calls:fsync-ext4"), "--ready with --image: --ready is for Slate's own"),
            (("--image", disk, *OWN, "--apps"), "--apps with --image"),
            (("--image", disk, *OWN, "--kernel", "small"), "--kernel with --image"),
            (("--image", disk, *OWN, "--kind", "vanish"), "--kind vanish with --image: each cut would take a boot"),
            (("--image", disk, *OWN, "--profile", "zns-small"), "(ftl.type = zns) with --image: each cut would"),
            (("--image", disk, *OWN, "--check-in-slate", "--check-on-host"), "both say where the check runs"),
            ((*OWN, "--check-in-slate"), "--check-in-slate without --image"),
        ):
            done = subprocess.run([ROOT / "host-tools" / "slate", "cuts", *words], capture_output=True, text=True,
                                  timeout=60, check=False)  # fmt: skip
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)

    def test_an_image_that_does_not_start_the_job(self) -> None:
        """A prompt and then silence; before the prompt, or with the job's phase, it may go on."""
        console = self.folder / "console"
        for text, age, said in (
            ("Debian 12 slate ttyS0\nslate login: ", 61, "| slate login:\n  fix: systemd before 256, .*slate.service"),
            ("Kernel panic - not syncing: VFS: no root\n", 0, "the image's kernel panicked\n .*VFS: no root"),
            ("slate login: ", 50, ""),
            ("booting", 500, ""),
            ("slate login: \nSLATE-PHASE boot-done 4.5\n", 500, ""),
        ):
            console.write_text(text, encoding="utf-8")
            os.utime(console, (time.time() - age,) * 2)
            if said:
                with self.assertRaisesRegex(MachineError, said):
                    image.started(console)
            else:
                image.started(console)

    def test_an_image_that_never_boots(self) -> None:
        """QEMU boots the halt of its boot sector."""
        done = subprocess.run([ROOT / "host-tools" / "slate", "cuts", "--image", self.disk, *OWN, "--timeout", "6",
                               "--log", self.folder / "log"], capture_output=True, text=True, timeout=120,
                              check=False)  # fmt: skip
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("the guest took longer than 6 s", done.stderr)


if __name__ == "__main__":
    unittest.main()

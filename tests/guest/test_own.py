# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the user's own guest: Debian from an image and from the emulated SSD; a kernel; guests that never boot.

Debian's kernel is also an NBD client of a drive on the host, as docs/without-a-guest.md describes.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any

from support import ROOT, SLATE, SMALL, GuestTest

from slate_lib import paths

IMAGE = ROOT / "build" / "image" / "debian.qcow2"
QEMU_IMG = ROOT / "build" / "qemu" / "qemu-img"
QEMU_NBD = ROOT / "build" / "qemu" / "qemu-nbd"
EXPORTED = 256 << 20  # capacity of small.ini
HOST = "10.0.2.2"  # the host's 127.0.0.1, in the guest
GUEST = paths.GUEST
MIB = 1 << 20
READY = re.compile(r"ssh +ready after ([\d.]+) s: (ssh .*)")


class Running:
    """Runs 'slate run' of a guest with SSH."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder,
            errors="replace",
        )
        self.text = ""
        self.sockets = tempfile.mkdtemp(prefix="ssh-")  # one connection for all scripts; its path must be short
        self.ready = threading.Event()
        self.ssh_words: list[str] = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.text += line
            found = READY.search(line)
            if found:
                self.ssh_words = shlex.split(found[2])
                self.ready.set()
        self.ready.set()

    def ssh(self, script: str, seconds: float = 120) -> str:
        """Return the output of a script run by the guest's root."""
        shared = ["-o", "ControlMaster=auto", "-o", f"ControlPath={self.sockets}/%C", "-o", "ControlPersist=20"]
        words = [*self.ssh_words, *shared, "-o", "LogLevel=ERROR", "sudo", "sh", "-e"]
        done = subprocess.run(words, input=script, capture_output=True, text=True, timeout=seconds, check=False)
        if done.returncode:
            raise AssertionError(f"{script}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def power_off(self) -> int:
        """Shut the guest down; return the exit status of 'slate run'."""
        self.ssh("nohup sh -c 'sleep 1; poweroff' >/dev/null 2>&1 &")
        status = self.process.wait(120)
        self.reader.join(10)
        return status

    def end(self) -> None:
        """Clean up after a test, whether it passed or not."""
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        shutil.rmtree(self.sockets, ignore_errors=True)


def free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class OwnGuest(GuestTest):
    """Make a folder with a key, and an overlay on the built image."""

    def setUp(self) -> None:
        super().setUp()
        self.key = self.folder / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.key)], check=True)
        self.image = self.folder / "own.qcow2"

    def overlay(self) -> Path:
        """Make an overlay, so that the built image is not changed."""
        self.assertTrue(IMAGE.exists(), "build/image/debian.qcow2 is not there: run 'make guest-image'")
        words = [str(QEMU_IMG), "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", str(IMAGE), str(self.image)]
        subprocess.run(words, check=True)
        return self.image

    def own(self, *args: str | Path, profile: str = "small") -> tuple[list[str], Path]:
        out = self.folder / "run"
        return [str(SLATE), "run", "--profile", profile, "--out", str(out), *map(str, args)], out

    def start(self, *args: str | Path, profile: str = "small") -> tuple[Running, Path]:
        """Boot the guest; return when SSH answers."""
        command, out = self.own("--realtime", "--smp", "2", "--ssh-key", f"{self.key}.pub", *args, profile=profile)
        running = Running(command, self.folder)
        self.addCleanup(running.end)
        self.assertTrue(running.ready.wait(900), running.text)
        self.assertTrue(running.ssh_words, running.text)
        return running, out

    def device(self, out: Path) -> Any:
        return json.loads((out / "device.json").read_text(encoding="utf-8"))


class Debian(OwnGuest):
    """Make a Debian from packages."""

    def test_image_ssh_fio_mkfs_share_iommu_nbd(self) -> None:
        share = self.folder / "share"
        share.mkdir()
        (share / "word").write_text("from the host\n", encoding="utf-8")
        guest, out = self.start("--image", self.overlay(), "--share", share, "--iommu")
        self.assertEqual(guest.ssh("findmnt -no SOURCE /"), "/dev/vda1\n")
        self.refuse_second()
        told = guest.ssh(
            "fio --name=a --filename=/dev/nvme0n1 --rw=randwrite --bs=4k --size=8M --direct=1 --verify=crc32c"
            " --output-format=json"
        )
        job = json.loads(told)["jobs"][0]
        self.assertEqual((job["error"], job["write"]["io_bytes"], job["read"]["io_bytes"]), (0, 8 * MIB, 8 * MIB))
        guest.ssh("mkfs.ext4 -q -F /dev/nvme0n1; mount /dev/nvme0n1 /mnt/ssd; cp /bin/bash /mnt/ssd; umount /mnt/ssd")
        self.assertIn("clean", guest.ssh("e2fsck -fn /dev/nvme0n1 >/dev/null; tune2fs -l /dev/nvme0n1 | grep state"))
        mount = "mount -t 9p -o trans=virtio,version=9p2000.L share /mnt/ssd; "
        self.assertEqual(guest.ssh(mount + "cat /mnt/ssd/word; echo back >/mnt/ssd/answer"), "from the host\n")
        self.assertEqual((share / "answer").read_text(encoding="utf-8"), "back\n")
        group = "basename $(readlink /sys/class/nvme/nvme0/device/iommu_group)"
        bind = (
            "address=$(basename $(readlink /sys/class/nvme/nvme0/device)); modprobe vfio-pci\n"
            f"group=$({group}); echo vfio-pci >/sys/bus/pci/devices/$address/driver_override\n"
            "echo $address >/sys/bus/pci/drivers/nvme/unbind; echo $address >/sys/bus/pci/drivers/vfio-pci/bind\n"
            "test -c /dev/vfio/$group && echo bound"
        )
        self.assertEqual(guest.ssh(bind), "bound\n")
        self.file_system_over_two_servers(guest)
        self.assertEqual(guest.power_off(), 0, guest.text)
        device = self.device(out)
        self.assertGreaterEqual(device["total"]["write"]["bytes"], 8 * MIB)
        run = json.loads((out / "run.json").read_text(encoding="utf-8"))
        self.assertFalse(run["settings"]["virtual_time"])
        self.assertIn("NAND", (out / "report.txt").read_text(encoding="utf-8"))

    def refuse_second(self) -> None:
        """The image is locked while its guest runs."""
        self.runs += 1
        command = [str(SLATE), "run", "--image", str(self.image), "--out", str(self.folder / "second")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=self.folder, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(f"--image {self.image}: another program has it open", done.stderr)

    def serve(self, port: int) -> subprocess.Popen[bytes]:
        """Start qemu-nbd on a drive file; the first call makes the file."""
        drive = self.folder / "nbd.slate"
        options = f"driver=nand-ssd,drive-file={drive}" + ("" if drive.exists() else f",profile={SMALL}")
        words = ["-t", "-b", "127.0.0.1", "-p", str(port), "-x", "ssd", "--discard=unmap", "--image-opts", options]
        server = subprocess.Popen([str(QEMU_NBD), *words], stdin=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        for _ in range(500):
            self.assertIsNone(server.poll(), "qemu-nbd ended")
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return server
            time.sleep(0.02)
        raise AssertionError("qemu-nbd does not listen")

    def stop(self, server: subprocess.Popen[bytes]) -> None:
        """SIGTERM must end the server normally."""
        server.terminate()
        self.assertEqual(server.wait(30), 0)

    def file_system_over_two_servers(self, guest: Running) -> None:
        """The guest's kernel has the drive as /dev/nbd0, from one qemu-nbd and then from another."""
        port = free_port()
        connect = f"modprobe nbd; nbd-client {HOST} {port} -N ssd /dev/nbd0 >&2; "
        server = self.serve(port)
        shown = guest.ssh(connect + "blockdev --getsize64 /dev/nbd0; cat /sys/block/nbd0/queue/write_cache")
        self.assertEqual(shown, f"{EXPORTED}\nwrite back\n")  # with a write cache the kernel sends flushes
        self.assertNotEqual(guest.ssh("cat /sys/block/nbd0/queue/discard_max_bytes"), "0\n")
        written = guest.ssh(
            "mkfs.ext4 -q /dev/nbd0; mount /dev/nbd0 /mnt/ssd; cd /mnt/ssd\n"
            "for n in 1 2 3 4 5 6 7 8; do head -c 4M /dev/urandom >f$n; done; rm f2 f5; sync; fstrim .\n"
            "sha256sum f*; cd /; umount /mnt/ssd; e2fsck -fn /dev/nbd0 >&2; nbd-client -d /dev/nbd0 >&2"
        )
        self.assertEqual([line.split()[1] for line in written.splitlines()], ["f1", "f3", "f4", "f6", "f7", "f8"])
        self.stop(server)
        server = self.serve(port)
        read = guest.ssh(
            connect + "e2fsck -fn /dev/nbd0 >&2; mount -o ro /dev/nbd0 /mnt/ssd; cd /mnt/ssd; sha256sum f*; cd /\n"
            "umount /mnt/ssd; nbd-client -d /dev/nbd0 >&2"
        )
        self.assertEqual(read, written)
        self.stop(server)

    def test_boot_from_ssd(self) -> None:
        drive = self.folder / "ssd.slate"
        guest, out = self.start(
            "--image", IMAGE, "--boot-from-ssd", "--drive", drive, "--net", "e1000e", profile="default"
        )
        self.assertEqual(guest.ssh("findmnt -no SOURCE /; ls /dev/vda"), "/dev/nvme0n1p1\n/dev/vda\n")
        self.assertIn("e1000e", guest.ssh("readlink /sys/class/net/e*/device/driver"))
        self.assertEqual(guest.power_off(), 0, guest.text)
        self.assertGreater(self.device(out)["total"]["read"]["bytes"], 50 * MIB)
        drive.unlink()


class Kernels(OwnGuest):
    """Test --kernel FILE with Slate's own initramfs, which powers off when it finds no job."""

    def setUp(self) -> None:
        super().setUp()
        initrd = self.folder / "initrd"
        initrd.write_bytes(b"".join(path.read_bytes() for path in paths.archives("debian")))
        self.words = (
            "--kernel", GUEST / "vmlinux", "--initrd", initrd, "--append", "console=ttyS0 nokaslr panic=-1"
        )

    def test_in_virtual_time(self) -> None:
        command, out = self.own(*self.words)
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=200, cwd=self.folder, stdin=subprocess.DEVNULL, check=False
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("SLATE-PHASE boot-done", done.stdout)
        self.assertGreater(self.device(out)["total"]["read"]["ios"], 0)

    def test_printed_line_works_as_printed(self) -> None:
        command, _ = self.own(*self.words, "--realtime", "--dry-run")
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        line = printed.replace("-append", "-no-reboot -append", 1)
        done = subprocess.run(
            ["timeout", "-k", "5", "100", "bash", "-c", line],
            capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("SLATE-PHASE boot-done", done.stdout)


class NeverUp(OwnGuest):
    """Boot guests that cannot boot."""

    def test_silent_boot_sector(self) -> None:
        self.image.write_bytes(b"\xfa\xf4".ljust(510, b"\0") + b"\x55\xaa" + bytes(MIB))  # cli, hlt
        command, out = self.own("--image", self.image, "--realtime", "--timeout", "4")
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=100, cwd=self.folder, stdin=subprocess.DEVNULL, check=False
        )
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("did not come up: its console said nothing for 4 s", done.stderr)
        self.assertIn("| Booting from Hard Disk", done.stderr)
        self.assert_no_process(out)

    def test_kernel_without_a_root(self) -> None:
        empty = self.folder / "empty"
        empty.write_bytes(bytes(512))
        kernel = ("--kernel", GUEST / "vmlinux", "--initrd", empty, "--append", "console=ttyS0")
        command, out = self.own(*kernel, "--realtime")
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=200, cwd=self.folder, stdin=subprocess.DEVNULL, check=False
        )
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("the guest's kernel panicked", done.stderr)
        self.assertIn("Unable to mount root fs", done.stderr)
        self.assert_no_process(out)


if __name__ == "__main__":
    unittest.main()

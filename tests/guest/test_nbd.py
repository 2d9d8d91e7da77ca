# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel's NBD client on the drive, as docs/without-a-guest.md describes. The kernel is a guest's."""

from __future__ import annotations

import socket
import subprocess
import time
import unittest

from support import ROOT, SMALL

from test_own import OwnGuest, Running

NBD = ROOT / "build" / "qemu" / "qemu-nbd"
EXPORTED = 256 << 20  # capacity of small.ini
HOST = "10.0.2.2"  # the host's 127.0.0.1, in the guest


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class KernelClient(OwnGuest):
    """qemu-nbd serves the drive on the host; the guest's kernel has it as /dev/nbd0."""

    def setUp(self) -> None:
        super().setUp()
        self.drive = self.folder / "a.slate"
        self.port = free_port()

    def serve(self) -> subprocess.Popen[bytes]:
        """Start qemu-nbd; the first call makes the drive file."""
        options = f"driver=nand-ssd,drive-file={self.drive}" + ("" if self.drive.exists() else f",profile={SMALL}")
        words = ["-t", "-b", "127.0.0.1", "-p", str(self.port), "-x", "ssd", "--discard=unmap", "--image-opts", options]
        server = subprocess.Popen([str(NBD), *words], stdin=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        for _ in range(500):
            self.assertIsNone(server.poll(), "qemu-nbd ended")
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return server
            time.sleep(0.02)
        raise AssertionError("qemu-nbd does not listen")

    def stop(self, server: subprocess.Popen[bytes]) -> None:
        """SIGTERM must end the server normally."""
        server.terminate()
        self.assertEqual(server.wait(30), 0)

    def connect(self, guest: Running) -> None:
        guest.ssh(f"modprobe nbd; nbd-client {HOST} {self.port} -N ssd /dev/nbd0 >&2")

    def test_file_system_over_two_servers(self) -> None:
        server = self.serve()
        guest, _ = self.start("--image", self.overlay())
        self.connect(guest)
        self.assertEqual(guest.ssh("blockdev --getsize64 /dev/nbd0"), f"{EXPORTED}\n")
        self.assertEqual(guest.ssh("cat /sys/block/nbd0/queue/write_cache"), "write back\n")  # so it sends flushes
        self.assertNotEqual(guest.ssh("cat /sys/block/nbd0/queue/discard_max_bytes"), "0\n")
        written = guest.ssh(
            "mkfs.ext4 -q /dev/nbd0; mount /dev/nbd0 /mnt/ssd; cd /mnt/ssd\n"
            "for n in 1 2 3 4 5 6 7 8; do head -c 4M /dev/urandom >f$n; done; rm f2 f5; sync; fstrim .\n"
            "sha256sum f*; cd /; umount /mnt/ssd; e2fsck -fn /dev/nbd0 >&2; nbd-client -d /dev/nbd0 >&2"
        )
        self.assertEqual([line.split()[1] for line in written.splitlines()], ["f1", "f3", "f4", "f6", "f7", "f8"])
        self.stop(server)
        server = self.serve()
        self.connect(guest)
        read = guest.ssh(
            "e2fsck -fn /dev/nbd0 >&2; mount -o ro /dev/nbd0 /mnt/ssd; cd /mnt/ssd; sha256sum f*; cd /\n"
            "umount /mnt/ssd; nbd-client -d /dev/nbd0 >&2"
        )
        self.assertEqual(read, written)
        self.stop(server)
        self.assertEqual(guest.power_off(), 0, guest.text)


if __name__ == "__main__":
    unittest.main()

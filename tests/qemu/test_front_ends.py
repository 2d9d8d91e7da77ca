# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the drive without a guest, by NBD, FUSE and vhost-user, as docs/without-a-guest.md describes."""

from __future__ import annotations

import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

from support import QEMU, TIMEOUT, file_opts, tool

MIB = 1 << 20
EXPORTED = 256 * MIB  # capacity of small.ini
GET_FEATURES, GET_CONFIG = 1, 24  # request numbers of vhost-user
HEAD = struct.Struct("<III")  # head of a message: request, flags, length of the data after it
VERSION = 1


def run(*words: str | Path) -> str:
    """Run a program of Debian, and return its output."""
    done = subprocess.run(
        [*TIMEOUT, *map(str, words)], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    if done.returncode:
        raise AssertionError(f"{words}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


class FrontEnds(unittest.TestCase):
    """Test a drive file, and a server of it."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="slate-front-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.drive = self.folder / "a.slate"
        self.data = self.folder / "data"
        self.data.write_bytes(os.urandom(MIB))
        os.truncate(self.data, EXPORTED)

    def serve(
        self, program: str, *args: str, socket_name: str = "", mounted: Path | None = None
    ) -> subprocess.Popen[bytes]:
        """Start the server; return when its socket, or the mounted file, exists."""
        server = subprocess.Popen([*TIMEOUT, str(QEMU / program), *args], stdin=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        for _ in range(500):
            there = mounted.stat().st_size == EXPORTED if mounted else (self.folder / socket_name).exists()
            if there:
                return server
            self.assertIsNone(server.poll(), "the server ended")
            time.sleep(0.02)
        raise AssertionError("the server does not serve")

    def stop(self, server: subprocess.Popen[bytes]) -> None:
        """Stop the server by SIGTERM; it must end normally."""
        server.terminate()
        self.assertEqual(server.wait(30), 0)

    def daemon(self, *exports: str, **wait: Any) -> subprocess.Popen[bytes]:
        """Start a storage daemon with the drive."""
        words = ["--blockdev", file_opts(self.drive, profile=not self.drive.exists()) + ",node-name=ssd0"]
        for export in exports:
            words += ["--export", export]
        return self.serve("qemu-storage-daemon", *words, **wait)

    def test_nbd_copy_and_back_over_two_servers(self) -> None:
        uri = f"nbd+unix:///ssd?socket={self.folder}/nbd"
        words = ("-t", "-k", f"{self.folder}/nbd", "-x", "ssd", "--discard=unmap", "--image-opts")
        server = self.serve("qemu-nbd", *words, file_opts(self.drive, profile=True), socket_name="nbd")
        self.assertEqual(run("nbdinfo", "--size", uri), f"{EXPORTED}\n")
        self.assertIn("can_flush: true", run("nbdinfo", uri))
        run("nbdcopy", "--flush", self.data, uri)
        self.stop(server)
        (self.folder / "nbd").unlink(missing_ok=True)
        self.serve("qemu-nbd", *words, file_opts(self.drive), socket_name="nbd")
        run("nbdcopy", uri, self.folder / "back")
        run("cmp", self.data, self.folder / "back")

    @unittest.skipUnless(os.access("/dev/fuse", os.W_OK), "no /dev/fuse")
    def test_fuse_file_takes_a_file_system(self) -> None:
        file = self.folder / "ssd.raw"
        file.touch()
        export = f"type=fuse,id=f,node-name=ssd0,mountpoint={file},writable=on"
        server = self.daemon(export, mounted=file)
        run("mke2fs", "-q", "-F", "-t", "ext4", file)
        (self.folder / "word").write_text("kept in NAND\n", encoding="utf-8")
        run("/sbin/debugfs", "-w", "-R", f"write {self.folder}/word word", file)
        self.stop(server)
        self.assertEqual(file.stat().st_size, 0)  # no longer mounted
        self.daemon(export, mounted=file)
        run("e2fsck", "-fn", file)
        self.assertIn("kept in NAND\n", run("/sbin/debugfs", "-R", "cat word", file))

    def test_vhost_user_tells_its_capacity(self) -> None:
        path = self.folder / "vhost"
        self.daemon(
            f"type=vhost-user-blk,id=v,node-name=ssd0,addr.type=unix,addr.path={path},writable=on", socket_name="vhost"
        )
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(30)
            client.connect(str(path))
            client.sendall(HEAD.pack(GET_FEATURES, VERSION, 0))
            self.assertTrue(self.answer(client, GET_FEATURES))
            client.sendall(HEAD.pack(GET_CONFIG, VERSION, 12 + 60) + struct.pack("<III", 0, 60, 0) + bytes(60))
            config = self.answer(client, GET_CONFIG)[12:]
            self.assertEqual(struct.unpack_from("<Q", config)[0], EXPORTED // 512)

    def answer(self, client: socket.socket, request: int) -> bytes:
        """Send a request and return the data of the reply."""
        found, _, size = HEAD.unpack(client.recv(HEAD.size, socket.MSG_WAITALL))
        self.assertEqual(found, request)
        return client.recv(size, socket.MSG_WAITALL)

    def test_one_drive_file_one_server(self) -> None:
        self.daemon(
            f"type=vhost-user-blk,id=v,node-name=ssd0,addr.type=unix,addr.path={self.folder}/v", socket_name="v"
        )
        said = tool("qemu-nbd", "-t", "-k", f"{self.folder}/n", "--image-opts", file_opts(self.drive), code=1)
        self.assertIn(str(self.drive), said)


if __name__ == "__main__":
    unittest.main()

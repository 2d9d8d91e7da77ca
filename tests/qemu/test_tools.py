# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the drive in QEMU's tools, in real time and without a machine."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from support import QEMU, ROOT, SMALL, TIMEOUT, image_opts, qemu_io, tool

sys.path.insert(0, str(ROOT / "tests" / "replay"))
from content_trace import FLUSH, READ, TRIM, WRITE, read

MIB = 1 << 20


class RecordContent(unittest.TestCase):
    """record-content=FILE has every request that the drive gets, with the data written, except requests of no bytes."""

    def test_every_kind_of_request(self) -> None:
        with tempfile.TemporaryDirectory(prefix="slate-qemu-") as folder:
            trace = Path(folder) / "a.content"
            commands = (
                "write -P 0x11 0 64k", "write -P 0x22 4608 512", "write 0 0", "read -P 0x11 8k 4k",
                "write -f -P 0x33 1M 4k", "write -z 2M 8k", "write -z -u 2M 8k", "discard 0 1M", "flush",
            )  # fmt: skip
            opts = image_opts() + f",record-content={trace}"
            # write back: else each write is a FUA write
            words = [word for command in commands for word in ("-c", command)]
            tool("qemu-io", "-t", "writeback", "--image-opts", opts, *words)
            self.assertFalse(Path(f"{trace}.part").exists())
            found = read(trace)
        want = [
            (WRITE, 0, 65536, False, b"\x11" * 65536),
            (WRITE, 4608, 512, False, b"\x22" * 512),
            (READ, 8192, 4096, False, b""),
            (WRITE, 1 << 20, 4096, True, b"\x33" * 4096),
            (WRITE, 2 << 20, 8192, False, bytes(8192)),
            (TRIM, 2 << 20, 8192, False, b""),
            (TRIM, 0, 1 << 20, False, b""),
            (FLUSH, 0, 0, False, b""),
        ]
        got = [(r.op, r.offset, r.bytes, r.fua, r.data) for r in found]
        self.assertEqual([one[:4] for one in got[: len(want)]], [one[:4] for one in want])
        self.assertTrue(got[: len(want)] == want)
        # qemu-io flushes when it ends
        self.assertEqual({one[0] for one in got[len(want) :]} - {FLUSH}, set())

    def test_a_place_that_is_not_there(self) -> None:
        said = tool(
            "qemu-io", "--image-opts", image_opts() + ",record-content=/none/a", "-c", "read 0 4k", code=None
        )
        self.assertIn("content trace /none/a.part: No such file or directory", said)


class QemuIo(unittest.TestCase):
    """Run qemu-io: each command is a request that waits for the drive."""

    def test_reads_back_what_was_written(self) -> None:
        qemu_io(
            "write -P 0x11 0 1M",
            "write -P 0x22 64k 4k",
            "read -P 0x11 0 64k",
            "read -P 0x22 64k 4k",
            "read -P 0x11 68k 956k",
            "write -P 0x33 255M 1M",
            "read -P 0x33 255M 1M",
        )

    def test_a_wrong_pattern_is_noticed(self) -> None:
        with self.assertRaises(AssertionError):
            qemu_io("write -P 1 0 4k", "read -P 2 0 4k")

    def test_one_sector(self) -> None:
        qemu_io(
            "write -P 1 0 16k",
            "write -P 2 4608 512",
            "read -P 1 4k 512",
            "read -P 2 4608 512",
            "read -P 1 5k 3k",
        )

    def test_unaligned_bytes(self) -> None:
        qemu_io(
            "write -P 1 0 16k",
            "write -P 2 1023 5000",
            "read -P 1 0 1023",
            "read -P 2 1023 5000",
            "read -P 1 6023 10361",
        )

    def test_unwritten_reads_zero(self) -> None:
        qemu_io("read -P 0 0 1M", "read -P 0 100M 64k")

    def test_discarded_reads_zero(self) -> None:
        qemu_io(
            "write -P 1 0 64k",
            "flush",
            "discard 16k 32k",
            "read -P 1 0 16k",
            "read -P 0 16k 32k",
            "read -P 1 48k 16k",
        )

    def test_discard_spares_partial_units(self) -> None:
        qemu_io("write -P 1 0 16k", "discard 512 9k", "read -P 1 0 4k", "read -P 0 4k 4k", "read -P 1 8k 8k")

    def test_write_zeroes(self) -> None:
        qemu_io(
            "write -P 1 0 64k",
            "write -z 3k 20k",
            "write -z -u 33k 20k",
            "read -P 1 0 3k",
            "read -P 0 3k 20k",
            "read -P 1 23k 10k",
            "read -P 0 33k 20k",
            "read -P 1 53k 11k",
        )

    def test_fua_and_flush(self) -> None:
        qemu_io("write -f -P 1 0 4k", "flush", "flush", "read -P 1 0 4k")

    def test_many_in_flight(self) -> None:
        writes = [f"aio_write -P {i + 1} {i * 64}k 64k" for i in range(32)]
        reads = [f"aio_read -P {i + 1} {i * 64}k 64k" for i in range(32)]
        qemu_io(*writes, "aio_flush", *reads, "aio_flush")

    def test_length_is_the_capacity(self) -> None:
        self.assertIn("256 MiB", qemu_io("length"))

    def test_a_setting_counts(self) -> None:
        self.assertIn("128 MiB", qemu_io("length", opts=image_opts(ftl__capacity_mib=128)))


class QemuImg(unittest.TestCase):
    """qemu-img."""

    def test_bench(self) -> None:
        for extra in ((), ("-w",), ("-w", "--flush-interval=100", "-d", "1")):
            with self.subTest(extra):
                self.assertIn(
                    "Run completed",
                    tool("qemu-img", "bench", "-c", "1000", *extra, "--image-opts", image_opts()),
                )

    def test_bench_takes_device_time(self) -> None:
        """100 reads of a page, one after the other, are no faster than the flash."""
        opts = image_opts(timing__read_ns=2000000, precondition__fill_permille=100)
        before = time.monotonic()
        tool("qemu-img", "bench", "-c", "100", "-d", "1", "-s", "16384", "--image-opts", opts)
        self.assertGreater(time.monotonic() - before, 0.2)

    def test_info_by_filename(self) -> None:
        info = json.loads(tool("qemu-img", "info", "--output=json", f"nand-ssd:{SMALL}"))
        self.assertEqual(info["virtual-size"], 256 * MIB)
        self.assertEqual(info["cluster-size"], 4096)

    def test_convert_from_a_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            image = Path(folder) / "image"
            image.write_bytes(b"\xa5" * MIB)
            tool("qemu-img", "convert", "-n", "--target-image-opts", str(image), image_opts())


class BadOptions(unittest.TestCase):
    """Test errors of one sentence that names the fault."""

    def said(self, opts: str) -> str:
        """Return qemu-io's message if the drive cannot be opened."""
        return tool("qemu-io", "--image-opts", opts, "-c", "quit", code=1)

    def test_no_profile(self) -> None:
        self.assertIn("neither a profile nor a drive file", self.said("driver=nand-ssd"))

    def test_profile_is_not_there(self) -> None:
        self.assertIn("/nowhere/x.ini", self.said("driver=nand-ssd,profile=/nowhere/x.ini"))

    def test_unknown_key(self) -> None:
        self.assertIn("ftl.no_such_key", self.said(image_opts(ftl__no_such_key=1)))

    def test_bad_value(self) -> None:
        said = self.said(image_opts(geometry__channels=65))
        self.assertIn("geometry.channels", said)
        self.assertIn("65", said)

    def test_zones(self) -> None:
        """The block layer counts the bytes of a zone in 32 bits."""
        sets = ("blocks_per_plane=2100", "pages_per_block=1024")
        opts = [f"set.{i}=geometry.{word}" for i, word in enumerate(sets)]
        opts += ["set.2=ftl.zone_blocks=64", "set.3=ftl.capacity_mib=131072", "set.4=memory.overcommit=yes"]
        said = self.said(f"driver=nand-ssd,profile={ROOT}/nand-emu/profiles/zns-small.ini," + ",".join(opts))
        self.assertIn("a zone of 4294967296 bytes is too large for the block layer", said)
        self.assertIn("lower ftl.zone_dies or ftl.zone_blocks", said)

    def test_unknown_option(self) -> None:
        self.assertIn("'nonsense'", self.said(image_opts() + ",nonsense=1"))

    def test_filename_without_profile(self) -> None:
        self.assertIn("nand-ssd:PROFILE", tool("qemu-img", "info", "nand-ssd:", code=1))


class Exports(unittest.TestCase):
    """Test the drive over NBD."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="slate-nbd-")
        self.addCleanup(folder.cleanup)
        self.socket = Path(folder.name) / "nbd"

    def serve(self, program: str, *args: str) -> subprocess.Popen[bytes]:
        """Start a server and wait for its socket."""
        server = subprocess.Popen([*TIMEOUT, str(QEMU / program), *args], stdin=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        for _ in range(500):
            if self.socket.exists():
                return server
            self.assertIsNone(server.poll(), "the server ended")
            time.sleep(0.02)
        raise AssertionError("no socket")

    def round_trip(self, export: str) -> None:
        """Write, flush, read and discard through a client."""
        opts = f"driver=nbd,discard=unmap,server.type=unix,server.path={self.socket},export={export}"
        qemu_io(
            "write -P 9 1M 256k",
            "flush",
            "read -P 9 1M 256k",
            "write -f -P 8 1M 4k",
            "discard 1028k 4k",
            "read -P 8 1M 4k",
            "read -P 0 1028k 4k",
            "read -P 9 1032k 248k",
            opts=opts,
        )
        qemu_io("read -P 8 1M 4k", opts=opts)

    def test_qemu_nbd(self) -> None:
        self.serve(
            "qemu-nbd",
            "-t",
            "-k",
            str(self.socket),
            "-x",
            "ssd",
            "--discard=unmap",
            "--image-opts",
            image_opts(),
        )
        self.round_trip("ssd")

    def daemon(self, *args: str) -> None:
        """Start a storage daemon with an export of the drive."""
        self.serve(
            "qemu-storage-daemon",
            "--blockdev",
            image_opts() + ",node-name=ssd0",
            "--nbd-server",
            f"addr.type=unix,addr.path={self.socket}",
            *args,
        )

    def test_storage_daemon(self) -> None:
        self.daemon("--export", "type=nbd,id=e,node-name=ssd0,name=ssd,writable=on")
        self.round_trip("ssd")

    def test_storage_daemon_with_iothread(self) -> None:
        self.daemon(
            "--object",
            "iothread,id=t0",
            "--export",
            "type=nbd,id=e,node-name=ssd0,name=ssd,writable=on,iothread=t0",
        )
        self.round_trip("ssd")


if __name__ == "__main__":
    unittest.main()

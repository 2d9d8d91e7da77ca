# SPDX-License-Identifier: GPL-2.0-or-later
"""Test drive files in QEMU: their use, and their content when QEMU is killed."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from support import (
    QEMU,
    SMALL,
    TIMEOUT,
    MachineTest,
    QmpError,
    file_opts,
    image_opts,
    qemu_io,
    tool,
)

from nvme import FLUSH, FUA, READ, WRITE, Nvme

CONTROLLER = "nvme,id=nvme0,serial=slate,drive=ssd0,bus=pcie.0,addr=4"
UNIT = 4096
SPAN = 65536  # of one command of the kill test
SPANS = 48


def sha256(path: Path) -> str:
    """Return the checksum of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Case(MachineTest):
    """Names a drive file."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="slate-file-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "drive.slate"

    def make(self, *commands: str) -> None:
        """Make a new drive and close it."""
        qemu_io(*commands, opts=file_opts(self.file, profile=True))

    def options(self, **more: object) -> dict[str, object]:
        """Return the drive as an argument of -blockdev."""
        return {"driver": "nand-ssd", "node-name": "ssd0", "drive-file": str(self.file), **more}


class Tools(Case):
    """Test qemu-io, qemu-img and qemu-nbd."""

    def test_what_was_flushed_is_there_again(self) -> None:
        self.make("write -P 1 0 1M", "write -P 2 64k 4k", "discard 128k 64k", "flush")
        for _ in range(3):
            qemu_io(
                "length",
                "read -P 1 0 64k",
                "read -P 2 64k 4k",
                "read -P 0 128k 64k",
                "read -P 1 192k 832k",
                opts=file_opts(self.file),
            )
        qemu_io("write -P 3 0 64k", "flush", opts=file_opts(self.file))
        qemu_io("read -P 3 0 64k", "read -P 2 64k 4k", opts=file_opts(self.file, profile=True))

    def test_by_json_and_filename(self) -> None:
        self.make("write -P 1 0 64k", "flush")
        info = json.loads(
            tool("qemu-img", "info", "--output=json", "--image-opts", file_opts(self.file, ephemeral="on"))
        )
        self.assertEqual(info["virtual-size"], 256 << 20)
        name = info["filename"]
        self.assertTrue(name.startswith("json:"), name)
        self.assertIn("Pattern verification", tool("qemu-io", "-c", "read -P 2 0 4k", name, code=1))
        self.assertIn("read 4096/4096", tool("qemu-io", "-c", "read -P 1 0 4k", name))

    def test_ephemeral(self) -> None:
        self.make("write -P 1 0 1M", "flush")
        before = sha256(self.file)
        for _ in range(2):
            qemu_io(
                "read -P 1 0 1M",
                "write -P 2 0 1M",
                "flush",
                "read -P 2 0 1M",
                opts=file_opts(self.file, ephemeral="on"),
            )
        self.assertEqual(sha256(self.file), before)

    def test_read_only_is_ephemeral(self) -> None:
        self.make("write -P 1 0 1M")  # not flushed, so that the mount must write to flash
        before = sha256(self.file)
        self.file.chmod(0o444)
        said = tool(
            "qemu-io",
            "-r",
            "--image-opts",
            file_opts(self.file),
            "-c",
            "length",
            "-c",
            "write 0 4k",
            "-c",
            "reopen -w",
            "-c",
            "write 0 4k",
            code=1,
        )
        self.assertIn("256 MiB", said)
        self.assertEqual(said.count("Block node is read-only"), 2)
        self.assertIn("what is written now would not reach its file", said)
        self.assertEqual(sha256(self.file), before)

    def test_reopen(self) -> None:
        self.make("write -P 1 0 64k", "flush")
        qemu_io(
            "reopen -r",
            "read -P 1 0 64k",
            "reopen -w",
            "write -P 2 0 64k",
            "reopen -o cache.no-flush=on",
            "reopen -o cache.no-flush=off",
            "flush",
            opts=file_opts(self.file),
        )
        qemu_io("read -P 2 0 64k", opts=file_opts(self.file))
        said = tool(
            "qemu-io", "--image-opts", file_opts(self.file), "-c", "reopen -o drive-file=other", code=1
        )
        self.assertIn("Cannot change the option 'drive-file'", said)

    def test_bench_convert_compare(self) -> None:
        opts = file_opts(self.file, profile=True)
        self.assertIn("Run completed", tool("qemu-img", "bench", "-w", "-c", "500", "--image-opts", opts))
        image = self.folder / "image"
        image.write_bytes(random.Random(1).randbytes(1 << 20))
        tool("qemu-img", "convert", "-n", "--target-image-opts", str(image), opts)
        before = sha256(self.file)
        back = self.folder / "back"
        tool(
            "qemu-img", "dd", "--image-opts", "bs=64k", "count=16", f"if={file_opts(self.file)}", f"of={back}"
        )
        self.assertEqual(back.read_bytes(), image.read_bytes())
        self.assertEqual(sha256(self.file), before, "a source is read-only")

    def test_snapshot_on(self) -> None:
        """With QEMU's own overlay the drive below it is read-only, hence ephemeral."""
        self.make("write -P 1 0 64k", "flush")
        before = sha256(self.file)
        said = tool(
            "qemu-io",
            "-s",
            "--image-opts",
            file_opts(self.file),
            "-c",
            "write -P 2 0 4k",
            "-c",
            "read -P 2 0 4k",
            "-c",
            "read -P 1 4k 60k",
        )
        self.assertNotIn("failed", said)
        self.assertEqual(sha256(self.file), before)

    def test_nbd(self) -> None:
        self.make()
        socket = self.folder / "nbd"
        server = subprocess.Popen(
            [*TIMEOUT, str(QEMU / "qemu-nbd"), "-t", "-k", str(socket), "--image-opts", file_opts(self.file)],
            stdin=subprocess.DEVNULL,
        )
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        while not socket.exists():
            self.assertIsNone(server.poll(), "the server ended")
            time.sleep(0.02)
        client = f"driver=nbd,server.type=unix,server.path={socket}"
        qemu_io("write -P 4 1M 256k", "flush", opts=client)
        server.terminate()
        server.wait(30)
        qemu_io("read -P 4 1M 256k", opts=file_opts(self.file))


class Bad(Case):
    """Files that are refused get one sentence and exit status 1, and stay as they are."""

    def said(self, opts: str, *args: str) -> str:
        """Return the output of qemu-io."""
        said = tool("qemu-io", *args, "--image-opts", opts, "-c", "quit", code=1).splitlines()
        self.assertEqual(len(said), 1, said)
        return said[0]

    def test_neither_profile_nor_file(self) -> None:
        self.assertIn("neither a profile nor a drive file: give one", self.said("driver=nand-ssd"))

    def test_ephemeral_without_file(self) -> None:
        self.assertIn("ephemeral without a drive file", self.said(image_opts() + ",ephemeral=on"))

    def test_not_there(self) -> None:
        for opts in (file_opts(self.file), file_opts(self.file, profile=True, ephemeral="on")):
            self.assertIn(f"{self.file}: No such file", self.said(opts))
        self.assertIn(f"{self.file}: No such file", self.said(file_opts(self.file, profile=True), "-r"))
        self.assertFalse(self.file.exists())

    def test_a_recording_over_the_drive(self) -> None:
        """A recording over the drive used to replace the drive when QEMU ended."""
        self.make("write -P 1 0 64k", "flush")
        for kind in ("record", "record-content"):
            said = self.said(f"{file_opts(self.file)},{kind}={self.file}")
            self.assertIn(f"{self.file}: is a drive file or a recording that is open: name another file", said)
        qemu_io("read -P 1 0 64k", opts=file_opts(self.file))

    def test_no_drive_file(self) -> None:
        self.file.write_bytes(b"x" * 100)
        for opts in (file_opts(self.file), file_opts(self.file, profile=True)):
            self.assertIn("is no drive file", self.said(opts))
        self.assertEqual(self.file.read_bytes(), b"x" * 100)
        self.assertIn("is not a plain file", self.said(file_opts(Path("/dev"), profile=True, ephemeral="on")))

    def test_another_geometry(self) -> None:
        self.make()
        said = self.said(file_opts(self.file, profile=True) + ",set.0=geometry.pages_per_block=128")
        self.assertIn("was made with geometry.pages_per_block = 64", said)

    def test_in_use(self) -> None:
        self.make()
        vm = self.machine([self.options()])
        for words in (file_opts(self.file), file_opts(self.file, ephemeral="on")):
            self.assertIn("another program has it open", self.said(words))
        with self.assertRaisesRegex(QmpError, "another program has it open"):
            vm.qmp("blockdev-add", **self.options(**{"node-name": "second"}))
        vm.quit()
        self.machine([self.options(ephemeral=True)])
        self.assertIn("another program has it open", self.said(file_opts(self.file)))
        qemu_io("length", opts=file_opts(self.file, ephemeral="on"))

    def test_wrong_types(self) -> None:
        self.make()
        self.assertIn("ephemeral", self.said(file_opts(self.file, ephemeral="perhaps")))
        self.assertIn("backing", self.said(f"driver=nand-ssd,backing={self.file}"))

    def disk(self, size: str) -> Path:
        """Make a file system of that size."""
        disk = self.folder / "disk"
        disk.mkdir()
        if subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk], capture_output=True, check=False
        ).returncode:
            self.skipTest("can not mount here: run the test as root")
        self.addCleanup(lambda: subprocess.run(["umount", "-l", disk], check=False))
        return disk

    def test_disk_fills_up(self) -> None:
        """Writes fail while the disk is full, and succeed again when there is room."""
        disk, data, out = self.disk("32m"), self.folder / "data", self.folder / "out"
        data.write_bytes(random.Random(1).randbytes(1 << 20))
        writes = [word for i in range(24) for word in ("-c", f"write -s {data} {i}M 1M")]
        opts = file_opts(disk / "a", profile=True) + ",set.0=memory.overcommit=yes"
        said = tool("qemu-io", "--image-opts", opts, *writes, "-c", "flush", code=None)
        done = said.count("wrote 1048576/1048576")
        self.assertIn("write failed: No space left on device", said)
        self.assertEqual(said.count("write failed: No space left on device"), 24 - done, said)
        self.assertGreaterEqual(done, 2)
        subprocess.run(["mount", "-o", "remount,size=300m", disk], check=True)
        qemu_io(f"write -s {data} {done}M 1M", "flush", opts=file_opts(disk / "a"))
        tool("qemu-img", "convert", "--image-opts", file_opts(disk / "a"), "-O", "raw", str(out))
        with out.open("rb") as raw:
            self.assertEqual(raw.read((done + 1) << 20), data.read_bytes() * (done + 1))

    def test_disk_too_small(self) -> None:
        disk = self.disk("4m")
        said = self.said(file_opts(disk / "a", profile=True))
        self.assertRegex(said, r"disk/a: may grow to \d+ KiB and the disk has room for \d+ KiB")
        self.assertEqual(list(disk.iterdir()), [])


class Damage(Case):
    """Change bytes of the file from outside."""

    def flip(self, at: int) -> None:
        """Flip one bit."""
        with self.file.open("r+b") as file:
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 1]))

    def test_a_page_is_a_media_error_until_it_is_written(self) -> None:
        data = self.folder / "data"
        data.write_bytes(random.Random(3).randbytes(SPAN))
        self.make(f"write -s {data} 0 64k", "flush")
        self.flip(self.file.read_bytes().index(data.read_bytes()[:UNIT]) + 100)
        vm = self.machine([self.options()], "-device", CONTROLLER)
        nvme = Nvme(vm)
        nvme.enable()
        self.assertEqual(vm.stats()["total"]["nand"]["damaged"], 0)
        nvme.start(READ, 0, UNIT)
        self.assertEqual(nvme.finish().code, 0x281)  # Unrecovered Read Error
        nand = vm.stats()["total"]["nand"]
        self.assertEqual((nand["damaged"], nand["uncorrectable"]), (1, 1))
        self.assertEqual(nvme.do_read(SPAN // 2, UNIT), data.read_bytes()[SPAN // 2 :][:UNIT])
        self.assertEqual(nvme.do_write(0, bytes(range(256)) * 16).code, 0)
        nvme.start(FLUSH)
        self.assertEqual(nvme.finish().code, 0)
        self.assertEqual(nvme.do_read(0, UNIT), bytes(range(256)) * 16)
        self.assertEqual(vm.quit(), 0)

    def test_the_head_and_its_copy(self) -> None:
        self.make("write -P 5 0 4k", "flush")
        for at, words in ((100, "its head is damaged"), (16484, "the copy of its head is damaged")):
            self.flip(at)
            for _ in range(2):
                said = tool("qemu-io", "--image-opts", file_opts(self.file, ephemeral="on"), "-c", "read -P 5 0 4k")
                self.assertIn(f"slate: drive file {self.file}: {words}", said)
                self.assertIn("read 4096/4096", said)
            said = tool("qemu-io", "--image-opts", file_opts(self.file), "-c", "length")
            self.assertIn("written anew", said)
            said = tool("qemu-io", "--image-opts", file_opts(self.file), "-c", "read -P 5 0 4k")
            self.assertNotIn("damaged", said)
        self.flip(100)
        self.flip(16484)
        said = tool("qemu-io", "--image-opts", file_opts(self.file), "-c", "quit", code=1)
        self.assertIn("its head and the copy of it are damaged", said)


class Machines(Case):
    """Test qemu-system: -blockdev, blockdev-add, -drive."""

    def test_blockdev_add_and_del(self) -> None:
        self.make("write -P 5 0 4k", "flush")
        vm = self.machine([])
        for value in (5, 6):
            vm.qmp("blockdev-add", **self.options())
            said = vm.qmp("human-monitor-command", command_line=f'qemu-io ssd0 "read -P {value} 0 4k"')
            said += vm.qmp("human-monitor-command", command_line='qemu-io ssd0 "write -P 6 0 4k"')
            said += vm.qmp("human-monitor-command", command_line='qemu-io ssd0 "flush"')
            self.assertNotIn("failed", said)
            vm.qmp("blockdev-del", node_name="ssd0")
        self.assertEqual(vm.quit(), 0)
        qemu_io("read -P 6 0 4k", opts=file_opts(self.file))

    def test_blockdev_reopen(self) -> None:
        self.make()
        vm = self.machine([self.options()])
        vm.qmp("blockdev-reopen", options=[self.options(**{"read-only": True})])
        vm.qmp("blockdev-reopen", options=[self.options()])
        with self.assertRaisesRegex(QmpError, "drive-file"):
            vm.qmp("blockdev-reopen", options=[self.options(**{"drive-file": "/else"})])
        self.assertEqual(vm.quit(), 0)

    def test_drive(self) -> None:
        """Test -drive, and -snapshot above it."""
        self.make("write -P 5 0 4k", "flush")
        before = sha256(self.file)
        line = f"if=none,id=d,{file_opts(self.file)}"
        vm = self.machine([], "-drive", line, "-snapshot")
        for command in ("read -P 5 0 4k", "write -P 6 0 4k", "read -P 6 0 4k"):
            self.assertNotIn("failed", vm.qmp("human-monitor-command", command_line=f'qemu-io d "{command}"'))
        self.assertEqual(vm.quit(), 0)
        self.assertEqual(sha256(self.file), before)
        vm = self.machine([], "-drive", line)
        vm.qmp("human-monitor-command", command_line='qemu-io d "write -P 7 0 4k"')
        vm.qmp("human-monitor-command", command_line='qemu-io d "flush"')
        self.assertEqual(vm.quit(), 0)
        qemu_io("read -P 7 0 4k", opts=file_opts(self.file))

    def start(self) -> Nvme:
        """Start a machine with the drive and one controller."""
        more = {} if self.file.exists() else {"profile": str(SMALL)}
        self.vm = self.machine([self.options(**more)], "-device", CONTROLLER)
        nvme = Nvme(self.vm)
        nvme.enable()
        return nvme

    def end(self, how: str) -> None:
        """End the machine with commands in flight."""
        if how == "quit":
            self.vm.qmp("quit")
        elif how == "term":
            self.vm.process.terminate()
        else:
            self.vm.kill()
        self.vm.wait()
        self.vm.close()

    def test_ends_in_flight(self) -> None:
        """End QEMU in several ways on one file: flushed and FUA data survive, other data are old or new."""
        chance = random.Random(5)
        content = [bytes(UNIT)] * 64
        for turn in range(9):
            nvme = self.start()
            for i, expected in enumerate(content):
                self.assertEqual(nvme.do_read(i * UNIT, UNIT), expected, f"turn {turn}, unit {i}")
            for i in chance.sample(range(48), 20):
                content[i] = chance.randbytes(UNIT)
                self.assertEqual(nvme.do_write(i * UNIT, content[i]).code, 0)
            nvme.start(FLUSH)
            self.assertEqual(nvme.finish().code, 0)
            for i in chance.sample(range(48), 4):
                content[i] = chance.randbytes(UNIT)
                self.assertEqual(nvme.do_write(i * UNIT, content[i], FUA).code, 0)
            maybe = {i: chance.randbytes(UNIT) for i in chance.sample(range(64), 24)}
            for i, data in maybe.items():
                nvme.start(WRITE, i * UNIT, data=data)
            if turn % 4 == 0:
                maybe = {}  # the kill comes right after the last FUA write completed
            else:
                nvme.io.ring()
                self.vm.step(chance.randrange(1, 2_000_000))
            self.end(("kill", "quit", "term", "kill")[turn % 4])
            nvme = self.start()
            for i, data in maybe.items():
                found = nvme.do_read(i * UNIT, UNIT)
                self.assertIn(found, (data, content[i]), f"turn {turn}, unit {i}")
                content[i] = found
            self.assertEqual(self.vm.stats()["total"]["nand"]["violations"], [0] * 12)
            self.end("kill")


class KilledTool(Case):
    """Kill qemu-io by kill -9, in real time, with writes in flight."""

    def found(self) -> list[int]:
        """Return the byte that fills each span of 4 KiB."""
        image = self.folder / "image"
        image.unlink(missing_ok=True)
        source = f"if={file_opts(self.file, ephemeral='on')}"
        tool("qemu-img", "dd", "--image-opts", "bs=64k", f"count={SPANS}", source, f"of={image}")
        data = image.read_bytes()
        self.assertEqual(len(data), SPANS * SPAN)
        for at in range(0, len(data), UNIT):
            self.assertEqual(data[at : at + UNIT], data[at : at + 1] * UNIT, f"unit at {at} is torn")
        return list(data[::UNIT])

    def test_rounds(self) -> None:
        chance = random.Random(9)
        self.make()
        units = SPAN // UNIT
        content = [0] * (SPANS * units)
        for turn in range(12):
            value, later = 2 * turn + 1, 2 * turn + 2
            spans, others = (chance.sample(range(SPANS), 30) for _ in range(2))
            commands = [f"write -q -P {value} {i * 64}k 64k" for i in spans] + ["flush", "length"]
            commands += [f"aio_write -q -P {later} {i * 64}k 64k" for i in others] + ["sleep 60000"]
            process = subprocess.Popen(
                ["stdbuf", "-oL", str(QEMU / "qemu-io"), "--image-opts", file_opts(self.file)]
                + [word for command in commands for word in ("-c", command)],
                stdout=subprocess.PIPE,
                text=True,
            )
            self.addCleanup(process.kill)
            assert process.stdout
            line = " "
            while line and "256 MiB" not in line:
                line = process.stdout.readline()
            self.assertTrue(line, "qemu-io ended")
            for i in spans:
                content[i * units : (i + 1) * units] = [value] * units
            time.sleep(chance.random() * 0.03)
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
            found = self.found()
            for at, (is_now, was) in enumerate(zip(found, content)):
                allowed = (was, later) if at // units in others else (was,)
                self.assertIn(is_now, allowed, f"turn {turn}, unit {at}")
            # An ephemeral mount finds the same as a mount that writes.
            qemu_io("length", opts=file_opts(self.file))
            self.assertEqual(self.found(), found)
            content = found


if __name__ == "__main__":
    unittest.main()

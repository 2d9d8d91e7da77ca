# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the recorder of long recordings: what it refuses, and what it leaves behind when something fails."""

import argparse
import contextlib
import io
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import support

from reproduce.host import host
from reproduce.host import host_iot as iot
from reproduce.host import host_pc as pc
from reproduce.host import host_synth as synth
from reproduce.host import host_web as web
from reproduce.traces import record

Usage = namedtuple("Usage", "total used free")


def alive(pid: int) -> bool:
    """Is the process there, and has it not ended?"""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Machine:
    """Stands in for the programs that need root. Notes their calls, and fails at one of them."""

    def __init__(self, fails: str = "") -> None:
        self.calls: list[str] = []
        self.lines: list[list[str]] = []
        self.fails = fails
        self.pid = 0

    def said(self, *words: object) -> str:
        line = [str(word) for word in words]
        self.lines.append(line)
        name = Path(line[0]).name
        self.calls.append(" ".join([name, *line[1:2]]) if name == "losetup" else name)
        if self.calls[-1] == self.fails:
            raise record.RecordError(f"{name}: status 1: made to fail")
        if name == "qemu-storage-daemon":
            pid_file, drive = line[line.index("--pidfile") + 1], line[line.index("--blockdev") + 1]
            recording = Path(drive.rpartition("record-content=")[2].replace(",,", ","))
            recording.write_text("recorded", encoding="ascii")
            subprocess.run(["sh", "-c", f"sleep 60 >/dev/null 2>&1 & echo $! >'{pid_file}'"], check=True)
            self.pid = int(Path(pid_file).read_text(encoding="ascii"))
        return "/dev/loop77" if name == "losetup" else ""


class Cleanup(unittest.TestCase):
    """After any failure mounts, loop devices and the daemon end in order, and no partial recording is left."""

    def setUp(self) -> None:
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.out = Path(made.name)

    @contextlib.contextmanager
    def on(self, machine: Machine, status: str = "") -> Iterator[None]:
        """Put a machine in place of this one; the programs end with an error message unless it is empty."""

        def work(*_: Any) -> None:
            if status:
                raise record.RecordError(status)

        with (
            mock.patch.object(record, "said", machine.said), mock.patch.object(record, "check"),
            mock.patch.object(record, "written", lambda _: 4096), mock.patch.object(record, "work", work),
            contextlib.redirect_stdout(io.StringIO()),
        ):  # fmt: skip
            yield

    def record(self, machine: Machine, status: str = "") -> None:
        args = argparse.Namespace(daemon=Path("qemu-storage-daemon"), mib=5, minutes=1, seed=1, out=self.out)
        with self.on(machine, status):
            record.record("pc", args)

    def test_it_works(self) -> None:
        machine = Machine()
        self.record(machine)
        self.assertEqual(machine.calls, [
            "qemu-storage-daemon", "losetup --find", "mkfs.ext4", "mount", "sync", "umount", "losetup --detach",
        ])  # fmt: skip
        self.assertEqual([path.name for path in self.out.iterdir()], ["pc.content"])
        self.assertFalse(alive(machine.pid))

    def test_failures(self) -> None:
        before = ["qemu-storage-daemon", "losetup --find", "mkfs.ext4", "mount"]
        for fails, calls in (
            ("losetup --find", before[:2]),
            ("mkfs.ext4", [*before[:3], "losetup --detach"]),
            ("mount", [*before, "losetup --detach"]),
            ("sync", [*before, "sync", "umount", "losetup --detach"]),
        ):
            with self.subTest(fails):
                machine = Machine(fails)
                with self.assertRaisesRegex(record.RecordError, "made to fail"):
                    self.record(machine)
                self.assertEqual(machine.calls, calls)
                self.assertEqual(list(self.out.iterdir()), [])
                self.assertFalse(alive(machine.pid))

    def test_programs_fail(self) -> None:
        machine = Machine()
        with self.assertRaisesRegex(record.RecordError, "host-pc: status 3"):
            self.record(machine, "host-pc: status 3")
        self.assertEqual(machine.calls[-2:], ["umount", "losetup --detach"])
        self.assertEqual(list(self.out.iterdir()), [])
        self.assertFalse(alive(machine.pid))

    def test_a_mount_that_stays(self) -> None:
        """The folder of a mount that stays is kept with all that is in it, and the message names it."""

        def mounts() -> list[str]:
            (folder,) = self.out.iterdir()
            return ["/", str(folder / "drive"), f"{folder}-other"]

        machine = Machine("umount")
        with (
            contextlib.redirect_stderr(io.StringIO()) as said, mock.patch.object(time, "sleep"),
            mock.patch.object(record, "mounts", mounts, create=True),
            self.assertRaisesRegex(record.RecordError, "umount: status 1: made to fail"),
        ):  # fmt: skip
            self.record(machine)
        (folder,) = self.out.iterdir()
        self.assertEqual(sorted(path.name for path in folder.iterdir()),
                         ["daemon.pid", "drive", "drive.raw", "pc.content"])  # fmt: skip
        self.assertEqual(
            said.getvalue(),
            f"reproduce record: {folder} is kept, since {folder}/drive is still mounted: unmount that, "
            "then remove it\n",
        )

    def test_mounts(self) -> None:
        table = self.out / "mountinfo"
        table.write_text("22 1 0:21 / / rw - a a rw\n30 22 7:7 / /a\\040b\\134c rw - ext4 /dev/loop7 rw\n", "ascii")
        self.assertEqual(record.mounts(table), ["/", "/a b\\c"])
        self.assertIn("/proc", record.mounts())

    def test_an_ended_process_that_is_not_reaped(self) -> None:
        with subprocess.Popen(["true"]) as ended:
            until = time.monotonic() + 10
            while alive(ended.pid) and time.monotonic() < until:
                time.sleep(0.01)
            self.assertTrue(Path(f"/proc/{ended.pid}").exists())
            self.assertFalse(record.running(ended.pid))
        self.assertFalse(record.running(ended.pid))
        self.assertTrue(record.running(os.getpid()))

    def test_a_comma_in_the_folder(self) -> None:
        """Options of QEMU end at a comma unless it is doubled."""
        self.out /= "a,b"
        machine = Machine()
        self.record(machine)
        self.assertEqual([path.name for path in self.out.iterdir()], ["pc.content"])
        line = machine.lines[0]
        for option in ("--blockdev", "--export"):
            self.assertRegex(line[line.index(option) + 1], "=[^=]*/a,,b/record-[^,]*(,|$)")


class Signals(unittest.TestCase):
    """A signal ends the recorder as an error does, and a second one does not disturb that."""

    def child(self, before: str, *numbers: signal.Signals) -> tuple[int, str]:
        """Run record.main() with a recording that waits; send it signals. Return its status and output."""
        text = f"""if True:
            import signal, sys, time
            sys.path.insert(0, {str(support.REPRODUCE.parent)!r})
            from reproduce.traces import record
            {before}
            def wait(*_):
                try:
                    print("begins", flush=True)
                    time.sleep(20)
                finally:
                    time.sleep(0.5)
                    print("cleaned", flush=True)
            record.check = record.said = lambda *_: ""
            record.record = wait
            sys.exit(record.main(["pc", "--out", sys.argv[1]]))
        """
        with tempfile.TemporaryDirectory() as made, subprocess.Popen(
            [sys.executable, "-B", "-c", text, made], stdout=subprocess.PIPE, text=True
        ) as child:  # fmt: skip
            assert child.stdout
            self.assertEqual(child.stdout.readline(), "begins\n")
            for number in numbers:
                child.send_signal(number)
                time.sleep(0.1)
            return child.wait(30), child.stdout.read()

    def test_they_clean_up(self) -> None:
        heeds = "signal.signal(signal.SIGHUP, signal.SIG_DFL)"  # the tests may run under nohup
        for number in (signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                self.assertEqual(self.child(heeds, number), (128 + number, "cleaned\n"))
        self.assertEqual(self.child(heeds, signal.SIGHUP, signal.SIGTERM), (129, "cleaned\n"))

    def test_nohup(self) -> None:
        before = "signal.signal(signal.SIGHUP, signal.SIG_IGN)"
        self.assertEqual(self.child(before, signal.SIGHUP, signal.SIGTERM), (143, "cleaned\n"))


@unittest.skipUnless(shutil.which("dpkg-deb"), "no dpkg here")
class Packages(unittest.TestCase):
    """pc unpacks packages as dpkg does, but does not run their scripts, which would run as root."""

    def test_no_script_runs(self) -> None:
        with tempfile.TemporaryDirectory() as made:
            folder, real = Path(made), host.run
            marks, control = folder / "marks", folder / "tree/DEBIAN"
            control.mkdir(parents=True)
            control.joinpath("control").write_text(
                "Package: some\nVersion: 1\nArchitecture: all\nMaintainer: A <a@b.c>\nDescription: one\n", "ascii"
            )
            for name in ("preinst", "postinst", "prerm", "postrm", "config"):
                script = control / name
                script.write_text(f"#!/bin/sh\necho {name} >>'{marks}'\n", "ascii")
                script.chmod(0o755)
            control.joinpath("conffiles").write_text("/etc/some\n", "ascii")
            (folder / "tree/etc").mkdir()
            (folder / "tree/etc/some").write_text("contents", "ascii")
            real("dpkg-deb", "--build", folder / "tree", folder / "some_1_all.deb")

            def run(*words: object, **more: Any) -> None:
                """Stand in for the functions that fetch the source package and the packages."""
                if pc.FETCH not in words:
                    real(*words, **more)
                    return
                self.assertEqual(words[words.index(pc.FETCH) + 2 :], (pc.SOURCE, *pc.PACKAGES))
                (more["cwd"] / "tree.dsc").touch()
                shutil.copy(folder / "some_1_all.deb", more["cwd"])

            (folder / "drive").mkdir()
            with mock.patch.multiple(pc, run=run, SCRATCH=folder / "scratch", DRIVE=folder / "drive"):
                debs, _ = pc.download()
                pc.unpack(debs, 0)
            root = folder / "drive/root0000"
            self.assertFalse(marks.exists())
            self.assertEqual((root / "etc/some.dpkg-new").read_text("ascii"), "contents")
            self.assertIn("Status: install ok unpacked\n", (root / "var/lib/dpkg/status").read_text("ascii"))
            self.assertEqual(sorted(path.name for path in (root / "var/lib/dpkg/info").iterdir()),
                             ["format", "some.conffiles", "some.list", "some.md5sums"])  # fmt: skip
            self.assertEqual([path.name for path in debs], ["some_1_all.deb"])
            self.assertEqual(list((folder / "scratch/archive").glob("*.tree")), [])


class Refused(unittest.TestCase):
    """The recorder names what is missing before anything starts."""

    def main(self, *words: str) -> str:
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(record.main(list(words)), 1)
        return said.getvalue()

    def test_arguments(self) -> None:
        self.assertEqual(
            self.main("pc", "phone"),
            "reproduce record: unknown workload 'phone'; expected one of pc, synth, web, iot\n",
        )
        for words in (("--mib", "0"), ("--minutes", "0")):
            self.assertEqual(self.main(*words), "reproduce record: --mib and --minutes must be more than 0\n")

    def test_the_machine(self) -> None:
        with tempfile.TemporaryDirectory() as made:
            out, daemon = Path(made), Path(sys.executable)
            with mock.patch.object(os, "geteuid", lambda: 1000):
                with self.assertRaisesRegex(record.RecordError, "needs root"):
                    record.check(daemon, 1, out)
            with mock.patch.object(os, "geteuid", lambda: 0):
                with self.assertRaisesRegex(record.RecordError, "is not there: 'make qemu' first"):
                    record.check(out / "none", 1, out)
                with (
                    mock.patch.object(Path, "exists", lambda _: True),
                    mock.patch.object(shutil, "disk_usage", lambda _: Usage(0, 0, 10647 << 20)),
                    self.assertRaisesRegex(record.RecordError, "10647 MiB free, and a recording may need 10648"),
                ):
                    record.check(daemon, 4300, out)


class Inputs(unittest.TestCase):
    """Test that the seed determines the inputs of the programs."""

    def test_designs(self) -> None:
        for name, make in synth.DESIGNS.items():
            first, again, other = (make(random.Random(seed)) for seed in (1, 1, 2))
            self.assertEqual(first, again, name)
            self.assertNotEqual(first, other, name)
            self.assertIn("module top(", first["top.v"])

    def test_an_edit_keeps_the_other_sources(self) -> None:
        parts = synth.sbox(random.Random(1))
        before = dict(parts)
        synth.edit(random.Random(5), parts, synth.sbox(random.Random(2)))
        self.assertEqual(sum(before[name] != parts[name] for name in parts), 1)

    def test_readings(self) -> None:
        line = iot.Sensor(random.Random(1), 41).line(random.Random(2), 1704067200)
        self.assertRegex(
            line,
            r"^reading,site=s01,node=n0041 temperature=\d+\.\d\d,humidity=\d+\.\d,pressure=\d+\.\d\d,"
            r"battery=3\.\d{3},rssi=-\d\di 1704067200\n$",
        )

    def test_a_busy_database_is_asked_again(self) -> None:
        base = iot.Database(1)
        answers = [mock.Mock(status=500, read=lambda: b'{"error":"timeout"}'), mock.Mock(status=204, read=lambda: b"")]
        base.http = mock.Mock()
        base.http.getresponse = mock.Mock(side_effect=answers)
        with mock.patch.object(time, "sleep"):
            base.ask("POST", "/write", "line")
        self.assertEqual([call.args[1] for call in base.http.request.call_args_list], ["/write", "/write"])

    def test_pages(self) -> None:
        one = web.Web([b"\xff\xd8image"])
        text = one.article(3, 4)
        self.assertEqual(text, one.article(3, 4))
        one.visits = 3  # with a film, and other paragraphs
        self.assertIn("/film/3/0", one.article(3, 4))
        self.assertNotIn("/film/", text)
        common = sum(a == b for a, b in zip(one.script(1).split("\n"), one.script(2).split("\n"), strict=True))
        self.assertEqual(common, 900)
        self.assertNotEqual(one.image("/image/1/1/1.jpg"), one.image("/image/1/1/2.jpg"))


if __name__ == "__main__":
    unittest.main()

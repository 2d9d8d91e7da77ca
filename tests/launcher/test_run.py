# SPDX-License-Identifier: GPL-2.0-or-later
"""Test 'slate run' from outside, on a stand-in for QEMU."""

import asyncio
import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from support import ROOT

import fake_qemu
from slate_lib import paths, process, run, rundir, signals, watch
from slate_lib.errors import MachineError

SLATE = ROOT / "host-tools" / "slate"
JOB = "[global]\nfilename=/dev/nvme0n1\n[job-a]\nrw=randread\n"


def processes_of(folder: Path) -> list[int]:
    """Return the processes that have folder in their arguments: the launcher's and QEMU's."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(folder).encode() in entry.read_bytes():
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return found


class RunTest(unittest.TestCase):
    """Make a build directory with a fake QEMU and an empty guest."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="slate-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        build = self.folder / "build"
        (build / "qemu").mkdir(parents=True)
        self.guest = build / "guest" / paths.GUEST.name
        (self.guest / "firmware").mkdir(parents=True)
        (build / "qemu" / "qemu-system-x86_64").symlink_to(ROOT / "tests/launcher/fake_qemu.py")
        for name in ("vmlinux", "root.lz4", "modules.lz4"):
            (self.guest / name).write_bytes(b"x")
        (self.guest / "programs").mkdir()
        for name in ("slate-handoff", "slate-marks"):
            (self.guest / "programs" / name).write_bytes(b"program")
        if (ROOT / "build" / "venv").exists():
            (build / "venv").symlink_to(ROOT / "build" / "venv")
        self.job = self.folder / "some.fio"
        self.job.write_text(JOB, encoding="utf-8")
        self.profile = self.folder / "drive.ini"
        self.profile.write_text("[nand]\n", encoding="utf-8")
        self.out = self.folder / "run"

    def start(self, *args: Any, fake: str = "", **env: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [SLATE, "run", "--profile", self.profile, "--job", self.job, "--out", self.out, *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "SLATE_BUILD": str(self.folder / "build"),
                "FAKE": fake,
                "XDG_CACHE_HOME": str(self.folder / "cache"),
                **env,
            },
        )

    def slate(self, *args: Any, **more: Any) -> tuple[int, str, str]:
        process = self.start(*args, **more)
        try:
            out, err = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        self.assertEqual(processes_of(self.folder), [], "a process was left behind")
        return process.returncode, out, err

    def wait_for(self, path: Path, text: str = "") -> None:
        for _ in range(200):
            if path.exists() and text in path.read_text(errors="replace"):
                return
            time.sleep(0.05)
        self.fail(f"{path} did not appear")


class Good(RunTest):
    """Runs that succeed."""

    def test_files_and_report(self) -> None:
        code, out, err = self.slate()
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(
            sorted(p.name for p in self.out.iterdir()),
            ["console.log", "device.json", "fio.json", "fio.log", "report.txt", "run.json"],
        )
        self.assertIn("job-a", out)
        self.assertIn((self.out / "report.txt").read_text(encoding="utf-8"), out)
        record = json.loads((self.out / "run.json").read_text(encoding="utf-8"))
        self.assertEqual(record["versions"]["qemu"], "10.0.99 (fake)")
        self.assertEqual(set(record["sha256"]), {"profile", "job", "qemu", "vmlinux", "root", "modules"})
        self.assertEqual(record["guest_seconds"]["output-sent"], 2.6)
        self.assertIn("--seed 1", record["repeat"])
        again = subprocess.run([SLATE, "report", "--text", self.out], capture_output=True, text=True, check=True)
        self.assertEqual(again.stdout, (self.out / "report.txt").read_text(encoding="utf-8"))

    def test_recordings(self) -> None:
        files = {"--record": self.folder / "calls", "--record-content": self.folder / "content"}
        words = [str(word) for pair in files.items() for word in pair]
        code, _, err = self.slate(*words)
        self.assertEqual((code, err), (0, ""))
        self.assertEqual([path.read_bytes() for path in files.values()], [b"x", b"x"])
        before = self.folder / "content"
        before.write_bytes(b"of an earlier run")
        self.out = self.folder / "second"
        code, _, err = self.slate("--record-content", str(before), fake="full")
        self.assertEqual(code, 3)
        self.assertIn(f"--record-content {before}: the recording was not written: ", err)
        self.assertIn("No space left on device", err)
        self.assertEqual(before.read_bytes(), b"of an earlier run")
        self.out = self.folder / "third"
        code, _, err = self.slate("--record-content", str(before), fake="panic")
        self.assertNotEqual(code, 0)
        self.assertFalse(Path(f"{before}.part").exists())

    def test_small_kernel(self) -> None:
        small = self.guest / "small"
        small.mkdir()
        (small / "vmlinux").write_bytes(b"small")
        (small / "kernel.json").write_text('{"kernel": "6.1-fake"}', encoding="utf-8")
        (self.guest / "guest.json").write_text(
            '{"kernel": "6.1-debian", "fio": "3"}', encoding="utf-8"
        )
        code, out, err = self.slate("--kernel", "small", "--kernel-arg=a=b")
        self.assertEqual((code, err), (0, ""))
        self.assertIn(" 1 vCPU at 4 GIPS · virtual time", out)
        guest = f"guest {paths.GUEST.name}: Linux 6.1-fake (small kernel), fio 3"
        self.assertIn(f"{guest:>100}\n{'─' * 100}\n", out)
        record = json.loads((self.out / "run.json").read_text(encoding="utf-8"))
        self.assertEqual(record["sha256"]["vmlinux"], hashlib.sha256(b"small").hexdigest())
        self.assertEqual(record["versions"]["kernel"], "6.1-fake")
        self.assertEqual(record["settings"]["kernel"], "small")
        self.assertEqual(record["settings"]["kernel_args"], ["a=b"])
        self.assertIn(str(small / "vmlinux"), record["qemu_command"])

    def test_files_of_an_earlier_boot(self) -> None:
        """They are kept under their names, and in boot-1/ where a later boot has such a file."""
        one = run.Run.__new__(run.Run)
        one.run_dir = rundir.RunDir(self.out, "a")
        one.options = mock.Mock(more=[], shell=False)
        one.earlier, one.ended_by_cut = {}, False
        one._keep_results(1)  # a boot that sent nothing
        self.assertEqual(one.earlier, {})
        one.run_dir.results.write_bytes(fake_qemu.results(0))
        one.ended_by_cut = True
        one._keep_results(1)
        self.assertEqual(one.earlier, {})
        one.ended_by_cut = False
        one._keep_results(1)
        self.assertEqual({name: boot for name, (boot, _) in one.earlier.items()}, {"fio.json": 1, "fio.log": 1})
        one._write_earlier({"fio.log": b"the second's"})
        self.assertEqual(sorted(path.name for path in self.out.iterdir() if not path.name.startswith(".")),
                         ["boot-1", "fio.json"])
        self.assertEqual((self.out / "boot-1" / "fio.log").read_bytes(), b"")

    def test_equal_runs_are_equal_files(self) -> None:
        first, second = self.out, self.folder / "elsewhere" / "b"
        self.assertEqual(self.slate()[0], 0)
        self.out = second
        self.assertEqual(self.slate()[0], 0)
        for name in ("fio.json", "device.json", "report.txt"):
            self.assertEqual((first / name).read_bytes(), (second / name).read_bytes(), name)

    def test_keep(self) -> None:
        for how, name in (("boot", ".initrd"), ("use", ".job")):
            self.out = self.folder / how
            self.assertEqual(self.slate("--keep", "--snapshot", how)[0], 0)
            self.assertTrue((self.out / name).exists(), how)

    def test_dry_run_starts_nothing(self) -> None:
        code, out, _ = self.slate("--dry-run", "--set", "ftl.gc_slice_pages=8", "--drive", "a,b", "--age", "0.5")
        self.assertEqual(code, 0)
        self.assertFalse(self.out.exists())
        self.assertIn("-icount rate=4,quantum=1000,sleep=off", out)
        self.assertIn("set.0=precondition.fill_permille=1000,set.1=precondition.age_permille=500", out)
        self.assertIn("=ftl.gc_slice_pages=8", out)
        self.assertIn("a,,b", out)

    def test_dry_run_realtime(self) -> None:
        out = self.slate("--dry-run", "--realtime")[1]
        self.assertNotIn("icount", out)
        self.assertNotIn("clock=vm", out)


class Bad(RunTest):
    """Runs that fail."""

    def failure(self, expected_code: int, *texts: Any, args: tuple[Any, ...] = (), **more: Any) -> str:
        code, out, err = self.slate(*args, **more)
        self.assertEqual(code, expected_code, out + err)
        for text in texts:
            self.assertIn(text, err)
        self.assertNotIn("Traceback", err)
        return err

    def test_drive_refused(self) -> None:
        err = self.failure(
            2, "slate: small.ini: nand.page_bytes=3: must be 512 to 65536: fix it", fake="refuse"
        )
        self.assertNotIn("blockdev", err)
        self.assertFalse(self.out.exists())

    def test_qemu_dies(self) -> None:
        self.failure(3, "SIGABRT", "the sky fell", "fix:", fake="die")
        self.assertTrue((self.out / "console.log").exists())
        self.assertFalse((self.out / "run.json").exists())

    @unittest.skipUnless(os.access("/dev/kvm", os.R_OK | os.W_OK), "/dev/kvm can not be opened")
    def test_kvm_that_does_not_work(self) -> None:
        kvm = ("--accel", "kvm")
        self.failure(3, "SIGABRT", "the sky fell", "fix: run again without --accel kvm", args=kvm, fake="die")
        self.out = self.folder / "second"
        said = ("no sign of life for 2 s; its console is empty", "fix: run again without --accel kvm")
        self.failure(3, *said, args=(*kvm, "--timeout", "2"), fake="no-boot")

    def test_qemu_dies_after_power_off(self) -> None:
        self.failure(3, "SIGABRT", fake="die-late")

    def test_qemu_answers_no_more(self) -> None:
        self.failure(3, "QEMU hangs", "fix:", fake="mute", SLATE_ANSWER_SECONDS="2")

    def test_panic(self) -> None:
        self.failure(3, "kernel panicked", "| Kernel panic - not syncing: fake", "--mem", fake="panic")

    def test_a_kernel_without_a_root(self) -> None:
        """Linux has no initramfs, has not unpacked it, or can not run its init."""
        fixes = ("--mem 2G", "CONFIG_BLK_DEV_INITRD=y and CONFIG_RD_LZ4=y", "CONFIG_BINFMT_SCRIPT=y")
        self.failure(3, "kernel panicked", "VFS: Unable to mount root fs on unknown-block(0,0)", *fixes, fake="no-root")
        console = self.folder / "console"
        watcher = watch.Watcher(console, self.folder / "results", 100, mock.Mock(), False)
        for said, helps in ((b"No working init found.  Try passing", True), (b"Attempted to kill init!", False)):
            console.write_bytes(b"Kernel panic - not syncing: " + said + b"\r\n")
            self.assertEqual("CONFIG_RD_LZ4" in str(watcher.panic()), helps)

    def test_a_kernel_without_the_drive(self) -> None:
        """The job does not run on, nor does its status count, where the guest's init found no drive."""
        self.failure(
            3,
            "the guest's kernel found no drive: no /dev/nvme0n1 after 10 s",
            "fix: build it with CONFIG_BLK_DEV_NVME=y, or name its modules with --modules DIR",
            fake="no-drive",
        )
        self.assertFalse((self.out / "fio.json").exists())
        for line, configs in (
            ("init: no /dev/vda after 10 s\n", "CONFIG_VIRTIO_PCI=y and CONFIG_VIRTIO_BLK=y"),
            ("x\r\ninit: no /dev/nvme0n1 after 10 s\r\ny", "CONFIG_BLK_DEV_NVME=y"),
        ):
            with self.assertRaises(MachineError) as caught:
                watch.check_drive(line)
            self.assertIn(f"build it with {configs}, or", str(caught.exception))
        watch.check_drive("init: no /dev/ttyS1 to send the results to\nthe job: init: no /dev/vda after 10 s\n")

    def test_hang(self) -> None:
        self.failure(
            3,
            "no sign of life for 2 s",
            "| SLATE-PHASE boot-done",
            "--timeout",
            args=("--timeout", "2"),
            fake="hang",
        )

    def test_garbage(self) -> None:
        self.failure(3, "results are cut off", fake="garbage")

    def test_failed_job(self) -> None:
        self.failure(1, "status 3", "| fio: verify failed", fake="failed-job")
        self.assertTrue((self.out / "fio.json").exists())

    def test_a_guest_without_memory(self) -> None:
        self.failure(1, "the guest ran out of memory (1 GiB) and ended fio: the job", "status 137",
                     "fix: give it more than --mem 1024M, or run fewer clones at once; see", fake="no-memory")

    def test_out_in_use(self) -> None:
        self.out.mkdir()
        (self.out / "precious").write_text("x", encoding="utf-8")
        self.failure(2, str(self.out), "something in it already")
        self.assertTrue((self.out / "precious").exists())

    def test_out_is_a_file(self) -> None:
        self.out.write_text("x", encoding="utf-8")
        self.failure(2, "not a directory")

    def test_out_not_writable(self) -> None:
        self.out = Path("/proc/nowhere/run")
        self.failure(2, "/proc/nowhere/run", "--out")

    @unittest.skipUnless(os.geteuid() == 0, "mounts a small file system")
    def test_disk_full_before(self) -> None:
        self.mounted("1m")
        self.failure(2, "no room", "--out")

    @unittest.skipUnless(os.geteuid() == 0, "mounts a small file system")
    def test_disk_full_during(self) -> None:
        self.mounted("70m")
        process = self.start(fake="spam")
        self.wait_for(self.out / "console.log", "tick")
        with open(self.out.parent / "filler", "wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(bytes(1 << 20))
            except OSError:
                pass
        err = process.communicate(timeout=30)[1]
        self.assertEqual(process.returncode, 3)
        self.assertIn("filled up during the run", err)
        self.assertIn("fix:", err)

    def mounted(self, size: str) -> None:
        disk = self.folder / "disk"
        disk.mkdir()
        line = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]
        if subprocess.run(line, capture_output=True, check=False).returncode:
            self.skipTest("can not mount here")
        self.addCleanup(lambda: subprocess.run(["umount", "-l", disk], check=False))
        self.out = disk / "run"

    def test_not_built(self) -> None:
        (self.guest / "vmlinux").unlink()
        self.failure(2, "vmlinux is not there", "make guest'")

    def test_small_kernel_not_built(self) -> None:
        self.failure(
            2,
            "small/vmlinux is not there: the small kernel has not been built",
            "'make guest-kernel'",
            "KERNEL=small",
            args=("--kernel", "small"),
        )


class Shell(RunTest):
    """An interactive guest."""

    def said(self, stdin: Any) -> str:
        """Return the output before QEMU starts."""
        line = [str(SLATE), "run", "--profile", str(self.profile), "--shell", "--out", str(self.out)]
        env = {**os.environ, "SLATE_BUILD": str(self.folder / "build"), "FAKE": "die"}
        run = subprocess.run(line, stdin=stdin, capture_output=True, text=True, timeout=60, env=env, check=False)
        return run.stdout

    def test_input_that_the_guest_may_lose(self) -> None:
        ours, theirs = os.pipe()
        terminal, other = os.openpty()
        for end in (ours, theirs, terminal, other):
            self.addCleanup(os.close, end)
        self.assertIn("leave it with 'exit'", self.said(other))
        self.assertNotIn("no terminal", self.said(other))
        self.assertIn("no terminal: the guest loses what arrives before its prompt; put", self.said(ours))


class Signals(RunTest):
    """Test Ctrl-C and other signals."""

    def interrupted(self, number: Any, expected_code: int) -> str:
        process = self.start(fake="hang")
        self.wait_for(self.out / "console.log", "boot-done")
        self.assertEqual(len(processes_of(self.folder)), 2)
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, expected_code, out + err)
        self.assertNotIn("Traceback", err)
        for _ in range(40):
            if not processes_of(self.folder):
                break
            time.sleep(0.05)
        self.assertEqual(processes_of(self.folder), [])
        return err

    def test_ctrl_c(self) -> None:
        self.assertIn("interrupted", self.interrupted(signal.SIGINT, 130))
        self.assertFalse(self.out.exists())

    def test_term(self) -> None:
        self.interrupted(signal.SIGTERM, 130)
        self.assertFalse(self.out.exists())

    def test_an_impatient_user(self) -> None:
        """Signals that come during the cleanup of a run are ignored."""
        for gap in (0.001, 0.005, 0.02):
            process = self.start(fake="hang")
            self.wait_for(self.out / "console.log", "boot-done")
            while process.poll() is None:
                process.send_signal(signal.SIGTERM)
                time.sleep(gap)
            out, err = process.communicate(timeout=20)
            self.assertEqual((process.returncode, err), (130, "\nslate: interrupted; nothing is left behind\n"), out)
            self.assertFalse(self.out.exists())

    def test_a_second_signal_right_behind_the_loop(self) -> None:
        """A second signal must not interrupt the tidying up that the first one began."""
        async def machine(*_: Any) -> None:
            handler.cancel(asyncio.current_task())
            os.kill(os.getpid(), signal.SIGTERM)
            try:
                await asyncio.sleep(60)
            finally:
                handler.let_finish()

        handler = signals.Signals()
        with handler:
            try:
                with self.assertRaises(asyncio.CancelledError):
                    run.Run._run_machine(mock.Mock(signals=handler, _machine=machine), mock.Mock(), mock.Mock())
                os.kill(os.getpid(), signal.SIGTERM)
            except KeyboardInterrupt:
                self.fail("the second signal interrupted")
            finally:
                handler._ignored = False  # this process goes on

    def test_a_signal_during_the_handshake(self) -> None:
        """A signal may come before QEMU has greeted its QMP client."""
        process = self.start("--snapshot=boot", fake="silent")
        self.wait_for(self.out / "console.log", "silent")
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=20)
        self.assertEqual((process.returncode, err), (130, "\nslate: interrupted; nothing is left behind\n"), out)

    def test_signals_while_no_qemu_runs(self) -> None:
        """Signals before QEMU starts and after it has ended act as Ctrl-C; later ones are ignored."""
        every = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = [signal.getsignal(number) for number in every]
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            with signals.Signals(), self.assertRaises(KeyboardInterrupt):
                os.kill(os.getpid(), number)
                time.sleep(5)
            self.assertEqual([signal.getsignal(one) for one in every], [signal.SIG_IGN] * 3)  # until the process ends
            for one, was in zip(every, before):
                signal.signal(one, was)
        with signals.Signals():
            pass
        self.assertEqual([signal.getsignal(one) for one in every], before)

    def test_nohup(self) -> None:
        """A SIGHUP that is ignored does not end a run."""
        was = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        self.addCleanup(signal.signal, signal.SIGHUP, was)
        process = self.start(fake="hang")
        self.wait_for(self.out / "console.log", "boot-done")
        process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130)

    def test_kill(self) -> None:
        self.interrupted(signal.SIGKILL, -9)


class Busy(unittest.TestCase):
    """A QEMU that waits for a processor is not stuck, one that sleeps is."""

    def busy_for_a_second(self, seconds: float, *line: Any) -> bool:
        """Wait until a program is busy for a second; it takes at most 0.015 of a processor itself."""
        with tempfile.TemporaryDirectory() as folder:
            program = process.Qemu([*line], Path(folder) / "log", (), False)
            end = time.monotonic() + seconds
            try:
                while program.busy_seconds() < 1 and time.monotonic() < end:
                    time.sleep(0.1)
                return program.busy_seconds() >= 1
            finally:
                program.kill()

    def test_a_processor_that_others_have(self) -> None:
        spin = ["taskset", "-c", str(min(os.sched_getaffinity(0))), "sh", "-c", "while :; do :; done"]
        with subprocess.Popen(spin) as other:
            busy = self.busy_for_a_second(30, "nice", "-n", "19", *spin)
            other.kill()
        self.assertTrue(busy)

    def test_sleep(self) -> None:
        self.assertFalse(self.busy_for_a_second(3, "sleep", "60"))


class Console(unittest.TestCase):
    """The console has a guest's phases, and similar text that is no phase."""

    def test_a_quiet_guest_that_computes(self) -> None:
        """It is ended after the timeout in its own time; when its time stands still; or if that is not known."""
        second = 10**9
        for steps, dead in (
            # (seconds of the host, (ns of the guest, I/Os))
            (((0, None), (99, None), (101, None)), 101),
            (((0, (second, 5)), (500, (50 * second, 5)), (5000, (99 * second, 5))), None),
            (((0, (second, 5)), (500, (50 * second, 5)), (5000, (102 * second, 5))), 5000),
            (((0, (second, 5)), (90, (500 * second, 5)), (99, (5000 * second, 5))), None),  # it slept
            (((0, (second, 5)), (500, (150 * second, 6)), (900, (240 * second, 6))), None),  # I/O is life
            (((0, (second, 5)), (50, (2 * second, 5)), (140, (2 * second, 5)), (151, (2 * second, 5))), 151),
        ):
            with self.subTest(steps=steps), tempfile.TemporaryDirectory() as folder, \
                    mock.patch("time.monotonic") as clock:
                clock.return_value = 0
                progress = mock.Mock(started=0, live=False)
                watcher = watch.Watcher(Path(folder) / "console", Path(folder) / "results", 100, progress, False)
                ended = None
                for now, told in steps:
                    clock.return_value = now
                    try:
                        watcher.poll(None, told)
                    except MachineError as error:
                        self.assertIn("no sign of life for 100 s", str(error))
                        ended = now
                        break
                self.assertEqual(ended, dead)

    def test_lines(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            console = Path(folder) / "console.log"
            console.write_bytes(
                b"SLATE-PHASE boot-done 1.25\r\nSLATE-PHASE x 1.2.3\nSLATE-PHASE y .\nSLATE-PHASE \xff 1\n"
                b"SLATE-PHASE z 1" + b"0" * 400 + b"\nSLATE-PHASE job-end rc=" + b"9" * 5000 + b" 2\n"
                b"SLATE-PHASE job-start 1.26\n"
            )
            progress = watch.Progress(io.StringIO(), 0.0)
            watcher = watch.Watcher(console, Path(folder) / "results", 1e9, progress, False)
            watcher.poll(None)
        self.assertEqual(watcher.phases, {"boot-done": 1.25, "job-start": 1.26})
        self.assertIsNone(watcher.job_rc)


if __name__ == "__main__":
    unittest.main()

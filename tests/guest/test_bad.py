# SPDX-License-Identifier: GPL-2.0-or-later
"""Test bad input and failures: each message names the fault and the fix, and no process is left."""

import os
import signal
import subprocess
import time
import unittest
from pathlib import Path
from typing import Any

from support import JOBS, SMALL, GuestTest, processes_of

QD1 = JOBS / "randread-qd1.fio"


class Profile(GuestTest):
    """Run profiles that the drive refuses, with the drive's message."""

    def profile(self, *changes: Any) -> Path:
        text = SMALL.read_text(encoding="utf-8")
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        path = self.folder / "mine.ini"
        path.write_text(text, encoding="utf-8")
        return path

    def test_missing(self) -> None:
        self.refused("--job", QD1, profile=self.folder / "none.ini", words=("none.ini", "fix:"))

    @unittest.skipUnless(os.geteuid() == 0, "drops its privileges")
    def test_unreadable(self) -> None:
        path = self.profile()
        path.chmod(0)
        command, _ = self.command("--job", QD1, profile=path, out=self.folder.parent / "unused")
        done = subprocess.run(
            ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all", *command],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("permission denied", done.stderr)

    def test_wrong_key(self) -> None:
        self.refused(
            "--job", QD1, profile=self.profile(("page_bytes ", "page_size ")), words=("mine.ini", "page_size")
        )

    def test_wrong_type(self) -> None:
        self.refused(
            "--job",
            QD1,
            profile=self.profile(("read_ns           = 99000", "read_ns = fast")),
            words=("mine.ini", "read_ns", "fast"),
        )

    def test_out_of_range(self) -> None:
        self.refused("--job", QD1, "--set", "geometry.channels=0", words=("geometry.channels", "0"))

    def test_capacity_too_large(self) -> None:
        self.refused("--job", QD1, "--set", "ftl.capacity_mib=320", words=("capacity",))

    def test_too_little_memory(self) -> None:
        self.refused(
            "--job",
            QD1,
            "--set",
            "geometry.blocks_per_plane=1048576",
            words=("small", "MiB of memory", "fewer blocks"),
        )

    def test_unknown_override(self) -> None:
        self.refused("--job", QD1, "--set", "ftl.colour=red", words=("ftl.colour",))


class Job(GuestTest):
    """Run job files that fio refuses before the boot."""

    def test_missing(self) -> None:
        self.refused("--job", self.folder / "none.fio", words=("none.fio", "fix:"))

    def test_errors(self) -> None:
        job = self.folder / "typo.fio"
        job.write_text("[a]\nfilename=/dev/nvme0n1\nrw=rnadread\n", encoding="utf-8")
        result = self.refused("--job", job, words=("typo.fio", "rnadread", "fix:"))
        self.assertFalse((result.folder / "console.log").exists(), "it booted a guest to find out")

    def test_script_that_fails(self) -> None:
        script = self.folder / "fail.sh"
        script.write_text("echo the reason\nexit 5\n", encoding="utf-8")
        self.refused("--kernel", "debian", "--cmd", script, code=1, words=("fail.sh", "status 5", "the reason"))


class Guest(GuestTest):
    """Guests that fail."""

    def script(self, text: str) -> Path:
        path = self.folder / "script.sh"
        path.write_text(text, encoding="utf-8")
        return path

    def test_panic(self) -> None:
        script = self.script("echo c >/proc/sysrq-trigger\nsleep 100\n")
        words = ("kernel panicked", "| ", "Kernel panic", "fix:")
        self.refused("--kernel", "debian", "--cmd", script, code=3, words=words)

    def test_hang(self) -> None:
        script = self.script("echo about to hang\nsleep infinity\n")
        self.refused(
            "--cmd",
            script,
            "--timeout",
            "12",
            code=3,
            words=("no sign of life for 12 s", "| about to hang", "--timeout"),
        )

    def test_too_little_memory(self) -> None:
        self.refused("--job", QD1, "--mem", "100M", words=("--mem 100M", "fix:"))


class Process(GuestTest):
    """Send signals to the launcher, and to QEMU."""

    def start(self) -> tuple[subprocess.Popen[str], Path]:
        command, out = self.command("--job", JOBS / "quick.fio")
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        console = out / "console.log"
        for _ in range(600):
            if console.exists() and "SLATE-PHASE boot-done" in console.read_text(errors="replace"):
                break
            time.sleep(0.05)
        else:
            process.kill()
            self.fail("the guest did not boot")
        return process, out

    def ended(self, process: subprocess.Popen[str], out: Path) -> str:
        text = process.communicate(timeout=30)
        self.assert_no_process(out)
        return text[1]

    def test_ctrl_c(self) -> None:
        process, out = self.start()
        process.send_signal(signal.SIGINT)
        err = self.ended(process, out)
        self.assertEqual(process.returncode, 130)
        self.assertIn("interrupted", err)
        self.assertFalse(out.exists())

    def test_killed_launcher(self) -> None:
        process, out = self.start()
        process.kill()
        self.ended(process, out)

    def test_qemu_dies(self) -> None:
        process, out = self.start()
        (qemu,) = (pid for pid in processes_of(out) if pid != process.pid)
        os.kill(qemu, signal.SIGSEGV)
        err = self.ended(process, out)
        self.assertEqual(process.returncode, 3)
        self.assertIn("SIGSEGV", err)
        self.assertIn("fix:", err)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs one QEMU process, which never outlives the launcher."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from .errors import MachineError, SlateError, quoted

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)
_PREFIX = re.compile(r"^\S*qemu-system-\S+: ")
KVM_FIX = (
    "run again without --accel kvm; virtual time and --realtime do not need KVM. Inside a virtual "
    "machine KVM often fails although /dev/kvm can be opened"
)
_BAD_DRIVE = re.compile(r"-(blockdev|device) ")


def die_with(parent: int) -> Callable[[], None]:
    """Return a function for the child to call before exec.

    The kernel then kills the child when its parent ends for any reason.
    """

    def prepare() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return prepare


class Qemu:
    """Starts and watches the process. Its stderr goes to a file, because a pipe could fill up."""

    def __init__(self, line: list[str], log: Path, pass_fds: tuple[int, ...], foreground: bool):
        self.line = line
        self.log = log
        with open(log, "wb") as stderr:
            try:
                self.process = subprocess.Popen(
                    line,
                    stdin=None if foreground else subprocess.DEVNULL,
                    stdout=None if foreground else stderr,
                    stderr=stderr,
                    pass_fds=pass_fds,
                    process_group=None if foreground else 0,
                    preexec_fn=die_with(os.getpid()),  # noqa: PLW1509 (one system call, looked up before the fork)
                )
            except OSError as error:
                raise MachineError(
                    f"can not start {line[0]}: {error.strerror}", "run 'make qemu' to build it again"
                ) from None

    def running(self) -> bool:
        """Is the process alive?"""
        return self.process.poll() is None

    def busy_seconds(self) -> float:
        """Return how long its threads used a processor or waited for one.

        A process that waits on a busy host is not stuck.
        """
        folder = Path(f"/proc/{self.process.pid}")
        try:
            fields = (folder / "stat").read_text(encoding="ascii").rpartition(")")[2].split()
        except OSError:
            return 0.0
        waited_ns = 0
        for path in folder.glob("task/*/schedstat"):
            with contextlib.suppress(OSError):  # the thread has ended
                waited_ns += int(path.read_text(encoding="ascii").split()[1])
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + waited_ns / 1e9

    def kill(self) -> None:
        """Kill the process; returns when it has ended."""
        if self.running():
            self.process.kill()
        self.process.wait()

    def wait(self, seconds: float) -> None:
        """Wait for a process that was told to quit; kill it if it does not."""
        deadline = time.monotonic() + seconds
        while self.running() and time.monotonic() < deadline:
            time.sleep(0.005)
        self.kill()

    def said(self) -> list[str]:
        """Return its output on stderr, without lines that repeat its arguments."""
        text = self.log.read_text(encoding="utf-8", errors="replace")
        for option, value in zip(self.line, self.line[1:]):
            if option.startswith("-"):
                text = text.replace(f"{option} {value}: ", f"{option}: ")
        lines = [_PREFIX.sub("", line) for line in text.splitlines()]
        return [line for line in lines if line.strip()]

    def death(self) -> SlateError:
        """Return the error that explains why it ended by itself."""
        status = self.process.wait()
        said = self.said()
        refused = status == 1 and said and said[0].startswith(("-blockdev: ", "-device: "))
        if refused:
            return SlateError(said[0].partition(": ")[2] + "".join("\n  " + line for line in said[1:4]))
        how = f"exit status {status}" if status >= 0 else f"signal {-status} ({signal.Signals(-status).name})"
        tail = quoted(said[-12:]) or " and said nothing"
        fix = "if its own words above do not help, run again with --keep --verbose"
        if "kvm" in self.line[:3]:
            fix = KVM_FIX
        if -status == signal.SIGKILL:
            fix = "was it the kernel, out of memory ('dmesg | tail')? use a smaller --mem or drive"
        if -status == signal.SIGBUS:
            fix = "is the disk of the drive file full? free some space; the drive lost its power, no more"
        return MachineError(f"QEMU ended before the guest did: {how}{tail}", fix)

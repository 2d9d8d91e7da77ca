# SPDX-License-Identifier: GPL-2.0-or-later
"""Watches a guest's console: its phases, its last lines, and whether it makes progress.

A guest shows life by output on its console, by results, and by I/O of its drives. In virtual time a quiet guest
may compute for hours of the host's time, so it is ended only when it has been quiet for the timeout in its own
time, too; or when its time stands still.
"""

from __future__ import annotations

import re
import shutil
import sys
import time
from pathlib import Path
from typing import TextIO

from . import estimate, ownkernel
from .errors import MachineError, quoted
from .process import KVM_FIX

POLL_SECONDS = 0.05
QUIET_SECONDS = 10  # of the console, before the drives are asked for their time and I/Os
TELL_SECONDS = 60  # between lines about a quiet guest
STUCK_SECONDS = 60  # virtual time never idles: no processor time means a deadlock
PANIC_SECONDS = 2  # for the rest of a panic's text
_PHASE = re.compile(rb"^SLATE-PHASE ([!-~]+)(?: rc=(\d{1,9}))? (\d{1,15}(?:\.\d+)?)\s*$")
_PANIC = re.compile(rb"Kernel panic|end Kernel panic|Attempted to kill init")
_NO_MEMORY = re.compile(rb"Out of memory: Killed process \d+ \(([^)]*)\)")
# What Linux says without a root: it has no initramfs, could not unpack it, or can not run its init.
_NO_ROOT = re.compile(r"VFS: Unable to mount root fs|No working init found")
_NO_DRIVE = re.compile(r"^init: (no /dev/((?:nvme|vd)[a-z0-9]+) after \d+ s)\s*$", re.MULTILINE)
_LABELS = {
    "boot-done": "booted",
    "job-start": "job started",
    "app-fs": "file system made",
    "app-initdb": "database cluster made",
    "app-prepared": "data prepared",
    "job-end": "job ended",
    "output-sent": "results sent",
}
_RUNNING = "running the job"


def check_drive(console: str) -> None:
    """Raise an error if the guest's init has found no drive: its kernel has no driver for that."""
    found = _NO_DRIVE.search(console)
    if not found:
        return
    needs = ownkernel.NVME if found[2].startswith("nvme") else ownkernel.VIRTIO
    raise MachineError(
        f"the guest's kernel found no drive: {found[1]}",
        f"build it with {ownkernel.options_of(needs)}, or name its modules with --modules DIR",
    )


class Progress:
    """Prints one line for each phase; on a terminal, also the current state."""

    def __init__(self, stream: TextIO, started: float):
        self.stream = stream
        self.started = started
        self.live = stream.isatty()
        self._shown = False

    def line(self, name: str, text: str, seconds: float | None = None) -> None:
        """Print a finished phase, in the layout of the build's phases."""
        self.clear()
        took = f" {seconds:7.1f} s" if seconds is not None else ""
        self.stream.write(f"{name:<9} {text:<62}{took}".rstrip() + "\n")
        self.stream.flush()

    def now(self, text: str) -> None:
        """Show the current state; the next output overwrites it."""
        if self.live:
            room = shutil.get_terminal_size().columns - 1  # a line that wraps can not be overwritten
            self.stream.write(f"\r\033[K{text[:room]}")
            self.stream.flush()
            self._shown = True

    def clear(self) -> None:
        """Remove the line of progress."""
        if self._shown:
            self.stream.write("\r\033[K")
            self.stream.flush()
            self._shown = False


class Watcher:
    """Reads the console as it grows. Raises MachineError if the guest cannot continue."""

    def __init__(
        self, console: Path, results: Path, timeout: float, progress: Progress, verbose: bool, kvm: bool = False
    ):
        self.console, self.results = console, results
        self.timeout = timeout
        self.progress = progress
        self.verbose = verbose
        self.kvm = kvm
        self.phases: dict[str, float] = {}  # name -> guest seconds
        self.wall: dict[str, float] = {}  # name -> host seconds since the start
        self.guest_began = self.progress.started
        self.job_rc: int | None = None
        self.goal: estimate.Goal | None = None  # what the job asks for
        self._job: tuple[int, int, float] | None = None  # the guest's time, I/Os and the host's time when it began
        self._ios = 0
        self.live = ""  # text that only a terminal shows after the phase
        self._tail = b""
        self._position = 0
        self._sizes = (0, 0, 0)
        self._alive = self._moved = self._told = time.monotonic()
        self._clock_ns = self._alive_ns = 0  # the guest's time now, and at the last sign of life
        self.cpu: float | None = None  # QEMU's busy time at the last poll
        self._cpu = (0.0, time.monotonic())
        self._panic: float | None = None
        self.killed = ""  # the first program that the guest ended for lack of memory

    def is_quiet(self) -> bool:
        """Has the console been quiet for a while?"""
        return time.monotonic() - self._alive > QUIET_SECONDS or self._clock_ns > 0

    def poll(self, busy_seconds: float | None, clock: tuple[int, int] | None = None) -> None:
        """Read the console once. busy_seconds: how long QEMU used or awaited a processor; None if it may be idle.
        clock: the guest's time in ns and the I/Os of its drives, if known.
        """
        now = time.monotonic()
        self.cpu = busy_seconds
        self._read(now)
        at_ns, ios = clock or (0, 0)
        self._ios = max(self._ios, ios)
        if at_ns > self._clock_ns:
            self._clock_ns, self._moved = at_ns, now
        sizes = (self._position, self.results.stat().st_size if self.results.exists() else 0, ios)
        if sizes != self._sizes:
            self._sizes, self._alive, self._alive_ns = sizes, now, self._clock_ns
        self._show(now)
        if self._panic and now - self._panic > PANIC_SECONDS:
            raise self.panic()
        if self._is_dead(now):
            raise MachineError(
                f"the guest showed no sign of life for {self.timeout:g} s{self.last_words()}",
                KVM_FIX
                if self.kvm and not self.phases
                else "if the job is only long, raise --timeout; "
                "else look at the console with --verbose, or enter the guest with --shell",
            )
        self._check_processor(busy_seconds, now)

    def _is_dead(self, now: float) -> bool:
        """Has the guest shown no sign of life for the timeout, in the host's time and in its own?"""
        if now - self._alive <= self.timeout:
            return False
        silent_ns = self._clock_ns - self._alive_ns
        return not self._clock_ns or silent_ns > self.timeout * 1e9 or now - self._moved > self.timeout

    def _check_processor(self, busy_seconds: float | None, now: float) -> None:
        if busy_seconds is None or busy_seconds - self._cpu[0] > 0.5:
            self._cpu = (busy_seconds or 0.0, now)
        elif now - max(self._cpu[1], self._alive) > STUCK_SECONDS:
            raise MachineError(
                f"QEMU is stuck: it neither used nor awaited a processor for {STUCK_SECONDS} s{self.last_words()}",
                "this is a fault in QEMU or the drive: run again with --keep and report it",
            )

    def panic(self) -> MachineError:
        """Return the error for a panic of the guest's kernel."""
        words = self.last_words()
        fix = "give it more memory (--mem 2G) if it ran out; else this is a fault in the guest image"
        if _NO_ROOT.search(words):
            needs = ownkernel.options_of(ownkernel.ROOT)
            fix = f"give it more memory (--mem 2G) if its initramfs did not fit; else build the kernel with {needs}"
        return MachineError(f"the guest's kernel panicked{words}", fix)

    def last_words(self, lines: int = 12) -> str:
        """Return the console's last lines for a message, or those about a panic if there was one."""
        self._read(time.monotonic())
        try:
            text = self.console.read_bytes()[-65536:].decode(errors="replace")
        except OSError:
            text = ""
        said = [line.rstrip() for line in text.splitlines() if line.strip()]
        if not said:
            return "; its console is empty"
        panics = [number for number, line in enumerate(said) if _PANIC.search(line.encode())]
        begin = max(0, panics[0] - lines // 2) if panics else max(0, len(said) - lines)
        shown = said[begin : begin + lines]
        what = "about it" if panics else "its last lines"
        return f"; {what}:" + quoted(shown)

    def _read(self, now: float) -> None:
        if not self.console.exists():
            return
        with open(self.console, "rb") as console:
            console.seek(self._position)
            data = console.read()
        self._position += len(data)
        if self.verbose and data:
            sys.stdout.write(data.decode(errors="replace").replace("\r\n", "\n"))
            sys.stdout.flush()
        *lines, self._tail = (self._tail + data).split(b"\n")
        for line in lines:
            self._understand(line, now)

    def _understand(self, line: bytes, now: float) -> None:
        if _PANIC.search(line):
            self._panic = self._panic or now
        if found := _NO_MEMORY.search(line):
            self.killed = self.killed or found[1].decode(errors="replace")
        check_drive(line.decode(errors="replace"))
        match = _PHASE.match(line)
        if not match or match[1].decode() in self.phases:
            return
        name, guest = match[1].decode(), float(match[3])
        before = max(self.wall.values(), default=self.guest_began - self.progress.started)
        self.phases[name] = guest
        self.wall[name] = now - self.progress.started
        if match[2] is not None:
            self.job_rc = int(match[2])
        what = _LABELS.get(name) or f"'{name.removeprefix('app-')}' measured"
        text = f"{what} at {guest:.2f} s of guest time"
        if self.job_rc and name == "job-end":
            text += f", with status {self.job_rc}"
        self.progress.line("guest", text, self.wall[name] - before)

    def _show(self, now: float) -> None:
        doing = {0: "booting", 1: "starting the job", 2: _RUNNING, 3: "sending results"}.get(
            sum(not name.startswith("app-") for name in self.phases), "powering off"
        )
        left = self._left(now) if doing == _RUNNING else ""
        text = f"{doing} ... {now - self.progress.started:.0f} s of host time{self.live}{left}"
        if not self.progress.live and self.live and now - self._told > TELL_SECONDS:
            self.progress.line("guest", text)
            self._told = now
        self.progress.now(f"{'guest':<9} {text}")

    def _left(self, now: float) -> str:
        """Return how long the job will still take at its speed so far."""
        if not self.goal or not self._clock_ns:
            return ""
        if not self._job:
            self._job = (self._clock_ns, self._ios, now)
        began_ns, ios, began = self._job
        return self.goal.left((self._clock_ns - began_ns) / 1e9, self._ios - ios, now - began)

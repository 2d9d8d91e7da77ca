# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the user's own guest: seed, drive, boot, the console on the terminal, report."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

from . import command, drivefile, owncommand, paths, process, seed
from .errors import OK, MachineError, SlateError
from .live import Live
from .options import RunOptions
from .ownguest import LOOPBACK, OwnGuest
from .run import Run
from .shape import Json
from .watch import PANIC_SECONDS, Watcher

Found = TypeVar("Found")
LOOK_SECONDS = 0.25
ANSWER_SECONDS = 10  # for SSH's greeting; until the guest listens, connections are refused
BANNER = b"SSH-"
PROMPT = b"login:"


class Life:
    """Waits until a guest has booted: until SSH answers, or the console shows a login prompt."""

    def __init__(self, own: OwnGuest, watcher: Watcher, timeout: float):
        self.own, self.watcher, self.timeout = own, watcher, timeout
        self.began = self.heard = time.monotonic()
        self.size = 0
        self.prompt = False
        self.panic: float | None = None
        self.ssh_seconds: float | None = None

    async def watch(self) -> None:
        """Wait until the guest has booted. Raises an error if it cannot boot any more."""
        while True:
            self._listen()
            if self.own.nic and await self._answers():
                self.ssh_seconds = time.monotonic() - self.began
                words = shlex.join(self.own.ssh_words())
                sys.stdout.write(f"\r\nssh       ready after {self.ssh_seconds:.1f} s: {words}\r\n")
                sys.stdout.flush()
                return
            if self.prompt and not self.own.nic:
                return
            await asyncio.sleep(LOOK_SECONDS)

    def _listen(self) -> None:
        now = time.monotonic()
        console = self.watcher.console
        size = console.stat().st_size if console.exists() else 0
        if size != self.size:
            with open(console, "rb") as file:
                file.seek(max(0, self.size - len(PROMPT)))
                said = file.read()
            self.size, self.heard = size, now
            self.prompt = self.prompt or PROMPT in said
            if b"Kernel panic - not syncing" in said:
                self.panic = self.panic or now
        if self.panic and now - self.panic > PANIC_SECONDS:
            raise MachineError(
                f"the guest's kernel panicked{self.watcher.last_words()}",
                "if it found no root: with --kernel, name it with --append 'root=/dev/vda1 console=ttyS0'",
            )
        attended = sys.stdin.isatty() and self.size
        if not (self.prompt or attended) and now - self.heard > self.timeout:
            raise MachineError(
                f"the guest did not come up: its console said nothing for {self.timeout:g} s"
                f"{self.watcher.last_words()}",
                "raise --timeout if it only takes long; the console is the serial port: console=ttyS0",
            )

    async def _answers(self) -> bool:
        """Does SSH send a greeting? QEMU accepts the connection even if the guest does not."""
        with contextlib.suppress(OSError, TimeoutError, EOFError):
            reader, writer = await asyncio.open_connection(LOOPBACK, self.own.ssh_port)
            try:
                return await asyncio.wait_for(reader.readexactly(len(BANNER)), ANSWER_SECONDS) == BANNER
            finally:
                writer.close()
        return False


class OwnRun(Run):
    """Runs the user's own guest."""

    def __init__(self, options: RunOptions):
        super().__init__(options)
        self.own = owncommand.own_of(options)
        self.life = Life(self.own, self.watcher, options.timeout)

    def _boots(self) -> None:
        options = self.options
        if self.own.key:
            seed.write(self.own)
        if self.own.from_ssd and self.own.image:
            drive = options.drive or self.run_dir.drive
            self._copy_image(drive)
            options = dataclasses.replace(options, drive=drive, drive_kept=drivefile.read(drive), settings=[])
        self.booted = options
        self._mark("prepare")
        self._run_machine(options, options.cuts.plans[0] if options.cuts else None)

    def _copy_image(self, drive: Path) -> None:
        """Copy the image to the drive by NAND programs of the drive, which take the drive's time."""
        self.progress.now("drive     the image is copied to the emulated SSD")
        began = time.monotonic()
        words = owncommand.convert_words(self.options, drive)
        copied = False
        try:
            done = subprocess.run(
                words, capture_output=True, text=True, check=False, preexec_fn=process.die_with(os.getpid())
            )
            copied = done.returncode == 0
            if not copied:
                said = done.stderr.strip().removeprefix("qemu-img: ")
                raise MachineError(f"the image can not be copied to the drive: {said}", "see the message above")
        finally:
            if not copied:
                drive.unlink(missing_ok=True)
        self.progress.line("drive", "holds the image's content", time.monotonic() - began)

    def _line(self, options: RunOptions, files: command.Files) -> list[str]:
        return owncommand.build(options, files)

    async def _until(self, waiting: Awaitable[Found], qemu: process.Qemu, live: Live | None = None) -> Found:
        """Await something while checking that the guest boots."""
        if "start" not in self.phases or "guest" in self.phases:
            return await super()._until(waiting, qemu, live)
        return await super()._until(self._with_life(waiting), qemu, live)

    async def _with_life(self, waiting: Awaitable[Found]) -> Found:
        task, life = asyncio.ensure_future(waiting), asyncio.ensure_future(self.life.watch())
        try:
            await asyncio.wait((task, life), return_when=asyncio.FIRST_COMPLETED)
            if life.done():
                life.result()
            return await task
        finally:
            task.cancel()
            life.cancel()

    def _results(self) -> tuple[dict[str, bytes], int]:
        return {}, 0

    def _record(self, status: int) -> Json:
        record = super()._record(status)
        for name in ("kernel", "fio"):  # of Slate's guest
            record["versions"].pop(name, None)
        record["ssh_seconds"] = self.life.ssh_seconds
        return record


def drive_to_make(options: RunOptions) -> Path | None:
    """Return the drive file that must be made first, with --boot-from-ssd and an image; else None."""
    own = owncommand.own_of(options)
    return (options.drive or paths.OUT / f"{own.name}.slate") if own.from_ssd and own.image else None


def show(options: RunOptions) -> int:
    """Execute --dry-run or --print-libvirt: print the commands, and make the seed, which they need."""
    own = owncommand.own_of(options)
    if own.key:
        seed.write(own)
    drive = drive_to_make(options)
    if own.print_libvirt and drive:
        raise SlateError(
            "--print-libvirt with --boot-from-ssd: libvirt copies no image to a drive",
            "make the drive first (--drive FILE with --dry-run prints how), then leave --image out",
        )
    if own.print_libvirt:
        print(owncommand.libvirt(options), end="")
        return OK
    boot = options
    if drive:  # the file has its settings
        boot = dataclasses.replace(options, drive=drive, settings=[], profile=None, fill=None, age=None)
    files = command.Files(Path(), Path(), Path())
    print(owncommand.text(options, boot, files, drive), end="")
    return OK


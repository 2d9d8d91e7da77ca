# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots a guest once, from QEMU's start until the guest powers off or the drive loses its power."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from . import command, powercut, process, qmp, watch
from .errors import MachineError, quoted
from .options import RunOptions
from .powercut import Plan
from .shape import Json

Found = TypeVar("Found")
LOOK_SECONDS = 1


@dataclass
class Boot:
    """Holds the result of a boot."""

    reason: str
    power: Json
    drive: Json
    console: str
    results: bytes
    seconds: float

    def last_words(self, lines: int = 8) -> str:
        """Return the end of the console's text, for an error message."""
        said = [line.rstrip() for line in self.console.splitlines() if line.strip()]
        return quoted(said[-lines:])


@dataclass(frozen=True)
class Guest:
    """Describes how a guest boots."""

    write_job: Callable[[RunOptions, Path], None]  # makes the file with the job
    command_line: Callable[[RunOptions, command.Files], list[str]]
    look: Callable[[Path], None] | None = None  # at the console as it grows; raises an error if the guest cannot go on


SLATES = Guest(command.write_initrd, command.build)


def boot(options: RunOptions, folder: Path, plan: Plan | None = None, guest: Guest = SLATES) -> Boot:
    """Boot a guest, with work files in folder."""
    return asyncio.run(_boot(options, folder, plan, guest))


async def _boot(options: RunOptions, folder: Path, plan: Plan | None, guest: Guest) -> Boot:
    began = time.monotonic()
    initrd, console, results = (folder / name for name in ("initrd", "console", "results"))
    guest.write_job(options, initrd)
    monitor = qmp.Monitor()
    files = command.Files(initrd, console, results, monitor.theirs.fileno())
    qemu = process.Qemu([*guest.command_line(options, files), "-S"], folder / "qemu.log", (files.qmp_fd,), False)
    try:
        talk = _talk(monitor, [drive.node for drive in options.drives], plan)
        if guest.look:
            talk = _watched(talk, guest.look, console)
        reason, power, drive = await asyncio.wait_for(talk, options.timeout)
        qemu.wait(10)
    except TimeoutError:
        raise MachineError(
            f"the guest took longer than {options.timeout:g} s",
            f"raise --timeout, or look at {console}",
        ) from None
    except Exception as error:
        if qmp.is_session_error(error):
            qemu.wait(2)
            raise qemu.death() from None
        raise
    finally:
        qemu.kill()
        await asyncio.shield(monitor.close())
    said = console.read_text(encoding="utf-8", errors="replace")
    watch.check_drive(said)
    return Boot(reason, power, drive, said, results.read_bytes(), time.monotonic() - began)


async def _watched(talk: Coroutine[Any, Any, Found], look: Callable[[Path], None], console: Path) -> Found:
    """Await the guest's end while its console is looked at."""
    task = asyncio.ensure_future(talk)
    try:
        while not (await asyncio.wait((task,), timeout=LOOK_SECONDS))[0]:
            if console.exists():
                look(console)
        return task.result()
    finally:
        task.cancel()


async def _talk(monitor: qmp.Monitor, nodes: list[str], plan: Plan | None) -> tuple[str, Json, Json]:
    await monitor.connect()
    if plan:
        for node in nodes:
            await monitor.plan_cut(node, plan.arguments())
    await monitor.go()
    reason = await monitor.shutdown()
    power = powercut.of_all([await monitor.power(node) for node in nodes])
    drive = await monitor.drive(command.NODE)
    await monitor.quit()
    return reason, power, drive

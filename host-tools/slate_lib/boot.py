# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots a guest once, from QEMU's start until the guest powers off or the drive loses its power."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path

from . import command, powercut, process, qmp, watch
from .errors import MachineError, quoted
from .options import RunOptions
from .powercut import Plan
from .shape import Json


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


def boot(options: RunOptions, folder: Path, plan: Plan | None = None) -> Boot:
    """Boot a guest, with work files in folder."""
    return asyncio.run(_boot(options, folder, plan))


async def _boot(options: RunOptions, folder: Path, plan: Plan | None) -> Boot:
    began = time.monotonic()
    initrd, console, results = (folder / name for name in ("initrd", "console", "results"))
    command.write_initrd(options, initrd)
    monitor = qmp.Monitor()
    files = command.Files(initrd, console, results, monitor.theirs.fileno())
    qemu = process.Qemu([*command.build(options, files), "-S"], folder / "qemu.log", (files.qmp_fd,), False)
    try:
        nodes = [drive.node for drive in options.drives]
        reason, power, drive = await asyncio.wait_for(_talk(monitor, nodes, plan), options.timeout)
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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Connects to QEMU. While the guest runs in virtual time, commands that could affect it are not sent.

The handshake happens before the first instruction (QEMU starts stopped), the rest after power-off. Progress on
a terminal (watch.py) comes from logs of the drive, and reading a log changes nothing.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import socket
from pathlib import Path
from typing import Any

from . import packages
from .errors import MachineError, SlateError
from .shape import Json

PACKAGE = "qemu.qmp"
_REPLY_LIMIT = 256 << 20  # bytes of one reply: 256 marks with their histograms


def _unseen(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Ignore errors of futures that no task awaits: qemu.qmp leaves such futures when a connection is cancelled."""
    if not isinstance(context.get("exception"), asyncio.CancelledError):
        loop.default_exception_handler(context)


class Monitor:
    """Holds a QMP session over one end of a socket pair."""

    def __init__(self) -> None:
        self._qmp = packages.load(PACKAGE)
        self._mine, self.theirs = socket.socketpair()
        self._client = self._qmp.QMPClient("slate", readbuflen=_REPLY_LIMIT)
        self._client.logger.disabled = True
        self._shutdown = self._qmp.EventListener("SHUTDOWN")
        self._stop = self._qmp.EventListener("STOP")
        self._client.register_listener(self._shutdown)
        self._client.register_listener(self._stop)
        self._connecting: asyncio.Task[Any] | None = None  # the task that does the handshake

    async def start(self) -> None:
        """Do the handshake, then let the guest run."""
        await self.connect()
        await self.go()

    async def connect(self) -> None:
        """Do the handshake."""
        asyncio.get_running_loop().set_exception_handler(_unseen)
        self.theirs.close()
        self._connecting = asyncio.current_task()
        try:
            await self._client.connect(self._mine)
        finally:
            self._connecting = None

    async def go(self) -> None:
        """Let the guest run."""
        await self._client.execute("cont")

    async def plan_cut(self, node: str, plan: Json) -> None:
        """Plan a power cut before the guest runs, and set the action after it."""
        try:
            await self._client.execute("x-nand-ssd-power-cut", {"node-name": node, **plan})
        except self._qmp.ExecuteError as error:
            raise SlateError(f"no power cut: {error}", "see 'slate run --help'") from None

    async def power(self, node: str) -> Json:
        """Return the state of the drive's power, and what the last cut interrupted."""
        found: Json = await self._client.execute("x-query-nand-ssd-power", {"node-name": node})
        return found

    def version(self) -> str:
        """Return the version of QEMU and of its package."""
        greeting = self._client.greeting
        found = greeting.QMP.version if greeting else {}
        numbers = found.get("qemu", {})
        return "{}.{}.{} {}".format(
            *(numbers.get(k, 0) for k in ("major", "minor", "micro")), found.get("package", "")
        ).strip()

    async def shutdown(self) -> str:
        """Wait for the guest to end; returns QEMU's reason."""
        event = await self._shutdown.get()
        return str(event["data"].get("reason", "unknown"))

    async def stopped(self) -> str:
        """Wait until the machine stops; returns the reason, which is "paused" if a device of the guest stopped it."""
        await self._stop.get()
        return str((await self._client.execute("query-status"))["status"])

    async def save(self, path: Path) -> None:
        """Save the machine's state to a file, without memory that is in a file of its own."""
        await self._ignore_shared()
        await self._client.execute("migrate", {"uri": f"file:{path}"})
        while (found := await self._client.execute("query-migrate")).get("status") != "completed":
            if found.get("status") in ("failed", "cancelled"):
                raise MachineError(f"the machine can not be saved: {found.get('error-desc', 'it failed')}")
            await asyncio.sleep(0.01)

    async def restore(self, path: Path) -> None:
        """Load a state that save() wrote, into a machine whose memory is the saved one's. It goes on with go()."""
        await self._ignore_shared()
        await self._client.execute("migrate-incoming", {"uri": f"file:{path}"})
        while (await self._client.execute("query-status")).get("status") == "inmigrate":
            await asyncio.sleep(0.005)

    async def _ignore_shared(self) -> None:
        wanted = {"capability": "x-ignore-shared", "state": True}
        await self._client.execute("migrate-set-capabilities", {"capabilities": [wanted]})

    async def drive(self, node: str) -> Json:
        """Return the drive's statistics."""
        try:
            nodes = await self._client.execute("query-blockstats", {"query-nodes": True})
        except self._qmp.ExecuteError as error:
            raise MachineError(f"QEMU did not tell the drive's statistics: {error}") from None
        for entry in nodes:
            if entry.get("node-name") == node and "driver-specific" in entry:
                found: Json = entry["driver-specific"]
                return found
        raise MachineError(f"QEMU knows no statistics of node '{node}'", "run 'make qemu' to build it again")

    async def log(self, node: str, log_id: int) -> bytes | None:
        """Return a log of the drive (SPEC.md) as it is now; None: the drive has no such log."""
        try:
            found = await self._client.execute("x-nand-ssd-log", {"node-name": node, "id": log_id})
        except self._qmp.ExecuteError:
            return None
        data = base64.b64decode(found.get("data", ""))
        return data or None

    async def quit(self) -> None:
        """Tell QEMU to end."""
        with contextlib.suppress(TimeoutError, self._qmp.QMPError):
            await asyncio.wait_for(self._client.execute("quit"), 5)

    async def close(self) -> None:
        """Drop the connection; never fails."""
        self.theirs.close()
        if self._connecting:
            # A cancelled handshake disconnects by itself; qemu.qmp fails when two tasks disconnect at once.
            self._connecting.cancel()
            await asyncio.wait((self._connecting,), timeout=5)
        with contextlib.suppress(Exception):  # a dying QEMU breaks the session in many ways
            await asyncio.wait_for(self._client.disconnect(), 5)
        self._mine.close()


def is_session_error(error: BaseException) -> bool:
    """Does the error mean that QEMU has ended?"""
    qmp = packages.load(PACKAGE)
    return isinstance(error, (qmp.QMPError, OSError, EOFError))

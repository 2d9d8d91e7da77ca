# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU and its tools as child processes, with the qtest and QMP protocols.

In a machine under qtest time passes only when a test steps the clock, so a test can check which events have
happened at each nanosecond.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
QEMU = Path(os.environ.get("QEMU_BUILD", ROOT / "build" / "qemu")).resolve()
SMALL = Path(os.environ.get("SLATE_PROFILE", ROOT / "nand-emu" / "profiles" / "small.ini"))
PATIENCE = int(os.environ.get("QEMU_PATIENCE", "60"))  # seconds for one QEMU; more where it is instrumented
TIMEOUT = ("timeout", "-k", "5", str(PATIENCE))

Json = dict[str, Any]


def drive(node: str = "ssd0", **settings: Any) -> Json:
    """Return the options of a nand-ssd node that its guest may steer; settings as section__key=value."""
    options: Json = {"driver": "nand-ssd", "node-name": node, "profile": str(SMALL), "guest-control": "on"}
    if settings:
        options["set"] = [f"{key.replace('__', '.')}={value}" for key, value in settings.items()]
    return options


def image_opts(**settings: Any) -> str:
    """Return the options of a drive on a tool's command line."""
    options = drive(**settings)
    parts = ["driver=nand-ssd", f"profile={options['profile']}"]
    parts += [f"set.{i}={value}" for i, value in enumerate(options.get("set", ()))]
    return ",".join(parts)


def file_opts(path: Path, profile: bool = False, **options: object) -> str:
    """Return a drive file on a tool's command line; options as ephemeral="on"."""
    parts = ["driver=nand-ssd", f"drive-file={path}"] + [f"profile={SMALL}"] * profile
    return ",".join(parts + [f"{key}={value}" for key, value in options.items()])


def tool(name: str, *args: str, code: int | None = 0) -> str:
    """Run a tool of QEMU; returns its output on both channels."""
    done = subprocess.run(
        [*TIMEOUT, str(QEMU / name), *args],
        stdin=subprocess.DEVNULL,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if code is not None and done.returncode != code:
        raise AssertionError(f"{name} {' '.join(args)}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def qemu_io(*commands: str, opts: str | None = None) -> str:
    """Run commands of qemu-io. A pattern that does not match is an error."""
    args = [arg for command in commands for arg in ("-c", command)]
    said = tool("qemu-io", "--image-opts", opts or image_opts(), *args)
    if "failed" in said or "error" in said.lower():
        raise AssertionError(said)
    return said


class Monitor:
    """Talks QMP or the qtest protocol with QEMU over a socket. QEMU has to answer within patience_s."""

    def __init__(self, path: Path, patience_s: int = 50) -> None:
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(1)
        self.listener.settimeout(patience_s)
        self.patience_s = patience_s
        self.sent = "(no command)"  # the last line sent
        self.path = path
        self.connection = self.listener  # until QEMU has connected
        self.received = b""

    def accept(self) -> None:
        """Wait for QEMU."""
        self.connection, _ = self.listener.accept()
        # This is the kernel's limit, because Python's costs a further system call for each one.
        self.connection.settimeout(None)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", self.patience_s, 0))
        self.listener.close()

    def send(self, line: str) -> None:
        """Send a line."""
        self.sent = line
        self.connection.sendall(line.encode() + b"\n")

    def receive(self) -> str:
        """Receive a line."""
        line, end, rest = self.received.partition(b"\n")
        while not end:
            try:
                more = self.connection.recv(1 << 16)
            except BlockingIOError:
                raise TimeoutError(f"QEMU has said nothing for {self.patience_s} s after: {self.sent}") from None
            if not more:
                raise EOFError("QEMU closed the connection")
            self.received += more
            line, end, rest = self.received.partition(b"\n")
        self.received = rest
        return line.decode()

    def close(self) -> None:
        """Close the connection."""
        self.listener.close()
        self.connection.close()


class QmpError(Exception):
    """QEMU refused a command."""


class Machine:
    """Runs a QEMU process; .trace() returns its trace of the drive."""

    def __init__(
        self,
        blockdevs: list[Json],
        *args: str,
        accel: tuple[str, ...] = ("-accel", "qtest"),
        trace: bool = True,
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="slate-qemu-"))
        self.events: list[Json] = []
        self.qmp_line = Monitor(self.folder / "qmp")
        self.under_qtest = "qtest" in accel
        self.qtest = Monitor(self.folder / "qtest") if self.under_qtest else None
        self.unanswered: list[str] = []  # commands sent by post()
        self.log = self.folder / "log"
        line = [*TIMEOUT, str(QEMU / "qemu-system-x86_64"), "-M", "q35", "-m", "64", *accel]
        line += ["-nodefaults", "-display", "none", "-no-user-config", "-qmp", f"unix:{self.qmp_line.path}"]
        line += [*(("-trace", "nand_ssd_*") if trace else ()), "-D", str(self.log)]
        if self.qtest:
            line += ["-qtest", f"unix:{self.qtest.path}", "-qtest-log", "none"]
        for options in blockdevs:
            line += ["-blockdev", json.dumps(options)]
        with open(self.folder / "out", "wb") as out:
            self.process = subprocess.Popen(
                [*line, *args], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT
            )
        try:
            if self.qtest:
                self.qtest.accept()
            self.qmp_line.accept()
            self.qmp_line.receive()
            self.qmp("qmp_capabilities")
        except (OSError, EOFError) as error:
            said = self.output()
            self.close()
            raise AssertionError(f"QEMU did not start: {error}\n{said}") from None

    # ---- QMP ----

    def qmp(self, command: str, /, **arguments: object) -> Any:
        """Run a command and return its value."""
        self.qmp_line.send(
            json.dumps(
                {"execute": command, "arguments": {k.replace("_", "-"): v for k, v in arguments.items()}}
            )
        )
        while True:
            answer = json.loads(self.qmp_line.receive())
            if "return" in answer:
                return answer["return"]
            if "error" in answer:
                raise QmpError(answer["error"]["desc"])
            self.events.append(answer)

    def event(self, name: str) -> Json:
        """Wait for an event."""
        while True:
            for i, event in enumerate(self.events):
                if event["event"] == name:
                    return self.events.pop(i)
            self.events.append(json.loads(self.qmp_line.receive()))

    def stats(self, node: str = "ssd0") -> Json:
        """A drive's statistics."""
        for entry in self.qmp("query-blockstats", query_nodes=True):
            if entry.get("node-name") == node:
                found: Json = entry["driver-specific"]
                return found
        raise AssertionError(f"no statistics of {node}")

    # ---- qtest ----

    def post(self, line: str) -> None:
        """Send a command of the qtest protocol that returns nothing. The next command(), which waits, checks it."""
        assert self.qtest
        self.qtest.send(line)
        self.unanswered.append(line)

    def command(self, line: str) -> str:
        """Send a command of the qtest protocol; returns what follows OK."""
        self.post(line)
        posted, self.unanswered = self.unanswered, []
        return [self._answer(line) for line in posted][-1]

    def _answer(self, line: str) -> str:
        """Wait for the answer to a command."""
        assert self.qtest
        while True:
            answer = self.qtest.receive()
            if answer.startswith("OK"):
                return answer[3:]
            if not answer.startswith("IRQ"):
                raise AssertionError(f"{line}: {answer}")

    def settle(self) -> None:
        """Let the main loop run due events without advancing the time."""
        for _ in range(4):
            self.command("inb 0x80")

    def step(self, ns: int) -> int:
        """Let time pass; return the new time."""
        self.settle()
        now = int(self.command(f"clock_step {ns}"))
        self.settle()
        return now

    def write(self, at: int, data: bytes) -> None:
        """Write to guest memory."""
        self.post(f"write {at:#x} {len(data):#x} 0x{data.hex()}")

    def read(self, at: int, size: int) -> bytes:
        """Read guest memory."""
        return bytes.fromhex(self.command(f"read {at:#x} {size:#x}")[2:])

    # ---- the drive's trace ----

    def trace(self, event: str) -> list[dict[str, str]]:
        """Return the events of one name, with their words in pairs."""
        found = []
        text = self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""
        for line in text.splitlines():
            match = re.search(rf"nand_ssd_{event} (\S+) (.*)", line)
            if match:
                words = match[2].split()
                if event == "submit":
                    words.insert(2, "op")
                found.append(dict(zip(words[::2], words[1::2])))
        return found

    def output(self) -> str:
        """Return QEMU's output."""
        return (self.folder / "out").read_text(encoding="utf-8", errors="replace")

    # ---- ending QEMU ----

    def wait(self) -> int:
        """Wait for the process; return its exit status."""
        return self.process.wait(PATIENCE)

    def quit(self) -> int:
        """Tell QEMU to quit; return its exit status."""
        self.qmp("quit")
        return self.wait()

    def kill(self) -> None:
        """Send SIGKILL to QEMU itself."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        os.kill(int(children.read_text(encoding="ascii")), signal.SIGKILL)
        self.process.wait(PATIENCE)

    def close(self) -> None:
        """End the process in any state."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.qmp_line.close()
        if self.qtest:
            self.qtest.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class MachineTest(unittest.TestCase):
    """Tests with machines. It closes them, and prints QEMU's last output if it failed."""

    def machine(self, blockdevs: list[Json], *args: str, **options: Any) -> Machine:
        """Start a machine."""
        machine = Machine(blockdevs, *args, **options)
        self.addCleanup(machine.close)
        return machine

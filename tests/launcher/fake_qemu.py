#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Stand in for QEMU: speak QMP, print a guest's console, send results.

FAKE says what goes wrong: refuse, no-boot, die, panic, no-root, hang, garbage, failed-job, no-memory, spam,
no-drive, die-late (after power-off), mute (no statistics), full (no room for recordings), silent (no QMP); while a
snapshot is made: snap-die, snap-panic, snap-fail.
"""

import base64
import io
import json
import os
import socket
import sys
import tarfile
import time
from pathlib import Path
from typing import IO, Any

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import account, device, fio, mark, op

PANICS = {"panic": "fake", "no-root": "VFS: Unable to mount root fs on unknown-block(0,0)"}


def chardev(name: str) -> dict[str, str]:
    for option, value in zip(sys.argv, sys.argv[1:]):
        if option == "-chardev" and f"id={name}" in value:
            return dict(pair.split("=", 1) for pair in value.split(",") if "=" in pair)
    return {}


class Qmp:
    """Holds the monitor's end of a QMP connection."""

    def __init__(self, fd: int) -> None:
        self.socket = socket.socket(fileno=fd)
        self.pending = ""
        self.arguments: dict[str, dict[str, str]] = {}  # of each command that was answered

    def send(self, **message: object) -> None:
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def read(self) -> dict[str, Any]:
        """Read a message. The end of a message follows only from its own syntax."""
        while True:
            try:
                message: dict[str, Any]
                message, end = json.JSONDecoder().raw_decode(self.pending)
                self.pending = self.pending[end:].lstrip()
                return message
            except ValueError:
                data = self.socket.recv(65536)
                if not data:
                    sys.exit(0)
                self.pending += data.decode()

    def serve(self, until: str, answer: object = None) -> None:
        """Answer until a command."""
        while True:
            message = self.read()
            name = message["execute"]
            self.arguments[name] = message.get("arguments", {})
            reply = {"return": answer if name == until and answer is not None else {}}
            if "id" in message:
                reply["id"] = message["id"]
            self.send(**reply)
            if name == until:
                return

    def event(self, name: str, **data: object) -> None:
        self.send(event=name, data=data, timestamp={"seconds": 0, "microseconds": 0})


def results(status: int) -> bytes:
    packed = io.BytesIO()
    job = fio("job-a", "read", 4, 97000.0)
    files = {
        "fio.json": json.dumps({"jobs": [job]}).encode(),
        "fio.log": b"fio: verify failed\n" if status else b"",
    }
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return b"SLATE-BEGIN\n" + base64.encodebytes(packed.getvalue()) + f"SLATE-END rc={status}\n".encode()


def refuse(drive: str) -> None:
    sys.exit(f"qemu-system-x86_64: -blockdev {drive}: small.ini: nand.page_bytes=3: must be 512 to 65536: fix it")


def option(name: str) -> dict[str, str]:
    """Return the pairs of an option's first value."""
    found = next((value for word, value in zip(sys.argv, sys.argv[1:]) if word == name), "")
    return dict(pair.split("=", 1) for pair in found.split(",") if "=" in pair)


def make_snapshot(fake: str, qmp: Qmp, console: IO[bytes]) -> None:
    """Boot up to the moment when the guest would get its job: two parts of its memory are not zero."""
    with open(option("-object")["mem-path"], "wb") as memory:
        memory.write(b"low memory")
        memory.seek(300 << 20)
        memory.write(b"high memory")
        memory.truncate(1 << 30)
    console.write(b"booted\r\n")
    if fake == "snap-die":
        sys.exit(1)
    qmp.event("STOP")
    qmp.serve("query-status", {"status": "guest-panicked" if fake == "snap-panic" else "paused"})
    if fake == "snap-panic":
        time.sleep(60)
    qmp.serve("migrate")
    Path(qmp.arguments["migrate"]["uri"].removeprefix("file:")).write_bytes(b"state")
    qmp.serve("query-migrate", {"status": "failed" if fake == "snap-fail" else "completed"})
    qmp.serve("quit")


def check_snapshot(uri: str) -> None:
    """End unless the snapshot has what make_snapshot() wrote."""
    with open(option("-object")["mem-path"], "rb") as memory:
        low = memory.read(10)
        memory.seek(300 << 20)
        high = memory.read(11)
    state = Path(uri.removeprefix("file:")).read_bytes()
    if (low, high, state) != (b"low memory", b"high memory", b"state"):
        sys.exit(f"not the snapshot: {low!r} {high!r} {state!r}")


def greet(qmp: Qmp) -> None:
    """Introduce the monitor, as QEMU does, and wait for the start of the machine."""
    version = {"qemu": {"major": 10, "minor": 0, "micro": 99}, "package": "(fake)"}
    qmp.send(QMP={"version": version, "capabilities": []})
    qmp.serve("cont")


def boot(fake: str, qmp: Qmp, console: IO[bytes]) -> None:
    """Boot, or fail in the way that FAKE names."""
    if fake == "no-boot":
        time.sleep(60)
    if fake == "no-drive":
        console.write(b"init: no /dev/nvme0n1 after 10 s\r\n")
    console.write(b"SLATE-PHASE boot-done 1.25\r\n")
    if fake == "die":
        print("qemu-system-x86_64: the sky fell", file=sys.stderr)
        os.abort()
    if fake in PANICS:
        console.write(f"Kernel panic - not syncing: {PANICS[fake]}\r\n".encode())
        qmp.event("SHUTDOWN", guest=True, reason="guest-reset")
        time.sleep(60)
    while fake in ("hang", "spam"):
        if fake == "spam":
            console.write(b"tick\r\n")
        time.sleep(0.1)


def work(fake: str, console: IO[bytes]) -> None:
    """Run the job and send its results."""
    time.sleep(float(os.environ.get("FAKE_SECONDS", "0.1")))
    status = {"failed-job": 3, "no-memory": 137}.get(fake, 0)
    if fake == "no-memory":
        console.write(b"[    0.727777] Out of memory: Killed process 134 (fio) total-vm:993884kB\r\n")
    console.write(f"SLATE-PHASE job-start 1.26\r\nSLATE-PHASE job-end rc={status} 2.5\r\n".encode())
    with open(chardev("res")["path"], "wb") as out:
        out.write(b"SLATE-BEGIN\nx" if fake == "garbage" else results(status))
    console.write(b"SLATE-PHASE output-sent 2.6\r\n")


def statistics(drives: int) -> list[dict[str, object]]:
    """Return the reply to query-blockstats. Each drive has done one read more than the previous one, in
    twice its time.
    """
    told: list[dict[str, object]] = [{"node-name": "other"}]
    for number in range(drives):
        read = op([65536 << number] * (4 + number), cell=200000, bus=60000, map=2144)
        interval = account(read=read)
        stats = device(interval, [mark("begin", "job-a", 1000), mark("end", "job-a", 2000, interval)])
        told.append({"node-name": f"ssd{number}", "driver-specific": stats})
    return told


def end_recordings(fake: str, recordings: list[Path]) -> None:
    """Give the recordings their names, or remove them from a full disk."""
    for part in recordings:
        if fake == "full":
            print(f"slate: recording {str(part)[:-5]}: No space left on device: there is none", file=sys.stderr)
            part.unlink()
        else:
            part.rename(str(part)[:-5])


def main() -> None:
    fake = os.environ.get("FAKE", "")
    drives = [value for option, value in zip(sys.argv, sys.argv[1:]) if option == "-blockdev"]
    if fake == "refuse":
        refuse(drives[0])
    pairs = [pair for drive in drives for pair in drive.split(",")]
    recordings = [Path(pair.partition("=")[2] + ".part") for pair in pairs if pair.startswith("record")]
    for part in recordings:
        part.write_bytes(b"x")
    qmp = Qmp(int(chardev("qmp")["fd"]))
    append = chardev("con").get("append") == "on"
    console = open(chardev("con")["path"], "ab" if append else "wb", buffering=0)  # noqa: SIM115 (to the end)
    if fake == "silent":
        console.write(b"silent\r\n")
        time.sleep(60)
    greet(qmp)
    if "guest-handoff,stop=on" in sys.argv:
        make_snapshot(fake, qmp, console)
        return
    if "-incoming" in sys.argv:
        check_snapshot(qmp.arguments["migrate-incoming"]["uri"])
    elif any(word.startswith("guest-handoff,") for word in sys.argv):
        console.write(b"booted\r\n")
    boot(fake, qmp, console)
    work(fake, console)
    qmp.event("SHUTDOWN", guest=True, reason="guest-shutdown")
    if fake == "die-late":
        os.abort()
    if fake == "mute":
        time.sleep(60)
    for _ in drives:
        qmp.serve("query-blockstats", statistics(len(drives)))
    qmp.serve("quit")
    end_recordings(fake, recordings)


if __name__ == "__main__":
    main()

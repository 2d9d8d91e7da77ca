# SPDX-License-Identifier: GPL-2.0-or-later
"""Keeps snapshots of guests that have booted, so that a run need not boot one.

A guest that gets its job after the boot (guest-handoff) is the same up to this moment in all runs with one kernel,
machine and number of controllers. A snapshot of it is made once, in ~/.cache/slate/snapshots/KEY, where KEY is a hash
of all that its content depends on. It is a cache: results are the same with and without it, byte for byte.

    ram        the guest's memory, a sparse file that each run maps for itself
    state      everything else of the machine, as QEMU saves it
    console    what the guest has written so far
    facts.json sizes and checksums of these; when it changed last is when the snapshot was last used
    lock       is locked while the snapshot is made, or until a run has opened its files

A snapshot appears under its name when it is whole. If two runs make one, the first to end has made it.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import command, facts, paths, process, qmp, shape, sparse
from .errors import MachineError, SlateError
from .options import RunOptions
from .shape import Json

FORMAT = 1
KEPT = 12  # snapshots, of 130 to 340 MB each; those not used for the longest time go
NEEDED_BYTES = 1 << 30  # free before one is made: the guest's memory is written twice
CHUNK = 64 << 10  # bytes of memory; a chunk of zeroes is a hole in the file
FACTS = "facts.json"
_SHAPE = {"format": int, "mem_bytes": int, "ram": [[int]], "ram_crc": int, "state_crc": int, "console_crc": int}
Say = Callable[[str], None]


class _Damaged(Exception):
    """Says what is wrong with a snapshot."""


@dataclass
class Snapshot:
    """Holds a snapshot that was checked, and keeps it from being removed until it is closed."""

    folder: Path
    lock: int

    @property
    def ram(self) -> Path:
        """Return the path of the guest's memory."""
        return self.folder / "ram"

    @property
    def state(self) -> Path:
        """Return the path of the machine's state."""
        return self.folder / "state"

    @property
    def console(self) -> bytes:
        """Return what the guest wrote before the snapshot."""
        return (self.folder / "console").read_bytes()

    def close(self) -> None:
        """Let the snapshot be removed, once QEMU has opened its files."""
        os.close(self.lock)


def home() -> Path:
    """Return the folder of all snapshots."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "slate" / "snapshots"


def key(options: RunOptions) -> str:
    """Return a hash of all that the content of a snapshot depends on."""
    names = {
        str(paths.QEMU): facts.sha256(paths.QEMU),
        str(command.kernel_file(options).resolve()): facts.sha256(command.kernel_file(options)),
        str(paths.firmware()): "firmware",
        **{str(image.path): facts.sha256(image.path) for image in command.images(options)},
    }
    files_of = command.Files(Path("initrd"), Path("console"), Path("results"), ram=Path("ram"))
    line = command.build_snapshot(options, files_of)
    for path, name in names.items():
        line = [word.replace(path.replace(",", ",,"), name).replace(path, name) for word in line]
    files = [*paths.archives(options.kernel), *sorted(paths.firmware().iterdir())]
    sums = {path.name: facts.sha256(path) for path in files}
    sums |= {name: hashlib.sha256(data).hexdigest() for name, _, data in command.handoff_entries()}
    inputs = {"format": FORMAT, "line": line, "files": sums}
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()[:16]


async def get(options: RunOptions, work: Path, say: Say) -> Snapshot | None:
    """Return the snapshot for a run, made if there is none; None: the run has to boot.

    work: a folder for the guest's initramfs, which is removed again. What cannot be done is said in a line.
    """
    try:
        folder = home() / key(options)
        if found := _open(folder, say):
            return found
        return await _make(options, folder, work, say)
    except OSError as error:
        say(f"not kept: {(error.strerror or str(error)).lower()}")
    except SlateError as error:
        say(f"not made: {str(error).splitlines()[0]}")
    return None


# ---- using one


def _open(folder: Path, say: Say) -> Snapshot | None:
    """Return a stored snapshot. One that is damaged is removed and named."""
    try:
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        _check(folder)
        os.utime(folder / FACTS)
        return Snapshot(folder, lock)
    except BlockingIOError:  # it is being removed
        pass
    except (_Damaged, OSError, ValueError) as error:
        say(f"{folder.name} is made anew: {error}")
        os.close(lock)
        _remove(folder)
        return None
    os.close(lock)
    return None


def _check(folder: Path) -> None:
    """Raise _Damaged unless a snapshot is as it was made."""
    told = _facts(folder)
    for name in ("state", "console"):
        if zlib.crc32((folder / name).read_bytes()) != told[f"{name}_crc"]:
            raise _Damaged(f"its {name} is damaged")
    with open(folder / "ram", "rb") as file:
        if os.fstat(file.fileno()).st_size != told["mem_bytes"]:
            raise _Damaged("its memory has another size")
        if _crc(file.fileno(), told["ram"]) != told["ram_crc"] or not _has_holes(file.fileno(), told):
            raise _Damaged("its memory is damaged")


def _facts(folder: Path) -> Json:
    found: Json = shape.read(folder / FACTS)
    shape.check(found, _SHAPE)
    if found["format"] != FORMAT:
        raise _Damaged(f"it has format {found['format']} instead of {FORMAT}")
    return found


def _crc(file: int, spans: list[list[int]]) -> int:
    """Return the checksum of parts of a file, each [start, length]."""
    found = 0
    for start, length in spans:
        found = zlib.crc32(os.pread(file, length, start), found)
    return found


def _has_holes(file: int, told: Json) -> bool:
    """Is all of the memory zero that is not in a part with data?"""
    at = 0
    for start, length in [*told["ram"], [told["mem_bytes"], 0]]:
        for begin, end in sparse.stored(file, at, start):
            for chunk in range(begin, end, CHUNK):
                data = os.pread(file, min(CHUNK, end - chunk), chunk)
                if data.count(0) != len(data):
                    return False
        at = start + length
    return True


# ---- making one


async def _make(options: RunOptions, folder: Path, work: Path, say: Say) -> Snapshot | None:
    """Boot a guest up to the moment when it would get its job, and keep it."""
    home().mkdir(parents=True, exist_ok=True)
    _tidy(KEPT - 1)
    if shutil.disk_usage(home()).free < NEEDED_BYTES + options.mem // 4:
        say(f"not kept: {paths.short(home())} has too little room")
        return None
    new = Path(tempfile.mkdtemp(prefix=f"{folder.name}.new-", dir=home()))
    lock = os.open(new / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        await _boot(options, new, work)
        _pack(new, options.mem)
        try:
            os.rename(new, folder)
        except OSError:  # another run was faster
            os.close(lock)
            return _open(folder, say)
        fcntl.flock(lock, fcntl.LOCK_SH)
        return Snapshot(folder, lock)
    except BaseException:
        os.close(lock)
        raise
    finally:
        shutil.rmtree(new, ignore_errors=True)


async def _boot(options: RunOptions, new: Path, work: Path) -> None:
    monitor = qmp.Monitor()
    files = command.Files(
        work / ".initrd", new / "console", Path(os.devnull), monitor.theirs.fileno(), ram=new / "memory"
    )
    command.write_initrd(options, files.initrd)
    qemu = None
    try:
        qemu = process.Qemu(
            [*command.build_snapshot(options, files), "-S"], new / "log", (files.qmp_fd,), foreground=False
        )
        await asyncio.wait_for(_save(monitor, qemu, new / "state"), options.timeout)
        qemu.wait(10)
    except TimeoutError:
        raise MachineError(f"the guest did not boot within {options.timeout:g} s") from None
    except Exception as error:
        if qemu and qmp.is_session_error(error):
            qemu.wait(2)
            raise MachineError(f"QEMU ended: {' '.join(qemu.said()[-1:]) or error}") from None
        raise
    finally:
        if qemu:
            qemu.kill()
        await monitor.close()
        files.initrd.unlink(missing_ok=True)
        (new / "log").unlink(missing_ok=True)


async def _save(monitor: qmp.Monitor, qemu: process.Qemu, state: Path) -> None:
    await monitor.start()
    stop = asyncio.ensure_future(monitor.stopped())
    try:
        while not (await asyncio.wait((stop,), timeout=0.1))[0]:
            if not qemu.running():
                raise ConnectionResetError("QEMU is gone")
        if stop.result() != "paused":
            raise MachineError("the guest ended before it was given a job")
    finally:
        stop.cancel()
    await monitor.save(state)
    await monitor.quit()


def _pack(new: Path, size: int) -> None:
    """Make the sparse file of the guest's memory, and the facts."""
    spans: list[list[int]] = []
    with open(new / "memory", "rb") as source, open(new / "ram", "wb") as out:
        for begin, end in sparse.stored(source.fileno(), 0, size):
            for start in range(begin - begin % CHUNK, end, CHUNK):
                if spans and start < sum(spans[-1]):
                    continue
                data = os.pread(source.fileno(), CHUNK, start)
                if data.count(0) == len(data):
                    continue
                os.pwrite(out.fileno(), data, start)
                if spans and sum(spans[-1]) == start:
                    spans[-1][1] += len(data)
                else:
                    spans.append([start, len(data)])
        out.truncate(size)
    (new / "memory").unlink()
    with open(new / "ram", "rb") as file:
        told: Json = {"format": FORMAT, "mem_bytes": size, "ram": spans, "ram_crc": _crc(file.fileno(), spans)}
    for name in ("state", "console"):
        told[f"{name}_crc"] = zlib.crc32((new / name).read_bytes())
    (new / FACTS).write_text(json.dumps(told) + "\n", encoding="utf-8")


# ---- removing


def _tidy(kept: int) -> None:
    """Remove what runs that were killed have left, and all snapshots but those used last."""
    folders = [path for path in home().iterdir() if path.is_dir()]
    whole = [path for path in folders if ".new-" not in path.name]
    old = sorted(whole, key=_last_use, reverse=True)[kept:]
    for path in [*old, *(path for path in folders if path not in whole)]:
        with contextlib.suppress(OSError):
            _remove(path)


def _last_use(folder: Path) -> float:
    try:
        return (folder / FACTS).stat().st_mtime
    except OSError:
        return 0.0


def _remove(folder: Path) -> None:
    """Remove a snapshot unless a run is making it or about to open it."""
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    except BlockingIOError:
        pass
    finally:
        os.close(lock)

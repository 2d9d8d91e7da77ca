# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes out/<run>/, the directory of a run. It is complete when the run ends, or removed, also after Ctrl-C."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

from . import paths, units
from .errors import MachineError, SlateError

NEEDED_BYTES = 64 << 20  # free before the boot, for the initramfs with the job, the console and the results
LOW_BYTES = 1 << 20  # the same while the guest runs
WORK_FILES = (".initrd", ".results", ".qemu.log", ".drive", ".job")


class RunDir:
    """Makes and completes the directory of one run."""

    def __init__(self, wanted: Path | None, name: str):
        self.default = wanted is None
        self.created = False
        self.path = self._create_numbered(name) if wanted is None else self._create(wanted)
        try:
            self._check_space(NEEDED_BYTES)
        except SlateError:
            self.discard()
            raise

    @property
    def initrd(self) -> Path:
        """Return the path of the guest's initramfs with the job in front; a work file."""
        return self.path / WORK_FILES[0]

    @property
    def results(self) -> Path:
        """Return the path of what the guest sends; a work file."""
        return self.path / WORK_FILES[1]

    @property
    def qemu_log(self) -> Path:
        """Return the path of QEMU's stderr; a work file."""
        return self.path / WORK_FILES[2]

    @property
    def drive(self) -> Path:
        """Return the path of the drive between two boots; a work file."""
        return self.path / WORK_FILES[3]

    @property
    def job(self) -> Path:
        """Return the path of the job's archive; a work file."""
        return self.path / WORK_FILES[4]

    def drive_of(self, number: int) -> Path:
        """Return the path of the file of one of several drives."""
        return self.drive.with_name(f"{self.drive.name}-{number}") if number else self.drive

    @property
    def console(self) -> Path:
        """Return the path of the guest's console."""
        return self.path / "console.log"

    def _create_numbered(self, name: str) -> Path:
        for number in range(1, 100000):
            path = paths.OUT / f"{name}-{number:03d}"
            try:
                path.mkdir(parents=True)
            except FileExistsError:
                continue
            except OSError as error:
                raise _unwritable(path, error) from None
            self.created = True
            return path
        raise SlateError(f"{paths.OUT} is full of runs named {name}", "remove old ones")

    def _create(self, path: Path) -> Path:
        try:
            if not path.exists():
                path.mkdir(parents=True)
                self.created = True
            elif not path.is_dir():
                raise SlateError(f"--out {path}: not a directory", "name another")
            elif any(path.iterdir()):
                raise SlateError(
                    f"--out {path}: there is something in it already", "name a new directory, or empty it"
                )
        except OSError as error:
            raise _unwritable(path, error) from None
        if not os.access(path, os.W_OK | os.X_OK):
            raise _unwritable(path, PermissionError(errno.EACCES, "permission denied"))
        return path

    def _check_space(self, needed: int) -> None:
        free = self.free()
        if free < needed:
            raise SlateError(
                f"{self.path}: no room: {units.size(free)} free, {units.size(needed)} needed",
                "free some space, or name a directory elsewhere with --out",
            )

    def free(self) -> int:
        """Return the bytes that can still be written here."""
        room = os.statvfs(self.path)
        return room.f_bavail * room.f_frsize

    def check_room(self) -> None:
        """Stop a run while there is still room for its results."""
        free = self.free()
        if free < LOW_BYTES:
            raise MachineError(
                f"the disk of {self.path} filled up during the run: {units.size(free)} are left",
                "free some space and run again, or name a directory elsewhere with --out",
            )

    def write(self, name: str, data: bytes | str) -> Path:
        """Write a file completely or not at all."""
        path = self.path / name
        temporary = path.with_name(f".{path.name}.tmp")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(data.encode() if isinstance(data, str) else data)
            os.replace(temporary, path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise MachineError(
                f"can not write {path}: {error.strerror}",
                "free some space, or name a directory elsewhere with --out",
            ) from None
        return path

    def finish(self, keep: bool) -> None:
        """The run is complete: let out/latest point to it."""
        if not keep:
            self.clean()
        if self.default:
            link = paths.OUT / f".latest.{os.getpid()}"
            try:
                link.unlink(missing_ok=True)
                link.symlink_to(self.path.name)
                os.replace(link, paths.OUT / "latest")
            except OSError:
                pass  # the link is not essential

    def clean(self) -> None:
        """Remove the work files."""
        for name in WORK_FILES:
            (self.path / name).unlink(missing_ok=True)
        for path in self.path.glob(f"{WORK_FILES[3]}-*"):
            path.unlink(missing_ok=True)

    def discard(self) -> None:
        """Remove the directory."""
        if self.created:
            shutil.rmtree(self.path, ignore_errors=True)
        else:
            self.clean()
            self.console.unlink(missing_ok=True)


def _unwritable(path: Path, error: OSError) -> SlateError:
    fix = "free some space" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "check its owner and permissions"
    return SlateError(
        f"can not create {path}: {(error.strerror or str(error)).lower()}",
        f"{fix}, or name a directory elsewhere with --out",
    )

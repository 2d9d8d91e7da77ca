# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the files of --record and --record-content, which QEMU renames when they are complete."""

from __future__ import annotations

from pathlib import Path

from .errors import MachineError
from .options import RunOptions


class Recordings:
    """Checks the recordings of one run. QEMU writes FILE.part and renames it when it closes the drive."""

    def __init__(self, options: RunOptions):
        named = ((drive.record, drive.record_content) for drive in options.drives)
        self.files = [
            (option, path) for pair in named for option, path in zip(("--record", "--record-content"), pair) if path
        ]
        self.before = [_identity(path) for _, path in self.files]

    def check(self, said: list[str]) -> None:
        """Check, after QEMU has ended, that there is a new file. said: QEMU's output."""
        for (option, path), was in zip(self.files, self.before):
            if _identity(path) == was:
                why = next((line for line in said if str(path.resolve()) in line), "QEMU does not say why")
                raise MachineError(
                    f"{option} {path}: the recording was not written: {why}",
                    "free some space, or name a file elsewhere",
                )

    def drop_unfinished(self) -> None:
        """Remove incomplete recordings of a run that failed."""
        for _, path in self.files:
            path.with_name(path.name + ".part").unlink(missing_ok=True)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
        return found.st_ino, found.st_mtime_ns
    except OSError:
        return None

# SPDX-License-Identifier: GPL-2.0-or-later
"""Has the errors for users, and exit codes for scripts."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

OK = 0
JOB_FAILED = 1  # the guest's job ended with an error
USAGE = 2  # bad input: nothing was started, or QEMU refused it
MACHINE_FAILED = 3  # QEMU or the guest failed
INTERRUPTED = 130

# Escape sequences (ECMA-48) and control characters are removed: printed, those of a guest could clear the terminal.
_CONTROL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[ -/]*[0-~])|[\x00-\x08\x0a-\x1f\x7f-\x9f]")


def quoted(lines: Iterable[str], width: int = 160) -> str:
    """Return another program's lines for a message, without control characters, each on a line of its own."""
    return "".join("\n  | " + _CONTROL.sub("", line).expandtabs()[:width] for line in lines)


def plain(text: str) -> str:
    """Return another program's text without control characters, but with its lines."""
    return "\n".join(_CONTROL.sub("", line) for line in text.split("\n"))


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name a file in the errors of writing it: the system's have no name, for instance on a full disk."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


class SlateError(Exception):
    """Carries an error with its remedy and its exit code. The message names the faulty thing."""

    def __init__(self, message: str, fix: str = "", code: int = USAGE):
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.code = code

    def __str__(self) -> str:
        return f"{self.message}\n  fix: {self.fix}" if self.fix else self.message


class MachineError(SlateError):
    """Means that QEMU or the guest failed."""

    def __init__(self, message: str, fix: str = ""):
        super().__init__(message, fix, MACHINE_FAILED)

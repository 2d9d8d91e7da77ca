# SPDX-License-Identifier: GPL-2.0-or-later
"""'slate run --content NAME' runs a workload with realistic content."""

from __future__ import annotations

import argparse

from . import paths
from .errors import SlateError

_SHARED = "workload.py"
PROFILE = paths.PROFILES / "small.ini"


def names() -> list[str]:
    """Return the names of the content workloads."""
    return sorted(path.stem for path in paths.CONTENT.glob("*.py") if path.name != _SHARED)


def prepare(args: argparse.Namespace) -> None:
    """Set the other options that --content NAME implies, unless the user has set them."""
    if args.content is None:
        return
    if args.content not in names():
        raise SlateError(f"--content {args.content}: unknown name", f"use one of: {', '.join(names())}")
    for option, given in (
        ("--job", args.job),
        ("--cmd", args.cmd),
        ("--cmd-arg", args.cmd_arg),
        ("--app", args.app),
    ):
        if given:
            raise SlateError(f"--content and {option} exclude each other", "give one of them")
    args.cmd, args.cmd_arg, args.apps = str(paths.CONTENT / "run.sh"), [args.content], True
    args.mem = args.mem or "2G"
    if not args.drive:
        args.profile = args.profile or str(PROFILE)
    if args.fill is None and args.precondition is None and not args.drive:
        args.fill = "0"  # its file system is new, and so is the drive


def files(name: str) -> list[tuple[str, bytes]]:
    """Return the files needed by run.sh.

    The guest sees only those of its own workload, so that recordings depend on no other file.
    """
    return [(file, (paths.CONTENT / file).read_bytes()) for file in (f"{name}.py", _SHARED)]

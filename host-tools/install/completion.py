#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""completion.py bash|zsh - completion of 'slate', from its own parser, on standard output.
It runs in build/venv-install, where shtab is; the other programs' is in tools.bash."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import shtab

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from manual import commands
from slate_lib import cli, paths

FILES = ("FILE", "SCRIPT", "PROFILE", "SOCKET", "TRACE", "RUN")
FOLDERS = ("DIR",)


def mark(parser: argparse.ArgumentParser) -> None:
    """Say of a command's arguments which are files."""
    for action in parser._actions:  # argparse has no public way
        if action.metavar in FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar in FOLDERS:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif action.dest == "kernel":
            action.choices = tuple(paths.KERNELS)  # a file's name is typed


def main() -> int:
    """Print it."""
    top = cli.parser()
    for _, _, parser in commands(top):
        mark(parser)
    print(shtab.complete(top, shell=sys.argv[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main())

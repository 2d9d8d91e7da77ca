#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""completion.py bash|zsh - completion of 'slate', from its own table, on standard output.
It runs in build/venv-install, where shtab is; the other programs' is in tools.bash."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import shtab

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from slate_lib import cli, paths
from slate_lib.commands import Option

# bash and zsh: a key is followed by its value without a space.
SET_BASH = """
_slate_set_compgen() {
  compgen -W "%s" -- "$1"
}
"""
AFTER_BASH = """
_slate_words() {
  _shtab_slate "$@"
  [[ ${COMPREPLY-} == *= ]] && compopt -o nospace 2> /dev/null
}
complete -o bashdefault -F _slate_words slate
"""
SET_ZSH = """
_slate_set() {
  compadd -S '' -- %s
}
"""
FILES = ("FILE", "SCRIPT", "PROFILE", "SOCKET", "TRACE", "RUN")
FOLDERS = ("DIR",)


def mark(action: argparse.Action, option: Option) -> None:
    """Declare what the value of an option is: a file's name, a folder's, a key of a profile, or a word."""
    if option.value in FILES:
        action.complete = shtab.FILE  # type: ignore[attr-defined]
    elif option.value in FOLDERS:
        action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    elif option.name == "--set":
        action.complete = {"bash": "_slate_set_compgen", "zsh": "_slate_set"}  # type: ignore[attr-defined]
    elif option.name == "--kernel":
        action.choices = tuple(paths.KERNELS)  # a file's name is typed


def keys() -> str:
    """Return every profile key in the form that --set accepts."""
    done = subprocess.run([paths.program("slate-profile"), "--keys"], capture_output=True, text=True, check=True)
    return " ".join(f"{row.partition(chr(9))[0]}=" for row in done.stdout.splitlines())


def main() -> int:
    """Print the completion script."""
    shell = sys.argv[1]
    print(shtab.complete(cli.parser(mark), shell=shell, preamble={"bash": SET_BASH % keys(), "zsh": SET_ZSH % keys()}))
    if shell == "bash":
        print(AFTER_BASH)
    return 0


if __name__ == "__main__":
    sys.exit(main())

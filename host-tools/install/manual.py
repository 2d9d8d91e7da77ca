#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""manual.py - prints slate.1: slate.1.in with all commands and options in place of .SLATE-COMMANDS. They are
read from the launcher's table, so that manual and launcher cannot differ."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from slate_lib import cli
from slate_lib.commands import Command, Option


def escape(text: str) -> str:
    """Escape text for roff, so that no word of it is a command."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.splitlines())


def entry(option: Option) -> list[str]:
    """Format an option or an argument."""
    names = ", ".join(f"\\fB{escape(name)}\\fR" for name in option.names)
    value = f"\\fI{escape(option.shown)}\\fR"
    shown = value if not option.name.startswith("-") else f"{names} {value}" if option.shown else names
    return [".TP", shown, escape(option.help)]


def roff(commands: Iterable[Command]) -> Iterator[str]:
    """Yield the lines of the manual page for all commands."""
    for words, command in (one for top in commands for one in top.all()):
        yield f'.SS "slate {words}"'
        yield escape(command.help[:1].upper() + command.help[1:] + ".")
        for title, options in (("", command.options), *command.groups):
            if title:
                yield from (".PP", f".I {escape(title)}")
            for option in options:
                yield from entry(option)


def main() -> int:
    """Print the manual page."""
    page = (HERE / "slate.1.in").read_text(encoding="utf-8")
    examples = "\n".join(["", ".nf", escape(cli.EXAMPLES.partition("\n")[2].rstrip()), ".fi"])
    page = page.replace(".SLATE-COMMANDS", "\n".join(roff(cli.COMMANDS))).replace(".SLATE-EXAMPLES", examples.strip())
    sys.stdout.write(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())

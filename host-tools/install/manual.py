#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""manual.py - prints slate.1: slate.1.in with all commands and options in place of .SLATE-COMMANDS. They are
read from the launcher's parser, so that manual and launcher cannot differ."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from slate_lib import cli


def escape(text: str) -> str:
    """Escape text for roff, so that no word of it is a command."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.splitlines())


def commands(parser: argparse.ArgumentParser, words: str = "") -> Iterator[tuple[str, str, argparse.ArgumentParser]]:
    """Return (words, help, parser) of every command, in order."""
    for action in parser._actions:  # argparse has no public way
        if not isinstance(action, argparse._SubParsersAction):
            continue
        told = {choice.dest: choice.help or "" for choice in action._choices_actions}
        for name, sub in action.choices.items():
            yield f"{words} {name}".strip(), told.get(name, ""), sub
            yield from commands(sub, f"{words} {name}".strip())


def value_of(action: argparse.Action) -> str:
    """Return the text for the value of an option or for an argument."""
    if action.nargs == 0:
        return ""
    if action.choices and not action.metavar:
        return "|".join(map(str, action.choices))
    return str(action.metavar or action.dest.upper())


def entry(action: argparse.Action) -> list[str]:
    """Format an option or argument."""
    value = value_of(action)
    names = ", ".join(f"\\fB{escape(name)}\\fR" for name in action.option_strings)
    shown = f"{names} \\fI{escape(value)}\\fR" if names and value else names or f"\\fI{escape(value)}\\fR"
    said = (action.help or "").replace("%%", "%")
    return [".TP", shown, escape(said) or "\\&"]


def roff(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Return the manual page of all commands."""
    for words, told, sub in commands(parser):
        yield f'.SS "slate {words}"'
        yield escape(told[:1].upper() + told[1:] + ".")
        for group in sub._action_groups:
            shown = [
                action
                for action in group._group_actions
                if not isinstance(action, (argparse._HelpAction, argparse._SubParsersAction))
            ]
            if shown and group.title not in ("options", "optional arguments", "positional arguments"):
                yield from (".PP", f".I {escape(group.title or '')}")
            for action in shown:
                yield from entry(action)


def main() -> int:
    """Print the manual page."""
    page = (HERE / "slate.1.in").read_text(encoding="utf-8")
    examples = "\n".join(["", ".nf", escape(cli.EXAMPLES.partition("\n")[2].rstrip()), ".fi"])
    page = page.replace(".SLATE-COMMANDS", "\n".join(roff(cli.parser()))).replace(".SLATE-EXAMPLES", examples.strip())
    sys.stdout.write(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())

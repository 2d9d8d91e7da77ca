# SPDX-License-Identifier: GPL-2.0-or-later
"""Parse blocks of commands in the documentation.

A fence ```console has commands, after '$ ' (host) or '# ' (guest, as root), and what they
print on standard output. '> ' and a backslash at a line's end go on with a command. '...' stands for
any lines, or for anything in a line. A comment before the fence may say more:

    <!-- test: numbers -->       figures may differ, and the blanks around them
    <!-- test: exit N -->        the last command ends with N; its messages are compared, too
    <!-- test: no: REASON -->    not run: 'make' by -n, 'slate' by its parser, others by bash -n
    <!-- test: file NAME -->     no commands: the block is this file, for the commands below
    <!-- test: part FILE WORD -->  the block is in FILE between '/* [WORD] */' and '/* [end] */', or, without
                                 WORD, is a run of its lines

Nothing else may look like a command: other fences have a language that says what they hold.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

QUIET = ("text", "c", "ini", "toml", "json", "diff")  # fences without commands
_FENCE = re.compile(r"^(?:```|~~~)\s*(\S*)\s*$")
_DIRECTIVE = re.compile(r"^<!-- test: (.*?) -->$")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


@dataclass
class Command:
    """Holds a command and its expected output."""

    line: int
    text: str
    guest: bool
    expected: list[str] = field(default_factory=list)


@dataclass
class Block:
    """A code block."""

    line: int
    language: str
    directive: str
    body: list[str]

    def commands(self) -> list[Command]:
        """Return the commands to run."""
        found: list[Command] = []
        goes_on = False
        for number, line in enumerate(self.body, self.line + 1):
            if goes_on or (found and line.startswith("> ") and not found[-1].expected):
                found[-1].text += "\n" + (line if goes_on else line[2:])
            elif line.startswith(("$ ", "# ")):
                found.append(Command(number, line[2:], line[0] == "#"))
            elif found:
                found[-1].expected.append(line)
            else:
                raise ValueError(f"line {number}: a console block begins with '$ ' or '# '")
            goes_on = not found[-1].expected and line.endswith("\\")
        return found


def parse(path: Path) -> list[Block]:
    """Return all code blocks of a document."""
    found: list[Block] = []
    directive, block = "", None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fence = _FENCE.match(line)
        if block is not None:
            if fence and not fence[1]:
                found.append(block)
                block, directive = None, ""
            else:
                block.body.append(line)
        elif fence:
            block = Block(number, fence[1], directive, [])
        elif match := _DIRECTIVE.match(line):
            directive = match[1]
        elif line.strip():
            directive = ""
    if block is not None:
        raise ValueError(f"{path}:{block.line}: a fence without an end")
    return found


def pattern(line: str, numbers: bool) -> str:
    """Return the pattern of a line with '...' and, if requested, any numbers."""
    parts = []
    for part in line.rstrip().split("..."):
        if numbers:
            pieces = [re.sub(r"(?:\\?\s)+", lambda _: r"\s+", re.escape(piece)) for piece in _NUMBER.split(part)]
            parts.append(r"\d[\d,]*(?:\.\d+)?".join(pieces))
        else:
            parts.append(re.escape(part))
    return ".*".join(parts)


def matches(expected: list[str], printed: list[str], numbers: bool = False) -> bool:
    """Does the output match? A line '...' stands for any number of lines."""
    whole = [rf"(?:{pattern(line, numbers)}\s*\n)" if line.strip() != "..." else r"(?:.*\n)*?" for line in expected]
    return re.fullmatch("".join(whole), "".join(line.rstrip() + "\n" for line in printed)) is not None

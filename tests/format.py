# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the rules of clang-format that the tree follows: indentation of statements, spaces,
braces, and 120 columns.

clang-format lays the text out anew (.clang-format), and the result is compared with the text. It would change
one line in twenty, since it can not express three habits of this tree: a trailing comment stands behind a tab,
an initializer or an enum has as many members on a line as fit, and a continuation line is indented as reads best.
These are left to the author. So this compares

- every line that both texts have, but for its indentation: spaces around operators, pointers, parentheses;
- the indentation of lines that begin a statement;
- line breaks after the head of an if, for, while, do, switch or else, and around braces.

Trailing comments are removed first. `/* clang-format off */` ... `on` exempts a table.
"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
from pathlib import Path

COLUMNS = 120
CLANG_FORMAT = Path(os.environ.get("SLATE_BUILD", Path(__file__).parents[1] / "build")) / "venv-lint/bin/clang-format"
_TRAILING = re.compile(r"(?m)^([^\n]*?[^\s\n][^\n]*?)[ \t]*/\*(?:[^*]|\*(?!/))*\*/[ \t]*(?=\\?$)")
_CONTROL = re.compile(r"(\} )?(if|for|while|do|switch|else)\b")
_LABEL = re.compile(r"(case\b.*|default|\w+):$")
# where clang-format takes a cast for an operator, or the other way round, and where it aligns the ? of a chain
_OWN_WAYS = (
    (re.compile(r"\) ?([~*-]) ?(?=[\w(])"), r")\1"),
    (re.compile(r"\s+\?"), " ?"),
    (re.compile(r"\s+\\$"), " \\\\"),
)


def _without_comment(found: re.Match[str]) -> str:
    """Removes trailing comments: holds the code before them, and the line ends that were in them."""
    code = found.group(1)
    if code.lstrip().startswith(("* ", "/*", "//")):
        return found.group(0)
    return code + "\n" * found.group(0).count("\n")


def _spaced(line: str) -> str:
    """Return the line without indentation, and without parts that clang-format lays out in its own way."""
    line = line.strip()
    for pattern, ours in _OWN_WAYS:
        line = pattern.sub(ours, line)
    return line


def _code(line: str) -> str:
    return "".join(line.rstrip("\\").split())


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _begins_statement(before: str) -> bool:
    """Does the line after this one begin a statement?"""
    before = before.strip()
    if _CONTROL.match(before):
        return before.count("(") == before.count(")")
    return not before or before.endswith((";", "{", "}", "*/")) or _LABEL.match(before) is not None


def _differs(old: list[str], at: int, new: str) -> bool:
    """Does line `at` have other spaces than clang-format's line, which has the same code?"""
    if _spaced(old[at]) != _spaced(new):
        return True
    begins = _begins_statement(old[at - 1]) if at else True
    return begins and not old[at].endswith("\\") and _indent(old[at]) != _indent(new)


def _breaks(old: list[str]) -> bool:
    """Is there a brace or the head of a statement in lines that clang-format would break elsewhere?"""
    return any(line.strip() in ("{", "}") or _CONTROL.match(line.strip()) for line in old)


def check(root: Path, path: Path) -> str:
    """Return a line for each place with a wrong layout."""
    text = (root / path).read_text(encoding="utf-8")
    found = [
        f"{path}:{number}: {columns} columns, more than {COLUMNS}\n"
        for number, line in enumerate(text.splitlines(), 1)
        if (columns := len(line.expandtabs(8))) > COLUMNS
    ]
    code = _TRAILING.sub(_without_comment, text)
    command = [str(CLANG_FORMAT), f"--style=file:{root / '.clang-format'}", f"--assume-filename={path}"]
    done = subprocess.run(command, input=code, capture_output=True, text=True, check=True)
    old, new = code.split("\n"), done.stdout.split("\n")
    for what, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            continue
        if [_code(line) for line in old[a:b]] == [_code(line) for line in new[c:d]]:
            wrong = [(at, new[at - a + c]) for at in range(a, b) if _differs(old, at, new[at - a + c])]
        else:
            wrong = [(a, new[c] if c < d else "")] if _breaks(old[a:b]) else []
        found += [f"{path}:{at + 1}: clang-format writes: {line.strip() or 'no such line'}\n" for at, line in wrong]
    return "".join(found)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Check how long functions and files are, and report those that are longer than a reader can hold."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

FUNCTION_LINES = 60
FILE_LINES = 800


def c_functions(text: str) -> Iterator[tuple[int, str, int]]:
    """Yield first line, head and length of each function: only its braces stand alone in the first column."""
    lines = text.splitlines()
    opened = 0
    for number, line in enumerate(lines, 1):
        if line == "{":
            opened = number - 1
            while opened > 1 and lines[opened - 2] and not lines[opened - 2].startswith(("#", "}", " */", "/*", "//")):
                opened -= 1
        elif line == "}" and opened:
            yield opened, lines[opened - 1], number - opened + 1
            opened = 0


def python_functions(text: str) -> Iterator[tuple[int, str, int]]:
    """Yield first line, name and length of each function and method."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def too_long(root: Path, c_files: Iterable[Path], python_files: Iterable[Path]) -> str:
    """Return a line for each function and file beyond the limits; empty if there is none."""
    found = []
    for files, functions in ((c_files, c_functions), (python_files, python_functions)):
        for path in files:
            text = (root / path).read_text(encoding="utf-8")
            length = text.count("\n")
            if length > FILE_LINES:
                found.append(f"{path}: {length} lines, more than {FILE_LINES}: split the file\n")
            found += [
                f"{path}:{line}: {head}: {length} lines, more than {FUNCTION_LINES}: split the function\n"
                for line, head, length in functions(text)
                if length > FUNCTION_LINES
            ]
    return "".join(found)

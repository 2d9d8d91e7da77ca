# SPDX-License-Identifier: GPL-2.0-or-later
"""Check that the modules of each package, and its folders, import each other without a cycle.

Imports inside functions count; those for annotations alone (TYPE_CHECKING) do not, because they never run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

import rooms

PACKAGES = ("host-tools/slate_lib", "host-tools/reproduce")
ROOMS = "host-tools/reproduce"  # its folders have no cycle, either; modules beside the folders stand for themselves


def _runs(node: ast.AST) -> Iterable[ast.stmt]:
    """Yield the import statements under a node that may run."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        else:
            yield from _runs(child)


def _named(statement: ast.stmt, module: str, package: str) -> Iterable[str]:
    """Yield the dotted names that a statement imports, in full."""
    if isinstance(statement, ast.Import):
        yield from (alias.name for alias in statement.names)
    elif isinstance(statement, ast.ImportFrom):
        base = statement.module or ""
        if statement.level:
            above = [package, *module.split(".")][: -statement.level]
            base = ".".join([*above, base] if base else above)
        yield base
        yield from (f"{base}.{alias.name}" for alias in statement.names)


def arrows(texts: dict[str, str], package: str) -> rooms.Arrows:
    """Return for each module of the package, named without the package, the others that it imports."""
    found: rooms.Arrows = {}
    for module, text in texts.items():
        names = {name for statement in _runs(ast.parse(text)) for name in _named(statement, module, package)}
        found[module] = {other for other in texts if f"{package}.{other}" in names and other != module}
    return found


def cycles(to: rooms.Arrows) -> list[str]:
    """Return a line for each import that is part of a cycle."""
    far = {module: rooms.reached(module, to) for module in to}
    return [f"{module}: imports {other}, which imports it in turn: let modules import downwards only\n"
            for module in sorted(to) for other in sorted(to[module])
            if module in far[other]]  # fmt: skip


def of_folders(to: rooms.Arrows) -> rooms.Arrows:
    """Return for each folder of the package the others that its modules import."""
    found: rooms.Arrows = {}
    for module, others in to.items():
        folder = module.rpartition(".")[0] or module
        found.setdefault(folder, set()).update({other.rpartition(".")[0] or other for other in others} - {folder})
    return found


def check(root: Path, files: Iterable[Path]) -> str:
    """Return what was found in the files of the tree."""
    found, paths = [], list(files)
    for package in PACKAGES:
        folder = Path(package)
        texts = {".".join(path.relative_to(folder).with_suffix("").parts): (root / path).read_text(encoding="utf-8")
                 for path in paths
                 if path.suffix == ".py" and folder in path.parents and path.name != "__init__.py"}  # fmt: skip
        to = arrows(texts, folder.name)
        found += cycles(to)
        if package == ROOMS:
            found += cycles(of_folders(to))
    return "".join(found)

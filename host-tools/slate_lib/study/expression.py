# SPDX-License-Identifier: GPL-2.0-or-later
"""Small expressions over the names of a study: conditions over axes, and measures made of others.

An expression has numbers, texts, names, arithmetic, comparisons, 'and', 'or', 'not', 'in' with a list, and the
functions in FUNCTIONS. A dotted name, such as ftl.gc_policy, is one name. Nothing else of Python is accepted, so an
expression can do nothing but compute.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from .. import names
from ..errors import SlateError

Value = bool | int | float | str
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs, "max": max, "min": min, "round": round, "sqrt": math.sqrt, "log": math.log, "log2": math.log2,
}  # fmt: skip
_BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}  # fmt: skip
_COMPARE: dict[type[ast.AST], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda one, many: one in many, ast.NotIn: lambda one, many: one not in many,
}  # fmt: skip
SHOWN = 200  # characters of an expression in a message
USES = "an expression has numbers, 'texts', names, + - * / %, comparisons, and, or, not, in [...], " + ", ".join(
    f"{name}()" for name in FUNCTIONS
)


class Expression:
    """Holds a parsed expression. where: says which one it is, for messages."""

    def __init__(self, text: str, where: str):
        self.text, self.where = text, where
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
            self.names: list[str] = []
            self._check(self._tree)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise SlateError(f"{where}: '{text[:SHOWN]}' is no expression", USES) from None

    def check_names(self, known: Mapping[str, object]) -> None:
        """Refuse names that are not known."""
        for name in self.names:
            if name not in known:
                raise SlateError(
                    f"{self.where}: there is no {name}{names.nearest(name, known)}",
                    f"use one of: {', '.join(known)}",
                )

    def value(self, values: Mapping[str, Value]) -> Value:
        """Compute the expression. Raises KeyError for a name without a value, and SlateError if it has no result."""
        try:
            found: Value = self._compute(self._tree, values)
        except (TypeError, ArithmeticError, ValueError, RecursionError) as error:
            raise SlateError(f"{self.where}: '{self.text[:SHOWN]}' has no result: {error}", USES) from None
        return found

    def _check(self, node: ast.AST) -> None:
        """Refuse what is not of an expression, and collect the names."""
        if (name := _dotted(node)) is not None:
            self.names += [name] if name not in self.names else []
            return
        inside: list[ast.AST] = []
        if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float, str)):
            return
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            inside = [node.left, node.right]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
            inside = [node.operand]
        elif isinstance(node, (ast.BoolOp, ast.List, ast.Tuple)):
            inside = list(node.values if isinstance(node, ast.BoolOp) else node.elts)
        elif isinstance(node, ast.Compare) and all(type(op) in _COMPARE for op in node.ops):
            inside = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and _function(node) and not node.keywords:
            inside = list(node.args)
        else:
            raise SlateError(f"{self.where}: '{self.text}' has a part that is not understood", USES)
        for one in inside:
            self._check(one)

    def _compute(self, node: ast.AST, values: Mapping[str, Value]) -> Any:
        if (name := _dotted(node)) is not None:
            return values[name]
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.BinOp):
            return _binary(node.op, self._compute(node.left, values), self._compute(node.right, values))
        if isinstance(node, ast.UnaryOp):
            value = self._compute(node.operand, values)
            return not value if isinstance(node.op, ast.Not) else -value
        if isinstance(node, ast.BoolOp):
            parts = (self._compute(one, values) for one in node.values)
            return all(parts) if isinstance(node.op, ast.And) else any(parts)
        if isinstance(node, (ast.List, ast.Tuple)):
            return [self._compute(one, values) for one in node.elts]
        if isinstance(node, ast.Compare):
            sides = [self._compute(one, values) for one in (node.left, *node.comparators)]
            return all(_COMPARE[type(op)](a, b) for op, a, b in zip(node.ops, sides, sides[1:]))
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        return FUNCTIONS[node.func.id](*(self._compute(one, values) for one in node.args))


def _binary(op: ast.operator, left: Any, right: Any) -> Any:
    """Compute with numbers, or append texts. Python's text * number and text % number take any amount of memory."""
    texts = isinstance(op, ast.Add) and isinstance(left, str) and isinstance(right, str)
    if not texts and not all(isinstance(one, (int, float)) for one in (left, right)):
        raise TypeError("arithmetic is for numbers")
    return _BINARY[type(op)](left, right)


def _dotted(node: ast.AST) -> str | None:
    """Return the dotted name for which a node stands; None: it stands for none."""
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value)
        return None if base is None else f"{base}.{node.attr}"
    return node.id if isinstance(node, ast.Name) and node.id not in FUNCTIONS else None


def _function(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS

# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a study's file: what is varied, what is left out, what is measured, and against what.

A DIMENSION is a list of choices, each a value for one axis ([axes]) or for several at once ([[pairs]], [[points]]).
The points are all combinations of one choice of each dimension, without those that a condition of leave_out names.
Their order is that of the file, the last dimension's changing fastest, and a point is known by its values alone.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import names, paths
from ..errors import SlateError
from .expression import Expression, Value

SUFFIX = ".toml"
MOST = 20_000  # combinations; more is a mistake, or a year
TOP = ("title", "about", "run", "axes", "pairs", "points", "leave_out", "warm_up", "measures", "baseline", "over",
       "statistic", "confidence")  # fmt: skip
NO_TABLE = ("leave_out", "over", "statistic", "confidence")  # stand before the first table
STATISTICS = ("mean", "median")
SEED = "seed"
LABEL = "label"  # names the choices of [[pairs]] or [[points]]; runs are not given it
PLAIN = (SEED,)  # axes that a run may take although they are named in {}
_RANGE = re.compile(r"(-?\d{1,9})\.\.(-?\d{1,9})")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_TEMPLATE = re.compile(r"\{([A-Za-z_][\w.-]*)\}")
Given = Value | list[Value]
Point = dict[str, Value]  # a value for each axis


@dataclass
class Measure:
    """Describes a measure: a figure, a value of a JSON file, or an expression of other measures."""

    name: str
    of: str = ""  # a figure (figures.py)
    json: str = ""  # a file of the result, with 'path'
    path: str = ""
    reduce: str = ""  # of a list in that file
    stored: str = ""  # the unit that the number has there; empty: that of the study
    value: Expression | None = None
    unit: str | None = None  # None: the figure's usual one


@dataclass
class WarmUp:
    """Describes the drive that is made before the runs, once for all that need the same."""

    writes: str = "0"
    fill: str = "100"
    content: str = "zero"
    seed: int | None = None  # None: the run's
    after: list[str] = field(default_factory=list)  # settings of the runs alone


@dataclass
class Study:
    """Holds what a study's file says."""

    path: Path
    text: str
    title: str
    about: str
    run: dict[str, Given]
    dimensions: list[list[Point]]
    points: list[Point]
    measures: list[Measure]
    baseline: Point
    over: list[str]  # axes whose values are repetitions
    statistic: str = "mean"
    confidence: float = 0.95
    warm_up: WarmUp | None = None
    left_out: list[Expression] = field(default_factory=list)
    left_out_count: int = 0

    @property
    def folder(self) -> Path:
        """Return the folder of the file; paths in it begin there."""
        return self.path.resolve().parent

    @property
    def name(self) -> str:
        """Return the file's name without its suffix."""
        return self.path.stem

    @functools.cached_property
    def axes(self) -> dict[str, list[Value]]:
        """Return the values of each axis, in the order of the file."""
        found: dict[str, dict[tuple[bool, Value], Value]] = {}
        for dimension in self.dimensions:
            for choice in dimension:
                for axis, value in choice.items():
                    found.setdefault(axis, {}).setdefault(_known(value), value)
        return {axis: list(values.values()) for axis, values in found.items()}

    @property
    def groups(self) -> list[str]:
        """Return the axes that are not repetitions, without those that another one of their pair determines.

        Of a pair with a label it is the label alone.
        """
        used = self.templates
        told: set[str] = set()
        for dimension in self.dimensions:
            if LABEL in dimension[0]:
                told |= dimension[0].keys() - {LABEL}
            for axis in dimension[0]:
                others = [other for other in dimension[0] if other not in used]
                if axis in used and any(_determines(dimension, other, axis) for other in others):
                    told.add(axis)
        return [axis for axis in self.axes if axis not in self.over and axis not in told]

    def settings(self, point: Point) -> dict[str, Given]:
        """Return what the point's run is given: [run] and the point's values, with the names in {} replaced."""
        together: dict[str, Given] = {**self.run, **point}
        used = self.templates
        made: dict[str, Given] = {}
        for key, value in together.items():
            is_name = key == LABEL or (key in used and key not in PLAIN)
            if is_name and key in point and key not in self.run:
                continue
            made[key] = [_filled(one, point) for one in value] if isinstance(value, list) else _filled(value, point)
        return made

    @functools.cached_property
    def templates(self) -> set[str]:
        """Return the axes that are named in {} somewhere."""
        known = self.axes
        return {
            name for text in _texts([*self.run.values(), *itertools.chain(*known.values())])
            for name in _TEMPLATE.findall(text) if name in known
        }  # fmt: skip

    @property
    def has_own_seeds(self) -> bool:
        """Are seeds an axis of their own, of whole numbers?"""
        return [SEED] in [list(dimension[0]) for dimension in self.dimensions] and all(
            isinstance(one, int) and not isinstance(one, bool) for one in self.axes[SEED])  # fmt: skip

    def add_seeds(self, count: int) -> None:
        """Add `count` seeds: the numbers that follow the largest seed."""
        for dimension in self.dimensions:
            if SEED in dimension[0]:
                last = max(int(choice[SEED]) for choice in dimension)
                dimension += [{SEED: last + number} for number in range(1, count + 1)]
        for name in ("axes", "templates"):  # they are computed again
            self.__dict__.pop(name, None)
        self.points, self.left_out_count = _points(self)


def _determines(dimension: list[Point], one: str, other: str) -> bool:
    """Does the value of this axis determine that of the other axis?"""
    pairs = {(shown(row[one]), shown(row[other])) for row in dimension}
    return len(pairs) == len({first for first, _ in pairs})



def find(word: str) -> Path:
    """Find a study's file by path, or by the name of a shipped one."""
    path = Path(word)
    if path.is_file():
        return path
    shipped = sorted(paths.STUDIES.glob(f"*{SUFFIX}"))
    for own in shipped:
        if "/" not in word and own.stem == word.removesuffix(SUFFIX):
            return own
    if path.exists():
        raise SlateError(f"{word} is not a file", "name a study's file")
    near = names.nearest(word.removesuffix(SUFFIX), [own.stem for own in shipped])
    raise SlateError(
        f"no such study: {word}{near}", f"name a file, or one of: {', '.join(own.stem for own in shipped)}"
    )


def read(path: Path) -> Study:
    """Read a study's file. Axes and measures are checked later, by those who know them."""
    try:
        text = path.read_text(encoding="utf-8")
        raw = tomllib.loads(text)
    except OSError as error:
        raise SlateError(f"can not read {path}: {(error.strerror or str(error)).lower()}", "name a study") from None
    except (ValueError, RecursionError) as error:
        raise SlateError(f"{path} is not TOML: {error}", "docs/studies.md has an example") from None
    if any(map(_CONTROL.search, _words_in(raw))):
        raise SlateError(f"{path}: a text has control characters", "leave them out: a terminal would execute them")
    for key in raw:
        if key not in TOP:
            raise SlateError(f"{path}: there is no '{key}'{names.nearest(key, TOP)}", f"use one of: {', '.join(TOP)}")
        _check_tables(path, key, raw[key])
    study = Study(
        path, text, _text(raw, "title", path.stem), " ".join(_text(raw, "about", "").split()),
        dict(_flat(_table(raw, "run"), "[run]")), _dimensions(raw), [], [], {}, [],
    )  # fmt: skip
    _choose(study, raw)
    study.measures = _measures(_table(raw, "measures"), list(study.axes))
    study.warm_up = _warm_up(raw)
    return study


def _choose(study: Study, raw: dict[str, Any]) -> None:
    """Set what refers to axes: conditions, points, the baseline, repetitions."""
    axes = study.axes
    conditions = raw.get("leave_out", [])
    if not isinstance(conditions, list) or not all(isinstance(one, str) for one in conditions):
        raise SlateError("leave_out is no list of texts", "leave_out = [\"ftl.gc_policy == 'fifo'\"]")
    study.left_out = [Expression(one, "leave_out") for one in conditions]
    for condition in study.left_out:
        condition.check_names(axes)
    study.points, study.left_out_count = _points(study)
    if not study.points:
        raise SlateError("the study has no run: leave_out leaves out every point", "take a condition away")
    over = raw.get("over", [SEED] if SEED in axes else [])
    study.over = [over] if isinstance(over, str) else over
    if not isinstance(study.over, list) or not all(isinstance(axis, str) for axis in study.over):
        raise SlateError("over is no axis and no list of axes", 'over = ["seed"]')
    study.baseline = dict(_baseline(_table(raw, "baseline"), axes))
    for axis in study.over:
        if axis not in axes:
            raise SlateError(f"over: there is no axis {axis}{names.nearest(axis, axes)}", _one_of(axes))
    if wrong := [axis for axis in study.baseline if axis in study.over]:
        raise SlateError(f"baseline: the values of {wrong[0]} are repetitions", f"leave {wrong[0]} out of it")
    study.statistic = _text(raw, "statistic", "mean")
    if study.statistic not in STATISTICS:
        raise SlateError(f"statistic = '{study.statistic}': there is none", f"use one of: {', '.join(STATISTICS)}")
    study.confidence = raw.get("confidence", 0.95)
    if not isinstance(study.confidence, float) or not 0.5 <= study.confidence < 1:
        raise SlateError(f"confidence = {study.confidence}: not from 0.5 to below 1", "confidence = 0.95")


# ---- parts of the file


def _text(raw: dict[str, Any], key: str, default: str) -> str:
    value = raw.get(key, default)
    if not isinstance(value, str):
        raise SlateError(f"{key} is no text", f'{key} = "..."')
    return value


def _table(raw: dict[str, Any], key: str) -> dict[str, Any]:
    value = raw.get(key, {})
    if not isinstance(value, dict):
        raise SlateError(f"{key} is no table", f"begin a line with [{key}], and give its values below")
    return value


def _check_tables(path: Path, name: str, value: Any) -> None:
    """Refuse keys of the study that stand in a table, to which TOML gives them. A measure may have such a name."""
    for table in value if isinstance(value, list) else [value]:
        for key in NO_TABLE if isinstance(table, dict) else ():
            if key in table and not (name == "measures" and isinstance(table[key], str)):
                raise SlateError(f"{path}: {key} is in the table {name}", f"write {key} before the first [...] line")


def _flat(table: Mapping[str, Any], where: str, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (dotted name, value): ftl.buffer_units = 0 is a table in a table for TOML."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, where, f"{before}{key}.")
            continue
        for one in value if isinstance(value, list) else [value]:
            if not isinstance(one, (bool, int, float, str)) or (isinstance(one, float) and not math.isfinite(one)):
                raise SlateError(f"{where}: {before}{key} is no number, text, true or false", "write its value so")
        yield before + key, value


def _values(axis: str, value: Any) -> list[Value]:
    """Return the values of an axis: a list, or "1..5"."""
    if isinstance(value, str) and (span := _RANGE.fullmatch(value)):
        value = list(range(int(span[1]), min(int(span[2]), int(span[1]) + MOST) + 1))
    if not isinstance(value, list) or not value:
        raise SlateError(f"axis {axis}: is no list of values", f'{axis} = ["one", "other"], or "1..5" for numbers')
    seen = set()
    for one in value:
        if _known(one) in seen:
            raise SlateError(f"axis {axis}: {one} is given twice: two runs that would be one", "leave one out")
        seen.add(_known(one))
    return value


def _known(value: Value) -> tuple[bool, Value]:
    """Return a key by which a value is told from others, so that true is not 1."""
    return isinstance(value, bool), value


def _dimensions(raw: dict[str, Any]) -> list[list[Point]]:
    found = [[{axis: one} for one in _values(axis, value)] for axis, value in _flat(_table(raw, "axes"), "[axes]")]
    for number, table in enumerate(_list(raw, "pairs"), 1):
        columns = {axis: _values_of_pair(value) for axis, value in _flat(table, "[[pairs]]")}
        sizes = {axis: len(values) for axis, values in columns.items()}
        if len(set(sizes.values())) != 1:
            told = ", ".join(f"{axis} {size}" for axis, size in sizes.items())
            raise SlateError(f"[[pairs]] {number}: the lists differ in length: {told}", "give each as many values")
        if not all(sizes.values()):
            raise SlateError(f"[[pairs]] {number}: the lists have no value", "give each as many values")
        found.append(_labelled([dict(zip(columns, row)) for row in zip(*columns.values())]))
    if rows := [dict(_flat(table, "[[points]]")) for table in _list(raw, "points")]:
        for row in rows:
            if row.keys() != rows[0].keys():
                odd = sorted(row.keys() ^ rows[0].keys())[0]
                raise SlateError(f"[[points]]: {odd} is given in some points only", "give it in each")
        found.append(_labelled(rows))
    seen: set[str] = set()
    for dimension in found:
        if twice := sorted(seen & dimension[0].keys()):
            raise SlateError(f"axis {twice[0]} is given twice", "leave one out")
        seen |= dimension[0].keys()
    return found


def _labelled(dimension: list[Point]) -> list[Point]:
    """Return the choices. Refuse labels that do not tell them apart."""
    seen: set[Value] = set()
    for choice in dimension:
        label = choice.get(LABEL, len(seen))
        if label in seen or label == "":
            raise SlateError(f"label = '{label}' is empty, or names two choices", "give each choice a name of its own")
        seen.add(label)
    return dimension


def _values_of_pair(value: Any) -> list[Value]:
    if isinstance(value, str) and _RANGE.fullmatch(value):
        return _values("", value)
    return value if isinstance(value, list) else [value]


def _list(raw: dict[str, Any], key: str) -> list[dict[str, Any]]:
    value = raw.get(key, [])
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise SlateError(f"{key} is no list of tables", f"begin a line with [[{key}]]")
    return value


def _points(study: Study) -> tuple[list[Point], int]:
    """Return the points, and how many were left out."""
    count = math.prod(len(dimension) for dimension in study.dimensions)
    if count > MOST:
        sizes = " x ".join(str(len(dimension)) for dimension in study.dimensions)
        raise SlateError(f"the axes give {sizes} = {count:,} combinations; the most is {MOST:,}", "give fewer values")
    made = [{axis: value for choice in row for axis, value in choice.items()}
            for row in itertools.product(*study.dimensions)]  # fmt: skip
    kept = [point for point in made if not any(condition.value(point) for condition in study.left_out)]
    for number, point in enumerate(kept):
        if study.dimensions and number and point == kept[number - 1]:
            raise SlateError(f"two runs would be one: {words(point)} is given twice", "leave one out")
    return kept, len(made) - len(kept)


def words(point: Point) -> str:
    """Return a point in words."""
    return ", ".join(f"{axis} = {shown(value)}" for axis, value in point.items()) or "the only run"


def shown(value: Value) -> str:
    """Return a value as TOML writes it, without quotes."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _baseline(table: dict[str, Any], axes: dict[str, list[Value]]) -> Iterator[tuple[str, Value]]:
    for axis, value in _flat(table, "[baseline]"):
        if axis not in axes:
            fix = _one_of(axes) if axes else "give the study axes, or leave its baseline out"
            raise SlateError(f"baseline: there is no axis {axis}{names.nearest(axis, axes)}", fix)
        for one in axes[axis]:
            if _known(one) == _known(value):
                yield axis, one  # 1 may be the axis' 1.0
                break
        else:
            told = ", ".join(shown(one) for one in axes[axis])
            raise SlateError(f"baseline: {axis} = {shown(value)} is no value of that axis", f"use one of: {told}")


def _one_of(axes: Iterable[str]) -> str:
    return f"use one of: {', '.join(axes)}"


def _warm_up(raw: dict[str, Any]) -> WarmUp | None:
    if "warm_up" not in raw:
        return None
    table = _table(raw, "warm_up")
    known = ("writes", "fill", "content", "seed", "after")
    for key in table:
        if key not in known:
            raise SlateError(f"[warm_up]: there is no '{key}'{names.nearest(key, known)}", _one_of(known))
    after = table.get("after", [])
    if not isinstance(after, list) or not all(isinstance(key, str) for key in after):
        raise SlateError("[warm_up]: after is no list of settings", 'after = ["ftl.gc_policy"]')
    seed = table.get("seed", 1)
    if seed != "run" and (not isinstance(seed, int) or isinstance(seed, bool)):
        raise SlateError(f"[warm_up]: seed = {seed} is no number", 'seed = 1, or "run" for a drive of each seed')
    plain = {key: str(table[key]) for key in ("writes", "fill", "content") if key in table}
    return WarmUp(**plain, seed=None if seed == "run" else seed, after=after)


# ---- measures

_KEYS = ("of", "json", "path", "reduce", "stored", "value", "unit")


def _measures(table: dict[str, Any], axes: list[str]) -> list[Measure]:
    if not table:
        raise SlateError("the study measures nothing", 'give [measures] with a line such as WAF = "waf"')
    found: list[Measure] = []
    for name, raw in table.items():
        given = {"of": raw} if isinstance(raw, str) else raw
        plain = isinstance(given, dict) and given and all(isinstance(one, str) and (one or key == "unit")
                                                          for key, one in given.items())  # fmt: skip
        if not plain or any(key.isdecimal() for key in given):  # p99.9 without quotes is a table
            raise SlateError(
                f"measure {name}: is no figure", f'"{name}" = "p99", or {{ of = "read.p99", unit = "us" }}; quote a '
                "name that has a dot"
            )  # fmt: skip
        for key in given:
            if key not in _KEYS:
                raise SlateError(f"measure {name}: there is no '{key}'{names.nearest(key, _KEYS)}", _one_of(_KEYS))
        if sum(key in given for key in ("of", "json", "value")) != 1:
            raise SlateError(f"measure {name}: has none or several of 'of', 'json', 'value'", "give one of them")
        if ("json" in given) != ("path" in given):
            raise SlateError(f"measure {name}: 'json' and 'path' go together", 'json = "device.json", path = "..."')
        value = Expression(given["value"], f"measure {name}") if "value" in given else None
        found.append(Measure(name, **{**given, "value": value}))
    known = [one.name for one in found]
    for number, one in enumerate(found):
        if one.value:
            one.value.check_names(dict.fromkeys([*known, *axes]))
            if later := [name for name in one.value.names if name in known[number:]]:
                raise SlateError(f"measure {one.name}: {later[0]} is defined after it", f"put {later[0]} before it")
    return found


def _filled(value: Value, point: Point) -> Value:
    """Replace the names in {} by the point's values."""
    if not isinstance(value, str):
        return value
    return _TEMPLATE.sub(lambda found: shown(point[found[1]]) if found[1] in point else found[0], value)


def _words_in(value: Any) -> Iterator[str]:
    """Yield all keys and texts of a file."""
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _words_in(one)
    elif isinstance(value, str):
        yield value


def _texts(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, list):
            yield from _texts(value)
        elif isinstance(value, str):
            yield value

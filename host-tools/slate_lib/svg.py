# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes matplotlib's SVG smaller, and writes the data of its lines and areas as CSV.

Paths get one decimal place (a chart is 317 units wide, so that this is a fifth of a pixel on a wide screen), steps
are drawn by H and V, and blanks are removed.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from typing import Any

_PATH = re.compile(r' d="([^"]*)"')
_POINT = re.compile(r"([ML]) (-?[0-9.e-]+) (-?[0-9.e-]+)")
_LONG = re.compile(r'( (?:x|y|transform|width|height)=")([^"]*)"')
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_EMPTY = re.compile(r"<g(?: [^>]*)?></g>|<g(?: [^>]*)?/>")
_STYLE = re.compile(r' style="([^"]*)"')
# Most elements have these styles, which become classes of the page. The last one is of areas that show a tip.
_CLASSES = {
    "fill:var(--grid);stroke:var(--grid);stroke-width:0.8": "a",
    "fill:none;stroke:var(--grid);stroke-width:0.5;stroke-linecap:square": "b",
    "fill:var(--grid);stroke:var(--grid);stroke-width:0.6": "d",
    "font-size:9px;text-anchor:end;fill:var(--ink)": "e",
    "font-size:9px;text-anchor:middle;fill:var(--ink)": "f",
    "fill:none;stroke:var(--grid);stroke-width:0.8;stroke-linejoin:miter;stroke-linecap:square": "g",
    "fill:none;opacity:0": "h",
}
CSS = "".join(f"svg .{name} {{ {style} }}\n" for style, name in list(_CLASSES.items())[:-1]) + (
    "svg .h { fill: transparent; pointer-events: all }\n"
)
_ID = re.compile(r'<g id="(?!c\d+-tip)[^"]*"')


def _short(value: float, places: int = 1) -> str:
    text = f"{value:.{places}f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _path(match: re.Match[str]) -> str:
    """Return a path of moves and lines in short form; other paths (curves of markers) stay unchanged."""
    words = match[1].split()
    if set(words) & {"Q", "C"} or not words:
        return f' d="{" ".join(words)}"'
    made, x, y = [], "", ""
    for kind, next_x, next_y in _POINT.findall(match[1]):
        nx, ny = _short(float(next_x)), _short(float(next_y))
        if kind == "M":
            made.append(f"M{nx} {ny}")
        elif nx == x and ny == y:
            continue
        elif ny == y:
            made.append(f"H{nx}")
        elif nx == x:
            made.append(f"V{ny}")
        else:
            made.append(f"L{nx} {ny}")
        x, y = nx, ny
    return f' d="{"".join(made)}{"z" if "z" in words else ""}"'


def compact(svg: str) -> str:
    """Return the same picture in fewer bytes."""
    svg = _PATH.sub(_path, svg)
    svg = _LONG.sub(
        lambda found: found[1] + _NUMBER.sub(lambda number: _short(float(number[0]), 2), found[2]) + '"', svg
    )
    svg = re.sub(r">\s+<", "><", svg)
    svg = _ID.sub("<g", svg)
    before = ""
    while before != svg:
        before, svg = svg, _EMPTY.sub("", svg)
    return _STYLE.sub(_style, svg)


def _style(match: re.Match[str]) -> str:
    style = match[1].replace(": ", ":").replace("; ", ";").strip("; ")
    return f' class="{_CLASSES[style]}"' if style in _CLASSES else f' style="{style}"'


def with_tips(svg: str, number: int, tips: dict[str, str]) -> str:
    """Let the elements with these ids show a text when a pointer is on them."""
    for name, told in tips.items():
        head = f'<g id="c{number}-{name}">'
        svg = svg.replace(head, f"<g><title>{html.escape(told)}</title>", 1)
    return svg


# ---- data


def _columns(axes: Any, value: Callable[[float], float]) -> Iterable[tuple[str, list[float], list[float]]]:
    """Return (name, x, y) of each line that has a label, and of each curve of steps."""
    for line in axes.get_lines():
        if not line.get_label().startswith("_") and len(line.get_xdata()) > 1:
            yield line.get_label(), list(line.get_xdata()), [value(y) for y in line.get_ydata()]
    for patch in axes.patches:
        if type(patch).__name__ == "StepPatch":
            values, edges, baseline = patch.get_data()
            base = list(baseline) if baseline is not None and hasattr(baseline, "__len__") else [0.0] * len(values)
            name = "" if patch.get_label().startswith("_") else patch.get_label()
            label = axes.get_ylabel().split(",")[0]
            column = getattr(patch, "slate_column", "") or f"{name} {label}".strip() or "value"
            yield column, list(edges)[:-1], [a - b for a, b in zip(values, base)]


def _pictures(every: Iterable[Any]) -> Iterable[str]:
    """Return maps, such as busy times by die, as CSV with a line for each row of the map."""
    for axes in every:
        for image in axes.get_images():
            rows = image.get_array().filled(float("nan"))
            yield "".join(",".join(f"{cell:.{5 if cell > 99 else 3}g}" for cell in row) + "\n" for row in rows)


def _quoted(words: Iterable[str]) -> str:
    return ",".join('"' + word.replace('"', '""') + '"' if set(word) & set(',"\n') else word for word in words)


def _bars(every: Iterable[Any]) -> Iterable[str]:
    """Return bars as CSV: a line for each bar, a column for each of its parts."""
    for axes in every:
        bars = axes.containers
        if bars:
            names = [label.get_text().replace("\n", " ") for label in axes.get_yticklabels()]
            rows = zip(names, *([f"{patch.get_width():.5g}" for patch in bar] for bar in bars))
            head = _quoted(["", *(bar.get_label() for bar in bars)])
            yield "\n".join([head, *(_quoted(row) for row in rows)]) + "\n"


def csv(every: list[Any], x_name: str) -> str:
    """Return the data of charts. Lines with the same x are columns of one table; an empty line separates tables."""
    tables: list[tuple[list[float], list[tuple[str, list[float]]]]] = []
    for axes in every:
        value = getattr(axes, "slate_value", float)
        for name, xs, ys in _columns(axes, value):
            same = next((table for table in tables if table[0] == xs), None)
            if not same:
                same = (xs, [])
                tables.append(same)
            same[1].append((name, ys))
    made = []
    for xs, columns in tables:
        head = _quoted([x_name, *(name for name, _ in columns)])
        rows = (",".join(f"{cell:.5g}" for cell in row) for row in zip(xs, *(ys for _, ys in columns)))
        made.append("\n".join([head, *rows]) + "\n")
    return "\n".join([*made, *_bars(every), *_pictures(every)])

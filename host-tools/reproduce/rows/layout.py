# SPDX-License-Identifier: GPL-2.0-or-later
"""layout.py - a figure's rows as CSV, and as Markdown tables that show each number once.

A table is a list of lines of cells: first the head (trace, what, unit, paper, and for each accounting
"ours (...)" and ratio; perhaps the span over seeds or fits and earlier results), then a line for each row. An empty
cell has no number.
"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from reproduce.rows.compare import Row, number

BOLD = ("average", "best")
NOT_PUBLISHED = "not published in text"
HEAD = ("accounting", "trace", "what", "unit", "paper", "ours", "ratio")
SPAN = ("low", "high")  # of several seeds
ACROSS_MAX = 8  # columns of quantities
LONG = 8  # lines
Earlier = tuple[str, dict[tuple[str, ...], str]]  # head of the column; by accounting, trace, what, unit


def has_spans(rows: dict[str, list[Row]]) -> bool:
    """Does any row have a span?"""
    return any(row.low is not None for some in rows.values() for row in some)


def side_by_side(text: str, earlier: Earlier | None = None) -> list[list[str]]:
    """Return head and lines of a CSV's table, with two columns for each accounting.

    Earlier results are of the first accounting.
    """
    keyed: dict[str, dict[tuple[str, str], dict[str, str]]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        keyed.setdefault(row["accounting"], {})[row["trace"], row["what"]] = row
    head = ["trace", "what", "unit", "paper", *(name for a in keyed for name in (f"ours ({a})", "ratio"))]
    spans = "low" in text.partition("\n")[0].split(",")
    if spans:
        head.append("lowest .. highest")
    if earlier:
        head.append(earlier[0])
    out = [head]
    for key, first in next(iter(keyed.values()), {}).items():
        line = [first["trace"], first["what"], first["unit"], first["paper"].replace(NOT_PUBLISHED, "")]
        for some in keyed.values():
            line += [some[key]["ours"], some[key]["ratio"]] if key in some else ["", ""]
        if spans:
            line.append(f"{first['low']} .. {first['high']}" if first["low"] else "")
        if earlier:
            line.append(earlier[1].get((first["accounting"], *(first[name] for name in ("trace", "what", "unit"))), ""))
        out.append(line)
    return out


def rows_of(text: str) -> dict[str, list[Row]]:
    """Return the rows of a CSV by accounting, with the numbers as they are rounded there."""
    out: dict[str, list[Row]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        numbers = (float(row[name]) if row.get(name) not in ("", None, NOT_PUBLISHED) else None
                   for name in ("ours", "paper", *SPAN))  # fmt: skip
        out.setdefault(row["accounting"], []).append(Row(row["trace"], row["what"], row["unit"], *numbers))
    return out


def markdown(head: list[str], lines: list[list[str]]) -> list[str]:
    """Return a Markdown table.

    A unit that all lines share is in the head. If no line has a published number, the table has no columns for papers
    and ratios.
    """
    units, published = {line[2] for line in lines}, any(line[3] for line in lines)
    kept = [i for i, name in enumerate(head)
            if (published or name not in ("paper", "ratio")) and (len(units) > 1 or name != "unit")]  # fmt: skip
    unit = f" [{lines[0][2]}]" if units != {""} and len(units) == 1 else ""
    if [head[i] for i in kept] == ["trace", "what", "ours (device)"]:
        return across(f"trace{unit}", [(line[0], line[1], line[4]) for line in lines])
    names = [head[i] + unit if head[i] == "what" else head[i] for i in kept]
    return as_table(names, [[line[i] or ("-" if head[i] == "paper" else "") for i in kept] for line in lines])


def across(corner: str, cells: list[tuple[str, str, str]]) -> list[str]:
    """Return a table with a line for each trace and a column for each quantity, unless these are many."""
    traces, whats = (list(dict.fromkeys(cell[i] for cell in cells)) for i in (0, 1))
    if not 2 <= len(whats) <= ACROSS_MAX or len(cells) < 2 * len(traces):
        return as_table([corner, "what", "ours (device)"], [list(cell) for cell in cells])
    value = {cell[:2]: cell[2] for cell in cells}
    return as_table([corner, *whats], [[trace, *(value.get((trace, what), "") for what in whats)] for trace in traces])


def as_table(names: list[str], lines: list[list[str]]) -> list[str]:
    """Return a Markdown table, averages in bold."""
    out = ["| " + " | ".join(names) + " |", "|" + " --- |" * len(names)]
    for line in lines:
        bold = line[0] in BOLD
        out.append("| " + " | ".join(f"**{text}**" if bold and text else text for text in line) + " |")
    return out


def shown(table: list[list[str]], name: str) -> list[str]:
    """Return what a page shows of a figure's table: a short one whole, of a long one the averages, or else the
    published numbers, and a link to the CSV of that name, which has every line.
    """
    head, *lines = table
    first = [line for line in lines if line[0] in BOLD] or [line for line in lines if line[3]]
    whole = markdown(head, lines)
    if len(whole) - 2 <= LONG or len(first) == len(lines):
        return [*whole, ""]
    return [*([*markdown(head, first), ""] if first else []), f"Each trace: [{name}.csv]({name}.csv).", ""]


def cells(accounting: str, row: Row, names: dict[str, str]) -> tuple[str, ...]:
    """Format the cells of a CSV line."""
    trace = names.get(row.trace, row.trace)
    paper = number(row.paper) if row.paper is not None else NOT_PUBLISHED
    return (accounting, trace, row.what, row.unit, paper, number(row.ours), number(row.ratio))


def csv_text(rows: dict[str, list[Row]], names: dict[str, str]) -> str:
    """Return the CSV with a head, and with the span over seeds if there is one."""
    spans = has_spans(rows)
    lines: list[tuple[str, ...]] = [HEAD + SPAN if spans else HEAD]
    for accounting, some in rows.items():
        for row in some:
            lines.append(cells(accounting, row, names) + ((number(row.low), number(row.high)) if spans else ()))
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(lines)
    return out.getvalue()


def written(
    out: Path, name: str, rows: dict[str, list[Row]], names: dict[str, str], earlier: Earlier | None = None
) -> list[str]:
    """Write a figure's CSV, and return what a page shows of it."""
    text = csv_text(rows, names)
    (out / f"{name}.csv").write_text(text, encoding="utf-8")
    return shown(side_by_side(text, earlier), name)


def sections(path: Path) -> tuple[str, dict[str, str]]:
    """Return notes about results: the head, and one for each figure ('## figNN')."""
    parts = re.split(r"^## (\S+)\n", path.read_text(encoding="utf-8"), flags=re.M)
    return parts[0].strip(), dict(zip(parts[1::2], (text.strip() for text in parts[2::2])))

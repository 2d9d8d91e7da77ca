# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes an HTML page without requests, for light and dark screens and for paper.

A page consists of sections; a section has tables, charts, cards of charts, and sentences, all defined here.
templates/page.html.jinja has the markup, and templates/page.css the style. The only script is templates/sort.js, on
pages with a table that can be sorted; the page's policy names its hash, so that no other one is executed.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from . import packages, svg

BEGIN = "<!DOCTYPE html>"
TEMPLATES = Path(__file__).parent / "templates"


class Cell(NamedTuple):
    """Holds text and the number that it shows. head: the heading of its column, shown beside it on a narrow screen."""

    words: str
    head: str
    value: float | None


class Row(NamedTuple):
    """Holds a row; name is its first cell. new: draw a rule above it. link: where the name leads, or empty."""

    name: str
    cells: list[Cell]
    new: bool
    link: str


class Table:
    """Holds rows of cells.

    words: the cells are text, not numbers; lines: on a narrow screen each is a line; sorts: a click on a heading sorts
    the rows by that column.
    """

    kind = "table"

    def __init__(self, name: str, head: Sequence[str], words: bool = False, lines: bool = False, sorts: bool = False):
        self.name, self.head, self.style = name, head, "words" if words else "lines" if lines else ""
        self.sorts = sorts
        self.rows: list[Row] = []

    def add(
        self, name: str, cells: Iterable[str | tuple[str, float | None]], new: bool = False, link: str = ""
    ) -> None:  # fmt: skip
        """Add a row. A cell is text, or text and its number."""
        made = []
        for cell, head in zip_longest(cells, self.head[1:], fillvalue=""):
            words, value = (cell, None) if isinstance(cell, str) else cell
            made.append(Cell(words, head, value))
        self.rows.append(Row(name, made, new, link))


class Figure:
    """Holds a chart with its caption and its data to download. of: the subject, for the name of the downloaded file."""

    def __init__(self, chart: str, title: str, about: str = "", of: str = ""):
        self.svg, self.title, self.about = chart, title, about
        self.csv = quote(getattr(chart, "csv", ""), safe=",.-")
        self.file = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{of} {title or about}").strip("-") + ".csv"


@dataclass
class Charts:
    """Holds charts, which are side by side if there is room."""

    figures: list[Figure]
    kind = "charts"

    def __bool__(self) -> bool:
        return bool(self.figures)


class Card(NamedTuple):
    """Holds the charts of one job."""

    name: str
    figures: list[Figure]


@dataclass
class Cards:
    """Makes the cards of all jobs."""

    cards: list[Card]
    kind = "cards"

    def __bool__(self) -> bool:
        return bool(self.cards)


@dataclass
class Tables:
    """Holds tables, which are side by side if there is room."""

    tables: list[Table]
    kind = "tables"

    def __bool__(self) -> bool:
        return bool(self.tables)


class Sentence(NamedTuple):
    """A paragraph of text."""

    words: str
    kind: str = "sentence"


Block = Table | Tables | Charts | Cards | Sentence


@dataclass
class Section:
    """Holds a part of the page; about: a sentence below its heading. A block without content is left out."""

    title: str
    about: str = ""
    blocks: list[Block] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.blocks = [block for block in self.blocks if block]

    @property
    def at(self) -> str:
        """Return the section's id, for links."""
        return "at-" + re.sub(r"[^A-Za-z0-9]+", "-", self.title).strip("-").lower()


def _contents(sections: Iterable[Section]) -> Iterator[tuple[int, str, str]]:
    """Return (level, id, words) of each heading."""
    for section in sections:
        yield 2, section.at, section.title
        for block in section.blocks:
            if isinstance(block, Cards):
                yield from ((3, f"at-job-{number}", card.name) for number, card in enumerate(block.cards))


def render(
    title: str, facts: Sequence[str], sections: Sequence[Section], alarms: Sequence[str] = (), notes: Sequence[str] = ()
) -> str:  # fmt: skip
    """Return the whole file."""
    jinja2 = packages.load("jinja2")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    tables = (
        table for section in sections for block in section.blocks
        for table in (block.tables if isinstance(block, Tables) else [block] if isinstance(block, Table) else [])
    )  # fmt: skip
    script = (TEMPLATES / "sort.js").read_text(encoding="utf-8") if any(table.sorts for table in tables) else ""
    made: str = environment.get_template("page.html.jinja").render(
        title=title, facts=facts, contents=list(_contents(sections)), alarms=alarms, sections=sections, notes=notes,
        svg_css=svg.CSS, script=script, script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )  # fmt: skip
    return made.lstrip()

# SPDX-License-Identifier: GPL-2.0-or-later
"""A page that needs nothing but itself: no scripts, no requests, light and dark, on paper too."""

from __future__ import annotations

import html
import re
from itertools import zip_longest
from collections.abc import Iterable, Sequence

from . import svg
from .svg import link

# Nothing may be fetched, and nothing may run, whatever a job's name is.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

_HEAD = re.compile(r'<h([23]) id="([^"]*)">(.*?)</h')
BEGIN = "<!DOCTYPE html>"
_CSS = """\
:root { color-scheme: light dark;
  --paper: #ffffff; --ink: #1c2024; --dim: #5c656e; --grid: #b9c0c7; --line: #e1e5e9;
  --alarm: #8a4b00; --alarm-paper: #fff4e0;
  --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #c23b78; --c4: #b58900; --c5: #3aa0da;
  --c6: #7a52a8; --c7: #7f8890; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #14171a; --ink: #e4e7ea; --dim: #9aa3ac; --grid: #5a636c; --line: #2b3137;
  --alarm: #ffc270; --alarm-paper: #33240c;
  --c0: #4aa8e0; --c1: #f08a45; --c2: #2cc79a; --c3: #ee79ae; --c4: #e3bf3c; --c5: #8fd0f5;
  --c6: #b492e0; --c7: #9aa3ac; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 130rem; padding: 1rem; background: var(--paper); color: var(--ink);
  font: 15px/1.45 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.35rem; margin: 0 0 .2rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 1.8rem 0 .5rem; padding-top: .5rem; border-top: 1px solid var(--line); }
p { margin: .3rem 0; max-width: 62rem; }
.facts, .notes, figcaption { color: var(--dim); font-size: .86rem; }
.notes { padding-left: 1.1rem; max-width: 62rem; }
.alarm { color: var(--alarm); background: var(--alarm-paper); padding: .4rem .7rem; border-radius: .3rem; }
.wide { overflow-x: auto; max-width: 100%; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; }
th, td { padding: .16rem .55rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
th { color: var(--dim); font-weight: 600; vertical-align: bottom; }
th:first-child, td.name { text-align: left; }
tr.new td { border-top: 1px solid var(--grid); }
table.words td { text-align: left; white-space: normal; vertical-align: top; }
table.words td + td { overflow-wrap: anywhere; }
nav { display: flex; flex-wrap: wrap; gap: .2rem .9rem; font-size: .86rem; margin: .7rem 0; }
a { color: var(--c0); text-decoration: none; }
nav .job { color: var(--dim); }
.csv { float: right; }
.charts { margin-top: 1.1rem; display: grid; gap: .8rem 1.4rem;
  grid-template-columns: repeat(auto-fill, minmax(min(21rem, 100%), 1fr)); }
.cards { margin-top: 1.1rem; display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(min(40rem, 100%), 1fr)); }
.card { border: 1px solid var(--line); border-radius: .4rem; padding: .6rem .9rem; min-width: 0; break-inside: avoid; }
.card h3 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; }
.card figure { max-width: 29rem; }
.card .charts { margin-top: .4rem; grid-template-columns: repeat(auto-fit, minmax(min(17rem, 100%), 1fr)); }
figure { margin: 0; max-width: 38rem; break-inside: avoid; min-width: 0; }
figcaption b { color: var(--ink); }
svg { display: block; width: 100%; height: auto; font-family: inherit; }
svg image { image-rendering: pixelated; }
@media screen and (max-width: 46rem) {
  thead { display: none; }
  table, tbody { display: block; }
  tr { display: grid; grid-template-columns: repeat(auto-fill, minmax(4.6rem, 1fr)); padding: .3rem 0;
    border-bottom: 1px solid var(--line); }
  table.words tr { display: block; }
  th, td { padding: .1rem .2rem; }
  td, tr.new td { text-align: left; border: 0; display: block; }
  td:empty { display: none; }
  td.name { grid-column: 1 / -1; font-weight: 600; }
  td[data-h]::before { content: attr(data-h); display: block; color: var(--dim); font-size: .75rem; }
}
@media print {
  nav, .csv { display: none; }
  :root { --paper: #fff; --ink: #000; --dim: #444; --grid: #c4c8cc; --line: #ccc; --c0: #0072b2; --c1: #d55e00;
    --c2: #009e73; --c3: #c23b78; --c4: #b58900; --c5: #3aa0da; --c6: #7a52a8; --c7: #7f8890;
    --alarm: #6a3a00; --alarm-paper: #fff; }
  body { padding: 0; font-size: 10pt; max-width: none; }
  .charts, .card .charts { grid-template-columns: 1fr 1fr; }
  .cards { display: block; }
  .card { margin-bottom: .6rem; }
  .wide { overflow: visible; }
  table { font-size: 7.5pt; }
  th, td { padding: .1rem .3rem; }
  h2 { break-after: avoid; }
  tr { break-inside: avoid; }
  @page { margin: 12mm; }
}
"""


def text(words: str) -> str:
    """For use between tags and in quotes."""
    return html.escape(words)


def page(title: str, parts: Iterable[str]) -> str:
    """The whole file."""
    body = "\n".join(parts)
    return (
        f'{BEGIN}\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{text(title)}</title>\n<style>\n{svg.CSS}{_CSS}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def heading(words: str, more: str = "") -> str:
    """The heading of a part; more: a sentence about it."""
    return f'<h2 id="{anchor(words)}">{text(words)}</h2>' + (f'\n<p class="facts">{text(more)}</p>' if more else "")


def figure(chart: str, title: str, about: str = "", of: str = "") -> str:
    """A chart with its words, and a link to its data; of: what it is of, for the name of their file."""
    told = " ".join(part for part in (f"<b>{text(title)}</b>" if title else "", text(about)) if part)
    data = link(getattr(chart, "csv", ""), f"{of} {title or about}".strip())
    return f"<figure>\n<figcaption>{told} {data}</figcaption>\n{chart}</figure>"


def card(name: str, figures: Sequence[str], number: int) -> str:
    """The charts of a job, beside each other. number: its own on the page."""
    if not figures:
        return ""
    return f'<section class="card">\n<h3 id="at-job-{number}">{text(name)}</h3>\n{charts(figures)}\n</section>'


def cards(found: Sequence[str]) -> str:
    """The cards of all jobs."""
    return '<div class="cards">\n' + "\n".join(found) + "\n</div>" if found else ""


def anchor(words: str) -> str:
    """An id that links lead to."""
    return "at-" + re.sub(r"[^A-Za-z0-9]+", "-", words).strip("-").lower()


def contents(parts: Iterable[str]) -> str:
    """Links to all headings: parts, and jobs."""
    heads = [head for part in parts for head in _HEAD.findall(part)]
    links = (f'<a{" class=" + chr(34) + "job" + chr(34) if level == "3" else ""} href="#{at}">{words}</a>'
             for level, at, words in heads)
    return f'<nav>{" ".join(links)}</nav>' if len(heads) > 2 else ""


def charts(figures: Sequence[str]) -> str:
    """Beside each other where there is room."""
    return '<div class="charts">\n' + "\n".join(figures) + "\n</div>" if figures else ""


def notes(lines: Sequence[str]) -> str:
    """Small print."""
    items = "\n".join(f"<li>{text(line)}</li>" for line in lines)
    return f'<ul class="notes">\n{items}\n</ul>' if lines else ""


class Table:
    """Rows of cells; a cell is text, or text and the number behind it."""

    def __init__(self, name: str, head: Sequence[str], words: bool = False):
        self.name, self.head, self.words = name, head, words
        self.rows: list[str] = []

    def add(self, name: str, cells: Iterable[str | tuple[str, float | None]], new: bool = False) -> None:
        """A row. new: something else begins."""
        told = "".join(_cell(cell, head) for cell, head in zip_longest(cells, self.head[1:], fillvalue=""))
        self.rows.append(f'<tr{" class=" + chr(34) + "new" + chr(34) if new else ""}>'
                         f'<td class="name">{text(name)}</td>{told}</tr>')

    def html(self) -> str:
        """The table."""
        head = "".join(f"<th>{text(words)}</th>" for words in self.head)
        head = f"<thead><tr>{head}</tr></thead>\n" if self.head else ""
        kind = ' class="words"' if self.words else ""
        body = "\n".join(self.rows)
        return (
            f'<div class="wide"><table id="{text(self.name)}"{kind}>\n{head}<tbody>\n{body}\n</tbody></table></div>'
        )


def _cell(cell: str | tuple[str, float | None], head: str) -> str:
    """One cell. head: of its column, which a narrow screen shows beside the cell."""
    words, value = (cell, None) if isinstance(cell, str) else cell
    named = f' data-h="{text(head)}"' if head else ""
    number = f' data-v="{value!r}"' if value is not None else ""
    return f"<td{named}{number}>{text(words)}</td>"

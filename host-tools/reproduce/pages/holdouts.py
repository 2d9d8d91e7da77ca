# SPDX-License-Identifier: GPL-2.0-or-later
"""holdouts.py - draws docs/results/drives/real-drives.svg from the tables of its page, where the numbers stand.

    build/venv-reproduce/bin/python3 host-tools/reproduce holdouts

Left: random reads of a drive over queue depth, as published and as ours. Right: ours divided by the published
figure for each figure that no sheet had when it was found, with its error. Figures that a sheet has got since then
("fitted since" in the table) have another colour, since they are no hold-outs any more.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reproduce.places import ROOT

PAGE, PICTURE = (ROOT / "docs/results/drives" / name for name in ("README.md", "real-drives.svg"))
SWEEP, FIGURES = "| depth | published, IOPS |", "| drive | figure | published | ours | error |"
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
LABEL = 62  # characters of a figure that are drawn


@dataclass(frozen=True)
class Figure:
    """Holds a published figure and ours; the error is as the page has it."""

    drive: str
    what: str
    published: float
    ours: float
    error: str

    @property
    def fitted(self) -> bool:
        """Is the figure one that a sheet has by now?"""
        return "fitted since" in self.what

    def percent(self) -> float:
        """Return the error by arithmetic."""
        return 100 * (self.ours / self.published - 1)


def number(cell: str) -> float:
    """Return the first number of a cell. Raises a ValueError if it has none."""
    found = _NUMBER.search(cell)
    if not found:
        raise ValueError(f"{PAGE.name}: no number in the cell '{cell}'")
    return float(found[0].replace(",", ""))


def cells(page: str, head: str) -> Iterator[list[str]]:
    """Return the rows of the table whose head begins so."""
    _, found, after = page.partition(f"\n{head}")
    if not found:
        raise ValueError(f"{PAGE.name}: no table begins with '{head}'")
    for line in after.splitlines()[2:]:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]


def sweep(page: str) -> dict[str, list[Figure]]:
    """Return for each variant of our drive its figures, one for each queue depth (Figure.what)."""
    found: dict[str, list[Figure]] = {"8 chips": [], "16 chips": []}
    for depth, published, *ours in cells(page, SWEEP):
        for name, value, error in zip(found, ours[::2], ours[1::2]):
            found[name].append(Figure(name, depth, number(published), number(value), error))
    return found


def figures(page: str) -> list[Figure]:
    """Return the figures that no sheet has. A row without a drive is about the drive of the row before."""
    found: list[Figure] = []
    for drive, what, published, ours, error in cells(page, FIGURES):
        found.append(Figure(drive or found[-1].drive, what, number(published), number(ours), error))
    return found


def label(figure: Figure) -> str:
    """Return a figure's name in the picture."""
    text = f"{figure.drive.partition(',')[0]}: {figure.what}"
    return text if len(text) <= LABEL else f"{text[: LABEL - 1]}…"


def draw(page: str, path: Path) -> None:
    """Draw the picture."""
    from matplotlib import pyplot
    from matplotlib.ticker import FixedLocator, NullLocator, ScalarFormatter

    from reproduce.pages import pictures

    drawn, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.6), width_ratios=(2, 3))
    lines = sweep(page)
    first = next(iter(lines.values()))
    depths = [int(one.what) for one in first]
    left.plot(depths, [one.published for one in first], "o", color="black", label="published", zorder=3)
    for colour, (name, line) in zip(pictures.COLOURS, lines.items()):
        left.plot(depths, [one.ours for one in line], ".-", color=colour, label=f"ours, {name}")
    for one in first:
        left.annotate(one.error, (int(one.what), one.ours), (4, -10), textcoords="offset points", fontsize=7)
    left.set(xscale="log", yscale="log", xlabel="queue depth", ylabel="IOPS", xlim=(0.8, 1500))
    left.xaxis.set_major_locator(FixedLocator(depths))
    left.xaxis.set_major_formatter(ScalarFormatter())
    left.xaxis.set_minor_locator(NullLocator())
    left.set_title("P3700, random 4 KiB reads; error of 8 chips", loc="left")
    left.legend(frameon=False)
    rows = figures(page)[::-1]
    ratios = [one.ours / one.published for one in rows]
    colours = [pictures.COLOURS[1 if one.fitted else 0] for one in rows]
    right.barh(range(len(rows)), [ratio - 1 for ratio in ratios], left=1, color=colours)
    right.set_yticks(range(len(rows)), [label(one) for one in rows])
    for at, (one, ratio) in enumerate(zip(rows, ratios)):
        right.annotate(one.error, (max(ratio, 1), at), (3, -2.5), textcoords="offset points", fontsize=7)
    right.axvline(1, color="black", linewidth=0.8)
    right.set(xscale="log", xlabel="ours / published", xlim=(0.3, 14))
    right.xaxis.set_major_locator(FixedLocator([0.3, 0.5, 1, 2, 5, 10]))
    right.xaxis.set_major_formatter(ScalarFormatter())
    right.xaxis.set_minor_locator(NullLocator())
    right.tick_params("y", labelsize=7)
    right.set_title("figures that no sheet had when they were found", loc="left")
    pictures.save(drawn, path)


def main(_: list[str]) -> int:
    """Draw it. Returns 1 with a sentence on stderr if the page has no such tables."""
    try:
        draw(PAGE.read_text(encoding="utf-8"), PICTURE)
    except (OSError, ValueError) as error:
        print(f"reproduce holdouts: {error}", file=sys.stderr)
        return 1
    print(f"wrote {PICTURE.relative_to(ROOT)}")
    return 0

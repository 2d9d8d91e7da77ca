# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes charts as SVG for a page, by matplotlib. They have the page's colours, and equal data give
equal bytes.

matplotlib supports only fixed colours. So charts are drawn in unused colours, which are then
replaced in the SVG by the page's CSS variables (page.py has their light and dark values). Text
stays text, in the page's font. Ids get the chart's number, since they share a page.
"""

from __future__ import annotations

import html
import io
import logging
import math
import re
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

from . import packages
from .svg import compact, csv, with_tips
from .watch import Progress

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

INK, GRID = "#000001", "#000002"
COLORS = tuple(f"#0000a{n}" for n in range(9))
_VARIABLES = {INK: "--ink", GRID: "--grid"} | {color: f"--c{n}" for n, color in enumerate(COLORS)}
WIDTH, HEIGHT = 4.4, 2.9  # inches; the width of a phone's screen
MOST_TICKS = 7  # more labels such as '500 µs' would touch each other
FINE = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
LABEL = 48  # characters of a line's name that are shown
SIDE = 24  # likewise of a bar's
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "slate",
    "font.size": 9.5,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9.5,
    "legend.fontsize": 8.5,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "text.color": INK,
    "axes.edgecolor": GRID,
    "axes.labelcolor": INK,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": GRID,
    "grid.linewidth": 0.5,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "image.interpolation": "none",
    "figure.constrained_layout.use": True,
    "text.parse_math": False,  # a job may be called $x
}


def _matplotlib() -> ModuleType:
    """Import matplotlib at the first use, because that takes a second."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # no warning if its cache directory can not be written
    matplotlib = packages.load("matplotlib")
    matplotlib.use("svg")
    return matplotlib


class Chart(str):
    """Holds an SVG and the data in it."""

    csv = ""


class Charts:
    """Makes the charts of one page."""

    def __init__(self) -> None:
        self._progress = Progress(sys.stderr, time.monotonic())
        self._progress.now("page      loading matplotlib")
        self._lib = _matplotlib()
        self._progress.clear()
        self._count = 0
        self._tips: dict[str, str] = {}

    @contextmanager
    def figure(
        self, out: list[str], what: str, rows: int = 1, height: float = HEIGHT, **more: Any
    ) -> Iterator[Any]:
        """Provide axes to draw on; afterwards the SVG is appended to out.

        what: a description for readers who cannot see it.
        """
        import matplotlib.pyplot as plt

        self._progress.now(f"page      chart {self._count + 1}: {what}")
        with self._lib.rc_context(STYLE), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph ")  # a name in another script: the font of the page has its glyphs
            figure, axes = plt.subplots(rows, 1, figsize=(WIDTH, height), **more)
            try:
                yield axes
                raw = io.StringIO()
                figure.savefig(raw, format="svg", metadata={"Date": None, "Creator": None})
            finally:
                plt.close(figure)
                self._progress.clear()
        self._count += 1
        every = figure.axes
        last = every[rows - 1]  # the axes after it are scales of colours
        made = Chart(_for_page(raw.getvalue(), self._count, what, self._tips))
        made.csv = csv(every[:rows], getattr(last, "slate_x", "") or last.get_xlabel() or "x")
        self._tips = {}
        out.append(made)

    def tip(self, artist: Artist, told: str) -> None:
        """Set the text shown when a pointer is on a line or an area of the current figure."""
        name = f"tip{len(self._tips)}"
        artist.set_gid(name)
        self._tips[name] = told


def _for_page(svg: str, number: int, what: str, tips: dict[str, str]) -> str:
    """Return the <svg> element of a chart, in the page's colours and font, with ids of its own."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\n?", "", svg, flags=re.DOTALL)
    for color, variable in _VARIABLES.items():
        svg = svg.replace(color, f"var({variable})")
    svg = re.sub(r"font: ([0-9.]+)px [^;\"]*", r"font-size: \1px", svg)
    svg = re.sub(r" ?font-family: [^;\"]*;?", "", svg)
    svg = re.sub(r' transform="rotate\(-0 [^"]*"', "", svg)
    svg = re.sub(r'\bid="', f'id="c{number}-', svg)
    svg = re.sub(r'(href=")#', rf"\1#c{number}-", svg)
    svg = svg.replace("url(#", f"url(#c{number}-")
    head = re.compile(r'<svg [^>]*viewBox="([^"]*)"[^>]*>')
    tag = f'<svg xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="%s" role="img" aria-label="{html.escape(what)}">'
    svg = head.sub(lambda found: tag.replace("%s", found[1], 1), svg, count=1)
    return with_tips(compact(svg), number, tips)


# ---- axes


def log_ticks(low: float, high: float) -> tuple[tuple[float, float], list[float]]:
    """Return the ends of a logarithmic axis that holds low .. high, 1, 2 or 5 times a power of ten, and its ticks.

    Ticks are at 1, 2 and 5 times a power of ten. If these are more than MOST_TICKS, only the powers of ten have a
    tick; if they are fewer than three, the digits in FINE have.
    """
    decades = [10.0**power for power in range(-4, 13)]
    steps = [digit * decade for decade in decades for digit in (1, 2, 5)]
    first = max((step for step in steps if step <= low), default=steps[0])
    last = min((step for step in steps if step >= high), default=steps[-1])
    if last == first:
        last = steps[steps.index(first) + 1]
    among = {name: [step for step in all_of if first <= step <= last] for name, all_of in (
        ("steps", steps), ("decades", decades), ("fine", [digit * decade for decade in decades for digit in FINE]),
    )}  # fmt: skip
    count = len(among["steps"])
    return (first, last), among["fine" if count < 3 else "steps" if count <= MOST_TICKS else "decades"]


def log_us(axis: Axis) -> None:
    """Make an axis of µs logarithmic, with plain numbers and units at the ticks. Call it after all lines are drawn."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter

    shown = axis.get_data_interval()
    if not all(map(math.isfinite, shown)):  # no line has a point
        shown = axis.get_view_interval()
    ends, ticks = log_ticks(*sorted(shown))
    axis.set_view_interval(*ends, ignore=True)
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FuncFormatter(lambda us, _: duration(us * 1000)))
    axis.set_minor_locator(LogLocator(subs=range(2, 10), numticks=20))
    axis.set_minor_formatter(NullFormatter())


def label(name: str) -> str:
    """Make a user's name safe as a label: matplotlib leaves '_x' out of legends."""
    return f"\N{ZERO WIDTH SPACE}{name}" if name.startswith("_") else name


def short(name: str) -> str:
    """Return a name for the side of a bar: both of its ends if it is long, because long names may begin alike."""
    return name if len(name) <= SIDE else f"{name[: SIDE // 2]}…{name[1 - SIDE // 2 :]}"


def duration(ns: float) -> str:
    """Format as '100 µs', '10 ms', '2 s'."""
    for size, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns >= size * 0.999:
            return f"{ns / size:g} {name}"
    return f"{ns:g} ns"


def legend(axes: Axes, columns: int = 3) -> None:
    """Put the legend above the axes, where there are no lines."""
    handles, labels = axes.get_legend_handles_labels()
    labels = [label if len(label) <= LABEL else f"{label[: LABEL - 1]}…" for label in labels]
    if labels:
        axes.legend(
            handles,
            labels,
            loc="lower left",
            bbox_to_anchor=(0, 1.0),
            ncols=columns,
            borderaxespad=0.1,
            handlelength=1.3,
            columnspacing=1.0,
        )


def steps(axes: Any, edges: Sequence[float], values: Sequence[float], column: str = "", **style: Any) -> None:
    """Draw a value for each interval. column: its name in the CSV, if that differs from the legend."""
    axes.stairs(values, edges, baseline=None, **style).slate_column = column

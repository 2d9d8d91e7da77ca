# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws the figures of a run's page. Each function returns SVGs with a title; other modules compute the numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import charts, counters, units
from .account import PARTS, PERCENTILES, Device, OpAccount, points_ns
from .charts import COLORS, GRID, INK, Charts
from .fiolog import OverTime
from .rows import Row
from .series import NOT_TOLD, Part, Series
from .shape import Json

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.cm import ScalarMappable

OP_COLORS = {"read": COLORS[0], "write": COLORS[1], "trim": COLORS[2], "flush": COLORS[3]}
CAUSES = (
    ("host-units", "host", COLORS[0]),
    ("gc-units", "GC", COLORS[1]),
    ("wl-units", "wear levelling", COLORS[3]),
    ("pad-units", "padding", COLORS[7]),
    ("meta-units", "metadata", COLORS[4]),
)
PART_STYLE = {
    "path": ("guest's path", COLORS[7]),
    "cell": ("cell", COLORS[0]),
    "bus": ("bus", COLORS[5]),
    "host-queue": ("behind host", COLORS[4]),
    "gc-queue": ("behind GC", COLORS[1]),
    "buffer": ("buffer", COLORS[2]),
    "map": ("map", COLORS[6]),
    "other": ("other", COLORS[3]),
    "link": ("link", INK),
    "controller": ("behind cores", GRID),
    "namespace-queue": ("behind namespaces", COLORS[8]),
}
SOURCE_COLORS = tuple(COLORS[n] for n in (0, 1, 3, 4, 7, 6, 2, 5))  # by the place of a source in its table
MAX_BARS = 14
MAX_TIPS = 40
TALL = 3.7  # inches: the charts of a job
CDF_STEP = 1.004  # latencies nearer than that, less than a pixel, become one point of a line
MIN_ROWS = 4  # fewer rows make no useful time line


@dataclass
class Span:
    """Holds the time of a job on the drive's clock."""

    name: str
    begin_ns: int
    end_ns: int


def spans(rows: Iterable[Row]) -> list[Span]:
    """Return the times of the jobs that set marks, in order."""
    found: dict[str, Span] = {}
    for row in rows:
        if row.account and row.account.end_ns > row.account.begin_ns:
            found.setdefault(row.job, Span(row.job, row.account.begin_ns, row.account.end_ns))
    return list(found.values())


# ---- latency


def cdf(op: OpAccount) -> tuple[list[float], list[float]]:
    """Return latencies in µs, each with the share of I/Os that were slower, from a histogram."""
    total, seen = sum(op.histogram.values()), 0
    first = min(op.histogram)
    xs, ys = [max(first, 1) / 1000], [1.0]
    for floor in sorted(op.histogram):
        seen += op.histogram[floor]
        us, slower = max(op.last_ns(floor), 1) / 1000, (total - seen) / total
        if seen == total or us > xs[-1] * CDF_STEP or slower < ys[-1] / CDF_STEP**4:
            xs.append(us)
            ys.append(slower)
    return xs, ys


def guest_points(fio: Json | None, job: str, op: str) -> tuple[list[float], list[float]]:
    """Return fio's percentiles of the first clone as a CDF."""
    section = {"flush": "sync"}.get(op, op)
    for found in (fio or {}).get("jobs", ()):
        data = found.get(section, {})
        points = data.get("lat_ns", {}).get("percentile") or data.get("clat_ns", {}).get("percentile")
        if found["jobname"] == job and points:
            numbers = (share for share in points if re.fullmatch(r"\d+\.\d+", share))
            pairs = sorted((float(share) / 100, points[share] / 1000) for share in numbers)
            return [ns for _, ns in pairs], [1 - share for share, _ in pairs]
    return [], []


def latency(made: Charts, job: str, rows: list[Row], fio: Json | None) -> list[str]:
    """Chart a job's latency CDF: the drive's, and the guest's."""
    out: list[str] = []
    lines: list[tuple[list[float], list[float], Json]] = []
    clones = any(row.guest and row.guest.clones > 1 for row in rows)
    for row in rows:
        color = OP_COLORS[row.op]
        if row.drive and row.drive.histogram:
            lines.append((*cdf(row.drive), {"color": color, "label": f"{row.op}, drive", "of": row.drive}))
        style = {"color": color, "label": f"{row.op}, guest", "linestyle": "--"}
        if row.guest and row.guest.histogram:
            lines.append((*cdf(row.guest.histogram), {**style, "of": row.guest.histogram}))
            continue
        points = ([], []) if clones else guest_points(fio, job, row.op)
        if points[0]:
            lines.append((*points, {**style, "marker": ".", "ms": 3}))
    if not lines:
        return out
    with made.figure(out, f"Latency of {job}: share of I/Os by latency", 1, TALL) as axes:
        draw_cdf(made, axes, lines)
    return out


def _said(op: OpAccount | None) -> str:
    """Return the percentiles of a kind of I/O, as text for a line's tip."""
    if not op:
        return ""
    told = [f"{name} {units.us(ns)}" for name, ns in zip(PERCENTILES.values(), points_ns(op)) if ns is not None]
    return ": " + ", ".join([*told, f"longest {units.us(op.latency_max_ns)} µs"])


def draw_cdf(
    made: Charts, axes: Any, lines: list[tuple[list[float], list[float], Json]], columns: int = 2
) -> None:
    """Draw the lines of a CDF, on an axis of nines: 90 % to 99 % is as long as 99 % to 99.9 %."""
    from matplotlib.ticker import FixedLocator, FuncFormatter

    least = min((y for _, ys, _ in lines for y in ys if y > 0), default=1.0)
    nines = max(-math.log10(least) + 0.3, 1.0)
    for xs, ys, style in lines:
        shown = [min(-math.log10(y), nines) if y > 0 else nines for y in ys]
        drawn = {"drawstyle": "default" if "marker" in style else "steps-post", **style}
        told = style["label"] + _said(drawn.pop("of", None))
        made.tip(axes.plot(xs, shown, **drawn)[0], told)
    axes.slate_x, axes.slate_value = "us", lambda at: 1 - 10**-at if at < nines else 1.0
    axes.set_xscale("log")
    axes.set_ylim(0, nines)
    ticks = [0, -math.log10(0.5), *range(1, int(nines) + 1)]
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda at, _: f"{100 * (1 - 10**-at):.10g} %"))
    charts.log_us(axes.xaxis)
    charts.legend(axes, columns)


# ---- time


def time_line(made: Charts, span: Span, series: Series) -> list[str]:
    """Draw a job's IOPS and latencies over its time, from the drive."""
    part = series.part(span.begin_ns, span.end_ns)
    out: list[str] = []
    ops = [op for op in OP_COLORS if op != "flush" and any(part.column(op, "ios"))]
    if part.last - part.first < MIN_ROWS or not ops:
        return out
    with made.figure(out, f"IOPS and latency of {span.name} over time", 2, TALL, sharex=True) as (above, below):
        for op in ops:
            ios, total = part.column(op, "ios"), part.column(op, "latency-sum-ns")
            rate = [count / seconds for count, seconds in zip(ios, part.seconds())]
            mean = [ns / count / 1000 if count else float("nan") for ns, count in zip(total, ios)]
            most = [ns / 1000 or float("nan") for ns in part.column(op, "latency-max-ns")]
            charts.steps(above, part.edges(), rate, color=OP_COLORS[op], label=op)
            charts.steps(below, part.edges(), mean, f"{op} mean, us", color=OP_COLORS[op], label="mean")
            charts.steps(
                below, part.edges(), most, f"{op} longest, us", color=OP_COLORS[op], linestyle=":", label="longest"
            )
            _interval_tips(made, (above, below), part, op, list(zip(rate, mean, most)))
        above.set_ylim(bottom=0)
        above.set_ylabel("IOPS")
        _thousands(above.yaxis)
        charts.legend(above)
        below.set_yscale("log")
        charts.log_us(below.yaxis)
        below.set_ylabel("mean, ··· longest")
        _seconds(below, part)
    return out


def _interval_tips(
    made: Charts, both: tuple[Axes, Axes], part: Part, op: str, figures: list[tuple[float, float, float]]
) -> None:
    """Add tips to the intervals of one kind of I/O, unless they are too many to point at."""
    edges = part.edges()
    if len(figures) > MAX_TIPS:
        return
    for begin, end, (rate, mean, most) in zip(edges, edges[1:], figures):
        if rate:
            times = f"mean {units.us(mean * 1000)}, longest {units.us(most * 1000)} µs"
            told = f"{begin:.3f} s: {op} {units.rate(rate)} IOPS, {times}"
            for axes in both:
                made.tip(axes.axvspan(begin, end, alpha=0, linewidth=0), told)


def percentiles(made: Charts, job: str, lines: list[OverTime]) -> list[str]:
    """Draw the guest's latency over a job's time: median, 99 % and maximum of each interval."""
    out: list[str] = []
    with made.figure(out, f"Percentiles of {job} over time, in the guest", 1, TALL) as axes:
        for one in lines:
            for permille, style in ((500, "-"), (990, "--"), (1000, ":")):
                values = [float("nan") if ns is None else max(ns, 1) / 1000 for ns in one.points[permille]]
                label = f"{one.op} {'max' if permille == 1000 else f'p{permille // 10}'}"
                charts.steps(axes, one.edges(), values, color=OP_COLORS[one.op], linestyle=style, label=label)
        axes.set_yscale("log")
        charts.log_us(axes.yaxis)
        axes.set_xlim(0, max(one.edges()[-1] for one in lines))
        axes.set_xlabel("job's time, s")
        charts.legend(axes)
    return out


def causes(series: Series, device: Device) -> list[tuple[str, str, list[float]]]:
    """Return the bytes programmed in each row by known cause: (name, colour, bytes)."""
    part, unit = series.part(), device.unit_bytes
    found: list[tuple[str, str, Sequence[float]]]
    if device.packed:  # the series has no pages by cause
        found = [("all causes", COLORS[0], part.column("drive", "nand-programs"))]
    elif series.has("drive", "host-units"):
        found = [(name, color, part.column("drive", key)) for key, name, color in CAUSES]
    else:  # of --interval
        moved = part.column("drive", "gc-units")
        per_page = (device.setting("page_bytes") or unit) / unit
        pages = part.column("drive", "nand-programs")
        rest = [max(count * per_page - units, 0) for count, units in zip(pages, moved)]
        found = [("all but GC", COLORS[0], rest), ("GC", COLORS[1], moved)]
    return [(name, color, [count * unit for count in column]) for name, color, column in found if any(column)]


def amplification(made: Charts, series: Series, device: Device, jobs: list[Span]) -> list[str]:
    """Return the bytes programmed over the bytes written, in each row."""
    part = series.part()
    written = part.column("write", "bytes")
    out: list[str] = []
    if part.last < MIN_ROWS or not any(written):
        return out
    programmed_bytes = [sum(column) for column in zip(*(column for *_, column in causes(series, device)))]
    if not programmed_bytes:
        return out
    ratio = [a / b if b else float("nan") for a, b in zip(programmed_bytes, written)]
    with made.figure(out, "Write amplification over time") as axes:
        charts.steps(axes, part.edges(), ratio, color=COLORS[1])
        axes.set_ylim(bottom=0)
        axes.set_ylabel("WAF")
        _job_lines(axes, jobs)
        _seconds(axes, part)
    return out


def programmed(made: Charts, series: Series, device: Device, jobs: list[Span]) -> list[str]:
    """Draw the bytes programmed by cause, and the free blocks."""
    part = series.part()
    out: list[str] = []
    told = causes(series, device)
    free = part.column("drive", "free-blocks") if series.has("drive", "free-blocks") else [NOT_TOLD]
    known = NOT_TOLD not in free
    if part.last < MIN_ROWS or not (told or known):
        return out
    with made.figure(
        out, "Programmed by cause, and free blocks, over time", 1 + known, 3.7 if known else 2.9, sharex=True
    ) as axes:
        above = axes[0] if known else axes
        base = [0.0] * series.rows
        for name, color, column in told:
            added = [count / (1 << 20) / seconds for count, seconds in zip(column, part.seconds())]
            top = [a + b for a, b in zip(base, added)]
            above.stairs(top, part.edges(), baseline=base, fill=True, color=color, linewidth=0, label=name)
            base = top
        above.set_ylim(bottom=0)
        above.set_ylabel("MiB/s")
        charts.legend(above)
        last = above
        if known:
            last = axes[1]
            charts.steps(last, part.edges(), free, color=COLORS[2])
            last.set_ylabel("free blocks")
            last.set_ylim(0, max(*free, 1) * 1.08)
        for one in (above, last) if known else (above,):
            _job_lines(one, jobs)
        _seconds(last, part)
    return out


def busy_map(made: Charts, series: Series, what: str, name: str) -> list[str]:
    """Draw the busy share of each die, channel or vCPU over time."""
    shares = series.busy(what)
    out: list[str] = []
    if series.rows < MIN_ROWS or not shares:
        return out
    height = min(2.0 + 0.09 * len(shares), 5.0)
    with made.figure(out, f"How busy each {name} was over time", 1, height) as axes:
        picture = axes.imshow(
            shares,
            aspect="auto",
            cmap="viridis",
            vmin=0,
            vmax=1,
            extent=(series.begin_ns / 1e9, series.end_ns / 1e9, len(shares) - 0.5, -0.5),
        )
        axes.grid(False)
        axes.set_ylabel(name)
        _whole_numbers(axes.yaxis)
        _seconds(axes, series.part())
        _scale(picture, axes, percent=True)
    return out


def busy_bars(made: Charts, device: Device, what: str, name: str) -> list[str]:
    """Draw the busy share of each die or channel in the whole run, by cause."""
    from matplotlib.ticker import PercentFormatter

    each = device.raw.get(what, [])
    out: list[str] = []
    if not each or not device.at_ns:
        return out
    with made.figure(out, f"How busy each {name} was, by cause") as axes:
        base = [0.0] * len(each)
        for place, source in enumerate(counters.sources(name for one in each for name in one)):
            added = [one.get(source, 0) / device.at_ns for one in each]
            if not any(added):
                continue
            top = [a + b for a, b in zip(base, added)]
            edges = [at - 0.5 for at in range(len(each) + 1)]
            axes.stairs(top, edges, baseline=base, fill=True, color=SOURCE_COLORS[place % len(SOURCE_COLORS)],
                        linewidth=0, label=source)  # fmt: skip
            base = top
        axes.set_xlim(-0.5, len(each) - 0.5)
        axes.set_ylim(0, 1)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
        _whole_numbers(axes.xaxis)
        axes.set_xlabel(name)
        charts.legend(axes)
    return out


def _job_lines(axes: Axes, jobs: list[Span]) -> None:
    for span in jobs:
        axes.axvline(span.begin_ns / 1e9, color=INK, linewidth=0.7, linestyle=(0, (2, 3)))


def _seconds(axes: Axes, part: Part) -> None:
    edges = part.edges()
    axes.set_xlim(edges[0], edges[-1])
    axes.set_xlabel("drive's time, s")


def _thousands(axis: Axis) -> None:
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"))


def _whole_numbers(axis: Axis) -> None:
    """Label whole numbers only; one label is enough, as with one processor."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins="auto", integer=True, min_n_ticks=1, steps=[1, 2, 2.5, 5, 10]))


def _scale(picture: ScalarMappable, axes: Axes, percent: bool = False) -> None:
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    bar = axes.figure.colorbar(picture, ax=axes, pad=0.02, aspect=25)
    bar.outline.set_visible(False)
    if percent:
        bar.ax.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
    else:
        bar.ax.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))


# ---- the drive's features over time


def _shares_over_time(
    made: Charts, series: Series, jobs: list[Span], what: str, shares: list[tuple[str, list[float]]]
) -> list[str]:
    """Draw shares of each row, a line each; nan: unknown."""
    from matplotlib.ticker import PercentFormatter

    part = series.part()
    out: list[str] = []
    if part.last < MIN_ROWS or not shares:
        return out
    with made.figure(out, what) as axes:
        for (name, column), color in zip(shares, COLORS):
            charts.steps(axes, part.edges(), column, color=color, label=name)
        axes.set_ylim(0, 1.05)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
        _job_lines(axes, jobs)
        _seconds(axes, part)
        charts.legend(axes, 2)
    return out


def caches(made: Charts, series: Series, jobs: list[Span]) -> list[str]:
    """Draw the share of the map's look-ups, the host's pages and the host's reads that each cache took."""
    part = series.part()
    found = []
    for name, hit, of in (
        ("map look-ups in memory", "map-hits", ("map-hits", "map-misses")),
        ("pages to the SLC cache", "slc-pages", ("slc-pages", "slc-direct-pages")),
        ("reads from the read cache", "read-cache-hits", ()),
    ):
        hits = part.column("drive", hit)
        both = [sum(row) for row in zip(*(part.column("drive", key) for key in of))]
        if any(hits) or any(both):
            whole = both or part.column("read", "ios")
            found.append((name, [a / b if b else math.nan for a, b in zip(hits, whole)]))
    return _shares_over_time(made, series, jobs, "Share of each cache's hits over time", found)


def controller(made: Charts, series: Series, device: Device, jobs: list[Span]) -> list[str]:
    """Draw how busy the controller's cores, its memory and the host link were."""
    part = series.part()
    found = []
    for name, key, count in (
        ("cores", "core-busy-ns", device.setting("cores") or 1),
        ("memory", "dram-busy-ns", 1),
        ("link to the host", "link-to-host-busy-ns", 1),
        ("link to the drive", "link-to-drive-busy-ns", 1),
    ):
        busy = part.column("drive", key)
        if any(busy):
            found.append((name, series.shares([ns / count for ns in busy])))
    return _shares_over_time(made, series, jobs, "How busy controller and link were over time", found)


# ---- where the time went


def where(made: Charts, rows: list[Row]) -> list[str]:
    """Draw the parts of each job's mean latency, as shares, because reads and writes differ widely."""
    from matplotlib.ticker import PercentFormatter

    shown = [row for row in rows if row.drive and row.drive.ios][:MAX_BARS]
    out: list[str] = []
    if not shown:
        return out
    bars = [_shares(row) for row in shown]
    used = [part for part in PART_STYLE if any(bar[part] > 0.002 for bar in bars)]
    names = [f"{charts.short(row.job)}\n{row.op}" for row in shown]
    with made.figure(out, "Mean latency by cause", 1, 1.5 + 0.42 * len(shown)) as axes:
        left = [0.0] * len(shown)
        for part in used:
            label, color = PART_STYLE[part]
            widths = [bar.get(part, 0.0) for bar in bars]
            drawn = axes.barh(range(len(shown)), widths, left=left, color=color, label=label, height=0.66)
            for row, patch, width in zip(shown, drawn, widths):
                made.tip(patch, f"{row.job} {row.op}: {label} {100 * width:.1f} %, {units.us(_part_ns(row, part))} µs")
            left = [a + b for a, b in zip(left, widths)]
        axes.set_yticks(range(len(shown)), names)
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.set_xlim(0, 1)
        axes.xaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
        axes.grid(False, axis="y")
        charts.legend(axes, 3)
    return out


def _part_ns(row: Row, part: str) -> float:
    assert row.drive
    return max(row.path_ns() or 0, 0) if part == "path" else row.drive.mean_part_ns(part)


def _shares(row: Row) -> dict[str, float]:
    """Return the shares of the mean latency, by part."""
    found = {part: _part_ns(row, part) for part in (*PARTS, "path")}
    total = sum(found.values()) or 1.0
    return {part: ns / total for part, ns in found.items()}


def where_over_time(made: Charts, series: Series, jobs: list[Span]) -> list[str]:
    """Draw how many I/Os, on average, are in each part of their latency, for each second of the drive's time."""
    part = series.part()
    out: list[str] = []
    if part.last < MIN_ROWS or not series.has("read", "cell-ns"):
        return out
    with made.figure(out, "I/Os inside the drive by what they wait for, over time") as axes:
        base = [0.0] * (part.last - part.first)
        spent = {
            key: [sum(ns) for ns in zip(*(part.column(op, f"{key}-ns") for op in OP_COLORS))] for key in PARTS
        }
        worth = 0.005 * sum(map(sum, spent.values()))
        for key in PARTS:
            if sum(spent[key]) <= worth:
                continue
            added = [ns / 1e9 / seconds for ns, seconds in zip(spent[key], part.seconds())]
            label, color = PART_STYLE[key]
            top = [a + b for a, b in zip(base, added)]
            axes.stairs(top, part.edges(), baseline=base, fill=True, color=color, linewidth=0, label=label)
            base = top
        axes.set_ylim(bottom=0)
        axes.set_ylabel("I/Os")
        _job_lines(axes, jobs)
        _seconds(axes, part)
        charts.legend(axes, 3)
    return out


# ---- wear


def wear(made: Charts, blocks: Json, key: str, what: str) -> list[str]:
    """Draw a number of each block, one plane in each row."""
    values, per_plane = blocks[key], blocks["blocks-per-plane"]
    out: list[str] = []
    if not values:
        return out
    bad = [state == "b" for state in blocks["states"]]
    planes = [
        [float("nan") if bad[at] else values[at] for at in range(plane, plane + per_plane)]
        for plane in range(0, len(values), per_plane)
    ]
    good = [value for value, is_bad in zip(values, bad) if not is_bad] or [0]
    with made.figure(out, f"{what} of each block", 1, min(2.0 + 0.09 * len(planes), 5.0)) as axes:
        picture = axes.imshow(
            planes,
            aspect="auto",
            cmap="viridis",
            vmin=min(0, *good),
            vmax=max(1, *good),
            extent=(-0.5, per_plane - 0.5, len(planes) - 0.5, -0.5),
        )
        axes.grid(False)
        axes.set_xlabel("block of the plane")
        axes.set_ylabel("plane")
        _whole_numbers(axes.yaxis)
        _whole_numbers(axes.xaxis)
        _scale(picture, axes)
    return out



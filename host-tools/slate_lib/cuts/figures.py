# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws the figures of a campaign of power cuts: when the cuts came, and the last requests before one of them."""

from __future__ import annotations

from collections.abc import Iterable

from ..charts import COLORS, INK, Chart, Charts, legend
from ..shape import Json
from . import shrink
from .workload import FAILED, VERDICTS

VERDICT_COLORS = dict(zip((*VERDICTS, FAILED), (COLORS[0], COLORS[3], COLORS[1], COLORS[4], COLORS[7])))
BINS = 40
LANES = 10  # of requests under way at a time; further ones share the last
NARROW = 1 / 150  # of the chart's width: the narrowest bar
FLUSHED, THERE, LOST, LEAST, FLUSH = "durable", "unflushed, there", "lost", "least loss", "flush"
STATE_COLORS = {FLUSHED: COLORS[7], THERE: COLORS[5], LOST: COLORS[1], LEAST: COLORS[3], FLUSH: COLORS[2]}


def bins(cuts: list[Json]) -> tuple[list[float], dict[str, list[int]]]:
    """Return the edges of the bins of time in ms, and the number of cuts in each bin by verdict."""
    times = [cut["cut_ns"] / 1e6 for cut in cuts]
    low, high = min(times), max(times)
    width = (high - low) / BINS or 1.0
    edges = [low + width * at for at in range(BINS + 1)]
    found: dict[str, list[int]] = {}
    for cut, ms in zip(cuts, times):
        counts = found.setdefault(cut["verdict"], [0] * BINS)
        counts[min(int((ms - low) / width), BINS - 1)] += 1
    return edges, {name: found[name] for name in VERDICT_COLORS if name in found}


def over_time(made: Charts, cuts: list[Json]) -> list[str]:
    """Draw how many cuts came when, by verdict."""
    out: list[str] = []
    if len(cuts) < 2:
        return out
    edges, found = bins(cuts)
    with made.figure(out, "Power cuts over the work's time, by verdict") as axes:
        below = [0] * BINS
        for name, counts in found.items():
            top = [a + b for a, b in zip(below, counts)]
            axes.stairs(top, edges, baseline=below, fill=True, color=VERDICT_COLORS[name], label=name)
            below = top
        axes.set_xlabel("time of the cut, ms")
        axes.set_ylabel("cuts")
        axes.set_ylim(0, max(below) * 1.05)
        axes.yaxis.get_major_locator().set_params(integer=True)
        legend(axes)
    return out


def state(account: shrink.Account, row: Json) -> str:
    """Return what became of a request before a cut."""
    if row["op"] == "flush":
        return FLUSH
    number = row["request"]
    if any(one["request"] == number for one in account.smallest or []):
        return LEAST
    if any(one["request"] == number for one in account.lost):
        return LOST
    return THERE if any(one["request"] == number for one in account.unflushed) else FLUSHED


def lanes(spans: list[tuple[float, float]]) -> list[int]:
    """Return a lane for each bar, in the order of their beginnings, so that bars in a lane do not overlap."""
    ends: list[float] = []
    found = []
    for begin, end in spans:
        at = min(next((lane for lane, last in enumerate(ends) if last <= begin), len(ends)), LANES - 1)
        if at == len(ends):
            ends.append(end)
        ends[at] = max(ends[at], end)
        found.append(at)
    return found


def timeline(made: Charts, account: shrink.Account) -> list[str]:
    """Draw the last requests before a cut as bars, announcements as triangles, and the cut as a line."""
    out: list[str] = []
    rows = [row for row in account.requests if row["op"] != "read"]
    if not rows:
        return out
    us = [((row["submit_ns"] - account.at_ns) / 1e3,
           min(0.0, (row["done_ns"] - account.at_ns) / 1e3) if row["done_ns"] is not None else 0.0)
          for row in rows]  # fmt: skip
    first = min(begin for begin, _ in us)
    narrow = -first * NARROW
    bars = [(min(begin, -narrow), min(0.0, max(end, begin + narrow))) for begin, end in us]
    at = lanes(bars)
    marks = [(ns - account.at_ns) / 1e3 for _, ns in account.marks if ns <= account.at_ns]
    marks = [mark for mark in marks if mark >= first]
    with made.figure(out, f"The last requests before the cut {account.id}, announcements, and the cut") as axes:
        states = [state(account, row) for row in rows]
        for name, color in STATE_COLORS.items():
            mine = [n for n, one in enumerate(states) if one == name]
            if mine:
                spans = [(bars[n][0], bars[n][1] - bars[n][0]) for n in mine]
                for number, (lane, span) in enumerate(zip([at[n] for n in mine], spans)):
                    axes.broken_barh([span], (lane - 0.4, 0.8), facecolors=color, label="" if number else name)
        if marks:
            axes.plot(marks, [-1.0] * len(marks), linestyle="none", marker="^", markersize=4, color=INK,
                      label="announced")  # fmt: skip
        axes.axvline(0, color=INK, linewidth=1.4)
        axes.annotate("cut", (0, max(at) + 0.75), ha="right", xytext=(-3, 0), textcoords="offset points", color=INK)
        axes.set_ylim(-1.6, max(at) + 1.4)
        axes.set_xlim(first + first * 0.02, -first * 0.02)
        axes.set_yticks([])
        axes.set_xlabel("µs before the cut")
        axes.grid(axis="y", visible=False)
        legend(axes)
    head = "request,op,offset,bytes,submitted before the cut in us,completed before the cut in us,state\n"
    chart = out[-1]
    assert isinstance(chart, Chart)
    chart.csv = head + "".join(
        f"{row['request']},{row['op']},{row['offset']},{row['bytes']},{-begin:g},"
        f"{'' if row['done_ns'] is None else f'{-end:g}'},{what}\n"
        for row, (begin, end), what in zip(rows, us, states)
    )
    return out


def csv_rows(lines: Iterable[dict[str, str]], at_ns: int, most: int) -> list[Json]:
    """Return the last requests until a time, from the rows of slate-replay --csv, as an account keeps them."""
    found = []
    for line in lines:
        begin, latency = int(line["submit_ns"]), int(line["latency_ns"] or 0)
        if line["op"] != "read" and begin <= at_ns:
            done = begin + latency
            found.append({"request": int(line["request"]), "op": line["op"], "offset": int(line["offset"]),
                          "bytes": int(line["bytes"]), "fua": line["fua"] == "1", "submit_ns": begin,
                          "done_ns": done if done <= at_ns else None})  # fmt: skip
    return found[-most:]

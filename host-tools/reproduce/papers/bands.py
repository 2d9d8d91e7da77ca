# SPDX-License-Identifier: GPL-2.0-or-later
"""bands.py - a paper's figures over several seeds, and over stand-ins fitted to several real traces.

A study of one paper has one stand-in for each volume. Here a figure's average is taken over each of these sets of
stand-ins, and a row has the mean, the lowest and the highest of them:

- "seeds": the study's settings (workloads.toml) with seeds 1, 2, ...
- "fits": seed 1, each time all volumes with the settings fitted to one real trace (fits.toml; standin.py --like)
"""

from __future__ import annotations

from dataclasses import replace

from reproduce.papers import figures
from reproduce.papers.figures import Figure
from reproduce.rows.compare import banded as banded_rows
from reproduce.rows.points import Trace
from reproduce.traces import fits

SEEDS = 5
GROUPS = ("seeds", "fits")
ENDS = ("nftl-72", "nftl")  # the paper's text has numbers of the smallest and the largest blocks only
# Five of twelve, for time; of the volumes that write over 4 GB (figures 3a and 5) these are prn_0 and prn_1.
VOLUMES = ("hm_0", "prn_0", "prn_1", "src1_2", "stg_1")
PEN = {  # configurations that are left out would add a third of the time; None: all
    "fig03a": ENDS, "fig03b": ENDS, "fig04": ENDS, "fig05": ENDS, "fig12a": None, "fig12b": None,
    "fig13a": None, "fig13b": None, "fig13c": None, "fig15a": None, "fig15c": ("pen", "pbe-165"),
    "fig16a": None, "fig16b": None, "fig17a": None, "fig17b": None, "fig17c": None,
}  # fmt: skip
QUICK_FIGURES = ("fig13a",)
IPPBE_QUICK_FIGURES = ("fig08",)


def variants(traces: tuple[Trace, ...], seeds: int) -> dict[str, tuple[Trace, ...]]:
    """Return the stand-ins of each group.

    "seeds": the study's own, and the same with other seeds; "fits": with the settings of each real trace.
    """
    more = tuple(replace(t, settings=(*t.settings, ("seed", n))) for n in range(2, seeds + 1) for t in traces)
    return {"seeds": traces + more, "fits": tuple(replace(t, like=name) for name in fits.load() for t in traces)}


def banded(figure: Figure, seeds: int) -> Figure:
    """Return a figure over seeds and fits. Pictures are left out."""
    groups = variants(figure.traces, seeds)
    every = tuple(trace for some in groups.values() for trace in some)
    return replace(figure, traces=every, rows=banded_rows(groups, figure.rows), accountings=figures.OURS, picture="")


def ippbe(scale: int) -> list[Figure]:
    """Return IPPBE's figures 6 to 12."""
    return [one for one in figures.ippbe(scale) if one.name.startswith("fig")]


def pen(scale: int) -> list[Figure]:
    """Return the figures of PEN that have a number or a direction in the paper's text, on VOLUMES."""
    return [
        replace(
            one,
            configs=PEN[one.name] or one.configs,
            traces=tuple(trace for trace in one.traces if trace.volume in VOLUMES),
        )
        for one in figures.pen(scale)
        if one.name in PEN
    ]

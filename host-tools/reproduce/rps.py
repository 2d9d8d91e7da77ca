# SPDX-License-Identifier: GPL-2.0-or-later
"""rps.py - flexFTL's drives and figures (dissertation, chapter 3).

pageFTL, parityFTL and rtfFTL program in the fixed order (order = fps), flexFTL in the
relaxed one (order = rps) of the same array.
"""

from __future__ import annotations

import measures
from compare import Rows, absolute, change, relative, times, together
from figures import OURS, Figure
from points import Config, StudyError, Trace
from spread import each, mixes

BLOCKS = 512  # of a chip: Table 1
FTLS = {"page": ("pageFTL", "fps"), "parity": ("parityFTL", "fps"), "rtf": ("rtfFTL", "fps"), "flex": ("flexFTL", "rps")}
TABLE2 = ("oltp", "ntrx", "webserver", "varmail", "fileserver")
DEPTH = 32  # requests in flight: one a chip; the text does not say
UNIFORM = (("hot", 0), ("hot_part", 0))
VARIED = {
    "ntrx": (UNIFORM, (("flush", 1),)),
    "varmail": ((("foot_gib", 14),), (("flush", 1),)),
}
BURSTS = ((320, 20), (4000, 800))  # requests, pause in ms; 320 and 20: varmail.fio
INTERVAL_MS = 10
WINDOWS_MS = (10, 100, 1000)


class Rps:
    """The configurations on flexFTL's drive, divided by scale."""

    def __init__(self, scale: int) -> None:
        if BLOCKS % scale or BLOCKS // scale < 32:
            raise StudyError(f"scale {scale} does not divide flexFTL's 512 blocks per chip: take a power of two up to 16")
        self.blocks = BLOCKS // scale

    def config(self, ftl: str, suffix: str = "", args: tuple[str, ...] = ()) -> Config:
        """One of the four."""
        drive = (f"geometry.blocks_per_plane={self.blocks}", f"ftl.type={ftl}", f"geometry.order={FTLS[ftl][1]}")
        return Config(ftl + suffix, "rps", drive, ("--closed", str(DEPTH), "--think", *args))

    def all(self) -> dict[str, Config]:
        """By name."""
        made = []
        for ftl in FTLS:
            made += [self.config(ftl), self.config(ftl, "-series", args=("--interval", str(INTERVAL_MS)))]
        return {config.name: config for config in made}


def suffixed(suffix: str) -> tuple[str, ...]:
    """The four."""
    return tuple(ftl + suffix for ftl in FTLS)


def flex_against(measure: measures.Measure, form, published: dict[str, tuple[float, float]], best,
                 others=("page", "parity", "rtf")) -> Rows:  # fmt: skip
    """flexFTL against each of the others; published: (best, average)."""
    several = []
    for other in others:
        label = f"flexFTL / {FTLS[other][0]}"
        known = {}
        if other in published:
            known = {("best", label): published[other][0], ("average", label): published[other][1]}
        several.append(relative(measure, other, {"flex": label}, form, known, best))
    return together(*several)


def rps(_: int) -> list[Figure]:
    """flexFTL's figures, and studies of what it does not say."""
    every, four = mixes(*TABLE2), tuple(FTLS)
    to_page = {ftl: label for ftl, (label, _) in FTLS.items() if ftl != "page"}
    iops = {"page": (1.16, 1.05), "parity": (1.56, 1.35), "rtf": (1.61, 1.29)}
    erases = {"parity": (-30.0, -23.0), "rtf": (-32.0, -28.0)}
    return [
        Figure("fig13", "IOPS of flexFTL against each", four, every, flex_against(measures.iops, times, iops, max), OURS),
        Figure("fig13n", "IOPS, of pageFTL's (the picture's form)", four, every,
               relative(measures.iops, "page", to_page, times), OURS),
        Figure("fig14", "Blocks erased by flexFTL against each", four, every,
               flex_against(measures.blocks_erased, change, erases, min), OURS),
        Figure("fig14n", "Blocks erased, of pageFTL's (the picture's form)", four, every,
               relative(measures.blocks_erased, "page", to_page, times), OURS),
        Figure("wa", "Pages programmed for a page of the host", four, every,
               absolute(measures.wa, {ftl: label for ftl, (label, _) in FTLS.items()}, "pages/page"), OURS),
        Figure("fig15", "Write bandwidth of Varmail, in windows of 100 ms in which something was written",
               suffixed("-series"), mixes("varmail"), bandwidths(), OURS, picture="cdf"),
        *sensitivity(),
    ]  # fmt: skip


def bandwidths() -> Rows:
    """Peak and mean of figure 15 by the length of a window; published: of flexFTL against two others."""
    several = []
    for ms in WINDOWS_MS:
        known = {} if ms != 100 else {
            ("peak", "rtf"): 2.13, ("mean", "parity"): 1.24, ("mean", "rtf"): 1.17,
        }  # fmt: skip
        for kind, measure in (("peak", measures.peak_mib_s(ms)), ("mean", measures.mean_mib_s(ms))):
            labels = {f"{ftl}-series": f"{label}, {kind}, {ms} ms" for ftl, (label, _) in FTLS.items()}
            several.append(absolute(measure, labels, "MiB/s"))
            for other in ("page", "parity", "rtf"):
                label = f"flexFTL / {FTLS[other][0]}, {kind}, {ms} ms"
                paper = {("varmail", label): known[kind, other]} if (kind, other) in known else None
                several.append(relative(measure, f"{other}-series", {"flex-series": label}, times, paper))
    return each(together(*several))


def sensitivity() -> list[Figure]:
    """What the text does not say, otherwise."""
    swept = mixes(*VARIED) + tuple(Trace(name, settings, "mix") for name, each_of in VARIED.items() for settings in each_of)
    idle = mixes("varmail") + tuple(Trace("varmail", (("burst", n), ("think_ms", ms)), "mix") for n, ms in BURSTS)
    return [
        Figure("foot", "IOPS of flexFTL by exported capacity (of 16 GiB), skew and flushes", tuple(FTLS), swept,
               each(flex_against(measures.iops, times, {}, None)), OURS),
        Figure("foot-erases", "Blocks erased by flexFTL by exported capacity (of 16 GiB), skew and flushes", tuple(FTLS), swept,
               each(flex_against(measures.blocks_erased, change, {}, None)), OURS),
        Figure("bursts", "IOPS of flexFTL on Varmail by bursts and pauses", tuple(FTLS), idle,
               each(flex_against(measures.iops, times, {}, None)), OURS),
    ]  # fmt: skip


QUICK = ("ntrx", "varmail")
QUICK_FIGURES = ("fig13", "fig13n", "fig14", "fig14n", "fig15")

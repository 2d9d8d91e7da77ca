# SPDX-License-Identifier: GPL-2.0-or-later
"""rps_causes.py - flexFTL's figures with one thing changed at a time: experiments on numbers that are off.

GC copies into the host's blocks in all four FTLs ("alike-" of rps.py). What is no setting is a patch of trials/.
"""

from __future__ import annotations

from dataclasses import replace

from reproduce.papers.figures import OURS, Figure
from reproduce.papers.rps import (
    ALIKE_SETS,
    BACKED_UP,
    FTLS,
    INTERVAL_MS,
    NEXT,
    TABLE2,
    Rps,
    Ways,
    named,
    prefixed,
    two_ways,
)  # fmt: skip
from reproduce.papers.spread import each, mixes
from reproduce.rows import measures
from reproduce.rows.compare import Rows, absolute, relative, times, together
from reproduce.rows.points import Config, Trace

DEPTHS = (8, 128)  # requests in flight of OLTP; the studies have 32
IDLE_PERMILLE = (125, 150)  # free blocks below which parityFTL and rtfFTL collect in idle times; the text: 100
WINDOWS_MS = (10, 20, 50, 100)
BUFFERS_MIB = (1, 4)
ACTIVE = 16  # active blocks of a chip, twice rtfFTL's
BACKED_IN_FPS = ("parity", "rtf")
ONE, LSB = "parity-of-one", "lsb-backups"  # patches
BUSY = ("oltp", "ntrx")  # have no idle time but after their last request
NO_PAUSE = (("burst", 0.0), ("think_ms", 0.0))
OLTP_SETS = {  # of pageFTL and flexFTL: suffix, label, settings
    "-b1": ("write buffer of 1 MiB", ("ftl.buffer_units=256",)),
    "-b16": ("write buffer of 16 MiB", ("ftl.buffer_units=4096",)),
    "-s1": ("one copy of GC for a write", ("ftl.gc_slice_pages=1",)),
    "-s16": ("16 copies of GC for a write", ("ftl.gc_slice_pages=16",)),
    "-g20": ("GC from 20 free blocks", ("ftl.gc_start_blocks=20", "ftl.gc_stop_blocks=21")),
}
NO_LOW, NO_HIGH = "ftl.slow_below_permille=0", "ftl.fast_above_permille=1000"
OLTP_FLEX = {  # of flexFTL alone: the thresholds of the buffer
    "-low": ("flexFTL without MSB pages at once", (NO_LOW,)),
    "-high": ("flexFTL without LSB pages at once", (NO_HIGH,)),
    "-turns": ("flexFTL always in turn", (NO_LOW, NO_HIGH)),
}


class RpsCauses(Rps):
    """Makes the configurations of the experiments."""

    def alike(self, ftl: str, suffix: str = "", sets: tuple[str, ...] = (), depth: int = 32, patch: str = "",
              args: tuple[str, ...] = ()) -> Config:  # fmt: skip
        """Return an FTL with GC's copies in the host's blocks."""
        return replace(self.config(ftl, suffix, (*ALIKE_SETS[ftl], *sets), args, depth), patch=patch)

    def idle(self, ftl: str, permille: int) -> Config:
        """Return an FTL that collects in idle times below so many free blocks, but not after the end of BUSY's."""
        made = self.alike(ftl, f"-idle{permille}", (f"ftl.idle_gc_permille={permille}",))
        return replace(made, of_trace=lambda trace: ("ftl.idle_gc_permille=0",) if trace.volume in BUSY else ())

    def all(self) -> dict[str, Config]:
        """Return all configurations, by name."""
        made = [self.alike(ftl) for ftl in FTLS]
        made += [self.idle(ftl, 100) for ftl in FTLS]
        made += [self.alike(ftl, "-next", (NEXT,)) for ftl in BACKED_UP]
        made += [self.alike(ftl, f"-d{depth}", depth=depth) for ftl in ("page", "flex") for depth in DEPTHS]
        for ftl in BACKED_IN_FPS:
            made += [self.idle(ftl, n) for n in IDLE_PERMILLE]
            made.append(self.alike(ftl, "-one-next", (NEXT,), patch=ONE))
            # a block of LSB pages alone is not in the fixed order, so the array allows the relaxed one
            made.append(self.alike(ftl, "-lsb", ("geometry.order=rps",), patch=LSB))
        made += [self.alike(ftl, x, sets) for x, (_, sets) in OLTP_SETS.items() for ftl in ("page", "flex")]
        made += [self.alike("flex", x, sets) for x, (_, sets) in OLTP_FLEX.items()]
        series = ("--interval", str(INTERVAL_MS))
        for mib in BUFFERS_MIB:
            buffer = f"ftl.buffer_units={mib * 256}"
            made += [self.alike(ftl, f"-w{mib}", (buffer,), args=series) for ftl in FTLS]
            active = (buffer, f"ftl.active_blocks={ACTIVE}")
            made.append(self.alike("rtf", f"-a{ACTIVE}-w{mib}", active, args=series))
        return {config.name: config for config in made}


def ways(suffixes: dict[str, str], of: tuple[str, ...]) -> Ways:
    """Return the configurations of the four FTLs, by label. Those in `of` have the suffix."""
    return {
        label: {ftl: ftl + (suffix if ftl in of else "") for ftl in FTLS} for label, suffix in suffixes.items()
    }


def rps_causes(_: int) -> list[Figure]:
    """Return the experiments."""
    every = mixes(*TABLE2)
    hurried = tuple(Trace(t.volume, NO_PAUSE, "mix") if t.volume not in BUSY else t for t in every)
    fps = BACKED_IN_FPS
    ahead = named("{}-next") | {"page": "page"}
    pages = {"two, same plane": named("{}"), "two, next channel": ahead,
             "one, next channel": ahead | {"parity": "parity-one-next", "rtf": "rtf-one-next"}}  # fmt: skip
    idle = {f"{n / 10:g} %": named("{}-idle100") | {ftl: f"{ftl}-idle{n}" for ftl in fps}
            for n in (100, *IDLE_PERMILLE)}  # fmt: skip
    return [
        *oltp(),
        *two_ways("pages", "by the LSB pages that share a parity page", every, pages),
        *two_ways("pauses", "without pauses, by parity pages", hurried, pages),
        *two_ways("idle", "by the free blocks below which parityFTL and rtfFTL collect in idle times", every, idle),
        *two_ways("backups", "by the pages of backup blocks that parityFTL and rtfFTL use", every,
                  {"all": named("{}"), **ways({"LSB pages alone": "-lsb"}, fps)}),
        peaks(),
    ]  # fmt: skip


def oltp() -> list[Figure]:
    """Return OLTP's IOPS of flexFTL against pageFTL's, busy dies and waits, with one setting changed at a time."""
    both = {"as in rps": ("page", "flex")}
    both |= {f"{depth} in flight": (f"page-d{depth}", f"flex-d{depth}") for depth in DEPTHS}
    both |= {label: (f"page{x}", f"flex{x}") for x, (label, _) in OLTP_SETS.items()}
    both |= {label: ("page", f"flex{x}") for x, (label, _) in OLTP_FLEX.items()}
    traces = mixes("oltp")
    configs = tuple(dict.fromkeys(config for pair in both.values() for config in pair))
    iops = together(*(relative(measures.iops, page, {flex: label}, times) for label, (page, flex) in both.items()))
    return [
        Figure("oltp", "IOPS of flexFTL / pageFTL on OLTP, one setting changed at a time", configs, traces,
               each(iops), OURS),
        Figure("oltp-busy", "Mean share of the time in which a die is busy, OLTP", configs, traces,
               of_both(measures.dies_busy, "%", both), OURS),
        Figure("oltp-wa", "Pages programmed for a page of the host, OLTP", configs, traces,
               of_both(measures.wa, "pages/page", both), OURS),
        Figure("oltp-waits", "Mean wait of a write for GC, OLTP", configs, traces,
               of_both(measures.write_gc_us, "us", both), OURS),
    ]  # fmt: skip


def of_both(measure: measures.Measure, unit: str, both: dict[str, tuple[str, str]]) -> Rows:
    """Make rows of a measure of pageFTL and of flexFTL."""
    return each(together(*(absolute(measure, {page: f"{label}: pageFTL", flex: f"{label}: flexFTL"}, unit)
                           for label, (page, flex) in both.items())))  # fmt: skip


def peaks() -> Figure:
    """Return the peaks of Varmail's write bandwidth by window and write buffer, and by rtfFTL's active blocks."""
    parts: list[Rows] = []
    configs: list[str] = []
    for mib in BUFFERS_MIB:
        labels = {f"{ftl}-w{mib}": name for ftl, (name, _) in FTLS.items()}
        labels[f"rtf-a{ACTIVE}-w{mib}"] = f"rtfFTL, {ACTIVE} active blocks"
        configs += list(labels)
        for ms in WINDOWS_MS:
            rows = together(
                absolute(measures.peak_mib_s(ms), labels, "MiB/s"),
                relative(measures.peak_mib_s(ms), f"rtf-w{mib}", {f"flex-w{mib}": "flexFTL / rtfFTL"}, times),
            )
            parts.append(prefixed(f"{mib} MiB, {ms} ms: ", rows))
    return Figure("peaks", "Peak write bandwidth of Varmail, by window and write buffer", tuple(configs),
                  mixes("varmail"), each(together(*parts)), OURS)  # fmt: skip


QUICK_FIGURES = ("idle-iops", "idle-erases")

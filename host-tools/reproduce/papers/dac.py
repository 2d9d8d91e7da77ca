# SPDX-License-Identifier: GPL-2.0-or-later
"""dac.py - DAC's drives and figures (dissertation, chapter 5).

The five configurations are the values of ftl.reduction on one drive; traces are recordings of guests with their
data (docs/content-trace.md).
"""

from __future__ import annotations

from reproduce.papers.figures import OURS, Figure
from reproduce.papers.spread import each
from reproduce.rows import measures
from reproduce.rows.compare import Published, Rows, absolute, change, relative, times, together
from reproduce.rows.points import Config, StudyError, Trace

BY_DAC = {("best", "DAC / Dedup+Comp"): -30.0, ("average", "DAC / Dedup+Comp"): -15.0}
BLOCKS = 16384  # blocks of a chip: section 5.5.1
FTLS = {"dedup": "Dedup", "comp": "Comp", "dedup+comp": "Dedup+Comp", "dac": "DAC", "unlimited": "DAC, unlimited"}
# A recording writes so many 4 KiB blocks ('slate content'); the number of fingerprints is a share of them. A
# recording made with other packages or in another boot differs by up to 0.2 %.
WRITTEN = {"pc": 70484, "synth": 24117, "web": 153979, "iot": 57287, "web-head": 2085, "iot-head": 927}
NAMES = ("pc", "synth", "web", "iot")
SHARE = dict(zip(NAMES, (0.41, 0.18, 0.97, 0.63)))  # of table 5, as the next two
REFERRED = dict(zip(NAMES, (0.066, 0.031, 0.049, 0.031)))
ALONE = dict(zip(NAMES, (0.32, 0.17, 0.15, 0.54)))
PRINTS = (20, 100, 300)  # permille of a trace's fingerprints; the text has 5
BUFFERS_MIB = (0, 4, 16, 64)  # size of the reference buffer; figure 29 has 4 to 64, and 32 is the default
SWEPT = ("pc", "web")  # traces for which the text has numbers about the buffer


def kept(permille: int, trace: Trace) -> tuple[str, ...]:
    """Return the permille of the trace's fingerprints that are kept; 1000: all."""
    if permille == 1000:
        return ("ftl.fingerprints_permille=1000",)
    return (f"ftl.fingerprints={max(4, 4 * WRITTEN[trace.volume] * permille // 1000)}",)


class Dac:
    """Makes the configurations on DAC's drive, divided by scale."""

    def __init__(self, scale: int) -> None:
        if BLOCKS % scale or BLOCKS // scale < 32:
            raise StudyError(
                f"scale {scale} does not divide DAC's 16384 blocks per chip: take a power of two up to 512"
            )
        self.blocks = BLOCKS // scale

    def config(self, name: str, reduction: str, permille: int, *sets: str, args: tuple[str, ...] = ("--no-flush",)) -> Config:
        """Return a configuration. It exports the capacity of the drives on which the traces were recorded."""
        drive: tuple[str, ...] = (
            f"geometry.blocks_per_plane={self.blocks}",
            "ftl.gc_start_blocks=3",
            "ftl.gc_stop_blocks=3",
            "ftl.capacity_mib=256",
            "ftl.buffer_units=128",
            f"ftl.reduction={reduction}",
        )
        if name in ("dac", "unlimited"):
            drive += ("ftl.count_plain=yes",)
        return Config(name, "dac", drive + sets, ("--closed", "1", *args), lambda trace: kept(permille, trace))

    def all(self) -> dict[str, Config]:
        """Return all configurations, by name."""
        made = []
        for suffix, more in (("", {}), ("-flush", {"args": ()})):
            for name in FTLS:
                reduction = "dac" if name == "unlimited" else name
                made.append(self.config(name + suffix, reduction, 5 if name == "dac" else 1000, **more))
        made += [self.config(f"{name}-5", name, 5) for name in ("dedup", "dedup+comp")]
        made += [self.config(f"dac-{n}", "dac", n) for n in PRINTS]
        for name, permille in (("dac", 5), ("unlimited", 1000)):
            made += [
                self.config(f"{name}-{mib}M", "dac", permille, f"ftl.reference_bytes={mib << 20}")
                for mib in BUFFERS_MIB
            ]
        return {config.name: config for config in made}


def recorded(*names: str) -> tuple[Trace, ...]:
    """Return the recordings of guests."""
    return tuple(Trace(name, maker="content") for name in names)


def of_dedup(suffix: str = "") -> Rows:
    """Make rows in the form of figure 28."""
    labels = {name + suffix: label for name, label in FTLS.items() if name != "dedup"}
    return relative(measures.pages_written, "dedup" + suffix, labels, times)


def dac(_: int) -> list[Figure]:
    """Return DAC's figures, and studies of assumptions that the text does not state."""
    every, five = recorded(*NAMES), tuple(FTLS)
    both = {"dac": "DAC", "unlimited": "DAC, unlimited"}

    def published(numbers: dict[str, float]) -> Published:
        return {(name, label): value for name, value in numbers.items() for label in both.values()}

    return [
        Figure("fig28", "Pages written, of Dedup's", five, every, of_dedup(), OURS),
        Figure("fig28t", "Pages written by DAC against others (the text's numbers)", five, every,
               together(
                   relative(measures.pages_written, "dedup+comp", {"dac": "DAC / Dedup+Comp"}, change, BY_DAC, min),
                   relative(measures.pages_written, "dedup+comp", {"unlimited": "DAC, unlimited / Dedup+Comp"}, change, {}, min),
                   relative(measures.pages_written, "dac", {"unlimited": "DAC, unlimited / DAC"}, change,
                            {("average", "DAC, unlimited / DAC"): -2.0}),
                   relative(measures.pages_written, "comp", {"dac": "DAC / Comp", "unlimited": "DAC, unlimited / Comp"},
                            change, {("web", "DAC / Comp"): -67.0}),
               ), OURS, 'The text says "lower than 2 %" of DAC without a limit.'),
        Figure("table5-share", "Table 5: share of the units written that are stored against a reference", tuple(both), every,
               each(absolute(measures.reference_share, both, "share", published(SHARE))), OURS),
        Figure("table5-dac", "Table 5: size of these, with the reference", tuple(both), every,
               each(absolute(measures.reference_ratio, both, "bytes/byte", published(REFERRED))), OURS),
        Figure("table5-normal", "Table 5: size of the same units, compressed alone", tuple(both), every,
               each(absolute(measures.plain_ratio, both, "bytes/byte", published(ALONE))), OURS),
        *buffers(every),
        *sensitivity(every),
    ]  # fmt: skip


def buffers(traces: tuple[Trace, ...]) -> list[Figure]:
    """Make figure 29 for both kinds of DAC."""
    made = []
    swept = tuple(trace for trace in traces if trace.volume in SWEPT)
    paper = {("pc", "64 MiB"): 0.4, ("web", "64 MiB"): 0.1}
    for name, figure in (("dac", "fig29"), ("unlimited", "fig29u")):
        none, small = f"{name}-0M", {f"{name}-{mib}M": f"{mib} MiB" for mib in (4, 16)}
        large = {name: "32 MiB", f"{name}-64M": "64 MiB"}
        made += [
            Figure(figure, f"Reads of references from flash by size of the buffer, of those without one: {FTLS[name]}",
                   (none, *large), traces,
                   each(together(relative(measures.reference_reads, none, large, times, paper),
                                 absolute(measures.reference_reads, {none: "no buffer"}, "reads"))), OURS),
            Figure(f"{figure}-small", f"The same, by smaller buffers: {FTLS[name]}", (none, *small, *large), swept,
                   each(relative(measures.reference_reads, none, small | large, times, paper)), OURS),
        ]  # fmt: skip
    return made


def sensitivity(traces: tuple[Trace, ...]) -> list[Figure]:
    """Return figures with other assumptions where the text states none."""
    some = tuple(trace for trace in traces if trace.volume != "web")  # the longest one
    durable = tuple(trace for trace in traces if trace.volume in ("pc", "iot"))
    by_share = {("dac" if n == 5 else f"dac-{n}"): f"{n / 10:g} % of all" for n in sorted((*PRINTS, 5))}
    by_share["unlimited"] = "all"
    return [
        Figure("prints", "Pages written by DAC by share of fingerprints kept, of Dedup+Comp's", (*by_share, "dedup+comp"),
               some, each(relative(measures.pages_written, "dedup+comp", by_share, times)), OURS),
        Figure("prints-share", "Share of units stored against a reference by share of fingerprints kept", tuple(by_share), some,
               each(absolute(measures.reference_share, by_share, "share")), OURS),
        Figure("limited", "Pages written by DAC when the others keep 0.5 % of all fingerprints, too",
               ("dedup-5", "dedup+comp-5", "dac"), traces,
               together(relative(measures.pages_written, "dedup-5", {"dedup+comp-5": "Dedup+Comp / Dedup", "dac": "DAC / Dedup"}, times),
                        relative(measures.pages_written, "dedup+comp-5", {"dac": "DAC / Dedup+Comp"}, change, BY_DAC, min)), OURS),
        Figure("flush", "Pages written, of Dedup's, when flushes and FUA are honoured", tuple(f"{n}-flush" for n in FTLS), durable,
               together(of_dedup("-flush"),
                        relative(measures.pages_written, "dedup+comp-flush",
                                 {"dac-flush": "DAC / Dedup+Comp", "unlimited-flush": "DAC, unlimited / Dedup+Comp"}, change)), OURS),
        Figure("split", "Pages that would be written if contents could go on in the next page, of Dedup's", tuple(FTLS), traces,
               together(relative(measures.pages_if_split, "dedup", {name: label for name, label in FTLS.items() if name != "dedup"}, times),
                        relative(measures.pages_if_split, "dedup+comp",
                                 {"dac": "DAC / Dedup+Comp", "unlimited": "DAC, unlimited / Dedup+Comp"}, change)), OURS),
        Figure("counts", "Pages written", tuple(FTLS), traces,
               each(together(absolute(measures.pages_written, FTLS, "pages"),
                             absolute(measures.units_reduced, {"dac": "units written"}, "pages"),
                             absolute(measures.refused, {"unlimited": "DAC, unlimited"}, "refused references"))), OURS),
    ]  # fmt: skip


QUICK = ("web", "iot")
QUICK_FIGURES = ("fig28", "fig28t", "table5-share", "table5-dac", "table5-normal", "fig29u", "flush", "counts")


# ---- what the text leaves open besides ------------------------------------------------------

PUBLISHED_BUFFER = "ftl.buffer_units=0"  # the page that is being filled with compressed data
BUFFER_FTLS = {"dedup": 1000, "dedup-5": 5, "comp": 1000, "dedup+comp": 1000, "dedup+comp-5": 5, "dac": 5, "unlimited": 1000}
BUFFERED = ("pc", "web", "iot")  # synth takes longest to record and was left out
COUNTED = {"units": "-u", "compressed": "-c"}  # what the buffer holds, in words that the labels have; suffix


class DacChoices(Dac):
    """Makes every configuration with a buffer of 128 units, and with the published one."""

    def all(self) -> dict[str, Config]:
        """Return all configurations, by name."""
        made = []
        for name, permille in BUFFER_FTLS.items():
            reduction = "dac" if name == "unlimited" else name.removesuffix("-5")
            made.append(self.config(f"{name}-u", reduction, permille))
            made.append(self.config(f"{name}-c", reduction, permille, PUBLISHED_BUFFER))
        return {config.name: config for config in made}


def dac_choices(_: int) -> list[Figure]:
    """Return figure 28 by what the write buffer holds. With compressed data every configuration stores every unit."""
    every = recorded(*BUFFERED)
    stored, against, alike, counts = [], [], [], []
    for what, suffix in COUNTED.items():
        labels = {f"{name}{suffix}": f"buffer of {what}: {label}" for name, label in FTLS.items()}
        stored.append(each(absolute(measures.units_reduced, labels, "units")))
        counts.append(each(absolute(measures.pages_written, labels, "pages")))
        others = {name: label for name, label in labels.items() if name != f"dedup{suffix}"}
        against.append(relative(measures.pages_written, f"dedup{suffix}", others, times))
        for base, kept in (("dedup+comp", "all"), ("dedup+comp-5", "0.5 %")):
            label = f"buffer of {what}: DAC / Dedup+Comp with {kept} of the fingerprints"
            published = {(key, label): paper for (key, _), paper in BY_DAC.items()}
            alike.append(relative(measures.pages_written, base + suffix, {f"dac{suffix}": label}, change, published, min))
        label = f"buffer of {what}: DAC, unlimited / Dedup+Comp with all of the fingerprints"
        alike.append(relative(measures.pages_written, f"dedup+comp{suffix}", {f"unlimited{suffix}": label}, change, {}, min))
    names = tuple(f"{name}{suffix}" for suffix in COUNTED.values() for name in FTLS)
    more = tuple(f"{name}{suffix}" for suffix in COUNTED.values() for name in BUFFER_FTLS)
    return [
        Figure("buffer-units", "Units stored, by what the write buffer holds", names, every, together(*stored), OURS),
        Figure("buffer", "Pages written, of Dedup's, by what the write buffer holds", names, every, together(*against), OURS),
        Figure("buffer-dac", "Pages written by DAC against Dedup+Comp, by what the write buffer holds", more, every,
               together(*alike), OURS),
        Figure("buffer-pages", "Pages written, by what the write buffer holds", names, every, together(*counts), OURS),
    ]  # fmt: skip


CHOICES_QUICK_FIGURES = ("buffer-units", "buffer", "buffer-dac")

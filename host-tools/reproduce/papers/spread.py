# SPDX-License-Identifier: GPL-2.0-or-later
"""spread.py - SPREAD's drives and figures (dissertation, chapter 4).

pageFTL, dmaFTL and spFTL are one FTL on three arrays: geometry.subpage = none reads whole pages, dma senses
whole pages and transfers only the requested words, spread senses and transfers only these. Reads of the host,
of GC and of wear levelling follow this setting.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from reproduce.papers.figures import OURS, Figure
from reproduce.rows import measures, volumes
from reproduce.rows.compare import (
    Best,
    Form,
    Published,
    Results,
    Row,
    Rows,
    absolute,
    change,
    relative,
    times,
    together,
)
from reproduce.rows.points import Config, GuestRun, StudyError, Trace
from reproduce.traces import mix

BLOCKS = 512  # blocks of a chip: section 4.4.1
FTLS = {"page": ("pageFTL", "none"), "dma": ("dmaFTL", "dma"), "sp": ("spFTL", "spread")}
TABLE4 = ("kv", "grp", "prj", "usr", "stg")
AMPLIFIED = ("kv1", "kv2", "gr1", "su", "ideal")  # figure 18: mixes, and fio jobs of
SIZES_KIB = (0.5, 1, 2, 4, 8, 16)  # of reads: figure 17
KEY_VALUE, GRAPH = ("kv1", "kv2", "kv"), ("gr1", "grp")  # mixes for its two applications
SIZES_SAID = (
    "The text: over 90 % of a key-value store's values are smaller than 1 KB (beside KV1, KV2 and KV), more than 99 % "
    "of a graph's adjacency lists smaller than 4 KB (beside GR1 and GRP). Its table 4: KV has 2-KB reads over 90 %, GRP "
    "4-KB and 8-KB reads as 3 : 2."
)
GUEST_JOB = "fio-jobs/spread-reads.fio"
GUESTS = {"guest": 0, "guest-q8": 8}  # the configurations of these; requests in flight, if not 32
SU_DEPTHS = (1, 2, 4, 8, 16, 32)
WRITING = ("usr", "stg")  # mixes for which the text gives the duration of a GC
DEPTH = 8  # requests in flight: one a chip; the text does not say
DEPTHS = (1, 4, 32)
SEEDS = (2, 3, 4)
LEVELLED = ("ftl.wl_threshold=2",)  # wear levelling, and the trace so often that blocks wear unevenly
REPEATS = ("--repeat", "10")
OVERHEADS_US = (10, 20, 30, 40)  # time of firmware and host for an I/O; spread.ini has 1
VARIED = (("foot_gib", (8, 14)), ("theta", (0.9, 1.1)))


class Spread:
    """Makes the configurations on SPREAD's drive, divided by scale."""

    def __init__(self, scale: int) -> None:
        if BLOCKS % scale or BLOCKS // scale < 16:
            raise StudyError(
                f"scale {scale} does not divide SPREAD's 512 blocks per chip: take a power of two up to 32"
            )
        self.blocks = BLOCKS // scale

    def config(self, name: str, subpage: str, *sets: str, depth: int = DEPTH, gc_mode: str = "blocking",
               args: tuple[str, ...] = ()) -> Config:  # fmt: skip
        """Return a configuration.

        GC starts when fewer than 7 % of a chip's blocks, or fewer than 3, are free: see spread.ini.
        """
        start = max(3, self.blocks * 36 // BLOCKS)
        drive = (
            f"geometry.blocks_per_plane={self.blocks}",
            f"geometry.subpage={subpage}",
            f"ftl.gc_start_blocks={start}",
            f"ftl.gc_stop_blocks={start}",
            f"ftl.gc_mode={gc_mode}",
        )
        return Config(name, "spread", drive + sets, ("--closed", str(depth), *args))

    def all(self) -> dict[str, Config]:
        """Return all configurations, by name."""
        made = []
        for ftl, (_, subpage) in FTLS.items():
            made += [self.config(ftl, subpage), self.config(f"{ftl}-sliced", subpage, gc_mode="sliced")]
            made += [self.config(f"{ftl}-wl", subpage, *LEVELLED, args=REPEATS)]
            made += [self.config(f"{ftl}-q{depth}", subpage, depth=depth) for depth in sorted({*DEPTHS, *SU_DEPTHS})]
            made += [
                self.config(f"{ftl}-o{us}", subpage, f"ftl.overhead_ns={us * 1000}", depth=1) for us in OVERHEADS_US
            ]
        return {config.name: config for config in made}


def mixes(*names: str) -> tuple[Trace, ...]:
    """Return traces with the numbers of mixes.toml."""
    return tuple(Trace(name, maker="mix") for name in names)


def varied(*names: str) -> tuple[Trace, ...]:
    """Return each mix once with each other value of the settings that VARIED lists."""
    return tuple(Trace(name, ((key, value),), "mix") for name in names for key, values in VARIED for value in values)


def against(measure: measures.Measure, form: Form, base: str, suffix: str = "", published: Published | None = None,
            best: Best | None = None, ftls: Iterable[str] = tuple(FTLS)) -> Rows:  # fmt: skip
    """Make rows of each other FTL's measure against one FTL's, on the same drive."""
    labels = {ftl + suffix: f"{FTLS[ftl][0]} / {FTLS[base][0]}" for ftl in ftls if ftl != base}
    return relative(measure, base + suffix, labels, form, published, best)


def suffixed(suffix: str) -> tuple[str, ...]:
    """Return the names of the three configurations with a suffix."""
    return tuple(ftl + suffix for ftl in FTLS)


def spread(_: int) -> list[Figure]:
    """Return SPREAD's figures, and studies of what the text does not state."""
    every, three = mixes(*TABLE4), tuple(FTLS)
    sp_page, dma_page, sp_dma = "spFTL / pageFTL", "dmaFTL / pageFTL", "spFTL / dmaFTL"
    iops = {
        ("usr", sp_page): 1.44, ("stg", sp_page): 1.10, ("best", sp_page): 2.2, ("best", dma_page): 1.18,
    }  # fmt: skip
    named = {ftl: label for ftl, (label, _) in FTLS.items()}
    about_one = {(name, "spFTL"): 1.0 for name in ("kv", "grp", "prj")}
    return [
        *before(),
        Figure("fig22", "IOPS of the three FTLs, eight requests in flight", three, every,
               together(against(measures.iops, times, "page", "", iops, max),
                        against(measures.iops, times, "dma", "", {("best", sp_dma): 1.9}, max, ("sp",))), OURS),
        Figure("fig23", "Mean read response of the three FTLs", three, every,
               together(against(measures.read_us, change, "page", "", {("best", sp_page): -56.0}, min),
                        against(measures.read_us, change, "dma", "", {("best", sp_dma): -50.0}, min, ("sp",))), OURS),
        Figure("fig24", "Read amplification of host reads (RAF)", three, every,
               absolute(measures.raf_host, named, "bytes/byte", about_one), OURS,
               'The text says "very closed to 1" of spFTL on KV, GRP and PRJ.'),
        Figure("gc-time", "Time of a GC of spFTL against pageFTL", three, mixes(*WRITING),
               against(measures.gc_call_ms, change, "page", "", {("usr", sp_page): -13.0, ("stg", sp_page): -7.0}), OURS),
        *sensitivity(),
    ]  # fmt: skip


def beside(figures: list[Figure], real: tuple[Trace, ...]) -> list[Figure]:
    """Return the figures that real volumes have, with these volumes after the mixes."""
    return [
        replace(figure, traces=figure.traces + real, rows=with_real(figure, real))
        for figure in figures
        if figure.name in REAL_FIGURES
    ]


def with_real(figure: Figure, real: tuple[Trace, ...]) -> Rows:
    """Make a row of each volume after those of the mixes, with the published number of its mix.

    Averages and best values are of the mixes alone.
    """
    mix_by_tag = {trace.tag: volumes.mix_of(trace.volume) for trace in real}

    def rows(results: Results, traces: tuple[str, ...], accounting: str) -> list[Row]:
        made = figure.rows(results, tuple(tag for tag in traces if tag not in mix_by_tag), accounting)
        paper = {(row.trace, row.what): row.paper for row in made}
        found = [row for row in figure.rows(results, tuple(mix_by_tag), accounting) if row.trace in mix_by_tag]
        return made + [replace(row, paper=paper.get((mix_by_tag[row.trace], row.what))) for row in found]

    return rows


def before() -> list[Figure]:
    """Make figure 17, of the mixes' reads; and figure 18: only pageFTL, on the workloads of section 4.1.2."""
    before_spread = "page-q32"  # as deep as the fio job
    labels = {
        before_spread: "pageFTL, replayed", "page": "pageFTL, replayed, 8 at once",
        "guest": "pageFTL, in a guest", "guest-q8": "pageFTL, in a guest, 8 at once",
    }  # fmt: skip
    return [
        Figure("fig17", "Share of the reads up to a size, in the traces of the key-value and graph mixes", (),
               mixes(*KEY_VALUE, *GRAPH), together(*(up_to(kib) for kib in SIZES_KIB)), OURS, SIZES_SAID, sizes=True),
        Figure("fig18a", "Bandwidth of amplified reads, of what whole pages would give (ideal)", (before_spread, "page"), mixes(*AMPLIFIED),
               together(*(of_ideal(config, label, {("su", label): 0.64}) for config, label in labels.items())), OURS),
        Figure("fig18b", "Read amplification of pageFTL (RAF)", (before_spread, "page"), mixes(*AMPLIFIED),
               each(absolute(measures.raf_host, labels, "bytes/byte")), OURS),
        Figure("su-depth", "SU and ideal by requests in flight, and how busy the eight dies are",
               tuple(f"page-q{depth}" for depth in SU_DEPTHS), mixes("su", "ideal"),
               together(*(at_depth(depth) for depth in SU_DEPTHS)), OURS),
    ]  # fmt: skip


def up_to(kib: float) -> Rows:
    """Make rows of the share of reads up to a size."""
    return each(absolute(measures.reads_up_to(int(kib * 1024)), {"sizes": f"up to {kib:g} KiB"}, "%"))


def at_depth(depth: int) -> Rows:
    """Make rows of SU's bandwidth over ideal's and of its factors.

    These are the busy dies, and the pages for a read of 16 KiB.
    """
    config, label = f"page-q{depth}", f"{depth} in flight"
    busy = each(absolute(measures.dies_busy, {config: f"{label}: dies busy"}, "%"))
    ratio = of_ideal(config, f"{label}: bandwidth, of ideal", {})

    def rows(results: Results, traces: tuple[str, ...], accounting: str) -> list[Row]:
        made = [row for row in ratio(results, traces, accounting) if row.trace == "su"]
        su, ideal = busy(results, traces, accounting)
        assert su.ours is not None and ideal.ours is not None
        share = su.ours / ideal.ours
        pages = results.values(("su",), config, accounting, measures.raf_host)["su"]
        made += [
            su,
            ideal,
            Row("su", f"{label}: dies busy, of ideal, over pages a read", "x", share / pages),
        ]
        return made

    return rows


def guests(scale: int) -> list[GuestRun]:
    """Make figure 18 through Linux and fio, on pageFTL's drive."""
    drive = Spread(scale).all()["page"].sets
    capacity = f"ftl.capacity_mib={int(mix.mix_of(AMPLIFIED[0]).foot_gib * 1024 / scale)}"
    sets = (*drive, capacity, "ftl.accounting=device", "ftl.payload=no")
    tags = tuple((name, name) for name in AMPLIFIED)
    return [GuestRun(name, GUEST_JOB, "spread", sets, tags, depth=depth) for name, depth in GUESTS.items()]


def each(inner: Rows) -> Rows:
    """Return the rows without the average, where it would mix unlike values."""
    return lambda *args: [row for row in inner(*args) if row.trace != "average"]


def of_ideal(config: str, label: str, published: Published) -> Rows:
    """Make rows of each mix's read bandwidth over that of the mix 'ideal'."""
    inner = each(absolute(measures.read_mib_s, {config: label}, "x", published))

    def rows(results: Results, traces: tuple[str, ...], accounting: str) -> list[Row]:
        made = inner(results, traces, accounting)
        ideal = next((row.ours for row in made if row.trace == "ideal"), None)
        for row in made:
            row.ours = row.ours / ideal if ideal and row.ours is not None else None
        return made

    return rows


def sensitivity() -> list[Figure]:
    """Return figures with other assumptions where the text states none."""
    some, writing = mixes("kv", "usr", "stg"), mixes(*WRITING) + varied(*WRITING)
    out = [
        Figure("foot", "IOPS and time of a GC by exported capacity (of 16 GiB) and skew", tuple(FTLS), writing,
               each(together(against(measures.iops, times, "page"), against(measures.gc_call_ms, change, "page"))), OURS),
        Figure("valid", "Valid mapping units that a GC of pageFTL finds in a block of 1024", ("page",), writing,
               each(absolute(measures.units_per_call, {"page": "pageFTL"}, "units")), OURS),
        Figure("chance", "IOPS and time of a GC with other random numbers", tuple(FTLS),
               mixes(*WRITING) + tuple(Trace(n, (("seed", s),), "mix") for n in WRITING for s in SEEDS),
               each(together(against(measures.iops, times, "page"), against(measures.gc_call_ms, change, "page"))), OURS),
        Figure("sliced", "IOPS when GC takes turns with the host", suffixed("-sliced"), mixes(*WRITING),
               against(measures.iops, times, "page", "-sliced"), OURS),
    ]  # fmt: skip
    levelled = {f"{ftl}-wl": label for ftl, (label, _) in FTLS.items()}
    out += [
        Figure("wear-time", "Time of a die for a block that wear levelling empties, against pageFTL", tuple(levelled),
               mixes(*WRITING), against(measures.levelled_ms, change, "page", "-wl"), OURS),
        Figure("wear-reads", "Bytes read for a byte that wear levelling moves", tuple(levelled), mixes(*WRITING),
               each(absolute(measures.levelled_read, levelled, "bytes/byte")), OURS),
    ]  # fmt: skip
    for depth in DEPTHS:
        out.append(Figure(f"depth-{depth}", f"IOPS with {depth} request{'s' * (depth > 1)} in flight", suffixed(f"-q{depth}"),
                          some, each(against(measures.iops, times, "page", f"-q{depth}")), OURS))  # fmt: skip
    configs = tuple(name for us in OVERHEADS_US for name in suffixed(f"-o{us}"))
    out.append(Figure("overhead", "IOPS of KV, one request in flight, by the time that firmware and host take for each",
                      configs, mixes("kv"), together(*(by_overhead(us) for us in OVERHEADS_US)), OURS))  # fmt: skip
    out.append(Figure("serial", "IOPS with one request in flight and 30 us for each", suffixed("-o30"), mixes(*TABLE4),
                      each(against(measures.iops, times, "page", "-o30")), OURS))  # fmt: skip
    return out


def by_overhead(us: int) -> Rows:
    """Return the rows of one overhead."""
    inner = each(together(
        against(measures.iops, times, "page", f"-o{us}"),
        against(measures.iops, times, "dma", f"-o{us}", ftls=("sp",)),
        against(measures.read_us, change, "page", f"-o{us}", ftls=("sp",)),
        against(measures.read_us, change, "dma", f"-o{us}", ftls=("sp",)),
    ))  # fmt: skip

    def rows(results: Results, traces: tuple[str, ...], accounting: str) -> list[Row]:
        made = inner(results, traces, accounting)
        for row in made:
            row.what = f"{us} us: {row.what}"
        return made

    return rows


# ---- what else the text leaves open ---------------------------------------------------------

# Explanations of the published gains of small reads: name, what it is, KiB of an ECC word, ns of overhead for an I/O
EXPLAINED = (
    ("base", "as published: words of 2 KiB, 1 us an I/O", 2, 1000),
    ("o30", "30 us an I/O", 2, 30000),
    ("w4", "ECC words of 4 KiB, a mapping unit", 4, 1000),
    ("w4-o5", "ECC words of 4 KiB, 5 us an I/O", 4, 5000),
    ("w16", "ECC words of 16 KiB, the page", 16, 1000),
)
SMALL_IOPS = {("sp", "page"): 2.2, ("sp", "dma"): 1.9, ("dma", "page"): 1.18}  # published, best: figure 22
SMALL_US = {("sp", "page"): -56.0, ("sp", "dma"): -50.0}  # figure 23


class SpreadChoices(Spread):
    """Makes each explanation's three drives, with one request in flight."""

    def all(self) -> dict[str, Config]:
        """Return all configurations, by name."""
        made = [
            self.config(f"{ftl}-{name}", subpage, f"geometry.ecc_word_bytes={kib << 10}", f"ftl.overhead_ns={ns}", depth=1)
            for name, _, kib, ns in EXPLAINED
            for ftl, (_, subpage) in FTLS.items()
        ]
        return {config.name: config for config in made}


def spread_choices(_: int) -> list[Figure]:
    """Return, for each explanation of the gains of small reads, the figures that it gives beside the published ones."""
    configs = tuple(f"{ftl}-{one[0]}" for one in EXPLAINED for ftl in FTLS)
    return [
        Figure("explained-kv", "KV by explanation, one request in flight", configs, mixes("kv"),
               together(*(explained(name, label, "kv") for name, label, _, _ in EXPLAINED)), OURS),
        Figure("explained-others", "GRP and PRJ by explanation, one request in flight", configs, mixes("grp", "prj"),
               together(*(explained(name, label, "") for name, label, _, _ in EXPLAINED)), OURS),
    ]  # fmt: skip


def explained(name: str, said: str, best: str) -> Rows:
    """Make the rows of one explanation. best: the mix beside whose values the published best ones stand."""
    several = []
    for measure, form, published in ((measures.iops, times, SMALL_IOPS), (measures.read_us, change, SMALL_US)):
        for (ftl, base), paper in published.items():
            label = f"{said}: {'IOPS' if form is times else 'read response'}, {FTLS[ftl][0]} / {FTLS[base][0]}"
            several.append(relative(measure, f"{base}-{name}", {f"{ftl}-{name}": label}, form, {(best, label): paper}))
    label = f"{said}: bytes read for a byte asked for, spFTL"
    known = {(mix, label): 1.0 for mix in ("kv", "grp", "prj")}
    several.append(absolute(measures.raf_host, {f"sp-{name}": label}, "bytes/byte", known))
    return each(together(*several))


REAL_FIGURES = ("fig22", "fig23", "fig24", "gc-time")  # that have real volumes beside the mixes
QUICK = ("kv", "usr", "stg", "su", "ideal")
QUICK_FIGURES = ("fig17", "fig18a", "fig18b", "fig22", "fig23", "fig24", "gc-time", "depth-1")
CHOICES_QUICK_FIGURES = ("explained-kv",)

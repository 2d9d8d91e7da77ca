# SPDX-License-Identifier: GPL-2.0-or-later
"""rps.py - flexFTL's drives and figures (dissertation, chapter 3).

pageFTL, parityFTL and rtfFTL program in the fixed order (order = fps), flexFTL in the
relaxed one (order = rps) of the same array.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reproduce.papers.figures import OURS, Figure
from reproduce.papers.spread import each, mixes
from reproduce.rows import measures
from reproduce.rows.compare import (
    Best,
    Form,
    Results,
    Row,
    Rows,
    absolute,
    change,
    of_traces,
    relative,
    seeded,
    times,
    together,
)
from reproduce.rows.points import Config, GuestRun, StudyError, Trace
from reproduce.traces import mix

BLOCKS = 512  # blocks of a chip: Table 1
FTLS = {
    "page": ("pageFTL", "fps"),
    "parity": ("parityFTL", "fps"),
    "rtf": ("rtfFTL", "fps"),
    "flex": ("flexFTL", "rps"),
}
TABLE2 = ("oltp", "ntrx", "webserver", "varmail", "fileserver")
DEPTH = 32  # requests in flight: one a chip; the text does not say
SEEDS = (2, 3)  # further seeds; mixes.toml has seed 1
SKEWS = (  # of NTRX, which has 75 % of the requests on 1 % of the places
    (("hot", 750), ("hot_part", 100)), (("hot", 800), ("hot_part", 200)), (("hot", 0), ("hot_part", 0), ("theta", 0.9)),
    (("hot", 0), ("hot_part", 0)),
)  # fmt: skip
FOOTS_GIB = {"ntrx": (8, 13), "varmail": (8, 13, 14)}  # exported of 16 GiB; the mixes have 11
BUFFERS_MIB = (1, 16)  # rps.ini has 4
BURSTS = ((320, 20), (4000, 800))  # requests, pause in ms; 320 and 20: varmail.fio
VARIED = mixes("ntrx", "varmail")  # mixes of the sweeps
INTERVAL_MS = 10
SHARED = "ftl.gc_frontier=shared"
# All four FTLs copy into the host's blocks: the text says this of rtfFTL and flexFTL, and nothing of the others.
# flexFTL chooses pages for copies as for the host, because the text says only of background GC that it copies to
# MSB pages.
ALIKE = {"page": "page-shared", "parity": "parity-shared", "rtf": "rtf", "flex": "flex-host"}
COPIES = {  # where GC's copies go: configuration, what the table calls it
    "page": "pageFTL, own blocks", "page-shared": "pageFTL, the host's",
    "parity": "parityFTL, own blocks", "parity-shared": "parityFTL, the host's",
    "rtf-own": "rtfFTL, own blocks", "rtf": "rtfFTL, the host's",
    "flex-own": "flexFTL, own blocks", "flex": "flexFTL, the host's: MSB pages",
    "flex-fast": "flexFTL, the host's: LSB pages", "flex-host": "flexFTL, the host's: chosen as the host's pages",
    "flex-q0": "flexFTL, the host's: MSB pages; no quota", "flex-host-q0": "flexFTL, the host's: chosen alike; no quota",
    "flex-own-q0": "flexFTL, own blocks; no quota",
}  # fmt: skip
WINDOWS_MS = (10, 100, 1000)
GUEST_S = {"fio-jobs/varmail-bursts.fio": 10, "fio-jobs/varmail.fio": 10}  # virtual seconds of a section
BURST_JOBS = ("burst-320", "burst-1000", "burst-4000")
GUEST_AGE = 2  # times the capacity
GUEST_SCALE = 4  # the guests' drives stay at a quarter: at full size these runs were not tried


IOPS = {"page": (1.16, 1.05), "parity": (1.56, 1.35), "rtf": (1.61, 1.29)}  # published: best, average
ERASES = {"parity": (-30.0, -23.0), "rtf": (-32.0, -28.0)}
BANDWIDTHS = {("peak", "rtf"): 2.13, ("mean", "parity"): 1.24, ("mean", "rtf"): 1.17}
PUBLISHED_MS = 100  # the window that these are put beside: the text has no length


class Rps:
    """Makes the configurations on flexFTL's drive, divided by scale."""

    def __init__(self, scale: int) -> None:
        if BLOCKS % scale or BLOCKS // scale < 32:
            raise StudyError(
                f"scale {scale} does not divide flexFTL's 512 blocks per chip: take a power of two up to 16"
            )
        self.blocks = BLOCKS // scale

    def config(self, ftl: str, suffix: str = "", sets: tuple[str, ...] = (), args: tuple[str, ...] = (),
               depth: int = DEPTH) -> Config:  # fmt: skip
        """Return a configuration of one of the four FTLs."""
        drive = (f"geometry.blocks_per_plane={self.blocks}", f"ftl.type={ftl}", f"geometry.order={FTLS[ftl][1]}", *sets)
        return Config(ftl + suffix, "rps", drive, ("--closed", str(depth), "--think", *args))

    def all(self) -> dict[str, Config]:
        """Return all configurations, by name."""
        made = []
        for ftl in FTLS:
            made += [self.config(ftl, s, args=args) for s, args in self.ways()]
            made += [self.config(ftl, f"-b{mib}", sets=(f"ftl.buffer_units={mib * 256}",)) for mib in BUFFERS_MIB]
        made += [
            self.config(ftl, f"-shared{s}", (SHARED,), args) for ftl in ("page", "parity") for s, args in self.ways()
        ]
        made += [self.config("flex", f"-host{s}", ("ftl.gc_pages=host",), args) for s, args in self.ways()]
        own, no_quota = "ftl.gc_frontier=own", "ftl.quota_permille=0"
        made += [self.config("rtf", "-own", (own,)), self.config("flex", "-own", (own,))]
        made += [self.config("flex", "-fast", ("ftl.gc_pages=fast",)), self.config("flex", "-q0", (no_quota,))]
        made += [
            self.config("flex", "-host-q0", ("ftl.gc_pages=host", no_quota)),
            self.config("flex", "-own-q0", (own, no_quota)),
        ]
        return {config.name: config for config in made}

    def ways(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return the two ways to replay: unchanged, and with intervals."""
        return (("", ()), ("-series", ("--interval", str(INTERVAL_MS))))


def suffixed(suffix: str) -> tuple[str, ...]:
    """Return the names of the four configurations with a suffix."""
    return tuple(ftl + suffix for ftl in FTLS)


def guest(name: str) -> Trace:
    """Return the trace that stands for a section of a fio job file."""
    return Trace(f"fio-{name}", maker="guest")


def guests(scale: int) -> list[GuestRun]:
    """Return Varmail's fio jobs, through Linux and fio, on each FTL's drive, of at most a quarter of the size."""
    scale = max(scale, GUEST_SCALE)
    made, capacity = [], f"ftl.capacity_mib={int(mix.mix_of('varmail').foot_gib * 1024 / scale)}"
    for ftl in FTLS:
        sets = (*Rps(scale).config(ftl).sets, capacity, "ftl.accounting=device", "ftl.payload=no")
        for job, seconds in GUEST_S.items():
            sections = BURST_JOBS if "bursts" in job else (Path(job).stem,)
            tags = tuple((section, guest(section).tag) for section in sections)
            args = ("--age", str(GUEST_AGE), "--env", f"RUNTIME={seconds}")
            made.append(GuestRun(f"guest-{ftl}", job, "rps", sets, tags, args, interval_ms=INTERVAL_MS))
    return made


def with_seeds(*names: str) -> tuple[Trace, ...]:
    """Return the mixes of mixes.toml, each with several seeds."""
    return mixes(*names) + tuple(Trace(name, (("seed", seed),), "mix") for seed in SEEDS for name in names)


def flex_against(measure: measures.Measure, form: Form, published: dict[str, tuple[float, float]] | None = None,
                 best: Best | None = None, configs: dict[str, str] | None = None, what: str = "") -> Rows:  # fmt: skip
    """Make rows of flexFTL against each of the others.

    published: (best, average); configs: of each FTL; what: prefix of the labels.
    """
    of = configs or {ftl: ftl for ftl in FTLS}
    several, published = [], published or {}
    for other in ("page", "parity", "rtf"):
        label = f"{what}flexFTL / {FTLS[other][0]}"
        known = {}
        if other in published:
            known = {("best", label): published[other][0], ("average", label): published[other][1]}
        several.append(relative(measure, of[other], {of["flex"]: label}, form, known, best))
    return together(*several)


def rps(_: int) -> list[Figure]:
    """Return flexFTL's figures, and studies of what the text does not state."""
    every, seeds, four = mixes(*TABLE2), with_seeds(*TABLE2), tuple(FTLS)
    to_page = {ftl: label for ftl, (label, _) in FTLS.items() if ftl != "page"}
    return [
        Figure("fig13", "IOPS of flexFTL against each", four, seeds, seeded(flex_against(measures.iops, times, IOPS, max), max), OURS),
        Figure("fig13n", "IOPS, of pageFTL's (the picture's form)", four, seeds,
               seeded(relative(measures.iops, "page", to_page, times)), OURS),
        Figure("fig14", "Blocks erased by flexFTL against each", four, seeds,
               seeded(flex_against(measures.blocks_erased, change, ERASES, min), min), OURS),
        Figure("fig14n", "Blocks erased, of pageFTL's (the picture's form)", four, seeds,
               seeded(relative(measures.blocks_erased, "page", to_page, times)), OURS),
        Figure("wa", "Pages programmed for a page of the host", four, every,
               absolute(measures.wa, {ftl: label for ftl, (label, _) in FTLS.items()}, "pages/page"), OURS),
        Figure("fig15", "Write bandwidth of Varmail, in windows of 100 ms in which something was written",
               suffixed("-series"), mixes("varmail"), bandwidths(named("{}-series"), WINDOWS_MS), OURS, picture="cdf"),
        *in_guests(),
        *alike(seeds),
        *sensitivity(),
    ]  # fmt: skip


def named(form: str) -> dict[str, str]:
    """Return one configuration of each of the four FTLs."""
    return {ftl: form.format(ftl) for ftl in FTLS}


def alike(seeds: tuple[Trace, ...]) -> list[Figure]:
    """Return the published figures with all four FTLs copying into the host's blocks, and the effect of each knob."""
    title, four = "GC of all four copies into the host's blocks", tuple(ALIKE.values())
    series = {ftl: f"{config}-series" for ftl, config in ALIKE.items()}
    return [
        Figure("alike-fig13", f"IOPS of flexFTL against each; {title}", four, seeds,
               seeded(flex_against(measures.iops, times, IOPS, max, ALIKE), max), OURS),
        Figure("alike-fig14", f"Blocks erased by flexFTL against each; {title}", four, seeds,
               seeded(flex_against(measures.blocks_erased, change, ERASES, min, ALIKE), min), OURS),
        Figure("alike-fig15", f"Write bandwidth of Varmail, in windows of 100 ms; {title}", tuple(series.values()),
               mixes("varmail"), bandwidths(series, WINDOWS_MS), OURS, picture="cdf"),
        Figure("copies", "IOPS of OLTP and NTRX by where GC's copies go", tuple(COPIES), mixes("oltp", "ntrx"),
               each(absolute(measures.iops, COPIES, "requests/s")), OURS),
        Figure("copies-wa", "Pages programmed for a page of the host by where GC's copies go", tuple(COPIES),
               mixes("oltp", "ntrx"), each(absolute(measures.wa, COPIES, "pages/page")), OURS),
    ]  # fmt: skip


def in_guests() -> list[Figure]:
    """Return figure 15 from fio jobs, and their IOPS. Erases are not compared, because the jobs take only seconds."""
    configs = named("guest-{}")
    varmail = tuple(guest(name) for name in ("burst-4000", "burst-1000", "burst-320", "varmail"))
    return [
        Figure("guest-fig15", "Write bandwidth of Varmail, in a guest", (), varmail,
               bandwidths(configs, WINDOWS_MS[:2]), OURS, guests=tuple(configs.values()), picture="cdf", window_ms=10),
        Figure("guest-iops", "IOPS of flexFTL on Varmail, in a guest", (), varmail,
               each(flex_against(measures.iops, times, None, None, configs)), OURS, guests=tuple(configs.values())),
    ]  # fmt: skip


def bandwidths(configs: dict[str, str], windows: tuple[int, ...]) -> Rows:
    """Make rows of peak and mean of figure 15 by window length. published: of flexFTL against two others."""

    def rows(results: Results, traces: tuple[str, ...], accounting: str) -> list[Row]:
        several = []
        for ms in windows:
            for kind, measure in (("peak", measures.peak_mib_s(ms)), ("mean", measures.mean_mib_s(ms))):
                labels = {config: f"{FTLS[ftl][0]}, {kind}, {ms} ms" for ftl, config in configs.items()}
                several.append(absolute(measure, labels, "MiB/s"))
                for other in ("page", "parity", "rtf"):
                    label = f"flexFTL / {FTLS[other][0]}, {kind}, {ms} ms"
                    paper = BANDWIDTHS.get((kind, other)) if ms == PUBLISHED_MS else None
                    known = {(trace, label): paper for trace in traces} if paper is not None else {}
                    several.append(relative(measure, configs[other], {configs["flex"]: label}, times, known))
        return each(together(*several))(results, traces, accounting)

    return rows


def sensitivity() -> list[Figure]:
    """Return figures with other assumptions where the text states none."""
    skewed = mixes("ntrx") + tuple(Trace("ntrx", settings, "mix") for settings in SKEWS)
    foots = VARIED + tuple(Trace(t.volume, (("foot_gib", gib),), "mix") for t in VARIED for gib in FOOTS_GIB[t.volume])
    flushed = VARIED + tuple(Trace(t.volume, (("flush", 1),), "mix") for t in VARIED)
    idle = mixes("varmail") + tuple(Trace("varmail", (("burst", n), ("think_ms", ms)), "mix") for n, ms in BURSTS)
    iops, erases = each(flex_against(measures.iops, times)), each(flex_against(measures.blocks_erased, change))
    buffers = {"" if mib == 4 else f"-b{mib}": mib for mib in sorted((4, *BUFFERS_MIB))}
    return [
        figure
        for name, title, traces in (
            ("skew", "by the places of NTRX", skewed),
            ("foot", "by exported capacity (of 16 GiB; the mixes have 11)", foots),
            ("flush", "by flushes (flush=1: one after each write)", flushed),
            ("bursts", "on Varmail by bursts and pauses", idle),
        )
        for figure in (
            Figure(name, f"IOPS of flexFTL {title}", tuple(FTLS), traces, iops, OURS),
            Figure(f"{name}-erases", f"Blocks erased by flexFTL {title}", tuple(FTLS), traces, erases, OURS),
        )
    ] + [
        Figure("buffer", "IOPS of flexFTL by the write buffer", tuple(c for x in buffers for c in suffixed(x)), VARIED,
               each(together(*(flex_against(measures.iops, times, None, None, named("{}" + x), f"{mib} MiB: ") for x, mib in buffers.items()))),
               OURS),
    ]  # fmt: skip


QUICK = ("ntrx", "varmail")
QUICK_FIGURES = ("fig13", "fig13n", "fig14", "fig14n", "fig15")


# ---- other choices that the text leaves open ------------------------------------------------

UNIFORM = (("hot", 0.0), ("hot_part", 0.0))
LONG_BURSTS = (("burst", 4000.0), ("think_ms", 800.0))
ALIKE_SETS = {"page": (SHARED,), "parity": (SHARED,), "rtf": (), "flex": ("ftl.gc_pages=host",)}


BACKED_UP = ("parity", "rtf", "flex")  # have parity pages
NEXT = "ftl.backup_channel=next"


class RpsChoices(Rps):
    """Makes configurations with GC's copies in the host's blocks, as in "alike-", and write buffers of three sizes."""

    def all(self) -> dict[str, Config]:
        """Return all configurations, by name."""
        made = [self.config(ftl, sets=ALIKE_SETS[ftl]) for ftl in FTLS]
        made += [self.config(ftl, "-next", (*ALIKE_SETS[ftl], NEXT)) for ftl in BACKED_UP]
        over_drive = ("ftl.gc_pages=drive",)
        made += [
            self.config("flex", "-drive", over_drive),
            self.config("flex", "-drive-b4", (*over_drive, "ftl.buffer_units=1024"), ("--interval", str(INTERVAL_MS))),
        ]
        for mib in (1, 4, 16):
            buffer = (f"ftl.buffer_units={mib * 256}",)
            made += [
                self.config(ftl, f"-b{mib}", (*ALIKE_SETS[ftl], *buffer), ("--interval", str(INTERVAL_MS))) for ftl in FTLS
            ]
        return {config.name: config for config in made}


def rps_choices(_: int) -> list[Figure]:
    """Return studies of locality, parity pages, turns of page types, and figure 15 by buffer and burst."""
    skewed = mixes(*TABLE2)
    uniform = tuple(Trace(t.volume, UNIFORM, "mix") if t.volume in ("oltp", "ntrx") else t for t in skewed)
    bursts = (Trace("varmail", maker="mix"), Trace("varmail", LONG_BURSTS, "mix"))
    made = []
    for name, title, measure, form, published, best in (
        ("pool-iops", "IOPS of flexFTL against each", measures.iops, times, IOPS, max),
        ("pool-erases", "Blocks erased by flexFTL against each", measures.blocks_erased, change, ERASES, min),
    ):
        rows = together(*(
            of_traces(some, flex_against(measure, form, published, best, None, f"{label}: "))
            for label, some in (("skew as above the buffer pool", skewed), ("uniform below the buffer pool", uniform))
        ))  # fmt: skip
        made.append(Figure(name, f"{title}, by the locality of OLTP and NTRX", tuple(FTLS),
                           tuple(dict.fromkeys(skewed + uniform)), rows, OURS))  # fmt: skip
    made += backups(skewed)
    made += alternations(skewed)
    rows = together(*(prefixed(f"{mib} MiB: ", bandwidths(named(f"{{}}-b{mib}"), (PUBLISHED_MS,))) for mib in (1, 4, 16)))
    made.append(Figure("buffer-bandwidth", "Write bandwidth of Varmail in windows of 100 ms, by write buffer and burst",
                       tuple(f"{ftl}-b{mib}" for mib in (1, 4, 16) for ftl in FTLS), bursts, rows, OURS))  # fmt: skip
    return made


def backups(traces: tuple[Trace, ...]) -> list[Figure]:
    """Return figures 13 and 14 with the parity pages in the plane of what they cover, and in the next channel."""
    ahead = {ftl: f"{ftl}-next" if ftl in BACKED_UP else ftl for ftl in FTLS}
    return two_ways("backup", "by the place of parity pages", traces, {"same plane": named("{}"), "next channel": ahead})


def alternations(traces: tuple[Trace, ...]) -> list[Figure]:
    """Return figures 13, 14 and 15 with the types of flexFTL's pages in turn on each plane, and over the drive."""
    over = {"each plane": "", "the drive": "-drive"}
    ways = {label: named("{}") | {"flex": f"flex{suffix}"} for label, suffix in over.items()}
    series = {label: named("{}-b4") | {"flex": f"flex{suffix}-b4"} for label, suffix in over.items()}
    rows = together(*(prefixed(f"{label}: ", bandwidths(of, (PUBLISHED_MS,))) for label, of in series.items()))
    return [
        *two_ways("types", "by what LSB and MSB pages take turns over", traces, ways),
        Figure("types-bandwidth", "Write bandwidth of Varmail in windows of 100 ms, by what LSB and MSB pages take turns over",
               configs_of(series), mixes("varmail"), rows, OURS),
    ]  # fmt: skip


Ways = dict[str, dict[str, str]]  # the configuration of each FTL, by label


def configs_of(ways: Ways) -> tuple[str, ...]:
    """Return every configuration once."""
    return tuple(dict.fromkeys(name for of in ways.values() for name in of.values()))


def two_ways(name: str, title: str, traces: tuple[Trace, ...], ways: Ways) -> list[Figure]:
    """Return figures 13 and 14 for each way."""
    made = []
    for kind, what, measure, form, published, best in (
        ("iops", "IOPS of flexFTL against each", measures.iops, times, IOPS, max),
        ("erases", "Blocks erased by flexFTL against each", measures.blocks_erased, change, ERASES, min),
    ):
        rows = together(
            *(flex_against(measure, form, published, best, of, f"{label}: ") for label, of in ways.items())
        )
        made.append(Figure(f"{name}-{kind}", f"{what}, {title}", configs_of(ways), traces, rows, OURS))
    return made


def prefixed(before: str, inner: Rows) -> Rows:
    """Return the same rows with a prefix before their labels."""

    def rows(results: Results, traces: tuple[str, ...], accounting: str) -> list[Row]:
        return [replace(row, what=before + row.what) for row in inner(results, traces, accounting)]

    return rows


CHOICES_QUICK_FIGURES = ("pool-iops", "pool-erases")

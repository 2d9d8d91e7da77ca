# SPDX-License-Identifier: GPL-2.0-or-later
"""figures.py - the published figures of both GC papers, and related studies.

A figure names the configurations (points.py) that it needs for each trace, and how its rows are made
(compare.py). Numbers of the papers are from their texts.
"""

from __future__ import annotations

from dataclasses import dataclass

from reproduce.rows import measures
from reproduce.rows.compare import Form, Rows, absolute, breakdown, change, lower, of_traces, relative, times, together
from reproduce.rows.points import (
    ACCOUNTINGS,
    BLOCK_SIZES,
    CAPACITY_LOST,
    DEPTHS,
    GFTL_DEPTHS,
    LEVELS,
    MERGES,
    NEAR_PAGES,
    PAIR_PAGES,
    SECOND_DEFAULT,
    SECOND_PAGES,
    SLICES,
    STRIPES,
    SUPERBLOCKS,
    TABLE2,
    Trace,
)  # fmt: skip

OURS = ACCOUNTINGS[:1]


@dataclass(frozen=True)
class Figure:
    """Describes a published figure, or an additional study."""

    name: str  # name of the figure's files
    title: str
    configs: tuple[str, ...]
    traces: tuple[Trace, ...]
    rows: Rows
    accountings: tuple[str, ...] = ACCOUNTINGS
    note: str = ""
    guests: tuple[str, ...] = ()  # configurations of guest runs (study.py); configs and traces are not run then
    picture: str = "bars"  # or "series": over time; "stack": averages by cause; "cdf": of write bandwidth; "": none
    window_ms: int = 100  # windows of a cdf
    sizes: bool = False  # rows are of the sizes of the traces' reads: configuration "sizes", which is not run


def volumes(*names: str) -> tuple[Trace, ...]:
    """Return the volumes with the assumptions of workloads.toml."""
    return tuple(Trace(name) for name in names)


# ---- PEN ---------------------------------------------------------------------------

# The text does not say which of the twelve volumes figures 3a and 5 call "high
# write-intensive". It names prn_1 and proj_1, and explains them by their coverage. So
# here these are the volumes whose writes cover more than 4 GB (Table 2).
HIGH = ("prn_0", "prn_1", "proj_1", "proj_2", "src1_1", "usr_1", "usr_2")
# The sweeps leave out the volumes of 20 million reads and more: they take most of the time.
SWEPT = tuple(name for name in TABLE2 if name not in ("proj_1", "proj_2", "src1_1", "usr_1"))
LOW = tuple(name for name in TABLE2 if name not in HIGH)
BY_PAGES = {("nftl" if p == 576 else f"nftl-{p}"): f"{p} pages" for _, p in BLOCK_SIZES}
BY_LEVEL = {("pen" if n == 6 else f"pen-L{n}"): f"L = {n}" for n in LEVELS}
BY_MERGES = {("pen" if w == 16 else f"pen-W{w}"): f"W = {w}" for w in MERGES}
BY_LOSS = {(f"pbe-{x}" if x else "pen-nodisturb"): f"{x / 10:g} % less" for x in CAPACITY_LOST}
BY_SPARE = {f"pbe-{x}": (f"pen-spare-{x}", f"{x / 10:g} % less") for x in CAPACITY_LOST[1:]}
BY_SUPER_MERGES = {("sb45-pen" if w == 16 else f"sb45-pen-W{w}"): f"W = {w}" for w in MERGES}
SUPER = {f"sb{m}{n}-pen": (f"sb{m}{n}", f"{m}:{n}") for m, n in SUPERBLOCKS}
BY_SLICE = {"gftl" if n == 4 else f"gftl-{n}": f"GFTL, {n} a turn" for n in SLICES}
BY_DEPTH = {
    f"pen-closed{x}": (f"nftl-closed{x}", f"{n} in flight") for n in DEPTHS for x in ("" if n == 8 else f"-{n}",)
}
FIXED = ("hm_0", "prn_1", "proj_1", "stg_1")  # of the sensitivity runs and the combinations
ASSUMED = (  # key of [assumed] in workloads.toml, and its other possible values
    ("beta", (0.25, 0.9)),
    ("run_kib", (32, 1024)),
    ("density", (0.0625, 1.0)),
    ("follow", (0.0, 0.75)),
    ("burst", (1, 32)),
)


def pen_against_nftl(measure: measures.Measure, form: Form, paper: float | None = None) -> Rows:
    """Make the rows of figures 12 and 13."""
    return relative(measure, "nftl", {"pen": "PEN"}, form, {("average", "PEN"): paper} if paper else None)


def on_superblock(measure: measures.Measure, form: Form, paper: float | None = None) -> Rows:
    """Make the rows of figures 16 and 17: PEN against the same M:N without PEN."""
    known = {("average", label): paper for _, label in SUPER.values()} if paper else None
    return together(*(relative(measure, base, {pen: label}, form, known) for pen, (base, label) in SUPER.items()))


def pen(scale: int) -> list[Figure]:
    """Return PEN's figures, and studies of assumptions that the paper does not state."""
    every = volumes(*TABLE2)
    pair = ("nftl", "pen")
    supers = tuple(name for pen_name, (base, _) in SUPER.items() for name in (base, pen_name))
    shares = {("average", "72 pages"): 58.0, ("average", "576 pages"): 79.0}
    amplification = {("average", "72 pages"): 2.1, ("average", "576 pages"): 5.1}
    merges = {("prn_1", "576 pages"): 140000.0}
    return [
        Figure("fig03a", "Write latency by cause, NFTL by block size, high write-intensive",
               tuple(BY_PAGES), volumes(*HIGH), breakdown(BY_PAGES, shares), picture="stack"),
        Figure("fig03b", "Write latency by cause, NFTL by block size, low write-intensive",
               tuple(BY_PAGES), volumes(*LOW), breakdown(BY_PAGES, {}), picture="stack"),
        Figure("fig04", f"GC calls, NFTL by block size, times {scale} as of the full size",
               tuple(BY_PAGES), every, absolute(measures.gc_calls, BY_PAGES, "calls", merges, True), OURS,
               "The text has one number: over 140,000 merges for prn_1."),
        Figure("fig05", "Write amplification, NFTL by block size, high write-intensive",
               tuple(BY_PAGES), volumes(*HIGH), absolute(measures.wa, BY_PAGES, "pages/page", amplification), OURS),
        Figure("fig12a", "Write latency of PEN against NFTL",
               pair, every, pen_against_nftl(measures.write_us, change, -44.3)),
        Figure("fig12b", "IOPS of PEN against NFTL, eight requests in flight",
               ("nftl-closed", "pen-closed"), every,
               relative(measures.iops, "nftl-closed", {"pen-closed": "PEN"}, times, {("average", "PEN"): 1.43})),
        Figure("fig12c", "Write latency of NFTL and GFTL against PEN",
               ("pen", "nftl", "gftl"), every,
               relative(measures.write_us, "pen", {"nftl": "NFTL", "gftl": "GFTL"}, times)),
        Figure("fig13a", "Write amplification: how many times lower with PEN than with NFTL",
               pair, every, pen_against_nftl(measures.wa, lower, 2.67), OURS),
        Figure("fig13b", "Mean erases of a page (AEP), PEN against NFTL",
               pair, every, pen_against_nftl(measures.aep, times), OURS),
        Figure("fig13c", "Variance of the erases of a page (VEP), PEN against NFTL",
               pair, every, pen_against_nftl(measures.vep, times), OURS),
        Figure("fig14a", "Write latency of PEN by L, against L = 6",
               tuple(BY_LEVEL), volumes(*SWEPT), relative(measures.write_us, "pen", BY_LEVEL, times), OURS),
        Figure("fig14b", "Write latency of PEN by W, against W = 16",
               tuple(BY_MERGES), volumes(*SWEPT), relative(measures.write_us, "pen", BY_MERGES, times), OURS),
        Figure("fig14c", "VEP of PEN by W, against W = 16",
               tuple(BY_MERGES), volumes(*SWEPT), relative(measures.vep, "pen", BY_MERGES, times), OURS),
        Figure("fig15a", "Write latency of PEN with program disturbance against without",
               ("pen-nodisturb", "pen"), every, relative(measures.write_us, "pen-nodisturb", {"pen": "with"}, change)),
        Figure("fig15b", "Write latency over time, mean of every minute",
               ("nftl-series", "pen-series"), volumes("proj_1"),
               absolute(measures.write_us, {"nftl-series": "NFTL", "pen-series": "PEN"}, "us"), OURS, picture="series"),
        Figure("fig15c", "Write amplification of PBE (no disturbance, less capacity) against PEN",
               ("pen", *BY_LOSS), volumes(*SWEPT),
               relative(measures.wa, "pen", BY_LOSS, change, {("average", "16.5 % less"): 88.0}), OURS),
        Figure("fig16a", "Write latency of PEN on Superblock against Superblock",
               supers, every, on_superblock(measures.write_us, change, -47.9),
               note="The text has one average and does not say of which M:N."),
        Figure("fig16b", "Read latency of PEN on Superblock against Superblock",
               supers, every, on_superblock(measures.read_us, change)),
        Figure("fig17a", "Write amplification of PEN on Superblock against Superblock",
               supers, every, on_superblock(measures.wa, times), OURS),
        Figure("fig17b", "AEP of PEN on Superblock against Superblock",
               supers, every, on_superblock(measures.aep, times), OURS),
        Figure("fig17c", "VEP of PEN on Superblock against Superblock",
               supers, every, on_superblock(measures.vep, times), OURS),
        *combinations(),
        *pen_sensitivity(),
    ]  # fmt: skip


def combinations() -> list[Figure]:
    """Return the Superblock FTL's ratios beside each other, and unpublished combinations of the papers' methods."""
    some = volumes(*FIXED)
    on_nftl = {"nftl-ippbe": "NFTL x IPPBE", "pen": "PEN", "pen-ippbe": "PEN x IPPBE"}
    on_super = {"sb45-ippbe": "4:5 x IPPBE", "sb45-pen": "4:5 PEN", "sb45-pen-ippbe": "4:5 PEN x IPPBE"}
    on_page = {"page-ippbe": "page x IPPBE", "page-pen": "page, PEN"}
    return [
        Figure("super-base", "Write latency of Superblock 4:8 against 4:5, without PEN",
               ("sb45", "sb48"), volumes(*TABLE2), relative(measures.write_us, "sb45", {"sb48": "4:8"}, times), OURS),
        Figure("new-nftl", "Write latency of PEN and IPPBE on NFTL, against NFTL",
               ("nftl", *on_nftl), some, relative(measures.write_us, "nftl", on_nftl, change), OURS),
        Figure("new-superblock", "Write latency of PEN and IPPBE on Superblock 4:5, against Superblock 4:5",
               ("sb45", *on_super), some, relative(measures.write_us, "sb45", on_super, change), OURS),
        Figure("new-page", "Write latency of PEN and IPPBE on page mapping, against page mapping",
               ("page", *on_page), some, relative(measures.write_us, "page", on_page, change), OURS),
        Figure("new-page-wa", "Write amplification of PEN and IPPBE on page mapping",
               ("page", *on_page), some,
               absolute(measures.wa, {"page": "page", **on_page}, "pages/page"), OURS),
        Figure("new-spread", "GC time with sub-page reads (SPREAD) against whole pages, SPREAD's drive",
               ("spread", "spread-gc"), some,
               relative(measures.gc_ms, "spread", {"spread-gc": "sub-page GC reads"}, change), OURS),
    ]  # fmt: skip


def pen_sensitivity() -> list[Figure]:
    """Return figure 12a and the spare-area search under other assumptions."""
    varied = tuple(
        Trace(volume, ((key, value),)) for key, values in ASSUMED for value in values for volume in ("hm_0", "prn_1")
    )
    search = {"pen-nosearch": "PEN, both without"}
    return [
        Figure("assumed", "Write latency of PEN against NFTL when the stand-ins assume something else",
               ("nftl", "pen"), volumes("hm_0", "prn_1") + varied,
               together(pen_against_nftl(measures.write_us, change), absolute(measures.wa, {"nftl": "NFTL, WA"}, "pages/page")), OURS),
        *stripes(),
        Figure("slice", "Write latency of GFTL against PEN by copies of a turn",
               ("pen", *BY_SLICE), volumes(*FIXED), relative(measures.write_us, "pen", BY_SLICE, times), OURS),
        Figure("depth", "IOPS of PEN against NFTL by requests in flight",
               (*BY_DEPTH, *(base for base, _ in BY_DEPTH.values())), volumes(*FIXED),
               together(*(relative(measures.iops, base, {pen_name: label}, times, {("average", label): 1.43})
                          for pen_name, (base, label) in BY_DEPTH.items()))),
        Figure("spare", "Write amplification of PBE against PEN when PEN exports no more than PBE does",
               (*BY_SPARE, *(base for base, _ in BY_SPARE.values())), volumes(*SWEPT),
               together(*(relative(measures.wa, base, {pbe: label}, change, {("average", "16.5 % less"): 88.0})
                          for pbe, (base, label) in BY_SPARE.items())), OURS),
        *(Figure(f"super-{name}", f"{what} of PEN on Superblock 4:5 by W, against Superblock 4:5",
                 ("sb45", *BY_SUPER_MERGES), volumes(*SWEPT),
                 relative(measure, "sb45", BY_SUPER_MERGES, times), OURS)
          for name, what, measure in (("write", "Write latency", measures.write_us), ("aep", "AEP", measures.aep),
                                      ("vep", "VEP", measures.vep))),
        Figure("search", "Write latency of PEN against NFTL when spare areas need not be searched",
               ("nftl-nosearch", "pen-nosearch"), volumes(*FIXED),
               relative(measures.write_us, "nftl-nosearch", search, change), OURS),
    ]  # fmt: skip


def stripes() -> list[Figure]:
    """Return figures for other distributions of consecutive pages over planes."""
    names = [("nftl", "pen", 576)] + [(f"nftl-S{n}", f"pen-S{n}", n) for n in STRIPES if n != 576]
    bases = {base: f"{n} pages" for base, _, n in names}
    every = tuple(name for base, pen_name, _ in names for name in (base, pen_name))
    against = together(
        *(relative(measures.write_us, base, {pen_name: f"{n} pages"}, change) for base, pen_name, n in names)
    )
    merges = {("prn_1", f"{n} pages"): 140000.0 for _, _, n in names}
    return [
        Figure("stripe-calls", "GC calls of NFTL by consecutive pages in a plane, as of the full size", every,
               volumes(*FIXED), absolute(measures.gc_calls, bases, "calls", merges, True), OURS),
        Figure("stripe-write", "Write latency of PEN against NFTL by consecutive pages in a plane", every,
               volumes(*FIXED), against, OURS),
    ]  # fmt: skip


def pen_choices(_: int) -> list[Figure]:
    """Return studies in which choices that PEN's text leaves open are made the other way."""
    swept, every, high = volumes(*SWEPT), volumes(*TABLE2), volumes(*HIGH)
    ways = {"": "newest of equals (the study pen)", "-oldest": "oldest of equals", "-lru": "least recently overwritten"}
    nftl = {f"nftl{way}": label for way, label in ways.items()}
    pens = [(f"nftl{way}", f"pen{way}", label) for way, label in ways.items()]
    both = tuple(nftl) + tuple(pen_name for _, pen_name, _ in pens)
    sizes = {("nftl" if p == 576 else f"nftl-{p}") + all_: f"{p} pages{label}" for p in (72, 576)
             for all_, label in (("", ""), ("-all", " (all spare areas)"))}  # fmt: skip
    shares = {("average", f"{p} pages{label}"): share for p, share in ((72, 58.0), (576, 79.0))
              for label in ("", " (all spare areas)")}  # fmt: skip
    loads = {"nftl": "NFTL", "pen": "PEN", "gftl": "GFTL", "gftl-buffer": "GFTL, write buffer"}
    return [
        Figure("tie-wa", "Write amplification of NFTL by the pair that is merged", tuple(nftl), swept,
               absolute(measures.wa, nftl, "pages/page"), OURS),
        Figure("tie-gain", "Write amplification: how many times lower with PEN, by the pair that is merged", both, swept,
               together(*(relative(measures.wa, base, {pen_name: label}, lower) for base, pen_name, label in pens)), OURS),
        Figure("tie-write", "Write latency of PEN against NFTL, by the pair that is merged", both, swept,
               together(*(relative(measures.write_us, base, {pen_name: label}, change) for base, pen_name, label in pens)), OURS),
        Figure("op", "Write amplification and latency with a tenth of the raw pages spare, as SSDSim counts it",
               ("nftl", "pen", "nftl-op", "pen-op"), swept,
               together(absolute(measures.wa, {"nftl": "NFTL, exported / 1.1", "nftl-op": "NFTL, 0.9 of raw"}, "pages/page"),
                        relative(measures.write_us, "nftl", {"pen": "PEN, exported / 1.1"}, change),
                        relative(measures.write_us, "nftl-op", {"pen-op": "PEN, 0.9 of raw"}, change)), OURS),
        Figure("spare-areas", "Write latency by cause when a merge reads the spare areas of all pages of both blocks",
               tuple(sizes), high, breakdown(sizes, shares), OURS, picture="stack"),
        Figure("load", "Requests in the drive on average, open loop; the drive has 32 dies", tuple(loads), every,
               absolute(measures.waiting, loads, "requests"), OURS),
        *gftl(),
    ]  # fmt: skip


def gftl() -> list[Figure]:
    """Return figure 12c's GFTL with a write buffer."""
    kinds = {"gftl": "GFTL, writes wait (12c)", "gftl-buffer": "GFTL, write buffer", "gftl-one": "one block of buffer"}
    turns = {("gftl-buffer" if n == 4 else f"gftl-buffer-{n}"): f"{n} a turn" for n in SLICES}
    closed = tuple(f"{name}-closed-{n}" for n in GFTL_DEPTHS for name in ("nftl", "pen", "gftl-buffer"))
    against = together(
        *(relative(measures.iops, f"pen-closed-{n}", {f"nftl-closed-{n}": f"NFTL, {n} in flight",
                                                      f"gftl-buffer-closed-{n}": f"GFTL, {n} in flight"}, times)
          for n in GFTL_DEPTHS)
    )  # fmt: skip
    every = volumes(*TABLE2)
    return [
        Figure("gftl", "Write latency of GFTL against PEN, without and with a write buffer", ("pen", *kinds), every,
               relative(measures.write_us, "pen", kinds, times), OURS),
        Figure("gftl-longest", "The longest write latency of NFTL, PEN and GFTL", ("nftl", "pen", *kinds), every,
               absolute(measures.write_longest_ms, {"nftl": "NFTL", "pen": "PEN", **kinds}, "ms"), OURS),
        Figure("gftl-wa", "Write amplification of NFTL and GFTL", ("nftl", *kinds), every,
               absolute(measures.wa, {"nftl": "NFTL", **kinds}, "pages/page"), OURS),
        Figure("gftl-slice", "Write latency of GFTL with a write buffer against PEN by copies of a turn",
               ("pen", *turns), volumes(*FIXED), relative(measures.write_us, "pen", turns, times), OURS),
        Figure("gftl-iops", "IOPS of NFTL and GFTL with a write buffer against PEN by requests in flight; 32 dies",
               closed, volumes(*FIXED), against, OURS),
    ]  # fmt: skip


CHOICES_QUICK = ("hm_0", "prn_1")
CHOICES_QUICK_FIGURES = ("tie-wa", "tie-gain", "op", "load")

PEN_QUICK = ("hm_0", "prn_1", "src1_2", "stg_1")
PEN_QUICK_FIGURES = ("fig04", "fig05", "fig12a", "fig12b", "fig13a", "fig13b", "fig13c", "fig15a", "fig16a", "fig17a")

# ---- IPPBE -------------------------------------------------------------------------

# The paper's text names three volumes of the MSR suite (prxy0, prn0, stg0), and its figures show
# more. These are the write-heavy volumes for which it gives numbers.
IPPBE_TRACES = ("hm_0", "prn_0", "prn_1", "proj_0", "prxy_0", "src1_2", "stg_0-1M", "src2_0-1M", "rsrch_0-1M")
IPPBE_PUBLISHED = (  # figure, quantity, measure, best, average: sections 5.1 to 5.3
    ("fig06", "Pages moved by GC", measures.pages_moved, -52.2, -26.6),
    ("fig07", "Blocks erased", measures.blocks_erased, -14.2, -3.6),
    ("fig08", "Time in GC", measures.gc_ms, -50.7, -33.6),
    ("fig09", "GC calls", measures.gc_calls, -56.4, -46.7),
    ("fig10", "Mean write response", measures.write_us, -45.4, -14.8),
    ("fig11", "Mean read response", measures.read_us, -47.0, -16.5),
    ("fig12", "Energy of GC", measures.gc_energy_uj, -44.1, -19.3),
)
BURSTS = (1, 6, 32)  # requests that arrive together: assumed of the stand-ins; 6 is workloads.toml's
BY_THRESHOLD = {("ippbe" if n == SECOND_DEFAULT else f"ippbe-{n}"): f"threshold {n}" for n in SECOND_PAGES}


def ippbe(_: int) -> list[Figure]:
    """Return IPPBE's figures, and studies of assumptions that the paper does not state."""
    every = volumes(*IPPBE_TRACES)
    made = [
        Figure(name, f"{what}, IPPBE against greedy", ("greedy", "ippbe"), every,
               relative(measure, "greedy", {"ippbe": "IPPBE"}, change,
                        {("average", "IPPBE"): average, ("best", "IPPBE"): best}, min))
        for name, what, measure, best, average in IPPBE_PUBLISHED
    ]  # fmt: skip
    for name, what, measure in (
        ("threshold-moved", "Pages moved by GC", measures.pages_moved),
        ("threshold-calls", "GC calls", measures.gc_calls),
        ("threshold-time", "Time in GC", measures.gc_ms),
        ("threshold-write", "Mean write response", measures.write_us),
    ):
        rows = relative(measure, "greedy", BY_THRESHOLD, change)
        made.append(Figure(name, f"{what}, IPPBE against greedy, by the second victim's valid pages of 64",
                           ("greedy", *BY_THRESHOLD), every, rows, OURS))  # fmt: skip
    for other, what in (
        ("filled", "the drive filled to 95 % before"),
        ("dynamic", "the page FTL: each page to the first idle die, GC's copies in blocks of their own"),
    ):
        names = (f"greedy-{other}", f"ippbe-{other}")
        rows = together(*(relative(m, names[0], {names[1]: label}, change) for _, label, m, _, _ in IPPBE_PUBLISHED))
        made.append(Figure(other, f"All quantities, IPPBE against greedy, {what}", names, every, rows, OURS))
    return made + bursts()


def bursts() -> list[Figure]:
    """Return figures 10 and 11 with the stand-ins' requests in other bursts, or each alone."""
    traces = {n: tuple(Trace(name, () if n == 6 else (("burst", n),)) for name in IPPBE_TRACES) for n in BURSTS}
    made = []
    for name, what, measure, _, average in IPPBE_PUBLISHED:
        if name in ("fig10", "fig11"):
            known = {("average", f"bursts of {n}"): average for n in BURSTS}
            rows = together(
                *(
                    of_traces(some, relative(measure, "greedy", {"ippbe": f"bursts of {n}"}, change, known))
                    for n, some in traces.items()
                )
            )
            made.append(Figure(f"bursts-{what.split()[1]}", f"{what}, IPPBE against greedy, by requests that arrive together",
                               ("greedy", "ippbe"), sum(traces.values(), ()), rows))  # fmt: skip
    return made


def ippbe_choices(_: int) -> list[Figure]:
    """Return studies of other open choices of IPPBE: the threshold's meaning, and GC's share of a response."""
    every = volumes(*IPPBE_TRACES)
    labels = {("ippbe" if n == SECOND_DEFAULT else f"ippbe-{n}"): f"second at most {n}" for n in NEAR_PAGES}
    labels |= {f"ippbe-both-{n}": f"both at most {n}" for n in PAIR_PAGES}
    made = [
        Figure(f"both-{name}", f"{what}, IPPBE against greedy, by the valid pages of the second victim, or of both",
               ("greedy", *labels), every, relative(measure, "greedy", labels, change), OURS)
        for name, what, measure in (("moved", "Pages moved by GC", measures.pages_moved),
                                    ("calls", "GC calls", measures.gc_calls), ("time", "Time in GC", measures.gc_ms),
                                    ("write", "Mean write response", measures.write_us))
    ]  # fmt: skip
    return made + responses()


def responses() -> list[Figure]:
    """Show why figures 10 and 11 gain less than published: the share of a response that is a wait for GC."""
    every = volumes(*IPPBE_TRACES)
    bases = {"greedy": "greedy", "greedy-in-order": "greedy, reads wait their turn", "greedy-filled": "greedy, filled to 95 %"}
    made = [
        Figure(f"share-{op}", f"Share of the mean {op} response that is a wait for GC, without IPPBE", tuple(bases), every,
               absolute(measure, bases, "%"))
        for op, measure in (("write", measures.write_gc_share), ("read", measures.read_gc_share))
    ]  # fmt: skip
    made += [
        Figure(f"wait-{op}", f"Mean wait of a {op} for GC, IPPBE against greedy", ("greedy", "ippbe"), every,
               relative(measure, "greedy", {"ippbe": "IPPBE"}, change))
        for op, measure in (("write", measures.write_gc_us), ("read", measures.read_gc_us))
    ]  # fmt: skip
    loads = {"greedy": "greedy", "ippbe": "IPPBE"}
    made.append(Figure("load", "Requests in the drive on average, open loop; the drive has four dies", tuple(loads), every,
                       absolute(measures.waiting, loads, "requests")))
    for name, what, measure, _, average in IPPBE_PUBLISHED:
        if name in ("fig10", "fig11"):
            orders = {"ippbe": ("greedy", "reads overtake"), "ippbe-in-order": ("greedy-in-order", "reads wait their turn")}
            rows = together(*(relative(measure, base, {pair: label}, change, {("average", label): average})
                              for pair, (base, label) in orders.items()))  # fmt: skip
            made.append(Figure(f"order-{what.split()[1]}", f"{what}, IPPBE against greedy, by the order of reads and writes",
                               (*orders, *(base for base, _ in orders.values())), every, rows))  # fmt: skip
    return made


OF_STAND_INS = ("assumed", "bursts-write", "bursts-read")  # studies of what is assumed of stand-ins

IPPBE_CHOICES_QUICK_FIGURES = ("both-moved", "share-write", "load")
IPPBE_QUICK = ("hm_0", "src1_2", "stg_0-1M")
IPPBE_QUICK_FIGURES = tuple(name for name, *_ in IPPBE_PUBLISHED)

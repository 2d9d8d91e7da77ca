# SPDX-License-Identifier: GPL-2.0-or-later
"""spread_standins.py - SPREAD's gain on stand-ins for PRJ, USR and STG, and how far stand-ins may be trusted.

    reproduce spread-standins TRACES=DIR [NAME ...] [--seeds N] [--jobs N] [--out DIR]

Table 4 gives of these volumes reads : writes and the dominant sizes. A stand-in here has these numbers alone, and the
rest from real traces (fits.toml and DIR: habits, and covered bytes over bytes). Extents of standin.py have the largest
of the dominant sizes; a smaller request is a piece of its extent, at a place drawn anew, so that small writes fragment
what large reads ask for.

Validation: of each real trace the same numbers are taken, as Table 4 would have them, and nothing else: `own` adds the
trace's fit and coverage, `others` the medians over all other traces (leave one out), `mix` makes a mix (mix.py), as
the study "spread" does. Bands: of PRJ, USR and STG with each trace's fit and coverage, and with the medians, over
the seeds; mixes beside them. Writes validation.csv, bands.csv and README.md to the folder of --out (default:
docs/results/spread-standins). Results of replays are kept as validate.py's are.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import random
import statistics
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from reproduce import places
from reproduce.papers import spread
from reproduce.places import ROOT
from reproduce.real import validate
from reproduce.rows import measures
from reproduce.rows.compare import number
from reproduce.studies.scale import as_markdown
from reproduce.traces import fit, mix, realtrace, standin
from reproduce.traces import fits as fits_file
from reproduce.traces.fits import Fits
from reproduce.traces.realtrace import Request, TraceError

OUT = ROOT / "docs/results/spread-standins"
NOTES = places.notes("spread-standins")
SCALE = 32
EXPORTED_MIB = 11 * 1024 // SCALE  # as in the study
UNFITTED = ("msr_wdev_1", "msr_wdev_3")  # real volumes too small for a fit
KINDS = ("own", "others", "mix")
ALIKE = 2 / 3  # the second most frequent size is dominant, too, if it is so frequent
MEDIANS, MIX, ALL = "medians", "mix", "all fits"  # rows of bands.csv besides the fits
NO_GAIN = "no gain"  # the error of the statement that SPREAD changes nothing
PAPER = {
    ("usr", "IOPS, spFTL / pageFTL, x"): 1.44, ("stg", "IOPS, spFTL / pageFTL, x"): 1.10,
    ("usr", "time of a GC, spFTL, %"): -13.0, ("stg", "time of a GC, spFTL, %"): -7.0,
}  # fmt: skip
Found = dict[str, measures.Result]  # by FTL


@dataclass(frozen=True)
class Known:
    """Holds what Table 4 says of a volume: requests of each direction (0 reads, 1 writes), and their sizes in units."""

    count: tuple[int, int]
    sizes: tuple[tuple[int, ...], tuple[int, ...]]

    @property
    def extent(self) -> int:
        """Return the largest size."""
        return max(size for sizes in self.sizes for size in sizes)


@dataclass(frozen=True)
class Habits:
    """Holds what Table 4 does not say: the settings of standin.py, and covered bytes over bytes of each direction."""

    settings: dict[str, float]
    cover: tuple[float, float]


# Table 4; sizes of PRJ's writes are assumed, as in mixes.toml
VOLUMES = {
    name: Known((round(total * read / 10), total - round(total * read / 10)), sizes)
    for name, total, read, sizes in (
        ("prj", 1_600_000 // SCALE, 9, ((1, 4), (1, 4))),
        ("usr", 4_800_000 // SCALE, 7, ((4,), (1,))),
        ("stg", 4_800_000 // SCALE, 3, ((4,), (1,))),
    )
}


def dominant(requests: list[Request], write: int) -> tuple[int, ...]:
    """Return the one or two most frequent sizes, rounded down to those of standin.py; a unit if there is no request."""
    found = Counter(max(s for s in standin.SIZES if s <= n) for _, w, _, n in requests if w == write)
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    if not ranked:
        return (1,)
    return tuple(sorted(size for size, n in ranked[:2] if n >= ALIKE * ranked[0][1]))


def known(requests: list[Request]) -> Known:
    """Return what Table 4 would say of a real trace."""
    writes = sum(write for _, write, _, _ in requests)
    return Known((len(requests) - writes, writes), (dominant(requests, 0), dominant(requests, 1)))


def habits(fits: Fits, name: str, requests: list[Request]) -> Habits:
    """Return what Table 4 does not say of a real trace: its other marginals, and its fitted settings."""
    found = realtrace.marginals(requests)
    cover = tuple(c / u for c, u in zip(found.cover, found.units))
    return Habits(fits_file.settings_of(fits, name), (cover[0], cover[1]))


def medians(some: dict[str, Habits], without: str = "") -> Habits:
    """Return the median of everything over all traces but one; of an even number, the lower of the middle two."""
    others = [one for name, one in some.items() if name != without]
    low = statistics.median_low
    settings = {key: low(one.settings[key] for one in others) for key in others[0].settings}
    return Habits(settings, (low(one.cover[0] for one in others), low(one.cover[1] for one in others)))


def made(of: Known, rest: Habits, seed: str) -> list[Request]:
    """Make a stand-in whose unit is an extent; smaller requests are then pieces of one."""
    unit = of.extent
    lengths = {key: rest.settings[key] / unit for key in ("run_kib", "read_run_kib", "region_kib")}
    lengths |= {key: max(1.0, lengths[key]) for key in ("run_kib", "read_run_kib")}
    count = (max(1, of.count[0]), max(1, of.count[1]))
    cover = (max(1, int(count[0] * rest.cover[0])), max(1, int(count[1] * rest.cover[1])))
    want = standin.Marginals(count, count, cover, standin.WEEK_NS // SCALE)
    draw = random.Random(f"pieces {seed}").random
    pieces = []
    for at, write, first, _ in realtrace.made(want, fit.shape(rest.settings | lengths), seed):
        sizes = of.sizes[write]
        size = sizes[int(draw() * len(sizes))]
        pieces.append((at, write, first * unit + size * int(draw() * (unit // size)), size))
    return pieces


def mixed(of: Known, seed: int) -> tuple[list[Request], int]:
    """Make a mix with the numbers of Table 4, as the study "spread" does; returns it with the length of its warm-up."""
    total = sum(of.count)
    sizes = [[(size * standin.UNIT, 1) for size in some] for some in of.sizes]
    how = mix.Mix(read=1000 * of.count[0] / total, reads=tuple(sizes[0]), writes=tuple(sizes[1]), align=standin.UNIT,
                  foot_gib=EXPORTED_MIB / 1024, warm=1000, requests_k=total / 1000, seed=seed)  # fmt: skip
    rows = mix.requests(how, 1, random.Random(f"mix {seed}"))
    unit = standin.UNIT
    return [(at, int(op == "write"), where // unit, n // unit) for at, op, where, n in rows], mix.not_counted(how, 1)


def outcome(requests: list[Request], warm: int = 0) -> Found:
    """Replay on the three FTLs, on a full drive.

    Without a warm-up a trace is repeated until as much was written as the drive exports, and everything counts.
    """
    ordered = sorted(requests, key=lambda request: request[0])
    written = max(1, sum(n for _, write, _, n in ordered if write) * standin.UNIT)
    repeat = 1 if warm else math.ceil((EXPORTED_MIB << 20) / written)
    text = validate.text_of(ordered * repeat)
    how = (*validate.HOW, "--fill", "100", *(("--warmup", str(warm)) if warm else ()))
    found = {}
    for ftl, config in spread.Spread(SCALE).all().items():
        if ftl in spread.FTLS:
            sets = (*config.sets, f"ftl.capacity_mib={EXPORTED_MIB}")
            found[ftl] = validate.replay(text, validate.line("spread", sets, how))
    return found


def times(measure: measures.Measure, ftl: str) -> Callable[[Found], float | None]:
    """Return the quotient against pageFTL."""

    def quotient(found: Found) -> float | None:
        value, base = measure(found[ftl]), measure(found["page"])
        return value / base if value is not None and base else None

    return quotient


def change(measure: measures.Measure, ftl: str) -> Callable[[Found], float | None]:
    """Return the change against pageFTL, %."""

    def percent(found: Found) -> float | None:
        value = times(measure, ftl)(found)
        return None if value is None else 100 * (value - 1)

    return percent


QUANTITIES: dict[str, Callable[[Found], float | None]] = {
    "IOPS, spFTL / pageFTL, x": times(measures.iops, "sp"),
    "IOPS, dmaFTL / pageFTL, x": times(measures.iops, "dma"),
    "read response, spFTL, %": change(measures.read_us, "sp"),
    "time of a GC, spFTL, %": change(measures.gc_call_ms, "sp"),
    "read amplification, pageFTL": lambda found: measures.raf_host(found["page"]),
}
Values = dict[str, list[float]]  # by quantity, over the seeds


def over(several: list[Found]) -> Values:
    """Return every quantity that some seeds have."""
    return {
        name: values
        for name, of in QUANTITIES.items()
        if (values := [value for found in several if (value := of(found)) is not None])
    }


def shown(values: list[float] | None) -> str:
    """Format mean and extremes."""
    if not values:
        return "-"
    return f"{number(statistics.fmean(values))} ({number(min(values))} .. {number(max(values))})"


def validation(requests: list[Request], some: dict[str, Habits], name: str, seeds: int) -> list[dict[str, str]]:
    """Return the rows of one real trace: its results, and those of each kind of stand-in over the seeds."""
    of = known(requests)
    real = over([outcome(requests)])
    kinds: dict[str, Values] = {}
    for kind in KINDS:
        if kind == "own" and name not in some:
            continue
        rest = some[name] if kind == "own" else medians(some, name)
        several = []
        for seed in range(1, seeds + 1):
            several.append(outcome(*mixed(of, seed)) if kind == "mix" else outcome(made(of, rest, f"{name} {seed}")))
        kinds[kind] = over(several)
    return [
        {"trace": name, "quantity": quantity, "real": number(values[0])}
        | {kind: shown(kinds.get(kind, {}).get(quantity)) for kind in KINDS}
        for quantity, values in real.items()
    ]


def errors(rows: list[dict[str, str]]) -> list[list[str]]:
    """Return the typical and the largest error of each kind: of factors as a factor, of changes in points."""
    out = [["quantity", *KINDS, NO_GAIN]]
    for quantity in QUANTITIES:
        cells = []
        still = {NO_GAIN: "0" if quantity.endswith("%") else "1"}
        mine = [row | still for row in rows if row["quantity"] == quantity]
        for kind in (*KINDS, NO_GAIN):
            pairs = [(float(row[kind].split()[0]), float(row["real"])) for row in mine if row[kind] != "-"]
            if quantity.endswith("%"):
                far = [abs(a - b) for a, b in pairs]
                cells.append(f"{statistics.median(far):.1f}, at most {max(far):.1f} points" if far else "-")
            else:
                far = [math.exp(abs(math.log(a / b))) for a, b in pairs]
                cells.append(f"x {statistics.median(far):.3f}, at most {max(far):.3f}" if far else "-")
        out.append([quantity, *cells])
    return out


def band(rest: Habits, name: str, seeds: int) -> Values:
    """Return the results of the stand-in of one of VOLUMES, over the seeds, with the rest taken from one real trace."""
    return over([outcome(made(VOLUMES[name], rest, f"{name} {seed}")) for seed in range(1, seeds + 1)])


def mix_band(name: str, seeds: int) -> Values:
    """Return the results of one of VOLUMES, made as a mix, over the seeds."""
    return over([outcome(*mixed(VOLUMES[name], seed)) for seed in range(1, seeds + 1)])


def band_rows(found: dict[str, dict[str, Values]]) -> list[list[str]]:
    """Return a row for each volume, quantity and fit, and one over all fits, in the form of the studies' tables."""
    rows = [["accounting", "trace", "what", "unit", "paper", "ours", "ratio", "low", "high"]]
    for name, by_fit in found.items():
        for quantity in QUANTITIES:
            values = {who: some[quantity] for who, some in by_fit.items() if quantity in some}
            values[ALL] = [one for who, some in values.items() if who not in (MEDIANS, MIX) for one in some]
            paper = PAPER.get((name, quantity))
            unit = "%" if quantity.endswith("%") else "bytes/byte" if "amplification" in quantity else "x"
            for who, some in values.items():
                if some:
                    ours = statistics.fmean(some)
                    cells = [number(paper), number(ours), number(ours / paper if paper else None)]
                    what = f"{quantity.removesuffix(f', {unit}')}: {who}"
                    rows.append(["device", name, what, unit, *cells, number(min(some)), number(max(some))])
    return rows


def said(of: Known) -> list[str]:
    """Return what Table 4 would say, in words."""
    sizes = [" and ".join(f"{size * standin.UNIT // 1024} KiB" for size in some) for some in of.sizes]
    return [f"{100 * of.count[0] / sum(of.count):.0f} %", *sizes]


def page(traces: dict[str, list[Request]], checked: list[dict[str, str]], band: list[list[str]]) -> str:
    """Return the page."""
    used = [["trace", "reads", "sizes of reads", "of writes"]]
    used += [[name, *said(known(requests))] for name, requests in traces.items()]
    used += [[f"{name} (Table 4)", *said(of)] for name, of in VOLUMES.items()]
    ranges = [["volume", "what", "paper", "mean", "least .. most"]]
    for _, name, what, _, paper, ours, _, low, high in band[1:]:
        if what.rpartition(": ")[2] in (MEDIANS, MIX, ALL):
            ranges.append([name, what, paper, ours, f"{low} .. {high}"])
    parts = (
        NOTES.read_text(encoding="utf-8"),
        "## Errors\n", as_markdown(errors(checked)),
        "## PRJ, USR and STG\n", as_markdown(ranges),
        "## What is known of each\n", as_markdown(used),
    )  # fmt: skip
    return "\n".join(parts)


def main(argv: list[str]) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description="stand-ins for SPREAD's volumes, and their errors on real traces"
    )
    parser.add_argument("traces", metavar="TRACES=DIR")
    parser.add_argument("names", nargs="*", metavar="NAME", help="real traces to validate on; default: all")
    parser.add_argument("--seeds", type=int, default=5, metavar="N")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="traces at once")
    parser.add_argument("--out", type=Path, default=OUT, metavar="DIR")
    args = parser.parse_args(argv)
    folder = Path(args.traces.removeprefix("TRACES="))
    try:
        if not validate.REPLAY.exists():
            raise TraceError("slate-replay is not built: run 'make core'")
        fits = fits_file.load()
        every = [*fits, *UNFITTED]
        if unknown := set(args.names) - set(every):
            raise TraceError(f"nothing is named '{min(unknown)}' here; there are {', '.join(every)}")
        traces = {name: realtrace.read(folder, name) for name in every}
        some = {name: habits(fits, name, traces[name]) for name in fits}
        validate.KEPT.mkdir(parents=True, exist_ok=True)
        with ProcessPoolExecutor(args.jobs) as pool:
            names = args.names or every
            checks = [pool.submit(validation, traces[name], some, name, args.seeds) for name in names]
            by_fit = {**some, MEDIANS: medians(some)}
            found = {
                name: {who: pool.submit(band, rest, name, args.seeds) for who, rest in by_fit.items()}
                | {MIX: pool.submit(mix_band, name, args.seeds)}
                for name in VOLUMES
            }
            checked = [row for check in checks for row in check.result()]
            ranges = band_rows({name: {who: one.result() for who, one in by.items()} for name, by in found.items()})
        args.out.mkdir(parents=True, exist_ok=True)
        with (args.out / "bands.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(ranges)
        with (args.out / "validation.csv").open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, checked[0], lineterminator="\n")
            table.writeheader()
            table.writerows(checked)
        (args.out / "README.md").write_text(page(traces, checked, ranges), encoding="utf-8")
    except (TraceError, standin.StandinError, mix.MixError, OSError) as error:
        print(f"reproduce spread-standins: {error}", file=sys.stderr)
        return 1
    return 0

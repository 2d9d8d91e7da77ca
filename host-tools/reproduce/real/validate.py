# SPDX-License-Identifier: GPL-2.0-or-later
"""validate.py - compares stand-ins with the real traces that they replace.

    reproduce validate TRACES=DIR [NAME ...] [--kinds own,others|first] [--seeds N] [--jobs N] [--out DIR]

Replays every trace of fits.toml (or those named) and three stand-ins for it, which have its counts, bytes and
coverage and differ in the rest: "first" has the settings of workloads.toml, "own" those fitted to
the trace, "others" the medians of what was fitted to all other traces (leave one out). Each on
NFTL without and with PEN, and on IPPBE's drive without and with its parallel erase. Writes
validation.csv and README.md to DIR (default: docs/results/standins).

Results of replays are kept in build/reproduce/validation, by trace and options.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from reproduce import places
from reproduce.places import ROOT
from reproduce.rows import measures, points
from reproduce.traces import fit, realtrace, standin
from reproduce.traces import fits as fits_file
from reproduce.traces.fits import Fits
from reproduce.traces.realtrace import Request, TraceError

REPLAY = ROOT / "build/core/slate-replay"
KEPT = ROOT / "build/reproduce/validation"
NOTES = places.notes("validation")
KINDS = ("own", "others", "first")
# Eight requests are kept in flight, so that a trace without times (ycsb) can be replayed like the others.
HOW = ("--closed", "8", "--fold")
# PEN's percentages refer to a small drive: 4 planes of 250 blocks, 8.2 GiB exported, GC under 8 % free blocks.
PEN_BLOCKS = 250
PEN_DRIVE = (
    "geometry.channels=2", "geometry.chips_per_channel=1", "geometry.dies_per_chip=1",
    f"geometry.blocks_per_plane={PEN_BLOCKS}", "ftl.stripe_pages=576",
    f"ftl.gc_start_blocks={points.free_blocks(PEN_BLOCKS, 8)}",
    "ftl.gc_urgent_blocks=2",
)  # fmt: skip
IPPBE_SCALE = 8  # as in the study

Line = tuple[str, ...]


def lines() -> dict[str, Line]:
    """Return the options of slate-replay by configuration."""
    found = {}
    for name, answer in (("nftl", "no"), ("pen", "yes")):
        sets = (*PEN_DRIVE, f"ftl.pen={answer}")
        found[name] = line("pen", sets, (*HOW, "--fill", "95"))
    drives = points.Ippbe(IPPBE_SCALE)
    for name, config in (("greedy", drives.greedy()), ("ippbe", drives.pair())):
        found[name] = line("ippbe", config.sets, HOW)
    return found


def line(profile: str, sets: Line, how: Line) -> Line:
    """Return the options of slate-replay."""
    named = (part for setting in sets for part in ("--set", setting))
    return ("--profile", str(ROOT / f"nand-emu/profiles/{profile}.ini"), *named, *how)


def less(measure: measures.Measure) -> Callable[[dict[str, measures.Result]], float | None]:
    """Return the change of a measure from greedy GC to IPPBE, %."""

    def change(found: dict[str, measures.Result]) -> float | None:
        before, after = measure(found["greedy"]), measure(found["ippbe"])
        return 100 * (after / before - 1) if before and after is not None else None

    return change


def pen_gain(found: dict[str, measures.Result]) -> float | None:
    """Return NFTL's write amplification over that with PEN."""
    without, with_pen = measures.wa(found["nftl"]), measures.wa(found["pen"])
    return without / with_pen if without and with_pen else None


TextRow = tuple[int, str, int, int]  # of a trace in Slate's format: ns, operation, first byte, bytes
Quantity = Callable[[dict[str, measures.Result]], float | None]
QUANTITIES: dict[str, Quantity] = {
    "NFTL write amplification": lambda found: measures.wa(found["nftl"]),
    "PEN gain, times": pen_gain,
    "IPPBE GC time, %": less(measures.gc_ms),
    "IPPBE pages moved, %": less(measures.pages_moved),
    "IPPBE GC calls, %": less(measures.gc_calls),
}
CONFIGS = {name: ("greedy", "ippbe") if name.startswith("IPPBE") else ("nftl", "pen") for name in QUANTITIES}


def to_text(rows: Iterable[TextRow]) -> bytes:
    """Return a trace in Slate's format."""
    return ("# slate-trace 1\n" + "".join(f"{t} 0 {op} {at} {n}\n" for t, op, at, n in rows)).encode("ascii")


def of_text(text: bytes) -> list[TextRow]:
    """Return the rows of a trace in Slate's format."""
    cells = (line.split() for line in text.decode("ascii").splitlines() if not line.startswith("#"))
    return [(int(row[0]), row[2], int(row[3]), int(row[4])) for row in cells]


def text_of(requests: list[Request]) -> bytes:
    """Return requests as a trace in Slate's format."""
    unit = standin.UNIT
    return to_text((t, ("read", "write")[w], first * unit, n * unit) for t, w, first, n in requests)


def replay(text: bytes, options: Line, program: Path = REPLAY) -> measures.Result:
    """Return the result, from an earlier run if there is one."""
    stamp = f"{' '.join(options)} {program.stat().st_mtime_ns}".encode()
    path = KEPT / f"{hashlib.sha256(stamp + text).hexdigest()}.json"
    if not path.exists():
        done = subprocess.run(
            [str(program), *options, "--json", "-", "-"], input=text, capture_output=True, check=False
        )
        if done.returncode:
            raise TraceError(
                f"{program.name} {' '.join(options)}: exit status {done.returncode}: {done.stderr.decode()}"
            )
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_bytes(done.stdout)
        os.replace(part, path)
    found: measures.Result = json.loads(path.read_text(encoding="utf-8"))
    return found


def outcome(requests: list[Request], wanted: Collection[str] = tuple(QUANTITIES)) -> dict[str, float | None]:
    """Return the requested quantities of a trace; None if GC did not run."""
    text = text_of(sorted(requests, key=lambda request: request[0]))
    found = {
        name: replay(text, options)
        for name, options in lines().items()
        if any(name in CONFIGS[quantity] for quantity in wanted)
    }
    return {name: QUANTITIES[name](found) for name in wanted}


def settings(fits: Fits, name: str, kind: str) -> dict[str, float]:
    """Return the settings of a stand-in."""
    if kind == "first":
        return {}
    return fits_file.settings_of(fits, name) if kind == "own" else fits_file.medians(fits, without=name)


def made(fits: Fits, requests: list[Request], name: str, kind: str, seed: int) -> list[Request]:
    """Make a stand-in."""
    how = fit.shape(settings(fits, name, kind))
    return realtrace.made(realtrace.marginals(requests), how, f"{name} {seed}")


def of_trace(fits: Fits, folder: Path, name: str, kinds: Sequence[str], seeds: int) -> list[dict[str, str]]:
    """Return the rows of one trace: for each stand-in the mean over the seeds, and the extremes.

    Quantities that the real trace lacks are left out for its stand-ins, too.
    """
    requests = realtrace.read(folder, name)
    real = {quantity: value for quantity, value in outcome(requests).items() if value is not None}
    found = {
        kind: [outcome(made(fits, requests, name, kind, seed), real) for seed in range(1, seeds + 1)] for kind in kinds
    }
    rows = []
    for quantity, truth in real.items():
        row = {"trace": name, "quantity": quantity, "real": shown(truth)}
        for kind, results in found.items():
            values = [value for result in results if (value := result[quantity]) is not None]
            row[kind] = shown(statistics.fmean(values) if values else None)
            row[f"{kind}_low"], row[f"{kind}_high"] = shown(min(values, default=None)), shown(max(values, default=None))
        rows.append(row)
    return rows


def shown(value: float | None) -> str:
    """Format with four digits; - if GC did not run."""
    return "-" if value is None else f"{value:.4g}"


def kinds_in(rows: list[dict[str, str]]) -> list[str]:
    """Return the kinds of stand-ins that were requested."""
    return [kind for kind in KINDS if kind in rows[0]]


def summary(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return the typical error of each kind of stand-in.

    For quantities in percent it is the median difference in points, for others the median factor (1: exact).
    """
    out = []
    for quantity in QUANTITIES:
        line_of = {"quantity": quantity}
        for kind in kinds_in(rows):
            pairs = [
                (float(row[kind]), float(row["real"]))
                for row in rows
                if row["quantity"] == quantity and "-" not in (row[kind], row["real"])
            ]
            if quantity.endswith("%"):
                line_of[kind] = f"{statistics.median(abs(a - b) for a, b in pairs):.1f} points" if pairs else "-"
            else:
                line_of[kind] = (
                    f"x {math.exp(statistics.median(abs(math.log(a / b)) for a, b in pairs)):.2f}" if pairs else "-"
                )
        out.append(line_of)
    return out


def as_markdown(rows: list[dict[str, str]]) -> str:
    """Return the table as Markdown."""
    lines_of = [list(rows[0]), ["---"] * len(rows[0]), *(list(row.values()) for row in rows)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines_of)


def compact(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return the rows with each mean and its band in one cell."""
    out = []
    for row in rows:
        cells = {kind: f"{row[kind]} ({row[f'{kind}_low']} .. {row[f'{kind}_high']})" for kind in kinds_in(rows)}
        out.append({key: row[key] for key in ("trace", "quantity", "real")} | cells)
    return out


def curves(fits: Fits) -> list[dict[str, str]]:
    """Return how near the fits are to the fitted curves."""
    out = []
    for name, found in fits.items():
        row = {"trace": name}
        for what in ("real", "standin"):
            row[f"{what}: blocks"] = str(found[what]["blocks"])
            row[f"{what}: misses"] = " ".join(f"{miss:.3f}" for miss in found[what]["misses"])
        row["distance"] = f"{found['distance']:.2f}"
        row |= {key: f"{value:g}" for key, value in found["fitted"].items()}
        out.append(row)
    return out


def write(out: Path, fits: Fits, rows: list[dict[str, str]]) -> None:
    """Write the table and the page."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / "validation.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)
    notes = (
        NOTES.read_text(encoding="utf-8") if "own" in rows[0] else f"# {', '.join(kinds_in(rows))} beside real traces\n"
    )
    parts = (
        notes, "## Typical errors\n", as_markdown(summary(rows)), "[validation.csv](validation.csv) has every trace.\n",
        "## What was fitted\n", as_markdown(curves(fits)),
    )  # fmt: skip
    (out / "README.md").write_text("\n".join(parts), encoding="utf-8")


def main(argv: list[str]) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description="stand-ins beside the real traces that they stand in for"
    )
    parser.add_argument("traces", metavar="TRACES=DIR")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of fits.toml; default: all")
    parser.add_argument("--kinds", default="own,others", help=f"of {','.join(KINDS)}; default: own,others")
    parser.add_argument("--seeds", type=int, default=5, metavar="N")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="traces at once")
    parser.add_argument("--fits", type=Path, default=fits_file.FITS, metavar="FILE")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/results/standins", metavar="DIR")
    args = parser.parse_args(argv)
    folder = Path(args.traces.removeprefix("TRACES="))
    try:
        if not REPLAY.exists():
            raise TraceError("slate-replay is not built: run 'make core'")
        fits = fits_file.load(args.fits)
        names, kinds = args.names or list(fits), args.kinds.split(",")
        for given, known in ((names, list(fits)), (kinds, list(KINDS))):
            for name in given:
                if name not in known:
                    raise TraceError(f"nothing is named '{name}' here; there are {', '.join(known)}")
        for name in names:
            realtrace.path_of(folder, name)
        KEPT.mkdir(parents=True, exist_ok=True)
        rows = []
        with ThreadPoolExecutor(args.jobs) as pool:
            for found in pool.map(lambda name: of_trace(fits, folder, name, kinds, args.seeds), names):
                rows += found
                print(as_markdown(compact(found)), flush=True)
        write(args.out, fits, rows)
    except (TraceError, standin.StandinError, OSError) as error:
        print(f"reproduce validate: {error}", file=sys.stderr)
        return 1
    return 0

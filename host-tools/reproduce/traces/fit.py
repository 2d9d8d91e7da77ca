# SPDX-License-Identifier: GPL-2.0-or-later
"""fit.py - finds settings of standin.py with which its traces are like real ones.

    reproduce fit TRACES=DIR [NAME ...] [--rounds N] [-o FILE]

For every real trace in DIR (realtrace.py, NAMES), or those named: takes the settings that can be
measured, then searches the four settings in GRID for a stand-in with the trace's curve of misses
and number of distinct blocks. It runs no replay, so no result of an FTL enters a fit. Writes
fits.toml beside this file, or FILE; validate.py reads it. The search uses a seed, so its result is
always the same.

A round of the search takes the best of all pairs of the settings of regions, then of those of
recency, from one or two starts, until a round changes nothing or N rounds are done. Stand-ins are made without reads in
the same span of addresses: reads never decide where a write goes.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import statistics
import sys
from pathlib import Path

from reproduce.traces import realtrace, standin
from reproduce.traces.fits import FITS
from reproduce.traces.realtrace import Curve, Request, TraceError

STARTS = (
    {"region_density": 0.25, "region_kib": 1024.0, "recent": 0.9, "window": 64.0},
    {"region_density": 0.25, "region_kib": 1024.0, "recent": 0.25, "window": 512.0},
)
GOOD = 0.2  # distance (22 %) below which no further start is tried
GRID: dict[str, tuple[float, ...]] = {
    "region_density": (1 / 64, 1 / 16, 1 / 4, 1),
    "region_kib": (0, 128, 512, 2048, 8192, 32768),
    "recent": (0, 0.25, 0.5, 0.75, 0.9, 0.97),
    "window": (8, 64, 512, 4096),
}
PAIRS = (("region_density", "region_kib"), ("recent", "window"))
FLOOR = 0.002  # smaller misses count as equal
SEED = "fit"  # validate.py uses other seeds


def distance(real: Curve, made: Curve) -> float:
    """Return the root mean square of the logarithms of five ratios: the misses, and the distinct blocks."""
    pairs = [(m + FLOOR, r + FLOOR) for m, r in zip(made.misses, real.misses)]
    pairs.append((made.blocks, real.blocks))
    return math.sqrt(statistics.fmean(math.log(a / b) ** 2 for a, b in pairs))


def shape(settings: dict[str, float]) -> standin.Shape:
    """Return a stand-in's settings: those of workloads.toml that hold for every volume, and these in their place."""
    return standin.shape("", standin.load(), settings)


class Fit:
    """Searches the settings of one trace."""

    def __init__(self, requests: list[Request]) -> None:
        writes = [request for request in requests if request[1]]
        self.want = realtrace.marginals(writes)
        self.measured = realtrace.measured(requests)
        span = realtrace.span(requests)
        self.used = {**self.measured, "density": self.want.cover[1] / span}
        self.real = realtrace.curve(writes)
        self.known: dict[tuple[float, ...], Curve] = {}

    def curve(self, free: dict[str, float]) -> Curve:
        """Return the curve of the stand-in with these settings."""
        key = tuple(free[name] for name in GRID)
        if key not in self.known:
            self.known[key] = realtrace.curve(realtrace.made(self.want, shape({**self.used, **free}), SEED))
        return self.known[key]

    def off(self, free: dict[str, float]) -> float:
        """Return how far the stand-in's curve is from the trace's."""
        return distance(self.real, self.curve(free))

    def search(self, rounds: int) -> dict[str, float]:
        """Return the best settings found from any start."""
        found: list[dict[str, float]] = []
        for start in STARTS:
            found.append(self.search_from(start, rounds))
            if self.off(found[-1]) <= GOOD:
                break
        return min(found, key=self.off)

    def search_from(self, best: dict[str, float], rounds: int) -> dict[str, float]:
        """Return the best settings found from this start."""
        for _ in range(rounds):
            before = best
            for names in PAIRS:
                values = itertools.product(*(GRID[name] for name in names))
                best = min([best, *({**best, **dict(zip(names, pair))} for pair in values)], key=self.off)
            if best == before:
                break
        return best


def section(name: str, fit: Fit, free: dict[str, float]) -> str:
    """Return the section of a trace in fits.toml."""
    made = fit.curve(free)
    lines = [f"[{name}]"]
    for what, values in (("measured", fit.measured), ("fitted", free)):
        lines.append(f"{what} = {{ {', '.join(f'{key} = {value:g}' for key, value in values.items())} }}")
    for what, curve in (("real", fit.real), ("standin", made)):
        misses = ", ".join(f"{miss:.4f}" for miss in curve.misses)
        lines.append(f"{what} = {{ blocks = {curve.blocks}, misses = [{misses}] }}")
    lines.append(f"distance = {distance(fit.real, made):.3f}")
    return "\n".join(lines) + "\n"


def main(argv: list[str]) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description="fit standin.py's settings to real traces")
    parser.add_argument("traces", metavar="TRACES=DIR")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(realtrace.NAMES)}; default: all")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="of the search (1)")
    parser.add_argument("-o", "--out", metavar="FILE", type=Path, default=FITS)
    args = parser.parse_args(argv)
    names = args.names or list(realtrace.NAMES)
    folder = Path(args.traces.removeprefix("TRACES="))
    try:
        for name in names:
            if name not in realtrace.NAMES:
                raise TraceError(f"no trace named '{name}' is known; there are {', '.join(realtrace.NAMES)}")
            realtrace.path_of(folder, name)
        text = "# SPDX-License-Identifier: GPL-2.0-or-later\n# Made by fit.py. Do not edit.\n"
        for name in names:
            fit = Fit(realtrace.read(folder, name))
            found = section(name, fit, fit.search(args.rounds))
            print(found, flush=True)
            text += "\n" + found
        part = args.out.with_name(args.out.name + ".part")
        part.write_text(text, encoding="utf-8")
        os.replace(part, args.out)
    except (TraceError, standin.StandinError, OSError) as error:
        print(f"reproduce fit: {error}", file=sys.stderr)
        return 1
    return 0

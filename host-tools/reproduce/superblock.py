#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""superblock.py - PEN's effect on the Superblock FTL with real traces: latency, write amplification, wear.

    superblock.py TRACES=DIR [NAME ...] [--replay PROGRAM] [--out DIR]

Replays all traces of realtrace.py except msps_msnfs (or those named) on validate.py's drive with Superblock 4:5,
without and with PEN, and writes superblock.csv and README.md to DIR (default: docs/results/superblock). --replay:
another slate-replay, for instance of an earlier commit; its table is printed, not written, unless --out is given.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import measures
import realtrace
import validate
from compare import number

NOTES = Path(__file__).with_name("superblock-notes.md")
OUT = validate.ROOT / "docs/results/superblock"
# With NFTL's write amplification (490) msps_msnfs would take longer than all others together.
NAMES = tuple(name for name in realtrace.NAMES if name != "msps_msnfs")
CHANGES = {"write latency": measures.write_us, "WA": measures.wa, "AEP": measures.aep, "VEP": measures.vep}


def line(pen: str) -> validate.Line:
    """Return the options of slate-replay for the Superblock FTL."""
    shape = ("ftl.superblock_blocks=4", "ftl.superblock_max_blocks=5", f"ftl.pen={pen}")
    return validate.line("pen", (*validate.PEN_DRIVE, "ftl.type=superblock", *shape), (*validate.HOW, "--fill", "95"))


def row(text: bytes, name: str, program: Path) -> dict[str, str]:
    """Return a trace's row: the baseline's erases of a page, and PEN's quantities over the baseline's."""
    base, pen = (validate.replay(text, line(answer), program) for answer in ("no", "yes"))
    cells = {"trace": name, "AEP without PEN": number(measures.aep(base))}
    for what, measure in CHANGES.items():
        before, after = measure(base), measure(pen)
        cells[f"{what}, PEN / without"] = number(after / before if before and after is not None else None) or "-"
    cells["M-Merges"], cells["merges"] = (str(pen["gc"][key]) for key in ("mmerges", "merges"))
    return cells


def table(folder: Path, names: list[str], program: Path) -> list[dict[str, str]]:
    """Return the rows of all traces."""
    rows = []
    for name in names:
        text = validate.text_of(sorted(realtrace.read(folder, name), key=lambda request: request[0]))
        rows.append(row(text, name, program))
    return rows


def write(out: Path, rows: list[dict[str, str]]) -> None:
    """Write the table and the page."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / "superblock.csv").open("w", encoding="utf-8", newline="") as file:
        lines = csv.DictWriter(file, rows[0], lineterminator="\n")
        lines.writeheader()
        lines.writerows(rows)
    page = NOTES.read_text(encoding="utf-8") + "\n" + validate.as_markdown(rows)
    (out / "README.md").write_text(page, encoding="utf-8")


def main(argv: list[str]) -> int:
    """Run the command line. Returns 1 with a sentence on stderr if something is missing or fails."""
    parser = argparse.ArgumentParser(description="PEN on the Superblock FTL, on real traces")
    parser.add_argument("traces", metavar="TRACES=DIR")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a trace of realtrace.py; default: all but msps_msnfs")
    parser.add_argument("--replay", type=Path, default=validate.REPLAY, metavar="PROGRAM")
    parser.add_argument("--out", type=Path, metavar="DIR")
    args = parser.parse_args(argv)
    try:
        if not args.replay.exists():
            raise realtrace.TraceError(f"{args.replay} is not built: run 'make core'")
        for name in args.names:
            if name not in realtrace.NAMES:
                raise realtrace.TraceError(f"unknown trace '{name}'; expected one of {', '.join(realtrace.NAMES)}")
        validate.KEPT.mkdir(parents=True, exist_ok=True)
        folder = Path(args.traces.removeprefix("TRACES="))
        rows = table(folder, args.names or list(NAMES), args.replay)
        print(validate.as_markdown(rows), end="")
        if args.out or args.replay == validate.REPLAY:
            write(args.out or OUT, rows)
    except (realtrace.TraceError, OSError) as error:
        print(f"superblock.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""table.py - BENCH.md from docs/results/bench/now.json, and that file from the output of 'make bench'.

    table.py [--measured DIR --machine TEXT]

A row of now.json says what was measured, on which machine, with which Linux in the guest (if there is one) and by
which command, and names the page of docs/results/bench that has set-up and result. A row with "read" is taken from a
program's output: the file DIR/NAME.txt, and for each of its numbers a pattern with one group. --measured takes those
rows of one run, adds machine, commit and the default guest's Linux to them, and leaves the others as they are.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "docs/results/bench/now.json"
PAGE = ROOT / "BENCH.md"
HEAD = """# Measurements

Made by `tests/bench/table.py` from [now.json](docs/results/bench/now.json). `make bench` measures what it can in some
minutes; with `MACHINE="a few words"` it renews those rows. A name links to set-up, result and earlier figures.

Machines: {machines}. Wall times on shared machines vary by a factor
of two, CPU times and ratios less. "Linux" is the guest's kernel, the default
one when the row was measured.

| what | target | now | command |
|---|---|---|---|
"""
Row = dict[str, Any]


class BenchError(Exception):
    """A file lacks what a row needs."""


def page(rows: list[Row]) -> str:
    """Return BENCH.md."""
    usual = rows[0]["machine"]
    machines = "; ".join(f"{'*' if n else ''}{one}{'*' if n else ''}" for n, one in
                         enumerate(dict.fromkeys(row["machine"] for row in rows)))  # fmt: skip
    lines = []
    for row in rows:
        notes = [f"*{row['machine']}*"] if row["machine"] != usual else []
        notes += [f"Linux {row['kernel']}"] if "kernel" in row else []
        where = f" ({', '.join(notes)})" if notes else ""
        cells = (f"[{row['what']}](docs/results/bench/{row['page']}.md){where}", row["target"], row["now"],
                 f"`{row['command']}`")  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |\n")
    return HEAD.format(machines=machines) + "".join(lines)


def guest_kernel() -> str:
    """Return the series of the default guest's kernel, '6.12', or of that which SLATE_GUEST names."""
    name = os.environ.get("SLATE_GUEST") or (ROOT / "host-tools/guest/default-release").read_text("utf-8").strip()
    path = ROOT / "build/guest" / name / "guest.json"
    try:
        found: str = json.loads(path.read_text(encoding="utf-8"))["kernel"]
    except OSError:
        raise BenchError(f"{path} is not there: run 'make guest'") from None
    return ".".join(found.split(".")[:2])


def measured(row: Row, folder: Path, machine: str, commit: str) -> Row:
    """Return the row with the numbers of a run, or as it is if 'make bench' does not measure it."""
    if "read" not in row:
        return row
    path = folder / f"{row['read']['file']}.txt"
    if not path.exists():
        raise BenchError(f"{path} is not there: run 'make bench', which writes it")
    text, found = path.read_text(encoding="utf-8"), []
    for pattern in row["read"]["patterns"]:
        match = re.search(pattern, text, re.M)
        if not match:
            raise BenchError(f"{path}: has no line like '{pattern}', which the row '{row['what']}' needs")
        value = float(match[1].replace(",", "")) / row["read"].get("divide", 1)
        found.append(f"{value:.3g}" if value < 1000 else f"{value:,.0f}")
    kernel = {"kernel": guest_kernel()} if "kernel" in row else {}
    return {**row, "now": "; ".join(found), "machine": machine, "commit": commit, **kernel}


def main(argv: list[str]) -> int:
    """Run the command line. Returns 1 with a sentence on stderr if something is missing."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description="make BENCH.md")
    parser.add_argument("--measured", type=Path, metavar="DIR", help="folder of the output of 'make bench'")
    parser.add_argument("--machine", help="a few words about the machine, with its load")
    args = parser.parse_args(argv)
    if bool(args.measured) != bool(args.machine):
        parser.error("--measured and --machine go together")
    rows: list[Row] = json.loads(KEPT.read_text(encoding="utf-8"))["rows"]
    if args.measured:
        command = ["git", "describe", "--always", "--dirty", "--exclude", "*"]
        commit = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
        try:
            rows = [measured(row, args.measured, args.machine, commit) for row in rows]
        except BenchError as error:
            print(f"table.py: {error}", file=sys.stderr)
            return 1
        KEPT.write_text(json.dumps({"rows": rows}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

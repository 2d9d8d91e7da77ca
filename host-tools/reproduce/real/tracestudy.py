# SPDX-License-Identifier: GPL-2.0-or-later
"""tracestudy.py - a table over the real traces of realtrace.py: the command line and the files of such studies.

    reproduce STUDY TRACES=DIR [NAME ...] [--replay PROGRAM] [--out DIR]

Replays all traces of the study (or those named) and writes NAME.csv and README.md to its folder below docs/results, or
to DIR. --replay: another slate-replay, for instance of an earlier commit; its table is printed, not written, unless
--out is given.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reproduce.places import ROOT
from reproduce.real import validate
from reproduce.traces import realtrace

Row = dict[str, str]


@dataclass(frozen=True)
class TraceStudy:
    """Describes a study. rows: of one trace, given its text in Slate's format, its name and slate-replay."""

    name: str  # of the CSV file, and of the folder below docs/results
    what: str
    notes: Path
    traces: tuple[str, ...]
    rows: Callable[[bytes, str, Path], list[Row]]

    def table(self, folder: Path, names: list[str], program: Path) -> list[Row]:
        """Return the rows of these traces."""
        found = []
        for name in names:
            text = validate.text_of(sorted(realtrace.read(folder, name), key=lambda request: request[0]))
            found += self.rows(text, name, program)
        return found

    def write(self, out: Path, rows: list[Row]) -> None:
        """Write the table and the page."""
        out.mkdir(parents=True, exist_ok=True)
        with (out / f"{self.name}.csv").open("w", encoding="utf-8", newline="") as file:
            lines = csv.DictWriter(file, rows[0], lineterminator="\n")
            lines.writeheader()
            lines.writerows(rows)
        page = self.notes.read_text(encoding="utf-8") + "\n" + validate.as_markdown(rows)
        (out / "README.md").write_text(page, encoding="utf-8")

    def main(self, argv: list[str]) -> int:
        """Run the command line. Returns 1 with a sentence on stderr if something is missing or fails."""
        parser = argparse.ArgumentParser(allow_abbrev=False, description=self.what)
        parser.add_argument("traces", metavar="TRACES=DIR")
        parser.add_argument("names", nargs="*", metavar="NAME", help=f"default: {', '.join(self.traces)}")
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
            rows = self.table(folder, args.names or list(self.traces), args.replay)
            print(validate.as_markdown(rows), end="")
            if args.out or args.replay == validate.REPLAY:
                self.write(args.out or ROOT / "docs/results" / self.name, rows)
        except (realtrace.TraceError, OSError) as error:
            print(f"reproduce {self.name}: {error}", file=sys.stderr)
            return 1
        return 0

# SPDX-License-Identifier: GPL-2.0-or-later
"""claims.py - the claims of the papers' texts (claims/*.toml), compared with the rows of our
tables.

A claim is a number, an order of several rows, or a bound. check() compares it with the
tables and returns one of
    agrees   direction and size
    size     the direction is right (or the number has none), the size is off
    sign     the direction is wrong
    unknown  there is no comparable row in our tables; a row that is not (form = "other") is shown
The files list the verdict, too, and tests/reproduce/test_claims.py demands that both
are the same: a sign that turns fails, and so does a listed deviation that is gone.

The effect of a number is its distance from "no difference": of a change in per cent, the number
itself; of a quotient (x), its difference from 1; of any other number, the number itself. A size
agrees if our effect is between 4/5 and 5/4 of the paper's, or within 3 percentage points of it
(quotients and changes), or if the paper's number lies between the least and the largest of our
seeds. Shares (form = "share") must also be within 10 percentage points.
"""

from __future__ import annotations

import csv
import io
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reproduce import places
from reproduce.papers import bands

FOLDER = places.PACKAGE / "claims"
STUDIES = {"pen": "PEN", "ippbe": "IPPBE", "spread": "SPREAD and spFTL", "rps": "RPS and flexFTL", "dac": "DAC"}
VERDICTS = ("agrees", "size", "sign", "unknown")
LOW, HIGH = 0.8, 1.25  # share of the paper's effect
POINTS = 3.0  # percentage points
SHARE_POINTS = 10.0
WANTS = re.compile(r"^(<|>|<=|>=) (-?[0-9.]+)$")
ORDERS = ("rising", "falling", "level", "lowest", "highest")
UNITS = [
    "%", "x", "x lower", "pages/page", "calls", "ms", "us", "MiB/s", "bytes/byte", "share", "requests/s", "requests",
    "units",
]  # fmt: skip
PREFIXES = ("stand-in for ", "mix ", "guest ")


class ClaimError(Exception):
    """Tells of a mistake in a file of claims."""


@dataclass(frozen=True)
class Cell:
    """Holds a row of a stored table."""

    unit: str
    ours: float
    low: float | None = None
    high: float | None = None


Key = tuple[str, str, str, str, str]  # table, accounting, trace, what, unit
ACCOUNTINGS = ("device", "ssdsim")
LONG = {"table5-share": "share", "table5-dac": "bytes/byte", "table5-normal": "bytes/byte"}  # of dac_long.py


@dataclass
class Tables:
    """Holds rows by table, accounting, trace and quantity; traces have no prefix such as "stand-in for"."""

    cells: dict[Key, Cell] = field(default_factory=dict)

    def add(self, table: str, text: str) -> None:
        """Add the rows of a CSV that tables.py wrote."""
        for row in csv.DictReader(io.StringIO(text)):
            if not row.get("ours") or "accounting" not in row:
                continue
            trace = row["trace"]
            for prefix in PREFIXES:
                trace = trace.removeprefix(prefix)
            span = [float(row[name]) if row.get(name) else None for name in ("low", "high")]
            key = (table, row["accounting"], trace, row["what"], row["unit"])
            self.cells[key] = Cell(row["unit"], float(row["ours"]), *span)

    def add_long(self, text: str) -> None:
        """Add Table 5 by the length of recordings, from the CSV that dac_long.py wrote."""
        for row in csv.DictReader(io.StringIO(text)):
            if row["table"] in LONG and row["what"] in ("DAC", "DAC, unlimited"):
                unit = LONG[row["table"]]
                key = (f"dac-long/{row['table']}", "device", row["trace"], f"{row['what']}, {row['mib']} MiB", unit)
                self.cells[key] = Cell(unit, float(row["value"]))

    def find(self, ref: list[str]) -> Cell | None:
        """Find a row by [table, trace, quantity], optionally with accounting and unit; None if there is no such row."""
        table, trace, what, *more = ref
        accounting = next((one for one in more if one in ACCOUNTINGS), "device")
        units = [one for one in more if one not in ACCOUNTINGS] or UNITS
        return next((self.cells[k] for u in units if (k := (table, accounting, trace, what, u)) in self.cells), None)

    def traces(self, ref: list[str]) -> list[float]:
        """Return the values of the traces over which a row is the average."""
        wanted = (ref[0], next((one for one in ref[3:] if one in ACCOUNTINGS), "device"), ref[2])
        return [
            cell.ours
            for (table, accounting, trace, what, _), cell in self.cells.items()
            if (table, accounting, what) == wanted and trace not in ("average", "best")
        ]


def stored(root: Path) -> Tables:
    """Return the tables of docs/results."""
    made = Tables()
    for path in sorted(root.glob("*/*.csv")):
        made.add(f"{path.parent.name}/{path.stem}", path.read_text(encoding="utf-8"))
    long = root / "dac-long/dac-long.csv"
    if long.exists():
        made.add_long(long.read_text(encoding="utf-8"))
    return made


def quick(study: str, text: str) -> Tables:
    """Return the tables of an expected-STUDY.csv; each follows a line '# name'."""
    made = Tables()
    for part in re.split(r"^# ", text, flags=re.M)[1:]:
        name, _, rows = part.partition("\n")
        made.add(f"{study}/{name}", rows)
    return made


@dataclass(frozen=True)
class Claim:
    """Holds a claim of a file; claims/page.toml explains its keys."""

    id: str
    figure: str
    says: str
    source: str
    verdict: str
    row: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    over: list[str] = field(default_factory=list)
    paper: float | None = None
    want: str = ""
    form: str = ""
    band: list[list[str]] = field(default_factory=list)
    cause: str = ""
    shown: list[str] = field(default_factory=list)
    test: str = ""
    load: list[str] = field(default_factory=list)
    quick: str = ""

    @property
    def study(self) -> str:
        """Return the study: pen, ippbe, spread, rps or dac."""
        return self.id.split(".")[0]

    def refs(self) -> list[list[str]]:
        """Return every row that the claim names."""
        return [ref for ref in (self.row, self.over, *self.rows, *self.band) if ref]


def read(path: Path) -> list[Claim]:
    """Read the claims of one file."""
    with open(path, "rb") as source:
        made = [Claim(**one) for one in tomllib.load(source)["claim"]]
    for claim in made:
        if claim.verdict not in VERDICTS:
            raise ClaimError(f"{claim.id}: verdict {claim.verdict!r} is not one of {', '.join(VERDICTS)}")
        if claim.rows and claim.want not in ORDERS:
            raise ClaimError(f"{claim.id}: rows need want = one of {', '.join(ORDERS)}")
        if claim.want and not claim.rows and not WANTS.match(claim.want):
            raise ClaimError(f"{claim.id}: want {claim.want!r} is no '< number' or the like")
        if claim.study != path.stem:
            raise ClaimError(f"{claim.id}: stands in {path.name}, where ids begin with '{path.stem}.'")
    return made


def load(folder: Path = FOLDER) -> tuple[list[Claim], dict[str, Any]]:
    """Read all claims and page.toml."""
    with open(folder / "page.toml", "rb") as source:
        more = tomllib.load(source)
    made = [claim for study in STUDIES for claim in read(folder / f"{study}.toml")]
    if len({claim.id for claim in made}) != len(made):
        raise ClaimError("two claims have the same id")
    return made, more


def effect(unit: str, value: float) -> float:
    """Convert a change or a quotient to an effect in per cent."""
    return 100 * (value - 1) if unit in ("x", "x lower") else value


def value_of(claim: Claim, tables: Tables) -> Cell | None:
    """Return the measured value: a row, or its change in per cent from another row."""
    cell = tables.find(claim.row)
    if cell is None or not claim.over:
        return cell
    base = tables.find(claim.over)
    return Cell("%", 100 * (cell.ours / base.ours - 1)) if base else None


def size_agrees(claim: Claim, cell: Cell, paper: float) -> bool:
    """Does the size agree by the rule at the head of this file?"""
    if cell.low is not None and cell.high is not None and cell.low <= paper <= cell.high:
        return True
    ours, published = effect(cell.unit, cell.ours), effect(cell.unit, paper)
    near = bool(published) and LOW <= ours / published <= HIGH
    if claim.form == "share":
        return near and abs(ours - published) * (1 if cell.unit == "%" else 100) <= SHARE_POINTS
    return near or (cell.unit in ("%", "x", "x lower") and abs(ours - published) <= POINTS)


def in_order(want: str, values: list[float]) -> bool:
    """Are the values in the wanted order?"""
    first, rest = values[0], values[1:]
    return {
        "rising": all(a < b for a, b in zip(values, rest)),
        "falling": all(a > b for a, b in zip(values, rest)),
        "level": max(values) <= HIGH * min(values),
        "lowest": all(first < other for other in rest),
        "highest": all(first > other for other in rest),
    }[want]


def meets(want: str, value: float) -> bool:
    """Does the value meet a bound such as '< 1'?"""
    match = WANTS.match(want)
    assert match
    bound = float(match[2])
    return {"<": value < bound, ">": value > bound, "<=": value <= bound, ">=": value >= bound}[match[1]]


def check(claim: Claim, tables: Tables) -> str:
    """Compare a claim with the tables and return the verdict."""
    if claim.test:
        return "agrees"
    if claim.form == "other":
        return "unknown"
    if claim.rows:
        cells = [tables.find(ref) for ref in claim.rows]
        values = [cell.ours for cell in cells if cell]
        if len(values) < len(cells):
            return "unknown"
        return "agrees" if in_order(claim.want, values) else "sign"
    cell = value_of(claim, tables) if claim.row else None
    if cell is None:
        return "unknown"
    if claim.want:
        return "agrees" if meets(claim.want, cell.ours) else "size" if claim.form == "size" else "sign"
    assert claim.paper is not None
    directed = cell.unit in ("%", "x", "x lower") and claim.form != "share"
    if directed and effect(cell.unit, claim.paper) * effect(cell.unit, cell.ours) <= 0:
        return "sign"
    return "agrees" if size_agrees(claim, cell, claim.paper) else "size"


def of_bands(ref: list[str]) -> list[list[str]]:
    """Return the rows of bands.py, over seeds and over fits, of the quantity in a row of a study.

    They need not exist.
    """
    table, trace, what, *more = ref
    study, _, figure = table.partition("/")
    return [[f"{study}-bands/{figure}", trace, f"{what}, {group}", *more] for group in bands.GROUPS]


def band(claim: Claim, tables: Tables) -> tuple[float, float] | None:
    """Return the smallest and the largest measured value, over seeds and fits, and rows with other assumptions."""
    own = value_of(claim, tables) if claim.row else None
    over = of_bands(claim.row) if claim.row and not claim.over else []
    cells = [own, *(tables.find(ref) for ref in (*claim.band, *over))]
    values = [v for cell in cells if cell for v in (cell.low, cell.ours, cell.high) if v is not None]
    return (min(values), max(values)) if len(values) > 1 else None


def whole_band_agrees(claim: Claim, tables: Tables) -> bool:
    """Do all values of the band meet the claim's bound? So they do if there is no band or no bound."""
    span = band(claim, tables)
    return span is None or not claim.want or bool(claim.rows) or all(meets(claim.want, value) for value in span)


def overloaded(claim: Claim, tables: Tables) -> list[str]:
    """Return the traces on which an open loop keeps more requests in the drive, on average, than it has dies."""
    if not claim.load:
        return []
    table, what, dies = claim.load
    found = {
        trace: cell.ours
        for (name, accounting, trace, label, _), cell in tables.cells.items()
        if (name, accounting, label) == (table, "device", what) and trace not in ("average", "best")
    }
    return [trace for trace, requests in found.items() if requests > float(dies)]


def moved(unit: str, values: list[float]) -> list[float]:
    """Return the values of the traces that changed by 1 % or more."""
    none = 1.0 if unit in ("x", "x lower") else 0.0
    return [v for v in values if abs(effect(unit, v) - effect(unit, none)) >= 1]

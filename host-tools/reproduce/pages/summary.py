# SPDX-License-Identifier: GPL-2.0-or-later
"""summary.py - docs/results/README.md: every published claim beside our value, from the stored
tables.

    reproduce summary [--results DIR] [--out FILE] [--claims DIR]

'make reproduce-summary', and the end of every full study. Runs no replay.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from reproduce.papers import claims
from reproduce.papers.claims import STUDIES, Claim, Tables
from reproduce.places import ROOT
from reproduce.rows.compare import mean, number

Lines = list[str]


def verdict(claim: Claim, tables: Tables) -> str:
    """Return the verdict in words."""
    found = claims.check(claim, tables)
    if found == "agrees":
        return "agrees" if claims.whole_band_agrees(claim, tables) else "agrees, but not all of our band"
    if found == "unknown":
        return "unknown"
    what = "wrong direction" if found == "sign" else "size off"
    where = ", paper's number in our band" if inside(claim, tables) else ""
    return f"**{what}**{where}" + ("" if claim.shown else ", cause not shown")


def ours(claim: Claim, tables: Tables) -> str:
    """Return the measured value, or the values of an order."""
    if claim.test:
        return f"test: `{claim.test}`"
    if claim.rows:
        cells = [tables.find(ref) for ref in claim.rows]
        return ", ".join(number(cell.ours) if cell else "?" for cell in cells)
    cell = claims.value_of(claim, tables) if claim.row else None
    if cell is None:
        return ""
    return f"{number(cell.ours)}{' %' if cell.unit == '%' else ''}"


def of_paper(claim: Claim, tables: Tables) -> str:
    """Return the number or the direction that the paper claims."""
    if claim.paper is None:
        return claim.want
    cell = claims.value_of(claim, tables) if claim.row else None
    return f"{number(claim.paper)}{' %' if cell and cell.unit == '%' else ''}"


def inside(claim: Claim, tables: Tables) -> bool:
    """Is the paper's number within the band that our inputs' uncertainty gives?"""
    span = claims.band(claim, tables)
    return span is not None and claim.paper is not None and span[0] <= claim.paper <= span[1]


def span_text(claim: Claim, tables: Tables) -> str:
    """Format the band."""
    span = claims.band(claim, tables)
    return f"{number(span[0])} .. {number(span[1])}" if span else ""


def link(table: str) -> str:
    """Return a link to the section of a table."""
    study, _, name = table.partition("/")
    return f"[{name}]({study}/README.md)"


def cause_text(claim: Claim) -> str:
    """Return the cause, with the tables that show it."""
    return f"{claim.cause} ({', '.join(link(name) for name in claim.shown)})" if claim.shown else claim.cause


def claim_lines(some: list[Claim], tables: Tables) -> Lines:
    """Return a paper's table; a cause of several rows follows it, under a letter."""
    causes = [cause_text(claim) for claim in some]
    repeated = [cause for cause in dict.fromkeys(causes) if cause and causes.count(cause) > 1]
    letters = {cause: chr(ord("a") + number) for number, cause in enumerate(repeated)}
    out = ["| figure | what | paper | ours | band | verdict | cause |", "|" + "---|" * 7]
    for claim, cause in zip(some, causes, strict=True):
        out.append(claim_line(claim, f"({letters[cause]})" if cause in letters else cause, tables))
    return out + [line for cause, letter in letters.items() for line in ("", f"({letter}) {cause}")]


def claim_line(claim: Claim, cause: str, tables: Tables) -> str:
    """Return a row of the page."""
    if over := claims.overloaded(claim, tables):
        cause = f"**overloaded** on {', '.join(over)}. {cause}".strip()
    cells = (claim.figure, claim.says, of_paper(claim, tables), ours(claim, tables), span_text(claim, tables),
             verdict(claim, tables), cause)  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def counts(some: list[Claim], tables: Tables) -> dict[str, int]:
    """Count the claims by verdict.

    "band": claims with a wrong size for which the paper's number lies in the measured band.
    """
    found = dict.fromkeys((*claims.VERDICTS, "band", "shown"), 0)
    for claim in some:
        one = claims.check(claim, tables)
        found[one] += 1
        if one in ("size", "sign"):
            found["band"] += inside(claim, tables)
            found["shown"] += bool(claim.shown)
    return found


def count_table(every: list[Claim], tables: Tables) -> Lines:
    """Return a table of "n of m agree"."""
    out = [
        "| paper | claims | agree | size off | wrong direction | unknown "
        "| of those that are off: cause shown | paper's number in our band |",
        "|" + "---|" * 8,
    ]
    groups = {title: [c for c in every if c.study == study] for study, title in STUDIES.items()}
    for title, some in {**groups, "**all**": every}.items():
        n = counts(some, tables)
        off = n["size"] + n["sign"]
        kinds = f"{n['size']} | {n['sign']} | {n['unknown']} | {n['shown']} of {off} | {n['band']} of {off}"
        out.append(f"| {title} | {len(some)} | {n['agrees']} of {len(some)} | {kinds} |")
    return out


def without_still(every: list[Claim], tables: Tables) -> Lines:
    """Return averages over all traces, and over those that changed by 1 % or more."""
    out = ["| table | what | traces | average | of these changed | average of those | paper |", "|" + "---|" * 7]
    for claim in every:
        if not claim.row or claim.row[1] != "average" or claim.over:
            continue
        cell, values = tables.find(claim.row), tables.traces(claim.row)
        if cell is None or cell.unit not in ("%", "x", "x lower") or claim.form == "share":
            continue
        some = claims.moved(cell.unit, values)
        if len(some) < len(values):
            average = number(mean(some)) if some else ""
            out.append(f"| {link(claim.row[0])} | {claim.row[2]} | {len(values)} | {number(cell.ours)} | {len(some)} "
                       f"| {average} | {number(claim.paper)} |")  # fmt: skip
    return out


def assumptions(some: list[dict[str, Any]], tables: Tables) -> Lines:
    """Return a list of the assumptions and their effect on a quantity."""
    out = ["| paper | assumption | here | quantity | here | otherwise | table |", "|" + "---|" * 7]
    for one in some:
        base = tables.find(one["row"])
        others = [(label, tables.find(ref)) for label, ref in one["rows"]]
        varied = "; ".join(f"{label}: {number(cell.ours)}" for label, cell in others if cell)
        unit = f" {base.unit}" if base and base.unit in ("%", "x") else ""
        out.append(f"| {STUDIES[one['study']]} | {one['what']} | {one['here']} | {one['quantity']}{unit} "
                   f"| {number(base.ours) if base else ''} | {varied} | {link(one['rows'][0][1][0])} |")  # fmt: skip
    return out


def page(every: list[Claim], more: dict[str, Any], tables: Tables) -> str:
    """Return the whole page."""
    total = counts(every, tables)
    text = [
        "# What the papers say, and what ours is", "",
        "Made by `make reproduce-summary` from the tables beside this page and `host-tools/reproduce/claims`.", "",
        f"{total['agrees']} of {len(every)} claims agree; of {total['size']} the size is off, of {total['sign']} the "
        f"direction is wrong, {total['unknown']} cannot be compared.", "",
        more["page"]["rules"].strip(), "", *count_table(every, tables), "",
    ]  # fmt: skip
    for study, title in STUDIES.items():
        text += [f"## {title}", "", *claim_lines([claim for claim in every if claim.study == study], tables), ""]
    text += ["## Averages without traces where nothing changed", "", more["page"]["still"].strip(), "",
             *without_still(every, tables), ""]  # fmt: skip
    text += ["## Assumptions and what they do", "", more["page"]["assumed"].strip(), "",
             *assumptions(more["assumption"], tables), ""]  # fmt: skip
    text += ["## What a cluster would change", "", more["page"]["cluster"].strip(), ""]
    return "\n".join(text)


def main(argv: list[str]) -> int:
    """Run the command line. Returns 1 with a sentence on stderr if something is missing."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description="every published claim beside our stored tables")
    parser.add_argument("--results", type=Path, default=ROOT / "docs/results")
    parser.add_argument("--out", type=Path, help="default: README.md of the results")
    parser.add_argument("--claims", type=Path, default=claims.FOLDER)
    args = parser.parse_args(argv)
    try:
        every, more = claims.load(args.claims)
        tables = claims.stored(args.results)
        if not tables.cells:
            raise claims.ClaimError(f"{args.results}: holds no tables: 'make reproduce-pen' and the others write them")
        out = args.out or args.results / "README.md"
        out.write_text(page(every, more, tables), encoding="utf-8")
    except (claims.ClaimError, OSError) as error:
        print(f"reproduce summary: {error}", file=sys.stderr)
        return 1
    return 0

# SPDX-License-Identifier: GPL-2.0-or-later
"""responses.py - why IPPBE's response times gain less than published: its drive with what SSDSim does besides.

    reproduce responses TRACES=DIR [--jobs N] [--out DIR]

Replays the real trace msr_web_3_excel at 1/8, and IPPBE's stand-ins at 1/32, with greedy GC and with IPPBE, with

- GC that holds its die (as in the study), its channel or the drive until it ends (trials/gc-first.patch);
- reads in order;
- a copy threshold of 64 pages, with which pages moved and time in GC are as published;
- the pages that the trace reads written before it, as SSDSim does;
- no GC: a drive of more blocks that exports the same capacity. No GC scheme can gain more than this.

Writes the tables and README.md to DIR (default: docs/results/ippbe-responses). Results of replays are kept.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from reproduce import places
from reproduce.papers import figures
from reproduce.papers import study as studies
from reproduce.places import ROOT
from reproduce.real import patched, validate
from reproduce.rows import layout, measures, points
from reproduce.rows.compare import Row, change, mean, number
from reproduce.rows.points import StudyError, Trace
from reproduce.studies import scale
from reproduce.traces import realtrace
from reproduce.traces.realtrace import TraceError

NOTES = places.notes("ippbe-responses")
OUT = ROOT / "docs/results/ippbe-responses"
WEB = "msr_web_3_excel"
WEB_SCALE, STANDIN_SCALE = 8, 32
PAGE = 2048
GROUP = 64  # pages of a write before the trace
GAP_NS = 200_000_000  # between two such writes: the drive is idle long before
PAUSE_NS = 10_000_000_000  # before the trace
ROOMY = 8192  # blocks of a plane, for a drive without GC
DIES = {"die": 1, "channel": 2, "drive": 4}
FOLDS = (None, 204, 203, 202, 200, 196, 192)  # exported MiB; None: as in the study
OPS = ("write", "read")
PAPER = {op: next(row[-1] for row in figures.IPPBE_PUBLISHED if row[1] == f"Mean {op} response") for op in OPS}
LATENCY = {"write": measures.write_us, "read": measures.read_us}

Request = validate.TextRow


@dataclass(frozen=True)
class Choice:
    """Describes a way to run both configurations. holds: of DIES; "": no GC at all. pair: IPPBE's threshold."""

    name: str
    holds: str = "die"
    prewritten: bool = False
    sets: tuple[str, ...] = ()
    pair: int = points.SECOND_DEFAULT


NO_GC = "no GC at all"
PLAIN = Choice("GC holds its die")
CHOICES = (
    PLAIN,
    Choice("GC holds its channel", "channel"),
    Choice("GC holds the drive", "drive"),
    Choice("read pages written before", prewritten=True),
    Choice("read pages written before, GC holds its channel", "channel", True),
    Choice("read pages written before, GC holds the drive", "drive", True),
    Choice("threshold 64", pair=64),
    Choice("threshold 64, GC holds the drive", "drive", pair=64),
    Choice("threshold 64, read pages written before, GC holds the drive", "drive", True, pair=64),
)
IN_ORDER = (
    Choice("reads in order", sets=("ftl.read_priority=no",)),
    Choice("reads in order, read pages written before, GC holds the drive", "drive", True, ("ftl.read_priority=no",)),
)


# ---- traces ------------------------------------------------------------------------


def of_real(folder: Path, name: str) -> list[Request]:
    """Return the requests of a real trace, in order of time and not widened."""
    found = sorted(realtrace.rows(folder, name), key=lambda row: row[0])
    return [(t, ("read", "write")[write], at, n) for t, write, at, n in found]


def folded(requests: list[Request], capacity: int) -> list[Request]:
    """Fold addresses as slate-replay --fold does."""
    out = []
    for t, op, at, n in requests:
        here = at % capacity if at + n > capacity else at
        out.append((t, op, min(here, capacity - n), n))
    return out


def prewritten(requests: list[Request]) -> tuple[list[Request], int]:
    """Put writes of all pages that the trace reads before it, in the order of their first read.

    Returns their number, too.
    """
    seen: set[int] = set()
    runs: list[list[int]] = []  # first page, pages
    for _, op, at, n in requests:
        if op != "read" or not n:
            continue
        open_run = False
        for page in range(at // PAGE, (at + n - 1) // PAGE + 1):
            if page in seen:
                open_run = False
                continue
            seen.add(page)
            if not open_run or runs[-1][1] == GROUP:
                runs.append([page, 0])
            runs[-1][1] += 1
            open_run = True
    begin = len(runs) * GAP_NS + PAUSE_NS
    before = [(i * GAP_NS, "write", first * PAGE, pages * PAGE) for i, (first, pages) in enumerate(runs)]
    return before + [(begin + t, op, at, n) for t, op, at, n in requests], len(runs)


# ---- runs --------------------------------------------------------------------------


def capacity_of(divisor: int) -> int:
    """Return the exported bytes of the study's drive: 25 % over-provisioning of 8 planes with blocks of 64 pages."""
    return 2048 // divisor * 8 * 64 * 1000 // 1250 * PAGE


def drive(divisor: int, scheme: str, choice: Choice, more: tuple[str, ...] = ()) -> validate.Line:
    """Return the options of slate-replay. The drive without GC exports as much and has 8,192 blocks a plane.

    Addresses are folded already, so less than a MiB beyond them does not matter.
    """
    drives = points.Ippbe(divisor)
    config = drives.greedy() if scheme == "greedy" else drives.pair(pages=choice.pair)
    held = f"ftl.gc_slice_pages={DIES[choice.holds or 'die']}"
    exported = -(-capacity_of(divisor) // 2**20)
    roomy = (f"geometry.blocks_per_plane={ROOMY}", f"ftl.capacity_mib={exported}") if not choice.holds else ()
    return validate.line("ippbe", (*config.sets, held, *choice.sets, *roomy, *more), ("--open", "--fold"))


@dataclass(frozen=True)
class Source:
    """Holds a trace in both forms."""

    name: str
    divisor: int
    texts: tuple[bytes, bytes]  # as it is, with the pages that it reads written before
    before: int


def source(name: str, divisor: int, requests: list[Request], capacity: int = 0) -> Source:
    """Make both forms of a trace, folded to the study's capacity or another."""
    requests = folded(requests, capacity or capacity_of(divisor))
    after, before = prewritten(requests)
    return Source(name, divisor, (validate.to_text(requests), validate.to_text(after)), before)


def run(one: Source, scheme: str, choice: Choice, accounting: str, more: tuple[str, ...] = ()) -> measures.Result:
    """Return the result of a run; GC that holds more than a die needs the patched program."""
    options = drive(one.divisor, scheme, choice, (f"ftl.accounting={accounting}", *more))
    warm = ("--warmup", str(one.before)) if choice.prewritten and one.before else ()
    program = patched.built("gc-first") if choice.holds in ("channel", "drive") else validate.REPLAY
    found = validate.replay(one.texts[choice.prewritten], (*options, *warm), program)
    if not choice.holds and found["gc"]["calls"]:
        raise TraceError(f"{one.name}: the drive for '{choice.name}' is too small: GC ran")
    return found


def sums(result: measures.Result, op: str) -> dict[str, float]:
    """Return the mean response in ms and its parts: waits for GC and for other requests, and the rest."""
    host = result["host"][op]
    ms = 1e6 * host["ios"]
    where = host["where_ns"]
    total = host["latency"]["sum_ns"] / ms
    parts = {"GC": where["gc_queue"] / ms, "requests": where["host_queue"] / ms}
    return {"response": total, **parts, "itself": total - math.fsum(parts.values())}


# ---- tables ------------------------------------------------------------------------


def without(choice: Choice) -> Choice:
    """Return the same choice of an FTL for a drive without GC."""
    order = "reads in order, " if choice.sets else ""
    before = "read pages written before, " if choice.prewritten else ""
    return Choice(f"{order}{before}{NO_GC}", "", choice.prewritten, choice.sets)


def gains(some: list[Source], choices: tuple[Choice, ...], accounting: str, op: str) -> list[Row]:
    """Return how the mean response differs from that with greedy GC, by choice: with IPPBE, and without any GC.

    Threshold 64 has the same greedy GC as 32, and so the same gain without GC.
    """
    out = []
    for choice in choices:
        schemes = [("ippbe", choice, choice.name)]
        if choice.pair == points.SECOND_DEFAULT:
            schemes.append(("greedy", without(choice), f"{choice.name}: {NO_GC}"))
        for scheme, how, what in schemes:
            paper = PAPER[op] if how is choice else None
            values = {}
            for one in some:
                before = LATENCY[op](run(one, "greedy", choice, accounting))
                after = LATENCY[op](run(one, scheme, how, accounting))
                if before and after is not None:
                    values[one.name] = change(after, before)
            out += [Row(name, what, "%", value, paper if len(some) == 1 else None) for name, value in values.items()]
            if len(some) > 1:
                out.append(Row("average", what, "%", mean(list(values.values())), paper))
    return out


def parts_table(one: Source) -> list[list[str]]:
    """Return the parts of the mean response of reads and writes, in ms, by choice."""
    head = ["choice", "GC", "of"]
    head += ["response", "wait for GC", "wait for requests", "itself"]
    out = [head]
    every = (*CHOICES, *IN_ORDER)
    for choice in (*every, *dict.fromkeys(without(choice) for choice in every)):
        for scheme in ("greedy", "IPPBE") if choice.holds else ("none",):
            result = run(one, "greedy" if scheme == "none" else scheme.lower(), choice, "device")
            for op in OPS:
                cells = [number(value) for value in sums(result, op).values()]
                out.append([choice.name, scheme, op, *cells])
    return out


def shares(some: list[Source], choices: tuple[Choice, ...], op: str) -> list[Row]:
    """Return the wait for GC as a share of the response with greedy GC, in %."""
    measure = measures.write_gc_share if op == "write" else measures.read_gc_share
    out = []
    for choice in choices:
        if choice.pair == points.SECOND_DEFAULT:
            found = {one.name: measure(run(one, "greedy", choice, "ssdsim")) for one in some}
            out += [Row(name, choice.name, "%", value) for name, value in found.items()]
            out.append(Row("average", choice.name, "%", mean([v for v in found.values() if v is not None])))
    return out


def fold_rows(requests: list[Request]) -> list[Row]:
    """Return IPPBE's quantities on web_3 for several exported capacities, at which the addresses are folded."""
    out = []
    for mib in FOLDS:
        more = (f"ftl.capacity_mib={mib}",) if mib else ()
        one = source(WEB, WEB_SCALE, requests, (mib or 0) * 2**20)
        base, new = (run(one, scheme, PLAIN, "device", more) for scheme in ("greedy", "ippbe"))
        for _, what, measure, _, paper in figures.IPPBE_PUBLISHED:
            before, after = measure(base), measure(new)
            if before and after is not None:
                where = f"folded at {mib or '204.8'} MiB"
                out.append(Row(where, what, "%", change(after, before), paper))
    return out


@cache
def standins() -> list[Source]:
    """Return IPPBE's stand-ins."""
    study = studies.Study("ippbe-choices", False, STANDIN_SCALE)
    out = []
    for name in figures.IPPBE_TRACES:
        scale.make_trace(study, Trace(name))
        text = (ROOT / study.trace_file(Trace(name))).read_bytes()
        out.append(source(f"stand-in for {name}", STANDIN_SCALE, validate.of_text(text)))
    return out


def warm_up(web: list[Source], jobs: int) -> None:
    """Run everything once, several at a time; the tables then read the kept results."""
    patched.built("gc-first")
    for one in (web[0], standins()[0]):  # the trial changes nothing else
        mine, usual = (
            validate.replay(one.texts[0], drive(one.divisor, "greedy", PLAIN), program)
            for program in (patched.built("gc-first"), validate.REPLAY)
        )
        if mine["host"] != usual["host"] or mine["gc"] != usual["gc"]:
            raise TraceError(f"{one.name}: trials/gc-first.patch changes GC that holds its die")
    todo = [
        (one, scheme, choice, accounting)
        for some, choices, accountings in (
            (web, (*CHOICES, *IN_ORDER), points.ACCOUNTINGS), (standins(), CHOICES, ("ssdsim",)),
        )
        for one in some for choice in dict.fromkeys((*choices, *map(without, choices))) for accounting in accountings
        for scheme in (("greedy", "ippbe") if choice.holds else ("greedy",))
    ]  # fmt: skip
    with ThreadPoolExecutor(jobs) as pool:
        for done, _ in enumerate(pool.map(lambda work: run(*work), todo), 1):
            if done % 20 == 0:
                print(f"{done} of {len(todo)} runs", file=sys.stderr, flush=True)


def write_csv(path: Path, rows: list[list[str]]) -> None:
    """Write a table as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def write(out: Path, web: list[Source], requests: list[Request]) -> None:
    """Write all tables and the page."""
    out.mkdir(parents=True, exist_ok=True)
    intro, said = layout.sections(NOTES)
    text = ["# IPPBE: response times with what SSDSim does besides", "", intro, ""]
    made: list[tuple[str, str, dict[str, list[Row]]]] = []
    for op in OPS:
        both = {a: gains(web, (*CHOICES, *IN_ORDER), a, op) for a in points.ACCOUNTINGS}
        made.append((f"web3-{op}", f"web_3: mean {op} response, IPPBE against greedy", both))
    folds = {"device": fold_rows(requests)}
    made.append(("web3-folds", "web_3: IPPBE against greedy, by where addresses are folded", folds))
    for op in OPS:
        rows = {"ssdsim": gains(standins(), CHOICES, "ssdsim", op)}
        made.append((f"standins-{op}", f"Stand-ins: mean {op} response, IPPBE against greedy", rows))
        rows = {"ssdsim": shares(standins(), CHOICES, op)}
        made.append((f"share-{op}", f"Stand-ins: share of the mean {op} response that is a wait for GC, greedy", rows))
    for name, title, rows in made:
        text += [f"## {name}: {title}", "", *layout.written(out, name, rows, {})]
        text += [said[name], ""] if name in said else []
    parts = parts_table(web[0])
    write_csv(out / "web3-parts.csv", parts)
    text += ["## web3-parts: where the mean response goes", ""]
    text += ["[web3-parts.csv](web3-parts.csv) has the parts of web_3, in ms.", ""]
    text += [said["web3-parts"], ""] if "web3-parts" in said else []
    (out / "README.md").write_text("\n".join(text).rstrip("\n") + "\n", encoding="utf-8")


def main(argv: list[str]) -> int:
    """Run the command line. Returns 1 with a sentence on stderr if something is missing or fails."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description="IPPBE's response times with what SSDSim does besides"
    )
    parser.add_argument("traces", metavar="TRACES=DIR")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="runs at once")
    parser.add_argument("--out", type=Path, default=OUT, metavar="DIR")
    args = parser.parse_args(argv)
    try:
        if not validate.REPLAY.exists():
            raise TraceError("slate-replay is not built: run 'make core'")
        validate.KEPT.mkdir(parents=True, exist_ok=True)
        requests = of_real(Path(args.traces.removeprefix("TRACES=")), WEB)
        web = [source(WEB, WEB_SCALE, requests)]
        warm_up(web, args.jobs)
        write(args.out, web, requests)
    except (TraceError, StudyError, OSError) as error:
        print(f"reproduce responses: {error}", file=sys.stderr)
        return 1
    return 0

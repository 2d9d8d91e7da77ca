# SPDX-License-Identifier: GPL-2.0-or-later
"""dac_long.py - what DAC gains on long recordings, and on their first parts: figure 28 and table 5 by length.

    reproduce dac-long RECORDINGS=DIR [--lengths MIB,MIB,...,all] [--jobs N] [--out DIR]

DIR has recordings of record.py: pc.content, synth.content, web.content, iot.content; those that are missing are left
out. A part ends with the first request by which its length is written. Writes README.md and dac-long.csv to the
folder of --out (default: docs/results/dac-long).
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from reproduce import places
from reproduce.papers import dac
from reproduce.places import ROOT
from reproduce.rows import measures
from reproduce.rows.compare import change, mean, number, times
from reproduce.rows.points import StudyError
from reproduce.studies.scale import as_markdown, newer

REPLAY = "build/core/slate-replay"
CONTENT = "build/core/slate-content"
DRIVE = "host-tools/reproduce/host/drive.ini"  # the recorded one
NOTES = places.notes("dac-long")
KEPT = ROOT / "build/reproduce/dac-long"
LENGTHS = "128,256,512,1024,2048,4096,all"
SCALE = 64  # 8 GiB of flash: no GC
CAPACITY_MIB = 4096  # of drive.ini
HOST = ("--set", "memory.overcommit=yes")  # a part takes half of the drive at most
PERMILLE = 5
LIMITED = "dedup+comp-5"  # keeps as many fingerprints as DAC; for a recording's longest part
SHOWN = "Averages, or each recording's longest part: [dac-long.csv](dac-long.csv) has every part.\n"
Rows = list[list[str]]


def said(line: list[str], what: str) -> str:
    """Run a command and return what it prints. Raises StudyError with its error message if it fails."""
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise StudyError(f"{what}: exit status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def replay(path: Path, line: list[str], form: str, recording: Path, what: str) -> None:
    """Have a replay write path, in a form (--csv, --json).

    An earlier file stays if it had the same command line, bytes of the profile, recording and program.
    """
    profile = ROOT / line[line.index("--profile") + 1]
    wanted = f"{' '.join(line)} {hashlib.sha256(profile.read_bytes()).hexdigest()}"
    told = path.with_suffix(".txt")
    if newer(path, recording, ROOT / REPLAY) and told.exists() and told.read_text("utf-8") == wanted:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    said([*line, *HOST, form, str(unfinished), str(recording)], what)
    told.unlink(missing_ok=True)
    os.replace(unfinished, path)
    told.write_text(wanted, encoding="utf-8")


@dataclass(frozen=True)
class Part:
    """Holds the first requests of a recording."""

    name: str
    path: Path
    mib: int  # its nominal length
    requests: int
    blocks: int  # of 4 KiB, written

    @property
    def prints(self) -> int:
        """Return the number of fingerprints that is 0.5 % of all; a block of 4 KiB has four."""
        return max(4, 4 * self.blocks * PERMILLE // 1000)


def cut(rows: list[tuple[int, int]], lengths: list[int], rest: bool) -> list[tuple[int, int, int]]:
    """Return (MiB, requests, blocks) of every length that is reached, once.

    rest: the whole recording is a part, too, if it is a tenth longer than the last one.
    rows: offset and bytes of a write, or (0, 0) of another request.
    """
    found, size, blocks = [], 0, 0
    wanted = sorted(set(lengths))
    for count, (offset, length) in enumerate(rows, 1):
        size += length
        blocks += (offset + length + 4095) // 4096 - offset // 4096 if length else 0
        while wanted and size >= wanted[0] << 20:
            found.append((wanted.pop(0), count, blocks))
    if rest and (not found or size >> 20 > found[-1][0] * 1.1):
        found.append((size >> 20, len(rows), blocks))
    return found


def requests(name: str, path: Path) -> list[tuple[int, int]]:
    """Return what cut() takes, by a replay without data. --limit does not count flushes that are left out."""
    out = KEPT / f"{name}.requests.csv"
    replay(out, [REPLAY, "--profile", DRIVE, "--set", "ftl.payload=no", "--closed", "1"], "--csv", path, name)
    with out.open(encoding="ascii", newline="") as file:
        return [
            (int(row["offset"]), int(row["bytes"])) if row["op"] == "write" else (0, 0)
            for row in csv.DictReader(file)
            if row["op"] != "flush"
        ]


def command(part: Part, name: str) -> list[str]:
    """Return the command line of a replay without the trace: the configuration of the study "dac" on a larger drive."""
    config = dac.Dac(SCALE).all()[name]
    kept = f"ftl.fingerprints={part.prints}" if name in ("dac", LIMITED) else "ftl.fingerprints_permille=1000"
    words = [word for text in (*config.sets, f"ftl.capacity_mib={CAPACITY_MIB}", kept) for word in ("--set", text)]
    return [REPLAY, "--profile", f"nand-emu/profiles/{config.profile}.ini", *words, *config.args,
            "--limit", str(part.requests)]  # fmt: skip


def result(part: Part, name: str) -> measures.Result:
    """Return the result of a replay."""
    path = KEPT / part.name / str(part.mib) / f"{name}.json"
    replay(path, command(part, name), "--json", part.path, f"{part.name}, {part.mib} MiB, {name}")
    found: measures.Result = json.loads(path.read_text(encoding="utf-8"))
    if measures.pages_by_gc(found):
        raise StudyError(f"{part.name}, {part.mib} MiB, {name}: GC wrote pages, so the drive is too small")
    return found


Found = dict[tuple[str, int, str], measures.Result]  # by recording, length and configuration


def pages(found: Found, parts: list[Part], base: str, names: dict[str, str], percent: bool) -> Rows:
    """Return the pages written, relative to those of `base`: a row for each recording and length, and averages."""
    form = change if percent else times
    rows = [["MiB", "trace", *names.values()]]
    for mib in sorted({part.mib for part in parts}):
        alike = [part.name for part in parts if part.mib == mib]
        values = {
            name: [form(measures.pages_written(found[one, mib, name]), measures.pages_written(found[one, mib, base]))
                   for one in alike] for name in names
        }  # fmt: skip
        for at, one in enumerate(alike):
            rows.append([str(mib), one, *(number(values[name][at]) for name in names)])
        if len(alike) > 1:
            of = "average" if len(alike) == len({part.name for part in parts}) else f"average of {' '.join(alike)}"
            rows.append([str(mib), of, *(number(mean(values[name])) for name in names)])
    return rows


def longest(parts: list[Part]) -> list[Part]:
    """Return each recording's longest part."""
    return list({part.name: part for part in sorted(parts, key=lambda part: part.mib)}.values())


def table5(found: Found, parts: list[Part], measure: measures.Measure, paper: dict[str, float]) -> Rows:
    """Return a column of table 5 by recording and length."""
    rows = [["trace", "MiB", "paper", "DAC", "DAC / paper", "DAC, unlimited"]]
    for part in sorted(parts, key=lambda part: (dac.NAMES.index(part.name), part.mib)):
        one, all_ = (measure(found[part.name, part.mib, name]) for name in ("dac", "unlimited"))
        ratio = one / paper[part.name] if one is not None else None
        rows.append([part.name, str(part.mib), number(paper[part.name]), number(one), number(ratio), number(all_)])
    return rows


def inputs(parts: list[Part]) -> Rows:
    """Return what the recordings are."""
    rows = [["trace", "MiB written", "writes", "flushes", "duplicates, %", "zeroes, %", "compressed, %", "name"]]
    for name, path in {part.name: part.path for part in parts}.items():
        made = KEPT / f"{name}.inputs.json"
        if not newer(made, path):
            text = said([CONTENT, "--json", str(path)], name)
            made.parent.mkdir(parents=True, exist_ok=True)
            made.write_text(text, encoding="utf-8")
        one = json.loads(made.read_text(encoding="utf-8"))[0]
        shares = [100 * one[key] / one["blocks"] for key in ("duplicate_blocks", "zero_blocks")]
        rows.append([
            name, f"{one['bytes']['write'] / 2**20:.0f}", str(one["requests"]["write"]), str(one["requests"]["flush"]),
            *(f"{share:.1f}" for share in shares), f"{100 * one['compressed_bytes'] / one['bytes']['write']:.1f}",
            f"`{one['name'][:16]}`",
        ])  # fmt: skip
    return rows


def tables(found: Found, parts: list[Part]) -> dict[str, tuple[str, Rows]]:
    """Return all tables with their titles, by name."""
    all_of = {name: label for name, label in dac.FTLS.items() if name != "dedup"}
    prints = [["trace", "MiB", "requests", "blocks", "fingerprints kept by DAC"]]
    prints += [[part.name, str(part.mib), str(part.requests), str(part.blocks), str(part.prints)] for part in parts]
    return {
        "inputs": ("The recordings", inputs(parts)),
        "fig28": ("Figure 28: pages written, of Dedup's", pages(found, parts, "dedup", all_of, False)),
        "fig28t": ("Pages written against Dedup+Comp's, % (paper: DAC -15 on average, -30 at best)",
                   pages(found, parts, "dedup+comp", {"dac": "DAC", "unlimited": "DAC, unlimited"}, True)),
        "alike": ("Pages written against Dedup+Comp's when both keep 0.5 %, % (paper: see above)",
                  pages(found, longest(parts), LIMITED, {"dac": "DAC"}, True)),
        "limit": ("Pages written without a limit against DAC's, % (paper: less than 2 fewer)",
                  pages(found, parts, "dac", {"unlimited": "DAC, unlimited"}, True)),
        "comp": ("Pages written against Comp's, % (paper: DAC -67 on WEB)",
                 pages(found, parts, "comp", {"dac": "DAC", "unlimited": "DAC, unlimited"}, True)),
        "table5-share": ("Table 5: share of units stored against a reference",
                         table5(found, parts, measures.reference_share, dac.SHARE)),
        "table5-dac": ("Table 5: size of these, with the reference, of their size",
                       table5(found, parts, measures.reference_ratio, dac.REFERRED)),
        "table5-normal": ("Table 5: size of the same units, compressed alone",
                          table5(found, parts, measures.plain_ratio, dac.ALONE)),
        "parts": ("The parts", prints),
    }  # fmt: skip


def brief(rows: Rows) -> Rows:
    """Return what the page shows of a table: the averages, or else the longest part of each recording."""
    head, *lines = rows
    if "MiB" not in head:
        return rows
    at = head.index("trace")
    means = [line for line in lines if line[at] == "average"]
    return [head, *(means or {line[at]: line for line in lines}.values())]


def write(out: Path, made: dict[str, tuple[str, Rows]]) -> None:
    """Write the page and the CSV, which has a line for each number."""
    out.mkdir(parents=True, exist_ok=True)
    page = [NOTES.read_text(encoding="utf-8"), SHOWN]
    page += [f"## {title}\n\n{as_markdown(brief(rows))}" for title, rows in made.values()]
    (out / "README.md").write_text("\n".join(page), encoding="utf-8")
    with (out / "dac-long.csv").open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["table", "trace", "mib", "what", "value"])
        for name, (_, rows) in made.items():
            for row in rows[1:]:
                cells = dict(zip(rows[0], row))
                trace, mib = cells.pop("trace"), cells.pop("MiB", "")
                lines.writerows([name, trace, mib, what, value] for what, value in cells.items())


def parts_of(folder: Path, lengths: list[int], rest: bool) -> list[Part]:
    """Return the parts of all recordings that are there. Raises StudyError if there is none."""
    if not folder.is_dir():
        raise StudyError(f"RECORDINGS={folder}: is no folder: python3 host-tools/reproduce record makes one")
    found = []
    for name in dac.NAMES:
        path = (folder / f"{name}.content").resolve()
        if path.exists():
            found += [Part(name, path, *one) for one in cut(requests(name, path), lengths, rest)]
    if not found:
        raise StudyError(f"RECORDINGS={folder}: has none of {', '.join(f'{name}.content' for name in dac.NAMES)}")
    return found


def main(argv: list[str]) -> int:
    """Run the command line. Returns 1 with a sentence on stderr if something is missing or fails."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description="DAC on long recordings, by length")
    parser.add_argument("recordings", metavar="RECORDINGS=DIR")
    parser.add_argument("--lengths", default=LENGTHS, metavar="MIB,...")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="replays at once")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/results/dac-long", metavar="DIR")
    args = parser.parse_args(argv)
    try:
        if args.jobs < 1:
            raise StudyError(f"--jobs {args.jobs}: must be 1 or more")
        lengths = args.lengths.split(",")
        numbers = [int(length) for length in lengths if length.isdecimal() and int(length)]
        if len(numbers) + lengths.count("all") != len(lengths):
            raise StudyError(f"--lengths {args.lengths}: must be numbers of MiB, or all, with commas between them")
        if not (ROOT / REPLAY).exists():
            raise StudyError(f"{REPLAY} is not there: 'make core' first")
        parts = parts_of(Path(args.recordings.removeprefix("RECORDINGS=")), numbers, "all" in lengths)
        points = [(part, name) for part in sorted(parts, key=lambda part: part.mib) for name in dac.FTLS]
        points += [(part, LIMITED) for part in longest(parts)]
        with ThreadPoolExecutor(args.jobs) as pool:
            results = list(pool.map(lambda point: result(*point), points))
        found = {(part.name, part.mib, name): one for (part, name), one in zip(points, results)}
        write(args.out, tables(found, parts))
    except (StudyError, OSError) as error:
        print(f"reproduce dac-long: {error}", file=sys.stderr)
        return 1
    return 0

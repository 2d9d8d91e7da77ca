# SPDX-License-Identifier: GPL-2.0-or-later
"""shipped.py - what a data sheet, arithmetic or a model says of each shipped profile, and what its drive does.

    reproduce shipped [--out DIR] [--jobs N] [PROFILE ...]

Replays a few single requests on each profile, filled, and random writes until the write amplification is steady.
Writes shipped.csv and README.md to DIR (default: docs/results/shipped). Left out are the large profiles of studies,
whose times are those of their small ones, and drives without a write buffer, with zones, or that inspect data (ippbe,
nftl, superblock, zns, dac).
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reproduce import places
from reproduce.models import wamodel
from reproduce.places import ROOT
from slate_lib import fitsheet

REPLAY = ROOT / "build/core/slate-replay"
PROFILES = ROOT / "nand-emu/profiles"
SMALL = ("default", "small", "tlc-small", "tlc-slc-small", "qlc-small", "znand-small", "rps-small", "spread-small")
BATCH, SECOND = 128 << 10, 10**9
ROUNDS = 32
# Multiples of the capacity; large drives have so much over-provisioning that they are steady sooner.
WARM_UP, COUNTED, WARM_UP_LARGE, COUNTED_LARGE = 5, 2, 3, 1
LARGE_BYTES = 10 << 30
FAR = 0.1
FIELDS = ("profile", "what", "from", "expected", "measured", "difference_percent")
WORDS = {
    "write": "write, µs",
    "flush": "flush behind a write, µs",
    "fua": "write with FUA, µs",
    "read": "read, full drive, µs",
    "idle": "the same after 10 s of idling, µs",
    "idle_write": "write after 10 s of idling, µs",
    "behind": "read behind programs, µs",
    "waf": "WAF, random writes, full drive",
}


@dataclass
class Profile:
    """Holds a profile's settings and what follows from them."""

    name: str
    facts: Any
    sheet: dict[str, float]

    def number(self, key: str) -> int:
        """Return a number of the profile."""
        return int(self.facts["settings"][key])

    def link_ns(self, size: int) -> float:
        """Return the time that so many bytes take on the host's link."""
        generation = self.number("link.generation")
        if not generation:
            return 0.0
        rate = fitsheet.LANE_GB_S[generation] * self.number("link.lanes") * self.number("link.data_permille") / 1000
        return size / rate

    @property
    def unit(self) -> int:
        """Return the size of a mapping unit, which is that of a request."""
        return self.number("ftl.unit_bytes")

    @property
    def front_ns(self) -> int:
        """Return the firmware's time of a request, with its look-up."""
        keys = ("ftl.map_ns", "ftl.overhead_ns", "link.latency_ns", "controller.completion_ns")
        return sum(self.number(key) for key in keys)

    @property
    def program_ns(self) -> float:
        """Return the mean time of a page's program in its cells; an SLC cache is full on a full drive."""
        return statistics.fmean(self.facts["program"]["cell_ns"])

    @property
    def page_bus_ns(self) -> int:
        """Return the time of a page on the bus."""
        return int(self.facts["program"]["bus_ns"])

    def write_ns(self) -> float:
        """Return the time of a write that the buffer accepts."""
        return self.front_ns + self.number("ftl.buffer_ns") + self.link_ns(self.unit)

    def flash_read_ns(self) -> float:
        """Return the time of a unit's read from the flash, by the way in which the FTL reads."""
        parts = self.facts["settings"]["ftl.host_subpage_reads"] != "no" and len(self.facts["reads"]) > 1
        size = self.unit if parts else self.number("geometry.page_bytes")
        read = next(read for read in self.facts["reads"] if read["bytes"] == size)
        return float(read["bus_ns"] + statistics.fmean(read["cell_ns"]))

    def read_ns(self) -> float:
        """Return the time of a unit's read from an idle drive."""
        return self.front_ns + self.flash_read_ns() + self.link_ns(self.unit)

    @property
    def batch(self) -> int:
        """Return the bytes that give a page to each plane."""
        return int(self.facts["planes"]) * self.number("geometry.page_bytes")

    def window_ns(self) -> tuple[float, float]:
        """Return from when to when, after a batch began, all dies are programming."""
        dies = self.facts["dies"] // self.number("geometry.channels")
        return dies * self.number("geometry.planes_per_die") * self.page_bus_ns + BATCH / 1000, self.program_ns

    def behind_ns(self) -> float:
        """Return the mean time of reads that come evenly while all dies program.

        The dies of a channel get their pages one after the other, and each ends a program later."""
        dies = self.facts["dies"] // self.number("geometry.channels")
        of_die = self.number("geometry.planes_per_die") * self.page_bus_ns
        first, last = self.window_ns()
        if self.number("timing.suspends_max") and self.facts["settings"]["ftl.suspend"] != "off":
            return self.read_ns() + self.number("timing.suspend_ns")
        rest: float = self.link_ns(BATCH) + (dies + 1) / 2 * of_die + self.program_ns - (first + last) / 2
        return self.read_ns() + rest

    @property
    def block_units(self) -> int:
        """Return the units of a block."""
        return int(self.facts["block_bytes"]) // self.unit

    def waf(self) -> float | None:
        """Return the model's write amplification of greedy GC, if the profile has a model.

        Under writes without a pause sliced GC chooses a block when gc_urgent_blocks are empty, or one more."""
        told = self.facts["over_provisioning"]
        if self.number("ftl.map_cache_pages"):  # the model knows no pages of the map
            return None
        if told["effective"] is None or self.facts["settings"]["ftl.gc_policy"] != "greedy":
            return None
        of_plane = self.facts["planes"] * self.facts["block_bytes"]
        free, opened = told["free_bytes"], told["open_bytes"]
        if self.facts["settings"]["ftl.gc_mode"] == "sliced":
            free = of_plane * (self.number("ftl.gc_urgent_blocks") + 0.5)
        used = self.facts["exported_bytes"] + told["own_bytes"]
        return wamodel.greedy((used - opened / 2) / (self.facts["raw_bytes"] - free - opened), self.block_units)

    def expected(self) -> Iterator[tuple[str, str, float]]:
        """Yield each published figure of the drive: what it is of, who published it, and the number."""
        protected = self.facts["settings"]["ftl.power_protected"] == "yes"
        program = self.page_bus_ns + self.program_ns
        flushed = self.unit < self.number("geometry.page_bytes") and not protected  # a full page is programmed at once
        for what, key, path_us in (
            ("write", "write_us", fitsheet.WRITE_PATH_US),
            ("read", "read_us", fitsheet.READ_PATH_US),
        ):
            if key in self.sheet and self.unit == fitsheet.IO_BYTES:
                yield what, "sheet", self.sheet[key] - path_us
        yield "write", "arithmetic", self.write_ns() / 1000
        yield "flush", "arithmetic", (self.front_ns + flushed * program) / 1000
        yield "fua", "arithmetic", (self.write_ns() + (0 if protected else program)) / 1000
        yield "read", "arithmetic", self.read_ns() / 1000
        yield "idle", "arithmetic", self.read_ns() / 1000
        yield "idle_write", "arithmetic", self.write_ns() / 1000
        yield "behind", "arithmetic", self.behind_ns() / 1000
        model = self.waf()
        if model:
            yield "waf", "model", model
        if {"sustained_write_iops", "seq_write_mb_s"} <= self.sheet.keys():
            sustained = fitsheet.IO_BYTES * self.sheet["sustained_write_iops"]
            yield "waf", "sheet", self.sheet["seq_write_mb_s"] * fitsheet.MB / sustained


def load(name: str) -> Profile:
    """Return a profile."""
    command = [str(ROOT / "host-tools/slate"), "profiles", "show", name, "--json"]
    found = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    path = PROFILES / "sheets" / f"{name}.ini"
    sheet: dict[str, float] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        key, _, value = line.partition("=")
        try:
            sheet[key.strip()] = float(value.partition(";")[0])
        except ValueError:
            continue
    return Profile(name, json.loads(found.stdout), sheet)


def trace(p: Profile) -> tuple[list[str], list[str]]:
    """Return the rows of a native trace, and what each row measures ("": nothing)."""
    rows: list[str] = []
    kinds: list[str] = []
    capacity = p.facts["exported_bytes"]
    step = capacity // (ROUNDS * 8) // BATCH * BATCH

    def add(at: float, row: str, kind: str = "") -> None:
        rows.append(f"{at:.0f} 0 {row}")
        kinds.append(kind)

    place = iter(range(1, ROUNDS * 8))
    first, last = p.window_ns()
    now = SECOND
    for turn in range(ROUNDS):
        add(now, f"write {next(place) * step} {p.unit}", "write")
        add(now + SECOND // 4, f"read {next(place) * step + BATCH} {p.unit}", "read")
        now += SECOND
        add(now, f"write {next(place) * step} {p.unit}")
        add(now + SECOND // 10, "flush", "flush")
        now += SECOND
        add(now, f"write {next(place) * step} {p.unit} fua", "fua")
        now += SECOND
        for at in range(0, p.batch, BATCH):
            add(now, f"write {at} {min(BATCH, p.batch - at)}")
        at_ns = now + first + (last - first) * (turn + 0.5) / ROUNDS
        add(at_ns, f"read {next(place) * step + BATCH} {p.unit}", "behind")
        now += 10 * SECOND
        add(now, f"read {next(place) * step + BATCH} {p.unit}", "idle")
        now += 10 * SECOND
        add(now, f"write {next(place) * step} {p.unit}", "idle_write")
        now += SECOND
    return rows, kinds


def replay(*args: object) -> None:
    """Run slate-replay."""
    subprocess.run([REPLAY, *map(str, args)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)


def times(p: Profile, folder: Path) -> dict[str, float]:
    """Return the mean times of single requests in µs."""
    rows, kinds = trace(p)
    path, out = folder / "trace", folder / "requests.csv"
    path.write_text("# slate-trace 1\n" + "\n".join(rows) + "\n", encoding="utf-8")
    replay("--profile", p.facts["path"], "--fill", 100, "--open", "--csv", out, path)
    found: dict[str, list[float]] = {kind: [] for kind in kinds if kind}
    with open(out, encoding="utf-8", newline="") as file:
        for request in csv.DictReader(file):
            kind = kinds[int(request["request"])]
            if kind:
                found[kind].append(int(request["latency_ns"]) / 1000)
    return {kind: statistics.fmean(of) for kind, of in found.items()}


def amplification(p: Profile, folder: Path) -> float:
    """Return the write amplification of random writes to the full drive."""
    units, out = p.facts["exported_bytes"] // p.unit, folder / "waf.json"
    large = p.facts["exported_bytes"] > LARGE_BYTES
    warm_up, counted = (WARM_UP_LARGE, COUNTED_LARGE) if large else (WARM_UP, COUNTED)
    writes = f"gen:rand{p.unit // 1024}k,foot={p.facts['exported_bytes']},n={(warm_up + counted) * units}"
    replay("--profile", p.facts["path"], "--fill", 100, "--closed", 1, "--warmup", warm_up * units, "--limit",
           (warm_up + counted) * units, "--json", out, writes)  # fmt: skip
    return float(json.loads(out.read_text(encoding="utf-8"))["waf"])


def measure(name: str) -> list[dict[str, str]]:
    """Return a profile's rows."""
    p = load(name)
    with tempfile.TemporaryDirectory() as made:
        found = times(p, Path(made))
        expected = list(p.expected())
        if any(what == "waf" for what, *_ in expected):
            found["waf"] = amplification(p, Path(made))
    digits = {"waf": 3}
    return [
        {
            "profile": name,
            "what": what,
            "from": by,
            "expected": f"{number:.{digits.get(what, 2)}f}",
            "measured": f"{found[what]:.{digits.get(what, 2)}f}",
            "difference_percent": f"{100 * (found[what] / number - 1):+.1f}",
        }
        for what, by, number in expected
        if what in found
    ]


def as_markdown(rows: list[dict[str, str]]) -> str:
    """Return the page, with a table of what differs by more than FAR."""
    text = places.notes("shipped").read_text(encoding="utf-8")
    head = "| profile | what | by | expected | measured | difference, % |\n| --- | --- | --- | --- | --- | --- |\n"
    lines = [
        f"| {row['profile']} | {WORDS[row['what']]} | {row['from']} | {row['expected']} | {row['measured']} "
        f"| {row['difference_percent']} |\n"
        for row in rows
    ]
    far = [line for line, row in zip(lines, rows) if abs(float(row["difference_percent"])) > 100 * FAR]
    return text.replace("@FAR@", head + "".join(far))


def main(argv: list[str]) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description="the shipped profiles beside what is said of them")
    parser.add_argument("profiles", nargs="*", metavar="PROFILE")
    parser.add_argument("--out", type=Path, metavar="DIR")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N")
    args = parser.parse_args(argv)
    if args.profiles and not args.out:
        parser.error("name a folder for the rows of some profiles: --out DIR")
    out = args.out or ROOT / "docs/results/shipped"
    names = args.profiles or [*sorted(path.stem for path in (PROFILES / "drives").glob("*.ini")), *SMALL]
    rows: list[dict[str, str]] = []
    with ThreadPoolExecutor(args.jobs) as pool:
        for name, found in zip(names, pool.map(measure, names)):
            rows += found
            print(name, *(f"{row['what']}/{row['from']} {row['difference_percent']}" for row in found), flush=True)
    out.mkdir(parents=True, exist_ok=True)
    with open(out / "shipped.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (out / "README.md").write_text(as_markdown(rows), encoding="utf-8")
    return 0

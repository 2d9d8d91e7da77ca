# SPDX-License-Identifier: GPL-2.0-or-later
"""placement.py - RocksDB on f2fs on the page FTL, with placement handles, and on zones: 'make study-placement'.

    reproduce placement [--out DIR] [--work DIR] [--keys N] [--batches N] [--cuts N] [--only NAME]...

Each configuration is one 'slate run', which loads the database and updates it, and one more that cuts the
power --cuts times. The guest's part is in host-tools/guest/study. Writes placement.csv and README.md to DIR
(default: docs/results/placement); runs that are in --work (default: build/placement) already are not repeated.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import math
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reproduce.places import ROOT
from slate_lib.account import Account, Device, waf

SLATE = ROOT / "host-tools/slate"
GUEST = ROOT / "host-tools/guest/study"
MIB = 1 << 20
BATCH, ROW = 16, 16 + 1000  # of rocks.py: rows of a batch; bytes of a key and its value
PARTS = ("load", "update")
# A cut may come at these times after the boot. The guest mounts, checks and continues its work, which may end after
# 1.7 s.
CUT_EARLIEST_NS, CUT_DRAWN_NS, CUT_LATEST_NS = 300_000_000, 3_000_000_000, 1_700_000_000
_FOUND = re.compile(r"^FOUND (\d+)\r?\n", re.MULTILINE)
F2FS_BLOCK = 4096
_MOVED = re.compile(r"^Try to move (\d+) blocks", re.MULTILINE)
_DONE = re.compile(r"^DONE (\d+)\r?\n", re.MULTILINE)

# The flash has 216 MiB. Namespaces have 24 MiB (the f2fs's metadata), 24 MiB (RocksDB's log), 128 MiB (its data).
ONE = ("drive.namespaces=16", "geometry.blocks_per_plane=54", "ftl.capacity_mib=177")
HANDLES = (*ONE, "ftl.placement_handles=3")
# Beside the zoned drive of 152 MiB, a drive without zones of 64 MiB has the first two namespaces.
CONVENTIONAL = (
    *("0:drive.namespaces=16", "0:geometry.channels=1", "0:geometry.blocks_per_plane=32", "0:ftl.capacity_mib=49"),
    *("1:geometry.blocks_per_plane=38", "1:ftl.capacity_mib=128"),
)

Figures = dict[str, Any]


class StudyError(Exception):
    """Carries a sentence for the user."""


@dataclass(frozen=True)
class Configuration:
    """Describes the drives of a guest."""

    name: str
    says: str
    settings: tuple[str, ...]
    profiles: tuple[str, ...] = ("small",)
    environment: tuple[str, ...] = ()

    def drive_files(self, folder: Path) -> list[Path]:
        """Return the files of the drives."""
        return [folder / f"{self.name}-{number}.slate" for number in range(len(self.profiles))]


CONFIGURATIONS = (
    Configuration("page", "page FTL", ONE),
    Configuration("fdp", "page FTL, a handle for each namespace", HANDLES),
    Configuration(
        "fdp-apart", "the same, copies apart, too", (*HANDLES, "ftl.placement_isolation=persistently")
    ),
    Configuration("zns", "zones, beside a small page-FTL drive", CONVENTIONAL, ("small", "zns-small")),
)


@dataclass(frozen=True)
class Size:
    """Describes the work of the guest."""

    keys: int
    batches: int
    cuts: int
    kernel: str = "debian"

    def words(self) -> list[str]:
        """Return the options that all runs have."""
        return [
            *("--apps", "--mem", "1G", "--cmd", str(GUEST / "placement.sh"), "--file", str(GUEST / "rocks.py")),
            *("--env", f"KEYS={self.keys}", "--env", f"BATCHES={self.batches}"),
            *("--kernel", self.kernel, "--timeout", "20000"),
        ]


def slate(words: list[str], out: Path, may_fail: bool = False) -> None:
    """Run 'slate run', unless `out` has that run already. may_fail: it may fail after the first boot."""
    record = out / "command.json"
    if record.exists() and json.loads(record.read_text(encoding="utf-8")) == words:
        return
    shutil.rmtree(out, ignore_errors=True)
    done = subprocess.run([SLATE, "run", *words, "--out", str(out)], capture_output=True, text=True, check=False)
    if done.returncode and not (may_fail and (out / "console-1.log").exists()):
        raise StudyError(f"{out.name}: {done.stdout[-800:]}{done.stderr[-2000:]}")
    record.write_text(json.dumps(words), encoding="utf-8")


def load(configuration: Configuration, size: Size, work: Path) -> Path:
    """Load and update the database; return the run's folder. The drives stay in files."""
    out = work / configuration.name
    files = configuration.drive_files(work)
    if not (out / "command.json").exists():
        for file in files:
            file.unlink(missing_ok=True)
    words = ["--fill", "0", "--cmd-arg", "load", *size.words()]
    for name, file in zip(configuration.profiles, files):
        words += ["--profile", name, "--drive", str(file)]
    for line in configuration.settings:
        words += ["--set", line]
    for line in configuration.environment:
        words += ["--env", line]
    slate(words, out)
    return out


def cut(configuration: Configuration, size: Size, work: Path) -> list[bool]:
    """Cut the power again and again; return of each cut whether the database was as it must be.

    A boot that fails ends the cuts.
    """
    out = work / f"{configuration.name}-cuts"
    times = cut_times(configuration.name, size.cuts)
    words = [*size.words(), "--cut-at", ",".join(f"{time}ns" for time in times)]
    words += ["--after-cut", str(GUEST / "placement.sh")]
    copies = [file.with_name(f"cut-{file.name}") for file in configuration.drive_files(work)]
    for file, copy in zip(configuration.drive_files(work), copies):
        if not (out / "command.json").exists():
            shutil.copy(file, copy)
        words += ["--drive", str(copy)]
    for line in configuration.environment:
        words += ["--env", line]
    slate(words, out, may_fail=True)
    names = [f"console-{boot}.log" for boot in range(1, size.cuts + 1) if (out / f"console-{boot}.log").exists()]
    consoles = [(out / name).read_text(encoding="utf-8") for name in (*names, "console.log")]
    return survived(consoles, size.batches)[1:]


def cut_times(seed: str, count: int) -> list[int]:
    """Return random times. Those that are too late are drawn again, so that stored cuts stay the first ones."""
    rng = random.Random(f"cuts of {seed}")
    drawn = iter(lambda: CUT_EARLIEST_NS + rng.randrange(CUT_DRAWN_NS - CUT_EARLIEST_NS), None)
    return list(itertools.islice((time for time in drawn if time < CUT_LATEST_NS), count))


def survived(consoles: list[str], batches: int) -> list[bool]:
    """Return for each boot: did it find all batches acknowledged before it, and no incomplete batch?

    A batch that was being written at the cut may be there. If a cut ends a boot before it reports what it
    found, the next boot's report decides for both.
    """
    verdicts: list[bool] = []
    least = most = batches
    for number, console in enumerate(consoles, 1):
        for found in map(int, _FOUND.findall(console)):
            verdicts += [least <= found <= most] * (number - len(verdicts))
            least, most = found, found + 1
        for done in map(int, _DONE.findall(console)):
            least, most = done, done + 1
    return verdicts + [False] * (len(consoles) - len(verdicts))


def percentile(samples: list[int], permille: int) -> int:
    """Return the smallest sample that at least permille of all samples do not exceed."""
    return sorted(samples)[math.ceil(permille * len(samples) / 1000) - 1]


def add(total: Figures, account: Account, device: Device) -> None:
    """Add one drive's part."""
    parts = waf(account, device.unit_bytes) or {}
    host = account.op["write"].bytes
    total["host"] += host
    total["media"] += parts.get("total", 0) * host
    for name in ("gc", "pad"):
        total[name] += parts.get(name, 0) * host
    total["erases"] += sum(counts.get("erases", 0) for counts in account.sources.values())


def measure(configuration: Configuration, size: Size, out: Path) -> Figures:
    """Return the figures of the updates."""
    found: Figures = dict.fromkeys(("host", "media", "gc", "pad", "erases"), 0.0)
    several = len(configuration.profiles) > 1
    for number in range(len(configuration.profiles)):
        folder = out / f"nvme{number}" if several else out
        device = Device(json.loads((folder / "device.json").read_text(encoding="utf-8")))
        job = device.job("update")
        if job is None:
            raise StudyError(f"{folder}: no part 'update'")
        add(found, job.account, device)
        found["seconds"] = (job.end_ns - job.begin_ns) / 1e9
    user = (size.batches - size.keys // BATCH) * BATCH * ROW
    found["host/user"], found["waf"] = found["host"] / user, found["media"] / found["host"]
    moved = _MOVED.search((out / "f2fs.txt").read_text(encoding="ascii", errors="replace"))
    found["moved"] = int(moved[1]) * F2FS_BLOCK if moved else 0
    for kind in ("put", "get"):
        samples = [int(line) for line in (out / f"update-{kind}.txt").read_text(encoding="ascii").split()]
        for permille in (500, 990, 999):
            found[f"{kind}{permille}"] = percentile(samples, permille)
    return found


COLUMNS: tuple[tuple[str, Callable[[Figures], str]], ...] = (
    ("host / user", lambda f: f"{f['host/user']:.3f}"),
    ("WAF", lambda f: f"{f['waf']:.4f}"),
    ("of it GC", lambda f: f"{f['gc'] / f['host']:.4f}"),
    ("padding", lambda f: f"{f['pad'] / f['host']:.4f}"),
    ("moved by f2fs, MiB", lambda f: f"{f['moved'] / MIB:.1f}"),
    ("erases", lambda f: f"{f['erases']:.0f}"),
    ("batch, ms: p50, p99, p99.9", lambda f: ", ".join(f"{f[f'put{q}'] / 1e6:.2f}" for q in (500, 990, 999))),
    ("seconds", lambda f: f"{f['seconds']:.2f}"),
    ("cuts survived", lambda f: str(f["cuts"])),
)


def table(rows: Iterable[tuple[Configuration, Figures]]) -> str:
    """Return the table for people."""
    lines = ["| drive | " + " | ".join(title for title, _ in COLUMNS) + " |", "|---" * (1 + len(COLUMNS)) + "|"]
    for configuration, found in rows:
        lines.append(f"| {configuration.says} | " + " | ".join(show(found) for _, show in COLUMNS) + " |")
    return "\n".join(lines) + "\n"


def write(out: Path, rows: list[tuple[Configuration, Figures]], size: Size) -> None:
    """Write the table for people, and the CSV."""
    out.mkdir(parents=True, exist_ok=True)
    keys = list(rows[0][1])
    with (out / "placement.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["configuration", *keys])
        for configuration, found in rows:
            writer.writerow([configuration.name, *(format(found[key], ".10g") if isinstance(found[key], float)
                                                   else found[key] for key in keys)])
    (out / "README.md").write_text(
        "<!-- SPDX-License-Identifier: GPL-2.0-or-later -->\n"
        "# RocksDB on the page FTL, with placement handles, and on zones\n\n"
        f"Made by `make study-placement`; [the page](study.md) explains it. {size.keys} keys; "
        f"the updates, {size.batches - size.keys // BATCH} batches.\n\n" + table(rows), encoding="utf-8")


def main(argv: list[str]) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description="RocksDB on three kinds of drives")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/results/placement", metavar="DIR")
    parser.add_argument("--work", type=Path, default=ROOT / "build/placement", metavar="DIR")
    for name, default in (("keys", 16000), ("batches", 7000), ("cuts", 2)):
        parser.add_argument(f"--{name}", type=int, default=default, metavar="N")
    parser.add_argument("--only", action="append", choices=[one.name for one in CONFIGURATIONS], metavar="NAME")
    args = parser.parse_args(argv)
    size = Size(args.keys, args.batches, args.cuts)
    if size.keys % BATCH or size.batches <= size.keys // BATCH:
        parser.error(f"--keys must be a multiple of {BATCH}, and --batches more than --keys / {BATCH}")
    args.work.mkdir(parents=True, exist_ok=True)
    rows: list[tuple[Configuration, Figures]] = []
    try:
        for configuration in CONFIGURATIONS:
            if args.only and configuration.name not in args.only:
                continue
            found = measure(configuration, size, load(configuration, size, args.work))
            verdicts = cut(configuration, size, args.work) if size.cuts else []
            rows.append((configuration, {**found, "cuts": f"{sum(verdicts)} of {len(verdicts)}"}))
            print(table(rows[-1:]).splitlines()[-1], flush=True)
        write(args.out, rows, size)
    except (StudyError, OSError) as error:
        print(f"reproduce placement: {error}", file=sys.stderr)
        return 1
    return 0

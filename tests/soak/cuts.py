#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Cut the power some 10,000 times under the works of 'slate cuts', and count what is left of their promises.

    cuts.py [--out DIR] [--only WORD] [--table]

A row of rows() is a campaign of 'slate cuts': a work, a drive, a number of cuts, and the verdicts that the promise of
the work allows. Each has its log in DIR (out/cuts), so a run that was stopped goes on where it was. DIR/table.md has
the counts of all logs there. --only takes the rows whose name has WORD; --table makes the table alone.

The exit status is 1 if a verdict is not one that the promise allows: the drive or the software broke it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SLATE = ROOT / "host-tools" / "slate"
SEED = 4700
NOTHING = "nothing may be lost"
LAST, ANY = "the last ones may be lost", "all may be lost or corrupt"
ALLOWED = {NOTHING: ("good",), LAST: ("good", "lost"), ANY: ("good", "lost", "torn", "inconsistent")}

# A drive is a profile with settings (without 'geometry.' and 'ftl.' here) and options; or several, N: of drive N.
DRIVES = {
    "small": ("small", "blocks_per_plane=16 pages_per_block=16 capacity_mib=10", ""),
    "capacitors": ("small", "blocks_per_plane=16 pages_per_block=16 capacity_mib=10 power_protected=yes", "--span 0.1"),
    "cached-map": ("small", "page_bytes=4096 oob_bytes=320 blocks_per_plane=64 pages_per_block=48 capacity_mib=36 "
                   "map_cache_pages=6", ""),
    "slc-dynamic": ("tlc-slc-small", "pages_per_block=24 capacity_mib=20", ""),
    "slc-static": ("tlc-slc-small", "pages_per_block=24 capacity_mib=20 slc_cache=static slc_blocks=3", ""),
    "flex": ("rps-small", "blocks_per_plane=64 pages_per_block=32 capacity_mib=12", ""),
    "rtf": ("rps-small", "type=rtf blocks_per_plane=64 pages_per_block=32 capacity_mib=12", ""),
    "parity": ("rps-small", "type=parity order=fps blocks_per_plane=64 pages_per_block=32 capacity_mib=12", ""),
    "dac": ("dac-small", "blocks_per_plane=16 pages_per_block=64 capacity_mib=12", ""),
    "dac-flex": ("dac-flex-small", "blocks_per_plane=64 pages_per_block=32 capacity_mib=12", ""),
    "superblock": ("superblock-small", "page_bytes=2048 oob_bytes=160 unit_bytes=2048 pages_per_block=192 "
                   "capacity_mib=10", "--span 10"),
    "pen": ("pen-small", "page_bytes=2048 oob_bytes=160 unit_bytes=2048 pages_per_block=192 capacity_mib=12",
            "--span 10"),
    "ippbe": ("ippbe-small", "blocks_per_plane=64 pages_per_block=32 gc_start_blocks=9 gc_stop_blocks=9", "--span 10"),
    "zones": ("zns-small", "pages_per_block=16 capacity_mib=64 zone_active_max=8 zone_open_max=8", ""),
    "zones-16m": ("zns-small", "blocks_per_plane=320 zone_blocks=4 capacity_mib=1024 buffer_units=960", "--span 3"),
    "xfs-zones": ("small zns-small", "0:blocks_per_plane=16 0:capacity_mib=40 1:pages_per_block=16 1:capacity_mib=64 "
                  "1:zone_active_max=8 1:zone_open_max=8", "--span 3"),
    "small-40": ("small", "blocks_per_plane=16 capacity_mib=40", ""),
    "small-128": ("small", "blocks_per_plane=36 capacity_mib=120", ""),
    "small-200": ("small", "blocks_per_plane=60 capacity_mib=200", ""),
}  # fmt: skip
GEOMETRY = ("blocks_per_plane", "pages_per_block", "page_bytes", "oob_bytes", "order")


@dataclass(frozen=True)
class Row:
    """Describes a campaign."""

    work: str  # of --ready; without a colon: the file system of the built-in work
    drive: str
    cuts: int
    promise: str = NOTHING
    options: str = ""

    @property
    def name(self) -> str:
        """Return the name of its log."""
        kind = self.options.split("--kind ")[1:]
        return "-".join([self.work.replace(":", "-"), self.drive, *(word.split()[0] for word in kind)])

    def command(self, log: Path) -> list[str]:
        """Return the command that makes its cuts, or the rest of them."""
        profile, settings, options = DRIVES[self.drive]
        words = ["--ready", self.work] if ":" in self.work else ["--fs", self.work]
        for setting in settings.split():
            drive, _, key = setting.rpartition(":")
            part = "geometry" if key.partition("=")[0] in GEOMETRY else "ftl"
            words += ["--set", f"{drive}{':' * bool(drive)}{part}.{key}"]
        words += [word for name in profile.split() for word in ("--profile", name)]
        return [str(SLATE), "cuts", *words, *options.split(), *self.options.split(), "--seed",
                str(SEED), "--count", str(self.cuts), "--log", str(log)]  # fmt: skip


def rows() -> list[Row]:
    """Return all campaigns. Most are checked here, without a boot, and have 256 cuts of a recording."""
    here, one = "--check-on-host", "--per-boot 1"  # no two devices of a boot may have the same identifiers
    drives = [name for name in DRIVES if not name.startswith(("small-", "zones", "xfs-"))]
    found = [Row(f"calls:{work}", drive, 256, options=here)
             for work in ("split-raw", "fsync-ext4") for drive in drives]  # fmt: skip
    found.append(Row("calls:atomic-raw", "capacitors", 256, options=here))
    found += [Row(f"sqlite:{variant}", "small-128", 16, sqlite(*variant.split("-")), "--span 3")
              for variant in ("wal-full", "delete-full", "truncate-full", "wal-normal")]  # fmt: skip
    found += [Row(f"postgres:{sync}", "small-200", 16, promise, "--span 3")
              for sync, promise in (("on", NOTHING), ("off", LAST), ("nofsync", ANY))]  # fmt: skip
    found += [Row(f"rocksdb:{sync}", "small-128", 16, promise, "--span 3")
              for sync, promise in (("sync", NOTHING), ("nosync", LAST), ("nowal", LAST))]  # fmt: skip
    found += [Row("calls:rename-ext4", drive, 256, options=here) for drive in drives]
    found += [Row("calls:fsync-ext4", "small", 256, promise, f"{here} --kind {kind}")
              for kind, promise in (("controller", NOTHING), ("lying", ANY))]  # fmt: skip
    found += [Row(f"calls:{way}-ext4", "small", 256, ANY if way == "lazy" else NOTHING, here)
              for way in ("fdatasync", "odsync", "osync", "dsync", "replace", "lazy")]  # fmt: skip
    for fs, drive in (("xfs", "small-40"), ("f2fs", "small-128")):
        found += [Row(work, drive, 64) for work in (fs, f"calls:fdatasync-{fs}", f"calls:rename-{fs}")]
    found += [Row(f"fio:{rw}", "small", 64) for rw in ("write", "randwrite")]
    found += [Row("calls:fsync-btrfs", "small-128", 16, options=one),
              Row("calls:fsync-btrfs1", "zones-16m", 16, options=one),
              Row("calls:fsync-btrfs", "small-128", 4, options=f"{one} --span 3 --states 8 --kind subset")]  # fmt: skip
    found += [Row(f"calls:{way}-zonedxfs", "xfs-zones", 8, options="--guest forky") for way in ("fsync", "rename")]
    found += [Row(f"calls:{way}-zonefs", "zones", 16) for way in ("fsync", "dsync")]
    found += [Row(f"calls:fsync-ext4-{layer}", "small-128", 16)
              for layer in ("crypt", "raid1", "raid5", "raid5ppl", "bcache")]  # fmt: skip
    found += [Row("calls:fsync-ext4", "small", 32, options=f"--kind {kind}")
              for kind in ("prefix", "subset", "torn", "recovery")]  # fmt: skip
    for journal in ("wal", "delete", "truncate", "persist", "memory", "off"):
        for sync in ("extra", "full", "normal", "off"):
            row = Row(f"sqlite:{journal}-{sync}", "small-128", 16, sqlite(journal, sync), "--span 3")
            found += [row] if row not in found else []
    return found


def sqlite(journal: str, sync: str) -> str:
    """Return what SQLite promises (host-tools/guest/cuts/sqlite.sh)."""
    if journal in ("memory", "off") or sync == "off":
        return ANY
    if sync == "normal":
        return LAST if journal == "wal" else ANY
    return LAST if (journal, sync) == ("delete", "full") else NOTHING


def cuts_of(log: Path) -> list[dict[str, Any]]:
    """Return the cuts of a log."""
    if not log.exists():
        return []
    text = log.read_text(encoding="utf-8")
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()[1:]]


def broken(row: Row, cuts: list[dict[str, Any]]) -> list[str]:
    """Return the ids of the cuts whose verdict the promise does not allow."""
    return [cut["id"] for cut in cuts if cut["verdict"] not in ALLOWED[row.promise]]


def table(found: list[tuple[Row, list[dict[str, Any]]]]) -> str:
    """Return the counts as a table."""
    names = ("lost", "torn", "inconsistent", "check failed")
    out = [f"| work | drive | promise | cuts | checked | {' | '.join(names)} | broken |", "|---|---|---|" + "---:|" * 7]
    total: Counter[str] = Counter()
    for row, cuts in found:
        if cuts:
            count = Counter(cut["verdict"] for cut in cuts)
            count.update(cuts=len(cuts), checked=sum(cut["operations"] for cut in cuts), broken=len(broken(row, cuts)))
            total += count
            kind = "".join(f", {kind}" for kind in row.options.split("--kind ")[1:])
            cells = [f"`{row.work}`", row.drive + kind, row.promise, *figures(count)]
            out.append(f"| {' | '.join(cells)} |")
    return "\n".join([*out, f"| all | | | {' | '.join(figures(total))} |"]) + "\n"


def figures(count: Counter[str]) -> list[str]:
    """Return the cells of a row's counts."""
    names = ("cuts", "checked", "lost", "torn", "inconsistent", "check failed", "broken")
    return [f"{count[name]:,}" for name in names]


def main() -> int:
    """Execute the command."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "cuts")
    parser.add_argument("--only", default="")
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    logs = {row: args.out / f"{row.name}.jsonl" for row in rows()}
    failed = False
    for row, log in logs.items() if not args.table else ():
        if args.only in row.name and len(cuts_of(log)) < row.cuts:
            began = time.monotonic()
            done = subprocess.run(row.command(log), capture_output=True, text=True, check=False)
            cuts = cuts_of(log)
            print(f"{row.name}: {len(cuts)} cuts, {time.monotonic() - began:.0f} s, "
                  f"broken: {', '.join(broken(row, cuts)) or 'none'}", flush=True)  # fmt: skip
            if len(cuts) < row.cuts:
                failed = True
                print(done.stderr[-2000:], flush=True)
    found = [(row, cuts_of(log)) for row, log in logs.items()]
    text = table(found)
    (args.out / "table.md").write_text(text, encoding="utf-8")
    print(text, end="")
    return 1 if failed or any(broken(row, cuts) for row, cuts in found) else 0


if __name__ == "__main__":
    sys.exit(main())

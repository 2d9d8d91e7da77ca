# SPDX-License-Identifier: GPL-2.0-or-later
"""Every FTL and GC mode gives, on short traces, the bytes that it gave before.

A refactoring must not change a figure. digests.json has digests of the parts of a replay's
JSON and of its lines for each request. A change that is meant to alter results records them
anew in a commit that says so:

    python3 tests/replay/test_digests.py --record

The correctness of the figures is for other tests.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support import ROOT, Case

DIGESTS = Path(__file__).resolve().parent / "digests.json"
PROFILES = ROOT / "nand-emu" / "profiles"
# The drive's keys and the trace's name may change without a change of behaviour; `mount` is younger than the digests.
LEFT_OUT = ("schema", "settings", "inputs", "drive", "mount")
ALONE = ("host", "gc", "nand", "wear")  # parts with a digest of their own; the others share one
SECTOR = 512
FPS = "geometry.order=fps"
SMALL_DAC = ("geometry.blocks_per_plane=24", "ftl.capacity_mib=60")
SMALL_FLEX = ("geometry.blocks_per_plane=32", "ftl.capacity_mib=64")
LARGER_FLEX = ("geometry.blocks_per_plane=36", "ftl.capacity_mib=72")  # rtf keeps more blocks open


@dataclass(frozen=True)
class Drive:
    """Describes a profile with changed settings; requests stay within the first `mib` MiB."""

    profile: str
    settings: tuple[str, ...] = ()
    mib: int = 200
    requests: int = 10000

    def words(self) -> list[str]:
        """Return the options for slate-replay."""
        found = ["--profile", str(PROFILES / f"{self.profile}.ini")]
        for setting in self.settings:
            found += ["--set", setting]
        return found


# The table has one row for each FTL, GC mode and other setting with its own path through the code.
DRIVES = {
    "page": Drive("small"),
    "page, whole runs of GC": Drive("small", ("ftl.gc_mode=blocking",)),
    "page, long slices": Drive("small", ("ftl.gc_slice_pages=16",)),
    "page, copyback": Drive("small", ("ftl.gc_copyback=yes", "geometry.copyback=yes")),
    "page, a frontier for GC": Drive("small", ("ftl.gc_frontier=shared",)),
    "page, one plane": Drive("small", ("ftl.multiplane=no",)),
    "page, GC of a plane at a time": Drive("small", ("ftl.gc_multiplane=no",)),
    "page, no buffer": Drive("small", ("ftl.buffer_units=0", "ftl.unit_bytes=16384")),
    "page, wear levelling": Drive("small", ("ftl.wl_threshold=1",)),
    "page, GC in idle time": Drive("small", ("ftl.idle_gc_permille=100", "ftl.idle_gc_ns=100000")),
    "page, suspension": Drive("small", ("timing.suspend_ns=5000", "timing.resume_ns=7000", "timing.suspends_max=4")),
    "page, bad blocks": Drive("small", ("reliability.factory_bad_permille=20", "reliability.endurance=30")),
    "page, a link": Drive("small", ("link.generation=3", "link.lanes=1")),
    "page, ssdsim": Drive("small", ("ftl.accounting=ssdsim",)),
    "page, TLC": Drive("tlc-small", mib=1600),
    "page, QLC": Drive("qlc-small", mib=1200),
    "page, Z-NAND": Drive("znand-small"),
    "spread": Drive("spread-small"),
    "spread, dma": Drive("spread-small", ("geometry.subpage=dma",)),
    "spread, none": Drive("spread-small", ("geometry.subpage=none",)),
    "ippbe": Drive("ippbe-small"),
    "ippbe, one block": Drive("ippbe-small", ("ftl.parallel_erase=no",)),
    "parity": Drive("rps-small", ("ftl.type=parity", FPS)),
    "rtf": Drive("rps-small", ("ftl.type=rtf", FPS)),
    "flex": Drive("rps-small"),
    "flex, fast pages for GC": Drive("rps-small", ("ftl.gc_pages=fast",)),
    "nftl": Drive("pen-small", ("ftl.pen=no",), requests=2500),
    "nftl, pen": Drive("pen-small", requests=2500),
    "nftl, sliced": Drive("pen-small", ("ftl.gc_mode=sliced",), requests=2500),
    "nftl, one merge": Drive("pen-small", ("ftl.pen_merges_max=1",), requests=2500),
    "superblock": Drive("superblock-small", ("ftl.pen=no",), requests=4000),
    "superblock, pen": Drive("superblock-small", ("ftl.pen=yes",), requests=4000),
    "superblock, parallel": Drive(
        "superblock-small", ("ftl.pen=no", "ftl.parallel_erase=yes", "geometry.erase_group_max=4"), requests=4000
    ),
    "superblock, sliced": Drive("superblock-small", ("ftl.gc_mode=sliced",), requests=4000),
    "dac": Drive("dac-small", SMALL_DAC, 58, 6000),
    "dac, dedup": Drive("dac-small", (*SMALL_DAC, "ftl.reduction=dedup"), 58, 6000),
    "dac, comp": Drive("dac-small", (*SMALL_DAC, "ftl.reduction=comp"), 58, 6000),
    "dac, dedup+comp": Drive("dac-small", (*SMALL_DAC, "ftl.reduction=dedup+comp"), 58, 6000),
    "dac, none": Drive("dac-small", (*SMALL_DAC, "ftl.reduction=none"), 58, 6000),
    "dac, flex": Drive("dac-flex-small", SMALL_FLEX, 62, 8000),
    "dac, parity": Drive("dac-flex-small", (*SMALL_FLEX, "ftl.frontiers=parity", FPS), 62, 8000),
    "dac, rtf": Drive("dac-flex-small", (*LARGER_FLEX, "ftl.frontiers=rtf", FPS), 70, 8000),
}


def trace(drive: Drive, seed: int) -> str:
    """Return reads, writes, trims and flushes of many sizes, in bursts, most of them in a fifth of the addresses."""
    draw = random.Random(seed)
    sectors = (drive.mib << 20) // SECTOR
    now = 0
    rows = ["# slate-trace 1"]
    for _ in range(drive.requests):
        now += draw.choice((0, 0, 0, 20_000, 300_000, 5_000_000))
        size = draw.choice((1, 8, 8, 8, 16, 32, 64, 256))
        start = draw.randrange(0, sectors - size)
        if draw.random() < 0.7:
            start //= 5
        start -= start % draw.choice((1, 8, 8, 8))
        kind = draw.choices(("write", "read", "trim", "flush"), (60, 34, 3, 3))[0]
        fua = " fua" if kind == "write" and draw.random() < 0.1 else ""
        where = "" if kind == "flush" else f" {start * SECTOR} {size * SECTOR}{fua}"
        rows.append(f"{now} 0 {kind}{where}")
    return "\n".join(rows) + "\n"


def digest(data: bytes) -> str:
    """Return a short digest. It only has to detect changes."""
    return hashlib.sha256(data).hexdigest()[:16]


class Digests(Case):
    """Replay on each drive: closed at a queue depth, open, and open on a drive that lost its power."""

    def parts(self, *args: Any) -> dict[str, str]:
        """Return a digest of each part of the JSON, and of the requests."""
        rows = self.folder / "rows.csv"
        done = self.call(*args, "--json", "-", "--csv", rows)
        rest = {key: part for key, part in json.loads(done.stdout).items() if key not in LEFT_OUT}
        found = {key: digest(json.dumps(rest.pop(key)).encode()) for key in ALONE}
        found["other parts"] = digest(json.dumps(rest).encode())
        return {**found, "requests": digest(rows.read_bytes())}

    def replays(self, name: str) -> dict[str, dict[str, str]]:
        """Return the digests to compare, for each way of replaying."""
        drive = DRIVES[name]
        path = self.file("trace.txt", trace(drive, 1))
        content = ("--check",) if name.startswith("dac") else ()
        kept = self.folder / "drive.slate"
        kept.unlink(missing_ok=True)
        ways = {
            "closed": (*drive.words(), *content, "--fill", 100, "--age", 1, "--closed", 8, path),
            "open": (*drive.words(), "--check=1000", "--read-back", "--fill", 90, "--age", 0.1, "--open", path),
        }
        found = {way: self.parts(*args) for way, args in ways.items()}
        self.call(*drive.words(), "--drive", kept, "--open", "--cut-at", 400_000_000, path)
        found["after a cut"] = self.parts("--drive", kept, "--closed", 4, "--limit", 500, path)
        return found

    def same(self, name: str) -> None:
        """Compare one drive's replays."""
        expected = json.loads(DIGESTS.read_text(encoding="utf-8")).get(name)
        self.assertIsNotNone(expected, f"{name}: not in {DIGESTS.name}; record it")
        for way, parts in self.replays(name).items():
            differ = [part for part in {**parts, **expected[way]} if parts.get(part) != expected[way].get(part)]
            self.assertEqual(differ, [], f"{name}, {way}: these parts of the replay have changed")

    def test_every_drive_is_there(self) -> None:
        """The file has no digest of a drive that is not replayed."""
        self.assertEqual(list(json.loads(DIGESTS.read_text(encoding="utf-8"))), list(DRIVES))


def _add(name: str) -> None:
    word = "".join(letter if letter.isalnum() else "_" for letter in name)
    setattr(Digests, f"test_{word}", lambda self: self.same(name))


for _name in DRIVES:
    _add(_name)


def record() -> None:
    """Write digests.json."""
    case = Digests("test_every_drive_is_there")
    found = {}
    with tempfile.TemporaryDirectory(prefix="slate-digests-") as folder:
        case.folder = Path(folder)
        for name in DRIVES:
            found[name] = case.replays(name)
    DIGESTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["--record"]:
        record()
    else:
        unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the output of slate-replay: JSON, CSV, series; --check, --recorded; signals and full disks."""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
from collections.abc import Iterator
from typing import Any

from support import FAULTY, RAND, READ, REPLAY, ROOT, TINY, WRITE, Case

sys.path.insert(0, str(ROOT / "host-tools"))
from slate_lib import counters, replayfile

# These columns of the drive's timeline are left out where they are 0.
FEATURES = {"suspends", "link_to_host_busy_ns", "link_to_drive_busy_ns", "core_busy_ns", "dram_busy_ns",
            "read_cache_hits", "read_ahead_units", "map_hits", "map_misses", "slc_pages", "slc_direct_pages",
            "slc_fold_units"}  # fmt: skip
NUMBER = (int, float)
BY_SOURCE = {name: int for name, source in counters.declared_sources().items() if source.shown == "ALWAYS"}
OPS = {name: BY_SOURCE for name in ("read", "program", "erase", "copyback")}
HOST = {
    "ios": int,
    "bytes": int,
    "errors": int,
    "iops": NUMBER,
    "bytes_per_s": NUMBER,
    "where_ns": {n: int for n in ("cell", "bus", "host_queue", "gc_queue", "buffer", "map", "other", "link")},
    "latency": {
        "min_ns": int,
        "max_ns": int,
        "sum_ns": int,
        "mean_ns": float,
        "percentiles_ns": {p: int for p in ("50", "90", "95", "99", "99.9", "99.99", "99.999", "100")},
        "histogram": list,
    },
}
INPUT = (
    {name: int for name in """bytes lines rows bad other passed_over other_devices requests backwards zero_size
    aligned folded scaled moved clipped split trims_left_out extent_bytes events_left_out flushes_left_out""".split()}
    | {
        "name": str,
        "format": str,
        "sha256": str,
        "several_devices": bool,
        "content": type(None),  # test_content.py has the other kind
    }
)
SCHEMA = {
    "schema": str,
    "drive": str,
    "ftl": str,
    "capacity_bytes": int,
    "replay": {
        "loop": str,
        "qd": int,
        "speed_millionths": int,
        "repeat": int,
        "limit": int,
        "warmup": int,
        "beyond": str,
        "align_bytes": int,
        "common_clock": bool,
        "think": bool,
    },
    "inputs": [INPUT],
    "requests": {n: int for n in ("submitted", "completed", "counted", "deepest_queue")},
    "time": {n: int for n in ("begin_ns", "end_ns", "idle_ns")},
    "host": {name: HOST for name in ("read", "write", "trim", "flush")},
    "waf": float,
    "raf": float,
    "raf_by": dict.fromkeys(("host", "merge", *BY_SOURCE), float),
    "gc": {
        n: int for n in """calls ns units_moved pages_moved blocks_erased blocks_erased_by_gc merges mmerges
        second_victims""".split()
    },
    "word_lines": {n: int for n in ("lsb_pages", "msb_pages", "parity_pages")},
    "wear_levelling": {n: int for n in ("blocks_levelled", "blocks_relocated", "units_moved")},
    "wear": {"aep": float, "vep": float}
    | {
        n: int
        for n in "pages page_erases page_erases_sq erase_count_max erase_count_sum retired_blocks".split()
    },
    "energy_nj": OPS | {"total": int},
    "nand": {"ops": OPS, "user_read_bytes": BY_SOURCE}
    | {
        n: int for n in """read_bytes partial_erases parallel_erases subpage_reads suspends corrected retries
        uncorrectable program_fails erase_fails disturbs disturb_lost programmed_pages damaged violations""".split()
    },
    "ftl_counts": {
        n: int for n in """host_units meta_units pad_units coalesced_units buffer_hit_units unwritten_units
        trimmed_units merge_reads merge_read_bytes fua_writes search_reads""".split()
    },
    "reduction": type(None),
    "busy": {
        "dies": [{"busy": NUMBER, "ns": BY_SOURCE}],
        "channels": [{"busy": NUMBER, "ns": BY_SOURCE}],
        "all_dies": NUMBER,
        "all_channels": NUMBER,
    },
    "map_bytes": int,
    "check": {n: int for n in ("invariant_checks", "sectors", "unknown", "wrong")},
    "recorded": type(None),
    "power": type(None),
    "series": {"interval_ns": int, "rows": list},
    "timeline": type(None),
    "settings": [str],
}
EVERY_OP = (
    "0 0 write 0 16384",
    "1 0 read 0 4096",
    "2 0 trim 0 8192",
    "3 0 flush",
    "600000 0 read 8192 4096",
    "2000000 0 read 0 4096",
)


class Report(Case):
    """Test the JSON and the CSV."""

    def match(self, value: Any, shape: Any, where: str = "root") -> None:
        """The JSON has exactly these keys and types."""
        if isinstance(shape, dict):
            self.assertIsInstance(value, dict, where)
            self.assertEqual(sorted(value), sorted(shape), where)
            for key, inner in shape.items():
                self.match(value[key], inner, f"{where}.{key}")
        elif isinstance(shape, list):
            self.assertTrue(value, where)
            for one in value:
                self.match(one, shape[0], f"{where}[]")
        else:
            self.assertIsInstance(value, shape, where)

    def test_schema(self) -> None:
        found = self.json("--open", "--interval", 1, "--check", self.native(*EVERY_OP))
        self.match(found, SCHEMA)
        self.assertEqual(found["schema"], "slate-replay-1")

    def test_the_schema_is_documented(self) -> None:
        # the page, and the headers that it names for the counters
        names = ("docs/replay.md", "ftl/common/ftl_counters.h", "nand-emu/nand_counters.h")
        words = set(re.findall(r"[a-z0-9_]+", "".join((ROOT / name).read_text(encoding="utf-8") for name in names)))

        def keys(shape: Any) -> Iterator[Any]:
            if isinstance(shape, list):
                yield from keys(shape[0])
            elif isinstance(shape, dict):
                for key, inner in shape.items():
                    yield key
                    yield from keys(inner)

        self.assertEqual([key for key in keys(SCHEMA) if not key[0].isdigit() and key not in words], [])

    def test_the_options_are_documented(self) -> None:
        text = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("replay.md", "traces.md"))
        options = re.findall(r"^  (--[a-z-]+)", self.call("--help").stdout, re.MULTILINE)
        self.assertGreater(len(options), 30)
        self.assertEqual([option for option in options if option not in text], [])

    def test_a_counter_reaches_the_report_by_its_name(self) -> None:
        """Counters in ftl_counts and nand need no list in the conversion to device.json."""
        found = self.json("--open", self.native(*EVERY_OP))
        found["ftl_counts"]["map_hits"] = 7
        found["nand"] |= {"toggles": 8, "toggle_ns": {source: i for i, source in enumerate(BY_SOURCE)}}
        total = replayfile.device(replayfile.checked(found))["total"]
        self.assertEqual((total["ftl"]["map-hits"], total["nand"]["toggles"]), (7, 8))
        by_source = total["nand"]["by-source"]
        self.assertEqual([by_source[source]["toggle-ns"] for source in BY_SOURCE], [*range(len(BY_SOURCE))])

    def test_figures(self) -> None:
        """40 units are written one by one, then 10 of them are read: each die executes 20 programs."""
        lines = [f"0 0 write {i * 4096} 4096" for i in range(40)] + [
            f"0 0 read {i * 8192} 512" for i in range(10)
        ]
        found = self.json(self.native(*lines))
        end = 40 * WRITE + 10 * READ
        self.assertEqual(found["time"], {"begin_ns": 0, "end_ns": end, "idle_ns": end})
        self.assertEqual((found["waf"], found["raf"]), (1.0, 8.0))
        write = found["host"]["write"]
        self.assertEqual((write["ios"], write["bytes"]), (40, 163840))
        self.assertAlmostEqual(write["iops"], 40e9 / end, places=3)
        self.assertAlmostEqual(write["bytes_per_s"], 163840e9 / end, places=0)
        self.assertEqual(write["where_ns"]["cell"], 40 * 100000)
        self.assertEqual(write["where_ns"]["bus"], 40 * 4096)
        self.assertEqual(set(write["latency"]["percentiles_ns"].values()), {WRITE})
        (bucket,) = write["latency"]["histogram"]
        self.assertTrue(bucket[0] <= WRITE < bucket[0] * 1025 / 1024 and bucket[1] == 40)
        self.assertEqual(found["nand"]["ops"]["read"]["host"], 10)
        self.assertEqual(found["energy_nj"]["program"]["host"], 40 * 50)
        self.assertEqual(found["energy_nj"]["total"], 40 * 50 + 10 * 7)
        busy = [die["ns"]["host"] for die in found["busy"]["dies"]]
        self.assertEqual(sum(busy), end)
        self.assertAlmostEqual(found["busy"]["all_dies"], 0.5)
        self.assertAlmostEqual(found["busy"]["all_channels"], 50 * 4096 / end / 2)
        self.assertEqual(found["map_bytes"] % 4, 0)
        self.assertGreaterEqual(found["map_bytes"], 1536 * 4)
        self.assertIn("ftl.payload=no", found["settings"])

    def test_read_amplification_by_cause(self) -> None:
        """8 pages are filled; then 6 reads of a sector, one of a page, a write of 1 KiB and one of a sector
        read pages or words.
        """
        lines = (
            [f"0 0 write {i * 4096} 4096" for i in range(8)]
            + [f"0 0 read {i * 4096 + 512} 512" for i in range(6)]
            + ["0 0 read 28672 4096", "0 0 write 0 1024", "0 0 write 7680 512"]
        )
        asked = 6 * 512 + 4096
        found = self.json(self.native(*lines))
        self.assertEqual(found["nand"]["user_read_bytes"]["host"], 9 * 4096)
        self.assertEqual(found["ftl_counts"]["merge_read_bytes"], 2 * 4096)
        self.assertAlmostEqual(found["raf_by"]["host"], 7 * 4096 / asked)
        self.assertAlmostEqual(found["raf_by"]["merge"], 2 * 4096 / asked)
        words = ("--set", "geometry.subpage=dma", "--set", "geometry.ecc_word_bytes=512")
        found = self.json(*words, "--set", "ftl.host_subpage_reads=yes", "--check", self.native(*lines))
        # The first write lacks 3 KiB of its page, the second 3.5 KiB.
        self.assertEqual(found["nand"]["user_read_bytes"]["host"], asked + 3072 + 3584)
        self.assertEqual(found["raf_by"]["host"], 1.0)
        self.assertAlmostEqual(found["raf_by"]["merge"], (3072 + 3584) / asked)
        self.assertAlmostEqual(sum(found["raf_by"].values()), 1.0 + (3072 + 3584) / asked)
        self.assertEqual(found["nand"]["subpage_reads"], 8)

    def test_the_three_ftls_of_spread(self) -> None:
        """The profiles differ in one line: shorter t_R and t_DMA, only a shorter t_DMA, or whole pages."""
        profile = ROOT / "nand-emu" / "profiles" / "spread-small.ini"
        lines = self.native("0 0 write 0 16384", "0 0 flush", "1000000 0 read 2048 2048")
        for subpage, cell, bus, amplification in (
            ("none", 99000, 20005, 8.0),
            ("dma", 99000, 2501, 1.0),
            ("spread", 35000, 2501, 1.0),
        ):
            found = self.json("--open", "--set", f"geometry.subpage={subpage}", lines, profile=profile)
            where = found["host"]["read"]["where_ns"]
            self.assertEqual((where["cell"], where["bus"]), (cell, bus), subpage)
            self.assertEqual(found["raf_by"]["host"], amplification, subpage)

    def test_wear_levelling(self) -> None:
        """Some data stay while one page is written again and again: wear levelling reduces the variance of
        wear to a quarter or less.
        """
        lines = [f"0 0 write {i * 4096} 4096" for i in range(1500)] + ["0 0 write 0 4096"] * 4000
        trace = self.native(*lines)
        rough = self.json(trace)
        even = self.json("--set", "ftl.wl_threshold=1", "--check", trace)
        self.assertEqual(set(rough["wear_levelling"].values()), {0})
        self.assertGreater(even["wear_levelling"]["units_moved"], 0)
        self.assertEqual(
            even["wear_levelling"]["units_moved"], even["nand"]["ops"]["program"]["wl"], "a page is a unit"
        )
        self.assertLess(even["wear"]["vep"], rough["wear"]["vep"] / 4)
        self.assertEqual(even["check"]["wrong"], 0)

    def test_a_name_that_is_no_utf8(self) -> None:
        trace = os.fsencode(self.native(*EVERY_OP)) + b"\xff"
        os.rename(self.folder / "native.txt", trace)
        done = subprocess.run(
            [REPLAY, "--profile", TINY, "--json", "-", trace], capture_output=True, check=True
        )
        self.assertTrue(json.loads(done.stdout)["inputs"][0]["name"].endswith("native.txt?"))

    def test_percentiles(self) -> None:
        """99 reads find an idle drive, and one waits behind a write."""
        lines = [f"{i * 1000000} 0 read 8192 4096" for i in range(1, 100)]
        trace = self.native("0 0 write 0 4096", "4096 0 read 0 512", *lines)
        rows = self.rows("--open", "--fill", 100, trace)
        found = self.json("--open", "--fill", 100, trace)["host"]["read"]["latency"]
        seen = sorted(row["latency_ns"] for row in rows if row["op"] == "read")
        self.assertEqual((found["min_ns"], found["max_ns"]), (seen[0], seen[-1]))
        self.assertEqual(found["sum_ns"], sum(seen))
        for name, value in found["percentiles_ns"].items():
            exact = seen[max(0, -(-len(seen) * round(float(name) * 10000) // 1000000) - 1)]
            self.assertTrue(exact <= value <= exact * 1025 // 1024, (name, exact, value))

    def test_gc(self) -> None:
        """A drive is overwritten four times: every figure follows from the array's own counts."""
        found = self.json("gen:rand4k,foot=6M,n=6144", "--fill", 100)
        programs = sum(found["nand"]["ops"]["program"].values())
        self.assertAlmostEqual(found["waf"], programs / 6144, places=9)
        self.assertGreater(found["waf"], 1)
        self.assertEqual(found["gc"]["pages_moved"], found["nand"]["ops"]["program"]["gc"])
        self.assertEqual(found["gc"]["units_moved"], found["nand"]["ops"]["program"]["gc"])
        self.assertEqual(found["gc"]["blocks_erased"], sum(found["nand"]["ops"]["erase"].values()))
        self.assertEqual(found["energy_nj"]["erase"]["gc"], 900 * found["nand"]["ops"]["erase"]["gc"])
        wear = found["wear"]
        self.assertEqual(wear["pages"], 2048)
        self.assertAlmostEqual(wear["aep"], wear["page_erases"] / 2048, places=9)
        self.assertAlmostEqual(wear["vep"], wear["page_erases_sq"] / 2048 - wear["aep"] ** 2, places=9)
        self.assertEqual(found["nand"]["violations"], 0)

    def test_series(self) -> None:
        """Intervals of 1 ms have the writes, then no event for 8 ms, then a read."""
        trace = self.native(
            *(f"{i * 200000} 0 write {i * 4096} 4096" for i in range(8)), "9500000 0 read 0 4096"
        )
        series = self.json("--open", "--interval", 1, trace)["series"]
        self.assertEqual(series["interval_ns"], 1000000)
        self.assertEqual([row["at_ns"] for row in series["rows"]], [0, 1000000, 9000000])
        first, second, last = series["rows"]
        self.assertEqual(
            first["write"],
            {"ios": 5, "bytes": 20480, "latency_sum_ns": 5 * WRITE, "latency_max_ns": WRITE},
        )
        self.assertEqual((second["write"]["ios"], last["read"]["ios"]), (3, 1))
        self.assertNotIn("write", last)
        self.assertEqual([row["nand_programs"] for row in series["rows"]], [5, 3, 0])
        self.assertEqual(last["nand_reads"], 1)

    def test_timeline(self) -> None:
        """Rows of 1 ms have the writes; a trim, which programs a page, a flush, a read; no event; a read."""
        trace = self.native(
            *(f"{i * 200000} 0 write {i * 4096} 4096" for i in range(5)),
            "1000000 0 trim 0 4096",
            "1100000 0 flush",
            "1200000 0 read 4096 4096",
            "3500000 0 read 8192 4096",
        )
        found = self.json("--open", "--timeline", trace)["timeline"]
        self.assertEqual((found["begin_ns"], found["interval_ns"], found["rows"]), (0, 1000000, 4))
        self.assertEqual(found["write"]["ios"], [5, 0, 0, 0])
        self.assertEqual(found["write"]["latency_sum_ns"], [5 * WRITE, 0, 0, 0])
        self.assertEqual(found["write"]["latency_max_ns"], [WRITE, 0, 0, 0])
        self.assertEqual(found["read"]["ios"], [0, 1, 0, 1])
        self.assertEqual(found["read"]["cell_ns"], [0, 10000, 0, 10000])
        self.assertEqual(found["read"]["bus_ns"], [0, 4096, 0, 4096])
        self.assertEqual((found["trim"]["ios"], found["flush"]["ios"]), ([0, 1, 0, 0], [0, 1, 0, 0]))
        drive = found["drive"]
        self.assertFalse(FEATURES & drive.keys())
        self.assertEqual((drive["host_units"], drive["nand_programs"]), ([5, 0, 0, 0], [5, 1, 0, 0]))
        self.assertEqual(drive["meta_units"], [0, 1, 0, 0])
        self.assertEqual((drive["nand_reads"], drive["nand_erases"]), ([0, 1, 0, 1], [0] * 4))
        self.assertEqual(drive["free_blocks"], [126] * 4)
        self.assertEqual([sum(row) for row in zip(*found["dies"])], [5 * WRITE, WRITE + READ, 0, READ])
        self.assertEqual([sum(row) for row in zip(*found["channels"])], [5 * 4096, 2 * 4096, 0, 4096])

    def test_timeline_after_the_warm_up(self) -> None:
        """The series adds up to the figures, which are the same without it; --read-back is in no count."""
        words = ("gen:rand4k,foot=6M,n=4000,read=400", "--closed", 7, "--warmup", 1500, "--fill", 100)
        plain, found = self.json(*words), self.json(*words, "--timeline", "--check", "--read-back")
        self.assertIsNone(plain["timeline"])
        line = found.pop("timeline")
        self.assertEqual(line["begin_ns"], found["time"]["begin_ns"])
        self.assertLessEqual(line["rows"], 512)
        self.assertEqual(sum(line["drive"]["gc_runs"]), found["gc"]["calls"])
        self.assertEqual(sum(line["drive"]["host_units"]), found["ftl_counts"]["host_units"])
        self.assertEqual(sum(line["drive"]["nand_reads"]), sum(found["nand"]["ops"]["read"].values()))
        self.assertEqual([sum(die) for die in line["dies"]], [sum(die["ns"].values()) for die in found["busy"]["dies"]])
        for key in ("host", "gc", "time", "busy", "ftl_counts", "nand"):
            self.assertEqual(found[key], plain[key], key)

    def test_timeline_of_features(self) -> None:
        """The columns of each feature add up to its counters; a drive without the feature lacks them."""
        plain = ("host_units", "gc_units", "wl_units", "pad_units", "meta_units", "gc_runs", "nand_reads",
                 "nand_programs", "nand_erases", "free_blocks")  # fmt: skip
        slc = ROOT / "nand-emu/profiles/tlc-slc-small.ini"
        seen: set[str] = set()
        for profile, settings, trace in (
            (TINY, "controller.cores=2 ftl.overhead_ns=500 controller.dram_mb_s=1024 controller.read_cache_units=32 "
                   "controller.read_ahead_units=16 link.generation=3", "gen:seq4k,foot=6M,n=3000,read=600"),
            (TINY, "timing.suspend_ns=1000 timing.resume_ns=1000 timing.suspends_max=2 ftl.suspend=all",
             "gen:rand4k,foot=6M,n=3000,read=600"),
            (TINY, "geometry.blocks_per_plane=512 ftl.capacity_mib=48 ftl.map_cache_pages=4",
             "gen:rand4k,foot=48M,n=3000,read=600"),
            (slc, "ftl.payload=no", "gen:seq128k,foot=600M,n=4800"),
            (slc, "ftl.payload=no ftl.slc_full=fold", "gen:seq128k,foot=600M,n=4800"),
        ):  # fmt: skip
            words = [word for one in settings.split() for word in ("--set", one)]
            found = self.json(*words, "--closed", 4, "--timeline", trace, profile=profile)
            counted = {**found["ftl_counts"], "suspends": found["nand"]["suspends"]}
            columns = {key: sum(column) for key, column in found["timeline"]["drive"].items() if key not in plain}
            self.assertEqual(columns, {key: counted[key] for key in columns})
            self.assertNotIn(0, columns.values())
            seen |= columns.keys()
            for key in FEATURES - columns.keys():
                self.assertEqual(counted.get(key, 0), 0, (settings, key))
        self.assertEqual(seen, FEATURES)

    def test_csv(self) -> None:
        rows = self.rows("--open", self.native(*EVERY_OP))
        self.assertEqual([row["request"] for row in rows], list(range(6)))
        parts = ("cell", "bus", "host_queue", "gc_queue", "buffer", "map", "other", "link")
        for row in rows:
            self.assertEqual(sum(row[f"{part}_ns"] for part in parts), row["latency_ns"])
            self.assertEqual((row["status"], row["stream"]), (0, 0))

    def test_csv_to_standard_output(self) -> None:
        """`--csv -` prints the rows of `--csv FILE`, and no summary after them."""
        args = ("--profile", TINY, "--open", self.native(*EVERY_OP), "--csv")
        path = self.folder / "rows.csv"
        self.call(*args, path)
        self.assertEqual(self.call(*args, "-").stdout, path.read_text(encoding="utf-8"))
        self.assertFalse((self.folder / "-").exists())
        self.refused("--profile", TINY, "--csv", "-", "--json", "-", self.native(*EVERY_OP), words=("name two",))

    def test_equal_runs(self) -> None:
        args = (
            "gen:rand4k,foot=6M,n=4000,read=400",
            "--closed",
            7,
            "--interval",
            5,
            "--fill",
            100,
            "--check",
        )
        texts = []
        for i in range(2):
            path = self.folder / f"{i}.csv"
            texts.append(
                (self.call("--profile", TINY, "--json", "-", "--csv", path, *args).stdout, path.read_bytes())
            )
        self.assertEqual(texts[0], texts[1])
        self.assertNotIn("wall", json.loads(texts[0][0]))
        self.assertIn("requests_per_s", self.json(*args, "--wall")["wall"])

    def test_payload(self) -> None:
        """All times are the same whether or not the drive keeps data."""
        args = ("gen:rand4k,foot=6M,n=4000,read=400", "--closed", 7, "--fill", 100)
        self.assertEqual(self.rows(*args), self.rows(*args, "--set", "ftl.payload=yes"))
        self.assertIn("keeps no data", self.call("--profile", TINY, *args).stdout)
        self.assertNotIn(
            "keeps no data", self.call("--profile", TINY, *args, "--set", "ftl.payload=yes").stdout
        )

    def test_a_drive_file(self) -> None:
        """A replay reads the data that an earlier replay wrote to the drive file."""
        drive = self.folder / "a.slate"
        wrote = self.native("0 0 write 0 16384", name="w")
        self.json("--drive", drive, wrote)
        read = self.native("0 0 read 0 16384", name="r")
        done = self.call("--drive", drive, "--ephemeral", "--json", "-", read)
        self.assertEqual(json.loads(done.stdout)["nand"]["ops"]["read"]["host"], 4)
        done = self.call("--drive", drive, "--ephemeral", "--check", "--json", "-", read)
        self.assertEqual(json.loads(done.stdout)["check"]["unknown"], 32)


class Check(Case):
    """Test that --check detects every fault, and reports no false one."""

    def setUp(self) -> None:
        super().setUp()
        lines = [f"0 0 write {i * 4096} 4096" for i in range(200)]
        lines += [f"0 0 write {i * 4096} 4096" for i in range(0, 200, 3)]
        self.trace = self.native(*lines, *(f"0 0 read {i * 4096} 4096" for i in range(200)))

    def test_a_drive_that_is_right(self) -> None:
        found = self.json("--check=50", self.trace)["check"]
        self.assertEqual(
            found, {"invariant_checks": 467 // 50 + 1, "sectors": 1600, "unknown": 0, "wrong": 0}
        )

    def test_deep_queues_and_every_operation(self) -> None:
        lines, x = [], 1
        for i in range(6000):
            x = x * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
            size, at = (x >> 40) % 24 + 1, (x >> 20) % 11000
            op = ("read", "write", "write", "trim", "read", "flush")[(x >> 52) % 6]
            lines.append(f"{i * 3000} 0 {op}" + ("" if op == "flush" else f" {at * 512} {size * 512}"))
        trace = self.native(*lines)
        for how in (("--closed", "16"), ("--open",)):
            for buffer in (0, 64):
                found = self.json(
                    *how, "--check", "--set", f"ftl.buffer_units={buffer}", "--fill", 50, trace
                )
                self.assertEqual(found["check"]["wrong"], 0)
                self.assertGreater(found["check"]["sectors"], 20000)

    def test_planted_faults(self) -> None:
        for fault in ("misplaced:102", "trimmed:102", "misplaced:201", "trimmed:267"):
            done = self.call(
                "--profile",
                TINY,
                "--check",
                self.trace,
                program=FAULTY,
                code=1,
                env={**os.environ, "FAULT": fault},
            )
            self.assertIn("--check: request ", done.stderr)
            self.assertRegex(done.stderr, r"(8|16) of 1600 sectors read were wrong")
        done = self.call("--profile", TINY, "--check", self.trace, program=FAULTY)
        self.assertIn("0 wrong", done.stdout)


class Recorded(Case):
    """Test that a replay of a recording repeats the recorded calls."""

    def setUp(self) -> None:
        super().setUp()
        self.recording = self.folder / "recording.txt"
        self.first = self.json(
            "gen:rand4k,foot=6M,n=3000,read=300", "--closed", 5, "--fill", 100, "--set", "ftl.buffer_units=16",
            "--record", self.recording,
        )  # fmt: skip

    def again(self, *args: Any, code: int = 0) -> Any:
        return self.call("--recorded", self.recording, *args, code=code)

    def test_equal(self) -> None:
        found = json.loads(self.again("--json", "-").stdout)
        self.assertEqual(found["recorded"], {"compared": 3000, "differed": 0, "commands_equal": True})
        for key in ("host", "nand", "gc", "energy_nj"):
            self.assertEqual(found[key], self.first[key], key)
        self.assertIn("0 differ; the array's commands are equal", self.again("--check").stdout)

    def test_from_the_arrival_times_alone(self) -> None:
        self.assertEqual(
            self.json("--open", "--fill", 100, "--set", "ftl.buffer_units=16", self.recording)["host"],
            self.first["host"],
        )

    def test_with_a_warm_up(self) -> None:
        """The report counts from the end of the warm-up, the recording counts all commands."""
        self.json("gen:rand4k,foot=6M,n=300", "--warmup", 100, "--record", self.recording)
        self.assertIn("0 differ; the array's commands are equal", self.again().stdout)
        self.assertIn("--warmup", self.again("--warmup", 100, code=2).stderr)

    def test_a_difference_is_told(self) -> None:
        text = self.recording.read_text(encoding="utf-8")
        line = re.search(r"^\d+ 0 done 1234 (\d+) 0$", text, re.MULTILINE)
        changed = line.group().replace(f" {line[1]} 0", f" {int(line[1]) + 1} 0")
        self.recording.write_text(text.replace(line.group(), changed), encoding="utf-8")
        said = self.again("--json", "-", code=1).stderr
        self.assertIn(f"request 1234: latency, ns, was {int(line[1]) + 1} and is {line[1]}", said)
        self.assertIn("1 of 3000 requests differ", said)

    def test_another_drive(self) -> None:
        self.assertIn("differ", self.again("--set", "timing.read_ns=10001", code=1).stderr)

    def test_no_recording(self) -> None:
        text = self.recording.read_text(encoding="utf-8")
        self.recording.write_text(text[: len(text) // 2].rpartition("\n")[0] + "\n", encoding="utf-8")
        self.assertIn("cut short", self.again(code=2).stderr)
        self.recording.write_text(f"{text}{1 << 62} 0 step\n", encoding="utf-8")
        self.assertIn("146 years", self.again(code=2).stderr)
        self.recording.write_text("# slate-trace 1\n0 0 flush\n", encoding="utf-8")
        self.assertIn("no recording", self.again(code=2).stderr)
        self.recording.write_text(text.replace("# state fresh", "# state mounted"), encoding="utf-8")
        self.assertIn("--drive", self.again(code=2).stderr)

    def test_a_damaged_head(self) -> None:
        """The message names the file and its fault, not only a line of a profile."""
        text = self.recording.read_text(encoding="utf-8")
        for was, now, word in (
            ("# set geometry.channels=", "# sex geometry.channels=", "geometry.channels is missing"),
            ("# set geometry.channels=", "# set geometry.channels=x", "geometry.channels = 'x"),
            ("# set geometry.channels=", "# set geometri.channels=", "no such section"),
        ):
            self.recording.write_text(text.replace(was, now), encoding="utf-8")
            said = self.again(code=2).stderr
            self.assertIn(f"{self.recording}: its '# set' lines describe no drive (", said)
            self.assertIn(word, said)
            self.assertIn("head is damaged: record again", said)

    def test_of_a_drive_file(self) -> None:
        """A recording of an existing drive is replayed on a copy of the drive made before it."""
        drive, copy = self.folder / "a.slate", self.folder / "b.slate"
        self.json("--drive", drive, "gen:rand4k,foot=6M,n=2000")
        shutil.copy(drive, copy)
        slower = ("--set", "timing.read_ns=20000", "--set", "ftl.buffer_units=8")
        work = ("gen:rand4k,foot=6M,n=3000,read=500,seed=2", "--record", self.recording)
        self.call("--drive", drive, *slower, *work)
        self.assertIn("--drive", self.again(code=2).stderr)
        done = self.again("--drive", copy, "--ephemeral", "--json", "-")
        self.assertEqual(
            json.loads(done.stdout)["recorded"], {"compared": 3000, "differed": 0, "commands_equal": True}
        )
        # The drive's content has changed by now.
        self.assertIn("differ", self.again("--drive", drive, "--ephemeral", code=1).stderr)

    def test_where_it_cannot_be_written(self) -> None:
        done = self.call("--profile", TINY, "gen:rand4k,foot=1M,n=9", "--record", "none/a", code=2)
        self.assertIn("recording none/a", done.stderr)


class Ends(Case):
    """Test signals and full disks, and the files that are left behind."""

    def test_interrupted(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen(
                [
                    REPLAY,
                    "--profile",
                    RAND,
                    "--csv",
                    "a.csv",
                    "--json",
                    "a.json",
                    "gen:rand4k,foot=3G,n=900000000",
                ],
                cwd=self.folder,
                stderr=subprocess.PIPE,
                text=True,
            )
            while not (self.folder / "a.csv.part").exists():
                time.sleep(0.01)
            process.send_signal(number)
            said = process.communicate(timeout=30)[1]
            self.assertEqual(process.returncode, 130)
            self.assertIn("interrupted", said)
            self.assertEqual(os.listdir(self.folder), [])

    def test_progress(self) -> None:
        """A terminal shows the number of requests, the rate, and the remaining time."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [REPLAY, "--profile", RAND, "gen:rand4k,foot=3G,n=900000000"], cwd=self.folder, stderr=theirs
        )
        os.close(theirs)
        said = b""
        while b"s left" not in said:
            said += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)
        os.close(ours)
        self.assertRegex(said.decode(), r"\d+ k requests, \d+ k/s, 0\.\d %, \d+ s left")

    def test_full_disk(self) -> None:
        trace = self.native(*EVERY_OP)
        for word in ("--json", "--csv"):
            done = self.call("--profile", TINY, trace, word, "/dev/full", code=1)
            self.assertIn(f"{word} /dev/full: No space left", done.stderr)
        (self.folder / "recording.part").symlink_to("/dev/full")
        done = self.call("--profile", TINY, trace, "--record", "recording", code=1)
        self.assertIn("recording recording: No space left", done.stderr)
        self.assertFalse((self.folder / "recording").exists())
        with open("/dev/full", "w", encoding="utf-8") as full:
            for words in ((), ("--json", "-")):
                done = subprocess.run(
                    [REPLAY, "--profile", TINY, trace, *words],
                    stdout=full,
                    stderr=subprocess.PIPE,
                    text=True,
                    check=False,
                )
                self.assertEqual(done.returncode, 1)
                self.assertIn("standard output", done.stderr)

    def test_nothing_half_written(self) -> None:
        """If a trace turns out to be bad at its end, no report is written, and the old one stays."""
        trace = self.file("a", "0 0 0 8 0\n" * 1000 + "bad\n")
        names = ("old.json", "old.csv", "old.txt")
        for name in names:
            self.file(name, "old")
        before = sorted(os.listdir(self.folder))
        self.call("--profile", TINY, trace, "--json", names[0], "--csv", names[1], "--record", names[2], code=1)
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        for name in names:
            self.assertEqual((self.folder / name).read_text(encoding="utf-8"), "old")

    def test_places_that_are_not_there(self) -> None:
        trace = self.native(*EVERY_OP)
        self.refused("--profile", TINY, trace, "--csv", "none/a.csv", words=("--csv none/a.csv", "directory"))
        self.refused("--profile", TINY, trace, "--json", "none/a", words=("--json none/a", "directory"))
        self.refused("--profile", TINY, trace, "--json", "a", "--csv", "a", words=("name two",))
        for option in ("--json", "--csv"):
            self.refused("--profile", TINY, trace, "--record", "a", option, "a", words=("--record", "name another"))

    def test_slate_replay_is_the_same(self) -> None:
        done = subprocess.run(
            [ROOT / "host-tools" / "slate", "replay", "--profile", TINY, self.native(*EVERY_OP)],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("6 requests", done.stdout)


if __name__ == "__main__":
    unittest.main()

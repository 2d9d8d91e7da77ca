# SPDX-License-Identifier: GPL-2.0-or-later
"""Test slate report and slate compare of replays: their figures are those of the JSON."""

import csv
import functools
import json
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
from pathlib import Path
from typing import Any

from support import RAND, REPLAY, ROOT, TINY, Case

sys.path[:0] = [str(ROOT / "host-tools"), str(ROOT / "tests")]

from pages import CHROMIUM, Tables, browse
from slate_lib import compare, figures, htmlreport, reports, runfiles
from slate_lib.errors import SlateError

PROFILES = ROOT / "nand-emu" / "profiles"
GOLDEN = ROOT / "tests" / "launcher" / "golden"
WORDS = ("--closed", 8, "--fill", 100, "--age", 1, "gen:rand4k,foot=100M,n=6000,read=300")


@functools.cache
def made(profile: Path, *words: Any) -> str:
    """Return the text of a replay's JSON."""
    line = [REPLAY, "--profile", profile, "--json", "-", *words]
    return subprocess.run(list(map(str, line)), capture_output=True, text=True, check=True, timeout=120).stdout


@functools.cache
def page_of(*words: Any) -> tuple[Any, str]:
    """Return the JSON and the page of a replay on small.ini."""
    text = made(PROFILES / "small.ini", *WORDS, *words)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "replay.json"
        path.write_text(text)
        return json.loads(text), htmlreport.render(runfiles.load(path))


def csv_of(html: str, name: str) -> list[list[list[str]]]:
    """Return the tables of the CSV beside a chart."""
    (link,) = re.findall(rf'download="{name}\.csv" href="data:text/csv,([^"]*)"', html)
    return [list(csv.reader(table.splitlines())) for table in urllib.parse.unquote(link).split("\n\n")]


class Replays(Case):
    """Each test has a folder for its files."""

    def file(self, text: str, name: str = "replay.json") -> Path:  # type: ignore[override]  # a report, not a trace
        """Write the JSON of a replay to a file."""
        path = self.folder / name
        path.write_text(text)
        return path

    def slate(self, *words: Any) -> subprocess.CompletedProcess[str]:
        """Run the launcher."""
        line = [ROOT / "host-tools" / "slate", *words]
        return subprocess.run(list(map(str, line)), capture_output=True, text=True, check=False, timeout=120)

    def text(self, raw: Any) -> str:
        """Return the report of a JSON as text."""
        return reports.of(runfiles.load(self.file(json.dumps(raw)))).text()


class Page(Replays):
    """slate report --html."""

    def setUp(self) -> None:
        super().setUp()
        self.raw, self.html = page_of("--timeline")
        self.tables = Tables(self.html).tables

    def numbers(self, table: Any) -> dict[str, list[float]]:
        """Return the cells of each operation, by numbers."""
        return {row[1][0]: [float(cell[1]) for cell in row[2:] if cell[1]] for row in self.tables[table] if row}

    def test_latencies(self) -> None:
        shown = self.numbers("latency")
        self.assertEqual(list(shown), ["read", "write"])
        for op, found in shown.items():
            host = self.raw["host"][op]
            points = host["latency"]["percentiles_ns"]
            self.assertEqual(found[:3], [host["ios"], host["iops"], host["bytes_per_s"]])
            self.assertEqual(found[3], host["latency"]["sum_ns"] / host["ios"])
            self.assertEqual(found[4:], [points["50"], points["99"], points["99.9"], host["latency"]["max_ns"]])

    def test_parts(self) -> None:
        for op, found in self.numbers("parts").items():
            host = self.raw["host"][op]
            self.assertEqual(found[0], host["latency"]["sum_ns"] / host["ios"])
            for ns, part in zip(found[1:], ("cell", "bus", "host_queue", "gc_queue", "buffer", "map", "other")):
                self.assertEqual(ns, host["where_ns"][part] / host["ios"], part)
            self.assertAlmostEqual(sum(found[1:8]), found[0], places=3)
            self.assertAlmostEqual(found[8], self.raw["busy"]["all_dies"], places=9)
            self.assertAlmostEqual(found[9], self.raw["busy"]["all_channels"], places=9)

    def test_the_drive(self) -> None:
        told = {row[0][0]: row[1][0] for row in self.tables["drive"]}
        raw = self.raw
        self.assertTrue(told["WAF"].startswith(f"{raw['waf']:.3f} = "))
        self.assertTrue(told["RAF"].startswith(f"{raw['raf']:.3f} "))
        self.assertIn(f"host {raw['raf_by']['host']:.3f}, gc {raw['raf_by']['gc']:.3f}", told["RAF"])
        self.assertTrue(told["GC"].startswith(f"{raw['gc']['calls']:,} runs moved "))
        self.assertIn(f"{raw['gc']['blocks_erased']:,} in this run; wear: mean {raw['wear']['aep']:.2f} (AEP)",
                      told["erases"])
        self.assertTrue(told["dies"].startswith(f"{100 * raw['busy']['all_dies']:.1f} % busy"))
        self.assertIn("6,000 requests in ", told["replay"])
        self.assertEqual(told["trace"], f"{WORDS[-1]}: generated, 6,000 requests")

    def test_what_is_drawn(self) -> None:
        labels = [attrs["aria-label"] for tag, attrs in Tables(self.html).tags if tag == "svg"]
        self.assertEqual(labels, [
            "Latency of whole run: share of I/Os by latency", "IOPS and latency of whole run over time",
            "Mean latency by cause", "Programmed by cause, and free blocks, over time",
            "Write amplification over time", "I/Os inside the drive by what they wait for, over time",
            "How busy each die was over time", "How busy each channel was over time",
        ])  # fmt: skip
        _, html = page_of("--interval", 5)
        labels = [attrs["aria-label"] for tag, attrs in Tables(html).tags if tag == "svg"]
        self.assertEqual(labels, [
            "Latency of whole run: share of I/Os by latency", "IOPS and latency of whole run over time",
            "Mean latency by cause", "How busy each die was, by cause", "How busy each channel was, by cause",
            "Programmed by cause, and free blocks, over time", "Write amplification over time",
        ])  # fmt: skip
        self.assertIn("replay with --timeline", html)
        _, html = page_of()
        self.assertEqual(len([tag for tag, _ in Tables(html).tags if tag == "svg"]), 4)

    def test_the_charts_agree_with_the_text(self) -> None:
        """The bytes programmed, summed over the rows, are the text's WAF of what the host wrote."""
        for name in ("small", "dac-small", "dac-flex-small"):
            for over in (("--timeline",), ("--interval", 5)):
                with self.subTest(name=name, over=over[0]):
                    words = ("--closed", 8, "--fill", 100, *over, "gen:rand4k,foot=60M,n=4000,content=similar")
                    run = runfiles.load(self.file(made(PROFILES / f"{name}.ini", *words)))
                    shown = reports.of(run)
                    programmed = sum(sum(column) for *_, column in figures.causes(run.series, shown.device))
                    written = sum(run.series.part().column("write", "bytes"))
                    self.assertAlmostEqual(programmed / written, shown.device.waf()["total"], places=9)

    def test_features_are_drawn(self) -> None:
        """With a cached map, cores and a link, the shares of each interval are those of the JSON's columns."""
        words = ("controller.cores=2", "ftl.overhead_ns=500", "link.generation=3", "geometry.blocks_per_plane=512",
                 "ftl.capacity_mib=48", "ftl.map_cache_pages=4")  # fmt: skip
        settings = [word for one in words for word in ("--set", one)]
        text = made(TINY, *settings, "--closed", 4, "--fill", 100, "--timeline", "gen:rand4k,foot=48M,n=3000,read=600")
        html = htmlreport.render(runfiles.load(self.file(text)))
        labels = [attrs["aria-label"] for tag, attrs in Tables(html).tags if tag == "svg"]
        caches, busy = "Share of each cache's hits over time", "How busy controller and link were over time"
        self.assertEqual([label for label in labels if label in (caches, busy)], [caches, busy])
        drive = json.loads(text)["timeline"]["drive"]
        (shown,) = csv_of(html, "Caches")
        self.assertEqual(shown[0], ["drive's time, s", "map look-ups in memory"])
        for row, hits, misses in zip(shown[1:], drive["map_hits"], drive["map_misses"], strict=True):
            self.assertAlmostEqual(float(row[1]), hits / (hits + misses), places=4)
        (shown,) = csv_of(html, "Controller-and-link")
        self.assertEqual(shown[0], ["drive's time, s", "cores", "link to the host", "link to the drive"])
        ns = json.loads(text)["timeline"]["interval_ns"]
        for row, cores in zip(shown[1:-1], drive["core_busy_ns"][:-1], strict=True):
            self.assertAlmostEqual(float(row[1]), cores / 2 / ns, places=4)

    @unittest.skipUnless(CHROMIUM, "chromium is not there")
    def test_a_browser_has_nothing_to_say(self) -> None:
        for words in (("--timeline",), ("--interval", 5)):
            _, html = page_of(*words)
            done, asked = browse(html)
            self.assertEqual([line for line in done.stderr.splitlines() if "CONSOLE" in line], [])
            self.assertEqual(Tables(done.stdout).tables, Tables(html).tables)
            self.assertEqual(asked, set())

    def test_where_it_goes(self) -> None:
        """The page is written beside the JSON, and never over it."""
        path = self.file(json.dumps(self.raw))
        done = self.slate("report", path, "--html")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual((self.folder / "replay.html").read_text(), self.html)
        done = self.slate("report", path, "--html", path)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("replay.json is there, and is no page", done.stderr)
        self.assertEqual(json.loads(path.read_text()), self.raw)


class Text(Replays):
    """slate report."""

    def test_the_same_waf_for_every_ftl(self) -> None:
        """The numbers of pages programmed by each cause add up to the total."""
        kinds = ("", "pen-", "superblock-", "rps-", "dac-", "dac-flex-", "ippbe-")
        for name in (f"{kind}small" for kind in kinds):
            with self.subTest(name=name):
                words = ("--closed", 8, "--fill", 100, "gen:rand4k,foot=60M,n=4000,content=similar")
                path = self.file(made(PROFILES / f"{name}.ini", *words))
                shown = reports.of(runfiles.load(path))
                raw = json.loads(path.read_text())
                self.assertAlmostEqual(shown.device.waf()["total"], raw["waf"], places=9)
                self.assertIn(f"\nWAF       {raw['waf']:.3f} = ", shown.text())
                for row in shown.rows:
                    points = raw["host"][row.op]["latency"]["percentiles_ns"]
                    for share, ns in points.items():
                        self.assertEqual(row.drive.percentile_ns(float(share) * 10), ns, share)

    def test_head(self) -> None:
        raw = json.loads(made(PROFILES / "small.ini", *WORDS))
        head = self.text(raw).splitlines()[0]
        self.assertEqual(" ".join(head.split()), "gen:rand4k,foot=100M,n=6000,read=300 on small 256 MiB · page FTL · "
                         "filled 100 %, aged 1x · closed loop, QD 8")
        raw["replay"] |= {"loop": "open", "speed_millionths": 2500000, "beyond": "fold"}
        raw["inputs"] = raw["inputs"] * 3
        self.assertRegex(self.text(raw), "^3 traces on small .* · open loop, speed 2.5, folded\n")

    def test_alarms(self) -> None:
        raw = json.loads(made(TINY, "--check", "gen:rand4k,foot=1M,n=100,read=1000"))
        text = " ".join(self.text(raw).split())
        self.assertIn("! reads found 100 units of 4 KiB that were never written or were trimmed", text)
        self.assertIn("Fill the drive first (--fill 100).", " ".join(text.split()))
        self.assertIn("check 800 sectors read, 0 wrong, 0 of unknown content", text)
        raw["check"]["wrong"], raw["nand"]["violations"], raw["host"]["read"]["errors"] = 2, 3, 4
        raw["recorded"] = {"compared": 9, "differed": 1, "commands_equal": True}
        text = " ".join(self.text(raw).split())
        for said in ("2 sectors read were wrong", "the FTL broke NAND rules 3 times", "the drive failed 4 of 100 reads",
                     "1 of 9 answers differ"):
            self.assertIn(f"! {said}", text)

    def test_a_latency_beyond_the_histogram(self) -> None:
        raw = json.loads(made(TINY, "gen:rand4k,foot=1M,n=2"))
        raw["host"]["write"]["latency"] |= {"histogram": [[1 << 48, 2]], "max_ns": 1 << 60}
        row = reports.of(runfiles.load(self.file(json.dumps(raw)))).rows[0]
        self.assertEqual(row.drive.percentile_ns(500), 1 << 60)


class Compare(Replays):
    """Test slate compare of replays, and of replays with guests."""

    def test_two(self) -> None:
        text = made(PROFILES / "small.ini", *WORDS)
        one, two = self.file(text, "one.json"), self.file(made(RAND, *WORDS), "two.json")
        found = compare.Comparison([runfiles.load(one), runfiles.load(two)])
        self.assertEqual(found.names, ["one", "two"])
        raws = [json.loads(path.read_text()) for path in (one, two)]
        lines = {(group.name, line.what): line.values for group in found.groups for line in group.lines}
        for op in ("read", "write"):
            hosts = [raw["host"][op] for raw in raws]
            name = f"whole run {op}"
            self.assertEqual(lines[name, "IOPS"], [host["iops"] for host in hosts])
            self.assertEqual(lines[name, "drive p99"], [host["latency"]["percentiles_ns"]["99"] for host in hosts])
        self.assertEqual(lines["whole run", "GC runs"], [raw["gc"]["calls"] for raw in raws])
        for ours, theirs in zip(lines["whole run", "WAF"], [raw["waf"] for raw in raws]):
            self.assertAlmostEqual(ours, theirs, places=9)
        self.assertIn("Latency of whole run read in each run", compare.render(found))

    def test_with_a_guest(self) -> None:
        """A replay and a run are compared by the drive's figures for all I/O, which both have."""
        replay = self.file(made(PROFILES / "small.ini", *WORDS))
        found = compare.Comparison([runfiles.load(replay), runfiles.load(GOLDEN)])
        total = json.loads((GOLDEN / "device.json").read_text())["total"]
        group = next(group for group in found.groups if group.name == "whole run write")
        mean = next(line for line in group.lines if line.what == "drive mean, µs")
        self.assertEqual(mean.values[1], total["write"]["latency-sum-ns"] / total["write"]["ios"])
        differs = dict(found.differs)
        self.assertEqual(differs["traces"], [WORDS[-1], "-"])
        self.assertEqual(differs["qd"], ["8", "-"])
        self.assertNotIn("traces", dict(compare.Comparison([runfiles.load(GOLDEN)] * 2).differs))
        self.assertRegex(compare.text(found, False), r"(?m)^ +replay +golden$")


class BadFiles(Replays):
    """Test messages that name the fault and the fix."""

    def setUp(self) -> None:
        super().setUp()
        self.raw = json.loads(made(TINY, "--open", "--interval", 1, "--timeline", "gen:rand4k,foot=1M,n=40,gap=200000"))

    def refused(self, said: str) -> None:  # type: ignore[override]  # the reader refuses, not slate-replay
        with self.assertRaises(SlateError) as caught:
            runfiles.load(self.file(json.dumps(self.raw)))
        self.assertIn("replay.json is not what slate-replay writes with --json: ", str(caught.exception))
        self.assertIn(said, str(caught.exception))

    def test_other_files(self) -> None:
        with self.assertRaisesRegex(SlateError, "its schema is not slate-replay-1"):
            runfiles.load(GOLDEN / "device.json")
        with self.assertRaisesRegex(SlateError, "cut short or no JSON"):
            runfiles.load(TINY)

    def test_what_does_not_fit(self) -> None:
        good = json.dumps(self.raw)
        for where, to, said in (
            (("host", "write", "ios"), 0, "'host.write.latency' does not go with its I/Os"),
            (("host", "write", "latency"), None, "'host.write.latency' does not go with its I/Os"),
            (("host", "write", "latency", "histogram"), [[1]], "'host.write.latency' does not go"),
            (("host", "read"), [], "'host.read' is no object"),
            (("busy", "dies", 0, "ns", "gc"), "1", "'busy.dies[0].ns.gc' is not a whole number"),
            (("series", "interval_ns"), 0, "'series.interval_ns' is 0"),
            (("timeline", "rows"), 1 << 40, "'timeline.rows' is more than 512"),
            (("timeline", "rows"), 3, "its columns do not have 3 rows each"),
            (("timeline", "drive"), None, "'timeline.drive' is no object"),
            (("timeline", "dies"), [[1]], "its columns do not have 8 rows each"),
            (("settings",), None, "'settings' is no list"),
        ):
            with self.subTest(where=where):
                self.raw = inner = json.loads(good)
                for key in where[:-1]:
                    inner = inner[key]
                inner[where[-1]] = to
                self.refused(said)

    def test_free_blocks_that_are_not_told(self) -> None:
        self.raw["timeline"]["drive"]["free_blocks"] = None
        path = self.file(json.dumps(self.raw))
        self.assertIn("Programmed by cause", htmlreport.render(runfiles.load(path)))

    def test_intervals_of_a_week(self) -> None:
        """Sparse rows are joined to at most 512."""
        rows = self.raw["series"]["rows"]
        self.raw["timeline"] = None
        self.raw["series"]["rows"] = [*rows, {**rows[0], "at_ns": 7 * 24 * 3600 * 10**9}]
        series = runfiles.load(self.file(json.dumps(self.raw))).series
        self.assertLessEqual(series.rows, 512)
        self.assertEqual(sum(series.raw["write"]["ios"]), 40 + rows[0]["write"]["ios"])
        self.assertEqual(series.raw["write"]["latency-max-ns"][-1], rows[0]["write"]["latency_max_ns"])

    def test_by_the_command(self) -> None:
        done = self.slate("report", TINY)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "^slate: can not read .*tiny.ini: it is cut short or no JSON")
        path = self.file(json.dumps(self.raw))
        for words in (("report", path), ("compare", path, path)):
            done = self.slate(*words)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("replay", done.stdout)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""A report's page has the content of the files, and a browser reports no fault.

golden/ is a run of tests/guest/determinism.fio on small.ini, aged once.
"""

import base64
import contextlib
import csv
import functools
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

from support import ROOT

from pages import CHROMIUM, Tables, browse
from slate_lib import (
    charts,
    cli,
    compare,
    figures,
    htmlreport,
    live,
    options,
    page,
    report,
    rows,
    runfiles,
    series,
    units,
    watch,
)
from slate_lib import run as slate_run
from slate_lib.account import label_of
from slate_lib.charts import Chart, Charts
from slate_lib.errors import SlateError

GOLDEN = Path(__file__).parent / "golden"


def raw(name: str) -> Any:
    return json.loads((GOLDEN / name).read_text())


def _hash_of(element: str) -> str:
    """Return the hash by which a policy names the script in an element."""
    script = element.partition("<script>")[2].partition("</script>")[0]
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@functools.cache
def page_of_golden() -> str:
    """Return the page of the golden run, which takes some seconds."""
    return htmlreport.render(runfiles.load(GOLDEN))


class Markup(unittest.TestCase):
    """A report shows markup in a name as text."""

    NAME = "<script>x</script>\"'&"

    def rendered(self, **more: Any) -> str:
        table = page.Table(self.NAME, ("", self.NAME))
        table.add(self.NAME, [(self.NAME, 1.5), self.NAME])
        chart = Chart("<svg></svg>")
        chart.csv = self.NAME
        figure = page.Figure(chart, self.NAME, self.NAME, self.NAME)
        blocks: list[page.Block] = [
            table,
            page.Charts([figure]),
            page.Cards(2 * [page.Card(self.NAME, [figure])]),
            page.Sentence(self.NAME),
        ]
        sections = [page.Section(self.NAME, self.NAME, blocks)]
        return page.render(self.NAME, [self.NAME], sections, **{"alarms": [self.NAME], "notes": [self.NAME], **more})

    def test_every_place_is_escaped(self) -> None:
        text = self.rendered()
        self.assertNotIn("<script", text)
        self.assertEqual(text.count("<svg></svg>"), 3)
        # These parts have the name: title, h1, facts; h2, about; nav: section, two cards; table: id, head, name, two
        # cells and one's head; three figures: title, about; two cards; sentence; alarm, note. Data and file have none.
        self.assertEqual(text.count("&lt;script&gt;x&lt;/script&gt;&#34;&#39;&amp;"), 3 + 2 + 3 + 6 + 6 + 2 + 1 + 2)

    @unittest.skipUnless(CHROMIUM, "chromium is not there")
    def test_a_click_on_a_heading_sorts(self) -> None:
        """By value, not by text; cells without a number come last. The policy refuses every script but sort.js."""
        table = page.Table("t", ("name", "time", "words"), sorts=True)
        for name, value, words in (("b", 9.0, "z"), ("a", 10.0, "x"), ("d", None, "y"), ("c", 8.5, "w")):
            table.add(name, [(f"{value} us" if value else "-", value), words], link=f"runs/{name}.html")
        text = page.render("Sorted", [], [page.Section("One", blocks=[table])])
        click = '<script>document.querySelectorAll("th")[{}].click();</script></body>'
        for clicks, wanted in (((), "badc"), ((1,), "cbad"), ((1, 1), "abcd"), ((2,), "cadb"), ((2, 0), "abcd")):
            with self.subTest(clicks=clicks):
                more = "".join(click.format(at) for at in clicks)
                done, _ = browse(text + more)
                self.assertEqual("CONSOLE" in done.stderr, bool(clicks), "the page's policy refuses other scripts")
                hashes = "".join(f" 'sha256-{_hash_of(click.format(at))}'" for at in dict.fromkeys(clicks))
                done, _ = browse(text.replace("script-src", f"script-src{hashes}") + more)
                self.assertNotIn("CONSOLE", done.stderr)
                rows = Tables(done.stdout).tables["t"][1:]
                self.assertEqual("".join(row[0][0] for row in rows), wanted)
        self.assertEqual([attrs["href"] for tag, attrs in Tables(text).tags if tag == "a"],
                         [f"runs/{name}.html" for name in "badc"])  # fmt: skip

    def test_nothing_is_blank_by_mistake(self) -> None:
        with self.assertRaisesRegex(Exception, "has no attribute"):
            page.render("a", [], [page.Section("b", blocks=[mock.Mock(kind="table", spec=["kind"])])])


class Page(unittest.TestCase):
    """slate report --html."""

    def setUp(self) -> None:
        self.run_ = runfiles.load(GOLDEN)
        self.text = page_of_golden()
        self.tables = Tables(self.text).tables

    def test_latencies_are_fios_and_the_drives(self) -> None:
        table = [row for row in self.tables["latency"] if row]
        shown = {}
        job = ""
        for name, kind, by, *cells in table:
            job = name[0] or job
            shown[job, kind[0], by[0]] = [float(value) if value else None for _, value in cells]
        for found in raw("fio.json")["jobs"]:
            for kind in ("read", "write"):
                data = found[kind]
                if not data["total_ios"]:
                    continue
                self.assertEqual(
                    shown[found["jobname"], kind, "guest"][:4],
                    [data["total_ios"], data["iops"], data["bw_bytes"], data["lat_ns"]["mean"]],
                )
                self.assertEqual(shown[found["jobname"], kind, "guest"][8], data["lat_ns"]["max"])
        marks = raw("device.json")["marks"]
        psync = next(m for m in marks if m["label"] == "psync" and m["kind"] == "end")["account"]["read"]
        self.assertEqual(shown["psync", "read", "drive"][0], psync["ios"])
        self.assertEqual(shown["psync", "read", "drive"][3], psync["latency-sum-ns"] / psync["ios"])
        self.assertEqual(shown["psync", "read", "drive"][8], psync["latency-max-ns"])

    def test_the_parts_add_up_to_the_guests_mean(self) -> None:
        seen = 0
        for row in self.tables["parts"]:
            if not row or row[3][1] in (None, "None"):
                continue
            guest, *parts = [float(cell[1]) for cell in row[2:11]]
            self.assertAlmostEqual(guest, sum(parts), places=3)
            seen += 1
        self.assertGreaterEqual(seen, 1)

    def test_the_drives_lines_are_the_text_reports(self) -> None:
        text = report.Report(self.run_.device, self.run_.fio, self.run_.record).text()
        for name, told in [[cell[0] for cell in row] for row in self.tables["drive"]]:
            self.assertIn(f"{name:<10}{told}".rstrip(), text)

    def test_what_limited_each_job(self) -> None:
        """test_limits.py computes these by hand."""
        told = {row[0][0]: row for row in self.tables["limits"] if row}
        cells = {job: (row[1][0], row[2][1], row[5][0], row[6][0]) for job, row in told.items()}
        self.assertEqual(
            cells,
            {
                "psync": ("depth", "1", "20 %", "latency 72 % cell; busiest die 46 % busy"),
                "deep": ("die", "32", "50 %", "dies 100 % busy"),
                "beside": ("die", "1", "30 %", "dies 99 % busy"),
            },
        )
        self.assertAlmostEqual(float(told["psync"][4][1]), 36_774_000 / 43_809_112, places=12)
        parts = [row for row in self.tables["parts"] if row]
        self.assertEqual([row[-1][0] for row in parts], ["20 %", *["50 %"] * 3, *["30 %"] * 3])

    def test_a_run_without_processors_has_a_page(self) -> None:
        """Older runs, and runs in real time, have no processor times."""
        run = runfiles.load(GOLDEN)
        del run.device["processors"], run.series.raw["processors"]
        for mark in run.device["marks"]:
            del mark["processors"]
        found = Tables(htmlreport.render(run))
        labels = [attrs["aria-label"] for tag, attrs in found.tags if tag == "svg"]
        self.assertTrue(any(label.startswith("How busy each channel") for label in labels))
        self.assertFalse(any("processor" in label for label in labels))
        self.assertEqual(next(row for row in found.tables["limits"] if row and row[0][0] == "psync")[5][0], "-")

    def test_what_is_drawn(self) -> None:
        labels = [attrs["aria-label"] for tag, attrs in Tables(self.text).tags if tag == "svg"]
        for start in (
            "Latency of deep",
            "IOPS and latency of deep",
            "Mean latency",
            "Programmed",
            "I/Os inside",
            "How busy each die",
            "How busy each channel",
            "How busy each processor",
            "Erases of each",
            "Valid units",
        ):
            self.assertTrue(any(label.startswith(start) for label in labels), start)
        ids = [attrs["id"] for tag, attrs in Tables(self.text).tags if "id" in attrs]
        self.assertEqual(len(ids), len(set(ids)))

    def test_nothing_is_fetched_or_run(self) -> None:
        for tag, attrs in Tables(self.text).tags:
            self.assertNotIn(tag, ("script", "iframe", "object"))
            for key in ("src", "href", "xlink:href"):
                self.assertRegex(attrs.get(key, "#"), "^(#|data:)")
        self.assertNotRegex(self.text, r"url\((?!#)|@import|#00000[12]|#0000a\d")

    def test_a_chart_is_the_same_bytes_each_time(self) -> None:
        one = figures.wear(Charts(), self.run_.blocks, "erases", "Erases")
        self.assertEqual(one, figures.wear(Charts(), self.run_.blocks, "erases", "Erases"))

    @unittest.skipUnless(CHROMIUM, "chromium is not there")
    def test_a_browser_has_nothing_to_say(self) -> None:
        done, asked = browse(self.text)
        self.assertEqual([line for line in done.stderr.splitlines() if "CONSOLE" in line], [])
        self.assertEqual(Tables(done.stdout).tables, self.tables)
        self.assertEqual(asked, set())

    @unittest.skipUnless(CHROMIUM, "chromium is not there")
    def test_a_browser_would_say_so(self) -> None:
        """The check in the test above can fail."""
        done, asked = browse('<script>console.error("x")</script><img src="http://slate.invalid/a.png">')
        self.assertIn("CONSOLE", done.stderr)
        self.assertEqual(asked, {"http://slate.invalid/a.png"})

    CUT_OFF = """<script>
const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
while (words.nextNode()) {
  range.selectNodeContents(words.currentNode);
  if (words.currentNode.parentNode.tagName != "SCRIPT" && range.getBoundingClientRect().right > innerWidth)
    console.error("CUT OFF " + words.currentNode.data);
}
</script>"""

    @unittest.skipUnless(CHROMIUM, "chromium is not there")
    def test_a_narrow_screen_cuts_nothing_off(self) -> None:
        """All text ends within the screen, though a table that is too wide scrolls in its box."""
        script = self.text.replace("default-src 'none'", "default-src 'unsafe-inline'")
        longest = "latency 79 % path; busiest channel 100 % busy; dies 100 % behind buffer"
        self.assertIn('id="limits"', script)
        page = re.sub(r"(?<=<td>)[^<]*(?=</td></tr>)", longest, script).replace("</body>", self.CUT_OFF + "</body>")
        self.assertGreaterEqual(page.count(longest), 3)
        self.assertEqual([line for line in browse(page)[0].stderr.splitlines() if "CONSOLE" in line], [])
        wide = page.replace("</style>", "td { white-space: nowrap !important }</style>")
        self.assertIn("CUT OFF latency 79", browse(wide)[0].stderr)

    def of_a_job(self, name: str) -> Any:
        """Make a run of one job of that name."""
        run = runfiles.load(GOLDEN)
        run.series = run.blocks = None
        run.fio = {"jobs": [{**run.fio["jobs"][0], "jobname": name}]}
        label = label_of(raw("fio.json")["jobs"][0]["jobname"])
        marks = [{**mark, "label": label_of(name)} for mark in run.device["marks"] if mark["label"] == label]
        run.device = {**run.device, "marks": marks}
        return run

    def test_any_name_of_a_job(self) -> None:
        """A job's name may have special characters of regular expressions, formulas, legends and fonts."""
        for name in ("a\\d\\1", "$x", "$\\bad{$", "_x", "\u6e2c\u8a66", "<b>&\"'", "x" * 300, ""):
            with self.subTest(name=name), warnings.catch_warnings():
                warnings.simplefilter("error")
                found = Tables(htmlreport.render(self.of_a_job(name)))
                self.assertEqual([tag for tag, _ in found.tags if tag == "b"], ["b"] * 3)
                self.assertEqual(found.tables["latency"][1][0][0], name)
                labels = [attrs["aria-label"] for tag, attrs in found.tags if tag == "svg"]
                self.assertEqual(labels[:2], [f"Latency of {name}: share of I/Os by latency", "Mean latency by cause"])

    def test_contents_lead_to_every_heading(self) -> None:
        tags = Tables(self.text).tags
        ids = [attrs["id"] for _, attrs in tags if "id" in attrs]
        self.assertEqual(len(ids), len(set(ids)), "no id twice")
        heads = [attrs["id"] for tag, attrs in tags if tag in ("h2", "h3")]
        links = [attrs["href"] for tag, attrs in tags if tag == "a" and "download" not in attrs]
        self.assertEqual(links, [f"#{head}" for head in heads])
        jobs = [job["jobname"] for job in raw("fio.json")["jobs"]]
        self.assertEqual(re.findall(r'<h3 id="[^"]*">([^<]*)</h3>', self.text), jobs)

    def test_a_jobs_charts_are_in_one_card(self) -> None:
        cards = self.text.split('<section class="card">')[1:]
        for job, card in zip(("psync", "deep", "beside"), cards):
            drawn = list(re.findall(r'aria-label="([^"]*)"', card.partition("</section>")[0]))
            self.assertEqual(
                drawn, [f"Latency of {job}: share of I/Os by latency", f"IOPS and latency of {job} over time"]
            )

    def data(self, file: str) -> Any:
        """Return the CSV beside a chart: tables of rows."""
        (link,) = re.findall(rf'download="{file}\.csv" href="data:text/csv,([^"]*)"', self.text)
        return [list(csv.reader(table.splitlines())) for table in urllib.parse.unquote(link).split("\n\n")]

    def test_every_chart_has_its_data(self) -> None:
        self.assertEqual(self.text.count('class="csv"'), self.text.count("<svg "))
        drive, guest = self.data("psync-Share-of-I-Os-up-to-a-latency")
        self.assertEqual((drive[0], guest[0]), (["us", "read, drive"], ["us", "read, guest"]))
        found = next(job for job in raw("fio.json")["jobs"] if job["jobname"] == "psync")["read"]["lat_ns"]
        self.assertEqual((float(guest[-1][0]), float(guest[-1][1])), (float(f"{found['max'] / 1000:.5g}"), 1.0))
        (rows,) = self.data("psync-Over-time-by-the-drive")
        self.assertEqual(rows[0], ["drive's time, s", "read IOPS", "read mean, us", "read longest, us"])
        seconds = raw("series.json")["interval-ns"] / 1e9
        self.assertEqual(round(sum(float(row[1]) for row in rows[1:]) * seconds), found["N"])

    def test_tips(self) -> None:
        told = re.findall(r"<title>([^<]*)</title>", self.text)
        psync = next(row for row in rows.build(raw("device.json"), raw("fio.json")) if row.job == "psync")
        shown = units.us(psync.guest.percentile_ns(990))
        self.assertTrue(any(words.startswith("read, guest: p50 ") and f"p99 {shown}," in words for words in told))
        self.assertTrue(any(re.fullmatch(r"psync read: cell \d+\.\d %, 99\.0 µs", words) for words in told), told)
        self.assertRegex("\n".join(told), r"\d\.\d{3} s: read [\d,]+ IOPS, mean 122\.6, longest 122\.6 µs")

    def test_a_narrow_screen_has_the_heads(self) -> None:
        """If the head of a table is not shown, each number has its own label; paper is narrow and shows heads."""
        self.assertEqual(re.findall(r"@media ([^{]*max-width[^{]*) {", self.text), ["screen and (max-width: 46rem)"])
        for tag, attrs in Tables(self.text).tags:
            if tag == "td" and "data-v" in attrs:
                self.assertTrue(attrs["data-h"])

    def test_processors_have_whole_numbers(self) -> None:
        """A map of one processor has the label 0, not parts of a processor."""
        (svg,) = re.findall(r'<svg [^>]*aria-label="How busy each processor.*?</svg>', self.text, re.DOTALL)
        words = re.findall(r"<text[^>]*>(?:<[^>]*>)*([^<]*)<", svg)
        processors = len(raw("series.json")["processors"])
        self.assertEqual(processors, 1)
        self.assertNotRegex(" ".join(words), "[-−]0", words)

    def test_it_is_small(self) -> None:
        self.assertLess(len(self.text.encode()), 400_000)

    def test_a_name_is_no_html(self) -> None:
        run = runfiles.load(GOLDEN)
        run.record["settings"]["job"] = "<script>alert(1)</script>&.fio"
        run.series = run.blocks = None
        run.fio, run.device = None, {**run.device, "marks": []}
        text = htmlreport.render(run)
        self.assertNotIn("<script", text)
        self.assertIn("no series.json", text)


class Series(unittest.TestCase):
    """Test series.json and the figures made from it."""

    def test_rows_add_up_to_the_account(self) -> None:
        found, total = raw("series.json"), raw("device.json")
        for op in ("read", "write", "trim", "flush"):
            self.assertEqual(sum(found[op]["ios"]), total["total"][op]["ios"], op)
            self.assertEqual(sum(found[op]["latency-sum-ns"]), total["total"][op]["latency-sum-ns"], op)
        for key in ("gc-runs", "gc-units", "host-units", "pad-units"):
            self.assertEqual(sum(found["drive"][key]), total["total"]["ftl"][key], key)
        self.assertEqual([sum(die) for die in found["dies"]], [sum(die.values()) for die in total["dies"]])
        self.assertEqual(sum(raw("blocks.json")["erases"]), total["total"]["nand"]["erase-count-sum"])

    def test_text_is_json(self) -> None:
        found = raw("series.json")
        self.assertEqual(series.text(found), (GOLDEN / "series.json").read_text())

    def test_the_log_by_columns(self) -> None:
        import struct

        words = list(range(48)) + list(range(100, 110)) + [0, 6] + [7, 8, 9]
        rows_ = struct.pack("<63Q", *words) * 2
        head = struct.pack("<IHHQQQQIIIIIII12x", 0x474F4C53, 1, 0xD7, 80 + len(rows_), 5, 3, 1000, 2, 504, 4, 12,
                           12, 2, 1)
        found = series.decode_series(head + rows_)
        self.assertEqual((found["begin-ns"], found["interval-ns"], found["rows"]), (3, 1000, 2))
        self.assertEqual(found["write"]["latency-max-ns"], [15, 15])
        self.assertEqual(found["drive"]["free-blocks"], [109, 109])
        self.assertNotIn("suspends", found["drive"])  # 0 throughout
        self.assertEqual(found["drive"]["link-to-host-busy-ns"], [6, 6])
        self.assertEqual((found["dies"], found["channels"]), ([[7, 7], [8, 8]], [[9, 9]]))
        with self.assertRaises(ValueError):
            series.decode_series(head[:-1] + rows_)

    def test_busy_time_is_carried_over(self) -> None:
        found = series.Series(
            {"rows": 4, "begin-ns": 0, "interval-ns": 100, "dies": [[250, 0, 0, 30]], "channels": []}, 400
        )
        self.assertEqual(found.busy("dies"), [[1.0, 1.0, 0.5, 0.3]])

    def test_a_part_of_it(self) -> None:
        found = series.Series({"rows": 5, "begin-ns": 0, "interval-ns": 100, "a": {"b": [0, 1, 2, 3, 4]}}, 450)
        self.assertEqual(found.part(150, 300).column("a", "b"), [1, 2])
        self.assertEqual(found.part(420, 9999).column("a", "b"), [4])
        self.assertEqual(found.edge(5), 450)


class Live(unittest.TestCase):
    """Test the progress line on a terminal."""

    def test_from_counters(self) -> None:
        before = live.Counters(1_000_000_000, 100, 4096, 1, 0)
        now = live.Counters(1_500_000_000, 1100, 8192, 6, 3)
        self.assertEqual(live.words(None, before, 4096, 0), " · 1.00 s of guest time · WAF 1.00")
        self.assertEqual(
            live.words(before, now, 4096, 2.0), " · 1.50 s of guest time (0.25x) · 2,000 IOPS · WAF 3.00 · GC 3 runs"
        )


class Terminal(io.StringIO):
    """Claims to be a terminal, so that progress is shown."""

    def isatty(self) -> bool:
        return True


class Shown(unittest.TestCase):
    """Progress is shown only on a terminal."""

    def draw(self, stream: Any) -> str:
        with mock.patch.object(sys, "stderr", stream), Charts().figure([], "Latency of x") as axes:
            axes.plot([1, 2])
        return str(stream.getvalue())

    def test_charts(self) -> None:
        self.assertEqual(self.draw(io.StringIO()), "")
        self.assertEqual(
            self.draw(Terminal()),
            "\r\033[Kpage      loading matplotlib\r\033[K"
            "\r\033[Kpage      chart 1: Latency of x\r\033[K",
        )

    def test_a_cache_that_can_not_be_written(self) -> None:
        """If the cache cannot be written, as for another user, matplotlib makes one elsewhere without a message."""
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [ROOT / "host-tools/slate", "report", GOLDEN, "--html", f"{folder}/a.html"],
                capture_output=True, text=True, check=False, env={**os.environ, "MPLCONFIGDIR": "/proc/none"},
            )
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_drive_that_is_being_filled(self) -> None:
        run = slate_run.Run.__new__(slate_run.Run)
        run.options = options.RunOptions(profile=Path("small.ini"), fill=100.0, age=2.0)
        for seconds, shown in (
            (0.5, ""),
            (5.2, "\r\033[Kqemu      starting, drive filled to 100 % and aged 2x: 5 s so far"),
        ):
            run.started = time.monotonic() - seconds
            terminal = Terminal()
            run.progress = watch.Progress(terminal, run.started)
            run._tell_start()
            self.assertEqual(terminal.getvalue(), shown)


class Compare(unittest.TestCase):
    """slate compare."""

    def test_figures_and_ratios(self) -> None:
        other = runfiles.load(GOLDEN)
        other.device = json.loads(json.dumps(other.device))
        other.device["total"]["ftl"]["gc-runs"] *= 2
        other.record["settings"]["seed"] = 7
        found = compare.Comparison([runfiles.load(GOLDEN), other])
        line = next(line for line in found.groups[-1].lines if line.what == "GC runs")
        runs = raw("device.json")["total"]["ftl"]["gc-runs"]
        self.assertEqual(line.values, [runs, 2 * runs])
        text = compare.text(found, False)
        self.assertRegex(text, rf"GC runs +{runs} +{2 * runs} \(2\.00x\)")
        self.assertEqual(found.differs, [("seed", ["1", "7"])])
        table = Tables(compare.render(found)).tables["compare"]
        cells = next(row for row in table if row and row[0][0].strip() == "GC runs")
        self.assertEqual([float(cell[1]) for cell in cells[1:]], [runs, 2 * runs])

    def test_inputs_that_differ(self) -> None:
        """The page has every setting, version and checksum of run.json, except the launcher's Python."""
        first, other = runfiles.load(GOLDEN), runfiles.load(GOLDEN)
        first.record.update(versions={"python": "3.11", "qemu": "10.0", "fio": "3.33"}, sha256={"initrd": "cd" * 32})
        other.record.update(versions={"python": "3.99", "qemu": "99.0", "fio": "3.33"}, sha256={"initrd": "ab" * 32})
        other.record["settings"].update(kernel_args=["nohz=off"], mem_bytes=2 << 30)
        found = compare.Comparison([first, other])
        told = {key: values[1] for key, values in found.differs}
        self.assertEqual(
            told,
            {
                "kernel_args": "['nohz=off']",
                "mem_bytes": str(2 << 30),
                "version of qemu": "99.0",
                "sha256 of initrd": "abababababab",
            },
        )

    def test_nothing_differs(self) -> None:
        text = compare.text(compare.Comparison([runfiles.load(GOLDEN), runfiles.load(GOLDEN)]), False)
        self.assertIn("nothing that the runs record: equal settings, versions and checksums of the inputs", text)

    def test_what_limited_each(self) -> None:
        """The other run's psync job had a processor that was busy for twice as long."""
        other = runfiles.load(GOLDEN)
        at = {("psync", "end"): 797_523_644}
        for mark in other.device["marks"]:
            mark["processors"] = [at.get((mark["label"], mark["kind"]), mark["processors"][0])]
        other.record["settings"]["cpu_rate"] = "2"
        found = compare.Comparison([runfiles.load(GOLDEN), other])
        lines = {(group.name, line.what): line.values for group in found.groups for line in group.lines}
        self.assertEqual([round(float(share), 7) for share in lines["psync read", "vCPU busy"]], [0.2, 0.4])
        self.assertEqual(lines["deep write", "limit"], ["die", "die"])
        self.assertEqual(found.differs, [("cpu_rate", ["4", "2"])])
        text = compare.text(found, False)
        self.assertRegex(text, r"vCPU busy +20\.0 % +40\.0 % \(2\.00x\)\n  limit +depth +depth\n")
        cells = [row for row in Tables(compare.render(found)).tables["compare"] if row and row[0][0].strip() == "limit"]
        self.assertEqual([cell[0] for cell in cells[0][1:]], ["depth", "depth"])

    def test_runs_without_a_common_job(self) -> None:
        one, other = runfiles.load(GOLDEN), runfiles.load(GOLDEN)
        said = "no job is in two of the runs: only the whole runs compare"
        self.assertNotIn(said, compare.text(compare.Comparison([one, other]), False))
        other.fio = {"jobs": [{**job, "jobname": f"x-{job['jobname']}"} for job in other.fio["jobs"]]}
        other.device = {**other.device, "marks": []}
        found = compare.Comparison([one, other])
        self.assertIn(f"\n{said}\n", compare.text(found, False))
        self.assertIn(said, compare.render(found))

    def test_any_name_of_a_folder(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            names = ["_one", "$two", "x" * 200, os.fsdecode(b"\xff")]
            for name in names:
                shutil.copytree(GOLDEN, Path(folder) / name)
            page = Path(folder) / "page.html"
            runs = [Path(folder) / name for name in names]
            with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), errors="replace")):
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    compare.run(runs, page)
            text = page.read_text(encoding="utf-8")
        long = "x" * 47 + "\N{HORIZONTAL ELLIPSIS}"
        for legend in ("\N{ZERO WIDTH SPACE}_one", "$two", long, "\N{REPLACEMENT CHARACTER}"):
            self.assertIn(f">{legend}</text>", text)

    def test_a_cdf_ends_at_all(self) -> None:
        row = next(row for row in rows.build(raw("device.json"), raw("fio.json")) if row.drive)
        xs, ys = figures.cdf(row.drive)
        self.assertEqual((ys[0], ys[-1], xs[-1]), (1.0, 0.0, row.drive.latency_max_ns / 1000))
        self.assertEqual((xs, ys), (sorted(xs), sorted(ys, reverse=True)))


class LatencyAxis(unittest.TestCase):
    """Test the logarithmic axis of latencies, in µs."""

    RANGES = (
        (122.6, 128.7), (100, 100), (2, 5), (3.2, 650), (60, 3000), (3.2, 8000), (9.9, 410), (0.05, 2_100_000),
        (7, 700_000), (990, 1001), (0.001, 90_000_000),
    )  # fmt: skip
    OVERLAPS = """<script>
for (const svg of document.querySelectorAll("svg")) {
    const all = [...svg.querySelectorAll("text")].map(one => [one.textContent, one.getBoundingClientRect()]);
    all.forEach(([a, p], at) => all.slice(at + 1).forEach(([b, q]) => {
        const rows = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top); // boxes hold the space between lines, too
        if (p.right > q.left && q.right > p.left && rows > 0.4 * Math.min(p.height, q.height))
            console.error("OVERLAP", a, "|", b, "|", svg.getAttribute("aria-label"));
    }));
}</script>"""

    def test_names_beside_bars(self) -> None:
        """A long name keeps both of its ends."""
        self.assertEqual(charts.short("sequential-write-of-1MiB"), "sequential-write-of-1MiB")
        self.assertEqual(charts.short("sequential-write-of-64KiB"), "sequential-w…te-of-64KiB")

    def test_ends_and_ticks(self) -> None:
        for low, high, ends, ticks in (
            (122.6, 128.7, (100, 200), [100, 120, 150, 200]),
            (100, 100, (100, 200), [100, 120, 150, 200]),
            (200, 201, (200, 500), [200, 250, 300, 400, 500]),
            (99.9, 100.1, (50, 200), [50, 100, 200]),
            (60, 3000, (50, 5000), [50, 100, 200, 500, 1000, 2000, 5000]),
            (60, 5001, (50, 10000), [100, 1000, 10000]),
            (3.2, 8000, (2, 10000), [10, 100, 1000, 10000]),
        ):
            found = charts.log_ticks(low, high)
            self.assertEqual([f"{at:g}" for at in (*found[0], *found[1])], [f"{at:g}" for at in (*ends, *ticks)])

    def test_rules(self) -> None:
        """The ends enclose the data at less than one step's distance, and 3 to 12 sorted ticks lie inside."""
        for low, high in self.RANGES:
            (first, last), ticks = charts.log_ticks(low, high)
            self.assertTrue(first <= low < first * 2.5001 and last / 2.5001 <= high <= last, (low, high, first, last))
            self.assertTrue(3 <= len(ticks) <= 12 and ticks == sorted(ticks), (low, high, ticks))
            self.assertTrue(first <= ticks[0] and ticks[-1] <= last, (low, high, ticks))
            self.assertTrue(all(f"{tick:e}"[0] in "12345678" for tick in ticks), ticks)

    @unittest.skipUnless(CHROMIUM, "chromium is not there")
    def test_no_text_of_a_chart_is_on_another(self) -> None:
        made = Charts()
        out: list[str] = []
        for low, high in self.RANGES[:8]:
            with made.figure(out, f"across, {low} to {high}", 1, figures.TALL) as axes:
                figures.draw_cdf(made, axes, [([low, high], [1.0, 0.0], {"label": "a"})])
            with made.figure(out, f"up, {low} to {high}", 2, figures.TALL, sharex=True) as (_, below):
                charts.steps(below, [0, 1, 2], [low, high])
                below.set_yscale("log")
                charts.log_us(below.yaxis)
        shown = "".join(f'<div style="width:390px">{svg}</div>' for svg in out)
        allowed = page_of_golden().replace("default-src 'none'", "default-src 'unsafe-inline'")
        page_with = allowed.replace("</body>", f"{shown}{self.OVERLAPS}</body>")
        self.assertIn(self.OVERLAPS, page_with)
        done, _ = browse(page_with)
        self.assertEqual([line for line in done.stderr.splitlines() if "CONSOLE" in line], [])
        two = '<svg><text x="9" y="9">a</text><text x="9" y="9">b</text></svg>'
        self.assertIn("OVERLAP", browse(two + self.OVERLAPS)[0].stderr)


class BadInput(unittest.TestCase):
    """Test messages that name the fault and the fix."""

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name) / "run"
        shutil.copytree(GOLDEN, self.folder)

    def refused(self, *words: Any) -> str:
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
            with self.assertRaises(SlateError) as caught:
                if words[0] == "report":
                    runfiles.load(Path(words[1]))
                else:
                    compare.run([Path(word) for word in words[1:]], None)
        return str(caught.exception)

    def test_no_such_run(self) -> None:
        self.assertIn("nowhere is not there", self.refused("report", self.folder / "nowhere"))
        self.assertIn("not a file in it", self.refused("report", self.folder / "device.json"))

    def test_a_run_that_failed(self) -> None:
        (self.folder / "device.json").unlink()
        (self.folder / "console.log").write_text("")
        self.assertIn("that run failed", self.refused("report", self.folder))

    def test_half_a_file(self) -> None:
        path = self.folder / "series.json"
        path.write_text(path.read_text()[:1000])
        self.assertIn("series.json: it is cut short", self.refused("report", self.folder))
        (self.folder / "series.json").write_text("{}")
        self.assertIn("has no 'interval-ns'", self.refused("report", self.folder))
        (self.folder / "device.json").write_text("[]")
        self.assertIn("it is no object", self.refused("report", self.folder))

    def change(self, name: str, *where: Any, to: Any) -> None:
        """Change a value in a file of the run."""
        path = self.folder / name
        whole = inner = json.loads(path.read_text())
        for key in where[:-1]:
            inner = inner[key]
        inner[where[-1]] = to
        path.write_text(json.dumps(whole))

    def test_what_does_not_fit(self) -> None:
        for name, where, to, said in (
            ("device.json", ("total", "read", "ios"), None, "'total.read.ios' is not a whole number"),
            ("device.json", ("total", "read", "ios"), -1, "'total.read.ios' is not a whole number"),
            ("device.json", ("total", "read", "ios"), True, "'total.read.ios' is not a whole number"),
            ("device.json", ("total", "read", "ios"), 1 << 64, "a number is out of range"),
            ("device.json", ("total", "read", "ios"), float("nan"), "NaN is no number"),
            ("device.json", ("marks", 1, "label"), [], "'marks[1].label' is not text"),
            ("device.json", ("marks", 1, "account"), {"read": {}}, "it has no 'marks[1].account.read.ios'"),
            ("device.json", ("dies",), {}, "'dies' is no list"),
            ("run.json", ("settings",), None, "'settings' is no object"),
            ("run.json", ("settings", "age"), "1", "'settings.age' is not a number"),
            ("run.json", ("settings", "virtual_time"), 1, "'settings.virtual_time' is not true or false"),
            ("series.json", ("read", "ios"), [1], "its columns do not have 449 rows each"),
            ("series.json", ("dies", 0, 0), 0.5, "'dies[0][0]' is not a whole number"),
            ("blocks.json", ("states",), "f", "it does not tell the same of all its 320 blocks"),
            ("blocks.json", ("blocks-per-plane",), 0, "it does not tell the same of all"),
        ):
            with self.subTest(name=name, where=where, to=to):
                shutil.copy(GOLDEN / name, self.folder / name)
                self.change(name, *where, to=to)
                said_now = self.refused("report", self.folder)
                self.assertIn(f"{name}", said_now)
                self.assertIn(said, said_now)
                shutil.copy(GOLDEN / name, self.folder / name)

    def test_what_is_odd_and_does_fit(self) -> None:
        """A report can be made from odd values that fit the shape."""
        for name, where, to in (
            ("device.json", ("settings",), "ftl.unit_bytes=0\ngeometry.channels=\u00b2"),
            ("device.json", ("settings",), "geometry.channels=" + "9" * 5000),
            ("device.json", ("total", "read", "histogram"), []),
            ("device.json", ("total", "nand", "page-erases-sq"), None),
            ("fio.json", ("jobs", 0, "error"), 1 << 63),
            ("fio.json", ("jobs", 0, "read", "clat_ns", "percentile"), {"most": 1.0, "50.000000": 2}),
            ("run.json", ("settings", "set"), ["precondition.fill_permille=all", "="]),
        ):
            with self.subTest(name=name, where=where):
                shutil.copytree(GOLDEN, self.folder, dirs_exist_ok=True)
                self.change(name, *where, to=to)
                run = runfiles.load(self.folder)
                self.assertIn("determinism.fio", report.Report(run.device, run.fio, run.record).text())
                for job in raw("fio.json")["jobs"]:
                    figures.guest_points(run.fio, job["jobname"], "read")

    def test_nothing_steers_the_terminal(self) -> None:
        self.change("fio.json", "jobs", 0, "jobname", to="a\033[2J\udc80")
        run = runfiles.load(self.folder)
        text = report.Report(run.device, run.fio, run.record).text()
        self.assertIn("a\N{REPLACEMENT CHARACTER}[2J\N{REPLACEMENT CHARACTER}", text)
        self.assertNotIn("\033", text)

    def test_nested_too_deep(self) -> None:
        (self.folder / "fio.json").write_text("[" * 200000)
        self.assertIn("nested too deep", self.refused("report", self.folder))

    def test_a_script_wrote_its_own_fio_json(self) -> None:
        for text in (b'{"jobs": 3}', b'{"jobs": [{"jobname": 1}]}', b"[", b"\xff", b"[" * 200000):
            self.assertIsNone(slate_run._fio_json({"fio.json": text}))
        self.assertEqual(slate_run._fio_json({"fio.json": b'{"jobs": []}'}), {"jobs": []})
        self.assertIsNone(slate_run._fio_json({}))

    def test_one_run_alone(self) -> None:
        self.assertIn("two or more", self.refused("compare", self.folder))

    def test_where_nothing_can_be_written(self) -> None:
        with self.assertRaises(SlateError) as caught:
            htmlreport.write(self.folder / "no" / "x.html", "")
        self.assertIn("no such file", str(caught.exception))

    def test_a_page_into_a_pipe(self) -> None:
        """A pipe is written to and not replaced, and so is the target of a link."""
        pipe, link = self.folder / "pipe", self.folder / "link"
        os.mkfifo(pipe)
        link.symlink_to("page.html")
        with contextlib.redirect_stdout(io.StringIO()), ThreadPoolExecutor(1) as pool:
            got = pool.submit(pipe.read_text)
            htmlreport.write(pipe, "a page")
            self.assertEqual(got.result(10), "a page")
            htmlreport.write(link, "another")
        self.assertTrue(pipe.is_fifo())
        self.assertTrue(link.is_symlink())
        self.assertEqual((self.folder / "page.html").read_text(), "another")

    def test_where_standard_output_goes(self) -> None:
        """Full standard output is an error. Closed standard output is not, because the reader has read enough."""
        line: list[str | Path] = [ROOT / "host-tools/slate", "report", "--text", GOLDEN]
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(
            done.stderr,
            "slate: standard output: no space left on device\n  fix: make room there, or write elsewhere\n",
        )
        with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
            started.stdout.close()
            self.assertEqual(started.stderr.read(), "")
        self.assertEqual(started.returncode, 0)

    def test_exit_codes(self) -> None:
        for words in (["report", "/nonexistent"], ["compare", "/nonexistent"], ["report", "/nonexistent", "--html"]):
            with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
                saved = sys.stdout, sys.stderr
                sys.stdout = io.TextIOWrapper(io.BytesIO())
                sys.stderr = io.TextIOWrapper(io.BytesIO())
                try:
                    self.assertEqual(cli.main(words), 2)
                finally:
                    sys.stdout, sys.stderr = saved


if __name__ == "__main__":
    unittest.main()

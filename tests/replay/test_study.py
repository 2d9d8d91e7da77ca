# SPDX-License-Identifier: GPL-2.0-or-later
"""Run 'slate study' on replays whose figures can be worked out by hand."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from support import READ, ROOT, TINY, Case

sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "host-tools")]

import pages
from slate_lib import packages

SLATE = ROOT / "host-tools" / "slate"
TEXT = """\
title = "Reads"
baseline.timing.read_ns = 10000
[run]
profile = "tiny.ini"
trace = "gen:rand4k,foot=1MiB,n=50,read=1000"
fill = 100
[axes]
timing.read_ns = [10000, 20000]
seed = [1, 2, 3]
[measures]
mean = "read.mean"
max = { of = "read.max", unit = "ns" }
twice = { value = "2 * mean + timing.read_ns / 1000", unit = "µs" }
requests = { json = "replay.json", path = "requests.counted" }
"""


class Study(Case):
    """A read takes the array's time and the page's transfer: 14,096 ns, or 24,096 ns."""

    def setUp(self) -> None:
        super().setUp()
        self.file("tiny.ini", TINY.read_bytes())
        self.file("my.toml", TEXT)

    def study(self, *words: str, code: int = 0, results: str = "results") -> subprocess.CompletedProcess[str]:
        """Run the study with its results in a folder of the test."""
        done = subprocess.run(
            [SLATE, "study", "my.toml", "--out", "out", *words], cwd=self.folder, capture_output=True, text=True,
            timeout=120, check=False, env={**os.environ, "SLATE_RESULTS": str(self.folder / results)},
        )  # fmt: skip
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def table(self, name: str) -> list[dict[str, str]]:
        """Return a CSV of the study."""
        with open(self.folder / "out" / name, encoding="utf-8", newline="") as lines:
            return list(csv.DictReader(lines))

    def test_from_question_to_answer(self) -> None:
        said = self.study("--dry-run").stdout
        self.assertEqual(said.splitlines()[:2], ["Reads", "6 runs (2 timing.read_ns x 3 seed), 0 known, 6 to make"])
        self.assertFalse((self.folder / "out").exists())
        told = self.study().stdout
        rows = self.table("runs.csv")
        self.assertEqual([(row["timing.read_ns"], row["seed"]) for row in rows],
                         [(ns, seed) for ns in ("10000", "20000") for seed in "123"])  # fmt: skip
        for row in rows:
            ns = READ - 10_000 + int(row["timing.read_ns"])
            self.assertEqual((float(row["mean, µs"]), float(row["max, ns"])), (ns / 1000, ns))
            self.assertEqual(float(row["twice, µs"]), 2 * (ns / 1000) + int(row["timing.read_ns"]) / 1000)
            self.assertEqual((row["requests"], row["reason"], len(row["result"])), ("50.0", "", 64))
        group = next(row for row in self.table("groups.csv")
                     if row["measure"] == "max" and row["timing.read_ns"] == "20000")  # fmt: skip
        self.assertEqual([float(group[key]) for key in ("n", "mean", "low", "high", "difference", "difference share")],
                         [3, READ + 10_000, READ + 10_000, READ + 10_000, 10_000, 10_000 / READ])  # fmt: skip
        self.assertEqual(group["effect"], "")
        shown = pages.Tables((self.folder / "out/index.html").read_text(encoding="utf-8")).tables
        self.assertEqual([cell[0] for cell in shown["measure1"][2]],
                         ["20000", f"{READ + 10_000:,}", "3", "+70.9 %", ""])  # fmt: skip
        self.assertEqual(len(shown["runs"]), 7)
        self.assertRegex(told, r"20000 +24\.1 +3 +\+70\.9 %")
        self.assertEqual(sorted(path.name for path in (self.folder / "out").iterdir()), sorted([
            ".made", "groups.csv", "index.html", "runs.csv", "runs.parquet", "report.txt",
            *(f"{name}.{form}" for name in ("max", "mean", "requests", "twice") for form in ("pdf", "png", "svg")),
        ]))  # fmt: skip
        self._columns_have_types(rows)
        self.assertIn("6 known, 0 to make", self.study("--dry-run").stdout)
        before = {path.name: path.read_bytes() for path in (self.folder / "out").iterdir()}
        self.assertEqual(self.study().stdout, told)
        self._damaged_results_are_made_again(before)
        self._results_move(before)

    def _columns_have_types(self, rows: list[dict[str, str]]) -> None:
        """The Parquet file has the values of runs.csv."""
        packages.load("pyarrow", "venv-parquet")
        found = packages.load("pyarrow.parquet", "venv-parquet").read_table(self.folder / "out/runs.parquet")
        self.assertEqual([(name, str(kind)) for name, kind in zip(found.schema.names, found.schema.types)], [
            ("timing.read_ns", "int64"), ("seed", "int64"), ("mean, µs", "double"), ("max, ns", "double"),
            ("twice, µs", "double"), ("requests", "double"), ("result", "string"), ("reason", "string"),
        ])  # fmt: skip
        numbers = found.schema.names[:6]
        self.assertEqual(
            [[float(row[name]) for name in numbers] + [row["result"], row["reason"]] for row in rows],
            [[*(row[name] for name in numbers), row["result"], row["reason"]] for row in found.to_pylist()],
        )

    def test_a_page_for_each_run(self) -> None:
        """The study's table leads to it."""
        self.study("--pages")
        text = (self.folder / "out/index.html").read_text(encoding="utf-8")
        links = [attrs["href"] for tag, attrs in pages.Tables(text).tags if tag == "a" and "download" not in attrs]
        links = [link for link in links if not link.startswith("#")]
        self.assertEqual(links, [f"runs/{row['result'][:12]}.html" for row in self.table("runs.csv")])
        self.assertEqual({f"runs/{path.name}" for path in (self.folder / "out/runs").iterdir()}, set(links))
        shown = pages.Tables((self.folder / "out" / links[3]).read_text(encoding="utf-8")).tables
        (row,) = [row for row in shown["latency"] if row[1:2] and row[1][0] == "read"]
        self.assertEqual(float(row[6][1]), READ + 10_000)  # the fourth run: 20,000 ns, seed 1

    def _damaged_results_are_made_again(self, before: dict[str, bytes]) -> None:
        name = self.table("runs.csv")[0]["result"]
        path = self.folder / "results" / name / "replay.json"
        good = path.read_bytes()
        path.write_bytes(good.replace(b"READ", b"read") + b" ")
        said = self.study("--jobs", "1").stderr
        self.assertIn(f"a stored result was damaged and is made again: {name[:12]}: replay.json is damaged", said)
        self.assertEqual(path.read_bytes(), good)
        self.assertIn("6 runs, 5 known", said)
        self.assertEqual({path.name: path.read_bytes() for path in (self.folder / "out").iterdir()}, before)

    def _results_move(self, before: dict[str, bytes]) -> None:
        self.study("--export", "my.results")
        said = self.study("--import", "my.results", results="elsewhere").stderr
        self.assertIn("6 results taken; 1 of them made again, with equal bytes", said)
        self.assertEqual((self.folder / "out/runs.csv").read_bytes(), before["runs.csv"])
        self.assertEqual(list((self.folder / "elsewhere").glob(".work*")), [])

    def test_a_failed_run_is_a_row(self) -> None:
        text = TEXT.replace("foot=1MiB", "foot={foot}").replace("seed = [1, 2, 3]", 'foot = ["1MiB", "1GiB"]')
        self.file("my.toml", text + 'writes = "write.mean"\n')
        said = self.study("--jobs", "1", code=1).stdout
        reasons = [row["reason"] for row in self.table("runs.csv")]
        self.assertEqual(["and the drive has 6291456" in one for one in reasons], [False, True, False, True], reasons)
        self.assertIn("writes: it has no such I/O: name one of whole run/read", reasons[0])
        self.assertIn("failed: read_ns=10000 foot=1GiB: ", said)
        self.assertIn("writes: 2 of 4 runs have none; the first (read_ns=10000 foot=1MiB): it has no such I/O", said)

    def test_a_measure_that_is_missing_is_told_each_time(self) -> None:
        self.file("my.toml", TEXT.replace("[1, 2, 3]", "[1]") + 'writes = "write.mean"\nlist = { value = "[1]" }\n')
        told = [self.study(code=1).stdout for _ in range(2)]
        self.assertEqual(told[0], told[1])
        self.assertIn("list: 2 of 2 runs have none; the first", told[0])

    def test_more_seeds_until_an_interval_is_narrow(self) -> None:
        """Equal values have an interval of no width; reads that wait for each other make it wide."""
        text = TEXT.replace("[1, 2, 3]", "[1, 2]")
        self.file("my.toml", text)
        self.study("--until", "max:1%")
        self.assertEqual(len(self.table("runs.csv")), 4)
        self.file("my.toml", text.replace("fill = 100", "fill = 100\nclosed = 4"))
        said = self.study("--until", "requests:1%").stderr
        self.assertNotIn("more seeds", said)
        said = self.study("--until", "mean:0.001%", "--most", "4").stderr
        self.assertIn("study  2 more seeds: 8 runs", said)
        self.assertIn("4 seeds, and 2 intervals of mean are still wider than 0.001 %", said)

    def test_interrupted_it_goes_on(self) -> None:
        text = TEXT.replace("n=50", "n={n}").replace("read=1000", "read={read}").replace("[1, 2, 3]", "[1]")
        text = text.replace("[10000, 20000]", "[10000]").replace("baseline.timing.read_ns = 10000\n", "")
        self.file("my.toml", text + "[[pairs]]\nread = [1000, 0]\nn = [50, 90000000]\n")  # the second takes long
        child = subprocess.Popen(
            [SLATE, "study", "my.toml", "--out", "out", "--jobs", "1"], cwd=self.folder, stderr=subprocess.PIPE,
            text=True, env={**os.environ, "SLATE_RESULTS": str(self.folder / "results")},
        )  # fmt: skip
        results = self.folder / "results"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not self._is_running_the_second(results):
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        said = child.communicate(timeout=60)[1]
        self.assertEqual(child.returncode, 130, said)
        self.assertIn("slate: interrupted; 1 of 2 results are stored, and the same command goes on from there", said)
        self.assertEqual(list(results.glob(".work*")), [])
        self.assertIn("2 runs (1 timing.read_ns x 1 seed x 2 read and n), 1 known", self.study("--dry-run").stdout)

    def _is_running_the_second(self, results: Path) -> bool:
        whole = [path for path in results.glob("*") if len(path.name) == 64]
        return len(whole) == 1 and bool(list(results.glob(".work*/.said")))

    def test_refused_words(self) -> None:
        for words, what in (
            (("--until", "mena:2%"), "--until mena:2%: there is no measure mena\n  fix: use one of: mean, max"),
            (("--until", "mean"), "--until mean: not MEASURE:PERCENT"),
            (("--jobs", "0"), "--jobs 0: out of range"),
            (("--export", "."), "--export .: is no name of a file"),
            (("--import", "nothing"), "can not read nothing: no such file or directory"),
        ):  # fmt: skip
            self.assertIn(what, self.study(*words, code=2).stderr)


if __name__ == "__main__":
    unittest.main()

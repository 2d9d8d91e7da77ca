# SPDX-License-Identifier: GPL-2.0-or-later
"""BENCH.md is made of now.json, and 'make bench' can renew the rows that it measures."""

from __future__ import annotations

import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/bench"))

import table


class Measurements(unittest.TestCase):
    """Test tests/bench/table.py."""

    def setUp(self) -> None:
        self.rows = json.loads(table.KEPT.read_text(encoding="utf-8"))["rows"]

    def test_page(self) -> None:
        page = table.PAGE.read_text(encoding="utf-8")
        self.assertEqual(page, table.page(self.rows), "run tests/bench/table.py")
        self.assertLessEqual(len(page.splitlines()), 50, "BENCH.md is one screen")

    def test_every_row_has_a_page(self) -> None:
        for row in self.rows:
            text = (ROOT / f"docs/results/bench/{row['page']}.md").read_text(encoding="utf-8")
            for part in ("**Question.** ", "**Conclusion.** ", "**Set-up.** ", "## Result\n"):
                self.assertEqual(text.count(part), 1, (row["page"], part))

    def test_rows_name_machine_and_kernel(self) -> None:
        """Where the machine is another one than the first row's, and where there is a guest."""
        row = {"what": "w", "target": "", "now": "1", "command": "c", "page": "runs", "machine": "a"}
        rows = [row, {**row, "kernel": "6.1"}, {**row, "machine": "b", "kernel": "7.2"}]
        link = "| [w](docs/results/bench/runs.md)"
        lines = [line.split(" | ")[0] for line in table.page(rows).splitlines()[-3:]]
        self.assertEqual(lines, [link, f"{link} (Linux 6.1)", f"{link} (*b*, Linux 7.2)"])

    def test_the_guests_kernel(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            guest = Path(folder) / "build/guest/old"
            guest.mkdir(parents=True)
            with mock.patch.object(table, "ROOT", Path(folder)), mock.patch.dict("os.environ", SLATE_GUEST="old"):
                with self.assertRaisesRegex(table.BenchError, "guest.json is not there: run 'make guest'"):
                    table.guest_kernel()
                (guest / "guest.json").write_text('{"kernel": "6.1.0-52-amd64"}', encoding="utf-8")
                self.assertEqual(table.guest_kernel(), "6.1")

    def test_what_make_bench_measures(self) -> None:
        """A row takes the numbers of the program's lines; each file is one that run.sh writes."""
        script = (ROOT / "tests/bench/run.sh").read_text(encoding="utf-8")
        for row in self.rows:
            if "read" in row:
                self.assertIn(f"\nshow {row['read']['file']} ", script)
        row = next(one for one in self.rows if one.get("read", {}).get("file") == "replay")
        rates = {"rand3M": 4_230_000, "fill1M": 2_754_000, "real8": 999_000}
        with tempfile.TemporaryDirectory() as folder:
            said = "".join(f"{name:<8}{9:>10,}{rate:>12,}{3_000_000:>11,}\n"
                           for name, rate in rates.items())  # fmt: skip
            (Path(folder) / "replay.txt").write_text(said, encoding="utf-8")
            made = table.measured(row, Path(folder), "a machine", "abc")
            self.assertEqual((made["now"], made["machine"], made["commit"]), ("4.23; 2.75; 0.999", "a machine", "abc"))
            with mock.patch.object(table, "guest_kernel", return_value="6.12"):
                made = table.measured({**row, "kernel": "6.1"}, Path(folder), "a machine", "abc")
            self.assertEqual(made["kernel"], "6.12")
            (Path(folder) / "replay.txt").write_text("rand3M\n", encoding="utf-8")
            with self.assertRaisesRegex(table.BenchError, r"replay.txt: has no line like '\^rand3M "):
                table.measured(row, Path(folder), "a machine", "abc")
            with self.assertRaisesRegex(table.BenchError, "core.txt is not there: run 'make bench'"):
                table.measured({"read": {"file": "core", "patterns": []}}, Path(folder), "a machine", "abc")
        self.assertIs(table.measured(self.rows[0], Path("/nonexistent"), "a machine", "abc"), self.rows[0])


if __name__ == "__main__":
    unittest.main()

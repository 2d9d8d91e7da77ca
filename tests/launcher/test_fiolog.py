# SPDX-License-Identifier: GPL-2.0-or-later
"""Test fio's latency logs: percentiles over time, exactly those of the lines."""

import json
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any

from support import ROOT

from slate_lib import fiolog, htmlreport, runfiles
from slate_lib.errors import SlateError

GOLDEN = ROOT / "tests" / "launcher" / "golden"


def fio(*jobs: Any, **common: Any) -> dict[str, Any]:
    """Return the content of fio.json; a job is (name, options)."""
    return {
        "global options": common,
        "jobs": [{"jobname": name, "job options": options} for name, options in jobs],
    }


class Names(unittest.TestCase):
    """Test the names of the log files of each job."""

    def test_by_the_number_of_the_thread(self) -> None:
        jobs: tuple[tuple[str, dict[str, str]], ...]
        jobs = (("a", {}), ("b", {"write_lat_log": "x"}), ("b", {"write_lat_log": "x"}), ("c", {"write_lat_log": "y"}))
        self.assertEqual(fiolog.names(fio(*jobs)), {"b": "x_lat.2.log", "c": "y_lat.4.log"})

    def test_of_all_jobs(self) -> None:
        self.assertEqual(fiolog.names(fio(("a", {}), write_lat_log="z")), {"a": "z_lat.1.log"})

    def test_left_out(self) -> None:
        self.assertEqual(fiolog.names(fio(("a", {"write_lat_log": "x", "log_avg_msec": "10"}))), {})
        self.assertEqual(fiolog.names(fio(("a", {"write_lat_log": "x", "group_reporting": "1"}), ("b", {}))), {})
        self.assertEqual(fiolog.names(fio(("a", {"write_lat_log": "../x"}))), {})
        self.assertEqual(fiolog.names(None), {})
        self.assertEqual(fiolog.names({"jobs": [{"jobname": "a"}]}), {})


class Percentiles(unittest.TestCase):
    """Test percentiles of each interval, by nearest rank."""

    def test_two_intervals(self) -> None:
        """Each of two intervals has 200 I/Os: latencies 1 .. 200 ns, then 1001 .. 1200 ns, in any order."""
        ios = [(0, ns) for ns in range(200, 0, -1)] + [(9, 1000 + ns) for ns in range(1, 201)]
        found = fiolog.over_time("read", ios)
        self.assertEqual(found.interval_ms, 5)
        self.assertEqual(found.points, {500: [100, 1100], 990: [198, 1198], 1000: [200, 1200]})
        self.assertEqual(found.edges(), [0.0, 0.005, 0.01])

    def test_an_interval_without_any(self) -> None:
        ios = [(0, 5)] * 300 + [(29, 7)] * 300
        found = fiolog.over_time("write", ios)
        self.assertEqual((found.interval_ms, found.points[1000]), (10, [5, None, 7]))

    def test_too_few(self) -> None:
        self.assertIsNone(fiolog.over_time("read", [(0, 1), (9, 1)]))
        self.assertIsNone(fiolog.over_time("read", [(0, 1)] * 10000))

    def test_at_most_so_many_intervals(self) -> None:
        found = fiolog.over_time("read", [(ms, 1) for ms in range(100000)])
        self.assertEqual((found.interval_ms, len(found.points[500])), (834, 120))


class Files(unittest.TestCase):
    """Test logs in the folder of a run."""

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name) / "run"
        shutil.copytree(GOLDEN, self.folder)
        whole = json.loads((GOLDEN / "fio.json").read_text())
        whole["jobs"][1].setdefault("job options", {})["write_lat_log"] = "log"
        self.name = whole["jobs"][1]["jobname"]
        whole["global options"].pop("group_reporting", None)
        for job in whole["jobs"]:
            job.get("job options", {}).pop("group_reporting", None)
        (self.folder / "fio.json").write_text(json.dumps(whole))
        self.log = self.folder / "log_lat.2.log"

    def of(self) -> Any:
        run = runfiles.load(self.folder)
        return fiolog.of(run.path, run.fio)

    def test_on_the_page(self) -> None:
        lines = [f"{at // 100}, {at % 100 + 1}, {at // 500}, 4096, 0\n" for at in range(1000)]
        self.log.write_text("".join(lines))
        found = self.of()
        self.assertEqual(list(found), [self.name])
        self.assertEqual([line.op for line in found[self.name]], ["read", "write"])
        self.assertEqual(found[self.name][0].points, {500: [50, 50], 990: [99, 99], 1000: [100, 100]})
        run = runfiles.load(self.folder)
        run.series = run.blocks = None
        self.assertIn(f'aria-label="Percentiles of {self.name} over time', htmlreport.render(run))

    def test_no_file(self) -> None:
        self.assertEqual(self.of(), {})

    def test_something_else(self) -> None:
        for text in ("0, 1\n", "0, 1, 3, 4096\n", "0, -1, 0, 4096\n", "x\n", "\u00e4\n", f"0, {1 << 62}, 0, 1\n"):
            self.log.write_text("0, 1, 0, 4096\n" + text)
            with self.assertRaisesRegex(SlateError, r"log_lat.2.log, line [12]: not what fio writes"):
                self.of()


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test what flash did in each job, and the verdict on steadiness, with figures worked out by hand."""

import unittest
from typing import Any

from support import account, device, fio, mark, op, record

from slate_lib import byjob
from slate_lib.account import Device, label_of
from slate_lib.report import Report
from slate_lib.series import Series

OPS = ("read", "write", "trim", "flush")
MS = 1_000_000


def wrote(units: int, gc: int = 0, runs: int = 0, flushes: int = 0, programs: int = 0) -> dict[str, Any]:
    """Return the account of a time in which the host wrote units of 4 KiB and GC moved others."""
    source = {"reads": 0, "programs": programs or units + gc, "erases": runs, "copybacks": 0}
    ftl = {"host-units": units, "gc-units": gc, "gc-runs": runs}
    return account(ftl, {"by-source": {"host": source}}, write=op([8] * units), flush=op([8] * flushes))


def added(*parts: dict[str, Any]) -> dict[str, Any]:
    """Return the sum of accounts, as the drive's total."""
    units = sum(part["write"]["ios"] for part in parts)
    ftl = {key: sum(part["ftl"].get(key, 0) for part in parts) for key in ("host-units", "gc-units", "gc-runs")}
    programs, erases = (
        sum(part["nand"]["by-source"].get("host", {}).get(key, 0) for part in parts) for key in ("programs", "erases")
    )
    source = {"reads": 0, "programs": programs, "erases": erases, "copybacks": 0}
    flushes = sum(part["flush"]["ios"] for part in parts)
    return account(ftl, {"by-source": {"host": source}}, write=op([8] * units), flush=op([8] * flushes))


def series(ios: list[int], gc: list[int], interval_ms: int = 10) -> Series:
    """Return a time series in which the host writes units of 4 KiB, and GC copies others."""
    none = [0] * len(ios)
    columns = dict.fromkeys(("bytes", "latency-sum-ns", "latency-max-ns"), none)
    raw = {
        "interval-ns": interval_ms * MS,
        "begin-ns": 0,
        "rows": len(ios),
        **{name: {"ios": none, **columns} for name in OPS},
        "drive": {"host-units": ios, "gc-units": gc},
        "dies": [],
        "channels": [],
    }
    raw["write"] = {**columns, "ios": ios, "bytes": [4096 * each for each in ios]}
    return Series(raw, len(ios) * interval_ms * MS)


class ByJob(unittest.TestCase):
    """Two jobs of 100 and 200 units on a drive that was aged before, and drains afterwards."""

    def setUp(self) -> None:
        self.aged, self.first, self.second = wrote(1000), wrote(100, 140, 7, 3), wrote(200, 50, 2)
        self.drained = wrote(0, 30, 4, 0, 90)
        marks = [
            mark("begin", "a", 1 * MS, self.aged), mark("end", "a", 61 * MS, self.first),
            mark("begin", "b", 61 * MS), mark("end", "b", 91 * MS, self.second),
        ]  # fmt: skip
        self.raw = device(added(self.aged, self.first, self.second, self.drained), marks)
        self.fio = {"jobs": [fio("a", "write", 100, 97000.0), fio("b", "write", 200, 97000.0)]}

    def found(self, of: Series | None = None) -> list[byjob.Flash]:
        return byjob.of(Device(self.raw), self.fio, of)

    def test_each_job_has_its_own_write_amplification(self) -> None:
        found = self.found()
        self.assertEqual([part.name for part in found], [byjob.BEFORE, "a", "b", byjob.AFTER])
        self.assertEqual([part.amplification for part in found], [1.0, 2.4, 1.25, None])

    def test_what_is_programmed_after_the_last_job_is_apart(self) -> None:
        words = [part.words(4096) for part in self.found()]
        self.assertEqual(words[1], ("400 KiB", "2.400", "7", "560 KiB", "7", "3"))
        self.assertEqual(words[3], ("0 B", "-", "4", "120 KiB", "4", "0"))

    def test_a_job_of_other_drives_has_no_row(self) -> None:
        self.raw["marks"] += [mark("begin", "c", 91 * MS), mark("end", "c", 95 * MS)]
        self.assertEqual([part.name for part in self.found()], [byjob.BEFORE, "a", "b", byjob.AFTER])

    def test_reads_alone_have_no_table(self) -> None:
        marks = [mark("begin", "a", 1), mark("end", "a", 2, account(read=op([8])))]
        self.assertEqual(byjob.of(Device(device(account(read=op([8])), marks)), None, None), [])

    def test_a_run_without_marks_has_no_table(self) -> None:
        self.assertEqual(byjob.of(Device(device(wrote(5))), None, None), [])

    def test_the_report_prints_it(self) -> None:
        text = Report(self.raw, self.fio, record(), series=series([10] * 9, [5] * 9)).text()
        head = "flash                written     WAF  GC runs  GC moved  erases  flushes  steady"
        self.assertIn(head, text)
        self.assertIn("a                    400 KiB   2.400        7   560 KiB       7        3  ", text)

    def test_names_that_begin_alike(self) -> None:
        names = ("sequential-write-1M", "sequential-write-4k")
        for mark_, name in zip(self.raw["marks"], (names[0], names[0], names[1], names[1])):
            mark_["label"] = label_of(name)
        for job, name in zip(self.fio["jobs"], names):
            job["jobname"] = name
        text = Report(self.raw, self.fio, record()).text()
        self.assertIn("\nflash                  written     WAF", text)
        for name, words in zip(names, ("   400 KiB   2.400", "   800 KiB   1.250")):
            self.assertIn(f"\n{name} {words}", text)


class Steady(ByJob):
    """Job a lasts from 1 to 61 ms, so of rows of 10 ms rows 1 to 5 lie wholly within it, and of 5 ms rows 1 to 11."""

    def verdict(self, ios: list[int], gc: list[int]) -> str:
        return self.found(series(ios, gc, 5))[1].steady

    def test_equal_thirds(self) -> None:
        self.assertEqual(self.verdict([10] * 13, [14] * 13), "yes")

    def test_rows_beside_the_job_do_not_count(self) -> None:
        # Rows 1 to 11 are inside, so the last third is rows 9 to 11 and the middle one rows 6 to 8.
        self.assertEqual(self.verdict([99] + [10] * 11 + [99], [0] * 13), "yes")

    def test_a_change_of_five_per_cent_is_steady(self) -> None:
        self.assertEqual(self.verdict([0] * 6 + [100] * 3 + [105] * 3 + [0], [0] * 13), "yes")
        self.assertEqual(self.verdict([0] * 6 + [100] * 3 + [94] * 3 + [0], [0] * 13), "no: IOPS -6 %")

    def test_write_amplification_that_rises(self) -> None:
        # (10 + 5) / 10 = 1.5, then (10 + 20) / 10 = 3: +100 %.
        self.assertEqual(self.verdict([10] * 13, [5] * 9 + [20] * 4), "no: WAF +100 %")

    def test_a_job_that_begins_late(self) -> None:
        # Nothing in rows 6 to 8, so neither IOPS nor a WAF, and 10 units in each of rows 9 to 11.
        self.assertEqual(self.verdict([0] * 9 + [10] * 4, [0] * 13), "no: IOPS from none, WAF from none")

    def test_too_few_rows(self) -> None:
        self.assertEqual(self.found(series([10] * 7, [0] * 7, 10))[1].steady, "-")

    def test_fios_own_verdict(self) -> None:
        self.fio["jobs"][0]["steadystate"] = {"ss": "iops:5.000000%", "attained": 1}
        self.assertEqual(self.verdict([10] * 13, [14] * 13), "yes, says fio")


if __name__ == "__main__":
    unittest.main()

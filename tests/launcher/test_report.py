# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the report: each figure is right, and in its place."""

import json
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from support import account, busy, device, fio, mark, op, record

from slate_lib import counters, fioresult, rows, warn
from slate_lib import device as device_file
from slate_lib.account import Device, label_of
from slate_lib.errors import SlateError
from slate_lib.report import WIDTH, Report, _columns
from slate_lib.reports import print_again


def one_job(
    guest_mean: float = 97000.0, ios: int = 4, section: str = "read", ftl: Any = None, nand: Any = None, **more: Any
) -> tuple[Any, Any]:
    drive = op([65536] * 4, cell=4 * 50000, bus=4 * 15000, map=4 * 536)
    interval = account(ftl, nand, **{section: drive})
    dev = device(interval, [mark("begin", "job-a", 1000), mark("end", "job-a", 1001000, interval)])
    return dev, {"jobs": [fio("job-a", section, ios, guest_mean, **more)]}


class MarksAndMap(unittest.TestCase):
    """Warn of jobs whose end was not marked, and of a map cache with room for few loads."""

    def test_a_job_that_never_ended(self) -> None:
        marks = [mark("begin", "a", 1_500_000_000), mark("begin", "b", 2_000_000_000), mark("end", "b", 3_000_000_000)]
        dev = device(account(), marks)
        (text,) = warn.of_marks(Device(dev))
        self.assertIn("a: its begin was marked at 1.500 s, and never its end", text)
        dev["marks"].append(mark("end", "a", 4_000_000_000))
        self.assertEqual(warn.of_marks(Device(dev)), [])

    def map_of(self, frames: int) -> list[str]:
        """Four dies of a plane, four units a page: the least cache is (4 + 1) * 4 + 1 = 21 pages."""
        dev = device(account())
        dev["settings"] += ["geometry.page_bytes=16384", f"ftl.map_cache_pages={frames}"]
        return warn.of_the_map(Device(dev))

    def test_the_least_map_cache_loads_one_page_at_a_time(self) -> None:
        (text,) = self.map_of(21)
        self.assertIn("lets reads load 1 map page at a time, and the drive has 4 dies", text)
        self.assertIn("from 27 on every die may load one", text)

    def test_a_drive_that_ignores_flushes(self) -> None:
        dev = device(account())
        for value, told in (("no", 0), ("yes", 1)):
            dev["settings"] = [line for line in dev["settings"] if "ignore_flush" not in line]
            dev["settings"].append(f"drive.ignore_flush={value}")
            found = warn.of_flushes(Device(dev))
            self.assertEqual(len([text for text in found if text.startswith("THE DRIVE LIES: ")]), told)

    def test_a_page_for_each_die_is_enough(self) -> None:
        self.assertIn("load 3 map pages at a time", self.map_of(26)[0])
        self.assertEqual(self.map_of(27), [])
        self.assertEqual(self.map_of(0), [])


class Rows(unittest.TestCase):
    """Pair the guest's figures with the drive's."""

    def test_path(self) -> None:
        (row,) = rows.build(*one_job())
        self.assertEqual(row.path_ns(), 97000 - 65536)

    def test_no_path_when_the_drive_saw_other_ios(self) -> None:
        (row,) = rows.build(*one_job(ios=2))
        self.assertIsNone(row.path_ns())
        self.assertIn("fio counted 2 I/Os, the drive 4", row.notes[0])

    def test_no_path_when_shared(self) -> None:
        dev, result = one_job()
        dev["marks"].insert(1, mark("begin", "other", 2000))
        dev["marks"].insert(2, mark("end", "other", 3000))
        row = rows.build(dev, result)[-1]
        self.assertIsNone(row.path_ns())
        self.assertIn("shared with other", row.notes[0])

    def test_other_jobs_are_told_by_their_names(self) -> None:
        dev, result = one_job()
        dev["marks"].insert(1, mark("begin", label_of("other job"), 2000))
        dev["marks"].insert(2, mark("end", label_of("other job"), 3000))
        result["jobs"].append(fio("other job", "read", 1, 10.0))
        row = next(row for row in rows.build(dev, result) if row.job == "job-a")
        self.assertIn("shared with other job, which", row.notes[0])

    def test_clones_join(self) -> None:
        dev, _ = one_job()
        both = {"jobs": [fio("job-a", "read", 1, 10.0, 20), fio("job-a", "read", 3, 30.0, 40)]}
        (row,) = rows.build(dev, both)
        self.assertEqual(
            (row.guest.ios, row.guest.mean_ns, row.guest.max_ns, row.guest.iops), (4, 25.0, 40, 2000.0)
        )
        self.assertIn("worst of 2 clones", row.notes[-1])

    def test_without_fio_the_marks_show(self) -> None:
        dev, _ = one_job()
        (row,) = rows.build(dev, None)
        self.assertEqual((row.job, row.guest, row.drive.ios), ("job-a", None, 4))

    def test_without_anything_the_whole_run_shows(self) -> None:
        (row,) = rows.build(device(account(write=op([5]))), None)
        self.assertEqual((row.job, row.op), (rows.WHOLE_RUN, "write"))

    def test_a_lone_job_without_marks_shares_with_the_boot(self) -> None:
        (row,) = rows.build(device(account(read=op([5]))), {"jobs": [fio("job-a", "read", 1, 10.0)]})
        self.assertEqual(row.account.shared, ["boot"])

    def test_flushes(self) -> None:
        dev, _ = one_job(section="flush")
        (row,) = rows.build(dev, {"jobs": [fio("job-a", "sync", 4, 70000.0)]})
        self.assertEqual((row.op, row.path_ns()), ("flush", 70000 - 65536))

    def test_lat_percentiles_are_preferred(self) -> None:
        result = {"jobs": [fio("job-a", "read", 1, 100.0)]}
        result["jobs"][0]["read"]["lat_ns"]["percentile"] = {"50.000000": 99}
        (row,) = fioresult.rows(result)
        self.assertEqual((row.which, row.percentile_ns(500), row.percentile_ns(990)), ("lat", 99, None))

    def test_one_kind_of_latency(self) -> None:
        """With percentiles of clat alone, mean and maximum are those of clat, too."""
        result = {"jobs": [fio("job-a", "read", 1, 50.0)]}
        result["jobs"][0]["read"]["lat_ns"] |= {"mean": 60.0, "max": 61}
        (row,) = fioresult.rows(result)
        self.assertEqual((row.which, row.mean_ns, row.max_ns, row.percentile_ns(990)), ("clat", 50.0, 50, 22))

    def test_no_percentile_above_the_maximum(self) -> None:
        """fio names a bucket by its middle, which may be above the one value in it."""
        result = {"jobs": [fio("job-a", "read", 1, 147_708.0)]}
        result["jobs"][0]["read"]["clat_ns"]["percentile"] = {"99.900000": 148_480}
        self.assertEqual(fioresult.rows(result)[0].percentile_ns(999), 147_708)

    def test_percentiles_of_all_clones(self) -> None:
        """9 I/Os take 2,048 ns and one takes 5,000: their buckets have 2 and 4 ns, and are named by their middles."""
        result = {"jobs": [fio("job-a", "read", 5, 2048.0), fio("job-a", "read", 5, 2638.4, 5000)]}
        for job, bins in zip(result["jobs"], ({"2049": 5}, {"2049": 4, "5002": 1})):
            job["read"]["lat_ns"] |= {"bins": bins, "percentile": {"50.000000": 1}}
        (row,) = fioresult.rows(result)
        self.assertEqual((row.clones, row.histogram.histogram), (2, {2048: 9, 5000: 1}))
        self.assertEqual([row.percentile_ns(share) for share in (500, 900, 901)], [2049, 2049, 5000])

    def test_flushes_have_a_rate(self) -> None:
        """fio gives the number of flushes, and the time of the job's other I/O: 17 in 0.5 s."""
        result = {"jobs": [fio("job-a", "write", 1, 10.0)]}
        result["jobs"][0]["write"]["runtime"] = 500
        result["jobs"][0]["sync"] = {"total_ios": 17, "lat_ns": {"mean": 10.0, "max": 10}}
        self.assertEqual([(row.op, row.iops) for row in fioresult.rows(result)], [("write", 1000.0), ("flush", 34.0)])
        result["jobs"][0]["sync"] = {"total_ios": 0, "lat_ns": {"mean": 10.0, "max": 10, "N": 16}}  # fdatasync
        self.assertEqual([(row.ios, row.iops) for row in fioresult.rows(result)], [(1, 1000.0), (16, 32.0)])


class Text(unittest.TestCase):
    """Test the text of the report."""

    def text(self, dev: Any, result: Any, **settings: Any) -> str:
        return Report(dev, result, record(**settings)).text()

    def test_lines(self) -> None:
        text = self.text(*one_job())
        self.assertRegex(text, r"job-a +read +1,000 +3\.9 +97\.0 +0\.01 +0\.02 +0\.03 +- +97\.0 +guest")
        self.assertRegex(text, r"\n +65\.5 +65\.5 +65\.5 +65\.5 +- +65\.5 +drive")
        self.assertRegex(text, r"job-a +read +97\.0 +31\.5 +50\.0 +15\.0 +0 +0 +0 +0\.54 +0 ")

    def test_names_that_begin_alike(self) -> None:
        """Two names that share 16 characters are whole in the tables, and the columns stay below their titles."""
        drive = op([65536] * 4, cell=4 * 50000, bus=4 * 15000, map=4 * 536)
        interval, names = account(read=drive), ("sequential-write-1M", "sequential-write-4k")
        marks = [mark("begin", label_of(names[0]), 1000), mark("end", label_of(names[0]), 1001000, interval)]
        marks += [mark("begin", label_of(names[1]), 2000000), mark("end", label_of(names[1]), 3000000, interval)]
        jobs = {"jobs": [fio(name, "read", 4, 97000.0) for name in names]}
        text = self.text(device(interval, marks), jobs)
        for name in names:
            self.assertRegex(text, rf"\n{name} read +1,000 +3\.9 +97\.0 .* guest")
            self.assertRegex(text, rf"\n{name} read +97\.0 +31\.5 +50\.0 +15\.0 ")
        head = next(line for line in text.splitlines() if line.startswith("latency"))
        row = next(line for line in text.splitlines() if line.startswith(names[0]))
        self.assertEqual(head.index("IOPS") + 4, row.index("1,000") + 5)

    def test_fits_the_screen(self) -> None:
        for line in self.text(*one_job()).splitlines():
            self.assertLessEqual(len(line), WIDTH + 2, line)

    def test_busy(self) -> None:
        sources = {"by-source": {"host": {"reads": 4, "die-busy-ns": 2_000_000, "bus-busy-ns": 500_000}}}
        self.assertRegex(self.text(*one_job(nand=sources)), r"50% +25%\n")

    def test_late(self) -> None:
        """Lateness is shown only in real time: shares of 200 completions, 150 of which were late."""
        dev, result = one_job()
        self.assertNotIn("\nlate ", self.text(dev, result))
        counted = {"late-1us": 150, "late-10us": 9, "late-100us": 0, "sum-ns": 400_000, "max-ns": 52_000}
        own = counted | {"late-1us": 20, "late-10us": 1}
        none = {"requests": 0, **dict.fromkeys(counted, 0)}
        dev["real-time"] = {"posted": {"requests": 200, **own}, "delivered": {"requests": 200, **counted}}
        self.assertIn(
            "late      75 % by > 1, 4.5 % by > 10, 0 % by > 100 µs; mean 2.00, worst 52.0 µs   "
            "(its own thread: 10 % / 0.5 % / 0 %)\n",
            self.text(dev, result),
        )
        dev["real-time"] = {"posted": none, "delivered": none}
        self.assertNotIn("\nlate ", self.text(dev, result))

    def test_a_warning_of_late_completions(self) -> None:
        """The warning needs over a tenth of the mean latency of 65,536 ns: 6,553.6 ns for each of 200 completions."""
        dev, result = one_job()
        counted = {"requests": 200, "late-1us": 200, "late-10us": 0, "late-100us": 0, "max-ns": 9000}
        for sum_ns, warned in ((1_310_720, False), (1_310_721, True)):
            dev["real-time"] = dict.fromkeys(("posted", "delivered"), counted | {"sum-ns": sum_ns})
            text = " ".join(self.text(dev, result).split())
            said = "completions 6.55 µs late on average, the drive's mean latency being 65.5"
            self.assertEqual(said in text, warned)

    def test_waf_gc_and_wear(self) -> None:
        dev, result = one_job(
            section="write",
            ftl={"host-units": 4, "gc-units": 2, "gc-runs": 1, "gc-ns": 9000},
            nand={
                "by-source": {"gc": {"reads": 2, "programs": 2, "erases": 1}},
                "erase-count-max": 3,
                "page-erases": 160,
                "page-erases-sq": 480,
            },
        )
        text = self.text(dev, result)
        self.assertIn("1.500 = host 1.000 + GC 0.500", text)
        self.assertIn("1 run moved 8 KiB", text)
        self.assertIn(
            "1 in this run; wear: mean 0.50 (AEP), variance 1.25 (VEP), most 3 erases of a page", text
        )
        self.assertIn("gc 2 r, 2 p, 1 e", text)

    def test_kinds_of_gc(self) -> None:
        ftl = {"gc-units": 6, "gc-runs": 5, "merges": 2, "mmerges": 3, "second-victims": 0}
        text = self.text(*one_job(section="write", ftl=ftl))
        self.assertIn("5 runs (2 merges, 3 M-Merges) moved 24 KiB", text)

    def test_the_policy_of_gc(self) -> None:
        """The GC line names the policy, whether GC ran or not; an FTL with its own rules has no policy."""
        for ftl, runs, line in (
            ("page", 2, "2 runs moved 4 KiB, policy cost-benefit"),
            ("page", 0, "did not run, policy cost-benefit"),
            ("nftl", 2, "2 runs moved 4 KiB"),
        ):
            dev, result = one_job(section="write", ftl={"gc-units": 1, "gc-runs": runs})
            dev["settings"] = [f"ftl.type={ftl}", "ftl.gc_policy=cost-benefit"]
            found = next(row for row in self.text(dev, result).splitlines() if row.startswith("GC "))
            self.assertEqual(found.removeprefix("GC").strip(), line)

    def test_counters_without_a_line_of_their_own(self) -> None:
        """Counters declared after the known ones are shown by their names, if they are not 0."""
        declared = counters.declared()
        later = {
            "ftl": [counters.Counter(name, "COUNT", "x.") for name in ("late-hits", "late-misses", "late-resets")],
            "nand": [counters.Counter("toggles", "COUNT", "x.")],
        }
        more = declared | {group: declared[group] + tuple(rows) for group, rows in later.items()}
        ftl = {"core-busy-ns": 3, "late-hits": 1200, "late-misses": 0, "late-resets": 2, "unknown": 9}
        dev, result = one_job(section="write", ftl=ftl, nand={"damaged": 1, "toggles": 5})
        with mock.patch.object(counters, "declared", return_value=more):
            found = [row for row in self.text(dev, result).splitlines() if row.startswith("counted")]
        self.assertEqual(found, ["counted   late-hits 1,200, late-resets 2, toggles 5"])
        self.assertNotIn("\ncounted", self.text(dev, result))

    def test_word_lines(self) -> None:
        text = self.text(*one_job(section="write", ftl={"fast-pages": 7, "slow-pages": 5, "backup-pages": 1}))
        self.assertIn("7 LSB, 5 MSB, 1 of parity", text)
        self.assertNotIn("parity", self.text(*one_job(section="write", ftl={"fast-pages": 7})))

    def test_reduction(self) -> None:
        ftl = {"raw-units": 1, "comp-units": 2, "comp-bytes": 4096, "delta-units": 4, "delta-bytes": 1024}
        text = self.text(*one_job(section="write", ftl=ftl | {"link-units": 1, "reference-hits": 3}))
        self.assertIn(
            "12.5 % raw, 25.0 % compressed to 0.500, 50.0 % with a reference to 0.062, 12.5 % links", text
        )
        self.assertIn("0 read from flash, 3 found in memory", text)

    def test_nand(self) -> None:
        dev, result = one_job(
            nand={
                "by-source": {
                    "host": {"reads": 4, "read-nj": 2_500_000, "program-nj": 600_000},
                    "gc": {"copybacks": 7, "copyback-nj": 900},
                },
                "read-bytes": 4 * 18432,
                "corrected": 2,
                "retries": 3,
                "suspends": 1,
                "disturb-lost": 1710,
            }
        )
        dev |= {
            "at-ns": 1000,
            "dies": [busy(host=100, gc=50), busy(host=300), busy(), busy(gc=50)],
            "channels": [busy(host=50), busy()],
        }
        self.assertEqual(
            self.nand_section(dev, result),
            [
                "NAND      host 4 r, 0 p, 0 e   gc 0 r, 0 p, 0 e, 7 c   "
                "(page reads, programs; block erases; copybacks)",
                "dies      12.5 % busy = host 10.0 + GC 2.5, the busiest 30.0 %",
                "channels  2.5 % busy = host 2.5, the busiest 5.0 %",
                "RAF       4.500   (bytes that left the flash / read by the host)",
                "energy    3.1 mJ = host 3.1 mJ + GC 900 nJ   (read 2.5 mJ, program 600.0 µJ, copyback 900 nJ)",
                "media     2 reads with many errors, 3 retries",
                "also      1 suspensions, 1,710 pages disturbed past reading",
            ],
        )

    def test_read_amplification_by_cause(self) -> None:
        """A read of 4 KiB took two words of 2 KiB; GC read a page."""
        read = {"host": 4096, "gc": 16384}
        sources = {name: {"reads": 1, "user-read-bytes": count} for name, count in read.items()}
        dev, result = one_job(nand={"by-source": sources, "read-bytes": 22528})
        asked = dev["total"]["read"]["bytes"]
        self.assertIn(
            f"RAF       {22528 / asked:.3f}   (bytes that left the flash / read by the host; data alone: "
            f"host {4096 / asked:.3f}, gc {16384 / asked:.3f})",
            self.nand_section(dev, result),
        )

    def test_nand_without_more_is_a_line(self) -> None:
        self.assertEqual(self.nand_section(*one_job()), ["NAND      no commands"])

    def nand_section(self, dev: Any, result: Any) -> list[str]:
        lines = self.text(dev, result).splitlines()
        begin = next(i for i, line in enumerate(lines) if line.startswith("NAND"))
        return lines[begin : lines.index("", begin)]

    def test_a_drive_file_is_said(self) -> None:
        drive = {"path": "there/aged.slate", "ephemeral": True, "made_by_this_run": False}
        text = self.text(*one_job(), profile=None, drive=drive, fill_percent=None)
        self.assertRegex(text, "^quick.fio on aged.slate .* drive file, ephemeral · ")
        text = self.text(*one_job(), profile=None, drive=drive | {"ephemeral": False}, fill_percent=None)
        self.assertIn(" · drive file · ", text)
        self.assertIn("filled 100 %", self.text(*one_job(), drive=drive | {"made_by_this_run": True}))

    def test_the_guest_is_said(self) -> None:
        """Its name, kernel and fio, right under the facts; the words are as long as there is something to say."""
        for settings, versions, told in (
            ({"guest": "13"}, {"kernel": "6.12-a", "fio": "3.41-2"}, "guest 13: Linux 6.12-a, fio 3.41-2"),
            ({"guest": "13", "kernel": "small"}, {"kernel": "6.12"}, "guest 13: Linux 6.12 (small kernel)"),
            ({"guest": "x", "modules": ""}, {"kernel": "7.1", "fio": "3"}, "guest x: Linux 7.1 (your own), fio 3"),
            ({}, {"kernel": "6.1", "fio": "3.33"}, "Linux 6.1, fio 3.33"),  # of an earlier build
            ({"own_guest": "--image a"}, {"kernel": "6.1", "fio": "3.33"}, ""),
            ({}, {}, ""),
        ):
            found = Report(*one_job(), {**record(**settings), "versions": versions})
            self.assertEqual((found.guest(), found.text().splitlines()[1].strip("─ ")), (told, told))

    def test_what_helps_against_reads_without_data(self) -> None:
        """Filling a drive helps only where it was not full."""
        drive = {"path": "a.slate", "ephemeral": True, "made_by_this_run": False}
        fill = "Fill the drive first (--fill 100)."
        trimmed = "The drive was full, so they were trimmed since. mkfs trims"
        again = "Make the drive file anew, with --fill 100."
        for permille, settings, told in (
            (0, {"fill_percent": 0}, fill),
            (999, {}, fill),
            (1000, {}, trimmed),
            (0, {"precondition": "device"}, trimmed),
            (0, {"precondition": "device", "fill_percent": 50}, fill),
            (500, {"drive": drive, "fill_percent": None}, again),
            (1000, {"drive": drive, "fill_percent": None}, trimmed),
        ):
            dev, result = one_job(ftl={"unwritten-reads": 1, "unwritten-units": 1})
            dev["settings"] = [*dev["settings"], f"precondition.fill_permille={permille}"]
            text = " ".join(self.text(dev, result, **settings).split())
            with self.subTest(permille=permille, **settings):
                self.assertEqual([words for words in (fill, trimmed, again) if words in text], [told])

    def test_unwritten_reads_warn(self) -> None:
        text = " ".join(self.text(*one_job(ftl={"unwritten-reads": 1, "unwritten-units": 1})).split())
        self.assertIn("1 of 4 reads (25.0 %) found only sectors that were never written", text)
        self.assertIn("real data would cost 86.7 µs", text)  # (cell + bus) of the three others

    def test_all_unwritten_reads_price_from_the_profile(self) -> None:
        dev, result = one_job(ftl={"unwritten-reads": 4, "unwritten-units": 4})
        self.assertIn("real data would cost 54.2 µs", " ".join(self.text(dev, result).split()))

    def test_damage_of_the_drive_file_warns(self) -> None:
        text = self.text(*one_job(nand={"uncorrectable": 2, "damaged": 2}))
        self.assertIn("2 uncorrectable, 2 reads of damaged pages of the drive file", text)
        self.assertIn("media: 2 reads since the drive was opened met pages that do not match", text)

    def test_fio_errors_and_violations_warn(self) -> None:
        text = self.text(*one_job(nand={"violations": [0, 2]}, error=84))
        self.assertIn("ended with error 84", text)
        self.assertIn("broke NAND rules 2 times (R1: 2)", text)

    def test_an_empty_drive_is_said(self) -> None:
        self.assertIn("EMPTY", self.text(*one_job(), fill_percent=0))
        self.assertIn("filled 100 %, aged 2x", self.text(*one_job(), age=2))

    def test_no_color_in_the_file(self) -> None:
        self.assertNotIn("\033", self.text(*one_job()))
        dev, result = one_job()
        self.assertIn("\033", Report(dev, result, record()).text(color=True))

    def test_a_content_workload_is_called_by_its_name(self) -> None:
        text = self.text(*one_job(), job=None, script="a/run.sh", content="pc")
        self.assertTrue(text.startswith("content pc on small.ini "), text[:60])


class Files(unittest.TestCase):
    """Test device.json, and the report from files."""

    def test_canonical(self) -> None:
        text = device_file.text(device(account()))
        self.assertNotIn("/some/where", text)
        self.assertEqual(json.loads(text)["profile"], "small.ini")
        self.assertEqual(text, json.dumps(json.loads(text), sort_keys=True, indent=1) + "\n")
        text = device_file.text(device(account(read=op([5, 5, 7]))))
        self.assertEqual(json.loads(text)["total"], account(read=op([5, 5, 7])))
        self.assertRegex(text, r'\n +\{"count": 2, "floor-ns": 5\},\n +\{"count": 1, "floor-ns": 7\}\n')

    def test_again_needs_a_run(self) -> None:
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(SlateError) as caught:
            print_again(Path(folder))
        self.assertIn("holds no finished run", str(caught.exception))



class Columns(unittest.TestCase):
    """Test the table of means."""

    def test_wide_figures_do_not_touch(self) -> None:
        """From 100 ms on a mean has seven characters, as many as its column."""
        means = ["481,599", "-", "137,602", "31,907"]
        self.assertEqual(_columns(means, [8, 6, 8, 7]), " 481,599        -   137,602 31,907")
        read = {"read": {**op([481_599_000]), "host-queue-ns": 137_602_000, "cell-ns": 343_997_000}}
        job = account(**read)
        raw = device(job, [mark("begin", "job-a", 1), mark("end", "job-a", 600_000_000, job)])
        text = Report(raw, {"jobs": [fio("job-a", "read", 1, 481_599_000.0)]}, record()).text()
        head, row = text[text.index("mean, µs") :].splitlines()[:2]
        for figure in (" 481,599 ", " 343,997 ", " 137,602 "):
            self.assertIn(figure, row)
        self.assertEqual(head.index("guest") + 5, row.index("481,599") + 7)


if __name__ == "__main__":
    unittest.main()

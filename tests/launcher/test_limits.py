# SPDX-License-Identifier: GPL-2.0-or-later
"""Test what limited a job: each rule of limits.py, at its threshold and just below it.

A job here takes 1 ms of a drive with 2 channels and 4 dies. fio's rate is 1,000 I/Os a
second, so a mean latency of 1 ms is one I/O in flight.
"""

import json
import unittest
from pathlib import Path
from typing import Any

from support import account, device, fio, mark, op, record

from slate_lib import account as account_
from slate_lib import limits, report, rows, runfiles, shape
from slate_lib.series import Series

GOLDEN = Path(__file__).parent / "golden"
MS = 1_000_000
CELLS = op([65536] * 4, cell=4 * 65536)


def limit_of(
    drive: Any = CELLS, mean: Any = MS, executed: Any = (), options: Any = None, series: Any = None,
    section: Any = "read", **interval: Any,
) -> Any:  # fmt: skip
    """Return the limit of a job from 1 ms to 2 ms. executed: time of each vCPU."""
    dev = of_job(drive, executed, section, **interval)
    result = None
    if options is not None:
        result = {"jobs": [fio("job", section, 4, float(mean), **{"job options": options})]}
    found = limits.of(account_.Device(dev), result, rows.build(dev, result), series)
    return found["job"]


def of_job(
    drive: Any, executed: Any, section: str = "read", by_source: Any = None, ftl: Any = None, settings: Any = ()
) -> Any:
    """Return the device.json of one job."""
    inside = account(ftl, {"by-source": by_source or {}}, **{section: drive})
    begin, end = mark("begin", "job", MS), mark("end", "job", 2 * MS, inside)
    begin["processors"] = [5000 for _ in executed]
    end["processors"] = [5000 + ns for ns in executed]
    dev = device(inside, [begin, end])
    dev["settings"] += settings
    return dev


def dies(host: int, gc: int = 0) -> dict[str, Any]:
    """Return the busy time of all four dies together."""
    return {"host": {"reads": 1, "die-busy-ns": host}, "gc": {"reads": 1, "die-busy-ns": gc}}


class Resources(unittest.TestCase):
    """Test rule 1: a resource was busy for 90 % of the time."""

    def test_processor(self) -> None:
        found = limit_of(executed=(100_000, 900_000), options={})
        self.assertEqual((found.name, found.why), ("processor", "processor 90 % busy"))
        self.assertEqual(found.use.processors, [0.1, 0.9])
        self.assertEqual(limit_of(executed=(100_000, 899_999), options={}).name, "depth")

    def test_a_job_that_polls(self) -> None:
        for option in ("hipri", "sqthread_poll"):
            found = limit_of(executed=(1_000_000,), options={"ioengine": "io_uring", option: "1"})
            self.assertEqual((found.name, found.alarm()), ("depth", False))
        found = limit_of(executed=(1_000_000,), options={"ioengine": "io_uring", "hipri": "0"})
        self.assertEqual((found.name, found.alarm()), ("processor", True))

    def test_link(self) -> None:
        found = limit_of(ftl={"link-to-host-busy-ns": 950_000, "link-to-drive-busy-ns": 900_000}, options={})
        self.assertEqual((found.name, found.why), ("link", "link to host 95 % busy, link to drive 90 %"))
        self.assertEqual(limit_of(ftl={"link-to-host-busy-ns": 899_999}, options={}).name, "depth")

    def test_cores(self) -> None:
        """Four cores for 1 ms do 4 ms of work: 3.6 ms are 90 %."""
        four = ["ftl.map_ns=200", "controller.cores=4"]
        found = limit_of(ftl={"core-busy-ns": 3_600_000}, settings=four, options={})
        self.assertEqual((found.name, found.why), ("controller", "controller's cores 90 % busy"))
        self.assertEqual(limit_of(ftl={"core-busy-ns": 3_599_999}, settings=four, options={}).name, "depth")
        found = limit_of(ftl={"core-busy-ns": 0}, settings=["controller.cores=0"], options={})
        self.assertEqual((found.name, found.use.cores), ("depth", None))

    def test_dies(self) -> None:
        found = limit_of(by_source=dies(3_600_000), options={})
        self.assertEqual((found.name, found.why), ("die", "dies 90 % busy"))
        self.assertEqual(limit_of(by_source=dies(3_599_999), options={}).name, "depth")

    def test_channels(self) -> None:
        found = limit_of(by_source={"host": {"reads": 1, "bus-busy-ns": 1_840_000}}, options={})
        self.assertEqual((found.name, found.why), ("channel", "channels 92 % busy"))

    def test_the_busiest_is_named_first(self) -> None:
        found = limit_of(executed=(960_000,), by_source=dies(3_920_000), options={})
        self.assertEqual((found.name, found.why), ("die", "dies 98 % busy, processor 96 %"))

    def test_one_busy_die(self) -> None:
        """The rows from 1.0 to 2.0 ms are inside the job's time; the one that began before is not."""
        columns = [[0, 0, 0, 0, 0], [90_000, 240_000, 230_000, 220_000, 230_000]]
        raw = {"rows": 5, "begin-ns": 750_000, "interval-ns": 250_000, "dies": columns, "channels": []}
        found = limit_of(by_source=dies(1_000_000), options={}, series=Series(raw, 2 * MS))
        self.assertEqual((found.name, found.why), ("die", "busiest die 92 % busy"))
        self.assertEqual(found.use.dies, 0.25)
        raw["begin-ns"] = 740_000  # now only three rows are
        self.assertEqual(limit_of(by_source=dies(1_000_000), options={}, series=Series(raw, 2 * MS)).name, "depth")

    def test_dies_behind_a_buffer(self) -> None:
        """Each write takes 2,000 ns into the buffer and 200 ns of map; then one waits for the flash."""
        buffered = op([2200] * 4, buffer=8000, map=800)
        about = {"section": "write", "by_source": dies(4_000_000), "settings": ["ftl.buffer_ns=2000"], "options": {}}
        found = limit_of(buffered, **about)
        self.assertEqual((found.name, found.why), ("depth", "latency 100 % path; dies 100 % behind buffer"))
        about["by_source"] = dies(4_400_000)  # programs that end after the job
        self.assertEqual(limit_of(buffered, **about).why, found.why)
        # 978 of 9778 ns: a tenth
        self.assertEqual(limit_of(op([2200] * 3 + [3178], buffer=8978, map=800), **about).name, "die")
        self.assertEqual(limit_of(op([2200] * 3 + [3177], buffer=8977, map=800), **about).name, "depth")

    def test_gc_by_the_dies_time(self) -> None:
        found = limit_of(by_source=dies(1_880_000, 1_920_000), options={})
        self.assertEqual((found.name, found.why), ("GC", "dies 95 % busy, 51 % of it GC's"))
        self.assertEqual(limit_of(by_source=dies(1_920_000, 1_880_000), options={}).name, "die")

    def test_gc_by_the_waiting(self) -> None:
        waits = op([65536] * 4, host_queue=40_000, gc_queue=60_000, cell=162_144)
        found = limit_of(waits, by_source=dies(3_900_000, 100_000), options={})
        self.assertEqual((found.name, found.why), ("GC", "dies 100 % busy, 60 % of the waiting GC's"))


class Depth(unittest.TestCase):
    """Test rules 2 to 4, which follow from Little's law."""

    def test_a_full_queue(self) -> None:
        asked = {"ioengine": "io_uring", "iodepth": "4"}
        found = limit_of(mean=3_610_000, options=asked)
        self.assertEqual((found.name, found.depth), ("depth", 4))
        self.assertAlmostEqual(found.guest, 3.61, places=9)
        self.assertAlmostEqual(found.drive, 4 * 65536 / MS, places=9)
        found = limit_of(mean=3_590_000, options=asked, executed=(850_000,))
        self.assertEqual((found.name, found.why), ("unclear", "processor 85 % busy"))

    def test_one_at_a_time(self) -> None:
        """A sync engine has no iodepth; its own work between two I/Os is not another limit."""
        found = limit_of(mean=300_000, options={"ioengine": "psync", "iodepth": "8"})
        self.assertEqual((found.name, found.depth), ("depth", 1))

    def test_trims_come_one_at_a_time(self) -> None:
        """fio issues a trim when it has no I/O in flight, and waits for it."""
        for rw, name, depth in (("randtrim", "depth", 1), ("trim", "depth", 1), ("trimwrite", "unclear", 8)):
            asked = {"ioengine": "io_uring", "iodepth": "8", "rw": rw}
            found = limit_of(op([5000] * 4), mean=870_000, options=asked, section="trim", executed=(650_000,))
            self.assertEqual((found.name, found.depth), (name, depth), rw)

    def test_clones(self) -> None:
        self.assertEqual(limit_of(options={"ioengine": "libaio", "iodepth": "4", "numjobs": "3"}).depth, 12)
        one = fio("job", "read", 2, 1.0, options={"ioengine": "libaio", "iodepth": "4", "numjobs": "2"})
        self.assertEqual(limits.Asked({"jobs": [one, one]}, "job").depth(), 8)
        shared = {"global options": {"ioengine": "libaio", "iodepth": "6"}, "jobs": [fio("job", "read", 2, 1.0)]}
        self.assertEqual(limits.Asked(shared, "job").depth(), 6)
        self.assertIsNone(limit_of(options={"ioengine": "libaio", "iodepth": "many"}).depth)

    def test_the_largest_part_is_named(self) -> None:
        """Of 4 ms in all, 0.75 are in the cells and 0.25 elsewhere in the drive; the guest takes the rest."""
        drive = op([250_000] * 4, cell=750_000, bus=250_000)
        self.assertEqual(limit_of(drive, options={}).why, "latency 75 % path; dies 0 % busy")
        found = limit_of(drive, mean=312_500, options={})
        self.assertEqual(found.why, "latency 60 % cell; dies 0 % busy")

    def test_controller(self) -> None:
        half = op([2000] * 4, map=1000, other=3000, cell=3000, bus=1000)
        found = limit_of(half, mean=2000, options={})
        self.assertEqual((found.name, found.why), ("controller", "latency 50 % map + other; dies 0 % busy"))
        less = op([2000] * 4, map=1000, other=2999, cell=2000, bus=2001)
        self.assertEqual(limit_of(less, mean=2000, options={}).name, "depth")
        self.assertEqual(limit_of(half, mean=4_000_000, options={"ioengine": "libaio", "iodepth": "4"}).name, "depth")

    def test_it_held_back(self) -> None:
        for key, value, name in (("rate_iops", "1000", "rate limit"), ("rate", "4m", "rate limit"),
                                 ("thinktime", "50", "think time")):
            found = limit_of(mean=500_000, options={key: value})
            self.assertEqual((found.name, found.why), (name, f"{key}={value}; dies 0 % busy"))
            self.assertEqual(limit_of(mean=910_000, options={key: value}).name, "depth")
        self.assertEqual(limit_of(mean=500_000, options={"rate": "0"}).name, "depth")

    def test_a_rate_that_was_not_reached(self) -> None:
        """1,000 I/Os and 4,096,000 bytes a second are 90 % of at most 1,111 and 4,551,111."""
        for key, reached, missed in (("rate_iops", "1111", "1112"), ("rate", "4551111,1", "4551112,1")):
            self.assertEqual(limit_of(mean=500_000, options={key: reached}).name, "rate limit")
            self.assertEqual(limit_of(mean=500_000, options={key: missed}).name, "depth")
        self.assertEqual(limit_of(mean=500_000, options={"rate_iops": "600", "numjobs": "2"}).name, "depth")
        self.assertEqual(limit_of(mean=500_000, options={"rate_iops": "550", "numjobs": "2"}).name, "rate limit")

    def test_each_direction_has_a_rate(self) -> None:
        """fio takes 'reads,writes,trims'; a direction that is left out has no limit."""
        for key, rate in (("rate_iops", "1000"), ("rate", "4m")):
            for section, told, name in (("write", f",{rate}", "rate limit"), ("read", f",{rate}", "depth"),
                                        ("read", f"{rate},9g", "rate limit"), ("write", f"{rate},9g", "depth"),
                                        ("write", f"9g,{rate},9g", "rate limit"), ("write", f"{rate},", "depth")):
                with self.subTest(told, section=section):
                    found = limit_of(op([5] * 4), mean=500_000, options={key: told}, section=section)
                    self.assertEqual(found.name, name)

    def test_fio_asks_for_the_time_while_it_waits(self) -> None:
        held = {"executed": (990_000,), "mean": 500_000}
        found = limit_of(options={"rate_iops": "1000"}, **held)
        self.assertEqual((found.name, found.why), ("rate limit", "rate_iops=1000; processor 99 % busy"))
        self.assertFalse(found.alarm())
        self.assertEqual(limit_of(options={"rate_iops": "2000"}, **held).name, "processor")
        found = limit_of(options={"rate_iops": "1000"}, by_source=dies(3_960_000), **held)
        self.assertEqual((found.name, found.why), ("die", "dies 99 % busy"))

    def test_without_fio(self) -> None:
        found = limit_of()
        self.assertEqual((found.name, found.why, found.depth, found.guest), ("unclear", "dies 0 % busy", None, None))

    def test_a_job_that_verifies_what_it_wrote(self) -> None:
        """10 writes in 10 ms, 4 in flight, then 10 reads in 10 ms, 2 in flight: 3 in flight over the 20 ms."""
        for options, guest in (({"rw": "write", "verify": "crc32c"}, 3.0),
                               ({"rw": "randwrite", "verify": "md5"}, 3.0),
                               ({"rw": "write", "verify": "crc32c", "do_verify": "0"}, 6.0),
                               ({"rw": "randrw", "verify": "crc32c"}, 6.0),
                               ({"rw": "randrw"}, 6.0)):
            with self.subTest(options):
                job = fio("job", "write", 10, 4e6, options=options)
                job["read"] = fio("job", "read", 10, 2e6)["read"]
                drive = account(read=op([5] * 10), write=op([5] * 10))
                dev = device(drive, [mark("begin", "job", MS), mark("end", "job", 21 * MS, drive)])
                result = {"jobs": [job]}
                found = limits.of(account_.Device(dev), result, rows.build(dev, result))["job"]
                self.assertAlmostEqual(found.guest, guest, places=9)

    def test_flushes_count(self) -> None:
        """10 writes of 0.4 ms and one flush of 6 ms in 10 ms: one in flight."""
        job = fio("job", "write", 10, 400_000.0)
        job["write"]["runtime"] = 10
        job["sync"] = {"total_ios": 1, "lat_ns": {"mean": 6e6, "max": 6e6}}
        drive = account(write=op([5] * 10), flush=op([5]))
        dev = device(drive, [mark("begin", "job", MS), mark("end", "job", 11 * MS, drive)])
        result = {"jobs": [job]}
        found = limits.of(account_.Device(dev), result, rows.build(dev, result))["job"]
        self.assertAlmostEqual(found.guest, 1.0, places=9)


class Alarm(unittest.TestCase):
    """Test the warnings about jobs that measured the guest."""

    def alarms(self, executed: Any, die_ns: int, options: Any = None) -> Any:
        result = {"jobs": [fio("job", "read", 4, 65536.0, options=options or {})]}
        return report.Report(of_job(CELLS, executed, by_source=dies(die_ns)), result, record()).alarms()

    def test_a_busy_processor_and_an_idle_drive(self) -> None:
        (text,) = self.alarms((400_000, 951_000), 3_800_000)
        self.assertIn("job: a processor of the guest was busy for 95 % of the time, and the drive for 95 %", text)
        self.assertEqual(self.alarms((950_000,), 0), [])
        self.assertEqual(self.alarms((1_000_000,), 3_800_004), [])
        self.assertEqual(self.alarms((1_000_000,), 0, {"ioengine": "io_uring", "hipri": "1"}), [])


    def test_no_option_is_broken_into_two_lines(self) -> None:
        self.assertEqual(report._wrap("a " * 47 + "--cpu-rate", 100), ["a " * 46 + "a", "--cpu-rate"])


class Golden(unittest.TestCase):
    """Compare a whole run with figures computed by hand from its files."""

    def setUp(self) -> None:
        self.run_ = runfiles.load(GOLDEN)
        run = self.run_
        self.report = report.Report(run.device, run.fio, run.record, None, run.series)
        self.text = self.report.text()

    def test_processors(self) -> None:
        """The vCPU is busy for 1,000,000,000 ns of 1,677,026,202, and for 20, 50 and 30 % of the jobs' own times."""
        self.assertIn("\nvCPUs     59.6 % busy, each at 4 GIPS\n", self.text)
        shares = {job: limit.use.processor() for job, limit in self.report.limits.items()}
        self.assertEqual({job: round(share, 7) for job, share in shares.items()},
                         {"psync": 0.2, "deep": 0.5, "beside": 0.3})  # fmt: skip
        self.assertRegex(self.text, r"guest = .* dies  bus  cpu\npsync .* 42%   8%  20%\ndeep .* 13%  50%\n")

    def test_limits(self) -> None:
        """psync: 7142.857 a second x 136,553 ns; 36,774,000 of 43,809,112 ns; 99,000 of 136,553 ns.

        In the ten rows from 1072 to 1112 ms, die 0 was busy for 18,449,760 ns of 40,000,000.
        beside: 200 x 159,564 ns and 24 x 5,925,420 ns in 175 ms; 2,589,580,981 of 176,532,791 ns.
        """
        self.assertRegex(
            self.text,
            r"\nlimits +limit +depth +guest +drive\n"
            r"psync +depth +1 +0\.98 +0\.84  latency 72 % cell; busiest die 46 % busy\n"
            r"deep +die +32 +31\.7 +30\.\d  dies 100 % busy\n"
            r"beside +die +1 +0\.99 +14\.7  dies 99 % busy\n",
        )

    def test_the_tables_are_no_wider_than_a_screen(self) -> None:
        tables = self.text[self.text.index("\nmean, µs") : self.text.index("\ndrive  ")]
        self.assertGreaterEqual(len(tables.splitlines()), 12)
        for line in tables.splitlines():
            self.assertLessEqual(len(line), report.WIDTH, line)

    def test_the_series_adds_up(self) -> None:
        series = json.loads((GOLDEN / "series.json").read_text())
        self.assertEqual([sum(column) for column in series["processors"]], self.run_.device["processors"])

    def test_runs_without_processors(self) -> None:
        """Runs in real time, and older runs, have no processor times."""
        run = self.run_
        del run.device["processors"], run.series.raw["processors"]
        for one in run.device["marks"]:
            del one["processors"]
        shown = report.Report(run.device, run.fio, run.record, None, run.series)
        self.assertEqual({job: limit.name for job, limit in shown.limits.items()},
                         {"psync": "depth", "deep": "die", "beside": "die"})  # fmt: skip
        text = shown.text()
        self.assertNotIn("vCPUs", text)
        self.assertNotIn("cpu", text.replace("--cpu-rate", ""))

    def test_more_processors_at_the_end_than_at_the_begin(self) -> None:
        """An edited file does not make the report fail."""
        device_ = self.run_.device
        device_["marks"][0]["processors"] = []
        shape.check(device_, runfiles._FILES["device.json"])
        shown = report.Report(device_, self.run_.fio, self.run_.record)
        self.assertIsNone(shown.limits["psync"].use.processor())
        self.assertRegex(shown.text(), r"psync +read .* 42%   8%    -\n")


if __name__ == "__main__":
    unittest.main()

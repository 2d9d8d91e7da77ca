# SPDX-License-Identifier: GPL-2.0-or-later
"""Test slate calibrate: which results of a server it accepts, and the rate that follows."""

import contextlib
import io
import json
import re
import tempfile
import unittest
from pathlib import Path
from typing import Any

from support import ROOT

from slate_lib import calibrate, cli
from slate_lib.errors import SlateError

ASKED = {
    "filename": "/dev/nullb0",
    "ioengine": "psync",
    "direct": "1",
    "rw": "randread",
    "bs": "4k",
    "iodepth": "1",
    "cpus_allowed": "0",
    "clocksource": "clock_gettime",
    "clat_percentiles": "0",
    "lat_percentiles": "0",
    "number_ios": "5000000",
}


def result(job: Any = None, **asked: Any) -> dict[str, Any]:
    """Return a fio.json; an option that is None is left out."""
    read = {"total_ios": 5_000_000, "iops": 8e5, "runtime": 6250, "lat_ns": {"mean": 1100.0, "max": 9}}
    told = {key: value for key, value in {**ASKED, **asked}.items() if value is not None}
    return {"jobs": [{"jobname": "calibrate", "error": 0, "ctx": 40, "job options": told, "read": read, **(job or {})}]}


class Server(unittest.TestCase):
    """Test on results that fio wrote on the server."""

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.path = Path(holder.name) / "fio.json"

    def read(self, found: Any) -> Any:
        self.path.write_text(found if isinstance(found, str) else json.dumps(found))
        return calibrate.read(self.path)

    def refused(self, found: Any, *words: Any, fix: str = "calibrate.fio") -> None:
        with self.assertRaises(SlateError) as caught:
            self.read(found)
        self.assertEqual(caught.exception.code, 2)
        for word in (str(self.path), *words):
            self.assertIn(word, caught.exception.message)
        self.assertIn(fix, caught.exception.fix)

    def test_the_mean(self) -> None:
        self.assertEqual(self.read(result()), 1100.0)
        self.assertEqual(self.read(result(bs="4096", rw="randread", filename="/dev/nullb1")), 1100.0)
        self.assertEqual(self.read(result(iodepth=None, ioengine=None, bs=None)), 1100.0)    # fio's defaults
        shared = result(filename=None)
        self.assertEqual(self.read({**shared, "global options": {"filename": "/dev/nullb0"}}), 1100.0)

    def test_another_job(self) -> None:
        for key, value, said in (
            ("ioengine", "libaio", "ioengine=libaio, not ioengine=psync"),
            ("rw", "randwrite", "rw=randwrite, not rw=randread"),
            ("rw", None, "rw=read, not rw=randread"),
            ("direct", "0", "direct=0, not direct=1"),
            ("direct", None, "direct=0, not direct=1"),
            ("iodepth", "2", "iodepth=2, not iodepth=1"),
            ("numjobs", "4", "numjobs=4, not numjobs=1"),
            ("clocksource", None, "clocksource=cpu, not clocksource=clock_gettime"),
            ("bs", "8k", "bs=8k, not bs=4k"),
            ("bs", "4k,8k", "bs=4k,8k, not bs=4k"),
            ("rate_iops", "1000", "rate_iops=1000, which calibrate.fio has not"),
            ("thinktime", "5", "thinktime=5, which calibrate.fio has not"),
            ("verify", "crc32c", "verify=crc32c, which calibrate.fio has not"),
            ("bsrange", "4k-8k", "bsrange=4k-8k, which calibrate.fio has not"),
            ("time_based", "", "with time_based, which calibrate.fio has not"),
            ("bs", "٤k", "bs=٤k, not bs=4k"),
        ):
            with self.subTest(key=key, value=value):
                self.refused(result(**{key: value}), said)
        self.refused(result({"jobname": "other"}), "one [calibrate]: other")
        self.refused({"jobs": []}, "one [calibrate]: none")
        self.refused({"jobs": result()["jobs"] * 2}, "one [calibrate]: calibrate")

    def test_another_device(self) -> None:
        for device in ("/dev/nvme0n1", "/dev/nullb0:/dev/sda", "nullb0"):
            self.refused(result(filename=device), f"run on {device}, not on null_blk", fix="modprobe null_blk")
        self.refused(result(filename=None), "run on no device", fix="modprobe null_blk")

    def test_reads_that_slept(self) -> None:
        self.assertEqual(self.read(result({"ctx": 500_000})), 1100.0)
        self.refused(
            result({"ctx": 500_001}), "500,001 context switches in 5,000,000 reads", fix="irqmode=0; then run"
        )

    def test_few_reads(self) -> None:
        few = {"total_ios": 9999, "iops": 8e5, "runtime": 12, "lat_ns": {"mean": 1100.0, "max": 9}}
        self.refused(result({"read": few}), "9,999 reads are too few", fix="at least 10,000")
        self.assertEqual(self.read(result({"read": {**few, "total_ios": 10_000}})), 1100.0)
        self.refused(result({"read": {"total_ios": 0}}), "0 reads")
        self.refused(result({"read": {**few, "total_ios": 10_000, "lat_ns": {"mean": 0.0, "max": 0}}}), "is 0")
        self.refused(result({"error": 5}), "ended with error 5", fix="on the server")

    def test_no_result(self) -> None:
        self.refused("fio: hello\n{}", "not what fio writes with --output-format=json")
        self.refused("{}", "it has no 'jobs'")
        self.refused("\xff", "not what fio writes")
        self.refused("[" * 200000, "nested too deep")
        self.path.unlink()
        with self.assertRaises(SlateError) as caught:
            calibrate.read(self.path)
        self.assertIn("no such file", caught.exception.message)

    def test_the_command(self) -> None:
        said, errors = io.TextIOWrapper(io.BytesIO()), io.TextIOWrapper(io.BytesIO())
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(said):
            self.assertEqual(cli.main(["calibrate", str(self.path)]), 2)
        errors.seek(0)
        self.assertIn("fix: name the fio.json of the server", errors.read())


class Rate(unittest.TestCase):
    """Test R = R0 x guest's mean / server's mean."""

    def test_by_hand(self) -> None:
        self.assertEqual(calibrate.rate_of(1000.0, 1000.0, "4"), "4")
        self.assertEqual(calibrate.rate_of(1500.0, 1200.0, "4"), "3.2")
        self.assertEqual(calibrate.rate_of(900.0, 1200.0, "4"), "5.33")
        self.assertEqual(calibrate.rate_of(48000.0, 1200.0, "4"), "0.1")
        self.assertEqual(calibrate.rate_of(150.0, 1200.0, "4"), "32")

    def test_out_of_range(self) -> None:
        for server, said in ((48001.0, "48,001 ns"), (149.9, "a rate of 32")):
            with self.assertRaises(SlateError) as caught:
                calibrate.rate_of(server, 1200.0, "4")
            self.assertIn(said, caught.exception.message)
            self.assertIn("takes 0.1 to 32", caught.exception.message)
            self.assertIn("irqmode=0", caught.exception.fix)


class Job(unittest.TestCase):
    """The shipped job."""

    def test_its_result_is_taken(self) -> None:
        """calibrate checks exactly the options that the job file sets."""
        text = (ROOT / "fio-jobs/calibrate.fio").read_text()
        self.assertIn("\n[calibrate]\n", text)
        self.assertEqual(dict(re.findall(r"^(\w+)=(.*)$", text, re.M)), ASKED)

    def test_the_guest_does_fewer(self) -> None:
        text = (ROOT / "fio-jobs/calibrate.fio").read_text()
        sent = calibrate.script(text)
        self.assertIn("modprobe null_blk queue_mode=2 hw_queue_depth=1 irqmode=0 ", sent)
        self.assertEqual(re.findall("number_ios=.*", sent), ["number_ios=20000"])
        self.assertIn(text.rpartition("number_ios")[0], sent)
        with self.assertRaises(SlateError):
            calibrate.script("[calibrate]\n")


if __name__ == "__main__":
    unittest.main()

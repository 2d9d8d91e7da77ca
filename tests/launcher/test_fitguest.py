# SPDX-License-Identifier: GPL-2.0-or-later
"""Test slate fit --guest: its job files, its refusals, and the results that it prints and writes."""

import contextlib
import csv
import io
import json
import re
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from support import ROOT

from slate_lib import cli, fit, fitguest, fitsheet, jobcheck, launch, paths
from slate_lib.errors import MachineError, SlateError

GOLDEN = ROOT / "tests" / "launcher" / "golden"


def drive(name: str) -> Any:
    """Return a shipped drive."""
    return fit.Drive(paths.PROFILES / "drives" / f"{name}.ini", {})


def sections(name: str, state: str, smp: int = 4, polled: bool = False) -> dict[str, Any]:
    """Return the options of each job of a shipped sheet's state."""
    text = fitguest.job_text(fitsheet.read(fit.find(name)), state, drive(name), fitguest.Guest(smp, polled))
    return {one.name: one.options for one in jobcheck.sections("job", text)}


class Jobs(unittest.TestCase):
    """Compare the job files with ones written by hand."""

    def test_each_state_has_its_numbers(self) -> None:
        self.assertEqual(list(sections("p4500-1tb", "empty")), ["write-qd1", "seq-write"])
        self.assertEqual(list(sections("p4500-1tb", "full")), ["seq-read", "rand-read", "read-qd1", "seq-read-qd1"])
        self.assertEqual(list(sections("p4500-1tb", "aged")), ["sustained"])
        self.assertEqual(list(sections("970evoplus-1tb", "empty")), ["write-qd1", "seq-write", "full-write"])
        self.assertEqual(list(sections("970pro-512gb", "full")), ["seq-read", "rand-read"])
        self.assertEqual(sections("970pro-512gb", "aged"), {})

    def test_every_number_of_a_sheet_has_one_measure(self) -> None:
        self.assertEqual(
            sorted(one.target for one in fitguest.MEASURES), sorted(target.key for target in fitsheet.TARGETS)
        )

    def test_the_sheets_depths(self) -> None:
        for name, state, job, depth in (
            ("p4500-1tb", "full", "seq-read", 32),
            ("pm1725a", "full", "seq-read", 64),
            ("pm1743", "empty", "seq-write", 256),
            ("pm1743", "full", "rand-read", 2048),
            ("970evoplus-1tb", "full", "rand-read", 128),
            ("980-1tb", "full", "rand-read", 512),
            ("p5600", "aged", "sustained", 256),
            ("p4500-1tb", "full", "read-qd1", 1),
            ("p4500-1tb", "full", "seq-read-qd1", 1),
            ("p4500-1tb", "empty", "write-qd1", 1),
        ):
            for smp in (1, 3, 4, 16):
                options = sections(name, state, smp)[job]
                count = int(options.get("numjobs", "1"))
                self.assertEqual(int(options["iodepth"]) * count, depth, (name, job, smp))
                self.assertLessEqual(count, smp)

    def test_processes(self) -> None:
        # The count must divide the depth: 256 on 3 vCPUs takes 2, 100 on 16 takes 10.
        for depth, smp, count in ((256, 4, 4), (256, 3, 2), (100, 16, 10), (7, 4, 1), (1, 16, 1), (32, 1, 1)):
            self.assertEqual(fitguest.processes(depth, smp), count)

    def windows(self, name: str, state: str, job: str) -> tuple[str, str]:
        options = sections(name, state)[job]
        return options["ramp_time"], options["runtime"]

    def test_polled(self) -> None:
        """Rates are polled in batches, latencies are not; nothing else changes."""
        for state in fitguest.STATES:
            for job, options in sections("p4500-1tb", state, polled=True).items():
                plain = sections("p4500-1tb", state)[job]
                self.assertEqual(plain["ioengine"], "libaio")
                if job.endswith("-qd1"):
                    self.assertEqual(options, plain)
                else:
                    self.assertEqual((options["ioengine"], options["hipri"]), ("io_uring", "1"))
                    changed = {key for key in options if options[key] != plain.get(key)}
                    self.assertEqual(changed, {one.partition("=")[0] for one in fitguest.POLLED})

    def test_windows(self) -> None:
        # 4,096 and 12,288 writes of 128 KiB at 600 MB/s: 894.8 and 2,684.4 ms
        self.assertEqual(self.windows("p4500-1tb", "empty", "seq-write"), ("895ms", "2685ms"))
        # The drive has 6 GiB, and 128 blocks a plane, so 16 blocks of each plane are 196,608 units. At 30,500 a
        # second, these and 100,000 more take 9,724.9 ms, and 200,000 take 6,557.4 ms.
        self.assertEqual(self.windows("p4500-1tb", "aged", "sustained"), ("9725ms", "6558ms"))
        # 50 queues of 256 take less than 100 ms at 279,500 a second; so do 2,000 reads at 3,200 MB/s
        for job in ("rand-read", "seq-read"):
            self.assertEqual(self.windows("p4500-1tb", "full", job), ("25ms", "100ms"))

    def test_reads_in_order(self) -> None:
        options = sections("p4500-1tb", "full")["seq-read-qd1"]
        self.assertEqual((options["rw"], options["bs"], options["number_ios"]), ("read", "4k", "10000"))

    def test_windows_of_slow_reads(self) -> None:
        sheet = fitsheet.read(fit.find("p4500-1tb"))
        reads = next(one for one in fitguest.MEASURES if one.target == "rand_read_iops")
        sheet.targets["rand_read_iops"] = 5000
        for depth, window in ((16, (100, 400)), (256, (640, 2560))):  # 2,000 reads; 12,800
            sheet.qd["read_qd"] = depth
            self.assertEqual(fitguest.window_ms(sheet, drive("p4500-1tb"), reads), window)
        # 50 queues of 256 take 129.06 ms at 13,000 MB/s
        self.assertEqual(self.windows("pm1743", "full", "seq-read"), ("32ms", "130ms"))

    def test_an_slc_cache(self) -> None:
        # The cache: 192 planes of 15 blocks of 8 pages of 16 KiB, 360 MiB, 2,880 writes of 128 KiB. Of nine tenths of
        # them a quarter (648) is the ramp and 1,944 count: 25.7 and 77.2 ms at 3,300 MB/s. Past the cache the ramp is
        # 3,168 writes, and a quarter of 8,393 MiB counts: 244.3 and 1,294.2 ms at 1,700 MB/s.
        self.assertEqual(self.windows("970evoplus-1tb", "empty", "seq-write"), ("26ms", "78ms"))
        self.assertEqual(self.windows("970evoplus-1tb", "empty", "full-write"), ("245ms", "1295ms"))
        jobs = sections("970evoplus-1tb", "empty")
        self.assertEqual(jobs["full-write"]["offset"], str(360 << 20))
        self.assertNotIn("offset", jobs["seq-write"])

    def test_a_map_cache(self) -> None:
        # 491 pages of 4,096 entries of 4 KiB are 16 MiB each; half of that
        for job in ("seq-read", "rand-read", "read-qd1"):
            self.assertEqual(sections("980-1tb", "full")[job]["size"], str(491 * 8 << 20))
        self.assertNotIn("size", sections("980-1tb", "empty")["seq-write"])
        self.assertNotIn("size", sections("p4500-1tb", "full")["seq-read"])

    def test_stated_in_the_file(self) -> None:
        text = fitguest.job_text(fitsheet.read(fit.find("p5600")), "aged", drive("p5600"), fitguest.Guest(8))
        self.assertTrue(text.startswith("# aged: numbers of the sheet p5600, "))
        self.assertIn("Run it with 8 processors.", text)
        self.assertIn("\ncpus_allowed=0-7\n", text)


def fio(**rates: Any) -> dict[str, Any]:
    """Return fio's results of jobs: IOPS of 4 KiB, or a time in ns."""
    jobs = []
    for name, value in rates.items():
        job, op = name.replace("_", "-"), "write" if "write" in name or name == "sustained" else "read"
        side = {"total_ios": 9, "iops": value, "bw_bytes": int(value * 1e6), "runtime": 100}
        side["lat_ns"] = {"mean": value, "max": value, "N": 9, "percentile": {"50.000000": int(value)}}
        jobs.append({"jobname": job, op: side})
    return {"jobs": jobs}


# These are numbers of p4500-1tb; MB/s are fio's bytes a second.
RUNS = {
    "empty": {"write_qd1": 20_500.0, "seq_write": 606.0},
    "full": {"seq_read": 3200.0, "rand_read": 279_500.0, "read_qd1": 85_425.0, "seq_read_qd1": 10_010.0},
    "aged": {"sustained": 29_890.0},
}


class Command(unittest.TestCase):
    """Run the command on runs made by hand."""

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.words: list[list[str]] = []

    def run_one(self, words: list[str]) -> None:
        """Write a finished run in place of 'slate run'."""
        self.words.append(words)
        out = Path(words[words.index("--out") + 1])
        out.mkdir()
        for name in ("device.json", "run.json"):
            (out / name).write_bytes((GOLDEN / name).read_bytes())
        (out / "fio.json").write_text(json.dumps(fio(**self.runs[out.name])))

    def fit(self, *words: Any, runs: Any = None) -> tuple[Any, ...]:
        """Return exit status, standard output and standard error of 'slate fit'."""
        self.runs = runs or RUNS
        streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
        with (
            mock.patch.object(launch, "quietly", self.run_one),
            contextlib.redirect_stdout(streams[0]),
            contextlib.redirect_stderr(streams[1]),
        ):
            status = cli.main(["fit", *words])
        told = []
        for stream in streams:
            stream.flush()
            told.append(stream.buffer.getvalue().decode())
        return status, *told

    def guest(self, *words: Any, **more: Any) -> tuple[Any, ...]:
        return self.fit("--guest", *words, "--out", str(self.folder / "out"), **more)

    def test_the_results(self) -> None:
        status, out, err = self.guest("p4500-1tb")
        self.assertEqual(status, 0, err)
        for row in (
            r"sequential read +3,200 +3,200 +[+-]0\.0 %  MB/s",
            r"sequential write +600 +606 +\+1\.0 %  MB/s",
            r"random read +279,500 +279,500 +[+-]0\.0 %  IOPS",
            r"sustained random write +30,500 +29,890 +-2\.0 %  IOPS",
            r"random read, QD 1 +85\.0 +85\.4 +\+0\.5 %  µs",
            r"read in order, QD 1 +10\.0 +10\.0 +\+0\.1 %  µs",
            r"random write, QD 1 +20\.0 +20\.5 +\+2\.5 %  µs",
        ):
            self.assertRegex(out, rf"(?m)^{row}$")
        self.assertIn("sheet       guest", out)
        record = json.loads((self.folder / "out" / "numbers.json").read_text())
        self.assertEqual((record["sheet"], record["smp"]), ("p4500-1tb", 4))
        with (self.folder / "out" / "numbers.csv").open() as lines:
            table = list(csv.DictReader(lines))
        self.assertEqual([row["number"] for row in table], [row["number"] for row in record["numbers"]])
        found = {row["number"]: (row["depth"], row["sheet"], row["guest"], row["error_percent"]) for row in table}
        self.assertEqual(found["sustained_write_iops"], ("256", "30500.0", "29890.0", "-2.0"))
        self.assertEqual(found["seq_write_mb_s"], ("32", "600.0", "606.0", "1.0"))
        self.assertEqual(found["read_us"], ("1", "85.0", "85.425", "0.5"))

    def test_the_runs(self) -> None:
        self.guest("p4500-1tb", "--smp", "8")
        states = {words[words.index("--out") + 1].rpartition("/")[2]: " ".join(words) for words in self.words}
        self.assertEqual(list(states), ["empty", "full", "aged"])
        for state, content in (("empty", "--fill 0"), ("full", "--fill 100"), ("aged", "--fill 100 --age 2")):
            self.assertIn(f" {content} --job {self.folder}/out/{state}.fio --smp 8 ", states[state])
            self.assertIn(f"--profile {paths.PROFILES}/drives/p4500-1tb.ini --set ftl.payload=no", states[state])
            text = (self.folder / "out" / f"{state}.fio").read_text()
            sheet = fitsheet.read(fit.find("p4500-1tb"))
            self.assertEqual(text, fitguest.job_text(sheet, state, drive("p4500-1tb"), fitguest.Guest(8)))

    def test_polled(self) -> None:
        """The driver gets a polled queue for each processor, and the results name the engine."""
        status, out, err = self.guest("p4500-1tb", "--polled")
        self.assertEqual(status, 0, err)
        self.assertIn("4 vCPUs, rates polled (io_uring); results in", out)
        for words in self.words:
            self.assertIn("--smp 4 --kernel-arg nvme.poll_queues=4 ", " ".join(words))
        with (self.folder / "out" / "numbers.csv").open() as lines:
            engines = {row["number"]: row["engine"] for row in csv.DictReader(lines)}
        self.assertEqual((engines["rand_read_iops"], engines["read_us"]), ("io_uring, polled", "libaio"))
        self.assertIn("Run it with 4 processors and nvme.poll_queues=4.", (self.folder / "out/full.fio").read_text())

    def test_the_timeout_is_the_runs(self) -> None:
        self.guest("p4500-1tb", "--timeout", "7200")
        self.assertEqual([words[words.index("--timeout") + 1] for words in self.words], ["7200"] * 3)

    def test_a_number_that_is_off(self) -> None:
        for reads, wanted in ((279_500 * 1.0499, 0), (279_500 * 0.9501, 0), (279_500 * 1.051, 1), (279_500 * 0.949, 1)):
            runs = {**RUNS, "full": {**RUNS["full"], "rand_read": reads}}
            with self.subTest(reads), tempfile.TemporaryDirectory() as name:
                self.folder = Path(name)
                self.assertEqual(self.guest("p4500-1tb", runs=runs)[0], wanted)

    def test_a_job_without_results(self) -> None:
        status, _, err = self.guest("p4500-1tb", runs={**RUNS, "empty": {"write_qd1": 20_000.0}})
        self.assertEqual(status, 2)
        self.assertRegex(err, r"out/empty: fio has no results of its job seq-write\n")
        self.assertFalse((self.folder / "out").exists())

    def test_refused(self) -> None:
        own = self.folder / "p4500-1tb.ini"  # its name is that of a shipped drive, but its numbers may be others
        own.write_text("[sheet]\nread_us = 85\n")
        drives = paths.PROFILES / "drives"
        for words, says in (
            (["--guest"], "no sheet is named"),
            (["--guest", "p4500-1t"], "no such sheet: p4500-1t; did you mean p4500-1tb?"),
            (["--guest", str(own)], f"no profile is shipped for the sheet {own}"),
            (["--guest", "p5600", "--profile", "p560"], "no such profile: p560; did you mean p5600?"),
            (["--guest", "p5600", "--smp", "0"], "--smp 0: out of range"),
            (["--guest", "p5600", "--smp", "17"], "--smp 17: out of range"),
            (["--guest", "p5600", "-o", "x.ini"], "-o with --guest"),
            (["--guest", "p5600", "--job"], "--job with --guest"),
            (["--guest", "--list"], "--list with --guest"),
            (["p5600", "--smp", "4"], "--smp without --guest"),
            (["p5600", "--out", "x"], "--out without --guest"),
            (["p5600", "--timeout", "9"], "--timeout without --guest"),
            (["p5600", "--polled"], "--polled without --guest"),
            (["p5600", "--profile", "tlc"], "--profile without --guest"),
            (["--guest", "p5600", "--profile", str(drives / "970evoplus-1tb.ini")],
             "970evoplus-1tb.ini has ftl.slc_blocks, but p5600.ini does not have slc_cache_permille"),
            (["--guest", "980-1tb", "--profile", "p5600"],
             "980-1tb.ini has map_cache_permille, but p5600.ini has no such cache (ftl.map_cache_pages)"),
        ):  # fmt: skip
            with self.subTest(" ".join(words)):
                status, _, err = self.fit(*words)
                self.assertEqual(status, 2)
                self.assertIn(says, err)
                self.assertRegex(err, r"\n  fix: \S")
        self.assertEqual(self.words, [])

    def test_an_output_that_is_not_empty(self) -> None:
        (self.folder / "out").mkdir()
        (self.folder / "out" / "mine").write_text("")
        status, _, err = self.guest("p4500-1tb")
        self.assertEqual(status, 2)
        self.assertIn("there is something in it already", err)
        self.assertEqual([one.name for one in (self.folder / "out").iterdir()], ["mine"])

    def test_a_run_that_fails(self) -> None:
        with mock.patch.object(self, "run_one", side_effect=SlateError("QEMU is not there", "run 'make qemu'")):
            status, _, err = self.guest("p4500-1tb")
        self.assertEqual(status, 2)
        self.assertIn("QEMU is not there\n  fix: run 'make qemu'", err)
        self.assertFalse((self.folder / "out").exists())
        with mock.patch.object(self, "run_one", side_effect=MachineError("the guest hangs", "see its console")):
            status, _, err = self.guest("p4500-1tb")
        self.assertEqual(status, 3)
        self.assertTrue((self.folder / "out" / "empty.fio").exists())

    def test_an_own_sheet(self) -> None:
        own = self.folder / "mine.ini"
        own.write_text("[sheet]\nread_us = 85\n")
        status, out, err = self.guest(str(own), "--profile", "p4500-1tb")
        self.assertEqual(status, 0, err)
        self.assertEqual(len(self.words), 1)
        self.assertEqual(len(re.findall("%  ", out)), 1)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test slate fit: sheets that are refused, the search, the profile that is written."""

import configparser
import contextlib
import io
import json
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from support import ROOT

from slate_lib import cli, fit, fitfio, fitsheet, paths
from slate_lib.errors import SlateError

SHEET = """\
[sheet]
source = a test
pcie = 3x4
seq_read_mb_s = 3200
seq_write_mb_s = 1050
rand_read_iops = 490000
sustained_write_iops = 38000
read_us = 85
write_us = 20
[flash]
like = tlc
"""


class Case(unittest.TestCase):
    """Test with a sheet in a file."""

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.path = self.folder / "mine.ini"

    def sheet(self, *changes: Any, text: str = SHEET) -> Any:
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.path.write_text(text)
        return fitsheet.read(self.path)

    def fit(self, *words: Any) -> tuple[int, str, str]:
        """Return exit status, standard output and standard error."""
        streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            status = cli.main(["fit", *words])
        for stream in streams:
            stream.seek(0)
        return status, streams[0].read(), streams[1].read()


class Sheets(Case):
    """Parsing of sheets."""

    def refused(self, *changes: Any, says: str) -> None:
        with self.assertRaises(SlateError) as caught:
            self.sheet(*changes)
        self.assertEqual(caught.exception.code, 2)
        self.assertIn(says, str(caught.exception))

    def test_all_of_it(self) -> None:
        found = self.sheet(("like = tlc", "like = qlc\ntiming.read_ns = 70000"))
        self.assertEqual(
            found.targets,
            {
                "seq_read_mb_s": 3200, "seq_write_mb_s": 1050, "rand_read_iops": 490000,
                "sustained_write_iops": 38000, "read_us": 85, "write_us": 20,
            },
        )  # fmt: skip
        self.assertEqual(found.settings(), {"link.generation": "3", "link.lanes": "4", "timing.read_ns": "70000"})
        self.assertEqual(found.base, paths.PROFILES / "qlc.ini")
        self.assertEqual(found.qd, {"seq_qd": 32, "read_qd": 256, "write_qd": 256})
        self.assertEqual(found.path_ns, {"read": 2620, "write": 2690})

    def test_bad_values(self) -> None:
        self.refused(("= 3200", "= fast"), says="[sheet] seq_read_mb_s = 'fast': must be a number, 1 .. 200,000")
        self.refused(("= 3200", "= 0"), says="seq_read_mb_s = '0': must be a number")
        self.refused(("= 3200", "= nan"), says="seq_read_mb_s = 'nan': must be a number")
        self.refused(("3x4", "7x4"), says="pcie = '7x4': must be the generation and the lanes")
        self.refused(("read_us", "read_ms"), says="read_ms: there is no such key; did you mean read_us?")
        self.refused(("like = tlc", "like = tcl"), says="no such profile: tcl; did you mean tlc?")
        self.refused(("like = tlc", "read_ns = 1"), says="[flash] read_ns: must be 'like' or a key of a profile")
        self.refused(("[flash]", "[flesh]"), says="there is no section [flesh]")
        self.refused(("[sheet]", "[sheet"), says="is not a sheet")

    def test_no_target(self) -> None:
        with self.assertRaisesRegex(SlateError, "no number of a data sheet is given"):
            self.sheet(text="[sheet]\npcie = 3x4\n")

    def test_contradictions(self) -> None:
        # 4 KiB each: 1,000,000 are 4,096 MB/s; 300,000 are 1,228.8. PCIe 3 x4: 4 x 0.98462 GB/s x 907 / 1000.
        for change, says in (
            (("490000", "1000000"), "rand_read_iops = 1,000,000 are 4,096 MB/s, more than seq_read_mb_s = 3,200"),
            (("38000", "300000"), "sustained_write_iops = 300,000 are 1,229 MB/s, more than seq_write_mb_s = 1,050"),
            (("= 3200", "= 3600"), "seq_read_mb_s = 3,600 is more than 3,572 MB/s, the payload of pcie = 3x4"),
            (("read_us = 85", "read_us = 800"), "with read_us = 800 they are at most 320,000 (Little's law)"),
            (("write_us = 20", "write_us = 2.69"), "write_us = 2.69 is not above write_path_us = 2.69"),
            (("write_us = 20", "seq_read_us = 2.62"), "seq_read_us = 2.62 is not above read_path_us = 2.62"),
            (("write_us = 20", "seq_read_us = 1.25\nread_path_us = 0"),
             "seq_read_us = 1.25 is 3,277 MB/s in 4 KiB, more than seq_read_mb_s = 3,200"),
            # tlc.ini has 50 us, of which a fit tries at least half
            (("read_us = 85", "read_us = 27.6"),
             "read_us = 27.6 is not above 25 of the cell (half the read_ns of tlc, the least of a fit) and "
             "read_path_us = 2.62"),
            (("like = tlc", "like = tlc\ntiming.read_ns = 83000"),
             "read_us = 85 is not above 83 of the cell (timing.read_ns in [flash]) and read_path_us = 2.62"),
        ):
            found = fitsheet.contradictions(self.sheet(change))
            self.assertEqual(len(found), 1, found)
            self.assertIn(says, found[0])
        self.assertEqual(fitsheet.contradictions(self.sheet()), [])
        self.assertEqual(fitsheet.contradictions(self.sheet(("read_us = 85", "read_us = 27.7"))), [])

    def test_caches(self) -> None:
        for added, says in (
            ("full_write_mb_s = 500\n", "full_write_mb_s = 500 needs slc_cache_permille"),
            ("full_write_mb_s = 2000\nslc_cache_permille = 42\n", "is more than seq_write_mb_s = 1,050"),
            ("slc_cache_permille = 42\nmap_cache_permille = 64\n", "has one of these caches at a time"),
        ):
            found = fitsheet.contradictions(self.sheet(("[flash]", added + "[flash]")))
            self.assertEqual(len(found), 1, found)
            self.assertIn(says, found[0])
        self.refused(("[flash]", "slc_cache_permille = 400\n[flash]"), says="must be a number, 1 .. 300")
        self.refused(("[flash]", "map_cache_permille = 0\n[flash]"), says="must be a number, 1 .. 999")

    def test_refused_before_any_replay(self) -> None:
        self.sheet(("490000", "1000000"))
        with mock.patch.object(fit.Drive, "replay", side_effect=AssertionError("a replay")):
            status, out, err = self.fit(str(self.path))
        self.assertEqual((status, out), (2, ""))
        self.assertIn("more than seq_read_mb_s", err)
        self.assertFalse((self.folder / "mine.ini.part").exists())

    def test_the_shipped(self) -> None:
        names = [path.stem for path in (paths.PROFILES / "sheets").glob("*.ini")]
        self.assertTrue(names)
        for name in names:
            found = fitsheet.read(fit.find(name))
            self.assertEqual(fitsheet.contradictions(found), [], name)
            self.assertIn("source", found.texts, name)
            self.assertIn("about", found.texts, name)
        status, out, _ = self.fit("--list")
        self.assertEqual(status, 0)
        self.assertEqual([line.split()[0] for line in out.splitlines()[1:]], sorted(names))

    def test_unknown_names(self) -> None:
        for words, says in (([], "no sheet is named"), (["p4500-2tbb"], "did you mean p4500-2tb?")):
            status, _, err = self.fit(*words)
            self.assertEqual(status, 2)
            self.assertIn(says, err)


def measured() -> dict[str, Any]:
    """Return fio 3.33's results of fit.fio, less what is not read: of the known drive of docs/results/drives."""
    found: dict[str, Any] = json.loads((ROOT / "tests" / "launcher" / "measured.json").read_text(encoding="utf-8"))
    return found


MEASURED = "[sheet]\npcie = 3x4\nfio = results.json\n"


class Measured(Case):
    """Test targets from fio's results of a real drive."""

    def results(self, fio: Any, text: str = MEASURED) -> Any:
        words = fio if isinstance(fio, str) else json.dumps(fio)
        (self.folder / "results.json").write_text(words)
        return self.sheet(text=text)

    def test_targets_and_curve(self) -> None:
        found = self.results(measured())
        self.assertEqual(
            found.targets,
            {"seq_write_mb_s": 1973.790117, "seq_read_mb_s": 3215.806099, "read_us": 87.175187391,
             "seq_read_us": 87.174955799, "rand_read_iops": 196_653.465347, "write_us": 34.032,
             "sustained_write_iops": 32_459.940653},
        )  # fmt: skip
        self.assertEqual(found.curve, {4: 43_184.079602, 16: 132_432.835821, 64: 197_079.60199})
        self.assertEqual(found.qd, {"seq_qd": 32, "read_qd": 256, "write_qd": 256})

    def test_refused(self) -> None:
        def changed(number: int, **options: Any) -> dict[str, Any]:
            fio = measured()
            fio["jobs"][number]["job options"].update(options)
            return fio

        failed = measured()
        failed["jobs"][2]["error"] = 5
        blind = measured()
        del blind["jobs"][8]["write"]["lat_ns"]["percentile"]
        none = {"jobs": measured()["jobs"][9:10]}
        for fio, says in (
            ("{", "is not what fio writes with --output-format=json"),
            ({"jobs": [{}]}, "is not what fio writes"),
            (changed(2, iodepth="2"), "job read-qd1 ran with iodepth=2, not 1"),
            (changed(7, bs="8k"), "job read-qd256 ran with bs=8k, not 4096"),
            (changed(0, rw="randwrite"), "job seq-write ran with rw=randwrite, not write"),
            (failed, "job read-qd1 ended with error 5"),
            (blind, "job write-qd1 has no percentiles"),
            (none, "it has results of no job that gives a target: seq-write, seq-read, read-qd1"),
        ):
            with self.subTest(says), self.assertRaises(SlateError) as caught:
                self.results(fio)
            self.assertIn(says, str(caught.exception))
        with self.assertRaisesRegex(SlateError, "has both fio and read_us"):
            self.results(measured(), MEASURED + "read_us = 85\n")
        with self.assertRaisesRegex(SlateError, "can not read .*nothing.json"):
            self.sheet(text="[sheet]\nfio = nothing.json\n")

    def test_the_job_has_what_is_read(self) -> None:
        status, out, _ = self.fit("--job")
        self.assertEqual(status, 0)
        job = configparser.ConfigParser(interpolation=None, allow_no_value=True)
        job.read_string(out)
        for one in fitfio.JOBS:
            asked = (job[one.name]["rw"], job[one.name]["bs"], job[one.name]["iodepth"])
            self.assertEqual(asked, (one.rw, f"{one.block_bytes >> 10}k", str(one.depth)), one.name)
        self.assertEqual(set(job.sections()) - {"global", "age"}, {one.name for one in fitfio.JOBS})

    def test_the_curve_is_printed(self) -> None:
        search = fit.Fit(self.results(measured()), lambda _: None)
        # Reads in flight take so many us in the drive, and 2.62 in the host: 4 of 86 us are 45,137 a second.
        mean_us = {4: 86.0, 16: 117.38, 64: 317.38}
        with mock.patch.object(fit.Drive, "rand_read_mean_us", lambda _, depth: mean_us[depth]):
            curve = {depth: search.reads_at(depth) for depth in search.sheet.curve}
        for depth, host_us in ((4, 88.62), (16, 120), (64, 320)):
            self.assertAlmostEqual(curve[depth], depth * 1e6 / host_us, places=6)
        self.assertEqual(
            fit.curve_table(search.sheet, curve).split(),
            "random read, QD 4 43,184 45,137 +4.5 % IOPS not fitted "
            "random read, QD 16 132,433 133,333 +0.7 % IOPS not fitted "
            "random read, QD 64 197,080 200,000 +1.5 % IOPS not fitted".split(),
        )


class Search(Case):
    """Fit a drive whose figures are formulas in place of replays."""

    def setUp(self) -> None:
        super().setUp()

        def number(drive: Any, key: str) -> float:
            return float(drive.settings.get(key) or drive.facts()["settings"][key])

        def read_us(drive: Any, _: object) -> float:
            return (number(drive, "ftl.overhead_ns") + number(drive, "timing.read_ns")) / 1000

        def write_us(drive: Any, _: object) -> float:
            return (number(drive, "ftl.overhead_ns") + number(drive, "ftl.buffer_ns")) / 1000

        def rand_read_iops(drive: Any, _: object) -> float:
            cores = 1e9 * number(drive, "controller.cores") / number(drive, "ftl.overhead_ns")
            return min(cores, 30_000 * number(drive, "geometry.chips_per_channel"))

        def seq_read_us(drive: Any, _: object) -> float:
            return (number(drive, "ftl.overhead_ns") + number(drive, fit.HIT)) / 1000

        for name, formula in (
            ("read_us", read_us),
            ("write_us", write_us),
            ("seq_read_us", seq_read_us),
            ("rand_read_iops", rand_read_iops),
            ("seq_read_mb_s", lambda drive, _: 3.9 * number(drive, "link.data_permille")),
            (
                "seq_write_mb_s",
                lambda drive, _: 5e8 / number(drive, fit.SLC.key if drive.slc_bytes() else "timing.program_ns"),
            ),
            ("full_write_mb_s", lambda drive, _: 5e8 / number(drive, "timing.program_ns")),
            ("sustained_write_iops", lambda drive, _: 200 * number(drive, "ftl.op_permille")),
        ):
            self.enterContext(mock.patch.object(fit.Drive, name, formula))

    def found(self, *changes: Any) -> Any:
        search = fit.Fit(self.sheet(*changes), lambda _: None)
        return search.run(), search

    def test_every_number(self) -> None:
        shown, search = self.found()
        for key, wanted in search.sheet.targets.items():
            self.assertAlmostEqual(shown[key] / wanted, 1, delta=0.025 if "sustained" in key else 0.005, msg=key)
        self.assertEqual(search.stopped, {})
        keys = {key: float(value) for key, value in search.drive.settings.items() if key in search.fitted}
        for key, value in (
            ("ftl.overhead_ns", 4e9 / 490_000),
            ("timing.read_ns", 85_000 - 2620 - 4e9 / 490_000),
            ("ftl.buffer_ns", 20_000 - 2690 - 4e9 / 490_000),
            ("timing.program_ns", 5e8 / 1050),
            ("link.data_permille", 3200 / 3.9),
            ("ftl.op_permille", 190),
        ):
            self.assertAlmostEqual(keys[key] / value, 1, delta=0.025 if "op_" in key else 0.005, msg=key)
        # 16 chips give 480,000 reads, 24 give 720,000
        self.assertEqual(keys["geometry.chips_per_channel"], 24)

    def test_the_second_round_checks_the_first(self) -> None:
        calls = []

        def count(drive: Any, _: object) -> float:
            calls.append(drive)
            return 3.9 * float(drive.settings.get("link.data_permille", 907))

        counts = []
        for rounds in (1, 2):
            calls.clear()
            with mock.patch.object(fit, "ROUNDS", rounds), mock.patch.object(fit.Drive, "seq_read_mb_s", count):
                shown, _ = self.found()
            self.assertAlmostEqual(shown["seq_read_mb_s"] / 3200, 1, delta=fit.PRECISION)
            counts.append(len(calls))
        self.assertEqual(counts[1] - counts[0], 1)

    def test_an_slc_cache(self) -> None:
        shown, search = self.found(("[flash]", "slc_cache_permille = 42\nfull_write_mb_s = 500\n[flash]"))
        self.assertAlmostEqual(shown["seq_write_mb_s"], 1050, delta=5)
        self.assertAlmostEqual(shown["full_write_mb_s"], 500, delta=2)
        keys = search.drive.settings
        self.assertAlmostEqual(float(keys["timing.slc_program_ns"]) / (5e8 / 1050), 1, delta=0.005)
        self.assertAlmostEqual(float(keys["timing.program_ns"]) / 1e6, 1, delta=0.005)
        # There are 128 blocks with three bits a cell and 190 permille of spare: 0.042 x 128 x 3 / 1.19 = 13.55. The
        # erase of a block cut to 24 of 2,112 pages takes 10 ms x 24 / 2112.
        for key, value in (
            ("ftl.slc_cache", "dynamic"),
            ("ftl.slc_blocks", "14"),
            ("timing.slc_read_ns", "25000"),
            ("timing.slc_erase_ns", "56818"),
        ):
            self.assertEqual(keys[key], value, key)

    def test_a_map_cache(self) -> None:
        flash = "geometry.chips_per_channel = 1\ngeometry.planes_per_die = 1\ngeometry.pages_per_block = 480\n"
        added = ("sustained_write_iops = 38000\n", "map_cache_permille = 500\n")
        _, search = self.found(("[flash]\n", "[flash]\nftl.op_permille = 200\n" + flash), added)
        # 8 planes of 128 blocks of 480 pages of 16 KiB are 7,680 MiB, 6,400 without the spare part: 400 map pages of 16
        # MiB each.
        self.assertEqual(search.drive.settings["ftl.map_cache_pages"], "200")
        self.assertEqual(search.drive.settings["timing.erase_ns"], str(10_000_000 * 480 // 2112))

    def test_reads_in_order(self) -> None:
        # With four cores a command takes 4 / 490,000 s, 8.163 us. 20 us less this and the host's 2.62 leave 9.217 for
        # the cache. 10 us less 2.62 and 4 KiB at 3,200 MB/s leave 6.1, which is enough for two cores (4.082 us each).
        for wanted, cores in ((20, 4), (10, 2)):
            shown, search = self.found(("write_us", f"seq_read_us = {wanted}\nwrite_us"))
            keys = search.drive.settings
            command_ns = cores * 1e9 / 490_000
            self.assertAlmostEqual(shown["seq_read_us"], wanted, delta=0.02)
            self.assertEqual(keys["controller.cores"], str(cores))
            self.assertAlmostEqual(float(keys["ftl.overhead_ns"]) / command_ns, 1, delta=0.005)
            self.assertAlmostEqual(float(keys[fit.HIT]), 1000 * wanted - 2620 - command_ns, delta=50)
            self.assertAlmostEqual(float(keys["timing.read_ns"]), 85_000 - 2620 - command_ns, delta=200)
            # 1 MiB of 4 KiB units, for each of eight sequences
            self.assertEqual(keys["controller.read_ahead_units"], "256")
            self.assertEqual(keys["controller.read_cache_units"], "2048")
            self.assertEqual(search.stopped, {})

    def test_reads_in_order_that_are_too_fast(self) -> None:
        fast = ("write_us", "seq_read_us = 10\nwrite_us")
        _, search = self.found(fast, ("like = tlc", "like = tlc\ncontroller.cores = 4"))
        self.assertEqual(search.drive.settings["controller.cores"], "4")
        self.assertEqual(search.stopped, {"seq_read_us": "controller.read_hit_ns is at its least"})

    def test_no_read_ahead_is_assumed(self) -> None:
        for added in ("", "seq_read_us = 85\n", "seq_read_us = 84.99\n"):
            _, search = self.found(("write_us", f"{added}write_us"))
            self.assertNotIn("controller.read_cache_units", search.drive.settings)
            self.assertEqual(search.drive.settings["controller.cores"], "4")

    def test_cores_are_the_limit_though_read_us_slows_the_cells(self) -> None:
        # A read of 82.38 us in the drive: 20 us of four cores (200,000 IOPS), so 62.38 us of a cell, and sixteen dies
        # reach 256,493. With the cores' least time, 0.1 us, the cells take 82.28 us, and the dies reach 194,458.
        def rand_read_iops(drive: Any, _: object) -> float:
            settings = drive.settings
            return min(4e9 / float(settings["ftl.overhead_ns"]), 16e9 / float(settings.get("timing.read_ns", 50_000)))

        with mock.patch.object(fit.Drive, "rand_read_iops", rand_read_iops):
            shown, search = self.found(
                ("490000", "200000"),
                ("write_us = 20", "write_us = 30"),
                ("like = tlc", "geometry.chips_per_channel = 2"),
            )
        self.assertEqual(search.stopped, {})
        self.assertAlmostEqual(shown["read_us"], 85, delta=0.002)
        self.assertAlmostEqual(int(search.drive.settings["ftl.overhead_ns"]) / 20_000, 1, delta=fit.PRECISION)
        self.assertAlmostEqual(int(search.drive.settings["timing.read_ns"]) / 62_380, 1, delta=fit.PRECISION)

    def test_a_bound(self) -> None:
        _, search = self.found(("read_us = 85", "read_us = 150"))
        self.assertEqual(search.drive.settings["timing.read_ns"], "100000")
        self.assertEqual(search.stopped, {"read_us": "timing.read_ns is at its most"})

    def test_a_cell_time_that_counts_twice(self) -> None:
        def read_us(drive: Any, _: object) -> float:
            return 1 + 2 * float(drive.settings.get("timing.read_ns", 50_000)) / 1000

        with mock.patch.object(fit.Drive, "read_us", read_us):
            shown, search = self.found()
        self.assertAlmostEqual(shown["read_us"], 85, delta=0.1)
        self.assertAlmostEqual(float(search.drive.settings["timing.read_ns"]), (85 - 2.62 - 1) / 2 * 1000, delta=50)

    def test_a_fixed_key_stays(self) -> None:
        shown, search = self.found(("like = tlc", "like = tlc\ntiming.program_ns = 1000000"))
        self.assertEqual(search.drive.settings["timing.program_ns"], "1000000")
        self.assertEqual(shown["seq_write_mb_s"], 500)

    def test_the_profile(self) -> None:
        self.sheet()
        output = self.folder / "fitted.ini"
        status, out, _ = self.fit(str(self.path), "-o", str(output))
        self.assertEqual(status, 0, out)
        text = output.read_text()
        self.assertIn("; fitted.ini - a drive fitted to a data sheet\n", text)
        self.assertRegex(text, r"\nprogram_ns +=  ?4\d{5} +; fitted to seq_write_mb_s\n")
        self.assertRegex(text, r"\n\[link\]\ngeneration +=  ?3 +; the sheet\n")
        self.assertIn("\ncmd_ns            = 300    ; assumed: command and address cycles of an ONFI 4 bus\n", text)
        self.assertEqual(fit.Drive(output, {}).facts()["settings"]["link.generation"], "3")
        self.assertRegex(out, r"random read +490,000 +\d{3},\d{3} ")

    def test_never_over_the_sheet(self) -> None:
        self.sheet()
        status, _, err = self.fit(str(self.path), "-o", str(self.path))
        self.assertEqual(status, 2)
        self.assertIn("is the sheet itself", err)
        self.assertEqual(self.path.read_text(), SHEET)


class Replays(Case):
    """Compare with figures of a real drive, computed by hand."""

    def test_the_same_replay_runs_once(self) -> None:
        drive = fit.Drive(ROOT / "nand-emu" / "profiles" / "small.ini", {})
        done = mock.Mock(returncode=0, stdout='{"host": 1}')
        with mock.patch.object(subprocess, "run", return_value=done) as runs:
            fit._replay.cache_clear()
            self.addCleanup(fit._replay.cache_clear)
            for word in ("gen:a", "gen:a", "gen:b"):
                self.assertEqual(drive.replay([word]), {"host": 1})
            drive.settings["ftl.op_permille"] = "70"
            drive.replay(["gen:b"])
        self.assertEqual([call.args[0][-1] for call in runs.call_args_list], ["gen:a", "gen:b", "gen:b"])

    def test_latencies(self) -> None:
        # There is no PCIe. A read takes firmware 1.0 us, look-up 0.2, cell 50, command 0.3, and the transfer of 4 KiB
        # of 16 KiB with its share of 2,208 spare bytes at 0.625 ns: 4 x (1024 + 138) x 0.625 = 2,905 ns. A write takes
        # 1.0, 0.2, and 2.0 us into the buffer.
        base = ROOT / "nand-emu" / "profiles" / "tlc.ini"
        drive = fit.Drive(base, {**fit.CUT, "controller.cores": "0"})
        self.assertEqual(drive.read_us({}), 1.0 + 0.2 + 50 + 0.3 + 2.905)
        self.assertEqual(drive.write_us({}), 1.0 + 0.2 + 2.0)

    def test_reads_in_order(self) -> None:
        # Times are in us. Each of 20,000 reads takes 4.2: firmware 1.0, look-up 0.2, and 3.0 from the read cache. The
        # first two take 54.405, as above. Read-ahead begins with the second, and the next reads wait for it: the first
        # die reads four pages one after the other, each 50 + 0.3 + 11.62. All other dies are ready by then.
        ahead = {"controller.read_cache_units": "2048", "controller.read_ahead_units": "256", fit.HIT: "3000"}
        base = ROOT / "nand-emu" / "profiles" / "tlc.ini"
        drive = fit.Drive(base, {**fit.CUT, **ahead})
        least = 4.2 + 2 * (54.405 - 4.2) / 20_000
        self.assertGreater(drive.seq_read_us({}), least)
        self.assertLess(drive.seq_read_us({}), least + 4 * 61.92 / 20_000)
        self.assertEqual(drive.read_us({}), 54.405)
        self.assertEqual(fit.Drive(base, fit.CUT).seq_read_us({}), 54.405)

    def test_rates(self) -> None:
        # A die gets four pages, each 300 ns and (16,384 + 2,208) x 0.625 = 11,620 ns on the bus, and programs them in
        # 390,095 ns: 437,775 ns for 64 KiB. Two dies of a channel do not fill it: 16 dies are 16 times as fast.
        base = ROOT / "nand-emu" / "profiles" / "tlc.ini"
        drive = fit.Drive(base, {**fit.CUT, "controller.cores": "0"})
        self.assertAlmostEqual(drive.seq_write_mb_s({"seq_qd": 64}) / (16 * 65_536 / 437.775), 1, delta=0.005)

    def sustained(self, ios: list[int]) -> float:
        """Return the rate of random writes if a replay's 10 ms have these."""
        drive = fit.Drive(ROOT / "nand-emu" / "profiles" / "small.ini", {})

        def replay(_: object, words: list[str]) -> Any:
            self.assertTrue(words[-1].startswith("gen:rand4k,n=2416384,"), words[-1])
            return {"series": {"rows": [{"write": {"ios": number}} for number in ios]}}

        with mock.patch.object(fit.Drive, "replay", replay):
            return drive.sustained_write_iops({"write_qd": 256})

    def test_random_writes_are_measured_until_they_are_steady(self) -> None:
        # 80 blocks a plane are 320 MiB: 16 of them 16,384 units, then thirds of 100,000. Writes become slower after
        # 216,500, so the thirds become twice as long. The last two of these have one rate. What is behind 616,384
        # writes is not looked at.
        self.assertEqual(self.sustained([500] * 433 + [400] * 1000 + [300] * 9000), 40_000)

    def test_the_most_random_writes_that_are_measured(self) -> None:
        # Behind 16,384 writes each row has 10 ms. In the first 300,000, 600,000 and 1,200,000 writes the last third is
        # slower than the one before by more than 2 %; in 2,400,000 these have 4,000 rows of 200 and 4,000 of 100.
        first = [600] * 250 + [500] * 300 + [400] * 750 + [300] * 600 + [200] * 2100
        self.assertEqual(self.sustained([512] * 32 + first + [200] * 4000 + [100] * 4000), 15_000)

    def test_thirds_of_a_series(self) -> None:
        # The first row ends before 10 I/Os, the second has the tenth, and the last is filled in part by 24 of 30.
        self.assertEqual(fit.last_thirds([9, 9, 1, 2, 3, 4, 5, 6, 99], 10, 10), (3.5, 5.5))
        self.assertEqual(fit.last_thirds([9, 9, 1, 2, 3, 4, 5, 6, 99, 5, 5, 5], 10, 10), (3.5, 5.5))
        with self.assertRaisesRegex(SlateError, "too small to measure random writes"):
            fit.last_thirds([9, 9, 1, 2, 99], 10, 10)

    def test_rates_of_an_slc_cache(self) -> None:
        # Two dies of four planes on channels of their own: 4 x 11,920 ns on the bus, then 100 us in SLC mode, else
        # 390,095 ns. The cache: 6 blocks of 704 pages of 16 KiB on each of 8 planes.
        drive = fit.Drive(ROOT / "nand-emu" / "profiles" / "tlc-slc-small.ini", {})
        self.assertEqual(drive.slc_bytes(), 6 * 704 * 16_384 * 8)
        depth = {"seq_qd": 32}
        self.assertAlmostEqual(drive.seq_write_mb_s(depth) / (2 * 65_536 / (47.68 + 100)), 1, delta=0.005)
        self.assertAlmostEqual(drive.full_write_mb_s(depth) / (2 * 65_536 / (47.68 + 390.095)), 1, delta=0.005)
        self.assertEqual(fit.Drive(ROOT / "nand-emu" / "profiles" / "tlc-small.ini", {}).slc_bytes(), 0)


if __name__ == "__main__":
    unittest.main()

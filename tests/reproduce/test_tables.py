# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the arithmetic from slate-replay's JSON to a row, on results made by hand."""

import io
import json
import re
import tempfile
import tomllib
import unittest
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import support

from reproduce.papers import dac, figures, rps, spread, study
from reproduce.rows import compare, guest, layout, measures, points


def result(
    write_sum_ns: int = 40_000_000, writes: int = 10, gc_programs: int = 30, gc_reads: int = 40, erases: int = 2,
    calls: int = 3,
) -> dict[str, Any]:  # fmt: skip
    """100 ms of ten writes and five reads; ten host programs."""
    zero = {"host": 0, "gc": 0, "wl": 0, "meta": 0, "backup": 0}
    return {
        "time": {"begin_ns": 0, "end_ns": 100_000_000},
        "host": {
            "read": {"ios": 5, "latency": {"sum_ns": 500_000}, "where_ns": {"gc_queue": 0}},
            "write": {"ios": writes, "latency": {"sum_ns": write_sum_ns}, "where_ns": {"gc_queue": 24_000_000}},
        },
        "waf": 6.5,
        "gc": {"calls": calls, "ns": 90_000_000, "pages_moved": gc_programs, "units_moved": 4 * gc_programs,
               "blocks_erased": erases},
        "wear": {"aep": 1.5, "vep": 0.25},
        "nand": {
            "ops": {
                "read": {**zero, "host": 5, "gc": gc_reads},
                "program": {**zero, "host": 10, "gc": gc_programs},
                "erase": {**zero, "gc": erases},
                "copyback": zero,
            }
        },
        "energy_nj": {
            "read": {**zero, "host": 7, "gc": 2000},
            "program": {**zero, "gc": 30000},
            "erase": {**zero, "gc": 1000},
            "copyback": zero,
            "total": 33007,
        },
        "settings": ["timing.read_ns=70000", "timing.program_ns=900000", "timing.erase_ns=10000000,9950000"],
        "series": {
            "rows": [
                {"at_ns": 0, "write": {"ios": 2, "latency_sum_ns": 6000}},
                {"at_ns": 10**9, "read": {"ios": 1, "latency_sum_ns": 6000}},
            ]
        },
    }


class Means(unittest.TestCase):
    """Averages are the same with every Python: sum() of floats rounds otherwise from 3.12 on."""

    def test_the_nearest_number_to_the_mean(self) -> None:
        self.assertEqual(compare.mean([1e16, 1.0, -1e16]), 1 / 3)  # by sum(): 0 in 3.11
        self.assertEqual(compare.mean([0.1] * 10), 0.1)  # 0.09999999999999999
        busy = {"busy": {"dies": [{"busy": 0.1}] * 10}}
        self.assertEqual(measures.dies_busy(busy), 10.0)  # in per cent


class Measures(unittest.TestCase):
    """Test quantities of one result."""

    def test_numbers(self) -> None:
        made = result()
        self.assertEqual(measures.write_us(made), 4000)
        self.assertEqual(measures.read_us(made), 100)
        self.assertEqual(measures.iops(made), 150)
        self.assertEqual(measures.wa(made), 4)
        self.assertEqual(measures.wa_bytes(made), 6.5)
        self.assertEqual((measures.aep(made), measures.vep(made)), (1.5, 0.25))
        self.assertEqual((measures.gc_calls(made), measures.gc_ms(made)), (3, 90))
        self.assertEqual((measures.pages_moved(made), measures.blocks_erased(made)), (30, 2))
        self.assertEqual(measures.gc_energy_uj(made), 33)
        self.assertEqual(measures.series(made), [(0, 3)])
        # 24 of the writes' 40 ms; 40.5 ms of latencies in 100 ms
        self.assertEqual((measures.write_gc_share(made), measures.read_gc_share(made)), (60, 0))
        self.assertEqual(measures.waiting(made), 0.405)
        self.assertEqual((measures.write_gc_us(made), measures.read_gc_us(made)), (2400, 0))

    def test_write_latency_by_cause(self) -> None:
        # GC: 10 spare areas and 30 pages read at 70 us, 30 programs, 2 erases = 0.7 + 2.1 + 27 + 20 = 49.8 ms;
        # 24 of the 40 ms of ten writes were waits for it
        parts = measures.write_parts_us(result())
        self.assertEqual(list(parts), ["write and queue", "GC spare area", "GC read", "GC write", "GC erase"])
        for name, ms in (("GC spare area", 0.7), ("GC read", 2.1), ("GC write", 27), ("GC erase", 20)):
            self.assertAlmostEqual(parts[name], 2400 * ms / 49.8)
        self.assertAlmostEqual(parts["write and queue"], 1600)

    def test_of_a_call(self) -> None:
        self.assertEqual((measures.gc_call_ms(result()), measures.units_per_call(result())), (30, 40))
        self.assertIsNone(measures.gc_call_ms(result(calls=0)))

    def test_wear_levelling(self) -> None:
        """Two dies spend 9 ms on three blocks; 5 units of 4 KiB are moved, and 40 KiB are read for them."""
        made = {
            "busy": {"dies": [{"ns": {"wl": 5_000_000}}, {"ns": {"wl": 4_000_000}}]},
            "wear_levelling": {"blocks_levelled": 3, "units_moved": 5},
            "nand": {"user_read_bytes": {"wl": 40960}},
            "settings": ["ftl.unit_bytes=4096"],
        }
        self.assertEqual((measures.levelled_ms(made), measures.levelled_read(made)), (3, 2))
        made["wear_levelling"] = {"blocks_levelled": 0, "units_moved": 0}
        self.assertEqual((measures.levelled_ms(made), measures.levelled_read(made)), (None, None))

    def test_write_bandwidth_of_windows(self) -> None:
        # 10 ms rows: 1 MiB at 0, 2 MiB at 90 ms, 3 MiB at 100 ms, 1 MiB at 350 ms; reads alone at 500 ms
        made = {"series": {"interval_ns": 10**7, "rows": [
            {"at_ns": ms * 10**6, op: {"bytes": mib * 2**20}}
            for ms, op, mib in ((0, "write", 1), (90, "write", 2), (100, "write", 3),
                                (350, "write", 1), (500, "read", 1))
        ]}}  # fmt: skip
        self.assertEqual(measures.window_mib_s(made, 10), [100, 200, 300, 100])
        self.assertEqual(measures.window_mib_s(made, 100), [30, 30, 10])
        self.assertEqual((measures.peak_mib_s(100)(made), measures.mean_mib_s(1000)(made)), (30, 7))

    def test_reduction(self) -> None:
        # of 1 + 4 + 5 + 10 units of 4096 bytes five are deltas: 1024 bytes of 20480, 10240 of them alone
        made: dict[str, Any] = {
            "settings": ["ftl.unit_bytes=4096"],
            "reduction": {
                "host_pages": 7, "gc_pages": 3, "raw_units": 1, "comp_units": 4, "delta_units": 5, "link_units": 10,
                "comp_bytes": 9, "delta_bytes": 1024, "plain_bytes": 10240, "reference_hits": 3, "reference_reads": 2,
                "refused_references": 6,
            },
        }  # fmt: skip
        self.assertEqual((measures.pages_written(made), measures.pages_by_gc(made)), (10, 3))
        self.assertEqual((measures.units_reduced(made), measures.reference_share(made)), (20, 0.25))
        self.assertEqual((measures.reference_ratio(made), measures.plain_ratio(made)), (0.05, 0.5))
        self.assertEqual((measures.reference_reads(made), measures.refused(made)), (2, 6))
        # 1 page, and 9 + 1024 bytes of contents, 4 * 16 + 15 * 25 of entries
        self.assertEqual(measures.pages_if_split(made), 1 + (1033 + 439) / 4096)
        made["reduction"]["delta_units"] = 0
        self.assertIsNone(measures.plain_ratio(made))

    def test_nothing_was_written(self) -> None:
        made = result(writes=0)
        self.assertIsNone(measures.write_us(made))
        self.assertIsNone(measures.write_parts_us(made))


class Guest(unittest.TestCase):
    """Test guest.py on a device.json of two jobs and a recording of both."""

    # ns of submission, its requests from 0; done: request, latency. "one" runs from 100 to 30000300
    RECORD = """# slate-trace 1
# set ftl.type=page
50 0 write 0 512
50 0 done 0 10 0
60 0 write 0 4096
100 0 done 0 0 0
20000 0 write 4096 1024
20000 0 flush
20000 0 done 3 5 0
20000 0 done 2 10000080 0
21000000 0 step
20000000 0 read 0 2048
20000000 0 done 4 99 0
25000000 0 write 0 3072
25000000 0 done 5 100 0
30000200 0 write 0 512
30000200 0 done 6 200 0
# end ops 0 0 4
"""

    def make(self, folder: str, *names: Any) -> tuple[int, str]:
        def interval(reads: int, size: int, words: int) -> dict[str, Any]:
            sources = {
                "host": {"user-read-bytes": words, "programs": 6},
                "gc": {"user-read-bytes": 9, "programs": 3, "erases": 2},
            }
            sources["meta"] = {"erases": 1}
            read = {"ios": reads, "bytes": size, "latency-sum-ns": 1, "latency-max-ns": 1}
            return {"read": read, "nand": {"by-source": sources}}

        marks = [
            {"label": "one", "kind": "begin", "at-ns": 100, "account": interval(9, 9, 9)},
            {"label": "one", "kind": "end", "at-ns": 30000300, "account": interval(2, 1024, 32768)},
            {"label": "two", "kind": "begin", "at-ns": 30000400, "account": interval(1, 5, 5)},
            {"label": "two", "kind": "end", "at-ns": 30000500, "account": interval(1, 4096, 4096)},
        ]
        raw = {"capacity": 1, "total": {}, "marks": marks, "settings": []}
        (Path(folder) / "device.json").write_text(json.dumps(raw), encoding="utf-8")
        (Path(folder) / "r.trace").write_text(self.RECORD, encoding="utf-8")
        more = [f"{name}={folder}/points/{name}.json" if name in ("one", "two", "three") else name for name in names]
        with redirect_stderr(io.StringIO()) as said:
            status = guest.main([folder, *more])
        return status, said.getvalue()

    def read(self, folder: str, name: str) -> Any:
        return json.loads((Path(folder) / f"points/{name}.json").read_text(encoding="utf-8"))

    def test_result(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.make(folder, "one", "two"), (0, ""))
            made = self.read(folder, "one")
            self.assertNotIn("series", made)
            self.read(folder, "two")
        # 1024 bytes and two reads in 30000200 ns; two pages of 16 KiB for them; (6 + 3) / 6 programs; 2 + 1 erases
        self.assertEqual(measures.read_mib_s(made), 1e9 * 1024 / 2**20 / 30000200)
        self.assertEqual(measures.iops(made), 2e9 / 30000200)
        self.assertEqual(measures.raf_host(made), 32)
        self.assertEqual((measures.wa(made), measures.blocks_erased(made)), (1.5, 3))

    def test_series(self) -> None:
        """Requests before or after a job do not count for it. A completion's time is that of submission
        plus latency.
        """
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.make(folder, "one", "--record", f"{folder}/r.trace", "--interval-ms", "10"), (0, ""))
            made = self.read(folder, "one")
        # from 100: the flush at 20005, in the first 10 ms; the write done at 10020080 and the read at 20000099, a
        # nanosecond before the third 10 ms, in the second; the write done at 25000100 in the third
        self.assertEqual(made["series"], {"interval_ns": 10**7, "rows": [
            {"at_ns": 0, "flush": {"ios": 1, "bytes": 0}},
            {"at_ns": 10**7, "write": {"ios": 1, "bytes": 1024}, "read": {"ios": 1, "bytes": 2048}},
            {"at_ns": 2 * 10**7, "write": {"ios": 1, "bytes": 3072}},
        ]})  # fmt: skip
        self.assertEqual(measures.window_mib_s(made, 10), [100 / 1024, 300 / 1024])

    def test_missing(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            status, said = self.make(folder, "one", "three")
            self.assertEqual(status, 1)
            self.assertIn("no job 'three' that ran alone (there are: one, two)", said)
            self.assertFalse((Path(folder) / "points").exists())

    def test_bad_input(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for args in (("one=",), ("one", "--interval-ms", "0")):
                with self.subTest(args), self.assertRaises(SystemExit):
                    self.make(folder, *args)
            self.assertEqual(self.make(folder, "one", "--record", f"{folder}/none")[0], 1)


class Rows(unittest.TestCase):
    """Test rows made of several results."""

    def setUp(self) -> None:
        self.results = compare.Results(
            {
                ("a", "base", "device"): result(40_000_000),
                ("b", "base", "device"): result(20_000_000),
                ("a", "new", "device"): result(20_000_000),
                ("b", "new", "device"): result(18_000_000),
            },
            16,
        )

    def rows(self, make: Any) -> list[Any]:
        return [
            (r.trace, r.what, r.unit, r.ours, r.paper, r.ratio) for r in make(self.results, ("a", "b", "c"), "device")
        ]

    def test_change(self) -> None:
        made = compare.relative(measures.write_us, "base", {"new": "New"}, compare.change,
                                {("average", "New"): -44.3, ("best", "New"): -60.0}, min)  # fmt: skip
        self.assertEqual(
            self.rows(made),
            [
                ("a", "New", "%", -50, None, None),
                ("b", "New", "%", -10, None, None),
                ("average", "New", "%", -30, -44.3, -30 / -44.3),
                ("best", "New", "%", -50, -60, -50 / -60),
            ],
        )

    def test_times_and_lower(self) -> None:
        for form, unit, ours in (
            (compare.times, "x", (0.5, 0.9, 0.7)),
            (compare.lower, "x lower", (2, 10 / 9, 14 / 9)),
        ):
            made = self.rows(compare.relative(measures.write_us, "base", {"new": "New"}, form))
            self.assertEqual([row[2] for row in made], [unit] * 3)
            for row, value in zip(made, ours):
                self.assertAlmostEqual(row[3], value)

    def test_absolute_of_the_full_size(self) -> None:
        made = compare.absolute(measures.gc_calls, {"base": "Base"}, "calls", {("a", "Base"): 24}, True)
        self.assertEqual(
            self.rows(made),
            [
                ("a", "Base", "calls", 48, 24, 2),
                ("b", "Base", "calls", 48, None, None),
                ("average", "Base", "calls", 48, None, None),
            ],
        )

    def test_breakdown(self) -> None:
        made = self.rows(compare.breakdown({"base": "Base"}, {("average", "Base"): 58.0}))
        share = 100 * (2400 * 29.1 / 49.8) / 3000
        self.assertEqual(made[-1][:3], ("average", "Base, copying", "%"))
        self.assertAlmostEqual(made[-1][3], share)
        self.assertEqual(made[-1][4], 58)

    def test_seeds(self) -> None:
        """Mean, minimum and maximum over seeds; a seed that some traces lack is left out for all."""
        found = {}
        # us of new and base: a 10/20, 16/20 (seed 2), 20/20 (seed 3); b 18/20, 10/20 (seed 2)
        for trace, new in (("a", 10), ("a,seed=2", 16), ("a,seed=3", 20), ("b", 18), ("b,seed=2", 10)):
            found[trace, "base", "device"] = result(20_000_000)
            found[trace, "new", "device"] = result(new * 1_000_000)
        self.results = compare.Results(found, 16)
        inner = compare.relative(
            measures.write_us, "base", {"new": "New"}, compare.change, {("best", "New"): -60.0}, min
        )
        made = compare.seeded(inner, min)(self.results, tuple(dict.fromkeys(trace for trace, _, _ in found)), "device")
        # a: -50, -20; b: -10, -50; averages -30 and -35; best of the means is a's
        want = [("a", -35, -50, -20), ("b", -30, -50, -10), ("average", -32.5, -35, -30), ("best", -35, -50, -20)]
        self.assertEqual([(r.trace, r.ours, r.low, r.high) for r in made], want)
        self.assertEqual(made[-1].paper, -60)

    def test_one_seed(self) -> None:
        inner = compare.relative(measures.write_us, "base", {"new": "New"}, compare.change, None, min)
        self.assertEqual(self.rows(compare.seeded(inner, min)), self.rows(inner))
        for row in compare.seeded(inner, min)(self.results, ("a", "b"), "device"):
            self.assertEqual((row.low, row.high), (None, None))

    def test_of_traces(self) -> None:
        """Averages cover the named traces, even if a figure has others."""
        inner = compare.relative(measures.write_us, "base", {"new": "New"}, compare.change)
        made = self.rows(compare.of_traces((points.Trace("b"), points.Trace("c", (("burst", 1),))), inner))
        self.assertEqual([row[:4] for row in made], [("b", "New", "%", -10), ("average", "New", "%", -10)])

    def test_nothing_was_run(self) -> None:
        self.assertEqual(self.rows(compare.relative(measures.write_us, "other", {"new": "New"}, compare.change)), [])


class Studies(unittest.TestCase):
    """Test the points of each study."""

    def test_scaling(self) -> None:
        # 1888 / 16 = 118 blocks, 8 % of them 9.44; 15104 / 16 = 944, 75.52; 16.5 % less of 118 is 98.53
        for name, blocks, start in (("nftl", 118, 9), ("nftl-72", 944, 75), ("pbe-165", 99, 7)):
            sets = points.Pen(16).all()[name].sets
            self.assertIn(f"geometry.blocks_per_plane={blocks}", sets)
            self.assertIn(f"ftl.gc_start_blocks={start}", sets)
        # 7 % of 2048 / 8 is 17.92: GC while fewer than 18 are free
        self.assertIn("ftl.gc_start_blocks=18", points.Ippbe(8).all()["greedy"].sets)

    def test_every_figure_has_its_points(self) -> None:
        for name, every in (("pen", points.Pen(16)), ("ippbe", points.Ippbe(8)),
                            ("spread", spread.Spread(8)), ("rps", rps.Rps(4)), ("dac", dac.Dac(256))):  # fmt: skip
            made = study.of(name, False, None, None)
            for figure in made.figures():
                self.assertLessEqual(set(figure.configs), set(every.all()), figure.name)
                self.assertEqual(len(figure.accountings), len(set(figure.accountings)))
            ids = [point.id for point in made.points()]
            self.assertEqual(len(ids), len(set(ids)))

    def test_the_published_figures_are_there(self) -> None:
        names = {figure.name for figure in figures.pen(16)}
        self.assertLessEqual(
            {"fig03a", "fig03b", "fig04", "fig05", "fig12a", "fig12b", "fig12c", "fig13a", "fig13b", "fig13c",
             "fig14a", "fig14b", "fig14c", "fig15a", "fig15b", "fig15c", "fig16a", "fig16b", "fig17a", "fig17b",
             "fig17c"}, names)  # fmt: skip
        self.assertLessEqual({f"fig{n:02}" for n in range(6, 13)}, {figure.name for figure in figures.ippbe(8)})
        self.assertLessEqual({"fig18a", "fig18b", "fig22", "fig23", "fig24"}, {f.name for f in spread.spread(8)})
        self.assertLessEqual({"fig13", "fig14", "fig15"}, {f.name for f in rps.rps(4)})
        self.assertLessEqual(
            {"fig28", "table5-share", "table5-dac", "table5-normal", "fig29"}, {f.name for f in dac.dac(256)}
        )

    def test_bursts_are_the_stand_ins(self) -> None:
        """The study has the points of figures 10 and 11. With original traces there is no such study,
        because nothing is assumed.
        """
        every = {figure.name: figure for figure in figures.ippbe(8)}
        for name, as_published in (("bursts-write", "fig10"), ("bursts-read", "fig11")):
            self.assertLessEqual(set(every[as_published].traces), set(every[name].traces))
            self.assertEqual({dict(trace.settings).get("burst") for trace in every[name].traces}, {1, None, 32})
        with open(support.REPRODUCE / "traces/workloads.toml", "rb") as source:
            self.assertEqual(tomllib.load(source)["assumed"]["burst"], figures.BURSTS[1])
        with tempfile.TemporaryDirectory() as folder:
            for trace in every["fig10"].traces:
                (Path(folder) / f"{trace.volume.removesuffix('-1M')}.csv").touch()
            names = {figure.name for figure in study.of("ippbe", False, None, folder).figures()}
        self.assertEqual(set(every) - names, {"bursts-write", "bursts-read"})

    def test_scale_that_does_not_divide(self) -> None:
        with self.assertRaisesRegex(points.StudyError, "scale 7 does not divide PEN's 1888"):
            points.Pen(7)
        with self.assertRaisesRegex(points.StudyError, "scale 3 does not divide IPPBE's 2048"):
            points.Ippbe(3)
        with self.assertRaisesRegex(points.StudyError, "scale 64 does not divide SPREAD's 512 .* up to 32"):
            spread.Spread(64)
        with self.assertRaisesRegex(points.StudyError, "scale 32 does not divide flexFTL's 512 .* up to 16"):
            rps.Rps(32)

    def test_missing_originals(self) -> None:
        with self.assertRaisesRegex(points.StudyError, "TRACES=/nonexistent: is no folder"):
            study.of("pen", False, None, "/nonexistent")
        with tempfile.TemporaryDirectory() as folder:
            for name in ("hm_0.csv", "src1_2.csv.gz"):
                (Path(folder) / name).touch()
            with self.assertRaisesRegex(points.StudyError, re.escape(f"{folder}: has no stg_0.csv")):
                study.of("ippbe", True, None, folder)

    def test_mixes(self) -> None:
        """A drive exports the capacity that its mix covers; the warm-up is not counted."""
        made = {point.id: point for point in study.of("spread", False, None, None).points()}
        point = made["usr,foot_gib=8/sp.device"]
        # 8 GiB / 8; its warm-up: 2^30 / 4096 writes
        self.assertIn("ftl.capacity_mib=1024", point.sets)
        self.assertIn("geometry.blocks_per_plane=64", point.sets)
        self.assertEqual(point.args, ("--closed", "8", "--fill", "100", "--warmup", "262144"))
        self.assertEqual(made["kv/page.device"].args, ("--closed", "8", "--fill", "100"))
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(points.StudyError, "rps's traces were never published: leave TRACES out"):
                study.of("rps", False, None, folder)

    def test_quick_studies_have_one_seed(self) -> None:
        made = study.of("rps", True, None, None)
        self.assertEqual({t.tag for f in made.figures() for t in f.traces}, {"ntrx", "varmail"})
        self.assertEqual(made.guest_runs(), [])

    def test_guest_runs(self) -> None:
        """Each section of a job file that has a row is run on the FTL's own drive."""
        for name, scale in (("spread", 8), ("rps", 4)):
            runs = study.KINDS[name].guests(scale)
            files = [path for run in runs for path in study.of(name, False, None, None).guest_files(run).values()]
            self.assertEqual(len(files), len(set(files)))
            self.assertEqual(len(runs), len({run.name for run in runs}))
            for run in runs:
                text = (support.ROOT / run.job).read_text(encoding="utf-8")
                for section, _ in run.tags:
                    self.assertIn(f"\n[{section}]\n", text)
                if run.depth:
                    self.assertIn("\niodepth=32\n", text)
        made = {run.name: run for run in rps.guests(4)}["guest-parity.varmail-bursts"]
        self.assertEqual(
            made.sets,
            ("geometry.blocks_per_plane=128", "ftl.type=parity", "geometry.order=fps", "ftl.capacity_mib=2816",
             "ftl.accounting=device", "ftl.payload=no"),
        )  # fmt: skip

    def test_guests_of_the_full_size_have_a_quarter(self) -> None:
        self.assertEqual(study.of("rps", False, None, None).scale, 1)
        self.assertEqual(rps.guests(1), rps.guests(4))
        self.assertIn("geometry.blocks_per_plane=64", rps.guests(8)[0].sets)

    def test_fingerprints_follow_the_trace(self) -> None:
        """The store has 0.5 % of the four fingerprints of each block that the recording writes; a quick
        study uses heads.
        """
        made = {point.id: point for point in study.of("dac", False, None, None).points()}
        blocks = dac.WRITTEN["pc"]
        self.assertIn(f"ftl.fingerprints={blocks * 20 // 1000}", made["pc/dac.device"].sets)
        self.assertIn("ftl.fingerprints_permille=1000", made["pc/unlimited.device"].sets)
        self.assertIn("geometry.blocks_per_plane=64", made["pc/dac.device"].sets)
        quick = study.of("dac", True, None, None)
        self.assertEqual({quick.trace_file(p.trace) for p in quick.points()},
                         {"tests/traces/web-head.content", "tests/traces/iot-head.content"})  # fmt: skip
        self.assertEqual(quick.recorders(), ())
        for point in quick.points():
            self.assertTrue((support.ROOT / quick.trace_file(point.trace)).exists())

    def test_notes_name_figures_that_exist(self) -> None:
        for name in study.KINDS:
            known = {figure.name for figure in study.of(name, False, None, None).figures()}
            text = (support.REPRODUCE / f"{name}-notes.md").read_text(encoding="utf-8")
            self.assertLessEqual(set(re.findall(r"^## (\S+)$", text, re.M)), known)


RESULTS = support.ROOT / "docs/results"
HEAD = ["trace", "what", "unit", "paper", "ours (device)", "ratio"]


class Earlier(unittest.TestCase):
    """A column with results at another scale that were published before."""

    def test_column(self) -> None:
        rows = {"device": [compare.Row("a", "P", "x", 2.0), compare.Row("b", "P", "x", 3.0)]}
        text = layout.csv_text(rows, {"a": "mix a"})
        found = layout.side_by_side(text, ("at 1/4", {("device", "mix a", "P", "x"): "1.5"}))
        self.assertEqual([line[-1] for line in found], ["at 1/4", "1.5", ""])
        self.assertEqual(layout.side_by_side(text)[0][-1], "ratio")

    def test_only_the_full_study_at_its_own_scale_has_it(self) -> None:
        for quick, scale, has in ((False, None, True), (False, 4, False), (True, None, False)):
            made = study.of("rps", quick, scale, None)
            figure = next(one for one in made.figures() if one.name == "fig13")
            found = made.earlier(figure)
            self.assertEqual(found is not None, has, (quick, scale))
        made = study.of("rps", False, None, None)
        figures = {one.name for one in made.figures() if made.earlier(one)}
        self.assertEqual(figures, {"fig13", "fig14", "fig15", "alike-fig13", "alike-fig14", "alike-fig15"})
        figure = next(one for one in made.figures() if one.name == "alike-fig13")
        head, cells = made.earlier(figure) or ("", {})
        self.assertEqual((head, cells["device", "average", "flexFTL / rtfFTL", "x"]), ("at 1/4", "1.163"))


class Layout(unittest.TestCase):
    """Test tables of the pages, from rows made by hand."""

    def test_quantities_stand_side_by_side(self) -> None:
        rows = [[trace, what, "x", "", f"{trace}-{what}", ""] for what in ("P", "Q") for trace in ("a", "average")]
        self.assertEqual(layout.shown([HEAD, *rows], "fig1"), [
            "| trace [x] | P | Q |", "| --- | --- | --- |", "| a | a-P | a-Q |",
            "| **average** | **average-P** | **average-Q** |", "",
        ])  # fmt: skip

    def test_a_quantity_that_is_missing(self) -> None:
        rows = [[trace, what, "", "", ours, ""] for trace, what, ours in ("aP1", "bP2", "aQ3")]
        rows.append(["b", "Q", "", "", "", ""])
        self.assertEqual(layout.shown([HEAD, *rows], "fig1")[0::3], ["| trace | P | Q |", "| b | 2 |  |"])

    def test_published_numbers_have_columns(self) -> None:
        rows = [["a", "P", "x", "", "1", ""], ["a", "Q", "x", "2", "3", "1.5"]]
        self.assertEqual(layout.shown([HEAD, *rows], "fig1"), [
            "| trace | what [x] | paper | ours (device) | ratio |", "| --- | --- | --- | --- | --- |",
            "| a | P | - | 1 |  |", "| a | Q | 2 | 3 | 1.5 |", "",
        ])  # fmt: skip

    def test_several_units_have_a_column(self) -> None:
        rows = [["a", "P", "x", "", "1", ""], ["a", "Q", "%", "", "3", ""]]
        found = layout.shown([HEAD, *rows], "fig1")
        self.assertEqual(found[0::3], ["| trace | what | unit | ours (device) |", "| a | Q | % | 3 |"])

    def test_a_long_table_has_a_link_to_the_rest(self) -> None:
        rows = [[f"t{i}", "P", "x", "", str(i), ""] for i in range(8)] + [["average", "P", "x", "9", "10", "1.1"]]
        self.assertEqual(layout.shown([HEAD, *rows], "fig1"), [
            "| trace | what [x] | paper | ours (device) | ratio |", "| --- | --- | --- | --- | --- |",
            "| **average** | **P** | **9** | **10** | **1.1** |", "", "Each trace: [fig1.csv](fig1.csv).", "",
        ])  # fmt: skip
        self.assertEqual(layout.shown([HEAD, *rows[1:]], "fig1")[2], "| t1 | P | - | 1 |  |")  # 8 rows

    def test_a_long_table_without_first_rows_is_a_link(self) -> None:
        """Neither averages nor published numbers."""
        rows = [[f"t{i}", "P", "x", "", str(i), ""] for i in range(9)]
        self.assertEqual(layout.shown([HEAD, *rows], "fig1"), ["Each trace: [fig1.csv](fig1.csv).", ""])
        self.assertEqual(layout.shown([HEAD, *rows[1:]], "fig1")[0], "| trace [x] | what | ours (device) |")

    def test_a_long_table_of_published_numbers_is_whole(self) -> None:
        rows = [[f"t{i}", "P", "x", "1", str(i), "2"] for i in range(9)]
        self.assertEqual(len(layout.shown([HEAD, *rows], "fig1")), 2 + 9 + 1)

    def test_lines_are_those_of_the_page(self) -> None:
        """16 numbers of 8 traces take 8 lines."""
        rows = [[f"t{i}", what, "x", "", str(i), ""] for i in range(8) for what in ("P", "Q")]
        self.assertEqual(len(layout.shown([HEAD, *rows], "fig1")), 2 + 8 + 1)

    def test_from_the_csv(self) -> None:
        """An accounting has two columns, a span has one; a number that is not published is a gap."""
        rows = {"device": [compare.Row("a", "P", "ms", 2.0, 4.0, 1.0, 3.0), compare.Row("b", "P", "ms", 5.0)],
                "ssdsim": [compare.Row("b", "P", "ms", 7.0)]}  # fmt: skip
        text = layout.csv_text(rows, {"a": "mix a"})
        self.assertEqual(layout.side_by_side(text), [
            ["trace", "what", "unit", "paper", "ours (device)", "ratio", "ours (ssdsim)", "ratio", "lowest .. highest"],
            ["mix a", "P", "ms", "4", "2", "0.5", "", "", "1 .. 3"],
            ["b", "P", "ms", "", "5", "", "7", "", ""],
        ])  # fmt: skip
        rows["device"][0].trace = "mix a"
        self.assertEqual(layout.rows_of(text), rows)


class Stored(unittest.TestCase):
    """A stored page shows what its tables say."""

    def test_pages(self) -> None:
        for name, kind in study.KINDS.items():
            made = study.of(name, False, None, None)
            page = (RESULTS / name / "README.md").read_text(encoding="utf-8")
            for figure in made.figures():
                table = RESULTS / name / f"{figure.name}.csv"
                if not table.exists():
                    continue
                with self.subTest(f"{name}/{figure.name}"):
                    found = layout.side_by_side(table.read_text(encoding="utf-8"), made.earlier(figure))
                    title = f"{figure.name}: {figure.title}"
                    section = page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
                    self.assertIn("\n".join(layout.shown(found, figure.name)).rstrip(), section)
                    self.assertEqual(f"![{title}]({figure.name}.svg)" in section, figure.name in kind.pictures)


if __name__ == "__main__":
    unittest.main()

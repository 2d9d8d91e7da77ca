# SPDX-License-Identifier: GPL-2.0-or-later
"""Test recency and regions of stand-ins, curves of real traces, and fits."""

import gzip
import io
import itertools
import math
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import support  # noqa: F401

from reproduce.real import validate
from reproduce.traces import fit, fits, realtrace, standin

DATA = standin.load()
B = realtrace.BLOCK_UNITS  # 2,304 units of 4 KiB are 9 MiB


def maker(*drawn: Any, **settings: Any) -> Any:
    """Return a maker of stand-ins that draws these numbers next."""
    want = standin.Marginals((10, 10), (10, 10), (10, 10), 10**9)
    made = standin.Maker(want, standin.shape("", DATA, settings), "")
    made.random = iter(drawn).__next__
    return made


def writes(*units: Any) -> list[tuple[int, int, int, int]]:
    """Return a write of one unit to each of these addresses."""
    return [(0, 1, unit, 1) for unit in units]


class Recency(unittest.TestCase):
    """The distances are computed by hand: first the octave is drawn, then the place in it."""

    def test_octaves(self) -> None:
        past = list(range(100, 110))
        # 10 of 10 writes in this class and a window of 8: octaves 1, 2..3, 4..7, 8
        for octave, place, distance in ((0, 0, 1), (0.25, 0.5, 3), (0.5, 0, 4), (0.5, 0.75, 7), (0.99, 0.99, 8)):
            self.assertEqual(maker(octave, place, window=8).recent(past, 10), past[-distance])

    def test_window_is_shared_by_classes(self) -> None:
        # 10 of 40 writes are of this class: 8 * 10 / 40 = 2 of its own, octaves 1 and 2
        past = list(range(100, 110))
        self.assertEqual(maker(0.49, 0.99, window=8).recent(past, 40), 109)
        self.assertEqual(maker(0.5, 0.99, window=8).recent(past, 40), 108)

    def test_short_past(self) -> None:
        self.assertEqual(maker(0.99, 0.99, window=512).recent([7], 1), 7)
        # three: octaves 1 and 2..3
        self.assertEqual(maker(0.99, 0.99, window=512).recent([7, 8, 9], 3), 7)


class Regions(unittest.TestCase):
    """Test regions of runs, and their places."""

    def test_groups(self) -> None:
        made = maker(region_kib=16)  # 4 units
        made.extents.runs = [2, 3, 4, 1, 5]
        made.extents.run_is_written = bytearray((1, 1, 0, 1, 1))
        self.assertEqual(made.regions(), [[0, 1], [2], [3, 4]])

    def test_place(self) -> None:
        # Five of ten units are free. The gaps drawn are 3 and 1, sorted 1 and 3.
        self.assertEqual(maker(0.5, 0.2).place([2, 3], 10, ordered=True), [1, 5])
        # With keys 0.9 and 0.1 the second region is placed first, after gap 1, and the first after gap 3.
        self.assertEqual(maker(0.9, 0.1, 0.5, 0.2).place([2, 3], 10), [6, 1])

    def test_addresses(self) -> None:
        # There are two regions of 4 units: runs 0 and 1, and run 2. Density 1/2 makes a span of 16 units. Regions of
        # density 1 span 4 units each and have no free unit, so 8 units are free between them. By their keys the regions
        # are placed in the order 0, 1. The gaps drawn by pick(9) are 4 and 0, sorted 0 and 4.
        made = maker(0.1, 0.9, 0.5, 0, 0, 0, 0, density=0.5, region_kib=16, region_density=1)
        made.extents.runs, made.extents.run_is_written = [0, 0, 0], bytearray((1, 1, 1))
        for size, run in ((1, 0), (1, 1), (2, 2)):  # classes 1 and 2 are 2 and 4 units
            made.extents.add(size, run)
        self.assertEqual(made.addresses(1), [0, 2, 8])

    def test_span(self) -> None:
        want = standin.marginals("hm_0", 256, DATA)
        for density, inner in ((0.01, 1), (0.25, 0.02), (0.9, 0.25)):
            how = standin.shape("hm_0", DATA, {"region_kib": 512, "region_density": inner, "density": density})
            made = standin.Maker(want, how, "1")
            made.requests()
            found = sorted(zip(made.addresses(256), (standin.SIZES[n] for n in made.extents.size)))
            self.assertTrue(all(a + n <= b for (a, n), (b, _) in itertools.pairwise(found)))
            self.assertLessEqual(sum(found[-1]), sum(made.extents.runs) / density)


class Sums(unittest.TestCase):
    """Test that the marginals are exact with every setting."""

    def test_exact(self) -> None:
        want = standin.marginals("prn_1", 2000, DATA)
        for settings in (
            {"recent": 1, "window": 1}, {"recent": 0.9, "window": 4096}, {"region_kib": 4, "region_density": 1},
            {"region_kib": 10**6, "region_density": 0.001}, {"recent": 0.5, "region_kib": 2048, "density": 0.001},
        ):  # fmt: skip
            with self.subTest(settings):
                have = realtrace.marginals(
                    [
                        (t, int(op == "write"), at // 4096, n // 4096)
                        for t, op, at, n in standin.rows("prn_1", 2000, 1, settings)
                    ]
                )
                self.assertEqual((have.count, have.units, have.cover), (want.count, want.units, want.cover))

    def test_bad_settings(self) -> None:
        for settings, message in (
            ({"recent": 1.5}, "recent = 1.5: must be 0 .. 1"),
            ({"window": 0}, "window = 0: must be 1 or more"),
            ({"region_kib": -1}, "region_kib = -1: must be 0 or more"),
            ({"region_density": 0}, "region_density = 0: must be over 0 and at most 1"),
        ):
            with self.assertRaisesRegex(standin.StandinError, message):
                standin.shape("hm_0", DATA, settings)


class Curves(unittest.TestCase):
    """Test properties of traces, counted by hand."""

    def test_misses(self) -> None:
        # Five blocks for the first time; block 0 again, four others since: only a list of 4 misses; block 4: a hit
        have = realtrace.curve(writes(0, B, 2 * B, 3 * B, 4 * B, 7, 4 * B + 1))
        self.assertEqual(have, realtrace.Curve(5, (6 / 7, 5 / 7, 5 / 7, 5 / 7)))

    def test_depth(self) -> None:
        # block 0 again after 255 others: still in a list of 256; after 256 others: not
        self.assertEqual(realtrace.curve(writes(*range(0, 256 * B, B), 0)).misses[3], 256 / 257)
        self.assertEqual(realtrace.curve(writes(*range(0, 257 * B, B), 0)).misses[3], 1)

    def test_straddling_and_reads(self) -> None:
        have = realtrace.curve([(0, 1, B - 1, 2), (0, 0, 9 * B, 1), (0, 1, 0, 1)])
        self.assertEqual(have, realtrace.Curve(2, (2 / 3, 2 / 3, 2 / 3, 2 / 3)))

    def test_cut(self) -> None:
        # 512 bytes at 4095 KiB + 512: one unit; 132 KiB at 2 KiB: 34 units, of 16, 16 and 2
        self.assertEqual(realtrace.cut(5, 1, 4095 * 1024 + 512, 512), [(5, 1, 1023, 1)])
        self.assertEqual(realtrace.cut(5, 0, 2048, 132 * 1024), [(5, 0, 0, 16), (5, 0, 16, 16), (5, 0, 32, 2)])
        self.assertEqual(realtrace.cut(5, 0, 2048, 0), [])

    def test_measured(self) -> None:
        # written 0..3, then 1..2 again, 3 after it, and 10..11; read 3..4. Rewrites: two, of which one follows.
        # Half of the writes: 4 of 6 units, beta = log2(6 / 4) = 0.58 = 37/64.
        have = realtrace.measured([(0, 1, 0, 4), (1, 1, 1, 2), (2, 1, 3, 1), (3, 1, 10, 2), (4, 0, 3, 2)])
        self.assertEqual(
            (have["beta"], have["run_kib"], have["read_run_kib"], have["density"], have["follow"], have["overlap"]),
            (37 / 64, 12, 4, 0.583, 0.5, 0.5),
        )

    def test_marginals(self) -> None:
        have = realtrace.marginals([(5, 1, 0, 4), (6, 1, 2, 4), (9, 1, 0, 1)])
        self.assertEqual(have, standin.Marginals((1, 3), (1, 9), (1, 6), 4))


class Fitting(unittest.TestCase):
    """fit.py."""

    def test_distance(self) -> None:
        one, two = realtrace.Curve(10, (0.1, 0.1, 0.1, 0.1)), realtrace.Curve(20, (0.1, 0.1, 0.1, 0.1))
        self.assertEqual(fit.distance(one, one), 0)
        self.assertAlmostEqual(fit.distance(one, two), math.log(2) / math.sqrt(5), 12)
        three = realtrace.Curve(10, (0.406, 0.1, 0.1, 0.1))  # 0.408 / 0.102
        self.assertAlmostEqual(fit.distance(one, three), math.log(4) / math.sqrt(5), 12)

    def test_recovers(self) -> None:
        """The settings of a stand-in are found again to a step of the grid, and its curve within 20 %."""
        want = standin.Marginals((100, 8000), (200, 16000), (100, 4000), 10**12)
        known = {"beta": 0.75, "run_kib": 64, "density": 0.01, "span_gib": 2**20, "follow": 0}
        for free in (
            {"region_density": 0.25, "region_kib": 512, "recent": 0.9, "window": 64},
            {"region_density": 1 / 16, "region_kib": 2048, "recent": 0.5, "window": 512},
        ):
            made = realtrace.made(want, fit.shape({**known, **free}), "by hand")
            found = fit.Fit(made)
            have = found.search(1)
            with self.subTest(free, have=have):
                self.assertLess(found.off(have), math.log(1.2))
                for key in ("region_kib", "recent"):
                    step = fit.GRID[key].index(have[key]) - fit.GRID[key].index(free[key])
                    self.assertLessEqual(abs(step), 1, key)

    def test_medians(self) -> None:
        made = {name: {"measured": {"beta": beta}, "fitted": {"recent": recent}}
                for name, beta, recent in (("a", 1, 0.9), ("b", 3, 0.1), ("c", 2, 0.5), ("d", 4, 0.7))}  # fmt: skip
        self.assertEqual(fits.medians(made), {"beta": 2, "recent": 0.5})
        self.assertEqual(fits.medians(made, without="a"), {"beta": 3, "recent": 0.5})
        self.assertEqual(fits.settings_of(made, "b"), {"beta": 3, "recent": 0.1})

    def test_like(self) -> None:
        made = {"a": {"measured": {"beta": 1, "span_gib": 9}, "fitted": {"recent": 0.9}}}
        self.assertEqual(standin.like("a", made), {"beta": 1, "recent": 0.9})
        self.assertEqual(standin.like("median", made), {"beta": 1, "recent": 0.9})
        with self.assertRaisesRegex(standin.StandinError, "nothing was fitted to 'b'; there are median, a"):
            standin.like("b", made)


class Traces(unittest.TestCase):
    """Test real traces in the folder TRACES=DIR."""

    def said(self, program: Any, *args: Any) -> str:
        with redirect_stderr(io.StringIO()) as said, redirect_stdout(io.StringIO()):
            self.assertEqual(program.main(list(args)), 1)
        return said.getvalue()

    def test_no_folder(self) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write("[cloudphysics]\n")
            file.flush()
            for program, options in ((fit, ()), (validate, ("--fits", file.name))):
                said = self.said(program, "TRACES=/nonexistent", *options)
                self.assertIn("TRACES=/nonexistent: is no folder: name the one", said)

    def test_bad_files(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("has no cloudphysics.trace.gz (nor cloudphysics.trace)", self.said(fit, folder))
            self.assertIn("no trace named 'x' is known; there are cloudphysics", self.said(fit, folder, "x"))
            path = Path(folder) / "cloudphysics.trace"
            for text, message in (
                ("0 0 8 8 0\n1 0 8 8\n", "line 2: is no request: expected 'arrival_ns device lba512 sectors op'"),
                ("0 0 8 8 2\n", "line 1: is no request"),
                ("0 0 8 8 1\n", "has no writes"),
                ("", "has no writes"),
            ):
                path.write_text(text, encoding="ascii")
                self.assertIn(message, self.said(fit, folder, "cloudphysics"))
            path.with_suffix(".trace.gz").write_bytes(gzip.compress(b"0 0 8 8 0\n")[:-4])
            self.assertIn("is no request", self.said(fit, folder, "cloudphysics"))

    def test_unknown_names(self) -> None:
        for words, message in (
            (("x",), "nothing is named 'x' here; there are cloudphysics"),
            (("--kinds", "own,x"), "nothing is named 'x' here; there are own, others, first"),
        ):
            self.assertIn(message, self.said(validate, "TRACES=/nonexistent", *words))

    def test_read(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "cloudphysics.trace").write_text("0 3 8 8 0\n7 3 16 9 1\n", encoding="ascii")
            self.assertEqual(realtrace.read(Path(folder), "cloudphysics"), [(0, 1, 1, 1), (7, 0, 2, 2)])


class Validating(unittest.TestCase):
    """Compare figures of validate.py with ones computed by hand."""

    def test_quantities(self) -> None:
        nand = {"ops": {"program": {"host": 100, "gc": 300}, "copyback": {}}}
        pen = {"ops": {"program": {"host": 100, "gc": 60}, "copyback": {}}}
        found: dict[str, dict[str, Any]] = {
            "nftl": {"nand": nand}, "pen": {"nand": pen},
            "greedy": {"gc": {"ns": 200, "pages_moved": 40, "calls": 10}},
            "ippbe": {"gc": {"ns": 150, "pages_moved": 30, "calls": 6}},
        }  # fmt: skip
        have = {name: quantity(found) for name, quantity in validate.QUANTITIES.items()}
        for value, by_hand in zip(have.values(), (4, 2.5, -25, -25, -40), strict=True):
            self.assertAlmostEqual(value, by_hand, 12)

    def test_no_gc(self) -> None:
        found = {name: {"gc": {"ns": 0, "pages_moved": 0, "calls": 0}} for name in ("greedy", "ippbe")}
        self.assertIsNone(validate.QUANTITIES["IPPBE GC time, %"](found))

    def test_summary(self) -> None:
        wa, moved = "NFTL write amplification", "IPPBE pages moved, %"
        rows = [
            {"trace": t, "quantity": q, "real": real, "own": own, "others": others, "first": "-"}
            for t, q, real, own, others in (
                ("a", wa, "2", "4", "2"), ("b", wa, "8", "4", "24"), ("c", wa, "1", "1", "9"),
                ("a", moved, "-10", "-14", "-30"), ("b", moved, "-20", "-19", "-20"), ("c", moved, "-1", "1", "-"),
            )
        ]  # fmt: skip
        have = {row["quantity"]: (row["own"], row["others"], row["first"]) for row in validate.summary(rows)}
        self.assertEqual(have[wa], ("x 2.00", "x 3.00", "-"))
        self.assertEqual(have[moved], ("2.0 points", "10.0 points", "-"))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Stand-ins meet the published numbers exactly, and are the same on every run."""

import hashlib
import io
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import support

from reproduce.traces import standin, tracestats

DATA = standin.load()


def sides(name: str, scale: int, seed: int = 1, **settings: Any) -> tuple[dict[str, Any], list[Any]]:
    """Return tracestats of both directions."""
    rows = list(standin.rows(name, scale, seed, settings))
    return {op: tracestats.side([row for row in rows if row[1] == op]) for op in ("read", "write")}, rows


class Marginals(unittest.TestCase):
    """Test requests, bytes and coverage of every volume."""

    def check(self, name: str, scale: int, **settings: Any) -> list[Any]:
        want = standin.marginals(name, scale, DATA)
        have, rows = sides(name, scale, **settings)
        for number, op in enumerate(("read", "write")):
            side = have[op]
            self.assertEqual(
                (side["requests"], side["bytes"], side["covered_bytes"]),
                (want.count[number], want.units[number] * 4096, want.cover[number] * 4096),
                f"{name} 1/{scale} {op}",
            )
            self.assertEqual(side["aligned"], side["requests"])
            self.assertEqual(side["rewrites"], side["rewrites_exact"])
        times = [row[0] for row in rows]
        self.assertEqual(times, sorted(times))
        return rows

    def test_every_volume(self) -> None:
        for name in standin.volumes(DATA):
            with self.subTest(name):
                self.check(name, 512)

    def test_scales_and_seeds(self) -> None:
        for scale in (64, 100, 1000, 2000):
            self.check("hm_0", scale)
        self.assertNotEqual(list(standin.rows("hm_0", 1000, 1)), list(standin.rows("hm_0", 1000, 2)))

    def test_assumptions_change_nothing_that_is_exact(self) -> None:
        for key, values in (
            ("beta", (0.015625, 1, 4)),
            ("density", (0.01, 1)),
            ("follow", (0, 1)),
            ("overlap", (0, 1)),
            ("young", (0, 1)),
            ("burst", (1, 1000)),
            ("run_kib", (4, 100000)),
        ):
            for value in values:
                with self.subTest(f"{key}={value}"):
                    self.check("prn_1", 2000, **{key: value})

    def test_table_2_by_hand(self) -> None:
        # hm_0 at 1/16: 1.417 M / 16 = 88562.5, 2.576 M / 16 = 161000; 9.96 GiB / 16 = 163184.64 units,
        # 20.47 -> 335380.48, 1.84 -> 30146.56, 1.63 -> 26705.92; a week / 16
        want = standin.marginals("hm_0", 16, DATA)
        self.assertEqual(want.count, (88563, 161000))
        self.assertEqual(want.units, (163185, 335380))
        self.assertEqual(want.cover, (30147, 26706))
        self.assertEqual(want.duration_ns, 37_800_000_000_000)

    def test_first_million_by_hand(self) -> None:
        # stg_0: 15496472, 19519904 sectors / 8 / 4; written less updated 577280; half of what is read
        want = standin.marginals("stg_0-1M", 4, DATA)
        self.assertEqual(want.count, (57724, 192276))
        self.assertEqual(want.units, (484265, 609997))
        self.assertEqual(want.cover, (242132, 18040))
        self.assertEqual(want.duration_ns, 84_000_000_000_000)


class Fits(unittest.TestCase):
    """Test fitted properties: the growth of coverage, and the age of data that are read."""

    def test_beta(self) -> None:
        # ln(share of the coverage) / ln(share of the written bytes) after the first million rows, to 1/64:
        # hm_0 ln(0.46849) / ln(0.39221) = 0.8102 -> 52/64
        have = {n: standin.fitted(n, DATA)["beta"] * 64 for n in DATA["table2"] if n in DATA["first_million"]}
        self.assertEqual(have, {"hm_0": 52, "prn_0": 74, "prn_1": 61, "proj_1": 44, "prxy_0": 40, "src1_2": 4})

    def test_update_ratio(self) -> None:
        for name in ("hm_0", "prn_0", "prn_1", "proj_1", "prxy_0", "src1_2"):
            written, update = DATA["first_million"][name][3:5]
            covered: set[int] = set()
            done = again = 0
            for _, op, offset, size in standin.rows(name, 64):
                if op == "write" and done < written / 8 / 64:
                    units = range(offset // 4096, (offset + size) // 4096)
                    done += len(units)
                    again += sum(unit in covered for unit in units)
                    covered.update(units)
            self.assertLess(abs(again / done - update / written), 0.03, f"{name}: {again / done:.3f}")

    def test_young(self) -> None:
        for name in ("hm_0", "prn_0", "prxy_0", "proj_0"):
            share = DATA["age_at_read"][name][1] / DATA["age_at_read"][name][0]
            hour = standin.marginals(name, 16, DATA).duration_ns // 168
            written, young, reads = {}, 0, 0
            for now, op, offset, size in standin.rows(name, 16):
                for unit in range(offset // 4096, (offset + size) // 4096):
                    if op == "write":
                        written[unit] = now
                    else:
                        reads += 1
                        young += now - written.get(unit, -hour) < hour
            self.assertLess(abs(young / reads - share), 0.02, f"{name}: {young / reads:.4f}, published {share:.4f}")

    def test_power(self) -> None:
        self.assertEqual(standin.power(0.25, 0.5), 0.5)
        self.assertEqual(standin.power(0.5, 3), 0.125)
        self.assertEqual(standin.power(1.0, 17.5), 1.0)
        self.assertAlmostEqual(standin.power(0.3, 1.640625), 0.3**1.640625, 14)


class Sizes(unittest.TestCase):
    """Test the distribution of requests over the sizes."""

    def test_exact(self) -> None:
        for count in (100, 777, 12345):
            for units in (count, count + 1, 2 * count, 9 * count + 1, 16 * count - 8, 16 * count):
                found = standin.split_sizes(count, units)
                self.assertEqual(sum(found), count)
                self.assertEqual(sum(n * s for n, s in zip(found, standin.SIZES)), units)
                self.assertGreaterEqual(min(found), 0)

    def test_impossible(self) -> None:
        for count, units in ((10, 9), (10, 161), (1, 3), (10, 159)):
            with self.assertRaisesRegex(standin.StandinError, "cannot have|no mix"):
                standin.split_sizes(count, units)
        with self.assertRaisesRegex(standin.StandinError, "cannot cover"):
            standin.split_cover([5, 0, 0, 0, 0], 6)

    def test_cover(self) -> None:
        for requests in ([5, 0, 0, 0, 3], [0, 4, 4, 0, 0], [100, 50, 20, 10, 5]):
            units = sum(n * s for n, s in zip(requests, standin.SIZES))
            least = sum(s for n, s in zip(requests, standin.SIZES) if n)
            reachable = 0
            for cover in range(least, units + 1):
                try:
                    found = standin.split_cover(requests, cover)
                except standin.StandinError:
                    continue
                reachable += 1
                self.assertEqual(sum(n * s for n, s in zip(found, standin.SIZES)), cover)
                self.assertTrue(all(k <= n and (k > 0 or n == 0) for k, n in zip(found, requests)))
            self.assertGreater(reachable, 0)


class Program(unittest.TestCase):
    """Test standin.py as a command."""

    def run_it(self, *args: Any, ok: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, str(support.REPRODUCE), "standin", *args], capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode == 0, ok, done.stderr)
        return done

    def test_same_bytes(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a"
            self.run_it("hm_0", "--scale", "4096", "-o", str(path))
            text = path.read_bytes()
            self.assertEqual(list(Path(folder).iterdir()), [path])
        self.assertEqual(text.splitlines()[:2], [b"# slate-trace 1", b"# a stand-in for hm_0, scale 1/4096, seed 1"])
        self.assertEqual(
            hashlib.sha256(text).hexdigest(), "30921835e6bbbec27f6fb1f843fa42dedcc8ef96c4a4c681b658f48b85c1bcf4"
        )

    def test_bad_input(self) -> None:
        for args, message in (
            (("hm_9",), "no volume named 'hm_9'"),
            (("hm_0", "--scale", "0"), "scale 0: must be 1 or more"),
            (("hm_0", "--set", "beta=5"), "beta = 5: must be over 0 and at most 4"),
            (("hm_0", "--set", "bets=2"), "no setting named 'bets'"),
            (("hm_0", "--set", "follow=-1"), "follow = -1: must be 0 .. 1"),
            (("proj_1", "--scale", "1000", "--set", "span_gib=1"), "raise span_gib"),
            (("hm_0", "--scale", "4096", "-o", "/nonexistent/x"), "No such file"),
        ):
            with self.subTest(args):
                self.assertIn(message, self.run_it(*args, ok=False).stderr)


class Count(unittest.TestCase):
    """Test tracestats.py on traces counted by hand."""

    def test_native_and_msr(self) -> None:
        native = (
            "# slate-trace 1\n0 0 write 0 4096\n5000 0 write 4096 8192\n7000 0 write 0 4096\n"
            "9000 0 read 512 4096\n9000 0 flush\n"
        )
        msr = (
            "0,h,0,Write,0,4096,9\n50,h,0,Write,4096,8192,9\n70,h,0,Write,0,4096,9\n90,h,0,Read,512,4096,9\n"
        )
        for text in (native, msr):
            with tempfile.NamedTemporaryFile("w", suffix=".csv") as out:
                out.write(text)
                out.flush()
                have = tracestats.stats(out.name)
            self.assertEqual(
                have["write"],
                {"requests": 3, "bytes": 16384, "covered_bytes": 12288, "end_bytes": 12288, "rewrites": 1,
                 "rewrites_exact": 1, "aligned": 3, "run_kib": 12.0},
            )  # fmt: skip
            self.assertEqual(have["read"]["covered_bytes"], 8192)
            self.assertEqual(have["read"]["aligned"], 0)

    def test_what_the_assumptions_rest_on(self) -> None:
        have = tracestats.stats(support.ROOT / "tests/traces/msr_rsrch_1.csv.gz")["write"]
        self.assertEqual((have["requests"], have["run_kib"]), (13738, 147.3))
        self.assertEqual((have["rewrites"], have["rewrites_exact"]), (9406, 9073))

    def test_missing_file(self) -> None:
        with redirect_stderr(io.StringIO()) as said:
            self.assertEqual(tracestats.main(["/nonexistent"]), 1)
        self.assertIn("/nonexistent", said.getvalue())


if __name__ == "__main__":
    unittest.main()

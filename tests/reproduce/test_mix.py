# SPDX-License-Identifier: GPL-2.0-or-later
"""Generated workloads have the published properties, and equal settings give equal requests."""

import collections
import hashlib
import itertools
import json
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

import support

from reproduce.traces import mix


def rows(name: str, scale: int, **settings: Any) -> list[Any]:
    """Return all requests of a mix."""
    return list(mix.requests(mix.mix_of(name, settings), scale, random.Random("test")))


class Mixes(unittest.TestCase):
    """mix.py."""

    def test_warm_up(self) -> None:
        # 11 GiB / 1024 = 11 MiB, once over in 4 KiB writes: 2816; then 4,800,000 / 1024 = 4687.5 requests
        made = rows("usr", 1024)
        self.assertEqual(mix.not_counted(mix.mix_of("usr"), 1024), 2816)
        self.assertEqual(len(made), 2816 + 4687)
        self.assertEqual({row[:2] + row[3:] for row in made[:2816]}, {(0, "write", 4096)})
        # webserver's writes have 16 KiB: a quarter of 11 MiB is 176 of them. Of the 600,000 / 1024 = 585.9
        # requests after them, the first 200,000 / 1024 = 195.3 are not counted.
        other = mix.mix_of("webserver", {"warm": 250, "requests_k": 400})
        self.assertEqual(mix.warm_writes(other, 1024), 176)
        self.assertEqual(mix.not_counted(other, 1024), 176 + 195)
        self.assertEqual(len(list(mix.requests(other, 1024, random.Random(1)))), 176 + 585)
        # fileserver's mean write is (128 + 16) / 2 = 72 KiB: 11 MiB / 72 KiB = 156.4
        self.assertEqual(mix.warm_writes(mix.mix_of("fileserver"), 1024), 156)

    def test_what_is_published(self) -> None:
        """Check that a count is within five standard deviations of its mean over this number of draws."""
        for name, read, sizes in (
            ("kv", 1000, {2048: 0.92, 4096: 0.08}), ("grp", 1000, {4096: 0.6, 8192: 0.4}),
            ("prj", 900, {4096: 0.5, 16384: 0.5}), ("usr", 700, {16384: 1}), ("stg", 300, {16384: 1}),
            ("oltp", 700, {16384: 1}), ("ntrx", 300, {16384: 1}), ("webserver", 800, {16384: 1}),
            ("varmail", 500, {16384: 1}), ("fileserver", 333, {131072: 1}),
        ):  # fmt: skip
            with self.subTest(name):
                made = rows(name, 64, warm=0, settle_k=0, foot_gib=0.5)
                reads = collections.Counter(size for _, op, _, size in made if op == "read")
                total = sum(reads.values())
                self.assertLess(abs(total - len(made) * read / 1000), 5 * (len(made) * 0.25) ** 0.5)
                self.assertEqual(set(reads), set(sizes))
                for size, share in sizes.items():
                    self.assertLess(abs(reads[size] - total * share), 5 * (total * 0.25) ** 0.5)
                aligned = {"kv": 2048, "webserver": 16384, "oltp": 16384, "ntrx": 16384, "fileserver": 16384}
                align = aligned.get(name, 4096)
                self.assertTrue(all(offset % align == 0 for _, _, offset, _ in made))
                self.assertEqual(min(offset // align % 2 for _, _, offset, _ in made), 0)
                self.assertEqual(max(offset // align % 2 for _, _, offset, _ in made), 1)
                self.assertTrue(all(offset >= 0 and offset + size <= 2**29 // 64 for _, _, offset, size in made))

    def test_skew(self) -> None:
        """Zipf's law with exponent 1 over 16 chunks: the k-th gets 1 / (k H) of the requests, H = 3.3807."""
        made = rows("usr", 1, warm=0, foot_gib=2**-12, theta=1, requests_k=100)
        found = collections.Counter(offset // 16384 for _, _, offset, _ in made)
        self.assertEqual(len(found), 16)
        for rank, (_, n) in enumerate(found.most_common(4), 1):
            self.assertLess(abs(n - 100000 / rank / 3.3807), 700)
        alike = collections.Counter(
            row[2] // 16384 for row in rows("usr", 1, warm=0, foot_gib=2**-12, theta=0, requests_k=100)
        )
        self.assertLess(max(alike.values()) - min(alike.values()), 700)

    def test_hot_part(self) -> None:
        """The hot part has 1/64 of the 16 MiB, which is 16 of 1024 chunks of 16 KiB, and gets three
        quarters of the requests.
        """
        made = rows("oltp", 1, warm=0, foot_gib=2**-6, hot_part=1000 / 64, requests_k=100)
        hot = sum(row[2] < 16 * 16384 for row in made)
        self.assertLess(abs(hot - 75000), 5 * (100000 * 0.75 * 0.25) ** 0.5)

    def test_flushes(self) -> None:
        made = rows("stg", 256, warm=0, flush=3)
        self.assertEqual(
            [row[1] for row in made if row[1] != "read"][:8], ["write"] * 3 + ["flush"] + ["write"] * 3 + ["flush"]
        )
        writes = sum(row[1] == "write" for row in made)
        self.assertEqual(sum(row[1] == "flush" for row in made), writes // 3)

    def test_bursts(self) -> None:
        made = rows("varmail", 16, warm=0, settle_k=0, burst=10, foot_gib=1)
        times = [row[0] for row in made]
        gaps = [b - a for a, b in itertools.pairwise(times) if a != b]
        self.assertTrue(all(100e6 <= gap < 300e6 for gap in gaps))
        self.assertLess(abs(len(made) / (len(gaps) + 1) - 10), 0.5)
        self.assertLess(abs(sum(gaps) / len(gaps) / 200e6 - 1), 0.02)
        self.assertEqual({row[0] for row in rows("oltp", 256)}, {0})

    def test_sizes_of_reads(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.trace"
            path.write_text(
                "# slate-trace 1\n# mix x, scale 1/8\n# warmup 2\n0 0 write 0 512\n0 0 read 0 4096\n0 0 read 0 512\n"
                "0 0 write 0 8192\n0 0 flush\n0 0 read 512 1024\n0 0 read 0 512\n", encoding="ascii",
            )  # fmt: skip
            self.assertEqual(mix.read_sizes(path), {512: 2, 1024: 1})

    def test_sizes_of_reads_are_those_that_are_replayed(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.trace"
            mix.write(str(path), "kv1", 256, {})
            sizes = mix.read_sizes(path)
            command = ["build/core/slate-replay", "--profile", "nand-emu/profiles/spread.ini", "--json", "-", str(path)]
            done = subprocess.run(command, cwd=support.ROOT, capture_output=True, text=True, check=True)
        read = json.loads(done.stdout)["host"]["read"]
        self.assertEqual(sum(sizes.values()), read["ios"])
        self.assertEqual(sum(size * n for size, n in sizes.items()), read["bytes"])
        self.assertEqual(read["ios"], 3125)

    def test_always_the_same(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.trace"
            mix.write(str(path), "fileserver", 1024, {"theta": 1.1})
            text = path.read_bytes()
        self.assertTrue(text.startswith(b"# slate-trace 1\n# mix fileserver, scale 1/1024 theta=1.1\n# warmup 204\n"))
        self.assertEqual(
            hashlib.sha256(text).hexdigest(), "8ee07689f41499ab93d8105e7753da5681ed4e2f919741f1cb39a0f367c62856"
        )

    def test_bad_input(self) -> None:
        for args, said in (
            (("nothing",), "no workload named 'nothing' is known; there are kv, grp"),
            (("kv", "--set", "size=1"), "no setting named 'size'; there are read, burst"),
            (("kv", "--set", "reads=1"), "no setting named 'reads'"),
            (("kv", "--set", "read=500"), "the workload has no sizes of such requests"),
            (("kv", "--set", "theta=3"), "theta = 3: must be 0 .. 2"),
            (("kv", "--set", "burst=3"), "burst and think_ms go together"),
            (("oltp", "--set", "theta=1"), "hot and hot_part go together, without theta"),
            (("kv", "--set", "align=100"), "align = 100: must be whole sectors that divide 4096"),
            (("kv", "--scale", "0"), "scale 0: must be 1 or more"),
            (("fileserver", "--scale", "1000000"), "holds no request: take a smaller scale"),
        ):
            with self.subTest(args), tempfile.TemporaryDirectory() as folder:
                command = [sys.executable, str(support.REPRODUCE), "mix", *args]
                done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(said, done.stderr)
                self.assertEqual(list(Path(folder).iterdir()), [])


if __name__ == "__main__":
    unittest.main()

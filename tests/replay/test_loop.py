# SPDX-License-Identifier: GPL-2.0-or-later
"""Test open and closed loop, streams, addresses: times by hand, on tiny.ini."""

import os
import unittest
from collections.abc import Iterator
from typing import Any

from support import CAPACITY, RAND, READ, ROOT, TINY, WRITE, Case


class Loops(Case):
    """The drive has a die on each of two channels; a write takes WRITE, a read READ."""

    def times(self, *args: Any) -> list[tuple[int, int]]:
        return [(row["submit_ns"], row["latency_ns"]) for row in self.rows(*args)]

    def test_closed_one(self) -> None:
        trace = self.native("5 0 write 0 4096", "6 0 write 4096 4096", "7 0 read 0 4096", "8 0 flush")
        self.assertEqual(
            self.times(trace),
            [(0, WRITE), (WRITE, WRITE), (2 * WRITE, READ), (2 * WRITE + READ, 0)],
        )

    def test_closed_two(self) -> None:
        """The third write waits for the first of the two dies to be free."""
        trace = self.native(*(f"0 0 write {i * 4096} 4096" for i in range(4)))
        self.assertEqual(
            self.times("--closed", 2, trace), [(0, WRITE), (0, WRITE), (WRITE, WRITE), (WRITE, WRITE)]
        )
        self.assertEqual(
            self.times("--closed", 4, trace), [(0, WRITE), (0, WRITE), (0, 2 * WRITE), (0, 2 * WRITE)]
        )
        found = self.json("--closed", 3, trace)
        self.assertEqual(found["requests"]["deepest_queue"], 3)
        self.assertEqual((found["time"]["begin_ns"], found["time"]["end_ns"]), (0, 2 * WRITE))

    def test_open(self) -> None:
        """All requests are submitted at the trace's own times, even if others are in flight."""
        lines = [f"{1000 + i * 1000} 0 write {i * 4096} 4096" for i in range(4)]
        trace = self.native(*lines, "500000 0 read 0 4096")
        self.assertEqual(
            self.times("--open", trace),
            [
                (0, WRITE),
                (1000, WRITE),
                (2000, WRITE - 2000 + WRITE),
                (3000, WRITE + 1000 - 3000 + WRITE),
                (499000, READ),
            ],
        )

    def test_think(self) -> None:
        """Bursts have two requests, and the window two: a think time of 1000 ns begins when both have completed."""
        trace = self.native(
            "7 0 write 0 4096", "7 0 write 4096 4096", "1007 0 read 0 4096", "1007 0 read 4096 4096",
            "1007 0 read 4096 4096", "5007 0 flush",
        )  # fmt: skip
        reads = WRITE + 1000
        # three reads with a window of two: the third when the first completes, on the second's die. The second
        # die is free after READ, so the third ends 2 READ after the burst began; then 4000 ns of thought
        self.assertEqual(
            self.times("--closed", 2, "--think", trace),
            [(0, WRITE), (0, WRITE), (reads, READ), (reads, READ), (reads + READ, READ), (reads + 2 * READ + 4000, 0)],
        )
        # one request at a time: no pause within a burst; the think time begins with the burst's
        # last completion
        begin = 2 * WRITE + 1000
        self.assertEqual(
            self.times("--closed", 1, "--think", trace),
            [(0, WRITE), (WRITE, WRITE), (begin, READ), (begin + READ, READ), (begin + 2 * READ, READ),
             (begin + 3 * READ + 4000, 0)],
        )  # fmt: skip
        fast = [row["submit_ns"] for row in self.rows("--closed", 1, "--think", "--speed", 4, trace)]
        self.assertEqual(fast[2], 2 * WRITE + 250)
        self.assertTrue(self.json("--think", trace)["replay"]["think"])

    def test_no_flush(self) -> None:
        """Flushes and FUA are left out and counted; a think time is the difference between the rows before
        and after them.
        """
        trace = self.native("0 0 write 0 4096", "300 0 flush", "1000 0 write 4096 4096 fua", "1500 0 flush")
        rows = self.rows("--think", "--no-flush", trace)
        self.assertEqual(
            [(row["op"], row["submit_ns"], row["fua"]) for row in rows],
            [("write", 0, 0), ("write", WRITE + 1000, 0)],
        )
        self.assertEqual(self.json("--no-flush", trace)["inputs"][0]["flushes_left_out"], 3)
        found = self.json(trace)
        self.assertEqual((found["inputs"][0]["flushes_left_out"], found["host"]["flush"]["ios"]), (0, 2))
        self.refused("--recorded", "--no-flush", trace, words=("--recorded takes one trace as it is", "--no-flush"))

    def test_think_of_several_streams(self) -> None:
        """Each stream has its own think times: that of the second stream ends while the first one's request
        is in flight.
        """
        one = self.native("0 0 write 0 4096", "300000 0 read 0 4096", name="a")
        two = self.native("0 0 write 4096 4096", "10 0 read 4096 4096", "20 0 read 4096 4096", name="b")
        self.assertEqual(
            [(row["stream"], row["submit_ns"]) for row in self.rows("--think", one, two)],
            [(0, 0), (1, 0), (1, WRITE + 10), (1, WRITE + 10 + READ + 10), (0, WRITE + 300000)],
        )

    def test_think_and_repeat(self) -> None:
        """A pass begins at the last arrival of the previous pass, without a think time."""
        trace = self.native("0 0 write 0 4096", "500 0 read 0 4096")
        self.assertEqual(
            [row["submit_ns"] for row in self.rows("--think", "--repeat", 2, trace)],
            [0, WRITE + 500, WRITE + 500 + READ, WRITE + 500 + READ + WRITE + 500],
        )

    def test_abbreviated_options(self) -> None:
        """They are refused: --op, another program's option, is not --open. A value may look like an option."""
        trace = self.native("0 0 write 0 4096")
        for word, name in (("--op", "open"), ("--prof=x", "profile"), ("--warm", "warmup"), ("--json-", "json")):
            self.refused(word, trace, words=(f"{word}: there is no such option; did you mean --{name}?",))
        self.refused("--profile", TINY, "--set", "--fold", trace, words=("--set --fold: is not SECTION.KEY",))
        self.refused("--profile", TINY, "--", "--op", words=("trace --op: No such file",))

    def test_speed(self) -> None:
        trace = self.native("0 0 write 0 4096", "3000000 0 read 0 4096", "3000001 0 read 0 4096")
        for speed, times in (
            ("3", (1000000, 1000000)),
            ("0.5", (6000000, 6000002)),
            ("2.5", (1200000, 1200000)),
        ):
            self.assertEqual(
                [row["submit_ns"] for row in self.rows("--open", "--speed", speed, trace)], [0, *times], speed
            )

    def test_a_read_waits_for_a_write_of_its_die(self) -> None:
        self.assertEqual(
            self.times("--open", "--fill", 100, self.native("0 0 write 0 4096", "50000 0 read 8192 4096"))[
                0
            ],
            (0, WRITE),
        )
        # Filled in order: unit 0 on die 0, unit 1 on die 1; the write goes to die 0.
        rows = self.rows(
            "--open",
            "--fill",
            100,
            self.native("0 0 write 0 4096", "50000 0 read 8192 4096", "50000 0 read 4096 4096"),
        )
        self.assertEqual(sorted(row["latency_ns"] for row in rows[1:]), [READ, WRITE - 50000 + READ])

    def test_time_that_goes_back(self) -> None:
        trace = self.native("9000 0 write 0 4096", "8000 0 write 4096 4096", "9500 0 write 8192 4096")
        self.assertEqual([t for t, _ in self.times("--open", trace)], [0, 0, 500])
        self.assertEqual(self.json("--open", trace)["inputs"][0]["backwards"], 1)

    def test_time_that_is_too_late(self) -> None:
        far = 1 << 62
        for at, arguments in ((far, ()), ((1 << 64) - 1000, ()), (1 << 53, ("--speed", "0.001"))):
            path = self.file("a", f"7 0 0 8 0\n{at + 7} 0 0 8 0\n")
            self.refused("--profile", TINY, "--open", *arguments, path, words=("a, line 2:", "146 years"))
            self.assertEqual(len(self.rows(path)), 2)  # closed loop: arrival times are ignored
        self.assertEqual(
            self.rows("--open", self.file("a", f"0 0 0 8 0\n{far - 1} 0 0 8 0\n"))[1]["submit_ns"], far - 1
        )
        early, late = self.file("b", "0 0 0 8 0 -\n"), self.file("c", f"{far} 0 0 8 0\n")
        self.refused("--profile", TINY, "--open", "--common-clock", early, late, words=("c, line 1:", "146 years"))

    def test_fill_and_age_are_per_cent_and_times(self) -> None:
        """The options take per cent and multiples, as in 'slate run', and the settings are in permille.
        Finer numbers are refused, not rounded.
        """
        found = self.json("--fill", "12.5", "--age", "0.125", "gen:rand4k,foot=1M,n=4")["settings"]
        self.assertEqual(
            [line for line in found if "_permille" in line and line.startswith("precondition.")],
            ["precondition.fill_permille=125", "precondition.age_permille=125"],
        )
        for option, value in (("--fill", "1000"), ("--fill", "12.55"), ("--fill", "-1"), ("--age", "0.1255"),
                              ("--age", "101"), ("--age", "x")):
            self.refused("--profile", TINY, option, value, "gen:rand4k,foot=1M,n=4",
                         words=(f"{option} {value}: not a number from 0 to 100 with at most",))

    def test_reads_of_what_was_never_written_are_told(self) -> None:
        said = self.call("--profile", TINY, "gen:rand4k,foot=1M,n=100,read=1000").stderr
        self.assertIn("note: 100 of 100 reads found only sectors that were never written", said)
        said = self.call("--profile", TINY, "--fill", 100, "gen:rand4k,foot=1M,n=100,read=1000").stderr
        self.assertNotIn("never written", said)
        said = self.call("--profile", TINY, "--fill", 100, self.native("0 0 trim 0 1048576", "0 0 read 0 4096")).stderr
        self.assertIn("note: 1 of 1 read found only sectors that were trimmed since the drive was filled, and took no "
                      "flash read\n", said)  # fmt: skip

    def test_repeat(self) -> None:
        trace = self.native("1000 0 write 0 4096", "501000 0 write 4096 4096")
        self.assertEqual(
            [t for t, _ in self.times("--open", "--repeat", 3, trace)],
            [0, 500000, 500000, 1000000, 1000000, 1500000],
        )
        self.assertEqual(self.json("--repeat", 3, trace)["requests"]["completed"], 6)

    def test_repeat_of_rows_alone(self) -> None:
        """A trace that has only rows is parsed once; one with a row of another device is parsed in each pass."""
        rows = ["5000 0 0 8 0 -\n", "7000 0 8 8 0\n", "9000 0 0 8 1\n"]
        alone, beside = self.file("alone", "".join(rows)), self.file("beside", "".join([*rows, "9500 7 0 8 1\n"]))
        want = [start + at for start in (0, 4000, 8000) for at in (0, 2000, 4000)]
        for trace, words, lines in ((alone, (), 9), (beside, ("--device", 0), 12)):
            with self.subTest(trace=trace.name):
                self.assertEqual([t for t, _ in self.times("--open", "--repeat", 3, *words, trace)], want)
                found = self.json("--open", "--repeat", 3, *words, trace)["inputs"][0]
                self.assertEqual((found["lines"], found["rows"], found["requests"]), (lines, 9, 9))
        found = self.json("--repeat", 3, "--limit", 7, alone)["inputs"][0]
        self.assertEqual((found["lines"], found["rows"], found["requests"]), (7, 7, 7))
        done = self.call("--profile", TINY, "--repeat", 2, "-", input="".join(rows), code=2)
        self.assertIn("only once", done.stderr)

    def test_the_parts_add_up_behind_a_warmup(self) -> None:
        # The drive answers some requests before the warm-up ends, but they are delivered after it.
        found = self.json("gen:rand4k,foot=1M,n=3000,read=500", "--closed", 32, "--warmup", 1000)["host"]
        for op in ("read", "write"):
            with self.subTest(op=op):
                self.assertGreater(found[op]["ios"], 500)
                self.assertEqual(sum(found[op]["where_ns"].values()), found[op]["latency"]["sum_ns"])

    def test_limit_and_warmup(self) -> None:
        found = self.json("gen:rand4k,foot=4M,n=1000", "--limit", 300, "--warmup", 100)
        self.assertEqual(
            found["requests"], {"submitted": 300, "completed": 300, "counted": 200, "deepest_queue": 1}
        )
        self.assertEqual(found["time"]["begin_ns"], 100 * WRITE)
        self.assertEqual(found["nand"]["ops"]["program"]["host"], 200)
        self.assertEqual(found["host"]["write"]["ios"], 200)
        done = self.call("--profile", TINY, "gen:rand4k,foot=4M,n=10", "--warmup", 11)
        self.assertIn("warm-up of 11 requests was not over after 10", done.stderr)

    def test_the_loop_goes_well_together(self) -> None:
        for words, said in (
            (("--open", "--closed", "2", "x"), "exclude each other"),
            (("--speed", "2", "x"), "--open"),
            (("--common-clock", "x"), "--common-clock is for --open"),
            (("--open", "--think", "x"), "--think is for --closed"),
            (("--closed", "2", "--speed", "2", "x"), "--speed is for --open, or --closed with --think"),
            ((), "no TRACE"),
            (("--closed", "0", "x"), "1 to 65536"),
            (("--open", "--speed", "0", "x"), "--speed 0"),
            (("--open", "--speed", "1.0000001", "x"), "6 decimal places"),
            (("--repeat", "x", "x"), "--repeat x"),
            (("--nonsense", "x"), "--nonsense"),
            (("--ephemeral", "x"), "--drive"),
            (("--set", "channels=1", "x"), "is not SECTION.KEY=VALUE; did you mean geometry.channels?"),
            (("--check", "--set", "ftl.payload=no", "gen:rand4k,foot=1M,n=1"), "ftl.payload=yes"),
            (("--device", "1,x", "x"), "--device"),
            (("--blk-action", "QQ", "x"), "one letter"),
            (("--scale=0", "x"), "--scale=0"),
            (("--align", "page", "x"), "sector nor unit"),
            (("--recorded", "x"), "leave --profile out"),
            (("-", "-"), "twice"),
        ):
            self.refused("--profile", TINY, *words, words=(said,))
        self.refused("x", words=("--profile", "--drive"))
        self.refused("--profile", "none.ini", "gen:rand4k,foot=1M,n=1", words=("none.ini",))


    def test_without_data_a_drive_does_not_keep_trims(self) -> None:
        """Without payload the drive can be mounted again until it has trimmed: the bitmap of trims is data."""
        drive = ("--drive", "d", "--set", "ftl.payload=no")
        write = self.native("0 0 write 0 65536", "1 0 flush", name="w")
        trim = self.native("0 0 trim 0 32768", "1 0 flush", name="t")
        self.call("--profile", TINY, *drive, write)
        self.call(*drive, trim)
        done = self.call(*drive, write, code=2)
        self.assertIn("with ftl.payload=no flash keeps no data, and so neither the drive's trims", done.stderr)


class Streams(Case):
    """Test several traces at once."""

    def test_open_merges_by_time(self) -> None:
        one = self.native("100 0 write 0 4096", "900 0 write 4096 4096", name="one")
        two = self.native("7000 0 write 8192 4096", "7400 0 write 12288 4096", name="two")
        rows = self.rows("--open", one, two)
        self.assertEqual(
            [(row["stream"], row["submit_ns"]) for row in rows], [(0, 0), (1, 0), (1, 400), (0, 800)]
        )
        rows = self.rows("--open", "--common-clock", one, two)
        self.assertEqual(
            [(row["stream"], row["submit_ns"]) for row in rows], [(0, 0), (0, 800), (1, 6900), (1, 7300)]
        )
        rows = self.rows("--open", "--common-clock", "--speed", "10", one, two)
        self.assertEqual([row["submit_ns"] for row in rows], [0, 80, 690, 730])

    def test_closed_has_a_window_for_each(self) -> None:
        """Writes of one stream wait for each other, not for those of the other stream."""
        one = self.native(*(f"0 0 write {i * 4096} 4096" for i in range(3)), name="one")
        two = self.native(*(f"0 0 write {(i + 9) * 4096} 4096" for i in range(2)), name="two")
        rows = self.rows("--closed", 1, one, two)
        self.assertEqual(
            sorted((row["stream"], row["submit_ns"]) for row in rows),
            [(0, 0), (0, WRITE), (0, 2 * WRITE), (1, 0), (1, WRITE)],
        )
        found = self.json("--closed", 1, one, two)
        self.assertEqual([one["requests"] for one in found["inputs"]], [3, 2])
        self.assertEqual(found["requests"]["deepest_queue"], 2)


class Places(Case):
    """Test addresses beyond the drive, and parts of sectors and units."""

    def one(self, offset: int, size: int, *args: Any) -> tuple[int, ...]:
        return self.requests(*args, self.native(f"0 0 write {offset} {size}"))[0][1:]

    def counts(self, offset: int, size: int, *args: Any) -> Any:
        return self.json(*args, self.native(f"0 0 write {offset} {size}"))["inputs"][0]

    def test_beyond_is_an_error(self) -> None:
        trace = self.native("0 0 write 0 4096", f"1 0 write {CAPACITY} 512")
        self.refused("--profile", TINY, trace, words=("line 3", str(CAPACITY + 512), "--fold", "--scale"))
        self.assertEqual(self.one(CAPACITY - 512, 512), (CAPACITY - 512, 512))

    def test_larger_than_the_drive(self) -> None:
        trace = self.native(f"0 0 write 0 {CAPACITY + 512}")
        for how in ("--fold", "--scale"):
            self.refused("--profile", TINY, how, trace, words=("larger than the drive",))

    def test_fold(self) -> None:
        self.assertEqual(self.one(3 * CAPACITY + 8192, 4096, "--fold"), (8192, 4096))
        self.assertEqual(self.one(2 * CAPACITY - 512, 4096, "--fold"), (CAPACITY - 4096, 4096))
        found = self.counts(2 * CAPACITY - 512, 4096, "--fold")
        self.assertEqual((found["folded"], found["moved"], found["aligned"]), (1, 1, 0))
        self.assertEqual(self.counts(0, 4096, "--fold")["folded"], 0)

    def test_scale(self) -> None:
        """The extent is 4 times the drive, so every unit is moved to a quarter of its number."""
        trace = self.native(
            f"0 0 write {4 * CAPACITY - 4096} 4096", "0 0 write 409600 512", "0 0 write 16896 512"
        )
        self.assertEqual(
            [place for _, place, _ in self.requests("--scale", trace)],
            [(4 * CAPACITY // 4096 - 1) // 4 * 4096, 102400, 4096 + 512],
        )
        self.refused("--profile", TINY, "--scale=1MiB", trace, words=("beyond the extent", "--scale"))
        found = self.json("--scale", trace)["inputs"][0]
        self.assertEqual((found["extent_bytes"], found["scaled"]), (4 * CAPACITY, 3))
        self.assertEqual(
            self.one(409600, 4096, f"--scale={8 * CAPACITY >> 20}MiB"), (51200 // 4096 * 4096, 4096)
        )
        self.assertEqual(self.one(4096, 4096, "--scale=3M"), (8192, 4096))

    def trims(self, *args: Any) -> list[tuple[int, int]]:
        """Return (offset, bytes) of the trims of a replay."""
        return [(offset, size) for op, offset, size in self.requests(*args) if op == "trim"]

    def test_scaled_trims_are_in_proportion(self) -> None:
        """The extent is 4 times the drive. 64 KiB become 16 KiB; parts add up to the whole."""
        end = f"0 0 read {4 * CAPACITY - 4096} 4096"
        self.assertEqual(self.trims("--scale", self.native("0 0 trim 81920 65536", end)), [(20480, 16384)])
        self.assertEqual(self.trims("--scale", self.native(f"0 0 trim 0 {4 * CAPACITY}", end)), [(0, CAPACITY)])
        parts = [f"0 0 trim {offset} 4096" for offset in range(81920, 81920 + 65536, 4096)]
        self.assertEqual(
            self.trims("--scale", self.native(*parts, end)), [(at, 4096) for at in range(20480, 36864, 4096)]
        )
        found = self.json("--scale", self.native(*parts, end))["inputs"][0]
        self.assertEqual((found["scaled"], found["trims_left_out"], found["requests"]), (17, 12, 5))
        # The ends 10,240 and 30,720 become 2560 and 7680: down to a whole unit, 0 and 4096.
        self.assertEqual(self.trims("--scale", self.native("0 0 trim 10240 20480", end)), [(0, 4096)])
        # On a larger drive a trim grows: 4 KiB of 3 MiB are 8 KiB of 6 MiB.
        self.assertEqual(self.trims("--scale=3M", self.native("0 0 trim 8192 4096")), [(16384, 8192)])

    def test_scaled_trims_beyond_the_extent(self) -> None:
        trace = self.native(f"0 0 trim 0 {99 * CAPACITY}", f"0 0 trim {CAPACITY} {CAPACITY * 8}",
                            f"0 0 trim {3 * CAPACITY} 8192")
        scale = f"--scale={2 * CAPACITY >> 20}MiB"
        self.assertEqual(self.trims(scale, trace), [(0, CAPACITY), (CAPACITY // 2, CAPACITY // 2)])
        found = self.json(scale, trace)["inputs"][0]
        self.assertEqual((found["clipped"], found["trims_left_out"], found["requests"]), (3, 1, 2))
        said = self.call("--profile", TINY, scale, trace).stdout
        self.assertIn("3 trims clipped to the drive or extent, 1 trim left out", said)

    def test_a_scaled_trim_leaves_what_it_left(self) -> None:
        """2 GiB of 1 TiB are 1/512 of the drive, 1820 units of 4 KiB, so the unit in the middle is still there."""
        trace = self.native("0 0 write 549755813888 4096", "1000000 0 flush", "2000000 0 trim 0 2147483648",
                            "3000000 0 read 549755813888 4096")
        default = ROOT / "nand-emu" / "profiles" / "default.ini"
        found = self.json("--scale=1TiB", trace, profile=default)
        units = found["capacity_bytes"] // 4096
        self.assertEqual((found["capacity_bytes"] >> 20, units // 512), (3640, 1820))
        self.assertEqual(self.requests("--scale=1TiB", trace, profile=default)[2:],
                         [("trim", 0, 1820 * 4096), ("read", units // 2 * 4096, 4096)])
        self.assertEqual(found["nand"]["ops"]["read"]["host"], 1)

    def test_folded_trims_are_split(self) -> None:
        trace = self.native(f"0 0 trim {2 * CAPACITY - 8192} 20480", f"7000 0 trim {CAPACITY - 4096} {CAPACITY + 4096}",
                            f"9000 0 trim {3 * CAPACITY} {CAPACITY}", "9500 0 trim 0 4096")
        right = [(CAPACITY - 8192, 8192), (0, 12288), (0, CAPACITY), (0, CAPACITY), (0, 4096)]
        for how in ((), ("--think",), ("--open",), ("--closed", 4)):
            self.assertEqual(self.trims("--fold", *how, trace), right)
        times = [row["submit_ns"] for row in self.rows("--open", "--fold", trace)]
        self.assertEqual(times, [0, 0, 7000, 9000, 9500])  # both parts at the time of the trim
        found = self.json("--fold", trace)["inputs"][0]
        self.assertEqual([found[key] for key in ("rows", "requests", "folded", "split", "clipped", "moved")],
                         [4, 5, 3, 1, 1, 0])
        self.refused("--profile", TINY, trace, words=("line 2", "--fold", "--scale"))

    def test_a_trim_larger_than_the_drive(self) -> None:
        trace = self.native("0 0 write 0 4096", f"1000 0 trim 0 {2 * CAPACITY}", "2000 0 read 0 4096")
        for how in ("--fold", "--scale"):
            found = self.json(how, "--check", "--read-back", trace)
            self.assertEqual((found["host"]["trim"]["ios"], found["host"]["trim"]["bytes"]), (1, CAPACITY))
            self.assertEqual((found["check"]["wrong"], found["ftl_counts"]["unwritten_units"]), (0, 1))

    def test_trims_shrink_to_whole_sectors_and_units(self) -> None:
        """A widened trim would wipe what is beside it."""
        for offset, size, sector, unit in (
            (700, 2000, [(1024, 1536)], []),
            (512, 8192, [(512, 8192)], [(4096, 4096)]),
            (4096, 8192, [(4096, 8192)], [(4096, 8192)]),
            (700, 100, [], []),
        ):
            trace = self.native(f"0 0 trim {offset} {size}")
            self.assertEqual(self.trims(trace), sector)
            self.assertEqual(self.trims("--align", "unit", trace), unit)
        self.assertEqual(self.json(self.native("0 0 trim 700 100"))["inputs"][0]["trims_left_out"], 1)

    def test_scale_of_what_can_be_read_once(self) -> None:
        # A separate pass to find the extent would use up the rows, and none would be left for the replay.
        lines = "".join(f"{i} 0 {i % 50 * 8} 8 0\n" for i in range(60000))
        path = self.file("a", lines)
        words = ("--scale=SIZE", "only once")
        for scale, code in (("--scale", 2), ("--scale=1MiB", 0)):
            with open(path, "rb") as plain:
                done = self.call("--profile", TINY, scale, "-", stdin=plain, code=code)
            for word in words if code else ("60000 requests",):
                self.assertIn(word, done.stderr + done.stdout)
        read, write = os.pipe()
        os.write(write, lines[:4096].encode())
        os.close(write)
        done = self.call("--profile", TINY, "--scale", f"/dev/fd/{read}", pass_fds=(read,), code=2)
        os.close(read)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_align(self) -> None:
        self.assertEqual(self.one(700, 100), (512, 512))
        self.assertEqual(self.one(500, 100), (0, 1024))
        self.assertEqual(self.one(512, 512), (512, 512))
        self.assertEqual(self.one(512, 512, "--align", "unit"), (0, 4096))
        self.assertEqual(self.one(4095, 2, "--align", "unit"), (0, 8192))
        self.assertEqual(self.counts(700, 100)["aligned"], 1)
        self.assertEqual(self.counts(8192, 4096, "--align", "unit")["aligned"], 0)

    def test_no_bytes(self) -> None:
        found = self.json(self.native("0 0 write 0 0", "1 0 read 512 0", "2 0 write 0 512"))["inputs"][0]
        self.assertEqual((found["rows"], found["zero_size"], found["requests"]), (3, 2, 1))

    def test_several_devices_are_noted(self) -> None:
        trace = self.file("a", "0 1 0 8 0\n1 2 8 8 0\n")
        done = self.call("--profile", TINY, trace)
        self.assertIn("several devices", done.stderr)
        self.assertNotIn("several devices", self.call("--profile", TINY, trace, "--device", 1).stderr)


class Generators(Case):
    """Check that the sequence is the one that trace.h promises."""

    @staticmethod
    def numbers(seed: int) -> Iterator[int]:
        """Return the next number of xorshift64."""
        x = seed * 0x9E3779B97F4A7C15 & (1 << 64) - 1
        while True:
            x ^= x << 13 & (1 << 64) - 1
            x ^= x >> 7
            x ^= x << 17 & (1 << 64) - 1
            yield x

    def test_random(self) -> None:
        numbers = self.numbers(5)
        want = [
            ("write", at, min(128 << 10, (1 << 20) + 4096 - at))
            for at in range(0, (1 << 20) + 4096, 128 << 10)
        ]
        want += [("write", next(numbers) % 257 * 4096, 4096) for _ in range(50)]
        self.assertEqual(self.requests("gen:rand4k,foot=1028KiB,n=50,seed=5,fill=128K"), want)

    def test_in_order(self) -> None:
        rows = self.rows("--open", "gen:seq8k,foot=24K,n=4,gap=9")
        self.assertEqual(
            [(row["offset"], row["submit_ns"]) for row in rows], [(0, 0), (8192, 9), (16384, 18), (0, 27)]
        )
        self.assertEqual(len(self.requests("gen:seq8k,foot=24K")), 3)

    def test_reads(self) -> None:
        """Each request uses two numbers: one for its place, one for its operation."""
        numbers = self.numbers(1)
        want = []
        for _ in range(1000):
            place = next(numbers) % 256 * 4096
            want.append(("read" if next(numbers) % 1000 < 300 else "write", place, 4096))
        self.assertEqual(self.requests("gen:rand4k,foot=1M,n=1000,read=300"), want)

    def test_of_the_benchmark(self) -> None:
        found = self.json("gen:rand4k,foot=3400MiB,n=1000", profile=RAND)
        self.assertEqual(found["inputs"][0]["format"], "generated")
        self.assertIsNone(found["inputs"][0]["sha256"])


if __name__ == "__main__":
    unittest.main()

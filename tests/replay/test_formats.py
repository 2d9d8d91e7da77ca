# SPDX-License-Identifier: GPL-2.0-or-later
"""Test every trace format, plain and compressed, and the messages about invalid files."""

import gzip
import hashlib
import shutil
import subprocess
import unittest
from typing import Any

from support import RAND, REPLAY, TINY, TRACES, Case

MSR = (
    "128166372003061629,usr,0,Read,4096,8192,1331\n"
    "128166372003061639,usr,0,Write,0,4096,13\n"
    "128166372003061649,usr,1,write,512,512,13\n"
)
DISKSIM = "7.25 0 8 16 1\n  8.250001999 0 0 8 0\n9.750000 3 1 1 8000001\n"
SSDSIM = "0 0 8 16 1\n1000 0 0 8 0\n2000 3 1 1 0 00ff00ff\n"
BLKPARSE = """\
  8,16   5        1     0.000000000 18615  A   R 8 + 16 <- (8,17) 0
  8,16   5        2     0.000001850 18615  Q   R 8 + 16 [java]
  8,16   5        3     0.000002000 18615  Q  WS 0 + 8 [java]
  8,16   5        4     0.000003000 18615  Q FWFSM 16 + 8 [java]
  8,16   5        5     0.000004000 18615  Q   D 24 + 8 [java]
  8,16   5        6     0.000005000 18615  Q  FN [java]
  8,16   5        7     0.000006000     0  m   N cfq18615 alloced
  8,16   5        8     0.000007000 18615  Q  WBS 32 + 8 [java]
  8,16   5        9     0.000008000 18615  P   N [java]
  8,16   5       10     0.000009000     0  C   R 8 + 16 [0]
CPU5 (8,16):
 Reads Queued:           1,        8KiB
Total (8,16):
"""
BLK_EVENTS = BLKPARSE[: BLKPARSE.index("CPU5")]
FIO2 = (
    "fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a write 0 4096\n/dev/a wait 5 0\n/dev/b read 4096 512\n"
    "/dev/a sync 0 0\n/dev/a trim 8192 4096\n/dev/a wait 12 0\n/dev/a datasync 0 0\n/dev/a wait 7 0\n"
    "/dev/a read 0 512\n/dev/a close\n"
)
FIO3 = "fio version 3 iolog\n0 a add\n1 a open\n10 a write 0 4096\n25 b read 4096 512\n30 a sync 0 0\n40 a close\n"


class Formats(Case):
    """Test files made by hand."""

    def test_msr(self) -> None:
        rows = self.rows(self.file("a.csv", MSR), "--open")
        self.assertEqual(
            [(r["op"], r["offset"], r["bytes"], r["submit_ns"]) for r in rows],
            [("read", 4096, 8192, 0), ("write", 0, 4096, 1000), ("write", 512, 512, 2000)],
        )
        with_head = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\r\n" + MSR.replace(
            "\n", "\r\n"
        )
        self.assertEqual(len(self.requests(self.file("b.csv", with_head))), 3)
        one = self.json(self.file("a.csv", MSR), "--device", "1")
        self.assertEqual((one["inputs"][0]["rows"], one["inputs"][0]["other_devices"]), (1, 2))
        self.assertEqual(one["inputs"][0]["format"], "msr")
        self.assertFalse(one["inputs"][0]["several_devices"])

    def test_ssdsim(self) -> None:
        rows = self.rows(self.file("a", SSDSIM), "--open")
        self.assertEqual(
            [(r["op"], r["offset"], r["bytes"], r["submit_ns"]) for r in rows],
            [("read", 4096, 8192, 0), ("write", 0, 4096, 1000), ("write", 512, 512, 2000)],
        )

    def test_disksim(self) -> None:
        """Times in milliseconds are exact to the nanosecond; bit 0 of the flags marks a read, other bits
        are ignored.
        """
        path = self.file("a", DISKSIM)
        self.assertEqual(
            [(r["op"], r["offset"], r["bytes"], r["submit_ns"]) for r in self.rows(path, "--open")],
            [("read", 4096, 8192, 0), ("write", 0, 4096, 1_000_001), ("read", 512, 512, 2_500_000)],
        )
        self.assertEqual(self.json(path)["inputs"][0]["format"], "disksim")
        self.assertEqual(self.json(path, "--device", "3")["inputs"][0]["rows"], 1)
        self.assertEqual(len(self.requests(path, "--format", "disksim")), 3)

    def test_disksim_times(self) -> None:
        """DiskSim reads them with %lf, so a point is not needed; flags with %x, so they may begin 0x."""
        times = (("0", 0), (".5", 500_000), ("2", 2_000_000), ("3.", 3_000_000), ("4e0", 4_000_000),
                 ("5.25E+00", 5_250_000), ("60000.5e-4", 6_000_050), ("7.0000009999999999999999", 7_000_000),
                 ("9000000000000000000000e-21", 9_000_000), ("12.000001", 12_000_001))  # fmt: skip
        path = self.file("a", "".join(f"{text} 0 8 16 0x1\n" for text, _ in times))
        self.assertEqual([r["submit_ns"] for r in self.rows(path, "--open")], [ns for _, ns in times])
        self.assertEqual(self.json(path)["host"]["read"]["ios"], len(times))

    def test_disksim_or_ssdsim(self) -> None:
        """One line does not tell: whole milliseconds look like nanoseconds."""
        def formats(text: str, *args: Any) -> Any:
            return self.json(*args, self.file("a", text))["inputs"][0]["format"]

        first_zero = "0 0 1000 8 0\n0.500000 0 2000 8 1\n2.000000 0 3000 8 0\n"
        path = self.file("a", first_zero)
        for more in ((), ("--format", "disksim")):
            self.assertEqual([r["submit_ns"] for r in self.rows(path, "--open", *more)], [0, 500_000, 2_000_000])
        whole = "0 0 1000 8 0\n1000 0 2000 8 1\n"
        self.assertEqual(formats("0 0 1000 8 0\n" * 5000 + "9 0 8 8 8000001\n", "--open"), "disksim")  # by its flags
        self.assertEqual(formats(whole + "2000 0 3000 8 1 00ff\n", "--open"), "ssdsim")  # by its sixth column
        # 2^39 ms are 17 years, and 2^39 ns nine minutes
        self.assertEqual(formats(f"7 0 1000 8 0\n{1 << 39} 0 2000 8 1\n", "--open"), "ssdsim")
        for gap, name in ((60_001, "ssdsim"), (60_000, None)):  # of a hundred rows, over a minute as ms
            path = self.file("a", "".join(f"{i * gap * 100 // 99} 0 1000 8 0\n" for i in range(100)))
            if name:
                self.assertEqual(self.json("--open", path)["inputs"][0]["format"], name)
            else:
                self.refused("--profile", TINY, "--open", path, words=("--format ssdsim",))
        path = self.file("a", whole)
        for how in (("--open",), ("--think",), ("--open", "--common-clock")):
            self.refused("--profile", TINY, *how, path,
                         words=("a: its first lines", "--format ssdsim (ns)", "--format disksim (ms)"))
        self.assertEqual(formats(whole), "ssdsim")  # a closed loop uses no times
        for name, ns in (("ssdsim", 1000), ("disksim", 1_000_000_000)):
            self.assertEqual([r["submit_ns"] for r in self.rows("--open", "--format", name, path)], [0, ns])

    def test_a_bad_first_line(self) -> None:
        """The format that reads the most lines is chosen, and its name is told with the bad rows."""
        for name, text in (("msr", MSR), ("disksim", DISKSIM), ("blkparse", BLK_EVENTS)):
            path = self.file("a", "0 0 zero 8 0\n" + text)
            self.refused("--profile", TINY, path, words=("a:1: bad row", f"trace {path}, read as {name}: 1 of"), code=1)
            self.assertEqual(self.json("--max-bad", "500", path)["inputs"][0]["format"], name)

    def test_blkparse(self) -> None:
        path = self.file("a", BLKPARSE)
        rows = self.rows(path, "--open")
        self.assertEqual(
            [(r["op"], r["offset"], r["bytes"], r["fua"], r["submit_ns"]) for r in rows],
            [
                ("read", 4096, 8192, 0, 0),
                ("write", 0, 4096, 0, 150),
                ("flush", 0, 0, 0, 1150),
                ("write", 8192, 4096, 1, 1150),
                ("trim", 12288, 4096, 0, 2150),
                ("flush", 0, 0, 0, 3150),
                ("flush", 0, 0, 0, 5150),
                ("write", 16384, 4096, 1, 5150),
            ],
        )
        one = self.json(path)["inputs"][0]
        self.assertEqual((one["lines"], one["rows"], one["bad"], one["other"]), (13, 8, 0, 7))
        self.assertEqual(self.requests(path, "--blk-action", "C"), [("read", 4096, 8192)])
        self.assertEqual(len(self.requests(path, "--device", "8,16")), 8)
        self.assertEqual(self.json(path, "--device", "8,17")["inputs"][0]["other_devices"], 8)

    def test_blkparse_flush_without_data(self) -> None:
        # An fsync gives a write of no data with a flush before it.
        path = self.file(
            "a",
            "  8,16   5  1  0.000000000 18615  Q FWS [jbd2/sda1-8]\n"
            "  8,16   5  2  0.000001000 18615  Q FWS\n"
            "  8,16   5  3  0.000002000 18615  Q FWFS 16 + 8 [java]\n",
        )
        rows = self.rows(path, "--open")
        self.assertEqual(
            [(r["op"], r["offset"], r["bytes"], r["fua"], r["submit_ns"]) for r in rows],
            [("flush", 0, 0, 0, 0), ("flush", 0, 0, 0, 1000), ("flush", 0, 0, 0, 2000), ("write", 8192, 4096, 1, 2000)],
        )
        # Without the flush, a write must have an address.
        self.refused(
            "--profile",
            TINY,
            self.file("b", "  8,16   5  1  0.000000000 18615  Q WS [java]\n"),
            words=("b:1: bad row", "SECTOR + COUNT"),
            code=1,
        )

    def test_fio_2(self) -> None:
        """'wait' names milliseconds since the start; a time that has passed changes nothing."""
        rows = self.rows(self.file("a", FIO2), "--open")
        self.assertEqual(
            [(r["op"], r["offset"], r["bytes"], r["submit_ns"]) for r in rows],
            [
                ("write", 0, 4096, 0),
                ("read", 4096, 512, 5_000_000),
                ("flush", 0, 0, 5_000_000),
                ("trim", 8192, 4096, 5_000_000),
                ("flush", 0, 0, 12_000_000),
                ("read", 0, 512, 12_000_000),
            ],
        )
        self.assertEqual(self.requests(self.file("a", FIO2), "--device", "1"), [("read", 4096, 512)])

    def test_fio_actions_that_fio_passes_over(self) -> None:
        """fio writes sync_file_range into its logs, and reads over it with a message."""
        path = self.file("a", "fio version 3 iolog\n0 a add\n0 a open\n10 a write 0 4096\n"
                         "20 a sync_file_range 0 4096\n30 a write 4096 4096\n40 a close\n")
        self.assertEqual(self.requests("--check", path), [("write", 0, 4096), ("write", 4096, 4096)])
        one = self.json(path)["inputs"][0]
        self.assertEqual((one["rows"], one["bad"], one["other"], one["passed_over"]), (2, 0, 4, 1))
        self.assertIn("1 rows of actions that fio passes over", self.call("--profile", TINY, path).stdout)
        path = self.file("b", FIO2 + "/dev/a jump 0 4096\n")
        self.assertEqual(self.json("--repeat", 2, path)["inputs"][0]["passed_over"], 2)

    def test_fio_3(self) -> None:
        rows = self.rows(self.file("a", FIO3), "--open")
        self.assertEqual(
            [(r["op"], r["offset"], r["bytes"], r["submit_ns"]) for r in rows],
            [("write", 0, 4096, 0), ("read", 4096, 512, 15_000), ("flush", 0, 0, 20_000)],
        )

    def test_native(self) -> None:
        path = self.native(
            "# a comment",
            "7 0 write 0 4096 fua",
            "",
            "9 1 trim 4096 4096",
            "9 0 flush",
            "12 0 read 0 512",
            "13 0 step",
        )
        rows = self.rows(path, "--open")
        self.assertEqual(
            [(r["op"], r["offset"], r["bytes"], r["fua"], r["submit_ns"]) for r in rows],
            [
                ("write", 0, 4096, 1, 0),
                ("trim", 4096, 4096, 0, 2),
                ("flush", 0, 0, 0, 2),
                ("read", 0, 512, 0, 5),
            ],
        )
        self.assertEqual(self.json(path)["inputs"][0]["events_left_out"], 1)

    def test_real_files(self) -> None:
        """The counts are those that other readers of the same files give (tests/traces/README.md)."""
        for name, rows, reads in (
            ("msr_wdev_1.csv.gz", 1055, 0),
            ("msr_rsrch_1.csv.gz", 13780, None),
            ("cloudphysics.trace.gz", 113872, 46974),
            ("hadoop_disk_head.blkparse.gz", 250, 38),
        ):
            one = self.json(TRACES / name, "--fold", profile=RAND)
            self.assertEqual((one["inputs"][0]["rows"], one["inputs"][0]["bad"]), (rows, 0), name)
            if reads is not None:
                self.assertEqual(one["host"]["read"]["ios"], reads, name)
        # Most requests of the volume are writes.
        with gzip.open(TRACES / "msr_rsrch_1.csv.gz", "rt") as lines:
            reads = sum(",Read," in line for line in lines)
        one = self.json(TRACES / "msr_rsrch_1.csv.gz", "--fold", profile=RAND)
        self.assertEqual((one["host"]["read"]["ios"], one["host"]["write"]["ios"]), (reads, 13780 - reads))

    def test_a_forced_format(self) -> None:
        self.assertEqual(len(self.requests(self.file("a", SSDSIM), "--format", "ssdsim")), 3)
        self.refused(
            "--profile",
            TINY,
            "--format",
            "msr",
            self.file("a", SSDSIM * 3),
            words=("bad row", "--format"),
            code=1,
        )
        self.refused("--profile", TINY, "--format", "xml", "a", words=("--format xml", "blkparse"))


class LivePipe(Case):
    """A program writes a trace into a pipe while it is replayed: with --format the first line is enough to begin."""

    def test_the_head_is_judged_while_the_pipe_is_open(self) -> None:
        words = [str(REPLAY), "--profile", str(TINY), "--format", "native", "-"]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
            assert program.stdin and program.stderr
            program.stdin.write("# of another program\n")
            program.stdin.flush()
            self.assertIn("does not begin with '# slate-trace 1'", program.stderr.read())  # to its end
            self.assertEqual(program.wait(), 2)


class Packed(Case):
    """gzip files, zstd files and standard input give the same rows."""

    def same(self, *variants: Any) -> None:
        plain = self.json(*variants[0])
        for variant in variants[1:]:
            other = self.json(*variant)
            self.assertEqual(other["host"], plain["host"])
            self.assertEqual(other["inputs"][0]["rows"], plain["inputs"][0]["rows"])

    def setUp(self) -> None:
        super().setUp()
        lines = [f"{i * 700} 0 {i * 37 % 1500 * 8} 8 {i % 3 == 0:d}" for i in range(30000)]
        self.plain = self.file("plain", "\n".join(lines) + "\n")

    def test_gzip(self) -> None:
        packed = self.file("packed", gzip.compress(self.plain.read_bytes()))
        half = len(self.plain.read_bytes()) // 2
        members = self.file(
            "members",
            gzip.compress(self.plain.read_bytes()[:half]) + gzip.compress(self.plain.read_bytes()[half:]),
        )
        self.same([self.plain], [packed], [members])
        for path in (self.plain, packed):
            found = self.json(path)["inputs"][0]
            self.assertEqual(found["sha256"], hashlib.sha256(path.read_bytes()).hexdigest())
            self.assertEqual(found["bytes"], path.stat().st_size)

    @unittest.skipUnless(shutil.which("zstd"), "there is no zstd")
    def test_zstd(self) -> None:
        subprocess.run(["zstd", "-q", self.plain, "-o", self.folder / "a.zst"], check=True)
        half = len(self.plain.read_bytes()) // 2
        frames = b""
        for piece in (self.plain.read_bytes()[:half], self.plain.read_bytes()[half:]):
            frames += subprocess.run(
                ["zstd", "-q", "-c"], input=piece, capture_output=True, check=True
            ).stdout
        self.same([self.plain], [self.folder / "a.zst"], [self.file("frames", frames)])

    def test_a_limit_leaves_the_checksum_whole(self) -> None:
        found = self.json(self.plain, "--limit", 10)
        self.assertEqual(found["requests"]["submitted"], 10)
        self.assertEqual(found["inputs"][0]["sha256"], hashlib.sha256(self.plain.read_bytes()).hexdigest())

    def test_standard_input(self) -> None:
        text = self.plain.read_text(encoding="utf-8")
        done = self.call("--profile", TINY, "--json", "-", "-", input=text)
        self.assertIn('"rows": 30000', done.stdout)
        self.assertIn(hashlib.sha256(text.encode()).hexdigest(), done.stdout)
        done = self.call("--profile", TINY, "--repeat", "2", "-", input=text, code=2)
        self.assertIn("only once", done.stderr)

    def test_no_newline_at_the_end(self) -> None:
        self.same([self.plain], [self.file("a", self.plain.read_bytes().rstrip(b"\n"))])

    def test_cut_short(self) -> None:
        packed = gzip.compress(self.plain.read_bytes())
        self.refused(
            "--profile",
            TINY,
            self.file("a.gz", packed[: len(packed) // 2]),
            words=("a.gz", "not the whole file"),
        )
        damaged = packed[:200] + bytes(50) + packed[250:]
        self.refused("--profile", TINY, self.file("b.gz", damaged), words=("b.gz", "damaged gzip"))


class Bad(Case):
    """Test rows that cannot be read."""

    def test_each_format(self) -> None:
        for name, head, row, why in (
            ("msr", MSR, "128166372003061629,usr,0,Reed,4096,8192,1331", "Type (column 4)"),
            ("msr", MSR, "x,usr,0,Read,4096,8192,1331", "Timestamp"),
            ("msr", MSR, "1,usr,zero,Read,4096,8192,1331", "DiskNumber"),
            ("msr", MSR, "1,usr,0,Read,-1,8192,1331", "Offset or Size"),
            ("msr", MSR, "1,usr,0,Read,4096,8192", "columns"),
            ("msr", MSR, "1,usr,0,Read,4096,8192,1,2", "ResponseTime"),
            ("msr", MSR, "99999999999999999999,usr,0,Read,4096,8192,1", "Timestamp"),
            ("msr", MSR, "1,usr,0,Read,9223372036854775807,8192,1", "4 EiB"),
            ("ssdsim", SSDSIM, "1 2 3 4", "five whole numbers"),
            ("ssdsim", SSDSIM, "1 2 3 4 2", "OP (column 5)"),
            ("ssdsim", SSDSIM, "1 2 3 4 1 a b", "more than 6"),
            ("ssdsim", SSDSIM, "1 2 99999999999999999 4 1", "beyond 4 EiB"),
            ("disksim", DISKSIM, ". 0 8 8 1", "ARRIVAL_MS"),
            ("disksim", DISKSIM, "-1 0 8 8 1", "ARRIVAL_MS"),
            ("disksim", DISKSIM, "1e 0 8 8 1", "ARRIVAL_MS"),
            ("disksim", DISKSIM, "1e99 0 8 8 1", "ARRIVAL_MS"),
            ("disksim", DISKSIM, "1.x 0 8 8 1", "ARRIVAL_MS"),
            ("disksim", DISKSIM, "99999999999999999.0 0 8 8 1", "ARRIVAL_MS"),
            ("disksim", DISKSIM, "1.5 0 8 -8 1", "DEVICE BLOCK BLOCKS"),
            ("disksim", DISKSIM, "1.5 0 8 8 g", "FLAGS (column 5)"),
            ("disksim", DISKSIM, "1.5 0 8 8 1 1", "FLAGS (column 5)"),
            ("disksim", DISKSIM, "1.5 0 99999999999999999 8 1", "beyond 4 EiB"),
            ("blkparse", BLK_EVENTS, "8,16 5 2 zero 18615 Q R 8 + 16 [java]", "an event begins"),
            ("blkparse", BLK_EVENTS, "8,16 5 2 0.1 18615 Q X 8 + 16 [java]", "RWBS"),
            ("blkparse", BLK_EVENTS, "8,16 5 2 0.1 18615 Q R 8 - 16 [java]", "SECTOR + COUNT"),
            ("blkparse", BLK_EVENTS, "8,16 5 2 0.1 18615 Q R 8 + x [java]", "COUNT"),
            ("blkparse", BLK_EVENTS, "8,16 5 2 0.1 18615 QQQ R 8 + 1 [java]", "action"),
            ("fio", FIO2, "/dev/a write 0", "OFFSET and BYTES"),
            ("fio", FIO2, "/dev/a wait 5", "fio ignores 'wait'"),
            ("fio", FIO2, "/dev/a sync", "OFFSET and BYTES"),
            ("fio", FIO2, "alone", "file name and an action"),
            ("fio", FIO3, "x a write 0 4096", "its time in us"),
            ("fio", FIO3, "9 a wait 100 0", "in version 3"),
            ("native", "# slate-trace 1\n", "1 0 leap 0 0", "not read, write"),
            ("native", "# slate-trace 1\n", "1 0 read 0 4096 fua", "OFFSET BYTES"),
            ("native", "# slate-trace 1\n", "one 0 read 0 4096", "NS STREAM"),
            ("native", "# slate-trace 1\n1 0 flush\n", "# set a.b=c", "behind the first row"),
        ):
            path = self.file("a", head + row + "\n")
            line = head.count("\n") + 1
            with self.subTest(row=row):
                self.refused(
                    "--profile",
                    TINY,
                    "--format",
                    name,
                    path,
                    words=(f"a:{line}: bad row: ", why, "--max-bad"),
                    code=1,
                )

    def test_the_share(self) -> None:
        """Two bad rows of a hundred are within the permitted share."""
        good = [f"{i} 0 {i * 8} 8 0" for i in range(98)]
        path = self.file("a", "\n".join([*good[:50], "x", *good[50:], "1 2 3"]) + "\n")
        found = self.json(path, "--max-bad", 20)
        self.assertEqual((found["inputs"][0]["bad"], found["inputs"][0]["rows"]), (2, 98))
        self.refused(
            "--profile",
            TINY,
            path,
            "--max-bad",
            "19",
            words=("a:51:", "a:100:", "2 of 100 rows are bad"),
            code=1,
        )

    def test_before_the_limit(self) -> None:
        path = self.file("a", "0 0 0 8 0\nx\n0 0 8 8 0\n0 0 16 8 0\n")
        options = ("--profile", TINY, "--format", "ssdsim", "--limit", "2", path)
        self.refused(*options, words=("a:2: bad row", "1 of 3 rows"), code=1)
        self.assertEqual(self.json(*options[2:], "--max-bad", "334")["requests"]["completed"], 2)

    def test_five_are_told(self) -> None:
        lines = ["1 0 0 8 0"] + ["bad"] * 40
        message = self.call("--profile", TINY, "--max-bad", "999", self.file("a", "\n".join(lines))).stderr
        self.assertEqual(message.count("bad row"), 5)
        message = self.call(
            "--profile", TINY, self.file("a", "\n".join([*lines, "1 0 0 8 0"])), code=1
        ).stderr
        self.assertEqual(message.count("bad row"), 5)

    def test_a_long_line(self) -> None:
        path = self.file("a", "0 0 0 8 0\n" + "9" * 300_000 + "\n5 0 8 8 0\n")
        found = self.json(path, "--max-bad", 500)["inputs"][0]
        self.assertEqual((found["rows"], found["bad"], found["lines"]), (2, 1, 3))
        self.refused("--profile", TINY, path, words=("a:2: bad row: is longer than 4096",), code=1)

    def test_a_long_line_in_the_head(self) -> None:
        row = ("write", 0, 4096)
        head = "# slate-trace 1\n# " + "x" * 5000 + "\n"
        for rest, rows in (("0 0 write 0 4096\n", [row]), ("\n0 0 write 0 4096\n", [row]), ("", [])):
            path = self.file("a", head + rest)
            self.assertEqual(self.requests(path, "--max-bad", 1000), rows)
            one = self.json(path, "--max-bad", 1000)["inputs"][0]
            self.assertEqual((one["lines"], one["rows"], one["bad"]), (2 + rest.count("\n"), len(rows), 1))

    def test_no_trace_at_all(self) -> None:
        for content, word in (
            ("", "is empty"),
            ("hello\n", "no known format"),
            ("\x00\x01\x02", "no known format"),
        ):
            self.refused("--profile", TINY, self.file("a", content), words=("trace", word, "--format"))
        self.refused("--profile", TINY, "nowhere", words=("nowhere", "No such file"))
        self.refused("--profile", TINY, self.folder, words=("is a directory",))
        self.refused("--profile", TINY, self.file("a", "# slate-trace 2\n"), words=("another version",))
        self.refused("--profile", TINY, self.file("a", "fio version 1 iolog\n"), words=("newer fio",))

    def test_generators(self) -> None:
        for spec, word in (
            ("gen:", "randSIZE"),
            ("gen:walk4k,foot=1M", "randSIZE"),
            ("gen:rand4k,n=1", "foot"),
            ("gen:rand4k,foot=1M", "n=N"),
            ("gen:rand4k,foot=1M,n=1,x=1", "'x'"),
            ("gen:rand4k,foot=1M,n=1,read=1001", "'read'"),
            ("gen:rand4k,foot=1Q,n=1", "'foot'"),
            ("gen:rand100,foot=1M,n=1", "whole sectors"),
            ("gen:rand4k,foot=1M,n=1,seed=0", "'seed'"),
        ):
            self.refused("--profile", TINY, spec, words=(spec, word, "--help"))


if __name__ == "__main__":
    unittest.main()

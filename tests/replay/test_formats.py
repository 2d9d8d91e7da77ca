# SPDX-License-Identifier: GPL-2.0-or-later
"""Test every trace format, plain and compressed, and the messages about invalid files."""

import gzip
import hashlib
import shutil
import struct
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
                         words=("a: its first lines", "--format ssdsim (ns) or --format disksim (ms)"))
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

    def test_blkparse_passthrough(self) -> None:
        """Commands that are not of the block layer have bytes, perhaps the command in hexadecimal, and no sectors."""
        path = self.file(
            "a",
            "  8,0   3  1  0.000000000   697  Q   R 512 [smartctl]\n"
            "  8,0   3  2  0.000001000   697  Q   R 36 (12 00 00 00 24 00) [smartctl]\n"
            "  8,0   3  3  0.000002000   697  Q   R 8 + 8 [fio]\n",
        )
        self.assertEqual(self.requests(path), [("read", 4096, 4096)])
        one = self.json(path)["inputs"][0]
        self.assertEqual((one["rows"], one["bad"], one["other"]), (1, 0, 2))

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
        self.assertIn("1 row of no known operation passed over", self.call("--profile", TINY, path).stdout)
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

    def test_columns(self) -> None:
        """A line of each format and a second one later; times are taken from the first."""
        for name, text, second in (
            ("msr", "128166372003061629,usr,0,Read,4096,8192,1331\n128166372003061726,u,0,Write,8192,4096,1\n", 9_700),
            ("ssdsim", "1000 0 8 16 1\n1500 0 16 8 0\n", 500),
            ("disksim", "7.25 0 8 16 1\n7.250001 0 16 8 0\n", 1),
            ("alibaba", "419,r,4096,8192,1577808144360767\n419,W,8192,4096,1577808144360813\n", 46_000),
            ("tencent", "1538323200,8,16,0,1283\n1538323202,16,8,1,1283\n", 2_000_000_000),
            ("systor", "1456135200.013118000,0.000806000,R,0,4096,8192\n1456135200.013119001,,w,0,8192,4096\n", 1001),
            ("k5cloud", "7, 0.000512, R, 4096, 8192\n7,1.5,W,8192,4096\n", 1_499_488_000),
            ("fiu", "1000 4892 syslogd 8 16 R 6 0 531e779e\n1010 1 a 16 8 W 6 0 53 1e 77\n", 10),
            ("spc", "0,8,8192,r,0.551706\n0,16,4096,W,0.554041,0x123,5.99, a test\n", 2_335_000),
            ("cloudphysics", "1,5633898,28,8192,8\n1,5633899,2a,4096,16\n", 1_000_000_000),
        ):
            with self.subTest(name=name):
                path = self.file("a", text)
                timed = () if name not in ("ssdsim", "disksim") else ("--format", name)
                self.assertEqual(
                    [(r["op"], r["offset"], r["bytes"], r["submit_ns"]) for r in self.rows(path, "--open", *timed)],
                    [("read", 4096, 8192, 0), ("write", 8192, 4096, second)],
                )
                one = self.json(path)["inputs"][0]
                self.assertEqual((one["format"], one["several_devices"], one["bad"]), (name, False, 0))

    def test_heads(self) -> None:
        """The first line may name the columns, in the words of the format's source."""
        for name, head, row in (
            ("msr", "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime", "1,usr,0,Read,4096,8192,1331"),
            ("alibaba", "device_id,opcode,offset,length,timestamp", "419,R,4096,8192,1577808144360767"),
            ("tencent", "Timestamp,Offset,Size,IOType,VolumeID", "1538323200,8,16,0,1283"),
            ("systor", "Timestamp,Response,IOType,LUN,Offset,Size", "1456135200.013118000,0.000806000,R,0,4096,8192"),
            ("k5cloud", "ID,Timestamp,Type,Offset,Length", "7,0.000512,R,4096,8192"),
            ("cloudphysics", "version,time,op,size,lbn", "1,5633898,28,8192,8"),
        ):
            with self.subTest(name=name):
                path = self.file("a", f"{head}\n{row}\n")
                self.assertEqual(self.requests(path), [("read", 4096, 8192)])
                one = self.json(path)["inputs"][0]
                self.assertEqual((one["format"], one["lines"], one["rows"], one["other"]), (name, 2, 1, 1))

    def test_volumes(self) -> None:
        """Each format names its volume in another column; FIU's is a major and a minor number."""
        for text, device, want in (
            ("419,R,4096,512,1577808144360767\n725,R,8192,512,1577808144360813\n", "725", 8192),
            ("1538323200,8,1,0,1283\n1538323202,16,1,0,9\n", "1283", 4096),
            ("1456135200.0,0,R,3,4096,512\n1456135200.0,0,R,4,8192,512\n", "4", 8192),
            ("7,0.1,R,4096,512\n8,0.2,R,8192,512\n", "7", 4096),
            ("1000 4892 syslogd 8 1 R 6 0 53\n1010 1 a 16 1 R 6 17 53\n", "6,17", 8192),
            ("0,8,512,R,0.5\n22,16,512,R,0.6\n", "22", 8192),
        ):
            self.assertEqual(self.requests(self.file("a", text), "--device", device), [("read", want, 512)])

    def test_operations_that_are_no_requests(self) -> None:
        path = self.file("a", "1456135200.0,0,,3,4096,512\n1456135200.0,0,R,3,8192,512\n")
        self.assertEqual(self.requests(path), [("read", 8192, 512)])
        self.assertEqual(self.json(path)["inputs"][0]["passed_over"], 1)
        # TEST UNIT READY, READ (16), SYNCHRONIZE CACHE (10)
        path = self.file("a", "2,1,0,0,0\n2,1,88,512,8\n2,1,35,0,0\n")
        self.assertEqual(self.requests(path), [("read", 4096, 512), ("flush", 0, 0)])
        self.assertEqual(self.json(path)["inputs"][0]["passed_over"], 1)

    def test_columns_of_the_user(self) -> None:
        for how, text, rows in (
            ("time=5us,op=2:r/w,offset=3*512,bytes=4,volume=1", "0,R,8,512,1000\n0,w,16,512,1002.5\n",
             [("read", 4096, 512, 0), ("write", 8192, 512, 2500)]),
            ("op=1:get/put/del/sync,offset=2*4096,bytes=3*4096,sep=semicolon", "PUT; 1; 2; more\ndel;0;1\nsync;5;1\n",
             [("write", 4096, 8192, 0), ("trim", 0, 4096, 0), ("flush", 0, 0, 0)]),
            ("time=1*100ns,op=write,offset=3,bytes=2,sep=blank,skip=2", "a head\n\n10  512\t4096 x\n12 512 0\n",
             [("write", 4096, 512, 0), ("write", 0, 512, 200)]),
            ("time=4ps,op=3,offset=1,bytes=2,sep=bar", "0|512|read|1000\n0|512|F|2999\n512|512|w|3000\n",
             [("read", 0, 512, 0), ("flush", 0, 0, 1), ("write", 512, 512, 2)]),
            ("op=2:Op_Read/OP_write,offset=3,bytes=4", "0,OP_READ,0,512\n0,op_write,512,512\n",
             [("read", 0, 512, 0), ("write", 512, 512, 0)]),
            ("time=1s,op=2:0/1,offset=3,bytes=4", "0,0,0,512\n1e-6,1,512,512\n",
             [("read", 0, 512, 0), ("write", 512, 512, 1000)]),
        ):
            with self.subTest(how=how):
                found = self.rows(self.file("a", text), "--open", "--format", "csv:" + how)
                self.assertEqual([(r["op"], r["offset"], r["bytes"], r["submit_ns"]) for r in found], rows)

    def test_ftrace(self) -> None:
        """Text of the kernel's trace file, and of trace-cmd report; kernels from 6.9 on have a priority more."""
        path = self.file("a", """\
# tracer: nop
cpus=2
          fio-71      [002] d..1.    12.500000: block_rq_issue: 259,0 R 8192 () 8 + 16 [fio]
          fio-71      [002] d..1.    12.500001: block_rq_complete: 259,0 R () 8 + 16 [0]
 kworker/2:1H [x]-9   [000]    12.500002: block_rq_issue:       259,0 WFS 4096 () 16 + 8 none,0,0 [kworker/2:1H]
          fio-71      [002] d..1.    12.500003: block_rq_issue: 259,0 FF 0 () 0 + 0 [fio]
          fio-71      [002] .....    12.500004: block_rq_issue: 259,0 DS 4096 () 24 + 8 [fio]
          fio-71      [002] d..1.    12.500005: block_rq_issue: 259,0 N 36 (12 00 00) 0 + 0 [fio]
          fio-71      [002] .....    12.500006: block_bio_queue: 259,0 FWS 32 + 8 [fio]
          fio-71      [002] .....    12.500007: sched_switch: prev_comm=fio
""")
        self.assertEqual(
            [(r["op"], r["offset"], r["bytes"], r["fua"], r["submit_ns"]) for r in self.rows(path, "--open")],
            [("read", 4096, 8192, 0, 0), ("write", 8192, 4096, 1, 2000), ("flush", 0, 0, 0, 3000),
             ("trim", 12288, 4096, 0, 4000)],
        )
        one = self.json(path)["inputs"][0]
        self.assertEqual((one["format"], one["lines"], one["rows"], one["other"], one["bad"]), ("ftrace", 10, 4, 6, 0))
        self.assertEqual(self.requests(path, "--blk-action", "Q"), [("flush", 0, 0), ("write", 16384, 4096)])
        self.assertEqual(self.requests(path, "--blk-action", "C"), [("read", 4096, 8192)])
        self.assertEqual(len(self.requests(path, "--device", "259,0")), 4)

    def test_ftrace_of_linux_7(self) -> None:
        """An atomic write has a U; WZ, ZR, ZF and ZRA are neither writes nor reads; ZA is a write (Linux 7.1)."""
        events = ("WSU 4096 () 8 + 8", "WZS 65536 () 0 + 128", "ZRS 0 () 0 + 0", "ZFS 0 () 0 + 0", "ZRAS 0 () 0 + 0",
                  "FZAS 8192 () 4096 + 16", "FF 0 () 0 + 0", "WS 0 () 0 + 0")
        begin = " dd-9 [000] .....  1.5: block_rq_issue: 259,1 "
        path = self.file("a", "".join(f"{begin}{text} be,0,4 [dd]\n" for text in events))
        rows = [("write", 4096, 4096), ("flush", 0, 0), ("write", 2097152, 8192), ("flush", 0, 0)]
        self.assertEqual(self.requests(path), rows)
        one = self.json(path)["inputs"][0]
        self.assertEqual((one["rows"], one["other"], one["bad"]), (4, 5, 0))
        path = self.file("b", "8,16 5 1 0.5 18615 Q WSU 8 + 8 [fio]\n")
        self.assertEqual(self.requests(path), rows[:1])

    def test_named_volumes(self) -> None:
        path = self.file("a", "web,0,512\ndb,512,512\nweb,1024,512\n")
        how = ("--format", "csv:op=read,volume=1:text,offset=2,bytes=3")
        self.assertEqual(self.requests(path, *how, "--device", "0"), [("read", 0, 512), ("read", 1024, 512)])
        self.assertEqual(self.requests(path, *how, "--device", "1"), [("read", 512, 512)])

    def test_wrong_columns(self) -> None:
        good = "op=2:r/w,offset=3,bytes=4"
        for how, *words in (
            ("", "columns are missing", "csv:time=5us"),
            ("time=1us,op=2:r/w,op=3:x/y,offset=4,bytes=5", "op=3:x/y", "there already"),
            ("op=2:,offset=3,bytes=4", "op=2:", "takes up to 16 words of 1 to 15 characters"),
            ("op=2:r/w,offset=3", "columns are missing"),
            ("offset=3,bytes=4", "columns are missing"),
            (good + ",time=5", "time=5: takes a column and its unit", "time=5us"),
            (good + ",time=5min", "time=5min"),
            (good + ",time=5*100s", "time=5*100s"),
            (good + ",volume=x", "volume=x: takes a column"),
            (good + ",volume=4", "volume=4: the column has another use already"),
            (good + ",volume=0", "volume=0: columns are counted from 1 to 32"),
            (good + ",volume=33", "columns are counted from 1 to 32"),
            ("op=2:r/w/t/f/x,offset=3,bytes=4", "op=2:r/w/t/f/x: takes up to 16 words"),
            ("op=2:r//w,offset=3,bytes=4", "op=2:r//w: takes up to 16 words"),
            ("op=trim,offset=3,bytes=4", "op=trim: takes read, write"),
            ("op=2,offset=3*0,bytes=4", "offset=3*0: takes a column and its unit in bytes"),
            ("op=2,offset=3*-1,bytes=4", "offset=3*-1"),
            (good + ",sep=!", "sep=!: takes comma, blank"),
            (good + ",skip=-1", "skip=-1: takes a number of lines"),
            (good + ",lba=3", "lba=3: is not time="),
            (good + ",lba", "lba: is not time="),
        ):
            self.refused("--profile", TINY, "--format", "csv:" + how, "a", words=("--format csv: ", *words))
        self.refused("--profile", TINY, "--format", "csv", "a", words=("--format csv: unknown format", "csv:time=5us"))

    def test_a_unit_that_gives_impossible_times(self) -> None:
        path = self.file("a", "0,R,0,512,1577808144360767\n")
        self.refused("--profile", TINY, "--format", "csv:op=2,offset=3,bytes=4,time=5s", path,
                     words=("a:1: bad row: time (column 5) is no number of s, or one beyond 584 years",), code=1)

    def test_formats_in_doubt(self) -> None:
        """Without volumes and times that differ both formats give the same requests."""
        path = self.file("a", "5 0 8 8 1\n")
        self.assertEqual(self.json(path)["inputs"][0]["format"], "ssdsim")
        self.refused("--profile", TINY, "--open", path, words=("--format ssdsim (ns) or --format disksim (ms)",))
        path = self.file("a", "0 0 8 8 1\n")
        self.assertEqual(self.json("--open", path)["inputs"][0]["format"], "ssdsim")


class Records(Case):
    """Binary records, made by hand."""

    def blktrace(self, order: str, *events: tuple[int, int, int, int, int]) -> bytes:
        """Write (category, action, ns, sector, bytes) of device 8,16, each with three bytes behind it."""
        return b"".join(
            struct.pack(order + "IIQQIIIIIHH", 0x65617407, number, ns, sector, size, category << 16 | action, 71,
                        8 << 20 | 16, 0, 0, 3) + b"end"
            for number, (category, action, ns, sector, size) in enumerate(events)
        )

    EVENTS = (
        (0x400, 1, 1, 0, 0),  # a notice: the time of day
        (0x11, 1, 1000, 8, 8192),  # Q R
        (0x12, 1, 1010, 16, 4096),  # Q W
        (0x801E, 1, 1020, 24, 4096),  # Q FWFS: a flush, then FUA
        (0x2012, 1, 1030, 24, 4096),  # Q D
        (0x14, 1, 1040, 0, 0),  # Q F: without data
        (0x11, 0x101, 1050, 32, 512),  # Q R, with a cgroup
        (0x41, 7, 1060, 8, 8192),  # D R
        (0x211, 1, 1070, 0, 36),  # Q of a command that is not the block layer's
        (0x10, 1, 1080, 0, 0),  # Q N
    )

    def test_blktrace(self) -> None:
        """Both byte orders give the same rows; the letters' bits are those of linux/blktrace_api.h."""
        for order in "<>":
            path = self.file("a", self.blktrace(order, *self.EVENTS))
            self.assertEqual(
                [(r["op"], r["offset"], r["bytes"], r["fua"], r["submit_ns"]) for r in self.rows(path, "--open")],
                [("read", 4096, 8192, 0, 0), ("write", 8192, 4096, 0, 10), ("flush", 0, 0, 0, 20),
                 ("write", 12288, 4096, 1, 20), ("trim", 12288, 4096, 0, 30), ("flush", 0, 0, 0, 40),
                 ("read", 16384, 512, 0, 50)],
            )
            one = self.json(path, "--device", "8,16")["inputs"][0]
            self.assertEqual((one["format"], one["lines"], one["rows"], one["other"]), ("blktrace", 10, 7, 4))
            self.assertEqual(self.requests(path, "--blk-action", "D"), [("read", 4096, 8192)])

    def test_a_damaged_blktrace(self) -> None:
        good = self.blktrace("<", *self.EVENTS)
        for cut in (51 * 2 + 47, 51 * 2 + 50):
            path = self.file("a", good[:cut])
            self.refused("--profile", TINY, path, words=("a:3: bad row: is cut off by the end of the file",), code=1)
            self.assertEqual(self.requests(path, "--max-bad", 500), [("read", 4096, 8192)])
        path = self.file("a", good[:103] + b"x" + good[104:])
        self.refused("--profile", TINY, path, words=("record 3 does not begin with blktrace's magic",))
        path = self.file("a", good[:51] + b"\x06" + good[52:])
        self.refused("--profile", TINY, path, words=("a:2: bad row: is of a version of blktrace other than 7",), code=1)
        self.refused("--profile", TINY, "--format", "blktrace", self.file("a", BLKPARSE), words=("blkparse's text",))

    def vscsi(self, version: int, *events: tuple[int, int, int, int]) -> bytes:
        """Write (command, us, block, bytes)."""
        if version == 1:
            return b"".join(struct.pack("<IIIHHQQ", 7, size, 1, op, 0x100, block, us) for op, us, block, size in events)
        return b"".join(struct.pack("<HHIIIQQQ", op, 0x200, 7, size, 1, block, us, 9) for op, us, block, size in events)

    def test_vscsi(self) -> None:
        events = ((0x28, 5633898811170, 8, 8192), (0x2A, 5633898811172, 16, 4096), (0x00, 5633898811173, 0, 0),
                  (0x8A, 5633898811174, 24, 512), (0x35, 5633898811175, 1, 0))  # fmt: skip
        for version in (1, 2):
            data = self.vscsi(version, *events)
            path = self.file("a", data)
            self.assertEqual(
                [(r["op"], r["offset"], r["bytes"], r["submit_ns"]) for r in self.rows(path, "--open")],
                [("read", 4096, 8192, 0), ("write", 8192, 4096, 2000), ("write", 12288, 512, 4000),
                 ("flush", 0, 0, 5000)],
            )
            one = self.json(path)["inputs"][0]
            self.assertEqual((one["format"], one["lines"], one["passed_over"]), ("vscsi", 5, 1))
            self.refused("--profile", TINY, self.file("b", data[:-1]),
                         words=("b:5: bad row: is cut off by the end of the file",), code=1)
            last = bytearray(self.vscsi(version, events[0]))
            last[15 if version == 1 else 3] = 3
            self.refused("--profile", TINY, self.file("c", data * 13 + last),
                         words=("c:66: bad row: is of another version than the first one",), code=1)
        self.refused("--profile", TINY, "--format", "vscsi", self.file("a", MSR), words=("two vscsi records",))

    def test_oracle_general(self) -> None:
        data = b"".join(struct.pack("<IQIq", *row, -1) for row in ((7, 8, 8192), (9, 16, 4096)))
        path = self.file("a", data)
        how = ("--format", "oracleGeneral:unit=512")
        self.assertEqual(
            [(r["op"], r["offset"], r["bytes"], r["submit_ns"]) for r in self.rows(path, "--open", *how)],
            [("read", 4096, 8192, 0), ("read", 8192, 4096, 2_000_000_000)],
        )
        self.assertEqual(self.requests(path, "--format", "oracleGeneral:unit=4096,op=write"),
                         [("write", 32768, 8192), ("write", 65536, 4096)])
        self.assertEqual(self.json(path, *how)["inputs"][0]["format"], "oracleGeneral")
        self.refused("--profile", TINY, path, words=("of no known format",))
        self.refused("--profile", TINY, *how, self.file("b", data[:47]), words=("b:2: bad row: is cut off",), code=1)
        for bad in ("", ":", ":op=write", ":unit=0", ":unit=512,op=trim", ":unit=x"):
            self.refused("--profile", TINY, "--format", "oracleGeneral" + bad, path,
                         words=("--format oracleGeneral:", "unit=BYTES"))


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

    def bad_last_rows(self, *cases: tuple[str, str, str, str]) -> None:
        """Check cases: a format, lines that it reads, and then one that it does not, and why."""
        for name, head, row, why in cases:
            path = self.file("a", head + row + "\n")
            line = head.count("\n") + 1
            with self.subTest(row=row):
                self.refused("--profile", TINY, "--format", name, path,
                             words=(f"a:{line}: bad row: ", why, "--max-bad"), code=1)

    def test_columns(self) -> None:
        self.bad_last_rows(
            ("msr", MSR, "128166372003061629,usr,0,Reed,4096,8192,1331", "Type (column 4)"),
            ("msr", MSR, "x,usr,0,Read,4096,8192,1331", "Timestamp"),
            ("msr", MSR, "1,usr,zero,Read,4096,8192,1331", "DiskNumber"),
            ("msr", MSR, "1,usr,0,Read,-1,8192,1331", "Offset (column 5)"),
            ("msr", MSR, "1,usr,0,Read,4096,8192", "fewer than 7 columns"),
            ("msr", MSR, "1,usr,0,Read,4096,8192,1,2", "more than 7 columns"),
            ("msr", MSR, "99999999999999999999,usr,0,Read,4096,8192,1", "Timestamp"),
            ("msr", MSR, "1,usr,0,Read,9223372036854775807,8192,1", "4 EiB"),
            ("ssdsim", SSDSIM, "1 2 3 4", "fewer than 5 columns: ARRIVAL_NS, DEVICE, LBA, SECTORS, OP"),
            ("ssdsim", SSDSIM, "1 2 3 4 2", "OP (column 5) is not 1 (read) or 0 (write)"),
            ("ssdsim", SSDSIM, "1 2 3 4 1 a b", "more than 6"),
            ("ssdsim", SSDSIM, "1 2 99999999999999999 4 1", "beyond 4 EiB"),
            ("disksim", DISKSIM, ". 0 8 8 1", "ARRIVAL_MS"),
            ("disksim", DISKSIM, "-1 0 8 8 1", "ARRIVAL_MS"),
            ("disksim", DISKSIM, "1e 0 8 8 1", "ARRIVAL_MS"),
            ("disksim", DISKSIM, "1e99 0 8 8 1", "ARRIVAL_MS"),
            ("disksim", DISKSIM, "1.x 0 8 8 1", "ARRIVAL_MS"),
            ("disksim", DISKSIM, "99999999999999999.0 0 8 8 1", "ARRIVAL_MS"),
            ("disksim", DISKSIM, "1.5 0 8 -8 1", "BLOCKS (column 4)"),
            ("disksim", DISKSIM, "1.5 0 8 8 g", "FLAGS (column 5)"),
            ("disksim", DISKSIM, "1.5 0 8 8 1 1", "more than 5 columns"),
            ("disksim", DISKSIM, "1.5 0 99999999999999999 8 1", "beyond 4 EiB"),
            ("alibaba", "", "419,X,0,512,1", "opcode (column 2) is not r (read) or w (write)"),
            ("alibaba", "", "419,R,0,512,1,2", "more than 5 columns"),
            ("tencent", "", "1538323200.5,0,8,0,1", "Timestamp (column 1) is no whole number of s"),
            ("tencent", "", "1538323200,0,8,2,1", "IOType (column 4) is not 0 (read) or 1 (write)"),
            ("tencent", "", "18446744074,0,8,1,1", "Timestamp (column 1)"),
            ("systor", "", "1456135200.0,0,R,x,4096,512", "LUN (column 4)"),
            ("systor", "", "1456135200.0,0,R,1,4096", "fewer than 6 columns"),
            ("k5cloud", "", "7,0.1,R,0.5,512", "Offset (column 4)"),
            ("fiu", "", "1000 4892 syslogd 8 16 W 6", "fewer than 8 columns"),
            ("fiu", "", "1000 4892 syslogd 8 16 W 4096 0 53", "major (column 7) is no whole number up to 4095"),
            ("fiu", "", "1000 x syslogd 8 16 W 6 0 53", "pid (column 2)"),
            ("spc", "", "0,8,8192,W", "fewer than 5 columns: ASU, LBA, Size, Opcode, Timestamp"),
            ("cloudphysics", "", "3,5633898,28,8192,8", "version (column 1) is neither 1 nor 2"),
        )

    def test_other_formats(self) -> None:
        self.bad_last_rows(
            ("ftrace", "", "fio-71 12.5: block_rq_issue: 8,0 R 4096 () 8 + 8 [fio]", "an event begins TASK-PID [CPU]"),
            ("ftrace", "", "fio-71 [0] 125: block_rq_issue: 8,0 R 4096 () 8 + 8 [fio]", "counts no seconds"),
            ("ftrace", "", "fio-71 [0] 12.5: block_rq_issue: 8 R 4096 () 8 + 8 [fio]", "MAJ,MIN is expected"),
            ("ftrace", "", "fio-71 [0] 12.5: block_rq_issue: 8,0 X 4096 () 8 + 8 [fio]", "RWBS"),
            ("ftrace", "", "fio-71 [0] 12.5: block_rq_issue: 8,0 ZX 0 () 0 + 0 [fio]", "RWBS"),
            ("ftrace", "", "fio-71 [0] 12.5: block_rq_issue: 8,0 R 4096 () 8 [fio]", "SECTOR + COUNT"),
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


if __name__ == "__main__":
    unittest.main()

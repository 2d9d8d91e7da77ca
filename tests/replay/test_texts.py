# SPDX-License-Identifier: GPL-2.0-or-later
"""Test traces as other programs write text: marks, quotes, other forms of numbers, tabs, perf, and what is no text."""

import bz2
import gzip
import io
import lzma
import random
import tarfile
import unittest
import zipfile
from datetime import datetime, timedelta
from typing import Any

from support import TINY, Case

READ = [("read", 4096, 8192)]
MSR_HEAD = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\r\n"
MSR = "128166372003061629,usr,0,Read,4096,8192,1331\r\n"


class Texts(Case):
    """Rows of two requests or one, whose addresses and times are known."""

    def of(self, text: str, how: str = "") -> list[tuple[Any, ...]]:
        """Return operation, offset, bytes and time of each request."""
        found = self.rows("--open", *(("--format", f"csv:{how}") if how else ()), self.file("a", text))
        return [(row["op"], row["offset"], row["bytes"], row["submit_ns"]) for row in found]

    def test_a_mark_of_utf_8(self) -> None:
        """Excel and Windows' tools begin a file with EF BB BF; the head behind it is a head, and a row a row."""
        for text in (MSR_HEAD + MSR, MSR):
            self.assertEqual(self.requests(self.file("a", "\ufeff" + text)), READ)
        packed = gzip.compress(("\ufeff" + MSR_HEAD + MSR).encode())
        self.assertEqual(self.requests(self.file("a.gz", packed)), READ)
        self.assertEqual(len(self.requests("--repeat", 3, self.file("a", "\ufeff" + MSR_HEAD + MSR))), 3)
        log = "\ufefffio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a read 4096 8192\n"
        self.assertEqual(self.requests(self.file("a", log)), READ)
        binary = b"\xef\xbb\xbf\0" + (8).to_bytes(8, "little") + (8192).to_bytes(4, "little") + bytes(8)
        self.assertEqual(self.requests(self.file("a", binary), "--format", "oracleGeneral:unit=512"), READ)

    def test_quotes(self) -> None:
        """RFC 4180: a value in quotes may have a separator in it; two quotes are one."""
        for how, text in (
            ("op=2:r/w,offset=3,bytes=4", '"1","R","4096","8192"\n'),
            ("op=2:r/w,offset=3,bytes=4", '"a, ""b"", c", "r" ," 4096 ",8192\n'),
            ("op=2:r/w,offset=3,bytes=4", '"alone,R,4096,8192\n'),
            ("op=2:r/w,offset=3,bytes=4", '"two" words,R,4096,8192\n'),
            ("op=2:r/w,offset=3,bytes=4,sep=semicolon", '"a;b";R;4096;8192\n'),
            ("op=read,offset=3,bytes=4,volume=2:text", '1,"a,b",4096,8192\n'),
        ):
            with self.subTest(text):
                self.assertEqual(self.of(text, how), [(*READ[0], 0)])
        self.assertEqual(self.requests(self.file("a", ",".join(f'"{word}"' for word in MSR.strip().split(",")))), READ)
        path = self.file("a", '1,"R,S",4096,8192\n')
        self.refused("--profile", TINY, "--format", "csv:op=2:r/w,offset=3,bytes=4", path,
                     words=("op (column 2) is not r (read) or w (write)",), code=1)

    def test_forms_of_numbers(self) -> None:
        """Windows' event traces have hexadecimal addresses; pandas writes whole numbers with a decimal of 0."""
        for offset, size in (("0x1000", "0X2000"), ("0x0000000000001000", "8192"), ("4096.0", "8192."),
                             ("4096.000", "0x2000")):  # fmt: skip
            self.assertEqual(self.of(f"{offset},{size}\n", "op=read,offset=1,bytes=2"), [(*READ[0], 0)])
        self.assertEqual(self.of("0x8,16.0\n", "op=read,offset=1*512,bytes=2*512"), [(*READ[0], 0)])
        for offset in ("4096.5", "0x", "0xg", "0x10000000000000000", "4096.0x", ""):
            self.refused("--profile", TINY, "--format", "csv:op=read,offset=1,bytes=2", self.file("a", f"{offset},1\n"),
                         words=("offset (column 1) is no whole number",), code=1)

    def test_volumes_with_decimals(self) -> None:
        """pandas writes a column of whole numbers as decimals if a value is missing elsewhere."""
        how = ("--format", "csv:op=1:r/w,offset=2,bytes=3,volume=4", "--device")
        path = self.file("a", "r,0.0,512.0,0.0\nr,512.0,512.0,7.0\n")
        for volume, offset in ((0, 0), (7, 512)):
            self.assertEqual(self.requests(*how, volume, path), [("read", offset, 512)])
        for wrong in ("1.5", "0x1", "-1", ""):
            self.refused("--profile", TINY, *how[:2], self.file("a", f"r,0,512,{wrong}\n"),
                         words=("volume (column 4) is no whole number",), code=1)

    def test_several_words(self) -> None:
        """Kernel traces have R, RA and RM for reads, W and WS for writes."""
        how = "op=1:r+ra+rm/w+ws/d/ff+f,offset=2,bytes=3"
        text = "R,0,512\nRA,512,512\nrm,1024,512\nW,0,512\nWS,512,512\nD,0,1024\nFF,,\nF,,\n"
        self.assertEqual([row[:3] for row in self.of(text, how)],
                         [("read", 0, 512), ("read", 512, 512), ("read", 1024, 512), ("write", 0, 512),
                          ("write", 512, 512), ("trim", 0, 1024), ("flush", 0, 0), ("flush", 0, 0)])  # fmt: skip
        most = [f"a-long-word-{at:03}" for at in range(16)]
        self.assertEqual(self.of(f"{most[15]},0,512\n", f"op=1:{'+'.join(most)},offset=2,bytes=3"),
                         [("read", 0, 512, 0)])
        path = self.file("a", "N,0,512\n")
        self.refused("--profile", TINY, "--format", f"csv:op=1:{'+'.join(most)},offset=2,bytes=3", path,
                     words=("op (column 1) is not a-long-word-000 (read) or", "..."), code=1)
        for words, said in (
            ("r+ra/w", "op (column 1) is not r (read) or ra (read) or w (write)"),
            ("r+/w", "op=1:r+/w: takes up to 16 words of 1 to 15 characters for the four operations"),
            ("+".join("abcdefghijklmnopq"), "takes up to 16 words"),
            ("r/w/t/f/x", "takes up to 16 words"),
            ("r/w+", "takes up to 16 words"),
            ("r/w/", "takes up to 16 words"),
            ("abcdefghijklmnop/w", "takes up to 16 words of 1 to 15 characters"),
            ("r+w/W", "has a word twice"),
        ):
            self.refused("--profile", TINY, "--format", f"csv:op=1:{words},offset=2,bytes=3", path, words=(said,),
                         code=1 if words == "r+ra/w" else 2)  # fmt: skip

    def test_one_size(self) -> None:
        """Traces of pages name no size: each request has the same."""
        self.assertEqual(self.of("r,1\nw,3\n", "op=1:r/w,offset=2*4096,bytes=*4096"),
                         [("read", 4096, 4096, 0), ("write", 12288, 4096, 0)])
        self.assertEqual(self.of("r,1\nf,\n", "op=1:r/w/t/f,offset=2*4096,bytes=*4096")[1], ("flush", 0, 0, 0))
        for value in ("*0", "*", "*x", "*4096*2", "*1073741825"):
            self.refused("--profile", TINY, "--format", f"csv:op=1:r/w,offset=2,bytes={value}", self.file("a", "r,0\n"),
                         words=("or one size, bytes=*4096",), code=2)  # fmt: skip

    def test_iso_8601(self) -> None:
        """Times with their dates are exact to the nanosecond; dates are drawn, and Python's calendar is the judge."""
        how = "time=1:iso,op=read,offset=2,bytes=3"

        def later(first: str, second: str) -> int:
            return int(self.of(f"{first},0,512\n{second},0,512\n", how)[1][3])

        for first, second, ns in (
            ("2023-12-31T23:59:59.5Z", "2024-01-01T00:00:00.25+00:00", 750_000_000),
            ("2024-02-28 23:59:59", "2024-02-29 00:00:00.000000001", 1_000_000_001),
            ("2024-02-29T23:59:59z", "2024-03-01t00:00:00z", 10**9),
            ("2100-02-28T23:59:59", "2100-03-01T00:00:00", 10**9),
            ("2000-02-28T23:59:59", "2000-03-01T00:00:00", 86_401 * 10**9),
            ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z", 0),
            ("2026-12-01T10:00:00+01:30", "2026-12-01T05:00:00-0400", 30 * 60 * 10**9),
            ("2026-12-01T10:00:00.1234567891Z", "2026-12-01T10:00:00.1234567899+00", 0),
            ("1970-01-01T00:00:00", "1970-01-01T00:00:01", 10**9),
            ("2554-07-21T23:34:32", "2554-07-21T23:34:33.709551615", 1_709_551_615),
        ):
            with self.subTest(second):
                self.assertEqual(later(first, second), ns)
        blank = how.replace("offset=2,bytes=3", "offset=3,bytes=4,sep=blank")
        self.refused("--profile", TINY, "--format", f"csv:{blank}", self.file("a", "2026-12-01 09:30:00 0 512\n"),
                     words=("time (column 1) is no date and time",), code=1)
        self.assertEqual(self.of("2026-12-01T09:30:00 x 0 512\n", blank), [("read", 0, 512, 0)])
        epoch = datetime(1970, 1, 1)
        for seed in range(20):
            days = sorted(random.Random(seed).randrange(0, 50_000) for _ in range(2))
            words = [f"{epoch + timedelta(days=day):%Y-%m-%dT%H:%M:%S}" for day in days]
            self.assertEqual(later(*words), (days[1] - days[0]) * 86_400 * 10**9, f"seed {seed}: {words}")
        for text in ("2023-02-29T00:00:00", "2100-02-29T00:00:00", "2023-13-01T00:00:00", "2023-00-01T00:00:00",
                     "2023-04-31T00:00:00", "2023-04-00T00:00:00", "1969-12-31T23:59:59", "2554-07-21T23:34:33.71",
                     "1970-01-01T00:00:00+01:00", "2023-01-01T24:00:00", "2023-01-01T00:60:00", "2023-01-01T00:00:61",
                     "2023-01-01T00:00:00.", "2023-01-01T00:00", "2023-01-01", "2023-01-01T00:00:00+1",
                     "2023-01-01T00:00:00+15:00", "2023-01-01T00:00:00Zx", "20230101T000000", ""):  # fmt: skip
            self.refused("--profile", TINY, "--format", f"csv:{how}", self.file("a", f"{text},0,512\n"),
                         words=("time (column 1) is no date and time such as 2026-12-01T",), code=1)  # fmt: skip

    def test_windows_event_trace(self) -> None:
        """Columns of Microsoft's production traces; times in us."""
        text = (
            "               DiskRead,   TimeStamp,     Process Name ( PID),   ByteOffset,     IOSize, FileName\n"
            '               DiskRead,     3035467,  System (   4), 0x00001000, 0x00002000, "C:\\a, b.dat"\n'
            '              DiskWrite,     3035500,  System (   4), 0x00000000, 0x00001000, "C:\\a.dat"\n'
        )
        self.assertEqual(self.of(text, "skip=1,time=2us,op=1:diskread/diskwrite,offset=4,bytes=5"),
                         [("read", 4096, 8192, 0), ("write", 0, 4096, 33_000)])

    def test_a_flush_needs_no_place(self) -> None:
        how = "time=1us,op=2:r/w/t/f,offset=3,bytes=4"
        self.assertEqual(self.of("5,w,4096,512\n6,f,,\n7,F, ,0\n", how),
                         [("write", 4096, 512, 0), ("flush", 0, 0, 1000), ("flush", 0, 0, 2000)])
        for empty in ('"",""', '"" ,""', '" "," "', ' , "" '):
            self.assertEqual(self.of(f'5,w,4096,512\n"6","f",{empty}\n', how),
                             [("write", 4096, 512, 0), ("flush", 0, 0, 1000)])
        for row, name in (("5,w,,512", "offset (column 3)"), ("5,w,4096,", "bytes (column 4)"), ("5,f,x,", "offset"),
                          ("5,w,,", "offset (column 3)"), ('5,w,"""",512', "offset (column 3)")):  # fmt: skip
            self.refused("--profile", TINY, "--format", "csv:" + how, self.file("a", row),
                         words=(f"{name}",), code=1)

    def test_tabs(self) -> None:
        """Each tab ends a column, which may be empty or have blanks in it."""
        self.assertEqual(self.of("R\t\ta name\t4096\t8192\n", "op=1:r/w,offset=4,bytes=5,sep=tab"), [(*READ[0], 0)])
        self.assertEqual(self.of("\tR \t 4096\t8192\t\n", "op=2:r/w,offset=3,bytes=4,sep=tab"), [(*READ[0], 0)])

    def test_perf_script(self) -> None:
        """perf writes the event's group in front: 'block:'."""
        text = (
            "fio   712 [002]  1234.567890: block:block_rq_issue: 8,16 R 8192 () 8 + 16 [fio]\n"
            "fio   712 [002]  1234.567990:       block:block_rq_issue: 8,16 WS 4096 () 0 + 8 [fio]\n"
            "fio   712 [002]  1234.568990: block:block_rq_complete: 8,16 WS () 8 + 8 [0]\n"
        )
        self.assertEqual(self.of(text), [("read", 4096, 8192, 0), ("write", 0, 4096, 100_000)])
        self.assertEqual(self.requests(self.file("a", text), "--blk-action", "C"), [("write", 4096, 4096)])

    def test_a_trace_without_requests_is_told(self) -> None:
        path = self.file("a", " dd-9 [000] .....  1.5: block_rq_complete: 259,1 R () 8 + 8 [0]\n")
        told = self.call("--profile", TINY, path).stderr
        self.assertIn("a has no request: its lines are read as ftrace, and all are comments or other", told)
        self.assertNotIn("note:", self.call("--profile", TINY, "--blk-action", "C", "--fill", 100, path).stderr)

    def test_what_is_no_text(self) -> None:
        """The message says how to make a trace of it, also if a format is named."""
        tar, zipped = io.BytesIO(), io.BytesIO()
        with tarfile.open(fileobj=tar, mode="w") as archive:
            member = tarfile.TarInfo("a.csv")
            member.size = len(MSR)
            archive.addfile(member, io.BytesIO(MSR.encode()))
        with zipfile.ZipFile(zipped, "w") as archive_of_windows:
            archive_of_windows.writestr("a.csv", MSR)
        for data, word in (
            (lzma.compress(MSR.encode()), "is packed by xz: unpack it first, as in xz -dc FILE"),
            (bz2.compress(MSR.encode()), "is packed by bzip2"),
            (b"\x04\x22\x4d\x18" + bytes(20), "is packed by lz4"),
            (zipped.getvalue(), "is a zip archive"),
            (b"7z\xbc\xaf\x27\x1c" + bytes(40), "is a 7z archive"),
            (tar.getvalue(), "is a tar archive: unpack it, and name a file of it"),
            (gzip.compress(tar.getvalue()), "is a tar archive"),
            (MSR.encode("utf-16"), "is UTF-16: write it in UTF-8"),
        ):
            for how in ((), ("--format", "msr")):
                with self.subTest(word=word, how=how):
                    self.refused("--profile", TINY, *how, self.file("a", data), words=(f"/a: {word}",))


if __name__ == "__main__":
    unittest.main()

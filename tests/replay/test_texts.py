# SPDX-License-Identifier: GPL-2.0-or-later
"""Test traces as other programs write text: marks, quotes, other forms of numbers, tabs, perf, and what is no text."""

import bz2
import gzip
import io
import lzma
import tarfile
import unittest
import zipfile
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
        for row, name in (("5,w,,512", "offset (column 3)"), ("5,w,4096,", "bytes (column 4)"), ("5,f,x,", "offset")):
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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test traces with the data of writes: their bytes, damaged files, replay, --check, generators."""

import dataclasses
import hashlib
import json
import operator
import os
import random
import resource
import signal
import struct
import subprocess
import unittest
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support import CORE, FAULTY, PLAIN, REPLAY, ROOT, TINY, Case

from content_trace import END, FLUSH, FUA, READ, TRIM, WRITE, Reader, Request, Writer, make, read, varint

PROFILES = ROOT / "nand-emu" / "profiles"
A, B = bytes(range(256)) * 16, b"b" * 4096


def write(at_ns: int, offset: int, data: bytes, fua: bool = False) -> Request:
    return Request(at_ns, WRITE, offset, len(data), fua, data)


SOME = [
    write(5, 0, A),
    write(5, 4096, B + bytes(4096) + A, fua=True),
    Request(1000, FLUSH),
    write(2000, 512, B[:3072]),
    write(2000, 3 * 4096 - 512, A[:1024]),
    Request(900_000, READ, 0, 16384),
    Request(1_900_000, TRIM, 4096, 8192),
    Request(2_900_000, READ, 0, 16384),
]


class Cut(Case):
    """--cut-at reports requests that had been submitted, and were in flight, at a time of the drive's clock."""

    def cut(self, at_ns: int, *more: Any) -> tuple[Any, Any]:
        drive = self.folder / "d.slate"
        drive.unlink(missing_ok=True)
        return self.json("--drive", drive, "--open", "--cut-at", at_ns, *more, self.trace), drive

    def setUp(self) -> None:
        super().setUp()
        self.trace = self.file("some.content", make(SOME))

    def test_times(self) -> None:
        """The first write ends 104,096 ns after it came, at 5; the trim's own program begins at 1,900,000."""
        for at_ns, submitted, lost, torn in (
            (0, 0, 0, 0),
            (4, 0, 0, 0),
            (6, 2, 2, 0),
            (1500, 3, 3, 0),
            (5 + 104_096 - 1, 5, 5, 2),  # on two dies
            (5 + 104_096, 5, 4, 0),
            (1_000_000, 6, 0, 0),
            (1_900_000 + 104_095, 7, 1, 1),
            (10**9, 8, 0, 0),
        ):
            with self.subTest(at_ns=at_ns):
                report, _ = self.cut(at_ns)
                self.assertEqual(report["power"]["cut-ns"], at_ns)
                self.assertEqual(report["requests"]["submitted"], submitted)
                self.assertEqual(report["power"]["lost-requests"], lost)
                self.assertEqual(report["power"]["torn-programs"], torn)

    def test_the_file(self) -> None:
        """Equal cuts leave equal files, which have all durable data."""
        look = self.file("look.content", make([Request(0, READ, 0, 4096)]))
        for at_ns, lost, torn in ((500_000, 0, 0), (50_000, 5, 2)):
            report, drive = self.cut(at_ns)
            self.assertEqual((report["power"]["lost-requests"], report["power"]["torn-programs"]), (lost, torn))
            first = hashlib.sha256(drive.read_bytes()).hexdigest()
            told = json.loads(self.call("--drive", drive, "--ephemeral", "--json", "-", look).stdout)
            reads = told["nand"]["ops"]["read"]["host"]
            self.assertEqual(reads, 1 if not lost else 0)
            again = self.cut(at_ns)[1].read_bytes()
            self.assertEqual(hashlib.sha256(again).hexdigest(), first)

    def test_the_summary(self) -> None:
        """It says what the cut took, and what capacitors saved of the six pages of a write.

        A program takes 104,096 ns. At the cut each of two dies executes its first, and is to execute two more.
        """
        words = ("--profile", TINY, "--drive", self.folder / "s.slate", "--open", "--cut-at")
        said = self.call(*words, 5 + 104_096 - 1, self.trace).stdout
        self.assertIn("\ncut    at 104100 ns: 5 requests in flight lost, 2 programs and 0 erases torn\n", said)
        trace = self.file("six", "# slate-trace 1\n0 0 write 0 24576\n")
        saves = ("--profile", TINY, "--set", "ftl.buffer_units=8", "--set", "ftl.power_protected=yes", "--open")
        said = self.call(*saves, "--drive", self.folder / "p.slate", "--cut-at", 10_000, trace).stdout
        self.assertIn("\ncut    at 10000 ns: 0 requests in flight lost, 0 programs and 0 erases torn; "
                      "then 4 pages saved in 302288 ns, 0 lost\n", said)  # fmt: skip

    def test_many_in_one_replay(self) -> None:
        """Each copy of the replay leaves what a replay of its own leaves: before, between and after the requests."""
        times = (0, 1500, 50_000, 50_000, 104_101, 10**9)
        made = self.folder / "made.slate"
        self.call("--profile", TINY, "--drive", made, self.file("none.content", make([])))
        images = [self.folder / f"{at}.img" for at in range(len(times))]
        cuts = self.file("cuts", "".join(f"{ns} {ns % 7} {image}\n" for ns, image in zip(times, images)))
        run = self.folder / "run"
        run.write_text('#!/bin/sh\ncp "$1" "$1.copy"\n', encoding="utf-8")
        run.chmod(0o755)
        before = made.read_bytes()
        words = ("--drive", made, "--ephemeral", "--open", "--cuts", cuts, "--cuts-run", run, "--json", "-")
        whole = json.loads(self.call(*words, self.trace).stdout)
        self.assertEqual((whole["requests"]["completed"], whole["power"], made.read_bytes()), (8, None, before))
        self.assertEqual(images[2].read_bytes(), images[3].read_bytes())
        for ns, image in zip(times, images):
            with self.subTest(at_ns=ns):
                one = self.folder / "one.slate"
                one.write_bytes(before)
                said = self.call("--drive", one, "--open", "--cut-at", ns, "--cut-seed", ns % 7, "--json", "-",
                                 self.trace).stdout  # fmt: skip
                told = json.loads(Path(f"{image}.json").read_text(encoding="utf-8"))
                self.assertEqual(told, {key: json.loads(said)[key] for key in ("power", "gc")})
                self.file("x", f"{10**9} 0 {self.folder / 'x.img'}\n")
                nothing = self.file("none.content", make([]))
                self.call("--drive", one, "--ephemeral", "--open", "--cuts", self.folder / "x", nothing)
                self.assertEqual(image.read_bytes(), (self.folder / "x.img").read_bytes())
                self.assertEqual(image.read_bytes(), Path(f"{image}.copy").read_bytes())

    def test_an_image_over_another(self) -> None:
        """What a file has before the cut, and how long it is, does not matter: blocks that differ are written."""
        made, image = self.folder / "made.slate", self.folder / "cut.img"
        self.call("--profile", TINY, "--drive", made, self.file("none.content", make([])))
        cuts = self.file("cuts", f"{10**9} 7 {image}\n")
        words = ("--drive", made, "--ephemeral", "--open", "--cuts", cuts, self.trace)
        self.call(*words)
        right = image.read_bytes()
        self.assertEqual(right[:4096], A[:512] + B[:3072] + A[3584:])
        os.utime(image, ns=(0, 0))
        self.call(*words)  # nothing differs, so nothing is written
        self.assertEqual((image.read_bytes(), image.stat().st_mtime_ns), (right, 0))
        self.assertEqual((right[512:513], right[-1:]), (b"b", b"\0"))
        for before in (
            bytes(len(right)),
            b"x" * len(right),
            right[:512] + b"x" + right[513:],
            right[:-1] + b"x",
            right[:-512],
            right + b"x",
            b"",
        ):
            image.write_bytes(before)
            self.call(*words)
            self.assertEqual(image.read_bytes(), right)

    def test_a_disk_takes_a_part(self) -> None:
        """An image is written in parts of 131,072 bytes, and the file takes 200,000: the second write is short."""
        made, image = self.folder / "made.slate", self.folder / "cut.img"
        self.call("--profile", TINY, "--drive", made, self.file("none.content", make([])))
        words = ("--drive", made, "--ephemeral", "--open", "--cuts", self.file("cuts", f"1500 7 {image}\n"))
        limit = (resource.RLIMIT_FSIZE, (200_000, 200_000))
        said = self.call(*words, self.trace, code=1, preexec_fn=lambda: resource.setrlimit(*limit)).stderr
        self.assertIn(f"{image}: No space left on device: make room, or name another file in --cuts\n", said)
        self.assertEqual(image.stat().st_size, 200_000)

    def test_no_cuts(self) -> None:
        """The times of --cuts are of the drive's clock, those of --open alone are from the first request on."""
        made = self.folder / "made.slate"
        self.call("--profile", TINY, "--drive", made, self.file("none.content", make([])))
        for words, first in (((), 0), (("--cuts", "/dev/null"), 5)):
            rows = self.rows(self.trace, "--drive", made, "--ephemeral", "--open", *words)
            self.assertEqual(rows[0]["submit_ns"], first)

    def test_many_are_refused(self) -> None:
        self.call("--profile", TINY, "--drive", self.folder / "d", self.file("none.content", make([])))
        words = ("--open", "--drive", self.folder / "d", "--ephemeral", "--cuts")
        for text, why in (
            ("x\n", "line 1: is not NS SEED IMAGE"),
            ("1 2\n", "line 1: is not NS SEED IMAGE"),
            ("-1 2 a\n", "line 1: is not NS SEED IMAGE"),
            ("2 0 a\n1 0 b\n", "line 2: the times fall"),
        ):
            self.assertIn(why, self.call(*words, self.file("cuts", text), self.trace, code=2).stderr)
        for more, why in (
            (("--cuts", "nothere"), "--cuts goes with --open, --drive, --ephemeral and one trace"),
            (("--cuts-run", "x"), "--cuts-run without --cuts"),
        ):
            self.assertIn(why, self.call("--profile", TINY, *more, self.trace, code=2).stderr)

    def test_refused(self) -> None:
        for words in (
            (),
            ("--open",),
            ("--open", "--drive", "d", "--repeat", "2"),
        ):
            said = self.call("--profile", TINY, "--cut-at", "5", *words, self.trace, code=2).stderr
            self.assertIn("--cut-at goes with --open, --drive and one trace", said)
        self.assertIn(
            "--cut-seed and --cut-what are for --cut-at",
            self.call("--profile", TINY, "--cut-seed", "1", self.trace, code=2).stderr,
        )
        self.assertIn(
            "--cut-at",
            self.call("--profile", TINY, "--open", "--drive", "d", "--cut-at", "x", self.trace, code=2).stderr,
        )


def unit(letter: str) -> bytes:
    """Return 4 KiB in which each sector is another one."""
    return b"".join(f"{letter}{sector}".encode().ljust(512, b".") for sector in range(8))


class Unflushed(Case):
    """Tests --unflushed (requests that NVMe allows a cut to take), --survivors (what is left), --lose (take some)."""

    TRACE = (
        write(1_000, 0, unit("a")),
        write(2_000, 4096, unit("b")),
        Request(3_000, FLUSH),
        write(500_000, 8192, unit("c") + unit("d")),
        write(600_000, 16384, unit("e"), fua=True),
        Request(800_000, TRIM, 0, 4096),
        write(900_000, 4096, unit("f")),
        write(900_000, 20480, unit("g")),
    )

    def cut(self, at_ns: int, *words: Any) -> Any:
        """Cut a new drive with a buffer, which programs each page as soon as its die is idle."""
        drive = self.folder / "d.slate"
        drive.unlink(missing_ok=True)
        trace = self.file("u.content", make(list(self.TRACE)))
        words = ("--set", "ftl.buffer_units=16", "--open", "--cut-at", at_ns, "--survivors", *words)
        return self.json("--drive", drive, *words, trace)["power"]

    def test_what_a_cut_may_take(self) -> None:
        """A flush takes all that had completed when it was submitted; FUA takes its own write alone."""
        for at_ns, numbers in (
            (999, []),
            (2_500, [0, 1]),
            (3_001, [0, 1]),  # the flush has not completed
            (400_000, []),
            (550_000, [3]),
            (650_000, [3, 4]),  # 4 is in flight
            (750_000, [3]),
            (850_000, [3, 5]),
            (900_001, [3, 5, 6, 7]),
        ):
            with self.subTest(at_ns=at_ns):
                self.assertEqual([one["request"] for one in self.cut(at_ns)["unflushed"]], numbers)

    def test_numbers_are_the_trace_s(self) -> None:
        """Also if flushes are left out; then nothing is durable, FUA or not, before its time."""
        found = self.cut(850_000, "--no-flush")["unflushed"]
        self.assertEqual([one["request"] for one in found], [0, 1, 3, 4, 5])

    def test_what_it_took(self) -> None:
        """A program takes 104,096 ns. The last page's die first programs the trim's bitmap unit, until 904,096 ns."""
        power = self.cut(900_000 + 104_095)
        found = {one["request"]: one for one in power["unflushed"]}
        self.assertEqual(found[3] | {"done_ns": 0}, {"request": 3, "op": "write", "offset": 8192, "bytes": 8192,
                                                     "submit_ns": 500_000, "done_ns": 0, "sectors_there": 16})
        self.assertNotIn("sectors_there", found[5])
        self.assertEqual(power["atomic_bytes"], 4096)
        self.assertEqual((power["torn-programs"], found[6]["sectors_there"], found[7]["sectors_there"]), (2, 0, 0))
        states = {power["state"]}
        for at_ns, last in ((1_004_096, 0), (904_096 + 104_095, 0), (904_096 + 104_096, 8), (1_200_000, 8)):
            later = self.cut(at_ns)
            self.assertEqual([one.get("sectors_there") for one in later["unflushed"]], [16, None, 8, last])
            states.add(later["state"])
        self.assertEqual(len(states), 3, "without 6 and 7, with 6, with both")

    def test_the_controller_alone(self) -> None:
        """The array keeps its power, so pages under way are programmed, and none is torn."""
        power = self.cut(950_000, "--cut-what", "controller")
        self.assertEqual([one.get("sectors_there") for one in power["unflushed"]], [16, None, 8, 8])
        self.assertEqual((power["torn-programs"], power["lost-requests"]), (0, 0))
        early = self.cut(900_000, "--cut-what", "controller")  # no cell phase has begun
        self.assertEqual([one.get("sectors_there") for one in early["unflushed"]], [16, None, 0, 0])

    def test_a_drive_that_ignores_flushes(self) -> None:
        """It ends a flush at once, so a cut takes what a flush and FUA had promised."""
        lies = ("--set", "drive.ignore_flush=yes", "--set", "ftl.buffer_units=16")
        drive = self.folder / "l.slate"
        trace = self.file("l.content", make(list(self.TRACE)))
        for row in self.rows("--drive", drive, *lies, "--open", trace):
            self.assertEqual((row["fua"], row["status"]), (0, 0))
            if row["op"] == "flush":
                self.assertEqual(row["latency_ns"], 0)
        power = self.cut(50_000)
        self.assertEqual(([one["request"] for one in power["unflushed"]], power["torn-programs"]), ([0, 1], 2))
        power = self.cut(50_000, "--set", "drive.ignore_flush=yes")
        self.assertEqual((power["unflushed"], power["torn-programs"]), ([], 2), "the drive says that all is durable")

    def test_a_recording_of_one_that_ignores_flushes(self) -> None:
        """Replayed on the same drive, each request ends as it was recorded."""
        trace = self.file("t", "# slate-trace 1\n" + "".join(
            f"{10_000 * i} 0 write {4096 * i} 4096\n{10_000 * i + 5} 0 flush\n" for i in range(200)))  # fmt: skip
        words = ("--profile", TINY, "--set", "drive.ignore_flush=yes", "--set", "ftl.buffer_units=16", "--open")
        self.call(*words, "--record", self.folder / "r", trace)
        self.assertIn("400 requests compared, 0 differ", self.call("--recorded", self.folder / "r").stdout)

    def test_until_ends_with_a_flush_on_it_too(self) -> None:
        """It is that of a shutdown, so the buffered unit is programmed; it does not count as a request."""
        trace = self.file("t", "# slate-trace 1\n0 0 write 0 4096\n")
        for lies in ("no", "yes"):
            found = self.json("--set", f"drive.ignore_flush={lies}", "--set", "ftl.buffer_units=16", "--open",
                              "--until", 1_000_000, trace)  # fmt: skip
            self.assertEqual(found["nand"]["ops"]["program"]["host"], 1)
            self.assertEqual((found["requests"]["submitted"], found["requests"]["completed"]), (1, 1))

    def test_until_on_a_drive_with_work_left(self) -> None:
        """A write each 10 us from 0 to 10 ms, faster than the dies: the flush ends last. A page has 4 of them."""
        found = self.json("--open", "--until", 10_000_000, "gen:rand4k,foot=200MiB,n=8000,gap=10000",
                          profile=ROOT / "nand-emu/profiles/small.ini")  # fmt: skip
        self.assertEqual((found["requests"]["submitted"], found["requests"]["completed"]), (1001, 1001))
        self.assertEqual(found["nand"]["ops"]["program"]["host"], 251)

    def test_until_also_takes_earlier_rows_behind_later_ones(self) -> None:
        trace = self.file("t", "# slate-trace 1\n0 0 write 0 4096\n900 0 write 4096 4096\n100 0 write 8192 4096\n")
        found = self.json("--closed", 1, "--until", 500, trace)
        self.assertEqual(found["requests"]["completed"], 2)

    def test_writes_behind_a_flush_in_one_nanosecond(self) -> None:
        """With a buffer that costs no time they complete when they are submitted, and the flush does not cover them."""
        rows = ["0 0 write 0 4096", "499000 0 write 4096 4096", "500000 0 flush",
                *(f"500000 0 write {4096 * i} 4096" for i in range(2, 9))]  # fmt: skip
        trace = self.file("t", "# slate-trace 1\n" + "\n".join(rows) + "\n")
        words = ("--drive", self.folder / "n.slate", "--set", "ftl.buffer_units=64", "--set", "ftl.buffer_ns=0")
        power = self.json(*words, "--open", "--cut-at", 604_500, "--unflushed", trace)["power"]
        self.assertLessEqual({3, 4, 5, 6, 7, 8, 9}, {one["request"] for one in power["unflushed"]})

    def replay(self, *words: Any) -> bytes:
        """Replay with some requests left out; returns the bytes of the drive file."""
        drive = self.folder / "d.slate"
        drive.unlink(missing_ok=True)
        trace = self.file("u.content", make(list(self.TRACE)))
        self.call("--profile", TINY, "--drive", drive, *words, trace)
        return drive.read_bytes()

    def there(self, data: bytes) -> str:
        """Return the letters of the units that are whole in a drive file."""
        return "".join(letter for letter in "abcdefg" if unit(letter) in data)

    def test_requests_are_left_out(self) -> None:
        self.assertEqual(self.there(self.replay("--set", "ftl.buffer_units=16")), "abcdefg")
        self.assertEqual(self.there(self.replay("--until", 599_999)), "abcd")
        self.assertEqual(self.there(self.replay("--until", 600_000)), "abcde")
        lose = self.file("lose", "1\n4\n6\n")
        self.assertEqual(self.there(self.replay("--lose", lose)), "acdg")
        self.assertEqual(self.there(self.replay("--lose", lose, "--until", 600_000, "--set", "ftl.buffer_units=16")),
                         "acd")  # fmt: skip
        part = self.file("part", "3 1024 5120\n")
        found = self.replay("--lose", part)
        self.assertEqual(self.there(found), "abefg")
        sectors = [unit("c")[at : at + 512] for at in range(0, 4096, 512)]
        self.assertEqual([sector in found for sector in sectors], [False, False] + 6 * [True])
        self.assertEqual([unit("d")[at : at + 512] in found for at in (0, 512, 1024)], [True, True, False])

    def test_refused(self) -> None:
        trace = self.file("u.content", make(list(self.TRACE)))
        for text, why in (
            ("9\n", "line 1: request 9, and the trace has 8: it is of another recording"),
            ("1\n1\n", "line 2: the numbers do not rise"),
            ("x\n", "line 1: is neither NUMBER nor NUMBER FROM TO"),
            ("1 5\n", "is neither"),
            ("1 512 512\n", "is neither"),
            ("-1\n", "is neither"),
            ("0 0 4608\n", "of request 0, bytes 0 to 4608: it is no write with these sectors"),
            ("0 0 100\n", "it is no write with these sectors"),
            ("2 0 512\n", "of request 2, bytes 0 to 512"),
        ):
            said = self.call("--profile", TINY, "--lose", self.file("lose", text), trace, code=2).stderr
            self.assertIn(why, said)
        for words, why in (
            (("--lose", "nothere"), "--lose nothere: No such file or directory"),
            (("--until", "5", "--repeat", "2"), "--until and --lose choose requests of one trace"),
            (("--survivors",), "--unflushed and --survivors are for --cut-at"),
            (("--cut-what", "bus"), "--cut-what bus: is neither power nor controller"),
            (("--cut-what", "controller"), "--cut-seed and --cut-what are for --cut-at"),
            (("--open", "--drive", "d", "--ephemeral", "--cut-at", "5"), "nothing of the cut would be left"),
        ):
            self.assertIn(why, self.call("--profile", TINY, *words, trace, code=2).stderr)
        cut = ("--drive", "d", "--open", "--cut-at", "5", "--survivors", "gen:rand4k,foot=8KiB,n=1")
        self.assertIn("does not say what is written", self.call("--profile", TINY, *cut, code=2).stderr)


class Bytes(Case):
    """Test the C reader and writer against a reader and a writer in Python."""

    def setUp(self) -> None:
        super().setUp()
        self.plain = self.file("some.content", make(SOME))

    def test_rows(self) -> None:
        rows = self.rows(self.plain, "--open")
        self.assertEqual(
            [(row["op"], row["offset"], row["bytes"], row["fua"], row["submit_ns"]) for row in rows],
            [
                ("write", 0, 4096, 0, 0),
                ("write", 4096, 12288, 1, 0),
                ("flush", 0, 0, 0, 995),
                ("write", 512, 3072, 0, 1995),
                ("write", 11776, 1024, 0, 1995),
                ("read", 0, 16384, 0, 899_995),
                ("trim", 4096, 8192, 0, 1_899_995),
                ("read", 0, 16384, 0, 2_899_995),
            ],
        )
        found = self.json(self.plain)["inputs"][0]
        self.assertEqual((found["format"], found["lines"], found["rows"], found["bad"]), ("content", 8, 8, 0))
        # A; B, zeroes, A; a part of B; two parts of A, which are equal: A repeats after 256 bytes
        name = make(SOME)[-32:].hex()
        self.assertEqual(found["content"], {"name": name, "pieces": 7, "zeroes": 1, "blocks": 4})
        self.assertEqual(found["sha256"], hashlib.sha256(self.plain.read_bytes()).hexdigest())

    def test_what_is_recorded_is_what_was_read(self) -> None:
        again = self.folder / "again"
        self.json(self.plain, "--open", "--check", "--record-content", again)
        requests = read(again)
        # the replay's clock begins at the first request
        self.assertEqual(requests, [dataclasses.replace(request, at_ns=request.at_ns - 5) for request in SOME])
        self.assertFalse((self.folder / "again.part").exists())

    def test_the_drive_holds_it(self) -> None:
        """The drive file itself has the content: unit 0 was written twice."""
        drive = self.folder / "a.slate"
        self.json("--drive", drive, self.plain)
        content = drive.read_bytes()
        for page in (A[:512] + B[:3072] + A[3584:], bytes(3584) + A[:512]):
            self.assertTrue(page in content)

    def test_packed_as_one_likes(self) -> None:
        plain = self.plain.read_bytes()
        names = set()
        for tool in (["gzip", "-n", "-c"], ["zstd", "-q", "-c"], ["zstd", "-19", "-q", "-c"], ["cat"]):
            packed = subprocess.run(tool, input=plain, capture_output=True, check=True).stdout
            names.add(self.json(self.file("p", packed))["inputs"][0]["content"]["name"])
            done = subprocess.run(
                [REPLAY, "--profile", TINY, "--check", "-"], input=packed, capture_output=True, check=False
            )
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(names), 1)

    def test_twice(self) -> None:
        found = self.json(self.plain, "--repeat", 3, "--check")
        self.assertEqual(found["requests"]["completed"], 24)
        self.assertEqual(found["check"]["wrong"], 0)

    def test_recordings_are_equal(self) -> None:
        """The same requests give the same bytes, however often the data are read."""
        for name, more in (("a", ()), ("b", ("--check",)), ("c", ("--set", "ftl.payload=no"))):
            self.json("gen:rand4k,foot=4M,n=500,content=text", "--record-content", name, *more)
        first = (self.folder / "a").read_bytes()
        settings = "ftl.payload=yes", "ftl.payload=no"
        self.assertEqual(first, (self.folder / "b").read_bytes())
        a, c = read(self.folder / "a"), read(self.folder / "c")
        self.assertEqual(a, c)
        plain = subprocess.run(["zstd", "-dc", self.folder / "c"], capture_output=True, check=True).stdout
        reader = Reader(plain)
        reader.requests()
        self.assertIn(settings[1], reader.settings)

    def test_many_blocks(self) -> None:
        """The trace has more blocks than the writer's first table holds, and one write larger than all buffers."""
        trace = self.folder / "a"
        self.json("gen:seq4k,foot=6M,n=3000,content=random", "--record-content", trace)
        requests = read(trace)
        self.assertEqual(len({request.data for request in requests}), 3000)
        found = self.json(trace, "--check", "--record-content", self.folder / "b")["inputs"][0]["content"]
        self.assertEqual((found["pieces"], found["zeroes"], found["blocks"]), (3000, 0, 3000))
        self.assertEqual((self.folder / "a").read_bytes(), (self.folder / "b").read_bytes())
        data = random.Random(1).randbytes(2 << 20)
        big = self.file("big", make([write(0, 1024, data), Request(0, READ, 0, 4 << 20)]))
        self.assertEqual(self.json(big, "--check", "--fill", 100)["check"]["wrong"], 0)


def small_files() -> None:
    """Limit the child to files of 64 KiB, with an error instead of a signal."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))


class Damage(Case):
    """An incomplete or invalid file is reported, and no output is left."""

    def bad(self, data: bytes, *words: Any, name: str = "bad", **more: Any) -> None:
        self.file(name, data)
        self.refused("--profile", TINY, "--json", "out", name, words=(name, *words), **more)

    def test_cut_anywhere(self) -> None:
        plain = make(SOME)
        packed = subprocess.run(["zstd", "-q", "-c"], input=plain, capture_output=True, check=True).stdout
        for length in [*range(17, 60, 5), *range(60, len(plain), 997), len(plain) - 33, len(plain) - 1]:
            self.bad(plain[:length], "it is not the whole file")
        for length in range(60, len(packed), 41):
            self.bad(packed[:length], "it is not the whole file")

    def test_killed(self) -> None:
        """A killed recorder leaves FILE.part, which is recognised as incomplete."""
        process = subprocess.Popen(
            [REPLAY, "--profile", TINY, "--record-content", "killed", "gen:rand4k,foot=4M,n=9000000,content=random"],
            cwd=self.folder, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        part = self.folder / "killed.part"
        while not part.exists() or part.stat().st_size < 3 << 20:
            self.assertIsNone(process.poll())
        process.kill()
        process.wait()
        self.assertFalse((self.folder / "killed").exists())
        self.bad(part.read_bytes(), "ends inside its packed data: it is not the whole file")

    def test_not_right(self) -> None:
        writer = Writer()
        writer.put(SOME[0])
        good = writer.whole()
        head = writer.head()
        self.bad(b"slate-content 2\n" + good[16:], "another version")
        self.bad(head[:16] + b"\0\0\1\0" + bytes(70000), "head is longer than 65535")
        self.bad(good + b"\0", "goes on behind its end")
        self.bad(good[:-1] + bytes([good[-1] ^ 1]), "do not have the hash")
        self.bad(good[:100] + b"?" + good[101:], "do not have the hash")
        # the head is not hashed: the name does not depend on the drive's settings
        other = self.file("other", good.replace(b"a.b=c", b"a.b=d"))
        self.assertEqual(self.json(other)["inputs"][0]["content"]["name"], good[-32:].hex())
        end = good.index(bytes([END]) + b"\1\0\0\0\0\0\0\0")
        names = ("records", "writes", "pieces", "stored blocks", "sectors written")
        for i, name in enumerate(names):
            at = end + 1 + 8 * i
            self.bad(good[:at] + b"\7" + good[at + 1 :], f"its end counts 7 {name}, and there are")
        for body, why in (
            (b"\4", "record 1 is of no known kind"),
            (bytes([READ | FUA]), "record 1 is of no known kind"),
            (b"\x1b", "record 1 is of no known kind"),
            (bytes([WRITE]) + b"\0\0\0", "record 1 is of no bytes"),
            (bytes([READ]) + b"\0" + varint(1 << 53) + b"\1", "ends beyond 4 EiB"),
            (bytes([READ]) + b"\0\1" + varint(1 << 53), "ends beyond 4 EiB"),
            (bytes([WRITE]) + b"\0\0" + varint((1 << 21) + 1), "writes more than 1 GiB"),
            (bytes([WRITE]) + b"\0\0\10\2", "names a block that is not there"),
            (bytes([WRITE]) + b"\0\0\x10\1" + A + b"\3", "names a block that is not there"),
            (bytes([FLUSH]) + b"\xff" * 9 + b"\2", "a number of more than 64 bits"),
            (bytes([FLUSH]) + b"\xff" * 9 + b"\1" + bytes([FLUSH, 1]), "record 2 comes after more than 2^64 ns"),
        ):
            self.bad(head + body, why)

    def test_forced(self) -> None:
        trace = self.file("b", b"0 0 8 16 1\n")
        self.refused("--profile", TINY, "--format", "content", trace, words=("slate-content 1",))
        self.refused("--profile", TINY, "--format", "x", trace, words=("content, parquet, arrow, or csv:",))

    def test_no_room(self) -> None:
        trace = self.file("t", make(SOME))
        (self.folder / "rec.part").symlink_to("/dev/full")
        done = self.call("--profile", TINY, trace, "--record-content", "rec", code=1)
        self.assertIn("content trace rec: No space left", done.stderr)
        self.assertFalse((self.folder / "rec").exists())
        none = {**os.environ, "TMPDIR": str(self.folder / "none")}
        done = self.call("--profile", TINY, trace, code=2, env=none)
        self.assertIn("TMPDIR", done.stderr)
        self.assertIn("No such file", done.stderr)

    def test_blocks_that_find_no_room(self) -> None:
        """If the file of the stored blocks cannot grow, the message names its place."""
        data = random.Random(2).randbytes(1 << 20)
        trace = self.file("t", make([write(0, 0, data)]))
        done = self.call(
            "--profile", TINY, trace, code=2,
            preexec_fn=small_files,
        )  # fmt: skip
        self.assertIn("File too large", done.stderr)
        self.assertIn("TMPDIR", done.stderr)

    def test_options(self) -> None:
        trace = self.file("t", make(SOME))
        self.refused("--profile", TINY, "--align", "unit", trace, words=("--align unit", "leave it out"))
        self.refused("--profile", TINY, trace, "--record-content", "x", "--csv", "x", words=("name another",))
        self.refused("--profile", TINY, trace, "--record-content", "none/x", words=("none/x", "directory"))
        self.refused("--recorded", trace, words=("no recording",))
        self.refused("--profile", TINY, "gen:rand4k,foot=4M,n=1,content=x", words=("content",))


def crowd(seed: int, count: int, capacity: int, gap_ns: int, sectors: int = 48) -> Iterator[Request]:
    """Make overlapping reads, writes, trims and flushes, with contents that repeat."""
    rng = random.Random(seed)
    pool = [rng.randbytes(512) for _ in range(40)] + [bytes(512)]
    for i in range(count):
        op = rng.choice((READ, READ, WRITE, WRITE, WRITE, TRIM, FLUSH))
        if op == FLUSH:
            yield Request(i * gap_ns, FLUSH)
            continue
        size = rng.randint(1, sectors)
        first = rng.randint(0, capacity // 512 - size)
        data = b"".join(rng.choices(pool, k=size)) if op == WRITE else b""
        yield Request(i * gap_ns, op, first * 512, size * 512, op == WRITE and rng.random() < 0.1, data)


class Check(Case):
    """--check with content finds no error on a correct drive, even if requests overlap, and finds planted faults."""

    def test_requests_that_meet(self) -> None:
        # 32 places of 24 KiB: most requests overlap others in flight
        trace = self.file("t", make(list(crowd(1, 2000, 768 * 1024, 3000))))
        for how in (("--closed", 1), ("--closed", 32), ("--open",)):
            for buffer in (0, 64):
                found = self.json(*how, "--check=1000", "--set", f"ftl.buffer_units={buffer}", trace)["check"]
                self.assertEqual((found["wrong"], found["unknown"]), (0, 0))
                self.assertGreater(found["sectors"], 12000)

    def test_what_may_be_returned(self) -> None:
        """Tests the memory of older versions by itself, because the page FTL never returns one, although
        ftl.h allows it.
        """
        done = subprocess.run([PLAIN / "tests" / "replay" / "test_shadow"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_every_ftl(self) -> None:
        trace = self.file("t", make(list(crowd(2, 1500, 6 << 20, 100_000))))
        for profile, ftl in (("pen-small", "nftl"), ("superblock-small", "superblock"), ("small", "page")):
            found = self.json("--closed", 8, "--check", trace, profile=PROFILES / f"{profile}.ini")
            self.assertEqual((found["ftl"], found["check"]["wrong"]), (ftl, 0))
            self.assertGreater(found["check"]["sectors"], 9000)
            done = self.call("--profile", PROFILES / f"{profile}.ini", "--check", "--read-back", trace)
            self.assertIn(" sectors, 0 wrong", done.stderr)

    def test_all_of_a_drive_with_gc(self) -> None:
        for profile in ("tiny", "ippbe-small"):
            path = TINY if profile == "tiny" else PROFILES / f"{profile}.ini"
            found = self.json(
                "gen:rand4k,foot=5M,n=8000,read=300,fill=64K,content=similar", "--check", "--closed", 8, profile=path
            )
            self.assertEqual(found["check"]["wrong"], 0)
            self.assertGreater(found["check"]["sectors"], 10000)
            if profile == "tiny":
                self.assertGreater(found["gc"]["calls"], 100)

    def test_planted_faults(self) -> None:
        requests = [write(0, i * 4096, bytes([i]) * 4096) for i in range(200)]
        requests += [write(0, i * 4096, bytes([255 - i]) * 4096) for i in range(0, 200, 3)]
        trace = self.file("t", make(requests + [Request(0, READ, i * 4096, 4096) for i in range(200)]))
        # The 102nd write is that of unit 101. Misplaced, it overwrites unit 102, which is written
        # again later, so only unit 101 is wrong. The 201st write is the second of unit 0.
        # Misplaced, it goes to unit 1, so both units are wrong. The 267th write is changed to a
        # trim of unit 198.
        for fault, wrong in (("misplaced:102", 8), ("trimmed:102", 8), ("misplaced:201", 16), ("trimmed:267", 8)):
            done = self.call(
                "--profile", TINY, "--check", trace, program=FAULTY, code=1, env={**os.environ, "FAULT": fault}
            )
            self.assertIn("--check: request ", done.stderr)
            self.assertIn(f"{wrong} of 1600 sectors read were wrong", done.stderr)
        self.assertIn("0 wrong", self.call("--profile", TINY, "--check", trace, program=FAULTY).stdout)

    def test_read_back(self) -> None:
        """A trace without reads shows faults only with --read-back, whose reads are in no figure."""
        trace = self.file("t", make([write(0, i * 4096, bytes([i + 1]) * 4096) for i in range(200)]))
        fault = {**os.environ, "FAULT": "misplaced:102"}
        self.call("--profile", TINY, "--check", trace, program=FAULTY, env=fault)
        done = self.call("--profile", TINY, "--check", "--read-back", trace, program=FAULTY, code=1, env=fault)
        # 200 units of 8 sectors in 128 KiB pieces: 7 pieces
        self.assertIn(f"read back: {7 * 256} sectors, 8 wrong", done.stderr)
        self.assertIn("8 of 1792 sectors read were wrong", done.stderr)
        more = ("--closed", 4, "--check", trace)
        self.assertEqual(self.json(*more), self.json(*more, "--read-back"))
        tags = self.call("--profile", TINY, "--check", "--read-back", "gen:rand4k,foot=6M,n=2000", "--fill", 50)
        self.assertIn("read back: 12288 sectors, 0 wrong", tags.stderr)
        self.refused("--profile", TINY, "--read-back", trace, words=("--read-back is for --check",))

    def test_an_older_version_is_wrong(self) -> None:
        """Unit 0 is written twice. The fault puts the second version elsewhere, so a read returns the first."""
        same = [write(0, 0, A), write(1, 0, B), Request(2, READ, 0, 4096)]
        trace = self.file("t", make(same))
        done = self.call(
            "--profile", TINY, "--check", trace, program=FAULTY, code=1, env={**os.environ, "FAULT": "misplaced:2"}
        )
        self.assertIn("sector 0 holds content that no allowed version has", done.stderr)
        # ... but not if both are equal, because they cannot be distinguished
        same[1] = write(1, 0, A)
        trace = self.file("t", make(same))
        self.call("--profile", TINY, "--check", trace, program=FAULTY, env={**os.environ, "FAULT": "misplaced:2"})


class Told(Case):
    """Test 'slate content'."""

    def tell(self, *args: Any, code: int = 0) -> Any:
        return self.call(*args, program=CORE / "slate-content", code=code)

    def test_sums(self) -> None:
        trace = self.file("t", make(SOME))
        (found,) = json.loads(self.tell("--json", trace).stdout)
        self.assertEqual(
            {key: value for key, value in found.items() if key not in ("file", "compressed_bytes")},
            {
                "name": make(SOME)[-32:].hex(),
                "requests": {"read": 2, "write": 4, "trim": 1, "flush": 1},
                "bytes": {"read": 32768, "write": 20480, "trim": 8192, "flush": 0},
                "fua_writes": 1,
                "last_ns": 2_900_000,
                # A, B, 0, A, B', and A's twice 512 bytes
                "blocks": 7,
                "zero_blocks": 1,
                "duplicate_blocks": 2,
                "distinct_blocks": 4,
                "page_bytes": 4096,
                "pages": 7,
            },
        )
        text = self.tell(trace).stdout
        for words in (
            "written               7 blocks",
            "duplicates            2    28.57 %",
            "write                 4 requests",
        ):
            self.assertIn(words, text)
        self.assertEqual(self.tell("--settings", trace).stdout, "a.b=c\n")

    def test_compression(self) -> None:
        """The sizes are those of zstd, page by page; random bytes do not shrink, and count with their own size."""
        rng = random.Random(3)
        data = b"".join((bytes([i]) * 4096, rng.randbytes(4096), A)[i % 3] for i in range(12))
        trace = self.file("t", make([write(0, 0, data)]))
        for page in (4096, 16384):
            (found,) = json.loads(self.tell("--json", "--page", page, trace).stdout)
            packed = 0
            for at in range(0, len(data), page):
                done = subprocess.run(
                    ["zstd", "-q", "-1", "-c", "--no-check", "--no-content-size"],
                    input=data[at : at + page], capture_output=True, check=True,
                )  # fmt: skip
                packed += min(page, len(done.stdout))
            self.assertEqual(found["pages"], len(data) // page)
            # the frame's head may have a few bytes more or less: size and window are written differently
            self.assertAlmostEqual(found["compressed_bytes"], packed, delta=8 * len(data) // page)
        (found,) = json.loads(self.tell("--json", self.file("r", make([write(0, 0, rng.randbytes(8192))]))).stdout)
        self.assertEqual(found["compressed_bytes"], 8192)

    def test_bad_input(self) -> None:
        trace = self.file("t", make(SOME))
        for words, want in (
            ((), "no TRACE"),
            (("--page", "3000", trace), "power of two"),
            (("--x", trace), "--help"),
            ((self.native("0 0 flush"),), "name a content trace"),
            (("none",), "none"),
            ((self.file("cut", make(SOME)[:-1]),), "not the whole file"),
        ):
            self.assertIn(want, self.tell(*words, code=2).stderr)
        done = subprocess.run([ROOT / "host-tools" / "slate", "content", trace], capture_output=True, check=False)
        self.assertEqual(done.returncode, 0)


class Generated(Case):
    """Generators with content=."""

    def data(self, kind: str, seed: int = 1) -> list[bytes]:
        trace = self.folder / f"{kind}{seed}"
        self.json(f"gen:seq16k,foot=4M,content={kind},seed={seed}", "--check", "--record-content", trace)
        return [r.data[i : i + 4096] for r in read(trace) for i in range(0, 16384, 4096)]

    def test_kinds(self) -> None:
        self.assertEqual(set(self.data("zero")), {bytes(4096)})
        for kind, low, high in (("random", 1.0, 1.1), ("text", 0.2, 0.45), ("similar", 1.0, 1.1)):
            blocks = self.data(kind)
            self.assertEqual((len(blocks), len(set(blocks))), (1024, 1024), kind)
            ratio = sum(len(zlib.compress(block, 1)) for block in blocks) / (1024 * 4096)
            self.assertTrue(low <= ratio <= high, f"{kind} {ratio}")
            self.assertEqual(blocks, self.data(kind))
            self.assertNotEqual(blocks, self.data(kind, seed=2))

    def test_similar_blocks(self) -> None:
        """The trace has 1024 blocks of 64 kinds: two blocks of a kind differ in at most 8 of 512 words."""

        kinds: list[tuple[int, ...]] = []
        for block in self.data("similar"):
            words = struct.unpack("<512Q", block)
            if not any(sum(map(operator.ne, words, kind)) <= 8 for kind in kinds):
                kinds.append(words)
        self.assertEqual(len(kinds), 64)

    def test_without_it_nothing_is_said(self) -> None:
        found = self.json("gen:rand4k,foot=4M,n=10")
        self.assertIn("ftl.payload=no", found["settings"])
        self.assertIsNone(found["inputs"][0]["content"])
        self.assertIn("ftl.payload=yes", self.json("gen:rand4k,foot=4M,n=10,content=text")["settings"])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test slatectl without a drive: its command line, its manual, and a monitor that misbehaves."""

import base64
import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from support import CORE

import manual

CTL = CORE / "slatectl"
MANUAL = ROOT / "host-tools" / "ctl" / "slatectl.1"


def call(*words: Any) -> subprocess.CompletedProcess[str]:
    """Run slatectl and return its output."""
    return subprocess.run([CTL, *map(str, words)], capture_output=True, text=True, timeout=60, check=False)


def head(log: int, size: int, version: int = 1, magic: bytes = b"SLOG") -> bytes:
    """Return the first 32 bytes of a log."""
    return struct.pack("<4sHHQQQ", magic, version, log, size, 1000, 10)


class Options(unittest.TestCase):
    """Test command lines that are refused before the drive executes anything."""

    def refused(self, *words: Any, say: str, code: int = 2) -> None:
        done = call(*words)
        self.assertEqual(done.returncode, code, f"{words}: {done.stderr}")
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith("slatectl: "), done.stderr)
        self.assertIn(say, done.stderr)

    def test_words(self) -> None:
        for words, say in (
            ((), "no COMMAND"),
            (("frobnicate",), "frobnicate: there is no such command"),
            (("--frobnicate", "info"), "--frobnicate: there is no such option"),
            (("--js", "info"), "--js: there is no such option; did you mean --json?"),
            (("--jsno", "info"), "--jsno: there is no such option; did you mean --json?"),
            (("--node",), "--node: its value is missing, or it takes none"),
            (("inof",), "inof: there is no such command; did you mean info?"),
            (("info", "--json"), "options stand before the command, as in 'slatectl --json info'"),
            (("--device",), "--device"),
            (("--device", "a", "--qmp", "b", "info"), "--device is for a guest and --qmp for the host"),
            (("--node", "a", "info"), "--node is for --qmp"),
            (("info", "x"), "info: unexpected argument 'x'"),
            (("counters", "x"), "unexpected argument 'x'"),
            (("--qmp", "x" * 200, "info"), "is longer than 107 characters"),
        ):
            with self.subTest(words=words):
                self.refused(*words, say=say)
        self.refused("info", say="/dev/nvme0n1", code=1)
        self.refused("--device", "/dev/null", "info", say="/dev/null: is no NVMe namespace", code=1)
        self.refused("--qmp", "/none", "info", say="--qmp /none: No such file", code=1)

    def test_manual(self) -> None:
        """The manual and --help have the same options and commands."""
        told = manual.entries(manual.help_of(CTL))
        self.assertEqual(told, manual.written_entries(MANUAL))
        self.assertGreater(len(told), 20)


class Monitor(unittest.TestCase):
    """Stands in for QEMU with answers that the test chooses; the real QEMU is in tests/qemu."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "qmp"
        self.asked: list[Any] = []

    def serve(self, answers: Iterable[bytes], greeting: bytes = b'{"QMP": {}}\n') -> None:
        """Greet, then give an answer for each command that comes."""
        self.path.unlink(missing_ok=True)
        server = socket.socket(socket.AF_UNIX)
        server.bind(str(self.path))
        server.listen()

        def run() -> None:
            connection, _ = server.accept()
            with connection, server, connection.makefile("rb") as lines:
                connection.sendall(greeting)
                for answer in [b'{"return": {}}\n', *answers]:
                    line = lines.readline()
                    if not line:
                        return
                    self.asked.append(json.loads(line))
                    connection.sendall(answer)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        self.addCleanup(thread.join, 10)

    def ctl(self, *words: Any, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = call("--qmp", self.path, *words)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    @staticmethod
    def data(content: bytes) -> bytes:
        return json.dumps({"return": {"data": base64.b64encode(content).decode(), "bytes": 0}}).encode() + b"\n"

    def fails(self, answers: Iterable[bytes], say: str, *words: Any, greeting: bytes = b'{"QMP": {}}\n') -> None:
        self.serve(answers, greeting)
        done = self.ctl(*(words or ("faults",)), code=1)
        self.assertIn(say, done.stderr)

    def test_faults(self) -> None:
        """The client accepts events between answers, and a log in two parts."""
        entry = struct.pack("<IIQIIII", 3, 0xFFFFFFFF, 1, 77, 9, 4, 0)
        rest = struct.pack("<IIII", 1, 32, 31, 0) + entry
        event = b'{"event": "STOP", "data": {}, "timestamp": {}}\n'
        self.serve([event + self.data(head(0xD5, 32 + len(rest))), self.data(rest[:20]), self.data(rest[20:])])
        done = self.ctl("faults")
        self.assertEqual(
            done.stdout,
            "1 faults planned, room for 31 more\n  0 page 77: 9 bits of each ECC word are wrong, 4 reads saw it\n",
        )
        self.assertEqual(self.asked[0], {"execute": "qmp_capabilities", "arguments": {}})
        self.assertEqual(
            [asked["arguments"] for asked in self.asked[1:]],
            [
                {"node-name": "ssd0", "id": 0xD5, "offset": 0, "length": 32},
                {"node-name": "ssd0", "id": 0xD5, "offset": 32, "length": len(rest)},
                {"node-name": "ssd0", "id": 0xD5, "offset": 52, "length": len(rest) - 20},
            ],
        )

    def test_orders(self) -> None:
        """The program converts arguments to numbers."""
        done = b'{"return": {"result": 5}}\n'
        for words, arguments, said in (
            (("reset",), {"command": 1, "arguments": [0, 0, 0]}, ""),
            (("gc",), {"command": 2, "arguments": [0, 0, 0]}, "planes (DAC: dies) with something to collect: 5\n"),
            (("gc", "12"), {"command": 2, "arguments": [12, 0, 0]}, None),
            (("fault", "program", "3"), {"command": 3, "arguments": [1, 3, 0xFFFFFFFF]}, "planned as number: 5\n"),
            (("fault", "erase", "1", "--die", "2"), {"command": 3, "arguments": [2, 1, 2]}, None),
            (("fault", "flip", "77", "9"), {"command": 3, "arguments": [3 | 9 << 16, 77, 0]}, None),
            (("fault", "clear"), {"command": 4, "arguments": [0, 0, 0]}, ""),
            (("cut", "now"), {"command": 5, "arguments": [0, 0, 0]}, ""),
            (("cut", "after", "10", "--then", "reset"), {"command": 5, "arguments": [1 | 256, 10, 0]}, ""),
            (("cut", "at", str(5 << 32 | 7), "--then", "shutdown"), {"command": 5, "arguments": [2 | 512, 7, 5]}, ""),
            (("cut", "cancel"), {"command": 6, "arguments": [0, 0, 0]}, ""),
            (("set", "ftl.gc_slice_pages=8"), {"set": "ftl.gc_slice_pages=8"}, ""),
        ):
            with self.subTest(words=words):
                self.asked.clear()
                self.serve([done])
                out = self.ctl(*words).stdout
                self.assertEqual(self.asked[1]["execute"], "x-nand-ssd-control")
                self.assertEqual(self.asked[1]["arguments"], {"node-name": "ssd0", **arguments})
                if said is not None:
                    self.assertEqual(out, said)
        self.serve([done])
        self.assertEqual(json.loads(self.ctl("--node", "b", "--json", "gc").stdout), {"planes": 5})
        self.assertEqual(self.asked[-1]["arguments"]["node-name"], "b")

    def test_bad_words(self) -> None:
        for words, say in (
            (("gc", "0"), "gc 0: not a whole number from 1 to "),
            (("gc", "1", "2"), "unexpected argument '2'"),
            (("reset", "x"), "unexpected argument 'x'"),
            (("set",), "set: expected a setting"),
            (("set", "a", "b"), "unexpected argument 'b'"),
            (("fault",), "expected program N"),
            (("fault", "smell"), "fault smell"),
            (("fault", "program"), "fault program: a number is missing"),
            (("fault", "program", "1", "--die"), "--die"),
            (("fault", "program", "1", "2"), "unexpected argument '2'"),
            (("fault", "flip", "1"), "the bits: a number is missing"),
            (("fault", "flip", "1", "2", "3"), "unexpected argument '3'"),
            (("fault", "clear", "x"), "unexpected argument 'x'"),
            (("cut",), "expected now"),
            (("cut", "after"), "a number is missing"),
            (("cut", "at", "-1"), "cut at -1"),
            (("cut", "now", "--then", "cry"), "--then cry"),
            (("cut", "now", "x"), "unexpected argument 'x'"),
            (("cut", "cancel", "x"), "unexpected argument 'x'"),
            (("watch", "--interval"), "--interval: a number is missing"),
            (("watch", "--count", "0"), "--count 0"),
            (("watch", "--colour"), "expected --interval"),
        ):
            with self.subTest(words=words):
                self.serve([])
                self.assertIn(say, self.ctl(*words, code=2).stderr)

    def test_signal_while_waiting(self) -> None:
        """Ctrl-C while no answer has come ends the program without a message; the exit status reports it."""
        words = [str(CTL), "--qmp", str(self.path), "faults"]
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                self.asked.clear()
                self.serve([b"", b""])  # the command that reads the log is received and not answered
                with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                    self.until(lambda: len(self.asked) == 2)
                    while process.poll() is None:  # a signal between request and wait would have no effect
                        process.send_signal(number)
                        time.sleep(0.01)
                    self.assertEqual(process.communicate(timeout=30), (b"", b""))
                    self.assertEqual(process.returncode, 130)

    def until(self, condition: Callable[[], bool]) -> None:
        for _ in range(3000):
            if condition():
                return
            time.sleep(0.01)
        self.fail("it did not happen")

    def test_output_that_cannot_be_written(self) -> None:
        """Output may go to a full disk, or to a reader that has closed the pipe."""
        reader, pipe = os.pipe()
        os.close(reader)
        full = os.open("/dev/full", os.O_WRONLY)
        for words in (("faults",), ("--json", "faults"), ("gc",)):
            for out in (pipe, full):
                with self.subTest(words=words, out=out):
                    log = self.data(head(0xD5, 48)), self.data(struct.pack("<IIII", 0, 32, 32, 0))
                    self.serve([b'{"return": {"result": 5}}\n'] if words == ("gc",) else log)
                    done = subprocess.run(
                        [CTL, "--qmp", self.path, *words], stdout=out, stderr=subprocess.PIPE, timeout=60, check=False
                    )
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assertEqual(done.stderr, b"slatectl: standard output cannot be written to\n")
        os.close(pipe)
        os.close(full)

    def watched(self, at_ns: int) -> list[bytes]:
        """Return the answers for one poll: no counters, only the time."""
        return [self.data(struct.pack("<4sHHQQQ", b"SLOG", 1, 0xD1, 64, at_ns, 0)), self.data(bytes(32))]

    def identity(self) -> list[bytes]:
        """Return the identity of a drive that does not exist."""
        body = bytearray(256 - 32)
        body[96:101], body[160:164] = b"small", b"page"
        return [self.data(head(0xD0, 256)), self.data(bytes(body))]

    def counted(self, ftl: str, **counts: int) -> Any:
        """Return what slatectl derives from the counters of a drive with this FTL and 128 KiB written."""
        names = [line.split("\t") for line in subprocess.run(
            [CORE / "slate-profile", "--counters"], capture_output=True, text=True, check=True
        ).stdout.splitlines()]  # fmt: skip
        op, of_ftl = ([row[1].replace("-", "_") for row in names if row[0] == group] for group in ("op", "ftl"))
        words = [0] * (4 * len(op) + len(of_ftl))
        words[len(op) + op.index("bytes")] = 128 << 10
        for name, count in counts.items():
            words[4 * len(op) + of_ftl.index(name)] = count
        rest = struct.pack("<8I", 4, len(op), len(of_ftl), 0, 0, 0, 0, 0) + struct.pack(f"<{len(words)}Q", *words)
        body = bytearray(256 - 32)
        struct.pack_into("<I", body, 8, 1024)  # unit_bytes
        body[160 : 160 + len(ftl)] = ftl.encode()
        self.serve([self.data(head(0xD0, 256)), self.data(bytes(body)),
                    self.data(head(0xD1, 32 + len(rest))), self.data(rest)])  # fmt: skip
        return json.loads(self.ctl("--json", "counters").stdout)

    def test_write_amplification(self) -> None:
        """The WAF counts units; that of DAC counts pages, which hold several reduced units. Without a page it is 0."""
        counts = {"host_units": 96, "gc_units": 16, "host_pages": 48, "gc_pages": 4}
        self.assertEqual(self.counted("page", **counts)["waf"], 0.875)
        self.assertEqual(self.counted("dac", **counts)["waf"], 0.40625)
        self.assertEqual(self.counted("dac", host_units=3)["waf"], 0)

    def test_watch_until_the_drive_is_gone(self) -> None:
        self.serve([*self.identity(), *self.watched(10**9), *self.watched(2 * 10**9), *self.watched(3 * 10**9)])
        done = self.ctl("watch", "--interval", "1", code=1)
        lines = [line.split() for line in done.stdout.splitlines()]
        self.assertEqual([line[0] for line in lines], ["drive", "2.000000", "3.000000"])
        self.assertIn("it was closed", done.stderr)

    def test_watch_on_a_terminal(self) -> None:
        """On a terminal one table is overwritten in place."""
        ours, theirs = os.openpty()
        self.serve([*self.identity(), *self.watched(10**9), *self.watched(2 * 10**9), *self.watched(3 * 10**9)])
        words = [str(CTL), "--qmp", str(self.path), "watch", "--interval", "1", "--count", "2"]
        done = subprocess.run(words, stdout=theirs, stderr=subprocess.PIPE, timeout=60, check=False)
        os.close(theirs)
        said = b""
        with contextlib.suppress(OSError):  # the terminal's end
            while part := os.read(ours, 4096):
                said += part
        os.close(ours)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        tables = said.decode().split("\x1b[H\x1b[J")
        self.assertEqual(tables[0], "")
        self.assertEqual(len(tables), 3)
        for table, seconds in zip(tables[1:], (2, 3)):
            self.assertTrue(
                table.startswith(f"small (page FTL), {seconds}.000000 s of drive time; the last 1.000 s\r\n")
            )
            self.assertTrue(table.endswith("end with Ctrl-C\r\n"))

    def test_monitor_that_misbehaves(self) -> None:
        size = 48
        for answers, say in (
            ([b'{"error": {"class": "GenericError", "desc": "no such node"}}\n'], "ssd0: no such node"),
            ([b'{"error": {"class": "CommandNotFound", "desc": "x"}}\n'], "has no Slate drives"),
            ([b"nonsense\n"], "something else than JSON"),
            ([b"[]\n"], "something else than JSON"),
            ([], "it was closed"),
            ([b'{"return": {}}\n'], "without data"),
            ([b'{"return": {"data": "%%%%"}}\n'], "no base64"),
            ([self.data(b"x" * 40)], "more than was asked for"),
            ([self.data(b"x" * 32)], "this is not a Slate drive"),
            ([self.data(head(0xD1, size))], "this is not a Slate drive"),
            ([self.data(head(0xD5, size)[:16])], "this is not a Slate drive"),
            ([self.data(head(0xD5, size, version=2))], "has version 2, and this program reads 1"),
            ([self.data(head(0xD5, 1 << 40))], "says that it has"),
            ([self.data(head(0xD5, 40)), self.data(bytes(8))], "is shorter than it says"),
            ([self.data(head(0xD5, size)), self.data(b"")], "ends after 32 of 48 bytes"),
            ([self.data(head(0xD5, size)), self.data(struct.pack("<IIII", 2, 32, 0, 0))], "is shorter than it says"),
            ([self.data(head(0xD5, size)), self.data(struct.pack("<IIII", 0, 8, 0, 0))], "is shorter than it says"),
        ):
            with self.subTest(say=say):
                self.fails(answers, say)
        self.fails([], "does not greet as QMP", greeting=b'{"hello": 1}\n')


if __name__ == "__main__":
    unittest.main()

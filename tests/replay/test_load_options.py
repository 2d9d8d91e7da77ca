# SPDX-License-Identifier: GPL-2.0-or-later
"""Test slate-load without a device: its command line, its files, its manual."""

import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from support import CORE

import manual

LOAD = CORE / "slate-load"
MANUAL = ROOT / "host-tools" / "load" / "slate-load.1"


def call(*words: Any) -> subprocess.CompletedProcess[str]:
    """Run it and return its output."""
    return subprocess.run([LOAD, *map(str, words)], capture_output=True, text=True, timeout=60, check=False)


class Options(unittest.TestCase):
    """Test everything that is refused before the first request."""

    def refused(self, *words: Any, say: str) -> None:
        done = call(*words)
        self.assertEqual(done.returncode, 2, f"{words}: {done.stderr}")
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith("slate-load: "), done.stderr)
        self.assertIn(say, done.stderr)

    def test_words(self) -> None:
        device, trace = "/dev/null", "gen:rand4k,foot=1M,n=1"
        for words, say in (
            ((), "name a DEVICE and a TRACE"),
            ((device,), "name a DEVICE and a TRACE"),
            ((device, trace, "more"), "more: one DEVICE"),
            (("--frobnicate", device, trace), "--frobnicate: there is no such option"),
            (("--clsoed=8", device, trace), "--clsoed=8: there is no such option; did you mean --closed?"),
            (("--clos", "8", device, trace), "--clos: there is no such option; did you mean --closed?"),
            (("--op=1", device, trace), "--op=1: there is no such option; did you mean --open?"),
            (("--closed",), "--closed"),
            (("--closed", "0", device, trace), "--closed 0: not a whole number from 1 to 4096"),
            (("--closed", "5000", device, trace), "--closed 5000"),
            (("--closed", "x", device, trace), "--closed x"),
            (("--closed", "2", "--open", device, trace), "--open and --closed exclude each other"),
            (("--depth", "2", device, trace), "--depth is for --open"),
            (("--speed", "2", device, trace), "are for --open"),
            (("--late", "2", device, trace), "are for --open"),
            (("--max-late", "2", device, trace), "are for --open"),
            (("--open", "--speed", "0", device, trace), "--speed 0: not a number from 0.001 to 1000000"),
            (("--open", "--speed", "1.2.3", device, trace), "--speed 1.2.3"),
            (("--open", "--late", "0", device, trace), "--late 0"),
            (("--open", "--max-late", "1001", device, trace), "--max-late 1001: not a whole number from 0 to 1000"),
            (("--repeat", "0", device, trace), "--repeat 0"),
            (("--repeat", "2", device, "-"), "--repeat: standard input"),
            (("--limit", "-1", device, trace), "--limit -1"),
            (("--max-request", "4", device, trace), "--max-request 4: not a size from 512 to "),
            (("--max-request", "much", device, trace), "--max-request much"),
            (("--format", "xml", device, trace), "--format xml: unknown format: expected native"),
            (("--device", "1,x", device, trace), "--device 1,x"),
            (("--blk-action", "QQ", device, trace), "--blk-action QQ"),
            (("--max-bad", "x", device, trace), "--max-bad x"),
            (("--scale=0", device, trace), "--scale=0"),
            (("--log", "a", "--json", "a", device, trace), "--log and --json name one file"),
            (("--show", "a", device, trace), "leave DEVICE and TRACE out"),
            ((device, trace), "/dev/null: a character device, but not one of an NVMe namespace"),
            (("--passthrough", device, trace), "--passthrough: /dev/null is no NVMe namespace"),
            (("/none", trace), "/none: No such file or directory: name a block device"),
            ((MANUAL, trace), "is no device"),
            ((device, "/none.csv"), "/none.csv"),
            ((device, "gen:rand4k"), "gen:rand4k"),
        ):
            with self.subTest(words=words):
                self.refused(*words, say=say)

    def test_manual(self) -> None:
        """The manual and --help have the same options, and the same arguments for them."""
        told = manual.told(manual.help_of(LOAD))
        self.assertEqual(told, manual.written(MANUAL))
        self.assertGreater(len(told), 20)


class Files(unittest.TestCase):
    """--show."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "log"

    def head(self, version: int = 1, record: int = 32, records: int = 2) -> bytes:
        return struct.pack("<8sIIQQ32x", b"SLATLOAD", version, record, records, 5)

    def show(self, data: bytes) -> subprocess.CompletedProcess[str]:
        self.path.write_bytes(data)
        return call("--show", self.path)

    def test_rows(self) -> None:
        rows = struct.pack("<QQIIIBBh", 10, 4096, 8, 137000, 3, 1, 1, 0)
        rows += struct.pack("<QQIIIBBh", 1 << 40, 1 << 50, 0, 2**32 - 1, 0, 3, 0, -5)
        done = self.show(self.head() + rows)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            done.stdout.splitlines(),
            [
                "submit_ns,op,offset,bytes,fua,latency_ns,late_ns,status",
                "10,write,4096,4096,1,137000,3,0",
                f"{1 << 40},flush,{1 << 50},0,0,{2**32 - 1},0,-5",
            ],
        )

    def test_bad_files(self) -> None:
        for data, code, say in (
            (b"", 2, "is no latency file"),
            (b"x" * 100, 2, "is no latency file"),
            (self.head(version=2), 2, "has version 2, and this program reads 1"),
            (self.head(record=40), 2, "has version 1"),
            (self.head() + bytes(40), 1, "ends after 1 of 2 records"),
        ):
            done = self.show(data)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(say, done.stderr)
        self.assertEqual(call("--show", "/none").returncode, 2)


if __name__ == "__main__":
    unittest.main()

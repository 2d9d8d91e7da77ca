# SPDX-License-Identifier: GPL-2.0-or-later
"""The launcher reads the fields of the drive's logs at the places in slate_wire.h.

A C program with that header fills each log and prints its bytes and counter names; the launcher's decoders must
find the same numbers. No offset or name in Python can therefore differ from the header.
"""

import functools
import json
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

import support  # noqa: F401  (sets the path)

from slate_lib import live, series

ROOT = Path(__file__).resolve().parents[2]
INCLUDES = [ROOT / "host-tools" / "libslate", ROOT / "ftl" / "common", ROOT / "nand-emu"]
SOURCE = Path(__file__).resolve().with_name("wire.c")


def word(number: int) -> int:
    """Return the number that the program puts into a word."""
    return number * number + 1


@functools.cache
def told() -> dict[str, Any]:
    """Return the logs that a program with the header fills."""
    with tempfile.TemporaryDirectory(prefix="slate-wire-") as folder:
        program = Path(folder) / "wire"
        includes = [f"-I{folder}" for folder in INCLUDES]
        compile_it = ["cc", "-std=c11", *includes, "-o", str(program), str(SOURCE)]
        subprocess.run(compile_it, check=True)
        found: dict[str, Any] = json.loads(subprocess.run([program], capture_output=True, check=True).stdout)
        return found


class Wire(unittest.TestCase):
    """Return the content of the header as JSON."""

    def setUp(self) -> None:
        self.told = told()

    def test_ids(self) -> None:
        used = [live.IDENTITY_LOG, live.COUNTERS_LOG, series.SERIES_LOG, series.WEAR_LOG]
        self.assertEqual((used, series.ROWS_MAX), (self.told["ids"], self.told["rows_max"]))

    def test_identity(self) -> None:
        found = live.Identity.decode(bytes.fromhex(self.told["identity"]))
        self.assertEqual((found.unit_bytes, found.packed), (16384, True))
        page = bytes.fromhex(self.told["identity"]).replace(b"dac\0", b"page")
        self.assertEqual(live.Identity.decode(page), live.Identity(16384, False))

    def test_counters(self) -> None:
        ops, ftl, per_op = self.told["op"], self.told["ftl"], len(self.told["op"])
        log = bytes.fromhex(self.told["counters"])
        found = live.decode(log, packed=False)
        self.assertEqual(found.at_ns, 4242)
        self.assertEqual(found.ios, sum(word(op * per_op + ops.index("ios")) for op in range(4)))
        self.assertEqual(found.written, word(per_op + ops.index("bytes")))  # group 1 is the writes
        for packed, names in (
            (False, ("host_units", "meta_units", "pad_units", "gc_units", "wl_units")),
            (True, ("host_pages", "gc_pages")),
        ):
            expected = sum(word(4 * per_op + ftl.index(name)) for name in names)
            self.assertEqual(live.decode(log, packed).programmed, expected, names)
        self.assertEqual(found.gc_runs, word(4 * per_op + ftl.index("gc_runs")))

    def test_series(self) -> None:
        found = series.decode_series(bytes.fromhex(self.told["series"]))
        self.assertEqual((found["begin-ns"], found["interval-ns"], found["rows"]), (17, 99, 1))
        at = 0
        for group in ("read", "write", "trim", "flush", "drive"):
            names = self.told["drive" if group == "drive" else "row"]
            expected = {name.replace("_", "-"): [word(at + i)] for i, name in enumerate(names)}
            self.assertEqual(found[group], expected, group)
            at += len(names)
        self.assertEqual((found["dies"], found["channels"]), ([[word(at)]], [[word(at + 1)]]))
        self.assertEqual(found["processors"], [[word(at + 2)]])

    def test_wear(self) -> None:
        found = series.decode_blocks(bytes.fromhex(self.told["wear"]))
        self.assertEqual(found["blocks-per-plane"], 2)
        self.assertEqual((found["erases"], found["valid-units"], found["states"]), ([5, 6], [7, 8], "Fb"))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test slate-trace: what it tells of a trace, and the native form that it writes."""

import unittest
from pathlib import Path
from typing import Any

from support import CORE, TINY, Case

TRACE = CORE / "slate-trace"
# two volumes; the third row begins where the first ends; the fifth rewrites two units of the first and third
ALIBABA = (
    "1,W,8192,8192,1577808144000000\n2,R,0,512,1577808144000010\n1,W,16384,4096,1577808144000030\n"
    "1,R,16384,4096,1577808144000030\n1,W,12288,8192,1577808144000130\n"
)
NATIVE = (
    "# slate-trace 1\n7 0 write 0 4096 fua handle=3 cross=command lost priority=2\n7 0 step\n"
    "9 0 read 0 512 cross=nothing\n9 0 done 0 5 0\n8 1 trim 512 512\n12 1 flush priority=1\n"
)


class Trace(Case):
    """Run slate-trace."""

    def trace(self, *args: Any, code: int = 0) -> Any:
        return self.call(*args, code=code, program=TRACE)

    def test_info(self) -> None:
        """A percentile is the upper end of its bucket: 10,000 ns are in that of 10,000 to 10,007 ns."""
        self.assertEqual(
            self.trace("info", self.file("a", ALIBABA)).stdout,
            f"{self.folder}/a: alibaba, 5 requests, 0 bad rows, 0 passed over\n"
            "  read              2 requests             4608 bytes, mean 2304, 0.0 % sequential\n"
            "  write             3 requests            20480 bytes, mean 6826, 33.3 % sequential\n"
            "  share of reads          40.0 %\n"
            "  addresses 0 .. 20480; footprint 16384 bytes, of these written 12288\n"
            "  rewrites of 4 KiB       40.0 %\n"
            "  sizes, % of reads and of writes\n"
            "    up to           512 bytes   50.0    0.0\n"
            "    up to          4096 bytes   50.0   33.3\n"
            "    up to          8192 bytes    0.0   66.7\n"
            "  time   0.000130000 s; gaps in us: mean 32.500, p50 10.007, p99 100.000, max 100.000\n"
            "  volumes 2\n"
            "    --device 1                       4 requests\n"
            "    --device 2                       1 request\n",
        )

    def test_info_of_odd_rows(self) -> None:
        """A time before the newest counts as that; a huge request is not in the footprint; trims touch nothing."""
        text = self.trace("info", self.file("a", "# slate-trace 1\n9 0 write 0 2000000000\n8 0 trim 0 512\n")).stdout
        self.assertIn("  1 row is earlier than a row before\n", text)
        self.assertIn("  1 request of more than 1 GiB not in the footprint\n", text)
        self.assertIn("footprint 0 bytes, of these written 0\n", text)
        self.assertIn("    more than   8388608 bytes    0.0  100.0\n", text)
        self.assertEqual(self.trace("info", self.file("b", "# slate-trace 1\n")).stdout,
                         f"{self.folder}/b: native, 0 requests, 0 bad rows, 0 passed over\n"
                         "  share of reads           0.0 %\n  rewrites of 4 KiB        0.0 %\n"
                         "  sizes, % of reads and of writes\n  volumes 0\n")

    def test_convert(self) -> None:
        path = self.file("a", ALIBABA)
        want = (
            "# slate-trace 1\n0 1 write 8192 8192\n10000 2 read 0 512\n30000 1 write 16384 4096\n"
            "30000 1 read 16384 4096\n130000 1 write 12288 8192\n"
        )
        self.trace("convert", path, "out.txt")
        self.assertEqual((self.folder / "out.txt").read_text(encoding="utf-8"), want)
        self.assertEqual(self.trace("convert", path, "-").stdout, want)
        self.assertEqual(self.trace("convert", "--device", "2", path, "-").stdout, "# slate-trace 1\n0 2 read 0 512\n")
        self.assertEqual(self.rows("--open", "out.txt"), self.rows("--open", path))
        self.assertIn("out.txt: is there already", self.trace("convert", path, "out.txt", code=2).stderr)
        part = self.file("b.part", ALIBABA)
        self.assertIn("b.part: is there already", self.trace("convert", part, "b", code=2).stderr)
        self.assertEqual(Path(part).read_text(encoding="utf-8"), ALIBABA)
        self.assertEqual((self.folder / "out.txt").read_text(encoding="utf-8"), want)

    def test_any_device(self) -> None:
        """Numbers of volumes may be large; one that the trace lacks is told."""
        path = self.file("a", f"1,W,0,512,1577808144000000\n{2**40},R,512,512,1577808144000001\n")
        self.assertIn(f"--device {2**40} ", self.trace("info", path).stdout)
        self.assertIn("a: alibaba, 1 request,", self.trace("info", "--device", 2**40, path).stdout)
        for words in (("info", "--device", "3", path), ("convert", "--device", "3", path, "out.txt")):
            self.assertIn("none of its 2 requests is of that --device", self.trace(*words, code=1).stderr)
        self.assertFalse((self.folder / "out.txt").exists())
        done = self.call("--profile", TINY, "--device", "3", path)
        self.assertIn("a has no request of that --device", done.stderr)
        self.refused("--profile", TINY, "--device", 2**64 - 1, path, words=("--device", "18446744073709551614"))

    def test_convert_keeps_what_the_native_form_has(self) -> None:
        self.assertEqual(
            self.trace("convert", self.file("a", NATIVE), "-").stdout,
            "# slate-trace 1\n0 0 write 0 4096 fua handle=3 cross=command lost priority=2\n"
            "2 0 read 0 512 cross=nothing\n1 1 trim 512 512\n5 1 flush priority=1\n",
        )

    def test_refused(self) -> None:
        bad = self.file("a", ALIBABA + "1,X,0,512,1577808144000000\n")
        for words, what, code in (
            (("convert", bad, "out.txt"), "a:6: bad row: opcode (column 2)", 1),
            (("info", bad), "1 of 6 rows are bad", 1),
            (("convert", bad, bad), "a: is the trace itself", 2),
            (("convert", bad, "none/out.txt"), "none/out.txt: cannot be written", 2),
            (("info",), "info: expected one TRACE", 2),
            (("convert", bad), "convert: expected TRACE and OUT", 2),
            (("tell", bad), "tell: expected info or convert", 2),
            ((), "no command: expected info or convert", 2),
            (("info", "nowhere"), "No such file", 2),
            (("info", "--fold", bad), "--fold: is for replays", 2),
            (("info", "--format", "xml", bad), "--format xml: unknown format", 2),
            (("info", "--devic", "1", bad), "--device", 2),
        ):
            with self.subTest(words=words):
                self.assertIn(what, self.trace(*words, code=code).stderr)
                self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["a"])
        self.assertIn("5 requests, 1 bad row,", self.trace("info", "--max-bad", 200, bad).stdout)

    def test_content_is_not_lost(self) -> None:
        self.call("--profile", TINY, "--record-content", "a.content", "gen:rand4k,foot=64KiB,n=4")
        self.assertIn("has the data of writes", self.trace("convert", "a.content", "out.txt", code=2).stderr)
        self.assertIn("4 requests", self.trace("info", "a.content").stdout)


if __name__ == "__main__":
    unittest.main()

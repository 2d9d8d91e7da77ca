# SPDX-License-Identifier: GPL-2.0-or-later
"""Test DAC by length of the recordings (dac_long.py): where parts end, the arithmetic of rows, and a tiny recording."""

import contextlib
import csv
import io
import os
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import support

from reproduce.rows import measures
from reproduce.rows.points import StudyError
from reproduce.studies import dac_long

MIB = 1 << 20
REDUCTION = {"gc_pages": 0, "raw_units": 0, "comp_units": 6, "delta_units": 4, "link_units": 0, "delta_bytes": 4096}


def result(pages: int, **more: int) -> dict[str, Any]:
    return {"reduction": {**REDUCTION, "host_pages": pages, **more}, "settings": ["ftl.unit_bytes=4096"]}


class Parts(unittest.TestCase):
    """A part ends with the request by which its length is written."""

    def test_cut(self) -> None:
        rows = [(0, MIB), (0, 0), (512, MIB), (0, 0), (4096, 3 * MIB)]
        # the second write is not aligned, so it touches one block more
        self.assertEqual(dac_long.cut(rows, [4, 1, 2, 8], True), [(1, 1, 256), (2, 3, 513), (4, 5, 1281), (5, 5, 1281)])
        self.assertEqual(dac_long.cut(rows, [5], True), [(5, 5, 1281)])
        self.assertEqual(dac_long.cut(rows[:1], [2], True), [(1, 1, 256)])
        self.assertEqual(dac_long.cut(rows, [1], False), [(1, 1, 256)])

    def test_a_length_counts_once(self) -> None:
        rows = [(0, MIB), (0, MIB // 2)]
        self.assertEqual(dac_long.cut(rows, [1, 1], False), [(1, 1, 256)])
        # the whole has a length of 1 MiB, too
        self.assertEqual(dac_long.cut(rows, [1], True), [(1, 1, 256)])

    def test_fingerprints(self) -> None:
        """The store has half a per cent of the fingerprints, which are four for each block."""
        self.assertEqual(dac_long.Part("pc", Path("p"), 1, 1, 256).prints, 5)
        self.assertEqual(dac_long.Part("pc", Path("p"), 4096, 1, 1 << 20).prints, 20971)

    def test_command(self) -> None:
        """The drive is a larger one than the study's, and the last setting of a key counts."""
        part = dac_long.Part("pc", Path("p"), 1024, 77, 1 << 18)
        for name, kept in (("dac", "ftl.fingerprints=5242"), ("unlimited", "ftl.fingerprints_permille=1000")):
            words = dac_long.command(part, name)
            self.assertEqual(
                [word for word in words if word.startswith("ftl.capacity_mib=")][-1], "ftl.capacity_mib=4096"
            )
            self.assertIn("geometry.blocks_per_plane=256", words)
            self.assertIn("ftl.reduction=dac", words)
            self.assertEqual([word for word in words if word.startswith("ftl.fingerprints")], [kept])
            self.assertEqual(words[words.index("--limit") + 1], "77")


class Rows(unittest.TestCase):
    """Test tables from results made by hand."""

    def setUp(self) -> None:
        self.parts = [dac_long.Part(name, Path("p"), mib, 1, 1) for name, mib in (("pc", 1), ("pc", 2), ("web", 1))]
        self.found = {
            ("pc", 1, "dedup"): result(100), ("pc", 1, "dac"): result(50), ("pc", 2, "dedup"): result(200),
            ("pc", 2, "dac"): result(150), ("web", 1, "dedup"): result(10), ("web", 1, "dac"): result(12),
            ("pc", 1, "unlimited"): result(40), ("pc", 2, "unlimited"): result(60),
            ("web", 1, "unlimited"): result(9, delta_units=14),
        }  # fmt: skip

    def test_pages(self) -> None:
        self.assertEqual(
            dac_long.pages(self.found, self.parts, "dedup", {"dac": "DAC"}, True),
            [
                ["MiB", "trace", "DAC"],
                ["1", "pc", "-50"],
                ["1", "web", "20"],
                ["1", "average", "-15"],
                ["2", "pc", "-25"],
            ],
        )

    def test_the_page_is_brief(self) -> None:
        """It shows averages, or else the longest part; a table without lengths is whole."""
        rows = dac_long.pages(self.found, self.parts, "dedup", {"dac": "DAC"}, True)
        self.assertEqual(dac_long.brief(rows), [["MiB", "trace", "DAC"], ["1", "average", "-15"]])
        rows = [["trace", "MiB", "x"], ["pc", "1", "a"], ["pc", "2", "b"], ["web", "1", "c"]]
        self.assertEqual(dac_long.brief(rows), [["trace", "MiB", "x"], ["pc", "2", "b"], ["web", "1", "c"]])
        rows = [["trace", "x"], ["pc", "a"], ["pc", "b"]]
        self.assertEqual(dac_long.brief(rows), rows)

    def test_longest(self) -> None:
        self.assertEqual([(part.name, part.mib) for part in dac_long.longest(self.parts)], [("pc", 2), ("web", 1)])

    def test_table5(self) -> None:
        rows = dac_long.table5(self.found, self.parts, measures.reference_share, {"pc": 0.2, "web": 0.5})
        self.assertEqual(rows, [
            ["trace", "MiB", "paper", "DAC", "DAC / paper", "DAC, unlimited"],
            ["pc", "1", "0.2", "0.4", "2", "0.4"], ["pc", "2", "0.2", "0.4", "2", "0.4"],
            ["web", "1", "0.5", "0.4", "0.8", "0.7"],
        ])  # fmt: skip


class Whole(unittest.TestCase):
    """Test a tiny recording, from the command line to the tables."""

    def test_head(self) -> None:
        with tempfile.TemporaryDirectory() as made, contextlib.redirect_stderr(io.StringIO()) as said:
            folder = Path(made)
            shutil.copy(support.ROOT / "tests/traces/iot-head.content", folder / "iot.content")
            with mock.patch.multiple(dac_long, KEPT=folder / "kept", SCALE=256, CAPACITY_MIB=256):
                status = dac_long.main([f"RECORDINGS={folder}", "--lengths", "all", "--out", str(folder / "out")])
            self.assertEqual((status, said.getvalue()), (0, ""))
            with (folder / "out/dac-long.csv").open(encoding="utf-8", newline="") as file:
                found = {(row["table"], row["what"]): row["value"] for row in csv.DictReader(file)}
            self.assertIn("## Figure 28", (folder / "out/README.md").read_text(encoding="utf-8"))
        # 500 requests with 53 flushes; the blocks are those of dac.py
        self.assertEqual((found["parts", "requests"], found["parts", "blocks"]), ("447", "927"))
        self.assertEqual(found["parts", "fingerprints kept by DAC"], "18")
        # the quick study's rows: on the same drive, so the same numbers
        text = (support.ROOT / "tests/reproduce/expected-dac.csv").read_text(encoding="utf-8")
        figure = text.partition("# fig28\n")[2].partition("# ")[0]
        rows = [row for row in csv.DictReader(figure.splitlines()) if row["trace"] == "guest iot-head"]
        self.assertEqual(len(rows), 4)
        for row in rows:
            self.assertEqual(found["fig28", row["what"]], row["ours"])

    def test_refused(self) -> None:
        with tempfile.TemporaryDirectory() as made:
            for words, message in (
                ((f"RECORDINGS={made}", "--jobs", "0"), "--jobs 0: must be 1 or more"),
                ((f"RECORDINGS={made}", "--lengths", "1,x"),
                 "--lengths 1,x: must be numbers of MiB, or all, with commas between them"),
                ((f"RECORDINGS={made}",),
                 f"RECORDINGS={made}: has none of pc.content, synth.content, web.content, iot.content"),
                ((f"RECORDINGS={made}/no",),
                 f"RECORDINGS={made}/no: is no folder: python3 host-tools/reproduce record makes one"),
            ):  # fmt: skip
                with contextlib.redirect_stderr(io.StringIO()) as said:
                    self.assertEqual(dac_long.main(list(words)), 1)
                self.assertEqual(said.getvalue(), f"reproduce dac-long: {message}\n")

    def test_what_a_kept_result_depends_on(self) -> None:
        """A file's time may stay when its bytes change, so the profile's bytes count."""
        with tempfile.TemporaryDirectory() as made:
            root = Path(made)
            recording, replays = root / "pc.content", []
            for name in (dac_long.REPLAY, dac_long.DRIVE, "nand-emu/profiles/dac.ini", "pc.content"):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text("first", encoding="ascii")
                os.utime(root / name, (1, 1))

            def said(line: list[str], _: str) -> str:
                replays.append(line[line.index("--profile") + 1])
                text = '{"reduction": {"gc_pages": 0}}' if "--json" in line else "op,offset,bytes\nwrite,0,4096\n"
                Path(line[-2]).write_text(text, encoding="ascii")
                return ""

            part = dac_long.Part("pc", recording, 1, 1, 256)
            with mock.patch.multiple(dac_long, ROOT=root, KEPT=root / "kept", said=said):
                for changed in ("", "", "nand-emu/profiles/dac.ini", "", dac_long.DRIVE, ""):
                    if changed:
                        (root / changed).write_text("other", encoding="ascii")
                        os.utime(root / changed, (1, 1))
                    self.assertEqual(dac_long.requests("pc", recording), [(0, 4096)])
                    dac_long.result(part, "dac")
        self.assertEqual(replays, [
            dac_long.DRIVE, "nand-emu/profiles/dac.ini", "nand-emu/profiles/dac.ini", dac_long.DRIVE,
        ])  # fmt: skip

    def test_gc_is_refused(self) -> None:
        part = dac_long.Part("pc", Path(__file__), 1, 1, 1)
        with tempfile.TemporaryDirectory() as made, mock.patch.object(dac_long, "KEPT", Path(made)):
            with (
                mock.patch.object(dac_long, "said", lambda line, _: Path(line[-2]).write_text(
                    '{"reduction": {"gc_pages": 1}}', encoding="ascii")),
                self.assertRaisesRegex(StudyError, "GC wrote pages"),
            ):  # fmt: skip
                dac_long.result(part, "dac")


if __name__ == "__main__":
    unittest.main()

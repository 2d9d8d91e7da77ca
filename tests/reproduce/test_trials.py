# SPDX-License-Identifier: GPL-2.0-or-later
"""Test trials of PEN that are patches (docs/results/pen-trials), and unfolded real traces (docs/results/unfolded)."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import support

from reproduce.real import patched, superblock, trials, unfolded, validate
from reproduce.traces import realtrace
from test_superblock_traces import result

PATCHES = support.REPRODUCE / "trials"


class Patches(unittest.TestCase):
    """Every patch applies to the tree, without fuzz."""

    def test_apply(self) -> None:
        have = {path.stem for path in PATCHES.iterdir()}
        self.assertLessEqual({one.patch for one in trials.TRIALS if one.patch}, have)
        for path in PATCHES.iterdir():
            with self.subTest(path.name), tempfile.TemporaryDirectory() as folder:
                for name in ("ftl", "nand-emu", "host-tools/replay"):
                    shutil.copytree(support.ROOT / name, Path(folder) / name)
                patched.done("patch", "--batch", "--fuzz=0", "-p1", "-i", str(path), cwd=Path(folder))
                command = ["diff", "-rq", str(support.ROOT / "ftl"), f"{folder}/ftl"]
                changed = subprocess.run(command, capture_output=True, text=True, check=False)
                self.assertGreater(len(changed.stdout.splitlines()), 0)

    def test_a_patch_that_does_not_apply(self) -> None:
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(realtrace.TraceError, "exit status 1"):
            patched.done("patch", "--batch", "-p1", "-i", str(PATCHES / "strict.patch"), cwd=Path(folder))
        with self.assertRaisesRegex(realtrace.TraceError, "no-such-program is not installed: a trial needs patch"):
            patched.done("no-such-program", cwd=Path("/"))


class Trials(unittest.TestCase):
    """Test a row of a trial, computed by hand."""

    def test_row(self) -> None:
        found = {"no": result(8, 10, 2.0, 5.0, 3), "yes": result(2, 4, 1.5, 6.0, 1)}
        for one in found.values():
            one["host"]["read"] = {"ios": 2, "latency": {"sum_ns": 6e6 if one is found["no"] else 3e6}}

        def replayed(_text: str, options: Any, _program: object) -> Any:
            return found["yes" if "ftl.pen=yes" in options else "no"]

        with mock.patch.object(validate, "replay", replayed):
            row = trials.row(b"", "t", Path("x"), trials.TRIALS[1])
        # latencies 2 of 8 ms and 1.5 of 3 ms, WA 4 of 10
        self.assertEqual(
            list(row.values()), ["t", "NFTL", "toCopy < free + space", "0.25", "0.5", "0.4", "3", "7", "1"]
        )

    def test_drives(self) -> None:
        self.assertEqual(trials.FTLS["NFTL"]("no"), validate.lines()["nftl"])
        self.assertEqual(trials.FTLS["NFTL"]("yes"), validate.lines()["pen"])
        self.assertEqual(trials.FTLS["Superblock 4:5"]("yes"), superblock.line("yes"))

    def test_as_it_is_is_superblock_s_table(self) -> None:
        """The rows without a patch repeat what the page of superblock has."""
        known = {row["trace"]: row for row in support.stored("superblock/superblock") if row["superblocks"] == "ours"}
        seen = 0
        for row in support.stored("pen-trials/pen-trials"):
            if (row["FTL"], row["trial"]) == ("Superblock 4:5", "as it is"):
                seen += 1
                for key in ("write latency, PEN / without", "WA, PEN / without", "M-Merges", "merges"):
                    self.assertEqual(row[key], known[row["trace"]][key], (row["trace"], key))
        self.assertEqual(seen, len(known))


class Unfolded(unittest.TestCase):
    """Test the drives of unfolded traces: blocks suffice, and percentages are those of the folded one."""

    def test_folded_is_validate_s(self) -> None:
        nftl = validate.lines()["nftl"]
        words = unfolded.FOLDED.line("no")
        # the last value of a key counts; both set the same ones
        self.assertEqual(
            {word.partition("=")[0]: word for word in words if "=" in word},
            {word.partition("=")[0]: word for word in nftl if "=" in word},
        )
        self.assertEqual([w for w in words if w.startswith("--")][-3:], [w for w in nftl if w.startswith("--")][-3:])

    def test_smallest_drive(self) -> None:
        # 1,000 blocks: 36,000 MiB raw, 32,727 exported, so 31.96 GiB
        for mib, blocks in ((1, 250), (8181, 250), (8182, 251), (32727, 1000), (32728, 1001)):
            drive = unfolded.holding(mib * 256)
            self.assertEqual(drive.blocks, blocks)
            self.assertGreaterEqual(drive.exported_mib, mib)
            self.assertNotIn("--fold", drive.line("no"))

    def test_blocks_left(self) -> None:
        # 250 blocks: 8,181 MiB exported, 95 % of them in 864 D-blocks; 20 of 250 are 8 %: 1000 - 864 - 80
        self.assertEqual(unfolded.FOLDED.log_blocks, 56)

    def test_written(self) -> None:
        # units 0 to 3, then 2 to 5, of which two again, then 0 again; a read does not count
        self.assertEqual(unfolded.written([(0, 1, 0, 4), (1, 1, 2, 4), (2, 1, 0, 1), (3, 0, 9, 9)]), (9, 3))

    def test_parsed(self) -> None:
        requests = [(0, 1, 5, 2), (7, 0, 1, 16)]
        self.assertEqual(unfolded.parsed(validate.text_of(requests)), requests)

    def test_stored(self) -> None:
        """Folded rows repeat the page of stand-ins, and each trace has an unfolded row beside."""
        known = {(row["trace"], row["quantity"]): row["real"] for row in support.stored("standins/validation")}
        rows = support.stored("unfolded/unfolded")
        self.assertEqual([row["addresses"] for row in rows], ["folded", "unfolded"] * (len(rows) // 2))
        for row in rows[::2]:
            for quantity in ("NFTL write amplification", "PEN gain, times"):
                self.assertEqual(float(row[quantity]), float(known[row["trace"], quantity]), row["trace"])


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the study of scales (docs/results/scale): its drives and traces, and what it makes of results."""

import subprocess
import sys
import unittest
from typing import Any
from unittest import mock

import support

from reproduce.papers import study
from reproduce.rows import compare, measures
from reproduce.studies import scale


def values(command: list[str], key: str) -> list[str]:
    """Return what a command line sets a key to; the last one counts."""
    return [word.partition("=")[2] for word in command if word.startswith(f"{key}=")]


class Drives(unittest.TestCase):
    """A scale divides the blocks of a plane; with fewer planes the blocks of a plane are the paper's 1,888."""

    def test_blocks(self) -> None:
        for divisor, blocks in ((32, "59"), (16, "118"), (4, "472"), (1, "1888")):
            run = scale.run_of("pen", divisor, "prn_1", "nftl")
            self.assertEqual(values(run.command(), "geometry.blocks_per_plane"), [blocks])
            self.assertEqual(run.study.trace_file(run.trace), f"build/reproduce/traces-{divisor}/standin-prn_1.trace")

    def test_planes(self) -> None:
        run = scale.run_of("pen", 32, "prn_1", "nftl", planes=True)
        command = run.command()
        self.assertEqual(values(command, "geometry.blocks_per_plane"), ["1888"])
        for key in ("channels", "chips_per_channel", "dies_per_chip"):
            self.assertEqual(values(command, f"geometry.{key}")[-1], "1")
        self.assertEqual(run.study.trace_file(run.trace), "build/reproduce/traces-32/standin-prn_1.trace")
        self.assertNotEqual(run.column, scale.run_of("pen", 32, "prn_1", "nftl").column)

    def test_a_mix_has_its_warm_up(self) -> None:
        command = scale.run_of("rps", 4, "ntrx", "flex").command()
        self.assertIn("--warmup", command)
        self.assertEqual(values(command, "ftl.capacity_mib"), ["2816"])  # 11 GiB by 4

    def test_every_study_has_its_own_scale(self) -> None:
        for name, scales in scale.SCALES.items():
            self.assertIn(study.KINDS[name].scale, scales)


class Values(unittest.TestCase):
    """Test rows: a value, or a form of a value and its base."""

    @staticmethod
    def of(row: scale.Quantity, found: dict[str, Any]) -> float | None:
        with mock.patch.object(scale, "result", lambda run: found[run.config]):
            return scale.value(row, 32, False)

    def test_forms(self) -> None:
        found = {"a": {"gc": {"ns": 3_000_000}}, "b": {"gc": {"ns": 4_000_000}}, "c": {"gc": {"ns": 0}}}
        for config, base, form, wanted in (
            ("a", "", compare.times, 3.0), ("a", "b", compare.times, 0.75), ("a", "b", compare.change, -25.0),
            ("a", "c", compare.change, None),
        ):  # fmt: skip
            row = scale.Quantity("pen", "hm_0", "time in GC", measures.gc_ms, config, base, form)
            self.assertEqual(self.of(row, found), wanted)


class Bad(unittest.TestCase):
    """Test that bad input gets a sentence."""

    def test_jobs(self) -> None:
        done = subprocess.run(
            [sys.executable, str(support.REPRODUCE), "scale", "--jobs", "0"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (1, "reproduce scale: --jobs 0: must be 1 or more\n"))


if __name__ == "__main__":
    unittest.main()

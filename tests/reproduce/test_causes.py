# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the experiments on claims that are off (docs/results/causes): their runs, and what their tables repeat."""

import csv
import subprocess
import sys
import unittest
from typing import Any

import support

from reproduce.rows import measures
from reproduce.rows.points import Trace
from reproduce.studies import causes

RESULTS = support.ROOT / "docs/results"


def table(path: str) -> dict[tuple[str, str], float]:
    """Return a stored table: values by trace and what."""
    with (RESULTS / f"{path}.csv").open(encoding="utf-8") as text:
        return {(row["trace"], row["what"]): float(row["ours"]) for row in csv.DictReader(text)
                if row["accounting"] == "device"}  # fmt: skip


def setting(experiment: causes.Experiment, trace: Trace, name: str) -> str:
    """Return the value of the patched program's setting; the last one counts."""
    words = [word for word in causes.command(experiment, trace, name) if word.startswith(f"{causes.SETTING}=")]
    return words[-1].partition("=")[2] if words else ""


class Wear(unittest.TestCase):
    """VEP is the variance between blocks and the mean variance within them."""

    def test_by_hand(self) -> None:
        # Two blocks of two pages, erased 1 and 3 times, and never. AEP 1; VEP (1 + 9) / 4 - 1 = 1.5. The blocks' means
        # are 2 and 0, so 1 is between them; within them the variances are 1 and 0.
        one: dict[str, Any] = {
            "wear": {"aep": 1.0, "vep": 1.5, "pages": 4, "page_erases_sq": 10, "block_erases_sq": 16},
            "settings": ["geometry.pages_per_block=2"],
        }
        self.assertEqual((measures.between_blocks(one), measures.within_blocks(one)), (1.0, 0.5))

    def test_stored_parts(self) -> None:
        between, within = table("causes/wear-between"), table("causes/wear-within")
        for key, value in table("causes/wear-vep").items():
            self.assertAlmostEqual(between[key] + within[key], value, delta=0.001 * value, msg=key)

    def test_within_blocks_wear_gets_less_even(self) -> None:
        """The published direction of figure 14c is that of the part that partial erases make."""
        found = table("causes/wear-within")
        for volume in causes.NAMED:
            values = [found[f"stand-in for {volume}", f"W = {w}"] for w in (1, 4, 16, 64)]
            self.assertEqual(values, sorted(set(values)), volume)

    def test_without_m_merges_pages_of_a_block_wear_alike(self) -> None:
        for name in ("wear-within", "super-within"):
            for (trace, what), value in table(f"causes/{name}").items():
                if what in ("NFTL (no M-Merge)", "without PEN"):
                    self.assertEqual(value, 0, trace)


class Repeated(unittest.TestCase):
    """The patched program without a limit, and the study's own stand-ins, give the studies' numbers."""

    def test_figure_14c(self) -> None:
        found, known = table("causes/wear-vep"), table("pen/fig14c")
        for volume in causes.NAMED:
            trace = f"stand-in for {volume}"
            for w in (1, 4, 64):
                ours = found[trace, f"W = {w}"] / found[trace, "W = 16"]
                self.assertAlmostEqual(ours, known[trace, f"W = {w}"], delta=0.001, msg=volume)

    def test_superblock(self) -> None:
        usr = "stand-in for usr_2"
        known = table("pen/fig17c")[usr, "4:5"]
        self.assertEqual(table("causes/super-limit-vep")[usr, "W of a superblock"], known)
        self.assertEqual(table("causes/super-vep-fits")[usr, "4:5"], known)
        stg = ("stand-in for stg_1", "4:8")
        self.assertEqual(table("causes/super-base-varied")[stg], table("pen/super-base")[stg])


class Least(unittest.TestCase):
    """What the notes and the claims say of stg_0."""

    def test_places(self) -> None:
        for name, least in (("moved", 3), ("time", 0), ("time-copies", 3)):
            found = table(f"causes/least-{name}")
            seen = 0
            for like in causes.SOME_FITS:
                row: dict[str, float] = {v: found[f"stand-in for {v},like={like}", "threshold 64"] for v in causes.NINE}
                seen += max(row, key=row.__getitem__) == "stg_0-1M"
            self.assertEqual(seen, least, name)


class Runs(unittest.TestCase):
    """Test the command lines of variants."""

    def test_limits(self) -> None:
        made, usr = causes.superblock_wear(), Trace("usr_2")
        limits = {name: setting(made, usr, name) for name in made.variants}
        self.assertEqual(limits, {"without": "65536", "pen": "65536", "limit16": "16", "limit4": "4", "limit1": "1"})
        made = causes.references()
        for name in made.variants:
            self.assertEqual(setting(made, made.figures[0].traces[0], name), name[-1])

    def test_unpatched_runs_leave_the_setting_alone(self) -> None:
        for made in (causes.more_blocks(), causes.least()):
            for name in made.variants:
                self.assertEqual(setting(made, made.figures[0].traces[0], name), "")

    def test_patch_is_there(self) -> None:
        self.assertTrue((support.REPRODUCE / f"trials/{causes.PATCH}.patch").exists())

    def test_each_run_once(self) -> None:
        for name, make in causes.EXPERIMENTS.items():
            runs = make().runs()
            self.assertEqual(len(runs), len(set(runs)), name)
        self.assertEqual(len(causes.wear_by_w().runs()), 15)  # three volumes, four W and NFTL


class Folder(unittest.TestCase):
    """A page without some experiments does not replace the stored one."""

    def test_folder(self) -> None:
        self.assertEqual(causes.folder_of(list(causes.EXPERIMENTS)), RESULTS / "causes")
        self.assertEqual(causes.folder_of(["wear"]), causes.KEPT / "some")


class Bad(unittest.TestCase):
    """Test that bad input gets a sentence."""

    def test_arguments(self) -> None:
        known = ", ".join(causes.EXPERIMENTS)
        for argument, sentence in (
            (("--jobs", "0"), "--jobs 0: must be 1 or more"),
            (("waer",), f"unknown experiment 'waer'; expected one of {known}"),
        ):
            done = subprocess.run(
                [sys.executable, str(support.REPRODUCE), "causes", *argument],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            self.assertEqual((done.returncode, done.stderr), (1, f"reproduce causes: {sentence}\n"))


if __name__ == "__main__":
    unittest.main()

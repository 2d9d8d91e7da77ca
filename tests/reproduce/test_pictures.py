# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the pictures that are drawn from stored tables."""

import subprocess
import tempfile
import unittest
from pathlib import Path

import support

from reproduce.papers import study

PYTHON = support.ROOT / "build/venv-reproduce/bin/python3"
RESULTS = support.ROOT / "docs/results"


def pictures(*args: str) -> subprocess.CompletedProcess[str]:
    """pictures.py."""
    command = [str(PYTHON), str(support.REPRODUCE), "pictures", *args]
    return subprocess.run(command, cwd=support.ROOT, capture_output=True, text=True, check=False)


class Pictures(unittest.TestCase):
    """A page shows few pictures; a command draws every figure."""

    def test_the_stored_ones_follow_from_the_tables(self) -> None:
        for name, kind in study.KINDS.items():
            stored = {path.stem: path.read_bytes() for path in (RESULTS / name).glob("*.svg")}
            self.assertEqual(set(stored), set(kind.pictures))
            figures = {figure.name: figure for figure in study.of(name, False, None, None).figures()}
            drawn = [one for one in kind.pictures if figures[one].picture != "cdf"]
            if not drawn:
                continue
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                done = pictures(name, *drawn, "--out", folder)
                self.assertEqual((done.returncode, done.stdout), (0, f"pictures  {len(drawn)} are in {folder}\n"))
                self.assertEqual({path.stem: path.read_bytes() for path in Path(folder).iterdir()},
                                 {one: stored[one] for one in drawn})  # fmt: skip

    def test_all_of_a_study(self) -> None:
        """Those that are not stored, too, but for a share of windows, which is drawn from the runs."""
        with tempfile.TemporaryDirectory() as folder:
            done = pictures("rps", "--out", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            tables = {path.stem for path in (RESULTS / "rps").glob("*.csv")}
            self.assertEqual({path.stem for path in Path(folder).glob("*.svg")},
                             tables - {"fig15", "alike-fig15", "guest-fig15"})  # fmt: skip

    def test_bad_input(self) -> None:
        for args, message in (
            (("pen", "fig99"), "pen has no figure fig99: it has fig03a, "),
            (("rps", "fig15"), "fig15 is drawn from the runs, not from its table: 'make reproduce-rps' draws it"),
            (("pen", "--results", "/nonexistent"), "/nonexistent: is no folder: 'make reproduce-pen' makes the tables"),
            (("pen", "fig05", "--results", "docs/results/rps"), "has no fig05.csv: 'make reproduce-pen' makes it"),
        ):
            with self.subTest(args):
                done = pictures(*args)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()

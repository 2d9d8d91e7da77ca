# SPDX-License-Identifier: GPL-2.0-or-later
"""The patches hold what the folder beside them does."""

from __future__ import annotations

import subprocess
import unittest
from pathlib import Path

PATCHES = Path(__file__).resolve().parents[2] / "qemu-patches"


class Patches(unittest.TestCase):
    """qemu-patches."""

    def test_new_files_are_those_of_src(self) -> None:
        subprocess.run([str(PATCHES / "make-patches.sh"), "--check"], check=True)

    def test_series_names_every_patch(self) -> None:
        lines = (PATCHES / "series").read_text(encoding="utf-8").splitlines()
        self.assertEqual(
            [x for x in lines if x and not x.startswith("#")], sorted(p.name for p in PATCHES.glob("*.patch"))
        )

    def test_every_patch_has_a_message(self) -> None:
        for patch in PATCHES.glob("*.patch"):
            head, _, _ = patch.read_text(encoding="utf-8").partition("\n---\n")
            self.assertRegex(head, r"(?m)^Subject: \[PATCH.*\] \S")
            self.assertGreater(len(head.splitlines()), 6, patch.name)

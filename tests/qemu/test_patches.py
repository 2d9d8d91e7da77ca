# SPDX-License-Identifier: GPL-2.0-or-later
"""The patches hold what the folder beside them does."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
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

    def test_a_path_that_qemu_can_not_be_built_in(self) -> None:
        """Said at once: its own configure says so after the source has been fetched and unpacked."""
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a b", "a:b"):
                script = Path(folder) / name / "qemu-patches" / "build.sh"
                script.parent.mkdir(parents=True)
                shutil.copy(PATCHES / "build.sh", script)
                done = subprocess.run(["bash", script], capture_output=True, text=True, check=False, timeout=60)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                said = f"QEMU can not be built in a path with blanks or colons: {folder}/{name}/build"
                self.assertIn(said, done.stderr)
                self.assertEqual(sorted(os.listdir(script.parents[1])), ["qemu-patches"])

    def test_every_patch_has_a_message(self) -> None:
        for patch in PATCHES.glob("*.patch"):
            head, _, _ = patch.read_text(encoding="utf-8").partition("\n---\n")
            self.assertRegex(head, r"(?m)^Subject: \[PATCH.*\] \S")
            self.assertGreater(len(head.splitlines()), 6, patch.name)

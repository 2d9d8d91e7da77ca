# SPDX-License-Identifier: GPL-2.0-or-later
"""The patches agree with the files in qemu-patches/src."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATCHES = ROOT / "qemu-patches"
DRIVER = "0032-block-add-nand-ssd-an-emulated-NAND-SSD.patch"
TOUCHED = re.compile(r"^\+\+\+ b/(\S+)", re.MULTILINE)


def names() -> list[str]:
    """Return the patches, in their order."""
    lines = (PATCHES / "series").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


class Patches(unittest.TestCase):
    """qemu-patches."""

    def test_the_series_alone_makes_the_tree(self) -> None:
        """The series has the driver's files, and each file that a patch or build.sh changes is as it was built."""
        if not (ROOT / "build/apt/qemu.plan").exists():
            self.skipTest("QEMU was built from a tarball of the user's own")
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([str(PATCHES / "make-patches.sh"), f"{folder}/series"], check=True)
            files = sorted(Path(folder, "series").iterdir())
            self.assertEqual([file.name for file in files], names())
            texts = [file.read_text(encoding="utf-8") for file in files]
            touched = sorted({name for text in texts for name in TOUCHED.findall(text)})
            self.assertIn("block/nand-ssd.c", touched)
            unpack = [str(PATCHES / "build.sh"), "--source", f"{folder}/qemu"]
            subprocess.run(unpack, check=True, capture_output=True)
            for file in files:
                apply = ["git", "apply", "--whitespace=nowarn", str(file)]
                subprocess.run(apply, cwd=f"{folder}/qemu", check=True)
            for name in touched:
                built = ROOT / "build/qemu-src" / name
                self.assertEqual(Path(folder, "qemu", name).read_bytes(), built.read_bytes(), name)

    def test_qemus_own_style(self) -> None:
        """Run checkpatch.pl, and ignore its false reports."""
        known = ("does MAINTAINERS need updating", "GRAPH_RDLOCK nvme_nand_ssd(", "FILE: scripts/meson-buildoptions.sh")
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([str(PATCHES / "make-patches.sh"), folder], check=True)
            for name in names():
                done = subprocess.run(
                    ["perl", "scripts/checkpatch.pl", "--no-tree", "--quiet", "--no-summary", f"{folder}/{name}"],
                    cwd=ROOT / "build/qemu-src", capture_output=True, text=True, check=False,
                )
                texts = done.stdout.split("\n\n")
                found = [text for text in texts if re.search("^(ERROR|WARNING)", text, re.MULTILINE)]
                self.assertEqual([text for text in found if not any(word in text for word in known)], [], name)

    def test_series_names_every_patch(self) -> None:
        self.assertEqual(names(), sorted(p.name for p in PATCHES.glob("*.patch")))
        self.assertEqual([int(name[:4]) for name in names()], list(range(1, len(names()) + 1)))

    def test_the_first_patches_stand_alone(self) -> None:
        """The first patches do not depend on Slate: they are for any NVMe controller."""
        for name in names()[: names().index(DRIVER)]:
            self.assertNotIn("nand-ssd", (PATCHES / name).read_text(encoding="utf-8"), name)

    def test_the_driver_uses_no_name_of_later_patches(self) -> None:
        """The driver's files come with their patch, so what they use of QEMU's headers must be there by then."""
        source = "".join(path.read_text(encoding="utf-8") for path in (PATCHES / "src").rglob("*.[ch]"))
        for name in names()[names().index(DRIVER) + 1 :]:
            parts = re.split(r"(?m)^diff --git ", (PATCHES / name).read_text(encoding="utf-8"))
            added = "".join(part for part in parts if part.startswith("a/include/"))
            for defined in re.findall(r"(?m)^\+(?:#define\s+|\s+)([A-Z][A-Z0-9_]+)\b", added):
                self.assertNotRegex(source, rf"\b{defined}\b", name)

    def test_a_path_that_qemu_can_not_be_built_in(self) -> None:
        """The path is refused at once. QEMU's configure would refuse it only after fetching and unpacking."""
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
            self.assertRegex(head, r"(?m)^Signed-off-by: \S", patch.name)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Run the qtests that patches of hw/nvme add to QEMU's own: each fails without its patch."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import tempfile
import unittest

from support import QEMU, ROOT, TIMEOUT

PROGRAM = QEMU / "nvme-command-test"
PATCHES = ROOT / "qemu-patches"
ADDED = re.compile(r'^\+ +qtest_add_func\("nvme/([^"]+)"', re.MULTILINE)


def added() -> dict[str, list[str]]:
    """Return the qtests that each patch adds, by the patch's number."""
    return {
        file.name[:4]: ADDED.findall(file.read_text(encoding="utf-8")) for file in sorted(PATCHES.glob("00*.patch"))
    }


class Mends(unittest.TestCase):
    """Patches 0001 to 0015 mend upstream's code (qemu-patches/DESIGN.md)."""

    def test_each_mend_has_its_qtests(self) -> None:
        """A subject's patch has a test for each fault that qtest can show: 18 in the first ten."""
        found = {number: len(names) for number, names in added().items() if names}
        counts = (1, 3, 2, 1, 1, 2, 1, 3, 3, 1)
        self.assertEqual(found, {f"{number:04}": count for number, count in enumerate(counts, 1)})


@unittest.skipUnless(PROGRAM.exists(), "this build of QEMU has no qtests")
class Qtests(unittest.TestCase):
    """Test hw/nvme on QEMU's own backends, without a drive of flash."""

    def test_each(self) -> None:
        with tempfile.TemporaryDirectory(prefix="slate-qtest-") as folder:
            done = subprocess.run(
                [*TIMEOUT, str(PROGRAM), "--tap"],
                env=os.environ | {"QTEST_QEMU_BINARY": str(QEMU / "qemu-system-x86_64"), "TMPDIR": folder},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        passed = re.findall(r"^ok \d+ /x86_64/nvme/(\S+)$", done.stdout, re.MULTILINE)
        self.assertEqual(sorted(passed), sorted(itertools.chain(*added().values())), said)
        self.assertEqual(len(set(passed)), 18)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""The qtests that patches of hw/nvme add to QEMU's own: each fails without its patch."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import unittest

from support import QEMU, ROOT, TIMEOUT

PROGRAM = QEMU / "nvme-command-test"
PATCHES = ROOT / "qemu-patches"
ADDED = re.compile(r'^\+ +qtest_add_func\("nvme/([^"]+)"', re.MULTILINE)


@unittest.skipUnless(PROGRAM.exists(), "this build of QEMU has no qtests")
class Qtests(unittest.TestCase):
    """hw/nvme on QEMU's own backends, without a drive of flash."""

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
        added = [
            name
            for patch in sorted(PATCHES.glob("00*.patch"))
            for name in ADDED.findall(patch.read_text(encoding="utf-8"))
        ]
        self.assertEqual(passed, added, said)
        self.assertEqual(len(set(passed)), 15)


if __name__ == "__main__":
    unittest.main()

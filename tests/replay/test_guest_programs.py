# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs that CMake builds for the guest have the same bytes in every folder in which the
tree may be.

A guest reads its programs in virtual time: with one byte more in one of them, or another hash,
a run in another checkout is another run, and an id of 'slate cuts' names another cut.
"""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import PLAIN, ROOT

BUILD_SH = (ROOT / "host-tools" / "guest" / "build.sh").read_text(encoding="utf-8")
PROGRAMS = [*re.search(r'^OURS="(.*)"$', BUILD_SH, re.M)[1].split(), "fsyncs"]


def readelf(option: str, path: Path) -> str:
    """Return the output of readelf."""
    return subprocess.run(["readelf", option, path], capture_output=True, text=True, timeout=60, check=True).stdout


class GuestPrograms(unittest.TestCase):
    """Compare the stripped programs, as they are in the guest."""

    def test_neither_path_nor_build_id(self) -> None:
        self.assertEqual(PROGRAMS, ["slate-load", "slatectl", "fsyncs"])
        with tempfile.TemporaryDirectory() as folder:
            for name in PROGRAMS:
                with self.subTest(name):
                    plain = Path(folder) / name
                    subprocess.run(["strip", "-o", plain, PLAIN / name], timeout=60, check=True)
                    self.assertFalse(f"{ROOT}/".encode() in plain.read_bytes(), f"{ROOT} is in {name}")
                    self.assertIn("Displaying notes", readelf("--notes", plain))
                    self.assertNotIn("Build ID", readelf("--notes", plain), "a hash of its debug information, too")

    def test_what_goes_in_as_it_is_is_stripped(self) -> None:
        sections = readelf("--section-headers", PLAIN / "fsyncs")
        self.assertIn(".text", sections)
        self.assertNotRegex(sections, r"\.(debug_\w+|symtab)\b")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/adding-a-nand-command.md lists every source file that names the copyback, its example."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "adding-a-nand-command.md"
FOLDERS = ("nand-emu", "ftl", "host-tools", "qemu-patches/src")
COMMAND = re.compile(r"\bNAND_(COPYBACK|NOPS)\b")
NAMES = re.compile(COMMAND.pattern + r"|copybacks?\b")  # in FTLs the word means the setting, too


def sources():
    """The files of the drive and its tools that name the operation or count operations."""
    return {
        str(path.relative_to(ROOT))
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".c", ".h", ".py")
        and (COMMAND if folder == "ftl" else NAMES).search(path.read_text(encoding="utf-8"))
    }


class List(unittest.TestCase):
    """The table of files in the document."""

    def test_it_is_complete_and_has_no_other(self):
        part = PAGE.read_text(encoding="utf-8").partition("\n## 7. ")[2].partition("\n## 8. ")[0]
        rows = [line for line in part.splitlines() if line.startswith("| `")]
        listed = {name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])}
        found = sources()
        self.assertEqual(sorted(found - listed), [], "name the operation, and are not in the table")
        self.assertEqual(sorted(listed - found), [], "are in the table, and do not name the operation")


if __name__ == "__main__":
    unittest.main()

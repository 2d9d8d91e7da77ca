# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/adding-a-nand-command.md lists every source file that names the copyback, its example.

A source of commands is one row of NAND_SOURCES, as the same page says.
"""

import re
import shutil
import subprocess
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "adding-a-nand-command.md"
FOLDERS = ("nand-emu", "ftl", "host-tools", "qemu-patches/src")
COMMAND = re.compile(r"\bNAND_(COPYBACK|NOPS)\b")
NAMES = re.compile(COMMAND.pattern + r"|copybacks?\b")  # in FTLs the word means the setting, too


def sources() -> set[str]:
    """Return the files of the drive and its tools that name the operation or count operations."""
    return {
        str(path.relative_to(ROOT))
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".c", ".h", ".py")
        and (COMMAND if folder == "ftl" else NAMES).search(path.read_text(encoding="utf-8"))
    }


class List(unittest.TestCase):
    """Test the table of files in the document."""

    def test_it_is_complete_and_has_no_other(self) -> None:
        part = PAGE.read_text(encoding="utf-8").partition("\n## 7. ")[2].partition("\n## 8. ")[0]
        rows = [line for line in part.splitlines() if line.startswith("| `")]
        listed = {name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])}
        found = sources()
        self.assertEqual(sorted(found - listed), [], "name the operation, and are not in the table")
        self.assertEqual(sorted(listed - found), [], "are in the table, and do not name the operation")


HEADER = ROOT / "nand-emu" / "nand_counters.h"
LISTS = ("nand-emu", "ftl", "host-tools", "qemu-patches")
NAMED = re.compile(r"""["'](host|gc|wl|meta|backup|map)["']|\bNAND_SRC_(HOST|GC|WL|META|BACKUP|MAP)\b""")
OF_TABLE = re.compile(r"\bNAND_NSOURCES\b|\bNAND_SOURCES\(|\bSLATE_WIRE_SOURCES\b|\bTRACE_END_SOURCES\b")
INCLUDES = ("nand-emu", "ftl/common", "ftl/page", "ftl/page/map", "ftl/page/mount", "ftl/direct", "ftl/dac", "ftl/zns",
            "host-tools/libslate", "host-tools/trace", "host-tools/replay", "host-tools/ctl")  # fmt: skip


def lists_of_sources() -> Iterator[Any]:
    """Yield the places where five lines in a row name four or more sources."""
    for path in (path for folder in LISTS for path in (ROOT / folder).rglob("*")):
        if path.suffix not in (".c", ".h", ".py", ".sh", ".patch"):
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        for i in range(len(lines)):
            text = "\n".join(lines[i : i + 5])
            found = [] if '"pad"' in text else NAMED.findall(text)  # with "pad": parts of the WAF, which the FTL counts
            if len({(quoted or named).lower() for quoted, named in found}) >= 4:
                yield f"{path.relative_to(ROOT)}:{i + 1}"


class Sources(unittest.TestCase):
    """NAND_SOURCES."""

    def test_there_is_no_other_list(self) -> None:
        self.assertEqual([*lists_of_sources()], [])

    def test_a_new_row_suffices(self) -> None:
        """Add a row to a copy of the header. Every file that uses the table compiles, and the programs print it."""
        files = [
            path
            for folder in LISTS[:-1]
            for path in (ROOT / folder).rglob("*.c")
            if OF_TABLE.search(path.read_text(encoding="utf-8"))
        ]
        self.assertIn(ROOT / "host-tools/replay/report.c", files)
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(ROOT / "nand-emu", f"{folder}/nand-emu", ignore=shutil.ignore_patterns("profiles"))
            row = '\tX(SCRUB, scrub, IF_ANY, "scrubbing", "Reads that look for errors.") \\\n'
            text = HEADER.read_text(encoding="utf-8")
            self.assertEqual(text.count(" \\\n\t/* a new row goes here */\n\n/* These are counted by source."), 1)
            new = text.replace("\t/* a new row goes here */", row + "\t/* a new row goes here */", 1)
            Path(folder, "nand-emu/nand_counters.h").write_text(new, encoding="utf-8")
            places = [f"-I{Path(folder, 'nand-emu') if name == 'nand-emu' else ROOT / name}" for name in INCLUDES]
            for path in files:
                known = [f"{folder}/nand-emu/{path.name}"] if path.parent == ROOT / "nand-emu" else [str(path)]
                compile_only = ["gcc", "-std=gnu11", "-fsyntax-only", "-Wall", "-Werror", *places, *known]
                done = subprocess.run(compile_only, capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""), path)
            schema = f"{folder}/schema"
            subprocess.run(["gcc", *places, "-o", schema, str(ROOT / "qemu-patches/schema.c")], check=True)
            printed = subprocess.run([schema], capture_output=True, text=True, check=True).stdout
            self.assertIn("'scrub': 'NandSsdSourceStats' }", printed)
            self.assertIn("# @scrub: Reads that look for errors.", printed)
            self.assertIn("'scrub': 'uint64' }", printed)


if __name__ == "__main__":
    unittest.main()

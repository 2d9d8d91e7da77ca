# SPDX-License-Identifier: GPL-2.0-or-later
"""The manuals and --help say the same."""

import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "host-tools"), str(ROOT / "host-tools" / "install")]

import manual
from slate_lib import cli

CORE = ROOT / "build" / "core"
PAGES = ROOT / "host-tools" / "install"


class Manuals(unittest.TestCase):
    """slate-load and slatectl are in tests/replay."""

    def test_programs(self) -> None:
        for name, least in (("slate-replay", 30), ("slate-content", 3), ("slate-trace", 4)):
            with self.subTest(name=name):
                told = manual.told(manual.help_of(CORE / name))
                self.assertEqual(told, manual.written(PAGES / f"{name}.1"))
                self.assertGreaterEqual(len(told), least)

    def test_slate(self) -> None:
        """slate.1 is made from the parser: it has the options of every command's --help."""
        page = subprocess.run([PAGES / "manual.py"], capture_output=True, text=True, check=True).stdout
        plain = page.replace("\\-", "-").replace("\\fB", "").replace("\\fI", "").replace("\\fR", "")
        sections = dict(part.split('"', 1) for part in plain.partition(".SH FILES")[0].split('.SS "')[1:])
        seen = 0
        for words in (
            "run",
            "report",
            "compare",
            "age",
            "drive show",
            "cuts",
            "study",
            "jobs show",
            "profiles",
            "profiles show",
        ):
            text = subprocess.run(
                [ROOT / "host-tools/slate", *words.split(), "--help"], capture_output=True, text=True, check=True,
                env={"COLUMNS": "200", "PATH": "/usr/bin:/bin"},
            ).stdout
            options = manual.told(text)
            lines = sections[f"slate {words}"].splitlines()
            for option, value in options.items():
                value = value.strip("{}").replace(",", "|") if value.startswith("{") else value
                shown = f"{option} {value}".strip()
                self.assertTrue(any(shown in line for line in lines), f"{words}: {shown}")
                seen += 1
        self.assertGreater(seen, 50)
        self.assertNotIn(".SLATE-", page)

    def test_every_command_has_help(self) -> None:
        """Every command listed by 'slate --help' has a section."""
        page = subprocess.run([PAGES / "manual.py"], capture_output=True, text=True, check=True).stdout
        self.assertGreater(len(cli.COMMANDS), 10)
        for command in cli.COMMANDS:
            self.assertIn(f'.SS "slate {command.name}"', page)


if __name__ == "__main__":
    unittest.main()

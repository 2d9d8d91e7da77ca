# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the lengths that 'make lint' allows: a function of 60 lines, a file of 800."""

import sys
import tempfile
import unittest
from pathlib import Path

from support import ROOT

sys.path.insert(0, str(ROOT / "tests"))
import shape


def c_function(lines: int) -> str:
    """Return the text of a function whose head takes two lines, and each brace one."""
    return "/* What it does. */\nstatic int f(int a,\n\t     int b)\n{\n" + "\ta++;\n" * (lines - 4) + "}\n"


def python_function(lines: int) -> str:
    return "def f(a):\n" + "    a += 1\n" * (lines - 1)


class Shape(unittest.TestCase):
    def found(self, name: str, text: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, name).write_text(text, encoding="utf-8")
            c_files, python_files = ([Path(name)], []) if name.endswith(".c") else ([], [Path(name)])
            return shape.too_long(Path(folder), c_files, python_files)

    def test_a_function_in_c(self) -> None:
        other = "struct s {\n\tint a;\n};\n\n"
        self.assertEqual(self.found("a.c", other + c_function(60)), "")
        self.assertEqual(
            self.found("a.c", other + c_function(61)),
            "a.c:6: static int f(int a,: 61 lines, more than 60: split the function\n",
        )

    def test_a_function_in_python(self) -> None:
        self.assertEqual(self.found("a.py", "X = 1\n\n\n" + python_function(60)), "")
        self.assertEqual(
            self.found("a.py", "X = 1\n\n\n" + python_function(61)),
            "a.py:4: f: 61 lines, more than 60: split the function\n",
        )

    def test_a_method(self) -> None:
        method = "".join(f"    {line}\n" for line in python_function(61).splitlines())
        self.assertIn("a.py:2: f: 61 lines", self.found("a.py", "class A:\n" + method))

    def test_a_file(self) -> None:
        self.assertEqual(self.found("a.c", "int a;\n" * 800), "")
        self.assertEqual(self.found("a.c", "int a;\n" * 801), "a.c: 801 lines, more than 800: split the file\n")


if __name__ == "__main__":
    unittest.main()

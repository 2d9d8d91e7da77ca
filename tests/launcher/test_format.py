# SPDX-License-Identifier: GPL-2.0-or-later
"""Test layouts that tests/format.py accepts, and those that it reports."""

import importlib.util
import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from support import ROOT

_SPEC = importlib.util.spec_from_file_location("tests_format", ROOT / "tests" / "format.py")
layout: Any = importlib.util.module_from_spec(_SPEC)
sys.modules["tests_format"] = layout
_SPEC.loader.exec_module(layout)

# » is a tab
GOOD = """\
enum some { ONE, TWO,
»    THREE };

struct pair {
»int a;»»»/* behind a tab,
»»»» * in two lines */
»int b;»/* behind one */
};

static int f(const struct pair *p, int n)
{
»struct pair q = { .a = n, .b = 2,
»»»  .a = 3 };

»for (int i = 0; i < n; i++)
»»if (p[i].a == q.b && p[i].b < n &&
»»      p->a)
»»»return (int)~(1u << p[i].a);
»switch (n) {
»case 1:
»»return -1;
»}
»return 0;
}
""".replace("»", "\t")


@unittest.skipUnless(layout.CLANG_FORMAT.exists(), "clang-format is missing: 'make lint' installs it")
class Format(unittest.TestCase):
    def found(self, old: str = "", new: str = "") -> list[str]:
        """Return the complaints about GOOD with one text in place of another."""
        self.assertIn(old, GOOD)
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(ROOT / ".clang-format", folder)
            Path(folder, "a.c").write_text(GOOD.replace(old, new, 1), encoding="utf-8")
            complaints: str = layout.check(Path(folder), Path("a.c"))
            return complaints.splitlines()

    def test_habits_of_the_tree_pass(self) -> None:
        self.assertEqual(self.found(), [])

    def test_spaces(self) -> None:
        self.assertEqual(self.found("i < n;", "i<n;"), ["a.c:15: clang-format writes: for (int i = 0; i < n; i++)"])
        self.assertEqual(
            self.found("*p, int", "* p, int"),
            ["a.c:10: clang-format writes: static int f(const struct pair *p, int n)"],
        )

    def test_indentation(self) -> None:
        self.assertEqual(self.found("\treturn 0;", "\t\treturn 0;"), ["a.c:23: clang-format writes: return 0;"])
        self.assertEqual(self.found("\tcase 1:", "\t\tcase 1:"), ["a.c:20: clang-format writes: case 1:"])

    def test_braces(self) -> None:
        self.assertEqual(self.found("switch (n) {", "switch (n)\n\t{"), ["a.c:19: clang-format writes: switch (n) {"])

    def test_columns(self) -> None:
        name = "b" * 107
        self.assertEqual(self.found("int b;\t/* behind one */", f"int {name};"), [])  # 8 + 4 + 107 + 1
        self.assertEqual(
            self.found("int b;\t/* behind one */", f"int {name}b;"), ["a.c:7: 121 columns, more than 120"]
        )


if __name__ == "__main__":
    unittest.main()

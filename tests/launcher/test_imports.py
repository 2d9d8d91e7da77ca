# SPDX-License-Identifier: GPL-2.0-or-later
"""Test what 'make lint' finds of cycles of imports."""

import sys
import unittest

from support import ROOT

sys.path.insert(0, str(ROOT / "tests"))
import imports


class Imports(unittest.TestCase):
    def test_the_forms_of_an_import(self) -> None:
        texts = {"a": "from . import b, errors\nfrom .c import one\nimport p.d\nimport os\n", "b": "", "c": "", "d": "",
                 "s.e": "from ..a import two\nfrom .f import three\nfrom .. import b\n", "s.f": ""}  # fmt: skip
        self.assertEqual(imports.arrows(texts, "p"), {"a": {"b", "c", "d"}, "b": set(), "c": set(), "d": set(),
                                                      "s.e": {"a", "b", "s.f"}, "s.f": set()})  # fmt: skip

    def test_imports_in_functions_count(self) -> None:
        texts = {"a": "from . import b\n", "b": "def run():\n    from . import a\n", "c": "from . import a\n"}
        self.assertEqual([line.partition(":")[0] for line in imports.cycles(imports.arrows(texts, "p"))], ["a", "b"])

    def test_imports_for_annotations_do_not(self) -> None:
        texts = {"a": "from . import b\n", "b": "if TYPE_CHECKING:\n    from .a import One\nelse:\n    One = None\n"}
        self.assertEqual(imports.cycles(imports.arrows(texts, "p")), [])

    def test_folders(self) -> None:
        """Two folders may have a cycle although their modules have none."""
        texts = {"a.one": "from p.b import two\n", "b.two": "from p import places\n",
                 "b.three": "from p.a import one\n",
                 "places": "", "c.four": "from p import places\nfrom p.c import five\n", "c.five": ""}  # fmt: skip
        to = imports.arrows(texts, "p")
        self.assertEqual(imports.cycles(to), [])
        self.assertEqual(imports.of_folders(to), {"a": {"b"}, "b": {"a", "places"}, "c": {"places"}, "places": set()})
        self.assertEqual([line.partition(":")[0] for line in imports.cycles(imports.of_folders(to))], ["a", "b"])


if __name__ == "__main__":
    unittest.main()

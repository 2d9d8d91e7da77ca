# SPDX-License-Identifier: GPL-2.0-or-later
"""Test what 'make lint' finds of calls between files of the core, and of labels of invariants."""

import sys
import tempfile
import unittest
from pathlib import Path

from support import ROOT

sys.path.insert(0, str(ROOT / "tests"))
import rooms


def c_file(own: str, *called: str, static: str = "") -> str:
    """Return a file with a function that calls others."""
    other = f"static void {static}(void)\n{{\n}}\n\n" if static else ""
    return other + f"void {own}(int one,\n\t  int two)\n{{\n" + "".join(f"\t{name}();\n" for name in called) + "}\n"


class Rooms(unittest.TestCase):
    def test_a_stair_has_no_circle(self) -> None:
        """a -> b -> c, and a -> c."""
        texts = {"ftl/x/a.c": c_file("a", "b", "c"), "ftl/x/b.c": c_file("b", "c"), "ftl/x/c.c": c_file("c")}
        self.assertEqual(rooms.arrows(texts), {"ftl/x/a.c": {"ftl/x/b.c", "ftl/x/c.c"}, "ftl/x/b.c": {"ftl/x/c.c"},
                                               "ftl/x/c.c": set()})  # fmt: skip
        self.assertEqual(rooms.faults(texts, {}, {}), [])

    def test_a_circle(self) -> None:
        """a -> b -> c -> a, and d -> a: three files in a circle, three arrows in it."""
        texts = {"ftl/x/a.c": c_file("a", "b"), "ftl/x/b.c": c_file("b", "c"), "ftl/x/c.c": c_file("c", "a"),
                 "ftl/x/d.c": c_file("d", "a")}  # fmt: skip
        self.assertEqual(rooms.circles(rooms.arrows(texts)), (3, 3))
        self.assertEqual(rooms.faults(texts, {"ftl/x": (3, 3)}, {}), [])
        for limit in ((2, 3), (3, 2)):
            (found,) = rooms.faults(texts, {"ftl/x": limit}, {})
            self.assertIn(f"ftl/x: 3 files in circles with 3 arrows, more than {limit[0]} with {limit[1]}: ", found)

    def test_what_is_no_call(self) -> None:
        """Comments, strings, types, and a function of the file itself that has another's name."""
        texts = {"ftl/x/a.c": '/* b() */\n// b()\nchar *s = "b()";\nstruct b *t;\n\n' + c_file("a"),
                 "ftl/x/b.c": c_file("b", "a", static="c"), "ftl/y/c.c": c_file("c")}  # fmt: skip
        self.assertEqual(rooms.arrows(texts), {"ftl/x/a.c": set(), "ftl/x/b.c": {"ftl/x/a.c"}, "ftl/y/c.c": set()})

    def test_inline_functions(self) -> None:
        """a names the inline function f of a header, which names g of another one, which names b."""
        head = "static inline void {}(void)\n{{\n\t{}();\n}}\n"
        texts = {"ftl/x/a.c": c_file("a", "f"), "ftl/x/b.c": c_file("b"), "ftl/x/a.h": head.format("f", "g"),
                 "ftl/x/b.h": "/* g() */\n" + head.format("g", "b")}  # fmt: skip
        self.assertEqual(rooms.arrows(texts), {"ftl/x/a.c": {"ftl/x/b.c"}, "ftl/x/b.c": set()})

    def test_engines_share_common_alone(self) -> None:
        texts = {"ftl/x/a.c": c_file("a", "b", "c"), "ftl/y/b.c": c_file("b"), "ftl/common/c.c": c_file("c")}
        self.assertEqual(rooms.faults(texts, {}, {}), [
            "ftl/x/a.c: names a function of ftl/y/b.c: engines share ftl/common alone\n"])  # fmt: skip
        texts["ftl/common/c.c"] = c_file("c", "b")
        self.assertEqual(len(rooms.faults(texts, {}, {})), 2)

    def test_floors(self) -> None:
        """map is below page, and page below mount; an arrow from map to page goes up."""
        texts = {"ftl/page/map/a.c": c_file("a", "b"), "ftl/page/b.c": c_file("b"),
                 "ftl/page/mount/c.c": c_file("c", "a", "b")}  # fmt: skip
        self.assertEqual(rooms.upward(rooms.arrows(texts)), [("ftl/page/map/a.c", "ftl/page/b.c")])
        self.assertEqual(rooms.faults(texts, {}, {"ftl/page": 1}), [])
        self.assertEqual(rooms.faults(texts, {}, {}), [
            "ftl/page/map/a.c: names a function of ftl/page/b.c, which is on a higher floor: 1 such arrows, more than "
            "0 (tests/rooms.py)\n"])  # fmt: skip

    def test_a_file_on_another_floor_than_its_folder(self) -> None:
        """level.c is on the ground, below place.c in the same folder."""
        texts = {
            "ftl/page/level.c": c_file("a", "b"),
            "ftl/page/place.c": c_file("b"),
            "ftl/page/map/c.c": c_file("c", "a"),
        }
        self.assertEqual(rooms.upward(rooms.arrows(texts)), [("ftl/page/level.c", "ftl/page/place.c")])

    def test_a_circle_through_two_rooms(self) -> None:
        texts = {"ftl/page/map/a.c": c_file("a", "b"), "ftl/page/b.c": c_file("b", "a")}
        (found,) = rooms.faults(texts, {}, {"ftl/page": 1})
        self.assertIn("ftl/page: 2 files in circles with 2 arrows, more than 0 with 0: ", found)

    def test_a_function_of_one_room(self) -> None:
        """Files of its room may name it, inline functions of headers, and comments."""
        texts = {"ftl/x/map/a.c": c_file("a", "is_so"), "ftl/x/b.c": "/* is_so() */\n" + c_file("b"),
                 "ftl/x/map/a.h": "static inline void f(void)\n{\n\tis_so();\n}\n"}  # fmt: skip
        self.assertEqual(rooms.outside(texts, {"is_so": "ftl/x/map/"}), [])
        texts["ftl/x/b.c"] = c_file("b", "is_so")
        self.assertEqual(rooms.outside(texts, {"is_so": "ftl/x/map/"}), [
            "ftl/x/b.c: names is_so(), which is for ftl/x/map/\n"])  # fmt: skip

    def test_a_header_for_each_file(self) -> None:
        """b.h declares a function of a.c; static functions, inline ones, and headers of several files may."""
        texts = {"ftl/x/a.c": c_file("a", static="d"), "ftl/x/a.h": "int a(int one,\n      int two) SSD_MUST_CHECK;\n",
                 "ftl/x/b.h": "/* void a(void); */\nvoid c(void);\nstatic inline void d(void)\n{\n\ta();\n}\n",
                 "ftl/common/ftl.h": "void a(void);\n"}  # fmt: skip
        self.assertEqual(rooms.elsewhere(texts), [])
        texts["ftl/x/b.h"] += "struct s *a(\n\tvoid);\n"
        self.assertEqual(rooms.elsewhere(texts), [
            "ftl/x/b.h: declares a(), which is in ftl/x/a.c: declare it in ftl/x/a.h (tests/rooms.py)\n"])  # fmt: skip

    def test_labels(self) -> None:
        one = "/*\n *   A1  what holds;\n *   A10 what holds, too;\n * A1 is meant here, A1 there.\n */\n"
        self.assertEqual(rooms.repeated({"a.h": one, "a.c": "/* A1 */\n"}), [])
        self.assertEqual(rooms.repeated({"a.h": one, "b.h": "/*\n * A1  else\n *   B1  else\n */\n"}), [
            "A1: defined in a.h and b.h: give one of them another label\n"])  # fmt: skip

    def test_labels_in_a_line(self) -> None:
        line = "/*\n * Invariants. A1: what holds. A2, A3: what holds\n */\n"
        self.assertEqual(list(rooms.labels(line)), ["A1", "A2", "A3"])
        self.assertEqual(list(rooms.labels("/*\n * a.c  R1 and R2: which page\n */\n/* A1: see a.h */\n")), [])

    def test_of_a_tree(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("ftl/x/a.c", c_file("a", "b")), ("ftl/x/b.c", c_file("b", "a"))):
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            found = rooms.check(Path(folder), [Path("ftl/x/a.c"), Path("ftl/x/b.c"), Path("README.md")])
        self.assertIn("ftl/x: 2 files in circles with 2 arrows, more than 0 with 0: ", found)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test what the papers say, against the stored tables and those of the quick studies.

host-tools/reproduce/claims has a verdict for every claim. The test fails if a result has another verdict than the
file: if a direction is the opposite one, if a size has left or entered the band, or if a listed deviation is gone.
"""

import csv
import re
import tempfile
import unittest
from pathlib import Path
from typing import Any

import support

import quick
from reproduce.pages import summary
from reproduce.papers import claims
from reproduce.papers.claims import Cell, Claim, Tables
from reproduce.papers.study import KINDS

RESULTS = support.ROOT / "docs/results"
HEAD = "accounting,trace,what,unit,paper,ours,ratio,low,high\n"


def claim(**more: Any) -> Claim:
    """Return one claim of a study."""
    usual = {"id": "pen.x", "figure": "x", "says": "", "source": "", "verdict": "agrees", "row": ["pen/t", "a", "w"]}
    return Claim(**usual | more)


def table(*rows: Any) -> Any:
    """Return tables with one table pen/t, which has these rows of (trace, what, unit, ours)."""
    made = Tables()
    made.add("pen/t", HEAD + "".join(f"device,{t},{w},{u},,{o},,,\n" for t, w, u, o in rows))
    return made


class Stored(unittest.TestCase):
    """Compare claims with the tables in docs/results."""

    every, more = claims.load()
    tables = claims.stored(RESULTS)

    def test_every_verdict_is_what_the_tables_say(self) -> None:
        for one in self.every:
            with self.subTest(one.id):
                self.assertEqual(
                    claims.check(one, self.tables), one.verdict,
                    f"{one.says}: the file lists {one.verdict}; if the tables are meant to have changed, change that",
                )  # fmt: skip

    def test_a_deviation_has_a_cause_and_its_experiment_exists(self) -> None:
        known = {cell[0] for cell in self.tables.cells}
        for one in self.every:
            with self.subTest(one.id):
                self.assertEqual(bool(one.cause), one.verdict != "agrees")
                self.assertLessEqual(set(one.shown), known)

    def test_gftl_without_its_buffer_is_not_compared(self) -> None:
        """The notes of figure 12c say that its direction rests on the missing buffer."""
        (one,) = (one for one in self.every if one.id == "pen.12c.gftl")
        self.assertEqual((one.verdict, one.shown), ("unknown", ["pen-choices/gftl"]))

    def test_every_row_is_there(self) -> None:
        refs = [(one.id, ref) for one in self.every for ref in one.refs()]
        for one in self.more["assumption"]:
            refs += [(one["what"], ref) for ref in (one["row"], *(ref for _, ref in one["rows"]))]
        for name, ref in refs:
            with self.subTest(name):
                self.assertIsNotNone(self.tables.find(ref), ref)

    def test_every_published_number_of_a_figure_is_claimed(self) -> None:
        """Only the papers' figures count: bands, studies of assumptions and earlier results repeat their claims."""
        have = {(one.study, one.paper) for one in self.every}
        have |= {(one.study, float(one.want.split()[1])) for one in self.every if one.want and not one.rows}
        left_out = {kind.earlier[0] for kind in KINDS.values() if kind.earlier}
        left_out |= {name for name, kind in KINDS.items() if kind.banded}
        for path in sorted(path for path in RESULTS.glob("*/fig*.csv") if path.parent.name not in left_out):
            for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
                if re.fullmatch(r"-?[0-9.]+", row.get("paper") or ""):
                    with self.subTest(f"{path.parent.name}/{path.stem} {row['trace']} {row['what']}"):
                        self.assertIn((path.parent.name, float(row["paper"])), have)

    def test_worked_examples_are_tested(self) -> None:
        for one in self.every:
            if one.test:
                path, _, name = one.test.partition(": ")
                self.assertIn(name, (support.ROOT / path).read_text(encoding="utf-8"), one.id)

    def test_page(self) -> None:
        self.assertEqual(
            (RESULTS / "README.md").read_text(encoding="utf-8"), summary.page(self.every, self.more, self.tables),
            "'make reproduce-summary' writes it again",
        )  # fmt: skip


class Quick(unittest.TestCase):
    """Compare claims with the rows of the quick studies. Only directions are compared, because traces are fewer.
    have fewer traces.
    """

    def test_directions(self) -> None:
        every, _ = claims.load()
        looked = 0
        for study in claims.STUDIES:
            tables = claims.quick(study, quick.expected(study).read_text(encoding="utf-8"))
            for one in every:
                found = claims.check(one, tables) if one.study == study and not one.test else "unknown"
                if found != "unknown":
                    looked += 1
                    with self.subTest(one.id):
                        self.assertEqual(found == "sign", (one.quick or one.verdict) == "sign")
        self.assertGreater(looked, 50)


class Rules(unittest.TestCase):
    """Test check() on rows made by hand."""

    def test_a_change(self) -> None:
        # The paper has -20 %. -16 is 4/5 of it, -25 is 5/4, and +1 has the other sign.
        for ours, want in ((-16, "agrees"), (-25, "agrees"), (-15.9, "size"), (-25.1, "size"), (1, "sign")):
            self.assertEqual(claims.check(claim(paper=-20), table(("a", "w", "%", ours))), want, ours)
        # The paper has -4 %. -1.5 is only 0.375 of it, but is within 3 percentage points.
        self.assertEqual(claims.check(claim(paper=-4), table(("a", "w", "%", -1.5))), "agrees")
        self.assertEqual(claims.check(claim(paper=-4), table(("a", "w", "%", 0.5))), "sign")

    def test_a_quotient(self) -> None:
        # 1.43 is an effect of 43 %. 1.344 has 34.4 %, 4/5 of it, and 1.5375 has 53.75 %, 5/4 of it.
        for ours, want in ((1.345, "agrees"), (1.34, "size"), (1.537, "agrees"), (1.54, "size"), (0.99, "sign")):
            self.assertEqual(claims.check(claim(paper=1.43), table(("a", "w", "x", ours))), want, ours)

    def test_a_share(self) -> None:
        # the ratios are 1.2 with 16 points and 1.15 with 9 points; a change of the same numbers would agree
        self.assertEqual(claims.check(claim(paper=79, form="share"), table(("a", "w", "%", 95))), "size")
        self.assertEqual(claims.check(claim(paper=60, form="share"), table(("a", "w", "%", 69))), "agrees")
        self.assertEqual(claims.check(claim(paper=0.18, form="share"), table(("a", "w", "share", 0.27))), "size")
        self.assertEqual(claims.check(claim(paper=0.79, form="share"), table(("a", "w", "share", 0.95))), "size")

    def test_seeds_reach_the_number(self) -> None:
        cell = Cell("x", 1.2, 1.1, 1.5)
        made = Tables({("pen/t", "device", "a", "w", "x"): cell})
        self.assertEqual(claims.check(claim(paper=1.45), made), "agrees")
        self.assertEqual(claims.check(claim(paper=1.55), made), "size")

    def test_orders(self) -> None:
        rows = [["pen/t", "a", what] for what in "abc"]
        for values, good in (
            ((1, 2, 3), {"rising", "lowest"}),
            ((3, 2, 1), {"falling", "highest"}),
            ((2, 2, 2.4), {"level"}),
            ((2, 1, 3), set()),
        ):
            made = table(*(("a", what, "ms", value) for what, value in zip("abc", values)))
            for want in claims.ORDERS:
                found = claims.check(claim(row=[], rows=rows, want=want), made)
                self.assertEqual(found, "agrees" if want in good else "sign", (values, want))
        made = table(("a", "a", "ms", 1))
        self.assertEqual(claims.check(claim(row=[], rows=rows, want="rising"), made), "unknown")

    def test_bounds(self) -> None:
        made = table(("a", "w", "x", 0.4))
        for want, form, verdict in (
            ("< 1", "", "agrees"), ("> 1", "", "sign"), ("<= 0.4", "size", "agrees"), ("< 0.4", "size", "size"),
        ):  # fmt: skip
            self.assertEqual(claims.check(claim(want=want, form=form), made), verdict)

    def test_a_row_of_another_mechanism(self) -> None:
        """A row of another mechanism is shown, and does not decide the verdict."""
        made = table(("a", "w", "x", 0.4))
        for more in ({"want": "< 1"}, {"want": "> 1"}, {"paper": 0.4}):
            self.assertEqual(claims.check(claim(form="other", **more), made), "unknown")
        found = summary.claim_line(claim(form="other", want="< 1", verdict="unknown"), "why", made)
        self.assertEqual(found, "| x |  | < 1 | 0.4 |  | unknown | why |")

    def test_against_another_row(self) -> None:
        made = table(("a", "w", "share", 0.05), ("a", "v", "share", 0.15))
        self.assertEqual(claims.check(claim(over=["pen/t", "a", "v"], paper=-67), made), "agrees")
        self.assertEqual(claims.check(claim(over=["pen/t", "a", "v"], paper=-20), made), "size")

    def test_units_and_accountings(self) -> None:
        made = table(("mix a", "w", "x", 2), ("mix a", "w", "%", -50))
        self.assertEqual(made.find(["pen/t", "a", "w", "x"]).ours, 2)
        self.assertEqual(made.find(["pen/t", "a", "w", "%"]).ours, -50)
        self.assertIsNone(made.find(["pen/t", "a", "w", "ssdsim"]))

    def test_table_5_by_length(self) -> None:
        made = Tables()
        rows = ("table5-share,iot,128,paper,0.63", 'table5-share,iot,128,"DAC, unlimited",0.7', "fig28,pc,128,DAC,2")
        made.add_long("\n".join(("table,trace,mib,what,value", *rows)))
        cell = made.find(["dac-long/table5-share", "iot", "DAC, unlimited, 128 MiB"])
        self.assertEqual((cell, len(made.cells)), (Cell("share", 0.7), 1))

    def test_traces_that_changed(self) -> None:
        self.assertEqual(claims.moved("%", [0, -0.9, 1, -30]), [1, -30])
        self.assertEqual(claims.moved("x", [1, 1.009, 0.99, 1.5]), [0.99, 1.5])
        made = table(("a", "w", "%", 1), ("average", "w", "%", 2), ("b", "w", "%", 3))
        self.assertEqual(made.traces(["pen/t", "average", "w"]), [1, 3])

    def test_overloaded(self) -> None:
        made = table(("a", "w", "requests", 32), ("b", "w", "requests", 33))
        self.assertEqual(claims.overloaded(claim(load=["pen/t", "w", "32"]), made), ["b"])

    def test_what_the_page_counts(self) -> None:
        made = table(("a", "w", "%", -20), ("a", "v", "%", -40))
        off = claim(id="pen.z", paper=-30, band=[["pen/t", "a", "v"]])
        some = [claim(paper=-20), claim(id="pen.y", paper=20, shown=["pen/t"]), off]
        self.assertEqual(
            summary.counts(some, made), {"agrees": 1, "size": 1, "sign": 1, "unknown": 0, "band": 1, "shown": 1}
        )

    def test_bad_files(self) -> None:
        with self.assertRaisesRegex(claims.ClaimError, "verdict 'good' is not one of agrees"):
            self.read(verdict="good")
        with self.assertRaisesRegex(claims.ClaimError, "want '1 <' is no"):
            self.read(want="1 <")
        with self.assertRaisesRegex(claims.ClaimError, "stands in rps.toml"):
            self.read(want="< 1")

    def read(self, **more: Any) -> Any:
        """Read a file of one claim."""
        keys = {"id": "pen.x", "figure": "1", "says": "s", "source": "s", "verdict": "agrees"} | more
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rps.toml"
            lines = [f'{key} = "{value}"\n' for key, value in keys.items()]
            path.write_text("[[claim]]\n" + "".join(lines), encoding="utf-8")
            return claims.read(path)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test bands over seeds and fits of stand-ins: their traces, their rows, and what a claim takes from them."""

import subprocess
import sys
import unittest
from typing import Any

import support

from reproduce.pages import summary
from reproduce.papers import bands, claims, figures, study
from reproduce.rows import compare, measures
from reproduce.rows.points import Trace
from reproduce.traces import fits
from test_claims import claim


def erased(aep: float) -> dict[str, Any]:
    """Return a result with this many erases of a page."""
    return {"wear": {"aep": aep}}


class Traces(unittest.TestCase):
    """Test the variants of a stand-in and the options that make them."""

    def test_variants(self) -> None:
        groups = bands.variants((Trace("a"), Trace("b", (("burst", 1),))), 3)
        self.assertEqual(
            [trace.tag for trace in groups["seeds"]],
            ["a", "b,burst=1", "a,seed=2", "b,burst=1,seed=2", "a,seed=3", "b,burst=1,seed=3"],
        )
        self.assertEqual(
            [trace.tag for trace in groups["fits"]],
            [f"{volume},like={name}{more}" for name in fits.load() for volume, more in (("a", ""), ("b", ",burst=1"))],
        )

    def test_options(self) -> None:
        made = Trace("a", (("burst", 1), ("seed", 2)), like="web")
        self.assertEqual(made.options, ("--like", "web", "--set", "burst=1", "--seed", "2"))
        self.assertEqual(Trace("a").options, ())

    def test_points(self) -> None:
        """A quick band of one figure: two configurations, four volumes, five seeds and eight fits."""
        some = study.Study("pen-bands", True, 32)
        self.assertEqual(len(some.points()), 2 * 4 * (5 + len(fits.load())))
        self.assertEqual(len(study.Study("pen-bands", True, 32, seeds=2).points()), 2 * 4 * (2 + len(fits.load())))
        some = study.Study("ippbe-bands", True, 32)  # two configurations, three volumes
        self.assertEqual(len(some.points()), 2 * 3 * (5 + len(fits.load())))

    def test_every_figure_with_a_number_has_a_band(self) -> None:
        have = {"pen": {one.name for one in bands.pen(32)}, "ippbe": {one.name for one in bands.ippbe(32)}}
        every, _ = claims.load()
        for one in every:
            if one.study in have and one.paper is not None:
                self.assertIn(one.row[0].removeprefix(f"{one.study}/"), have[one.study])

    def test_bad_input(self) -> None:
        for args, said in (
            (("--traces", "/"), "TRACES=/: pen-bands is over fits and seeds of stand-ins: leave TRACES out"),
            (("--seeds", "1"), "--seeds 1: a band needs 2 or more"),
        ):
            command = [sys.executable, str(support.REPRODUCE), "run", "pen-bands", *args]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (2, f"reproduce run: {said}\n"))


class Rows(unittest.TestCase):
    """Test the rows of a band, computed by hand."""

    def setUp(self) -> None:
        # AEP of PEN / NFTL: a 1/2, seed 2 3/2, like x 4/2, like y 6/2; b 3/2, 5/2, 2/2, 2/2
        values = {"a": 1, "b": 3, "a,seed=2": 3, "b,seed=2": 5}
        values |= {"a,like=x": 4, "b,like=x": 2, "a,like=y": 6, "b,like=y": 2}
        found = {(trace, "pen", "device"): erased(aep) for trace, aep in values.items()}
        found |= {(trace, "nftl", "device"): erased(2) for trace in values}
        self.results = compare.Results(found, 32)
        self.groups = {
            "seeds": (Trace("a"), Trace("b"), Trace("a", (("seed", 2),)), Trace("b", (("seed", 2),))),
            "fits": tuple(Trace(volume, like=fit) for fit in "xy" for volume in "ab"),
        }
        self.traces = tuple(values)

    def test_rows(self) -> None:
        inner = compare.relative(
            measures.aep, "nftl", {"pen": "PEN"}, compare.times, {("average", "PEN"): 0.7, ("a", "PEN"): 0.6}
        )
        made = compare.banded(self.groups, inner)(self.results, self.traces, "device")
        # averages: 1 and 2 over seeds, 1.5 and 2 over fits; trace a has a published number, b has not
        self.assertEqual(
            [(r.trace, r.what, r.ours, r.low, r.high, r.paper) for r in made],
            [
                ("a", "PEN, seeds", 1, 0.5, 1.5, 0.6), ("average", "PEN, seeds", 1.5, 1, 2, 0.7),
                ("a", "PEN, fits", 2.5, 2, 3, 0.6), ("average", "PEN, fits", 1.75, 1.5, 2, 0.7),
            ],
        )  # fmt: skip

    def test_figure(self) -> None:
        (figure,) = (one for one in figures.pen(32) if one.name == "fig13b")
        made = bands.banded(figure, 2)
        self.assertEqual((made.name, made.configs, made.accountings), ("fig13b", ("nftl", "pen"), ("device",)))
        self.assertEqual(len(made.traces), 12 * (2 + len(fits.load())))


class Claims(unittest.TestCase):
    """A claim's band has the rows over seeds and over fits that belong to its row."""

    def tables(self, low: float, high: float) -> claims.Tables:
        made = claims.Tables()
        head = "accounting,trace,what,unit,paper,ours,ratio,low,high\n"
        made.add("pen/t", f"{head}device,a,w,x,,0.5,,,\n")
        made.add("pen-bands/t", f'{head}device,a,"w, seeds",x,,0.6,,0.5,0.7\ndevice,a,"w, fits",x,,0.8,,{low},{high}\n')
        return made

    def test_band(self) -> None:
        self.assertEqual(claims.band(claim(paper=0.95), self.tables(0.4, 0.9)), (0.4, 0.9))
        self.assertEqual(summary.verdict(claim(paper=0.95), self.tables(0.4, 0.9)), "**size off**, cause not shown")
        self.assertEqual(
            summary.verdict(claim(paper=0.85, shown=["pen/t"]), self.tables(0.4, 0.9)),
            "**size off**, paper's number in our band",
        )

    def test_a_bound(self) -> None:
        self.assertEqual(summary.verdict(claim(want="< 1"), self.tables(0.4, 0.9)), "agrees")
        self.assertEqual(summary.verdict(claim(want="< 1"), self.tables(0.4, 1.1)), "agrees, but not all of our band")


if __name__ == "__main__":
    unittest.main()

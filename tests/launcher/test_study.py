# SPDX-License-Identifier: GPL-2.0-or-later
"""Test 'slate study' without runs: the file, the hash of inputs, intervals, the store."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import tarfile
import tempfile
import unittest
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import support

from slate_lib import cli
from slate_lib.account import OpAccount
from slate_lib.errors import SlateError
from slate_lib.study import command, expression, figures, file, jobs, pool, stats, store

ROOT = support.ROOT
HEAD = '[run]\nprofile = "small"\ntrace = "gen:rand4k,foot=8MiB,n=100"\n[measures]\nWAF = "waf"\n'


class Case(unittest.TestCase):
    """Gives each test its own folder."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="slate-study-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def study(self, text: str, head: str = HEAD) -> file.Study:
        """Read a study with this text."""
        path = self.folder / "my.toml"
        path.write_text(text + head, encoding="utf-8")
        return file.read(path)

    def refused(self, text: str, what: str, head: str = HEAD) -> None:
        """Check that a study is refused in these words, by the file or by what it is used for."""
        with self.subTest(text=text), self.assertRaises(SlateError) as caught:
            found = self.study(text, head)
            figures.check(found.measures)
            jobs.prepare(found)
        self.assertIn(what, str(caught.exception))
        self.assertIn("\n  fix: ", str(caught.exception))


class Expressions(unittest.TestCase):
    """Small expressions."""

    def test_values(self) -> None:
        values: dict[str, expression.Value] = {"ftl.op_permille": 70, "policy": "fifo", "a": 3.0, "b": 4}
        for text, wanted in (
            ("policy == 'fifo' and ftl.op_permille < 100", True), ("policy in ['greedy', 'random']", False),
            ("not a > b", True), ("sqrt(a * a + b * b)", 5.0), ("-(a + b) / 2", -3.5), ("b % 3", 1),
            ("1 < a < 4", True), ("max(a, b, 1) - min(a, b)", 1.0), ("policy not in ('fifo',) or b == 4", True),
        ):  # fmt: skip
            self.assertEqual(expression.Expression(text, "x").value(values), wanted, text)

    def test_names(self) -> None:
        found = expression.Expression("a.b + c * max(c, d.e.f)", "x")
        self.assertEqual(found.names, ["a.b", "c", "d.e.f"])

    def test_refused(self) -> None:
        for text in ("__import__('os')", "a[0]", "lambda: 1", "a.b()", "a if b else c", "1 +", "f'{a}'", "a := 1",
                     "max(a, key=b)", "None", "2 ** 9999", "'a' * 9 if a else 1", ""):  # fmt: skip
            with self.subTest(text=text), self.assertRaises(SlateError) as caught:
                expression.Expression(text, "leave_out")
            self.assertIn(f"leave_out: '{text}'", str(caught.exception))
        for text in ("-" * 3000 + "1", "not " * 3000 + "1", "a" + ".b" * 3000, "1" + "+1" * 3000):
            with self.subTest(text=text[:9]), self.assertRaisesRegex(SlateError, "is no expression"):
                expression.Expression(text, "x")
        for text in ("'a' * 99999999999", "99999999999 * 'a'", "'%99999999999d' % 5", "[0] * 99999999999", "[1] + [2]"):
            with self.subTest(text=text), self.assertRaisesRegex(SlateError, "no result: arithmetic is for numbers"):
                expression.Expression(text, "x").value({})
        self.assertEqual(expression.Expression("a + 'b' == 'ab'", "x").value({"a": "a"}), True)
        with self.assertRaisesRegex(SlateError, "'1 / 0' has no result: division by zero"):
            expression.Expression("1 / 0", "x").value({})


class Files(Case):
    """Tests the reading of a study's file."""

    def test_grid(self) -> None:
        found = self.study(
            "leave_out = [\"ftl.gc_policy == 'fifo' and ftl.op_permille == 100\"]\n"
            'baseline.ftl.gc_policy = "greedy"\n'
            '[axes]\nftl.gc_policy = ["greedy", "fifo"]\nftl.op_permille = [70, 100, 280]\nseed = "1..4"\n'
        )
        self.assertEqual((len(found.points), found.left_out_count), (2 * 3 * 4 - 4, 4))
        self.assertEqual(found.points[0], {"ftl.gc_policy": "greedy", "ftl.op_permille": 70, "seed": 1})
        self.assertEqual(found.points[-1], {"ftl.gc_policy": "fifo", "ftl.op_permille": 280, "seed": 4})
        self.assertEqual((found.groups, found.over), (["ftl.gc_policy", "ftl.op_permille"], ["seed"]))
        found.add_seeds(2)
        self.assertEqual((len(found.points), found.axes["seed"]), (2 * 3 * 6 - 6, [1, 2, 3, 4, 5, 6]))

    def test_pairs_and_points(self) -> None:
        found = self.study(
            '[axes]\nclosed = [1, 8]\n[[pairs]]\nftl.op_permille = [70, 280]\nfoot = ["7MiB", "6MiB"]\n'
            '[[points]]\nage = 0\nfill = 50\n[[points]]\nage = 1\nfill = 100\n',
            HEAD.replace("8MiB", "{foot}"),
        )
        self.assertEqual(len(found.points), 2 * 2 * 2)
        self.assertEqual(found.points[3], {"closed": 1, "ftl.op_permille": 280, "foot": "6MiB", "age": 1, "fill": 100})
        self.assertEqual(found.settings(found.points[3]), {
            "profile": "small", "trace": "gen:rand4k,foot=6MiB,n=100", "closed": 1, "ftl.op_permille": 280, "age": 1,
            "fill": 100,
        })  # fmt: skip
        self.assertEqual(found.groups, ["closed", "ftl.op_permille", "age", "fill"])  # foot goes with op_permille

    def test_labels(self) -> None:
        """A label stands for all values of its pair, and the run is not given it."""
        found = self.study(
            'baseline.label = "off"\n[axes]\nseed = [1, 2]\n[[pairs]]\nlabel = ["off", "on", "apart"]\n'
            'handles = ["none", "stream", "stream"]\nftl.placement_handles = [1, 2, 4]\n'
        )
        self.assertEqual((found.groups, found.baseline, len(found.points)), (["label"], {"label": "off"}, 6))
        self.assertEqual({key: value for key, value in found.settings(found.points[1]).items() if key in found.axes},
                         {"seed": 1, "handles": "stream", "ftl.placement_handles": 2})  # fmt: skip
        jobs.check_keys(found)
        unlabelled = self.study("[[pairs]]\nhandles = ['stream']\nftl.placement_handles = [2]\nseed = [1]\n")
        self.assertEqual(jobs.prepare(unlabelled)[0].hash, jobs.prepare(found)[1].hash)

    def test_refused(self) -> None:
        for text, what in (
            ('[[pairs]]\nlabel = ["a", "a"]\nclosed = [1, 2]\n', "label = 'a' is empty, or names two choices"),
            ('[[points]]\nlabel = ""\nclosed = 1\n', "label = '' is empty, or names two choices"),
            ('[axes]\nlabel = ["a", "b"]\n', "axis label: there is no such option of a replay"),
            ('[axes]\nsed = "1..3"\n', "axis sed: there is no such option of a replay, and no such setting"),
            ("[axes]\nftl.gc_polcy = [1]\n", "; did you mean ftl.gc_policy?"),
            ("[axes]\nsmp = [1, 2]\n", "an option of guests, not of replays"),
            ("[axes]\nftl.gc_policy = [\"greedy\", \"greediest\"]\n", "ftl.gc_policy = greediest"),
            ('[axes]\nclosed = "1..1000"\nseed = "1..1000"\n', "1000 x 1000 = 1,000,000 combinations; the most is"),
            ("[axes]\nclosed = [1, 1]\n", "axis closed: 1 is given twice: two runs that would be one"),
            ("[axes]\nclosed = []\n", "axis closed: is no list of values"),
            ("[axes]\nclosed = [[1], [2]]\n", "closed is no number, text, true or false"),
            ("[axes]\nseed = [-1]\n", "seed = -1: no whole number from 0"),
            ("[[pairs]]\nclosed = [1, 2]\nfill = [1]\n", "[[pairs]] 1: the lists differ in length: closed 2, fill 1"),
            ("[[points]]\nclosed = 1\n[[points]]\nfill = 1\n", "closed is given in some points only"),
            ("[axes]\nclosed = [1]\n[[pairs]]\nclosed = [2]\n", "axis closed is given twice"),
            ('[[pairs]]\nclosed = [1, 2]\nleave_out = ["closed == 1"]\n', "leave_out is in the table pairs\n  fix: "),
            ("[axes]\nconfidence = 0.9\n", "confidence is in the table axes\n  fix: write confidence before the first"),
            ("axis = 3\n", "there is no 'axis'; did you mean axes?"),
            ('leave_out = ["close == 1"]\n[axes]\nclosed = [1]\n', "there is no close; did you mean closed?"),
            ('leave_out = ["closed > 0"]\n[axes]\nclosed = [1]\n', "leave_out leaves out every point"),
            ("baseline.closed = 3\n[axes]\nclosed = [1]\n", "closed = 3 is no value of that axis\n  fix: use one of"),
            ("baseline.seed = 1\n[axes]\nseed = [1]\n", "baseline: the values of seed are repetitions"),
            ('over = ["x"]\n', "over: there is no axis x"),
            ('statistic = "mode"\n', "statistic = 'mode': there is none\n  fix: use one of: mean, median"),
            ("title = 3\n", "title is no text"),
            ("[axes\n", "is not TOML"),
            (f"x = {'1' * 5000}\n", "is not TOML"),
            (f"x = {'[' * 5000}\n", "is not TOML"),
            ('title = "\\u001b[2J"\n', "a text has control characters"),
            ('[axes]\n"\\u009b2J" = [1]\n', "a text has control characters"),
            ("over = 5\n", "over is no axis and no list of axes"),
            ("over = [[1]]\n", "over is no axis and no list of axes"),
            ("[[pairs]]\nclosed = []\n", "[[pairs]] 1: the lists have no value"),
            ('[axes]\nclosed = "1..1000000"\n', "20,001 combinations; the most is"),
        ):  # fmt: skip
            self.refused(text, what)

    def test_a_measure_with_the_name_of_a_key(self) -> None:
        head = HEAD.replace("WAF =", "over =") + 'confidence = "p99"\n'
        self.assertEqual([one.name for one in self.study("", head).measures], ["over", "confidence"])

    def test_measures_refused(self) -> None:
        head = HEAD.partition("[measures]")[0]
        for text, what in (
            ("", "the study measures nothing"),
            ('[measures]\nx = "wafs"\n', "measure x: there is no figure 'wafs'; did you mean waf?"),
            ('[measures]\nx = "read.waf"\n', "measure x: the figure waf is of the whole run"),
            ('[measures]\nx = { of = "p99", unit = "MiB" }\n', "measure x: unit 'MiB': p99 is time\n  fix: use one of"),
            ('[measures]\nx = { of = "p99", json = "a" }\n', "none or several of 'of', 'json', 'value'"),
            ('[measures]\nx = { json = "a" }\n', "'json' and 'path' go together"),
            ('[measures]\nx = { value = "y * 2" }\n', "measure x: there is no y"),
            ('[measures]\nx = { value = "y" }\ny = "waf"\n', "measure x: y is defined after it"),
            ('[measures]\nx = ""\n', "measure x: is no figure"),
            ('[measures]\nx = { of = "" }\n', "measure x: is no figure"),
            ('[measures]\nx = { unti = "s" }\n', "there is no 'unti'; did you mean unit?"),
            ('[measures]\np99.9 = "p99.9"\n', "quote a name that has a dot"),
            ('[measures]\nx = { json = "a", path = "b", reduce = "avg" }\n', "there is no reduce = 'avg'"),
        ):  # fmt: skip
            self.refused("", what, head + text)

    def test_generators_refused(self) -> None:
        """Of each point, before a run: in the words of slate-replay."""
        head = HEAD.replace("gen:rand4k,foot=8MiB,n=100", "gen:{kind}4k,foot=8MiB,n=100")
        self.refused('[axes]\nkind = ["rand", "walk"]\n', "generator gen:walk4k,foot=8MiB,n=100: must begin", head)
        self.refused('[axes]\nkind = ["zipf"]\nseed = [1, 0]\n', "'seed' is no key of it, or its value is wrong", head)
        self.assertEqual(len(jobs.prepare(self.study('[axes]\nkind = ["zipf", "seq"]\nseed = [1, 2]\n', head))), 4)

    def test_warm_up_refused(self) -> None:
        self.refused("[warm_up]\nwrite = 2\n", "[warm_up]: there is no 'write'; did you mean writes?")
        self.refused('[warm_up]\nafter = ["ftl.gc_policy"]\n', "after: ftl.gc_policy is no setting of the runs")
        self.refused("[axes]\nage = [1]\n[warm_up]\n", "age: [warm_up] fills and ages the drive")

    def test_two_runs_that_would_be_one(self) -> None:
        """A trace in a file has no seed, and a drive that is not aged has none either."""
        (self.folder / "t.txt").write_text("# slate-trace 1\n0 0 write 0 4096\n", encoding="utf-8")
        head = HEAD.replace("gen:rand4k,foot=8MiB,n=100", "t.txt")
        what = "two runs would be one: seed = 1, and seed = 2: seed changes nothing"
        self.refused("[axes]\nseed = [1, 2]\n", what, head)
        self.assertEqual(len(jobs.prepare(self.study("[axes]\nage = [1, 2]\nseed = [1, 2]\n", head))), 4)

    def test_power_cuts(self) -> None:
        """A study with count is of power cuts, whose measures are of cuts.json alone."""
        head = '[run]\nprofile = "small"\ncount = 2\n[measures]\na = { json = "cuts.json", path = "verdicts.lost" }\n'
        self.assertEqual(jobs.kind_of(self.study("", head)), jobs.CUT)
        self.refused("[axes]\nclosed = [8]\n", "closed: there is no such option of a power cut", head)
        self.refused("[axes]\ncount = [1, 2]\n", "count: there is no such option of a replay, and no such setting: an "
                     "option of power cuts, not of replays")  # fmt: skip
        self.refused("[warm_up]\n", "power cuts begin with a drive that their work makes", head)
        for measure in ('"waf"', '{ json = "device.json", path = "total" }'):
            self.refused("", "power cuts have no ", head[: head.index("{")] + measure + "\n")
        path = self.folder / "my.toml"
        path.write_text(head, encoding="utf-8")
        with self.assertRaisesRegex(SlateError, "--pages: power cuts have none"):
            command.Work(cli.parser().parse(["study", str(path), "--pages"]))

    def test_settings_of_guests(self) -> None:
        """A setting that the drive would refuse is refused before the first run, also of a guest and of cuts."""
        for given in ('app = "sqlite"', 'job = "quick"', "count = 1"):
            head = f'[run]\n{given}\n[measures]\na = {{ json = "cuts.json", path = "cuts" }}\n'
            self.refused('[axes]\nftl.gc_policy = ["nope"]\n', "ftl.gc_policy = 'nope': must be greedy, ", head)

    def test_lists_of_options(self) -> None:
        """Only an option that may be given several times has several values."""
        self.refused("", "closed: has several values", HEAD.replace("[measures]", "closed = [1, 2]\n[measures]"))
        for given in ('job = "quick"\nsmp = [1, 2]', "count = [1, 2]"):
            head = f'[run]\n{given}\n[measures]\na = {{ json = "cuts.json", path = "cuts" }}\n'
            self.refused("", "has several values", head)
        trace = HEAD.replace('"gen:rand4k,foot=8MiB,n=100"', '["gen:rand4k,foot=8MiB,n=1", "gen:seq64k,foot=8MiB,n=1"]')
        self.assertEqual(len(jobs.prepare(self.study("", trace))[0].inputs["words"]), 3)

    def test_stored_units(self) -> None:
        """A number of a JSON file is shown in another unit of the same kind."""
        (self.folder / "a.json").write_text('{"ns": [1500000, 3000000]}', encoding="utf-8")
        one = file.Measure("a", json="a.json", path="ns", reduce="max", stored="ns", unit="ms")
        figures.check([one])
        self.assertEqual(figures.Result(self.folder).values([one], {}), ({"a": 3.0}, {}))
        for stored, unit in (("ns", "MiB"), ("ns", ""), ("x", "ms")):
            with self.assertRaisesRegex(SlateError, "are no two units of a number"):
                figures.check([file.Measure("a", json="a.json", path="ns", stored=stored, unit=unit)])
        with self.assertRaisesRegex(SlateError, "are no two units of a number"):
            figures.check([file.Measure("a", of="waf", stored="ns")])

    def test_shipped(self) -> None:
        """Every shipped study is accepted, and names a baseline or repeats over seeds."""
        for path in sorted((ROOT / "docs/examples/studies").glob("*.toml")):
            with self.subTest(path=path.name):
                found = file.read(file.find(path.stem))
                figures.check(found.measures)
                jobs.check_keys(found)
                self.assertTrue(found.title and found.about and found.over)
        with self.assertRaisesRegex(SlateError, "no such study: gc-policy; did you mean gc-policies"):
            file.find("gc-policy")


    def test_baseline_of_another_type(self) -> None:
        """1 is the axis' 1.0, and its group is found."""
        found = self.study("baseline.closed = 1\n[axes]\nclosed = [1.0, 2.0]\n")
        self.assertIsInstance(found.baseline["closed"], float)

    def test_a_baseline_without_axes(self) -> None:
        with self.assertRaisesRegex(SlateError, "there is no axis closed\n  fix: give the study axes, or leave"):
            self.study("baseline.closed = 1\n")

    def test_charts_of_one_name(self) -> None:
        measures = [file.Measure(name, of="waf") for name in ("a b", "a-b")]
        with self.assertRaisesRegex(SlateError, "measures 'a b' and 'a-b' have one name of a file, a-b"):
            figures.check(measures)

    def test_most_is_of_until(self) -> None:
        path = self.folder / "my.toml"
        path.write_text('[axes]\nseed = "1..2"\n' + HEAD, encoding="utf-8")
        with self.assertRaisesRegex(SlateError, "--most without --until"):
            command.Work(cli.parser().parse(["study", str(path), "--most", "3"]))

    def test_until_needs_seeds_of_their_own(self) -> None:
        for text in ("[[pairs]]\nseed = [1, 2]\nclosed = [1, 2]\n", '[axes]\nseed = ["1", "2"]\n'):
            path = self.folder / "my.toml"
            path.write_text(text + HEAD, encoding="utf-8")
            with self.assertRaisesRegex(SlateError, "--until: the seeds stand in"):
                command.Work(cli.parser().parse(["study", str(path), "--until", "WAF:1%"]))
        for text in ("WAF:1.2.3%", "WAF:.%", "WAF:%", "WAF:1e3%"):
            with self.assertRaisesRegex(SlateError, "not MEASURE:PERCENT"):
                command._until(text)


class Hashes(Case):
    """Tests the hashes that name results."""

    def test_of_inputs(self) -> None:
        """It is the SHA-256 of the inputs as JSON with sorted keys and no blanks."""
        wanted = hashlib.sha256(b'{"a":[1,"\\u00b5s"],"b":2}').hexdigest()
        self.assertEqual(jobs.hash_of({"b": 2, "a": [1, "µs"]}), wanted)

    def test_does_not_depend_on_order_and_place(self) -> None:
        one = jobs.prepare(self.study("[run]\nclosed = 8\nfill = 50\nftl.op_permille = 300\nftl.gc_policy = 'fifo'\n",
                                      HEAD.replace("[run]\n", "")))[0]  # fmt: skip
        other = self.folder / "elsewhere"
        other.mkdir()
        self.folder = other
        two = jobs.prepare(self.study("[run]\nftl.gc_policy = 'fifo'\nfill = 50\nftl.op_permille = 300\nclosed = 8\n",
                                      HEAD.replace("[run]\n", "")))[0]  # fmt: skip
        self.assertEqual(one.hash, two.hash)

    def test_depends_on_content(self) -> None:
        trace, profile = self.folder / "t.txt", self.folder / "my.ini"
        profile.write_bytes((ROOT / "nand-emu/profiles/small.ini").read_bytes())
        head = HEAD.replace("gen:rand4k,foot=8MiB,n=100", "t.txt").replace('"small"', '"my.ini"')
        found: list[str] = []
        for text, more in (("write 0 4096", b""), ("write 0 8192", b""), ("write 0 4096", b"; a note\n"),
                           ("write 0 4096", b"")):  # fmt: skip
            trace.write_text(f"# slate-trace 1\n0 0 {text}\n", encoding="utf-8")
            os.utime(trace, ns=(len(found), len(found)))
            profile.write_bytes((ROOT / "nand-emu/profiles/small.ini").read_bytes() + more)
            os.utime(profile, ns=(len(found), len(found)))
            found.append(jobs.prepare(self.study("", head))[0].hash)
        self.assertEqual(len({*found}), 3)
        self.assertEqual(found[0], found[3])

    def test_words(self) -> None:
        """The command of a replay: settings, options and seed."""
        text = "[axes]\nclosed = [8]\nno_flush = [true]\nftl.op_permille = [300]\nseed = [7]\n"
        job = jobs.prepare(self.study(text))[0]
        self.assertEqual(job.words[1:], ["--profile=small.ini", "--set=ftl.op_permille=300", "--closed=8", "--no-flush",
                                         "--json=replay.json", "gen:rand4k,foot=8MiB,n=100,seed=7"])  # fmt: skip
        self.assertEqual(job.links, {"small.ini": str(ROOT / "nand-emu/profiles/small.ini")})
        self.assertEqual(jobs.parsed(json.loads(job.text())), job)

    def test_names_of_links(self) -> None:
        """A run's own files are not written through a link to the user's, and traces of one name are both read."""
        row = "# slate-trace 1\n0 0 write 0 4096\n"
        (self.folder / "a").mkdir()
        names = (".said", "replay.json", "replay.json.part", "drive.slate", "small.ini", "2-x", "a/x", "x")
        for name in names:
            (self.folder / name).write_text(row, encoding="utf-8")
        head = HEAD.replace('"gen:rand4k,foot=8MiB,n=100"', json.dumps([f"./{name}" for name in names]))
        job = jobs.prepare(self.study("", head))[0]
        wanted = {str(ROOT / "nand-emu/profiles/small.ini"), *(str((self.folder / name).resolve()) for name in names)}
        self.assertEqual((set(job.links.values()), len(job.links)), (wanted, len(wanted)))
        self.assertEqual(job.links["small.ini"], str(ROOT / "nand-emu/profiles/small.ini"))
        self.assertFalse({".said", "replay.json", "replay.json.part", "drive.slate"} & job.links.keys())

    def test_a_job_of_another_hash(self) -> None:
        """The hash names a folder, which is removed if its content is not the result."""
        raw = json.loads(jobs.prepare(self.study(""))[0].text())
        for name in ("0" * 64, "", "../..", str(self.folder)):
            with self.assertRaises(ValueError):
                jobs.parsed({**raw, "hash": name})

    def test_warm_up(self) -> None:
        """The drive has the settings but those after it, and is one for all runs that differ in these."""
        found = jobs.prepare(self.study(
            '[axes]\nftl.gc_policy = ["fifo", "greedy"]\nftl.op_permille = [290, 300]\nseed = [1, 2]\n'
            '[warm_up]\nwrites = "2x"\nafter = ["ftl.gc_policy"]\n'
        ))
        self.assertEqual((len(found), len({job.hash for job in found})), (8, 8))
        self.assertEqual(len({job.warm.hash for job in found}), 2)
        self.assertEqual(found[0].words[1:4], ["--drive=drive.slate", "--ephemeral", "--set=ftl.gc_policy=fifo"])
        self.assertEqual(found[0].warm.words[1:], [
            "--zeroes", str(ROOT / "nand-emu/profiles/small.ini"), "drive.slate", "precondition.fill_permille=1000",
            "precondition.age_permille=2000", "precondition.seed=1", "ftl.op_permille=290",
        ])  # fmt: skip


class Statistics(unittest.TestCase):
    """Intervals of samples that can be worked out by hand.

    Of 3 values there are 27 equally likely resamples: the mean of 1, 2, 3 is 1 in one of them (3.7 %, more than the
    2.5 % outside the interval on that side), so the interval is 1 .. 3. Of 0, 4, 4, 4 the mean is 0 in 1 of 256
    (0.4 %) and 1 in 12 of 256 (4.7 %), so its lower end is 1; it is 4 in 81 of 256, the upper end.
    """

    def test_intervals(self) -> None:
        self.assertEqual(stats.interval([3, 1, 2]), stats.Interval(3, 2.0, 1.0, 3.0))
        self.assertEqual(stats.interval([4, 4, 0, 4]), stats.Interval(4, 3.0, 1.0, 4.0))
        self.assertEqual(stats.interval([4, 4, 0, 4], "median"), stats.Interval(4, 4.0, 0.0, 4.0))
        self.assertEqual(stats.interval([5]), stats.Interval(1, 5.0))
        self.assertEqual(stats.interval([5, 5, 5]), stats.Interval(3, 5.0, 5.0, 5.0))
        self.assertEqual((stats.interval([1, 3]).half, stats.interval([1, 3]).half_share), (1.0, 0.5))

    def test_median_of_four(self) -> None:
        """Of 0, 4, 4, 4 the median is 0 if three or four of the four draws are 0: 13 of 256, 5.1 %; so the end is 0."""
        self.assertEqual(stats.interval([0, 4, 4, 4], "median").low, 0.0)

    def test_differences(self) -> None:
        """2, 3, 4: the mean is 3, their standard deviation 1; the baseline's mean is 2."""
        found = stats.difference([(3, 1), (5, 2), (7, 3)], "mean", 0.95)
        self.assertEqual(found, stats.Difference(stats.Interval(3, 3.0, 2.0, 4.0), 1.5, 3.0, 2.0))
        self.assertEqual(stats.difference([(3, 1), (4, 2)], "mean", 0.95).effect, None)

    def test_groups(self) -> None:
        study = mock.Mock(groups=["p"], over=["seed"], baseline={"p": "a"}, statistic="mean", confidence=0.95)
        study.measures = [file.Measure("m")]
        values = (("a", 1, 10.0), ("a", 2, 20.0), ("b", 2, 22.0), ("b", 3, 99.0), ("c", 1, 0.0))
        rows = [stats.Row({"p": p, "seed": s}, "", {"m": m} if m else {}, {}) for p, s, m in values]
        found = stats.groups(study, rows)
        self.assertEqual([group.at["p"] for group in found], ["a", "b", "c"])
        self.assertEqual(found[0].differences, {})
        self.assertEqual(found[1].differences["m"].by, stats.Interval(1, 2.0))  # of seed 2 alone
        self.assertEqual((found[1].differences["m"].base, found[1].differences["m"].share), (20.0, 0.1))
        self.assertEqual((found[2].intervals, found[2].differences), ({}, {}))

    def test_latencies_of_a_group(self) -> None:
        """Histograms of its runs add up: of 2, 2 and 2, 8 ns the median is 2 ns and the 99th percentile 8 ns."""
        rows = [stats.Row({}, "", {}, {}, latencies={"a read": OpAccount(2, 0, 0, sum(ns), max(ns), {}, counts)})
                for ns, counts in (((2, 2), {2: 2}), ((2, 8), {2: 1, 8: 1}))]  # fmt: skip
        group = stats.Group({}, rows, {}, {})
        pooled = group.latencies("a read")
        self.assertEqual((pooled.ios, pooled.mean_ns(), pooled.histogram), (4, 3.5, {2: 3, 8: 1}))
        self.assertEqual((pooled.percentile_ns(500), pooled.percentile_ns(990)), (2, 8))
        self.assertIsNone(group.latencies("a write"))

    def test_seeds_to_add(self) -> None:
        """Half of the width at four seeds needs 16; at most as many as there are, are added at once."""

        def group(count: int, half: float) -> stats.Group:
            return stats.Group({}, [], {"m": stats.Interval(count, 100.0, 100 - half, 100 + half)}, {})

        self.assertEqual(stats.more_seeds([group(4, 4.0)], "m", 0.02), 4)
        self.assertEqual(stats.more_seeds([group(10, 2.2)], "m", 0.02), 3)  # 10 * 1.21 = 12.1
        self.assertEqual(stats.wider([group(10, 2.0), group(10, 2.1)], "m", 0.02), [group(10, 2.1)])


class Stores(Case):
    """Results by their inputs' hash."""

    def add(self, to: store.Store, data: bytes, number: int = 1) -> str:
        """Add a result with one file."""
        inputs: dict[str, Any] = {"number": number}
        job = jobs.Job(jobs.hash_of(inputs), inputs, [], {}, ["a/replay.json"], "f", 1)
        work = to.work()
        (work / "a").mkdir()
        (work / "a" / "replay.json").write_bytes(data)
        to.add(job, work, {"seconds": 1.0})
        return job.hash

    def test_damage(self) -> None:
        kept = store.Store(self.folder / "results")
        name = self.add(kept, b"{}")
        self.assertEqual((kept.root / name / "replay.json").read_bytes(), b"{}")
        damages: tuple[tuple[Callable[[Path], object], str], ...] = (
            (lambda path: (path / "replay.json").write_bytes(b"[]"), "replay.json is damaged"),
            (lambda path: (path / "replay.json").unlink(), "replay.json: no such file or directory"),
            (lambda path: (path / "inputs.json").write_text("{}"), "inputs.json is another's"),
            (lambda path: (path / "sums.json").write_text("{}"), "it holds no file"),
            (lambda path: (path / "sums.json").write_text("[1"), "its lists can not be read"),
        )
        for damage, fault in damages:
            with self.subTest(fault=fault):
                self.add(kept, b"{}")
                self.assertEqual(kept.lookup(name), kept.root / name)
                damage(kept.root / name)
                self.assertEqual((kept.lookup(name), kept.damaged), (None, [f"{name[:12]}: {fault}"]))
                self.assertFalse((kept.root / name).exists())
                kept.damaged = []

    def test_a_shared_drive_is_read_once(self) -> None:
        """A check reads the whole drive: one that runs share is checked once, and not at all if it was made here."""

        def job(number: int, warm: jobs.Job | None) -> jobs.Job:
            inputs: dict[str, Any] = {"number": number}
            keep = "made" if warm else jobs.DRIVE
            words = ["sh", "-c", f"cat {jobs.DRIVE} >made" if warm else f"echo 0 >{jobs.DRIVE}"]
            return jobs.Job(jobs.hash_of(inputs), inputs, words, {}, [keep], "f", 1, warm)

        drive = job(0, None)
        for checks in (0, 1):  # first the drive is made, then it is there
            kept = store.Store(self.folder / "results")
            runner = pool.Runner(kept)
            with mock.patch.object(store, "fault_of", wraps=store.fault_of) as checked:
                for number in (1, 2, 3):
                    self.assertEqual(runner.run(job(10 * checks + number, drive)), "")
            self.assertEqual(checked.call_count, checks)

    def test_work_of_dead_processes_is_removed(self) -> None:
        root = self.folder / "results"
        mine = store.Store(root).work()
        where = mine.name.split("-")[1]
        places = (where, "0123456789ab", "ba9876543210")
        dead, elsewhere, old = (root / f".work-{place}-999999999-1" for place in places)
        for path in (dead, elsewhere, old):
            path.mkdir()
        os.utime(old, (0, 0))
        store.Store(root)
        self.assertEqual([path.exists() for path in (dead, mine, elsewhere, old)], [False, True, True, False])

    def test_two_machines_share_a_folder(self) -> None:
        """Processes of other machines and containers may have the same number; their work folders differ."""
        one = store.Store(self.folder / "results").work()
        with mock.patch.object(store, "_where", return_value="0123456789ab"):
            other = store.Store(self.folder / "results").work()
        self.assertTrue(one.is_dir() and other.is_dir() and one != other)

    def test_folder_of_results_is_absolute(self) -> None:
        """Jobs run in folders of their own, with links into the store."""
        self.assertTrue(store.Store(Path(os.path.relpath(self.folder / "results"))).root.is_absolute())

    def archive(self, *files: tuple[str, bytes], name: str = "") -> Path:
        """Make an archive with these files of the result of {"number": 1}, or of another name."""
        name = name or jobs.hash_of({"number": 1})
        target = self.folder / "strange.results"
        with tarfile.open(target, "w:gz") as made:
            for file_, data in (("inputs.json", b'{"number": 1}'), *files):
                info = tarfile.TarInfo("x")
                info.size, info.pax_headers = len(data), {"path": f"{name}/{file_}"}
                made.addfile(info, io.BytesIO(data))
        return target

    def test_strange_archives(self) -> None:
        """They are refused, read no file outside, and leave nothing."""
        kept = store.Store(self.folder / "results")
        name = jobs.hash_of({"number": 1})
        sums = json.dumps({"replay.json": hashlib.sha256(b"{}").hexdigest()}).encode()
        empty = hashlib.sha256(b"").hexdigest()
        for files, why in (
            ([("sums.json", b"[" * 100_000)], "its lists can not be read"),
            ([("sums.json", json.dumps({"/dev/null": empty}).encode())], "/dev/null is damaged"),
            ([("sums.json", json.dumps({"../../../file": empty}).encode())], "../../../file is damaged"),
            ([("sums.json", sums), ("replay.json", b"{}"), ("fio.json", b"{}")], "fio.json is not in sums.json"),
            ([("../out", b"")], "is no file of a result"),
            ([("a\0b", b"")], "is no file of a result"),
            ([(".hidden", b"")], "is no file of a result"),
            ([("a\x1b[2J", b"")], "is no file of a result"),
            ([("drive.slate", b"")], "is no file of a result"),
        ):  # fmt: skip
            (self.folder / "file").write_bytes(b"")
            with self.subTest(why=why, files=files[-1][0]), self.assertRaises(SlateError) as caught:
                store.unpack(kept, self.archive(*files), {name})
            self.assertIn(why, str(caught.exception))
            self.assertNotIn("\x1b", str(caught.exception))
        self.assertEqual(store.unpack(kept, self.archive(), {"0" * 64}), {})
        self.assertEqual(list(kept.root.glob(".work*")), [])

    def test_archives_that_grow(self) -> None:
        """A result has a largest size, and what is not wanted is not kept."""
        kept = store.Store(self.folder / "results")
        large = [(f"{at}.json", bytes(600)) for at in range(2)]
        with mock.patch.object(store, "LARGEST", 1000):
            with self.assertRaisesRegex(SlateError, "the result [0-9a-f]{12} has more than 0 MiB"):
                store.unpack(kept, self.archive(*large), {jobs.hash_of({"number": 1})})
            self.assertEqual(store.unpack(kept, self.archive(*large, name="0" * 64), {"1" * 64}), {})
        self.assertEqual(list(kept.root.glob(".work*")), [])

    def test_damaged_archive(self) -> None:
        """The second half begins with a block of a type that gzip does not have."""
        kept = store.Store(self.folder / "results")
        target = self.archive(("replay.json", bytes(9000)))
        plain, packer = gzip.decompress(target.read_bytes()), zlib.compressobj(wbits=31)
        half = packer.compress(plain[: len(plain) // 2]) + packer.flush(zlib.Z_FULL_FLUSH)
        target.write_bytes(half + bytes([255] * 100))
        with self.assertRaisesRegex(SlateError, "is no archive of results"):
            store.unpack(kept, target, {jobs.hash_of({"number": 1})})

    def test_archives(self) -> None:
        here, there = store.Store(self.folder / "here"), store.Store(self.folder / "there")
        names = [self.add(here, b"{}", number) for number in (1, 2)]
        target = self.folder / "my.results"
        self.assertEqual(store.export(here, names, target), 2)
        found = store.unpack(there, target, {names[1]})
        self.assertEqual(list(found), [names[1]])
        self.assertEqual(store.same(here.root / names[1], found[names[1]]), "")
        self.add(there, b"[]", 2)
        self.assertEqual(store.same(there.root / names[1], found[names[1]]), "replay.json")
        target.write_bytes(target.read_bytes()[:200])
        for data, why in (
            (target.read_bytes()[:200], "Compressed file ended before the end-of-stream marker was reached"),
            (b"", "it is empty"),
            (b"title = 1\n" * 60, "not a gzip file"),
        ):
            target.write_bytes(data)
            with self.assertRaisesRegex(SlateError, f"my.results is no archive of results: {why}\n  fix: name a file"):
                store.unpack(there, target, {*names})
        with self.assertRaisesRegex(SlateError, "^--export: can not write .*/nowhere/my.results: no such file or dir"):
            store.export(here, names, self.folder / "nowhere/my.results")

    def test_can_not_be_written(self) -> None:
        (self.folder / "file").write_text("")
        with self.assertRaisesRegex(SlateError, "can not write .*file.*: (file exists|not a directory)\n  fix: free"):
            store.Store(self.folder / "file")


class Times(unittest.TestCase):
    """How long a study takes."""

    def test_total(self) -> None:
        self.assertEqual(pool.total([2.0, 3.0, 5.0], 2), 5.0)
        self.assertEqual(pool.total([1.0, 9.0], 2), 9.0)
        self.assertIsNone(pool.total([1.0, None], 2))
        self.assertEqual([pool.duration(s) for s in (0.2, 89, 600, 7200)], ["1 s", "89 s", "10 min", "2.0 h"])


if __name__ == "__main__":
    unittest.main()

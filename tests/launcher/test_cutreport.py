# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the report of a campaign of power cuts, and the cuts that pull the drive from a running machine."""

import dataclasses
import json
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import support  # noqa: F401  (sets the path)
from support import ROOT

from slate_lib.boot import Boot
from slate_lib.cuts import command, explain, figures, files, groups, kinds, logfile, report, shrink, vanish
from slate_lib.cuts.campaign import Campaign, Moment
from slate_lib.errors import MachineError, SlateError
from slate_lib.options import RunOptions
from slate_lib.powercut import CUT, ENDED, Plan

HEAD = {"slate_cuts": 5, "fs": "ext4", "profile": "nand-emu/profiles/small.ini", "profile_sha256": 64 * "0",
        "settings": ["a.b=c"], "age": 1.0, "seed": 1, "span_ns": 10**9, "repeat": "slate cuts --seed 1"}  # fmt: skip
WRITE = {"op": "write", "offset": 8192, "bytes": 4096, "submit_ns": 7000, "done_ns": 8000, "sectors_there": 0}


def line(number: int, verdict: str = "good", **more: Any) -> Any:
    """Return a line of a log."""
    said = "" if verdict == "good" else "row 2 is <gone>\n\nstatus 1\n"
    return {"id": f"1:{number}", "good": verdict == "good", "verdict": verdict, "cut_ns": 10_000 + number,
            "operations": 5, "lost_requests": number % 3, "torn_programs": 0, "torn_erases": 0, "gc_runs": 0,
            "said": said, "seconds": 0.1, **more}  # fmt: skip


def account(**more: Any) -> shrink.Account:
    """Return an account of cut 1:3, at 10000 ns."""
    one, two = WRITE | {"request": 17}, WRITE | {"request": 18, "submit_ns": 9000, "done_ns": None}
    rows = [{"request": 15, "op": "write", "offset": 0, "bytes": 512, "fua": False, "submit_ns": 1000, "done_ns": 3000},
            {"request": 16, "op": "flush", "offset": 0, "bytes": 0, "fua": False, "submit_ns": 4000, "done_ns": 5000},
            one | {"fua": False}, two | {"fua": False}]  # fmt: skip
    made = shrink.Account("1:3", "lost", "row 2 is gone\n\nstatus 1\n", 10_000, [one, two], [one], [one],
                             [("row 1", 2000), ("row 2", 9700)], "slate A", "slate B", rows)  # fmt: skip
    return dataclasses.replace(made, **more)


class Report(unittest.TestCase):
    """Test 'slate cuts report'."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="slate-report-")
        self.addCleanup(folder.cleanup)
        self.log = Path(folder.name) / "own.jsonl"

    def campaign(self, *lines: Any, accounts: tuple[shrink.Account, ...] = ()) -> report.Campaign:
        """Return a campaign with these cuts."""
        self.log.write_text("".join(json.dumps(one) + "\n" for one in (HEAD, *lines)), encoding="utf-8")
        for one in accounts:
            logfile.append(logfile.accounts_of(self.log), dataclasses.asdict(one))
        return report.load(self.log)

    def test_counts(self) -> None:
        found = self.campaign(*(line(n) for n in range(5)), line(5, "lost"), line(6, "torn"), line(7, "lost"))
        self.assertEqual(report.verdicts(found), [("good", 5), ("lost", 2), ("torn", 1)])
        self.assertEqual(report.met(found.cuts)[0], ("requests in flight", 5, 1, 2))
        self.assertEqual([row[0] for row in report.met(found.cuts)],
                         ["requests in flight", "programs torn", "erases torn", "runs of GC"])  # fmt: skip
        self.assertEqual(found.facts(), ["fsyncs on ext4", "drive small", "a.b=c", "aged 1x", "seed 1", "kind off",
                                         "8 cuts"])  # fmt: skip

    def test_causes(self) -> None:
        done, flying = WRITE | {"request": 1}, WRITE | {"request": 2, "done_ns": None}
        for least, why in (
            (None, "a torn write, or durable data lost"), ([flying], "writes in flight lost"),
            ([done], "completed writes lost that no flush had made durable"),
            ([done, flying], "unflushed writes lost, some in flight"),
        ):  # fmt: skip
            logfile.accounts_of(self.log).unlink(missing_ok=True)
            found = self.campaign(line(3, "lost"), accounts=(account(smallest=least),))
            self.assertEqual(report.causes(found), [(why, 1)])
        found = self.campaign(line(4, "lost"), line(5, "check failed"))
        self.assertEqual(report.causes(found), [("not explained yet", 1), ("the check gave no verdict", 1)])

    def test_text(self) -> None:
        text = report.text(self.campaign(line(2), line(3, "lost"), line(4, "torn"), accounts=(account(),)))
        self.assertIn("checked    15 announcements that something is durable\n", text)
        self.assertIn(account().text().rstrip(), text)
        self.assertIn("cut 1:4: torn at 10004 ns; not explained yet\ncheck     row 2 is <gone>\n"
                      "repeat    slate cuts --seed 1 --id 1:4\n", text)  # fmt: skip

    def test_page(self) -> None:
        """Words of a check are escaped; a loss without an account has the command that makes one."""
        found = self.campaign(*(line(n) for n in range(3)), line(3, "lost"), line(4, "torn"), accounts=(account(),))
        html = report.page_of(found)
        for words in ("Cut 1:3: lost", "row 2 is &lt;gone&gt;", "slate cuts --seed 1 --id 1:4 --shrink", ">slate B<",
                      "2 of 5 cuts lost something", "2 announcements, the last is &#39;row 2&#39;", "<svg"):
            self.assertIn(words, html)
        self.assertEqual(html.count("<svg"), 2, "the cuts over time, and one timeline")
        self.assertNotIn("<script", html)

    def test_many_losses(self) -> None:
        found = self.campaign(*(line(n, "lost") for n in range(20)))
        html = report.page_of(found)
        self.assertIn("Cut 1:11: lost", html)
        self.assertNotIn("Cut 1:12: lost", html)
        self.assertIn(">1:19<", html)

    def test_timeline(self) -> None:
        found = account()
        self.assertEqual([figures.state(found, row) for row in found.requests],
                         ["durable", "flush", "least loss", "unflushed, there"])  # fmt: skip
        self.assertEqual(figures.lanes([(0, 5), (1, 2), (2, 3), (4, 9), (5, 6)]), [0, 1, 1, 1, 0])
        self.assertEqual(figures.lanes([(0, 9)] * 12), [*range(10), 9, 9])
        edges, counted = figures.bins([line(0), line(40_000), line(40_000, "lost")])
        self.assertEqual((edges[0], len(edges)), (0.01, 41))
        self.assertEqual((counted["good"][0], counted["good"][-1], counted["lost"][-1]), (1, 1, 1))

    def test_requests_of_a_replay(self) -> None:
        rows = [{"request": str(n), "op": op, "submit_ns": str(n * 1000), "latency_ns": "1500", "offset": "512",
                 "bytes": "1024", "fua": str(n % 2)}
                for n, op in enumerate(("write", "read", "flush", "write", "trim", "write"))]  # fmt: skip
        found = figures.csv_rows(rows, 4000, 3)
        self.assertEqual([(row["request"], row["fua"], row["done_ns"]) for row in found],
                         [(2, False, 3500), (3, True, None), (4, False, None)])  # fmt: skip

    def test_numbers_of_requests(self) -> None:
        """The rows of --csv and the list of --unflushed call a request by the same number."""
        folder = self.log.parent
        trace, drive = folder / "t", folder / "d.slate"
        trace.write_text("# slate-trace 1\n0 0 write 0 4096\n1000 0 write 8192 4096\n9000 0 write 512 512\n",
                         encoding="utf-8")  # fmt: skip
        moment, profile = Moment("1:0", Plan(at_ns=9100)), ROOT / "nand-emu" / "profiles" / "small.ini"
        files.replayed("x", "--profile", profile, "--set", "ftl.payload=yes", "--drive", drive,
                      "gen:rand4k,foot=4KiB,n=1,read=1000")  # fmt: skip
        found = explain.requests(mock.Mock(folder=folder, origin=drive), mock.Mock(trace=trace), moment)
        power = files.replayed("x", "--drive", drive, "--open", "--cut-at", 9100, "--unflushed", trace)
        listed = [{key: one[key] for key in ("request", "offset", "submit_ns")} for one in power["power"]["unflushed"]]
        self.assertEqual([{key: one[key] for key in listed[0]} for one in found], listed)
        self.assertEqual([one["request"] for one in listed], [0, 1, 2])

    def test_refused(self) -> None:
        other = self.log.with_name("other.jsonl")
        for text, why in (("", "is no log of"), ('{"x": 1}\n', "is no log of"), ("no json\n", "is no log of"),
                          ("[1]\n", "is no log of"), ('{"slate_cuts": 4}\n', "of another version"),
                          ('{"slate_cuts": 5}\n', "other.jsonl, line 1: it has no 'profile'"),
                          (f'{json.dumps(HEAD)}\n{{}}\n', "other.jsonl, line 2: it has no 'id'")):  # fmt: skip
            other.write_text(text, encoding="utf-8")
            with self.assertRaisesRegex(SlateError, why):
                report.load(other)
        for words, said in (
            (("report", "nothere.jsonl"), "nothere.jsonl: there is no such log"),
            (("repot",), "repot: nothing takes this argument"),
            (("report", "a", "b"), "b: nothing takes this argument"),
            (("report", "a", "--log", "b"), "--log with a LOG"),
            (("--html",), "--html and --text are for 'slate cuts report'"),
            (("--kind", "vanish", "--id", "1:1", "--shrink"), "--shrink with --kind vanish"),
        ):
            done = subprocess.run([ROOT / "host-tools" / "slate", "cuts", *words], capture_output=True, text=True,
                                  timeout=60, check=False)  # fmt: skip
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)

    def test_accounts_are_kept_beside_their_log(self) -> None:
        self.campaign(line(3, "lost"))
        command.keep_account(self.log, HEAD | {"repeat": "another command"}, account())
        self.assertEqual(report.load(self.log).accounts["1:3"].repeat, "slate A")
        command.keep_account(self.log, HEAD | {"seed": 2}, account(repeat="of other cuts"))
        self.assertEqual(report.load(self.log).accounts["1:3"].repeat, "slate A")


class Vanish(unittest.TestCase):
    """Test the cuts whose machine goes on."""

    def cut(self, reason: str = ENDED, cut: int = 1, same: bool = True) -> Any:
        """Make such a cut at 500 ns, of a guest that announces at 400 and at 600 ns."""
        power = {"cuts": cut, "cut-ns": 500}
        found = Boot(reason, power, {}, "the console", b"row 1 400\nrow 2 600\n", 1.0)
        with tempfile.TemporaryDirectory() as folder:
            campaign = mock.Mock(folder=Path(folder), origin=Path("o"), span_ns=2 * 10**9)
            campaign.options.side_effect = lambda *words, **more: RunOptions(None, environment=more)
            copy = Path(folder) / "copy"
            copy.touch()
            campaign.replay.return_value = copy, {"cut-ns": 500}
            campaign.boot.return_value = found
            with mock.patch.object(vanish, "copy_sparse"), mock.patch.object(vanish, "keep_console"), mock.patch.object(
                vanish, "same_drives", return_value=same
            ):
                made = vanish.cut(campaign, 7, Moment("1:0", Plan(at_ns=500, seed=3)), "cut0")
            self.assertEqual(campaign.boot.call_args[0][1], Plan(at_ns=500, seed=3, then="vanish"))
            self.assertEqual(campaign.boot.call_args[0][0].environment, {"CUTS_SEED": 7, "CUTS_LIVES": 7})
        return made

    def test_what_was_announced_afterwards_counts(self) -> None:
        _, power, lines = self.cut()
        self.assertEqual(lines, [b"row 1\n", b"row 2\n"])
        self.assertEqual(power, {"cut-ns": 500, "announced_after": 1})
        found = Moment("1:0", Plan(at_ns=500)).line(
            power | {"lost-requests": 0, "torn-programs": 0, "torn-erases": 0, "gc-runs": 0}, lines, "\nstatus 0\n", 1.0
        )
        self.assertEqual((found["announced_after"], found["operations"]), (1, 2))
        self.assertIn("1 announcement came after the drive had gone\n", logfile.summary([found]))

    def test_a_guest_that_ended_otherwise(self) -> None:
        with self.assertRaisesRegex(MachineError, "ended before the drive vanished.*guest-shutdown"):
            self.cut(cut=0)
        with self.assertRaisesRegex(MachineError, "ended after the drive had vanished.*host-error"):
            self.cut(reason=CUT)
        with self.assertRaisesRegex(MachineError, "the replay of its recording differ"):
            self.cut(same=False)

    def test_a_group_needs_no_recording_that_all_share(self) -> None:
        campaign = Campaign(RunOptions(None), mock.Mock(per_boot=64), 1, 10**9, Path("f"), Path(__file__),
                            kind=kinds.find("vanish"))  # fmt: skip
        with mock.patch.object(groups, "batch", return_value=[]) as batch, mock.patch.object(
            Campaign, "work"
        ) as work:
            list(groups.group(campaign, 0, range(2, 4)))
        work.assert_not_called()
        self.assertEqual([moment.id for moment in batch.call_args[0][2]], ["1:2", "1:3"])


if __name__ == "__main__":
    unittest.main()

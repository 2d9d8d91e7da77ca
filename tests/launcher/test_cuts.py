# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the options of power cuts: their meaning, and what is refused."""

import contextlib
import errno
import io
import json
import os
import random
import shlex
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import support
from support import ROOT

from slate_lib import cli, command, options, paths, powercut
from slate_lib.cuts import campaign as campaigns
from slate_lib.cuts import command as cuts
from slate_lib.cuts import explain, files, groups, kinds, logfile, shrink, survey, times, workload
from slate_lib.cuts.campaign import Campaign, Moment, Recorded, header
from slate_lib.errors import MachineError, SlateError
from slate_lib.options import RunOptions
from slate_lib.powercut import Plan

SMALL = str(ROOT / "nand-emu" / "profiles" / "small.ini")
SCRIPT = str(ROOT / "tests" / "guest" / "cut-write.sh")


def parsed(*words: Any) -> Any:
    args = cli.parser().parse_args(["run", "--profile", SMALL, "--cmd", SCRIPT, *words])
    return options.from_arguments(args)


class Times(unittest.TestCase):
    """--cut-at takes whole nanoseconds, exactly."""

    def test_units(self) -> None:
        for text, ns in (
            ("1.5s", 1_500_000_000),
            ("800ms", 800_000_000),
            ("20us", 20_000),
            ("1500000001ns", 1_500_000_001),
            ("0.000000001s", 1),
            ("9007199.254740993s", 9_007_199_254_740_993),  # a number that no float can represent
        ):
            self.assertEqual(times.parse_time(text), ns, text)

    def test_refused(self) -> None:
        for text in ("", "1", "1.5", "s", "-1s", "1.5ns", "1.0000000001s", "1 s", "1h", f"{'9' * 5000}s"):
            with self.assertRaisesRegex(SlateError, "not a time in whole nanoseconds"):
                times.parse_time(text)


class Boots(unittest.TestCase):
    """Test the boots, and their cuts."""

    def test_none(self) -> None:
        run = parsed()
        self.assertEqual(powercut.boots(run), [(run, None)])

    def test_one(self) -> None:
        ((_, plan),) = powercut.boots(parsed("--cut-at", "1s", "--seed", "4"))
        self.assertEqual(plan, Plan(at_ns=10**9, seed=4, then="shutdown"))
        self.assertEqual(plan.arguments(), {"at-ns": 10**9, "seed": 4, "then": "shutdown"})

    def test_after_commands(self) -> None:
        ((_, plan),) = powercut.boots(parsed("--cut-after-commands", "7", "--cut-then", "vanish", "--cut-seed", "9"))
        self.assertEqual(plan.arguments(), {"after-commands": 7, "seed": 9, "then": "vanish"})

    def test_after_a_mark(self) -> None:
        """The drive counts from the mark; a label may have blanks and a minus."""
        run = parsed("--cut-at", "mark:a-b c+200ms,mark:x,5ns", "--after-cut", SCRIPT)
        plans = [plan for _, plan in powercut.boots(run)]
        found = [(plan.at_ns, plan.mark) for plan in plans if plan]
        self.assertEqual(found, [(2 * 10**8, "a-b c"), (0, "x"), (5, "")])
        self.assertEqual(plans[0].arguments(), {"at-ns": 2 * 10**8, "mark": "a-b c", "seed": 1, "then": "shutdown"})
        self.assertEqual(run.cuts.words()[1], "mark:a-b c+200000000ns,mark:x+0ns,5ns")
        again = parsed(*run.cuts.words()[:6], "--after-cut", SCRIPT)
        self.assertEqual(again.cuts.plans, run.cuts.plans, "run.json repeats it")
        self.assertEqual(parsed("--cut-at", "mark:0123456789abcdef").cuts.plans[0].mark, "0123456789abcdef")
        said = str(powercut.came_too_late(plans[0]))
        self.assertIn("200000000 ns after the mark 'a-b c'\n  fix: let the guest set the mark (slate-mark", said)

    def test_several(self) -> None:
        boots = powercut.boots(parsed("--cut-at", "1s,2s", "--after-cut", SCRIPT))
        self.assertEqual([plan and plan.at_ns for _, plan in boots], [10**9, 2 * 10**9, None])
        self.assertEqual(boots[1][0].work.texts(), [Path(SCRIPT).read_text(encoding="utf-8")])

    def test_again(self) -> None:
        words = parsed("--cut-at", "1s,2s", "--after-cut", SCRIPT).cuts.words()
        self.assertEqual(words[:6], ["--cut-at", "1000000000ns,2000000000ns", "--cut-seed", "1", "--cut-then", "off"])
        self.assertEqual(words[6:], ["--after-cut", "tests/guest/cut-write.sh"])

    def test_reset_reboots(self) -> None:
        from slate_lib import command

        files = command.Files(Path("i"), Path("c"), Path("r"))
        self.assertIn("-no-reboot", command.build(parsed("--cut-at", "1s"), files))
        self.assertNotIn("-no-reboot", command.build(parsed("--cut-at", "1s", "--cut-then", "reset"), files))


class Refused(unittest.TestCase):
    """Test messages that name the fault and the fix."""

    def refused(self, words: str, *args: Any) -> None:
        with self.assertRaisesRegex(SlateError, words):
            parsed(*args)

    def test_all(self) -> None:
        self.refused("--cut-then without a cut", "--cut-then", "vanish")
        self.refused("--cut-seed without a cut", "--cut-seed", "1")
        self.refused("--after-cut without a cut", "--after-cut", SCRIPT)
        self.refused("exclude each other", "--cut-at", "1s", "--cut-after-commands", "1")
        self.refused("--cut-after-commands 0: out of range", "--cut-after-commands", "0")
        self.refused("--record does not go with", "--cut-at", "1s", "--record", "r")
        self.refused("--shell does not go with", "--cut-at", "1s", "--shell")
        self.refused("a further boot", "--cut-at", "1s,2s")
        self.refused("before a mark, which this run cannot know", "--cut-at", "mark:x-1us")
        self.refused("--cut-at mark:: no announcement is named", "--cut-at", "mark:")
        self.refused("a mark's label has at most 16 bytes", "--cut-at", "mark:0123456789abcdefg+1s")
        self.refused("with 2 drives: each gets the mark at another time", "--profile", SMALL, "--cut-at", "mark:x")
        self.refused("not a time in whole nanoseconds", "--cut-at", "1s,")
        self.refused("a further boot", "--cut-at", "1s,2s", "--cut-then", "vanish", "--after-cut", SCRIPT)
        self.refused("the job runs again", "--cut-at", "1s", "--cut-then", "reset", "--after-cut", SCRIPT)
        self.refused("nothing of the drive is kept", "--cut-at", "1s", "--after-cut", SCRIPT, "--ephemeral",
                     "--drive", self.drive())
        self.refused("nothere", "--cut-at", "1s", "--after-cut", "nothere.sh")

    def drive(self) -> str:
        folder = tempfile.TemporaryDirectory(prefix="slate-cuts-")
        self.addCleanup(folder.cleanup)
        return str(support.drive_file(Path(folder.name) / "a.slate"))


class Campaigns(unittest.TestCase):
    """Test the log of 'slate cuts', and the guest's report."""

    def test_announcements(self) -> None:
        """A line counts from its time on, without that time; one that the cut tore does not count."""
        said = b"w0 1 10\r\nw1 1 20\nrow 7 of t 30\r\nw2 1 40\r\nw0 3 50"
        self.assertEqual(times.announced(said, 100), [b"w0 1\n", b"w1 1\n", b"row 7 of t\n", b"w2 1\n"])
        self.assertEqual(times.announced(said, 30), [b"w0 1\n", b"w1 1\n", b"row 7 of t\n"])
        self.assertEqual(times.announced(said, 29), [b"w0 1\n", b"w1 1\n"])
        self.assertEqual(times.announced(b"", 100), [])

    def test_ends_of_requests(self) -> None:
        """A request that has not ended has no latency. The third flush is the third to end."""
        rows = [{"op": op, "submit_ns": str(at), "latency_ns": latency} for op, at, latency in (
            ("write", 0, "9"), ("flush", 10, "30"), ("flush", 11, "5"), ("flush", 20, "40"), ("trim", 50, ""),
        )]  # fmt: skip
        ended = times.ends(rows)
        self.assertEqual(ended, {"write": [9], "flush": [16, 40, 60]})
        for text, at_ns in (("flush:1", [16]), ("flush:2..3-1ns", [39, 59]), ("write:1+0.5us", [509])):
            found = times.parse(text, 2)
            self.assertEqual([times.resolve(when, b"", 1000, ended) for when in found], at_ns)
            again = times.parse(",".join(map(str, found)), 2)
            self.assertEqual(again, found, "a log's head and a message repeat it")
        for text, why in (
            ("flush:3", "only 2 flushes had ended by 0.000050 ms\n  fix: name an earlier one, or give the work more"),
            ("write:2", "only 1 write had ended by"),
            ("trim:1", "only 0 trims had ended by"),
            ("flush:2+11ns", "flush 2 came at 0.000040 ms, so the cut is at 0.000051 ms, and the work ran from 0 to"),
        ):
            with self.assertRaisesRegex(SlateError, why):
                times.resolve(times.parse(text, 1)[0], b"", 50, ended)

    def test_nand_commands(self) -> None:
        """They are numbered as dies got them, and a copyback programs. The second here ends after the third."""
        rows = [{"command": str(number), "op": op, "cells_ns": str(begin), "end_ns": str(end)}
                for number, op, begin, end in ((3, "copyback", 40, 90), (0, "program", 10, 50), (1, "program", 12, 200),
                                               (2, "erase", 20, 600))]  # fmt: skip
        events = times.commands(rows)
        self.assertEqual(events, {"program": [50, 200, 90], "program-begin": [10, 12, 40], "erase": [600],
                                  "erase-begin": [20]})  # fmt: skip
        for text, at_ns in (
            ("program:1", [50]), ("program:1-1ns", [49]), ("program-begin:2..3+1ns", [13, 41]), ("program:3", [90]),
            ("erase-begin:1+80ns", [100]),
        ):  # fmt: skip
            found = times.parse(text, 2)
            self.assertEqual([times.resolve(when, b"", 100, events) for when in found], at_ns)
            self.assertEqual(times.parse(",".join(map(str, found)), 2), found, "a log's head and a message repeat it")
        for text, why in (
            ("program:2", "only 2 programs had ended by 0.000100 ms\n  fix: name an earlier one, or give the work"),
            ("program:4", "only 2 programs had ended by"),
            ("program-begin:4", "only 3 programs had begun by"),
            ("erase:1", "only 0 erases had ended by"),
            ("erase-begin:1+81ns", "erase-begin 1 came at 0.000020 ms, so the cut is at 0.000101 ms"),
        ):
            with self.assertRaisesRegex(SlateError, why):
                times.resolve(times.parse(text, 1)[0], b"", 100, events)

    def test_times_of_cuts(self) -> None:
        """A time is the drive's, or relative to the first announcement of exactly these words."""
        said = b"row 1 1000\nrow 2 2000\nrow 1 3000\nrow 3"
        for text, at_ns in (
            ("5us", 5_000), ("mark:row 1", 1000), ("mark:row 1+200ns", 1200), ("mark:row 2-1ns", 1999),
            ("mark:row 1-1us", 0), ("mark:row 2+7us", 9000),
        ):  # fmt: skip
            (when,) = times.parse(text, 1)
            self.assertEqual(times.resolve(when, said, 9000), at_ns, text)
            self.assertEqual(times.parse(str(when), 1), (when,), "a log's head and a message repeat it")
        self.assertEqual([str(when) for when in times.parse("1ms,mark:a+b,mark:c-1.5us", 3)],
                         ["1000000ns", "mark:a+b+0ns", "mark:c-1500ns"])  # fmt: skip
        for text, why in (
            ("mark:row 3", "did not announce 'row 3' by 0.009000 ms; it announced 'row 1', 'row 2', 'row 1'\n"),
            ("mark:row 1+7", "did not announce 'row 1.7' (.*\n)*  fix: .* needs a unit: mark:WORDS.200us"),
            ("mark:row", "did not announce 'row' by"),
            ("mark:row 2+7001ns", "'row 2' came at 0.002000 ms, so the cut is at 0.009001 ms, .* ran from 0 to 0.009"),
            ("mark:row 1-1001ns", "the cut is at -0.000001 ms"),
            ("mark:row 1+7us+1ns", "did not announce 'row 1.7us' by"),
        ):
            with self.assertRaisesRegex(SlateError, why):
                times.resolve(times.parse(text, 1)[0], said, 9000)
        with self.assertRaisesRegex(SlateError, "it announced nothing"):
            times.resolve(times.When(0, "x"), b"", 9000)
        many = b"".join(b"n %d %d\n" % (at, at) for at in range(1, 10))
        with self.assertRaisesRegex(SlateError, "'n 1', 'n 2', 'n 3', 'n 4', ..., 'n 9'"):
            times.resolve(times.When(0, "x"), many, 9000)

    def test_a_terminal_gets_no_control_characters(self) -> None:
        """A check may print what it finds on a drive, and a work may announce it."""
        campaign, files = mock.Mock(), {"check-1.txt": "\x1b[2Jrow\x07 7\r\nis \x9bgone\t!\n\nstatus 1\n"}
        campaign.options.side_effect = lambda *words, **more: parsed()
        with mock.patch.object(campaigns, "keep_console"), mock.patch.object(campaigns, "files_of", return_value=files):
            said = Campaign.check(campaign, Recorded(1, Path("t"), b""), [Path("d")], [[]], "")
        self.assertEqual(said, ["row 7\nis gone\t!\n\nstatus 1\n"])
        self.assertEqual(workload.verdict_of(said[0]), "lost")
        with self.assertRaisesRegex(SlateError, "it announced 'n 1'"):
            times.resolve(times.When(0, "x"), b"\x1b[2Jn 1 5\n", 9)

    def test_verdicts(self) -> None:
        """The exit status of a check is its verdict; one that crashed or was ended gives none."""
        for status, verdict in ((0, "good"), (1, "lost"), (2, "torn"), (3, "inconsistent"), (4, "check failed"),
                                (137, "check failed")):  # fmt: skip
            self.assertEqual(workload.verdict_of(f"what it said\nstatus 1 and more\nstatus {status}\n"), verdict)
        for said in ("", "status 0", "status 0\nmore\n", "the guest did not look at it"):
            self.assertEqual(workload.verdict_of(said), "check failed")

    def test_a_check_that_the_shell_cannot_execute(self) -> None:
        """dash, bash and busybox end with status 2 then; a check that says the same by itself goes on after it."""
        for said in (
            './check: 3: Syntax error: "fi" unexpected', "./check: line 7: syntax error: unexpected end of file",
            "fine\n./check: 12: x: parameter not set", "check: 1: .: cannot open nothere",
        ):  # fmt: skip
            self.assertEqual(workload.verdict_of(f"{said}\n\nstatus 2\n"), "check failed", said)
        for said in ("", "block 7 is half new", "./check: 3: warning\nblock 7 is half new", "./check: torn"):
            self.assertEqual(workload.verdict_of(f"{said}\n\nstatus 2\n"), "torn", said)

    def test_a_lost_change_is_told(self) -> None:
        moment = Moment("1:2", Plan(at_ns=5))
        power = {"cut-ns": 5, "lost-requests": 0, "torn-programs": 0, "torn-erases": 0, "gc-runs": 0}
        self.assertTrue(moment.line(power, [], "e2fsck\nstatus 0\n", 1)["good"])
        for said in (
            "worker 0: f1: is not there, and was synced\nstatus 1\n",
            "status 0",
            "",
            "does not mount\nstatus 1\n",
        ):
            line = moment.line(power, [], said, 1)
            self.assertEqual((line["good"], line["said"]), (False, said))

    def test_drives_of_a_boot(self) -> None:
        """Drive files take at most 5 GiB at once; there are at most the 64 of a group, and at least one."""
        self.assertEqual(files.drives_at_once(64 << 20), 64)
        self.assertEqual(files.drives_at_once(300 << 20), 17)
        self.assertEqual(files.drives_at_once(6 << 30), 1)
        self.assertEqual(files.drives_at_once(0), 64)

    def test_log(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            log, head = Path(folder) / "log", {"seed": 1}
            self.assertEqual(logfile.read_log(log, head), [])
            line = {"id": "1:0", "good": True, "verdict": "good", "said": "", "seconds": 0.1, "cut_ns": 5,
                    "operations": 0, "lost_requests": 0, "torn_programs": 0, "torn_erases": 0, "gc_runs": 0}
            log.write_text(f'{{"seed": 1}}\n{json.dumps(line)}\n{{"id": "1:', encoding="utf-8")
            self.assertEqual(logfile.read_log(log, head), [line])
            self.assertEqual(log.read_text(encoding="utf-8"), f'{{"seed": 1}}\n{json.dumps(line)}\n')
            log.write_text('{"seed": 1}\n{"id": "1:0", "good": 1}\n', encoding="utf-8")
            with self.assertRaisesRegex(SlateError, "log, line 2: 'good' is not true or false\n.*delete this line"):
                logfile.read_log(log, head)
            log.write_text('{"slate_cuts": 5, "seed": 2}\n', encoding="utf-8")
            self.assertEqual(logfile.read_log(log, head), [], "of other cuts, but it has none")
            for other in ('{"seed": 2}\n', "not json\n", "[1]\n", '{"slate_cuts": 5, "seed": 2}\n{"id": "1:0"}\n'):
                log.write_text(other, encoding="utf-8")
                with self.assertRaisesRegex(SlateError, "is of other cuts"):
                    logfile.read_log(log, head)
                self.assertEqual(log.read_text(encoding="utf-8"), other)

    def test_a_full_disk_is_named(self) -> None:
        """The errors of writing have no name of their own; what the log has stays."""
        for write in (logfile.begin, logfile.append):
            with self.assertRaises(OSError) as raised:
                write(Path("/dev/full"), {})
            self.assertEqual((raised.exception.filename, raised.exception.errno), ("/dev/full", errno.ENOSPC))
        for error, said in (
            (OSError(errno.ENOSPC, "No space", "/d/log"), "/d/log: no space\n"),
            (OSError(errno.ENOSPC, "No space"), "a file could not be written: no space\n"),
        ):
            with mock.patch.object(cli, "_main", side_effect=error), mock.patch.object(cli, "_say_no_more"):
                with contextlib.redirect_stderr(io.StringIO()) as told:
                    self.assertEqual(cli.main([]), 2)
            self.assertEqual(told.getvalue(), f"slate: {said}  fix: make room there, or write elsewhere\n")

    def test_a_disk_that_is_nearly_full(self) -> None:
        """A drive then refuses writes, so what a guest or a replay says of it does not count."""
        campaign = Campaign(RunOptions(None), mock.Mock(), 1, 10**9, Path("/tmp"), Path("o"))
        for blocks, status in ((files.SPARE // 512, "good"), (files.SPARE // 512 - 1, "full")):
            disk = mock.Mock(f_bavail=blocks, f_frsize=512)
            with mock.patch.object(os, "statvfs", return_value=disk), mock.patch.object(campaigns, "boot") as boot:
                if status == "good":
                    self.assertIs(campaign.boot(campaign.base), boot.return_value)
                    continue
                with self.assertRaisesRegex(SlateError, "^/tmp: no room: 128 MiB free, 128 MiB needed\n  fix: make"):
                    campaign.boot(campaign.base)
                boot.side_effect = MachineError("the guest died")
                with self.assertRaisesRegex(SlateError, "no room"):
                    campaign.boot(campaign.base)

    def test_what_a_killed_campaign_left_is_removed(self) -> None:
        """Its folder has no lock. A folder in use stays, and one that may not have its lock yet."""
        with tempfile.TemporaryDirectory() as top, mock.patch.object(tempfile, "tempdir", top):
            with files.work_folder() as used:
                left, young, other = (Path(top) / f"{name}1" for name in (files.PREFIX, f"{files.PREFIX}y", "other-"))
                for path in (left, young, other):
                    path.mkdir()
                    (path / "cut0.slate").touch()
                old = time.time() - files.NEW_SECONDS - 1
                for path in (left, other, used):
                    os.utime(path, (old, old))
                with files.work_folder() as second:
                    self.assertEqual({path.name for path in Path(top).iterdir()},
                                     {path.name for path in (used, second, young, other)})  # fmt: skip
            self.assertEqual({path.name for path in Path(top).iterdir()}, {young.name, other.name})

    def test_summary(self) -> None:
        line = {"operations": 5, "lost_requests": 1, "torn_programs": 2}
        text = logfile.summary([{"id": "1:0", "good": True, **line}, {"id": "1:1", "good": False, **line}])
        self.assertIn("2 power cuts: 1 left everything that was announced as durable", text)
        self.assertIn("not so: 1:1", text)
        self.assertNotIn("show little", text)
        text = logfile.summary([{"id": "1:0", "good": True, **line, "operations": 0}])
        self.assertIn("no cut came after an announcement. Give more time to the work (--span SEC)", text)

    def test_refused(self) -> None:
        for words, said in (
            (("--id", "seven"), "not SEED:NUMBER"),
            (("--keep", "x"), "--keep without --id"),
            (("--id", "1:1", "--stop"), "--stop with --id"),
            (("--count", "0"), "--count 0: out of range\n  fix: give a number from 1 to 1000000\n"),
            (("--span", "0"), "--span 0: out of range"),
            (("--set", "x"), "not SECTION.KEY=VALUE"),
            (("--profile", "none.ini"), "no such profile"),
            (("--fs", "ntfs"), "--fs ntfs: not a file system here"),
            (("--check", SCRIPT), "--check without --work"),
            (("--apps",), "--apps without --work"),
            (("--work", SCRIPT), "--work without --check"),
            (("--work", SCRIPT, "--check", SCRIPT, "--fs", "xfs"), "--fs with --work"),
            (("--work", "nothere.sh", "--check", SCRIPT), "--work nothere.sh: No such file or directory"),
            (("--work", SCRIPT, "--check", "/"), "--check /: Is a directory"),
            (("--work", SCRIPT, "--check", SCRIPT, "--file", "nothere"), "--file nothere: No such file"),
            (("--per-boot", "65"), "--per-boot 65: out of range"),
            (("--shrink",), "--shrink without --id"),
            (("--states", "4"), "--states: counts subsets of unflushed writes"),
            (("--states", "1", "--kind", "subset"), "--states 1: out of range"),
            (("--check-on-host", "--kind", "subset"), "--check-on-host with --kind subset: makes cuts of the"),
            (("--check-on-host", "--fs", "xfs"), "--check-on-host with --fs xfs: only a kernel replays its log"),
            (("--check-on-host", "--ready", "sqlite:wal-full"), "--check-on-host with --ready"),
            (("--check-on-host", "--shrink", "--id", "1:0"), "--check-on-host with --shrink"),
            (("--ready", "sqlit:wal-full"), "there is no sqlit; did you mean sqlite?"),
            (("--ready", "sqlite"), "--ready sqlite: there is no such variant"),
            (("--ready", "sqlite:wal-fast"), "write --ready sqlite:VARIANT; JOURNAL-SYNC. JOURNAL: delete"),
            (("--ready", "sqlite:wal-full", "--fs", "xfs"), "--fs with --ready"),
            (("--ready", "sqlite:wal-full", "--check", SCRIPT), "--check with --ready"),
            (("--take", "1"), "--take without --cut-at"),
            (("--cut-at", ""), "--cut-at is empty"),
            (("--take", "x", "--cut-at", "1s"), "--take x: not numbers of requests"),
            (("--take", "1", "--cut-at", "1s", "--kind", "torn"), "--take with --kind torn"),
            (("--kind", "pulled"), "--kind pulled: not a kind of cut"),
            (("--cut-at", "1"), "--cut-at 1: not a time in whole nanoseconds"),
            (("--cut-at", f"{2**60 + 1}ns"), "ns: later than 1152921504606846976 ns, the latest cut"),
            (("--cut-at", "99999999999s"), "--cut-at 99999999999s: later than"),
            (("--cut-at", "mark7+1ns"), "--cut-at mark7+1ns: not a time in whole nanoseconds\n  fix: write it as 1.5s, "
             "800ms, 20us or 1500000001ns, or relative as mark:WORDS+200us, flush:3..7-1ns, "
             "program:3 or erase-begin:3\n"),
            (("--cut-at", "mark:"), "--cut-at mark:: no announcement is named"),
            (("--cut-at", ",".join(["1s"] * 65)), "--cut-at: more than 64 times"),
            (("--cut-at", "flush:1..64,1s"), "--cut-at: more than 64 times"),
            (("--cut-at", "flush:1..999999999"), "--cut-at: more than 64 times"),
            (("--cut-at", "program:1..257", "--check-on-host"), "--cut-at: more than 256 times\n  fix: give at most"),
            (("--cut-at", "read:1"), "--cut-at read:1: not a time in whole nanoseconds"),
            (("--cut-at", "flush-begin:1"), "--cut-at flush-begin:1: not a time in whole nanoseconds"),
            (("--cut-at", "erase:5..4"), "--cut-at erase:5..4: the last comes before the first"),
            (("--cut-at", "flush:0"), "--cut-at flush:0: not a time in whole nanoseconds"),
            (("--cut-at", "flush:3..2"), "--cut-at flush:3..2: the last comes before the first"),
            (("--cut-at", "flush:1+2"), "--cut-at flush:1+2: not a time in whole nanoseconds"),
            (("--cut-at", "1s", "--count", "2"), "--count with --cut-at"),
            (("--cut-at", "1s,2s", "--id", "1:2"), "--id 1:2: --cut-at names 2 time(s), from 1:0 on"),
        ):
            self.refused(words, said)

    def test_refused_in_a_survey(self) -> None:
        """A survey replays a recording, so it takes no option of guests, checks and kinds."""
        for words, said in (
            (("nothere",), "--survey nothere: no such file"),
            ((SCRIPT, "--cut-at", "1s"), "--cut-at with --survey"),
            ((SCRIPT, "--check-in-slate"), "--check-in-slate with --survey"),
            ((SCRIPT, "--kind", "subset"), "--kind with --survey"),
            ((SCRIPT, "--per-boot", "2"), "--per-boot with --survey"),
        ):
            self.refused(("--survey", *words), said)

    def test_refused_on_zones(self) -> None:
        zones = ("--profile", "zns-small", "--work", SCRIPT, "--check", SCRIPT)
        for words, said in (
            ((*zones, "--kind", "subset"), "--kind subset: needs a recording, and of a drive with zones"),
            ((*zones, "--kind", "vanish"), "--kind vanish: needs a recording"),
            ((*zones, "--kind", "controller"), "--kind controller: needs a recording"),
            ((*zones, "--cut-at", "1s", "--take", "1"), "--take: needs a recording"),
            ((*zones, "--shrink", "--id", "1:0"), "--shrink: needs a recording"),
            ((*zones, "--check-on-host"), "--check-on-host: needs a recording"),
            ((*zones, "--cut-at", "flush:1"), "--cut-at flush:1: needs a recording"),
            ((*zones, "--cut-at", "program-begin:1+1ns"), "--cut-at program-begin:1+1ns: needs a recording"),
            ((*zones, "--age", "2"), "--age 2: a drive with zones cannot be overwritten at random"),
            ((*zones, "--kernel", "small"), "--kernel small has no zones"),
            (("--profile", "zns-small"), "--fs ext4: the built-in work needs a drive without zones"),
        ):
            self.refused(words, said)

    def refused(self, words: tuple[str, ...], said: str) -> None:
        """Check that a command is refused with these words."""
        done = subprocess.run(
            [ROOT / "host-tools" / "slate", "cuts", *words],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(said, done.stderr)


def unflushed(*sizes: tuple[int, int]) -> list[Any]:
    """Return writes at these offsets of these sizes, numbered from 10."""
    return [{"request": 10 + at, "op": "write", "offset": offset, "bytes": size}
            for at, (offset, size) in enumerate(sizes)]  # fmt: skip


class Kinds(unittest.TestCase):
    """Test what the kinds of cuts take."""

    def draws(self, name: str, found: list[Any]) -> set[str]:
        """Return the files of --lose of a thousand cuts."""
        choose = kinds.find(name).choose
        assert choose
        return {kinds.text(choose(random.Random(seed), found, 4096)) for seed in range(1000)}

    def test_a_prefix_happens(self) -> None:
        found = unflushed((0, 4096), (8192, 4096), (0, 4096))
        self.assertEqual(self.draws("prefix", found), {"", "12\n", "11\n12\n", "10\n11\n12\n"})
        self.assertEqual(self.draws("prefix", []), {""})

    def test_any_subset_happens(self) -> None:
        found = unflushed((0, 4096), (8192, 4096), (0, 4096))
        self.assertEqual(len(self.draws("subset", found)), 8)
        self.assertIn("11\n", self.draws("subset", found))

    def test_states(self) -> None:
        """Of n writes all 2^n subsets, or so many different ones as are wanted, with none and all among them."""
        found = unflushed((0, 4096), (8192, 4096), (0, 4096))
        every = {kinds.text(losses) for losses in kinds.states(random.Random(1), found, 8)}
        self.assertEqual(len(every), 8)
        self.assertEqual(kinds.states(random.Random(1), [], 4), [[]])
        for seed in range(20):
            some = [kinds.text(losses) for losses in kinds.states(random.Random(seed), found, 5)]
            self.assertEqual((len(set(some)), len(some), some[:2]), (5, 5, ["", "10\n11\n12\n"]))
            self.assertLessEqual(set(some), every)

    def test_large_writes_are_torn(self) -> None:
        """Only at multiples of the atomic unit; a trim, and a write within a unit, happens or not."""
        found = unflushed((512, 3584), (2048, 8192))
        found.append({"request": 12, "op": "trim", "offset": 0, "bytes": 1 << 20})
        draws = self.draws("torn", found)
        self.assertEqual({line for text in draws for line in text.splitlines() if line.startswith("10")}, {"10"})
        self.assertEqual({line for text in draws for line in text.splitlines() if line.startswith("12")}, {"12"})
        parts = {line for text in draws for line in text.splitlines() if line.startswith("11")}
        edges = (0, 2048, 6144, 8192)
        every = {f"11 {a} {b}" for a in edges for b in edges if a < b and b - a < 8192}
        self.assertEqual(parts, {"11"} | every)

    def test_the_report_says_what_holds(self) -> None:
        line = {"id": "1:0", "good": True, "operations": 5, "lost_requests": 1, "torn_programs": 2}
        text = logfile.summary([line | {"unflushed": 7, "taken": 3}], kinds.find("subset"))
        self.assertIn("any subset happens; flushed data, FUA writes and atomic writes survive; order is not", text)
        self.assertIn("7 writes and trims were not flushed, and the cuts took 3 of them", text)
        self.assertIn("NONE HOLDS", logfile.summary([line], kinds.find("lying")))
        self.assertEqual(kinds.find("lying").settings, ("drive.ignore_flush=yes",))
        with self.assertRaisesRegex(SlateError, "--kind pulled: not a kind of cut\n.*off, controller, vanish, prefix"):
            kinds.find("pulled")


class Shrink(unittest.TestCase):
    """Test the searches for the first bad nanosecond and for the smallest loss."""

    def test_first_bad(self) -> None:
        for good, bad, edge in ((0, 1, 1), (0, 10**9, 1), (0, 10**9, 10**9), (5, 10**9, 123_456_789), (7, 19, 12)):
            asked: list[int] = []

            def are_bad(times: list[int], edge: int = edge, asked: list[int] = asked) -> list[bool]:
                self.assertEqual(times, sorted(set(times)))
                self.assertLessEqual(len(times), shrink.WIDTH)
                asked.append(len(times))
                return [at_ns >= edge for at_ns in times]

            self.assertEqual(shrink.first_bad(good, bad, are_bad), edge)
            self.assertLessEqual(len(asked), 8, "17 to the power of 8 is more than 10^9")

    def test_smallest(self) -> None:
        """It finds any least part, however the bad items lie; no item of it can be left out."""
        items = list(range(20))
        for least in ({7}, {0, 19}, {3, 4, 5}, {1, 8, 12, 17}, set(items)):

            def are_bad(tried: list[list[int]], least: set[int] = least) -> list[bool]:
                self.assertTrue(all(part and part == sorted(part) for part in tried))
                return [least <= set(part) for part in tried]

            self.assertEqual(shrink.smallest(items, are_bad), sorted(least))
        self.assertEqual(shrink.smallest([4], lambda tried: [False for _ in tried]), [4])

    def test_the_account(self) -> None:
        one = {"request": 17, "op": "write", "offset": 8192, "bytes": 4096, "submit_ns": 7000, "done_ns": 8000,
               "sectors_there": 0}  # fmt: skip
        two = one | {"request": 18, "offset": 0, "submit_ns": 9000, "done_ns": None, "sectors_there": 7}
        three = one | {"request": 19, "submit_ns": 9500, "done_ns": 9600, "sectors_there": 8}
        self.assertEqual(shrink.lost_of([one, two, three, {"bytes": 4096}]), [one, two])
        account = shrink.Account("1:3", "lost", "row 2 is gone\n\nstatus 1\n", 10_000, [one, two, three], [one, two],
                                    [one], [("row 1", 2000), ("row 2", 9700), ("row 3", 11_000)], "slate A", "slate B")
        self.assertEqual(account.text(), """\
cut 1:3: lost from 10000 ns on; good 1 ns earlier
repeat    slate A
durable   2 announcements, the last is 'row 2'
in flight #18 write 4096 at 0
unflushed 3 writes and trims, of which the drive lost 2
smallest  1 lost: #17 write 4096 at 8192
repeat    slate B
check     row 2 is gone

        -8.000 us  durable: row 1
        -3.000 us  #17 write 4096 at 8192  LOST, explains it
        -2.000 us  #17 completes, not flushed
        -1.000 us  #18 write 4096 at 0  lost
        -0.500 us  #19 write 4096 at 8192
        -0.400 us  #19 completes, not flushed
        -0.300 us  durable: row 2
         0.000 us  POWER CUT
""")
        account.smallest = None
        self.assertIn("smallest  whole writes that are lost do not explain it", account.text())

    def test_both_commands_of_the_account_are_accepted(self) -> None:
        """The second one says what is lost by --take, so it has no --kind."""
        one = {"request": 17, "bytes": 512, "sectors_there": 0}
        for kind in (*kinds.KINDS, "take"):
            words = ["--take", "17", "--cut-at", "5ns"] if kind == "take" else ["--kind", kind]
            args = cli.parser().parse_args(["cuts", "--id", "1:3", "--shrink", *words])
            args.set = [*args.set, *(kinds.KINDS[kind].settings if kind != "take" else ())]
            campaign = mock.Mock(spec=Campaign)
            campaign.check.return_value = ["status 1\n"]
            work, moment = Recorded(1, Path("t"), b""), Moment("1:3", Plan(at_ns=7))
            line = {"verdict": "lost", "said": ""}
            with mock.patch.object(groups, "batch", return_value=[line]), mock.patch.multiple(
                explain, losses=lambda *_: ([one], [one]), requests=lambda *_: [],
                run=lambda found, _, words, work=work, moment=moment: explain.account(found, work, moment, words),
            ), mock.patch.multiple(
                cuts, campaign_of=lambda *_, found=campaign: found, explained=lambda account, _: account,
                keep_account=mock.DEFAULT, header=mock.DEFAULT,
            ):  # fmt: skip
                account: Any = cuts.one(args)
            for command_ in (account.repeat, account.repeat_loss):
                again = cli.parser().parse_args(shlex.split(command_)[1:])
                with self.subTest(command=command_), mock.patch.object(cuts, "one", return_value=0):
                    self.assertEqual(cuts.run(again), 0)
            self.assertEqual(again.set, args.set)
            self.assertEqual("drive.ignore_flush=yes" in account.repeat_loss, kind == "lying")
            self.assertIn(shlex.join(words[:2]), account.repeat)

    def test_all_that_is_not_lost_is_there(self) -> None:
        """A drive that ignores flushes would keep its buffer to itself at the end."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            trace, origin, read = folder / "t", folder / "origin.slate", folder / "r"
            trace.write_text("# slate-trace 1\n0 0 write 0 4096\n0 0 write 8192 4096\n", encoding="utf-8")
            read.write_text("# slate-trace 1\n0 0 read 0 4096\n0 0 read 8192 4096\n", encoding="utf-8")
            moment, work = Moment("1:0", Plan(at_ns=5)), Recorded(1, trace, b"")
            words = ("--profile", SMALL, "--set", "drive.ignore_flush=yes", "--set", "ftl.payload=yes")
            files.replayed("x", *words, "--drive", origin, "gen:rand4k,foot=4KiB,n=1,read=1000")
            campaign = mock.Mock(folder=folder, origin=origin)
            drive = Campaign.take(campaign, work, moment, [kinds.Loss(1)], "x")
            found = files.replayed("x", "--drive", drive, read)
            self.assertEqual(found["nand"]["ops"]["read"]["host"], 1)

    def test_taken_requests(self) -> None:
        choose = kinds.given("18,17").choose
        assert choose
        found = [{"request": number} for number in (16, 17, 18)]
        self.assertEqual(kinds.text(choose(random.Random(1), found, 512)), "17\n18\n")
        with self.assertRaisesRegex(SlateError, "--take 17: not an unflushed request"):
            choose(random.Random(1), found[:1], 512)


class Survey(unittest.TestCase):
    """Test how the states after cuts are counted."""

    def writes(self, *there: int) -> list[Any]:
        """Return writes of two sectors each, next to each other, of which so many are there."""
        write = {"op": "write", "bytes": 1024}
        return [write | {"offset": 1024 * at, "sectors_there": got} for at, got in enumerate(there)]

    def test_classes(self) -> None:
        part = "prefix, and part of the next"
        for there, kind in (((0, 0), "none"), ((2, 2), "all"), ((2, 2, 0), "prefix"), ((0, 2), "other"), ((1,), part),
                            ((2, 0, 2), "other"), ((2, 1, 0), part), ((1, 1), "other"), ((1, 2), "other")):  # fmt: skip
            self.assertEqual(survey.classify(self.writes(*there)), kind, there)

    def test_overwritten_writes_do_not_count(self) -> None:
        one, two, three = self.writes(2, 0, 0)
        over = one | {"offset": 512, "bytes": 512}
        trim = {"op": "trim", "offset": 2048, "bytes": 4096}
        self.assertEqual(survey.visible([one, two, three]), [one, two, three])
        self.assertEqual(survey.visible([one, two, three, over, trim]), [two, over])

    def test_the_line(self) -> None:
        cuts_ = [(self.writes(*there), {"s", there[:1] and str(there)}) for there in ((0,), (2, 0), (2, 2), (0, 2, 2))]
        cuts_[0][1].add("t")
        self.assertEqual(survey.text("small", cuts_), "| small | 4 | 2; 3 | 1 | 1 | 1 | 0 | 1 | 2.2; 3 |")
        self.assertEqual(survey.text("x", []), "| x | 0 | 0; 0 | 0 | 0 | 0 | 0 | 0 | 0; 0 |")


class Kernel(unittest.TestCase):
    """Test --kernel of 'slate cuts'."""

    def campaign(self, *words: Any, built: bool = True) -> Any:
        args = cli.parser().parse_args(["cuts", *words])
        with tempfile.NamedTemporaryFile() as kernel, mock.patch.object(command, "check_built"), mock.patch.object(
            paths, "guest_program"
        ), mock.patch.dict(paths.KERNELS, {"small": Path(kernel.name if built else "/none")}):
            return cuts.campaign_of(args, Path("/none"))

    def test_it_is_the_small_one(self) -> None:
        self.assertEqual(self.campaign().base.kernel, "small")
        self.assertNotIn("kernel", header(self.campaign()))

    def test_the_small_one_has_the_file_systems_of_the_built_in_work(self) -> None:
        for fs in ("ext4", "xfs", "f2fs"):
            self.assertEqual(self.campaign("--fs", fs).base.kernel, "small")
        for words in (("--kernel", "debian"), ("--work", SCRIPT, "--check", SCRIPT)):
            found = self.campaign(*words, built=False)
            self.assertEqual((found.base.kernel, header(found)["kernel"]), ("debian", "debian"), words)

    def test_a_drive_that_can_not_be_copied(self) -> None:
        """As on a full disk: no folder is there for the copy, so cp fails, and its reason is told with the fix."""
        with tempfile.TemporaryDirectory() as folder:
            source, target = Path(folder) / "a", Path(folder) / "none" / "b"
            source.write_bytes(b"drive")
            with self.assertRaises(SlateError) as caught:
                files.copy_sparse(source, target)
            self.assertRegex(str(caught.exception), f"not copied: cp: .*{target}.*No such file.*\n.*TMPDIR")
            self.assertEqual(source.read_bytes(), b"drive")

    def test_what_to_do_without_the_small_one(self) -> None:
        with self.assertRaises(SlateError) as caught:
            self.campaign(built=False)
        self.assertIn("make guest-kernel', or use --kernel debian", str(caught.exception))


if __name__ == "__main__":
    unittest.main()

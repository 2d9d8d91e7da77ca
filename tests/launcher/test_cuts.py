# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the options of power cuts: their meaning, and what is refused."""

import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import support
from support import ROOT

from slate_lib import cli, command, cuts, options, paths, powercut
from slate_lib.errors import SlateError
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
            self.assertEqual(powercut.parse_time(text), ns, text)

    def test_refused(self) -> None:
        for text in ("", "1", "1.5", "s", "-1s", "1.5ns", "1.0000000001s", "1 s", "1h"):
            with self.assertRaisesRegex(SlateError, "not a time in whole nanoseconds"):
                powercut.parse_time(text)


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

    def test_several(self) -> None:
        boots = powercut.boots(parsed("--cut-at", "1s,2s", "--after-cut", SCRIPT))
        self.assertEqual([plan and plan.at_ns for _, plan in boots], [10**9, 2 * 10**9, None])
        self.assertEqual(boots[1][0].script_text, Path(SCRIPT).read_text(encoding="utf-8"))

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

    def test_report(self) -> None:
        said = b"w0 1 10\r\nw1 1 20\nw0 2 30\r\nw2 1 40\r\nw0 3 50"
        self.assertEqual(cuts.durable(said, 100), [2, 1, 1])
        self.assertEqual(cuts.durable(said, 30), [2, 1, 0])
        self.assertEqual(cuts.durable(said, 29), [1, 1, 0])
        self.assertEqual(cuts.durable(b"", 100), [0, 0, 0])

    def test_a_lost_change_is_told(self) -> None:
        moment = cuts.Moment("1:2", Plan(at_ns=5))
        power = {"cut-ns": 5, "lost-requests": 0, "torn-programs": 0, "torn-erases": 0, "gc-runs": 0}
        self.assertTrue(moment.line(power, 3, "e2fsck\nstatus 0\n", 1)["good"])
        for said in (
            "worker 0: f1: is not there, and was synced\nstatus 1\n",
            "status 0",
            "",
            "does not mount\nstatus 1\n",
        ):
            line = moment.line(power, 3, said, 1)
            self.assertEqual((line["good"], line["said"]), (False, said))

    def test_drives_of_a_boot(self) -> None:
        """Drive files take at most 5 GiB at once; there are at most the 64 of a group, and at least one."""
        self.assertEqual(cuts.drives_at_once(64 << 20), 64)
        self.assertEqual(cuts.drives_at_once(300 << 20), 17)
        self.assertEqual(cuts.drives_at_once(6 << 30), 1)
        self.assertEqual(cuts.drives_at_once(0), 64)

    def test_log(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            log, head = Path(folder) / "log", {"seed": 1}
            self.assertEqual(cuts.read_log(log, head), [])
            log.write_text('{"seed": 1}\n{"id": "1:0"}\n{"id": "1:', encoding="utf-8")
            self.assertEqual(cuts.read_log(log, head), [{"id": "1:0"}])
            self.assertEqual(log.read_text(encoding="utf-8"), '{"seed": 1}\n{"id": "1:0"}\n')
            for other in ('{"seed": 2}\n', "not json\n"):
                log.write_text(other, encoding="utf-8")
                with self.assertRaisesRegex(SlateError, "is of other cuts"):
                    cuts.read_log(log, head)
                self.assertEqual(log.read_text(encoding="utf-8"), other)

    def test_summary(self) -> None:
        line = {"operations": 5, "lost_requests": 1, "torn_programs": 2}
        text = cuts.summary([{"id": "1:0", "good": True, **line}, {"id": "1:1", "good": False, **line}])
        self.assertIn("2 power cuts: 1 left a clean file system", text)
        self.assertIn("not so: 1:1", text)
        self.assertNotIn("show little", text)
        text = cuts.summary([{"id": "1:0", "good": True, **line, "operations": 0}])
        self.assertIn("no cut came after the first fsync. Give more time to the work: --span SEC.", text)

    def test_refused(self) -> None:
        for words, said in (
            (("--id", "seven"), "not SEED:NUMBER"),
            (("--keep", "x"), "--keep without --id"),
            (("--id", "1:1", "--stop"), "--stop with --id"),
            (("--count", "0"), "--count 0: out of range"),
            (("--span", "0"), "--span 0: out of range"),
            (("--set", "x"), "not SECTION.KEY=VALUE"),
            (("--profile", "none.ini"), "no such profile"),
        ):
            done = subprocess.run(
                [ROOT / "host-tools" / "slate", "cuts", *words],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)


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
        self.assertNotIn("kernel", cuts.header(self.campaign()))

    def test_debian_needs_a_module(self) -> None:
        found = self.campaign("--kernel", "debian", built=False)
        self.assertEqual((found.base.kernel, cuts.header(found)["kernel"]), ("debian", "debian"))
        self.assertIn("modprobe ext4\n", found._modules())

    def test_a_drive_that_can_not_be_copied(self) -> None:
        """As on a full disk: no folder is there for the copy, so cp fails, and its reason is told with the fix."""
        with tempfile.TemporaryDirectory() as folder:
            source, target = Path(folder) / "a", Path(folder) / "none" / "b"
            source.write_bytes(b"drive")
            with self.assertRaises(SlateError) as caught:
                cuts.copy_sparse(source, target)
            self.assertRegex(str(caught.exception), f"not copied: cp: .*{target}.*No such file.*\n.*TMPDIR")
            self.assertEqual(source.read_bytes(), b"drive")

    def test_what_to_do_without_the_small_one(self) -> None:
        with self.assertRaises(SlateError) as caught:
            self.campaign(built=False)
        self.assertIn("make guest-kernel', or use --kernel debian", str(caught.exception))


if __name__ == "__main__":
    unittest.main()

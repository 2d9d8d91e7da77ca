# SPDX-License-Identifier: GPL-2.0-or-later
"""Test power cuts from outside at a nanosecond of virtual time, and the guest's data after it."""

import json
import re
import subprocess
import unittest
from typing import Any

from support import HERE, PROFILES, SLATE, GuestTest, Result

_SYNCED = re.compile(r"^SYNCED (\d+)\r?$", re.MULTILINE)
WRITE = HERE / "cut-write.sh"


class CutAt(GuestTest):
    """Run slate run --cut-at."""

    def cut(self, *args: Any, **more: Any) -> Result:
        return self.slate("--kernel", "small", "--fill", "0", "--mem", "400M", *args, **more)

    def test_what_was_synced_is_there_and_equal_cuts_are_equal(self) -> None:
        runs = [self.cut("--cmd", WRITE, "--cut-at", "800ms", "--after-cut", WRITE) for _ in range(2)]
        cuts = [run.json("run.json")["power_cuts"] for run in runs]
        self.assertEqual(cuts[0], cuts[1])
        self.assertEqual(len(cuts[0]), 1)
        self.assertEqual(cuts[0][0]["cut-ns"], 800_000_000)
        self.assertGreater(cuts[0][0]["mount-reads"], 0)
        self.assertGreater(cuts[0][0]["mount-ns"], 0)
        for name in ("device.json", "report.txt", "whole.txt", "console-1.log"):
            self.assertEqual(runs[0].text(name), runs[1].text(name), name)
        synced = int(_SYNCED.findall(runs[0].text("console-1.log"))[-1])
        self.assertGreater(synced, 10)
        self.assertIn(int(runs[0].text("whole.txt")), (synced, synced + 1))
        self.assertRegex(runs[0].text("report.txt"), r"power cut 1 +at 800\.000000 ms: \d+ requests in flight")
        self.assert_clean(runs[0].device)
        self.assertIn("--cut-at 800000000ns --cut-seed 1 --cut-then off", runs[0].json("run.json")["repeat"])
        self.assertEqual([path.name for path in runs[0].folder.glob(".*")], [])

    def test_the_machine_is_reset(self) -> None:
        """The second boot runs in the same QEMU and finds what the first one synced."""
        runs = [self.cut("--cmd", WRITE, "--cut-at", "800ms", "--cut-then", "reset") for _ in range(2)]
        for name in ("device.json", "whole.txt", "console.log"):
            self.assertEqual(runs[0].text(name), runs[1].text(name), name)
        console = runs[0].text("console.log")
        self.assertEqual(console.count("SLATE-PHASE job-start"), 2)
        synced = int(_SYNCED.findall(console)[-1])
        self.assertIn(int(runs[0].text("whole.txt")), (synced, synced + 1))
        cut = runs[0].json("run.json")["power_cuts"][0]
        self.assertEqual(cut["on-ns"], 800_000_000, "time stands from the cut to the reset")

    def test_the_drive_vanishes(self) -> None:
        """After 30 s of guest time the kernel removes the drive (6.1), or leaves one of 0 bytes; the guest ends."""
        result = self.cut("--cmd", HERE / "cut-vanish.sh", "--cut-at", "700ms", "--cut-then", "vanish")
        removed = result.json("run.json")["versions"]["kernel"].startswith("6.1.")
        self.assertEqual(result.text("vanish.txt"), "gone\n" if removed else "0\n")
        cut = result.json("run.json")["power_cuts"][0]
        self.assertEqual(cut["cut-ns"], 700_000_000)
        self.assertIn(cut["lost-requests"], (0, 1), "dd has one in flight, or is between two")
        self.assertGreater(cut["torn-programs"], 0)

    def test_slatectl_in_the_guest_takes_the_power_itself(self) -> None:
        """A drive without power does not answer, so the command waits for a second and then succeeds."""
        result = self.cut("--cmd", HERE / "cut-now.sh")
        status, seconds = map(int, result.text("cut.txt").split())
        self.assertEqual(status, 0, result.text("said.txt"))
        self.assertLess(seconds, 5, result.text("kernel.txt"))
        self.assertRegex(result.text("said.txt"), r"^slatectl: /dev/nvme0n1: .*\n$")
        self.assertIn("controller is down", result.text("kernel.txt"))

    def test_in_real_time(self) -> None:
        """The cut comes at a time of the drive's clock at any speed of the host, and data synced before it survive."""
        early = self.cut("--realtime", "--cmd", WRITE, "--cut-at", "1ms").json("run.json")["power_cuts"]
        self.assertEqual([(cut["cut-ns"], cut["lost-requests"]) for cut in early], [(1_000_000, 0)])
        result = self.cut("--realtime", "--cmd", WRITE, "--cut-after-commands", "400", "--after-cut", WRITE)
        cut = result.json("run.json")["power_cuts"][0]
        self.assertGreater(cut["mount-reads"], 0)
        synced = [int(n) for n in _SYNCED.findall(result.text("console-1.log"))]
        self.assertEqual(synced, list(range(1, len(synced) + 1)))
        self.assertGreater(len(synced), 3)
        self.assertIn(int(result.text("whole.txt")), (len(synced), len(synced) + 1))
        self.assert_clean(result.device)

    def test_the_guest_was_faster(self) -> None:
        result = self.cut("--cmd", HERE / "quiet.sh", "--cut-at", "1000s", code=3)
        self.assertIn("no power cut: the guest had powered off before its moment", result.err)


class Cuts(GuestTest):
    """Run slate cuts; 'make power-cuts' makes a hundred."""

    def cuts(self, *args: Any, code: int = 0) -> str:
        done = subprocess.run(
            [SLATE, "cuts", *map(str, args)],
            capture_output=True,
            text=True,
            timeout=3600,
            cwd=self.folder,
            check=False,
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def test_three_cuts_in_two_runs_and_one_again(self) -> None:
        log = self.folder / "cuts.jsonl"
        self.cuts("--count", "1", "--seed", "7", "--log", log)
        with open(log, "a", encoding="utf-8") as file:
            file.write('{"id": "7:1", "go')  # killed in the middle of a line
        out = self.cuts("--count", "3", "--seed", "7", "--log", log)
        self.assertIn("1 are in", out)
        self.assertIn("3 power cuts: 3 left a clean file system", out)
        lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        self.assertEqual([line["id"] for line in lines[1:]], ["7:0", "7:1", "7:2"])
        self.assertTrue(all(line["good"] and line["operations"] > 0 for line in lines[1:]))
        again = json.loads(self.cuts("--id", "7:1").partition("}")[0] + "}")
        for key in ("cut_ns", "operations", "lost_requests", "torn_programs", "torn_erases", "gc_runs"):
            self.assertEqual(again[key], lines[2][key], key)

    def test_a_drive_that_is_not_safe_is_found_out(self) -> None:
        """The page FTL reports that pages in pairs are not safe; flex, on the same array, backs them up.

        About one cut in three meets a page that takes its pair along, so that fifteen cuts without
        any are practically impossible, whatever the guest does.
        """
        drive, log = ("--profile", PROFILES / "rps-small.ini"), self.folder / "cuts.jsonl"
        out = self.cuts(*drive, "--set", "ftl.type=page", "--count", "15", "--stop", "--log", log, code=1)
        last = json.loads(log.read_text(encoding="utf-8").splitlines()[-1])
        self.assertFalse(last["good"])
        self.assertGreater(last["torn_programs"], 0)
        self.assertIn(f"not so: {last['id']}\n", out)
        self.assertIn('"good": true', self.cuts(*drive, "--id", last["id"]))

    def test_another_log_is_refused(self) -> None:
        log = self.folder / "cuts.jsonl"
        log.write_text('{"something": "else"}\n', encoding="utf-8")
        done = subprocess.run(
            [SLATE, "cuts", "--log", log], capture_output=True, text=True, timeout=60, check=False
        )
        self.assertEqual(done.returncode, 2)
        self.assertIn("is of other cuts", done.stderr)


if __name__ == "__main__":
    unittest.main()

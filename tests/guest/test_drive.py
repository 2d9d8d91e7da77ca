# SPDX-License-Identifier: GPL-2.0-or-later
"""Test drive files: age once and run many times, continue after a run, kill QEMU."""

import fcntl
import os
import random
import re
import signal
import subprocess
import time
import unittest
from pathlib import Path
from typing import Any

from support import HERE, PROFILES, SLATE, SMALL, GuestTest

from slate_lib import drivefile

_SYNCED = re.compile(r"^SYNCED (\d+)\r?$", re.MULTILINE)


class DriveFiles(GuestTest):
    """Run slate age, then slate run --drive."""

    def setUp(self) -> None:
        super().setUp()
        self.drive = self.folder / "drive.slate"

    def command(self, *args: Any, out: Path | None = None, **more: Any) -> tuple[list[str], Path]:
        """Run without --profile, because the drive file has its settings."""
        line, out = super().command(*args, out=out, **more)
        if "--profile" in args:
            return line, out
        at = line.index("--profile")
        return line[:at] + line[at + 2 :], out

    def age(self, *args: Any, profile: Any = SMALL) -> None:
        subprocess.run(
            [SLATE, "age", profile, *args, "-o", self.drive], check=True, capture_output=True, timeout=60
        )

    def test_equal_ephemeral_runs(self) -> None:
        self.age("--writes", "3x")
        before = drivefile.read(self.drive).sha256_of_tables()
        runs = [
            self.slate("--drive", self.drive, "--ephemeral", "--job", HERE / "determinism.fio") for _ in range(2)
        ]
        for name in ("fio.json", "device.json", "report.txt"):
            self.assertEqual(runs[0].text(name), runs[1].text(name), name)
        device = runs[0].device
        self.assert_clean(device)
        self.assertGreater(device.erases_per_page()[0], 3)
        self.assertGreater(device.total.ftl["gc-runs"], 0, "an aged drive collects at once")
        self.assertEqual(device.total.ftl["unwritten-reads"], 0)
        record = runs[0].json("run.json")
        self.assertEqual(record["sha256"]["drive-tables"], before)
        self.assertEqual(record["settings"]["drive"]["path"], "drive.slate")
        self.assertIn("precondition.age_permille=3000", record["settings"]["drive"]["settings"])
        self.assertEqual(drivefile.read(self.drive).sha256_of_tables(), before)
        self.assertIn("--drive drive.slate --ephemeral", record["repeat"])
        self.assertNotIn("--fill", record["repeat"])

    def test_a_run_goes_on_where_the_last_one_stopped(self) -> None:
        first = self.slate(
            "--drive", self.drive, "--profile", SMALL, "--fill", "0", "--cmd", HERE / "drive-write.sh"
        )
        for _ in range(2):
            again = self.slate("--drive", self.drive, "--cmd", HERE / "drive-check.sh")
            self.assertEqual(again.text("sums.txt"), first.text("sums.txt"))
            self.assertEqual(again.text("fsck.txt"), "clean\n")
            self.assert_clean(again.device)
        self.assertIn("drive file", again.out)

    def test_the_plug_is_pulled(self) -> None:
        """QEMU is killed by SIGKILL during fsyncs: the file system is clean, and every synced file survives."""
        self.age("--writes", "1x")
        self.pull_the_plug(3, 3)

    def test_the_plug_is_pulled_on_block_mapping(self) -> None:
        self.age("--writes", "0.1x", profile=PROFILES / "pen-small.ini")
        self.pull_the_plug(2, 4)

    def pull_the_plug(self, turns: int, seed: int) -> None:
        """Kill QEMU several times, at times chosen by the seed; then check that all synced files survive."""
        chance = random.Random(seed)
        synced = "new"
        for turn in range(turns):
            synced = self.pulled(synced, chance.randrange(5, 60), chance.random() * 0.1, turn)
        result = self.slate(
            "--drive", self.drive, "--cmd", HERE / "drive-kill.sh", "--cmd-arg", synced, "--cmd-arg", "stop"
        )
        self.assertIn(f"CHECKED {synced}", result.text("console.log"))
        self.assertGreaterEqual(int(synced), 10 * turns)
        self.assert_clean(result.device)

    def pulled(self, synced: Any, more: Any, seconds: float, turn: int) -> str:
        """Let the guest sync this many files and kill QEMU; return the last file known to be synced."""
        line, out = self.command("--drive", self.drive, "--cmd", HERE / "drive-kill.sh", "--cmd-arg", synced)
        process = subprocess.Popen(line, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        console = out / "console.log"

        def told() -> list[int]:
            text = console.read_text(errors="replace") if console.exists() else ""
            return [int(number) for number in _SYNCED.findall(text)]

        deadline = time.monotonic() + 200
        while len(told()) < more:
            self.assertIsNone(process.poll(), f"turn {turn}: the run ended by itself")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        time.sleep(seconds)
        children = f"/proc/{process.pid}/task/{process.pid}/children"
        with open(children, encoding="ascii") as pids:
            os.kill(int(pids.read()), signal.SIGKILL)
        err = process.communicate(timeout=60)[1].decode()
        self.assertEqual(process.returncode, 3, err)
        self.assertIn("SIGKILL", err)
        self.assert_no_process(out)
        return str(told()[-1])

    def test_refused(self) -> None:
        self.refused("--drive", self.drive, words=("drive.slate: is not there", "--profile"))
        self.age()
        self.refused("--drive", self.drive, "--fill", "10", words=("--fill", "holds a drive already"))
        self.refused(
            "--drive",
            self.drive,
            "--set",
            "geometry.channels=4",
            words=("was made with geometry.channels = 2", "4"),
        )
        with open(self.drive, "rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.refused("--drive", self.drive, words=("another program has it open",))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the limits of a check on the host (onhost.py): CPU time ends it with a verdict, this machine's time without."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import support  # noqa: F401 # the launcher's path

from slate_lib import paths
from slate_lib.cuts import onhost, workload
from slate_lib.cuts.campaign import Moment, Recorded
from slate_lib.errors import MachineError
from slate_lib.powercut import Plan

POWER = {"cut-ns": 7, "lost-requests": 0, "torn-programs": 0, "torn-erases": 0}
SPINS = "while :; do :; done"


class Limits(unittest.TestCase):
    """Run the real program of --cuts-run on images, in place of slate-replay; the limit of CPU time is 1 s."""

    def replayed(self, _whose: str, *words: Any) -> dict[str, Any]:
        """Make the images and the reports of the cuts, and run the program for each, as slate-replay does."""
        for line in Path(words[words.index("--cuts") + 1]).read_text(encoding="utf-8").splitlines():
            image = line.split()[2]
            Path(image).write_bytes(b"data")
            account = {"power": POWER, "gc": {"calls": 0}}
            Path(f"{image}.json").write_text(json.dumps(account), encoding="utf-8")
            if subprocess.run([words[words.index("--cuts-run") + 1], image], check=False).returncode:
                raise MachineError("slate-replay failed")
        return {}

    def verdicts(self, check: str, timeout: float) -> list[str]:
        """Return the verdicts of a check on two cuts."""
        moments = [Moment(f"3:{n}", Plan(at_ns=7 + n)) for n in range(2)]
        with tempfile.TemporaryDirectory() as name, mock.patch.multiple(
            onhost, CHECK_SECONDS=1, replayed=self.replayed
        ):
            work = workload.Workload({"check": f"#!/bin/sh\n{check}\n".encode()}, {})
            campaign = mock.Mock(folder=Path(name), workload=work, base=mock.Mock(timeout=timeout))
            campaign.kind.replay = ()
            lines = onhost.lines(campaign, Recorded(1, Path("t"), b"x 7\n"), moments)
            self.assertEqual([path.name for path in Path(name).glob("*.img*")], [])
            self.assertEqual((Path(name) / "host-image").read_bytes(), b"data", "the file of all images")
        self.assertEqual([line["operations"] for line in lines], [1, 1])
        return [line["verdict"] for line in lines]

    def test_a_busy_machine_changes_no_verdict(self) -> None:
        """The check takes twice the limit of this machine's time, and no CPU time."""
        self.assertEqual(self.verdicts("sleep 2; grep -qx x $DURABLE", 900), ["good", "good"])

    def test_cpu_time(self) -> None:
        """The check of the first cut spins; that of the second is executed nevertheless."""
        self.assertEqual(self.verdicts(f"case $SLATE_DEV in *-0.img) {SPINS} ;; *) exit 1 ;; esac", 900),
                         ["check failed", "lost"])  # fmt: skip

    def test_a_check_that_does_not_end_has_no_verdict(self) -> None:
        """The error names the cut and the limit, and the check of the next cut is not executed."""
        check = "case $SLATE_DEV in *-0.img) exit 0 ;; *) trap '' TERM; sleep 100 ;; esac"
        with self.assertRaises(MachineError) as caught:
            self.verdicts(check, 1)
        said = "cut 3:1: its check took longer than 1 s\n  fix: raise --timeout, or make the check faster"
        self.assertEqual(str(caught.exception), said)

    def test_a_program_that_is_killed_is_no_verdict_on_the_file_system(self) -> None:
        """As e2fsck by the limit of CPU time: the shipped check does not call the file system inconsistent."""
        with tempfile.TemporaryDirectory() as name:
            for repair, look, read, said in (
                (137, 0, 0, 4), (8, 0, 0, 4), (127, 0, 0, 4), (1, 0, 0, 0), (4, 0, 0, 3),
                (0, 137, 0, 4), (0, 8, 0, 4), (0, 4, 0, 3), (0, 0, 137, 4), (0, 0, 1, 4),
            ):  # fmt: skip
                status = repair, look, read
                tool = Path(name) / "e2fsck"
                tool.write_text(f"#!/bin/sh\ncase $* in *-n*) exit {look} ;; esac\nexit {repair}\n", encoding="utf-8")
                for other, code in (("debugfs", read), ("fsyncs", 0)):
                    (Path(name) / other).write_text(f"#!/bin/sh\nexit {code}\n", encoding="utf-8")
                for path in Path(name).iterdir():
                    if path.is_file():
                        path.chmod(0o755)
                environment = {"PATH": f"{name}:/usr/bin:/bin", "SLATE_DEV": "x", "CUTS_VARIANT": ""}
                script = paths.GUEST_TOOLS / "jobs" / "cuts-host.sh"
                done = subprocess.run(["sh", script], env=environment, cwd=name, capture_output=True, check=False)
                self.assertEqual(done.returncode, said, status)


if __name__ == "__main__":
    unittest.main()

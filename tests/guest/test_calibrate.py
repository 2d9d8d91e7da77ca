# SPDX-License-Identifier: GPL-2.0-or-later
"""Test slate calibrate: a guest with a known rate is the server, and the result must be that rate."""

import re
import subprocess
import unittest

from support import JOBS, SLATE, GuestTest

from slate_lib import calibrate


class Calibrate(GuestTest):
    """Run the shipped job on null_blk."""

    kernel = "debian"  # has null_blk

    def test_the_guests_own_rate(self) -> None:
        script = self.folder / "calibrate.sh"
        script.write_text(calibrate.script((JOBS / "calibrate.fio").read_text()))
        for rate in ("2", "3.2"):
            server = self.slate("--cmd", script, "--fill", "0", "--cpu-rate", rate)
            command = [str(SLATE), "calibrate", str(server.folder / "fio.json")]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, rf"\nrate      {rate} = 4 x .*: slate run --cpu-rate {rate}\n$")
            # An I/O on null_blk is some thousands of instructions (Linux 6.12), four of the guest's in a nanosecond.
            line = r"\nguest     (1,\d\d\d\.\d) ns at 4 GIPS: (5,\d\d\d) instructions in each\n"
            found = re.search(line, done.stdout)
            assert found, done.stdout
            mean, instructions = (float(text.replace(",", "")) for text in found.groups())
            self.assertLessEqual(abs(instructions - mean * 4), 0.5 + 4 * 0.05, "more than the two figures' rounding")


if __name__ == "__main__":
    unittest.main()

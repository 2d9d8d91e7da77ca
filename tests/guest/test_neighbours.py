# SPDX-License-Identifier: GPL-2.0-or-later
"""Linux's submission queues share a drive's core: one read at a time beside 64 in flight.

A command takes the core COMMAND ns and nothing else, because the units were never written. While both jobs run, the
core is never idle, and the quiet job's next read is submitted before the command that then runs has ended. So from
the end of one of its reads to the end of the next there are exactly 65 commands with `fifo` (its own, and the 64 that
were submitted before it) and 2 with `round-robin`. Each latency is that time less what the guest needs between
two reads, which is more than nothing and less than one command.
"""

from __future__ import annotations

import unittest

from support import HERE, SMALL, GuestTest

from slate_lib import fiolog
from slate_lib.account import Device

COMMAND = 100_000  # ns
READS, DEPTH, AT_FIRST = 16, 64, 2  # the queue of 64 may still fill during the first reads
COMMANDS = {"fifo": DEPTH + 1, "round-robin": 2}


class Neighbours(GuestTest):
    """Boot once with two drives, which differ in controller.arbitration."""

    def profile(self, kind: str) -> list[str]:
        """Write a profile with one core; return the option that names it."""
        path = self.folder / f"{kind}.ini"
        settings = f"\n[controller]\ncores = 1\narbitration = {kind}\n"
        path.write_text(SMALL.read_text(encoding="utf-8") + settings, encoding="utf-8")
        return ["--profile", str(path)]

    def test_the_quiet_queue(self) -> None:
        result = self.slate(
            *[word for kind in COMMANDS for word in self.profile(kind)],
            *("--set", f"ftl.overhead_ns={COMMAND}", "--set", "ftl.map_ns=0"),
            *("--fill", "0", "--smp", "2", "--job", HERE / "neighbours.fio"),
        )
        fio = result.json("fio.json")
        logs = fiolog.names(fio)
        jobs = {one["jobname"]: one["read"] for one in fio["jobs"]}
        for number, (kind, commands) in enumerate(COMMANDS.items()):
            noisy, quiet = jobs[f"{kind}-noisy"], jobs[f"{kind}-quiet"]
            self.assertEqual((noisy["total_ios"], quiet["total_ios"]), (1280, READS), kind)
            self.assertGreater(noisy["runtime"], quiet["runtime"], f"{kind}: neighbours to the end")
            found = [ns for _, ns in fiolog.read(result.folder / logs[f"{kind}-quiet"])["read"]][AT_FIRST:]
            self.assertEqual(len(found), READS - AT_FIRST)
            self.assertGreater(min(found), (commands - 1) * COMMAND, f"{kind}: {found}")
            self.assertLess(max(found), commands * COMMAND, f"{kind}: {found}")
            device = Device(result.json(f"nvme{number}/device.json"))
            self.assert_clean(device)
            self.assertEqual(device.total.ftl["unwritten-reads"], device.total.op["read"].ios)
            # of the noisy queue: each of its 64 commands, and with round-robin a quiet one before each
            most = 65 if kind == "fifo" else 128
            self.assertLessEqual(device.total.op["read"].latency_max_ns, most * COMMAND, kind)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Arbitration in the replayer: each stream is a submission queue."""

import unittest

from support import Case

# A command takes a core 1,200 ns; reads of unwritten units take no time of the flash.
CORE = ("--set", "controller.cores=1", "--set", "ftl.overhead_ns=1000", "--set", "ftl.map_ns=200")
COMMAND = 1200


class Arbitration(Case):
    """Eight reads of one stream and one of another, all at time 0."""

    def latencies(self, *args: str) -> dict[int, list[int]]:
        """Return the latencies of each stream."""
        one = self.native(*(f"0 0 read {4096 * i} 4096" for i in range(8)), name="one.txt")
        other = self.native(f"0 0 read {1 << 20} 4096", name="other.txt")
        found: dict[int, list[int]] = {0: [], 1: []}
        for row in self.rows("--open", "--common-clock", *CORE, *args, one, other):
            found[row["stream"]].append(row["latency_ns"])
        return found

    def test_a_stream_waits_for_one_command_of_the_other(self):
        found = self.latencies("--set", "controller.arbitration=round-robin")
        self.assertEqual(found[1], [2 * COMMAND])
        self.assertEqual(found[0], [COMMAND, *(COMMAND * n for n in range(3, 10))])

    def test_first_come_first_served(self):
        """Completions come behind all commands that were there before."""
        found = self.latencies()
        self.assertEqual(found, {0: [9 * COMMAND] * 8, 1: [9 * COMMAND]})

    def test_a_recording_has_the_queues(self):
        how = (*CORE, "--set", "controller.arbitration=round-robin", "--closed", 4)
        self.json(*how, "--record", "calls.txt", "gen:rand4k,read=500,foot=2MiB,n=300,fill=64KiB",
                  "gen:seq16k,read=1000,from=2MiB,foot=2MiB,n=300")  # fmt: skip
        self.call("--recorded", "calls.txt")


if __name__ == "__main__":
    unittest.main()

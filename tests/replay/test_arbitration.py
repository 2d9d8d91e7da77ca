# SPDX-License-Identifier: GPL-2.0-or-later
"""Test arbitration in the replayer: each stream is a submission queue."""

import unittest

from support import TINY, Case

# A command takes a core 1,200 ns; reads of unwritten units take no time of the flash.
CORE = ("--set", "controller.cores=1", "--set", "ftl.overhead_ns=1000", "--set", "ftl.map_ns=200")
COMMAND = 1200


class Arbitration(Case):
    """Replay eight reads of one stream and one of another, all at time 0."""

    def latencies(self, *args: str) -> dict[int, list[int]]:
        """Return the latencies of each stream."""
        one = self.native(*(f"0 0 read {4096 * i} 4096" for i in range(8)), name="one.txt")
        other = self.native(f"0 0 read {1 << 20} 4096", name="other.txt")
        found: dict[int, list[int]] = {0: [], 1: []}
        for row in self.rows("--open", "--common-clock", *CORE, *args, one, other):
            found[row["stream"]].append(row["latency_ns"])
        return found

    def test_a_stream_waits_for_one_command_of_the_other(self) -> None:
        found = self.latencies("--set", "controller.arbitration=round-robin")
        self.assertEqual(found[1], [2 * COMMAND])
        self.assertEqual(found[0], [COMMAND, *(COMMAND * n for n in range(3, 10))])

    def test_first_come_first_served(self) -> None:
        """The core executes a completion after all commands that were there before."""
        found = self.latencies()
        self.assertEqual(found, {0: [9 * COMMAND] * 8, 1: [9 * COMMAND]})

    def test_weights(self) -> None:
        """Priorities are high (1) and low (3), with weights 2 and 1. The first low read finds the core free."""
        rows = [f"0 {q} read {4096 * (8 * q + i)} 4096 priority={(3, 1)[q]}" for q in (0, 1) for i in range(6)]
        how = (*CORE, "--set", "controller.arbitration=weighted", "--set", "controller.weight_high=2")
        streams = [self.native(*rows[:6], name="low.txt"), self.native(*rows[6:], name="high.txt")]
        found: dict[int, list[int]] = {0: [], 1: []}
        for row in self.rows("--open", "--common-clock", *how, *streams):
            found[row["stream"]].append(row["latency_ns"] // COMMAND)
        self.assertEqual(found, {0: [1, 6, 9, 10, 11, 12], 1: [2, 3, 4, 5, 7, 8]})
        self.json("--open", "--common-clock", *how, "--record", "calls.txt", *streams)
        self.assertIn(" read 0 4096 priority=3\n", (self.folder / "calls.txt").read_text())
        self.call("--recorded", "calls.txt")

    def test_words_of_a_row(self) -> None:
        """Every kind of request may name a priority, as the last word of its row."""
        good = (
            "write 0 4096 fua handle=0 priority=3",
            "trim 0 4096 priority=0",
            "flush priority=2",
            "read 0 512 priority=1",
        )
        self.json(self.native(*(f"0 0 {row}" for row in good), name="good"))
        for n, row in enumerate(("write 0 4096 priority=1 fua", "write 0 4096 priority=1 handle=0", "flush fua",
                                 "read 0 4096 handle=1", "read 0 4096 priority=4", "read 0 4096 priority=",
                                 "read 0 4096 priority=1 x", "step priority=1")):  # fmt: skip
            bad = self.native(f"0 0 {row}", name=f"bad{n}")
            self.assertIn("[priority=0..3]", self.call("--profile", TINY, bad, code=1).stderr, row)

    def test_a_recording_has_the_queues(self) -> None:
        how = (*CORE, "--set", "controller.arbitration=round-robin", "--closed", 4)
        self.json(*how, "--record", "calls.txt", "gen:rand4k,read=500,foot=2MiB,n=300,fill=64KiB",
                  "gen:seq16k,read=1000,from=2MiB,foot=2MiB,n=300")  # fmt: skip
        self.call("--recorded", "calls.txt")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the controller's cores: ceilings by arithmetic, on tiny.ini."""

import unittest
from pathlib import Path
from typing import Any

from support import CAPACITY, READ, TINY, WRITE, Case

COMMAND, LOOKUP, COMPLETION = 1000, 200, 300
WORK = ("--set", f"ftl.overhead_ns={COMMAND}", "--set", f"ftl.map_ns={LOOKUP}")
N = 4800


def cores(count: int, completion: int = COMPLETION) -> tuple[Any, ...]:
    return (*WORK, "--set", f"controller.cores={count}", "--set", f"controller.completion_ns={completion}")


class Cores(Case):
    """Reads of units that were never written take only the cores' time."""

    def test_the_ceiling_is_arithmetic(self) -> None:
        """With twice as many requests in flight as cores, no core is idle."""
        for count in (1, 2, 4):
            for units in (1, 2):
                work = COMMAND + units * LOOKUP + COMPLETION
                load = f"gen:rand4k,foot=6M,n={N},read=1000" if units == 1 else self.pairs()
                found = self.json(*cores(count), "--closed", 4 * count, load)
                self.assertEqual(found["time"]["end_ns"] - found["time"]["begin_ns"], N // count * work)
                self.assertEqual(found["ftl_counts"]["core_busy_ns"], N * work)
                read = found["host"]["read"]
                self.assertEqual(read["iops"], float(f"{count * 1e9 / work:.12g}"))  # digits of the JSON
                self.assertEqual(read["where_ns"]["map"], N * units * LOOKUP)
                self.assertEqual(read["where_ns"]["other"], N * (COMMAND + COMPLETION))
                self.assertEqual(sum(read["where_ns"].values()), read["latency"]["sum_ns"])

    def pairs(self) -> Path:
        """Return the path of a trace of reads of two units each."""
        return self.native(*(f"0 0 read {i * 8192 % CAPACITY} 8192" for i in range(N)))

    def test_one_request_at_a_time(self) -> None:
        """The latencies of a write and then its read are computed by hand; the parts of each add up to it."""
        trace = self.native("0 0 write 0 8192", "1 0 read 0 4096", "2 0 flush")
        rows = self.rows(*cores(3), trace)
        own = COMMAND + COMPLETION
        self.assertEqual(
            [row["latency_ns"] for row in rows], [own + 2 * LOOKUP + WRITE, own + LOOKUP + READ, own + LOOKUP]
        )
        parts = ("cell", "bus", "host_queue", "gc_queue", "buffer", "map", "other", "link", "controller")
        for row in rows:
            self.assertEqual(sum(row[f"{part}_ns"] for part in parts), row["latency_ns"])
            self.assertEqual(row["controller_ns"], 0)

    def test_without_cores_nothing_is_said_of_them(self) -> None:
        found = self.json(*WORK, "gen:rand4k,foot=6M,n=100,read=500")
        self.assertNotIn("controller", found["host"]["read"]["where_ns"])
        self.assertNotIn("core_busy_ns", found["ftl_counts"])

    def test_a_read_cache(self) -> None:
        """The second read of a unit costs no flash; with read-ahead all but the first two of a sequence are hits."""
        own = COMMAND + LOOKUP + COMPLETION
        cache = ("--set", "controller.read_cache_units=64")
        twice = self.native("0 0 write 0 4096", "1 0 flush", "2 0 read 0 4096", "3 0 read 0 4096")
        rows = self.rows(*cores(1), *cache, twice)
        self.assertEqual([row["latency_ns"] for row in rows[2:]], [own + READ, own])
        order = self.native(*(f"0 0 write {i * 4096} 4096" for i in range(16)), "1 0 flush",
                            *(f"2 0 read {i * 4096} 4096" for i in range(16)))
        found = self.json(*cores(1), *cache, "--set", "controller.read_ahead_units=16", "--closed", 1, order)
        self.assertEqual(found["ftl_counts"]["read_cache_hits"], 14)

    def test_refused(self) -> None:
        done = self.call("--profile", TINY, *cores(0), "gen:rand4k,foot=6M,n=1", code=2)
        self.assertIn("controller.completion_ns = 300: must be 0 unless controller.cores says how many", done.stderr)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the bandwidth of the controller's memory: at 1024 MB/s a page of 4 KiB crosses in 4,000 ns."""

import unittest

from support import READ, ROOT, TINY, WRITE, Case

COMMAND, LOOKUP = 1000, 200
CORES = ("--set", f"ftl.overhead_ns={COMMAND}", "--set", f"ftl.map_ns={LOOKUP}", "--set", "controller.cores=4")
MEMORY = ("--set", "controller.dram_mb_s=1024")
CROSS = 4000
N = 4800


class Memory(Case):
    """Test ceilings and latencies by arithmetic, on tiny.ini."""

    def test_reads(self) -> None:
        """Units are unwritten: the first read waits for its command. After it, the memory is never idle."""
        found = self.json(*CORES, *MEMORY, "--closed", 16, f"gen:rand4k,foot=6M,n={N},read=1000")
        self.assertEqual(found["time"]["end_ns"] - found["time"]["begin_ns"], COMMAND + LOOKUP + N * CROSS)
        self.assertEqual(found["ftl_counts"]["dram_busy_ns"], N * CROSS)
        read = found["host"]["read"]
        self.assertEqual(sum(read["where_ns"].values()), read["latency"]["sum_ns"])

    def test_one_request_at_a_time(self) -> None:
        """A write's data cross while a core works on the command, a read's data after they were read from flash."""
        trace = self.native("0 0 write 0 4096", "1 0 read 0 4096", "2 0 flush")
        rows = self.rows(*CORES, *MEMORY, trace)
        own = COMMAND + LOOKUP
        self.assertEqual([row["latency_ns"] for row in rows], [CROSS + WRITE, own + READ + CROSS, own])
        self.assertEqual([row["controller_ns"] for row in rows], [CROSS - own, 0, 0])
        self.assertEqual([row["buffer_ns"] for row in rows], [0, CROSS, 0])

    def test_lost_content_does_not_cross(self) -> None:
        """Of these requests only the first write moves data: a write of lost content and a read that fails do not."""
        trace = self.native("0 0 write 0 4096", "1 0 flush", "9000000 0 write 0 4096 lost", "18000000 0 read 0 4096")
        found = self.json(*CORES, *MEMORY, "--open", trace)
        self.assertEqual(found["host"]["read"]["errors"], 1)
        self.assertEqual(found["ftl_counts"]["dram_busy_ns"], CROSS)

    def test_copies_cross(self) -> None:
        """At 16 MB/s the memory limits random writes with GC. The host's bytes and the copied ones cross it."""
        cross = 4096 * 1000 // 16
        found = self.json(*CORES, "--set", "controller.dram_mb_s=16", "--fill", 100, "--age", 1, "--closed", 16,
                          f"gen:rand4k,foot=6M,n={N}")  # fmt: skip
        copied = found["nand"]["ops"]["read"]["gc"]
        self.assertGreater(copied, N)
        busy = found["ftl_counts"]["dram_busy_ns"]
        self.assertEqual(busy, (N + copied) * cross)
        took = found["time"]["end_ns"] - found["time"]["begin_ns"]
        self.assertLess(abs(took - busy) / busy, 0.01)

    def test_every_ftl(self) -> None:
        """These bytes cross the memory: the host's reads and writes, and all flash reads that are not for the host."""
        names = ("small", "qlc-small", "superblock-small", "pen-small", "rps-small", "tlc-slc-small", "spread-small")
        for name in names:
            found = self.json("--set", "controller.cores=2", *MEMORY, "--fill", 95, "--closed", 8, "--check",
                              "gen:rand4k,foot=160M,n=6000,read=300",
                              profile=ROOT / f"nand-emu/profiles/{name}.ini")  # fmt: skip
            others = sum(size for source, size in found["nand"]["user_read_bytes"].items() if source != "host")
            host = sum(found["host"][op]["bytes"] for op in ("read", "write"))
            self.assertEqual(found["ftl_counts"]["dram_busy_ns"] * 1024, (host + others) * 1000, name)

    def test_map_pages_cross(self) -> None:
        """The map has twelve pages of 1024 units, of which four are in memory."""
        found = self.json(*CORES, *MEMORY, "--set", "geometry.blocks_per_plane=512", "--set", "ftl.capacity_mib=48",
                          "--set", "ftl.map_cache_pages=4", "--fill", 100, "--closed", 4,
                          "gen:rand4k,foot=48M,n=1000,read=1000")  # fmt: skip
        pages = found["nand"]["ops"]["read"]["map"]
        self.assertGreater(pages, 500)
        self.assertEqual(found["ftl_counts"]["dram_busy_ns"], (1000 + pages) * CROSS)

    def test_only_with_cores(self) -> None:
        self.refused("--profile", TINY, *MEMORY, "gen:rand4k,foot=1M,n=1", words=("controller.dram_mb_s", "set cores"))
        found = self.json(*CORES, "gen:rand4k,foot=6M,n=100")
        self.assertNotIn("dram_busy_ns", found["ftl_counts"])


if __name__ == "__main__":
    unittest.main()

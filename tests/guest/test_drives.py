# SPDX-License-Identifier: GPL-2.0-or-later
"""The speed of an SLC cache and of a cached map in a guest agrees with arithmetic on the profile."""

import re
import unittest

from support import HERE, PROFILES, GuestTest, Result

_SUBMIT = re.compile(r"nand_ssd_submit.*?\bid (\d+) (\w+) offset (\d+) bytes (\d+)")
_DONE = re.compile(r"nand_ssd_done.*?\bid (\d+) .*?latency (\d+)")

REQUEST = 128 << 10  # of cliff.fio: a page for each plane of tlc-slc-small
PLANES, PAGE, DIES = 8, 16384, 2
SLC_BLOCKS, SLC_PAGES = 6, 2112 // 3  # of a plane, of a block
SEND = 300 + 11620  # command, then 16384 + 2208 bytes at 625 ps
BUFFER = 512 * 4096
# A die's four planes are sent one after another and programmed together.
FAST_NS, SLOW_NS = (4 * SEND + program for program in (100_000, 390_095))

FRAMES = 6
UNITS_OF_A_MAP_PAGE = 4096 // 4
MAP_PAGES = 12  # of 48 MiB


class Drives(GuestTest):
    """Compare fio's log of latencies with times that are computed from the geometry and the settings."""

    def log(self, result: Result, name: str) -> list[tuple[int, ...]]:
        """Return (ms, ns, offset) of each request of fio's log."""
        lines = result.text(f"{name}_clat.1.log").replace(" ", "").splitlines()
        return [tuple(int(line.split(",")[field]) for field in (0, 1, 4)) for line in lines]

    def test_the_slc_cache_ends_at_its_byte(self) -> None:
        """Cache and write buffer take 530 MiB. The next request is the first that waits for a page's program."""
        result = self.slate(
            "--job", HERE / "cliff.fio", "--fill", "0", "--mem", "400M", "--set", "ftl.idle_gc_permille=0",
            "--set", "ftl.payload=no", profile=PROFILES / "tlc-slc-small.ini",
        )  # fmt: skip
        seen = self.log(result, "cliff")
        self.assertEqual([offset for _, _, offset in seen], [REQUEST * n for n in range(len(seen))])
        cliff = PLANES * SLC_BLOCKS * SLC_PAGES * PAGE + BUFFER
        self.assertEqual(cliff, 530 << 20)
        slow = next(offset for _, ns, offset in seen if ns > (FAST_NS + SLOW_NS) // 2)
        self.assertEqual(slow, cliff)
        # fio's times are in ms. The first requests fill the buffer.
        first, last = BUFFER // REQUEST, cliff // REQUEST - 1
        for begin, end, each in ((first, last, FAST_NS), (last + 1, len(seen) - 1, SLOW_NS)):
            took = (seen[end][0] - seen[begin][0]) * 1_000_000
            self.assertLess(abs(took - (end - begin) * each), 2_000_000 + each)

    def test_a_map_miss_costs_one_map_read(self) -> None:
        """A list of map pages by last use says which reads miss. Each miss costs a page's read more."""
        trace = self.folder / "trace.log"
        result = self.slate(
            "--job", HERE / "map-misses.fio", "--mem", "400M", "--set", "geometry.page_bytes=4096",
            "--set", "geometry.oob_bytes=320", "--set", "ftl.capacity_mib=48",
            "--set", f"ftl.map_cache_pages={FRAMES}", "--qemu-arg=-trace", "--qemu-arg=nand_ssd_submit",
            "--qemu-arg=-trace", "--qemu-arg=nand_ssd_done", "--qemu-arg=-D", f"--qemu-arg={trace}",
        )  # fmt: skip
        device = result.device
        stored = device.setting("page_bytes") + device.setting("oob_bytes")
        page_read = sum(device.setting(key) for key in ("cmd_ns", "read_ns")) + stored * device.setting(
            "bus_ps_per_byte"
        ) // 1000
        hit_ns = page_read + device.setting("map_ns") + device.setting("overhead_ns")
        text = trace.read_text(encoding="utf-8", errors="replace")
        latency = dict(_DONE.findall(text))
        reads = [
            (int(offset), int(latency[number]))
            for number, op, offset, size in _SUBMIT.findall(text)
            if op == "read" and size == "4096"
        ][-2000:]
        seen = self.log(result, "map-misses")
        self.assertEqual([offset for offset, _ in reads], [offset for _, _, offset in seen])
        recent: list[int] = []
        misses = 0
        ahead = False  # the read before had the next map page loaded, for which this one may have to wait
        for at, (offset, ns) in enumerate(reads):
            page, unit = divmod(offset // 4096, UNITS_OF_A_MAP_PAGE)
            hit = page in recent
            recent = [page, *(other for other in recent if other != page)][:FRAMES]
            if at >= 200 and not ahead:  # by then the changed map pages of the filling are written
                self.assertEqual(ns, hit_ns if hit else hit_ns + page_read, f"read {at}")
                misses += not hit
            # Of six frames one is for loads, so a read that misses has nothing loaded ahead.
            ahead = hit and unit == UNITS_OF_A_MAP_PAGE // 2 and page + 1 < MAP_PAGES and page + 1 not in recent
            if ahead:
                recent = [page + 1, *recent][:FRAMES]
        self.assertGreater(misses, 700)  # of 1,800 with 12 map pages: 900, sigma 21


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Every pair of the page FTL's abilities works together, or is refused with a message that names both.

A pair that works is replayed with GC, and all content is compared and read again at the end.
"""

import itertools
import unittest

from support import ROOT, Case

SMALL = ROOT / "nand-emu" / "profiles" / "small.ini"
DRIVE = (
    "geometry.page_bytes=4096", "geometry.pages_per_block=64", "geometry.blocks_per_plane=96", "ftl.capacity_mib=64",
    "ftl.unit_bytes=2048", "ftl.buffer_units=64", "ftl.payload=yes",
)  # fmt: skip
ABILITIES = {
    "placement_handles": ("ftl.placement_handles=2",),
    "placement_groups": ("ftl.placement_handles=2", "ftl.placement_groups=2"),
    "hot_cold": ("ftl.hot_cold=count",),
    "slc_cache": ("ftl.slc_cache=dynamic", "ftl.slc_blocks=4", "timing.slc_program_ns=100000",
                  "geometry.bits_per_cell=2"),
    "map_cache_pages": ("ftl.map_cache_pages=32",),
    "metadata_bytes": ("ftl.metadata_bytes=64",),
    "gc_copyback": ("ftl.gc_copyback=yes", "geometry.copyback=yes"),
    "parallel_erase": ("ftl.parallel_erase=yes", "geometry.erase_group_max=2"),
    "power_protected": ("ftl.power_protected=yes",),
    "suspend": ("ftl.suspend=all", "timing.suspend_ns=5000", "timing.resume_ns=5000", "timing.suspends_max=4"),
    "plane_reads": ("timing.plane_reads=yes",),
    "gc_frontier": ("ftl.gc_frontier=shared",),
    "namespaces": ("drive.namespaces=4",),
    "read_cache_units": ("controller.cores=2", "controller.read_cache_units=512"),
    "accounting": ("ftl.accounting=ssdsim",),
    "gc_subpage_reads": ("ftl.gc_subpage_reads=yes", "geometry.subpage=dma", "geometry.ecc_word_bytes=4096"),
}  # fmt: skip
# These pairs are refused. In most of them both would decide where pages go, or the chip would copy what the FTL has to
# change; the meaning of `ftl.accounting` (slate profiles keys) has the reason for suspend.
REFUSED = {
    ("placement_handles", "hot_cold"), ("placement_handles", "slc_cache"), ("placement_handles", "gc_frontier"),
    ("placement_groups", "hot_cold"), ("placement_groups", "slc_cache"), ("placement_groups", "gc_frontier"),
    ("placement_groups", "namespaces"),
    ("hot_cold", "slc_cache"), ("hot_cold", "map_cache_pages"), ("hot_cold", "gc_copyback"),
    ("slc_cache", "map_cache_pages"), ("map_cache_pages", "gc_copyback"), ("map_cache_pages", "parallel_erase"),
    ("map_cache_pages", "gc_frontier"), ("metadata_bytes", "gc_copyback"), ("suspend", "accounting"),
}  # fmt: skip


class Pairs(Case):
    """Replay with each pair of abilities."""

    def words(self, *names: str) -> list[str]:
        """Return the options of a replay."""
        sets = [*DRIVE, *(setting for name in names for setting in ABILITIES[name])]
        found = ["--profile", str(SMALL)]
        for setting in sets:
            found += ["--set", setting]
        load = "gen:rand4k,foot=64MiB,n=8000,read=200"
        return [*found, "--check", "--read-back", "--fill", "100", "--closed", "4", "--json", "out.json", load]

    def test_each_alone(self) -> None:
        for name in ABILITIES:
            with self.subTest(name):
                self.call(*self.words(name))

    def test_each_pair(self) -> None:
        for pair in itertools.combinations(ABILITIES, 2):
            with self.subTest(pair):
                if pair not in REFUSED:
                    self.call(*self.words(*pair))
                    continue
                message = self.call(*self.words(*pair), code=2).stderr
                for name in pair:
                    self.assertIn("placement_" if name == "placement_groups" else name, message)


if __name__ == "__main__":
    unittest.main()

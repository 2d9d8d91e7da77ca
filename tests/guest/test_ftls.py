# SPDX-License-Identifier: GPL-2.0-or-later
"""Test every FTL and GC method: fio verifies data, ext4 is used, QEMU is killed."""

import unittest
from typing import Any

from support import HERE, JOBS, PROFILES, SCRIPTS, GuestTest

# The flash has 126 MiB in blocks of a quarter of the size, so that GC has much work.
PEN = ("geometry.pages_per_block=144", "geometry.pb_levels=4", "timing.erase_ns=10000000")
# A few of a block's pages are written again and again: an M-Merge restores a few of its PBs.
LOCAL = {"size": "2m", "loops": 8}
PAIRS = ("geometry.erase_group_max=2", "ftl.parallel_erase=yes")


class Ftl(GuestTest):
    """Make the checks that every FTL must pass."""

    def drive(self, profile: str, capacity_mib: int, *settings: Any) -> tuple[Any, ...]:
        """Return the options that describe a drive."""
        sets = [f"--set={word}" for word in (f"ftl.capacity_mib={capacity_mib}", *settings)]
        return ("--profile", PROFILES / f"{profile}.ini", *sets)

    def bears(self, *drive: Any, size: Any = "24m", loops: Any = 2) -> Any:
        """Write 4 KiB blocks at random and verify them after each pass; then use a file system."""
        env = ("--env", f"SIZE={size}", "--env", f"LOOPS={loops}")
        files = ("--file", JOBS / "verify-4k.fio", "--file", SCRIPTS / "fs-test.sh")
        result = self.slate(*drive, "--cmd", HERE / "ftl.sh", *files, *env)
        self.assertEqual([job["error"] for job in result.json("verify.json")["jobs"]], [0])
        self.assertNotIn("FAIL", result.text("fs-test.txt"))
        self.assertIn("compare again: ok", result.text("fs-test.txt"))
        self.assert_clean(result.device)
        self.assertGreater(result.device.total.ftl["gc-runs"], 0)
        return result.device.total

    def counts(self, total: Any, **expected: Any) -> None:
        """Check which counters of the FTL are above 0."""
        for name, some in expected.items():
            self.assertEqual(total.ftl[name.replace("_", "-")] > 0, some, name)


class BlockMapped(Ftl):
    """Test NFTL, which merges D- and U-blocks."""

    def test_nftl(self) -> None:
        total = self.bears(*self.drive("pen-small", 80, *PEN, "ftl.pen=no"))
        self.counts(total, merges=True, mmerges=False, search_reads=True)

    def test_gftl(self) -> None:
        total = self.bears(*self.drive("pen-small", 80, *PEN, "ftl.pen=no", "ftl.gc_mode=sliced"))
        self.counts(total, merges=True, mmerges=False)

    def test_pen(self) -> None:
        total = self.bears(*self.drive("pen-small", 80, *PEN), **LOCAL)
        self.counts(total, mmerges=True)
        self.assertGreater(total.nand["partial-erases"], 0)

    def test_pen_with_parallel_erase(self) -> None:
        total = self.bears(*self.drive("pen-small", 80, *PEN, *PAIRS, "ftl.pen_merges_max=2"), **LOCAL)
        self.counts(total, mmerges=True, merges=True)
        self.assertGreater(total.nand["parallel-erases"], 0)


class Superblocks(Ftl):
    """Test page mapping inside superblocks of M logical blocks, or of a whole plane."""

    def test_superblock(self) -> None:
        total = self.bears(*self.drive("superblock-small", 64, *PEN, "ftl.pen=no"))
        self.counts(total, merges=True, mmerges=False)

    def test_pen(self) -> None:
        # GC that crosses superblocks: within one, a merge is cheaper for each page that it frees
        small = ("ftl.superblock_blocks=1", "ftl.superblock_max_blocks=2")
        total = self.bears(*self.drive("superblock-small", 64, *PEN, *small))
        self.counts(total, mmerges=True)
        self.assertGreater(total.nand["partial-erases"], 0)

    def test_page_mapping_with_pen_and_parallel_erase(self) -> None:
        plane = ("ftl.superblock_blocks=0", "ftl.superblock_max_blocks=0")
        total = self.bears(*self.drive("superblock-small", 64, *PEN, *PAIRS, *plane), size="32m")
        self.counts(total, merges=True)


class WordLines(Ftl):
    """LSB and MSB pages have an order, and a power cut may destroy LSB pages."""

    # 128 MiB of flash in blocks of 64 pages
    small = ("geometry.blocks_per_plane=128", "geometry.pages_per_block=64")

    def drive_of(self, ftl: str) -> tuple[Any, ...]:
        """Return the options of a smaller rps-small with another FTL."""
        return self.drive("rps-small", 80, *self.small, f"ftl.type={ftl}")

    def test_page(self) -> None:
        self.bears(*self.drive_of("page"), size="64m")

    def test_parity(self) -> None:
        total = self.bears(*self.drive_of("parity"), size="64m")
        self.assertGreater(total.sources["backup"]["programs"], 0)

    def test_rtf(self) -> None:
        self.bears(*self.drive_of("rtf"), size="64m")

    def test_flex(self) -> None:
        total = self.bears(*self.drive_of("flex"), size="64m")
        self.assertGreater(total.sources["backup"]["programs"], 0)

    def test_dac_over_flex(self) -> None:
        total = self.bears(*self.drive("dac-flex-small", 80, *self.small), size="64m")
        self.assertGreater(total.sources["backup"]["programs"], 0)


class Reduced(Ftl):
    """Test a DAC drive whose writes have content, under GC."""

    def test_content_by_depth(self) -> None:
        small = ("geometry.blocks_per_plane=16", "ftl.fingerprints_permille=1000")
        result = self.slate(*self.drive("dac-small", 28, *small), "--fill", "0", "--job", HERE / "content.fio")
        jobs = {job["jobname"]: job for job in result.json("fio.json")["jobs"]}
        self.assertEqual([job["error"] for job in jobs.values()], [0, 0, 0])
        for name, ios in (("fill", 28 * 16), ("write-qd32", 28672), ("write-qd1", 7168)):
            self.assertEqual(jobs[name]["write"]["total_ios"], ios)
        self.assert_clean(result.device)
        for name in ("write-qd32", "write-qd1"):
            self.assertGreater(result.device.job(name).account.ftl["gc-runs"], 0, name)
        total = result.device.total
        units = sum(total.ftl[f"{kind}-units"] for kind in ("raw", "comp", "delta", "link"))
        self.assertEqual(units + total.ftl["coalesced-units"], 28 * 256 * 6)
        self.assertLess(total.ftl["host-pages"], 0.6 * units, "two units of 41 % in a page")


class PageMapped(Ftl):
    """Test other GC methods of the page FTL."""

    # 64 MiB of flash
    ippbe = ("geometry.blocks_per_plane=128", "ftl.gc_start_blocks=9", "ftl.gc_stop_blocks=9")

    def test_ippbe(self) -> None:
        pairs = "ftl.second_victim_pages=64"
        total = self.bears(*self.drive("ippbe-small", 48, *self.ippbe, pairs), size="32m")
        self.counts(total, second_victims=True)
        self.assertGreater(total.nand["parallel-erases"], 0)

    def test_ssdsim_accounting(self) -> None:
        self.bears(*self.drive("ippbe-small", 48, *self.ippbe, "ftl.accounting=ssdsim"), size="32m")

    def test_spread_reads(self) -> None:
        gc = ("ftl.gc_subpage_reads=yes", "geometry.blocks_per_plane=20")
        total = self.bears(*self.drive("spread-small", 96, *gc), size="64m")
        self.assertGreater(total.nand["subpage-reads"], 0)


if __name__ == "__main__":
    unittest.main()

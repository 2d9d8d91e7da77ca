# SPDX-License-Identifier: GPL-2.0-or-later
"""Test placement handles in the replayer: what is written apart is not copied."""

import struct
import unittest
import zlib

from support import ROOT, Case

SMALL = ROOT / "nand-emu" / "profiles" / "small.ini"
TWO = ("--set", "ftl.placement_handles=2")
APART = (*TWO, "--set", "ftl.placement_isolation=persistently")
PAGE, UNIT = 16384, 4096
HEAD, OOB_KEPT_AT = 16384, 24 + 4 * 8  # of a drive file (SPEC.md)
RECLAIM_UNIT = 4 * 64  # pages: a block of each of 4 planes


class Handles(Case):
    """Run two streams on the whole of a drive with 20 % more flash than capacity."""

    def waf(self, *args: object) -> float:
        """Return the units programmed for any reason, divided by units programmed for the host."""
        found = self.json("--closed", 4, *args, profile=SMALL)
        self.assertEqual(found["host"]["write"]["errors"], 0)
        programs = found["nand"]["ops"]["program"]
        return float(sum(programs.values()) / (found["ftl_counts"]["host_units"] / (PAGE // UNIT)))

    def test_rings_of_two_speeds_apart_are_never_copied(self) -> None:
        """A ring is overwritten in the order in which it was written, so its oldest block has no valid unit: WAF 1."""
        fast, slow = 64 << 20, 192 << 20
        rings = (
            f"gen:seq64k,foot={fast},n={20 * fast >> 16}",
            f"gen:seq4k,from={fast},foot={slow},n={slow // UNIT + 5 * fast // UNIT},fill=128KiB",
        )
        written = {0: 20 * fast, 1: 2 * slow + 5 * fast}
        for how in (TWO, APART):
            found = self.json("--closed", 4, *how, "--handles", "stream", *rings, profile=SMALL)
            programs = found["nand"]["ops"]["program"]
            self.assertEqual(programs, {**dict.fromkeys(programs, 0), "host": sum(written.values()) // PAGE})
            self.assertEqual(found["ftl_counts"]["pad_units"], 0)
            changes = sum(n // PAGE // RECLAIM_UNIT for n in written.values())
            self.assertEqual(found["ftl_counts"]["reclaim_units"], changes)
            self.assertNotIn("stray_pages", found["ftl_counts"])
        self.assertGreater(self.waf(*rings), 1.1)

    def test_rings_with_a_cached_map(self) -> None:
        """Two rings are never copied either if the map is in flash, in blocks of its own."""
        fast, slow, unit = 64 << 20, 184 << 20, 4 * 256
        small = [word for key, value in (("page_bytes", UNIT), ("oob_bytes", 320), ("pages_per_block", 256))
                 for word in ("--set", f"geometry.{key}={value}")]
        found = self.json("--closed", 4, *APART, *small, "--set", "ftl.map_cache_pages=16",
                          "--set", "ftl.capacity_mib=248", "--handles", "stream",
                          f"gen:seq64k,foot={fast},n={20 * fast >> 16}",
                          f"gen:seq4k,from={fast},foot={slow},n={slow // UNIT},fill=128KiB", profile=SMALL)
        written = [20 * fast, 2 * slow]
        programs = found["nand"]["ops"]["program"]
        self.assertEqual((programs["host"], programs["gc"]), (sum(written) // UNIT, 0))
        self.assertGreater(programs["map"], 0)
        self.assertEqual(found["ftl_counts"]["reclaim_units"], sum(n // UNIT // unit for n in written))
        self.assertNotIn("stray_pages", found["ftl_counts"])

    def test_a_ring_and_random_writes(self) -> None:
        """In shared blocks GC copies valid units of the ring, too. With a handle for each, only random ones."""
        mix = ("gen:seq64k,foot=64MiB,n=20000", "gen:rand4k,from=64MiB,foot=192MiB,n=80000,fill=128KiB")
        together = self.waf(*mix)
        initially = self.waf(*TWO, "--handles", "stream", *mix)
        apart = self.waf(*APART, "--handles", "stream", *mix)
        self.assertLess(initially, together)
        self.assertLess(apart, initially)

    def test_rows_name_handles(self) -> None:
        """One unit for each handle and a flush program one page for each handle."""
        trace = self.native(
            "0 0 write 0 4096",
            "0 0 write 4096 4096 handle=0",
            "0 0 write 8192 4096 handle=1",
            "0 0 write 12288 4096 handle=2",
            "1 0 flush",
            "2 0 write 16384 4096 fua handle=1",
            "3 0 write 16384 4096 fua",
        )
        three = ("--set", "ftl.placement_handles=3")
        found = self.json(*three, "--check", "--read-back", "--record", "calls.txt", trace, profile=SMALL)
        self.assertEqual(found["nand"]["ops"]["program"]["host"], 3 + 1 + 1)
        self.assertIn(" write 16384 4096 fua handle=1\n", (self.folder / "calls.txt").read_text())
        self.call("--recorded", "calls.txt")
        found = self.json(*three, "--handles", "none", trace, profile=SMALL)
        self.assertEqual(found["nand"]["ops"]["program"]["host"], 1 + 1 + 1)

    def test_a_drive_keeps_its_handles_through_a_power_cut(self) -> None:
        """After a cut, each handle continues its own half-written block."""
        drive = ("--profile", SMALL, *APART, "--drive", "d.slate", "--set", "ftl.payload=yes")
        rows = [f"{i} 0 write {i * PAGE} {PAGE} handle={i % 2}" for i in range(40)]
        self.call(*drive, "--open", "--cut-at", 10**9, self.native(*rows, "100 0 flush"))
        rows = [f"{i} 0 write {i * PAGE} {PAGE} handle={i % 2}" for i in range(40, 80)]
        found = self.json(*drive[2:], "--open", "--check", "--read-back", self.native(*rows, name="b"), profile=SMALL)
        self.assertNotIn("stray_pages", found["ftl_counts"])
        self.assertNotIn("reclaim_units", found["ftl_counts"])  # 40 pages of each handle, in blocks found open
        done = self.call("--drive", "d.slate", "--profile", SMALL, "gen:seq4k,foot=1MiB", code=2)
        self.assertIn("oob_kept", done.stderr)

    def test_metadata_are_not_taken_for_handles(self) -> None:
        """Handles need 7 bytes of a page's spare area, as do metadata of 7 bytes for its only unit: both keep 23."""
        one = [word for key, value in (("geometry.page_bytes", 512), ("geometry.oob_bytes", 64),
                                       ("ftl.unit_bytes", 512), ("ftl.capacity_mib", 8), ("ftl.payload", "yes"))
               for word in ("--set", f"{key}={value}")]
        made = ("--profile", SMALL, *one, "--drive", "d.slate")
        reads, seven = self.native("0 0 read 0 512"), ("--set", "ftl.metadata_bytes=7")
        self.call(*made, *seven, self.native("0 0 write 0 512", "1 0 flush", name="a"))
        with open(self.folder / "d.slate", "rb") as file:
            file.seek(OOB_KEPT_AT)
            self.assertEqual(struct.unpack("<I", file.read(4)), (7 + 9 + 7,))
        for words in ((), TWO, (*TWO, *seven), ("--set", "ftl.metadata_bytes=8")):
            done = self.call(*made, *words, reads, code=2)
            self.assertIn("was made with ftl.metadata_bytes = 7, profile small says" if seven[1] not in words else
                          "was made with geometry.oob_kept (by ftl.type and ftl.placement_handles) = 23", done.stderr)
        self.assertEqual(self.json(*made, *seven, reads)["nand"]["ops"]["read"]["host"], 1)

    def test_drives_of_earlier_versions_are_refused(self) -> None:
        """They had one byte for handles in a page's spare area: 7 + 9 * 4 + 1 are kept; now 7 are for handles."""
        made = ("--profile", SMALL, *TWO, "--set", "ftl.payload=yes")
        reads = self.native("0 0 read 0 4096")
        self.call(*made, "--drive", "d.slate", self.native("0 0 write 0 4096 handle=1", "1 0 flush", name="a"))
        path = self.folder / "d.slate"
        head = bytearray(HEAD)
        with open(path, "rb") as file:
            file.readinto(head)
        self.assertEqual(struct.unpack_from("<I", head, OOB_KEPT_AT), (7 + 9 * 4 + 7,))
        struct.pack_into("<I", head, OOB_KEPT_AT, 7 + 9 * 4 + 1)
        struct.pack_into("<I", head, HEAD - 4, zlib.crc32(head[:-4]))
        with open(path, "r+b") as file:
            file.write(head * 2)
        written = path.stat().st_mtime_ns
        for words in ((), made, ("--ephemeral",)):
            done = self.call(*words, "--drive", "d.slate", reads, code=2)
            self.assertIn("was made with placement handles by an earlier build", done.stderr)
            self.assertIn(": make the drive anew\n", done.stderr)
        self.assertEqual(path.stat().st_mtime_ns, written)

    def test_refused(self) -> None:
        trace = self.native("0 0 write 0 4096 handle=2")
        done = self.call("--profile", SMALL, *TWO, trace, code=2)
        self.assertIn(
            "line 2: a write with placement handle 2, and the drive has 2 (ftl.placement_handles,", done.stderr
        )
        self.call("--profile", SMALL, *TWO, "--handles", "none", trace)
        done = self.call("--profile", SMALL, "--handles", "stream", "gen:seq4k,foot=1M", "gen:seq4k,foot=1M", code=2)
        self.assertIn("a write with placement handle 1, and the drive has 0", done.stderr)
        done = self.call("--profile", SMALL, "--handles", "all", trace, code=2)
        self.assertIn("--handles all: is not trace, stream or none", done.stderr)
        for n, words in enumerate(("handle=256", "handle=", "handle=1 fua", "fua handle=x", "handle")):
            bad = self.native(f"0 0 write 0 4096 {words}", name=f"bad{n}")
            self.assertIn("[fua] [handle=0..255]", self.call("--profile", SMALL, *TWO, bad, code=1).stderr)
        done = self.call("--profile", SMALL, *TWO, "--record-content", "c", "gen:seq4k,foot=1M", code=2)
        self.assertIn("would lack the placement handles of writes (ftl.placement_handles = 2)", done.stderr)
        self.call("--recorded", "x", "--handles", "none", code=2)


if __name__ == "__main__":
    unittest.main()

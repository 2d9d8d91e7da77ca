# SPDX-License-Identifier: GPL-2.0-or-later
"""Test a drive with zones in the replayer: zns-small.ini, whose times are computed by hand here."""

import unittest

from support import ROOT, Case

ZNS = ROOT / "nand-emu" / "profiles" / "zns-small.ini"
ZONE = 4 << 20  # 4 planes, 64 pages of 16 KiB
FRONT = 200 + 1000  # look-up, firmware
PAGE = 300 + (16384 + 1280) * 1250 // 1000 + 640_000  # command cycles, transfer, cell
ERASE = 2 * 300 + 3_500_000  # of both planes of a die; the dies have a channel each


class Zones(Case):
    """Write zones in order, again and again, and test what is refused."""

    def test_a_circle_resets_each_zone_before_it_is_written_again(self) -> None:
        foot, passes, size = 3 * ZONE, 4, 128 << 10
        load = f"gen:seq128k,foot={foot},n={passes * foot // size}"
        found = self.json("--closed", 8, "--check", "--read-back", load, profile=ZNS)
        resets = 3 * (passes - 1)
        self.assertEqual(found["host"]["trim"]["ios"], resets)
        ops = found["nand"]["ops"]
        self.assertEqual(ops["erase"]["host"], resets * 4)  # a block of each plane
        self.assertEqual(ops["program"]["host"], passes * foot // 16384)
        self.assertEqual(ops["program"]["meta"], resets)  # a record for each
        self.assertEqual(found["check"]["wrong"], 0)

    def test_times(self) -> None:
        """Each request finds an idle drive. A reset programs its record, and then erases all blocks at once."""
        size = ZONE // 4
        lines = [f"{i * 100_000_000} 0 write {i % 4 * size} {size}" for i in range(5)]
        rows = self.rows("--open", self.native(*lines), profile=ZNS)
        self.assertEqual([row["op"] for row in rows], ["write"] * 4 + ["trim", "write"])
        self.assertEqual(rows[4]["latency_ns"], PAGE + ERASE + FRONT)

    def test_refused(self) -> None:
        for trace, text in (
            (self.native("0 0 write 4096 4096", name="a"), "is not at the write pointer of zone 0, byte 0"),
            (self.native("0 0 write 0 8388608", name="b"), "crosses the end of zone 0, byte 4194304"),
            ("gen:rand4k,foot=256M,n=10", "is not at the write pointer of zone 19"),
        ):
            done = self.call("--profile", ZNS, trace, code=2)
            self.assertIn(text, done.stderr)
        short = ("--set", "geometry.pages_per_block=48", "--set", "ftl.capacity_mib=192")  # zones hold 3 of 4 MiB
        done = self.call("--profile", ZNS, *short, "gen:seq128k,foot=8M", code=2)
        self.assertIn(f"bytes at {3 << 20} is beyond the end of zone 0, byte {3 << 20}", done.stderr)
        done = self.call("--profile", ZNS, "--record", "job.txt", "gen:seq4k,foot=1M", code=2)
        self.assertIn("would lack the operations of zones", done.stderr)
        self.call("--profile", ZNS, "--set", "ftl.type=page", "--record", "job.txt", "gen:seq16k,foot=1M")
        done = self.call("--recorded", "job.txt", "--set", "ftl.type=zns", code=2)
        self.assertIn("this drive has zones (ftl.type = zns): take the recording's FTL", done.stderr)
        done = self.call("--profile", ZNS, "--set", "ftl.capacity_mib=258", "gen:seq4k,foot=1M", code=2)
        self.assertIn("must be whole zones", done.stderr)
        aged = ("--set", "precondition.fill_permille=500", "--set", "precondition.age_permille=500")
        done = self.call("--profile", ZNS, *aged, "gen:seq4k,foot=1M", code=2)
        self.assertIn("which zones do not allow", done.stderr)

    def test_a_filled_drive_is_written_on(self) -> None:
        """Half of the zones are full; a write at a zone's begin resets it, and the next zone is empty."""
        fill = ("--set", "precondition.fill_permille=500")
        trace = self.native(
            f"0 0 write {31 * ZONE} {ZONE}", f"1 0 write {32 * ZONE} 4096", f"2 0 read {30 * ZONE} 4096"
        )
        found = self.json(*fill, trace, profile=ZNS)
        self.assertEqual(found["host"]["trim"]["ios"], 1)
        self.assertEqual(found["host"]["read"]["errors"], 0)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test requests whose data stay in the drive (Verify, Copy), and writes of lost content (Write Uncorrectable)."""

import csv

from support import ROOT, Case

SMALL = ROOT / "nand-emu" / "profiles" / "small.ini"
# 4 Gbit/s on each of two lanes: a ns for each byte
LINK = [f"link.{key}" for key in ("generation=2", "lanes=2", "data_permille=1000", "latency_ns=500")]
UNIT = 4096
# A read of a unit's page in small.ini takes the page with its spare area, and look-up and firmware.
FLASH, FRONT, BUFFER = 300 + 99000 + (16384 + 1280) * 5 // 4, 1200, 2000
UNREADABLE = -4  # enum ssd_err


class Inside(Case):
    """Test rows of the native form."""

    def test_what_crosses_the_link(self) -> None:
        """Each request runs alone; the read of a lost unit moves no data."""
        rows = {
            f"write 0 {UNIT}": BUFFER + FRONT + UNIT + 500,
            "flush": None,
            f"read 0 {UNIT}": FRONT + FLASH + UNIT + 500,
            f"read 0 {UNIT} cross=command": FRONT + FLASH + 500,
            f"read 0 {UNIT} cross=nothing": FRONT + FLASH,
            f"write {UNIT} {UNIT} cross=nothing": BUFFER + FRONT,
            f"write {2 * UNIT} {UNIT} cross=command": BUFFER + FRONT + 500,
            f"write 0 {UNIT} cross=command lost": BUFFER + FRONT + 500,
            f"read 0 {UNIT} ": BUFFER + FRONT + 500,
        }
        trace = self.native(*(f"{i * 10**7} 0 {row}" for i, row in enumerate(rows)))
        drive = [word for key in (*LINK, "ftl.payload=yes") for word in ("--set", key)]
        self.call("--profile", SMALL, *drive, "--open", "--csv", "out.csv", "--record", "calls.txt", trace)
        with (self.folder / "out.csv").open() as file:
            found = list(csv.DictReader(file))
        for row, (text, latency) in zip(found, rows.items()):
            if latency is not None:
                self.assertEqual(int(row["latency_ns"]), latency, text)
        self.assertEqual([int(row["status"]) for row in found], [0] * 8 + [UNREADABLE])
        recorded = (self.folder / "calls.txt").read_text()
        for text in rows:
            self.assertIn(f" 0 {text.strip()}\n", recorded)
        self.call("--recorded", "calls.txt")

    def test_lost_until_written_through_restarts(self) -> None:
        """On every FTL that takes such writes, a drive file keeps them like any flushed write."""
        for profile in ("small", "rps-small", "pen-small", "superblock-small", "dac-small"):
            path = ROOT / "nand-emu" / "profiles" / f"{profile}.ini"
            drive = ("--profile", path, "--drive", f"{profile}.slate", "--set", "ftl.payload=yes")
            lost = self.native(f"0 0 write 0 {4 * 16384}", f"9 0 write 0 {2 * 16384} lost", "99 0 flush", name="lost")
            self.call(*drive, lost)
            rows = (f"0 0 read 0 {16384}", f"0 0 read {2 * 16384} {16384}")
            found = self.json(*drive[2:], self.native(*rows, name="r"), profile=path)
            self.assertEqual(found["host"]["read"]["errors"], 1, profile)
            rows = (f"0 0 write 0 {16384}", f"9 0 read 0 {16384}")
            found = self.json(*drive[2:], self.native(*rows, name="w"), profile=path)
            self.assertEqual(found["host"]["read"]["errors"], 0, profile)

    def test_refused(self) -> None:
        rows = (f"write 512 {UNIT} lost", "write 0 512 lost", f"write 0 {UNIT} lost")
        trace = self.native(*(f"{i} 0 {row}" for i, row in enumerate(rows)))
        self.assertEqual(self.json(trace, profile=SMALL)["host"]["write"]["errors"], 2)
        for n, words in enumerate(("lost cross=command", "cross=all", "cross=", "lost lost", "fua lost x")):
            bad = self.native(f"0 0 write 0 4096 {words}", name=f"bad{n}")
            self.assertIn("[cross=command|nothing] [lost]", self.call("--profile", SMALL, bad, code=1).stderr)
        for n, words in enumerate(("lost", "fua", "handle=1")):
            self.call("--profile", SMALL, self.native(f"0 0 read 0 4096 {words}", name=f"read{n}"), code=1)
        trace = self.native(f"0 0 read 0 {UNIT} cross=command", name="verify")
        done = self.call("--profile", SMALL, "--record-content", "c", trace, code=1)
        self.assertIn("a Verify, a Copy or a Write Uncorrectable", done.stderr)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test 'slate profiles': the shipped drives, and figures that were computed by hand."""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import support  # noqa: F401  (sets the path)

from slate_lib import cli, paths, profiles

TOOL = paths.BUILD / "core" / "slate-profile"
MIB, GIB = 1 << 20, 1 << 30


def spared(raw: int, op_permille: int, unit: int = 4096) -> tuple[int, int]:
    """Return raw and exported bytes: raw is larger by op_permille, and exported is a number of whole units."""
    return raw, raw * 1000 // (1000 + op_permille) // unit * unit


CAPACITIES = {
    "dac": spared(512 * GIB, 125),
    "dac-flex-small": spared(512 * MIB, 250),
    "dac-small": (1280 * MIB, 1024 * MIB),
    "default": (4 * GIB, 3817746432),
    "ippbe": spared(2 * GIB, 250, 2048),
    "ippbe-small": spared(512 * MIB, 250, 2048),
    "pbe": spared(1576 * 64 * 576 * 16384, 100, 16384),
    "pen": spared(1062 * GIB, 100, 16384),
    "pen-small": (504 * MIB, 360 * MIB),
    "qlc": spared(16 * 4 * 1365 * 1536 * 16384, 98),
    "qlc-small": (1920 * MIB, 1240 * MIB),
    "rps": spared(16 * GIB, 125),
    "rps-small": spared(512 * MIB, 125),
    "small": (320 * MIB, 256 * MIB),
    "spread": spared(16 * GIB, 125),
    "spread-small": spared(512 * MIB, 125),
    "superblock": spared(1062 * GIB, 100, 16384),
    "superblock-small": (504 * MIB, 288 * MIB),
    "tlc": spared(1023 * GIB, 98),
    "tlc-shot-small": (2640 * MIB, 1700 * MIB),
    "tlc-slc-small": (3696 * MIB, 1900 * MIB),
    "tlc-small": (2640 * MIB, 1700 * MIB),
    "znand": spared(512 * GIB, 145, 2048),
    "znand-small": (512 * MIB, 400 * MIB),
    "zns-small": (320 * MIB, 256 * MIB),
}
TABLE_3 = """\
command, µs               cell       bus     total
read 2 KiB                35.0       2.5      37.5
read 4 KiB                45.0       5.0      50.0
read 6 KiB                55.0       7.5      62.5
read 8 KiB                65.0      10.0      75.0
read 10 KiB               75.0      12.5      87.5
read 12 KiB               85.0      15.0     100.0
read 14 KiB               95.0      17.5     112.5
read 16 KiB               99.0      20.0     119.0
program                  640.0      20.0     660.0
erase                   3500.0       0.0    3500.0
"""


def slate(*args: Any) -> tuple[int, str, str]:
    """Return exit code, stdout, stderr."""
    out, err = io.StringIO(), io.StringIO()
    for stream in (out, err):
        setattr(stream, "reconfigure", lambda **_: None)  # noqa: B010 (cli.main() asks for it; StringIO has none)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.main(["profiles", *args])
    return code, out.getvalue(), err.getvalue()


def facts(name: str, *settings: Any) -> Any:
    """Return the JSON of a profile."""
    code, out, err = slate("show", name, "--json", *[f"--set={line}" for line in settings])
    if code:
        raise AssertionError(err)
    return json.loads(out)


@unittest.skipUnless(TOOL.exists(), "build/core/slate-profile is not there: 'make core'")
class Case(unittest.TestCase):
    """Tests need the tool that 'make core' builds."""


class Tool(Case):
    """Call the tool of 'slate profiles' directly."""

    def test_words(self) -> None:
        for words, code, say in (
            (("--help",), 0, "usage: slate-profile FILE"),
            ((), 2, "slate-profile: usage: slate-profile FILE"),
            (("--frobnicate",), 2, "slate-profile: --frobnicate: usage"),
        ):
            done = subprocess.run([TOOL, *words], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, code)
            self.assertTrue((done.stderr if code else done.stdout).startswith(say), done)
            self.assertEqual(done.stdout if code else done.stderr, "")


class Listing(Case):
    """All shipped profiles."""

    def test_every_shipped_profile_is_valid(self) -> None:
        code, out, err = slate("--json")
        self.assertEqual((code, err), (0, ""))
        rows = json.loads(out)
        self.assertEqual(
            {row["name"]: (row["raw_bytes"], row["exported_bytes"]) for row in rows if "sheet" not in row}, CAPACITIES
        )
        self.assertEqual([row["name"] for row in rows if not row["about"]], [])
        self.assertEqual([row["name"] for row in rows if not row["runs"]], [])

    def test_the_table(self) -> None:
        code, out, err = slate()
        lines = out.split("real drives")[0].splitlines()  # the others: test_realdrives.py
        self.assertEqual((code, err, len(lines)), (0, "", len(CAPACITIES) + 1))
        self.assertEqual(lines[0], "profile                 raw   exported  FTL         what it is")
        self.assertIn(
            "pen                   1 TiB  965.5 GiB  nftl        partial erase: "
            "the 1 TB 3D NAND drive of PEN (FAST 2018)",
            lines,
        )
        self.assertIn(
            "rps                  16 GiB   14.2 GiB  flex        "
            "relaxed program order: the 16 GiB MLC drive of flexFTL (dissertation, ch. 3)",
            lines,
        )

    def test_from_any_directory(self) -> None:
        self.addCleanup(os.chdir, os.getcwd())
        for folder in (paths.ROOT, paths.ROOT.parent, paths.PROFILES):
            os.chdir(folder)
            self.assertEqual(profiles.derive(paths.PROFILES / "small.ini", [])["exported_bytes"], 256 * MIB, folder)

    def test_an_array_alone(self) -> None:
        folder = Path(tempfile.mkdtemp(prefix="slate-test-"))
        self.addCleanup(shutil.rmtree, folder)
        text = (paths.PROFILES / "small.ini").read_text(encoding="utf-8")
        (folder / "bare.ini").write_text(text.replace("= page", "= none"), encoding="utf-8")
        with mock.patch.object(paths, "PROFILES", folder):
            code, out, _ = slate()
            self.assertEqual(code, 0)
            self.assertIn("none *", out)
            self.assertIn("'slate run' refuses it", out.splitlines()[-1])

    def test_an_invalid_one(self) -> None:
        folder = Path(tempfile.mkdtemp(prefix="slate-test-"))
        self.addCleanup(shutil.rmtree, folder)
        shutil.copy(paths.PROFILES / "small.ini", folder)
        text = (paths.PROFILES / "pen.ini").read_text(encoding="utf-8")
        (folder / "bad.ini").write_text(text.replace("9270000", "9270000, 1"), encoding="utf-8")
        with mock.patch.object(paths, "PROFILES", folder):
            code, out, err = slate()
            self.assertEqual(code, profiles.INVALID)
            self.assertIn("bad      INVALID, see below\n", out)
            self.assertIn("small      320 MiB    256 MiB  page    256 MiB for tests", out)
            self.assertIn("bad.ini:27: timing.erase_ns = 10000000, 9950000,", err)
            self.assertIn("has 8 values; give one for all, or 7: geometry.pb_levels + 1", err)
            code, out, err = slate("--json")
            self.assertEqual(code, profiles.INVALID)
            self.assertIn("has 8 values", json.loads(out)[0]["error"])


class Showing(Case):
    """Test 'slate profiles show' of a profile."""

    def test_spread_is_table_3(self) -> None:
        code, out, err = slate("show", "spread")
        self.assertEqual((code, err), (0, ""))
        self.assertIn(TABLE_3, out)
        self.assertIn("FTL        page\n", out)
        self.assertIn("fill it    76.9 s: the dies limit (the channels alone: 4.7 s)\n", out)
        self.assertIn("erase all  1.8 s\n", out)
        self.assertIn("energy     not known\n", out)

    def test_zones_have_gaps(self) -> None:
        """A zone of 4 blocks of 768 KiB has 3 MiB of 4, so 64 zones hold 192 MiB of 240: 25 %."""
        _, out, _ = slate("show", "zns-small", "--set", "geometry.pages_per_block=48")
        self.assertIn("240 MiB raw, 256 MiB of addresses, 192 MiB writable, over-provisioning 25.0 %\n", out)
        _, out, _ = slate("show", "zns-small")
        self.assertIn("320 MiB raw, 256 MiB exported, over-provisioning 25.0 %\n", out)

    def test_effective_over_provisioning(self) -> None:
        """
        GC of small chooses with 4 or 5 free blocks (gc_start_blocks 5, gc_stop_blocks 6) and two open ones, half full,
        in each of 4 planes of 80 blocks of 64 pages. 65,536 units have 2 bitmaps, and with the dead list fill a page.
        """
        _, out, _ = slate("show", "small")
        self.assertIn("           effective 16.7 %: when GC chooses a block, 4.5 blocks a plane are empty", out)
        page, plane = 16384, 4 * 64
        told = facts("small")["over_provisioning"]
        self.assertEqual(told["nominal"], 0.25)
        self.assertEqual(told["effective"], round((80 - 6.5) * plane / (16384 + 1 - plane) - 1, 6))
        self.assertEqual(told["free_bytes"], 4.5 * plane * page)
        self.assertEqual((told["open_bytes"], told["own_bytes"]), (2 * plane * page, page))
        shared = facts("small", "ftl.gc_frontier=shared")["over_provisioning"]  # one open block
        self.assertEqual(shared["effective"], round((80 - 5.5) * plane / (16384 + 1 - plane / 2) - 1, 6))
        hot = facts("small", "ftl.hot_cold=count")["over_provisioning"]  # four
        self.assertEqual(hot["effective"], round((80 - 8.5) * plane / (16384 + 1 - 2 * plane) - 1, 6))

    def test_effective_over_provisioning_of_other_drives(self) -> None:
        # 8 dies of 320 blocks of 128 pages; 1 GiB in pages of 4 KiB
        told = facts("dac-small")["over_provisioning"]
        self.assertEqual(told["effective"], round((320 - 6.5) * 1024 / (262144 - 1024) - 1, 6))
        # flex: the blocks of LSB and of MSB pages are open, and two blocks have parity pages
        told, planes = facts("rps-small")["over_provisioning"], 4
        self.assertEqual(told["free_bytes"], 6.5 * planes * 1048576)
        self.assertEqual(told["open_bytes"], 2 * planes << 20)
        # a static cache of 6 blocks of 3 bits a cell holds as much as 2, and has an open block of its own
        static, dynamic = (
            facts("tlc-slc-small", f"ftl.slc_cache={kind}", "ftl.capacity_mib=1000")["over_provisioning"]
            for kind in ("static", "dynamic")
        )
        self.assertEqual(static["free_bytes"] - dynamic["free_bytes"], 8 * 4 * 2112 * 16384)
        self.assertEqual(static["open_bytes"], dynamic["open_bytes"])
        paged = facts("superblock-small", "ftl.superblock_blocks=0", "ftl.superblock_max_blocks=0")["over_provisioning"]
        pages = 288 * 64  # of 16 KiB; 4 planes of 14 blocks of 576; the frontier's empty half is in the five blocks
        self.assertEqual(paged["effective"], round((14 - 4.5 - 2) * 4 * 576 / (pages - 4 * 576) - 1, 6))

    def test_over_provisioning_that_has_no_effective_one(self) -> None:
        for name in ("pen-small", "superblock-small", "zns-small"):
            self.assertIsNone(facts(name)["over_provisioning"]["effective"], name)
            self.assertNotIn("effective", slate("show", name)[1])

    def test_over_provisioning_from_settings(self) -> None:
        """Reports know only the settings, not the profile's file."""
        found = facts("small")
        lines = [f"{key}={value}" for key, value in found["settings"].items()]
        self.assertEqual(profiles.over_provisioning(lines), found["over_provisioning"])
        self.assertIsNone(profiles.over_provisioning(["ftl.type=page"]))

    def test_suspension(self) -> None:
        """The array can suspend, and ftl.suspend decides whether the FTL does."""
        array = ("--set", "timing.suspend_ns=10000", "--set", "timing.suspends_max=10")
        self.assertIn("FTL        page (does not use suspension)\n", slate("show", "small", *array)[1])
        self.assertIn("FTL        page\n", slate("show", "small", *array, "--set", "ftl.suspend=all")[1])

    def test_sub_page_reads_that_save_the_transfer_alone(self) -> None:
        reads = facts("spread", "geometry.subpage=dma")["reads"]
        self.assertEqual([read["cell_ns"] for read in reads], [[99000]] * 8)
        self.assertEqual([read["bus_ns"] for read in reads][:2], [2501, 5002])
        self.assertEqual(len(facts("spread", "geometry.subpage=none")["reads"]), 1)

    def test_pen(self) -> None:
        code, out, _ = slate("show", "pen")
        self.assertEqual(code, 0)
        for line in (
            "           32 dies, 120,832 blocks of 9 MiB, 69,599,232 pages\n",
            "FTL        nftl\n",
            "read 16 KiB               70.0      41.0     111.0\n",
            "program                  900.0      41.0     941.0\n",
            "erase 576 pages        10000.0       0.0   10000.0\n",
            "erase 9 pages           9270.0       0.0    9270.0\n",
            "erase all  18.9 s\n",
            "  erase_ns = 10000000, 9950000, 9790000, 9620000, 9480000, 9370000, 9270000\n",
        ):
            self.assertIn(line, out)

    def test_superblock(self) -> None:
        code, out, _ = slate("show", "superblock")
        self.assertEqual(code, 0)
        self.assertIn("FTL        superblock\n", out)
        self.assertIn("erase 9 pages           9270.0       0.0    9270.0\n", out)

    def test_ippbe(self) -> None:
        # A transfer takes 175 ns of cycles and 25 ns a byte for 2048; two planes share the bus, then program together.
        found = facts("ippbe")
        self.assertEqual(found["program"], {"bus_ns": 51375, "cell_ns": [1500000]})
        die = 2 * 2048 * 1e9 / (2 * 51375 + 1500000)
        rates = found["bytes_per_second"]["program"]
        self.assertEqual(rates["die"], round(die))
        self.assertEqual(rates["dies"], round(4 * die))
        self.assertEqual(rates["channel"], round(2048e9 / 51375))
        self.assertEqual(rates["channels"], round(2 * 2048e9 / 51375))
        # 524,288 programs and 8,192 erases to a GiB
        self.assertAlmostEqual(
            found["energy_j_per_gib_written"], (524288 * 12300 + 8192 * 22500) / 1e9, places=4
        )
        self.assertEqual(found["erase_all_ns"], 1024 * (2 * 175 + 3800000))
        single = facts("ippbe", "geometry.erase_group_max=1", "ftl.parallel_erase=no")
        self.assertEqual(single["erase_all_ns"], 2048 * (2 * 175 + 3800000))

    def test_what_gc_uses_of_the_array(self) -> None:
        _, out, _ = slate("show", "ippbe")
        self.assertIn("FTL        page\n", out)
        _, out, _ = slate("show", "ippbe", "--set=ftl.parallel_erase=no")
        self.assertIn("FTL        page (does not use parallel erase)\n", out)
        hosts = "--set=ftl.host_subpage_reads=no"
        _, out, _ = slate("show", "spread", hosts)
        self.assertIn("FTL        page\n", out)
        _, out, _ = slate("show", "spread", hosts, "--set=ftl.gc_subpage_reads=no")
        self.assertIn("FTL        page (does not use sub-page reads)\n", out)
        _, out, _ = slate("show", "spread", "--set=geometry.subpage=none")  # pageFTL
        self.assertIn("FTL        page\n", out)

    def test_page_types_have_rows_of_their_own(self) -> None:
        _, out, _ = slate("show", "rps")
        for line in ("read 4 KiB LSB            30.0", "read 4 KiB MSB            60.0",
                     "program LSB              600.0", "program MSB             2000.0"):  # fmt: skip
            self.assertIn(line, out)
        self.assertIn("FTL        flex\n", out)

    def test_an_ftl_that_is_not_power_safe(self) -> None:
        _, out, _ = slate("show", "rps", "--set=ftl.type=page")
        self.assertIn("page; keeps no copy of paired pages: a power cut may lose flushed data\n", out)
        self.assertIn("backs up no LSB pages", facts("rps", "ftl.type=page")["not_safe"])
        self.assertEqual(facts("rps")["not_safe"], "")
        for profile in ("pen-small", "superblock-small"):
            self.assertEqual(facts(profile)["not_safe"], "")
            sets = ("geometry.bits_per_cell=3", "geometry.paired_loss=yes")
            self.assertIn("completed writes", facts(profile, *sets)["not_safe"])
            _, out, _ = slate("show", profile, *(f"--set={s}" for s in sets))
            self.assertIn("; keeps no copy of paired pages: a power cut may lose completed writes\n", out)
            self.assertEqual(facts(profile, sets[0])["not_safe"], "")
            code, _, said = slate("show", profile, f"--set={sets[1]}")
            self.assertEqual(code, 2)
            self.assertIn("geometry.paired_loss = yes: means nothing with geometry.bits_per_cell = 1", said)

    def test_one_shot(self) -> None:
        # Six transfers take place, then each of two planes programs a word line.
        one_shot = ("ftl.type=none", "geometry.bits_per_cell=3", "geometry.pages_per_block=66",
                    "geometry.one_shot=yes", "timing.program_ns=2100000")  # fmt: skip
        found = facts("small", *one_shot)
        self.assertEqual(found["program"], {"bus_ns": 3 * 22380, "cell_ns": [2100000]})
        rate = found["bytes_per_second"]["program"]["die"]
        self.assertEqual(rate, round(6 * 16384e9 / (6 * 22380 + 2100000)))

    def test_a_free_bus(self) -> None:
        found = facts("small", "timing.bus_ps_per_byte=0", "timing.cmd_ns=0")
        self.assertIsNone(found["bytes_per_second"]["read"]["channel"])
        code, out, _ = slate("show", "small", "--set=timing.bus_ps_per_byte=0", "--set=timing.cmd_ns=0")
        self.assertEqual(code, 0)
        self.assertIn("(the channels alone: 0.0 ms)", out)

    def test_memory_without_payload(self) -> None:
        found, without = facts("small"), facts("small", "ftl.payload=no")
        self.assertEqual(found["memory"]["payload_bytes"], 320 << 20)
        self.assertEqual(without["memory"]["payload_bytes"], 320 << 20)
        self.assertLess(without["memory"]["array_bytes"], found["memory"]["array_bytes"])
        self.assertIn("no data (ftl.payload=yes: 320 MiB)", slate("show", "small", "--set=ftl.payload=no")[1])

    def test_settings_can_be_fed_back(self) -> None:
        for name in CAPACITIES:
            first = facts(name)
            lines = [f"{key}={value}" for key, value in first["settings"].items()]
            again = facts("default", *lines)
            for mine in ("about", "path"):
                first.pop(mine)
                again.pop(mine)
            self.assertEqual(first, again, name)

    def test_the_drives_of_before_are_what_they_were(self) -> None:
        """Keys that older profiles lack have defaults that change nothing."""
        neutral = {
            "geometry.bits_per_cell": "1",
            "geometry.order": "ascending",
            "geometry.ecc_word_bytes": "16384",
            "geometry.pb_levels": "0",
            "geometry.erase_group_max": "1",
            "geometry.subpage": "none",
            "geometry.one_shot": "no",
            "geometry.copyback": "no",
            "geometry.paired_loss": "no",
            "timing.oob_on_bus": "yes",
            "timing.suspend_ns": "0",
            "reliability.disturb_tolerance": "off",
            "reliability.rber": "off",
            "reliability.endurance": "0",
        }
        for name in ("default", "small"):
            settings = facts(name)["settings"]
            self.assertEqual({key: settings[key] for key in neutral}, neutral)

    def test_settings_that_nothing_reads_are_left_out(self) -> None:
        """Those of other FTLs, and of capacity_mib and op_permille the one that does not count."""
        zones = {"zone_blocks", "zone_dies", "zrwa_pages"}
        gc, model = {"gc_policy", "gc_multiplane"}, {"eps", "q"}
        nftl, both = {"merge_victim", "spare_search"}, {"pen", "read_priority"}
        every = zones | gc | model | nftl | both | {"op_permille", "capacity_mib"}
        for name, settings, shown in (
            ("default", (), gc | {"op_permille"}),
            ("tlc-small", (), gc | {"capacity_mib"}),
            ("tlc-small", ("reliability.rber=powerlaw",), gc | model | {"capacity_mib"}),
            ("pen-small", (), nftl | both | {"capacity_mib"}),
            ("zns-small", (), zones | {"capacity_mib"}),
        ):
            with self.subTest(name):
                code, out, err = slate("show", name, *[f"--set={line}" for line in settings])
                self.assertEqual((code, err), (0, ""))
                found = set(re.findall(r"(?m)^  (\w+) = ", out.partition("\nsettings\n")[2]))
                self.assertEqual(found & every, shown)
                # what is left out changes nothing
                whole = facts(name, *settings)
                lines = [f"{key}={value}" for key, value in whole["settings"].items() if key.partition(".")[2] in found]
                self.assertEqual(facts(name, *settings, *lines)["memory"], whole["memory"])

    def test_what_is_refused(self) -> None:
        for args, words in (
            (("show", "nope"), ["no such profile: nope", "'slate profiles' lists"]),
            (("show", "./nope.ini"), ["no such profile: nope.ini"]),
            (("show", "spread", "--set", "x"), ["--set x", "SECTION.KEY=VALUE"]),
            (("show", "spread", "--set", "timing.read_ns=0"), ["override: timing.read_ns = '0': must be"]),
            (("show",), ["NAME"]),
            (("list",), ["there is no list"]),
        ):
            code, out, err = slate(*args)
            self.assertEqual((code, out), (2, ""), args)
            for word in words:
                self.assertIn(word, err)

    def test_a_path(self) -> None:
        code, out, _ = slate("show", str(paths.PROFILES / "small.ini"))
        self.assertEqual(code, 0)
        self.assertIn("small: 256 MiB for tests", out)


class Keys(Case):
    """Test 'slate profiles keys'."""

    def test_lines_with_all_the_words(self) -> None:
        said = """\
[geometry]
  copyback = yes or no; default no
      pages move within a plane without the bus

[ftl], only page, nftl, superblock, parity, rtf, flex
  gc_copyback = yes or no; default no
      GC copies inside the chip (needs geometry.copyback)
"""
        self.assertEqual(slate("keys", "GEOMETRY", "copyback"), (0, said, ""))

    def test_a_key_without_a_default(self) -> None:
        said = """\
[geometry]
  chips_per_channel = a whole number, 1 .. 64; must be given
      they share the channel's bus
"""
        self.assertEqual(slate("keys", "chips_per"), (0, said, ""))

    def test_no_line(self) -> None:
        code, out, err = slate("keys", "zns", "nothing")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("no key has zns and nothing in its line\n  fix: 'slate profiles keys' lists all keys", err)

    def test_every_key(self) -> None:
        done = subprocess.run([TOOL, "--keys"], capture_output=True, text=True, check=True)
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        _, out, _ = slate("keys")
        self.assertEqual(re.findall(r"^  (\S+) = ", out, re.MULTILINE), [row[0].partition(".")[2] for row in rows])
        _, out, _ = slate("keys", "--json")
        self.assertEqual([[*row.values()] for row in json.loads(out)], rows)

    def test_every_key_says_what_it_is(self) -> None:
        done = subprocess.run([TOOL, "--keys"], capture_output=True, text=True, check=True)
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        self.assertEqual([row for row in rows if len(row) != 5 or not row[4] or "|" in row[4]], [])
        keys = [row[0] for row in rows]
        self.assertEqual(len(keys), len(set(keys)), "a key that is declared twice")


class NotBuilt(unittest.TestCase):
    """Test the message if the core has not been built."""

    def test_it_says_what_to_build(self) -> None:
        with mock.patch.object(paths, "PROGRAMS", (Path("/none"),)):
            code, _, err = slate("show", "small")
        self.assertEqual(code, 2)
        self.assertIn("make core", err)


if __name__ == "__main__":
    unittest.main()

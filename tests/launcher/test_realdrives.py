# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the shipped real drives: each is what its sheet and 'slate fit' say."""

import contextlib
import io
import json
import math
import re
import subprocess
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import support  # noqa: F401  (sets the path)

from slate_lib import cli, fit, fitsheet, names, paths, profiles

DRIVES = sorted((paths.PROFILES / "drives").glob("*.ini"))
FITTED = re.compile(r"^([a-z_]+) += ([0-9]+) +; fitted to ([a-z_]+)$", re.MULTILINE)
SECTION = re.compile(r"^\[([a-z]+)\]$", re.MULTILINE)
ROW = re.compile(r"^; (\w.*?) {2,}([0-9,.]+) +([0-9,.]+) +([-+][0-9.]+) %  (\S+)", re.MULTILINE)
MAP_NS = 200  # the default of ftl.map_ns
# A lane carries these bytes a second: 2.5, 5, 8, 16, 32 GT/s with 8b/10b or 128b/130b.
LANE = {1: 2.5e9 / 10, 2: 5e9 / 10, 3: 8e9 * 16 / 130, 4: 16e9 * 16 / 130, 5: 32e9 * 16 / 130}


def settings(path: Path) -> Any:
    """Return every key of the profile."""
    return profiles.derive(path, [])["settings"]


def fitted(text: str) -> dict[str, Any]:
    """Return the keys that were fitted, with their section: value and target."""
    found, section = {}, ""
    for line in text.splitlines():
        if match := SECTION.match(line):
            section = match[1]
        elif match := FITTED.match(line):
            found[f"{section}.{match[1]}"] = (match[2], match[3])
    return found


@unittest.skipUnless((paths.BUILD / "core" / "slate-replay").exists(), "no slate-replay: 'make core'")
class Drives(unittest.TestCase):
    """Each test checks all drives."""

    def each(self) -> Iterator[Any]:
        self.assertGreaterEqual(len(DRIVES), 1)
        for path in DRIVES:
            with self.subTest(path.stem):
                yield path, path.read_text(encoding="utf-8"), fitsheet.read(fit.find(path.stem))

    def test_names_its_sheet(self) -> None:
        for path, text, sheet in self.each():
            self.assertEqual(sheet.path, paths.PROFILES / "sheets" / path.name)
            self.assertIn(f"; {path.name} - {sheet.texts['about']}\n", text)
            self.assertIn(f"; Made by 'slate fit {path.stem}' from: {sheet.texts['source']}\n", text)
            self.assertIn("\n; The capacity is cut: ", text)

    def test_head_has_the_sheets_numbers_within_5_percent(self) -> None:
        for _, text, sheet in self.each():
            rows = {match[1]: match for match in ROW.finditer(text)}
            self.assertEqual(set(rows), {t.words for t in fitsheet.TARGETS if t.key in sheet.targets})
            for target in fitsheet.TARGETS:
                if target.key in sheet.targets:
                    wanted, found = (float(rows[target.words][n].replace(",", "")) for n in (2, 3))
                    self.assertEqual(wanted, sheet.targets[target.key], target.key)
                    self.assertLessEqual(abs(found / wanted - 1), 0.05, target.key)

    def test_is_what_fit_writes(self) -> None:
        """Check every line below the head: the base, the sheet's keys, the cut, and fitted keys with these values."""
        for path, text, sheet in self.each():
            search = fit.Fit(sheet, lambda _: None)
            for key, (value, target) in fitted(text).items():
                search._set(key, int(value), target)
            made = fit.profile_text(sheet, search, path.stem, {})

            def body(words: str) -> str:
                return words[words.index("\n[") :]

            self.assertEqual(body(text), body(made))

    def test_parallelism_is_not_cut(self) -> None:
        for path, _, sheet in self.each():
            found, base = settings(path), settings(sheet.base)
            for key in ("channels", "dies_per_chip", "planes_per_die", "page_bytes"):
                key = f"geometry.{key}"
                self.assertEqual(found[key], sheet.fixed.get(key, base[key]))
            # erase_ns / pages_per_block is the base's, rounded down
            erase, pages = int(base["timing.erase_ns"]), int(base["geometry.pages_per_block"])
            cut = int(found["geometry.pages_per_block"])
            self.assertEqual(int(found["timing.erase_ns"]), erase * cut // pages)

    def test_capacity(self) -> None:
        for path, _, _ in self.each():
            facts = profiles.derive(path, [])
            found = {key.partition(".")[2]: value for key, value in facts["settings"].items()}
            raw = math.prod(
                int(found[key])
                for key in ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die", "blocks_per_plane",
                            "pages_per_block", "page_bytes")
            )  # fmt: skip
            unit = int(found["unit_bytes"])
            self.assertEqual(facts["raw_bytes"], raw)
            self.assertEqual(facts["exported_bytes"], raw * 1000 // (1000 + int(found["op_permille"])) // unit * unit)

    def replayed(self, path: Path, what: Any, n: int) -> Any:
        """Return the latencies of 4 KiB at depth 1 on a filled drive, without caches."""
        few = [word for key, value in {**fit.FEW, **fit.NO_READ_CACHE}.items() for word in ("--set", f"{key}={value}")]
        done = subprocess.run(
            [paths.BUILD / "core" / "slate-replay", "--profile", path, "--set", "ftl.payload=no",
             *few, "--fill", "100", "--closed", "1", "--json", "-", f"gen:rand4k,n={n},foot=64MiB{what}"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return json.loads(done.stdout)["host"]

    def test_link_and_latencies_by_arithmetic(self) -> None:
        for path, _, sheet in self.each():
            found = settings(path)
            number = {key: int(value) for key, value in found.items() if re.fullmatch("[0-9]+", value)}
            self.assertEqual((number["link.generation"], number["link.lanes"]), sheet.pcie)
            share = number["link.data_permille"] / 1000
            ps = round(1e12 / (LANE[sheet.pcie[0]] * sheet.pcie[1] * share))  # whole picoseconds a byte
            link = math.ceil(4096 * ps / 1000)
            page, spare = number["geometry.page_bytes"], number["geometry.oob_bytes"]
            units = 4096 // number["ftl.unit_bytes"]
            firmware = number["ftl.overhead_ns"] + units * MAP_NS
            write = self.replayed(path, "", 100)["write"]["latency"]
            self.assertEqual(write["percentiles_ns"]["50"], firmware + link + number["ftl.buffer_ns"])
            if "write_us" in sheet.targets:
                self.assertAlmostEqual(write["mean_ns"], 1000 * sheet.targets["write_us"] - 2690, delta=1)
            if units == 1:  # else a read is of two dies, which may wait for the channel
                bus = math.ceil((4096 + 4096 * spare // page) * number["timing.bus_ps_per_byte"] / 1000)
                cell = number["timing.read_ns"] + number["timing.cmd_ns"] + bus
                read = self.replayed(path, ",read=1000", 100)["read"]["latency"]
                self.assertEqual(read["mean_ns"], firmware + cell + link)
            if "read_us" in sheet.targets:
                mean = fit.Drive(path, {}).read_us({})
                self.assertAlmostEqual(mean, sheet.targets["read_us"] - 2.62, delta=0.01)

    def test_listed_apart(self) -> None:
        out = io.StringIO()
        setattr(out, "reconfigure", lambda **_: None)  # noqa: B010 (cli.main() asks for it; StringIO has none)
        with contextlib.redirect_stdout(out):
            self.assertEqual(cli.main(["profiles"]), 0)
        lines = out.getvalue().splitlines()
        at = [number for number, line in enumerate(lines) if line.startswith("real drives, fitted to data sheets")]
        self.assertEqual(len(at), 1)
        self.assertEqual([line.split()[0] for line in lines[at[0] + 1 :]], [path.stem for path in DRIVES])

    def test_found_by_name(self) -> None:
        for path in DRIVES:
            for word in (path.stem, path.name):
                self.assertEqual(names.find(word, names.PROFILE), path)
            self.assertIn(path.stem, names.shipped(names.PROFILE))

    def test_names_are_not_used_twice(self) -> None:
        self.assertEqual(len(set(names.shipped(names.PROFILE))), len(names.shipped(names.PROFILE)))


if __name__ == "__main__":
    unittest.main()

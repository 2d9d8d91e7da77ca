# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the studies of what SPREAD's, flexFTL's and DAC's texts leave open: configurations, and stored tables."""

import unittest

import support

from reproduce.papers import dac, rps, rps_causes, spread, study


def settings(sets: tuple[str, ...]) -> dict[str, str]:
    """Return the settings as slate-replay takes them: a later value replaces an earlier one."""
    return dict(one.split("=", 1) for one in sets)


class Configurations(unittest.TestCase):
    """Each differs from what it is compared with in what its name says, and in nothing else."""

    def test_words_and_overhead(self) -> None:
        made = spread.SpreadChoices(8).all()
        self.assertEqual(len(made), 15)
        base = settings(made["sp-base"].sets)
        for name, changed in (
            ("sp-o30", {"ftl.overhead_ns": "30000"}),
            ("sp-w4", {"geometry.ecc_word_bytes": "4096"}),
            ("sp-w4-o5", {"geometry.ecc_word_bytes": "4096", "ftl.overhead_ns": "5000"}),
            ("sp-w16", {"geometry.ecc_word_bytes": "16384"}),
            ("dma-base", {"geometry.subpage": "dma"}),
        ):
            with self.subTest(name):
                self.assertEqual(settings(made[name].sets), base | changed)
                self.assertEqual(made[name].args, ("--closed", "1"))

    def test_types_by_drive(self) -> None:
        made = rps.RpsChoices(4).all()
        for suffix in ("", "-b4"):
            self.assertEqual(settings(made[f"flex-drive{suffix}"].sets),
                             settings(made[f"flex{suffix}"].sets) | {"ftl.gc_pages": "drive"})  # fmt: skip

    def test_causes(self) -> None:
        made = rps_causes.RpsCauses(4).all()
        for name, before, changed, depth in (
            ("page-g20", "page", {"ftl.gc_start_blocks": "20", "ftl.gc_stop_blocks": "21"}, 32),
            ("flex-s16", "flex", {"ftl.gc_slice_pages": "16"}, 32),
            ("flex-low", "flex", {"ftl.slow_below_permille": "0"}, 32),
            ("flex-high", "flex", {"ftl.fast_above_permille": "1000"}, 32),
            ("flex-turns", "flex-low", {"ftl.fast_above_permille": "1000"}, 32),
            ("flex-d8", "flex", {}, 8),
            ("parity-idle150", "parity", {"ftl.idle_gc_permille": "150"}, 32),
            ("rtf-one-next", "rtf-next", {}, 32),
            ("rtf-lsb", "rtf", {"geometry.order": "rps"}, 32),
            ("rtf-a16-w1", "rtf-w1", {"ftl.active_blocks": "16"}, 32),
        ):
            with self.subTest(name):
                self.assertEqual(settings(made[name].sets), settings(made[before].sets) | changed)
                self.assertEqual(made[name].args[:3], ("--closed", str(depth), "--think"))
        runs = {point.id: settings(point.sets) for point in study.of("rps-causes", False, None, None).points()}
        for trace, permille in (("oltp", "0"), ("ntrx", "0"), ("varmail", "125")):
            self.assertEqual(runs[f"{trace}/parity-idle125.device"]["ftl.idle_gc_permille"], permille)
        alike = rps.RpsChoices(4).all()
        for name in ("page", "parity", "rtf", "flex", "parity-next", "rtf-next", "flex-next"):
            self.assertEqual(made[name], alike[name])

    def test_which_runs_have_a_patched_program(self) -> None:
        made = {point.config: point.patch for point in study.of("rps-causes", False, None, None).points()}
        self.assertEqual({name: patch for name, patch in made.items() if patch}, {
            "parity-one-next": "parity-of-one", "rtf-one-next": "parity-of-one", "parity-lsb": "lsb-backups",
            "rtf-lsb": "lsb-backups",
        })  # fmt: skip
        for patch in set(made.values()) - {""}:
            self.assertTrue((support.REPRODUCE / f"trials/{patch}.patch").exists())

    def test_published_buffer(self) -> None:
        made = dac.DacChoices(256).all()
        self.assertEqual(len(made), 14)
        for name in dac.BUFFER_FTLS:
            with self.subTest(name):
                before = settings(made[f"{name}-u"].sets)
                self.assertEqual(before["ftl.buffer_units"], "128")
                self.assertEqual(settings(made[f"{name}-c"].sets), before | {"ftl.buffer_units": "0"})


class Stored(unittest.TestCase):
    """Test what must hold in the stored tables by construction."""

    def test_the_published_buffer_stores_the_same_units(self) -> None:
        rows = support.stored("dac-choices/buffer-units")
        for trace in {row["trace"] for row in rows}:
            with self.subTest(trace):
                for what, alike in (("compressed", True), ("units", False)):
                    found = {row["ours"] for row in rows
                             if row["trace"] == trace and row["what"].startswith(f"buffer of {what}: ")}  # fmt: skip
                    self.assertEqual(len(found) == 1, alike)

    def test_a_word_of_a_page_leaves_no_gain(self) -> None:
        table = support.stored("spread-choices/explained-kv")
        rows = [row for row in table if "16 KiB" in row["what"] and row["unit"] == "x"]
        self.assertEqual([row["ours"] for row in rows], ["1", "1", "1"])

    def test_words_of_a_mapping_unit_are_read_whole(self) -> None:
        """92 reads of 2 KiB fetch 4 KiB; 8 of 4 KiB at multiples of 2 KiB fetch 4 or 8: 416 KiB for 216."""
        rows = support.stored("spread-choices/explained-kv")
        found = [float(row["ours"]) for row in rows if row["unit"] == "bytes/byte" and "4 KiB" in row["what"]]
        self.assertEqual(len(found), 2)
        for value in found:
            self.assertAlmostEqual(value, 416 / 216, delta=0.005)


if __name__ == "__main__":
    unittest.main()

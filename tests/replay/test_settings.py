# SPDX-License-Identifier: GPL-2.0-or-later
"""Every FTL reads every setting that it lists, and a profile that gives it another is refused.

For each FTL and each key of [ftl] and [controller] that it lists, two replays differ in that key alone. Their
results must differ, or the key must be refused with its name. HOW has what a key needs to have an effect.
"""

from __future__ import annotations

import json
import subprocess
import unittest
from dataclasses import dataclass
from functools import cache

from support import CORE, ROOT, Case

PROFILES = ROOT / "nand-emu" / "profiles"
FPS = "geometry.order=fps"
RPS = ("geometry.blocks_per_plane=24", "geometry.planes_per_die=2", "ftl.idle_gc_permille=0")


@dataclass(frozen=True)
class Engine:
    """A small drive of an FTL, and a load that makes it collect."""

    profile: str
    settings: tuple[str, ...]
    mib: int
    requests: int
    size: str

    def words(self, settings: tuple[str, ...]) -> list[str]:
        """Return the drive's options."""
        found = ["--profile", str(PROFILES / f"{self.profile}.ini")]
        for setting in (*self.settings, *settings):
            found += ["--set", setting]
        return found

    def load(self, how: str) -> list[str]:
        """Return the options of a load."""
        if self.profile == "zns-small":
            return ["--closed", "8", "gen:seq128k,foot=100MiB,n=1200"]
        random = f"foot={self.mib}MiB,n={self.requests}"
        return ["--fill", "100"] + {
            "": ["--closed", "8", f"gen:rand{self.size},{random},read=300"],
            "idle": ["--open", f"gen:rand4k,{random},gap=3000000"],
            "small": ["--age", "0.5", "--closed", "4", f"gen:rand4k,{random},read=300"],
            "again": ["--closed", "4", f"gen:rand16k,foot=4MiB,n={self.requests},read=900"],
            "deep": ["--closed", "64", f"gen:rand16k,{random},read=900"],
            "in order": ["--closed", "1", "gen:seq16k,foot=20MiB,n=600,read=1000"],
        }[how]


ENGINES = {
    "page": Engine(
        "small", ("geometry.blocks_per_plane=32", "ftl.capacity_mib=96", "ftl.buffer_units=64"), 96, 3000, "16k"
    ),
    "parity": Engine("rps-small", (*RPS, "ftl.capacity_mib=120", "ftl.type=parity", FPS), 120, 1500, "64k"),
    "rtf": Engine("rps-small", (*RPS, "ftl.capacity_mib=72", "ftl.type=rtf", FPS), 72, 2500, "64k"),
    "flex": Engine("rps-small", (*RPS, "ftl.capacity_mib=120"), 120, 1500, "64k"),
    "nftl": Engine("pen-small", ("ftl.pen=no", "ftl.gc_mode=sliced"), 300, 300, "4k"),
    "superblock": Engine("superblock-small", ("ftl.pen=no", "ftl.gc_mode=sliced"), 280, 300, "4k"),
    "zns": Engine("zns-small", (), 0, 0, ""),
}
CORES = ("controller.cores=1",)
CACHE = (*CORES, "controller.read_cache_units=4096")
SUBPAGE = (
    "geometry.subpage=spread", "geometry.ecc_word_bytes=1024", "timing.subread_base_ns=20000",
    "timing.subread_ns_per_kib=1000", "ftl.unit_bytes=2048",
)  # fmt: skip
SUSPENDS = ("timing.suspend_ns=5000", "timing.resume_ns=5000", "timing.suspends_max=4")
ERRORS = (
    "reliability.rber=powerlaw", "reliability.eps=1e-4", "reliability.alpha=1e-6", "reliability.k=1",
    "reliability.beta=1e-6", "reliability.m=1", "reliability.n=0.5", "reliability.gamma=1e-6", "reliability.p=1",
    "reliability.q=1", "reliability.ecc_bits=90", "reliability.relocate_bits=2",
)  # fmt: skip
SLC = ("ftl.slc_blocks=4", "timing.slc_program_ns=100000", "timing.slc_read_ns=20000", "geometry.bits_per_cell=2",
       "geometry.blocks_per_plane=48")  # fmt: skip
TWO = ("geometry.erase_group_max=4", "ftl.parallel_erase=yes")


@dataclass(frozen=True)
class How:
    """Other values of a key, what it needs to have an effect, and the load."""

    values: tuple[str, ...]
    needs: tuple[str, ...] = ()
    load: str = ""


HOW = {
    "controller.cores": How(("1",)),
    "controller.completion_ns": How(("9000",), CORES),
    "controller.read_cache_units": How(("4096",), CORES, "again"),
    "controller.read_ahead_units": How(("16", "64"), CACHE, "in order"),
    "controller.read_hit_ns": How(("50000",), CACHE, "again"),
    "controller.dram_mb_s": How(("50",), CORES),
    "ftl.unit_bytes": How(("8192", "2048")),
    "ftl.buffer_units": How(("96", "192")),
    "ftl.gc_start_blocks": How(("3", "4", "7"), ("ftl.gc_stop_blocks=8",)),
    "ftl.gc_stop_blocks": How(("9", "10")),
    "ftl.gc_urgent_blocks": How(("2", "3", "4")),
    "ftl.gc_mode": How(("blocking",)),
    "ftl.gc_slice_pages": How(("64",)),
    "ftl.reads_in_row": How(("1", "64"), (), "deep"),
    "ftl.max_unit_reads": How(("8",), (), "deep"),
    "ftl.map_ns": How(("4000",)),
    "ftl.buffer_ns": How(("4000",)),
    "ftl.overhead_ns": How(("4000",)),
    "ftl.gc_policy": How(("fifo", "random")),
    "ftl.gc_choices": How(("2",), ("ftl.gc_policy=d-choices",)),
    "ftl.gc_window_blocks": How(("3",), ("ftl.gc_policy=windowed-greedy",)),
    "ftl.wl_threshold": How(("1", "2")),
    "ftl.relocate": How(("no",), ERRORS, "again"),
    "ftl.gc_frontier": How(("own", "shared")),
    "ftl.suspend": How(("all",), SUSPENDS),
    "ftl.multiplane": How(("no",)),
    "ftl.gc_multiplane": How(("no",)),
    "ftl.gc_subpage_reads": How(("yes",), SUBPAGE, "small"),
    "ftl.host_subpage_reads": How(("yes",), SUBPAGE, "small"),
    "ftl.gc_copyback": How(("yes",), ("geometry.copyback=yes",)),
    "ftl.parallel_erase": How(("yes",), TWO[:1]),
    "ftl.accounting": How(("ssdsim",), ("ftl.buffer_units=0",)),
    "ftl.second_victim_pages": How(("0",), TWO),
    "ftl.idle_gc_permille": How(("990",), (), "idle"),
    "ftl.idle_gc_ns": How(("1000", "100000000"), ("ftl.idle_gc_permille=990",), "idle"),
    "ftl.hot_cold": How(("count",)),
    "ftl.slc_cache": How(("dynamic",), SLC),
    "ftl.slc_blocks": How(("2",), ("ftl.slc_cache=dynamic", *SLC)),
    "ftl.slc_full": How(("fold",), ("ftl.slc_cache=dynamic", *SLC)),
    "ftl.placement_handles": How(("2",)),
    "ftl.stripe_pages": How(("4",)),
    "ftl.read_priority": How(("no",)),
    "ftl.pen": How(("yes",)),
    "ftl.pen_merges_max": How(("0",), ("ftl.pen=yes",)),
    "ftl.spare_search": How(("no",)),
    "ftl.merge_victim": How(("oldest", "lru")),
    "ftl.write_buffer_blocks": How(("1",)),
    "ftl.superblock_blocks": How(("2",)),
    "ftl.superblock_max_blocks": How(("6", "7")),
    "ftl.superblock_cold": How(("yes",)),
    "ftl.superblock_map_parts": How(("2",)),
    "ftl.backup_channel": How(("next",)),
    "ftl.active_blocks": How(("2",)),
    "ftl.fast_above_permille": How(("400",)),
    "ftl.slow_below_permille": How(("700",)),
    "ftl.quota_permille": How(("0", "900")),
    "ftl.gc_pages": How(("fast",)),
    "ftl.zone_dies": How(("1",)),
    "ftl.zone_blocks": How(("2",)),
}
# These replays cannot show the effect of these keys. The tests named show it.
ELSEWHERE = {
    "ftl.type": "test_digests.py",
    "ftl.payload": "tests/core/test_model.c",
    "ftl.capacity_mib": "test_report.py",
    "ftl.op_permille": "test_report.py",
    "ftl.power_protected": "tests/core/test_protected.c",
    "ftl.hold_up_ns": "tests/core/test_protected.c",
    "ftl.metadata_bytes": "tests/core/test_metadata.c",
    "ftl.map_cache_pages": "tests/core/test_map.c",
    "ftl.placement_isolation": "tests/core/test_handles.c",
    "ftl.placement_groups": "tests/core/test_groups.c",
    "ftl.pair_pages": "tests/core/test_superblock.c",
    **{f"controller.{key}": "test_arbitration.py"
       for key in ("arbitration", "arbitration_burst", "weight_high", "weight_medium", "weight_low")},
    **{f"ftl.{key}": "tests/core/test_zns.c" for key in ("zone_power2", "zone_open_max", "zone_active_max",
       "zone_cross_reads", "zrwa_pages", "zrwa_flush_pages", "zrwa_zones")},
}  # fmt: skip
# Pairs without effect in these replays, and why.
WITHOUT = {
    ("nftl", "ftl.buffer_ns"): "only the controller's read cache has a buffer",
    ("superblock", "ftl.buffer_ns"): "only the controller's read cache has a buffer",
    ("zns", "ftl.reads_in_row"): "the load has no reads",
    ("zns", "ftl.max_unit_reads"): "the load has no reads",
    ("superblock", "ftl.gc_urgent_blocks"): "a single stream of writes leaves the reserve alone",
    ("superblock", "ftl.parallel_erase"): "the load is too short for two victims",
    ("superblock", "ftl.second_victim_pages"): "the load is too short for two victims",
}


DAC = (
    "ftl.reduction", "ftl.frontiers", "ftl.fingerprints_permille", "ftl.fingerprints", "ftl.reference_bytes",
    "ftl.hash_ns", "ftl.compress_ns", "ftl.decompress_ns", "ftl.count_plain",
)  # fmt: skip
OTHER = {
    "ftl.frontiers": "flex", "ftl.reduction": "comp", "ftl.count_plain": "yes", "ftl.zone_power2": "no",
    "ftl.zone_cross_reads": "yes", "ftl.placement_isolation": "persistently",
}  # fmt: skip


@cache
def listed() -> dict[str, list[str]]:
    """Return the FTLs of each key of [ftl] and [controller]."""
    said = subprocess.run([CORE / "slate-profile", "--keys"], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in said.splitlines():
        name, _, _, owners, *_ = line.split("\t")
        if name.split(".")[0] in ("ftl", "controller"):
            found[name] = owners.split(", ") if owners else [*ENGINES, "dac"]
    return found


@cache
def replay(ftl: str, settings: tuple[str, ...], load: str) -> tuple[str, str]:
    """Return a replay's results, or "" and the refusal."""
    engine = ENGINES[ftl]
    args = [*engine.words(settings), "--json", "-", *engine.load(load)]
    done = subprocess.run([CORE / "slate-replay", *args], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        return "", done.stderr
    found = json.loads(done.stdout)
    return json.dumps({key: part for key, part in found.items() if key not in ("schema", "settings", "inputs")}), ""


class Settings(Case):
    """Sweep all keys over all FTLs but dac, whose keys are the subject of tests/core/test_dac.c."""

    def fault(self, ftl: str, key: str) -> str:
        """Return why a key is neither read nor refused, or ""."""
        how = HOW[key]
        others = [need.split("=")[0] for need in how.needs]
        needs = tuple(need for need, name in zip(how.needs, others) if ftl in listed().get(name, [ftl]))
        base, why = replay(ftl, needs, how.load)
        if not base:  # what the key needs is refused, and thus the key, too
            return "" if any(f"{name} =" in why for name in others) else why
        for value in how.values:
            found, why = replay(ftl, (*needs, f"{key}={value}"), how.load)
            if found and found != base:
                return ""
            if not found and f"{key} = {value}: " in why:
                return ""
        return f"{ftl}: {key} has no effect: {why}"

    def test_each_ftl_reads_the_keys_it_lists(self) -> None:
        faults = []
        for key, owners in listed().items():
            for ftl in owners if key not in ELSEWHERE else ():
                if ftl in ENGINES and (ftl, key) not in WITHOUT:
                    faults.append(self.fault(ftl, key))
        self.assertEqual([fault for fault in faults if fault], [])

    def test_every_key_is_in_one_table(self) -> None:
        self.assertEqual(sorted(listed()), sorted([*HOW, *ELSEWHERE, *DAC]))

    def test_keys_of_others_are_refused(self) -> None:
        for ftl, engine in ENGINES.items():
            for key, owners in listed().items():
                if ftl not in owners:
                    value = HOW[key].values[-1] if key in HOW else OTHER.get(key, "3")
                    done = self.call(*engine.words((f"{key}={value}",)), *engine.load(""), code=2)
                    self.assertIn(f"{key} = {value}: ", done.stderr)


if __name__ == "__main__":
    unittest.main()

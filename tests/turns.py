#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that take their turn: 'make test' of a commit runs a third of them, beside all other tests.

    tests/turns.py    print the commit's number, and what it counts

The number is that of the commits up to HEAD, so a commit always has the same turn, and three commits in a row run
every test. In a shallow clone, where the commits cannot be counted, it is HEAD's hash; without git it is 0.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Of each turn: patterns (fnmatch) of tests of a suite; "*": the suite. They are the long ones of many that look at
# the same: other drives, file systems or FTLs. The three turns take about the same time.
TURNS: tuple[dict[str, tuple[str, ...]], ...] = (
    {
        "core": ("core.direct", "core.odd_san"),
        "fuzz": ("*",),
        "qemu": ("test_rate.Quantum.*",),
        "guest": (
            "test_soak.Guests.*",
            "test_kernels.PackagedKernel.test_suites",
            "test_suites.Suites.test_nftl_xfs",
            "test_placement.*",
            "test_zoned.Zones.test_cut_under_load",
            "test_cutimage.*",
        ),
    },
    {
        "core": ("core.odd", "core.odd_buffered", "core.model_san"),
        "qemu": ("test_rate.Clock.*",),
        "reproduce": ("test_workflow.Quick.test_pen",),
        "guest": (
            "test_own.Debian.test_boot_from_ssd",
            "test_kernels.PackagedKernel.test_an_application",
            "test_programs.ExactLock.*",
            "test_ftls.WordLines.*",
            "test_ftls.BlockMapped.*",
            "test_suites.Suites.test_flex_f2fs",
            "test_suites.Suites.test_superblock_btrfs",
            "test_resets.Resets.test_four_processors",
            "test_cuts.Cuts.test_a_drive_that_is_not_safe_is_found_out",
        ),
    },
    {
        "core": ("core.model", "core.cut", "core.superblock_san"),
        "qemu": ("test_rate.Monitor.*",),
        "reproduce": ("test_workflow.Quick.test_rps", "test_workflow.Quick.test_spread"),
        "guest": (
            "test_suites.Suites.test_dac_ext4",
            "test_suites.Suites.test_page_ext4",
            "test_ftls.PageMapped.*",
            "test_ftls.Superblocks.*",
            "test_jobs.FileSystems.*",
            "test_several.Volumes.*",
            "test_cuts.Cuts.test_other_file_systems",
            "test_content.Workloads.*",
            "test_calibrate.*",
            "test_kernels.PackagedKernel.test_content",
            "test_kernels.PackagedKernel.test_cuts_of_slate_cuts",
        ),
    },
)


def _git(*words: str) -> str:
    """Return what git prints; nothing if it fails or is not there."""
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()


def number() -> tuple[int, str]:
    """Return the commit's number, and what it counts, in words."""
    shallow = _git("rev-parse", "--is-shallow-repository")
    if shallow == "false":
        count = int(_git("rev-list", "--count", "HEAD") or 0)
        return count, f"at {count} commits"
    if shallow == "true":
        return int(_git("rev-parse", "HEAD")[:7], 16), "at a commit of a shallow clone"
    return 0, "without commits"


def left_out(suite: str, turn: int) -> list[str]:
    """Return the patterns of a suite's tests that have another turn."""
    return [pattern for i, turns in enumerate(TURNS) if i != turn for pattern in turns.get(suite, ())]


if __name__ == "__main__":
    print(*number())
    sys.exit(0)

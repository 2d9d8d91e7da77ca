# SPDX-License-Identifier: GPL-2.0-or-later
"""Test what Linux 7 does with the drive: file systems on zones, write streams, atomic writes, large blocks."""

import unittest
from pathlib import Path

from support import HERE, PROFILES, GuestTest, Result

BLOCKS = 4 * 64 * 16384 // 512  # of a reclaim unit of small.ini, in logical blocks
MIB = 2048  # logical blocks
HINTS = ("short", "medium", "long", "extreme")
STEPS = ("mount", "write", "unmount", "check", "mount-again", "compare", "unmount-again")


class Today(GuestTest):
    """The guest is of Debian's next release, with the packaged kernel."""

    kernel = "debian"

    def today(self, work: str, steps: list[str], *args: str | Path) -> tuple[Result, dict[str, str]]:
        """Run today.sh, whose steps are these and must all be 'ok'. Return the run and the values that it reports."""
        files = ("--cmd", HERE / "today.sh", "--cmd-arg", work)
        result = self.slate("--guest", "forky", "--apps", "--fill", "0", *files, *args, seconds=900)
        lines = dict(line.split(": ", 1) for line in result.text("today.txt").splitlines())
        said = {name: word for name, word in lines.items() if word == "ok" or word.startswith("FAIL")}
        self.assertEqual(said, dict.fromkeys(steps, "ok"), result.text("today.log"))
        return result, {name: word for name, word in lines.items() if name not in said}

    def test_zones(self) -> None:
        """XFS finds the zones by itself. zonefs's synchronous direct writes work, unlike those of Linux 6.1."""
        drives = ("small", "zns-small")
        sizes = {"0:geometry.blocks_per_plane": 160, "0:ftl.capacity_mib": 512,
                 "1:geometry.blocks_per_plane": 336, "1:ftl.capacity_mib": 1024, "1:ftl.zone_blocks": 4}  # fmt: skip
        words = [word for name in drives for word in ("--profile", str(PROFILES / f"{name}.ini"))]
        words += [word for key, value in sizes.items() for word in ("--set", f"{key}={value}")]
        steps = [f"{fs}-{step}" for fs in ("xfs", "btrfs", "f2fs") for step in ("make", *STEPS)]
        steps += [f"zonefs-{step}" for step in ("make", "mount", "synchronous", "unmount", "mount-again", "compare",
                                                "unmount-again")]  # fmt: skip
        _, lines = self.today("zones", steps, "--one-controller", *words)
        self.assertEqual(lines, {"xfs-zoned": "zoned=1"})

    def test_streams(self) -> None:
        """Stream N of an io_uring write is placement handle N - 1; hint N of a file, from short = 2 on, is stream N."""
        steps = ["compile", *(f"stream-{n}" for n in range(5)), *(f"hint-{hint}" for hint in HINTS),
                 *(f"f2fs-{step}" for step in ("make", "mount", "medium", "extreme", "unmount"))]  # fmt: skip
        settings = ("--file", HERE / "streams.c", "--set", "ftl.placement_handles=4")
        result, lines = self.today("streams", steps, *settings)
        self.assertEqual((lines["streams"], lines["granularity"]), ("4", str(BLOCKS * 512)))
        left = [BLOCKS] * 4
        self.assertEqual(lines["new"], " ".join(map(str, left)))
        for stream, handle in enumerate((0, 0, 1, 2, 3)):
            left[handle] -= MIB
            self.assertEqual(lines[f"after-{stream}"], " ".join(map(str, left)), stream)
        self.assertEqual(lines["stream-5"], "write: Invalid argument")
        left = [BLOCKS] * 4
        for hint, handle in zip(HINTS, (1, 2, 3, 0)):  # there is no stream 5
            left[handle] -= MIB
            self.assertEqual(lines[f"after-{hint}"], " ".join(map(str, left)), hint)
        # f2fs has its own handles for hot, warm and cold files: warm data in 1, cold in 2.
        f2fs = [int(word) for word in lines["f2fs"].split()]
        self.assertEqual(f2fs[1:], [BLOCKS - MIB, BLOCKS - MIB, BLOCKS])
        self.assert_clean(result.device)

    def test_blocks(self) -> None:
        """A mapping unit is written whole or not at all, and Linux passes that on."""
        steps = [f"{fs}-{step}" for fs in ("ext4-16k", "ext4-64k", "xfs-16k", "xfs-64k")
                 for step in ("make", *STEPS) if step != "check"]  # fmt: skip
        _, lines = self.today(
            "blocks", steps, "--set", "ftl.unit_bytes=16384", "--set", "geometry.blocks_per_plane=160", "--set",
            "ftl.capacity_mib=512",
        )  # fmt: skip
        limits = {"physical_block_size": 16384, "atomic_write_unit_min_bytes": 512,
                  "atomic_write_unit_max_bytes": 16384, "atomic_write_boundary_bytes": 16384}  # fmt: skip
        self.assertEqual({name: lines[name] for name in limits}, {name: str(size) for name, size in limits.items()})
        self.assertEqual(lines["atomic-16k"], "wrote 16384/16384 bytes at offset 32768")
        for name in ("atomic-32k", "atomic-misaligned"):
            self.assertEqual(lines[name], "pwrite: Invalid argument")
        for name in ("ext4-16k", "xfs-16k"):
            self.assertEqual(lines[f"{name}-atomic"], "wrote 16384/16384 bytes at offset 16384")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the cache of products that clones share (host-tools/guest/lib.sh)."""

from __future__ import annotations

import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEAD = """
set -euo pipefail
here={root}/host-tools/guest who=test package_list=$here/../packages.d/guest.txt
. "$here/lib.sh"
cd "$DIR"
"""


class Shared(unittest.TestCase):
    """Each test has a cache of its own."""

    def setUp(self) -> None:
        found = tempfile.TemporaryDirectory(prefix="slate-")
        self.addCleanup(found.cleanup)
        self.folder = Path(found.name)
        self.cache = self.folder / "cache" / "slate"
        for name in ("a", "b"):
            (self.folder / name).write_text(name, encoding="ascii")

    def sh(self, script: str, cache: str = "cache") -> tuple[int, str]:
        """Run the script behind lib.sh; return status and output."""
        done = subprocess.run(
            ["bash", "-c", HEAD.format(root=ROOT) + script],
            env={"PATH": "/usr/bin:/bin", "DIR": str(self.folder), "XDG_CACHE_HOME": str(self.folder / cache)},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout

    def kept(self) -> list[str]:
        return sorted(path.name for path in self.cache.iterdir())

    def test_a_product_comes_back(self) -> None:
        self.assertEqual(self.sh("take_shared x-1 t"), (1, ""))
        self.assertEqual(self.sh("share x-1 a b; share x-1 b"), (0, ""))
        self.assertEqual(self.sh("take_shared x-1 t; cat t/*; ls t"),
                         (0, f"test: taken from {self.cache}: x-1\naba\nb\n"))  # fmt: skip

    def test_two_of_a_kind_stay(self) -> None:
        self.sh("share x-1 a; share y-1 a; sleep 0.02; share x-2 a; sleep 0.02; take_shared x-1 t; share x-3 a")
        self.assertEqual(self.kept(), ["x-1", "x-3", "y-1"])

    def test_versions_are_of_one_kind(self) -> None:
        names = [f"{kind}-6.1.{at}-2-{at:012x}" for at in (1, 2, 3) for kind in ("x", "x-smp")]
        self.sh("".join(f"share {name} a; sleep 0.02; " for name in [*names, "x-aaaaaaaaaaaa"]))
        self.assertEqual(self.kept(), [names[4], "x-aaaaaaaaaaaa", names[3], names[5]])

    def test_a_damaged_one_is_removed(self) -> None:
        self.sh("share x-1 a b")
        (self.cache / "x-1" / "b").write_text("c", encoding="ascii")
        status, said = self.sh("take_shared x-1 t")
        self.assertEqual((status, said), (1, f"test: {self.cache}/x-1 is damaged: making it anew\n"))
        self.assertFalse((self.folder / "t").exists())
        self.assertEqual(self.kept(), [])

    def test_a_full_disk_is_no_damage(self) -> None:
        (self.folder / "b").write_bytes(bytes(200000))
        self.sh("share x-1 a b")
        status, said = self.sh("ulimit -f 100; trap '' XFSZ; take_shared x-1 t 2>/dev/null")
        self.assertEqual((status, said), (1, f"test: cannot copy {self.cache}/x-1: making it anew\n"))
        self.assertFalse((self.folder / "t").exists())
        self.assertEqual(self.sh("take_shared x-1 t; ls t"), (0, f"test: taken from {self.cache}: x-1\na\nb\n"))

    def test_a_removal_that_is_interrupted_leaves_no_part(self) -> None:
        self.sh("share x-1 a b")
        (self.cache / "x-1" / "b").write_text("c", encoding="ascii")
        self.assertEqual(self.sh("rm() { exit 9; }; take_shared x-1 t")[0], 9)
        self.assertFalse((self.cache / "x-1").exists())

    def test_old_ones_that_can_not_be_removed(self) -> None:
        """Another clone may remove a folder at the same time, or another user may own it."""
        self.assertEqual(self.sh("find() { return 1; }; share x-1 a; echo goes on"), (0, "goes on\n"))

    def test_an_older_one_has_no_checksums(self) -> None:
        self.sh("share x-1 a")
        (self.cache / "x-1" / "SHA256SUMS").unlink()
        self.assertEqual(self.sh("take_shared x-1 t; ls t"), (0, f"test: taken from {self.cache}: x-1\na\n"))

    def test_a_cache_that_can_not_be_written(self) -> None:
        said = f"test: not shared with other clones: cannot write to {self.folder}/a/slate\n"
        self.assertEqual(self.sh("share x-1 a", cache="a"), (0, said))


if __name__ == "__main__":
    unittest.main()

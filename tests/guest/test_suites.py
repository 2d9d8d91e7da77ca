# SPDX-License-Identifier: GPL-2.0-or-later
"""Run suites by other authors, on file systems on the drive."""

from typing import Any

from support import PROFILES, SMALL_SMP, GuestTest

SUITES = (
    *(f"stress-ng-{name}" for name in ("aio", "dentry", "dir", "fallocate", "fpunch", "hdd", "iomix", "link", "rename",
                                       "seek", "symlink", "sync-file", "xattr")),
    "dbench", "bonnie", "fs_mark", "fsstress", "files", "fsck",
)  # fmt: skip


class Suites(GuestTest):
    """At one instruction a ns, or half of one: the suites end by the guest's clock, so this takes less host time.

    ext4 on the page FTL has two processors. The other suites have two only if the small kernel for several
    has been built (tests/guest/small_smp.sh), because Debian's takes twice as much of the host's time.
    """

    maxDiff = None

    def suites(self, profile: Any, fs: str, *words: Any, ops: int = 20, smp: str = "") -> None:
        smp = smp or ("2" if SMALL_SMP.exists() else "1")
        result = self.slate(
            "--apps", "--smp", smp, "--cpu-rate", "1", "--fill", "0", "--cmd", "suites.sh", "--env", f"FS={fs}",
            "--env", f"OPS={ops}", *words, profile=PROFILES / f"{profile}.ini", seconds=900,
        )  # fmt: skip
        found = dict(line.split() for line in result.text("suites.txt").splitlines())
        # The small kernel's F2FS is built without extended attributes: 3 is stress-ng's "not implemented".
        absent = {"stress-ng-xattr": "3"} if fs == "f2fs" else {}
        self.assertEqual(found, dict.fromkeys(SUITES, "0") | absent)
        self.assert_clean(result.device)
        self.assertGreater(result.device.total.op["write"].bytes, 20 << 20)

    def setUp(self) -> None:
        super().setUp()
        script = self.folder / "suites.sh"
        script.symlink_to(PROFILES.parents[1] / "tests" / "guest" / "suites.sh")

    def test_page_ext4(self) -> None:
        self.suites("small", "ext4", smp="2")

    def test_flex_f2fs(self) -> None:
        self.suites("rps-small", "f2fs")

    def test_dac_ext4(self) -> None:
        self.suites("dac-small", "ext4")

    def test_nftl_xfs(self) -> None:
        self.suites("pen-small", "xfs", "--cpu-rate", "0.5", ops=4)

    def test_superblock_btrfs(self) -> None:
        """Btrfs is a module of the packaged kernel."""
        self.suites("superblock-small", "btrfs", "--kernel", "debian", "--cpu-rate", "0.5", ops=4)

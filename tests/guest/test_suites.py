# SPDX-License-Identifier: GPL-2.0-or-later
"""Suites that others wrote, on file systems on the drive (docs/limits.md has a table)."""

from support import PROFILES, GuestTest

SUITES = (
    *(f"stress-ng-{name}" for name in ("aio", "dentry", "dir", "fallocate", "fpunch", "hdd", "iomix", "link", "rename",
                                       "seek", "symlink", "sync-file", "xattr")),
    "dbench", "bonnie", "fs_mark", "fsck",
)  # fmt: skip


class Suites(GuestTest):
    """At one instruction a ns: the suites end by the guest's clock, and take less of the host's time."""

    def suites(self, profile, fs):
        result = self.slate(
            "--apps", "--smp", "2", "--cpu-rate", "1", "--fill", "0", "--cmd", "suites.sh", "--env", f"FS={fs}",
            "--env", "OPS=20", profile=PROFILES / f"{profile}.ini", seconds=900,
        )  # fmt: skip
        self.assertEqual(result.text("suites.txt").split(), [word for name in SUITES for word in (name, "0")])
        self.assert_clean(result.device)
        self.assertGreater(result.device.total.op["write"].bytes, 20 << 20)

    def setUp(self):
        super().setUp()
        script = self.folder / "suites.sh"
        script.symlink_to(PROFILES.parents[1] / "tests" / "guest" / "suites.sh")

    def test_page_ext4(self):
        self.suites("small", "ext4")

    def test_flex_f2fs(self):
        self.suites("rps-small", "f2fs")

    def test_dac_ext4(self):
        self.suites("dac-small", "ext4")

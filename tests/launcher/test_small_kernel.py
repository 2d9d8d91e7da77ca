# SPDX-License-Identifier: GPL-2.0-or-later
"""Test how the small guest kernel's source is chosen, and what Kconfig made of its config (host-tools/guest/lib.sh)."""

from __future__ import annotations

import subprocess
import tempfile
import unittest
from pathlib import Path

from archive import Archive

ROOT = Path(__file__).resolve().parents[2]
HEAD = """
set -euo pipefail
here={root}/host-tools/guest who=test package_list=$here/../packages.d/kernel.txt
. "$here/lib.sh"
. "$repo/host-tools/debian.sh"
work=$DIR/work lock=$DIR/lock notes=$DIR/notes
mkdir -p "$work"
"""
CONFIG = """# a comment
CONFIG_A=y
CONFIG_B=n
CONFIG_WORDS="a b"
CONFIG_GONE=y # if known
CONFIG_MENU=y # if known
CONFIG_M=m
"""


class Case(unittest.TestCase):
    def setUp(self) -> None:
        found = tempfile.TemporaryDirectory(prefix="slate-")
        self.addCleanup(found.cleanup)
        self.folder = Path(found.name)

    def sh(self, script: str, **env: str) -> tuple[int, str]:
        """Run the script behind lib.sh; return status and output."""
        done = subprocess.run(
            ["bash", "-c", HEAD.format(root=ROOT) + script],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DIR": str(self.folder),
                 "XDG_CACHE_HOME": str(self.folder / "cache"), **env},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout


class Config(Case):
    """A line that Kconfig drops is an error, whatever the source's series."""

    def dropped(self, made: str, kconfig: str = "") -> str:
        source = self.folder / "source"
        (source / "lib").mkdir(parents=True)
        (source / ".config").write_text(made, encoding="ascii")
        (source / "lib" / "Kconfig.debug").write_text(kconfig, encoding="ascii")
        (self.folder / "config").write_text(CONFIG, encoding="ascii")
        status, said = self.sh('dropped "$DIR/config" "$DIR/source"')
        self.assertEqual(status, 0, said)
        return said

    def test_all_is_there(self) -> None:
        made = 'CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_WORDS="a b"\nCONFIG_MENU=y\nCONFIG_M=m\n'
        self.assertEqual(self.dropped(made, "menuconfig MENU\n"), "")

    def test_what_was_dropped(self) -> None:
        made = "CONFIG_A=m\nCONFIG_B=y\nCONFIG_M=m\nCONFIG_AB=y\n"
        self.assertEqual(
            self.dropped(made, "\tmenuconfig MENU\nconfig GONE_TOO\n"),
            '  CONFIG_A=y was dropped\n  CONFIG_B is on\n  CONFIG_WORDS="a b" was dropped\n'
            "  CONFIG_MENU=y was dropped\n",
        )

    def test_the_word_is_no_excuse_where_the_option_is_known(self) -> None:
        made = 'CONFIG_A=y\nCONFIG_WORDS="a b"\nCONFIG_MENU=y\nCONFIG_M=m\n'
        self.assertEqual(self.dropped(made, "config MENU\n\tbool\nconfig GONE\n"), "  CONFIG_GONE=y was dropped\n")


class Source(Case):
    """The source has the packaged kernel's version, if the archive still has it."""

    def version(self, *offered: str, lock: str = "", missing: str = "") -> tuple[int, str, str]:
        """Ask for 6.12.2-1. Return the status, the version that was planned, and the notes. Missing: listed only."""
        archive = Archive(self.folder / "archive")
        archive.suite("trixie")
        for version in offered:
            file = archive.add("trixie", "linux-source-6.12", version, Depends="xz")
            if version == missing:
                file.unlink()
        archive.add("trixie", "xz", "1")
        archive.write()
        (self.folder / "lock").write_text(lock, encoding="ascii")
        (self.folder / "apt.conf").write_text('Acquire::Retries::Delay "false";', encoding="ascii")
        script = 'release_init trixie; plan_version kernel-source linux-source-6.12 6.12.2-1 &>"$DIR/said" || exit 9'
        script += "; awk '{ print $1, $2 }' \"$work/kernel-source.plan\""
        env = {"SLATE_ETC_APT": str(archive.etc()), "APT_CONFIG": str(self.folder / "apt.conf")}
        status, said = self.sh(script, **env)
        notes = self.folder / "notes"
        return status, said, notes.read_text(encoding="utf-8") if notes.exists() else ""

    def test_the_same_version(self) -> None:
        found = self.version("6.12.1-1", "6.12.2-1", "6.12.3-1")
        self.assertEqual(found, (0, "linux-source-6.12 6.12.2-1\n", ""))

    def test_the_archive_has_moved_on(self) -> None:
        note = "the archive has no linux-source-6.12 6.12.2-1 any more: taking the newest\n"
        found = self.version("6.12.3-1", "6.12.4-1")
        self.assertEqual(found, (0, "linux-source-6.12 6.12.4-1\n", note))

    def test_a_list_that_is_newer_than_the_archive(self) -> None:
        status, said, notes = self.version("6.12.2-1", "6.12.3-1", missing="6.12.2-1")
        self.assertEqual((status, said), (0, "linux-source-6.12 6.12.3-1\n"))
        note = "the archive has no linux-source-6.12 6.12.2-1 any more: taking the newest"
        self.assertEqual(notes.splitlines()[-1], note)

    def test_an_index_without_files(self) -> None:
        self.assertEqual(self.version("6.12.2-1", missing="6.12.2-1")[:2], (9, ""))

    def test_an_exact_lock_takes_no_other(self) -> None:
        self.assertEqual(self.version("6.12.3-1", lock="# exact\n"), (9, "", ""))


if __name__ == "__main__":
    unittest.main()

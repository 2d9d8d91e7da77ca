# SPDX-License-Identifier: GPL-2.0-or-later
"""Test which source of QEMU qemu-patches/build.sh takes and unpacks, and what it says where there is none."""

from __future__ import annotations

import re
import shutil
import unittest
from pathlib import Path

from archive import ArchiveCase

ROOT = Path(__file__).resolve().parents[2]
SERIES = "# tried with\n#   10.0.13 (Debian 1:10.0.13+ds-1)\none.patch\n"
PATCH = "--- a/hw/nvme/ctrl.c\n+++ b/hw/nvme/ctrl.c\n@@ -1 +1 @@\n-upstream\n+slate\n"
REACHED = 7  # the exit status of a stand-in for schema.sh, the step behind the unpacked tree


class Case(ArchiveCase):
    """Each test has a tree with build.sh and a series of one patch."""

    suites = ("trixie", "forky", "sid")

    def setUp(self) -> None:
        super().setUp()
        self.tree = self.folder / "tree"
        for path in ("qemu-patches/build.sh", "qemu-patches/bases.sh", "host-tools/debian.sh"):
            (self.tree / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, self.tree / path)
        for path, text in {
            "qemu-patches/series": SERIES, "qemu-patches/one.patch": PATCH, "qemu-patches/slate.mak": "",
            "qemu-patches/schema.c": "", "qemu-patches/schema.sh": f"#!/bin/sh\nexit {REACHED}\n",
            "qemu-patches/src/new.c": "", "ftl/common/ftl_counters.h": "", "nand-emu/nand_counters.h": "",
            "host-tools/packages.d/qemu.txt": "", "host-tools/python/qemu.txt": "", "core/lib/pkgconfig/slate.pc": "",
        }.items():  # fmt: skip
            (self.tree / path).parent.mkdir(parents=True, exist_ok=True)
            (self.tree / path).write_text(text, encoding="ascii")
        (self.tree / "qemu-patches/schema.sh").chmod(0o755)
        self.build = self.tree / "build"

    def add(self, suite: str, version: str, ctrl: str = "upstream\n") -> list[Path]:
        upstream = version.rpartition(":")[2].partition("+")[0]
        files = {"VERSION": f"{upstream}\n", "hw/nvme/ctrl.c": ctrl, "configs/devices/x86_64-softmmu/x": ""}
        return self.archive.add_source(suite, "qemu", version, files=files)

    def make(self, *words: str, stubs: str = "") -> tuple[int, str]:
        """Run build.sh with the archive; return its status and what it says, without times."""
        env = f"export SLATE_BUILD={self.build} SLATE_CORE={self.tree}/core; {stubs}\n"
        status, _, said = self.bash(f"{env}{self.tree}/qemu-patches/build.sh {' '.join(words)} 2>&1")
        return status, re.sub(r" +\d+\.\d s\b", " T", said)

    def plan(self) -> list[str]:
        """Return NAME VERSION of each file of the source that was taken."""
        plan = self.build / "apt/qemu.plan"
        return [" ".join(line.split()[:2]) for line in plan.read_text().splitlines()] if plan.exists() else []

    def gone(self) -> None:
        """Let the cache and the archive lose all files."""
        shutil.rmtree(self.folder / "cache" / "slate" / "files", ignore_errors=True)
        for path in (self.folder / "archive" / "pool").rglob("*.tar.*"):
            path.unlink()

    def nothing_is_left(self) -> None:
        self.assertFalse((self.build / "qemu-stamps/fetch").exists())
        self.assertFalse((self.build / "apt/lock").exists())
        self.assertEqual(self.plan(), [])


class Versions(Case):
    """The series is for 10.0.x: no other version is taken, of whatever release."""

    def test_the_next_version_that_the_series_is_for(self) -> None:
        """A source whose tarball is missing is followed by an older 10.0.x, not by a later release's 11.1."""
        self.add("trixie", "1:10.0.13+ds-1")[1].unlink()
        self.add("trixie", "1:10.0.2+ds-1")
        self.add("forky", "1:11.1.2+ds-3")
        status, said = self.make()
        self.assertEqual((status, self.plan()), (REACHED, ["qemu 1:10.0.2+ds-1"] * 2), said)
        self.assertIn(
            "  the archive of trixie lists the source of qemu 1:10.0.13+ds-1 and has it not: taking 1:10.0.2+ds-1\n",
            said,
        )
        self.assertEqual((self.build / "qemu-src/hw/nvme/ctrl.c").read_text(), "slate\n")

    def test_a_later_release_has_one(self) -> None:
        self.add("forky", "1:11.1.2+ds-3")
        self.add("sid", "1:10.2.2+ds-1")
        self.add("sid", "1:10.0.13+ds-1")
        status, said = self.make()
        self.assertEqual((status, self.plan()), (REACHED, ["qemu 1:10.0.13+ds-1"] * 2), said)
        self.assertIn("  the archive of trixie has it not: taking that of sid\n", said)
        self.assertNotIn("forky:", said)

    def test_no_release_has_one(self) -> None:
        self.add("trixie", "1:10.0.13+ds-1")[1].unlink()
        self.add("forky", "1:11.1.2+ds-3")
        self.add("sid", "1:10.2.2+ds-1")
        for _ in range(2):
            status, said = self.make()
            self.assertEqual(status, 1)
            self.assertEqual(
                said.splitlines()[:2],
                ["build.sh: fetch: Debian's source package of QEMU (trixie): failed after T (exit status 4)",
                 "          no QEMU 10.0.x in the archive: QEMU_TARBALL=FILE"],
            )  # fmt: skip
            self.assertEqual(len(said.splitlines()), 3, said)
            self.nothing_is_left()

    def test_patches_that_do_not_apply(self) -> None:
        """A 10.0.x that the file series does not name is tried before it is taken; --fetch asks for it."""
        self.add("trixie", "1:10.0.13+ds-1")
        self.assertEqual(self.make()[0], REACHED)
        self.add("trixie", "1:10.0.14+ds-1", "changed\n")
        status, said = self.make("--fetch")
        self.assertEqual((status, self.plan()), (REACHED, ["qemu 1:10.0.13+ds-1"] * 2), said)
        self.assertIn("  the series does not apply to QEMU 1:10.0.14+ds-1\n", said)
        self.add("trixie", "1:10.0.15+ds-1")
        status, said = self.make("--fetch")
        self.assertEqual((status, self.plan()), (REACHED, ["qemu 1:10.0.15+ds-1"] * 2), said)

    def test_the_plan_of_another_version(self) -> None:
        """A plan of QEMU 11, which build.sh has taken before, does not stay."""
        self.add("trixie", "1:10.0.13+ds-1")
        self.add("forky", "1:11.1.2+ds-3")
        line = f"qemu 1:11.1.2+ds-3 source {'0' * 64} 1 debian/pool/qemu.tar.xz\n"
        (self.build / "apt").mkdir(parents=True)
        (self.build / "qemu-stamps").mkdir()
        (self.build / "apt/qemu.plan").write_text(line, encoding="ascii")
        (self.build / "apt/lock").write_text(f"# qemu: source qemu (trixie)\nqemu {line}", encoding="ascii")
        (self.build / "qemu-stamps/fetch").write_text("1:11.1.2+ds-3\n", encoding="ascii")
        status, said = self.make()
        self.assertEqual((status, self.plan()), (REACHED, ["qemu 1:10.0.13+ds-1"] * 2), said)

    def test_another_base_beside_a_finished_build(self) -> None:
        """QEMU_VERSION asks for another base: what was built of the first one is not taken for it."""
        self.add("trixie", "1:10.0.13+ds-1")
        self.add("forky", "1:10.2.2+ds-1")
        (self.tree / "qemu-patches/10.2").mkdir()
        (self.tree / "qemu-patches/10.2/series").write_text("#   10.2.2 (Debian 1:10.2.2+ds-1)\none.patch\n")
        self.assertEqual(self.make()[0], REACHED)
        script = self.tree / "qemu-patches/build.sh"
        whole = script.read_text(encoding="utf-8")
        finished = 'if all_there && is_done compile "$id_compile"; then\n'
        self.assertIn(finished, whole)
        ended = 'set_done compile "$id_compile"\nexit 0\n'
        script.write_text(whole.replace(finished, ended + finished, 1), encoding="utf-8")
        self.assertEqual(self.make()[0], 0)
        script.write_text(whole.replace(finished, f"all_there() {{ true; }}\n{finished}", 1), encoding="utf-8")
        self.assertEqual(self.make(stubs="export QEMU_VERSION=10.0")[0], 0)
        status, said = self.make(stubs="export QEMU_VERSION=10.2")
        self.assertEqual((status, self.plan()), (REACHED, ["qemu 1:10.2.2+ds-1"] * 2), said)

    def test_a_changed_series(self) -> None:
        """A source that was tried once is dropped with the series that does not apply to it any more."""
        self.add("trixie", "1:10.0.14+ds-1")
        self.assertEqual(self.make()[0], REACHED)
        (self.tree / "qemu-patches/one.patch").write_text(PATCH.replace("upstream", "other"), encoding="ascii")
        status, said = self.make()
        self.assertEqual(status, 1)
        self.assertIn("one.patch does not apply to QEMU 10.0.14.", said)
        self.nothing_is_left()

    def test_the_files_are_gone(self) -> None:
        """What was planned is neither in the cache nor in the archive when it is unpacked: what there is, is taken."""
        self.add("trixie", "1:10.0.13+ds-1")
        self.assertEqual(self.make()[0], REACHED)
        (self.build / "qemu-stamps/unpack").unlink()
        self.gone()
        status, said = self.make()
        self.assertEqual(status, 1)
        self.assertIn("no QEMU 10.0.x in the archive: QEMU_TARBALL=FILE\n", said)
        self.assertEqual(self.plan(), ["qemu 1:10.0.13+ds-1"] * 2)
        self.add("trixie", "1:10.0.12+ds-1")
        status, said = self.make()
        self.assertEqual((status, self.plan()), (REACHED, ["qemu 1:10.0.12+ds-1"] * 2), said)
        self.assertIn("  the archive no longer has qemu 1:10.0.13+ds-1: taking what it has now\n", said)
        self.assertEqual((self.build / "qemu-stamps/fetch").read_text(), "1:10.0.12+ds-1\n")
        self.assertEqual((self.build / "qemu-src/VERSION").read_text(), "10.0.12\n")


class Bases(Case):
    """A folder 10.2 has the series for QEMU 10.2.x, and those of its patches that differ."""

    def setUp(self) -> None:
        super().setUp()
        folder = self.tree / "qemu-patches/10.2"
        folder.mkdir()
        (folder / "series").write_text("#   10.2.2 (Debian 1:10.2.2+ds-1)\none.patch\ntwo.patch\n", encoding="ascii")
        (folder / "one.patch").write_text(PATCH.replace("upstream", "newer").replace("slate", "both"), encoding="ascii")
        (folder / "slate.mak").write_text("CONFIG_NEW=y\n", encoding="ascii")
        (self.tree / "qemu-patches/two.patch").write_text(PATCH.replace("upstream", "both"), encoding="ascii")

    def ctrl(self) -> str:
        return (self.build / "qemu-src/hw/nvme/ctrl.c").read_text()

    def test_the_version_that_was_asked_for(self) -> None:
        """Each base gets its own patch of a name, or the first base's; the plan changes with the version."""
        self.add("trixie", "1:10.0.13+ds-1")
        self.add("sid", "1:10.2.2+ds-1", "newer\n")
        for stubs, version in (("", "1:10.0.13+ds-1"), ("export QEMU_VERSION=10.2", "1:10.2.2+ds-1")) * 2:
            status, said = self.make(stubs=stubs)
            self.assertEqual((status, self.plan()), (REACHED, [f"qemu {version}"] * 2), said)
            self.assertEqual(self.ctrl(), "slate\n")
            self.assertNotIn("does not apply", said)
            devices = self.build / "qemu-src/configs/devices/x86_64-softmmu/slate.mak"
            self.assertEqual(devices.read_text(), "CONFIG_NEW=y\n" if stubs else "")

    def test_a_tarball_of_that_version(self) -> None:
        """The tarball's own version chooses the series: the first base's patch would not apply."""
        source = self.folder / "qemu-10.2.5"
        for path, text in {"VERSION": "10.2.5\n", "hw/nvme/ctrl.c": "newer\n",
                           "configs/devices/x86_64-softmmu/x": ""}.items():  # fmt: skip
            (source / path).parent.mkdir(parents=True, exist_ok=True)
            (source / path).write_text(text, encoding="ascii")
        tarball = self.folder / "qemu.tar"
        self.bash(f"tar -C {self.folder} -cf {tarball} {source.name}")
        status, said = self.make(stubs=f"export QEMU_TARBALL={tarball}")
        self.assertEqual((status, self.ctrl()), (REACHED, "slate\n"), said)

    def test_a_version_without_patches(self) -> None:
        said = "build.sh: QEMU_VERSION: there are no patches for QEMU '11.1'\n          Known: 10.0 10.2\n"
        self.assertEqual(self.make(stubs="export QEMU_VERSION=11.1"), (1, said))
        self.nothing_is_left()


class Steps(Case):
    """What build.sh says of a full disk, and of meson."""

    def setUp(self) -> None:
        super().setUp()
        self.add("trixie", "1:10.0.13+ds-1")

    def free(self, mib: int) -> str:
        return f"df() {{ printf 'head\\nx 1 1 {mib} x x\\n'; }}; export -f df"

    def test_too_little_room(self) -> None:
        said = f"the disk is full: QEMU's build takes about 3000 MiB under {self.build}, 2999 MiB are free\n"
        self.assertEqual(self.make(stubs=self.free(2999)), (1, f"build.sh: {said}"))
        self.nothing_is_left()
        self.assertEqual(self.make(stubs=self.free(3000))[0], REACHED)

    def test_a_disk_that_fills(self) -> None:
        self.assertEqual(self.make()[0], REACHED)
        (self.build / "qemu-stamps/unpack").unlink()
        tar = "tar() { echo 'tar: x: Cannot write: No space left on device' >&2; return 2; }; export -f tar"
        status, said = self.make(stubs=tar)
        self.assertEqual(status, 1)
        self.assertIn(f"          The disk is full: QEMU's build takes about 3000 MiB under {self.build}.\n", said)
        self.assertEqual(len(self.plan()), 2)
        self.assertFalse((self.build / "qemu-stamps/unpack").exists())

    def test_meson(self) -> None:
        """It comes by venv.sh, which says what it took in place of the list's."""
        made = "mkdir -p $1/qapi; touch $1/qapi/nand-ssd-counters.json"
        (self.tree / "qemu-patches/schema.sh").write_text(f"#!/bin/sh\n{made}\n", encoding="ascii")
        venv = self.tree / "host-tools/venv.sh"
        venv.write_text("#!/bin/sh\necho slate: $1 $STATE; exit $STATE\n", encoding="ascii")
        venv.chmod(0o755)
        (self.build / "qemu-src/qapi").mkdir(parents=True)
        status, said = self.make(stubs="export STATE=3")
        self.assertEqual(status, 1)
        self.assertIn("slate: qemu 3\nbuild.sh: python: meson for QEMU's build: failed", said)
        self.assertFalse((self.build / "qemu-stamps/python").exists())
        status, said = self.make(stubs="export STATE=0")
        self.assertIn("  slate: qemu 0\n  python     meson for QEMU's build T\n", said)
        self.assertIn("build.sh: configure: configure QEMU 10.0.13: failed", said)
        self.assertTrue((self.build / "qemu-stamps/python").exists())


if __name__ == "__main__":
    unittest.main()

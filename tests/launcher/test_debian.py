# SPDX-License-Identifier: GPL-2.0-or-later
"""Test packages of a named Debian release (host-tools/debian.sh) with a small archive of our own that moves on."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from archive import ArchiveCase, _sha256, codename, small_disk

ROOT = Path(__file__).resolve().parents[2]
HEAD = """
set -euo pipefail
export LC_ALL=C
say() {{ echo "test: $*"; }}
die() {{ echo "test: error: $*" >&2; exit 1; }}
build=$DIR/build work=$DIR/work lock=$DIR/lock notes=$DIR/notes
mkdir -p "$work"
: >"$notes"
. {root}/host-tools/debian.sh
release_init trixie >&2
"""


class Case(ArchiveCase):
    """Its scripts have debian.sh."""

    def sh(self, script: str, fresh: bool = True) -> tuple[int, str, str]:
        """Run the script behind debian.sh; return status, notes, and all output. fresh: lists may be renewed."""
        return self.bash(HEAD.format(root=ROOT) + script, fresh)

    def plan(self, part: str = "p") -> list[str]:
        """Return NAME VERSION of each line of a part's plan in the lock."""
        lines = (self.folder / "lock").read_text(encoding="utf-8").splitlines()
        return [" ".join(line.split()[1:3]) for line in lines if line.split()[0] == part]

    def cached(self, file: Path) -> Path:
        return self.folder / "cache" / "slate" / "files" / _sha256(file)


class Packages(Case):
    def test_a_plan_has_what_apt_chooses_and_its_files(self) -> None:
        deb = self.archive.add("trixie", "a", "1:2+b-1~x", Depends="b (>= 1)", files={"usr/bin/a": "#!/bin/sh\n"})
        lib = self.archive.add("trixie", "b", "1.0", Section="libs")
        self.archive.add("trixie", "c", "1.0")
        status, notes, said = self.sh('part_plan p a; unpack_plan "$work/p.plan" "$DIR/root"')
        self.assertEqual((status, notes), (0, ""), said)
        lines = (self.folder / "lock").read_text(encoding="utf-8")
        self.assertEqual(
            lines,
            f"# p: a (all, trixie)\n"
            f"p a 1:2+b-1~x amd64 {_sha256(deb)} {deb.stat().st_size} debian/pool/main/a/a/a_2+b-1~x_amd64.deb\n"
            f"p b 1.0 amd64 {_sha256(lib)} {lib.stat().st_size} debian/pool/main/b/b/b_1.0_amd64.deb\n",
        )
        self.assertEqual(self.cached(deb).read_bytes(), deb.read_bytes())
        self.assertTrue((self.folder / "root" / "bin" / "a").exists())

    def test_a_file_that_is_gone(self) -> None:
        """The list still names 1-1; the archive has 1-2 since, or another version that the same list offers."""
        old = self.archive.add("trixie", "a", "1-1")
        self.assertEqual(self.sh("need_lists")[0], 0)
        old.unlink()
        self.archive.packages["trixie"].clear()
        self.archive.add("trixie", "a", "1-2")
        status, notes, said = self.sh("part_plan p a")
        self.assertEqual((status, notes, self.plan()), (0, "", ["a 1-2"]), said)

    def test_a_list_that_is_newer_than_the_archive(self) -> None:
        self.archive.add("trixie", "a", "1-1")
        self.archive.add("trixie", "a", "1-2").unlink()
        status, notes, said = self.sh("part_plan p a")
        self.assertEqual(
            (status, notes, self.plan()),
            (0, "the archive of trixie lists a 1-2 and has it not: taking another version\n", ["a 1-1"]), said,
        )  # fmt: skip

    def test_an_index_without_files(self) -> None:
        self.archive.add("trixie", "a", "1-1").unlink()
        status, notes, said = self.sh("part_plan p a")
        self.assertNotEqual(status, 0)
        self.assertEqual(notes, "the archive of trixie lists a 1-1 and has it not: taking another version\n")
        self.assertIn("Package 'a' has no installation candidate", said)
        self.assertFalse((self.folder / "lock").exists())

    def test_the_lock_decides(self) -> None:
        old = self.archive.add("trixie", "a", "1-1")
        self.assertEqual(self.sh("part_plan p a")[0], 0)
        self.archive.add("trixie", "a", "1-2")
        self.assertEqual(self.sh("update_lists; part_plan p a")[0], 0)
        self.assertEqual(self.plan(), ["a 1-1"])
        self.assertEqual(self.sh("part_plan --update p a")[0], 0)
        self.assertEqual(self.plan(), ["a 1-2"])
        # what was asked has changed
        self.archive.add("trixie", "b", "1-1")
        self.assertEqual(self.sh("part_plan p a b; part_plan q a")[0], 0)
        self.assertEqual((self.plan(), self.plan("q")), (["a 1-2", "b 1-1"], ["a 1-2"]))
        self.assertTrue(old.exists())

    def test_what_a_lock_names_and_is_gone(self) -> None:
        for name in ("a", "b", "c"):
            self.archive.add("trixie", name, "1-1")
        self.assertEqual(self.sh("part_plan p a b c")[0], 0)
        for name in ("a", "b"):
            file = next((self.folder / "archive" / "pool" / "main" / name / name).iterdir())
            self.cached(file).unlink()
            file.unlink()
            self.archive.add("trixie", name, "1-2")
        status, notes, said = self.sh("echo '# exact' >>$lock; part_plan p a b c")
        self.assertEqual((status, notes), (1, ""))
        self.assertIn("the lock names what neither the cache nor the archive has: a 1-1, b 1-1\n", said)
        self.assertEqual(self.plan(), ["a 1-1", "b 1-1", "c 1-1"])
        status, notes, said = self.sh("sed -i '/exact/d' $lock; part_plan p a b c")
        self.assertEqual(
            (status, notes, self.plan()),
            (0, "the archive no longer has a 1-1, b 1-1: taking what it has now\n", ["a 1-2", "b 1-2", "c 1-1"]), said,
        )  # fmt: skip

    def test_a_damaged_file(self) -> None:
        deb = self.archive.add("trixie", "a", "1-1")
        self.assertEqual(self.sh("part_plan p a")[0], 0)
        self.cached(deb).write_bytes(b"x")
        status, notes, said = self.sh("part_plan p a")
        self.assertEqual((status, notes), (0, f"{self.cached(deb)} is damaged: fetching it anew\n"), said)
        self.assertEqual(self.cached(deb).read_bytes(), deb.read_bytes())
        self.cached(deb).unlink()
        deb.write_bytes(deb.read_bytes()[:-1] + b"x")  # in the archive, too
        status, notes, _ = self.sh("part_plan p a")
        self.assertNotEqual(status, 0)
        self.assertIn("the archive no longer has a 1-1: taking what it has now\n", notes)
        self.assertEqual(self.plan(), ["a 1-1"])

    def test_no_archive(self) -> None:
        """With all files in the cache nothing else is needed."""
        deb = self.archive.add("trixie", "a", "1-1")
        self.assertEqual(self.sh("part_plan p a")[0], 0)
        gone = """
            debian_uri=http://127.0.0.1:1/debian
            sed -i "s,^URIs:.*,URIs: $debian_uri," $apt_state/sources.d/debian.sources
        """
        self.assertEqual(self.sh(gone + "part_plan p a")[0], 0)
        self.cached(next((self.folder / "archive" / "pool").rglob("a_*.deb"))).unlink()
        status, _, said = self.sh(gone + "part_plan p a")
        self.assertNotEqual(status, 0)
        self.assertIn("the archive http://127.0.0.1:1/debian cannot be reached, and the cache has not: a 1-1\n", said)
        self.assertTrue(deb.exists())

    def test_what_a_plan_keeps(self) -> None:
        self.archive.add(
            "trixie", "linux-image-amd64", "6.2-1", Depends="linux-image-6.2", Source="linux-signed-amd64 (6.2+1)"
        )
        self.archive.add(
            "trixie", "linux-image-6.2", "6.2-1", Depends="kmod, x-lib, linux-base", Source="linux-signed-amd64"
        )
        self.archive.add("trixie", "kmod", "1", Section="admin")
        self.archive.add("trixie", "linux-base", "1", Section="kernel")
        self.archive.add("trixie", "x-lib", "1", Section="libs")
        for keep, want in (
            ("all", ["kmod", "linux-base", "linux-image-6.2", "linux-image-amd64", "x-lib"]),
            ("named", ["linux-image-amd64"]),
            ("libs", ["linux-image-amd64", "x-lib"]),
            ("kernel", ["linux-image-6.2", "linux-image-amd64"]),
            ("all --without k*\\ linux-base", ["linux-image-6.2", "linux-image-amd64", "x-lib"]),
        ):
            with self.subTest(keep):
                status, _, said = self.sh(f"part_plan --keep {keep} p linux-image-amd64")
                self.assertEqual((status, [line.split()[0] for line in self.plan()]), (0, want), said)


class BadInput(Case):
    """Name the thing, and leave nothing half made."""

    def test_releases(self) -> None:
        status, _, said = self.sh("release_init 7")
        self.assertEqual(status, 1)
        self.assertIn("error: no Debian release is called '7': name it by number (12, 13) or in words", said)
        why = f"the archive file:{self.folder}/archive has no release 'frky'; known releases: 12, 13, forky, sid\n"
        for plan in ("part_plan p a b", "part_plan --update p a", "source_plan p a", "source_plan --update p a"):
            with self.subTest(plan):
                status, _, said = self.sh(f"release_init frky; {plan}")
                self.assertNotEqual(status, 0)
                self.assertEqual((said.count(why), said[-len(why) :]), (1, why))
                self.assertNotIn("Unable to locate", said)
                self.assertFalse((self.folder / "lock").exists())
                self.assertEqual(list((self.folder / "cache" / "slate").glob("apt-frky-*")), [])

    def test_an_archive_without_a_key(self) -> None:
        """As on a host that is not Debian, without Debian's keyring; apt's words are those of 2.6 and 3.0."""
        words = "E: The repository 'http://a.example/debian trixie InRelease' is not signed.\n404  Not Found"
        status, _, said = self.sh(f"""apt-get() {{ echo "{words}"; return 100; }}; part_plan p a""")
        self.assertEqual(
            (status, said.splitlines()[-1]),
            (1, f"the archive file:{self.folder}/archive has no signature of trixie by a key of this machine: "
                "install debian-archive-keyring, or a newer one"),
        )  # fmt: skip
        self.assertFalse((self.folder / "lock").exists())

    def test_an_update_without_a_network(self) -> None:
        """Old lists stay, and one line says so, whatever number of parts are asked for."""
        for name in ("a", "b"):
            self.archive.add("trixie", name, "1-1")
        self.assertEqual(self.sh("part_plan p a; part_plan q b")[0], 0)
        words = "W: Failed to fetch x  Temporary failure resolving 'a.example'"
        alone = f"""apt-get() {{ [[ $* != *\\ update ]] || {{ echo "{words}"; return; }}; command apt-get "$@"; }}\n"""
        status, notes, said = self.sh(f"{alone}part_plan --update p a; part_plan --update q b")
        self.assertEqual(
            (status, notes),
            (0, f"the archive file:{self.folder}/archive cannot be reached: its old list of trixie stays\n"), said,
        )  # fmt: skip

    def test_an_interrupted_removal_of_a_root(self) -> None:
        """What is left of a root that was not used for long is not taken for a root."""
        cache = self.folder / "cache" / "slate"
        roots = set()
        for version in ("1", "2", "3"):
            self.archive.add("trixie", "a", version, files={"usr/bin/a": version})
            fails = 'rm() { for word; do case $word in */tmp-root-*) return 1 ;; esac; done; command rm "$@"; }\n'
            self.assertEqual(self.sh(f"{fails}ROOT_UPDATE=1 make_root build a")[0], 0)
            roots |= {path for path in cache.glob("root-build-trixie-*") if path.is_dir()}
            for at, path in enumerate(sorted(cache.glob("root-build-trixie-*"), key=lambda path: path.stat().st_mtime)):
                os.utime(path, (at, at))
        self.assertEqual(len(roots), 3)
        self.assertEqual([path.exists() for path in roots].count(True), 2)
        self.assertEqual(len(list(cache.glob("tmp-root-build-trixie-*"))), 1)

    def hosts(self, *words: str, stubs: dict[str, str]) -> tuple[int, str]:
        """Run tests/hosts.sh with programs that are stand-ins."""
        (self.folder / "bin").mkdir(exist_ok=True)
        for name, text in stubs.items():
            (self.folder / "bin" / name).write_text(f"#!/bin/sh\n{text}\n", encoding="ascii")
            (self.folder / "bin" / name).chmod(0o755)
        self.archive.write()
        done = subprocess.run(
            [ROOT / "tests/hosts.sh", *words],
            env={"PATH": f"{self.folder}/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(self.folder),
                 "SLATE_ETC_APT": str(self.archive.etc())},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout

    def test_hosts(self) -> None:
        """'make test-hosts' says so before it makes anything, and before it runs anything here."""
        root = {"id": "[ $1 = -un ] && exec /usr/bin/id -un; echo 0", "unshare": "exit 0", "mmdebstrap": "exit 9"}
        said = "no Debian release is called '7': name it by number (12, 13) or in words (trixie, forky)"
        self.assertEqual(self.hosts("container", "7", stubs={}), (1, f"Bail out! hosts.sh: {said}\n"))
        self.assertFalse((self.folder / ".cache").exists())
        said = f"the archive file:{self.folder}/archive has no release 'nosuch'; known releases: 12, 13, forky, sid"
        self.assertEqual(self.hosts("13", "nosuch", stubs=root), (1, f"Bail out! hosts.sh: {said}\n"))
        said = "this machine lets root make no mount namespaces (unshare --mount): run it elsewhere"
        found = self.hosts("13", stubs=root | {"unshare": "exit 1"})
        self.assertEqual(found, (1, f"Bail out! hosts.sh: {said}\n"))

    def test_an_unknown_package(self) -> None:
        status, _, said = self.sh("part_plan p a")
        self.assertNotEqual(status, 0)
        self.assertIn("E: Unable to locate package a\n", said)
        self.assertFalse((self.folder / "lock").exists())

    def test_lines_of_a_lock(self) -> None:
        """No line of another person's lock is used before all are checked."""
        self.archive.add("trixie", "a", "1-1")
        self.assertEqual(self.sh("part_plan p a")[0], 0)
        lock = self.folder / "lock"
        good = lock.read_text(encoding="utf-8")
        fields = dict(zip(("part", "name", "version", "arch", "hash", "bytes", "path"), good.split("\n")[1].split()))
        made = self.folder / "made"
        kept = self.folder / "cache" / "slate" / "kept"
        kept.touch()
        bad = [
            " ".join((fields | {key: value}).values())
            for key, value in (
                ("name", "-a"), ("name", "A"), ("version", "1;2"), ("version", "-1"), ("arch", "../amd64"),
                ("hash", "../../kept"), ("hash", "0" * 63), ("hash", "0" * 65), ("hash", "G" * 64),
                ("bytes", "x[$(touch${IFS}" + str(made) + ")]"), ("bytes", "1" * 13), ("bytes", "-1"),
                ("path", "/etc/a.deb"), ("path", "debian/../a.deb"), ("path", "debian/a.."), ("path", "other/a.deb"),
                ("path", "debian/a\x01"), ("path", ""),
            )
        ]  # fmt: skip
        bad += ["# with -oa=b", "# also a $(b)", "# with ", "# kernel a b", "# kernel -x.deb", "# kernel"]
        bad += ["# release ../x"]
        for line in bad:
            with self.subTest(line):
                lock.write_text(good + line + "\n", encoding="utf-8")
                status, notes, said = self.sh("part_plan p a")
                shown = line.replace("\x01", "^A")
                self.assertEqual(
                    (status, notes, said[:158]),
                    (1, "", f"{lock}: line 3 is not of a lock: '{shown}': make the lock again\n"[:158]),
                )
                self.assertEqual(lock.read_text(encoding="utf-8"), good + line + "\n")
                self.assertEqual((made.exists(), kept.exists()), (False, True))
        words = "# release 13\n# kernel /a b/k.deb\n# with g++ libc6\n# also a\n# exact\n\n"
        other = " ".join((fields | {"part": "q", "bytes": "0089", "path": "local/my k.deb"}).values()) + "\n"
        lock.write_text(words + good + other, encoding="utf-8")
        status, notes, said = self.sh("part_plan p a; lock_word kernel; lock_word with")
        self.assertEqual((status, notes, said), (0, "", "/a b/k.deb\ng++ libc6\n"))

    def test_bytes_are_decimal(self) -> None:
        deb = self.archive.add("trixie", "a", "1-1")
        self.assertEqual(self.sh("part_plan p a")[0], 0)
        self.cached(deb).unlink()
        status, _, said = self.sh("sed -i -E 's/ [0-9]+ debian/ 0089 debian/' $lock; part_plan p a")
        self.assertEqual((status, self.cached(deb).exists()), (0, True), said)

    def test_two_kernels_in_a_lock(self) -> None:
        self.assertEqual(self.sh("printf '# kernel %s\\n' a b >$lock; lock_word kernel")[2], "a\n")

    def test_an_option_is_no_package(self) -> None:
        status, _, said = self.sh("part_plan p -oDir")
        self.assertNotEqual(status, 0)
        self.assertIn("E: Unable to locate package -oDir\n", said)

    def test_an_exact_lock_without_a_part(self) -> None:
        self.archive.add("trixie", "a", "1-1")
        self.archive.add_source("trixie", "s", "1-1")
        self.assertEqual(self.sh("part_plan p a; echo '# exact' >>$lock")[0], 0)
        text = (self.folder / "lock").read_text(encoding="utf-8")
        for plan in ("part_plan q a", "source_plan q s", "file_plan q /none.deb"):
            with self.subTest(plan):
                self.assertEqual(
                    self.sh(plan),
                    (1, "", "the lock is exact, and has no part q: take a lock that has it, or --update\n"),
                )
        self.assertEqual((self.folder / "lock").read_text(encoding="utf-8"), text)

    def test_half_a_plan(self) -> None:
        """A plan of which apt names a file without SHA-256, or of another archive, is none."""
        for name in ("a", "b"):
            self.archive.add("trixie", name, "1-1")
        self.archive.add_source("trixie", "s", "1-1")
        half = """
            eval "all_$(declare -f plan_lines)"
            plan_lines() { all_plan_lines "$@" >$work/lines; head -n 1 $work/lines; return 1; }
        """
        for plan in ("part_plan p a b", "source_plan p s"):
            with self.subTest(plan):
                self.assertEqual(self.sh(half + plan)[0], 1)
                self.assertFalse((self.folder / "lock").exists())

    def test_a_full_disk(self) -> None:
        deb = self.archive.add("trixie", "a", "1-1")
        status, _, said = self.sh("df() { printf 'head\\nx 1 1 20 x x\\n'; }; part_plan p a")
        files = self.folder / "cache" / "slate" / "files"
        self.assertEqual(status, 2)
        self.assertIn(f"No space left on device: 20 MB in {files}, and 0 MB to fetch\n", said)
        self.assertEqual((list(files.iterdir()), (self.folder / "lock").exists()), ([], False))
        self.assertEqual(self.sh("part_plan p a")[0], 0)
        # while it is unpacked
        root = self.folder / "cache" / "slate"
        script = "unpack_plan() { mkdir $2; echo half >$2/file; return 1; }; make_root build a"
        self.assertNotEqual(self.sh(script)[0], 0)
        self.assertEqual(list(root.glob("root-*")), [])
        self.assertTrue(deb.exists())

    @unittest.skipUnless(os.geteuid() == 0, "mounts a small file system")
    def test_a_disk_that_fills(self) -> None:
        """While a file is fetched, and while packages are unpacked; df says that there is room."""
        small_disk(self, self.folder / "cache", "6m")
        cache = self.folder / "cache" / "slate"
        room = "df() { printf 'head\\nx 1 1 9999 x x\\n'; }\n"
        self.archive.add("trixie", "large", "1-1", files={"large": "x" * 7_000_000})
        status, notes, said = self.sh(f"{room}part_plan p large")
        self.assertEqual((status, notes, said.splitlines()[-1]), (2, "", f"No space left on device: {cache}/files"))
        self.assertEqual(list((cache / "files").iterdir()), [])
        self.archive.add("trixie", "half", "1-1", files={"half": "x" * 3_500_000})
        status, _, said = self.sh(f"{room}make_root build half")
        self.assertNotEqual(status, 0)
        self.assertRegex(said, "No space left on device|tar: ./half: Wrote only [0-9]+ of [0-9]+ bytes\n")
        self.assertEqual(list(cache.glob("root-*")), [])

    def test_a_package_file(self) -> None:
        """Its content stays in the cache; the file need not."""
        deb = self.archive.add("trixie", "linux-image-6", "1-1", files={"boot/vmlinuz-6": "k"})
        file = self.folder / "kernel.deb"
        file.write_bytes(deb.read_bytes()[:200])
        status, _, said = self.sh(f"file_plan kernel {file}")
        self.assertEqual(status, 1)
        self.assertIn(f"{file} is damaged: make or copy it again\n", said)
        file.write_bytes(deb.read_bytes())
        self.assertEqual(self.sh(f"file_plan kernel {file}")[0], 0)
        self.assertEqual(self.plan("kernel"), ["linux-image-6 1-1"])
        file.unlink()
        status, _, said = self.sh(f'file_plan kernel {file}; unpack_plan "$work/kernel.plan" "$DIR/root"')
        self.assertEqual(status, 0, said)
        self.assertEqual((self.folder / "root" / "boot" / "vmlinuz-6").read_text(), "k")
        self.cached(deb).unlink()
        status, _, said = self.sh(f"file_plan kernel {file}")
        self.assertEqual((status, said.splitlines()[-1]), (1, f"{file} is not there, and the cache does not have it"))

    def test_several_package_files(self) -> None:
        """A comma ends a name only behind .deb, so others may have commas."""
        debs = [self.archive.add("trixie", name, "1-1", files={f"boot/{name}": name}) for name in ("binary", "modules")]
        files = [self.folder / "a,b.deb", self.folder / "c d.deb"]
        for deb, file in zip(debs, files):
            file.write_bytes(deb.read_bytes())
        words = f"file_plan kernel '{files[0]},{files[1]}'"
        self.assertEqual(self.sh(words)[0], 0)
        self.assertEqual(self.plan("kernel"), ["binary 1-1", "modules 1-1"])
        files[1].unlink()
        status, _, said = self.sh(f'{words}; unpack_plan "$work/kernel.plan" "$DIR/root"')
        self.assertEqual(status, 0, said)
        self.assertEqual(sorted(path.name for path in (self.folder / "root/boot").iterdir()), ["binary", "modules"])
        self.cached(debs[0]).unlink()
        status, _, said = self.sh(words)
        why = f"{files[1]} is not there, and the cache does not have it"
        self.assertEqual((status, said.splitlines()[-1]), (1, why))


class Sources(Case):
    """A source package is its tarball and Debian's patches, without .dsc and signature, which the archive may lack."""

    def test_a_source_and_its_patches(self) -> None:
        files = self.archive.add_source("trixie", "a", "1-1", "text\n")
        for file in (files[0], files[-1]):
            file.unlink()
        status, notes, said = self.sh('source_plan s a; unpack_source "$work/s.plan" "$DIR/a"; cat "$DIR/a/README"')
        self.assertEqual((status, notes, self.plan("s")), (0, "", ["a 1-1"] * 2), said)
        self.assertTrue(said.endswith("text\n"), said)
        self.assertTrue((self.folder / "a" / "debian" / "changelog").exists())
        self.assertEqual((self.folder / "a" / "PATCHED").read_text(encoding="utf-8"), "by Debian\n")

    def test_a_source_that_is_gone(self) -> None:
        """Another version of this release, or that of the next release."""
        self.archive.add_source("trixie", "a", "1-1")
        new = self.archive.add_source("trixie", "a", "2-1")
        new[1].unlink()
        status, notes, said = self.sh("source_plan s a")
        self.assertEqual((status, self.plan("s")), (0, ["a 1-1"] * 2), said)
        self.assertEqual(notes, "the archive of trixie lists the source of a 2-1 and has it not: taking 1-1\n")
        self.archive.add_source("forky", "a", "3-1")
        self.archive.sources["trixie"].pop(0)
        status, notes, said = self.sh("source_plan --update s a")
        self.assertEqual((status, self.plan("s")), (0, ["a 3-1"] * 2), said)
        self.assertEqual(
            notes, "the archive of trixie lists the source of a 2-1 and has it not: taking that of forky\n"
        )

    def test_no_archive(self) -> None:
        """A source that is planned and cached needs no archive; without the cache, what cannot be had is named."""
        self.archive.add_source("trixie", "a", "1-1")
        self.assertEqual(self.sh("source_plan s a")[0], 0)
        gone = """
            debian_uri=http://127.0.0.1:1/debian
            sed -i "s,^URIs:.*,URIs: $debian_uri," $apt_state/sources.d/debian.sources
        """
        self.assertEqual(self.sh(gone + "source_plan s a")[0], 0)
        shutil.rmtree(self.folder / "cache" / "slate" / "files")
        status, _, said = self.sh(gone + "source_plan s a")
        self.assertNotEqual(status, 0)
        self.assertIn("the archive http://127.0.0.1:1/debian cannot be reached, and the cache has not: a 1-1\n", said)
        self.assertEqual(self.plan("s"), ["a 1-1"] * 2)

    def test_a_tarball_alone(self) -> None:
        files = self.archive.add_source("trixie", "a", "1-1", "text\n")
        files[2].unlink()
        status, notes, said = self.sh(
            'source_plan --tarball s a; unpack_source "$work/s.plan" "$DIR/a"; cat "$DIR/a/README"'
        )
        self.assertEqual((status, self.plan("s")), (0, ["a 1-1"]), said)
        self.assertEqual(
            notes, "the archive has no whole source of a 1-1: taking its tarball, without Debian's patches\n"
        )
        self.assertTrue(said.endswith("text\n"), said)

    def test_no_source(self) -> None:
        for suite in ("forky", "sid"):
            self.archive.suite(suite)
        status, _, said = self.sh("source_plan s a")
        self.assertNotEqual(status, 0)
        self.assertTrue(said.endswith("the archive has no source of a, of no release\n"), said)
        self.assertFalse((self.folder / "lock").exists())


class Origin(unittest.TestCase):
    """Where this machine's apt has Debian from."""

    def archive_of(self, files: dict[str, str]) -> str:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "sources.list.d").mkdir()
            for file, text in files.items():
                Path(folder, file).write_text(text, encoding="utf-8")
            done = subprocess.run(
                ["bash", "-c", f"build=x; . {ROOT}/host-tools/debian.sh; archive_of x"],
                env={"PATH": "/usr/bin:/bin", "SLATE_ETC_APT": folder}, capture_output=True, text=True, check=False,
                timeout=60,
            )  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_both_formats(self) -> None:
        """Installers write one-line sources alone, images paragraphs alone; either kind of file may be absent."""
        line = "deb http://a.example/debian x main\n"
        paragraph = "Types: deb\nURIs: http://b.example/debian\nSuites: y x\nComponents: main\nSigned-By: /k\n"
        a, b = "URIs: http://a.example/debian\n", "URIs: http://b.example/debian\nSigned-By: /k\n"
        for files, want in (
            ({"sources.list": line}, a),
            ({"sources.list.d/a.list": "deb [signed-by=/k] " + line[4:]}, a + "Signed-By: /k\n"),
            ({"sources.list.d/a.list": "deb [trusted=yes] " + line[4:]}, a + "Trusted: yes\n"),
            ({"sources.list.d/b.sources": paragraph}, b),
            ({"sources.list": "", "sources.list.d/b.sources": paragraph}, b),
            ({"sources.list.d/b.sources": paragraph + "Enabled: no\n"}, ""),
            ({}, ""),
        ):
            with self.subTest(files):
                self.assertEqual(self.archive_of(files), want)

    def test_security_updates(self) -> None:
        """They are where apt has them for the host's own release; else, or with SLATE_DEBIAN, beside the archive."""
        own = codename()
        main = f"deb [signed-by=/k] http://a.example/debian/ {own} main\n"
        key = "\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg"
        for text, more, want in (
            (main + f"deb http://s.example/x {own}-security main\n", {}, "URIs: http://s.example/x"),
            (main, {}, "URIs: http://a.example/debian-security\nSigned-By: /k"),
            (main.replace("/debian/", "/other"), {}, ""),
            ("", {"SLATE_DEBIAN": "http://m.example/debian"}, "URIs: http://m.example/debian-security" + key),
            ("", {"SLATE_DEBIAN": "http://m.example/x", "SLATE_DEBIAN_SECURITY": "http://m.example/y"},
             "URIs: http://m.example/y" + key),
        ):  # fmt: skip
            with self.subTest(text + str(more)), tempfile.TemporaryDirectory() as folder:
                Path(folder, "sources.list").write_text(text, encoding="utf-8")
                done = subprocess.run(
                    ["bash", "-c", f"build=x; . {ROOT}/host-tools/debian.sh; origin security"],
                    env={"PATH": "/usr/bin:/bin", "SLATE_ETC_APT": folder} | more, capture_output=True, text=True,
                    check=False, timeout=60,
                )  # fmt: skip
                found = done.stdout.strip()
                if not Path(key.partition(": ")[2]).exists():
                    want = want.removesuffix(key)
                self.assertEqual((done.returncode, found, done.stderr), (0, want, ""))


class Install(unittest.TestCase):
    """Test install-packages.sh on a stand-in for apt-get, which refuses to install more than one package at once."""

    def install(self, *names: str) -> tuple[int, list[str]]:
        """Return the status and what is said. Packages named bad... cannot be had."""
        with tempfile.TemporaryDirectory() as folder:
            for program, script in (
                ("dpkg-query", "exit 1"),
                ("id", "echo 0"),
                ("apt-get", 'echo "log of $*"; case "$*" in *recommends\\ *\\ * | *\\ bad) exit 1 ;; esac'),
            ):
                Path(folder, program).write_text(f"#!/bin/sh\n{script}\n", encoding="ascii")
                Path(folder, program).chmod(0o755)
            Path(folder, "list.txt").write_text("\n".join(names) + "\n", encoding="ascii")
            done = subprocess.run(
                [ROOT / "host-tools/install-packages.sh", Path(folder, "list.txt")],
                env={"PATH": f"{folder}:/usr/bin:/bin"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                check=False, timeout=60,
            )  # fmt: skip
        return done.returncode, done.stdout.splitlines()

    def test_one_by_one(self) -> None:
        status, said = self.install("a", "b", "c")
        self.assertEqual((status, said), (0, ["packages: installing a b c", "packages: installed 3"]))

    def test_the_log_of_a_package_that_failed(self) -> None:
        status, said = self.install("a", "bad", "c")
        self.assertEqual((status, said[0], said[-1]), (1, "packages: installing a bad c", "Missing: bad"))
        self.assertTrue(said[1].startswith("log of ") and said[1].endswith(" bad"), said)
        self.assertIn("apt-get install failed for bad ", said[2])
        self.assertEqual(len(said), 4)


if __name__ == "__main__":
    unittest.main()

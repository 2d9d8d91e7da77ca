# SPDX-License-Identifier: GPL-2.0-or-later
"""Test that each part which is fetched copes with an archive that has moved on: the parts' own words, asked of an
archive of our own (archive.py), and Python's packages of an index of our own."""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import zipfile
from fnmatch import fnmatch
from pathlib import Path

from archive import ArchiveCase, small_disk

ROOT = Path(__file__).resolve().parents[2]
GUEST = "host-tools/guest"
HEAD = """
set -euo pipefail
here={root}/{guest} who=test package_list=$here/../packages.d/guest.txt
. "$here/lib.sh"
. "$repo/host-tools/debian.sh"
build=$DIR/build work=$DIR/work lock=$DIR/lock notes=$DIR/notes update=''
plan=$DIR/source.plan suite=trixie
mkdir -p "$work"
: >"$notes"
release_init trixie >&2
"""


def settings(text: str) -> str:
    """Return a script's assignments of lists, such as PACKAGES."""
    return "\n".join(re.findall(r'(?m)^[A-Z_]+="[^"]*"', text))


def function(text: str, name: str) -> str:
    """Return a script's function."""
    found = re.search(rf"(?ms)^{name}\(\).*?^}}\n", text)
    assert found, name
    return found[0]


def words(text: str, name: str) -> list[str]:
    """Return the packages that a list names. Of an apt pattern, that is the last exact name."""
    found = re.search(rf'(?m)^{name}="([^"]*)"', text)
    assert found, name
    listed = found[1].replace("\\\n", "").split()
    exact = [re.findall(r"\?exact-name\(([^)]*)\)", word) for word in listed]
    return [names[-1] if names else word for word, names in zip(listed, exact) if names or not word.startswith("?")]


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


class Case(ArchiveCase):
    """Its scripts have lib.sh and debian.sh."""

    suites = ("trixie", "forky", "sid")

    def sh(self, script: str) -> tuple[int, list[str], str]:
        """Run the script behind lib.sh and debian.sh, with new lists; return status, notes, and all output."""
        status, notes, said = self.bash(HEAD.format(root=ROOT, guest=GUEST) + script)
        return status, notes.splitlines(), said

    def lock(self) -> dict[str, list[str]]:
        """Return NAME VERSION of each part's files."""
        parts: dict[str, list[str]] = {}
        for line in (self.folder / "lock").read_text(encoding="utf-8").splitlines():
            if not line.startswith("#"):
                part, name, version = line.split()[:3]
                parts.setdefault(part, []).append(f"{name} {version}")
        return parts

    def forget_cache(self) -> None:
        shutil.rmtree(self.folder / "cache" / "slate" / "files")


class Packages(Case):
    """Parts that are packages of the guest's release, and their sources."""

    def moves(self, script: str, part: str, debs: list[str], sources: dict[str, str], kept: str = "*") -> None:
        """Ask for a part on each archive. Sources: part of the source, name. Kept: of the packages, in the plan."""
        names = sorted(name for name in debs if any(fnmatch(name, pattern) for pattern in kept.split("|")))
        first = names[0]
        for name in debs:
            self.archive.add("trixie", name, "1-1", Source="linux", Priority="required")
        self.archive.add("trixie", first, "2-1", Source="linux", Priority="required").unlink()
        for name in sources.values():
            self.archive.add_source("trixie", name, "1-1")
            self.archive.add_source("trixie", name, "2-1")[1].unlink()  # its tarball
        with self.subTest("a list that is newer than the archive"):
            status, notes, said = self.sh(script)
            self.assertEqual(status, 0, said)
            self.assertEqual(
                notes,
                [f"the archive of trixie lists {first} 2-1 and has it not: taking another version",
                 *(f"the archive of trixie lists the source of {name} 2-1 and has it not: taking 1-1"
                   for name in sources.values())],
            )  # fmt: skip
            lock = self.lock()
            self.assertEqual(lock[part], [f"{name} 1-1" for name in names])
            for source, name in sources.items():
                self.assertEqual(lock[source], [f"{name} 1-1"] * len(lock[source]))
        with self.subTest("the lock's files are gone"):
            self.forget_cache()
            next((self.folder / "archive" / "pool" / "main" / first[0] / first).glob("*_1-1_*")).unlink()
            self.archive.add("trixie", first, "3-1", Source="linux", Priority="required")
            status, notes, said = self.sh(script)
            self.assertEqual(status, 0, said)
            self.assertIn(f"the archive no longer has {first} 1-1: taking what it has now", notes)
            self.assertEqual(self.lock()[part], [f"{first} 3-1", *(f"{name} 1-1" for name in names[1:])])
        with self.subTest("an index without files"):
            before = (self.folder / "lock").read_text(encoding="utf-8")
            self.forget_cache()
            for path in (self.folder / "archive" / "pool").rglob("*"):
                if path.is_file():
                    path.unlink()
            status, notes, said = self.sh(script)
            self.assertNotEqual(status, 0, said)
            self.assertIn("has it not: taking another version", notes[-1], said)
            self.assertEqual((self.folder / "lock").read_text(encoding="utf-8"), before)

    def test_the_guests_root(self) -> None:
        lib = read(f"{GUEST}/lib.sh")
        debs = words(lib, "IN_GUEST") + words(lib, "COMPILER")
        make_root = 'make_root() { local part=$1; shift; part_plan "$part" "$@"; }\n'
        self.moves(make_root + "build_root", "build", debs, {})

    def test_the_guests_kernel(self) -> None:
        script = function(read(f"{GUEST}/build.sh"), "plan_kernel") + "plan_kernel"
        self.moves(script, "kernel", ["linux-image-amd64"], {})

    def test_further_packages(self) -> None:
        stubs = "IN_GUEST='' COMPILER='' NOT_IN_ROOTS=none; set_lock_word with hello; : >$work/build.plan\n"
        script = function(read(f"{GUEST}/build.sh"), "plan_with") + stubs + "unpack_plan() { :; }; plan_with"
        self.moves(script, "with", ["hello"], {})

    def test_applications(self) -> None:
        text = read(f"{GUEST}/apps.sh")
        stubs = "locked_plan() { :; }; build_root() { :; }\n"
        sources = {f"apps-{name}": name for name in words(text, "SOURCES")}
        script = settings(text) + "\n" + function(text, "plan") + stubs + "plan"
        self.moves(script, "apps", words(text, "PACKAGES"), sources)

    def test_content(self) -> None:
        text = read(f"{GUEST}/content.sh")
        kept = re.search(r'(?m)^DEBS="([^"]*)"', text)
        assert kept
        sources = {f"content-{name}": name for name in words(text, "SOURCES")}
        script = settings(text) + "\n" + function(text, "plan") + "build_root() { :; }\nplan"
        self.moves(script, "content", words(text, "ROOTS"), sources, kept[1].replace("\\\n", ""))

    def test_the_firmware(self) -> None:
        text = read(f"{GUEST}/build.sh")
        stubs = "FIRMWARE=''; unpack_plan() { :; }; rm -rf $work/firmware\n"
        script = settings(text) + "\n" + function(text, "make_firmware") + stubs + "make_firmware"
        self.moves(script, "firmware", words(text, "FIRMWARE_PACKAGES"), {})

    def test_the_image(self) -> None:
        text = read(f"{GUEST}/image.sh")
        debs = words(text, "PACKAGES") + words(text, "FOR_SUITES")
        self.moves(settings(text) + "\n" + function(text, "plan") + "plan", "image", debs, {})


class Words(Case):
    """What the scripts of the guest say in one line, behind a phase that failed."""

    PHASE = "log_dir=$DIR/log cache=$DIR child=''; mkdir -p $log_dir\n"
    ROOT_ONLY = 'make_root() { local part=$1; shift; part_plan "$part" "$@"; }\n'

    def test_an_unknown_release(self) -> None:
        """Not one line for each package that the release has not."""
        script = f"{self.PHASE}{self.ROOT_ONLY}release_init nosuch; phase root 'the root' build_root"
        status, notes, said = self.sh(script)
        why = f"the archive file:{self.folder}/archive has no release 'nosuch'; known releases: 12, 13, forky, sid"
        self.assertEqual((status, notes, said), (1, [], f"test: error: {why}\n"))
        self.assertEqual(list((self.folder / "cache" / "slate").glob("apt-nosuch-*")), [])

    def test_an_exact_lock(self) -> None:
        """All that is gone is named, of all parts, before one is made; there is no advice to take other versions."""
        for name in ("a", "b", "c"):
            self.archive.add("trixie", name, "1-1")
        self.archive.add_source("trixie", "s", "1-1")
        plans = "part_plan build a b; part_plan firmware c; source_plan fio s"
        status, _, said = self.sh(f"{plans}; echo '# exact' >>$lock")
        self.assertEqual(status, 0, said)
        before = (self.folder / "lock").read_text(encoding="utf-8")
        self.forget_cache()
        for path in ("b/b/b_1-1_amd64.deb", "c/c/c_1-1_amd64.deb", "s/s/s_1.orig.tar.gz"):
            (self.folder / "archive" / "pool" / "main" / path).unlink()
        self.archive.add("trixie", "b", "1-2")
        found = re.search(r"(?m)^exact=\(.*\n(?:.*\n)?! lock_is_exact .*", read(f"{GUEST}/build.sh"))
        assert found
        status, notes, said = self.sh(f"{self.PHASE}{found[0]}\necho made")
        self.assertEqual((status, notes), (1, []), said)
        self.assertEqual(
            said.splitlines()[-2:],
            ["  | the lock names what neither the cache nor the archive has: b 1-1, c 1-1, s 1-1",
             "test: error: failed: all files that the lock names (status 1; all of it in "
             f"{self.folder}/log/guest-lock.log)"],
        )  # fmt: skip
        self.assertNotIn("--update", said)
        self.assertEqual((self.folder / "lock").read_text(encoding="utf-8"), before)
        # an image that is made of the guest's lock
        status, _, said = self.sh("locked_plan build")
        self.assertEqual(status, 1)
        self.assertTrue(said.endswith("the lock names what neither the cache nor the archive has: b 1-1\n"), said)

    def test_a_full_disk(self) -> None:
        fails = "phase x 'a part' sh -c 'echo {}; exit 4'"
        stub = "df() { printf 'head\\nx 1 1 7 x x\\n'; }\n"
        cache = f"7 in {self.folder}/cache/slate"  # packages are there, maybe on another disk
        status, _, said = self.sh(f"{self.PHASE}{stub}{fails.format('No space left on device')}")
        self.assertEqual(
            (status, said.splitlines()[:2]),
            (1, ["  | No space left on device", f"test: the disk is full (7 MB left in {self.folder}, {cache})"]),
        )
        status, _, said = self.sh(f"{self.PHASE}{stub}{fails.format('tar: a: Wrote only 3 of 9 bytes')}")
        self.assertIn("test: the disk is full (7 MB left in", said)
        for left, full in ((4, True), (5, False)):  # the log is on the full disk
            silent = f"{self.PHASE}{stub.replace('7', str(left))}phase x 'a part' false"
            self.assertEqual(f"test: the disk is full ({left} MB left in" in self.sh(silent)[2], full)
        status, _, said = self.sh(f"{self.PHASE}{stub}need_space 8")
        self.assertEqual(
            (status, said),
            (1, f"test: error: disk full: 7 MB left in {self.folder}, needs 8 MB while building\n"),
        )


class Guest(Case):
    """Parts of the guest that ask in ways of their own."""

    def test_the_kernel_of_the_applications(self) -> None:
        """If it is gone since the guest was made, the guest is made anew, under the lock that the caller has."""
        old = self.archive.add("trixie", "k", "1-1", Source="linux")
        self.assertEqual(self.sh("part_plan kernel k")[0], 0)
        self.forget_cache()
        old.unlink()
        self.archive.add("trixie", "k", "1-2", Source="linux")
        (self.folder / "here").mkdir()
        build = self.folder / "here/build.sh"
        head = HEAD.format(root=ROOT, guest=GUEST).replace("update=''", "")
        build.write_text(f'#!/bin/bash\necho "$0 $*"; flock -n "$SLATE_GUEST_LOCKED"\n{head}part_plan kernel k >&2\n')
        build.chmod(0o755)
        script = f"""{Words.PHASE}exec 9>$DIR/.lock; flock 9
            here=$DIR/here; make_work() {{ work=$DIR/work; mkdir -p $work; }}
            have_locked kernel; cut -d' ' -f1,2 $work/kernel.plan
        """
        status, _, said = self.sh(script)
        self.assertEqual(status, 0, said)
        self.assertIn("test: the archive no longer has k 1-1: making the guest anew, of what it has now\n", said)
        self.assertIn(f"{build} --force\n", said)
        self.assertEqual((said.splitlines()[-1], self.lock()["kernel"]), ("k 1-2", ["k 1-2"]))

    def test_who_has_a_program(self) -> None:
        """A program that has moved to a package is asked of the release's list of all files, if it has one."""
        self.archive.add("trixie", "a", "1-1", {"usr/sbin/prog": "x"})
        script = function(read(f"{GUEST}/build.sh"), "package_of")
        status, _, said = self.sh(f"{script}package_of prog")
        self.assertEqual(status, 1)
        why = "has no list of the files of trixie's packages: which one has prog?"
        self.assertEqual(said.splitlines()[-1], f"the archive file:{self.folder}/archive {why}")
        text = "usr/bin/program admin/b\nusr/sbin/prog admin/a,admin/b\nusr/share/prog doc/c\n"
        self.archive.contents["trixie"] = text
        status, _, said = self.sh(f"{script}package_of prog 2>/dev/null; package_of none 2>/dev/null; echo end")
        self.assertEqual((status, said), (0, "a\nend\n"))

    def test_a_kernel_without_md_or_btrfs(self) -> None:
        """The image has the modules that the kernel has; the others are named with their options."""
        tree = self.folder / "work/kernel/usr/lib/modules/6.1"
        tree.mkdir(parents=True)
        for name in ("md-mod.ko", "raid1.ko", "dm-mod.ko"):
            (tree / name).write_text("m")
        for name in ("builtin", "builtin.modinfo", "order"):
            (tree / f"modules.{name}").touch()
        (self.folder / "work/root").mkdir()
        programs = self.folder / "bin"
        programs.mkdir()
        # raid0 is built in
        (programs / "modprobe").write_text("""#!/bin/sh
            for name; do :; done
            module=usr/lib/modules/6.1/$(echo $name | tr _ -).ko
            if [ -e kernel/$module ]; then
                echo "insmod /kernel/lib/modules/6.1/md-mod.ko "
                echo "insmod /kernel/${module#usr} "
                exit
            fi
            [ $name = raid0 ] && echo "builtin raid0"
            """)
        (programs / "depmod").write_text("#!/bin/sh\n")
        for program in programs.iterdir():
            program.chmod(0o755)
        text = read(f"{GUEST}/apps.sh")
        stubs = 'unpack_plan() { :; }\nin_root() { (cd "$2" && shift 2 && PATH=$DIR/bin:$PATH "$@"); }\n'
        status, notes, said = self.sh(settings(text) + "\n" + function(text, "add_modules") + stubs + "add_modules")
        self.assertEqual(status, 0, said)
        self.assertEqual(notes, [
            "the kernel 6.1 has neither as a module nor built in, so the image goes without: "
            "raid10 (CONFIG_MD_RAID10), raid456 (CONFIG_MD_RAID456), dm_crypt (CONFIG_DM_CRYPT), "
            "xts (CONFIG_CRYPTO_XTS), bcache (CONFIG_BCACHE), btrfs (CONFIG_BTRFS_FS)"
        ])  # fmt: skip
        found = self.folder / "work/root/usr/lib/modules/6.1"
        self.assertEqual(sorted(path.name for path in found.iterdir()),
                         ["dm-mod.ko", "md-mod.ko", "modules.builtin", "modules.builtin.modinfo", "modules.order",
                          "raid1.ko"])  # fmt: skip

    def test_a_guest_of_no_release(self) -> None:
        """It is refused before it has a folder, by each script that would make something of it."""
        build = f"export SLATE_BUILD=$DIR/b SLATE_GUEST=nosuch; {ROOT}/{GUEST}"
        status, _, said = self.bash(f"{build}/build.sh")
        why = f"the archive file:{self.folder}/archive has no release 'nosuch'; known releases: 12, 13, forky, sid"
        self.assertEqual((status, said), (1, f"guest: error: {why}\n"))
        for script, who in (("apps.sh", "apps"), ("content.sh", "content"), ("kernel.sh small", "guest kernel")):
            status, _, said = self.bash(f"{build}/{script}")
            why = "the guest nosuch has not been made: run 'make guest'"
            self.assertEqual((status, said), (1, f"{who}: error: {why}\n"))
        self.assertFalse((self.folder / "b/guest").exists())

    def test_a_build_elsewhere(self) -> None:
        """SLATE_BUILD names the folder of all that is built, for the launcher and for these scripts alike."""
        script = "SLATE_BUILD=$DIR/b; unset build guest; . $here/lib.sh; echo $build $lock $cache $log_dir"
        status, _, said = self.sh(script)
        build = f"{self.folder}/b"
        self.assertEqual((status, said), (0, f"{build} {build}/guest/13/lock {build}/guest-cache {build}/log\n"))
        for path in (ROOT / GUEST).glob("*.sh"):
            self.assertNotIn("$repo/build", path.read_text(encoding="utf-8").replace("-$repo/build}", ""), path)


class Sources(Case):
    """Parts that are a source package: another version of the release, or that of the next, or the tarball alone. QEMU,
    which must not be of any version, has tests of its own (test_qemu_source.py)."""

    def moves(self, script: str, part: str, name: str) -> None:
        self.archive.add_source("trixie", name, "1-1")
        self.archive.add_source("trixie", name, "2-1")[1].unlink()
        with self.subTest("a list that is newer than the archive"):
            status, notes, said = self.sh(script)
            self.assertEqual((status, self.lock()), (0, {part: [f"{name} 1-1"] * 2}), said)
            self.assertEqual(
                notes, [f"the archive of trixie lists the source of {name} 2-1 and has it not: taking 1-1"]
            )
        with self.subTest("the lock's files are gone"):
            self.forget_cache()
            for path in (self.folder / "archive" / "pool").rglob("*.tar.*"):
                path.unlink()
            self.archive.sources["trixie"].clear()
            self.archive.add_source("trixie", name, "3-1")[2].unlink()  # Debian's patches
            status, notes, said = self.sh(script)
            self.assertEqual((status, self.lock()), (0, {part: [f"{name} 3-1"]}), said)
            self.assertEqual(
                notes,
                [f"the archive no longer has {name} 1-1: taking what it has now",
                 f"the archive has no whole source of {name} 3-1: taking its tarball, without Debian's patches"],
            )  # fmt: skip
        with self.subTest("the next release"):
            self.forget_cache()
            for path in (self.folder / "archive" / "pool").rglob("*.tar.*"):
                path.unlink()
            self.archive.add_source("forky", name, "4-1")
            status, notes, said = self.sh(script)
            self.assertEqual((status, self.lock()), (0, {part: [f"{name} 4-1"] * 2}), said)
            self.assertEqual(
                notes[-1],
                f"the archive of trixie lists the source of {name} 3-1 and has it not: taking that of forky",
            )
        with self.subTest("an index without files"):
            self.forget_cache()
            for path in (self.folder / "archive" / "pool").rglob("*.tar.*"):
                path.unlink()
            before = (self.folder / "lock").read_text(encoding="utf-8")
            status, _, said = self.sh(script)
            self.assertNotEqual(status, 0)
            self.assertTrue(said.endswith(f"the archive has no source of {name}, of no release\n"), said)
            self.assertEqual((self.folder / "lock").read_text(encoding="utf-8"), before)

    def test_fio(self) -> None:
        found = re.search(r'(?m)^phase fio-fetch "[^"]*" (.*)$', read(f"{GUEST}/build.sh"))
        assert found
        self.moves(found[1], "fio", "fio")


class Nothing(unittest.TestCase):
    """No part asks the network in another way."""

    def test_no_script_fetches_otherwise(self) -> None:
        fetches = re.compile(
            r"apt-get .*\b(install|download|source|update)\b|apt-helper|\bwget\b|\bcurl -|\bpip\b.*\binstall\b"
        )
        found = set()
        for path in [ROOT / "Makefile", *(ROOT / "host-tools").glob("*.sh"), *(ROOT / GUEST).glob("*.sh"),
                     *(ROOT / "qemu-patches").glob("*.sh")]:  # fmt: skip
            for line in path.read_text(encoding="utf-8").splitlines():
                if fetches.search(line) and not re.match(r"\s*#|.*\b(die|fail|printf|echo|say)\b", line):
                    found.add(path.relative_to(ROOT).as_posix())
        self.assertEqual(
            found,
            {"host-tools/debian.sh",  # the archive
             "host-tools/guest/build.sh",  # a list of the archive: above
             "host-tools/install-packages.sh",  # this machine's packages: test_debian
             "host-tools/venv.sh"},  # Python's packages: below
        )  # fmt: skip


@functools.cache
def empty_environment() -> Path:
    """Make an environment of which each test has a copy, because to make one takes seconds."""
    folder = tempfile.mkdtemp(prefix="slate-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    subprocess.run(["/usr/bin/python3", "-m", "venv", f"{folder}/venv"], check=True, timeout=300)
    return Path(folder, "venv")


class Wheels(unittest.TestCase):
    """A list's package is gone from the index, or is another file there."""

    def setUp(self) -> None:
        found = tempfile.TemporaryDirectory(prefix="slate-")
        self.addCleanup(found.cleanup)
        self.folder = Path(found.name)
        (self.folder / "host-tools/python").mkdir(parents=True)
        (self.folder / "index").mkdir()
        for name in ("venv.sh", "phase.sh"):
            shutil.copy(ROOT / "host-tools" / name, self.folder / "host-tools" / name)
        venv, python = self.folder / "host-tools/venv.sh", self.folder / "python3"
        text = venv.read_text(encoding="utf-8")
        self.assertIn("python=/usr/bin/python3\n", text)
        venv.write_text(text.replace("python=/usr/bin/python3\n", f"python={python}\n"), encoding="utf-8")
        make = f'mkdir -p "${{3%/*}}" && cp -a {empty_environment()} "$3"'
        python.write_text(f'#!/bin/sh\n[ "$2" != venv ] || {{ {make}; exit; }}\nexec /usr/bin/python3 "$@"\n')
        python.chmod(0o755)

    def lists(self, asked: str, **pinned: str) -> None:
        """Write x.in, and x.txt of packages NAME 1.0, whose wheels have these texts."""
        lines = []
        for name, text in pinned.items():
            wheel = self.wheel(name, "1.0", text)
            lines.append(f"{name}==1.0 \\\n    --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n")
            wheel.unlink()
        (self.folder / "host-tools/python/x.txt").write_text("# a list\n" + "".join(lines), encoding="ascii")
        (self.folder / "host-tools/python/x.in").write_text(asked, encoding="ascii")

    def install(self, **env: str) -> tuple[int, list[str], bool]:
        """Run venv.sh as make does; return its status and its lines without those of pip. Say if a stamp is left."""
        done = subprocess.run(
            [self.folder / "host-tools/phase.sh", "-q", "x", "packages", self.folder / "host-tools/venv.sh", "x"],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=300,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": "/dev/null",
                 "PIP_FIND_LINKS": str(self.folder / "index")} | env,
        )  # fmt: skip
        lines = [line for line in done.stdout.splitlines() if line.startswith("slate: ")]
        return done.returncode, lines, (self.folder / "build/venv-x/.requirements.txt").exists()

    def wheel(self, name: str, version: str, text: str, needs: str = "") -> Path:
        path = self.folder / "index" / f"{name}-{version}-py3-none-any.whl"
        meta = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        with zipfile.ZipFile(path, "w") as file:
            for part, content in (
                (f"{name}.py", text),
                (f"{name}-{version}.dist-info/METADATA", meta + (f"Requires-Dist: {needs}\n" if needs else "")),
                (f"{name}-{version}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
                (f"{name}-{version}.dist-info/RECORD", ""),
            ):
                file.writestr(zipfile.ZipInfo(part), content)
        return path

    def took(self, what: str) -> tuple[int, list[str], bool]:
        said = "slate: the index has not all that host-tools/python/x.txt names: took"
        return 0, [f"{said} {what} ('make requirements' renews the list)"], True

    def test_versions_that_are_gone(self) -> None:
        """Their newest ones are taken; the others stay, although there are newer ones."""
        self.lists("a\nb\n", a="x", b="x")
        for version in ("1.1", "2.0"):
            self.wheel("a", version, "x")
            self.wheel("b", version, "x")
        self.wheel("b", "1.0", "x")
        self.assertEqual(self.install(), self.took("a 2.0 for 1.0"))

    def test_they_do_not_fit_together(self) -> None:
        """The newest version of one needs a newer one of another, and a third."""
        self.lists("a<3\nb\n", a="x", b="x")
        self.wheel("a", "2.0", "x", needs="b>1")
        self.wheel("a", "3.0", "x")
        self.wheel("b", "1.0", "x")
        self.wheel("b", "1.5", "x", needs="c")
        self.wheel("c", "7", "x")
        self.assertEqual(self.install(), self.took("a 2.0 for 1.0, b 1.5 for 1.0, c 7"))

    def test_another_file(self) -> None:
        self.lists("a==1.0\n", a="x")
        self.wheel("a", "1.0", "y")
        self.assertEqual(self.install(), self.took("another file of a 1.0"))

    def test_no_version_will_do(self) -> None:
        self.lists("a<2\n", a="x")
        self.wheel("a", "2.0", "x")
        status, said, stamp = self.install()
        self.assertEqual((status != 0, stamp), (True, False))
        self.assertRegex(
            said[-1],
            r"^slate: pip could not install what host-tools/python/x\.txt names: the index has no such version for "
            r"Python 3\.\d+\.\d+: 'make requirements UPGRADE=1' takes those that it has$",
        )

    @unittest.skipUnless(os.geteuid() == 0, "mounts a small file system")
    def test_a_full_disk(self) -> None:
        """While the environment is made, and while a package is installed: nothing of it stays."""
        kib = sum(path.lstat().st_blocks for path in empty_environment().rglob("*")) // 2
        self.lists("a\n", a="x" * 9_000_000)
        self.wheel("a", "1.0", "x" * 9_000_000)
        why = "slate: pip could not install what host-tools/python/x.txt names: the disk is full"
        for size in (2000, kib + 7000):
            build = self.folder / f"build-{size}"
            small_disk(self, build, f"{size}k")
            with self.subTest(size):
                self.assertEqual(self.install(SLATE_BUILD=str(build))[:2], (1, [why]))
                self.assertFalse((build / "venv-x").exists())

    def test_no_network(self) -> None:
        self.lists("a\n", a="x")
        status, said, stamp = self.install(PIP_NO_INDEX="", PIP_INDEX_URL="http://127.0.0.1:1/x", PIP_RETRIES="1")
        self.assertEqual(
            (status != 0, said[-1:], stamp),
            (True, ["slate: pip could not install what host-tools/python/x.txt names: is there a network?"], False),
        )


if __name__ == "__main__":
    unittest.main()

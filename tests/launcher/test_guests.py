# SPDX-License-Identifier: GPL-2.0-or-later
"""Test 'slate guests', 'slate guest make' and --guest, on a stand-in for build.sh."""

from __future__ import annotations

import fcntl
import io
import os
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor, TimeoutError
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

from support import ROOT

from archive import Archive
from slate_lib import cli, command, guests, options, ownkernel, paths
from slate_lib.cuts import campaign as campaigns
from slate_lib.cuts import command as cuts
from slate_lib.errors import SlateError

# Keeps the lock that it was called with; fails if there is a file "fail".
STAND_IN = """#!/bin/sh
out={folder}/guest/$SLATE_GUEST
cp "$out/lock" "{folder}/lock-$SLATE_GUEST"
echo "$@" >{folder}/words
[ ! -e {folder}/fail ] || exit 1
echo '{{"release": "13", "kernel": "6.12", "fio": "3.39-1"}}' >"$out/guest.json"
"""


# What a kernel's package has, at the least.
KERNEL = {"boot/vmlinuz-6": "k", "usr/lib/modules/6/modules.builtin": "\n", "usr/lib/modules/6/kernel/nvme.ko": "m"}


class Guests(unittest.TestCase):
    """Each test has a folder of guests."""

    def setUp(self) -> None:
        found = tempfile.TemporaryDirectory(prefix="slate-")
        self.addCleanup(found.cleanup)
        self.folder = Path(found.name)
        self.guests = self.folder / "guest"
        build = self.folder / "build.sh"
        build.write_text(STAND_IN.format(folder=self.folder), encoding="utf-8")
        build.chmod(0o755)
        for patch in (
            mock.patch.multiple(paths, BUILD=self.folder, GUESTS=self.guests, GUEST=self.guests / "13"),
            mock.patch.object(guests, "BUILD", build),
            mock.patch.dict(paths.KERNELS),
            mock.patch.dict(os.environ),
        ):
            patch.start()
            self.addCleanup(patch.stop)

    def slate(self, *words: Any) -> str:
        args = cli.parser().parse_args([str(word) for word in words])
        with redirect_stdout(io.StringIO()) as said:
            self.assertEqual(args.execute(args), 0)
        return said.getvalue()

    def refused(self, *words: Any) -> str:
        with self.assertRaises(SlateError) as caught:
            self.slate(*words)
        return str(caught.exception)

    def lock(self, name: str) -> str:
        """Return the lock that build.sh got."""
        return (self.folder / f"lock-{name}").read_text(encoding="utf-8")

    def test_what_build_is_asked_for(self) -> None:
        for words, name, lock in (
            (["forky"], "forky", "# release forky\n"),
            (["trixie"], "13", "# release trixie\n"),
            (["12", "--name", "old", "--kernel", "linux-image-rt-amd64", "--with", "sqlite3,python3"], "old",
             "# release 12\n# kernel linux-image-rt-amd64\n# with sqlite3 python3\n"),
        ):  # fmt: skip
            with self.subTest(words):
                self.slate("guest", "make", *words)
                self.assertEqual(self.lock(name), lock)

    def test_made_anew(self) -> None:
        """The plans of a lock stay; what was asked for besides does not, unless it is asked for again."""
        self.slate("guest", "make", "13", "--with", "a")
        with open(self.guests / "13" / "lock", "a", encoding="utf-8") as lock:
            lock.write("# build: gcc (all, trixie)\nbuild gcc 1 amd64 00 1 debian/gcc.deb\n")
        self.slate("guest", "make", "13", "--update")
        plan = "# build: gcc (all, trixie)\nbuild gcc 1 amd64 00 1 debian/gcc.deb\n"
        self.assertEqual(self.lock("13"), "# release 13\n" + plan)
        self.assertEqual((self.folder / "words").read_text(), "--update\n")

    def test_exactly_a_lock(self) -> None:
        file = self.folder / "kept"
        plan = "# build: gcc (all, trixie)\nbuild gcc 1 amd64 00 1 debian/gcc.deb\n"
        file.write_text("# with a\n# kernel k\n# release 13\n" + plan, encoding="utf-8")
        self.slate("guest", "make", "--lock", file, "--name", "again")
        self.assertEqual(self.lock("again"), "# release 13\n# with a\n# kernel k\n# exact\n" + plan)

    def test_a_lock_and_other_packages(self) -> None:
        """An exact lock decides, so other words beside it are refused; a file takes the place of its kernel."""
        file = self.folder / "kept"
        file.write_text("# release 13\n# with a\nbuild gcc 1 amd64 00 1 debian/gcc.deb\n", encoding="utf-8")
        for words, what in (
            (["12"], "RELEASE 12 with --lock"),
            (["--with", "b"], "--with b with --lock"),
            (["--kernel", "linux-image-rt-amd64"], "--kernel linux-image-rt-amd64 with --lock"),
        ):
            with self.subTest(words):
                said = self.refused("guest", "make", *words, "--lock", file, "--name", "x")
                self.assertTrue(said.startswith(what), said)
                self.assertIn("leave one of the two out", said)
                self.assertFalse(self.guests.exists())
        deb = Archive(self.folder / "archive").add("trixie", "linux-image-6", "1", KERNEL)
        self.slate("guest", "make", "trixie", "--lock", file, "--kernel", deb, "--name", "x")
        self.assertEqual(self.lock("x").splitlines()[:4],
                         ["# release trixie", "# with a", f"# kernel {deb}", "# exact"])  # fmt: skip

    def test_the_configuration_of_a_kernels_package(self) -> None:
        """Parts that every guest needs are named before anything is made. Some may be modules."""
        names = [need.config for need in ownkernel.ALWAYS]
        modular = ["BLK_DEV_NVME", "VIRTIO_PCI", "VIRTIO_BLK", "EXT4_FS"]
        good = "".join(f"CONFIG_{name}=y\n" for name in names) + "".join(f"CONFIG_{name}=m\n" for name in modular)
        archive = Archive(self.folder / "archive")
        for at, (lost, there) in enumerate((
            ("CONFIG_BLK_DEV_INITRD=y", "# CONFIG_BLK_DEV_INITRD is not set"),
            ("CONFIG_RD_LZ4=y", "CONFIG_RD_LZ4=m"),
            ("CONFIG_BLK_DEV_NVME=m\n", ""),
            ("CONFIG_VIRTIO_BLK=m\n", ""),
        )):  # fmt: skip
            with self.subTest(lost):
                config = {"boot/config-6": good.replace(lost, there), **KERNEL}
                deb = archive.add("trixie", "linux-image-6", f"{at}", config)
                name = lost.strip()[:-2]
                said = self.refused("guest", "make", "13", "--kernel", deb)
                self.assertIn(f"--kernel {deb}: it has no {name} (", said)
                self.assertIn(f"fix: scripts/config -e {name.removeprefix('CONFIG_')}; make olddefconfig;", said)
                self.assertFalse(self.guests.exists())
        deb = archive.add("trixie", "linux-image-6", "9", {"boot/config-6": good, **KERNEL})
        with redirect_stderr(io.StringIO()) as told:
            self.slate("guest", "make", "13", "--kernel", deb)
        self.assertEqual(told.getvalue(), "")
        self.assertEqual(self.lock("13"), f"# release 13\n# kernel {deb}\n")
        deb.write_bytes(deb.read_bytes()[:-2000])  # its head is whole
        self.assertIn("no Debian package, or a damaged one", self.refused("guest", "make", "13", "--kernel", deb))

    def test_a_kernel_in_several_packages(self) -> None:
        """As Debian's kernels of 7.2: all files are named together, and what is missing is said."""
        archive = Archive(self.folder / "archive")
        modules = "usr/lib/modules/7"
        parts = "kmod, linux-base (>= 4), linux-base-7 (= 1), linux-binary-7 (= 1), linux-modules-7 (= 1)"
        image = archive.add("trixie", "linux-image-7", "1", Depends=parts)
        config = "".join(f"CONFIG_{need.config}=y\n" for need in ownkernel.ALWAYS)
        files = {f"{modules}/modules.builtin": "\n", f"{modules}/config": config}
        base = archive.add("trixie", "linux-base-7", "1", files)
        binary = archive.add("trixie", "linux-binary-7", "1", {f"{modules}/vmlinuz": "k"}, Depends="linux-base-7 (= 1)")
        files = {f"{modules}/kernel/nvme.ko.xz": "m"}
        more = archive.add("trixie", "linux-modules-7", "1", files, Depends="kmod, linux-base-7")
        kernel = "has no kernel (boot/vmlinuz-* or usr/lib/modules/*/vmlinuz)"
        built_in = "list of what is built in (modules.builtin)"
        for debs, lacks, needs in (
            ([image], f"{kernel}, and no {built_in}, and no modules", "linux-base-7, linux-binary-7, linux-modules-7"),
            ([image, base], f"{kernel}, and no modules", "linux-binary-7, linux-modules-7"),
            ([image, base, binary], "has no modules", "linux-modules-7"),
            ([binary], f"has no {built_in}, and no modules", "linux-base-7"),
            ([binary, more], f"has no {built_in}", "linux-base-7"),
        ):
            with self.subTest(needs):
                words = ",".join(map(str, debs))
                said = self.refused("guest", "make", "13", "--kernel", words)
                self.assertEqual(said, f"--kernel {words}: {lacks}\n"
                                 f"  fix: name the files of {needs}, too: --kernel FILE.deb,FILE.deb")  # fmt: skip
                self.assertFalse(self.guests.exists())
        words = f"{base},{binary},{more}"
        self.assertIn("it has no CONFIG_BLK_DEV_NVME (", self.refused("guest", "make", "13", "--kernel", words))
        archive.add("trixie", "linux-base-7", "1", {f"{modules}/modules.builtin": "\n"})
        with redirect_stderr(io.StringIO()) as told:
            self.slate("guest", "make", "13", "--kernel", words)
        self.assertEqual(self.lock("13"), f"# release 13\n# kernel {words}\n")
        self.assertEqual(told.getvalue(), f"slate: --kernel {words}: no configuration was found (CONFIG_IKCONFIG, or a "
                         "file), so the kernel is not checked for what the guest needs\n")  # fmt: skip

    def test_help(self) -> None:
        for words, told in ((["guests"], ("--guest", "a star marks", "slate guest make forky")),
                            (["guest", "make"], ("linux-binary-7.deb",))):  # fmt: skip
            with redirect_stdout(io.StringIO()) as said, self.assertRaises(SystemExit):
                cli.parser().parse_args([*words, "--help"])
            for text in told:
                self.assertIn(text, said.getvalue())

    def test_a_release_that_comes(self) -> None:
        self.slate("guest", "make", "duke")
        self.assertEqual(self.lock("duke"), "# release duke\n")

    def test_list(self) -> None:
        self.assertEqual(self.slate("guests"), "no guest is made: run 'make guest'\n")
        self.slate("guest", "make", "13")
        self.slate("guest", "make", "forky")
        (self.guests / "forky" / "apps.img").write_bytes(bytes(3_000_000))
        self.assertEqual(
            self.slate("guests"),
            "guest  release  kernel  fio     MB  images\n"
            "13*    13       6.12    3.39-1  0   -\n"
            "forky  13       6.12    3.39-1  3   apps\n"
            "* the default of 'slate run'\n",
        )

    def test_a_guest_that_can_not_be_made(self) -> None:
        (self.folder / "fail").touch()
        self.assertEqual(self.refused("guest", "make", "forky").splitlines()[0], "the guest forky has not been made")
        self.assertEqual(list(self.guests.iterdir()), [])
        (self.folder / "fail").unlink()
        self.slate("guest", "make", "forky")
        (self.folder / "fail").touch()
        self.refused("guest", "make", "forky", "--with", "a")
        self.assertEqual((self.guests / "forky" / "lock").read_text(), "# release forky\n")
        self.assertEqual(guests.made(), ["forky"])
        self.assertTrue((ROOT / "host-tools/guest/build.sh").exists())

    def test_an_interrupted_guest(self) -> None:
        """Ctrl-C while build.sh runs, or no build.sh at all: what was there stays, what was not does not appear."""
        self.slate("guest", "make", "13")
        (self.guests / "bare").mkdir()
        for error in (KeyboardInterrupt, OSError):
            with mock.patch("subprocess.run", side_effect=error):
                for words in (["forky"], ["13", "--with", "a"], ["13", "--name", "bare"]):
                    with self.subTest(words, error=error), self.assertRaises(error):
                        self.slate("guest", "make", *words)
            self.assertEqual(sorted(path.name for path in self.guests.iterdir()), ["13", "bare"])
            self.assertEqual((self.guests / "13" / "lock").read_text(), "# release 13\n")
            self.assertEqual(list((self.guests / "bare").iterdir()), [])

    def test_bad_words(self) -> None:
        text = self.folder / "text"
        text.write_text("nothing\n", encoding="utf-8")
        deb = Archive(self.folder / "archive").add("trixie", "linux-image-6", "1", Architecture="arm64")
        damaged = self.folder / "damaged.deb"
        damaged.write_bytes(deb.read_bytes()[:100])
        for words, what in (
            (["11"], "11: no Debian release is called so"),
            (["Trixie"], "Trixie: no Debian release is called so"),
            (["forkyy"], "forkyy: no Debian release is called so; did you mean forky?"),
            (["trixi"], "trixi: no Debian release is called so; did you mean trixie?"),
            ([], "no release: no Debian release is called so"),
            (["13", "--name", "a/b"], "--name a/b: not a name for a guest"),
            (["--lock", text], f"--lock {text}: not a guest's lock"),
            (["--lock", self.folder / "none"], f"--lock {self.folder}/none: can not read it"),
            (["13", "--kernel", "none.deb"], "--kernel none.deb: there is no such file"),
            (["13", "--kernel", damaged], f"--kernel {damaged}: no Debian package, or a damaged one"),
            (["13", "--kernel", deb], f"--kernel {deb}: a kernel for arm64"),
            (["13", "--kernel", "x86/boot/bzImage"], "--kernel x86/boot/bzImage: neither a package's name nor its"),
            (["13", "--kernel", ""], "--kernel : neither a package's name nor"),
            (["13", "--with", "python3,SQLite"], "--with python3,SQLite: 'SQLite' is no name of a package"),
            (["13", "--with=-oa=b"], "--with -oa=b: '-oa=b' is no name of a package"),
            (["13", "--with", ","], "--with ,: '' is no name of a package"),
        ):
            with self.subTest(words):
                self.assertIn(what, self.refused("guest", "make", *words))
                self.assertFalse(self.guests.exists())

    def test_one_build_at_a_time(self) -> None:
        """The guest's lock file changes only while the lock of builds is held; build.sh inherits that (take_lock())."""
        cache, lib = self.folder / "guest-cache", ROOT / "host-tools/guest/lib.sh"
        script = f"""#!/bin/bash
            who=guest here={ROOT}/host-tools/guest package_list=/dev/null
            . {lib}
            out={self.guests}/$SLATE_GUEST cache={cache} log_dir={self.folder}/log
            take_lock && echo took >{self.folder}/words
            flock -n {cache}/.lock true || echo locked >>{self.folder}/words
            touch $out/guest.json
        """
        guests.BUILD.write_text(script, encoding="utf-8")
        cache.mkdir()
        with open(cache / ".lock", "wb") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            with ThreadPoolExecutor() as pool:
                made = pool.submit(guests.make, cli.parser().parse_args(["guest", "make", "forky"]))
                with self.assertRaises(TimeoutError):
                    made.result(timeout=0.2)
                self.assertFalse((self.guests / "forky").exists())
                fcntl.flock(other, fcntl.LOCK_UN)
                self.assertEqual(made.result(), 0)
        self.assertEqual((self.folder / "words").read_text(), "took\nlocked\n")
        with open(cache / ".lock", "wb") as other:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def test_cuts_of_another_guest(self) -> None:
        self.slate("guest", "make", "forky")
        args = cli.parser().parse_args(["cuts", "--guest", "forky", "--kernel", "debian"])
        with mock.patch.object(command, "check_built"), mock.patch.object(paths, "guest_program"):
            campaign = cuts.campaign_of(args, self.folder)
        self.assertEqual(paths.kernel("debian"), self.guests / "forky" / "vmlinux")
        self.assertEqual(campaigns.header(campaign)["guest"], "forky")

    def test_a_run_of_another_guest(self) -> None:
        self.slate("guest", "make", "forky")
        parser = cli.parser()
        options.from_arguments(parser.parse_args(["run", "--guest", "forky"]))
        self.assertEqual(paths.kernel("debian"), self.guests / "forky" / "vmlinux")
        self.assertEqual(paths.archives("small"), [self.guests / "forky" / "root.lz4"])
        self.assertEqual(os.environ["SLATE_GUEST"], "forky")
        with self.assertRaises(SlateError) as caught:
            options.from_arguments(parser.parse_args(["run", "--guest", "forty"]))
        self.assertIn("--guest forty: there is no such guest; did you mean forky?", str(caught.exception))


if __name__ == "__main__":
    unittest.main()

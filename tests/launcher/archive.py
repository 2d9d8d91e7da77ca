# SPDX-License-Identifier: GPL-2.0-or-later
"""Make a small Debian archive in a folder, for tests of what is fetched from one (host-tools/debian.sh)."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

PATCH = "--- /dev/null\n+++ b/PATCHED\n@@ -0,0 +1 @@\n+by Debian\n"


def codename() -> str:
    """Return the host's own release, whose entry in sources.list says where the archive is."""
    found = re.search(r"(?m)^VERSION_CODENAME=(\w+)$", Path("/etc/os-release").read_text(encoding="utf-8"))
    return found[1] if found else "sid"


class Archive:
    """Holds a pool of packages, and the lists of each suite. Lists name files whether or not the pool has them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.packages: dict[str, list[str]] = {}
        self.sources: dict[str, list[str]] = {}
        self.contents: dict[str, str] = {}  # the list of all files of a suite's packages
        self.time = 1_700_000_000  # of the lists

    def etc(self) -> Path:
        """Return a folder in place of /etc/apt that names this archive."""
        folder = self.folder / "etc"
        (folder / "sources.list.d").mkdir(parents=True, exist_ok=True)
        line = f"deb [trusted=yes] file:{self.folder} {codename()} main\n"
        (folder / "sources.list").write_text(line, encoding="utf-8")
        return folder

    def suite(self, name: str) -> None:
        self.packages.setdefault(name, [])
        self.sources.setdefault(name, [])

    def add(self, suite: str, name: str, version: str, files: dict[str, str] | None = None, **fields: str) -> Path:
        """Add a package; return its file in the pool. Fields: Depends, Section, Source, ..."""
        self.suite(suite)
        control = {"Package": name, "Version": version, "Architecture": "amd64", "Maintainer": "a <a@example.com>",
                   "Description": name} | fields  # fmt: skip
        with tempfile.TemporaryDirectory() as work:
            tree = Path(work, "tree")
            (tree / "DEBIAN").mkdir(parents=True)
            paragraph = "".join(f"{key}: {value}\n" for key, value in control.items())
            (tree / "DEBIAN" / "control").write_text(paragraph, encoding="utf-8")
            for path, text in (files or {}).items():
                (tree / path).parent.mkdir(parents=True, exist_ok=True)
                (tree / path).write_text(text, encoding="utf-8")
                (tree / path).chmod(0o755)
            deb = Path(work, "a.deb")
            subprocess.run(["dpkg-deb", "-Znone", "--root-owner-group", "--build", tree, deb], check=True,
                           stdout=subprocess.DEVNULL)  # fmt: skip
            to = self._pool(name, f"{name}_{version.partition(':')[2] or version}_amd64.deb")
            shutil.copy(deb, to)
        self.packages[suite].append(f"{paragraph}{self._listed(to)}")
        return to

    def add_source(
        self, suite: str, name: str, version: str, text: str = "", files: dict[str, str] | None = None
    ) -> list[Path]:
        """Add a source package of files and a README; return its own files: .dsc, tarball, patches, signature."""
        self.suite(suite)
        plain = version.rpartition(":")[2]
        upstream = plain.rpartition("-")[0]
        with tempfile.TemporaryDirectory() as work:
            tree = Path(work, f"{name}-{upstream}")
            tree.mkdir()
            for path, content in ({"README": text or f"{name} {version}\n"} | (files or {})).items():
                (tree / path).parent.mkdir(parents=True, exist_ok=True)
                (tree / path).write_text(content, encoding="utf-8")
            names = [f"{name}_{upstream}.orig.tar.gz", f"{name}_{plain}.debian.tar.gz"]
            subprocess.run(["tar", "-C", work, "-czf", Path(work, names[0]), tree.name], check=True)
            (Path(work, "debian")).mkdir()
            Path(work, "debian", "changelog").write_text(f"{name} ({version}) x; urgency=low\n", encoding="utf-8")
            Path(work, "debian", "patches").mkdir()
            Path(work, "debian", "patches", "series").write_text("# first\none.patch\n", encoding="utf-8")
            Path(work, "debian", "patches", "one.patch").write_text(PATCH, encoding="utf-8")
            subprocess.run(["tar", "-C", work, "-czf", Path(work, names[1]), "debian"], check=True)
            names.append(names[0] + ".asc")
            Path(work, names[2]).write_text("signature\n", encoding="utf-8")
            sums = "".join(f" {_sha256(Path(work, n))} {Path(work, n).stat().st_size} {n}\n" for n in names)
            md5 = "".join(f" {'0' * 32} {Path(work, n).stat().st_size} {n}\n" for n in names)
            dsc = (f"Format: 3.0 (quilt)\nSource: {name}\nBinary: {name}\nArchitecture: any\nVersion: {version}\n"
                   f"Maintainer: a <a@example.com>\nChecksums-Sha256:\n{sums}Files:\n{md5}")  # fmt: skip
            dsc_name = f"{name}_{plain}.dsc"
            Path(work, dsc_name).write_text(dsc, encoding="utf-8")
            made = [self._pool(name, n) for n in (dsc_name, *names)]
            for file in made:
                shutil.copy(Path(work, file.name), file)
        rest = dsc.partition("Checksums-Sha256:\n")[0].replace("Source:", "Package:")
        lines = "".join(f" {_sha256(file)} {file.stat().st_size} {file.name}\n" for file in made)
        where = made[0].parent.relative_to(self.folder)
        sums = f"Checksums-Sha256:\n{lines}Files:\n{lines.replace(lines.split()[0], '0' * 32)}"
        self.sources[suite].append(f"{rest}Directory: {where}\n{sums}")
        return made

    def write(self) -> None:
        """Write the lists of all suites, each time a second newer, so that apt sees that they are others."""
        self.time += 1
        for suite in self.packages:
            root = self.folder / "dists" / suite
            for path, items in (("main/binary-amd64/Packages", self.packages[suite]),
                                ("main/source/Sources", self.sources[suite])):  # fmt: skip
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text("\n".join(items), encoding="utf-8")
            names = ["main/binary-amd64/Packages", "main/source/Sources"]
            if suite in self.contents:
                names.append("main/Contents-amd64")
                (root / names[-1]).write_text(self.contents[suite], encoding="utf-8")
            sums = "".join(f" {_sha256(root / n)} {(root / n).stat().st_size} {n}\n" for n in names)
            (root / "Release").write_text(
                f"Origin: Debian\nSuite: {suite}\nCodename: {suite}\nDate: Sat, 28 Nov 2026 00:00:00 UTC\n"
                f"Architectures: amd64\nComponents: main\nSHA256:\n{sums}", encoding="utf-8")  # fmt: skip
            for listed in (*(root / n for n in names), root / "Release"):
                os.utime(listed, (self.time, self.time))

    def _pool(self, name: str, file: str) -> Path:
        folder = self.folder / "pool" / "main" / name[0] / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder / file

    def _listed(self, file: Path) -> str:
        return f"Filename: {file.relative_to(self.folder)}\nSize: {file.stat().st_size}\nSHA256: {_sha256(file)}\n"


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def small_disk(test: unittest.TestCase, folder: Path, size: str) -> None:
    """Mount a file system of this size on a folder until the test ends."""
    folder.mkdir(parents=True, exist_ok=True)
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        test.skipTest("can not mount here")
    test.addCleanup(lambda: subprocess.run(["umount", "-l", folder], check=False))


class ArchiveCase(unittest.TestCase):
    """Each test has an archive, a cache and a lock of its own."""

    suites: tuple[str, ...] = ("trixie",)

    def setUp(self) -> None:
        found = tempfile.TemporaryDirectory(prefix="slate-")
        self.addCleanup(found.cleanup)
        self.folder = Path(found.name)
        (self.folder / "apt.conf").write_text('Acquire::Retries::Delay "false";', encoding="ascii")
        self.archive = Archive(self.folder / "archive")
        for suite in self.suites:
            self.archive.suite(suite)

    def bash(self, script: str, fresh: bool = True) -> tuple[int, str, str]:
        """Run a script that has the archive; return status, notes, and all output. fresh: lists may be renewed."""
        self.archive.write()
        if fresh:
            for path in (self.folder / "cache" / "slate").glob("apt-*/.lock"):
                path.unlink()
        done = subprocess.run(
            ["bash", "-c", script],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DIR": str(self.folder),
                 "APT_CONFIG": str(self.folder / "apt.conf"), "XDG_CACHE_HOME": str(self.folder / "cache"),
                 "SLATE_ETC_APT": str(self.archive.etc())},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=200, check=False,
        )  # fmt: skip
        notes = self.folder / "notes"
        return done.returncode, notes.read_text(encoding="utf-8") if notes.exists() else "", done.stdout

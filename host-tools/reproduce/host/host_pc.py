# SPDX-License-Identifier: GPL-2.0-or-later
"""pc: a desktop. Packages are unpacked by dpkg, a source package is built, and an office suite works on documents.

A round unpacks a third of the downloaded packages into a tree of its own (dpkg --unpack, with its fsyncs; the last
two trees stay), changes and builds a source package by dpkg-buildpackage (trees and results of the last three builds
stay), and edits documents and spreadsheets, which LibreOffice saves as ODF, Microsoft's formats and PDF, with its
profile on the drive. The unpacked packages have no maintainer scripts: these would run as root on this machine.
Packages come from the Debian archive as it is on the day of the recording; the words and numbers of the documents are
made here by the seed. Files of LibreOffice and dpkg hold times.
"""

from __future__ import annotations

import csv
import random
import shutil
from pathlib import Path

from reproduce.host.host import DRIVE, SCRATCH, generator, more, run, say, words
from reproduce.places import ROOT

PACKAGES = """coreutils binutils-common libbinutils binutils-x86-64-linux-gnu libpython3.11-minimal libpython3.11-stdlib
groff-base nano curl libgnutls30 fonts-dejavu-core git git-doc perl-modules-5.36 vim-runtime debian-policy
debian-reference-en gcc-12 cpp-12 libicu72 gimp-data openssl""".split()
SOURCE = "tree"
DOCUMENTS, SHEETS = 24, 8
BUILDS, TREES = 3, 2
SCRIPTS = ("preinst", "postinst", "prerm", "postrm", "config")
# The packages are of Debian 12, whatever the host is, and apt's state is that of the guests' build.
RELEASE = "bookworm"
FETCH = """say() { echo "pc: $*"; }
die() { say "$*" >&2; exit 1; }
. "$tools/debian.sh"
release_init "$release"
update_lists
apt-get "${apt_options[@]}" -q source --download-only "$1"
shift
apt-get "${apt_options[@]}" -q download "$@"
"""
TOOLS = ROOT / "host-tools"


def download() -> tuple[list[Path], Path]:
    """Fetch packages and the source package, before the recording begins. Return the packages and the .dsc file."""
    folder = SCRATCH / "archive"
    folder.mkdir(parents=True)
    env = {"tools": str(TOOLS), "release": RELEASE, "build": str(TOOLS.parent / "build")}
    run("bash", "-euo", "pipefail", "-c", FETCH, "pc", SOURCE, *PACKAGES, cwd=folder, env=env)
    return [without_scripts(deb) for deb in sorted(folder.glob("*.deb"))], next(iter(folder.glob("*.dsc")))


def without_scripts(deb: Path) -> Path:
    """Take the maintainer scripts out of a package."""
    tree = deb.with_suffix(".tree")
    run("dpkg-deb", "--raw-extract", deb, tree)
    for name in SCRIPTS:
        (tree / "DEBIAN" / name).unlink(missing_ok=True)
    run("dpkg-deb", "-Zgzip", "-z1", "--build", tree, deb)
    shutil.rmtree(tree)
    return deb


def unpack(debs: list[Path], number: int) -> None:
    """Unpack packages into a new tree, as an upgrade of a part of the system does."""
    tree = DRIVE / f"root{number:04d}"
    (tree / "var/lib/dpkg/updates").mkdir(parents=True)
    (tree / "var/lib/dpkg/info").mkdir()
    for name in ("status", "available"):
        (tree / "var/lib/dpkg" / name).touch()
    run("dpkg", f"--root={tree}", "--force-depends", "--force-not-root", "--no-triggers", "--log=/dev/null",
        "--unpack", *debs)  # fmt: skip
    shutil.rmtree(DRIVE / f"root{number - TREES:04d}", ignore_errors=True)


def build(rng: random.Random, source: Path, number: int) -> None:
    """Unpack the source package, change a file, and build binary packages."""
    folder = DRIVE / f"build{number:04d}"
    folder.mkdir()
    run("dpkg-source", "--no-check", "-x", source, folder / "tree", cwd=folder)
    for path in rng.sample(sorted((folder / "tree").glob("*.c")), 3):
        path.write_bytes(path.read_bytes() + b"/* %x */\n" % rng.getrandbits(64))
    run("dpkg-buildpackage", "-b", "-uc", "-us", "-d", cwd=folder / "tree", env={"DEB_BUILD_OPTIONS": "nocheck"})
    shutil.rmtree(DRIVE / f"build{number - BUILDS:04d}", ignore_errors=True)


class Office:
    """Makes documents as text and tables, and works on them with LibreOffice."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.texts = [[words(rng, rng.randint(30, 120)) for _ in range(rng.randint(40, 400))] for _ in range(DOCUMENTS)]
        self.tables = [[[rng.randrange(10**6) / 100 for _ in range(12)] for _ in range(1500)] for _ in range(SHEETS)]
        self.folder = DRIVE / "home/documents"
        self.folder.mkdir(parents=True)

    def edit(self) -> list[Path]:
        """Change a third of the documents. Return their sources."""
        rng, made = self.rng, []
        for number in rng.sample(range(DOCUMENTS), DOCUMENTS // 3):
            text = self.texts[number]
            for _ in range(rng.randint(1, 5)):
                text[rng.randrange(len(text))] = words(rng, rng.randint(30, 120))
            text.insert(rng.randrange(len(text)), words(rng, 60))
            path = self.folder / f"report{number:02d}.html"
            path.write_text("<html><body>" + "".join(f"<p>{part}</p>\n" for part in text) + "</body></html>", "ascii")
            made.append(path)
        for number in rng.sample(range(SHEETS), SHEETS // 3):
            table = self.tables[number]
            for _ in range(50):
                table[rng.randrange(len(table))][rng.randrange(12)] = rng.randrange(10**6) / 100
            path = self.folder / f"table{number:02d}.csv"
            with path.open("w", newline="", encoding="ascii") as file:
                csv.writer(file).writerows(table)
            made.append(path)
        return made

    def save(self, kind: str, files: list[Path]) -> None:
        """Have LibreOffice load files and save them in a format."""
        if files:
            run("soffice", f"-env:UserInstallation=file://{DRIVE}/home/profile", "--headless", "--convert-to", kind,
                "--outdir", self.folder, *files, env={"HOME": str(DRIVE / "home")})  # fmt: skip

    def work(self) -> None:
        """Edit, save and export documents."""
        files = self.edit()
        texts, tables = ([file for file in files if file.suffix == suffix] for suffix in (".html", ".csv"))
        self.save("odt:writer8", texts)
        self.save("ods", tables)
        self.save("docx", [file.with_suffix(".odt") for file in texts])
        self.save("pdf", [file.with_suffix(".odt") for file in texts])
        self.save("xlsx", [file.with_suffix(".ods") for file in tables])


def main(_: list[str]) -> int:
    """Run rounds until enough was written."""
    rng = generator("pc")
    debs, source = download()
    office = Office(rng)
    number = 0
    while more():
        unpack(rng.sample(debs, len(debs) // 3), number)
        office.work()
        build(rng, source, number)
        number += 1
        say(f"round {number}")
    return 0

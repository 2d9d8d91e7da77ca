# SPDX-License-Identifier: GPL-2.0-or-later
"""pc: a desktop. Packages are installed, documents collected and edited, packages installed again."""

import os
import random
import shutil
from pathlib import Path

from workload import CORPUS, DRIVE, edit, generator, pages, run, save, say, scaled

ROOT = DRIVE / "root"
DPKG = (
    "dpkg", f"--root={ROOT}", "--force-depends", "--force-bad-path", "--no-triggers", "--log=/dev/null", "--unpack",
)  # fmt: skip


def install(debs: list[Path]) -> None:
    """Install packages. dpkg makes every file durable, as on a real machine; packages are not configured."""
    for deb in debs:
        say(f"install {deb.name}")
        run(*DPKG, deb)
    os.sync()


def without_scripts(debs: list[Path]) -> list[Path]:
    """Return the installed packages that can be replaced without running their scripts."""
    info = ROOT / "var/lib/dpkg/info"
    scripts = [path.stem.partition(":")[0] for path in sorted(info.iterdir()) if path.suffix in (".prerm", ".postrm")]
    return [deb for deb in debs if deb.name.partition("_")[0] not in scripts]


def documents(rng: random.Random) -> list[Path]:
    """Make a home directory with every third page of the corpus, unchanged."""
    home = DRIVE / "home" / "documents"
    home.mkdir(parents=True)
    found = []
    for number, page in enumerate(pages()[::3]):
        path = home / f"{number:03d}-{page.name}"
        shutil.copyfile(page, path)
        found.append(path)
    os.sync()
    return found


def work(rng: random.Random, found: list[Path], count: int) -> None:
    """Save documents as an editor does; every tenth save also keeps the old version."""
    for number in range(count):
        path = found[min(int(rng.expovariate(8) * len(found)), len(found) - 1)]
        other = rng.choice(found).read_bytes().splitlines(keepends=True)
        lines = path.read_bytes().splitlines(keepends=True)
        for _ in range(rng.randint(1, 4)):
            edit(rng, lines, other)
        if number % 10 == 9:
            shutil.copyfile(path, f"{path}.{number}~")
        save(path, b"".join(lines))
    os.sync()


def main() -> None:
    for folder in ("info", "updates", "triggers"):
        (ROOT / "var/lib/dpkg" / folder).mkdir(parents=True)
    (ROOT / "var/lib/dpkg/status").touch()
    debs = sorted((CORPUS / "debs").glob("*.deb"))
    install(debs)
    again = without_scripts(debs)
    rng = generator("pc")
    found = documents(rng)
    say(f"{len(found)} documents")
    for _ in range(scaled(4)):
        work(rng, found, 250)
        install(rng.sample(again, 2))


main()

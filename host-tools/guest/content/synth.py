# SPDX-License-Identifier: GPL-2.0-or-later
"""synth: a developer. Sources are unpacked, patched, compiled, changed, and committed to git."""

import os
import random
import shutil
from pathlib import Path

from workload import CORPUS, DRIVE, generator, run, say, scaled

TREES = ("lua5.4", "zlib")
GIT = {
    **os.environ,
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
}  # fmt: skip
SETTINGS = ("gc.auto=0", "pack.threads=1", "core.fsync=committed", "core.untrackedCache=false")


def git(tree: Path, *words: str) -> None:
    run("git", *(part for word in SETTINGS for part in ("-c", word)), *words, cwd=tree, env=GIT)


def commit(tree: Path, text: str) -> None:
    git(tree, "add", "-A", ".")
    git(tree, "commit", "-q", "--allow-empty", "-m", text)


def unpack(name: str) -> Path:
    """Unpack the upstream release and apply Debian's patches; each is a commit."""
    tree = DRIVE / name
    tree.mkdir()
    run("tar", "-x", "--strip-components=1", "--no-same-owner", "-f", CORPUS / "src" / f"{name}.tar", "-C", tree)
    git(tree, "init", "-q")
    (tree / ".gitignore").write_text("*.o\n*.a\n/debian\n/bin\n")
    commit(tree, "upstream")
    run("tar", "-x", "--no-same-owner", "-f", CORPUS / "src" / f"{name}.debian.tar", "-C", tree)
    series = (tree / "debian/patches/series").read_text().split("\n")
    for patch in (line.split()[0] for line in series if line.strip() and not line.startswith("#")):
        run("patch", "-p1", "-f", "-s", "-i", tree / "debian/patches" / patch, cwd=tree)
        commit(tree, patch)
    if name.startswith("lua"):  # which Debian's rules make
        (tree / "src/lua5.4-deb-multiarch.h").write_text('#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"\n')
    return tree


def sources(tree: Path) -> list[Path]:
    """Return the C files, without test programs and parts for other systems."""
    folder = tree / "src" if (tree / "src").is_dir() else tree
    return sorted(folder.glob("*.c"))


def compile_all(tree: Path, files: list[Path]) -> None:
    """Compile all sources to object files beside them, and make a library of these."""
    for file in files:
        run(
            "gcc", "-g", "-O0", "-DHAVE_UNISTD_H", "-D_GNU_SOURCE", "-I", tree, "-c", file, "-o", file.with_suffix(".o")
        )
    objects = sorted(path for path in sources(tree)[0].parent.glob("*.o"))
    library = tree / "all.a"
    library.unlink(missing_ok=True)
    run("ar", "rcsD", library, *objects)


def change(rng: random.Random, tree: Path) -> list[Path]:
    """Change a few files by adding comments, so that the code still compiles."""
    files = rng.sample(sources(tree), 3)
    for file in files:
        lines = file.read_bytes().splitlines(keepends=True)
        notes = [b"/* " + bytes(rng.choices(b"abcdefgh ", k=rng.randint(10, 60))) + b" */\n" for _ in range(5)]
        for _ in range(rng.randint(1, 4)):
            lines[0:0] = notes[: rng.randint(1, 5)]
        file.write_bytes(b"".join(lines))
    return files


def main() -> None:
    rng = generator("synth")
    trees = []
    for name in TREES:
        say(f"unpack {name}")
        trees.append(unpack(name))
        say(f"compile {name}")
        compile_all(trees[-1], sources(trees[-1]))
    os.sync()
    for number in range(scaled(3)):
        say(f"round {number + 1}")
        for tree in trees:
            for step in range(2):
                compile_all(tree, change(rng, tree))
                commit(tree, f"round {number} {step}")
            # a release: a copy of the tree, and an archive
            release = DRIVE / f"{tree.name}-{number}"
            shutil.copytree(tree, release, ignore=shutil.ignore_patterns(".git"))
            run("tar", "-c", "--sort=name", "-f", DRIVE / f"{tree.name}-{number}.tar", "-C", DRIVE, release.name)
        os.sync()
    for tree in trees:
        git(tree, "repack", "-q", "-a", "-d")
        git(tree, "fsck", "--full")
    os.sync()


main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""The patches agree with the files in qemu-patches/src."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATCHES = ROOT / "qemu-patches"
DRIVER = "0019-block-add-nand-ssd-an-emulated-NAND-SSD.patch"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "slate/files"
# The tarballs of the other bases, by which the cache of Debian's files keeps them.
TARBALLS = {"10.2": "be05230fe47a6937cd29f28f562932c8125f9c93c2a82c625198f7a4aa601dfb"}
TOUCHED = re.compile(r"^\+\+\+ b/(\S+)", re.MULTILINE)


def names(base: str = ".") -> list[str]:
    """Return the patches of a base, in their order."""
    lines = (PATCHES / base / "series").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def contents(folder: Path) -> dict[str, bytes]:
    """Return what is in the files of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def run(*words: str | Path, cwd: str | Path | None = None) -> str:
    """Run a command, which must succeed; return what it printed."""
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{words}: status {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def git(tree: Path, *words: str | Path) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@b.example", "-c", "gc.auto=0")
    return run("git", *who, *words, cwd=tree)


def make_series(folder: str, version: str = "10.0") -> tuple[list[Path], list[str]]:
    """Write the whole series into a folder; return its files, and the names of those that they touch."""
    run(PATCHES / "make-patches.sh", folder, version)
    files = sorted(Path(folder).iterdir())
    return files, sorted({name for file in files for name in TOUCHED.findall(file.read_text(encoding="utf-8"))})


def copy_files(source: Path, tree: Path, touched: list[str]) -> None:
    for name in [*touched, ".gitattributes", "VERSION"]:
        if (source / name).exists():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source / name, tree / name)


def commit_series(tree: Path, files: list[Path]) -> None:
    """Make a git tree of upstream's files, with each patch as a commit behind the tag base."""
    git(tree, "init", "-q")
    git(tree, "add", "-A", "-f")
    git(tree, "commit", "-q", "-m", "upstream")
    git(tree, "tag", "base")
    git(tree, "am", "-q", "--whitespace=nowarn", *files)


class FromTree(unittest.TestCase):
    """from-tree.sh, on a git tree of the files that a patch touches."""

    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory(prefix="slate-patches-")
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.tree = self.folder / "tree"
        files, touched = make_series(f"{self.folder}/series")
        copy_files(ROOT / "build/qemu-src", self.tree, touched)
        run("git", "apply", "-R", "--whitespace=nowarn", *reversed(files), cwd=self.tree)
        commit_series(self.tree, files)

    def copy(self) -> Path:
        """Return a copy of qemu-patches, in a folder with what schema.sh reads."""
        root = Path(tempfile.mkdtemp(dir=self.folder))
        shutil.copytree(PATCHES, root / "qemu-patches")
        for name in ("ftl", "nand-emu"):
            (root / name).symlink_to(ROOT / name)
        return root / "qemu-patches"

    def from_tree(self, patches: Path, *words: str | Path) -> tuple[int, str]:
        done = subprocess.run(
            [str(patches / "from-tree.sh"), *map(str, words)], capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    def refused(self, said: str, *words: str | Path) -> None:
        """from-tree.sh says so, and changes nothing."""
        patches = self.copy()
        before = contents(patches)
        status, output = self.from_tree(patches, *(words or [self.tree]))
        self.assertEqual((status, contents(patches) == before), (1, True), output)
        self.assertIn(f"from-tree.sh: {said}", output)

    def test_there_and_back(self) -> None:
        """from-tree.sh makes the files of which make-patches.sh made the series, to the byte."""
        patches = self.copy()
        for name in ("src/block/nand-ssd.c", "src/include/block/nand-ssd.h", names()[3], names()[-1]):
            (patches / name).unlink()
        for name in ("src/block/old.c", "0099-old.patch"):
            (patches / name).write_text("old\n", encoding="ascii")
        status, output = self.from_tree(patches, self.tree)
        self.assertEqual((status, output), (0, f"{len(names())} patches, 11 files of the driver\n"))
        self.assertEqual(contents(patches), contents(PATCHES))

    def test_the_other_bases(self) -> None:
        """git am applies each base's series to its source, and from-tree.sh makes of it what that folder has."""
        found = {path.parent.name for path in PATCHES.glob("*/series")}
        self.assertEqual(found, set(TARBALLS))
        for base, digest in TARBALLS.items():
            tarball = CACHE / digest
            if not tarball.exists():
                self.skipTest(f"the source of QEMU {base} is not in the cache: QEMU_VERSION={base} make qemu")
            files, touched = make_series(f"{self.folder}/{base}", base)
            self.assertEqual([file.name for file in files], names(base))
            source, tree = self.folder / f"source-{base}", self.folder / f"tree-{base}"
            source.mkdir()
            wanted = [f"*/{name}" for name in [*touched, ".gitattributes", "VERSION"]]
            subprocess.run(  # a file that a patch adds is not in it
                ["tar", "-C", source, "--strip-components=1", "--wildcards", "-xf", tarball, *wanted],
                stderr=subprocess.DEVNULL, check=False,
            )  # fmt: skip
            copy_files(source, tree, touched)
            commit_series(tree, files)
            copy_files(source, self.folder / f"patched-{base}", touched)
            for file in files:  # as build.sh does; git am also takes hunks in another order
                run("patch", "-p1", "--forward", "--no-backup-if-mismatch", "--reject-file=-", "-i", file,
                    cwd=self.folder / f"patched-{base}")  # fmt: skip
            for name in touched:
                patched = self.folder / f"patched-{base}" / name
                self.assertEqual(patched.read_bytes(), (tree / name).read_bytes(), name)
            patches = self.copy()
            (patches / base / names()[1]).unlink()
            (patches / base / names()[4]).write_text("old\n", encoding="ascii")
            status, output = self.from_tree(patches, tree)
            count = len(list((PATCHES / base).glob("*.patch")))
            self.assertEqual((status, output), (0, f"{len(names(base))} patches, {count} of them in {base}\n"))
            self.assertEqual(contents(patches), contents(PATCHES))

    def test_what_is_no_series(self) -> None:
        """A tree that has no series in it is refused, and qemu-patches stays."""
        self.refused(f"{self.folder} is not a git tree", self.folder)
        self.refused(f"{self.tree} has no commit 'v1'", self.tree, "v1")
        self.refused("0 commits of HEAD..HEAD add block/nand-ssd.c", self.tree, "HEAD")
        head = git(self.tree, "rev-parse", "HEAD").strip()
        try:
            driver = self.tree / "block/nand-ssd.c"
            driver.write_text(driver.read_text(encoding="utf-8") + "/* more */\n", encoding="utf-8")
            self.refused(f"{self.tree} has changes that are in no commit")
            git(self.tree, "commit", "-q", "-a", "-m", "block: more")
            self.refused("the driver's files are in src/ once")
            git(self.tree, "reset", "-q", "--hard", head)
            schema = self.tree / "qapi/nand-ssd-counters.json"
            schema.write_text("# mine\n", encoding="ascii")
            git(self.tree, "commit", "-q", "-a", "-m", "qapi: mine")
            self.refused("the driver's files are in src/ once")
        finally:
            git(self.tree, "reset", "-q", "--hard", head)


class Patches(unittest.TestCase):
    """The files of qemu-patches."""

    def test_the_series_alone_makes_the_tree(self) -> None:
        """The series has the driver's files, and each file that a patch or build.sh changes is as it was built."""
        if not (ROOT / "build/apt/qemu.plan").exists():
            self.skipTest("QEMU was built from a tarball of the user's own")
        with tempfile.TemporaryDirectory() as folder:
            files, touched = make_series(f"{folder}/series")
            self.assertEqual([file.name for file in files], names())
            self.assertIn("block/nand-ssd.c", touched)
            tree = Path(folder, "tree")
            run(PATCHES / "build.sh", "--source", f"{folder}/qemu")
            copy_files(Path(folder, "qemu"), tree, touched)
            commit_series(tree, files)
            for name in touched:
                built = ROOT / "build/qemu-src" / name
                self.assertEqual((tree / name).read_bytes(), built.read_bytes(), name)

    def test_qemus_own_style(self) -> None:
        """Run checkpatch.pl, and ignore its false reports."""
        known = ("does MAINTAINERS need updating", "GRAPH_RDLOCK nvme_nand_ssd(", "FILE: scripts/meson-buildoptions.sh")
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([str(PATCHES / "make-patches.sh"), folder], check=True)
            for name in names():
                done = subprocess.run(
                    ["perl", "scripts/checkpatch.pl", "--no-tree", "--quiet", "--no-summary", f"{folder}/{name}"],
                    cwd=ROOT / "build/qemu-src", capture_output=True, text=True, check=False,
                )
                texts = done.stdout.split("\n\n")
                found = [text for text in texts if re.search("^(ERROR|WARNING)", text, re.MULTILINE)]
                self.assertEqual([text for text in found if not any(word in text for word in known)], [], name)

    def test_series_names_every_patch(self) -> None:
        self.assertEqual(names(), sorted(p.name for p in PATCHES.glob("*.patch")))
        self.assertEqual([int(name[:4]) for name in names()], list(range(1, len(names()) + 1)))

    def test_a_base_has_only_patches_of_the_first(self) -> None:
        """Another base may lack patches that upstream made needless; it has none of its own, and none without need."""
        for base in TARBALLS:
            rest = iter(names())
            self.assertEqual([name for name in names(base) if name not in rest], [], "in the order of the first")
            for patch in (PATCHES / base).glob("*.patch"):
                self.assertIn(patch.name, names(base))
                self.assertNotEqual(patch.read_bytes(), (PATCHES / patch.name).read_bytes())

    def test_the_first_patches_stand_alone(self) -> None:
        """The first patches do not depend on Slate: they are for any NVMe controller."""
        for name in names()[: names().index(DRIVER)]:
            self.assertNotIn("nand-ssd", (PATCHES / name).read_text(encoding="utf-8"), name)

    def test_the_driver_uses_no_name_of_later_patches(self) -> None:
        """The driver's files come with their patch, so what they use of QEMU's headers must be there by then."""
        source = "".join(path.read_text(encoding="utf-8") for path in (PATCHES / "src").rglob("*.[ch]"))
        for name in names()[names().index(DRIVER) + 1 :]:
            parts = re.split(r"(?m)^diff --git ", (PATCHES / name).read_text(encoding="utf-8"))
            added = "".join(part for part in parts if part.startswith("a/include/"))
            for defined in re.findall(r"(?m)^\+(?:#define\s+|\s+)([A-Z][A-Z0-9_]+)\b", added):
                self.assertNotRegex(source, rf"\b{defined}\b", name)

    def test_a_path_that_qemu_can_not_be_built_in(self) -> None:
        """The path is refused at once. QEMU's configure would refuse it only after fetching and unpacking."""
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a b", "a:b"):
                script = Path(folder) / name / "qemu-patches" / "build.sh"
                script.parent.mkdir(parents=True)
                shutil.copy(PATCHES / "build.sh", script)
                done = subprocess.run(["bash", script], capture_output=True, text=True, check=False, timeout=60)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                said = f"QEMU can not be built in a path with blanks or colons: {folder}/{name}/build"
                self.assertIn(said, done.stderr)
                self.assertEqual(sorted(os.listdir(script.parents[1])), ["qemu-patches"])

    def test_every_patch_has_a_message(self) -> None:
        for patch in PATCHES.glob("*.patch"):
            head, _, _ = patch.read_text(encoding="utf-8").partition("\n---\n")
            self.assertRegex(head, r"(?m)^Subject: \[PATCH.*\] \S")
            self.assertGreater(len(head.splitlines()), 6, patch.name)
            self.assertRegex(head, r"(?m)^Signed-off-by: \S", patch.name)

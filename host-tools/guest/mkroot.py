#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""mkroot.py root --out FILE --from ROOT [--with TREE] --tools "A B" [GUEST=FILE ...]
mkroot.py modules --out FILE --from DIR --release REL

Write an uncompressed cpio archive for the guest. Of a Debian release's root (debian.sh):

  - busybox and a symbolic link for each of its applets,
  - TOOLS, programs of ROOT, which take precedence over applets,
  - GUEST=FILE, further programs (mode 0755) under names of their own,
  - the files of TREE, further packages, without documents and translations,
  - the shared libraries that all of these ask for, of TREE or ROOT.

Or modules of a kernel: DIR, a tree as depmod left it, under /usr/lib/modules/REL. The kernel unpacks both archives.

Only names, contents and the execute bit of files go in, in sorted order, so the same files make the same archive.
"""

from __future__ import annotations

import argparse
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from cpio import write_newc

PROGRAMS = ("usr/sbin", "usr/bin")
LIBRARIES = ("usr/lib/x86_64-linux-gnu", "usr/lib")
LOADER = "usr/lib64/ld-linux-x86-64.so.2"
EMPTY_DIRS = ("dev", "proc", "sys", "run", "tmp", "mnt", "job", "etc", "usr/lib64")
MERGED = {"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib", "lib64": "usr/lib64"}
NOT_USED = re.compile(r"usr/share/(doc|man|info|locale|lintian|bug|bash-completion|zsh)(/|$)|var/lib/dpkg(/|$)")


class Root:
    """The content of the archive by guest path."""

    def __init__(self, trees: Iterable[Path]) -> None:
        self.entries: dict[str, tuple[int, bytes]] = {}
        self.trees = [tree for tree in trees if tree.is_dir()]

    def add(self, name: str, mode: int, data: bytes) -> None:
        top, slash, rest = name.lstrip("/").partition("/")
        if slash and top in MERGED:
            name = MERGED[top] + "/" + rest
        self.entries[name.lstrip("/").replace("usr/sbin/", "usr/bin/")] = (mode, data)

    def file(self, name: str, source: Path, mode: int = 0o755) -> None:
        self.add(name, stat.S_IFREG | mode, source.read_bytes())

    def link(self, name: str, target: str) -> None:
        self.add(name, stat.S_IFLNK | 0o777, target.encode())

    def find(self, folders: Iterable[str], name: str) -> Path:
        """Return a file of the trees. Symbolic links are followed inside a tree."""
        for tree in self.trees:
            for folder in folders:
                if (found := inside(tree, f"{folder}/{name}")) is not None:
                    return found
        sys.exit(f"mkroot: no {name} in {' or '.join(folders)} of the packages")

    def libraries(self, programs: Iterable[Path]) -> None:
        """Add the shared libraries that the programs load, where the loader searches for them."""
        paths = ":".join(str(tree / folder) for tree in self.trees for folder in LIBRARIES)
        loader = self.find(["usr/lib64", LIBRARIES[0]], Path(LOADER).name)
        found: set[str] = set()
        for program in programs:
            if not dynamic(program.read_bytes()[:65536]):
                continue
            done = subprocess.run([loader, "--library-path", paths, "--list", program], capture_output=True, text=True,
                                  check=False)  # fmt: skip
            if missing := re.findall(r"(\S+) => not found|(\S+): cannot open shared", done.stdout + done.stderr):
                names = " ".join(sorted(one or other for one, other in missing))
                sys.exit(f"mkroot: libraries of {program.name} not found: {names}")
            found |= {Path(path).name for path in re.findall(r"(/\S+) \(0x", done.stdout)}
        for name in sorted(found - {loader.name}):
            self.file(f"{LIBRARIES[0]}/{name}", self.find(LIBRARIES, name))
        if found:
            self.file(LOADER, loader)


def inside(tree: Path, name: str) -> Path | None:
    """Return the file that a path of the tree leads to, with the tree as the root of links."""
    for _ in range(8):
        path = tree / name
        if not path.is_symlink():
            return path if path.is_file() else None
        target = os.readlink(path)
        name = target.lstrip("/") if target.startswith("/") else os.path.normpath(f"{os.path.dirname(name)}/{target}")
    return None


def dynamic(head: bytes) -> bool:
    """Is this the head of a dynamically linked program?"""
    return head.startswith(b"\x7fELF") and b"/lib64/ld-linux-x86-64.so.2\0" in head


def add_busybox(root: Root) -> None:
    busybox = root.find(PROGRAMS, "busybox")
    applets = subprocess.run([busybox, "--list"], stdout=subprocess.PIPE, text=True, check=True)
    for applet in applets.stdout.split():
        root.link(f"usr/bin/{applet}", "busybox")
    root.file("usr/bin/busybox", busybox)  # last: it lists itself
    # busybox's own shell prefers its applets to the programs in PATH
    root.link("usr/bin/sh", "dash")


def add_tree(root: Root, tree: Path) -> list[Path]:
    """Add all files of further packages. Return the programs."""
    programs = []
    for path in sorted(tree.rglob("*")):
        name = str(path.relative_to(tree))
        if name.partition("/")[0] in MERGED or NOT_USED.match(name):
            continue
        if path.is_symlink():
            root.link(name, os.readlink(path))
        elif path.is_file():
            mode = 0o755 if path.stat().st_mode & 0o111 else 0o644
            root.file(name, path, mode)
            if mode == 0o755 or ".so" in name:
                programs.append(path)
    return programs


def base_tree(root: Root) -> None:
    for name in EMPTY_DIRS:
        root.add(name, stat.S_IFDIR | 0o755, b"")
    for name, target in MERGED.items():
        root.link(name, target)
    root.add("usr/sbin", stat.S_IFLNK | 0o777, b"bin")
    root.add("dev/console", stat.S_IFCHR | 0o600, b"5:1")
    root.add("etc/passwd", 0o644, b"root:x:0:0:root:/:/bin/sh\n")
    root.add("etc/group", 0o644, b"root:x:0:\n")
    root.link("etc/mtab", "/proc/self/mounts")


def make_root(args: argparse.Namespace) -> Root:
    trees = [Path(args.further), Path(args.origin)] if args.further else [Path(args.origin)]
    root = Root(trees)
    base_tree(root)
    programs = add_tree(root, trees[0]) if args.further and trees[0].is_dir() else []
    kept = dict(root.entries)
    add_busybox(root)
    for tool in args.tools.split():
        source = root.find(PROGRAMS, tool)
        # all under one folder, so that a tool replaces the applet of its name
        root.file(f"usr/bin/{tool}", source)
        programs.append(source)
    root.entries |= {name: entry for name, entry in kept.items() if name.startswith("usr/bin/")}
    for spec in args.extra:
        guest, _, source_name = spec.partition("=")
        root.file(guest, Path(source_name))
        programs.append(Path(source_name))
    root.libraries(programs)
    return root


def make_modules(args: argparse.Namespace) -> Root:
    root = Root([])
    for path in sorted(Path(args.origin).rglob("*")):
        if path.is_file():
            root.file(f"usr/lib/modules/{args.release}/{path.relative_to(args.origin)}", path, 0o644)
    return root


def main() -> None:
    ap = argparse.ArgumentParser(usage=__doc__)
    kinds = ap.add_subparsers(dest="kind", required=True)
    parts = {name: kinds.add_parser(name) for name in ("root", "modules")}
    for part in parts.values():
        part.add_argument("--out", required=True)
        part.add_argument("--from", dest="origin", required=True)
    parts["root"].add_argument("--with", dest="further")
    parts["root"].add_argument("--tools", required=True)
    parts["root"].add_argument("extra", nargs="*")
    parts["modules"].add_argument("--release", required=True)
    args = ap.parse_args()
    root = make_root(args) if args.kind == "root" else make_modules(args)
    write_newc(args.out, [(name, mode, data) for name, (mode, data) in root.entries.items()])


if __name__ == "__main__":
    main()

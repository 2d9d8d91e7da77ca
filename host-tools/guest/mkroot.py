#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""mkroot.py --out FILE --modules DIR --release REL --tools "A B" [GUEST=HOST ...]

Write the guest's root as an uncompressed cpio archive:

  - busybox and a symbolic link for each of its applets,
  - TOOLS, the host's own programs, which take precedence over applets,
  - GUEST=HOST, further programs (mode 0755) under names of their own,
  - the shared libraries that all of these ask for,
  - DIR, a tree of kernel modules (as depmod left it), under /usr/lib/modules/REL.

Only names, contents and the execute bit of the host's files go in, in sorted
order, so the same files make the same archive.  --list FILE records which files
of the host were read, one per line, for build.sh to see when one changes.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterable

from cpio import write_newc

HOST_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
EMPTY_DIRS = ("dev", "proc", "sys", "run", "tmp", "mnt", "job", "etc", "usr/lib64")
MERGED = {"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib", "lib64": "usr/lib64"}


class Root:
    """The content of the archive by guest path, and the host files from which it comes."""

    def __init__(self) -> None:
        self.entries: dict[str, tuple[int, bytes]] = {}
        self.host_files: set[str] = set()

    def add(self, name: str, mode: int, data: bytes) -> None:
        top, slash, rest = name.lstrip("/").partition("/")
        if slash and top in MERGED:
            name = MERGED[top] + "/" + rest
        self.entries[name.lstrip("/")] = (mode, data)

    def file(self, name: str, host: str, mode: int = 0o755) -> None:
        with open(host, "rb") as f:
            self.add(name, stat.S_IFREG | mode, f.read())
        self.host_files.add(host)

    def link(self, name: str, target: str) -> None:
        self.add(name, stat.S_IFLNK | 0o777, target.encode())

    def libraries(self, programs: Iterable[str]) -> None:
        """Add the shared libraries that the programs load, at the paths that the loader searches."""
        out = subprocess.run(["ldd", *programs], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True, check=False).stdout
        if missing := re.findall(r"^\s*(\S+) => not found", out, re.M):
            sys.exit(f"mkroot: libraries not found: {' '.join(missing)}")
        for lib in sorted(set(re.findall(r"(/\S+) \(0x", out))):
            self.file(lib, lib)


def add_busybox(root: Root, busybox: str) -> None:
    applets = subprocess.run([busybox, "--list"], stdout=subprocess.PIPE, text=True, check=True)
    for applet in applets.stdout.split():
        root.link(f"usr/bin/{applet}", "busybox")
    root.file("usr/bin/busybox", busybox)  # last: it lists itself
    # busybox's own shell prefers its applets to the programs in PATH
    root.link("usr/bin/sh", "dash")


def add_tools(root: Root, tools: Iterable[str]) -> None:
    found = []
    for tool in tools:
        host = shutil.which(tool, path=HOST_PATH)
        if host is None:
            sys.exit(f"mkroot: no program {tool} on this machine")
        host = os.path.realpath(host)
        # all under one folder, so that a tool replaces the applet of its name
        root.file(f"usr/bin/{tool}", host)
        found.append(host)
    root.libraries(found)


def add_modules(root: Root, folder: str, release: str) -> None:
    for where, dirs, files in os.walk(folder):
        dirs.sort()
        for name in files:
            host = os.path.join(where, name)
            root.file(f"usr/lib/modules/{release}/{os.path.relpath(host, folder)}", host, 0o644)
            root.host_files.discard(host)


def base_tree(root: Root) -> None:
    for name in EMPTY_DIRS:
        root.add(name, stat.S_IFDIR | 0o755, b"")
    for name, target in MERGED.items():
        root.link(name, target)
    root.link("usr/sbin", "bin")
    root.add("dev/console", stat.S_IFCHR | 0o600, b"5:1")
    root.add("etc/passwd", 0o644, b"root:x:0:0:root:/:/bin/sh\n")
    root.add("etc/group", 0o644, b"root:x:0:\n")
    root.link("etc/mtab", "/proc/self/mounts")


def main() -> None:
    ap = argparse.ArgumentParser(usage=__doc__)
    ap.add_argument("--out", required=True)
    ap.add_argument("--list", required=True)
    ap.add_argument("--modules", required=True)
    ap.add_argument("--release", required=True)
    ap.add_argument("--busybox", default="/bin/busybox")
    ap.add_argument("--tools", required=True)
    ap.add_argument("extra", nargs="*")
    args = ap.parse_args()

    root = Root()
    base_tree(root)
    add_busybox(root, args.busybox)
    add_tools(root, args.tools.split())
    add_modules(root, args.modules, args.release)
    for spec in args.extra:
        guest, _, host = spec.partition("=")
        root.file(guest, host)
    root.libraries([spec.partition("=")[2] for spec in args.extra])
    write_newc(args.out, [(name, mode, data) for name, (mode, data) in root.entries.items()])
    with open(args.list, "w", encoding="utf-8") as f:
        f.writelines(f"{name}\n" for name in sorted(root.host_files))


if __name__ == "__main__":
    main()

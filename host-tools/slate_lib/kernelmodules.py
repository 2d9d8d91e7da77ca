# SPDX-License-Identifier: GPL-2.0-or-later
"""Takes modules from the output of 'make modules_install INSTALL_MOD_PATH=DIR', as an archive for the guest.

The guest gets the named modules, and those that they need by modules.dep and modules.softdep, unpacked (busybox's
modprobe reads plain files only) and without debugging sections. Its modules.dep, modules.alias and modules.softdep
name these alone.
"""

from __future__ import annotations

import fnmatch
import gzip
import lzma
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

from . import paths
from .errors import SlateError
from .kernelimage import ELF, X86_64

sys.path.insert(0, str(paths.GUEST_TOOLS))
_SUFFIX = re.compile(r"\.ko(\.gz|\.xz|\.zst)?$")
_VERMAGIC = re.compile(rb"\0vermagic=([^ \0]*)")
_INSTALL = "in the kernel's tree: make modules_install INSTALL_MOD_PATH="


def _depmod(folder: Path, release: str) -> str:
    """Return the command that lists modules. Packages of new releases have no lib, where depmod looks."""
    link = "" if (folder / "lib").exists() else f"ln -s usr/lib {folder}/lib; "
    return f"{link}depmod -b {folder} {release}"


def plain(name: str) -> str:
    """Return a module's name in the form in which names are compared."""
    return _SUFFIX.sub("", name.rpartition("/")[2]).replace("-", "_")


class Modules:
    """Holds the modules of a kernel."""

    def __init__(self, folder: Path, release: str, keep_signatures: bool = False):
        self.asked, self.release, self.keep_signatures = folder, release, keep_signatures
        self.folder = self._find(folder, release)
        self.file: dict[str, str] = {}  # by plain name, under self.folder
        self.needs: dict[str, list[str]] = {}
        for line in self._lines("modules.dep"):
            file, _, needed = line.partition(":")
            self.file[plain(file)] = file
            self.needs[plain(file)] = [plain(word) for word in needed.split()]
        self.built_in = {plain(line) for line in self._lines("modules.builtin")}
        self.aliases = [words[1:3] for line in self._lines("modules.alias") if len(words := line.split()) > 2]
        for line in self._lines("modules.softdep"):
            words = [word for word in line.split()[1:] if word not in ("pre:", "post:")]
            if len(line.split()) < 2:
                raise SlateError(
                    f"{self.folder / 'modules.softdep'}: the line '{line.strip()[:40]}' names no module",
                    _depmod(folder, release),
                )
            if words and plain(words[0]) in self.needs:
                self.needs[plain(words[0])] += words[1:]

    def _find(self, folder: Path, release: str) -> Path:
        roots = [root for root in (folder / "lib/modules", folder / "usr/lib/modules") if root.is_dir()]
        if not roots:
            raise SlateError(f"--modules {folder}: there is no lib/modules in it", f"{_INSTALL}{folder}")
        found = next((root / release for root in roots if (root / release).is_dir()), None)
        if not found:
            others = ", ".join(sorted(one.name for one in roots[0].iterdir() if one.is_dir())) or "no kernel"
            raise SlateError(
                f"--modules {folder}: has the modules of {others}, and the kernel is {release}",
                f"name the kernel that they were built with, or {_INSTALL}{folder}",
            )
        if not (found / "modules.dep").is_file():
            raise SlateError(f"--modules {folder}: {release} has no modules.dep", _depmod(folder, release))
        return found

    def _lines(self, name: str) -> list[str]:
        try:
            text = (self.folder / name).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return []
        return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]

    def has(self, name: str) -> bool:
        """Is there such a module? One that is built in is none."""
        return plain(name) in self.file

    def closure(self, names: list[str]) -> list[str]:
        """Return these modules and those that they need, sorted; what is not there is left out."""
        found: set[str] = set()
        wanted = list(names)
        while wanted:
            word = wanted.pop()
            name = plain(word)
            if name not in self.file:
                wanted += {plain(to) for alias, to in self.aliases if fnmatch.fnmatchcase(word, alias)} - found
            elif name not in found:
                found.add(name)
                wanted += self.needs[name]
        return sorted(found)

    def archive(self, names: list[str]) -> bytes:
        """Return the cpio archive of these modules and those that they need."""
        import cpio  # host-tools/guest

        chosen = self.closure(names)
        top = f"usr/lib/modules/{self.release}/"
        target = {name: _SUFFIX.sub(".ko", self.file[name]) for name in chosen}
        dep = "".join(
            f"{target[name]}: {' '.join(target[need] for need in self.needs[name] if need in target)}".rstrip() + "\n"
            for name in chosen
        )
        alias = "".join(f"alias {word} {to}\n" for word, to in self.aliases if plain(to) in target)
        soft = "".join(f"{line}\n" for line in self._lines("modules.softdep") if plain(line.split()[1]) in target)
        built_in = "".join(f"{line}\n" for line in self._lines("modules.builtin"))
        texts = (("dep", dep), ("alias", alias), ("softdep", soft), ("builtin", built_in))
        entries = [(f"{top}modules.{kind}", 0o644, text.encode()) for kind, text in texts]
        entries += [(top + target[name], 0o644, self._read(self.file[name])) for name in chosen]
        return cpio.newc(entries)

    def _read(self, file: str) -> bytes:
        """Return a module, checked."""
        path = self.folder / file
        try:
            data = _unpack(path)
        except (OSError, EOFError, zlib.error, lzma.LZMAError, subprocess.SubprocessError) as error:
            raise SlateError(f"{path}: can not be read ({error})", f"{_INSTALL}{self.asked}") from None
        magic = _VERMAGIC.search(data)
        if not data.startswith(ELF) or len(data) < 64 or struct.unpack_from("<H", data, 18)[0] != X86_64:
            raise SlateError(f"{path}: is no module for x86-64", f"{_INSTALL}{self.asked}")
        if magic and (built := magic[1].decode(errors="replace")) != self.release:
            raise SlateError(
                f"{path}: is a module of {built}, and the kernel is {self.release}",
                f"{_INSTALL}{self.asked}",
            )
        return data if self.keep_signatures else _without_debugging(data)


def _unpack(path: Path) -> bytes:
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else lzma.decompress(data) if path.suffix == ".xz" else data


def _without_debugging(data: bytes) -> bytes:
    """Return a module without its debugging sections, which may be most of it. Without binutils it stays as it is."""
    if b".debug_info\0" not in data or not shutil.which("strip"):
        return data
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "module.ko"
        module.write_bytes(data)
        done = subprocess.run(["strip", "--strip-debug", module], capture_output=True, check=False)
        return module.read_bytes() if done.returncode == 0 else data

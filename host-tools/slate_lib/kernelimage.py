# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a Linux kernel's file: for which machine it is, its release, its configuration, and how QEMU boots it.

QEMU enters an ELF with a PVH note directly. A bzImage would first unpack itself in the guest, which costs seconds of
emulation, so the ELF in it is unpacked here and kept under the checksum of the bzImage. A bzImage without such an ELF
(CONFIG_PVH off, or packed by a program that is not here) boots as it is.
"""

from __future__ import annotations

import bz2
import hashlib
import lzma
import os
import re
import shutil
import struct
import subprocess
import time
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from . import paths
from .errors import SlateError

KEPT = 4  # unpacked kernels, and as many initramfs
KEPT_SECONDS = 3600  # another run may be about to boot a file that is younger
ELF, X86_64, BITS_64 = b"\x7fELF", 62, 2
MACHINES = {3: "32-bit x86", 8: "MIPS", 21: "PowerPC", 22: "S/390", 40: "ARM", 183: "ARM64", 243: "RISC-V"}
PT_NOTE, XEN_PHYS32_ENTRY = 4, 18
# The header of a bzImage (the kernel's Documentation/arch/x86/boot.rst).
SETUP_SECTS, SYSSIZE, MAGIC, VERSION_TEXT = 0x1F1, 0x1F4, 0x202, 0x20E
XLOADFLAGS, PAYLOAD, HEADER_END = 0x236, 0x248, 0x250
PARAGRAPH = 16  # bytes, the unit of SYSSIZE
_RELEASE = rb"(\d[^\s/\0]{0,63})"  # a release has at most 64 characters (__NEW_UTS_LEN)
PACKAGE = "a Debian package"
# Files that are taken for a kernel: what their bytes at a place say.
OTHERS = (
    (0x38, b"ARMd", "a kernel for ARM64"),
    (0x30, b"RISCV", "a kernel for RISC-V"),
    (0, b"!<arch>\n", PACKAGE),
    (0, b"070701", "an initramfs"),
    (0, b"\x1f\x8b", "packed by gzip"),
    (0, b"\xfd7zXZ", "packed by xz"),
    (0, b"\x28\xb5\x2f\xfd", "packed by zstd"),
)
BUILD = "on x86-64, 'make' makes arch/x86/boot/bzImage and vmlinux"
COPY = f"copy it again; {BUILD}"


@dataclass(frozen=True)
class Config:
    """Holds a kernel's configuration, and the file that it comes from."""

    where: str
    values: dict[str, str] = field(repr=False)

    def get(self, name: str) -> str:
        """Return 'y', 'm', another value, or 'n'."""
        return self.values.get(name, "n")


@dataclass(frozen=True)
class Image:
    """Describes a kernel."""

    path: Path
    boot: Path  # what QEMU boots: path, or the ELF that was in it
    release: str
    config: Config | None


def examine(path: Path) -> Image:
    """Return the kernel, or raise a SlateError that says what the file is."""
    data = path.read_bytes()
    if data.startswith(ELF):
        _check_elf(path, data)
        if not has_pvh(data):
            raise SlateError(
                f"{path}: is an ELF without an entry for PVH (CONFIG_PVH)",
                "name the bzImage, or set CONFIG_PVH: scripts/config -e PVH, make olddefconfig, make",
            )
        return Image(path, path, _release(path, data), config_of(path, data))
    if data[MAGIC : MAGIC + 4] != b"HdrS":
        what = next((text for at, magic, text in OTHERS if data[at:].startswith(magic)), "no kernel for x86-64")
        guest = (f"{paths.COMMAND} guest make {paths.GUEST.name} --kernel {path} --name NAME; if it is in several "
                 "packages: --kernel FILE.deb,FILE.deb")  # fmt: skip
        raise SlateError(f"{path}: is {what}, not a bzImage or vmlinux", guest if what == PACKAGE else BUILD)
    if len(data) < HEADER_END:
        raise SlateError(f"{path}: is a bzImage that ends after {len(data)} bytes, within its header", BUILD)
    whole = ((data[SETUP_SECTS] or 4) + 1) * 512 + struct.unpack_from("<I", data, SYSSIZE)[0] * PARAGRAPH
    if whole - PARAGRAPH >= len(data):  # SYSSIZE is rounded up
        raise SlateError(f"{path}: is a bzImage that ends after {len(data)} of {whole} bytes", COPY)
    if not struct.unpack_from("<H", data, XLOADFLAGS)[0] & 1:
        raise SlateError(f"{path}: is a kernel for 32-bit x86", f"build one with CONFIG_64BIT: {BUILD}")
    at = struct.unpack_from("<H", data, VERSION_TEXT)[0] + 0x200
    if not (found := re.match(rb"\s*" + _RELEASE + rb"[\s\0]", data[at : at + 256])):
        raise SlateError(f"{path}: is a bzImage that names no release", BUILD)
    release = found[1].decode(errors="replace")
    elf = _unpacked(data)
    boot = keep(hashlib.sha256(data).hexdigest(), ".vmlinux", elf) if elf and has_pvh(elf) else path
    return Image(path, boot, release, config_of(path, elf or b""))


def _check_elf(path: Path, data: bytes) -> None:
    machine = struct.unpack_from("<H", data, 18)[0] if len(data) >= 64 else 0
    if len(data) < 64 or data[4] != BITS_64 or machine != X86_64:
        what = MACHINES.get(machine, f"machine {machine}")
        raise SlateError(f"{path}: is an ELF for {what}, not for x86-64", BUILD)
    start, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    whole = 0
    for number in range(count):
        if start + (number + 1) * size <= len(data) and size >= 56:
            _, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", data, start + number * size)
            whole = max(whole, offset + length)
    if whole > len(data):
        raise SlateError(f"{path}: is an ELF that ends after {len(data)} of {whole} bytes", COPY)


def _release(path: Path, data: bytes) -> str:
    found = re.search(rb"Linux version " + _RELEASE + rb" \(", data)
    if not found:
        raise SlateError(f"{path}: is an ELF, and no Linux kernel", BUILD)
    return found[1].decode(errors="replace")


def has_pvh(elf: bytes) -> bool:
    """Has a kernel the note with its entry for PVH? A damaged ELF has none."""
    try:
        return _has_pvh(elf)
    except (struct.error, OverflowError):
        return False


def _has_pvh(elf: bytes) -> bool:
    start, size, count = struct.unpack_from("<Q", elf, 32)[0], *struct.unpack_from("<HH", elf, 54)
    for number in range(count):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", elf, start + number * size)
        at, end = offset, min(offset + length, len(elf))
        while kind == PT_NOTE and at + 12 <= end:
            name, content, note = struct.unpack_from("<III", elf, at)
            if note == XEN_PHYS32_ENTRY and elf[at + 12 : at + 16] == b"Xen\0":
                return True
            at += 12 + (name + 3 & ~3) + (content + 3 & ~3)
    return False


# ---- a bzImage


def _unpacked(data: bytes) -> bytes | None:
    """Return the ELF of a bzImage; None: its form is unknown here."""
    offset, length = struct.unpack_from("<II", data, PAYLOAD)
    start = ((data[SETUP_SECTS] or 4) + 1) * 512 + offset
    packed = data[start : start + length]
    try:
        elf = _unpack(packed)
    except (OSError, EOFError, zlib.error, lzma.LZMAError):
        return None
    return elf if elf and elf.startswith(ELF) else None


def _unpack(packed: bytes) -> bytes | None:
    """Unpack a payload. Its last four bytes may be its size when unpacked."""
    if packed.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(31).decompress(packed)
    if packed.startswith(b"BZh"):
        return bz2.BZ2Decompressor().decompress(packed)
    if packed.startswith((b"\xfd7zXZ\0", b"\x5d\0\0")):
        return lzma.LZMADecompressor().decompress(packed)
    for magic, words in ((b"\x28\xb5\x2f\xfd", ["zstd", "-dcq"]), (b"\x02!L\x18", ["lz4", "-dcq"])):
        if packed.startswith(magic) and shutil.which(words[0]):
            return subprocess.run(words, input=packed[:-4], capture_output=True, check=False).stdout
    return None


def keep(checksum: str, suffix: str, content: bytes) -> Path:
    """Return the file with this content, made if it is not there. The oldest ones with the suffix are removed.

    Other runs may do the same at this moment, so a file is made under another name, and one in use is not removed.
    """
    folder = paths.OUT / "kernels"
    path = folder / f"{checksum[:16]}{suffix}"
    try:
        os.utime(path)
        whole = path.stat().st_size == len(content)
    except FileNotFoundError:
        whole = False
    if not whole:
        folder.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        try:
            part.write_bytes(content)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    now = time.time()
    for used, old in sorted((_used(one), one) for one in folder.glob(f"*{suffix}"))[:-KEPT]:
        if now - used > KEPT_SECONDS:
            old.unlink(missing_ok=True)
    return path


def _used(path: Path) -> float:
    """Return the time at which a file was used; infinity: another run has removed it."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return float("inf")


# ---- the configuration


def config_of(path: Path, elf: bytes) -> Config | None:
    """Return the configuration: in the kernel (CONFIG_IKCONFIG), beside it, or in the tree that it was built in."""
    at = elf.find(b"IKCFG_ST")
    if at >= 0:
        return parse_config(f"{path} (IKCONFIG)", _ikconfig(path, elf[at + 8 :]))
    full = path.resolve()
    release = full.name.partition("-")[2]
    names = [full.with_name(name) for name in (".config", "config", f"config-{release}")]
    if full.parts[-4:-1] == ("arch", "x86", "boot"):
        names.append(full.parents[3] / ".config")
    return read_config(names)


def _ikconfig(path: Path, packed: bytes) -> str:
    unpacker = zlib.decompressobj(31)
    try:
        data = unpacker.decompress(packed)
    except zlib.error:
        data = b""
    if not unpacker.eof:
        raise SlateError(f"{path}: its configuration (IKCONFIG) is damaged", f"copy or build the kernel again: {BUILD}")
    return data.decode(errors="replace")


def read_config(names: list[Path]) -> Config | None:
    """Return the first of these files that is there."""
    for name in names:
        if name.is_file():
            return parse_config(paths.short(name), name.read_text(encoding="utf-8", errors="replace"))
    return None


def parse_config(where: str, text: str) -> Config:
    """Return the values of a .config."""
    return Config(where, dict(re.findall(r"^CONFIG_(\w+)=(.*)$", text, re.MULTILINE)))

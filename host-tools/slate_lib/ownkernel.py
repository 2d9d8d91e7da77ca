# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs Slate's guest on a kernel of the user's own: 'slate run --kernel FILE [--modules DIR]'.

Its configuration, where one is found, and its modules are checked before the boot. docs/kernels.md describes it.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from . import kernelimage, paths
from .errors import SlateError
from .kernelimage import Config
from .kernelmodules import Modules

if TYPE_CHECKING:
    from .options import RunOptions

sys.path.insert(0, str(paths.GUEST_TOOLS))
# The guest gets these modules where they exist, and those that its scripts load with modprobe.
CARRIED = (
    *("nvme", "virtio_pci", "virtio_blk", "virtio_scsi", "virtio_console", "sd_mod", "loop", "null_blk"),
    *("ext4", "xfs", "btrfs", "f2fs", "zonefs", "squashfs", "overlay", "9p", "9pnet_virtio", "nd_e820", "nd_pmem"),
    *("mq_deadline", "kyber_iosched", "bfq", "crc32c_generic", "crc32c_intel", "crc32_generic"),
)
_MODPROBE = re.compile(r"\bmodprobe((?:[ \t]+[\w-]+)+)")


@dataclass(frozen=True)
class Need:
    """Names a part of the kernel, the module that it may be, and what it is for."""

    config: str
    module: str | None
    why: str


ROOT = (
    Need("BLK_DEV_INITRD", None, "the guest's root is an initramfs"),
    Need("RD_LZ4", None, "which is packed by lz4"),
    Need("BINFMT_ELF", None, "programs"),
    Need("BINFMT_SCRIPT", None, "its init is a script"),
)
ALWAYS = (
    Need("64BIT", None, "64-bit programs"),
    *ROOT,
    Need("FUTEX", None, "fio"),
    Need("PCI", None, "the drive's bus"),
    Need("ACPI", None, "powering off"),
    Need("PROC_FS", None, "/proc"),
    Need("SYSFS", None, "/sys"),
    Need("DEVTMPFS", None, "/dev"),
    Need("TMPFS", None, "/run, /tmp"),
    Need("SERIAL_8250", None, "results come by ttyS1"),
    Need("SERIAL_8250_CONSOLE", None, "the console is ttyS0"),
)
NVME = (Need("BLK_DEV_NVME", "nvme", "the drive"),)
VIRTIO = (Need("VIRTIO_PCI", "virtio_pci", "the drive"), Need("VIRTIO_BLK", "virtio_blk", "the drive"))
IMAGES = (
    Need("SQUASHFS", "squashfs", "the image of applications"),
    Need("SQUASHFS_LZ4", None, "the image of applications"),
    Need("OVERLAY_FS", "overlay", "a layer in memory on the image"),
)
PMEM = (
    Need("X86_PMEM_LEGACY", "nd_e820", "the image in memory"),
    Need("BLK_DEV_PMEM", "nd_pmem", "the image in memory"),
)
LOOP = (Need("BLK_DEV_LOOP", "loop", "the image of applications"),)
IMAGE_ROOT = (*VIRTIO, *NVME)
TO_IMAGE = "to-image"  # below GUEST_TOOLS
FILE_SYSTEMS = {
    "ext4": Need("EXT4_FS", "ext4", "fs=ext4"),
    "xfs": Need("XFS_FS", "xfs", "fs=xfs"),
    "f2fs": Need("F2FS_FS", "f2fs", "fs=f2fs"),
    "btrfs": Need("BTRFS_FS", "btrfs", "fs=btrfs"),
}


class OwnKernel:
    """Holds a kernel of the user's own."""

    def __init__(self, path: Path, modules: Path | None):
        self.path, self.given_modules = path, modules
        self.image = kernelimage.examine(path)
        self.config = self.image.config
        self.modules: Modules | None = None
        if modules:
            self.modules = Modules(modules, self.image.release)
            folder = self.modules.folder
            places = [folder / "build" / ".config", folder / "source" / ".config", folder / "config"]
            self.config = self.config or kernelimage.read_config(places)
            self.modules.keep_signatures = bool(self.config and self.config.get("MODULE_SIG_FORCE") == "y")

    @property
    def words(self) -> list[str]:
        """Return the options of the user's own kernel, for run.json."""
        words = ["--kernel", paths.short(self.path)]
        return words + (["--modules", paths.short(self.given_modules)] if self.given_modules else [])

    @property
    def boot(self) -> Path:
        """Return the file that QEMU boots."""
        return self.image.boot

    def is_module(self, need: Need) -> bool:
        """Does the guest load this part as a module?"""
        return bool(self.modules and need.module and self.modules.has(need.module))

    def has(self, need: Need) -> bool:
        """Has the kernel this part, as far as its configuration and modules say?"""
        if self.is_module(need):
            return True
        if self.config:
            return self.config.get(need.config) == "y"
        if self.modules and need.module and self.modules.built_in:
            return need.module in self.modules.built_in
        return True

    @property
    def has_pmem(self) -> bool:
        """Can images lie in the guest's memory? Else they are files of its root."""
        return all(self.has(need) for need in PMEM)

    def loads(self, frontend: str) -> list[str]:
        """Return the modules that the guest's init loads for its drive."""
        return [str(need.module) for need in (NVME if frontend == "nvme" else VIRTIO) if self.is_module(need)]

    def names(self, options: RunOptions) -> list[str]:
        """Return the modules that a run may need."""
        texts = options.work.texts()
        texts += [data.decode(errors="replace") for data in options.programs.values()]
        texts += [options.cuts.script_text] if options.cuts else []
        found = {word for text in texts for match in _MODPROBE.findall(text) for word in match.split()}
        return [*CARRIED, *sorted(found)]

    def archive(self, options: RunOptions) -> bytes:
        """Return the archive of modules."""
        return self.modules.archive(self.names(options)) if self.modules else b""

    @cached_property
    def sha256(self) -> str:
        """Return the checksum of the kernel's file."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()


def say_unchecked(path: Path | str, config: Config | None) -> None:
    """Say of a kernel without a configuration that nobody has checked it."""
    if not config:
        print(f"slate: --kernel {path}: no configuration was found (CONFIG_IKCONFIG, or a file), so the kernel is not "
              "checked for what the guest needs", file=sys.stderr)  # fmt: skip


def image_initrd(path: Path, modules: Path) -> tuple[OwnKernel, Path]:
    """Return a kernel with modules for an image of the user's, and the initramfs whose to-image starts the image."""
    import cpio  # host-tools/guest

    kernel = OwnKernel(path, modules)
    say_unchecked(path, kernel.config)
    missing = [need for need in (*ALWAYS, *IMAGE_ROOT) if not kernel.has(need)]
    if missing:
        raise lacks(kernel, missing)
    root = paths.GUEST / "root.lz4"
    if not root.exists():
        raise SlateError(f"--modules with --image: {paths.short(root)} is not there", paths.make("guest"))
    assert kernel.modules
    script = (paths.GUEST_TOOLS / TO_IMAGE).read_bytes()
    archive = kernel.modules.archive(list(CARRIED)) + cpio.newc([(TO_IMAGE, 0o100755, script)]) + root.read_bytes()
    return kernel, kernelimage.keep(hashlib.sha256(archive).hexdigest(), ".initrd", archive)


def check(options: RunOptions) -> None:
    """Raise a SlateError that names all parts of the kernel that the run needs and that are missing."""
    kernel = options.own_kernel
    if not kernel:
        return
    needs = [*ALWAYS, *(NVME if options.frontend == "nvme" else VIRTIO)]
    if options.apps or options.work.images():
        needs += [*IMAGES, *(() if kernel.has_pmem else LOOP)]
    if (fs := options.work.file_system) in FILE_SYSTEMS:
        needs.append(FILE_SYSTEMS[fs])
    if options.smp > 1:
        needs.append(Need("SMP", None, f"--smp {options.smp}"))
    missing = [need for need in needs if not kernel.has(need)]
    if missing:
        raise lacks(kernel, missing)
    _check_numbers(kernel, options)


def check_zones(kernel: OwnKernel) -> None:
    """Refuse a kernel without zones: its guest would not see a drive that has them."""
    zones = Need("BLK_DEV_ZONED", None, "the drive has zones")
    if not kernel.has(zones):
        raise lacks(kernel, [zones])


def options_of(needs: Iterable[Need]) -> str:
    """Return the options to set, for a message."""
    return " and ".join(f"CONFIG_{need.config}=y" for need in needs)


def check_package(path: str, config: Config) -> None:
    """Refuse a kernel's package for a guest whose configuration lacks what every guest needs. It brings its modules."""
    missing = [need for need in ALWAYS if config.get(need.config) != "y"]
    modular = (*NVME, *VIRTIO, FILE_SYSTEMS["ext4"])
    missing += [need for need in modular if config.get(need.config) not in ("y", "m")]
    if missing:
        raise SlateError(_told(path, config, missing), f"{_set(missing)} bindeb-pkg")


def lacks(kernel: OwnKernel, missing: list[Need]) -> SlateError:
    """Return the error of a kernel without these parts."""
    return SlateError(_told(kernel.path, kernel.config, missing), _fix(kernel, missing))


def _told(path: Path | str, config: Config | None, missing: list[Need]) -> str:
    told = ", ".join(f"CONFIG_{need.config} ({need.why})" for need in missing)
    return f"--kernel {path}: it has no {told}{f' by {config.where}' if config else ''}"


def _set(missing: list[Need]) -> str:
    return f"scripts/config {' '.join(f'-e {need.config}' for need in missing)}; make olddefconfig; make"


def _fix(kernel: OwnKernel, missing: list[Need]) -> str:
    build = _set(missing)
    if kernel.config and all(need.module and kernel.config.get(need.config) == "m" for need in missing):
        install = "make modules_install INSTALL_MOD_PATH=DIR"
        again = "install them again" if kernel.modules else "add --modules DIR"
        return f"they are modules: {again} ({install}), or build them in: {build}"
    return build


def _check_numbers(kernel: OwnKernel, options: RunOptions) -> None:
    if not kernel.config:
        return
    for name, least, why in (
        ("SERIAL_8250_RUNTIME_UARTS", 2, "results come by the second port"),
        ("NR_CPUS", options.smp, f"--smp {options.smp}"),
    ):
        value = kernel.config.get(name)
        if value.isdecimal() and int(value) < least:
            raise SlateError(
                f"--kernel {kernel.path}: CONFIG_{name}={value} by {kernel.config.where}, and the run needs {least} "
                f"({why})",
                f"scripts/config --set-val {name} {least}; make olddefconfig; make",
            )

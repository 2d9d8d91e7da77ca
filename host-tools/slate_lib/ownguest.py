# SPDX-License-Identifier: GPL-2.0-or-later
"""Describes the user's own guest: a disk image or a kernel, and its devices besides the drive.

This module declares the options and checks them before the boot; owncommand.py makes QEMU's command line, and
ownrun.py boots the guest. docs/guests.md is the description for users.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shutil
import socket
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from . import names, ownkernel, paths, profiles, units
from .commands import Option
from .errors import SlateError
from .shape import Json
from .values import number

if TYPE_CHECKING:
    from .options import RunOptions

NICS = {"virtio": "virtio-net-pci", "e1000e": "e1000e"}
APPEND = "console=ttyS0"
TO_IMAGE = f" rdinit=/{ownkernel.TO_IMAGE}"
USER = "slate"  # made by cloud-init
SECTOR = 512
LOOPBACK = "127.0.0.1"
F_OFD_GETLK = 36  # Python 3.11 does not define it
# Formats that this QEMU does not open begin with these bytes. It would take them for raw images.
FOREIGN = {
    b"KDMV": "VMDK",
    b"COWD": "VMDK",
    b"# Disk DescriptorFile": "VMDK",
    b"<<< ": "VDI",
    b"conectix": "VPC",
    b"vhdxfile": "VHDX",
    b"QED\0": "QED",
    b"WithoutFreeSpace": "Parallels",
    b"\x1f\x8b": "gzip",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\3\4": "zip",
    b"BZh": "bzip2",
}
# Some options of 'slate run' only work with the user's own guest, and others never work with it.
ONLY_OWN = ("initrd", "append", "net", "ssh_port", "ssh_key", "share", "iommu", "print_libvirt")
NEVER_OWN = (
    *("job", "cmd", "cmd_arg", "app", "app_arg", "load", "load_arg", "env", "file", "shell", "content", "apps"),
    *("after_cut", "kernel_arg", "verbose"),
)


@dataclass
class OwnGuest:
    """Holds the checked options of such a guest."""

    image: Path | None = None
    image_format: str = ""
    image_bytes: int = 0
    from_ssd: bool = False
    kernel: Path | None = None
    kernel_boots: Path | None = None  # what QEMU boots, if not the kernel's file
    modules: Path | None = None  # of the kernel, for the image; initrd is made of them
    initrd: Path | None = None
    append: str = APPEND
    nic: str | None = None  # None: no network
    ssh_port: int | None = None
    key: Path | None = None
    key_text: str = ""
    share: Path | None = None
    iommu: bool = False
    print_libvirt: bool = False

    @property
    def name(self) -> str:
        """Return a name for messages and for the run's directory."""
        path = self.image or self.kernel
        return path.stem if path else "ssd"

    def ssh_words(self) -> list[str]:
        """Return the command that logs in. It does not store the host's key, which changes with every new seed."""
        private = self.key.with_suffix("") if self.key and self.key.suffix == ".pub" else None
        words = ["ssh", "-p", str(self.ssh_port)]
        words += ["-i", str(private)] if private and private.exists() else []
        words += ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"]
        return [*words, f"{USER if self.key else 'USER'}@{LOOPBACK}"]


OPTIONS = (  # --kernel is among the other options of the guest
    Option("--image", "FILE", "boot a disk image (qcow2 or raw) from a virtio disk"),
    Option("--boot-from-ssd", about="boot from the emulated SSD: from the content of --drive FILE, or of --image, "
           "which is copied there first"),
    Option("--initrd", "FILE", "the initramfs of --kernel FILE"),
    Option("--append", "TEXT", f"the command line of --kernel FILE (default: {APPEND})"),
    Option("--net", about="a network card on QEMU's user network (default: virtio with --realtime; none in "
           "virtual time, because the host times the packets and runs would differ)",
           choices=(*NICS, "none"), bare="virtio"),
    Option("--ssh-port", "N", f"the port of {LOOPBACK} that is forwarded to the guest's port 22 (default: a free one, "
           "which is printed)"),
    Option("--ssh-key", "FILE", f"let cloud-init in the image make the user '{USER}', who logs in with this public "
           "key"),
    Option("--share", "DIR", "let the guest mount this folder: 9p, tag 'share'"),
    Option("--iommu", about="an IOMMU (intel-iommu), so that VFIO and SPDK work in the guest"),
    Option("--print-libvirt", about="print the guest as a domain for 'virsh define', and end"),
)  # fmt: skip


def words(own: OwnGuest) -> list[str]:
    """Return the options of the user's own guest, for run.json."""
    found = []
    for name, path in (
        ("--image", own.image),
        ("--kernel", own.kernel),
        ("--modules", own.modules),
        ("--initrd", None if own.modules else own.initrd),
        ("--ssh-key", own.key),
        ("--share", own.share),
    ):
        found += [name, paths.short(path)] if path else []
    found += ["--append", own.append.removesuffix(TO_IMAGE)] if own.kernel else []
    found += ["--net", next((name for name, nic in NICS.items() if nic == own.nic), "none")]
    found += ["--boot-from-ssd"] if own.from_ssd else []
    return found + (["--iommu"] if own.iommu else [])


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def is_asked(args: argparse.Namespace) -> bool:
    """Is the user's own guest requested? A kernel's file alone boots Slate's guest."""
    return bool(args.image or args.boot_from_ssd or (args.initrd and kernel_file(args)))


def kernel_file(args: argparse.Namespace) -> Path | None:
    """Return the kernel's file. A --kernel with a '/' or of a file is one; other words are names."""
    if args.kernel is None or args.kernel in paths.KERNELS:
        return None
    if "/" not in args.kernel and not Path(args.kernel).exists():
        raise SlateError(
            f"--kernel: there is no {args.kernel}{names.nearest(args.kernel, paths.KERNELS)}",
            f"use one of: {', '.join(paths.KERNELS)}; or the file of a kernel of your own",
        )
    return readable("kernel", args.kernel)


def from_arguments(args: argparse.Namespace) -> OwnGuest | None:
    """Check all options that can be checked without the drive. None: the guest is Slate's."""
    if not is_asked(args):
        _check_slates(args)
        return None
    own = OwnGuest(from_ssd=args.boot_from_ssd, iommu=args.iommu, print_libvirt=args.print_libvirt)
    _kernel(own, args)
    for name in NEVER_OWN:
        if getattr(args, name, None):
            raise SlateError(
                f"{_option(name)}: works in Slate's own guest only",
                "leave --initrd out: --kernel FILE alone boots Slate's own guest"
                if args.initrd and not (args.image or args.boot_from_ssd)
                else "leave it out, and log in to the guest to run something there (docs/guests.md)",
            )
    if args.precondition == "device":
        raise SlateError("--precondition device: works in Slate's own guest only", "use --precondition instant")
    if args.image:
        own.image = readable("image", args.image)
        own.image_format, own.image_bytes = examine(own.image, bootable=own.kernel is None, writes=not own.from_ssd)
    if own.from_ssd and not own.image and not (args.drive and Path(args.drive).exists()):
        raise SlateError(
            "--boot-from-ssd: the drive holds no system",
            "add --image FILE, whose content is copied there, or --drive FILE that holds one",
        )
    if own.from_ssd and own.image and args.drive and Path(args.drive).exists():
        raise SlateError(
            f"--image with --boot-from-ssd: {args.drive} holds a drive already",
            "leave --image out to boot what it holds, or name a new file with --drive",
        )
    if args.share:
        own.share = Path(args.share)
        if not own.share.is_dir():
            raise SlateError(f"--share {args.share}: there is no such folder", "name one that is there")
    return own


def set_network(own: OwnGuest, args: argparse.Namespace, realtime: bool) -> None:
    """Set the card, the port and the key. In virtual time there is a network only if it is requested."""
    wanted = args.net or ("virtio" if realtime else "none")
    own.nic = NICS.get(wanted)
    if args.ssh_port is not None and not own.nic:
        raise SlateError(
            f"--ssh-port {args.ssh_port}: this guest has no network",
            "add --realtime, or --net (in virtual time two runs are then no longer equal)",
        )
    if own.nic:
        own.ssh_port = _port(args.ssh_port)
    if args.ssh_key:
        own.key = readable("ssh-key", args.ssh_key)
        own.key_text = _public_key(own.key)


def check_no_preconditioning(args: argparse.Namespace) -> None:
    """Refuse options that fill or age the drive: with --boot-from-ssd it holds only the image."""
    asked = [_option(name) for name in ("fill", "age") if getattr(args, name) not in (None, "0")]
    if asked:
        raise SlateError(f"{asked[0]} with --boot-from-ssd: the drive holds the image alone", "leave it out")


def check_drive(own: OwnGuest, options: RunOptions) -> None:
    """With --boot-from-ssd, check that the image fits and that the drive is to hold no other data."""
    if not (own.from_ssd and own.image):
        return
    if options.frontend != "nvme":
        raise SlateError("--boot-from-ssd with --frontend virtio-blk", "use --frontend nvme")
    assert options.profile
    room = profiles.derive(options.profile, options.overrides())["exported_bytes"]
    if own.image_bytes > room:
        raise SlateError(
            f"--image {own.image}: has {units.size(own.image_bytes)}, and the drive {units.size(room)}",
            "use a larger drive, such as --set geometry.blocks_per_plane=N with a larger N",
        )


def _check_slates(args: argparse.Namespace) -> None:
    """Refuse options of the user's own guest with Slate's."""
    given = [_option(name) for name in ONLY_OWN if getattr(args, name)]
    file = kernel_file(args)
    if given == ["--append"] and file:
        raise SlateError(
            f"--append with --kernel {args.kernel}: Slate's own guest has a command line",
            "add words to it with --kernel-arg, or name your guest with --initrd or --image",
        )
    if given:
        more = "add --image FILE, --initrd FILE or --boot-from-ssd"
        raise SlateError(
            f"{given[0]} is for a guest of your own",
            f"{more}: --kernel FILE alone boots Slate's" if file else "add --image FILE, --kernel FILE with "
            "--initrd FILE, or --boot-from-ssd",
        )


def _kernel(own: OwnGuest, args: argparse.Namespace) -> None:
    own.kernel = kernel_file(args)
    if args.kernel is not None and not own.kernel:
        raise SlateError(
            f"--kernel {args.kernel}: this kernel boots Slate's own guest only",
            "name the file of a kernel, or leave --kernel out to boot what the image holds",
        )
    for name in ("initrd", "append"):
        if getattr(args, name) and not own.kernel:
            raise SlateError(f"--{name} without --kernel FILE", "name the kernel's file with --kernel")
    if args.initrd:
        own.initrd = readable("initrd", args.initrd)
    if args.append is not None:
        own.append = args.append
    if args.modules:
        _modules(own, args)


def _modules(own: OwnGuest, args: argparse.Namespace) -> None:
    """Make an initramfs that loads modules and passes on to the image."""
    if not (own.kernel and args.image) or args.initrd or args.boot_from_ssd:
        raise SlateError(
            f"--modules {args.modules}: is for --kernel FILE alone, or with --image",
            "leave --modules out: your initramfs has the modules that it needs",
        )
    if not any(word.startswith("root=") for word in own.append.split()):
        raise SlateError(
            f"--modules {args.modules} with --image: the command line does not say which file system is the root",
            "add --append 'root=/dev/vda1 console=ttyS0'",
        )
    own.modules = Path(args.modules)
    kernel, own.initrd = ownkernel.image_initrd(own.kernel, own.modules)
    own.kernel_boots = kernel.boot
    own.append += TO_IMAGE


def readable(option: str, name: str) -> Path:
    """Return the path of a file that the user named, if it can be read."""
    path = Path(name)
    if not path.is_file():
        what = "is not a file" if path.exists() else "no such file"
        fix = (
            "run 'make guest-image', which makes it"
            if path.resolve().parent == paths.ROOT / "build" / "image"
            else "check the path"
        )
        raise SlateError(f"--{option} {name}: {what}", fix)
    try:
        with open(path, "rb"):
            return path
    except OSError as error:
        raise SlateError(
            f"--{option} {name}: {(error.strerror or str(error)).lower()}", "check its owner and permissions"
        ) from None


def examine(image: Path, bootable: bool, writes: bool = True) -> tuple[str, int]:
    """Return the image's format and size.

    qemu-img finds the format and missing backing files. writes: the guest writes to the image; otherwise it is
    only read, which is possible with overlays on it.
    """
    with open(image, "rb") as file:
        head = file.read(SECTOR)
    for magic, name in FOREIGN.items():
        if head.startswith(magic):
            raise SlateError(
                f"--image {image}: is in the format {name}, which Slate's QEMU does not open",
                f"unpack it, or convert it to qcow2 (Debian's qemu-utils): qemu-img convert -O qcow2 {image} NEW.qcow2",
            )
    if _is_locked(image, writes):
        raise SlateError(
            f"--image {image}: another program has it open, such as another guest",
            "end it, or give each guest a file of its own: qemu-img create -f qcow2 -F FORMAT -b IMAGE NEW.qcow2",
        )
    info, *_ = _ask_qemu_img(image)
    found, size = info["format"], info["virtual-size"]
    if found not in ("qcow2", "raw"):
        raise SlateError(f"--image {image}: is in the format {found}", "name a qcow2 or raw image")
    if found == "raw" and bootable and (len(head) < SECTOR or head[-2:] != b"\x55\xaa"):
        raise SlateError(
            f"--image {image}: is no qcow2 file, and as a raw image it has no boot sector",
            "name the image of a whole disk; a file system alone boots with --kernel FILE and --append root=/dev/vda",
        )
    return found, size


def _is_locked(image: Path, writes: bool) -> bool:
    """Has a QEMU opened the image to write, or does it forbid others to write?

    QEMU locks it again at the boot. For the permission N QEMU locks the byte 100 + N of a file if it takes it,
    and 200 + N if it does not share it; 1 is writing.
    """
    with open(image, "rb") as file:
        for byte in (101, 201) if writes else (101,):
            asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, byte, 1, 0)
            try:
                told = fcntl.fcntl(file, F_OFD_GETLK, asked)
            except OSError:
                return False  # a file system without locks
            if struct.unpack("hhqqi4x", told)[0] != fcntl.F_UNLCK:
                return True
    return False


def backing(image: Path) -> list[Path]:
    """Return the files below an image of which it has only the differences, the nearest first."""
    return [image.parent / one["filename"] for one in _ask_qemu_img(image)[1:]]


def _ask_qemu_img(image: Path) -> list[Json]:
    """Return what qemu-img says of an image and of its backing files."""
    words = [str(paths.QEMU.with_name("qemu-img")), "info", "--output=json", "--backing-chain", str(image.resolve())]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    except OSError:
        raise SlateError(f"{paths.short(words[0])} is not there", paths.make("qemu")) from None
    said = done.stderr.strip().removeprefix("qemu-img: ")
    if done.returncode:
        raise SlateError(f"--image {image}: {said.splitlines()[0] if said else 'can not be opened'}", "name another")
    found: list[Json] = json.loads(done.stdout)
    return found


def _port(given: str | None) -> int:
    """Return the requested port if it is free, else any free port."""
    port = 0 if given is None else int(number("ssh-port", given, 1, 65535))
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind((LOOPBACK, port))
            return int(one.getsockname()[1])
        except OSError as error:
            raise SlateError(
                f"--ssh-port {port}: {(error.strerror or str(error)).lower()} on {LOOPBACK}",
                "give another one, or leave it out: then a free one is found",
            ) from None


def _public_key(path: Path) -> str:
    """Return the public key as one line. If the file has a private key, the '.pub' file beside it is read."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if "PRIVATE KEY" in text:
        raise SlateError(f"--ssh-key {path}: is a private key", f"name the public one, {path}.pub")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if len(lines) != 1 or not lines[0].startswith(("ssh-", "ecdsa-", "sk-")):
        raise SlateError(
            f"--ssh-key {path}: is no public key of SSH", "make one: ssh-keygen -t ed25519 -N '' -f KEY, then KEY.pub"
        )
    return lines[0]


def need(program: str, package: str) -> str:
    """Return the path of a program from a Debian package."""
    found = shutil.which(program)
    if not found:
        raise SlateError(f"{program} is not installed", f"apt-get install {package}")
    return found

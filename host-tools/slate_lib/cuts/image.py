# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots a disk image of the user's for 'slate cuts --image': its scripts, its command line, and what may go wrong.

The image is copied to a drive of nand-ssd, which each boot opens as ephemeral: the user's file is only read, and a
boot depends on nothing but its input, because the root's reads and writes end in virtual time, too. (A disk of the host
would let the guest's clock run on, by a minute in a boot, while it waits.) The job is the content of a third drive: a
tar of /job, the same files as in Slate's guest. The unit that unpacks and starts it (slate.service) comes as a
credential of systemd (256 and later), or is in the image.

When the work begins depends on the image. So /job/start sets a mark, from which the drive counts the time of the cut.
"""

from __future__ import annotations

import argparse
import base64
import io
import subprocess
import tarfile
import time
from dataclasses import dataclass
from pathlib import Path

from .. import command, drives, ownguest, paths, profiles
from ..boot import Guest
from ..command import keyval
from ..commands import Option
from ..errors import MachineError, SlateError, quoted
from ..options import RunOptions
from ..shape import Json
from .workload import members

START = "slate-cuts"  # the mark
UNIT = "slate.service"
TARGET = "multi-user.target"
PROFILE = "default"  # of the drives with the image and the job
BLOCKS = "geometry.blocks_per_plane"
# Boot loaders poll for each read, and TCG executes the polls, so these two drives end commands at once.
INSTANT = ("timing.cmd_ns=0", "timing.read_ns=1", "timing.program_ns=1", "timing.erase_ns=1",
           "timing.bus_ps_per_byte=0", "ftl.map_ns=0", "ftl.buffer_ns=0", "ftl.overhead_ns=0")  # fmt: skip
PROMPT, PHASE = "login:", "SLATE-PHASE"
PROMPT_SECONDS = 60  # from the prompt to the job
PANIC = "Kernel panic - not syncing"

OPTIONS = (
    Option("--image", "FILE", "run --work and --check in this disk image (qcow2 or raw; it is only read)"),
    Option("--check-in-slate", about="with --image: run --check in Slate's guest, which boots faster"),
)


@dataclass(frozen=True)
class Image:
    """Describes an image and the drive with its content."""

    path: Path
    form: str
    bytes: int
    root: Path

    @property
    def facts(self) -> Json:
        """Return what a log's head says of it and of its backing files."""
        facts, *below = (
            {"file": paths.short(path), "bytes": found.st_size, "mtime_ns": found.st_mtime_ns}
            for path in (self.path, *ownguest.backing(self.path))
            for found in (path.stat(),)
        )
        return {"image": {**facts, **({"backing": below} if below else {})}}

    def copy(self) -> None:
        """Copy it to the drive from which it boots."""
        hold(self.path, self.form, self.bytes, self.root)

    def guest(self) -> Guest:
        """Return how it boots."""
        return Guest(write_job, self.command_line, started)

    def command_line(self, options: RunOptions, files: command.Files) -> list[str]:
        """Return QEMU's command line."""
        line = [*command.machine_words(options), "-machine", "graphics=off,sata=off"]
        line += "-nodefaults -display none -vga none -no-shutdown -no-reboot".split()
        unit = (paths.GUEST_TOOLS / UNIT).read_bytes()
        line += _credential(f"systemd.extra-unit.{UNIT}", unit)
        line += _credential(f"systemd.unit-dropin.{TARGET}", f"[Unit]\nWants={UNIT}\n".encode())
        line += ["-blockdev", command.blockdev(options, options), *command.device(options, "nvme")]
        line += _disk("root", self.root, bootindex="0") + _disk("job", files.initrd, serial="slate-job")
        line += command.consoles(options, files)
        line += ["-chardev", f"socket,id=qmp,fd={files.qmp_fd}", "-mon", "chardev=qmp,mode=control"]
        return line + options.qemu_args


def from_arguments(args: argparse.Namespace, folder: Path) -> Image | None:
    """Return the image that the arguments name; None: the guest is Slate's."""
    if not args.image:
        if args.check_in_slate:
            raise SlateError("--check-in-slate without --image: the check runs in Slate's guest anyway", "leave it out")
        return None
    for name in ("fs", "ready", "apps", "kernel", "modules", "guest"):
        if getattr(args, name) and not (args.check_in_slate and name in ("kernel", "modules", "guest")):
            raise SlateError(f"--{name} with --image: --{name} is for Slate's own guest", "leave one of them out")
    if not args.work:
        raise SlateError("--image without --work: the built-in work runs in Slate's own guest",
                         "name the work with --work, and its check with --check")  # fmt: skip
    if args.check_in_slate and args.check_on_host:
        raise SlateError("--check-in-slate with --check-on-host: both say where the check runs",
                         "leave one of them out")  # fmt: skip
    path = ownguest.readable("image", args.image)
    return Image(path, *ownguest.examine(path, bootable=True, writes=False), folder / "root.slate")


def hold(source: Path, form: str, size: int, drive: Path) -> None:
    """Make a drive file with the content of an image, whose requests end at once."""
    profile = drives.check_profile(PROFILE)
    settings = (f"{BLOCKS}={blocks_of(profile, size)}", *INSTANT)
    target = {"driver": "nand-ssd", "drive-file": str(drive), "profile": str(profile)}
    target |= {f"set.{at}": setting for at, setting in enumerate(settings)}
    drive.unlink(missing_ok=True)
    words = [str(paths.QEMU.with_name("qemu-img")), "convert", "-n", "-f", form, str(source.resolve())]
    words.append("--target-image-opts")
    done = subprocess.run([*words, keyval(**target)], capture_output=True, text=True, check=False)
    if done.returncode:
        drive.unlink(missing_ok=True)
        raise MachineError(f"{source}: can not be copied to a drive: {done.stderr.strip()}",
                           "make room there, or set TMPDIR")  # fmt: skip


def blocks_of(profile: Path, size: int) -> int:
    """Return how many blocks a plane of a drive needs that exports so many bytes."""
    blocks = 64
    while profiles.derive(profile, [f"{BLOCKS}={blocks}"])["exported_bytes"] < size:
        blocks *= 2
    return blocks


def write_job(options: RunOptions, path: Path) -> None:
    """Make the drive with the job's files."""
    entries = [(name.removeprefix("job/"), mode, data) for name, mode, data in command.job_entries(options)]
    start = (paths.GUEST_TOOLS / "image-start.sh").read_bytes()
    (root,) = paths.archives("small")
    entries += [("start", 0o755, start), ("slate-mark", 0o755, _program(root, "usr/bin/slate-mark"))]
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        for name, mode, data in entries:
            member = tarfile.TarInfo(name)
            member.mode, member.size = mode & 0o777, len(data)
            archive.addfile(member, io.BytesIO(data))
    packed = path.with_suffix(".tar")
    packed.write_bytes(tar.getvalue())
    hold(packed, "raw", packed.stat().st_size, path)
    packed.unlink()


def _last_words(console: str) -> str:
    return quoted([line.rstrip() for line in console.splitlines() if line.strip()][-8:])


def _program(archive: Path, wanted: str) -> bytes:
    """Return a program of Slate's guest, for the image."""
    return next(content for name, _, content in members(archive) if name == wanted)


def started(path: Path) -> None:
    """Raise an error if the image cannot boot any more, or has booted, but does not start the job.

    path: its console, which is then quiet after the login prompt.
    """
    console = path.read_text(encoding="utf-8", errors="replace")
    if PANIC in console:
        raise MachineError(f"the image's kernel panicked{_last_words(console)}",
                           "boot it by 'slate run --image' to look at it")  # fmt: skip
    quiet = time.time() - path.stat().st_mtime
    if quiet > PROMPT_SECONDS and PROMPT in console and PHASE not in console:
        raise MachineError(
            f"the image has booted, but did not start the job in {PROMPT_SECONDS} s{_last_words(console)}",
            f"with systemd before 256, copy {paths.short(paths.GUEST_TOOLS / UNIT)} into the image and enable it; an "
            "image without systemd must execute its ExecStart at boot",
        )


def _disk(name: str, drive: Path, **more: str) -> list[str]:
    """Return a virtio disk whose requests end in virtual time: ioeventfd would let the host's time decide."""
    node = keyval(**{"driver": "nand-ssd", "node-name": name, "drive-file": str(drive), "ephemeral": "on"})
    return ["-blockdev", node, "-device", "virtio-blk-pci," + keyval(drive=name, ioeventfd="off", **more)]


def _credential(name: str, content: bytes) -> list[str]:
    """Return a credential for systemd, as a string of the firmware's tables."""
    value = f"io.systemd.credential.binary:{name}={base64.b64encode(content).decode()}"
    return ["-smbios", "type=11," + keyval(value=value)]

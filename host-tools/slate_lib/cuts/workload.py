# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds what 'slate cuts' interrupts and checks: three programs of the guest, and the files that they need.

  make    once, on an aged and otherwise empty drive
  work    until the power is cut. It announces what it believes durable: 'slate-mark durable WORDS' sends a line with
          the time over the second UART, which survives the cut and costs the drive no time
  check   on each drive after its cut. $SLATE_DEV is the drive, $DURABLE a file with the lines that had been announced
          when the power was cut. Its exit status is the verdict (VERDICTS)

fsyncs on a file system (--fs) is one such work (jobs/cuts-fs.sh); --work, --check and --make name others.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .. import options, ownkernel, paths, units
from ..commands import Option
from ..errors import SlateError
from ..shape import Json
from ..values import number
from . import ready

FILE_SYSTEMS = {"ext4": "ext4|.*e2fs.*", "xfs": ".*xfs_.*|.*[.]xfs", "f2fs": ".*f2fs.*"}  # and their programs
VERDICTS = ("good", "lost", "torn", "inconsistent")  # by the exit status of a check
FAILED = "check failed"
WORKERS = 3
PROGRAM = "fsyncs"
_SHELL_FAILED = re.compile(r"^(?:\./)?check: (?:line )?\d+: .*\n+status 2\n\Z", re.MULTILINE)
_STATUS = re.compile(r"^status (\d+)\n\Z", re.MULTILINE)
_OWN = ("work", "check", "make")


@dataclass(frozen=True)
class Workload:
    """Describes a work. programs: the guest's files by name, with make, work and check."""

    programs: dict[str, bytes]
    facts: Json  # what a log's head says of it
    environment: dict[str, str] = field(default_factory=dict)
    fs: str | None = None  # None: programs of the user's own
    per_boot: int = 64
    apps: bool = False
    on_host: bool = False  # its check is a program for this machine, which looks at an image
    drives: int | None = 1  # how many it has; None: programs of the user's own, which may have any
    small: bool = False  # it works on the small kernel, which has ext4, XFS and F2FS

    @property
    def kernel(self) -> str:
        """Return the kernel that this work runs on by default: the small one if it has the file system."""
        return "small" if self.small else "debian"

    def needs(self, name: str) -> bool:
        """Does this work need a file of the guest's root? Programs of the user's own may need any."""
        if self.fs is None:
            return True
        others = "|".join(programs for fs, programs in FILE_SYSTEMS.items() if fs != self.fs)
        return not re.fullmatch(f"usr/bin/(fio|nvme|slate-mark|blktrace|{others})", name)

    def check_drives(self, zoned: list[bool]) -> None:
        """Raise a SlateError if the work cannot run on these drives. zoned: for each, whether it has zones."""
        what, count = f"--ready {self.facts['ready']}" if "ready" in self.facts else "the built-in work", len(zoned)
        fix = "give --profile once" if self.drives == 1 else (
            "give a drive without zones and one with zones: --profile small --profile zns-small")
        if self.drives not in (None, count):
            raise SlateError(f"{what}: it needs {units.many(self.drives or 0, 'drive')}, and there "
                             f"{'is' if count == 1 else 'are'} {count}", fix)  # fmt: skip
        if self.drives == 2 and zoned != [False, True]:
            needs = "a first drive without zones and a second one with zones (ftl.type = zns)"
            raise SlateError(f"{what}: needs {needs}", fix)

    def check_kernel(self, own: ownkernel.OwnKernel | None) -> None:
        """Raise a SlateError if a kernel of the user's own lacks the file system."""
        if own and self.fs and not own.has(needed := ownkernel.FILE_SYSTEMS[self.fs]):
            raise ownkernel.lacks(own, [needed])


OPTIONS = (
    Option("--fs", "NAME", "the file system under the built-in work: ext4 (default), xfs or f2fs"),
    Option("--ready", "NAME:VARIANT", "a work that is ready, in place of the built-in one: "
           f"{', '.join(ready.known())}; host-tools/guest/cuts says what is promised"),
    Option("--work", "FILE", "a script or program of your own, in place of the built-in work"),
    Option("--check", "FILE", "checks a drive after the cut: exit status 0 good, 1 lost, 2 torn, 3 inconsistent"),
    Option("--make", "FILE", "prepares the drive before --work, once (default: nothing)"),
    Option("--file", "FILE", "a file for them in the guest", repeat=True),
    Option("--check-on-host", about="check images of the drives on this machine, without boots: with e2fsck and "
           "debugfs, or your own --check, for which $SLATE_DEV is a file"),
    Option("--apps", about="the guest has the applications (docs/apps.md)"),
    Option("--per-boot", "N", "check at most so many drives in a boot (default 64); 1 if their identifiers must not "
           "meet, as those of Btrfs and md"),
)  # fmt: skip


def from_arguments(args: argparse.Namespace) -> Workload:
    """Return the work that the arguments name."""
    per_boot = int(number("per-boot", args.per_boot or "64", 1, 64))
    given = [name for name in (*_OWN, "file", "apps") if getattr(args, name)]
    on_host = args.check_on_host
    if args.ready:
        if args.fs or given:
            raise SlateError(f"--{'fs' if args.fs else given[0]} with --ready: that work has its own",
                             "leave one of them out")  # fmt: skip
        return _ready(args.ready, per_boot, on_host)
    if not args.work:
        if given:
            raise SlateError(f"--{given[0]} without --work", "name the work with --work")
        return _fsyncs(args.fs or "ext4", per_boot, on_host)
    if args.fs:
        raise SlateError("--fs with --work: the file system is made by --make or --work", "leave --fs out")
    if not args.check:
        raise SlateError("--work without --check: nothing would look at the drives", "name the check with --check")
    programs = {name: _read(name, getattr(args, name)) for name in _OWN if getattr(args, name)}
    for name, data in options.files(args.file).items():
        if name in _OWN or name.startswith("durable-"):
            raise SlateError(f"--file {name}: the run's own is called {name}", "give the file another name")
        programs[name] = data
    sha256 = {name: hashlib.sha256(data).hexdigest() for name, data in sorted(programs.items())}
    facts = {"work": sha256, **({"apps": True} if args.apps else {}), **({"on_host": True} if on_host else {})}
    return Workload(programs, facts, per_boot=per_boot, apps=args.apps, on_host=on_host, drives=None)


def _fsyncs(fs: str, per_boot: int, on_host: bool) -> Workload:
    if fs not in FILE_SYSTEMS:
        raise SlateError(f"--fs {fs}: not a file system here", f"use one of: {', '.join(FILE_SYSTEMS)}")
    script = (paths.GUEST_TOOLS / "jobs" / "cuts-fs.sh").read_bytes()
    programs = dict.fromkeys(_OWN, script) | {PROGRAM: paths.guest_program(PROGRAM).read_bytes()}
    environment = {"CUTS_FS": fs, "CUTS_WORKERS": str(WORKERS)}
    if on_host and fs != "ext4":
        raise SlateError(f"--check-on-host with --fs {fs}: only a kernel replays its log", "leave one of them out")
    if on_host:
        programs["check"] = _host_check()
    facts = {"fs": fs, **({"on_host": True} if on_host else {})}
    return Workload(programs, facts, environment, fs, per_boot, on_host=on_host, small=True)


def _ready(text: str, per_boot: int, on_host: bool) -> Workload:
    script, variant = ready.find(text)
    if on_host and not script.has_host_check(variant):
        raise SlateError(f"--check-on-host with --ready {text}: its check needs a guest", "leave one of them out")
    programs = dict.fromkeys(_OWN, script.text.encode())
    facts: Json = {"ready": text, "work": {"work": hashlib.sha256(script.text.encode()).hexdigest()}}
    if on_host:
        programs["check"] = _host_check()
        facts["on_host"] = True
    if ready.PROGRAM in script.text:
        programs[ready.PROGRAM] = paths.guest_program(ready.PROGRAM).read_bytes()
    apps = script.needs_apps(variant)
    return Workload(programs, facts, {"CUTS_VARIANT": variant}, per_boot=per_boot, apps=apps, on_host=on_host,
                    drives=script.drives(variant), small=not apps)  # fmt: skip


def _host_check() -> bytes:
    return (paths.GUEST_TOOLS / "jobs" / "cuts-host.sh").read_bytes()


def _read(option: str, name: str) -> bytes:
    try:
        with open(name, "rb") as file:
            return file.read()
    except OSError as error:
        raise SlateError(f"--{option} {name}: {error.strerror}", "name a script or program") from None


def verdict_of(said: str) -> str:
    """Return the verdict of a check, by the status in the last line of what it said.

    A shell ends with status 2 when it cannot execute a script; its last line then begins with the script's name.
    """
    status = _STATUS.search(said)
    at = int(status[1]) if status else len(VERDICTS)
    if at == 2 and _SHELL_FAILED.search(said):
        return FAILED
    return VERDICTS[at] if at < len(VERDICTS) else FAILED


def root_of(workload: Workload, kernel: str) -> bytes:
    """Return the guest's files that a work needs, uncompressed: with few files a boot is a third cheaper."""
    return b"".join(needed(path, workload) for path in paths.archives(kernel))


def needed(archive: Path, workload: Workload) -> bytes:
    """Return a cpio archive, uncompressed, without the files that a work does not need."""
    return b"".join(record for name, record, _ in members(archive) if workload.needs(name))


def members(archive: Path) -> Iterator[tuple[str, bytes, bytes]]:
    """Yield each file of a compressed cpio archive: its name, its record, its content."""
    done = subprocess.run(["lz4", "-dc", archive], capture_output=True, check=False)
    if done.returncode:
        raise SlateError(f"lz4 can not unpack {paths.short(archive)}", paths.make("guest"))
    data, at, name = done.stdout, 0, ""
    while name != "TRAILER!!!":  # "newc": a head of 110 bytes in hexadecimal, the name, the content
        size, name_size = int(data[at + 54 : at + 62], 16), int(data[at + 94 : at + 102], 16)
        name = data[at + 110 : at + 109 + name_size].decode()
        content = at + (110 + name_size + 3 & ~3)
        end = content + (size + 3 & ~3)
        yield name, data[at:end], data[content : content + size]
        at = end

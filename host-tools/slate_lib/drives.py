# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the drives of one guest, and assigns options to drives.

A run has one drive, or as many as --profile (or --drive) is given: nvme0n1, nvme1n1 and so on in
the guest, in the order given; or nvme0n1, nvme0n2 with --one-controller. docs/running.md ("Several
drives") describes the meaning of each option for several drives; options that make sense only for
one drive are refused here.
"""

from __future__ import annotations

import argparse
import configparser
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from . import drivefile, names, namespaces, paths, units
from .errors import SlateError
from .namespaces import Namespace

if TYPE_CHECKING:
    from .options import RunOptions

MOST = 8
_ADDRESS = re.compile(r"(\d+):(.*)", re.DOTALL)
# These options are given once for each drive, in the order of --profile.
_EACH = ("record", "record_content")
# Only one drive can have these options; the sentence says what to do instead.
_ALONE = {
    "app": "an application's script uses one drive: give --profile once, or a script of your own with --apps --cmd",
    "content": "give --profile once",
    "load": "a trace is replayed on one drive: give --profile once",
    "boot_from_ssd": "give --profile once, or boot from a virtio disk with --image alone",
    "namespace": "give --profile once, or create namespaces in the guest (--set N:drive.namespaces=16)",
    "cut_after_commands": "it counts the commands of one drive: use --cut-at",
}


@dataclass
class Drive:
    """Holds a drive's settings, and its content at the boot of the guest."""

    profile: Path | None  # None: the settings kept in the drive file
    drive: Path | None = None  # the drive file; None: the drive is in memory
    drive_kept: drivefile.DriveFile | None = None  # the head of the drive file, if there was one
    ephemeral: bool = False
    record: Path | None = None  # every call into the drive, for slate-replay
    record_content: Path | None = None  # every request, and what is written
    seed: int = 1
    fill: float | None = None  # percent; None: the profile's value
    age: float | None = None  # times the capacity
    precondition: str = "instant"
    settings: list[str] = field(default_factory=list)
    namespaces: list[Namespace] = field(default_factory=list)  # made on a new drive; empty: one, over all of it
    number: int = 0  # in the guest: nvme0n1, nvme1n1, ...
    one_controller: bool = False  # the drives are namespaces of one controller: nvme0n1, nvme0n2, ...

    @property
    def label(self) -> str:
        """Return the name of the guest's controller or namespace. The folder of results has the same name."""
        return f"nvme0n{self.number + 1}" if self.one_controller else f"nvme{self.number}"

    @property
    def block(self) -> str:
        """Return the name of the guest's block device."""
        return self.label if self.one_controller else f"{self.label}n1"

    @property
    def node(self) -> str:
        """Return the name of QEMU's block node."""
        return f"ssd{self.number}"

    @property
    def serial(self) -> str:
        """Return the controller's serial number. Linux treats two controllers with equal numbers as one drive."""
        return f"slate{self.number or ''}"

    @property
    def drive_path(self) -> Path:
        """Return the path from which the drive gets its name: its file, or its profile."""
        path = self.drive or self.profile
        assert path
        return path

    def overrides(self) -> list[str]:
        """Return 'section.key=value' for the drive; the user's own settings are last."""
        if self.drive_kept:  # a profile that is given again does not say whether there is a table of namespaces
            kept = namespaces.allowed(dict(line.split("=", 1) for line in self.drive_kept.settings))
            return ([f"{namespaces.KEY}={kept}"] if kept else []) + self.settings
        instant = []
        if self.precondition == "instant":
            if self.fill is not None:
                instant.append(f"precondition.fill_permille={round(self.fill * 10)}")
            if self.age is not None:
                instant.append(f"precondition.age_permille={round(self.age * 1000)}")
            if self.fill or self.age:
                instant.append(f"precondition.seed={self.seed + self.number}")
        else:
            instant = ["precondition.fill_permille=0", "precondition.age_permille=0"]
        if self.namespaces:
            instant.append(f"{namespaces.KEY}={namespaces.MOST}")
        own = {line.partition("=")[0] for line in self.settings}
        return [line for line in instant if line.partition("=")[0] not in own] + self.settings

    def handles(self) -> int:
        """Return the number of placement handles; 0 for a value that the drive will refuse."""
        return self._count("ftl.placement_handles")

    def groups(self) -> int:
        """Return the number of reclaim groups, of which each has all placement handles."""
        return max(1, self._count("ftl.placement_groups"))

    def has_table(self) -> bool:
        """Tell whether the drive has a table of namespaces."""
        return bool(self.namespaces or self._count(namespaces.KEY))

    def setting(self, key: str) -> str:
        """Return the value of section.key; empty if it has the default."""
        lines = self.drive_kept.settings if self.drive_kept else [f"{key}={profile_value(self.profile, key)}"]
        found = [line.partition("=")[2] for line in lines + self.settings if line.startswith(key + "=")]
        return found[-1].strip() if found else ""

    def _count(self, key: str) -> int:
        value = self.setting(key)
        return int(value) if value.isdecimal() else 0


def check_profile(word: str) -> Path:
    """Check that a profile can be read, by name or path. The drive checks its content."""
    path = names.find(word, names.PROFILE)
    if not path.is_file():
        raise SlateError(f"{path} is not a file", "name a profile: 'slate profiles' lists those that are there")
    if not os.access(path, os.R_OK):
        raise SlateError(f"can not read the profile {path}: permission denied", f"chmod a+r {path}")
    return path


def _section(path: Path, name: str) -> dict[str, str]:
    """Return the keys and values of a section of a profile."""
    parser = configparser.ConfigParser(strict=False, interpolation=None, inline_comment_prefixes=(";", "#"))
    try:
        parser.read(path, encoding="utf-8")
        return dict(parser[name]) if name in parser else {}
    except (configparser.Error, UnicodeDecodeError):
        return {}  # the drive reports what is wrong with it


def profile_preconditions(path: Path) -> set[str]:
    """Return the keys of [precondition] that the profile sets."""
    return set(_section(path, "precondition"))


def profile_value(path: Path | None, key: str) -> str:
    """Return the value that the profile gives to section.key; empty if it gives it none."""
    section, _, name = key.partition(".")
    return _section(path, section).get(name, "") if path else ""


def prepare(args: argparse.Namespace) -> None:
    """Check how often the options of each drive are given, and leave those of the first drive in args.

    args.more has (profile, drive file) of the others, args.more_records their recordings.
    """
    profiles, files = args.profile or [], args.drive or []
    count = max(len(profiles), len(files), 1)
    if count > MOST:
        raise SlateError(f"{count} drives: a run has {MOST} at most", f"give --profile {MOST} times at most")
    if files and profiles and len(files) != len(profiles):
        raise SlateError(
            f"--profile {_times(len(profiles))} and --drive {_times(len(files))}: which file is of which drive?",
            "give both as often; the first --drive goes with the first --profile, and so on",
        )
    same = {Path(name).resolve() for name in files}
    if len(same) < len(files):
        raise SlateError("--drive names one file twice", "give each drive a file of its own")
    if count > 1:
        check_alone(args, count)
    for name in _EACH:
        given = getattr(args, name) or []
        option = "--" + name.replace("_", "-")
        if given and len(given) != count:
            fix = f"give {option} once for each drive, in their order" if count > 1 else f"give {option} once"
            raise SlateError(f"{option} {_times(len(given))}, for {units.many(count, 'drive')}", fix)
        setattr(args, name, given[0] if given else None)
        setattr(args, f"more_{name}", given[1:] or [None] * (count - 1))
    profiles, files = profiles or [None] * count, files or [None] * count
    args.profile, args.drive = profiles[0], files[0]
    args.more = list(zip(profiles[1:], files[1:]))


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def check_alone(args: argparse.Namespace, count: int) -> None:
    """Refuse options that only one drive can have."""
    for name, fix in _ALONE.items():
        if getattr(args, name) not in (None, False, []):
            raise SlateError(f"--{name.replace('_', '-')} does not go with {count} drives", fix)


def check_run(options: RunOptions) -> None:
    """Check the options that a job file may set, too, against the number of drives."""
    count = len(options.drives)
    if count == 1 and options.one_controller:
        raise SlateError("--one-controller with one drive", "give --profile once for each of its namespaces")
    if count == 1:
        return
    if options.one_controller:
        _check_one_controller(options.drives)
    if options.precondition == "device":
        raise SlateError(
            f"--precondition device does not go with {count} drives", "use --precondition instant, or fill by a job"
        )
    if options.frontend != "nvme":
        raise SlateError(f"--frontend {options.frontend} does not go with {count} drives", "use --frontend nvme")


def _check_one_controller(drives: list[Drive]) -> None:
    for drive in drives:
        for key, has in (("ftl.placement_handles", drive.handles()), (namespaces.KEY, drive.has_table())):
            if has:
                raise SlateError(
                    f"--one-controller: {drive.label} has {key}, which is the work of a controller of its own",
                    f"set {key} to 0, or leave --one-controller out",
                )


def settings_of(lines: list[str], number: int, args: argparse.Namespace) -> list[str]:
    """Return the settings of one drive: lines for all drives, and 'NUMBER:section.key=value' for this one."""
    found = []
    count = 1 + len(args.more)
    label = [Drive(None, number=i, one_controller=args.one_controller).label for i in range(count)]
    for line in lines:
        match = _ADDRESS.fullmatch(line)
        if match and int(match[1]) >= count:
            asked = Drive(None, number=int(match[1]), one_controller=args.one_controller).label
            only = f"its only drive is {label[0]}" if count == 1 else f"its drives are {label[0]} to {label[-1]}"
            raise SlateError(
                f"--set {line}: there is no drive {asked} in this run: {only}",
                f"write --set {match[2]} for every drive, or give --profile once for each drive",
            )
        if not match or int(match[1]) == number:
            found.append(match[2] if match else line)
    return found


def without_address(line: str) -> str:
    """Return a --set without the number of its drive."""
    match = _ADDRESS.fullmatch(line)
    return match[2] if match else line


def of(profile_word: str | None, file: str | None, settings: list[str], args: argparse.Namespace) -> Drive:
    """Return one drive from a profile, a drive file, or both."""
    if not file:
        return Drive(check_profile(profile_word or str(paths.DEFAULT_PROFILE)), settings=settings)
    profile = check_profile(profile_word) if profile_word else None
    path = Path(file)
    found = Drive(profile, drive=path, ephemeral=args.ephemeral, settings=settings)
    if path.exists() and not path.is_file():
        raise SlateError(f"--drive {file}: is not a plain file", "name one")
    if path.exists() and path.stat().st_size:
        found.drive_kept = drivefile.read(path)
        _check_no_preconditioning(args, file, settings)
    elif args.ephemeral:
        raise SlateError(f"--drive {file}: is not there", "make it with 'slate age', or leave --ephemeral out")
    elif not profile:
        raise SlateError(
            f"--drive {file}: is not there", "give --profile too, to make it; or see 'slate age --help'"
        )
    elif not path.parent.is_dir():
        raise SlateError(f"--drive {file}: there is no directory {path.parent}", "make it first")
    return found


def _check_no_preconditioning(args: argparse.Namespace, file: str, settings: list[str]) -> None:
    """Refuse options that would fill or age a drive file that exists: it is used as it is."""
    asked = [f"--{name}" for name in ("fill", "age", "precondition") if getattr(args, name) is not None]
    asked += [f"--set {line}" for line in settings if line.startswith("precondition.")]
    if asked:
        raise SlateError(
            f"{asked[0]}: {file} holds a drive already, and is taken as it is",
            "leave it out; 'slate age' makes a drive that is filled and aged otherwise",
        )


def first(args: argparse.Namespace) -> Drive:
    """Return the first drive, nvme0n1."""
    if args.ephemeral and not args.drive:
        raise SlateError("--ephemeral without --drive", "name the drive file with --drive")
    drive = of(args.profile, args.drive, settings_of(args.set, 0, args), args)
    drive.one_controller = args.one_controller
    return drive


def others(args: argparse.Namespace) -> list[Drive]:
    """Return the second drive and the following ones."""
    found = []
    for number, (profile, file) in enumerate(args.more, 1):
        drive = of(profile, file, settings_of(args.set, number, args), args)
        drive.number, drive.one_controller = number, args.one_controller
        found.append(drive)
    return found

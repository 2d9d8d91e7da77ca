# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks a job that fio's parser accepts, but that would fail or miss the drive after a boot.

A job must do its I/O on the drive, so its files, its place on the drive and its engine are checked.
A job that prepares its files itself (exec_prerun), or whose trace names the files (read_iolog), may
use any files; that trace must be in the guest. Sections are read as fio reads them: options of
[global] apply to the jobs after it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from . import names, units
from .errors import SlateError

_HEAD = re.compile(r"^\[(.+)\]")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_COLON = re.compile(r"(?<!\\):")
# A machine has these devices; a drive's in the guest are nvme0n1, its partitions, ng0n1 and vda.
_DISK = re.compile(r"/dev/(sd|hd|vd|xvd|mmcblk|nvme|ng|md|dm-|mapper/)")
_DRIVE = re.compile(r"/dev/(?:nvme(\d+)n(\d+)|vda)(?:p\d+)?|/dev/vda\d+|/dev/ng(\d+)n(\d+)")
_NO_FILES = {"null", "cpuio", "net", "netsplice", "exec"}
_OWN_FILES = ("exec_prerun", "read_iolog")


@dataclass
class Section:
    """Holds a job, with the options of [global] that apply to it."""

    name: str
    line: int
    options: dict[str, str]


def sections(path: object, text: str) -> list[Section]:
    """Return all jobs. Raises a SlateError for a section head without ']'."""
    common: dict[str, str] = {}
    found: list[Section] = []
    current = common
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line[0] in "#;":
            continue
        if line[0] == "[":
            head = _HEAD.match(line)
            if not head:
                raise SlateError(f"{path}, line {number}: '{line[:40]}' begins a section and has no ']'",
                                 "write it as [NAME]")
            if head[1] == "global":
                current = common
            else:
                found.append(Section(head[1], number, dict(common)))
                current = found[-1].options
        else:
            key, _, value = line.partition("=")
            current[key.strip()] = value.strip()
    return found


def check(
    path: object,
    text: str,
    environment: dict[str, str],
    engines: Iterable[str],
    drives: list[list[int | None]],
    given: Collection[str] = (),
) -> None:
    """Raise a SlateError with the line of the first job that cannot do its I/O on the drives.

    drives: the sizes of each drive's namespaces in bytes; None: unknown.
    given: names of the files beside the job in the guest.
    """
    if re.search(r"^\s*include\s", text, re.MULTILINE):
        return  # parts of the job are in another file
    known = set(engines)
    made: set[str] = set()  # traces that earlier jobs write
    for section in sections(path, text):
        options = {
            key: _VARIABLE.sub(lambda found: environment.get(found[1], ""), value)
            for key, value in section.options.items()
        }
        where = f"{path}, line {section.line}: the job [{section.name}]"
        engine = options.get("ioengine", "psync").partition(",")[0]
        _check_engine(where, engine, known)
        if engine not in _NO_FILES and not any(key in options for key in _OWN_FILES):
            _check_files(where, options, drives)
        if "exec_prerun" not in options:
            _check_traces(where, options, {*given, *made})
        made.update(_files(options, "write_iolog"))
        room = [drives[place.drive][place.namespace] for place in _places_of(options) if place.is_on(drives)]
        if room and (capacity := min(one or 0 for one in room)):
            _check_place(where, options, capacity)


def _check_engine(where: str, engine: str, known: set[str]) -> None:
    if known and engine not in known and not engine.startswith("external"):
        raise SlateError(
            f"{where}: the guest's fio has no ioengine={engine}{names.nearest(engine, sorted(known))}",
            f"use one of: {', '.join(sorted(known))}",
        )


def _files(options: dict[str, str], key: str = "filename") -> list[str]:
    return [name.replace("\\:", ":") for name in _COLON.split(options.get(key, ""))]


@dataclass(frozen=True)
class Place:
    """Names a namespace of a drive; both are counted from 0."""

    drive: int
    namespace: int

    def is_on(self, drives: list[list[int | None]]) -> bool:
        """Do the drives have it?"""
        return self.drive < len(drives) and 0 <= self.namespace < len(drives[self.drive])


def _place(file: str) -> Place | None:
    """Return the number of the namespace with this device file; None: the name is not that of a namespace."""
    match = _DRIVE.fullmatch(file)
    return Place(int(match[1] or match[3] or 0), int(match[2] or match[4] or 1) - 1) if match else None


def _places_of(options: dict[str, str]) -> list[Place]:
    """Return the namespaces that a job names, or the first drive's first if it names none."""
    return [place for file in _files(options) if (place := _place(file))] or [Place(0, 0)]


def _check_files(where: str, options: dict[str, str], drives: list[list[int | None]]) -> None:
    if "filename" not in options:
        if "directory" in options or "opendir" in options or "filename_format" in options:
            return
        raise SlateError(f"{where} names no file, so it would not touch the drive", "add filename=/dev/nvme0n1")
    for file in _files(options):
        place = _place(file)
        if place and place.drive >= len(drives):
            count = len(drives)
            here = "one drive, /dev/nvme0n1" if count == 1 else f"{count} drives, to /dev/nvme{count - 1}n1"
            raise SlateError(
                f"{where}: filename={file}, and this run has {here}",
                f"give --profile {place.drive + 1} times, once for each drive; or change the job",
            )
        if place and not place.is_on(drives):
            count = len(drives[place.drive])
            raise SlateError(
                f"{where}: filename={file}, and that drive has {count} namespace{'s' * (count > 1)}",
                f"give --namespace {place.namespace + 1} times, once for each (or --profile, with --one-controller); "
                "or change the job"
                if place.namespace > 0
                else "namespaces count from 1: /dev/nvme0n1",
            )
        if _DISK.match(file) and not place:
            raise SlateError(f"{where}: filename={file} is not the drive", "in the guest it is /dev/nvme0n1")
        if not file.startswith("/dev/") and "directory" not in options:
            raise SlateError(
                f"{where}: filename={file} is a file in the guest's memory, not on the drive",
                "use filename=/dev/nvme0n1; or make a file system in exec_prerun, or in a script (--cmd)",
            )


def _check_traces(where: str, options: dict[str, str], given: Collection[str]) -> None:
    for file in _files(options, "read_iolog"):
        if file not in ("", "-", *given) and "/" not in file:
            raise SlateError(f"{where}: read_iolog={file} is not in the guest", f"add --file {file}")


def _check_place(where: str, options: dict[str, str], capacity: int) -> None:
    offset = in_bytes(options.get("offset", "0"), capacity)
    block = in_bytes(options.get("bs", "4k").split(",")[0], capacity)
    if offset is not None and offset >= capacity:
        raise SlateError(
            f"{where}: offset={options['offset']} is beyond the drive's end, {units.size(capacity)}",
            "use a smaller offset, or a larger drive",
        )
    if block is not None and block > capacity - (offset or 0):
        raise SlateError(
            f"{where}: bs={options.get('bs', '4k')} does not fit on the drive, {units.size(capacity)}",
            "use a smaller bs or offset, or a larger drive",
        )


def in_bytes(text: str, capacity: int) -> int | None:
    """Return fio's size in bytes, or its share of the drive; None: another form, which fio parses."""
    share = re.fullmatch(r"(\d{1,3})%", text)
    if share:
        return capacity * int(share[1]) // 100
    try:
        return units.parse_size(text)
    except ValueError:
        return None

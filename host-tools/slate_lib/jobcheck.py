# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks a job that fio's parser accepts, but that would fail or miss the drive after a boot.

A job must do its I/O on the drive, so its files, its place on the drive and its engine are checked.
A job that prepares its files itself (exec_prerun) may use any files, as may the jobs after it. A trace
(read_iolog) must be in the guest, and the files that it names must be the drive, too. Sections are read
as fio reads them: options of [global] apply to the jobs after it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from . import jobsizes, names, units
from .errors import SlateError
from .jobsizes import in_bytes

_INCLUDE = re.compile(r"include.(.+)")
_ORIGIN = re.compile(r"# slate: line (\d+) of (.+)")  # flat() writes it, and for_guest() takes it out
_ALIASES = {"blocksize": "bs", "blocksize_range": "bsrange", "readwrite": "rw", "fileoffset": "offset",
            "nr_files": "nrfiles", "io_limit": "io_size", "timeout": "runtime"}
NAME_MAX = 255  # characters of a section's name, with its ']'
INCLUDES_MAX = 16
NO_NAME = "[]"  # in the guest, of a section that has no name, since a mark needs one
FOLDER = "/job"  # of the job in the guest
LOG_WITHOUT_TIMES = 2  # version of fio's traces; in later ones each line begins with its time
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_COLON = re.compile(r"(?<!\\):")
_PATTERNS = ("buffer_pattern", "verify_pattern")  # options that take a file in single quotes
_PATTERN_FILE = re.compile(r"""\"[^\"]*\"|'([^']+)'""")  # a text in double quotes names none
# A drive's devices in the guest are nvme0n1, its partitions, ng0n1 and vda.
_DRIVE = re.compile(r"/dev/(?:nvme(\d+)n(\d+)|vda)(?:p\d+)?|/dev/vda\d+|/dev/ng(\d+)n(\d+)")
_PARTITION = re.compile(r"p\d+$|vda\d+$")
_NO_FILES = {"null", "cpuio", "net", "netsplice", "exec"}


@dataclass(frozen=True)
class Drives:
    """Holds what a job may use of the drives beside their namespaces."""

    virtio: bool = False  # the drive is /dev/vda, and not an NVMe drive
    kept: bool = False  # a drive is from a file, so it may have partitions


NEW_DRIVES = Drives()


@dataclass
class Section:
    """Holds a job, with the options of [global] that apply to it."""

    name: str
    line: int
    options: dict[str, str]
    path: object = ""  # the file that the line is in


def bare(line: str) -> str:
    """Return a line without its comment, which begins anywhere, as fio's strip_blank_end() does."""
    return line.partition(";")[0].partition("#")[0].strip()


def flat(path: Path, text: str, depth: int = 0) -> str:
    """Return a job with the files that it includes in their places, since the guest has no such files.

    As in fio, a line that begins with "include" names a file, relative to the file that includes it. Comments tell
    numbered() which file and line each line comes from.
    """
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        if not (found := _INCLUDE.match(bare(line))):
            lines.append(line)
            continue
        other = path.parent / found[1]
        if depth == INCLUDES_MAX:
            raise SlateError(f"{path}, line {number}: more than {INCLUDES_MAX} files include each other",
                             "does a file include itself?")
        try:
            inside = other.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text"
            raise SlateError(f"{path}, line {number}: can not read the file {found[1]} that it includes: {reason}",
                             f"name a text file, relative to {path.parent}/") from None
        whole = flat(other, inside, depth + 1)
        lines += [f"# slate: line 1 of {other}", whole, f"# slate: line {number + 1} of {path}"]
    return "\n".join(lines) + "\n"


def numbered(path: object, text: str) -> Iterator[tuple[object, int, str]]:
    """Return each line of a job that flat() made, with the file that it is from and its number there."""
    number = 0
    for line in text.splitlines():
        if origin := _ORIGIN.fullmatch(line):
            path, number = origin[2], int(origin[1]) - 1
            continue
        number += 1
        yield path, number, line


def for_guest(text: str, beside: Collection[str] = ()) -> str:
    """Return a job that flat() made, for the guest.

    No comment names a file of the host, fio finds the traces, and every section has a name.

    beside: names of the files in the job's folder, which is not the one where the guest calls fio.
    """
    return "".join(_placed(line, beside) + "\n" for line in text.splitlines() if not _ORIGIN.fullmatch(line))


def _placed(line: str, beside: Collection[str]) -> str:
    key, equals, value = bare(line).partition("=")
    if key == "[]":
        return f"[{NO_NAME}]"
    if key.strip() == "name" and equals and not value.strip():
        return f"name={NO_NAME}"
    if key.strip() in _PATTERNS:
        return _PATTERN_FILE.sub(lambda found: f"'{FOLDER}/{found[1]}'" if found[1] in beside else found[0], line)
    if key.strip() != "read_iolog":
        return line
    named = _COLON.split(value.strip())
    return "read_iolog=" + ":".join(f"{FOLDER}/{one}" if one.replace("\\:", ":") in beside else one for one in named)


def check_patterns(path: object, text: str, given: Collection[str]) -> None:
    """Raise a SlateError if a pattern is in a file that is not in the guest. given: names of those that are."""
    for place, number, line in numbered(path, text):
        key, _, value = bare(line).partition("=")
        for file in _PATTERN_FILE.findall(value) if key.strip() in _PATTERNS else ():
            if file and file not in given and not file.startswith("/"):
                raise SlateError(f"{place}, line {number}: the file {file} of {key.strip()} is not in the guest",
                                 f"add --file {file}")


def sections(path: object, text: str) -> list[Section]:
    """Return all jobs, read as fio reads them. Raises a SlateError for a section head without ']'.

    fio takes the last character of a head for its ']', and every section whose name begins with "global"
    for a global one. The option "name" renames a job.
    """
    common: dict[str, str] = {}
    found: list[Section] = []
    current = common
    for place, number, raw in numbered(path, text):
        line = bare(raw)
        if not line:
            continue
        if line[0] == "[":
            if line[-1] != "]":
                raise SlateError(f"{place}, line {number}: '{line[:40]}' begins a section and has no ']'",
                                 "write it as [NAME]")
            name = line[1 : 1 + NAME_MAX][:-1]
            if name.startswith("global"):
                current = common
            else:
                found.append(Section(name, number, dict(common), place))
                current = found[-1].options
        else:
            key, _, value = line.partition("=")
            key = key.strip()
            current[_ALIASES.get(key, key)] = value.strip()
            if key == "name" and current is not common:
                found[-1].name = value.strip()
    return found


def check(
    path: object,
    text: str,
    environment: dict[str, str],
    engines: Iterable[str],
    drives: list[list[int | None]],
    given: Mapping[str, list[str]] = MappingProxyType({}),
    state: Drives = NEW_DRIVES,
) -> None:
    """Raise a SlateError with the line of the first job that cannot do its I/O on the drives.

    drives: the sizes of each drive's namespaces in bytes; None: unknown.
    given: the files beside the job in the guest, with those that each names as a trace of fio.
    state: what else is known of the drives.
    """
    known = set(engines)
    made: set[str] = set()  # traces that earlier jobs write
    prepared = False  # has a job run commands, which may have made file systems, partitions or devices?
    for section in sections(path, text):
        options = _expanded(section.options, environment)
        options |= _implied_files(options, section.name)
        where = f"{section.path}, line {section.line}: the job [{section.name}]"
        engine = options.get("ioengine", "psync").partition(",")[0]
        _check_engine(where, engine, known)
        prepared = prepared or "exec_prerun" in options
        if engine not in _NO_FILES and not prepared:
            check_files = _check_traced if "read_iolog" in options else _check_files
            check_files(where, options, drives, state, given)
        if "exec_prerun" not in options:
            _check_traces(where, options, {*given, *made})
        made.update(_files(options, "write_iolog"))
        room = [drives[place.drive][place.namespace] for place in _places_of(options) if place.is_on(drives)]
        if room and (capacity := min(one or 0 for one in room)):
            _check_place(where, options, capacity)


def check_memory(path: object, text: str, environment: dict[str, str], capacity: int, room: int) -> None:
    """Raise a SlateError if fio needs more memory than the guest's, room in bytes. capacity: of the drive, in bytes."""
    jobs = sections(path, text)
    for job in jobs:
        job.options = _expanded(job.options, environment)
    need = jobsizes.memory(jobs, capacity)
    if need <= room:
        return
    clones = [jobsizes.count(job.options, "numjobs") for job in jobs]
    most = jobs[clones.index(max(clones))]
    raise SlateError(
        f"{most.path}, line {most.line}: with {units.many(max(clones), 'clone')} of [{most.name}], of "
        f"{sum(clones)} in all, fio needs {need >> 20:,} MiB of memory or more; the guest has {room >> 20:,} MiB",
        f"give --mem {-(-need // (1 << 30))}G, or reduce numjobs, iodepth or bs",
    )


def _expanded(options: dict[str, str], environment: dict[str, str]) -> dict[str, str]:
    return {key: _VARIABLE.sub(lambda found: environment.get(found[1], ""), value) for key, value in options.items()}


def _check_engine(where: str, engine: str, known: set[str]) -> None:
    if known and engine not in known and not engine.startswith("external"):
        raise SlateError(
            f"{where}: the guest's fio has no ioengine={engine}{names.nearest(engine, sorted(known))}",
            f"use one of: {', '.join(sorted(known))}",
        )


def _files(options: dict[str, str], key: str = "filename") -> list[str]:
    return [name.replace("\\:", ":") for name in _COLON.split(options.get(key, ""))]


def _implied_files(options: dict[str, str], name: str) -> dict[str, str]:
    """Return the files that fio gives a job that names none: one with the job's name, or those of filename_format."""
    files = jobsizes.count(options, "nrfiles")
    if "filename" in options or "read_iolog" in options:
        return {}
    if files == 1 and _place(_normal(name)):
        return {"filename": name}
    form = options.get("filename_format", "")
    found = {}  # in this order, each once
    for clone in range(jobsizes.count(options, "numjobs")):
        for number in range(files):
            file = form
            for key, value in (("$jobname", name), ("$jobnum", clone), ("$filenum", number)):
                file = re.sub(re.escape(key), str(value).replace("\\", r"\\"), file, flags=re.IGNORECASE)
            found[file.replace(":", "\\:")] = True
    return {"filename": ":".join(found)} if form else {}


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


def _paths(options: dict[str, str], file: str) -> list[str]:
    """Return the paths that fio opens for a file: in each directory= that the job's clones use in turn."""
    folders = _files(options, "directory")[: jobsizes.count(options, "numjobs")] if options.get("directory") else []
    return [_normal(f"{folder}/{file}") for folder in folders] or [_normal(file)]


def _normal(path: str) -> str:
    """Return a path without what changes nothing in it: '//', '.', '..'."""
    return re.sub("^/+", "/", posixpath.normpath(path)) if path.startswith("/") else path


def _places_of(options: dict[str, str]) -> list[Place]:
    """Return the namespaces that a job names, or the first drive's first if it names none."""
    paths = [path for file in _files(options) for path in _paths(options, file)]
    return [place for path in paths if (place := _place(path))] or [Place(0, 0)]


def _check_files(
    where: str,
    options: dict[str, str],
    drives: list[list[int | None]],
    state: Drives,
    _: Mapping[str, list[str]],
) -> None:
    fix = "use filename=/dev/nvme0n1; or make and mount a file system in exec_prerun, or in a script (--cmd)"
    if options.get("opendir", "").rstrip("/") == "/dev":
        raise SlateError(f"{where}: opendir=/dev names all files below it, not the drive alone", fix)
    if "opendir" in options or "filename" not in options:
        if folder := options.get("opendir") or options.get("directory"):
            raise SlateError(f"{where}: its files would be in {folder}, in the guest's memory, not on the drive", fix)
        raise SlateError(f"{where} names no file, so it would not touch the drive", "add filename=/dev/nvme0n1")
    for file in _files(options):
        for path in _paths(options, file):
            _check_path(where, options, file, path, drives, state)


def _check_path(
    where: str, options: dict[str, str], file: str, path: str, drives: list[list[int | None]], state: Drives
) -> None:
    """Check a path that fio opens. file: as the job names it."""
    said = f"{where}: filename={file}" + (f" in directory={options['directory']}" if options.get("directory") else "")
    place = _place(path)
    if not place and not path.startswith("/dev/"):
        raise SlateError(
            f"{said} is a file in the guest's memory, not on the drive",
            "use filename=/dev/nvme0n1; or make a file system in exec_prerun, or in a script (--cmd)",
        )
    if not place:
        raise SlateError(
            f"{said} is not the drive",
            "in the guest it is /dev/nvme0n1; a file system is made in exec_prerun, or in a script (--cmd)",
        )
    if state.virtio and not file.startswith(("/dev/nvme0n1", "/dev/vda")) and not path.startswith("/dev/vda"):
        raise SlateError(f"{said} is not there, since the drive is /dev/vda", "use filename=/dev/nvme0n1 or /dev/vda")
    _check_device(said, path, place, drives, state)


def _check_traced(
    where: str,
    options: dict[str, str],
    drives: list[list[int | None]],
    state: Drives,
    given: Mapping[str, list[str]],
) -> None:
    """Check the files that a job's traces name, or the device of replay_redirect, which replaces them."""
    for trace in _files(options, "read_iolog"):
        named = [(file, f"the file {file} of read_iolog={trace}") for file in given.get(trace, ())]
        if one := options.get("replay_redirect"):
            named = [(one, f"replay_redirect={one}")]
        for path, said in ((path, said) for file, said in named for path in _paths(options, file)):
            place = _place(path)
            if not place:
                raise SlateError(f"{where}: {said} is not the drive", "add replay_redirect=/dev/nvme0n1 to the job")
            _check_device(f"{where}: {said}", path, place, drives, state)


def names_in_trace(lines: Iterable[str]) -> list[str]:
    """Return the files that a trace of fio adds, each once; none: the lines are those of another file."""
    found: dict[str, None] = {}
    version = None
    for line in lines:
        words = line.split()
        if version is None:
            head = re.match(r"fio version (\d+) iolog", line)
            if not head:
                return []
            version = int(head[1])
        elif (own := words[version > LOG_WITHOUT_TIMES :])[1:] == ["add"]:
            found[own[0]] = None
    return list(found)


def _check_device(said: str, file: str, place: Place, drives: list[list[int | None]], state: Drives) -> None:
    if file.startswith("/dev/vda") and not state.virtio:
        raise SlateError(f"{said} is not there, since the drive is /dev/nvme0n1",
                         "use /dev/nvme0n1, or give --frontend virtio-blk")
    if _PARTITION.search(file) and not state.kept:
        raise SlateError(f"{said}, and a new drive has no partitions",
                         "use /dev/nvme0n1; or make partitions in exec_prerun, or in a script (--cmd)")
    if place.drive >= len(drives):
        count = len(drives)
        here = "one drive, /dev/nvme0n1" if count == 1 else f"{count} drives, to /dev/nvme{count - 1}n1"
        raise SlateError(
            f"{said}, and this run has {here}",
            f"give --profile {place.drive + 1} times, once for each drive; or change the job",
        )
    if not place.is_on(drives):
        count = len(drives[place.drive])
        raise SlateError(
            f"{said}, and that drive has {units.many(count, 'namespace')}",
            f"give --namespace {place.namespace + 1} times, once for each (or --profile, with --one-controller); "
            "or change the job"
            if place.namespace > 0
            else "namespaces count from 1: /dev/nvme0n1",
        )


def _check_traces(where: str, options: dict[str, str], given: Collection[str]) -> None:
    for file in _files(options, "read_iolog"):
        if file not in ("", "-", *given) and "/" not in file:
            raise SlateError(f"{where}: read_iolog={file} is not in the guest", f"add --file {file}")


def _check_place(where: str, options: dict[str, str], capacity: int) -> None:
    offset = in_bytes(options.get("offset", "0"), capacity)
    step = in_bytes(options.get("offset_increment", "0"), capacity) or 0
    clones = jobsizes.count(options, "numjobs")
    if offset is not None and offset >= capacity:
        raise SlateError(
            f"{where}: offset={options['offset']} is beyond the drive's end, {units.size(capacity)}",
            "use a smaller offset, or a larger drive",
        )
    if offset is not None and step and offset + step * (clones - 1) >= capacity:
        fits = (capacity - offset - 1) // step + 1
        raise SlateError(
            f"{where}: with offset_increment={options['offset_increment']} clone {fits + 1} of {clones} (numjobs) "
            f"begins beyond the drive's end, {units.size(capacity)}",
            f"use a smaller offset_increment, numjobs={fits}, or a larger drive",
        )
    for block in jobsizes.blocks(options, capacity):
        if block.most > capacity - (offset or 0):
            given = options.get(block.option, "4k")
            which = f", its {block.operation} of {units.size(block.most)}," if re.search("[,:-]", given) else ""
            raise SlateError(
                f"{where}: {block.option}={given}{which} does not fit on the drive, {units.size(capacity)}",
                f"use a smaller {block.option} or offset, or a larger drive",
            )

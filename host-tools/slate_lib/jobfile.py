# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads fio job files: sections, hints to the launcher, and errors before the boot.

A job file may carry hints for a run, which the command line overrides:

    # slate: fill=50 age=1.5 smp=2
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from . import account, estimate, jobcheck, names, paths
from .errors import SlateError, quoted

# A job file may always use these variables; run-fio in the guest sets them.
GUEST_ENVIRONMENT = {
    "SLATE_DEV": "/dev/nvme0n1",
    "SLATE_SEED": "1",
    "OUT": "/tmp",
    "SIZE": "100%",
    "LOOPS": "3",
    "RUNTIME": "2",
    "IOS": "0",
}
TRACE_LINES = 100_000  # of a trace of fio, which names its files first
HINTS = ("fill", "age", "kernel", "smp", "mem", "precondition", "timeout", "frontend")
_HINT_LINE = re.compile(r"^\s*[#;]\s*slate:\s*(.*)$")
_FIO_NOISE = re.compile(r"^fio: (?=.)")


@dataclass
class JobFile:
    """Holds the properties of a job that the launcher needs."""

    path: Path
    text: str
    sections: list[str] = field(default_factory=list)
    hints: dict[str, str] = field(default_factory=dict)
    beside: set[str] = field(default_factory=set)  # names of the files that go with it to the guest

    @property
    def name(self) -> str:
        """Return the name in the run's directory."""
        return self.path.stem


def read(path: Path) -> str:
    """Return the text of a job or script. Raises a SlateError if it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SlateError(f"no such file: {path}", available(path)) from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise SlateError(f"can not read {path}: {reason}", "name a readable text file") from None
    return text


def available(path: Path) -> str:
    """Return a fix that lists the existing files in place of the missing one."""
    folder = path.parent if path.parent.is_dir() else paths.ROOT
    found = sorted(p.name for p in folder.glob(f"*{path.suffix or '.fio'}"))
    if not found:
        return "check the path"
    return f"in {paths.short(folder)}/ there are: {', '.join(found[:8])}"


def load(path: Path, environment: dict[str, str], files: list[Path] | None = None) -> JobFile:
    """Read and check a job file. environment: variables that it may use as ${NAME}; files: those beside it."""
    job = JobFile(path, jobcheck.flat(path, read(path)))
    if path.resolve() == (paths.JOBS / "calibrate.fio").resolve():
        raise SlateError(
            f"{path} is for a server and its null_blk", "run it there, then 'slate calibrate fio.json' here"
        )
    job.sections = [section.name or jobcheck.NO_NAME for section in jobcheck.sections(path, job.text)]
    for place, number, line in jobcheck.numbered(path, job.text):
        if match := _HINT_LINE.match(line):
            _add_hints(job, match[1], f"{place}, line {number}")
    if not job.sections:
        raise SlateError(
            f"{path} has no job: it needs a section such as [randread] beside [global]",
            "'slate jobs show quick' prints an example",
        )
    _check_labels(job)
    job.beside = {file.name for file in files or ()}
    jobcheck.check_patterns(path, job.text, job.beside)
    with tempfile.TemporaryDirectory() as folder:  # fio reads patterns where it is called
        for file in files or ():
            (Path(folder) / file.name).symlink_to(file.resolve())
        _ask_fio(job, environment, folder)
    return job


def check_on_drives(
    job: JobFile,
    environment: dict[str, str],
    capacities: list[int | None],
    namespaces: list[list[int | None]],
    files: list[Path],
    state: jobcheck.Drives,
) -> None:
    """Raise a SlateError unless the jobs can do their I/O on these drives. Sizes in bytes; None: unknown.

    namespaces: those of each drive, if it may have several. files: those beside the job in the guest.
    """
    known = [one or [capacity] for one, capacity in zip(namespaces, capacities)]
    given = {file.name: _named(file) for file in files}
    jobcheck.check(job.path, job.text, {**GUEST_ENVIRONMENT, **environment}, _engines(), known, given, state)


def check_memory(job: JobFile, environment: dict[str, str], capacity: int, room: int) -> None:
    """Raise a SlateError if fio needs more memory than the guest has. All in bytes; capacity: of the drive."""
    jobcheck.check_memory(job.path, job.text, {**GUEST_ENVIRONMENT, **environment}, capacity, room)


def _named(file: Path) -> list[str]:
    """Return the files that a trace of fio names; none if the file is something else."""
    try:
        with open(file, encoding="utf-8", errors="replace") as lines:
            return jobcheck.names_in_trace(islice(lines, TRACE_LINES))
    except OSError:
        return []  # what sends it to the guest reports the error


def goal(job: JobFile, environment: dict[str, str], capacity: int) -> estimate.Goal:
    """Return what the job asks for on a drive of this size."""
    return estimate.of(jobcheck.sections(job.path, job.text), {**GUEST_ENVIRONMENT, **environment}, capacity)


def _add_hints(job: JobFile, text: str, where: str) -> None:
    for word in text.split():
        key, equals, value = word.partition("=")
        if not equals or key not in HINTS:
            raise SlateError(
                f"{where}: '{word}' is not a hint{names.nearest(key, HINTS)}",
                f"write '# slate: KEY=VALUE ...' with KEY one of {', '.join(HINTS)}",
            )
        job.hints[key] = value


def _check_labels(job: JobFile) -> None:
    seen: dict[str, str] = {}
    for section in job.sections:
        other = seen.setdefault(account.label_of(section), section)
        if other != section:
            raise SlateError(
                f"{job.path}: the sections [{other}] and [{section}] have the same label, "
                f"{account.label_of(section)}, so the drive can not tell them apart",
                "rename one",
            )


def guest_fio() -> Path | None:
    """Return the guest's static fio, if it has been built."""
    return paths.GUEST / "fio" if (paths.GUEST / "fio").exists() else None


def _engines() -> list[str]:
    """Return the engines of the guest's fio; empty if there is no fio to ask."""
    fio = guest_fio()
    try:
        done = (
            subprocess.run([fio, "--enghelp"], capture_output=True, text=True, timeout=20, check=True) if fio else None
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in done.stdout.splitlines() if line.startswith("\t")] if done else []


def _ask_fio(job: JobFile, environment: dict[str, str], folder: str) -> None:
    """Parse the file with the guest's own fio, which is static and also runs on the host, in a folder."""
    fio = guest_fio()
    if not fio:
        return
    try:
        done = subprocess.run(
            [fio, "--parse-only", job.path.resolve()],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
            cwd=folder,
            env={**GUEST_ENVIRONMENT, **environment},
        )
    except (OSError, subprocess.TimeoutExpired):
        return  # the guest's fio reports the error later
    if done.returncode == 0:
        return
    said = [_FIO_NOISE.sub("", line) for line in (done.stderr + done.stdout).splitlines() if line.strip()]
    raise SlateError(
        f"{job.path}: fio does not accept it:{quoted(list(dict.fromkeys(said))[:10], 120)}",
        "correct the option named above (man fio; fio --cmdhelp=OPTION)",
    )

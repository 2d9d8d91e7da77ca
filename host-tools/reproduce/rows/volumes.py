# SPDX-License-Identifier: GPL-2.0-or-later
"""volumes.py - real volumes beside SPREAD's mixes: the files of a folder, and whether they can be replayed.

PRJ, USR and STG are MSR-Cambridge traces by name. The dissertation does not say which volumes they are, so every file
named prj*, proj* (MSR-Cambridge's own name), usr* or stg* is a volume with its own row. MSR's CSV and lines of
'arrival_ns device lba512 sectors op' are taken; slate-replay detects format and packing.
"""

from __future__ import annotations

import json
import re
import subprocess
import zlib
from gzip import BadGzipFile
from gzip import open as unpack
from pathlib import Path

from reproduce.rows.points import StudyError, Trace

NAMED = re.compile(r"((prj|proj|usr|stg)[A-Za-z0-9_-]*)\.(?:csv|trace)(?:\.gz|\.zst)?")
MIXES = {"prj": "prj", "proj": "prj", "usr": "usr", "stg": "stg"}  # the mix that has the same published name
FORMS = "NAME.csv (MSR-Cambridge's) or NAME.trace ('arrival_ns device lba512 sectors op'), plain, .gz or .zst"
HEAD = 1000  # requests that are replayed to see that the file is a trace
MAKER = "real"  # of a trace in a study


def found(folder: Path) -> dict[str, Path]:
    """Return the volumes of a folder by name."""
    volumes: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if match := NAMED.fullmatch(path.name):
            if match[1] in volumes:
                raise StudyError(f"{folder}: has {volumes[match[1]].name} and {path.name}: keep one file of a volume")
            volumes[match[1]] = path
    if not volumes:
        raise StudyError(f"{folder}: has no volume prj*, proj*, usr* or stg*: put {FORMS} there, or leave TRACES out")
    return volumes


def traces(folder: Path) -> tuple[Trace, ...]:
    """Return a trace for each volume."""
    return tuple(Trace(name, maker=MAKER) for name in found(folder))


def mix_of(name: str) -> str:
    """Return the mix beside which a volume is put."""
    match = NAMED.fullmatch(f"{name}.csv")
    assert match
    return MIXES[match[2]]


def check(path: Path, replay: Path, profile: Path) -> None:
    """Raise StudyError unless the file can be unpacked to its end and begins with requests."""
    if not path.is_file():
        raise StudyError(f"{path}: is no file: put {FORMS} there")
    if path.suffix == ".gz":
        try:
            with unpack(path) as data:
                while data.read(1 << 24):
                    pass
        except (EOFError, BadGzipFile, zlib.error) as error:
            raise StudyError(f"{path}: is no whole gzip file ({error}): fetch it again") from None
    command = [str(replay), "--profile", str(profile), "--closed", "8", "--fold", "--limit", str(HEAD), "--json", "-"]
    done = subprocess.run([*command, str(path)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise StudyError(f"{path}: is no trace: {done.stderr.strip()}")
    if not json.loads(done.stdout)["inputs"][0]["rows"]:
        raise StudyError(f"{path}: has no requests: put {FORMS} there")

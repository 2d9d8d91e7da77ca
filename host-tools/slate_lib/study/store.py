# SPDX-License-Identifier: GPL-2.0-or-later
"""Keeps results by the hash of their inputs: ~/.cache/slate/results/HASH, shared by all clones and studies.

An entry is a folder that is renamed to its name when it is complete, so it is whole or not there:

    inputs.json     the inputs, whose hash is the folder's name
    sums.json       the checksum of each file of the result
    cost.json       what the run took on the host; no part of the result
    ...             the files of the result

Invariants: S1 the hash of inputs.json is the name; S2 sums.json is true, and names all files of the result. lookup()
checks both and removes an entry that breaks one, whose result is then made again. Work folders (.work-WHERE-PID-N) of
processes that are gone are removed. WHERE names the running kernel and the PID namespace: machines of a cluster and
containers may share the folder, and do not see each other's processes. What another one left is removed after a month.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import os
import re
import shutil
import tarfile
import time
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..errors import MachineError, SlateError
from ..shape import Json, clean
from .jobs import DRIVE, Job, hash_of

INPUTS, SUMS, COST = "inputs.json", "sums.json", "cost.json"
ABOUT_HOST = ("run.json",)  # a file of a result that names the host's paths and times
LARGEST = 1 << 30  # bytes of a result in an archive
OLD_S = 30 * 86400
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def home() -> Path:
    """Return the folder of all results: $SLATE_RESULTS, or in the user's cache."""
    if own := os.environ.get("SLATE_RESULTS"):
        return Path(own)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "slate" / "results"


def digest(path: Path) -> str:
    """Return a file's checksum."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Store:
    """Looks up and adds results."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = (root or home()).absolute()  # jobs run in other folders
        self._mine = f".work-{_where()}-{os.getpid()}"
        self.damaged: list[str] = []  # entries that were removed
        self._count = 0
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            self._tidy()
        except OSError as error:
            raise no_room(self.root, error) from None

    def _tidy(self) -> None:
        for path in self.root.glob(".work-*-*-*"):
            _, where, owner, _ = path.name.split("-", 3)
            gone = owner.isdecimal() and not Path(f"/proc/{owner}").exists()
            if gone if where == _where() else time.time() - path.lstat().st_mtime > OLD_S:
                shutil.rmtree(path, ignore_errors=True)

    def work(self) -> Path:
        """Return a new folder for a run, on the disk of the results."""
        self._count += 1
        path = self.root / f"{self._mine}-{self._count}"
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        return path

    def lookup(self, name: str) -> Path | None:
        """Return the folder of a result; None: it is not there, or was damaged and is removed."""
        path = self.root / name
        if not path.is_dir():
            return None
        fault = fault_of(path)
        if not fault:
            return path
        self.damaged.append(f"{name[:12]}: {fault}")
        shutil.rmtree(path, ignore_errors=True)
        return None

    def add(self, job: Job, work: Path, cost: Json) -> Path:
        """Take the files of a run that has ended well. Returns the result's folder."""
        made = self.work()
        try:
            for name in job.keep:
                if (work / name).is_file():
                    os.replace(work / name, made / Path(name).name)
            sums = {path.name: digest(path) for path in sorted(made.iterdir())}
            for name, value in ((INPUTS, job.inputs), (SUMS, sums), (COST, cost)):
                (made / name).write_text(json.dumps(value, indent=1, sort_keys=True) + "\n", encoding="utf-8")
            return self._take(made, job.hash)
        except OSError as error:
            raise no_room(self.root, error) from None
        finally:
            shutil.rmtree(made, ignore_errors=True)

    def _take(self, made: Path, name: str) -> Path:
        target = self.root / name
        try:
            os.rename(made, target)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
        return target  # another process has made the same

    def taken(self, family: str) -> tuple[float, int] | None:
        """Return the seconds and MiB that the last run of a family took; None: none has run."""
        try:
            seconds, mib = self._family(family).read_text(encoding="ascii").split()
            return float(seconds), int(mib)
        except (OSError, ValueError):
            return None

    def seconds(self, family: str) -> float | None:
        """Return how long the last run of a family took; None: none has run."""
        found = self.taken(family)
        return found[0] if found else None

    def learn(self, family: str, seconds: float, mib: int) -> None:
        """Remember what a run took."""
        path = self._family(family)
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{seconds:.3f} {mib}\n", encoding="ascii")

    def _family(self, family: str) -> Path:
        return self.root / ".times" / hashlib.sha256(family.encode()).hexdigest()[:32]


def fault_of(path: Path) -> str:
    """Return what is wrong with an entry; empty: nothing."""
    try:
        if hash_of(json.loads((path / INPUTS).read_text(encoding="utf-8"))) != path.name:
            return f"{INPUTS} is another's"
        sums = json.loads((path / SUMS).read_text(encoding="utf-8"))
        for name, wanted in sums.items():
            if Path(name).name != name or digest(path / name) != wanted:
                return f"{name} is damaged"
        more = {one.name for one in path.iterdir()} - {INPUTS, SUMS, COST, *sums}
        return f"{min(more)} is not in {SUMS}" if sums and more else "" if sums else "it holds no file"
    except OSError as error:
        return f"{Path(str(error.filename)).name}: {(error.strerror or '').lower()}"
    except (ValueError, AttributeError, TypeError, RecursionError):
        return "its lists can not be read"


def no_room(path: Path, error: OSError) -> SlateError:
    """Return the error of a store that cannot be written."""
    return MachineError(
        f"can not write {error.filename or path}: {(error.strerror or str(error)).lower()}",
        "free some space, or name a folder elsewhere with SLATE_RESULTS; what was stored stays",
    )


def same(one: Path, other: Path) -> str:
    """Return the first file in which two results differ; empty: they have equal bytes."""
    sums = [json.loads((path / SUMS).read_text(encoding="utf-8")) for path in (one, other)]
    for name in sorted({*sums[0], *sums[1]} - {*ABOUT_HOST}):
        if sums[0].get(name) != sums[1].get(name):
            return str(name)
    return ""


# ---- archives


def export(store: Store, hashes: Iterable[str], target: Path) -> int:
    """Write results to one file, and return their number. Drives are left out: they can be made again."""
    part = target.with_name(target.name + ".part")
    count = 0
    try:
        with tarfile.open(part, "w:gz", compresslevel=6) as archive:
            for name in sorted(set(hashes)):
                folder = store.root / name
                for path in sorted(folder.iterdir()):
                    _pack(archive, f"{name}/{path.name}", path.read_bytes())
                count += 1
        os.replace(part, target)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        raise MachineError(
            f"--export: can not write {target}: {(error.strerror or str(error)).lower()}",
            "name a file in a folder that exists, on a disk with room; the results stay in their store",
        ) from None
    return count


def _pack(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


def unpack(store: Store, source: Path, wanted: set[str]) -> dict[str, Path]:
    """Read the wanted results of an archive into work folders, and check them. Returns each one's folder."""
    works: dict[str, Path] = {}
    try:
        _read(store, source, wanted, works)
        found = {name: work / name for name, work in works.items()}
        for name, work in works.items():
            os.replace(work / "inside", found[name])
            if fault := fault_of(found[name]):
                raise SlateError(f"{source}: the result {name[:12]} is damaged: {fault}", "copy the file again")
    except BaseException:
        for work in works.values():
            shutil.rmtree(work, ignore_errors=True)
        raise
    return found


def _read(store: Store, source: Path, wanted: set[str], works: dict[str, Path]) -> None:
    """Read the wanted results of an archive into the folder 'inside' of new work folders."""
    room = dict.fromkeys(wanted, LARGEST)
    try:
        with tarfile.open(source, "r:gz") as archive:
            for folder, name, info in _members(archive, source):
                if folder not in wanted:
                    continue
                room[folder] -= info.size
                if room[folder] < 0:
                    raise SlateError(f"{source}: the result {folder[:12]} has more than {LARGEST >> 20} MiB",
                                     "name a file that --export wrote")  # fmt: skip
                if folder not in works:
                    works[folder] = store.work()
                    (works[folder] / "inside").mkdir()
                file = archive.extractfile(info)
                assert file
                with open(works[folder] / "inside" / name, "wb") as target:
                    shutil.copyfileobj(file, target)
    except (tarfile.TarError, EOFError, ValueError, zlib.error) as error:
        # tarfile adds a line for each method of compression
        what = str(error).partition(":")[0] if source.stat().st_size else "it is empty"
        raise SlateError(f"{source} is no archive of results: {what}", "name a file that --export wrote") from None
    except OSError as error:
        if error.filename and Path(str(error.filename)).resolve() != source.resolve():
            raise no_room(store.root, error) from None
        raise SlateError(
            f"can not read {source}: {(error.strerror or str(error)).lower()}", "name a file that --export wrote"
        ) from None


def _members(archive: tarfile.TarFile, source: Path) -> Iterator[tuple[str, str, tarfile.TarInfo]]:
    for info in archive:
        folder, _, name = info.name.partition("/")
        if not info.isreg() or info.issparse() or len(folder) != 64 or not _NAME.fullmatch(name) or name == DRIVE:
            raise SlateError(f"{source}: {clean(info.name)[:120]} is no file of a result",
                             "name a file that --export wrote")  # fmt: skip
        yield folder, name, info


def _where() -> str:
    """Return a name of the running kernel and of the namespace of process numbers, without '-'."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
    return hashlib.sha256((boot + os.readlink("/proc/self/ns/pid")).encode()).hexdigest()[:12]

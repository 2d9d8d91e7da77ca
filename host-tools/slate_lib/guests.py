# SPDX-License-Identifier: GPL-2.0-or-later
"""Lists guests and makes them: 'slate guests', 'slate guest make', and the option --guest."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from . import kernelimage, names, ownkernel, paths
from .commands import Option
from .errors import OK, SlateError
from .shape import Json

BUILD = paths.GUEST_TOOLS / "build.sh"
EXAMPLES = """\
examples:
  slate guest make forky                     the kernel and the programs of a newer Debian
  slate guest make 13 --with python3,sqlite3 further programs, in the guest's PATH
  slate guest make 13 --kernel linux-image-6.12.117.deb --name mine
  slate guest make 13 --kernel linux-base-7.deb,linux-binary-7.deb,linux-modules-7.deb --name mine
  slate guest make --lock build/guest/13/lock --name again   exactly the packages of another guest
  slate run --guest forky
"""
LIST_EXAMPLES = """\
The table has, of each guest: its name, for --guest; the release, the kernel and the fio that it is made of; its size;
and the images that it has besides ('make guest-kernel', 'make guest-apps', 'make guest-content', 'make guest-image').

examples:
  slate guests                               which guests are made; a star marks the one that 'slate run' takes
  slate guest make forky                     make another one
  slate run --guest forky                    run in it
"""
_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._+-]*")
_RELEASE = re.compile(r"12|13|[a-z]+")
_NUMBERS = {"bookworm": "12", "trixie": "13"}
KNOWN = (*_NUMBERS.values(), *_NUMBERS, "forky", "sid")  # releases; of later ones the archive decides
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]*")
_WORD = re.compile(r"^# (\w+) (.*)$", re.M)
IMAGES = {"small": "small/vmlinux", "apps": "apps.img", "content": "content.img", "debian": "image/debian.qcow2"}


def made() -> list[str]:
    """Return the names of the guests that are made."""
    return sorted(path.parent.name for path in paths.GUESTS.glob("*/guest.json"))


def choose(name: str) -> None:
    """Use another guest than the default."""
    if not (paths.GUESTS / name / "guest.json").exists() or not _NAME.fullmatch(name):
        raise SlateError(
            f"--guest {name}: there is no such guest{names.nearest(name, made())}",
            f"{paths.COMMAND} guests lists them; {paths.COMMAND} guest make RELEASE makes one of a release of Debian",
        )
    paths.use_guest(name)


MAKE = (
    Option("release", "RELEASE", "12, 13, or a name such as forky", count="?"),
    Option("--name", "NAME", "for 'slate run --guest NAME' (default: RELEASE)"),
    Option("--kernel", "PACKAGE|FILE.deb,...", "of the release, or the files that it is in (linux-image-amd64)"),
    Option("--with", "PACKAGE,...", "further packages, whose programs are in the guest's PATH"),
    Option("--lock", "FILE", "exactly the packages and sources that a guest's lock names"),
    Option("--update", about="take the newest packages of the release"),
)


def list_all() -> int:
    """Print a table of the guests that are made. 'slate run' takes the first one marked."""
    rows = [("guest", "release", "kernel", "fio", "MB", "images")]
    for name in made():
        folder = paths.GUESTS / name
        about = _read(folder)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
        images = [image for image, file in IMAGES.items() if (folder / file).exists()]
        mark = "*" if name == paths.GUEST.name else ""
        rows.append((f"{name}{mark}", str(about.get("release", "?")), str(about.get("kernel", "?")),
                     str(about.get("fio", "?")), f"{size:.0f}", " ".join(images) or "-"))  # fmt: skip
    if len(rows) == 1:
        print(f"no guest is made: {paths.make('guest')}")
        return OK
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        print("  ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip())
    print("* the default of 'slate run'")
    return OK


def _read(folder: Path) -> Json:
    try:
        found = json.loads((folder / "guest.json").read_text(encoding="utf-8"))
        return found if isinstance(found, dict) else {}
    except (OSError, ValueError):
        return {}


def make(args: argparse.Namespace) -> int:
    """Execute 'slate guest make'. If a guest cannot be made, an older one of its name stays as it was."""
    if paths.INSTALLED:
        raise SlateError("guests are made in the clone", "run 'slate guest make' there, then 'make install' again")
    given = _lock(args)
    release = args.release or _words(given).get("release", "")
    if not _RELEASE.fullmatch(release):
        raise _no_release(release)
    if release not in KNOWN and (near := names.nearest(release, KNOWN)) and not _words(given):
        raise _no_release(release, near)
    if args.lock:
        _check_exact(args, _words(given)["release"])
    name = args.name or _NUMBERS.get(release, release)
    if not _NAME.fullmatch(name):
        raise SlateError(f"--name {name}: not a name for a guest", "use letters, digits, '.', '_', '+' and '-'")
    with _alone() as lock:
        _make(args, name, release, given, lock)
    return OK


def _no_release(release: str, near: str = "") -> SlateError:
    what = f"{release or 'no release'}: no Debian release is called so{near}"
    return SlateError(what, "name one by number (12, 13) or in words (trixie, forky)")


@contextlib.contextmanager
def _alone() -> Iterator[int]:
    """Take the lock of the guest's build (take_lock() of lib.sh), which build.sh then inherits."""
    path = paths.BUILD / "guest-cache" / ".lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("guest: waiting for another part of the guest's build", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def _make(args: argparse.Namespace, name: str, release: str, given: str, lock: int) -> None:
    """Write the guest's lock file and build the guest; if that fails, restore what was there before."""
    folder = paths.GUESTS / name
    kept = (folder / "lock").read_bytes() if (folder / "lock").exists() else None
    new = not folder.exists()
    text = _head(args, release, given or (kept or b"").decode())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "lock").write_text(text, encoding="utf-8")
        status = subprocess.run(
            [BUILD, *(["--update"] if args.update else [])],
            env=os.environ | {"SLATE_GUEST": name, "SLATE_GUEST_LOCKED": str(lock)},
            pass_fds=[lock],
            check=False,
        ).returncode
        if status:
            raise SlateError(f"the guest {name} has not been made", "see the lines above")
    except BaseException:  # Ctrl-C, too
        if new:
            shutil.rmtree(folder, ignore_errors=True)
        elif kept is None:
            (folder / "lock").unlink(missing_ok=True)
        else:
            (folder / "lock").write_bytes(kept)
        raise


def _lock(args: argparse.Namespace) -> str:
    """Return the text of --lock; empty without it."""
    if not args.lock:
        return ""
    try:
        text = Path(args.lock).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise SlateError(f"--lock {args.lock}: can not read it ({error})", "name a guest's file lock") from None
    if "release" not in _words(text):
        raise SlateError(f"--lock {args.lock}: not a guest's lock", "name a file that has a line '# release ...'")
    return text


def _words(lock: str) -> dict[str, str]:
    """Return the lines of a lock that say how the guest is made."""
    return dict(_WORD.findall(lock))


def _head(args: argparse.Namespace, release: str, lock: str) -> str:
    """Return a lock that says how the guest is to be made, with the plans of the given one."""
    words = {} if not args.lock else {key: text for key, text in _words(lock).items() if key in ("kernel", "with")}
    if args.kernel is not None:
        words["kernel"] = str(_package(args.kernel))
    if args.with_ is not None:
        words["with"] = _further(args.with_)
    head = [f"# release {release}", *(f"# {key} {text}" for key, text in words.items())]
    if args.lock:
        head.append("# exact")
    left = [line for line in lock.splitlines() if not re.match(r"# (release|kernel|with|exact)( |$)", line)]
    return "".join(f"{line}\n" for line in [*head, *left])


def _check_exact(args: argparse.Namespace, release: str) -> None:
    """Refuse what would ask for other packages than the lock names. A kernel's file stands in for the lock's kernel."""
    asked = [
        ("RELEASE", args.release, _NUMBERS.get(args.release, args.release) != _NUMBERS.get(release, release)),
        ("--with", args.with_, True),
        ("--kernel", args.kernel, not (args.kernel or "").endswith(".deb")),
    ]
    for option, value, other in asked:
        if value is not None and other:
            raise SlateError(
                f"{option} {value} with --lock {args.lock}: a guest of a lock has exactly its packages, of {release}",
                "leave one of the two out",
            )


def _further(packages: str) -> str:
    """Return the packages of --with, checked."""
    found = packages.replace(",", " ").split()
    bad = next((name for name in found if not _PACKAGE.fullmatch(name)), None)
    if bad or not found:
        raise SlateError(f"--with {packages}: '{bad or ''}' is no name of a package", "such as --with python3,sqlite3")
    return " ".join(found)


@dataclass
class _Kernel:
    """Holds what a kernel's package files have, together."""

    files: list[Path] = field(default_factory=list)
    packages: list[str] = field(default_factory=list)
    needs: list[str] = field(default_factory=list)  # the kernel's packages that they depend on
    config: kernelimage.Config | None = None
    image: bool = False
    built_in: bool = False  # the list of what is built in, which comes with modules
    modules: bool = False


def _package(kernel: str) -> str:
    """Return the name of a package, or the whole paths of packages' files, checked."""
    if not kernel.endswith(".deb"):
        if not _PACKAGE.fullmatch(kernel):
            raise SlateError(
                f"--kernel {kernel}: neither a package's name nor its file, whose name ends in .deb",
                f"a kernel that you compiled runs without a guest of its own: {paths.COMMAND} run --kernel FILE",
            )
        return kernel
    found = _Kernel()
    for name in re.split(r"(?<=\.deb),", kernel):
        _look_into(name, found)
    _check_whole(kernel, found)
    if found.config:
        ownkernel.check_package(kernel, found.config)
    ownkernel.say_unchecked(kernel, found.config)
    return ",".join(map(str, found.files))


def _look_into(name: str, found: _Kernel) -> None:
    """Add what a package's file has."""
    path = Path(name).resolve()
    if not path.exists():
        raise SlateError(f"--kernel {name}: there is no such file", "name a package's file, or a package")
    damaged = SlateError(f"--kernel {name}: no Debian package, or a damaged one", "make or copy it again")
    words = ["dpkg-deb", "--show", "--showformat=${Package}\\n${Architecture}\\n${Depends}", str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise damaged
    package, machine, depends = done.stdout.split("\n", 2)
    if machine != "amd64":
        raise SlateError(f"--kernel {name}: a kernel for {machine}", "the guest is an amd64 machine")
    found.files.append(path)
    found.packages.append(package)
    found.needs += re.findall(r"\blinux-(?:base|binary|image|modules)-\d[a-z0-9+.-]*", depends)
    command = ["dpkg-deb", "--fsys-tarfile", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as whole:
        assert whole.stdout
        try:
            with tarfile.open(fileobj=whole.stdout, mode="r|") as tar:
                _look_at(tar, found)
            while whole.stdout.read(1 << 20):  # behind the last file
                pass
        except tarfile.TarError:
            raise damaged from None
    if whole.returncode:
        raise damaged


def _look_at(tar: tarfile.TarFile, found: _Kernel) -> None:
    for member in tar:
        path = member.name.removeprefix("./").removeprefix("usr/")
        if re.fullmatch(r"boot/vmlinuz-[^/]+|lib/modules/[^/]+/vmlinuz", path):
            found.image = True
        elif re.fullmatch(r"boot/config-[^/]+|lib/modules/[^/]+/config", path) and (file := tar.extractfile(member)):
            text = file.read().decode(errors="replace")
            found.config = kernelimage.parse_config(f"its file {path}", text)
        elif re.fullmatch(r"lib/modules/[^/]+/modules\.builtin", path):
            found.built_in = True
        elif re.fullmatch(r"lib/modules/.+\.ko(\.[a-z]+)?", path):
            found.modules = True


def _check_whole(kernel: str, found: _Kernel) -> None:
    """Refuse files that are only a part of a kernel: in newer releases it is in several packages."""
    needs = sorted(set(found.needs) - set(found.packages))
    lacks = [] if found.image else ["kernel (boot/vmlinuz-* or usr/lib/modules/*/vmlinuz)"]
    if not found.built_in:
        lacks.append("list of what is built in (modules.builtin)")
    if not found.modules and (not found.built_in or any(name.startswith("linux-modules-") for name in needs)):
        lacks.append("modules")
    if lacks:
        more = f"the files of {', '.join(needs)}" if needs else "the files of the packages that have them"
        raise SlateError(f"--kernel {kernel}: has no {', and no '.join(lacks)}",
                         f"name {more}, too: --kernel FILE.deb,FILE.deb")  # fmt: skip

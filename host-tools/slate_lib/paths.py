# SPDX-License-Identifier: GPL-2.0-or-later
"""Names the places of all files: in a clone and its build directory, or where 'make install' put them.

    clone                    installed, under PREFIX     what
    host-tools/              lib/slate/                  this package, the guest's scripts
    build/core/              bin/                        programs that people call
    build/core/              lib/slate/bin/              programs that 'slate' calls
    build/qemu/              lib/slate/qemu/             QEMU
    build/guest/NAME/        lib/slate/images/NAME/      a guest: kernels, root, modules, images
    build/venv/              lib/slate/venv/             Python packages
    nand-emu/profiles/       share/slate/profiles/       drives
    fio-jobs/                share/slate/fio-jobs/       jobs
    docs/examples/studies/   share/slate/studies/        studies
    out/                     ./out/                      results

An installed tree is recognised by the file VERSION beside this package, and by nothing else, so it
may be moved.
"""

import os
from pathlib import Path

from .errors import SlateError

TOOLS = Path(__file__).resolve().parents[1]
INSTALLED = (TOOLS / "VERSION").is_file()

if INSTALLED:
    ROOT = TOOLS.parents[1]  # PREFIX
    SHARE = ROOT / "share" / "slate"
    BUILD = TOOLS
    PROGRAMS: tuple[Path, ...] = (ROOT / "bin", TOOLS / "bin")
    GUESTS = TOOLS / "images"
    PROFILES = SHARE / "profiles"
    JOBS = SHARE / "fio-jobs"
    STUDIES = SHARE / "studies"
    OUT = Path.cwd() / "out"
    COMMAND = "slate"
else:
    ROOT = TOOLS.parent
    BUILD = Path(os.environ.get("SLATE_BUILD") or ROOT / "build")
    PROGRAMS = (BUILD / "core",)
    GUESTS = BUILD / "guest"
    PROFILES = ROOT / "nand-emu" / "profiles"
    JOBS = ROOT / "fio-jobs"
    STUDIES = ROOT / "docs" / "examples" / "studies"
    OUT = ROOT / "out"
    COMMAND = "host-tools/slate"

QEMU = BUILD / "qemu" / "qemu-system-x86_64"
GUEST_TOOLS = TOOLS / "guest"
# A guest is named after its Debian release if it has no name of its own.
DEFAULT_GUEST = (GUEST_TOOLS / "default-release").read_text(encoding="utf-8").strip()
GUEST = GUESTS / (os.environ.get("SLATE_GUEST") or DEFAULT_GUEST)
KERNELS = {"debian": GUEST / "vmlinux", "small": GUEST / "small" / "vmlinux"}
APPS_IMAGE = GUEST / "apps.img"
CONTENT_IMAGE = GUEST / "content.img"
DRIVES_SCRIPT = GUEST_TOOLS / "drives.sh"  # of a guest with several drives
HANDOFF = GUEST_TOOLS / "handoff.sh"  # the first work of a guest that gets its own after the boot
CONTENT = GUEST_TOOLS / "content"  # workloads of --content
VENV = BUILD / "venv"
HOST_FIRMWARE = (Path("/usr/share/seabios"), Path("/usr/share/qemu"))  # for guests of the user's own

DEFAULT_PROFILE = PROFILES / "default.ini"
DEFAULT_JOB = JOBS / "quick.fio"


def use_guest(name: str) -> None:
    """Take another guest than the default: once, before anything asks for its files."""
    global GUEST, APPS_IMAGE, CONTENT_IMAGE  # noqa: PLW0603 - a process has one guest
    GUEST = GUESTS / name
    KERNELS.update(debian=GUEST / "vmlinux", small=GUEST / "small" / "vmlinux")
    APPS_IMAGE = GUEST / "apps.img"
    CONTENT_IMAGE = GUEST / "content.img"
    os.environ["SLATE_GUEST"] = name  # for processes of our own


def short(path: Path | str) -> str:
    """Return the path as a person in the clone or in the current directory would type it."""
    full = Path(path).resolve()
    for base in (Path.cwd(),) if INSTALLED else (Path.cwd(), ROOT):
        if full.is_relative_to(base):
            return str(full.relative_to(base))
    return str(full)


def version() -> str | None:
    """Return the installed version; None in a clone, where git has it."""
    return (TOOLS / "VERSION").read_text(encoding="utf-8").strip() if INSTALLED else None


def make(target: str) -> str:
    """Return the advice for a missing file that this target of the Makefile builds, of the guest that is used."""
    if target.startswith("guest") and GUEST.name != DEFAULT_GUEST:
        return f"run 'SLATE_GUEST={GUEST.name} make {target}'" + (" in the clone" if INSTALLED else "")
    return f"run 'make {target}' in the clone, then 'make install' again" if INSTALLED else f"run 'make {target}'"


def kernel(name: str, vcpus: int = 1) -> Path:
    """Return the guest's kernel. The small one has a variant for several processors."""
    small_smp = GUEST / "small-smp" / "vmlinux"
    return small_smp if name == "small" and vcpus > 1 else KERNELS[name]


def archives(kernel: str) -> list[Path]:
    """Return the archives that the kernel unpacks: of Debian's kernel, the modules, too."""
    return [GUEST / name for name in (("root.lz4", "modules.lz4") if kernel == "debian" else ("root.lz4",))]


def firmware() -> Path:
    """Return the folder of the emulated PC's firmware, which is of the guest's release."""
    return GUEST / "firmware"


def guest_program(name: str) -> Path:
    """Return the path of a program that a run sends into the guest."""
    found = GUEST / "programs" / name
    if not found.exists():
        raise SlateError(f"{short(found)} is not there: the guest has not been built", make("guest"))
    return found


def program(name: str) -> Path:
    """Return the path of a program of the core."""
    for folder in PROGRAMS:
        if (folder / name).exists():
            return folder / name
    raise SlateError(f"{short(PROGRAMS[-1] / name)} is not there: the core has not been built", make("core"))

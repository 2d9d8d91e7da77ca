# SPDX-License-Identifier: GPL-2.0-or-later
"""Where things are: in the clone, and in its build directory."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("SLATE_BUILD") or ROOT / "build")
OUT = ROOT / "out"

QEMU = BUILD / "qemu" / "qemu-system-x86_64"
GUEST = BUILD / "guest"
KERNELS = {"debian": GUEST / "vmlinux", "small": GUEST / "small" / "vmlinux"}
APPS_IMAGE = GUEST / "apps.img"
CONTENT_IMAGE = GUEST / "content.img"
CONTENT = ROOT / "host-tools" / "guest" / "content"  # workloads of --content
VENV = BUILD / "venv"
PROFILE_TOOL = BUILD / "core" / "slate-profile"
FIRMWARE = (Path("/usr/share/seabios"), Path("/usr/share/qemu"))

PROFILES = ROOT / "nand-emu" / "profiles"
DEFAULT_PROFILE = PROFILES / "default.ini"
DEFAULT_JOB = ROOT / "fio-jobs" / "quick.fio"


def short(path: Path | str) -> str:
    """The path as a person in the clone or in the current directory would type it."""
    full = Path(path).resolve()
    for base in (Path.cwd(), ROOT):
        if full.is_relative_to(base):
            return str(full.relative_to(base))
    return str(full)

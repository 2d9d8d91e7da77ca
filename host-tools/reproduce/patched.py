#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""patched.py - slate-replay with a change of the program that is no setting: trials/NAME.patch.

    patched.py NAME

The tree is copied to build/reproduce/trials/NAME/src, patched, and slate-replay is built beside it; again only if a
source or the patch is newer.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

sys.dont_write_bytecode = True

import validate
from realtrace import TraceError

HERE = Path(__file__).resolve().parent
BUILD = validate.ROOT / "build/reproduce/trials"
LEFT_OUT = ("build", "results", ".git", ".snakemake", "__pycache__")
SOURCES = ("CMakeLists.txt", "ftl", "nand-emu", "host-tools/replay", "host-tools/trace", "host-tools/libslate")


def done(*command: str, cwd: Path) -> None:
    """Run a command. Raises TraceError with the end of its output if it fails."""
    try:
        ran = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise TraceError(f"{command[0]} is not installed: a trial needs patch, cmake and ninja") from None
    if ran.returncode:
        said = (ran.stdout + ran.stderr).strip()[-500:]
        raise TraceError(f"{' '.join(command)}: exit status {ran.returncode}: {said}")


def newest(patch: Path) -> float:
    """Return when the patch or a source was changed last."""
    found = [patch]
    for name in SOURCES:
        path = validate.ROOT / name
        found += path.rglob("*.[ch]") if path.is_dir() else [path]
    return max(path.stat().st_mtime for path in found)


@cache
def built(name: str, define: str = "") -> Path:
    """Return slate-replay with a patch. define: an option of the compiler, -DKEY=VALUE."""
    patch, folder = HERE / "trials" / f"{name}.patch", BUILD / f"{name}{define}"
    program = folder / "build/slate-replay"
    if program.exists() and program.stat().st_mtime > newest(patch):
        return program
    shutil.rmtree(folder / "src", ignore_errors=True)
    ignored = shutil.ignore_patterns(*LEFT_OUT)
    shutil.copytree(validate.ROOT, folder / "src", symlinks=True, ignore=ignored)
    done("patch", "--batch", "--fuzz=0", "-p1", "-i", str(patch), cwd=folder / "src")
    done("cmake", "-S", "src", "-B", "build", "-G", "Ninja", f"-DCMAKE_C_FLAGS={define}", cwd=folder)
    done("cmake", "--build", "build", "--target", "slate-replay", cwd=folder)
    return program


if __name__ == "__main__":
    try:
        built(sys.argv[1])
    except (TraceError, OSError) as error:
        sys.exit(f"patched.py: {error}")

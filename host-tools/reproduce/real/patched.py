# SPDX-License-Identifier: GPL-2.0-or-later
"""patched.py - slate-replay with a change of the program that is no setting: trials/NAME.patch.

    reproduce patched NAME

The tree is copied to build/reproduce/trials/NAME/src, patched, and slate-replay is built beside it; again only if a
source or the patch is newer.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from reproduce import places
from reproduce.places import ROOT
from reproduce.traces.realtrace import TraceError

BUILD = ROOT / "build/reproduce/trials"
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
        path = ROOT / name
        found += path.rglob("*.[ch]") if path.is_dir() else [path]
    return max(path.stat().st_mtime for path in found)


@cache
def built(name: str, define: str = "") -> Path:
    """Return slate-replay with a patch. define: an option of the compiler, -DKEY=VALUE."""
    patch, folder = places.PACKAGE / "trials" / f"{name}.patch", BUILD / f"{name}{define}"
    program = folder / "build/slate-replay"
    if program.exists() and program.stat().st_mtime > newest(patch):
        return program
    shutil.rmtree(folder / "src", ignore_errors=True)
    ignored = shutil.ignore_patterns(*LEFT_OUT)
    shutil.copytree(ROOT, folder / "src", symlinks=True, ignore=ignored)
    done("patch", "--batch", "--fuzz=0", "-p1", "-i", str(patch), cwd=folder / "src")
    done("cmake", "-S", "src", "-B", "build", "-G", "Ninja", f"-DCMAKE_C_FLAGS={define}", cwd=folder)
    done("cmake", "--build", "build", "--target", "slate-replay", cwd=folder)
    return program


def main(argv: list[str]) -> int:
    """Build the program with the patch that argv names."""
    try:
        (name,) = argv
        built(name)
    except ValueError:
        print("reproduce patched: expected one NAME, of trials/NAME.patch", file=sys.stderr)
        return 2
    except (TraceError, OSError) as error:
        print(f"reproduce patched: {error}", file=sys.stderr)
        return 1
    return 0

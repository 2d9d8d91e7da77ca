#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check the code by the linters, and print TAP: a test each, with what it found ('make lint').

    tests/lint.py [--only WORD] [--list]

A linter's settings, and why some of its rules are off, are in its own file:
ruff.toml, mypy.ini, tests/mypy.ini, .codespellrc, .shellcheckrc, .clang-tidy,
.clang-format (with tests/format.py).
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True

import format as layout
import imports
import rooms
import shape

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("SLATE_BUILD", ROOT / "build"))
TOOLS = BUILD / "venv-lint" / "bin"
PYTHON = BUILD / "venv" / "bin" / "python3"  # has the types of matplotlib, Jinja2 and qemu.qmp
LEFT_OUT = {".git", ".snakemake", "__pycache__", "build", "out"}
JOBS = os.cpu_count() or 1
C_AT_ONCE = 8  # files of one clang-tidy
# tables and packed files, and patches of another project's code
NO_PROSE = {".csv", ".svg", ".png", ".gz", ".content", ".patch", ".json"}
PACKAGES = ("host-tools/slate", "host-tools/slate_lib", "host-tools/reproduce")
PROGRAMS = ("host-tools/install", "host-tools/guest", "host-tools/guest/content", "host-tools/guest/apps",
            "host-tools/python")  # fmt: skip
C_FOLDERS = {"ftl", "nand-emu", "host-tools", "docs", "tests"}  # qemu-patches: with QEMU's headers
KERNEL_C = {"nand-emu/port_kernel.c", "tests/kunit/blk.c", "tests/kunit/core.c", "tests/kunit/libc.c"}
C_INCLUDES = ("nand-emu", "ftl/*/", "ftl/*/*/", "host-tools/libslate", "host-tools/trace", "host-tools/replay",
              "host-tools/ctl", "host-tools/load", "tests/core", "tests/fuzz")  # fmt: skip
C_PACKAGES = ("inih", "zlib", "libzstd", "libgcrypt", "libisal", "jansson", "liburing", "libnvme")
_SHELL = re.compile(rb"#!.*\b(ba|da)?sh\b")
_PYTHON = re.compile(rb"#!.*\bpython3?\b")


def packaged(name: str) -> Path:
    """Return a linter's program itself. What starts it in TOOLS needs setuptools, which newer Pythons do not have."""
    inside = f"lib/python3*/site-packages/{name.replace('-', '_')}/data/bin/{name}"
    return next(TOOLS.parent.glob(inside), TOOLS / name)


def files() -> list[Path]:
    """Return every file of the tree, relative to ROOT."""
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(set(folders) - LEFT_OUT)
        found += [Path(folder, name).relative_to(ROOT) for name in sorted(names)]
    return [path for path in found if not (ROOT / path).is_symlink() and path.parts != (".git",)]


def python_of(folder: Path) -> list[Path]:
    """Return the modules of a folder, without subfolders."""
    return sorted(path.relative_to(ROOT) for path in folder.glob("*.py"))


def is_written_in(path: Path, suffix: str, first_line: re.Pattern[bytes]) -> bool:
    """Does the name, or the first line of a file without a suffix, name the language?"""
    if path.suffix:
        return path.suffix == suffix
    with open(ROOT / path, "rb") as file:
        return bool(first_line.match(file.readline(80)))


def is_shell(path: Path) -> bool:
    return is_written_in(path, ".sh", _SHELL)


def is_python(path: Path) -> bool:
    return is_written_in(path, ".py", _PYTHON)


def run(*words: object) -> str:
    """Return the output of a linter if it found a fault or could not run."""
    try:
        done = subprocess.run(
            [str(word) for word in words], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
        )  # fmt: skip
    except OSError as error:
        return f"{words[0]}: {error.strerror}: run 'make lint', which installs it\n"
    return done.stdout + f"{Path(str(words[0])).name}: exit status {done.returncode}\n" if done.returncode else ""


def each(lines: Iterable[list[object]]) -> str:
    """Run several linters at once."""
    with ThreadPoolExecutor(JOBS) as pool:
        return "".join(pool.map(lambda line: run(*line), lines))


def ruff() -> str:
    return run(TOOLS / "ruff", "check", "--cache-dir", BUILD / "lint/ruff", "--output-format", "concise", ".")


def _mypy(name: str, config: str, paths: Iterable[Path]) -> list[object]:
    cache = BUILD / "lint" / f"mypy-{name}"
    return [TOOLS / "mypy", "--config-file", config, "--python-executable", PYTHON, "--cache-dir", cache, *paths]


def mypy() -> str:
    modules = [path for folder in PROGRAMS for path in python_of(ROOT / folder)]
    return run(*_mypy("programs", "mypy.ini", [*map(Path, PACKAGES), *modules]))


def mypy_tests() -> str:
    """Run mypy on one folder at a time, because several have a module 'support'."""
    folders = sorted({path.parent for path in files() if path.suffix == ".py" and path.parts[0] == "tests"})
    return each(_mypy("-".join(folder.parts), "tests/mypy.ini", python_of(ROOT / folder)) for folder in folders)


def codespell() -> str:
    return run(TOOLS / "codespell", *(path for path in files() if path.suffix not in NO_PROSE))


def shellcheck() -> str:
    return run(TOOLS / "shellcheck", *(path for path in files() if is_shell(path)))


def clang_tidy() -> str:
    sources = [
        path
        for path in files()
        if path.suffix == ".c" and path.parts[0] in C_FOLDERS and path.as_posix() not in KERNEL_C
    ]
    flags = subprocess.run(["pkg-config", "--cflags", *C_PACKAGES], stdout=subprocess.PIPE, text=True, check=True)
    folders = [folder.relative_to(ROOT) for pattern in C_INCLUDES for folder in sorted(ROOT.glob(pattern))]
    after = ["--", "-std=gnu11", *(f"-I{folder}" for folder in folders), *flags.stdout.split()]
    tidy = [packaged("clang-tidy"), "--quiet"]
    found = each([*tidy, *sources[at : at + C_AT_ONCE], *after] for at in range(0, len(sources), C_AT_ONCE))
    return re.sub(r"(?m)^\d+ warnings? generated\.\n", "", found)  # with those of the system's headers


def shapes() -> str:
    tree = files()
    c_files = [path for path in tree if path.suffix in (".c", ".h")]
    return shape.too_long(ROOT, c_files, [path for path in tree if is_python(path)])


def circles() -> str:
    return rooms.check(ROOT, files())


def cycles() -> str:
    return imports.check(ROOT, files())


def clang_format() -> str:
    sources = [path for path in files() if path.suffix in (".c", ".h") and path.parts[0] in C_FOLDERS]
    with ProcessPoolExecutor(JOBS) as pool:
        return "".join(pool.map(layout.check, [ROOT] * len(sources), sources, chunksize=8))


@dataclass(frozen=True)
class Linter:
    """Describes a linter, which is one test."""

    name: str
    what: str
    find: Callable[[], str]


LINTERS = (
    Linter("ruff", "the Python code", ruff),
    Linter("mypy", "types of the Python programs", mypy),
    Linter("mypy-tests", "types of the tests", mypy_tests),
    Linter("codespell", "code and documents", codespell),
    Linter("shellcheck", "the shell scripts", shellcheck),
    Linter("clang-tidy", "the C code", clang_tidy),
    Linter("clang-format", "the C code's indentation, spaces and braces", clang_format),
    Linter("shape", "lengths of functions and files", shapes),
    Linter("rooms", "circles of calls in the core, labels of invariants", circles),
    Linter("imports", "cycles of imports in slate_lib and reproduce", cycles),
)


def main() -> int:
    """Returns 1 if a linter found something."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="WORD", help="only linters whose name has WORD")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    chosen = [linter for linter in LINTERS if args.only in linter.name]
    if args.list:
        print("\n".join(f"{linter.name:<12} {linter.what}" for linter in chosen))
        return 0
    print(f"1..{len(chosen)}", flush=True)
    failed = 0
    for number, linter in enumerate(chosen, 1):
        began = time.monotonic()
        found = linter.find()
        failed += bool(found)
        took = time.monotonic() - began
        print(f"{'not ok' if found else 'ok'} {number} - {linter.name}: {linter.what} # time={took:.2f}")
        for line in found.splitlines():
            print(f"# {line}")
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

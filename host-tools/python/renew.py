#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""renew.py [--upgrade] [NAME...]: write NAME.txt, pinned packages with hashes, from each NAME.in ('make requirements').

A list holds for CPython 3.11 to 3.14 on x86-64 Linux with glibc: of each package it has the hashes of the wheels for
these, and of the source archive if one of these has no wheel. Versions stay as they are in NAME.txt if NAME.in allows
them; --upgrade takes the newest. uv (build/venv-requirements) resolves.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build"
PYTHONS = range(11, 15)
UV = BUILD / "venv-requirements" / "bin" / "uv"
_WHEEL = re.compile(r"-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)\.whl$")


def fits(wheel: str, minor: int) -> bool:
    """Can CPython 3.MINOR on x86-64 Linux with glibc install this wheel?"""
    tags = _WHEEL.search(wheel)
    if not tags:
        return False
    platforms = tags["platform"].split(".")
    if not any(p == "any" or (p.startswith(("manylinux", "linux")) and p.endswith("_x86_64")) for p in platforms):
        return False
    pythons, abi = tags["python"].split("."), tags["abi"]
    if abi == "abi3":
        return any(python.startswith("cp3") and int(python[3:]) <= minor for python in pythons)
    if abi != "none":
        return f"cp3{minor}" in pythons and abi in pythons
    return f"cp3{minor}" in pythons or any(
        re.fullmatch(r"py3\d*", python) and int(python[3:] or 0) <= minor for python in pythons
    )


def file_name(entry: dict[str, str]) -> str:
    """Return the name of a file of the lock."""
    return entry.get("name") or entry["url"].rpartition("/")[2]


def requirement(package: dict[str, Any]) -> str:
    """Return a package's lines: version, marker and hashes."""
    wheels = {minor: [w for w in package.get("wheels", []) if fits(file_name(w), minor)] for minor in PYTHONS}
    without = [minor for minor in PYTHONS if not wheels[minor]]
    if without and "sdist" not in package:
        missed = ", ".join(f"3.{minor}" for minor in without)
        sys.exit(f"renew.py: {package['name']} {package['version']} has no file for CPython {missed}")
    chosen = [wheel for minor in PYTHONS for wheel in wheels[minor]] + ([package["sdist"]] if without else [])
    marker = f" ; {package['marker']}" if "marker" in package else ""
    hashes = sorted({f"--hash=sha256:{entry['hashes']['sha256']}" for entry in chosen})
    return " \\\n    ".join([f"{package['name']}=={package['version']}{marker}", *hashes])


def renew(name: str, upgrade: bool) -> None:
    """Write NAME.txt."""
    source, target = HERE / f"{name}.in", HERE / f"{name}.txt"
    pins = re.findall(r"^[^\s#]+==[^\s;]+", target.read_text(encoding="utf-8"), re.M) if target.exists() else []
    with tempfile.TemporaryDirectory() as folder:
        lock, keep = Path(folder, "pylock.toml"), Path(folder, "pins.txt")
        keep.write_text("".join(f"{pin}\n" for pin in pins), encoding="utf-8")
        command = [str(UV), "pip", "compile", "--quiet", "--universal", f"--python-version=3.{PYTHONS[0]}"]
        command += ["--format=pylock.toml", "--no-header", f"--output-file={lock}", str(source)]
        if not upgrade:
            command.append(f"--constraint={keep}")
        if subprocess.run(command, check=False).returncode:
            sys.exit(f"renew.py: {name}.in cannot be resolved with the versions of {name}.txt: try --upgrade")
        packages = tomllib.loads(lock.read_text(encoding="utf-8"))["packages"]
    head = f"# Made from {name}.in by renew.py ('make requirements').\n"
    target.write_text(head + "".join(f"{requirement(package)}\n" for package in packages), encoding="utf-8")
    print(f"{target.name}: {len(packages)} packages")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    parser.add_argument("name", nargs="*", help="lists (default: all)")
    args = parser.parse_args()
    known = sorted(path.stem for path in HERE.glob("*.in"))
    unknown = [name for name in args.name if name not in known]
    if unknown:
        parser.error(f"no list named {', '.join(unknown)}; there are {', '.join(known)}")
    for name in args.name or known:
        renew(name, args.upgrade)


if __name__ == "__main__":
    main()

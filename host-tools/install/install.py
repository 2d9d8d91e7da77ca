#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""install.py [--prefix DIR] [--destdir DIR] [--uninstall] - what 'make install' does.

Copies what a clone has built to PREFIX (slate_lib/paths.py says where); QEMU and the guest
as far as they are there. What was installed is listed in PREFIX/lib/slate/MANIFEST, and
--uninstall removes that and nothing else.
"""

from __future__ import annotations

import argparse
import fnmatch
import gzip
import os
import py_compile
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
TOOLS = HERE.parent
ROOT = TOOLS.parent
sys.path.insert(0, str(TOOLS))

from slate_lib import facts, paths
from slate_lib.errors import SlateError

CALLED = ("slate-replay", "slate-content", "slate-trace", "slate-load", "slatectl")  # by people
OWN = ("slate-age", "slate-profile")  # by slate
GUEST_SCRIPTS = ("cpio.py", "default-release", "results.py", "drives.sh", "handoff.sh", "to-image",
                 "slate.service", "image-start.sh", "jobs/*", "cuts/*", "apps/*", "content/*")
IMAGES = ("vmlinux", "root.lz4", "modules.lz4", "firmware/bios-256k.bin", "firmware/kvmvapic.bin",
          "firmware/linuxboot_dma.bin", "firmware/pvh.bin", "guest.json", "lock", "small/vmlinux",
          "small/kernel.json", "small-smp/vmlinux", "small-smp/kernel.json", "apps.img",
          "apps.json", "content.img", "content.json")
QEMU = ("qemu-system-x86_64", "qemu-img", "qemu-io", "qemu-nbd", "qemu-storage-daemon")
MANUALS = ("install/slate-replay.1", "install/slate-content.1", "install/slate-trace.1", "load/slate-load.1",
           "ctl/slatectl.1")  # fmt: skip
DOCS = (
    "README.md", "CHANGELOG.md", "SPEC.md", "LICENSE", "docs/*.md", "docs/notes/*.md", "docs/examples/*.c",
    "DESIGN.md", "*/DESIGN.md", "ftl/*/DESIGN.md", "tests/kunit/DESIGN.md",
)  # fmt: skip
VENV = paths.BUILD / "venv-install"
BUILDERS = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "distutils-")  # not for us
# Parts of matplotlib and its dependencies that 'slate report --html' does not load. fnmatch: '*' also matches '/'.
NOT_LOADED = (
    "*/tests/*", "*.pyi", "*.pxd", "*.pyx", "*.h", "*.a", "*.c",
    "numpy/f2py/*", "numpy/distutils/*", "numpy/random/*",
    "matplotlib/mpl-data/sample_data/*", "matplotlib/mpl-data/images/*", "matplotlib/mpl-data/fonts/afm/*",
    "matplotlib/mpl-data/fonts/pdfcorefonts/*", "matplotlib/backends/web_backend/*",
    "fontTools/*", "PIL/_avif*", "pillow.libs/libavif*", "tzdata*",
)  # fmt: skip
LOADED = ("fontTools/__init__.py", "fontTools/agl.py", "fontTools/misc/__init__.py",
          "fontTools/misc/loggingTools.py", "fontTools/misc/textTools.py")  # of these, though
MANIFEST = Path("lib/slate/MANIFEST")


class Installer:
    """Copies files into PREFIX and keeps a list of them."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.done: list[str] = []

    def _place(self, name: str) -> Path:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        self.done.append(name)
        return path

    def copy(self, source: Path, name: str, mode: int = 0o644) -> None:
        """Install a file."""
        path = self._place(name)
        shutil.copyfile(source, path)
        path.chmod(mode)

    def program(self, source: Path, name: str) -> None:
        """Install a program without its debugging symbols."""
        self.copy(source, name, 0o755)
        subprocess.run(["strip", str(self.top / name)], check=True)

    def text(self, content: str | bytes, name: str) -> None:
        """Install a file with this content."""
        path = self._place(name)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(0o644)

    def link(self, target: str, name: str) -> None:
        """Install a symbolic link."""
        self._place(name).symlink_to(target)


def made(*command: str) -> str:
    """Return the output of a script in this folder."""
    return subprocess.run(
        [VENV / "bin" / "python3", HERE / command[0], *command[1:]], capture_output=True, text=True, check=True
    ).stdout


def matching(folder: Path, patterns: tuple[str, ...]) -> Iterator[Path]:
    """Return the matching files, in order."""
    for pattern in patterns:
        found = (path for path in folder.glob(pattern) if path.is_file())
        yield from sorted(path for path in found if "__pycache__" not in path.parts)


def programs(to: Installer) -> None:
    """Install the launcher and the core's programs."""
    to.copy(TOOLS / "slate", "lib/slate/slate", 0o755)
    to.link("../lib/slate/slate", "bin/slate")
    to.text(facts.describe() + "\n", "lib/slate/VERSION")
    for path in matching(TOOLS, ("slate_lib/**/*",)):
        to.copy(path, f"lib/slate/{path.relative_to(TOOLS)}")
    for path in matching(TOOLS / "guest", GUEST_SCRIPTS):
        to.copy(path, f"lib/slate/{path.relative_to(TOOLS)}", path.stat().st_mode & 0o755 | 0o444)
    for name in CALLED:
        to.program(paths.program(name), f"bin/{name}")
    for name in OWN:
        to.program(paths.program(name), f"lib/slate/bin/{name}")


def data(to: Installer) -> None:
    """Install drives, jobs, manuals, completion, documentation."""
    for path in matching(paths.PROFILES, ("*.ini", "README.md")):
        to.copy(path, f"share/slate/profiles/{path.name}")
    for folder in ("drives", "sheets"):
        for path in matching(paths.PROFILES / folder, ("*.ini",)):
            to.copy(path, f"share/slate/profiles/{folder}/{path.name}")
    for path in matching(paths.JOBS, ("*.fio",)):
        to.copy(path, f"share/slate/fio-jobs/{path.name}")
    for path in matching(paths.STUDIES, ("*.toml",)):
        to.copy(path, f"share/slate/studies/{path.name}")
    pages = {"slate.1": made("manual.py")} | {
        Path(name).name: (TOOLS / name).read_text(encoding="utf-8") for name in MANUALS
    }
    for name, page in pages.items():
        to.text(gzip.compress(page.encode(), mtime=0), f"share/man/man1/{name}.gz")
    shells = "share/bash-completion/completions"
    to.text(made("completion.py", "bash"), f"{shells}/slate")
    to.copy(HERE / "tools.bash", f"{shells}/slatectl")
    for name in CALLED[:-1]:
        to.link("slatectl", f"{shells}/{name}")
    to.text(made("completion.py", "zsh"), "share/zsh/site-functions/_slate")
    for path in matching(ROOT, DOCS):
        to.copy(path, f"share/doc/slate/{path.relative_to(ROOT)}")


def wanted(name: str) -> bool:
    """Does an installed command load this file of the Python environment?"""
    if name.startswith(BUILDERS):
        return False
    return name in LOADED or not any(fnmatch.fnmatchcase(name, pattern) for pattern in NOT_LOADED)


def environment(to: Installer) -> None:
    """Install the Python packages: qemu.qmp for 'slate run', matplotlib for 'slate report --html'."""
    for site in sorted((paths.VENV / "lib").glob("python3*/site-packages")):
        for path in matching(site, ("**/*",)):
            name = str(path.relative_to(site))
            if wanted(name):
                to.copy(path, f"lib/slate/venv/lib/{site.parent.name}/site-packages/{name}")


def machine(to: Installer) -> bool:
    """Install QEMU, the guest and the programs that use them. Returns False if they are not built."""
    environment(to)
    for name in QEMU:
        if (paths.QEMU.parent / name).exists():
            to.program(paths.QEMU.parent / name, f"lib/slate/qemu/{name}")
    for name in IMAGES:
        if (paths.GUEST / name).exists():
            to.copy(paths.GUEST / name, f"lib/slate/images/{paths.GUEST.name}/{name}")
    for path in matching(paths.GUEST, ("fio", "programs/*")):
        to.program(path, f"lib/slate/images/{paths.GUEST.name}/{path.relative_to(paths.GUEST)}")
    return paths.QEMU.exists() and (paths.GUEST / "root.lz4").exists()


def compile_modules(to: Installer) -> None:
    """Compile the installed modules, since most users can not write where Python would keep them compiled.

    A module that was changed afterwards is compiled anew by Python, which compares its hash.
    """
    for name in [name for name in to.done if name.endswith(".py")]:
        made = py_compile.compile(str(to.top / name), dfile=name, quiet=2,
                                  invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)  # fmt: skip
        if made:  # some package has templates of modules
            to.done.append(str(Path(made).relative_to(to.top)))


def uninstall(top: Path) -> None:
    """Remove the files in the manifest, and the folders that are then empty."""
    manifest = top / MANIFEST
    if not manifest.exists():
        raise SlateError(f"{manifest} is not there: nothing of Slate is installed", "is --prefix right?")
    folders: set[Path] = set()
    for name in manifest.read_text(encoding="utf-8").splitlines():
        path = top / name
        path.unlink(missing_ok=True)
        for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc") if path.suffix == ".py" else ():
            compiled.unlink()  # by another Python
        folders.update(parent for parent in (top / name).parents if parent.is_relative_to(top))
    for folder in sorted(folders - {top}, key=lambda path: len(path.parts), reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def install(top: Path) -> None:
    """Install everything, after removing an earlier installation."""
    if (top / MANIFEST).exists():
        uninstall(top)
    if not VENV.exists():
        raise SlateError(f"{VENV} is not there", "run 'make install', which makes it")
    to = Installer(top)
    programs(to)
    data(to)
    whole = machine(to)
    compile_modules(to)
    to.text("\n".join([*to.done, str(MANIFEST)]) + "\n", str(MANIFEST))
    print(f"installed {len(to.done)} files in {top}")
    if not whole:
        print("QEMU and the guest are not built: 'slate run' will not work; 'make build install' has them")


def main() -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--prefix", default="/usr/local")
    parser.add_argument("--destdir", default="")
    parser.add_argument("--uninstall", action="store_true")
    args = parser.parse_args()
    if not os.path.isabs(args.prefix):
        parser.error(f"PREFIX {args.prefix} must begin with '/'")
    top = Path(os.path.abspath(args.destdir + args.prefix if args.destdir else args.prefix))
    try:
        if args.uninstall:
            uninstall(top)
        else:
            install(top)
    except subprocess.CalledProcessError as error:
        print(f"slate: {error}\n{error.stderr or ''}", file=sys.stderr)
        return 1
    except SlateError as error:
        print(f"slate: {error}", file=sys.stderr)
        return error.code
    except OSError as error:
        print(f"slate: can not write in {top}: {error}\n  fix: run as root, or name a PREFIX of yours", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

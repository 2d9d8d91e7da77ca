# SPDX-License-Identifier: GPL-2.0-or-later
"""Test 'make install' into a folder: the installed programs work without the clone."""

import atexit
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
INSTALL = ROOT / "host-tools" / "install" / "install.py"
QEMU = ROOT / "build" / "qemu" / "qemu-system-x86_64"
COMPLETION = "/usr/share/bash-completion/bash_completion"


def may_hide() -> bool:
    """Can this user put an empty folder over the clone?"""
    return not subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode


def install(destdir: Any, *words: Any, code: int = 0, **environment: Any) -> str:
    """Run the installer and return its output."""
    done = subprocess.run(
        [INSTALL, "--destdir", destdir, *words], capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, **environment},
    )
    if done.returncode != code:
        raise AssertionError(f"{done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


_once = threading.Lock()


def shared() -> Path:
    """Like _shared(), but only one thread makes it, and the others wait."""
    with _once:
        return _shared()


@functools.cache
def _shared() -> Path:
    """Install once for all tests of this file, which do not change it."""
    folder = Path(tempfile.mkdtemp(prefix="slate-install-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "work").mkdir()
    install(folder / "root")
    return folder


class Install(unittest.TestCase):
    """Install with PREFIX=/usr/local below a separate folder."""

    def setUp(self) -> None:
        self.folder = shared()
        self.top = self.folder / "root" / "usr" / "local"
        self.work = self.folder / "work"

    def call(self, *words: Any, code: int = 0, seconds: float = 60) -> str:
        """Run an installed program in another folder, without the clone."""
        line = [str(self.top / "bin" / words[0]), *map(str, words[1:])]
        if may_hide():
            line = ["unshare", "-m", "sh", "-c", f'mount -t tmpfs none "{ROOT}" && exec "$@"', "sh", *line]
        done = subprocess.run(line, cwd=self.work, capture_output=True, text=True, timeout=seconds, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_profiles(self) -> None:
        self.assertRegex(self.call("slate", "profiles"), r"(?m)^small +320 MiB +256 MiB +page ")
        self.assertIn("capacity   320 MiB raw", self.call("slate", "profiles", "show", "small"))

    def test_jobs(self) -> None:
        self.assertRegex(self.call("slate", "jobs"), r"(?m)^quick +the six numbers of a data sheet")
        job = (self.top / "share/slate/fio-jobs/quick.fio").read_text(encoding="utf-8")
        self.assertEqual(self.call("slate", "jobs", "show", "quick"), job)

    def test_replay(self) -> None:
        """'slate replay' takes names, slate-replay only paths."""
        profile = self.top / "share/slate/profiles/small.ini"
        words = ["--closed", 4, "--check", "gen:rand4k,foot=8MiB,n=2000,read=500"]
        by_slate = self.call("slate", "replay", "--profile", "small", *words)
        self.assertIn("0 wrong", by_slate)
        cut = "slate-replay: "  # the host's time comes last
        ours = self.call("slate-replay", "--profile", profile, *words)
        self.assertEqual(ours.partition(cut)[0], by_slate.partition(cut)[0])

    def test_drives(self) -> None:
        self.call("slate", "age", "small", "--writes", "1x", "--content", "zero", "-o", "a.slate")
        # the file has 320.9 MiB, 8 bytes of checksums for each of 20,480 pages, and the head again
        # 320 MiB of pages; of the 1.7 MiB of tables, 0.6 are the forms: 8 bytes for each of 81,920 units
        self.assertIn("a.slate: 321.7 MiB, ", self.call("slate", "drive", "show", "a.slate"))

    def test_a_page(self) -> None:
        """The page is that of the clone, byte for byte, although only a part of matplotlib is installed."""
        golden = ROOT / "tests" / "launcher" / "golden"
        done = subprocess.run(
            [ROOT / "host-tools/slate", "report", golden, "--html", self.work / "ours.html"],
            capture_output=True, text=True, timeout=120, check=True,
        )
        self.assertEqual(done.stderr, "")
        shutil.copytree(golden, self.work / "golden")
        self.assertEqual(self.call("slate", "report", "golden", "--html"), "slate: wrote golden/report.html\n")
        self.assertEqual((self.work / "golden/report.html").read_bytes(), (self.work / "ours.html").read_bytes())

    def test_what_is_left_out(self) -> None:
        """Tests, sources and unused parts of Python packages are not installed."""
        venv = self.top / "lib/slate/venv"
        left_out = re.compile(r"/(tests|f2py|sample_data)/|\.(pyi|pxd|h|a)$")
        files = [path for path in venv.rglob("*") if path.is_file() and path.suffix != ".pyc"]
        self.assertEqual([path for path in files if left_out.search(str(path))], [])
        # the packages' own programs are larger for Python 3.14: 92,211,672 bytes on Debian forky
        most = 92_000_000 if sys.version_info < (3, 14) else 93_000_000
        self.assertLess(sum(path.stat().st_size for path in files), most)

    def test_compiled(self) -> None:
        """Every installed module is there compiled, for users who can not write there; a changed one is read anew."""
        top = self.top / "lib/slate"
        self.assertEqual([path for path in top.rglob("*.py") if not Path(cache_from_source(path)).exists()], [])
        with tempfile.TemporaryDirectory() as name:
            shutil.copytree(top / "slate_lib", Path(name) / "slate_lib")
            (Path(name) / "slate_lib/errors.py").write_text("OK = 17\n", encoding="utf-8")
            done = subprocess.run(
                [sys.executable, "-c", "from slate_lib.errors import OK; print(OK)"],
                cwd=name, capture_output=True, text=True, check=True,
            )
        self.assertEqual(done.stdout, "17\n")

    def test_other_programs(self) -> None:
        for name in ("slate-content", "slate-trace", "slate-load", "slatectl"):
            self.assertIn(f"usage: {name} ", self.call(name, "--help"))
        self.assertIn("no such profile: none.ini", self.call("slate", "run", "--profile", "none.ini", code=2))

    @unittest.skipUnless(QEMU.exists(), "QEMU is not built")
    def test_a_guest(self) -> None:
        self.call("slate", "run", "--job", "randread-qd1", "--profile", "small", seconds=300)
        run = json.loads((self.work / "out/latest/run.json").read_text(encoding="utf-8"))
        self.assertEqual(run["versions"]["slate"], (self.top / "lib/slate/VERSION").read_text(encoding="utf-8").strip())
        self.assertIn("randread-qd1", self.call("slate", "report"))
        self.call("slate", "run", "--job", "two-drives", "--profile", "small", "--profile", "small", seconds=300)
        self.assertIn("second-read", self.call("slate", "report", "--text", "out/latest/nvme1"))

    def test_no_path_of_the_clone(self) -> None:
        """Files that are read at run time do not name the clone. (Programs have its path in their assertions.)"""
        for name in (self.top / "lib/slate/MANIFEST").read_text(encoding="utf-8").splitlines():
            path = self.top / name
            self.assertTrue(path.exists(), f"{name} leads nowhere")
            self.assertFalse(path.is_symlink() and os.path.isabs(os.readlink(path)), name)
            text = path.suffix in (".py", "") and path.stat().st_size < 1 << 20
            if text and path.read_bytes()[:4] != b"\x7fELF":
                self.assertNotRegex(path.read_bytes(), rb"(?<![\w.-])" + re.escape(f"{ROOT}/").encode(), name)

    def test_manuals(self) -> None:
        pages = self.top / "share/man/man1"
        for name in ("slate", "slate-replay", "slate-content", "slate-trace", "slate-load", "slatectl"):
            done = subprocess.run(
                ["man", "-l", "--warnings=all", pages / f"{name}.1.gz"],
                capture_output=True,
                text=True,
                check=False,
                env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8"},
            )
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)
            self.assertIn("SYNOPSIS", done.stdout)

    def test_qemu_of_ones_own(self) -> None:
        """A PC starts without options for its firmware, also after the installation was moved."""
        with tempfile.TemporaryDirectory() as folder:
            moved = Path(folder) / "elsewhere"
            shutil.copytree(self.top / "lib/slate/qemu", moved)
            for qemu in (self.top / "lib/slate/qemu", moved):
                line: list[str | Path] = [qemu / "qemu-system-x86_64", "-M", "q35", "-nodefaults", "-display", "none"]
                line += ["-debugcon", "stdio", "-global", "isa-debugcon.iobase=0x402", "-device", "isa-debug-exit"]
                line += ["-monitor", "none"]
                done = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                try:
                    self.assertRegex(done.stdout.readline(), r"^SeaBIOS \(version ")
                finally:
                    done.kill()
                    done.communicate()

    def complete(self, *words: Any) -> list[str]:
        """Return what bash offers for the last word."""
        shells = self.top / "share/bash-completion/completions"
        script = f"""PATH={self.top}/bin:$PATH; . {COMPLETION}; . {shells}/{words[0]}
            COMP_WORDS=({" ".join(f"'{word}'" for word in words)}); COMP_CWORD={len(words) - 1}
            COMP_LINE='{" ".join(words)}'; COMP_POINT=${{#COMP_LINE}}
            f=$(complete -p {words[0]}); f=${{f#* -F }}; ${{f%% *}} {words[0]} '{words[-1]}' '{words[-2]}'
            printf '%s\\n' "${{COMPREPLY[@]}}" """
        done = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.stderr, "")
        return [word.strip() for word in done.stdout.splitlines()]

    @unittest.skipUnless(os.path.exists(COMPLETION), "bash-completion is not installed")
    def test_completion(self) -> None:
        self.assertEqual(self.complete("slate", "prof"), ["profiles"])
        self.assertEqual(self.complete("slate", "run", "--prof"), ["--profile"])
        self.assertEqual(self.complete("slate", "run", "--kernel", ""), ["debian", "small"])
        self.assertEqual(self.complete("slate", "profiles", "sh"), ["show"])
        self.assertEqual(self.complete("slate", "run", "--set", "ftl.spare"), ["ftl.spare_search="])
        self.assertEqual(self.complete("slate-replay", "--read"), ["--read-back"])
        self.assertEqual(self.complete("slate-content", "--set"), ["--settings"])
        self.assertEqual(self.complete("slate-load", "--pass"), ["--passthrough"])
        self.assertEqual(self.complete("slatectl", "--no"), ["--node"])
        self.assertEqual(self.complete("slatectl", "cou"), ["counters"])
        self.assertEqual(self.complete("slatectl", "--qmp", "DESI"), ["DESIGN.md"])

    def test_zsh(self) -> None:
        text = (self.top / "share/zsh/site-functions/_slate").read_text(encoding="utf-8")
        self.assertTrue(text.startswith("#compdef slate"))
        self.assertIn("--cut-after-commands", text)

    def test_uninstall(self) -> None:
        """Uninstalling keeps other files, and a second call reports that there is nothing to remove."""
        with tempfile.TemporaryDirectory() as folder:
            mine = Path(folder) / "usr/local/share/man/man1/mine.1"
            mine.parent.mkdir(parents=True)
            mine.write_text("mine")
            build = Path(folder) / "build"  # without QEMU and the guest
            build.mkdir()
            for name in ("core", "venv-install"):
                (build / name).symlink_to(ROOT / "build" / name)
            self.assertIn("QEMU and the guest are not built", install(folder, SLATE_BUILD=str(build)))
            install(folder, SLATE_BUILD=str(build))  # a second installation over the first
            shutil.rmtree(build)
            kept = Path(folder) / "usr/local/lib/slate/slate_lib/__pycache__"
            (kept / "errors.cpython-399.pyc").touch()  # by another Python
            install(folder, "--uninstall")
            left = [str(path.relative_to(folder)) for path in Path(folder).rglob("*") if not path.is_dir()]
            self.assertEqual(left, ["usr/local/share/man/man1/mine.1"])
            self.assertFalse((Path(folder) / "usr/local/lib").exists())
            self.assertIn("nothing of Slate is installed", install(folder, "--uninstall", code=2))

    def test_refused(self) -> None:
        self.assertIn("must begin with '/'", install("/tmp", "--prefix", "here", code=2))


if __name__ == "__main__":
    unittest.main()

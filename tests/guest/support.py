# SPDX-License-Identifier: GPL-2.0-or-later
"""Call 'slate run' as a user would, and read its results."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import unittest
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SLATE = ROOT / "host-tools" / "slate"
PROFILES = ROOT / "nand-emu" / "profiles"
SMALL = PROFILES / "small.ini"
JOBS = ROOT / "fio-jobs"
SCRIPTS = ROOT / "host-tools" / "guest" / "jobs"
HERE = Path(__file__).resolve().parent
RESULTS = ROOT / "build" / "test" / "guest"
sys.path.insert(0, str(ROOT / "host-tools"))

from slate_lib import paths
from slate_lib.account import Device

SMALL_SMP = paths.GUEST / "small-smp" / "vmlinux"

@dataclass
class Result:
    """A finished 'slate run'."""

    code: int
    out: str
    err: str
    folder: Path

    def json(self, name: str) -> dict[str, Any]:
        """Return a JSON file of the run."""
        found: dict[str, Any] = json.loads((self.folder / name).read_text(encoding="utf-8"))
        return found

    def text(self, name: str) -> str:
        """Return a text file of the run."""
        return (self.folder / name).read_text(encoding="utf-8", errors="replace")

    @property
    def device(self) -> Device:
        """Return the drive's statistics."""
        return Device(self.json("device.json"))


def processes_of(folder: Path) -> list[int]:
    """Return the processes that have folder in their arguments."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(folder).encode() in entry.read_bytes() and int(entry.parent.name) != os.getpid():
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return found


class GuestTest(unittest.TestCase):
    """Each test has its own folder, kept until the next run."""

    # The small kernel boots in each run. Debian's begins from a snapshot, which takes some 2 s of processor time less,
    # but its I/O costs more (docs/results/bench/building.md): a test of little work names "debian", as does one of
    # what people run.
    kernel = "small"

    def setUp(self) -> None:
        name = self.id().split(".", 1)[1]
        self.folder = RESULTS / re.sub(r"[^A-Za-z0-9_.-]", "_", name)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.runs = 0

    def kernel_for(self, args: tuple[str | Path, ...]) -> str:
        """Return the kernel of a run. 'make test' does not build the small one for several processors."""
        several = "--smp" in args and args[args.index("--smp") + 1] != "1"
        return "debian" if several and not SMALL_SMP.exists() else self.kernel

    def command(
        self, *args: str | Path, profile: Path = SMALL, out: Path | None = None
    ) -> tuple[list[str], Path]:
        """Return a command line and its output folder."""
        self.runs += 1
        out = out or self.folder / f"run{self.runs}"
        kernel = [] if "--kernel" in args else ["--kernel", self.kernel_for(args)]
        drive = [] if "--profile" in args else ["--profile", str(profile)]
        return [str(SLATE), "run", *drive, "--out", str(out), *kernel, *map(str, args)], out

    def slate(
        self, *args: str | Path, code: int = 0, seconds: float = 300, stdin: int | None = None, **more: Any
    ) -> Result:
        """Run slate; it must end with this exit code and leave no process."""
        command, out = self.command(*args, **more)
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds, cwd=self.folder, stdin=stdin, check=False
        )
        self.assertEqual(done.returncode, code, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}")
        self.assertNotIn("Traceback", done.stderr)
        self.assert_no_process(out)
        return Result(done.returncode, done.stdout, done.stderr, out)

    def refused(self, *args: str | Path, words: tuple[str, ...], code: int = 2, **more: Any) -> Result:
        """Expect that a bad input is refused with a message that names the fault and the fix."""
        result = self.slate(*args, code=code, **more)
        for word in words:
            self.assertIn(word, result.err)
        self.assertTrue(result.err.startswith("slate: ") or "\nslate: " in result.err, result.err)
        return result

    def assert_no_process(self, out: Path) -> None:
        """Check that no process of a run is left; a killed one takes a moment."""
        for _ in range(40):
            if not processes_of(out):
                return
            time.sleep(0.05)
        self.fail(f"processes were left behind: {processes_of(out)}")

    def assert_clean(self, device: Device, unreadable: int = 0) -> None:
        """Check that no rule was broken and no error occurred, but for reads of what the host made unreadable."""
        self.assertEqual(device.total.violations(), 0)
        for name in ("uncorrectable", "program-fails", "erase-fails"):
            self.assertEqual(device.total.nand[name], 0, name)
        self.assertEqual([op.errors for op in device.total.op.values()], [unreadable, 0, 0, 0])

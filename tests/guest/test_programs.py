# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest has the same bytes in every folder in which the tree may be.

A guest reads its programs in virtual time: with one byte more in one of them, or another hash,
a run in another checkout is another run, and an id of 'slate cuts' names another cut.
"""

import json
import os
import shutil
import subprocess
import unittest
from pathlib import Path

from support import ROOT, SLATE

from slate_lib import paths

OURS = ("slate-load", "slatectl", "slate-mark")  # in the root
FIRMWARE = ("bios-256k.bin", "kvmvapic.bin", "linuxboot_dma.bin", "pvh.bin")
SENT = ("fsyncs", "records", "slate-handoff", "slate-marks")  # with the jobs that need them


def readelf(option: str, path: Path) -> str:
    """Return the output of readelf."""
    return subprocess.run(["readelf", option, path], capture_output=True, text=True, timeout=60, check=True).stdout


class GuestPrograms(unittest.TestCase):
    """Look at what the guest's build has made."""

    def test_no_path_in_the_root(self) -> None:
        command = ["lz4", "-dc", str(paths.GUEST / "root.lz4")]
        root = subprocess.run(command, capture_output=True, timeout=60, check=True).stdout
        for name in OURS:
            self.assertIn(f"usr/bin/{name}\0".encode(), root)
        self.assertFalse(f"{ROOT}/".encode() in root, f"{ROOT} is in the guest's root")

    def test_programs_that_are_sent(self) -> None:
        self.assertEqual(sorted(path.name for path in (paths.GUEST / "programs").iterdir()), sorted(SENT))
        for name in SENT:
            with self.subTest(name):
                program = paths.guest_program(name)
                self.assertFalse(f"{ROOT}/".encode() in program.read_bytes(), f"{ROOT} is in {name}")
                self.assertNotIn("Build ID", readelf("--notes", program), "a hash of its debug information, too")
                sections = readelf("--section-headers", program)
                self.assertIn(".text", sections)
                self.assertNotRegex(sections, r"\.(debug_\w+|symtab)\b")

    def test_the_description_is_of_these_files(self) -> None:
        about = json.loads((paths.GUEST / "guest.json").read_text(encoding="utf-8"))
        firmware = [f"firmware/{name}" for name in FIRMWARE]
        self.assertEqual(sorted(about["sha256"]), [*firmware, "modules.lz4", "root.lz4", "vmlinux"])
        done = subprocess.run(["sha256sum", *sorted(about["sha256"])], cwd=paths.GUEST, capture_output=True, text=True,
                              timeout=60, check=True)  # fmt: skip
        self.assertEqual(dict(line.split()[::-1] for line in done.stdout.splitlines()), about["sha256"])


class ExactLock(unittest.TestCase):
    """Make a guest again by another one's lock."""

    def test_equal_locks_give_equal_bytes(self) -> None:
        name = f"again-{os.getpid()}"
        again = paths.GUESTS / name
        self.addCleanup(shutil.rmtree, again, ignore_errors=True)
        command = [str(SLATE), "guest", "make", "--lock", str(paths.GUEST / "lock"), "--name", name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lock, kept = ((folder / "lock").read_text(encoding="utf-8") for folder in (again, paths.GUEST))
        self.assertEqual(sorted(lock.splitlines()), sorted([*kept.splitlines(), "# exact"]))
        about, wanted = (
            json.loads((folder / "guest.json").read_text(encoding="utf-8")) for folder in (again, paths.GUEST)
        )
        self.assertEqual(about, {**wanted, "name": name})
        for file in (*wanted["sha256"], "fio", *(f"programs/{program}" for program in SENT)):
            self.assertTrue((again / file).read_bytes() == (paths.GUEST / file).read_bytes(), file)


if __name__ == "__main__":
    unittest.main()

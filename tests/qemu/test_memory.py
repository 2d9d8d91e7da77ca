# SPDX-License-Identifier: GPL-2.0-or-later
"""Test a drive in memory in a control group without enough of it: writes fail, and nothing is killed."""

from __future__ import annotations

import os
import random
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import QEMU, ROOT, SMALL, TIMEOUT, image_opts

GROUPS = Path("/sys/fs/cgroup")
LIMIT = 320 << 20
WRITES, BYTES = 24, 16 << 20
LARGE = {"geometry.blocks_per_plane": 256, "ftl.capacity_mib": 512}  # 1 GiB of flash


class Group:
    """A control group with a limit of memory, of version 1 or 2. Raises OSError if it cannot be made."""

    def __init__(self, limit: int) -> None:
        old = (GROUPS / "memory").is_dir()
        parent = GROUPS / "memory" if old else GROUPS
        self.path = parent / f"slate-test-{os.getpid()}"
        self.path.mkdir()
        try:
            (self.path / ("memory.limit_in_bytes" if old else "memory.max")).write_text(f"{limit}\n")
        except OSError:
            self.path.rmdir()
            raise
        self.old = old

    def within(self, *words: str | Path) -> list[str | Path]:
        """Return the command that executes another one in the group."""
        return ["sh", "-c", f'echo $$ > {self.path}/cgroup.procs && exec "$@"', "sh", *words]

    def hits(self) -> int:
        """Return how often the group's limit was met."""
        if self.old:
            return int((self.path / "memory.failcnt").read_text())
        events = dict(line.split() for line in (self.path / "memory.events").read_text().splitlines())
        return int(events["max"])


class Memory(unittest.TestCase):
    """QEMU's tools are in the group; the drive would take more than its limit."""

    def setUp(self) -> None:
        try:
            self.group = Group(LIMIT)
        except OSError as error:
            self.skipTest(f"can not make a control group here ({error}): run the test as root")
        self.addCleanup(self.group.path.rmdir)
        folder = tempfile.TemporaryDirectory(prefix="slate-memory-")
        self.addCleanup(folder.cleanup)
        self.data = Path(folder.name) / "data"
        self.data.write_bytes(random.Random(1).randbytes(BYTES))

    def qemu_io(self, opts: str, *commands: str) -> subprocess.CompletedProcess[str]:
        """Run qemu-io in the group."""
        words = [word for command in commands for word in ("-c", command)]
        line = self.group.within(*TIMEOUT, QEMU / "qemu-io", "--image-opts", opts, *words)
        return subprocess.run(line, capture_output=True, text=True, check=False)

    def test_writes_fail_and_reads_do_not(self) -> None:
        opts = image_opts(**LARGE, **{"memory.overcommit": "yes"})
        done = self.qemu_io(opts, *(f"write -s {self.data} {16 * i}M {BYTES}" for i in range(WRITES)), "read 0 16M")
        wrote = done.stdout.count(f"wrote {BYTES}/{BYTES}")
        self.assertEqual(done.stdout.count("write failed: No space left on device"), WRITES - wrote, done)
        self.assertTrue(4 <= wrote < LIMIT // BYTES, wrote)
        self.assertIn(f"read {BYTES}/{BYTES}", done.stdout)
        self.assertIn("too little memory is free for the drive's content", done.stderr)
        self.assertEqual((done.returncode, self.group.hits()), (1, 0), done)

    def test_a_replay_fails_if_requests_had_no_room(self) -> None:
        settings = {**LARGE, "memory.overcommit": "yes", "ftl.payload": "yes"}
        words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        trace = "gen:rand4k,foot=400MiB,n=120000,read=0,content=random"
        line = self.group.within(*TIMEOUT, ROOT / "build/core/slate-replay", "--profile", SMALL, *words, trace)
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        said = r"(?m)^slate-replay: \d+ requests had no room on the host's disk or in its memory, so the results"
        self.assertRegex(done.stderr, said)
        self.assertEqual((done.returncode, self.group.hits()), (1, 0), done)

    def test_a_drive_that_may_need_more_is_refused(self) -> None:
        done = self.qemu_io(image_opts(**LARGE), "length")
        needs = r"the array needs \d+ MiB of memory \(\d+ MiB of it for data\) and \d+ MiB are free"
        self.assertRegex(done.stderr, needs)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()

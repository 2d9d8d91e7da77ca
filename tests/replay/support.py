# SPDX-License-Identifier: GPL-2.0-or-later
"""Call slate-replay as a user would, on small hand-made traces."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PLAIN = ROOT / "build" / "core"
CORE = Path(os.environ.get("REPLAY_BUILD", PLAIN))  # tests/asan.sh uses another build
REPLAY = CORE / "slate-replay"
FAULTY = CORE / "tests" / "replay" / "slate-replay-faulty"
TRACES = ROOT / "tests" / "traces"
TINY = Path(__file__).resolve().parent / "tiny.ini"
RAND = ROOT / "tests" / "bench" / "rand.ini"
CAPACITY = 6 << 20

# tiny.ini has these times in ns, with the transfer of a page.
READ = 10_000 + 4096
WRITE = 4096 + 100_000


class Case(unittest.TestCase):
    """Each test has its own folder."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="slate-replay-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, name: str, content: str | bytes) -> Path:
        """Write a file in the folder."""
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def native(self, *lines: str, name: str = "native.txt") -> Path:
        """Write a trace in Slate's own format."""
        return self.file(name, "# slate-trace 1\n" + "".join(line + "\n" for line in lines))

    def call(
        self, *args: Any, code: int = 0, program: Path = REPLAY, **more: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run slate-replay; it must end with this exit code."""
        done = subprocess.run(
            [program, *map(str, args)],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            **more,
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def json(self, *args: Any, profile: Path = TINY, code: int = 0) -> dict[str, Any]:
        """Run slate-replay and return the report."""
        found: dict[str, Any] = json.loads(self.call("--profile", profile, "--json", "-", *args, code=code).stdout)
        return found

    def rows(self, *args: Any, profile: Path = TINY) -> list[dict[str, Any]]:
        """Return a row for each request, by number, with numbers parsed."""
        path = self.folder / "rows.csv"
        self.call("--profile", profile, "--csv", path, *args)
        with open(path, encoding="utf-8") as lines:
            rows = [
                {key: value if key == "op" else int(value) for key, value in row.items()}
                for row in csv.DictReader(lines)
            ]
        return sorted(rows, key=lambda row: row["request"])

    def requests(self, *args: Any, **more: Any) -> list[tuple[str, int, int]]:
        """Return (operation, offset, bytes) of each request."""
        return [(row["op"], row["offset"], row["bytes"]) for row in self.rows(*args, **more)]

    def refused(self, *args: Any, words: tuple[str, ...], code: int = 2) -> None:
        """Check that bad input is refused: the message has these words, and no file is left."""
        before = sorted(os.listdir(self.folder))
        message = self.call(*args, code=code).stderr
        for word in words:
            self.assertIn(word, message)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

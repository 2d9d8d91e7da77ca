# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest and the replayer agree: the same requests give the same latencies and commands."""

import csv
import json
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

from support import HERE, ROOT, SMALL, GuestTest, Result

from slate_lib import paths

REPLAY = ROOT / "build" / "core" / "slate-replay"


# fio's log of version 2, with rows of three columns beside those of four. Each request has a size of its own, so the
# sum tells which were made. IOLOG_MADE are those that fio makes: operation, offset, bytes, time in ns.
IOLOG = """fio version 2 iolog
{file} add
{file} open
{file} write 0 512
{file} write 65536
{file} wait 5000
{file} read 4096 1024
{file} wait 300 0
{file} sync 0
{file} write 8192 2048
{file} read 16384
{file} close
"""
IOLOG_MADE = [("write", 0, 512, 0), ("read", 4096, 1024, 0), ("write", 8192, 2048, 300_000_000)]


class Iolog(unittest.TestCase):
    """Compare fio itself with the replayer, on the host."""

    def test_rows_of_three_columns(self) -> None:
        """fio leaves them out, and says so; so does a replay that may have bad rows."""
        with tempfile.TemporaryDirectory(prefix="slate-") as name:
            folder = Path(name)
            (folder / "drive").write_bytes(bytes(1 << 20))
            (folder / "log").write_text(IOLOG.format(file=folder / "drive"), encoding="utf-8")
            words = ["--name=job", "--ioengine=psync", f"--read_iolog={folder / 'log'}", "--output-format=json"]
            done = subprocess.run([paths.GUEST / "fio", *words, f"--output={folder / 'fio.json'}"], cwd=folder,
                                  capture_output=True, text=True, timeout=60, check=True)  # fmt: skip
            self.assertEqual(done.stderr.count("bad iolog2"), 4, done.stderr)
            job = json.loads((folder / "fio.json").read_text(encoding="utf-8"))["jobs"][0]
            for op in ("read", "write"):
                sizes = [size for kind, _, size, _ in IOLOG_MADE if kind == op]
                self.assertEqual((job[op]["total_ios"], job[op]["io_bytes"]), (len(sizes), sum(sizes)), op)
            self.assertLess(job["job_runtime"], 4000, "it does not wait until 5,000 ms")
            replay = [str(REPLAY), "--profile", str(SMALL), "--open", str(folder / "log")]
            done = subprocess.run(replay, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("fio ignores the row", done.stderr)
            done = subprocess.run([*replay, "--max-bad", "999", "--csv", str(folder / "rows")], capture_output=True,
                                  text=True, timeout=60, check=True)  # fmt: skip
            with open(folder / "rows", encoding="utf-8") as lines:
                found = sorted(csv.DictReader(lines), key=lambda row: int(row["request"]))
            rows = [(row["op"], *(int(row[name]) for name in ("offset", "bytes", "submit_ns"))) for row in found]
            self.assertEqual(rows, IOLOG_MADE)


class Record(GuestTest):
    """Run slate run --record, then slate-replay."""

    def replay(self, *args: Any) -> Any:
        """Return the replay's JSON."""
        out = self.folder / "replay.json"
        done = subprocess.run(
            [REPLAY, *map(str, args), "--json", out], capture_output=True, text=True, timeout=120, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(out.read_text(encoding="utf-8"))

    def latencies(self, *args: Any) -> dict[int, tuple[str, int]]:
        """Return the latency of each request, by its number."""
        rows = self.folder / "rows.csv"
        self.replay(*args, "--csv", rows)
        with open(rows, encoding="utf-8") as lines:
            return {int(row["request"]): (row["op"], int(row["latency_ns"])) for row in csv.DictReader(lines)}

    def record(self, *args: Any) -> tuple[Path, Result, list[str]]:
        """Return a recording, the drive's counters and its settings."""
        recording = self.folder / "recording.txt"
        result = self.slate(
            "--cmd",
            HERE / "record.sh",
            "--age",
            "1",
            "--set",
            "ftl.buffer_units=64",
            *args,
            "--record",
            recording,
        )
        self.assertFalse((self.folder / "recording.txt.part").exists())
        settings = [
            line.removeprefix("# set ")
            for line in recording.read_text(encoding="utf-8").splitlines()
            if line.startswith("# set ")
        ]
        return recording, result, [word for line in settings for word in ("--set", line)]

    def agree(self, *args: Any) -> Any:
        recording, result, settings = self.record(*args)
        recorded = self.replay("--recorded", recording)
        seen = json.loads(result.text("device.json"))["total"]
        self.assertEqual(recorded["recorded"]["differed"], 0)
        self.assertTrue(recorded["recorded"]["commands_equal"])
        for op in ("read", "write", "trim"):
            self.assertEqual(recorded["host"][op]["ios"], seen[op]["ios"], op)
            self.assertEqual(recorded["host"][op]["latency"]["sum_ns"], seen[op]["latency-sum-ns"], op)
            self.assertEqual(recorded["host"][op]["latency"]["max_ns"], seen[op]["latency-max-ns"], op)
        for op in ("read", "program", "erase"):
            for source, counts in seen["nand"]["by-source"].items():
                self.assertEqual(recorded["nand"]["ops"][op].get(source, 0), counts[f"{op}s"], f"{op} {source}")
        self.assertGreater(recorded["gc"]["calls"], 20)
        # With only the arrival times, and steps at the times that the drive requests, the results
        # are the same.
        first = self.latencies("--recorded", recording)
        self.assertEqual(len(first), recorded["recorded"]["compared"])
        opened = self.latencies("--profile", SMALL, *settings, "--open", recording)
        self.assertEqual(first, opened)
        return recorded["ftl_counts"]["fua_writes"]

    def test_the_guest_and_the_replayer_agree(self) -> None:
        self.assertGreater(self.agree(), 0)

    def test_and_without_a_write_buffer_on_a_blocking_drive(self) -> None:
        """Such a drive reports no volatile write cache, so Linux sends it no FUA."""
        self.assertEqual(self.agree("--set", "ftl.buffer_units=0", "--set", "ftl.gc_mode=blocking"), 0)

    def test_a_directory_that_is_not_there(self) -> None:
        self.refused("--record", self.folder / "none" / "a", words=("--record", "name another file"))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test content traces of a guest: recording changes no result, equal runs give equal traces, and traces have the
written data.
"""

import json
import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from typing import Any

from support import HERE, PROFILES, ROOT, GuestTest

sys.path.insert(0, str(ROOT / "tests" / "replay"))
from content_trace import WRITE, read

CORE = ROOT / "build" / "core"


class Content(GuestTest):
    """Run slate run --record-content, then slate-replay."""

    def tool(self, name: str, *args: Any) -> Any:
        """Return the tool's JSON."""
        done = subprocess.run([CORE / name, *map(str, args)], capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def replay(self, trace: Path, profile: Any = "small", *args: Any) -> Any:
        return self.tool("slate-replay", "--profile", PROFILES / f"{profile}.ini", "--json", "-", *args, trace)

    def test_recording_changes_nothing(self) -> None:
        """Run the same fio job with and without a recording: guest and drive see the same, to the nanosecond."""
        job = self.folder / "some.fio"
        job.write_text(
            "[global]\nfilename=/dev/nvme0n1\ndirect=1\nioengine=io_uring\nrandseed=1\nbuffer_compress_percentage=50\n"
            "[mix]\nrw=randrw\nbsrange=4k-64k\niodepth=8\nnumber_ios=1500\nfsync=50\n[seq]\nstonewall\nrw=write\n"
            "bs=128k\nsize=16M\n[trim]\nstonewall\nrw=randtrim\nbs=64k\nnumber_ios=50\n",
            encoding="utf-8",
        )
        trace = self.folder / "a.content"
        plain = self.slate("--job", job)
        recorded = self.slate("--job", job, "--record-content", trace)
        self.assertFalse((self.folder / "a.content.part").exists())
        for name in ("fio.json", "device.json"):
            self.assertEqual(plain.text(name), recorded.text(name), name)
        # The recording has every request, and its times alone give the drive's account.
        seen = recorded.json("device.json")["total"]
        again = self.replay(trace, "small", "--open", "--check", "--fill", 100)
        for op in ("read", "write", "trim"):
            for key, name in (("ios", "ios"), ("bytes", "bytes")):
                self.assertEqual(again["host"][op][key], seen[op][name], f"{op} {key}")
            self.assertEqual(again["host"][op]["latency"]["sum_ns"], seen[op]["latency-sum-ns"], op)
        self.assertEqual(again["check"]["wrong"], 0)
        self.assertEqual(again["gc"]["units_moved"], seen["ftl"]["gc-units"])

    def test_what_the_guest_wrote(self) -> None:
        """The trace has bytes known to the script at their place; a second trace is equal byte for byte."""
        names = [self.folder / "a.content", self.folder / "b.content"]
        for name in names:
            self.slate("--cmd", HERE / "content.sh", "--fill", "0", "--record-content", name)
        first, second = (name.read_bytes() for name in names)
        self.assertTrue(first == second)
        drive = {}
        for request in read(names[0]):
            if request.op == WRITE:
                for at in range(0, request.bytes, 512):
                    drive[request.offset + at] = request.data[at : at + 512]
        text = b"".join(b"%08d\n" % i for i in range(1, 20001))[: 4096 * 40]
        for at in range(0, len(text), 512):
            self.assertTrue(drive[(1 << 20) + at] == text[at : at + 512], at)
            self.assertTrue(drive[(2 << 20) + at] == text[at : at + 512], at)
        (found,) = self.tool("slate-content", "--json", names[0])
        # 40 blocks, the same 40 again, and 16 of zeroes; nothing else writes
        self.assertEqual(
            [found[key] for key in ("blocks", "distinct_blocks", "duplicate_blocks", "zero_blocks", "fua_writes")],
            [96, 40, 40, 16, 16],
        )

    def test_every_ftl(self) -> None:
        """Replay a file system's writes on drives of other kinds, with --check."""
        trace = self.folder / "a.content"
        self.slate(
            "--cmd", ROOT / "host-tools/guest/jobs/fs-test.sh", "--cmd-arg", "ext4", "--fill", "0",
            "--record-content", trace,
        )  # fmt: skip
        for profile, ftl in (("small", "page"), ("pen-small", "nftl"), ("superblock-small", "superblock")):
            again = self.replay(trace, profile, "--closed", 4, "--check", "--read-back")
            self.assertEqual((again["ftl"], again["check"]["wrong"]), (ftl, 0))
            self.assertGreater(again["check"]["sectors"], 1000)
            self.assertEqual(
                again["inputs"][0]["content"]["name"], self.tool("slate-content", "--json", trace)[0]["name"]
            )

    def test_interrupted(self) -> None:
        """After Ctrl-C no part of a recording is left."""
        trace = self.folder / "a.content"
        command, out = self.command("--job", ROOT / "fio-jobs" / "seq.fio", "--record-content", trace)
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            part = self.folder / "a.content.part"
            deadline = time.monotonic() + 120
            while not part.exists():
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertEqual([trace.exists(), part.exists()], [False, False])
        self.assert_no_process(out)

    def test_no_room(self) -> None:
        """QEMU reports why there is no recording; the run fails with a remedy."""
        trace = self.folder / "a.content"
        os.symlink("/dev/full", f"{trace}.part")
        self.refused(
            "--cmd", HERE / "content.sh", "--fill", "0", "--record-content", trace, code=3,
            words=(f"--record-content {trace}: the recording was not written", "No space left", "fix: free some space"),
        )  # fmt: skip
        self.assertFalse(trace.exists())

    def test_a_directory_that_is_not_there(self) -> None:
        self.refused("--record-content", self.folder / "none" / "a", words=("--record-content", "name another file"))


class Workloads(GuestTest):
    """Run slate run --content: short workloads, and one of them traced twice."""

    kernel = "debian"

    def test_refusals(self) -> None:
        self.refused("--content", "none", words=("--content none", "iot, pc, synth, web"))
        self.refused("--content", "iot", "--cmd", "x", words=("--content and --cmd exclude",))

    def test_iot_twice(self) -> None:
        names = [self.folder / "a.content", self.folder / "b.content"]
        for name in names:
            result = self.slate("--content", "iot", "--env", "SCALE=0.1", "--record-content", name, seconds=600)
            self.assert_clean(result.device)
        self.assertTrue(names[0].read_bytes() == names[1].read_bytes())
        done = subprocess.run(
            [CORE / "slate-replay", "--profile", PROFILES / "pen-small.ini", "--check", "--read-back", names[0]],
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()

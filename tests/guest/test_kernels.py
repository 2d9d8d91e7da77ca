# SPDX-License-Identifier: GPL-2.0-or-later
"""Slate's guest on kernels of the user's own: Debian's as a bzImage with its modules, and the small one."""

import json
import re
import shutil
import struct
import subprocess
import sys
import unittest
import zlib
from pathlib import Path
from typing import Any

from support import HERE, JOBS, ROOT, SLATE, SMALL, GuestTest

from slate_lib import paths

READ_NS = 122_580  # of a 4 KiB read on small.ini: 99,000 cells, 22,380 channel, 1,000 firmware, 200 look-up

HELLO = """#!/bin/sh
mkfs.ext4 -q $SLATE_DEV && mount -t ext4 $SLATE_DEV /run/mnt && echo hello >/run/mnt/file && umount /run/mnt
{ uname -r; mount -t ext4 $SLATE_DEV /run/mnt; cat /run/mnt/file; } >$OUT/said.txt
"""


TWO_DRIVES = """[global]
rw=randread
bs=4k
direct=1
ioengine=psync
[first]
filename=/dev/nvme0n1
number_ios=20
[second]
stonewall
filename=/dev/nvme1n1
number_ios=30
"""

# A checkout of blktests as suites.py knows one, with a ./check of two tests: of the kernel, and of the drive.
CHECK = """#!/bin/bash
. ./config
test_it() {{ local name=$1; shift; "$@" && echo "$name  [passed]" || echo "$name  [failed]"; }}
test_it block/001 [ "$(uname -r)" = {release} ]
test_it block/002 [ "$(blockdev --getsize64 "${{TEST_DEVS[0]}}")" = {size} ]
"""

INIT = """#!/bin/sh
box=/usr/bin/busybox
$box mount -t proc proc /proc
echo "IMAGE $($box uname -r) $($box ls /lib/modules/*/modules.dep /dev/nvme0n1 | $box xargs)"
$box poweroff -f
"""


def wrapped(kernel: bytes) -> bytes:
    """Return a bzImage of a vmlinux: the fields of its header that QEMU or Slate reads, and the packed kernel."""
    packed = zlib.compress(kernel, 1, 31)
    head = bytearray(1024)
    head[0x1F1], head[0x202:0x206] = 1, b"HdrS"
    found = re.search(rb"Linux version (\S+) \(", kernel)
    assert found
    head[0x300 : 0x300 + len(found[1])] = found[1]
    struct.pack_into("<H", head, 0x20E, 0x100)
    struct.pack_into("<H", head, 0x236, 1)
    struct.pack_into("<II", head, 0x248, 0, len(packed))
    return bytes(head) + packed


def unpack(folder: Path, archive: str, below: str) -> None:
    """Unpack files of an archive of the guest. Its modules lie as 'make modules_install' leaves them."""
    data = subprocess.run(["lz4", "-dc", paths.GUEST / archive], capture_output=True, check=True).stdout
    at, name = 0, ""
    while name != "TRAILER!!!":  # "newc": a head of 110 bytes in hexadecimal, the name, the content
        size, length = int(data[at + 54 : at + 62], 16), int(data[at + 94 : at + 102], 16)
        name = data[at + 110 : at + 109 + length].decode()
        at += 110 + length + 3 & ~3
        if size and name.startswith(below):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data[at : at + size])
        at += size + 3 & ~3


class PackagedKernel(GuestTest):
    """The packaged kernel with its modules."""

    def setUp(self) -> None:
        super().setUp()
        self.image = self.folder / "bzImage"
        self.image.write_bytes(wrapped((paths.GUEST / "vmlinux").read_bytes()))
        unpack(self.folder, "modules.lz4", "usr/lib/modules/")
        self.words = ("--kernel", self.image, "--modules", self.folder)

    def own(self, *args: Any, **more: Any) -> Any:
        return self.slate(*self.words, *args, **more)

    def test_a_job(self) -> None:
        """The drive's latencies are those on every kernel, and equal runs are equal."""
        one, two = (self.own("--job", JOBS / "randread-qd1.fio") for _ in range(2))
        job = next(mark["account"] for mark in one.json("device.json")["marks"] if mark["kind"] == "end")
        self.assertEqual((job["read"]["latency-min-ns"], job["read"]["latency-max-ns"]), (READ_NS, READ_NS))
        record = one.json("run.json")
        release = next((self.folder / "usr/lib/modules").iterdir()).name
        self.assertEqual(record["versions"]["kernel"], release)
        self.assertIn(f"Linux {release}", one.text("report.txt"))
        self.assertEqual(record["sha256"], two.json("run.json")["sha256"])
        self.assertEqual(len(record["sha256"]["modules"]), 64)
        for name in ("fio.json", "device.json", "report.txt", "series.json"):
            self.assertEqual(one.text(name), two.text(name), name)

    def test_a_cut(self) -> None:
        write = HERE / "cut-write.sh"
        result = self.own("--fill", "0", "--cmd", write, "--cut-at", "800ms", "--after-cut", write)
        synced = int(re.findall(r"^SYNCED (\d+)\r?$", result.text("console-1.log"), re.M)[-1])
        self.assertGreater(synced, 10)
        self.assertIn(int(result.text("whole.txt")), (synced, synced + 1))
        self.assertEqual(result.json("run.json")["power_cuts"][0]["cut-ns"], 800_000_000)

    def drive_reads(self, result: Any, name: str = "device.json") -> list[tuple[int, int, int]]:
        """Return count, and least and greatest latency, of the reads of each job on the drive."""
        marks = result.json(name)["marks"]
        reads = [mark["account"]["read"] for mark in marks if mark["kind"] == "end"]
        return [(read["ios"], read["latency-min-ns"], read["latency-max-ns"]) for read in reads]

    def test_two_kernels_compared(self) -> None:
        """The drive's part of a read is equal, and the kernel's part is fio's latency less that."""
        job = ("--job", JOBS / "randread-qd1.fio")
        runs = [self.own(*job), self.slate("--kernel", paths.KERNELS["small"], *job)]
        path = []
        for run in runs:
            self.assertEqual(self.drive_reads(run), [(1000, READ_NS, READ_NS)])
            path.append(run.json("fio.json")["jobs"][0]["read"]["lat_ns"]["mean"] - READ_NS)
        self.assertGreater(path[0], path[1], "the small kernel has no I/O scheduler and no hardening")
        done = subprocess.run([SLATE, "compare", *(run.folder for run in runs)], capture_output=True, text=True,
                              timeout=60, check=True)  # fmt: skip
        rows = [line.split() for line in done.stdout.splitlines()]
        self.assertIn(["drive", "mean,", "µs", "122.6", "122.6"], rows)
        (row,) = [row[2:] for row in rows if row[:2] == ["path,", "µs"]]
        self.assertEqual(row, [f"{path[0] / 1000:.2f}", f"{path[1] / 1000:.2f}", f"({path[1] / path[0]:.2f}x)"])
        differs = rows[rows.index(["what", "differs"]) :]
        release = runs[0].json("run.json")["versions"]["kernel"]
        self.assertTrue(any(row[:3] == ["version", "of", "kernel"] for row in differs), (release, differs))

    def test_several_drives(self) -> None:
        job = self.folder / "two.fio"
        job.write_text(TWO_DRIVES, encoding="utf-8")
        result = self.own("--profile", SMALL, "--profile", SMALL, "--job", job)
        reads = [self.drive_reads(result, f"nvme{number}/device.json") for number in (0, 1)]
        self.assertEqual([[ios for ios, _, _ in drive] for drive in reads], [[20, 0], [0, 30]])
        self.assertEqual({ns for drive in reads for ios, *found in drive if ios for ns in found}, {READ_NS})

    def test_an_application(self) -> None:
        """The image of applications needs squashfs, overlay and pmem: modules of this kernel."""
        words = [word for key in ("rows=2000", "transactions=30", "reads=40") for word in ("--app-arg", key)]
        result = self.own("--app", "sqlite", *words, seconds=600)
        parts = {part["name"]: part["operations"] for part in result.json("app.json")["parts"]}
        self.assertEqual((parts["update"], parts["read"]), (30, 40))
        self.assertGreaterEqual(result.device.job("update").account.op["flush"].ios, 30)
        self.assert_clean(result.device)

    def test_content(self) -> None:
        """A workload with real content, recorded: the trace has what the drive got."""
        trace = self.folder / "iot.content"
        result = self.own("--content", "iot", "--env", "SCALE=0.02", "--record-content", trace, seconds=600)
        self.assert_clean(result.device)
        said = subprocess.run([SLATE, "content", "--json", trace], capture_output=True, timeout=60, check=True).stdout
        found = json.loads(said)[0]
        for name in ("read", "write", "trim"):
            drive = result.device.total.op[name]
            self.assertEqual((found["requests"][name], found["bytes"][name]), (drive.ios, drive.bytes), name)
        self.assertGreater(found["distinct_blocks"], 0)

    def test_load(self) -> None:
        """One read at a time on a filled drive takes the profile's arithmetic."""
        result = self.own("--load", "gen:rand4k,foot=64MiB,n=200,read=1000", "--load-arg=--closed=1")
        self.assertEqual([part["operations"] for part in result.json("app.json")["parts"]], [200])
        self.assertEqual(self.drive_reads(result), [(200, READ_NS, READ_NS)])

    def test_cuts_of_slate_cuts(self) -> None:
        log = self.folder / "cuts.jsonl"
        command = [str(word) for word in (SLATE, "cuts", "--count", "2", *self.words, "--log", log)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, cwd=self.folder, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("2 power cuts: 2 left everything that was announced", done.stdout)
        head, *lines = map(json.loads, log.read_text(encoding="utf-8").splitlines())
        self.assertEqual(head["kernel"], next((self.folder / "usr/lib/modules").iterdir()).name)
        self.assertEqual([line["verdict"] for line in lines], ["good", "good"])
        self.assertTrue(all(line["operations"] > 0 for line in lines))

    def test_suites(self) -> None:
        """A suite in the Debian image runs on this kernel."""
        suite, out = self.folder / "blktests", self.folder / "suites"
        for name in ("common", "src", "tests/block", "tests/nvme"):
            (suite / name).mkdir(parents=True)
        (suite / "common" / "rc").touch()
        shutil.copy("/bin/true", suite / "src")
        release = next((self.folder / "usr/lib/modules").iterdir()).name
        (suite / "check").write_text(CHECK.format(release=release, size=256 << 20), encoding="utf-8")
        (suite / "check").chmod(0o755)
        words = (ROOT / "tests/suites/suites.py", suite, *self.words, "--profile", "small", "--out", out)
        command = [sys.executable, *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = json.loads((out / "results.json").read_text(encoding="utf-8"))["slate"]
        self.assertEqual([(one["name"], one["status"]) for one in found],
                         [("block/001", "pass"), ("block/002", "pass")])  # fmt: skip

    def test_an_image(self) -> None:
        """Slate's initramfs loads the modules, puts them into the image and starts its init."""
        root, image = self.folder / "root", self.folder / "image"
        unpack(root, "root.lz4", "usr/bin/busybox")
        for name in ("bin", "sbin", "proc", "sys", "dev", "run", "lib"):
            (root / name).mkdir()
        (root / "bin" / "sh").symlink_to("/usr/bin/busybox")
        (root / "usr" / "bin" / "busybox").chmod(0o755)
        (root / "sbin" / "init").write_text(INIT, encoding="utf-8")
        (root / "sbin" / "init").chmod(0o755)
        image.write_bytes(bytes(64 << 20))
        subprocess.run(["mkfs.ext4", "-q", "-F", "-L", "root", "-d", root, image], check=True)
        words = ("--append", "root=LABEL=root console=ttyS0 quiet no_timer_check", "--realtime", "--net", "none")
        result = self.own("--image", image, *words, stdin=subprocess.DEVNULL)
        release = next((self.folder / "usr/lib/modules").iterdir()).name
        said = f"IMAGE {release} /dev/nvme0n1 /lib/modules/{release}/modules.dep"
        self.assertIn(said, result.text("console.log"))

    def test_modules_of_another_kernel(self) -> None:
        top = self.folder / "usr" / "lib" / "modules"
        release = next(top.iterdir()).name
        (top / release).rename(top / "6.99-other")
        self.refused(*self.words, "--job", JOBS / "randread-qd1.fio", words=("6.99-other", release))


class BuiltIn(GuestTest):
    """A kernel without modules."""

    def test_a_script(self) -> None:
        script = self.folder / "hello.sh"
        script.write_text(HELLO, encoding="utf-8")
        result = self.slate("--kernel", paths.KERNELS["small"], "--fill", "0", "--cmd", script)
        release, said = result.text("said.txt").splitlines()
        self.assertTrue(release.endswith("-slate"), release)
        self.assertEqual((said, result.json("run.json")["versions"]["kernel"]), ("hello", release))


if __name__ == "__main__":
    unittest.main()

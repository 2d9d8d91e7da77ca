# SPDX-License-Identifier: GPL-2.0-or-later
"""Test power cuts of a work that runs in a disk image of Debian: one recorded run, and one boot for the checks."""

import json
import subprocess
import unittest
from pathlib import Path

from support import ROOT, SLATE, GuestTest

IMAGE = ROOT / "build" / "image" / "debian.qcow2"

MAKE = "modprobe ext4; mkfs.ext4 -q $SLATE_DEV"
WORK = """modprobe ext4
mount -t ext4 $SLATE_DEV /run/mnt
n=0
while :; do
    n=$((n + 1))
    echo "record $n" >>/run/mnt/journal
    [ $n -gt 8 ] || sync /run/mnt/journal # from the ninth on it announces what is not durable
    slate-mark durable $n
done"""
CHECK = """[ "$(cat /sys/block/${SLATE_DEV##*/}/nsid)" = ${DURABLE##*-} ] || exit 4
grep -q 'NAME="Debian' /etc/os-release || exit 5
modprobe ext4
mount -t ext4 $SLATE_DEV /run/mnt || exit 3
last=$(tail -n 1 $DURABLE)
[ -z "$last" ] || grep -qx "record $last" /run/mnt/journal || exit 1"""


class CutsOfAnImage(GuestTest):
    """Run slate cuts --image."""

    def test_debian(self) -> None:
        """QEMU makes the latest cut, and the replay of the recording leaves an equal drive, or the campaign ends.

        What was synced is there at its announcement, and one nanosecond before it nothing was announced. Announcements
        without a sync are found out.
        """
        self.assertTrue(IMAGE.exists(), "build/image/debian.qcow2 is not there: run 'make guest-image'")
        before = (IMAGE.stat().st_size, IMAGE.stat().st_mtime_ns)
        words: list[str | Path] = ["--image", IMAGE]
        for name, text in (("make", MAKE), ("work", WORK), ("check", CHECK)):
            path = self.folder / f"{name}.sh"
            path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
            words += [f"--{name}", path]
        log = self.folder / "log"
        words += ["--cut-at", "mark:1-1ns,mark:1,mark:8,mark:12", "--span", "0.3", "--log", log]
        done = subprocess.run([SLATE, "cuts", *words], capture_output=True, text=True, timeout=3000,
                              cwd=self.folder, check=False)  # fmt: skip
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        head, *lines = map(json.loads, log.read_text(encoding="utf-8").splitlines())
        self.assertEqual(head["image"]["bytes"], IMAGE.stat().st_size)
        self.assertEqual([line["operations"] for line in lines], [0, 1, 8, 12], done.stdout)
        self.assertEqual([line["verdict"] for line in lines], ["good", "good", "good", "lost"], done.stdout)
        self.assertEqual(lines[1]["cut_ns"] - lines[0]["cut_ns"], 1)
        self.assertEqual((IMAGE.stat().st_size, IMAGE.stat().st_mtime_ns), before)


if __name__ == "__main__":
    unittest.main()

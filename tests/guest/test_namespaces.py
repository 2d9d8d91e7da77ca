# SPDX-License-Identifier: GPL-2.0-or-later
"""Test namespaces under Linux: fio on two at a time, nvme-cli's commands, a restart, a power cut, and bad input."""

import unittest
from typing import Any

from support import HERE, GuestTest, Result

WORK = HERE / "namespaces.sh"
MIB, UNIT = 1 << 20, 4096
SPACE = 256 * MIB - UNIT  # of small.ini
TWO = ("--namespace", "size=64M", "--namespace", "size=32M,lba=4096")
FREE = SPACE - 96 * MIB
RINGS = """\
[global]
rw=write
direct=1
ioengine=io_uring
iodepth=4
[fill-fast]
filename=/dev/nvme0n1
bs=128k
size=64M
[fill-slow]
filename=/dev/nvme0n2
bs=128k
size=160M
[fast]
stonewall
filename=/dev/nvme0n1
bs=64k
size=64M
io_size=256M
flow=1
flow_sleep=200
[slow]
filename=/dev/nvme0n2
bs=16k
size=160M
io_size=64M
flow=1
flow_sleep=200
"""


class Namespaces(GuestTest):
    """slate run --namespace."""

    def work(self, *args: Any, **more: Any) -> Result:
        return self.slate("--fill", "0", "--cmd", WORK, *args, **more)

    def assert_verified(self, result: Result, name: str, ios: int) -> None:
        """Check that fio has verified both namespaces, each with `ios` reads."""
        jobs = result.json(f"fio-{name}.json")["jobs"]
        self.assertEqual([(job["jobname"], job["error"], job["read"]["total_ios"]) for job in jobs],
                         [("one", 0, ios), ("two", 0, ios)])

    def test_life_and_restart(self) -> None:
        file = self.folder / "drive"
        result = self.work(*TWO, "--cmd-arg", "write", "--drive", file, seconds=300)
        self.assertEqual(result.text("state.txt"), f"/dev/nvme0n1 {64 * MIB} 512\n/dev/nvme0n2 {32 * MIB} 4096\n")
        self.assert_verified(result, "do_verify=1", 1024)
        steps = dict(line.split() for line in result.text("tools.txt").splitlines())
        self.assertEqual({name for name, status in steps.items() if status != "0"},
                         {"attached-again", "too-large", "no-format"})
        for name, words in (("attached-again", "0x2118"), ("too-large", "0x2115"), ("no-format", "0x210a")):
            self.assertRegex(result.text(f"{name}.txt").lower(), f"{words}|{words[3:]}")
        self.assertRegex(result.text("id-ns.txt"), r"(?m)^nsze +: 0x4000\n")  # 8 MiB in blocks of 512 bytes
        self.assertRegex(result.text("id-ctrl.txt"), rf"(?m)^tnvmcap +: {SPACE}$")
        self.assertEqual(result.text("lists.txt").splitlines(), [
            f"before all0x10x2 attached0x10x2 free {FREE}",
            f"create all0x10x20x3 attached0x10x2 free {FREE - 8 * MIB}",
            f"attach all0x10x20x3 attached0x10x20x3 free {FREE - 8 * MIB}",
            f"detach all0x10x20x3 attached0x10x2 free {FREE - 8 * MIB}",
            f"delete all0x10x2 attached0x10x2 free {FREE}",
        ])
        self.assertEqual(result.device.total.op["trim"].bytes, 8 * MIB + 8 * MIB + 8 * UNIT, "format, deletions")
        self.assertEqual(result.json("run.json")["settings"]["namespaces"],
                         [f"size={64 * MIB},lba=512", f"size={32 * MIB},lba=4096"])
        self.assertIn(f"namespace=size={64 * MIB},lba=512", result.json("run.json")["repeat"])
        self.assertIn(" · 2 namespaces · ", result.text("report.txt"))
        self.assert_clean(result.device)
        again = self.slate("--cmd", WORK, "--cmd-arg", "check", "--drive", file)
        self.assertEqual(again.text("state.txt"), result.text("state.txt"))
        self.assertEqual(again.text("lists.txt"), f"after all0x10x2 attached0x10x2 free {FREE}\n")
        self.assert_verified(again, "verify_only=1", 1024)
        self.refused("--cmd", WORK, "--namespace", "size=1M", "--drive", file,
                     words=("holds a drive already, with the namespaces that it has", "nvme create-ns"))

    def test_a_handle_each(self) -> None:
        """Two rings have different speeds: GC copies nothing if each has a namespace, and so a handle, of its own."""
        job = self.folder / "rings.fio"
        job.write_text(RINGS, encoding="utf-8")
        copied, written = [], []
        for handles in (0, 2):
            result = self.slate("--fill", "0", "--namespace", "size=64M", "--namespace", "size=160M", "--job", job,
                                "--set", f"ftl.placement_handles={handles}", seconds=600)
            total = result.device.total
            copied.append(total.ftl["gc-units"])
            written.append(total.op["write"].bytes)
            self.assertGreater(sum(source.get("erases", 0) for source in total.sources.values()), 0)
            self.assert_clean(result.device)
        self.assertEqual(written, [(64 + 160 + 256 + 64) * MIB + UNIT] * 2, "and the table")
        self.assertGreater(copied[0], 0)
        self.assertEqual(copied[1], 0)

    def test_refused(self) -> None:
        job = self.folder / "three.fio"
        job.write_text("[a]\nfilename=/dev/nvme0n3\n", encoding="utf-8")
        for words, args in (
            (("drive has 268431360 bytes for namespaces", "larger drive"), ("--namespace", "size=256M")),
            (("not a multiple of 4096 bytes, the mapping unit", "give 4096"), ("--namespace", "size=5000")),
            (("'1G' is not size=SIZE", "for instance size=1G"), ("--namespace", "1G")),
            (("lba=520", "512 or 4096"), ("--namespace", "size=1M,lba=520")),
            (("of the type of its FTL", "leave type out"), ("--namespace", "size=1M,type=zns")),
            (("17 times: a drive has 16",), ("--namespace", "size=1M") * 17),
            (("once: with drive.namespaces = 0 the drive has one namespace over all of it", "leave --set"),
             ("--namespace", "size=1M", "--set", "drive.namespaces=0")),
            (("2 times: with drive.namespaces = 1 the drive has 1 at most", "sets it to 16"),
             ("--namespace", "size=1M", "--namespace", "size=1M", "--set", "drive.namespaces=1")),
            (("a drive with zones", "--one-controller"), ("--namespace", "size=1M", "--set", "ftl.type=zns")),
            (("--frontend virtio-blk",), ("--namespace", "size=1M", "--frontend", "virtio-blk")),
            (("does not go with 2 drives",), ("--namespace", "size=1M", *("--profile", "small") * 2)),
            (("that drive has 1 namespace", "--namespace 3 times"), ("--job", job)),
        ):
            with self.subTest(words=words[0]):
                self.refused(*args, words=words)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test applications on a file system on the drive, each through its real path."""

import unittest
from typing import Any

from support import GuestTest, Result

import determinism

# what must be equal, byte for byte, in two runs
EQUAL = ("app.json", "device.json", "console.log")

SMALL = ("--kernel", "small")
GIT_HASH = "8250209b35dd7aaed9215af11b8b8dc101802aac"


class Applications(GuestTest):
    """Run a few operations of each application, and compare its own results and the drive's."""

    kernel = "debian"

    def app(self, name: str, *words: Any, **parameters: Any) -> tuple[dict[str, Any], Result]:
        """Run an application; return its figures by part, and its drive."""
        args = [word for key, value in parameters.items() for word in ("--app-arg", f"{key}={value}")]
        result = self.slate("--app", name, *args, *words, seconds=900)
        found = result.json("app.json")
        self.assertEqual(found["app"], name)
        for key, value in parameters.items():
            self.assertEqual(found["parameters"][key], str(value))
        self.assert_clean(result.device)
        parts = {part["name"]: part for part in found["parts"]}
        for part in parts.values():
            latency = part["latency_ns"]
            self.assertTrue(0 < latency["p50"] <= latency["p99"] <= latency["max"], part)
            self.assertLessEqual(latency["mean"], latency["max"])
            self.assertGreater(part["seconds"], 0)
            self.assertIn(part["name"], result.out)
        return parts, result

    def ops(self, result: Result, label: str) -> Any:
        """Return the drive's account of a part."""
        return result.device.job(label).account.op

    def test_sysbench_fileio(self) -> None:
        """A random read past the page cache is a read of the drive, so its latency is at least the drive's."""
        parts, result = self.app("sysbench-fileio", size=8 << 20, files=4, mode="rndrd", events=300)
        self.assertEqual(parts["run"]["operations"], 300)
        read = self.ops(result, "run")["read"]
        self.assertGreaterEqual(read.bytes, 300 * 16384)
        self.assertLess(read.bytes, 330 * 16384, "more than ext4's metadata beside them")
        self.assertGreater(parts["run"]["latency_ns"]["mean"], read.latency_sum_ns / read.ios)

    def test_pgbench(self) -> None:
        """Two sessions run 30 transactions each. Every transaction is durable; two may share a flush."""
        parts, result = self.app("pgbench", *SMALL, clients=2, transactions=30)
        self.assertEqual(parts["run"]["operations"], 60)
        self.assertGreaterEqual(self.ops(result, "run")["flush"].ios, 30)
        self.assertEqual(len(result.text("pgbench-transactions.log").splitlines()), 60)

    def test_sqlite_on_xfs(self) -> None:
        """A transaction needs at least one flush."""
        parts, result = self.app("sqlite", fs="xfs", rows=4000, transactions=100, reads=200)
        self.assertEqual((parts["update"]["operations"], parts["read"]["operations"]), (100, 200))
        self.assertGreaterEqual(self.ops(result, "update")["flush"].ios, 100)
        self.assertEqual(self.ops(result, "read")["flush"].ios, 0)
        # the table was dropped from memory: it came from the drive
        self.assertGreater(self.ops(result, "read")["read"].ios, 20)

    def test_kv_twice(self) -> None:
        """Runs on an idle and on a busy host give the same bytes."""
        few = {"keys": 4000, "reads": 1000}
        parts, first = self.app("kv", *SMALL, **few)
        with determinism.hogs(True):
            _, second = self.app("kv", *SMALL, **few)
        self.assertEqual((parts["fillrandom"]["operations"], parts["readrandom"]["operations"]), (4000, 1000))
        for name in (*EQUAL, "kv-fillrandom.txt", "kv-readrandom.txt"):
            self.assertEqual(first.text(name), second.text(name), name)
        self.assertGreater(self.ops(first, "readrandom")["read"].ios, 0)

    def test_the_seed_is_the_applications(self) -> None:
        """Another seed gives other rows, so the drive reads other places."""
        few = {"rows": 4000, "transactions": 10, "reads": 50}
        _, first = self.app("sqlite", *SMALL, fs="f2fs", **few)
        _, second = self.app("sqlite", *SMALL, "--seed", "2", fs="f2fs", **few)
        self.assertNotEqual(first.text("sqlite-read.txt"), second.text("sqlite-read.txt"))

    def test_one_that_fails(self) -> None:
        """Files that are larger than the drive give an error."""
        result = self.refused(
            "--app",
            "sysbench-fileio",
            "--app-arg",
            "size=1G",
            code=1,
            words=("sysbench-fileio failed in the guest with status", "No space left on device", "fix:"),
        )
        self.assertFalse((result.folder / "app.json").exists())

    def test_unknown(self) -> None:
        self.refused("--app", "nosuch", words=("--app nosuch", "sysbench-fileio, pgbench, sqlite, kv"))

    def test_modules_of_the_image_and_the_guest(self) -> None:
        """The image's modprobe finds both, before and after it has joined them, and says what neither has."""
        script = self.folder / "modules.sh"
        script.write_text(
            "in-apps modprobe -a raid1 dm_mod && in-apps modprobe null_blk nr_devices=2 && in-apps modprobe raid10\n"
            "cut -d' ' -f1 /proc/modules | grep -xE 'raid1|dm_mod|null_blk|raid10' | sort >$OUT/modules.txt\n"
            "ls /dev/nullb? >$OUT/devices.txt\n"
            "in-apps modprobe -r null_blk && ! grep -q ^null_blk /proc/modules || echo stays >>$OUT/modules.txt\n"
            "in-apps modprobe none 2>$OUT/error.txt || echo \"status $?\" >>$OUT/error.txt\n",
            encoding="utf-8",
        )
        result = self.slate("--apps", "--fill", "0", "--cmd", script)
        self.assertEqual(result.text("modules.txt").split(), ["dm_mod", "null_blk", "raid1", "raid10"])
        self.assertEqual(result.text("devices.txt").split(), ["/dev/nullb0", "/dev/nullb1"])
        lost = r"^modprobe: FATAL: Module none not found in directory /lib/modules/.*\nstatus 1\n$"
        self.assertRegex(result.text("error.txt"), lost)

    def test_a_script_uses_the_image(self) -> None:
        """Compile, run and version a program on the drive; its files are there after a remount."""
        script = self.folder / "build.sh"
        script.write_text(
            "set -e\n"
            "in-apps --mkfs ext4\n"
            "in-apps sh -c 'echo \"int main(void) { return 42; }\" >a.c; gcc -o a a.c; make --version'\n"
            "in-apps --remount\n"
            'in-apps ./a || echo "status $?" >$OUT/a.txt\n'
            "in-apps git init -q . && in-apps git add a.c\n"
            "in-apps git hash-object a.c >$OUT/git.txt\n"
            "in-apps --umount\n",
            encoding="utf-8",
        )
        result = self.slate("--apps", "--cmd", script)
        self.assertEqual(result.text("a.txt"), "status 42\n")
        # printf 'blob 30\0int main(void) { return 42; }\n' | sha1sum
        self.assertEqual(result.text("git.txt").strip(), GIT_HASH)


if __name__ == "__main__":
    unittest.main()

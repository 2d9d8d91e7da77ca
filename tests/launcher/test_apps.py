# SPDX-License-Identifier: GPL-2.0-or-later
"""Test applications: their arguments, the files for the guest, and the parsers of their output."""

import io
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

import support  # noqa: F401  (the path of slate_lib)

import test_options
from slate_lib import apps, command, facts, launch, paths, report, run
from slate_lib.errors import MACHINE_FAILED, MachineError, SlateError

SYSBENCH = b"""\
Latency histogram (values are in milliseconds)
       value  ------------- distribution ------------- count
       0.017 |*                                        1
       0.222 |****************************************  2
       4.176 |                                         1

General statistics:
    total time:                          0.0500s
    total number of events:              4

Latency (ms):
         min:                                    0.02
         avg:                                    1.16
         max:                                    4.18
         99th percentile:                        4.10
         sum:                                    4.64
"""
DB_BENCH = """\
{name}   :      55.211 micros/op 17897 ops/sec 0.279 seconds 5000 operations;   17.3 MB/s
Microseconds per write:
Count: 5000 Average: 55.1698  StdDev: 453.23
Min: 22  Median: 30.6883  Max: 25166
Percentiles: P50: 30.69 P75: 37.43 P99: 63.12 P99.9: 5500.00 P99.99: 25166.00
"""


class Arguments(test_options.Case):
    """Test --app, --app-arg and --apps."""

    def test_defaults_and_own(self) -> None:
        some = self.parse("--app", "kv", "--app-arg", "keys=7", "--app-arg", "memtable=1M", job=False)
        self.assertEqual(some.name, "kv-drive")
        self.assertTrue(some.apps)
        self.assertEqual((some.work.values["keys"], some.work.values["memtable"]), ("7", "1048576"))
        self.assertEqual((some.work.values["fs"], some.work.values["value"]), ("ext4", "1000"))

    def test_each_has_its_script(self) -> None:
        for app in apps.APPS.values():
            script = app.script.read_text(encoding="utf-8")
            for name in app.values([]):
                asked = f"APP_{name.upper()}"
                shared = (apps.SCRIPTS / "app.sh").read_text(encoding="utf-8")
                self.assertIn(asked, script + shared, f"{app.name} does not use {name}")

    def test_what_goes_into_the_guest(self) -> None:
        some = self.parse("--app", "sqlite", "--app-arg", "fs=xfs", "--seed", "3", job=False)
        files = {name: data for name, _, data in command.job_entries(some)}
        self.assertEqual(set(files), {"job/env", "job/run.sh", "job/app.sh", "job/sqlite.py"})
        self.assertEqual(files["job/run.sh"], (apps.SCRIPTS / "sqlite.sh").read_bytes())
        env = files["job/env"].decode().splitlines()
        for line in ("APP_FS=xfs", "APP_JOURNAL=wal", "SLATE_SEED=3", "SLATE_DEV=/dev/nvme0n1"):
            self.assertIn(line, env)

    def test_btrfs_needs_another_kernel(self) -> None:
        some = self.parse("--app", "sqlite", "--app-arg", "fs=btrfs", job=False)
        run.check_job(some)
        some.kernel = "small"
        with self.assertRaisesRegex(SlateError, "small has no Btrfs\n  fix: use --kernel debian"):
            run.check_job(some)

    def test_the_repeat_command_is_the_same_again(self) -> None:
        some = self.parse("--app", "kv", "--app-arg", "sync=1", job=False)
        words = facts.repeat_command(some).split()
        self.assertIn("--app-arg=sync=1", words)
        self.assertIn("--app", words)
        self.assertNotIn("--cmd", words)
        self.assertNotIn("--apps", words)

    def test_image_alone(self) -> None:
        some = self.parse("--apps")
        self.assertTrue(some.apps and some.job)
        self.assertIn("--apps", facts.repeat_command(some).split())

    def test_images_lie_in_memory(self) -> None:
        """Each image begins at the next multiple of 2 MiB, and the kernel does not use its memory."""
        first, second = self.folder / "a.img", self.folder / "b,c.img"
        first.write_bytes(bytes((4 << 20) + 1))
        second.write_bytes(b"1")
        files = command.Files(self.folder / "initrd", self.folder / "console", self.folder / "results")
        with mock.patch.multiple(paths, APPS_IMAGE=first, CONTENT_IMAGE=second):
            some = self.parse("--content", "iot", job=False)
            line = command.build(some, files)
            self.assertEqual(command.images(self.parse("--app", "kv", job=False)), command.images(some)[:1])
        self.assertIn(f"loader,file={first},addr=0x10000000,force-raw=on", line)
        self.assertIn(f"loader,file={self.folder}/b,,c.img,addr=0x10600000,force-raw=on", line)
        words = line[line.index("-append") + 1].split()
        self.assertEqual(
            [word for word in words if word.startswith("memmap=")],
            ["memmap=0x600000!0x10000000", "memmap=0x200000!0x10600000"],
        )
        self.assertEqual(command.images(self.parse()), [])

    def test_images_of_the_small_kernel(self) -> None:
        """The small kernel's applications are in its initramfs, because it finds no images in memory."""
        image, root = self.folder / "apps.img", self.folder / "root.lz4"
        image.write_bytes(b"an image")
        root.write_bytes(b"the guest's")
        some = self.parse("--app", "kv", "--kernel", "small", job=False)
        with mock.patch.multiple(paths, APPS_IMAGE=image, GUEST=self.folder):
            self.assertEqual(command.images(some), [])
            command.write_initrd(some, self.folder / "initrd")
        data = (self.folder / "initrd").read_bytes()
        self.assertIn(b"apps.img\0", data)
        self.assertIn(b"an image", data)
        self.assertTrue(data.endswith(b"the guest's"))

    def test_refused(self) -> None:
        names = ", ".join(apps.APPS)
        self.refused("--app", "mysql", words=("--app mysql", names), job=False)
        self.refused("--app", "kv", words=("--job and --app",))
        self.refused("--app", "kv", "--cmd", "x.sh", words=("--cmd and --app",), job=False)
        self.refused("--app-arg", "keys=1", words=("without --app",))
        for word, why in (
            ("keys", "no such parameter"),
            ("clients=1", "keys=20000"),
            ("keys=0", "whole number"),
            ("keys=-1", "whole number"),
            ("keys=many", "whole number"),
            ("memtable=big", "not a size"),
            ("fs=ntfs", "ext4, xfs, f2fs"),
            ("sync=yes", "not a choice"),
        ):
            self.refused("--app", "kv", "--app-arg", word, words=(word, why), job=False)
        self.refused("--app", "kv", "--mem", "512M", words=("--mem 512M", "768M"), job=False)

    def test_no_image(self) -> None:
        some = self.parse("--app", "kv", job=False)
        with mock.patch.object(paths, "APPS_IMAGE", Path("/nonexistent/apps.img")), mock.patch.object(
            paths, "QEMU", Path(__file__)
        ), mock.patch.object(paths, "GUEST", self.folder), mock.patch.dict(
            paths.KERNELS, debian=Path(__file__)
        ), redirect_stdout(io.StringIO()):
            (self.folder / "programs").mkdir()
            for name in ("root.lz4", "modules.lz4", "firmware", "programs/slate-handoff"):
                (self.folder / name).touch()
            with self.assertRaisesRegex(Exception, "apps.img is not there: the guest's image of applications has not "
                                        f"been built\n  fix: run 'SLATE_GUEST={self.folder.name} make guest-apps'$"):
                launch.run(some)


class Readers(unittest.TestCase):
    """Convert the programs' output to app.json."""

    def parts(self, name: str, files: Any) -> Any:
        app = apps.APPS[name]
        return apps.results(app, app.values([]), files)["parts"]

    def test_sysbench(self) -> None:
        # the mean is 4.64 ms / 4; the median is the first bucket with half of the four
        (part,) = self.parts("sysbench-fileio", {"sysbench.txt": SYSBENCH})
        self.assertEqual((part["name"], part["operations"], part["seconds"]), ("run", 4, 0.05))
        self.assertEqual(
            part["latency_ns"], {"mean": 1_160_000, "p50": 222_000, "p99": 4_100_000, "max": 4_180_000}
        )

    def test_pgbench(self) -> None:
        log = b"0 1 1000 0 1704067208 500\n1 1 3000 0 1704067208 600\n0 2 2000 0 1704067209 700\n"
        text = b"transactions actually processed: 3/3\ntps = 750.5 (without initial connection time)\n"
        (part,) = self.parts("pgbench", {"pgbench.txt": text, "pgbench-transactions.log": log})
        self.assertEqual((part["operations"], part["seconds"]), (3, round(3 / 750.5, 9)))
        self.assertEqual(
            part["latency_ns"], {"mean": 2_000_000, "p50": 2_000_000, "p99": 3_000_000, "max": 3_000_000}
        )

    def test_sqlite(self) -> None:
        # of 200 samples 1 .. 200 the 198th is the smallest that 99 % do not exceed
        times = "".join(f"{n}\n" for n in range(200, 0, -1)).encode()
        update, read = self.parts("sqlite", {"sqlite-update.txt": times, "sqlite-read.txt": b"7\n"})
        self.assertEqual((update["name"], read["name"]), ("update", "read"))
        self.assertEqual(update["latency_ns"], {"mean": 100, "p50": 100, "p99": 198, "max": 200})
        self.assertEqual(update["seconds"], 20100e-9)
        self.assertEqual(read["latency_ns"], {"mean": 7, "p50": 7, "p99": 7, "max": 7})

    def test_kv(self) -> None:
        names = ("fillrandom", "readrandom")
        files = {f"kv-{name}.txt": DB_BENCH.format(name=name).encode() for name in names}
        parts = self.parts("kv", files)
        self.assertEqual([part["name"] for part in parts], list(names))
        self.assertEqual((parts[0]["operations"], parts[0]["seconds"]), (5000, 0.279))
        self.assertEqual(
            parts[0]["latency_ns"], {"mean": 55_170, "p50": 30_690, "p99": 63_120, "max": 25_166_000}
        )

    def test_unreadable(self) -> None:
        for name, files in (
            ("kv", {}),
            ("kv", {"kv-fillrandom.txt": b"oops"}),
            ("sysbench-fileio", {"sysbench.txt": SYSBENCH.replace(b"total time", b"time")}),
            (
                "pgbench",
                {
                    "pgbench.txt": b"tps = 1.0 (without initial connection time)",
                    "pgbench-transactions.log": b"",
                },
            ),
            ("sqlite", {"sqlite-update.txt": b"x\n"}),
        ):
            with self.assertRaises(MachineError) as caught:
                self.parts(name, files)
            self.assertEqual(caught.exception.code, MACHINE_FAILED)
            self.assertIn(name, str(caught.exception))

    def test_report(self) -> None:
        app = apps.APPS["kv"]
        part = {
            "name": "fillrandom",
            "operations": 20000,
            "seconds": 2.0,
            "latency_ns": {"mean": 50600, "p50": None, "p99": 67600, "max": 25172000},
        }
        found = {"app": "kv", "parameters": app.values([]), "parts": [part]}
        shown = report.Report.__new__(report.Report)
        shown.app, shown._lines, shown._color = found, [], False
        shown._application()
        figures = shown._lines[1].split()
        self.assertEqual(figures, ["fillrandom", "20,000", "10,000", "50.6", "-", "67.6", "25,172"])
        self.assertIn("keys=20000", shown._lines[2])


if __name__ == "__main__":
    unittest.main()

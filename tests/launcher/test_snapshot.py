# SPDX-License-Identifier: GPL-2.0-or-later
"""Test snapshots of a booted guest ('slate run --snapshot'), on a stand-in for QEMU."""

import asyncio
import fcntl
import json
import os
import signal
import time
from pathlib import Path
from typing import Any
from unittest import mock

from slate_lib import paths, run, signals, snapshot
from test_run import RunTest


class SnapshotTest(RunTest):
    """Make a guest with what a snapshot needs besides."""

    def setUp(self) -> None:
        super().setUp()
        self.home = self.folder / "cache" / "slate" / "snapshots"
        self.runs = 0

    def runs_to(self, *args: Any, **more: Any) -> str:
        """Run once more, into a folder of its own, and return its output."""
        self.runs += 1
        self.out = self.folder / f"run-{self.runs}"
        code, out, err = self.slate(*args, **more)
        self.assertEqual((code, err), (0, ""), out)
        return out

    def was_restored(self) -> bool:
        """Did the last run go on from a snapshot? The stand-in ends if that has another content."""
        return "-incoming" in json.loads((self.out / "run.json").read_text(encoding="utf-8"))["qemu_command"]

    def stored(self) -> list[Path]:
        """Return the folders of the stored snapshots, and nothing else may be there."""
        return sorted(self.home.iterdir()) if self.home.exists() else []


class Use(SnapshotTest):
    """Snapshots that are right."""

    def test_one_snapshot_serves_runs_that_differ_in_job_and_seed(self) -> None:
        self.runs_to()
        self.assertTrue(self.was_restored())
        (made,) = self.stored()
        names = sorted(path.name for path in made.iterdir())
        self.assertEqual(names, ["console", "facts.json", "lock", "ram", "state"])
        before = (made / "ram").stat().st_ino
        self.job.write_text("[other]\nfilename=/dev/nvme0n1\nrw=randread\n", encoding="utf-8")
        self.runs_to("--seed", "2", "--set", "ftl.gc_slice_pages=8")
        self.assertTrue(self.was_restored())
        self.assertEqual([path.name for path in self.stored()], [made.name])
        self.assertEqual((made / "ram").stat().st_ino, before)

    def test_results_are_those_of_a_guest_that_booted(self) -> None:
        self.runs_to("--snapshot=boot")
        self.assertFalse(self.was_restored())
        self.assertEqual(self.stored(), [])
        booted = self.out
        for _ in range(2):
            self.runs_to()
            for name in ("console.log", "fio.json", "device.json", "report.txt"):
                self.assertEqual((self.out / name).read_bytes(), (booted / name).read_bytes(), name)

    def test_the_guests_memory_is_a_sparse_file(self) -> None:
        """The stand-in writes two chunks; 1 GiB less two chunks are holes."""
        self.runs_to()
        ram = self.stored()[0] / "ram"
        told = json.loads((self.stored()[0] / "facts.json").read_text(encoding="utf-8"))
        self.assertEqual(told["ram"], [[0, 65536], [300 << 20, 65536]])
        self.assertEqual(ram.stat().st_size, 1 << 30)
        self.assertLessEqual(ram.stat().st_blocks * 512, 4 * 65536)

    def test_what_the_boot_depends_on_has_a_snapshot_of_its_own(self) -> None:
        self.runs_to()
        for number, change in enumerate((("--mem", "768M"), ("--smp", "2"), ("--kernel-arg=nohz=off",),
                                         ("--profile", self.profile)), 2):  # fmt: skip
            self.runs_to(*change)
            self.assertEqual(len(self.stored()), number, change)
        (self.guest / "vmlinux").write_bytes(b"another kernel")
        self.runs_to()
        self.assertEqual(len(self.stored()), 6)

    def test_those_used_last_are_kept(self) -> None:
        self.home.mkdir(parents=True)
        for number in range(snapshot.KEPT + 1):
            old = self.home / f"{number:016x}"
            old.mkdir()
            (old / "facts.json").write_text("{}", encoding="utf-8")
            os.utime(old / "facts.json", (1000 + number, 1000 + number))
        killed = self.home / "00.new-killed"
        killed.mkdir()
        self.runs_to()
        names = [path.name for path in self.stored()]
        self.assertEqual(len(names), snapshot.KEPT)
        self.assertNotIn("00.new-killed", names)
        self.assertEqual([f"{number:016x}" in names for number in (0, 1, 2)], [False, False, True])


class Damage(SnapshotTest):
    """Snapshots that are not as they were made are named and made anew."""

    def damaged(self, said: str) -> None:
        name = self.stored()[0].name
        self.assertIn(f"snapshot  {name} is made anew: {said}", self.runs_to())
        self.assertTrue(self.was_restored())
        self.assertEqual([path.name for path in self.stored()], [name])
        self.assertNotIn("snapshot ", self.runs_to())

    def test_each_file(self) -> None:
        self.runs_to()
        folder = self.stored()[0]
        for file, at, said in (
            ("ram", 3, "its memory is damaged"),
            ("ram", 100 << 20, "its memory is damaged"),
            ("state", 2, "its state is damaged"),
            ("console", 1, "its console is damaged"),
        ):
            with self.subTest(file=file, at=at):
                with open(folder / file, "r+b") as out:
                    out.seek(at)
                    out.write(b"\x55")
                self.damaged(said)

    def test_cut_short(self) -> None:
        self.runs_to()
        folder = self.stored()[0]
        for file, said in (("ram", "its memory has another size"), ("state", "its state is damaged"),
                           ("facts.json", "")):  # fmt: skip
            with self.subTest(file=file):
                os.truncate(folder / file, (folder / file).stat().st_size // 2)
                self.damaged(said)

    def test_missing_files(self) -> None:
        self.runs_to()
        for file in ("ram", "state", "facts.json"):
            (self.stored()[0] / file).unlink()
            self.damaged("")

    def test_another_format(self) -> None:
        self.runs_to()
        facts = self.stored()[0] / "facts.json"
        told = json.loads(facts.read_text(encoding="utf-8"))
        facts.write_text(json.dumps(told | {"format": snapshot.FORMAT + 1}), encoding="utf-8")
        self.damaged(f"it has format {snapshot.FORMAT + 1} instead of {snapshot.FORMAT}")


class Without(SnapshotTest):
    """If no snapshot can be made, the guest boots."""

    def boots(self, said: str, **more: Any) -> None:
        self.assertIn(said, self.runs_to(**more))
        self.assertFalse(self.was_restored())

    def test_a_guest_that_does_not_come_so_far(self) -> None:
        for fake, said in (("snap-die", "snapshot  not made: QEMU ended: "),
                           ("snap-panic", "snapshot  not made: the guest ended before it was given a job"),
                           ("snap-fail", "snapshot  not made: the machine can not be saved: ")):  # fmt: skip
            with self.subTest(fake=fake):
                self.boots(said, fake=fake)
                self.assertEqual(self.stored(), [])

    def test_a_place_that_can_not_be_written(self) -> None:
        self.home.parent.mkdir(parents=True)
        self.home.write_bytes(b"no folder")
        self.boots("snapshot  not kept: ")

    def test_one_that_is_being_removed(self) -> None:
        """The run makes its own, and finds that it cannot take the name: it boots."""
        self.runs_to()
        with open(self.stored()[0] / "lock", "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.runs_to()
            self.assertFalse(self.was_restored())
        self.runs_to()
        self.assertTrue(self.was_restored())
        self.assertEqual(len(self.stored()), 1)

    def test_two_runs_make_one(self) -> None:
        outs = [self.folder / f"both-{number}" for number in range(2)]
        both = []
        for self.out in outs:
            both.append(self.start())
        for process in both:
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, err), (0, ""), out)
        self.assertEqual(len(self.stored()), 1)
        self.assertEqual(*((out / "fio.json").read_bytes() for out in outs))

    def test_ctrl_c_while_one_is_made(self) -> None:
        process = self.start(fake="silent")
        self.wait_for_maker()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(self.stored(), [])
        self.assertFalse(self.out.exists())

    def test_a_signal_while_one_is_looked_for(self) -> None:
        """Nothing is awaited meanwhile, and yet the run ends."""

        async def get(*_: object) -> None:
            os.kill(os.getpid(), signal.SIGTERM)

        handler = signals.Signals()
        with handler, mock.patch.object(snapshot, "get", get), self.assertRaises(asyncio.CancelledError):
            asyncio.run(run.Run._take_snapshot(mock.Mock(signals=handler), mock.Mock()))

    def test_a_guest_of_an_earlier_build(self) -> None:
        (self.guest / "programs" / "slate-handoff").unlink()
        code, _, err = self.slate()
        self.assertEqual(code, 2)
        self.assertIn(f"guest {paths.GUEST.name} was made by an earlier build: it has no slate-handoff", err)
        self.assertIn("'make guest'", err)

    def wait_for_maker(self) -> None:
        for _ in range(200):
            if any(path.read_bytes() for path in self.home.glob("*.new-*/console")):
                return
            time.sleep(0.05)
        self.fail("no snapshot was begun")

    def test_refused(self) -> None:
        for words in (("--realtime",), ("--shell",), ("--frontend", "virtio-blk"), ("--kernel", "small"),
                      ("--cut-at", "1ms"), ("--qemu-arg=-S",)):  # fmt: skip
            code, _, err = self.slate("--snapshot=use", *words)
            self.assertEqual(code, 2, words)
            self.assertIn("there are no such snapshots", err)

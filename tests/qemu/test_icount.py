# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the drive in virtual time: real instructions, counted, and no guest system.

The scenes are those of bare/nvme.c.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from support import Json, Machine, MachineTest, QmpError, drive

ICOUNT = (
    "-accel",
    "tcg",
    "-icount",
    "rate=1,sleep=off",
    "-seed",
    "1",
    "-rtc",
    "base=2020-01-01T00:00:00,clock=vm",
)
SOURCES = Path(__file__).resolve().parent / "bare"
COMPILE = (
    "-m32",
    "-march=i686",
    "-std=gnu11",
    "-O2",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-ffreestanding",
    "-fno-pic",
    "-fno-stack-protector",
    "-fno-asynchronous-unwind-tables",
    "-nostdlib",
    "-no-pie",
    "-static",
    "-Wl,--build-id=none",
    "-Wl,-Ttext=0x200000",
    "-Wl,-e,bare_start",
)
READ_NS = 99000  # timing.read_ns of small.ini
PROGRAM_NS = 640000


@functools.cache
def program(name: str = "nvme") -> Path:
    """Return a program for the bare machine, which is compiled once."""
    folder = Path(tempfile.mkdtemp(prefix="slate-bare-"))
    atexit.register(shutil.rmtree, folder)
    binary, source = folder / f"{name}.elf", SOURCES / f"{name}.c"
    subprocess.run([os.environ.get("CC", "gcc"), *COMPILE, "-o", str(binary), str(source)], check=True)
    return binary


class BareTest(MachineTest):
    """Run scenes of the program."""

    accel: tuple[str, ...] = ICOUNT
    program = "nvme"

    def blockdev(self, **settings: Any) -> Json:
        """Return the options of the drive."""
        return drive(**settings)

    def start(self, scene: str, **settings: Any) -> Machine:
        """Start a machine that plays a scene."""
        console = Path(tempfile.mkstemp(prefix="slate-console-")[1])
        self.addCleanup(console.unlink)
        vm = self.machine(
            [self.blockdev(**settings)],
            "-cpu",
            "max",
            "-debugcon",
            f"file:{console}",
            "-device",
            "isa-debug-exit,iobase=0xf4,iosize=4",
            "-device",
            "nvme,id=nvme0,serial=slate,drive=ssd0,addr=4",
            "-kernel",
            str(program(self.program)),
            "-append",
            scene,
            accel=self.accel,
        )
        self.console = console
        return vm

    def said(self) -> str:
        """Return the program's output after that of the firmware."""
        return self.console.read_text(encoding="utf-8", errors="replace")

    def numbers(self, name: str) -> list[int]:
        """Return the numbers printed under a name."""
        return [int(n) for n in re.findall(rf"^{name} (\d+)$", self.said(), re.MULTILINE)]

    def play(self, scene: str) -> Machine:
        """Play a scene to its end."""
        vm = self.start(scene)
        self.assertEqual(vm.wait(), 1, vm.output() + self.said())
        self.assertTrue(self.said().endswith("done\n"), self.said())
        return vm

    def fly(self, scene: str) -> Machine:
        """Run a scene until it has commands in flight."""
        vm = self.start(scene)
        self.until(lambda: "flying" in self.said())
        return vm

    def until(self, condition: object) -> None:
        """Wait for a condition, for 40 s at most."""
        for _ in range(2000):
            if condition():  # type: ignore[operator]
                return
            time.sleep(0.02)
        self.fail("it did not happen")


class Scenes(BareTest):
    """Run scenes that end by themselves."""

    def test_latency_is_exact(self) -> None:
        vm = self.play("latency")
        reads = self.numbers("read")
        self.assertEqual(len(reads), 64)
        self.assertEqual(len(set(reads)), 1, "equal reads take equal time")
        last = int([d for d in vm.trace("done") if int(d["latency"]) > READ_NS][-1]["latency"])
        software = reads[0] - last
        self.assertGreater(software, 0)
        self.assertLess(software, 1000, "instructions between doorbell and completion")

    def play_while_others_plan(self) -> Machine:
        """
        Another client plans and cancels power cuts, reads a log and sends orders, at times of the host, until three
        quarters of the scene are over: a command while QEMU ends may wake a dispatcher that is no longer there (QEMU
        10.0.13, monitor/qmp.c).
        """
        vm = self.start("batches")
        node, rounds = {"node_name": "ssd0"}, 0
        with contextlib.suppress(EOFError, OSError, QmpError):
            while 4 * len(self.said()) < 3 * self.whole:
                vm.qmp("x-nand-ssd-power-cut", **node, at_ns=10**15)
                vm.qmp("x-nand-ssd-log", **node, id=0xD1, length=32)
                vm.qmp("x-nand-ssd-control", **node, command=4)  # clear faults: there are none
                vm.qmp("x-nand-ssd-power-cut", **node, never=True)
                rounds += 1
        self.assertEqual(vm.wait(), 1, vm.output() + self.said())
        self.assertGreater(rounds, 0)
        return vm

    def test_runs_are_equal_beside_other_work(self) -> None:
        """Five runs are equal: two without load, two on busy processors, one while another client sends commands."""
        runs = []
        for busy, play in ((0, None), (0, None), (3, None), (3, None), (0, self.play_while_others_plan)):
            loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
            try:
                vm = play() if play else self.play("batches")
                self.whole = len(self.said())
            finally:
                for loop in loops:
                    loop.kill()
                    loop.wait()
            # The program does not flush. QEMU does at its end, after the last instruction that counts.
            count = sum(request["op"] != "flush" for request in vm.trace("submit"))
            runs.append((self.said(), *(vm.trace(event)[:count] for event in ("submit", "done", "where"))))
        self.assertGreater(len(runs[0][1]), 600)
        for run in runs[1:]:
            self.assertEqual(run, runs[0])

    def test_reset_in_flight(self) -> None:
        self.play("reset")
        self.assertLess(self.numbers("reset")[0], 1000, "no time passes in a reset")

    def test_delete_queue_in_flight(self) -> None:
        self.play("delete")
        self.assertLess(self.numbers("delete")[0], 1000, "no time passes in it")

    def test_a_ring_that_feeds_itself(self) -> None:
        """A queue that feeds itself: all its commands are executed at one instant, and each adds the next
        one. QEMU used to hang.
        """
        self.play("ring")

    def test_shutdown_takes_its_time(self) -> None:
        self.play("shutdown")
        self.assertEqual(self.numbers("shst"), [1, 2])
        self.assertGreater(self.numbers("shutdown")[0], PROGRAM_NS)

    def test_crc32(self) -> None:
        """The checksum of these digits is the one by which implementations of CRC-32C are checked."""
        self.play("crc32")
        self.assertEqual(self.numbers("crc"), [0xE3069283] * 3)

    def test_large_page(self) -> None:
        """After another large page has been mapped, its code is executed and not that of the page before."""
        self.play("large-page")
        self.assertEqual(self.numbers("function"), [1, 2])


class Pages(BareTest):
    """Run scenes of bare/pages.c: Intel's manual, volume 3, 4.10.4.1, says what an instruction flushes."""

    program = "pages"

    def look(self, scene: str, **expected: list[int]) -> None:
        """Play a scene; it must execute and read the expected frames, and both from the same frame each time."""
        self.play(scene)
        for name, frames in expected.items():
            self.assertEqual(self.numbers(name), [11 * frame for frame in frames], name)

    def test_global_pages_are_kept(self) -> None:
        """A write to CR3 keeps global pages; INVLPG and a change of CR4.PGE flush them."""
        self.look("kept", large=[1, 1, 2, 1], small=[1, 1, 2, 1])

    def test_other_pages_are_flushed(self) -> None:
        self.look("local", large=[1, 2] * 3, small=[1, 2] * 3)

    def test_no_page_is_global_without_the_bit_of_cr4(self) -> None:
        self.look("disabled", large=[1, 2] * 3, small=[1, 2] * 3)

    def test_address_spaces_share_global_pages_alone(self) -> None:
        self.look("spaces", large=[1] * 4, small=[1] * 4, other=[1, 2, 1, 2])

    def test_a_page_becomes_global_and_ceases_to_be(self) -> None:
        self.look("changed", large=[1, 1, 2, 1], small=[1, 1, 2, 1])

    def test_written_code_is_executed(self) -> None:
        self.look("written", large=[1, 3, 4, 5], small=[1, 3, 4, 5])

    def test_an_instruction_across_two_pages(self) -> None:
        """The instruction's operand has the byte 7 in the first page, and 1 or 2 as its next byte in the second."""
        self.play("across")
        self.assertEqual(self.numbers("across"), [7 + 256, 7 + 512] * 2)

    def test_a_nested_guest_has_pages_of_its_own(self) -> None:
        self.look("nested", host=[1] * 4, nested=[2] * 3)


class Interference(BareTest):
    """Run endless scenes, with commands from outside."""

    def progress(self, vm: Machine) -> None:
        """Check that the guest continues."""
        before = vm.stats()["total"]["write"]["ios"]
        self.until(lambda: vm.stats()["total"]["write"]["ios"] > before + 10)

    def test_completions_reach_a_sleeping_guest(self) -> None:
        vm = self.fly("halt")
        self.until(lambda: vm.stats()["total"]["write"]["ios"] >= 8)
        latencies = [int(d["latency"]) for d in vm.trace("done")[-8:]]
        self.assertTrue(all(latency > PROGRAM_NS for latency in latencies))

    def test_stop_and_cont(self) -> None:
        for scene in ("spin", "halt"):
            with self.subTest(scene):
                vm = self.fly(scene)
                for _ in range(5):
                    vm.qmp("stop")
                    self.assertEqual(len(vm.trace("submit")), len(vm.trace("done")), "all finished at once")
                    vm.qmp("cont")
                if scene == "spin":
                    self.progress(vm)
                self.assertEqual(vm.quit(), 0)

    def test_quit(self) -> None:
        for scene in ("spin", "halt"):
            with self.subTest(scene):
                self.assertEqual(self.fly(scene).quit(), 0)

    def test_synchronous_requests_from_the_monitor(self) -> None:
        vm = self.fly("spin")
        for command in ("read 0 64k", "flush", "write 128M 4k", "read 128M 4k"):
            said = vm.qmp("human-monitor-command", command_line=f'qemu-io ssd0 "{command}"')
            self.assertNotIn("fail", said)
        self.progress(vm)
        self.assertEqual(vm.quit(), 0)

    def test_drain(self) -> None:
        """A block job begins and ends with a drained node."""
        vm = self.fly("spin")
        vm.qmp("blockdev-add", driver="null-co", node_name="target", size=256 << 20)
        vm.qmp("blockdev-backup", job_id="backup", device="ssd0", target="target", sync="none")
        self.progress(vm)
        vm.qmp("block-job-cancel", device="backup")
        vm.event("BLOCK_JOB_CANCELLED")
        self.progress(vm)
        self.assertEqual(vm.quit(), 0)

    def test_system_reset(self) -> None:
        vm = self.fly("spin")
        vm.qmp("system_reset")
        self.until(lambda: self.said().count("flying") == 2)
        self.progress(vm)
        self.assertEqual(vm.quit(), 0)

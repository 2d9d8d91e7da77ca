# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the drive in real time, in a thread of its own: no machine's figures, but what must hold on all of them.

The scenes are those of bare/nvme.c, on multi-threaded TCG. Times are the drive's
own, from its trace: when a request was handed over (submit), when it was due
(done), when its submitter had it (deliver).
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

from support import QEMU, TIMEOUT, Json, Machine, MachineTest, QmpError, drive, image_opts, tool

import test_icount
import test_nvme

REAL = ("-accel", "tcg,thread=multi")
AT_END = 2  # flushes by QEMU when it stops the machine and when it closes the drive; they end at once
LATE = ("late-1us", "late-10us", "late-100us")
# Under icount a vCPU leaves a block for a device by longjmp, which the sanitizer does not
# notice: its own stack of calls grows until it is full.
NO_TSAN = unittest.skipIf("QEMU_TSAN" in os.environ, "virtual time, and so without the thread")


class RealTime(test_icount.BareTest):
    """Run scenes in real time."""

    accel: tuple[str, ...] = REAL

    def check_times(self, vm: Machine) -> None:
        """Check that no completion is early, out of order, or missing."""
        submitted = {d["id"]: int(d["now"]) for d in vm.trace("submit")}
        done = vm.trace("done")
        due = {d["id"]: int(d["done"]) for d in done}
        delivered = vm.trace("deliver")
        self.assertEqual(set(due), set(submitted))
        self.assertEqual(len(due), len(done), "each ends once")
        self.assertEqual(list(submitted.values()), sorted(submitted.values()), "handed over in order")
        self.assertEqual(
            [d["id"] for d in done],
            sorted(due, key=lambda i: (due[i], int(i))),
            "posted in order of their times",
        )
        mine = {d["id"] for d in delivered}
        self.assertEqual([d["id"] for d in delivered], [d["id"] for d in done if d["id"] in mine])
        self.assertEqual(len(due) - len(mine), AT_END)
        for one in done:
            if one["id"] in mine:
                self.assertEqual(int(one["done"]) - submitted[one["id"]], int(one["latency"]))
        for one in delivered:
            self.assertGreaterEqual(int(one["now"]), due[one["id"]], "early")
            self.assertEqual(int(one["now"]) - due[one["id"]], int(one["late"]))

    def account(self, vm: Machine) -> tuple[list[dict[str, str]], ...]:
        """Return the latency of each request, and the counters at the end of the machine."""
        done = [{k: v for k, v in d.items() if k != "done"} for d in vm.trace("done")]
        submit = [{k: v for k, v in d.items() if k != "now"} for d in vm.trace("submit")]
        return done, vm.trace("where"), submit


class Scenes(RealTime):
    """Run scenes that end by themselves."""

    def test_batches(self) -> None:
        vm = self.play("batches")
        self.check_times(vm)
        self.assertGreater(len(vm.trace("deliver")), 600)

    @NO_TSAN
    def test_one_at_a_time_is_as_in_virtual_time(self) -> None:
        """The latency of a request does not depend on how late the host was with the previous one."""
        real = self.play("closed")
        self.check_times(real)
        accounts = [self.account(real)]
        self.accel = test_icount.ICOUNT
        accounts.append(self.account(self.play("closed")))
        self.assertEqual([len(part) for part in accounts[0]], [96 + AT_END] * 3)
        for mine, other in zip(*accounts):
            self.assertEqual(mine[:96], other[:96])

    def test_spinning_is_a_matter_of_taste(self) -> None:
        for spin_ns in (0, 10_000_000):
            with self.subTest(spin_ns):
                self.spin_ns = spin_ns
                self.check_times(self.play("closed"))

    def blockdev(self, **settings: Any) -> Json:
        """Add the spin-ns that a test asked for."""
        options = super().blockdev(**settings)
        return options | ({"spin-ns": self.spin_ns} if hasattr(self, "spin_ns") else {})

    def test_reset_in_flight(self) -> None:
        self.check_times(self.play("reset-real"))

    def test_delete_queue_in_flight(self) -> None:
        self.check_times(self.play("delete-real"))

    def test_shutdown(self) -> None:
        self.check_times(self.play("shutdown"))
        self.assertEqual(self.numbers("shst")[-1], 2)


class Interference(test_icount.Interference):
    """Run endless scenes, with commands from outside."""

    accel: tuple[str, ...] = REAL

    def test_stop_holds_the_drives_clock(self) -> None:
        """Requests in flight end when the machine stops, and no time passes until it continues."""
        vm = self.fly("halt")
        vm.qmp("stop")
        last = [int(d["done"]) for d in vm.trace("done")][-1]
        before = len(vm.trace("submit"))
        for _ in range(3):
            vm.qmp("human-monitor-command", command_line='qemu-io ssd0 "read 0 4k"')
        late = [int(d["now"]) for d in vm.trace("submit")][before:]
        self.assertEqual(len(late), 3)
        # In a stopped machine a request begins when the previous one ended, or at the stop.
        self.assertEqual(len(set(late)), 1, "the clock stands")
        self.assertGreaterEqual(last, late[0] - 10**9)
        vm.qmp("cont")
        self.assertEqual(vm.quit(), 0)

    def test_kill(self) -> None:
        self.fly("spin").kill()


class PowerCuts(RealTime):
    """The drive's thread executes the cut with requests in flight; the main loop sends the notification."""

    def io(self, vm: Machine, node: str, command: str) -> None:
        """Send a request from the monitor; its result is in QEMU's output."""
        vm.qmp("human-monitor-command", command_line=f'qemu-io {node} "{command}"')

    def test_one_of_two_drives_under_load(self) -> None:
        vm = self.fly("spin")
        vm.qmp("blockdev-add", **{k.replace("-", "_"): v for k, v in drive("ssd1").items()})
        self.until(lambda: vm.stats()["total"]["write"]["ios"] > 20)
        vm.qmp("x-nand-ssd-power-cut", node_name="ssd0", after_commands=40)
        self.io(vm, "ssd1", "write -P 7 0 256k")
        power = vm.event("NAND_SSD_POWER_CUT")["data"]["power"]
        self.assertFalse(power["on"])
        self.assertIn(power["lost-requests"], range(9), "eight are in flight at most")
        self.io(vm, "ssd0", "read 0 4k")
        self.io(vm, "ssd1", "read -P 7 0 256k")
        self.assertIn("read failed: Input/output error", vm.output())
        self.assertNotIn("verification", vm.output())
        log = vm.log.read_text(encoding="utf-8")
        submitted, delivered = (
            re.findall(rf"nand_ssd_{event} ssd0 id (\d+)", log) for event in ("submit", "deliver")
        )
        self.assertEqual(sorted(submitted), sorted(delivered), "none is left behind, none comes twice")
        done = re.findall(r"nand_ssd_done ssd0 id \d+ done (\d+) latency \d+ status (-?\d+)", log)
        self.assertEqual(len(done), len(submitted))
        good = [int(ns) for ns, status in done if status == "0"]
        self.assertLessEqual(max(good), power["cut-ns"])
        # Other requests are the monitor's, and those between the cut and the notification of the controller.
        self.assertGreater(len(done) - len(good), power["lost-requests"])
        vm.qmp("x-nand-ssd-power-on", node_name="ssd0")
        vm.qmp("system_reset")
        self.until(lambda: self.said().count("flying") == 2)
        before = vm.stats()["total"]["write"]["ios"]
        self.until(lambda: vm.stats()["total"]["write"]["ios"] > before + 10)
        self.assertEqual(vm.quit(), 0)


class HotPlug(test_nvme.HotPlug):
    """The guest is a qtest client, whose clock the thread does not use. Programs take 50 ms."""

    def blockdev(self) -> Json:
        """Return the options of a drive with a thread, in spite of qtest."""
        return drive(timing__program_ns=50_000_000) | {"thread": "on"}


class Statistics(RealTime):
    """Lateness is counted only for a drive with a thread."""

    def test_counts(self) -> None:
        vm = self.fly("spin")
        self.until(lambda: vm.stats()["total"]["write"]["ios"] > 100)
        vm.qmp("stop")
        real = vm.stats()["real-time"]
        delivered = [int(d["late"]) for d in vm.trace("deliver")]
        self.assertEqual(real["delivered"]["requests"], len(delivered))
        self.assertEqual(real["delivered"]["sum-ns"], sum(delivered))
        self.assertEqual(real["delivered"]["max-ns"], max(delivered))
        for name, ns in zip(LATE, (1000, 10_000, 100_000)):
            self.assertEqual(real["delivered"][name], sum(late > ns for late in delivered))
        # The posted requests are those, and the ones that QEMU had not delivered when the machine stopped.
        self.assertGreaterEqual(real["posted"]["requests"], len(delivered))
        self.assertLessEqual(real["posted"]["requests"] - len(delivered), 8)
        self.assertEqual(vm.quit(), 0)

    @NO_TSAN
    def test_none_without_a_thread(self) -> None:
        self.accel = test_icount.ICOUNT
        vm = self.fly("spin")
        self.assertNotIn("real-time", vm.stats())
        self.assertEqual(vm.quit(), 0)

    def test_thread_off(self) -> None:
        self.blockdev = lambda **settings: drive(**settings) | {"thread": "off"}  # type: ignore[method-assign]
        vm = self.fly("spin")
        self.assertNotIn("real-time", vm.stats())
        self.until(lambda: vm.stats()["total"]["write"]["ios"] > 100)
        self.assertEqual(vm.quit(), 0)


class Options(MachineTest):
    """Test thread= and spin-ns=."""

    def refused(self, options: Json, *args: str) -> str:
        """Return QEMU's message about a drive with these options."""
        node = json.dumps(drive() | options)
        return tool("qemu-system-x86_64", "-M", "none", "-nodefaults", *args, "-blockdev", node, code=1)

    def test_no_thread_under_icount(self) -> None:
        said = self.refused({"thread": "on"}, "-accel", "tcg", "-icount", "shift=0")
        self.assertIn("thread=on", said)
        self.assertIn("-icount", said)

    def test_no_spinning_without_a_thread(self) -> None:
        self.assertIn("spin-ns=5", self.refused({"thread": "off", "spin-ns": 5}))
        self.assertIn("spin-ns=5", self.refused({"spin-ns": 5}, "-icount", "shift=0"))

    def test_neither_value_nor_range(self) -> None:
        self.assertIn("thread", self.refused({"thread": "maybe"}))
        self.assertIn("spin-ns", self.refused({"spin-ns": -1}))

    def test_added_to_a_machine_that_runs(self) -> None:
        for accel, thread in ((REAL, True), (test_icount.ICOUNT, False)):
            with self.subTest(accel):
                vm = self.machine([], accel=accel)
                vm.qmp("blockdev-add", **{k.replace("-", "_"): v for k, v in drive().items()})
                said = vm.qmp("human-monitor-command", command_line='qemu-io ssd0 "write 0 64k"')
                self.assertNotIn("fail", said)
                self.assertEqual("real-time" in vm.stats(), thread)
                if not thread:
                    with self.assertRaisesRegex(QmpError, "thread=on"):
                        options = drive("other") | {"thread": "on"}
                        vm.qmp("blockdev-add", **{k.replace("-", "_"): v for k, v in options.items()})
                vm.qmp("blockdev-del", node_name="ssd0")
                self.assertEqual(vm.quit(), 0)


class Tools(unittest.TestCase):
    """Run the drive in its thread outside a machine, too."""

    def test_requests_that_wait(self) -> None:
        """qemu-io waits for each: 64 KiB reads of a drive that takes 0.1 ms of cell time and more."""
        with tempfile.TemporaryDirectory(prefix="slate-qemu-") as folder:
            log = Path(folder) / "log"
            commands = [w for i in range(20) for w in ("-c", f"write -f {i * 64}k 64k", "-c", f"read {i * 64}k 64k")]
            tool("qemu-io", "-T", f"enable=nand_ssd_*,file={log}", "--image-opts", image_opts(), *commands)
            text = log.read_text(encoding="utf-8")
            due = dict(re.findall(r"nand_ssd_done \S+ id (\d+) done (\d+)", text))
            now = dict(re.findall(r"nand_ssd_deliver \S+ id (\d+) now (\d+)", text))
            self.assertGreaterEqual(len(due), 40)
            self.assertEqual(set(due), set(now))
            self.assertTrue(all(int(now[i]) >= int(due[i]) for i in due))

    def test_end_with_requests_in_flight(self) -> None:
        """SIGTERM to a server while a client has 64 writes in flight: it ends by itself."""
        with tempfile.TemporaryDirectory(prefix="slate-qemu-") as folder:
            path = f"{folder}/nbd"
            log = Path(folder) / "log"
            line = [*TIMEOUT, str(QEMU / "qemu-nbd"), "-T", f"nand_ssd_deliver,file={log}", "-k", path, "-t"]
            line += ["--image-opts", image_opts()]
            with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
                self.until(lambda: os.path.exists(path))
                bench = [*TIMEOUT, str(QEMU / "qemu-img"), "bench", "-w", "-c", "1000000", "-d", "64", "-f", "raw"]
                with subprocess.Popen(
                    [*bench, f"nbd+unix:///?socket={path}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                ) as client:
                    self.until(lambda: log.exists() and log.stat().st_size > 10_000)
                    os.kill(self.child(server), signal.SIGTERM)
                    self.assertEqual(server.wait(30), 0)
                    client.terminate()

    def child(self, process: subprocess.Popen[bytes]) -> int:
        """Return the process under timeout(1)."""
        return int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii"))

    def until(self, condition: object) -> None:
        """Wait for a condition, for 40 s at most."""
        test_icount.BareTest.until(self, condition)  # type: ignore[arg-type]

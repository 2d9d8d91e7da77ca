# SPDX-License-Identifier: GPL-2.0-or-later
"""Test processors that execute side by side at a fixed rate: exact times, and bounds for the others."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

from support import QEMU, SMALL, TIMEOUT, Machine, MachineTest

from test_icount import program

ROUNDS = 400
_NUMBER = re.compile(r"^(more|less) (\d+)$", re.MULTILINE)


def icount(**settings: object) -> tuple[str, ...]:
    """Return the arguments for QEMU."""
    words = {"sleep": "off", **settings}
    return ("-accel", "tcg", "-icount", ",".join(f"{key}={value}" for key, value in words.items()))


def play(
    scene: str, *more: str, vcpus: int = 2, accel: tuple[str, ...] | None = None, **settings: object
) -> list[int]:  # fmt: skip
    """Play a scene to its end, at a rate unless ACCEL says otherwise; return the numbers that it printed."""
    with tempfile.TemporaryDirectory(prefix="slate-smp-") as folder:
        console = Path(folder) / "console"
        line = [*TIMEOUT, str(QEMU / "qemu-system-x86_64"), *(accel or icount(**settings)), "-M", "q35", "-m", "64"]
        line += ["-smp", str(vcpus), "-cpu", "max,-monitor", "-nodefaults", "-display", "none", "-seed", "1"]
        line += ["-debugcon", f"file:{console}", "-device", "isa-debug-exit,iobase=0xf4,iosize=4"]
        line += ["-kernel", str(program("smp")), "-append", scene, *more]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        said = console.read_text(encoding="utf-8", errors="replace")
        if done.returncode != 1 or not said.endswith("done\n"):
            raise AssertionError(f"{scene} {settings}: exit status {done.returncode}\n{done.stderr}{said}")
    return [int(number) * (-1 if sign == "less" else 1) for sign, number in _NUMBER.findall(said)]


class Clock(unittest.TestCase):
    """Test one processor's own clock."""

    def test_an_instruction_takes_what_the_rate_says(self) -> None:
        """The scene measures two instructions (MOV, RDTSC), and then MOV, a PAUSE of 40 ns and RDTSC."""
        for rate, two, pause in (("1", 2, 42), ("0.1", 20, 60), ("0.25", 8, 48), ("0.5", 4, 44)):
            with self.subTest(rate=rate):
                self.assertEqual(play("clock", vcpus=1, rate=rate), [two, pause])

    def test_at_a_higher_rate_a_ns_has_several(self) -> None:
        """The clock is rounded down: two instructions take 2/R ns, rounded down or up."""
        for rate in ("2", "3.2", "4", "31.999", "32"):
            with self.subTest(rate=rate):
                two, pause = play("clock", vcpus=1, rate=rate)
                exact = Fraction(2) / Fraction(rate)
                self.assertLess(abs(two - exact), 1)
                self.assertLess(abs(pause - 40 - exact), 2)

    def test_sleep_lets_the_hosts_time_pass(self) -> None:
        began = time.monotonic()
        play("sleep", vcpus=1, rate=4, sleep="on")
        self.assertGreater(time.monotonic() - began, 0.3, "a third of a second, less 20 ms")


class Exact(unittest.TestCase):
    """Test times that do not depend on the quantum."""

    def test_an_idle_processor_is_interrupted_at_the_senders_time(self) -> None:
        """An interrupt is received four instructions after the sender has read its clock."""
        for rate, ns in (("1", 4), ("0.1", 40)):
            for quantum in (1, 500, 5000):
                with self.subTest(rate=rate, quantum=quantum):
                    self.assertEqual(play("idle", rate=rate, quantum=quantum), [ns] * ROUNDS)

    def test_a_timer_finds_a_busy_processor_at_its_time(self) -> None:
        """A timer's interrupt takes four instructions, and QEMU's APIC timer expires 1 ns after the
        programmed count.
        """
        for quantum in (1, 500, 2000):
            with self.subTest(quantum=quantum):
                self.assertEqual(play("timer", rate=1, quantum=quantum), [5] * ROUNDS)


    def test_init_of_a_busy_processor_leaves_its_clock_right(self) -> None:
        """The processor starts 20 instructions after the sender read its clock, 400 times."""
        for quantum in (1, 500, 2000):
            with self.subTest(quantum=quantum):
                self.assertEqual(play("init", rate=1, quantum=quantum), [20] * ROUNDS)

    def test_a_timer_for_another_processor(self) -> None:
        """The HPET's interrupt is exact if it is set a quantum ahead; else it is late by at most
        the quantum less the lead time.

        The HPET counts 10 ns at a time, and the time between reading and setting it is less than that.
        """
        for quantum in (1, 500, 1000, 2000):
            late = play("hpet", rate=1, quantum=quantum)
            self.assertEqual(len(late), ROUNDS)
            for round_, ns in enumerate(late[1:], 1):
                missing_ns = quantum - (100 + 10 * round_) + 20
                with self.subTest(quantum=quantum, round=round_):
                    self.assertGreaterEqual(ns, 0)
                    self.assertLessEqual(ns, max(missing_ns, 0))
            if quantum >= 500:
                self.assertGreater(max(late), quantum // 4, "some timer is late by more than a quarter of the quantum")


class Quantum(unittest.TestCase):
    """A busy processor affects another at most a quantum too early or too late."""

    # The measurement itself takes so many ns at 1 GIPS: an interrupt takes four instructions; a store is seen by a loop
    # of three, after up to two rounds and one instruction more.
    COST_NS: ClassVar = {"busy": 4, "store": 7}

    def spread(self, scene: str, quantum: int) -> int:
        """Play a scene; return the largest deviation, which the quantum must bound."""
        found = play(scene, rate=1, quantum=quantum)
        self.assertEqual(len(found), ROUNDS)
        self.assertGreaterEqual(min(found), -quantum)
        self.assertLessEqual(max(found), quantum + self.COST_NS[scene])
        return max(abs(ns) for ns in found)

    def test_the_quantum_bounds_an_interrupt_to_a_busy_processor(self) -> None:
        for quantum in (1, 100, 500, 2000):
            with self.subTest(quantum=quantum):
                self.spread("busy", quantum)

    def test_the_quantum_bounds_a_store(self) -> None:
        for quantum in (1, 100, 500, 2000):
            with self.subTest(quantum=quantum):
                self.spread("store", quantum)

    def test_some_deviation_comes_near_the_bound(self) -> None:
        """With a larger quantum some deviation exceeds half of it."""
        for scene in self.COST_NS:
            self.assertGreater(self.spread(scene, 2000), 1000)

    def test_equal_runs_are_equal(self) -> None:
        for scene in ("busy", "store"):
            first = play(scene, rate="3.2")
            loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(3)]
            try:
                self.assertEqual(play(scene, rate="3.2"), first)
            finally:
                for loop in loops:
                    loop.kill()
                    loop.wait()


class Outside(unittest.TestCase):
    """Test input from outside the machine."""

    def start(self, folder: Path, *more: str) -> subprocess.Popen[bytes]:
        """Start QEMU with sleep=off."""
        line = [*TIMEOUT, str(QEMU / "qemu-system-x86_64"), *icount(rate=4), "-M", "q35", "-m", "64"]
        line += ["-cpu", "max,-monitor", "-nodefaults", "-display", "none", *more]
        process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        return process

    def connect(self, path: Path) -> socket.socket:
        """Connect to a socket that QEMU makes."""
        line = socket.socket(socket.AF_UNIX)
        self.addCleanup(line.close)
        line.settimeout(30)
        for _ in range(1000):
            try:
                line.connect(str(path))
                return line
            except OSError:
                time.sleep(0.02)
        self.fail(f"QEMU does not listen at {path}")

    def test_a_key_reaches_an_idle_guest(self) -> None:
        """The key comes by a timer of the main loop, later than the drive's external timer, which ends no idle time."""
        for drive in (False, True):
            with self.subTest(drive=drive), tempfile.TemporaryDirectory(prefix="slate-key-") as name:
                folder, said = Path(name), ""
                more = ["-blockdev", f"driver=nand-ssd,node-name=d,profile={SMALL}", "-device", "nvme,drive=d"]
                process = self.start(
                    folder, "-kernel", str(program("smp")), "-append", "key", "-debugcon", "file:said",
                    "-device", "isa-debug-exit,iobase=0xf4,iosize=4",
                    "-chardev", "socket,id=com,path=com,server=on,wait=off", "-serial", "chardev:com",
                    *(more if drive else ()),
                )  # fmt: skip
                line = self.connect(folder / "com")
                while "ready" not in said and process.poll() is None:
                    time.sleep(0.02)
                    said = (folder / "said").read_text(errors="replace") if (folder / "said").exists() else ""
                time.sleep(0.3)  # until it is asleep
                line.sendall(b"x")
                self.assertEqual(process.wait(), 1)
                self.assertTrue((folder / "said").read_text(errors="replace").endswith("done\n"))

    def test_a_debugger_steps_one_of_two_vcpus(self) -> None:
        """Step one processor while the other one stays stopped; each step begins as soon as the last one is
        reported.
        """
        with tempfile.TemporaryDirectory(prefix="slate-gdb-") as name:
            folder = Path(name)
            self.start(
                folder, "-smp", "2", "-S", "-chardev", "socket,id=g,path=g,server=on,wait=off", "-gdb", "chardev:g"
            )
            line = self.connect(folder / "g")

            def ask(words: str, answer: bytes) -> None:
                line.sendall(f"${words}#{sum(words.encode()) & 255:02x}".encode())
                said = b""
                while not re.search(rb"\$.*#..", said):
                    said += line.recv(4096)
                line.sendall(b"+")
                self.assertIn(answer, said)

            ask("qSupported:multiprocess+;vContSupported+", b"multiprocess+")
            ask("?", b"$T05thread:p01.01;")
            for _ in range(200):
                ask("vCont;s:p1.1", b"$T05thread:p01.01;")


class RealTime(unittest.TestCase):
    """Test several vCPUs in threads of their own, as QEMU has them without a rate."""

    def test_a_mapping_changes_while_another_vcpu_reads(self) -> None:
        """A read uses the mapping of its TLB entry as long as the entry is in use."""
        devices = [word for i in range(6) for word in ("-device", f"nvme,serial=s{i}")]
        self.assertEqual(play("maps", *devices, accel=("-accel", "tcg,thread=multi")), [6, 0])

    def test_the_same_at_a_rate(self) -> None:
        devices = [word for i in range(6) for word in ("-device", f"nvme,serial=s{i}")]
        self.assertEqual(play("maps", *devices, rate=4), [6, 0])


class PageTables(unittest.TestCase):
    """One processor writes code and page tables, the other executes; pages of 4 MiB, all global."""

    # after: start, code written, CR3 and code written, entry and CR3 written, INVLPG, the old page and the new written
    EXECUTED: ClassVar = [1, 3, 4, 4, 2, 2, 6]

    def test_in_threads(self) -> None:
        self.assertEqual(play("pages", accel=("-accel", "tcg,thread=multi")), self.EXECUTED)

    def test_at_a_rate(self) -> None:
        self.assertEqual(play("pages", rate=4), self.EXECUTED)


class Monitor(MachineTest):
    """Test a machine that QMP stops, resets and extends while it runs."""

    def run_scene(self, scene: str, *more: str, **settings: object) -> tuple[Machine, Path]:
        """Return the machine, and the file with its output."""
        folder = Path(tempfile.mkdtemp(prefix="slate-scene-"))
        self.addCleanup(shutil.rmtree, folder)
        said = folder / "said"
        vm = self.machine(
            [], "-kernel", str(program("smp")), "-append", scene, "-debugcon", f"file:{said}", *more,
            accel=icount(**{"rate": 4, **settings}), trace=False,
        )  # fmt: skip
        return vm, said

    def grows(self, said: Path) -> None:
        """Wait until the guest has printed more."""
        before = said.stat().st_size if said.exists() else 0
        for _ in range(1000):
            if said.exists() and said.stat().st_size > before:
                return
            time.sleep(0.02)
        self.fail(f"nothing after {before} bytes")

    def test_stop_and_continue_reset_and_a_further_processor(self) -> None:
        """The machine skips idle time, or waits for it on the host."""
        for sleep in ("off", "on"):
            with self.subTest(sleep=sleep):
                vm, said = self.run_scene("ticks", "-smp", "1,maxcpus=3", sleep=sleep)
                for _ in range(5):
                    self.grows(said)
                    vm.qmp("stop")
                    size = said.stat().st_size
                    time.sleep(0.05)
                    self.assertEqual(said.stat().st_size, size, "it is stopped")
                    vm.qmp("cont")
                for cpu in range(3):
                    self.grows(said)
                    vm.qmp("system_reset")
                    vm.event("RESET")
                    if cpu:
                        free = [c for c in vm.qmp("query-hotpluggable-cpus") if "qom-path" not in c]
                        vm.qmp("device_add", driver=free[0]["type"], id=f"c{cpu}", **free[0]["props"])
                self.grows(said)
                self.assertEqual(len(vm.qmp("query-cpus-fast")), 3)
                self.assertEqual(vm.quit(), 0)

    def test_an_interrupt_from_outside_wakes_all_within_a_quantum(self) -> None:
        """When both processors are halted, one's clock is 0.9 s ahead of the event time."""
        quantum = 1000
        vm, said = self.run_scene("nmi", "-smp", "2", "-machine", "pit=off", rate="0.1", sleep="on", quantum=quantum)
        while "asleep" not in (said.read_text() if said.exists() else ""):
            time.sleep(0.01)
        vm.qmp("inject-nmi")
        while "done" not in said.read_text():
            self.assertIsNone(vm.process.poll(), "QEMU has ended")
            time.sleep(0.01)
        [(sign, number)] = _NUMBER.findall(said.read_text())
        # Both execute the same 20 instructions or fewer, of 10 ns, until they look at their clocks.
        self.assertLessEqual(int(number), quantum + 200, sign)
        self.assertEqual(vm.quit(), 0)

    def test_a_guest_of_timers_alone_leaves_the_monitor_its_turn(self) -> None:
        """The processor wakes every 100 ns, so its slice never ends; the BQL must be released nevertheless."""
        vm, said = self.run_scene("wakes")
        self.grows(said)
        for _ in range(50):
            self.assertTrue(vm.qmp("query-status")["running"])
        self.assertEqual(vm.quit(), 0)


class Refused(MachineTest):
    """Test options that are invalid, and functions that this mode does not have."""

    def test_options(self) -> None:
        rate = "give the instructions in a ns, 0.1 to 32, with at most 3 decimals"
        quantum = "give a whole number of ns, 1 to 1000000"
        for words, said in (
            *(
                (f"rate={bad}", f"rate={bad}: {rate}")
                for bad in ("0", "0.09", "-1", "3.2001", "33", "4x", "5.", "1.2.3", "inf")
            ),
            *(
                (f"rate=4,quantum={bad}", f"quantum={bad}: {quantum}")
                for bad in ("0", "-1", "-18446744073709551615", "1000001", "many")
            ),
            ("quantum=500", "quantum goes with rate: give rate=R too"),
            ("rate=4,shift=0", "rate and shift exclude each other: leave one out"),
            ("rate=4,align=on", "rate and align exclude each other: leave one out"),
            ("rate=4,rr=record,rrfile=/dev/null", "rate and rr exclude each other: leave one out"),
            ("rate=4,rrfile=/dev/null", "rate and rrfile exclude each other: leave one out"),
            ("rate=4,rrsnapshot=s", "rate and rrsnapshot exclude each other: leave one out"),
        ):
            with self.subTest(words):
                line = [*TIMEOUT, str(QEMU / "qemu-system-x86_64"), "-M", "none", "-display", "none", "-icount", words]
                done = subprocess.run(line, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 1)
                self.assertIn(said, done.stderr)


class States(MachineTest):
    """Save machines with a rate, and restore them."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="slate-state-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def save(self, accel: tuple[str, ...], *args: str) -> Path:
        """Save a machine that has not begun; return the file."""
        vm = self.machine([], "-S", *args, accel=accel, trace=False)
        path = self.folder / f"state-{len(list(self.folder.iterdir()))}"
        save(vm, path)
        self.assertEqual(vm.quit(), 0)
        return path

    def refused(self, state: Path, accel: tuple[str, ...], said: str) -> None:
        vm = self.machine([], "-S", "-incoming", "defer", accel=accel, trace=False)
        vm.qmp("migrate-incoming", uri=f"file:{state}")
        self.assertEqual(vm.process.wait(60), 1)
        self.assertIn(said, vm.output())

    def restored(self, state: Path, accel: tuple[str, ...]) -> None:
        vm = self.machine([], "-S", "-incoming", "defer", accel=accel, trace=False)
        vm.qmp("migrate-incoming", uri=f"file:{state}")
        while vm.qmp("query-status")["status"] == "inmigrate":
            time.sleep(0.02)
        self.assertEqual(vm.qmp("query-status")["status"], "prelaunch")
        self.assertEqual(vm.quit(), 0)

    def test_equal_machines_have_equal_states(self) -> None:
        """The devices' state, because QEMU divides that of memory by the host's time."""
        states = []
        for number in range(2):
            vm = self.machine([], "-S", "-seed", "1", "-rtc", "base=2020-01-01T00:00:00,clock=vm",
                              accel=icount(rate="4"), trace=False)  # fmt: skip
            vm.qmp("xen-save-devices-state", filename=f"{self.folder}/{number}")
            self.assertEqual(vm.quit(), 0)
            states.append((self.folder / str(number)).read_bytes())
        self.assertEqual(*states)

    def test_rate_and_quantum_must_be_equal(self) -> None:
        state = self.save(icount(rate="3.2", quantum=500))
        self.restored(state, icount(rate="3.2", quantum=500))
        for other in ({"rate": "3.3", "quantum": 500}, {"rate": "3.2", "quantum": 501}, {"rate": "32", "quantum": 500}):
            with self.subTest(other=other):
                self.refused(
                    state, icount(**other), "-icount: the state is one of a machine with another rate or quantum"
                )

    def test_a_machine_without_a_rate_takes_no_state_of_one_with(self) -> None:
        self.refused(self.save(icount(rate="4")), ("-accel", "tcg"), "Unknown savevm section or instance 'icount-rate'")

    def test_a_machine_goes_on_as_if_it_had_not_been_saved(self) -> None:
        """The scene names its moment while the other processor is busy. What it prints then depends on each turn of
        the two processors, before and after the moment, on the file and on the seed.
        """
        file = self.folder / "file"
        file.write_bytes(b"abcdef")
        seven, eight = (f"guest-handoff,file={file},seed={seed}" for seed in (7, 8))
        whole = self.scene("-device", seven)
        self.assertEqual(whole.split("random")[0], "before 0\nbytes 6\nword 1684234849\nword 26213\nword 0\n")
        self.assertEqual(self.scene("-device", seven), whole)
        vm = self.machine([], *self.line("-device", "guest-handoff,stop=on"), accel=icount(rate="3.2"), trace=False)
        vm.event("STOP")
        self.assertEqual(vm.qmp("query-status")["status"], "paused")
        state = self.folder / "moment"
        save(vm, state)
        self.assertEqual(vm.quit(), 0)
        again = ("-incoming", "defer", "-device")
        self.assertEqual(self.scene(*again, seven), whole)
        other, of_eight = self.scene(*again, eight), self.scene("-device", eight)
        self.assertEqual(other, of_eight)
        self.assertNotEqual(other.splitlines()[5], whole.splitlines()[5], "the random number")

    def line(self, *more: str) -> list[str]:
        line = ["-smp", "2", "-cpu", "max,-monitor", "-seed", "1", "-debugcon", f"file:{self.folder}/console"]
        line += ["-device", "isa-debug-exit,iobase=0xf4,iosize=4"]
        return [*line, "-kernel", str(program("smp")), "-append", "handoff", *more]

    def scene(self, *more: str) -> str:
        vm = self.machine([], *self.line(*more), accel=icount(rate="3.2"), trace=False)
        if "defer" in more:
            vm.qmp("migrate-incoming", uri=f"file:{self.folder}/moment")
            while vm.qmp("query-status")["status"] == "inmigrate":
                time.sleep(0.02)
            vm.qmp("cont")
        self.assertEqual(vm.process.wait(60), 1, vm.output())
        said = (self.folder / "console").read_text(encoding="utf-8")
        self.assertTrue(said.endswith("done\n"), said)
        return said


def save(vm: Machine, path: Path) -> None:
    """Save a machine's state to a file."""
    vm.qmp("migrate", uri=f"file:{path}")
    while vm.qmp("query-migrate").get("status") not in ("completed", "failed"):
        time.sleep(0.02)
    assert vm.qmp("query-migrate")["status"] == "completed", vm.qmp("query-migrate")


if __name__ == "__main__":
    unittest.main()

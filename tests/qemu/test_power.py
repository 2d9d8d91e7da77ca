# SPDX-License-Identifier: GPL-2.0-or-later
"""Test power cuts by QMP: to the nanosecond, with requests in flight; off, and on again.

The drive has no overheads; a page of 16384 + 1280 bytes is on the bus for 300 + 22080 ns,
then in its cell phase for 640000 ns.
"""

from __future__ import annotations

import hashlib
import struct
import tempfile
import unittest
from pathlib import Path
from typing import Any

from support import Json, Machine, MachineTest, QmpError, drive

from nvme import CSTS, FLUSH, FUA, IDENTIFY, READ, SET_FEATURES, WRITE, Nvme, power_on

BUS_NS, PROGRAM_NS = 300 + 22080, 640000
CONTROLLER = "nvme,id=nvme0,serial=slate,drive=ssd0,bus=pcie.0,addr=4"
PAGE = bytes(range(256)) * 16
ONES = 0xFFFFFFFF
LIST, NAMESPACE_ATTACHMENT = 0x180000, 0x15
SCRATCH, SMART = 0x180000, 0x02
GET_FEATURES, FEATURES, WRITE_CACHE, INVALID_FIELD = 0x0A, 0x12, 0x06, 0x02
QUICK: Json = {
    "ftl__overhead_ns": 0,
    "ftl__buffer_ns": 0,
    "ftl__map_ns": 0,
    "ftl__multiplane": "no",
}


class PowerTest(MachineTest):
    """Test a machine with the drive and a controller."""

    def start(self, *args: str, options: Json | None = None, **settings: Any) -> Nvme:
        """Return the running controller."""
        blockdev = options or drive(**{**QUICK, **settings})
        self.vm: Machine = self.machine([blockdev], "-device", CONTROLLER, *args)
        self.nvme = Nvme(self.vm)
        self.nvme.enable()
        return self.nvme

    def cut(self, **arguments: object) -> None:
        """Plan a cut."""
        self.vm.qmp("x-nand-ssd-power-cut", node_name="ssd0", **arguments)

    def power(self) -> Json:
        """Return the drive's power state."""
        state: Json = self.vm.qmp("x-query-nand-ssd-power", node_name="ssd0")
        return state

    def now(self) -> int:
        """Return the drive's clock at the last request."""
        return int(self.vm.trace("submit")[-1]["now"])

    def fua_write(self) -> int:
        """Start a FUA write; return the time at which it began."""
        self.nvme.start(WRITE, 0, data=PAGE, flags=FUA)
        self.nvme.io.ring()
        return self.now()

    def back(self) -> None:
        """Power on, and enable the controller."""
        self.nvme = power_on(self.vm)


class Cut(PowerTest):
    """Test the effects of a cut, and their times."""

    def test_in_the_middle_of_a_program(self) -> None:
        nvme = self.start()
        began = self.fua_write()
        self.cut(at_ns=began + BUS_NS + 1000)
        self.assertEqual(self.power()["planned-ns"], began + BUS_NS + 1000)
        self.vm.step(BUS_NS + 999)
        self.assertTrue(self.power()["on"])
        self.vm.step(1)
        event = self.vm.event("NAND_SSD_POWER_CUT")["data"]
        self.assertEqual(event["node-name"], "ssd0")
        self.assertEqual(event["then"], "vanish")
        power = self.power()
        self.assertEqual(event["power"], power)
        self.assertEqual(
            power,
            {
                "on": False,
                "planned": False,
                "cuts": 1,
                "cut-ns": began + BUS_NS + 1000,
                "lost-requests": 1,
                "torn-programs": 1,
                "torn-erases": 0,
                "undone": 0,
                "saved-ns": 0,
                "saved-programs": 0,
                "unsaved-pages": 0,
                "mounts": 0,
            },
        )
        self.assertEqual(nvme.get32(CSTS), ONES)
        nvme.set32(0x1008, 5)  # a doorbell without effect
        self.vm.step(10**9)
        self.assertIsNone(nvme.io.poll(), "a dead controller completed a command")
        self.assertEqual(self.vm.trace("done")[-1]["id"], self.vm.trace("submit")[-1]["id"])

    def test_right_before_and_right_after_a_program(self) -> None:
        """A program that ends in the nanosecond of the cut is durable, but its completion is lost."""
        for late, lost, heard in ((-1, 1, False), (0, 0, False), (1, 0, True)):
            nvme = self.start()
            began = self.fua_write()
            self.cut(at_ns=began + BUS_NS + PROGRAM_NS + late, seed=2)
            self.vm.step(BUS_NS + PROGRAM_NS)
            self.vm.step(1000)
            self.assertEqual(self.power()["lost-requests"], lost)
            self.assertEqual(self.power()["torn-programs"], lost)
            self.assertEqual(nvme.io.poll() is not None, heard)
            self.back()
            found = self.nvme.do_read(0, 4096)
            self.assertIn(found, (PAGE, bytes(4096)) if lost else (PAGE,))
            self.vm.close()

    def test_after_commands(self) -> None:
        self.start()
        self.cut(after_commands=1)
        self.assertNotIn("planned-ns", self.power())
        began = self.fua_write()
        self.vm.step(10**9)
        power = self.power()
        self.assertEqual(power["cut-ns"], began + BUS_NS + PROGRAM_NS)
        self.assertEqual(power["lost-requests"], 0)

    def test_after_a_mark(self) -> None:
        """The time is exact to the nanosecond, and counts from the first mark with the label."""
        nvme = self.start()
        for arguments in ({"mark": "go"}, {"mark": "0123456789abcdefg", "at_ns": 1}):
            with self.assertRaisesRegex(QmpError, "'mark' is a label of at most 16 bytes, with 'at-ns'"):
                self.cut(**arguments)
        self.cut(mark="go", at_ns=BUS_NS + 1000)
        nvme.mark(0, b"goo")
        self.assertTrue(self.power()["planned"])
        self.assertNotIn("planned-ns", self.power())
        self.vm.step(10**6)
        nvme.mark(1, b"go")
        marks = [mark["at-ns"] for mark in self.vm.stats()["marks"] if mark["label"] == "go"]
        self.assertEqual(self.power()["planned-ns"], marks[0] + BUS_NS + 1000)
        nvme.mark(2, b"go")
        self.assertEqual(self.fua_write(), marks[0], "the program's cell phase is under way at the cut")
        self.vm.step(10**9)
        power = self.power()
        self.assertEqual(power["cut-ns"], marks[0] + BUS_NS + 1000)
        self.assertEqual((power["lost-requests"], power["torn-programs"]), (1, 1))

    def test_now_and_twice(self) -> None:
        nvme = self.start()
        self.assertEqual(nvme.do_write(0, PAGE, FUA).code, 0)
        for n in (1, 2):
            self.cut()
            self.vm.settle()
            self.assertFalse(self.power()["on"])
            self.assertEqual(self.power()["cuts"], n)
            self.back()
            self.assertEqual(self.nvme.do_read(0, 4096), PAGE)

    def test_mounting_takes_its_time(self) -> None:
        """Two dies mount at once, each reading the first OOB of its 160 blocks: 300 + 99000 + 1600 ns."""
        self.start()
        self.cut()
        self.vm.settle()
        self.vm.qmp("x-nand-ssd-power-on", node_name="ssd0")
        power = self.power()
        self.assertTrue(power["on"])
        self.assertEqual(power["mounts"], 1)
        self.assertEqual(power["mount-reads"], 320)
        self.assertEqual(power["ready-ns"] - power["on-ns"], 160 * (300 + 99000 + 1600))
        self.nvme = Nvme(self.vm)
        self.nvme.enable()
        self.nvme.start(READ, 0, 4096)
        self.nvme.io.ring()
        self.vm.step(power["ready-ns"] - self.now() - 1)
        self.assertIsNone(self.nvme.io.poll(), "read before the drive was mounted")
        self.vm.step(1000)
        self.assertEqual(self.nvme.io.poll().code, 0)

    def test_a_full_queue_in_flight(self) -> None:
        nvme = self.start()
        for i in range(30):
            nvme.start(WRITE, i * 4096, data=PAGE, flags=FUA)
        nvme.io.ring()
        self.cut(at_ns=self.now() + BUS_NS + 1)
        self.vm.step(10**9)
        self.assertEqual(self.power()["lost-requests"], 30)
        self.back()
        self.assertEqual(self.nvme.do_write(0, PAGE, FUA).code, 0)
        self.assertEqual(self.vm.quit(), 0)

    def test_equal_cuts_leave_equal_flash(self) -> None:
        sums = []
        with tempfile.TemporaryDirectory() as folder:
            for i, seed in enumerate((1, 1, 2, 3, 4, 5)):
                path = Path(folder) / f"{i}"
                nvme = self.start(options={**drive(), "drive-file": str(path)})
                for k in range(16):
                    nvme.start(WRITE, k * 8192, data=PAGE * 2, flags=FUA)
                nvme.io.ring()
                self.cut(at_ns=self.now() + 300000, seed=seed)
                self.vm.step(10**9)
                self.assertGreater(self.power()["torn-programs"], 0)
                self.assertEqual(self.vm.quit(), 0)
                sums.append(hashlib.sha256(path.read_bytes()).hexdigest())
        self.assertEqual(sums[0], sums[1])
        self.assertGreater(len(set(sums)), 1, "the seed decides nothing")



class Protected(PowerTest):
    """Test a drive with capacitors."""

    def test_a_completed_write_is_saved(self) -> None:
        """A page of four units has one when the power fails: the capacitors program it, in a program's time."""
        nvme = self.start(ftl__power_protected="yes")
        nvme.do_admin(IDENTIFY, prp1=SCRATCH, dwords={10: 1})
        self.assertEqual(self.vm.read(SCRATCH, 4096)[525] & 1, 0, "no volatile write cache")
        self.assertEqual(nvme.do_write(0, PAGE).code, 0)
        before = self.now()
        nvme.start(FLUSH)
        self.assertEqual(nvme.finish().code, 0)
        self.fua_write()
        self.assertEqual(nvme.finish().code, 0)
        self.assertLess(self.now() - before, PROGRAM_NS, "neither flush nor FUA waits for a program")
        self.cut()
        self.vm.step(1)
        power = self.power()
        self.assertEqual([power[x] for x in ("torn-programs", "unsaved-pages", "saved-programs")], [0, 0, 1])
        self.assertEqual(power["saved-ns"], BUS_NS + PROGRAM_NS)
        self.back()
        self.assertEqual(self.power()["on-ns"], power["cut-ns"] + BUS_NS + PROGRAM_NS)
        self.assertEqual(self.nvme.do_read(0, 4096), PAGE)
        smart = self.nvme.get_log(SMART, 512, nsid=0xFFFFFFFF)
        self.assertEqual(struct.unpack_from("<Q", smart, 144)[0], 1, "unsafe shutdowns")
        identity = self.nvme.get_log(0xD0, 256)
        self.assertEqual(struct.unpack_from("<3Q", identity, 208), (1, 1, 0), "unsafe shutdowns, saved, unsaved")
        self.assertEqual(struct.unpack_from("<I", identity, 88)[0] & 129, 128, "protected, no volatile cache")

    def test_no_feature_of_the_write_cache(self) -> None:
        """The feature is not in the log, and Get and Set Features name a field; with a write cache see test_logs."""
        nvme = self.start(ftl__power_protected="yes")
        self.assertEqual(struct.unpack_from("<I", nvme.get_log(FEATURES, 1024, nsid=ONES), 4 * WRITE_CACHE)[0], 0)
        for select in range(4):
            nvme.do_admin(GET_FEATURES, INVALID_FIELD, dwords={10: WRITE_CACHE | select << 8})
        for enabled in (0, 1):
            nvme.do_admin(SET_FEATURES, INVALID_FIELD, dwords={10: WRITE_CACHE, 11: enabled})

    def test_atomic_writes(self) -> None:
        """A write of 128 KiB fits a quarter of the buffer's 4 MiB; without capacitors a unit of 4 KiB is atomic."""
        for protected, blocks in (("yes", 256), ("no", 8)):
            nvme = self.start(ftl__power_protected=protected, ftl__buffer_units=1024)
            nvme.do_admin(IDENTIFY, nsid=1, prp1=SCRATCH)
            found = self.vm.read(SCRATCH, 4096)
            self.assertEqual(struct.unpack_from("<6H", found, 34), (*[blocks - 1] * 2, 0, blocks - 1, 0, blocks - 1))
            self.vm.close()


class Machines(PowerTest):
    """Test the machine's reaction to a cut."""

    def test_reset(self) -> None:
        nvme = self.start()
        self.assertEqual(nvme.do_write(4096, PAGE, FUA).code, 0)
        began = self.fua_write()
        self.cut(at_ns=began + BUS_NS + 5, then="reset")
        self.vm.step(10**6)
        self.assertEqual(self.vm.event("NAND_SSD_POWER_CUT")["data"]["then"], "reset")
        self.vm.event("RESET")
        power = self.power()
        self.assertTrue(power["on"])
        self.assertEqual(power["mounts"], 1)
        self.assertEqual(power["lost-requests"], 1)
        self.vm.step(10**9)
        self.nvme = Nvme(self.vm)
        self.nvme.enable()
        self.assertEqual(self.nvme.do_read(4096, 4096), PAGE)
        self.assertIn(self.nvme.do_read(0, 4096), (PAGE, bytes(4096)))

    def test_reset_while_the_machine_does_not_reboot(self) -> None:
        self.start("-no-reboot", "-no-shutdown")
        self.cut(at_ns=self.fua_write() + 100, then="reset")
        self.vm.step(10**6)
        self.assertEqual(self.vm.event("SHUTDOWN")["data"]["reason"], "host-qmp-system-reset")
        self.assertFalse(self.power()["on"])
        self.assertEqual(self.vm.quit(), 0)

    def test_shutdown(self) -> None:
        self.start("-no-shutdown")
        began = self.fua_write()
        self.cut(at_ns=began + 100, then="shutdown")
        self.vm.step(10**6)
        self.assertEqual(self.vm.event("SHUTDOWN")["data"]["reason"], "host-error")
        self.assertEqual(self.power()["undone"], 1)
        self.assertEqual(self.vm.stats()["write"]["requests"] if "write" in self.vm.stats() else 0, 0)
        self.assertEqual(self.vm.quit(), 0)

    def test_off_nothing_hangs(self) -> None:
        """These operations wait for the drive: the monitor, stop, a system reset, unplugging, quit."""
        self.start()
        self.fua_write()
        self.cut()
        self.vm.settle()
        self.vm.qmp("human-monitor-command", command_line='qemu-io ssd0 "read 0 4k"')
        self.vm.qmp("stop")
        self.vm.qmp("cont")
        self.vm.qmp("system_reset")
        self.vm.event("RESET")
        self.assertFalse(self.power()["on"], "a reset alone is no power")
        self.assertEqual(self.vm.quit(), 0)
        self.assertIn("read failed: Input/output error", self.vm.output())

    def test_drained_and_stopped(self) -> None:
        """While time is stopped the cut is delayed, unless a client waits for requests that it will meet."""
        self.start()
        began = self.fua_write()
        self.cut(at_ns=began + BUS_NS + 7)
        self.vm.qmp("stop")  # waits for the write, whose time is skipped, and with it the time of the cut
        power = self.power()
        self.assertEqual(power["cut-ns"], began + BUS_NS + 7)
        self.assertEqual(power["lost-requests"], 1)
        self.vm.qmp("cont")
        self.back()
        self.vm.qmp("stop")
        self.cut()
        self.vm.settle()
        self.assertEqual(self.power()["cuts"], 2)
        self.assertEqual(self.vm.quit(), 0)

    def test_other_users_get_errors(self) -> None:
        self.vm = self.machine([drive(**QUICK)])
        self.cut()
        self.vm.settle()
        self.vm.qmp("human-monitor-command", command_line='qemu-io ssd0 "write 0 4k"')
        self.vm.qmp("x-nand-ssd-power-on", node_name="ssd0")
        self.vm.qmp("human-monitor-command", command_line='qemu-io ssd0 "write 4k 4k"')
        self.assertEqual(self.vm.quit(), 0)
        self.assertIn("write failed: Input/output error", self.vm.output())
        self.assertIn("wrote 4096/4096 bytes at offset 4096", self.vm.output())


class Several(PowerTest):
    """Test several drives of a controller, and several controllers of a drive."""

    def attachment(self, nvme: Nvme, controller: int, action: int) -> None:
        """Start the attachment (0) or detachment (1) of the namespace to or from a controller."""
        self.vm.write(LIST, struct.pack("<HH", 1, controller).ljust(4096, b"\0"))
        nvme.admin.put(NAMESPACE_ATTACHMENT, 1, LIST, dwords={10: action})
        nvme.admin.ring()

    def turn(self, away: Nvme, to: Nvme) -> None:
        """Map another controller's registers."""
        away.config_write(0x04, 0)
        to.config_write(0x04, 6)

    def test_two_drives(self) -> None:
        """The controller has power when both drives have."""
        self.vm = self.machine(
            [drive(**QUICK), drive("ssd1", **QUICK)],
            *("-device", "nvme,id=nvme0,serial=slate,bus=pcie.0,addr=4"),
            *("-device", "nvme-ns,drive=ssd0,bus=nvme0", "-device", "nvme-ns,drive=ssd1,bus=nvme0"),
        )
        nvme = Nvme(self.vm)
        nvme.enable()
        for node in ("ssd0", "ssd1"):
            self.vm.qmp("x-nand-ssd-power-cut", node_name=node)
            self.vm.settle()
            self.assertEqual(nvme.get32(CSTS), ONES)
        self.vm.qmp("x-nand-ssd-power-on", node_name="ssd0")
        self.assertEqual(nvme.get32(CSTS), ONES)
        self.vm.qmp("x-nand-ssd-power-on", node_name="ssd1")
        self.assertEqual(nvme.get32(CSTS), 0)
        nvme.enable()
        self.assertEqual(nvme.do_write(0, PAGE).code, 0)

    def test_another_controller_detaches_the_drive(self) -> None:
        """A detached drive no longer keeps its controller off. Before, the controller was off until QEMU ended."""
        self.vm = self.machine(
            [drive(**QUICK)],
            *("-device", "nvme-subsys,id=sub,nqn=n"),
            *("-device", "nvme,id=nvme0,serial=slate,subsys=sub,bus=pcie.0,addr=4"),
            *("-device", "nvme,id=nvme1,serial=slate,subsys=sub,bus=pcie.0,addr=5"),
            *("-device", "nvme-ns,drive=ssd0,bus=nvme0"),
        )
        first, second = Nvme(self.vm), Nvme(self.vm, slot=5)
        second.config_write(0x04, 0)
        first.enable()  # which attaches the namespace
        self.turn(first, second)
        second.enable()
        self.attachment(second, 1, 1)
        self.assertEqual(second.wait(second.admin).code, 0)
        self.cut()
        self.vm.settle()
        self.assertEqual(second.get32(CSTS), 1)
        self.turn(second, first)
        self.assertEqual(first.get32(CSTS), ONES)
        self.turn(first, second)
        self.attachment(second, 0, 1)
        self.assertEqual(second.wait(second.admin).code, 0)
        self.turn(second, first)
        self.assertEqual(first.get32(CSTS), 0)
        # a controller that is given a drive without power has none
        self.turn(first, second)
        self.attachment(second, 1, 0)
        self.vm.step(1000)
        self.assertEqual(second.get32(CSTS), ONES)
        self.vm.qmp("x-nand-ssd-power-on", node_name="ssd0")
        self.assertEqual(second.get32(CSTS), 0)
        self.assertEqual(self.vm.quit(), 0)


class Refused(PowerTest):
    """Test refused plans: the message, and no effect."""

    def refused(self, words: str, **arguments: object) -> None:
        """Check that a plan of a cut is refused."""
        with self.assertRaisesRegex(QmpError, words):
            self.cut(**arguments)

    def test_plans(self) -> None:
        self.start()
        self.fua_write()
        self.vm.step(10**7)
        self.refused("at 1 ns, and the drive's clock is at \\d+ ns already", at_ns=1)
        self.refused("after 0 commands", after_commands=0)
        self.refused("exclude each other", at_ns=10**12, after_commands=1)
        self.refused("exclude each other", at_ns=10**12, never=True)
        self.refused("then", then="explode")
        self.cut(at_ns=10**12)
        self.cut(never=True)
        self.assertFalse(self.power()["planned"])
        with self.assertRaisesRegex(QmpError, "Drive 'ssd0' has power already"):
            self.vm.qmp("x-nand-ssd-power-on", node_name="ssd0")
        self.cut()
        self.vm.settle()
        self.refused("no power already")

    def test_nodes(self) -> None:
        self.vm = self.machine([{"driver": "null-co", "node-name": "null"}])
        for command in ("x-nand-ssd-power-cut", "x-nand-ssd-power-on", "x-query-nand-ssd-power"):
            with self.assertRaisesRegex(QmpError, "Cannot find node 'none'"):
                self.vm.qmp(command, node_name="none")
            with self.assertRaisesRegex(QmpError, "Node 'null' is not a drive of nand-ssd"):
                self.vm.qmp(command, node_name="null")

    def test_recording(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.start(options={**drive(), "record": str(Path(folder) / "r")})
            self.refused("a recording cannot tell of it")
            self.assertEqual(self.vm.quit(), 0)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the drive behind real NVMe queues, in a machine whose clock the tests step."""

from __future__ import annotations

import struct
import time
from typing import Any

from support import Json, Machine, MachineTest, QmpError, drive

from nvme import (
    BAR,
    CC,
    CC_ENABLE,
    CC_SHN_NORMAL,
    CSTS,
    DELETE_SQ,
    DSM,
    FLUSH,
    FUA,
    GET_LOG,
    IDENTIFY,
    MARK,
    READ,
    SET_FEATURES,
    WRITE,
    WRITE_ZEROES,
    Nvme,
)

PAGE = bytes(range(256)) * 16
OTHER = bytes(reversed(range(256))) * 16
SCRATCH = 0x180000
CONTROLLER = "nvme,id=nvme0,serial=slate,drive=ssd0,bus=pcie.0,addr=4"


class NvmeTest(MachineTest):
    """Starts a machine with the drive and one controller."""

    def start(
        self, blockdevs: list[Json] | None = None, device: str = CONTROLLER, **settings: Any
    ) -> Nvme:
        """Return the running controller."""
        self.vm: Machine = self.machine(blockdevs or [drive(**settings)], "-device", device)
        self.nvme = Nvme(self.vm)
        self.nvme.enable()
        return self.nvme

    def last(self, event: str) -> dict[str, str]:
        """Return the newest trace event of a name."""
        return self.vm.trace(event)[-1]

    def in_flight(self) -> int:
        """Return the requests that the drive has accepted and not finished."""
        return len(self.vm.trace("submit")) - len(self.vm.trace("done"))


class Commands(NvmeTest):
    """Test answers of the controller, and its actions."""

    def test_identify(self) -> None:
        nvme = self.start()
        nvme.do_admin(IDENTIFY, nsid=1, prp1=SCRATCH, dwords={10: 0})
        data = self.vm.read(SCRATCH, 4096)
        self.assertEqual(struct.unpack_from("<Q", data)[0], (256 << 20) // 512)
        nvme.do_admin(IDENTIFY, prp1=SCRATCH, dwords={10: 1})
        data = self.vm.read(SCRATCH, 4096)
        self.assertEqual(data[4:24].rstrip(), b"slate")
        self.assertTrue(data[525] & 1, "a volatile write cache")

    def test_read_back(self) -> None:
        nvme = self.start()
        self.assertEqual(nvme.do_write(0, PAGE).code, 0)
        self.assertEqual(nvme.do_write(1 << 20, OTHER + PAGE).code, 0)
        self.assertEqual(nvme.do_write(512, b"\xee" * 512).code, 0)
        self.assertEqual(nvme.do_read(0, 4096), PAGE[:512] + b"\xee" * 512 + PAGE[1024:])
        self.assertEqual(nvme.do_read(1 << 20, 8192), OTHER + PAGE)
        self.assertEqual(nvme.do_read(2 << 20, 4096), bytes(4096))

    def test_full_queue(self) -> None:
        nvme = self.start()
        for i in range(31):
            nvme.start(WRITE, i * 4096, data=bytes([i + 1]) * 4096)
        nvme.io.ring()
        for _ in range(31):
            self.assertEqual(nvme.wait(nvme.io).code, 0)
        for i in range(31):
            self.assertEqual(nvme.do_read(i * 4096, 4096), bytes([i + 1]) * 4096)

    def test_deallocate(self) -> None:
        nvme = self.start()
        nvme.do_write(0, PAGE + PAGE)
        self.vm.write(SCRATCH, struct.pack("<IIQ", 0, 8, 0))
        nvme.io.put(DSM, 1, SCRATCH, dwords={10: 0, 11: 4})
        self.assertEqual(nvme.finish().code, 0)
        self.assertEqual(nvme.do_read(0, 8192), bytes(4096) + PAGE)
        self.assertEqual(self.vm.stats()["total"]["ftl"]["trimmed-units"], 1)

    def test_write_zeroes(self) -> None:
        nvme = self.start()
        nvme.do_write(0, PAGE + PAGE)
        nvme.io.put(WRITE_ZEROES, 1, dwords={10: 8, 12: 7})
        self.assertEqual(nvme.finish().code, 0)
        self.assertEqual(nvme.do_read(0, 8192), PAGE + bytes(4096))

    def test_fua_reaches_the_drive(self) -> None:
        nvme = self.start()
        nvme.do_write(0, PAGE)
        plain = int(self.last("done")["latency"])
        self.assertEqual(self.vm.stats()["total"]["ftl"]["fua-writes"], 0)
        nvme.do_write(0, PAGE, FUA)
        self.assertEqual(self.vm.stats()["total"]["ftl"]["fua-writes"], 1)
        self.assertGreater(int(self.last("done")["latency"]), plain + 600000, "t_PROG is in it")

    def test_flush_reaches_an_idle_drive(self) -> None:
        nvme = self.start()
        for _ in range(2):
            nvme.start(FLUSH)
            self.assertEqual(nvme.finish().code, 0)
        self.assertEqual(self.vm.stats()["total"]["flush"]["ios"], 2)

    def test_cache_off_waits_for_a_flush(self) -> None:
        nvme = self.start()
        nvme.do_write(0, PAGE)
        nvme.admin.put(SET_FEATURES, dwords={10: 6, 11: 0})
        nvme.admin.ring()
        self.assertIsNone(nvme.admin.poll(), "it has to wait for t_PROG")
        self.assertEqual(nvme.wait(nvme.admin).code, 0)
        self.assertGreater(int(self.last("done")["latency"]), 600000)
        before = self.vm.stats()["total"]["ftl"]["fua-writes"]
        nvme.do_write(4096, PAGE)
        self.assertEqual(self.vm.stats()["total"]["ftl"]["fua-writes"], before + 1)
        nvme.do_admin(SET_FEATURES, dwords={10: 6, 11: 1})
        nvme.do_write(8192, PAGE)
        self.assertEqual(self.vm.stats()["total"]["ftl"]["fua-writes"], before + 1)


class Time(NvmeTest):
    """Test that a command completes exactly at its nanosecond."""

    def exact(self, queue: Any) -> int:
        """Ring the doorbell, and find the completion at the drive's done_ns; return the latency."""
        before = len(self.vm.trace("submit"))
        queue.ring()
        submit = self.vm.trace("submit")[before]
        self.vm.step(1)
        low = 1
        while True:  # the drive tells its done_ns when it is over: grow, in a machine of its own
            if queue.poll():
                break
            self.vm.step(low)
            low = min(low * 2, 1 << 16)
        done = next(d for d in self.vm.trace("done") if d["id"] == submit["id"])
        self.assertEqual(int(done["done"]) - int(submit["now"]), int(done["latency"]))
        return int(done["latency"])

    def check_exact(
        self,
        prepare: list[tuple[int, int, bytes, int]],
        command: tuple[int, int, bytes, int],
    ) -> int:
        """Measure a latency once, and check in a new machine that the same request takes it to the nanosecond."""
        latency = 0
        for attempt in range(2):
            nvme = self.start()
            for opcode, offset, data, flags in prepare:
                nvme.start(opcode, offset, data=data, flags=flags)
                nvme.finish()
            opcode, offset, data, flags = command
            nvme.start(opcode, offset, 4096 if opcode == READ else 0, data, flags)
            if attempt == 0:
                latency = self.exact(nvme.io)
            else:
                nvme.io.ring()
                self.assertIsNone(nvme.io.poll(), "completed inside its submission")
                self.vm.step(latency - 1)
                self.assertIsNone(nvme.io.poll(), "one nanosecond early")
                self.vm.step(1)
                self.assertIsNotNone(nvme.io.poll(), "late")
            self.vm.close()
        return latency

    def test_unwritten_read(self) -> None:
        """An unwritten read takes map_ns + overhead_ns of small.ini, and nothing else."""
        self.assertEqual(self.check_exact([], (READ, 0, b"", 0)), 200 + 1000)

    def test_flash_read(self) -> None:
        latency = self.check_exact([(WRITE, 0, PAGE, 0), (FLUSH, 0, b"", 0)], (READ, 0, b"", 0))
        self.assertGreater(latency, 99000)

    def test_buffered_write(self) -> None:
        self.assertLess(self.check_exact([], (WRITE, 0, PAGE, 0)), 99000)

    def test_fua_write(self) -> None:
        self.assertGreater(self.check_exact([], (WRITE, 0, PAGE, FUA)), 640000)

    def test_flush(self) -> None:
        self.assertGreater(self.check_exact([(WRITE, 0, PAGE, 0)], (FLUSH, 0, b"", 0)), 600000)

    def test_equal_runs_are_equal(self) -> None:
        traces, stats = [], []
        for _ in range(2):
            nvme = self.start()
            for i in range(200):
                nvme.start(
                    WRITE if i % 3 else READ,
                    (i * 7919 % 500) * 4096,
                    0 if i % 3 else 4096,
                    PAGE if i % 3 else b"",
                    FUA if i % 7 == 0 and i % 3 else 0,
                )
                if i % 16 == 15:
                    nvme.io.ring()
                    for _ in range(16):
                        nvme.wait(nvme.io)
            stats.append(self.vm.stats())
            traces.append((self.vm.trace("submit"), self.vm.trace("done"), self.vm.trace("where")))
            self.vm.close()
        self.assertEqual(traces[0], traces[1])
        self.assertEqual(stats[0], stats[1])

    def test_breakdown_adds_up(self) -> None:
        nvme = self.start()
        for i in range(20):
            nvme.start(WRITE, i * 4096, data=PAGE)
        nvme.io.ring()
        for _ in range(20):
            nvme.wait(nvme.io)
        parts = {where.pop("id"): where for where in self.vm.trace("where")}
        for done in self.vm.trace("done"):
            self.assertEqual(sum(int(v) for v in parts[done["id"]].values()), int(done["latency"]))
        write = self.vm.stats()["total"]["write"]
        self.assertEqual(write["ios"], 20)
        self.assertEqual(sum(int(d["latency"]) for d in self.vm.trace("done")), write["latency-sum-ns"])


class InFlight(NvmeTest):
    """Every action that ends commands in flight ends them at once, and their data are stored."""

    def submit(self, nvme: Nvme, count: int = 8) -> None:
        """Submit FUA writes; no time passes."""
        for i in range(count):
            nvme.start(WRITE, i * 4096, data=bytes([i + 1]) * 4096, flags=FUA)
        nvme.io.ring()
        self.assertEqual(nvme.io.drain(), [])
        self.assertEqual(self.in_flight(), count)

    def check_written(self, nvme: Nvme, count: int = 8) -> None:
        """Check that the data are stored, and that the drive works at its normal speed."""
        for i in range(count):
            self.assertEqual(nvme.do_read(i * 4096, 4096), bytes([i + 1]) * 4096)
        nvme.start(READ, 64 << 20, 4096)
        nvme.io.ring()
        self.vm.step(1199)
        self.assertIsNone(nvme.io.poll(), "one nanosecond early")
        self.vm.step(1)
        self.assertIsNotNone(nvme.io.poll(), "late")

    def test_controller_reset(self) -> None:
        nvme = self.start()
        self.submit(nvme)
        nvme.disable()
        self.assertEqual(nvme.get32(CSTS), 0)
        self.assertEqual(self.in_flight(), 0)
        nvme.enable()
        self.check_written(nvme)

    def test_reset_in_the_middle_of_a_deallocate(self) -> None:
        """A command of several steps does not begin the next one."""
        nvme = self.start()
        nvme.do_write(0, PAGE + PAGE)
        self.vm.write(SCRATCH, struct.pack("<IIQIIQ", 0, 8, 0, 0, 8, 8))
        nvme.io.put(DSM, 1, SCRATCH, dwords={10: 1, 11: 4})
        nvme.io.ring()
        self.assertEqual(self.in_flight(), 1)
        nvme.disable()
        self.assertEqual(self.in_flight(), 0)
        nvme.enable()
        self.assertEqual(nvme.do_read(0, 8192), bytes(4096) + PAGE)

    def test_function_level_reset(self) -> None:
        nvme = self.start()
        self.submit(nvme)
        express = nvme.capability(0x10)
        nvme.config_write(express + 8, nvme.config(express + 8) & 0xFFFF | 1 << 15)
        self.assertEqual(self.in_flight(), 0)
        again = Nvme(self.vm)
        again.enable()
        self.check_written(again)

    def test_delete_queue(self) -> None:
        nvme = self.start()
        self.submit(nvme)
        nvme.do_admin(DELETE_SQ, dwords={10: 1})
        self.assertEqual(self.in_flight(), 0)
        nvme.do_admin(4, dwords={10: 1})
        nvme.make_io_queue()
        self.check_written(nvme)

    def test_shutdown(self) -> None:
        nvme = self.start()
        nvme.do_write(0, PAGE)
        self.submit(nvme)
        nvme.set32(CC, CC_ENABLE | CC_SHN_NORMAL)
        self.vm.settle()
        self.assertEqual(nvme.get32(CSTS) >> 2 & 3, 1, "in progress")
        flush = self.last("submit")
        self.assertEqual(flush["op"], "flush")
        for _ in range(100000):
            if nvme.get32(CSTS) >> 2 & 3 != 1:
                break
            self.vm.step(10000)
        self.assertEqual(nvme.get32(CSTS) >> 2 & 3, 2, "complete")
        done = next(d for d in self.vm.trace("done") if d["id"] == flush["id"])
        self.assertGreater(int(done["latency"]), 640000)
        self.assertEqual(self.in_flight(), 0)
        nvme.disable()
        self.assertEqual(nvme.get32(CSTS), 0)
        nvme.enable()
        self.check_written(nvme)

    def test_reset_during_shutdown(self) -> None:
        nvme = self.start()
        nvme.do_write(0, PAGE)
        nvme.set32(CC, CC_ENABLE | CC_SHN_NORMAL)
        self.vm.settle()
        self.assertEqual(nvme.get32(CSTS) >> 2 & 3, 1)
        nvme.disable()
        self.assertEqual(nvme.get32(CSTS), 0)
        self.vm.step(10**7)
        self.assertEqual(nvme.get32(CSTS), 0, "the shutdown is not reported")

    def test_stop_and_cont(self) -> None:
        nvme = self.start()
        self.submit(nvme)
        self.vm.qmp("stop")
        self.assertEqual(self.in_flight(), 0)
        self.vm.qmp("cont")
        self.vm.settle()
        self.assertEqual([c.code for c in nvme.io.drain()], [0] * 8)
        self.check_written(nvme)

    def test_quit(self) -> None:
        nvme = self.start()
        self.submit(nvme)
        self.assertEqual(self.vm.quit(), 0)

    def test_system_reset(self) -> None:
        nvme = self.start()
        self.submit(nvme)
        self.vm.qmp("system_reset")
        self.vm.event("RESET")
        self.assertEqual(self.in_flight(), 0)
        again = Nvme(self.vm)
        again.enable()
        self.check_written(again)

    def test_synchronous_read_from_the_monitor(self) -> None:
        """A monitor command that waits with the lock held must not block the drive."""
        nvme = self.start()
        self.submit(nvme)
        before = time.monotonic()
        said = self.vm.qmp("human-monitor-command", command_line='qemu-io ssd0 "read -P 0 1M 4k"')
        self.assertNotIn("fail", said)
        self.assertLess(time.monotonic() - before, 10)
        self.vm.settle()
        self.assertEqual(len(nvme.io.drain()), 8, "it waited for them too")
        self.check_written(nvme)


class HotPlug(NvmeTest):
    """Test removing the controller and the drive."""

    def blockdev(self) -> Json:
        """Return the options of the drive."""
        return drive()

    def start_below_port(self) -> Nvme:
        """Return the controller in a hot-plug slot of a machine without firmware."""
        self.vm = self.machine(
            [self.blockdev()],
            "-global",
            "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off",
            "-device",
            "pcie-root-port,id=port0,bus=pcie.0,addr=5,chassis=1,slot=1",
            "-device",
            "nvme,id=nvme0,serial=slate,drive=ssd0,bus=port0",
        )
        self.port = Nvme.__new__(Nvme)
        self.port.machine, self.port.bus, self.port.slot = self.vm, 0, 5
        self.port.config_write(0x18, 0x00010100)
        self.port.config_write(0x20, BAR >> 16 & 0xFFF0 | BAR & 0xFFF00000)
        self.port.config_write(0x04, 0x6)
        nvme = Nvme(self.vm, bus=1, slot=0)
        nvme.enable()
        return nvme

    def test_unplug_in_flight(self) -> None:
        nvme = self.start_below_port()
        express = self.port.capability(0x10)
        self.port.config_write(express + 0x18, 0x0100)  # power on, indicator on
        for i in range(8):
            nvme.start(WRITE, i * 4096, data=bytes([i + 1]) * 4096, flags=FUA)
        nvme.io.ring()
        self.assertEqual(self.in_flight(), 8)
        with self.assertRaises(QmpError):
            self.vm.qmp("blockdev-del", node_name="ssd0")
        self.vm.qmp("device_del", id="nvme0")
        self.port.config_write(express + 0x18, 0x0700)  # what a guest does: indicator and power off
        self.vm.event("DEVICE_DELETED")
        self.assertEqual(self.in_flight(), 0)
        self.vm.qmp("blockdev-del", node_name="ssd0")
        self.vm.qmp("blockdev-add", **{k.replace("-", "_"): v for k, v in drive().items()})
        self.assertEqual(self.vm.stats()["total"]["write"]["ios"], 0, "a new drive")
        self.assertEqual(self.vm.quit(), 0)


class Marks(NvmeTest):
    """The vendor command."""

    def test_marks_divide_the_account(self) -> None:
        nvme = self.start()
        nvme.do_write(0, PAGE)
        nvme.mark(1, b"job")
        for i in range(3):
            nvme.do_write(i * 4096, PAGE)
        now = self.vm.step(1)
        nvme.mark(2, b"sixteen-letters!")
        marks = self.vm.stats()["marks"]
        self.assertEqual(
            [(m["kind"], m["label"]) for m in marks], [("begin", "job"), ("end", "sixteen-letters!")]
        )
        self.assertEqual([m["account"]["write"]["ios"] for m in marks], [1, 3])
        self.assertEqual(marks[1]["at-ns"], now)
        self.assertEqual(self.vm.stats()["total"]["write"]["ios"], 4)

    def test_busy_time_by_die_and_channel(self) -> None:
        """The totals of the dies are those of the sources, over marks too."""
        nvme = self.start()
        for mark in range(3):
            for i in range(9):
                nvme.do_write((mark + 2) * i * 4096, PAGE)
            nvme.start(FLUSH)
            nvme.finish()
            nvme.do_read(0, 4096)
            if mark < 2:
                nvme.mark(0, b"here")
        stats = self.vm.stats()
        host = stats["total"]["nand"]["by-source"]["host"]
        self.assertEqual(sum(die["host"] for die in stats["dies"]), host["die-busy-ns"])
        self.assertEqual(sum(one["host"] for one in stats["channels"]), host["bus-busy-ns"])
        # cmd + cell for each read, with its transfer; cmd and transfer, then the cell, for each program
        transfer = (16384 + 1280) * 1250 // 1000
        self.assertEqual((host["reads"], host["programs"]), (3, 9))
        self.assertEqual(host["bus-busy-ns"], 12 * (300 + transfer))
        self.assertEqual(host["die-busy-ns"], 12 * (300 + transfer) + 3 * 99000 + 9 * 640000)
        self.assertEqual(stats["total"]["nand"]["read-bytes"], 3 * (16384 + 1280))
        self.assertGreater(stats["at-ns"], max(die["host"] for die in stats["dies"]))

    def test_effects_log(self) -> None:
        nvme = self.start()
        nvme.do_admin(GET_LOG, prp1=SCRATCH, dwords={10: 5 | 1023 << 16})
        effects = struct.unpack("<256I", self.vm.read(SCRATCH, 1024))
        self.assertEqual(effects[MARK], 1 | 1 << 20, "of a namespace")

    def test_bad_kind(self) -> None:
        self.start().mark(3, b"x", code=0x02)

    def test_bad_namespace(self) -> None:
        nvme = self.start()
        nvme.mark(0, b"x", nsid=0xFFFFFFFF, code=0x0B)
        nvme.mark(0, b"x", nsid=2, code=0x02)

    def test_too_many(self) -> None:
        """The 1,024th mark is refused: in its place a point says that marks are missing from there on (slate.h)."""
        nvme = self.start()
        for _ in range(1023):
            nvme.mark(0, b"x")
        nvme.mark(0, b"x", code=0x81)
        labels = [mark["label"] for mark in self.vm.stats()["marks"]]
        self.assertEqual(labels, ["x"] * 1023 + ["(marks are full)"])

    def test_other_drives_do_not_know_it(self) -> None:
        self.start([{"driver": "null-co", "node-name": "ssd0", "size": 1 << 20}]).mark(0, b"x", code=0x01)

    def test_below_a_filter(self) -> None:
        self.start([drive("flash"), {"driver": "copy-on-read", "node-name": "ssd0", "file": "flash"}])
        self.nvme.mark(0, b"x")
        self.assertEqual(len(self.vm.stats("flash")["marks"]), 1)


class Errors(NvmeTest):
    """Test errors of the drive as the guest sees them."""

    def status(self, kind: str, errno: int, opcode: int) -> int:
        """Return the status of a command to which the drive answers with errno."""
        self.start(
            [
                drive("flash"),
                {
                    "driver": "blkdebug",
                    "node-name": "ssd0",
                    "image": "flash",
                    "inject-error": [{"event": "none", "iotype": kind, "errno": errno, "once": False}],
                },
            ]
        )
        if opcode == WRITE:
            self.nvme.start(WRITE, data=PAGE)
        elif opcode == DSM:
            self.vm.write(SCRATCH, struct.pack("<IIQ", 0, 8, 0))
            self.nvme.io.put(DSM, 1, SCRATCH, dwords={10: 0, 11: 4})
        else:
            if opcode == FLUSH:
                self.nvme.do_write(0, PAGE)
            self.nvme.start(opcode, 0, 4096 if opcode == READ else 0)
        code = self.nvme.finish().code
        self.vm.close()
        return code

    def test_read(self) -> None:
        self.assertEqual(self.status("read", 5, READ), 0x281)

    def test_write(self) -> None:
        self.assertEqual(self.status("write", 5, WRITE), 0x280)
        self.assertEqual(self.status("write", 28, WRITE), 0x81)
        self.assertEqual(self.status("write", 30, WRITE), 0x20)
        self.assertEqual(self.status("write", 16, WRITE), 0x280, "EBUSY tells of no sanitize operation")

    def test_flush(self) -> None:
        self.assertEqual(self.status("flush", 5, FLUSH), 0x280)
        self.assertEqual(self.status("flush", 30, FLUSH), 0x20)

    def test_failed_cache_off_leaves_it_on(self) -> None:
        self.start(
            [
                drive("flash"),
                {
                    "driver": "blkdebug",
                    "node-name": "ssd0",
                    "image": "flash",
                    "inject-error": [{"event": "none", "iotype": "flush", "errno": 5, "once": True}],
                },
            ]
        )
        self.nvme.do_write(0, PAGE)
        self.nvme.admin.put(SET_FEATURES, dwords={10: 6, 11: 0})
        self.nvme.admin.ring()
        self.assertEqual(self.nvme.wait(self.nvme.admin).code, 0x280)
        self.assertEqual(self.nvme.do_admin(0x0A, dwords={10: 6}).result & 1, 1)
        self.nvme.do_write(0, PAGE)
        self.assertEqual(self.vm.stats("flash")["total"]["ftl"]["fua-writes"], 0)


class OtherFrontEnds(MachineTest):
    """Other users of the block layer get the same service as the controller."""

    def test_statistics_have_their_shape(self) -> None:
        vm = self.machine([drive()])
        stats: Json = vm.stats()
        self.assertEqual(stats["profile"], "small")
        self.assertEqual(stats["capacity"], 256 << 20)
        self.assertIn("geometry.channels=2", stats["settings"])
        self.assertEqual(set(stats["total"]), {"read", "write", "trim", "flush", "ftl", "nand"})
        self.assertEqual(len(stats["total"]["nand"]["violations"]), 12)
        self.assertEqual((len(stats["dies"]), len(stats["channels"]), stats["at-ns"]), (2, 2, 0))
        self.assertLessEqual({"host", "gc"}, stats["total"]["nand"]["by-source"].keys())

    def test_stopped_machine(self) -> None:
        """Before the machine starts, virtual time stands, and requests end without delay."""
        vm = self.machine([drive()], "-S", "-device", "virtio-blk-pci,drive=ssd0")
        said = vm.qmp("human-monitor-command", command_line='qemu-io ssd0 "write -P 7 0 1M"')
        said += vm.qmp("human-monitor-command", command_line='qemu-io ssd0 "read -P 7 0 1M"')
        self.assertNotIn("fail", said)
        self.assertEqual(vm.quit(), 0)

    def test_migration_is_refused(self) -> None:
        vm = self.machine([drive()], "-device", "virtio-blk-pci,drive=ssd0")
        with self.assertRaisesRegex(QmpError, "ssd0"):
            vm.qmp("migrate", uri="exec:cat >/dev/null")

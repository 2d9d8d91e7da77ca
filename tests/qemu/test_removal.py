# SPDX-License-Identifier: GPL-2.0-or-later
"""Test controllers and drives that are removed while they work; machine states that cannot be saved."""

from __future__ import annotations

import time
import unittest

from support import Machine, MachineTest, QmpError, drive

import test_nvme
from nvme import BAR, FUA, READ, WRITE, Nvme

PAGE = bytes(range(256)) * 16


class Removal(test_nvme.HotPlug):
    """Test a machine with the controller in a hot-plug slot."""

    def fly(self) -> Nvme:
        """Start eight writes."""
        nvme = self.start_below_port()
        self.express = self.port.capability(0x10)
        self.port.config_write(self.express + 0x18, 0x0100)  # power on, indicator on
        for i in range(8):
            nvme.start(WRITE, i * 4096, data=PAGE, flags=FUA)
        nvme.io.ring()
        self.assertEqual(self.in_flight(), 8)
        return nvme

    def slot_off(self) -> None:
        """Turn off the slot's indicator and power, as a guest does."""
        self.port.config_write(self.express + 0x18, 0x0700)
        self.vm.event("DEVICE_DELETED")

    def drive_is_whole(self) -> None:
        """Data of requests in flight are stored; blockdev-del removes the drive."""
        self.assertEqual(self.in_flight(), 0)
        for i in range(8):
            self.vm.qmp("human-monitor-command", command_line=f'qemu-io ssd0 "read -P 255 {i * 4096 + 4095} 1"')
        self.assertEqual(self.vm.output().count("read 1/1 bytes"), 8)
        self.assertNotIn("verification failed", self.vm.output())
        self.vm.qmp("blockdev-del", node_name="ssd0")
        with self.assertRaisesRegex(QmpError, "ssd0"):
            self.vm.qmp("x-query-nand-ssd-power", node_name="ssd0")
        self.vm.step(10**10)
        self.assertEqual(self.vm.quit(), 0)

    def test_slot_off_unasked(self) -> None:
        """The guest turns off the slot without a device_del before it."""
        self.fly()
        self.slot_off()
        self.drive_is_whole()

    def test_asked_twice(self) -> None:
        self.fly()
        self.vm.qmp("device_del", id="nvme0")
        with self.assertRaisesRegex(QmpError, "already in the process of unplug"):
            self.vm.qmp("device_del", id="nvme0")
        self.slot_off()
        self.drive_is_whole()

    def test_with_a_power_cut_planned(self) -> None:
        """The power may be cut after the controller was removed, and the drive may be removed first."""
        for step in (0, 10**9):
            self.fly()
            self.vm.qmp("x-nand-ssd-power-cut", node_name="ssd0", at_ns=10**9)
            self.slot_off()
            self.vm.step(step + 1)
            self.assertEqual(self.vm.qmp("x-query-nand-ssd-power", node_name="ssd0")["on"], not step)
            self.vm.qmp("blockdev-del", node_name="ssd0")
            self.vm.step(10**10)
            self.assertEqual(self.vm.quit(), 0)

    def test_without_power(self) -> None:
        """A controller can be removed while its drive is off."""
        self.fly()
        self.vm.qmp("x-nand-ssd-power-cut", node_name="ssd0")
        self.vm.step(1000)
        self.slot_off()
        self.vm.qmp("x-nand-ssd-power-on", node_name="ssd0")
        self.vm.step(10**9)
        self.vm.qmp("blockdev-del", node_name="ssd0")
        self.assertEqual(self.vm.quit(), 0)

    def test_another_controller_takes_the_drive(self) -> None:
        self.fly()
        self.slot_off()
        self.port.config_write(self.express + 0x18, 0x0100)
        self.vm.qmp("device_add", driver="nvme", id="nvme1", drive="ssd0", bus="port0")
        nvme = Nvme(self.vm, bus=1, slot=0)
        nvme.enable()
        self.assertEqual(nvme.do_read(28672, 4096), PAGE)
        self.assertEqual(self.vm.quit(), 0)

    def test_a_drive_in_use_stays(self) -> None:
        nvme = self.fly()
        with self.assertRaisesRegex(QmpError, "ssd0 is in use"):
            self.vm.qmp("blockdev-del", node_name="ssd0")
        for _ in range(8):
            self.assertEqual(nvme.wait(nvme.io).code, 0)
        nvme.start(READ, 0, 4096)
        self.assertEqual(nvme.finish().code, 0)


class States(MachineTest):
    """The state of the drive exists only in its process: it is neither saved nor migrated. Nor is a controller that
    was used.
    """

    def test_snapshots_and_migration(self) -> None:
        for device, why in (
            ("nvme,drive=ssd0", "The drive 'ssd0' lives in this process and can not be migrated"),
            ("virtio-blk-pci,drive=ssd0", "The drive 'ssd0' lives in this process and can not be migrated"),
        ):
            vm = self.machine([drive()], "-device", device)
            self.assertRegex(vm.qmp("human-monitor-command", command_line="savevm x"), why)
            with self.assertRaisesRegex(QmpError, why):
                vm.qmp("migrate", uri="exec:cat >/dev/null")
            self.assertEqual(vm.quit(), 0)

    def test_a_controller_is_saved_until_it_is_used(self) -> None:
        """PCI's configuration is restored; the first write to a register, whatever it is, ends that."""
        vm = self.machine([], "-device", "nvme,serial=s,addr=4")
        nvme = Nvme(vm)
        state = vm.folder / "state"
        self.assertEqual(migrate(vm, f"file:{state}"), "completed")
        space = [nvme.config(at) for at in range(0, 256, 4)]
        other = self.machine([], "-incoming", "defer", "-device", "nvme,serial=s,addr=4")
        other.qmp("migrate-incoming", uri=f"file:{state}")
        while other.qmp("query-status")["status"] == "inmigrate":
            time.sleep(0.02)
        restored = Nvme.__new__(Nvme)
        restored.machine, restored.bus, restored.slot = other, 0, 4
        self.assertEqual([restored.config(at) for at in range(0, 256, 4)], space)
        self.assertEqual(space[4] & ~0xF, BAR)
        vm.qmp("cont")
        nvme.enable()
        with self.assertRaisesRegex(QmpError, "the NVMe controller 's' has been used, and its state can not be saved"):
            vm.qmp("migrate", uri="exec:cat >/dev/null")

    def test_a_controller_with_memory_is_not_saved(self) -> None:
        vm = self.machine([], "-device", "nvme,serial=s,cmb_size_mb=1")
        self.assertEqual(migrate(vm, "exec:cat >/dev/null"), "failed")
        self.assertIn("has memory or virtual functions, which can not be saved", vm.output())


def migrate(vm: Machine, uri: str) -> str:
    """Save a machine, and return the status."""
    vm.qmp("migrate", uri=uri)
    while (status := vm.qmp("query-migrate").get("status")) not in ("completed", "failed"):
        time.sleep(0.02)
    return str(status)


if __name__ == "__main__":
    unittest.main()

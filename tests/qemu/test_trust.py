# SPDX-License-Identifier: GPL-2.0-or-later
"""Test commands that a guest may give to a drive (guest-control), invalid numbers, and the controller's claims
about itself, which must be true.
"""

from __future__ import annotations

import base64
import struct
import unittest

from support import Json, Machine, MachineTest, QmpError, drive, image_opts, tool

from nvme import CONTROL, CREATE_CQ, CREATE_SQ, FLUSH, FUA, IDENTIFY, READ, SET_FEATURES, WRITE, Nvme, Queue

CONTROLLER = "nvme,id=nvme0,serial=slate,drive=ssd0,bus=pcie.0,addr=4"
PAGE = bytes(range(256)) * 16
SCRATCH = 0x180000
BROADCAST = 0xFFFFFFFF
INVALID_OPCODE, INVALID_FIELD, INVALID_NSID, REFUSED = 0x001, 0x002, 0x00B, 0x1C0
LBA_OUT_OF_RANGE, FORMAT_IN_PROGRESS, COMMAND_SEQUENCE, INVALID_FORMAT = 0x080, 0x084, 0x00C, 0x10A
NAMESPACE_ATTACHMENT, COPY, FORMAT = 0x15, 0x19, 0x80
POWER_CUT, AT_NS = 5, 2
LATEST_NS = 1 << 60


class TrustTest(MachineTest):
    """Test a machine with a drive and a controller."""

    def start(self, options: Json | None = None) -> Nvme:
        """Return the running controller."""
        self.vm: Machine = self.machine([options or drive()], "-device", CONTROLLER)
        self.nvme = Nvme(self.vm)
        self.nvme.enable()
        return self.nvme

    def identify(self, cns: int, nsid: int = 0) -> bytes:
        """Return Identify data."""
        self.nvme.do_admin(IDENTIFY, nsid=nsid, prp1=SCRATCH, dwords={10: cns})
        return self.vm.read(SCRATCH, 4096)

    def cut_now(self) -> None:
        """Send the order to cut the power. Under qtest the power is off before the completion is seen."""
        self.nvme.admin.put(CONTROL, 1, dwords={12: POWER_CUT, 13: 0})
        self.nvme.admin.ring()

    def power(self) -> Json:
        """Return the drive's power state."""
        state: Json = self.vm.qmp("x-query-nand-ssd-power", node_name="ssd0")
        return state


class GuestControl(TrustTest):
    """Test the option guest-control. QMP allows all commands at any value of the option."""

    def with_control(self, value: str | None) -> Nvme:
        """Start a controller on a drive with the option, or without."""
        options = drive()
        del options["guest-control"]
        return self.start({**options, **({"guest-control": value} if value else {})})

    def qmp_may(self) -> None:
        """Check that QMP may read a log and give an order."""
        self.assertGreater(self.vm.qmp("x-nand-ssd-log", node_name="ssd0", id=0xD0)["bytes"], 256)
        self.assertEqual(
            self.vm.qmp("x-nand-ssd-control", node_name="ssd0", command=3, arguments=[1, 9, BROADCAST]),
            {"result": 0},
        )

    def test_on(self) -> None:
        nvme = self.with_control("on")
        self.assertEqual(nvme.control(3, 1, 1, BROADCAST), 0)
        nvme.set_knob(b"ftl.gc_slice_pages=7")
        self.cut_now()
        self.vm.step(1000)
        self.assertFalse(self.power()["on"])

    def test_logs(self) -> None:
        """Logs are allowed when the option says so, and by default."""
        for value in ("logs", None):
            nvme = self.with_control(value)
            for log in range(0xD0, 0xD8):
                self.assertEqual(nvme.get_log(log, 32)[:4], b"SLOG")
            nvme.mark(0, b"here")
            for command in range(8):
                nvme.control(command, code=REFUSED)
                self.assertEqual(
                    nvme.why(),
                    "this drive takes no orders from a guest: open it with guest-control=on, or give the "
                    "order over QMP",
                )
            nvme.set_knob(b"ftl.gc_slice_pages=7", code=REFUSED)
            self.vm.step(1000)
            self.assertEqual(struct.unpack_from("<4I", nvme.get_log(0xD6, 48), 32), (0xC1, 0, REFUSED, 9))
            self.assertTrue(self.power()["on"])
            self.assertFalse(self.power()["planned"])
            self.qmp_may()

    def test_off(self) -> None:
        """Test a drive without the option."""
        nvme = self.with_control("off")
        for log in range(0xD0, 0xD8):
            nvme.get_log(log, 32, code=INVALID_FIELD)
        nvme.mark(0, b"here", code=INVALID_OPCODE)
        nvme.control(POWER_CUT, 0, code=INVALID_OPCODE)
        nvme.set_knob(b"ftl.gc_slice_pages=7", code=INVALID_OPCODE)
        effects = struct.unpack("<256I", nvme.get_log(0x05, 1024))
        self.assertEqual([effects[opcode] for opcode in (0xC0, 0xC1, 0xC4)], [0, 0, 0])
        self.assertEqual(nvme.do_write(0, PAGE).code, 0)
        self.assertEqual(nvme.do_read(0, 4096), PAGE)
        self.assertEqual(self.vm.stats()["marks"], [])
        self.qmp_may()

    def test_another_value(self) -> None:
        said = tool("qemu-img", "info", "--image-opts", f"{image_opts()},guest-control=sometimes", code=1)
        self.assertIn("'guest-control' does not accept value 'sometimes'", said)


class Numbers(TrustTest):
    """Send numbers from a guest and from QMP that are valid for no drive."""

    def test_a_power_cut_far_away(self) -> None:
        """A cut planned at 2^63 ns or later hung QEMU in virtual time: the timer's clock is signed."""
        nvme = self.start()
        for at in (LATEST_NS + 1, 1 << 63, (1 << 64) - 2, (1 << 64) - 1):
            nvme.control(POWER_CUT, AT_NS, at & 0xFFFFFFFF, at >> 32, code=REFUSED)
            self.assertEqual(
                nvme.why(),
                f"Drive 'ssd0': a power cut: at {at} ns, and the latest moment is {LATEST_NS} ns; name an "
                "earlier one",
            )
            with self.assertRaisesRegex(QmpError, f"at {at} ns, and the latest moment is"):
                self.vm.qmp("x-nand-ssd-power-cut", node_name="ssd0", at_ns=at)
        nvme.control(POWER_CUT, AT_NS, 0, LATEST_NS >> 32)
        self.assertEqual(self.power()["planned-ns"], LATEST_NS)
        self.assertEqual(nvme.do_write(0, PAGE).code, 0)

    def test_an_order_at_a_cut_in_a_mount(self) -> None:
        """QEMU once failed an assertion after these commands in this order."""
        self.start().do_write(0, PAGE)
        self.cut_now()
        self.vm.step(1000)
        self.vm.qmp("x-nand-ssd-power-on", node_name="ssd0")
        nvme = Nvme(self.vm)
        nvme.enable()
        nvme.control(POWER_CUT, 0)
        power = self.power()
        self.assertEqual(power["planned-ns"], power["ready-ns"])
        nvme.set_knob(b"ftl.gc_slice_pages=8")
        nvme.control(2)
        self.vm.step(power["ready-ns"])
        self.assertEqual([self.power()[x] for x in ("on", "cuts", "cut-ns")], [False, 2, power["ready-ns"]])

    def test_a_cancel_right_after_a_cut(self) -> None:
        """The unused arguments of the cancel became those of the cut's event, and QEMU failed an assertion."""
        nvme = self.start()
        nvme.admin.put(CONTROL, 1, dwords={12: POWER_CUT, 13: 0})
        nvme.admin.put(CONTROL, 1, dwords={12: 6, 13: 0xFFFFFF00})
        nvme.admin.ring()
        self.vm.step(1000)
        self.assertEqual(self.vm.event("NAND_SSD_POWER_CUT")["data"]["then"], "vanish")
        self.assertFalse(self.power()["on"])

    def test_log_offsets(self) -> None:
        """Any offset and length returns data, or a sentence."""
        self.start()
        for log in (0, 0xCF, 0xD8, 0xFFFFFFFF):
            with self.assertRaisesRegex(QmpError, f"There is no log {log}: they are 208 to 215"):
                self.vm.qmp("x-nand-ssd-log", node_name="ssd0", id=log)
        whole = base64.b64decode(self.vm.qmp("x-nand-ssd-log", node_name="ssd0", id=0xD5)["data"])
        self.assertEqual(len(whole), 48)
        for offset, length, size in ((0, 0, 0), (47, 2**64 - 1, 1), (0, 2**63, 48), (8, 4, 4)):
            got = self.vm.qmp("x-nand-ssd-log", node_name="ssd0", id=0xD5, offset=offset, length=length)
            self.assertEqual(base64.b64decode(got["data"]), whole[offset : offset + size])
        for offset in (48, 2**63, 2**64 - 1):
            with self.assertRaisesRegex(QmpError, "Log 213 has 48 bytes"):
                self.vm.qmp("x-nand-ssd-log", node_name="ssd0", id=0xD5, offset=offset)

    def test_events_of_all_namespaces(self) -> None:
        """Set Features, FDP Events, of the broadcast namespace ended QEMU by an assertion."""
        nvme = self.start()
        for nsid in (BROADCAST, 0, 1 << 20):
            nvme.do_admin(SET_FEATURES, INVALID_NSID, nsid=nsid, dwords={10: 0x1E, 11: 1 << 16})
        self.assertEqual(nvme.do_write(0, PAGE).code, 0)


class Interrupts(TrustTest):
    """Test interrupts with MSI-X, and without."""

    def test_msix_disabled_with_a_high_vector(self) -> None:
        """The completion after this command once failed an assertion of QEMU."""
        nvme = self.start()
        msix = nvme.capability(0x11)
        nvme.config_write(msix, nvme.config(msix) | 1 << 31)
        nvme.do_admin(CREATE_CQ, prp1=SCRATCH, dwords={10: 2 | 31 << 16, 11: 3 | 40 << 16})
        nvme.do_admin(CREATE_SQ, prp1=SCRATCH + 4096, dwords={10: 2 | 31 << 16, 11: 1 | 2 << 16})
        nvme.config_write(msix, nvme.config(msix) & ~(1 << 31))
        queue = Queue(nvme, 2, SCRATCH + 4096, SCRATCH)
        queue.put(FLUSH, 1)
        queue.ring()
        self.assertEqual(nvme.wait(queue).code, 0)
        self.assertEqual(nvme.do_write(0, PAGE).code, 0)


class Claims(TrustTest):
    """Test that commands that Identify offers work, and others are refused."""

    def test_copy(self) -> None:
        nvme = self.start()
        self.assertTrue(struct.unpack_from("<H", self.identify(1), 520)[0] & 1 << 8, "ONCS: Copy")
        blocks = 128 * 4096 // 512  # of the write buffer
        self.assertEqual(struct.unpack_from("<HIB", self.identify(0, 1), 74), (blocks, blocks, 127))
        nvme.do_write(0, PAGE)
        nvme.do_write(65536, PAGE[::-1])
        ranges = [(0, 8), (128, 8)]
        self.vm.write(SCRATCH, b"".join(struct.pack("<QQH14x", 0, lba, n - 1) for lba, n in ranges))
        nvme.io.put(COPY, 1, SCRATCH, dwords={10: 2048, 11: 0, 12: len(ranges) - 1})
        self.assertEqual(nvme.finish().code, 0)
        self.assertEqual(nvme.do_read(2048 * 512, 8192), PAGE + PAGE[::-1])

    def test_copy_of_what_is_not_there(self) -> None:
        """The first range is out of bounds. QEMU used to fail an assertion of its accounting."""
        nvme = self.start()
        for lba in (1 << 63, (256 << 20) // 512):
            self.vm.write(SCRATCH, struct.pack("<QQH14x", 0, lba, 7))
            for _ in range(20):
                nvme.io.put(COPY, 1, SCRATCH, dwords={10: 0, 11: 0, 12: 0})
                self.assertEqual(nvme.finish().code, LBA_OUT_OF_RANGE)
        self.assertEqual(nvme.do_write(0, PAGE).code, 0)

    def test_namespace_management(self) -> None:
        """A subsystem of several controllers supports attachment, but not create and delete."""
        self.start()
        self.assertFalse(struct.unpack_from("<H", self.identify(1), 256)[0] & 1 << 3, "OACS")
        self.vm.close()
        self.vm = self.machine(
            [drive()],
            *("-device", "nvme-subsys,id=sub0,nqn=n"),
            *("-device", "nvme,id=nvme0,serial=slate,subsys=sub0,bus=pcie.0,addr=4"),
            *("-device", "nvme-ns,drive=ssd0,bus=nvme0"),
        )
        self.nvme = Nvme(self.vm)
        self.nvme.enable()
        self.assertTrue(struct.unpack_from("<H", self.identify(1), 256)[0] & 1 << 3, "OACS")

    def test_logs_of_groups(self) -> None:
        """CTRATT has no endurance groups and no data placement, and there are no logs of them."""
        nvme = self.start()
        self.assertFalse(struct.unpack_from("<I", self.identify(1), 96)[0] & (1 << 4 | 1 << 19))
        for log in (0x09, 0x20):
            nvme.do_admin(
                2, INVALID_FIELD, prp1=SCRATCH, dwords={10: log | 15 << 16, 11: 1 << 16}
            )

    def test_zones(self) -> None:
        """Zones in the controller's memory are refused, because their states would not survive a power cut."""
        device = "nvme,id=nvme0,serial=slate,bus=pcie.0,addr=4"
        with self.assertRaisesRegex(AssertionError, "the nand-ssd 'ssd0' has no zones.*leave out 'zoned'"):
            self.machine([drive()], "-device", device, "-device", "nvme-ns,drive=ssd0,zoned=on,bus=nvme0")

    def test_serial_numbers(self) -> None:
        """The default serial number is the node's name, so two drives differ in all identifiers made from it."""
        vm = self.machine(
            [drive("one"), drive("two")],
            *("-device", "nvme,drive=one,bus=pcie.0,addr=4", "-device", "nvme,drive=two,bus=pcie.0,addr=5"),
        )
        seen = []
        for slot in (4, 5):
            self.vm, self.nvme = vm, Nvme(vm, slot=slot)
            self.nvme.enable()
            data = self.identify(1)
            seen.append((data[4:24].rstrip(), data[768:1024].rstrip(b"\0"), self.identify(0, 1)[120:128]))
            self.nvme.config_write(0x04, 0)
        self.assertEqual([entry[0] for entry in seen], [b"one", b"two"])
        self.assertEqual(seen[0][1], b"nqn.2019-08.org.qemu:one")
        self.assertNotEqual(seen[0][2], seen[1][2])


class Format(TrustTest):
    """Test Format NVM with commands in flight."""

    def format(self, dword10: int = 0) -> None:
        """Start a format."""
        self.nvme.admin.put(FORMAT, 1, dwords={10: dword10})
        self.nvme.admin.ring()

    def test_format_and_reset(self) -> None:
        """A format that a reset cut short left its namespace "in progress" for ever."""
        nvme = self.start()
        for i in range(8):
            nvme.do_write(i * 65536, PAGE)
        nvme.admin.put(FORMAT, 1)
        nvme.admin.ring()
        self.assertIsNone(nvme.admin.poll())
        nvme.start(WRITE, 0, data=PAGE)
        self.assertEqual(nvme.finish().code, FORMAT_IN_PROGRESS)
        nvme.disable()
        nvme.enable()
        self.assertEqual(nvme.do_write(0, PAGE).code, 0)
        self.assertEqual(nvme.do_read(0, 4096), PAGE)

    def test_commands_in_flight(self) -> None:
        """Without the check, commands in flight would continue with another block size in their old buffers."""
        nvme = self.start()
        for opcode, data in ((WRITE, PAGE), (READ, b"")):
            nvme.start(opcode, 0, size=4096, data=data, flags=FUA)
            nvme.io.ring()
            self.format(5)
            self.assertEqual(nvme.admin.poll().code, COMMAND_SEQUENCE)
            self.assertEqual(nvme.finish().code, 0)
        self.assertEqual(nvme.do_read(0, 4096), PAGE)

    def test_two_at_once(self) -> None:
        nvme = self.start()
        for i in range(8):
            nvme.do_write(i * 65536, PAGE)
        self.format(4)
        self.format(0)
        found = [self.nvme.wait(nvme.admin).code for _ in range(2)]
        self.assertEqual(found, [FORMAT_IN_PROGRESS, 0])
        self.assertEqual(self.identify(0, 1)[26], 4, "FLBAS")

    def test_a_format_that_is_not_there(self) -> None:
        """Only four of the six bits of the format index were checked, so blocks of one byte were possible."""
        nvme = self.start()
        self.vm.write(SCRATCH, bytes([0, 0, 1]).ljust(512, b"\0"))  # LBA format extension
        nvme.do_admin(SET_FEATURES, prp1=SCRATCH, dwords={10: 0x16})
        for index in (9, 15, 16, 17, 63):
            self.format(index & 15 | index >> 4 << 12 | 1 << 5)
            self.assertEqual(nvme.admin.poll().code, INVALID_FORMAT, index)
        self.assertEqual(self.identify(0, 1)[26], 0, "FLBAS")


class Attachment(TrustTest):
    """Test attaching and detaching of namespaces."""

    def attach(self, sel: int) -> None:
        """Send Namespace Attachment for namespace 1 and this controller."""
        self.nvme.do_admin(NAMESPACE_ATTACHMENT, nsid=1, prp1=SCRATCH, dwords={10: sel})

    def prepare(self) -> None:
        """Write a controller list to guest memory."""
        controller = struct.unpack_from("<H", self.identify(1), 78)[0]
        self.vm.write(SCRATCH, struct.pack("<HH", 1, controller).ljust(4096, b"\0"))

    def test_attached_again(self) -> None:
        """After a detach the controller still follows the drive's power."""
        self.start()
        self.prepare()
        for _ in range(20):
            self.attach(1)
            self.attach(0)
        self.cut_now()
        self.vm.step(1000)
        self.assertEqual(self.nvme.get32(0x1C), 0xFFFFFFFF)
        self.vm.qmp("x-nand-ssd-power-on", node_name="ssd0")
        nvme = Nvme(self.vm)
        nvme.enable()
        self.vm.step(self.power()["ready-ns"])
        self.assertEqual(nvme.do_write(0, PAGE).code, 0)

    def test_detached_in_flight(self) -> None:
        """A detach once left a write in flight: the reset after it waited for it in stopped time, and QEMU hung."""
        nvme = self.start()
        self.prepare()
        nvme.start(WRITE, 0, data=PAGE, flags=FUA)
        nvme.io.ring()
        self.assertIsNone(nvme.io.poll())
        self.attach(1)
        self.assertEqual([c.code for c in nvme.io.drain()], [0], "it was waited for")
        nvme.disable()
        nvme.enable()  # attaches it again
        self.assertEqual(nvme.do_read(0, 4096), PAGE)

    def test_a_detached_drive(self) -> None:
        """The power of a detached drive may be cut, and the controller stays. Each attachment used to leave a
        registration.
        """
        nvme = self.start()
        self.prepare()
        self.attach(1)
        self.vm.qmp("x-nand-ssd-power-cut", node_name="ssd0")
        self.vm.step(1000)
        self.assertFalse(self.power()["on"])
        self.assertEqual(nvme.get32(0x1C), 1, "ready")
        nvme.do_admin(IDENTIFY, prp1=SCRATCH + 4096, dwords={10: 1})


if __name__ == "__main__":
    unittest.main()

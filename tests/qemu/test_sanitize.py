# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the command Sanitize of a controller whose namespaces are drives, and its log.

The drive has 80 blocks in each plane, two planes on each of two channels of one die. A row of blocks takes the commands
of a die's planes, 300 ns each, and an erase of 3.5 ms. To overwrite it, each of its 64 pages is programmed in both
planes, whose transfers of 300 + 22080 ns follow each other, and a program takes 640 us.
"""

from __future__ import annotations

import struct
import tempfile
import unittest
from pathlib import Path

from support import SMALL, Json, drive

from nvme import ADMIN_SQ, DSM, FLUSH, IDENTIFY, READ, WRITE, WRITE_ZEROES, Nvme, power_cycle, power_on
from test_logs import (
    ANY,
    DNR,
    EFFECTS,
    ERRORS,
    FORMAT,
    INVALID_FIELD,
    INVALID_OPCODE,
    OTHER,
    SELF_TEST,
    SMART,
    SUPPORTED,
    LogsTest,
)
from test_nvme import CONTROLLER, PAGE, SCRATCH

SANITIZE, LOG, SELF_TEST_COMMAND, EVENT_REQUEST = 0x84, 0x81, 0x14, 0x0C
CHANGED = 0x04
ATTACHMENT, DIRECTIVE_SEND, DIRECTIVE_RECEIVE, DOORBELLS, LBA_STATUS = 0x15, 0x19, 0x1A, 0x7C, 0x86
POWER_CUT = 5
EXIT, BLOCK_ERASE, OVERWRITE, CRYPTO_ERASE = 1, 2, 3, 4
UNRESTRICTED, PASSES, INVERT, NO_DEALLOCATE = 1 << 3, 4, 1 << 8, 1 << 9  # PASSES, ENDED: first bits of a number
FAILED, IN_PROGRESS, PMR_ENABLED = 0x1C, 0x1D, 0x123
PMR_CONTROL, PMR_STATUS, NOT_READY = 0xE04, 0xE08, 1 << 8
NEVER, DONE, RUNNING, STATE_FAILED, BLANK, ENDED = 0, 1, 2, 3, 0x100, 3
TWO = ("-device", "nvme,id=nvme0,serial=slate,bus=pcie.0,addr=4", "-device", "nvme-ns,drive=ssd0,bus=nvme0",
       "-device", "nvme-ns,drive=ssd1,bus=nvme0")
SUBSYSTEM = ("-device", "nvme-subsys,id=sub,nqn=n",
             "-device", "nvme,id=nvme0,serial=slate,subsys=sub,bus=pcie.0,addr=4",
             "-device", "nvme,id=nvme1,serial=slate,subsys=sub,bus=pcie.0,addr=5",
             "-device", "nvme-ns,drive=ssd0,bus=nvme0")
ROWS, ROW_NS = 80, 2 * 300 + 3_500_000
PAGES, PAGE_BYTES = 64, 16384
OVERWRITE_NS = ROW_NS + PAGES * (2 * (300 + 22080) + 640_000)  # of a row; in the last pass there is one more erase
PATTERN = 0x12345678
NONE = 0xFFFFFFFF


class SanitizeTest(LogsTest):
    """Sanitize drives."""

    def sanitize(self, action: int = BLOCK_ERASE, code: int = 0, nsid: int = 0, pattern: int = 0) -> None:
        """Send the command."""
        self.nvme.do_admin(SANITIZE, code, nsid=nsid, dwords={10: action, 11: pattern})

    def state(self) -> tuple[int, int, int]:
        """Return the operation's progress, of 65536, its state, and the command's Dword 10."""
        progress, state, command = struct.unpack_from("<HHI", self.log(LOG, 512))
        return progress, state, command

    def until_done(self) -> None:
        """Let time pass until no operation is under way."""
        for _ in range(ROWS + 10):
            if self.state()[1] & 7 != RUNNING:
                return
            self.vm.step(ROW_NS)
        self.fail("the operation does not end")

    def fill(self) -> None:
        """Write two pages, one of which is on flash."""
        self.assertEqual(self.nvme.do_write(0, PAGE).code, 0)
        self.nvme.start(FLUSH)
        self.assertEqual(self.nvme.finish().code, 0)
        self.assertEqual(self.nvme.do_write(1 << 20, PAGE).code, 0)

    def expect_empty(self) -> None:
        """The drive is empty, and takes data."""
        for offset in (0, 1 << 20):
            self.assertEqual(self.nvme.do_read(offset, 4096), bytes(4096))
        self.assertEqual(self.nvme.do_write(4096, PAGE).code, 0)
        self.assertEqual(self.nvme.do_read(4096, 4096), PAGE)

    def logs(self, code: int) -> None:
        """Read each log during or after an operation (NVMe Base 2.3, figure 143)."""
        for number in range(0x100):
            if number in (ERRORS, SMART, CHANGED, LOG):
                self.log(number, 4)
            else:
                self.nvme.get_log(number, 4, nsid=ANY, code=code)

    def identify(self) -> bytes:
        """Return the controller's data."""
        self.nvme.do_admin(IDENTIFY, prp1=SCRATCH, dwords={10: 1})
        return self.vm.read(SCRATCH, 4096)


class Sanitize(SanitizeTest):
    """Test the operation from its begin to its end."""

    def test_what_is_offered(self) -> None:
        self.start()
        self.assertEqual(struct.unpack_from("<I", self.identify(), 328)[0], 3 << 1 | 1 << 29 | 1 << 30, "SANICAP")
        words = struct.unpack("<512I", self.log(EFFECTS, 2048))
        self.assertEqual(words[SANITIZE], 1 | 1 << 1 | 2 << 16 | 1 << 25, "content; alone; subsystem")
        self.assertEqual(self.log(SUPPORTED, 1024)[4 * LOG], 1)
        data = self.log(LOG, 512)
        self.assertEqual(struct.unpack_from("<HHI6I", data), (0xFFFF, NEVER | BLANK, 0, 61, 1, *[NONE] * 4),
                         "80 rows take 0.28 s, and 16 passes and one more erase 60.86 s")
        self.assertEqual(data[32:], bytes(480))
        self.nvme.get_log(LOG, 4, 512, nsid=ANY, code=INVALID_FIELD)
        self.assertEqual(self.nvme.get_log(LOG, 4, 508, nsid=ANY), bytes(4))

    def test_time_and_content(self) -> None:
        self.start()
        self.fill()
        self.assertEqual(self.state(), (0xFFFF, NEVER, 0))
        self.sanitize()
        self.assertEqual(self.state(), (0, RUNNING, BLOCK_ERASE))
        self.vm.step(10 * ROW_NS - 1)
        self.assertEqual(self.state(), (9 * 65536 // ROWS, RUNNING, BLOCK_ERASE))
        self.vm.step(1)
        self.assertEqual(self.state(), (10 * 65536 // ROWS, RUNNING, BLOCK_ERASE))
        self.vm.step(70 * ROW_NS - 1)
        self.assertEqual(self.state(), (79 * 65536 // ROWS, RUNNING, BLOCK_ERASE))
        self.vm.step(1)
        self.assertEqual(self.state(), (0xFFFF, DONE | BLANK, BLOCK_ERASE))
        self.assertEqual(self.vm.stats()["total"]["nand"]["by-source"]["meta"]["erases"], 4 * ROWS)
        self.expect_empty()
        self.nvme.start(FLUSH)
        self.assertEqual(self.nvme.finish().code, 0)
        self.assertEqual(self.state(), (0xFFFF, DONE, BLOCK_ERASE), "something is on flash again")

    def test_overwrite(self) -> None:
        """Two passes; the second erases each row once more."""
        order = OVERWRITE | 2 << PASSES | INVERT
        self.start()
        self.fill()
        self.sanitize(order, pattern=PATTERN)
        self.assertEqual(self.state(), (0, RUNNING, order))
        self.vm.step(5 * OVERWRITE_NS - 1)
        self.assertEqual(self.state(), (4 * 65536 // (2 * ROWS), RUNNING, order))
        self.assertEqual(self.io(READ), IN_PROGRESS)
        self.vm.step(75 * OVERWRITE_NS)
        self.assertEqual(self.state(), (79 * 65536 // (2 * ROWS), RUNNING, order))
        self.vm.step(1)
        self.assertEqual(self.state(), (65536 // 2, RUNNING | 1 << ENDED, order))
        self.vm.step(ROWS * (OVERWRITE_NS + ROW_NS) - 1)
        self.assertEqual(self.state(), (159 * 65536 // (2 * ROWS), RUNNING | 1 << ENDED, order))
        self.vm.step(1)
        self.assertEqual(self.state(), (0xFFFF, DONE | BLANK | 2 << ENDED, order))
        meta = self.vm.stats()["total"]["nand"]["by-source"]["meta"]
        self.assertEqual((meta["erases"], meta["programs"]), (4 * ROWS * 3, 4 * ROWS * PAGES * 2))
        self.expect_empty()

    def test_commands_meanwhile(self) -> None:
        self.start()
        self.fill()
        self.sanitize()
        for opcode in (READ, WRITE, WRITE_ZEROES, DSM, FLUSH, 0x04, 0x05, 0x0C):
            self.assertEqual(self.io(opcode), IN_PROGRESS, hex(opcode))
        for opcode in (FORMAT, SELF_TEST_COMMAND, ATTACHMENT, LBA_STATUS, DIRECTIVE_SEND, DIRECTIVE_RECEIVE, DOORBELLS):
            self.nvme.do_admin(opcode, IN_PROGRESS, nsid=1, prp1=SCRATCH, dwords={10: 1 if opcode != FORMAT else 0})
        self.sanitize(code=IN_PROGRESS)
        self.sanitize(EXIT, code=IN_PROGRESS)
        self.identify()
        self.logs(IN_PROGRESS)
        self.set(6, 0)
        self.assertEqual(self.feature(6), 0)
        self.until_done()
        self.log(SUPPORTED, 4)
        self.log(0xD0, 4)
        self.expect_empty()

    def test_blocks_in_the_error_log(self) -> None:
        """They read as 0 during an operation."""
        self.start()
        self.assertNotEqual(self.io(READ, 256 << 20 >> 9, 1), 0)
        self.assertEqual(struct.unpack_from("<Q", self.log(ERRORS, 64), 16)[0], 256 << 20 >> 9)
        self.sanitize()
        error = self.log(ERRORS, 64)
        self.assertEqual(struct.unpack_from("<Q", error, 16)[0], 0)
        self.assertEqual(struct.unpack_from("<QH", error), (1, 1), "error and queue")

    def test_two_at_once(self) -> None:
        """The second of two commands that are fetched together finds the operation of the first."""
        self.start()
        for _ in range(2):
            self.nvme.admin.put(SANITIZE, dwords={10: BLOCK_ERASE})
        self.nvme.admin.ring()
        found = [self.nvme.wait(self.nvme.admin).code for _ in range(2)]
        self.assertEqual(found, [0, IN_PROGRESS])
        self.until_done()
        self.assertEqual(self.vm.stats()["total"]["nand"]["by-source"]["meta"]["erases"], 4 * ROWS, "it ran once")

    def test_a_command_under_way(self) -> None:
        """A read that the drive already has ends as usual."""
        self.start()
        self.fill()
        at = self.nvme.start(READ, 0, 4096)
        self.nvme.io.ring()
        self.sanitize()
        self.assertEqual(self.nvme.wait(self.nvme.io).code, 0)
        self.assertEqual(self.vm.read(at, 4096), PAGE)
        self.until_done()
        self.expect_empty()

    def test_the_event(self) -> None:
        self.start()
        self.nvme.admin.put(EVENT_REQUEST)
        self.nvme.admin.ring()
        self.sanitize()
        self.vm.step(80 * ROW_NS - 1)
        self.assertEqual(self.nvme.admin.drain(), [])
        self.vm.step(1)
        self.assertEqual(self.nvme.wait(self.nvme.admin).result, LOG << 16 | 1 << 8 | 6, "Sanitize Operation Completed")

    def test_a_self_test_ends(self) -> None:
        self.start()
        self.fill()
        self.nvme.do_admin(SELF_TEST_COMMAND, nsid=ANY, dwords={10: 2})
        self.sanitize()
        self.until_done()
        self.assertEqual(self.log(SELF_TEST, 564)[4], 2 << 4 | 9, "ended by a sanitize operation")

    def test_wrong_ones(self) -> None:
        self.start()
        for action in (0, CRYPTO_ERASE, 5, 6, 7, BLOCK_ERASE | NO_DEALLOCATE, OVERWRITE | NO_DEALLOCATE):
            self.sanitize(action, INVALID_FIELD)
        for nsid in (1, 2, ANY):
            self.sanitize(nsid=nsid, code=INVALID_FIELD)
        self.sanitize(EXIT)  # there is no failure
        self.assertEqual(self.state(), (0xFFFF, NEVER | BLANK, 0))

    def test_drives_without_it(self) -> None:
        one, other = ("-device", CONTROLLER), {**OTHER, "node-name": "ssd1"}
        for nodes, device in (([OTHER], one), ([drive(), other], TWO)):
            self.vm = self.machine(nodes, *device)
            self.nvme = Nvme(self.vm)
            self.nvme.enable()
            self.assertEqual(struct.unpack_from("<I", self.identify(), 328)[0], 0, "SANICAP")
            self.sanitize(code=INVALID_OPCODE)
            self.nvme.get_log(LOG, 4, nsid=ANY, code=INVALID_FIELD)
            self.vm.close()

    def test_two_drives(self) -> None:
        self.vm = self.machine([drive(), drive("ssd1", geometry__blocks_per_plane=100)], *TWO)
        self.nvme = Nvme(self.vm)
        self.nvme.enable()
        self.sanitize()
        self.vm.step(90 * ROW_NS)
        self.assertEqual(self.state()[:2], (170 * 65536 // 180, RUNNING))
        self.assertEqual(self.io(READ), IN_PROGRESS)
        self.vm.step(10 * ROW_NS)
        self.assertEqual(self.state(), (0xFFFF, DONE | BLANK, BLOCK_ERASE))
        self.expect_empty()

    def test_a_detached_drive(self) -> None:
        """The operation concerns the drive of a detached namespace, too, and ends when that drive has ended."""
        self.vm = self.machine([drive(), drive("ssd1", geometry__blocks_per_plane=100)], *TWO)
        self.nvme = Nvme(self.vm)
        self.nvme.enable()
        self.vm.write(SCRATCH, struct.pack("<HH", 1, 0))
        self.nvme.do_admin(ATTACHMENT, nsid=2, prp1=SCRATCH, dwords={10: 1})
        self.sanitize()
        self.vm.step(100 * ROW_NS - 1)
        self.assertEqual(self.state()[:2], (179 * 65536 // 180, RUNNING))
        self.assertEqual(self.io(READ), IN_PROGRESS)
        self.vm.step(1)
        self.assertEqual(self.io(READ), 0)
        self.assertEqual(self.state(), (0xFFFF, DONE | BLANK, BLOCK_ERASE))
        self.assertEqual(self.vm.stats("ssd1")["total"]["nand"]["by-source"]["meta"]["erases"], 4 * 100)

    def turn_to(self, nvme: Nvme, other: Nvme) -> None:
        """Both controllers have the same address; map this one. The other may still write to memory."""
        other.config_write(0x04, 4)
        nvme.config_write(0x04, 6)
        self.nvme = nvme

    def two_controllers(self, *more: str, pmr: str = "") -> tuple[Nvme, Nvme]:
        """Start two controllers of the drive's namespace; the second is mapped. pmr: options of the second."""
        devices = [f"{argument}{pmr}" if "id=nvme1" in argument else argument for argument in SUBSYSTEM]
        self.vm = self.machine([drive()], *more, *devices)
        first = Nvme(self.vm)
        first.enable()
        first.config_write(0x04, 4)
        second = Nvme(self.vm, slot=5, queues=ADMIN_SQ + 0x10000)
        second.enable()
        self.nvme = second
        return first, second

    def test_another_controller(self) -> None:
        """It ends commands with Sanitize In Progress, and then executes them again; it does not report the end."""
        first, second = self.two_controllers()
        second.admin.put(EVENT_REQUEST)
        second.admin.ring()
        self.turn_to(first, second)
        self.nvme.admin.put(EVENT_REQUEST)
        self.nvme.admin.ring()
        self.sanitize()
        self.turn_to(second, first)
        self.assertEqual(self.io(READ), IN_PROGRESS)
        self.sanitize(code=IN_PROGRESS)
        self.nvme.do_admin(FORMAT, IN_PROGRESS, nsid=1)
        self.vm.step(80 * ROW_NS)
        self.assertEqual(self.io(READ), 0)
        self.assertEqual(self.nvme.admin.drain(), [])
        self.turn_to(first, second)
        self.assertEqual(self.nvme.wait(self.nvme.admin).result, LOG << 16 | 1 << 8 | 6)
        self.assertEqual(self.io(READ), 0)

    def test_the_pmr(self) -> None:
        """While a Persistent Memory Region is enabled, there is no operation; during one it cannot be enabled."""
        with tempfile.TemporaryDirectory() as folder:
            memory = f"memory-backend-file,id=pmr,size=1M,share=on,mem-path={folder}/pmr"
            self.vm = self.machine([drive()], "-object", memory, "-device", f"{CONTROLLER},pmrdev=pmr")
            self.nvme = Nvme(self.vm)
            self.nvme.enable()
            self.assertEqual(self.state()[1], NEVER | BLANK)
            self.nvme.set32(PMR_CONTROL, 1)
            self.assertEqual(self.nvme.get32(PMR_STATUS) & NOT_READY, 0)
            self.assertEqual(self.state()[1], NEVER, "the region may have data")
            for action in (BLOCK_ERASE, OVERWRITE, EXIT):
                self.sanitize(action, PMR_ENABLED)
            self.assertEqual(self.state()[1], NEVER)
            self.nvme.set32(PMR_CONTROL, 0)
            self.sanitize()
            self.nvme.set32(PMR_CONTROL, 1)
            self.assertEqual(self.nvme.get32(PMR_STATUS) & NOT_READY, NOT_READY)
            self.until_done()
            self.assertEqual(self.state()[1], DONE | BLANK)
            self.nvme.set32(PMR_CONTROL, 0)
            self.nvme.set32(PMR_CONTROL, 1)
            self.assertEqual(self.nvme.get32(PMR_STATUS) & NOT_READY, 0)
            self.assertEqual(self.state()[1], DONE)
            self.nvme.set32(PMR_CONTROL, 0)
            self.vm.step(100_000_000)  # the mount
            self.nvme = power_cycle(self.vm, 1_000_000)
            self.assertEqual(self.state()[1], DONE)
            self.vm.close()

    def test_the_pmr_of_another_controller(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            memory = f"memory-backend-file,id=pmr,size=1M,share=on,mem-path={folder}/pmr"
            first, second = self.two_controllers("-object", memory, pmr=",pmrdev=pmr")
            self.nvme.set32(PMR_CONTROL, 1)
            self.turn_to(first, second)
            self.sanitize(code=PMR_ENABLED)
            self.vm.close()

    def test_the_last_event_is_forgotten(self) -> None:
        """A new operation clears the event that no request has asked for."""
        self.start()
        for _ in range(2):
            self.sanitize()
            self.vm.step(ROWS * ROW_NS + 100_000_000)
        self.sanitize()
        self.nvme.admin.put(EVENT_REQUEST)
        self.nvme.admin.ring()
        self.vm.step(ROWS * ROW_NS - 1)
        self.assertEqual(self.nvme.admin.drain(), [])
        self.vm.step(1)
        self.assertEqual(self.nvme.wait(self.nvme.admin).result, LOG << 16 | 1 << 8 | 6)

    def test_progress_of_many_rows(self) -> None:
        """In the last of 70000 rows the progress is not yet the value of an operation that has ended."""
        rows, row_ns = 70000, 300 + 3_500_000
        self.start(geometry__channels=1, geometry__planes_per_die=1, geometry__blocks_per_plane=rows,
                   geometry__pages_per_block=8, geometry__page_bytes=512, geometry__oob_bytes=64,
                   geometry__ecc_word_bytes=512, ftl__unit_bytes=512, ftl__capacity_mib=128)
        self.sanitize()
        self.vm.step((rows - 1) * row_ns)
        self.assertEqual(self.state()[:2], (0xFFFE, RUNNING))
        self.vm.step(row_ns)
        self.assertEqual(self.state()[:2], (0xFFFF, DONE | BLANK))

    def test_a_format_under_way(self) -> None:
        """A Format that was fetched before does not end before the operation, or ends with its status."""
        self.start()
        self.fill()
        self.nvme.admin.put(FORMAT, 1)
        self.nvme.admin.put(SANITIZE, dwords={10: BLOCK_ERASE})
        self.nvme.admin.ring()
        found = {done.cid & 0xFF: done.code for done in (self.nvme.wait(self.nvme.admin) for _ in range(2))}
        tail = self.nvme.admin.tail
        self.assertEqual(found[tail - 1], 0)
        self.assertIn(found[tail - 2], (0, IN_PROGRESS))
        self.until_done()
        self.expect_empty()


class Survives(SanitizeTest):
    """Test resets, cuts and failures."""

    def test_a_reset(self) -> None:
        self.start()
        self.fill()
        self.sanitize()
        self.vm.step(10 * ROW_NS)
        self.reset()
        self.assertEqual(self.state()[1], RUNNING)
        self.assertEqual(self.io(READ), IN_PROGRESS)
        self.until_done()
        self.expect_empty()

    def test_cuts(self) -> None:
        """Rows that were erased before the cut are not erased again; the row that it interrupted is."""
        self.start()
        self.fill()
        self.sanitize(BLOCK_ERASE | UNRESTRICTED)
        self.vm.step(10 * ROW_NS + ROW_NS // 2)
        for row in (10, 20):
            self.nvme = power_cycle(self.vm, 1_000_000)
            self.assertEqual(self.state(), (row * 65536 // ROWS, RUNNING, BLOCK_ERASE | UNRESTRICTED))
            self.assertEqual(self.io(READ), IN_PROGRESS)
            self.vm.step(10 * ROW_NS)
        self.vm.step(50 * ROW_NS)
        self.assertEqual(self.state(), (0xFFFF, DONE | BLANK, BLOCK_ERASE | UNRESTRICTED))
        self.expect_empty()
        self.nvme = power_cycle(self.vm, 1_000_000)
        self.assertEqual(self.state()[1] & 7, DONE)

    def test_cuts_of_an_overwrite(self) -> None:
        """The row that a cut interrupted is erased and programmed again; a reset changes nothing."""
        order = OVERWRITE | 1 << PASSES
        row_ns = OVERWRITE_NS + ROW_NS
        self.start()
        self.fill()
        self.sanitize(order, pattern=PATTERN)
        self.vm.step(10 * row_ns + row_ns // 2)
        self.reset()
        self.assertEqual(self.state(), (10 * 65536 // ROWS, RUNNING, order))
        self.nvme = power_cycle(self.vm, 1_000_000)
        self.assertEqual(self.state(), (10 * 65536 // ROWS, RUNNING, order))
        self.assertEqual(self.io(READ), IN_PROGRESS)
        self.vm.step(69 * row_ns)
        self.assertEqual(self.state()[1], RUNNING)
        self.vm.step(row_ns)
        self.assertEqual(self.state(), (0xFFFF, DONE | BLANK | 1 << ENDED, order))
        self.expect_empty()

    def test_a_drive_file_has_the_pattern(self) -> None:
        """Until the last pass ends the pages of the rows are in the file as NVMe says; a new QEMU makes the rest."""
        order = OVERWRITE | 2 << PASSES | INVERT
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "drive.slate")
            node: Json = {"driver": "nand-ssd", "node-name": "ssd0", "drive-file": str(path), "profile": str(SMALL),
                          "set": ["geometry.blocks_per_plane=24", "ftl.capacity_mib=64"]}
            for rows, words in ((5, (0, 5)), (24, (0, 24)), (24.5, (1, 23))):
                node["profile"] = str(SMALL)
                self.start([node])
                self.fill()
                self.sanitize(order, pattern=PATTERN)
                self.vm.step(int(rows * OVERWRITE_NS) + (ROW_NS // 2 if rows == 24.5 else 0) - 1)
                self.vm.close()
                data = path.read_bytes()
                for word, count in zip((PATTERN, PATTERN ^ 0xFFFFFFFF), words):
                    page = struct.pack("<I", word) * (PAGE_BYTES // 4)
                    found = sum(data[at : at + PAGE_BYTES] == page for at in range(0, len(data), PAGE_BYTES // 4))
                    self.assertEqual(found >= 4 * PAGES * count, True, f"{rows} rows: {found} pages of {word:#x}")
                del node["profile"]
                self.start([node])
                self.assertEqual(self.state(), (0xFFFF, DONE | BLANK | 2 << ENDED, order))
                self.expect_empty()
                self.vm.close()
                path.unlink()

    def test_a_cut_in_the_mount(self) -> None:
        """The guest's own cut, 1 ns after the last erase, occurs when the mount has ended."""
        for when, value in ((2, ROWS * ROW_NS + 1), (1, 4 * ROWS + 1)):
            self.start()
            self.nvme.control(POWER_CUT, when, value, 0)
            self.sanitize()
            self.vm.step(ROWS * ROW_NS)
            self.assertEqual(self.nvme.get32(0x1C), 1, "ready")
            self.vm.step(100_000_000)
            self.assertEqual(self.nvme.get32(0x1C), 0xFFFFFFFF, "gone")
            cut = self.vm.qmp("x-query-nand-ssd-power", node_name="ssd0")["cut-ns"]
            self.assertGreater(cut, ROWS * ROW_NS + 1)
            self.nvme = power_on(self.vm)
            self.assertEqual(self.state(), (0xFFFF, DONE | BLANK, BLOCK_ERASE))
            self.expect_empty()
            self.vm.close()

    def fail_once(self, how: int) -> None:
        """Sanitize the drive, whose next erase fails."""
        self.start()
        self.fill()
        self.nvme.control(3, 2, 1)
        self.sanitize(BLOCK_ERASE | how)
        self.until_done()
        self.assertEqual(self.state()[:2], (0xFFFF, STATE_FAILED))
        self.assertEqual(self.io(READ), FAILED | DNR)
        self.nvme.do_admin(FORMAT, FAILED, nsid=1)
        self.logs(FAILED)

    def test_a_restricted_failure(self) -> None:
        """Only another operation, which leaves the bad block out, ends the failure mode."""
        self.fail_once(0)
        self.sanitize(EXIT, FAILED)
        self.sanitize(BLOCK_ERASE | UNRESTRICTED, FAILED)
        self.vm.step(100_000_000)  # else the cut, which is now, would be at the end of the mount
        self.nvme = power_cycle(self.vm, 1_000_000)
        self.assertEqual(self.io(READ), FAILED | DNR)
        self.sanitize()
        self.until_done()
        self.assertEqual(self.state()[1], DONE | BLANK)
        self.expect_empty()

    def test_an_unrestricted_failure(self) -> None:
        """The host may leave the failure mode."""
        self.fail_once(UNRESTRICTED)
        self.sanitize(EXIT)
        self.assertEqual(self.state(), (0xFFFF, STATE_FAILED, BLOCK_ERASE | UNRESTRICTED))
        self.expect_empty()
        self.nvme = power_cycle(self.vm, 1_000_000)
        self.assertEqual(self.io(READ), 0)
        self.sanitize(BLOCK_ERASE | UNRESTRICTED)
        self.until_done()
        self.assertEqual(self.state()[1], DONE | BLANK)

    def test_a_drive_file(self) -> None:
        """QEMU ends in the middle: the next QEMU runs the rest of the operation before it starts its clock."""
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "drive.slate"))
            node: Json = {"driver": "nand-ssd", "node-name": "ssd0", "drive-file": path, "profile": str(SMALL)}
            self.start([node])
            self.fill()
            self.sanitize()
            self.vm.step(10 * ROW_NS)
            self.vm.close()
            del node["profile"]
            self.start([node])
            self.assertEqual(self.state(), (0xFFFF, DONE | BLANK, BLOCK_ERASE))
            self.expect_empty()
            self.vm.close()


if __name__ == "__main__":
    unittest.main()

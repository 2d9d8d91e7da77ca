# SPDX-License-Identifier: GPL-2.0-or-later
"""Test a drive's controls through real NVMe queues, and the same over QMP (SPEC.md)."""

from __future__ import annotations

import base64
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from support import ROOT, SMALL, Json, QmpError, drive

from nvme import CC, CC_ENABLE, CC_SHN_NORMAL, CSTS, FLUSH, GET_LOG, IDENTIFY, Nvme
from test_nvme import CONTROLLER, PAGE, SCRATCH, NvmeTest

sys.path.insert(0, str(ROOT / "host-tools"))
from slate_lib.account import OPS
from slate_lib.counters import names, sources

REPLAY = ROOT / "build" / "core" / "slate-replay"
IDENTITY, COUNTERS, LATENCY, BLOCKS, WEAR, FAULTS, ERROR = range(0xD0, 0xD7)
SMART, EFFECTS = 0x02, 0x05
RESET, FORCE_GC, FAULT_ADD, FAULT_CLEAR, POWER_CUT, CANCEL = range(1, 7)
PROGRAM, ERASE, FLIP = 1, 2, 3
ANY = 0xFFFFFFFF
REFUSED, UNSUPPORTED, NO_ROOM = 0x1C0, 0x1C1, 0x1C2
INVALID_OPCODE, INVALID_FIELD, INVALID_NSID = 0x001, 0x002, 0x00B
BAD_NAMESPACES = ((0, INVALID_NSID), (ANY, INVALID_NSID), (2, INVALID_FIELD), (1 << 20, INVALID_NSID))
OP_WORDS, FTL_WORDS, SOURCE_WORDS, NAND_WORDS = (len(names(group)) for group in ("op", "ftl", "source", "nand"))
RULES = 12


def counters(log: bytes) -> dict[str, list[int]]:
    """Return the groups of log 0xd1, by its own counts."""
    ops, op_words, ftl, sources, words, rules, nand, _ = struct.unpack_from("<8I", log, 32)
    sizes = {"op": ops * op_words, "ftl": ftl, "source": sources * words, "rules": rules, "nand": nand}
    groups, at = {}, 64
    for name, size in sizes.items():
        groups[name] = list(struct.unpack_from(f"<{size}Q", log, at))
        at += 8 * size
    assert at == len(log)
    return groups


class ControlTest(NvmeTest):
    """Reads logs over QMP, too."""

    def qmp_log(self, log_id: int, **arguments: int) -> bytes:
        """Return a log by x-nand-ssd-log."""
        answer = self.vm.qmp("x-nand-ssd-log", node_name="ssd0", id=log_id, **arguments)
        self.whole = answer["bytes"]
        return base64.b64decode(answer["data"])

    def qmp_control(self, **arguments: object) -> int:
        """Send an order by x-nand-ssd-control."""
        result = self.vm.qmp("x-nand-ssd-control", node_name="ssd0", **arguments)["result"]
        assert isinstance(result, int)
        return result


class Logs(ControlTest):
    """Read every log, in parts, and numbers without a log."""

    def test_heads(self) -> None:
        nvme = self.start()
        nvme.do_write(0, PAGE)
        for log_id in range(IDENTITY, ERROR + 1):
            head = struct.unpack("<4sHHQQQ", nvme.get_log(log_id, 32))
            self.assertEqual((head[0], head[1], head[2]), (b"SLOG", 1, log_id))
            self.assertEqual(len(nvme.whole_log(log_id)), head[3])

    def test_guest_and_qmp_read_the_same(self) -> None:
        nvme = self.start()
        nvme.do_write(0, PAGE + PAGE)
        nvme.do_read(0, 4096)
        for log_id in range(IDENTITY, ERROR + 1):
            self.assertEqual(nvme.whole_log(log_id), self.qmp_log(log_id), hex(log_id))

    def test_identity(self) -> None:
        log = self.start().whole_log(IDENTITY)
        self.assertEqual(struct.unpack_from("<Q", log, 32)[0], 256 << 20)
        # unit, page, oob, pages, blocks, planes, dies, chips, channels, bits
        self.assertEqual(
            struct.unpack_from("<10I", log, 40), (4096, 16384, 1280, 64, 80, 2, 1, 1, 2, 1)
        )
        self.assertEqual(struct.unpack_from("<I", log, 88)[0], 1 | 2 | 4 | 8 | 64)
        self.assertEqual(log[128:192].rstrip(b"\0"), b"small")
        self.assertEqual(log[192:208].rstrip(b"\0"), b"page")
        at, size, knobs_at, knobs_size = struct.unpack_from("<4I", log, 100)
        self.assertEqual(log[at : at + size].decode().splitlines(), self.vm.stats()["settings"])
        self.assertIn(b"ftl.gc_slice_pages\n", log[knobs_at : knobs_at + knobs_size])

    def test_counters(self) -> None:
        nvme = self.start()
        nvme.do_write(0, PAGE + PAGE)
        nvme.do_read(0, 4096)
        nvme.do_read(1 << 20, 4096)
        log = nvme.whole_log(COUNTERS)
        self.assertEqual(
            struct.unpack_from("<8I", log, 32),
            (4, OP_WORDS, FTL_WORDS, 6, SOURCE_WORDS, RULES, NAND_WORDS, 0),
        )
        groups = counters(log)
        total = self.vm.stats()["total"]
        read, write = groups["op"][:OP_WORDS], groups["op"][OP_WORDS : 2 * OP_WORDS]
        self.assertEqual(read[:3], [2, 8192, 0])
        self.assertEqual(write[:3], [1, 8192, 0])
        for words, op in ((read, total["read"]), (write, total["write"])):
            self.assertEqual(words[3:6], [op[f"latency-{x}-ns"] for x in ("sum", "min", "max")])
            self.assertEqual(sum(words[6:15]), words[3], "the causes add up")
        self.assertEqual(groups["ftl"][1], 1, "unwritten-reads")
        self.assertEqual(groups["ftl"][3], total["ftl"]["buffer-hit-units"])
        self.assertEqual(groups["source"][1], total["nand"]["by-source"]["host"]["programs"])
        self.assertEqual(groups["rules"], total["nand"]["violations"])
        self.assertEqual(groups["nand"][14], total["nand"]["programmed-pages"])

    def test_qmp_has_every_counter(self) -> None:
        """Each declared counter is in query-blockstats under its name, with the number of the log."""
        nvme = self.start()
        nvme.do_write(0, PAGE + PAGE)
        nvme.do_read(0, 4096)
        groups, total = counters(nvme.whole_log(COUNTERS)), self.vm.stats()["total"]
        nand = total["nand"]
        found: list[tuple[str, int, Json, set[str]]] = [("ftl", 0, total["ftl"], set())]
        found += [("op", i, total[op], {"histogram", "sub-buckets"}) for i, op in enumerate(OPS)]
        found += [("source", i, nand["by-source"][source], set()) for i, source in enumerate(sources())]
        found += [("nand", 0, nand, {"by-source", "violations"})]
        for group, row, told, others in found:
            known = names(group)
            words = groups[group][row * len(known) : (row + 1) * len(known)]
            self.assertEqual({name: told[name] for name in told.keys() - others}, dict(zip(known, words)), group)
        self.assertEqual(total["write"]["ios"], 1)

    def test_latency(self) -> None:
        nvme = self.start()
        for _ in range(3):
            nvme.do_read(1 << 20, 4096)  # never written: look-up and firmware alone
        log = nvme.whole_log(LATENCY)
        self.assertEqual(struct.unpack_from("<4I", log, 32), (1, 112, 10, 0))
        entry = struct.unpack_from("<IIQQQ10Q", log, 48)
        self.assertEqual((entry[0], entry[4]), (0, 3))
        self.assertEqual(entry[5:], (0, 0, 0, 0, 0, 3 * 200, 3 * 1000, 0, 0, 0))
        self.assertEqual(entry[2:4], (1200, 1201))  # below 2048 each ns is a bucket

    def test_blocks_and_wear(self) -> None:
        nvme = self.start()
        blocks, wear = nvme.whole_log(BLOCKS), nvme.whole_log(WEAR)
        self.assertEqual(struct.unpack_from("<4I", blocks, 32), (4, 72, 256, 0))
        where = [struct.unpack_from("<4I", blocks, 48 + 72 * p) for p in range(4)]
        self.assertEqual(where, [(0, 0, 0, 0), (0, 0, 0, 1), (1, 0, 0, 0), (1, 0, 0, 1)])
        for plane in range(4):
            states = struct.unpack_from("<I6I", blocks, 48 + 72 * plane + 16)
            self.assertEqual((states[0], sum(states[1:])), (80, 80))
        self.assertEqual(struct.unpack_from("<4I", wear, 32), (320, 16, 80, 0))
        self.assertEqual(len(wear), 48 + 320 * 16)

    def test_a_part_goes_on_in_the_picture(self) -> None:
        nvme = self.start()
        first = nvme.whole_log(COUNTERS)
        nvme.do_read(1 << 20, 4096)
        self.assertEqual(nvme.get_log(COUNTERS, 64, 64), first[64:128], "the old picture")
        self.assertEqual(counters(self.qmp_log(COUNTERS))["op"][0], 1, "QMP has its own")
        self.assertEqual(nvme.get_log(COUNTERS, 64, 64), first[64:128])
        self.assertEqual(counters(nvme.whole_log(COUNTERS))["op"][0], 1)

    def test_the_first_part_may_be_any(self) -> None:
        nvme = self.start()
        self.assertEqual(nvme.get_log(COUNTERS, 32, 32)[:4], struct.pack("<I", 4))

    def test_ends(self) -> None:
        nvme = self.start()
        size = len(nvme.whole_log(ERROR))
        self.assertEqual(size, 560)
        nvme.get_log(ERROR, 4, 560, code=INVALID_FIELD)
        nvme.get_log(ERROR, 4, 1 << 40, code=INVALID_FIELD)
        nvme.get_log(ERROR, 4, 6, code=INVALID_FIELD)
        tail = nvme.get_log(ERROR, 32, 544)
        self.assertEqual(tail, bytes(16) + b"\xee" * 16, "nothing comes from behind the end")

    def test_no_such_log(self) -> None:
        nvme = self.start()
        for log_id in (0xC1, 0xCF, 0xD8, 0xFF):
            nvme.get_log(log_id, 32, code=INVALID_FIELD)

    def test_namespaces(self) -> None:
        nvme = self.start()
        for nsid, code in BAD_NAMESPACES:
            nvme.get_log(COUNTERS, 32, nsid=nsid, code=0 if nsid == ANY else code)

    def test_not_on_other_drives(self) -> None:
        node: Json = {"driver": "null-co", "node-name": "ssd0", "size": 1 << 20}
        nvme = self.start([node])
        nvme.get_log(COUNTERS, 32, code=INVALID_FIELD)
        nvme.control(RESET, code=INVALID_OPCODE)
        nvme.set_knob(b"ftl.gc_slice_pages=8", code=INVALID_OPCODE)
        smart = nvme.get_log(SMART, 512, nsid=ANY)
        self.assertEqual((smart[0], smart[3], smart[5]), (0, 0, 0))
        with self.assertRaisesRegex(QmpError, "is a null-co: name the nand-ssd node"):
            self.qmp_log(COUNTERS)

    def test_below_a_filter(self) -> None:
        top: Json = {"driver": "copy-on-read", "node-name": "top", "file": "ssd0"}
        nvme = self.start([drive(), top], CONTROLLER.replace("drive=ssd0", "drive=top"))
        self.assertEqual(nvme.get_log(COUNTERS, 4), b"SLOG")
        self.assertEqual(nvme.control(FORCE_GC, 0), 0)

    def test_effects_log(self) -> None:
        nvme = self.start()
        nvme.do_admin(GET_LOG, nsid=0xFFFFFFFF, prp1=SCRATCH, dwords={10: EFFECTS | 1023 << 16})
        effects = struct.unpack("<256I", self.vm.read(SCRATCH, 1024))
        self.assertEqual([hex(i) for i in range(0xC0, 0x100) if effects[i]], ["0xc0", "0xc1", "0xc4"])


class Orders(ControlTest):
    """Test orders, their results, and refusals."""

    def test_reset(self) -> None:
        nvme = self.start()
        nvme.do_read(1 << 20, 4096)
        self.vm.step(1000)
        self.assertEqual(nvme.control(RESET), 0)
        log = nvme.whole_log(COUNTERS)
        self.assertEqual(sum(counters(log)["op"]), 0)
        self.assertEqual(struct.unpack_from("<QQ", log, 16)[0], struct.unpack_from("<QQ", log, 16)[1])
        self.assertEqual(struct.unpack_from("<I", nvme.whole_log(LATENCY), 32)[0], 0)

    def test_force_gc(self) -> None:
        nvme = self.start(ftl__buffer_units=0, geometry__pages_per_block=4, ftl__capacity_mib=10)
        for i in range(24):  # a page each: one or two blocks of each plane, all but the last stale
            nvme.do_write(i % 2 * 4096, PAGE)
        self.assertEqual(counters(nvme.whole_log(COUNTERS))["ftl"][11], 0)
        working = nvme.control(FORCE_GC, 0)
        self.assertGreater(working, 0)
        self.assertEqual(counters(nvme.whole_log(COUNTERS))["ftl"][11], 0, "it takes device time")
        self.vm.step(20_000_000)
        self.assertEqual(counters(nvme.whole_log(COUNTERS))["ftl"][11], working)
        self.assertEqual(nvme.do_read(0, 8192), PAGE + PAGE)
        self.assertEqual(self.qmp_control(command=FORCE_GC, arguments=[79]), nvme.control(FORCE_GC, 79))

    def test_set(self) -> None:
        nvme = self.start()
        nvme.set_knob(b"ftl.gc_slice_pages=9")
        self.assertIn("ftl.gc_slice_pages=9", self.vm.stats()["settings"])
        self.qmp_control(set="ftl.gc_slice_pages=11")
        self.assertIn(b"ftl.gc_slice_pages=11\n", nvme.whole_log(IDENTITY))

    def test_a_program_fails(self) -> None:
        nvme = self.start(ftl__buffer_units=0)
        self.assertEqual(nvme.control(FAULT_ADD, PROGRAM, 2, ANY), 0)
        nvme.do_write(0, PAGE)
        faults = nvme.whole_log(FAULTS)
        self.assertEqual(struct.unpack_from("<3I", faults, 32), (1, 32, 31))
        self.assertEqual(struct.unpack_from("<IIQIII", faults, 48), (PROGRAM, ANY, 1, 0, 0, 0))
        nvme.do_write(4096, PAGE)
        self.assertEqual(counters(nvme.whole_log(COUNTERS))["nand"][3], 1)
        self.assertEqual(struct.unpack_from("<IIQ", nvme.whole_log(FAULTS), 48), (PROGRAM, ANY, 0))
        self.assertEqual(nvme.do_read(0, 8192), PAGE + PAGE)

    def test_flipped_bits(self) -> None:
        nvme = self.start(ftl__buffer_units=0)
        nvme.do_write(0, PAGE)
        self.assertEqual(nvme.control(FAULT_ADD, FLIP | 1 << 16, 0, 0), 0)
        nvme.start(2, 0, 4096)
        self.assertEqual(nvme.finish().code, 0x281, "Unrecovered Read Error")
        self.assertEqual(nvme.get_log(SMART, 512, nsid=ANY)[160], 1, "a media error")
        nvme.control(FAULT_CLEAR)
        self.assertEqual(nvme.do_read(0, 4096), PAGE)

    def test_refusals_have_reasons(self) -> None:
        nvme = self.start()
        self.assertEqual(nvme.why(), "")
        nvme.control(0, code=INVALID_FIELD)
        self.assertIn("there is no such command", nvme.why())
        nvme.control(FORCE_GC, 80, code=INVALID_FIELD)
        self.assertIn("a plane has 80", nvme.why())
        nvme.control(FAULT_ADD, 7, 1, ANY, code=INVALID_FIELD)
        self.assertIn("no such kind of fault", nvme.why())
        nvme.control(FAULT_ADD, ERASE, 1, 2, code=INVALID_FIELD)
        self.assertIn("no such die", nvme.why())
        nvme.set_knob(b"ftl.buffer_units=8", code=REFUSED)
        self.assertIn("ftl.buffer_units cannot be set while the drive runs", nvme.why())
        nvme.set_knob(b"ftl.gc_slice_pages=0", code=REFUSED)
        self.assertIn("1 .. 65536", nvme.why())
        for words in (0, 129):
            nvme.set_knob(b"ftl.gc_slice_pages=8", words, code=INVALID_FIELD)
        self.assertIn("CDW10", nvme.why())
        log = nvme.whole_log(ERROR)
        self.assertEqual(struct.unpack_from("<4I", log, 32), (0xC1, 0, INVALID_FIELD, 8))

    def test_a_full_plan(self) -> None:
        nvme = self.start()
        for i in range(32):
            self.assertEqual(nvme.control(FAULT_ADD, ERASE, 1000, ANY), i)
        nvme.control(FAULT_ADD, ERASE, 1, ANY, code=NO_ROOM)
        self.assertIn("clear it", nvme.why())

    def test_namespaces(self) -> None:
        nvme = self.start()
        for nsid, code in BAD_NAMESPACES:
            nvme.control(RESET, nsid=nsid, code=code)
            nvme.set_knob(b"ftl.gc_slice_pages=8", nsid=nsid, code=code)

    def test_qmp_errors(self) -> None:
        self.start()
        for arguments, words in (
            ({}, "Give a command"),
            ({"command": 1, "set": "ftl.gc_slice_pages=1"}, "Give a command"),
            ({"set": "ftl.gc_slice_pages=1", "arguments": [1]}, "Give a command"),
            ({"command": 1, "arguments": [1, 2, 3, 4]}, "at most 3 arguments"),
            ({"command": 99}, "there is no such command"),
            ({"set": "gc_slice_pages"}, "give ftl.key=value"),
        ):
            with self.assertRaisesRegex(QmpError, words):
                self.qmp_control(**arguments)
        with self.assertRaisesRegex(QmpError, "There is no node 'nobody'"):
            self.vm.qmp("x-nand-ssd-log", node_name="nobody", id=COUNTERS)
        with self.assertRaisesRegex(QmpError, "There is no log 7: they are 208 to 215"):
            self.qmp_log(7)
        with self.assertRaisesRegex(QmpError, "Log 214 has 560 bytes: give a smaller offset"):
            self.qmp_log(ERROR, offset=560)
        self.assertEqual(len(self.qmp_log(ERROR, offset=500, length=100)), 60)
        self.assertEqual(len(self.qmp_log(ERROR, offset=0, length=100)), 100)
        self.assertEqual(self.whole, 560)


class PowerCuts(ControlTest):
    """Test a guest that cuts its drive's power."""

    def test_bad_ones(self) -> None:
        nvme = self.start()
        nvme.control(POWER_CUT, 3, code=INVALID_FIELD)
        nvme.control(POWER_CUT, 3 << 8, code=INVALID_FIELD)
        self.assertIn("CDW13", nvme.why())
        nvme.control(POWER_CUT, 1, 0, 0, code=REFUSED)
        self.assertIn("after 0 commands", nvme.why())
        self.vm.step(1000)
        nvme.control(POWER_CUT, 2, 1, 0, code=REFUSED)
        self.assertIn("already", nvme.why())

    def test_at_its_time(self) -> None:
        nvme = self.start()
        nvme.control(POWER_CUT, 2, 5_000_000, 0)
        self.vm.step(4_999_999)
        self.assertEqual(nvme.get32(0x1C), 1, "ready")
        self.vm.step(1)
        self.assertEqual(nvme.get32(0x1C), 0xFFFFFFFF, "gone")

    def test_cancelled(self) -> None:
        nvme = self.start()
        nvme.control(POWER_CUT, 2, 5_000_000, 0)
        nvme.control(CANCEL)
        self.vm.step(10_000_000)
        self.assertEqual(nvme.get32(0x1C), 1)


class Health(ControlTest):
    """Test SMART and Identify."""

    def test_identify_namespace(self) -> None:
        nvme = self.start()
        nvme.do_admin(IDENTIFY, nsid=1, prp1=SCRATCH, dwords={10: 0})
        data = self.vm.read(SCRATCH, 4096)
        self.assertEqual(data[24] & 0x12, 0x12, "NSABPNS, OPTPERF")
        # in blocks of 512 bytes, less one: a unit of 4 KiB; two planes of 16 KiB pages
        self.assertEqual(struct.unpack_from("<HHH", data, 34), (7, 7, 0))  # NAWUN, NAWUPF, NACWU
        self.assertEqual(struct.unpack_from("<HHH", data, 40), (7, 0, 7))  # NABSN, NABO, NABSPF
        self.assertEqual(struct.unpack_from("<5H", data, 64), (7, 7, 7, 7, 63))  # NPWG .. NOWS
        self.assertEqual(data[120:128].hex(), "5254002f109c857d")  # EUI-64 made from the serial number 'slate'
        self.assertEqual(self.eui64(), data[120:128])

    def eui64(self) -> bytes:
        """Return the EUI-64 of namespace 1 in another machine of the same kind."""
        vm = self.machine([drive()], "-device", CONTROLLER)
        nvme = Nvme(vm)
        nvme.enable()
        nvme.do_admin(IDENTIFY, nsid=1, prp1=SCRATCH, dwords={10: 0})
        return vm.read(SCRATCH, 4096)[120:128]

    def test_write_cache(self) -> None:
        for buffer_units, present in ((128, 1), (0, 0)):
            nvme = self.start(ftl__buffer_units=buffer_units)
            nvme.do_admin(IDENTIFY, prp1=SCRATCH, dwords={10: 1})
            self.assertEqual(self.vm.read(SCRATCH, 4096)[525] & 1, present)
            nvme.start(FLUSH)
            self.assertEqual(nvme.finish().code, 0, "a flush is no error without a cache")

    def test_smart(self) -> None:
        nvme = self.start(reliability__endurance=1000)
        nvme.do_write(0, PAGE)
        smart = nvme.get_log(SMART, 512, nsid=ANY)
        self.assertEqual((smart[0], smart[3], smart[4], smart[5]), (0, 100, 10, 0))
        self.assertEqual(struct.unpack_from("<Q", smart, 48)[0], 1, "data units written, rounded up")
        self.assertEqual(struct.unpack_from("<Q", smart, 80)[0], 1, "host writes")
        self.assertEqual(struct.unpack_from("<Q", smart, 112)[0], 1, "power cycles")
        self.assertEqual(smart, nvme.get_log(SMART, 512, nsid=1))

    def life(self, path: Path) -> tuple[int, int]:
        """Return power cycles and unsafe shutdowns of the drive in a file, read while it runs."""
        self.vm = self.machine([{**drive(), "drive-file": str(path)}], "-device", CONTROLLER)
        self.nvme = Nvme(self.vm)
        self.nvme.enable()
        return self.cycles()

    def cycles(self) -> tuple[int, int]:
        """Return the numbers in the log."""
        smart = self.nvme.get_log(SMART, 512, nsid=ANY)
        return struct.unpack_from("<Q", smart, 112)[0], struct.unpack_from("<Q", smart, 144)[0]

    def test_tools_shut_a_drive_down(self) -> None:
        """At its end slate-replay reports a shutdown to the drive, as a host does."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "drive"
            words = ["--profile", str(SMALL), "--drive", str(path), "--closed", "4"]
            trace = "gen:rand4k,foot=64MiB,n=1000"
            for _ in range(2):
                subprocess.run([REPLAY, *words, trace], check=True, capture_output=True)
            self.assertEqual(self.life(path), (3, 0))
            self.assertEqual(self.vm.quit(), 0)

    def test_unsafe_shutdowns_are_counted_over_the_life(self) -> None:
        """Power is lost after a write without a shutdown of the controller: QEMU is killed, or the power is cut."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "drive"
            self.assertEqual(self.life(path), (1, 0))
            self.nvme.do_write(0, PAGE)
            self.nvme.set32(CC, CC_ENABLE | CC_SHN_NORMAL)
            self.vm.step(10**9)
            self.assertEqual(self.nvme.get32(CSTS) >> 2 & 3, 2, "shutdown complete")
            self.assertEqual(self.vm.quit(), 0)
            self.assertEqual(self.life(path), (2, 0), "it was told")
            self.nvme.do_read(0, 4096)
            self.vm.kill()
            self.assertEqual(self.life(path), (3, 0), "it was not written to")
            self.nvme.do_write(0, PAGE)
            self.vm.kill()
            self.assertEqual(self.life(path), (4, 1))
            self.nvme.do_write(0, PAGE)
            self.vm.qmp("x-nand-ssd-power-cut", node_name="ssd0")
            self.vm.settle()
            self.vm.qmp("x-nand-ssd-power-on", node_name="ssd0")
            self.nvme = Nvme(self.vm)
            self.nvme.enable()
            self.assertEqual(self.cycles(), (5, 2))
            self.assertEqual(self.vm.quit(), 0)
            self.assertEqual(self.life(path), (6, 2))
            self.assertEqual(self.vm.quit(), 0)

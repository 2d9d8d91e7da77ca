# SPDX-License-Identifier: GPL-2.0-or-later
"""Test a drive's logs, orders, SMART and Identify with nvme-cli in the guest (SPEC.md)."""

import struct
import unittest

from support import HERE, GuestTest, Result

MIB = 1 << 20


class Controls(GuestTest):
    """Boot once; control.sh stores the output of nvme-cli. The drive is filled, and 4 MiB are written again."""

    def test_controls(self) -> None:
        result = self.slate("--cmd", HERE / "control.sh", "--kernel", "small")
        self.logs(result)
        self.counters(result)
        self.orders(result)
        self.health(result)
        self.identify(result)

    def raw(self, result: Result, name: str) -> bytes:
        return (result.folder / name).read_bytes()

    def logs(self, result: Result) -> None:
        for log_id in range(0xD0, 0xD7):
            data = self.raw(result, f"{log_id:#x}.bin")
            magic, version, at, size = struct.unpack_from("<4sHHQ", data)
            self.assertEqual((magic, version, at, size), (b"SLOG", 1, log_id, len(data)))
        identity = self.raw(result, "0xd0.bin")
        at, size = struct.unpack_from("<2I", identity, 100)
        self.assertIn("ftl.gc_slice_pages=4", identity[at : at + size].decode().splitlines())
        planes, entry, units, _ = struct.unpack_from("<4I", self.raw(result, "0xd3.bin"), 32)
        self.assertEqual((planes, entry, units), (4, 72, 256))
        blocks = self.raw(result, "0xd3.bin")
        valid = [struct.unpack_from("<Q", blocks, 48 + 72 * p + 64)[0] for p in range(planes)]
        # All units are mapped, and two that no host sees (trim bits); the last 128 written may
        # be in the buffer, and what is overwritten there is not valid on flash.
        self.assertLessEqual(sum(valid), 65536 + 3)
        self.assertGreaterEqual(sum(valid), 65536 - 128)

    def counters(self, result: Result) -> None:
        data = self.raw(result, "0xd1.bin")
        read, write = struct.unpack_from("<16Q", data, 64), struct.unpack_from("<16Q", data, 64 + 16 * 8)
        self.assertEqual(write[:3], (write[0], 4 * MIB, 0))
        self.assertGreaterEqual(read[1], 4 * MIB)
        self.assertEqual(sum(read[6:]), read[3])
        latency = self.raw(result, "0xd2.bin")
        entries, size = struct.unpack_from("<2I", latency, 32)
        found = [struct.unpack_from("<IIQQQ10Q", latency, 48 + size * i) for i in range(entries)]
        for op, words in enumerate((read, write)):
            mine = [entry for entry in found if entry[0] == op]
            self.assertEqual(sum(entry[4] for entry in mine), words[0], "every I/O is in a bucket")
            self.assertEqual([sum(entry[5 + c] for entry in mine) for c in range(10)], list(words[6:]))
        after = self.raw(result, "after.bin")
        self.assertEqual(struct.unpack_from("<32Q", after, 64), (0,) * 32, "reset")

    def orders(self, result: Result) -> None:
        self.assertIn("result: 0x00000000", result.text("set.txt"))
        self.assertIn("0x41c0", result.text("refused.txt"))  # with Do Not Retry
        why = self.raw(result, "why.bin")
        self.assertEqual(struct.unpack_from("<4I", why, 32), (0xC1, 0, 0x1C0, 1))
        self.assertTrue(why[48:].startswith(b"ftl.buffer_units cannot be set while the drive runs"))
        self.assertIn("result: 0x00000004", result.text("gc.txt"))  # planes
        self.assertEqual(result.device.setting("gc_slice_pages"), 9)

    def health(self, result: Result) -> None:
        smart = result.json("smart.json")
        self.assertEqual(
            [smart[x] for x in ("critical_warning", "avail_spare", "spare_thresh", "percent_used")],
            [0, 100, 10, 0],
        )
        self.assertEqual([int(smart[x]) for x in ("media_errors", "power_cycles")], [0, 1])
        # 4 MiB are 8.2 times 1000 blocks of 512 bytes; the kernel reads some more
        self.assertEqual(int(smart["data_units_written"]), 9)
        written, read = (
            struct.unpack_from("<Q", self.raw(result, "0xd1.bin"), 64 + 8 * at)[0] for at in (16, 0)
        )
        self.assertEqual(int(smart["host_write_commands"]), written)
        self.assertEqual(int(smart["host_read_commands"]), read)

    def identify(self, result: Result) -> None:
        namespace = result.json("id-ns.json")
        self.assertEqual(
            [namespace[x] for x in ("npwg", "npwa", "npdg", "npda", "nows", "nawun", "nawupf", "nabspf")],
            [7, 7, 7, 7, 63, 7, 7, 7],
        )
        self.assertEqual(namespace["eui64"], "5254002f109c857d")  # of the serial 'slate'
        self.assertEqual(result.text("queue.txt").split(), ["4096", "4096", "32768"])
        controller = result.json("id-ctrl.json")
        self.assertEqual((controller["sn"].strip(), controller["vwc"] & 1), ("slate", 1))


if __name__ == "__main__":
    unittest.main()

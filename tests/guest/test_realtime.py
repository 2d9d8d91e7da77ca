# SPDX-License-Identifier: GPL-2.0-or-later
"""Test properties of real time that hold on every host, loaded or not."""

import unittest

from support import HERE, JOBS, GuestTest

from slate_lib.account import Device

IOTHREAD = (
    "--frontend", "virtio-blk",
    "--qemu-arg=-object", "--qemu-arg=iothread,id=io0",
    "--qemu-arg=-global", "--qemu-arg=virtio-blk-pci.iothread=io0",
)  # fmt: skip


class RealTime(GuestTest):
    """--realtime."""

    kernel = "debian"

    def assert_late(self, device: Device, requests: int) -> None:
        """Check that lateness was counted for at least so many requests, once in each place."""
        late, posted = device.late(), device.late("posted")
        self.assertGreaterEqual(late.requests, requests)
        self.assertEqual(late.requests, posted.requests)
        for one in (late, posted):
            self.assertEqual(sorted(one.shares, reverse=True), one.shares)
            self.assertGreaterEqual(one.max_ns, one.mean_ns)
        self.assertGreaterEqual(late.mean_ns, posted.mean_ns)

    def test_one_at_a_time_costs_what_it_does_in_virtual_time(self) -> None:
        """Equal requests have equal NAND commands and latencies, with equal parts, in real and in virtual time."""
        devices = [
            self.slate("--job", HERE / "closed.fio", "--fill", "50", "--set", "ftl.buffer_units=0", *extra).device
            for extra in (["--realtime"], [])
        ]
        self.assert_late(devices[0], 1200)
        self.assertIsNone(devices[1].late())
        for name in ("reads", "writes", "mixed"):
            real, virtual = (device.job(name).account for device in devices)
            self.assertEqual(real.op, virtual.op, name)
            self.assertEqual(real.ftl, virtual.ftl, name)
            self.assertEqual(real.sources, virtual.sources, name)
            self.assertEqual(sum(op.ios for op in real.op.values()), 400, name)

    def test_data_under_gc(self) -> None:
        result = self.slate("--job", HERE / "realtime.fio", "--realtime", "--smp", "2", "--age", "1")
        (job,) = result.json("fio.json")["jobs"]
        self.assertEqual((job["error"], job["read"]["total_ios"]), (0, 4096))
        self.assert_clean(result.device)
        self.assertGreater(result.device.total.ftl["gc-runs"], 0)
        self.assert_late(result.device, 8192)
        self.assertIn("\nlate ", result.out)

    def test_iothread(self) -> None:
        """Requests complete in an event loop other than QEMU's main one."""
        result = self.slate("--job", JOBS / "randread-qd1.fio", "--realtime", *IOTHREAD)
        self.assertEqual(result.json("fio.json")["jobs"][0]["read"]["total_ios"], 1000)
        self.assert_late(result.device, 1000)

    def test_marks_have_their_own(self) -> None:
        """The lateness of the intervals between marks adds up to the total, less that after the last mark."""
        raw = self.slate("--job", JOBS / "randread-qd1.fio", "--realtime").json("device.json")
        parts = [mark["real-time"]["delivered"]["requests"] for mark in raw["marks"]]
        self.assertGreaterEqual(max(parts), 1000)
        self.assertLessEqual(sum(parts), raw["real-time"]["delivered"]["requests"])


if __name__ == "__main__":
    unittest.main()

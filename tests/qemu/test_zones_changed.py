# SPDX-License-Identifier: GPL-2.0-or-later
"""Test zones that the drive changes itself: read-only, offline, ended by a mount; their log and their event."""

from __future__ import annotations

import struct
import unittest
from typing import Any

import test_zoned
from nvme import FLUSH, FUA, GET_LOG, READ, SET_FEATURES, WRITE_ZEROES
from test_zoned import (
    ALL,
    BLOCKS,
    CLOSED,
    EMPTY,
    FINISH,
    FULL,
    INVALID_FIELD,
    OFFLINE,
    OPEN,
    OTHER,
    PAGE,
    PAGE4K,
    RESET,
    TRANSITION,
    ZONE,
    ZONES,
)

READ_ONLY, OFFLINE_STATE, NO_POINTER = 0xD, 0xF, 2**64 - 1
IS_READ_ONLY, IS_OFFLINE, INVALID_NAMESPACE = 0x1BA, 0x1BB, 0x0B
EVENTS, ASYNC_EVENT, CHANGED_ZONES, ZONE_NOTICES = 0x0B, 0x0C, 0xBF, 1 << 27
FAULT_ADD, FAULT_CLEAR, FAIL_PROGRAM, FAIL_ERASE, ANY_DIE = 3, 4, 1, 2, 0xFFFFFFFF


class Changed(test_zoned.KeptTest):
    """Test zones that the drive changes itself, their log and their event."""

    def changed(self, retain: bool = False, nsid: int = 1, code: int = 0, csi: int = 2) -> tuple[int, list[int]]:
        """Read the Changed Zone List: return its count of zones and their numbers."""
        at = self.nvme.buffer()
        word = CHANGED_ZONES | retain << 15 | 1023 << 16
        self.nvme.do_admin(GET_LOG, code, nsid=nsid, prp1=at, dwords={10: word, 14: csi << 24})
        number, *lbas = struct.unpack("<H6x511Q", self.vm.read(at, 4096))
        zones = [lba // BLOCKS for lba in lbas[: number if number <= 511 else 0]]
        self.assertEqual(lbas, [zone * BLOCKS for zone in zones] + [0] * (511 - len(zones)))
        return number, zones

    def watch(self) -> None:
        """Enable the event, and submit a request for one."""
        self.nvme.do_admin(SET_FEATURES, dwords={10: EVENTS, 11: ZONE_NOTICES})
        self.ask()

    def ask(self) -> None:
        """Submit an Asynchronous Event Request."""
        self.nvme.admin.put(ASYNC_EVENT)
        self.nvme.admin.ring()

    def event(self) -> None:
        """Wait for an event, and check that it reports zones of this namespace."""
        at = self.nvme.admin.cq + 16 * self.nvme.admin.head
        self.assertEqual(self.nvme.wait(self.nvme.admin).result, 0x02 | 0xEF << 8 | CHANGED_ZONES << 16)
        self.assertEqual(struct.unpack("<I", self.vm.read(at + 4, 4))[0], 1, "the namespace")

    def plan(self, kind: int, die: int = ANY_DIE) -> None:
        """Let the next program or erase fail."""
        self.nvme.control(FAULT_ADD, kind, 1, die)

    def write_page(self, zone: int, offset: int = 0) -> None:
        """Write the 16 KiB of a page at this offset of a zone."""
        for lba in (0, 16):
            self.assertEqual(self.write(zone * BLOCKS + offset // 512 + lba, PAGE4K + OTHER), 0)

    def test_a_program_fails(self) -> None:
        self.start()
        self.watch()
        self.write_page(1)
        self.nvme.start(FLUSH)
        self.nvme.finish()
        self.assertIsNone(self.nvme.admin.poll())
        self.plan(FAIL_PROGRAM)
        self.write_page(1, 16384)
        self.event()
        self.assertEqual((self.zone(1).state, self.zone(1).pointer), (READ_ONLY, NO_POINTER))
        self.assertEqual(self.report(kind=6)[0], 1)
        self.assertEqual(self.nvme.do_read(ZONE + 16384, 8192), PAGE4K + OTHER, "from the buffer")
        refused = {OPEN: IS_READ_ONLY, FINISH: IS_READ_ONLY, RESET: TRANSITION}
        for action, code in refused.items():
            self.assertEqual(self.send(1, action), code, action)
        self.assertEqual(self.write(BLOCKS + 64), IS_READ_ONLY)
        self.ask()
        for retain in (True, False):
            self.assertEqual(self.changed(retain), (1, [1]))
        self.assertEqual(self.changed(), (0, []))
        self.assertIsNone(self.nvme.admin.poll(), "the host has read the list")
        self.cut()
        self.restart()
        self.assertEqual(self.zone(1).state, READ_ONLY)
        self.assertEqual(self.nvme.do_read(ZONE, 16384 // 2), PAGE4K + OTHER)
        self.assertEqual(self.changed(), (0, []))
        self.assertEqual(self.send(1, RESET), TRANSITION)
        self.go_offline()

    def go_offline(self) -> None:
        """Take zone 1, which is read-only, offline: alone, or as one of all zones."""
        self.assertEqual(self.send(0, OFFLINE), TRANSITION)
        self.assertEqual(self.states(3), [EMPTY, READ_ONLY, EMPTY])
        self.assertEqual(self.send(0, OFFLINE | ALL), 0)
        for _ in range(2):
            self.assertEqual(self.states(3), [EMPTY, OFFLINE_STATE, EMPTY])
            self.assertEqual([self.send(1, action) for action in (OFFLINE, OFFLINE | ALL, RESET)], [0, 0, IS_OFFLINE])
            self.nvme.start(READ, ZONE, size=4096)
            self.assertEqual(self.nvme.finish().code, IS_OFFLINE)
            self.assertEqual(self.changed(), (0, []), "the host has done it")
            self.assertEqual(self.write(0), 0)
            self.assertEqual(self.send(0, RESET), 0)
            self.cut()
            self.restart()

    def test_offline_at_once(self) -> None:
        """The buffer of the zone has what its flash lacks; a flush reports the loss once."""
        self.start()
        self.watch()
        self.plan(FAIL_PROGRAM)
        self.write_page(1)
        self.event()
        self.assertEqual(self.zone(1).state, READ_ONLY)
        self.assertEqual(self.send(1, OFFLINE), 0)
        self.assertEqual(self.zone(1).state, OFFLINE_STATE)
        for code in (IS_READ_ONLY, 0):
            self.nvme.start(FLUSH)
            self.assertEqual(self.nvme.finish().code, code)

    def test_with_a_thread(self) -> None:
        """The drive's thread executes the program; the main loop sends the event."""
        self.start([{**test_zoned.zoned(), "thread": "on"}])
        self.watch()
        self.plan(FAIL_PROGRAM)
        self.write_page(1)
        self.event()
        self.assertEqual(self.changed(), (1, [1]))
        self.assertEqual(self.changed(), (0, []))

    def test_an_erase_fails(self) -> None:
        """A plane has three spare blocks. When one is left the second zone is offline, though a higher one is empty."""
        self.start(geometry__blocks_per_plane=67)
        for zone in range(2):
            self.write_page(zone)
            self.plan(FAIL_ERASE, 0)
            self.assertEqual(self.send(zone, RESET), 0)
        self.assertEqual(self.states(3), [EMPTY, OFFLINE_STATE, EMPTY])
        self.watch()
        self.event()  # the drive kept it until the host enabled the event
        for again in range(2):
            self.assertEqual(self.states(ZONES), [EMPTY, OFFLINE_STATE] + [EMPTY] * (ZONES - 2))
            self.assertEqual(self.write(BLOCKS), IS_OFFLINE)
            self.assertEqual(self.send(1, RESET), IS_OFFLINE)
            self.nvme.start(READ, ZONE, size=4096)
            self.assertEqual(self.nvme.finish().code, IS_OFFLINE)
            self.assertEqual(self.changed(), (0, []) if again else (1, [1]))
            if not again:
                self.restart()

    def test_a_mount_ends_a_zone(self) -> None:
        """One zone may be active. A cut tears the last programs of a full zone when another zone has data on flash.

        Each zone has a die. The second die has one zone less, so the log is on that die. Both programs begin when the
        first zone's last bytes are in the buffer: its two pages need one transfer more than the log's record.
        """
        small: dict[str, Any] = {"geometry__pages_per_block": 32, "ftl__capacity_mib": 15, "ftl__zone_dies": 1}
        self.start(**small, ftl__zone_active_max=1, ftl__zone_open_max=1)
        blocks = 2048
        self.nvme.io.put(WRITE_ZEROES, 1, dwords={10: 0, 12: blocks - 1})
        self.nvme.io.ring()
        self.assertEqual(self.nvme.wait(self.nvme.io, grain_ns=4000).code, 0)
        self.nvme.grain_ns = 4000
        self.assertEqual(self.write(blocks, flags=FUA), 0)
        self.cut()
        zones = self.report()[1]
        self.assertEqual([zone.state for zone in zones[:3]], [FULL, CLOSED, EMPTY])
        self.assertEqual([zone.attributes for zone in zones[:3]], [1, 0, 0])
        self.watch()
        self.event()
        self.assertEqual(self.changed(), (1, [0]))
        self.assertEqual(self.send(0, RESET), 0)
        self.assertEqual(self.zone(0).attributes, 0)

    def test_without_the_event(self) -> None:
        """A host that does not enable the event still finds the zone in the log."""
        self.start()
        self.ask()
        self.plan(FAIL_PROGRAM)
        self.write_page(5)
        self.vm.step(10 * PAGE)
        self.assertIsNone(self.nvme.admin.poll())
        self.assertEqual(self.changed(), (1, [5]))

    def test_more_than_the_log_has_room_for(self) -> None:
        """Each finish programs a page, which fails. The records of states move with the log, and all stay in it."""
        self.start(geometry__blocks_per_plane=700, ftl__capacity_mib=640 * 4)
        self.nvme.grain_ns = 700_000
        for zone in range(512):
            self.nvme.control(FAULT_CLEAR)
            self.plan(FAIL_PROGRAM)
            self.assertEqual(self.send(zone, FINISH), IS_READ_ONLY)
            self.vm.step(20 * PAGE)
            if zone == 510:
                self.assertEqual(self.changed(retain=True), (511, list(range(511))))
        for retain in (True, False):
            self.assertEqual(self.changed(retain)[0], 0xFFFF)
        self.assertEqual(self.changed(), (0, []))

    def test_wrong(self) -> None:
        self.start()
        self.changed(nsid=2, code=INVALID_NAMESPACE)
        self.changed(csi=0, code=INVALID_FIELD)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Random write areas of zones (ZRWA): identify, errors, write pointers, times, what survives. An area has four pages of
16 KiB, one for each plane of a zone.
"""

from __future__ import annotations

import struct
import unittest
from typing import Any

import test_nvme
import test_zoned
from nvme import FLUSH, FUA, IDENTIFY, Nvme
from test_zoned import (
    ALL,
    BLOCKS,
    BOUNDARY,
    BUFFER,
    CLOSE,
    CLOSED,
    EMPTY,
    EXPLICIT,
    FINISH,
    FLUSH_AREA,
    FRONT,
    FULL,
    IMPLICIT,
    INVALID_FIELD,
    INVALID_WRITE,
    INVALID_ZONE_OP,
    LIMIT,
    OPEN,
    OTHER,
    PAGE,
    PAGE4K,
    RESET,
    SEND,
    TRANSITION,
    ZONE,
)

NO_AREA, LBA_RANGE = 0x1B7, 0x80
AREA = 1 << 9  # of Open: ZRWAA
VALID = 8  # attribute ZRWAV
GRANULE, SIZE = 32, 128  # blocks


class Areas(test_zoned.KeptTest):
    """Test a drive on which each active zone may have an area."""

    def start(self, blockdevs: Any = None, device: str = test_nvme.CONTROLLER, **settings: Any) -> Nvme:
        """Start as the tests of other drives with zones do."""
        return super().start(blockdevs, device, **{"ftl__zrwa_pages": 4, **settings})

    def open(self, zone: int, code: int = 0) -> None:
        """Open a zone with an area."""
        self.assertEqual(self.send(zone, OPEN | AREA), code)

    def commit(self, lba: int, flags: int = 0) -> int:
        """Commit the area up to this block; returns the status."""
        self.nvme.io.put(SEND, 1, dwords={10: lba, 13: FLUSH_AREA | flags})
        return self.nvme.finish().code

    def flush(self) -> int:
        """Flush, and return its time."""
        self.nvme.start(FLUSH)
        self.assertEqual(self.nvme.finish().code, 0)
        return self.latency()

    def programs(self, source: str) -> int:
        """Return how many pages were programmed."""
        return int(self.vm.stats()["total"]["nand"]["by-source"][source]["programs"])

    def expect(self, zone: int, state: int, pointer: int, attributes: int = VALID) -> None:
        """Compare a zone's descriptor."""
        found = self.zone(zone)
        self.assertEqual((found.state, found.pointer - zone * BLOCKS, found.attributes), (state, pointer, attributes))

    def test_identify(self) -> None:
        nvme = self.start(ftl__zrwa_flush_pages=2, ftl__zrwa_zones=3)
        nvme.do_admin(IDENTIFY, nsid=1, prp1=test_nvme.SCRATCH, dwords={10: 5, 11: 2 << 24})
        data = self.vm.read(test_nvme.SCRATCH, 64)
        self.assertEqual(struct.unpack_from("<H", data, 2)[0], 2, "ZRWA is supported")
        self.assertEqual(struct.unpack_from("<IHHB", data, 44), (3, 2 * GRANULE, SIZE, 1))

    def test_as_many_as_active_zones(self) -> None:
        nvme = self.start()
        nvme.do_admin(IDENTIFY, nsid=1, prp1=test_nvme.SCRATCH, dwords={10: 5, 11: 2 << 24})
        self.assertEqual(
            struct.unpack_from("<IHHB", self.vm.read(test_nvme.SCRATCH, 64), 44), (LIMIT, GRANULE, SIZE, 1)
        )

    def test_overwrites(self) -> None:
        self.start()
        self.open(1)
        self.assertEqual(self.latency(), FRONT)
        self.expect(1, EXPLICIT, 0)
        for lba, data in ((64, PAGE4K), (0, PAGE4K), (64, OTHER), (120, PAGE4K), (0, OTHER)):
            self.assertEqual(self.write(BLOCKS + lba, data), 0)
            self.assertEqual(self.latency(), BUFFER + FRONT)
        self.expect(1, EXPLICIT, 0)
        self.assertEqual(self.programs("host"), 0)
        self.assertEqual(self.nvme.do_read(ZONE, 8192), OTHER + bytes(4096))
        self.assertEqual(self.commit(BLOCKS + 3 * GRANULE - 1), 0)
        self.assertEqual(self.latency(), FRONT)
        self.expect(1, EXPLICIT, 3 * GRANULE)
        self.flush()
        self.assertEqual((self.programs("host"), self.programs("meta")), (3, 1), "page 3 is not committed")
        self.assertEqual(self.nvme.do_read(ZONE + 64 * 512, 8192), OTHER + bytes(4096))

    def test_implicit_commit(self) -> None:
        self.start(ftl__zrwa_flush_pages=2)
        self.open(0)
        self.assertEqual(self.write(SIZE - 8, PAGE4K + OTHER), 0, "a block of it is beyond the area")
        self.expect(0, EXPLICIT, 2 * GRANULE)
        self.assertEqual(self.write(2 * GRANULE + 2 * SIZE - 8), 0, "the last block that is allowed")
        self.expect(0, EXPLICIT, 2 * GRANULE + SIZE)
        ftl = self.vm.stats()["total"]["ftl"]
        self.assertEqual((ftl["zone-commits"], ftl["zone-implicit-commits"], ftl["zone-opens"]), (0, 2, 1))
        self.assertEqual(self.nvme.do_read((SIZE - 8) * 512, 8192), PAGE4K + OTHER)

    def test_time_of_durability(self) -> None:
        """Each changed page of an area is programmed to the log, which has one die."""
        self.start()
        self.open(0)
        self.assertEqual(self.write(8, flags=FUA), 0)
        self.assertEqual(self.latency(), PAGE + BUFFER + FRONT)
        self.assertEqual(self.flush(), FRONT)
        for lba in (0, 32, 64):
            self.assertEqual(self.write(lba), 0)
        self.assertEqual(self.flush(), 3 * PAGE + FRONT)
        self.assertEqual((self.programs("host"), self.programs("meta")), (0, 4))

    def test_refused(self) -> None:
        self.start(ftl__zrwa_zones=1)
        self.assertEqual(self.commit(GRANULE - 1), INVALID_FIELD, "it has no area")
        self.assertEqual(self.write(0), 0)
        self.open(0, NO_AREA)  # the write pointer is within a page
        self.open(1)
        self.open(1)
        self.open(2, NO_AREA)
        self.assertEqual(self.send(2, OPEN | AREA | ALL), INVALID_FIELD)
        self.assertEqual(self.send(64, OPEN | AREA), LBA_RANGE)
        self.assertEqual(self.append(1)[0], INVALID_ZONE_OP)
        self.assertEqual(self.commit(BLOCKS + GRANULE), INVALID_FIELD, "a block too many")
        self.assertEqual(self.commit(BLOCKS + SIZE), BOUNDARY)
        self.assertEqual(self.commit(BLOCKS, ALL), INVALID_FIELD)
        self.assertEqual(self.commit(BLOCKS + GRANULE - 1), 0)
        self.assertEqual(self.commit(BLOCKS + GRANULE - 1), BOUNDARY, "before the area")
        self.assertEqual(self.write(BLOCKS + GRANULE - 8), INVALID_WRITE)
        self.assertEqual(self.write(BLOCKS + GRANULE + 2 * SIZE), INVALID_WRITE)
        self.expect(1, EXPLICIT, GRANULE)
        self.assertEqual(self.send(1, FINISH), 0)
        self.open(1, TRANSITION)
        self.open(2)

    def test_states(self) -> None:
        self.start()
        self.open(0)
        self.assertEqual(self.send(0, CLOSE), 0)
        self.expect(0, CLOSED, 0)
        self.assertEqual(self.write(8), 0)
        self.expect(0, IMPLICIT, 0)
        self.assertEqual(self.send(0, CLOSE), 0)
        self.assertEqual(self.commit(GRANULE - 1), 0)
        self.expect(0, IMPLICIT, GRANULE)
        self.assertEqual(self.write(GRANULE + 8, OTHER), 0)
        self.assertEqual(self.send(0, FINISH), 0)
        self.assertEqual((self.zone(0).state, self.zone(0).attributes), (FULL, 0))
        self.assertEqual(self.nvme.do_read((GRANULE + 8) * 512, 8192), OTHER + bytes(4096))
        self.assertEqual(self.send(0, RESET), 0)
        self.expect(0, EMPTY, 0, 0)
        self.assertEqual(self.append(0), (0, 0))

    def test_the_end(self) -> None:
        self.start()
        self.assertEqual(self.zeroes(0, BLOCKS - SIZE), 0)
        self.open(0)
        self.assertEqual(self.write(BLOCKS - 8), 0)
        self.expect(0, EXPLICIT, BLOCKS - SIZE)
        self.assertEqual(self.commit(BLOCKS - 1), 0)
        self.assertEqual((self.zone(0).state, self.zone(0).attributes), (FULL, 0))
        self.assertEqual(self.nvme.do_read(ZONE - 4096, 4096), PAGE4K)

    def test_cut(self) -> None:
        """Flushed data are there, in the area; what was not flushed is lost, and so is an area without data."""
        self.start()
        self.open(0)
        self.open(1)
        self.assertEqual(self.write(40, OTHER), 0)
        self.flush()
        self.assertEqual(self.write(80), 0)
        self.assertEqual(self.write(BLOCKS), 0)
        self.cut()
        self.expect(0, CLOSED, 0)
        self.expect(1, EMPTY, 0, 0)
        self.assertEqual(self.nvme.do_read(40 * 512, 8192), OTHER + bytes(4096))
        self.assertEqual(self.nvme.do_read(80 * 512, 4096), bytes(4096))
        self.assertEqual(self.write(32), 0)
        self.assertEqual(self.commit(2 * GRANULE - 1), 0)
        self.flush()
        self.cut()
        self.expect(0, CLOSED, 2 * GRANULE, 0)
        self.assertEqual(self.nvme.do_read(32 * 512, 8192), PAGE4K + OTHER)

    def test_restart(self) -> None:
        self.start()
        self.open(3)
        self.assertEqual(self.write(3 * BLOCKS + 8, OTHER), 0)
        self.flush()
        self.restart()
        self.expect(3, CLOSED, 0)
        self.assertEqual(self.nvme.do_read(3 * ZONE + 4096, 4096), OTHER)

    def test_another_key(self) -> None:
        """The drive is opened again without areas: they are committed."""
        self.start()
        self.open(3)
        self.assertEqual(self.write(3 * BLOCKS + 40, OTHER), 0)
        self.flush()
        self.settings = {"ftl__zrwa_pages": 0}
        self.restart()
        self.expect(3, CLOSED, 2 * GRANULE, 0)
        self.assertEqual(self.nvme.do_read(3 * ZONE + 40 * 512, 4096), OTHER)
        self.open(4, INVALID_ZONE_OP)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""wacycle.py - the blocks of a plane that are no victims when sliced GC chooses one: free, and open with some pages.

Models of write amplification (wamodel.py) have infinitely many blocks, so a few free and open ones do not matter. Of
128 blocks at an over-provisioning of 15 %, half a block is 3.6 % of the write amplification. Here one plane's cycle is
followed in shares of a block, for victims that all have the same share of valid pages; no drive is simulated:

1. GC begins when fewer than START blocks are free and goes on until as many are (gc_start_blocks = gc_stop_blocks).
2. While it copies, it copies SLICE pages for each page of the host (gc_slice_pages).
3. The host opens a block only if START or more are free (gc_urgent_blocks = START - 1), GC at any time.
4. With a shared frontier the host does not write into a block that GC has opened out of turn, until a victim is erased.
   With a frontier of its own GC fills its block, and the host another, or waits.
"""

from __future__ import annotations

from dataclasses import dataclass

START, SLICE = 3, 4
VICTIMS, SETTLE = 4000, 400  # followed, and of these not counted
LEAST = 1e-9


@dataclass
class Plane:
    """Holds the free blocks of a plane, and the shares of the open blocks that are written."""

    free: int = START - 1
    host: float = 0.0  # of the shared block, or of the host's
    gc: float = 0.0

    def copy(self, share: float, own: bool) -> None:
        """Copy a victim's valid pages, with the host's pages in between."""
        while share > LEAST:
            share -= self._copy_apart(share) if own else self._copy_beside(share)
        self.free += 1

    def _copy_apart(self, share: float) -> float:
        if self.gc >= 1 - LEAST:
            self.free, self.gc = self.free - 1, 0.0
        writes = self.host < 1 - LEAST
        step = min(share, 1 - self.gc, (1 - self.host) * SLICE if writes else share)
        self.gc += step
        self.host += step / SLICE if writes else 0.0
        return step

    def _copy_beside(self, share: float) -> float:
        if self.host >= 1 - LEAST:
            self.free, self.host = self.free - 1, 0.0
        written = (SLICE + 1) / SLICE if self.free >= START - 1 else 1.0  # for each copied page
        step = min(share, (1 - self.host) / written)
        self.host += step * written
        return step

    def write_until_gc(self) -> None:
        """Write the host's pages alone while enough blocks are free."""
        while self.free >= START:
            self.free, self.host = self.free - 1, 0.0


def when_chosen(valid: float, own: bool) -> tuple[float, float]:
    """Return the mean number of free blocks and the mean written share of open ones (0 to 2) when GC chooses a victim.

    VALID is a victim's share of valid pages; OWN: GC has a frontier of its own.
    """
    plane, free, written = Plane(), 0, 0.0
    for turn in range(VICTIMS):
        if turn >= SETTLE:
            free += plane.free
            written += plane.host + plane.gc
        plane.copy(valid, own)
        plane.write_until_gc()
    counted = VICTIMS - SETTLE
    return free / counted, written / counted

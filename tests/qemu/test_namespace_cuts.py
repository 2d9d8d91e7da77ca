# SPDX-License-Identifier: GPL-2.0-or-later
"""Power cuts in commands that change the table of namespaces: afterwards it is that of before or after the command.

    SEED=3 CUTS=200 python3 -m unittest test_namespace_cuts

A walk begins with a random state of the drive, and each step cuts the power in a random command at one of the times
that matter: when the record's request begins, when its page is transferred, programmed, and reported, one nanosecond
before and after these, or anywhere in the command. A failure names the seed and the step.
"""

from __future__ import annotations

import copy
import os
import random
import struct
import unittest

import test_namespaces as base
from nvme import FLUSH, power_on
from test_namespaces import ATTACHMENT, BY_4K, DELETE, DETACH, FORMAT, MANAGEMENT, ROWS, SIZES, SPACE, UNIT, Model
from test_power import BUS_NS, PROGRAM_NS, QUICK

GRAIN_NS = 1_000_000
Found = dict[int, tuple[int, bool]]  # blocks, and whether it is attached, of each NSID


class Cuts(base.NamespaceTest):
    """Cut the power of a drive again and again."""

    def setUp(self) -> None:
        self.seed = int(os.environ.get("SEED", "1"))
        self.rng = random.Random(f"cuts of namespaces {self.seed}")
        self.model = Model(SPACE // UNIT, ROWS)
        self.formats: dict[int, int] = {1: 0}
        self.data: dict[int, bytes] = {}
        self.took: dict[str, tuple[int, int]] = {}  # by kind: ns to the table's write, and to its end

    # ---- commands ----

    def choose(self) -> tuple[str, int, int]:
        """Return a command that the model accepts: kind, NSID, and the format or the size in mapping units."""
        rows, rng = self.model.rows, self.rng
        kinds = [("delete", nsid, 0) for nsid in rows]
        kinds += [("detach" if row.on else "attach", nsid, 0) for nsid, row in rows.items()]
        kinds += [("format", nsid, rng.choice((0, BY_4K))) for nsid, row in rows.items() if row.on]
        if len(rows) < ROWS:
            kinds += [("create", 0, units) for units in (1, 9, 2000)]
        return rng.choice(kinds)

    def place(self, kind: str, nsid: int, what: int) -> None:
        """Put the command into the admin queue, without the doorbell."""
        if kind == "create":
            self.put(MANAGEMENT, 0, struct.pack("<QQ", what * UNIT // 512, what * UNIT // 512))
        elif kind == "delete":
            self.put(MANAGEMENT, nsid, dw10=DELETE)
        elif kind == "format":
            self.put(FORMAT, nsid, dw10=what)
        else:
            self.put(ATTACHMENT, nsid, struct.pack("<HH", 1, 0), dw10=DETACH if kind == "detach" else 0)

    def apply(self, model: Model, kind: str, nsid: int, what: int) -> int:
        """Carry the command out in a model; return its status."""
        if kind == "create":
            return model.create(what * UNIT // 512, 0)[0]
        if kind == "delete":
            return model.delete(nsid)
        return model.format(nsid, what) if kind == "format" else model.attach(nsid, kind == "attach")

    # ---- what the drive has ----

    @staticmethod
    def rows_of(model: Model) -> Found:
        """Return the namespaces of a model."""
        return {nsid: (row.blocks, row.on) for nsid, row in model.rows.items()}

    def rows(self) -> Found:
        """Return the namespaces of the drive."""
        attached = self.listed(2)
        return {nsid: (self.blocks(nsid), nsid in attached) for nsid in self.listed(0x10)}

    def fill(self) -> None:
        """Write the last block of each attached namespace that has none of this test's data, and flush."""
        for nsid, row in self.model.rows.items():
            if row.on and nsid not in self.data:
                self.data[nsid] = self.rng.randbytes(16)
                self.write(nsid, row.blocks - 1, self.data[nsid], SIZES[self.formats[nsid]])
                self.assertEqual(self.io(FLUSH, nsid), 0)

    def check_data(self, but: int) -> None:
        """Check that all namespaces but one have their data."""
        for nsid, row in self.model.rows.items():
            if row.on and nsid != but and nsid in self.data:
                self.assert_holds(nsid, row.blocks - 1, self.data[nsid], SIZES[self.formats[nsid]])

    def adopt(self, model: Model, kind: str, nsid: int, what: int) -> None:
        """Adopt the model after the command."""
        new = set(model.rows) - set(self.model.rows)
        self.model = model
        if kind == "format":
            self.formats[nsid] = what
        for one in new:
            self.formats[one] = 0

    # ---- a step ----

    def cut(self, at_ns: int) -> int:
        """Start what was placed, cut at_ns later, and switch on; return the commands that had completed."""
        began = self.vm.step(1)
        self.vm.qmp("x-nand-ssd-power-cut", node_name="ssd0", at_ns=began + at_ns)
        self.nvme.admin.ring()
        self.vm.step(at_ns + 1000)
        completed = len(self.nvme.admin.drain())
        self.nvme = power_on(self.vm, 1_000_000, GRAIN_NS)
        return completed

    def measure(self, kind: str, nsid: int, what: int) -> None:
        """Execute the command without a cut, and note its times."""
        after = copy.deepcopy(self.model)
        self.assertEqual(self.apply(after, kind, nsid, what), 0)
        seen = len(self.vm.trace("submit"))
        began = self.vm.step(1)
        self.place(kind, nsid, what)
        self.nvme.admin.ring()
        self.assertEqual(self.nvme.wait(self.nvme.admin).code, 0)
        record = next(row for row in self.vm.trace("submit")[seen:] if int(row["offset"]) == SPACE)
        took = {row["id"]: int(row["latency"]) for row in self.vm.trace("done")}[record["id"]]
        self.took[kind] = int(record["now"]) - began, int(record["now"]) - began + took
        self.adopt(after, kind, nsid, what)
        self.data.pop(nsid if kind in ("delete", "format") else 0, None)

    def step(self, step: int, kind: str, nsid: int, what: int) -> None:
        """Cut the power in the command, and compare."""
        record, end = self.took[kind]
        edges = [record, record + BUS_NS, record + BUS_NS + PROGRAM_NS, end]
        at_ns = max(0, self.rng.choice(edges) + self.rng.choice((-1, 0, 1)))
        if self.rng.random() < 0.4:
            at_ns = self.rng.randrange(end + 10_000)
        after = copy.deepcopy(self.model)
        self.assertEqual(self.apply(after, kind, nsid, what), 0)
        self.place(kind, nsid, what)
        completed = self.cut(at_ns)
        found, old, new = self.rows(), self.rows_of(self.model), self.rows_of(after)
        told = f"SEED={self.seed} step {step}: {kind} {nsid} {what}, cut at {at_ns} of {record}, {end}; {completed}"
        allowed = [new] if completed else [old, new]
        # Before the program begins there is no new record. It begins later if the block must be erased first.
        # Delete and format first deallocate what there is.
        if kind not in ("delete", "format") and at_ns <= record + BUS_NS:
            allowed = [old]
        self.assertIn(found, allowed, told)
        self.outcomes[found == new] += 1
        if found == new:
            self.adopt(after, kind, nsid, what)
        but = nsid if kind in ("delete", "format") else 0
        self.check_data(but)
        self.data.pop(but, None)
        free = SPACE - sum(row.units for row in self.model.rows.values()) * UNIT
        self.assertEqual(self.capacity(), (SPACE, free), told)

    def test_sweep(self) -> None:
        self.begin("", drive__namespaces=ROWS, **QUICK)
        self.nvme.grain_ns = GRAIN_NS
        self.outcomes = [0, 0]
        for kind in (("delete", 1, 0), ("create", 0, 9), ("attach", 1, 0), ("format", 1, BY_4K), ("detach", 1, 0)):
            self.fill()
            self.measure(*kind)
        for step in range(int(os.environ.get("CUTS", "30"))):
            self.fill()
            self.step(step, *self.choose())
        self.assertGreater(min(self.outcomes), 0, "both outcomes happen")


if __name__ == "__main__":
    unittest.main()

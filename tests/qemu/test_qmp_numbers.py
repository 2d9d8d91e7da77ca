# SPDX-License-Identifier: GPL-2.0-or-later
"""A QMP client sends any number: each command is executed or refused with a sentence, and QEMU continues.

A failure names a subtest, DRIVE:CLOCK:SEED, which determines all commands sent.
"""

from __future__ import annotations

import contextlib
import unittest

from support import Json, QmpError

from fuzz_guest import DRIVES, Sequence

COMMANDS = 120
NUMBERS = (0, 1, 2, 3, 4, 5, 6, 63, 64, 208, 213, 215, 216, 4096, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32,
           (1 << 60), (1 << 62) + 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 2, (1 << 64) - 1)  # fmt: skip
VALUES = ("0", "1", "8", "99999999999999999999", "-1", "1e308", "sliced", "", "9" * 200, "\x00", "=")
KEYS = ("ftl.gc_slice_pages", "ftl.gc_start_blocks", "ftl.type", "geometry.channels", "", "x", "=")


class Monitor(Sequence):
    """Sends random commands of a QMP client to a drive."""

    def client(self) -> tuple[str, Json]:
        """Return a command and its arguments."""
        rng = self.rng
        kind = rng.randrange(6)
        if kind == 0:
            more = {key: rng.choice(NUMBERS) for key in ("offset", "length") if rng.random() < 0.6}
            return "x-nand-ssd-log", {"id": rng.choice(NUMBERS), **more}
        if kind == 1:
            return "x-nand-ssd-control", {
                "command": rng.choice(NUMBERS),
                "arguments": [rng.choice(NUMBERS) for _ in range(rng.randrange(5))],
            }
        if kind == 2:
            return "x-nand-ssd-control", {"set": f"{rng.choice(KEYS)}={rng.choice(VALUES)}"}
        if kind == 3:
            what: Json = {"at-ns": rng.choice(NUMBERS), "after-commands": rng.choice(NUMBERS), "never": True}
            chosen = {key: value for key, value in what.items() if rng.random() < 0.4}
            # a reset or a shutdown of the machine has its own tests
            return "x-nand-ssd-power-cut", {**chosen, "seed": rng.choice(NUMBERS), "then": "vanish"}
        return rng.choice((("x-nand-ssd-power-on", {}), ("x-query-nand-ssd-power", {}), ("query-nand-ssd", {})))

    def run(self) -> int:
        """Send the commands; return how many were executed and not refused."""
        done = 0
        try:
            self.revive()
            blocks = self.attach()
            for _ in range(COMMANDS):
                name, arguments = self.client()
                if self.rng.random() < 0.9:
                    arguments["node-name"] = "ssd0"
                with contextlib.suppress(QmpError):
                    self.vm.qmp(name, **{key.replace("-", "_"): value for key, value in arguments.items()})
                    done += 1
                if self.rng.random() < 0.3:
                    self.pass_time()
            self.revive()
            self.store(blocks)
            if self.vm.quit():
                raise AssertionError(f"{self.name}: an exit status; {self.vm.output()[-2000:]}")
            return done
        finally:
            self.vm.close()


class Numbers(unittest.TestCase):
    """Send random numbers for every drive."""

    def test_stepped(self) -> None:
        for drive in DRIVES:
            with self.subTest(f"{drive}:stepped:1"):
                self.assertGreater(Monitor(f"{drive}:stepped:1").run(), 10)

    def test_with_a_thread(self) -> None:
        for drive in ("page", "nftl", "dac"):
            with self.subTest(f"{drive}:thread:1"):
                self.assertGreater(Monitor(f"{drive}:thread:1").run(), 10)


if __name__ == "__main__":
    unittest.main()

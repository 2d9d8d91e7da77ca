# SPDX-License-Identifier: GPL-2.0-or-later
"""Test controllers that are reset under load: no command is lost or times out."""

import json
import unittest
from typing import Any, ClassVar

from support import HERE, SMALL, GuestTest

COUNT = 2
# Each method ends with this status. Linux waits for a link to come up, which QEMU's root port does not show, and
# reports that the reset of the bus failed. The bus has been reset nevertheless.
METHODS = {"nvme0:controller": "0", "nvme0:flr": "0", "nvme1:bus": "1"}


def qemu_args(*words: Any) -> list[str]:
    """Return options of 'slate run'."""
    return [f"--qemu-arg={word}" for word in words]


class Resets(GuestTest):
    """nvme1 is behind a root port, for resets of its secondary bus."""

    second: ClassVar = {"driver": "nand-ssd", "node-name": "ssd1", "profile": str(SMALL)}

    def arguments(self) -> list[str]:
        """Return the arguments of QEMU for nvme1."""
        return qemu_args(
            *("-blockdev", json.dumps(self.second), "-device", "pcie-root-port,id=root1,slot=1"),
            *("-device", "nvme,drive=ssd1,bus=root1"),
        )

    def resets(self, *args: Any) -> None:
        """All commands succeed after resets by every method, and the kernel logs nothing."""
        result = self.slate(
            *("--age", "1", "--kernel-arg", "nvme_core.io_timeout=3", "--cmd", HERE / "resets.sh"),
            *(word for arg in (str(COUNT), *METHODS) for word in ("--cmd-arg", arg)),
            *self.arguments(),
            *args,
        )
        done = [line.split() for line in result.text("resets.txt").splitlines()]
        wanted = [[*one.split(":"), METHODS[one], "0"] for one in METHODS for _ in range(COUNT)]
        self.assertEqual(done, wanted, result.text("said.txt"))
        self.assertEqual(result.text("kernel.txt"), "")

    def test_one_processor(self) -> None:
        self.resets("--kernel", "small")

    def test_two_processors(self) -> None:
        self.resets("--kernel", "debian", "--smp", "2")

    def test_four_processors(self) -> None:
        self.resets("--kernel", "debian", "--smp", "4")

    def slot_off(self, *args: Any) -> None:
        """The guest takes power from nvme1's slot while fio writes to it: fio fails, and nvme0 works."""
        result = self.slate(*("--kernel", "debian", "--cmd", HERE / "slot.sh"), *self.arguments(), *args)
        self.assertEqual(result.text("rc.txt"), "power 0\nfio 1\nthere 1\nnvme0 0\n")

    def test_slot_off_by_acpi(self) -> None:
        self.slot_off()

    def test_slot_off_by_pciehp(self) -> None:
        self.slot_off(*qemu_args("-global", "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off"))

    def test_there_is_no_reset_of_the_subsystem(self) -> None:
        """CAP.NSSRS is 0: the controller reports no reset of the subsystem."""
        result = self.slate("--cmd", HERE / "resets.sh", *("--cmd-arg", "1", "--cmd-arg", "nvme0:subsystem"))
        self.assertEqual(result.text("resets.txt"), "nvme0 subsystem 1 0\n")
        self.assertIn("NVM Subsystem Reset not supported", result.text("said.txt"))


if __name__ == "__main__":
    unittest.main()

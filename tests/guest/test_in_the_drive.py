# SPDX-License-Identifier: GPL-2.0-or-later
"""Test Verify, Write Uncorrectable and Copy by nvme-cli in a guest."""

import re

from support import HERE, GuestTest

WRITE_UNCORRECTABLE, VERIFY, COPY = 1, 7, 8  # bits of ONCS
FAIL = {"too-long", "lost", "lost-part", "lost-verify", "lost-copy"}
KIB64, UNIT = 65536, 4096


class Inside(GuestTest):
    """Data are compared in the guest; the drive counts what it did."""

    def test_commands(self) -> None:
        result = self.slate("--fill", "0", "--cmd", HERE / "inside.sh")
        steps = dict(line.split() for line in result.text("steps.txt").splitlines())
        self.assertEqual({name for name, status in steps.items() if status != "0"}, FAIL)
        self.assertEqual(len(steps), 17)
        for name, words in (
            ("lost", "Unrecovered Read Error|UNRECOVERED_READ|281"),
            ("lost-verify", "Unrecovered Read Error|UNRECOVERED_READ|281"),
            ("lost-copy", "Unrecovered Read Error|UNRECOVERED_READ|281"),
            ("lost-part", "Unrecovered Read Error|UNRECOVERED_READ|281"),
        ):
            self.assertRegex(result.text(f"{name}.txt"), f"(?i){words}")
        oncs = int(re.search(r"^oncs\s*: (0x[0-9a-f]+)", result.text("id-ctrl.txt"), re.M)[1], 16)
        for bit in (WRITE_UNCORRECTABLE, VERIFY, COPY):
            self.assertTrue(oncs >> bit & 1, f"oncs {oncs:#x}: bit {bit}")
        for field, value in (("mssrl", 1024), ("mcl", 1024), ("msrc", 127)):
            self.assertRegex(result.text("id-ns.txt"), rf"(?m)^{field}\s*: {value}$")
        self.assertRegex(result.text("smart.txt"), r"(?m)^media_errors\s*: 4$")
        op = result.device.total.op
        self.assertEqual([op[name].errors for name in ("read", "write", "trim", "flush")], [4, 0, 0, 0])
        # written, copied, made lost, the first range of the copy that failed, written again
        self.assertEqual(op["write"].bytes, KIB64 + KIB64 + UNIT + 512 + UNIT + KIB64)
        self.assertEqual(result.device.total.violations(), 0)

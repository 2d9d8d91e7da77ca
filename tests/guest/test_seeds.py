# SPDX-License-Identifier: GPL-2.0-or-later
"""--seed determines the addresses of fio's jobs."""

import unittest
from collections import Counter

from support import HERE, GuestTest

PASS = 256  # 4 KiB blocks of 1 MiB
READS, CLONES, OWN = 200, 2 * 100, 100


class Seeds(GuestTest):
    """Compare the addresses that the drive saw."""

    def addresses(self, seed: int) -> dict[str, list[int]]:
        """Return the offsets of each job's requests, in the drive's order; those of the ageing under 'age'."""
        recording = self.folder / f"seed{seed}.{self.runs}.txt"
        drive = ("--precondition", "device", "--fill", "100", "--age", "0.05")
        self.slate("--job", HERE / "seeds.fio", "--seed", str(seed), *drive, "--record", recording)
        rows = [line.split() for line in recording.read_text(encoding="utf-8").splitlines() if line[0] != "#"]
        ios = [(row[2], int(row[3])) for row in rows if row[2] in ("read", "write") and row[4] == "4096"]
        writes = [offset for op, offset in ios if op == "write"]
        jobs = writes[-3 * PASS - CLONES :]
        found = {"age": writes[: -3 * PASS - CLONES], "clones": jobs[:CLONES]}
        for number in range(3):
            found[f"pass {number}"] = jobs[CLONES + number * PASS :][:PASS]
        reads = [offset for op, offset in ios if op == "read"]
        return found | {"reads": reads[-OWN - READS : -OWN], "own": reads[-OWN:]}

    def test_addresses(self) -> None:
        one, two, again = self.addresses(1), self.addresses(2), self.addresses(1)
        self.assertEqual(one, again)
        self.assertEqual(one["own"], two["own"])  # its own seed
        for name in ("age", "clones", "pass 0", "reads"):
            self.assertTrue(one[name])
            self.assertNotEqual(one[name], two[name], name)
        for found in (one, two):
            # A clone or pass with the order of another would name each block as often.
            self.assertGreater(len(Counter(found["clones"])), CLONES * 9 // 10)
            self.assertEqual(len({tuple(found[f"pass {number}"]) for number in range(3)}), 3)
            self.assertNotEqual(found["age"][:100], found["pass 0"][:100])


if __name__ == "__main__":
    unittest.main()

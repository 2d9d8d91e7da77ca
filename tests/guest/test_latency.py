# SPDX-License-Identifier: GPL-2.0-or-later
"""The percentiles of a run agree with its I/Os, for the guest and for the drive."""

import math
import random
import unittest
from typing import Any

from support import GuestTest

from slate_lib import fiolog, rows
from slate_lib.account import PERCENTILES, bucket_floor, bucket_last

SEED = 18
JOBS = 7
SHARES = (10, 500, 900, *list(PERCENTILES)[1:], 1000)  # permille


def job_file() -> str:
    """Return a file of random jobs, one after another; the last one has enough I/Os for p99.99."""
    draw = random.Random(SEED)
    lines = ["[global]", "filename=/dev/nvme0n1", "direct=1", "randseed=1", "norandommap"]
    for number in range(JOBS + 1):
        engine = ("psync", "libaio", "io_uring")[number % 3]
        last = number == JOBS
        lines += [
            f"[j{number}]",
            "stonewall",
            f"ioengine={engine}",
            f"rw={('randread', 'randwrite', 'randrw', 'read', 'write', 'rw')[(number + number // 3) % 6]}",
            f"bs={4 if last else draw.choice((4, 4, 16, 64))}k",
            f"iodepth={1 if engine == 'psync' else draw.choice((1, 1, 4, 32))}",
            f"number_ios={10_500 if last else draw.randrange(100, 1500)}",
            f"write_lat_log=j{number}",
        ]
        if draw.random() < 0.3:
            lines.append("fsync=16")
    return "\n".join(lines) + "\n"


def nearest_rank(sorted_ns: list[int], permille: float) -> int:
    """Return the smallest value that this many of a thousand do not exceed."""
    return sorted_ns[max(math.ceil(round(len(sorted_ns) * permille / 1000, 6)), 1) - 1]


class Percentiles(GuestTest):
    """Compares the percentiles with fio's log of every latency."""

    kernel = "debian"

    def test_random_jobs(self) -> None:
        job = self.folder / "random.fio"
        job.write_text(job_file(), encoding="utf-8")
        result = self.slate("--job", job)
        fio = result.json("fio.json")
        found = rows.build(result.json("device.json"), fio)
        depth = {one["jobname"]: int(one["job options"]["iodepth"]) for one in fio["jobs"]}
        logs = {name: fiolog.read(result.folder / log) for name, log in fiolog.names(fio).items()}
        self.assertEqual(len(logs), JOBS + 1)
        compared = 0
        for row in found:
            self.assertTrue(row.guest and row.drive, f"{row.job} {row.op}")
            guest = [row.guest.percentile_ns(share) for share in SHARES]
            drive = [row.drive.percentile_ns(share) for share in SHARES]
            for side, most in ((guest, row.guest.max_ns), (drive, row.drive.latency_max_ns)):
                self.assertEqual(side, sorted(side), f"{row.job} {row.op}")
                self.assertEqual(side[-1], most, f"{row.job} {row.op}")
            if depth[row.job] == 1 and row.same_ios:
                compared += 1
                for share, ours, theirs in zip(SHARES, drive, guest):
                    self.assertLessEqual(ours, theirs, f"{row.job} {row.op}: {share} permille of drive and guest")
            if row.op != "flush":
                self.check_with_the_log(row, sorted(ns for _, ns in logs[row.job][row.op]), guest)
        self.assertGreaterEqual(compared, 3)

    def check_with_the_log(self, row: rows.Row, logged: Any, guest: Any) -> None:
        """Each percentile is the end of the bucket with the exact one, and the maximum is exact."""
        what = f"{row.job} {row.op}"
        self.assertEqual((len(logged), logged[-1]), (row.guest.ios, row.guest.max_ns), what)
        for share, shown in zip(SHARES, guest):
            exact = nearest_rank(logged, share)
            self.assertEqual(shown, min(bucket_last(bucket_floor(exact)), logged[-1]), f"{what}: {share} permille")
            self.assertLess(shown - exact, exact / 1024 + 1, what)


if __name__ == "__main__":
    unittest.main()

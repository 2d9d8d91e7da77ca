# SPDX-License-Identifier: GPL-2.0-or-later
"""Test slate-load in the guest: its requests, the drive's counters, and its output."""

import csv
import unittest
from collections.abc import Iterator
from typing import Any

from support import HERE, GuestTest

SECTOR = 512
# Each request of the trace is (us, op, offset, bytes). It has every operation that all formats have.
REQUESTS = [
    (0, "write", 8192, 4096),
    (150, "read", 8192, 4096),
    (300, "write", 1048576, 16384),
    (450, "read", 1052672, 512),
]
OPS = """# slate-trace 1
0 0 write 0 4096
0 0 write 4096 4096 fua
1000000 0 trim 1048576 1048576
2000000 0 flush
3000000 0 read 4096 4096
"""


def random_offsets(foot: int, size: int, count: int, seed: int = 1) -> Iterator[int]:
    """Return the offsets of gen:rand with read= (host-tools/trace/gen.c); every second number decides the operation."""
    mask = (1 << 64) - 1
    x = seed * 0x9E3779B97F4A7C15 & mask
    for i in range(2 * count):
        x ^= (x << 13) & mask
        x ^= x >> 7
        x ^= (x << 17) & mask
        if i % 2 == 0:
            yield x % (foot // size) * size


def trace_files() -> dict[str, Any]:
    """Return a trace file of each format, by name."""
    code = {"read": "R", "write": "W"}
    return {
        "native": "# slate-trace 1\n"
        + "".join(f"{us * 1000} 0 {op} {offset} {size}\n" for us, op, offset, size in REQUESTS),
        "msr": "".join(
            f"{128166372003061629 + us * 10},host,0,{op.title()},{offset},{size},100\n"
            for us, op, offset, size in REQUESTS
        ),
        "ssdsim": "".join(
            f"{us * 1000} 0 {offset // SECTOR} {size // SECTOR} {int(op == 'read')}\n"
            for us, op, offset, size in REQUESTS
        ),
        "blkparse": "".join(
            f"  8,16   0 {i:8}     0.{us * 1000:09} 100  Q   {code[op]} {offset // SECTOR} + {size // SECTOR} [x]\n"
            for i, (us, op, offset, size) in enumerate(REQUESTS, 1)
        ),
        "fio": "fio version 3 iolog\n0 /dev/x add\n0 /dev/x open\n"
        + "".join(f"{us} /dev/x {op} {offset} {size}\n" for us, op, offset, size in REQUESTS)
        + "900 /dev/x close\n",
    }


class Load(GuestTest):
    """Boot once with all runs; the tests check their results."""

    def boot(self) -> None:
        files = trace_files() | {
            "ops": OPS,
            "beyond": "# slate-trace 1\n" + "".join(f"0 0 read {(255 << 20) + i * 131072} 4096\n" for i in range(10)),
        }
        script = self.folder / "run.sh"
        writes = "".join(f"cat >/job/{name} <<'END'\n{text}END\n" for name, text in files.items())
        script.write_text(writes + (HERE / "load.sh").read_text(encoding="utf-8"), encoding="utf-8")
        self.result = self.slate("--cmd", script)
        self.assert_clean(self.result.device)

    def found(self, name: str) -> Any:
        return self.result.json(f"{name}.json")

    def rows(self, name: str) -> list[dict[str, str]]:
        with open(self.result.folder / f"{name}.csv", encoding="utf-8") as lines:
            return list(csv.DictReader(lines))

    def offsets(self, name: str) -> list[int]:
        return [int(row["offset"]) for row in self.rows(name)]

    def said(self, name: str, *words: Any) -> None:
        text = self.result.text(f"{name}.err")
        for word in words:
            self.assertIn(word, text, name)

    def test_all(self) -> None:
        self.boot()
        for check in (
            self.check_reads,
            self.check_formats,
            self.check_content,
            self.check_ops,
            self.check_rates,
            self.check_refusals,
        ):
            with self.subTest(check.__name__):
                check()

    def check_reads(self) -> None:
        """At queue depth 1 the drive's latency follows from the profile, and the kernel adds its own time."""
        wanted = list(random_offsets(128 << 20, 4096, 1000))
        for name, engine in (("block", "io_uring"), ("passthrough", "nvme-passthrough")):
            found, rows = self.found(name), self.rows(name)
            drive = self.result.device.job(name).account.op["read"]
            self.assertEqual(found["engine"], engine)
            self.assertEqual(self.offsets(name), wanted)
            self.assertEqual({(row["op"], row["status"], row["late_ns"]) for row in rows}, {("read", "0", "0")})
            self.assertEqual((drive.ios, drive.bytes), (1000, 4096000))
            latencies = [int(row["latency_ns"]) for row in rows]
            self.assertEqual(sum(latencies), found["ops"]["read"]["latency_sum_ns"])
            told = found["ops"]["read"]
            self.assertEqual((min(latencies), max(latencies)), (told["min_ns"], told["max_ns"]))
            self.assertEqual(drive.latency_sum_ns, 1000 * drive.latency_max_ns, "each takes the profile's arithmetic")
            self.assertGreater(min(latencies), drive.latency_max_ns)
            self.assertEqual(found["fixed_commands"], 1000)
            # one request at a time: each begins after the one before has ended
            begins = [int(row["submit_ns"]) for row in rows]
            for i in range(999):
                self.assertGreaterEqual(begins[i + 1], begins[i] + latencies[i])
        self.assertEqual(self.offsets("twice"), wanted)

    def check_formats(self) -> None:
        for name in (*trace_files(), "gz"):
            rows = [(row["op"], int(row["offset"]), int(row["bytes"])) for row in self.rows(f"format-{name}")]
            self.assertEqual(rows, [request[1:] for request in REQUESTS], name)

    def check_content(self) -> None:
        for name in ("content", "made"):
            sums = self.result.text(f"{name}.sums").split()[::2]
            self.assertEqual(len(sums), 2)
            self.assertEqual(sums[0], sums[1], f"{name}: the same bytes by both paths")
        self.assertNotEqual(self.result.text("content.sums"), self.result.text("made.sums"))

    def check_ops(self) -> None:
        # Linux splits a punched hole into Write Zeroes of 512 KiB
        for name, mark, trims in (("ops-block", "ops", 2), ("ops-nvme", "ops-nvme", 1)):
            ops = {op: found["requests"] for op, found in self.found(name)["ops"].items()}
            self.assertEqual(ops, {"read": 1, "write": 2, "trim": 1, "flush": 1})
            account = self.result.device.job(mark).account
            self.assertEqual((account.op["write"].ios, account.op["write"].bytes), (2, 8192))
            self.assertEqual((account.op["trim"].ios, account.op["trim"].bytes), (trims, 1 << 20))
            self.assertEqual((account.op["read"].ios, account.op["flush"].ios), (1, 1))
            self.assertEqual(account.ftl["fua-writes"], 1)
        account = self.result.device.job("long").account
        found = self.found("long")
        self.assertEqual((found["requests"], found["ops"]["write"]["bytes"]), (8, 8 << 20))
        self.assertEqual(account.op["write"].bytes, 8 << 20)
        # 1 MiB a request, and at most 126 pages of 4 KiB a command: 504 + 504 + 16 KiB
        self.assertEqual(account.op["write"].ios, 24)

    def check_rates(self) -> None:
        for name, gap in (("kept", 200_000), ("faster", 200_000)):
            found = self.found(name)
            self.assertFalse(found["late"]["fell_short"])
            self.assertEqual(found["late"]["last_due_ns"], 199 * gap)
            for i, row in enumerate(self.rows(name)):
                self.assertEqual(int(row["submit_ns"]) - int(row["late_ns"]), i * gap, f"{name}: request {i} was due")
                self.assertLess(int(row["late_ns"]), 20_000, f"{name}: request {i}")
        short = self.found("short")
        self.assertTrue(short["late"]["fell_short"])
        self.assertEqual((short["requests"], short["deepest"]), (400, 4))
        self.said("short", "FELL SHORT", "asks for 100251 requests/s", "--speed")
        self.assertFalse(self.found("loose")["late"]["fell_short"])
        again = self.found("again")
        self.assertEqual((again["requests"], again["trace"]["folded"]), (25, 4))

    def check_refusals(self) -> None:
        self.said("writes", "it writes", "--write")
        self.said("beyond", "line 10", "--fold", "268435456")
        self.said("large", "a request of 8192 bytes", "--max-request")
        self.said("ring", "--max-request")
        self.said("mounted", "/dev/nvme0n1", "in use", "unmount")
        self.said("mounted-ng", "/dev/nvme0n1", "in use", "unmount")
        self.said("full", "/dev/full", "No space left")
        self.said("stopped", "interrupted")
        stopped = self.found("stopped")
        self.assertEqual(stopped["requests"], stopped["ops"]["read"]["requests"])
        self.assertGreater(stopped["requests"], 100)

    def test_from_the_launcher(self) -> None:
        """slate run --load prints the summary, and the same again byte for byte."""
        trace = self.folder / "some.trace"
        trace.write_text(OPS, encoding="utf-8")
        words = [f"--load={trace}", "--load-arg=--write", "--load-arg=--passthrough", "--load-arg=--log=/run/out/log"]
        first, second = self.slate(*words), self.slate(*words)
        self.assertEqual(first.json("app.json")["parameters"]["engine"], "nvme-passthrough")
        self.assertEqual([part["operations"] for part in first.json("app.json")["parts"]], [1, 2, 1, 1])
        self.assertIn("slate-load some.trace on small.ini", first.out)
        for name in ("load.json", "log", "device.json"):
            self.assertEqual((first.folder / name).read_bytes(), (second.folder / name).read_bytes(), name)
        short = ["--load", "gen:rand4k,foot=1M,n=500,read=1000,gap=1000", "--load-arg=--open"]
        result = self.slate(*short, code=1)
        self.assertIn("FELL SHORT", result.err)
        self.assertIn("read ", result.out)


if __name__ == "__main__":
    unittest.main()

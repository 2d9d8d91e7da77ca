# SPDX-License-Identifier: GPL-2.0-or-later
"""Test IPPBE's response times with what SSDSim does besides: traces, drives, arithmetic, stored tables."""

import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import support

from reproduce.papers import claims
from reproduce.real import validate
from reproduce.studies import responses
from reproduce.studies.responses import GAP_NS, PAUSE_NS, Choice, Source
from reproduce.traces import realtrace


def result(op: str, ios: int, total_ms: float, gc_ms: float, host_ms: float) -> dict[str, Any]:
    """Return a result with this many requests and these sums."""
    where = {"gc_queue": gc_ms * 1e6, "host_queue": host_ms * 1e6}
    return {"host": {op: {"ios": ios, "latency": {"sum_ns": total_ms * 1e6}, "where_ns": where}}, "gc": {"calls": 3}}


class Traces(unittest.TestCase):
    """Test folding, and the writes that come before a trace."""

    def test_folded_as_the_replay_does(self) -> None:
        """A request that fits stays; another is taken modulo the capacity, and moved down if it crosses the end."""
        found = responses.folded([(5, "read", 0, 100), (6, "read", 950, 100), (7, "write", 2300, 100)], 1000)
        self.assertEqual(found, [(5, "read", 0, 100), (6, "read", 900, 100), (7, "write", 300, 100)])

    def test_prewritten(self) -> None:
        """Each page that is read is written once, in the order of first reads; a run ends where one is known."""
        reads = [(1, "read", 3 * 2048, 2 * 2048), (2, "write", 0, 4096), (3, "read", 2 * 2048 + 5, 3 * 2048)]
        found, before = responses.prewritten(reads)
        self.assertEqual(before, 3)
        begin = 3 * GAP_NS + PAUSE_NS
        self.assertEqual(
            found,
            [
                (0, "write", 3 * 2048, 2 * 2048),  # pages 3 and 4
                (GAP_NS, "write", 2 * 2048, 2048), (2 * GAP_NS, "write", 5 * 2048, 2048),  # 2 and 5 of 2 to 5
                *((begin + t, op, at, n) for t, op, at, n in reads),
            ],
        )  # fmt: skip

    def test_a_run_has_64_pages_at_most(self) -> None:
        found, before = responses.prewritten([(0, "read", 0, 130 * 2048)])
        self.assertEqual(before, 3)
        self.assertEqual([(at // 2048, n // 2048) for _, _, at, n in found[:3]], [(0, 64), (64, 64), (128, 2)])

    def test_no_reads(self) -> None:
        self.assertEqual(responses.prewritten([(4, "write", 0, 512)]), ([(PAUSE_NS + 4, "write", 0, 512)], 0))

    def test_text(self) -> None:
        requests = [(4, "write", 0, 512), (9, "read", 512, 1024)]
        self.assertEqual(validate.of_text(validate.to_text(requests)), requests)


class Drives(unittest.TestCase):
    """Test the options of slate-replay."""

    def test_capacity(self) -> None:
        """256 MiB of flash with 25 % over-provisioning, in whole pages."""
        self.assertEqual(responses.capacity_of(8), 104857 * 2048)

    def test_options(self) -> None:
        plain = responses.drive(8, "greedy", responses.PLAIN)
        for word in ("geometry.blocks_per_plane=256", "ftl.parallel_erase=no", "ftl.gc_slice_pages=1", "--fold"):
            self.assertIn(word, plain)
        ippbe = responses.drive(32, "ippbe", Choice("x", "drive", sets=("ftl.read_priority=no",)))
        for word in ("geometry.blocks_per_plane=64", "ftl.parallel_erase=yes", "ftl.gc_slice_pages=4",
                     "ftl.read_priority=no"):  # fmt: skip
            self.assertIn(word, ippbe)
        self.assertIn("ftl.second_victim_pages=32", ippbe)
        self.assertIn("ftl.second_victim_pages=64", responses.drive(32, "ippbe", Choice("x", pair=64)))
        none = responses.drive(8, "greedy", responses.without(responses.PLAIN))
        self.assertIn("geometry.blocks_per_plane=8192", none)
        self.assertIn("ftl.capacity_mib=205", none)

    def test_program(self) -> None:
        """Only GC that holds more than its die needs the patched program; a warm-up is as long as what comes before."""
        one = Source("t", 8, (b"plain", b"before"), 7)
        calls = []

        def replay(text: bytes, options: validate.Line, program: Path) -> dict[str, Any]:
            calls.append((text, options[-2:] == ("--warmup", "7"), program))
            return result("read", 1, 1, 0, 0)

        built = mock.patch("reproduce.real.patched.built", lambda _: Path("patched"))
        with mock.patch.object(validate, "replay", replay), built:
            for choice in (responses.PLAIN, responses.CHOICES[1], responses.CHOICES[5]):
                responses.run(one, "greedy", choice, "device")
            with self.assertRaisesRegex(realtrace.TraceError, "t: the drive for 'no GC at all' is too small: GC ran"):
                responses.run(one, "greedy", responses.without(responses.PLAIN), "device")
        self.assertEqual(
            calls[:3],
            [
                (b"plain", False, validate.REPLAY), (b"plain", False, Path("patched")),
                (b"before", True, Path("patched")),
            ],
        )


class Arithmetic(unittest.TestCase):
    """Test the rows, computed by hand."""

    def test_sums(self) -> None:
        found = responses.sums(result("read", 4, 20.0, 2.0, 10.0), "read")
        self.assertEqual(found, {"response": 5.0, "GC": 0.5, "requests": 2.5, "itself": 2.0})

    def test_gains(self) -> None:
        """IPPBE: 8 and 6 ms after 10; without GC 4 and 2. The average has the published number, the bound has none."""
        of = {("a", "greedy"): 10.0, ("a", "ippbe"): 8.0, ("b", "greedy"): 10.0, ("b", "ippbe"): 6.0}
        bound = {"a": 4.0, "b": 2.0}

        def run(one: Source, scheme: str, choice: Choice, _: str) -> dict[str, Any]:
            return result("write", 1, of[one.name, scheme] if choice.holds else bound[one.name], 0, 0)

        some = [Source(name, 8, (b"", b""), 0) for name in "ab"]
        with mock.patch.object(responses, "run", run):
            rows = responses.gains(some, (responses.PLAIN, Choice("64", pair=64)), "device", "write")
        self.assertEqual(
            [(row.trace, row.what, row.ours, row.paper) for row in rows],
            [
                ("a", "GC holds its die", -20.0, None), ("b", "GC holds its die", -40.0, None),
                ("average", "GC holds its die", -30.0, -14.8), ("a", "GC holds its die: no GC at all", -60.0, None),
                ("b", "GC holds its die: no GC at all", -80.0, None),
                ("average", "GC holds its die: no GC at all", -70.0, None),
                ("a", "64", -20.0, None), ("b", "64", -40.0, None), ("average", "64", -30.0, -14.8),
            ],
        )  # fmt: skip


class Stored(unittest.TestCase):
    """Test what the page says of the stored tables."""

    tables = claims.stored(support.ROOT / "docs/results")

    def ours(self, table: str, trace: str, what: str, accounting: str = "ssdsim") -> float:
        cell = self.tables.find([f"ippbe-responses/{table}", trace, what, accounting])
        assert cell
        return cell.ours

    def test_same_as_the_studies(self) -> None:
        """GC that holds its die is the study ippbe-choices; of web_3 the audited run."""
        for op in responses.OPS:
            there = self.tables.find([f"ippbe-choices/order-{op}", "average", "reads overtake", "ssdsim"])
            assert there
            self.assertEqual(self.ours(f"standins-{op}", "average", responses.PLAIN.name), there.ours)
        self.assertEqual(self.ours("web3-write", responses.WEB, responses.PLAIN.name, "device"), -7.053)

    def test_web_3_cannot_reach_the_published_reads(self) -> None:
        """Even without GC its reads gain less than the published average, unless they also wait for writes."""
        for accounting in ("device", "ssdsim"):
            for choice in responses.CHOICES[:6]:
                what = f"{choice.name}: no GC at all"
                self.assertGreater(self.ours("web3-read", responses.WEB, what, accounting), -10.5)

    def test_gc_before_all_requests(self) -> None:
        """With GC that holds the drive both averages are nearer to the published ones, writes at 4/5 of it or more."""
        for op, least in (("write", 0.8), ("read", 0.5)):
            table = f"standins-{op}"
            plain, drive = (self.ours(table, "average", f"GC holds {what}") for what in ("its die", "the drive"))
            self.assertLess(drive, plain)
            self.assertGreater(drive / responses.PAPER[op], least)


if __name__ == "__main__":
    unittest.main()

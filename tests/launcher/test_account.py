# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the drive's figures: sums, percentiles, jobs."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

from support import ROOT, account, busy, device, mark, op

from slate_lib import jobcheck
from slate_lib.account import (
    Account,
    Device,
    OpAccount,
    bucket_floor,
    bucket_last,
    label_of,
    points_ns,
    raf,
    raf_parts,
    waf,
)


class Buckets(unittest.TestCase):
    """Test the histogram of hist.h, and the one of older drives."""

    def test_exact_below_2048(self) -> None:
        self.assertEqual([bucket_last(v) for v in (0, 1, 1023, 1024, 2047)], [0, 1, 1023, 1024, 2047])
        self.assertEqual([bucket_floor(v) for v in (0, 1, 1023, 1024, 2047)], [0, 1, 1023, 1024, 2047])

    def test_a_bucket_ends_before_the_next(self) -> None:
        self.assertEqual([bucket_last(v) for v in (2048, 2050)], [2049, 2051])
        self.assertEqual(bucket_last(65536), 65536 + 64 - 1)
        self.assertEqual([bucket_floor(v) for v in (65536, 65599, 65600)], [65536, 65536, 65600])

    def test_16_an_octave(self) -> None:
        self.assertEqual([bucket_last(v, 16) for v in (0, 15, 16, 31, 32)], [0, 15, 16, 31, 33])
        self.assertEqual(bucket_last(65536, 16), 65536 + 4096 - 1)
        self.assertEqual(bucket_last(126976, 16), 131071)


class Percentiles(unittest.TestCase):
    """A percentile is the end of the nearest rank's bucket, at most the maximum."""

    def one(self, latencies: list[int]) -> OpAccount:
        return Account([account(read=op(latencies))]).op["read"]

    def test_nothing(self) -> None:
        self.assertIsNone(self.one([]).percentile_ns(500))
        self.assertIsNone(self.one([]).mean_ns())

    def test_ranks(self) -> None:
        some = self.one(list(range(1, 11)))
        self.assertEqual(
            [some.percentile_ns(p) for p in (0, 100, 500, 510, 990, 999, 1000)], [1, 1, 5, 6, 10, 10, 10]
        )

    def test_999_of_1000(self) -> None:
        some = self.one([1] * 999 + [9])
        self.assertEqual(some.percentile_ns(999), 1)
        self.assertEqual(some.percentile_ns(1000), 9)

    def test_capped_by_the_maximum(self) -> None:
        self.assertEqual(self.one([65536]).percentile_ns(990), 65536)

    def test_bucket_end_below_the_maximum(self) -> None:
        self.assertEqual(self.one([65536, 131072]).percentile_ns(500), 69631)


    def test_three_digits(self) -> None:
        raw = op([65536, 131072]) | {"sub-buckets": 1024}
        self.assertEqual(Account([account(read=raw)]).op["read"].percentile_ns(500), 65599)

    def test_the_last_9999th_needs_enough(self) -> None:
        self.assertEqual(points_ns(self.one([1] * 9998 + [9])), [1, 1, 1, None])
        self.assertEqual(points_ns(self.one([1] * 9999 + [9])), [1, 1, 1, 1])


class Sums(unittest.TestCase):
    """Counters of intervals add up, and maxima do not."""

    def test_ops(self) -> None:
        both = Account(
            [account(read=op([5, 7], cell=10, bus=2)), account(read=op([7, 9], cell=11, gc_queue=5))]
        )
        read = both.op["read"]
        self.assertEqual((read.ios, read.bytes, read.latency_sum_ns, read.latency_max_ns), (4, 16384, 28, 9))
        self.assertEqual((read.parts_ns["cell"], read.parts_ns["bus"], read.parts_ns["gc-queue"]), (21, 2, 5))
        self.assertEqual(read.histogram, {5: 1, 7: 2, 9: 1})

    def test_sources_as_list_or_map(self) -> None:
        as_map = account(nand={"by-source": {"host": {"reads": 3}, "gc": {"reads": 1}}})
        as_list = account(nand={"by-source": [{"source": "host", "reads": 3}, {"source": "gc", "reads": 1}]})
        both = Account([as_map, as_list])
        self.assertEqual(both.sources, {"host": {"reads": 6}, "gc": {"reads": 2}})
        self.assertEqual(both.nand_total("reads"), 8)

    def test_violations_and_maxima(self) -> None:
        both = Account(
            [
                account(nand={"violations": [0, 1, 2], "erase-count-max": 3, "uncorrectable": 1}),
                account(nand={"violations": [0, 1, 0], "erase-count-max": 2, "uncorrectable": 1}),
            ]
        )
        self.assertEqual(both.violations(), 4)
        self.assertEqual(both.nand["uncorrectable"], 2)

    def test_levels_are_the_last_ones(self) -> None:
        levels = {"programmed-pages": 9, "erase-count-max": 3, "erase-count-sum": 20, "page-erases": 160}
        both = Account([account(nand=dict.fromkeys(levels, 1)), account(nand=levels)])
        self.assertEqual({key: both.nand[key] for key in levels}, levels)

    def test_raf(self) -> None:
        some = Account([account(read=op([1] * 4), nand={"read-bytes": 4 * 18432})])
        self.assertEqual(raf(some), 4.5)
        self.assertIsNone(raf(Account([account(nand={"read-bytes": 5})])))
        self.assertIsNone(raf(Account([account(read=op([1]))])))

    def test_raf_by_cause(self) -> None:
        """The drive reads 2 KiB twice in whole pages, and a base of one word; GC reads a page."""
        sources = {"host": {"user-read-bytes": 2 * 16384 + 2048}, "gc": {"user-read-bytes": 16384}}
        some = Account(
            [account(read=op([1] * 2, 2048), ftl={"merge-read-bytes": 2048}, nand={"by-source": sources})]
        )
        self.assertEqual(raf_parts(some), {"host": 8.0, "merge": 0.5, "gc": 4.0})
        self.assertEqual(raf_parts(Account([account(read=op([1]))])), {})
        self.assertEqual(raf_parts(Account([account(nand={"by-source": sources})])), {})

    def test_energy(self) -> None:
        sources = {"host": {"read-nj": 5, "program-nj": 70}, "gc": {"erase-nj": 900, "copyback-nj": 1000}}
        some = Account([account(nand={"by-source": sources})] * 2)
        self.assertEqual(some.energy_nj(), 2 * 1975)
        self.assertEqual((some.energy_nj(("gc",)), some.energy_nj(("wl",))), (3800, 0))
        self.assertEqual(some.energy_nj(ops=("read", "erase")), 1810)

    def test_waf(self) -> None:
        some = Account(
            [
                account(
                    write=op([1] * 100),
                    ftl={"host-units": 90, "gc-units": 50, "pad-units": 6, "meta-units": 4},
                )
            ]
        )
        parts = waf(some, 4096)
        self.assertAlmostEqual(parts["total"], 1.5)
        self.assertAlmostEqual(parts["host"], 0.9)
        self.assertIsNone(waf(Account([account()]), 4096))

    def test_waf_of_packed_pages(self) -> None:
        """DAC: 112 units in 52 pages, of which GC copied 16 units into 4."""
        ftl = {"host-units": 96, "gc-units": 16, "host-pages": 48, "gc-pages": 4}
        some = account(write=op([1] * 128), ftl=ftl)
        for kind, expected in (("dac", (0.375, 0.03125, 0.40625)), ("page", (0.75, 0.125, 0.875))):
            parts = Device({**device(some), "settings": [f"ftl.type={kind}"]}).waf()
            self.assertEqual((parts["host"], parts["gc"], parts["total"]), expected, kind)

    def test_units_end_whose_page_began_earlier(self) -> None:
        """DAC: a page counts when its program begins, its units when it ends. The window has only the end."""
        some = account(write=op([1] * 100), ftl={"host-units": 3, "host-pages": 0})
        parts = Device({**device(some), "settings": ["ftl.type=dac"]}).waf()
        self.assertEqual((parts["host"], parts["total"]), (0, 0))


class Jobs(unittest.TestCase):
    """Convert marks to accounts of jobs."""

    def intervals(self, *marks: Any) -> Device:
        return Device(device(account(), list(marks)))

    def test_between_begin_and_end(self) -> None:
        dev = self.intervals(
            mark("begin", "a", 10, account(read=op([1]))),
            mark("end", "a", 20, account(read=op([2, 3]))),
            mark("begin", "b", 30, account(read=op([4]))),
            mark("end", "b", 40, account(read=op([5]))),
        )
        job = dev.job("a")
        self.assertEqual((job.begin_ns, job.end_ns, job.account.op["read"].ios, job.shared), (10, 20, 2, []))
        self.assertEqual(dev.job("b").account.op["read"].latency_sum_ns, 5)

    def test_points_inside_count(self) -> None:
        dev = self.intervals(
            mark("begin", "a", 1),
            mark("point", "x", 2, account(read=op([1]))),
            mark("end", "a", 3, account(read=op([2]))),
        )
        self.assertEqual(dev.job("a").account.op["read"].ios, 2)
        self.assertEqual(dev.job("a").shared, [])

    def test_clones_from_first_begin_to_last_end(self) -> None:
        dev = self.intervals(
            mark("begin", "a", 1),
            mark("begin", "a", 2, account(read=op([1]))),
            mark("end", "a", 3, account(read=op([2]))),
            mark("end", "a", 4, account(read=op([3]))),
        )
        self.assertEqual(dev.job("a").account.op["read"].latency_sum_ns, 6)
        self.assertEqual(dev.job("a").shared, [])

    def test_others_that_ran_beside(self) -> None:
        dev = self.intervals(
            mark("begin", "a", 1),
            mark("begin", "b", 2),
            mark("end", "a", 3),
            mark("end", "b", 4),
            mark("begin", "c", 5),
            mark("end", "c", 6),
        )
        self.assertEqual(dev.job("a").shared, ["b"])
        self.assertEqual(dev.job("b").shared, ["a"])
        self.assertEqual(dev.job("c").shared, [])

    def test_one_around_another(self) -> None:
        dev = self.intervals(
            mark("begin", "a", 1), mark("begin", "b", 2), mark("end", "b", 3), mark("end", "a", 4)
        )
        self.assertEqual(dev.job("b").shared, ["a"])

    def test_no_end(self) -> None:
        self.assertIsNone(self.intervals(mark("begin", "a", 1)).job("a"))
        self.assertIsNone(self.intervals().job("a"))

    def test_labels(self) -> None:
        self.assertEqual(label_of("sixteen-letters."), "sixteen-letters.")
        # 97 * 65599 + 32 = 6,363,135, * 65599 + 98 = 417,415,292,963, - 24,879 * 16,777,213 = 15,010,736
        self.assertEqual(label_of("a b"), "a_b~e50bb0")

    def test_the_guest_makes_the_same_labels(self) -> None:
        """Long names that begin alike have different ones; an old result has the name's first 16 characters."""
        names = ["short", "sixteen-letters.", "sequential-write-1M", "sequential-write-4k", "a b", "a_b", "größe",
                 "x]y", "a~b", "name with $(dollar) and 'quote'", jobcheck.NO_NAME]
        labels = [label_of(name) for name in names]
        self.assertEqual(len(set(labels)), len(names))
        self.assertEqual({name for name in names if label_of(name) == name}, {"short", "sixteen-letters.", "a_b"})
        script = (ROOT / "host-tools" / "guest" / "run-fio.sh").read_text(encoding="utf-8")
        function = script[script.index("add_options()") : script.index("\n}\n", script.index("add_options()")) + 3]
        with tempfile.TemporaryDirectory() as folder:
            job, out = Path(folder) / "in", Path(folder) / "out"
            heads = [name if name != jobcheck.NO_NAME else "" for name in names]
            text = "".join(f"[{name}] ; note\nrw=read\n" for name in heads)
            text += "[globals]\nbs=4k\n[old]\nname=a new name\n[older]\nname= ; none\n"
            job.write_text(jobcheck.for_guest(text), encoding="utf-8")
            subprocess.run(["sh", "-c", f"{function}\nadd_options {job} {out}"], check=True)
            made = out.read_text(encoding="utf-8")
        told = re.findall("^exec_prerun=(slate-mark begin (.*) [$]{SLATE_COMMENT})$", made, re.MULTILINE)
        self.assertEqual([label for _, label in told], [*labels, label_of("a new name"), labels[-1]])
        self.assertIn("SLATE_COMMENT='#' fio ", script)
        more = ["job(r_idx=1,w_bw=0)", "`a` <b> | c & d"]
        for name, (command, label) in zip([*heads, *more], [*told, told[0], told[1]]):
            # as fio: it strips comments, then replaces variables, and then appends where the output goes
            words = jobcheck.bare(command).replace("${SLATE_COMMENT}", "#")
            words = words.replace("slate-mark", "echo", 1)
            done = subprocess.run(["sh", "-c", f"{words} > {name}.prerun.txt 2>&1"], stdout=subprocess.PIPE, text=True,
                                  check=True)  # fmt: skip
            self.assertEqual(done.stdout, f"begin {label}\n", name)
        dev = self.intervals(
            mark("begin", "a-very-long-name", 1), mark("end", "a-very-long-name", 2, account(read=op([1])))
        )
        self.assertEqual(dev.job("a-very-long-name-indeed").account.op["read"].ios, 1)

    def test_geometry(self) -> None:
        dev = self.intervals()
        self.assertEqual((dev.dies(), dev.blocks(), dev.pages(), dev.unit_bytes), (4, 40, 320, 4096))

    def test_erases_per_page(self) -> None:
        # half of 320 pages erased once, half three times
        dev = Device(device(account(nand={"page-erases": 160 * 4, "page-erases-sq": 160 * 10})))
        self.assertEqual(dev.erases_per_page(), (2.0, 1.0))
        self.assertIsNone(self.intervals().erases_per_page())

    def test_busy(self) -> None:
        dies = [busy(host=100, gc=50), busy(host=300), busy(), busy(gc=50)]
        some = Device(device(account(), dies=dies) | {"at-ns": 1000}).busy("dies")
        self.assertEqual((some.mean, some.busiest), (0.125, 0.3))
        self.assertEqual({k: v for k, v in some.by_source.items() if v}, {"host": 0.1, "gc": 0.025})
        self.assertIsNone(self.intervals().busy("dies"))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Test where generated requests go, against the distributions of skew.h. Seeds are fixed, so each figure is exact."""

import unittest
from collections import Counter
from math import sqrt

from support import CORE, TINY, Case

Row = tuple[str, int, int]  # operation, offset, bytes


def place_of(rank: int, places: int) -> int:
    """Return the place of a Zipf rank (1 is the most frequent one), as skew.c spreads them."""
    bits = max(1, (places - 1).bit_length())
    at = rank - 1
    while True:
        for _ in range(2):
            at = (at * 0x9E3779B97F4A7C15 + 0x7F4A7C15) % 2**bits
            at ^= at >> (bits + 1) // 2
        if at < places:
            return at


def far_off(counts: list[int], shares: list[float]) -> float:
    """Return by how many standard deviations chi-square is above its mean. Cells of fewer than five are merged."""
    total, square, cells, seen, wanted = sum(counts), 0.0, 0, 0, 0.0
    for count, share in zip(counts, shares):
        seen += count
        wanted += total * share
        if wanted >= 5:
            square += (seen - wanted) ** 2 / wanted
            cells += 1
            seen, wanted = 0, 0.0
    return (square - (cells - 1)) / sqrt(2 * (cells - 1))


class Generators(Case):
    """Read what slate-trace writes of a generator."""

    def generated(self, spec: str) -> list[Row]:
        said = self.call("convert", f"gen:{spec}", "-", program=CORE / "slate-trace").stdout
        lines = [line.split() for line in said.splitlines()[1:]]
        return [(op, int(offset), int(size)) for _, _, op, offset, size in lines]

    def places(self, spec: str) -> Counter[int]:
        """Return how many requests of 4 KiB begin at each."""
        return Counter(offset // 4096 for _, offset, _ in self.generated(spec))

    def test_zipf(self) -> None:
        """The place of rank r has a probability in proportion to r^-theta."""
        for theta, places, more in (("0.99", 1000, ""), ("0.5", 1000, ""), ("1.2", 5000, ""), ("3", 50, ",seed=7")):
            with self.subTest(theta=theta):
                found = self.places(f"zipf4k,theta={theta},foot={4 * places}KiB,n=200000{more}")
                weights = [rank ** -float(theta) for rank in range(1, places + 1)]
                order = [place_of(rank, places) for rank in range(1, places + 1)]
                self.assertEqual(sorted(order), list(range(places)))
                counts = [found[place] for place in order]
                self.assertEqual(sum(counts), 200000)
                self.assertLess(far_off(counts, [one / sum(weights) for one in weights]), 4)

    def test_zipf_by_default(self) -> None:
        """Theta is 0.99, as in YCSB; another seed has the same hot places and other requests."""
        first = self.generated("zipf4k,foot=4MiB,n=2000")
        self.assertEqual(first, self.generated("zipf4k,theta=0.99,foot=4MiB,n=2000"))
        other = self.places("zipf4k,foot=4MiB,n=2000,seed=2")
        self.assertEqual(other.most_common(1)[0][0], place_of(1, 1024))
        self.assertNotEqual(first, self.generated("zipf4k,foot=4MiB,n=2000,seed=2"))

    def test_huge_and_tiny_footprints(self) -> None:
        """Every place is in the footprint, up to 2^62 bytes."""
        for foot, n in (("4k", 3), ("8k", 50), ("36k", 500), ("4194303T", 500)):
            for _, offset, size in self.generated(f"zipf512,theta=0.2,foot={foot},n={n}"):
                self.assertLessEqual(offset + size, 4194303 << 40 if foot[-1] == "T" else int(foot[:-1]) << 10)

    def test_hot(self) -> None:
        """Of 1000 places, the first 200 get 80 of 100 requests; within both parts all are equally likely."""
        found = self.places("rand4k,hot=20:80,foot=4000KiB,n=200000")
        counts = [found[place] for place in range(1000)]
        self.assertLess(far_off(counts, [0.8 / 200] * 200 + [0.2 / 800] * 800), 4)
        hot = sum(counts[:200])
        self.assertLess(abs(hot - 160000), 4 * sqrt(200000 * 0.8 * 0.2))

    def test_sizes(self) -> None:
        """Sizes come by their weights; each request begins at a multiple of its size and ends in the footprint."""
        for kind in ("rand", "zipf"):
            rows = self.generated(f"{kind}4k:3+64k:1+512:2,foot=4200KiB,n=60000")
            found = Counter(size for _, _, size in rows)
            counts = [found[4096], found[65536], found[512]]
            self.assertEqual(sum(counts), 60000)
            self.assertLess(far_off(counts, [3 / 6, 1 / 6, 2 / 6]), 4)
            self.assertEqual([1 for _, offset, size in rows if offset % size or offset + size > 4200 << 10], [])
        large = Counter(offset // 65536 for _, offset, size in rows if size == 65536)
        self.assertEqual(len(large), 4200 // 64)

    def test_refusals(self) -> None:
        for spec, word in (
            ("", "randSIZE"),
            ("walk4k,foot=1M", "randSIZE"),
            ("rand4k,n=1", "foot"),
            ("rand4k,foot=1M", "n=N"),
            ("rand4k,foot=1M,n=1,x=1", "'x'"),
            ("rand4k,foot=1M,n=1,read=1001", "'read'"),
            ("rand4k,foot=1Q,n=1", "'foot'"),
            ("rand100,foot=1M,n=1", "whole sectors"),
            ("rand4k,foot=1M,n=1,seed=0", "'seed'"),
            ("zipf4k,foot=1M,n=1,hot=20:80", "contradict each other"),
            ("seq4k,foot=1M,hot=20:80", "hot= is for rand"),
            ("rand4k,foot=1M,n=1,hot=20", "'hot'"),
            ("rand4k,foot=1M,n=1,hot=0:80", "'hot'"),
            ("rand4k,foot=1M,n=1,hot=20:100", "'hot'"),
            ("rand4k,foot=1M,n=1,theta=1", "'theta'"),
            ("zipf4k,foot=1M,n=1,theta=0", "'theta'"),
            ("zipf4k,foot=1M,n=1,theta=5.001", "'theta'"),
            ("zipf4k,foot=1M,n=1,theta=0.9999", "'theta'"),
            ("zipf4k,foot=1M,n=1,theta=1.", "'theta'"),
            ("rand4k:0,foot=1M,n=1", "rand4k:3+64k:1"),
            ("rand4k+8M,foot=1M,n=1", "foot=SIZE"),
            ("rand4k+100,foot=1M,n=1", "whole sectors"),
            ("seq4k+8k,foot=1M", "rand4k:3+64k:1"),
            ("rand1k+1k+1k+1k+1k+1k+1k+1k+1k,foot=1M,n=1", "rand4k:3+64k:1"),
        ):
            self.refused("--profile", TINY, f"gen:{spec}", words=(spec, word, "--help"))


if __name__ == "__main__":
    unittest.main()

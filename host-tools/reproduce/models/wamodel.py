# SPDX-License-Identifier: GPL-2.0-or-later
"""wamodel.py - write amplification of a page-mapping FTL, computed: no drive is simulated.

Random writes of a mapping unit (here: a page) on a drive of infinitely many blocks, of which the host's pages fill the
share RHO (0 to 1); B pages a block; every page that GC moves and every page of the host goes to
the end of an open block.

greedy() and hot_cold() are the mean field of "fewest valid pages first" (B. Van Houdt, "A mean
field model for a class of garbage collection algorithms in flash-based solid state drives",
SIGMETRICS 2013, with the number of choices d going to infinity; the same limit as in W. Bux and
I. Iliadis, "Performance of greedy garbage collection in flash-based solid-state drives",
Performance Evaluation 67, 2010, and P. Desnoyers, "Analytic modeling of SSD write performance",
SYSTOR 2012). d_choices() is Van Houdt's mean field for a finite d. lru() is the oldest block first,
by Lambert's W function (Desnoyers), which greedy() approaches with B; lru_hot_cold() the same for
two kinds of pages. windowed() is the mean field of "fewest valid pages among the oldest blocks".

Published models of random choice, d_choices() among them, let GC take blocks of which all pages are
valid. Collecting such a block frees no page, so Slate's policies draw again. Here blocks are
therefore drawn only from those with an invalid page; the difference decreases with B, and with RHO.
With FREES units in a NAND page, they are drawn from those with as many invalid units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


def lru(rho: float) -> float:
    """Take the oldest block first, with large B. The share x of its valid pages solves x = exp(-(1 - x) / rho)."""
    low, high = 0.0, rho
    for _ in range(200):
        x = (low + high) / 2
        low, high = (x, high) if x < math.exp(-(1 - x) / rho) else (low, x)
    return 1 / (1 - low)


def lru_hot_cold(rho: float, hot: Mix) -> float:
    """Model two kinds of pages, and GC that takes the oldest block, for large B.

    A block is a victim at the same age t, in writes for each page of the drive, so WA t = 1. A page that
    is written at the rate r is moved at that age exp(-r t) / (1 - exp(-r t)) times for each write to it.
    """
    kinds = (hot.writes, hot.writes / (hot.pages * rho)), (1 - hot.writes, (1 - hot.writes) / ((1 - hot.pages) * rho))
    low, high = 1e-9, 1.0
    for _ in range(200):
        t = (low + high) / 2
        amplified = 1 + sum(share / math.expm1(rate * t) for share, rate in kinds)
        low, high = (low, t) if amplified * t > 1 else (t, high)
    return 1 / low


def _passed_by(rho: float, b: int, frees: int) -> float:
    """Return the share of blocks that are never drawn, for each victim a write: those with b - frees + 1 valid pages
    or more. C blocks a write pass each of these levels j, at the rate j / (rho b)."""
    return rho * b * sum(1 / j for j in range(b - frees + 1, b + 1))


def random_block(rho: float, b: int, frees: int = 1) -> float:
    """Model GC that takes any block with FREES invalid pages.

    C victims a write, for each block of the drive. All blocks begin with b valid pages and leave that
    level at the rate 1 / rho, so a share rho C is there. The others have rho (1 - C) b of the rho b valid
    pages of a block on average, a victim rho (1 - C) b / (1 - rho C). What is won is C (b - that) = 1.
    With FREES levels that are passed by, rho C is their share, and (1 - FREES C) is in place of (1 - C).
    """
    passed = _passed_by(rho, b, frees)
    low, high = 1 / b, min(1 / (b * (1 - rho)), 0.999 / passed)
    for _ in range(100):
        c = (low + high) / 2
        won = c * (b - rho * b * (1 - frees * c) / (1 - passed * c))
        low, high = (c, high) if won < 1 else (low, c)
    return low * b


def d_choices(rho: float, b: int, d: int, frees: int = 1) -> float:
    """Model GC that draws d blocks with FREES invalid pages at random, and takes the one with fewest valid pages.

    C victims a write. The blocks that pass from j valid pages to j - 1 are those that are no victims
    before: j p(j) / (rho b) = C (1 - (the share of blocks with j or more, among those drawn from) ^ d),
    and C at the levels that are passed by. From there down each equation has one unknown; C is such that
    these flows add up to 1, the page that is written.
    """
    low, high = 1 / b, min(1 / (b * (1 - rho)), 0.999 / _passed_by(rho, b, frees))
    for _ in range(60):
        c = (low + high) / 2
        low, high = (c, high) if _written(rho, b, d, c, frees) < 1 else (low, c)
    return low * b


def _written(rho: float, b: int, d: int, c: float, frees: int) -> float:
    """Return the pages that become invalid per write, if there are C victims."""
    drawn_from, above, flows = 1 - c * _passed_by(rho, b, frees), 0.0, c * frees
    for j in range(b - frees, 0, -1):
        # The share x of j or more solves (x - above) m j / (rho b) = c (1 - x ^ d); m is drawn_from.
        slope, x = drawn_from * j / (rho * b * c), 1.0
        for _ in range(100):
            power = x ** (d - 1)
            step = ((x - above) * slope - 1 + power * x) / (slope + d * power)
            x -= step
            if abs(step) < 1e-14:
                break
        flows += c * (1 - x**d)
        above = x
    return flows


def windowed(rho: float, b: int, share: float) -> float:
    """Take the block with the fewest valid pages among the blocks closed first, a share SHARE of all.

    Younger blocks are no victims; they enter the window with a binomial number of valid pages. In the window
    the model is that of greedy(), except that blocks enter with fewer pages as well, and those with fewer than
    k leave at once.
    """
    low, high = 1 / b, 1 / (b * (1 - rho))
    for _ in range(60):
        c = (low + high) / 2
        low, high = (c, high) if _won_in_window(rho, b, share, c) < 1 else (low, c)
    return low * b


def _won_in_window(rho: float, b: int, share: float, c: float) -> float:
    """Return the pages that C victims per write free."""
    stays = math.exp(-(1 - share) / (c * rho * b))
    coming = binomial(c, min(max(stays, 1e-12), 1 - 1e-12), b)
    room, flow, moved = share, 0.0, sum(j * blocks for j, blocks in enumerate(coming))
    for j in range(b, 0, -1):
        flow += coming[j]
        here = flow * rho * b / j
        if here >= room:
            return c * b - (moved - sum(coming[i] * (i - j) for i in range(j + 1, b + 1)) - flow * room / here)
        room -= here
    return c * b


def greedy(rho: float, b: int) -> float:
    """Model GC that takes the block with fewest valid pages first.

    A block loses a valid page with probability j / (rho b) a write, if it has j of a b-th of all
    blocks. As many blocks a write pass from j to j - 1 as are reclaimed, 1 / (b - v), v being the
    mean of a victim's valid pages. So the share of blocks with j valid pages is rho b / (j (b - v)),
    down to the level k at which victims are taken: a share p of them stays until it has k - 1.
    """
    return _greedy(rho, b)[0]


def _greedy(rho: float, b: int) -> tuple[float, int, float]:
    waiting = 0.0  # sum of rho b / j over the levels above k
    for k in range(b - 1, 0, -1):
        waiting += rho * b / (k + 1)
        # The blocks in all states add up: waiting + p rho b / k = b - v, where v = k - p.
        if waiting + rho * b / k >= b - k + 1:
            p = (b - k - waiting) / (rho * b / k - 1)
            return b / (b - k + p), k, p
    return 1.0, 0, 0.0  # some blocks without a valid page remain


@dataclass(frozen=True)
class Mix:
    """Names the share of the writes that a share of the host's pages gets."""

    pages: float
    writes: float


def cost_benefit(rho: float, b: int, frees: int = 1) -> float:
    """Model GC that takes the block with the greatest age (b - j) / j; j pages are valid, age is since the last change.

    C victims a write. A block that comes to level j stays there until one of its pages is written, at the rate
    j / (rho b), or until it is t j / (b - j) old and becomes a victim. The levels with less than FREES invalid pages
    have no victims. The share of each level follows from that of the level above; t is such that they add up to 1.
    """
    low, high = 0.0, 1e3
    for _ in range(60):
        t = (low + high) / 2
        blocks, moved = _aged(rho, b, t, frees)
        low, high = (t, high) if blocks < b - moved else (low, t)
    return b / (b - _aged(rho, b, low, frees)[1])


def _aged(rho: float, b: int, t: float, frees: int) -> tuple[float, float]:
    """Return the blocks at all levels and the valid pages of victims, both for one victim a write."""
    flow, blocks, moved = 1.0, 0.0, 0.0
    for j in range(b, 0, -1):
        rate = j / (rho * b)
        victims = flow * math.exp(-rate * t * j / (b - j)) if j <= b - frees else 0.0
        blocks += (flow - victims) / rate
        moved += victims * j
        flow -= victims
    return blocks, moved


def hot_cold(rho: float, b: int, hot: Mix) -> float:
    """Model two kinds of pages, each written uniformly, and GC that takes the block with fewest valid pages.

    Pages of the host and of GC are mixed in the open block at random: its hot pages are binomial.

    If hot and cold pages, moved or not, never share a block, it is as with uniform writes, greedy():
    blocks of both kinds are victims at the same level. A kind that gets a share w of the writes for a
    share f of the pages closes w / (b - v) blocks a write, and each of these is at level j for
    f rho b / (w j): the sum over both kinds is that of uniform writes.
    """
    rates = hot.writes / (hot.pages * rho * b), (1 - hot.writes) / ((1 - hot.pages) * rho * b)
    wa, moved_hot = _greedy(rho, b)[0], hot.pages
    for _ in range(5000):
        closed = binomial(wa / b, (hot.writes + (wa - 1) * moved_hot) / wa, b)
        new_wa, new_hot = _pass_through(closed, b, rates)
        if abs(new_wa - wa) < 1e-9 and abs(new_hot - moved_hot) < 1e-9:
            return new_wa
        wa, moved_hot = new_wa, new_hot
    raise ValueError(f"no fixed point for rho {rho}, {b} pages a block, {hot}")


def binomial(blocks: float, share: float, b: int) -> list[float]:
    """Return the blocks closed per write, by their number of hot pages; each page is hot with probability SHARE."""
    logs = [math.lgamma(b + 1) - math.lgamma(h + 1) - math.lgamma(b - h + 1) for h in range(b + 1)]
    return [blocks * math.exp(log + h * math.log(share) + (b - h) * math.log1p(-share)) for h, log in enumerate(logs)]


def _pass_through(flow: list[float], b: int, rates: tuple[float, float]) -> tuple[float, float]:
    """Model blocks that enter, flow[h] of them with h hot pages, and lose pages until they are victims.

    Return the write amplification and the share of hot pages among those that GC moves.
    """
    room, total = 1.0, sum(flow)  # the share of all blocks that is not yet placed
    for level in range(b, 0, -1):
        here = [blocks / (h * rates[0] + (level - h) * rates[1]) for h, blocks in enumerate(flow[: level + 1])]
        after = [
            (here[h + 1] * (h + 1) * rates[0] if h < level else 0.0) + here[h] * (level - h) * rates[1]
            for h in range(level)
        ]
        if sum(here) >= room:
            stay = room / sum(here)
            valid = level - stay
            hot = (1 - stay) * _mean(flow) + stay * _mean(after)
            return b / (b - valid), hot / total / valid
        room -= sum(here)
        flow = after
    raise ValueError("blocks empty before they are victims")


def _mean(flow: list[float]) -> float:
    return sum(h * blocks for h, blocks in enumerate(flow))

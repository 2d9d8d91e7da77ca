# SPDX-License-Identifier: GPL-2.0-or-later
"""wakinds.py - mean fields of write amplification with two kinds of pages, hot and cold, for each GC policy.

As in wamodel.py there are infinitely many blocks of B pages, of which the host's fill the share RHO, and no drive is
simulated. A block has H hot valid pages and C cold ones; its level is H + C. It loses a hot page at the rate H r_hot
and a cold one at the rate C r_cold. Blocks come in when they are closed: with a shared frontier host's and GC's pages
are mixed in a block at random, so its hot pages are binomial; with frontiers of their own there are blocks of the host
and blocks of GC. A block of GC has the pages of the few victims that fill it, so cold victims make cold blocks. From
the highest level down, a policy says what part of the blocks of a level become victims. All blocks together are 1. The
two unknowns, the write amplification and what hot pages GC moves, are a fixed point.

Of blocks with equally many valid pages greedy takes those that came last to their number, as the FTL's lists do;
d-choices takes any, so many choices come near greedy but for up to one per cent.

A block of which a victim would not free AT_ONCE pages is none: of blocks drawn it is left out, and in the order of
closing it goes to the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from reproduce.models.wamodel import Mix, binomial

Flow = list[float]  # blocks per write, by their number of hot pages
Rates = tuple[float, float]
CLOSE = 1e-5
LEAST = 1e-14
OFFSETS = 4  # places in a victim at which a block of GC begins
AGE_STEP = 1.01
ROUNDS, HALVINGS = 3000, 26


def _first_false(holds: Callable[[float], bool], guess: float, step: float = 4.0) -> float:
    """Return the number above zero up to which the condition holds, found by halving around a guess."""
    low = high = guess
    while low > 1e-12 and not holds(low):
        low, high = low / step, low
    while low == high and high < 1e12 and holds(high * step):
        low, high = high * step, high * step
    if low == high:
        high *= step
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return math.sqrt(low * high)


@dataclass
class Level:
    """Holds the blocks that come to a level: their flow, and the rate at which each of them loses a page."""

    pages: int
    flow: Flow
    rates: Flow


@dataclass
class Victims:
    """Adds up the victims, per write."""

    b: int
    blocks: float = 0.0
    valid: float = 0.0  # pages
    hot: float = 0.0  # of them
    alike: Flow = field(default_factory=list)  # the pages as full blocks, each with a victim's hot share, by hot pages

    def add(self, pages: int, first: int, taken: Flow) -> None:
        """Add victims of a level; taken[i] have first + i hot pages."""
        total = sum(taken)
        self.blocks += total
        self.valid += pages * total
        self.hot += first * total + sum(i * blocks for i, blocks in enumerate(taken))
        if total < LEAST or not pages:
            return
        self.alike = self.alike or [0.0] * (self.b + 2)
        for i, blocks in enumerate(taken):
            at = (first + i) * self.b / pages
            low = int(at)
            self.alike[low] += blocks * pages / self.b * (low + 1 - at)
            self.alike[low + 1] += blocks * pages / self.b * (at - low)

    def copied(self) -> Flow:
        """Return the distribution of the hot pages of blocks that the valid pages fill, one victim after the other."""
        part = self.valid / self.blocks / self.b
        alike = [blocks / sum(self.alike) for blocks in self.alike[: self.b + 1]]
        total = [0.0] * (self.b + 1)
        for turn in range(OFFSETS):
            piece, room, found = part * (turn + 0.5) / OFFSETS, 1.0, [1.0]
            while room > LEAST:
                found = _beside(found, alike, min(piece, room), self.b)
                room, piece = room - min(piece, room), part
            for h, share in enumerate(found):
                total[h] += share / OFFSETS
        return total


def _beside(found: Flow, alike: Flow, weight: float, b: int) -> Flow:
    """Add a piece to blocks: return the distribution of their hot pages.

    `alike` is the piece's, which fills a share `weight` of a block.
    """
    total = [0.0] * (b + 2)
    for h, share in enumerate(found):
        if share < LEAST:
            continue
        for other, part in enumerate(alike):
            if part < LEAST:
                continue
            at = min(h + weight * other, float(b))
            low = int(at)
            total[low] += share * part * (low + 1 - at)
            total[low + 1] += share * part * (at - low)
    return total[: b + 1]


# Says which part of the flow become victims at the level. It keeps an account of the blocks of higher levels.
Taker = Callable[[Level], Flow]


@dataclass(frozen=True)
class Kinds:
    """Holds a drive with two kinds of pages; AT_ONCE: pages that a victim must free (the units of a NAND page)."""

    rho: float
    b: int
    hot: Mix
    own: bool = False
    at_once: int = 1

    @property
    def rates(self) -> Rates:
        """Return the rates of writes to a hot and to a cold page of a block, by all blocks."""
        pages = self.rho * self.b
        return self.hot.writes / (self.hot.pages * pages), (1 - self.hot.writes) / ((1 - self.hot.pages) * pages)

    def closed(self, wa: float, moved: Flow) -> Flow:
        """Return the blocks closed per write; MOVED: the hot share of copies or, if these have blocks of their own,
        the distribution of hot pages of such blocks."""
        b = self.b
        if not self.own:
            return binomial(wa / b, (self.hot.writes + (wa - 1) * moved[0]) / wa, b)
        return [one + (wa - 1) / b * other for one, other in zip(binomial(1 / b, self.hot.writes, b), moved)]

    def passed_down(self, entering: dict[int, Flow], take: Taker) -> Victims:
        """Return the victims."""
        hot_rate, cold_rate = self.rates
        flow: Flow = []
        first = 0  # hot pages of flow[0]
        victims = Victims(self.b)
        for pages in range(self.b, 0, -1):
            if pages in entering:
                flow, first = _sum(flow, first, entering[pages])
            rates = [h * hot_rate + (pages - h) * cold_rate for h in range(first, first + len(flow))]
            taken = take(Level(pages, flow, rates))
            victims.add(pages, first, taken)
            left = [(one - other) / rate for one, other, rate in zip(flow, taken, rates)]
            # left[i] has first + i hot pages; blocks with one less come from it, and from left[i - 1]
            hots = [(first + i) * hot_rate * one for i, one in enumerate(left)] + [0.0]
            colds = [0.0] + [(pages - first - i) * cold_rate * one for i, one in enumerate(left)]
            flow, first = _trimmed([one + other for one, other in zip(hots, colds)], first - 1)
        victims.add(0, 0, flow)
        return victims


def _trimmed(flow: Flow, first: int) -> tuple[Flow, int]:
    """Leave out the levels at both ends that have too few blocks to matter, or can have none."""
    low, high = 0, len(flow)
    while low < high and flow[low] < LEAST:
        low += 1
    while high > low and flow[high - 1] < LEAST:
        high -= 1
    return flow[low:high], first + low


def _sum(flow: Flow, first: int, more: Flow) -> tuple[Flow, int]:
    total = list(more)
    for i, blocks in enumerate(flow):
        total[first + i] += blocks
    return _trimmed(total, 0)


def _in_order_of_pages(room: float) -> Taker:
    """Take victims as greedy does.

    These are all blocks below the level at which ROOM blocks are above, and a part of those at that level.
    """
    left = room

    def take(level: Level) -> Flow:
        nonlocal left
        here = sum(flow / rate for flow, rate in zip(level.flow, level.rates))
        stay = min(1.0, left / here) if here else 1.0
        left -= here * stay
        return [flow * (1 - stay) for flow in level.flow]

    return take


def _of_drawn(kinds: Kinds, closed: float, d: int) -> Taker:
    """Take the block with the fewest valid pages of D that are drawn from those that free a page."""
    passed = above = 0.0
    rate = 1.0 / kinds.b  # at which each block of the level becomes a victim

    def take(level: Level) -> Flow:
        nonlocal passed, above, rate
        if level.pages > kinds.b - kinds.at_once:
            passed += sum(flow / one for flow, one in zip(level.flow, level.rates))
            if passed >= 1:
                raise ValueError(f"no block frees a page: {kinds}")
            return [0.0] * len(level.flow)

        def share(rate: float) -> float:
            return sum(flow / (one + rate) for flow, one in zip(level.flow, level.rates)) / (1 - passed)

        def too_few(rate: float) -> bool:
            here = share(rate)
            return rate * here * (1 - passed) < closed * ((above + here) ** d - above**d)

        rate = _first_false(too_few, rate)
        above += share(rate)
        return [flow * rate / (one + rate) for flow, one in zip(level.flow, level.rates)]

    return take


def _by_age(kinds: Kinds, t: float, account: list[float]) -> Taker:
    """Take blocks that are unchanged for t j / (b - j), j being their valid pages: cost-benefit."""

    def take(level: Level) -> Flow:
        j = level.pages
        victims = [0.0] * len(level.flow)
        if j <= kinds.b - kinds.at_once:
            victims = [flow * math.exp(-rate * t * j / (kinds.b - j)) for flow, rate in zip(level.flow, level.rates)]
        account[0] += sum((flow - out) / rate for flow, out, rate in zip(level.flow, victims, level.rates))
        return victims

    return take


def _aged_by(kinds: Kinds, closed: Flow, time: float, pages: int) -> dict[int, Flow]:
    """Return the blocks of each level after a time in which none of them is a victim; at first they have PAGES."""
    stays = [min(max(math.exp(-rate * time), 1e-12), 1 - 1e-12) for rate in kinds.rates]
    found: dict[int, Flow] = {level: [0.0] * (level + 1) for level in range(pages + 1)}
    for h, blocks in enumerate(closed):
        if blocks < 1e-12:
            continue
        cold = binomial(1.0, stays[1], pages - h)
        for hot_left, share in enumerate(binomial(blocks, stays[0], h)):
            for cold_left, part in enumerate(cold):
                found[hot_left + cold_left][hot_left] += share * part
    return found


@dataclass
class Memory:
    """Holds what the next round of the fixed point begins with."""

    age: float = 10.0  # cost-benefit: t, and the step in which its bounds are sought
    step: float = 4.0
    again: dict[int, Flow] = field(default_factory=dict)  # fifo: blocks that have gone to the end of the queue


def _oldest(kinds: Kinds, closed: Flow, memory: Memory) -> Victims:
    """Take the oldest blocks: fifo. They all have the same age."""
    victims, again = Victims(kinds.b), dict[int, Flow]()
    time = 1 / (sum(closed) + sum(sum(flow) for flow in memory.again.values()))
    queued = {kinds.b: closed, **{level: flow for level, flow in memory.again.items() if level < kinds.b}}
    if kinds.b in memory.again:
        queued[kinds.b] = [one + other for one, other in zip(closed, memory.again[kinds.b])]
    for level, flow in queued.items():
        for pages, blocks in _aged_by(kinds, flow, time, level).items():
            if pages + kinds.at_once > kinds.b:
                before = again.get(pages, [0.0] * (pages + 1))
                again[pages] = [one + other for one, other in zip(before, blocks)]
            else:
                victims.add(pages, 0, blocks)
    memory.again = again
    return victims


def _victims(kinds: Kinds, policy: str, of: float, closed: Flow, memory: Memory) -> Victims:
    c = sum(closed)
    if policy == "fifo":
        return _oldest(kinds, closed, memory)
    if policy == "greedy":
        return kinds.passed_down({kinds.b: closed}, _in_order_of_pages(1.0))
    if policy == "windowed-greedy":
        return kinds.passed_down(_aged_by(kinds, closed, (1 - of) / c, kinds.b), _in_order_of_pages(of))
    if policy == "cost-benefit":
        account = [0.0]

        def too_young(t: float) -> bool:
            account[0] = 0.0
            kinds.passed_down({kinds.b: closed}, _by_age(kinds, t, account))
            return account[0] < 1

        memory.age, memory.step = _first_false(too_young, memory.age, memory.step), AGE_STEP
        return kinds.passed_down({kinds.b: closed}, _by_age(kinds, memory.age, account))
    return kinds.passed_down({kinds.b: closed}, _of_drawn(kinds, c, 1 if policy == "random" else int(of)))


State = tuple[float, Flow]  # the write amplification, and what is moved, as in Kinds.closed()


def amplification(kinds: Kinds, policy: str, of: float = 0, start: State | None = None) -> State:
    """Return the write amplification, and what is moved; OF: choices, or the window's share of blocks.

    START is a guess.
    """
    mixed = binomial(1.0, kinds.hot.pages, kinds.b) if kinds.own else [kinds.hot.pages]
    wa, moved = start or (1 / (1 - kinds.rho) / 1.5 + 1, mixed)
    memory = Memory()
    for _ in range(ROUNDS):
        victims = _victims(kinds, policy, of, kinds.closed(wa, moved), memory)
        new_wa = kinds.b / (kinds.b - victims.valid / victims.blocks)
        new = victims.copied() if kinds.own else [victims.hot / victims.valid]
        near = all(abs(one - other) < CLOSE for one, other in zip(new, moved))
        if abs(new_wa - wa) < CLOSE * wa and near:
            return new_wa, new
        wa, moved = new_wa, new
    raise ValueError(f"no fixed point for {policy}, {kinds}")

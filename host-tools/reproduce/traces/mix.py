# SPDX-License-Identifier: GPL-2.0-or-later
"""mix.py - makes a trace of a workload whose read share, sizes and intensity are published.

    reproduce mix NAME --scale N [--set KEY=VALUE ...] [-o FILE]

The evaluations of SPREAD and flexFTL ran applications and traces that the dissertation describes in
one line each. For a workload named in mixes.toml, this program makes a trace in Slate's own format
with the numbers of that line. It is for a closed loop (slate-replay --closed QD --think): rows with
the same time are a burst, and the gap between two bursts is the host's think time.

The trace has two parts. The warm-up is the workload's writes alone, without a
pause, until they amount to `warm` of the footprint. Then come the workload's requests; the first
`settle_k` of them are not counted either. A comment in the head ("# warmup N") has the number of
rows that are not counted, for slate-replay's --warmup.

Scale N divides footprint and numbers of requests; sizes, bursts and pauses stay.

Each request's chunk (of the largest request's size) is drawn by Zipf's law over
the chunks in random order, or from a hot part and the rest; where it begins in the
chunk uniformly, aligned to `align` (0: to its own size). Reads and writes are drawn
request by request; so are sizes. Lengths of bursts are geometric, pauses uniform in
half to one and a half times the mean.

Deterministic by (NAME, scale, settings) on every machine: no floating point
function but + - * / and sqrt. About 2 us a request.
"""

from __future__ import annotations

import argparse
import bisect
import itertools
import math
import os
import random
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reproduce.traces.standin import power, setting

MIXES = Path(__file__).resolve().parent / "mixes.toml"
Row = tuple[int, str, int, int]  # ns, op, offset, bytes


class MixError(Exception):
    """Carries an error message for the user."""


@dataclass(frozen=True)
class Mix:
    """Holds a mix, as mixes.toml describes it."""

    read: float
    reads: tuple[tuple[int, int], ...] = ()
    writes: tuple[tuple[int, int], ...] = ()
    burst: float = 0
    think_ms: float = 0
    foot_gib: float = 1
    warm: float = 0
    theta: float = 0
    hot: float = 0
    hot_part: float = 0
    align: float = 0
    flush: float = 0
    seed: float = 1
    requests_k: float = 1
    settle_k: float = 0

    def check(self) -> None:
        """Raise MixError if the mix cannot be made."""
        for key, low, high in (
            ("read", 0, 1000), ("burst", 0, 10**9), ("think_ms", 0, 10**6), ("foot_gib", 2**-16, 2**20),
            ("warm", 0, 10**5), ("theta", 0, 2), ("requests_k", 2**-10, 10**9), ("settle_k", 0, 10**9),
            ("hot", 0, 1000), ("hot_part", 0, 999), ("align", 0, 2**20), ("flush", 0, 10**9), ("seed", 1, 10**9),
        ):  # fmt: skip
            if not low <= getattr(self, key) <= high:
                raise MixError(f"{key} = {getattr(self, key):g}: must be {low:g} .. {high:g}")
        if (self.read > 0 and not self.reads) or (self.read < 1000 and not self.writes):
            raise MixError(f"read = {self.read:g}: the workload has no sizes of such requests: leave read as it is")
        if bool(self.burst) != bool(self.think_ms):
            raise MixError("burst and think_ms go together: set both, or both to 0")
        if bool(self.hot) != bool(self.hot_part) or (self.hot and self.theta):
            raise MixError("hot and hot_part go together, without theta: set both, or both to 0")
        if self.align % 512 or self.chunk % (self.align or 1):
            raise MixError(f"align = {self.align:g}: must be whole sectors that divide {self.chunk}")

    @property
    def chunk(self) -> int:
        """Return the size of a chunk in bytes."""
        return max(size for size, _ in self.reads + self.writes)


def load() -> dict[str, dict[str, Any]]:
    """Load the workloads of mixes.toml."""
    found: dict[str, dict[str, Any]] = tomllib.loads(MIXES.read_text(encoding="utf-8"))["mix"]
    return found


def mix_of(name: str, settings: dict[str, float] | None = None) -> Mix:
    """Return the mix of a name, with some settings changed."""
    known = load()
    if name not in known:
        raise MixError(f"no workload named '{name}' is known; there are {', '.join(known)}")
    given = dict(known[name])
    for key in ("reads", "writes"):
        given[key] = tuple((size, weight) for size, weight in given.get(key, ()))
    usable = [key for key in Mix.__dataclass_fields__ if key not in ("reads", "writes")]
    unknown = set(settings or {}) - set(usable)
    if unknown:
        raise MixError(f"no setting named '{min(unknown)}'; there are {', '.join(usable)}")
    made = Mix(**{**given, **(settings or {})})
    made.check()
    return made


class Draw:
    """Draws one of several items by weight."""

    def __init__(self, weights: list[float], uniform: Callable[[], float]) -> None:
        self.upto = list(itertools.accumulate(weights))
        self.uniform = uniform

    def __call__(self) -> int:
        return bisect.bisect_right(self.upto, self.uniform() * self.upto[-1], 0, len(self.upto) - 1)


class Places:
    """Draws the offsets of requests."""

    def __init__(self, mix: Mix, scale: int, source: random.Random) -> None:
        self.chunk, self.uniform = mix.chunk, source.random
        chunks = int(mix.foot_gib * 2**30 / scale) // self.chunk
        if not chunks:
            raise MixError(f"foot_gib = {mix.foot_gib:g} at scale {scale}: holds no request: take a smaller scale")
        self.rank: Draw | None = None
        self.chunks, self.align = chunks, int(mix.align)
        self.hot, self.hot_chunks = mix.hot / 1000, math.ceil(chunks * mix.hot_part / 1000)
        if mix.theta:
            self.rank = Draw([power(1 / i, mix.theta) if i > 1 else 1.0 for i in range(1, chunks + 1)], self.uniform)
            self.order = sorted(range(chunks), key=[self.uniform() for _ in range(chunks)].__getitem__)

    def pick(self) -> int:
        """Draw a chunk."""
        if self.rank:
            return self.order[self.rank()]
        if not self.hot:
            return int(self.uniform() * self.chunks)
        if self.uniform() < self.hot:
            return int(self.uniform() * self.hot_chunks)
        return self.hot_chunks + int(self.uniform() * (self.chunks - self.hot_chunks))

    def __call__(self, size: int) -> int:
        """Return the offset of a request. A request that would cross the footprint's end is moved to end there."""
        step = self.align or size
        offset = self.pick() * self.chunk + int(self.uniform() * (self.chunk // step)) * step
        return min(offset, self.chunks * self.chunk - size)


def warm_writes(mix: Mix, scale: int) -> int:
    """Return the number of warm-up writes, computed from the mean size."""
    if not mix.warm:
        return 0
    mean = sum(size * weight for size, weight in mix.writes) / sum(weight for _, weight in mix.writes)
    return int(mix.warm / 1000 * mix.foot_gib * 2**30 / scale / mean)


def not_counted(mix: Mix, scale: int) -> int:
    """Return the number of rows of the warm-up and of settling."""
    return warm_writes(mix, scale) + int(mix.settle_k * 1000 / scale)


def requests(mix: Mix, scale: int, source: random.Random) -> Iterator[Row]:
    """Generate all rows of the trace."""
    uniform, place = source.random, Places(mix, scale, source)
    sizes = {op: [size for size, _ in some] for op, some in (("read", mix.reads), ("write", mix.writes))}
    pick = {
        op: Draw([float(weight) for _, weight in some], uniform)
        for op, some in (("read", mix.reads), ("write", mix.writes))
        if some
    }
    for _ in range(warm_writes(mix, scale)):
        size = sizes["write"][pick["write"]()]
        yield 0, "write", place(size), size
    now, think_ns, writes = 0, mix.think_ms * 1e6, 0
    for _ in range(max(1, int((mix.settle_k + mix.requests_k) * 1000 / scale))):
        if mix.burst and uniform() * mix.burst < 1:
            now += int((0.5 + uniform()) * think_ns)
        op = "read" if uniform() * 1000 < mix.read else "write"
        size = sizes[op][pick[op]()]
        yield now, op, place(size), size
        writes += op == "write"
        if mix.flush and op == "write" and writes % mix.flush == 0:
            yield now, "flush", 0, 0


def read_sizes(path: Path) -> dict[int, int]:
    """Return how many reads of a written trace have each size, without those of the warm-up."""
    found: dict[int, int] = {}
    left_out = 0
    with open(path, encoding="ascii") as lines:
        for line in lines:
            words = line.split()
            if words[0] == "#":
                left_out = int(words[2]) if words[1] == "warmup" else left_out
            elif left_out:
                left_out -= 1
            elif words[2] == "read":
                size = int(words[4])
                found[size] = found.get(size, 0) + 1
    return found


def write(path: str, name: str, scale: int, settings: dict[str, float]) -> None:
    """Write the trace as a file in Slate's format, completely or not at all."""
    if scale < 1:
        raise MixError(f"scale {scale}: must be 1 or more")
    mix = mix_of(name, settings)
    asked = "".join(f" {key}={value:g}" for key, value in sorted(settings.items()))
    made = requests(mix, scale, random.Random(f"{name} {scale} {mix.seed:g}"))
    part = f"{path}.part"
    try:
        with open(part, "w", encoding="ascii") as out:
            out.write(f"# slate-trace 1\n# mix {name}, scale 1/{scale}{asked}\n")
            out.write(f"# warmup {not_counted(mix, scale)}\n")
            out.writelines(
                f"{now} 0 {op} {offset} {size}\n" if size else f"{now} 0 flush\n" for now, op, offset, size in made
            )
        os.replace(part, path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


def main(argv: list[str]) -> int:
    """Run the command line. Returns 1 with a sentence on stderr on an error."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description="make a trace of a workload of mixes.toml")
    parser.add_argument("name", help="kv, grp, prj, usr, stg; oltp, ntrx, webserver, varmail, fileserver; ...")
    parser.add_argument("--scale", type=int, default=8, metavar="N", help="divide footprint and requests by N (8)")
    parser.add_argument("--set", type=setting, action="append", default=[], metavar="KEY=VALUE", dest="settings")
    parser.add_argument("-o", "--out", metavar="FILE", help="default: mix-NAME.trace")
    args = parser.parse_args(argv)
    try:
        write(args.out or f"mix-{args.name}.trace", args.name, args.scale, dict(args.settings))
    except (MixError, OSError) as error:
        print(f"reproduce mix: {error}", file=sys.stderr)
        return 1
    return 0

# SPDX-License-Identifier: GPL-2.0-or-later
"""'slate cuts --survey TRACE' counts which of the states that NVMe allows after a cut an FTL really leaves.

TRACE is a recording with content. The drive is cut at random times, each from the same beginning (--ephemeral), and
mounted. With --states N it is cut N times at each time, with other seeds of torn cells. Of the unflushed writes that no
later unflushed one overwrites, each is there as a whole, in part, or not at all. NVMe allows any subset of n such
writes, 2^n states; the count says which kinds of subsets were seen, and how many states at each time.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from pathlib import Path

from ..drives import check_profile
from ..errors import OK, SlateError
from ..shape import Json
from ..values import check_settings, number
from .files import replayed, work_folder

HEEDS = ("survey", "count", "seed", "profile", "set", "age", "states")  # options
CLASSES = ("none", "all", "prefix", "prefix, and part of the next", "other")


def visible(unflushed: list[Json]) -> list[Json]:
    """Return the writes of which no sector is written or trimmed by a later unflushed request."""
    found = []
    for at, one in enumerate(unflushed):
        end = one["offset"] + one["bytes"]
        later = unflushed[at + 1 :]
        if one["op"] == "write" and not any(
            other["offset"] < end and one["offset"] < other["offset"] + other["bytes"] for other in later
        ):
            found.append(one)
    return found


def classify(writes: list[Json]) -> str:
    """Return the kind of subset of at least one write, in the order of submission."""
    fates = [0 if not got else 2 if got * 512 == size else 1
             for got, size in ((one["sectors_there"], one["bytes"]) for one in writes)]  # fmt: skip
    if not any(fates):
        return "none"
    if all(fate == 2 for fate in fates):
        return "all"
    if fates != sorted(fates, reverse=True) or fates.count(1) > 1:
        return "other"
    return CLASSES[3] if 1 in fates else "prefix"


def text(name: str, cuts: list[tuple[list[Json], set[str]]]) -> str:
    """Return the line of a drive, of cuts with their writes and the states seen at that time."""
    counted = Counter(classify(writes) for writes, _ in cuts)
    sizes, seen = sorted(len(writes) for writes, _ in cuts), [len(states) for _, states in cuts]
    cells = [str(counted[kind]) for kind in CLASSES]
    middle = sizes[len(sizes) // 2] if sizes else 0
    states = f"{sum(seen) / len(seen):.2g}; {max(seen)}" if seen else "0; 0"
    return f"| {name} | {len(cuts)} | {middle}; {max(sizes, default=0)} | {' | '.join(cells)} | {states} |"


HEAD = (
    f"| drive | cuts | unflushed writes, median; most | {' | '.join(CLASSES)} | states at a time, mean; most |\n"
    f"|---|---:|---:|{'---:|' * len(CLASSES)}---:|"
)


def run(args: argparse.Namespace, states: int = 1) -> int:
    """Run 'slate cuts --survey TRACE'."""
    count, seed = int(number("count", args.count or "100", 1, 10**6)), int(number("seed", args.seed, 0, 2**31 - 1))
    if len(args.profile) > 1:
        raise SlateError("--profile twice with --survey: it replays one drive", "give --profile once")
    profile = check_profile((args.profile or ["small"])[0])
    check_settings(args.set)
    if not Path(args.survey).is_file():
        raise SlateError(f"--survey {args.survey}: no such file", "name a recording (slate run --record-content FILE)")
    sets = [word for setting in args.set for word in ("--set", setting)]
    with work_folder() as folder:
        drive = folder / "drive.slate"
        replayed("--survey", "--profile", profile, *sets, "--set", "ftl.payload=yes", "--drive", drive, "--fill", "100",
                 "--age", args.age, "--limit", "1", "gen:rand4k,foot=4KiB,n=1,read=1000")  # fmt: skip
        whole = replayed("--survey", "--drive", drive, "--ephemeral", "--open", args.survey)
        end_ns = whole["time"]["end_ns"]
        found = []
        for index in range(count):
            chance = random.Random(f"slate survey {seed}:{index}")
            at_ns, seeds = chance.randrange(1, end_ns + 1), [chance.randrange(1 << 32) for _ in range(states)]
            seen: set[str] = set()
            for torn in seeds:
                power = replayed("--survey", "--drive", drive, "--ephemeral", "--open", "--survivors", "--cut-at",
                                 at_ns, "--cut-seed", torn, args.survey)["power"]  # fmt: skip
                if not seen:
                    writes = visible(power["unflushed"])
                if not writes:
                    break
                seen.add(str(power["state"]))
            if writes:
                found.append((writes, seen))
    print(HEAD)
    print(text(" ".join([profile.stem, *args.set]), found))
    return OK

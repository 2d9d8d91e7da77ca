# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what a work and its check count, and makes the result of a campaign for 'slate study' (--json).

A work may end an announcement with words NAME=NUMBER, such as how long an operation took; they have a distribution over
all announcements before a cut. A check may print lines NAME=NUMBER, such as how much is lost; they have a value for
each cut. The result has no times of the host, so that equal campaigns have equal bytes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from ..shape import Json
from .workload import FAILED, VERDICTS

_WORD = re.compile(r"([a-z][a-z0-9_]{0,30})=(-?[0-9]{1,18}(?:\.[0-9]{1,9})?)")
_SHARES = {"p50": 500, "p99": 990, "p99.9": 999}  # of a thousand
_LISTS = ("cut_ns", "operations", "lost_requests", "torn_programs")


def of_check(said: str) -> dict[str, float]:
    """Return the figures that a check printed; the last line of a name counts."""
    return {match[1]: float(match[2]) for line in said.splitlines() if (match := _WORD.fullmatch(line.strip()))}


def of_announced(lines: Iterable[bytes]) -> dict[str, dict[str, float]]:
    """Return the distribution of each figure that the last words of announcements have."""
    values: dict[str, list[float]] = {}
    for line in lines:
        for word in reversed(line.decode(errors="replace").split()):
            if not (match := _WORD.fullmatch(word)):
                break
            values.setdefault(match[1], []).append(float(match[2]))
    return {name: distribution(found) for name, found in sorted(values.items())}


def distribution(values: list[float]) -> dict[str, float]:
    """Return number, mean, maximum and percentiles: a percentile is the least value that so many do not exceed."""
    values = sorted(values)
    shares = {name: values[math.ceil(len(values) * share / 1000) - 1] for name, share in _SHARES.items()}
    return {"count": len(values), "mean": math.fsum(values) / len(values), **shares, "max": values[-1]}


def result(cuts: list[Json]) -> Json:
    """Return the result of a campaign: lists have a value for each cut, `announced` is of the latest cut."""
    names = dict.fromkeys(name for cut in cuts for name in cut.get("figures", {}))
    latest = max(cuts, key=lambda cut: int(cut["cut_ns"]))
    return {
        "cuts": len(cuts),
        "verdicts": {name: sum(cut["verdict"] == name for cut in cuts) for name in (*VERDICTS, FAILED)},
        **{name: [cut[name] for cut in cuts] for name in _LISTS},
        "figures": {name: [cut["figures"][name] for cut in cuts if name in cut.get("figures", {})] for name in names},
        "announced": latest.get("announced", {}),
    }

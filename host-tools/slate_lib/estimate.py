# SPDX-License-Identifier: GPL-2.0-or-later
"""Says before the boot how much a fio job asks for, and while it runs how much of that is left.

A job's sections run at once up to a `stonewall`; then the sections behind it run at once, and so on. The job's time is
the sum, over these groups, of the longest `runtime` plus `ramp_time` in each; its number of I/Os is that of all
sections and their clones. Either is unknown if a section does not bound it. If both are known, the job ends with the
one that is reached first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from . import units
from .jobcheck import Section
from .jobsizes import in_bytes

_VARIABLE = re.compile(r"\$\{(\w+)\}")
_TIME = re.compile(r"(\d+)\s*(us|ms|s|m|h|d)?")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, None: 1.0}
WHOLE = 512 << 10  # bytes of the largest I/O that Linux gives to the drive whole: the controller's MDTS
LEAST = 0.02  # the rest is estimated once this share of a job is done


@dataclass(frozen=True)
class Goal:
    """Holds what a job asks for; None: not bounded, or not known."""

    seconds: float | None
    ios: int | None

    def words(self) -> str:
        """Return what the job asks for; empty: neither is known."""
        told = [units.many(self.ios, "I/O")] if self.ios else []
        told += [f"{self.seconds:g} s of the guest's time"] if self.seconds else []
        return f"asks for {' or '.join(told)}" if told else ""

    def left(self, guest_seconds: float, ios: int, host_seconds: float) -> str:
        """Return how long the host will need for the rest, by its speed so far; empty: not known yet."""
        done = max(
            guest_seconds / self.seconds if self.seconds else 0.0,
            ios / self.ios if self.ios else 0.0,
        )
        if not LEAST <= done < 1:
            return ""
        rest = host_seconds * (1 - done) / done
        return f" · the host needs about {f'{rest:.0f} s' if rest < 90 else f'{rest / 60:.0f} min'} more"


def of(sections: list[Section], environment: dict[str, str], capacity: int) -> Goal:
    """Return what a job asks for. capacity: of the drive, in bytes."""
    seconds: float | None = 0.0
    longest: float | None = 0.0
    ios: int | None = 0
    for section in sections:
        options = {
            key: _VARIABLE.sub(lambda found: environment.get(found[1], ""), value)
            for key, value in section.options.items()
        }
        if any(options.get(key, "0") != "0" for key in ("stonewall", "wait_for_previous")):
            seconds, longest = _sum(seconds, longest), 0.0
        mine = _runtime(options)
        longest = None if mine is None or longest is None else max(longest, mine)
        count = _ios(options, capacity)
        ios = None if count is None or ios is None else ios + count
    return Goal(_sum(seconds, longest), ios)


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _runtime(options: dict[str, str]) -> float | None:
    """Return a section's time in seconds; None: it has no limit, or one that this function cannot read."""
    times = [_TIME.fullmatch(options.get(key, "0")) for key in ("runtime", "ramp_time")]
    if times[0] is None or times[1] is None or int(times[0][1]) == 0:
        return None
    return sum(int(found[1]) * _SECONDS[found[2]] for found in times if found)


def _ios(options: dict[str, str], capacity: int) -> int | None:
    """Return the I/Os of a section and its clones; None: it runs for a time, its sizes differ, or Linux splits them."""
    if options.get("time_based", "0") != "0" or {"bsrange", "bssplit", "read_iolog", "filesize"} & options.keys():
        return None
    block = in_bytes(options.get("bs", "4k"), capacity)
    size = in_bytes(options.get("size", "100%"), capacity)
    offset = in_bytes(options.get("offset", "0"), capacity)
    if size and offset and "size" not in options:
        size = max(size - offset, 0)
    moved = in_bytes(options["io_size"], capacity) if "io_size" in options else size
    words = [options.get(key, other) for key, other in (("numjobs", "1"), ("loops", "1"), ("number_ios", "0"))]
    if not block or block > WHOLE or not size or not moved or offset is None or not all(map(str.isdigit, words)):
        return None
    clones, loops, most = map(int, words)
    # fio's loops count passes of at most the size (findings/fio-io-size-loops.sh)
    each = max(min(size, moved) // block * loops, moved // block)
    return clones * (min(each, most * loops) if most else each)

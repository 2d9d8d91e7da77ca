# SPDX-License-Identifier: GPL-2.0-or-later
"""Knows fio's rules for random addresses: which seed a job has, and whether it repeats one order.

What fio does (init.c, options.c, libfio.c of 3.33, 3.39, 3.41):

- randrepeat is on unless a job turns it off. Then a job's addresses are the same in every run, and
  each further pass over its size (loops, io_size, time_based) repeats the order of the first.
- randseed turns randrepeat off, but fio before 3.35 does so after it has set the addresses' seed, so
  all values give the same addresses. With randrepeat=0 beside it every fio has the same addresses.
- The N-th thread multiplies the seed by N. Seeds 1 and 2 would share an order, and all threads that
  of seed 0. So fio's seed is a hash of the run's.
- random_generator=lfsr begins each pass with the same seed.
- Without randrepeat two kinds of verification fail on sound data: experimental_verify (3.33, 3.41),
  and that of randrw with loops (3.33).

run-fio gives each job that sets no seed of its own randseed and randrepeat=0, except these two kinds.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from . import jobcheck

if TYPE_CHECKING:
    from .jobfile import JobFile

JOB, PRECONDITION = "job", "precondition"
DEFAULT = 1  # the value of --seed


def of(seed: int, what: str) -> int:
    """Return fio's seed for a part of a run with this seed: 1 to 2^31 - 1.

    The parts differ, or the job could overwrite the drive in the order in which it was aged.
    """
    told = hashlib.sha256(f"slate {what} {seed}".encode()).digest()
    return int.from_bytes(told[:4], "big") % (2**31 - 1) + 1


def _is_on(options: dict[str, str], name: str) -> bool:
    """Is a yes-or-no option set? Without a value it is."""
    return name in options and options[name].strip() not in ("0", "false")


def own(options: dict[str, str]) -> bool:
    """Does the job set its seed itself, or ask for fio's fixed one, or need it to verify?"""
    if "randseed" in options or _is_on(options, "randrepeat") or _is_on(options, "allrandrepeat"):
        return True
    mixed = "randrw" in options.get("rw", options.get("readwrite", ""))
    return "verify" in options and (_is_on(options, "experimental_verify") or (mixed and "loops" in options))


def fixed_jobs(job: JobFile | None, seed: int) -> list[str]:
    """Return the jobs whose addresses another --seed than the default does not change."""
    if not job or seed == DEFAULT:
        return []
    return [
        section.name
        for section in jobcheck.sections(job.path, job.text)
        if own(section.options) and "${SLATE_SEED}" not in section.options.get("randseed", "")
    ]


def repeats(options: dict[str, str]) -> bool:
    """Would a second pass of a job write in the order of the first? options: those that fio had in the end."""
    kind = options.get("rw", options.get("readwrite", ""))
    if "rand" not in kind or kind.startswith("randread"):
        return False
    if options.get("random_generator") == "lfsr":
        return True
    kept = "randrepeat" not in options or _is_on(options, "randrepeat")
    return kept and "randseed" not in options


def cuts_blocks(options: dict[str, str]) -> bool:
    """Does fio's map of visited blocks cut requests of a job with these options?

    It does if one direction has several sizes and addresses are uniform: other distributions have no map.
    """
    kind = options.get("rw", options.get("readwrite", ""))
    if "rand" not in kind or _is_on(options, "norandommap"):
        return False
    if options.get("random_distribution", "random") != "random":
        return False
    ranges = [sizes.partition("-") for sizes in options.get("bsrange", options.get("blocksize_range", "")).split(",")]
    several = any(":" in sizes.strip(":") for sizes in options.get("bssplit", "").split(","))
    return several or any(low != high for low, _dash, high in ranges)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the block sizes of a job as fio does, and estimates the guest's memory that fio needs.

bs, bsrange and bssplit take a value for reads, writes and trims, with commas between. An empty value leaves the
default, and so does what follows a comma at the end; otherwise those that are not given equal the last one that is.

Memory, as measured with fio 3.41 in the guest: each clone has THREAD_BYTES in memory that all of them share. While it
runs it has a process, a buffer for each I/O in flight, and a bit for each block that it may visit at random. At the end
fio copies the statistics of each clone, or with group_reporting of each job.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

DEFAULT = 4096  # bytes; fio's bs
OPERATIONS = ("reads", "writes", "trims")  # in fio's order
# The operations of each rw=, as indices; a job without rw reads.
_USES = {"read": (0,), "write": (1,), "trim": (2,), "rw": (0, 1), "readwrite": (0, 1), "trimwrite": (1, 2)}
_SIZE = re.compile(r"(\d+)([kmgtp]?)b?", re.IGNORECASE)
GUEST_BYTES = 190 << 20  # kernel, initramfs and fio with one job, in a guest of 1 GiB and more
THREAD_BYTES = 2420 << 10  # fio's struct thread_data, of each clone
COPY_BYTES = 2420 << 10  # of its statistics, when fio ends
PROCESS_BYTES = 300 << 10  # page tables, stack, pages of its own
_SHIFTS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}


@dataclass(frozen=True)
class Block:
    """Holds the blocks of an operation, and the option that says their sizes in bytes."""

    option: str
    operation: str
    least: int
    most: int


def in_bytes(text: str, capacity: int) -> int | None:
    """Return fio's size in bytes, or its share of the drive; None: another form, which fio parses."""
    share = re.fullmatch(r"(\d{1,3})%", text)
    if share:
        return capacity * int(share[1]) // 100
    found = _SIZE.fullmatch(text.strip())
    return int(found[1]) << _SHIFTS[found[2].lower()] if found else None


def blocks(options: dict[str, str], capacity: int) -> list[Block]:
    """Return the blocks of each operation that the job does; without those that only fio can read."""
    found = []
    for index in _used(options):
        for option, of_text in (("bssplit", _of_split), ("bsrange", _of_range), ("bs", _of_one)):
            text = _value(options.get(option, ""), index, r"[,:-]" if option == "bs" else ",")
            if text:
                sizes = of_text(text, capacity)
                found += [Block(option, OPERATIONS[index], min(sizes), max(sizes))] if sizes else []
                break
        else:
            found.append(Block("bs", OPERATIONS[index], DEFAULT, DEFAULT))
    return found


def _used(options: dict[str, str]) -> tuple[int, ...]:
    """Return the indices of the values that the job uses. With bs_is_seq_rand they are of sequential and random I/O."""
    kind = options.get("rw", "read").partition(":")[0]
    if options.get("bs_is_seq_rand", "0") != "0":
        return (0, 1) if "percentage_random" in options else (1,) if kind.startswith("rand") else (0,)
    return _USES.get(kind.removeprefix("rand"), ())


def _value(text: str, index: int, between: str) -> str:
    """Return the value for reads (0), writes (1) or trims (2); empty: fio's default."""
    values = re.split(between, text, maxsplit=2)
    return values[min(index, len(values) - 1)].strip()


def _of_one(text: str, capacity: int) -> list[int]:
    return _all([text], capacity)


def _of_range(text: str, capacity: int) -> list[int]:
    return _all(re.split("[-:]", text), capacity)


def _of_split(text: str, capacity: int) -> list[int]:
    """Return the sizes of SIZE/PERCENT:SIZE/PERCENT...; a size without per cent has a share of what is left."""
    parts = [one.partition("/") for one in text.split(":")]
    return _all([size for size, _, share in parts if share.strip() != "0"], capacity)


def _all(texts: list[str], capacity: int) -> list[int]:
    """Return all sizes; none if one of them is in another form."""
    sizes = [in_bytes(one, capacity) for one in texts]
    return [one for one in sizes if one is not None] if None not in sizes else []


class Job(Protocol):
    """A section of a job file."""

    name: str
    options: dict[str, str]


def memory(jobs: Sequence[Job], capacity: int) -> int:
    """Return the least memory, in bytes, of a guest that runs these jobs."""
    running = most = copies = shared = 0
    for job in jobs:
        clones = count(job.options, "numjobs")
        if any(job.options.get(key, "0") != "0" for key in ("stonewall", "wait_for_previous")):
            running = 0
        running += clones * (PROCESS_BYTES + _own_bytes(job.options, capacity))
        most = max(most, running)
        shared += clones * THREAD_BYTES
        copies += COPY_BYTES * (1 if job.options.get("group_reporting", "0") != "0" else clones)
    return GUEST_BYTES + shared + max(most, copies)


def _own_bytes(options: dict[str, str], capacity: int) -> int:
    """Return the bytes of a clone's buffers and of its map of random blocks."""
    kind = options.get("rw", "read").partition(":")[0]
    found = blocks(options, capacity)
    buffer = max((block.most for block in found if block.operation != "trims"), default=0)
    size = in_bytes(options.get("size", "100%"), capacity) or 0
    smallest = min((block.least for block in found), default=0)
    mapped = kind.startswith("rand") and options.get("norandommap", "0") == "0"
    bits = size // smallest if mapped and smallest and options.get("random_generator", "tausworthe") != "lfsr" else 0
    return count(options, "iodepth") * buffer + bits // 8


def count(options: dict[str, str], key: str) -> int:
    """Return a number of a job's; 1 without it."""
    return int(options[key]) if options.get(key, "").isdigit() else 1

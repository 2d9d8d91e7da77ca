# SPDX-License-Identifier: GPL-2.0-or-later
"""measures.py - the papers' quantities, from slate-replay's JSON. Each function takes one result and returns a number.

It returns None if the divisor is 0 (no reads, no writes).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any

Result = dict[str, Any]  # JSON


def _ratio(a: float, b: float) -> float | None:
    return a / b if b else None


def _latency_us(result: Result, op: str) -> float | None:
    host = result["host"][op]
    return host["latency"]["sum_ns"] / host["ios"] / 1000 if host["ios"] else None


def write_us(result: Result) -> float | None:
    """Return the mean write latency, in us."""
    return _latency_us(result, "write")


def write_longest_ms(result: Result) -> float | None:
    """Return the longest write latency, in ms."""
    host = result["host"]["write"]
    return host["latency"]["max_ns"] / 1e6 if host["ios"] else None


def read_us(result: Result) -> float | None:
    """Return the mean read latency, in us."""
    return _latency_us(result, "read")


def iops(result: Result) -> float | None:
    """Return the reads and writes per second."""
    span = result["time"]["end_ns"] - result["time"]["begin_ns"]
    return _ratio(1e9 * (result["host"]["read"]["ios"] + result["host"]["write"]["ios"]), span)


def wa(result: Result) -> float | None:
    """Return the pages programmed, divided by the pages programmed for the host."""
    programs, copies = result["nand"]["ops"]["program"], result["nand"]["ops"]["copyback"]
    return _ratio(sum(programs.values()) + sum(copies.values()), programs["host"])


def wa_bytes(result: Result) -> float | None:
    """Return the bytes programmed over bytes written by the host; a write of a part of a page programs a whole page."""
    found: float | None = result["waf"]
    return found


def aep(result: Result) -> float:
    """Return the mean erases of a page."""
    found: float = result["wear"]["aep"]
    return found


def vep(result: Result) -> float:
    """Return the variance of the erases of a page."""
    found: float = result["wear"]["vep"]
    return found


def within_blocks(result: Result) -> float:
    """Return the mean variance of the erases of a block's pages, by a program with trials/causes.patch.

    Only partial erases make it.
    """
    wear, per_block = result["wear"], _setting(result, "geometry.pages_per_block")[0]
    spread: int = per_block * wear["page_erases_sq"] - wear["block_erases_sq"]
    whole: int = per_block * wear["pages"]
    return spread / whole


def between_blocks(result: Result) -> float:
    """Return the rest of VEP: the variance, over all pages, of the mean erases of their blocks."""
    return vep(result) - within_blocks(result)


def gc_calls(result: Result) -> int:
    """Return the number of GC runs: merges (block mapping), calls (page mapping)."""
    found: int = result["gc"]["calls"]
    return found


def gc_ms(result: Result) -> float:
    """Return the time that planes spent in GC, in ms."""
    found: float = result["gc"]["ns"] / 1e6
    return found


def gc_call_ms(result: Result) -> float | None:
    """Return the mean time of a GC run, from choosing a victim to its erase, in ms."""
    return _ratio(gc_ms(result), gc_calls(result))


def units_per_call(result: Result) -> float | None:
    """Return the mean number of mapping units that a GC run moves."""
    return _ratio(result["gc"]["units_moved"], gc_calls(result))


def levelled_ms(result: Result) -> float | None:
    """Return the mean time of a die for a block that wear levelling empties, in ms."""
    spent = sum(die["ns"]["wl"] for die in result["busy"]["dies"])
    return _ratio(spent / 1e6, result["wear_levelling"]["blocks_levelled"])


def levelled_read(result: Result) -> float | None:
    """Return the bytes read for a byte that wear levelling moves."""
    moved = result["wear_levelling"]["units_moved"] * _setting(result, "ftl.unit_bytes")[0]
    return _ratio(result["nand"]["user_read_bytes"]["wl"], moved)


def read_mib_s(result: Result) -> float | None:
    """Return the MiB that the host read per second."""
    span = result["time"]["end_ns"] - result["time"]["begin_ns"]
    return _ratio(1e9 * result["host"]["read"]["bytes"] / 2**20, span)


def raf_host(result: Result) -> float | None:
    """Return the bytes of the ECC words that host reads took from the array, over bytes read by the host."""
    found: float | None = result["raf_by"].get("host")
    return found


def reads_up_to(size: int) -> Callable[[Result], float]:
    """Make a measure: share of the trace's reads that have at most `size` bytes, in per cent, from mix.read_sizes()."""

    def measure(result: Result) -> float:
        sizes: dict[int, int] = result["read_sizes"]
        return 100 * sum(n for one, n in sizes.items() if one <= size) / sum(sizes.values())

    return measure


def dies_busy(result: Result) -> float:
    """Return the mean share of the time in which a die was busy, in %."""
    dies = result["busy"]["dies"]
    return 100 * statistics.fmean(die["busy"] for die in dies)


def pages_moved(result: Result) -> int:
    """Return the pages that GC copied."""
    found: int = result["gc"]["pages_moved"]
    return found


def blocks_erased(result: Result) -> int:
    """Return the blocks (or partial blocks) erased."""
    found: int = result["gc"]["blocks_erased"]
    return found


def copies_per_block(result: Result) -> float | None:
    """Return the pages that GC copied for each block that was erased."""
    return _ratio(pages_moved(result), blocks_erased(result))


def pages_written(result: Result) -> int:
    """Return the pages that the DAC FTL programmed, including those of GC."""
    found: int = result["reduction"]["host_pages"] + result["reduction"]["gc_pages"]
    return found


def pages_by_gc(result: Result) -> int:
    """Return the pages that GC programmed, which pages_written includes."""
    found: int = result["reduction"]["gc_pages"]
    return found


def pages_if_split(result: Result) -> float:
    """Return how many pages the contents would take if they could go on in the next page.

    Entries have 16 bytes, 25 with a reference.
    """
    one, unit_bytes = result["reduction"], _setting(result, "ftl.unit_bytes")[0]
    entries = 16 * one["comp_units"] + 25 * (one["delta_units"] + one["link_units"])
    found: float = one["raw_units"] + (one["comp_bytes"] + one["delta_bytes"] + entries) / unit_bytes
    return found


def units_reduced(result: Result) -> int:
    """Return the units given to the DAC FTL's engine."""
    return sum(result["reduction"][f"{kind}_units"] for kind in ("raw", "comp", "delta", "link"))


def reference_share(result: Result) -> float | None:
    """Return the share of all units that are stored against a reference."""
    return _ratio(result["reduction"]["delta_units"], units_reduced(result))


def _of_delta_units(result: Result, size: int) -> float | None:
    unit_bytes = _setting(result, "ftl.unit_bytes")[0]
    return _ratio(size, result["reduction"]["delta_units"] * unit_bytes)


def reference_ratio(result: Result) -> float | None:
    """Return the compressed size of units with a reference, as a share of their size."""
    return _of_delta_units(result, result["reduction"]["delta_bytes"])


def plain_ratio(result: Result) -> float | None:
    """Return the size of units with a reference if compressed alone, as a share of their size.

    This needs ftl.count_plain.
    """
    return _of_delta_units(result, result["reduction"]["plain_bytes"])


def reference_reads(result: Result) -> int:
    """Return the number of references that were read from flash."""
    found: int = result["reduction"]["reference_reads"]
    return found


def refused(result: Result) -> int:
    """Return the number of references that were found but refused, because the drive had no room to keep them."""
    found: int = result["reduction"]["refused_references"]
    return found


def gc_energy_uj(result: Result) -> float:
    """Return the energy of GC's reads, programs, copies and erases, in uJ."""
    found: float = sum(by_cause["gc"] for op, by_cause in result["energy_nj"].items() if op != "total") / 1000
    return found


def _setting(result: Result, key: str) -> list[int]:
    for line in result["settings"]:
        name, _, value = line.partition("=")
        if name.strip() == key:
            return [int(part) for part in value.split(",")]
    raise KeyError(key)


def gc_parts_ms(result: Result) -> dict[str, float]:
    """Return the array time of GC by kind of work, in ms: spare-area reads, reads, programs, erases.

    A copy is one read and one program, so additional reads of GC are reads of spare areas.
    """
    ops = result["nand"]["ops"]
    read_ns, program_ns = _setting(result, "timing.read_ns")[0], _setting(result, "timing.program_ns")[0]
    erase_ns = _setting(result, "timing.erase_ns")[0]
    return {
        "GC spare area": max(0, ops["read"]["gc"] - ops["program"]["gc"]) * read_ns / 1e6,
        "GC read": min(ops["read"]["gc"], ops["program"]["gc"]) * read_ns / 1e6,
        "GC write": ops["program"]["gc"] * program_ns / 1e6,
        "GC erase": sum(ops["erase"].values()) * erase_ns / 1e6,
    }


def write_parts_us(result: Result) -> dict[str, float] | None:
    """Return the mean write latency by cause, in us: the write itself and other waits, and GC by kind of work."""
    host = result["host"]["write"]
    if not host["ios"]:
        return None
    total = host["latency"]["sum_ns"] / host["ios"] / 1000
    in_gc = host["where_ns"]["gc_queue"] / host["ios"] / 1000
    parts = gc_parts_ms(result)
    every = math.fsum(parts.values())
    out = {name: in_gc * part / every if every else 0.0 for name, part in parts.items()}
    return {"write and queue": total - math.fsum(out.values()), **out}


def _gc_share(result: Result, op: str) -> float | None:
    host = result["host"][op]
    return 100 * host["where_ns"]["gc_queue"] / host["latency"]["sum_ns"] if host["ios"] else None


def write_gc_share(result: Result) -> float | None:
    """Return the share of the mean write response that is a wait for GC, in %."""
    return _gc_share(result, "write")


def read_gc_share(result: Result) -> float | None:
    """Return the share of the mean read response that reads waited for GC, in %."""
    return _gc_share(result, "read")


def write_gc_us(result: Result) -> float | None:
    """Return the mean wait of a write for GC, in us."""
    return _ratio(result["host"]["write"]["where_ns"]["gc_queue"] / 1000, result["host"]["write"]["ios"])


def read_gc_us(result: Result) -> float | None:
    """Return the mean time that a read waited for GC, in us."""
    return _ratio(result["host"]["read"]["where_ns"]["gc_queue"] / 1000, result["host"]["read"]["ios"])


def waiting(result: Result) -> float:
    """Return the mean number of requests in the drive: the sum of all latencies by the run's length."""
    total = sum(result["host"][op]["latency"]["sum_ns"] for op in ("read", "write") if result["host"][op]["ios"])
    return float(total / (result["time"]["end_ns"] - result["time"]["begin_ns"]))


def series(result: Result) -> list[tuple[float, float]]:
    """Return (seconds, mean write latency in us) of every interval that has writes."""
    return [
        (row["at_ns"] / 1e9, row["write"]["latency_sum_ns"] / row["write"]["ios"] / 1000)
        for row in result["series"]["rows"]
        if "write" in row
    ]


def window_mib_s(result: Result, ms: int) -> list[float]:
    """Return the write bandwidth of every window of `ms` in which a write completed, in order of time."""
    width_ns = result["series"]["interval_ns"]
    assert ms * 10**6 % width_ns == 0
    found: dict[int, int] = {}
    for row in result["series"]["rows"]:
        if "write" in row:
            window = row["at_ns"] // (ms * 10**6)
            found[window] = found.get(window, 0) + row["write"]["bytes"]
    return [size * 1000 / ms / 2**20 for size in found.values()]


def peak_mib_s(ms: int) -> Callable[[Result], float]:
    """Return the function that finds the largest bandwidth of windows of `ms`."""
    return lambda result: max(window_mib_s(result, ms))


def mean_mib_s(ms: int) -> Callable[[Result], float]:
    """Return the function that finds the mean bandwidth of windows of `ms`."""
    return lambda result: statistics.fmean(window_mib_s(result, ms))


Measure = Callable[[Result], float | None]

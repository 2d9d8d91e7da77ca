# SPDX-License-Identifier: GPL-2.0-or-later
"""Converts the JSON of slate-replay (docs/replay.md) to the form of device.json and series.json.

Values counted by both a guest's run and a replay then have the same names, so that one report, one page and one
comparison serve both. It computes only sums.
"""

from __future__ import annotations

from typing import Any

from . import counters
from .account import NAND_OPS, OPS, PARTS, SUB_BUCKETS
from .series import NOT_TOLD, ROWS_MAX, SERIES, check_rows
from .shape import Json, Misfit, check

SCHEMA = "slate-replay-1"

_BY_SOURCE = {"host": int, "*": int}
_NOT_ALWAYS = ("controller", "namespace-queue")
_RATIO = (None, float)
_LATENCY = {"min_ns": int, "max_ns": int, "sum_ns": int, "histogram": [[int]]}
_HOST = {
    "ios": int,
    "bytes": int,
    "errors": int,
    "iops": _RATIO,
    "bytes_per_s": _RATIO,
    "where_ns": {part.replace("-", "_") + "?" * (part in _NOT_ALWAYS): int for part in PARTS},
    "latency": (None, _LATENCY),
}
# These counters have other names in a guest's run. The others, in ftl_counts and nand, have the same name there.
_FTL = {
    "ftl_counts": {"host_units": "host-units", "meta_units": "meta-units", "pad_units": "pad-units",
                   "unwritten_units": "unwritten-units", "merge_read_bytes": "merge-read-bytes"},
    "gc": {"calls": "gc-runs", "ns": "gc-ns", "units_moved": "gc-units", "merges": "merges", "mmerges": "mmerges",
           "second_victims": "second-victims"},
    "word_lines": {"lsb_pages": "fast-pages", "msb_pages": "slow-pages", "parity_pages": "backup-pages"},
    "wear_levelling": {"blocks_levelled": "wl-runs", "blocks_relocated": "relocations", "units_moved": "wl-units"},
    "wear": {"retired_blocks": "retired-blocks"},
}  # fmt: skip
_REDUCTION = ("host_pages", "gc_pages", "raw_units", "comp_units", "comp_bytes", "delta_units", "delta_bytes",
              "link_units", "reference_hits", "reference_reads")  # fmt: skip
_NAND = ("read_bytes", "corrected", "retries", "uncorrectable", "program_fails", "erase_fails", "disturb_lost",
         "partial_erases", "parallel_erases", "subpage_reads", "suspends")  # fmt: skip
_WEAR = ("erase_count_max", "page_erases", "page_erases_sq")
_INPUT = ("rows", "bad", "other_devices", "requests", "backwards", "zero_size", "aligned", "folded", "scaled", "moved")
_INPUT_LATER = ("passed_over?", "clipped?", "split?", "trims_left_out?")  # older files have no such counts
_INTERVAL_OP = {"ios": int, "bytes": int, "latency_sum_ns": int, "latency_max_ns": int}
_BUSY = [{"ns": _BY_SOURCE}]

# These settings of a replay, from "replay", and of its traces are reported.
ASKED = ("traces", "loop", "qd", "think", "speed", "repeat", "limit", "warmup", "beyond", "align_bytes")

SHAPE = {
    "schema": str,
    "drive": str,
    "ftl": str,
    "capacity_bytes": int,
    "settings": [str],
    "replay": {"loop": str, "qd": int, "speed_millionths": int, "repeat": int, "limit": int, "warmup": int,
               "beyond": str, "align_bytes": int, "think": bool},
    "inputs": [{"name": str, "format": str, **dict.fromkeys(_INPUT + _INPUT_LATER, int)}],
    "requests": dict.fromkeys(("submitted", "completed", "counted", "deepest_queue"), int),
    "time": dict.fromkeys(("begin_ns", "end_ns", "idle_ns"), int),
    "host": dict.fromkeys(OPS, _HOST),
    **{section: {**dict.fromkeys(keys, int), "*": int} for section, keys in _FTL.items()},
    "wear": dict.fromkeys(("retired_blocks", *_WEAR), int),
    "energy_nj": dict.fromkeys(NAND_OPS, _BY_SOURCE),
    "nand": {"ops": dict.fromkeys(NAND_OPS, _BY_SOURCE), "user_read_bytes": _BY_SOURCE, "violations": int,
             **dict.fromkeys(_NAND, int), "*": (int, _BY_SOURCE)},
    "reduction": (None, dict.fromkeys(_REDUCTION, int)),
    "busy": {"dies": _BUSY, "channels": _BUSY},
    "check": (None, {"sectors": int, "wrong": int, "unknown": int}),
    "recorded": (None, {"compared": int, "differed": int, "commands_equal": bool}),
    "power": (None, dict.fromkeys(("cut-ns", "lost-requests", "torn-programs", "torn-erases", "saved-ns",
                                   "saved-programs", "unsaved-pages"), int)),
    "mount?": {"ns": int, "reads": _BY_SOURCE, "programs": int, "erases": int},
    "series": (
        None,
        {
            "interval_ns": int,
            "rows": [
                {"at_ns": int, "nand_programs": int, "gc_units": int, **{f"{op}?": _INTERVAL_OP for op in OPS}}
            ],
        },
    ),
    "timeline?": (None, {"rows": int, "*": object}),
}  # fmt: skip


def dashed(key: str) -> str:
    """Return a name such as 'gc_units' in the form of device.json."""
    return key.replace("_", "-")


def checked(raw: Any) -> Json:
    """Raise Misfit unless it is the JSON of a replay."""
    if not isinstance(raw, dict) or raw.get("schema") != SCHEMA:
        raise Misfit(f"its schema is not {SCHEMA}")
    check(raw, SHAPE)
    for op in OPS:
        found = raw["host"][op]
        latency = found["latency"]
        if bool(found["ios"]) != bool(latency) or (
            latency and any(len(bucket) != 2 for bucket in latency["histogram"])
        ):
            raise Misfit(f"'host.{op}.latency' does not go with its I/Os")
    if raw["series"] and not raw["series"]["interval_ns"]:
        raise Misfit("'series.interval_ns' is 0")
    return raw


def _op(raw: Json) -> Json:
    latency = raw["latency"] or {"sum_ns": 0, "max_ns": 0, "histogram": []}
    return {
        **{key: raw[key] for key in ("ios", "bytes", "errors")},
        "latency-sum-ns": latency["sum_ns"],
        "latency-max-ns": latency["max_ns"],
        "histogram": [{"floor-ns": floor, "count": count} for floor, count in latency["histogram"]],
        "sub-buckets": SUB_BUCKETS,
        **{f"{part}-ns": raw["where_ns"].get(part.replace("-", "_"), 0) for part in PARTS},
    }


def _sources(raw: Json) -> dict[str, Json]:
    """Return the array's work, by cause."""
    by_source = {key: value for key, value in raw["nand"].items() if isinstance(value, dict) and key != "ops"}
    busy = {f"{what}-busy-ns": raw["busy"][whole] for what, whole in (("die", "dies"), ("bus", "channels"))}
    return {
        source: {
            **{f"{op}s": raw["nand"]["ops"][op].get(source, 0) for op in NAND_OPS},
            **{f"{op}-nj": raw["energy_nj"][op].get(source, 0) for op in NAND_OPS},
            **{dashed(key): each.get(source, 0) for key, each in by_source.items()},
            **{key: sum(one["ns"].get(source, 0) for one in each) for key, each in busy.items()},
        }
        for source in counters.sources(name for op in NAND_OPS for name in raw["nand"]["ops"][op])
    }


def device(raw: Json) -> Json:
    """Return the replay in the form of device.json; its time is that of the statistics."""
    ftl = {dashed(key): value for key, value in raw["ftl_counts"].items()}
    ftl |= {name: raw[section][key] for section, keys in _FTL.items() for key, name in keys.items()}
    ftl |= {dashed(key): raw["reduction"][key] for key in _REDUCTION if raw["reduction"]}
    ftl["core-busy-ns"] = raw["ftl_counts"].get("core_busy_ns", 0)  # of drives with cores
    nand = {dashed(key): value for key, value in raw["nand"].items() if isinstance(value, int)}
    del nand["violations"]  # a sum here, and a list by rule there
    nand |= {dashed(key): raw["wear"][key] for key in _WEAR}
    nand["damaged"] = raw["nand"].get("damaged", 0)  # older results lack the counter
    return {
        "capacity": raw["capacity_bytes"],
        "profile": raw["drive"],
        "settings": raw["settings"],
        "at-ns": raw["time"]["idle_ns"] - raw["time"]["begin_ns"],
        "total": {
            **{op: _op(raw["host"][op]) for op in OPS},
            "ftl": ftl,
            "nand": {**nand, "by-source": _sources(raw)},
        },
        "dies": [one["ns"] for one in raw["busy"]["dies"]],
        "channels": [one["ns"] for one in raw["busy"]["channels"]],
    }


def record(raw: Json) -> Json:
    """Return the replay's settings in the form of run.json."""
    how = raw["replay"]
    told = {**how, "speed": how["speed_millionths"] / 1e6, "traces": " ".join(one["name"] for one in raw["inputs"])}
    return {"settings": {key: f"{told[key]:g}" if key == "speed" else str(told[key]) for key in ASKED}}


# ---- over time


def _rows_of(raw: Json) -> Json:
    """Return the timeline in the form of series.json."""
    if raw["rows"] > ROWS_MAX:
        raise Misfit(f"'timeline.rows' is more than {ROWS_MAX}")
    found: Json = {dashed(key): value for key, value in raw.items()}
    for group in (*OPS, "drive"):
        check(found.get(group), {"*": (None, [int])}, f"timeline.{group}")
        found[group] = {
            dashed(key): [NOT_TOLD] * raw["rows"] if column is None else column
            for key, column in raw[group].items()
        }
    return found


def _joined(raw: Json, begin_ns: int) -> Json:
    """Return the values of --interval that series.json has; if there are many intervals, neighbours are joined."""
    rows = raw["rows"]
    if any(row["at_ns"] < begin_ns for row in rows):
        raise Misfit("'series.rows' begin before the statistics")
    last = max((row["at_ns"] - begin_ns for row in rows), default=0) // raw["interval_ns"]
    step = raw["interval_ns"] * (last // ROWS_MAX + 1)
    count = (last * raw["interval_ns"]) // step + 1
    words = ("ios", "bytes", "latency-sum-ns", "latency-max-ns")
    found: Json = {"begin-ns": begin_ns, "interval-ns": step, "rows": count, "dies": [], "channels": []}
    found |= {op: {word: [0] * count for word in words} for op in OPS}
    found["drive"] = {word: [0] * count for word in ("gc-units", "nand-programs")}
    for row in rows:
        at = (row["at_ns"] - begin_ns) // step
        for op in OPS:
            for word, column in found[op].items() if op in row else ():
                value = row[op][word.replace("-", "_")]
                column[at] = max(column[at], value) if word == "latency-max-ns" else column[at] + value
        for word, column in found["drive"].items():
            column[at] += row[word.replace("-", "_")]
    return found


def series(raw: Json) -> Json | None:
    """Return the replay's series in the form of series.json, from --timeline or partly from --interval;
    None: neither.
    """
    if raw.get("timeline"):
        found = _rows_of(raw["timeline"])
        check(found, SERIES, "timeline")
        check_rows(found)
        return found
    return _joined(raw["series"], raw["time"]["begin_ns"]) if raw["series"] and raw["series"]["rows"] else None

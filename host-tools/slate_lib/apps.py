# SPDX-License-Identifier: GPL-2.0-or-later
"""Execute 'slate run --app': applications on a file system on the drive, and their own results.

An application is a script in host-tools/guest/apps, its parameters (which the script gets as
variables APP_NAME), and a parser of its programs' output. The result is app.json:

    {"app": NAME, "parameters": {...},
     "parts": [{"name", "operations", "seconds", "latency_ns": {"mean", "p50", "p99", "max"}}]}

A part's name is the mark that it has in the drive's statistics, too. A figure that an
application does not give is null.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import names, paths, units
from .errors import MachineError, SlateError
from .shape import Json

SCRIPTS = paths.GUEST_TOOLS / "apps"
FILE_SYSTEMS = ("ext4", "xfs", "f2fs", "btrfs")
Files = dict[str, bytes]
Part = Json


@dataclass(frozen=True)
class Parameter:
    """Describes a parameter: a number, a size, a word of a list, or a free word (no choices)."""

    default: str
    what: str
    choices: tuple[str, ...] = ()
    kind: str = "word"  # or count, size

    def check(self, name: str, value: str) -> str:
        """Return the value in the form that the script needs."""
        if self.choices and value not in self.choices:
            raise SlateError(
                f"--app-arg {name}={value}: not a choice", f"use one of: {', '.join(self.choices)}"
            )
        if self.kind == "count" and not (re.fullmatch(r"[0-9]{1,9}", value) and int(value)):
            raise SlateError(
                f"--app-arg {name}={value}: not a whole number from 1", f"the default is {self.default}"
            )
        if self.kind == "size":
            try:
                value = str(units.parse_size(value))
            except ValueError:
                raise SlateError(
                    f"--app-arg {name}={value}: not a size", f"write it as {self.default}"
                ) from None
        return value


def _count(default: int, what: str) -> Parameter:
    return Parameter(str(default), what, kind="count")


def _size(default: str, what: str) -> Parameter:
    return Parameter(default, what, kind="size")


@dataclass(frozen=True)
class App:
    """An application."""

    name: str
    what: str
    parameters: dict[str, Parameter]
    read: Callable[[Files, dict[str, str]], list[Part]]
    files: tuple[str, ...] = ()  # further files that the script needs

    @property
    def script(self) -> Path:
        """Return the script that runs in the guest."""
        return SCRIPTS / f"{self.name}.sh"

    def values(self, words: list[str]) -> dict[str, str]:
        """Return all parameters, from NAME=VALUE words and the defaults."""
        known = {"fs": Parameter("ext4", "the file system", FILE_SYSTEMS)} | self.parameters
        given = {}
        for word in words:
            name, equals, value = word.partition("=")
            if not equals or name not in known:
                raise SlateError(
                    f"--app-arg {word}: {self.name} has no such parameter{names.nearest(name, known)}",
                    "there are: " + ", ".join(f"{key}={one.default}" for key, one in known.items()),
                )
            given[name] = value
        return {name: one.check(name, given.get(name, one.default)) for name, one in known.items()}


def find(name: str) -> App:
    """Find an application by its name."""
    if name not in APPS:
        raise SlateError(
            f"--app {name}: no such application{names.nearest(name, APPS)}", f"there are: {', '.join(APPS)}"
        )
    return APPS[name]


# ---- reading what programs printed -------------------------------------------------------


class _Unreadable(Exception):
    """Means that an application's output has an unknown form."""


def _text(files: Files, name: str) -> str:
    if name not in files:
        raise _Unreadable(f"{name} is not there")
    return files[name].decode(errors="replace")


def _number(text: str, pattern: str, name: str) -> float:
    match = re.search(pattern, text, re.M)
    if not match:
        raise _Unreadable(f"{name} does not tell {pattern!r}")
    return float(match[1])


def _part(name: str, operations: int, seconds: float, **latency_ns: float | None) -> Part:
    latency = {key: None if value is None else round(value) for key, value in latency_ns.items()}
    return {
        "name": name,
        "operations": operations,
        "seconds": round(seconds, 9),
        "latency_ns": {"mean": None, "p50": None, "p99": None, "max": None} | latency,
    }


def _of_samples(name: str, seconds: float, samples_ns: list[int]) -> Part:
    """Return a part with percentiles of samples.

    Percentile q is the smallest sample that at least q per cent do not exceed.
    """
    if not samples_ns:
        raise _Unreadable(f"{name}: no operation was timed")
    ordered = sorted(samples_ns)

    def rank(percent: int) -> int:
        return ordered[math.ceil(percent * len(ordered) / 100) - 1]

    mean = sum(ordered) / len(ordered)
    return _part(name, len(ordered), seconds, mean=mean, p50=rank(50), p99=rank(99), max=ordered[-1])


def _sysbench(files: Files, _: dict[str, str]) -> list[Part]:
    """Read sysbench's output: milliseconds with two decimals.

    The median comes from its histogram with steps of 1.6 %.
    """
    text = _text(files, "sysbench.txt")
    events = int(_number(text, r"total number of events: +(\d+)", "sysbench.txt"))
    seconds = _number(text, r"total time: +([0-9.]+)s", "sysbench.txt")
    # finer than its own "avg", which has two decimals of a millisecond
    mean = _number(text, r"^ +sum: +([0-9.]+)", "sysbench.txt") / max(events, 1)
    worst = _number(text, r"^ +max: +([0-9.]+)", "sysbench.txt")
    p99 = _number(text, r"99th percentile: +([0-9.]+)", "sysbench.txt")
    buckets = [(float(ms), int(n)) for ms, n in re.findall(r"^ +([0-9.]+) \|\**\s+(\d+)$", text, re.M)]
    seen, median = 0, None
    for ms, n in buckets:
        seen += n
        if 2 * seen >= sum(count for _, count in buckets):
            median = ms * 1e6
            break
    return [_part("run", events, seconds, mean=mean * 1e6, p50=median, p99=p99 * 1e6, max=worst * 1e6)]


def _pgbench(files: Files, _: dict[str, str]) -> list[Part]:
    """Read pgbench's output. Its log has the microseconds of every transaction; the rate is pgbench's own."""
    text = _text(files, "pgbench.txt")
    rate = _number(text, r"tps = ([0-9.]+) \(without initial", "pgbench.txt")
    samples = [
        int(line.split()[2]) * 1000 for line in _text(files, "pgbench-transactions.log").splitlines() if line
    ]
    return [_of_samples("run", len(samples) / rate, samples)]


def _sqlite(files: Files, _: dict[str, str]) -> list[Part]:
    """Read the nanoseconds of every operation. Operations do not overlap, so their sum is the time."""
    parts = []
    for name in ("update", "read"):
        samples = [int(line) for line in _text(files, f"sqlite-{name}.txt").split()]
        parts.append(_of_samples(name, sum(samples) / 1e9, samples))
    return parts


def _kv(files: Files, _: dict[str, str]) -> list[Part]:
    """Read db_bench's line of a benchmark and its histogram (whose percentiles are interpolated)."""
    parts = []
    for name in ("fillrandom", "readrandom"):
        file = f"kv-{name}.txt"
        text = _text(files, file)
        line = rf"^{name} +: .* ([0-9.]+) seconds (\d+) operations"
        match = re.search(line, text, re.M)
        if not match:
            raise _Unreadable(f"{file} does not tell {line!r}")
        number = r"([0-9.]+)"
        parts.append(
            _part(
                name,
                int(match[2]),
                float(match[1]),
                mean=_number(text, rf"Average: {number}", file) * 1000,
                p50=_number(text, rf"P50: {number}", file) * 1000,
                p99=_number(text, rf"P99: {number}", file) * 1000,
                max=_number(text, rf"Max: {number}", file) * 1000,
            )
        )
    return parts


def results(app: App, parameters: dict[str, str], files: Files) -> Json:
    """Return the content of app.json."""
    try:
        parts = app.read(files, parameters)
    except (_Unreadable, ValueError, IndexError) as error:
        raise MachineError(
            f"{app.name} ended well, but what it printed can not be read: {error}",
            "run again with --keep and look at its files in the run's directory",
        ) from None
    return {"app": app.name, "parameters": parameters, "parts": parts}


APPS = {
    app.name: app
    for app in (
        App(
            "sysbench-fileio",
            "Sysbench's requests to a set of files",
            {
                "size": _size("64M", "of all files"),
                "files": _count(8, "how many"),
                "mode": Parameter(
                    "rndrw", "kind of requests", ("seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw")
                ),
                "block": _size("16K", "of a request"),
                "flags": Parameter("direct", "how files are opened", ("direct", "sync", "dsync", "none")),
                "fsync": _count(100, "requests between two fsyncs"),
                "threads": _count(4, "how many"),
                "events": _count(5000, "requests"),
            },
            _sysbench,
        ),
        App(
            "pgbench",
            "PostgreSQL, pgbench's transactions",
            {
                "scale": _count(1, "of the tables: 15 MiB and 100,000 rows each"),
                "clients": _count(4, "sessions"),
                "transactions": _count(250, "of each client"),
                "script": Parameter(
                    "tpcb-like", "what a transaction is", ("tpcb-like", "simple-update", "select-only")
                ),
                "buffers": Parameter("16MB", "PostgreSQL's shared_buffers"),
            },
            _pgbench,
        ),
        App(
            "sqlite",
            "SQLite, durable transactions and reads by key",
            {
                "rows": _count(20000, "of the table, 250 bytes each"),
                "transactions": _count(500, "of four rows each"),
                "reads": _count(2000, "by key"),
                "journal": Parameter(
                    "wal", "how a transaction is made durable", ("wal", "delete", "truncate", "persist")
                ),
            },
            _sqlite,
            ("sqlite.py",),
        ),
        App(
            "kv",
            "RocksDB, by db_bench",
            {
                "keys": _count(20000, "how many"),
                "value": _count(1000, "bytes of a value"),
                "reads": _count(5000, "of each thread"),
                "memtable": _size("4M", "RocksDB's write_buffer_size"),
                "sync": Parameter("0", "1: every write is durable", ("0", "1")),
                "threads": _count(1, "that write, and read"),
            },
            _kv,
        ),
    )
}

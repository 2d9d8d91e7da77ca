# SPDX-License-Identifier: GPL-2.0-or-later
"""One part of the SQLite job, in the guest: fill, update or read.

Each operation's nanoseconds, as this program saw them, go to a file, one a line.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from functools import partial

ROWS_AT_ONCE = 500  # while filling
CHANGED = 4  # rows a transaction changes
TEXT = 200  # bytes of a row
Operations = Iterator[Callable[[], object]]


def text(rng: random.Random) -> str:
    """Return the content of a row."""
    return f"{rng.getrandbits(128):032x}" * (TEXT // 32) + "x" * (TEXT % 32)


def fill(base: sqlite3.Connection, rng: random.Random, args: argparse.Namespace) -> Operations:
    """Insert rows 0 .. rows-1, with an index."""
    base.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER, c TEXT)")
    base.execute("CREATE INDEX tk ON t (k)")

    def insert(rows: range) -> None:
        base.executemany("INSERT INTO t VALUES (?, ?, ?)", [(i, rng.randrange(1 << 30), text(rng)) for i in rows])

    for first in range(0, args.rows, ROWS_AT_ONCE):
        yield partial(insert, range(first, min(first + ROWS_AT_ONCE, args.rows)))


def update(base: sqlite3.Connection, rng: random.Random, args: argparse.Namespace) -> Operations:
    """Run durable transactions, each of which updates a few rows."""

    def change() -> None:
        for _ in range(CHANGED):
            base.execute(
                "UPDATE t SET k = ?, c = ? WHERE id = ?",
                (rng.randrange(1 << 30), text(rng), rng.randrange(args.rows)),
            )

    for _ in range(args.transactions):
        yield change


def read(base: sqlite3.Connection, rng: random.Random, args: argparse.Namespace) -> Operations:
    """Read rows by key, each in its own transaction."""

    def look() -> None:
        if not base.execute("SELECT c FROM t WHERE id = ?", (rng.randrange(args.rows),)).fetchone():
            raise SystemExit("a row is missing")

    for _ in range(args.reads):
        yield look


def main() -> None:
    """Run the part and write the times."""
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=("fill", "update", "read"))
    parser.add_argument("file")
    parser.add_argument("times")
    for name in ("seed", "rows", "transactions", "reads"):
        parser.add_argument(f"--{name}", type=int)
    parser.add_argument("--journal")
    args = parser.parse_args()
    base = sqlite3.connect(args.file, isolation_level=None)
    base.execute(f"PRAGMA journal_mode = {args.journal}")
    base.execute("PRAGMA synchronous = FULL")
    rng = random.Random(args.seed)
    times = []
    for operation in {"fill": fill, "update": update, "read": read}[args.part](base, rng, args):
        began = time.perf_counter_ns()
        base.execute("BEGIN")
        operation()
        base.execute("COMMIT")
        times.append(time.perf_counter_ns() - began)
    base.close()
    with open(args.times, "w", encoding="ascii") as out:
        out.writelines(f"{ns}\n" for ns in times)


main()

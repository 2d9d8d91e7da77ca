# SPDX-License-Identifier: GPL-2.0-or-later
"""RocksDB under synced updates, in the guest, by its C interface (ctypes).

    rocks.py work DB WAL --keys N --first N --batches N   batches --first to --batches - 1
    rocks.py on   DB WAL --keys N --batches N             check what is there, then so many more

Batch number i is a function of the seed: BATCH keys, with values that name key and batch, in one
synced write. The first keys/BATCH batches load every key once. After each batch READS keys are read
and compared.

NAME-put.txt and NAME-get.txt in OUT have each operation's nanoseconds. With --report FILE a line
"DONE N" says that the first N batches are acknowledged. "on" reads every key: the database must
hold exactly what the first N batches left, for some N, which "FOUND N" reports.
"""

from __future__ import annotations

import argparse
import ctypes
import glob
import os
import random
import struct
import time
from collections.abc import Iterator

BATCH = 16
READS = 4
VALUE = 1000
MIB = 1 << 20
_P = ctypes.c_void_p
_LIB = ctypes.CDLL(glob.glob("/usr/lib/*/librocksdb.so.*.*")[0])  # of the release, such as 9.10
_POINTERS = """options_create writeoptions_create readoptions_create writebatch_create open
block_based_options_create cache_create_lru get create_iterator iter_key iter_value"""
_LIB.rocksdb_iter_valid.restype = ctypes.c_ubyte
for _name in _POINTERS.split():
    getattr(_LIB, f"rocksdb_{_name}").restype = _P


class RocksError(Exception):
    """RocksDB returned an error."""


def call(name: str, *args: object) -> object:
    """Call a function of RocksDB and raise its error. The function's last argument is a place for it."""
    error = ctypes.c_char_p()
    result = getattr(_LIB, f"rocksdb_{name}")(*args, ctypes.byref(error))
    if error.value is not None:
        raise RocksError(f"{name}: {error.value.decode()}")
    return result


class Database:
    """An open database."""

    def __init__(self, folder: str, wal: str) -> None:
        options = _P(_LIB.rocksdb_options_create())
        for name, value in {
            "create_if_missing": 1,
            "compression": 0,
            "max_background_jobs": 2,
            "recycle_log_file_num": 2,
            "max_open_files": 512,
            "use_direct_reads": 1,
        }.items():
            getattr(_LIB, f"rocksdb_options_set_{name}")(options, value)
        for name, size in {
            "write_buffer_size": 2 * MIB,
            "target_file_size_base": 2 * MIB,
            "max_bytes_for_level_base": 8 * MIB,
        }.items():
            getattr(_LIB, f"rocksdb_options_set_{name}")(options, ctypes.c_uint64(size))
        _LIB.rocksdb_options_set_wal_dir(options, wal.encode())
        table = _P(_LIB.rocksdb_block_based_options_create())
        cache = _P(_LIB.rocksdb_cache_create_lru(ctypes.c_size_t(4 * MIB)))
        _LIB.rocksdb_block_based_options_set_block_cache(table, cache)
        _LIB.rocksdb_options_set_block_based_table_factory(options, table)
        self.db = _P(call("open", options, folder.encode()))
        self.sync = _P(_LIB.rocksdb_writeoptions_create())
        _LIB.rocksdb_writeoptions_set_sync(self.sync, 1)
        self.read = _P(_LIB.rocksdb_readoptions_create())
        self.batch = _P(_LIB.rocksdb_writebatch_create())

    def put(self, rows: list[tuple[bytes, bytes]]) -> None:
        """Write the rows at once, durably."""
        _LIB.rocksdb_writebatch_clear(self.batch)
        for key, value in rows:
            _LIB.rocksdb_writebatch_put(self.batch, key, ctypes.c_size_t(len(key)), value, ctypes.c_size_t(len(value)))
        call("write", self.db, self.sync, self.batch)

    def get(self, key: bytes) -> bytes | None:
        """Read a value."""
        size = ctypes.c_size_t()
        found = call("get", self.db, self.read, key, ctypes.c_size_t(len(key)), ctypes.byref(size))
        if not found:
            return None
        value = ctypes.string_at(found, size.value)
        _LIB.rocksdb_free(_P(found))
        return value

    def rows(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield all keys with their values."""
        at = _P(_LIB.rocksdb_create_iterator(self.db, self.read))
        size = ctypes.c_size_t()
        _LIB.rocksdb_iter_seek_to_first(at)
        while _LIB.rocksdb_iter_valid(at):
            key = ctypes.string_at(_LIB.rocksdb_iter_key(at, ctypes.byref(size)), size.value)
            yield key, ctypes.string_at(_LIB.rocksdb_iter_value(at, ctypes.byref(size)), size.value)
            _LIB.rocksdb_iter_next(at)
        call("iter_get_error", at)
        _LIB.rocksdb_iter_destroy(at)

    def close(self) -> None:
        """Close it; memtables are not flushed."""
        _LIB.rocksdb_close(self.db)


def key_of(number: int) -> bytes:
    """Return a key of 16 bytes."""
    return b"%016d" % number


def value_of(number: int, batch: int) -> bytes:
    """Return the value that a batch gives to a key."""
    return struct.pack("<II", number, batch) * (VALUE // 8)


def batches(args: argparse.Namespace) -> Iterator[list[int]]:
    """Yield the keys of each batch without end: each key once in a random order, then updates."""
    rng = random.Random(args.seed)
    order = list(range(args.keys))
    rng.shuffle(order)
    for first in range(0, args.keys, BATCH):
        yield order[first : first + BATCH]
    while True:
        yield [rng.randrange(args.keys) for _ in range(BATCH)]


def skip(args: argparse.Namespace, count: int) -> tuple[Iterator[list[int]], list[int]]:
    """Skip `count` batches.

    Returns the iterator of those after them, and each key's last batch until then (-1: it is not written).
    """
    last = [-1] * args.keys
    numbered = batches(args)
    for batch in range(count):
        for key in next(numbered):
            last[key] = batch
    return numbered, last


def tell(args: argparse.Namespace, line: str) -> None:
    """Write a line to the report."""
    report = os.open(args.report, os.O_WRONLY)
    os.write(report, f"{line}\n".encode())
    os.close(report)


def work(args: argparse.Namespace) -> None:
    """Run batches --first to --batches - 1."""
    database = Database(args.db, args.wal)
    numbered, last = skip(args, args.first)
    readers = random.Random(args.seed + 1)
    puts: list[int] = []
    gets: list[int] = []
    for batch in range(args.first, args.batches):
        rows = next(numbered)
        data = [(key_of(key), value_of(key, batch)) for key in rows]
        began = time.perf_counter_ns()
        database.put(data)
        puts.append(time.perf_counter_ns() - began)
        if args.report:
            tell(args, f"DONE {batch + 1}")
        for key in rows:
            last[key] = batch
        for _ in range(READS if last[-1] >= 0 else 0):
            key = readers.randrange(args.keys)
            began = time.perf_counter_ns()
            value = database.get(key_of(key))
            gets.append(time.perf_counter_ns() - began)
            if last[key] >= 0 and value != value_of(key, last[key]):
                raise SystemExit(f"key {key} has not the value of batch {last[key]}")
    database.close()
    for name, times in (("put", puts), ("get", gets)):
        with open(f"{os.environ['OUT']}/{args.name}-{name}.txt", "w", encoding="ascii") as out:
            out.writelines(f"{ns}\n" for ns in times)


def check(args: argparse.Namespace) -> int:
    """Return the number of batches that the database holds; exit with a message if it holds a part of one."""
    database = Database(args.db, args.wal)
    found = [-1] * args.keys
    for key, value in database.rows():
        number, batch = struct.unpack_from("<II", value)
        if key != key_of(number) or value != value_of(number, batch):
            raise SystemExit(f"key {key!r} has a value that was never written")
        found[number] = batch
    database.close()
    whole = max(found) + 1
    last = skip(args, whole)[1]
    wrong = [key for key in range(args.keys) if found[key] != last[key]]
    if wrong:
        raise SystemExit(f"{len(wrong)} keys are not as {whole} batches left them: first {wrong[0]}, "
                         f"of batch {found[wrong[0]]} in place of {last[wrong[0]]}")
    return whole


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("work", "on"))
    parser.add_argument("db")
    parser.add_argument("wal")
    for name in ("keys", "batches", "seed", "first"):
        parser.add_argument(f"--{name}", type=int, default=0)
    parser.add_argument("--report", default="")
    parser.add_argument("--name", default="work")
    args = parser.parse_args()
    if args.what == "on":
        args.first = check(args)
        tell(args, f"FOUND {args.first}")
        args.batches += args.first
    work(args)


main()

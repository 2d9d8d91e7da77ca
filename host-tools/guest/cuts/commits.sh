#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# commits.sh: SQLite on ext4 with a write-ahead log, and a transaction of 16 rows every 25 ms, so that all levels of
# "synchronous" have the same load. A transaction is announced when COMMIT has ended, with its time as took_us. The check
# counts `lost`, the announced transactions that are gone (if the database is damaged, all), and `damaged`, 0 or 1. The
# script's name in the guest says what it does: make, work or check.
#
#: variants SYNC. SYNC: extra full normal off
#: apps all
#
# What is promised (sqlite.org: pragma.html, "synchronous"; wal.html):
#
#   full, extra   a transaction is whole, and durable once it has committed
#   normal        a transaction is whole; the last ones may be gone
#   off           the database may be corrupt after a loss of power
base=/mnt/ssd/test.db

commits()
{
	cat >/job/commits.py <<'PYTHON'
import os, sqlite3, sys, time

what, sync, path = sys.argv[1:]
ROWS, CHANGED, PACE_NS = 4000, 16, 25_000_000


def changed(n):
    return [(n * 7919 + k * 1013) % ROWS for k in range(CHANGED)]


def text(n, row):
    return f"{n} {row} ".ljust(200, "x")


base = sqlite3.connect(path, isolation_level=None)
if what == "make":
    base.execute("PRAGMA journal_mode = wal")
    base.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
    base.execute("CREATE TABLE s (n INTEGER)")
    base.execute("BEGIN")
    base.executemany("INSERT INTO t VALUES (?, ?)", [(row, text(0, row)) for row in range(ROWS)])
    base.execute("INSERT INTO s VALUES (0)")
    base.execute("COMMIT")
if what == "work":
    base.execute(f"PRAGMA synchronous = {sync}")
    first, n = time.monotonic_ns(), 0
    while True:
        n += 1
        time.sleep(max(0, first + n * PACE_NS - time.monotonic_ns()) / 1e9)
        began = time.monotonic_ns()
        base.execute("BEGIN")
        base.executemany("UPDATE t SET v = ? WHERE id = ?", [(text(n, row), row) for row in changed(n)])
        base.execute("UPDATE s SET n = ?", (n,))
        base.execute("COMMIT")
        took = (time.monotonic_ns() - began) / 1000
        mark = ["/job/slate-mark", "durable", str(n), f"took_us={took:.3f}"]
        if os.waitpid(os.posix_spawn(mark[0], mark, os.environ), 0)[1]:
            sys.exit(4)
if what == "check":
    lines = open(os.environ["DURABLE"]).read().splitlines()
    last = int(lines[-1].split()[0]) if lines else 0
    top, status = 0, 0
    try:
        if base.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            status = 3
        else:
            top = base.execute("SELECT n FROM s").fetchone()[0]
            want = {row: 0 for row in range(ROWS)} | {row: n for n in range(1, top + 1) for row in changed(n)}
            if dict(base.execute("SELECT id, v FROM t")) != {row: text(n, row) for row, n in want.items()}:
                top, status = 0, 2
    except sqlite3.Error as error:
        print(error)
        status = 3
    print(f"the last transaction is {top}, announced {last}")
    print(f"lost={max(0, last - top)}\ndamaged={int(status > 0)}")
    sys.exit(status or int(top < last))
base.close()
PYTHON
	in-apps python3 /job/commits.py "$1" "$CUTS_VARIANT" $base
}

case ${0##*/} in
make)
	in-apps --mkfs ext4 && commits make || exit 4
	in-apps --umount
	;;
work)
	in-apps --mount ext4 || exit 4
	cp "$(command -v slate-mark)" /job/
	commits work
	;;
check)
	in-apps --mount ext4 || exit 3
	commits check
	status=$?
	in-apps --umount
	exit $status
	;;
esac

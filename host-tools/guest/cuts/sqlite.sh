#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# sqlite.sh: SQLite on ext4. A transaction adds a row, changes another, and counts; it is announced when COMMIT has
# ended. Its name in the guest says what it does: make, work or check.
#
#: variants JOURNAL-SYNC. JOURNAL: delete truncate persist wal memory off; SYNC: extra full normal off
#: apps all
#
# What is promised (sqlite.org: pragma.html, "synchronous" and "journal_mode"; atomiccommit.html, wal.html):
#
#   wal, full or extra        a transaction is whole, and durable once it has committed
#   delete, truncate, persist; extra   likewise; full: durable but for delete, whose journal's removal may be undone
#   normal                    whole with wal, not durable; with the other journals consistent "in practice" alone
#   off                       the database may be corrupt after a loss of power
#   journal memory or off     the database may be corrupt if a transaction is interrupted
db=/mnt/ssd/test.db
journal=${CUTS_VARIANT%-*} sync=${CUTS_VARIANT#*-}

begin()
{
	# the shell of SQLite 3.46 refuses journal_mode=off without a word otherwise, and goes on with delete
	[ "$journal" != off ] || echo ".dbconfig defensive off"
	echo "PRAGMA journal_mode=$journal; PRAGMA synchronous=$sync;"
}

case ${0##*/} in
make)
	in-apps --mkfs ext4 || exit 4
	found=$({
		begin
		echo "CREATE TABLE t(n INTEGER PRIMARY KEY, v TEXT, u INTEGER); CREATE TABLE s(n INTEGER);"
		echo "INSERT INTO s VALUES(0);"
	} | in-apps sqlite3 -bail $db) || exit 4
	found=${found##*[[:space:]]}
	[ "$found" = "$journal" ] || { echo "the journal's mode is $found, not $journal"; exit 4; }
	in-apps --umount
	;;
work)
	in-apps --mount ext4 || exit 4
	cp "$(command -v slate-mark)" /job/
	{
		begin
		n=0
		while :; do
			n=$((n + 1))
			echo "BEGIN; INSERT INTO t VALUES($n, printf('%0*d', 100 + $n * 977 % 3000, $n), 0);"
			echo "UPDATE t SET u = $n WHERE n = $n % 50 + 1; UPDATE s SET n = $n; COMMIT;"
			echo ".shell /job/slate-mark durable $n"
		done
	} | in-apps sqlite3 -bail $db
	;;
check)
	last=$(tail -n 1 "$DURABLE")
	in-apps --mount ext4 || exit 3
	# n's row was changed last by the greatest m <= max with m % 50 + 1 = n that came after it
	said=$(echo "PRAGMA integrity_check;
		WITH a AS (SELECT coalesce(max(n), 0) AS top, count(*) AS rows FROM t)
		SELECT 'rows', rows, top, (SELECT n FROM s), (SELECT count(*) FROM t, a
			WHERE v <> printf('%0*d', 100 + n * 977 % 3000, n) OR
			u <> CASE WHEN n <= 50 AND top - (top - n + 1) % 50 > n THEN top - (top - n + 1) % 50 ELSE 0 END)
		FROM a;" | in-apps sqlite3 -bail -separator ' ' $db 2>&1)
	in-apps --umount
	echo "$said, announced ${last:-0}"
	# shellcheck disable=SC2086 # its words
	set -- $said
	[ "$1 $2" = "ok rows" ] || exit 3
	[ "$3 $4 $6" = "$4 $5 0" ] || exit 2
	[ "$4" -ge "${last:-0}" ] || exit 1
	;;
esac

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# postgres.sh: PostgreSQL on ext4. A transaction adds a row and changes a counter; it is announced when COMMIT has
# ended. Its name in the guest says what it does: make, work or check.
#
#: variants SYNC. SYNC: on off nofsync
#: apps all
#
# What is promised (PostgreSQL's manual: Reliability; Settings of the write-ahead log):
#
#   on        a transaction is whole, and durable once it has committed (synchronous_commit)
#   off       whole, but the last ones may be lost (synchronous_commit = off)
#   nofsync   nothing: "unrecoverable data corruption" is possible (fsync = off)
data=/mnt/ssd/pg

server() # start|stop
{
	in-apps --as postgres pg_ctl -D $data -l $data/log -w -t 50 -m fast "$1" >/run/said 2>&1
}

sql() { in-apps --as postgres psql -h /tmp -q -A -t -v ON_ERROR_STOP=1 postgres; }

case ${0##*/} in
make)
	in-apps --mkfs ext4 || exit 4
	in-apps chown postgres:postgres /mnt/ssd
	in-apps --as postgres initdb -D $data --no-locale -E UTF8 -A trust >/run/said 2>&1 || { cat /run/said; exit 4; }
	{
		printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '/tmp'" "shared_buffers = 16MB" "jit = off"
		case $CUTS_VARIANT in
		off) echo "synchronous_commit = off" ;;
		nofsync) echo "fsync = off" ;;
		esac
	} >>/run/apps$data/postgresql.conf
	server start || { cat /run/said; exit 4; }
	echo "CREATE TABLE t(n int PRIMARY KEY, v text); CREATE TABLE s(n int); INSERT INTO s VALUES(0); CHECKPOINT;" | sql
	server stop
	in-apps --umount
	;;
work)
	in-apps --mount ext4 || exit 4
	server start || { cat /run/said; exit 4; }
	cp "$(command -v slate-mark)" /job/
	chmod 666 "$SLATE_DURABLE"
	n=0
	while :; do
		n=$((n + 1))
		echo "BEGIN; INSERT INTO t VALUES($n, lpad('$n', 100 + $n * 977 % 3000, '0')); UPDATE s SET n = $n; COMMIT;"
		echo "\\! /job/slate-mark durable $n"
	done | sql
	;;
check)
	last=$(tail -n 1 "$DURABLE")
	in-apps --mount ext4 || exit 3
	server start || { cat /run/said; tail -n 5 /run/apps$data/log; exit 3; }
	said=$(echo "SELECT count(*), coalesce(max(n), 0), (SELECT n FROM s),
		count(*) FILTER (WHERE v <> lpad(n::text, 100 + n * 977 % 3000, '0')) FROM t;" | sql 2>&1)
	server stop
	in-apps --umount
	echo "$said, announced ${last:-0}"
	IFS='|' read -r rows top counter bad <<END
$said
END
	[ "$rows $top $bad" = "$top $counter 0" ] || exit 2
	[ "$top" -ge "${last:-0}" ] || exit 1
	;;
esac

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # APP_* come with the job
#
# pgbench.sh: run pgbench on PostgreSQL, whose cluster is on the drive. pgbench's log has every
# transaction's latency.

# shellcheck source=host-tools/guest/apps/app.sh
. /job/app.sh
data=/mnt/ssd/pg

server() # start|stop
{
	run_as postgres pg_ctl -D $data -l $data/log -w -m fast "$1"
}

make_fs
run chown postgres:postgres /mnt/ssd
run_as postgres initdb -D $data --no-locale -E UTF8 -A trust
tell app-initdb
# The image lacks the library of jit.
cat >>/run/apps$data/postgresql.conf <<END
listen_addresses = ''
unix_socket_directories = '/tmp'
shared_buffers = $APP_BUFFERS
jit = off
END
server start
run_as postgres pgbench -h /tmp -i -q -s "$APP_SCALE" postgres
run_as postgres psql -h /tmp -q -c CHECKPOINT postgres
server stop
prepared
server start
begin run
in-apps --as postgres pgbench -h /tmp -n -M prepared -b "$APP_SCRIPT" -c "$APP_CLIENTS" \
	-t "$APP_TRANSACTIONS" --random-seed="$SLATE_SEED" -l --log-prefix=/tmp/pgbench postgres >"$OUT/pgbench.txt" 2>>"$OUT/app.log"
end run
server stop
cat /run/apps/tmp/pgbench.* >"$OUT/pgbench-transactions.log"

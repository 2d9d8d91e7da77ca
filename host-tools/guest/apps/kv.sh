#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # APP_* come with the job
#
# kv.sh: RocksDB's own db_bench writes at random (log, memtable flushes, compactions), and then
# reads at random, with nothing of the database in memory at first.

# shellcheck source=host-tools/guest/apps/app.sh
. /job/app.sh

bench() # BENCHMARK [OPTION...]
{
	name=$1
	shift
	in-apps db_bench --benchmarks="$name" --db=/mnt/ssd/kv --seed="$SLATE_SEED" --num="$APP_KEYS" \
		--value_size="$APP_VALUE" --compression_type=none --write_buffer_size="$APP_MEMTABLE" \
		--sync="$APP_SYNC" --histogram=1 --threads="$APP_THREADS" "$@" >"$OUT/kv-$name.txt" 2>>"$OUT/app.log"
}

make_fs
begin fillrandom
bench fillrandom
end fillrandom
in-apps --remount
begin readrandom
bench readrandom --use_existing_db=1 --reads="$APP_READS"
end readrandom

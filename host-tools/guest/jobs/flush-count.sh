#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2317 # functions run through `step` and `count`
#
# flush-count.sh: check that each fsync makes one flush command, no more and no fewer.
#
# It issues known numbers of fsync, fdatasync and synchronous writes, and compares
# them with the kernel's count of flush requests (/sys/block/*/stat, field 16).  A
# drive with a volatile write cache gets one per sync call, and one per O_DSYNC
# write (on a block device Linux 6.1 sends FUA and a flush after it); a drive
# without one gets none at all.
#
# flush-count.txt: "CASE issued=N flushes=N expected=N".

dev=/dev/nvme0n1
sys=/sys/block/nvme0n1
report=$OUT/flush-count.txt
failed=0

flushes()
{
	# shellcheck disable=SC2034 # only the sixteenth counts
	read -r a b c d e f g h i j k l m n o flush _ <"$sys/stat"
	echo "$flush"
}

count() # CASE ISSUED EXPECTED COMMAND...
{
	case_name=$1 issued=$2 expected=$3
	shift 3
	before=$(flushes)
	n=0
	while [ $n -lt "$issued" ]; do
		"$@" >/dev/null 2>&1 || failed=1
		n=$((n + 1))
	done
	got=$(($(flushes) - before))
	echo "$case_name issued=$issued flushes=$got expected=$expected" >>"$report"
	[ $got -eq "$expected" ] || failed=1
}

write_block() { dd if=/dev/zero of="$dev" bs=4096 count=1 "$@"; }

read -r cache <"$sys/queue/write_cache"
read -r fua <"$sys/queue/fua"
{
	echo "write_cache: $cache"
	echo "fua: $fua"
} >"$report"
per_sync=0
[ "$cache" = "write back" ] && per_sync=1

count "direct write" 20 0 write_block oflag=direct conv=notrunc
count "direct write, fsync" 20 $((20 * per_sync)) write_block oflag=direct conv=notrunc,fsync
count "direct write, fdatasync" 20 $((20 * per_sync)) write_block oflag=direct conv=notrunc,fdatasync
count "direct O_DSYNC write" 20 $((20 * per_sync)) write_block oflag=direct,dsync conv=notrunc
count "buffered write, fsync" 20 $((20 * per_sync)) write_block conv=notrunc,fsync
count "fsync of nothing" 20 $((20 * per_sync)) sync "$dev"
[ $failed -eq 0 ] || cat "$report"
exit $failed

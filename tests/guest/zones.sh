#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# zones.sh: the tools of zones on a drive that has them. zones.txt: what they find, a line each.
dev=/dev/nvme0n1
report=$OUT/zones.txt
zone=8192	# sectors

say() { echo "$*" >>"$report"; }

states() # how many zones have each state, as "em 64"
{
	blkzone report "$dev" | sed -E 's/.*zcond: *[0-9]+\((..)\).*/\1/' | sort | uniq -c | awk '{ print $2, $1 }' |
		tr '\n' ' ' | sed 's/ $//'
}

fail()
{
	say "$1: FAIL"
	exit 1
}

say "model $(cat /sys/block/nvme0n1/queue/zoned)"
say "limits $(cat /sys/block/nvme0n1/queue/max_open_zones) $(cat /sys/block/nvme0n1/queue/max_active_zones)" \
	"$(cat /sys/block/nvme0n1/queue/chunk_sectors) $(cat /sys/block/nvme0n1/queue/nr_zones)"
say "fresh $(states)"

head -c 65536 /dev/urandom >/tmp/data
dd if=/tmp/data of="$dev" bs=16k oflag=direct 2>/dev/null || fail write
say "written $(states)"
blkzone open --offset $zone --count 1 "$dev" || fail open
blkzone open --offset $((2 * zone)) --count 1 "$dev" || fail open
blkzone close --offset $((2 * zone)) --count 1 "$dev" || fail close
blkzone finish --offset $((3 * zone)) --count 2 "$dev" || fail finish
say "changed $(states)"
say "pointer $(blkzone report --count 1 "$dev" | sed -E 's/.*wptr (0x[0-9a-f]+).*/\1/')"
dd if="$dev" of=/tmp/back bs=16k count=4 iflag=direct 2>/dev/null || fail read
cmp /tmp/data /tmp/back || fail compare
# not at the write pointer; Linux 6.12's block layer may fail such a write itself
nvme write "$dev" --start-block=8 --block-count=7 --data-size=4096 --data=/tmp/data >/dev/null 2>&1 &&
	fail "write elsewhere"

nvme zns id-ns "$dev" >"$OUT/id-ns.txt" 2>&1 || fail id-ns
nvme zns id-ctrl "$dev" >"$OUT/id-ctrl.txt" 2>&1 || fail id-ctrl
nvme zns report-zones "$dev" --descs 5 >"$OUT/report-zones.txt" 2>&1 || fail report-zones
head -c 4096 /tmp/data >/tmp/page
nvme zns zone-append "$dev" --zslba $((5 * zone)) --data-size 4096 --data /tmp/page >"$OUT/append-1.txt" 2>&1 || fail append
nvme zns zone-append "$dev" --zslba $((5 * zone)) --data-size 4096 --data /tmp/page >"$OUT/append-2.txt" 2>&1 || fail append
dd if="$dev" of=/tmp/back bs=4k skip=$((5 * zone / 8 + 1)) count=1 iflag=direct 2>/dev/null || fail read
cmp /tmp/page /tmp/back || fail compare
nvme zns finish-zone "$dev" --start-lba $((5 * zone)) >/dev/null 2>&1 || fail finish-zone
say "nvme $(states)"
nvme zns reset-zone "$dev" --start-lba $((3 * zone)) >/dev/null 2>&1 || fail reset-zone
say "reset $(states)"
blkzone reset "$dev" || fail "reset of all"
say "empty $(states)"
dd if="$dev" of=/tmp/back bs=16k count=4 iflag=direct 2>/dev/null || fail read
head -c 65536 /dev/zero | cmp - /tmp/back || fail "zeroes"

# zones that the drive changes: a program of zone 1 fails, and erases of zones 2 and 3; a plane has three spare blocks
page() { dd if=/tmp/data of="$dev" bs=16k count=1 seek=$(($1 * zone / 32)) oflag=direct 2>/dev/null || fail page; }
slatectl fault program 1 || fail "fault program"
page 1
for i in 2 3; do
	page $i
	slatectl fault erase 1 --die 0 || fail "fault erase"
	blkzone reset --offset $((i * zone)) --count 1 "$dev" || fail "reset of $i"
done
say "failed $(states)"
nvme zns changed-zone-list "$dev" >"$OUT/changed.txt" 2>&1 || fail changed-zone-list
say end

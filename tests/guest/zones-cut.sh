#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# zones-cut.sh: on an empty drive with zones, append blocks to four zones in turn, a flush after each, until the power
# goes; block n of all has its number in each line. On a drive that has data, how many blocks are whole: whole.txt.
dev=/dev/nvme0n1
zone=1024 # blocks of 4 KiB
zones=4

block() { yes "block $1" | head -c 4096; }

if ! blkzone report --count 1 "$dev" | grep -q 'zcond: *1(em)'; then
	n=0
	while block $n >/tmp/want && dd if="$dev" of=/tmp/have bs=4k count=1 iflag=direct \
		skip=$((n % zones * zone + n / zones)) 2>/dev/null && cmp -s /tmp/want /tmp/have; do
		n=$((n + 1))
	done
	echo $n >"$OUT/whole.txt"
	blkzone report --count $zones "$dev" >"$OUT/pointers.txt"
	exit 0
fi
n=0
while block $n >/tmp/block && dd if=/tmp/block of="$dev" bs=4k count=1 oflag=direct conv=fsync \
	seek=$((n % zones * zone + n / zones)) 2>/dev/null; do
	n=$((n + 1))
	echo "SYNCED $n"
done

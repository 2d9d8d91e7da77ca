#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# atomic.sh - atomic writes of a block device (pwritev2 with RWF_ATOMIC, by fio) of several sizes, in KiB.
# queue.txt: what Linux says of the drive; writes.txt: a line for each size, with fio's exit status.
dev=nvme0n1
cd /sys/block/$dev/queue || exit 1
grep -s . write_cache atomic_write_max_bytes atomic_write_unit_max_bytes atomic_write_boundary_bytes \
	physical_block_size >"$OUT/queue.txt"
for size in 4 16 32 64 128 256; do
	fio --name=atomic --filename=/dev/$dev --ioengine=pvsync2 --direct=1 --atomic=1 --rw=randwrite --bs=${size}k \
		--size=4m --io_size=1m >"$OUT/fio-$size.txt" 2>&1
	echo "$size $?" >>"$OUT/writes.txt"
done

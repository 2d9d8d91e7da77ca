#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# record.sh: every kind of request, with and without a queue: discards, flushes, FUA
# writes, reads and writes of a random mix over a drive in need of GC.
dev=/dev/nvme0n1
blkdiscard --force --offset 16777216 --length 33554432 $dev || exit 1
dd if=/dev/zero of=$dev bs=4096 count=64 seek=100 conv=fsync oflag=direct 2>/dev/null || exit 1
dd if=/dev/zero of=$dev bs=4096 count=16 seek=5000 oflag=direct,dsync 2>/dev/null || exit 1
slate-mark point mixed
fio --name=mixed --filename=$dev --direct=1 --randseed=1 --norandommap --ioengine=io_uring \
	--iodepth=16 --rw=randrw --rwmixread=30 --bsrange=512-16k --number_ios=6000 --fsync=64 || exit 1

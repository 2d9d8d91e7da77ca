#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# determinism.sh: short, but with everything that could depend on the host: psync, deep
# queues of io_uring and libaio from several processes at once, garbage collection, and a
# file system whose kernel threads work beside them. Writes raw.json, fs.json, facts.txt.
dev=/dev/nvme0n1 mnt=/run/mnt
common="--direct=1 --randseed=1 --norandommap --output-format=json --allow_file_create=0"

slate-mark begin raw
# shellcheck disable=SC2086 # options
fio $common --filename=$dev --output="$OUT/raw.json" \
	--name=psync --ioengine=psync --rw=randread --bs=4k --number_ios=300 \
	--name=deep --stonewall --ioengine=io_uring --iodepth=32 --rw=randrw --bs=4k --number_ios=800 --numjobs=2 \
	--name=aio --ioengine=libaio --iodepth=16 --rw=randrw --bs=4k --number_ios=400 --numjobs=2 \
	--name=beside --ioengine=psync --rw=randwrite --bs=16k --fsync=8 --number_ios=200 || exit 1
slate-mark end raw

slate-mark begin fs
mkfs.ext4 -q -F -U 5a1e5a1e-0000-4000-8000-000000000001 -E hash_seed=5a1e5a1e-0000-4000-8000-000000000001 $dev || exit 1
modprobe ext4 2>/dev/null; mkdir -p $mnt && mount -t ext4 $dev $mnt || exit 1
fio --randseed=1 --output-format=json --output="$OUT/fs.json" --directory=$mnt \
	--name=files --ioengine=psync --rw=randwrite --bs=4k --size=2m --numjobs=4 --fsync=64 --verify=crc32c || exit 1
umount $mnt || exit 1
e2fsck -fn $dev >"$OUT/fsck.txt" 2>&1 || exit 1
slate-mark end fs

# Queues and interrupts: a queue pair for each processor, used by it.
nproc >"$OUT/facts.txt"
grep nvme /proc/interrupts | tr -s ' ' >>"$OUT/facts.txt"
grep -v nvme /proc/interrupts | tr -s ' ' | grep -E 'LOC|RES|CAL' >>"$OUT/facts.txt"

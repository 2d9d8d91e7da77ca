#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# path-ext4.sh - in the guest (slate run --cmd): 4 KiB reads of a file on ext4, past the page cache.
set -eu
mnt=/run/mnt
mkfs.ext4 -q -b 4096 /dev/nvme0n1 # the mapping unit; mkfs would choose 1 KiB on a small drive
modprobe ext4
mkdir -p $mnt
mount -t ext4 /dev/nvme0n1 $mnt
dd if=/dev/zero of=$mnt/file bs=1M count=64 conv=fsync 2>/dev/null
fio --name=ext4-read --filename=$mnt/file --size=64M --direct=1 --ioengine=psync --rw=randread --bs=4k --norandommap \
	--iodepth=1 --number_ios=2000 --output-format=json
umount $mnt

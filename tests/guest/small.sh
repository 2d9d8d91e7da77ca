#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the small kernel must have built in: all file systems, loop devices, blktrace,
# every engine of fio. A line for each in small.txt, "ok" or "FAIL".
dev=/dev/nvme0n1

try() # NAME COMMAND...
{
	name=$1
	shift
	if "$@" >>"$OUT/small.log" 2>&1; then echo "$name: ok"; else echo "$name: FAIL"; fi >>"$OUT/small.txt"
}

# Mount through a loop device, so that blktrace below has the drive to itself.
file_system() # FS
{
	slate-fs make "$1" /dev/loop0 && mount -t "$1" /dev/loop0 /run/mnt && cp /bin/busybox /run/mnt/ &&
		cmp /bin/busybox /run/mnt/busybox && umount /run/mnt
}

trace()
{
	mount -t debugfs debugfs /sys/kernel/debug
	blktrace -d $dev -D /tmp -o drive -w 1 &
	sleep 0.3
	dd if=$dev of=/dev/null bs=64k count=4 iflag=direct
	wait
	blkparse -q -D /tmp -i drive >/tmp/events || return
	grep ' C ' /tmp/events
	[ "$(grep -c ' C  *RS* ' /tmp/events)" -eq 4 ]
}

engine() # NAME
{
	fio --name="$1" --filename=$dev --ioengine="$1" --rw=randrw --bs=4k --direct=1 --iodepth=4 --number_ios=16
}

try loop losetup -o 0 /dev/loop0 $dev
for fs in ext4 xfs f2fs; do
	try $fs file_system $fs
done
losetup -d /dev/loop0
for name in psync libaio io_uring; do
	try $name engine $name
done
try blktrace trace
! grep -q FAIL "$OUT/small.txt"

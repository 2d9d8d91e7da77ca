#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# drive-kill.sh DONE [stop]: checks that the files 1 .. DONE are whole, then writes
# and fsyncs more, telling the console "SYNCED n" after each, until somebody pulls
# the plug; with stop, only checks. File n is n's line, 1 to 1500 times.
mnt=/run/mnt
dev=/dev/nvme0n1
done=$1
grep -q ext4 /proc/filesystems || modprobe ext4

text() # N
{
	yes "file number $1" | head -n $(($1 * 137 % 1500 + 1))
}

if [ "$done" = new ]; then
	mkfs.ext4 -q -F -E nodiscard $dev || exit 1
	done=0
else
	mount -t ext4 $dev $mnt || exit 1	# replays the journal
	umount $mnt || exit 1
	e2fsck -f -n $dev >"$OUT/fsck.log" 2>&1 || { cat "$OUT/fsck.log"; exit 1; }
fi
mount -t ext4 $dev $mnt || exit 1

n=1
while [ $n -le "$done" ]; do
	if ! text $n | cmp -s - $mnt/f$n; then
		echo "LOST $n"
		exit 1
	fi
	n=$((n + 1))
done
echo "CHECKED $done"
[ "$2" = stop ] && exit 0

while :; do
	text $n >/tmp/text
	dd if=/tmp/text of=$mnt/f$n bs=4k conv=fsync 2>/dev/null || exit 1
	echo "SYNCED $n"
	n=$((n + 1))
done

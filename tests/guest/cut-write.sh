#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# cut-write.sh: on a drive without a file system, make one, then write and fsync files, one after
# another, until the power goes. On a drive that has one, as cut-check.sh.
dev=/dev/nvme0n1
grep -q ext4 /proc/filesystems || modprobe ext4
if mount -t ext4 $dev /run/mnt 2>/dev/null; then
	umount /run/mnt
	e2fsck -f -n $dev >"$OUT/fsck.log" 2>&1 || exit 1
	mount -t ext4 $dev /run/mnt || exit 1
	n=0
	while [ -s "/run/mnt/f$((n + 1))" ] && echo "file $((n + 1))" | cmp -s - "/run/mnt/f$((n + 1))"; do
		n=$((n + 1))
	done
	echo "$n" >"$OUT/whole.txt"
	exit 0
fi
uuid=5a1e5a1e-0000-4000-8000-000000000003
mkfs.ext4 -q -F -U $uuid -E nodiscard,hash_seed=$uuid $dev && mount -t ext4 $dev /run/mnt || exit 1
n=1
while echo "file $n" >/run/mnt/f$n && sync /run/mnt/f$n; do
	echo "SYNCED $n"
	n=$((n + 1))
done

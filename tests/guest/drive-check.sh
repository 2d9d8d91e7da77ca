#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# drive-check.sh: what drive-write.sh left. fsck.txt: "clean"; sums.txt: the file's checksum.
mnt=/run/mnt
grep -q ext4 /proc/filesystems || modprobe ext4
mount -t ext4 /dev/nvme0n1 $mnt || exit 1	# replays the journal
(cd $mnt && sha256sum file) >"$OUT/sums.txt" || exit 1
umount $mnt || exit 1
e2fsck -f -n /dev/nvme0n1 >"$OUT/fsck.log" 2>&1 || exit 1
echo clean >"$OUT/fsck.txt"

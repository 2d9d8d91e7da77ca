#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# drive-write.sh: an ext4 with a file of 8 MiB on the drive; sums.txt: its checksum.
mnt=/run/mnt
mkfs.ext4 -q -F -E nodiscard /dev/nvme0n1 || exit 1
grep -q ext4 /proc/filesystems || modprobe ext4
mount -t ext4 /dev/nvme0n1 $mnt || exit 1
dd if=/dev/urandom of=$mnt/file bs=64k count=128 2>/dev/null || exit 1
sync
(cd $mnt && sha256sum file) >"$OUT/sums.txt" || exit 1
# power goes with the file system mounted

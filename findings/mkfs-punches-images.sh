#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# mke2fs and mkfs.f2fs give back the room of an image that was allocated before; mkfs.xfs leaves it.
#
# They discard the whole device first, and on a file that means to punch holes. So an image whose 512 MiB were allocated
# (fallocate), so that a guest or loop device cannot run out of room, keeps 16 and 4 MiB, and a full disk later shows as
# an error of writes in that file system. mke2fs -E nodiscard keeps the room.
set -euo pipefail
. "$(dirname "$(realpath "$0")")/of-debian"
unpack e2fsprogs=1.47.0-2+b2 xfsprogs=6.1.0-1 f2fs-tools=1.15.0-1

# Print how many MiB of an image are allocated after a program made a file system in it.
left() {
	rm -f image
	fallocate -l 512M image
	LD_LIBRARY_PATH=$libraries "root/sbin/$1" "${@:2}" image >/dev/null 2>&1
	echo $(($(stat -c %b image) / 2048))
}
expect "mke2fs, MiB of 512" "$(left mke2fs -q -t ext4)" 16
expect "mke2fs -E nodiscard" "$(left mke2fs -q -t ext4 -E nodiscard)" 512
expect "mkfs.f2fs" "$(left mkfs.f2fs)" 4
expect "mkfs.xfs" "$(left mkfs.xfs -q)" 512

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# btrfs-abort.sh: check which files Btrfs keeps when it aborts a transaction for want of room, on the zoned device DEV
# (default: the last drive). It runs in the guest with the image of applications. For each of SEEDS it runs fsstress
# with OPS operations, and takes the checksums of all files three times: at once, after clean pages were dropped from
# memory, and after the file system was mounted again. aborts.txt has a line for each seed: the seed, the status of
# fsstress, "ro" if Btrfs aborted, KiB of dirty pages, the number of files, of files that differ after the pages were
# dropped, of files that differ after the mount, and of files that could not be read.
dev=${DEV:-${SLATE_DEVS:-$SLATE_DEV}}
dev=${dev##* }
mnt=/run/apps/mnt/ssd

sums() # FILE
{
	(cd $mnt/s && find . -type f | sort | tr '\n' '\0' | xargs -0 sha256sum) >"$OUT/$1" 2>>"$OUT/errors-$seed.txt"
}

differ() # FILE FILE: files of the first that the second does not have with the same checksum
{
	grep -vxFc -f "$OUT/$2" "$OUT/$1"
}

in-apps modprobe btrfs || exit 1
for seed in ${SEEDS:-1 2 3}; do
	blkzone reset "$dev" && in-apps mkfs.btrfs -q -f -O zoned "$dev" && mount -t btrfs "$dev" $mnt && mkdir $mnt/s || exit 1
	in-apps fsstress -d /mnt/ssd/s -n "${OPS:-600}" -p 2 -s "$seed" >"$OUT/fsstress-$seed.txt" 2>&1
	status=$?
	sync
	state=$(awk -v at=$mnt '$2 == at { print substr($4, 1, 2) }' /proc/mounts)
	dirty=$(awk '/^Dirty:/ { print $2 }' /proc/meminfo)
	sums "before-$seed.txt"
	echo 1 >/proc/sys/vm/drop_caches
	sums "dropped-$seed.txt"
	umount $mnt && mount -t btrfs "$dev" $mnt || exit 1
	sums "after-$seed.txt"
	umount $mnt || exit 1
	echo "$seed $status $state $dirty $(wc -l <"$OUT/before-$seed.txt") $(differ "before-$seed.txt" "dropped-$seed.txt")" \
		"$(differ "before-$seed.txt" "after-$seed.txt") $(wc -l <"$OUT/errors-$seed.txt")" >>"$OUT/aborts.txt"
done
dmesg >"$OUT/dmesg.txt"

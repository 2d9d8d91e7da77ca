#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# fs-test.sh FS: test a file system on the drive.  FS is ext4, xfs or f2fs;
# slate.arg=FS names it, or FS=... in /job/env.
#
# The steps are: discard, mkfs, copy a tree, unmount, check, compare; change the
# tree, trim, unmount, check, compare; discard.  fs-test.txt has a line per step,
# the same on every machine, "ok" or "FAIL"; fs-test.log has the tools' output.

fs=${1:-${FS:-ext4}}
dev=/dev/nvme0n1
mnt=/run/mnt
src=/tmp/src
report=$OUT/fs-test.txt
log=$OUT/fs-test.log
# shellcheck source=host-tools/guest/steps.sh
. steps.sh

# Make files from empty to 700 KB, whose bytes depend on their names only, and copy
# some programs: 12 MB in all, which a new f2fs of 64 MiB can just hold. A number
# each 512 bytes makes every sector different; a number in each line took longer.
make_tree()
{
	mkdir -p "$src"
	between=$(filler)
	for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
		mkdir -p "$src/d$((i % 4))"
		seq -s "$between" $((i * 1000000)) $((i * 1000000 + i * i * 6)) >"$src/d$((i % 4))/file$i"
	done
	mkdir -p "$src/programs"
	cp /usr/bin/busybox /usr/bin/nvme /usr/bin/fio /usr/bin/mkfs.xfs "$src/programs/"
	checksums "$src" >/tmp/sums
}

# Print 504 bytes between two numbers.
filler()
{
	for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
		echo "$n" | md5sum | cut -c1-31
	done | tr '\n' x | head -c 504
}

checksums() # DIR
{
	(cd "$1" && find . -type f | sort | tr '\n' '\0' | xargs -0 md5sum)
}

copy_tree()
{
	cp -r "$src/." "$mnt/" && find "$mnt" -type f | sort | tr '\n' '\0' | xargs -0 sync && sync
}

# Change both trees alike: remove, overwrite in the middle, append, rename.  This
# runs in a subshell, so that the mount point does not stay busy.
change_tree() # DIR
(
	cd "$1" &&
		rm -r d1 && mkdir d1 &&
		dd if=d3/file15 of=d0/file12 bs=4096 seek=3 count=20 conv=notrunc,fsync &&
		cat d3/file7 >>d2/file14 &&
		mv d2/file10 d1/moved
)

compare_tree()
{
	checksums "$mnt" >/tmp/found
	cmp /tmp/sums /tmp/found
}

mount_fs() { mount -t "$fs" "$dev" "$mnt"; }

step "make the tree" make_tree
# -f: the drive may hold a file system already.
step blkdiscard blkdiscard -f "$dev"
step "mkfs $fs" slate-fs make "$fs" "$dev"
step mount mount_fs
step "copy and fsync" copy_tree
step umount umount "$mnt"
step "fsck" slate-fs check "$fs" "$dev"
step remount mount_fs
step compare compare_tree
step "change the source" change_tree "$src"
checksums "$src" >/tmp/sums
step "change the copy" change_tree "$mnt"
step fstrim fstrim "$mnt"
step "umount again" umount "$mnt"
step "fsck again" slate-fs check "$fs" "$dev"
step "remount again" mount_fs
step "compare again" compare_tree
step "last umount" umount "$mnt"
step "blkdiscard at the end" blkdiscard -f "$dev"
grep -h 'file' /tmp/sums >>"$report"
[ $failed -eq 0 ] || cat "$report"
exit $failed

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# suites.sh - in the guest with the image of applications: suites that others wrote (stress-ng's
# stressors of file systems with --verify, dbench, bonnie++, fs_mark, fsstress), on FS. suites.txt
# gets a line 'SUITE STATUS' for each; 'files' compares checksums of all files before and after the
# file system is mounted again; fsck.txt has what the file system's checker said afterwards.
say() # NAME COMMAND...
{
	name=$1
	shift
	"$@" >"$OUT/$name.txt" 2>&1
	echo "$name $?" >>"$OUT/suites.txt"
	echo "$name $(cut -d' ' -f1 /proc/uptime)" >>"$OUT/times.txt"
}

stress() # STRESSOR
{
	say "stress-ng-$1" in-apps stress-ng --temp-path /mnt/ssd --seed 1 --verify --"$1" 2 --"$1"-ops "$OPS" \
		--timeout 1s --hdd-bytes 4m --iomix-bytes 4m --seek-size 2m --fallocate-bytes 4m --sync-file-bytes 4m
}

# Its modules and programs are in the image of applications.
make_btrfs()
{
	in-apps modprobe btrfs && in-apps mkfs.btrfs -q -f -K "$SLATE_DEV" && in-apps --mount btrfs
}

checksums() # FILE
{
	find /run/apps/mnt/ssd -type f -exec sha256sum {} + >"$OUT/$1" 2>&1 && sort -o "$OUT/$1" "$OUT/$1"
}

same_files()
{
	checksums before.txt && test -s "$OUT/before.txt" && in-apps --remount && checksums after.txt && cmp "$OUT/before.txt" "$OUT/after.txt"
}

echo "boot $(cut -d' ' -f1 /proc/uptime)" >>"$OUT/times.txt"
case $FS in
btrfs) make_btrfs ;;
*) in-apps --mkfs "$FS" ;;
esac || exit 1
echo "mkfs $(cut -d' ' -f1 /proc/uptime)" >>"$OUT/times.txt"
for stressor in aio dentry dir fallocate fpunch hdd iomix link rename seek symlink sync-file xattr; do
	stress $stressor
done
say dbench in-apps dbench --loadfile=/usr/share/dbench/client.txt --directory=/mnt/ssd --timelimit=1 2
say bonnie in-apps bonnie++ -d /mnt/ssd -s 8M:4k -r 0 -n 1:4096:512:2 -f -u root -q
say fs_mark in-apps fs_mark -d /mnt/ssd/fs_mark -n 200 -s 6000 -S 1 -t 2
mkdir /run/apps/mnt/ssd/fsstress
say fsstress in-apps fsstress -d /mnt/ssd/fsstress -n 400 -p 2 -s 1
say files same_files
in-apps --umount || exit 1
case $FS in
btrfs) in-apps btrfs check --readonly "$SLATE_DEV" ;;
*) slate-fs check "$FS" "$SLATE_DEV" ;;
esac >"$OUT/fsck.txt" 2>&1
echo "fsck $?" >>"$OUT/suites.txt"
exit 0

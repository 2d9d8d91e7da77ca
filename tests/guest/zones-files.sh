#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# zones-files.sh: file systems on zones. An f2fs with its metadata on the first drive and its data on the last,
# which has zones; a Btrfs and a zonefs on the last. files.txt: a line per step, "ok" or "FAIL".
#
# Btrfs and its programs are in the image of applications (--apps).
#
# zonefs-tools is not in Debian 12: the super block is a constant (Documentation/filesystems/zonefs.rst): magic, checksum,
# label, UUID, no features.
report=$OUT/files.txt
log=$OUT/files.log
mnt=/run/mnt
meta=/dev/nvme0n1
zoned=${SLATE_DEVS##* }

# shellcheck source=host-tools/guest/steps.sh
. steps.sh

make_files()
{
	for i in $(seq 1 60); do
		mkdir -p "$mnt/d$((i % 4))" && seq $((i * 1000000)) $((i * 1000000 + i * 700)) >"$mnt/d$((i % 4))/file$i" ||
			return 1
	done
	for i in 3 13 23 33; do
		rm "$mnt/d$((i % 4))/file$i" || return 1
	done
	sync
	(cd "$mnt" && find . -type f | sort | tr '\n' '\0' | xargs -0 sha256sum) >/tmp/sums
}

super_block()
{
	{
		printf 'SFOZ'
		printf '\016\132\204\161'
		head -c 64 /dev/zero
		printf '\132\036\132\036\0\0\100\0\200\0\0\0\0\0\0\01'
		head -c 4008 /dev/zero
	} >/tmp/super
	blkzone reset "$zoned" && dd if=/tmp/super of="$zoned" bs=4096 oflag=direct
}

zonefs_write()
{
	[ "$(find "$mnt/seq" -type f | wc -l)" = 63 ] && [ "$(stat -c %s "$mnt/seq/0")" = 0 ] || return 1
	# Linux 6.1.192 takes the success of a synchronous direct write, an append, for an error: use asynchronous ones.
	zonefs_fio 0 256k && [ "$(stat -c %s "$mnt/seq/0")" = 262144 ]
}

zonefs_fio() # OFFSET SIZE - writes a pattern there, reads it back and compares
{
	fio --name=zonefs --filename="$mnt/seq/0" --rw=write --bs=64k --offset="$1" --size="$2" --direct=1 --ioengine=libaio \
		--iodepth=1 --buffer_pattern=0x6162636465666768 --create_on_open=1 --fallocate=none || return 1
	dd if="$mnt/seq/0" of=/tmp/back bs=64k iflag=direct && yes abcdefgh | tr -d '\n' | head -c "$(stat -c %s /tmp/back)" |
		cmp - /tmp/back
}

zonefs_append()
{
	zonefs_fio 256k 64k && [ "$(stat -c %s "$mnt/seq/0")" = 327680 ]
}

zonefs_truncate()
{
	truncate -s 0 "$mnt/seq/0" && [ "$(stat -c %s "$mnt/seq/0")" = 0 ] &&
		truncate -s 4194304 "$mnt/seq/1" && [ "$(stat -c %s "$mnt/seq/1")" = 4194304 ]
}

zonefs_again()
{
	[ "$(stat -c %s "$mnt/seq/0")" = 0 ] && [ "$(stat -c %s "$mnt/seq/1")" = 4194304 ]
}

file_system() # FS DEVICE CHECKER... - writes files, checks, and compares them after another mount
{
	fs=$1 dev=$2
	shift 2
	step "$fs-mount" mount -t "$fs" "$dev" $mnt
	step "$fs-write" make_files
	step "$fs-unmount" umount $mnt
	step "$fs-check" "$@" "$dev"
	step "$fs-mount-again" mount -t "$fs" "$dev" $mnt
	step "$fs-compare" sh -c "cd $mnt && sha256sum -c --quiet /tmp/sums"
	step "$fs-unmount-again" umount $mnt
}

for m in f2fs zonefs; do
	grep -q "$m" /proc/filesystems || modprobe $m
done
in-apps modprobe btrfs
step f2fs-make mkfs.f2fs -q -f -m -c "$zoned" "$meta"
file_system f2fs "$meta" fsck.f2fs --dry-run
step btrfs-make in-apps mkfs.btrfs -q -f -O zoned "$zoned"
file_system btrfs "$zoned" in-apps btrfs check --readonly
step zonefs-make super_block
step zonefs-mount mount -t zonefs "$zoned" $mnt
step zonefs-write zonefs_write
step zonefs-append zonefs_append
step zonefs-truncate zonefs_truncate
step zonefs-unmount umount $mnt
step zonefs-mount-again mount -t zonefs "$zoned" $mnt
step zonefs-again zonefs_again
step zonefs-unmount-again umount $mnt
exit $failed

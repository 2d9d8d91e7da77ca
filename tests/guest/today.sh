#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# today.sh WORK: what Linux 7 does with the drive. It needs --apps and a guest of such a release.
#   zones    file systems on the zones of /dev/nvme0n2: zoned XFS and f2fs, with their metadata on /dev/nvme0n1; Btrfs
#            and zonefs
#   streams  write streams and hints on a drive with four placement handles, and those of f2fs
#   blocks   atomic writes, and file systems with blocks of 16 and 64 KiB, on a drive with mapping units of 16 KiB
# today.txt has a line per step: "NAME: ok" or "NAME: FAIL", or "NAME: VALUE".
# shellcheck disable=SC2086 # no name has a blank
report=$OUT/today.txt
log=$OUT/today.log
mnt=/run/apps/mnt/ssd
one=/dev/nvme0n1 zoned=/dev/nvme0n2

# shellcheck source=host-tools/guest/steps.sh
. steps.sh

value() { echo "$1: $2" >>"$report"; } # NAME VALUE

make_files()
{
	for i in $(seq 1 40); do
		dir=$mnt/d$((i % 4))
		mkdir -p "$dir" && seq $((i * 1000000)) $((i * 1000000 + i * 900)) >"$dir/file$i" || return 1
	done
	for i in 3 13 23 33; do
		rm "$mnt/d$((i % 4))/file$i" || return 1
	done
	sync
	(cd $mnt && find . -type f | sort | tr '\n' '\0' | xargs -0 sha256sum) >/tmp/sums
}

compare() { (cd $mnt && sha256sum -c --quiet /tmp/sums); }

file_system() # FS OPTIONS DEVICE CHECKER... - writes files, checks, and compares them after another mount
{
	fs=$1 options=$2 dev=$3
	shift 3
	modprobe "$fs" 2>/dev/null
	step "$fs-mount" mount -t "$fs" $options "$dev" $mnt
	step "$fs-write" make_files
	step "$fs-unmount" umount $mnt
	step "$fs-check" "$@" "$dev"
	step "$fs-mount-again" mount -t "$fs" $options "$dev" $mnt
	step "$fs-compare" compare
	step "$fs-unmount-again" umount $mnt
}

zonefs_write()
{
	head -c 1048576 /dev/urandom >/tmp/data
	dd if=/tmp/data of=$mnt/seq/0 bs=64k oflag=direct,append conv=notrunc &&
		[ "$(stat -c %s $mnt/seq/0)" = 1048576 ]
}

zones()
{
	step xfs-make mkfs.xfs -f -r rtdev=$zoned $one
	value xfs-zoned "$(mkfs.xfs -N -f -r rtdev=$zoned $one | sed -n 's/.* \(zoned=[01]\).*/\1/p')"
	file_system xfs "-o rtdev=$zoned" $one xfs_repair -n -r $zoned
	blkzone reset $zoned
	in-apps modprobe btrfs
	step btrfs-make in-apps mkfs.btrfs -q -f -O zoned $zoned
	file_system btrfs "" $zoned in-apps btrfs check --readonly
	step f2fs-make mkfs.f2fs -q -f -m -c $zoned $one
	file_system f2fs "" $one fsck.f2fs --dry-run
	modprobe zonefs
	step zonefs-make in-apps mkzonefs -f $zoned
	step zonefs-mount mount -t zonefs $zoned $mnt
	step zonefs-synchronous zonefs_write
	step zonefs-unmount umount $mnt
	step zonefs-mount-again mount -t zonefs $zoned $mnt
	step zonefs-compare cmp /tmp/data $mnt/seq/0
	step zonefs-unmount-again umount $mnt
}

# Print how many blocks may yet be written to the reclaim unit of each placement handle.
left()
{
	nvme flush $one -n 1 >/dev/null
	nvme fdp status $one | sed -n 's/.*RUAMW): *//p' | xargs
}

write_megabyte() # FILE HINT
{
	fio --name=a --filename="$1" --rw=write --bs=64k --size=1m --direct=1 --ioengine=psync --write_hint="$2"
}

streams()
{
	value streams "$(cat /sys/block/nvme0n1/queue/max_write_streams)"
	value granularity "$(cat /sys/block/nvme0n1/queue/write_stream_granularity)"
	cp /job/streams.c /run/apps/tmp/
	step compile in-apps gcc -O2 -o /tmp/streams /tmp/streams.c
	value new "$(left)"
	for stream in 0 1 2 3 4; do
		step "stream-$stream" in-apps /tmp/streams $one $stream $((stream << 22)) 1048576
		value "after-$stream" "$(left)"
	done
	value stream-5 "$(in-apps /tmp/streams $one 5 0 16384)"
	nvme fdp update $one -p 0,1,2,3 >/dev/null
	for hint in short medium long extreme; do
		step "hint-$hint" write_megabyte $one $hint
		value "after-$hint" "$(left)"
	done
	modprobe f2fs
	step f2fs-make mkfs.f2fs -q -f -t 0 $one
	step f2fs-mount mount -t f2fs $one $mnt
	sync
	nvme fdp update $one -p 0,1,2,3 >/dev/null
	for hint in medium extreme; do
		step "f2fs-$hint" write_megabyte $mnt/$hint $hint
	done
	value f2fs "$(left)"
	step f2fs-unmount umount $mnt
}

atomic() # FILE OFFSET BYTES
{
	in-apps xfs_io -d -c "pwrite -A -D -V 1 -b $3 $2 $3" "$1" 2>&1 | grep -v '^$' | head -n 1 | sed 's/ (.*//'
}

# Make a file system, write, mount again, compare; write 16 KiB of a file at once and not torn, if its blocks are that
# large.
big_blocks() # NAME FS MKFS...
{
	case=$1 fs=$2
	shift 2
	modprobe "$fs" 2>/dev/null
	step "$case-make" "$@" $one
	step "$case-mount" mount -t "$fs" $one $mnt
	step "$case-write" make_files
	case $case in
	*-64k) ;;
	*)
		in-apps xfs_io -f -d -c 'pwrite -b 64k 0 64k' -c fsync /mnt/ssd/atomic >>"$log" 2>&1
		value "$case-atomic" "$(atomic /mnt/ssd/atomic 16384 16384)"
		;;
	esac
	step "$case-unmount" umount $mnt
	step "$case-mount-again" mount -t "$fs" $one $mnt
	step "$case-compare" compare
	step "$case-unmount-again" umount $mnt
}

blocks()
{
	queue=/sys/block/nvme0n1/queue
	value physical_block_size "$(cat $queue/physical_block_size)"
	for name in unit_min unit_max boundary; do
		value atomic_write_${name}_bytes "$(cat $queue/atomic_write_${name}_bytes)"
	done
	value atomic-16k "$(atomic $one 32768 16384)"
	value atomic-32k "$(atomic $one 32768 32768)"
	value atomic-misaligned "$(atomic $one 8192 16384)"
	big_blocks ext4-16k ext4 mkfs.ext4 -q -F -b 16384
	big_blocks ext4-64k ext4 mkfs.ext4 -q -F -b 65536
	big_blocks xfs-16k xfs mkfs.xfs -q -f -b size=16k
	big_blocks xfs-64k xfs mkfs.xfs -q -f -b size=64k
}

in-apps true
"$1"
exit $failed

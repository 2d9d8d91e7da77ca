#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# calls.sh: records that the calls of one WAY make durable (records.c), on a file system FS, and below it a LAYER. Its
# name in the guest says what it does: make, work or check.
#
#: variants WAY-FS or WAY-FS-LAYER. WAY: fsync fdatasync odsync osync dsync rename replace lazy atomic split;
#: variants FS: ext4 xfs zonedxfs f2fs btrfs btrfs1 zonefs, or raw (the device itself: atomic and split);
#: variants LAYER: plain raid1 raid5 raid5ppl raid5late raid5ppllate crypt bcache
#: apps btrfs zonefs raid crypt bcache
#: drives zonedxfs
#: host -ext4 -raw
#
# What is promised (fsync(2), open(2), pwritev2(2), rename(2)):
#
#   fsync, osync          the data and all metadata of the file are on the device
#   fdatasync, odsync, dsync   the data are, and the metadata that are needed to read them
#   rename                with an fsync of the file before, and of the directory after it, the new file is there
#   replace               with an fsync of the file before it: the old or the new file is there, whole, at any time
#   lazy                  nothing. ext4 says what replace promises (auto_da_alloc, Documentation/admin-guide/ext4.rst), but
#                         keeps it on Linux 6.12 with the mount option dioread_lock alone
#   atomic                of each write all is there or nothing (RWF_ATOMIC), and all once it has ended (RWF_DSYNC). Its
#                         16 KiB need a drive with capacitors (--set ftl.power_protected=yes), and files Linux 6.13
#   split                 the latter alone
#
# ext4, xfs, f2fs and btrfs have their default options, which these promises need: barriers (ext4.rst; btrfs(5)), and
# fsync_mode=posix (Documentation/filesystems/f2fs.rst).
#
# btrfs1 has one copy of the metadata, btrfs two (DUP, mkfs's default). On zones, Linux 6.12 refuses to mount a DUP block
# group whose two zones have different write pointers, as a cut may leave them. zonefs needs a drive with zones, and has
# the ways fsync, fdatasync, odsync, osync and dsync: a file's size is its zone's write pointer, truncation to 0 resets
# the zone, and fsync reports the data that the zone does not keep (Documentation/filesystems/zonefs.rst).
#
# zonedxfs keeps files on the zones of the second drive, metadata and log on the first; both lose their power at the
# same moment (mkfs.xfs(8), "zoned"; Documentation/admin-guide/xfs.rst, "Zoned Filesystems"). It needs Linux 6.15.
#
# raid1, raid5: md over two or three slices of the drive, 32 MiB each, so all members lose their power at once. late: the
# check finds the array without its first member, which is lost with the power. md(4) names what a RAID 5 may lose then:
# the write hole, data that are not being written; with a partial parity log (ppl) not.
#
# crypt: dm-crypt on the whole drive. It and md remap requests, and such drivers pass flushes and FUA on to the devices
# (Documentation/block/writeback_cache_control.rst).
#
# bcache: the cache, with writeback, on one slice of the drive, what is cached on another. "It reliably handles unclean
# shutdown" (Documentation/admin-guide/bcache.rst).
uuid=5a1e5a1e-0000-4000-8000-000000000004
key=5a1e5a1e000040008000000000000004$(printf '%096d' 4) # 512 bits
IFS=- read -r way fs layer <<END
$CUTS_VARIANT
END
copies=dup
[ "$fs" != btrfs1 ] || fs=btrfs copies=single
zones=${SLATE_DEVS#* } # of zonedxfs
layer=${layer:-plain} slices=$((65536 + 8192)) # sectors of a member
export DM_DISABLE_UDEV=1

die()
{
	echo "calls.sh: $*"
	exit 4
}

quietly() { "$@" >/run/said 2>&1 || { cat /run/said; return 1; }; }

map() # NAME TARGET...
{
	name=$1
	shift
	quietly in-apps dmsetup create "$name" --table "$*" || die "dmsetup create $name"
}

slice() # NUMBER...
{
	quietly in-apps modprobe dm_mod
	for n in "$@"; do
		map "s$n" "0 $slices linear $SLATE_DEV $((n * slices))"
	done
}

# Set $dev to the device for the file system.
layer_up() # make|assemble
{
	dev=$SLATE_DEV level=${layer%%[pl]*} policy=resync late=''
	case $layer in *ppl*) policy=ppl ;; esac
	case $layer in *late) [ "${0##*/}" != check ] || late=yes ;; esac
	case $layer in
	plain) ;;
	raid1) quietly in-apps modprobe raid1 && slice 0 1 && array "$1" raid1 /dev/mapper/s0 /dev/mapper/s1 ;;
	raid5*)
		quietly in-apps modprobe raid456
		if [ "$late" ]; then
			slice 1 2
			array "$1" "$level" /dev/mapper/s1 /dev/mapper/s2
		else
			slice 0 1 2
			array "$1" "$level" /dev/mapper/s0 /dev/mapper/s1 /dev/mapper/s2
		fi
		;;
	crypt)
		dev=/dev/mapper/crypt
		quietly in-apps modprobe -a dm_crypt xts
		map crypt "0 $(cat "/sys/block/${SLATE_DEV##*/}/size") crypt aes-xts-plain64 $key 0 $SLATE_DEV 0"
		;;
	bcache) quietly in-apps modprobe bcache && slice 0 1 && cache "$1" ;;
	*) die "there is no layer $layer" ;;
	esac
}

cache() # make|assemble
{
	dev=/dev/bcache0
	[ "$1" != make ] || quietly in-apps make-bcache --writeback --bucket 16k --block 4k --cset-uuid $uuid \
		-C /dev/mapper/s0 -B /dev/mapper/s1 || die "make-bcache"
	for slice in /dev/mapper/s0 /dev/mapper/s1; do
		echo $slice >/sys/fs/bcache/register
	done
	wait_for [ -e /sys/block/bcache0/bcache ]
}

cache_down()
{
	echo 1 >/sys/block/bcache0/bcache/stop
	echo 1 >/sys/fs/bcache/$uuid/stop
	wait_for [ ! -e /sys/block/bcache0 ]
	wait_for [ ! -e /sys/fs/bcache/$uuid ]
}

wait_for() # COMMAND...
{
	n=0
	while ! "$@"; do
		n=$((n + 1))
		[ $n -lt 1000 ] || die "this has not come: $*"
		sleep 0.01
	done
}

is_whole() { [ "$(cat /sys/block/md0/md/degraded)$(cat /sys/block/md0/md/sync_action)" = 0idle ]; }

array() # make|assemble LEVEL DEVICE...
{
	dev=/dev/md0 how=$1 raid=${2#raid}
	shift 2
	if [ "$how" = make ]; then
		[ "$raid" = 1 ] || set -- --consistency-policy=$policy --chunk=64 "$@"
		quietly in-apps mdadm --create $dev --run --level="$raid" --raid-devices=$((raid == 1 ? 2 : 3)) \
			--bitmap=none --size=32M --homehost=slate --uuid=5a1e5a1e:00000000:40008000:00000005 "$@" ||
			die "mdadm --create"
		wait_for is_whole # a new RAID 5 first rebuilds its last member
	else
		quietly in-apps mdadm --assemble --run ${late:+--force} $dev "$@" || die "mdadm --assemble"
	fi
}

layer_down()
{
	[ "$layer" != plain ] || return 0
	case $layer in
	raid*) quietly in-apps mdadm --stop /dev/md0 || die "mdadm --stop" ;;
	bcache) cache_down ;;
	esac
	for path in /dev/mapper/*; do
		name=${path##*/}
		# bcache lets go of its devices some time after its end
		[ "$name" = control ] || wait_for quietly in-apps dmsetup remove "$name"
	done
}

make_fs()
{
	case $fs in
	raw) ;;
	btrfs) quietly in-apps mkfs.btrfs -q -f -K -U $uuid -m $copies "$dev" ;;
	zonefs) quietly in-apps mkzonefs -f "$dev" ;;
	zonedxfs)
		quietly mkfs.xfs -f -K --unsupported -m uuid=$uuid -d rtinherit=1 \
			-r zoned=1,rtdev="$zones" "$dev" ||
			die "mkfs.xfs failed: it does not support zoned XFS, or refused these drives: use --guest forky"
		;;
	*) slate-fs make "$fs" "$dev" $uuid ;;
	esac || die "mkfs of $fs"
}

mount_fs()
{
	[ "$fs" != raw ] || return 0
	[ "$fs" != btrfs ] || quietly in-apps modprobe btrfs
	modprobe -q "${fs#zoned}" 2>/dev/null
	case $fs in
	zonedxfs) mount -t xfs -o rtdev="$zones" "$dev" /run/mnt ;;
	*) mount -t "$fs" "$dev" /run/mnt ;;
	esac
}

is_clean()
{
	case $fs in
	raw | zonefs) ;; # zonefs has no structure but the zones
	btrfs)
		in-apps btrfs device scan --forget # the next drive has the same identifiers
		in-apps btrfs check --readonly "$dev" 2>&1
		;;
	zonedxfs) xfs_repair -n -r "$zones" "$dev" ;;
	*) slate-fs check "$fs" "$dev" ;;
	esac
}

where() { [ "$fs" = raw ] && echo "$dev" || echo /run/mnt; }

look()
{
	mount_fs || { echo "does not mount"; dmesg | tail -n 5; return 3; }
	./records check "$(where)" "$way" "$CUTS_SEED" "$DURABLE"
	status=$?
	if [ "$fs" != raw ]; then
		umount /run/mnt || return 4
		is_clean || { echo "is not clean"; return 3; }
	fi
	layer_down
	return $status
}

case ${0##*/} in
make) layer_up make && make_fs && layer_down ;;
work)
	layer_up assemble
	mount_fs || exit 4
	./records work "$(where)" "$way" "$CUTS_SEED" "$SLATE_DURABLE"
	;;
check) layer_up assemble && look ;;
esac

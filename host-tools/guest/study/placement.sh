#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# placement.sh [WORK]: RocksDB on f2fs, in one layout on three kinds of drives. WORK is
#   load  make namespaces and file systems, load the database (mark "load"), update it ("update")
#   on    (default) mount what is there, check the database, update it until the power is cut (or for 400 batches)
#
# Three devices: the f2fs's metadata, RocksDB's log (an ext4), and the f2fs's data. On a drive of
# namespaces these are its namespaces 1 to 3. With zones the data are nvme1n1, and nvme0 has the
# others. SECTION: 2 MiB segments of a section of the f2fs, so that it is equal without zones.
set -e
META_MIB=${META_MIB:-24} WAL_MIB=${WAL_MIB:-24} DATA_MIB=${DATA_MIB:-128}
meta=/dev/nvme0n1 wal=/dev/nvme0n2 data=/dev/nvme0n3
[ ! -e /dev/nvme1n1 ] || data=/dev/nvme1n1
mnt=/run/apps/mnt/ssd

namespace() # MIB
{
	nsid=$(nvme create-ns /dev/nvme0 --nsze=$(($1 * 2048)) --ncap=$(($1 * 2048)) --flbas=0 | sed 's/.*nsid://')
	nvme attach-ns /dev/nvme0 --namespace-id="$nsid" --controllers=0
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		[ ! -b "/dev/nvme0n$nsid" ] || return 0
		sleep 0.1
	done
	return 1
}

make()
{
	nvme delete-ns /dev/nvme0 --namespace-id=1
	sleep 0.1 # until Linux 6.12 gives the name nvme0n1 free, the next namespace is nvme0n2
	namespace "$META_MIB"
	namespace "$WAL_MIB"
	[ $data = /dev/nvme1n1 ] || namespace "$DATA_MIB"
	zoned="-s ${SECTION:-2}"
	[ $data != /dev/nvme1n1 ] || zoned=-m
	# shellcheck disable=SC2086 # one or two words
	mkfs.f2fs -f $zoned -c $data $meta
	mkfs.ext4 -q -F -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 $wal
}

mount_all()
{
	in-apps true
	mount -t f2fs -o "${MOUNT:-mode=lfs}" $meta $mnt
	mkdir -p $mnt/log $mnt/db
	mount -t ext4 $wal $mnt/log
}

rocks() # WORK [OPTION...]
{
	work=$1
	shift
	in-apps python3 /job/rocks.py "$work" /mnt/ssd/db /mnt/ssd/log --keys "$KEYS" --seed "${SLATE_SEED:-1}" "$@"
}

part() # NAME FIRST BATCHES
{
	slate-mark begin "$1"
	rocks work --name "$1" --first "$2" --batches "$3"
	sync
	slate-mark end "$1"
}

{
	for module in f2fs ext4; do # built into the small kernel
		modprobe $module || true
	done
	mount -t debugfs debugfs /sys/kernel/debug || true
	case ${1:-on} in
	load)
		make
		mount_all
		part load 0 $((KEYS / 16))
		part update $((KEYS / 16)) "$BATCHES"
		df -k $mnt $mnt/log >"$OUT/df.txt"
		cat /sys/kernel/debug/f2fs/status >"$OUT/f2fs.txt" || true
		umount $mnt/log $mnt
		;;
	on)
		mount_all
		rocks on --batches 400 --report /dev/ttyS0
		umount $mnt/log $mnt
		fsck.f2fs --dry-run $meta
		;;
	esac
} >"$OUT/study.log" 2>&1

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# volumes.sh: what else joins drives, a line each in volumes.txt: device mapper (linear, stripe),
# LVM, md RAID 10, and Btrfs with its own RAID 1. Each is written, read back past the cache, and
# taken apart. Needs --apps.
# shellcheck disable=SC2086 # words
set -- $SLATE_DEVS
export DM_DISABLE_UDEV=1
in-apps modprobe -a dm_mod raid10 btrfs
sectors=65536

holds() # NAME DEVICE: 8 MiB written to it are read back, and the drives' own writes are counted
{
	head -c 8388608 /dev/urandom >/run/data
	dd if=/run/data of="$2" bs=64k oflag=direct conv=fsync 2>/dev/null
	dd if="$2" bs=64k count=128 iflag=direct 2>/dev/null | cmp -s - /run/data && echo "$1 whole" >>"$OUT/volumes.txt"
}

printf '%s\n' "0 $sectors linear $1 0" "$sectors $sectors linear $2 0" | in-apps dmsetup create both
blockdev --getsz /dev/mapper/both >"$OUT/linear.txt"
holds linear /dev/mapper/both
in-apps dmsetup remove both
echo "0 $((2 * sectors)) striped 2 128 $1 0 $2 0" | in-apps dmsetup create both
holds stripe /dev/mapper/both
in-apps dmsetup remove both

in-apps pvcreate -q -ff -y --config 'activation{udev_sync=0 udev_rules=0}' "$1" "$2"
in-apps vgcreate -q slate "$1" "$2"
in-apps lvcreate -q -y -W n -Z n -i 2 -I 64k -L 64M -n data slate
holds lvm /dev/mapper/slate-data
in-apps vgremove -q -f -y slate
in-apps pvremove -q "$1" "$2"

in-apps mdadm --create /dev/md0 --run --level=10 --layout=f2 --raid-devices=2 --size=64M --assume-clean "$1" "$2"
holds raid10 /dev/md0
in-apps mdadm --stop /dev/md0

in-apps mkfs.btrfs -q -f -K -d raid1 -m raid1 "$1" "$2"
mount -t btrfs -o device="$1",device="$2" "$1" /run/mnt
holds btrfs /run/mnt/file
umount /run/mnt
in-apps btrfs check "$1" >"$OUT/btrfs.txt" 2>&1 && echo "btrfs clean" >>"$OUT/volumes.txt"

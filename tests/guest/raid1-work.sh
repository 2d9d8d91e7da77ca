#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# raid1-work.sh: ext4 on an md RAID 1 of both drives; write and fsync files until md has lost a
# member, and 20 more after that. The console has "SYNCED N" for each, and "DEGRADED N" once.
# Needs --apps.
uuid=5a1e5a1e-0000-4000-8000-000000000005
in-apps modprobe raid1
modprobe ext4
# --fill 0: both members read as zeroes, so --assume-clean is true
# shellcheck disable=SC2086 # words
in-apps mdadm --create /dev/md0 --run --level=1 --raid-devices=2 --metadata=1.2 --bitmap=internal \
	--bitmap-chunk=1M --size=32M --assume-clean --homehost=slate --uuid=$uuid $SLATE_DEVS || exit 1
mkfs.ext4 -q -F -U $uuid -E nodiscard,hash_seed=$uuid /dev/md0 && mount -t ext4 /dev/md0 /run/mnt || exit 1
n=0 left=20
while [ $left -gt 0 ]; do
	n=$((n + 1))
	echo "file $n" >/run/mnt/f$n && sync /run/mnt/f$n || exit 1
	echo "SYNCED $n"
	read -r degraded </sys/block/md0/md/degraded
	[ "$degraded" = 0 ] || left=$((left - 1))
	[ "$degraded $left" != "1 19" ] || echo "DEGRADED $n"
done
umount /run/mnt && in-apps mdadm --stop /dev/md0

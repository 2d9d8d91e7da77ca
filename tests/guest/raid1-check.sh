#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# raid1-check.sh: after raid1-work.sh, take the lost member back, wait until md has rebuilt it, and
# check everything: state.txt (md's state, before and after), fsck.txt, whole.txt (how many files
# from the first on are whole), members.txt ("equal" when both hold the same data), check.txt
# (sectors that md's own check found to differ).
# shellcheck disable=SC2086 # words
set -- $SLATE_DEVS
md=/sys/block/md0/md
in-apps modprobe raid1
modprobe ext4
in-apps mdadm --assemble --run /dev/md0 "$1" || exit 1
cat $md/degraded >"$OUT/state.txt"
in-apps mdadm --examine "$1" "$2" >"$OUT/examine.txt"
in-apps mdadm /dev/md0 --re-add "$2" || exit 1
# 'mdadm --wait' may return before Linux has begun to rebuild
n=0
while [ "$(cat $md/degraded)" != 0 ] && [ $n -lt 600 ]; do
	sleep 0.1
	n=$((n + 1))
done
cat $md/degraded >>"$OUT/state.txt"
e2fsck -f -n /dev/md0 >"$OUT/fsck.txt" 2>&1 || exit 1
mount -t ext4 /dev/md0 /run/mnt || exit 1
n=0
while [ -s "/run/mnt/f$((n + 1))" ] && echo "file $((n + 1))" | cmp -s - "/run/mnt/f$((n + 1))"; do
	n=$((n + 1))
done
echo "$n" >"$OUT/whole.txt"
umount /run/mnt
echo check >$md/sync_action
in-apps mdadm --wait /dev/md0
cat $md/mismatch_cnt >"$OUT/check.txt"
in-apps mdadm --stop /dev/md0
offset=$(in-apps mdadm --examine "$1" | sed -n 's/ *Data Offset : \([0-9]*\) sectors/\1/p')
for drive in "$1" "$2"; do
	dd if="$drive" bs=256k skip=$((offset * 512)) count=128 iflag=direct,fullblock,skip_bytes 2>/dev/null | sha256sum
done | sort -u | wc -l >"$OUT/members.txt"

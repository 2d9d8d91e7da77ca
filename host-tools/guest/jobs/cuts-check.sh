#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# cuts-check.sh: check what cuts-work.sh left on some drives. CUTS_DONE has a word for each drive:
# the number of operations of each worker, separated by commas. Mounting replays the journal; then
# the file system must have all those operations, and be clean. check-N.txt lists what is missing,
# and has 'status 0' if nothing is.
look()
{
	dev=$1
	mount -t ext4 "$dev" /run/mnt || { echo "does not mount"; dmesg | tail -n 5; return 1; }
	# shellcheck disable=SC2046 # a word a worker
	./fsyncs check /run/mnt "$CUTS_SEED" $(echo "$2" | tr , ' ')
	status=$?
	umount /run/mnt || return 1
	e2fsck -f -n "$dev" || { echo "is not clean"; return 1; }
	return $status
}

number=1
for done in $CUTS_DONE; do
	look "/dev/nvme0n$number" "$done" >"$OUT/check-$number.txt" 2>&1
	echo "status $?" >>"$OUT/check-$number.txt"
	number=$((number + 1))
done

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# cuts-check.sh: run ./check for each of some drives as their cuts left them, for at most CUTS_LIMIT seconds of guest
# time. durable-N has what was announced before the cut of drive N. check-N.txt gets what the check says, and "status
# S" as its last line. Processes that it leaves behind are killed: its own by their group, others by their $DURABLE.
#
# Drive N is the namespace with the identifier N, but not always /dev/nvme0nN: Linux 6.12 looks at the namespaces
# at once, and numbers the names in the order in which they answer.

# Wait until the kernel has the namespace, for at most 10 s, and print its device.
device_of() # IDENTIFIER
{
	tries=0
	until found=$(grep -lx "$1" /sys/block/nvme0n*/nsid); do
		tries=$((tries + 1))
		[ $tries -le 1000 ] || { echo "there is no namespace $1" >&2; exit 1; }
		sleep 0.01
	done
	found=${found%/nsid}
	echo "/dev/${found##*/}"
}

number=1
while [ -e durable-$number ]; do
	dev=$(device_of $number) || exit
	SLATE_DEV=$dev DURABLE=/job/durable-$number timeout -s KILL "$CUTS_LIMIT" ./check \
		>"$OUT/check-$number.txt" 2>&1
	status=$?
	grep -lz "^DURABLE=/job/durable-$number\$" /proc/[0-9]*/environ 2>/dev/null | while IFS=/ read -r _ _ process _; do
		kill -KILL "$process" 2>/dev/null
	done
	printf '\nstatus %s\n' $status >>"$OUT/check-$number.txt"
	# what a check left mounted
	grep -o '^/dev/nvme[^ ]*' /proc/mounts | while read -r dev; do umount -l "$dev"; done
	number=$((number + 1))
done

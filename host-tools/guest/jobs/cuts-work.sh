#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# cuts-work.sh: run ./work until the power is cut. What it announces by 'slate-mark durable', or writes as lines
# "WORDS NS" to $SLATE_DURABLE, goes over the second UART. A work that ends leaves the drive idle until the cut.
#
# With CUTS_LIVES only the drive loses its power. The kernel gives it up when a request has waited for 1 s. The guest
# powers off when the work has failed, when the drive has been given up for 1 s, or after CUTS_LIVES seconds; it sends
# no results, and waits for nothing, because the drive is gone.
stty -F /dev/ttyS1 raw -echo
export SLATE_DURABLE=/dev/ttyS1

if [ -n "$CUTS_LIVES" ]; then
	echo 1000 >/sys/block/nvme0n1/queue/io_timeout # ms
	{ ./work || {
		echo "the work failed with status $?"
		poweroff -nf
	}; } &
	n=0
	while [ $n -lt "$CUTS_LIVES" ] && { read -r size </sys/block/nvme0n1/size; } 2>/dev/null && [ "$size" -gt 0 ]; do
		sleep 1
		n=$((n + 1))
	done
	sleep 1
	poweroff -nf
fi
./work || {
	echo "the work failed with status $?"
	exit 1
}
while :; do sleep 1000; done

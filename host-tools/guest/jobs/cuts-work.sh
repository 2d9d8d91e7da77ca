#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# cuts-work.sh: run ./work until the power is cut. What it announces by 'slate-mark durable', or writes as lines
# "WORDS NS" to $SLATE_DURABLE, goes over the second UART. A work that ends leaves the drive idle until the cut.
stty -F /dev/ttyS1 raw -echo
export SLATE_DURABLE=/dev/ttyS1
./work || {
	echo "the work failed with status $?"
	exit 1
}
while :; do sleep 1000; done

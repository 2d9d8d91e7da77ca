#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# flush.sh: numbers of flushes that the kernel sent, between marks under the
# same names: sent.txt, "NAME FLUSHES".
dev=/dev/nvme0n1

flushes()
{
	# shellcheck disable=SC2034 # only the sixteenth counts
	read -r a b c d e f g h i j k l m n o flush _ </sys/block/nvme0n1/stat
	echo "$flush"
}

count() # NAME TIMES DD-OPTION...
{
	name=$1 times=$2
	shift 2
	before=$(flushes)
	slate-mark begin "$name"
	while [ "$times" -gt 0 ]; do
		dd if=/dev/zero of=$dev bs=4096 count=1 seek="$times" "$@" 2>/dev/null || exit 1
		times=$((times - 1))
	done
	slate-mark end "$name"
	echo "$name $(($(flushes) - before))" >>"$OUT/sent.txt"
}

count none 25 oflag=direct conv=notrunc
count fsync 25 oflag=direct conv=notrunc,fsync
count odsync 25 oflag=direct,dsync conv=notrunc

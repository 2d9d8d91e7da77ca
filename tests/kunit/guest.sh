#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# guest.sh WHAT: in the guest, load the modules of tests/kunit; dmesg.txt is the log.
#   core [PROGRAM]   the core's tests, or one of them
#   blk              the drive's, with faults planned in between; then its power goes
#   after-cut D W    what the drive has after that: D and W as blk-before-cut said them
dmesg -n 1

suite() # NAME [PARAMETER=VALUE...]
{
	name=$1
	shift
	insmod ./slate_blk_kunit.ko suite="$name" "$@" && rmmod slate_blk_kunit
}

counters() { slatectl --json counters >"$OUT/$1.json"; }

blk()
{
	suite blk || return 1
	slatectl fault program 3 >/dev/null && suite blk-fault && counters fault || return 1
	# Physical page 2 holds data of the drive's first megabytes, because they were written in order.
	slatectl fault clear && slatectl fault flip 2 65535 >/dev/null && suite blk-lost && counters lost || return 1
	slatectl fault clear && suite blk-healed || return 1
	slatectl cut after 300 >/dev/null && suite blk-before-cut
}

insmod ./kunit.ko || exit 1
case $1 in
core) insmod ./slate_core_kunit.ko only="$2" ;;
blk) blk ;;
after-cut) suite blk-after-cut "durable=$2" "written=$3" ;;
esac
rc=$?
dmesg >"$OUT/dmesg.txt"
exit $rc

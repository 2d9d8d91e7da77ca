#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# guest.sh WHAT: in the guest, load the modules of tests/kunit; dmesg.txt is the log.
#   core [PROGRAM]   the core's tests, or one of them
#   blk              the drive's, with faults planned in between; then its power goes
#   after-cut        what the drive has after that
dmesg -n 1

suite() { insmod ./slate_blk_kunit.ko suite="$1" && rmmod slate_blk_kunit; }
counters() { slatectl --json counters >"$OUT/$1.json"; }

blk()
{
	suite blk || return 1
	slatectl fault program 3 >/dev/null && suite blk-fault && counters fault || return 1
	# Physical page 2 holds something of the drive's first megabytes: they were filled in order.
	slatectl fault clear && slatectl fault flip 2 65535 >/dev/null && suite blk-lost && counters lost || return 1
	slatectl fault clear && suite blk-healed || return 1
	suite blk-before-cut || return 1
	# Nobody answers any more, so nobody waits. Guest time, and the power is off after no time.
	slatectl cut now 2>/dev/null &
	usleep 100000
}

insmod ./kunit.ko || exit 1
case $1 in
core) insmod ./slate_core_kunit.ko only="$2" ;;
blk) blk ;;
after-cut) suite blk-after-cut ;;
esac
rc=$?
dmesg >"$OUT/dmesg.txt"
exit $rc

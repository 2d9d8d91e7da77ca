#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# ctl.sh: slatectl in the guest, through the NVMe driver.
dev=/dev/nvme0n1

ctl() { slatectl --json "$@"; }
refused() # NAME STATUS WORD...
{
	name=$1 want=$2
	shift 2
	slatectl "$@" >/dev/null 2>"$OUT/$name.err"
	got=$?
	[ $got -eq "$want" ] || { echo "$name: status $got, not $want"; exit 1; }
}
writes() { slate-load --write $dev "gen:rand16k,foot=64MiB,n=$1,seed=$2" >/dev/null; }

ctl info >"$OUT/info.json" || exit 1
for log in info counters latency blocks wear faults; do
	slatectl $log >"$OUT/$log.txt" || exit 1
done
slatectl reset && ctl counters >"$OUT/reset.json" || exit 1
slate-load $dev gen:rand4k,foot=128MiB,n=100,read=1000 >/dev/null || exit 1
ctl counters >"$OUT/reads.json" && ctl latency >"$OUT/latency.json" || exit 1

# garbage collection
writes 1024 1 && sync || exit 1
ctl blocks >"$OUT/before-gc.json" && ctl gc >"$OUT/gc.json" || exit 1
slate-load $dev gen:rand4k,foot=128MiB,n=2000,read=1000 >/dev/null || exit 1
ctl blocks >"$OUT/after-gc.json" && ctl counters >"$OUT/collected.json" || exit 1

# a setting
slatectl set ftl.gc_slice_pages=7 && ctl info >"$OUT/set.json" || exit 1
refused set-value 1 set ftl.gc_slice_pages=lots
refused set-name 1 set geometry.channels=2
refused set-none 1 set ftl.bogus=1

# planned faults
slatectl fault program 3 && writes 16 2 && blockdev --flushbufs $dev && ctl faults >"$OUT/program.json" || exit 1
slatectl fault clear && ctl faults >"$OUT/clear.json" || exit 1
refused flip 1 fault flip 4294967295 1
sleep 1	# GC empties the block whose program failed, and gives it up
ctl wear >"$OUT/wear.json" || exit 1

# nvme-cli must read the same bytes
nvme get-log /dev/nvme0 --namespace-id=1 --log-id=0xd1 --log-len=64 --raw-binary >"$OUT/nvme.bin" || exit 1
nvme smart-log $dev -o json >"$OUT/smart.json" || exit 1
ctl watch --interval 5 --count 3 >"$OUT/watch.json" || exit 1
slatectl watch --interval 5 --count 2 >"$OUT/watch.txt" || exit 1
refused none 1 --device /dev/null info
ctl counters >"$OUT/last.json"

# the drive is removed while 'slatectl watch' runs
slatectl watch --interval 5 >"$OUT/gone.txt" 2>"$OUT/gone.err" &
sleep 0.1
echo 1 >/sys/class/nvme/nvme0/device/remove
wait $!
[ $? -eq 1 ] || { echo "gone: another status"; exit 1; }

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# load.sh: slate-load through its real path: the block device and passthrough, every
# operation, every format, rates that are kept and rates that are not. What each run
# found goes to $OUT/NAME.json and $OUT/NAME.csv.
dev=/dev/nvme0n1 ng=/dev/ng0n1

load() # NAME STATUS WORD...
{
	name=$1 want=$2
	shift 2
	slate-load --json "$OUT/$name.json" --log /run/log "$@" >/run/said 2>"$OUT/$name.err"
	got=$?
	[ $got -eq "$want" ] || { echo "$name: status $got, not $want"; cat "$OUT/$name.err"; exit 1; }
	[ ! -e /run/log ] || slate-load --show /run/log >"$OUT/$name.csv" || exit 1
	[ -s "$OUT/$name.csv" ] || cp /run/said "$OUT/$name.said"
	rm -f /run/log
}

refused() # NAME WORD...
{
	name=$1
	shift
	slate-load "$@" >/dev/null 2>"$OUT/$name.err"
	[ $? -eq 2 ] || { echo "$name: not refused"; exit 1; }
}

slate-mark begin block
load block 0 $dev gen:rand4k,foot=128MiB,n=1000,read=1000
slate-mark end block
slate-mark begin passthrough
load passthrough 0 --max-request 4KiB $ng gen:rand4k,foot=128MiB,n=1000,read=1000
slate-mark end passthrough
load twice 0 $dev gen:rand4k,foot=128MiB,n=1000,read=1000

# the same requests in five formats
for format in native msr ssdsim blkparse fio; do
	load "format-$format" 0 --write "$dev" "/job/$format"
done
gzip -c /job/native >/run/native.gz
load format-gz 0 --write $dev /run/native.gz

# what is written, by both paths
for engine in $dev $ng; do
	load "content-${engine#/dev/}" 0 --write --closed 4 "$engine" gen:seq16k,foot=4MiB,content=text
	dd if=$dev bs=1M count=4 iflag=direct 2>/dev/null | sha256sum >>"$OUT/content.sums"
	load "made-${engine#/dev/}" 0 --write --closed 4 "$engine" gen:seq16k,foot=4MiB
	dd if=$dev bs=1M count=4 iflag=direct 2>/dev/null | sha256sum >>"$OUT/made.sums"
	blkdiscard -f --offset 0 --length 4194304 $dev
done

# every operation, and requests longer than a command
slate-mark begin ops
load ops-block 0 --write --open $dev /job/ops
slate-mark end ops
slate-mark begin ops-nvme
load ops-nvme 0 --write --open $ng /job/ops
slate-mark end ops-nvme
slate-mark begin long
load long 0 --write --closed 2 $ng gen:seq1024k,foot=8MiB
slate-mark end long

# rates
load kept 0 --open $dev gen:rand4k,foot=128MiB,n=200,read=1000,gap=200000
load faster 0 --open --speed 1.25 $dev gen:rand4k,foot=128MiB,n=200,read=1000,gap=250000
load short 1 --open --depth 4 $dev gen:rand4k,foot=128MiB,n=400,read=1000,gap=10000
load loose 0 --open --depth 4 --max-late 1000 $dev gen:rand4k,foot=128MiB,n=400,read=1000,gap=10000
load again 0 --repeat 3 --limit 25 --fold $dev /job/beyond

# refusals that need a device
refused writes $dev gen:rand4k,foot=1MiB,n=1
refused beyond $dev /job/beyond
refused large --max-request 4KiB $dev gen:rand8k,foot=1MiB,n=1,read=1000
refused ring --closed 4096 --max-request 16MiB $ng gen:rand8k,foot=1MiB,n=1,read=1000
grep -q ext4 /proc/filesystems || modprobe ext4
mkfs.ext4 -q $dev 8M && mkdir -p /mnt/a && mount $dev /mnt/a || exit 1
refused mounted $dev gen:rand4k,foot=1MiB,n=1,read=1000
refused mounted-ng $ng gen:rand4k,foot=1MiB,n=1,read=1000
umount /mnt/a
slate-load --log /dev/full $dev gen:rand4k,foot=128MiB,n=2000,read=1000 >/dev/null 2>"$OUT/full.err"
[ $? -eq 1 ] || { echo "full: not failed"; exit 1; }

# A signal ends the load early; the summary then has the requests up to that time.
slate-load --json "$OUT/stopped.json" $dev gen:rand4k,foot=128MiB,n=100000000,read=1000 2>"$OUT/stopped.err" >/dev/null &
sleep 0.1
kill -INT $!
wait $!
[ $? -eq 130 ] || { echo "stopped: another status"; exit 1; }

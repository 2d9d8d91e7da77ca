#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# raid-verify.sh LEVEL DRIVES: fio writes to an md RAID of all drives and verifies it. With RAID 5 one
# member is then taken away, and fio reads everything again. Needs --apps.
level=$1
in-apps modprobe "$([ "$level" = 5 ] && echo raid456 || echo "raid$level")"
# shellcheck disable=SC2086 # a word per drive
in-apps mdadm --create /dev/md0 --run --level="$level" --raid-devices="$2" --chunk=64K --size=32M \
	--assume-clean --homehost=slate $SLATE_DEVS || exit 1
cat >/run/verify.fio <<JOB
[verify]
filename=/dev/md0
direct=1
ioengine=io_uring
iodepth=16
rw=randwrite
bsrange=4k-128k
blockalign=4k
io_size=16m
randseed=1
verify=crc32c
verify_fatal=1
JOB
sleep 1 # until md has written its superblocks
slate-mark begin verify
fio --output-format=json+ --lat_percentiles=1 --output="$OUT/fio.json" /run/verify.fio || exit 1
slate-mark end verify
[ "$level" = 5 ] || exit 0
in-apps mdadm /dev/md0 --fail "${SLATE_DEVS##* }"
fio --verify_only --output="$OUT/degraded.txt" /run/verify.fio || exit 1
cat /sys/block/md0/md/degraded >"$OUT/state.txt"

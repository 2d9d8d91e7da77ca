#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# nvme-smoke.sh: issue every NVM command once through nvme-cli, and check its effect
# by reading back.
#
# nvme-smoke.txt has a line per step, "ok" or "FAIL"; id-ctrl.txt, id-ns.txt and
# smart-log.txt have what the drive reports of itself.

ctrl=/dev/nvme0
dev=/dev/nvme0n1
report=$OUT/nvme-smoke.txt
log=$OUT/nvme-smoke.log
dir=/tmp/nvme
mkdir -p "$dir"
# shellcheck source=host-tools/guest/steps.sh
. steps.sh

not() { ! "$@"; }

save() # FILE COMMAND...
{
	file=$1
	shift
	"$@" >"$OUT/$file" && [ -s "$OUT/$file" ]
}

read -r lba_bytes </sys/block/nvme0n1/queue/logical_block_size
last=$((16384 / lba_bytes - 1)) # block count, zero based, of 16 KiB
seq 100000 200000 | head -c 16384 >"$dir/a"
seq 300000 400000 | head -c 16384 >"$dir/b"
head -c 16384 /dev/zero >"$dir/zero"

io() # COMMAND FILE, on the blocks 64..
{
	nvme "$1" "$dev" --start-block=64 --block-count="$last" --data-size=16384 --data="$2"
}

read_back() # FILE
{
	rm -f "$dir/got"
	io read "$dir/got" && cmp "$dir/got" "$1"
}

step id-ctrl save id-ctrl.txt nvme id-ctrl "$ctrl"
step id-ns save id-ns.txt nvme id-ns "$dev"
step smart-log save smart-log.txt nvme smart-log "$ctrl"
step error-log nvme error-log "$ctrl" --log-entries=1
step "write" io write "$dir/a"
step "read back" read_back "$dir/a"
step "compare, equal" io compare "$dir/a"
step "compare, different" not io compare "$dir/b"
step "overwrite" io write "$dir/b"
step "read back again" read_back "$dir/b"
step "flush" nvme flush "$dev" --namespace-id=1
step "write-zeroes" nvme write-zeroes "$dev" --start-block=64 --block-count="$last"
step "read zeroes" read_back "$dir/zero"
step "write before dsm" io write "$dir/a"
step "dsm deallocate" nvme dsm "$dev" --namespace-id=1 --ad --slbs=64 --blocks=$((last + 1))
step "read deallocated" io read "$dir/got"
step "write after dsm" io write "$dir/b"
step "read after dsm" read_back "$dir/b"
step "read beyond the end" not nvme read "$dev" --start-block=0xffffffffff --block-count=0 \
	--data-size="$lba_bytes" --data=$dir/got
[ $failed -eq 0 ] || cat "$report"
exit $failed

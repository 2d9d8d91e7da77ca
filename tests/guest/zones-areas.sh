#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# zones-areas.sh: a random write area, by nvme-cli: Linux 6.12's block layer fails a write that is not at the write
# pointer of a zone, 6.1's passed it on. areas.txt: what happens, a line each. Pages have 32 blocks, areas four pages.
dev=/dev/nvme0n1
report=$OUT/areas.txt

say() { echo "$*" >>"$report"; }

fail()
{
	say "$1: FAIL"
	exit 1
}

pointer() { blkzone report --count 1 "$dev" | sed -E 's/.*wptr (0x[0-9a-f]+).*/\1/'; }
page() # NUMBER FILE
{
	nvme write "$dev" --start-block=$(($1 * 32)) --block-count=31 --data-size=16384 --data=/tmp/"$2" >/dev/null 2>&1
}

for name in a b; do
	head -c 16384 /dev/urandom >/tmp/$name
done
nvme zns id-ns "$dev" >"$OUT/id-ns.txt" 2>&1 || fail id-ns
page 1 a && fail "a write without an area"
nvme zns open-zone "$dev" --start-lba 0 --zrwaa >/dev/null || fail open-zone
for at in 3 1; do
	page $at a || fail "page $at"
	page $at b || fail "page $at again"
done
page 8 a && fail "a page beyond twice the area"
say "written $(pointer)"
nvme zns report-zones "$dev" --descs 1 >"$OUT/report-zones.txt" 2>&1 || fail report-zones
nvme zns zrwa-flush-zone "$dev" --lba 64 >"$OUT/part.txt" 2>&1 && fail "a part of a page"
nvme zns zrwa-flush-zone "$dev" --lba 63 >/dev/null || fail zrwa-flush-zone
say "flushed $(pointer)"
page 1 a && fail "a write before the area"
page 6 a || fail "a write beyond the area"
say "beyond $(pointer)"
nvme flush "$dev" >/dev/null || fail flush
head -c 16384 /dev/zero >/tmp/zero
cat /tmp/zero /tmp/b /tmp/zero /tmp/b /tmp/zero /tmp/zero /tmp/a >/tmp/want
dd if="$dev" of=/tmp/back bs=16k count=7 iflag=direct 2>/dev/null || fail read
cmp /tmp/want /tmp/back || fail compare
blkzone finish --offset 0 --count 1 "$dev" || fail finish
dd if="$dev" of=/tmp/back bs=16k count=7 iflag=direct 2>/dev/null || fail "read again"
cmp /tmp/want /tmp/back || fail "compare again"
say end

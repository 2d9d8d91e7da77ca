#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# control.sh: the drive's logs and orders with nvme-cli, no tool of ours.
ns=/dev/nvme0n1 ctrl=/dev/nvme0
dd if=/dev/zero of=$ns bs=1M count=4 oflag=direct 2>/dev/null || exit 1
dd if=$ns of=/dev/null bs=1M count=4 iflag=direct 2>/dev/null || exit 1
for log in 0xd0 0xd1 0xd2 0xd3 0xd4 0xd5 0xd6; do
	nvme get-log $ns --namespace-id=1 --log-id=$log --log-len=32 --raw-binary >/tmp/head || exit 1
	len=$(od -A n -t u4 -j 8 -N 4 /tmp/head | tr -d ' ')
	nvme get-log $ns --namespace-id=1 --log-id=$log --log-len=$(((len + 3) / 4 * 4)) --raw-binary |
		head -c "$len" >"$OUT/$log.bin"
done
nvme smart-log $ns --output-format=json >"$OUT/smart.json" || exit 1
nvme id-ns $ns --output-format=json >"$OUT/id-ns.json" || exit 1
nvme id-ctrl $ctrl --output-format=json >"$OUT/id-ctrl.json" || exit 1
cat /sys/block/nvme0n1/queue/physical_block_size /sys/block/nvme0n1/queue/minimum_io_size \
	/sys/block/nvme0n1/queue/optimal_io_size >"$OUT/queue.txt"
cat /sys/block/nvme0n1/wwid >"$OUT/wwid.txt"

# set a knob: 32 bytes of text; then one that does not move, and why
printf ftl.gc_slice_pages=9 >/tmp/set
nvme admin-passthru $ctrl --opcode=0xc1 --namespace-id=1 --cdw10=8 --data-len=32 --write \
	--input-file=/tmp/set >"$OUT/set.txt" 2>&1 || exit 1
printf ftl.buffer_units=9 >/tmp/set
nvme admin-passthru $ctrl --opcode=0xc1 --namespace-id=1 --cdw10=8 --data-len=32 --write \
	--input-file=/tmp/set >"$OUT/refused.txt" 2>&1 && exit 1
nvme get-log $ns --namespace-id=1 --log-id=0xd6 --log-len=560 --raw-binary >"$OUT/why.bin" || exit 1
# force GC, then count anew
nvme admin-passthru $ctrl --opcode=0xc4 --namespace-id=1 --cdw12=2 >"$OUT/gc.txt" 2>&1 || exit 1
nvme admin-passthru $ctrl --opcode=0xc4 --namespace-id=1 --cdw12=1 >"$OUT/reset.txt" 2>&1 || exit 1
nvme get-log $ns --namespace-id=1 --log-id=0xd1 --log-len=1536 --raw-binary >"$OUT/after.bin" || exit 1

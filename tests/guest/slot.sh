#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# slot.sh: the guest switches off the slot of nvme1 while fio writes to it, then writes and reads
# nvme0. rc.txt gets the status of the switch, fio's, whether nvme1 is there, and nvme0's.
fio --name=load --filename=/dev/nvme1n1 --allow_file_create=0 --ioengine=libaio --direct=1 --bs=4k --size=16M \
	--iodepth=16 --rw=randwrite --time_based --runtime=2 >"$OUT/fio.txt" 2>&1 &
load=$!
sleep 0.5
echo 0 >"$(echo /sys/bus/pci/slots/*/power)"
# shellcheck disable=SC2320 # the status of the write
echo "power $?" >"$OUT/rc.txt"
wait $load
echo "fio $?" >>"$OUT/rc.txt"
[ -e /sys/class/nvme/nvme1 ]
echo "there $?" >>"$OUT/rc.txt"
dd if=/dev/urandom of=/tmp/data bs=64k count=16 2>/dev/null
dd if=/tmp/data of=/dev/nvme0n1 bs=64k oflag=direct 2>/dev/null
dd if=/dev/nvme0n1 bs=64k count=16 iflag=direct 2>/dev/null | cmp - /tmp/data
echo "nvme0 $?" >>"$OUT/rc.txt"
exit 0

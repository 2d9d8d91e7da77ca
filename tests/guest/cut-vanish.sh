#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# cut-vanish.sh: write until the drive is gone, then wait for the kernel to give it up. vanish.txt: "gone" if it removed
# the block device (Linux 6.1), "0" if it left it with 0 bytes (6.12). vanish.log: the kernel's words.
dev=/dev/nvme0n1
while dd if=/dev/zero of=$dev bs=64k count=16 oflag=direct 2>/dev/null; do :; done
n=0
size() { cat /sys/block/nvme0n1/size 2>/dev/null || echo gone; }
while [ "$(size)" -gt 0 ] 2>/dev/null && [ $n -lt 1000 ]; do
	sleep 0.1
	n=$((n + 1))
done
dmesg | grep -i nvme >"$OUT/vanish.log"
size >"$OUT/vanish.txt"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# cut-vanish.sh: read and write until the drive is gone, then wait for the kernel to give it up.
# vanish.txt: "gone", and the kernel's words in vanish.log.
dev=/dev/nvme0n1
while dd if=/dev/zero of=$dev bs=64k count=16 oflag=direct 2>/dev/null; do :; done
n=0
while [ -e $dev ] && [ $n -lt 1000 ]; do
	sleep 0.1
	n=$((n + 1))
done
dmesg | grep -i nvme >"$OUT/vanish.log"
[ -e $dev ] || echo gone >"$OUT/vanish.txt"

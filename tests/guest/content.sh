#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# content.sh: 40 blocks of numbered lines at 1 MiB, again at 2 MiB, and 16 blocks of zeroes,
# each durable before the next, at 3 MiB.
dev=/dev/nvme0n1
awk 'BEGIN { for (i = 1; i <= 20000; i++) printf "%08d\n", i }' >/tmp/lines
dd if=/tmp/lines of=$dev bs=4096 count=40 seek=256 oflag=direct 2>/dev/null || exit 1
dd if=/tmp/lines of=$dev bs=4096 count=40 seek=512 oflag=direct 2>/dev/null || exit 1
dd if=/dev/zero of=$dev bs=4096 count=16 seek=768 oflag=direct,dsync 2>/dev/null || exit 1

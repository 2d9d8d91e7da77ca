#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# discard.sh: discard 64 MiB at 64 MiB, read 1 MiB of it. bytes.txt: what was read.
dev=/dev/nvme0n1
slate-mark begin discard
blkdiscard --force --offset 67108864 --length 67108864 $dev || exit 1
slate-mark end discard
slate-mark begin read-trimmed
dd if=$dev bs=128k skip=512 count=8 iflag=direct of=/tmp/got 2>/dev/null || exit 1
slate-mark end read-trimmed
if head -c 1048576 /dev/zero | cmp - /tmp/got; then echo zero; else echo other; fi >"$OUT/bytes.txt"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# cuts-check.sh: what cuts-work.sh left. Mounting replays the journal; then the file
# system has to be clean, and everything that CUTS_DONE tells of (an operation number a
# worker) has to be there. check.txt: what is not.
dev=/dev/nvme0n1
exec >"$OUT/check.txt" 2>&1
mount -t ext4 $dev /run/mnt || { echo "does not mount"; dmesg | tail -n 5; exit 1; }
umount /run/mnt || exit 1
e2fsck -f -n $dev || { echo "is not clean"; exit 1; }
mount -t ext4 -o ro $dev /run/mnt || exit 1
# shellcheck disable=SC2086 # a word a worker
./fsyncs check /run/mnt "$CUTS_SEED" $CUTS_DONE

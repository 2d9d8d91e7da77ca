#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# cuts-work.sh: fsync-heavy work of CUTS_WORKERS processes, until the power is cut. What is
# durable goes out over the second UART.
mount -t ext4 /dev/nvme0n1 /run/mnt || exit 1
stty -F /dev/ttyS1 raw -echo
./fsyncs work /run/mnt "$CUTS_SEED" "$CUTS_WORKERS" /dev/ttyS1

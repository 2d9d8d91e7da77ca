#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# cuts-work.sh: run CUTS_WORKERS processes that call fsync often, until the power is cut. They
# report over the second UART what is durable.
mount -t ext4 /dev/nvme0n1 /run/mnt || exit 1
stty -F /dev/ttyS1 raw -echo
./fsyncs work /run/mnt "$CUTS_SEED" "$CUTS_WORKERS" /dev/ttyS1

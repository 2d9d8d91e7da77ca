#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# cuts-make.sh: make an empty ext4 on the drive, the same every time.
uuid=5a1e5a1e-0000-4000-8000-000000000002
mkfs.ext4 -q -F -U $uuid -E nodiscard,hash_seed=$uuid /dev/nvme0n1

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run.sh NAME: run a content workload ('slate run --content NAME') in the guest. It makes an ext4 on
# the drive, runs NAME.py on it, and unmounts it. SLATE_SEED and SCALE (default 1) are its only
# inputs beside the images.
corpus=/run/apps/mnt/content
in-apps --mkfs ext4 || exit
mkdir -p $corpus
if [ -e /content.img ]; then # the small kernel
	mount -t squashfs -o loop,ro /content.img $corpus || exit
else
	mount -t squashfs -o ro /dev/pmem1 $corpus || exit
fi
export PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 SCALE="${SCALE:-1}"
slate-mark begin "$1"
in-apps python3 "/job/$1.py" || exit
in-apps --umount || exit
slate-mark end "$1"

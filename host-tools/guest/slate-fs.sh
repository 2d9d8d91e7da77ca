#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# slate-fs: ext4, XFS and F2FS on a device, for scripts in the guest.
#
#   slate-fs make FS DEVICE [UUID]   make one, the same each time for the same identifier. It trims nothing: what the
#                                    drive holds is part of the experiment
#   slate-fs check FS DEVICE         check one that is not mounted, and change nothing
uuid=${4:-5a1e5a1e-0000-4000-8000-000000000001}
case $1-$2 in
make-ext4) mkfs.ext4 -q -F -U "$uuid" -E nodiscard,hash_seed="$uuid" "$3" ;;
# --unsupported: allow less than 300 MB
make-xfs) mkfs.xfs -q -f -K --unsupported -m uuid="$uuid" "$3" ;;
make-f2fs) mkfs.f2fs -q -f -t 0 "$3" >/dev/null ;;
check-ext4) e2fsck -f -n "$3" ;;
check-xfs) xfs_repair -n "$3" ;;
check-f2fs) fsck.f2fs --dry-run "$3" ;;
*)
	echo "slate-fs: no such file system here: ${2:-} (ext4, xfs, f2fs; usage: slate-fs make|check FS DEVICE)" >&2
	exit 2
	;;
esac

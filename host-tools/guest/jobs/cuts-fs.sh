#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# cuts-fs.sh: the built-in work of 'slate cuts', fsyncs on the file system $CUTS_FS. Its name in the guest says what it
# does:
#
#   make    make an empty file system, the same every time
#   work    run CUTS_WORKERS processes that call fsync often, until the power is cut
#   check   mount it, which replays the journal, look for all that was synced, and check the file system's structure
uuid=5a1e5a1e-0000-4000-8000-000000000002
modprobe -q "$CUTS_FS" 2>/dev/null

look()
{
	mount -t "$CUTS_FS" "$SLATE_DEV" /run/mnt || { echo "does not mount"; dmesg | tail -n 5; return 3; }
	./fsyncs check /run/mnt "$CUTS_SEED" "$CUTS_WORKERS" "$DURABLE"
	status=$?
	umount /run/mnt || return 4
	slate-fs check "$CUTS_FS" "$SLATE_DEV" || { echo "is not clean"; return 3; }
	return $status
}

case ${0##*/} in
make) slate-fs make "$CUTS_FS" "$SLATE_DEV" $uuid ;;
work)
	mount -t "$CUTS_FS" "$SLATE_DEV" /run/mnt || exit 4
	./fsyncs work /run/mnt "$CUTS_SEED" "$CUTS_WORKERS" "$SLATE_DURABLE"
	;;
check) look ;;
esac

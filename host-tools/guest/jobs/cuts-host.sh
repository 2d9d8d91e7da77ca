#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# cuts-host.sh: the check of works of 'slate cuts' on the host: of the built-in one on ext4, and of calls.sh on ext4 or
# on the drive itself. $SLATE_DEV is an image of what the drive has. e2fsck replays the journal and may correct what
# needs no question (orphans of an unlink, free counts); the file system must then be clean, and debugfs reads the
# files. A tool that is killed, missing, or meets a full disk says nothing of the drive: the check has failed (4).
way=${CUTS_VARIANT%%-*} where=$SLATE_DEV
if [ "${CUTS_VARIANT#*-}" != raw ]; then
	e2fsck -f -p "$SLATE_DEV"
	status=$?
	[ $status -lt 8 ] || exit 4 # an operational error, or killed by a signal, as by the CPU time limit
	[ $status -le 1 ] || { echo "is not clean"; exit 3; }
	e2fsck -f -n "$SLATE_DEV"
	status=$?
	[ $status -lt 8 ] || exit 4
	[ $status -eq 0 ] || { echo "is not clean after its repair"; exit 3; }
	where=$PWD/files
	rm -rf "$where" && mkdir "$where" || exit 4
	debugfs -R "rdump / $where" "$SLATE_DEV" || exit 4
fi
if [ "$way" ]; then
	./records check "$where" "$way" "$CUTS_SEED" "$DURABLE"
else
	./fsyncs check "$where" "$CUTS_SEED" "$CUTS_WORKERS" "$DURABLE"
fi

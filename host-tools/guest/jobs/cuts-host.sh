#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# cuts-host.sh: the check of the built-in work of 'slate cuts' on ext4, on the host: $SLATE_DEV is an image of what the
# drive has. e2fsck replays the journal and may correct what needs no question (orphans of an unlink, free counts); the
# file system must then be clean, and debugfs reads the files.
e2fsck -f -p "$SLATE_DEV"
[ $? -le 1 ] || { echo "is not clean"; exit 3; }
e2fsck -f -n "$SLATE_DEV" || { echo "is not clean after its repair"; exit 3; }
rm -rf files && mkdir files || exit 4
debugfs -R "rdump $(seq -s ' ' -f /w%g 0 $((CUTS_WORKERS - 1))) files" "$SLATE_DEV"
./fsyncs check "$PWD/files" "$CUTS_SEED" "$CUTS_WORKERS" "$DURABLE"

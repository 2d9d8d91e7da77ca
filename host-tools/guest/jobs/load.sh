#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# load.sh: run slate-load, for 'slate run --load'. /job/load.args has its arguments, one a line.
set --
while IFS= read -r word; do
	set -- "$@" "$word"
done </job/load.args
slate-mark begin load
slate-load --json "$OUT/load.json" "$@"
status=$?
slate-mark end load
exit $status

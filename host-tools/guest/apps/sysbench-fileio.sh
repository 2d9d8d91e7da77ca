#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # APP_* come with the job
#
# sysbench-fileio.sh: sysbench issues a number of requests to a set of files. It prints the mean and
# the tail of their latencies, and a histogram.

# shellcheck source=host-tools/guest/apps/app.sh
. /job/app.sh

flags=$APP_FLAGS
[ "$flags" != none ] || flags=

fileio() # COMMAND
{
	in-apps sysbench fileio --file-total-size="$APP_SIZE" --file-num="$APP_FILES" \
		--file-test-mode="$APP_MODE" --file-block-size="$APP_BLOCK" --file-extra-flags="$flags" \
		--file-fsync-freq="$APP_FSYNC" --threads="$APP_THREADS" --events="$APP_EVENTS" --time=0 \
		--rand-seed="$SLATE_SEED" --percentile=99 --histogram "$1"
}

make_fs
fileio prepare >>"$OUT/app.log" 2>&1
prepared
begin run
fileio run >"$OUT/sysbench.txt" 2>>"$OUT/app.log"
end run

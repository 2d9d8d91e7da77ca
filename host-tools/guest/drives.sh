# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
#
# drives.sh: /job/env sources it before the job, in a guest with several drives. It waits for all
# of $SLATE_DEVS, each at most 10 s of guest time (init waits for the first one). It also makes
# slate-mark mark every drive: /job/slate-mark is the program slate-marks.
for drive in $SLATE_DEVS; do
	n=0
	while [ ! -b "$drive" ] && [ $n -lt 5000 ]; do
		n=$((n + 1))
		usleep 2000
	done
	[ -b "$drive" ] || echo "drives: no $drive after 10 s"
done
PATH=/job:$PATH

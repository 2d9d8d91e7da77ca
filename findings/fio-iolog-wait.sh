#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fio, iolog version 2: `wait N` means "until N ms after the job's start".
#
# fio's manual (3.33, "Trace file format v2"): "wait: Wait for `offset` microseconds. Everything below 100 is
# discarded. The time is relative to the previous `wait` statement." By that text the log below would take 0.003 s; if
# waits were milliseconds since the wait before, it would take 3 s. fio takes 1.5 s or a little less. A replayer that
# follows the manual submits a thousand times too fast.
set -euo pipefail
. "$(dirname "$(realpath "$0")")/fio-of-debian"

truncate -s 1M drive
{
	echo "fio version 2 iolog"
	echo "$work/drive add"
	echo "$work/drive open"
	for at in 500 1000 1500; do
		echo "$work/drive wait $at 0"
		echo "$work/drive write 0 4096"
	done
	echo "$work/drive close"
} >log
fio --name=job --ioengine=psync --read_iolog=log --output-format=json --output=result.json
took=$(sed -n 's/.*"job_runtime" : \([0-9]*\).*/\1/p' result.json | head -1)
echo "job_runtime: $took ms for waits of 500, 1000 and 1500"
expect "more than a second, and less than the sum of 3 s" "$((took > 1000 && took < 2900))" 1

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fio: loops multiplies io_size only up to the size of the job's area. A job of io_size=3m and loops=2 on 1 MiB moves
# 3 MiB, as with loops=1: in all it moves the larger of io_size and loops times the smaller of size and io_size.
#
# So a job that is to overwrite a drive six times by io_size of three drives and two loops ages it by three. fio 3.41
# does the same.
set -euo pipefail
. "$(dirname "$(realpath "$0")")/fio-of-debian"

moved() { # IO_SIZE LOOPS: MiB
	fio --name=job --filename=f --size=1m --io_size="$1" --loops="$2" --bs=4k --rw=randwrite --ioengine=null \
		--output-format=json --output=out.json
	python3 -c 'import json; print(json.load(open("out.json"))["jobs"][0]["write"]["io_bytes"] / 2**20)'
}

expect "MiB of io_size=512k, loops=4" "$(moved 512k 4)" 2.0
expect "MiB of io_size=1m, loops=4" "$(moved 1m 4)" 4.0
expect "MiB of io_size=3m, loops=1" "$(moved 3m 1)" 3.0
expect "MiB of io_size=3m, loops=2" "$(moved 3m 2)" 3.0
expect "MiB of io_size=3m, loops=4" "$(moved 3m 4)" 4.0
expect "MiB of io_size=1536k, loops=2" "$(moved 1536k 2)" 2.0

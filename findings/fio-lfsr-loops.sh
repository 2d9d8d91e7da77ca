#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fio: with random_generator=lfsr each loop repeats the first one's order, whatever randrepeat says.
#
# With randrepeat=0 the default generator has another order in each loop. With lfsr the second pass over a drive
# overwrites it in the order in which the first wrote it, so an SSD's garbage collection finds blocks that are wholly
# invalid: a drive that such a job "preconditions" has a write amplification near 1.
set -euo pipefail
. "$(dirname "$(realpath "$0")")/fio-of-debian"

for generator in lfsr tausworthe; do
	fio --name=job --filename=f --size=1M --bs=4k --rw=randwrite --ioengine=null --randrepeat=0 --randseed=7 \
		--random_generator="$generator" --loops=2 "--write_iolog=log-$generator" --output=/dev/null
	offsets "log-$generator" >order
	expect "$generator: writes of two loops" "$(wc -l <order)" 512
	head -n 256 order >first
	tail -n 256 order >second
	cmp -s first second && same=yes || same=no
	if [ "$generator" = lfsr ]; then
		expect "lfsr: the second loop repeats the first one's order" "$same" yes
	else
		expect "$generator: the second loop repeats the first one's order" "$same" no
	fi
done

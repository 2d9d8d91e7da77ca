#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fio before 3.35: `randseed` alone does not change a job's addresses.
#
# fio's manual: "randseed: Seed the random number generators based on this seed value, to be able to control what
# sequence of output is being generated. If not set, the random sequence depends on the randrepeat setting." In 3.33
# randrepeat, whose default is 1, counts although a seed is set: every seed gives the same order. The seed counts only
# with randrepeat=0; without it, runs with three seeds are the same run three times.
set -euo pipefail
. "$(dirname "$(realpath "$0")")/fio-of-debian"

for seed in 1 2; do
	for repeat in 1 0; do
		options=(--randseed="$seed")
		[ $repeat = 1 ] || options+=(--randrepeat=0)
		fio --name=job --filename=f --size=1M --bs=4k --rw=randwrite --ioengine=null "${options[@]}" \
			"--write_iolog=log-$repeat-$seed" --output=/dev/null
		offsets "log-$repeat-$seed" >"order-$repeat-$seed"
	done
done
expect "writes of a pass" "$(wc -l <order-1-1)" 256
expect "randseed=1 and 2 give the same order" "$(cmp -s order-1-1 order-1-2 && echo yes || echo no)" yes
expect "with randrepeat=0 they give the same order" "$(cmp -s order-0-1 order-0-2 && echo yes || echo no)" no

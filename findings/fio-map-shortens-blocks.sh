#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fio: in a random job of mixed block sizes, the map of blocks that were already visited shortens most large blocks.
#
# By default (norandommap=0) fio writes each smallest block once. A block that would run into a visited one is cut there.
# A job that asks for half its requests of 4 KiB and half of 64 KiB issues 4 KiB in more than half and 64 KiB in a
# sixth, and the rest in sizes that the job does not name. An SSD is so measured with another mix than the job says.
# With norandommap=1 the sizes are the two that were asked for.
set -euo pipefail
. "$(dirname "$(realpath "$0")")/fio-of-debian"

for map in 0 1; do
	fio --name=job --filename=f --size=64M --bssplit=4k/50:64k/50 --rw=randwrite --ioengine=null --randseed=7 \
		--norandommap="$map" "--write_iolog=log-$map" --output=/dev/null
	awk '/ write /{print $NF}' "log-$map" | sort -n | uniq -c >"sizes-$map"
done
of() { awk -v size="$2" '$2 == size {print $1}' "sizes-$1"; }
expect "with the map: sizes" "$(wc -l <sizes-0)" 16
expect "with the map: requests of 4 KiB" "$(of 0 4096)" 1788
expect "with the map: requests of 64 KiB" "$(of 0 65536)" 522
expect "with the map: requests" "$(awk '{n += $1} END {print n}' sizes-0)" 3236
expect "without it: sizes" "$(wc -l <sizes-1)" 2
expect "without it: requests of 4 KiB" "$(of 1 4096)" 979
expect "without it: requests of 64 KiB" "$(of 1 65536)" 963

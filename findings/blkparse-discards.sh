#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# blkparse: its totals count discards as writes, and "-a write" prints them.
#
# Linux gives a discard the direction of a write, and the action's bit BLK_TC_WRITE beside BLK_TC_DISCARD. A trace of
# one write of 4 KiB and one discard of 1 GiB has "Write Dispatches: 2, 1048MiB" (that MiB is 1,000 KiB). So the written
# bytes of blkparse's summary are not what a drive was given to program; the letters (W, D) of the events are right.
set -euo pipefail
. "$(dirname "$(realpath "$0")")/blkparse-of-debian"

# issued (action 7, BLK_TC_ISSUE 0x40): a write (0x2), and a discard (0x2000) with a write's direction
records trace.blktrace.0 0 <<'EOF'
1000 800 4096 0x420007
2000 4096 1073741824 0x20420007
EOF
blkparse -i trace >text
expect "letters of the events" "$(awk '$6 == "D" {printf "%s ", $7}' text)" "W D "
expect "the summary's dispatched writes" "$(sed -n 's/.*Write Dispatches: *\(.*\)/\1/p' text | tr -s ' \t' ' ' | head -n 1)" \
	"2, 1048MiB"
expect "events that -a write prints" "$(blkparse -a write -i trace | grep -c '^ *8,0')" 2

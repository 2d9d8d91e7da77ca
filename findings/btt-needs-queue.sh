#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# btt: without events of queueing (Q) it prints no time at all, not even that from issue to completion (D2C).
#
# A trace made by "blktrace -a issue -a complete" has all that D2C, the drive's own latency, needs, and is much smaller
# than a whole one. btt reads it without a word, and its tables are empty. With the Q event it has both times.
set -euo pipefail
. "$(dirname "$(realpath "$0")")/blkparse-of-debian"

# Print btt's line of a time, of a trace.
line() { "$work/root/usr/bin/btt" -i "$1.bin" 2>&1 | awk -v name="$2" '$1 == name {print $2, $NF}'; }

# a read, issued at 1 ms and completed at 1.5 ms; queued at 0.5 ms
records short.blktrace.0 0 <<'EOF2'
1000000 800 4096 0x410007
1500000 800 4096 0x810008
EOF2
records whole.blktrace.0 0 <<'EOF2'
500000 800 4096 0x110001
1000000 800 4096 0x410007
1500000 800 4096 0x810008
EOF2
for trace in short whole; do
	blkparse -i "$trace" -d "$trace.bin" -O >/dev/null 2>&1
done
expect "D2C of a trace with Q, seconds and requests" "$(line whole D2C)" "0.000500000 1"
expect "Q2C of it" "$(line whole Q2C)" "0.001000000 1"
expect "D2C of a trace of D and C alone" "$(line short D2C)" ""

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# blkparse: times count from the first event of what it is given, so traces of two drives that are parsed one by one
# both begin at 0.
#
# blktrace's files have the machine's clock. A trace of a drive whose first request came half a millisecond after that of
# another one loses this offset, and a replay of both texts sends their requests at other times to each other. Parsed
# together (-i A -i B), both keep one clock.
set -euo pipefail
. "$(dirname "$(realpath "$0")")/blkparse-of-debian"

times() { blkparse "$@" | awk '$1 == "8,0" {printf "%s ", $4}'; }

records one.blktrace.0 0 <<<"1000000 800 4096 0x410007"
records two.blktrace.0 0 <<<"1500000 800 4096 0x410007"
expect "the first drive alone" "$(times -i one)" "0.000000000 "
expect "the second drive alone" "$(times -i two)" "0.000000000 "
expect "both" "$(times -i one -i two)" "0.000000000 0.000500000 "

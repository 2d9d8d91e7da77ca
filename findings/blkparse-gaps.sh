#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# blkparse: with NAME.blktrace.0 and NAME.blktrace.2, but no file of processor 1, it reads the first alone, says nothing
# and exits with 0; without a file of processor 0 it finds no trace.
#
# blktrace writes a file for each processor, also an empty one. Where empty files were left out (by a copy, or in a
# published archive of traces), the events of all later processors are missing. An empty file in the gap mends it.
set -euo pipefail
. "$(dirname "$(realpath "$0")")/blkparse-of-debian"

events() { blkparse -i "$1" | grep -c '^ *8,0'; }

records trace.blktrace.0 0 <<<"1000 800 4096 0x410007"
records trace.blktrace.2 2 <<<"2000 808 4096 0x410007"
expect "events of processors 0 and 2, without a file of 1" "$(events trace)" 1
: >trace.blktrace.1
expect "events with an empty file of 1" "$(events trace)" 2
cp trace.blktrace.2 late.blktrace.2
expect "a trace of processor 2 alone" "$(blkparse -i late 2>&1 >/dev/null)" "No input files found for late"

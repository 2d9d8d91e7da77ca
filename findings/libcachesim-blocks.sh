#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# libCacheSim: a request of a vscsi trace is one object, named by its first sector, whatever it overlaps; its time is cut
# to whole seconds.
#
# Seven requests of 16 sectors, each 8 sectors behind the one before: all but the first read half of what the cache has
# just got. The miss ratio is 1.0 for a cache that holds all of them, with block_size=4096, too. Who compares with a
# drive or a page cache splits requests into blocks first (and takes times from the file).
set -euo pipefail
. "$(dirname "$(realpath "$0")")/libcachesim-of-pypi"

cat >look.py <<'EOF'
import struct

import libcachesim as lib

with open("trace.vscsi", "wb") as file:  # number, bytes, segments, READ(10), version 1, sector, us
    for i in range(7):
        file.write(struct.pack("<IIIHHQQ", i, 8192, 1, 0x28, 0x100, 1000 + 8 * i, 5_000_000 + 150_000 * i))
for block in (-1, 4096):
    reader = lib.TraceReader("trace.vscsi", lib.TraceType.VSCSI_TRACE, lib.ReaderInitParam(block_size=block))
    print("objects", *(request.obj_id for request in reader))
    reader = lib.TraceReader("trace.vscsi", lib.TraceType.VSCSI_TRACE, lib.ReaderInitParam(block_size=block))
    print("times", *(request.clock_time for request in reader))
    reader = lib.TraceReader("trace.vscsi", lib.TraceType.VSCSI_TRACE, lib.ReaderInitParam(block_size=block))
    print("misses", lib.LRU(cache_size=1 << 20).process_trace(reader)[0])
EOF
python look.py >seen
for block in 1 2; do
	expect "objects" "$(grep objects seen | sed -n ${block}p)" "objects 1000 1008 1016 1024 1032 1040 1048"
	expect "times of requests 0.15 s apart" "$(grep times seen | sed -n ${block}p)" "times 5 5 5 5 5 5 5"
	expect "miss ratio" "$(grep misses seen | sed -n ${block}p)" "misses 1.0"
done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# libCacheSim: in a CSV trace whose objects have names such as vol1-4096, all are object 0, unless obj_id_is_num=False
# and obj_id_is_num_set=True say that they are text; and rows of size 0 are left out.
#
# So a trace of three different objects hits two times in three. The library warns on standard error.
set -euo pipefail
. "$(dirname "$(realpath "$0")")/libcachesim-of-pypi"

cat >look.py <<'EOF'
import libcachesim as lib


def reader(**how):
    parameters = lib.ReaderInitParam(has_header=False, has_header_set=True, **how)
    parameters.time_field, parameters.obj_id_field, parameters.obj_size_field = 1, 2, 3
    return lib.TraceReader("trace.csv", lib.TraceType.CSV_TRACE, parameters)


with open("trace.csv", "w") as file:
    file.write("1,vol1-4096,4096\n2,vol1-8192,4096\n3,vol2-4096,4096\n4,vol2-8192,0\n")
print("default", *(request.obj_id for request in reader()))
print("misses", round(lib.LRU(cache_size=1 << 20).process_trace(reader())[0], 3))
text = {"obj_id_is_num": False, "obj_id_is_num_set": True}
print("text", len({request.obj_id for request in reader(**text)}))
print("zero", len(list(reader(ignore_size_zero_req=False, **text))))
EOF
python look.py >seen
expect "objects by default" "$(grep default seen)" "default 0 0 0"
expect "miss ratio of three objects" "$(grep misses seen)" "misses 0.333"
expect "objects as text" "$(grep text seen)" "text 3"
expect "rows with ignore_size_zero_req=False" "$(grep zero seen)" "zero 4"

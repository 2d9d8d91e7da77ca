#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# pyarrow: a duration is in a Parquet file a plain 64-bit number; its unit is only in a schema that pyarrow adds.
#
# Parquet has no type for durations. Columns such as latencies or gaps, durations in microseconds, so have no unit for
# programs that do not read that schema, and for pyarrow itself after store_schema=False. Timestamps keep theirs, but
# seconds become milliseconds.
set -euo pipefail
. "$(dirname "$(realpath "$0")")/pyarrow-of-pypi"

cat >look.py <<'LOOK'
import pyarrow as pa
import pyarrow.parquet as pq

for name, kind in (("gap", pa.duration("us")), ("at", pa.timestamp("s"))):
    for stored in (True, False):
        pq.write_table(pa.table({name: pa.array([1, 2], kind)}), "a.parquet", store_schema=stored)
        column = pq.ParquetFile("a.parquet").schema.column(0)
        print(kind, stored, column.logical_type.type, pq.read_table("a.parquet").schema.types[0])
LOOK
python look.py >seen
expect "written" "$(sed -n 1p seen)" "duration[us] True NONE duration[us]"
expect "written without that schema" "$(sed -n 2p seen)" "duration[us] False NONE int64"
expect "timestamps" "$(sed -n 4p seen)" "timestamp[s] False TIMESTAMP timestamp[ms]"

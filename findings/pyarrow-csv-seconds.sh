#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# pyarrow: a CSV's column of Unix seconds with nine decimals, as in the SYSTOR '17 traces, becomes a double.
#
# A double near 1456135200 has steps of 238 ns. So of a thousand times that are 1 ns apart, five different ones are
# left, up to 120 ns off, in the Parquet file that is made of it, too; requests get equal times. Asked for timestamp[ns],
# pyarrow refuses such text. As decimal128(19, 9) it reads all digits.
set -euo pipefail
. "$(dirname "$(realpath "$0")")/pyarrow-of-pypi"

cat >look.py <<'LOOK'
import io
from fractions import Fraction

import pyarrow as pa
from pyarrow import csv

SECOND, NS = 1456135200, range(13118000, 13119000)
text = "".join(f"{SECOND}.{ns:09d}\n" for ns in NS).encode()


def read(**types):
    names, how = csv.ReadOptions(column_names=["time"]), csv.ConvertOptions(column_types=types)
    return csv.read_csv(io.BytesIO(text), read_options=names, convert_options=how)["time"]


times = read()
off = max(abs((Fraction(t) - SECOND) * 10**9 - ns) for t, ns in zip(times.to_pylist(), NS))
print(times.type, len(set(times.to_pylist())), round(float(off)))
try:
    print(read(time=pa.timestamp("ns")).type)
except pa.ArrowInvalid:
    print("timestamp refused")
print(len(set(read(time=pa.decimal128(19, 9)).to_pylist())))
LOOK
python look.py >seen
expect "type, different times of 1000, ns off" "$(sed -n 1p seen)" "double 5 119"
expect "as timestamp[ns]" "$(sed -n 2p seen)" "timestamp refused"
expect "different times as decimals" "$(sed -n 3p seen)" 1000

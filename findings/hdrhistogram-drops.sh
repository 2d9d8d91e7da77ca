#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# hdrhistogram 0.10.3 (PyPI): a value beyond the histogram's range is left out, and no exception says so.
#
# record_value() returns False, and count, mean, percentiles and maximum are those of the other values. So if one
# latency in ten is 5 s, in a histogram for 1 us to 1 s, p99 and maximum are those of the fast nine tenths: the worst
# stalls of a drive are lost, unless each call's result is looked at.
set -euo pipefail
. "$(dirname "$(realpath "$0")")/expect"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
"${PYTHON:-python3}" -m venv venv
venv/bin/pip -q --disable-pip-version-check install hdrhistogram==0.10.3
cat >look.py <<'EOF2'
from hdrh.histogram import HdrHistogram

histogram = HdrHistogram(1, 1_000_000, 3)
for _ in range(90):
    histogram.record_value(100)
print("returned", *{histogram.record_value(5_000_000) for _ in range(10)})
print("count", histogram.get_total_count(), "p99", histogram.get_value_at_percentile(99), "max",
      histogram.get_max_value())
EOF2
venv/bin/python look.py >seen
expect "ten values beyond the range" "$(grep returned seen)" "returned False"
expect "after them" "$(grep count seen)" "count 90 p99 100 max 100"

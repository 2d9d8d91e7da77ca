#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fio: a percentile is the middle of its bucket, so it may be larger than the largest latency and smaller than the least.
#
# Of a job with one request, the minimum, mean and maximum of the completion latency are one number, and the median is
# another one. An octave has 64 buckets, so a percentile is up to 0.8 % off. A difference of two drives' p99, or of the
# p99.99 and the maximum, means nothing below that.
set -euo pipefail
. "$(dirname "$(realpath "$0")")/fio-of-debian"

fio --name=job --filename=f --size=1M --bs=4k --rw=randwrite --ioengine=psync --number_ios=1 --numjobs=40 \
	--output-format=json --output=out.json
python3 -c '
import json

above = below = middles = 0
for job in json.load(open("out.json"))["jobs"]:
    one = job["write"]["clat_ns"]
    at, p50 = one["max"], one["percentile"]["50.000000"]
    assert one["min"] == one["mean"] == at
    width = 1 << max(0, at.bit_length() - 7)
    middles += p50 == at // width * width + width // 2
    above, below = above + (p50 > at), below + (p50 < at)
print("middles", middles)
print("above, below", above > 0, below > 0)
' >seen
expect "of 40 jobs, those whose p50 is the middle of their latency's bucket" "$(grep middles seen)" "middles 40"
expect "are there jobs with a p50 above the maximum, and below the minimum" "$(grep above seen)" "above, below True True"

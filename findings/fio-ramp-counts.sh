#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fio: requests of ramp_time are left out of the results, but they use up the job's size; a job that ends within its
# ramp reports all of its requests, as if it had none.
#
# So a job with io_size and ramp_time measures fewer bytes than io_size, and one whose drive is faster than expected
# reports figures of the ramp without a word.
set -euo pipefail
. "$(dirname "$(realpath "$0")")/fio-of-debian"

ios() {
	python3 -c 'import json, sys; print(json.load(sys.stdin)["jobs"][0]["read"]["total_ios"])' <"$1"
}

job=(--name=job --filename=f --size=1M --bs=4k --rw=read --ioengine=null --output-format=json)
fio "${job[@]}" --ramp_time=60 --output=short.json
expect "reported of a job of 256 requests that ends within a ramp of 60 s" "$(ios short.json)" 256
fio "${job[@]}" --rate_iops=100 --output=whole.json
expect "reported of 256 requests at 100 a second, without a ramp" "$(ios whole.json)" 256
fio "${job[@]}" --rate_iops=100 --ramp_time=1 --output=ramp.json
# about 100 requests are in the ramp; how many exactly is the host's timing
[ "$(ios ramp.json)" -gt 100 ] && [ "$(ios ramp.json)" -lt 200 ] && some=yes || some=no
expect "of those with a ramp of 1 s, between 100 and 200 are reported" "$some" yes

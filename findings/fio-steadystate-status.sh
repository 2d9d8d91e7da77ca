#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fio: a job that did not attain its steadystate within its runtime ends with status 0, like one that did.
#
# Only the results say "attained=no" (in JSON "attained": 0). So a script that preconditions a drive until its rate is
# steady, and goes on if fio ended well, measures a drive that may not be steady.
set -euo pipefail
. "$(dirname "$(realpath "$0")")/fio-of-debian"

job=(--name=job --filename=f --size=64M --bs=4k --rw=randread --ioengine=null --time_based --runtime=4
	--steadystate=iops:0.000001% --steadystate_duration=3)
status=0
fio "${job[@]}" --output=text || status=$?
expect "status" "$status" 0
fio "${job[@]}" --output-format=json --output=out.json
expect "attained, in the JSON" \
	"$(python3 -c 'import json; print(json.load(open("out.json"))["jobs"][0]["steadystate"]["attained"])')" 0
expect "attained, in the text" "$(grep -o "attained=[a-z]*" text)" "attained=no"

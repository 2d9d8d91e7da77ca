#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fio: experimental_verify together with randseed reports errors although the data are good.
#
# A job that writes 1 MiB at random and verifies it passes with experimental_verify=1, and with randseed=7. With both
# fio 3.33 says "verify: bad header numberio" and ends with status 1, although the data are as written: a second job
# verifies the same file without an error. The message looks like a fault of the drive.
set -euo pipefail
. "$(dirname "$(realpath "$0")")/fio-of-debian"

job="--name=job --filename=data --size=1M --bs=4k --rw=randwrite --ioengine=psync --verify=crc32c --output=/dev/null"
status() {
	local found=0

	rm -f data
	# shellcheck disable=SC2086 # one word an option
	fio $job "$@" 2>said || found=$?
	echo $found
}

expect "status with randseed=7" "$(status --randseed=7)" 0
expect "status with experimental_verify=1" "$(status --experimental_verify=1)" 0
expect "status with both" "$(status --experimental_verify=1 --randseed=7)" 1
expect "fio's words" "$(grep -o -m 1 'verify: bad header numberio' said)" "verify: bad header numberio"
again=0
fio --name=again --filename=data --size=1M --bs=4k --rw=read --ioengine=psync --verify=crc32c --output=/dev/null ||
	again=$?
expect "status of a job that verifies the same data" "$again" 0

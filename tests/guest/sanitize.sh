#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# sanitize.sh - in the guest: write a MiB, sanitize the drive by nvme-cli, and store what the logs say before, during
# and after the operation, and the status of a read during it; then compare the drive with zeroes. events.txt is the
# persistent event log.
ctrl=/dev/nvme0 drive=/dev/nvme0n1
dd if=/dev/urandom of=$drive bs=64k count=16 oflag=direct 2>/dev/null
nvme sanitize-log $ctrl -o json >"$OUT/before.json"
nvme telemetry-log $ctrl --output-file="$OUT/telemetry.bin" >"$OUT/telemetry.txt" 2>&1
nvme sanitize $ctrl --sanact=2 >"$OUT/sanitize.txt" 2>&1 || echo "sanitize: $?" >>"$OUT/sanitize.txt"
nvme sanitize-log $ctrl -o json >"$OUT/during.json"
nvme read $drive -s 0 -c 7 -z 4096 >"$OUT/read.txt" 2>&1
sleep 1
nvme sanitize-log $ctrl -o json >"$OUT/after.json"
cmp -n 1048576 $drive /dev/zero && echo empty >"$OUT/cmp.txt"
for action in 3 4; do
	nvme sanitize $ctrl --sanact=$action >>"$OUT/refused.txt" 2>&1
done
nvme persistent-event-log $ctrl --action=1 --log_len=4096 >"$OUT/events.txt" 2>&1
nvme persistent-event-log $ctrl --action=2 >"$OUT/release.txt" 2>&1
exit 0

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# sanitize.sh - in the guest: write a MiB, sanitize the drive by nvme-cli, and store what the logs say before, during
# and after the operation, and the status of a read during it; then compare the drive with zeroes. events.txt is the
# persistent event log. Then overwrite the drive, and store the log of a second later, when a pass of four seconds is
# under way, and of its end.
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
nvme sanitize $ctrl --sanact=4 >>"$OUT/refused.txt" 2>&1
nvme sanitize $ctrl --sanact=3 --owpass=1 --no-dealloc >>"$OUT/refused.txt" 2>&1
nvme persistent-event-log $ctrl --action=1 --log_len=4096 >"$OUT/events.txt" 2>&1
nvme persistent-event-log $ctrl --action=2 >"$OUT/release.txt" 2>&1
dd if=/dev/urandom of=$drive bs=64k count=16 oflag=direct 2>/dev/null
nvme sanitize $ctrl --sanact=3 --owpass=1 --ovrpat=0xa5a5a5a5 >"$OUT/overwrite.txt" 2>&1 ||
	echo "overwrite: $?" >>"$OUT/overwrite.txt"
sleep 1
nvme sanitize-log $ctrl -o json >"$OUT/pass.json"
sleep 4
nvme sanitize-log $ctrl -o json >"$OUT/passed.json"
cmp -n 1048576 $drive /dev/zero && echo empty >"$OUT/cmp-passed.txt"
exit 0

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# cut-now.sh: slatectl takes the drive's power. cut.txt: its exit status, its seconds, its output.
read -r before _ </proc/uptime
slatectl cut now >"$OUT/said.txt" 2>&1
status=$?
read -r after _ </proc/uptime
echo "$status $((${after%.*} - ${before%.*}))" >"$OUT/cut.txt"
slatectl info >>"$OUT/said.txt" 2>&1
dmesg | grep -i nvme >"$OUT/kernel.txt"

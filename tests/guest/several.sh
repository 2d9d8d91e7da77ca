#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# several.sh: write what the guest sees of its drives to drives.txt: name, sectors, serial number. Read from one drive
# after the other between marks.
for drive in $SLATE_DEVS; do
	name=${drive#/dev/}
	read -r sectors <"/sys/block/$name/size"
	read -r serial <"/sys/class/nvme/${name%n1}/serial"
	echo "$name $sectors $serial" >>"$OUT/drives.txt"
	slate-mark begin "$name"
	dd if="$drive" of=/dev/null bs=4k count=3 iflag=direct 2>/dev/null
	slate-mark end "$name"
done

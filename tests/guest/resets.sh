#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# resets.sh COUNT NVME:METHOD...: 0.6 s of load on a controller, and a reset within it, COUNT times
# for each METHOD: controller; flr or bus, of its PCI function; subsystem. resets.txt gets a line for
# each: NVME, METHOD, its status and fio's. kernel.txt gets what the kernel complained of.
count=$1
shift

reset() # NVME METHOD
{
	pci=/sys/class/nvme/$1/device
	case $2 in
	controller) nvme reset "/dev/$1" ;;
	subsystem) nvme subsystem-reset "/dev/$1" ;;
	flr | bus) echo "$2" >"$pci/reset_method" && echo 1 >"$pci/reset" ;;
	esac
}

load() # NVME SEED
{
	fio --name=load --filename="/dev/${1}n1" --allow_file_create=0 --ioengine=libaio --direct=1 --bs=4k \
		--size=16M --iodepth=16 --rw=randrw --time_based --runtime=600ms --randseed="$2"
}

dmesg -c >/dev/null
for what in "$@"; do
	ctrl=${what%:*} method=${what#*:}
	for i in $(seq "$count"); do
		load "$ctrl" "$i" >>"$OUT/fio.txt" 2>&1 &
		load=$!
		sleep 0.$((10 + i * 17 % 40))
		reset "$ctrl" "$method" >>"$OUT/said.txt" 2>&1
		status=$?
		wait $load
		echo "$ctrl $method $status $?" >>"$OUT/resets.txt"
	done
done
dmesg | grep -aiE 'timeout|abort|reset controller|disabling|fail|error' >"$OUT/kernel.txt"
exit 0

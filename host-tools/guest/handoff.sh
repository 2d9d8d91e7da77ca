#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# handoff.sh: the work of a guest whose own work comes after the boot (slate run --snapshot). It is /job/run.sh of the
# initramfs, so init has loaded no module for the drive.
#
# slate-handoff names the moment up to which all runs are equal. Before it is what needs neither the job nor the drive.
# The driver is loaded there, and gets its controllers after it.
echo 0 >/sys/bus/pci/drivers_autoprobe
modprobe nvme
echo 1 >/sys/bus/pci/drivers_autoprobe
./slate-handoff /run/job.cpio || exit 1
rm run.sh slate-handoff
(cd / && cpio -iu) </run/job.cpio 2>/run/cpio.log || {
	cat /run/cpio.log >/dev/console
	echo "init: the job was not unpacked: give the guest more than this --mem" >/dev/console
	exit 1
}
rm /run/job.cpio /run/cpio.log
for device in /sys/bus/pci/devices/*; do
	[ -e "$device/driver" ] || echo "${device##*/}" >/sys/bus/pci/drivers_probe
done
n=0
while [ ! -e /dev/nvme0n1 ]; do
	n=$((n + 1))
	if [ $n -gt 5000 ]; then
		echo "init: no /dev/nvme0n1 after 10 s" >/dev/console
		break
	fi
	usleep 2000
done

# As run_job of init.
arg=
[ ! -e args ] || read -r arg <args
set -a
# shellcheck source=/dev/null
. ./env
set +a
IFS=,
# shellcheck disable=SC2086 # the words of args
set -- $arg
unset IFS
[ ! -e run.sh ] || exec sh ./run.sh "$@"
exec run-fio

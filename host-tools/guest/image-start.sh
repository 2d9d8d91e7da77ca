#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# image-start.sh: /job/start of a disk image, which slate.service executes: run the job as Slate's own guest does, send
# the results over the second UART, and power off. Console, results and marks are as README.md says.
#
# With CUTS_MARK ('slate cuts', before the work) first run ./make, then set this mark: the drive counts the time of
# the cut from it.
mkdir /run/slate-job 2>/dev/null || exit 0 # started: the image's unit and the launcher's may both start it
exec </dev/null >/dev/ttyS0 2>&1
cd /job || exit

phase()
{
	read -r up _ </proc/uptime
	echo "SLATE-PHASE $* $up"
}

fail()
{
	echo "slate: $*"
	sync
	poweroff -f
	exit
}

phase boot-done
[ -c /dev/ttyS1 ] || fail "the image's kernel has no second serial port (/dev/ttyS1)"
stty -F /dev/ttyS1 raw -echo
modprobe -q nvme
tries=0
until [ -e /dev/nvme0n1 ]; do
	tries=$((tries + 1))
	[ $tries -le 100 ] || fail "the image's kernel has found no /dev/nvme0n1 in 10 s"
	sleep 0.1
done
set -a
# shellcheck source=/dev/null
. ./env
set +a
export OUT=/run/out HOME=/ PATH="$PATH:/usr/sbin:/sbin:/job"
mkdir -p "$OUT" /run/mnt
if [ -n "$CUTS_MARK" ]; then
	[ ! -e make ] || ./make || fail "make failed with status $?"
	sync && sync /dev/nvme0n1 # what make wrote is durable, as after the power-off behind it in Slate's guest
	slate-mark point "$CUTS_MARK"
fi
phase job-start
sh ./run.sh
rc=$?
phase job-end rc=$rc
{
	echo SLATE-BEGIN
	tar -C "$OUT" -cf - . | gzip -1 | base64
	echo "SLATE-END rc=$rc"
} >/dev/ttyS1
phase output-sent
sync
poweroff -f

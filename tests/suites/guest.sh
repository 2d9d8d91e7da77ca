#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# guest.sh - run as root in the Debian guest by suites.py: unpack the suite that is in the shared
# folder, give it the drive, run its ./check, and leave what it said in the shared folder.
#
# From the folder: settings (KIND, SERIALS of up to four drives, FS, TESTS, QUICK_S, QUICK, FORMAT), suite.tar,
# modules/RELEASE.
# Into it: check.txt, results.tar (the suite's own results), dmesg.txt, status (of ./check). Of fio ./check is the
# program that TESTS names.
share=/run/share
suite=/var/tmp/suite
# shellcheck source=/dev/null
. $share/settings

say() { echo "suites: $*" >/dev/ttyS0; }

# Two NVMe drives may be found in either order.
find_drive() # SERIAL
{
	for sys in /sys/class/nvme/nvme*; do
		[ "$(tr -d ' ' <"$sys/serial")" = "$1" ] && echo "/dev/${sys##*/}n1" && return
	done
	return 1
}

blktests()
{
	printf '%s\n' "TEST_DEVS=($devs)" "TEST_CASE_DEV_ARRAY[md/003]=\"$devs\"" "TIMEOUT=$QUICK_S" \
		${QUICK:+"QUICK_RUN=1"} "OUTPUT=$suite/results" >config
	# shellcheck disable=SC2086 # one word per test
	./check $TESTS
}

# TESTS: zbd, pi or fdp, and options of that program of fio. They look for fio in their checkout.
fio()
{
	ln -s /usr/local/bin/fio fio
	# shellcheck disable=SC2086 # one word per option
	set -- $TESTS
	program=$1
	shift
	if [ "$program" = zbd ]; then
		bash t/zbd/test-zbd-support "$@" "$devs"
		set -- $?
		mkdir -p results
		mv t/zbd/*.log.* results
		return "$1"
	fi
	python3 "t/nvmept_$program.py" -f ./fio -a results --dut "/dev/ng${devs#/dev/nvme}" "$@"
}

# The file system that stays is on the first drive, the one that tests make on the second, or on halves of one drive.
xfstests()
{
	# shellcheck disable=SC2086 # one word per drive
	set -- $devs
	if [ $# = 1 ]; then
		printf 'label: gpt\n,%sM\n,\n' $(($(blockdev --getsize64 "$1") >> 21)) | sfdisk -q "$1"
		udevadm settle
		set -- "${1}p1" "${1}p2"
	fi
	for user in fsgqa fsgqa2 123456-fsgqa; do
		useradd --badname -m "$user" 2>/dev/null
	done
	mkdir -p /mnt/test /mnt/scratch
	printf 'export %s\n' "FSTYP=$FS" "TEST_DEV=$1" "TEST_DIR=/mnt/test" "SCRATCH_DEV=$2" \
		"SCRATCH_MNT=/mnt/scratch" "RESULT_BASE=$suite/results" >local.config
	case $FS in
	ext4) mkfs.ext4 -q -F "$1" ;;
	f2fs) mkfs.f2fs -q -f "$1" ;;
	*) "mkfs.$FS" -q -f "$1" ;;
	esac
	# The realtime device of XFS; it may have zones.
	[ -z "$3" ] || printf 'export %s\n' USE_EXTERNAL=yes "SCRATCH_RTDEV=$3" >>local.config
	# shellcheck disable=SC2086 # one word per test or option
	./check $TESTS
}

# Of a kernel of the user's the image has only those modules with which it booted.
if [ -d "$share/modules/$(uname -r)" ]; then
	mount --bind "$share/modules/$(uname -r)" "/lib/modules/$(uname -r)"
fi
mkdir -p $suite /run/lock
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
if ! tar -C $suite --no-same-owner --warning=no-timestamp -xf $share/suite.tar; then
	say "no room for the suite in the guest"
	exit 1
fi
cd $suite || exit 1
export PATH="$suite/bin:$PATH"
devs=
for serial in $SERIALS; do
	dev=$(find_drive "$serial") || {
		say "there is no drive with the serial number $serial"
		exit 1
	}
	# shellcheck disable=SC2086 # one word per option
	[ -z "$FORMAT" ] || nvme format "$dev" $FORMAT --force || exit 1
	devs="${devs:+$devs }$dev"
done
say "$KIND on $devs"
{
	$KIND
	echo $? >$share/status
} 2>&1 | tee $share/check.txt >/dev/ttyS0
dmesg >$share/dmesg.txt
[ ! -d results ] || tar -cf $share/results.tar results
sync
say "done"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# soak.sh - in the guest (slate run --cmd): the steps that STEPS names, on the drive itself (FS=raw)
# or on a file system, with SEED. soak.txt gets a line for each step. The first step that fails ends
# it with status 1, unless the drive's health log says that it has become read-only: then all regions
# must still be there. A file system is then looked at on a copy of the drive's content, because it may
# refuse to be mounted where it cannot write. soak.py judges kernel.txt and smart.json.
#
#   write     fio writes a region and verifies it; the region stays, for look
#   look      every region that was written is verified again
#   mix       reads, writes, trims and flushes of several processes beside each other
#   trim      the youngest region is trimmed, or its files are deleted and fstrim runs
#   reset     a controller reset under load
#   bad       a program and an erase fail, so blocks are given up
#   set       settings of the FTL change
#   again     the file system is unmounted, checked and mounted
drive=/dev/nvme0n1 dev=/dev/nvme0n1 mnt=/run/mnt number=0 regions=
region_kib=$((8 * 1024))
mkdir -p $mnt

random() # BELOW: of SEED and the step's number
{
	# shellcheck disable=SC2153 # SEED is the job's, seed a region's
	awk -v seed="$SEED$number$1" -v below="$1" 'BEGIN { srand(seed); print int(rand() * below) }'
}

target() # REGION: where fio writes it
{
	if [ "$FS" = raw ]; then
		echo "--filename=$dev --offset=$(($1 * region_kib))k --size=${region_kib}k --direct=1 --allow_file_create=0"
	else
		echo "--directory=$mnt/r$1 --nrfiles=4 --size=${region_kib}k --fallocate=none"
	fi
}

verify() # REGION SEED MORE...
{
	region=$1 seed=$2
	shift 2
	engine=io_uring size="--bsrange=4k-64k --blockalign=4k"
	[ $((seed % 3)) -eq 0 ] && engine=libaio size="--bs=4k"
	[ $((seed % 3)) -eq 1 ] && engine=psync size="--bs=16k"
	# shellcheck disable=SC2046,SC2086 # options
	fio --name="r$region" $(target "$region") --rw=randwrite $size --ioengine=$engine --iodepth=16 \
		--randseed="$seed" --verify=crc32c --verify_fatal=1 --verify_state_save=0 --fsync=64 "$@"
}

step_write()
{
	region=$number
	[ "$FS" = raw ] || mkdir "$mnt/r$region" || return 1
	verify "$region" $((SEED + number)) --end_fsync=1 || return 1
	[ "$FS" = raw ] || { sync && dd if=/dev/zero of="$mnt/written" bs=512 count=1 conv=fsync; } || return 1
	regions="$regions $region:$((SEED + number))"
}

step_look()
{
	[ "$FS" = raw ] || echo 3 >/proc/sys/vm/drop_caches
	for at in $regions; do
		verify "${at%:*}" "${at#*:}" --verify_only || return 1
	done
}

step_mix()
{
	where="--filename=$dev --offset=75% --size=16M --direct=1 --allow_file_create=0"
	more="--name=trims --rw=randtrim --bs=64k --number_ios=60"
	[ "$FS" = raw ] || where="--filename=$mnt/mix --size=12M" more=
	# shellcheck disable=SC2086 # options
	fio $where --randseed=$((SEED + number)) --norandommap --ioengine=libaio --iodepth=8 \
		--name=random --rw=randrw --bs=4k --number_ios=1500 --fsync=32 \
		--name=sync --rw=randwrite --bs=2k --number_ios=200 --sync=1 --ioengine=psync $more
}

step_trim()
{
	[ -n "$regions" ] || return 0
	last=${regions##* } regions=${regions% *}
	if [ "$FS" = raw ]; then
		blkdiscard -o $((${last%:*} * region_kib * 1024)) -l $((region_kib * 1024)) "$dev"
	else
		rm -r "$mnt/r${last%:*}" && fstrim "$mnt"
	fi
}

step_overwrite()	# of no case: look has to find it
{
	dd if=/dev/zero of="$dev" bs=4k count=1 seek=$((region_kib / 4)) conv=fsync oflag=direct
}

step_ruin()	# of no case: blocks are given up until the drive is read-only
{
	for _ in $(seq 400); do
		is_read_only && return 1
		slatectl fault clear && slatectl fault program 3 && slatectl fault erase 1
		dd if=/dev/urandom of="$dev" bs=64k count=32 seek=$((region_kib * 12 / 64)) conv=notrunc,fsync oflag=direct
		slatectl gc
	done
	return 0
}

step_reset()
{
	step_mix >/dev/null 2>&1 &
	load=$!
	sleep 0.0$((1 + $(random 8)))
	nvme reset /dev/nvme0 || return 1
	wait "$load"
}

step_bad()
{
	slatectl fault program $((1 + $(random 200))) && slatectl fault erase $((1 + $(random 4))) && step_mix
}

step_set()
{
	slatectl set ftl.gc_slice_pages=$((1 + $(random 16))) >/dev/null 2>&1 || true	# not every FTL has it
	slatectl gc >/dev/null 2>&1 || true
}

step_again()
{
	[ "$FS" = raw ] && return 0
	umount $mnt || return 1
	slate-fs check "$FS" "$dev" && attach
}

attach()
{
	mount -t "$FS" "$dev" $mnt
}

make()
{
	[ "$FS" != raw ] || return 0
	blkdiscard -f $dev && slate-fs make "$FS" $dev && { modprobe "$FS" 2>/dev/null || true; } && attach
}

run()
{
	make || return 1
	for step in $STEPS; do
		number=$((number + 1))
		"step_$step" >"$OUT/last.txt" 2>&1
		status=$?
		echo "$number $step $status" >>"$OUT/soak.txt"
		[ $status -eq 0 ] || return 1
	done
	number=$((number + 1))
	step_look >"$OUT/last.txt" 2>&1 && step_again >>"$OUT/last.txt" 2>&1
}

is_read_only()
{
	warning=$(nvme smart-log $drive -o json | sed -n 's/.*"critical_warning" *: *\([0-9]*\).*/\1/p')
	[ $((${warning:-0} & 8)) -ne 0 ]
}

# Where writing is possible again, every region is checked.
look_at_copy()
{
	if [ "$FS" != raw ]; then
		umount $mnt
		dd if=$dev of=/run/copy bs=1M conv=sparse || return 1
		dev=$(losetup -f) && losetup "$dev" /run/copy && attach || return 1
	fi
	step_look && step_again
}

run
status=$?
nvme smart-log $drive -o json >"$OUT/smart.json"
dmesg >"$OUT/kernel.txt"
if [ $status -ne 0 ] && is_read_only; then
	look_at_copy >>"$OUT/last.txt" 2>&1
	status=$?
	echo "$number read-only $status" >>"$OUT/soak.txt"
fi
tail -n 20 "$OUT/last.txt" >"$OUT/said.txt"
exit $status

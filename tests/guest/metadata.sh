#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# metadata.sh WORK: a namespace with protection information under Linux, which makes it and checks it. WORK is
#   formats  fio writes and verifies in several formats; formats.txt: a line for each: index, type, what the block
#            layer says, bytes of a block, bytes of the namespace. Then a block with a wrong guard: steps.txt
#   large    64 bytes of metadata (format 7), types 1 and 3: formats.txt, and steps.txt: fio, a block that was zeroed
#            without data (Write Zeroes), mkfs.ext4
#   write    format with the index and type of $2 and $3, then write at random until the power goes. On a namespace that
#            has such a format: read all blocks, checked; checked.txt: "sound", or what was wrong
dev=/dev/nvme0n1

format() # INDEX TYPE
{
	nvme format $dev --lbaf="$1" --pi="$2" --ms=0 --force >>"$OUT/format.txt" 2>&1 || exit 1
	nvme ns-rescan /dev/nvme0 2>>"$OUT/format.txt"
	echo "$1 $2 $(cat /sys/block/nvme0n1/integrity/format) $(blockdev --getss $dev) $(blockdev --getsize64 $dev)" \
		>>"$OUT/formats.txt"
}

job() # NAME OPTION...
{
	name=$1
	shift
	fio --output-format=json --output="$OUT/fio-$name.json" --ioengine=io_uring --iodepth=8 --direct=1 --randseed=1 \
		--filename=$dev --rw=randwrite --name="$name" "$@"
}

step() # NAME COMMAND...
{
	name=$1
	shift
	"$@" >"$OUT/$name.txt" 2>&1
	echo "$name $?" >>"$OUT/steps.txt"
}

is=$(cat /sys/block/nvme0n1/integrity/format 2>/dev/null || echo none)
case ${1:-write}-$is in	# the second boot has no argument
formats-*)
	for f in "1 1" "1 2" "1 3" "5 1"; do
		# shellcheck disable=SC2086 # two words
		format $f
		for kib in 4 12 8; do	# three orders, so that GC has something to copy
			job "$(echo "$f" | tr ' ' -)-$kib" --bs=${kib}k --size=12M --verify=crc32c --verify_fatal=1 \
				--do_verify=1 || exit 1
		done
	done
	format 1 1
	head -c 512 /dev/urandom >/tmp/data
	printf 'wrong\0\0\17' >/tmp/wrong		# of block 15
	step sound nvme write $dev -s 15 -c 0 -z 512 -d /tmp/data --prinfo=8 --ref-tag=15
	step read nvme read $dev -s 15 -c 0 -z 512 -y 8 -d /tmp/back -M /tmp/tag --prinfo=5 --ref-tag=15
	step same cmp /tmp/data /tmp/back
	step by-linux dd if=$dev of=/dev/null bs=512 skip=15 count=1 iflag=direct
	step wrong nvme write $dev -s 15 -c 0 -z 512 -y 8 -d /tmp/data -M /tmp/wrong --prinfo=0 --ref-tag=15
	step found nvme read $dev -s 15 -c 0 -z 512 -y 8 -d /tmp/back -M /tmp/tag --prinfo=4 --ref-tag=15
	step found-by-linux dd if=$dev of=/dev/null bs=512 skip=15 count=1 iflag=direct
	step beside dd if=$dev of=/dev/null bs=512 skip=16 count=8 iflag=direct
	;;
large-*)
	for type in 1 3; do
		format 7 $type
		job "7-$type" --bs=4k --size=2M --verify=crc32c --verify_fatal=1 --do_verify=1 || exit 1
		step "written-$type" nvme verify $dev --start-block=0 --block-count=127 --prinfo=4
		step "zero-$type" blkdiscard --zeroout --offset=4096 --length=32768 $dev
		step "zeroed-$type" dd if=$dev of=/dev/null bs=4096 skip=1 count=1 iflag=direct
		step "mkfs-$type" mkfs.ext4 -q -F $dev
	done
	dmesg | grep nvme0n1 >"$OUT/dmesg.txt"
	;;
write-none)
	format "$2" "$3"
	job writes --bs=4k --size=8M --time_based --runtime=600
	;;
write-*)
	if dd if=$dev of=/dev/null bs=64k count=192 iflag=direct 2>"$OUT/dd.txt"; then
		echo sound >"$OUT/checked.txt"
	else
		{ cat "$OUT/dd.txt"; dmesg | grep -iE 'guard|protection|ref tag|nvme0' | tail -5; } >"$OUT/checked.txt"
	fi
	echo "$is $(blockdev --getss $dev)" >"$OUT/state.txt"
	;;
esac

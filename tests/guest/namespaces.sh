#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# namespaces.sh WORK: a drive with two namespaces in the guest. WORK is
#   write   fio writes both and verifies; nvme-cli creates, attaches, formats, detaches and deletes more.
#           tools.txt: a line for each command, with its exit status; lists.txt: namespaces after each step
#   check   after a restart or a power cut: fio verifies both; state.txt: the namespaces
# Writes until the power goes at the end of 'write' with CUT=1.
step() # NAME COMMAND...
{
	name=$1
	shift
	"$@" >"$OUT/$name.txt" 2>&1
	echo "$name $?" >>"$OUT/tools.txt"
}

lists() # NAME
{
	all=$(nvme list-ns /dev/nvme0 --all | sed 's/.*://' | tr -d '\n')
	on=$(nvme list-ns /dev/nvme0 | sed 's/.*://' | tr -d '\n')
	free=$(nvme id-ctrl /dev/nvme0 | awk '/^unvmcap/ { print $3 }')
	echo "$1 all$all attached$on free $free" >>"$OUT/lists.txt"
}

job() # verify_only
{
	fio --output-format=json --output="$OUT/fio-$1.json" --ioengine=io_uring --iodepth=8 --direct=1 --verify=crc32c \
		--verify_fatal=1 "--$1" --randseed=1 --rw=randwrite --bs=4k --size=4M --group_reporting=0 \
		--name=one --filename=/dev/nvme0n1 --name=two --filename=/dev/nvme0n2 || exit 1
}

for dev in /dev/nvme0n1 /dev/nvme0n2; do
	echo "$dev $(blockdev --getsize64 $dev) $(blockdev --getss $dev)" >>"$OUT/state.txt"
done
case $1 in
write)
	job do_verify=1
	nvme flush /dev/nvme0n1 >/dev/null || exit 1
	lists before
	step id-ctrl nvme id-ctrl /dev/nvme0
	step create nvme create-ns /dev/nvme0 --nsze=2048 --ncap=2048 --flbas=4
	lists create
	step attach nvme attach-ns /dev/nvme0 --namespace-id=3 --controllers=0
	udevadm settle 2>/dev/null
	n=0
	while [ ! -b /dev/nvme0n3 ] && [ $n -lt 100000 ]; do
		n=$((n + 1))
	done
	lists attach
	step third dd if=/dev/zero of=/dev/nvme0n3 bs=1M count=8 oflag=direct
	step format nvme format /dev/nvme0n3 --lbaf=0 --force
	step id-ns nvme id-ns /dev/nvme0n3
	step detach nvme detach-ns /dev/nvme0 --namespace-id=3 --controllers=0
	lists detach
	step attached-again nvme attach-ns /dev/nvme0 --namespace-id=2 --controllers=0
	step too-large nvme create-ns /dev/nvme0 --nsze=1000000 --ncap=1000000 --flbas=0
	step no-format nvme create-ns /dev/nvme0 --nsze=8 --ncap=8 --flbas=9
	step delete nvme delete-ns /dev/nvme0 --namespace-id=3
	lists delete
	step by-size nvme create-ns /dev/nvme0 --nsze=8 --ncap=8 --block-size=4096
	step kept nvme delete-ns /dev/nvme0 --namespace-id=3
	job do_verify=1
	;;
check)
	job verify_only=1
	lists after
	;;
esac

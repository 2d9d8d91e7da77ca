#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# fdp.sh WORK: a drive with two placement handles in the guest. WORK is
#   tools   nvme-cli's commands for FDP. tools.txt: a line for each, with its exit status
#   rings   fio with two rings of different speeds
#   mix     fio with a ring and random writes, as a flash cache has them
# ROUNDS=N: the ring is written so many times. FDP=0: no write names a handle, so that all go to
# placement handle 0. stats.txt, stats.bin: the statistics log at the end; waf.txt: media by host bytes.
# The last two need a fio with fdp=1, 3.35 or newer.
dev=/dev/nvme0n1

finish()
{
	nvme flush $dev >/dev/null || exit 1
	# an erase is counted when it begins, but its pages until another command comes to the die
	sleep 0.1
	dd if=$dev of=/dev/null bs=1M count=4 skip=64 iflag=direct 2>/dev/null || exit 1
	nvme fdp stats /dev/nvme0 -e 1 >"$OUT/stats.txt" || exit 1
	nvme fdp stats /dev/nvme0 -e 1 --raw-binary >"$OUT/stats.bin" || exit 1
	awk -F: '/HBMW/ { host = $2 } /MBMW/ { media = $2 } END { printf "WAF %.4f\n", media / host }' \
		"$OUT/stats.txt" >"$OUT/waf.txt"
	cat "$OUT/waf.txt"
}

step() # NAME COMMAND...
{
	name=$1
	shift
	"$@" >"$OUT/$name.txt" 2>&1
	echo "$name $?" >>"$OUT/tools.txt"
}

tools()
{
	head -c 16384 /dev/urandom >/tmp/page
	step configs nvme fdp configs /dev/nvme0 -e 1 -H
	step usage nvme fdp usage /dev/nvme0 -e 1
	step events-0 nvme fdp set-events $dev -p 0 -e -t 0,3
	step events-1 nvme fdp set-events $dev -p 1 -e -t 0,3
	step write-1 nvme write $dev -s 0 -c 31 -z 16384 -d /tmp/page -T 2 -S 1
	step write-7 nvme write $dev -s 800 -c 7 -z 4096 -d /tmp/page -T 2 -S 7
	nvme flush $dev >/dev/null
	step status nvme fdp status $dev
	step update-1 nvme fdp update $dev -p 1
	step update-7 nvme fdp update $dev -p 7
	step update-both nvme fdp update $dev -p 0,1
	step status-again nvme fdp status $dev
	step events nvme fdp events /dev/nvme0 -e 1 -E
	nvme fdp events /dev/nvme0 -e 1 -E --raw-binary >"$OUT/events.bin"
	step drive-events nvme fdp events /dev/nvme0 -e 1
	step wrong-group nvme fdp stats /dev/nvme0 -e 2
}

fio() # NAME...: run sections of the job at the same time
{
	sections=
	for name in "$@"; do
		sections="$sections --section=$name"
	done
	# shellcheck disable=SC2086 # one word per section
	command fio --output-format=json --output="$OUT/fio-$1.json" $sections /tmp/fdp.fio || exit 1
}

handle() # N: what makes a section of the job name handle N
{
	[ "${FDP:-1}" = 0 ] || printf 'fdp=1\nplids=%s\n' "$1"
}

# The job writes a ring of 64 MiB in order, and the 192 MiB behind it in order or at random. For each byte there it
# writes four to the ring: flow= keeps the two sections at this ratio.
job()
{
	cat <<-EOF
		[global]
		filename=/dev/ng0n1
		ioengine=io_uring_cmd
		cmd_type=nvme
		iodepth=4
		norandommap=1
		flow_sleep=200
		randseed=1
		[fill]
		rw=write
		bs=128k
		offset=64M
		size=192M
		$(handle 1)
		[ring]
		rw=write
		bs=64k
		size=64M
		io_size=$((ROUNDS * 64))M
		flow=1
		$(handle 0)
		[slow]
		rw=write
		bs=16k
		offset=64M
		size=192M
		io_size=$((ROUNDS * 16))M
		flow=1
		$(handle 1)
		[random]
		rw=randwrite
		bs=4k
		offset=64M
		size=192M
		io_size=$((ROUNDS * 16))M
		flow=4
		$(handle 1)
	EOF
}

ROUNDS=${ROUNDS:-20}
job >/tmp/fdp.fio
cp /tmp/fdp.fio "$OUT/"
case $1 in
tools) tools ;;
rings) fio fill && fio ring slow ;;
mix) fio fill && fio ring random ;;
esac
finish

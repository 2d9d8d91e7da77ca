#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# inside.sh - Verify, Write Uncorrectable and Copy by nvme-cli, on logical blocks of 512 bytes and
# mapping units of eight of them. steps.txt: a line for each command, with its exit status;
# NAME.txt: what it said.
dev=/dev/nvme0n1

step() # NAME COMMAND...
{
	name=$1
	shift
	"$@" >"$OUT/$name.txt" 2>&1
	echo "$name $?" >>"$OUT/steps.txt"
}

read_back() # NAME FIRST: compare 64 KiB from logical block FIRST on with what was written at 0
{
	step "$1" nvme read $dev -s "$2" -c 127 -z 65536 -d /tmp/back
	cmp /tmp/data /tmp/back >>"$OUT/$1.txt" 2>&1
	echo "$1-data $?" >>"$OUT/steps.txt"
}

head -c 65536 /dev/urandom >/tmp/data
nvme id-ctrl $dev >"$OUT/id-ctrl.txt"
nvme id-ns $dev >"$OUT/id-ns.txt"
step write nvme write $dev -s 0 -c 127 -z 65536 -d /tmp/data
nvme flush $dev >/dev/null
step verify nvme verify $dev -s 0 -c 127
step copy nvme copy $dev --sdlba=4096 --slbs=0,64 --blocks=63,63
read_back copied 4096
step too-long nvme copy $dev --sdlba=8192 --slbs=0 --blocks=1024
step uncor nvme write-uncor $dev -s 4096 -c 7
step uncor-part nvme write-uncor $dev -s 4113 -c 0
step lost-part nvme read $dev -s 4113 -c 0 -z 512 -d /tmp/lost
step beside-part nvme read $dev -s 4114 -c 0 -z 512 -d /tmp/lost
step lost nvme read $dev -s 4096 -c 7 -z 4096 -d /tmp/lost
step lost-verify nvme verify $dev -s 4096 -c 127
step lost-copy nvme copy $dev --sdlba=8192 --slbs=4104,4096 --blocks=7,7
step beside nvme read $dev -s 4104 -c 7 -z 4096 -d /tmp/lost
step again nvme write $dev -s 4096 -c 127 -z 65536 -d /tmp/data
read_back rewritten 4096
nvme smart-log $dev >"$OUT/smart.txt"

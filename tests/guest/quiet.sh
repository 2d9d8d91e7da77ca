#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# quiet.sh: fio-jobs/randread-qd1.fio in a guest where nothing else happens: fio's
# main process, which looks after its jobs every 10 ms, sleeps until the end (timers of
# this shell and its children may be late), and the block layer does not count.
dev=${SLATE_DEV:-/dev/nvme0n1}
echo 0 >"/sys/block/${dev#/dev/}/queue/iostats"
echo 10000000000 >"/proc/$$/timerslack_ns"
cat >/tmp/randread-qd1.fio <<JOB
[global]
filename=$dev
direct=1
randseed=1
norandommap

[randread-qd1]
ioengine=psync
rw=randread
bs=4k
number_ios=1000
write_lat_log=randread-qd1
log_offset=1
JOB
exec run-fio /tmp/randread-qd1.fio

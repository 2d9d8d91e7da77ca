#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# build-fio.sh: build a static fio, fio.bin, from the source in src/ of this folder. It runs in the guest's root.
#
# Debian's own fio binary loads 92 MB of network storage libraries.  This one has
# psync, libaio, io_uring, io_uring_cmd and what else needs only libc.
#
# Its latencies are counted in buckets as the drive's are: 1,024 an octave (hist.h) instead
# of 64, so that percentiles of both sides compare. The latency of a flush begins at its
# submission, as that of a read (lat) does: fio's own begins when io_uring_enter() has
# returned, which may be after the drive was done.
#
# At its start it measures the rate of the time-stamp counter 6 times instead of 51. Each takes 1.28 ms in a loop that
# reads both clocks. In virtual time all agree to 1e-6. In real time fio leaves out what is further from the mean than
# a standard deviation, and so one interrupted measurement of five.
#
# The same compiler and source give the same bytes: no build id, no debug
# information, no path of the build tree.
set -euo pipefail
out=$PWD/fio.bin
cd src
change() # FILE FROM TO: fixed words of one line
{
	grep -qF -- "$2" "$1" || {
		echo "fio's $1 has no '$2' to change" >&2
		exit 1
	}
	sed -i "s/$2/$3/" "$1"
}
change stat.h 'FIO_IO_U_PLAT_BITS 6' 'FIO_IO_U_PLAT_BITS 10'
change io_u.c 'add_sync_clat_sample(&td->ts, llnsec)' \
	'add_sync_clat_sample(\&td->ts, ntime_since(\&io_u->start_time, \&icd->time))'
change gettime.c 'NR_TIME_ITERS	50' 'NR_TIME_ITERS	5'
./configure --build-static --disable-native --disable-optimizations --disable-numa \
	--disable-rdma --disable-rados --disable-rbd --disable-http --disable-gfapi \
	--disable-pmem --disable-libzbc --disable-libnfs --disable-xnvme \
	--extra-cflags="-O2 -g0 -ffile-prefix-map=$PWD=."
for feature in CONFIG_LIBAIO CONFIG_STATIC CONFIG_BUILD_NATIVE; do
	grep -E "^$feature=" config-host.mak || echo "$feature not set"
done
grep -q '^CONFIG_LIBAIO=y' config-host.mak || {
	echo "fio's configure found no libaio (package libaio-dev)" >&2
	exit 1
}
make -j2 V=1 LDFLAGS="-static -Wl,--build-id=none" fio
for engine in psync libaio io_uring io_uring_cmd; do
	./fio --enghelp | grep -qw "$engine" || {
		echo "this fio has no engine $engine" >&2
		exit 1
	}
done
strip -o "$out" fio

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# build-fio.sh DSC WORKDIR OUT: build a static fio from a Debian source package.
#
# Debian's own fio binary loads 92 MB of network storage libraries.  This one has
# psync, libaio, io_uring, io_uring_cmd and what else needs only libc.
#
# The same compiler and source give the same bytes: no build id, no debug
# information, no path of the build tree.
set -euo pipefail
dsc=$1 work=$2 out=$3

dpkg-source --no-check -x "$dsc" "$work/fio"
cd "$work/fio"
./configure --build-static --disable-native --disable-optimizations --disable-numa \
	--disable-rdma --disable-rados --disable-rbd --disable-http --disable-gfapi \
	--disable-pmem --disable-libzbc --disable-libnfs --disable-xnvme \
	--extra-cflags="-O2 -g0 -ffile-prefix-map=$work/fio=."
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

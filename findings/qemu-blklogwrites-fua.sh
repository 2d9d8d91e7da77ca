#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# QEMU's blklogwrites: a write with FUA is logged as a write without that flag and a flush of the whole drive behind it;
# zeroes are logged with their data, and not as zeroes.
#
# The log has the format of Linux's dm-log-writes, which has a flag for FUA (2) and one for a flush (1). Who replays it
# takes everything before a flush for durable. So the state in which a FUA write (a journal's commit) survived a power
# cut, and an earlier write that was not flushed did not, is never made from such a log, though NVMe and SCSI permit it.
set -euo pipefail
. "$(dirname "$(realpath "$0")")/expect"

version=1:7.2+dfsg-7+deb12u18+b3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
apt-get download -qq "qemu-utils=$version" 2>apt.log || {
	cat apt.log >&2
	echo "${0##*/}: qemu-utils $version is not to be had; run it on Debian 12 (bookworm), after apt-get update" >&2
	exit 2
}
dpkg-deb -x qemu-utils_*.deb root
ldd root/usr/bin/qemu-io | grep 'not found' && { echo "${0##*/}: install qemu-utils for its libraries" >&2; exit 2; }
root/usr/bin/qemu-io --version | head -n 1
truncate -s 1M disk

# Print the flags and the count of sectors of each entry that these commands of qemu-io make.
entries() {
	truncate -s 0 log
	root/usr/bin/qemu-io "$@" >/dev/null --image-opts \
		driver=blklogwrites,file.driver=file,file.filename=disk,log.driver=file,log.filename=log
	python3 -c '
import struct
log = open("log", "rb").read()
_magic, _version, number, sector = struct.unpack_from("<QQQI", log)
at, told = sector, []
for _ in range(number):
    _at, count, flags, _length = struct.unpack_from("<QQQQ", log, at)
    told.append(f"{flags}:{count}")
    at += sector * (1 + (0 if flags & 4 else count))
print(*told)'
	rm log
}

# flags:sectors; the entries at the end are of the closing program
expect "a write" "$(entries -c 'write 0 4k' | cut -d' ' -f1-2)" "0:8 1:0"
expect "a write, a write with FUA, a write" \
	"$(entries -c 'write 64k 4k' -c 'write -f 0 4k' -c 'write 8k 4k' | cut -d' ' -f1-4)" "0:8 0:8 1:0 0:8"
expect "a write of zeroes, a write" "$(entries -c 'write -z 0 4k' -c 'write 8k 4k' | cut -d' ' -f1-2)" "0:8 0:8"
expect "a discard, a write" "$(entries -c 'discard 0 4k' -c 'write 8k 4k' | cut -d' ' -f1-2)" "4:8 0:8"

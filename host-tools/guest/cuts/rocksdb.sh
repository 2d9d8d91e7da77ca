#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# rocksdb.sh: RocksDB on ext4. A batch puts a key and a counter; it is announced when it has been written. Memtables of
# 64 KiB make it write and compact tables all the time. Its name in the guest says what it does: make, work or check.
#
#: variants WRITES. WRITES: sync nosync nowal
#: apps all
#
# What is promised (RocksDB's include/rocksdb/options.h: WriteOptions::sync, WriteOptions::disableWAL, WALRecoveryMode;
# write_batch.h):
#
#   sync     a batch is whole, and durable once it has been written
#   nosync   "if the machine crashes, some recent writes may be lost": the last ones, as recovery ends at the first
#            record that is not whole (kPointInTimeRecovery, the default)
#   nowal    "writes will not first go to the write ahead log, and the write may get lost after a crash"; each is whole
store=/mnt/ssd/store

# Python calls RocksDB's C interface, because the tools of its package announce nothing.
store()
{
	cat >/job/store.py <<'PYTHON'
import ctypes, glob, os, subprocess, sys

what, variant, path = sys.argv[1:]
c = ctypes.CDLL(glob.glob("/usr/lib/x86_64-linux-gnu/librocksdb.so.*")[0])
pointer, number, flag, text = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_ubyte, ctypes.c_char_p


def call(name, result, *types):
    function = getattr(c, "rocksdb_" + name)
    function.restype, function.argtypes = result, types
    return function


new_options, new_batch = call("options_create", pointer), call("writebatch_create", pointer)
put = call("writebatch_put", None, pointer, text, number, text, number)
write = call("write", None, pointer, pointer, pointer, pointer)
read = call("get", pointer, pointer, pointer, text, number, pointer, pointer)
error, size = pointer(), number()


def good(status):
    if error.value:
        print(ctypes.string_at(error.value).decode(errors="replace"))
        sys.exit(status)


def value(n):
    return str(n).encode().rjust(100 + n * 977 % 3000, b"0")


def get(key):
    found = read(db, reads, key, len(key), ctypes.byref(size), ctypes.byref(error))
    good(3)
    return ctypes.string_at(found, size.value) if found else None


options, reads = new_options(), call("readoptions_create", pointer)()
call("options_set_create_if_missing", None, pointer, flag)(options, what == "make")
call("options_set_write_buffer_size", None, pointer, number)(options, 64 << 10)
call("options_set_paranoid_checks", None, pointer, flag)(options, 1)
db = call("open", pointer, pointer, text, pointer)(options, path.encode(), ctypes.byref(error))
good(3)

if what == "work":
    writes, n = call("writeoptions_create", pointer)(), 0
    call("writeoptions_set_sync", None, pointer, flag)(writes, variant == "sync")
    call("writeoptions_disable_WAL", None, pointer, ctypes.c_int)(writes, variant == "nowal")
    while True:
        n += 1
        batch, key = new_batch(), b"%08d" % n
        put(batch, key, len(key), value(n), len(value(n)))
        put(batch, b"top", 3, b"%d" % n, len(b"%d" % n))
        write(db, writes, batch, ctypes.byref(error))
        good(4)
        call("writebatch_destroy", None, pointer)(batch)
        subprocess.run(["/job/slate-mark", "durable", str(n)], check=True)
if what == "check":
    last = int((open(os.environ["DURABLE"]).read().split() or ["0"])[-1])
    top = int(get(b"top") or 0)
    bad = [n for n in range(1, top + 1) if get(b"%08d" % n) != value(n)]
    more = [n for n in range(top + 1, top + 100) if get(b"%08d" % n)]
    print(f"the last batch is {top}, announced {last}; without its value: {bad[:9]}, without the counter: {more[:9]}")
    sys.exit(2 if bad or more else 1 if top < last else 0)
call("close", None, pointer)(db)
PYTHON
	in-apps python3 /job/store.py "$1" "$CUTS_VARIANT" $store
}

case ${0##*/} in
make)
	in-apps --mkfs ext4 && store make || exit 4
	in-apps --umount
	;;
work)
	in-apps --mount ext4 || exit 4
	cp "$(command -v slate-mark)" /job/
	store work
	;;
check)
	in-apps --mount ext4 || exit 3
	store check
	status=$?
	in-apps --umount
	exit $status
	;;
esac

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tsan.sh - the drive's thread under ThreadSanitizer ('make tsan-qemu').
#
#   qemu-patches/tsan.sh            QEMU's tools, and work for them
#   qemu-patches/tsan.sh system     the whole emulator as well, and a guest's program
#
# Builds the core and QEMU once more, instrumented, from the sources that
# build.sh has patched: build/core-tsan, build/qemu-tsan (instrument.sh). It takes some
# minutes (the whole emulator three times as many). TSAN_CC: clang, or gcc. Prints
# what the sanitizer saw and fails if there was anything.
#
# Coroutines are fibers to the sanitizer (QEMU's --enable-tsan tells it). Left out
# are what QEMU's own list, tests/tsan/suppressions.tsan, names, and a few things:
# QSLIST_INSERT_HEAD_ATOMIC() reads the head of a list without an atomic before it
# compares and exchanges it. aio_co_schedule() and bottom halves use it, so that
# it shows with any thread that wakes a coroutine. In the whole emulator, with or
# without this drive: a vCPU that polls memory while a controller writes there by
# DMA (the guest's affair), interrupts and exits asked of a vCPU, the monitor's
# IOThread when it begins, and trace events switched on while others look at them.
set -euo pipefail

# shellcheck source=qemu-patches/instrument.sh
. "$(dirname "${BASH_SOURCE[0]}")/instrument.sh"
cc=${TSAN_CC:-$(command -v clang || echo gcc)}
obj=$build/qemu-tsan reports=$build/log/tsan
programs=(qemu-io qemu-img qemu-nbd)
flags=(--enable-tools --enable-tsan)

case ${1:-tools} in
tools) flags+=(--disable-system) ;;
system)
	flags+=("${system_flags[@]}" --enable-tcg)
	obj+=-system
	programs+=(qemu-system-x86_64)
	;;
*) echo "usage: tsan.sh [tools|system]" >&2 && exit 2 ;;
esac
instrument_check
instrument_core tsan "$cc" '-fsanitize=thread -g'
instrument_configure "${obj#"$build"/qemu-}" "$cc" "${flags[@]}"
ninja -C "$obj" -j "$jobs" "${programs[@]}"

# ---- work ----

rm -rf "$reports"
mkdir -p "$reports"
{
	cat "$src/tests/tsan/suppressions.tsan"
	printf 'race_top:%s\n' aio_bh_enqueue aio_co_schedule co_schedule_bh_cb iothread_run iothread_init \
		tcg_handle_interrupt cpu_handle_interrupt trace_event_set_state_dynamic '_nocheck__trace_*'
	printf 'race:%s\n' flatview_write_continue_step flatview_read_continue_step
} >"$reports/left-out"
export TSAN_OPTIONS="suppressions=$reports/left-out log_path=$reports/report exitcode=0"
drive=driver=nand-ssd,profile=$root/nand-emu/profiles/small.ini
limit=(timeout -k 5 600)

failed=
say() { printf '  %-58s' "$1"; }
ended() { echo "ended, status $?"; }

many() { # WORD - commands for 64 requests in flight
	local i
	for ((i = 0; i < 64; i++)); do
		printf '%s\n' -c "aio_$1 -P $((i + 1)) $((i * 64))k 64k"
	done
}
mapfile -t writes < <(many write)
mapfile -t reads < <(many read)
say "qemu-io: 64 writes in flight, flush, 64 reads, discards"
"${limit[@]}" "$obj/qemu-io" -t writeback --image-opts "$drive" "${writes[@]}" -c aio_flush -c flush "${reads[@]}" \
	-c aio_flush -c 'discard 0 1M' -c 'write -f 1M 4k' >/dev/null && ended
for how in '' -w; do
	say "qemu-img bench $how: 20,000 requests, 64 in flight"
	# shellcheck disable=SC2086  # '' is no word
	"${limit[@]}" "$obj/qemu-img" bench $how -t writeback -c 20000 -d 64 --image-opts "$drive" >/dev/null && ended
done
say "qemu-nbd: ended with 64 writes of a client in flight"
socket=$reports/nbd
"${limit[@]}" "$obj/qemu-nbd" -k "$socket" -t --image-opts "$drive,spin-ns=0" &
server=$!
while [ ! -S "$socket" ]; do sleep 0.2; done
{ "${limit[@]}" "$obj/qemu-img" bench -w -c 1000000 -d 64 -f raw "nbd+unix:///?socket=$socket" >/dev/null 2>&1 || true; } &
sleep 5
kill "$server"
wait "$server" || [ $? -eq 124 ] && ended
wait
if [ "${1:-tools}" = system ]; then
	say "qemu-system-x86_64: tests/qemu/test_thread.py"
	mkdir -p "$obj/programs"
	for name in "${programs[@]}"; do ln -sf "$obj/$name" "$obj/programs/"; done
	QEMU_TSAN=1 QEMU_PATIENCE=600 QEMU_BUILD=$obj/programs "$root/tests/qemu/run.sh" test_thread >"$reports/tests.log" ||
		failed="; tests failed, see $reports/tests.log"
	if [ -z "$failed" ]; then ended; else echo; fi
fi

found=$(cat "$reports"/report.* 2>/dev/null | grep -c '^WARNING: ThreadSanitizer' || true)
echo "ThreadSanitizer: $found reports (in $reports)$failed"
[ "$found" -eq 0 ] && [ -z "$failed" ]

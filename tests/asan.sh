#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# asan.sh core|replay|qemu [WORD] - a suite under AddressSanitizer, LeakSanitizer and UBSan ('make asan').
#
#   core     the long tests of tests/core, at full size
#   replay   tests/replay with slate-replay, slate-content, slate-load and slatectl
#   qemu     tests/qemu with the emulator and its tools
#
# The programs of `replay` are a target of build/core. For `qemu` the core and QEMU are built once
# more with sanitizers, in build/core-asan and build/qemu-asan; ASAN_CC is gcc or clang.
# WORD: only tests whose name has it; core takes several. TAP on stdout; the last test is that no
# process left a report (build/log/asan-SUITE).
set -euo pipefail
# shellcheck source=qemu-patches/instrument.sh
. "$(dirname "${BASH_SOURCE[0]}")/../qemu-patches/instrument.sh"
suite=${1:-} together=1
cc=${ASAN_CC:-gcc}
obj=$build/qemu-asan reports=$build/log/asan-$suite
programs=(qemu-system-x86_64 qemu-img qemu-io qemu-nbd storage-daemon/qemu-storage-daemon)
flags=(--enable-tcg --enable-tools --enable-asan --enable-ubsan --enable-linux-aio --enable-linux-io-uring
	--enable-slirp --enable-fuse --enable-vhost-user
	--enable-vhost-user-blk-server)

case $suite in
core)
	words=${*:2}
	exec ctest --test-dir "$build/core" -C Long -R "^long\..*(${words// /|})" -j "$jobs" \
		--output-on-failure --no-tests=error
	;;
replay) together=$jobs ;;
qemu) instrument_check ;;
*) echo "usage: asan.sh core|replay|qemu [WORD]" >&2 && exit 2 ;;
esac
{
	if [ "$suite" = replay ]; then
		cmake --build "$build/core" -j "$jobs" --target san_programs
	else
		instrument_core asan "$cc" '-g -fno-omit-frame-pointer -fsanitize=address,undefined'
		instrument_configure asan "$cc" "${system_flags[@]}" "${flags[@]}"
		ninja -C "$obj" -j "$jobs" "${programs[@]}"
		mkdir -p "$obj/programs"
		for program in "${programs[@]}"; do ln -sf "$obj/$program" "$obj/programs/"; done
	fi
} >&2

rm -rf "$reports"
mkdir -p "$reports"
export ASAN_OPTIONS="log_path=$reports/report:detect_stack_use_after_return=0:${ASAN_OPTIONS:-}"
export UBSAN_OPTIONS="print_stacktrace=1:log_path=$reports/report:${UBSAN_OPTIONS:-}"
export REPLAY_BUILD=$build/core/san QEMU_BUILD=$obj/programs QEMU_PATIENCE=600
status=0
python3 "$root/tests/tap.py" "$root/tests/$suite" --jobs "$together" --only="${2:-}" || status=$?
found=("$reports"/report.*)
if [ -e "${found[0]}" ]; then
	echo "not ok - sanitizers"
	sed 's/^/# /' "${found[@]}" | head -n 200
	echo "# ${#found[@]} processes left a report: $reports"
	exit 1
fi
echo "ok - sanitizers"
exit "$status"

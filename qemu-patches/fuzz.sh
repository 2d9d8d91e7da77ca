#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# fuzz.sh [SECONDS] [DRIVE:CLOCK ...] - a guest's accesses to its controller, steered by coverage
# ('make fuzz-qemu').
#
# Builds the core and QEMU's own harness of libFuzzer with clang under ASan and UBSan: build/core-fuzz,
# build/qemu-fuzz (some minutes). The target nand-ssd (tests/qtest/fuzz/nand_ssd_fuzz.c, patch 0028)
# does what the bytes of an input say: PCI and register accesses, contents of the memory that the
# controller reads, steps of the clock. tests/fuzz/fuzz_qemu.py makes the first inputs, runs it for
# SECONDS (600) in all, and prints what it found. Coverage steers by the controller, the driver and the core.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/instrument.sh"
instrument_check
cc=$(command -v clang) || { echo "fuzz.sh: there is no clang: install it" >&2; exit 1; }

instrument_core fuzz "$cc" '-g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all'
instrument_configure fuzz "$cc" "${system_flags[@]}" --disable-tcg --enable-kvm --enable-fuzzing \
	--enable-asan --enable-ubsan -Doptimization=1 --extra-cflags="-fsanitize-ignorelist=$here/fuzz.ignore"
# configure copies QEMU's own list, which steers by every device
printf 'src:%s\n' '*/hw/nvme/*' '*/block/nand-ssd*' '*/tests/qtest/fuzz/fuzz.c' | cat - <(echo 'fun:*') >"$build/filter-fuzz"
cmp -s "$build/filter-fuzz" "$build/qemu-fuzz/instrumentation-filter" ||
	cp "$build/filter-fuzz" "$build/qemu-fuzz/instrumentation-filter"
ninja -C "$build/qemu-fuzz" -j "$jobs" qemu-fuzz-x86_64
exec python3 "$root/tests/fuzz/fuzz_qemu.py" --program "$build/qemu-fuzz/qemu-fuzz-x86_64" --work "$build/fuzz" "$@"

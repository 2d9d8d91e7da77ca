#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run.sh SECONDS [WORD] - fuzz the array against its model (fuzz_nand.c) for so long, with
# all that earlier runs found in build/fuzz/corpus, and print TAP. FUZZ_JOBS=2:
# as many processes at once. Needs clang with libFuzzer, and skips without.
# WORD: only if the test's name has it.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."

[[ fuzz_nand == *"${2:-}"* ]] || exit 0
seconds=${1:-60}
jobs=${FUZZ_JOBS:-1}
core=build/core
bin=$core/tests/fuzz/fuzz_nand_bin
work=build/fuzz
mkdir -p "$work/corpus" "$work/found"

skip() {
	echo "ok 1 - fuzz_nand # SKIP $1"
	exit 0
}

fail() {
	sed 's/^/# /' "$1" | tail -n 40
	echo "not ok 1 - fuzz_nand"
	exit 1
}

[ -e $core/CMakeCache.txt ] || cmake -S . -B $core >"$work/build.log" 2>&1 ||
	fail "$work/build.log"
# The runtime is a package of its own: clang alone does not mean that it is there.
clang=$(sed -n 's/^FUZZ_CLANG:FILEPATH=//p' $core/CMakeCache.txt)
[ -x "$clang" ] || skip "there is no clang (host-tools/packages.d/base.txt names the package)"
echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return !d && n; }' >"$work/probe.c"
"$clang" -fsanitize=fuzzer,address "$work/probe.c" -o "$work/probe" 2>/dev/null ||
	skip "$clang has no libFuzzer (libclang-rt is missing)"
cmake --build $core --target fuzz_nand test_storm >"$work/build.log" 2>&1 || fail "$work/build.log"

$core/tests/core/test_storm -w "$work/corpus" >/dev/null
fork=()
[ "$jobs" = 1 ] || fork=(-fork="$jobs")
status=0
# a small quarantine: each input is an array of its own, made and freed
export ASAN_OPTIONS="quarantine_size_mb=8:${ASAN_OPTIONS:-}"
"$bin" "${fork[@]}" -max_total_time="$seconds" -max_len=2048 -timeout=20 -rss_limit_mb=1024 \
	-print_final_stats=1 -artifact_prefix="$work/found/" "$work/corpus" >"$work/run.log" 2>&1 || status=$?

sed -n -e 's/^stat::number_of_executed_units: */# executions: /p' \
	-e 's/^stat::average_exec_per_sec: */# executions a second: /p' "$work/run.log"
echo "# corpus: $(find "$work/corpus" -type f | wc -l) inputs"
if [ $status != 0 ]; then
	grep -v '^#[0-9]' "$work/run.log" | tail -n 30 | sed 's/^/# /'
	input=$(sed -n 's/.*Test unit written to //p' "$work/run.log" | tail -n 1)
	echo "# replay: $core/tests/core/test_storm -f ${input:-FILE}"
	echo "# smaller: $bin -minimize_crash=1 -runs=20000 ${input:-FILE}"
	echo "not ok 1 - fuzz_nand"
	exit 1
fi
echo "ok 1 - fuzz_nand"

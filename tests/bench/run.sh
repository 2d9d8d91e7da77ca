#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tests/bench/run.sh - what `make bench` runs. Machines are shared and noisy:
# read the ratios, and the absolute figures as of one moment on one machine.
# Each program's output stays in build/bench, from which table.py renews BENCH.md
# if MACHINE says in a few words which machine this is.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
bench=build/core/tests/bench
cmake --build build/core --target benches
mkdir -p build/bench

show() # NAME WHAT COMMAND...
{
	local name=$1
	echo "== $2"
	shift 2
	"$@" | tee "build/bench/$name.txt"
}

show core "the core: host requests a second, one thread; bytes of metadata" "$bench/bench_core" "${REQUESTS:-3000000}"
show ftl "the page FTL alone, closed loop, CPU time: as tests/bench/rand.ini has it" "$bench/bench_ftl" rand3M fill1M
show copyback "the same by copyback" \
	"$bench/bench_ftl" -s geometry.copyback=yes -s ftl.gc_copyback=yes rand3M fill1M
show replay "the replayer: rand3M, fill1M, real8, and larger and larger drives" \
	python3 tests/bench/replay.py ${BESIDE:+--beside "$BESIDE"} ${AGAINST:+--against "$AGAINST"}
show array "the array: commands a second, one thread; opening 1 TB" "$bench/bench_array" "${COMMANDS:-4000000}"
show xmatch "XMatchPRO beside LZ4 and Zstandard, page by page: bytes left, CPU time" \
	"$bench/bench_xmatch" -m "${CORPUS_MIB:-16}"
show cut "power cuts a second (cut, copy, mount, read all, compare)" "$bench/bench_cut" -n 1000
show null "the drive in QEMU: wall time against null-co, the same icount job" \
	python3 tests/bench/null_ratio.py "${PAIRS:-3}"
show realtime "the drive in real time: IOPS beside null-co, lateness" python3 tests/bench/realtime.py "${PAIRS:-3}"
show processors "the guest's processors: what they can ask of a fast drive, and what they cost" \
	python3 tests/bench/processors.py
[ -z "${MACHINE:-}" ] || python3 tests/bench/table.py --measured build/bench --machine "$MACHINE"

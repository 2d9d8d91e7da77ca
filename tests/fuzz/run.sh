#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run.sh SECONDS [WORD] - fuzz the array against its model (fuzz_nand.c) for SECONDS,
# and drive files (fuzz_drive.c), the trace readers (fuzz_trace.c) and XMatchPRO
# (fuzz_xmatch.c) for a sixth of that time each. All begin with what earlier runs found, in
# build/fuzz. Print TAP. FUZZ_JOBS=2: two processes at once. Needs clang with libFuzzer, and skips without.
# WORD: only tests whose name has it.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."

seconds=${1:-60}
word=${2:-}
jobs=${FUZZ_JOBS:-1}
core=build/core
work=build/fuzz
number=0
failed=0
mkdir -p "$work"

skip() { # NAME WHY
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

fail() { # NAME LOG
	number=$((number + 1))
	failed=1
	sed 's/^/# /' "$2" | tail -n 40
	echo "not ok $number - $1"
}

seed_fuzz_nand() { # CORPUS
	"$core/tests/core/test_storm" -w "$1" >/dev/null
}

# Write each drive (of 161, fuzz_drives.h) as it is, and those without drawn settings (23) with one change of each
# table (of 14).
seed_fuzz_drive() { # CORPUS
	local drive table
	for ((drive = 0; drive < 161; drive++)); do
		printf '%b' "\\x$(printf %02x "$drive")\1\17" >"$1/drive-$drive"
	done
	for ((drive = 0; drive < 23; drive++)); do
		for ((table = 0; table < 14; table++)); do
			printf '%b' "\\x$(printf %02x "$drive")\1\17\\x$(printf %02x "$table")\22\7\0\4\0\3\0\1\0\0\0" \
				>"$1/drive-$drive-$table"
		done
	done
	# cached map, a page whose second unit alone is one of the map: failed until 2026-11-27
	printf '\16\311\207\7\377\344\37\12link\15\2\7\5\377\344\37\12li\2\7\15\2\7' >"$1/map-second-unit"
	# page, a block of units with a page of a cached map in it: failed until 2026-11-27
	printf '\001n\176\005\360\005\022\007\000\004\000\003\000\001\037\007\001\055\207\360\000\004\000\003\000\001\023' \
		>"$1/page-map-page"
	# dac, two units whose entries name one object, with one sequence: failed until 2026-11-27
	printf '\013\245\011\006\010\377\343\061\007\000\377gy\000\000\007\377e\377\003\000\232\215\230\206\377\377\007\377e\377\377\377ergy\000\000' \
		>"$1/dac-one-object"
	# flex, read-only, with a parity page that names a block which is not its own: failed until 2026-11-26
	printf '\5\311\7\3\360\370\0\4\0\3\0\1\0\0\0\5\360\370\0\4\0\3\0\377\377\377\377' >"$1/parity-read-only"
}

# The first two bytes choose the format (0: by the content) and the device (any).
seed_fuzz_trace() { # CORPUS
	local trace content_head sha record
	for trace in tests/traces/*.gz; do
		{ printf '\0\0' && gzip -dc "$trace" 2>/dev/null | head -n 12; } >"$1/${trace##*/}.head" || [ $? = 141 ]
		{ printf '\0\0' && gzip -dc "$trace" 2>/dev/null | head -n 12 | gzip -n; } >"$1/${trace##*/}.packed" || [ $? = 141 ]
	done
	printf '\0\0fio version 3 iolog\n0 a add\n0 a open\n10 a write 0 4096\n20 a sync 0 0\n30 a close\n' >"$1/fio3"
	printf '\0\0fio version 2 iolog\na add\na write 0 4096\na wait 100\nb trim 8192 4096\n' >"$1/fio2"
	printf '\0\0# slate-trace 1\n# set a.b=c\n0 0 write 0 4096 fua\n5 0 step\n5 0 done 0 5 0\n9 1 flush\n# end ops 0 0 1\n' \
		>"$1/native"
	printf '\0\0419,W,8192,16384,1577808144360767\n725,R,4096,4096,1577808144360813\n' >"$1/alibaba"
	printf '\0\0Timestamp,Response,IOType,LUN,Offset,Size\n1456135200.013118000,,R,0,8192,4096\n' >"$1/systor"
	printf '\0\0001000 4892 syslogd 8 16 W 6 0 531e779e\n' >"$1/fiu"
	printf '\0\0000,8,8192,W,0.551706,x\n' >"$1/spc"
	printf '\14\0time=1*100ns,op=2:r/w/t/f,offset=3*512,bytes=4*512,volume=5:text,sep=blank,skip=1\n\n1.5e3 R 8 16 a\n' >"$1/csv"
	printf '\0\0fio-71 [002] d..1. 12.5: block_rq_issue: 8,16 FWS 4096 () 8 + 8 none,0,0 [fio]\n' >"$1/ftrace"
	{ printf '\0\0\7tae' && head -c 42 /dev/zero && printf '\2\0xy'; } >"$1/blktrace"
	record='\0\0\0\0\0\20\0\0\1\0\0\0*\0\0\1\10\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0'
	printf '\0\0%b%b%b' "$record" "$record" "$record" >"$1/vscsi"
	content_head='\0\0slate-content 1\n\6\0\0\0a.b=c\n'
	# zeroes; a flush; a new block, unaligned; the same again twice, FUA; read, trim; no end
	{
		printf '%b' "$content_head"'\1\0\0\20\0\0\3\5\1\1\7\10\1'
		head -c 4096 /dev/zero | tr '\0' a
		printf '\0\11\377\1\40\20\2\2\0\0\0\10\2\1\10\10'
	} >"$1/content"
	# a whole one, without requests
	{
		printf '%b' "$content_head"'\7'
		head -c 40 /dev/zero
	} >"$1/content-empty"
	sha=$(tail -c +29 "$1/content-empty" | sha256sum | cut -c1-64 | sed 's/../\\x&/g')
	printf '%b' "$sha" >>"$1/content-empty"
}

# The first byte of a seed says what follows: a block (the first 2 KiB of a file), a block and its reference, or a
# stream (of 2 KiB of zeroes).
seed_fuzz_xmatch() { # CORPUS
	local file
	for file in README.md "$core/tests/fuzz/fuzz_xmatch_bin"; do
		{ printf '\170' && head -c 2048 "$file"; } >"$1/${file##*/}.block"
		{ printf '\270' && head -c 512 "$file" && head -c 512 "$file"; } >"$1/${file##*/}.pair"
	done
	printf '\070\377\001\037\370\377\311' >"$1/stream"
}

again_fuzz_nand() { echo "$core/tests/core/test_storm -f"; }
again_fuzz_drive() { echo "$core/tests/fuzz/fuzz_drive_bin"; }
again_fuzz_trace() { echo "$core/tests/fuzz/fuzz_trace_bin"; }
again_fuzz_xmatch() { echo "$core/tests/fuzz/fuzz_xmatch_bin"; }

fuzz() { # NAME SECONDS OPTIONS TARGET...
	local name=$1 time=$2 options=$3 fork=() status=0 input
	local bin=$core/tests/fuzz/${name}_bin corpus=$work/$name found=$work/found
	local log=$work/$name.log
	shift 3

	[[ $name == *"$word"* ]] || return 0
	mkdir -p "$corpus" "$found"
	cmake --build $core --target "$@" >"$log" 2>&1 || { fail "$name" "$log"; return 0; }
	"seed_$name" "$corpus"
	[ "$jobs" = 1 ] || fork=(-fork="$jobs")
	# shellcheck disable=SC2086 # options
	"$bin" "${fork[@]}" -max_total_time="$time" $options -timeout=20 -rss_limit_mb=1024 -print_final_stats=1 \
		-artifact_prefix="$found/" "$corpus" >"$log" 2>&1 || status=$?
	sed -n -e 's/^stat::number_of_executed_units: */# executions: /p' \
		-e 's/^stat::average_exec_per_sec: */# executions a second: /p' -e 's/^fuzz_drive: .* refused$/# &/p' "$log"
	echo "# corpus: $(find "$corpus" -type f | wc -l) inputs"
	number=$((number + 1))
	if [ $status = 0 ]; then
		echo "ok $number - $name"
		return 0
	fi
	failed=1
	grep -v '^#[0-9]' "$log" | tail -n 30 | sed 's/^/# /'
	input=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
	echo "# replay: $("again_$name") ${input:-FILE}"
	echo "# smaller: $bin -minimize_crash=1 -runs=20000 ${input:-FILE}"
	echo "not ok $number - $name"
}

# clang may have come after CMake had looked for it
grep -q '^FUZZ_CLANG:FILEPATH=/' $core/CMakeCache.txt 2>/dev/null || cmake -S . -B $core >"$work/build.log" 2>&1 ||
	{ fail fuzz_nand "$work/build.log"; exit 1; }
# The runtime is a package of its own: clang alone does not mean that it is there.
clang=$(sed -n 's/^FUZZ_CLANG:FILEPATH=//p' $core/CMakeCache.txt)
why=
[ -x "$clang" ] || why="there is no clang (host-tools/packages.d/tests.txt names the package)"
echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return !d && n; }' >"$work/probe.c"
[ -n "$why" ] || "$clang" -fsanitize=fuzzer,address "$work/probe.c" -o "$work/probe" 2>/dev/null ||
	why="$clang has no libFuzzer (libclang-rt is missing)"
if [ -n "$why" ]; then
	skip fuzz_nand "$why"
	skip fuzz_drive "$why"
	skip fuzz_trace "$why"
	skip fuzz_xmatch "$why"
	exit 0
fi
# a small quarantine: each input is an array of its own, made and freed
export ASAN_OPTIONS="quarantine_size_mb=8:${ASAN_OPTIONS:-}"
fuzz fuzz_nand "$seconds" -max_len=2048 fuzz_nand test_storm
fuzz fuzz_drive $((seconds / 6 + 1)) '-max_len=63 -len_control=0' fuzz_drive
fuzz fuzz_trace $((seconds / 6 + 1)) -max_len=4096 fuzz_trace
fuzz fuzz_xmatch $((seconds / 6 + 1)) -max_len=4096 fuzz_xmatch
exit $failed

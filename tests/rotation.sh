#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# rotation.sh [PART...|all|--list|--only=PART] - tests that are too long for each run: TAP on stdout.
#
# Without a word it runs the part whose turn it is: the commit's number (tests/turns.py) modulo (turns).
# The parts of QEMU have no turn: QEMU is built under a sanitizer for them first, for longer than a
# run may take. "all" has them, and so has "make asan tsan-qemu fuzz-qemu". Nor has the container, which shares
# no cache with this machine's root. The hosts' turns are skipped where "make test-hosts" is refused.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

turns=(gcc replay-asan hosts-12 clang core-asan hosts-13 valgrind cut-asan hosts-forky small-smp cppcheck)
parts=("${turns[@]}" qemu-asan qemu-tsan qemu-fuzz container)
declare -A what=(
	[gcc]="tests/analyse.sh gcc|gcc -fanalyzer over the C code"
	[clang]="tests/analyse.sh clang|clang --analyze over the C code"
	[cppcheck]="tests/analyse.sh cppcheck|cppcheck over the C code"
	[replay-asan]="tests/asan.sh replay|tests/replay under ASan and UBSan"
	[core-asan]="tests/asan.sh core odd direct|half of the core's long tests under ASan and UBSan"
	[cut-asan]="tests/asan.sh core model cut power superblock|the other half"
	[valgrind]="tests/valgrind.sh test_loop test_merges test_ctl_options|some of tests/replay under Valgrind"
	[small-smp]="tests/guest/small_smp.sh|guests with several processors on the small kernel"
	[qemu-asan]="tests/asan.sh qemu|tests/qemu under ASan and UBSan"
	[qemu-tsan]="qemu-patches/tsan.sh|QEMU's tools and the drive's thread under TSan"
	[qemu-fuzz]="qemu-patches/fuzz.sh 80|an NVMe controller on a nand-ssd in QEMU's harness of libFuzzer"
	[hosts-12]="tests/hosts.sh 12|'make run' and short suites in a new root of Debian 12"
	[hosts-13]="tests/hosts.sh 13|'make run' and short suites in a new root of Debian 13"
	[hosts-forky]="tests/hosts.sh forky|'make run' and short suites in a new root of Debian forky"
	[container]="make test-hosts HOSTS=container|the Containerfile's image, built and run"
)

# Print why a part cannot run for this user, in this tree.
refusal() # PART
{
	case $1 in hosts-* | container) ;; *) return ;; esac
	if [ -n "${SLATE_ON_HOST:-}" ]; then
		echo "this is such a host"
	elif [ "$(id -u)" != 0 ]; then
		echo "needs root"
	elif ! unshare --mount true >/dev/null 2>&1; then
		echo "no mount namespaces"
	elif [ -n "$(git status --porcelain --untracked-files=no 2>/dev/null)" ]; then
		echo "changed files would not be on the host: commit them"
	fi
}

turn() {
	local number at
	read -r number at < <(python3 tests/turns.py)
	chosen=("${turns[number % ${#turns[@]}]}")
	echo "# note: $at ${chosen[0]} has its turn, of ${turns[*]}; every part: tests/rotation.sh all"
}

chosen=("$@")
case ${1:-} in
'') turn ;;
all) chosen=("${parts[@]}") ;;
--only=) turn ;;
--only=*) # a word that selects tests by name elsewhere: a part's whole name here
	[ -n "${what[${1#*=}]:-}" ] || exit 0
	chosen=("${1#*=}")
	;;
--list)
	for part in "${parts[@]}"; do printf '%-12s %s\n' "$part" "${what[$part]#*|}"; done
	exit 0
	;;
esac
for part in "${chosen[@]}"; do
	[ -n "${what[$part]:-}" ] || { echo "rotation.sh: no part named $part; there are ${parts[*]}" >&2; exit 2; }
done

echo "1..${#chosen[@]}"
number=0 status=0
mkdir -p build/log
for part in "${chosen[@]}"; do
	number=$((number + 1)) begin=$EPOCHREALTIME log=build/log/rotation-$part.log good=ok
	why=$(refusal "$part")
	if [ -n "$why" ]; then
		echo "ok $number - $part: ${what[$part]#*|} # SKIP $why"
		continue
	fi
	read -ra command <<<"${what[$part]%%|*}"
	"${command[@]}" >"$log" 2>&1 || good="not ok" status=1
	us=$((${EPOCHREALTIME/./} - ${begin/./}))
	echo "$good $number - $part: ${what[$part]#*|} # time=$((us / 1000000)).$((us / 100000 % 10))"
	[ "$good" = ok ] || { grep -A12 '^not ok' "$log" || tail -n 60 "$log"; } | sed 's/^/# /'
done
exit $status

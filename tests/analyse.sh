#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# analyse.sh [TOOL...] - static analysis of the C code of ftl/, nand-emu/ and host-tools/, by gcc
# (-fanalyzer), clang (--analyze) and cppcheck, and how long each took. A finding ends it with
# status 1. One that is false has been explained where it was: by an assertion that says what
# the tool cannot know, or by the tool's own suppression and a sentence.
# Not looked at: port_kernel.c, which needs the kernel's headers. JOBS: processes at once.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

tools=("$@")
[ ${#tools[@]} -gt 0 ] || tools=(gcc cppcheck clang)
jobs=${JOBS:-$(nproc)}
mapfile -t files < <(find ftl nand-emu host-tools -name '*.c' ! -name port_kernel.c | LC_ALL=C sort)
dirs=()
for dir in nand-emu ftl/*/ ftl/*/*/ host-tools/{libslate,trace,replay,ctl,load}; do dirs+=("-I$dir"); done
read -ra packages < <(pkg-config --cflags inih zlib libzstd libgcrypt libisal jansson liburing libnvme)
flags=(-std=gnu11 "${dirs[@]}" "${packages[@]}")
found=$(mktemp)
trap 'rm -f "$found"' EXIT

each() { printf '%s\0' "${files[@]}" | xargs -0 -P "$jobs" -n 1 "$@" "${flags[@]}" >"$found" 2>&1; }

look() { # TOOL
	case $1 in
	gcc) each gcc -O1 -fanalyzer -Werror -Wno-error=cpp -S -o /dev/null ;;
	clang) # the limit, an eighth of the default, makes it six times as fast
		each clang --analyze -Werror -Xclang -analyzer-config -Xclang max-nodes=30000 \
			-Xclang -analyzer-output=text -o /dev/null
		;;
	cppcheck)
		cppcheck -q -j "$jobs" --std=c11 --enable=warning,portability,performance --inline-suppr \
			--suppress=missingIncludeSystem -U__KERNEL__ '-D__attribute__(x)=' --error-exitcode=1 "${dirs[@]}" "${files[@]}" >"$found" 2>&1
		;;
	*)
		echo "analyse: no such tool: $1: name gcc, clang or cppcheck" >&2
		exit 2
		;;
	esac
}

status=0
for tool in "${tools[@]}"; do
	begin=$SECONDS
	if look "$tool"; then
		said="no finding"
	else
		[ -s "$found" ] && cat "$found"
		said="FINDINGS, above"
		status=1
	fi
	printf 'analyse   %-9s %s files, %s s: %s\n' "$tool" "${#files[@]}" "$((SECONDS - begin))" "$said"
done
exit $status

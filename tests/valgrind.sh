#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# valgrind.sh [WORD...] - tests/replay with the programs of build/core, slatectl among them,
# under Valgrind's memcheck ('make valgrind').
#
# The programs are those of build/core, so this sees uses of uninitialised memory in the code that
# users run, which ASan does not look for. WORD: only tests whose name has it (all). TAP on stdout;
# the last test is that no process made an error or lost memory (build/log/valgrind).
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "$0")")")
core=$root/build/core wrapped=$root/build/valgrind reports=$root/build/log/valgrind
[ $# -gt 0 ] || set -- ''

command -v valgrind >/dev/null || { echo "valgrind.sh: there is no valgrind: install the package valgrind" >&2; exit 1; }
[ -x "$core/slate-replay" ] || { echo "valgrind.sh: $core/slate-replay is not there: run 'make core' first" >&2; exit 1; }

# Every program of build/core: a test may use one that others did not.
mapfile -t programs < <(cd "$core" && find slate* tests/replay/slate* -type f -executable)
# lax-ioctls: Valgrind does not know NVMe's, and would warn of each
rm -rf "$reports" "$wrapped"
mkdir -p "$reports" "$wrapped/tests/replay"
for program in "${programs[@]}"; do
	cat >"$wrapped/$program" <<-END
		#!/bin/sh
		exec valgrind -q --sim-hints=lax-ioctls --leak-check=full --errors-for-leak-kinds=definite \\
			--log-file='$reports/report.%p' '$core/$program' "\$@"
	END
	chmod +x "$wrapped/$program"
done

status=0
for word; do
	REPLAY_BUILD=$wrapped python3 "$root/tests/tap.py" "$root/tests/replay" --jobs "${JOBS:-$(nproc)}" --only="$word" || status=$?
done
mapfile -t all < <(find "$reports" -type f -name 'report.*')
mapfile -t found < <(find "$reports" -type f -name 'report.*' -size +0)
if [ ${#found[@]} -gt 0 ]; then
	sed 's/^/# /' "${found[@]}" | head -n 200
	echo "# ${#found[@]} processes of ${#all[@]} left a report: $reports"
	echo "not ok - valgrind"
	exit 1
fi
if [ ${#all[@]} = 0 ]; then
	echo "# no process ran under Valgrind: no test is named $*"
	echo "not ok - valgrind"
	exit 1
fi
echo "ok - valgrind: ${#all[@]} processes"
exit "$status"

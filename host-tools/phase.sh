#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# phase.sh [-q] NAME WHAT COMMAND... - run one phase of the build: say what it
# does and how long it took. -q: show the output only if the command fails; else lines alone that begin 'slate: '.
# Output is kept in build/log/NAME.log; times in build/log/NAME.seconds; build/log/NAME.failed says of a phase that
# failed what it does (tests/run.py reports it as a failed test).
# Phases of one name wait for each other, so that two makes may run in one clone.
set -u

quiet=
[ "${1:-}" = -q ] && { quiet=1; shift; }
name=$1 what=$2
shift 2

logs=${SLATE_BUILD:-build}/log
mkdir -p "$logs" || { echo "slate: can not write to $logs: check its owner and the free space" >&2; exit 1; }
exec 9>"$logs/$name.lock"
flock -n 9 || { echo "$name: waiting for another make of this part"; flock 9; }
start=$EPOCHREALTIME
# Written now, and renamed if the phase fails: it may fail because the disk is full then.
printf '%s\n' "$what" >"$logs/$name.running"
seconds() { local us=$((${EPOCHREALTIME/./} - ${start/./})); printf '%d.%d' $((us / 1000000)) $((us / 100000 % 10)); }

unset MAKEFLAGS MFLAGS # the phase's own make takes its own number of jobs
# The first line is overwritten by the last, unless other phases may write between them.
over=
[ -n "$quiet" ] && [ -t 1 ] && [ -z "${SLATE_PARTS-}" ] && over=1
[ -t 1 ] && printf '%-9s %s ...' "$name" "$what"
[ -t 1 ] && [ -z "$over" ] && echo
if [ -n "$quiet" ]; then
	"$@" >"$logs/$name.log" 2>&1 9>&-
	rc=$?
else
	"$@" 2>&1 9>&- | tee "$logs/$name.log" 9>&-
	rc=${PIPESTATUS[0]}
fi
took=$(seconds)
[ -n "$over" ] && printf '\r\033[K'
if [ "$rc" -eq 0 ]; then
	rm -f "$logs/$name.failed" "$logs/$name.running"
	[ -z "$quiet" ] || grep '^slate: ' "$logs/$name.log"
	printf '%s\n' "$took" >"$logs/$name.seconds"
	printf '%-9s %-62s %7s s\n' "$name" "$what" "$took"
	exit 0
fi
[ -n "$quiet" ] && tail -n 40 "$logs/$name.log"
mv "$logs/$name.running" "$logs/$name.failed"
printf '%-9s FAILED after %s s (exit status %d); the whole output: %s\n' "$name" "$took" "$rc" "$logs/$name.log" >&2
exit "$rc"

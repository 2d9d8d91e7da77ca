# SPDX-License-Identifier: GPL-2.0-or-later
#
# steps.sh - for scripts in the guest that test in steps: '. steps.sh', behind report=FILE and log=FILE, whose contents
# it removes.
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # the script that reads this sets report and log, and looks at failed
failed=0 # 1 when a step has failed
: >"$report"
: >"$log"

step() # NAME COMMAND... - run a command; report gets "NAME: ok" or "NAME: FAIL (status N)", log what was said
{
	name=$1
	shift
	echo "== $name: $*" >>"$log"
	if "$@" >>"$log" 2>&1; then
		echo "$name: ok" >>"$report"
	else
		echo "$name: FAIL (status $?)" >>"$report"
		dmesg | tail -n 5 >>"$log"
		failed=1
	fi
}

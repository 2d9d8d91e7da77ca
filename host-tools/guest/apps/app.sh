# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # APP_* come with the job (slate_lib/apps.py)
#
# app.sh - functions that the jobs of 'slate run --app' share. A job makes a file system, prepares
# its data, and measures. Each measured part lies between begin and end, which mark it on the drive.
# The programs' messages go to app.log, their figures to files of their own.

: "${OUT:=/run/out}" "${SLATE_SEED:=1}"
set -e

# Print the phase on the console, for the launcher's progress lines.
tell() # PHASE
{
	read -r up _ </proc/uptime
	echo "SLATE-PHASE $1 $up"
}

begin() # LABEL
{
	sync
	slate-mark begin "$1"
}

end() # LABEL
{
	slate-mark end "$1"
	tell "app-$1"
}

# Run a program with all its output in app.log. Its status counts.
run() { in-apps "$@" >>"$OUT/app.log" 2>&1; }

run_as() # USER COMMAND...
{
	in-apps --as "$@" >>"$OUT/app.log" 2>&1
}

make_fs()
{
	in-apps --mkfs "$APP_FS" >>"$OUT/app.log" 2>&1
	tell app-fs
}

# Write prepared data to the drive, and drop it from the guest's memory.
prepared()
{
	in-apps --remount
	tell app-prepared
}

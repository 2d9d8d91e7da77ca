#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# venv.sh - the launcher's Python packages (requirements.txt, by hash) in
# build/venv. Does nothing when they are there; an interrupted run leaves no
# stamp, so that the next one starts over.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
venv=${SLATE_BUILD:-$here/../build}/venv
list=$here/requirements.txt
stamp=$venv/.requirements.txt

[ -e "$stamp" ] && cmp -s "$list" "$stamp" && [ -x "$venv/bin/python3" ] && exit 0

rm -rf "$venv"
/usr/bin/python3 -m venv "$venv"
"$venv/bin/pip" --quiet --disable-pip-version-check install --retries 5 --require-hashes -r "$list" || {
	echo "slate: pip could not install $(grep -o '^[^# ]*' "$list" | xargs): is there a network?" >&2
	exit 1
}
cp "$list" "$stamp"

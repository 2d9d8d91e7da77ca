#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# venv.sh [NAME LIST] - Python packages (pinned by hash in LIST) in build/NAME; the
# launcher's (requirements.txt) in build/venv when nothing is said. Does nothing when
# they are there; an interrupted run leaves no stamp, so that the next one starts over.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
venv=${SLATE_BUILD:-$here/../build}/${1:-venv}
list=${2:-$here/requirements.txt}
stamp=$venv/.requirements.txt

[ -e "$stamp" ] && cmp -s "$list" "$stamp" && [ -x "$venv/bin/python3" ] && exit 0

rm -rf "$venv"
/usr/bin/python3 -m venv "$venv"
"$venv/bin/pip" --quiet --disable-pip-version-check install --retries 5 --require-hashes -r "$list" || {
	echo "slate: pip could not install what $list names: is there a network?" >&2
	exit 1
}
cp "$list" "$stamp"

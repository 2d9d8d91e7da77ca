#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# venv.sh [NAME] - the Python packages of python/NAME.txt (pinned by hash; renew.py makes the lists) in build/venv-NAME;
# the launcher's, in build/venv, when no name is given. Does nothing when they are there for this Python; an
# interrupted run leaves no stamp, so that the next one starts over.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
name=${1:-launcher}
venv=${SLATE_BUILD:-$here/../build}/venv-$name
[ "$name" != launcher ] || venv=${venv%-launcher}
list=$here/python/$name.txt
stamp=$venv/.requirements.txt
python=/usr/bin/python3

wanted() { "$python" --version && cat "$list"; }

# Programs of a virtual environment begin with its path: after the tree was moved or copied they run another one.
is_here() {
	local program
	program=$(sed -n '1s/^#!//p' "$venv/bin/pip") && [ "$(readlink -f "${program%/bin/*}")" = "$(readlink -f "$venv")" ]
}

[ -e "$stamp" ] && wanted | cmp -s - "$stamp" && [ -x "$venv/bin/python3" ] && is_here && exit 0

rm -rf "$venv"
"$python" -m venv "$venv"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$venv/bin/pip" --quiet --disable-pip-version-check install --retries 5 --require-hashes -r "$list" 2>"$log" || {
	cat "$log" >&2
	if grep -q 'DO NOT MATCH THE HASHES' "$log"; then
		why="its hashes are for other files: 'make requirements' renews the list"
	elif grep -q 'No matching distribution' "$log"; then
		why="the index has no such version for $("$python" --version): 'make requirements UPGRADE=1' takes those that it has"
	elif grep -q 'No space left' "$log"; then
		why="the disk is full"
	else
		why="is there a network?"
	fi
	echo "slate: pip could not install what host-tools/python/$name.txt names: $why" >&2
	exit 1
}
wanted >"$stamp"

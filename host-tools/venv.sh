#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# venv.sh [NAME] - the Python packages of python/NAME.txt (pinned by hash; renew.py makes the lists) in build/venv-NAME;
# the launcher's, in build/venv, when no name is given. Does nothing when they are there for this Python; an
# interrupted run leaves no stamp, so that the next one starts over.
#
# If the index has no longer a version or a file that the list names, the newest versions are taken that NAME.in allows,
# checked by the index's own hashes, and one line names them.
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

log=$(mktemp)
trap 'rm -f "$log"*' EXIT

pip() { "$venv/bin/python3" -m pip --quiet --disable-pip-version-check install --retries "${PIP_RETRIES:-5}" "$@" 2>"$log"; }

# Print the names that pip could not have: no such version, or another file of it.
lost()
{
	sed -nE 's/.*No matching distribution found for ([A-Za-z0-9._-]+)==.*/\1/p
		/DO NOT MATCH THE HASHES/,$s/^ +([A-Za-z0-9._-]+)==.* from .*/\1/p' "$log" | sed 's/[._]/-/g' | sort -u
}

# Install what NAME.in allows: of what is lost the newest versions that the index has, with its own hashes, else those of
# the list, unless they do not fit together.
install_others()
{
	local gone
	! grep -qE "$UNREACHABLE" "$log" && ! is_full || return 1
	sed -nE '/^[A-Za-z0-9]/{ s/ *(\\|--hash.*)$//; p; }' "$list" >"$log.pins"
	cp "$log" "$log.first"
	while [ -s "$log.pins" ]; do
		gone=$(lost)
		cp "$log.pins" "$log.before"
		grep -viE "^($(paste -sd'|' <<<"${gone:-none-is-lost}" | sed 's/-/[-._]/g'))==" "$log.before" >"$log.pins" || true
		! cmp -s "$log.pins" "$log.before" || : >"$log.pins"
		if pip -r "${list%.txt}.in" -c "$log.pins"; then
			echo "slate: the index has not all that host-tools/python/$name.txt names: took $(others)" \
				"('make requirements' renews the list)"
			return 0
		fi
	done
	cp "$log.first" "$log"
	return 1
}

# Print what is installed in place of the list's packages.
others()
{
	"$venv/bin/python3" -m pip --disable-pip-version-check list --format=freeze | awk -F'[= ;]+' -v lost="$(cp "$log.first" "$log" && lost)" '
		function plain(name) { name = tolower(name); gsub(/[._]/, "-", name); return name }
		BEGIN { n = split(lost, l, "\n"); for (i = 1; i <= n; i++) is_lost[plain(l[i])] = 1 }
		FILENAME != "-" { if ($0 ~ /^[A-Za-z0-9]/) listed[plain($1)] = $2; next }
		plain($1) in listed && listed[plain($1)] != $2 { print $1 " " $2 " for " listed[plain($1)]; next }
		plain($1) in is_lost { print "another file of " $1 " " $2 }
		!(plain($1) in listed) && $1 != "pip" && $1 != "setuptools" { print $1 " " $2 }' "$list" - | paste -sd, | sed 's/,/, /g'
}

is_full() { grep -q 'No space left' "$log" || [ "$(df -Pm "$(dirname "$venv")" | awk 'NR == 2 { print $4 }')" -lt 5 ]; }

fail() # WHY
{
	rm -rf "$venv" # the output may go to a log on the same disk
	cat "$log" >&2
	echo "slate: pip could not install what host-tools/python/$name.txt names: $1" >&2
	exit 1
}

UNREACHABLE='connection broken by|Max retries exceeded|NameResolutionError|ConnectionError|ProxyError'
rm -rf "$venv"
"$python" -m venv "$venv" >"$log" 2>&1 || {
	! is_full || fail "the disk is full"
	rm -rf "$venv"
	cat "$log" >&2
	exit 1
}
pip --require-hashes -r "$list" || install_others || {
	if is_full; then
		fail "the disk is full"
	elif grep -qE "$UNREACHABLE" "$log"; then
		fail "is there a network?"
	elif grep -q 'DO NOT MATCH THE HASHES' "$log"; then
		fail "its hashes are for other files: 'make requirements' renews the list"
	elif grep -q 'No matching distribution' "$log"; then
		fail "the index has no such version for $("$python" --version): 'make requirements UPGRADE=1' takes those that it has"
	fi
	fail "is there a network?"
}
wanted >"$stamp"

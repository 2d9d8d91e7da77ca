#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# install-packages.sh [LIST.txt...] - install what is missing of the Debian
# packages named in packages.d/*.txt (or in the given lists). One dpkg-query
# when nothing is missing. --check: only say what is missing (exit 1 if any).
set -euo pipefail
export LC_ALL=C

here=$(dirname "$(readlink -f "$0")")
check=
[ "${1:-}" = --check ] && { check=1; shift; }
lists=("$@")
[ ${#lists[@]} -gt 0 ] || lists=("$here"/packages.d/*.txt)

mapfile -t wanted < <(sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' "${lists[@]}" | sort -u)

if ! command -v dpkg-query >/dev/null; then
	echo "slate: this machine has no dpkg: the build needs Debian 12, 13 or 14, with the packages that ${lists[*]} name; elsewhere: podman build -t slate ." >&2
	exit 1
fi

mapfile -t missing < <(comm -23 <(printf '%s\n' "${wanted[@]}") \
	<(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' "${wanted[@]}" 2>/dev/null |
		sed -n 's/^[ih]i //p' | sort -u))
if [ ${#missing[@]} -eq 0 ]; then
	[ -z "$check" ] || echo "packages: all ${#wanted[@]} are there"
	exit 0
fi
if [ -n "$check" ]; then
	echo "packages: missing: ${missing[*]}"
	exit 1
fi

root=()
if [ "$(id -u)" != 0 ]; then
	if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
		root=(sudo)
	else
		printf '%s\n' "slate: ${#missing[@]} packages are missing and this user can not install them." \
			"Run as root:" "    apt-get install --no-install-recommends ${missing[*]}" >&2
		exit 1
	fi
fi

echo "packages: installing ${missing[*]}"
apt() {
	"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
		-o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
fail() {
	tail -n 15 "$log" >&2
	printf '%s\n' "slate: $1" "Missing: ${missing[*]}" >&2
	exit 1
}
install() { apt install --no-install-recommends "${missing[@]}" >"$log" 2>&1; }

# One package that cannot be had must not keep the others away: its own part fails later, and says so.
one_by_one() {
	local all=("${missing[@]}") name left=() said=''
	for name in "${all[@]}"; do
		missing=("$name")
		install || { left+=("$name") && said=$(<"$log"); }
	done
	missing=("${all[@]}")
	[ ${#left[@]} -gt 0 ] || return 0
	missing=("${left[@]}")
	printf '%s\n' "$said" >"$log"
	fail "apt-get install failed for ${left[*]} (the last one's last lines are above); the others are there"
}

# Old package lists name files that are gone: refresh them when the first try fails.
if ! install; then
	apt update >"$log" 2>&1 || fail "apt-get update failed: is there a network, and is /etc/apt/sources.list right?"
	install || one_by_one
fi
echo "packages: installed ${#missing[@]}"

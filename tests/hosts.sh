#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# hosts.sh [RELEASE...] - the two commands on other hosts: for each Debian RELEASE (12, 13, forky: the default), a small
# root is made by mmdebstrap, with make, git and what apt needs, and in it a clone of HEAD. There 'make run' and the
# suites SUITES are run as on a fresh machine; then the run's results must equal, byte for byte, those of 'make run' in
# this tree, on this machine. Print TAP.
#
# Roots are in build/hosts/RELEASE and are made anew each time. ccache and the cache of the guest's products are shared
# with this machine, so what the host's release does not change is made once; SLATE_HOSTS_COLD=1 shares nothing.
# Needs root (mmdebstrap, chroot), and 6 GB for each release.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

SUITES="lint launcher replay"
say() { echo "# $*"; }
die()
{
	echo "Bail out! hosts.sh: $*"
	exit 1
}
build=$PWD/build
# shellcheck source=host-tools/debian.sh
. host-tools/debian.sh

releases=("$@")
[ ${#releases[@]} -gt 0 ] || releases=(12 13 forky)
[ "$(id -u)" = 0 ] || die "needs root: sudo tests/hosts.sh ${releases[*]}"
command -v mmdebstrap >/dev/null || die "mmdebstrap is missing: run 'make packages-all'"

number=0 status=0
result() # STATUS NAME LOG
{
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number - $2"
	else
		status=1
		echo "not ok $number - $2"
		tail -n 40 "$3" | sed 's/^/# /'
	fi
}

# Make a root with a clone of HEAD. In it apt has the archives of this machine.
make_host() # RELEASE ROOT
{
	release_init "$1"
	update_lists
	rm -rf --one-file-system "$2"
	mkdir -p "${2%/*}"
	mmdebstrap --mode=root --variant=minbase --include=make,git,ca-certificates --skip=check/empty \
		--aptopt='Acquire::Check-Valid-Until "false"' "$suite" "$2" "$apt_state/sources.d/debian.sources"
	git clone -q --no-hardlinks . "$2/slate"
	git -C "$2/slate" config user.name test
	git -C "$2/slate" config user.email test
}

# Run a command in the root, in the clone, in a mount namespace of its own.
on_host() # ROOT COMMAND...
{
	local root=$1
	shift
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount --pid --fork --kill-child bash -ec '
		root=$1
		shift
		mount -t proc proc "$root/proc"
		mount --rbind /dev "$root/dev"
		# the way to the archives: names, proxy, certificates
		for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/apt/apt.conf; do
			[ ! -e "$file" ] || cp -L "$file" "$root$file"
		done
		mount --bind /etc/ssl/certs "$root/etc/ssl/certs"
		for dir in slate ccache; do
			[ -z "${SLATE_HOSTS_COLD:-}" ] && mkdir -p "$HOME/.cache/$dir" "$root/root/.cache/$dir" || continue
			mount --bind "$HOME/.cache/$dir" "$root/root/.cache/$dir"
		done
		exec chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb LC_ALL=C.UTF-8 \
			${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
			PIP_CERT=/etc/ssl/certs/ca-certificates.crt PIP_RETRIES=5 \
			${PIP_INDEX_URL:+PIP_INDEX_URL="$PIP_INDEX_URL"} bash -ec "cd /slate && $*"' on_host "$root" "$@"
}

mkdir -p build/log
echo "1..$((3 * ${#releases[@]}))"
own=build/hosts/own
make run OUT="$own" >build/log/hosts-own.log 2>&1 || die "'make run' fails here: see build/log/hosts-own.log"
for name in "${releases[@]}"; do
	root=$build/hosts/$name log=build/log/hosts-$name.log begin=$EPOCHSECONDS code=0
	make_host "$name" "$root" >"$log" 2>&1 || die "no root of $name: see $log: $(tail -n 1 "$log")"
	on_host "$root" make run OUT=/slate/out/first >>"$log" 2>&1 || code=1
	result $code "$name: make run # time=$((EPOCHSECONDS - begin))" "$log"
	code=0
	for file in fio.json device.json; do
		cmp "$root/slate/out/first/$file" "$own/$file" >>"$log" 2>&1 || code=1
	done
	result $code "$name: fio.json and device.json are those of this machine" "$log"
	begin=$EPOCHSECONDS code=0
	on_host "$root" "make packages-all venv-fit venv-lint && python3 tests/run.py $SUITES" >>"$log" 2>&1 || code=1
	result $code "$name: $SUITES # time=$((EPOCHSECONDS - begin))" "$log"
done
exit $status

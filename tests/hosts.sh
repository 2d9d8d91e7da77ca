#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# hosts.sh [HOST...] - the two commands on other hosts (default: 12 13 forky). Print TAP.
#
#   12, 13, forky   a small root of this Debian release, made by mmdebstrap, with make, git and what apt needs, and in it
#                   a clone of HEAD. There 'make run' and the suites SUITES are run as on a fresh machine.
#   container       the image that the Containerfile makes of Debian 13, by podman, and a run in it
#
# Each run's results must equal, byte for byte, those of 'make run' in this tree, on this machine.
#
# Roots are in build/hosts/HOST and are made anew each time. One whose tests pass is removed, as are podman's images;
# the runs' results stay, in build/hosts/results. ccache and the cache of the guest's products are shared with this
# machine, so what the host's release does not change is made once; SLATE_HOSTS_COLD=1 shares nothing.
# SLATE_HOSTS_SUITES names other suites; "all" is 'make test', with TURNS. Needs root (mmdebstrap, chroot), and 6 GB a host.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

SUITES=${SLATE_HOSTS_SUITES:-lint launcher replay}
tests="make packages-all core-tests venv-fit venv-parquet venv-lint && python3 tests/run.py $SUITES"
[ "$SUITES" != all ] || tests="make test TURNS=${TURNS:-}"
say() { echo "# $*"; }
die()
{
	echo "Bail out! hosts.sh: $*"
	exit 1
}
build=$PWD/build
# shellcheck source=host-tools/debian.sh
. host-tools/debian.sh

hosts=("$@")
[ ${#hosts[@]} -gt 0 ] || hosts=(12 13 forky)
# Return 1, and say why, if there is no such release. Its lists are fetched if there are none.
known() # RELEASE
{
	local said
	release_init "$1"
	said=$(need_lists 2>&1) || die "$(tail -n 1 <<<"$said")"
}
for name in "${hosts[@]}"; do
	[ "$name" = container ] || (release_init "$name") || exit 1
done
[ "$(id -u)" = 0 ] || die "needs root: sudo tests/hosts.sh ${hosts[*]}"
unshare --mount true >/dev/null 2>&1 || die "this machine lets root make no mount namespaces (unshare --mount): run it elsewhere"
for name in "${hosts[@]}"; do
	[ "$name" = container ] || (known "$name") || exit 1
done
command -v mmdebstrap >/dev/null || die "mmdebstrap is missing: run 'make packages-all'"
[[ " ${hosts[*]} " != *" container "* ]] || command -v podman >/dev/null || die "podman is missing: run 'make test-hosts HOSTS=container'"

number=0 status=0 failed=0
result() # STATUS NAME LOG
{
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number - $2"
	else
		status=1 failed=1
		echo "not ok $number - $2"
		tail -n 40 "$3" | sed 's/^/# /'
	fi
}

# Make a small root of a release. In it apt has the archives of this machine.
make_root_of() # RELEASE ROOT
{
	release_init "$1"
	update_lists || return
	rm -rf --one-file-system "$2"
	mkdir -p "${2%/*}"
	mmdebstrap --mode=root --variant=minbase --include=make,git,ca-certificates --skip=check/empty \
		--aptopt='Acquire::Check-Valid-Until "false"' "$suite" "$2" "$apt_state/sources.d/debian.sources"
}

# Clone this tree at the commit that HEAD was at when the tests began.
clone_to() # FOLDER
{
	git clone -q --no-checkout --no-hardlinks . "$1" && git -C "$1" reset -q --hard "$commit"
}

# Make a root with a clone.
make_host() # RELEASE ROOT
{
	make_root_of "$1" "$2" || return
	clone_to "$2/slate" || return
	git -C "$2/slate" config user.name test
	git -C "$2/slate" config user.email test
}

# Run a command in the root, in the clone, in a mount namespace of its own. It ends with this script, however that ends.
on_host() # ROOT COMMAND...
{
	local root=$1
	shift
	# shellcheck disable=SC2016 # for the inner shell
	setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child bash -ec '
		root=$1
		shift
		mount --bind "$root" "$root" # a root is a mount point, or its programs can have no mount namespaces
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
			SLATE_ON_HOST=1 \
			${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
			PIP_CERT=/etc/ssl/certs/ca-certificates.crt PIP_RETRIES=5 \
			${PIP_INDEX_URL:+PIP_INDEX_URL="$PIP_INDEX_URL"} bash -ec "cd /slate && $*"' on_host "$root" "$@"
}

# podman with what it needs on hosts whose control groups are of both versions, and whose limits cannot be raised.
containers()
{
	podman --root "$build/hosts/podman" --runroot "$build/hosts/podman-run" --storage-driver vfs --runtime runc \
		--cgroup-manager cgroupfs "$@"
}

# Build the Containerfile's image of a clone of HEAD, on a base made by mmdebstrap, as its head says.
build_image() # FOLDER
{
	local mounts=(-v /etc/ssl/certs:/etc/ssl/certs:ro) file
	for file in /etc/pip.conf /etc/apt/apt.conf; do
		[ ! -e "$file" ] || mounts+=(-v "$file:$file:ro")
	done
	if [ -z "${SLATE_HOSTS_COLD:-}" ]; then
		for file in slate ccache; do
			mkdir -p "$HOME/.cache/$file"
			mounts+=(-v "$HOME/.cache/$file:/cache/$file")
		done
		mounts+=(--build-arg XDG_CACHE_HOME=/cache)
	fi
	rm -rf --one-file-system "$1"
	make_root_of 13 "$1/base" || return
	tar -C "$1/base" -c . | containers import - slate-base || return
	rm -rf --one-file-system "$1/base"
	clone_to "$1/slate" || return
	containers build --isolation chroot --build-arg BASE=slate-base "${mounts[@]}" -t slate -f "$1/slate/Containerfile" "$1/slate"
}

run_image() # FOLDER
{
	mkdir -p "$1/slate/out"
	containers run --rm --network none --ulimit nofile=1024:1024 --ulimit nproc=4096:4096 \
		-v "$1/slate/out:/slate/out" slate run --out out/first
}

# Keep a run's results. They must be those of this machine.
same() # RESULTS-FOLDER HOST LOG
{
	local file kept=$results/$2 code=0
	rm -rf "$kept"
	cp -a "$1" "$kept" >>"$3" 2>&1 || return
	for file in fio.json device.json; do
		cmp "$kept/$file" "$own/$file" >>"$3" 2>&1 || code=1
	done
	return $code
}

commit=$(git rev-parse HEAD)
[ -z "$(git status --porcelain --untracked-files=no)" ] || die "changed files would not be on the hosts: commit them"
results=$build/hosts/results
own=$results/own
rm -rf --one-file-system "$own"
mkdir -p build/log "$results"
echo "1..$((3 * ${#hosts[@]}))"
make run OUT="$own" >build/log/hosts-own.log 2>&1 || die "'make run' fails here: see build/log/hosts-own.log"
for name in "${hosts[@]}"; do
	root=$build/hosts/$name log=build/log/hosts-$name.log begin=$EPOCHSECONDS code=0 failed=0
	if [ "$name" = container ]; then
		(build_image "$root") >"$log" 2>&1 || code=1
		result $code "container: podman build # time=$((EPOCHSECONDS - begin))" "$log"
		begin=$EPOCHSECONDS
		# after a failed build, an image of that name is of an earlier one
		[ $code = 1 ] || (run_image "$root") >>"$log" 2>&1 || code=1
		result $code "container: podman run # time=$((EPOCHSECONDS - begin))" "$log"
	else
		make_host "$name" "$root" >"$log" 2>&1 || die "no root of $name: see $log: $(tail -n 1 "$log")"
		begin=$EPOCHSECONDS
		on_host "$root" make run OUT=/slate/out/first >>"$log" 2>&1 || code=1
		result $code "$name: make run # time=$((EPOCHSECONDS - begin))" "$log"
		begin=$EPOCHSECONDS code=0
		on_host "$root" "$tests" >>"$log" 2>&1 || code=1
		result $code "$name: $SUITES # time=$((EPOCHSECONDS - begin))" "$log"
	fi
	code=0
	same "$root/slate/out/first" "$name" "$log" || code=1
	result $code "$name: fio.json and device.json are those of this machine" "$log"
	[ $failed = 1 ] || rm -rf --one-file-system "$root"
	[ "$name" != container ] || rm -rf --one-file-system "$build/hosts"/podman{,-run}
done
exit $status

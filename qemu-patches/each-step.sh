#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# each-step.sh [FIRST [LAST]] - compile and test QEMU after each patch, or each from FIRST to LAST.
#
# It unpacks the source that build.sh has fetched into build/qemu-steps, applies one patch at a
# time, and compiles the programs that build.sh compiles. From the patch that brings the driver
# on, QEMU is configured with it. A patch with a qtest is applied in two parts: with the test
# alone, QEMU must start and the test must fail (or not end within 20 s); with the rest, all qtests
# must pass.
# A step that fails ends the run, and names its log.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
build=${SLATE_BUILD:-$root/build}
jobs=${JOBS:-$(nproc)}
work=$build/qemu-steps
first=${1:-1} last=${2:-9999}
programs=(qemu-system-x86_64 qemu-img qemu-io qemu-nbd storage-daemon/qemu-storage-daemon)
qtest=tests/qtest/nvme-command-test # from the first patch on

# shellcheck source=qemu-patches/bases.sh
. "$here/bases.sh"
mapfile -t flags < <("$here/build.sh" --flags)
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 PKG_CONFIG_PATH=$build/core/install/lib/pkgconfig
export GIT_CEILING_DIRECTORIES=$work # git apply takes no note of a repository around build/

configure() { # --enable-slate, or nothing
	local flag kept=()
	for flag in "${flags[@]}"; do
		[ "$flag" = --enable-slate ] || kept+=("$flag")
	done
	mkdir -p "$work/qemu-build"
	cd "$work/qemu-build"
	"$work/qemu-src/configure" --python="$build/venv-qemu/bin/python3" "${kept[@]}" "$@"
	# QEMU in its build tree looks for what --firmwarepath names below qemu-bundle.
	mkdir -p qemu-bundle/usr/share
	ln -sfn /usr/share/seabios /usr/share/qemu qemu-bundle/usr/share/
}

compile() {
	cd "$work/qemu-build"
	ninja -j "$jobs" "${programs[@]}" "$qtest"
}

apply() { # PATCH OPTION... - of git apply
	local patch=$1
	shift
	cd "$work/qemu-src"
	git apply --whitespace=nowarn "$@" "$patch"
}

run_qtests() { # SECONDS [PATH...] - the tests of these paths, or all
	local seconds=$1 path chosen=()
	shift
	for path in "$@"; do
		chosen+=(-p "$path")
	done
	cd "$work/qemu-build"
	QTEST_QEMU_BINARY=./qemu-system-x86_64 timeout -k 5 "$seconds" "$qtest" --tap "${chosen[@]}"
}

# A QEMU that does not start, for want of its firmware say, would fail every qtest.
start() {
	cd "$work/qemu-build"
	echo quit | timeout -k 5 60 ./qemu-system-x86_64 -M q35 -nodefaults -display none -S -monitor stdio
}

run_without_patch() { # PATH - of a qtest that must fail
	if run_qtests 20 "$1"; then
		echo "$1 passes without its patch"
		return 1
	fi
}

step() { # NAME COMMAND... - output to a log
	local name=$1 start=$SECONDS
	shift
	if ! ("$@") >"$work/log/$name" 2>&1 </dev/null; then
		tail -n 20 "$work/log/$name" >&2
		echo "each-step.sh: $name: failed; the whole output: $work/log/$name" >&2
		exit 1
	fi
	echo "$name: $((SECONDS - start)) s"
}

if [ ! -e "$build/apt/qemu.plan" ] || [ ! -d "$build/venv-qemu" ]; then
	echo "each-step.sh: QEMU was not built here from Debian's source: make qemu" >&2
	exit 1
fi
rm -rf "$work"
mkdir -p "$work/log"
step unpack "$here/build.sh" --source "$work/qemu-src"
"$here/make-patches.sh" "$work/patches" "$(<"$work/qemu-src/VERSION")"
driver=$(basename "$work/patches/"*-block-add-nand-ssd-*)
devices_of "$(series_of "$(<"$work/qemu-src/VERSION")")" >"$work/qemu-src/configs/devices/x86_64-softmmu/slate.mak"

configured='' tests=0 built=''
for patch in "$work/patches/"*.patch; do
	name=$(basename "$patch" .patch)
	number=$((10#${name%%-*}))
	[ "$number" -le "$last" ] || break
	if [ "$number" -lt "$first" ]; then
		step "$name-apply" apply "$patch"
		continue
	fi
	[[ $name.patch < $driver ]] && want=--disable-docs || want=--enable-slate
	mapfile -t added < <(sed -n 's/^+ *qtest_add_func("\(nvme\/[^"]*\)".*/\1/p' "$patch")
	if [ ${#added[@]} -gt 0 ]; then
		step "$name-apply-test" apply "$patch" --include='tests/*'
		[ "$configured" = "$want" ] || step "$name-configure" configure "$want"
		configured=$want
		step "$name-compile-test" compile
		step "$name-start" start
		for path in "${added[@]}"; do
			step "$name-fails-without-patch" run_without_patch "/x86_64/$path"
			tests=$((tests + 1))
		done
		step "$name-apply" apply "$patch" --exclude='tests/*'
	else
		step "$name-apply" apply "$patch"
	fi
	[ "$configured" = "$want" ] || step "$name-configure" configure "$want"
	configured=$want
	step "$name" compile
	step "$name-qtests" run_qtests 300
	built=$number
done
echo "each step of the series compiles and passes its qtests, from $first to $built; $tests qtests fail without their patch"

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# each-step.sh [FIRST] - compile QEMU after each patch of the series, from number FIRST on (1).
#
# It unpacks the source that build.sh has fetched into build/qemu-steps, applies one patch at a
# time, and compiles the programs that build.sh compiles. From the patch that brings the driver
# on, QEMU is configured with it. A step that fails ends the run, and names its log.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
build=${SLATE_BUILD:-$root/build}
jobs=${JOBS:-$(nproc)}
work=$build/qemu-steps
first=${1:-1}
driver=0020-block-nand-ssd-an-emulated-NAND-SSD.patch
programs=(qemu-system-x86_64 qemu-img qemu-io qemu-nbd storage-daemon/qemu-storage-daemon)
qtest=tests/qtest/nvme-command-test # from the first patch that has a test on

mapfile -t flags < <("$here/build.sh" --flags)
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 PKG_CONFIG_PATH=$build/core/install/lib/pkgconfig

configure() { # --enable-slate, or nothing
	local flag kept=()
	for flag in "${flags[@]}"; do
		[ "$flag" = --enable-slate ] || kept+=("$flag")
	done
	mkdir -p "$work/qemu-build"
	cd "$work/qemu-build"
	"$work/qemu-src/configure" --python="$build/venv-qemu/bin/python3" "${kept[@]}" "$@"
}

compile() {
	cd "$work/qemu-build"
	if [ -e "$work/qemu-src/$qtest.c" ]; then
		ninja -j "$jobs" "${programs[@]}" "$qtest"
	else
		ninja -j "$jobs" "${programs[@]}"
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

dsc=$(find "$build/apt/src" -name 'qemu_*.dsc' 2>/dev/null | sort -V | tail -n 1)
if [ -z "$dsc" ] || [ ! -d "$build/venv-qemu" ]; then
	echo "each-step.sh: QEMU was not built here from Debian's source: make qemu" >&2
	exit 1
fi
rm -rf "$work"
mkdir -p "$work/log"
"$here/make-patches.sh" "$work/patches"
step unpack dpkg-source --no-check -x "$dsc" "$work/qemu-src"
cp "$here/slate.mak" "$work/qemu-src/configs/devices/x86_64-softmmu/slate.mak"

configured=
for patch in "$work/patches/"*.patch; do
	name=${patch##*/}
	number=$((10#${name%%-*}))
	patch -d "$work/qemu-src" -p1 --forward --no-backup-if-mismatch --reject-file=- <"$patch" >>"$work/log/patch"
	[ "$number" -ge "$first" ] || continue
	[[ $name < $driver ]] && want=--disable-docs || want=--enable-slate
	[ "$configured" = "$want" ] || step "${name%%-*}-configure" configure "$want"
	configured=$want
	step "${name%.patch}" compile
done
echo "each step of the series compiles, from $first to $number"

# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# instrument.sh - builds the core and QEMU with a sanitizer. tsan.sh, asan.sh and fuzz.sh source
# this file. Both are built from the sources that build.sh has patched, in folders of their
# own: build/core-NAME and build/qemu-NAME. Knobs: SLATE_BUILD (build), JOBS (all processors).
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
build=${SLATE_BUILD:-$root/build}
jobs=${JOBS:-$(nproc)}
src=$build/qemu-src
cache=()
if command -v ccache >/dev/null; then
	cache=(ccache)
	export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
fi

instrument_check() {
	[ -f "$src/block/nand-ssd-thread.c" ] && return
	echo "${0##*/}: $src is not there: run 'make qemu' first" >&2
	exit 1
}

# The library as $PKG_CONFIG_PATH has it afterwards.
instrument_core() { # NAME CC FLAGS [TARGET...]
	local core=$build/core-$1 cc=$2 flags=$3 launcher=()
	shift 3
	[ $# -gt 0 ] || set -- slate
	[ ${#cache[@]} -eq 0 ] || launcher=(-DCMAKE_C_COMPILER_LAUNCHER="${cache[0]}")
	cmake -S "$root" -B "$core" -G Ninja -DSLATE_LTO=OFF -DCMAKE_C_COMPILER="$cc" "${launcher[@]}" -DCMAKE_C_FLAGS="$flags" >/dev/null
	cmake --build "$core" -j "$jobs" --target "$@"
	[ -f "$build/core/install/lib/pkgconfig/slate.pc" ] || return 0
	# what 'cmake --install' would, without the programs that need no instrumented copy
	mkdir -p "$core/pc"
	sed "s|^Cflags:.*|Cflags: -I$build/core/install/include/slate|; s|-L[^ ]*|-L$core|" \
		"$build/core/install/lib/pkgconfig/slate.pc" >"$core/pc/slate.pc"
	export PKG_CONFIG_PATH=$core/pc
}

# Does nothing if the folder was configured with the same flags.
instrument_configure() { # NAME CC CONFIGURE-FLAG...
	local obj=$build/qemu-$1 cc="${cache[*]} $2" flags
	shift 2
	flags=(--python="$build/venv-qemu/bin/python3" --cc="${cc# }" --without-default-features
		--enable-slate --disable-user --disable-docs --enable-trace-backends=log --disable-download --disable-werror
		--disable-install-blobs --firmwarepath=/usr/share/seabios:/usr/share/qemu "$@")
	[ ! -f "$obj/build.ninja" ] || [ "$(cat "$obj/configure.flags" 2>/dev/null)" != "${flags[*]}" ] || return 0
	mkdir -p "$obj"
	(cd "$obj" && "$src/configure" "${flags[@]}" >configure.log) || { tail -n 20 "$obj/configure.log" >&2; exit 1; }
	echo "${flags[*]}" >"$obj/configure.flags"
}

# The board and the devices of the emulator that users have.
# shellcheck disable=SC2034 # for those who source this
system_flags=(--target-list=x86_64-softmmu --without-default-devices --with-devices-x86_64=slate
	--enable-system --enable-fdt=system --enable-virtfs --enable-attr --enable-cap-ng)

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kunit.sh: make the modules of tests/kunit for the guest's packaged kernel,
# build/kunit/{kunit,slate_core_kunit,slate_blk_kunit}.ko.
#
# Debian's kernels have no KUnit. Its core is compiled as one more module: lib/kunit of the
# kernel's source, against the headers package of exactly the kernel that the guest boots
# (build/guest-cache/versions). Of the source package (140 MB) only lib/kunit is kept,
# also in ${XDG_CACHE_HOME:-~/.cache}/slate for other clones.
#
# make decides what is compiled again. If nothing changed, it takes a second or two.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
who=kunit
package_list=$here/../packages.d/kunit.txt
# shellcheck source=host-tools/guest/lib.sh
. "$here/lib.sh"
modules=$repo/build/kunit
tree=$modules/tree
MIN_FREE_MB=500
# The core's tests include these headers of a C library; tests/kunit/libc.h stands for all of them.
LIBC="inttypes setjmp signal stdarg stdio stdlib string time unistd"

read_options "$@"
versions=$(installed_versions)
need_packages
[ -e "$cache/versions" ] || die "no kernel version has been chosen yet: run 'make guest' first"
take_lock || true
make_work

kernel='' kernel_version=''
# shellcheck source=/dev/null
. "$cache/versions"
release=${kernel#linux-image-}
series=$(sed -nE 's/^([0-9]+\.[0-9]+)\..*/\1/p' <<<"$release")
[ -n "$series" ] || die "$cache/versions names no Debian kernel: '$kernel'; run build.sh --update"
source_package=linux-source-$series
headers=$cache/headers-$kernel_version
source=$cache/kunit-$kernel_version

# ---- headers ------------------------------------------------------------------

# The headers fit one version of the kernel only. Their programs (linux-kbuild) may be newer: the archive, whose
# packages move apart, often has no others.
fetch_headers()
{
	local package version
	for package in $HEADER_PACKAGES; do
		[ -z "$(deb_of "$package")" ] || continue
		fetch_anew "$package" "$kernel_version" || {
			echo "the archive has no $package $kernel_version any more, and other headers do not fit the"
			echo "guest's kernel: run host-tools/guest/build.sh --update, which takes the newest of both"
			return 1
		}
	done
	[ -z "$(deb_of "$KBUILD")" ] || return 0
	[ -d "$apt_state/lists" ] || update_lists
	fetch_package "$KBUILD" "$kernel_version" && return
	update_lists
	version=$(candidate "$KBUILD")
	echo "the archive has no $KBUILD $kernel_version: taking $version"
	dpkg --compare-versions "$version" ge "$kernel_version" && fetch_package "$KBUILD" "$version"
}

# Print the file of a package: of the kernel's version, or of the programs' newest.
deb_of() # PACKAGE
{
	local version=${kernel_version//:/%3a}
	[ "$1" != "$KBUILD" ] || version='*'
	compgen -G "$cache/${1}_${version}_*.deb" | sort -V | tail -n 1
}

# The packages name each other by absolute paths in one place: the headers' Makefile.
unpack_headers()
{
	local package said
	for package in $HEADER_PACKAGES $KBUILD; do
		dpkg -x "$(deb_of "$package")" "$work/headers"
	done
	sed -i "s,^include /usr/src/,include $headers/usr/src/," "$work/headers/usr/src/linux-headers-$release/Makefile"
	said=$(sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
		"$work/headers/usr/src/linux-headers-$release/include/generated/utsrelease.h")
	[ "$said" = "$release" ] || {
		echo "linux-headers-$release $kernel_version is for kernel '$said', and the guest boots $release"
		return 1
	}
}

HEADER_PACKAGES="linux-headers-$release linux-headers-${release%-amd64}-common"
KBUILD=linux-kbuild-$series
if [ ! -d "$headers" ]; then
	need_space $MIN_FREE_MB
	phase kunit-headers "fetching the headers of $kernel_version" fetch_headers
	phase kunit-headers "unpacking them" unpack_headers
	mv -T "$work/headers" "$headers"
fi

# ---- KUnit ----------------------------------------------------------------------

fetch_source()
{
	fetch_anew "$source_package" "$kernel_version" || {
		echo "the archive has no $source_package $kernel_version any more: run host-tools/guest/build.sh --update"
		return 1
	}
}

# Make two edits, because the kernel was configured without KUnit: a task has no pointer to its
# test, and the module loader knows no suites (tests/kunit/suite.h).
unpack_source()
{
	mkdir "$work/kunit"
	dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/$source_package.tar.xz" |
		tar -xJ -C "$work/kunit" --strip-components=3 --wildcards "$source_package/lib/kunit/*.[ch]"
	sed -i -e '/current->kunit_test = /d' -e 's/^#ifdef CONFIG_MODULES$/#if 0/' "$work/kunit/test.c"
	! grep -q 'CONFIG_MODULES\|kunit_test = ' "$work/kunit/test.c"
}

if [ ! -d "$source" ] && take_shared "${source##*/}" "$work/kunit"; then
	mv -T "$work/kunit" "$source"
fi
if [ ! -d "$source" ]; then
	need_space $MIN_FREE_MB
	deb=$cache/${source_package}_${kernel_version//:/%3a}_all.deb
	[ -e "$deb" ] || phase kunit-source "fetching $source_package $kernel_version, 140 MB" fetch_source
	phase kunit-source "taking lib/kunit out of it" unpack_source
	share "${source##*/}" "$work"/kunit/*
	mv -T "$work/kunit" "$source"
fi

# ---- the modules ------------------------------------------------------------------

# link FILE... DIR: make links to these files in DIR, and remove all others there.
link()
{
	local dir=${*: -1} file
	mkdir -p "$dir"
	find "$dir" -maxdepth 1 -type l ! -exec test -e {} \; -delete
	for file in "${@:1:$#-1}"; do
		[ "$(readlink "$dir/${file##*/}" 2>/dev/null)" = "$file" ] || ln -sf "$file" "$dir/${file##*/}"
	done
}

# Write the text to the file. A file with that text keeps its time.
put_text() # TEXT FILE
{
	[ "$(cat "$2" 2>/dev/null)" = "$1" ] || echo "$1" >"$2"
}

# Lay out the folder for Kbuild: the modules' sources are below it, and their objects go beside them.
lay_out()
{
	local name
	link "$repo"/tests/kunit/{core.c,core.h,libc.c,libc.h,suite.h,programs.h,Kbuild} "$tree"
	ln -sf "$repo/tests/kunit/blk.c" "$tree/slate_blk_kunit.c"
	link "$repo"/ftl/*.c "$repo"/ftl/*/*.c "$tree/ftl"
	link "$repo"/nand-emu/*.c "$tree/nand-emu"
	rm -f "$tree"/nand-emu/port_{crc,md5,user}.c
	link "$repo"/tests/core/*.c "$tree/tests"
	link "$source"/*.[ch] "$tree/kunit"
	mkdir -p "$tree/include"
	for name in $LIBC; do
		put_text '#include "libc.h"' "$tree/include/$name.h"
	done
}

compile()
{
	local cc=gcc-12
	! command -v ccache >/dev/null || cc='ccache gcc-12'
	lay_out
	make -C "$headers/usr/src/linux-headers-$release" M="$tree" SLATE="$repo" CC="$cc" -j"$(nproc)" modules
}

install_modules()
{
	local name for
	for name in kunit slate_core_kunit slate_blk_kunit; do
		for=$(modinfo -F vermagic "$tree/$name.ko" | cut -d' ' -f1)
		[ "$for" = "$release" ] || {
			echo "$name.ko is for kernel '$for', and the guest boots $release"
			return 1
		}
		[ "$modules/$name.ko" -nt "$tree/$name.ko" ] ||
			{ strip --strip-debug -o "$work/$name.ko" "$tree/$name.ko" && mv "$work/$name.ko" "$modules/"; }
	done
	echo "$release" >"$modules/release"
}

phase kunit "compiling the modules for $release" compile
install_modules
say "ready: KUnit, the core's tests and those of the block layer, for $release"

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kernel.sh [small | small-smp]: make the small guest kernels for 'slate run --kernel small', or
# one of them: build/guest/small/{vmlinux,kernel.json} for one processor, build/guest/small-smp
# for several.
#
# They are compiled from the Debian archive's linux-source package, of the version that
# the packaged kernel has (build/guest-cache/versions) or, if the archive no longer has
# it, of the newest. kernel.config says what they contain.
#
# A hash of source version, config, compiler and build commands is a kernel's name in two
# caches: build/guest-cache, and ${XDG_CACHE_HOME:-~/.cache}/slate, from where another clone
# takes it instead of compiling. If nothing changed, the script returns at once. An
# interrupted run leaves, of each, either the old kernel or the new one.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
who='guest kernel'
package_list=$here/../packages.d/kernel.txt
# shellcheck source=host-tools/guest/lib.sh
. "$here/lib.sh"
VARIANTS='small small-smp'

MIN_FREE_MB=1200
CPU_SECONDS=600 # of compiling a kernel, for the announcement
# These files of the source, half of its bytes, are neither compiled nor read.
LEAVE_OUT="*/arch/[!x]*/*.[chS] */arch/*/boot/dts/* */drivers/gpu/*.[ch] */drivers/media/*.[ch]
*/drivers/net/*/*.[ch] */drivers/staging/*.[ch] */drivers/infiniband/*.[ch] */sound/*.[ch]
*/Documentation/*.rst */Documentation/*.yaml */Documentation/*.txt */tools/testing/*
*/tools/perf/* */fs/nls/nls_cp*.c"

case ${1:-} in
'') ;;
small | small-smp) VARIANTS=$1 ;;
-h | --help)
	sed -n '4,15s/^# \{0,1\}//p' "$0"
	exit 0
	;;
*)
	echo "kernel.sh: unknown argument $1 (see --help)" >&2
	exit 2
	;;
esac

# With SMP the kernel tracks load, so that an I/O costs more now and then. The kernel for one processor has no SMP.
smp_config()
{
	sed -e '/^# One processor, no preemption/,/^# decay/c# Up to 16 processors, no preemption.' \
		-e 's/^CONFIG_SMP=n$/CONFIG_SMP=y\nCONFIG_NR_CPUS=16\nCONFIG_SCHED_MC=n/' "$here/kernel.config"
}

mkdir -p "$cache"
smp_config >"$cache/kernel-smp.config.$$"
mv "$cache/kernel-smp.config.$$" "$cache/kernel-smp.config"

# Set $small, $stamp and $config for this kernel.
take() # VARIANT
{
	small=$out/$1
	stamp=$small/.stamp
	config=$here/kernel.config
	[ "$1" = small ] || config=$cache/kernel-smp.config
}

# ---- is there anything to do? ----------------------------------------------

compiler()
{
	gcc --version 2>/dev/null | sed -n 1p
	ld --version 2>/dev/null | sed -n 1p
}

# Print one hash of all inputs of the kernel and of the products.
current_stamp()
{
	{
		cat "$cache/versions" "$config" "$here/kernel.sh"
		compiler
		(cd "$small" && stat -c '%n %s %Y' vmlinux kernel.json)
	} 2>/dev/null | sha256sum
}

up_to_date()
{
	local variant
	for variant in $VARIANTS; do
		take "$variant"
		[ -e "$stamp" ] && [ "$(<"$stamp")" = "$(current_stamp)" ] || return 1
	done
}

up_to_date && exit 0
versions=$(installed_versions)
need_packages
[ -e "$cache/versions" ] || die "no kernel version has been chosen yet: run 'make guest-kernel', or build.sh first"
if ! take_lock && up_to_date; then
	exit 0
fi
make_work

kernel='' kernel_version=''
# shellcheck source=/dev/null
. "$cache/versions"
# linux-image-6.1.0-56-amd64 -> linux-source-6.1
series=$(sed -nE 's/^linux-image-([0-9]+\.[0-9]+).*/\1/p' <<<"$kernel")
[ -n "$series" ] || die "$cache/versions names no Debian kernel: '$kernel'; run build.sh --update"
source_package=linux-source-$series

# ---- caches -----------------------------------------------------------------

# Print the name of a kernel from this version of the source.
cache_name() # VERSION
{
	echo "small-$1-$({ echo "$source_package $1"; compiler; cat "$config"; declare -f kmake configure compile; } | key)"
}

# Does DIR hold a kernel, with the checksum that it had when it was made?
whole() # DIR
{
	[ -e "$1/kernel.json" ] && [ -e "$1/vmlinux" ] &&
		grep -qF "\"$(sha256sum <"$1/vmlinux" | cut -d' ' -f1)\"" "$1/kernel.json"
}

# Have the kernel in build/guest-cache, from the other cache if need be. Returns 1 if neither has it.
cached() # VERSION
{
	local name
	name=$(cache_name "$1")
	! whole "$cache/$name" || return 0
	rm -rf "${cache:?}/$name"
	take_shared "$name" "$work/$name" && whole "$work/$name" && mv -T "$work/$name" "$cache/$name"
}

all_cached() # VERSION
{
	local variant
	for variant in $VARIANTS; do
		take "$variant"
		cached "$1" || return 1
	done
}

# ---- source -----------------------------------------------------------------

# Print the packaged kernel's version if the archive has it, or else the newest.
choose_source()
{
	local found
	[ -d "$apt_state/lists" ] || update_lists
	found=$(offered "$source_package")
	if ! grep -qxF "$kernel_version" <<<"$found"; then
		update_lists
		found=$(offered "$source_package")
	fi
	echo "offered: $(tr '\n' ' ' <<<"$found")"
	if grep -qxF "$kernel_version" <<<"$found"; then
		echo "$kernel_version" >"$work/source-version"
	elif [ -n "$found" ]; then
		candidate "$source_package" >"$work/source-version"
	else
		echo "the package lists offer no $source_package"
		return 1
	fi
}

unpack_source()
{
	local pattern words=()
	set -f
	for pattern in $LEAVE_OUT; do
		words+=("--exclude=$pattern")
	done
	set +f
	mkdir "$work/linux"
	dpkg-deb --fsys-tarfile "$deb" |
		tar -xO "./usr/src/$source_package.tar.xz" |
		tar -xJ -C "$work/linux" --strip-components=1 "${words[@]}"
}

# ---- compile ----------------------------------------------------------------

kmake()
{
	local cc=gcc
	! command -v ccache >/dev/null || cc='ccache gcc'
	make -C "$work/linux" -s CC="$cc" HOSTCC="$cc" KBUILD_BUILD_VERSION=1 KBUILD_BUILD_USER=slate \
		KBUILD_BUILD_HOST=slate KBUILD_BUILD_TIMESTAMP='2024-01-01 00:00:00 UTC' "$@"
}

# Kconfig silently drops what it does not know or whose dependencies are missing.
configure()
{
	local line bad='' made=$work/linux/.config
	kmake KCONFIG_ALLCONFIG="$config" allnoconfig
	while read -r line; do
		case $line in
		CONFIG_*=n) ! grep -q "^${line%n}" "$made" || bad+="  ${line%=n} is on" ;;
		CONFIG_*) grep -qxF -e "$line" "$made" || bad+="  $line was dropped" ;;
		esac
	done <"$config"
	[ -z "$bad" ] || {
		echo "kernel.config asks for what this source can not give:$bad"
		echo "look up the dependencies of these options, and correct kernel.config"
		return 1
	}
}

compile()
{
	kmake -j"$(nproc)" vmlinux
	mkdir "$work/small"
	mv "$work/linux/vmlinux" "$work/small/vmlinux"
	cat >"$work/small/kernel.json" <<-END
		{
		  "kernel": "$(<"$work/linux/include/config/kernel.release")",
		  "source": "$source_package $source_version",
		  "compiler": "$(compiler | sed -n 1p)",
		  "sha256": "$(sha256sum <"$work/small/vmlinux" | cut -d' ' -f1)"
		}
	END
}

# ---- all of it --------------------------------------------------------------

source_version=$kernel_version
if ! all_cached "$source_version"; then
	phase kernel-source "looking up $source_package" choose_source
	source_version=$(<"$work/source-version")
	[ "$source_version" = "$kernel_version" ] ||
		say "the archive has no $source_package $kernel_version; taking $source_version"
fi
if ! all_cached "$source_version"; then
	need_space $MIN_FREE_MB
	deb=$cache/${source_package}_${source_version//:/%3a}_all.deb
	[ -e "$deb" ] ||
		phase kernel-source-fetch "fetching $source_package $source_version, 140 MB" fetch_anew "$source_package" "$source_version"
	minutes=$(((CPU_SECONDS / $(nproc) + 59) / 60))
	for variant in $VARIANTS; do
		take "$variant"
		! cached "$source_version" || continue
		rm -rf "$work/linux"
		phase kernel-source-unpack "unpacking it" unpack_source
		phase "kernel-config-$variant" "configuring $variant" configure
		say "compiling $variant, about $minutes min on $(nproc) cores"
		phase "kernel-compile-$variant" "compiling $variant" compile
		mv -T "$work/small" "$cache/$(cache_name "$source_version")"
	done
fi

for variant in $VARIANTS; do
	take "$variant"
	name=$(cache_name "$source_version")
	share "$name" "$cache/$name"/*
	mkdir -p "$small"
	rm -f "$stamp"
	cp "$cache/$name/vmlinux" "$work/vmlinux"
	cp "$cache/$name/kernel.json" "$work/kernel.json"
	mv "$work/vmlinux" "$work/kernel.json" "$small/"
	current_stamp >"$stamp"
	say "ready: $variant, $(sed -n 's/.*"kernel": "\(.*\)",/\1/p' "$small/kernel.json"), from $source_package $source_version"
done

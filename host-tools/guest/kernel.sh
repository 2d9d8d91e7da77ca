#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kernel.sh [small | small-smp]: make the small guest kernels for 'slate run --kernel small', or
# one of them: build/guest/small/{vmlinux,kernel.json,build.tar.gz} for one processor,
# build/guest/small-smp for several. build.tar.gz has what modules for it are compiled with
# (kunit.sh).
#
# They are compiled from the package linux-source of the guest's release, of the version that
# its packaged kernel has or, if the archive no longer has it, of the newest, in a root of that
# release, by its compiler. kernel.config says what they contain.
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
	sed -n '4,/^[^#]/s/^# \{0,1\}//p' "$0"
	exit 0
	;;
*)
	echo "kernel.sh: unknown argument $1 (see --help)" >&2
	exit 2
	;;
esac

# With SMP the kernel tracks load, so that an I/O costs more now and then. The kernel for one processor has no SMP.
smp_config() { sed 's/^CONFIG_SMP=n$/CONFIG_SMP=y\nCONFIG_NR_CPUS=16\nCONFIG_SCHED_MC=n/' "$here/kernel.config"; }

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

# Print one hash of all inputs of the kernel and of the products.
current_stamp()
{
	{
		grep -E '^(build|kernel)' "$lock"
		cat "$config" "$here/kernel.sh"
		(cd "$small" && stat -c '%n %s %Y' vmlinux kernel.json build.tar.gz)
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
if ! take_lock && up_to_date; then
	exit 0
fi
make_work
guest_release
# The packaged kernel's version, 6.12.118-1, comes of linux-source-6.12.
kernel_version=$(sed -nE 's/.*"linux-(image|binary)-[^"]*": "([^"]*)".*/\2/p' "$out/guest.json" 2>/dev/null | sed -n 1p) || true
[ -n "$kernel_version" ] || die "the guest $guest has not been made: run 'make guest'"
source_package=linux-source-$(sed -E 's/^([0-9]+\.[0-9]+).*/\1/' <<<"$kernel_version")
phase kernel-root "having the compiler of Debian $release" build_root
compiler=$(in_root "$work/build" "$work" sh -c 'gcc --version; ld --version' | grep -E '^(gcc|GNU ld)')

# ---- caches -----------------------------------------------------------------

# Print the name of a kernel from this version of the source.
cache_name() # VERSION
{
	echo "${small##*/}-$suite-$1-$({ echo "$source_package $1 $compiler"; cat "$config"; declare -f kmake configure compile pack_build; } | key)"
}

# Does DIR hold a kernel, with the checksum that it had when it was made?
whole() # DIR
{
	[ -e "$1/kernel.json" ] && [ -e "$1/vmlinux" ] && [ -e "$1/build.tar.gz" ] &&
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

unpack_source()
{
	local pattern words=()
	set -f
	for pattern in $LEAVE_OUT; do
		words+=("--exclude=$pattern")
	done
	set +f
	mkdir "$work/linux"
	dpkg-deb --fsys-tarfile "$work/debs"/*.deb |
		tar -xO "./usr/src/$source_package.tar.xz" |
		tar -xJ -C "$work/linux" --strip-components=1 "${words[@]}"
}

# ---- compile ----------------------------------------------------------------

kmake()
{
	in_root "$work/build" "$work/linux" make -s KBUILD_BUILD_VERSION=1 \
		KBUILD_BUILD_USER=slate KBUILD_BUILD_HOST=slate KBUILD_BUILD_TIMESTAMP='2024-01-01 00:00:00 UTC' "$@"
}

configure()
{
	local bad
	sed 's/ # if known$//' "$config" >"$work/linux/small.config"
	kmake KCONFIG_ALLCONFIG=small.config allnoconfig
	bad=$(dropped "$config" "$work/linux")
	[ -z "$bad" ] || {
		printf "%s\n" "kernel.config asks for what this source can not give:" "$bad"
		echo "look up the dependencies of these options, and correct kernel.config"
		return 1
	}
}

# Print the files that modules are compiled with: Kbuild, headers, what was made of the config, and KUnit.
build_files()
{
	find include scripts arch/x86/include ! -type d ! -name '*.o' ! -name '*.cmd'
	find Makefile arch/x86 -maxdepth 1 -name 'Makefile*'
	find tools/objtool -maxdepth 1 -name objtool
	echo .config
	echo Module.symvers
	echo lib/kunit/kunit.ko
}

pack_build() { (cd "$work/linux" && build_files | tar -cz --sort=name --owner=0 --group=0 -T -) >"$work/small/build.tar.gz"; }

compile()
{
	kmake -j"${JOBS:-$(nproc)}" vmlinux modules
	mkdir "$work/small"
	mv "$work/linux/vmlinux" "$work/small/vmlinux"
	pack_build
	cat >"$work/small/kernel.json" <<-END
		{
		  "kernel": "$(<"$work/linux/include/config/kernel.release")",
		  "source": "$source_package $source_version",
		  "compiler": "$(sed -n 1p <<<"$compiler")",
		  "sha256": "$(sha256sum <"$work/small/vmlinux" | cut -d' ' -f1)"
		}
	END
}

# ---- all of it --------------------------------------------------------------

source_version=$kernel_version
if ! all_cached "$source_version"; then
	need_space $MIN_FREE_MB
	phase kernel-source-fetch "fetching $source_package, 150 MB" plan_version kernel-source "$source_package" "$kernel_version"
	source_version=$(awk '{ print $2 }' "$work/kernel-source.plan")
fi
if ! all_cached "$source_version"; then
	named_files "$work/kernel-source.plan" "$work/debs"
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
	mkdir "$work/$variant"
	cp "$cache/$name"/* "$work/$variant/"
	mv "$work/$variant"/* "$small/"
	current_stamp >"$stamp"
	say "ready: $variant, $(sed -n 's/.*"kernel": "\(.*\)",/\1/p' "$small/kernel.json"), from $source_package $source_version"
done

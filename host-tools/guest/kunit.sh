#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kunit.sh: make the modules of tests/kunit for the small guest kernel for one processor,
# build/kunit/{kunit,slate_core_kunit,slate_blk_kunit}.ko, and kernel.json, that kernel's own.
#
# The kernel was configured with KUnit and modules. kernel.sh left what modules are compiled
# with; this compiles them in the same root.
#
# make decides what is compiled again. If nothing changed, it takes a second or two.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
who=kunit
package_list=$here/../packages.d/kernel.txt
# shellcheck source=host-tools/guest/lib.sh
. "$here/lib.sh"
small=$out/small
modules=$build/kunit
linux=$modules/linux
src=$modules/src
MIN_FREE_MB=300
# The core's tests include these headers of a C library; tests/kunit/libc.h stands for all of them.
LIBC="inttypes setjmp signal stdarg stdio stdlib string time unistd"

read_options "$@"
versions=$(installed_versions)
need_packages
[ -e "$small/build.tar.gz" ] || die "the small kernel has not been built: run 'make guest-kernel-one' first"
take_lock || true
make_work
guest_release

# Objects of another kernel are of no use.
unpack_build()
{
	mkdir "$work/linux"
	tar -xzf "$small/build.tar.gz" -C "$work/linux"
	cp "$small/kernel.json" "$work/linux/"
	rm -rf "$linux" "$src"
	mkdir -p "$modules"
	mv -T "$work/linux" "$linux"
}

# Copy the sources, with their times. In the root nothing else of the repository is seen.
lay_out()
{
	local name
	mkdir -p "$src/include"
	find "$src"/{ftl,nand-emu,tests} -name '*.[ch]' -delete 2>/dev/null || true
	(cd "$repo" && find ftl nand-emu tests/core tests/kunit -name '*.[ch]' | tar -c -T -) | tar -x -C "$src"
	cp -p "$repo/tests/kunit/Kbuild" "$src/"
	for name in $LIBC; do
		[ -e "$src/include/$name.h" ] || echo '#include "libc.h"' >"$src/include/$name.h"
	done
}

compile()
{
	lay_out
	build_root
	in_root "$work/build" "$modules" make -C linux M=/slate-build/src CC='ccache gcc' -j"$(nproc)" modules
}

install_modules()
{
	rm -f "$modules/kernel.json"
	cp -p "$linux/lib/kunit/kunit.ko" "$src"/slate_{core,blk}_kunit.ko "$modules/"
	cp "$linux/kernel.json" "$modules/"
}

need_space $MIN_FREE_MB
cmp -s "$small/kernel.json" "$linux/kernel.json" || phase kunit-build "unpacking what modules are compiled with" unpack_build
phase kunit "compiling the modules" compile
install_modules
say "ready: the core's tests and those of the block layer, for $(sed -n 's/.*"kernel": "\(.*\)",/\1/p' "$linux/kernel.json")"

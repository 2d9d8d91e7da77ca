#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# content.sh [--update] [--force]: make content.img (squashfs) and content.json,
# which the content workloads ('slate run --content') read.
#
#   --update   look for newer packages; otherwise the guest's lock has the versions
#   --force    make the image again even if nothing changed
#
#   debs/      packages as downloaded, to be installed (pc)
#   web/       HTML and text of documentation packages (web), as one tree
#   src/       source packages: NAME.tar, and NAME.debian.tar with Debian's patches (synth)
#
# All packages are of the guest's release. The same versions give the same bytes. If nothing changed,
# the script returns at once. An interrupted run leaves either the old image or the new one.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
who=content
package_list=$here/../packages.d/apps.txt
# shellcheck source=host-tools/guest/lib.sh
. "$here/lib.sh"

# The packages of a small desktop: those of ROOTS and their dependencies that DEBS names. Those with a preinst script
# are left out, as no program runs it. Not every release has debian-policy.
ROOTS="coreutils binutils libpython3-stdlib groff-base nano curl
?or(?exact-name(libgnutls30),?exact-name(libgnutls30t64))
fonts-dejavu-core git-doc ?and(?exact-name(debian-policy),?version(.)) debian-reference-en"
DEBS="coreutils|binutils-common|libbinutils|binutils-x86-64-linux-gnu|libpython3.*-minimal|libpython3.*-stdlib|\
groff-base|nano|curl|libgnutls30*|fonts-dejavu-*|git-doc|debian-policy|debian-reference-en"
WEB="git-doc debian-policy debian-reference-en"
SOURCES="lua5.4 zlib"

read_options "$@"
guest_release
begin_image 500

plan()
{
	local name
	build_root
	# shellcheck disable=SC2086 # one word per package
	part_plan ${update:+--update} --without "!($DEBS)" content $ROOTS
	for name in $SOURCES; do
		source_plan ${update:+--update} "content-$name" "$name"
	done
}

# ---- image ----------------------------------------------------------------------

# Print a file as it was before it was packed.
plain() # FILE
{
	case $1 in
	*.gz) gunzip -c "$1" ;;
	*.bz2) bunzip2 -c "$1" ;;
	*.xz) xz -dc "$1" ;;
	*) cat "$1" ;;
	esac
}

build_tree()
{
	local root=$work/root name deb file
	mkdir -p "$root"/{debs,web,src}
	named_files "$work/content.plan" "$work/debs"
	for deb in "$work"/debs/*.deb; do
		if dpkg-deb --ctrl-tarfile "$deb" | tar -t | grep -x './preinst' >/dev/null; then
			echo "${deb##*/} has a preinst script: left out"
		else
			cp -L "$deb" "$root/debs/"
		fi
	done
	for name in $WEB; do
		for deb in "$work/debs/${name}"_*.deb; do
			[ -e "$deb" ] || continue
			mkdir "$work/web-$name"
			dpkg-deb -x "$deb" "$work/web-$name"
			(cd "$work/web-$name" &&
				find . -type f \( -name '*.html' -o -name '*.txt' -o -name '*.txt.gz' \) -print0 |
				LC_ALL=C sort -z | tar -c --null -T -) | tar -x -C "$root/web"
		done
	done
	find "$root/web" -name '*.gz' -exec gunzip {} +
	# Both parts are stored as plain tar files, so that the guest needs no other unpacker.
	for name in $SOURCES; do
		named_files "$work/content-$name.plan" "$work/src-$name"
		for file in "$work/src-$name"/*.orig.tar.*; do plain "$file" >"$root/src/$name.tar"; done
		for file in "$work/src-$name"/*.debian.tar.*; do plain "$file" >"$root/src/$name.debian.tar"; done
	done
	chmod -R u=rwX,go=rX "$root"
	[ "$(find "$root/src" -name '*.tar' -size +0 | wc -l)" = $((2 * $(wc -w <<<"$SOURCES"))) ]
	[ "$(find "$root/debs" -name '*.deb' | wc -l)" -ge 10 ]
}

# ---- all of it --------------------------------------------------------------------

phase content-plan "looking up and fetching packages" plan
take_image
phase content-unpack "unpacking documents and sources" build_tree
phase content-pack "making the image" pack_image
finish_image

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# content.sh [--update] [--force]: make build/guest/content.img (squashfs) and
# build/guest/content.json, which the content workloads ('slate run --content') read.
#
#   --update   look for newer packages; otherwise the first run has chosen the
#              versions
#   --force    make the image again even if nothing changed
#
#   debs/      packages as downloaded, to be installed (pc)
#   web/       HTML and text of documentation packages (web), as one tree
#   src/       source packages: NAME.tar, and NAME.debian.tar with Debian's patches (synth)
#
# All packages are from the archive that this machine already uses (see lib.sh). The same versions
# give the same bytes. If nothing changed, the script returns at once. An interrupted run leaves
# either the old image or the new one. build/guest-cache keeps content-versions and content-files/.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
who=content
package_list=$here/../packages.d/apps.txt
# shellcheck source=host-tools/guest/lib.sh
. "$here/lib.sh"
stamp=$out/.content-stamp
chosen=$cache/content-versions
files=$cache/content-files

# The packages of a small desktop. Those with a preinst script are not allowed, as no program runs it.
PACKAGES="coreutils binutils-common libbinutils binutils-x86-64-linux-gnu libpython3.11-minimal
libpython3.11-stdlib groff-base nano curl libgnutls30 fonts-dejavu-core
git-doc debian-policy debian-reference-en"
WEB="git-doc debian-policy debian-reference-en"
SOURCES="lua5.4 zlib"
MIN_FREE_MB=500

read_options "$@"
begin_image $MIN_FREE_MB

# ---- versions -----------------------------------------------------------------

choose_versions()
{
	local name version
	update_lists
	for name in $PACKAGES; do
		version=$(candidate "$name")
		[ -n "$version" ] || { echo "the package lists offer no $name"; return 1; }
		echo "deb $name $version"
	done >"$work/versions"
	for name in $SOURCES; do
		version=$(source_version "$name")
		[ -n "$version" ] || { echo "the package lists offer no source of $name"; return 1; }
		echo "src $name $version"
	done >>"$work/versions"
	mv "$work/versions" "$chosen"
}

# ---- files --------------------------------------------------------------------

# Print NAME_VERSION without the epoch, as files are named.
stem() { echo "$1_${2#*:}"; }

fetch()
{
	local kind name version
	mkdir -p "$files" "$work/files"
	cd "$work/files"
	[ -d "$apt_state/lists" ] || update_lists
	while read -r kind name version; do
		if [ "$kind" = deb ]; then
			compgen -G "$files/${name}_${version//:/%3a}_*.deb" >/dev/null ||
				apt-get "${apt_options[@]}" download "$name=$version"
		else
			[ -e "$files/$(stem "$name" "$version").dsc" ] ||
				apt-get "${apt_options[@]}" source --download-only "$name=$version"
		fi
	done <"$chosen"
	find . -type f -exec mv {} "$files/" \;
}

# ---- image ----------------------------------------------------------------------

deb_of() # NAME
{
	local kind name version
	while read -r kind name version; do
		[ "$kind $name" = "deb $1" ] || continue
		compgen -G "$files/${name}_${version//:/%3a}_*.deb"
	done <"$chosen"
}

build_tree()
{
	local root=$work/root name version kind deb file out_name
	mkdir -p "$root"/{debs,web,src}
	for name in $PACKAGES; do
		deb=$(deb_of "$name")
		if dpkg-deb --ctrl-tarfile "$deb" | tar -t | grep -x './preinst'; then
			echo "$deb has a preinst script: choose another package (PACKAGES in content.sh)"
			return 1
		fi
		cp "$deb" "$root/debs/"
	done
	for name in $WEB; do
		mkdir "$work/web-$name"
		dpkg-deb -x "$(deb_of "$name")" "$work/web-$name"
		(cd "$work/web-$name" && find . -type f \( -name '*.html' -o -name '*.txt' -o -name '*.txt.gz' \) -print0 |
			LC_ALL=C sort -z | tar -c --null -T -) | tar -x -C "$root/web"
		rm -rf "${work:?}/web-$name"
	done
	find "$root/web" -name '*.gz' -exec gunzip {} +
	while read -r kind name version; do
		[ "$kind" = src ] || continue
		# Both parts are stored as plain tar files, so that the guest needs no other unpacker.
		for file in "$files/${name}_"*.orig.tar.* "$files/$(stem "$name" "$version").debian.tar."*; do
			case $file in
			*.asc) continue ;;
			*.orig.tar.*) out_name=$name.tar ;;
			*) out_name=$name.debian.tar ;;
			esac
			case $file in
			*.gz) gunzip -c "$file" ;;
			*.bz2) bunzip2 -c "$file" ;;
			*) xz -dc "$file" ;;
			esac >"$root/src/$out_name"
		done
	done <"$chosen"
	chmod -R u=rwX,go=rX "$root"
	[ "$(find "$root/src" -name '*.tar' -size +0 | wc -l)" = $((2 * $(wc -w <<<"$SOURCES"))) ]
}

# ---- all of it --------------------------------------------------------------------

if [ -n "$update" ] || [ ! -e "$chosen" ]; then
	phase content-versions "looking up packages" choose_versions
fi
take_image
phase content-fetch "fetching what is missing" fetch
phase content-unpack "unpacking documents and sources" build_tree
phase content-pack "making the image" pack_image
finish_image

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# apps.sh [--update] [--force]: make the image of applications, build/guest/apps.img
# (squashfs) and build/guest/apps.json, for 'slate run --app' and '--apps'.
#
#   --update   look for newer packages; otherwise the first run has chosen the
#              versions
#   --force    make the image again even if nothing changed
#
# The image is the root of a small Debian: PACKAGES below and all that they depend on, from the
# archive that this machine already uses (see lib.sh), unpacked but not configured: no maintainer
# script has run. Order, owner and times are fixed, so the same versions give the same bytes.
#
# The suites of tests/guest also find fsstress (e2fsprogs) and nvme-cli's tests in it, which come
# from source packages.
#
# If nothing changed, the script returns at once. An interrupted run leaves either the old image
# or the new one. build/guest-cache keeps:
#   apps-versions-HASH   name and version of every package in use ("src" before those of a
#                        source), for this list of packages and this kernel
#   apps-debs/           as downloaded
#
# MODULES of the guest's kernel (build.sh unpacked it) are in the image, too: md, device mapper
# and Btrfs, which the guest's initramfs does without.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
who=apps
package_list=$here/../packages.d/apps.txt
# shellcheck source=host-tools/guest/lib.sh
. "$here/lib.sh"
stamp=$out/.apps-stamp
debs=$cache/apps-debs
also=$cache/versions # of the kernel

# The image has these packages and their dependencies.
PACKAGES="stress-ng dbench bonnie++ fsmark sysbench postgresql-15 sqlite3 rocksdb-tools git gcc libc6-dev make patch dpkg tar
python3-minimal libpython3-stdlib dash coreutils sed grep findutils gzip diffutils mawk
mdadm lvm2 dmsetup btrfs-progs kmod nvme-cli"
SOURCES="e2fsprogs nvme-cli"
MODULES="md_mod linear raid0 raid1 raid10 raid456 dm_mod btrfs"
# The image goes without these dependencies, which no job uses: PostgreSQL's JIT (off), stress-ng's graphics, maintainer
# scripts and their tools, sanitizers, Perl's library (git's and PostgreSQL's core programs are C).
LEAVE_OUT="libegl-mesa0 libgl1-mesa-dri libllvm15 libsensors5 libsensors-config libdrm-amdgpu1
libdrm-intel1 libdrm-nouveau2 libdrm-radeon1 libpciaccess0 libllvm14 libz3-4 locales libc-l10n perl perl-modules-5.36 libperl5.36 usrmerge
init-system-helpers sysvinit-utils lsb-base debconf adduser passwd ucf ssl-cert openssl
postgresql-common postgresql-client-common libjson-perl libnumber-compare-perl
libtext-glob-perl libfile-find-rule-perl liberror-perl sensible-utils netbase
uuid-runtime libpam-modules libpam-modules-bin libasan8 liblsan0 libtsan2 libubsan1 libitm1 libquadmath0
libgprofng0 libtirpc-dev libnsl-dev rpcsvc-proto git-man udev dmeventd"
# No job opens these files: documents, network transports, link-time optimisation.
PRUNE="usr/share/doc usr/share/man usr/share/info usr/share/locale usr/share/lintian
usr/share/bug usr/share/zoneinfo/right usr/share/zoneinfo/posix usr/share/gitweb var/lib/gitweb
usr/lib/postgresql/15/lib/bitcode usr/lib/postgresql/15/lib/llvmjit.so
usr/lib/postgresql/15/lib/llvmjit_types.bc usr/lib/gcc/x86_64-linux-gnu/12/lto1
usr/lib/gcc/x86_64-linux-gnu/12/libasan.a usr/lib/gcc/x86_64-linux-gnu/12/libtsan.a
usr/lib/gcc/x86_64-linux-gnu/12/libubsan.a usr/lib/gcc/x86_64-linux-gnu/12/liblsan.a
usr/bin/x86_64-linux-gnu-lto-dump-12 usr/bin/x86_64-linux-gnu-dwp usr/bin/x86_64-linux-gnu-ld.gold
usr/bin/scalar usr/bin/git-shell usr/lib/git-core/git-remote-http usr/lib/git-core/git-http-push
usr/lib/git-core/git-http-fetch usr/lib/git-core/git-http-backend usr/lib/git-core/git-imap-send
usr/lib/git-core/git-daemon usr/lib/git-core/git-shell"
MIN_FREE_MB=1200

read_options "$@"
[ -e "$cache/versions" ] || die "no kernel version has been chosen yet: run 'make guest'"
# shellcheck disable=SC2086 # one word per package
chosen=$cache/apps-versions-$(echo $PACKAGES $SOURCES $LEAVE_OUT "$(grep '^kernel' "$cache/versions")" | key)
begin_image $MIN_FREE_MB

# ---- versions -----------------------------------------------------------------

# Print apt's plan for PACKAGES, as if no package were installed.
resolve()
{
	: >"$work/status"
	# shellcheck disable=SC2086 # one word per package
	apt-get "${apt_options[@]}" -o "Dir::State::status=$work/status" \
		--no-install-recommends --simulate install $PACKAGES
}

choose_versions()
{
	local name version
	if [ -n "$update" ] || [ ! -d "$apt_state/lists" ]; then update_lists; fi
	# Old lists may name files that the archive no longer has; then take new ones.
	resolve >"$work/plan" || { update_lists && resolve >"$work/plan"; }
	cat "$work/plan"
	# Inst NAME (VERSION ORIGIN [ARCH])
	# shellcheck disable=SC2086 # words
	sed -nE 's/^Inst ([^ ]+) \(([^ ]+) .*/\1 \2/p' "$work/plan" |
		grep -vxE "($(echo $LEAVE_OUT | tr ' ' '|')) .*" | LC_ALL=C sort >"$work/apps-versions"
	[ "$(wc -l <"$work/apps-versions")" -gt 40 ] || {
		echo "the resolver found only $(wc -l <"$work/apps-versions") packages"
		return 1
	}
	for name in $SOURCES; do
		version=$(source_version "$name")
		[ -n "$version" ] || { echo "the package lists offer no source of $name"; return 1; }
		echo "src $name $version"
	done >>"$work/apps-versions"
	rm -f "$cache"/apps-versions*
	mv "$work/apps-versions" "$chosen"
}

chosen_debs() { grep -v '^src ' "$chosen"; }
source_of() { awk -v name="$1" '$1 == "src" && $2 == name { print $3 }' "$chosen"; } # NAME: its version
dsc_of() { echo "$debs/$1_$(source_of "$1" | sed 's/^[0-9]*://').dsc"; }           # NAME: its file

# ---- packages -------------------------------------------------------------------

# Print the package's file, if it exists.
deb_of() # NAME VERSION
{
	local file
	for file in "$debs/$1_${2//:/%3a}"_{amd64,all}.deb; do
		[ ! -e "$file" ] || echo "$file"
	done
}

missing_packages()
{
	local name version
	while read -r name version; do
		[ -n "$(deb_of "$name" "$version")" ] || echo "$name=$version"
	done < <(chosen_debs)
}

fetch() # NAME=VERSION...
{
	mkdir -p "$debs" "$work/debs"
	cd "$work/debs"
	apt-get "${apt_options[@]}" download "$@" || { update_lists && apt-get "${apt_options[@]}" download "$@"; }
	mv ./*.deb "$debs/"
}

# Download a source package. Its .dsc is moved last: if it exists, all its files do.
fetch_source() # NAME
{
	mkdir -p "$debs" "$work/source"
	cd "$work/source"
	apt-get "${apt_options[@]}" source --download-only "$1=$(source_of "$1")"
	find . -type f ! -name '*.dsc' -exec mv {} "$debs/" \;
	mv ./*.dsc "$debs/"
}

# Remove the files of versions that are no longer in use.
forget_old()
{
	local file name version
	while read -r name version; do
		deb_of "$name" "$version"
	done < <(chosen_debs) | sort >"$work/used"
	find "$debs" -name '*.deb' | sort | comm -23 - "$work/used" | while read -r file; do
		rm -f "$file"
	done
}

# ---- image ------------------------------------------------------------------------

# Make what maintainer scripts would have made.
base_tree() # ROOT
{
	local root=$1 name
	mkdir -p "$root"/{dev,proc,sys,run,tmp,root,etc,job,mnt/ssd} \
		"$root"/{var/tmp,var/lib/dpkg/info,var/lib/dpkg/updates,usr/bin,usr/sbin,usr/lib,usr/lib64}
	for name in bin sbin lib lib64; do
		ln -s "usr/$name" "$root/$name"
	done
	printf '%s\n' 'root:x:0:0:root:/root:/bin/sh' 'postgres:x:101:101:postgres:/tmp:/bin/sh' >"$root/etc/passwd"
	printf '%s\n' 'root:x:0:' 'postgres:x:101:' >"$root/etc/group"
	echo '127.0.0.1 localhost' >"$root/etc/hosts"
	printf '%s\n' 'passwd: files' 'group: files' 'hosts: files' >"$root/etc/nsswitch.conf"
	: >"$root/var/lib/dpkg/status"
	chmod 1777 "$root/tmp" "$root/var/tmp"
}

unpack()
{
	local root=$work/root name version path
	mkdir "$root"
	base_tree "$root"
	while read -r name version; do
		dpkg-deb --fsys-tarfile "$(deb_of "$name" "$version")" |
			tar -x -C "$root" --keep-directory-symlink --no-same-owner --no-same-permissions || return 1
	done < <(chosen_debs)
	for path in $PRUNE; do
		rm -rf "${root:?}/$path"
	done
	ln -s mawk "$root/usr/bin/awk"
	ln -sf gcc "$root/usr/bin/cc"
	for name in initdb postgres pg_ctl pgbench psql; do
		ln -s "../lib/postgresql/15/bin/$name" "$root/usr/bin/$name"
	done
}

# Copy programs and tests of source packages unchanged.
add_suites()
{
	local tests=$work/root/usr/share/nvme-cli/tests
	dpkg-source --no-check -x "$(dsc_of e2fsprogs)" "$work/e2fsprogs"
	gcc -O2 -w -static -s -Wl,--build-id=none -ffile-prefix-map="$work"=. \
		-o "$work/root/usr/bin/fsstress" "$work/e2fsprogs/contrib/fsstress.c"
	dpkg-source --no-check -x "$(dsc_of nvme-cli)" "$work/nvme-cli"
	mkdir -p "$tests"
	cp "$work"/nvme-cli/tests/{*.py,config.json} "$tests/"
}

# Put the modules where depmod and modprobe look for them.
add_modules()
{
	local kernel='' kernel_version='' release file from=$work/kernel
	# shellcheck source=/dev/null
	. "$cache/versions"
	file=$cache/${kernel}_${kernel_version//:/%3a}_amd64.deb
	[ -e "$file" ] || fetch_anew "$kernel" "$kernel_version"
	dpkg -x "$file" "$from"
	[ -d "$from/lib/modules" ] || ln -s usr/lib "$from/lib"
	release=$(ls "$from/lib/modules")
	depmod -b "$from" "$release"
	for file in $MODULES; do
		modprobe -d "$from" -S "$release" --show-depends "$file" || return 1
	done | awk '$1 == "insmod" { print $2 }' | sort -u | while read -r file; do
		install -D -m 644 "$file" "$work/root/usr/lib/modules/$release/${file#*/lib/modules/*/}" || return 1
	done
	cp "$from/lib/modules/$release"/modules.{builtin,builtin.modinfo,order} "$work/root/usr/lib/modules/$release/"
	depmod -b "$work/root" "$release"
	rm -rf "$from"
}

# Every program that the jobs run must find its libraries inside.
check_tree()
{
	local program loader=$work/root/usr/lib64/ld-linux-x86-64.so.2 bad=0
	for program in bin/{sysbench,postgres,initdb,pgbench,psql,sqlite3,db_bench,git,gcc,make,patch,dpkg} \
		bin/{tar,python3.11,awk,dash,btrfs,kmod} sbin/{mdadm,lvm,dmsetup,nvme}; do
		program=$work/root/usr/$program
		[ -e "$program" ] || { echo "not in the image: ${program#"$work/root"}"; bad=1; continue; }
		"$loader" --library-path "$work/root/usr/lib/x86_64-linux-gnu" --list "$program" >"$work/ldd" 2>&1 || bad=1
		! grep -F -e 'not found' -e 'cannot open shared' "$work/ldd" || { echo "  ... of $program"; bad=1; }
	done
	return $bad
}

# ---- all of it --------------------------------------------------------------------

# A list that lacks one of PACKAGES is made anew.
is_listed()
{
	local name
	for name in $PACKAGES; do
		grep -q "^$name " "$chosen" || return 1
	done
}

if [ -n "$update" ] || [ ! -e "$chosen" ] || ! is_listed; then
	phase apps-versions "looking up packages" choose_versions
fi
take_image
mapfile -t wanted < <(missing_packages)
[ ${#wanted[@]} -eq 0 ] || phase apps-fetch "fetching ${#wanted[@]} packages" fetch "${wanted[@]}"
for source in $SOURCES; do
	[ -e "$(dsc_of "$source")" ] || phase "apps-fetch-$source" "fetching the source of $source" fetch_source "$source"
done
forget_old
phase apps-unpack "unpacking $(chosen_debs | wc -l) packages" unpack
phase apps-suites "building fsstress, and nvme-cli's tests" add_suites
phase apps-modules "adding modules of the kernel" add_modules
phase apps-check "checking their libraries" check_tree
phase apps-pack "making the image" pack_image
finish_image

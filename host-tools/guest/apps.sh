#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# apps.sh [--update] [--force]: make the image of applications, apps.img (squashfs) and
# apps.json, for 'slate run --app' and '--apps'.
#
#   --update   look for newer packages; otherwise the guest's lock has the versions
#   --force    make the image again even if nothing changed
#
# The image is the root of a small Debian of the guest's release: PACKAGES below and all that they
# depend on, unpacked but not configured: no maintainer script has run. Order, owner and times are
# fixed, so the same versions give the same bytes.
#
# The suites of tests/guest also find fsstress (e2fsprogs) and nvme-cli's tests in it, which come
# from source packages.
#
# If nothing changed, the script returns at once. An interrupted run leaves either the old image
# or the new one.
#
# MODULES of the guest's kernel are in the image, too: md, device mapper, bcache and Btrfs, which the guest's initramfs
# does without. What a kernel does not have is named, and the image made without it.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
who=apps
package_list=$here/../packages.d/apps.txt
# shellcheck source=host-tools/guest/lib.sh
. "$here/lib.sh"
more_parts="kernel build"

# The image has these packages and their dependencies. Releases before 13 have no zonefs-tools.
PACKAGES="stress-ng dbench bonnie++ fsmark sysbench postgresql sqlite3 rocksdb-tools git gcc libc6-dev make patch dpkg
tar python3-minimal libpython3-stdlib dash coreutils sed grep findutils gzip diffutils mawk
mdadm lvm2 dmsetup bcache-tools btrfs-progs xfsprogs f2fs-tools ?exact-name(zonefs-tools) kmod nvme-cli"
SOURCES="e2fsprogs nvme-cli"
# Each with its option of the kernel.
MODULES="md_mod:BLK_DEV_MD raid0:MD_RAID0 raid1:MD_RAID1 raid10:MD_RAID10 raid456:MD_RAID456 dm_mod:BLK_DEV_DM
dm_crypt:DM_CRYPT xts:CRYPTO_XTS bcache:BCACHE btrfs:BTRFS_FS"
# The image goes without these dependencies, which no job uses: PostgreSQL's JIT (off), stress-ng's graphics, maintainer
# scripts and their tools, services, sanitizers, Perl (git's and PostgreSQL's core programs are C).
LEAVE_OUT="libegl-mesa* libgl1-mesa* mesa-* libllvm* libz3-* libsensors-config libdrm-amdgpu* libdrm-intel*
libdrm-nouveau* libdrm-radeon*
libpciaccess* pci.ids libx11-6 libx11-data libwayland-client* libglib2.0-* libdbus-1-dev python3-dbus
locales libc-l10n perl perl-base perl-modules-* libperl* *-perl usrmerge init-system-helpers sysvinit-utils lsb-base
debconf debianutils libdebconfclient0 adduser base-passwd passwd login.defs libsemanage* ucf ssl-cert openssl*
postgresql-common* postgresql-client-common sensible-utils netbase uuid-runtime libpam-modules* mount procps libproc2-*
systemd libsystemd-shared libseccomp* udev dmeventd mariadb-common mysql-common
libasan* libhwasan* liblsan* libtsan* libubsan* libitm* libquadmath* libgprofng* libtirpc-dev libnsl-dev
rpcsvc-proto git-man"
# No job opens these files: documents, network transports, link-time optimisation.
PRUNE="usr/share/{doc,man,info,locale,lintian,bug,gitweb} usr/share/zoneinfo/{right,posix} var/lib/gitweb
usr/lib/postgresql/*/lib/{bitcode,llvmjit*} usr/lib*/gcc/*/*/{lto1,lib*san.a} usr/bin/*-{lto-dump*,dwp,ld.gold}
usr/bin/{scalar,git-shell} usr/lib/git-core/git-{remote-http,http-push,http-fetch,http-backend,imap-send,daemon,shell}"
# The jobs run these programs.
PROGRAMS="sysbench postgres initdb pgbench psql pg_ctl sqlite3 db_bench git gcc cc ld as make patch dpkg tar python3
awk dash btrfs mkfs.btrfs
kmod mdadm lvm dmsetup make-bcache nvme mkfs.xfs xfs_io mkfs.f2fs stress-ng dbench bonnie++ fs_mark fsstress"

read_options "$@"
guest_release
begin_image 1200

# ---- image ------------------------------------------------------------------------

plan()
{
	local name
	build_root
	# shellcheck disable=SC2086 # one word per package
	part_plan ${update:+--update} --without "$LEAVE_OUT" apps $PACKAGES
	for name in $SOURCES; do
		source_plan ${update:+--update} --tarball "apps-$name" "$name"
	done
}

unpack()
{
	local root=$work/root path
	unpack_plan "$work/apps.plan" "$root"
	rmdir "$root/slate-build" "$root/ccache"
	mkdir -p "$root/job" "$root/mnt/ssd"
	echo 'postgres:x:101:101:postgres:/tmp:/bin/sh' >>"$root/etc/passwd"
	echo 'postgres:x:101:' >>"$root/etc/group"
	echo '127.0.0.1 localhost' >"$root/etc/hosts"
	printf '%s\n' 'passwd: files' 'group: files' 'hosts: files' >"$root/etc/nsswitch.conf"
	(cd "$root" && eval "rm -rf $(tr '\n' ' ' <<<"$PRUNE")")
	for path in "$root"/usr/lib/postgresql/*/bin/{initdb,postgres,pg_ctl,pgbench,psql}; do
		ln -sf "../${path#"$root/usr/"}" "$root/usr/bin/${path##*/}"
	done
}

# Copy programs and tests of source packages unchanged.
add_suites()
{
	local tests=$work/root/usr/share/nvme-cli/tests
	unpack_source "$work/apps-e2fsprogs.plan" "$work/e2fsprogs"
	in_root "$work/build" "$work" gcc -O2 -w -static -s -Wl,--build-id=none \
		-o root/usr/bin/fsstress e2fsprogs/contrib/fsstress.c
	unpack_source "$work/apps-nvme-cli.plan" "$work/nvme-cli"
	mkdir -p "$tests"
	cp "$work"/nvme-cli/tests/{*.py,config.json} "$tests/"
}

# Put the modules where depmod and modprobe look for them.
add_modules()
{
	local release
	unpack_plan "$work/kernel.plan" "$work/kernel"
	release=$(ls "$work/kernel/usr/lib/modules")
	# shellcheck disable=SC2016,SC2086 # for the inner shell; one word per module
	in_root "$work/build" "$work" sh -euc '
		release=$1
		shift
		depmod -b kernel "$release"
		mkdir -p "root/usr/lib/modules/$release"
		for word in "$@"; do
			modprobe -d kernel -S "$release" --show-depends "${word%:*}" || echo "${word%:*} (CONFIG_${word#*:})" >>lacks
		done >all
		sed -n "s,^insmod .*/lib/modules/,usr/lib/modules/,p" all | sort -u | sed "s/ *$//" |
			tar -C kernel -c -T - | tar -C root -x --no-same-owner
		find root/usr/lib/modules -name "*.xz" -exec xz -d {} +
		find root/usr/lib/modules -name "*.zst" -exec zstd -dq --rm {} +
		for name in builtin builtin.modinfo order; do
			cp "kernel/usr/lib/modules/$release/modules.$name" "root/usr/lib/modules/$release/"
		done
		depmod -b root "$release"' sh "$release" $MODULES
	[ ! -s "$work/lacks" ] || note "the kernel $release has neither as a module nor built in, so the image goes without:" \
		"$(paste -sd, "$work/lacks" | sed 's/,/, /g')"
	rm -rf "$work/kernel"
}

# Every program that the jobs run must find its libraries inside.
check_tree()
{
	local program path root=$work/root bad=0
	for program in $PROGRAMS; do
		path=$(cd "$root" && readlink -e "usr/bin/$program" "usr/sbin/$program" | head -n 1) || true
		case $path in
		"$(readlink -f "$root")"/*) ;;
		*) echo "not in the image: $program" && bad=1 && continue ;;
		esac
		grep -qaF /lib64/ld-linux "$path" || continue # a script, or static
		"$root/usr/lib64/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/x86_64-linux-gnu" --list "$path" \
			>"$work/ldd" 2>&1 || bad=1
		! grep -F -e 'not found' -e 'cannot open shared' "$work/ldd" || { echo "  ... of $program"; bad=1; }
	done
	return $bad
}

# ---- all of it --------------------------------------------------------------------

have_locked kernel
phase apps-plan "looking up and fetching packages" plan
take_image
phase apps-unpack "unpacking $(wc -l <"$work/apps.plan") packages" unpack
phase apps-suites "building fsstress, and nvme-cli's tests" add_suites
phase apps-modules "adding modules of the kernel" add_modules
phase apps-check "checking their libraries" check_tree
phase apps-pack "making the image" pack_image
finish_image

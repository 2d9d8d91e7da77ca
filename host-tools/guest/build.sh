#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# build.sh [--update] [--force]: make the guest, build/guest/{vmlinux,initrd.lz4,guest.json}.
#
#   --update   look for newer packages (kernel, fio); otherwise the first run
#              has chosen the versions
#   --force    make the initramfs again even if nothing changed
#
# Kernel and fio come from the Debian archive this machine already uses (see lib.sh).
# The other programs in the guest are copied from this machine.
#
# The script returns at once if scripts, package versions, host files and
# outputs are as they were.  Every product is made under a temporary name and
# renamed when whole, so an interrupted run leaves either the old or the new one.
#
# build/guest-cache keeps:
#   versions              kernel package, kernel version, fio version in use
#   kernel-VER-HASH/      vmlinux, release, modules/ (those of MODULES, with modules.dep)
#   fio-VER-HASH          the static fio
#   *.deb, *.dsc, *.tar.* as downloaded
# Other clones take fio from ${XDG_CACHE_HOME:-~/.cache}/slate.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
who=guest
package_list=$here/../packages.d/guest.txt
# shellcheck source=host-tools/guest/lib.sh
. "$here/lib.sh"
stamp=$out/.stamp
host_files=$out/.host-files

# These programs of the host go into the guest.  busybox supplies the rest.
TOOLS="nvme mkfs.ext4 e2fsck mkfs.xfs xfs_repair mkfs.f2fs fsck.f2fs blkdiscard blkzone
fstrim lsblk blockdev blktrace blkparse dd sync sha256sum md5sum dash"
# These kernel modules go into the guest, with their dependencies.
MODULES="nvme ext4 xfs f2fs zonefs crc32c_generic crc32c_intel crc32_generic loop
virtio_pci virtio_blk virtio_scsi virtio_console sd_mod 9p 9pnet_virtio squashfs overlay nd_e820 nd_pmem null_blk"
SCRIPTS="build.sh lib.sh build-fio.sh mkroot.py cpio.py extract-vmlinux.py init run-fio.sh in-apps.sh slate-mark.c slate-mark.h"
# CMake builds these programs for the guest.
OURS="slate-load slatectl"
MIN_FREE_MB=1000

read_options "$@"

ours=() # their files
for name in $OURS; do
	ours+=("$repo/build/core/$name")
done

# ---- is there anything to do? ----------------------------------------------

# Print one hash of all inputs and of the outputs.
current_stamp()
{
	{
		echo "$versions"
		# shellcheck disable=SC2086 # one word per script
		(cd "$here" && cat -- $SCRIPTS)
		cat "$cache/versions" "$host_files" "${ours[@]}"
		xargs -a "$host_files" stat -c '%n %s %Y'
		(cd "$out" && stat -c '%n %s %Y' vmlinux initrd.lz4 guest.json)
	} 2>/dev/null | sha256sum
}

versions=$(installed_versions)
if [ -z "$update$force" ] && [ -e "$stamp" ] && [ "$(<"$stamp")" = "$(current_stamp)" ]; then
	exit 0
fi

# ---- what can be checked before starting -----------------------------------

need_packages
for file in "${ours[@]}"; do
	[ -x "$file" ] || die "${file#"$repo/"} is not built: 'make core' builds it"
done
if ! take_lock && [ -z "$update$force" ] && [ -e "$stamp" ] && [ "$(<"$stamp")" = "$(current_stamp)" ]; then
	exit 0
fi
need_space $MIN_FREE_MB
make_work

# ---- versions -------------------------------------------------------------------

choose_versions()
{
	local kernel kernel_version fio_version
	update_lists
	kernel=$(apt-cache "${apt_options[@]}" depends --important linux-image-amd64 |
		awk '$1 == "Depends:" && $2 ~ /^linux-image-/ { print $2; exit }')
	kernel_version=$([ -z "$kernel" ] || candidate "$kernel")
	fio_version=$(candidate fio)
	if [ -z "$kernel_version" ] || [ -z "$fio_version" ]; then
		echo "the package lists offer no linux-image-amd64 or no fio"
		return 1
	fi
	printf '%s\n' "kernel=$kernel" "kernel_version=$kernel_version" \
		"fio_version=$fio_version" >"$work/versions"
	mv "$work/versions" "$cache/versions"
}

# ---- kernel ---------------------------------------------------------------------

unpack_kernel() # DIR
{
	local dir=$1 root=$work/kernel-root release f m
	mkdir -p "$dir/modules"
	dpkg -x "$cache/${kernel}_${kernel_version//:/%3a}_amd64.deb" "$root"
	[ -d "$root/lib/modules" ] || ln -s usr/lib "$root/lib"
	release=$(cd "$root/boot" && echo vmlinuz-*)
	release=${release#vmlinuz-}
	"$here/extract-vmlinux.py" "$root/boot/vmlinuz-$release" "$dir/vmlinux"
	echo "$release" >"$dir/release"
	depmod -b "$root" "$release"
	for m in $MODULES; do
		modprobe -d "$root" -S "$release" --show-depends "$m" || return 1
	done | awk '$1 == "insmod" { print $2 }' | sort -u >"$work/modules"
	while read -r f; do
		install -D -m 644 "$f" "$work/m/lib/modules/$release/${f#*/lib/modules/*/}"
	done <"$work/modules"
	# busybox cannot load compressed modules, and would be slow at it
	find "$work/m" -name '*.ko.xz' -exec xz -d {} +
	find "$work/m" -name '*.ko.zst' -exec zstd -dq --rm {} +
	cp "$root/lib/modules/$release"/modules.{builtin,builtin.modinfo,order} \
		"$work/m/lib/modules/$release/"
	depmod -b "$work/m" "$release"
	# busybox's modprobe reads only the text files.
	(cd "$work/m/lib/modules/$release" && cp -r kernel modules.dep modules.alias modules.builtin \
		modules.softdep modules.symbols "$dir/modules/")
	rm -rf "$root" "$work/m"
}

# ---- fio --------------------------------------------------------------------------

fetch_fio()
{
	cd "$work"
	apt-get "${apt_options[@]}" source --download-only "fio=$fio_version"
	# The .dsc is moved last: if it exists, all of them do.
	mv ./fio_*.tar.* "$cache/"
	mv ./*.dsc "$cache/"
}

build_fio() # OUT
{
	"$here/build-fio.sh" "$cache/fio_${fio_version#*:}.dsc" "$work" "$1"
}

# ---- initramfs --------------------------------------------------------------------

build_initrd()
{
	local name programs=()
	gcc -std=gnu11 -O2 -Wall -Wextra -static -s -Wl,--build-id=none \
		-ffile-prefix-map="$here"=. -o "$work/slate-mark" "$here/slate-mark.c"
	for name in $OURS; do
		strip -o "$work/$name" "$repo/build/core/$name"
		programs+=("usr/bin/$name=$work/$name")
	done
	"$here/mkroot.py" --out "$work/initrd" --list "$work/host-files" \
		--modules "$kernel_dir/modules" --release "$(<"$kernel_dir/release")" \
		--tools "$TOOLS" usr/bin/fio="$fio" usr/bin/slate-mark="$work/slate-mark" \
		usr/bin/run-fio="$here/run-fio.sh" \
		usr/bin/in-apps="$here/in-apps.sh" init="$here/init" "${programs[@]}"
	# -l writes the format that the kernel reads. Of its formats, lz4 boots fastest.
	lz4 -l -9 -q -f "$work/initrd" "$work/initrd.lz4"
	grep -v -e "^$cache/" -e "^$here/" "$work/host-files" >"$work/host-files.keep"
}

install_outputs()
{
	cd "$work"
	cp "$kernel_dir/vmlinux" vmlinux
	{
		echo '{'
		echo "  \"kernel\": \"$(<"$kernel_dir/release")\","
		echo "  \"fio\": \"$fio_version\","
		echo '  "packages": {'
		printf '%s\n' "$kernel $kernel_version" "$versions" |
			sed -E 's/(.*) (.*)/    "\1": "\2",/; $s/,$//'
		echo '  },'
		echo '  "sha256": {'
		sha256sum initrd.lz4 vmlinux | sed -E 's/([0-9a-f]+)  (.*)/    "\2": "\1",/; $s/,$//'
		echo '  }'
		echo '}'
	} >guest.json
	rm -f "$stamp"
	mv vmlinux initrd.lz4 guest.json "$out/"
	mv host-files.keep "$host_files"
}

# ---- all of it ----------------------------------------------------------------------

if [ -n "$update" ] || [ ! -e "$cache/versions" ]; then
	phase apt "looking up packages" choose_versions
fi
# shellcheck source=/dev/null
. "$cache/versions"

kernel_dir=$cache/kernel-$kernel_version-$({ echo "$kernel $MODULES"; declare -f unpack_kernel; cat "$here/extract-vmlinux.py"; } | key)
if [ ! -d "$kernel_dir" ]; then
	[ -e "$cache/${kernel}_${kernel_version//:/%3a}_amd64.deb" ] ||
		phase kernel-fetch "fetching $kernel $kernel_version" fetch_package "$kernel" "$kernel_version"
	phase kernel "unpacking the kernel" unpack_kernel "$work/kernel"
	mv -T "$work/kernel" "$kernel_dir"
fi

fio=$cache/fio-$fio_version-$({ cat "$here/build-fio.sh"; grep -E '^(gcc|libaio-dev|libc6-dev|zlib1g-dev) ' <<<"$versions"; } | key)
if [ ! -e "$fio" ] && take_shared "${fio##*/}" "$work/taken"; then
	mv "$work/taken/fio.bin" "$fio"
elif [ ! -e "$fio" ]; then
	[ -e "$cache/fio_${fio_version#*:}.dsc" ] ||
		phase fio-fetch "fetching the source of fio $fio_version" fetch_fio
	phase fio "building fio $fio_version" build_fio "$work/fio.bin"
	share "${fio##*/}" "$work/fio.bin"
	mv -T "$work/fio.bin" "$fio"
fi

phase initrd "making the initramfs" build_initrd
install_outputs
current_stamp >"$stamp"
say "ready: kernel $(<"$kernel_dir/release"), fio $fio_version, initrd.lz4 $(($(stat -c %s "$out/initrd.lz4") / 1000000)) MB"

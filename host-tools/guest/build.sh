#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# build.sh [--update] [--force]: make a guest, build/guest/NAME/{vmlinux,root.lz4,modules.lz4,firmware,guest.json,fio,programs,
# lock}.
#
#   --update   look for newer packages (kernel, programs, fio); otherwise those of the lock stay
#   --force    make root and modules again even if nothing changed
#
# All that is in the guest comes from its Debian release (lib.sh and debian.sh), nothing from this machine: equal
# locks give equal bytes on every host. Our own programs and fio are compiled in the release's own root.
#
# The script returns at once if scripts, sources, lock and outputs are as they were. Every product is made under a
# temporary name and renamed when whole, so an interrupted run leaves either the old or the new one.
#
# build/guest-cache keeps kernel-HASH/ (vmlinux, release, modules/: those of MODULES, with modules.dep). Other clones
# take fio and the root from ${XDG_CACHE_HOME:-~/.cache}/slate, and all files that come from the archive.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
who=guest
package_list=$here/../packages.d/guest.txt
# shellcheck source=host-tools/guest/lib.sh
. "$here/lib.sh"
stamp=$out/.stamp

# These programs go into the guest.  busybox supplies the rest.
TOOLS="nvme mkfs.ext4 e2fsck mkfs.xfs xfs_repair mkfs.f2fs fsck.f2fs blkdiscard blkzone
fstrim lsblk blockdev blktrace blkparse dd sync sha256sum md5sum dash"
# These kernel modules go into the guest, with their dependencies. Those of MODULES that a kernel has not are left out;
# those of NEEDED it has as modules or built in.
NEEDED="nvme virtio_pci virtio_blk ext4"
MODULES="xfs f2fs zonefs crc32c_generic crc32c_intel crc32_generic loop virtio_scsi virtio_console sd_mod 9p 9pnet_virtio
squashfs overlay nd_e820 nd_pmem null_blk"
SCRIPTS="build.sh lib.sh build-fio.sh programs.sh mkroot.py cpio.py extract-vmlinux.py init run-fio.sh in-apps.sh slate-fs.sh
steps.sh"
# Our programs are made of these folders.
SOURCES="host-tools/load host-tools/ctl host-tools/trace host-tools/libslate host-tools/guest nand-emu ftl/common"
OURS="slate-load slatectl slate-mark" # in the guest; the others, 'slate' sends when it needs them
# The firmware of the emulated PC, of these packages: what QEMU loads for a kernel, an ELF or a bzImage.
FIRMWARE_PACKAGES="seabios qemu-system-data"
FIRMWARE="bios-256k.bin kvmvapic.bin linuxboot_dma.bin pvh.bin"
MIN_FREE_MB=1000

read_options "$@"

# ---- is there anything to do? ----------------------------------------------

# Print the files of which our programs are made.
# shellcheck disable=SC2086 # one word per folder
our_sources() { (cd "$repo" && find $SOURCES -maxdepth 1 -name '*.[ch]' | LC_ALL=C sort); }

# Print one hash of all inputs and of the outputs.
current_stamp()
{
	{
		# shellcheck disable=SC2086 # one word per script
		(cd "$here" && cat -- $SCRIPTS ../debian.sh)
		(cd "$repo" && our_sources | xargs cat)
		cat "$lock"
		(cd "$out" && stat -c '%n %s %Y' vmlinux root.lz4 modules.lz4 firmware guest.json fio programs)
	} 2>/dev/null | sha256sum
}

is_done() { [ -z "$update$force" ] && [ -e "$stamp" ] && [ "$(<"$stamp")" = "$(current_stamp)" ]; }

! is_done || exit 0
versions=$(installed_versions)
need_packages
take_lock || true
! is_done || exit 0
guest_release
need_space $MIN_FREE_MB
make_work
# A name that is no release is refused before the guest has a folder.
[ -e "$lock" ] || have_lists || phase release "looking for Debian's $suite" update_lists
mkdir -p "$out"
lock_word release >"$work/old" || set_lock_word release "$release"

# ---- the root -------------------------------------------------------------------

has_program() # PROGRAM
{
	compgen -G "$work/build/usr/*bin/$1" >/dev/null
}

# Print the package of this release that has the program. The release's list of all files is fetched for that.
package_of() # PROGRAM
{
	local index=-oAcquire::IndexTargets::deb::Contents-deb:: list
	exec 8>"$apt_state/.lock"
	flock 8
	# shellcheck disable=SC2016 # apt's words
	apt-get "${apt_options[@]}" "$index"'MetaKey=$(COMPONENT)/Contents-amd64' \
		"$index"'ShortDescription=Contents' "$index"'Description=$(RELEASE)/$(COMPONENT) Contents' -q update >&2 8>&- || true
	exec 8>&-
	compgen -G "$apt_state/lists/*_dists_${suite}_*Contents-amd64*" >/dev/null || {
		echo "the archive $debian_uri has no list of the files of $suite's packages: which one has $1?" >&2
		return 1
	}
	for list in "$apt_state/lists/"*_dists_"${suite}"_*Contents-amd64*; do
		[ ! -e "$list" ] || /usr/lib/apt/apt-helper cat-file "$list"
	done | awk -v name="$1" '$1 ~ "^(usr/)?s?bin/" && $1 ~ "/" name "$" { split($2, w, ","); sub(/.*\//, "", w[1]); if (!n++) print w[1] }'
}

# Make the root. A program that is not in it is in another package of this release: ask which one has it.
plan_root()
{
	local program package also=()
	build_root || return
	for program in $TOOLS busybox; do
		has_program "$program" && continue
		package=$(package_of "$program") || return
		[ -n "$package" ] || {
			echo "Debian's $suite has no program $program"
			return 1
		}
		also+=("$package")
	done
	[ ${#also[@]} -gt 0 ] || return 0
	# shellcheck disable=SC2046 # one word per package
	set_lock_word also "$(printf '%s\n' $(lock_word also || true) "${also[@]}" | sort -u | xargs)"
	build_root
}

# Plan the packages that the guest has besides, whole: those named, and what the root has not of their dependencies.
plan_with()
{
	local with name
	: >"$work/with.only"
	with=$(lock_word with) || return 0
	# shellcheck disable=SC2086 # one word per package
	part_plan ${update:+--update} --without "$NOT_IN_ROOTS" with $IN_GUEST $COMPILER $with || return
	while read -r name rest; do
		[[ " $with " == *" $name "* ]] || ! grep -q "^$name " "$work/build.plan" || continue
		echo "$name $rest"
	done <"$work/with.plan" >"$work/with.only"
	unpack_plan "$work/with.only" "$work/with"
}

# ---- kernel ---------------------------------------------------------------------

plan_kernel()
{
	local kernel
	kernel=$(lock_word kernel) || kernel=linux-image-amd64
	case $kernel in
	*.deb) file_plan kernel "$kernel" ;;
	*) part_plan ${update:+--update} --keep kernel kernel "$kernel" ;;
	esac
}

# Unpack the kernel's packages, of whatever shape; print what is missing.
unpack_kernel() # DIR
{
	local dir=$1 root=$work/kernel-root release image module
	mkdir -p "$dir/modules"
	unpack_plan "$work/kernel.plan" "$root"
	image=$(compgen -G "$root/boot/vmlinuz-*" || compgen -G "$root/usr/lib/modules/*/vmlinuz" || true)
	image=${image%%$'\n'*}
	[ -n "$image" ] || {
		echo "no kernel in $(cut -d' ' -f1 "$work/kernel.plan" | xargs): neither boot/vmlinuz-* nor usr/lib/modules/*/vmlinuz;" \
			"if it is in packages that this one depends on, name their files, too, or the package in place of its file"
		return 1
	}
	case $image in
	*/boot/*) release=${image##*/vmlinuz-} ;;
	*) release=$(basename "${image%/vmlinuz}") ;;
	esac
	"$here/extract-vmlinux.py" "$image" "$dir/vmlinux" || return
	echo "$release" >"$dir/release"
	[ -d "$root/usr/lib/modules/$release" ] || {
		echo "the kernel $release comes without modules: there is no usr/lib/modules/$release in its package;" \
			"if another package has them, name its file, too, or the package that depends on both"
		return 1
	}
	mv "$root/usr/lib/modules" "$work/modules-of-kernel"
	mkdir -p "$work/k/usr/lib" "$work/m/usr/lib/modules/$release"
	ln -s usr/lib "$work/k/lib"
	ln -s usr/lib "$work/m/lib"
	mv "$work/modules-of-kernel" "$work/k/usr/lib/modules"
	cat >"$work/modules.sh" <<-'END'
		depmod -b k "$1" || exit
		for m in $2; do
			modprobe -d k -S "$1" --show-depends "$m" || { echo "$m" >>missing; echo "the kernel $1 has no $m" >&2; }
		done >depends
		for m in $3; do
			modprobe -d k -S "$1" --show-depends "$m" 2>/dev/null || echo "left out: $m" >&2
		done >>depends
	END
	in_root "$work/build" "$work" sh modules.sh "$release" "$NEEDED" "$MODULES" || return
	[ ! -e "$work/missing" ] || {
		echo "the kernel $release has neither as a module nor built in: $(xargs <"$work/missing")"
		return 1
	}
	awk '$1 == "insmod" { print $2 }' "$work/depends" | LC_ALL=C sort -u | while read -r module; do
		module=${module#*/lib/modules/}
		install -D -m 644 "$work/k/usr/lib/modules/$module" "$work/m/usr/lib/modules/$module" || return
	done
	# busybox cannot load compressed modules, and would be slow at it
	find "$work/m" -name '*.ko.xz' -exec xz -d {} +
	find "$work/m" -name '*.ko.zst' -exec zstd -dq --rm {} +
	find "$work/m" -name '*.ko.gz' -exec gzip -d {} +
	cp "$work/k/usr/lib/modules/$release"/modules.{builtin,builtin.modinfo,order} "$work/m/usr/lib/modules/$release/"
	in_root "$work/build" "$work" depmod -b m "$release" || return
	# busybox's modprobe reads only the text files.
	(cd "$work/m/usr/lib/modules/$release" && cp -r modules.dep modules.alias modules.builtin \
		modules.softdep modules.symbols "$dir/modules/" && { [ ! -d kernel ] || cp -r kernel "$dir/modules/"; })
	rm -rf "$root" "$work/m" "$work/k"
}

# ---- firmware -------------------------------------------------------------------

# shellcheck disable=SC2086 # one word per package, per file
make_firmware()
{
	local name found
	part_plan ${update:+--update} --keep named firmware $FIRMWARE_PACKAGES || return
	unpack_plan "$work/firmware.plan" "$work/firmware-root" || return
	mkdir "$work/firmware"
	for name in $FIRMWARE; do
		found=$(compgen -G "$work/firmware-root/usr/share/*/$name") || {
			echo "neither of $FIRMWARE_PACKAGES of $suite has $name"
			return 1
		}
		cp -L "${found%%$'\n'*}" "$work/firmware/"
	done
}

# ---- programs ---------------------------------------------------------------------

build_fio()
{
	mkdir "$work/fio"
	unpack_source "$work/fio.plan" "$work/fio/src"
	cp "$here/build-fio.sh" "$work/fio/"
	in_root "$work/build" "$work/fio" bash build-fio.sh
}

build_programs()
{
	local name
	mkdir -p "$work/ours"
	our_sources | while read -r name; do
		install -D -m 644 "$repo/$name" "$work/ours/src/$name"
	done
	cp "$here/programs.sh" "$work/ours/"
	in_root "$work/build" "$work/ours" bash programs.sh
}

# ---- archives ---------------------------------------------------------------------

build_archives()
{
	local name programs=()
	for name in $OURS; do
		programs+=("usr/bin/$name=$work/ours/bin/$name")
	done
	"$here/mkroot.py" root --out "$work/root" --from "$work/build" --with "$work/with" --tools "$TOOLS" \
		usr/bin/fio="$work/fio.bin" usr/bin/run-fio="$here/run-fio.sh" usr/bin/in-apps="$here/in-apps.sh" \
		usr/bin/slate-fs="$here/slate-fs.sh" usr/bin/steps.sh="$here/steps.sh" \
		init="$here/init" "${programs[@]}" || return
	"$here/mkroot.py" modules --out "$work/modules" --from "$kernel_dir/modules" --release "$(<"$kernel_dir/release")" || return
	# -l writes the format that the kernel reads. Of its formats, lz4 boots fastest.
	# shellcheck disable=SC2016 # for the inner shell
	in_root "$work/build" "$work" sh -ec 'for name in root modules; do lz4 -l -9 -q -f $name $name.lz4; done'
}

install_outputs()
{
	cd "$work"
	cp "$kernel_dir/vmlinux" vmlinux
	{
		echo '{'
		echo "  \"name\": \"$guest\","
		echo "  \"release\": \"$release\","
		echo "  \"kernel\": \"$(<"$kernel_dir/release")\","
		echo "  \"fio\": \"$fio_version\","
		echo '  "packages": {'
		cat kernel.plan build.plan firmware.plan with.only | cut -d' ' -f1,2 | LC_ALL=C sort -u |
			sed -E 's/(.*) (.*)/    "\1": "\2",/; $s/,$//'
		echo '  },'
		echo '  "sha256": {'
		sha256sum firmware/* modules.lz4 root.lz4 vmlinux | sed -E 's/([0-9a-f]+)  (.*)/    "\2": "\1",/; $s/,$//'
		echo '  }'
		echo '}'
	} >guest.json
	rm -rf "$stamp" programs "$out/programs.old" "$out/firmware"
	mkdir programs
	mv ours/bin/slate-marks ours/bin/slate-handoff ours/bin/fsyncs ours/bin/records programs/
	[ ! -d "$out/programs" ] || mv "$out/programs" "$out/programs.old"
	mv -T fio.bin "$out/fio"
	mv programs vmlinux root.lz4 modules.lz4 firmware guest.json "$out/"
	rm -rf "$out/programs.old"
}

# ---- all of it ----------------------------------------------------------------------

[ -z "$update" ] || drop_exact
ROOT_UPDATE=$update
[ -z "$update" ] || phase lists "looking up packages of $suite" update_lists
exact=(build with firmware fio)
[[ "$(lock_word kernel || true)" == *.deb ]] || exact+=(kernel) # the file may still be there: file_plan
! lock_is_exact || phase lock "all files that the lock names" have_exact "${exact[@]}"
phase root "the root of Debian's $suite, of packages" plan_root
[ -z "$(lock_word with || true)" ] || phase with "further packages: $(lock_word with)" plan_with
[ -e "$work/with.only" ] || : >"$work/with.only"
phase kernel-fetch "the kernel's packages" plan_kernel
kernel_dir=$cache/kernel-$({ cat "$work/kernel.plan"; echo "$NEEDED $MODULES"; declare -f unpack_kernel; cat "$here/extract-vmlinux.py"; } | key)
if [ ! -d "$kernel_dir" ]; then
	phase kernel "unpacking the kernel" unpack_kernel "$work/kernel"
	mv -T "$work/kernel" "$kernel_dir"
fi

phase firmware "the firmware of the emulated PC" make_firmware
phase fio-fetch "the source of fio" source_plan ${update:+--update} --tarball fio fio
fio_version=$(awk 'NR == 1 { print $2 }' "$work/fio.plan")
name=fio-$fio_version-$({ cat "$here/build-fio.sh" "$work/fio.plan"; grep -E '^(gcc|cpp|binutils|make|libc6|libaio|zlib1g|linux-libc-dev)' "$work/build.plan"; } | key)
if take_shared "$name" "$work/taken"; then
	mv "$work/taken/fio.bin" "$work/fio.bin"
else
	phase fio "building fio $fio_version" build_fio
	mv "$work/fio/fio.bin" "$work/fio.bin"
	share "$name" "$work/fio.bin"
fi

phase programs "building Slate's programs for the guest" build_programs
phase initrd "making root and modules" build_archives
install_outputs
current_stamp >"$stamp"
say "ready: kernel $(<"$kernel_dir/release"), fio $fio_version, root.lz4 $(($(stat -c %s "$out/root.lz4") / 1000000)) MB," \
	"modules.lz4 $(($(stat -c %s "$out/modules.lz4") / 1000000)) MB"

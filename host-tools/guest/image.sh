#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# image.sh [--update] [--force]: make a small Debian as a disk image, build/image/debian.qcow2,
# for 'slate run --image' (docs/guests.md). The tests boot it.
#
#   --update   look for newer packages; otherwise the lock has the versions
#   --force    make the image again even if nothing changed
#
# mmdebstrap installs PACKAGES below, of the guest's release (as 'make guest' chose it), from their files in the cache.
# The disk has one ext4 partition. GRUB is written in front of it, without mounting anything: the boot sector loads the
# sectors behind it.
#
# Clones with the same versions share the image in ${XDG_CACHE_HOME:-~/.cache}/slate.
#
# The kernel is Debian's, with fewer modules; cloud-init reads a seed for its user and key.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
who=image
package_list=$here/../packages.d/image.txt
# shellcheck source=host-tools/guest/lib.sh
. "$here/lib.sh"
fio=$out/fio # Debian's depends on 92 MB of libraries
out=$out/image
stamp=$out/.stamp
more_parts=
qemu_img=$build/qemu/qemu-img

PACKAGES="?or(?essential,?priority(required)) apt linux-image-amd64 initramfs-tools systemd-sysv udev dbus kmod
openssh-server cloud-init sudo iproute2 netbase e2fsprogs xfsprogs login procps nbd-client"
# blktests and xfstests run these programs ('make suites', docs/suites.md). Two libraries have other names since 13.
FOR_SUITES="acl attr bc bsdextrautils btrfs-progs dmsetup f2fs-tools fdisk file gawk
?or(?exact-name(libaio1),?exact-name(libaio1t64)) ?or(?exact-name(libgdbm-compat4),?exact-name(libgdbm-compat4t64))
libbtrfsutil1 libcap2-bin liburing2 lvm2 mdadm nvme-cli pciutils perl psmisc quota uuid-runtime xfsdump"
# The image leaves out documents, and drivers of hardware that QEMU does not emulate. nbd-client's hook would put every
# network driver into the initramfs.
LEAVE_OUT="/usr/share/initramfs-tools/*nbd* /usr/share/doc/* /usr/share/man/* /usr/share/locale/* /usr/share/info/*
/lib/modules/*/kernel/sound/* /lib/modules/*/kernel/drivers/gpu/*
/lib/modules/*/kernel/drivers/media/* /lib/modules/*/kernel/drivers/net/wireless/*
/lib/modules/*/kernel/drivers/net/ethernet/* /lib/modules/*/kernel/drivers/infiniband/*
/lib/modules/*/kernel/drivers/iio/* /lib/modules/*/kernel/drivers/staging/*
/lib/modules/*/kernel/drivers/usb/* /lib/modules/*/kernel/drivers/hwmon/*"
KEEP="/lib/modules/*/kernel/drivers/net/ethernet/intel/e1000e/*"
IN_INITRD="virtio_pci virtio_blk nvme ext4"
SIZE_MB=2000
FIRST_SECTOR=2048
MIN_FREE_MB=3000

# ---- the root -----------------------------------------------------------------

plan()
{
	# shellcheck disable=SC2086 # one word per package
	part_plan ${update:+--update} image $PACKAGES $FOR_SUITES
}

# Make the files that are in the root before the packages are configured: the initramfs's modules. MODULES=list leaves
# out all others.
files_before() # DIR
{
	mkdir -p "$1"/etc/initramfs-tools/{conf.d,hooks}
	echo 'MODULES=list' >"$1/etc/initramfs-tools/conf.d/slate"
	# shellcheck disable=SC2016 # the script that this line writes expands $1
	printf '%s\n' '#!/bin/sh' '[ "$1" = prereqs ] && exit 0' '. /usr/share/initramfs-tools/hook-functions' \
		"manual_add_modules $IN_INITRD" >"$1/etc/initramfs-tools/hooks/slate"
	chmod 755 "$1/etc/initramfs-tools/hooks/slate"
}

files_after() # DIR
{
	mkdir -p "$1"/{etc/systemd/network,etc/cloud/cloud.cfg.d,etc/apt,boot/grub,mnt/ssd,usr/local/bin}
	printf '%s\n' 'LABEL=root / ext4 defaults 0 0' >"$1/etc/fstab"
	echo slate >"$1/etc/hostname"
	printf '%s\n' '127.0.0.1 localhost' '127.0.1.1 slate' >"$1/etc/hosts" # sudo looks the host's name up
	printf '%s\n' '[Match]' 'Type=ether' '[Network]' 'DHCP=yes' >"$1/etc/systemd/network/80-dhcp.network"
	cat >"$1/etc/cloud/cloud.cfg.d/99-slate.cfg" <<-'EOF'
		datasource_list: [NoCloud, None]
		network: {config: disabled}
		cloud_init_modules: [users-groups, ssh]
		cloud_config_modules: []
		cloud_final_modules: []
		ssh_deletekeys: false
	EOF
	cat >"$1/boot/grub/grub.cfg" <<-'EOF'
		serial --unit=0 --speed=115200
		terminal_input serial
		terminal_output serial
		set timeout=0
		menuentry Debian {
			linux /vmlinuz root=LABEL=root ro quiet console=ttyS0 fsck.mode=skip no_timer_check
			initrd /initrd.img
		}
	EOF
	sed 's/^Types:.*/Types: deb/' "$apt_state"/sources.d/*.sources >"$1/etc/apt/debian.sources"
	cp "$fio" "$1/usr/local/bin/fio"
}

# A guest that runs for minutes does not need these units; cloud-init's later stages have no modules.
MASKED="apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer
lvm2-monitor.service mdcheck_continue.timer mdcheck_start.timer mdmonitor-oneshot.timer
systemd-binfmt.service cloud-config.service cloud-final.service"
# shellcheck disable=SC2016 # for mmdebstrap's shell
CUSTOMIZE='mkdir -p "$1/etc/apt/sources.list.d"
rm -f "$1/etc/apt/sources.list"
mv "$1/etc/apt/debian.sources" "$1/etc/apt/sources.list.d/"
chroot "$1" systemctl -q enable systemd-networkd
chroot "$1" systemctl -q mask '$(tr '\n' ' ' <<<"$MASKED")'
rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/*'

# Make an archive of the plan's files, which apt in the new root can read. Other users than root are another one there.
make_archive()
{
	local name version arch hash bytes path
	while read -r name version arch hash bytes path; do
		if [ "$(id -u)" = 0 ]; then ln -s "$(file_of "$hash")" "$archive/${path##*/}"
		else cp "$(file_of "$hash")" "$archive/${path##*/}"; fi || return
		dpkg-deb -f "$archive/${path##*/}"
		printf 'Filename: ./%s\nSize: %s\nSHA256: %s\n\n' "${path##*/}" "$bytes" "$hash"
	done <"$work/image.plan" >"$work/Packages"
	cp "$work/Packages" "$archive/"
}

bootstrap()
{
	local options=(--variant=minbase --aptopt='Acquire::Languages "none"') path archive
	archive=$(mktemp -d "$([ "$(id -u)" = 0 ] && echo "$work" || echo "${TMPDIR:-/var/tmp}")/slate-archive.XXXXXX")
	# shellcheck disable=SC2064 # as it is now
	trap "rm -rf '$archive'" EXIT
	chmod 755 "$archive"
	make_archive
	files_before "$work/before"
	files_after "$work/after"
	set -f # patterns are dpkg's
	for path in $LEAVE_OUT; do
		options+=("--dpkgopt=path-exclude=$path")
	done
	options+=("--dpkgopt=path-include=$KEEP")
	set +f
	mmdebstrap "${options[@]}" --include="$(cut -d' ' -f1 "$work/image.plan" | paste -sd,)" \
		--hook-dir=/usr/share/mmdebstrap/hooks/file-mirror-automount \
		--essential-hook="sync-in '$work/before' /" --customize-hook="sync-in '$work/after' /" \
		--customize-hook="$CUSTOMIZE" \
		--format=tar '' "$work/root.tar" "deb [trusted=yes] copy://$archive ./"
}

# ---- the disk -----------------------------------------------------------------

# The tree has root's files and devices, which fakeroot makes for other users.
as_root()
{
	if [ "$(id -u)" = 0 ]; then "$@"; else fakeroot "$@"; fi
}

make_disk()
{
	local disk=$work/disk.raw
	truncate -s "${SIZE_MB}M" "$disk"
	echo "start=$FIRST_SECTOR, type=83, bootable" | sfdisk -q "$disk"
	mkdir "$work/root"
	# shellcheck disable=SC2016 # for the inner shell
	as_root bash -ec '
		tar -C "$1/root" --numeric-owner -xf "$1/root.tar"
		mke2fs -q -t ext4 -L root -O ^metadata_csum_seed -d "$1/root" \
			-E "offset=$(($2 * 512)),lazy_itable_init=1" \
			"$1/disk.raw" "$(($3 * 1024 - $2 / 2))k"' make_disk "$work" "$FIRST_SECTOR" "$SIZE_MB"
	grub-mkimage -O i386-pc -p '(hd0,msdos1)/boot/grub' -o "$work/core.img" \
		biosdisk part_msdos ext2 normal linux configfile serial terminal
	dd if=/usr/lib/grub/i386-pc/boot.img of="$disk" bs=440 count=1 conv=notrunc status=none
	dd if="$work/core.img" of="$disk" bs=512 seek=1 conv=notrunc status=none
	"$qemu_img" convert -f raw -O qcow2 "$disk" "$work/debian.qcow2"
	# 'slate run --kernel FILE' takes this kernel.
	tar -C "$work" --wildcards -xf "$work/root.tar" './boot/vmlinuz-*' './boot/initrd.img-*'
	mv "$work"/boot/vmlinuz-* "$work/vmlinuz"
	mv "$work"/boot/initrd.img-* "$work/initrd.img"
}

# ---- all of it ----------------------------------------------------------------

image_inputs()
{
	cat "$here/image.sh" "$fio"
	image_parts
}

image_stamp()
{
	{
		image_inputs
		(cd "$out" && stat -c '%n' debian.qcow2 && stat -c '%n %s' vmlinuz initrd.img)
	} 2>/dev/null | sha256sum
}

read_options "$@"
[ -x "$qemu_img" ] || die "build/qemu/qemu-img is not there: run 'make qemu'"
[ -e "$fio" ] || die "the guest is not there: run 'make guest'"
guest_release
begin_image $MIN_FREE_MB
mkdir -p "$out"
phase image-plan "looking up and fetching packages" plan
if [ -n "$force" ] || ! take_shared "$(image_name)" "$work/taken"; then
	phase image-root "installing Debian's packages" bootstrap
	phase image-disk "making the disk" make_disk
	mkdir "$work/taken"
	mv "$work"/{debian.qcow2,vmlinuz,initrd.img} "$work/taken/"
	share "$(image_name)" "$work"/taken/*
fi
rm -f "$stamp"
mv "$work"/taken/* "$out/"
image_stamp >"$stamp"
if [ "$guest" = "$(<"$here/default-release")" ]; then # its name without a release
	[ -L "$build/image" ] || rm -rf "$build/image"
	ln -sfn "guest/$guest/image" "$build/image"
fi
say "${out#"$repo/"}/debian.qcow2: $(du -m "$out/debian.qcow2" | cut -f1) MB"

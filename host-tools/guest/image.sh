#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# image.sh [--update] [--force]: make a small Debian as a disk image, build/image/debian.qcow2,
# for 'slate run --image' (docs/guests.md). The tests boot it.
#
#   --update   make it again, with the archive's newest packages; otherwise an old image stays
#   --force    make the image again even if nothing changed
#
# mmdebstrap installs PACKAGES below from the archive that this machine already uses. The disk has
# one ext4 partition. GRUB is written in front of it, without mounting anything: the boot sector
# loads the sectors behind it.
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
out=$repo/build/image
stamp=$out/.stamp
qemu_img=$repo/build/qemu/qemu-img

PACKAGES="linux-image-amd64 systemd-sysv udev dbus kmod openssh-server cloud-init sudo
iproute2 netbase e2fsprogs xfsprogs login procps nbd-client"
# blktests and xfstests run these programs ('make suites', docs/suites.md).
FOR_SUITES="acl attr bc bsdextrautils btrfs-progs dmsetup f2fs-tools fdisk file gawk libaio1 libbtrfsutil1 libcap2-bin libgdbm-compat4
liburing2 nvme-cli pciutils perl psmisc quota uuid-runtime xfsdump"
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

# Name the initramfs's modules, before the packages are configured. MODULES=list leaves out all others.
before_configure() # ROOT
{
	mkdir -p "$1"/etc/initramfs-tools/{conf.d,hooks}
	echo 'MODULES=list' >"$1/etc/initramfs-tools/conf.d/slate"
	# shellcheck disable=SC2016 # the script that this line writes expands $1
	printf '#!/bin/sh\n[ "$1" = prereqs ] && exit 0\n. /usr/share/initramfs-tools/hook-functions\nmanual_add_modules %s\n' \
		"$IN_INITRD" >"$1/etc/initramfs-tools/hooks/slate"
	chmod 755 "$1/etc/initramfs-tools/hooks/slate"
}

after_configure() # ROOT
{
	printf '%s\n' 'LABEL=root / ext4 defaults 0 0' >"$1/etc/fstab"
	echo slate >"$1/etc/hostname"
	printf '%s\n' '127.0.0.1 localhost' '127.0.1.1 slate' >"$1/etc/hosts" # sudo looks the host's name up
	mkdir -p "$1/etc/systemd/network" "$1/boot/grub" "$1/mnt/ssd"
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
	cp "$(find_fio)" "$1/usr/local/bin/fio"
	chroot "$1" systemctl -q enable systemd-networkd
	# A guest that runs for minutes does not need these units; cloud-init's later stages have no modules.
	chroot "$1" systemctl -q mask apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer \
		e2scrub_all.timer e2scrub_reap.service fstrim.timer systemd-binfmt.service \
		cloud-config.service cloud-final.service
	rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/*
}

# Take the static fio of Slate's own guest: Debian's depends on 92 MB of libraries.
find_fio() { [ ! -e "$build/guest/$guest/fio" ] || echo "$build/guest/$guest/fio"; }

# Write the versions that the archive would install now to FILE.
plan() # FILE
{
	# mmdebstrap will install what the archive has now, so lists must not be older than an hour
	if [ -n "$update" ] || [ -z "$(find "$apt_state/lists" -maxdepth 0 -mmin -60 2>/dev/null)" ]; then update_lists; fi
	: >"$work/status"
	# shellcheck disable=SC2086 # one word per package
	apt-get "${apt_options[@]}" -o "Dir::State::status=$work/status" --no-install-recommends --simulate \
		install '?or(?essential,?priority(required))' apt $PACKAGES $FOR_SUITES | sed -n 's/^Inst //p' >"$1"
	[ -s "$1" ]
}

# The name in the cache of all clones.
image_name() { echo "image-$({ cat "$here/image.sh" "$(find_fio)" "$work/plan"; echo "$versions"; } | key)"; }

bootstrap()
{
	local options=(--variant=minbase --aptopt='Acquire::Languages "none"') sources=() path
	set -f # patterns are dpkg's
	for path in $LEAVE_OUT; do
		options+=("--dpkgopt=path-exclude=$path")
	done
	options+=("--dpkgopt=path-include=$KEEP")
	set +f
	[ -e "$apt_state/sources.list" ] || derive_sources
	for path in "$apt_state/sources.list" "$apt_state"/sources.list.d/*; do
		[ -s "$path" ] || continue
		sources+=("$work/${path##*/}")
		sed 's/^Types:.*/Types: deb/; /^deb-src/d' "$path" >"${sources[-1]}"
	done
	# shellcheck disable=SC2086 # one word per package
	mmdebstrap "${options[@]}" --include="$(echo $PACKAGES $FOR_SUITES | tr ' ' ',')" \
		--essential-hook="$here/image.sh --before \"\$1\"" --customize-hook="$here/image.sh --after \"\$1\"" \
		--format=tar '' "$work/root.tar" "${sources[@]}"
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
		mke2fs -q -t ext4 -L root -O ^metadata_csum_seed -d "$1/root" -E "offset=$(($2 * 512)),lazy_itable_init=1" \
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

image_stamp() { { cat "$here/image.sh"; (cd "$out" && stat -c '%n %s' vmlinuz initrd.img); } 2>/dev/null | sha256sum; }

# ---- all of it ----------------------------------------------------------------

case ${1:-} in # mmdebstrap calls these back
--before) before_configure "$2"; exit ;;
--after) after_configure "$2"; exit ;;
esac
read_options "$@"
mkdir -p "$out"
[ -x "$qemu_img" ] || die "build/qemu/qemu-img is not there: run 'make qemu'"
[ -n "$(find_fio)" ] || die "the guest's fio is not there: run 'make guest'"
asked=$force
[ -e "$out/debian.qcow2" ] || force=1
begin_image $MIN_FREE_MB
products=(debian.qcow2 vmlinuz initrd.img)
phase image-plan "looking up packages" plan "$work/plan"
if [ -n "$asked" ] || ! take_shared "$(image_name)" "$work/taken"; then
	phase image-root "installing Debian's packages" bootstrap
	phase image-disk "making the disk" make_disk
	mkdir "$work/taken"
	mv "${products[@]/#/$work/}" "$work/taken/"
	share "$(image_name)" "${products[@]/#/$work/taken/}"
fi
rm -f "$stamp"
mv "$work"/taken/* "$out/"
image_stamp >"$stamp"
say "build/image/debian.qcow2: $(du -m "$out/debian.qcow2" | cut -f1) MB"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# in-apps: run programs of the image of applications ('slate run --apps'), and put
# a file system on the drive for them.
#
#   in-apps COMMAND [WORD...]   run a program of the image, as root, in /mnt/ssd if
#                               the drive is mounted there, or else in /
#   in-apps modprobe WORD...    the image's modprobe: it finds the modules of the image, which are of Debian's kernel,
#                               and those that the guest has, also of a kernel of the user's own
#   in-apps --as USER COMMAND   the same as another user (the image has postgres)
#   in-apps --mkfs FS           make a file system (ext4, xfs, f2fs, btrfs) on the drive,
#                               and mount it at /mnt/ssd
#   in-apps --mount FS          mount the one that is there
#   in-apps --umount            write everything out, and unmount it
#   in-apps --remount           --umount, --mount: nothing of it is cached after that
#
# The image, /dev/pmem0 (/apps.img with the small kernel), is read-only; what programs write outside /mnt/ssd goes to
# memory. Inside, /job and $OUT are what they are outside. The first call mounts it.

root=/run/apps
ssd=$root/mnt/ssd
dev=${SLATE_DEV:-/dev/nvme0n1}
uuid=5a1e5a1e-0000-4000-8000-000000000001

die()
{
	echo "in-apps: $*" >&2
	exit 125
}

mount_image()
{
	[ ! -e $root/job ] || return 0
	# built into the small kernel, modules of the other
	for m in nd_e820 nd_pmem squashfs overlay; do
		modprobe "$m" 2>/dev/null
	done
	if [ -e /dev/pmem0 ]; then
		image=/dev/pmem0 how=ro
	elif [ -e /apps.img ]; then
		image=/apps.img how=loop,ro
	else
		die "no image of applications here: boot with 'slate run --apps'"
	fi
	mkdir -p $root /run/apps.ro /run/apps.rw
	mount -t squashfs -o $how $image /run/apps.ro || die "can not mount $image"
	mount -t tmpfs apps /run/apps.rw || die "no tmpfs"
	mkdir /run/apps.rw/upper /run/apps.rw/work
	mount -t overlay -o lowerdir=/run/apps.ro,upperdir=/run/apps.rw/upper,workdir=/run/apps.rw/work \
		apps $root || die "no overlay"
	for d in dev proc sys; do
		mount -o bind /$d $root/$d
	done
	mkdir -p /dev/shm
	mount -t tmpfs shm $root/dev/shm
	chmod 1777 $root/dev/shm
	[ ! -d /job ] || mount -o bind /job $root/job
	mkdir -p "$root${OUT:=/run/out}"
	mount -o bind "$OUT" "$root$OUT"
}

# No discard: what the drive holds is part of the experiment. Nothing is left for later: a
# thread that writes inode tables would disturb what is measured.
make_fs() # FS
{
	case $1 in
	ext4) mkfs.ext4 -q -F -b 4096 -U "$uuid" \
		-E "nodiscard,hash_seed=$uuid,lazy_itable_init=0,lazy_journal_init=0" "$dev" ;;
	btrfs) in-apps mkfs.btrfs -q -f -K -U "$uuid" "$dev" ;; # a program of the image
	*) slate-fs make "$1" "$dev" "$uuid" ;;
	esac || die "mkfs.$1 failed"
}

mount_fs() # FS
{
	# small kernel: built in
	modprobe "$1" 2>/dev/null || [ "$1" != btrfs ] || in-apps modprobe btrfs
	mount -t "$1" "$dev" $ssd || die "can not mount $1 from $dev"
	echo "$1" >/run/apps.fs
}

umount_fs()
{
	[ -e /run/apps.fs ] || die "the drive is not mounted"
	read -r fs </run/apps.fs
	umount $ssd || die "can not unmount $ssd"
	rm /run/apps.fs
}

# Let the image's modprobe find the guest's modules as well as its own. In the guest they are listed as text only, for
# busybox; depmod makes the lists that kmod reads.
join_modules()
{
	release=$(uname -r)
	to=$root/usr/lib/modules/$release
	mkdir -p "$to" && cp -r "/usr/lib/modules/$release/." "$to/" && chroot $root /usr/sbin/depmod "$release"
	: >$joined
}

# Become a program in the image.
enter() # COMMAND...
{
	# shellcheck disable=SC2016 # expanded inside
	exec chroot $root /usr/sbin/chroot ${user:+--userspec=$user:$user} / \
		sh -c 'cd "$1" && shift && exec "$@"' sh $cd "$@"
}

joined=/run/apps.modules
user=
case ${1:-} in
--mkfs | --mount)
	[ $# -eq 2 ] || die "$1 needs the name of a file system"
	mount_image
	[ "$1" = --mount ] || make_fs "$2"
	mount_fs "$2"
	exit
	;;
--umount) umount_fs && exit ;;
--remount) umount_fs && mount_fs "$fs" && exit ;;
--as)
	user=$2
	shift 2
	;;
-* | '') die "usage: in-apps [--as USER] COMMAND ..., or --mkfs FS, --mount FS, --umount, --remount" ;;
esac
mount_image
cd=/
[ ! -e /run/apps.fs ] || cd=/mnt/ssd
export HOME=/root PATH=/usr/sbin:/usr/bin LANG=C LC_ALL=C TMPDIR=/tmp
if [ "$1" = modprobe ] && [ ! -e $joined ]; then
	(enter "$@" 2>/dev/null) && exit
	join_modules 2>/dev/null
fi
enter "$@"

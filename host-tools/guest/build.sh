#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# build.sh [--update] [--force]: make the guest, build/guest/{vmlinux,initrd.lz4,guest.json}.
#
#   --update   look for newer packages (kernel, fio); otherwise the versions
#              found the first time stay
#   --force    make the initramfs again even if nothing changed
#
# Kernel and fio come from the Debian archive this machine already uses, through
# an apt state of our own (build/apt-guest): the system's apt configuration is
# read, never written.  The other programs in the guest are this machine's.
#
# Nothing changed (scripts, package versions, host files, outputs): returns at
# once.  Every product is made under a temporary name and renamed when whole, so
# an interrupted run leaves either the old or the new one.
#
# What is kept, in build/guest-cache:
#   versions              kernel package, kernel version, fio version in use
#   kernel-VER-HASH/      vmlinux, release, modules/ (those of MODULES, with modules.dep)
#   fio-VER-HASH          the static fio
#   *.deb, *.dsc, *.tar.* as downloaded
set -euo pipefail
# shellcheck disable=SC2034 # for the programs called
export LC_ALL=C TZ=UTC
umask 022

here=$(dirname "$(readlink -f "$0")")
repo=$(dirname "$(dirname "$here")")
out=$repo/build/guest
cache=$repo/build/guest-cache
apt_state=$repo/build/apt-guest
log_dir=$repo/build/log
package_list=$repo/host-tools/packages.d/guest.txt
stamp=$out/.stamp
host_files=$out/.host-files

# Programs of the host that go into the guest.  busybox supplies the rest.
TOOLS="nvme mkfs.ext4 e2fsck mkfs.xfs xfs_repair mkfs.f2fs fsck.f2fs blkdiscard
fstrim lsblk blockdev blktrace blkparse dd sync sha256sum md5sum dash"
# Kernel modules, their dependencies are added.
MODULES="nvme ext4 xfs f2fs crc32c_generic crc32c_intel crc32_generic loop
virtio_pci virtio_blk virtio_scsi virtio_console sd_mod 9p 9pnet_virtio"
SCRIPTS="build.sh build-fio.sh mkroot.py cpio.py extract-vmlinux.py init run-fio.sh slate-mark.c"
MIN_FREE_MB=1000

update='' force=''
for word in "$@"; do
	case $word in
	--update) update=1 ;;
	--force) force=1 ;;
	-h | --help)
		sed -n '4,22s/^# \{0,1\}//p' "$0"
		exit 0
		;;
	*)
		echo "build.sh: unknown option $word (see --help)" >&2
		exit 2
		;;
	esac
done

say() { echo "guest: $*"; }
die()
{
	echo "guest: error: $*" >&2
	exit 1
}

# ---- is there anything to do? ----------------------------------------------

packages() { sed 's/#.*//' "$package_list"; }

# Name and version of every package wanted; those not installed without a version.
installed_versions()
{
	# shellcheck disable=SC2046 # one word per package
	{ dpkg-query -W -f '${Package} ${db:Status-Status} ${Version}\n' $(packages) 2>/dev/null || true; } |
		awk '$2 == "installed" { print $1, $3 }' | sort
}

# Everything the outputs are made of, and the outputs, as one hash.
current_stamp()
{
	{
		echo "$versions"
		# shellcheck disable=SC2086 # one word per script
		(cd "$here" && cat -- $SCRIPTS)
		cat "$cache/versions" "$host_files"
		xargs -a "$host_files" stat -c '%n %s %Y'
		(cd "$out" && stat -c '%n %s %Y' vmlinux initrd.lz4 guest.json)
	} 2>/dev/null | sha256sum
}

versions=$(installed_versions)
if [ -z "$update$force" ] && [ -e "$stamp" ] && [ "$(<"$stamp")" = "$(current_stamp)" ]; then
	exit 0
fi

# ---- what can be checked before starting -----------------------------------

[ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] ||
	die "needs a Debian amd64 machine (dpkg --print-architecture)"
missing=$(comm -23 <(packages | awk NF | sort -u) <(cut -d' ' -f1 <<<"$versions"))
# shellcheck disable=SC2086 # on one line
[ -z "$missing" ] || die "missing packages; as root: apt-get install --no-install-recommends" $missing

mkdir -p "$out" "$cache" "$log_dir"
exec 9>"$cache/.lock"
if ! flock -n 9; then
	say "another build is running, waiting for it"
	flock 9
	# it may have done the work
	[ -n "$update$force" ] || { [ -e "$stamp" ] && [ "$(<"$stamp")" = "$(current_stamp)" ] && exit 0; }
fi
free_mb=$(df -Pm "$cache" | awk 'NR == 2 { print $4 }')
[ "$free_mb" -ge "$MIN_FREE_MB" ] ||
	die "disk full: $free_mb MB left in $cache, needs $MIN_FREE_MB MB while building"

# ---- running things ---------------------------------------------------------

work=$(mktemp -d "$cache/tmp.XXXXXX")
child=''
cleanup()
{
	# the child leads a process group of its own
	[ -z "$child" ] || kill -TERM -- "-$child" 2>/dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
# what an earlier run left when it was killed outright; the lock is ours
find "$cache" -maxdepth 1 -name 'tmp.*' ! -path "$work" -exec rm -rf {} +

# phase NAME TEXT COMMAND...: run COMMAND with its output in build/log/guest-NAME.log.
phase()
{
	local log=$log_dir/guest-$1.log text=$2 t0=${EPOCHREALTIME/./} status=0
	shift 2
	set -m
	"$@" >"$log" 2>&1 </dev/null 9>&- &
	child=$!
	set +m
	wait "$child" || status=$?
	child=''
	if [ "$status" -ne 0 ]; then
		tail -n 15 "$log" | sed 's/^/  | /' >&2
		explain "$log"
		die "failed: $text (status $status; all of it in ${log#"$repo/"})"
	fi
	local ms=$(((${EPOCHREALTIME/./} - t0) / 1000))
	say "$text: $((ms / 1000)).$((ms % 1000 / 100)) s"
}

explain()
{
	if grep -q 'No space left on device' "$1"; then
		say "the disk is full ($(df -Pm "$cache" | awk 'NR == 2 { print $4 }') MB left in $cache)" >&2
	elif grep -qE 'Temporary failure resolving|Could not (resolve|connect)|Connection (failed|timed out|refused)|Network is unreachable' "$1"; then
		say "the Debian archive cannot be reached: no network, or the proxy in apt's configuration is down" >&2
	elif grep -qE '404 +Not Found' "$1"; then
		say "the package index is older than the archive: try build.sh --update" >&2
	fi
}

# ---- the archive --------------------------------------------------------------

apt_options=(-o "Dir::State::Lists=$apt_state/lists" -o "Dir::Cache=$apt_state/cache"
	-o "Dir::Etc::SourceList=$apt_state/sources.list"
	-o "Dir::Etc::SourceParts=$apt_state/sources.list.d"
	-o "APT::Sandbox::User=$(id -un)" -o Acquire::Retries=2 -o Acquire::Languages=none)

# The system's sources with source packages added, in both of apt's formats.
derive_sources()
{
	local f
	rm -rf "$apt_state/sources.list.d"
	mkdir -p "$apt_state"/{lists/partial,cache/archives/partial,sources.list.d}
	: >"$apt_state/sources.list"
	for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ -r "$f" ] || continue
		sed -nE 's/^[ \t]*deb[ \t]+(.*)/deb \1\ndeb-src \1/p' "$f" >>"$apt_state/sources.list"
	done
	for f in /etc/apt/sources.list.d/*.sources; do
		[ -r "$f" ] || continue
		sed -E 's/^Types:.*/Types: deb deb-src/I' "$f" >"$apt_state/sources.list.d/${f##*/}"
	done
}

update_lists()
{
	derive_sources
	# A source of no interest to us may fail; candidate() sees whether ours did.
	apt-get "${apt_options[@]}" update || echo "apt-get update: status $?"
}

candidate() # PACKAGE
{
	apt-cache "${apt_options[@]}" policy "$1" | awk '$1 == "Candidate:" && $2 != "(none)" { print $2 }'
}

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

fetch_kernel()
{
	cd "$work"
	apt-get "${apt_options[@]}" download "$kernel=$kernel_version"
	mv ./*.deb "$cache/"
}

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
	# modprobe of busybox reads the text files only
	(cd "$work/m/lib/modules/$release" && cp -r kernel modules.dep modules.alias modules.builtin \
		modules.softdep modules.symbols "$dir/modules/")
	rm -rf "$root" "$work/m"
}

# ---- fio --------------------------------------------------------------------------

fetch_fio()
{
	cd "$work"
	apt-get "${apt_options[@]}" source --download-only "fio=$fio_version"
	# the .dsc last: its presence says that all are there
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
	gcc -std=gnu11 -O2 -Wall -Wextra -static -s -Wl,--build-id=none \
		-ffile-prefix-map="$here"=. -o "$work/slate-mark" "$here/slate-mark.c"
	"$here/mkroot.py" --out "$work/initrd" --list "$work/host-files" \
		--modules "$kernel_dir/modules" --release "$(<"$kernel_dir/release")" \
		--tools "$TOOLS" usr/bin/fio="$fio" usr/bin/slate-mark="$work/slate-mark" \
		usr/bin/run-fio="$here/run-fio.sh" init="$here/init"
	# -l: the format the kernel reads; lz4 boots fastest of those it knows
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

# name of a cached product: what it is made of, hashed
key() { sha256sum | cut -c1-12; }

if [ -n "$update" ] || [ ! -e "$cache/versions" ]; then
	phase apt "looking up packages" choose_versions
fi
# shellcheck source=/dev/null
. "$cache/versions"

kernel_dir=$cache/kernel-$kernel_version-$({ echo "$kernel $MODULES"; declare -f unpack_kernel; cat "$here/extract-vmlinux.py"; } | key)
if [ ! -d "$kernel_dir" ]; then
	[ -e "$cache/${kernel}_${kernel_version//:/%3a}_amd64.deb" ] ||
		phase kernel-fetch "fetching $kernel $kernel_version" fetch_kernel
	phase kernel "unpacking the kernel" unpack_kernel "$work/kernel"
	mv -T "$work/kernel" "$kernel_dir"
fi

fio=$cache/fio-$fio_version-$({ cat "$here/build-fio.sh"; grep -E '^(gcc|libaio-dev|libc6-dev|zlib1g-dev) ' <<<"$versions"; } | key)
if [ ! -e "$fio" ]; then
	[ -e "$cache/fio_${fio_version#*:}.dsc" ] ||
		phase fio-fetch "fetching the source of fio $fio_version" fetch_fio
	phase fio "building fio $fio_version" build_fio "$work/fio.bin"
	mv -T "$work/fio.bin" "$fio"
fi

phase initrd "making the initramfs" build_initrd
install_outputs
current_stamp >"$stamp"
say "ready: kernel $(<"$kernel_dir/release"), fio $fio_version, initrd.lz4 $(($(stat -c %s "$out/initrd.lz4") / 1000000)) MB"

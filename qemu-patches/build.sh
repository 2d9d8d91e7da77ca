#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# build.sh - fetch QEMU, put the nand-ssd driver in, build it into build/qemu.
#
#   qemu-patches/build.sh                          Debian trixie's source package
#   QEMU_TARBALL=FILE qemu-patches/build.sh        a release tarball of your own
#   QEMU_VERSION=10.2 qemu-patches/build.sh        the source package of another base of the series (bases.sh)
#   qemu-patches/build.sh --fetch                  look for a newer source package
#   qemu-patches/build.sh --flags                  print the options of QEMU's configure
#   qemu-patches/build.sh --source DIR             unpack the source package that was fetched, without patches
#
# The series is for QEMU 10.0.x and 10.2.x. If the archive lacks a file of the package, the next of that base is taken that it has, of
# this release or of a later one, and the tarball alone, without Debian's patches, will do (host-tools/debian.sh). A
# version that its file series does not name is taken only if all patches apply. If there is none, or on a host that
# is not Debian, take a tarball of your own; or SLATE_DEBIAN=URI names a mirror of Debian.
#
# Needs the core under build/core/install (or SLATE_CORE), and the packages of
# host-tools/packages.d/qemu.txt. Other knobs: SLATE_BUILD (build), JOBS (all
# processors), CC (gcc). Does nothing when nothing changed.
#
# Steps, each with a stamp that is removed before it begins and written when it
# ended well, so that a run cut short anywhere is continued by the next:
#   fetch      build/apt/qemu.plan  source package, through a private apt state; its files are in ~/.cache/slate
#   unpack     build/qemu-src       unpacked, our patches applied
#   overlay    build/qemu-src       files of qemu-patches/src, and the schema that
#                                   schema.sh makes, copied over
#   python     build/venv-qemu      meson and pycotap
#   configure  build/qemu-build
#   compile    build/qemu-build, then build/qemu
# A new patch series is unpacked beside the old tree and only files that differ
# are replaced, so that ninja compiles no more than it must.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
build=${SLATE_BUILD:-$root/build}
core=${SLATE_CORE:-$build/core/install}
jobs=${JOBS:-$(nproc)}
suite=trixie base=${QEMU_VERSION:-10.0} versions="${QEMU_VERSION:-10.0}.*"
src=$build/qemu-src obj=$build/qemu-build out=$build/qemu
venv=$build/venv-qemu apt=$build/apt plan=$build/apt/qemu.plan logs=$build/log stamps=$build/qemu-stamps
made=$build/qemu-made schema=qapi/nand-ssd-counters.json # by schema.sh
schema_from=("$here/schema.sh" "$here/schema.c" "$root/ftl/common/ftl_counters.h" "$root/nand-emu/nand_counters.h")
need_mib=3000

programs=(qemu-system-x86_64 qemu-img qemu-io qemu-nbd storage-daemon/qemu-storage-daemon
	tests/qtest/nvme-command-test)
packages=$root/host-tools/python/qemu.txt # meson and pycotap

flags=(
	--target-list=x86_64-softmmu
	--without-default-features --without-default-devices
	--with-devices-x86_64=slate
	--enable-system --enable-tools --enable-tcg --enable-kvm
	--enable-fdt=system --enable-slate
	--enable-linux-aio --enable-linux-io-uring
	--enable-virtfs --enable-attr --enable-cap-ng
	--enable-slirp --enable-fuse --enable-vhost-user --enable-vhost-user-blk-server
	--enable-trace-backends=log
	--disable-debug-info --extra-cflags=-g1 # lines for backtraces; all debug information costs a quarter of the time
	--disable-user --disable-docs --disable-install-blobs --disable-download
	--firmwarepath=/usr/share/seabios:/usr/share/qemu
)
cc=${CC:-gcc}
if command -v ccache >/dev/null; then
	cc="ccache $cc"
	# what one checkout compiled serves another: paths count from the root, and the
	# directory, which is in the debug information alone, not at all; the compiler's list
	# of included files (-MD) replaces a run of the preprocessor
	export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
fi
flags+=("--cc=$cc")

say() { printf '  %s\n' "$*"; }

die() {
	printf 'build.sh: %s\n' "$1" >&2
	shift
	[ $# -eq 0 ] || printf '          %s\n' "$@" >&2
	exit 1
}

case $build in
*[[:space:]:]*)
	die "QEMU can not be built in a path with blanks or colons: $build" "Clone to another." ;;
esac

# shellcheck source=qemu-patches/bases.sh
. "$here/bases.sh"
[ "$base" = 10.0 ] || [ -e "$here/$base/series" ] ||
	die "QEMU_VERSION: there are no patches for QEMU '$base'" "Known: 10.0 $(cd "$here" && echo */series | sed "s,/series,,g")"

# Find a terminal for the progress line: standard output, or else the controlling terminal; empty if
# there is no terminal.
tty=
if [ -t 1 ]; then
	tty=/dev/stdout
elif { : >/dev/tty; } 2>/dev/null; then
	tty=/dev/tty
fi

# ---- what was done, and with what ----

hash_files() { # FILE... - names as seen from the root, and contents
	(cd "$root" && sha256sum -- "$@") | sha256sum | cut -c1-16
}

hash_text() { printf '%s\n' "$@" | sha256sum | cut -c1-16; }

is_done() { # STEP HASH
	[ -f "$stamps/$1" ] && [ "$(<"$stamps/$1")" = "$2" ]
}

set_done() { printf '%s\n' "$2" >"$stamps/$1.new" && mv "$stamps/$1.new" "$stamps/$1"; }
undo() { local s; for s in "$@"; do rm -f "$stamps/$s"; done; }

core_files() {
	find "$core" -type f \( -name '*.a' -o -name '*.h' -o -name '*.pc' \) 2>/dev/null | sort
}

# Is this version (1:10.2.2+ds-1) of the base that is to be built?
# shellcheck disable=SC2053 # a pattern
is_of_base() { [[ ${1#*:} == $versions ]]; } # VERSION

# Print what the source is, or none: without one, or with that of another base.
source_id() {
	if [ -n "${QEMU_TARBALL:-}" ]; then
		hash_text tarball "$(sha256sum <"$QEMU_TARBALL")"
	elif [ -f "$stamps/fetch" ] && is_of_base "$(<"$stamps/fetch")"; then
		cat "$stamps/fetch"
	else
		echo none
	fi
}

compute_ids() {
	local patches devices
	mapfile -t patches < <(find "$here" \( -name '*.patch' -o -name series \) | LC_ALL=C sort) # of all bases
	mapfile -t overlay < <(cd "$here/src" && find . -type f ! -name '.*' ! -name '*~' | sort)
	mapfile -t libraries < <(core_files)
	id_unpack=$(hash_text "$(source_id)" "$(hash_files "${patches[@]}")")
	devices=$(find "$here" -name slate.mak | LC_ALL=C sort | xargs cat | sha256sum) # of all bases
	id_overlay=$(cd "$here/src" && hash_text "$(sha256sum -- "${overlay[@]}")" "$devices" \
		"$(hash_files "${schema_from[@]}")" "$id_unpack")
	# slate.pc: meson asks it once, which libraries the core needs
	id_python=$(hash_text "$venv" "$(<"$packages")")
	id_configure=$(hash_text "${flags[@]}" "$obj" "$core" "$id_python" \
		"$(cat "$core/lib/pkgconfig/slate.pc" 2>/dev/null)")
	id_compile=$(hash_text "$id_overlay" "$id_configure" "$(hash_files "${libraries[@]}")" "${programs[@]}")
}

# ---- one phase: what it does and how long it took ----

child=
stop() { # SIGNAL EXIT-STATUS
	trap - INT TERM HUP
	[ -z "$child" ] || kill -s TERM -- "-$child" "$child" 2>/dev/null || true
	[ -z "$tty" ] || printf '\r\033[K' >"$tty"
	echo "build.sh: stopped; run it again to go on where it was" >&2
	exit "$2"
}
trap 'stop INT 130' INT
trap 'stop TERM 143' TERM
trap 'stop HUP 129' HUP

seconds_since() { # EPOCHREALTIME
	local us=$((${EPOCHREALTIME/./} - ${1/./}))
	printf '%d.%d' $((us / 1000000)) $((us / 100000 % 10))
}

explain() { # LOG - a sentence for what can be told from the output
	if grep -E '^no QEMU |^slate: pip could not' "$1"; then
		:
	elif grep -qiE 'no space left|disk quota' "$1" || [ "$(free_mib)" -lt 50 ]; then
		echo "The disk is full: QEMU's build takes about $need_mib MiB under $build."
	elif grep -qE 'Temporary failure resolving|Could not (resolve|connect)|Connection (failed|timed out|refused)|Network is unreachable' "$1"; then
		echo "The network, or the server, does not answer. With a tarball of QEMU $base.x at"
		echo "hand, no Debian server is asked: QEMU_TARBALL=FILE $0"
	elif grep -qE 'NO_PUBKEY|is not signed|EXPKEYSIG' "$1"; then
		echo "The keyring that this machine's apt uses does not know $suite: update the"
		echo "package debian-archive-keyring."
	fi
}

phase() { # NAME WHAT COMMAND... - output to a log, shown when it fails
	local name=$1 what=$2 log=$logs/qemu-$1.log start=$EPOCHREALTIME rc=0 text=()
	notes=$logs/qemu-notes # lines that debian.sh wants to be seen
	: >"$notes"
	shift 2
	[ -z "$tty" ] || printf '\r\033[K  %-10s %s ...' "$name" "$what" >"$tty"
	set -m
	("$@") >"$log" 2>&1 </dev/null &
	child=$!
	set +m
	if [ "$name" = compile ]; then
		watch_ninja "$log"
	fi
	wait "$child" || rc=$?
	child=
	[ -z "$tty" ] || printf '\r\033[K' >"$tty"
	sed 's/^/  /' "$notes"
	if [ "$rc" -ne 0 ]; then
		grep -q '^no QEMU ' "$log" || tail -n 30 "$log" >&2
		mapfile -t text < <(explain "$log")
		die "$name: $what: failed after $(seconds_since "$start") s (exit status $rc)" \
			"${text[@]}" "The whole output: $log"
	fi
	printf '  %-10s %-58s %8s s\n' "$name" "$what" "$(seconds_since "$start")"
}

watch_ninja() { # LOG - "812/1650, about 90 s left", once a second
	local log=$1 begin=$SECONDS line done_ total left first=
	[ -n "$tty" ] || return 0
	while kill -0 "$child" 2>/dev/null; do
		sleep 1
		line=$(tail -c 2000 "$log" | tr '\r' '\n' | grep -oE '^\[[0-9]+/[0-9]+\]' | tail -n 1) || continue
		done_=${line#[} done_=${done_%%/*} total=${line##*/} total=${total%]}
		: "${first:=$done_}"
		left=
		if [ $((done_ - first)) -ge 20 ]; then
			left=", about $(((total - done_) * (SECONDS - begin) / (done_ - first))) s left"
		fi
		printf '\r\033[K  QEMU: %d/%d%s' "$done_" "$total" "$left" >"$tty"
	done
}

free_mib() { df -Pm "$build" | awk 'NR == 2 { print $4 }'; }

# ---- the steps ----

check_packages() {
	local name missing=()
	command -v dpkg-query >/dev/null || return 0
	while read -r name; do
		[[ $name == '' || $name == '#'* || $name == ccache ]] && continue
		dpkg-query -W -f '${Status}\n' "$name" 2>/dev/null | grep -q 'ok installed' || missing+=("$name")
	done <"$root/host-tools/packages.d/qemu.txt"
	[ "${#missing[@]}" -eq 0 ] ||
		die "packages are missing: ${missing[*]}" "apt-get install --no-install-recommends ${missing[*]}"
}

# debian.sh plans, fetches and unpacks the source of Debian's $suite; build/apt has its plan.
debian() {
	work=$apt/work lock=$apt/lock
	# shellcheck source=host-tools/debian.sh
	. "$root/host-tools/debian.sh"
	rm -rf "$work"
	mkdir -p "$work"
	release_init "$suite"
}

# Plan the source package, and have its files. A newer one is looked for if one was taken before: then build.sh --fetch
# asked for it.
fetch() { # [--update]
	local rc=0
	debian
	source_plan "$@" --tarball --versions "$versions" --fits series_fits qemu qemu || rc=$?
	[ "$rc" != 4 ] || echo "no QEMU ${versions%\*}x in the archive: QEMU_TARBALL=FILE"
	[ "$rc" = 0 ] || return "$rc"
	cp "$work/qemu.plan" "$plan.new" && mv "$plan.new" "$plan" && set_done fetch "$(source_version)"
}

source_version() { [ -e "${1:-$plan}" ] && awk 'NR == 1 { print $2 }' "${1:-$plan}"; } # [PLAN]

# Is this version one that the file series names: one that all patches were applied to, and tested with?
is_tried() { grep -qF "(Debian $1)" "$(series_of "$1")"; } # VERSION

# Does the series apply to the source of a plan? Where it is not known, apply it to a copy.
series_fits() { # PLAN
	local version rc=0
	version=$(source_version "$1")
	! is_tried "$version" || return 0
	rm -rf "$work/tried"
	unpack_source "$1" "$work/tried" && apply_series "$work/tried" || rc=$?
	rm -rf "$work/tried"
	[ "$rc" = 0 ] || note "the series does not apply to QEMU $version"
	return "$rc"
}

# A plan that another version of this script made may name a QEMU that the series is not for.
plan_is_good() {
	local version
	version=$(source_version) && is_of_base "$version"
}

# Unpack the source as it was fetched. The cache of files may have been emptied since, and the archive have moved on.
unpack_debian() { # DIR
	debian
	fetch_plan "$plan" || {
		[ -e "$plan.gone" ] || return 1
		note "the archive no longer has $(gone "$plan"): taking what it has now"
		fetch --update || return
	}
	unpack_source "$plan" "$1"
}

apply_series() { # DIR
	local name series
	series=$(series_of "$(<"$1/VERSION")")
	while read -r name; do
		echo "== ${name##*/}"
		if ! patch -d "$1" -p1 --forward --no-backup-if-mismatch --reject-file=- <"$name"; then
			echo "${name##*/} does not apply to QEMU $(cat "$1/VERSION"). The series was made for the"
			echo "versions that $series names."
			return 1
		fi
	done < <(patches_of "$series")
}

unpack() {
	local new=$src.new
	rm -rf "$new"
	if [ -n "${QEMU_TARBALL:-}" ]; then
		mkdir "$new"
		tar -C "$new" --strip-components=1 -xf "$QEMU_TARBALL"
	else
		unpack_debian "$new" || return
	fi
	if [ ! -f "$new/VERSION" ] || [ ! -d "$new/hw/nvme" ]; then
		echo "This is not a source tree of QEMU."
		return 1
	fi
	if ! apply_series "$new"; then
		# the next run looks for a source that this series applies to
		[ -n "${QEMU_TARBALL:-}" ] || is_tried "$(source_version)" || rm -rf "$plan" "$apt/lock" "$stamps/fetch"
		return 1
	fi

	if [ ! -d "$src" ]; then
		mv "$new" "$src"
		return
	fi
	# Same names and contents keep their times; what differs becomes new.
	(cd "$new" && find . \( -type f -o -type l \) -print0) |
		(cd "$new" && while IFS= read -r -d '' name; do
			[ -e "$src/$name" ] || printf '%s\0' "$name"
		done) >"$src.differs"
	{ diff -rq --no-dereference "$new" "$src" || true; } |
		sed -n "s|^Files $new/\\(.*\\) and $src/.* differ\$|\\1|p" | tr '\n' '\0' >>"$src.differs"
	(cd "$src" && find . -type f -print0) | (cd "$src" && while IFS= read -r -d '' name; do
		[ -e "$new/$name" ] || rm -f -- "$name"
	done)
	# shellcheck disable=SC2016  # for the inner shell
	xargs -0 -r -I{} sh -c 'mkdir -p "$2/$(dirname "$1")" && cp -P "$0/$1" "$2/$1" && touch -h "$2/$1"' \
		"$new" {} "$src" <"$src.differs"
	rm -rf "$new" "$src.differs"
}

copy_overlay() {
	local name
	mkdir -p "$made"
	devices_of "$(series_of "$(<"$src/VERSION")")" >"$made/slate.mak"
	cmp -s "$made/slate.mak" "$src/configs/devices/x86_64-softmmu/slate.mak" ||
		cp "$made/slate.mak" "$src/configs/devices/x86_64-softmmu/slate.mak"
	for name in "${overlay[@]}"; do
		mkdir -p "$src/$(dirname "$name")"
		cmp -s "$here/src/$name" "$src/$name" || cp "$here/src/$name" "$src/$name"
	done
	"$here/schema.sh" "$made"
	cmp -s "$made/$schema" "$src/$schema" || cp "$made/$schema" "$src/$schema"
}

make_venv() {
	local status=0 said
	said=$("$root/host-tools/venv.sh" qemu 2>&1) || status=$?
	echo "$said"
	[ "$status" != 0 ] || grep '^slate: ' <<<"$said" >>"$notes" || true
	return $status
}

configure() {
	mkdir -p "$obj"
	cd "$obj"
	PKG_CONFIG_PATH=$core/lib/pkgconfig "$src/configure" --python="$venv/bin/python3" "${flags[@]}"
}

compile() {
	cd "$obj"
	export PKG_CONFIG_PATH=$core/lib/pkgconfig NINJA_STATUS='[%f/%t] '
	ninja -j "$jobs" "${programs[@]}"
}

publish() { # hard links: what runs keeps its file when the next build replaces it
	local program name
	mkdir -p "$out"
	for program in "${programs[@]}"; do
		name=${program##*/}
		[ "$obj/$program" -ef "$out/$name" ] && continue
		ln -f "$obj/$program" "$out/.$name.new"
		mv -f "$out/.$name.new" "$out/$name"
	done
	printf '%s\n' "QEMU $(<"$src/VERSION") with nand-ssd, built $(date -u '+%Y-%m-%d %H:%M:%S') UTC" >"$out/READY"
}

all_there() {
	local program
	for program in "${programs[@]}"; do
		[ -x "$out/${program##*/}" ] || return 1
	done
}

# ---- main ----

newer=''
case ${1:-} in
'') ;;
--fetch)
	rm -f "$stamps/fetch"
	newer=--update
	;;
--source)
	[ -e "$plan" ] || die "no source package of QEMU was fetched here" "make qemu"
	notes=''
	unpack_debian "${2:?a folder to unpack into}"
	exit
	;;
--flags)
	printf '%s\n' "${flags[@]}"
	exit 0
	;;
*) die "unknown argument '$1'" "usage: [QEMU_TARBALL=FILE] $0 [--fetch | --flags | --source DIR]" ;;
esac
if [ -n "${QEMU_TARBALL:-}" ]; then
	[ -r "$QEMU_TARBALL" ] || die "QEMU_TARBALL: can not read '$QEMU_TARBALL'"
	QEMU_TARBALL=$(realpath "$QEMU_TARBALL")
fi

compute_ids
if all_there && is_done compile "$id_compile"; then
	exit 0
fi

mkdir -p "$logs" "$stamps" 2>/dev/null || die "can not write to $build: check its owner and the free space"
exec 9>"$stamps/lock"
if ! flock -n 9; then
	echo "  another build.sh works on $build: waiting for it"
	flock 9
	compute_ids
	if all_there && is_done compile "$id_compile"; then
		exit 0
	fi
fi

[ -f "$core/lib/pkgconfig/slate.pc" ] || die "the core is not installed under $core" "make core"
check_packages
if [ ! -x "$obj/qemu-img" ] && [ "$(free_mib)" -lt "$need_mib" ]; then
	die "the disk is full: QEMU's build takes about $need_mib MiB under $build, $(free_mib) MiB are free"
fi

if [ -z "${QEMU_TARBALL:-}" ] && { [ ! -f "$stamps/fetch" ] || ! plan_is_good; }; then
	undo fetch
	plan_is_good || rm -f "$plan"
	phase fetch "Debian's source package of QEMU ($suite)" fetch ${newer:+"$newer"}
	compute_ids
fi
if ! is_done unpack "$id_unpack" || [ ! -d "$src" ]; then
	undo unpack overlay compile
	phase unpack "unpack and patch" unpack
	compute_ids # the source may be another one
	set_done unpack "$id_unpack"
fi
if ! is_done overlay "$id_overlay"; then
	undo overlay compile
	copy_overlay
	set_done overlay "$id_overlay"
fi
if ! is_done python "$id_python"; then
	undo python configure
	phase python "meson for QEMU's build" make_venv
	set_done python "$id_python"
fi
if ! is_done configure "$id_configure" || [ ! -f "$obj/build.ninja" ]; then
	undo configure compile
	phase configure "configure QEMU $(<"$src/VERSION")" configure
	set_done configure "$id_configure"
fi
undo compile
phase compile "compile QEMU $(<"$src/VERSION") (-j$jobs)" compile
publish
set_done compile "$id_compile"

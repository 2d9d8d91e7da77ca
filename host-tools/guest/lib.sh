# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# lib.sh - functions that the scripts which build the guest share: messages, a lock, phases with a
# log, and what a guest is made of.
#
# A guest has a NAME, by default its Debian release: SLATE_GUEST, or else that in default-release. Its folder is
# build/guest/NAME; SLATE_BUILD names another folder than build. The lock in it (debian.sh) says how it is made, by
# lines "# release R", "# kernel PACKAGE", "# with PACKAGE..." ('slate guest make'), and which packages and sources it
# is made of.
#
# The script sets, before it sources this: who=NAME (begins every message), here=DIR of the
# scripts, package_list=FILE below packages.d.
: "${who:?}" "${here:?}" "${package_list:?}"

export LC_ALL=C TZ=UTC
umask 022

repo=$(dirname "$(dirname "$here")")
build=${SLATE_BUILD:-$repo/build}
guest=${SLATE_GUEST:-$(<"$here/default-release")}
out=$build/guest/$guest
lock=$out/lock
cache=$build/guest-cache
log_dir=$build/log
versions='' # what installed_versions printed

say() { echo "$who: $*"; }
die()
{
	echo "$who: error: $*" >&2
	exit 1
}

# Set the release that the guest is made of.
guest_release()
{
	local word
	# shellcheck source=host-tools/debian.sh
	. "$repo/host-tools/debian.sh"
	check_lock || exit 1
	word=$(lock_word release || echo "$guest")
	[[ $guest =~ ^[a-zA-Z0-9][a-zA-Z0-9._+-]*$ ]] || die "no name for a guest: '$guest'"
	release_init "$word"
}

# The guest's root is made of these packages: programs that go into the guest, and a compiler for ours. Programs of
# other packages, where a release has moved one: those of the lock's line "# also" (build.sh writes it).
IN_GUEST="nvme-cli e2fsprogs xfsprogs f2fs-tools util-linux blktrace busybox-static coreutils dash"
COMPILER="gcc make libc6-dev binutils bash sed grep diffutils findutils mawk patch tar gzip xz-utils zstd lz4 kmod
squashfs-tools ccache pkgconf libaio-dev zlib1g-dev libzstd-dev libgcrypt20-dev libjansson-dev liburing-dev libnvme-dev
bc bison flex libelf-dev perl-base"

# Make the guest's root, $work/build.
build_root()
{
	local also
	also=$(lock_word also) || also=''
	# shellcheck disable=SC2086 # one word per package
	make_root build $IN_GUEST $COMPILER $also
}

# Plan a package of this version or, if the archive no longer has it, of the newest.
plan_version() # PART PACKAGE VERSION
{
	part_plan --keep named "$1" "$2=$3" && return
	! lock_is_exact || return
	note "the archive has no $2 $3 any more: taking the newest"
	part_plan --keep named "$1" "$2"
}

# Print what Kconfig dropped of a config when it made SOURCE/.config: it is silent about options that it does not
# know, or whose dependencies are missing. A line with "# if known" counts only where a Kconfig file has the option.
dropped() # CONFIG SOURCE
{
	local line option
	while read -r line; do
		option=${line%%=*}
		case $line in *' # if known')
			line=${line% # if known}
			grep -rqxE --include='Kconfig*' "[[:space:]]*(menu)?config ${option#CONFIG_}" "$2" || continue
			;;
		esac
		case $line in
		CONFIG_*=n) ! grep -q "^$option=" "$2/.config" || echo "  $option is on" ;;
		CONFIG_*) grep -qxF -e "$line" "$2/.config" || echo "  $line was dropped" ;;
		esac
	done <"$1"
}

# ---- packages of this machine -----------------------------------------------

packages() { sed 's/#.*//' "$package_list"; }

# Print name and version of every listed package that is installed.
installed_versions()
{
	# shellcheck disable=SC2046 # one word per package
	{ dpkg-query -W -f '${Package} ${db:Status-Status} ${Version}\n' $(packages) 2>/dev/null || true; } |
		awk '$2 == "installed" { print $1, $3 }' | sort
}

# End the script if a listed package is not in $versions.
need_packages()
{
	local missing
	[ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] ||
		die "needs a Debian amd64 machine (dpkg --print-architecture)"
	missing=$(comm -23 <(packages | awk NF | sort -u) <(cut -d' ' -f1 <<<"$versions"))
	# shellcheck disable=SC2086 # on one line
	[ -z "$missing" ] || die "missing packages; as root: apt-get install --no-install-recommends" $missing
}

# ---- one at a time ----------------------------------------------------------

# Take the lock of the guest's build. Returns 1 if it had to wait: the other build may have done the work. A caller that
# has it passes its file descriptor's number in SLATE_GUEST_LOCKED.
take_lock()
{
	local waited=0
	mkdir -p "$cache" "$log_dir"
	if [ -n "${SLATE_GUEST_LOCKED:-}" ]; then
		exec 9>&"$SLATE_GUEST_LOCKED"
	else
		exec 9>"$cache/.lock"
	fi
	if ! flock -n 9; then
		say "waiting for another part of the guest's build"
		flock 9
		waited=1
	fi
	return $waited
}

need_space() # MB
{
	local free_mb
	free_mb=$(df -Pm "$cache" | awk 'NR == 2 { print $4 }')
	[ "$free_mb" -ge "$1" ] ||
		die "disk full: $free_mb MB left in $cache, needs $1 MB while building"
}

# Make $work, a directory that is removed when this script ends. The caller has the lock.
make_work()
{
	work=$(mktemp -d "$cache/tmp.XXXXXX")
	notes=$work/notes
	child=''
	trap cleanup EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	# Remove the directories of runs that were killed.
	find "$cache" -maxdepth 1 -name 'tmp.*' ! -path "$work" -exec rm -rf {} +
}

cleanup()
{
	# The child leads a process group of its own.
	[ -z "$child" ] || kill -TERM -- "-$child" 2>/dev/null || true
	rm -rf "$work"
}

# ---- running things ---------------------------------------------------------

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
	[ ! -s "$notes" ] || sed "s/^/$who: /" "$notes"
	: >"$notes"
	if [ "$status" -ne 0 ]; then
		local line
		! line=$(grep -m 1 '^the archive .* has no release ' "$log") || die "$line"
		tail -n 15 "$log" | sed 's/^/  | /' >&2
		explain "$log"
		die "failed: $text (status $status; all of it in ${log#"$repo/"})"
	fi
	local ms=$(((${EPOCHREALTIME/./} - t0) / 1000))
	say "$text: $((ms / 1000)).$((ms % 1000 / 100)) s"
}

left_mb() { df -Pm "$1" 2>/dev/null | awk 'NR == 2 { print $4 }'; } # DIR

# Is a disk of the build full? The log may be on it, and lack what its program said.
is_full() # LOG
{
	local dir left
	for dir in "$cache" "$user_cache"; do
		left=$(left_mb "$dir")
		[ "${left:-99}" -ge 5 ] || return 0
	done
	grep -qE "$FULL_DISK" "$1"
}

explain()
{
	if is_full "$1"; then
		say "the disk is full ($(left_mb "$cache") MB left in $cache, $(left_mb "$user_cache") in $user_cache)" >&2
	elif grep -qE "$NO_NETWORK" "$1"; then
		say "the Debian archive cannot be reached: no network, or the proxy in apt's configuration is down" >&2
	elif grep -q 'does not have a Release file' "$1"; then
		say "the Debian archive that this machine uses does not have the release that is named above" >&2
	elif grep -qE 'Unable to locate package|has no installation candidate' "$1"; then
		sed -nE "s/^E: (Unable to locate package|Package) '?([^ ']*).*/Debian's ${suite:-release} has no package \2/p" "$1" | sort -u |
			while read -r line; do say "$line" >&2; done
	elif lock_is_exact; then
		: # the lock decides: no newer package
	elif grep -qE '404 +Not Found' "$1"; then
		say "the package index is older than the archive: try build.sh --update" >&2
	fi
}

# Print the name of a cached product: a hash of its inputs, which are read from stdin.
key() { sha256sum | cut -c1-12; }

# ---- products that clones share ---------------------------------------------
# $user_cache/NAME/ has the files of a product and their checksums (older ones have none). NAME is KIND-KEY or
# KIND-VERSION-KEY, where KEY is a hash of the other inputs, so a clone with the same inputs takes the product instead
# of making it.

user_cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
user_cache=${user_cache:+$user_cache/slate}

# Remove a product. It is renamed first, so that a run that is interrupted leaves no part of it.
remove_shared() # NAME
{
	mv -T "$user_cache/$1" "$user_cache/tmp-$1.$$" && rm -rf "$user_cache/tmp-$1.$$"
}

# Copy a product's files to DIR. Returns 1 if the cache does not have it, or has it damaged.
take_shared() # NAME DIR
{
	local from=$user_cache/$1
	[ -n "$user_cache" ] && [ -d "$from" ] || return 1
	if ! (cd "$from" && compgen -G '*' && { [ ! -e SHA256SUMS ] || sha256sum --quiet --strict -c SHA256SUMS; }) \
		>/dev/null 2>&1; then
		say "$from is damaged: making it anew"
		remove_shared "$1" || true
		return 1
	fi
	if ! mkdir "$2" || ! cp "$from"/* "$2/"; then
		say "cannot copy $from: making it anew"
		rm -rf "${2:?}"
		return 1
	fi
	rm -f "$2/SHA256SUMS"
	touch -c "$from" || true
	say "taken from $user_cache: $1"
}

# Remove all products of a kind but two, and what runs left that were killed.
thin_out() # KIND
{
	local name
	find "$user_cache" -maxdepth 1 '(' -name "$1-[0-9]*" -o -name "$1-$(printf '[0-9a-f]%.0s' {1..12})" ')' -printf '%T@ %f\n' | sort -rn | tail -n +3 | cut -d' ' -f2- |
		while read -r name; do remove_shared "$name"; done
	find "$user_cache" -maxdepth 1 -name 'tmp-*' -mmin +600 -exec rm -rf {} +
}

# Copy FILEs to the cache. A cache that cannot be written is no error.
share() # NAME FILE...
{
	local name=$1 new
	shift
	[ -n "$user_cache" ] && [ ! -e "$user_cache/$name" ] || return 0
	if mkdir -p "$user_cache" && new=$(mktemp -d "$user_cache/tmp-$name.XXXXXX") && cp "$@" "$new/" &&
		(cd "$new" && sha256sum -- * >SHA256SUMS.tmp && mv SHA256SUMS.tmp SHA256SUMS) && chmod 755 "$new" &&
		{ mv -T "$new" "$user_cache/$name" || [ -e "$user_cache/$name" ]; }; then
		name=${name%-*}
		thin_out "${name%%-[0-9]*}" || true # it fails if another run removes the same product, or another user owns it
	else
		say "not shared with other clones: cannot write to $user_cache"
	fi 2>/dev/null
	rm -rf "${new:-}"
}

# ---- options ------------------------------------------------------------------

update='' force=''

# Take the options --update and --force; --help prints the head of the script.
read_options() # WORD...
{
	local word
	for word in "$@"; do
		case $word in
		--update) update=1 ;;
		--force) force=1 ;;
		-h | --help)
			sed -n '4,/^[^#]/s/^# \{0,1\}//p' "$0"
			exit 0
			;;
		*)
			echo "${0##*/}: unknown option $word (see --help)" >&2
			exit 2
			;;
		esac
	done
}

# ---- images: apps.img, content.img --------------------------------------------
# apps.sh and content.sh make $who.img and $who.json in $out of the lock's parts $who, $who-... and
# $more_parts, and keep the hash of all inputs in $stamp. The plan of $who-NAME is that of a source package.

stamp=$out/.$who-stamp
more_parts=build

# Print the lines of the lock that the image is made of.
image_parts()
{
	awk -v who="$who" -v more=" $more_parts " '
		{ part = $1 == "#" ? substr($2, 1, length($2) - 1) : $1 }
		part == who || index(part, who "-") == 1 || index(more, " " part " ")' "$lock"
}

# Have the plan of a part that build.sh has made.
locked_plan() # PART
{
	check_lock || return
	sed -n "s/^$1 //p" "$lock" >"$work/$1.plan"
	[ -s "$work/$1.plan" ] || { echo "the guest's lock has no part $1: run 'make guest'"; return 1; }
	fetch_plan "$work/$1.plan" && return
	[ -e "$work/$1.plan.gone" ] && check_exact "$work/$1.plan" || return 1
	gone "$work/$1.plan" >"$work/lost"
}

# Have that plan. If its files are gone, make the guest anew of what the archive has now, for the guest and the image
# must be of one kernel. The caller has the lock.
have_locked() # PART
{
	phase "$who-$1" "the guest's $1" locked_plan "$1"
	[ -e "$work/lost" ] || return 0
	say "the archive no longer has $(<"$work/lost"): making the guest anew, of what it has now"
	rm -rf "$work"
	SLATE_GUEST=$guest SLATE_GUEST_LOCKED=9 "$here/build.sh" --force
	make_work
	phase "$who-$1" "the guest's $1" locked_plan "$1"
	[ ! -e "$work/lost" ] || die "the archive has not what it had a minute ago: $(<"$work/lost")"
}

# Print all inputs of the image.
image_inputs()
{
	cat "$here/${0##*/}"
	image_parts
	declare -f pack_image unpack_plan unpack_source in_root
}

# Print one hash of the inputs and of the products.
image_stamp()
{
	{
		image_inputs
		(cd "$out" && stat -c '%n %s %Y' "$who.img" "$who.json")
	} 2>/dev/null | sha256sum
}

image_is_done() { [ -z "$update$force" ] && [ -e "$stamp" ] && [ "$(<"$stamp")" = "$(image_stamp)" ]; }

# End the script if there is nothing to do; else take the lock, and make $work.
begin_image() # MIN_FREE_MB
{
	! image_is_done || exit 0
	versions=$(installed_versions)
	need_packages
	[ -e "$lock" ] || die "the guest $guest has not been made: run 'make guest'"
	take_lock || true
	! image_is_done || exit 0
	need_space "$1"
	make_work
	# shellcheck disable=SC2046 # one word per part
	! lock_is_exact || phase "$who-lock" "all files that the lock names" have_exact $(image_parts | sed 's/ .*//' | sort -u)
}

# The name of the image in the cache.
image_name() { echo "$who-$(image_inputs | key)"; }

# End the script if another clone has made the image.
take_image()
{
	[ -z "$force" ] || return 0
	take_shared "$(image_name)" "$work/taken" || return 0
	mv "$work"/taken/* "$work/"
	publish_image
	exit 0
}

# Pack the image with lz4, which the emulated processor unpacks fastest.
pack_image()
{
	in_root "$work/build" "$work" mksquashfs root "$who.img" -noappend -no-progress -all-root -no-xattrs \
		-comp lz4 -b 131072 -mkfs-time 0 -all-time 0
}

# Publish the image, and its description.
finish_image()
{
	{
		echo '{'
		echo '  "packages": {'
		image_parts | awk -v who="$who" '$1 == who { print "    \"" $2 "\": \"" $3 "\"," }
			index($1, who "-") == 1 { print "    \"src " $2 "\": \"" $3 "\"," }' | uniq | sed '$s/,$//'
		echo '  },'
		echo "  \"sha256\": \"$(sha256sum <"$work/$who.img" | cut -d' ' -f1)\""
		echo '}'
	} >"$work/$who.json"
	share "$(image_name)" "$work/$who.img" "$work/$who.json"
	publish_image
}

publish_image()
{
	rm -f "$stamp"
	mv "$work/$who.img" "$work/$who.json" "$out/"
	image_stamp >"$stamp"
	say "ready: $(image_parts | grep -c "^$who ") packages, $(($(stat -c %s "$out/$who.img") / 1000000)) MB"
}

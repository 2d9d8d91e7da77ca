# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # variables of the script that sources this
#
# debian.sh - packages of a named Debian release, whatever the host is: the guest and QEMU are made of them.
# apt has a state of its own here; the system's configuration is read and never written. Nothing is installed.
#
#   release_init RELEASE        12, 13, bookworm, trixie, forky, ...: set $release, $suite and apt's options
#   update_lists                take new lists from the archive (need_lists: only if there are none)
#   part_plan PART PACKAGE...   decide what a part is made of, and have all of its files in the cache
#   source_plan PART SOURCE     the same for a source package (its options: below)
#   file_plan PART FILE.deb     the same for packages' files, each behind ".deb,/"
#   unpack_plan PLAN ROOT       unpack the packages into a new folder; no maintainer script runs
#   named_files PLAN DIR        give a plan's files their names: links in DIR
#   unpack_source PLAN DIR      unpack a source package, with Debian's patches, into a new folder
#   make_root NAME PACKAGE...   a root to run programs in (below); $work/NAME is a link to it
#   in_root ROOT DIR COMMAND... run COMMAND in that root, in DIR, /slate-build there; equal bytes from any host
#
# A *plan* is what apt chooses for some packages on an empty machine, sorted, one line a file:
#     NAME VERSION ARCH SHA256 BYTES PATH
# PATH begins with "debian/" or "security/", two archives whose addresses the host's apt knows. A source package has
# one line for each of its files, with ARCH "source", but none for .dsc and .asc: the signed lists name all files.
#
# The *lock* ($lock) has the plans of all parts of a guest, each line behind the PART, and before each plan what was
# asked: "# PART: words". part_plan takes a plan from the lock if the same is asked, and else writes it there. In a
# lock that contains the line "# exact" every plan is taken as it is, and none is made.
# The lock may be another person's, so check_lock() passes every line of it before one is used.
#
# Files are kept by their SHA-256 in $user_cache/files, which clones share; those unused for 60 days go. If the
# archive lists a file that it does not have, the lists are taken anew, and then the next version that is there.
# note() tells it.
#
# part_plan's options: --keep named|libs|kernel (of what apt chooses only: the packages named; these and libraries;
# those made of the kernel's source), --without 'PATTERN ...' (not these), --update (do not look into the lock).
# source_plan's options: --update, --tarball (the tarball without Debian's patches will do), --versions PATTERN (of the
# version without its epoch), --fits COMMAND (COMMAND PLAN is asked of each source before it is taken). It looks for
# versions in this release, and then in the next ones. If no release has one, it returns 4.
#
# The script sets, before it sources this: $build (keeps apt's state without a user's cache), and functions say() and
# die(); before it calls part_plan or later ones: $work (a temporary folder) and $lock.
#
# SLATE_DEBIAN=URI names an archive of Debian for hosts whose apt knows none, and SLATE_DEBIAN_SECURITY=URI its
# security updates, if they are not beside it (.../debian-security). SLATE_ETC_APT: a folder in place of /etc/apt.

user_cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
user_cache=${user_cache:+$user_cache/slate}
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
FULL_DISK='No space left on device|Wrote only [0-9]+ of [0-9]+ bytes' # of any program; of tar
KNOWN_RELEASES='12, 13, forky, sid'
NO_NETWORK='Temporary failure resolving|Could not (resolve|connect)|Connection (failed|timed out|refused)|Unable to connect|Network is unreachable'

# Print TEXT, and once more behind the progress line of the phase that this is part of.
note()
{
	echo "$*"
	[ -z "${notes:-}" ] || echo "$*" >>"$notes"
}

# ---- the archive ------------------------------------------------------------

# Print what the host's apt knows of SUITE's archive: "URIs: ...", "Signed-By: ...", "Trusted: ...", or nothing.
archive_of() # SUITE
{
	local file etc=${SLATE_ETC_APT:-/etc/apt} paragraphs=(/dev/null) lines=(/dev/null)
	for file in "$etc"/sources.list.d/*.sources; do
		[ ! -e "$file" ] || paragraphs+=("$file")
	done
	for file in "$etc"/sources.list "$etc"/sources.list.d/*.list; do
		[ ! -e "$file" ] || lines+=("$file")
	done
	# deb822: paragraphs of "Field: value", continued by lines that begin blank
	awk -v want="$1" '
		function flush(   i, n, s) {
			n = split(suites, s, " ")
			for (i = 1; i <= n; i++)
				if (s[i] == want && types ~ /deb/ && enabled != "no" && uri != "" && !found) {
					found = 1
					print "URIs: " uri
					printf "%s%s", key, trusted
				}
			types = suites = uri = key = trusted = field = enabled = ""
		}
		FNR == 1 { flush() }
		/^[ \t]*#/ { next }
		/^[ \t]*$/ { flush(); next }
		/^[^ \t]/ {
			field = tolower($1)
			value = $0
			sub(/^[^:]*:[ \t]*/, "", value)
			if (field == "types:") types = value
			else if (field == "suites:") suites = value
			else if (field == "enabled:") enabled = tolower(value)
			else if (field == "uris:") { split(value, u, " "); uri = u[1] }
			else if (field == "signed-by:") key = "Signed-By: " value "\n"
			else if (field == "trusted:") trusted = "Trusted: " value "\n"
			next
		}
		field == "signed-by:" { key = key $0 "\n" }
		END { flush() }
	' "${paragraphs[@]}"
	# one line each: deb [option=value ...] URI SUITE COMPONENT...
	awk -v want="$1" '
		$1 == "deb" || $1 == "deb-src" {
			options = ""
			line = $0
			sub(/^[^ \t]+[ \t]+/, "", line)
			if (match(line, /^\[[^]]*\][ \t]*/)) {
				options = substr(line, 2, RLENGTH - 2)
				line = substr(line, RLENGTH + 1)
			}
			split(line, f, /[ \t]+/)
			if (f[2] == want && f[1] !~ /^cdrom:/ && !found) {
				found = 1
				print "URIs: " f[1]
				if (match(options, /signed-by=[^] \t]+/)) print "Signed-By: " substr(options, RSTART + 10, RLENGTH - 10)
				if (match(options, /trusted=[^] \t]+/)) print "Trusted: " substr(options, RSTART + 8, RLENGTH - 8)
			}
		}
	' "${lines[@]}"
}

# Print the fields of the archive, or of that of security updates.
origin() # debian|security
{
	local id='' codename=''
	if [ -n "${SLATE_DEBIAN:-}" ]; then
		local uri=$SLATE_DEBIAN
		[ "$1" = debian ] || uri=${SLATE_DEBIAN_SECURITY:-$(beside "$uri")}
		[ -n "$uri" ] || return 0
		echo "URIs: $uri"
		[ ! -e "$KEYRING" ] || echo "Signed-By: $KEYRING"
		return
	fi
	# shellcheck source=/dev/null
	id=$(. /etc/os-release && echo "${ID:-} ${VERSION_CODENAME:-}")
	codename=${id#* }
	[ "${id% *}" = debian ] || [ -n "${SLATE_ETC_APT:-}" ] || return 0
	local main security
	main=$(archive_of "${codename:-sid}" | awk '!seen[$1]++ || /^[ \t]/')
	security=$(archive_of "${codename:-sid}-security" | awk '!seen[$1]++ || /^[ \t]/')
	if [ "$1" = debian ]; then
		echo "$main"
	elif [ -n "$security" ]; then
		echo "$security"
	else # a release under construction needs none; others do
		local uri
		uri=$(beside "$(sed -n 's/^URIs: *//p' <<<"$main")")
		[ -z "$uri" ] || awk -v uri="$uri" '/^URIs:/ { $2 = uri } 1' <<<"$main"
	fi
}

# Print where a mirror has security updates by convention, beside .../debian.
beside() { sed -nE 's,^(.*/debian)/*$,\1-security,p' <<<"$1"; } # URI

# Set the release, and prepare a state of apt for it.
release_init() # RELEASE [deb-src, for sources alone]
{
	local main security text types=${2:-deb deb-src}
	case $1 in
	12 | bookworm) release=12 suite=bookworm ;;
	13 | trixie) release=13 suite=trixie ;;
	'' | *[!a-z]*) die "no Debian release is called '$1': name it by number (12, 13) or in words (trixie, forky)" ;;
	*) release=$1 suite=$1 ;;
	esac
	main=$(origin debian)
	[ -n "$main" ] || die "this machine's apt names no archive of Debian to ask for $suite: set SLATE_DEBIAN=URI"
	security=$(origin security)
	text=$(
		printf 'Types: %s\n%s\nSuites: %s\nComponents: main\n' "$types" "$main" "$suite"
		[ "$suite" != sid ] || exit 0
		printf '\nTypes: %s\n%s\nSuites: %s-updates\nComponents: main\n' "$types" "$main" "$suite"
		[ -z "$security" ] ||
			printf '\nTypes: %s\n%s\nSuites: %s-security\nComponents: main\n' "$types" "$security" "$suite"
	)
	debian_uri=$(sed -n 's,^URIs: *\([^ ]*[^ /]\)/*$,\1,p' <<<"$main")
	security_uri=$(sed -n 's,^URIs: *\([^ ]*[^ /]\)/*$,\1,p' <<<"$security")
	apt_state=${user_cache:-$build}/apt-$suite-$(sha256sum <<<"$text" | cut -c1-12)
	mkdir -p "$apt_state"/{lists/partial,cache/archives/partial,sources.d} ||
		die "can not write to $apt_state: check its owner and the free space"
	[ -e "$apt_state/sources.d/debian.sources" ] || printf '%s\n' "$text" >"$apt_state/sources.d/debian.sources"
	: >>"$apt_state/status"
	apt_options=(-o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$apt_state/sources.d"
		-o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null
		-o "Dir::State=$apt_state" -o "Dir::State::status=$apt_state/status" -o "Dir::Cache=$apt_state/cache"
		-o "APT::Sandbox::User=$(id -un)" -o APT::Architecture=amd64 -o APT::Architectures=amd64
		-o APT::Default-Release= -o Acquire::ForceHash=SHA256 -o Acquire::Retries=2 -o Acquire::Languages=none
		-o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false
		-o Acquire::IndexTargets::deb::DEP-11-icons-small::DefaultEnabled=false
		-o Acquire::IndexTargets::deb::DEP-11-icons::DefaultEnabled=false
		-o Acquire::Check-Valid-Until=false)
}

have_lists() { compgen -G "$apt_state/lists/*_dists_${suite}_*Release" >/dev/null; }

# Take new lists, unless they are of the last ten minutes. One of updates may be absent, because a release under
# construction has none; old lists stay. Return 5 if the archive has no such release.
update_lists()
{
	local until file said why="cannot be reached or read, and there are no lists of $suite"
	[ -z "$(find "$apt_state/.lock" -mmin -10 2>/dev/null)" ] || ! have_lists || return 0
	exec 8>"$apt_state/.lock"
	flock 8
	said=$(apt-get "${apt_options[@]}" -q update 2>&1 8>&-) || said+=$'\n'"apt-get update: status $?"
	echo "$said"
	exec 8>&-
	if ! have_lists; then
		[[ $said != *'No space left'* ]] || { echo "No space left on device: $apt_state" && return 2; }
		if grep -qE 'NO_PUBKEY|is not signed|EXPKEYSIG' <<<"$said"; then
			why="has no signature of $suite by a key of this machine: install debian-archive-keyring, or a newer one"
		elif grep -qE 'does not have a Release file|404 +Not Found|File not found' <<<"$said" &&
			! grep -qE "$NO_NETWORK" <<<"$said"; then
			rm -rf "${apt_state:?}"
			echo "the archive $debian_uri has no release '$suite'; known releases: $KNOWN_RELEASES"
			return 5
		fi
		echo "the archive $debian_uri $why"
		return 1
	fi
	! grep -qE "$NO_NETWORK" <<<"$said" || note "the archive $debian_uri cannot be reached: its old list of $suite stays"
	touch "$apt_state/.lock"
	for file in "$apt_state"/lists/*_dists_"${suite}"_*Release; do
		until=$(sed -n 's/^Valid-Until: //p' "$file" | head -n 1)
		[ -z "$until" ] || [ "$(date -d "$until" +%s)" -gt "$(date +%s)" ] ||
			note "the archive's list of $suite is out of date (valid until $until): taken as it is"
	done
}

need_lists()
{
	local status=0
	have_lists && return
	exec 8>"$apt_state/.first"
	flock 8
	have_lists || update_lists 8>&- || status=$?
	exec 8>&-
	return $status
}

# ---- files --------------------------------------------------------------------

files_dir() { echo "${user_cache:-$build}/files"; }
file_of() { echo "$(files_dir)/$1"; } # SHA256

# Print the address of a file of a plan.
uri_of() # PATH
{
	case $1 in
	debian/*) echo "$debian_uri/${1#*/}" ;;
	security/*) echo "${security_uri:-$debian_uri}/${1#*/}" ;;
	local/*) echo "file:/nonexistent/${1#*/}" ;; # a package's file, which only the cache has
	esac
}

# Print the lines of a plan whose files the cache has not, or has damaged (those are removed).
missing_files() # PLAN
{
	local dir name version arch hash bytes path
	dir=$(files_dir)
	mkdir -p "$dir" || return
	while read -r name version arch hash bytes path; do
		[ ! -e "$dir/$hash" ] || echo "$hash  $hash"
	done <"$1" | (cd "$dir" && sha256sum --quiet -c - 2>/dev/null) | sed -n 's/: FAILED.*//p' |
		while read -r hash; do
			note "$dir/$hash is damaged: fetching it anew" >&2
			rm -f "$dir/$hash"
		done
	while read -r name version arch hash bytes path; do
		if [ -e "$dir/$hash" ]; then
			touch -c "$dir/$hash" 2>/dev/null || true
		else
			echo "$name $version $arch $hash $bytes $path"
		fi
	done <"$1"
}

# Have all files of a plan in the cache. Return 1 if the archive has not all; PLAN.gone has their lines.
fetch_plan() # PLAN
{
	local name version arch hash bytes path tmp words=() sum=0 free_mb said full=''
	rm -f "$1.gone"
	missing_files "$1" >"$1.missing"
	[ -s "$1.missing" ] || return 0
	tmp=$(mktemp -d "$(files_dir)/tmp-XXXXXX")
	while read -r name version arch hash bytes path; do
		words+=("$(uri_of "$path")" "$tmp/$hash" "SHA256:$hash")
		sum=$((sum + 10#$bytes))
	done <"$1.missing"
	free_mb=$(df -Pm "$tmp" | awk 'NR == 2 { print $4 }')
	[ "$free_mb" -gt $((sum / 1000000 + 50)) ] || {
		rm -rf "$tmp"
		echo "No space left on device: $free_mb MB in $(files_dir), and $((sum / 1000000)) MB to fetch"
		return 2
	}
	said=$(/usr/lib/apt/apt-helper "${apt_options[@]}" -q download-file "${words[@]}" 2>&1) || true
	echo "$said"
	[[ $said != *'No space left'* ]] || full=1
	while read -r name version arch hash bytes path; do
		if [ "$(sha256sum 2>/dev/null <"$tmp/$hash" | cut -d' ' -f1)" = "$hash" ]; then
			cp -L "$tmp/$hash" "$tmp/whole" && mv "$tmp/whole" "$(file_of "$hash")" || full=1
		else
			echo "$name $version $arch $hash $bytes $path" >>"$1.gone"
		fi
		rm -f "$tmp/$hash"
	done <"$1.missing"
	if [ -n "$full" ]; then
		rm -rf "$tmp" "$1.gone"
		echo "No space left on device: $(files_dir)"
		return 2
	fi
	if [ -e "$1.gone" ] && grep -qE "$NO_NETWORK" <<<"$said"; then
		echo "the archive $debian_uri cannot be reached, and the cache has not: $(gone "$1")"
		rm -rf "$tmp" "$1.gone"
		return 3
	fi
	rm -rf "$tmp"
	find "$(files_dir)" -maxdepth 1 -type f -mtime +60 -delete 2>/dev/null || true
	find "$(files_dir)" -maxdepth 1 -name 'tmp-*' -mmin +600 -exec rm -rf {} + 2>/dev/null || true
	[ ! -e "$1.gone" ]
}

# ---- plans ----------------------------------------------------------------------

# Make lines of a plan of what apt-get --print-uris prints. ARCH and VERSION of a source are given.
plan_lines() # [NAME VERSION]
{
	awk -v main="$debian_uri/" -v security="$security_uri/" -v source="${1:-}" -v version="${2:-}" '
		function path(uri) {
			if (security != "/" && index(uri, security) == 1) return "security/" substr(uri, length(security) + 1)
			if (index(uri, main) == 1) return "debian/" substr(uri, length(main) + 1)
		}
		/^\047/ {
			uri = substr($1, 2, length($1) - 2)
			gsub(/%2[bB]/, "+", uri)
			gsub(/%7[eE]/, "~", uri)
			if ($4 !~ /^SHA256:/ || path(uri) == "") {
				print "apt names no SHA-256, or another archive, for " uri >"/dev/stderr"
				exit 1
			}
			split($2, word, "_")
			gsub(/%3a/, ":", word[2])
			sub(/\.u?deb$/, "", word[3])
			if (source != "") {
				if ($2 ~ /\.(asc|dsc)$/) next
				word[1] = source; word[2] = version; word[3] = "source"
			}
			print word[1], word[2], word[3], substr($4, 8), $3, path(uri)
		}' | LC_ALL=C sort
}

# Leave of a plan, read from stdin, what part_plan's options say. PACKAGES are those that were named.
filter_plan() # KEEP WITHOUT PACKAGE...
{
	local keep=$1 without=$2 name rest names=() pattern kept
	shift 2
	cat >"$work/all"
	kept=" ${*%%=*} "
	mapfile -t names < <(cut -d' ' -f1 "$work/all")
	case $keep in
	libs)
		kept+=$(apt-cache "${apt_options[@]}" show --no-all-versions "${names[@]}" |
			awk '$1 == "Package:" { name = $2 } $1 == "Section:" && $2 ~ /(^|\/)(old)?libs$/ { printf "%s ", name }') ;;
	kernel) # linux-image's source, which may be signed elsewhere
		kept+=$(apt-cache "${apt_options[@]}" show --no-all-versions "${names[@]}" |
			awk '$1 == "Package:" { name = $2 } $1 == "Source:" && $2 ~ /^linux(-signed-.*)?$/ { printf "%s ", name }') ;;
	esac
	while read -r name rest; do
		[ "$keep" = all ] || [[ "$kept " == *" $name "* ]] || continue
		set -f
		for pattern in $without; do
			# shellcheck disable=SC2053 # a pattern
			[[ $name != $pattern ]] || continue 2
		done
		set +f
		echo "$name $rest"
	done <"$work/all"
	set +f
}

resolve() # PLAN KEEP WITHOUT PACKAGE...
{
	local plan=$1 keep=$2 without=$3
	shift 3
	need_lists || return
	apt-get "${apt_options[@]}" -o "Dir::Etc::Preferences=$work/gone.pref" -qq -y --no-install-recommends \
		--print-uris install -- "$@" >"$plan.uris" || return
	plan_lines <"$plan.uris" | filter_plan "$keep" "$without" "$@" >"$plan" || return
	[ -s "$plan" ]
}

# Replace a part's plan in the lock.
lock_part() # PART PLAN WORDS
{
	touch "$lock"
	{
		awk -v part="$1" '$1 != part && !($1 == "#" && $2 == part ":")' "$lock"
		echo "# $1: $3"
		sed "s/^/$1 /" "$2"
	} >"$lock.new"
	mv "$lock.new" "$lock"
}

# Return 1, and name the line, if the lock has one that is neither a comment, nor words, nor a line of a plan.
check_lock()
{
	local name='[a-z0-9][a-z0-9+.-]*' bad
	[ -e "$lock" ] || return 0
	bad=$(LC_ALL=C sed -nE "
		/^# release [a-z0-9]+\$/b
		/^# kernel ($name|\/[^[:cntrl:]]*\.deb)\$/b
		/^# (with|also)( $name)+\$/b
		/^# (release|kernel|with|also)( |\$)/bbad
		/^(#|\$)/b
		# PART NAME VERSION ARCH SHA256 BYTES PATH, without .. in the path
		/^$name $name [A-Za-z0-9][A-Za-z0-9.+:~-]* [a-z0-9]+ [0-9a-f]{64} [0-9]{1,12} (debian|security|local)\/(\.?[^.[:cntrl:]])*\.?\$/b
		:bad
		=
		p
		q" "$lock" | cat -v | cut -c1-160 | paste -sd' ') || return
	[ -z "$bad" ] || {
		echo "$lock: line ${bad%% *} is not of a lock: '${bad#* }': make the lock again" >&2
		return 1
	}
}

# Print the words of the lock's first line "# NAME words", which says how the guest is made. Return 1 if it has none.
lock_word() { [ -e "$lock" ] && sed -n "/^# $1 /{s///p;q}" "$lock" | grep .; } # NAME

# Replace the line "# NAME words" of the lock; without words, remove it.
set_lock_word() # NAME [WORDS]
{
	mkdir -p "$(dirname "$lock")"
	touch "$lock"
	{
		[ -z "${2:-}" ] || echo "# $1 $2"
		grep -v -e "^# $1 " -e "^# $1\$" "$lock" || true
	} >"$lock.new"
	mv "$lock.new" "$lock"
}

drop_exact() { [ ! -e "$lock" ] || sed -i '/^# exact$/d' "$lock"; }

lock_is_exact() { grep -qsx '# exact' "$lock"; }

# Print a part's plan of the lock, if WORDS was asked for it. Print nothing otherwise: it is to be made.
locked() # PART WORDS
{
	[ -e "$lock" ] || return 0
	check_lock || return
	if lock_is_exact; then
		sed -n "s/^$1 //p" "$lock" | grep . || {
			echo "the lock is exact, and has no part $1: take a lock that has it, or --update" >&2
			return 1
		}
	elif grep -qxF "# $1: $2" "$lock"; then
		sed -n "s/^$1 //p" "$lock"
	fi
}

# Say what of PLAN.gone is gone, "NAME VERSION" each once.
gone() { cut -d' ' -f1,2 "$1.gone" | sort -u | paste -sd, | sed 's/,/, /g'; } # PLAN

# End if an exact lock names what can not be had.
check_exact() # PLAN
{
	lock_is_exact || return 0
	echo "the lock names what neither the cache nor the archive has: $(gone "$1")"
	return 1
}

# Have the files of all PARTs that an exact lock names, or name all that is gone before a part is made.
have_exact() # PART...
{
	local plan=$work/exact.plan
	check_lock || return
	awk -v parts=" $* " '$1 != "#" && index(parts, " " $1 " ") && sub(/^[^ ]+ /, "")' "$lock" | LC_ALL=C sort -u >"$plan"
	fetch_plan "$plan" && return
	[ ! -e "$plan.gone" ] || check_exact "$plan"
	return 1
}

# Take a part's plan from the lock, with its files. Returns 2 if the plan must be made anew.
take_locked() # PART WORDS
{
	local plan=$work/$1.plan
	locked "$1" "$2" >"$plan" || return 1
	[ -s "$plan" ] || return 2
	fetch_plan "$plan" && return
	[ -e "$plan.gone" ] || return 1
	check_exact "$plan" || return 1
	note "the archive no longer has $(gone "$plan"): taking what it has now"
	return 2
}

# Plan a part (see above): $work/PART.plan.
part_plan() # [OPTION...] PART PACKAGE...
{
	local keep=all without='' anew='' part plan words status=2 name version try
	while :; do
		case $1 in
		--keep) keep=$2 && shift 2 ;;
		--without) without=$2 && shift 2 ;;
		--update) anew=1 && shift ;;
		*) break ;;
		esac
	done
	part=$1 plan=$work/$1.plan
	shift
	words=$(tr -s '\n\t ' ' ' <<<"$*${without:+ without $without} ($keep, $suite)" | sed 's/ $//')
	: >"$work/gone.pref"
	[ -n "$anew" ] || { status=0 && take_locked "$part" "$words" || status=$?; }
	[ "$status" = 2 ] || return "$status"
	for try in 1 2 3 4 5 6; do
		[ "$try" != "${anew:-2}" ] || update_lists || return
		resolve "$plan" "$keep" "$without" "$@" || {
			[ "$try" = 1 ] && [ -z "$anew" ] && have_lists || return
			continue
		}
		status=0
		fetch_plan "$plan" || status=$?
		[ -e "$plan.gone" ] || break
		[ "$try" != 1 ] || [ -n "$anew" ] || continue
		# The new lists name files that are not there: choose among the other versions.
		note "the archive of $suite lists $(gone "$plan") and has it not: taking another version"
		while read -r name version _; do
			printf 'Package: %s\nPin: version %s\nPin-Priority: -1\n\n' "$name" "$version"
		done <"$plan.gone" >>"$work/gone.pref"
		status=1
	done
	[ "$status" = 0 ] || return "$status"
	lock_part "$part" "$plan" "$words"
}

# Plan a part that is packages' files: $work/PART.plan. With all files in the cache, they need not be there any more.
file_plan() # PART FILE.deb[,FILE.deb...], absolute paths
{
	local part=$1 words=$2 plan=$work/$1.plan files file lost=''
	mapfile -t files < <(sed 's,\.deb\,/,.deb\n/,g' <<<"$words")
	for file in "${files[@]}"; do
		[ -e "$file" ] || lost=$file
	done
	if [ -z "$lost" ]; then
		for file in "${files[@]}"; do
			keep_file "$file" || return
		done >"$plan.new"
		mv "$plan.new" "$plan"
		lock_part "$part" "$plan" "$words"
	else
		locked "$part" "$words" >"$plan" || return
		if [ ! -s "$plan" ] || [ -n "$(missing_files "$plan")" ]; then
			echo "$lost is not there, and the cache does not have it"
			return 1
		fi
	fi
}

# Copy a package's file to the cache, and print its line of a plan.
keep_file() # FILE.deb
{
	local file=$1 hash
	dpkg-deb --fsys-tarfile "$file" | tar -t >/dev/null || {
		echo "$file is damaged: make or copy it again" >&2
		return 1
	}
	hash=$(sha256sum <"$file" | cut -d' ' -f1)
	mkdir -p "$(files_dir)"
	cp "$file" "$(file_of "$hash").tmp-$$" && mv "$(file_of "$hash").tmp-$$" "$(file_of "$hash")" || return
	# shellcheck disable=SC2016 # fields of dpkg-deb
	echo "$(dpkg-deb -W --showformat='${Package} ${Version} ${Architecture}' "$file") $hash $(stat -c %s "$file") local/${file##*/}"
}

next_suite() # SUITE
{
	case $1 in
	bookworm) echo trixie ;;
	trixie) echo forky ;;
	forky) echo sid ;;
	esac
}

# Print the versions of a source package that the lists offer and that match $wanted, newest first.
source_versions() # SOURCE
{
	local version
	apt-cache "${apt_options[@]}" showsrc --only-source "$1" 2>/dev/null | awk '$1 == "Version:" { print $2 }' |
		sort -Vru | while read -r version; do
			# shellcheck disable=SC2053 # a pattern
			[[ ${version#*:} != $wanted ]] || echo "$version"
		done
}

# Plan a source package (see above): $work/PART.plan.
source_plan() # [OPTION...] PART SOURCE
{
	local anew='' tarball='' wanted='*' fits=true unfit=' ' part plan words status=2
	while :; do
		case $1 in
		--update) anew=1 && shift ;;
		--tarball) tarball=1 && shift ;;
		--versions) wanted=$2 && shift 2 ;;
		--fits) fits=$2 && shift 2 ;;
		*) break ;;
		esac
	done
	part=$1 plan=$work/$1.plan words="source $2 ($suite)"
	[ "$wanted" = '*' ] || words="source $2 $wanted ($suite)"
	[ -n "$anew" ] || { status=0 && take_locked "$part" "$words" || status=$?; }
	[ "$status" = 2 ] || return "$status"
	[ -z "$anew" ] || update_lists || return
	find_source "$plan" "$2" '' || return
	lock_part "$part" "$plan" "$words"
}

# Take the newest version that is there: of this release, with old lists and with new ones, or of the next release.
# Of source_plan's variables it uses $tarball, $wanted and $fits, and keeps in $unfit the versions that do not.
find_source() # PLAN SOURCE WHY-THIS-RELEASE
{
	local plan=$1 name=$2 why=$3 version next missed='' lists status
	for lists in old new; do
		status=0
		if [ "$lists" = old ]; then need_lists; else update_lists; fi || status=$?
		[ "$status" != 5 ] || [ -z "$why" ] || break # an archive without the next release
		[ "$status" = 0 ] || return "$status"
		missed=''
		for version in $(source_versions "$name"); do
			[[ $unfit != *" $version "* ]] || continue
			apt-get "${apt_options[@]}" -qq --download-only --print-uris source --only-source "$name=$version" \
				>"$plan.uris" || continue
			plan_lines "$name" "$version" <"$plan.uris" >"$plan" || return
			[ -z "$why" ] || note "$why: taking that of $suite"
			why=''
			status=0
			take_source "$plan" "$name" "$version" || status=$?
			case $status in
			0)
				[ -z "$missed" ] ||
					note "the archive of $suite lists the source of $name$missed and has it not: taking $version"
				return
				;;
			3) missed+=" $version" ;;
			4) unfit+="$version " ;;
			*) return 1 ;;
			esac
		done
	done
	rm -f "$plan"
	next=$(next_suite "$suite")
	[ -n "$next" ] || {
		[ "$wanted" = '*' ] || name+=" $wanted"
		echo "the archive has no source of $name, of no release"
		return 4
	}
	: "${why:="the archive of $suite ${missed:+lists the source of $name$missed and }has it not"}"
	(release_init "$next" deb-src && find_source "$plan" "$name" "$why")
}

# Have the files of a source, or of its tarball alone. Return 3 if the archive has them not, 4 if they do not fit.
take_source() # PLAN SOURCE VERSION
{
	local plan=$1 name=$2 version=$3 status=0 why
	fetch_plan "$plan" || status=$?
	if [ "$status" = 0 ]; then
		"$fits" "$plan" && return
		status=4 why="$name $version with Debian's patches does not fit"
	else
		[ -e "$plan.gone" ] || return 1
		status=3 why="the archive has no whole source of $name $version"
		! grep -q '\.orig\.tar\.' "$plan.gone" || return 3
	fi
	grep '\.orig\.tar\.[a-z0-9]*$' "$plan" >"$plan.tar" || return "$status"
	[ -n "$tarball" ] && ! cmp -s "$plan" "$plan.tar" || return "$status"
	mv "$plan.tar" "$plan"
	"$fits" "$plan" || return 4
	note "$why: taking its tarball, without Debian's patches"
}

# ---- unpacking ------------------------------------------------------------------

# Make a folder of links to a plan's files, by the names that the archive has for them.
named_files() # PLAN DIR
{
	local hash path
	mkdir -p "$2"
	while read -r _ _ _ hash _ path; do
		ln -sf "$(file_of "$hash")" "$2/${path##*/}"
	done <"$1"
}

# Make what the base packages' maintainer scripts would have made.
base_tree() # ROOT
{
	local name
	mkdir -p "$1"/{dev,proc,sys,run,tmp,root,etc,slate-build,ccache} \
		"$1"/{var/tmp,var/lib/dpkg/info,var/lib/dpkg/updates,usr/bin,usr/sbin,usr/lib,usr/lib64}
	for name in bin sbin lib lib64; do
		ln -s "usr/$name" "$1/$name"
	done
	echo 'root:x:0:0:root:/root:/bin/sh' >"$1/etc/passwd"
	echo 'root:x:0:' >"$1/etc/group"
	: >"$1/var/lib/dpkg/status"
	chmod 1777 "$1/tmp" "$1/var/tmp"
}

unpack_plan() # PLAN ROOT
{
	local hash
	mkdir "$2"
	base_tree "$2"
	while read -r _ _ _ hash _; do
		dpkg-deb --fsys-tarfile "$(file_of "$hash")" |
			tar -x -C "$2" --keep-directory-symlink --no-same-owner --no-same-permissions || return
	done <"$1"
	# links that maintainer scripts make (update-alternatives)
	alternative "$2" awk mawk original-awk gawk
	alternative "$2" cc gcc
	alternative "$2" c++ g++
	alternative "$2" pkg-config pkgconf
}

# Make NAME a link to the first of PROGRAMS that is there, if nothing of that name is.
alternative() # ROOT NAME PROGRAM...
{
	local root=$1 name=$2 program
	shift 2
	[ ! -e "$root/usr/bin/$name" ] || return 0
	for program in "$@"; do
		[ ! -e "$root/usr/bin/$program" ] || { ln -sf "$program" "$root/usr/bin/$name" && return; }
	done
}

unpack_source() # PLAN DIR
{
	local patch
	named_files "$1" "$2.files"
	mkdir "$2"
	tar -C "$2" --strip-components=1 --no-same-owner -xf "$2.files"/*.orig.tar.* || return
	if compgen -G "$2.files/*.debian.tar.*" >/dev/null; then
		tar -C "$2" --no-same-owner -xf "$2.files"/*.debian.tar.* || return
		[ ! -e "$2/debian/patches/series" ] || sed 's/#.*//' "$2/debian/patches/series" | while read -r patch _; do
			[ -z "$patch" ] || patch -d "$2" -p1 -F0 -N -s --no-backup-if-mismatch -i "debian/patches/$patch" || return
		done || return
	fi
	rm -rf "$2.files"
}

# ---- roots ------------------------------------------------------------------------

# Roots go without these: sanitizers, manuals, and what configures or starts a system.
NOT_IN_ROOTS="libasan* liblsan* libtsan* libubsan* libhwasan* libgprofng* rpcsvc-proto manpages* debconf* install-info
readline-common base-files base-passwd *-sysv init* sysvinit-utils systemd* libsystemd-shared mount passwd adduser login*
openssl-provider-legacy uuid-runtime lsb-base sysuser-helper dbus* usrmerge logsave udev tzdata* libpam-modules*
libpam-runtime ucf sensible-utils"

# Make a root of packages and what they depend on, in the cache that clones share.
make_root() # NAME PACKAGE...
{
	local name=$1 plan=$work/$1.plan dir=${user_cache:-$build} root
	shift
	part_plan ${ROOT_UPDATE:+--update} --without "$NOT_IN_ROOTS" "$name" "$@" || return
	root=$dir/root-$name-$suite-$({ cat "$plan"; declare -f base_tree unpack_plan; } | sha256sum | cut -c1-12)
	if [ ! -d "$root" ]; then
		mkdir -p "$dir"
		rm -rf "$root.tmp-$$"
		unpack_plan "$plan" "$root.tmp-$$" || { rm -rf "$root.tmp-$$"; return 1; }
		mv -T "$root.tmp-$$" "$root" || { rm -rf "$root.tmp-$$"; [ -d "$root" ]; } || return
	fi
	touch -c "$root" || true
	ln -sfn "$root" "$work/$name"
	# the two that were used last of each kind stay; another run may be in one. No interrupt leaves half a root.
	find "$dir" -maxdepth 1 -type d -name "root-$name-$suite-*" -mmin +600 -printf '%T@ %p\n' | sort -rn | tail -n +2 |
		cut -d' ' -f2- | while read -r root; do mv -T "$root" "$dir/tmp-${root##*/}" && rm -rf "$dir/tmp-${root##*/}"; done || true
}

# Run a command in a root. Of the host it sees DIR (as /slate-build), /dev, /proc, the network, ccache and the time;
# its programs, libraries and environment are those of the root alone.
in_root() # ROOT DIR COMMAND...
{
	local root dir how=() env
	root=$(readlink -f "$1") dir=$(readlink -f "$2")
	shift 2
	env=(env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C TZ=UTC CCACHE_DIR=/ccache)
	[ "$(id -u)" = 0 ] || how=(--map-root-user)
	if unshare "${how[@]}" --mount mount --bind "$dir" "$root/slate-build" 2>/dev/null; then
		local compiled=${CCACHE_DIR:-${user_cache:+${user_cache%/*}/ccache}}
		mkdir -p "${compiled:=$dir/.ccache}" 2>/dev/null || compiled=$dir
		# shellcheck disable=SC2016 # for the inner shell
		unshare "${how[@]}" --mount sh -ec '
			mount --bind "$1" "$1"
			mount -o remount,bind,ro "$1"
			mount --bind "$2" "$1/slate-build"
			mount --bind "$3" "$1/ccache"
			mount --rbind /proc "$1/proc"
			mount --rbind /dev "$1/dev"
			mount -t tmpfs -o mode=1777 tmp "$1/tmp"
			root=$1
			shift 3
			exec "$@"' sh "$root" "$dir" "$compiled" \
			"${env[@]}" chroot "$root" sh -c 'cd /slate-build && exec "$@"' sh "$@"
	elif [ "$(id -u)" = 0 ]; then # a container that may not mount: a copy of DIR
		(
			exec 8>"$root.lock"
			flock 8
			[ -c "$root/dev/null" ] || mknod -m 666 "$root/dev/null" c 1 3
			trap 'find "$root/slate-build" -mindepth 1 -delete' EXIT
			cp -a "$dir/." "$root/slate-build/"
			status=0
			"${env[@]}" CCACHE_DISABLE=1 chroot "$root" sh -c 'cd /slate-build && exec "$@"' sh "$@" 8>&- || status=$?
			cp -a "$root/slate-build/." "$dir/"
			exit $status
		)
	else
		echo "in_root: neither root nor user namespaces: run as root, or allow them (sysctl kernel.unprivileged_userns_clone=1)"
		return 1
	fi
}

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# fdp.sh [--update] [--force]: make build/guest/fio-fdp, a fio that names placement
# handles (fdp=1) with io_uring_cmd: 'slate run --file build/guest/fio-fdp'.
#
#   --update   look for a newer version; otherwise the first run has chosen it
#   --force    build it again even if nothing changed
#
# The guest's own fio is that of this machine's Debian release, and older than fdp=1
# (3.35). So this one is the tarball of a newer release's source package, which apt checks
# against the signed list of that release. It uses the archives that 'make qemu' has found.
# build/guest-cache/fdp keeps it, and ${XDG_CACHE_HOME:-~/.cache}/slate the program for other clones.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
who=fdp
package_list=$here/../packages.d/guest.txt
# shellcheck source=host-tools/guest/lib.sh
. "$here/lib.sh"
suite=forky
origin=$repo/build/apt/sources.d
state=$repo/build/apt-fdp
kept=$cache/fdp
stamp=$out/.fdp-stamp
MIN_FREE_MB=500

read_options "$@"

# Print one hash of all inputs of this fio and of its program.
current_stamp()
{
	{
		cat "$here/fdp.sh" "$here/build-fio.sh" "$kept"/*.tar.*
		stat -c '%n %s %Y' "$out/fio-fdp"
	} 2>/dev/null | sha256sum
}

is_done() { [ -z "$update$force" ] && [ -e "$stamp" ] && [ "$(<"$stamp")" = "$(current_stamp)" ]; }

fetch()
{
	local options=(-o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$state/sources.d"
		-o "Dir::State=$state" -o Dir::State::status=/var/lib/dpkg/status -o "Dir::Cache=$state/cache"
		-o "APT::Sandbox::User=$(id -un)" -o Acquire::Retries=2 -o Acquire::Languages=none)
	mkdir -p "$state"/{lists/partial,cache/archives/partial,sources.d}
	sed "s/^Suites:.*/Suites: $suite/" "$origin"/*.sources >"$state/sources.d/$suite.sources"
	apt-get "${options[@]}" update
	mkdir "$work/tar"
	cd "$work/tar"
	apt-get "${options[@]}" source --download-only --tar-only fio
	rm -rf "$kept"
	mv "$work/tar" "$kept"
}

build()
{
	"$here/build-fio.sh" "$(ls "$kept"/fio_*.tar.?z)" "$work" "$work/fio-fdp"
	"$work/fio-fdp" --cmdhelp=fdp | grep -q "directive (FDP)" || {
		echo "this fio has no fdp=1" >&2
		exit 1
	}
}

! is_done || exit 0
versions=$(installed_versions)
need_packages
compgen -G "$origin/*.sources" >/dev/null || die "build/apt names no Debian archive: run 'make qemu' first, without QEMU_TARBALL"
take_lock || true
! is_done || exit 0
need_space $MIN_FREE_MB
make_work
if [ -n "$update" ] || ! compgen -G "$kept/fio_*.tar.*" >/dev/null; then
	phase fdp-fetch "fetching the source of a newer fio, Debian's $suite" fetch
fi
name=fdp-$({ cat "$here/fdp.sh" "$here/build-fio.sh" "$kept"/*.tar.*; echo "$versions"; } | key)
if [ -z "$force" ] && take_shared "$name" "$work/taken"; then
	mv "$work/taken/fio-fdp" "$work/"
else
	phase fdp "building it" build
	share "$name" "$work/fio-fdp"
fi
rm -f "$stamp"
mv "$work/fio-fdp" "$out/"
current_stamp >"$stamp"
say "ready: $("$out/fio-fdp" --version), $(($(stat -c %s "$out/fio-fdp") / 1000)) kB"

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# from-tree.sh TREE [BASE] - write the series anew from a git tree of QEMU: the inverse of make-patches.sh.
#
# Of a tree of another base (bases.sh; TREE's VERSION says it) only the patches that differ are written, into the
# folder of that base, under the names that they have in qemu-patches: those that, as they are there, do not make of
# the commit's parent what the commit is. A patch without a commit is left out of that base's series.
#
# Each commit of TREE from BASE (base) to HEAD becomes a patch, and the file series names them in their
# order. The files that the driver's commit adds are written to src/, where they are once, and are left
# out of its patch. REBASING.md has the steps. Nothing is written if anything is wrong.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
made=qapi/nand-ssd-counters.json # by schema.sh
first=block/nand-ssd.c           # the driver's commit adds it

# shellcheck source=qemu-patches/bases.sh
. "$here/bases.sh"

die() {
	printf 'from-tree.sh: %s\n' "$1" >&2
	shift
	[ $# -eq 0 ] || printf '              %s\n' "$@" >&2
	exit 1
}

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
	echo "usage: from-tree.sh TREE [BASE]" >&2
	exit 2
fi
tree=$1 base=${2:-base}
run() { git -C "$tree" "$@"; }
# A user's own settings of git do not change the patches.
show_diff() { # COMMIT PATH... - without the names of blobs, which are no one else's
	local commit=$1
	shift
	run -c core.quotePath=false -c diff.suppressBlankEmpty=false diff-tree -p -r --root --no-commit-id --no-renames \
		--no-color --no-ext-diff --no-textconv --diff-algorithm=myers --indent-heuristic -U3 --inter-hunk-context=0 \
		--src-prefix=a/ --dst-prefix=b/ "$commit" -- "$@" | sed -E '/^index [0-9a-f]+\.\.[0-9a-f]+( [0-7]+)?$/d'
}

[ "$(run rev-parse --show-toplevel 2>/dev/null)" = "$(realpath "$tree")" ] || die "$tree is not a git tree"
run rev-parse -q --verify "$base^{commit}" >/dev/null || die "$tree has no commit '$base'" "from-tree.sh TREE BASE"
[ -z "$(run status --porcelain --untracked-files=no)" ] || die "$tree has changes that are in no commit"
[ ! -d "$(realpath "$tree")/$(run rev-parse --git-path rebase-merge)" ] || die "$tree is in the middle of a rebase"
[ -z "$(run rev-list --merges "$base..HEAD")" ] || die "there is a merge between $base and HEAD"
mapfile -t commits < <(run rev-list --reverse "$base..HEAD")
mapfile -t driver < <(run log --diff-filter=A --no-renames --format=%H "$base..HEAD" -- "$first")
[ "${#driver[@]}" = 1 ] || die "${#driver[@]} commits of $base..HEAD add $first: it takes one"

mapfile -t own < <(run diff-tree -r --no-commit-id --no-renames --diff-filter=A --name-only "${driver[0]}" | grep -vxF "$made")
own_excluded=(":(exclude)$made")
for name in "${own[@]}"; do own_excluded+=(":(exclude)$name"); done
mapfile -t touching < <(run log --format=%h:%s "$base..HEAD" -- "${own[@]}" "$made")
[ "${#touching[@]}" = 1 ] || die "the driver's files are in src/ once, so its commit alone may change them; fold in:" \
	"${touching[@]:0:${#touching[@]}-1}"

work=$(mktemp -d "$here/.from-tree-XXXXXX")
trap 'rm -rf "$work"' EXIT
"$here/schema.sh" "$work"
run show "HEAD:$made" | cmp -s - "$work/$made" || die "$made is not what schema.sh makes:" \
	"change the tables in ftl_counters.h or nand_counters.h, and amend the driver's commit by schema.sh $tree"

version=$(run show HEAD:VERSION)
series=$(series_of "$version")
other='' # the folder of a base that is not the first
if [ "$series" != "$here/series" ]; then other=${series%/*}; fi
# Print the number and name of a commit's patch: its place, or in another base that of the first's patch.
name_of() { # SLUG PLACE
	if [ -z "$other" ]; then
		printf '%04d-%s.patch\n' "$2" "$1"
	else
		grep -xE "[0-9]{4}-$1\.patch" "$here/series" || die "$here/series has no patch '$1': add it there first"
	fi
}

# Does the first base's patch make the commit of the commit's parent, by git apply and by patch, which build.sh uses?
# patch does not apply a hunk whose place is before that of the hunk before it.
is_same() { # COMMIT PATCH
	local made name there=()
	rm -rf "$work/parent"
	mkdir "$work/parent"
	while read -r name; do
		if run cat-file -e "$1^:$name" 2>/dev/null; then there+=("$name"); fi
	done < <(run diff-tree -r --no-commit-id --no-renames --name-only "$1")
	[ "${#there[@]}" = 0 ] || run archive "$1^" "${there[@]}" | tar -x -C "$work/parent"
	patch -d "$work/parent" -p1 --forward --no-backup-if-mismatch --reject-file=- -s <"$2" >/dev/null || return
	while read -r name; do
		run show "$1:$name" | cmp -s - "$work/parent/$name" || return
	done < <(run diff-tree -r --no-commit-id --no-renames --diff-filter=AM --name-only "$1")
	export GIT_INDEX_FILE=$work/index
	run read-tree "$1^"
	made=$(run apply --cached --whitespace=nowarn "$2" 2>/dev/null && run write-tree) || made=
	unset GIT_INDEX_FILE
	[ "$made" = "$(run rev-parse "$1^{tree}")" ]
}

[ -z "$other" ] || "$here/make-patches.sh" "$work/first" 10.0
mkdir "$work/patches"
number=0
for commit in "${commits[@]}"; do
	slug=$(run log -1 --format=%f "$commit" | cut -c1-52 | sed 's/[-.]*$//') # as git format-patch
	number=$((number + 1))
	name=$(name_of "$slug" "$number")
	echo "$name" >>"$work/names"
	[ -z "$other" ] || ! is_same "$commit" "$work/first/$name" || continue
	paths=()
	[ "$commit" != "${driver[0]}" ] || paths=(. "${own_excluded[@]}")
	{
		run log -1 --encoding=UTF-8 --format='From: %an <%ae>%nSubject: [PATCH] %s%n%n%b---' "$commit"
		show_diff "$commit" "${paths[@]}"
	} >"$work/patches/$name"
done
{ grep '^#' "$series"; cat "$work/names"; } >"$work/series"
mkdir "$work/src"
run archive HEAD "${own[@]}" | tar -x -C "$work/src"
shopt -s nullglob
different=("$work/patches"/*.patch)

if [ -n "$other" ]; then
	diff -r "$here/src" "$work/src" >/dev/null ||
		die "the driver's files are not those of $here/src, which all bases have: change them there first"
	rm -f "$other"/*.patch
	[ "${#different[@]}" = 0 ] || mv "${different[@]}" "$other/"
	mv "$work/series" "$other/series"
	echo "$number patches, ${#different[@]} of them in ${other##*/}"
	exit
fi
rm -f "$here"/[0-9][0-9][0-9][0-9]-*.patch
mv "${different[@]}" "$here/"
mv "$work/series" "$here/series"
rm -rf "$here/src"
mv "$work/src" "$here/src"
echo "$number patches, ${#own[@]} files of the driver"

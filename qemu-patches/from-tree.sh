#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# from-tree.sh TREE [BASE] - write the series anew from a git tree of QEMU: the inverse of make-patches.sh.
#
# Each commit of TREE from BASE (base) to HEAD becomes a patch, and the file series names them in their
# order. The files that the driver's commit adds are written to src/, where they are once, and are left
# out of its patch. REBASING.md has the steps. Nothing is written if anything is wrong.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
made=qapi/nand-ssd-counters.json # by schema.sh
first=block/nand-ssd.c           # the driver's commit adds it

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
run show "HEAD:$made" | cmp -s - "$work/$made" || die "$made is not what schema.sh makes: change ftl_counters.h or nand_counters.h"

mkdir "$work/patches"
number=0
for commit in "${commits[@]}"; do
	slug=$(run log -1 --format=%f "$commit" | cut -c1-52 | sed 's/[-.]*$//') # as git format-patch
	number=$((number + 1))
	name=$(printf "%04d-%s.patch" $number "$slug")
	paths=()
	[ "$commit" != "${driver[0]}" ] || paths=(. "${own_excluded[@]}")
	{
		run log -1 --encoding=UTF-8 --format='From: %an <%ae>%nSubject: [PATCH] %s%n%n%b---' "$commit"
		show_diff "$commit" "${paths[@]}"
	} >"$work/patches/$name"
	echo "$name" >>"$work/names"
done
{ grep '^#' "$here/series"; cat "$work/names"; } >"$work/series"
mkdir "$work/src"
run archive HEAD "${own[@]}" | tar -x -C "$work/src"

rm -f "$here"/[0-9][0-9][0-9][0-9]-*.patch
mv "$work/patches"/*.patch "$here/"
mv "$work/series" "$here/series"
rm -rf "$here/src"
mv "$work/src" "$here/src"
echo "$number patches, ${#own[@]} files of the driver"

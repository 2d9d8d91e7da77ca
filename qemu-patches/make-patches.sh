#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make-patches.sh - write the patch that adds the files of src/ to QEMU.
#
# People edit and lint the files under src/; build.sh copies them into QEMU's
# tree. The patch holds the same, so that the series alone turns a plain QEMU
# tree into ours. Run this after an edit. --check: only say whether it is due.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
patch=0001-block-nand-ssd-an-emulated-NAND-SSD.patch

message() {
	cat <<'TEXT'
From: Seed 88e17909 maintainers <maintainers@users.noreply.a-seed-88e17909.example>
Subject: [PATCH] block: nand-ssd, an emulated NAND SSD

A block driver whose drive is a library: an array of NAND cells, with
the rules and the timing of real ones, under a flash translation layer
that really moves the data. The driver owns the clock and the
coroutines, and knows nothing else; the head of the file says how.

The next patch makes the build take it.

TEXT
}

new_file() { # NAME - as git diff prints a new file
	printf 'diff --git a/%s b/%s\nnew file mode 100644\n--- /dev/null\n+++ b/%s\n' "$1" "$1" "$1"
	printf '@@ -0,0 +1,%d @@\n' "$(wc -l <"src/$1")"
	sed 's/^/+/' "src/$1"
}

make_patch() {
	local name
	message
	printf -- '---\n'
	while read -r name; do
		new_file "$name"
	done < <(cd src && find . -type f ! -name '.*' ! -name '*~' -printf '%P\n' | sort)
}

case ${1:-} in
'') make_patch >"$patch" ;;
--check)
	make_patch | cmp -s - "$patch" || {
		echo "$patch is older than src/: run qemu-patches/make-patches.sh" >&2
		exit 1
	}
	;;
*) echo "usage: make-patches.sh [--check]" >&2 && exit 2 ;;
esac

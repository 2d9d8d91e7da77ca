#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make-patches.sh DIR [VERSION] - write the complete series into DIR, for 'git am' on a QEMU tree (of VERSION; 10.0).
#
# The files of src/ are in the repository once: build.sh copies them into QEMU's tree after the
# patches, with the file that schema.sh makes. Here they become a part of the patch that makes
# QEMU's build take them, so that the series alone turns a plain tree into ours.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=qemu-patches/bases.sh
. "$here/bases.sh"

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
	echo "usage: make-patches.sh DIR [VERSION]" >&2
	exit 2
fi
series=$(series_of "${2:-10.0}")
driver=$(grep -- -block-add-nand-ssd- "$series")

new_file() { # FOLDER NAME - as git diff prints a new file
	printf 'diff --git a/%s b/%s\nnew file mode 100644\n--- /dev/null\n+++ b/%s\n' "$2" "$2" "$2"
	printf '@@ -0,0 +1,%d @@\n' "$(wc -l <"$1/$2")"
	sed 's/^/+/' "$1/$2"
}

mkdir -p "$1"
while read -r name; do
	cp "$name" "$1/"
done < <(patches_of "$series")
while read -r name; do
	new_file "$here/src" "$name"
done < <(cd "$here/src" && find . -type f ! -name '.*' ! -name '*~' -printf '%P\n' | sort) >>"$1/$driver"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
"$here/schema.sh" "$made"
new_file "$made" qapi/nand-ssd-counters.json >>"$1/$driver"

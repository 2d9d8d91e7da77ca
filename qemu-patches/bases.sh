# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # variables of the script that sources this
#
# bases.sh - which patches are for which QEMU. build.sh, make-patches.sh and from-tree.sh source this file.
#
# The file series and the patches beside it are for the first base, QEMU 10.0.x. A folder named after another base,
# 10.2 say, has a series of its own, and those patches alone that differ there: each replaces the one of its name.
# It may have a slate.mak, of devices besides those of the first base.
# They set before: $here (the folder qemu-patches).

# Print the series for a version (10.2.2, or Debian's 1:10.2.2+ds-1).
series_of() { # VERSION
	local base
	base=$(sed -E 's/^([0-9]+:)?([0-9]+\.[0-9]+).*/\2/' <<<"$1")
	if [ -e "$here/$base/series" ]; then echo "$here/$base/series"; else echo "$here/series"; fi
}

# Print the files of a series' patches, in their order.
patches_of() { # SERIES
	local folder=${1%/*} name
	while read -r name; do
		[[ $name == '' || $name == '#'* ]] && continue
		if [ -e "$folder/$name" ]; then echo "$folder/$name"; else echo "$here/$name"; fi
	done <"$1"
}

# Print the devices that a series' QEMU is built with.
devices_of() { # SERIES
	cat "$here/slate.mak"
	[ "${1%/*}" = "$here" ] || [ ! -e "${1%/*}/slate.mak" ] || cat "${1%/*}/slate.mak"
}

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# schema.sh DIR - write qapi/nand-ssd-counters.json into DIR.
#
# A counter of the drive is declared in ftl/common/ftl_counters.h or nand-emu/nand_counters.h. The
# QAPI structs that hold the counters are made of these tables, by schema.c.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")

if [ $# -ne 1 ]; then
	echo "usage: schema.sh DIR" >&2
	exit 2
fi
mkdir -p "$1/qapi"
"${CC:-gcc}" -std=c11 -I"$root/nand-emu" -I"$root/ftl/common" -o "$1/schema" "$here/schema.c"
"$1/schema" >"$1/qapi/nand-ssd-counters.json"
rm "$1/schema"

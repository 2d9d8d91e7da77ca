#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run.sh [WORD | OPTION of tap.py ...] - the drive in QEMU, without a guest system: TAP on stdout.
# WORD selects tests by name. QEMU_BUILD names the folder with the programs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
case ${1:-} in
--*) ;;
*) set -- --only="${1:-}" ;;
esac
exec python3 "$here/../tap.py" "$here" --jobs "$(nproc)" "$@"

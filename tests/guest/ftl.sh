#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# ftl.sh: random writes that fio verifies (verify-4k.fio), then a file system's life, in one boot.
fio --output="$OUT/verify.json" --output-format=json verify-4k.fio || exit 1
# shellcheck source=host-tools/guest/jobs/fs-test.sh
FS=ext4 . ./fs-test.sh

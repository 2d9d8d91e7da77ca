#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # APP_* come with the job
#
# SQLite: a table is filled, then changed in small transactions that are each durable, then
# read at random by key. sqlite.py does it and times each one.

# shellcheck source=host-tools/guest/apps/app.sh
. /job/app.sh

sqlite() # PART
{
	in-apps python3 /job/sqlite.py "$1" /mnt/ssd/test.db "$OUT/sqlite-$1.txt" --seed "$SLATE_SEED" \
		--journal "$APP_JOURNAL" --rows "$APP_ROWS" --transactions "$APP_TRANSACTIONS" --reads "$APP_READS" \
		2>>"$OUT/app.log"
}

make_fs
sqlite fill
prepared
begin update
sqlite update
end update
in-apps --remount
begin read
sqlite read
end read

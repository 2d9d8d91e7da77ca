#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # APP_* come with the job
#
# sqlite.sh: fill a table, change it in small transactions that are each durable, and read it at
# random by key. sqlite.py does this and times each part.

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

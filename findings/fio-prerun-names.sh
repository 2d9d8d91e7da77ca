#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fio: a job with exec_prerun and a parenthesis in its name does no I/O, and fio ends with status 0 (3.33 and 3.41). It
# appends "> NAME.prerun.txt", unquoted, to the command; the shell refuses the line, and fio skips the job.
#
# So such a run looks like a successful one of an empty job. If the name has a space, its second word becomes an
# argument of the command.
set -euo pipefail
. "$(dirname "$(realpath "$0")")/fio-of-debian"

run() { # NAME: status and reads of a job of eight reads
	status=0
	printf '[%s]\nfilename=f\nsize=1m\nbs=4k\nrw=read\nnumber_ios=8\nioengine=null\nexec_prerun=echo ran\n' "$1" >job.fio
	fio --output-format=json --output=out.json job.fio >/dev/null 2>&1 || status=$?
	reads=$(python3 -c 'import json; t = open("out.json").read(); d = json.loads(t[t.index("{"):])
print(d["jobs"][0]["read"]["total_ios"])')
	echo "$status, $reads"
}

cd "$work"
expect "status and reads of [plain]" "$(run plain)" "0, 8"
expect "status and reads of [depth(8)]" "$(run 'depth(8)')" "0, 0"
expect "status and reads of [depth 8]" "$(run 'depth 8')" "0, 8"
expect "what 'echo ran' of [depth 8] printed" "$(cat depth)" "ran 8.prerun.txt"

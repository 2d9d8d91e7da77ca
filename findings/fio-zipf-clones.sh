#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fio: each job of a run has its own hot spot under random_distribution=zipf or pareto, on one and the same file.
#
# The generator that places the hot blocks is seeded with the job's number in the run. So two equal jobs (and the clones
# of numjobs) heat different blocks, and the drive sees less skew than theta says. A job that is put before the others
# moves their hot spots, too.
set -euo pipefail
. "$(dirname "$(realpath "$0")")/fio-of-debian"

hottest() { offsets "$1" | sort -n | uniq -c | sort -k1,1nr -k2,2n | awk 'NR == 1 {print $2}'; }
offsets() { awk '/ read /{print $(NF - 1)}' "$1"; }

for law in zipf:1.1 pareto:0.2; do
	common=(--filename=f --size=4M --bs=4k --rw=randread --ioengine=null --norandommap --number_ios=2000
		"--random_distribution=$law")
	fio --output=/dev/null --name=one "${common[@]}" --write_iolog="one-$law"
	fio --output=/dev/null --name=one "${common[@]}" --write_iolog="first-$law" \
		--name=two "${common[@]}" --write_iolog="second-$law"
	alone=$(hottest "one-$law") first=$(hottest "first-$law") second=$(hottest "second-$law")
	[ "$alone" = "$first" ] && same=yes || same=no
	expect "$law: the first job's hottest block is the same alone and beside another" "$same" yes
	[ "$first" = "$second" ] && same=yes || same=no
	expect "$law: two equal jobs on one file have the same hottest block" "$same" no
done

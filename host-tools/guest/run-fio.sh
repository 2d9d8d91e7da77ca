#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run-fio [JOBFILE]: run a fio job file in the guest, with every job marked on
# the drive and seeded by the run's --seed.  JOBFILE is /job/job.fio unless
# given; /job/precondition.fio, if there, runs first.
#
# The job files in fio-jobs/ leave to the environment: SIZE (how much of the drive, bytes
# or per cent), LOOPS (how often over it), RUNTIME (how many seconds of guest time) and
# IOS (how many I/Os of each process; 0: no limit).
#
# Results, in $OUT: fio.json, fio.log (fio's messages; the reason when the status
# is not zero), precondition.json, and the logs the job file asks for.  The
# status is fio's.

: "${OUT:=/run/out}"
# what our own job files ask for; /job/env overrides
export SIZE="${SIZE:-100%}" LOOPS="${LOOPS:-3}" RUNTIME="${RUNTIME:-2}" IOS="${IOS:-0}"
job=${1:-/job/job.fio}
scratch=${TMPDIR:-/tmp}/run-fio
mkdir -p "$scratch" "$OUT"

# Copy a job file with options added to every job. They go right behind the section's own lines,
# so fio's line numbers stay true up to the section.
#
# - The marks, by exec_prerun and exec_postrun; a section that has its own exec_* line has none. fio appends
#   "> NAME.prerun.txt", which a shell refuses for a name such as a(b). A '#' before it makes it a
#   comment; fio strips a '#' of the file itself, but not one of a variable.
# - randseed=$SLATE_FIO_SEED, unless the section sets a seed, asks for fio's fixed one
#   (randrepeat=1) or verifies in a way that needs it; and randrepeat=0, without which fio before
#   3.35 ignores randseed (host-tools/slate_lib/fioseed.py).
add_options() # FROM TO
{
	LC_ALL=C awk -v seed="$SLATE_FIO_SEED" '
	BEGIN {
		for (i = 1; i < 256; i++)
			number[sprintf("%c", i)] = i
	}
	function label_of(name, label, i, hash) {	# account.py has the same
		label = name
		gsub(/[^A-Za-z0-9._-]/, "_", label)
		if (label == name && length(name) <= 16)
			return name
		for (i = 1; i <= length(name); i++)
			hash = (hash * 65599 + number[substr(name, i, 1)]) % 16777213
		return sprintf("%s~%06x", substr(label, 1, 9), hash)
	}
	function flush() {
		if (name != "" && name !~ /^global/) {
			if (every || verify && (again || mixed && loops) && !seeded)
				repeat = 1
			if (!seeded && !repeat && seed != "")
				print "randseed=" seed
			if (!repeat && (seeded || seed != ""))
				print "randrepeat=0"
			if (own)
				print "run-fio: [" name "] has its own exec_prerun/exec_postrun: no marks" \
					>"/dev/stderr"
			else {
				label = label_of(name)
				print "exec_prerun=slate-mark begin " label " ${SLATE_COMMENT}"
				print "exec_postrun=slate-mark end " label " ${SLATE_COMMENT}"
			}
		}
		if (name ~ /^global/) {
			all_own = own; all_seeded = seeded; all_repeat = repeat; all_every = every
			all_verify = verify; all_again = again; all_mixed = mixed; all_loops = loops
		}
		name = ""; own = all_own; seeded = all_seeded; repeat = all_repeat; every = all_every
		verify = all_verify; again = all_again; mixed = all_mixed; loops = all_loops
	}
	function is_on() { return bare !~ /^[^=]*=[ \t]*(0|false)$/ }	# as in fioseed.py
	{
		# as fio: a comment ends a line
		bare = $0
		sub(/[;#].*$/, "", bare)
		sub(/[ \t\r]*$/, "", bare)
	}
	bare ~ /^[ \t]*\[/ {
		flush()
		# as fio: the last character of a head is taken for its "]"
		name = bare
		sub(/^[ \t]*\[/, "", name)
		sub(/.$/, "", name)
	}
	bare ~ /^[ \t]*name[ \t]*=/ && name !~ /^global/ {
		name = bare
		sub(/^[^=]*=[ \t]*/, "", name)
	}
	/^[ \t]*exec_(pre|post)run[ \t]*=/ { own = 1 }
	bare ~ /^[ \t]*randseed[ \t]*(=|$)/ { seeded = 1 }
	bare ~ /^[ \t]*randrepeat[ \t]*(=|$)/ { repeat = is_on() }
	bare ~ /^[ \t]*allrandrepeat[ \t]*(=|$)/ { every = is_on() }
	bare ~ /^[ \t]*verify[ \t]*(=|$)/ { verify = 1 }
	bare ~ /^[ \t]*experimental_verify[ \t]*(=|$)/ { again = is_on() }
	bare ~ /^[ \t]*(rw|readwrite)[ \t]*(=|$)/ { mixed = bare ~ /randrw/ }
	bare ~ /^[ \t]*loops[ \t]*(=|$)/ { loops = 1 }
	{ print }
	END { flush() }' "$1" >"$2"
}

# fio puts messages in front of its JSON, even half a line of them.  Move those
# that are not in the log yet there: what is left is one JSON document, or nothing.
clean_json() # FILE
{
	[ -e "$1" ] || return
	awk -v log_file="$OUT/fio.log" '
	function tell(line) {
		# of the output that slate-mark does not have
		if (line != "" && !(line in seen) && line !~ / : Saving output of p[a-z]*run in /)
			print line >>log_file
	}
	FILENAME == log_file { seen[$0] = 1; next }
	json { print; next }
	/^ *"fio version"/ && held ~ /\{$/ {
		json = 1
		print "{"
		print
		sub(/\{$/, "", held)
		tell(held)
		next
	}
	{ tell(held); held = $0 }
	END { if (!json) tell(held) }' "$OUT/fio.log" "$1" >"$scratch/json"
	if [ -s "$scratch/json" ]; then cat "$scratch/json" >"$1"; else rm "$1"; fi
}

run() # JOBFILE JSON
{
	# In $OUT, where a job's logs (write_lat_log=NAME and the like) belong; what
	# exec_prerun prints lands there too, and is nothing unless it failed.
	cd "$OUT" || return 1
	# Percentiles of the whole latency (lat), as mean and maximum are; json+ has the histogram.
	# A job file may set these options itself.
	SLATE_COMMENT='#' fio --lat_percentiles=1 --clat_percentiles=0 --output-format=json+ --eta=never \
		--output="$2" "$1" >>"$OUT/fio.log" 2>&1
	status=$?
	find . -maxdepth 1 -name '*.p*run.txt' -size 0 -exec rm {} +
	clean_json "$2"
	return $status
}

: >"$OUT/fio.log"
if [ -e /job/precondition.fio ]; then
	slate-mark begin precondition
	run /job/precondition.fio precondition.json
	rc=$?
	slate-mark end precondition
	if [ $rc -ne 0 ]; then
		echo "run-fio: the precondition job failed with status $rc" >>"$OUT/fio.log"
		exit $rc
	fi
fi
if [ ! -r "$job" ]; then
	echo "run-fio: no job file $job" >>"$OUT/fio.log"
	exit 1
fi
add_options "$job" "$scratch/job.fio" 2>>"$OUT/fio.log"
run "$scratch/job.fio" fio.json
rc=$?
[ $rc -eq 0 ] || cat "$OUT/fio.log"
exit $rc

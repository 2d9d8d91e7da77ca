// SPDX-License-Identifier: GPL-2.0-or-later
/* place.c - calls trace/place.h with the settings of the replay and prints its messages. */
#include "replay.h"

#include <inttypes.h>

int place(struct replay *r, struct stream *s, struct trace_row *row)
{
	const char *fix;
	int result = trace_place(&r->place, s->extent, &s->placed, row, &fix);

	if (result >= 0)
		return result;
	return -replay_fail(REPLAY_USAGE, "trace %s, line %" PRIu64 ": the request ends at byte %" PRIu64
			    ", and the drive has %" PRIu64 ": %s", trace_name(s->trace), row->line,
			    row->offset + row->bytes, r->capacity, fix);
}

/* Determine the end of a trace in a separate pass. */
int place_find_extent(struct replay *r, struct stream *s)
{
	char err[TRACE_ERR_BYTES];

	s->extent = r->o.rows.scale_bytes;
	if (s->extent)
		return 0;
	if (trace_find_extent(s->trace, &r->o.rows.options, &replay_stopped, &s->extent, err))
		return replay_fail(REPLAY_USAGE, "%s", err);
	return 0;
}

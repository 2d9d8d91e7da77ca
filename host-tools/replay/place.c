// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * place.c - from a trace's addresses to the drive's. Every change is counted.
 *
 * Order: requests of no bytes are left out; offset and end are widened to whole
 * sectors (or mapping units); then an offset beyond the drive is an error, or
 *   fold   offset mod capacity
 *   scale  unit number * units of the drive / units of the trace's extent; what
 *          is inside the unit stays
 * and a request that then crosses the end is moved down to end there.
 */
#include "replay.h"

#include <inttypes.h>
#include <string.h>

static void align(const struct replay *r, struct stream *s, struct trace_row *row)
{
	uint64_t end = row->offset + row->bytes, grain = r->grain_bytes, low, high;

	if (SSD_LIKELY(!((row->offset | row->bytes) & r->grain_mask)))	/* nearly every request */
		return;
	low = row->offset % grain;
	high = end % grain ? grain - end % grain : 0;
	if (!low && !high)
		return;
	row->offset -= low;
	row->bytes += low + high;
	s->placed.aligned++;
}

static uint64_t scale(const struct replay *r, const struct stream *s, uint64_t offset)
{
	uint64_t unit = r->unit_bytes, extent = (s->extent + unit - 1) / unit;
	unsigned __int128 scaled = (unsigned __int128)(offset / unit) * (r->capacity / unit);

	return (uint64_t)(scaled / extent) * unit + offset % unit;
}

static int refuse(const struct replay *r, const struct stream *s, const struct trace_row *row,
		  const char *fix)
{
	return -replay_fail(REPLAY_USAGE, "trace %s, line %" PRIu64 ": the request ends at byte %" PRIu64
			    ", and the drive has %" PRIu64 ": %s", trace_name(s->trace), row->line,
			    row->offset + row->bytes, r->capacity, fix);
}

int place(struct replay *r, struct stream *s, struct trace_row *row)
{
	if (row->op == TRACE_FLUSH)
		return 1;
	if (!row->bytes) {
		s->placed.zero_size++;
		return 0;
	}
	align(r, s, row);
	if (row->bytes > r->capacity)
		return refuse(r, s, row, "it is larger than the drive: take a larger one");
	if (r->o.beyond == BEYOND_SCALE) {
		if (row->offset + row->bytes > (s->extent + r->unit_bytes - 1) / r->unit_bytes * r->unit_bytes)
			return refuse(r, s, row, "it is beyond the extent that --scale names: name a larger one");
		s->placed.scaled++;
		row->offset = scale(r, s, row->offset);
	} else if (row->offset + row->bytes > r->capacity) {
		if (r->o.beyond == BEYOND_ERROR)
			return refuse(r, s, row, "choose --fold (offsets modulo the capacity) or --scale "
				      "(offsets in proportion), or a larger drive");
		s->placed.folded++;
		row->offset %= r->capacity;
	}
	if (row->offset + row->bytes > r->capacity) {
		s->placed.moved++;
		row->offset = r->capacity - row->bytes;
	}
	return 1;
}

/* Where a trace ends, from a pass of its own. */
int place_find_extent(struct replay *r, struct stream *s)
{
	struct trace_options o = r->o.trace;
	char err[TRACE_ERR_BYTES];
	struct trace_row row;
	uint64_t done, all;
	struct trace *t;
	int result;

	s->extent = r->o.scale_bytes;
	if (s->extent)
		return 0;
	trace_progress(s->trace, &done, &all);
	if (!all || !strcmp(trace_name(s->trace), "-"))	/* a pipe: a second reader takes its rows away */
		return replay_fail(REPLAY_USAGE, "trace %s: can be read only once, and --scale looks for its "
				   "extent first: give --scale=SIZE, or name a plain file",
				   trace_name(s->trace));
	o.bad = NULL;
	if (trace_open(&t, trace_name(s->trace), &o, err))
		return replay_fail(REPLAY_USAGE, "%s", err);
	while ((result = trace_next(t, &row)) > 0) {
		if (row.op <= TRACE_TRIM && row.offset + row.bytes > s->extent)
			s->extent = row.offset + row.bytes;
		if (replay_stopped)
			break;
	}
	if (result < 0)
		replay_fail(REPLAY_USAGE, "%s", trace_error(t));
	trace_close(t);
	s->extent = s->extent ? s->extent : 1;
	return result < 0 ? REPLAY_USAGE : 0;
}

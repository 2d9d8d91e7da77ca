// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rows.c - a stream's rows, pass by pass.
 *
 * With --repeat the first pass keeps the rows that it reads, if they are not too many and the trace
 * has nothing else (no bad rows, which each pass reports; no comments; no rows of other devices; no
 * content). The later passes use these rows and do not unpack and parse the file again. The trace is
 * rewound once nevertheless, so that input that cannot be read twice (standard input) is refused in
 * either case.
 *
 * The counts of a pass stay the same: a row's line number says how many lines were read, and each of
 * them was a row.
 *
 * rows_filter() applies the options that leave rows of any pass out, or change them.
 */
#include "replay.h"

#include <stdlib.h>

#define KEPT_MAX ((size_t)1 << 20)	/* maximum of rows kept: 56 MiB */

static void forget(struct kept_rows *k)
{
	free(k->row);
	k->row = NULL;
	k->count = k->room = 0;
	k->keeping = false;
}

/* Keep the row that the trace has just returned. */
static void keep(struct kept_rows *k, const struct trace_row *row)
{
	if (k->count == k->room) {
		size_t room = k->room ? 2 * k->room : 4096;
		struct trace_row *more = k->count < KEPT_MAX ?
			realloc(k->row, room * sizeof(*more)) : NULL;

		if (!more) {
			forget(k);
			return;
		}
		k->row = more;
		k->room = room;
	}
	k->row[k->count++] = *row;
}

void rows_begin(const struct replay *r, struct stream *s)
{
	s->kept.keeping = r->o.repeat > 1 && trace_format(s->trace) != TRACE_GENERATED &&
			  !trace_has_content(s->trace);
}

int rows_next(struct stream *s, struct trace_row *row)
{
	struct kept_rows *k = &s->kept;
	int result;

	if (k->complete) {
		if (k->at == k->count)
			return 0;
		*row = k->row[k->at++];
		return 1;
	}
	result = trace_next(s->trace, row);
	if (k->keeping && result > 0)
		keep(k, row);
	return result;
}

/* --no-flush: remove a write's FUA. Returns true if the row is only a flush. */
static bool leave_flush_out(struct stream *s, struct trace_row *row)
{
	s->flushes_left_out += row->op == TRACE_FLUSH || row->fua;
	row->fua = false;
	return row->op == TRACE_FLUSH;
}

/*
 * Set the placement handle of a write: the row's own, the stream's number or 0, as --handles says.
 * Returns 0, or -exit code if the drive has no such handle.
 */
static int choose_handle(const struct replay *r, const struct stream *s, struct trace_row *row)
{
	uint32_t handles = slate_handles(r->dev), handle = row->handle;

	if (r->o.handles == REPLAY_HANDLES_NONE)
		handle = 0;
	else if (r->o.handles == REPLAY_HANDLES_STREAM)
		handle = s->number;
	if (handle && handle >= handles)
		return -replay_fail(REPLAY_USAGE, "%s, line %llu: a write with placement handle %u, and the drive has "
				    "%u (ftl.placement_handles, in each of ftl.placement_groups): raise that, or give "
				    "--handles none",
				    trace_name(s->trace), (unsigned long long)row->line, handle, handles);
	row->handle = (uint8_t)handle;
	return 0;
}

int rows_filter(struct replay *r, struct stream *s, struct trace_row *row)
{
	int result;

	if (r->o.until && row->at_ns > r->o.until_ns)
		return 0;
	if (r->lose) {
		result = lose_row(r, s, row);
		if (result <= 0)
			return result;
	}
	if (r->o.no_flush && leave_flush_out(s, row))
		return 0;
	if (row->op == TRACE_WRITE && choose_handle(r, s, row))
		return -REPLAY_USAGE;
	return 1;
}

int rows_rewind(struct stream *s)
{
	struct kept_rows *k = &s->kept;
	struct trace_counts c;

	if (k->complete) {
		k->passes++;
		k->at = 0;
		return 0;
	}
	trace_get_counts(s->trace, &c);
	if (trace_rewind(s->trace))
		return -1;
	if (k->keeping && !c.bad && !c.other && !c.passed && !c.other_devices)
		k->complete = true;
	else
		forget(k);
	return 0;
}

void rows_counts(const struct stream *s, struct trace_counts *out)
{
	const struct kept_rows *k = &s->kept;

	trace_get_counts(s->trace, out);
	if (!k->complete || !k->count)
		return;
	out->rows += k->passes * k->count + k->at;
	out->lines += k->passes * k->row[k->count - 1].line + (k->at ? k->row[k->at - 1].line : 0);
}

void rows_progress(const struct stream *s, uint64_t *done, uint64_t *all)
{
	const struct kept_rows *k = &s->kept;

	if (k->complete) {
		*done = k->at;
		*all = k->count;
	} else {
		trace_progress(s->trace, done, all);
	}
}

void rows_end(struct stream *s)
{
	forget(&s->kept);
}

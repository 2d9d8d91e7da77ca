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

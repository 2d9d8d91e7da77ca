// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lose.c - reads the file of --lose, which names requests of the trace that are left out, and writes of which only a
 * part happens. The numbers in the file rise, as those of the trace's requests do, so it is enough to compare each
 * request with the next line.
 */
#define _GNU_SOURCE
#include "replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct line {
	uint64_t number, from, to;	/* bytes from <= i < to of the write happen; to 0: nothing does */
};

struct lose {
	const char *path;
	struct line *line;
	size_t count, room, at;
};

static int bad_line(const struct lose *l, const char *why)
{
	return replay_fail(REPLAY_USAGE, "--lose %s, line %zu: %s", l->path, l->count + 1, why);
}

static int take_line(void *opaque, const char *text)
{
	struct lose *l = opaque;
	struct line one = { 0 }, *more;
	char rest;
	int n = sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %c", &one.number, &one.from, &one.to, &rest);

	if ((n != 1 && n != 3) || strchr(text, '-') || (n == 3 && one.from >= one.to))
		return bad_line(l, "is neither NUMBER nor NUMBER FROM TO with FROM < TO");
	if (l->count && one.number <= l->line[l->count - 1].number)
		return bad_line(l, "the numbers do not rise: sort the lines by number, one for each request");
	if (l->count == l->room) {
		l->room = l->room ? 2 * l->room : 64;
		more = realloc(l->line, l->room * sizeof(*l->line));
		SSD_ASSERT(more);
		l->line = more;
	}
	l->line[l->count++] = one;
	return 0;
}

struct lose *lose_open(const char *path)
{
	struct lose *l = calloc(1, sizeof(*l));

	SSD_ASSERT(l);
	l->path = path;
	if (!lines_read("--lose", path, take_line, l))
		return l;
	lose_close(l);
	return NULL;
}

void lose_close(struct lose *l)
{
	if (l)
		free(l->line);
	free(l);
}

int lose_row(struct replay *r, struct stream *s, struct trace_row *row)
{
	struct lose *l = r->lose;
	const struct line *one = &l->line[l->at];

	s->content_at = 0;
	if (l->at == l->count || one->number != s->fetched - 1)
		return 1;
	l->at++;
	if (!one->to)
		return 0;
	if (row->op != TRACE_WRITE || one->to > row->bytes || (one->from | one->to) % FTL_SECTOR_BYTES)
		return -replay_fail(REPLAY_USAGE, "--lose %s: of request %" PRIu64 ", bytes %" PRIu64 " to %" PRIu64
				    ": it is no write with these sectors", l->path, one->number, one->from, one->to);
	row->offset += one->from;
	row->bytes = one->to - one->from;
	s->content_at = one->from;
	return 1;
}

int lose_check(const struct lose *l, uint64_t requests)
{
	if (l->at == l->count)
		return 0;
	return replay_fail(REPLAY_USAGE, "--lose %s, line %zu: request %" PRIu64 ", and the trace has %" PRIu64
			   ": it is of another recording", l->path, l->at + 1, l->line[l->at].number, requests);
}

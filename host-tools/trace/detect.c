// SPDX-License-Identifier: GPL-2.0-or-later
/* detect.c - see detect.h. */
#include "detect.h"

#include <stdio.h>

#include "parse.h"

#define TEN_YEARS_MS ((uint64_t)10 * 366 * 24 * 3600 * 1000)
#define MINUTE_MS 60000u
#define MANY_ROWS 100u

/* What one format's parser makes of the lines. */
struct reading {
	uint64_t lines;			/* lines that it can read */
	uint64_t rows;			/* a sum over their rows without times */
	uint64_t times;			/* a sum over the rows' times */
};

/* What the parsers of formats without a head make of the lines. */
struct found {
	struct reading by[TRACE_NFORMATS];
	uint64_t lines;
	uint64_t first_ns, last_ns;	/* extremes of ssdsim's times */
};

static bool begins(const char *s, const char *end, const char *what)
{
	size_t len = strlen(what);

	return (size_t)(end - s) >= len && !memcmp(s, what, len);
}

static enum trace_format tell_by_head(const char *s, const char *end)
{
	const unsigned char *bytes = (const unsigned char *)s;
	struct parse p = { 0 };

	if (begins(s, end, "# slate-trace "))
		return TRACE_NATIVE;
	if (begins(s, end, "slate-content "))
		return TRACE_CONTENT;
	if (begins(s, end, "fio version "))
		return TRACE_FIO;
	if (end - s >= (long)BLKTRACE_HEAD && blktrace_begins(&p, bytes))
		return TRACE_BLKTRACE;
	if (vscsi_begins(&p, bytes, (size_t)(end - s)))
		return TRACE_VSCSI;
	return TRACE_AUTO;
}

static void note_time(struct found *f, uint64_t at_ns)
{
	f->first_ns = at_ns < f->first_ns ? at_ns : f->first_ns;
	f->last_ns = at_ns > f->last_ns ? at_ns : f->last_ns;
}

static void try_format(struct found *f, struct parse *p, unsigned int format, const char *s, const char *end)
{
	struct reading *r = &f->by[format];
	struct trace_row row = { .line = f->lines };
	const char *why;
	enum line_kind kind;

	p->columns = columns_of(format);
	p->summary = p->has_pending = false;	/* each line is read by itself */
	kind = p->columns ? parse_columns(p, s, end, &row, &why) :
	       format == TRACE_FTRACE ? parse_ftrace(p, s, end, &row, &why) : parse_blkparse(p, s, end, &row, &why);
	if (kind == LINE_BAD || p->summary)
		return;
	r->lines++;
	r->rows = r->rows * 31 + row.offset * 3 + row.bytes * 7 + (uint64_t)row.op * 11 + row.device * 13 + kind;
	r->times = r->times * 31 + row.at_ns;
	if (format == TRACE_SSDSIM)
		note_time(f, row.at_ns);
}

static void try_line(struct found *f, struct parse *p, const char *s, const char *end)
{
	f->lines++;
	for (unsigned int format = TRACE_AUTO + 1; format < TRACE_NFORMATS; format++)
		if (columns_of(format) || format == TRACE_BLKPARSE || format == TRACE_FTRACE)
			try_format(f, p, format, s, end);
}

/* Do ssdsim's times span so much that they cannot be milliseconds? */
static bool spans_too_much(const struct found *f)
{
	uint64_t span = f->last_ns - f->first_ns, rows = f->by[TRACE_SSDSIM].lines;

	return span > TEN_YEARS_MS || (rows >= MANY_ROWS && span / rows > MINUTE_MS);
}

static void try_lines(struct found *f, const char *s, const char *end, bool whole, char action)
{
	struct parse p = { .action = action, .quiet = true };

	while (s < end) {
		const char *newline = memchr(s, '\n', (size_t)(end - s)), *last = newline ? newline : end;

		if (!newline && !whole && f->lines)	/* the rest of this line is not here yet */
			return;
		if (last > s && last[-1] == '\r')
			last--;
		if (skip_blanks(s, last) != last)
			try_line(f, &p, s, last);
		s = newline ? newline + 1 : end;
	}
}

/*
 * Tell a format by the shape of its first line, though its parser reads no line: so the parser tells what is
 * wrong with them.
 */
static enum trace_format tell_by_shape(const char *s, const char *end)
{
	const char *last = memchr(s, '\n', (size_t)(end - s));
	unsigned int commas = 0;
	uint64_t v;

	last = last ? last : end;
	for (const char *c = s; c < last; c++)
		commas += *c == ',';
	s = skip_blanks(s, last);
	if (take_u64(&s, last, &v) && s < last && *s++ == ',' && take_column(&s, last, &v) &&
	    take_column(&s, last, &v))
		return TRACE_BLKPARSE;
	return commas == 6 ? TRACE_MSR : TRACE_AUTO;
}

/* Do two formats that read equally many lines give the caller the same requests? times: these count, too. */
static bool same_rows(const struct reading *a, const struct reading *b, bool times)
{
	return a->rows == b->rows && (!times || a->times == b->times);
}

/*
 * Returns the format that reads the most lines; if several do, with different requests, TRACE_AUTO and their names with
 * the units of their times. Times of lines beyond the first ones (not `whole`) are unknown.
 */
static enum trace_format choose(struct found *f, bool untimed, bool whole, char *names, size_t room)
{
	unsigned int best = TRACE_AUTO;
	bool doubt = false;
	size_t at = 0;

	if (f->by[TRACE_SSDSIM].lines == f->by[TRACE_DISKSIM].lines && spans_too_much(f))
		f->by[TRACE_DISKSIM].lines = 0;
	for (unsigned int i = TRACE_AUTO + 1; i < TRACE_NFORMATS; i++)
		if (f->by[i].lines > f->by[best].lines)
			best = i;
	for (unsigned int i = best; best != TRACE_AUTO && i < TRACE_NFORMATS && at < room; i++) {
		if (f->by[i].lines != f->by[best].lines)
			continue;
		if (i != best && (untimed || whole) && same_rows(&f->by[best], &f->by[i], !untimed))
			continue;
		doubt = doubt || i != best;
		at += (size_t)snprintf(names + at, room - at, "%s--format %s (%s)", at ? " or " : "",
				       trace_format_names[i], columns_of(i) ? columns_time_unit(columns_of(i)) : "s");
	}
	return doubt ? TRACE_AUTO : (enum trace_format)best;
}

enum trace_format detect_format(const char *s, const char *end, bool whole, const struct trace_options *o,
				char *why, size_t room)
{
	struct found f = { .first_ns = UINT64_MAX };
	enum trace_format best = tell_by_head(s, end);
	char names[160] = "";

	if (best != TRACE_AUTO)
		return best;
	try_lines(&f, s, end, whole, o->action);
	if (!f.lines) {
		snprintf(why, room, "is empty: name its format with --format");
		return TRACE_AUTO;
	}
	best = choose(&f, o->untimed, whole, names, sizeof(names));
	if (best == TRACE_AUTO && *names) {
		snprintf(why, room, "its first lines may be of several formats, and nothing tells of which (in "
			 "brackets the unit of their times): give %s", names);
		return best;
	}
	best = best == TRACE_AUTO ? tell_by_shape(s, end) : best;
	if (best == TRACE_AUTO)
		snprintf(why, room, "its first lines are of no known format: name it with --format (%s)",
			 trace_format_list);
	return best;
}

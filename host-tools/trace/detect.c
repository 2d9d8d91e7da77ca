// SPDX-License-Identifier: GPL-2.0-or-later
/* detect.c - see detect.h. */
#include "detect.h"

#include "parse.h"

#define TEN_YEARS_MS ((uint64_t)10 * 366 * 24 * 3600 * 1000)
#define MINUTE_MS 60000u
#define MANY_ROWS 100u

/* What the parsers of formats without a head made of the lines. */
struct found {
	uint64_t read[TRACE_NFORMATS];	/* lines that the format's parser could read */
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
	if (begins(s, end, "# slate-trace "))
		return TRACE_NATIVE;
	if (begins(s, end, "slate-content "))
		return TRACE_CONTENT;
	if (begins(s, end, "fio version "))
		return TRACE_FIO;
	return TRACE_AUTO;
}

static void note_time(struct found *f, uint64_t at_ns)
{
	f->first_ns = at_ns < f->first_ns ? at_ns : f->first_ns;
	f->last_ns = at_ns > f->last_ns ? at_ns : f->last_ns;
}

static void try_line(struct found *f, const char *s, const char *end, char action)
{
	static const struct {
		enum trace_format format;
		parse_line *parse;
	} formats[] = {
		{ TRACE_MSR, parse_msr }, { TRACE_SSDSIM, parse_ssdsim }, { TRACE_DISKSIM, parse_disksim },
		{ TRACE_BLKPARSE, parse_blkparse },
	};

	f->lines++;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct parse p = { .action = action };	/* no state: each line is read by itself */
		struct trace_row row = { .line = f->lines };
		const char *why;
		enum line_kind kind = formats[i].parse(&p, s, end, &row, &why);

		if (kind == LINE_BAD || p.summary)
			continue;
		f->read[formats[i].format]++;
		if (formats[i].format == TRACE_SSDSIM)
			note_time(f, row.at_ns);
	}
}

/* ssdsim's times: can they not be milliseconds? */
static bool spans_too_much(const struct found *f)
{
	uint64_t span = f->last_ns - f->first_ns, rows = f->read[TRACE_SSDSIM];

	return span > TEN_YEARS_MS || (rows >= MANY_ROWS && span / rows > MINUTE_MS);
}

static void try_lines(struct found *f, const char *s, const char *end, bool whole, char action)
{
	while (s < end) {
		const char *newline = memchr(s, '\n', (size_t)(end - s)), *last = newline ? newline : end;

		if (!newline && !whole && f->lines)	/* the rest of this line is not here yet */
			return;
		if (last > s && last[-1] == '\r')
			last--;
		if (skip_blanks(s, last) != last)
			try_line(f, s, last, action);
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

enum trace_format detect_format(const char *s, const char *end, bool whole, const struct trace_options *o,
				const char **why)
{
	struct found f = { .first_ns = UINT64_MAX };
	enum trace_format best = tell_by_head(s, end);

	if (best != TRACE_AUTO)
		return best;
	try_lines(&f, s, end, whole, o->action ? o->action : 'Q');
	for (unsigned int i = TRACE_AUTO + 1; i < TRACE_NFORMATS; i++)
		if (f.read[i] > f.read[best])
			best = (enum trace_format)i;
	best = best == TRACE_AUTO ? tell_by_shape(s, end) : best;
	if (!f.lines) {
		*why = "is empty: name its format with --format";
	} else if (best == TRACE_AUTO) {
		*why = "its first lines are of no known format: name its format with --format (native, msr, ssdsim, "
		       "disksim, blkparse, fio or content)";
	} else if (best == TRACE_SSDSIM && f.read[TRACE_DISKSIM] == f.read[best] && !o->untimed &&
		   !spans_too_much(&f)) {
		*why = "its first lines may be of two formats, and nothing tells whether the times are ns or ms: give "
		       "--format ssdsim (ns) or --format disksim (ms)";
		best = TRACE_AUTO;
	}
	return best;
}

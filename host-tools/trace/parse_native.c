// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * parse_native.c - Slate's own text. docs/replay.md is its definition.
 *
 *   # slate-trace 1
 *   # set section.key=value		any number of such lines, before the first row
 *   # state mounted			the drive was not made for the recording
 *   NS STREAM read|write|trim OFFSET BYTES [fua] [handle=N] [cross=command|nothing] [lost] [priority=N]
 *   NS STREAM flush [priority=N]
 *   NS STREAM step
 *   NS STREAM done REQUEST LATENCY_NS STATUS
 *   # end ops OP SOURCE COUNT		of the array, at the end of a recording
 */
#include "parse.h"

#include <stdlib.h>

static const char *const names[] = {
	[TRACE_READ] = "read", [TRACE_WRITE] = "write", [TRACE_TRIM] = "trim",
	[TRACE_FLUSH] = "flush", [TRACE_STEP] = "step", [TRACE_DONE] = "done",
};

static bool take_end(struct parse *p, const char *s, const char *end)
{
	uint64_t op, source, count;

	if (!take_column(&s, end, &op) || !take_column(&s, end, &source) ||
	    !take_column(&s, end, &count) || s != end || op >= TRACE_END_OPS ||
	    source >= TRACE_END_SOURCES)
		return false;
	p->end_ops[op][source] = count;
	p->has_end = true;
	return true;
}

static bool starts(const char **s, const char *end, const char *what)
{
	size_t len = strlen(what);

	if ((size_t)(end - *s) < len || memcmp(*s, what, len))
		return false;
	*s += len;
	return true;
}

static enum line_kind take_comment(struct parse *p, const char *s, const char *end,
				   const char **why)
{
	if (starts(&s, end, "# end ops ")) {
		*why = "'# end ops' takes three whole numbers: OP SOURCE COUNT";
		return take_end(p, s, end) ? LINE_OTHER : LINE_BAD;
	}
	p->mounted = p->mounted || word_is(s, (size_t)(end - s), "# state mounted");
	if (!starts(&s, end, "# set "))
		return LINE_OTHER;
	if (p->head_over || p->settings == PARSE_SETTINGS_MAX) {
		*why = "'# set' stands behind the first row, or is one of more than 256";
		return LINE_BAD;
	}
	p->setting[p->settings] = strndup(s, (size_t)(end - s));
	if (!p->setting[p->settings]) {
		*why = "no memory for a setting";
		return LINE_BAD;
	}
	p->settings++;
	return LINE_OTHER;
}

/* Take a status: 0 is SSD_OK, and -1 .. -99 are values of enum ssd_err. */
static bool take_status(const char **s, const char *end, int32_t *status)
{
	bool negative = *s < end && **s == '-';
	uint64_t v;

	*s += negative;
	if (!take_column(s, end, &v) || v > 99)
		return false;
	*status = negative ? -(int32_t)v : (int32_t)v;
	return true;
}

/* Take an optional word NAME=0..most. Returns false if the word is there, but not such a number. */
static bool take_named(const char **s, const char *end, const char *name, uint64_t most, uint8_t *out)
{
	const char *rest = *s, *word, *stop;
	size_t len = take_word(&rest, end, &word);
	uint64_t value;

	stop = word + len;
	if (!len || !starts(&word, stop, name))
		return true;
	if (!take_column(&word, stop, &value) || word != stop || value > most)
		return false;
	*out = (uint8_t)value;
	*s = rest;
	return true;
}

static bool take_flag(const char **s, const char *end, const char *name)
{
	const char *rest = *s, *word;
	size_t len = take_word(&rest, end, &word);
	bool is = word_is(word, len, name);

	if (is)
		*s = rest;
	return is;
}

/*
 * Take the optional words at the end of a request's line, in their order: of a write fua and handle=N, of a read or
 * write cross=command|nothing, of a write lost; of all priority=N.
 */
static bool take_words(const char *s, const char *end, struct trace_row *row)
{
	bool write = row->op == TRACE_WRITE;

	row->fua = write && take_flag(&s, end, "fua");
	if (write && !take_named(&s, end, "handle=", UINT8_MAX, &row->handle))
		return false;
	if (row->op <= TRACE_WRITE)
		row->crossing = take_flag(&s, end, "cross=command") ? TRACE_CROSS_COMMAND :
				take_flag(&s, end, "cross=nothing") ? TRACE_CROSS_NOTHING : TRACE_CROSS_ALL;
	row->lost = write && take_flag(&s, end, "lost");
	return take_named(&s, end, "priority=", TRACE_PRIORITY_MAX, &row->priority) && skip_blanks(s, end) == end;
}

static bool take_rest(const char *s, const char *end, struct trace_row *row)
{
	if (row->op == TRACE_FLUSH)
		return take_words(s, end, row);
	if (row->op == TRACE_STEP)
		return s == end;
	if (!take_column(&s, end, &row->offset) || !take_column(&s, end, &row->bytes))
		return false;
	if (row->op == TRACE_DONE)
		return take_status(&s, end, &row->status) && s == end;
	return take_words(s, end, row);
}

enum line_kind parse_native(struct parse *p, const char *s, const char *end, struct trace_row *row,
			    const char **why)
{
	const char *word;
	size_t len;
	unsigned int op = 0;

	s = skip_blanks(s, end);
	if (s == end)
		return LINE_OTHER;
	if (*s == '#')
		return take_comment(p, s, end, why);
	if (!take_column(&s, end, &row->at_ns) || !take_column(&s, end, &row->device)) {
		*why = "a row begins NS STREAM";
		return LINE_BAD;
	}
	len = take_word(&s, end, &word);
	while (op <= TRACE_DONE && !word_is(word, len, names[op]))
		op++;
	if (op > TRACE_DONE) {
		*why = "the operation (column 3) is not read, write, trim, flush, step or done";
		return LINE_BAD;
	}
	row->op = (enum trace_op)op;
	if (!take_rest(s, end, row)) {
		*why = "OFFSET BYTES [fua] [handle=0..255] [cross=command|nothing] [lost] are expected behind write, "
		       "OFFSET BYTES [cross=command|nothing] behind read, OFFSET BYTES behind trim, nothing behind "
		       "flush, then [priority=0..3]; nothing behind step, REQUEST LATENCY_NS STATUS behind done";
		return LINE_BAD;
	}
	p->head_over = true;
	return LINE_ROW;
}

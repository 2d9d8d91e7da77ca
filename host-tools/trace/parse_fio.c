// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * parse_fio.c - fio's iolog (fio(1), "TRACE FILE FORMAT").
 *
 * Version 2: "NAME ACTION OFFSET BYTES"; "NAME wait MS 0" waits until MS milliseconds after the
 * start. (fio's manual says microseconds after the previous wait; iolog.c of 3.33 to 3.41 compares
 * OFFSET with mtime_since_genesis().) Version 3: a time in us in front, and no wait. sync and
 * datasync are flushes; add, open and close, without OFFSET and BYTES, are no requests. fio leaves
 * out rows with fewer columns, with a message, and ignores what follows in longer ones; here both
 * are bad rows, which --max-bad permits and leaves out. Rows of other actions (sync_file_range,
 * which fio writes) are passed over, as fio does with a message. Files get numbers in the order of
 * their first line: 0, 1 ...
 */
#include "parse.h"

static bool find_op(const char *word, size_t len, enum trace_op *op)
{
	if (word_is(word, len, "read"))
		*op = TRACE_READ;
	else if (word_is(word, len, "write"))
		*op = TRACE_WRITE;
	else if (word_is(word, len, "trim"))
		*op = TRACE_TRIM;
	else if (word_is(word, len, "sync") || word_is(word, len, "datasync"))
		*op = TRACE_FLUSH;
	else
		return false;
	return true;
}

static enum line_kind take_wait(struct parse *p, const char *s, const char *end, const char **why)
{
	uint64_t ms, unused;

	if (p->version == 3 || !take_column(&s, end, &ms) || !take_column(&s, end, &unused) ||
	    ms > TRACE_BYTES_MAX / 1000000) {
		*why = "fio ignores 'wait' unless MS and another number follow, and in version 3";
		return LINE_BAD;
	}
	if (ms * 1000000 > p->clock_ns)
		p->clock_ns = ms * 1000000;
	return LINE_OTHER;
}

static enum line_kind take_io(const char *s, const char *end, struct trace_row *row,
			      const char **why)
{
	bool has = take_column(&s, end, &row->offset) && take_column(&s, end, &row->bytes);

	if (!has || s != end) {
		*why = "OFFSET and BYTES are expected behind the action (fio ignores the row without "
		       "both), and nothing more";
		return LINE_BAD;
	}
	if (row->op == TRACE_FLUSH)
		row->offset = row->bytes = 0;
	return LINE_ROW;
}

enum line_kind parse_fio(struct parse *p, const char *s, const char *end, struct trace_row *row,
			 const char **why)
{
	const char *name, *word;
	size_t name_len, len;
	uint64_t us;

	if (row->line == 1)
		return LINE_OTHER;
	s = skip_blanks(s, end);
	if (s == end)
		return LINE_OTHER;
	if (p->version == 3) {
		if (!take_column(&s, end, &us) || us > UINT64_MAX / 1000) {
			*why = "a line of version 3 begins with its time in us";
			return LINE_BAD;
		}
		p->clock_ns = us * 1000;
	}
	name_len = take_word(&s, end, &name);
	len = take_word(&s, end, &word);
	if (!len) {
		*why = "a file name and an action are expected";
		return LINE_BAD;
	}
	if (word_is(word, len, "wait"))
		return take_wait(p, s, end, why);
	if (!parse_name(p, name, name_len, &row->device)) {
		*why = "names more than 256 files, or one of more than 255 characters";
		return LINE_BAD;
	}
	if (word_is(word, len, "add") || word_is(word, len, "open") || word_is(word, len, "close"))
		return LINE_OTHER;
	if (!find_op(word, len, &row->op))
		return LINE_PASSED;
	row->at_ns = p->clock_ns;
	return take_io(s, end, row, why);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parse.h - parsers that convert a line of a trace to a row, one for each format. A line is
 * [s, end) without its newline. No parser reads beyond end, allocates per line
 * or keeps a pointer into it.
 */
#ifndef SLATE_TRACE_PARSE_H
#define SLATE_TRACE_PARSE_H

#include <string.h>

#include "trace.h"

#define PARSE_FILES_MAX 256u	/* files of one fio iolog, or named volumes */
#define PARSE_NAME_MAX 256u
#define PARSE_SETTINGS_MAX 256u

enum line_kind {
	LINE_ROW,
	LINE_OTHER,		/* not a request: comment, head, another event */
	LINE_PASSED,		/* a row of an operation that is no request, such as one that fio passes over */
	LINE_BAD		/* invalid; *why is the reason */
};

/* Parsers keep this state between lines. */
struct parse {
	struct trace_row pending;	/* second row of the previous line */
	bool has_pending;
	const struct trace_columns *columns;	/* formats of fixed columns */
	bool quiet;			/* the caller needs no reasons from parse_columns() */
	char why[256];			/* parse_columns(): reason of the last bad line */
	bool big_endian;		/* blktrace */
	unsigned int vscsi;		/* version of the records */
	const struct trace_object *object;	/* oracleGeneral */
	char action;			/* blkparse, blktrace, ftrace: event that is accepted; 0: the usual one */
	bool summary;			/* blkparse: the summary has begun */
	unsigned int version;		/* fio: version of the log */
	uint64_t clock_ns;		/* fio: time of the last row; in version 2 of the latest wait */
	uint32_t files;			/* fio, named volumes: number of names seen, stored in order */
	char *file[PARSE_FILES_MAX];
	uint32_t settings;		/* native: number of settings */
	char *setting[PARSE_SETTINGS_MAX + 1];
	bool head_over;			/* native: a row has been read */
	bool mounted;			/* native: "# state mounted" */
	bool has_end;			/* native: "# end ops OP SOURCE COUNT" */
	uint64_t end_ops[TRACE_END_OPS][TRACE_END_SOURCES];
};

typedef enum line_kind parse_line(struct parse *p, const char *s, const char *end,
				  struct trace_row *row, const char **why);

parse_line parse_native, parse_columns, parse_blkparse, parse_fio, parse_ftrace;

/*
 * Binary records. A function tells whether a file begins with such a record, of at least *_HEAD bytes, and keeps
 * what it learned in p; one returns a record's length; one parses it.
 */
#define BLKTRACE_HEAD 48u
#define VSCSI_HEAD 40u			/* of the longer of two versions */
#define ORACLE_HEAD 24u
bool blktrace_begins(struct parse *p, const unsigned char *r);
size_t blktrace_bytes(const struct parse *p, const unsigned char *r);
bool vscsi_begins(struct parse *p, const unsigned char *r, size_t len);
size_t vscsi_bytes(const struct parse *p);

typedef enum line_kind parse_record(struct parse *p, const unsigned char *r, struct trace_row *row,
				    const char **why);

parse_record parse_blktrace, parse_vscsi, parse_oracle;

/*
 * Find the number of a file's or volume's name: 0, 1 ... in the order of their first line. False: there are too
 * many, or the name is too long.
 */
bool parse_name(struct parse *p, const char *word, size_t len, uint64_t *number);

/*
 * Read a date and time of ISO 8601, such as 2026-12-01T09:30:00.25Z, and store it as ns since 1970 UTC (parse_iso.c).
 * blank: between date and time may also be a blank. Returns false if it is none, or beyond July 2554.
 */
bool take_iso(const char **s, const char *end, bool blank, uint64_t *ns);

/* ---- pieces of a line ------------------------------------------------------ */

static inline bool take_u64(const char **s, const char *end, uint64_t *out)
{
	const char *at = *s, *fits = end - at > 19 ? at + 19 : end;	/* so many digits fit */
	uint64_t v = 0;

	for (; at < fits && (unsigned char)(*at - '0') < 10; at++)
		v = v * 10 + (unsigned char)(*at - '0');
	for (; at < end && (unsigned char)(*at - '0') < 10; at++) {
		if (v > (UINT64_MAX - 9) / 10)
			return false;
		v = v * 10 + (unsigned char)(*at - '0');
	}
	if (at == *s)
		return false;
	*s = at;
	*out = v;
	return true;
}

static inline unsigned char lower(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

static inline const char *skip_blanks(const char *s, const char *end)
{
	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	return s;
}

/* Take a number, and the blanks (or the end of the line) that must follow it. */
static inline bool take_column(const char **s, const char *end, uint64_t *out)
{
	const char *after;

	if (!take_u64(s, end, out))
		return false;
	after = skip_blanks(*s, end);
	if (after == *s && after != end)
		return false;
	*s = after;
	return true;
}

/* Take digits into *v and count them. Digits for which *v has no room are dropped, and *lost counts them. */
static inline uint32_t take_digits(const char **s, const char *end, uint64_t *v, uint32_t *lost)
{
	uint32_t n = 0;

	for (; *s < end && (unsigned char)(**s - '0') < 10; (*s)++, n++) {
		if (*v > (UINT64_MAX - 9) / 10 || *lost)
			(*lost)++;
		else
			*v = *v * 10 + (unsigned char)(**s - '0');
	}
	return n;
}

/* Take the exponent of a decimal, such as e+06, if there is one. */
static inline bool take_exponent(const char **s, const char *end, int64_t *out)
{
	uint64_t v = 0;
	bool negative;

	*out = 0;
	if (*s == end || (**s | 0x20) != 'e')
		return true;
	(*s)++;
	negative = *s < end && **s == '-';
	*s += *s < end && (**s == '-' || **s == '+');
	if (!take_u64(s, end, &v) || v > 400)
		return false;
	*out = negative ? -(int64_t)v : (int64_t)v;
	return true;
}

/*
 * Take a number in any decimal form that C's %lf reads, such as 2, 1.25 or 1.5e+06. The value is multiplied by
 * 10^power and truncated.
 */
static inline bool take_decimal(const char **s, const char *end, int64_t power, uint64_t *out)
{
	uint32_t whole, part = 0, lost = 0;
	int64_t more;

	*out = 0;
	whole = take_digits(s, end, out, &lost);
	if (*s < end && **s == '.') {
		(*s)++;
		part = take_digits(s, end, out, &lost);
	}
	if (!(whole + part) || !take_exponent(s, end, &more))
		return false;
	for (power += more + (int64_t)lost - part; power > 0 && *out; power--) {
		if (*out > UINT64_MAX / 10)
			return false;
		*out *= 10;
	}
	for (; power < 0; power++)
		*out /= 10;
	return true;
}

/* Take the word at *s and the blanks after it; returns its length, 0 at the end. */
static inline size_t take_word(const char **s, const char *end, const char **word)
{
	const char *at = *s;

	*word = at;
	while (at < end && *at != ' ' && *at != '\t')
		at++;
	*s = skip_blanks(at, end);
	return (size_t)(at - *word);
}

static inline bool word_is(const char *word, size_t len, const char *what)
{
	return len == strlen(what) && !memcmp(word, what, len);
}

#endif

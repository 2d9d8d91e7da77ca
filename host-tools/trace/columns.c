// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * columns.c - see columns.h. docs/traces.md describes each format for users.
 *
 * Sources of the columns, their order and units:
 *   msr           README of the MSR Cambridge traces (Narayanan et al., FAST 2008): Windows file times (100 ns)
 *   ssdsim        SSDSim's traces; MQSim's README, "Defining a Trace-based Workload"
 *   disksim       Bucy et al., CMU-PDL-08-101: ASCII format, read by %lf and %x
 *   alibaba       README of alibaba/block-traces (2020)
 *   tencent       README of Tencent's CBS traces (OSCA, ATC 2020): sectors of 512 bytes, Unix seconds
 *   systor        README of the SYSTOR '17 traces (Lee et al.): Unix seconds of nine digits; a row without IOType had
 *                 no response
 *   k5cloud       README of the Fujitsu K5 cloud traces: seconds since the first request of all volumes
 *   fiu           README of FIU's IODedup traces (Koller and Rangaswami, FAST 2010)
 *   spc           SPC Trace File Format Specification 1.0.1: bytes, seconds, and blocks of a size that it leaves to the
 *                 trace. In UMass's Financial traces it is 512 bytes: after 3,584 bytes at 303567 follows 303574
 *   cloudphysics  libCacheSim (aa0fc409), data/cloudPhysicsIO.csv, made of a vscsi trace: SCSI operation codes, bytes,
 *                 seconds. Its blocks are 512 bytes: 29,558 rows begin where the row before ends; with 4 KiB blocks, 3
 */
#include "columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"

#define READ_WRITE(READ, WRITE) .words = 2, .word = { { READ, TRACE_READ }, { WRITE, TRACE_WRITE } }

static const struct trace_columns table[TRACE_NFORMATS] = {
	[TRACE_MSR] = {
		.separator = ',', .needed = 7, .columns = 7, .head = "Timestamp,Hostname,", READ_WRITE("read", "write"),
		.column = {
			{ COLUMN_WHOLE_TIME, TIME_100NS, "Timestamp" }, { COLUMN_IGNORED, 0, "Hostname" },
			{ COLUMN_VOLUME, 0, "DiskNumber" }, { COLUMN_OP, 0, "Type" }, { COLUMN_OFFSET, 1, "Offset" },
			{ COLUMN_BYTES, 1, "Size" }, { COLUMN_NUMBER, 0, "ResponseTime" },
		},
	},
	[TRACE_SSDSIM] = {
		.separator = COLUMNS_BLANKS, .needed = 5, .columns = 6, READ_WRITE("1", "0"),
		.column = {
			{ COLUMN_WHOLE_TIME, 0, "ARRIVAL_NS" }, { COLUMN_VOLUME, 0, "DEVICE" },
			{ COLUMN_OFFSET, 512, "LBA" }, { COLUMN_BYTES, 512, "SECTORS" }, { COLUMN_OP, 0, "OP" },
			{ COLUMN_IGNORED, 0, "HASH" },
		},
	},
	[TRACE_DISKSIM] = {
		.separator = COLUMNS_BLANKS, .needed = 5, .columns = 5,
		.column = {
			{ COLUMN_TIME, TIME_MS, "ARRIVAL_MS" }, { COLUMN_VOLUME, 0, "DEVICE" },
			{ COLUMN_OFFSET, 512, "BLOCK" }, { COLUMN_BYTES, 512, "BLOCKS" }, { COLUMN_FLAGS, 0, "FLAGS" },
		},
	},
	[TRACE_ALIBABA] = {
		.separator = ',', .needed = 5, .columns = 5, .head = "device_id,", READ_WRITE("r", "w"),
		.column = {
			{ COLUMN_VOLUME, 0, "device_id" }, { COLUMN_OP, 0, "opcode" }, { COLUMN_OFFSET, 1, "offset" },
			{ COLUMN_BYTES, 1, "length" }, { COLUMN_WHOLE_TIME, TIME_US, "timestamp" },
		},
	},
	[TRACE_TENCENT] = {
		.separator = ',', .needed = 5, .columns = 5, .head = "Timestamp,Offset,", READ_WRITE("0", "1"),
		.column = {
			{ COLUMN_WHOLE_TIME, TIME_S, "Timestamp" }, { COLUMN_OFFSET, 512, "Offset" },
			{ COLUMN_BYTES, 512, "Size" }, { COLUMN_OP, 0, "IOType" }, { COLUMN_VOLUME, 0, "VolumeID" },
		},
	},
	[TRACE_SYSTOR] = {
		.separator = ',', .needed = 6, .columns = 6, .head = "Timestamp,Response,",
		.words = 3, .word = { { "r", TRACE_READ }, { "w", TRACE_WRITE }, { "", COLUMNS_PASSED } },
		.column = {
			{ COLUMN_TIME, TIME_S, "Timestamp" }, { COLUMN_IGNORED, 0, "Response" },
			{ COLUMN_OP, 0, "IOType" }, { COLUMN_VOLUME, 0, "LUN" }, { COLUMN_OFFSET, 1, "Offset" },
			{ COLUMN_BYTES, 1, "Size" },
		},
	},
	[TRACE_K5CLOUD] = {
		.separator = ',', .needed = 5, .columns = 5, .head = "ID,", READ_WRITE("r", "w"),
		.column = {
			{ COLUMN_VOLUME, 0, "ID" }, { COLUMN_TIME, TIME_S, "Timestamp" }, { COLUMN_OP, 0, "Type" },
			{ COLUMN_OFFSET, 1, "Offset" }, { COLUMN_BYTES, 1, "Length" },
		},
	},
	[TRACE_FIU] = {
		.separator = COLUMNS_BLANKS, .needed = 8, .columns = 8, .more = true, READ_WRITE("r", "w"),
		.column = {
			{ COLUMN_WHOLE_TIME, 0, "ts" }, { COLUMN_NUMBER, 0, "pid" }, { COLUMN_IGNORED, 0, "process" },
			{ COLUMN_OFFSET, 512, "lba" }, { COLUMN_BYTES, 512, "size" }, { COLUMN_OP, 0, "operation" },
			{ COLUMN_MAJOR, 0, "major" }, { COLUMN_MINOR, 0, "minor" },
		},
	},
	[TRACE_SPC] = {
		.separator = ',', .needed = 5, .columns = 5, .more = true, READ_WRITE("r", "w"),
		.column = {
			{ COLUMN_VOLUME, 0, "ASU" }, { COLUMN_OFFSET, 512, "LBA" }, { COLUMN_BYTES, 1, "Size" },
			{ COLUMN_OP, 0, "Opcode" }, { COLUMN_TIME, TIME_S, "Timestamp" },
		},
	},
	[TRACE_CLOUDPHYSICS] = {
		.separator = ',', .needed = 5, .columns = 5, .head = "version,time,", .pass_others = true,
		/* READ and WRITE of 10, 12 and 16 bytes; SYNCHRONIZE CACHE of 10 and 16 */
		.words = 8,
		.word = {
			{ "28", TRACE_READ }, { "a8", TRACE_READ }, { "88", TRACE_READ },
			{ "2a", TRACE_WRITE }, { "aa", TRACE_WRITE }, { "8a", TRACE_WRITE },
			{ "35", TRACE_FLUSH }, { "91", TRACE_FLUSH },
		},
		.column = {
			{ COLUMN_VERSION, 0, "version" }, { COLUMN_WHOLE_TIME, TIME_S, "time" }, { COLUMN_OP, 0, "op" },
			{ COLUMN_BYTES, 1, "size" }, { COLUMN_OFFSET, 512, "lbn" },
		},
	},
};

const struct trace_columns *columns_of(unsigned int format)
{
	return format < TRACE_NFORMATS && table[format].columns ? &table[format] : NULL;
}

static const char *unit_name(int unit)
{
	static const char *const names[] = { "ps", "10 ps", "100 ps", "ns", "10 ns", "100 ns", "us", "10 us", "100 us",
					     "ms", "10 ms", "100 ms", "s" };

	return names[unit + 3];
}

const char *columns_time_unit(const struct trace_columns *f)
{
	for (unsigned int i = 0; i < f->columns; i++)
		if (f->column[i].role == COLUMN_TIME || f->column[i].role == COLUMN_WHOLE_TIME)
			return unit_name(f->column[i].unit);
	return "none";
}

/* ---- what is wrong with a line ------------------------------------------------ */

/* Write the words that a format has for operations, such as "1 (read) or 0 (write)". */
static void list_words(const struct trace_columns *f, char *out, size_t room)
{
	static const char *const ops[] = { "read", "write", "trim", "flush" };
	size_t at = 0;

	*out = 0;
	for (unsigned int i = 0; i < f->words && at < room; i++)
		if (f->word[i].op != COLUMNS_PASSED)
			at += (size_t)snprintf(out + at, room - at, "%s%s (%s)", i ? " or " : "", f->word[i].text,
					       ops[f->word[i].op]);
	if (at >= room)
		memcpy(out + room - 4, "...", 4);
}

static void list_names(const struct trace_columns *f, char *out, size_t room)
{
	size_t at = 0;

	*out = 0;
	for (unsigned int i = 0; i < f->needed && at < room; i++)
		at += (size_t)snprintf(out + at, room - at, "%s%s", i ? ", " : "",
				       f->column[i].name ? f->column[i].name : "-");
}

static enum line_kind bad_count(struct parse *p, const char *what, unsigned int count, const char **why)
{
	char names[160];

	if (p->quiet)
		return LINE_BAD;
	list_names(p->columns, names, sizeof(names));
	snprintf(p->why, sizeof(p->why), "there are %s than %u columns: %s", what, count, names);
	*why = p->why;
	return LINE_BAD;
}

/* Write what a column's value is not, such as "no number of ms". */
static void tell_value(const struct trace_columns *f, const struct column *c, char *out, size_t room)
{
	switch (c->role) {
	case COLUMN_TIME:
	case COLUMN_WHOLE_TIME:
		snprintf(out, room, "no %s of %s, or one beyond 584 years",
			 c->role == COLUMN_TIME ? "number" : "whole number", unit_name(c->unit));
		return;
	case COLUMN_ISO_TIME:
		snprintf(out, room, "no date and time such as 2026-12-01T09:30:00.25Z, from 1970 to July 2554");
		return;
	case COLUMN_OP:
		snprintf(out, room, "not ");
		list_words(f, out + 4, room - 4);
		return;
	case COLUMN_FLAGS:
		snprintf(out, room, "no hexadecimal number");
		return;
	case COLUMN_VERSION:
		snprintf(out, room, "neither 1 nor 2");
		return;
	case COLUMN_OFFSET:
	case COLUMN_BYTES:
		snprintf(out, room, "no whole number, or beyond 4 EiB");
		return;
	case COLUMN_NAMED_VOLUME:
		snprintf(out, room, "empty, longer than 255 characters, or one of more than 256 names");
		return;
	case COLUMN_MAJOR:
	case COLUMN_MINOR:
		snprintf(out, room, "no whole number up to %u", c->role == COLUMN_MAJOR ? 4095u : 1048575u);
		return;
	case COLUMN_IGNORED:
	case COLUMN_NUMBER:
	case COLUMN_VOLUME:
		snprintf(out, room, "no whole number");
		return;
	}
}

static enum line_kind bad_value(struct parse *p, unsigned int i, const char **why)
{
	const struct column *c = &p->columns->column[i];
	char what[160];

	if (p->quiet)
		return LINE_BAD;
	tell_value(p->columns, c, what, sizeof(what));
	if (p->columns->table)
		snprintf(p->why, sizeof(p->why), "%s (column '%s') is null, or %s", c->name, p->columns->from[i].name,
			 what);
	else
		snprintf(p->why, sizeof(p->why), "%s (column %u) is %s", c->name ? c->name : "the value", i + 1, what);
	*why = p->why;
	return LINE_BAD;
}

/* ---- a line --------------------------------------------------------------------- */

/* Skip spaces and tabs, but only spaces where a tab separates columns. */
static const char *skip_to_value(const char *s, const char *end, char separator)
{
	if (separator != '\t')
		return skip_blanks(s, end);
	while (s < end && *s == ' ')
		s++;
	return s;
}

static bool is_end(const char *s, const char *end, char separator)
{
	return s == end || *s == separator || *s == ' ' || *s == '\t';
}

/* Take text up to the separator. Blanks inside it belong to it unless they are the separator. */
static const char *text_end(const char *s, const char *end, char separator)
{
	const char *found;

	if (separator != COLUMNS_BLANKS) {
		found = memchr(s, separator, (size_t)(end - s));
		return found ? found : end;
	}
	while (s < end && *s != ' ' && *s != '\t')
		s++;
	return s;
}

/* Does the text at s begin with the word, in lower or upper case, and end there? */
static bool starts_word(const char *s, const char *end, const char *word, char separator)
{
	for (; *word; word++, s++)
		if (s == end || lower(*s) != (unsigned char)*word)
			return false;
	return is_end(s, end, separator);
}

static bool take_op(const struct trace_columns *f, const char **s, const char *end, uint8_t *op)
{
	const char *begin = *s;

	for (unsigned int i = 0; i < f->words; i++) {
		if (!starts_word(begin, end, f->word[i].text, f->separator))
			continue;
		*s += strlen(f->word[i].text);
		*op = f->word[i].op;
		return true;
	}
	*op = COLUMNS_PASSED;
	while (!is_end(*s, end, f->separator))
		(*s)++;
	return f->pass_others && *s != begin;
}

static bool take_whole_time(const char **s, const char *end, int unit, uint64_t *out)
{
	static const uint64_t ns[TIME_S + 1] = {
		1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000
	};

	return take_u64(s, end, out) && !__builtin_mul_overflow(*out, ns[unit], out);
}

static bool is_hex(const char *s, const char *end)
{
	return end - s > 2 && s[0] == '0' && (s[1] | 0x20) == 'x';
}

static bool take_hex(const char **s, const char *end, uint64_t *out)
{
	const char *begin = *s += is_hex(*s, end) ? 2 : 0;

	for (*out = 0; *s < end; (*s)++) {
		unsigned int c = (unsigned char)**s | 0x20u;
		unsigned int digit = c - '0' < 10 ? c - '0' : c - 'a' < 6 ? c - 'a' + 10 : 16;

		if (digit > 15)
			break;
		if (*out >> 60)
			return false;
		*out = *out << 4 | digit;
	}
	return *s != begin;
}

/* Skip decimals of zero, as in 8.0: programs write them of whole numbers. */
static void skip_zeroes(const char **s, const char *end)
{
	if (*s < end && **s == '.')
		for ((*s)++; *s < end && **s == '0'; (*s)++)
			;
}

/* Take a whole number of units of `unit` bytes, which may be hexadecimal (0x1000) or have decimals of zero (8.0). */
static bool take_bytes(const char **s, const char *end, uint64_t unit, uint64_t *out)
{
	if (!(is_hex(*s, end) ? take_hex(s, end, out) : take_u64(s, end, out)))
		return false;
	skip_zeroes(s, end);
	return !__builtin_mul_overflow(*out, unit, out) && *out <= TRACE_BYTES_MAX;
}

/* Take a column without the separator behind it. */
static bool take_value(struct parse *p, const struct column *c, const char **s, const char *end, struct trace_row *row,
		       uint8_t *op)
{
	const char *begin = *s;
	uint64_t v;

	switch (c->role) {
	case COLUMN_IGNORED:
		*s = text_end(*s, end, p->columns->separator);
		return true;
	case COLUMN_NUMBER:
		return take_u64(s, end, &v);
	case COLUMN_VERSION:
		return take_u64(s, end, &v) && v - 1 < 2;
	case COLUMN_TIME:
		return take_decimal(s, end, c->unit, &row->at_ns);
	case COLUMN_WHOLE_TIME:
		return take_whole_time(s, end, c->unit, &row->at_ns);
	case COLUMN_ISO_TIME:
		return take_iso(s, end, p->columns->separator != COLUMNS_BLANKS, &row->at_ns);
	case COLUMN_OP:
		return take_op(p->columns, s, end, op);
	case COLUMN_FLAGS:
		if (!take_hex(s, end, &v))
			return false;
		*op = v & 1 ? TRACE_READ : TRACE_WRITE;
		return true;
	case COLUMN_OFFSET:
		return take_bytes(s, end, (uint64_t)c->unit, &row->offset);
	case COLUMN_BYTES:
		return take_bytes(s, end, (uint64_t)c->unit, &row->bytes);
	case COLUMN_VOLUME:
		if (!take_u64(s, end, &row->device))
			return false;
		skip_zeroes(s, end);
		return true;
	case COLUMN_NAMED_VOLUME:
		*s = text_end(*s, end, p->columns->separator);
		return *s != begin && parse_name(p, begin, (size_t)(*s - begin), &row->device);
	case COLUMN_MAJOR:
		if (!take_u64(s, end, &v) || v >> 12)
			return false;
		row->device |= v << 20;
		return true;
	case COLUMN_MINOR:
		if (!take_u64(s, end, &v) || v >> 20)
			return false;
		row->device |= v;
		return true;
	}
	return false;
}

static bool is_head(const struct trace_columns *f, const char *s, const char *end, uint64_t line)
{
	size_t len = line == 1 && f->head ? strlen(f->head) : 0;

	return line <= f->skip || (len && (size_t)(end - s) >= len && !memcmp(s, f->head, len));
}

/* Take the separator between two columns. */
static bool take_separator(const char **s, const char *end, char separator)
{
	const char *begin = *s;

	*s = skip_to_value(begin, end, separator);
	if (separator == COLUMNS_BLANKS)
		return *s != begin && *s != end;
	if (*s == end || **s != separator)
		return false;
	*s = skip_to_value(*s + 1, end, separator);
	return true;
}

/*
 * Take a value in double quotes, as RFC 4180 writes those that have a separator in them. Two quotes inside stand for
 * one, and end nothing.
 */
static bool take_quoted(struct parse *p, const struct column *c, const char **s, const char *end,
			struct trace_row *row, uint8_t *op)
{
	const char *in = *s + 1, *close = in;

	while ((close = memchr(close, '"', (size_t)(end - close))) && end - close > 1 && close[1] == '"')
		close += 2;
	if (!close)		/* without a closing quote the quote is part of the value */
		return take_value(p, c, s, end, row, op);
	*s = close + 1;
	if (c->role == COLUMN_IGNORED) {
		*s = text_end(*s, end, p->columns->separator);
		return true;
	}
	if (c->role == COLUMN_NAMED_VOLUME)
		return close != in && parse_name(p, in, (size_t)(close - in), &row->device);
	in = skip_blanks(in, close);
	return take_value(p, c, &in, close, row, op) && skip_blanks(in, close) == close;
}

/* Return what follows a value of two double quotes with nothing or blanks between them; or s: it is another value. */
static const char *skip_empty(const char *s, const char *end, char separator)
{
	const char *close = s < end && *s == '"' ? skip_blanks(s + 1, end) : end;

	return close < end && *close == '"' ? skip_to_value(close + 1, end, separator) : s;
}

/* Take a column. A flush needs no offset and no size: *empty is the number of the first empty one, from 1 on. */
static bool take_column_of(struct parse *p, unsigned int i, const char **s, const char *end, struct trace_row *row,
			   uint8_t *op, unsigned int *empty)
{
	const struct column *c = &p->columns->column[i];
	char separator = p->columns->separator;
	bool good;

	if (separator != COLUMNS_BLANKS && (c->role == COLUMN_OFFSET || c->role == COLUMN_BYTES)) {
		const char *at = skip_empty(*s, end, separator);

		if (at == end || *at == separator) {
			*s = at;
			*empty = *empty ? *empty : i + 1;
			return true;
		}
	}
	if (*s < end && **s == '"' && separator != COLUMNS_BLANKS && separator != COLUMNS_TABLE)
		good = take_quoted(p, c, s, end, row, op);
	else
		good = take_value(p, c, s, end, row, op);
	return good && is_end(*s, end, separator);
}

enum line_kind parse_columns(struct parse *p, const char *s, const char *end, struct trace_row *row,
			     const char **why)
{
	const struct trace_columns *f = p->columns;
	uint8_t op = f->op;
	unsigned int i = 0, empty = 0;

	if (is_head(f, s, end, row->line))
		return LINE_OTHER;
	row->bytes = f->bytes;
	s = skip_to_value(s, end, f->separator);
	for (;;) {
		if (!take_column_of(p, i, &s, end, row, &op, &empty))
			return bad_value(p, i, why);
		if (++i == f->columns || !take_separator(&s, end, f->separator))
			break;
	}
	s = skip_blanks(s, end);
	if (i < f->needed)
		return s == end ? bad_count(p, "fewer", f->needed, why) : bad_value(p, i - 1, why);
	if (s != end && !(f->more && i == f->columns))
		return i == f->columns ? bad_count(p, "more", f->columns, why) : bad_value(p, i - 1, why);
	if (op == COLUMNS_PASSED)
		return LINE_PASSED;
	if (empty && op != TRACE_FLUSH)
		return bad_value(p, empty - 1, why);
	row->op = (enum trace_op)op;
	if (row->op == TRACE_FLUSH)
		row->offset = row->bytes = 0;
	return LINE_ROW;
}

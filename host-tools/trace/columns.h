/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns.h - text formats of fixed columns. Each is a row of the table in columns.c, or the user's own
 * (columns_own.c).
 */
#ifndef SLATE_TRACE_COLUMNS_H
#define SLATE_TRACE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIME_100NS 2			/* units of time: powers of ten of a nanosecond */
#define TIME_US 3
#define TIME_MS 6
#define TIME_S 9
#define COLUMNS_MAX 32u
#define COLUMNS_WORDS_MAX 16u
#define COLUMNS_WORD_BYTES 16u
#define COLUMNS_BLANKS ' '		/* as separator: any number of blanks and tabs */
#define COLUMNS_TABLE '\x1f'		/* separator of the lines that a table becomes: table.h */
#define COLUMNS_NAME_BYTES 80u
#define COLUMNS_OF_TABLE 5u		/* time, operation, offset, bytes, volume */
#define COLUMNS_PASSED 255u		/* as operation: the row is passed over */

enum column_role {
	COLUMN_IGNORED,
	COLUMN_NUMBER,			/* a whole number without use */
	COLUMN_VERSION,			/* 1 or 2, without use */
	COLUMN_TIME,			/* in any decimal form */
	COLUMN_WHOLE_TIME,
	COLUMN_ISO_TIME,		/* ISO 8601 with its date: parse_iso.c */
	COLUMN_OP,			/* one of the words */
	COLUMN_FLAGS,			/* hexadecimal; bit 0: a read, not a write */
	COLUMN_OFFSET, COLUMN_BYTES,
	COLUMN_VOLUME,			/* a whole number */
	COLUMN_NAMED_VOLUME,		/* text; volumes get numbers 0, 1 ... in the order of their first row */
	COLUMN_MAJOR, COLUMN_MINOR,	/* of a device number */
};

struct column {
	enum column_role role;
	int unit;			/* OFFSET, BYTES: in bytes; times: 10^unit ns */
	const char *name;		/* in the format's source; NULL: it has none */
};

struct columns_word {
	char text[COLUMNS_WORD_BYTES];	/* in lower case; matches upper case, too */
	uint8_t op;			/* enum trace_op, or COLUMNS_PASSED */
};

/* What a table's column is read as: slate_lib/tables.py. */
enum column_form {
	COLUMN_AS_TEXT,
	COLUMN_AS_NUMBER,		/* whole */
	COLUMN_AS_TIME,			/* a number, with the user's unit */
	COLUMN_AS_STAMP,		/* a type that has a unit; it becomes ns */
	COLUMN_AS_ISO,			/* text such as 2026-12-01T09:30:00Z */
};

struct column_source {			/* of a table */
	char name[COLUMNS_NAME_BYTES];	/* or its number, from 1 on */
	enum column_form form;
};

struct trace_columns {
	const char *head;		/* the first line is a head if it begins so; NULL: there is none */
	uint64_t skip;			/* number of lines that are a head */
	char separator;
	uint8_t needed, columns;	/* columns that a row must have, and that it may have */
	bool more;			/* it may have further ones, which are ignored */
	uint8_t op;			/* without COLUMN_OP and COLUMN_FLAGS: operation of all rows */
	uint32_t bytes;			/* size of all rows, if no column has COLUMN_BYTES */
	bool pass_others;		/* rows of other operations are passed over */
	uint8_t words;
	struct columns_word word[COLUMNS_WORDS_MAX];
	struct column column[COLUMNS_MAX];
	bool table;			/* the columns are those of `from`, in its order */
	struct column_source from[COLUMNS_OF_TABLE];
};

/* Returns the table's row of a format (enum trace_format); NULL: the format has no fixed columns. */
const struct trace_columns *columns_of(unsigned int format);
/* Returns the unit of a format's times, such as "100 ns". */
const char *columns_time_unit(const struct trace_columns *f);
/*
 * Parse the user's own format, such as "time=5us,op=2:r/w,offset=3*512,bytes=4"; `kind` is "csv", or of a table
 * "parquet" or "arrow", where a column may have a name: "time=issued,op=kind:r/w,offset=sector*512,bytes=size".
 * Returns false with a sentence in err that names the item and the fix.
 */
bool columns_parse(struct trace_columns *out, const char *kind, const char *text, char *err, size_t room);

#endif

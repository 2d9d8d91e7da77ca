// SPDX-License-Identifier: GPL-2.0-or-later
/* columns_own.c - the user's own columns: "csv:", "parquet:" and "arrow:". docs/traces.md describes them for users. */
#include "columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"

struct draft {
	struct trace_columns *out;
	const char *kind;
	char *err;
	size_t room;
};

static bool refuse(const struct draft *d, const char *item, const char *fix)
{
	snprintf(d->err, d->room, "%s: %s: %s", d->kind, item, fix);
	return false;
}

/* The column that an item of --format names: in offset=3*512 it is column 3. */
struct place {
	unsigned long number;		/* from 1 on */
	char name[COLUMNS_NAME_BYTES];	/* of a table's column, or its number */
	const char *rest;		/* of the item, behind the column */
};

/* Take the column at the head of an item's value: a number, or in a table also a name up to '*' or ':'. */
static bool take_place(const struct draft *d, const char *value, struct place *out)
{
	const bool number = *value >= '0' && *value <= '9';
	size_t len = strcspn(value, "*:");
	char *rest;

	out->number = strtoul(value, &rest, 10);
	out->rest = rest;
	if (!d->out->table)
		return number;
	if (number)
		len = (size_t)(rest - value);
	else
		out->rest = value + len;
	snprintf(out->name, sizeof(out->name), "%.*s", (int)len, value);
	out->number = d->out->columns + 1u;
	return len && len < sizeof(out->name);
}

/* Say what a column is used for; `item` of --format says so, and is named if the column has a use already. */
static bool set_role(const struct draft *d, const char *item, const struct place *place, enum column_role role,
		     int unit, enum column_form form)
{
	static const char *const names[] = {
		[COLUMN_TIME] = "time", [COLUMN_ISO_TIME] = "time", [COLUMN_OP] = "op",
		[COLUMN_OFFSET] = "offset", [COLUMN_BYTES] = "bytes",
		[COLUMN_VOLUME] = "volume", [COLUMN_NAMED_VOLUME] = "volume",
	};
	struct column *c;

	if (!place->number || place->number > COLUMNS_MAX)
		return refuse(d, item, "columns are counted from 1 to 32");
	c = &d->out->column[place->number - 1];
	if (c->role != COLUMN_IGNORED)
		return refuse(d, item, "the column has another use already: give each column one");
	*c = (struct column){ role, unit, names[role] };
	if (d->out->table) {
		d->out->from[place->number - 1].form = form;
		memcpy(d->out->from[place->number - 1].name, place->name, sizeof(place->name));
	}
	if (d->out->columns < place->number)
		d->out->columns = d->out->needed = (uint8_t)place->number;
	return true;
}

/* Read a unit of time: [*N]ps, ns, us, ms or s, where N is 10 or 100. */
static bool find_time_unit(const char *text, int *unit)
{
	static const struct { const char *name; int unit; } units[] = {
		{ "ps", -3 }, { "ns", 0 }, { "us", TIME_US }, { "ms", TIME_MS }, { "s", TIME_S },
	};
	int more = 0;

	if (!strncmp(text, "*100", 4)) {
		more = 2;
		text += 4;
	} else if (!strncmp(text, "*10", 3)) {
		more = 1;
		text += 3;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(text, units[i].name)) {
			*unit = units[i].unit + more;
			return *unit <= TIME_S;
		}
	return false;
}

static bool has_word(const struct trace_columns *f, const char *word)
{
	for (unsigned int i = 0; i < f->words; i++)
		if (!strcmp(f->word[i].text, word))
			return true;
	return false;
}

/* Take the words of each operation: a slash goes on to the next operation, a plus to another word of this one. */
static bool add_words(const struct draft *d, const char *item, const char *text)
{
	char after = '/';

	for (uint8_t op = TRACE_READ; after; text++) {
		struct columns_word w = { .op = op };
		size_t len = strcspn(text, "/+");

		if (op > TRACE_FLUSH || d->out->words == COLUMNS_WORDS_MAX || !len || len >= COLUMNS_WORD_BYTES)
			return refuse(d, item, "takes up to 16 words of 1 to 15 characters for the four operations "
				      "read/write/trim/flush, such as op=2:r/w, or op=2:r+ra/w for two words of reads");
		for (size_t i = 0; i < len; i++)
			w.text[i] = (char)lower(text[i]);
		if (has_word(d->out, w.text))
			return refuse(d, item, "has a word twice, in lower or upper case: give it once");
		d->out->word[d->out->words++] = w;
		text += len;
		after = *text;
		op += after == '/';
	}
	return true;
}

static bool set_op(const struct draft *d, const char *item, const char *value)
{
	static const struct columns_word usual[] = {
		{ "r", TRACE_READ }, { "w", TRACE_WRITE }, { "t", TRACE_TRIM }, { "f", TRACE_FLUSH },
		{ "read", TRACE_READ }, { "write", TRACE_WRITE }, { "trim", TRACE_TRIM }, { "flush", TRACE_FLUSH },
	};
	struct place place;

	if (!strcmp(value, "read") || !strcmp(value, "write")) {
		d->out->op = *value == 'r' ? TRACE_READ : TRACE_WRITE;
		return true;
	}
	if (!take_place(d, value, &place) || (*place.rest && *place.rest != ':'))
		return refuse(d, item, "takes read, write, or a column and its words, such as op=2:r/w");
	if (!*place.rest) {
		memcpy(d->out->word, usual, sizeof(usual));
		d->out->words = sizeof(usual) / sizeof(usual[0]);
	}
	return (!*place.rest || add_words(d, item, place.rest + 1)) &&
	       set_role(d, item, &place, COLUMN_OP, 0, COLUMN_AS_TEXT);
}

static bool set_bytes(const struct draft *d, const char *item, const char *value, enum column_role role)
{
	struct place place;
	const bool same = role == COLUMN_BYTES && *value == '*';	/* all rows have this size */
	bool bad = !same && !take_place(d, value, &place);
	unsigned long unit = 1;
	char *rest;

	if (same)
		place.rest = value;
	if (!bad && *place.rest == '*') {
		bad = place.rest[1] < '0' || place.rest[1] > '9';
		unit = strtoul(place.rest + 1, &rest, 10);
		place.rest = rest;
	}
	if (bad || *place.rest || !unit || unit > (1u << 30))
		return refuse(d, item, role == COLUMN_BYTES ?
			      "takes a column and its unit in bytes, such as bytes=4*512, or one size, bytes=*4096" :
			      "takes a column and its unit in bytes, such as offset=3*512");
	if (same)
		d->out->bytes = (uint32_t)unit;
	return same || set_role(d, item, &place, role, (int)unit, COLUMN_AS_NUMBER);
}

/* A table's column needs no unit if its type has one. */
static bool set_time(const struct draft *d, const char *item, const char *value)
{
	struct place place;
	int unit = 0;

	if (!take_place(d, value, &place))
		return refuse(d, item, "takes a column and its unit (ps, ns, us, ms, s, *10 or *100 of one), such as "
			      "time=5us or time=1*100ns, or :iso, such as time=1:iso");
	if (d->out->table && !*place.rest)
		return set_role(d, item, &place, COLUMN_TIME, unit, COLUMN_AS_STAMP);
	if (!strcmp(place.rest, ":iso"))
		return set_role(d, item, &place, COLUMN_ISO_TIME, unit, COLUMN_AS_ISO);
	if (!find_time_unit(place.rest + (d->out->table && *place.rest == ':'), &unit))
		return refuse(d, item, d->out->table ?
			      "takes a column, and its unit (ps, ns, us, ms, s, *10 or *100 of one) unless its type "
			      "has one, such as time=issued:us or time=5us; or :iso" :
			      "takes a column and its unit (ps, ns, us, ms, s, *10 or *100 of one), such as time=5us "
			      "or time=1*100ns, or :iso, such as time=1:iso");
	return set_role(d, item, &place, COLUMN_TIME, unit, COLUMN_AS_TIME);
}

static bool set_volume(const struct draft *d, const char *item, const char *value)
{
	struct place place;
	bool good = take_place(d, value, &place), text = good && !strcmp(place.rest, ":text");

	if (!good || (*place.rest && !text))
		return refuse(d, item, "takes a column, with :text if it has names, such as volume=1 or volume=2:text");
	return set_role(d, item, &place, text ? COLUMN_NAMED_VOLUME : COLUMN_VOLUME, 0,
			text ? COLUMN_AS_TEXT : COLUMN_AS_NUMBER);
}

static bool set_separator(const struct draft *d, const char *item, const char *value)
{
	static const struct { const char *name; char c; } names[] = {
		{ "comma", ',' }, { "blank", COLUMNS_BLANKS }, { "semicolon", ';' }, { "bar", '|' },
		{ "tab", '\t' },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(value, names[i].name)) {
			d->out->separator = names[i].c;
			return true;
		}
	return refuse(d, item, "takes comma, blank (any number of blanks and tabs), semicolon, bar or tab");
}

static bool set_skip(const struct draft *d, const char *item, const char *value)
{
	char *rest;

	d->out->skip = strtoul(value, &rest, 10);
	return (*value >= '0' && *value <= '9' && !*rest && strlen(value) < 10) ||
	       refuse(d, item, "takes a number of lines");
}

static bool set_item(const struct draft *d, const char *item)
{
	const char *value = strchr(item, '=');
	size_t len = value ? (size_t)(value++ - item) : 0;

	if (word_is(item, len, "time"))
		return set_time(d, item, value);
	if (word_is(item, len, "op"))
		return set_op(d, item, value);
	if (word_is(item, len, "offset"))
		return set_bytes(d, item, value, COLUMN_OFFSET);
	if (word_is(item, len, "bytes"))
		return set_bytes(d, item, value, COLUMN_BYTES);
	if (word_is(item, len, "volume"))
		return set_volume(d, item, value);
	if (word_is(item, len, "sep") && !d->out->table)
		return set_separator(d, item, value);
	if (word_is(item, len, "skip") && !d->out->table)
		return set_skip(d, item, value);
	return refuse(d, item, d->out->table ? "is not time=, op=, offset=, bytes= or volume=" :
		      "is not time=, op=, offset=, bytes=, volume=, sep= or skip=");
}

static bool has_role(const struct trace_columns *f, enum column_role role)
{
	for (unsigned int i = 0; i < f->columns; i++)
		if (f->column[i].role == role)
			return true;
	return false;
}

/* Is an item with the name of `item` in `text` before `here`, where `item` begins? */
static bool is_repeated(const char *text, const char *here, const char *item)
{
	size_t len = strcspn(item, "=");

	for (; text < here; text += strcspn(text, ",") + 1)
		if (!strncmp(text, item, len) && text[len] == '=')
			return true;
	return false;
}

bool columns_parse(struct trace_columns *out, const char *kind, const char *text, char *err, size_t room)
{
	const struct draft d = { out, kind, err, room };
	const char *const begin = text;
	char item[COLUMNS_NAME_BYTES + COLUMNS_WORDS_MAX * COLUMNS_WORD_BYTES + 64];

	*out = (struct trace_columns){ .separator = ',', .more = true, .op = COLUMNS_PASSED };
	if (strcmp(kind, "csv") != 0) {
		out->table = true;
		out->more = false;
		out->separator = COLUMNS_TABLE;
	}
	while (*text) {
		size_t len = strcspn(text, ",");

		snprintf(item, sizeof(item), "%.*s", (int)(len < sizeof(item) ? len : sizeof(item) - 1), text);
		if (len >= sizeof(item))
			return refuse(&d, item, "is longer than any item");
		if (is_repeated(begin, text, item))
			return refuse(&d, item, "an item of this name is there already: give it once");
		if (!set_item(&d, item))
			return false;
		text += len + (text[len] == ',');
	}
	if (!has_role(out, COLUMN_OFFSET) || !(out->bytes || has_role(out, COLUMN_BYTES)) ||
	    (!has_role(out, COLUMN_OP) && out->op == COLUMNS_PASSED))
		return refuse(&d, "columns are missing", out->table ?
			      "give op=, offset= and bytes=, such as "
			      "parquet:time=issued,op=kind:r/w,offset=sector*512,bytes=size" :
			      "give op=, offset= and bytes=, such as "
			      "csv:time=5us,op=2:r/w,offset=3*512,bytes=4,volume=1");
	return true;
}

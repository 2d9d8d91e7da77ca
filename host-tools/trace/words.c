// SPDX-License-Identifier: GPL-2.0-or-later
/* words.c - see words.h. */
#include "words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parse a number of at most 18 digits. */
static bool parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *out)
{
	char *end;

	*out = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && strlen(text) <= 18 && *out >= low && *out <= high;
}

/* Parse a decimal below 10 million of up to six places, times TRACE_SPEED_ONE. */
static bool parse_decimal(const char *text, uint64_t *out)
{
	uint64_t whole = 0, part = 0, scale = TRACE_SPEED_ONE;
	const char *s = text;

	for (; *s >= '0' && *s <= '9' && whole <= 1000000; s++)
		whole = whole * 10 + (uint64_t)(*s - '0');
	if (s != text && *s == '.')
		for (s++; *s >= '0' && *s <= '9' && scale > 1; s++) {
			part = part * 10 + (uint64_t)(*s - '0');
			scale /= 10;
		}
	*out = whole * TRACE_SPEED_ONE + part * scale;
	return !*s && s != text;
}

/* Parse "N" or "MAJOR,MINOR", as in trace_row.device. */
static bool parse_device(const char *text, uint64_t *out)
{
	const char *comma = strchr(text, ',');
	uint64_t minor = 0;
	char major[16];

	if (!comma || comma - text >= (long)sizeof(major))
		return parse_number(text, 0, TRACE_ANY_DEVICE - 1, out);
	snprintf(major, sizeof(major), "%.*s", (int)(comma - text), text);
	if (!parse_number(major, 0, 4095, out) || !parse_number(comma + 1, 0, 1048575, &minor))
		return false;
	*out = *out << 20 | minor;
	return true;
}

static bool refuse(char err[TRACE_ERR_BYTES], const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool refuse(char err[TRACE_ERR_BYTES], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, TRACE_ERR_BYTES, fmt, ap);
	va_end(ap);
	return false;
}

/* Take "unit=BYTES[,op=read|write]" of oracleGeneral. */
static bool take_object(struct trace_object *o, const char *text, char err[TRACE_ERR_BYTES])
{
	const char *comma = strchr(text, ',');
	char size[24];

	*o = (struct trace_object){ .op = TRACE_READ };
	snprintf(size, sizeof(size), "%.*s", comma ? (int)(comma - text) : (int)strlen(text), text);
	if (comma && !strcmp(comma, ",op=write"))
		o->op = TRACE_WRITE;
	return (!strncmp(size, "unit=", 5) && parse_number(size + 5, 1, 1u << 30, &o->unit) &&
		(!comma || o->op == TRACE_WRITE || !strcmp(comma, ",op=read"))) ||
	       refuse(err, "--format oracleGeneral:%s: its records have no operation, and no unit of an object's "
		      "number: give oracleGeneral:unit=BYTES[,op=read|write], such as unit=512 for sectors", text);
}

/* Parse the word of --format: a format's name; or csv:, parquet: or arrow: and a description of the columns. */
static bool take_format(struct trace_options *o, const char *text, char err[TRACE_ERR_BYTES])
{
	static const enum trace_format of_columns[] = { TRACE_CSV, TRACE_PARQUET, TRACE_ARROW };
	char why[TRACE_ERR_BYTES / 2];

	o->columns.columns = 0;
	for (size_t i = 0; i < sizeof(of_columns) / sizeof(of_columns[0]); i++) {
		const char *name = trace_format_names[of_columns[i]];
		size_t len = strlen(name);

		if (strncmp(text, name, len) || text[len] != ':')
			continue;
		o->format = of_columns[i];
		return columns_parse(&o->columns, name, text + len + 1, why, sizeof(why)) ||
		       refuse(err, "--format %s", why);
	}
	if (!strncmp(text, "oracleGeneral", 13) && (!text[13] || text[13] == ':')) {
		o->format = TRACE_ORACLE;
		return take_object(&o->object, text + 13 + (text[13] == ':'), err);
	}
	for (unsigned int f = TRACE_NATIVE; f < TRACE_GENERATED; f++) {
		o->format = (enum trace_format)f;
		if (f != TRACE_CSV && !strcmp(text, trace_format_names[f]))
			return true;
	}
	return refuse(err, "--format %s: unknown format: expected %s", text, trace_format_list);
}

bool trace_take_number(const char *name, const char *text, uint64_t low, uint64_t high, uint64_t *out,
		       char err[TRACE_ERR_BYTES])
{
	return parse_number(text, low, high, out) ||
	       refuse(err, "--%s %s: not a whole number from %" PRIu64 " to %" PRIu64, name, text, low, high);
}

bool trace_take_size(const char *name, const char *text, uint64_t low, uint64_t high, uint64_t *out,
		     char err[TRACE_ERR_BYTES])
{
	return (trace_parse_size(text, out) && *out >= low && *out <= high) ||
	       refuse(err, "--%s %s: not a size from %" PRIu64 " to %" PRIu64 " bytes, such as 256KiB", name, text, low,
		      high);
}

bool trace_take_speed(const char *name, const char *text, uint64_t *out, char err[TRACE_ERR_BYTES])
{
	return (parse_decimal(text, out) && *out >= TRACE_SPEED_ONE / 1000 &&
		*out <= (uint64_t)1000000 * TRACE_SPEED_ONE) ||
	       refuse(err, "--%s %s: not a number from 0.001 to 1000000 with at most 6 decimal places", name, text);
}

bool trace_take_share(const char *name, const char *text, unsigned int places, uint64_t high, uint64_t *out,
		      char err[TRACE_ERR_BYTES])
{
	uint64_t unit = TRACE_SPEED_ONE;

	for (unsigned int i = 0; i < places; i++)
		unit /= 10;
	if (!parse_decimal(text, out) || *out > high * TRACE_SPEED_ONE || *out % unit)
		return refuse(err, "--%s %s: not a number from 0 to %" PRIu64 " with at most %u decimal place%s", name,
			      text, high, places, places == 1 ? "" : "s");
	*out /= unit;
	return true;
}

bool trace_take_option(struct trace_choice *c, enum trace_option option, const char *text,
		       char err[TRACE_ERR_BYTES])
{
	switch (option) {
	case TRACE_OPT_FORMAT:
		return take_format(&c->options, text, err);
	case TRACE_OPT_DEVICE:
		return parse_device(text, &c->options.device) ||
		       refuse(err, "--device %s: expected a whole number 0 .. 18446744073709551614, or MAJOR,MINOR "
			      "(0 .. 4095 and 0 .. 1048575)", text);
	case TRACE_OPT_ACTION:
		c->options.action = *text;
		return strlen(text) == 1 ||
		       refuse(err, "--blk-action %s: is not one letter: give one such as Q, D or C", text);
	case TRACE_OPT_MAX_BAD:
		return trace_take_number("max-bad", text, 0, 1000, &c->max_bad_permille, err);
	case TRACE_OPT_FOLD:
		c->beyond = TRACE_BEYOND_FOLD;
		return true;
	case TRACE_OPT_SCALE:
		c->beyond = TRACE_BEYOND_SCALE;
		return !text || (trace_parse_size(text, &c->scale_bytes) && c->scale_bytes) ||
		       refuse(err, "--scale=%s: not a size, such as 200GiB", text);
	case TRACE_OPT_END:
		break;
	}
	return false;
}

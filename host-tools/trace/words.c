// SPDX-License-Identifier: GPL-2.0-or-later
/* words.c - see words.h. */
#include "words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool trace_parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *out)
{
	char *end;

	*out = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && strlen(text) <= 18 && *out >= low && *out <= high;
}

bool trace_parse_decimal(const char *text, uint64_t *out)
{
	uint64_t whole = 0, part = 0, scale = TRACE_DECIMAL_ONE;
	const char *s = text;

	for (; *s >= '0' && *s <= '9' && whole <= 1000000; s++)
		whole = whole * 10 + (uint64_t)(*s - '0');
	if (s != text && *s == '.')
		for (s++; *s >= '0' && *s <= '9' && scale > 1; s++) {
			part = part * 10 + (uint64_t)(*s - '0');
			scale /= 10;
		}
	*out = whole * TRACE_DECIMAL_ONE + part * scale;
	return !*s && s != text;
}

bool trace_parse_device(const char *text, uint64_t *out)
{
	const char *comma = strchr(text, ',');
	uint64_t minor = 0;
	char major[16];

	if (!comma || comma - text >= (long)sizeof(major))
		return trace_parse_number(text, 0, UINT32_MAX, out);
	snprintf(major, sizeof(major), "%.*s", (int)(comma - text), text);
	if (!trace_parse_number(major, 0, 4095, out) || !trace_parse_number(comma + 1, 0, 1048575, &minor))
		return false;
	*out = *out << 20 | minor;
	return true;
}

bool trace_parse_format(const char *text, enum trace_format *out)
{
	for (unsigned int f = TRACE_NATIVE; f < TRACE_GENERATED; f++) {
		if (strcmp(text, trace_format_names[f]))
			continue;
		*out = (enum trace_format)f;
		return true;
	}
	return false;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside report*.c: helpers, and the parts of the JSON that are in files of their own. */
#ifndef REPLAY_REPORT_H
#define REPLAY_REPORT_H

#include <jansson.h>

#include "replay.h"

#define NAME_OF(name, ...) #name,

static inline void put(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

static inline json_t *sub(json_t *o, const char *key)
{
	json_t *new = json_object();

	json_object_set_new(o, key, new);
	return new;
}

/*
 * report_series.c: write what --interval gives as "series", a list of rows, and what --timeline gives as "timeline", a
 * list for each counter. Without its option each is null.
 */
void report_series(const struct replay *r, json_t *root);
void report_timeline(const struct replay *r, json_t *root);

#endif

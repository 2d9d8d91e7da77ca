// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * report_series.c - writes what a replay's JSON has over time: the replayer's intervals, and the drive's own series.
 */
#include "report.h"
#include "slate_wire.h"

static void put_row(json_t *list, const struct interval *i)
{
	json_t *o = json_object();

	put(o, "at_ns", i->at_ns);
	for (unsigned int op = 0; op < FTL_NOPS; op++) {
		json_t *one;

		if (!i->ios[op])
			continue;
		one = sub(o, replay_op_name(op));
		put(one, "ios", i->ios[op]);
		put(one, "bytes", i->bytes[op]);
		put(one, "latency_sum_ns", i->lat_sum_ns[op]);
		put(one, "latency_max_ns", i->lat_max_ns[op]);
	}
	put(o, "nand_reads", i->reads);
	put(o, "nand_programs", i->programs);
	put(o, "nand_erases", i->erases);
	put(o, "gc_calls", i->gc_runs);
	put(o, "gc_units", i->gc_units);
	json_array_append_new(list, o);
}

void report_series(const struct replay *r, json_t *root)
{
	json_t *o, *list;

	if (!r->account.interval_ns) {
		json_object_set_new(root, "series", json_null());
		return;
	}
	o = sub(root, "series");
	list = json_array();
	put(o, "interval_ns", r->account.interval_ns);
	for (size_t i = 0; i < r->account.rows; i++)
		put_row(list, &r->account.row[i]);
	json_object_set_new(o, "rows", list);
}

/* ---- the timeline: the drive's series, as a list for each counter ------------------- */

static const char *const op_words[] = { SLATE_SERIES_OP_COUNTERS(NAME_OF) FTL_CAUSES(NAME_OF) };
static const char *const drive_words[] = { SLATE_SERIES_DRIVE_COUNTERS(NAME_OF) };

/* Return one value of every row; null if the drive does not report it. */
static json_t *column(const struct slate_log_series *l, uint32_t word)
{
	const uint64_t *rows = (const uint64_t *)(const void *)(l + 1);
	uint32_t row_words = l->row_bytes / (uint32_t)sizeof(*rows);
	json_t *list = json_array();

	for (uint32_t i = 0; i < l->rows; i++) {
		uint64_t v = rows[(size_t)i * row_words + word];

		if (v == UINT64_MAX) {
			json_decref(list);
			return json_null();
		}
		json_array_append_new(list, json_integer((json_int_t)v));
	}
	return list;
}

static void put_columns(json_t *o, const struct slate_log_series *l, uint32_t word,
			const char *const *names, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		json_object_set_new(o, names[i], column(l, word + i));
}

/* Write the drive's counters; those behind free_blocks only if they are not 0 throughout. */
static void put_drive_columns(json_t *o, const struct slate_log_series *l, uint32_t word)
{
	const uint64_t *rows = (const uint64_t *)(const void *)(l + 1);

	for (uint32_t i = 0; i < l->drive_words; i++) {
		bool some = i <= SLATE_SERIES_free_blocks;

		for (uint32_t row = 0; row < l->rows && !some; row++)
			some = rows[(size_t)row * (l->row_bytes / sizeof(*rows)) + word + i];
		if (some)
			put_columns(o, l, word + i, drive_words + i, 1);
	}
}

static void put_columns_list(json_t *o, const char *key, const struct slate_log_series *l,
			     uint32_t word, uint32_t count)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(list, column(l, word + i));
	json_object_set_new(o, key, list);
}

void report_timeline(const struct replay *r, json_t *root)
{
	const struct slate_log_series *l = r->account.timeline;
	uint32_t at;
	json_t *o;

	if (!l) {
		json_object_set_new(root, "timeline", json_null());
		return;
	}
	o = sub(root, "timeline");
	put(o, "begin_ns", l->head.since_ns);
	put(o, "interval_ns", l->interval_ns);
	put(o, "rows", l->rows);
	for (unsigned int op = 0; op < FTL_NOPS; op++)
		put_columns(sub(o, replay_op_name(op)), l, op * l->op_words, op_words, l->op_words);
	at = l->ops * l->op_words;
	put_drive_columns(sub(o, "drive"), l, at);
	at += l->drive_words;
	put_columns_list(o, "dies", l, at, l->dies);
	put_columns_list(o, "channels", l, at + l->dies, l->channels);
}

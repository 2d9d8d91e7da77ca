// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slate_series.c - a drive's counters by interval, for SLATE_LOG_SERIES.
 *
 * Data: up to SLATE_SERIES_ROWS_MAX finished rows of equal length, then the current row. When there
 * is no room for another row, pairs of neighbours are joined and the interval is doubled: the
 * memory is constant, and a run of any length fills at least half of the rows. `last` holds the
 * counters at the beginning of the current row.
 *
 * Rows are ended by slate_submit() and slate_step(), by the first call whose time is at or
 * after the row's end, before it changes anything. This is exact, because the state does not change
 * between two calls. A call without work therefore changes no row, and neither does a read of a
 * log. While the machine is stopped no row ends, because the times of calls then depend on the
 * host.
 *
 * Invariants: (1) all rows with the current one add up to the counters since the start; (2)
 * series_ns == begin_ns + (count + 1) * interval_ns. Cost: a comparison a call; O(blocks) a
 * row for free blocks, and O(log(time)) rows in all.
 */
#include <stdlib.h>
#include <string.h>

#include "nand_geom.h"
#include "slate_control.h"
#include "slate_dev.h"

#define FIRST_INTERVAL_NS 1000000u
#define OPS_WORDS ((uint32_t)SLATE_WIRE_OPS * SLATE_SERIES_OP_WORDS)
#define BUSY_AT (OPS_WORDS + SLATE_SERIES_DRIVE_WORDS)

struct slate_series {
	uint64_t begin_ns, interval_ns;
	uint32_t count, words;			/* finished rows; words of each */
	uint64_t max_ns[FTL_NOPS];		/* maximum latencies of the current row */
	uint64_t *last, *now;			/* counters at the start of the row; scratch memory */
	struct slate_stats stats;		/* scratch memory */
	uint64_t rows[];			/* SLATE_SERIES_ROWS_MAX */
};

static uint64_t free_blocks(const struct slate_dev *d)
{
	uint64_t n = 0, blocks = geo_blocks(&d->profile.array.geo);

	if (!d->power.on || !d->ftl || !d->ftl->ops->block)
		return UINT64_MAX;
	for (uint32_t b = 0; b < blocks; b++)
		n += d->ftl->ops->block(d->ftl, (pbn_t){ b }).state == FTL_BLOCK_FREE;
	return n;
}

#define PUT_COUNT(name) *to++ = s->name;
#define PUT_MAX(name) *to++ = 0;	/* max_ns is not a counter */
#define PUT_OP(name, kind, says) PUT_##kind(name)
#define PUT_DRIVE(name, kind, value, says) *to++ = value;

static uint64_t *put_op(uint64_t *to, const struct ftl_op_stats *s)
{
	SLATE_SERIES_OP_COUNTERS(PUT_OP)
	memcpy(to, &s->where, sizeof(s->where));
	return to + SLATE_WIRE_CAUSES;
}

static uint64_t commands(const struct slate_stats *s, enum nand_op op)
{
	uint64_t n = 0;

	for (unsigned int source = 0; source < NAND_NSOURCES; source++)
		n += s->nand.ops[op][source];
	return n;
}

static uint64_t *put_drive(const struct slate_dev *d, uint64_t *to, const struct slate_stats *s)
{
	SLATE_SERIES_DRIVE_COUNTERS(PUT_DRIVE)
	return to;
}

static uint64_t *put_busy(const struct slate_dev *d, uint64_t *to)
{
	uint32_t dies = slate_dies(d), channels = slate_channels(d);

	for (uint32_t i = 0; i < dies + channels; i++, to++) {
		*to = 0;
		for (unsigned int s = 0; s < NAND_NSOURCES; s++)
			*to += i < dies ? slate_die_busy_ns(d, i, (enum nand_source)s) :
			       slate_bus_busy_ns(d, i - dies, (enum nand_source)s);
	}
	return to;
}

/* Write all counters as the words of a row. */
static void count(const struct slate_dev *d, struct slate_series *s, uint64_t *words)
{
	uint64_t *to = words;

	slate_get_stats(d, &s->stats);
	for (unsigned int op = 0; op < FTL_NOPS; op++)
		to = put_op(to, &s->stats.ftl.op[op]);
	to = put_drive(d, to, &s->stats);
	to = put_busy(d, to);
	if (d->processors)
		d->processors_busy_ns(d->processors_opaque, to);
	to += d->processors;
	SSD_ASSERT(to == words + s->words);
}

enum kind { COUNT, MAX, LEVEL };

#define KIND(name, kind, ...) kind,
static const enum kind op_kind[SLATE_SERIES_OP_WORDS] = { SLATE_SERIES_OP_COUNTERS(KIND) };	/* causes: COUNT */
static const enum kind drive_kind[SLATE_SERIES_DRIVE_WORDS] = { SLATE_SERIES_DRIVE_COUNTERS(KIND) };

static enum kind kind_of(uint32_t word)
{
	if (word < OPS_WORDS)
		return op_kind[word % SLATE_SERIES_OP_WORDS];
	return word < BUSY_AT ? drive_kind[word - OPS_WORDS] : COUNT;
}

/* Write the current row, up to now; leaves the counters in s->now. */
static void put_row(const struct slate_dev *d, struct slate_series *s, uint64_t *row)
{
	count(d, s, s->now);
	for (uint32_t i = 0; i < s->words; i++)
		switch (kind_of(i)) {
		case COUNT:
			row[i] = s->now[i] - s->last[i];
			break;
		case MAX:
			row[i] = s->max_ns[i / SLATE_SERIES_OP_WORDS];
			break;
		case LEVEL:
			row[i] = s->now[i];
			break;
		}
}

/* Join two rows; b follows a. */
static void join(const struct slate_series *s, uint64_t *to, const uint64_t *a, const uint64_t *b)
{
	for (uint32_t i = 0; i < s->words; i++)
		switch (kind_of(i)) {
		case COUNT:
			to[i] = a[i] + b[i];
			break;
		case MAX:
			to[i] = a[i] > b[i] ? a[i] : b[i];
			break;
		case LEVEL:
			to[i] = b[i];
			break;
		}
}

static void double_interval(struct slate_series *s)
{
	for (uint32_t i = 0; i < s->count / 2; i++)
		join(s, s->rows + (size_t)i * s->words, s->rows + (size_t)(2 * i) * s->words,
		     s->rows + (size_t)(2 * i + 1) * s->words);
	s->count /= 2;
	s->interval_ns *= 2;
}

void slate_series_passed(struct slate_dev *d, uint64_t now_ns)
{
	struct slate_series *s = d->series;

	while (now_ns >= d->series_ns && !d->machine_stands) {
		put_row(d, s, s->rows + (size_t)s->count++ * s->words);
		memcpy(s->last, s->now, s->words * sizeof(*s->now));
		memset(s->max_ns, 0, sizeof(s->max_ns));
		if (s->count == SLATE_SERIES_ROWS_MAX)
			double_interval(s);
		d->series_ns = s->begin_ns + (s->count + 1) * s->interval_ns;
	}
}

void slate_series_note(struct slate_series *s, const struct ftl_io *io)
{
	uint64_t took_ns = io->done_ns - io->submit_ns;

	if (took_ns > s->max_ns[io->op])
		s->max_ns[io->op] = took_ns;
}

void slate_series_restart(struct slate_dev *d, uint64_t now_ns)
{
	struct slate_series *s = d->series;

	if (!s)
		return;
	s->begin_ns = now_ns;
	s->interval_ns = FIRST_INTERVAL_NS;
	s->count = 0;
	memset(s->max_ns, 0, sizeof(s->max_ns));
	count(d, s, s->last);
	d->series_ns = now_ns + s->interval_ns;
}

int slate_keep_series(struct slate_dev *d, uint64_t now_ns)
{
	uint32_t words = BUSY_AT + slate_dies(d) + slate_channels(d) + d->processors;
	struct slate_series *s;

	if (d->series)
		return SSD_OK;
	s = calloc(1, sizeof(*s) + sizeof(uint64_t) * words * (SLATE_SERIES_ROWS_MAX + 2));
	if (!s)
		return SSD_E_NOMEM;
	s->words = words;
	s->last = s->rows + (size_t)words * SLATE_SERIES_ROWS_MAX;
	s->now = s->last + words;
	d->series = s;
	slate_series_restart(d, now_ns);
	return SSD_OK;
}

int slate_set_processors(struct slate_dev *d, uint64_t now_ns, uint32_t count,
			 void (*busy_ns)(void *opaque, uint64_t *ns), void *opaque)
{
	slate_series_free(d);
	d->processors = count;
	d->processors_busy_ns = busy_ns;
	d->processors_opaque = opaque;
	return slate_keep_series(d, now_ns);
}

uint64_t slate_series_end_ns(const struct slate_dev *d)
{
	return d->series_ns;
}

void slate_series_free(struct slate_dev *d)
{
	free(d->series);
	d->series = NULL;
	d->series_ns = UINT64_MAX;
}

void *slate_log_series(const struct slate_dev *d, uint64_t now_ns, size_t *bytes)
{
	struct slate_series *s = d->series;
	struct slate_log_series *l;
	size_t row_bytes = s ? s->words * sizeof(uint64_t) : 0;
	uint32_t rows = s ? s->count + 1 : 0;

	*bytes = sizeof(*l) + rows * row_bytes;
	l = slate_new_log(d, now_ns, SLATE_LOG_SERIES, *bytes);
	l->rows = rows;
	l->row_bytes = (uint32_t)row_bytes;
	l->ops = FTL_NOPS;
	l->op_words = SLATE_SERIES_OP_WORDS;
	l->drive_words = SLATE_SERIES_DRIVE_WORDS;
	l->dies = slate_dies(d);
	l->channels = slate_channels(d);
	l->processors = d->processors;
	if (s) {
		uint64_t *to = (uint64_t *)(void *)(l + 1);

		l->head.since_ns = s->begin_ns;
		l->interval_ns = s->interval_ns;
		memcpy(to, s->rows, s->count * row_bytes);
		put_row(d, s, to + (size_t)s->count * s->words);
	}
	return l;
}

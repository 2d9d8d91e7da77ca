// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slate_stats.c - a drive's statistics and marks. See slate.h.  Statistics have two parts: the
 * core's counts since the last mark, and `before`, the sum of all earlier intervals. Each interval
 * therefore has its own maxima.
 */
#include <stdlib.h>
#include <string.h>

#include "nand_geom.h"
#include "record.h"
#include "slate_dev.h"

size_t slate_busy_bytes(const struct slate_dev *d)
{
	return ((size_t)slate_dies(d) + slate_channels(d)) * NAND_NSOURCES * sizeof(uint64_t);
}

void slate_no_ftl_stats(struct ftl_stats *s)
{
	memset(s, 0, sizeof(*s));
	for (unsigned int i = 0; i < FTL_NOPS; i++)
		s->op[i].latency_min_ns = UINT64_MAX;
}

static void begin_interval(struct slate_dev *d)
{
	if (d->ftl)
		d->ftl->ops->reset_stats(d->ftl);
	d->nand->ops->reset_stats(d->nand);
	free(d->gone);
	d->gone = NULL;
}

void slate_forget_statistics(struct slate_dev *d)
{
	begin_interval(d);
	memset(&d->before.nand, 0, sizeof(d->before.nand));
	memset(d->busy_before, 0, slate_busy_bytes(d));
	slate_no_ftl_stats(&d->before.ftl);
}

#define ADD_COUNT(to, from) to += from;
#define ADD_MIN(to, from) to = from < to ? from : to;
#define ADD_MAX(to, from) to = from > to ? from : to;
#define ADD(name, kind, says) ADD_##kind(to->name, from->name)

static void add_op(struct ftl_op_stats *to, const struct ftl_op_stats *from)
{
	FTL_OP_COUNTERS(ADD)
	ftl_breakdown_add(&to->where, &from->where);
}

/* Add counters. In their struct those after op[] are consecutive uint64_t. */
static void add_counters(uint64_t *to, const uint64_t *from, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(*to); i++)
		to[i] += from[i];
}

void slate_add_ftl_stats(struct ftl_stats *to, const struct ftl_stats *from)
{
	for (unsigned int i = 0; i < FTL_NOPS; i++)
		add_op(&to->op[i], &from->op[i]);
	add_counters((uint64_t *)(void *)to + sizeof(to->op) / 8,
		     (const uint64_t *)(const void *)from + sizeof(to->op) / 8,
		     sizeof(*to) - sizeof(to->op));
}

static void add_stats(struct slate_stats *to, const struct slate_stats *from)
{
	struct nand_stats levels = from->nand;

	slate_add_ftl_stats(&to->ftl, &from->ftl);
	add_counters((uint64_t *)(void *)&to->nand, (const uint64_t *)(const void *)&from->nand,
		     sizeof(to->nand));
	nand_copy_levels(&to->nand, &levels);
}

static void since_mark(const struct slate_dev *d, struct slate_stats *out)
{
	if (d->ftl)
		out->ftl = *d->ftl->ops->stats(d->ftl);
	else
		slate_no_ftl_stats(&out->ftl);
	if (d->gone)
		slate_add_ftl_stats(&out->ftl, d->gone);
	d->nand->ops->get_stats(d->nand, &out->nand);
}

void slate_get_stats(const struct slate_dev *d, struct slate_stats *out)
{
	struct slate_stats *now = malloc(sizeof(*now));

	SSD_ASSERT(now);
	since_mark(d, now);
	*out = d->before;
	add_stats(out, now);
	free(now);
}

/* A recording counts all commands, so keep those from before the reset. */
static void keep_for_record(struct slate_dev *d)
{
	struct slate_stats *now = malloc(sizeof(*now));

	SSD_ASSERT(now);
	slate_get_stats(d, now);
	for (unsigned int op = 0; op < NAND_NOPS; op++)
		for (unsigned int s = 0; s < NAND_NSOURCES; s++)
			d->record_before[op][s] += now->nand.ops[op][s];
	free(now);
}

static void add_media(const struct slate_dev *d, struct slate_media *to)
{
	uint64_t page = slate_page_bytes(d), block = page * slate_geometry(d)->pages_per_block;
	struct slate_stats *now = malloc(sizeof(*now));

	SSD_ASSERT(now);
	slate_get_stats(d, now);
	to->host_bytes += now->ftl.op[FTL_WRITE].bytes;
	to->uncorrectable += now->nand.uncorrectable;
	to->refreshed_blocks += now->ftl.relocations;
	for (unsigned int s = 0; s < NAND_NSOURCES; s++) {
		to->programmed_bytes += (now->nand.ops[NAND_PROGRAM][s] + now->nand.ops[NAND_COPYBACK][s]) * page;
		to->read_bytes += now->nand.user_read_bytes[s];
		to->erased_bytes += now->nand.ops[NAND_ERASE][s] * block;
	}
	free(now);
}

void slate_get_media(const struct slate_dev *d, struct slate_media *out)
{
	uint64_t blocks = geo_blocks(slate_geometry(d)), free_blocks = 0;

	*out = d->media_before;
	add_media(d, out);
	out->blocks = blocks;
	out->erases_min = UINT32_MAX;
	for (uint32_t b = 0; b < blocks; b++) {
		uint32_t erases = d->nand->ops->erase_count(d->nand, (pbn_t){ b });

		if (d->nand->ops->is_bad(d->nand, (pbn_t){ b })) {
			out->bad_blocks++;
			continue;
		}
		out->erases_min = erases < out->erases_min ? erases : out->erases_min;
		out->erases_max = erases > out->erases_max ? erases : out->erases_max;
		free_blocks += d->ftl && d->ftl->ops->block &&
			       d->ftl->ops->block(d->ftl, (pbn_t){ b }).state == FTL_BLOCK_FREE;
	}
	if (out->bad_blocks == blocks)
		out->erases_min = 0;
	out->free_percent = (uint32_t)(free_blocks * 100 / blocks);
}

void slate_reset_stats(struct slate_dev *d)
{
	add_media(d, &d->media_before);
	if (d->record)
		keep_for_record(d);
	slate_forget_statistics(d);
	slate_causes_restart(d);
	slate_forget_marks(d);
}

uint32_t slate_dies(const struct slate_dev *d)
{
	return (uint32_t)geo_dies(&d->profile.array.geo);
}

uint32_t slate_channels(const struct slate_dev *d)
{
	return d->profile.array.geo.channels;
}

/* Returns a busy time since the last mark. i: index as in busy_before. */
static uint64_t busy_since_mark(const struct slate_dev *d, uint32_t i)
{
	const struct nand_array *a = nand_array_of(d->nand);
	uint32_t at = i / NAND_NSOURCES, dies = slate_dies(d);
	enum nand_source s = (enum nand_source)(i % NAND_NSOURCES);

	return at < dies ? nand_array_die_busy_ns(a, at, s) : nand_array_bus_busy_ns(a, at - dies, s);
}

static uint64_t busy_ns(const struct slate_dev *d, uint32_t at, enum nand_source s)
{
	uint32_t i = at * NAND_NSOURCES + (uint32_t)s;

	return d->busy_before[i] + busy_since_mark(d, i);
}

uint64_t slate_die_busy_ns(const struct slate_dev *d, uint32_t die, enum nand_source s)
{
	SSD_ASSERT(die < slate_dies(d));
	return busy_ns(d, die, s);
}

uint64_t slate_bus_busy_ns(const struct slate_dev *d, uint32_t channel, enum nand_source s)
{
	SSD_ASSERT(channel < slate_channels(d));
	return busy_ns(d, slate_dies(d) + channel, s);
}

static bool has_label(const struct mark *m, const char label[SLATE_LABEL_BYTES])
{
	return !strncmp(m->mark.label, label, SLATE_LABEL_BYTES);
}

/* Return the open begin with this label, or NULL. */
static struct mark *open_begin(struct slate_dev *d, const char label[SLATE_LABEL_BYTES])
{
	for (uint32_t i = 0; i < d->mark_count; i++)
		if (d->marks[i].open && has_label(&d->marks[i], label))
			return &d->marks[i];
	return NULL;
}

static void add_mark(struct slate_dev *d, uint64_t now_ns, enum slate_mark_kind kind,
		     const char label[SLATE_LABEL_BYTES])
{
	struct mark *m = &d->marks[d->mark_count++];

	m->mark.kind = kind;
	m->mark.at_ns = now_ns;
	m->open = kind == SLATE_MARK_BEGIN;
	memcpy(m->mark.label, label, SLATE_LABEL_BYTES);
	m->mark.label[SLATE_LABEL_BYTES] = 0;
	if (d->record)
		record_mark(d->record, now_ns, &m->mark);
	if (d->causes)
		slate_causes_mark(d->causes, m);
	since_mark(d, &m->interval);
	add_stats(&d->before, &m->interval);
	for (uint32_t i = 0; i < slate_busy_bytes(d) / sizeof(uint64_t); i++)
		d->busy_before[i] += busy_since_mark(d, i);
	begin_interval(d);
}

/* Is it a begin while another of its label is open, or the end of one while others are? */
static bool is_nested(struct slate_dev *d, enum slate_mark_kind kind, const char label[SLATE_LABEL_BYTES])
{
	struct mark *m = kind == SLATE_MARK_POINT ? NULL : open_begin(d, label);

	if (!m)
		return false;
	m->open += kind == SLATE_MARK_BEGIN ? 1 : UINT32_MAX;
	return m->open;
}

int slate_mark(struct slate_dev *d, uint64_t now_ns, enum slate_mark_kind kind,
	       const char label[SLATE_LABEL_BYTES])
{
	_Static_assert(sizeof(SLATE_MARKS_FULL) == SLATE_LABEL_BYTES + 1, "a label");

	if (is_nested(d, kind, label))
		return SSD_OK;
	if (d->mark_count == SLATE_MARKS_MAX)
		return SSD_E_NOSPC;
	if (d->mark_count == SLATE_MARKS_MAX - 1) {
		add_mark(d, now_ns, SLATE_MARK_POINT, SLATE_MARKS_FULL);
		return SSD_E_NOSPC;
	}
	add_mark(d, now_ns, kind, label);
	return SSD_OK;
}

uint32_t slate_mark_count(const struct slate_dev *d)
{
	return d->mark_count;
}

void slate_get_mark(const struct slate_dev *d, uint32_t i, struct slate_mark *mark,
		    struct slate_stats *interval)
{
	SSD_ASSERT(i < d->mark_count);
	*mark = d->marks[i].mark;
	*interval = d->marks[i].interval;
}

bool slate_ignores_flush(const struct slate_dev *d)
{
	return d->profile.ignore_flush;
}

bool slate_trims(const struct slate_dev *d)
{
	return d->profile.ops->durability == FTL_PREFIX;
}

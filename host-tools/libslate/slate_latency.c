// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slate_latency.c - histograms of latencies, kept for a shell that asks (QEMU): how many
 * I/Os fell into each bucket of hist.h, and where their time went.
 *
 * One table holds the counts since the last reset. A mark keeps the buckets that grew since
 * the mark before it, as a list of its own.
 *
 * Invariants.
 *   LAT1  the I/Os of an operation's buckets add up to its counter ios;
 *   LAT2  the buckets of all marks and of the time since the last one add up to the table;
 *   LAT3  buckets outside begin..end are empty.
 *
 * Cost: an increment of nine numbers an I/O; a mark and a log read the buckets from the
 * shortest to the longest latency. Memory: the table has 11.5 MB of address space, but only pages
 * in use take memory (80 KiB for a full octave); a mark takes 16 bytes for each of its buckets.
 */
#include <stdlib.h>
#include <string.h>

#include "slate_control.h"
#include "slate_dev.h"

_Static_assert(SLATE_BUCKETS_AN_OCTAVE == 1u << HIST_HALF_BITS, "slate.h");

static struct slate_causes *new_causes(void)
{
	struct slate_causes *c = calloc(1, sizeof(*c));

	for (unsigned int op = 0; c && op < FTL_NOPS; op++)
		c->begin[op] = HIST_BUCKETS;
	return c;
}

int slate_keep_causes(struct slate_dev *d)
{
	if (!d->causes)
		d->causes = new_causes();
	return d->causes ? SSD_OK : SSD_E_NOMEM;
}

/* Set all counts to 0, by a new table: one that is cleared would use all of its memory. */
void slate_causes_restart(struct slate_dev *d)
{
	if (!d->causes)
		return;
	free(d->causes);
	d->causes = new_causes();
	SSD_ASSERT(d->causes);
}

/* Count the buckets that grew since the last mark, and list them in `to`, unless it is NULL. */
static uint32_t grown(struct slate_causes *c, struct slate_hist_bucket *to)
{
	uint32_t n = 0;

	for (uint32_t op = 0; op < FTL_NOPS; op++) {
		for (uint32_t i = c->begin[op]; i < c->end[op]; i++) {
			uint64_t ios = c->bucket[op][i].ios - c->marked[op][i];

			if (!ios)
				continue;
			if (to) {
				to[n] = (struct slate_hist_bucket){ .ios = ios, .op = op, .bucket = i };
				c->marked[op][i] += ios;
			}
			n++;
		}
	}
	return n;
}

void slate_causes_mark(struct slate_causes *c, struct mark *m)
{
	m->buckets = grown(c, NULL);
	m->hist = m->buckets ? malloc(m->buckets * sizeof(*m->hist)) : NULL;
	SSD_ASSERT(m->hist || !m->buckets);
	grown(c, m->hist);
}

void slate_forget_marks(struct slate_dev *d)
{
	for (uint32_t i = 0; i < d->mark_count; i++)
		free(d->marks[i].hist);
	d->mark_count = 0;
}

static void each_of_mark(const struct mark *m, uint32_t op, slate_bucket_fn *fn, void *opaque)
{
	for (uint32_t i = 0; i < m->buckets; i++)
		if (m->hist[i].op == op)
			fn(opaque, hist_floor(m->hist[i].bucket), m->hist[i].ios);
}

void slate_each_bucket(const struct slate_dev *d, uint32_t mark, enum ftl_op op, slate_bucket_fn *fn,
		       void *opaque)
{
	const struct slate_causes *c = d->causes;

	SSD_ASSERT(mark == SLATE_NO_MARK || mark < d->mark_count);
	if (mark != SLATE_NO_MARK)
		each_of_mark(&d->marks[mark], op, fn, opaque);
	else
		for (uint32_t i = c ? c->begin[op] : 0; c && i < c->end[op]; i++)
			if (c->bucket[op][i].ios)
				fn(opaque, hist_floor(i), c->bucket[op][i].ios);
}

/* ---- SLATE_LOG_LATENCY --------------------------------------------------- */

static uint32_t buckets_used(const struct slate_causes *c)
{
	uint32_t n = 0;

	for (unsigned int op = 0; op < FTL_NOPS; op++)
		for (uint32_t i = c->begin[op]; i < c->end[op]; i++)
			n += c->bucket[op][i].ios > 0;
	return n;
}

static void put_buckets(struct slate_latency_entry *to, const struct slate_causes *c)
{
	for (uint32_t op = 0; op < FTL_NOPS; op++) {
		for (uint32_t i = c->begin[op]; i < c->end[op]; i++) {
			const struct slate_bucket *b = &c->bucket[op][i];

			if (!b->ios)
				continue;
			to->op = op;
			to->from_ns = hist_floor(i);
			to->below_ns = i + 1 < HIST_BUCKETS ? hist_floor(i + 1) : UINT64_MAX;
			to->ios = b->ios;
			memcpy(to->cause_ns, &b->where, sizeof(to->cause_ns));
			to++;
		}
	}
}

void *slate_log_latency(const struct slate_dev *d, uint64_t now_ns, size_t *bytes)
{
	uint32_t entries = d->causes ? buckets_used(d->causes) : 0;
	struct slate_log_latency *l;

	*bytes = sizeof(*l) + entries * sizeof(struct slate_latency_entry);
	l = slate_new_log(d, now_ns, SLATE_LOG_LATENCY, *bytes);
	l->entries = entries;
	l->entry_bytes = sizeof(struct slate_latency_entry);
	l->causes = SLATE_WIRE_CAUSES;
	if (entries)
		put_buckets((struct slate_latency_entry *)(void *)(l + 1), d->causes);
	return l;
}

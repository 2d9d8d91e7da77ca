// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * account.c - statistics, and the time from which they count.
 *
 * A request counts when it completes. Counting begins with the replay, or when the last request of the
 * warm-up completes; the drive's own statistics are then set to 0. The time series has a row for each
 * interval with at least one event; boundaries are multiples of the interval after since_ns. The
 * drive's counters belong to the interval in which the drive was told to do the work. The timeline is
 * the drive's own series (slate_series.c).
 */
#include "replay.h"

#include "slate_control.h"

#include <stdlib.h>

static void begin_interval(struct replay *r, uint64_t at_ns)
{
	struct account *a = &r->account;

	a->now = (struct interval){ .at_ns = at_ns };
	a->interval_end_ns = at_ns + a->interval_ns;
	slate_get_stats(r->dev, a->at_begin);
}

static void begin_timeline(struct replay *r, uint64_t now_ns)
{
	const struct slate_order restart = { .command = SLATE_RESET_COUNTERS };
	uint32_t unused;

	SSD_ASSERT(slate_keep_series(r->dev, now_ns) == SSD_OK);
	SSD_ASSERT(slate_control(r->dev, now_ns, &restart, &unused) == SLATE_DONE);
}

void account_begin(struct replay *r, uint64_t now_ns)
{
	struct account *a = &r->account;

	slate_reset_stats(r->dev);
	if (r->o.timeline)
		begin_timeline(r, now_ns);
	a->since_ns = a->last_ns = now_ns;
	a->completed = 0;
	a->rows = 0;
	for (unsigned int op = 0; op < FTL_NOPS; op++) {
		if (a->hist[op].count)		/* without values it is 0 already, but for min_ns */
			hist_clear(&a->hist[op]);
		a->hist[op].min_ns = UINT64_MAX;
		a->bytes[op] = a->errors[op] = 0;
		a->where[op] = (struct ftl_breakdown){ 0 };
	}
	a->interval_ns = r->o.interval_ns;
	a->interval_end_ns = REPLAY_NEVER;
	if (!a->interval_ns)
		return;
	if (!a->at_begin)
		a->at_begin = malloc(sizeof(*a->at_begin));
	SSD_ASSERT(a->at_begin);
	begin_interval(r, now_ns);
}

static uint64_t ops_of(const struct slate_stats *s, enum nand_op op)
{
	uint64_t sum = 0;

	for (unsigned int source = 0; source < NAND_NSOURCES; source++)
		sum += s->nand.ops[op][source];
	return sum;
}

/* Take the drive's counters since a->at_begin, and set a->at_begin to the present. */
static bool count_drive(struct replay *r, struct interval *out)
{
	struct account *a = &r->account;
	struct slate_stats *now = malloc(sizeof(*now));

	SSD_ASSERT(now);
	slate_get_stats(r->dev, now);
	out->reads = ops_of(now, NAND_READ) - ops_of(a->at_begin, NAND_READ);
	out->programs = ops_of(now, NAND_PROGRAM) - ops_of(a->at_begin, NAND_PROGRAM) +
			ops_of(now, NAND_COPYBACK) - ops_of(a->at_begin, NAND_COPYBACK);
	out->erases = ops_of(now, NAND_ERASE) - ops_of(a->at_begin, NAND_ERASE);
	out->gc_runs = now->ftl.gc_runs - a->at_begin->ftl.gc_runs;
	out->gc_units = now->ftl.gc_units - a->at_begin->ftl.gc_units;
	*a->at_begin = *now;
	free(now);
	return out->reads || out->programs || out->erases || out->gc_runs || out->gc_units;
}

static void end_interval(struct replay *r)
{
	struct account *a = &r->account;
	bool any = count_drive(r, &a->now);

	for (unsigned int op = 0; op < FTL_NOPS; op++)
		any = any || a->now.ios[op];
	if (!any)
		return;
	if (a->rows == a->room) {
		a->room = a->room ? 2 * a->room : 256;
		a->row = realloc(a->row, a->room * sizeof(*a->row));
		SSD_ASSERT(a->row);
	}
	a->row[a->rows++] = a->now;
}

void account_tick(struct replay *r, uint64_t now_ns)
{
	struct account *a = &r->account;

	if (now_ns < a->interval_end_ns)
		return;
	end_interval(r);
	begin_interval(r, now_ns - (now_ns - a->since_ns) % a->interval_ns);
}

void account_done(struct replay *r, const struct request *q)
{
	struct account *a = &r->account;
	uint64_t latency_ns = q->io.done_ns - q->io.submit_ns;
	unsigned int op = q->op;

	hist_add(&a->hist[op], latency_ns);
	ftl_breakdown_add(&a->where[op], &q->io.where);
	a->bytes[op] += q->bytes;
	a->errors[op] += q->io.status != SSD_OK;
	a->completed++;
	a->last_ns = q->io.done_ns > a->last_ns ? q->io.done_ns : a->last_ns;
	if (!a->interval_ns)
		return;
	a->now.ios[op]++;
	a->now.bytes[op] += q->bytes;
	a->now.lat_sum_ns[op] += latency_ns;
	if (latency_ns > a->now.lat_max_ns[op])
		a->now.lat_max_ns[op] = latency_ns;
}

void account_end(struct replay *r)
{
	struct account *a = &r->account;

	a->idle_ns = r->now_ns > a->last_ns ? r->now_ns : a->last_ns;
	if (a->interval_ns)
		end_interval(r);
	if (r->o.timeline) {
		size_t bytes;

		a->timeline = slate_log(r->dev, a->idle_ns, SLATE_LOG_SERIES, &bytes);
		SSD_ASSERT(a->timeline);
	}
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* summary.c - prints a summary that fits on a screen. The JSON has all numbers. */
#include "plural.h"
#include "replay.h"
#include "slate_power.h"

#include <inttypes.h>
#include <stdlib.h>

static void print_op(const struct replay *r, unsigned int op)
{
	const struct hist *h = &r->account.hist[op];
	double seconds = (double)(r->account.last_ns - r->account.since_ns) / 1e9;

	if (!h->count)
		return;
	printf("%-6s %10" PRIu64 " %11.1f %10.0f %10.1f %10.1f %10.1f %10.1f %10.1f\n", replay_op_name(op),
	       h->count, (double)r->account.bytes[op] / 1048576,
	       seconds > 0 ? (double)h->count / seconds : 0, (double)h->sum_ns / (double)h->count / 1000,
	       (double)hist_percentile(h, 500000) / 1000, (double)hist_percentile(h, 990000) / 1000,
	       (double)hist_percentile(h, 999000) / 1000, (double)h->max_ns / 1000);
}

static void print_input(const struct stream *s)
{
	const struct trace_placed *p = &s->placed;
	struct trace_counts c;

	rows_counts(s, &c);
	printf("%s: %s, %" PRIu64 " row%s, %" PRIu64 " request%s", trace_name(s->trace),
	       trace_format_names[trace_format(s->trace)], c.rows, plural(c.rows), s->requests, plural(s->requests));
	if (c.bad)
		printf(", %" PRIu64 " bad row%s", c.bad, plural(c.bad));
	if (c.passed)
		printf(", %" PRIu64 " row%s of no known operation passed over", c.passed, plural(c.passed));
	if (c.other_devices)
		printf(", %" PRIu64 " row%s of other devices", c.other_devices, plural(c.other_devices));
	if (s->backwards)
		printf(", %" PRIu64 " out of order (taken at the time of the row before)", s->backwards);
	if (p->zero_size)
		printf(", %" PRIu64 " of no bytes left out", p->zero_size);
	if (p->aligned)
		printf(", %" PRIu64 " widened to whole sectors or units (trims: shrunk)", p->aligned);
	if (p->folded)
		printf(", %" PRIu64 " folded", p->folded);
	if (p->scaled)
		printf(", scaled from %" PRIu64 " bytes", s->extent);
	if (p->moved)
		printf(", %" PRIu64 " moved down from across the end", p->moved);
	if (p->clipped)
		printf(", %" PRIu64 " trim%s clipped to the drive or extent", p->clipped, plural(p->clipped));
	if (p->split)
		printf(", %" PRIu64 " trim%s split at the end", p->split, plural(p->split));
	if (p->trims_left_out)
		printf(", %" PRIu64 " trim%s left out, covering no whole unit", p->trims_left_out,
		       plural(p->trims_left_out));
	printf("\n");
}

static double sum(const uint64_t v[NAND_NSOURCES])
{
	double s = 0;

	for (unsigned int i = 0; i < NAND_NSOURCES; i++)
		s += (double)v[i];
	return s;
}

/* Print the RAF of all bytes on the bus, and the RAF of data by cause. */
static void print_raf(const struct slate_stats *st, double asked)
{
	const uint64_t *read = st->nand.user_read_bytes;
	double merged = (double)st->ftl.merge_read_bytes;

	printf("RAF    %.4f; data alone: host %.4f, merges %.4f, GC %.4f, others %.4f\n",
	       (double)st->nand.read_bytes / asked, ((double)read[NAND_SRC_HOST] - merged) / asked,
	       merged / asked, (double)read[NAND_SRC_GC] / asked,
	       (sum(read) - (double)read[NAND_SRC_HOST] - (double)read[NAND_SRC_GC]) / asked);
}

static void print_drive(const struct replay *r)
{
	struct slate_stats *st = malloc(sizeof(*st));
	double programs, span = (double)(r->account.idle_ns - r->account.since_ns);
	const char *policy = slate_gc_policy(r->dev);

	SSD_ASSERT(st);
	slate_get_stats(r->dev, st);
	programs = sum(st->nand.ops[NAND_PROGRAM]) + sum(st->nand.ops[NAND_COPYBACK]);
	printf("NAND   %.0f reads, %.0f programs, %.0f erases; GC %" PRIu64 " calls%s%s%s, %.1f ms, %" PRIu64
	       " units moved\n", sum(st->nand.ops[NAND_READ]), programs, sum(st->nand.ops[NAND_ERASE]),
	       st->ftl.gc_runs, policy ? " (" : "", policy ? policy : "", policy ? ")" : "",
	       (double)st->ftl.gc_ns / 1e6, st->ftl.gc_units);
	if (r->account.bytes[FTL_WRITE])
		printf("WAF    %.4f\n",
		       programs * slate_page_bytes(r->dev) / (double)r->account.bytes[FTL_WRITE]);
	if (r->account.bytes[FTL_READ])
		print_raf(st, (double)r->account.bytes[FTL_READ]);
	if (span > 0)
		printf("busy   dies %.1f %%, channels %.1f %%\n",
		       100 * sum(st->nand.die_busy_ns) / span / slate_dies(r->dev),
		       100 * sum(st->nand.bus_busy_ns) / span / slate_channels(r->dev));
	free(st);
}

static void print_check(const struct replay *r)
{
	struct verified v = { 0 };

	if (r->o.loop == REPLAY_RECORDED)
		printf("recorded: %" PRIu64 " request%s compared, %" PRIu64 " differ; the array's commands %s\n",
		       r->compared, plural(r->compared), r->differed, r->ops_differ ? "differ" : "are equal");
	if (!r->o.check)
		return;
	if (r->verify)
		verify_get(r->verify, &v);
	printf("check  invariants %" PRIu64 " time%s; %" PRIu64 " sector%s read, %" PRIu64 " wrong, %" PRIu64
	       " of unknown content\n", r->invariant_checks, plural(r->invariant_checks), v.sectors, plural(v.sectors),
	       v.wrong, v.unknown);
}

static void print_cut(const struct replay *r)
{
	struct slate_power p;
	uint64_t programs, erases, saved;

	if (!r->o.cut)
		return;
	slate_get_power(r->dev, &p);
	programs = (uint64_t)p.torn[NAND_PROGRAM] + p.torn[NAND_COPYBACK];
	erases = p.torn[NAND_ERASE];
	saved = (uint64_t)p.save.ops[NAND_PROGRAM] + p.save.ops[NAND_COPYBACK];
	printf("cut    at %" PRIu64 " ns: %" PRIu64 " request%s in flight lost, %" PRIu64 " program%s and %" PRIu64
	       " erase%s torn", p.cut_ns, r->lost, plural(r->lost), programs, plural(programs), erases, plural(erases));
	if (p.save.ns)
		printf("; then %" PRIu64 " page%s saved in %" PRIu64 " ns, %u lost", saved, plural(saved), p.save.ns,
		       p.save.left_pages);
	printf("\n");
}

void summary_print(struct replay *r)
{
	const struct account *a = &r->account;

	printf("drive %s (%s FTL), %" PRIu64 " MiB; ", slate_profile_name(r->dev), slate_ftl_name(r->dev),
	       r->capacity >> 20);
	if (r->o.loop == REPLAY_CLOSED)
		printf("closed loop, queue depth %u a stream%s", r->o.qd, r->o.think ? ", with think times" : "");
	else if (r->o.loop == REPLAY_OPEN)
		printf("open loop, speed %g", (double)r->o.speed / TRACE_SPEED_ONE);
	else
		printf("a recording's own times");
	if (strstr(slate_settings(r->dev), "ftl.payload=no\n"))
		printf("; the array keeps no data (ftl.payload=no)");
	printf("\n");
	for (unsigned int i = 0; i < r->streams; i++)
		print_input(&r->stream[i]);
	printf("%" PRIu64 " request%s in %.6f s of drive time%s, deepest queue %" PRIu64 "\n", a->completed,
	       plural(a->completed), (double)(a->last_ns - a->since_ns) / 1e9, r->o.warmup ? " after the warm-up" : "",
	       r->deepest);
	printf("%-6s %10s %11s %10s %10s %10s %10s %10s %10s\n", "us", "requests", "MiB", "per s", "mean",
	       "50 %", "99 %", "99.9 %", "max");
	for (unsigned int op = 0; op < FTL_NOPS; op++)
		print_op(r, op);
	print_drive(r);
	print_check(r);
	print_cut(r);
}

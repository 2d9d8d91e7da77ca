/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ftl_stats.h - structs of the counters that ftl_counters.h declares. All counters except minima and
 * maxima only grow, so that the difference of two copies describes the time between them.
 */
#ifndef SLATE_FTL_STATS_H
#define SLATE_FTL_STATS_H

#include "ftl_counters.h"
#include "port.h"

enum ftl_op { FTL_READ, FTL_WRITE, FTL_TRIM, FTL_FLUSH, FTL_NOPS };

#define FTL_FIELD(name, ...) uint64_t name;

/* The parts of an I/O's latency; their sum equals it exactly. */
struct ftl_breakdown { FTL_CAUSES(FTL_FIELD) };

/*
 * Copy the parts of a latency one by one. They were stored singly a moment ago, and a processor cannot forward two
 * stores to one load, so a copy of two fields at once would wait.
 */
static inline void ftl_breakdown_set(struct ftl_breakdown *to, const struct ftl_breakdown *w)
{
#define FTL_SET(name, says) to->name = w->name;
	FTL_CAUSES(FTL_SET)
#undef FTL_SET
}

static inline void ftl_breakdown_add(struct ftl_breakdown *sum, const struct ftl_breakdown *w)
{
#define FTL_ADD(name, says) sum->name += w->name;
	FTL_CAUSES(FTL_ADD)
#undef FTL_ADD
}

static inline uint64_t ftl_breakdown_sum(const struct ftl_breakdown *w)
{
#define FTL_PLUS(name, says) +w->name
	return 0 FTL_CAUSES(FTL_PLUS);
#undef FTL_PLUS
}

/* Attribute up to ns of the remaining time to a cause. */
static inline void ftl_breakdown_take(uint64_t *rest, uint64_t ns, uint64_t *cause)
{
	*cause = ns < *rest ? ns : *rest;
	*rest -= *cause;
}

struct ftl_op_stats {
	FTL_OP_COUNTERS(FTL_FIELD)	/* while ios is 0, latency_min_ns is UINT64_MAX */
	struct ftl_breakdown where;	/* sums over all I/Os */
};

/* All members after op[] are uint64_t, because libslate adds two structs as arrays. */
struct ftl_stats {
	struct ftl_op_stats op[FTL_NOPS];
	FTL_COUNTERS(FTL_FIELD)
};

#endif

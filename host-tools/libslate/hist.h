/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hist.h - latency histogram of three significant digits, as HdrHistogram's (Tene):
 * exact below 2048 ns, then 1024 buckets an octave, each at most 1/1024 wide. The drive,
 * slate-replay and slate-load count in these buckets; the guest's fio is built with them.
 */
#ifndef SLATE_HIST_H
#define SLATE_HIST_H

#include <stdint.h>

#define HIST_HALF_BITS 10u
#define HIST_MAX_BITS 48u	/* 2^48 ns: 78 hours; larger values count in the last bucket */
#define HIST_BUCKETS ((HIST_MAX_BITS - HIST_HALF_BITS + 1u) << HIST_HALF_BITS)

struct hist {
	uint64_t count, sum_ns, min_ns, max_ns;		/* exact; min_ns is ~0 if there are no values */
	uint64_t bucket[HIST_BUCKETS];
};

void hist_clear(struct hist *h);
/* These functions return the smallest and the largest value of a bucket. */
uint64_t hist_floor(uint32_t bucket);
uint64_t hist_ceiling(uint32_t bucket);
/*
 * Returns the ceiling (at most max_ns) of the smallest bucket that at least millionths / 1000000 of
 * the values do not exceed; 0 if there are no values.
 */
uint64_t hist_percentile(const struct hist *h, uint32_t millionths);

static inline uint32_t hist_bucket(uint64_t ns)
{
	uint32_t shift;

	if (ns < 2u << HIST_HALF_BITS)
		return (uint32_t)ns;
	shift = 63u - (uint32_t)__builtin_clzll(ns) - HIST_HALF_BITS;
	if (shift >= HIST_MAX_BITS - HIST_HALF_BITS)
		return HIST_BUCKETS - 1u;
	return (shift << HIST_HALF_BITS) + (uint32_t)(ns >> shift);
}

static inline void hist_add(struct hist *h, uint64_t ns)
{
	h->count++;
	h->sum_ns += ns;
	h->min_ns = ns < h->min_ns ? ns : h->min_ns;
	h->max_ns = ns > h->max_ns ? ns : h->max_ns;
	h->bucket[hist_bucket(ns)]++;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heat.h - which pages are hot: a count for each region of LPNs, of fixed size.
 *
 * LPNs are divided into at most 2^20 regions of equal size, a power of two; while there are no more
 * LPNs, each is a region. Each unit that the host writes adds 1 to its region's count, and each
 * fourth unit halves the count under a hand, which then moves to the next region. So while the
 * host writes four units for each region, every count is halved once, and counts are proportional
 * to the rates of the recent writes; with equal rates they are between 4 and 8.
 *
 * A unit is hot if its region's count is above the mean, and at least 2. A page is hot if at least
 * half of its units are.
 *
 * The counts are only in memory, so after a mount all pages are cold at first. This affects only
 * the places of pages.
 *
 * Invariant H: sum is the sum of the counts.
 *
 * Cost: a byte a region; O(1) a unit.
 */
#ifndef SLATE_HEAT_H
#define SLATE_HEAT_H

#include "port.h"

#define HEAT_REGIONS_MAX (1u << 20)
#define HEAT_WRITES_MEAN 4u

struct page_heat {
	uint8_t *count;			/* count of each region; NULL: writes are not counted */
	uint32_t regions, shift;	/* a region is 2^shift LPNs */
	uint64_t sum;
	uint32_t hand, written;
};

static inline void heat_size(struct page_heat *h, uint32_t lpns)
{
	while ((lpns - 1) >> h->shift >= HEAT_REGIONS_MAX)
		h->shift++;
	h->regions = ((lpns - 1) >> h->shift) + 1;
}

static inline bool heat_is_hot(const struct page_heat *h, uint32_t lpn)
{
	uint64_t count = h->count[lpn >> h->shift];

	return count >= 2 && count * h->regions > h->sum;
}

static inline void heat_written(struct page_heat *h, uint32_t lpn)
{
	uint8_t *count = &h->count[lpn >> h->shift], *at = &h->count[h->hand];

	if (*count < UINT8_MAX) {
		++*count;
		h->sum++;
	}
	if (++h->written % HEAT_WRITES_MEAN)
		return;
	h->sum -= *at - *at / 2;
	*at /= 2;
	h->hand = h->hand + 1 < h->regions ? h->hand + 1 : 0;
}

#endif

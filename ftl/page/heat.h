/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heat.h - which pages are hot: a byte for each region of LPNs, of fixed size.
 *
 * LPNs are divided into at most 2^20 regions of equal size, a power of two; while there are no more
 * LPNs, each is a region. A hand visits a region after each fourth unit that the host writes, then
 * moves to the next. A page is hot if at least half of its units are.
 *
 * count: the byte is a count. Each unit written adds 1 to its region's, and the hand halves the count
 * that it visits. So while the host writes four units for each region, every count is halved once, and
 * counts are proportional to the rates of the recent writes; with equal rates they are between 4 and 8.
 * A unit is hot if its region's count is above the mean, and at least 2.
 *
 * recency: the byte is the time of the region's last write, by a clock of 8 bits that advances HEAT_TICKS
 * times while the host writes a unit for each LPN. A unit is hot if that write was less than HEAT_RECENT
 * ticks ago. So that the clock's overflow makes no region young, the hand sets ages above HEAT_OLD to it.
 *
 * The bytes are only in memory, so after a mount all pages are cold at first. This affects only
 * the places of pages.
 *
 * Invariants.
 *   HEAT1  with count, `sum` is the sum of the counts;
 *   HEAT2  with recency, no age is above HEAT_AGE_MAX. (The hand takes four units a region for its round, in
 *          which the clock advances by less than 4 * 2 * HEAT_TICKS: a tick is LPNs / HEAT_TICKS units, rounded
 *          down, or one.)
 *
 * Cost: a byte a region; O(1) a unit.
 */
#ifndef SLATE_HEAT_H
#define SLATE_HEAT_H

#include "port.h"

#define HEAT_REGIONS_MAX (1u << 20)
#define HEAT_HAND_UNITS 4u
#define HEAT_TICKS 16u
#define HEAT_RECENT (HEAT_TICKS / 2)
#define HEAT_OLD (128u - HEAT_RECENT)
#define HEAT_AGE_MAX (HEAT_OLD + 2 * HEAT_HAND_UNITS * HEAT_TICKS)

_Static_assert(HEAT_AGE_MAX <= UINT8_MAX, "an age is a byte");

struct page_heat {
	uint8_t *byte;			/* of each region; NULL: writes are not noted */
	uint32_t regions, shift;	/* a region is 2^shift LPNs */
	uint64_t sum;			/* count */
	uint32_t hand, written;
	bool recency;
	uint8_t clock;			/* recency */
	uint32_t tick_left;		/* units until the clock advances */
};

static inline void heat_size(struct page_heat *h, uint32_t lpns)
{
	while ((lpns - 1) >> h->shift >= HEAT_REGIONS_MAX)
		h->shift++;
	h->regions = ((lpns - 1) >> h->shift) + 1;
}

/* Start with every region of logical pages cold. The caller has set the regions' bytes to 0. */
static inline void heat_begin(struct page_heat *h, bool recency)
{
	h->recency = recency;
	h->clock = HEAT_OLD;
	h->tick_left = 1;
}

static inline uint32_t heat_age(const struct page_heat *h, uint32_t region)
{
	return (uint8_t)(h->clock - h->byte[region]);
}

static inline bool heat_is_hot(const struct page_heat *h, uint32_t lpn)
{
	uint64_t count = h->byte[lpn >> h->shift];

	if (h->recency)
		return heat_age(h, lpn >> h->shift) < HEAT_RECENT;
	return count >= 2 && count * h->regions > h->sum;
}

/* Returns the units that the host writes in a tick. */
static inline uint32_t heat_tick(const struct page_heat *h)
{
	uint64_t units = (uint64_t)h->regions << h->shift;

	return units < HEAT_TICKS ? 1 : (uint32_t)(units / HEAT_TICKS);
}

static inline void heat_note_time(struct page_heat *h, uint32_t lpn)
{
	if (!--h->tick_left) {
		h->clock++;
		h->tick_left = heat_tick(h);
	}
	h->byte[lpn >> h->shift] = h->clock;
}

static inline void heat_visit(struct page_heat *h, uint32_t region)
{
	uint8_t *at = &h->byte[region];

	if (h->recency) {
		if (heat_age(h, region) > HEAT_OLD)
			*at = (uint8_t)(h->clock - HEAT_OLD);
		return;
	}
	h->sum -= *at - *at / 2;
	*at /= 2;
}

static inline void heat_written(struct page_heat *h, uint32_t lpn)
{
	uint8_t *count = &h->byte[lpn >> h->shift];

	if (h->recency) {
		heat_note_time(h, lpn);
	} else if (*count < UINT8_MAX) {
		++*count;
		h->sum++;
	}
	if (++h->written % HEAT_HAND_UNITS)
		return;
	heat_visit(h, h->hand);
	h->hand = h->hand + 1 < h->regions ? h->hand + 1 : 0;
}

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* gc_policy.c - see gc_policy.h */
#include "gc_policy.h"

#define DRAWS_FOR_EACH 8u	/* the greatest number of draws for each choice */
#define DRAWS_MORE 32u

/* May GC collect the block, and does that free a page? */
static bool can_go(const struct blk_table *t, uint32_t b, uint32_t units_per_page)
{
	const struct blk *k = &t->blk[b];

	return k->state == BLK_FULL && !k->slc && k->valid + units_per_page <= t->units_per_block &&
	       blk_settled(t, k);
}

/* ---- by valid units ------------------------------------------------------ */

static uint32_t greedy_pick(const struct blk_table *t, uint32_t plane, uint32_t units_per_page, const void *own)
{
	struct blk_plane *pl = &t->plane[plane];
	uint32_t most = t->units_per_block - units_per_page;	/* a block with this many valid units or fewer frees
								 * a page */

	(void)own;
	blk_sort_changed(t, pl);
	while (pl->low < t->units_per_block && pl->bucket[pl->low] == BLK_NONE)
		pl->low++;	/* pl->low caches the result, so that the search is O(1) on average */
	for (uint32_t v = pl->low; v <= most; v++)
		for (uint32_t b = pl->bucket[v]; b != BLK_NONE; b = t->blk[b].next)
			if (blk_settled(t, &t->blk[b]))
				return b;
	return BLK_NONE;
}

/* Returns the block with this number of valid units that has been unchanged for the longest time. */
static uint32_t oldest_settled(const struct blk_table *t, uint32_t plane, uint32_t valid)
{
	uint32_t b = BLK_NONE;

	if (t->plane[plane].bucket[valid] != BLK_NONE)
		b = t->oldest[(size_t)plane * (t->units_per_block + 1) + valid];
	while (b != BLK_NONE && !blk_settled(t, &t->blk[b]))
		b = t->blk[b].prev;
	return b;
}

static uint64_t age_of(const struct blk_table *t, const struct blk *k)
{
	return t->issued + 1 - (k->last_inval > k->last_order ? k->last_inval : k->last_order);
}

static uint32_t cost_benefit_pick(const struct blk_table *t, uint32_t plane, uint32_t units_per_page, const void *own)
{
	struct blk_plane *pl = &t->plane[plane];
	uint32_t best = BLK_NONE, all = t->units_per_block;
	uint64_t most = 0;	/* age * (all - v) of the best block so far */

	(void)own;
	blk_sort_changed(t, pl);
	while (pl->low < all && pl->bucket[pl->low] == BLK_NONE)
		pl->low++;
	for (uint32_t v = pl->low; v <= all - units_per_page; v++) {
		uint32_t b = oldest_settled(t, plane, v);
		uint64_t gain;

		if (b == BLK_NONE)
			continue;
		if (!v)
			return b;	/* it has no valid unit to copy */
		gain = age_of(t, &t->blk[b]) * (all - v);
		if (best != BLK_NONE && (fxp_wide)gain * t->blk[best].valid <= (fxp_wide)most * v)
			continue;
		best = b;
		most = gain;
	}
	return best;
}

/* ---- in the order of closing --------------------------------------------- */

static void pass_over_solid(const struct blk_table *t, const struct blk_plane *pl, uint32_t units_per_page)
{
	uint32_t first = pl->changed.first, b = first;

	while (b != BLK_NONE && t->blk[b].valid + units_per_page > t->units_per_block) {
		blk_change(t, b, t->blk[b].valid);
		b = pl->changed.first;
		if (b == first)
			return;		/* no block frees a page: all have gone to the end, and are in order again */
	}
}

static uint32_t pick_of_oldest(const struct blk_table *t, uint32_t plane, uint32_t units_per_page,
			       uint32_t window)
{
	const struct blk_plane *pl = &t->plane[plane];
	uint32_t best = BLK_NONE, seen = 0;

	pass_over_solid(t, pl, units_per_page);
	for (uint32_t b = pl->changed.first; b != BLK_NONE && (seen < window || best == BLK_NONE);
	     b = t->blk[b].next, seen++)
		if (can_go(t, b, units_per_page) && (best == BLK_NONE || t->blk[b].valid < t->blk[best].valid))
			best = b;
	return best;
}

static uint32_t fifo_pick(const struct blk_table *t, uint32_t plane, uint32_t units_per_page, const void *own)
{
	(void)own;
	return pick_of_oldest(t, plane, units_per_page, 1);
}

static uint32_t windowed_pick(const struct blk_table *t, uint32_t plane, uint32_t units_per_page, const void *own)
{
	return pick_of_oldest(t, plane, units_per_page, *(const uint32_t *)own);
}

/* ---- at random ------------------------------------------------------------ */

static uint32_t draw_block(const struct blk_table *t, uint32_t plane, uint32_t i)
{
	uint32_t blocks = t->geo->blocks_per_plane;
	uint64_t drawn = fxp_hash(t->issued, (uint64_t)plane << 32 | i) >> 32;

	return plane * blocks + (uint32_t)(drawn * blocks >> 32);
}

/* Returns the first block at or after `from`, around the plane, that GC may collect. */
static uint32_t next_that_can(const struct blk_table *t, uint32_t plane, uint32_t units_per_page,
			      uint32_t from)
{
	uint32_t blocks = t->geo->blocks_per_plane, first = plane * blocks;

	for (uint32_t i = 0; i < blocks; i++) {
		uint32_t b = first + (from - first + i) % blocks;

		if (can_go(t, b, units_per_page))
			return b;
	}
	return BLK_NONE;
}

static uint32_t pick_of_drawn(const struct blk_table *t, uint32_t plane, uint32_t units_per_page,
			      uint32_t choices)
{
	uint32_t best = BLK_NONE, found = 0;

	for (uint32_t i = 0; found < choices && i < DRAWS_FOR_EACH * choices + DRAWS_MORE; i++) {
		uint32_t b = draw_block(t, plane, i);

		if (!can_go(t, b, units_per_page))
			continue;
		found++;
		if (best == BLK_NONE || t->blk[b].valid < t->blk[best].valid)
			best = b;
	}
	return best != BLK_NONE ? best : next_that_can(t, plane, units_per_page, draw_block(t, plane, 0));
}

static uint32_t random_pick(const struct blk_table *t, uint32_t plane, uint32_t units_per_page, const void *own)
{
	(void)own;
	return pick_of_drawn(t, plane, units_per_page, 1);
}

static uint32_t d_choices_pick(const struct blk_table *t, uint32_t plane, uint32_t units_per_page, const void *own)
{
	return pick_of_drawn(t, plane, units_per_page, *(const uint32_t *)own);
}

uint32_t gc_fewest_valid(const struct blk_table *t, uint32_t plane, uint32_t units_per_page)
{
	uint32_t first = plane * t->geo->blocks_per_plane, best = BLK_NONE;

	for (uint32_t b = first; b < first + t->geo->blocks_per_plane; b++)
		if (can_go(t, b, units_per_page) && (best == BLK_NONE || t->blk[b].valid < t->blk[best].valid))
			best = b;
	return best;
}

const struct gc_policy gc_greedy = { "greedy", BLK_BUCKETS, greedy_pick };
const struct gc_policy gc_cost_benefit = { "cost-benefit", BLK_AGED_BUCKETS, cost_benefit_pick };
const struct gc_policy gc_fifo = { "fifo", BLK_QUEUE, fifo_pick };
const struct gc_policy gc_random = { "random", BLK_QUEUE, random_pick };
const struct gc_policy gc_d_choices = { "d-choices", BLK_QUEUE, d_choices_pick,
					 offsetof(struct ftl_config, gc_choices) };
const struct gc_policy gc_windowed = { "windowed-greedy", BLK_QUEUE, windowed_pick,
					offsetof(struct ftl_config, gc_window_blocks) };

const struct gc_policy *const gc_policies[] = {
	&gc_greedy, &gc_cost_benefit, &gc_fifo, &gc_random, &gc_d_choices, &gc_windowed, NULL
};

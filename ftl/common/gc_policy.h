/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc_policy.h - which block GC collects next: a function for each policy. GC of the page FTL calls it
 * by gc_policy_pick(). How a block is collected does not depend on the policy.
 *
 * Every policy returns a FULL block of the plane that is settled (blk_settled) and frees at least a
 * page, or BLK_NONE if there is none. So each collection frees a page, and GC ends.
 *
 *   greedy         the block with the fewest valid units; of equals, the one that reached this
 *                  number last
 *   cost-benefit   the highest age (1 - u) / 2u, u being the share of valid units (A. Kawaguchi,
 *                  S. Nishioka, H. Motoda, "A flash-memory based file system", USENIX Technical
 *                  Conference 1995). Age is counted in log pages since a page of the block was
 *                  written or a unit became invalid. Of equals, the one with fewer valid units
 *   fifo           the block that was closed first
 *   random         any block
 *   d-choices      of gc_choices blocks drawn at random, the one with the fewest valid units; of
 *                  equals the first one drawn (B. Van Houdt, SIGMETRICS 2013)
 *   windowed       of the gc_window_blocks closed first, the one with the fewest valid units; of
 *                  equals the one closed first (X.-Y. Hu et al., "Write amplification analysis in
 *                  flash-based solid state drives", SYSTOR 2009)
 *
 * fifo and windowed pass over a block that would free no page: it goes to the end of the queue.
 * Collecting it would copy each of its units and produce a youngest block with the same units,
 * which is the same result. random and d-choices draw again.
 *
 * A draw is fxp_hash() of the log sequence issued last and of the plane. It needs no state, so
 * equal drives make equal draws in QEMU, in a replay and after a mount.
 *
 * Cost of a choice: greedy O(1) on average; cost-benefit one block examined for each number of
 * valid units that occurs in the plane; fifo O(1) on average and windowed O(gc_window_blocks), plus
 * the blocks that they pass over; random O(1) and d-choices O(gc_choices) while a fixed share of the blocks can be
 * drawn, else O(blocks of the plane).
 */
#ifndef SLATE_GC_POLICY_H
#define SLATE_GC_POLICY_H

#include "blk.h"

/*
 * A policy has these functions. They do not change the state, except that they may sort lists, which
 * changes no result.
 */
struct gc_policy {
	const char *name;
	enum blk_lists lists;
	/*
	 * Returns the victim in the plane, or BLK_NONE. own: points to the policy's own setting in struct ftl_config;
	 * policies without one ignore it.
	 */
	uint32_t (*pick)(const struct blk_table *t, uint32_t plane, uint32_t units_per_page, const void *own);
	size_t own;		/* offset of the setting, a uint32_t, in struct ftl_config; 0: there is none */
};

/* Returns the victim that the policy of configuration c picks in the plane, or BLK_NONE. */
static inline uint32_t gc_policy_pick(const struct ftl_config *c, const struct blk_table *t, uint32_t plane,
				      uint32_t units_per_page)
{
	return c->gc_policy->pick(t, plane, units_per_page, (const uint8_t *)c + c->gc_policy->own);
}

/* Returns the block with the fewest valid units that a policy may return, whatever lists the table keeps. */
uint32_t gc_fewest_valid(const struct blk_table *t, uint32_t plane, uint32_t units_per_page);

extern const struct gc_policy gc_greedy, gc_cost_benefit, gc_fifo, gc_random, gc_d_choices, gc_windowed;
extern const struct gc_policy *const gc_policies[];	/* all policies; NULL-terminated */

#endif

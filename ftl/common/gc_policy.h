/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc_policy.h - which block GC collects next: a table of answers for each policy. gc.c of the
 * page FTL asks; how a block is collected is the same for all.
 *
 * Every policy names a FULL block of the plane that is settled (blk_settled) and frees at least
 * a page, or BLK_NONE if there is none. So each collection wins a page, and GC ends.
 *
 *   greedy         the fewest valid units; of equals, the last to get there
 *   cost-benefit   the highest age (1 - u) / 2u, u being the share of valid units (A. Kawaguchi,
 *                  S. Nishioka, H. Motoda, "A flash-memory based file system", USENIX Technical
 *                  Conference 1995). Age is counted in log pages since a page of the block was
 *                  written or a unit became invalid. Of equals, the one with fewer valid units
 *   fifo           the block that was closed first
 *   random         any
 *   d-choices      of `choices` drawn at random the one with the fewest valid units, of equals
 *                  the first drawn (B. Van Houdt, SIGMETRICS 2013)
 *   windowed       of the `window` blocks closed first the one with the fewest valid units, of
 *                  equals the one closed first (X.-Y. Hu et al., "Write amplification analysis
 *                  in flash-based solid state drives", SYSTOR 2009)
 *
 * fifo and windowed pass over a block that would free no page: it goes to the end of the queue.
 * To collect it would have the same result, a youngest block of the same units, and cost a copy
 * of each. random and d-choices draw again.
 *
 * Draws are fxp_hash() of the log sequence issued last and of the plane: there is no state, so
 * equal drives draw equally in QEMU, in a replay and after a mount.
 *
 * Cost of a choice: greedy O(1) on average; cost-benefit a look at one block for each number of
 * valid units that occurs in the plane; fifo O(1) on average and windowed O(window), beside what
 * they pass over; random and d-choices O(choices) while a fixed share of the blocks can be drawn,
 * else a look at each block of the plane.
 */
#ifndef SLATE_GC_POLICY_H
#define SLATE_GC_POLICY_H

#include "blk.h"

/* A policy answers questions about const state. A question may sort lists, which changes no answer. */
struct gc_policy {
	const char *name;
	enum blk_lists lists;
	uint32_t (*pick)(const struct blk_table *t, uint32_t plane, uint32_t units_per_page);
};

extern const struct gc_policy gc_greedy, gc_cost_benefit, gc_fifo, gc_random, gc_d_choices, gc_windowed;
extern const struct gc_policy *const gc_policies[];	/* all policies; NULL-terminated */

#endif

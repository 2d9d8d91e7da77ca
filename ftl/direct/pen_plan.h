/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pen_plan.h - which partial blocks (PBs) of a block to restore, and what it costs.
 *
 * Liu et al., "PEN: Design and Evaluation of Partial-Erase for 3D NAND-Based High
 * Density SSDs", FAST 2018, section 5.2: equation 1, Algorithm 1 and the loop of
 * Algorithm 2 around it. Restoring a PB is to copy its valid pages out, to erase it,
 * and to copy them back, together with the pages from elsewhere that belong there.
 * A PB without invalid pages is not restored and costs nothing.
 *
 * PBs have the numbers of nand.h: 1 is the block, i has the halves 2i and 2i+1. A
 * smallest PB is also known by its position s, 0 .. 2^levels - 1; its number is
 * 2^levels + s.
 *
 * The accounting of disturbance relies on the order in which a plan is executed:
 *   1. all pages to copy out, of all its PBs, are copied out;
 *   2. PB after PB, in the order of plan.pb[]: it is erased, then pages are copied
 *      into it.
 * So a disturbance of a PB of the plan before its own erase does no harm, and the erase removes it.
 * The order is that of PB numbers: larger PBs first, and of equal ones the lower. Small PBs are
 * mostly restored because they are next to a large one, and are therefore restored after it.
 *
 * Pure functions: the caller owns all state. Cost of a plan: O(2^levels) for each iteration of the
 * loop. There is an iteration for each smallest PB that joins the plan because of disturbance,
 * usually two or three.
 */
#ifndef SLATE_PEN_PLAN_H
#define SLATE_PEN_PLAN_H

#include "nand.h"

#define PEN_SMALLEST_MAX (1u << NAND_PB_LEVELS_MAX)
#define PEN_NO_PLAN (~(uint64_t)0)	/* cost of an impossible plan, higher than all others */

/*
 * The array counts the disturbance of one smallest PB in this way (nand.h). An edge is made by a partial
 * erase and lasts until it has been programmed: the first page programmed in this PB disturbs the
 * PB beyond the edge. An erase of the block sets all fields to zero.
 */
struct pen_dis {
	uint8_t disturbs;		/* disturbances since the last erase, at most 255 */
	uint8_t edges;			/* PEN_EDGE_* */
};

#define PEN_EDGE_BELOW 1u		/* the edge disturbs s - 1 */
#define PEN_EDGE_ABOVE 2u		/* the edge disturbs s + 1 */

/* The planner needs these properties of the drive; costs are in ns or in the paper's units. */
struct pen_model {
	uint32_t levels;		/* L, 0 .. NAND_PB_LEVELS_MAX */
	uint32_t tolerance;		/* disturbances that a smallest PB bears; 255: no limit */
	uint64_t copy_cost;		/* cost of one page copied out or back */
	uint64_t erase_cost[NAND_PB_LEVELS_MAX + 1];	/* cost by level; [0]: the whole block */
};

/* Pages of a smallest PB. */
struct pen_pages {
	uint16_t valid;			/* valid pages in it */
	uint16_t back;			/* valid pages elsewhere that will be copied into it */
	bool stale;			/* it has pages that are usable only after an erase */
	bool refilled;			/* if it is restored, a page is certainly programmed in it before the next
					 * PB of the plan is erased */
};

struct pen_plan {
	uint64_t cost;			/* cost of copies and erases of this block alone */
	uint32_t out;			/* pages to copy out */
	uint32_t copies;		/* all copies: out, as many back, and pages from elsewhere */
	uint32_t count;			/* PBs restored */
	uint16_t pb[PEN_SMALLEST_MAX];	/* in the order of execution */
};

/* The planner works in this memory. */
struct pen_work {
	uint64_t cost[2 * PEN_SMALLEST_MAX];
	uint32_t valid[2 * PEN_SMALLEST_MAX];
	uint32_t back[2 * PEN_SMALLEST_MAX];
	uint8_t flags[2 * PEN_SMALLEST_MAX];
	struct pen_dis after[PEN_SMALLEST_MAX];
};

/*
 * Make the cheapest plan that keeps data safe: after it, no smallest PB with a data page may have
 * been disturbed beyond the tolerance, nor may the remaining edges do so. Smallest PBs without
 * stale pages join the plan only if that is needed for safety.
 *
 * pages, dis: 2^levels each. dis must obey pen_safe() everywhere. There is always a plan, because
 * the whole block can be restored; the plan may be empty. The `back` pages of a PB that is not
 * restored are copied into its free pages: the caller makes sure that these exist, or sets `stale`.
 */
void pen_plan_make(const struct pen_model *m, const struct pen_pages *pages,
		   const struct pen_dis *dis, struct pen_work *w, struct pen_plan *plan);

/* Returns the first smallest PB of a PB, and how many it contains. */
uint32_t pen_first(uint32_t levels, uint32_t pb);
uint32_t pen_span(uint32_t levels, uint32_t pb);

/*
 * Update dis as the array does after PB pb was erased, or after a page of smallest PB s was
 * programmed.
 */
void pen_erased(struct pen_dis *dis, uint32_t levels, uint32_t pb);
void pen_programmed(struct pen_dis *dis, uint32_t levels, uint32_t s);

/*
 * Do the edges around smallest PB s disturb no page that is programmed in it now? This is true for
 * every s between plans.
 */
bool pen_safe(const struct pen_dis *dis, uint32_t levels, uint32_t s, uint32_t tolerance);

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slc.c - the SLC cache: blocks of cells with several bits that the host fills with one bit per
 * cell, several times as fast, and that GC folds into the others later (ftl/page/DESIGN.md).
 *
 * It answers which page of the host goes to the cache, and when GC must fold. It knows nothing of
 * how a page is issued (place.c) or how a block is collected (gc.c): a block in SLC mode is one
 * with fewer pages, in a frontier slot of its own (front.h) and on a list of its own (blk.h).
 *
 *   static    slc_blocks of each plane are in SLC mode or set aside for it (blk_plane.aside), so
 *             that host, copies and GC's thresholds never count them
 *   dynamic   a block is opened in SLC mode while more than gc_stop_blocks are free, and fewer
 *             than slc_blocks in that mode: GC is not needed for it. GC for space folds first
 *
 * Block: FREE -> OPEN in the SLC slot (front_open) -> FULL on the plane's list, in the order of
 * closing -> VICTIM (fold_victim, space_victim in gc.c) -> FREE, set aside again if static.
 *
 * While the cache is full (no open block, and none may be opened), slc_full says what the host
 * does. direct: it writes to its other frontier. fold: it waits for the collector of the plane,
 * but only if that works, or may work when another command has ended (slc_waits). A page whose
 * program failed never waits, because `stable` waits for that page, and GC for `stable`. So the two
 * cannot wait for each other.
 *
 * Invariants: K4 in blk.h, F6 in front.h, CHK14 in check.c; and
 *   S1  a fold in a static cache takes no block of the reserve (fold_victim), because GC cannot use
 *       the block that it frees. (No test fails without this limit.) In a dynamic cache a fold frees
 *       pages like any collection, since a full block in SLC mode holds at most half of a block.
 *
 * A new drive written in order is fast for exactly planes * slc_blocks * pages_per_block / bits_per_cell pages
 * (dynamic: if that many blocks are free beyond gc_stop_blocks): a die programs `planes` pages in planes * (cmd_ns +
 * transfer) + slc_program_ns, then with program_ns (to the ns in test_slc.c).
 *
 * Cost: nothing for each page beyond a few comparisons; no memory but counts.
 */
#include "dies.h"
#include "page_state.h"
#include "slc.h"

/* Set blocks aside for a static cache, when a mount knows all blocks that are in SLC mode. */
void slc_set_aside(struct page_ftl *f)
{
	f->bt.aside_max = f->host.c.slc_cache == FTL_SLC_STATIC ? f->host.c.slc_blocks : 0;
	f->bt.aside_keep = f->gc.urgent_blocks;
	for (uint32_t plane = 0; plane < f->shape.planes; plane++)
		blk_set_aside(&f->bt, plane);
}

static bool may_open(const struct page_ftl *f, uint32_t plane)
{
	const struct blk_plane *p = &f->bt.plane[plane];

	if (!slc_shares(f))
		return p->aside;
	return p->slc < f->host.c.slc_blocks && p->free_count > f->host.c.gc_stop_blocks;
}

bool slc_has_room(const struct page_ftl *f, uint32_t plane)
{
	return f->fr.plane[plane].open[f->fr.slc] != BLK_NONE || may_open(f, plane);
}

bool slc_pressed(const struct page_ftl *f, uint32_t plane)
{
	return f->host.c.slc_full == FTL_SLC_FOLD && f->fr.slc != FRONT_NONE && f->bt.plane[plane].slc &&
	       !slc_has_room(f, plane);
}

bool slc_waits(struct page_ftl *f, uint32_t plane)
{
	const struct gc *g = &f->plane[plane].gc;
	uint32_t head = f->buf.first;

	if (!slc_pressed(f, plane) || (head != NONE && f->buf.page[head].seq <= f->bt.issued))
		return false;
	plane_changed(f, plane);
	return g->state == GC_ACTIVE || (g->state == GC_WAITING && f->turn.ends.busy);
}

void slc_count_folded(struct page_ftl *f, const struct gc *g)
{
	for (uint32_t i = 0; i < g->flying; i++)
		f->host.stats.slc_fold_units += f->bt.blk[upn_block(f, g->fly[i].from)].slc;
}

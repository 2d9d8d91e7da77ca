// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * level.c - blocks that are collected although their plane has room: to level wear, and because a
 * read returned NAND_CORRECTED.
 *
 * It chooses the next such block for gc.c, and the free block that takes the copies. gc.c collects
 * these blocks like all others, by rules 4a and 4b, so they add no new case to power cuts. Their
 * commands have the source NAND_SRC_WL.
 *
 * Wear (wl_threshold > 0). Static wear levelling as Linux' UBI does it
 * (drivers/mtd/ubi/wl.c, UBI_WL_THRESHOLD): when the most worn free block of a
 * plane has more than wl_threshold erases more than the least worn full one, the
 * data of the latter move. Data in a block that was seldom erased have not been rewritten for long.
 * They are moved to a worn block, which is then erased less often; the less worn block goes to the
 * free list, and so to the host. GC's frontier opens the most worn free block. Erase counts are the
 * array's own. The wear is compared once after each erase of the plane, when GC has no other work;
 * the comparison takes O(blocks of the plane).
 *
 * Errors (relocate). If a read of a page for the host, or of a base, corrected more than
 * relocate_bits, its block is flagged. It is collected before all others except blocks that failed
 * and blocks that a mount wants emptied, as long as its copies need not use the urgent reserve.
 * GC's own reads flag no block, because the pages that they read are moved anyway. A flagged
 * frontier is closed. The copies are made by reads and programs even if gc_copyback is set, because
 * a copyback would copy the errors.
 *
 * A block of copies settles, and so can be collected, only when a host page has been issued after
 * the copies. If no host page is about to be issued, gc_wake.c issues the open page, or an
 * empty one: at most one page for each flagged block, whose number V2 limits.
 *
 * States of a block: corrected 0 -> relocate set (level_corrected) -> VICTIM, both cleared
 * (level_forget). A block that GC puts back without an erase is flagged again by the next corrected
 * read.
 *
 * Invariants:
 *   V1  plane.relocate is the number of its blocks with `relocate` set, and these
 *       are OPEN, FULL or RETIRE;
 *   V2  relocation ends. Wear: each move erases a block with more than wl_threshold >= 1
 *       erases less than the most worn, so without host writes no count exceeds the highest, while
 *       the sum of the counts grows. Errors: only reads of the host flag a block, and a block that
 *       relocation wrote to (`moved`) needs as many corrected reads as it has pages. So even if
 *       cells are so worn that reads of fresh data are corrected, a host read causes at most one
 *       page copy.
 */
#include "dies.h"
#include "level.h"
#include "page_state.h"

static bool movable(const struct page_ftl *f, uint32_t b)
{
	return f->bt.blk[b].state == BLK_FULL && blk_settled(&f->bt, &f->bt.blk[b]);
}

uint32_t level_flagged(const struct page_ftl *f, uint32_t plane)
{
	uint32_t first = plane * f->g->blocks_per_plane;

	for (uint32_t b = first; b < first + f->g->blocks_per_plane; b++)
		if (f->bt.blk[b].relocate && movable(f, b))
			return b;
	return BLK_NONE;
}

/* Returns the plane's most worn free block, of several equal ones the first on the list. */
static uint32_t most_worn_free(const struct page_ftl *f, uint32_t plane, uint32_t *erases)
{
	uint32_t best = BLK_NONE;

	*erases = 0;
	for (uint32_t b = f->bt.plane[plane].free_head; b != BLK_NONE; b = f->bt.blk[b].next) {
		uint32_t count = f->host.n->ops->erase_count(f->host.n, (pbn_t){ b });

		if (best != BLK_NONE && count <= *erases)
			continue;
		best = b;
		*erases = count;
	}
	return best;
}

uint32_t level_coldest(struct page_ftl *f, uint32_t plane)
{
	uint32_t first = plane * f->g->blocks_per_plane, best = BLK_NONE, low = 0, high;

	most_worn_free(f, plane, &high);
	for (uint32_t b = first; b < first + f->g->blocks_per_plane; b++) {
		uint32_t count;

		if (!movable(f, b))
			continue;
		count = f->host.n->ops->erase_count(f->host.n, (pbn_t){ b });
		if (best != BLK_NONE && count >= low)
			continue;
		best = b;
		low = count;
	}
	if (best == BLK_NONE || (uint64_t)high <= (uint64_t)low + f->host.c.wl_threshold)
		best = BLK_NONE;
	f->plane[plane].level = best != BLK_NONE;
	return best;
}

void level_free_block(struct page_ftl *f, uint32_t plane)
{
	uint32_t erases, b = f->host.c.wl_threshold ? most_worn_free(f, plane, &erases) : BLK_NONE;

	if (b != BLK_NONE)
		blk_free_first(&f->bt, plane, b);
}

/*
 * Close a frontier that holds old data and does not fill while there are no writes. It stays open
 * while GC works or has only its reserve, because GC may need its pages. It also stays open if
 * pages are written by word lines, because such a block can be continued.
 */
static void close_frontier(struct page_ftl *f, uint32_t plane, uint32_t b)
{
	if (f->fr.word_lines || f->bt.blk[b].state != BLK_OPEN ||
	    gc_block(&f->plane[plane].gc) != BLK_NONE ||
	    f->bt.plane[plane].free_count <= f->host.c.gc_urgent_blocks)
		return;
	front_drop(&f->fr, b);
	blk_close(&f->bt, b);
}

void level_corrected(struct page_ftl *f, uint32_t b)
{
	struct blk *k = &f->bt.blk[b];
	uint32_t plane = geo_plane_of(f->g, (pbn_t){ b });
	uint32_t pages = f->g->pages_per_block < UINT16_MAX ? f->g->pages_per_block : UINT16_MAX;

	if (!f->host.c.relocate || (k->state != BLK_FULL && k->state != BLK_OPEN))
		return;
	if (k->corrected < UINT16_MAX)
		k->corrected++;
	if (k->moved && k->corrected < pages)	/* V2 */
		return;
	f->plane[plane].relocate += !k->relocate;
	k->relocate = true;
	close_frontier(f, plane, b);
	/* Also if `relocate` was true before: the block may have been open or unsettled then, and so no victim. */
	plane_changed(f, plane);
}

void level_forget(struct page_ftl *f, uint32_t b)
{
	struct blk *k = &f->bt.blk[b];

	if (k->relocate)
		f->plane[geo_plane_of(f->g, (pbn_t){ b })].relocate--;
	k->relocate = false;
}

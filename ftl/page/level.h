/* SPDX-License-Identifier: GPL-2.0-or-later */
/* level.h - blocks that GC collects although their plane has free blocks: seldom erased, or corrected when read */
#ifndef SLATE_PAGE_LEVEL_H
#define SLATE_PAGE_LEVEL_H

#include "page_state.h"

uint32_t level_flagged(const struct page_ftl *f, uint32_t plane);	/* a block to relocate, or BLK_NONE */
uint32_t level_coldest(struct page_ftl *f, uint32_t plane);	/* a block for wear levelling, or BLK_NONE; call
								 * again after the next erase */
void level_free_block(struct page_ftl *f, uint32_t plane);	/* GC's frontier opens a free block */
void level_corrected(struct page_ftl *f, uint32_t b);		/* a read of block b was corrected */
/* The collector copies to block gc.target. A block filled by relocation is flagged again only after many reads (V2). */
static inline void level_copied(struct page_ftl *f, const struct gc *g)
{
	f->bt.blk[g->target].moved |= g->corrected;
}

void level_forget(struct page_ftl *f, uint32_t b);		/* block b becomes a victim */

#endif

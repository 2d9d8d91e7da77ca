/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frontier.h - the pages that a plane programs next: for the host, for GC's copies and for map pages. It opens blocks,
 * pays the parity pages that a plane owes, and takes failed blocks out of use. front.h has the frontiers' state.
 *
 * Invariants:
 *   P3  a host frontier takes a free block only while more than gc_urgent_blocks are free, or to
 *       issue a page again; the other blocks are reserved for GC. If host and GC share frontiers
 *       (front.h), the host takes no page while fewer blocks are free and GC can collect one;
 *   P4  a plane that owes a parity page (front.h) programs nothing else before it; with the backup
 *       block on another die, nothing until that die has programmed it.
 */
#ifndef SLATE_PAGE_FRONTIER_H
#define SLATE_PAGE_FRONTIER_H

#include "map.h"
#include "page_state.h"

/* Returns the number of free blocks that pages of this kind must leave. */
static inline uint32_t frontier_reserve(const struct page_ftl *f, enum frontier which)
{
	uint32_t head = f->buf.first, reserve = f->gc.urgent_blocks;

	/*
	 * The oldest page of the buffer was issued before, so its program failed. GC waits until it is on flash (gc.c,
	 * rule 4a), so it may take the blocks that are kept for GC.
	 */
	if (head != NONE && f->buf.page[head].seq <= f->bt.issued)
		reserve = 0;
	if (which == FRONT_GC)
		reserve = map_keeps_last(f);	/* the last free block is for copies of map pages */
	else if (which == FRONT_MAP || f->gc.hold)
		reserve = 0;
	return reserve;
}

/* May the plane open a free block for pages of this kind? */
static inline bool frontier_may_open(const struct page_ftl *f, uint32_t plane, enum frontier which)
{
	return f->bt.plane[plane].free_count > frontier_reserve(f, which);
}

/* The part of frontier_has_room() for a plane without an open block, or an FTL whose policy chooses the slot. */
bool frontier_could_open(struct page_ftl *f, uint32_t plane, enum frontier which);

/* Can the plane take a page of this kind, in an open block or in a free one? */
static inline bool frontier_has_room(struct page_ftl *f, uint32_t plane, enum frontier which)
{
	return SSD_LIKELY(f->fr.plain && f->fr.plane[plane].open[which] != BLK_NONE) ||
	       frontier_could_open(f, plane, which);
}

/*
 * NONE: the plane can take no page now. BUSY: an erase or a parity page had to come first and has begun, so call again
 * after it. READY: the page can be programmed.
 */
enum room { ROOM_NONE, ROOM_BUSY, ROOM_READY };
/* The part of frontier_room() for a plane without an open block, or an FTL whose policy chooses the slot. */
enum room frontier_room_now(struct page_ftl *f, uint64_t now_ns, uint32_t plane, enum frontier which,
			    uint32_t *slot);

/*
 * Find the slot for the plane's next page of this kind, and open a block in the slot if it has none. The die is idle.
 * *slot is valid with ROOM_READY.
 */
static inline enum room frontier_room(struct page_ftl *f, uint64_t now_ns, uint32_t plane,
				      enum frontier which, uint32_t *slot)
{
	*slot = which;
	if (SSD_LIKELY(f->fr.plain && f->fr.plane[plane].open[which] != BLK_NONE))
		return ROOM_READY;
	return frontier_room_now(f, now_ns, plane, which, slot);
}

/*
 * May a page of this plane and kind join a group of programs whose first command is c? It may not if the plane
 * needs another command first.
 */
bool frontier_joins(struct page_ftl *f, uint32_t plane, enum frontier which, const struct nand_cmd *c);
/* The part of frontier_take() for blocks that are programmed by word lines. */
uint32_t frontier_take_paired(struct page_ftl *f, uint32_t plane, uint32_t slot, enum frontier which);

/* Take the next page of the slot's block, after frontier_room() returned ROOM_READY. Returns the page's PPN. */
static inline uint32_t frontier_take(struct page_ftl *f, uint32_t plane, uint32_t slot,
				     enum frontier which)
{
	if (which == FRONT_GC)
		f->bt.blk[f->fr.plane[plane].open[slot]].copies = true;
	else if (which == FRONT_MAP)
		f->bt.blk[f->fr.plane[plane].open[slot]].map = true;
	if (SSD_UNLIKELY(f->fr.sequence != SEQ_ASCENDING))
		return frontier_take_paired(f, plane, slot, which);
	return front_take(&f->fr, plane, slot);
}

/*
 * Take a free block of the plane that is not in the urgent reserve, and put it into state VICTIM. *b: the block, with
 * ROOM_READY. ROOM_BUSY: its erase has begun.
 */
enum room frontier_spare_block(struct page_ftl *f, uint64_t now_ns, uint32_t plane, uint32_t *b);
/* The erase of the plane's first free block has ended. If it failed, the block is retired. */
void frontier_erased(struct page_ftl *f, uint32_t plane, enum nand_status status);
/*
 * If a plane owes a parity page whose backup block is on this idle die, write the page, or first erase a block for it.
 * Returns whether a command has begun.
 */
bool backup_now(struct page_ftl *f, uint64_t now_ns, uint32_t die);
/* The part of backup_beside() for backup_channel = next. */
void backup_beside_now(struct page_ftl *f, uint64_t now_ns, uint32_t die);

/* The die has begun a program. Write the parity pages that its planes now owe on other dies, if these are idle. */
static inline void backup_beside(struct page_ftl *f, uint64_t now_ns, uint32_t die)
{
	if (SSD_UNLIKELY(f->fr.c.backup_ahead))
		backup_beside_now(f, now_ns, die);
}

/* The command c is about to program a page: its data and spare area join the parity page of its group, if any. */
static inline void frontier_cover(struct page_ftl *f, uint32_t plane, const struct nand_cmd *c, const uint8_t *oob)
{
	if (!f->fr.plain)
		front_cover(&f->fr, plane, c->ppn.v, c->data, oob);
}

void backup_ended(struct page_ftl *f, struct die *d);	/* the die has programmed a parity page */
void parity_void(struct page_ftl *f, uint32_t b);	/* no page of block b needs its parity pages any more */

/* A program failed in block b: it is not written further, and GC is to empty and retire it. */
void block_failed(struct page_ftl *f, uint32_t b);
void block_lost(struct page_ftl *f, uint32_t b);	/* retire block b, a VICTIM without valid units */
/*
 * A page with this mark has been programmed in block b. If no other block has a higher mark, b becomes log.carrier,
 * which allows the erase of other blocks (gc.c, 4b).
 */
void carrier_offer(struct page_ftl *f, uint32_t b, uint64_t mark);

#endif

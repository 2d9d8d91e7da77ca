/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nftl.h - NFTL's state, for its own files only.
 *
 * Block mapping (Ban, US patent 5,404,485; in the form of Liu et al., FAST 2018, section 2.2). A
 * *logical block* is pages_per_block consecutive pages of a plane. It has at most one D-block, in
 * which page k is at position k, and at most one U-block, a log of later writes. A page's first
 * write goes to the D-block, if it may be programmed there, every other to the U-block; the newest
 * copy is valid. U-blocks are few: while more than the threshold of blocks are free, a D-block
 * without one may take one.
 *
 *   Merge    copies all valid pages of a pair to a free block, the new D-block, and erases both
 *            blocks. It is done when the U-block is full; if a block is needed and the threshold
 *            allows none, it is done for the pair with most invalid pages
 *   M-Merge  (ftl.pen) restores partial blocks of the D-block instead, and erases the U-block. It
 *            is done if it is cheaper than a Merge, its copies fit, and fewer than W were done
 *            since the D-block's last Merge
 *
 * With ftl.write_buffer_blocks (GFTL: Choudhuri and Givargis, CODES+ISSS 2008) a write that would have
 * to wait for a merge goes to the plane's *write buffer*, a log of pages of any logical block, and is
 * moved later (nftl_buffer.c).
 *
 * Each file calls only those below it:
 *
 *   nftl.c        the scheme: reads, writes, configuration
 *   nftl_merge.c  Merge and M-Merge, as steps
 *   nftl_mount.c  mounting; invariants
 *   nftl_pair.c   writes to D- and U-blocks
 *   nftl_buffer.c the write buffer
 *   nftl_state.c  bits of pages, victims, slots
 */
#ifndef SLATE_NFTL_H
#define SLATE_NFTL_H

#include "direct.h"
#include "pen_plan.h"

#define NFTL_NONE DIRECT_NONE
#define NFTL_NO_POS 0xffffu

/* Tags of pages. */
#define NFTL_TAG_U 1u		/* the page is in a U-block; otherwise in a D-block, at its own place */
#define NFTL_TAG_LAST 2u	/* the last page that a Merge copied: the block is complete */
#define NFTL_TAG_W 4u		/* the page is in a block of the write buffer */

struct nftl_pair {		/* the blocks of a logical block */
	uint32_t d;		/* pbn of its D-block, or NFTL_NONE */
	uint32_t u;		/* its slot of U-blocks, or NFTL_NONE */
};

struct nftl_u {			/* a slot: a U-block and the drive's data about it */
	uint32_t block;		/* pbn; NFTL_NONE: the slot is free, and next links the free list */
	uint32_t lblock;	/* logical block within the plane */
	uint32_t end;		/* end of the log: first position never used */
	uint32_t invalid;	/* used pages of the pair that are not valid */
	uint32_t prev, next;	/* links of the list for that number of invalid pages; unused during a merge */
	bool closed;		/* no more pages are appended */
};

struct nftl_block {
	uint16_t merges;	/* D-block: M-Merges since it became one */
	bool retire;		/* a program or a partial erase failed: BAD when it is empty */
	bool suspect;		/* found by a mount: it may be half erased, and its disturbance is unknown */
	/* while mounting */
	bool readable, mixed, is_u, is_w, last;
	uint32_t lblock, next;	/* mount: list of a logical block's blocks; always: list of the buffer's */
	uint64_t seq;		/* mount: highest sequence */
};

enum nftl_phase {
	NFTL_IDLE,
	NFTL_SEARCH,	/* reading spare areas of the U-block */
	NFTL_MERGE,	/* copying to the new D-block */
	NFTL_SPACE,	/* M-Merge: the U-block's PB is being erased */
	NFTL_OUT,	/* M-Merge: copying pages to the U-block */
	NFTL_RESTORE,	/* M-Merge: a PB of the D-block is being erased */
	NFTL_BACK,	/* M-Merge: copying pages back to the erased PB */
	NFTL_WIPE,	/* the empty blocks are erased */
	NFTL_DRAIN,	/* pages of the write buffer are moved */
};

struct nftl_gc {
	enum nftl_phase phase;
	uint32_t slot;			/* slot being merged, or NFTL_NONE */
	uint32_t lblock;		/* its logical block, valid until all blocks are erased; DRAIN: of the pages
					 * moved */
	uint32_t want;			/* slot that must be merged for a write, or NFTL_NONE */
	uint32_t at;			/* next page or position to examine */
	uint32_t target;		/* Merge: the new D-block, or NFTL_NONE */
	uint32_t left;			/* Merge: copies left */
	uint32_t space_pb;		/* M-Merge: PB of the U-block to erase, or 0 */
	uint32_t space_at, space_end;	/* M-Merge: positions in this PB that can be used again */
	uint32_t pb_at;			/* index of the current PB in the plan */
	uint32_t wipe[2], wipes;	/* blocks to erase */
	struct pen_plan plan;
};

struct nftl_buffer {
	uint32_t first, last;		/* list of its blocks in the order of their pages, or NFTL_NONE */
	uint32_t blocks;
	uint32_t end;			/* first position of the last block never used */
	uint32_t pages;			/* valid ones */
	uint32_t queue_first, queue_last;	/* queue of the logical blocks of these pages */
};

struct nftl_plane {
	uint32_t free_slots;		/* list of free slots */
	uint32_t pairs;			/* slots in use */
	uint32_t high;			/* upper bound of the victims' invalid pages */
	uint32_t *victims;		/* list heads, indexed by invalid pages 0 .. 2 * pages_per_block; lru: all
					 * are on list 0 */
	uint32_t *last;			/* last entries of the lists, valid for lists that are not empty */
	struct nftl_gc gc;
	struct nftl_buffer buffer;
};

struct nftl {
	uint32_t lblocks;		/* logical blocks of a plane */
	uint32_t slots;			/* slots of a plane */
	uint32_t host_reserve;		/* free blocks that are reserved for GC */
	struct nftl_pair *pair;		/* plane * lblocks + lblock */
	struct nftl_u *u;		/* plane * slots + slot */
	uint16_t *pos;			/* (plane * slots + slot) * pages_per_block + k: where page k's
					 * newest copy is in the U-block, or NFTL_NO_POS */
	struct nftl_block *block;
	struct nftl_plane *plane;
	uint8_t *used, *valid;		/* bits per ppn: used: programmed, or lost to a failure; valid: the newest
					 * copy */
	struct pen_dis *dis;		/* pbn << pb_levels, with ftl.pen */
	uint32_t *chain;		/* mount: head of each logical block's list */
	uint64_t *seq;			/* mount: of pages_per_block pages */

	/* These exist only with ftl.write_buffer_blocks. */
	uint32_t *buffered;		/* (plane * lblocks + lblock) * pages_per_block + k: ppn of page k in the
					 * buffer, or NFTL_NONE */
	uint32_t *queued;		/* plane * lblocks + lblock: the next one in the queue, lblocks: the last one,
					 * NFTL_NONE: not in the queue */
	uint8_t *late;			/* plane * pages_per_block + k: page k of the block that is being merged was
					 * buffered after its copy */

	struct pen_model model;
	struct pen_pages *pages;	/* scratch, with ftl.pen */
	struct pen_work *work;
};

static inline struct nftl *nftl_of(const struct direct *d)
{
	return d->s;
}

static inline struct nftl_pair *nftl_pair_of(const struct direct *d, uint32_t plane, uint32_t lblock)
{
	struct nftl *s = nftl_of(d);

	return &s->pair[plane * s->lblocks + lblock];
}

static inline struct nftl_u *nftl_u_of(const struct direct *d, uint32_t plane, uint32_t slot)
{
	struct nftl *s = nftl_of(d);

	return &s->u[plane * s->slots + slot];
}

static inline uint16_t *nftl_pos_of(const struct direct *d, uint32_t plane, uint32_t slot)
{
	struct nftl *s = nftl_of(d);

	return &s->pos[((size_t)plane * s->slots + slot) * d->g->pages_per_block];
}

static inline struct pen_dis *nftl_dis_of(const struct direct *d, uint32_t block)
{
	return nftl_of(d)->dis + ((size_t)block << d->g->pb_levels);
}

static inline uint32_t nftl_pb_pages(const struct direct *d)
{
	return d->g->pages_per_block >> d->g->pb_levels;
}

/* Is the logical block being merged, or are the blocks that it had being erased? */
static inline bool nftl_merging(const struct direct *d, uint32_t plane, uint32_t lblock)
{
	const struct nftl_gc *gc = &nftl_of(d)->plane[plane].gc;

	return gc->phase != NFTL_IDLE && gc->phase != NFTL_DRAIN && gc->lblock == lblock;
}

#endif

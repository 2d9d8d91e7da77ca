/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * superblock.h - the Superblock FTL, a scheme of the write-through engine (direct.h).
 *
 * Jung, Kang, Jo, Kim, Lee: "Superblock FTL: A Superblock-Based Flash Translation Layer
 * with a Hybrid Address Translation Scheme", ACM TECS 9(4), 2010; with partial erases as
 * in Liu et al., FAST 2018 (PEN), section 5.3.
 *
 * Words. A *group* is what the paper calls a superblock: M adjacent logical blocks of a plane. Each
 * of their pages may be anywhere in the group's physical blocks, of which there are at most N.
 * superblock_blocks = 0 makes the plane one group without a limit: page mapping. A *slot* is a
 * group's name for one of its physical blocks.
 *
 * Tables, for each plane:
 *   map   logical page -> slot * pages_per_block + page in the block, or none
 *   back  physical page -> logical page of its group; or FREE (erased, may be programmed), or STALE
 *         (not usable before an erase)
 * Entries have as many bytes as their largest value needs: for M = 4, N = 5 and 576 pages
 * a block two bytes each, for page mapping of a plane of 2^20 pages three.
 *
 * States of a block, as the scheme sees it:
 *   NONE     in no group: free or bad, managed by the engine
 *   OPEN     its group's write frontier, of the host, and of GC without a COLD block
 *   COLD     superblock_cold: its group's write frontier of GC
 *   PART     has free pages; on its group's list of such blocks
 *   FULL     has no free page
 *   VICTIM   being emptied; an M-Merge fills its free pages first
 * NONE -> OPEN | COLD | VICTIM (sb_take); OPEN, COLD -> FULL (sb_place); PART -> OPEN;
 * COLD -> OPEN (sb_warm); OPEN, COLD, PART, FULL -> VICTIM (sb_close); VICTIM -> COLD | PART |
 * FULL (sb_reopen), -> NONE (sb_drop). A block in which a program or a partial erase failed is
 * `failing`: it keeps its data, is not programmed further, is the next victim, and then becomes
 * bad. A block that was COLD is `cold` until the host may write to it; the others are hot, as are all
 * blocks after a mount.
 *
 * Map parts (superblock_map_parts). The part of the map of a logical block is assumed to be written
 * to the spare area of each page of that block. Memory then needs the place of the newest of these
 * pages, its *holder*, and has the parts that were used last: that of logical block l of a plane is
 * in place l mod superblock_map_parts. Here the whole map is in memory, too; the scheme only decides
 * which reads a drive would make.
 *
 * Invariants (sb_check):
 *   SB1  map and back agree: a mapped page's physical page names it, and every physical
 *        page that names one is mapped to; a block's valid and free count these pages;
 *   SB2  a group's blocks, valid and free are the sums over its slots; free counts OPEN, COLD
 *        and PART blocks alone, and only they (and victims) have FREE pages;
 *   SB3  a group has at most one OPEN and one COLD block; its PART list holds its PART blocks;
 *   SB4  the heap holds, ordered by stale pages, the candidates of inter-group GC: groups of more
 *        than M blocks (page mapping: PART and FULL blocks that are not failing);
 *   SB5  `failing` counts the failing blocks, `oversize` the groups of more than N blocks;
 *   SB6  no FREE page is below a used page of the same smallest PB;
 *   SB7  pen_safe() holds of every smallest PB, except of blocks that are victims, failing
 *        or suspect;
 *   SB8  a holder is a valid page of its logical block; a logical block without one has no page;
 *   SB9  OPEN and PART blocks are not cold, and without superblock_cold no block is.
 */
#ifndef SLATE_SUPERBLOCK_H
#define SLATE_SUPERBLOCK_H

#include "direct.h"
#include "pen_plan.h"

/* A page with this tag is in a block that had a partial erase since its last whole erase. */
#define SB_TAG_PARTIAL 1u

enum sb_state { SB_NONE, SB_OPEN, SB_COLD, SB_PART, SB_FULL, SB_VICTIM };

struct sb_block {
	uint32_t group;			/* number of the group in the plane */
	uint32_t slot;
	uint32_t valid, free;		/* pages */
	uint32_t cursor;		/* pages below this one are not FREE */
	uint32_t prev, next;		/* PART list, block numbers */
	uint32_t heap_at;		/* page mapping: place in the plane's heap, or DIRECT_NONE */
	uint64_t seq_min, seq_max;	/* mount: lowest and highest sequence of its readable pages */
	uint16_t partials;		/* partial erases since the last whole one */
	uint8_t state;
	bool failing;
	bool cold;
	bool suspect;			/* found by a mount: its disturbance is unknown, so it gets no partial erases */
	/* Used only by a mount: */
	bool claimed;			/* a page can be read: group is set */
	bool mixed;			/* it also has pages of another group */
	bool unsorted;			/* sequences do not ascend with the pages */
	bool tagged, torn;		/* it has pages with SB_TAG_PARTIAL; it has unreadable pages */
};

struct sb_group {
	uint32_t blocks, valid, free;	/* free: pages of OPEN, COLD and PART blocks */
	uint32_t open, cold;		/* blocks, or DIRECT_NONE */
	uint32_t part;			/* head of the PART list */
	uint32_t heap_at;
	uint32_t mmerges;		/* M-Merges since the last merge */
};

enum sb_stage {
	SB_GC_IDLE,
	SB_GC_OUT,		/* M-Merge: the PBs that will be erased are emptied into free pages of the victims */
	SB_GC_RESTORE,		/* M-Merge: the next PB is erased */
	SB_GC_FILL,		/* M-Merge: the erased PB is filled with pages of the blocks that must go */
	SB_GC_MOVE,		/* valid pages of the victims go to the group's free pages */
	SB_GC_WIPE,		/* the victims are erased */
	SB_GC_NEXT,		/* the victims have been erased */
};

struct sb_gc {				/* a plane's collection under way */
	enum sb_stage stage;
	bool compact;			/* the collection continues until the group has M blocks */
	bool ended;			/* a collection has ended and is to be reported */
	uint32_t group;
	uint32_t victims;		/* blocks to empty and erase: */
	uint32_t *victim;
	uint32_t pb;			/* PB of a single victim, or NAND_WHOLE_BLOCK */
	uint32_t at, cursor;		/* current victim and page; all pages before are done */
	uint32_t plans;			/* M-Merge: number of plans, with their blocks below */
	uint32_t *plan_block;
	struct pen_plan *plan;
	uint32_t plan_at, pb_at;	/* current plan, and current PB in it */
};

struct sb_plane {
	uint32_t *heap;			/* the items are groups; with page mapping, blocks */
	uint32_t heaped;
	uint32_t failing, oversize;
	uint32_t asked;			/* group that has no page left for the host */
	bool collecting;		/* between gc_start_blocks and gc_stop_blocks */
	struct sb_gc gc;
};

struct sb_count {			/* counts of a block for a trial */
	uint32_t block, valid, free, stale;
	bool cold;
};

struct sb {
	uint32_t groups;		/* groups of a plane */
	uint32_t group_pages;		/* logical pages of a group */
	uint32_t slots;			/* slots of a group */
	uint32_t m, n;			/* page mapping: n is the plane's blocks */
	uint32_t levels;		/* levels of PBs and pages of a smallest PB, as in the geometry */
	uint32_t pb_pages;
	uint32_t map_bytes, back_bytes;	/* bytes of an entry */
	uint32_t map_none;		/* value of a map entry for a page that was never written */
	uint32_t free_mark, stale_mark;	/* values of back entries for FREE and STALE pages */
	uint8_t *map, *back;
	uint32_t *slot;			/* block of each slot of each group, or DIRECT_NONE; unused for page
					 * mapping, whose slots are the plane's blocks */
	struct sb_block *block;
	struct sb_group *group;
	struct sb_plane *plane;
	uint32_t lblocks;		/* logical blocks of a plane */
	uint32_t parts;			/* superblock_map_parts, at most lblocks */
	uint32_t *holder;		/* page with the newest map part of each logical block, or DIRECT_NONE;
					 * NULL if parts is 0 */
	uint32_t *part;			/* logical block of the map part in each place in memory, or
					 * DIRECT_NONE; NULL if parts is 0 */
	struct pen_dis *dis;		/* 2^levels of each block; NULL without pen */
	struct pen_model model;
	struct pen_work *work;
	struct pen_pages *pages;
	struct sb_count *count;		/* slots */
};

static inline struct sb *sb_of(const struct direct *d)
{
	return d->s;
}

static inline bool sb_page_mapped(const struct sb *s)
{
	return !s->m;
}

static inline struct sb_group *sb_group_at(const struct sb *s, uint32_t plane, uint32_t group)
{
	return &s->group[plane * s->groups + group];
}

static inline struct pen_dis *sb_dis(const struct sb *s, uint32_t block)
{
	return s->dis + ((size_t)block << s->levels);
}

/* Returns an entry of a table, whose entries are little-endian and have 1 .. 4 bytes. */
static inline uint32_t sb_entry_get(const uint8_t *table, uint32_t bytes, size_t i)
{
	const uint8_t *p = table + i * bytes;
	uint32_t v = 0;

	for (uint32_t k = 0; k < bytes; k++)
		v |= (uint32_t)p[k] << 8 * k;
	return v;
}

static inline void sb_entry_put(uint8_t *table, uint32_t bytes, size_t i, uint32_t v)
{
	uint8_t *p = table + i * bytes;

	for (uint32_t k = 0; k < bytes; k++)
		p[k] = (uint8_t)(v >> 8 * k);
}

static inline uint32_t sb_back_get(const struct sb *s, uint32_t ppn)
{
	return sb_entry_get(s->back, s->back_bytes, ppn);
}

static inline void sb_back_put(const struct sb *s, uint32_t ppn, uint32_t v)
{
	sb_entry_put(s->back, s->back_bytes, ppn, v);
}

/* Does the entry belong to a valid page, which is neither FREE nor STALE? */
static inline bool sb_is_valid(const struct sb *s, uint32_t back)
{
	return back < s->stale_mark;
}

#endif
